/* SPDX-License-Identifier: MIT */
/*
 * Windows of few taps, for one element type: all taps of a vector of windows, or of lanes, compete
 * in registers. Included by entry.h, whose parameters and words it uses. Signature and meaning:
 * plan/maxima.h.
 */

#define MASK  PGI_MASK(REAL_NAME)
#define AT    PGI_AT(REAL_NAME)
#define LANES PGI_LANES(REAL_NAME)
#define AHEAD (AHEAD_BYTES / (int)sizeof(STORED))

/* Elements of neighbouring cells; of those that lie side by side, what is `ahead` is fetched, to
 * the second-level cache: the first has no room for it. Every other one: the first tap of a row
 * takes the even elements of two vectors, others the odd ones of what begins before them, so that
 * nothing is read behind the last tap, and the first two taps share their loads. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(melee_load, ELEMENT)(const STORED *from,
                                                       pgi_neighbours neighbours, int64_t step,
                                                       int64_t ahead, bool first)
{
    STORED some[LANES];
    int i;

    if (neighbours == PGI_SIDE_BY_SIDE) {
        __builtin_prefetch(from + ahead, 0, 2);
        return PGI_VEC(load, ELEMENT)(from);
    }
    if (neighbours == PGI_EVERY_OTHER)
        return first ? PGI_VEC(load_even, ELEMENT)(from) : PGI_VEC(load_odd, ELEMENT)(from - 1);
    for (i = 0; i < LANES; i++)
        some[i] = from[i * step];
    return PGI_VEC(load, ELEMENT)(some);
}

/* Vectors of cells that are found together: a comparison waits for the one before it, but not for
 * that of another vector. */
#define TOGETHER 2

/* Rows and columns of windows that share rows. */
#define SHARED 3

/* Bytes to the next row of windows up to which that is fetched, as it is where rows go backwards,
 * and not only what follows in a row: 3x3x3 windows of stride 2, f32 NXC, take 3.3 ms forward,
 * where otherwise they take 4.1. */
#define NEAR_BYTES 32768

typedef struct PGI_NAME(fighters, ELEMENT) {
    VECTOR best[TOGETHER], before[TOGETHER]; /* the best, the last */
    AT at[TOGETHER];
} PGI_NAME(fighters, ELEMENT);

/* Tap t, in column c, joins. Values are compared and taken apart from each other, which makes the
 * way from tap to tap short: 3x3 windows of stride 2, NXC 64x40x40, take 18.6 us where taking by
 * the mask takes 20.5, and one vector at a time 22.8. */
PGI_ALWAYS_INLINE void PGI_NAME(melee_join, ELEMENT)(PGI_NAME(fighters, ELEMENT) * all,
                                                     const STORED *from, const pgi_melee *melee,
                                                     int t, int c, int vectors,
                                                     pgi_neighbours neighbours, int64_t step,
                                                     bool placed, vec_doubt *doubt)
{
    const AT place = WORD(set_at)(melee->place[t]);
    int v;

    PGI_UNROLL
    for (v = 0; v < vectors; v++) {
        const VECTOR other = PGI_NAME(melee_load, ELEMENT)(
            from + melee->offset[t] + v * LANES * step, neighbours, step, AHEAD, c == 0);
        const MASK won = WORD(above)(other, all->best[v]);

        all->best[v] = WORD(larger)(other, all->best[v]);
        if (placed)
            all->at[v] = WORD(choose_at)(won, place, all->at[v]);
        if (t % 2) /* two at a time */
            WORD(doubt_nan)(all->before[v], other, doubt);
        all->before[v] = other;
    }
}

/* `vectors` vectors of cells. Constants: vectors, neighbours, placed, and, if they are not 0, `few`
 * taps in so many columns. */
