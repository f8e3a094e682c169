/* SPDX-License-Identifier: MIT */
/*
 * Windows of few taps whose lanes lie side by side, from elements to elements: a winner keeps its
 * bits. Narrow ones are compared as integers, twice as many in a vector as reals. Included by
 * entry.h, whose parameters it uses. Signature and meaning: plan/maxima.h.
 */

#define KIND        PGI_KIND(ELEMENT)
#define KEYS        PGI_VECTOR(KIND)
#define MASK        PGI_MASK(KIND)
#define AT          PGI_AT(KIND)
#define LANES       PGI_LANES(KIND)
#define WATCH       PGI_WATCH(KIND)
#define BODY(w)     PGI_NAME(w, ELEMENT)
#define KEY_WORD(w) PGI_VEC(w, KIND)
#define IS_NARROW   (sizeof(STORED) < sizeof(REAL))
/* Rows and columns of windows of which two that share a row are found together. */
#define SIDE 3

/* A vector of taps: what they are, what they are compared by, and where. */
typedef struct BODY(entrants) {
    KEYS bits, rank;
    AT at;
} BODY(entrants);

#define ENTRANTS BODY(entrants)

PGI_ALWAYS_INLINE ENTRANTS BODY(joust_enter)(const STORED *from, AT at)
{
    const KEYS bits = KEY_WORD(load)(from);

    __builtin_prefetch((const char *)from + AHEAD_BYTES);
    return (ENTRANTS){bits, KEY_WORD(rank)(bits), at};
}

/* The best so far against others that lie behind them. Places matter if they are `named`, a
 * constant. */
PGI_ALWAYS_INLINE void BODY(joust_meet)(ENTRANTS *best, const ENTRANTS *others, bool named)
{
    const MASK won = KEY_WORD(above)(others->rank, best->rank);

    best->rank = KEY_WORD(larger)(others->rank, best->rank);
    if (IS_NARROW)
        best->bits = KEY_WORD(choose)(won, others->bits, best->bits);
    if (named)
        best->at = KEY_WORD(choose_at)(won, others->at, best->at);
}

/* Where results go. */
typedef struct BODY(results) {
    STORED *winners;
    uint8_t *taps;
    bool stream, stream_taps;
} BODY(results);

#define RESULTS BODY(results)

PGI_ALWAYS_INLINE RESULTS BODY(further)(RESULTS results, int64_t winners, int64_t taps)
{
    if (results.winners)
        results.winners += winners;
    if (results.taps)
        results.taps += taps;
    return results;
}

PGI_ALWAYS_INLINE void BODY(joust_put)(RESULTS results, const ENTRANTS *best, bool named,
                                       WATCH *watch)
{
    const KEYS bits = IS_NARROW ? best->bits : best->rank;

    KEY_WORD(watch_best)(watch, best->rank);
    if (results.winners && results.stream)
        KEY_WORD(stream)(results.winners, bits);
    else if (results.winners)
        KEY_WORD(store)(results.winners, bits);
    if (named && results.stream_taps)
        KEY_WORD(stream_taps)(results.taps, best->at);
    else if (named)
        KEY_WORD(store_taps)(results.taps, best->at);
}

/* The taps of windows: how far on they are, and what they are called. A copy, which no store can
 * change. */
typedef struct BODY(window) {
    int64_t offset[PGI_MELEE_TAPS];
    AT at[PGI_MELEE_TAPS];
} BODY(window);

#define WINDOW BODY(window)

/* Tap t joins; taps are watched two at a time. */
PGI_ALWAYS_INLINE void BODY(joust_join)(ENTRANTS *best, ENTRANTS *before, const STORED *from,
                                        const WINDOW *window, int t, bool named, WATCH *watch)
{
    const ENTRANTS others = BODY(joust_enter)(from + window->offset[t], window->at[t]);

    BODY(joust_meet)(best, &others, named);
    if (t % 2)
        KEY_WORD(watch_two)(watch, before->rank, others.rank);
    *before = others;
}

/* All taps of a vector of lanes. Constants: named, and, if it is not 0, how `few` they are. */
PGI_ALWAYS_INLINE void BODY(joust_all)(RESULTS results, const STORED *from, const WINDOW *window,
                                       int taps, bool named, int few, WATCH *watch)
{
    ENTRANTS best = BODY(joust_enter)(from + window->offset[0], window->at[0]), before = best;
    int t;

    PGI_UNROLL
    for (t = 1; t < few; t++)
        BODY(joust_join)(&best, &before, from, window, t, named, watch);
    for (t = 1; t < taps && !few; t++)
        BODY(joust_join)(&best, &before, from, window, t, named, watch);
    if ((few ? few : taps) % 2)
        KEY_WORD(watch_two)(watch, before.rank, before.rank);
    BODY(joust_put)(results, &best, named, watch);
}

/* The best of a row of a window. */
PGI_ALWAYS_INLINE ENTRANTS BODY(joust_row)(const STORED *from, const WINDOW *window, int row,
                                           bool named, WATCH *watch)
{
    const int t = row * SIDE;
    ENTRANTS best = BODY(joust_enter)(from + window->offset[t], window->at[t]);
    const ENTRANTS second = BODY(joust_enter)(from + window->offset[t + 1], window->at[t + 1]);
    const ENTRANTS third = BODY(joust_enter)(from + window->offset[t + 2], window->at[t + 2]);

    KEY_WORD(watch_two)(watch, best.rank, second.rank);
    KEY_WORD(watch_two)(watch, third.rank, third.rank);
    BODY(joust_meet)(&best, &second, named);
    BODY(joust_meet)(&best, &third, named);
    return best;
}

