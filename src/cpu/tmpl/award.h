/* SPDX-License-Identifier: MIT */
/*
 * Positions that take what windows have for them, for one element type. Included by entry.h, whose
 * parameters and words it uses. Signature and meaning: plan/maxima.h.
 */

#define MASK  PGI_MASK(REAL_NAME)
#define AT    PGI_AT(REAL_NAME)
#define LANES PGI_LANES(REAL_NAME)

/* The windows of a phase in a row; where their number is a constant, registers. */
typedef struct PGI_NAME(claims, ELEMENT) {
    const int32_t *places[PGI_AWARD_WINDOWS];
    const uint8_t *taps[PGI_AWARD_WINDOWS]; /* instead of places */
    const STORED *terms[PGI_AWARD_WINDOWS];
    uint8_t tap[PGI_AWARD_WINDOWS];
} PGI_NAME(claims, ELEMENT);

PGI_ALWAYS_INLINE void PGI_NAME(claim, ELEMENT)(PGI_NAME(claims, ELEMENT) * claims,
                                                const pgi_award *award, int phase, int windows,
                                                int64_t row, bool taps)
{
    const pgi_award_phase *from = &award->phase[phase];
    int i;

    for (i = 0; i < windows; i++) {
        if (taps)
            claims->taps[i] = (const uint8_t *)from->cells[i] + row * award->cell_row;
        else
            claims->places[i] = (const int32_t *)from->cells[i] + row * award->cell_row;
        claims->terms[i] = (const STORED *)from->terms[i] + row * award->term_row;
        claims->tap[i] = from->tap[i];
    }
}

/* What windows have for the positions `target`, at cells `at` and terms `term` on. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(awarded, ELEMENT)(const PGI_NAME(claims, ELEMENT) * claims,
                                                    int windows, int64_t at, int64_t term,
                                                    AT target, bool taps)
{
    VECTOR sum = WORD(set)(0);
    int i;

    for (i = 0; i < windows; i++) {
        const MASK mine = taps ? WORD(same_tap)(claims->taps[i] + at, claims->tap[i])
                               : WORD(same)(WORD(get_at)(claims->places[i] + at), target);

        sum = WORD(add_where)(mine, sum, PGI_VEC(load, ELEMENT)(claims->terms[i] + term));
    }
    return sum;
}

/* How sums are stored: a copy of what the award says, which no store can change. */
typedef struct PGI_NAME(prize, ELEMENT) {
    REAL alpha;
    bool sums, stream;
} PGI_NAME(prize, ELEMENT);

/* Sums of positions to elements, or to sums. */
PGI_ALWAYS_INLINE void PGI_NAME(award_put, ELEMENT)(void *to, int64_t at, VECTOR sum,
                                                    PGI_NAME(prize, ELEMENT) prize)
{
    const VECTOR scaled = WORD(mul)(sum, WORD(set)(prize.alpha));

    if (prize.sums)
        WORD(put)((REAL *)to + at, sum);
    else if (prize.stream)
        PGI_VEC(stream, ELEMENT)((STORED *)to + at, scaled);
    else
        PGI_VEC(store, ELEMENT)((STORED *)to + at, scaled);
}

/* One lane of column c, the group-th of its phase. */
static void PGI_NAME(award_one, ELEMENT)(void *to, const pgi_award *award, int64_t row, int64_t c,
                                         int phase, int64_t group, int64_t lane)
{
    const pgi_award_phase *from = &award->phase[phase];
    const int64_t cell = row * award->cell_row + group * award->cell_step + lane;
    const int64_t term = row * award->term_row + group * award->term_step + lane;
    const int64_t at = row * award->to_row + c * award->to_step + lane;
    const int32_t target = award->place + (int32_t)row * award->place_row + (int32_t)c;
    REAL sum = 0;
    int i;

    for (i = 0; i < from->windows; i++) {
        const bool mine = award->taps ? ((const uint8_t *)from->cells[i])[cell] == from->tap[i]
                                      : ((const int32_t *)from->cells[i])[cell] == target;
        /* no branch, which nothing could predict; a sum is not -0 */
        const REAL share[2] = {0, LOAD(((const STORED *)from->terms[i])[term])};

        sum = sum + share[mine];
    }
    if (award->sums)
        ((REAL *)to)[at] = sum;
    else
        ((STORED *)to)[at] = STORE((REAL)award->alpha * sum);
}

/* All columns of a phase, all lanes: so that what is known of its windows stays in registers. */
PGI_ALWAYS_INLINE void PGI_NAME(award_phase, ELEMENT)(void *to, const pgi_award *award, int64_t row,
                                                      PGI_NAME(prize, ELEMENT) prize, int phase,
                                                      int windows, bool taps)
{
    const int64_t lanes = award->lanes, columns = award->columns, phases = award->phases;
    const int64_t to_step = award->to_step, term_step = award->term_step;
    const int64_t cell_step = award->cell_step;
    const int32_t place = award->place + (int32_t)row * award->place_row;
    PGI_NAME(claims, ELEMENT) claims;
    int64_t c, group, lane;

    PGI_NAME(claim, ELEMENT)(&claims, award, phase, windows, row, taps);
    for (c = phase, group = 0; c < columns; c += phases, group++) {
        const int64_t at = row * award->to_row + c * to_step;
        const AT target = WORD(set_at)(place + (int32_t)c);

        for (lane = 0; lane + LANES <= lanes; lane += LANES)
            PGI_NAME(award_put, ELEMENT)
        (to, at + lane,
         PGI_NAME(awarded, ELEMENT)(&claims, windows, group * cell_step + lane,
                                    group * term_step + lane, target, taps),
         prize);
        for (; lane < lanes; lane++)
            PGI_NAME(award_one, ELEMENT)(to, award, row, c, phase, group, lane);
    }
}

