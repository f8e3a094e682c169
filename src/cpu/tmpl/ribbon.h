/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 windows with stride 1 and padding 1, both ways, of planes that are taken as one
 * long row, for one element type; included by element.h, whose parameters and words it uses.
 * Signature and meaning: plan/backend.h.
 *
 * What is a row below lies `width` elements further, whatever the vector it is in: no row is a
 * call, or ends within a vector. Neighbours that belong to another row or plane are cut off by
 * bits.
 */

/* A vector of a ring is at the place of its first element, and reaches beyond the end: vectors from
 * one at `place` on, of `count` elements, until one begins behind the end; in elements. */
PGI_ALWAYS_INLINE int64_t PGI_NAME(ribbon_turn, ELEMENT)(int64_t place, int64_t ring, int64_t count,
                                                         int64_t step)
{
    return (PGI_SMALLER(count, ring - place) + step - 1) / step * step;
}

/* Divisors from a place on. */
PGI_ALWAYS_INLINE pgi_divisors PGI_NAME(ribbon_by, ELEMENT)(const pgi_divisors *by, int64_t place)
{
    return (pgi_divisors){(const REAL *)by->divisor + place, (const REAL *)by->high + place,
                          (const REAL *)by->low + place, 1, by->how};
}

/* Elements to terms, or widened; `place` is that of the first. */
PGI_ALWAYS_INLINE void PGI_NAME(ribbon_terms, ELEMENT)(REAL *to, const STORED *from, int64_t count,
                                                       const pgi_ribbon *shape, int64_t place,
                                                       pgi_division how, vec_least *least)
{
    const int64_t ahead = shape->ahead;
    vec_least smallest = *least;
    int64_t at, turn;

#define TERM(value)                                                                                \
    how == PGI_KEEP ? value                                                                        \
                    : PGI_NAME(divided, ELEMENT)(value, PGI_NAME(by_each, ELEMENT)(&by, at), how,  \
                                                 SET(0), &smallest)
    for (; count > 0; count -= turn, place += turn - shape->ring, to += turn, from += turn) {
        const pgi_divisors by = PGI_NAME(ribbon_by, ELEMENT)(&shape->by, place);

        turn = PGI_NAME(ribbon_turn, ELEMENT)(place, shape->ring, count, LANES);
        for (at = 0; at + LANES <= PGI_SMALLER(turn, count); at += LANES) {
            PUT(to + at, TERM(LOAD_VECTOR(from + at)));
            if (ahead)
                __builtin_prefetch(from + at + ahead, 0, 2);
        }
        if (at < count && at < turn)
            PUT(to + at, TERM(PGI_VEC(load_some, ELEMENT)(from + at, count - at)));
    }
#undef TERM
    *least = smallest;
}