PGI_ALWAYS_INLINE void PGI_NAME(melee_cells, ELEMENT)(REAL *values, int32_t *places,
                                                      const STORED *from, const pgi_melee *melee,
                                                      int32_t base, AT steps, int vectors,
                                                      pgi_neighbours neighbours, int64_t step,
                                                      int32_t place_step, bool placed, int few,
                                                      int columns, vec_doubt *doubt)
{
    const int taps = few ? few : melee->taps;
    PGI_NAME(fighters, ELEMENT) all;
    int t, v, c = 0;

    PGI_UNROLL
    for (v = 0; v < vectors; v++) {
        all.best[v] = all.before[v] = PGI_NAME(melee_load, ELEMENT)(
            from + melee->offset[0] + v * LANES * step, neighbours, step, AHEAD, true);
        all.at[v] = WORD(set_at)(melee->place[0]);
    }
    PGI_UNROLL
    for (t = 1; t < few; t++)
        PGI_NAME(melee_join, ELEMENT)
    (&all, from, melee, t, t % columns, vectors, neighbours, step, placed, doubt);
    for (t = 1; t < taps && !few; t++) {
        c = c + 1 < melee->columns ? c + 1 : 0;
        PGI_NAME(melee_join, ELEMENT)
        (&all, from, melee, t, c, vectors, neighbours, step, placed, doubt);
    }
    PGI_UNROLL
    for (v = 0; v < vectors; v++) {
        if (taps % 2)
            WORD(doubt_nan)(all.before[v], all.before[v], doubt);
        if (values)
            WORD(put)(values + v * LANES, all.best[v]);
        if (placed)
            WORD(put_at)
        (places + v * LANES,
         WORD(add_at)(all.at[v],
                      WORD(add_at)(WORD(set_at)(base + v * (int32_t)LANES * place_step), steps)));
    }
}

/* One cell; returns whether a tap is NaN. */
static bool PGI_NAME(melee_cell, ELEMENT)(REAL *value, int32_t *place, const STORED *from,
                                          const pgi_melee *melee, int32_t base)
{
    const bool plain = melee->rule == PGI_RULE_PLAIN;
    REAL best = melee->taps ? LOAD(from[melee->offset[0]]) : -(REAL)INFINITY;
    int32_t at = melee->taps ? melee->place[0] + base : PGI_NOWHERE;
    bool nan = best != best;
    int t;

    for (t = 1; t < melee->taps && plain; t++) { /* nobody knows who wins: without a branch */
        const REAL other = LOAD(from[melee->offset[t]]);
        const bool won = other > best;

        nan |= other != other;
        best = won ? other : best;
        at = won ? melee->place[t] + base : at;
    }
    for (t = 1; t < melee->taps && !plain; t++) {
        const REAL other = LOAD(from[melee->offset[t]]);

        if (melee->rule == PGI_RULE_LEADING && t == 1 && nan)
            break;
        if (PGI_NAME(wins_one, REAL_NAME)(melee->rule, other, best)) {
            best = other;
            at = melee->place[t] + base;
        }
    }
    if (value)
        *value = best;
    if (place)
        *place = at;
    return nan;
}

PGI_ALWAYS_INLINE bool PGI_NAME(melee_rows, ELEMENT)(REAL *values, int32_t *places, const STORED *x,
                                                     const pgi_melee *melee,
                                                     pgi_neighbours neighbours, bool placed,
                                                     int few, int columns)
{
    const bool grouped = melee->lanes > 1;
    const int64_t groups = grouped ? melee->windows : 1;
    const int64_t cells = grouped ? melee->lanes : melee->windows;
    const int64_t step = neighbours == PGI_SIDE_BY_SIDE  ? 1
                         : neighbours == PGI_EVERY_OTHER ? 2
                                                         : melee->step;
    const int32_t place_step = grouped ? 0 : melee->place_step;
    const AT steps = WORD(count_at)(place_step);
    vec_doubt doubt = vec_no_doubt();
    int64_t r, g, i;

    for (r = 0; r < melee->rows; r++) {
        for (g = 0; g < groups; g++) {
            const int64_t to = r * melee->to_row + g * cells;
            const STORED *from = x + r * melee->row_step + g * melee->step;
            const int32_t base = (int32_t)r * melee->row_place + (int32_t)g * melee->place_step;

#define CELLS(vectors)                                                                             \
    PGI_NAME(melee_cells, ELEMENT)                                                                 \
    (values ? values + to + i : NULL, placed ? places + to + i : NULL, from + i * step, melee,     \
     base + (int32_t)i * place_step, steps, vectors, neighbours, step, place_step, placed, few,    \
     columns, &doubt)
            for (i = 0; i + TOGETHER * LANES <= cells; i += TOGETHER * LANES)
                CELLS(TOGETHER);
            for (; i < cells; i += LANES) {
                i = i + LANES > cells ? cells - LANES : i; /* the last where it still fits */
                CELLS(1);
            }
#undef CELLS
        }
    }
    return vec_in_doubt(doubt);
}

