/* SPDX-License-Identifier: MIT */
/*
 * Maxima along an axis for one compute type: REAL, and its suffix REAL_NAME; after contest.h, whose
 * rules it uses. Signature and meaning: plan/maxima.h.
 *
 * The positions are cut into blocks of as many as a window has taps. Then a window is the end of
 * one block and the beginning of the next, and the maxima of all ends and of all beginnings are
 * running ones: no more than three comparisons a window, however long it is. Of short windows one
 * after the other the ends of a block stay in registers.
 */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define AT      PGI_AT(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
#define BODY(w) PGI_NAME(w, REAL_NAME)
#define LANES   PGI_LANES(REAL_NAME)
#define CELLS   BODY(cells)

/* Vectors of cells that are found together: a comparison waits for the one before it, but not for
 * that of another vector. */
#define TOGETHER 2
/* Taps of windows whose blocks have a loop of their own: more do not stay in registers. */
#define FIXED_TAPS 5

typedef struct CELLS {
    VECTOR value[TOGETHER];
    AT at[TOGETHER];
} CELLS;

/* What cells are made of, where they come from and where they go; all but the pointers constant. */
typedef struct BODY(field) {
    REAL *values;
    int32_t *places;
    const REAL *from;
    const int32_t *from_places;
    int32_t base;
    pgi_rule rule;
    bool placed, numbered;
    int vectors;
} BODY(field);

/* Cells of position p. */
PGI_ALWAYS_INLINE CELLS BODY(contender)(const BODY(field) * field, const pgi_sweep *sweep,
                                        int64_t p)
{
    const int64_t from = (p - sweep->begin) * sweep->cells;
    CELLS cells;
    int v;

    PGI_UNROLL
    for (v = 0; v < field->vectors; v++) {
        cells.value[v] = WORD(get)(field->from + from + v * LANES);
        cells.at[v] = field->numbered ? WORD(set_at)(field->base + sweep->position[p])
                      : field->placed ? WORD(get_at)(field->from_places + from + v * LANES)
                                      : WORD(set_at)(0);
    }
    return cells;
}

/* The winners among cells and those that lie behind them. */
PGI_ALWAYS_INLINE CELLS BODY(winners)(const BODY(field) * field, CELLS cells, CELLS behind)
{
    int v;

    PGI_UNROLL
    for (v = 0; v < field->vectors; v++) {
        BODY(compete)
        (field->rule, field->placed, &cells.value[v], &cells.at[v], behind.value[v], behind.at[v]);
    }
    return cells;
}

PGI_ALWAYS_INLINE CELLS BODY(found)(const BODY(field) * field, int64_t cell)
{
    CELLS cells;
    int v;

    PGI_UNROLL
    for (v = 0; v < field->vectors; v++) {
        cells.value[v] = WORD(get)(field->values + cell + v * LANES);
        cells.at[v] =
            field->placed ? WORD(get_at)(field->places + cell + v * LANES) : WORD(set_at)(0);
    }
    return cells;
}

PGI_ALWAYS_INLINE void BODY(find)(const BODY(field) * field, int64_t cell, CELLS cells)
{
    int v;

    PGI_UNROLL
    for (v = 0; v < field->vectors; v++) {
        WORD(put)(field->values + cell + v * LANES, cells.value[v]);
        if (field->placed)
            WORD(put_at)(field->places + cell + v * LANES, cells.at[v]);
    }
}

/* Windows from the first of a block on, of some cells, block by block. */
PGI_ALWAYS_INLINE void BODY(sweep_cells)(const BODY(field) * field, const pgi_sweep *sweep,
                                         int64_t first, int64_t windows)
{
    const int64_t taps = sweep->taps, stride = sweep->stride, end = sweep->end;
    const int64_t cells = sweep->cells;
    int64_t last, next = first * stride + taps, w, p;

    for (; first < windows; first = last, next += taps) {
        CELLS best;

        last = PGI_SMALLER(windows, (next - 1) / stride + 1);
        /* ends of the block: from its last position down to the first of every window */
        p = PGI_SMALLER(next, end) - 1;
        best = BODY(contender)(field, sweep, p);
        for (w = last - 1; w >= first; w--) {
            while (p > PGI_LARGER(w * stride, sweep->begin))
                best = BODY(winners)(field, BODY(contender)(field, sweep, --p), best);
            BODY(find)(field, w * cells, best);
        }
        /* beginnings of the next: up to the last position of every window but one that is the block
         */
        w = first * stride + taps == next ? first + 1 : first;
        if (w == last || next >= end)
            continue;
        p = next;
        best = BODY(contender)(field, sweep, p);
        for (; w < last; w++) {
            while (p + 1 < PGI_SMALLER(w * stride + taps, end))
                best = BODY(winners)(field, best, BODY(contender)(field, sweep, ++p));
            BODY(find)(field, w * cells, BODY(winners)(field, BODY(found)(field, w * cells), best));
        }
    }
}

/* A block of windows one after the other, all of whose positions exist; `taps` is a constant. */
PGI_ALWAYS_INLINE void BODY(sweep_block)(const BODY(field) * field, const pgi_sweep *sweep,
                                         int64_t first, int taps)
{
    const int64_t cells = sweep->cells, next = first + taps;
    CELLS ends[FIXED_TAPS], best;
    int i;

    ends[taps - 1] = BODY(contender)(field, sweep, next - 1);
    PGI_UNROLL
    for (i = taps - 2; i >= 0; i--)
        ends[i] = BODY(winners)(field, BODY(contender)(field, sweep, first + i), ends[i + 1]);
    BODY(find)(field, first * cells, ends[0]);
    best = BODY(contender)(field, sweep, next);
    PGI_UNROLL
    for (i = 1; i < taps; i++) {
        if (i > 1)
            best = BODY(winners)(field, best, BODY(contender)(field, sweep, next + i - 1));
        BODY(find)(field, (first + i) * cells, BODY(winners)(field, ends[i], best));
    }
}

/* Fewer cells than a vector has: one by one, window by window. */
static void BODY(sweep_few)(const BODY(field) * field, const pgi_sweep *sweep)
{
    const int64_t cells = sweep->cells;
    int64_t w, p, cell;

    for (w = 0; w < sweep->windows; w++) {
        for (cell = 0; cell < cells; cell++) {
            const int64_t end = PGI_SMALLER(w * sweep->stride + sweep->taps, sweep->end);
            int64_t at = PGI_LARGER(w * sweep->stride, sweep->begin), best, other;

            best = (at - sweep->begin) * cells + cell;
            for (p = at + 1; p < end; p++) {
                other = (p - sweep->begin) * cells + cell;
                if (BODY(wins_one)(field->rule, field->from[other], field->from[best])) {
                    at = p;
                    best = other;
                }
            }
            field->values[w * cells + cell] = field->from[best];
            if (field->placed)
                field->places[w * cells + cell] =
                    field->numbered ? field->base + sweep->position[at] : field->from_places[best];
        }
    }
}

/* The same from a cell on, so many vectors of cells. */
PGI_ALWAYS_INLINE BODY(field) BODY(part)(BODY(field) field, int64_t cell, int vectors)
{
    field.values += cell;
    field.from += cell;
    if (field.placed)
        field.places += cell;
    if (field.placed && !field.numbered)
        field.from_places += cell;
    field.vectors = vectors;
    return field;
}

/* Windows from the first of a block on, of all cells of a row. */
PGI_ALWAYS_INLINE void BODY(sweep_some)(BODY(field) row, const pgi_sweep *sweep, int64_t first,
                                        int64_t windows)
{
    const int64_t cells = sweep->cells;
    BODY(field) field;
    int64_t cell;

    for (cell = 0; cell + TOGETHER * LANES <= cells; cell += TOGETHER * LANES) {
        field = BODY(part)(row, cell, TOGETHER);
        BODY(sweep_cells)(&field, sweep, first, windows);
    }
    for (; cell < cells; cell += LANES) {
        cell = PGI_SMALLER(cell, cells - LANES); /* the last where it still fits */
        field = BODY(part)(row, cell, 1);
        BODY(sweep_cells)(&field, sweep, first, windows);
    }
}

/* All rows; what cells have is constant, and so are the rule if it is the plain one, and the number
 * of taps if it is not 0. */
PGI_ALWAYS_INLINE void BODY(sweep_rows)(REAL *values, int32_t *places, const REAL *from,
                                        const int32_t *from_places, const pgi_sweep *sweep,
                                        pgi_rule rule, bool placed, bool numbered, int taps)
{
    const int64_t cells = sweep->cells;
    int64_t r, cell, first = 0, last = 0;

    if (taps) { /* whole blocks that have all their positions */
        first = (sweep->begin + taps - 1) / taps * taps;
        last = PGI_SMALLER(sweep->windows, sweep->end - taps + 1) / taps * taps;
        first = PGI_SMALLER(first, PGI_LARGER(last, 0));
        last = PGI_LARGER(first, last);
    }
    for (r = 0; r < sweep->rows; r++) {
        BODY(field) row = {.rule = rule, .placed = placed, .numbered = numbered};
        BODY(field) field;
        int64_t w;

        row.values = values + r * sweep->to_row;
        row.places = placed ? places + r * sweep->to_row : NULL;
        row.from = from + r * sweep->from_row;
        row.from_places = placed && !numbered ? from_places + r * sweep->from_row : NULL;
        row.base = numbered ? sweep->base[r] : 0;
        if (cells < LANES) {
            BODY(sweep_few)(&row, sweep);
            continue;
        }
        BODY(sweep_some)(row, sweep, 0, first);
        for (w = first; w < last; w += taps) {
            for (cell = 0; cell < cells; cell += LANES) {
                cell = PGI_SMALLER(cell, cells - LANES); /* the last where it still fits */
                field = BODY(part)(row, cell, 1);
                BODY(sweep_block)(&field, sweep, w, taps);
            }
        }
        BODY(sweep_some)(row, sweep, last, sweep->windows);
    }
}

PGI_ALWAYS_INLINE void BODY(sweep_ruled)(void *values, int32_t *places, const void *from,
                                         const int32_t *from_places, const pgi_sweep *sweep,
                                         pgi_rule rule, int taps)
{
    if (!places)
        BODY(sweep_rows)(values, NULL, from, NULL, sweep, rule, false, false, taps);
    else if (sweep->position)
        BODY(sweep_rows)(values, places, from, NULL, sweep, rule, true, true, taps);
    else
        BODY(sweep_rows)(values, places, from, from_places, sweep, rule, true, false, taps);
}

static void BODY(sweep)(void *values, int32_t *places, const void *from, const int32_t *from_places,
                        const pgi_sweep *sweep)
{
    const bool plain = sweep->rule == PGI_RULE_PLAIN;

    if (plain && sweep->stride == 1 && sweep->taps == FIXED_TAPS)
        BODY(sweep_ruled)
    (values, places, from, from_places, sweep, PGI_RULE_PLAIN, FIXED_TAPS);
    else if (plain) BODY(sweep_ruled)(values, places, from, from_places, sweep, PGI_RULE_PLAIN, 0);
    else BODY(sweep_ruled)(values, places, from, from_places, sweep, sweep->rule, 0);
}

#undef VECTOR
#undef AT
#undef WORD
#undef BODY
#undef LANES
#undef CELLS
#undef TOGETHER
#undef FIXED_TAPS
