/* SPDX-License-Identifier: MIT */
/*
 * Windows of few taps whose lanes lie side by side, from elements to elements: a winner keeps its
 * bits. Narrow ones are compared as integers, twice as many in a vector as reals. Included by
 * entry.h, whose parameters it uses. Signature and meaning: plan/maxima.h.
 */

#define KIND      PGI_KIND(ELEMENT)
#define KEYS      PGI_VECTOR(KIND)
#define MASK      PGI_MASK(KIND)
#define AT        PGI_AT(KIND)
#define LANES     PGI_LANES(KIND)
#define WATCH     PGI_WATCH(KIND)
#define BODY(w)   PGI_NAME(w, ELEMENT)
#define KEEN(w)   PGI_VEC(w, KIND)
#define IS_NARROW (sizeof(STORED) < sizeof(REAL))
/* Rows and columns of windows of which two that share a row are found together. */
#define SIDE 3

/* A vector of taps: what they are, what they are compared by, and where. */
typedef struct BODY(knights) {
    KEYS bits, rank;
    AT at;
} BODY(knights);

#define KNIGHTS BODY(knights)

PGI_ALWAYS_INLINE KNIGHTS BODY(joust_enter)(const STORED *from, AT at)
{
    const KEYS bits = KEEN(load)(from);

    __builtin_prefetch((const char *)from + AHEAD_BYTES);
    return (KNIGHTS){bits, KEEN(rank)(bits), at};
}

/* The best so far against others that lie behind them. Places matter if they are `named`, a
 * constant. */
PGI_ALWAYS_INLINE void BODY(joust_meet)(KNIGHTS *best, const KNIGHTS *others, bool named)
{
    const MASK won = KEEN(above)(others->rank, best->rank);

    best->rank = KEEN(larger)(others->rank, best->rank);
    if (IS_NARROW)
        best->bits = KEEN(choose)(won, others->bits, best->bits);
    if (named)
        best->at = KEEN(choose_at)(won, others->at, best->at);
}

/* Where results go. */
typedef struct BODY(lists) {
    STORED *winners;
    uint8_t *taps;
    bool stream;
} BODY(lists);

#define LISTS BODY(lists)

PGI_ALWAYS_INLINE LISTS BODY(further)(LISTS lists, int64_t winners, int64_t taps)
{
    if (lists.winners)
        lists.winners += winners;
    if (lists.taps)
        lists.taps += taps;
    return lists;
}

PGI_ALWAYS_INLINE void BODY(joust_put)(LISTS lists, const KNIGHTS *best, bool named, WATCH *watch)
{
    const KEYS bits = IS_NARROW ? best->bits : best->rank;

    KEEN(watch_best)(watch, best->rank);
    if (lists.winners && lists.stream)
        KEEN(stream)(lists.winners, bits);
    else if (lists.winners)
        KEEN(store)(lists.winners, bits);
    if (named && lists.stream)
        KEEN(stream_taps)(lists.taps, best->at);
    else if (named)
        KEEN(store_taps)(lists.taps, best->at);
}

/* The taps of windows: how far on they are, and what they are called. A copy, which no store can
 * change. */
typedef struct BODY(tilt) {
    int64_t offset[PGI_MELEE_TAPS];
    AT at[PGI_MELEE_TAPS];
} BODY(tilt);

#define TILT BODY(tilt)

/* Tap t joins; taps are watched two at a time. */
PGI_ALWAYS_INLINE void BODY(joust_join)(KNIGHTS *best, KNIGHTS *before, const STORED *from,
                                        const TILT *tilt, int t, bool named, WATCH *watch)
{
    const KNIGHTS others = BODY(joust_enter)(from + tilt->offset[t], tilt->at[t]);

    BODY(joust_meet)(best, &others, named);
    if (t % 2)
        KEEN(watch_two)(watch, before->rank, others.rank);
    *before = others;
}

/* All taps of a vector of lanes. Constants: named, and, if it is not 0, how `few` they are. */
PGI_ALWAYS_INLINE void BODY(joust_all)(LISTS lists, const STORED *from, const TILT *tilt, int taps,
                                       bool named, int few, WATCH *watch)
{
    KNIGHTS best = BODY(joust_enter)(from + tilt->offset[0], tilt->at[0]), before = best;
    int t;

    PGI_UNROLL
    for (t = 1; t < few; t++)
        BODY(joust_join)(&best, &before, from, tilt, t, named, watch);
    for (t = 1; t < taps && !few; t++)
        BODY(joust_join)(&best, &before, from, tilt, t, named, watch);
    if ((few ? few : taps) % 2)
        KEEN(watch_two)(watch, before.rank, before.rank);
    BODY(joust_put)(lists, &best, named, watch);
}

/* The best of a row of a window. */
PGI_ALWAYS_INLINE KNIGHTS BODY(joust_row)(const STORED *from, const TILT *tilt, int row, bool named,
                                          WATCH *watch)
{
    const int t = row * SIDE;
    KNIGHTS best = BODY(joust_enter)(from + tilt->offset[t], tilt->at[t]);
    const KNIGHTS second = BODY(joust_enter)(from + tilt->offset[t + 1], tilt->at[t + 1]);
    const KNIGHTS third = BODY(joust_enter)(from + tilt->offset[t + 2], tilt->at[t + 2]);

    KEEN(watch_two)(watch, best.rank, second.rank);
    KEEN(watch_two)(watch, third.rank, third.rank);
    BODY(joust_meet)(&best, &second, named);
    BODY(joust_meet)(&best, &third, named);
    return best;
}

