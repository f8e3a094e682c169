/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies of contests for one compute type: REAL, and its suffix REAL_NAME. Signatures and
 * meaning: plan/maxima.h. Loops run to the end of a vector, not of a row: what they write too
 * much is the beginning of the next row, which comes after it, or slack.
 */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define MASK    PGI_MASK(REAL_NAME)
#define AT      PGI_AT(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
#define BODY(w) PGI_NAME(w, REAL_NAME)
#define LANES   PGI_LANES(REAL_NAME)

PGI_ALWAYS_INLINE MASK BODY(wins)(pgi_rule rule, VECTOR b, VECTOR a)
{
    return rule == PGI_RULE_PLAIN   ? WORD(above)(b, a)
           : rule == PGI_RULE_FIRST ? WORD(first)(b, a)
           : rule == PGI_RULE_SKIP  ? WORD(skip)(b, a)
                                    : WORD(last)(b, a);
}

static bool BODY(wins_one)(pgi_rule rule, REAL b, REAL a)
{
    return b > a || (rule == PGI_RULE_FIRST && b != b && a == a) ||
           ((rule == PGI_RULE_SKIP || rule == PGI_RULE_LEADING) && b == b && a != a) ||
           (rule == PGI_RULE_LAST && b != b);
}

/* The best so far against another that lies behind it. */
PGI_ALWAYS_INLINE void BODY(compete)(pgi_rule rule, bool placed, VECTOR *best, AT *at, VECTOR other,
                                     AT other_at)
{
    MASK won;

    if (!placed && rule == PGI_RULE_PLAIN) {
        *best = WORD(larger)(other, *best);
        return;
    }
    won = BODY(wins)(rule, other, *best);
    /* where nothing is NaN values need not wait for the comparison */
    *best = rule == PGI_RULE_PLAIN ? WORD(larger)(other, *best) : WORD(choose)(won, other, *best);
    if (placed)
        *at = WORD(choose_at)(won, other_at, *at);
}

/* Cells from `from` on, `step` apart. `kind` is a constant: 1, 2, or 0 for any other step. */
PGI_ALWAYS_INLINE VECTOR BODY(values_of)(const REAL *from, int kind, int64_t step)
{
    return kind == 1   ? WORD(get)(from)
           : kind == 2 ? WORD(even)(WORD(get)(from), WORD(get)(from + LANES))
                       : WORD(pick)(from, step);
}

PGI_ALWAYS_INLINE AT BODY(places_of)(const int32_t *from, int kind)
{
    return kind == 2 ? WORD(even_at)(WORD(get_at)(from), WORD(get_at)(from + LANES))
                     : WORD(get_at)(from);
}

/* A row of single cells, up to the vector that `end` lies in. Where `count` is a constant, arrays
 * of pointers are registers. */
PGI_ALWAYS_INLINE void BODY(bout_of)(REAL *restrict values, int32_t *restrict places,
                                     const REAL *from, const int32_t *from_places,
                                     const pgi_bout *bout, AT base, pgi_rule rule, bool placed,
                                     bool columns, int kind, int64_t end, int count)
{
    const int64_t step = kind ? kind : bout->step, place_step = columns ? 1 : step;
    const REAL *value[PGI_CONTENDERS] = {NULL};
    const int32_t *place[PGI_CONTENDERS] = {NULL};
    int64_t i;
    int j;

    for (j = 0; j < count; j++) {
        value[j] = from + bout->offset[j];
        place[j] = !placed ? NULL : columns ? bout->columns[j] : from_places + bout->offset[j];
    }
    for (i = 0; i < end; i += LANES) {
        VECTOR best = BODY(values_of)(value[0] + i * step, kind, step);
        AT at = base, other = base;

        if (placed)
            at = BODY(places_of)(place[0] + i * place_step, columns ? 1 : kind);
        for (j = 1; j < count; j++) {
            if (placed)
                other = BODY(places_of)(place[j] + i * place_step, columns ? 1 : kind);
            BODY(compete)
            (rule, placed, &best, &at, BODY(values_of)(value[j] + i * step, kind, step), other);
        }
        WORD(put)(values + i, best);
        if (placed)
            WORD(put_at)(places + i, columns ? WORD(add_at)(at, base) : at);
    }
}

