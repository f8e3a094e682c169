/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of the max gradient for one compute type: REAL, and its suffix REAL_NAME.
 * Signatures and meaning: plan/backend.h. As in contest.h, loops run to the end of a vector.
 */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define AT      PGI_AT(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
#define BODY(w) PGI_NAME(w, REAL_NAME)
#define LANES   PGI_LANES(REAL_NAME)

/* What the windows of a phase have for the positions `target`, at cells `at` and on. */
PGI_ALWAYS_INLINE VECTOR BODY(awarded)(const int32_t *const *places, const REAL *const *terms,
                                       int windows, int64_t at, AT target)
{
    VECTOR sum = WORD(set)(0);
    int i;

    for (i = 0; i < windows; i++)
        sum = WORD(add_where)(WORD(same)(WORD(get_at)(places[i] + at), target), sum,
                              WORD(get)(terms[i] + at));
    return sum;
}

/* Pointers of a phase; where `windows` is a constant, registers. */
PGI_ALWAYS_INLINE void BODY(award_from)(const pgi_award *award, int phase, int windows,
                                        const int32_t **places, const REAL **terms)
{
    int i;

    for (i = 0; i < windows; i++) {
        places[i] = award->phase[phase].places[i];
        terms[i] = award->phase[phase].terms[i];
    }
}

/* Column c, all lanes. */
PGI_ALWAYS_INLINE void BODY(award_group)(REAL *restrict to, const pgi_award *award, int64_t c,
                                         int phase, int windows)
{
    const int32_t *places[PGI_AWARD_WINDOWS] = {NULL};
    const REAL *terms[PGI_AWARD_WINDOWS] = {NULL};
    const int64_t lanes = award->lanes, group = c / award->phases * lanes;
    const AT target = WORD(set_at)(award->place + (int32_t)c);
    int64_t lane;

    BODY(award_from)(award, phase, windows, places, terms);
    for (lane = 0; lane < lanes; lane += LANES)
        WORD(put)(to + lane, BODY(awarded)(places, terms, windows, group + lane, target));
}

static void BODY(award)(void *sums, const pgi_award *award)
{
    REAL *to = sums;
    int64_t c;

    for (c = 0; c < award->columns; c++, to += award->lanes) {
        const int phase = (int)(c % award->phases), windows = award->phase[phase].windows;

        if (windows == 1)
            BODY(award_group)(to, award, c, phase, 1);
        else if (windows == 2)
            BODY(award_group)(to, award, c, phase, 2);
        else if (windows == 4)
            BODY(award_group)(to, award, c, phase, 4);
        else
            BODY(award_group)(to, award, c, phase, windows);
    }
}

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

#undef VECTOR
#undef AT
#undef WORD
#undef BODY
#undef LANES
