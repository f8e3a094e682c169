/* SPDX-License-Identifier: MIT */
/*
 * Indices of one type to places in a tile. Parameters and words as number.h, but undefined again at
 * the end.
 */

#define CROWDED_BYTES 1024
#define CROWDED_LANES 32

/* Not 0 if an axis of a window with gaps has no tap so far behind its first one. Unsigned, so that
 * what lies before it is far behind. */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(lacks_tap, INDEX_NAME)(uint32_t behind, uint32_t taps)
{
    return behind >> 5 | (~taps >> (behind & 31) & 1);
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

/* Indices of a row, the r-th: those of windows one behind the other, or, in groups, of some lanes
 * of every window, from `lane` on. Whether they are groups, or each has an origin, the step from
 * one to the next if it is 1, what is traced, whether places stay what they are, and whether they
 * are counted in units, are constants. Returns whether one is bad. What can wait for the end does:
 * whether the largest of all is too large. */
PGI_ALWAYS_INLINE bool PGI_NAME(trace_some,
                                INDEX_NAME)(int32_t *restrict places, const INDEX *restrict indices,
                                            int64_t step, const pgi_trace *trace, uint32_t r,
                                            int64_t lane, int64_t lanes, bool groups, bool origins,
                                            pgi_tracing tracing, bool inside, bool units)
{
    const pgi_trace t = *trace; /* a copy, which no store can change */
    const uint32_t first = t.first + r * t.row_step, top = t.top + r * t.row_step;
    const int64_t count = groups ? lanes : t.windows;
    const int32_t *restrict begin = t.begin;
    const uint32_t *restrict within = t.within, *restrict further = t.further;
    const bool gaps = tracing == PGI_TRACE_GAPS;
    const uint32_t per_place = groups || origins ? t.per_place : 1; /* constant where it is 1 */
    uint64_t wrong = 0;
    uint32_t bad = 0, farthest = 0, last = 0, lowest = 0;
    int64_t o, i;
    enum {
        AHEAD = PGI_LINE_BYTES / (int)sizeof *indices
    };

    for (o = 0; o < (groups ? t.windows : 1); o++, places += t.lanes, indices += t.step) {
        const uint32_t one_begin = first + (uint32_t)begin[o], one_within = within[o];
        uint32_t own = groups ? (uint32_t)lane * t.origin_step : 0;

        for (i = 0; groups && step != 1 && o % AHEAD == 0 && i < count; i++)
            __builtin_prefetch(indices + i * step + AHEAD * t.step, 0, 3);
        for (i = 0; groups && step == 1 && i < count; i += PGI_LINE_BYTES / (int)sizeof *indices)
            __builtin_prefetch(indices + pgi_groups_ahead(t.step) + i, 0, 3);
        for (i = 0; i < count; i++, own += groups ? t.origin_step : 0) {
            const uint64_t index = (uint64_t)indices[i * step] - (uint64_t)t.origin;
            const uint32_t here = groups ? own : origins ? further[i] : 0;
            const uint64_t shared = units ? index - here : index;
            const uint32_t place = units ? (uint32_t)(shared >> t.unit_shift) * t.unit_inverse
                                         : (uint32_t)index - here;
            const uint32_t behind = groups ? place - one_begin : place - first - (uint32_t)begin[i];
            const uint32_t taps = groups ? one_within : within[i];
            uint32_t moved = place + t.move, lost = 0;

            wrong |= units ? shared ^ (uint64_t)place * (uint64_t)t.unit : index;
            last = PGI_LARGER(last, place);
            farthest = PGI_LARGER(farthest, behind);
            if (!gaps)
                bad |= behind * t.by_columns >= taps;
            if (tracing == PGI_TRACE_ROWS) {
                const uint32_t row = behind * t.by_plane;

                lowest = PGI_LARGER(lowest, row);
            }
            if (tracing == PGI_TRACE_PLANES || gaps) {
                const uint32_t at = behind & (PGI_TRACE_SPAN - 1); /* beyond, it is bad anyway */
                const uint32_t depth = PGI_NAME(quotient, INDEX_NAME)(at, t.per_plane);
                const uint32_t down = at - depth * t.rows_of_columns;

                if (gaps) {
                    const uint32_t row = PGI_NAME(quotient, INDEX_NAME)(at, t.per_column);

                    bad |= PGI_NAME(lacks_tap, INDEX_NAME)(at - row * t.columns, taps) |
                           PGI_NAME(lacks_tap, INDEX_NAME)(row - depth * t.rows, t.taps_down) |
                           PGI_NAME(lacks_tap, INDEX_NAME)(depth, t.taps_deep);
                } else {
                    lowest = PGI_LARGER(lowest, down);
                }
                moved -= depth * t.skipped;
                lost = down + top + (uint32_t)begin[groups ? o : i] >= t.height;
            }
            places[i] = inside                      ? (int32_t)(place * per_place)
                        : (moved >= t.limit) | lost ? PGI_NOWHERE
                                                    : (int32_t)(moved * per_place);
        }
    }
    return bad || (units ? wrong : wrong >> 32) || last >= (uint32_t)t.plane ||
           farthest >= t.span || (tracing == PGI_TRACE_ROWS && lowest >= t.rows_within) ||
           (tracing == PGI_TRACE_PLANES && lowest >= t.taps_down);
}

PGI_ALWAYS_INLINE bool PGI_NAME(trace_row, INDEX_NAME)(int32_t *places, const INDEX *indices,
                                                       int64_t step, const pgi_trace *trace,
                                                       uint32_t r, int64_t lane, int64_t lanes,
                                                       bool groups, bool origins)
{
    const bool ones = trace->unit == 1;

#define TRACE(tracing, inside, units)                                                              \
    PGI_NAME(trace_some, INDEX_NAME)                                                               \
    (places, indices, step, trace, r, lane, lanes, groups, origins, tracing, inside, units)
    switch (trace->tracing) {
    case PGI_TRACE_COLUMNS:
        return !ones           ? TRACE(PGI_TRACE_COLUMNS, false, true)
               : trace->inside ? TRACE(PGI_TRACE_COLUMNS, true, false)
                               : TRACE(PGI_TRACE_COLUMNS, false, false);
    case PGI_TRACE_ROWS:
        return ones ? TRACE(PGI_TRACE_ROWS, false, false) : TRACE(PGI_TRACE_ROWS, false, true);
    case PGI_TRACE_PLANES:
        return ones ? TRACE(PGI_TRACE_PLANES, false, false) : TRACE(PGI_TRACE_PLANES, false, true);
    case PGI_TRACE_GAPS:
        break;
    }
    return ones ? TRACE(PGI_TRACE_GAPS, false, false) : TRACE(PGI_TRACE_GAPS, false, true);
#undef TRACE
}

/* A row of windows whose lanes lie apart. A line has indices of several windows. Where all lanes
 * are in few sets of the nearest cache, lines of many would leave it before the next window (7x7 to
 * 16x16 places, 2 KiB of indices a channel, on a Zen 5: 3.9 ms with all lanes at once, 3.7 with 64,
 * 2.9 with 32, 3.2 with 16). */
static bool PGI_NAME(trace_apart, INDEX_NAME)(int32_t *places, const INDEX *indices,
                                              const pgi_trace *trace, uint32_t r)
{
    const int64_t step = trace->lane_step;
    const bool crowded = step * (int64_t)sizeof *indices % CROWDED_BYTES == 0;
    int64_t lane, lanes;
    bool bad = false;

    for (lane = 0; lane < trace->lanes && !bad; lane += lanes) {
        lanes = trace->lanes - lane;
        lanes = crowded ? PGI_SMALLER(lanes, CROWDED_LANES) : lanes;
        bad = PGI_NAME(trace_row, INDEX_NAME)(places + lane, indices + lane * step, step, trace, r,
                                              lane, lanes, true, false);
    }
    return bad;
}

static bool PGI_NAME(trace, INDEX_NAME)(int32_t *places, const void *indices,
                                        const pgi_trace *trace)
{
    const int64_t lanes = trace->lanes;
    bool bad = false;
    uint32_t r;

#define ROW(step, groups, origins)                                                                 \
    PGI_NAME(trace_row, INDEX_NAME)(to, from, step, trace, r, 0, lanes, groups, origins)
    for (r = 0; r < trace->count && !bad; r++) {
        const INDEX *from = (const INDEX *)indices + (int64_t)r * trace->index_row;
        int32_t *to = places + (int64_t)r * trace->place_row;

        if (trace->further)
            bad = ROW(1, false, true);
        else if (lanes == 1)
            bad = trace->step == 1 ? ROW(1, false, false) : ROW(trace->step, false, false);
        else if (trace->lane_step == 1)
            bad = ROW(1, true, false);
        else
            bad = PGI_NAME(trace_apart, INDEX_NAME)(to, from, trace, r);
    }
    return !bad;
#undef ROW
}

#undef CROWDED_BYTES
#undef CROWDED_LANES
#undef INDEX
#undef INDEX_NAME