/* Windows of 3x3 taps whose last row is the first of those below. What is known of their rows and
 * columns: how far on in elements and places each is from the first. A copy, which no store can
 * change. */
typedef struct PGI_NAME(grid, ELEMENT) {
    int64_t row[SHARED], column[SHARED];
    AT row_at[SHARED], column_at[SHARED];
} PGI_NAME(grid, ELEMENT);

PGI_ALWAYS_INLINE PGI_NAME(grid, ELEMENT) PGI_NAME(melee_grid, ELEMENT)(const pgi_melee *melee)
{
    PGI_NAME(grid, ELEMENT) grid;
    int i;

    PGI_UNROLL
    for (i = 0; i < SHARED; i++) {
        /* modulo 2^32: either place may be nowhere */
        const uint32_t row = (uint32_t)melee->place[i * SHARED] - (uint32_t)melee->place[0];
        const uint32_t column = (uint32_t)melee->place[i] - (uint32_t)melee->place[0];

        grid.row[i] = melee->offset[i * SHARED] - melee->offset[0];
        grid.column[i] = melee->offset[i] - melee->offset[0];
        grid.row_at[i] = WORD(set_at)((int32_t)row);
        grid.column_at[i] = WORD(set_at)((int32_t)column);
    }
    return grid;
}

/* The best of the columns of a row, and which that is. */
typedef struct PGI_NAME(champion, ELEMENT) {
    VECTOR best;
    AT at;
} PGI_NAME(champion, ELEMENT);

PGI_ALWAYS_INLINE PGI_NAME(champion, ELEMENT)
    PGI_NAME(melee_row, ELEMENT)(const STORED *from, const PGI_NAME(grid, ELEMENT) * grid,
                                 pgi_neighbours neighbours, int64_t ahead, bool grouped,
                                 bool placed, vec_doubt *doubt)
{
    VECTOR before = PGI_NAME(melee_load, ELEMENT)(from, neighbours, 1, ahead, true);
    PGI_NAME(champion, ELEMENT) row = {before, grid->column_at[0]};
    int c;

    if (neighbours == PGI_EVERY_OTHER) {
        __builtin_prefetch((const char *)from + AHEAD_BYTES);
        if (2 * LANES * sizeof(STORED) > PGI_LINE_BYTES)
            __builtin_prefetch((const char *)from + AHEAD_BYTES + PGI_LINE_BYTES);
    }
    PGI_UNROLL
    for (c = 1; c < SHARED; c++) {
        const STORED *tap = from + grid->column[c];
        /* columns of one lane are in one line */
        const VECTOR other = neighbours == PGI_SIDE_BY_SIDE && !grouped
                                 ? PGI_VEC(load, ELEMENT)(tap)
                                 : PGI_NAME(melee_load, ELEMENT)(tap, neighbours, 1, ahead, false);
        const MASK won = WORD(above)(other, row.best);

        row.best = WORD(larger)(other, row.best);
        if (placed)
            row.at = WORD(choose_at)(won, grid->column_at[c], row.at);
        WORD(doubt_nan)(before, other, doubt);
        before = other;
    }
    return row;
}

/* What is best in the last rows, as many as `shared`, is kept for the windows below, by turns in
 * rows of cells of which there is one more: the last vector of a row begins before the one before
 * it ends. */
