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

/* The sums of the columns of some planes, a vector for each. Vectors reach into what follows where
 * that is part of the `elements` there are. `rows` is a constant where this is inlined. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_down, ELEMENT)(REAL *to, const STORED *from, int64_t step,
                                                   int64_t planes, int rows, int columns,
                                                   int64_t elements, int64_t ahead)
{
    REAL wide[PGI_RUN_ROWS][PGI_LANES(REAL_NAME)];
    const void *row[PGI_RUN_ROWS];
    int64_t p, r, line;

    for (r = 0; r < rows; r++)
        row[r] = wide[r];
    for (p = 0; p < planes; p++, from += step, elements -= step, to += LANES) {
        for (line = 0; ahead && line < rows * columns; line += PGI_LINE_BYTES / (int)sizeof *from)
            __builtin_prefetch(from + ahead + line, 0, 2);
        for (r = 0; r < rows; r++)
            PUT(wide[r], r * columns + LANES <= elements
                             ? LOAD_VECTOR(from + r * columns)
                             : PGI_VEC(load_some, ELEMENT)(from + r * columns, columns));
        PUT(to, RUN(row, rows, 0));
    }
}

/* One plane, number by number. */
static REAL PGI_NAME(total_of, ELEMENT)(const STORED *from, int rows, int columns)
{
    REAL wide[PGI_RUN_ROWS * PGI_RUN_ROWS], sum[PGI_RUN_ROWS];
    const void *row[PGI_RUN_ROWS];
    int i;

    for (i = 0; i < rows * columns; i++)
        wide[i] = LOAD(from[i]);
    for (i = 0; i < rows; i++)
        row[i] = wide + i * columns;
    for (i = 0; i < columns; i++)
        sum[i] = RUN_AT(row, rows, i);
    for (i = 0; i < columns; i++)
        row[i] = sum + i;
    return RUN_AT(row, columns, 0) + 0;
}

static void PGI_NAME(totals, ELEMENT)(void *totals, const void *from, int64_t step, int64_t planes,
                                      int rows, int columns, int64_t ahead)
{
    enum {
        SIDE = PGI_LANES(REAL_NAME)
    };
    const int64_t elements = (planes - 1) * step + rows * columns;
    REAL down[SIDE * SIDE], total[SIDE], *to = totals;
    const void *column[SIDE];
    const STORED *stored = from;
    int64_t p, i, some;

    for (p = 0; columns > LANES && p < planes; p++)
        to[p] = PGI_NAME(total_of, ELEMENT)(stored + p * step, rows, columns);
    for (i = 0; i < SIDE; i++)
        column[i] = down + i * LANES;
    /* a vector of planes at a time, turned, so that their columns are rows */
    for (p = 0; columns <= LANES && p < planes; p += some) {
        VECTOR square[SIDE];

        some = planes - p < LANES ? planes - p : LANES;
        switch (rows) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(sum_down, ELEMENT)                                                                \
        (down, stored + p * step, step, some, n, columns, elements - p * step, ahead);             \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
        }
        PGI_UNROLL
        for (i = 0; i < SIDE; i++)
            square[i] = i < some ? GET(down + i * LANES) : SET(0);
        PGI_NAME(transpose, REAL_NAME)(square);
        PGI_UNROLL
        for (i = 0; i < SIDE; i++)
            PUT(down + i * LANES, square[i]);
        PGI_NAME(sum, REAL_NAME)(total, NULL, column, columns, 0, LANES);
        for (i = 0; i < some; i++)
            to[p + i] = total[i] + 0;
    }
}

/* Elements ahead that are fetched while rows of channels are added: the machine stops at the ends
 * of pages. */
#define AHEAD 512

/* A vector of channels side by side of one column of a plane, or `some` of its lanes: rows added,
 * the +0 of terms at the end. `rows` and `some` are constants where this is inlined, and `value`
 * are registers. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_column, ELEMENT)(REAL *to, const STORED *from, int64_t row_step,
                                                     int64_t lanes, int rows, bool some)
{
    VECTOR value[PGI_RUN_ROWS], sum = SET(0);
    int size, i, done = 0;

    PGI_UNROLL
    for (i = 0; i < PGI_RUN_ROWS; i++) {
        value[i] = sum;
        if (i < rows) {
            const STORED *here = from + i * row_step;

            value[i] = some ? PGI_VEC(load_some, ELEMENT)(here, lanes) : LOAD_VECTOR(here);
            __builtin_prefetch(here + AHEAD, 0, 2);
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
                                                      int64_t row_step, int64_t lanes, int rows)
{
    int64_t at;

    for (at = 0; at + LANES <= lanes; at += LANES)
        PGI_NAME(sum_column, ELEMENT)(to + at, from + at, row_step, LANES, rows, false);
    if (at < lanes)
        PGI_NAME(sum_column, ELEMENT)(to + at, from + at, row_step, lanes - at, rows, true);
}

static void PGI_NAME(totals_lanes, ELEMENT)(void *totals, const void *from, int64_t row_step,
                                            int64_t column_step, int64_t lanes, int rows,
                                            int columns, void *room)
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
        PGI_NAME(sum_columns, ELEMENT)(column, stored, row_step, lanes, n);                        \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
        }
    }
    PGI_NAME(sum, REAL_NAME)(totals, NULL, sums, columns, 0, lanes);
}

#undef AHEAD
