/* SPDX-License-Identifier: MIT */
/* Kernel bodies of averages for one element type; types.h has the parameters. Signatures and
 * meaning: plan/backend.h. */

#define VECTOR               PGI_VECTOR(REAL_NAME)
#define LOAD_VECTOR(from)    PGI_VEC(load, ELEMENT)(from)
#define STORE_VECTOR(to, v)  PGI_VEC(store, ELEMENT)(to, v)
#define STREAM_VECTOR(to, v) PGI_VEC(stream, ELEMENT)(to, v)
#define SET(value)           PGI_VEC(set, REAL_NAME)(value)
#define MUL(a, b)            PGI_VEC(mul, REAL_NAME)(a, b)
#define RUN(rows, count, at) PGI_NAME(run, REAL_NAME)(rows, count, at)
#define GET(from)            PGI_VEC(get, REAL_NAME)(from)
#define PUT(to, v)           PGI_VEC(put, REAL_NAME)(to, v)
#define ADD(a, b)            PGI_VEC(add, REAL_NAME)(a, b)
#define DIV(a, b)            PGI_VEC(div, REAL_NAME)(a, b)
#define FETCH(memory)        PGI_NAME(fetch, ahead)(memory)
#define LANES                ((int64_t)PGI_LANES(REAL_NAME))

/* Whether a row can be streamed from its beginning to its end. A store of the other kind to one of
 * its cache lines would cost more than streaming saves. */
static inline bool PGI_NAME(may_stream, ELEMENT)(const STORED *to, int64_t count)
{
    return (uintptr_t)to % (PGI_STREAM_ELEMENTS * sizeof *to) == 0 &&
           count % PGI_STREAM_ELEMENTS == 0 && count >= PGI_LANES(REAL_NAME);
}

static void PGI_NAME(repeat, ELEMENT)(void *to, const void *reals, int64_t times, int64_t count,
                                      double alpha)
{
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

#include "cpu/tmpl/store.h"

#include "cpu/tmpl/terms.h"

#include "cpu/tmpl/finish.h"

#include "cpu/tmpl/divide.h"

#include "cpu/tmpl/pile.h"

#include "cpu/tmpl/direct.h"

#include "cpu/tmpl/spread.h"

#include "cpu/tmpl/threes.h"

#include "cpu/tmpl/ribbon.h"

#include "cpu/tmpl/halves.h"

#undef VECTOR
#undef LOAD_VECTOR
#undef STORE_VECTOR
#undef STREAM_VECTOR
#undef SET
#undef MUL
#undef RUN
#undef GET
#undef PUT
#undef ADD
#undef DIV
#undef FETCH
#undef LANES
#undef BY
