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

/* With `always` what is nowhere goes before the sums: at the border of a tile no branch could be
 * predicted (5x5 from x on 56x56, NXC f32, on a Zen 3: 5.8 to 4.4 ms). */
PGI_ALWAYS_INLINE void BODY(deal_one)(REAL *sums, int64_t step, int32_t place, REAL term,
                                      bool always)
{
    const int64_t at = (always && place < 0 ? -1 : place) * step;

    if (always || place >= 0)
        sums[at] = sums[at] + term;
}

/* Two places that lie side by side, by one load: what limits is how many loads and stores there
 * are (13x13 from indices on two cores of a Zen 3: 0.71 to 0.64 ns a window). */
PGI_ALWAYS_INLINE void BODY(deal_two)(REAL *sums, int64_t step, int64_t next, const int32_t *places,
                                      REAL term, REAL next_term, bool always)
{
    uint64_t both;
    int32_t place, next_place;

    memcpy(&both, places, sizeof both);
    place = (int32_t)(uint32_t)both;
    next_place = (int32_t)(uint32_t)(both >> 32);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    next_place = place;
    place = (int32_t)(uint32_t)(both >> 32);
#endif
    BODY(deal_one)(sums, step, place, term, always);
    BODY(deal_one)(sums + next, step, next_place, next_term, always);
}

/* Lane by lane: what a lane adds waits for what it has added to the same sum before, but not for
 * other lanes. Two windows of a lane are dealt before the next lane, or, where places of lanes are
 * side by side, two lanes at once; which, and most steps, are constants. In planes of 20x20 with
 * windows of 13x13 that takes half the time of one plane after the other. */
PGI_ALWAYS_INLINE void BODY(deal_lanes)(REAL *sums, const int32_t *places, const REAL *terms,
                                        int64_t count, int64_t lanes, pgi_lanes_at place_at,
                                        pgi_lanes_at term_at, pgi_lanes_at sum_at, bool always)
{
    const bool across = place_at.lane == 1 && lanes > 1, down = !across && place_at.step == 1;
    int64_t i, lane;

    for (i = 0; down && i + 2 <= count; i += 2)
        for (lane = 0; lane < lanes; lane++) {
            const REAL *term = terms + i * term_at.step + lane * term_at.lane;

            BODY(deal_two)
            (sums + lane * sum_at.lane, sum_at.step, 0, places + i + lane * place_at.lane, *term,
             term[term_at.step], always);
        }
    for (; i < count; i++) {
        for (lane = 0; term_at.lane == 1 && lanes != FEW_LANES && lane < lanes;
             lane += PGI_LINE_BYTES / (int)sizeof *terms)
            __builtin_prefetch(terms + i * term_at.step + pgi_groups_ahead(term_at.step) + lane, 0,
                               3);
        for (lane = 0; across && lane + 2 <= lanes; lane += 2) {
            const REAL *term = terms + i * term_at.step + lane * term_at.lane;

            BODY(deal_two)
            (sums + lane * sum_at.lane, sum_at.step, sum_at.lane, places + i * place_at.step + lane,
             *term, term[term_at.lane], always);
        }
        for (; lane < lanes; lane++)
            BODY(deal_one)
        (sums + lane * sum_at.lane, sum_at.step, places[i * place_at.step + lane * place_at.lane],
         terms[i * term_at.step + lane * term_at.lane], always);
    }
}

static void BODY(deal)(void *sums, const int32_t *places, const void *terms, const pgi_deal *deal)
{
    const pgi_lanes_at place = deal->places, term = deal->terms, sum = deal->sums;
    const int64_t count = deal->count, lanes = deal->lanes;

#define LANES(place, term, sum)                                                                    \
    BODY(deal_lanes)(sums, places, terms, count, lanes, place, term, sum, false)
    if (lanes == 1 && deal->runs && place.step == 1 && term.step == 1) {
        BODY(deal_runs)(sums, places, terms, count);
    } else if (lanes == 1 && place.step == 1 && term.step == 1) {
        const pgi_lanes_at one = {1, 0};

        BODY(deal_lanes)(sums, places, terms, count, 1, one, one, one, false);
    } else if (lanes == FEW_LANES && place.lane == 1 && term.lane == 1 && sum.lane == 1 &&
               place.step == FEW_LANES && term.step == FEW_LANES && sum.step == FEW_LANES) {
        const pgi_lanes_at few = {FEW_LANES, 1};

        BODY(deal_lanes)(sums, places, terms, count, FEW_LANES, few, few, few, false);
    } else if (lanes > 1 && place.lane == 1 && term.lane == 1 && sum.lane == 1 && deal->runs) {
        BODY(deal_lanes)
        (sums, places, terms, count, lanes, (pgi_lanes_at){place.step, 1},
         (pgi_lanes_at){term.step, 1}, (pgi_lanes_at){sum.step, 1}, true);
    } else if (lanes > 1 && place.lane == 1 && term.lane == 1 && sum.lane == 1) {
        /* channels side by side */
        LANES(((pgi_lanes_at){place.step, 1}), ((pgi_lanes_at){term.step, 1}),
              ((pgi_lanes_at){sum.step, 1}));
    } else if (lanes > 1 && place.lane == 1 && term.step == 1 && sum.step == 1) {
        /* planes apart, whose winners a contest has found side by side */
        LANES(((pgi_lanes_at){place.step, 1}), ((pgi_lanes_at){1, term.lane}),
              ((pgi_lanes_at){1, sum.lane}));
    } else if (place.step == 1 && term.step == 1 && sum.step == 1) {
        /* planes apart, from indices */
        LANES(((pgi_lanes_at){1, place.lane}), ((pgi_lanes_at){1, term.lane}),
              ((pgi_lanes_at){1, sum.lane}));
    } else {
        LANES(place, term, sum);
    }
#undef LANES
}

#undef BODY
#undef FEW_LANES
