/* SPDX-License-Identifier: MIT */
/*
 * Quotients of sums, and sums of whole planes, for one element type; included by element.h, whose
 * parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* One row divided and stored; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(divide_row, ELEMENT)(STORED *restrict to, const REAL *from,
                                                     int64_t count, const pgi_divisors *by,
                                                     int step, pgi_division how, REAL alpha,
                                                     bool past)
{
    const BY one = PGI_NAME(by_one, ELEMENT)(by, 0);
    const VECTOR scale = SET(alpha);
    const pgi_divisors each = *by;
    vec_least least = vec_least_none();
    int64_t i;

    for (i = 0; i < count; i += LANES) {
        const VECTOR sum =
            count - i < LANES ? PGI_VEC(load_some, REAL_NAME)(from + i, count - i) : GET(from + i);
        const BY here = step ? PGI_NAME(by_each, ELEMENT)(&each, i) : one;

        PGI_NAME(store_part, ELEMENT)
        (to + i, PGI_NAME(result, ELEMENT)(sum, here, how, scale, &least), count - i, past);
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

static void PGI_NAME(divide, ELEMENT)(void *to, int64_t to_pitch, const void *from,
                                      int64_t from_pitch, int64_t rows, int64_t count,
                                      const pgi_divisors *by, double alpha, bool stream)
{
    const REAL *sums = from;
    STORED *stored = to;
    int64_t row;

    for (row = 0; row < rows; row++, stored += to_pitch, sums += from_pitch) {
        const bool past = stream && PGI_NAME(may_stream, ELEMENT)(stored, count);
        bool good = false;

#define DIVIDED(step, how)                                                                         \
    PGI_NAME(divide_row, ELEMENT)(stored, sums, count, by, step, how, (REAL)alpha, past)
        if (by->how == PGI_MULTIPLY)
            good = DIVIDED(0, PGI_MULTIPLY);
        else if (by->how == PGI_QUOTIENT)
            good = by->step ? DIVIDED(1, PGI_QUOTIENT) : DIVIDED(0, PGI_QUOTIENT);
        if (!good)
            by->step ? DIVIDED(1, PGI_DIVIDE) : DIVIDED(0, PGI_DIVIDE);
#undef DIVIDED
    }
}

/* A vector of elements side by side, or `some` of its lanes, of every row: rows added, the +0 of
 * terms at the end. With `fetch` what is so many elements ahead is fetched. `rows`, `some` and
 * `fetch` are constants where this is inlined, and `value` are registers. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_column, ELEMENT)(REAL *to, const STORED *from, int64_t row_step,
                                                     int64_t lanes, int rows, bool some, bool fetch,
                                                     int64_t ahead)
{
    VECTOR value[PGI_RUN_ROWS], sum = SET(0);
    int size, i, done = 0;

    PGI_UNROLL
    for (i = 0; i < PGI_RUN_ROWS; i++) {
        value[i] = sum;
        if (i < rows) {
            const STORED *here = from + i * row_step;

            value[i] = some ? PGI_VEC(load_some, ELEMENT)(here, lanes) : LOAD_VECTOR(here);
            if (fetch)
                __builtin_prefetch(here + ahead, 0, 2);
        }
    }
    PGI_UNROLL
    for (size = PGI_RUN_ROWS; size > 0; size /= 2) {
        int half;

        if (!(rows & size))
            continue;
        PGI_UNROLL
        for (half = size / 2; half > 0; half /= 2)
            PGI_UNROLL
        for (i = 0; i < half; i++)
            value[done + i] = ADD(value[done + 2 * i], value[done + 2 * i + 1]);
        sum = done ? ADD(sum, value[done]) : value[done];
        done += size;
    }
    PUT(to, ADD(sum, SET(0)));
}

PGI_ALWAYS_INLINE void PGI_NAME(sum_columns, ELEMENT)(REAL *to, const STORED *from,
                                                      int64_t row_step, int64_t lanes, int rows,
                                                      int64_t ahead)
{
    int64_t at;

    for (at = 0; at + LANES <= lanes; at += LANES)
        PGI_NAME(sum_column, ELEMENT)
    (to + at, from + at, row_step, LANES, rows, false, true, ahead);
    /* Part of a vector is slow to load: rather some once more. */
    if (at < lanes && lanes >= LANES)
        PGI_NAME(sum_column, ELEMENT)
    (to + lanes - LANES, from + lanes - LANES, row_step, LANES, rows, false, true, ahead);
    else if (at < lanes) PGI_NAME(sum_column, ELEMENT)(to + at, from + at, row_step, lanes - at,
                                                       rows, true, true, ahead);
}

