/* SPDX-License-Identifier: MIT */
/*
 * Averages of small windows in one pass, for one element type; included by element.h, whose
 * parameters and words it uses. Signatures and meaning: plan/backend.h.
 *
 * Up to three terms are added one after the other, which is the order of docs/arithmetic.md, and
 * what does not exist is left out or 0, which is the same. The +0 of terms is added to sums
 * instead: they differ only if all their terms are -0.
 */

/* A target row. */
typedef struct PGI_NAME(direct_row, ELEMENT) {
    const pgi_direct *shape;
    const STORED *from[PGI_DIRECT * PGI_DIRECT];
    STORED *to;
    pgi_division how; /* PGI_DIVIDE once a quotient was in doubt */
    bool past;
} PGI_NAME(direct_row, ELEMENT);

#define ROW PGI_NAME(direct_row, ELEMENT)

/* The rows of windows added, `count` elements from `at` on: along the planes, then along the
 * rows. */
#define DOWN                                                                                       \
    const int known = row->shape->known;                                                           \
    const int64_t ahead = row->shape->ahead;                                                       \
    VECTOR sum = SET(0), part = sum;                                                               \
    int r, p;                                                                                      \
                                                                                                   \
    UNROLL                                                                                         \
    for (r = 0; r < rows; r++) {                                                                   \
        UNROLL                                                                                     \
        for (p = 0; p < planes; p++) {                                                             \
            const STORED *here = from[r * planes + p] + at;                                        \
            const VECTOR value =                                                                   \
                count < LANES ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here);      \
                                                                                                   \
            if (r >= known)                                                                        \
                __builtin_prefetch(here + ahead, 0, 2);                                            \
            part = p ? ADD(part, value) : value;                                                   \
        }                                                                                          \
        sum = r ? ADD(sum, part) : part;                                                           \
    }                                                                                              \
    return sum

#define UNROLL
static __attribute__((noinline)) VECTOR PGI_NAME(down_any, ELEMENT)(const ROW *row, int64_t at,
                                                                    int64_t count)
{
    const int planes = row->shape->planes, rows = row->shape->rows;
    const STORED *const *from = row->from;

    DOWN;
}
#undef UNROLL

/* `planes` and `rows` are constants where this is inlined; 0 planes: what is rare. */
#define UNROLL PGI_UNROLL
PGI_ALWAYS_INLINE VECTOR PGI_NAME(down, ELEMENT)(const ROW *row, const STORED *const *from,
                                                 int planes, int rows, int64_t at, int64_t count)
{
    if (planes == 0)
        return PGI_NAME(down_any, ELEMENT)(row, at, count);
    DOWN;
}
#undef UNROLL
#undef DOWN

/* The same of two vectors of elements side by side, in the order of vec_load_both. */
PGI_ALWAYS_INLINE void PGI_NAME(down_both, ELEMENT)(const ROW *row, const STORED *const *from,
                                                    int planes, int rows, int64_t at, VECTOR *low,
                                                    VECTOR *high)
{
    const int known = row->shape->known;
    const int64_t ahead = row->shape->ahead;
    VECTOR a, b, part_a = SET(0), part_b = part_a;
    int r, p;

    PGI_UNROLL
    for (r = 0; r < rows; r++) {
        PGI_UNROLL
        for (p = 0; p < planes; p++) {
            const STORED *here = from[r * planes + p] + at;

            PGI_VEC(load_both, ELEMENT)(here, &a, &b);
            if (r >= known)
                __builtin_prefetch(here + ahead, 0, 2);
            part_a = p ? ADD(part_a, a) : a;
            part_b = p ? ADD(part_b, b) : b;
        }
        *low = r ? ADD(*low, part_a) : part_a;
        *high = r ? ADD(*high, part_b) : part_b;
    }
}

