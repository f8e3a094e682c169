/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies for one element type. Parameters, undefined again at the end:
 *     ELEMENT        f32, f64, f16, bf16; the suffix of the names
 *     STORED         the type in memory
 *     LOAD, STORE    between that and REAL, the compute type, which the includer has set
 *     PACKS          1 if keys have 32 bits; set by the includer, too
 * Signatures and meaning: plan/backend.h.
 */

#define VECTOR                  PGI_VECTOR(REAL_NAME)
#define LOAD_VECTOR(from)       PGI_VEC(load, ELEMENT)(from)
#define STORE_VECTOR(to, v)     PGI_VEC(store, ELEMENT)(to, v)
#define STREAM_VECTOR(to, v)    PGI_VEC(stream, ELEMENT)(to, v)
#define SET(value)              PGI_VEC(set, REAL_NAME)(value)
#define MUL(a, b)               PGI_VEC(mul, REAL_NAME)(a, b)
#define RUN(rows, count, at)    PGI_NAME(run, REAL_NAME)(rows, count, at)
#define RUN_AT(rows, count, at) PGI_NAME(run_at, REAL_NAME)(rows, count, at)

/* Terms side by side, whose divisors are one or side by side, too; or with `multiply` their
 * reciprocals. The +0 turns a term of -0 into +0. */
PGI_ALWAYS_INLINE void PGI_NAME(terms_of, ELEMENT)(REAL *restrict to, const STORED *from,
                                                   const REAL *divisor, int divisor_step,
                                                   bool multiply, int64_t count)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const VECTOR uniform = SET(divisor[0]), zero = SET(0);
    int64_t i = 0;

    while (i < count && count >= LANES) {
        const VECTOR value = LOAD_VECTOR(from + i);
        const VECTOR by = divisor_step ? PGI_VEC(get, REAL_NAME)(divisor + i) : uniform;
        const VECTOR term = multiply ? MUL(value, by) : PGI_VEC(div, REAL_NAME)(value, by);

        PGI_VEC(put, REAL_NAME)(to + i, PGI_VEC(add, REAL_NAME)(term, zero));
        i += LANES;
        if (i < count && i > count - LANES)
            i = count - LANES; /* the last vector where it still fits */
    }
    for (; i < count; i++)
        to[i] = (multiply ? LOAD(from[i]) * divisor[i * divisor_step]
                          : LOAD(from[i]) / divisor[i * divisor_step]) +
                0;
}

