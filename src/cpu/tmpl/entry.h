/* SPDX-License-Identifier: MIT */
/* Kernel bodies of maxima for one element type; types.h has the parameters. Signatures and meaning:
 * plan/maxima.h. */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
/* How far ahead x is fetched. */
#define AHEAD_BYTES 2048
/* What is fetched of lanes that lie apart: the lanes after them, if the block is no larger, else
 * their next row. */
#define FAR_BYTES (256 << 10)

/* `count` elements side by side; what lies so many bytes ahead is fetched. */
static bool PGI_NAME(admit_row, ELEMENT)(REAL *values, const STORED *from, int64_t count,
                                         int64_t ahead)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    bool nan = false;
    int64_t i;

    for (i = 0; i + 2 * LANES <= count; i += 2 * LANES) {
        const VECTOR a = PGI_VEC(load, ELEMENT)(from + i);
        const VECTOR b = PGI_VEC(load, ELEMENT)(from + i + LANES);

        /* rows are read in bursts, between which the machine's own prefetching falls asleep */
        __builtin_prefetch((const char *)(from + i) + ahead);
        WORD(put)(values + i, a);
        WORD(put)(values + i + LANES, b);
        nan |= WORD(any_nan)(a, b);
    }
    while (i < count && count >= LANES) {
        VECTOR last;

        i = i + LANES > count ? count - LANES : i; /* the last vector where it still fits */
        last = PGI_VEC(load, ELEMENT)(from + i);
        WORD(put)(values + i, last);
        nan |= WORD(any_nan)(last, last);
        i += LANES;
    }
    for (; i < count; i++) {
        values[i] = LOAD(from[i]);
        nan |= values[i] != values[i];
    }
    return nan;
}

/* A vector of lanes, `count` places of each, turned. */
PGI_ALWAYS_INLINE bool PGI_NAME(admit_turned, ELEMENT)(REAL *values, const STORED *from,
                                                       int64_t count, int64_t lanes,
                                                       int64_t lane_step, int64_t ahead)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    VECTOR square[LANES];
    bool nan = false;
    int k;

    PGI_UNROLL
    for (k = 0; k < LANES; k++) {
        const STORED *row = from + k * lane_step;

        __builtin_prefetch(row + ahead, 0, 2);
        square[k] =
            count < LANES ? PGI_VEC(load_some, ELEMENT)(row, count) : PGI_VEC(load, ELEMENT)(row);
        if (k % 2)
            nan |= WORD(any_nan)(square[k - 1], square[k]);
    }
    if (LANES == 1)
        nan |= WORD(any_nan)(square[0], square[0]);
    PGI_NAME(transpose, REAL_NAME)(square);
    PGI_UNROLL
    for (k = 0; k < LANES; k++)
        if (k < count)
            WORD(put)(values + k * lanes, square[k]);
    return nan;
}

/* `places` groups side by side of `lanes` elements that lie apart. */
static bool PGI_NAME(admit_apart, ELEMENT)(REAL *values, const STORED *from, int64_t places,
                                           int64_t lanes, int64_t lane_step, int64_t row_step)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    const int64_t block = lanes * lane_step;
    const int64_t ahead = block * (int64_t)sizeof *from > FAR_BYTES ? row_step : block;
    bool nan = false;
    int64_t i, lane;

    for (lane = 0; lane + LANES <= lanes; lane += LANES) {
        const STORED *rows = from + lane * lane_step;
        REAL *to = values + lane;

        for (i = 0; i < places; i += LANES) {
            const int64_t count = PGI_SMALLER(places, LANES);

            i = PGI_SMALLER(i, places - count); /* the last where they still fit */
            nan |= PGI_NAME(admit_turned, ELEMENT)(to + i * lanes, rows + i, count, lanes,
                                                   lane_step, ahead);
        }
    }
    for (; lane < lanes; lane++) {
        for (i = 0; i < places; i++) {
            const REAL value = LOAD(from[lane * lane_step + i]);

            values[i * lanes + lane] = value;
            nan |= value != value;
        }
    }
    return nan;
}

static bool PGI_NAME(admit, ELEMENT)(void *values, const void *x, const pgi_entry *entry)
{
    const int64_t lanes = entry->lanes, width = entry->places * lanes;
    const int64_t row = (entry->before + entry->places + entry->after) * lanes;
    const bool dense = entry->step == lanes && (lanes == 1 || entry->lane_step == 1);
    const STORED *from = x;
    REAL *to = values;
    bool nan = false;
    int64_t r, i, lane;

    if (dense && row == width && entry->row_step == width)
        return PGI_NAME(admit_row, ELEMENT)(to, from, entry->rows * width, AHEAD_BYTES);
    if (entry->step == 1 && row == width && entry->row_step == entry->places)
        return PGI_NAME(admit_apart, ELEMENT)(to, from, entry->rows * entry->places, lanes,
                                              entry->lane_step, entry->row_step);
    for (r = 0; r < entry->rows; r++, from += entry->row_step, to += row) {
        REAL *middle = to + entry->before * lanes;

        if (dense)
            nan |= PGI_NAME(admit_row, ELEMENT)(middle, from, width, AHEAD_BYTES);
        if (!dense && entry->step == 1)
            nan |= PGI_NAME(admit_apart, ELEMENT)(middle, from, entry->places, lanes,
                                                  entry->lane_step, entry->row_step);
        for (i = 0; !dense && entry->step != 1 && i < entry->places; i++) {
            if (entry->lane_step == 1) /* a block of channels */
                nan |= PGI_NAME(admit_row,
                                ELEMENT)(middle + i * lanes, from + i * entry->step, lanes,
                                         pgi_groups_ahead(entry->step) * (int64_t)sizeof *from);
            for (lane = 0; entry->lane_step != 1 && lane < lanes; lane++) {
                const REAL value = LOAD(from[i * entry->step + lane * entry->lane_step]);

                middle[i * lanes + lane] = value;
                nan |= value != value;
            }
        }
        for (i = 0; i < entry->before + entry->after; i++) {
            REAL *copy =
                i < entry->before ? to + i * lanes : middle + width + (i - entry->before) * lanes;
            const REAL *original = to + entry->copied[i] * lanes;

            for (lane = 0; lane < lanes; lane++)
                copy[lane] = original[lane];
        }
    }
    return nan;
}

#include "cpu/tmpl/award.h"
#include "cpu/tmpl/joust.h"
#include "cpu/tmpl/melee.h"
#include "cpu/tmpl/reap.h"

#undef VECTOR
#undef WORD
#undef AHEAD_BYTES
#undef FAR_BYTES
