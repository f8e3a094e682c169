/* SPDX-License-Identifier: MIT */
/*
 * poolgrad_convert: widening of every 16-bit pattern, narrowing to the nearest of the two
 * neighbouring values, found in a table of all values of the type and compared in f64. Without
 * --big the f32 patterns are a sample with all ties and their neighbours; with it, all 2^32.
 */
#include "harness.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#define CHUNK 65536

/* A 16-bit type: its values of positive sign by bit pattern, up to infinity, for which stands the
 * number that would follow the largest. */
typedef struct narrow_type {
    poolgrad_dtype dtype;
    int fraction_bits, lowest; /* exponent of the smallest normal number */
    uint16_t infinity, quiet;
    double value[0x7f81];
} narrow_type;

static narrow_type types[] = {
    {.dtype = POOLGRAD_F16, .fraction_bits = 10, .lowest = -14, .infinity = 0x7c00, .quiet = 0x200},
    {.dtype = POOLGRAD_BF16, .fraction_bits = 7, .lowest = -126, .infinity = 0x7f80, .quiet = 0x40},
};

static void make_tables(void)
{
    for (size_t t = 0; t < 2; t++) {
        const int ones = 1 << types[t].fraction_bits;

        for (int bits = 0; bits <= types[t].infinity; bits++) {
            const int exponent = bits / ones, fraction = bits % ones;
            const int unit = types[t].lowest - types[t].fraction_bits;

            types[t].value[bits] =
                exponent == 0 ? ldexp(fraction, unit) : ldexp(ones + fraction, unit + exponent - 1);
        }
    }
}

static void convert(poolgrad_dtype to_dtype, void *to, poolgrad_dtype from_dtype, const void *from,
                    size_t count)
{
    poolgrad_error error;

    if (poolgrad_convert(to_dtype, to, from_dtype, from, count, &error))
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
}

static float f32_of_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_f32(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The pattern of the value nearest to |x|, of the even one if there are two. *at is a guess at the
 * value below, and receives it. */
static uint16_t nearest(const narrow_type *type, double x, uint32_t *at)
{
    const double *value = type->value;
    double below, above;

    x = fabs(x);
    if (x >= value[type->infinity])
        return type->infinity;
    if (x < value[*at] || x >= value[*at + 1]) {
        uint32_t end = type->infinity;

        for (*at = 0; end - *at > 1;) {
            const uint32_t middle = (*at + end) / 2;

            if (value[middle] <= x)
                *at = middle;
            else
                end = middle;
        }
    }
    below = x - value[*at];
    above = value[*at + 1] - x;
    return (uint16_t)(*at + (below > above || (below == above && *at % 2)));
}

static void check_narrowed(const narrow_type *type, double from, uint16_t to, uint32_t *at)
{
    const uint16_t magnitude = to & 0x7fff, sign = to >> 15;

    if (isnan(from) ? magnitude <= type->infinity || !(to & type->quiet)
                    : magnitude != nearest(type, from, at) || sign != (signbit(from) != 0))
        fail_msg("%a became 0x%04x in %s", from, to, type->dtype == POOLGRAD_F16 ? "f16" : "bf16");
}

static void check_from_f32(const narrow_type *type, const float *from, size_t count)
{
    static uint16_t to[CHUNK];
    uint32_t at = 0;

    convert(type->dtype, to, POOLGRAD_F32, from, count);
    for (size_t i = 0; i < count; i++)
        check_narrowed(type, from[i], to[i], &at);
}

static void check_from_f64(const narrow_type *type, const double *from, size_t count)
{
    static uint16_t to[CHUNK];
    uint32_t at = 0;

    convert(type->dtype, to, POOLGRAD_F64, from, count);
    for (size_t i = 0; i < count; i++)
        check_narrowed(type, from[i], to[i], &at);
}

/* Every pattern, with the round trip back. A NaN stays one; which, is not promised. */
static void widening(void **state)
{
    static uint16_t from[CHUNK], back[CHUNK];
    static float wide[CHUNK];
    static double wider[CHUNK];

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        for (uint32_t i = 0; i < CHUNK; i++)
            from[i] = (uint16_t)i;
        convert(POOLGRAD_F32, wide, types[t].dtype, from, CHUNK);
        convert(POOLGRAD_F64, wider, types[t].dtype, from, CHUNK);
        convert(types[t].dtype, back, POOLGRAD_F32, wide, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++) {
            const uint32_t magnitude = i & 0x7fff;
            double value;

            assert_int_equal(isnan(wide[i]) != 0, magnitude > types[t].infinity);
            assert_int_equal(isnan(wider[i]) != 0, magnitude > types[t].infinity);
            if (magnitude > types[t].infinity) {
                assert_true((back[i] & 0x7fff) > types[t].infinity);
                continue;
            }
            value = magnitude == types[t].infinity ? (double)INFINITY : types[t].value[magnitude];
            assert_int_equal(bits_of_f32(wide[i]), bits_of_f32((float)(i >> 15 ? -value : value)));
            assert_true(wider[i] == (double)wide[i]);
            assert_int_equal(signbit(wider[i]) != 0, i >> 15);
            assert_int_equal(back[i], from[i]);
        }
        convert(types[t].dtype, back, POOLGRAD_F64, wider, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++)
            assert_true(back[i] == from[i] || (i & 0x7fff) > types[t].infinity);
    }
}

