/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 and 3x3x3 windows with stride 1, both ways, in one pass, for one element type;
 * included by element.h, whose parameters and words it uses. Signatures and meaning:
 * plan/backend.h.
 *
 * PGI_THREES target rows are made together, below each other or of planes one behind the other, so
 * that an element is loaded and divided 1.5 times and not 3. They go in two steps, some columns at
 * a time: sums of what lies below each other (`down`) to a room in the nearest cache, and those of
 * three of its columns (`across`) to the target, row by row. So few vectors are alive in a loop,
 * and rows that go past the caches are stored line by line.
 */

/* What is a constant where it is inlined. */
typedef struct PGI_NAME(threes_kind, ELEMENT) {
    bool deep;
    bool alike; /* all source rows have the same divisors; the last are not looked at */
    bool each;  /* every element of a row has its own */
    bool both;  /* two vectors at a time, in the order in which they are quickest loaded and stored:
                   channels side by side, in whole such pairs */
    pgi_division terms, sums; /* how they are divided */
} PGI_NAME(threes_kind, ELEMENT);

/* Source rows that go together, and target rows. */
typedef struct PGI_NAME(threes_sources, ELEMENT) {
    const STORED *from[PGI_THREES + 2];
    pgi_divisors by[PGI_THREES + 2];
    /* Deep: sums of three planes, of the row before the last, the last and this one. */
    REAL *planes[3];
} PGI_NAME(threes_sources, ELEMENT);

typedef struct PGI_NAME(threes_targets, ELEMENT) {
    STORED *to[PGI_THREES]; /* NULL: there is none */
    pgi_divisors by[PGI_THREES];
    bool past;
} PGI_NAME(threes_targets, ELEMENT);

#define KIND    PGI_NAME(threes_kind, ELEMENT)
#define SOURCES PGI_NAME(threes_sources, ELEMENT)
#define TARGETS PGI_NAME(threes_targets, ELEMENT)

/* Vectors that go together. */
#define TOGETHER (1 + kind.both)

/* One vector of each source row, the elements at `at`, or two, to sums of what lies below each
 * other, which are `back` further ahead. With `some` only `count` lanes exist; the others are 0. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_sums, ELEMENT)(REAL *const *to, const SOURCES *rows,
                                                      const BY *by, KIND kind, int64_t plane_pitch,
                                                      int64_t ahead, int64_t at, int64_t back,
                                                      bool some, int64_t count, vec_least *least)
{
    VECTOR term[2][PGI_THREES + 2];
    int r, t, v;

    PGI_UNROLL
    for (r = 0; r < PGI_THREES + 2; r++) {
        const STORED *here = rows->from[r] + at;
        const int which = kind.alike ? 0 : r;
        vec_least none = vec_least_none();

        if (kind.both)
            PGI_VEC(load_both, ELEMENT)(here, &term[0][r], &term[1][r]);
        else
            term[0][r] = some ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here);
        PGI_UNROLL
        for (v = 0; v < TOGETHER; v++)
            if (kind.terms != PGI_KEEP)
                term[v][r] = PGI_NAME(divided, ELEMENT)(
                    term[v][r],
                    kind.each ? PGI_NAME(by_each, ELEMENT)(&rows->by[which], at) : by[which],
                    kind.terms, SET(0),
                    kind.alike && !kind.deep && r >= PGI_THREES ? &none : least);
        if (r >= 2 && !some && ahead)
            __builtin_prefetch(here + ahead, 0, 2);
    }
    PGI_UNROLL
    for (v = 0; v < TOGETHER; v++)
        PGI_UNROLL
    for (t = 0; t < PGI_THREES; t++) {
        VECTOR sum = ADD(ADD(term[v][t], term[v][t + 1]), term[v][t + 2]);

        if (kind.deep) {
            const int64_t there = t * plane_pitch + at + v * LANES;
            const VECTOR above = ADD(GET(rows->planes[0] + there), GET(rows->planes[1] + there));

            PUT(rows->planes[2] + there, sum);
            sum = ADD(above, sum);
        }
        PUT(to[t] + (at - back) + v * LANES, sum);
    }
}

/* The same for elements [begin, end) of the source rows, which have one divisor unless each has its
 * own. What is written behind them is overwritten by what comes next. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_down, ELEMENT)(const SOURCES *rows, const pgi_threes *shape,
                                                      KIND kind, int64_t column, REAL *room,
                                                      int64_t begin, int64_t end, vec_least *least)
{
    const int64_t elements = shape->width * shape->lanes, ahead = shape->ahead;
    const int64_t plane_pitch = shape->plane_pitch;
    BY by[PGI_THREES + 2] = {{SET(0), SET(0), SET(0)}};
    vec_least smallest = *least;
    REAL *to[PGI_THREES];
    int64_t at;
    int r;

    PGI_UNROLL
    for (r = 0; r < PGI_THREES; r++)
        to[r] = room + r * shape->room_pitch;
    PGI_UNROLL
    for (r = 0; r < PGI_THREES + 2; r++)
        if (kind.terms != PGI_KEEP && !kind.each && (r == 0 || !kind.alike))
            by[r] = PGI_NAME(by_one, ELEMENT)(&rows->by[r], shape->step * column);
    for (at = begin; at < end && at + TOGETHER * LANES <= elements; at += TOGETHER * LANES)
        PGI_NAME(threes_sums, ELEMENT)
    (to, rows, by, kind, plane_pitch, ahead, at, begin, false, LANES, &smallest);
    /* Part of a vector is slow to load, of the narrow types above all: rather some once more. */
    if (at < end && elements - LANES >= begin && !kind.both)
        PGI_NAME(threes_sums, ELEMENT)
    (to, rows, by, kind, plane_pitch, ahead, elements - LANES, begin, false, LANES, &smallest);
    else if (at < end) PGI_NAME(threes_sums, ELEMENT)(to, rows, by, kind, plane_pitch, ahead, at,
                                                      begin, true, elements - at, &smallest);
    *least = smallest;
}

