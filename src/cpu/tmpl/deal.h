/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of the max gradient for one compute type: REAL, and its suffix REAL_NAME.
 * Signatures and meaning: plan/backend.h.
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

static void BODY(deal)(void *sums, const int32_t *places, const void *terms, int64_t lanes,
                       int64_t count, bool runs)
{
    REAL *sum = sums;
    const REAL *term = terms;
    int64_t i, lane;

    if (lanes == 1 && runs) {
        BODY(deal_runs)(sum, places, term, count);
        return;
    }
    for (i = 0; i < count && lanes == 1; i++)
        if (places[i] >= 0)
            sum[places[i]] = sum[places[i]] + term[i];
    for (i = 0; i < count && lanes > 1; i++, places += lanes, term += lanes) {
        for (lane = 0; lane < lanes; lane++) {
            REAL *one = sum + places[lane] * lanes + lane;

            if (places[lane] >= 0)
                *one = *one + term[lane];
        }
    }
}

#undef BODY