/* Vectors of the columns of a plane. */
#define PARTS ((PGI_RUN_ROWS + PGI_LANES(REAL_NAME) - 1) / PGI_LANES(REAL_NAME))

/* The sums of the columns of some planes, `parts` vectors for each. Vectors reach into what
 * follows, which is part of the `elements` there are, or of a copy. `rows` is a constant where this
 * is inlined. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_down, ELEMENT)(REAL *to, const STORED *from, int64_t step,
                                                   int64_t planes, int rows, int columns, int parts,
                                                   int64_t elements, int64_t ahead)
{
    const int64_t reach = (rows - 1) * columns + parts * LANES;
    STORED last[PGI_RUN_ROWS * PGI_RUN_ROWS + PGI_LANES(REAL_NAME)];
    int64_t p, line;
    int v;

    for (p = 0; p < planes; p++, from += step, elements -= step, to += LANES) {
        const STORED *plane = from;

        for (line = 0; ahead && line < rows * columns; line += PGI_LINE_BYTES / (int)sizeof *from)
            __builtin_prefetch(from + ahead + line, 0, 2);
        if (reach > (step == rows * columns ? elements : rows * columns)) {
            memset(last, 0, sizeof last);
            plane = memcpy(last, from, (size_t)(rows * columns) * sizeof *from);
        }
        for (v = 0; v < parts; v++)
            PGI_NAME(sum_column, ELEMENT)
        (to + v * LANES * LANES, plane + v * LANES, columns, LANES, rows, false, false, 0);
    }
}

static void PGI_NAME(totals, ELEMENT)(void *totals, const void *from, int64_t step, int64_t planes,
                                      int rows, int columns, int64_t ahead)
{
    enum {
        SIDE = PGI_LANES(REAL_NAME)
    };
    const int64_t elements = (planes - 1) * step + rows * columns;
    const int parts = (columns + SIDE - 1) / SIDE;
    REAL down[PARTS * SIDE * SIDE], total[SIDE], *to = totals;
    const void *column[PARTS * SIDE];
    const STORED *stored = from;
    int64_t p, i, some;
    int v;

    for (i = 0; i < PARTS * SIDE; i++)
        column[i] = down + i * LANES;
    /* a vector of planes at a time, turned, so that their columns are rows */
    for (p = 0; p < planes; p += some) {
        some = planes - p < LANES ? planes - p : LANES;
        switch (rows) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(sum_down, ELEMENT)                                                                \
        (down, stored + p * step, step, some, n, columns, parts, elements - p * step, ahead);      \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
        }
        for (v = 0; v < parts; v++) {
            REAL *part = down + v * SIDE * SIDE;
            VECTOR square[SIDE];

            PGI_UNROLL
            for (i = 0; i < SIDE; i++)
                square[i] = i < some ? GET(part + i * LANES) : SET(0);
            PGI_NAME(transpose, REAL_NAME)(square);
            PGI_UNROLL
            for (i = 0; i < SIDE; i++)
                PUT(part + i * LANES, square[i]);
        }
        PGI_NAME(sum, REAL_NAME)(total, NULL, column, columns, 0, LANES);
        for (i = 0; i < some; i++)
            to[p + i] = total[i] + 0;
    }
}

#undef PARTS

static void PGI_NAME(totals_lanes, ELEMENT)(void *totals, const void *from, int64_t row_step,
                                            int64_t column_step, int64_t lanes, int rows,
                                            int columns, int64_t ahead, void *room)
{
    const int64_t pitch = (lanes + PGI_ROW_REALS - 1) / PGI_ROW_REALS * PGI_ROW_REALS;
    const void *sums[PGI_RUN_ROWS];
    const STORED *stored = from;
    REAL *column = room;
    int w;

    for (w = 0; w < columns; w++, stored += column_step, column += pitch) {
        sums[w] = column;
        switch (rows) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(sum_columns, ELEMENT)(column, stored, row_step, lanes, n, ahead);                 \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
        }
    }
    PGI_NAME(sum, REAL_NAME)(totals, NULL, sums, columns, 0, lanes);
}