/* Columns from `column` on with its divisor, at most up to `end`. Where they change they do in all
 * rows. */
static inline int64_t PGI_NAME(threes_alike, ELEMENT)(const pgi_divisors *by, int64_t column,
                                                      int64_t end)
{
    const REAL *divisor = by->divisor;
    int64_t behind = column + 1;

    if (by->step == 0)
        return end;
    while (behind < end && divisor[behind] == divisor[column])
        behind++;
    return behind;
}

/* `count` elements of a target row, from sums of what lies below each other on. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_across, ELEMENT)(STORED *to, const REAL *sums, int64_t lanes,
                                                        KIND kind, const pgi_divisors *given,
                                                        int64_t place, int64_t step, VECTOR scale,
                                                        int64_t count, bool past, vec_least *least)
{
    const pgi_divisors each = *given;
    vec_least smallest = *least;
    BY by = {SET(0), SET(0), SET(0)};
    int64_t at = 0;

#define SUM(at) ADD(ADD(GET(sums + (at)), GET(sums + (at) + lanes)), GET(sums + (at) + 2 * lanes))
#define RESULT(sum, at)                                                                            \
    PGI_NAME(result, ELEMENT)                                                                      \
    (sum,                                                                                          \
     kind.each && kind.sums != PGI_KEEP ? PGI_NAME(by_each, ELEMENT)(&each, place + (at)) : by,    \
     kind.sums, scale, &smallest)
    if (kind.sums != PGI_KEEP && !kind.each)
        by = PGI_NAME(by_one, ELEMENT)(given, step * place);
    for (; at + 2 * LANES <= count; at += 2 * LANES) {
        const VECTOR a = RESULT(SUM(at), at), b = RESULT(SUM(at + LANES), at + LANES);

        if (kind.both)
            PGI_VEC(store_both, ELEMENT)(to + at, a, b, past);
        else
            PGI_VEC(store_two, ELEMENT)(to + at, a, b, past);
    }
    if (at + LANES <= count) {
        PGI_NAME(store_part, ELEMENT)(to + at, RESULT(SUM(at), at), LANES, past);
        at += LANES;
    }
    if (at < count && count >= LANES && !past) {
        at = count - LANES;
        STORE_VECTOR(to + at, RESULT(SUM(at), at));
    } else if (at < count) {
        PGI_NAME(store_part, ELEMENT)
        (to + at, RESULT(PGI_NAME(cut, ELEMENT)(SUM(at), count - at, kind.sums), at), count - at,
         past);
    }
#undef SUM
#undef RESULT
    *least = smallest;
}

/* Zeros to columns [begin, end) of all rows of a room, if there are such, and to no more than a
 * vector behind them. What is added behind a row's end is 0, so they stay. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_zeros, ELEMENT)(REAL *room, const pgi_threes *shape,
                                                       int64_t begin, int64_t end)
{
    int64_t at;
    int t;

    for (at = begin * shape->lanes; at < end * shape->lanes; at += LANES)
        PGI_UNROLL
    for (t = 0; t < PGI_THREES; t++)
        PUT(room + t * shape->room_pitch + at, SET(0));
}

/* Columns [begin, end) of the source to a room, whose first is column `first`; those that do not
 * exist are 0, and stay it unless the room is used afresh. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_columns,
                                ELEMENT)(const SOURCES *rows, const pgi_threes *shape, KIND kind,
                                         REAL *room, bool fresh, int64_t first, int64_t begin,
                                         int64_t end, vec_least *least)
{
    const int64_t lanes = shape->lanes, width = shape->width;
    const int64_t inside = PGI_LARGER(begin, 0), behind = PGI_SMALLER(end, width);
    int64_t column, next;

    if (fresh)
        PGI_NAME(threes_zeros, ELEMENT)(room, shape, begin - first, PGI_SMALLER(end, 0) - first);
    for (column = inside; column < behind; column = next) {
        next = kind.each || kind.terms == PGI_KEEP
                   ? behind
                   : PGI_NAME(threes_alike, ELEMENT)(&rows->by[0], column, behind);
        PGI_NAME(threes_down, ELEMENT)
        (rows, shape, kind, column, room + (column - first) * lanes, column * lanes, next * lanes,
         least);
    }
    if (fresh)
        PGI_NAME(threes_zeros, ELEMENT)
    (room, shape, PGI_LARGER(begin, width) - first, end - first);
}

/* Some columns of a group of rows, and the room that has their sums. */
typedef struct PGI_NAME(threes_part, ELEMENT) {
    int64_t time, begin, end; /* places */
    REAL *room;
} PGI_NAME(threes_part, ELEMENT);

