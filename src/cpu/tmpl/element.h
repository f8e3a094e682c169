/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies for one element type. Parameters, undefined again at the end:
 *     ELEMENT        f32, f64, f16, bf16; the suffix of the names
 *     STORED         the type in memory
 *     LOAD, STORE    between that and REAL, the compute type, which the includer has set
 * Signatures and meaning: plan/backend.h.
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

static void PGI_NAME(widen, ELEMENT)(void *reals, const void *from, int64_t from_step,
                                     int64_t count)
{
    REAL *restrict to = reals;
    const STORED *stored = from;
    int64_t i;

    for (i = 0; i < count; i++)
        to[i] = LOAD(stored[i * from_step]);
}

static void PGI_NAME(keys, ELEMENT)(void *pairs, const void *x, int64_t x_step, int64_t place,
                                    int64_t place_step, poolgrad_nan nan, int64_t count)
{
    const bool wins = nan == POOLGRAD_NAN_FIRST || nan == POOLGRAD_NAN_LAST;
    const int64_t key = wins ? INT64_MAX : PGI_NO_KEY + 1;
    const int64_t reversed = nan == POOLGRAD_NAN_LAST ? -1 : 0; /* exclusive or with it: ~place */
    pgi_pair *restrict to = pairs;
    const STORED *from = x;
    int64_t i;

    for (i = 0; i < count; i++) {
        const REAL value = LOAD(from[i * x_step]);

        to[i].key = value != value ? key : PGI_NAME(ordered, REAL_NAME)(value);
        to[i].place = (place + i * place_step) ^ (value != value ? reversed : 0);
    }
}

#undef ELEMENT
#undef STORED
#undef LOAD
#undef STORE