/* Each number between two neighbours of the type, and the f32 and f64 closest to it. From f64 a
 * rounding to f32 on the way would turn the nearest ones into ties. */
static void ties(void **state)
{
    static double from[CHUNK];
    static float from_f32[CHUNK];

    (void)state;
    for (size_t t = 0; t < 2; t++) {
        size_t n = 0;

        for (uint32_t i = 0; i < types[t].infinity; i++) {
            const double middle = (types[t].value[i] + types[t].value[i + 1]) / 2;
            const uint32_t bits = bits_of_f32((float)middle);

            for (int k = -2; k <= 2; k++) {
                const double sign = (i + (uint32_t)k) % 2 ? -1 : 1;
                const uint32_t near = bits < 2 ? (uint32_t)(k + 2) : bits + (uint32_t)k;

                from[n] = sign * middle * (1 + k * 0x1p-51);
                from_f32[n++] = (float)sign * f32_of_bits(near);
                from[n] = sign * (k < 0 ? nextafter(middle, 0) : middle * (1 + k * 0x1p-26));
                from_f32[n++] = (float)(sign * types[t].value[i]);
            }
            if (n + 10 > CHUNK || i + 1 == types[t].infinity) {
                check_from_f64(&types[t], from, n);
                check_from_f32(&types[t], from_f32, n);
                n = 0;
            }
        }
    }
}

static const uint32_t special_bits[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x00800001, 0x00008000,
    0x00007fff, 0x00008001, 0x00018000, 0x33000000, 0x33000001, 0x32ffffff, 0xb3000000, 0x33800000,
    0x33c00000, 0x387fffff, 0x38800000, 0x387fe000, 0x387fefff, 0x387ff000, 0x477fe000, 0x477fefff,
    0x477ff000, 0x477ff001, 0xc77fefff, 0xc77ff000, 0x47800000, 0x7f7f7fff, 0x7f7f8000, 0x7f7f8001,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xff800001, 0x7f80ffff, 0x7fbfffff,
    0x7fc00000, 0xffc00000, 0x7fffffff, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f7f0000, 0x00010000,
};

