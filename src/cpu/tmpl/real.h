/* SPDX-License-Identifier: MIT */
/* Kernel bodies for one compute type: REAL, and its suffix REAL_NAME. Signatures and meaning:
 * plan/backend.h. */

static void PGI_NAME(combine, REAL_NAME)(void *to, const void *a, const void *b, int64_t count)
{
    REAL *sum = to;
    const REAL *left = a, *right = b;
    int64_t i;

    for (i = 0; i < count; i++)
        sum[i] = left[i] + right[i];
}

static void PGI_NAME(divide, REAL_NAME)(void *reals, const void *divisors, int64_t divisor_step,
                                        int64_t count)
{
    REAL *value = reals;
    const REAL *divisor = divisors;
    int64_t i;

    for (i = 0; i < count; i++)
        value[i] = value[i] / divisor[i * divisor_step];
}

static void PGI_NAME(scatter, REAL_NAME)(void *sums, const int64_t *places, const void *terms,
                                         int64_t count)
{
    REAL *sum = sums;
    const REAL *term = terms;
    int64_t i;

    for (i = 0; i < count; i++)
        if (places[i] >= 0)
            sum[places[i]] = sum[places[i]] + term[i];
}
