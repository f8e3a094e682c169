/* SPDX-License-Identifier: MIT */
/* Sums of rows for one compute type: REAL, and its suffix REAL_NAME. What is shared with other
 * kernels is in real.h. Rows may be read and written in whole vectors: they lie in a workspace, or
 * are whole vectors of x.
 * Signatures and meaning: plan/backend.h. */

#define VECTOR        PGI_VECTOR(REAL_NAME)
#define GET(from)     PGI_VEC(get, REAL_NAME)(from)
#define PUT(to, v)    PGI_VEC(put, REAL_NAME)(to, v)
#define ADD(a, b)     PGI_VEC(add, REAL_NAME)(a, b)
#define ROW(rows, at) ((const REAL *)(rows)[0] + (at))

/* The run of `length` rows and, behind it, pieces of 8, 4, 2 and 1 of `tail` rows; without a run
 * behind a head. `length` is a constant where this is inlined. */
PGI_ALWAYS_INLINE void PGI_NAME(sum_of, REAL_NAME)(REAL *to, const REAL *head,
                                                   const void *const *given, int length, int tail,
                                                   int64_t count)
{
    const void *rows[PGI_LONG_RUN];
    int64_t at;
    int i;

    for (i = 0; i < length + tail; i++)
        rows[i] = given[i];
    for (at = 0; at < count; at += PGI_LANES(REAL_NAME)) {
        VECTOR sum = length ? PGI_NAME(run, REAL_NAME)(rows, length, at) : GET(head + at);

        if (tail & 8)
            sum = ADD(sum, PGI_NAME(eight, REAL_NAME)(rows + length, at));
        if (tail & 4)
            sum = ADD(sum, PGI_NAME(four, REAL_NAME)(rows + length + (tail & 8), at));
        if (tail & 2)
            sum = ADD(sum, PGI_NAME(two, REAL_NAME)(rows + length + (tail & 12), at));
        if (tail & 1)
            sum = ADD(sum, GET(ROW(rows + length + (tail & 14), at)));
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

/* How many vectors it is to what lies `places` further on. */
#define VECTORS(places) (((places) + PGI_LANES(REAL_NAME) - 1) / PGI_LANES(REAL_NAME))
/* Sums of `count` neighbours are made of pieces of 2^level: how many vectors ahead a level must be
 * for its own piece, and how many ahead of the level above, which is made of it. */
#define OWN(level)  (count & 1 << (level) ? VECTORS(count >> ((level) + 1) << ((level) + 1)) : 0)
#define LEAD(level) (2 << (level) <= count ? VECTORS(1 << (level)) : 0)

/* Vectors of pieces at hand, from that of the sum on: at most so many ahead of it. */
#define MOST (VECTORS(PGI_LONG_RUN) + 2)

typedef struct PGI_NAME(near, REAL_NAME) {
    VECTOR piece[5][MOST + 1];
} PGI_NAME(near, REAL_NAME);

/* How far ahead a level is. `count` is a constant where these are inlined, and so are all of these
 * numbers; the arrays are registers. */
PGI_ALWAYS_INLINE int PGI_NAME(ahead, REAL_NAME)(int level, int count)
{
    const int three = PGI_LARGER(LEAD(3), OWN(3));
    const int two = PGI_LARGER(three + LEAD(2), OWN(2));
    const int one = PGI_LARGER(two + LEAD(1), OWN(1));
    const int zero = PGI_LARGER(one + LEAD(0), OWN(0));

    return level == 0 ? zero : level == 1 ? one : level == 2 ? two : level == 3 ? three : 0;
}

/* Vectors of up to half a cache line are loaded again from where they lie, which takes less than to
 * slide them out of two (11x11 in the nearest caches, NCX f32, Zen 3: 36.6 to 32.5 us); longer ones
 * would all cross lines. */
#define AGAIN (PGI_LANES(REAL_NAME) * (int)sizeof(REAL) < PGI_LINE_BYTES)

/* A level from `shift` places after vector b on. */
#define SLID(level, b, shift)                                                                      \
    ((level) == 0 && AGAIN && (shift) % LANES                                                      \
         ? GET(from + (b)*LANES + (shift))                                                         \
         : PGI_VEC(slide, REAL_NAME)(near->piece[level][(b) + (shift) / LANES],                    \
                                     near->piece[level][(b) + VECTORS(shift)], (shift) % LANES))

/* Vector b of a level: loaded, or made of the level below. */
PGI_ALWAYS_INLINE void PGI_NAME(make_near, REAL_NAME)(PGI_NAME(near, REAL_NAME) * near,
                                                      const REAL *from, int level, int b)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };

    near->piece[level][b] =
        level == 0 ? GET(from + b * LANES)
                   : ADD(near->piece[level - 1][b], SLID(level - 1, b, 1 << (level - 1)));
}

/* All that is ahead of the first sums. */
PGI_ALWAYS_INLINE void PGI_NAME(look, REAL_NAME)(PGI_NAME(near, REAL_NAME) * near, const REAL *from,
                                                 int count)
{
    int level, b;

    PGI_UNROLL
    for (level = 0; level < 5; level++)
        PGI_UNROLL
    for (b = 0; b < MOST; b++)
        if (b < PGI_NAME(ahead, REAL_NAME)(level, count))
            PGI_NAME(make_near, REAL_NAME)(near, from, level, b);
}

/* The next vector of sums of `count` neighbours, from `from` on, or with `behind` of their pieces
 * behind `sum`. What lies between two vectors is slid out of them, and every level makes one vector
 * for it. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(neighbours, REAL_NAME)(PGI_NAME(near, REAL_NAME) * near,
                                                         const REAL *from, int count, bool behind,
                                                         VECTOR sum)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    int level, b;

    PGI_UNROLL
    for (level = 0; level < 5; level++)
        if (1 << level <= count)
            PGI_NAME(make_near, REAL_NAME)
    (near, from, level, PGI_NAME(ahead, REAL_NAME)(level, count));
    PGI_UNROLL
    for (level = 4; level >= 0; level--) {
        const int before = count >> (level + 1) << (level + 1);

        if (count & 1 << level)
            sum = before || behind ? ADD(sum, SLID(level, 0, before)) : near->piece[level][0];
    }
    PGI_UNROLL
    for (level = 0; level < 5; level++)
        PGI_UNROLL
    for (b = 0; b < MOST; b++)
        if (b < PGI_NAME(ahead, REAL_NAME)(level, count))
            near->piece[level][b] = near->piece[level][b + 1];
    return sum;
}

#undef VECTORS
#undef MOST
#undef OWN
#undef LEAD
#undef SLID
#undef AGAIN
#undef VECTOR
#undef GET
#undef PUT
#undef ADD
#undef ROW
