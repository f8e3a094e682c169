/* SPDX-License-Identifier: MIT */
/*
 * Gradients of windows that tile the input, for one element type; included by element.h, whose
 * parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* What a vector of dy gives to all positions of its windows. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(share, ELEMENT)(const pgi_spread *shape, VECTOR value, BY by,
                                                  pgi_division how, vec_least *least)
{
    return MUL(PGI_NAME(divided, ELEMENT)(value, by, how, SET(0), least), SET((REAL)shape->alpha));
}

/* The lanes of a vector are channels. Those of a place go to all positions of its window before the
 * next ones have their turn, four vectors at a time: whole cache lines, also of the narrow types
 * (2x2x2, bf16, 32 channels, 16 cores: 4.5 times the floor with one vector at a time). */
PGI_ALWAYS_INLINE void PGI_NAME(spread_lanes, ELEMENT)(STORED *const *to, const STORED *from,
                                                       const pgi_spread *shape, BY by,
                                                       pgi_division how, bool past,
                                                       vec_least *least)
{
    const int64_t lanes = shape->lanes, columns = shape->columns;
    const int times = shape->times;
    int64_t i, at, c;
    int t, v;

    for (i = 0; i < shape->places; i++, from += lanes) {
        for (at = 0; at + 4 * LANES <= lanes; at += 4 * LANES) {
            VECTOR a, b, d, e;

            PGI_VEC(load_both, ELEMENT)(from + at, &a, &b);
            PGI_VEC(load_both, ELEMENT)(from + at + 2 * LANES, &d, &e);
            a = PGI_NAME(share, ELEMENT)(shape, a, by, how, least);
            b = PGI_NAME(share, ELEMENT)(shape, b, by, how, least);
            d = PGI_NAME(share, ELEMENT)(shape, d, by, how, least);
            e = PGI_NAME(share, ELEMENT)(shape, e, by, how, least);
            for (t = 0; t < times; t++) {
                STORED *here = to[t] + i * columns * lanes + at;

                for (c = 0; c < columns; c++, here += lanes) {
                    PGI_VEC(store_both, ELEMENT)(here, a, b, past);
                    PGI_VEC(store_both, ELEMENT)(here + 2 * LANES, d, e, past);
                }
            }
        }
        if (at < lanes) {
            const int64_t rest = lanes - at;
            VECTOR some[4];

            for (v = 0; v < 4; v++) {
                const STORED *here = from + at + v * LANES;
                const int64_t count = rest - v * LANES;

                some[v] = SET(0);
                if (count <= 0)
                    continue;
                some[v] = PGI_NAME(share, ELEMENT)(
                    shape,
                    count < LANES ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here),
                    by, how, least);
            }
            for (t = 0; t < times; t++)
                for (c = 0; c < columns; c++)
                    for (v = 0; v < 4 && v * LANES < rest; v++)
                        PGI_NAME(store_part, ELEMENT)
            (to[t] + (i * columns + c) * lanes + at + v * LANES, some[v], rest - v * LANES, past);
        }
    }
}

/* The lanes of a vector are places: windows have one column or two. */
PGI_ALWAYS_INLINE void PGI_NAME(spread_places, ELEMENT)(STORED *const *to, const STORED *from,
                                                        const pgi_spread *shape, BY by,
                                                        pgi_division how, bool past,
                                                        vec_least *least)
{
    const int64_t places = shape->places, columns = shape->columns;
    const int times = shape->times;
    VECTOR value, low, high;
    int64_t at;
    int t;

    for (at = 0; columns == 2 && at + LANES <= places; at += LANES) {
        value = PGI_NAME(share, ELEMENT)(shape, LOAD_VECTOR(from + at), by, how, least);
        for (t = 0; t < times; t++)
            PGI_VEC(store_zip, ELEMENT)(to[t] + 2 * at, value, value, past);
    }
    for (; at < places; at += LANES) {
        const int64_t rest = places - at;

        value =
            rest < LANES ? PGI_VEC(load_some, ELEMENT)(from + at, rest) : LOAD_VECTOR(from + at);
        value = PGI_NAME(share, ELEMENT)(shape, value, by, how, least);
        if (columns == 1) {
            for (t = 0; t < times; t++)
                PGI_NAME(store_part, ELEMENT)(to[t] + at, value, rest, past);
            continue;
        }
        PGI_VEC(zip, REAL_NAME)(value, value, &low, &high);
        for (t = 0; t < times; t++) {
            PGI_NAME(store_part, ELEMENT)(to[t] + 2 * at, low, 2 * rest, past);
            if (2 * rest > LANES)
                PGI_NAME(store_part, ELEMENT)(to[t] + 2 * at + LANES, high, 2 * rest - LANES, past);
        }
    }
}

/* One row of windows; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(spread_row, ELEMENT)(STORED *const *to, const STORED *from,
                                                     const pgi_spread *shape, pgi_division how,
                                                     bool past)
{
    const BY by = PGI_NAME(by_one, ELEMENT)(&shape->by, 0);
    vec_least least = vec_least_none();

    if (shape->lanes > 1 && past)
        PGI_NAME(spread_lanes, ELEMENT)(to, from, shape, by, how, true, &least);
    else if (shape->lanes > 1)
        PGI_NAME(spread_lanes, ELEMENT)(to, from, shape, by, how, false, &least);
    else if (past)
        PGI_NAME(spread_places, ELEMENT)(to, from, shape, by, how, true, &least);
    else
        PGI_NAME(spread_places, ELEMENT)(to, from, shape, by, how, false, &least);
    return !PGI_VEC(below, REAL_NAME)(least);
}

static void PGI_NAME(spread, ELEMENT)(void *const *given, const void *from, const pgi_spread *shape)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places * shape->columns : shape->lanes;
    const STORED *stored = from;
    STORED *to[PGI_SPREAD];
    int64_t row;
    int t;

    for (t = 0; t < shape->times; t++)
        to[t] = given[t];
    for (row = 0; row < shape->rows; row++, stored += shape->from_pitch) {
        bool past = shape->stream, good;

        for (t = 0; t < shape->times; t++)
            past = past && PGI_NAME(may_stream, ELEMENT)(to[t], side_by_side);
        if (shape->by.how == PGI_MULTIPLY)
            good = PGI_NAME(spread_row, ELEMENT)(to, stored, shape, PGI_MULTIPLY, past);
        else if (shape->by.how == PGI_QUOTIENT)
            good = PGI_NAME(spread_row, ELEMENT)(to, stored, shape, PGI_QUOTIENT, past);
        else
            good = false;
        if (!good)
            PGI_NAME(spread_row, ELEMENT)(to, stored, shape, PGI_DIVIDE, past);
        for (t = 0; t < shape->times; t++)
            to[t] += shape->to_pitch;
    }
}
