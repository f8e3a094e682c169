/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 windows with stride 1, both ways, in one pass, for one element type; included by
 * element.h, whose parameters and words it uses. Signatures and meaning: plan/backend.h.
 *
 * Every element is loaded once. Down the rows two sums are kept for every column, that of
 * the two rows before and the row before; across them the sums of three rows pass through
 * registers. Rows are taken R at a time, a constant, so that what is kept is loaded and stored once
 * for them.
 */

/* Rows that go together: as many as there are registers for. */
#define TOGETHER (PGI_LANES(REAL_NAME) * (int)sizeof(REAL) > 32 ? 4 : 2)

/* What the stores of a loop cannot change stays in registers. */
typedef struct PGI_NAME(threes_rows, ELEMENT) {
    pgi_threes shape;
    const STORED *from;
    STORED *to; /* NULL: sums are only kept */
    vec_doubt doubt;
    bool past;
} PGI_NAME(threes_rows, ELEMENT);

#define ROWS PGI_NAME(threes_rows, ELEMENT)

/* A vector of each row, the `at`-th element and on, to sums of three rows. `kept` is where the
 * sums of this column are. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_down, ELEMENT)(ROWS *rows, int number, pgi_division how,
                                                      BY by, int64_t at, int64_t kept,
                                                      int64_t count, VECTOR *sums)
{
    const pgi_threes *shape = &rows->shape;
    REAL *pairs = (REAL *)shape->pairs + kept, *singles = (REAL *)shape->singles + kept;
    VECTOR pair = GET(pairs), single = GET(singles);
    int r;

    PGI_UNROLL
    for (r = 0; r < number; r++) {
        const STORED *here = rows->from + r * shape->from_pitch + at;
        const VECTOR value =
            count < LANES ? PGI_VEC(load_some, ELEMENT)(here, count) : LOAD_VECTOR(here);
        const VECTOR term = PGI_NAME(divided, ELEMENT)(value, by, how, SET(0), &rows->doubt);

        __builtin_prefetch(here + shape->ahead, 0, 2);
        sums[r] = ADD(pair, term);
        pair = ADD(single, term);
        single = term;
    }
    PUT(pairs, pair);
    PUT(singles, single);
}

/* A sum of three columns to row `r` of the target, `at` elements on. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_put, ELEMENT)(ROWS *rows, int r, int64_t at, VECTOR sum,
                                                     BY by, pgi_division how, int64_t count)
{
    const VECTOR result = PGI_NAME(divided, ELEMENT)(sum, by, how, SET(-(REAL)0), &rows->doubt);

    PGI_NAME(store_part, ELEMENT)
    (rows->to + r * rows->shape.to_pitch + at, MUL(result, SET((REAL)rows->shape.alpha)), count,
     rows->past);
}

/* Terms are divided by what their columns have, or sums by what their places have. */
#define TERM_BY (forward ? PGI_KEEP : how)
#define SUM_BY  (forward ? how : PGI_KEEP)