PGI_ALWAYS_INLINE bool PGI_NAME(melee_shared, ELEMENT)(REAL *values, int32_t *places,
                                                       const STORED *x, const pgi_melee *melee,
                                                       pgi_neighbours neighbours, bool grouped,
                                                       int shared, bool placed)
{
    const int64_t groups = grouped ? melee->windows : 1;
    const int64_t cells = grouped ? melee->lanes : melee->windows;
    const int64_t step = neighbours == PGI_EVERY_OTHER ? 2 : 1;
    const int64_t to_row = melee->to_row, window_step = melee->step;
    const bool near = grouped && melee->row_step <= NEAR_BYTES / (int)sizeof(STORED);
    const int64_t ahead = near ? melee->row_step : AHEAD;
    const int32_t place_step = melee->place_step;
    const AT steps = WORD(count_at)(grouped ? 0 : place_step);
    const PGI_NAME(grid, ELEMENT) grid = PGI_NAME(melee_grid, ELEMENT)(melee);
    REAL *const kept = melee->kept.values;
    int32_t *const kept_places = melee->kept.places;
    vec_doubt doubt = vec_no_doubt();
    int64_t r, g, i;
    int j;

    for (r = 0; r < melee->rows; r++) {
        const STORED *row = x + melee->offset[0] + r * melee->row_step;
        const int32_t base = melee->place[0] + (int32_t)r * melee->row_place;
        int64_t at[SHARED];

        for (j = 0; j < SHARED; j++) /* the last of one are the first of the next */
            at[j] =
                (r + (j < shared ? j : j + shared + 1 - SHARED)) % (shared + 1) * groups * cells;
        for (g = 0; g < groups; g++) {
            for (i = 0; i < cells; i += LANES) {
                const int64_t lane = PGI_SMALLER(i, cells - LANES), cell = g * cells + lane;
                const STORED *from = row + g * window_step + lane * step;
                PGI_NAME(champion, ELEMENT) best, other;

                PGI_UNROLL
                for (j = 0; j < SHARED; j++) {
                    MASK won;

                    if (r > 0 && j < shared) {
                        other.best = WORD(get)(kept + at[j] + cell);
                        other.at = placed ? WORD(get_at)(kept_places + at[j] + cell) : steps;
                    } else {
                        other = PGI_NAME(melee_row, ELEMENT)(from + grid.row[j], &grid, neighbours,
                                                             ahead, grouped, placed, &doubt);
                    }
                    if ((r == 0 && j >= SHARED - shared) || j == SHARED - 1) {
                        WORD(put)(kept + at[j] + cell, other.best);
                        if (placed)
                            WORD(put_at)(kept_places + at[j] + cell, other.at);
                    }
                    if (j == 0) {
                        best = other;
                        continue;
                    }
                    won = WORD(above)(other.best, best.best);
                    best.best = WORD(larger)(other.best, best.best);
                    if (placed)
                        best.at =
                            WORD(choose_at)(won, WORD(add_at)(other.at, grid.row_at[j]), best.at);
                }
                if (values)
                    WORD(put)(values + r * to_row + cell, best.best);
                if (placed) {
                    const int32_t first = base + (int32_t)(grouped ? g : lane) * place_step;

                    WORD(put_at)
                    (places + r * to_row + cell,
                     WORD(add_at)(best.at, WORD(add_at)(WORD(set_at)(first), steps)));
                }
            }
        }
    }
    return vec_in_doubt(doubt);
}

/* Few windows of many rows, one lane: vectors go down. At the edges of 3x3 windows cell by cell
 * took a third of all time. */
PGI_ALWAYS_INLINE bool PGI_NAME(melee_down, ELEMENT)(REAL *values, int32_t *places, const STORED *x,
                                                     const pgi_melee *melee, bool placed)
{
    const AT steps = WORD(count_at)(melee->row_place);
    vec_doubt doubt = vec_no_doubt();
    REAL made[LANES];
    int32_t made_places[LANES];
    int64_t r, w;
    int i;

    for (w = 0; w < melee->windows; w++) {
        for (r = 0; r < melee->rows; r += LANES) {
            r = r + LANES > melee->rows ? melee->rows - LANES
                                        : r; /* the last where it still fits */
            PGI_NAME(melee_cells, ELEMENT)
            (made, made_places, x + r * melee->row_step + w * melee->step, melee,
             (int32_t)r * melee->row_place + (int32_t)w * melee->place_step, steps, 1, PGI_APART,
             melee->row_step, 0, placed, 0, 1, &doubt);
            for (i = 0; i < LANES && values; i++)
                values[(r + i) * melee->to_row + w] = made[i];
            for (i = 0; i < LANES && placed; i++)
                places[(r + i) * melee->to_row + w] = made_places[i];
        }
    }
    return vec_in_doubt(doubt);
}

