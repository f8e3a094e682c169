/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 and 3x3x3 windows with stride 1, both ways, in one pass, for one element type;
 * included by element.h, whose parameters and words it uses. Signatures and meaning:
 * plan/backend.h.
 *
 * Every element is loaded once, in 3-D once for every plane that it is added to. Down the rows two
 * sums are kept for every column, that of the two rows before and the row before; across them the
 * sums of three rows pass through registers. Rows are taken TOGETHER at a time, so that what is
 * kept is loaded and stored once for them.
 */

/* Rows that go together: as many as there are registers for. */
#define TOGETHER (PGI_LANES(REAL_NAME) * (int)sizeof(REAL) > 32 ? 4 : 2)

/* What the stores of a loop cannot change stays in registers. */
typedef struct PGI_NAME(threes_rows, ELEMENT) {
    pgi_threes shape;
    const STORED *from[3]; /* of the planes */
    STORED *to;            /* NULL: sums are only kept */
    vec_doubt doubt;
    bool past;
} PGI_NAME(threes_rows, ELEMENT);

#define ROWS PGI_NAME(threes_rows, ELEMENT)

/* `count` elements of row r of a plane, as terms. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(threes_term, ELEMENT)(ROWS *rows, int plane, int r, BY by,
                                                        pgi_division how, int64_t at, int64_t count)
{
    const STORED *here = rows->from[plane] + r * rows->shape.from_pitch[plane] + at;
    const VECTOR value =
        count < LANES ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here);

    __builtin_prefetch(here + rows->shape.ahead, 0, 2);
    return PGI_NAME(divided, ELEMENT)(value, by, how, SET(0), &rows->doubt);
}

/* The divisors of a plane at a column, or of a place: one for all lanes, or for each its own. */
PGI_ALWAYS_INLINE BY PGI_NAME(threes_by, ELEMENT)(const pgi_threes *shape, int plane, int64_t at,
                                                  bool each)
{
    const pgi_divisors *by = &shape->by[plane];

    return each && by->step ? PGI_NAME(by_each, ELEMENT)(by, at)
                            : PGI_NAME(by_one, ELEMENT)(by, by->step ? at : 0);
}

/* A vector of each row, element `at` and on, to sums of three rows, planes added before. `kept` is
 * where the sums of the column are. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_down, ELEMENT)(ROWS *rows, int number, int planes,
                                                      const BY *by, pgi_division how, int64_t at,
                                                      int64_t kept, int64_t count, VECTOR *sums)
{
    REAL *pairs = (REAL *)rows->shape.pairs + kept, *singles = (REAL *)rows->shape.singles + kept;
    VECTOR pair = GET(pairs), single = GET(singles);
    int r, p;

    PGI_UNROLL
    for (r = 0; r < number; r++) {
        VECTOR term = PGI_NAME(threes_term, ELEMENT)(rows, 0, r, by[0], how, at, count);

        PGI_UNROLL
        for (p = 1; p < planes; p++)
            term = ADD(term, PGI_NAME(threes_term, ELEMENT)(rows, p, r, by[p], how, at, count));
        sums[r] = ADD(pair, term);
        pair = ADD(single, term);
        single = term;
    }
    PUT(pairs, pair);
    PUT(singles, single);
}

/* A sum of three columns to row `r` of the target, `at` elements on. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_put, ELEMENT)(ROWS *rows, int r, int64_t at, VECTOR sum,
                                                     BY by, pgi_division how, VECTOR scale,
                                                     int64_t count)
{
    const VECTOR result =
        how == PGI_KEEP ? sum
                        : PGI_NAME(divided, ELEMENT)(sum, by, how, SET(-(REAL)0), &rows->doubt);

    PGI_NAME(store_part, ELEMENT)
    (rows->to + r * rows->shape.to_pitch + at, MUL(result, scale), count, rows->past);
}

/* Terms are divided by what their columns have, or sums by what their places have. */
#define TERM_BY (forward ? PGI_KEEP : how)
#define SUM_BY  (forward ? how : PGI_KEEP)

