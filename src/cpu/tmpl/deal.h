/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of the max gradient for one compute type: REAL, and its suffix REAL_NAME.
 * Signatures and meaning: plan/maxima.h.
 */

#define BODY(w) PGI_NAME(w, REAL_NAME)
/* Channels of pictures, side by side: loops over these lanes are none. */
#define FEW_LANES 3

/* One lane, where neighbouring windows often have one winner: its sum stays in a register, and is
 * not read back from where it was just written. */
static void BODY(deal_runs)(REAL *sum, const int32_t *places, const REAL *terms, int64_t count)
{
    REAL kept = 0;
    int32_t last = -1;
    int64_t i;

    for (i = 0; i < count; i++) {
        const int32_t place = places[i];

        if (place < 0)
            continue;
        if (place != last)
            kept = sum[place];
        kept = kept + terms[i];
        sum[place] = kept;
        last = place;
    }
}

/* What becomes of a place below 0: nothing is added, or something to a sum that nobody wants, since
 * no branch could be predicted (5x5 from x on 56x56 at the borders of tiles, NXC f32, on a Zen 3:
 * 5.8 to 4.4 ms). That is so far before the first sums. */
PGI_ALWAYS_INLINE void BODY(deal_one)(REAL *sum, int64_t place, REAL term, int64_t spare)
{
    if (spare && place < 0)
        place = -spare;
    if (spare || place >= 0)
        sum[place] = sum[place] + term;
}

/* Two places that lie side by side, by one load: what limits is how many loads and stores there
 * are (13x13 from indices on two cores of a Zen 3: 0.71 to 0.64 ns a window). */
PGI_ALWAYS_INLINE void BODY(read_two)(const int32_t *places, int64_t *first, int64_t *second)
{
    uint64_t both;

    memcpy(&both, places, sizeof both);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    both = both >> 32 | both << 32;
#endif
    *first = (int32_t)(uint32_t)both;
    *second = (int32_t)(uint32_t)(both >> 32);
}

/* Lane by lane: what a lane adds waits for what it has added to the same sum before, but not for
 * other lanes. Two windows of a lane are dealt before the next lane, or, where places of lanes are
 * side by side, four lanes at once; which, and most steps, are constants. In planes of 20x20 with
 * windows of 13x13 that takes half the time of one plane after the other. */
PGI_ALWAYS_INLINE void BODY(deal_lanes)(REAL *sums, const int32_t *places, const REAL *terms,
                                        int64_t count, int64_t lanes, pgi_lanes_at place_at,
                                        pgi_lanes_at term_at, int64_t sum_lane, int64_t spare)
{
    enum {
        LINE = PGI_LINE_BYTES / (int)sizeof *terms
    };
    const bool across = place_at.lane == 1 && lanes > 1, down = !across && place_at.step == 1;
    int64_t a, b, c, d, i, lane;

    for (i = 0; down && i + 2 <= count; i += 2)
        for (lane = 0; lane < lanes; lane++) {
            const REAL *term = terms + i * term_at.step + lane * term_at.lane;
            const REAL next_term = term[term_at.step]; /* before a store that might change it */
            REAL *sum = sums + lane * sum_lane;

            BODY(read_two)(places + i + lane * place_at.lane, &a, &b);
            BODY(deal_one)(sum, a, *term, spare);
            BODY(deal_one)(sum, b, next_term, spare);
        }
    for (; i < count; i++) {
        const int32_t *place = places + i * place_at.step;
        const REAL *term = terms + i * term_at.step;
        REAL *sum = sums;

        for (lane = 0; term_at.lane == 1 && lanes != FEW_LANES && lane < lanes; lane += LINE)
            __builtin_prefetch(term + pgi_groups_ahead(term_at.step) + lane, 0, 3);
        for (lane = 0; across && lane + 4 <= lanes; lane += 4) {
            BODY(read_two)(place + lane, &a, &b);
            BODY(read_two)(place + lane + 2, &c, &d);
            BODY(deal_one)(sum, a, term[0], spare);
            BODY(deal_one)(sum + sum_lane, b, term[term_at.lane], spare);
            BODY(deal_one)(sum + 2 * sum_lane, c, term[2 * term_at.lane], spare);
            BODY(deal_one)(sum + 3 * sum_lane, d, term[3 * term_at.lane], spare);
            sum += 4 * sum_lane;
            term += 4 * term_at.lane;
        }
        for (; lane < lanes; lane++, sum += sum_lane, term += term_at.lane)
            BODY(deal_one)(sum, place[lane * place_at.lane], *term, spare);
    }
}

static void BODY(deal)(void *sums, const int32_t *places, const void *terms, const pgi_deal *deal)
{
    const pgi_lanes_at place = deal->places, term = deal->terms;
    const int64_t count = deal->count, lanes = deal->lanes, sum_lane = deal->sum_lane;

#define LANES(lanes, place, term, sum_lane, spare)                                                 \
    BODY(deal_lanes)(sums, places, terms, count, lanes, place, term, sum_lane, spare)
    if (lanes == 1 && deal->runs && place.step == 1 && term.step == 1) {
        BODY(deal_runs)(sums, places, terms, count);
    } else if (lanes == 1 && place.step == 1 && term.step == 1) {
        LANES(1, ((pgi_lanes_at){1, 0}), ((pgi_lanes_at){1, 0}), 0, 0);
    } else if (lanes == FEW_LANES && place.lane == 1 && term.lane == 1 && sum_lane == 1 &&
               place.step == FEW_LANES && term.step == FEW_LANES) {
        const pgi_lanes_at few = {FEW_LANES, 1};

        LANES(FEW_LANES, few, few, 1, 0);
    } else if (lanes > 1 && place.lane == 1 && term.lane == 1 && sum_lane == 1 && deal->spare) {
        LANES(lanes, ((pgi_lanes_at){place.step, 1}), ((pgi_lanes_at){term.step, 1}), 1, lanes);
    } else if (lanes > 1 && place.lane == 1 && term.lane == 1 && sum_lane == 1) {
        /* channels side by side */
        LANES(lanes, ((pgi_lanes_at){place.step, 1}), ((pgi_lanes_at){term.step, 1}), 1, 0);
    } else if (lanes > 1 && place.lane == 1 && term.step == 1) {
        /* planes apart, whose winners a contest has found side by side */
        LANES(lanes, ((pgi_lanes_at){place.step, 1}), ((pgi_lanes_at){1, term.lane}), sum_lane, 0);
    } else if (place.step == 1 && term.step == 1) {
        /* planes apart, from indices */
        LANES(lanes, ((pgi_lanes_at){1, place.lane}), ((pgi_lanes_at){1, term.lane}), sum_lane, 0);
    } else {
        LANES(lanes, place, term, sum_lane, 0);
    }
#undef LANES
}

#undef BODY
#undef FEW_LANES
