/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of contests for one type of index. Parameters, undefined again at the end:
 *     INDEX, INDEX_NAME   the type and its suffix
 * Signatures and meaning: plan/backend.h.
 */

/* Indices that are traced at once: what is known of them stays in the first-level cache. */
#define TRACE_BLOCK 256

PGI_ALWAYS_INLINE void PGI_NAME(number_some, INDEX_NAME)(INDEX *restrict to, int64_t step,
                                                         const int32_t *restrict places,
                                                         int64_t count,
                                                         const pgi_numbering *numbering)
{
    const int64_t origin_step = numbering->origin_step, unit = numbering->unit;
    int64_t origin = numbering->origin, i;

    if (unit == 1 && step == 1) { /* no product */
        for (i = 0; i < count; i++, origin += origin_step) {
            const int64_t index = places[i] + origin;

            to[i] = (INDEX)(places[i] < 0 ? -1 : index);
        }
        return;
    }
    for (i = 0; i < count; i++) {
        const int64_t index = places[i] * unit + origin + i * origin_step;

        to[i * step] = (INDEX)(places[i] < 0 ? -1 : index);
    }
}

static void PGI_NAME(number, INDEX_NAME)(void *indices, int64_t step, const int32_t *places,
                                         int64_t count, const pgi_numbering *numbering, bool stream)
{
    enum {
        BLOCK = 4096 / sizeof(INDEX)
    };
    INDEX *to = indices, made[BLOCK];
    int64_t done, part, i;

    if (!stream || step != 1 || (uintptr_t)to % VEC_bytes ||
        count * (int64_t)sizeof *to % VEC_bytes || numbering->origin_step) {
        PGI_NAME(number_some, INDEX_NAME)(to, step, places, count, numbering);
        return;
    }
    for (done = 0; done < count; done += part) {
        part = count - done < BLOCK ? count - done : BLOCK;
        PGI_NAME(number_some, INDEX_NAME)(made, 1, places + done, part, numbering);
        for (i = 0; i < part; i += VEC_bytes / (int64_t)sizeof *to)
            vec_stream_bytes(to + done + i, made + i);
    }
}

/* Whether a window has a tap so many columns behind its first one. Unsigned, so that what lies
 * before it is far behind. */
PGI_ALWAYS_INLINE bool PGI_NAME(has_tap, INDEX_NAME)(uint32_t behind, uint32_t columns, bool gaps)
{
    return gaps ? (behind < 32) & (columns >> (behind & 31)) : behind < columns;
}

/* For up to four of the rows that windows cover, a constant number: made[i] becomes what is to be
 * added to a place that lies in one of them, `local` columns behind the window's first. */
PGI_ALWAYS_INLINE void PGI_NAME(trace_in, INDEX_NAME)(int32_t *restrict made,
                                                      const int32_t *restrict local,
                                                      const int32_t *row, const int32_t *move,
                                                      int rows, bool windows, bool gaps,
                                                      const int32_t *restrict width, int64_t count)
{
    const uint32_t one_width = (uint32_t)width[0];
    int32_t rows_at[4] = {0}, moves[4] = {0};
    int64_t i;
    int j;

    for (j = 0; j < rows; j++) {
        rows_at[j] = row[j];
        moves[j] = move[j];
    }
    for (i = 0; i < count; i++) {
        const uint32_t columns = windows ? (uint32_t)width[i] : one_width;
        int32_t by = made[i];

        for (j = 0; j < rows; j++)
            by = PGI_NAME(has_tap, INDEX_NAME)((uint32_t)local[i] - (uint32_t)rows_at[j], columns,
                                               gaps)
                     ? moves[j]
                     : by;
        made[i] = by;
    }
}

/* Indices of one window or of windows one behind the other, in the r-th row, which cover `rows`
 * rows, a small constant number. Returns whether one is bad. */
