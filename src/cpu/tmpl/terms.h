/* SPDX-License-Identifier: MIT */
/*
 * Elements in memory to terms, for one element type; included by element.h, whose parameters and
 * words it uses. Signatures and meaning: plan/backend.h.
 */

/* `how` is a constant where this is inlined. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(divided, ELEMENT)(VECTOR value, VECTOR divisor, VECTOR reciprocal,
                                                    pgi_division how, vec_doubt *doubt)
{
    switch (how) {
    case PGI_MULTIPLY:
        return MUL(value, reciprocal);
    case PGI_QUOTIENT:
        return PGI_VEC(quotient, REAL_NAME)(value, divisor, reciprocal, doubt);
    case PGI_DIVIDE:
        return DIV(value, divisor);
    case PGI_KEEP:
    default:
        return value;
    }
}

/* One row, side by side; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(terms_row, ELEMENT)(REAL *restrict to, const STORED *from,
                                                    int64_t count, const REAL *divisor,
                                                    const REAL *reciprocal, int step,
                                                    pgi_division how, bool room)
{
    const VECTOR zero = SET(0), one_divisor = SET(how == PGI_KEEP ? 1 : divisor[0]);
    const VECTOR one_reciprocal = SET(how == PGI_KEEP ? 1 : reciprocal[0]);
    vec_doubt doubt = vec_no_doubt();
    int64_t i;

#define BY      step ? GET(divisor + i) : one_divisor
#define INVERSE step ? GET(reciprocal + i) : one_reciprocal
    for (i = 0; i + LANES <= count; i += LANES) {
        const VECTOR value = LOAD_VECTOR(from + i);

        PUT(to + i, ADD(PGI_NAME(divided, ELEMENT)(value, BY, INVERSE, how, &doubt), zero));
    }
    if (i < count) {
        const VECTOR value = PGI_VEC(load_some, ELEMENT)(from + i, count - i);
        const VECTOR term = ADD(PGI_NAME(divided, ELEMENT)(value, BY, INVERSE, how, &doubt), zero);

        if (room) /* the rest are zeros */
            PUT(to + i, term);
        else
            PGI_VEC(store_some, REAL_NAME)(to + i, term, count - i);
    }
#undef BY
#undef INVERSE
    return !vec_in_doubt(doubt);
}

/* Some rows by one way to divide. */
PGI_ALWAYS_INLINE void PGI_NAME(terms_by, ELEMENT)(REAL *to, int64_t to_pitch, const STORED *from,
                                                   int64_t from_pitch, int64_t rows, int64_t count,
                                                   const pgi_divisors *by, int step,
                                                   pgi_division how, bool room)
{
    const REAL *divisor = by->divisor, *reciprocal = by->reciprocal;
    int64_t row;

    for (row = 0; row < rows; row++, to += to_pitch, from += from_pitch)
        if (!PGI_NAME(terms_row, ELEMENT)(to, from, count, divisor, reciprocal, step, how, room))
            PGI_NAME(terms_row, ELEMENT)
    (to, from, count, divisor, reciprocal, step, PGI_DIVIDE, room);
}

static void PGI_NAME(terms_dense, ELEMENT)(REAL *to, int64_t to_pitch, const STORED *from,
                                           int64_t from_pitch, int64_t rows, int64_t count,
                                           const pgi_divisors *by, bool room)
{
#define BY(step, how)                                                                              \
    PGI_NAME(terms_by, ELEMENT)(to, to_pitch, from, from_pitch, rows, count, by, step, how, room)
    switch (by->how) {
    case PGI_KEEP:
        BY(0, PGI_KEEP);
        break;
    case PGI_MULTIPLY:
        BY(0, PGI_MULTIPLY);
        break;
    case PGI_QUOTIENT:
        if (by->step)
            BY(1, PGI_QUOTIENT);
        else
            BY(0, PGI_QUOTIENT);
        break;
    case PGI_DIVIDE:
        if (by->step)
            BY(1, PGI_DIVIDE);
        else
            BY(0, PGI_DIVIDE);
        break;
    }
#undef BY
}

static void PGI_NAME(terms, ELEMENT)(void *to, int64_t to_pitch, const void *from,
                                     int64_t from_pitch, int64_t step, int64_t rows, int64_t count,
                                     const pgi_divisors *by, bool room)
{
    enum {
        CHUNK = 256
    };
    const STORED *stored = from;
    REAL *term = to, wide[CHUNK];
    int64_t row, at, i;

    if (step == 1) {
        if (to_pitch == count && from_pitch == count && by->step == 0) {
            count *= rows; /* one behind the other: one long row */
            rows = 1;
        }
        PGI_NAME(terms_dense, ELEMENT)(term, to_pitch, stored, from_pitch, rows, count, by, room);
        return;
    }
    for (row = 0; row < rows; row++, term += to_pitch, stored += from_pitch) {
        for (at = 0; at < count; at += CHUNK) {
            const int64_t part = count - at < CHUNK ? count - at : CHUNK;
            pgi_divisors here = *by;

            if (by->step) {
                here.divisor = (const REAL *)by->divisor + at;
                here.reciprocal = (const REAL *)by->reciprocal + at;
            }
            i = 0;
            if (step == 2) /* the last one has no other behind it */
                for (; i + LANES <= part && at + i + LANES < count; i += LANES)
                    PUT(wide + i,
                        PGI_VEC(even, REAL_NAME)(LOAD_VECTOR(stored + (at + i) * 2),
                                                 LOAD_VECTOR(stored + (at + i) * 2 + LANES)));
            for (; i < part; i++)
                wide[i] = LOAD(stored[(at + i) * step]);
            PGI_NAME(terms_dense, REAL_NAME)(term + at, 0, wide, 0, 1, part, &here, false);
        }
    }
}