/* The lanes of a vector are places: neighbours are slid out of two vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_places, ELEMENT)(ROWS *given, int number, pgi_division how,
                                                        bool forward, int64_t shift)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    const int64_t first = shape.first > 0 ? shape.first : 0;
    const BY one = PGI_NAME(by_one, ELEMENT)(&shape.by, 0);
    VECTOR before[4], here[4], behind[4];
    int64_t i, at = first;
    int r;

#define EACH(at) shape.by.step ? PGI_NAME(by_each, ELEMENT)(&shape.by, at) : one
    PGI_UNROLL
    for (r = 0; r < number; r++)
        before[r] = here[r] = behind[r] = SET(0);
    for (i = -LANES; i < shape.places; i += LANES, at += LANES) {
        if (at < shape.width)
            PGI_NAME(threes_down, ELEMENT)
        (rows, number, TERM_BY, forward ? one : EACH(at), at, at - first, shape.width - at, behind);
        PGI_UNROLL
        for (r = 0; r < number; r++) {
#define NEAR(t) PGI_NAME(shifted, ELEMENT)(before[r], here[r], behind[r], shift + (t))
            if (i >= 0 && rows->to)
                PGI_NAME(threes_put, ELEMENT)
            (rows, r, i, ADD(ADD(NEAR(0), NEAR(1)), NEAR(2)), forward ? EACH(i) : one, SUM_BY,
             shape.places - i);
#undef NEAR
            before[r] = here[r];
            here[r] = behind[r];
            behind[r] = SET(0);
        }
    }
#undef EACH
    given->doubt = copy.doubt;
}

/* The lanes are channels, `vectors` of them: neighbours are other vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_lanes, ELEMENT)(ROWS *given, int number, int vectors,
                                                       pgi_division how, bool forward, int64_t lane)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    VECTOR pair[4][4], single[4][4];
    int64_t i;
    int r, v;

    PGI_UNROLL
    for (v = 0; v < vectors; v++)
        PGI_UNROLL
    for (r = 0; r < number; r++)
        pair[v][r] = single[v][r] = SET(0);
    for (i = -2; i < shape.places; i++) {
        const int64_t column = shape.first + i + 2;
        const bool exists = column >= 0 && column < shape.width;
        const int64_t divided = forward ? (i < 0 ? 0 : i) : (exists ? column : 0);
        const BY by = PGI_NAME(by_one, ELEMENT)(&shape.by, shape.by.step ? divided : 0);

        PGI_UNROLL
        for (v = 0; v < vectors; v++) {
            const int64_t at = lane + v * LANES, rest = shape.lanes - at;
            VECTOR sums[4];

            PGI_UNROLL
            for (r = 0; r < number; r++)
                sums[r] = SET(0);
            if (exists)
                PGI_NAME(threes_down, ELEMENT)
            (rows, number, TERM_BY, by, column * shape.lanes + at, column * shape.kept + at, rest,
             sums);
            PGI_UNROLL
            for (r = 0; r < number; r++) {
                if (i >= 0 && rows->to)
                    PGI_NAME(threes_put, ELEMENT)
                (rows, r, i * shape.lanes + at, ADD(pair[v][r], sums[r]), by, SUM_BY, rest);
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

PGI_ALWAYS_INLINE void PGI_NAME(threes_some, ELEMENT)(ROWS *rows, int number, pgi_division how,
                                                      bool forward)
{
    const int64_t lanes = rows->shape.lanes, first = rows->shape.first;
    int64_t lane = 0;

    if (lanes == 1 && LANES > 1) {
        if (first == -1) /* padding of 1, a constant */
            PGI_NAME(threes_places, ELEMENT)(rows, number, how, forward, -1);
        else
            PGI_NAME(threes_places, ELEMENT)(rows, number, how, forward, first < 0 ? first : 0);
        return;
    }
    for (; lane + VECTORS * LANES <= lanes; lane += VECTORS * LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, VECTORS, how, forward, lane);
    for (; lane < lanes; lane += LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, 1, how, forward, lane);
}

static bool PGI_NAME(threes, ELEMENT)(void *to, const void *from, const pgi_threes *shape)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    const bool exactly = shape->by.how == PGI_DIVIDE, forward = shape->forward;
    ROWS rows = {.shape = *shape, .from = from, .to = to, .doubt = vec_no_doubt()};
    int64_t row = 0, some;

    for (; row < shape->rows; row += some) {
        some = shape->rows - row < TOGETHER || exactly ? 1 : TOGETHER;
        rows.past = shape->stream && PGI_NAME(may_stream, ELEMENT)(rows.to, side_by_side);
#define SOME(number, how)                                                                          \
    (forward ? PGI_NAME(threes_some, ELEMENT)(&rows, number, how, true)                            \
             : PGI_NAME(threes_some, ELEMENT)(&rows, number, how, false))
        if (exactly)
            SOME(1, PGI_DIVIDE);
        else if (some == 1)
            SOME(1, PGI_QUOTIENT);
        else
            SOME(TOGETHER, PGI_QUOTIENT);
#undef SOME
        rows.from += some * shape->from_pitch;
        if (rows.to)
            rows.to += some * shape->to_pitch;
    }
    return !vec_in_doubt(rows.doubt);
}

#undef ROWS
#undef TOGETHER
#undef VECTORS