/* Two windows of 3x3 taps that share a row; what lies below is so much further on, and places of
 * the shared row so much further up. */
PGI_ALWAYS_INLINE void BODY(joust_two)(RESULTS results, RESULTS lower, const STORED *from,
                                       int64_t below, const WINDOW *window, AT up, bool named,
                                       WATCH *watch)
{
    ENTRANTS best = BODY(joust_row)(from, window, 0, named, watch), shared;
    ENTRANTS middle = BODY(joust_row)(from, window, 1, named, watch);

    BODY(joust_meet)(&best, &middle, named);
    shared = BODY(joust_row)(from, window, 2, named, watch);
    BODY(joust_meet)(&best, &shared, named);
    BODY(joust_put)(results, &best, named, watch);
    shared.at = KEY_WORD(add_at)(shared.at, up);
    middle = BODY(joust_row)(from + below, window, 1, named, watch);
    BODY(joust_meet)(&shared, &middle, named);
    middle = BODY(joust_row)(from + below, window, 2, named, watch);
    BODY(joust_meet)(&shared, &middle, named);
    BODY(joust_put)(lower, &shared, named, watch);
}

/* The windows of a row, or of two rows if they share one. */
PGI_ALWAYS_INLINE void BODY(joust_windows)(RESULTS results, const STORED *x, const pgi_lists *lists,
                                           const pgi_melee *melee, const WINDOW *window, bool named,
                                           int few, bool two, WATCH *watch)
{
    const int64_t lanes = melee->lanes, windows = melee->windows, below = melee->row_step;
    const int64_t x_step = melee->step, step = lists->step, tap_step = lists->tap_step;
    const RESULTS lower = BODY(further)(results, lists->row, lists->tap_row);
    const AT up = KEY_WORD(set_at)(melee->place[0] - melee->place[two ? (SIDE - 1) * SIDE : 0]);
    const int taps = melee->taps;
    int64_t g, i;

    for (g = 0; g < windows; g++) {
        for (i = 0; i < lanes; i += LANES) {
            const int64_t lane = PGI_SMALLER(i, lanes - LANES); /* the last where it still fits */
            const int64_t winner = g * step + lane, tap = g * tap_step + lane;
            const STORED *from = x + g * x_step + lane;

            if (two)
                BODY(joust_two)
            (BODY(further)(results, winner, tap), BODY(further)(lower, winner, tap), from, below,
             window, up, named, watch);
            else BODY(joust_all)(BODY(further)(results, winner, tap), from, window, taps, named,
                                 few, watch);
        }
    }
}

PGI_ALWAYS_INLINE bool BODY(joust_rows)(RESULTS results, const STORED *x, const pgi_lists *lists,
                                        const pgi_melee *melee, bool named)
{
    WATCH watch = KEY_WORD(watch)();
    int64_t r, rows;
    WINDOW window;
    int t;

    for (t = 0; t < melee->taps; t++) {
        window.offset[t] = melee->offset[t];
        window.at[t] = KEY_WORD(set_at)(melee->place[t]);
    }
    for (r = 0; r < melee->rows; r += rows) {
        const bool two = IS_NARROW && melee->kept.values && r + 1 < melee->rows;

        rows = two ? 2 : 1;
        if (two)
            BODY(joust_windows)(results, x, lists, melee, &window, named, 0, true, &watch);
        else if (melee->taps == 4)
            BODY(joust_windows)(results, x, lists, melee, &window, named, 4, false, &watch);
        else if (melee->taps == 9)
            BODY(joust_windows)(results, x, lists, melee, &window, named, 9, false, &watch);
        else
            BODY(joust_windows)(results, x, lists, melee, &window, named, 0, false, &watch);
        x += rows * melee->row_step;
        results = BODY(further)(results, rows * lists->row, rows * lists->tap_row);
    }
    return !PGI_SEEN_NAN(ELEMENT)(watch);
}

/* Whether what has this size may go past the caches: aligned, and in whole lines. */
static bool BODY(joust_streams)(const void *to, int64_t size, int64_t step, int64_t row,
                                int64_t lanes)
{
    return (uintptr_t)to % PGI_LINE_BYTES == 0 && lanes % LANES == 0 && step % LANES == 0 &&
           row % LANES == 0 && (step == lanes || lanes * size % PGI_LINE_BYTES == 0);
}

static bool BODY(joust)(const pgi_lists *lists, const void *x, const pgi_melee *melee)
{
    const int64_t lanes = melee->lanes;
    const RESULTS results = {
        .winners = (void *)lists->winners,
        .taps = lists->taps,
        .stream = lists->stream && BODY(joust_streams)(lists->winners, (int64_t)sizeof(STORED),
                                                       lists->step, lists->row, lanes),
        .stream_taps = lists->stream_taps &&
                       BODY(joust_streams)(lists->taps, 1, lists->tap_step, lists->tap_row, lanes)};

    if (melee->taps == 0 || lanes < LANES || (melee->rows > 1 && melee->row_place) ||
        (melee->windows > 1 && melee->place_step))
        return false;
    return lists->taps ? BODY(joust_rows)(results, x, lists, melee, true)
                       : BODY(joust_rows)(results, x, lists, melee, false);
}

#undef KIND
#undef KEYS
#undef MASK
#undef AT
#undef LANES
#undef WATCH
#undef BODY
#undef KEY_WORD
#undef IS_NARROW
#undef SIDE
#undef ENTRANTS
#undef RESULTS
#undef WINDOW