/* The lanes of a vector are places: neighbours are slid out of two vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_places, ELEMENT)(ROWS *given, int number, int planes,
                                                        pgi_division how, bool forward,
                                                        int64_t shift)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    const int64_t first = shape.first > 0 ? shape.first : 0;
    const VECTOR scale = SET((REAL)shape.alpha);
    VECTOR before[4], here[4], behind[4];
    int64_t i, at = first;
    int r, p;
    BY by[3];

    PGI_UNROLL
    for (r = 0; r < number; r++)
        before[r] = here[r] = behind[r] = SET(0);
    for (i = -LANES; i < shape.places; i += LANES, at += LANES) {
        if (at < shape.width) {
            PGI_UNROLL
            for (p = 0; p < planes; p++)
                by[p] = PGI_NAME(threes_by, ELEMENT)(&shape, p, forward ? 0 : at, !forward);
            PGI_NAME(threes_down, ELEMENT)
            (rows, number, planes, by, TERM_BY, at, at - first, shape.width - at, behind);
        }
        by[0] = PGI_NAME(threes_by, ELEMENT)(&shape, 0, i < 0 ? 0 : i, forward);
        PGI_UNROLL
        for (r = 0; r < number; r++) {
#define NEAR(t) PGI_NAME(shifted, ELEMENT)(before[r], here[r], behind[r], shift + (t))
            if (i >= 0 && rows->to)
                PGI_NAME(threes_put, ELEMENT)
            (rows, r, i, ADD(ADD(NEAR(0), NEAR(1)), NEAR(2)), by[0], SUM_BY, scale,
             shape.places - i);
#undef NEAR
            before[r] = here[r];
            here[r] = behind[r];
            behind[r] = SET(0);
        }
    }
    given->doubt = copy.doubt;
}

/* The lanes are channels, `vectors` of them: neighbours are other vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_lanes, ELEMENT)(ROWS *given, int number, int planes,
                                                       int vectors, pgi_division how, bool forward,
                                                       int64_t lane)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    const VECTOR scale = SET((REAL)shape.alpha);
    VECTOR pair[4][4], single[4][4];
    int64_t i;
    int r, v, p;
    BY by[3];

    PGI_UNROLL
    for (v = 0; v < vectors; v++)
        PGI_UNROLL
    for (r = 0; r < number; r++)
        pair[v][r] = single[v][r] = SET(0);
    for (i = -2; i < shape.places; i++) {
        const int64_t column = shape.first + i + 2;
        const bool exists = column >= 0 && column < shape.width;

        PGI_UNROLL
        for (p = 0; p < planes; p++)
            by[p] = PGI_NAME(threes_by, ELEMENT)(
                &shape, p, forward ? (i < 0 ? 0 : i) : (exists ? column : 0), false);
        PGI_UNROLL
        for (v = 0; v < vectors; v++) {
            const int64_t at = lane + v * LANES, rest = shape.lanes - at;
            VECTOR sums[4];

            PGI_UNROLL
            for (r = 0; r < number; r++)
                sums[r] = SET(0);
            if (exists)
                PGI_NAME(threes_down, ELEMENT)
            (rows, number, planes, by, TERM_BY, column * shape.lanes + at, column * shape.kept + at,
             rest, sums);
            PGI_UNROLL
            for (r = 0; r < number; r++) {
                if (i >= 0 && rows->to)
                    PGI_NAME(threes_put, ELEMENT)
                (rows, r, i * shape.lanes + at, ADD(pair[v][r], sums[r]), by[0], SUM_BY, scale,
                 rest);
                pair[v][r] = ADD(single[v][r], sums[r]);
                single[v][r] = sums[r];
            }
        }
    }
    given->doubt = copy.doubt;
}
#undef TERM_BY
#undef SUM_BY

/* Vectors that fill a cache line: what is streamed in pieces of one waits for the rest of it. */
#define VECTORS                                                                                    \
    (64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 2   ? 4                                   \
     : 64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 1 ? 2                                   \
                                                             : 1)

PGI_ALWAYS_INLINE void PGI_NAME(threes_some, ELEMENT)(ROWS *rows, int number, int planes,
                                                      pgi_division how, bool forward)
{
    const int64_t lanes = rows->shape.lanes, first = rows->shape.first;
    int64_t lane = 0;

    if (lanes == 1 && LANES > 1) {
        if (first == -1) /* padding of 1, a constant */
            PGI_NAME(threes_places, ELEMENT)(rows, number, planes, how, forward, -1);
        else
            PGI_NAME(threes_places, ELEMENT)
        (rows, number, planes, how, forward, first < 0 ? first : 0);
        return;
    }
    for (; lane + VECTORS * LANES <= lanes; lane += VECTORS * LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, planes, VECTORS, how, forward, lane);
    for (; lane < lanes; lane += LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, planes, 1, how, forward, lane);
}

static bool PGI_NAME(threes, ELEMENT)(void *to, const void *const from[3], const pgi_threes *shape)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    ROWS rows = {.shape = *shape, .to = to, .doubt = vec_no_doubt()};
    int64_t row = 0, some;
    bool exactly = false;
    int p;

    for (p = 0; p < shape->planes; p++) {
        rows.from[p] = from[p];
        exactly |= shape->by[p].how == PGI_DIVIDE;
    }
    for (; row < shape->rows; row += some) {
        some = shape->rows - row < TOGETHER || exactly ? 1 : TOGETHER;
        rows.past = shape->stream && PGI_NAME(may_stream, ELEMENT)(rows.to, side_by_side);
        switch ((some == 1) + 2 * (shape->planes == 3) + 4 * shape->forward) {
#define SOME(which, planes, forward)                                                               \
    case (which):                                                                                  \
        PGI_NAME(threes_some, ELEMENT)(&rows, TOGETHER, planes, PGI_QUOTIENT, forward);            \
        break;                                                                                     \
    case (which) + 1:                                                                              \
        PGI_NAME(threes_some, ELEMENT)                                                             \
        (&rows, 1, planes, exactly ? PGI_DIVIDE : PGI_QUOTIENT, forward);                          \
        break;
            SOME(0, 1, false)
            SOME(2, 3, false)
            SOME(4, 1, true)
            SOME(6, 3, true)
#undef SOME
        }
        for (p = 0; p < shape->planes; p++)
            rows.from[p] += some * shape->from_pitch[p];
        if (rows.to)
            rows.to += some * shape->to_pitch;
    }
    return !vec_in_doubt(rows.doubt);
}

#undef ROWS
#undef TOGETHER
#undef VECTORS