static void PGI_NAME(terms, ELEMENT)(void *terms, const void *dy, int64_t dy_step,
                                     const void *divisors, int64_t divisor_step, int64_t count)
{
    REAL *to = terms;
    const STORED *from = dy;
    const REAL *divisor = divisors;
    int64_t i;

    if (count == 0)
        return;
    if (dy_step == 1 && divisor_step == 0 && PGI_NAME(is_power, REAL_NAME)(divisor[0])) {
        /* the same bits: both round the same number once */
        const REAL reciprocal = 1 / divisor[0];

        PGI_NAME(terms_of, ELEMENT)(to, from, &reciprocal, 0, true, count);
    } else if (dy_step == 1 && divisor_step == 0) {
        PGI_NAME(terms_of, ELEMENT)(to, from, divisor, 0, false, count);
    } else if (dy_step == 1) {
        PGI_NAME(terms_of, ELEMENT)(to, from, divisor, 1, false, count);
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

/* Whether a row can be streamed from its beginning to its end. A store of the other kind to one of
 * its cache lines would cost more than streaming saves. */
static inline bool PGI_NAME(may_stream, ELEMENT)(const STORED *to, int64_t count)
{
    return (uintptr_t)to % (PGI_STREAM_ELEMENTS * sizeof *to) == 0 &&
           count % PGI_STREAM_ELEMENTS == 0 && count >= PGI_LANES(REAL_NAME);
}

/* Contiguous elements, from the `at`-th on. */
PGI_ALWAYS_INLINE void PGI_NAME(finish_of, ELEMENT)(STORED *restrict to, const pgi_rows *run,
                                                    int count, int64_t at, int64_t end, REAL alpha,
                                                    bool stream)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const VECTOR scale = SET(alpha);
    const void *rows[PGI_RUN_ROWS];
    const int64_t begin = at;
    const bool past = stream && PGI_NAME(may_stream, ELEMENT)(to + begin, end - begin);
    int i;

    for (i = 0; i < count; i++)
        rows[i] = run->row[i];
    if (past) {
        for (; at + LANES <= end; at += LANES)
            STREAM_VECTOR(to + at, MUL(RUN(rows, count, at), scale));
    } else {
        for (; at + LANES <= end; at += LANES)
            STORE_VECTOR(to + at, MUL(RUN(rows, count, at), scale));
    }
    if (at < end && end - begin >= LANES) { /* the last vector again, where it still fits */
        STORED last[LANES < 8 ? 8 : LANES]; /* with less lanes there is no rest in a stream */

        STORE_VECTOR(past ? last : to + end - LANES, MUL(RUN(rows, count, end - LANES), scale));
        for (; past && at < end; at += 8)
            vec_stream_eight(to + at, last + (at - (end - LANES)), sizeof *to);
        return;
    }
    for (; at < end; at++)
        to[at] = STORE(alpha * RUN_AT(rows, count, at));
}

static void PGI_NAME(finish_row, ELEMENT)(STORED *to, const pgi_rows *run, int64_t at, int64_t end,
                                          REAL alpha, bool stream)
{
    switch (run->count) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(finish_of, ELEMENT)(to, run, n, at, end, alpha, stream);                          \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
    }
}

/* Two vectors of two runs that take turns, one lane, from place `at` of each on. */
PGI_ALWAYS_INLINE void PGI_NAME(pair_at, ELEMENT)(const pgi_rows *run, int even, int odd,
                                                  int64_t at, REAL alpha, VECTOR *low, VECTOR *high)
{
    const VECTOR scale = SET(alpha);

    PGI_VEC(zip, REAL_NAME)
    (MUL(RUN(run[0].row, even, at), scale), MUL(RUN(run[1].row, odd, at), scale), low, high);
}

/* Two runs that take turns, one lane. */
PGI_ALWAYS_INLINE void PGI_NAME(finish_pair_of, ELEMENT)(STORED *restrict to, const pgi_rows *run,
                                                         int even, int odd, int64_t places,
                                                         REAL alpha, bool stream)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const bool past = stream && places >= 2 * LANES && PGI_NAME(may_stream, ELEMENT)(to, places);
    STORED last[LANES < 8 ? 16 : 2 * LANES];
    int64_t at = 0;

    for (; 2 * (at + LANES) <= places; at += LANES) {
        VECTOR low, high;

        PGI_NAME(pair_at, ELEMENT)(run, even, odd, at, alpha, &low, &high);
        if (past) {
            STREAM_VECTOR(to + 2 * at, low);
            STREAM_VECTOR(to + 2 * at + LANES, high);
        } else {
            STORE_VECTOR(to + 2 * at, low);
            STORE_VECTOR(to + 2 * at + LANES, high);
        }
    }
    at *= 2;
    if (at < places && places >= 2 * LANES && places % 2 == 0) { /* the last vectors again */
        STORED *end = past ? last : to + places - 2 * LANES;
        VECTOR low, high;

        PGI_NAME(pair_at, ELEMENT)(run, even, odd, places / 2 - LANES, alpha, &low, &high);
        STORE_VECTOR(end, low);
        STORE_VECTOR(end + LANES, high);
        for (; past && at < places; at += 8)
            vec_stream_eight(to + at, last + (at - (places - 2 * LANES)), sizeof *to);
        return;
    }
    for (; at < places; at++)
        to[at] = STORE(alpha * RUN_AT(run[at % 2].row, run[at % 2].count, at / 2));
}

