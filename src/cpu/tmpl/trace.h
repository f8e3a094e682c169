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

/* Indices of a row, the r-th: those of windows one behind the other, or, in groups, of the lanes of
 * every window. Whether they are groups, or each has an origin, the step from one to the next if it
 * is 1, whether windows have planes, or gaps, and whether places are counted in units, are
 * constants. Returns whether one is bad. */
PGI_ALWAYS_INLINE bool PGI_NAME(trace_some, INDEX_NAME)(int32_t *restrict places,
                                                        const INDEX *restrict indices, int64_t step,
                                                        const pgi_trace *trace, int32_t r,
                                                        bool groups, bool origins, bool deep,
                                                        bool gaps, bool units)
{
    const pgi_trace t = *trace; /* a copy, which no store can change */
    const uint32_t first = (uint32_t)(t.first + r * t.row_step), plane = (uint32_t)t.plane;
    const uint32_t span = (uint32_t)t.span, limit = (uint32_t)t.limit, move = (uint32_t)t.move;
    const int64_t count = groups ? t.lanes : t.windows, origin_step = groups ? t.origin_step : 0;
    const int32_t *restrict begin = t.begin, *restrict width = t.width;
    const int64_t *restrict further = t.further;
    uint64_t wrong = 0;
    uint32_t bad = 0;
    int64_t o, i;

    for (o = 0; o < (groups ? t.windows : 1); o++, places += count, indices += t.step) {
        const uint32_t one_begin = (uint32_t)begin[o], one_width = (uint32_t)width[o];
        int64_t origin = t.origin;

        for (i = 0; groups && step == 1 && i < count; i += PGI_LINE_BYTES / (int)sizeof *indices)
            __builtin_prefetch(indices + pgi_groups_ahead(t.step) + i, 0, 3);
        for (i = 0; i < count; i++, origin += origin_step) {
            const uint64_t index = (uint64_t)indices[i * step] - (uint64_t)origin -
                                   (origins ? (uint64_t)further[i] : 0);
            const uint32_t place =
                units ? (uint32_t)(index >> t.unit_shift) * t.unit_inverse : (uint32_t)index;
            const uint32_t behind = place - first - (groups ? one_begin : (uint32_t)begin[i]);
            const uint32_t at = behind & (PGI_TRACE_SPAN - 1); /* what is not below is bad anyway */
            const uint32_t row = PGI_NAME(quotient, INDEX_NAME)(at, t.by_columns);
            const uint32_t column = at - row * (uint32_t)t.columns;
            const uint32_t columns = groups ? one_width : (uint32_t)width[i];
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
    }
    return bad || wrong;
}

PGI_ALWAYS_INLINE bool PGI_NAME(trace_row, INDEX_NAME)(int32_t *places, const INDEX *indices,
                                                       int64_t step, const pgi_trace *trace,
                                                       int32_t r, bool groups, bool origins)
{
#define TRACE(deep, gaps, units)                                                                   \
    PGI_NAME(trace_some, INDEX_NAME)                                                               \
    (places, indices, step, trace, r, groups, origins, deep, gaps, units)
    if (trace->gaps)
        return trace->unit == 1 ? TRACE(true, true, false) : TRACE(true, true, true);
    if (trace->deep)
        return trace->unit == 1 ? TRACE(true, false, false) : TRACE(true, false, true);
    return trace->unit == 1 ? TRACE(false, false, false) : TRACE(false, false, true);
#undef TRACE
}

static bool PGI_NAME(trace, INDEX_NAME)(int32_t *places, const void *indices,
                                        const pgi_trace *trace)
{
    const bool groups = trace->lanes > 1;
    const int64_t step = groups ? trace->lane_step : trace->step;
    bool bad = false;
    int32_t r;

#define ROW(step, groups, origins)                                                                 \
    PGI_NAME(trace_row, INDEX_NAME)(to, from, step, trace, r, groups, origins)
    for (r = 0; r < trace->count && !bad; r++) {
        const INDEX *from = (const INDEX *)indices + r * trace->index_row;
        int32_t *to = places + r * trace->place_row;

        if (trace->further)
            bad = ROW(1, false, true);
        else if (groups)
            bad = step == 1 ? ROW(1, true, false) : ROW(step, true, false);
        else
            bad = step == 1 ? ROW(1, false, false) : ROW(step, false, false);
    }
    return !bad;
#undef ROW
}

#undef INDEX
#undef INDEX_NAME
