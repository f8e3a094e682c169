/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of the max gradient for one compute type: REAL, and its suffix REAL_NAME.
 * Signatures and meaning: plan/maxima.h.
 */

#define BODY(w) PGI_NAME(w, REAL_NAME)

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

/* Lane by lane: what a lane adds waits for what it has added to the same sum before, but not for
 * other lanes. `together` windows of a lane, a constant as are most steps, are dealt before the
 * next lane. In planes of 20x20 with windows of 13x13 that takes 0.5 ns a window, one plane after
 * the other 1.0. */
PGI_ALWAYS_INLINE int64_t BODY(deal_lanes)(REAL *sums, const int32_t *places, const REAL *terms,
                                           int64_t count, int64_t lanes, pgi_lanes_at place_at,
                                           pgi_lanes_at term_at, pgi_lanes_at sum_at, int together)
{
    int64_t i, lane;
    int k;

    for (i = 0; i + together <= count; i += together) {
        for (lane = 0; term_at.lane == 1 && lane < lanes;
             lane += PGI_LINE_BYTES / (int)sizeof *terms)
            __builtin_prefetch(terms + i * term_at.step + pgi_groups_ahead(term_at.step) + lane, 0,
                               3);
        for (lane = 0; lane < lanes; lane++) {
            const int32_t *place = places + i * place_at.step + lane * place_at.lane;
            const REAL *term = terms + i * term_at.step + lane * term_at.lane;

            PGI_UNROLL
            for (k = 0; k < together; k++, place += place_at.step, term += term_at.step) {
                REAL *sum = sums + *place * sum_at.step + lane * sum_at.lane;

                if (*place >= 0)
                    *sum = *sum + *term;
            }
        }
    }
    return i;
}

static void BODY(deal)(void *sums, const int32_t *places, const void *terms, const pgi_deal *deal)
{
    const pgi_lanes_at place = deal->places, term = deal->terms, sum = deal->sums;
    const int64_t count = deal->count, lanes = deal->lanes;
    int64_t done;

    if (lanes == 1 && deal->runs && place.step == 1 && term.step == 1) {
        BODY(deal_runs)(sums, places, terms, count);
    } else if (lanes == 1 && place.step == 1 && term.step == 1) {
        const pgi_lanes_at one = {1, 0};

        BODY(deal_lanes)(sums, places, terms, count, 1, one, one, one, 1);
    } else if (lanes > 1 && place.lane == 1 && term.lane == 1 && sum.lane == 1) {
        /* channels side by side */
        BODY(deal_lanes)
        (sums, places, terms, count, lanes, (pgi_lanes_at){place.step, 1},
         (pgi_lanes_at){term.step, 1}, (pgi_lanes_at){sum.step, 1}, 1);
    } else if (lanes > 1 && place.lane == 1 && term.step == 1 && sum.step == 1) {
        /* planes apart, whose winners a contest has found side by side */
        BODY(deal_lanes)
        (sums, places, terms, count, lanes, (pgi_lanes_at){place.step, 1},
         (pgi_lanes_at){1, term.lane}, (pgi_lanes_at){1, sum.lane}, 1);
    } else if (place.step == 1 && term.step == 1 && sum.step == 1) {
        /* planes apart, from indices */
        done = BODY(deal_lanes)(sums, places, terms, count, lanes, (pgi_lanes_at){1, place.lane},
                                (pgi_lanes_at){1, term.lane}, (pgi_lanes_at){1, sum.lane}, 2);
        BODY(deal_lanes)
        (sums, places + done, (const REAL *)terms + done, count - done, lanes, place, term, sum, 1);
    } else {
        BODY(deal_lanes)(sums, places, terms, count, lanes, place, term, sum, 1);
    }
}

#undef BODY