/* Sums from window i on, or of window i alone, divided and stored. */
PGI_ALWAYS_INLINE void PGI_NAME(put_average, ELEMENT)(const ROW *row, STORED *to, VECTOR sum,
                                                      int64_t count, int64_t i, bool places,
                                                      vec_least *least)
{
    const pgi_divisors *divisors = &row->shape->by;
    const VECTOR scale = SET((REAL)row->shape->alpha);
    const BY by = divisors->step && places
                      ? PGI_NAME(by_each, ELEMENT)(divisors, i)
                      : PGI_NAME(by_one, ELEMENT)(divisors, divisors->step ? i : 0);

    PGI_NAME(store_part, ELEMENT)
    (to,
     row->how == PGI_DIVIDE ? PGI_NAME(result, ELEMENT)(sum, by, PGI_DIVIDE, scale, least)
                            : PGI_NAME(result, ELEMENT)(sum, by, PGI_QUOTIENT, scale, least),
     count, row->past);
}

/* Up to three columns of windows added. */
#define ACROSS(sum, columns, column)                                                               \
    do {                                                                                           \
        sum = column(0);                                                                           \
        if ((columns) > 1)                                                                         \
            sum = ADD(sum, column(1));                                                             \
        if ((columns) > 2)                                                                         \
            sum = ADD(sum, column(2));                                                             \
    } while (0)

/* What the stores of a loop cannot change stays in registers. */
#define LOCAL                                                                                      \
    const pgi_direct shape = *row->shape;                                                          \
    const STORED *from[PGI_DIRECT * PGI_DIRECT];                                                   \
    STORED *to = row->to;                                                                          \
    vec_least least = vec_least_none();                                                            \
                                                                                                   \
    memcpy(from, row->from, sizeof from)

/* ----------------------------------------------- the lanes of a vector: places */

/* What is `shift` places further than `here`, between the vectors around it; not more than two. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(shifted, ELEMENT)(VECTOR before, VECTOR here, VECTOR behind,
                                                    int64_t shift)
{
    switch (shift) {
    case -2:
        return PGI_VEC(slide, REAL_NAME)(before, here, LANES - 2);
    case -1:
        return PGI_VEC(slide, REAL_NAME)(before, here, LANES - 1);
    case 1:
        return PGI_VEC(slide, REAL_NAME)(here, behind, 1);
    case 2:
        return PGI_VEC(slide, REAL_NAME)(here, behind, 2);
    default:
        return here;
    }
}

/* Columns from `at` on: all that exist. */
#define COLUMNS(at)                                                                                \
    ((at) + LANES <= shape.width ? PGI_NAME(down, ELEMENT)(row, from, planes, rows, at, LANES)     \
     : (at) < shape.width                                                                          \
         ? PGI_NAME(down, ELEMENT)(row, from, planes, rows, at, shape.width - (at))                \
         : SET(0))
#define PUT_AVERAGE(at)                                                                            \
    PGI_NAME(put_average, ELEMENT)                                                                 \
    (row, to + (at), sum, shape.places - (at), at, true, &least)

/* With stride 1. */
PGI_ALWAYS_INLINE bool PGI_NAME(direct_every, ELEMENT)(ROW *row, int planes, int rows)
{
    LOCAL;
    const int64_t first = shape.before < 0 ? -shape.before : 0, shift = -shape.before - first;
    VECTOR before = SET(0), here = before, behind, sum;
    int64_t i, at = first;

#define EVERY(t) PGI_NAME(shifted, ELEMENT)(before, here, behind, shift + (t))
    for (i = -LANES; i < shape.places; i += LANES, before = here, here = behind) {
        behind = COLUMNS(at);
        at += LANES;
        if (i < 0)
            continue;
        ACROSS(sum, shape.columns, EVERY);
        PUT_AVERAGE(i);
    }
#undef EVERY
    return !PGI_VEC(below, REAL_NAME)(least);
}

/* Two vectors of columns: those with even numbers and those with odd ones. */
typedef struct PGI_NAME(apart, ELEMENT) {
    VECTOR even, odd;
} PGI_NAME(apart, ELEMENT);

#define APART PGI_NAME(apart, ELEMENT)