/* A stride through all f32 patterns; and to f64 and back, which changes nothing. */
static void sampled_f32(void **state)
{
    const uint64_t stride = ((UINT64_C(1) << 32) / (uint64_t)scaled(1 << 22)) | 1;
    static float from[CHUNK], back[CHUNK];
    static double wide[CHUNK];
    uint64_t bits = 0;

    (void)state;
    memcpy(from, special_bits, sizeof special_bits);
    for (size_t t = 0; t < 2; t++)
        check_from_f32(&types[t], from, sizeof special_bits / sizeof special_bits[0]);
    while (bits < UINT64_C(1) << 32) {
        size_t n;

        for (n = 0; n < CHUNK && bits < UINT64_C(1) << 32; n++, bits += stride)
            from[n] = f32_of_bits((uint32_t)bits);
        for (size_t t = 0; t < 2; t++)
            check_from_f32(&types[t], from, n);
        convert(POOLGRAD_F64, wide, POOLGRAD_F32, from, n);
        convert(POOLGRAD_F32, back, POOLGRAD_F64, wide, n);
        for (size_t i = 0; i < n; i++) {
            if (isnan(from[i]))
                assert_true(isnan(wide[i]) && isnan(back[i]));
            else if (wide[i] != (double)from[i] || memcmp(&back[i], &from[i], 4) != 0)
                fail_msg("%a became %a in f64 and %a back in f32", (double)from[i], wide[i],
                         (double)back[i]);
        }
    }
}

static void every_f32(void **state)
{
    static float from[CHUNK];

    (void)state;
    for (uint32_t high = 0; high < 0x10000; high++) {
        for (uint32_t low = 0; low < CHUNK; low++)
            from[low] = f32_of_bits(high << 16 | low);
        for (size_t t = 0; t < 2; t++)
            check_from_f32(&types[t], from, CHUNK);
    }
}

/* The f32 nearest to |x|, as a double: its multiple of the f32 unit at x, even if in the middle. */
static double nearest_f32(double x)
{
    const int exponent = x == 0 || ilogb(x) < -126 ? -126 : ilogb(x);
    const double places = ldexp(fabs(x), 23 - exponent), below = floor(places);
    const double half = places - below - 0.5;
    const int up = half > 0 || (half == 0 && fmod(below, 2) != 0);
    const double value = ldexp(below + up, exponent - 23);

    return value > (double)FLT_MAX ? (double)INFINITY : value;
}

/* Random bits, then random f32 moved to the middle between neighbours and next to it. */
static void from_f64(void **state)
{
    static double from[CHUNK];
    static float to[CHUNK];
    sup_rng rng;

    (void)state;
    sup_rng_seed(&rng, 11);
    for (int round = scaled(30); round >= 0; round--) {
        for (size_t i = 0; i < CHUNK; i++) {
            uint64_t bits = sup_rng_next(&rng);

            if (i % 4 == 0) { /* the exponents of f32 and a few around */
                bits = (bits & ~(UINT64_C(0x7ff) << 52)) |
                       (uint64_t)sup_rng_range(&rng, 1023 - 152, 1023 + 130) << 52;
            }
            if (i % 4 == 1)
                bits = (bits & UINT64_C(0xbfffffff00000000)) | UINT64_C(0x3000000000000000);
            memcpy(&from[i], &bits, sizeof bits);
            if (i % 4 > 1) {
                const float low = f32_of_bits((uint32_t)bits & 0xff7fffff);
                const double middle = ((double)low + (double)nextafterf(low, FLT_MAX)) / 2;

                from[i] = middle * (1 + (double)sup_rng_range(&rng, -2, 2) * 0x1p-51);
            }
        }
        from[0] = (double)FLT_MAX * (1 + 0x1p-25); /* near the middle between FLT_MAX and 2^128 */
        from[1] = -0x1.ffffffp127;
        from[2] = 0x1.fffffefffffffp127;
        from[3] = -0x1p-150;
        from[4] = 0x1.0000000000001p-150;
        from[5] = (double)NAN;
        from[6] = -DBL_MAX;
        from[7] = -(double)INFINITY;
        convert(POOLGRAD_F32, to, POOLGRAD_F64, from, CHUNK);
        for (size_t i = 0; i < CHUNK; i++) {
            if (isnan(from[i])) {
                assert_true(isnan(to[i]));
                continue;
            }
            if (fabs((double)to[i]) != (isinf(from[i]) ? (double)INFINITY : nearest_f32(from[i])) ||
                !signbit(to[i]) != !signbit(from[i]))
                fail_msg("%a became %a in f32", from[i], (double)to[i]);
        }
        for (size_t t = 0; t < 2; t++)
            check_from_f64(&types[t], from, CHUNK);
    }
}

