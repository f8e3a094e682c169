/* SPDX-License-Identifier: MIT */
/* Kernel bodies for one compute type: REAL, and its suffix REAL_NAME. Signatures and meaning:
 * plan/backend.h. */

/* A piece of a power of two of a run of rows, at a place; `rows` begins at its first row. */
#define GET(rows, at) PGI_VEC(get, REAL_NAME)((const REAL *)(rows)[0] + (at))
#define ADD(a, b)     PGI_VEC(add, REAL_NAME)(a, b)

PGI_ALWAYS_INLINE PGI_VECTOR(REAL_NAME)
    PGI_NAME(two, REAL_NAME)(const void *const *rows, int64_t at)
{
    return ADD(GET(rows, at), GET(rows + 1, at));
}

PGI_ALWAYS_INLINE PGI_VECTOR(REAL_NAME)
    PGI_NAME(four, REAL_NAME)(const void *const *rows, int64_t at)
{
    return ADD(PGI_NAME(two, REAL_NAME)(rows, at), PGI_NAME(two, REAL_NAME)(rows + 2, at));
}

PGI_ALWAYS_INLINE PGI_VECTOR(REAL_NAME)
    PGI_NAME(eight, REAL_NAME)(const void *const *rows, int64_t at)
{
    return ADD(PGI_NAME(four, REAL_NAME)(rows, at), PGI_NAME(four, REAL_NAME)(rows + 4, at));
}

/* A whole run: its pieces from the largest to the smallest. `count` is a constant where this is
 * inlined, and the conditions disappear. */
PGI_ALWAYS_INLINE PGI_VECTOR(REAL_NAME)
    PGI_NAME(run, REAL_NAME)(const void *const *rows, int count, int64_t at)
{
    PGI_VECTOR(REAL_NAME) sum;
    int done;

    if (count >= 16) {
        sum = ADD(PGI_NAME(eight, REAL_NAME)(rows, at), PGI_NAME(eight, REAL_NAME)(rows + 8, at));
        done = 16;
    } else if (count >= 8) {
        sum = PGI_NAME(eight, REAL_NAME)(rows, at);
        done = 8;
    } else if (count >= 4) {
        sum = PGI_NAME(four, REAL_NAME)(rows, at);
        done = 4;
    } else if (count >= 2) {
        sum = PGI_NAME(two, REAL_NAME)(rows, at);
        done = 2;
    } else if (count == 1) {
        return GET(rows, at);
    } else {
        return PGI_VEC(set, REAL_NAME)(0);
    }
    if (count - done >= 4) {
        sum = ADD(sum, PGI_NAME(four, REAL_NAME)(rows + done, at));
        done += 4;
    }
    if (count - done >= 2) {
        sum = ADD(sum, PGI_NAME(two, REAL_NAME)(rows + done, at));
        done += 2;
    }
    if (count - done >= 1)
        sum = ADD(sum, GET(rows + done, at));
    return sum;
}

/* A block of `sums` runs at one place. Rows that several share are loaded once, and their sums of
 * powers of two added once, each as soon as its last row is there, so that few are alive at a time:
 * of 16 runs of 31 rows no more than 32. `sums` and `length` are constants where this is inlined,
 * and the arrays are registers. With `behind` pieces are added to what is there. */
PGI_ALWAYS_INLINE void PGI_NAME(block_at, REAL_NAME)(REAL *const *to, int sums,
                                                     const void *const *rows, int length,
                                                     bool behind, int64_t at)
{
    PGI_VECTOR(REAL_NAME) piece[5][PGI_LONG_RUN + PGI_MANY_ROWS - 1], sum[PGI_MANY_ROWS];
    int level, i, row;

    PGI_UNROLL
    for (row = 0; row < length + sums - 1; row++) {
        piece[0][row] = GET(rows + row, at);
        PGI_UNROLL
        for (level = 1; level < 5; level++) { /* pieces of 2^level rows that end here */
            const int first = row + 1 - (1 << level);

            if (1 << level <= length && first >= 0)
                piece[level][first] =
                    ADD(piece[level - 1][first], piece[level - 1][first + (1 << (level - 1))]);
        }
        PGI_UNROLL
        for (level = 4; level >= 0; level--) {
            const int before = length >> (level + 1) << (level + 1); /* rows of larger pieces */
            const int first = row + 1 - (1 << level);

            i = first - before;
            if (!(length & 1 << level) || i < 0 || i >= sums)
                continue;
            if (before > 0)
                sum[i] = ADD(sum[i], piece[level][first]);
            else if (behind)
                sum[i] = ADD(PGI_VEC(get, REAL_NAME)(to[i] + at), piece[level][first]);
            else
                sum[i] = piece[level][first];
        }
        if (row + 1 >= length)
            PGI_VEC(put, REAL_NAME)(to[row + 1 - length] + at, sum[row + 1 - length]);
    }
}

PGI_ALWAYS_INLINE void PGI_NAME(block_of, REAL_NAME)(void *const *to, int sums,
                                                     const void *const *given, int length,
                                                     bool behind, int64_t places)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const void *rows[PGI_LONG_RUN + PGI_MANY_ROWS - 1];
    REAL *target[PGI_MANY_ROWS];
    int64_t at;
    int i;

    for (i = 0; i < length + sums - 1; i++)
        rows[i] = given[i];
    for (i = 0; i < sums; i++)
        target[i] = to[i];
    for (at = 0; at < places; at += LANES)
        PGI_NAME(block_at, REAL_NAME)(target, sums, rows, length, behind, at);
}

static void PGI_NAME(sum_block, REAL_NAME)(void *const *to, int sums, const void *const *rows,
                                           int length, bool behind, int64_t count)
{
#define BLOCK(n, sums, behind) PGI_NAME(block_of, REAL_NAME)(to, sums, rows, n, behind, count)
#if defined(PGI_SANITIZED)
    BLOCK(length, sums, behind);
#else
    switch (length + 32 * behind + 64 * (sums == PGI_MANY_ROWS)) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        BLOCK(n, PGI_FEW_ROWS, false);                                                             \
        break;                                                                                     \
    case 64 + (n):                                                                                 \
        BLOCK(n, PGI_MANY_ROWS, false);                                                            \
        break;
#include "cpu/tmpl/counts.def"
#include "cpu/tmpl/long_counts.def"
#undef PGI_COUNT
#define PGI_COUNT(n)                                                                               \
    case 32 + (n):                                                                                 \
        BLOCK(n, PGI_FEW_ROWS, true);                                                              \
        break;                                                                                     \
    case 96 + (n):                                                                                 \
        BLOCK(n, PGI_MANY_ROWS, true);                                                             \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
    }
#endif
#undef BLOCK
}

#undef GET
#undef ADD

/* The vector of terms that the at-th of the picks says. `reach` is a constant where this is
 * inlined. */
PGI_ALWAYS_INLINE PGI_VECTOR(REAL_NAME)
    PGI_NAME(pick, REAL_NAME)(const REAL *reals, const pgi_picks *picks, pgi_picks_reach reach,
                              int64_t at)
{
    const int32_t *lane = picks->lane + at * PGI_LANES(REAL_NAME);

    switch (reach) {
    case PGI_NEAR:
        return PGI_VEC(permute, REAL_NAME)(reals + picks->first[at], lane);
    case PGI_WIDE:
        return PGI_VEC(permute_wide, REAL_NAME)(reals + picks->first[at], lane);
    case PGI_FAR:
    default:
        return PGI_VEC(gather, REAL_NAME)(reals, lane);
    }
}