/* Column t of every other window: `shift` is its place after twice that of its window, not more
 * than two away. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(other, ELEMENT)(APART before, APART here, APART behind,
                                                  int64_t shift)
{
    switch (shift) {
    case -2:
        return PGI_VEC(slide, REAL_NAME)(before.even, here.even, (int)LANES - 1);
    case -1:
        return PGI_VEC(slide, REAL_NAME)(before.odd, here.odd, (int)LANES - 1);
    case 1:
        return here.odd;
    case 2:
        return PGI_VEC(slide, REAL_NAME)(here.even, behind.even, 1);
    default:
        return here.even;
    }
}
#define OTHER(t) PGI_NAME(other, ELEMENT)(before, here, behind, shift + (t))

/* With stride 2, as long as vectors of columns are whole and have one divisor; how far that went.
 * What is constant where this is inlined: `columns`, `shift` and `how`. */
PGI_ALWAYS_INLINE int64_t PGI_NAME(direct_whole, ELEMENT)(ROW *row, int planes, int rows,
                                                          int columns, int64_t shift,
                                                          pgi_division how, vec_least *doubt)
{
    LOCAL;
    const bool past = row->past, after = shift + columns > 2;
    const BY by = PGI_NAME(by_one, ELEMENT)(&shape.by, 0);
    const VECTOR scale = SET((REAL)shape.alpha);
    APART before = {SET(0), SET(0)}, here = before, behind = before;
    int64_t i, at = shape.before < 0 ? -shape.before : 0, end;
    VECTOR sum;

#define BEHIND                                                                                     \
    PGI_NAME(down_both, ELEMENT)(row, from, planes, rows, at, &behind.even, &behind.odd);          \
    PGI_VEC(apart, ELEMENT)(&behind.even, &behind.odd);                                            \
    at += 2 * LANES
    end = PGI_SMALLER(shape.places, (shape.width - at) / 2 - after * LANES) - LANES;
    if (shape.by.step || end < 0)
        return 0;
    if (after) {
        BEHIND;
        here = behind;
    }
    least = *doubt;
    for (i = 0; i <= end; i += LANES) {
        BEHIND;
        if (!after)
            here = behind;
        ACROSS(sum, columns, OTHER);
        sum = PGI_NAME(result, ELEMENT)(sum, by, how, scale, &least);
        if (past)
            STREAM_VECTOR(to + i, sum);
        else
            STORE_VECTOR(to + i, sum);
        before = here;
        here = behind;
    }
#undef BEHIND
    *doubt = least;
    return i;
}