PGI_ALWAYS_INLINE bool
PGI_NAME(trace_few, INDEX_NAME)(int32_t *restrict places, const INDEX *restrict indices,
                                int64_t step, const pgi_trace *trace, int32_t r, bool windows,
                                int64_t origin, int64_t origin_step, const int32_t *restrict begin,
                                const int32_t *restrict width, int64_t count, int rows)
{
    const uint32_t limit = (uint32_t)trace->limit, one_width = (uint32_t)width[0];
    const uint32_t plane = (uint32_t)trace->plane; /* less than 2^31 */
    const int32_t one_begin = begin[0];
    const uint32_t down = (uint32_t)(r * trace->row_step); /* as if it were the first row */
    uint32_t row[4] = {0}, move[4] = {0};
    uint64_t all = 0;
    int32_t bad = 0;
    int64_t i;
    int j;

    for (j = 0; j < rows; j++) {
        row[j] = (uint32_t)trace->row[j] + down;
        move[j] = (uint32_t)trace->move[j];
    }
    for (i = 0; i < count; i++, origin += origin_step) {
        const uint64_t place = (uint64_t)indices[i * step] - (uint64_t)origin;
        const uint32_t columns = windows ? (uint32_t)width[i] : one_width;
        const uint32_t local = (uint32_t)place - (uint32_t)(windows ? begin[i] : one_begin);
        uint32_t by = (uint32_t)INT32_MIN, moved;

        for (j = 0; j < rows; j++)
            by = PGI_NAME(has_tap, INDEX_NAME)(local - row[j], columns, false) ? move[j] : by;
        moved = (uint32_t)place + by;
        all |= place;
        bad |= (by == (uint32_t)INT32_MIN) | ((uint32_t)place >= plane);
        places[i] = moved < limit ? (int32_t)moved : PGI_NOWHERE;
    }
    return bad || all >> 32; /* only 32 bits of a place were looked at */
}

/* At most TRACE_BLOCK indices, windows that cover any number of rows: four rows at a time. */
PGI_ALWAYS_INLINE bool
PGI_NAME(trace_many, INDEX_NAME)(int32_t *restrict places, const INDEX *restrict indices,
                                 int64_t step, const pgi_trace *trace, int32_t r, bool windows,
                                 int64_t origin, int64_t origin_step, const int32_t *restrict begin,
                                 const int32_t *restrict width, int64_t count, bool gaps)
{
    const uint64_t plane = (uint64_t)trace->plane;
    const uint32_t limit = (uint32_t)trace->limit;
    const int32_t one_begin = begin[0];
    const uint32_t down = (uint32_t)(r * trace->row_step); /* as if it were the first row */
    int32_t local[TRACE_BLOCK], made[TRACE_BLOCK], bad = 0;
    uint64_t outside = 0;
    int64_t i;
    int j;

    for (i = 0; i < count; i++) {
        const uint64_t place = (uint64_t)indices[i * step] - (uint64_t)(origin + i * origin_step);

        outside |= place >= plane;
        local[i] = (int32_t)((uint32_t)place - down - (uint32_t)(windows ? begin[i] : one_begin));
        made[i] = INT32_MIN;
    }
    for (j = 0; j < trace->rows; j += 4)
        PGI_NAME(trace_in, INDEX_NAME)
    (made, local, trace->row + j, trace->move + j, 4, windows, gaps, width, count);
    for (i = 0; i < count; i++) {
        /* unsigned, since the places of bad indices are anything */
        const uint32_t place =
            (uint32_t)local[i] + down + (uint32_t)(windows ? begin[i] : one_begin);
        const uint32_t moved = place + (uint32_t)made[i];

        bad |= made[i] == INT32_MIN;
        places[i] = moved < limit ? (int32_t)moved : PGI_NOWHERE;
    }
    return bad || outside;
}

PGI_ALWAYS_INLINE bool PGI_NAME(trace_of, INDEX_NAME)(int32_t *places, const INDEX *indices,
                                                      int64_t step, const pgi_trace *trace,
                                                      int32_t r, bool windows, int64_t origin,
                                                      int64_t origin_step, const int32_t *begin,
                                                      const int32_t *width, int64_t count)
{
#define TRACE(kind, ...)                                                                           \
    PGI_NAME(kind, INDEX_NAME)                                                                     \
    (places, indices, step, trace, r, windows, origin, origin_step, begin, width, count,           \
     __VA_ARGS__)
    if (trace->gaps)
        return TRACE(trace_many, true);
    return trace->rows == 2   ? TRACE(trace_few, 2)
           : trace->rows == 3 ? TRACE(trace_few, 3)
                              : TRACE(trace_many, false);
#undef TRACE
}

