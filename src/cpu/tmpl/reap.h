/* SPDX-License-Identifier: MIT */
/*
 * Sums to elements, for one element type. Included by entry.h, whose parameters and words it uses.
 * Signature and meaning: plan/maxima.h.
 */

/* Elements from one on, one by one. */
static void PGI_NAME(reap_some, ELEMENT)(STORED *to, REAL *sums, int64_t count, REAL alpha)
{
    int64_t i;

    for (i = 0; i < count; i++) {
        to[i] = STORE(alpha * sums[i]);
        sums[i] = 0;
    }
}

/* Two vectors at a time, as many as there are; how far that went. `past` is a constant where this
 * is inlined. */
PGI_ALWAYS_INLINE int64_t PGI_NAME(reap_pairs, ELEMENT)(STORED *to, REAL *sums, int64_t count,
                                                        REAL alpha, bool past)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const VECTOR scale = WORD(set)(alpha), zero = WORD(set)(0);
    int64_t i;

    for (i = 0; i + 2 * LANES <= count; i += 2 * LANES) {
        const VECTOR a = WORD(get)(sums + i), b = WORD(get)(sums + i + LANES);

        WORD(put)(sums + i, zero);
        WORD(put)(sums + i + LANES, zero);
        PGI_VEC(store_two, ELEMENT)(to + i, WORD(mul)(a, scale), WORD(mul)(b, scale), past);
    }
    return i;
}

static void PGI_NAME(reap, ELEMENT)(void *to, void *sums, int64_t count, double alpha, bool stream)
{
    enum {
        LINE = PGI_LINE_BYTES / (int)sizeof(STORED),
        PAIR = 2 * PGI_LANES(REAL_NAME),
        WHOLE = LINE > PAIR ? LINE : PAIR /* one is a multiple of the other */
    };
    const REAL scale = (REAL)alpha;
    STORED *stored = to;
    REAL *real = sums;
    int64_t at = 0;

    if (stream && count >= 16 * WHOLE) { /* whole lines; other stores to them would wait */
        at = (int64_t)(((uintptr_t)0 - (uintptr_t)stored) % PGI_LINE_BYTES / sizeof *stored);
        PGI_NAME(reap_some, ELEMENT)(stored, real, at, scale);
        at += PGI_NAME(reap_pairs, ELEMENT)(stored + at, real + at, (count - at) / WHOLE * WHOLE,
                                            scale, true);
    } else {
        at = PGI_NAME(reap_pairs, ELEMENT)(stored, real, count, scale, false);
    }
    PGI_NAME(reap_some, ELEMENT)(stored + at, real + at, count - at, scale);
}
