/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 and 3x3x3 windows with stride 1, both ways, in one pass, for one element type;
 * included by element.h, whose parameters and words it uses. Signatures and meaning:
 * plan/backend.h.
 *
 * Down the rows two sums are kept for every column, that of the two rows before and the row before;
 * across them the sums of three rows pass through registers. Several target rows are made together:
 * below each other, so that what is kept is loaded and stored once for them, or of planes one
 * behind the other, so that an element is loaded and divided 1.5 times (2 where two rows go
 * together) and not 3.
 */

/* Target rows that go together: as many as there are registers for. */
#define TOGETHER (PGI_LANES(REAL_NAME) * (int)sizeof(REAL) > 32 ? 4 : 2)

/* What is a constant where it is inlined. */
typedef struct PGI_NAME(threes_kind, ELEMENT) {
    bool deep;
    int rows;                 /* of the source */
    pgi_division terms, sums; /* how they are divided */
} PGI_NAME(threes_kind, ELEMENT);

/* Rows that go together. What the stores of a loop cannot change stays in registers. */
typedef struct PGI_NAME(threes_rows, ELEMENT) {
    vec_least least;
    pgi_threes shape;
    const STORED *from[PGI_THREES + 2];
    STORED *to[PGI_THREES]; /* NULL: sums are only kept */
    pgi_divisors by[PGI_THREES + 2];
    bool past;
} PGI_NAME(threes_rows, ELEMENT);

#define KIND PGI_NAME(threes_kind, ELEMENT)
#define ROWS PGI_NAME(threes_rows, ELEMENT)

/* The divisors of a row at a place: one for all lanes, or for each its own. */
PGI_ALWAYS_INLINE BY PGI_NAME(threes_by, ELEMENT)(const ROWS *rows, int row, int64_t at, bool each)
{
    const int64_t there = rows->shape.step * at;

    return each ? PGI_NAME(by_each, ELEMENT)(&rows->by[row], there)
                : PGI_NAME(by_one, ELEMENT)(&rows->by[row], there);
}

/* A vector of each source row, elements `at` and on, to sums of three rows, planes added before;
 * `kept` is where those of the column are. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_down, ELEMENT)(ROWS *rows, KIND kind, int64_t column,
                                                      bool each, int64_t at, int64_t kept,
                                                      int64_t count, VECTOR *sums)
{
    const int64_t pitch = rows->shape.kept_pitch;
    REAL *pairs = (REAL *)rows->shape.kept + kept, *singles = pairs + pitch;
    VECTOR pair = SET(0), single = SET(0), term[PGI_THREES + 2];
    int r, t;

    PGI_UNROLL
    for (r = 0; r < kind.rows; r++) {
        const STORED *here = rows->from[r] + at;
        const VECTOR value =
            count < LANES ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here);

        __builtin_prefetch(here + rows->shape.ahead, 0, 2);
        term[r] =
            PGI_NAME(divided, ELEMENT)(value, PGI_NAME(threes_by, ELEMENT)(rows, r, column, each),
                                       kind.terms, SET(0), &rows->least);
    }
    PGI_UNROLL
    for (t = 0; t < TOGETHER; t++) {
        const VECTOR sum = kind.deep ? ADD(ADD(term[t], term[t + 1]), term[t + 2]) : term[t];

        if (kind.deep || t == 0) {
            pair = GET(pairs + 2 * t * pitch);
            single = GET(singles + 2 * t * pitch);
        }
        sums[t] = ADD(pair, sum);
        pair = ADD(single, sum);
        single = sum;
        if (kind.deep || t == TOGETHER - 1) {
            PUT(pairs + (kind.deep ? 2 * t * pitch : 0), pair);
            PUT(singles + (kind.deep ? 2 * t * pitch : 0), single);
        }
    }
}

/* A sum of three columns to target row `t`, `at` elements on. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_put, ELEMENT)(ROWS *rows, KIND kind, int t, int64_t place,
                                                     bool each, int64_t at, VECTOR sum,
                                                     VECTOR scale, int64_t count)
{
    const VECTOR result =
        kind.sums == PGI_KEEP
            ? sum
            : PGI_NAME(divided, ELEMENT)(sum, PGI_NAME(threes_by, ELEMENT)(rows, t, place, each),
                                         kind.sums, SET(-(REAL)0), &rows->least);

    PGI_NAME(store_part, ELEMENT)(rows->to[t] + at, MUL(result, scale), count, rows->past);
}

/* The lanes of a vector are places: neighbours are slid out of two vectors. A vector of sums is
 * made, of columns from `at` on, and one of targets from place i on, as far as there are such. With
 * `whole` there are, and all their lanes exist. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_step, ELEMENT)(ROWS *rows, KIND kind, int64_t at, int64_t i,
                                                      bool whole, int64_t kept, int64_t shift,
                                                      VECTOR scale, VECTOR *before, VECTOR *here)
{
    VECTOR behind[PGI_THREES];
    int t;

    PGI_UNROLL
    for (t = 0; t < TOGETHER; t++)
        behind[t] = SET(0);
    if (whole || at < rows->shape.width)
        PGI_NAME(threes_down, ELEMENT)
    (rows, kind, at, true, at, kept, whole ? LANES : rows->shape.width - at, behind);
    PGI_UNROLL
    for (t = 0; t < TOGETHER; t++) {
#define NEAR(n) PGI_NAME(shifted, ELEMENT)(before[t], here[t], behind[t], shift + (n))
        if ((whole || i >= 0) && rows->to[t])
            PGI_NAME(threes_put, ELEMENT)
        (rows, kind, t, i, true, i, ADD(ADD(NEAR(0), NEAR(1)), NEAR(2)), scale,
         whole ? LANES : rows->shape.places - i);
#undef NEAR
        before[t] = here[t];
        here[t] = behind[t];
    }
}

PGI_ALWAYS_INLINE void PGI_NAME(threes_places, ELEMENT)(ROWS *rows, KIND kind, int64_t shift)
{
    const int64_t first = rows->shape.first > 0 ? rows->shape.first : 0;
    const VECTOR scale = SET((REAL)rows->shape.alpha);
    VECTOR before[PGI_THREES], here[PGI_THREES];
    int64_t i, at = first;
    int t;

    PGI_UNROLL
    for (t = 0; t < TOGETHER; t++)
        before[t] = here[t] = SET(0);
#define STEP(whole)                                                                                \
    PGI_NAME(threes_step, ELEMENT)                                                                 \
    (rows, kind, at, i, whole, at - first, shift, scale, before, here)
    for (i = -LANES; i < rows->shape.places; i += LANES, at += LANES)
        if (i >= 0 && at + LANES <= rows->shape.width && i + LANES <= rows->shape.places)
            STEP(true);
        else
            STEP(false);
#undef STEP
}

/* The lanes are channels, `vectors` of them: neighbours are other vectors. With `whole` all their
 * lanes exist. Sums of columns are added up to those of places [begin, end); two places before the
 * row's first, from -2 on, have no target. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_lanes, ELEMENT)(ROWS *rows, KIND kind, int vectors,
                                                       bool whole, int64_t lane, int64_t begin,
                                                       int64_t end)
{
    const VECTOR scale = SET((REAL)rows->shape.alpha);
    VECTOR pair[4][PGI_THREES], single[4][PGI_THREES];
    int64_t i;
    int t, v;

    /* sums of the last two columns, and of the last one, of target row after row */