/* Indices that count other things between places: tap by tap. */
static bool PGI_NAME(trace_apart, INDEX_NAME)(int32_t *restrict places,
                                              const INDEX *restrict indices, int64_t step,
                                              const pgi_trace *trace, int32_t r, int32_t begin,
                                              int32_t width, int64_t count)
{
    int32_t bad = 0, c;
    int64_t i;
    int j;

    for (i = 0; i < count; i++)
        places[i] = INT32_MIN;
    for (j = 0; j < trace->rows; j++) {
        const int64_t row = trace->row[j] + r * trace->row_step;
        const int64_t move = row + trace->move[j];

        if (row < 0 || row >= trace->plane)
            continue;
        for (c = begin; c - begin < (trace->gaps ? 32 : width); c++) {
            const uint64_t first = (uint64_t)((row + c) * trace->unit + trace->origin);
            const int32_t place =
                move + c >= 0 && move + c < trace->limit ? (int32_t)(move + c) : PGI_NOWHERE;

            if (!PGI_NAME(has_tap, INDEX_NAME)((uint32_t)(c - begin), (uint32_t)width, trace->gaps))
                continue;
            for (i = 0; i < count; i++)
                places[i] =
                    (uint64_t)indices[i * step] == first + (uint64_t)(i * trace->origin_step)
                        ? place
                        : places[i];
        }
    }
    for (i = 0; i < count; i++)
        bad |= places[i] == INT32_MIN;
    return bad != 0;
}

/* The r-th row of windows, one lane. */
static bool PGI_NAME(trace_row, INDEX_NAME)(int32_t *places, const INDEX *from,
                                            const pgi_trace *trace, int32_t r)
{
    const int64_t step = trace->step, origin = trace->origin;
    bool bad = false;
    int64_t o;

    for (o = 0; o < trace->windows; o += TRACE_BLOCK) {
        const int32_t *begin = trace->begin + o, *width = trace->width + o;
        const int64_t rest = trace->windows - o, count = rest < TRACE_BLOCK ? rest : TRACE_BLOCK;

        bad |= step == 1 ? PGI_NAME(trace_of, INDEX_NAME)(places + o, from + o, 1, trace, r, true,
                                                          origin, 0, begin, width, count)
                         : PGI_NAME(trace_of, INDEX_NAME)(places + o, from + o * step, step, trace,
                                                          r, true, origin, 0, begin, width, count);
    }
    return bad;
}

/* One window, all lanes. */
static bool PGI_NAME(trace_group, INDEX_NAME)(int32_t *places, const INDEX *from,
                                              const pgi_trace *trace, int32_t r,
                                              const int32_t *begin, const int32_t *width)
{
    const int64_t step = trace->lane_step, origin_step = trace->origin_step;
    bool bad = false;
    int64_t i;

    if (trace->unit != 1)
        return PGI_NAME(trace_apart, INDEX_NAME)(places, from, step, trace, r, *begin, *width,
                                                 trace->lanes);
    for (i = 0; i < trace->lanes; i += TRACE_BLOCK) {
        const int64_t rest = trace->lanes - i, count = rest < TRACE_BLOCK ? rest : TRACE_BLOCK;
        const int64_t origin = trace->origin + i * origin_step;

        bad |=
            step == 1 && origin_step == 0
                ? PGI_NAME(trace_of, INDEX_NAME)(places + i, from + i, 1, trace, r, false, origin,
                                                 0, begin, width, count)
                : PGI_NAME(trace_of, INDEX_NAME)(places + i, from + i * step, step, trace, r, false,
                                                 origin, origin_step, begin, width, count);
    }
    return bad;
}

static bool PGI_NAME(trace, INDEX_NAME)(int32_t *places, const void *indices,
                                        const pgi_trace *trace)
{
    const int64_t lanes = trace->lanes;
    bool bad = lanes == 1 && trace->unit != 1;
    int64_t o;
    int32_t r;

    for (r = 0; r < trace->count && !bad; r++) {
        const INDEX *from = (const INDEX *)indices + r * trace->index_row;
        int32_t *to = places + r * trace->place_row;

        if (lanes == 1)
            bad = PGI_NAME(trace_row, INDEX_NAME)(to, from, trace, r);
        for (o = 0; o < trace->windows && lanes > 1 && !bad; o++)
            bad = PGI_NAME(trace_group, INDEX_NAME)(to + o * lanes, from + o * trace->step, trace,
                                                    r, trace->begin + o, trace->width + o);
    }
    return !bad;
}

#undef INDEX
#undef INDEX_NAME
#undef TRACE_BLOCK
