/* SPDX-License-Identifier: MIT */
/*
 * Sums to elements in memory, along the last axis, for one element type; included by element.h,
 * whose parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* A vector, or as many elements of it as remain. With `past` it goes past the caches. */
PGI_ALWAYS_INLINE void PGI_NAME(store_part, ELEMENT)(STORED *to, VECTOR value, int64_t remain,
                                                     bool past)
{
    if (remain >= LANES && past) {
        STREAM_VECTOR(to, value);
    } else if (remain >= LANES) {
        STORE_VECTOR(to, value);
    } else if (past) {
        STORED some[PGI_LANES(REAL_NAME) < 8 ? 8 : PGI_LANES(REAL_NAME)] = {0};
        int64_t i;

        STORE_VECTOR(some, value);
        for (i = 0; i < remain; i += 8)
            vec_stream_eight(to + i, some + i, sizeof *to);
    } else {
        PGI_VEC(store_some, ELEMENT)(to, value, remain);
    }
}

/* A long row that begins or ends within a cache line can still be streamed between: how many
 * elements come before its first whole line. -1 if that is not worth it. */
static inline int64_t PGI_NAME(head, ELEMENT)(const STORED *to, int64_t count)
{
    if (count * (int64_t)sizeof *to < 2048)
        return -1;
    return (int64_t)(((uintptr_t)0 - (uintptr_t)to) % 64 / sizeof *to);
}

/* What is stored of a sum: it, or its quotient, times alpha. `how` is a constant where this is
 * inlined. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(result, ELEMENT)(VECTOR sum, BY by, pgi_division how,
                                                   VECTOR scale, vec_least *least)
{
    if (how != PGI_KEEP) /* behind the +0 that what was added may lack */
        sum = PGI_NAME(divided, ELEMENT)(ADD(sum, SET(0)), by, how, SET(-(REAL)0), least);
    return MUL(sum, scale);
}

/* The first `count` lanes of a sum: what lies behind a row may be anything, and must not cast doubt
 * on a quotient. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(cut, ELEMENT)(VECTOR sum, int64_t count, pgi_division how)
{
    REAL lanes[PGI_LANES(REAL_NAME)];

    if (how == PGI_KEEP)
        return sum;
    PUT(lanes, sum);
    return PGI_VEC(load_some, REAL_NAME)(lanes, count);
}

/* One divisor for all, if there is one. */
PGI_ALWAYS_INLINE BY PGI_NAME(by_or_none, ELEMENT)(const pgi_divisors *by, pgi_division how)
{
    return how == PGI_KEEP ? (BY){SET(0), SET(0), SET(0)} : PGI_NAME(by_one, ELEMENT)(by, 0);
}

/* The sum of two or three sums of PGI_RUN_ROWS neighbours. */
#define HEADS(from, count)                                                                         \
    ((count) == 2                                                                                  \
         ? ADD(GET(from), GET((from) + PGI_RUN_ROWS))                                              \
         : ADD(ADD(GET(from), GET((from) + PGI_RUN_ROWS)), GET((from) + 2 * PGI_RUN_ROWS)))