/* The runs of two phases differ by one in length at most. */
static void PGI_NAME(finish_pair, ELEMENT)(STORED *to, const pgi_rows *run, int64_t places,
                                           REAL alpha, bool stream)
{
    int64_t i;

    switch (run[0].count * PGI_RUN_ROWS + run[1].count) {
#define PGI_PAIR(even, odd)                                                                        \
    case (even)*PGI_RUN_ROWS + (odd):                                                              \
        PGI_NAME(finish_pair_of, ELEMENT)(to, run, even, odd, places, alpha, stream);              \
        break;
        PGI_PAIR(1, 1)
        PGI_PAIR(1, 2)
        PGI_PAIR(2, 1)
        PGI_PAIR(2, 2)
        PGI_PAIR(2, 3)
        PGI_PAIR(3, 2)
        PGI_PAIR(3, 3)
        PGI_PAIR(3, 4)
        PGI_PAIR(4, 3)
        PGI_PAIR(4, 4)
#undef PGI_PAIR
    default:
        for (i = 0; i < places; i++)
            to[i] = STORE(alpha * RUN_AT(run[i % 2].row, run[i % 2].count, i / 2));
    }
}

static void PGI_NAME(finish, ELEMENT)(void *to, const pgi_rows *run, int phases, int64_t lanes,
                                      int64_t places, double alpha, bool stream)
{
    STORED *stored = to;
    const REAL scale = (REAL)alpha;
    int64_t i;

    if (phases == 1) {
        PGI_NAME(finish_row, ELEMENT)(stored, run, 0, places * lanes, scale, stream);
    } else if (phases == 2 && lanes == 1) {
        PGI_NAME(finish_pair, ELEMENT)(stored, run, places, scale, stream);
    } else {
        for (i = 0; i < places; i++) {
            const int64_t from = i / phases * lanes;

            PGI_NAME(finish_row, ELEMENT)
            (stored + i * lanes - from, &run[i % phases], from, from + lanes, scale, stream);
        }
    }
}

static void PGI_NAME(repeat, ELEMENT)(void *to, const void *reals, int64_t times, int64_t count,
                                      double alpha)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    STORED *stored = to;
    const REAL *real = reals;
    int64_t i, t;

    for (i = 0; i < count; i++, stored += times) {
        const REAL value = (REAL)alpha * real[i];
        const VECTOR all = SET(value);
        const STORED one = STORE(value);

        for (t = 0; t + LANES <= times; t += LANES)
            STORE_VECTOR(stored + t, all);
        if (t < times && times >= LANES)
            STORE_VECTOR(stored + times - LANES, all);
        for (; times < LANES && t < times; t++)
            stored[t] = one;
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

#if PACKS
static void PGI_NAME(pack, ELEMENT)(void *packed, const void *x, int64_t x_step, int64_t place,
                                    int64_t place_step, poolgrad_nan nan, int64_t count)
{
    const bool wins = nan == POOLGRAD_NAN_FIRST || nan == POOLGRAD_NAN_LAST;
    const int32_t key = wins ? INT32_MAX : INT32_MIN + 1;
    const uint32_t inverted = nan == POOLGRAD_NAN_LAST ? 0 : UINT32_MAX;
    int64_t *restrict to = packed;
    const STORED *restrict from = x;
    int64_t i;

    for (i = 0; i < count; i++) {
        const REAL value = LOAD(from[i * x_step]);
        const uint32_t at = (uint32_t)place + (uint32_t)i * (uint32_t)place_step;
        const uint32_t high = (uint32_t)(value != value ? key : PGI_NAME(ordered, f32)(value));

        to[i] = (int64_t)((uint64_t)high << 32 | (at ^ (value != value ? inverted : UINT32_MAX)));
    }
}
#endif

#undef VECTOR
#undef LOAD_VECTOR
#undef STORE_VECTOR
#undef STREAM_VECTOR
#undef SET
#undef MUL
#undef RUN
#undef RUN_AT
#undef ELEMENT
#undef STORED
#undef LOAD
#undef STORE
