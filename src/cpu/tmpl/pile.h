/* SPDX-License-Identifier: MIT */
/*
 * Sums of any number of elements, one for all, for one element type; included by element.h, whose
 * parameters and words it uses. Nothing is added that is not part of the sum. Signatures and
 * meaning: plan/backend.h.
 */

/* to[i] = a[i] + b[i], to the end of the last vector. */
static inline void PGI_NAME(add_rows, ELEMENT)(REAL *to, const REAL *a, const REAL *b,
                                               int64_t count)
{
    int64_t at;

    for (at = 0; at < count; at += LANES)
        PUT(to + at, ADD(GET(a + at), GET(b + at)));
}

/* Sums of PGI_RUN_ROWS rows are added in pairs of equally many, as a binary counter carries: its
 * bits say which sums are there, those of more rows first. */
static void PGI_NAME(pile, ELEMENT)(void *to, const void *from, int64_t step, int64_t rows,
                                    int64_t count, int64_t ahead, void *room)
{
    const int64_t pitch = (count + PGI_ROW_REALS - 1) / PGI_ROW_REALS * PGI_ROW_REALS;
    const int64_t blocks = rows / PGI_RUN_ROWS;
    REAL *const made = room, *const levels = made + pitch;
    const STORED *row = from;
    REAL *sum = to, *level = levels;
    int64_t block, bit;
    bool any = false;

    for (block = 0; block < blocks; block++, row += PGI_RUN_ROWS * step) {
        level = levels;
        PGI_NAME(sum_columns, ELEMENT)
        (block & 1 ? made : level, row, step, count, PGI_RUN_ROWS, ahead);
        for (bit = 1; block & bit; bit *= 2, level += pitch)
            PGI_NAME(add_rows, ELEMENT)
        (block & (2 * bit) ? made : level + pitch, level, made, count);
    }
    for (bit = 1, level = levels; bit <= blocks / 2; bit *= 2)
        level += pitch;
    for (; bit > 0; bit /= 2, level -= pitch) {
        if (!(blocks & bit))
            continue;
        if (any)
            PGI_NAME(add_rows, ELEMENT)(sum, sum, level, count);
        else
            memcpy(sum, level, (size_t)pitch * sizeof *sum);
        any = true;
    }
#define PIECE(n)                                                                                   \
    if (rows & (n)) {                                                                              \
        PGI_NAME(sum_columns, ELEMENT)(any ? made : sum, row, step, count, n, ahead);              \
        if (any)                                                                                   \
            PGI_NAME(add_rows, ELEMENT)(sum, sum, made, count);                                    \
        row += (n)*step;                                                                           \
        any = true;                                                                                \
    }
    PIECE(8)
    PIECE(4)
    PIECE(2)
    PIECE(1)
#undef PIECE
}

/* Neighbours of two vectors added, in their order. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(pairs, ELEMENT)(VECTOR a, VECTOR b)
{
    return ADD(PGI_VEC(even, REAL_NAME)(a, b), PGI_VEC(odd, REAL_NAME)(a, b));
}

/* Elements that a vector of sums of eight is made of. */
#define IN_EIGHTS (8 * PGI_LANES(REAL_NAME))

PGI_ALWAYS_INLINE VECTOR PGI_NAME(eights, ELEMENT)(const STORED *from)
{
    VECTOR sum[8];
    int size, i;

    PGI_UNROLL
    for (i = 0; i < 8; i++)
        sum[i] = LOAD_VECTOR(from + i * LANES);
    PGI_UNROLL
    for (size = 4; size > 0; size /= 2)
        PGI_UNROLL
    for (i = 0; i < size; i++)
        sum[i] = PGI_NAME(pairs, ELEMENT)(sum[2 * i], sum[2 * i + 1]);
    return sum[0];
}

/* Sums of eight, as often as there are, are summed as the elements were; then come the pieces of
 * the rest, and the +0 of terms. */
static void PGI_NAME(fold, ELEMENT)(void *total, const void *from, int64_t count, void *room)
{
    const int64_t eights = count / 8;
    const STORED *stored = from;
    REAL *made = room, *sum = total, rest[8] = {0};
    STORED last[IN_EIGHTS];
    bool any = eights > 0;
    int64_t i, at;

    for (i = 0; i < eights; i += LANES) {
        const bool whole = 8 * i + IN_EIGHTS <= count;

        if (!whole) {
            memset(last, 0, sizeof last);
            memcpy(last, stored + 8 * i, (size_t)(count - 8 * i) * sizeof *stored);
        }
        PUT(made + i, PGI_NAME(eights, ELEMENT)(whole ? stored + 8 * i : last));
    }
    if (any)
        PGI_NAME(fold, REAL_NAME)
    (total, made, eights, made + (eights + PGI_ROW_REALS - 1) / PGI_ROW_REALS * PGI_ROW_REALS);
    for (i = 0; i < count % 8; i++)
        rest[i] = LOAD(stored[8 * eights + i]);
    for (at = 0, i = 4; i > 0; i /= 2) {
        REAL piece;

        if (!(count & i))
            continue;
        piece = i == 4   ? (rest[0] + rest[1]) + (rest[2] + rest[3])
                : i == 2 ? rest[at] + rest[at + 1]
                         : rest[at];
        *sum = any ? *sum + piece : piece;
        any = true;
        at += i;
    }
    *sum += 0;
}

#undef IN_EIGHTS
