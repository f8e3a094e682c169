/* SPDX-License-Identifier: MIT */
/*
 * Gradients of 3x3 windows with stride 2, from rows of terms, for one element type; included by
 * element.h, whose parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* The terms of a column, of one row or of two. */
#define COLUMN(at) (two ? ADD(GET(above + (at)), GET(row + (at))) : GET(row + (at)))

/* The lanes of a vector are places: sums of one column and of two, zipped. */
PGI_ALWAYS_INLINE void PGI_NAME(halves_places,
                                ELEMENT)(STORED *to, const REAL *above, const REAL *row, bool two,
                                         const pgi_halves *shape, bool past, pgi_ahead *ahead)
{
    const VECTOR scale = SET((REAL)shape->alpha);
    const int64_t places = shape->places;
    const bool late = shape->late;
    int64_t i;

    for (i = 0; i < places; i += 2 * LANES) {
        const VECTOR here = COLUMN(i / 2), next = COLUMN(i / 2 + 1);
        const VECTOR both = MUL(ADD(here, next), scale), one = MUL(late ? next : here, scale);
        const VECTOR even = late ? both : one, odd = late ? one : both;
        VECTOR low, high;

        if (places - i >= 2 * LANES) {
            PGI_VEC(store_zip, ELEMENT)(to + i, even, odd, past);
            FETCH(ahead);
            continue;
        }
        PGI_VEC(zip, REAL_NAME)(even, odd, &low, &high);
        PGI_NAME(store_part, ELEMENT)(to + i, low, places - i, past);
        if (places - i > LANES)
            PGI_NAME(store_part, ELEMENT)(to + i + LANES, high, places - i - LANES, past);
        FETCH(ahead);
    }
}

/* The lanes are channels: one place, of a column or of both that begin here. */
PGI_ALWAYS_INLINE void PGI_NAME(halves_lanes, ELEMENT)(STORED *to, const REAL *above,
                                                       const REAL *row, bool two, bool both,
                                                       const pgi_halves *shape, bool past,
                                                       pgi_ahead *ahead)
{
    const VECTOR scale = SET((REAL)shape->alpha);
    const int64_t lanes = shape->lanes;
    int64_t at;

#define SUM(at) MUL(both ? ADD(COLUMN(at), COLUMN(lanes + (at))) : COLUMN(at), scale)
    for (at = 0; at + 2 * LANES <= lanes; at += 2 * LANES) {
        PGI_VEC(store_two, ELEMENT)(to + at, SUM(at), SUM(at + LANES), past);
        FETCH(ahead);
    }
    for (; at < lanes; at += LANES) {
        PGI_NAME(store_part, ELEMENT)(to + at, SUM(at), lanes - at, past);
        FETCH(ahead);
    }
#undef SUM
}
#undef COLUMN

/* One target row, of one row of terms or of two. */
PGI_ALWAYS_INLINE void PGI_NAME(halves_row, ELEMENT)(STORED *to, const REAL *above, const REAL *row,
                                                     bool two, const pgi_halves *shape, bool past,
                                                     pgi_ahead *ahead)
{
    const int64_t lanes = shape->lanes;
    int64_t i;

    if (lanes == 1) {
        PGI_NAME(halves_places, ELEMENT)(to, above, row, two, shape, past, ahead);
        return;
    }
    for (i = shape->late; i < shape->places + shape->late; i++, to += lanes) {
        const REAL *high = above + i / 2 * lanes, *low = row + i / 2 * lanes;

        if (i % 2)
            PGI_NAME(halves_lanes, ELEMENT)(to, high, low, two, true, shape, past, ahead);
        else
            PGI_NAME(halves_lanes, ELEMENT)(to, high, low, two, false, shape, past, ahead);
    }
}

static void PGI_NAME(halves, ELEMENT)(void *to, int64_t pitch, const void *const *from,
                                      int64_t begin, int64_t end, const pgi_halves *shape,
                                      pgi_ahead ahead)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    STORED *stored = to;
    int64_t t;

    for (t = begin; t < end; t++, stored += pitch) {
        const REAL *above = from[t / 2], *row = from[t / 2 + 1];
        const bool past = shape->stream && PGI_NAME(may_stream, ELEMENT)(stored, side_by_side);

        if (t % 2)
            PGI_NAME(halves_row, ELEMENT)(stored, above, row, false, shape, past, &ahead);
        else
            PGI_NAME(halves_row, ELEMENT)(stored, above, row, true, shape, past, &ahead);
    }
}