#define ACROSS(n)                                                                                  \
    ((REAL *)rows->shape.across + (2 * t + (n)) * rows->shape.column + lane + v * LANES)
    PGI_UNROLL
    for (v = 0; v < vectors; v++)
        PGI_UNROLL
    for (t = 0; t < TOGETHER; t++) {
        pair[v][t] = begin == -2 ? SET(0) : GET(ACROSS(0));
        single[v][t] = begin == -2 ? SET(0) : GET(ACROSS(1));
    }
    for (i = begin; i < end; i++) {
        const int64_t column = rows->shape.first + i + 2;

        PGI_UNROLL
        for (v = 0; v < vectors; v++) {
            const int64_t at = lane + v * LANES, count = whole ? LANES : rows->shape.lanes - at;
            VECTOR sums[PGI_THREES];

            PGI_UNROLL
            for (t = 0; t < TOGETHER; t++)
                sums[t] = SET(0);
            if (column >= 0 && column < rows->shape.width)
                PGI_NAME(threes_down, ELEMENT)
            (rows, kind, column, false, column * rows->shape.lanes + at,
             column * rows->shape.column + at, count, sums);
            PGI_UNROLL
            for (t = 0; t < TOGETHER; t++) {
                if (i >= 0 && rows->to[t])
                    PGI_NAME(threes_put, ELEMENT)
                (rows, kind, t, i, false, i * rows->shape.lanes + at, ADD(pair[v][t], sums[t]),
                 scale, count);
                pair[v][t] = ADD(single[v][t], sums[t]);
                single[v][t] = sums[t];
            }
        }
    }
    if (end == rows->shape.places)
        return;
    PGI_UNROLL
    for (v = 0; v < vectors; v++)
        PGI_UNROLL
    for (t = 0; t < TOGETHER; t++) {
        PUT(ACROSS(0), pair[v][t]);
        PUT(ACROSS(1), single[v][t]);
    }
#undef ACROSS
}

/* Vectors that fill a cache line: what is streamed in pieces of one waits for the rest of it. */
#define VECTORS                                                                                    \
    (64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 2   ? 4                                   \
     : 64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 1 ? 2                                   \
                                                             : 1)