/* A vector of sums of what lies below each other. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(ribbon_down, ELEMENT)(const REAL *from, int64_t width,
                                                        const REAL *above, const REAL *below)
{
    return ADD(ADD(PGI_VEC(keep, REAL_NAME)(GET(from - width), above), GET(from)),
               PGI_VEC(keep, REAL_NAME)(GET(from + width), below));
}

/* Sums of terms to the target. */
PGI_ALWAYS_INLINE void PGI_NAME(ribbon_sums, ELEMENT)(STORED *to, const REAL *from, int64_t count,
                                                      const pgi_ribbon *shape, int64_t place,
                                                      pgi_division how, bool past, vec_least *least)
{
    const VECTOR scale = SET((REAL)shape->alpha);
    const int64_t width = shape->width, ring = shape->ring;
    vec_least smallest = *least;
    int64_t at, turn;
    /* the vector before, of which only the last lane is asked for, this one, and two more */
    VECTOR down[4];

    for (; count > 0; count -= turn, place += turn - ring, to += turn, from += turn) {
        const pgi_divisors by = PGI_NAME(ribbon_by, ELEMENT)(&shape->by, place);
        const REAL *above = (const REAL *)shape->above + place;
        const REAL *below = (const REAL *)shape->below + place;
        const REAL *before = (const REAL *)shape->before + place;
        const REAL *behind = (const REAL *)shape->behind + place;
        int64_t v;

        turn = PGI_NAME(ribbon_turn, ELEMENT)(place, ring, count, 2 * LANES);
        down[0] = PGI_NAME(ribbon_down, ELEMENT)(from - LANES, width, above - LANES, below - LANES);
        down[1] = PGI_NAME(ribbon_down, ELEMENT)(from, width, above, below);
        for (at = 0; at < turn; at += 2 * LANES) {
            const int64_t rest = count - at;
            VECTOR result[2] = {SET(0), SET(0)};

            PGI_UNROLL
            for (v = 0; v < 2; v++) {
                const int64_t here = at + v * LANES, next = here + LANES;
                VECTOR sum;

                down[v + 2] =
                    PGI_NAME(ribbon_down, ELEMENT)(from + next, width, above + next, below + next);
                sum = ADD(PGI_VEC(keep, REAL_NAME)(
                              PGI_VEC(slide, REAL_NAME)(down[v], down[v + 1], (int)LANES - 1),
                              before + here),
                          down[v + 1]);
                sum = ADD(sum, PGI_VEC(keep, REAL_NAME)(
                                   PGI_VEC(slide, REAL_NAME)(down[v + 1], down[v + 2], 1),
                                   behind + here));
                if (rest < (v + 1) * LANES)
                    sum = PGI_NAME(cut, ELEMENT)(sum, PGI_LARGER(rest - v * LANES, 0), how);
                result[v] = PGI_NAME(result, ELEMENT)(sum,
                                                      how == PGI_KEEP
                                                          ? (BY){SET(0), SET(0), SET(0)}
                                                          : PGI_NAME(by_each, ELEMENT)(&by, here),
                                                      how, scale, &smallest);
            }
            down[0] = down[2];
            down[1] = down[3];
            if (rest >= 2 * LANES) {
                PGI_VEC(store_two, ELEMENT)(to + at, result[0], result[1], past);
                continue;
            }
            PGI_NAME(store_part, ELEMENT)(to + at, result[0], rest, false);
            if (rest > LANES)
                PGI_NAME(store_part, ELEMENT)(to + at + LANES, result[1], rest - LANES, false);
        }
    }
    *least = smallest;
}

PGI_ALWAYS_INLINE bool PGI_NAME(ribbon_of, ELEMENT)(STORED *to, const STORED *from,
                                                    const pgi_ribbon *shape, pgi_division terms,
                                                    pgi_division sums)
{
    const int64_t begin = shape->begin, end = shape->end, reach = shape->reach;
    const int64_t first = PGI_LARGER(begin - reach, 0);
    const int64_t behind = PGI_SMALLER(end + reach, shape->elements);
    const bool past = shape->stream && (uintptr_t)(to + begin) % PGI_LINE_BYTES == 0;
    REAL *term = (REAL *)shape->terms;
    vec_least least = vec_least_none();

    /* What lies outside the planes is loaded, but never added. */
    PGI_NAME(ribbon_terms, ELEMENT)
    (term + first - begin, from + first, behind - first, shape, first % shape->ring, terms, &least);
    if (past)
        PGI_NAME(ribbon_sums, ELEMENT)
    (to + begin, term, end - begin, shape, begin % shape->ring, sums, true, &least);
    else PGI_NAME(ribbon_sums, ELEMENT)(to + begin, term, end - begin, shape, begin % shape->ring,
                                        sums, false, &least);
    return !PGI_VEC(below, REAL_NAME)(least);
}

static bool PGI_NAME(ribbon, ELEMENT)(void *to, const void *from, const pgi_ribbon *shape)
{
    if (shape->forward)
        return shape->exactly
                   ? PGI_NAME(ribbon_of, ELEMENT)(to, from, shape, PGI_KEEP, PGI_DIVIDE)
                   : PGI_NAME(ribbon_of, ELEMENT)(to, from, shape, PGI_KEEP, PGI_QUOTIENT);
    return shape->exactly ? PGI_NAME(ribbon_of, ELEMENT)(to, from, shape, PGI_DIVIDE, PGI_KEEP)
                          : PGI_NAME(ribbon_of, ELEMENT)(to, from, shape, PGI_QUOTIENT, PGI_KEEP);
}