/* Short runs have loops of their own, where nothing is NaN. */
PGI_ALWAYS_INLINE void BODY(bout_row)(REAL *values, int32_t *places, const REAL *from,
                                      const int32_t *from_places, const pgi_bout *bout, AT base,
                                      pgi_rule rule, bool placed, bool columns, int kind,
                                      int64_t end)
{
    if (rule == PGI_RULE_PLAIN && kind && bout->count == 2)
        BODY(bout_of)
    (values, places, from, from_places, bout, base, rule, placed, columns, kind, end, 2);
    else if (rule == PGI_RULE_PLAIN && kind && bout->count == 3) BODY(bout_of)(
        values, places, from, from_places, bout, base, rule, placed, columns, kind, end, 3);
    else if (rule == PGI_RULE_PLAIN && kind && bout->count == 4) BODY(bout_of)(
        values, places, from, from_places, bout, base, rule, placed, columns, kind, end, 4);
    else if (rule == PGI_RULE_PLAIN && kind == 1 && bout->count == 5) BODY(bout_of)(
        values, places, from, from_places, bout, base, rule, placed, columns, kind, end, 5);
    else BODY(bout_of)(values, places, from, from_places, bout, base, rule, placed, columns, kind,
                       end, bout->count);
}

/* A row of groups of lanes, whole vectors of them; with `exact` no further than they go. */
PGI_ALWAYS_INLINE void BODY(bout_groups)(REAL *restrict values, int32_t *restrict places,
                                         const REAL *from, const int32_t *from_places,
                                         const pgi_bout *bout, AT base, pgi_rule rule, bool placed,
                                         bool columns, int count)
{
    const int64_t lanes = bout->lanes, end = bout->exact ? lanes - LANES + 1 : lanes;
    const int64_t groups = bout->places, step = bout->step * lanes;
    const int32_t *column[PGI_CONTENDERS] = {NULL};
    int64_t offset[PGI_CONTENDERS] = {0}, i, lane;
    int j;

    for (j = 0; j < count; j++) {
        offset[j] = bout->offset[j];
        column[j] = columns ? bout->columns[j] : NULL;
    }
    for (i = 0; i < groups; i++) {
        for (lane = 0; lane < end; lane += LANES) {
            const int64_t group = i * step + lane;
            VECTOR best = WORD(get)(from + offset[0] + group);
            AT at = base, other = base;

            if (placed)
                at = columns ? WORD(set_at)(column[0][i])
                             : WORD(get_at)(from_places + offset[0] + group);
            for (j = 1; j < count; j++) {
                const int64_t cell = offset[j] + group;

                if (placed)
                    other = columns ? WORD(set_at)(column[j][i]) : WORD(get_at)(from_places + cell);
                BODY(compete)(rule, placed, &best, &at, WORD(get)(from + cell), other);
            }
            WORD(put)(values + i * lanes + lane, best);
            if (placed)
                WORD(put_at)(places + i * lanes + lane, columns ? WORD(add_at)(at, base) : at);
        }
    }
}

/* Cell by cell, those of every group from `lane` on. */
static void BODY(bout_rest)(REAL *values, int32_t *places, const REAL *from,
                            const int32_t *from_places, const pgi_bout *bout, int32_t base,
                            int64_t first, int64_t first_lane)
{
    const int64_t lanes = bout->lanes;
    int64_t i, lane;
    int j;

    for (i = first; i < bout->places; i++) {
        for (lane = first_lane; lane < lanes; lane++) {
            const int64_t group = i * bout->step * lanes + lane;
            REAL best = -(REAL)INFINITY;
            int winner = 0;

            for (j = 0; j < bout->count; j++) {
                const REAL value = from[bout->offset[j] + group];

                if (j == 0 || BODY(wins_one)(bout->rule, value, best)) {
                    best = value;
                    winner = j;
                }
            }
            values[i * lanes + lane] = best;
            if (places)
                places[i * lanes + lane] = bout->count == 0 ? PGI_NOWHERE
                                           : bout->columns
                                               ? bout->columns[winner][i] + base
                                               : from_places[bout->offset[winner] + group];
        }
    }
}

/* All rows of a bout; rule, placed and columns are constants. */
PGI_ALWAYS_INLINE void BODY(bout_rows)(REAL *values, int32_t *places, const REAL *from,
                                       const int32_t *from_places, const pgi_bout *bout,
                                       pgi_rule rule, bool placed, bool columns)
{
    const int64_t lanes = bout->lanes;
    int64_t r;

    for (r = 0; r < bout->rows; r++) {
        const int32_t base = columns ? bout->base[r] : 0;
        const AT bases = WORD(set_at)(base);

        if (bout->count == 0 || (lanes == 1 && bout->exact)) {
            BODY(bout_rest)(values, places, from, from_places, bout, base, 0, 0);
        } else if (lanes > 1) {
            if (rule == PGI_RULE_PLAIN && bout->count == 2)
                BODY(bout_groups)
            (values, places, from, from_places, bout, bases, rule, placed, columns, 2);
            else if (rule == PGI_RULE_PLAIN && bout->count == 3) BODY(bout_groups)(
                values, places, from, from_places, bout, bases, rule, placed, columns, 3);
            else BODY(bout_groups)(values, places, from, from_places, bout, bases, rule, placed,
                                   columns, bout->count);
            if (bout->exact)
                BODY(bout_rest)
            (values, places, from, from_places, bout, base, 0, lanes / LANES * LANES);
        } else if (bout->step == 1) {
            BODY(bout_row)
            (values, places, from, from_places, bout, bases, rule, placed, columns, 1,
             bout->places);
        } else if (bout->step == 2) {
            BODY(bout_row)
            (values, places, from, from_places, bout, bases, rule, placed, columns, 2,
             bout->places);
        } else if (columns || !placed) {
            /* the vector behind the last would read too far away */
            const int64_t whole = bout->places / LANES * LANES;

            BODY(bout_row)
            (values, places, from, from_places, bout, bases, rule, placed, columns, 0, whole);
            BODY(bout_rest)(values, places, from, from_places, bout, base, whole, 0);
        } else {
            BODY(bout_rest)(values, places, from, from_places, bout, base, 0, 0);
        }
        values += bout->to_row;
        from += bout->from_row;
        if (placed)
            places += bout->to_row;
        if (placed && !columns)
            from_places += bout->from_row;
    }
}