/* One group of rows. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_group, ELEMENT)(ROWS *rows, KIND kind)
{
    const int64_t lanes = rows->shape.lanes, first = rows->shape.first;
    const int64_t places = rows->shape.places;
    int64_t lane, begin, end;

    if (lanes == 1 && LANES > 1) {
        if (first == -1) /* padding of 1, a constant */
            PGI_NAME(threes_places, ELEMENT)(rows, kind, -1);
        else
            PGI_NAME(threes_places, ELEMENT)(rows, kind, first < 0 ? first : 0);
        return;
    }
    /* Place by place, so that what is stored and fetched lies side by side: 8x256x56x56 in bf16 1.2
     * against 1.7 ms, and 32x48x56x56, whose places share cache lines, 1.3 against 5.7. */
    for (begin = -2; begin < places; begin = end) {
        end = lanes <= VECTORS * LANES ? places : begin + 1;
        for (lane = 0; lane + VECTORS * LANES <= lanes; lane += VECTORS * LANES)
            PGI_NAME(threes_lanes, ELEMENT)(rows, kind, VECTORS, true, lane, begin, end);
        for (; VECTORS > 1 && lane + LANES <= lanes; lane += LANES)
            PGI_NAME(threes_lanes, ELEMENT)(rows, kind, 1, true, lane, begin, end);
        if (lane < lanes)
            PGI_NAME(threes_lanes, ELEMENT)(rows, kind, 1, false, lane, begin, end);
    }
}

/* TOGETHER target rows, from the done-th on, of the groups [begin, end); false if a quotient is in
 * doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(threes_of, ELEMENT)(void *const *to, const void *const *from,
                                                    const pgi_divisors *const *by,
                                                    const pgi_threes *shape, int64_t begin,
                                                    int64_t end, int done, bool deep,
                                                    pgi_division how, bool forward)
{
    const KIND kind = {deep, TOGETHER + 2 * deep, forward ? PGI_KEEP : how,
                       forward ? how : PGI_KEEP};
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    ROWS rows = {.shape = *shape, .least = vec_least_none()};
    int64_t time;
    int r;

    if (deep) /* planes have their own sums */
        rows.shape.kept = (REAL *)shape->kept + 2 * done * shape->kept_pitch;
    PGI_UNROLL
    for (r = 0; r < kind.rows; r++) {
        rows.from[r] = (const STORED *)from[done + r] + begin * shape->from_pitch[done + r];
        rows.by[r] = *by[done + r];
    }
    rows.past = shape->stream && shape->to_pitch % PGI_STREAM_ELEMENTS == 0;
    PGI_UNROLL
    for (r = 0; r < TOGETHER; r++) {
        rows.to[r] = to[done + r];
        if (rows.to[r])
            rows.to[r] += begin * shape->to_pitch;
        rows.past = rows.past && PGI_NAME(may_stream, ELEMENT)(rows.to[r], side_by_side);
    }
    for (time = begin; time < end; time++) {
        PGI_NAME(threes_group, ELEMENT)(&rows, kind);
        PGI_UNROLL
        for (r = 0; r < kind.rows; r++)
            rows.from[r] += shape->from_pitch[done + r];
        PGI_UNROLL
        for (r = 0; r < TOGETHER; r++)
            if (rows.to[r])
                rows.to[r] += shape->to_pitch;
    }
    return !PGI_VEC(below, REAL_NAME)(rows.least);
}

static bool PGI_NAME(threes, ELEMENT)(void *const *to, const void *const *from,
                                      const pgi_divisors *const *by, const pgi_threes *shape)
{
    /* rows below each other are in order */
    const int64_t some = shape->deep || TOGETHER == PGI_THREES ? shape->times : 1;
    int64_t time;
    bool good = true;
    int done;

#define THREES(deep, how, forward)                                                                 \
    PGI_NAME(threes_of, ELEMENT)                                                                   \
    (to, from, by, shape, time, time + some, done, deep, how, forward)
#define EITHER(deep, forward)                                                                      \
    case 2 * (deep) + 4 * (forward):                                                               \
        good &= THREES(deep, PGI_QUOTIENT, forward);                                               \
        break;                                                                                     \
    case 1 + 2 * (deep) + 4 * (forward):                                                           \
        THREES(deep, PGI_DIVIDE, forward);                                                         \
        break;
    for (time = 0; time < shape->times; time += some)
        for (done = 0; done < PGI_THREES; done += TOGETHER)
            switch (shape->exactly + 2 * shape->deep + 4 * shape->forward) {
                EITHER(false, false)
                EITHER(true, false)
                EITHER(false, true)
                EITHER(true, true)
            }
#undef THREES
#undef EITHER
    return good;
}

#undef KIND
#undef ROWS
#undef TOGETHER
#undef VECTORS
