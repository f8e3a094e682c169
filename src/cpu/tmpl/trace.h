/* SPDX-License-Identifier: MIT */
/*
 * Indices of one type to places in a tile. Parameters and words as number.h, but undefined again at
 * the end.
 */

/* Not 0 if an axis of a window has no tap so far behind its first one: taps say how many there
 * are, or, with gaps, where. Unsigned, so that what lies before it is far behind. */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(lacks_tap, INDEX_NAME)(uint32_t behind, uint32_t taps,
                                                           bool gaps)
{
    return gaps ? behind >> 5 | (~taps >> (behind & 31) & 1) : behind >= taps;
}

/*
 * a / c, for 0 <= a < PGI_TRACE_SPAN = 2^22, with `by` = 1 / c rounded: (a + 1/2) / c is at least
 * 1/2 / c away from every integer, and two roundings move it by less than (a + 1/2) / c * 2^-23 *
 * (1 + 2^-25).
 */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(quotient, INDEX_NAME)(uint32_t a, float by)
{
    return (uint32_t)(int32_t)(((float)(int32_t)a + 0.5F) * by);
}

/* Indices of one window or of windows one behind the other, in the r-th row. Whether windows have
 * planes, or gaps, and whether places are counted in units, are constants. Returns whether one is
 * bad. */
PGI_ALWAYS_INLINE bool PGI_NAME(trace_some, INDEX_NAME)(
    int32_t *restrict places, const INDEX *restrict indices, int64_t step, const pgi_trace *trace,
    int32_t r, bool windows, int64_t origin, const int32_t *restrict begin,
    const int32_t *restrict width, int64_t count, bool deep, bool gaps, bool units)
{
    const pgi_trace t = *trace; /* a copy, which no store can change */
    const uint32_t first = (uint32_t)(t.first + r * t.row_step), plane = (uint32_t)t.plane;
    const uint32_t span = (uint32_t)t.span, limit = (uint32_t)t.limit, move = (uint32_t)t.move;
    const uint32_t one_begin = (uint32_t)begin[0], one_width = (uint32_t)width[0];
    const int64_t origin_step = windows ? 0 : t.origin_step;
    uint64_t wrong = 0;
    uint32_t bad = 0;
    int64_t i;

    for (i = 0; i < count; i++, origin += origin_step) {
        const uint64_t index = (uint64_t)indices[i * step] - (uint64_t)origin;
        const uint32_t place =
            units ? (uint32_t)(index >> t.unit_shift) * t.unit_inverse : (uint32_t)index;
        const uint32_t behind = place - first - (windows ? (uint32_t)begin[i] : one_begin);
        const uint32_t at = behind & (PGI_TRACE_SPAN - 1); /* what is not below is bad anyway */
        const uint32_t row = PGI_NAME(quotient, INDEX_NAME)(at, t.by_columns);
        const uint32_t column = at - row * (uint32_t)t.columns;
        const uint32_t columns = windows ? (uint32_t)width[i] : one_width;
        uint32_t out = (behind >= span) | (place >= plane) |
                       PGI_NAME(lacks_tap, INDEX_NAME)(column, columns, gaps);
        uint32_t moved = place + move, lost = 0;

        wrong |= units ? index ^ (uint64_t)place * (uint64_t)t.unit : index >> 32;
        if (deep) {
            const uint32_t depth = PGI_NAME(quotient, INDEX_NAME)(row, t.by_rows);
            const uint32_t down = row - depth * (uint32_t)t.rows;

            out |= PGI_NAME(lacks_tap, INDEX_NAME)(down, (uint32_t)t.taps_down, gaps);
            if (gaps)
                out |= PGI_NAME(lacks_tap, INDEX_NAME)(depth, (uint32_t)t.taps_deep, true);
            moved -= depth * (uint32_t)t.skipped;
            lost = down + (uint32_t)t.top >= (uint32_t)t.height;
        }
        bad |= out;
        places[i] = (moved >= limit) | lost ? PGI_NOWHERE : (int32_t)moved;
    }
    return bad || wrong;
}

PGI_ALWAYS_INLINE bool PGI_NAME(trace_of, INDEX_NAME)(int32_t *places, const INDEX *indices,
                                                      int64_t step, const pgi_trace *trace,
                                                      int32_t r, bool windows, int64_t origin,
                                                      const int32_t *begin, const int32_t *width,
                                                      int64_t count)
{
#define TRACE(deep, gaps, units)                                                                   \
    PGI_NAME(trace_some, INDEX_NAME)                                                               \
    (places, indices, step, trace, r, windows, origin, begin, width, count, deep, gaps, units)
    if (trace->gaps)
        return trace->unit == 1 ? TRACE(true, true, false) : TRACE(true, true, true);
    if (trace->deep)
        return trace->unit == 1 ? TRACE(true, false, false) : TRACE(true, false, true);
    return trace->unit == 1 ? TRACE(false, false, false) : TRACE(false, false, true);
#undef TRACE
}

/* The r-th row of windows, one lane; or one window, all lanes. */
static bool PGI_NAME(trace_row, INDEX_NAME)(int32_t *places, const INDEX *from,
                                            const pgi_trace *trace, int32_t r)
{
    return trace->step == 1
               ? PGI_NAME(trace_of, INDEX_NAME)(places, from, 1, trace, r, true, trace->origin,
                                                trace->begin, trace->width, trace->windows)
               : PGI_NAME(trace_of, INDEX_NAME)(places, from, trace->step, trace, r, true,
                                                trace->origin, trace->begin, trace->width,
                                                trace->windows);
}

static bool PGI_NAME(trace_group, INDEX_NAME)(int32_t *places, const INDEX *from,
                                              const pgi_trace *trace, int32_t r, int64_t o)
{
    const int32_t *begin = trace->begin + o, *width = trace->width + o;

    return trace->lane_step == 1
               ? PGI_NAME(trace_of, INDEX_NAME)(places, from, 1, trace, r, false, trace->origin,
                                                begin, width, trace->lanes)
               : PGI_NAME(trace_of, INDEX_NAME)(places, from, trace->lane_step, trace, r, false,
                                                trace->origin, begin, width, trace->lanes);
}

static bool PGI_NAME(trace, INDEX_NAME)(int32_t *places, const void *indices,
                                        const pgi_trace *trace)
{
    const int64_t lanes = trace->lanes;
    bool bad = false;
    int64_t o;
    int32_t r;

    for (r = 0; r < trace->count && !bad; r++) {
        const INDEX *from = (const INDEX *)indices + r * trace->index_row;
        int32_t *to = places + r * trace->place_row;

        if (lanes == 1)
            bad = PGI_NAME(trace_row, INDEX_NAME)(to, from, trace, r);
        for (o = 0; o < trace->windows && lanes > 1 && !bad; o++)
            bad = PGI_NAME(trace_group, INDEX_NAME)(to + o * lanes, from + o * trace->step, trace,
                                                    r, o);
    }
    return !bad;
}

#undef INDEX
#undef INDEX_NAME