#define PART PGI_NAME(threes_part, ELEMENT)

/* The part behind one, in the other room; what both need is handed on. */
PGI_ALWAYS_INLINE PART PGI_NAME(threes_behind, ELEMENT)(const pgi_threes *shape, const PART *part)
{
    const int64_t lanes = shape->lanes, other = PGI_THREES * shape->room_pitch;
    PART next = {part->time, part->end, 0, part->room};
    int t;

    next.room += part->room == (REAL *)shape->room ? other : -other;
    if (next.begin == shape->places) {
        next.time++;
        next.begin = 0;
    } else {
        for (t = 0; t < PGI_THREES; t++)
            memcpy(next.room + t * shape->room_pitch,
                   part->room + t * shape->room_pitch + shape->room_places * lanes,
                   (size_t)(2 * lanes) * sizeof *next.room);
    }
    next.end = PGI_SMALLER(next.begin + shape->room_places, shape->places);
    return next;
}

/* The sums of a part. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_add, ELEMENT)(const SOURCES *given, const pgi_threes *shape,
                                                     KIND kind, const PART *part, vec_least *least)
{
    const int64_t first = shape->first + part->begin;
    SOURCES rows = *given;
    int r;

    PGI_UNROLL
    for (r = 0; r < PGI_THREES + 2; r++)
        rows.from[r] += part->time * shape->from_pitch[r];
    PGI_UNROLL
    for (r = 0; r < 3 * kind.deep; r++)
        rows.planes[r] = (REAL *)shape->planes +
                         (shape->row + part->time + r) % 3 * PGI_THREES * shape->plane_pitch;
    PGI_NAME(threes_columns, ELEMENT)
    (&rows, shape, kind, part->room, part->time < 2 || shape->room_places < shape->places, first,
     first + (part->begin > 0 ? 2 : 0), shape->first + part->end + 2, least);
}

/* The target of a part. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_end, ELEMENT)(const TARGETS *rows, const pgi_threes *shape,
                                                     KIND kind, const PART *part, VECTOR scale,
                                                     vec_least *least)
{
    const int64_t lanes = shape->lanes;
    const REAL *sums = part->room;
    int64_t place, next;
    int t;

#define ACROSS(past)                                                                               \
    PGI_NAME(threes_across, ELEMENT)                                                               \
    (to + place * lanes, sums + (place - part->begin) * lanes, lanes, kind, &rows->by[t], place,   \
     shape->step, scale, (next - place) * lanes, past, least)
    for (t = 0; t < PGI_THREES; t++, sums += shape->room_pitch) {
        STORED *to = rows->to[t];

        if (!to)
            continue;
        to += part->time * shape->to_pitch;
        for (place = part->begin; place < part->end; place = next) {
            next = kind.each || kind.sums == PGI_KEEP
                       ? part->end
                       : PGI_NAME(threes_alike, ELEMENT)(&rows->by[t], place, part->end);
            if (rows->past)
                ACROSS(true);
            else
                ACROSS(false);
        }
    }
#undef ACROSS
}

/* All groups; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(threes_of, ELEMENT)(void *const *to, const void *const *from,
                                                    const pgi_divisors *const *by,
                                                    const pgi_threes *shape, bool deep, bool alike,
                                                    bool each, bool both, pgi_division how,
                                                    bool forward)
{
    const KIND kind = {deep, alike, each, both, forward ? PGI_KEEP : how, forward ? how : PGI_KEEP};
    const VECTOR scale = SET((REAL)shape->alpha);
    vec_least least = vec_least_none();
    PART next = {0, 0, PGI_SMALLER(shape->room_places, shape->places), shape->room};
    PART now = {0}; /* none yet */
    SOURCES sources = {.planes = {NULL}};
    /* rows, their parts, and what has one divisor must begin where a store past the caches can */
    const bool whole = shape->lanes % PGI_STREAM_ELEMENTS == 0;
    const bool parts = whole || shape->room_places >= shape->places ||
                       shape->room_places % PGI_STREAM_ELEMENTS == 0;
    const bool spans = whole || kind.sums == PGI_KEEP || each || shape->step == 0;
    TARGETS targets = {.past = shape->stream && shape->to_pitch % PGI_STREAM_ELEMENTS == 0 &&
                               parts && spans};
    int r;

    PGI_UNROLL
    for (r = 0; r < PGI_THREES + 2; r++) {
        sources.from[r] = from[r];
        sources.by[r] = *by[r];
    }
    for (r = 0; r < PGI_THREES; r++) {
        targets.to[r] = to[r];
        targets.by[r] = *by[r];
        targets.past =
            targets.past && PGI_NAME(may_stream, ELEMENT)(to[r], shape->places * shape->lanes);
    }
    /* The sums of a part are made before the target of the one before it: a vector that begins
     * between two that were just stored waits until these are in the cache. */
    for (;;) {
        if (next.time < shape->times)
            PGI_NAME(threes_add, ELEMENT)(&sources, shape, kind, &next, &least);
        if (now.end > 0)
            PGI_NAME(threes_end, ELEMENT)(&targets, shape, kind, &now, scale, &least);
        if (next.time == shape->times)
            break;
        now = next;
        next = PGI_NAME(threes_behind, ELEMENT)(shape, &now);
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

static bool PGI_NAME(threes, ELEMENT)(void *const *to, const void *const *from,
                                      const pgi_divisors *const *by, const pgi_threes *shape)
{
    enum {
        NARROW = sizeof(STORED) == 2
    };
    const bool each = shape->lanes == 1 && shape->step == 1;
    bool alike = shape->deep || !shape->last;
    int r;

    for (r = 1; r < PGI_THREES + 2; r++)
        alike = alike && by[r]->divisor == by[0]->divisor;
#define THREES(deep, alike, each, both, how, forward)                                              \
    return PGI_NAME(threes_of, ELEMENT)(to, from, by, shape, deep, alike, each, both, how, forward);
#define QUOTIENTS(deep, each, both)                                                                \
    {                                                                                              \
        if (shape->forward)                                                                        \
            THREES(deep, true, each, both, PGI_QUOTIENT, true)                                     \
        if (alike)                                                                                 \
            THREES(deep, true, each, both, PGI_QUOTIENT, false)                                    \
        THREES(deep, false, each, both, PGI_QUOTIENT, false)                                       \
    }
#define EITHER(deep, each)                                                                         \
    case 2 * (deep) + 4 * (each):                                                                  \
        QUOTIENTS(deep, each, false)                                                               \
    case 1 + 2 * (deep) + 4 * (each):                                                              \
        if (shape->forward)                                                                        \
            THREES(deep, true, each, false, PGI_DIVIDE, true)                                      \
        THREES(deep, false, each, false, PGI_DIVIDE, false)
    if (NARROW && !shape->exactly && shape->lanes % (2 * LANES) == 0) {
        if (shape->deep)
            QUOTIENTS(true, false, NARROW)
        QUOTIENTS(false, false, NARROW)
    }
    switch (shape->exactly + 2 * shape->deep + 4 * each) {
        EITHER(false, false)
        EITHER(false, true)
        EITHER(true, false)
        EITHER(true, true)
    }
#undef THREES
#undef QUOTIENTS
#undef EITHER
    return true;
}

#undef KIND
#undef TOGETHER
#undef SOURCES
#undef TARGETS
#undef PART