/* Two windows of 3x3 taps that share a row; what lies below is so much further on, and places of
 * the shared row so much further up. */
PGI_ALWAYS_INLINE void BODY(joust_two)(LISTS lists, LISTS lower, const STORED *from, int64_t below,
                                       const TILT *tilt, AT up, bool named, WATCH *watch)
{
    KNIGHTS best = BODY(joust_row)(from, tilt, 0, named, watch), shared;
    KNIGHTS middle = BODY(joust_row)(from, tilt, 1, named, watch);

    BODY(joust_meet)(&best, &middle, named);
    shared = BODY(joust_row)(from, tilt, 2, named, watch);
    BODY(joust_meet)(&best, &shared, named);
    BODY(joust_put)(lists, &best, named, watch);
    shared.at = KEEN(add_at)(shared.at, up);
    middle = BODY(joust_row)(from + below, tilt, 1, named, watch);
    BODY(joust_meet)(&shared, &middle, named);
    middle = BODY(joust_row)(from + below, tilt, 2, named, watch);
    BODY(joust_meet)(&shared, &middle, named);
    BODY(joust_put)(lower, &shared, named, watch);
}

/* The windows of a row, or of two rows if they share one. */
PGI_ALWAYS_INLINE void BODY(joust_windows)(LISTS lists, const STORED *x, const pgi_joust *joust,
                                           const TILT *tilt, bool named, int few, bool two,
                                           WATCH *watch)
{
    const pgi_melee *melee = &joust->melee;
    const int64_t lanes = melee->lanes, windows = melee->windows, below = melee->row_step;
    const int64_t x_step = melee->step, step = joust->step, tap_step = joust->tap_step;
    const LISTS lower = BODY(further)(lists, joust->row, joust->tap_row);
    const AT up = KEEN(set_at)(melee->place[0] - melee->place[two ? (SIDE - 1) * SIDE : 0]);
    const int taps = melee->taps;
    int64_t g, i;

    for (g = 0; g < windows; g++) {
        for (i = 0; i < lanes; i += LANES) {
            const int64_t lane = PGI_SMALLER(i, lanes - LANES); /* the last where it still fits */
            const int64_t winner = g * step + lane, tap = g * tap_step + lane;
            const STORED *from = x + g * x_step + lane;

            if (two)
                BODY(joust_two)
            (BODY(further)(lists, winner, tap), BODY(further)(lower, winner, tap), from, below,
             tilt, up, named, watch);
            else BODY(joust_all)(BODY(further)(lists, winner, tap), from, tilt, taps, named, few,
                                 watch);
        }
    }
}

PGI_ALWAYS_INLINE bool BODY(joust_rows)(LISTS lists, const STORED *x, const pgi_joust *joust,
                                        bool named)
{
    const pgi_melee *melee = &joust->melee;
    WATCH watch = KEEN(watch)();
    int64_t r, rows;
    TILT tilt;
    int t;

    for (t = 0; t < melee->taps; t++) {
        tilt.offset[t] = melee->offset[t];
        tilt.at[t] = KEEN(set_at)(melee->place[t]);
    }
    for (r = 0; r < melee->rows; r += rows) {
        const bool two = IS_NARROW && melee->kept.values && r + 1 < melee->rows;

        rows = two ? 2 : 1;
        if (two)
            BODY(joust_windows)(lists, x, joust, &tilt, named, 0, true, &watch);
        else if (melee->taps == 4)
            BODY(joust_windows)(lists, x, joust, &tilt, named, 4, false, &watch);
        else if (melee->taps == 9)
            BODY(joust_windows)(lists, x, joust, &tilt, named, 9, false, &watch);
        else
            BODY(joust_windows)(lists, x, joust, &tilt, named, 0, false, &watch);
        x += rows * melee->row_step;
        lists = BODY(further)(lists, rows * joust->row, rows * joust->tap_row);
    }
    return !PGI_SEEN_NAN(ELEMENT)(watch);
}

/* Whether what has this size may go past the caches: aligned, and in whole lines. */
static bool BODY(joust_streams)(const void *to, int64_t size, int64_t step, int64_t row,
                                int64_t lanes)
{
    return (uintptr_t)to % PGI_LINE_BYTES == 0 && step % LANES == 0 && row % LANES == 0 &&
           (step == lanes || lanes * size % PGI_LINE_BYTES == 0);
}

static bool BODY(joust)(void *winners, uint8_t *taps, const void *x, const pgi_joust *joust)
{
    const pgi_melee *melee = &joust->melee;
    const int64_t lanes = melee->lanes;
    const LISTS lists = {
        winners, taps,
        joust->stream && lanes % LANES == 0 &&
            BODY(joust_streams)(winners, (int64_t)sizeof(STORED), joust->step, joust->row, lanes) &&
            BODY(joust_streams)(taps, 1, joust->tap_step, joust->tap_row, lanes)};

    if (melee->taps == 0 || lanes < LANES || (melee->rows > 1 && melee->row_place) ||
        (melee->windows > 1 && melee->place_step))
        return false;
    return taps ? BODY(joust_rows)(lists, x, joust, true)
                : BODY(joust_rows)(lists, x, joust, false);
}

#undef KIND
#undef KEYS
#undef MASK
#undef AT
#undef LANES
#undef WATCH
#undef BODY
#undef KEEN
#undef IS_NARROW
#undef SIDE
#undef KNIGHTS
#undef LISTS
#undef TILT