/* Conversions in every rounding mode, and with subnormals flushed, have the bits of the default
 * one; the mode stays set, and no exception flag is raised. */
static void environment(void **state)
{
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    static const poolgrad_dtype dtypes[] = {POOLGRAD_F32, POOLGRAD_F16, POOLGRAD_BF16,
                                            POOLGRAD_F64};
    static double from[2048], expected[2048], actual[2048];
    static uint16_t small[2048];
    sup_rng rng;

    (void)state;
    sup_rng_seed(&rng, 12);
    for (uint32_t i = 0; i < 2048; i++) {
        small[i] = (uint16_t)(i * 0x10001u % 1024 | (i & 1) << 15); /* subnormal f16 and bf16 */
        from[i] = ldexp(sup_rng_unit(&rng) - 0.5, (int)sup_rng_range(&rng, -160, 20));
    }
    for (size_t n = 0; n < 8; n++) {
        const poolgrad_dtype to = dtypes[n % 4], source = n < 4 ? POOLGRAD_F64 : dtypes[1 + n % 2];
        const void *input = n < 4 ? (const void *)from : (const void *)small;
        const size_t bytes = 2048 * poolgrad_dtype_size(to);

        convert(to, expected, source, input, 2048);
        for (size_t m = 0; m < 4; m++) {
            int mode, raised;

            feclearexcept(FE_ALL_EXCEPT);
            fesetround(modes[m]);
            convert(to, actual, source, input, 2048);
            mode = fegetround();
            raised = fetestexcept(FE_ALL_EXCEPT);
            fesetround(FE_TONEAREST);
            assert_int_equal(mode, modes[m]);
            assert_int_equal(raised, 0);
            assert_memory_equal(actual, expected, bytes);
        }
#ifdef __SSE2__
        {
            const unsigned int usual = _mm_getcsr(), flushing = usual | 0x8040; /* FTZ and DAZ */
            unsigned int after;

            _mm_setcsr(flushing);
            convert(to, actual, source, input, 2048);
            after = _mm_getcsr();
            _mm_setcsr(usual);
            assert_int_equal(after, flushing);
            assert_memory_equal(actual, expected, bytes);
        }
#endif
    }
}

static void check_error(poolgrad_status expected, const char *words, poolgrad_dtype to_dtype,
                        void *to, poolgrad_dtype from_dtype, const void *from, size_t count)
{
    poolgrad_error error;

    memset(&error, 0x55, sizeof error);
    assert_int_equal(poolgrad_convert(to_dtype, to, from_dtype, from, count, &error), expected);
    assert_int_equal(error.status, expected);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not contain '%s'", error.message, words);
    assert_int_equal(poolgrad_convert(to_dtype, to, from_dtype, from, count, NULL), expected);
}