PGI_ALWAYS_INLINE void PGI_NAME(award_groups, ELEMENT)(void *to, const pgi_award *award,
                                                       int64_t row, PGI_NAME(prize, ELEMENT) prize,
                                                       bool taps)
{
    int p;

    for (p = 0; p < award->phases; p++) {
        const int windows = award->phase[p].windows;

        if (windows == 1)
            PGI_NAME(award_phase, ELEMENT)(to, award, row, prize, p, 1, taps);
        else if (windows == 2)
            PGI_NAME(award_phase, ELEMENT)(to, award, row, prize, p, 2, taps);
        else if (windows == 4)
            PGI_NAME(award_phase, ELEMENT)(to, award, row, prize, p, 4, taps);
        else if (windows == 8)
            PGI_NAME(award_phase, ELEMENT)(to, award, row, prize, p, 8, taps);
        else
            PGI_NAME(award_phase, ELEMENT)(to, award, row, prize, p, windows, taps);
    }
}

/* One lane, columns c and on: as many as `phases` vectors have. The number of phases is 1 or 2, a
 * constant, as are the numbers of windows that they have, if they are few. */
PGI_ALWAYS_INLINE void PGI_NAME(award_columns,
                                ELEMENT)(void *to, const PGI_NAME(claims, ELEMENT) claims[2],
                                         AT target, int64_t c, PGI_NAME(prize, ELEMENT) prize,
                                         int phases, int even, int odd, bool taps)
{
    const int64_t group = c / phases;
    VECTOR low = PGI_NAME(awarded, ELEMENT)(&claims[0], even, group, group, target, taps), high;

    if (phases == 2) {
        const AT other = WORD(add_at)(target, WORD(set_at)(1));

        WORD(zip)
        (low, PGI_NAME(awarded, ELEMENT)(&claims[1], odd, group, group, other, taps), &low, &high);
        PGI_NAME(award_put, ELEMENT)(to, c + LANES, high, prize);
    }
    PGI_NAME(award_put, ELEMENT)(to, c, low, prize);
}

PGI_ALWAYS_INLINE void PGI_NAME(award_row, ELEMENT)(void *to, const pgi_award *award, int64_t row,
                                                    PGI_NAME(prize, ELEMENT) prize, int phases,
                                                    int even, int odd, bool taps)
{
    const int64_t columns = award->columns, together = phases * LANES;
    const AT first = WORD(add_at)(WORD(count_at)(phases),
                                  WORD(set_at)(award->place + (int32_t)row * award->place_row));
    STORED *at = (STORED *)to + row * award->to_row; /* sums are of one row, the first */
    PGI_NAME(claims, ELEMENT) claims[2];
    int64_t c = 0;

    if (columns >= together) {
        PGI_NAME(claim, ELEMENT)(&claims[0], award, 0, even, row, taps);
        PGI_NAME(claim, ELEMENT)(&claims[1], award, phases - 1, odd, row, taps);
        for (; c + together <= columns; c += together)
            PGI_NAME(award_columns, ELEMENT)
        (at, claims, WORD(add_at)(first, WORD(set_at)((int32_t)c)), c, prize, phases, even, odd,
         taps);
        if (c < columns) { /* the last where they still fit */
            c = (columns - together) / phases * phases;
            prize.stream = false;
            PGI_NAME(award_columns, ELEMENT)
            (at, claims, WORD(add_at)(first, WORD(set_at)((int32_t)c)), c, prize, phases, even, odd,
             taps);
            c += together;
        }
    }
    for (; c < columns; c++)
        PGI_NAME(award_one, ELEMENT)(to, award, row, c, (int)(c % phases), c / phases, 0);
}

PGI_ALWAYS_INLINE void PGI_NAME(award_all, ELEMENT)(void *to, const pgi_award *award, bool taps)
{
    const PGI_NAME(prize, ELEMENT)
        prize = {.alpha = (REAL)award->alpha,
                 .sums = award->sums,
                 .stream = award->stream && !award->sums &&
                           (uintptr_t)to % (PGI_STREAM_ELEMENTS * sizeof(STORED)) == 0 &&
                           award->to_row % PGI_STREAM_ELEMENTS == 0 &&
                           award->to_step % PGI_STREAM_ELEMENTS == 0 && award->lanes % LANES == 0 &&
                           award->lanes * (int64_t)sizeof(STORED) % PGI_LINE_BYTES == 0};
    const int even = award->phase[0].windows;
    const int odd = award->phases > 1 ? award->phase[1].windows : 0;
    int64_t r;

#define ROW(phases, even, odd)                                                                     \
    PGI_NAME(award_row, ELEMENT)(to, award, r, prize, phases, even, odd, taps)
    for (r = 0; r < award->rows; r++) {
        if (award->lanes > 1)
            PGI_NAME(award_groups, ELEMENT)(to, award, r, prize, taps);
        else if (award->phases == 1)
            ROW(1, even, 0);
        else if (even == 1 && odd == 1)
            ROW(2, 1, 1);
        else if (even == 1 && odd == 2)
            ROW(2, 1, 2);
        else if (even == 2 && odd == 4)
            ROW(2, 2, 4);
        else
            ROW(2, even, odd);
    }
#undef ROW
}

static void PGI_NAME(award, ELEMENT)(void *to, const pgi_award *award)
{
    if (award->taps)
        PGI_NAME(award_all, ELEMENT)(to, award, true);
    else
        PGI_NAME(award_all, ELEMENT)(to, award, false);
}

#undef MASK
#undef AT
#undef LANES