static bool PGI_NAME(melee_one_by_one, ELEMENT)(REAL *values, int32_t *places, const STORED *x,
                                                const pgi_melee *melee)
{
    const int64_t lanes = melee->lanes;
    bool nan = false;
    int64_t r, w, lane;

    for (r = 0; r < melee->rows; r++) {
        for (w = 0; w < melee->windows; w++) {
            for (lane = 0; lane < lanes; lane++) {
                const int64_t to = r * melee->to_row + w * lanes + lane;

                nan |= PGI_NAME(melee_cell, ELEMENT)(
                    values ? values + to : NULL, places ? places + to : NULL,
                    x + r * melee->row_step + w * melee->step + lane, melee,
                    (int32_t)r * melee->row_place + (int32_t)w * melee->place_step);
            }
        }
    }
    return nan;
}

/* Small square windows have loops of their own. */
PGI_ALWAYS_INLINE bool PGI_NAME(melee_placed, ELEMENT)(REAL *values, int32_t *places,
                                                       const STORED *x, const pgi_melee *melee,
                                                       bool placed)
{
    const int taps = melee->taps, columns = melee->columns;

    if (melee->lanes == 1 && melee->windows < LANES)
        return PGI_NAME(melee_down, ELEMENT)(values, places, x, melee, placed);
#define SHARED_ROWS(neighbours, grouped, shared)                                                   \
    PGI_NAME(melee_shared, ELEMENT)                                                                \
    (values, places, x, melee, neighbours, grouped, shared, placed)
    if (melee->kept.rows == 1 && melee->lanes > 1)
        return SHARED_ROWS(PGI_SIDE_BY_SIDE, true, 1);
    if (melee->kept.rows == 1 && melee->neighbours == PGI_EVERY_OTHER)
        return SHARED_ROWS(PGI_EVERY_OTHER, false, 1);
    if (melee->kept.rows == 2)
        return SHARED_ROWS(PGI_SIDE_BY_SIDE, false, 2);
#undef SHARED_ROWS
    if (melee->lanes > 1 || melee->neighbours == PGI_SIDE_BY_SIDE)
        return taps == 4 ? PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee, PGI_SIDE_BY_SIDE,
                                                         placed, 4, 1)
               : taps == 9 ? PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee,
                                                           PGI_SIDE_BY_SIDE, placed, 9, 1)
                           : PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee,
                                                           PGI_SIDE_BY_SIDE, placed, 0, 1);
    if (melee->neighbours == PGI_EVERY_OTHER)
        return taps == 4 && columns == 2
                   ? PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee, PGI_EVERY_OTHER,
                                                   placed, 4, 2)
               : taps == 9 && columns == 3
                   ? PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee, PGI_EVERY_OTHER,
                                                   placed, 9, 3)
                   : PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee, PGI_EVERY_OTHER,
                                                   placed, 0, 1);
    return PGI_NAME(melee_rows, ELEMENT)(values, places, x, melee, PGI_APART, placed, 0, 1);
}

static bool PGI_NAME(melee, ELEMENT)(void *values, int32_t *places, const void *x,
                                     const pgi_melee *melee)
{
    const bool vectors =
        melee->lanes > 1 ? melee->lanes >= LANES : melee->windows >= LANES || melee->rows >= LANES;

    if (melee->taps == 0 || melee->rule != PGI_RULE_PLAIN || !vectors)
        return PGI_NAME(melee_one_by_one, ELEMENT)(values, places, x, melee);
    return places ? PGI_NAME(melee_placed, ELEMENT)(values, places, x, melee, true)
                  : PGI_NAME(melee_placed, ELEMENT)(values, NULL, x, melee, false);
}

#undef AHEAD
#undef NEAR_BYTES
#undef TOGETHER
#undef SHARED
#undef MASK
#undef AT
#undef LANES
