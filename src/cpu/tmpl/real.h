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

/* The same for one place and any count, where vectors do not fit. */
static REAL PGI_NAME(run_at, REAL_NAME)(const void *const *rows, int count, int64_t at)
{
    REAL sum = 0, piece[PGI_RUN_ROWS];
    int size = 1, first = 0, length, i;

    while (size * 2 <= count)
        size *= 2;
    for (; size > 0; size /= 2) {
        if (!(count & size))
            continue;
        for (i = 0; i < size; i++)
            piece[i] = ((const REAL *)rows[first + i])[at];
        for (length = size; length > 1; length /= 2)
            for (i = 0; i < length / 2; i++)
                piece[i] = piece[2 * i] + piece[2 * i + 1];
        sum = first ? sum + piece[0] : piece[0];
        first += size;
    }
    return sum;
}

/* Rows that several runs share are loaded once, and their sums of powers of two added once;
 * `length` is a constant where this is inlined, and the arrays are registers. With `behind` pieces
 * are added to what is there. */
PGI_ALWAYS_INLINE void PGI_NAME(block_at, REAL_NAME)(REAL *const *to, const void *const *rows,
                                                     int length, bool behind, int64_t at)
{
    enum {
        MOST = PGI_RUN_ROWS + PGI_BLOCK_ROWS - 1
    };
    PGI_VECTOR(REAL_NAME) sums[5][MOST];
    int level, i, top = 0;

    PGI_UNROLL
    for (i = 0; i < length + PGI_BLOCK_ROWS - 1; i++)
        sums[0][i] = GET(rows + i, at);
    PGI_UNROLL
    for (level = 1; level < 5; level++) {
        top += 1 << level <= length;
        PGI_UNROLL
        for (i = 0; i < MOST; i++)
            if (1 << level <= length && i + (1 << level) <= length + PGI_BLOCK_ROWS - 1)
                sums[level][i] = ADD(sums[level - 1][i], sums[level - 1][i + (1 << (level - 1))]);
    }
    PGI_UNROLL
    for (i = 0; i < PGI_BLOCK_ROWS; i++) {
        PGI_VECTOR(REAL_NAME)
        sum = behind ? PGI_VEC(get, REAL_NAME)(to[i] + at) : sums[top][i];
        int done = behind ? 0 : 1 << top;

        PGI_UNROLL
        for (level = 3; level >= 0; level--) {
            if ((level < top || behind) && (length & 1 << level)) {
                sum = ADD(sum, sums[level][i + done]);
                done += 1 << level;
            }
        }
        PGI_VEC(put, REAL_NAME)(to[i] + at, sum);
    }
}

PGI_ALWAYS_INLINE void PGI_NAME(block_of, REAL_NAME)(void *const *to, const void *const *given,
                                                     int length, bool behind, int64_t places)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const void *rows[PGI_RUN_ROWS + PGI_BLOCK_ROWS - 1];
    REAL *target[PGI_BLOCK_ROWS];
    int64_t at;
    int i;

    for (i = 0; i < length + PGI_BLOCK_ROWS - 1; i++)
        rows[i] = given[i];
    for (i = 0; i < PGI_BLOCK_ROWS; i++)
        target[i] = to[i];
    for (at = 0; at < places; at += LANES)
        PGI_NAME(block_at, REAL_NAME)(target, rows, length, behind, at);
}

static void PGI_NAME(sum_block, REAL_NAME)(void *const *to, const void *const *rows, int length,
                                           bool behind, int64_t count)
{
    switch (behind ? PGI_RUN_ROWS + length : length) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(block_of, REAL_NAME)(to, rows, n, false, count);                                  \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
#define BEHIND(n)                                                                                  \
    case PGI_RUN_ROWS + (n):                                                                       \
        PGI_NAME(block_of, REAL_NAME)(to, rows, n, true, count);                                   \
        break;
        BEHIND(1)
        BEHIND(2)
        BEHIND(3)
        BEHIND(4)
        BEHIND(5)
        BEHIND(6)
        BEHIND(7)
#undef BEHIND
    }
}

#undef GET
#undef ADD