/* With stride 2, anything: windows from the `begin`-th on. */
PGI_ALWAYS_INLINE bool PGI_NAME(direct_other, ELEMENT)(ROW *row, int planes, int rows,
                                                       int64_t begin, vec_least doubt)
{
    LOCAL;
    const int64_t first = shape.before < 0 ? -shape.before : 0, shift = -shape.before - first;
    APART before = {SET(0), SET(0)}, here = before, behind = before;
    VECTOR sum, low, high;
    int64_t i, at;

    least = doubt;
    for (i = begin > 0 ? begin - 2 * LANES : -LANES; i < shape.places; i += LANES) {
        at = first + 2 * (i + LANES); /* the columns of the next windows */
        low = COLUMNS(at);
        high = COLUMNS(at + LANES);
        before = here;
        here = behind;
        behind = (APART){PGI_VEC(even, REAL_NAME)(low, high), PGI_VEC(odd, REAL_NAME)(low, high)};
        if (i < begin)
            continue;
        ACROSS(sum, shape.columns, OTHER);
        PUT_AVERAGE(i);
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}
#undef OTHER
#undef APART

PGI_ALWAYS_INLINE bool PGI_NAME(direct_places, ELEMENT)(ROW *row, int planes, int rows)
{
    const int64_t shift = row->shape->before > 0 ? -row->shape->before : 0;
    vec_least least = vec_least_none();
    int64_t done = 0;

    if (row->shape->stride == 1)
        return PGI_NAME(direct_every, ELEMENT)(row, planes, rows);
    if (planes > 0) {
#define WHOLE(columns, shift, how)                                                                 \
    PGI_NAME(direct_whole, ELEMENT)(row, planes, rows, columns, shift, how, &least)
        if (row->shape->columns == 2 && shift == 0 && row->how == PGI_MULTIPLY)
            done = WHOLE(2, 0, PGI_MULTIPLY);
        else if (row->shape->columns == 3 && shift == 0 && row->how == PGI_QUOTIENT)
            done = WHOLE(3, 0, PGI_QUOTIENT);
        else if (row->shape->columns == 3 && shift == -1 && row->how == PGI_QUOTIENT)
            done = WHOLE(3, -1, PGI_QUOTIENT);
#undef WHOLE
    }
    if (done >= row->shape->places)
        return !PGI_VEC(below, REAL_NAME)(least);
    return PGI_NAME(direct_other, ELEMENT)(row, planes, rows, done, least);
}
#undef COLUMNS
#undef PUT_AVERAGE

/* --------------------------------------------- the lanes of a vector: channels */

#define PUT_AVERAGE(lane, sum, count)                                                              \
    PGI_NAME(put_average, ELEMENT)                                                                 \
    (row, to + i * shape.lanes + (lane), sum, count, i, false, &least)

/* Channels of a window with so many columns, from `at` on, two vectors at a time; how far that
 * went. `columns` and `how` are constants where this is inlined. */
PGI_ALWAYS_INLINE int64_t PGI_NAME(direct_pairs,
                                   ELEMENT)(const ROW *row, STORED *to, const STORED *const *from,
                                            int planes, int rows, int columns, int64_t first,
                                            int64_t at, BY by, pgi_division how, vec_least *least)
{
    const int64_t lanes = row->shape->lanes, step = row->shape->column;
    const VECTOR scale = SET((REAL)row->shape->alpha);
    const bool past = row->past;
    VECTOR a, b, low, high;
    int t;

    for (; at + 2 * LANES <= lanes; at += 2 * LANES) {
        PGI_NAME(down_both, ELEMENT)(row, from, planes, rows, first + at, &low, &high);
        PGI_UNROLL
        for (t = 1; t < columns; t++) {
            PGI_NAME(down_both, ELEMENT)(row, from, planes, rows, first + t * step + at, &a, &b);
            low = ADD(low, a);
            high = ADD(high, b);
        }
        PGI_VEC(store_both, ELEMENT)
        (to + at, PGI_NAME(result, ELEMENT)(low, by, how, scale, least),
         PGI_NAME(result, ELEMENT)(high, by, how, scale, least), past);
    }
    return at;
}

/* Channels from `begin` on, window by window. */
PGI_ALWAYS_INLINE bool PGI_NAME(direct_groups, ELEMENT)(ROW *row, int planes, int rows,
                                                        int64_t begin)
{
    LOCAL;
    int64_t i, at;

    for (i = 0; i < shape.places && begin < shape.lanes; i++) {
        const int64_t start = i * shape.stride - shape.before, end = start + shape.columns;
        const int64_t lowest = start > 0 ? start : 0;
        const int64_t columns = (end < shape.width ? end : shape.width) - lowest;

        at = begin;
#define PAIRS(columns, how)                                                                        \
    PGI_NAME(direct_pairs, ELEMENT)                                                                \
    (row, to + i * shape.lanes, from, planes, rows, columns, lowest * shape.column, at,            \
     PGI_NAME(by_one, ELEMENT)(&shape.by, shape.by.step ? i : 0), how, &least)
        if (planes > 0 && columns == 2 && row->how == PGI_MULTIPLY)
            at = PAIRS(2, PGI_MULTIPLY);
        else if (planes > 0 && columns == 2 && row->how == PGI_QUOTIENT)
            at = PAIRS(2, PGI_QUOTIENT);
        else if (planes > 0 && columns == 3 && row->how == PGI_QUOTIENT)
            at = PAIRS(3, PGI_QUOTIENT);
#undef PAIRS
        for (; at < shape.lanes; at += LANES) {
            VECTOR sum = SET(0);

#define WHOLE(t)                                                                                   \
    PGI_NAME(down, ELEMENT)(row, from, planes, rows, (lowest + (t)) * shape.column + at, LANES)
#define SOME(t)                                                                                    \
    PGI_NAME(down, ELEMENT)                                                                        \
    (row, from, planes, rows, (lowest + (t)) * shape.column + at, shape.lanes - at)
            if (at + LANES <= shape.lanes) {
                if (columns > 0)
                    ACROSS(sum, columns, WHOLE);
                PUT_AVERAGE(at, sum, LANES);
            } else {
                if (columns > 0)
                    ACROSS(sum, columns, SOME);
                PUT_AVERAGE(at, sum, shape.lanes - at);
            }
#undef WHOLE
#undef SOME
        }
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

/* Vectors of channels that go through a row together: as many as there are registers for. */
#define TOGETHER (PGI_LANES(REAL_NAME) * (int)sizeof(REAL) > 32 ? 4 : 2)

/* As many channels as possible, whole rows: neighbouring windows share columns. */
PGI_ALWAYS_INLINE bool PGI_NAME(direct_sliding, ELEMENT)(ROW *row, int planes, int rows)
{
    LOCAL;
    int64_t i, at;
    int v;

    for (at = 0; at + TOGETHER * LANES <= shape.lanes; at += TOGETHER * LANES) {
        VECTOR first[4], second[4], third[4];

        PGI_UNROLL
        for (v = 0; v < TOGETHER; v++)
            first[v] = second[v] = SET(0);
        for (i = 1 - shape.columns; i < shape.places; i++) {
            const int64_t column = i + shape.columns - 1 - shape.before;

            PGI_UNROLL
            for (v = 0; v < TOGETHER; v++) {
                const int64_t lane = at + v * LANES;

                third[v] = SET(0);
                if (column >= 0 && column < shape.width)
                    third[v] = PGI_NAME(down, ELEMENT)(row, from, planes, rows,
                                                       column * shape.column + lane, LANES);
                if (i >= 0) {
                    const VECTOR begun = shape.columns > 2 ? ADD(first[v], second[v]) : second[v];

                    PUT_AVERAGE(lane, ADD(begun, third[v]), LANES);
                }
                first[v] = second[v];
                second[v] = third[v];
            }
        }
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}
#undef PUT_AVERAGE

/* ------------------------------------------------------------------- all rows */

PGI_ALWAYS_INLINE bool PGI_NAME(direct_row_of, ELEMENT)(ROW *row, int planes, int rows)
{
    const pgi_direct *shape = row->shape;
    int64_t done = 0;
    bool good = true;

    if (shape->lanes == 1 && LANES > 1)
        return PGI_NAME(direct_places, ELEMENT)(row, planes, rows);
    if (shape->stride == 1 && shape->columns > 1) {
        good = PGI_NAME(direct_sliding, ELEMENT)(row, planes, rows);
        done = shape->lanes / (TOGETHER * LANES) * (TOGETHER * LANES);
    }
    return PGI_NAME(direct_groups, ELEMENT)(row, planes, rows, done) && good;
}
#undef TOGETHER

static bool PGI_NAME(direct_any, ELEMENT)(ROW *row)
{
    switch (row->shape->planes * 4 + row->shape->rows) {
#define SHAPE(planes, rows)                                                                        \
    case (planes)*4 + (rows):                                                                      \
        return PGI_NAME(direct_row_of, ELEMENT)(row, planes, rows);
        SHAPE(1, 1)
        SHAPE(1, 2)
        SHAPE(1, 3)
        SHAPE(2, 2)
        SHAPE(3, 3)
#undef SHAPE
    default:
        return PGI_NAME(direct_row_of, ELEMENT)(row, 0, 0);
    }
}

static void PGI_NAME(direct, ELEMENT)(void *to, const void *const *from, const pgi_direct *shape)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    const int number = shape->planes * shape->rows;
    ROW row = {.shape = shape, .to = to};
    int64_t target;
    int i;

    for (i = 0; i < number; i++)
        row.from[i] = from[i];
    for (target = 0; target < shape->targets; target++, row.to += shape->to_pitch) {
        row.past = shape->stream && PGI_NAME(may_stream, ELEMENT)(row.to, side_by_side);
        row.how = shape->by.how;
        while (!PGI_NAME(direct_any, ELEMENT)(&row))
            row.how = PGI_DIVIDE;
        for (i = 0; i < number; i++)
            row.from[i] += shape->from_pitch;
    }
}

#undef ACROSS
#undef LOCAL
#undef ROW
