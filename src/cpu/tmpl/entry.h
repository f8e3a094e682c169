/* SPDX-License-Identifier: MIT */
/* Kernel bodies of maxima for one element type; types.h has the parameters. Signatures and meaning:
 * plan/backend.h. */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
/* How far ahead x is fetched. */
#define AHEAD_BYTES 2048

/* `count` elements side by side. */
static bool PGI_NAME(admit_row, ELEMENT)(REAL *values, const STORED *from, int64_t count)
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
        __builtin_prefetch((const char *)(from + i) + AHEAD_BYTES);
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
        return PGI_NAME(admit_row, ELEMENT)(to, from, entry->rows * width);
    for (r = 0; r < entry->rows; r++, from += entry->row_step, to += row) {
        REAL *middle = to + entry->before * lanes;

        if (dense)
            nan |= PGI_NAME(admit_row, ELEMENT)(middle, from, width);
        for (i = 0; !dense && i < entry->places; i++) {
            if (entry->lane_step == 1)
                nan |=
                    PGI_NAME(admit_row, ELEMENT)(middle + i * lanes, from + i * entry->step, lanes);
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
#include "cpu/tmpl/melee.h"

#undef VECTOR
#undef WORD
#undef AHEAD_BYTES
