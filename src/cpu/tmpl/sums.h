/* SPDX-License-Identifier: MIT */
/* Sums of rows for one compute type: REAL, and its suffix REAL_NAME. What is shared with other
 * kernels is in real.h. Rows lie in a workspace and may be read and written in whole vectors.
 * Signatures and meaning: plan/backend.h. */

#define VECTOR        PGI_VECTOR(REAL_NAME)
#define GET(from)     PGI_VEC(get, REAL_NAME)(from)
#define PUT(to, v)    PGI_VEC(put, REAL_NAME)(to, v)
#define ADD(a, b)     PGI_VEC(add, REAL_NAME)(a, b)
#define ROW(rows, at) ((const REAL *)(rows)[0] + (at))

/* The run of `length` rows and, behind it, pieces of 4, 2 and 1 of `tail` rows; without a run
 * behind a head. `length` is a constant where this is inlined. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_of, REAL_NAME)(REAL *to, const REAL *head,
                                                   const void *const *given, int length, int tail,
                                                   int64_t count)
{
    const void *rows[PGI_RUN_ROWS + 8];
    int64_t at;
    int i;

    for (i = 0; i < length + tail; i++)
        rows[i] = given[i];
    for (at = 0; at < count; at += PGI_LANES(REAL_NAME)) {
        VECTOR sum = length ? PGI_NAME(run, REAL_NAME)(rows, length, at) : GET(head + at);

        if (tail & 4)
            sum = ADD(sum, PGI_NAME(four, REAL_NAME)(rows + length, at));
        if (tail & 2)
            sum = ADD(sum, PGI_NAME(two, REAL_NAME)(rows + length + (tail & 4), at));
        if (tail & 1)
            sum = ADD(sum, GET(ROW(rows + length + (tail & 6), at)));
        PUT(to + at, sum);
    }
}

static void PGI_NAME(sum, REAL_NAME)(void *to, const void *head, const void *const *rows,
                                     int length, int tail, int64_t count)
{
    switch (length) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(sum_of, REAL_NAME)(to, head, rows, n, tail, count);                               \
        break;
        PGI_COUNT(0)
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
    }
}

/* Of sums of 2^level neighbours, how many vectors count for one of sums of `count`. */
#define BLOCKS(level, count)                                                                       \
    ((level) > 0 && 2 << (level) > (count)                                                         \
         ? 1                                                                                       \
         : (PGI_LANES(REAL_NAME) - 1 + (count) - (1 << (level))) / PGI_LANES(REAL_NAME) + 1)
/* From `shift` places after block b on. */
#define SLID(level, b, shift)                                                                      \
    PGI_VEC(slide, REAL_NAME)                                                                      \
    (sums[level][(b) + (shift) / LANES],                                                           \
     sums[level][(b) + (shift) / LANES + 1 < BLOCKS(level, count) ? (b) + (shift) / LANES + 1      \
                                                                  : (b) + (shift) / LANES],        \
     (shift) % LANES)

/* Vectors of a row that sums of up to PGI_RUN_ROWS neighbours reach. */
enum {
    PGI_NAME(reached, REAL_NAME) = BLOCKS(0, PGI_RUN_ROWS)
};

/* Loads those for `count`, or all but the first, which are what the last but one were. */
PGI_ALWAYS_INLINE void PGI_NAME(look, REAL_NAME)(VECTOR *row, const REAL *from, int count,
                                                 bool further)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    int b;

    PGI_UNROLL
    for (b = 0; b < PGI_NAME(reached, REAL_NAME); b++)
        if (b < BLOCKS(0, count))
            row[b] = further && b + 1 < BLOCKS(0, count) ? row[b + 1] : GET(from + b * LANES);
}

/* A vector of sums of `count` neighbours: what lies between two vectors of the row is slid out of
 * them. sums[j] holds sums of 2^j; what is behind the last place that counts is of no use. `count`
 * is a constant where this is inlined, and the arrays are registers. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(neighbours, REAL_NAME)(const VECTOR *row, int count)
{
    enum {
        LANES = PGI_LANES(REAL_NAME),
        MOST = PGI_NAME(reached, REAL_NAME)
    };
    VECTOR sums[5][MOST], sum;
    int level, b, top = 0, done;

    PGI_UNROLL
    for (b = 0; b < MOST; b++)
        if (b < BLOCKS(0, count))
            sums[0][b] = row[b];
    PGI_UNROLL
    for (level = 1; level < 5; level++) {
        top += 1 << level <= count;
        PGI_UNROLL
        for (b = 0; b < MOST; b++)
            if (1 << level <= count && b < BLOCKS(level, count))
                sums[level][b] = ADD(sums[level - 1][b], SLID(level - 1, b, 1 << (level - 1)));
    }
    sum = sums[top][0];
    done = 1 << top;
    PGI_UNROLL
    for (level = 3; level >= 0; level--) {
        if (level < top && (count & 1 << level)) {
            sum = ADD(sum, SLID(level, 0, done));
            done += 1 << level;
        }
    }
    return sum;
}

#undef BLOCKS
#undef SLID
#undef VECTOR
#undef GET
#undef PUT
#undef ADD
#undef ROW