/* Rows of one turn and one lane, without gaps in a run. */
PGI_ALWAYS_INLINE bool PGI_NAME(finish_neighbours,
                                ELEMENT)(STORED *to, int64_t pitch, const void *const *from,
                                         int64_t rows, const pgi_last_axis *last, int count,
                                         bool behind, const pgi_divisors *by, pgi_division how,
                                         REAL alpha, bool stream, pgi_ahead ahead)
{
    const BY one = PGI_NAME(by_or_none, ELEMENT)(by, how);
    const VECTOR scale = SET(alpha);
    vec_least least = vec_least_none();
    const int64_t places = last->places;
    const REAL *heads = last->heads;
    int64_t row, at;

    for (row = 0; row < rows; row++, to += pitch) {
        const REAL *first = (const REAL *)from[row] + last->first[0];
        const bool whole = stream && PGI_NAME(may_stream, ELEMENT)(to, places);
        const int64_t head = stream && !whole ? PGI_NAME(head, ELEMENT)(to, places) : -1;
        const bool past = whole || head >= 0;
        PGI_NAME(near, REAL_NAME) near;

        PGI_NAME(look, REAL_NAME)(&near, first, count);
#define SUM                                                                                        \
    PGI_NAME(neighbours, REAL_NAME)                                                                \
    (&near, first + at, count, behind, behind ? HEADS(heads + at, last->head_count) : scale)
#define RESULT(sum) PGI_NAME(result, ELEMENT)(sum, one, how, scale, &least)
        at = 0;
        if (head > 0) {
            for (; at < head; at += LANES)
                PGI_NAME(store_part, ELEMENT)(to + at, RESULT(SUM), head - at, false);
            at = head;
            PGI_NAME(look, REAL_NAME)(&near, first + at, count);
        }
        for (; at + LANES <= places; at += LANES) {
            const VECTOR sum = RESULT(SUM);

            if (past)
                STREAM_VECTOR(to + at, sum);
            else
                STORE_VECTOR(to + at, sum);
            FETCH(&ahead);
        }
        if (at < places)
            PGI_NAME(store_part, ELEMENT)
        (to + at, RESULT(PGI_NAME(cut, ELEMENT)(SUM, places - at, how)), places - at, whole);
#undef SUM
#undef RESULT
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

/* Every run has functions of its own: in one that holds them all gcc keeps in memory what the loops
 * need in registers (9x9x9 forward, NCX f32, Zen 5: 2.7 to 2.0 ms). */
#define NEIGHBOURS(name, n, division)                                                              \
    static PGI_NOINLINE bool PGI_NAME(name##_##n, ELEMENT)(                                        \
        STORED * to, int64_t pitch, const void *const *from, int64_t rows,                         \
        const pgi_last_axis *last, const pgi_divisors *by, REAL alpha, bool stream,                \
        pgi_ahead ahead)                                                                           \
    {                                                                                              \
        return PGI_NAME(finish_neighbours, ELEMENT)(to, pitch, from, rows, last, n, false, by,     \
                                                    division, alpha, stream, ahead);               \
    }
#define PGI_COUNT(n)                                                                               \
    NEIGHBOURS(kept, n, PGI_KEEP)                                                                  \
    NEIGHBOURS(divided, n, PGI_QUOTIENT)
#include "cpu/tmpl/counts.def"
#include "cpu/tmpl/long_counts.def"
#undef PGI_COUNT
#undef NEIGHBOURS

/* Rows of two turns and one lane: vectors of both, zipped. */
PGI_ALWAYS_INLINE void PGI_NAME(finish_two, ELEMENT)(STORED *to, int64_t pitch,
                                                     const void *const *from, int64_t rows,
                                                     const pgi_last_axis *last, int even, int odd,
                                                     REAL alpha, bool stream, pgi_ahead ahead)
{
    const int64_t places = last->places;
    const VECTOR scale = SET(alpha);
    int64_t row, at;
    int i;

    for (row = 0; row < rows; row++, to += pitch) {
        const void *evens[4] = {NULL}, *odds[4] = {NULL};
        const bool past = stream && PGI_NAME(may_stream, ELEMENT)(to, places);
        VECTOR low, high;

        for (i = 0; i < even; i++)
            evens[i] = (const REAL *)from[row] + last->first[0] + i * last->step;
        for (i = 0; i < odd; i++)
            odds[i] = (const REAL *)from[row] + last->first[1] + i * last->step;
#define ZIP(at)                                                                                    \
    PGI_VEC(zip, REAL_NAME)                                                                        \
    (MUL(RUN(evens, even, (at) / 2), scale), MUL(RUN(odds, odd, (at) / 2), scale), &low, &high)
        for (at = 0; at + 2 * LANES <= places; at += 2 * LANES) {
            ZIP(at);
            if (past) {
                STREAM_VECTOR(to + at, low);
                STREAM_VECTOR(to + at + LANES, high);
            } else {
                STORE_VECTOR(to + at, low);
                STORE_VECTOR(to + at + LANES, high);
            }
            FETCH(&ahead);
        }
        if (at == places)
            continue;
        ZIP(at);
        PGI_NAME(store_part, ELEMENT)(to + at, low, places - at, past);
        if (places - at > LANES)
            PGI_NAME(store_part, ELEMENT)(to + at + LANES, high, places - at - LANES, past);
#undef ZIP
    }
}

/* Rows of one turn and one lane that take every other place. */
PGI_ALWAYS_INLINE void PGI_NAME(finish_every_other,
                                ELEMENT)(STORED *to, int64_t pitch, const void *const *from,
                                         int64_t rows, const pgi_last_axis *last, int count,
                                         REAL alpha, bool stream, pgi_ahead ahead)
{
    const VECTOR scale = SET(alpha);
    int64_t row, at;

    for (row = 0; row < rows; row++, to += pitch) {
        const REAL *first = (const REAL *)from[row] + last->first[0];
        const bool past = stream && PGI_NAME(may_stream, ELEMENT)(to, last->places);
        PGI_NAME(near, REAL_NAME) near;

        PGI_NAME(look, REAL_NAME)(&near, first, count);
        for (at = 0; at < last->places; at += LANES) {
            const VECTOR low =
                PGI_NAME(neighbours, REAL_NAME)(&near, first + 2 * at, count, false, scale);
            const VECTOR high =
                PGI_NAME(neighbours, REAL_NAME)(&near, first + 2 * at + LANES, count, false, scale);
            const VECTOR even = PGI_VEC(even, REAL_NAME)(low, high);

            PGI_NAME(store_part, ELEMENT)(to + at, MUL(even, scale), last->places - at, past);
            /* at least twice as much is read in either direction as is stored */
            FETCH(&ahead);
            FETCH(&ahead);
            FETCH(&ahead);
            FETCH(&ahead);
        }
    }
}

/* Anything else: every run has its own loop over a span, which is called for each. */
typedef bool PGI_NAME(span_fn, ELEMENT)(STORED *to, const REAL *from, int64_t step,
                                        int64_t elements, const pgi_divisors *by, REAL alpha,
                                        bool past, pgi_ahead *ahead);

/* Whether two vectors are stored at once: elements of 16 bits of vectors that are half a cache line
 * or less are rounded and packed together. */
#define IN_PAIRS (sizeof(STORED) < sizeof(REAL) && LANES * sizeof(REAL) < PGI_LINE_BYTES)

/* `elements` side by side, sums of what lies `step` apart. */
PGI_ALWAYS_INLINE bool PGI_NAME(finish_span, ELEMENT)(STORED *restrict to, const REAL *from,
                                                      int count, int64_t step, int64_t elements,
                                                      const pgi_divisors *by, pgi_division how,
                                                      REAL alpha, bool past, pgi_ahead *ahead)
{
    const BY one = PGI_NAME(by_or_none, ELEMENT)(by, how);
    const VECTOR scale = SET(alpha);
    vec_least least = vec_least_none();
    const void *rows[PGI_RUN_ROWS];
    bool whole = true;
    int64_t at;
    int i;

    for (i = 0; i < count; i++)
        rows[i] = from + i * step;
#define RESULT(sum) PGI_NAME(result, ELEMENT)(sum, one, how, scale, &least)
    at = 0;
    if (past && !PGI_NAME(may_stream, ELEMENT)(to, elements)) { /* up to the first whole line */
        const int64_t head = PGI_NAME(head, ELEMENT)(to, elements);

        for (; at < head; at += LANES)
            PGI_NAME(store_part, ELEMENT)(to + at, RESULT(RUN(rows, count, at)), head - at, false);
        past = head >= 0;
        at = past ? head : 0;
        whole = false;
    }
    for (; IN_PAIRS && at + 2 * LANES <= elements; at += 2 * LANES) {
        PGI_VEC(store_two, ELEMENT)
        (to + at, RESULT(RUN(rows, count, at)), RESULT(RUN(rows, count, at + LANES)), past);
        FETCH(ahead);
    }
    for (; at + LANES <= elements; at += LANES) {
        const VECTOR result = RESULT(RUN(rows, count, at));

        if (past)
            STREAM_VECTOR(to + at, result);
        else
            STORE_VECTOR(to + at, result);
        FETCH(ahead);
    }
    if (at < elements)
        PGI_NAME(store_part, ELEMENT)
    (to + at, RESULT(PGI_NAME(cut, ELEMENT)(RUN(rows, count, at), elements - at, how)),
     elements - at, past && whole);
#undef RESULT
    return !PGI_VEC(below, REAL_NAME)(least);
}

#define SPAN(name, n, how)                                                                         \
    static bool PGI_NAME(name, ELEMENT)(STORED * to, const REAL *from, int64_t step,               \
                                        int64_t elements, const pgi_divisors *by, REAL alpha,      \
                                        bool past, pgi_ahead *ahead)                               \
    {                                                                                              \
        return PGI_NAME(finish_span, ELEMENT)(to, from, n, step, elements, by, how, alpha, past,   \
                                              ahead);                                              \
    }
#define PGI_COUNT(n)                                                                               \
    SPAN(span_##n, n, PGI_KEEP)                                                                    \
    SPAN(quotients_##n, n, PGI_QUOTIENT)
PGI_COUNT(0)
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
#undef SPAN

/* For every count, without and with a divisor. */
static PGI_NAME(span_fn, ELEMENT) *const PGI_NAME(spans, ELEMENT)[PGI_RUN_ROWS + 1][2] = {
#define PGI_COUNT(n) [n] = {PGI_NAME(span_##n, ELEMENT), PGI_NAME(quotients_##n, ELEMENT)},
    PGI_COUNT(0)
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
};

static bool PGI_NAME(finish_spans, ELEMENT)(STORED *to, int64_t pitch, const void *const *from,
                                            int64_t rows, const pgi_last_axis *last,
                                            const pgi_divisors *by, REAL alpha, bool stream,
                                            pgi_ahead ahead)
{
    const bool whole = last->turns == 1 && last->advance == 1; /* a row is one span */
    const int64_t spans = whole ? 1 : last->places;
    const int64_t elements = whole ? last->places * last->lanes : last->lanes;
    bool good = true;
    int64_t row, i;
    int t;

    for (row = 0; row < rows; row++, to += pitch) {
        for (t = 0; t < last->turns; t++) {
            PGI_NAME(span_fn, ELEMENT) *span = PGI_NAME(spans, ELEMENT)[last->count[t]][by != NULL];
            const REAL *first = (const REAL *)from[row] + last->first[t];

            for (i = t; i < spans; i += last->turns, first += last->advance * last->lanes)
                good &=
                    span(to + i * elements, first, last->step, elements, by, alpha, stream, &ahead);
        }
    }
    return good;
}

static bool PGI_NAME(finish, ELEMENT)(void *to, int64_t pitch, const void *const *from,
                                      int64_t rows, const pgi_last_axis *last,
                                      const pgi_divisors *by, double alpha, bool stream,
                                      pgi_ahead ahead)
{
    const REAL scale = (REAL)alpha;

    if (last->heads) { /* only neighbours have them */
        switch (last->count[0]) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(finish_neighbours, ELEMENT)                                                       \
        (to, pitch, from, rows, last, n, true, by, PGI_KEEP, scale, stream, ahead);                \
        break;
            PGI_COUNT(0)
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
        }
    } else if (last->lanes == 1 && last->step == 1 && last->turns == 1 && last->count[0] > 1) {
        switch ((by ? 96 : 32 * last->advance) + last->count[0]) { /* advance is 1 or 2 */
#define PGI_COUNT(n)                                                                               \
    case 32 + (n):                                                                                 \
        return PGI_NAME(kept_##n, ELEMENT)(to, pitch, from, rows, last, by, scale, stream, ahead); \
    case 96 + (n):                                                                                 \
        return PGI_NAME(divided_##n, ELEMENT)(to, pitch, from, rows, last, by, scale, stream,      \
                                              ahead);
#include "cpu/tmpl/counts.def"
#include "cpu/tmpl/long_counts.def"
#undef PGI_COUNT
#define EVERY_OTHER(n)                                                                             \
    case 64 + (n):                                                                                 \
        PGI_NAME(finish_every_other, ELEMENT)                                                      \
        (to, pitch, from, rows, last, n, scale, stream, ahead);                                    \
        break;
            EVERY_OTHER(2)
            EVERY_OTHER(3)
            EVERY_OTHER(4)
            EVERY_OTHER(5)
            EVERY_OTHER(6)
            EVERY_OTHER(7)
            EVERY_OTHER(8)
#undef EVERY_OTHER
        }
    } else if (last->lanes == 1 && last->turns == 2) {
        switch (last->count[0] * 8 + last->count[1]) {
#define PAIR(even, odd)                                                                            \
    case (even)*8 + (odd):                                                                         \
        PGI_NAME(finish_two, ELEMENT)                                                              \
        (to, pitch, from, rows, last, even, odd, scale, stream, ahead);                            \
        break;
            PAIR(0, 0)
            PAIR(0, 1)
            PAIR(1, 0)
            PAIR(1, 1)
            PAIR(1, 2)
            PAIR(2, 1)
            PAIR(2, 2)
            PAIR(2, 3)
            PAIR(3, 2)
            PAIR(3, 3)
            PAIR(3, 4)
            PAIR(4, 3)
            PAIR(4, 4)
#undef PAIR
        }
    } else {
        return PGI_NAME(finish_spans, ELEMENT)(to, pitch, from, rows, last, by, scale, stream,
                                               ahead);
    }
    return true;
}

/* Rows of picked terms. Up to seven of them are added as the longest run is; what is not there is
 * 0, and changes nothing. */
PGI_ALWAYS_INLINE void PGI_NAME(finish_picked, ELEMENT)(STORED *to, int64_t pitch,
                                                        const void *const *from, int64_t rows,
                                                        const pgi_picks *picks, int terms,
                                                        pgi_picks_reach reach, REAL alpha,
                                                        bool stream, pgi_ahead ahead)
{
    const VECTOR scale = SET(alpha);
    /* windows far apart read much more than they store */
    const int64_t lines = (ahead.end - ahead.at) / 64 / (rows * picks->vectors) + 1;
    int64_t row, v, i;

    for (row = 0; row < rows; row++, to += pitch) {
        const REAL *reals = from[row];
        const bool past = stream && PGI_NAME(may_stream, ELEMENT)(to, picks->elements);

        for (v = 0; v < picks->vectors; v++) {
#define PICK(term) PGI_NAME(pick, REAL_NAME)(reals, picks, reach, (term)*picks->vectors + v)
            VECTOR sum = PICK(0);

            if (terms > 1)
                sum = ADD(sum, PICK(1));
            if (terms == 3)
                sum = ADD(sum, PICK(2));
            if (terms > 3)
                sum = ADD(sum, ADD(PICK(2), PICK(3)));
            if (terms == 5)
                sum = ADD(sum, PICK(4));
            if (terms > 5)
                sum = ADD(sum, ADD(PICK(4), PICK(5)));
            if (terms > 6)
                sum = ADD(sum, PICK(6));
#undef PICK
            PGI_NAME(store_part, ELEMENT)
            (to + v * LANES, MUL(sum, scale), picks->elements - v * LANES, past);
            for (i = 0; i < lines; i++)
                FETCH(&ahead);
        }
    }
}

static void PGI_NAME(finish_picks, ELEMENT)(void *to, int64_t pitch, const void *const *from,
                                            int64_t rows, const pgi_picks *picks, double alpha,
                                            bool stream, pgi_ahead ahead)
{
    switch (8 * (int)picks->reach + picks->terms) {
#define TERMS(reach, n)                                                                            \
    case 8 * (int)(reach) + (n):                                                                   \
        PGI_NAME(finish_picked, ELEMENT)                                                           \
        (to, pitch, from, rows, picks, n, reach, (REAL)alpha, stream, ahead);                      \
        break;
#define ALL_TERMS(reach)                                                                           \
    TERMS(reach, 1)                                                                                \
    TERMS(reach, 2)                                                                                \
    TERMS(reach, 3)                                                                                \
    TERMS(reach, 4)                                                                                \
    TERMS(reach, 5)                                                                                \
    TERMS(reach, 6)                                                                                \
    TERMS(reach, 7)
        TERMS(PGI_NEAR, 1)
        TERMS(PGI_NEAR, 2)
        TERMS(PGI_NEAR, 3)
        TERMS(PGI_NEAR, 4)
        ALL_TERMS(PGI_WIDE)
        ALL_TERMS(PGI_FAR)
#undef TERMS
#undef ALL_TERMS
    }
}

#undef HEADS
#undef IN_PAIRS
