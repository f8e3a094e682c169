/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies for one element type. Parameters:
 *     ELEMENT        f32, f64, f16, bf16; the suffix of the names
 *     STORED, REAL   type in memory, type of the arithmetic
 *     LOAD, STORE    between the two
 *     COMPUTE_TYPE   1 if the element type is also a compute type: its sums get kernels too
 * All are undefined again at the end. Signatures and meaning: plan/backend.h.
 */

static void PGI_NAME(terms, ELEMENT)(void *terms, const void *dy, int64_t dy_step,
                                     const void *divisors, int64_t divisor_step, int64_t count)
{
    REAL *restrict to = terms;
    const STORED *from = dy;
    const REAL *divisor = divisors;
    int64_t i;

    /* The +0 turns a term of -0 into +0. */
    if (dy_step == 1 && divisor_step == 0) {
        const REAL uniform = divisor[0];

        for (i = 0; i < count; i++)
            to[i] = LOAD(from[i]) / uniform + 0;
    } else if (dy_step == 1) {
        for (i = 0; i < count; i++)
            to[i] = LOAD(from[i]) / divisor[i] + 0;
    } else {
        for (i = 0; i < count; i++)
            to[i] = LOAD(from[i * dy_step]) / divisor[i * divisor_step] + 0;
    }
}

static inline REAL PGI_NAME(accumulated, ELEMENT)(REAL result, REAL beta, STORED previous)
{
    return result + beta * LOAD(previous);
}

static void PGI_NAME(store, ELEMENT)(void *dx, int64_t dx_step, const void *sums, int64_t count,
                                     const pgi_scale *scale)
{
    STORED *restrict to = dx;
    const REAL *restrict sum = sums;
    const REAL alpha = (REAL)scale->alpha, beta = (REAL)scale->beta;
    int64_t i;

    if (beta != 0) {
        for (i = 0; i < count; i++) {
            STORED *element = to + i * dx_step;

            *element = STORE(PGI_NAME(accumulated, ELEMENT)(alpha * sum[i], beta, *element));
        }
    } else if (dx_step == 1) {
        for (i = 0; i < count; i++)
            to[i] = STORE(alpha * sum[i]); /* alpha 1 leaves every bit */
    } else {
        for (i = 0; i < count; i++)
            to[i * dx_step] = STORE(alpha * sum[i]);
    }
}

#if COMPUTE_TYPE

static void PGI_NAME(add, ELEMENT)(void *sum, const void *a, const void *b, int64_t count)
{
    REAL *to = sum;
    const REAL *left = a, *right = b;
    int64_t i;

    for (i = 0; i < count; i++)
        to[i] = left[i] + right[i];
}

static void PGI_NAME(spread, ELEMENT)(void *to, int64_t step, const void *from, int64_t lanes,
                                      int64_t count)
{
    REAL *restrict target = to;
    const REAL *restrict source = from;
    int64_t i, lane;

    if (!source) {
        for (i = 0; i < count; i++)
            for (lane = 0; lane < lanes; lane++)
                target[i * step * lanes + lane] = 0;
    } else if (lanes == 1) {
        for (i = 0; i < count; i++)
            target[i * step] = source[i];
    } else {
        for (i = 0; i < count; i++)
            memcpy(target + i * step * lanes, source + i * lanes, (size_t)lanes * sizeof *target);
    }
}

#endif

#undef ELEMENT
#undef STORED
#undef REAL
#undef LOAD
#undef STORE
#undef COMPUTE_TYPE
