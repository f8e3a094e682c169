/* SPDX-License-Identifier: MIT */
/*
 * Gradients of 3x3 windows with stride 1 in one pass, for one element type; included by element.h,
 * whose parameters and words it uses. Signatures and meaning: plan/backend.h.
 *
 * Every dy is loaded and divided once. Down the rows two sums are kept for every column, that of
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

/* The lanes of a vector are places: neighbours are slid out of two vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_places, ELEMENT)(ROWS *given, int number, pgi_division how,
                                                        int64_t shift)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    const int64_t first = shape.first > 0 ? shape.first : 0;
    const BY one = PGI_NAME(by_one, ELEMENT)(&shape.by, 0);
    const VECTOR scale = SET((REAL)shape.alpha);
    VECTOR before[4], here[4], behind[4];
    int64_t i, at = first;
    int r;

    PGI_UNROLL
    for (r = 0; r < number; r++)
        before[r] = here[r] = behind[r] = SET(0);
    for (i = -LANES; i < shape.places; i += LANES, at += LANES) {
        if (at < shape.width)
            PGI_NAME(threes_down, ELEMENT)
        (rows, number, how, shape.by.step ? PGI_NAME(by_each, ELEMENT)(&shape.by, at) : one, at,
         at - first, shape.width - at, behind);
        PGI_UNROLL
        for (r = 0; r < number; r++) {
            if (i >= 0 && rows->to) {
#define NEAR(t) PGI_NAME(shifted, ELEMENT)(before[r], here[r], behind[r], shift + (t))
                const VECTOR sum = ADD(ADD(NEAR(0), NEAR(1)), NEAR(2));
#undef NEAR

                PGI_NAME(store_part, ELEMENT)
                (rows->to + r * shape.to_pitch + i, MUL(sum, scale), shape.places - i, rows->past);
            }
            before[r] = here[r];
            here[r] = behind[r];
            behind[r] = SET(0);
        }
    }
    given->doubt = copy.doubt;
}

/* The lanes are channels, `vectors` of them: neighbours are other vectors. */
PGI_ALWAYS_INLINE void PGI_NAME(threes_lanes, ELEMENT)(ROWS *given, int number, int vectors,
                                                       pgi_division how, int64_t lane)
{
    ROWS copy = *given, *rows = &copy;
    const pgi_threes shape = copy.shape;
    const VECTOR scale = SET((REAL)shape.alpha);
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

        PGI_UNROLL
        for (v = 0; v < vectors; v++) {
            const int64_t at = lane + v * LANES, rest = shape.lanes - at;
            VECTOR sums[4];

            PGI_UNROLL
            for (r = 0; r < number; r++)
                sums[r] = SET(0);
            if (exists)
                PGI_NAME(threes_down, ELEMENT)
            (rows, number, how, PGI_NAME(by_one, ELEMENT)(&shape.by, shape.by.step ? column : 0),
             column * shape.lanes + at, column * shape.kept + at, rest, sums);
            PGI_UNROLL
            for (r = 0; r < number; r++) {
                if (i >= 0 && rows->to)
                    PGI_NAME(store_part, ELEMENT)
                (rows->to + r * shape.to_pitch + i * shape.lanes + at,
                 MUL(ADD(pair[v][r], sums[r]), scale), rest, rows->past);
                pair[v][r] = ADD(single[v][r], sums[r]);
                single[v][r] = sums[r];
            }
        }
    }
    given->doubt = copy.doubt;
}

/* Vectors that fill a cache line: what is streamed in pieces of one waits for the rest of it. */
#define VECTORS                                                                                    \
    (64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 2   ? 4                                   \
     : 64 / (PGI_LANES(REAL_NAME) * (int)sizeof(STORED)) > 1 ? 2                                   \
                                                             : 1)

PGI_ALWAYS_INLINE void PGI_NAME(threes_some, ELEMENT)(ROWS *rows, int number, pgi_division how)
{
    const int64_t lanes = rows->shape.lanes;
    int64_t lane = 0;

    if (lanes == 1 && LANES > 1) {
        if (rows->shape.first == -1) /* padding of 1, a constant */
            PGI_NAME(threes_places, ELEMENT)(rows, number, how, -1);
        else
            PGI_NAME(threes_places, ELEMENT)
        (rows, number, how, rows->shape.first < 0 ? rows->shape.first : 0);
        return;
    }
    for (; lane + VECTORS * LANES <= lanes; lane += VECTORS * LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, VECTORS, how, lane);
    for (; lane < lanes; lane += LANES)
        PGI_NAME(threes_lanes, ELEMENT)(rows, number, 1, how, lane);
}

static bool PGI_NAME(threes, ELEMENT)(void *to, const void *from, const pgi_threes *shape)
{
    const int64_t side_by_side = shape->lanes == 1 ? shape->places : shape->lanes;
    ROWS rows = {.shape = *shape, .from = from, .to = to, .doubt = vec_no_doubt()};
    int64_t row = 0, some;

    for (; row < shape->rows; row += some) {
        some = shape->rows - row < TOGETHER || shape->by.how == PGI_DIVIDE ? 1 : TOGETHER;
        rows.past = shape->stream && PGI_NAME(may_stream, ELEMENT)(rows.to, side_by_side);
        if (shape->by.how == PGI_DIVIDE)
            PGI_NAME(threes_some, ELEMENT)(&rows, 1, PGI_DIVIDE);
        else if (some == 1)
            PGI_NAME(threes_some, ELEMENT)(&rows, 1, PGI_QUOTIENT);
        else
            PGI_NAME(threes_some, ELEMENT)(&rows, TOGETHER, PGI_QUOTIENT);
        rows.from += some * shape->from_pitch;
        if (rows.to)
            rows.to += some * shape->to_pitch;
    }
    return !vec_in_doubt(rows.doubt);
}

#undef ROWS
#undef TOGETHER
#undef VECTORS