PGI_ALWAYS_INLINE void BODY(bout_ruled)(REAL *values, int32_t *places, const REAL *from,
                                        const int32_t *from_places, const pgi_bout *bout,
                                        pgi_rule rule)
{
    if (!places)
        BODY(bout_rows)(values, places, from, from_places, bout, rule, false, false);
    else if (bout->columns)
        BODY(bout_rows)(values, places, from, from_places, bout, rule, true, true);
    else
        BODY(bout_rows)(values, places, from, from_places, bout, rule, true, false);
}

static void BODY(contest)(void *values, int32_t *places, const void *from,
                          const int32_t *from_places, const pgi_bout *bout)
{
    switch (bout->rule) {
    case PGI_RULE_PLAIN:
        BODY(bout_ruled)(values, places, from, from_places, bout, PGI_RULE_PLAIN);
        break;
    case PGI_RULE_FIRST:
        BODY(bout_ruled)(values, places, from, from_places, bout, PGI_RULE_FIRST);
        break;
    case PGI_RULE_SKIP:
    case PGI_RULE_LEADING: /* the rest of it is not the contest's */
        BODY(bout_ruled)(values, places, from, from_places, bout, PGI_RULE_SKIP);
        break;
    case PGI_RULE_LAST:
        BODY(bout_ruled)(values, places, from, from_places, bout, PGI_RULE_LAST);
        break;
    }
}

/* A vector of cells from `at` on. */
PGI_ALWAYS_INLINE void BODY(final_cells)(REAL *values, int32_t *places, const pgi_final *final,
                                         int64_t at, int layers)
{
    VECTOR best = WORD(get)((const REAL *) final->values[0] + at);
    AT place = WORD(set_at)(final->further[0]);
    int j;

    if (places)
        place = WORD(add_at)(WORD(get_at)(final->places[0] + at), place);
    PGI_UNROLL
    for (j = 1; j < layers; j++) {
        AT other = place;

        if (places)
            other =
                WORD(add_at)(WORD(get_at)(final->places[j] + at), WORD(set_at)(final->further[j]));
        BODY(compete)
        (PGI_RULE_PLAIN, places != NULL, &best, &place,
         WORD(get)((const REAL *) final->values[j] + at), other);
    }
    if (values)
        WORD(put)(values + at, best);
    if (places)
        WORD(put_at)(places + at, place);
}

/* One cell. */
static void BODY(final_one)(REAL *values, int32_t *places, const pgi_final *final, int64_t at)
{
    int winner = 0, j;

    for (j = 1; j < final->layers; j++)
        if (((const REAL *) final->values[j])[at] > ((const REAL *) final->values[winner])[at])
            winner = j;
    if (values)
        values[at] = ((const REAL *) final->values[winner])[at];
    if (places)
        places[at] = final->places[winner][at] + final->further[winner];
}

PGI_ALWAYS_INLINE void BODY(final_of)(REAL *values, int32_t *places, const pgi_final *final,
                                      int layers)
{
    int64_t i;

    for (i = 0; i < final->count && final->count < LANES; i++)
        BODY(final_one)(values, places, final, i);
    for (; i < final->count; i += LANES) { /* the last where they still fit */
        i = PGI_SMALLER(i, final->count - LANES);
        BODY(final_cells)(values, places, final, i, layers);
    }
}

static void BODY(final)(void *values, int32_t *places, const pgi_final *final)
{
    if (final->layers == 2)
        BODY(final_of)(values, places, final, 2);
    else
        BODY(final_of)(values, places, final, PGI_LAYERS);
}

#undef VECTOR
#undef MASK
#undef AT
#undef WORD
#undef BODY
#undef LANES
