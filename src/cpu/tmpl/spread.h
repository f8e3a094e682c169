/* SPDX-License-Identifier: MIT */
/*
 * Gradients of windows that tile the input, for one element type; included by element.h, whose
 * parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* A vector of quotients from `from` on, as all positions of their windows get them. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(share, ELEMENT)(const pgi_spread *shape, const STORED *from,
                                                  int64_t count, pgi_division how, vec_least *least)
{
    const VECTOR value =
        count < LANES ? PGI_VEC(load_some, ELEMENT)(from, count) : LOAD_VECTOR(from);
    const BY by = PGI_NAME(by_one, ELEMENT)(&shape->by, 0);

    return MUL(PGI_NAME(divided, ELEMENT)(value, by, how, SET(0), least), SET((REAL)shape->alpha));
}

/* Vectors of channels that are stored side by side before the next place has its turn: whole cache
 * lines, also of the narrow types (2x2x2, bf16, 32 channels, 16 cores: 4.5 times the floor with one
 * vector at a time). */
#define TOGETHER 4

/* One row of windows; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(spread_row, ELEMENT)(STORED *const *to, const STORED *from,
                                                     const pgi_spread *shape, pgi_division how,
                                                     bool past)
{
    const int64_t places = shape->places, lanes = shape->lanes, columns = shape->columns;
    const int times = shape->times;
    vec_least least = vec_least_none();
    VECTOR value, low, high;
    int64_t i, at, c;
    int t, v;

    if (lanes > 1) {
        for (i = 0; i < places; i++) {
            for (at = 0; at < lanes; at += TOGETHER * LANES) {
                const int64_t rest = lanes - at;
                VECTOR some[TOGETHER];

                for (v = 0; v < TOGETHER; v++) {
                    some[v] = SET(0);
                    if (v * LANES < rest)
                        some[v] = PGI_NAME(share, ELEMENT)(shape, from + i * lanes + at + v * LANES,
                                                           rest - v * LANES, how, &least);
                }
                for (t = 0; t < times; t++)
                    for (c = 0; c < columns; c++)
                        for (v = 0; v < TOGETHER && v * LANES < rest; v++)
                            PGI_NAME(store_part, ELEMENT)
                (to[t] + (i * columns + c) * lanes + at + v * LANES, some[v], rest - v * LANES,
                 past);
            }
        }
        return !PGI_VEC(below, REAL_NAME)(least);
    }
    for (at = 0; at < places; at += LANES) {
        value = PGI_NAME(share, ELEMENT)(shape, from + at, places - at, how, &least);
        if (columns == 1) {
            for (t = 0; t < times; t++)
                PGI_NAME(store_part, ELEMENT)(to[t] + at, value, places - at, past);
            continue;
        }
        PGI_VEC(zip, REAL_NAME)(value, value, &low, &high);
        for (t = 0; t < times; t++) {
            PGI_NAME(store_part, ELEMENT)(to[t] + 2 * at, low, 2 * (places - at), past);
            if (2 * (places - at) > LANES)
                PGI_NAME(store_part, ELEMENT)
            (to[t] + 2 * at + LANES, high, 2 * (places - at) - LANES, past);
        }
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

#undef TOGETHER

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