static void errors(void **state)
{
    const poolgrad_dtype none = (poolgrad_dtype)0, past = (poolgrad_dtype)5;
    float from[16] = {1}, to[16], untouched[16];
    char *bytes = (char *)to;

    (void)state;
    memset(to, 0x7a, sizeof to);
    memcpy(untouched, to, sizeof to);
    check_error(POOLGRAD_ERR_NULL, "to is NULL", POOLGRAD_F32, NULL, POOLGRAD_F32, from, 1);
    check_error(POOLGRAD_ERR_NULL, "from is NULL", POOLGRAD_F16, to, POOLGRAD_F32, NULL, 1);
    check_error(POOLGRAD_ERR_ENUM, "to_dtype is 0", none, to, POOLGRAD_F32, from, 1);
    check_error(POOLGRAD_ERR_ENUM, "from_dtype is 5", POOLGRAD_F32, to, past, from, 1);
    check_error(POOLGRAD_ERR_ENUM, "to_dtype is 5", past, NULL, POOLGRAD_F32, NULL, 0);
    check_error(POOLGRAD_ERR_MISALIGNED, "to is not", POOLGRAD_F16, bytes + 1, POOLGRAD_F32, from,
                1);
    check_error(POOLGRAD_ERR_MISALIGNED, "to is not", POOLGRAD_F32, bytes + 2, POOLGRAD_F32, from,
                1);
    check_error(POOLGRAD_ERR_MISALIGNED, "from is not", POOLGRAD_F32, to, POOLGRAD_F32,
                (char *)from + 2, 1);
    check_error(POOLGRAD_ERR_OVERLAP, "overlap", POOLGRAD_F32, to, POOLGRAD_F32, to, 1);
    check_error(POOLGRAD_ERR_OVERLAP, "overlap", POOLGRAD_F16, bytes + 6, POOLGRAD_F32, to, 2);
    check_error(POOLGRAD_ERR_OVERLAP, "overlap", POOLGRAD_F32, to, POOLGRAD_F16, bytes + 6, 2);
    check_error(POOLGRAD_ERR_OVERFLOW, "count is", POOLGRAD_F32, to, POOLGRAD_F32, from, SIZE_MAX);
    check_error(POOLGRAD_ERR_OVERFLOW, "count is", POOLGRAD_F64, to, POOLGRAD_F16, from,
                (size_t)PTRDIFF_MAX / 4);
    assert_memory_equal(to, untouched, sizeof to);
    convert(POOLGRAD_F32, NULL, POOLGRAD_F16, NULL, 0);
    convert(POOLGRAD_F32, to, POOLGRAD_F32, to, 0);
    assert_memory_equal(to, untouched, sizeof to);
    convert(POOLGRAD_F16, bytes + 8, POOLGRAD_F32, to, 2); /* neighbours do not overlap */
    assert_memory_equal(to, untouched, 8);
    assert_memory_equal(to + 3, untouched + 3, sizeof to - 12);
}

/* What the kernels store is what poolgrad_convert makes of the f32 product: one window per
 * position, all 65,536 patterns as dy, and factors that lead to ties, subnormals and infinity. */
static void stores_of_kernels(void **state)
{
    static const double alphas[] = {1, -1, 1 + 0x1p-11, 1 + 0x1p-8, 1.5, 0x1p-10, 0x1.8p-4, 2, 0.1};
    static uint16_t expected[CHUNK];
    static float product[CHUNK];

    (void)state;
    for (size_t n = 0; n < 2 * sizeof alphas / sizeof alphas[0]; n++) {
        const narrow_type *type = &types[n % 2];
        const char *strategy, *cpu;
        poolgrad_desc desc;
        fixture f;

        assert_int_equal(poolgrad_desc_parse("avg1d:f16:ncw:1x1x65536:k1", &desc, NULL), 0);
        desc.dtype = type->dtype;
        desc.alpha = alphas[n / 2];
        fixture_make(&f, &desc, SUP_ONES, 0);
        for (uint32_t i = 0; i < CHUNK; i++)
            ((uint16_t *)f.dy.first)[i] = (uint16_t)i;
        convert(POOLGRAD_F32, product, type->dtype, f.dy.first, CHUNK);
        for (uint32_t i = 0; i < CHUNK; i++)
            product[i] = (float)alphas[n / 2] * (product[i] + 0.0f);
        convert(type->dtype, expected, POOLGRAD_F32, product, CHUNK);
        for (size_t s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++) {
            if (!strategy_applies(&f, strategy))
                continue;
            for (size_t c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
                poolgrad_options options = options_for(strategy, 1);

                options.cpu = cpu;
                run_into(&f, &options, f.dx.first);
                assert_same_result(&f, expected, f.dx.first, cpu);
            }
        }
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widening),          cmocka_unit_test(ties),
        cmocka_unit_test(sampled_f32),       cmocka_unit_test(from_f64),
        cmocka_unit_test(environment),       cmocka_unit_test(errors),
        cmocka_unit_test(stores_of_kernels),
    };
    const struct CMUnitTest big_tests[] = {cmocka_unit_test(every_f32)};

    make_tables();
    if (is_big(argc, argv))
        return cmocka_run_group_tests(big_tests, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
