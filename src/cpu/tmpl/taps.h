/* SPDX-License-Identifier: MIT */
/* Indices that are taps of their windows, in bytes. Signatures and meaning: plan/maxima.h. */

/* Where a tap is, of a window whose first one is in this row and column: the place in the tile, if
 * one counts anything. Returns not 0 if it is none. That, and whether there is more than one plane,
 * are constants. The quotient of a tap t and a kernel K, both at most 255, by m = 2^16 / K rounded
 * up is exact: t * m / 2^16 is more than t / K by less than 255 / 2^16, which is less than 1 / K.
 */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(locate, u8)(uint32_t tap, const pgi_taps *shape, uint32_t top,
                                                uint32_t left, bool deep, uint32_t per_place,
                                                int32_t *place)
{
    const uint32_t line = tap * shape->by_columns >> 16, column = tap - line * shape->kernel[2];
    const uint32_t plane = deep ? line * shape->by_rows >> 16 : 0;
    const uint32_t row = line - plane * shape->kernel[1];
    const uint32_t d = deep ? shape->first[0] + plane * shape->dilation[0] : 0;
    const uint32_t h = top + row * shape->dilation[1], w = left + column * shape->dilation[2];
    const uint32_t past =
        deep ? (plane >= shape->kernel[0]) | (d >= shape->in[0]) : row >= shape->kernel[1];

    if (per_place) {
        const uint32_t z = deep ? d - shape->begin[0] : 0, y = h - shape->begin[1];
        const uint32_t x = w - shape->begin[2], lost = deep ? z >= shape->extent[0] : 0;
        const uint32_t at = (z * shape->extent[1] + y) * shape->extent[2] + x;

        *place = (lost | (y >= shape->extent[1]) | (x >= shape->extent[2]))
                     ? PGI_NOWHERE
                     : (int32_t)(at * per_place);
    }
    return past | (h >= shape->in[1]) | (w >= shape->in[2]);
}

/* Taps of windows one behind the other, or of the lanes of one; which, and whether there is more
 * than one plane, are constants. They are first made as wide as places: with bytes in it, a loop is
 * made for vectors of four times as many, which rows often do not fill. */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(follow_some,
                                    u8)(int32_t *restrict places, const uint8_t *restrict taps,
                                        int64_t step, const pgi_taps *shape, bool windows,
                                        const int32_t *restrict down, const int32_t *restrict left,
                                        int64_t count, bool deep)
{
    const pgi_taps copy = *shape; /* which no store can change */
    const uint32_t top = copy.first[1] + (uint32_t)*down, one_left = (uint32_t)*left;
    uint32_t bad = 0;
    int64_t i;

    for (i = 0; i < count; i++)
        places[i] = taps[i * step];
    for (i = 0; i < count; i++)
        bad |= PGI_NAME(locate, u8)(
            (uint32_t)places[i], &copy, windows ? copy.first[1] + (uint32_t)down[i] : top,
            windows ? (uint32_t)left[i] : one_left, deep, windows ? 1 : copy.per_place, &places[i]);
    return bad;
}

PGI_ALWAYS_INLINE bool PGI_NAME(follow_all, u8)(int32_t *places, const uint8_t *taps,
                                                const int32_t *down, const int32_t *left,
                                                const pgi_taps *shape, bool deep)
{
    const int64_t lanes = shape->lanes, windows = shape->windows;
    uint32_t bad = 0;
    int64_t o;

    if (lanes == 1)
        return !PGI_NAME(follow_some, u8)(places, taps, shape->step, shape, true, down, left,
                                          windows, deep);
    for (o = 0; o < windows; o++)
        bad |=
            PGI_NAME(follow_some, u8)(places + o * lanes, taps + o * shape->step, shape->lane_step,
                                      shape, false, down + o, left + o, lanes, deep);
    return !bad;
}

static bool PGI_NAME(follow, u8)(int32_t *places, const void *taps, const int32_t *down,
                                 const int32_t *left, const pgi_taps *shape)
{
    return shape->kernel[0] == 1 && shape->in[0] == 1
               ? PGI_NAME(follow_all, u8)(places, taps, down, left, shape, false)
               : PGI_NAME(follow_all, u8)(places, taps, down, left, shape, true);
}

static bool PGI_NAME(all_below, u8)(const uint8_t *taps, int64_t count, uint32_t limit)
{
    uint8_t largest = 0;
    int64_t i;

    for (i = 0; i < count; i++)
        largest = taps[i] > largest ? taps[i] : largest;
    return largest < limit;
}

/* Of the o-th window on an axis: where its first tap is, and whether it lies in the input. */
PGI_ALWAYS_INLINE uint32_t PGI_NAME(first_tap, u8)(const pgi_taps *shape, int axis, int64_t o)
{
    return shape->first[axis] + (uint32_t)o * shape->stride[axis];
}

PGI_ALWAYS_INLINE bool PGI_NAME(is_inside, u8)(const pgi_taps *shape, int axis, int64_t o)
{
    const uint32_t first = PGI_NAME(first_tap, u8)(shape, axis, o);
    const uint32_t last = first + (shape->kernel[axis] - 1) * shape->dilation[axis];

    return first < shape->in[axis] && last < shape->in[axis];
}

/* Windows inside the input, nearly all, need but have taps below their number; the others are
 * looked at again. */
static bool PGI_NAME(vouch, u8)(const void *taps, const pgi_taps *shape)
{
    const uint32_t most = shape->kernel[0] * shape->kernel[1] * shape->kernel[2];
    const int64_t lanes = shape->lanes, row = shape->windows * lanes;
    const bool dense = shape->step == lanes, together = dense && shape->row_step == row;
    const bool planes = PGI_NAME(is_inside, u8)(shape, 0, 0);
    int64_t begin = 0, end = shape->windows; /* those inside on the last axis */
    uint32_t bad = 0;
    int64_t r, o, i;

    while (begin < end && !PGI_NAME(is_inside, u8)(shape, 2, begin))
        begin++;
    while (begin < end && !PGI_NAME(is_inside, u8)(shape, 2, end - 1))
        end--;
    if (together)
        bad = !PGI_NAME(all_below, u8)(taps, shape->rows * row, most);
    for (r = 0; r < shape->rows && !bad; r++) {
        const uint8_t *from = (const uint8_t *)taps + r * shape->row_step;
        const bool rows = planes && PGI_NAME(is_inside, u8)(shape, 1, r);

        if (dense && !together)
            bad |= !PGI_NAME(all_below, u8)(from, row, most);
        for (o = begin; o < end && !dense; o++)
            bad |= !PGI_NAME(all_below, u8)(from + o * shape->step, lanes, most);
        for (o = rows && begin == 0 ? end : 0; o < shape->windows;
             o = rows && o + 1 == begin ? end : o + 1)
            for (i = 0; i < lanes; i++)
                bad |= PGI_NAME(locate, u8)(from[o * shape->step + i], shape,
                                            PGI_NAME(first_tap, u8)(shape, 1, r),
                                            PGI_NAME(first_tap, u8)(shape, 2, o), true, 0, NULL);
    }
    return !bad;
}

#undef INDEX
#undef INDEX_NAME
