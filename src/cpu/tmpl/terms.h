/* SPDX-License-Identifier: MIT */
/*
 * Elements in memory to terms, for one element type; included by element.h, whose parameters and
 * words it uses. Signatures and meaning: plan/backend.h.
 */

/* What a vector is divided by. */
typedef struct PGI_NAME(by, ELEMENT) {
    VECTOR divisor, high, low;
} PGI_NAME(by, ELEMENT);

#define BY PGI_NAME(by, ELEMENT)

/* One divisor for all lanes, the `at`-th of some. */
PGI_ALWAYS_INLINE BY PGI_NAME(by_one, ELEMENT)(const pgi_divisors *by, int64_t at)
{
    return (BY){SET(((const REAL *)by->divisor)[at]), SET(((const REAL *)by->high)[at]),
                SET(((const REAL *)by->low)[at])};
}

/* Divisors side by side. */
PGI_ALWAYS_INLINE BY PGI_NAME(by_each, ELEMENT)(const pgi_divisors *by, int64_t at)
{
    return (BY){GET((const REAL *)by->divisor + at), GET((const REAL *)by->high + at),
                GET((const REAL *)by->low + at)};
}

/* The quotient and a zero: +0 makes a term of it, -0 changes nothing. `how` is a constant where
 * this is inlined. */
PGI_ALWAYS_INLINE VECTOR PGI_NAME(divided, ELEMENT)(VECTOR value, BY by, pgi_division how,
                                                    VECTOR zero, vec_least *least)
{
    switch (how) {
    case PGI_MULTIPLY:
        return ADD(MUL(value, by.high), zero);
    case PGI_QUOTIENT:
        if (HAS_TINY)
            PGI_VEC(least, REAL_NAME)(value, least);
        return PGI_VEC(quotient, REAL_NAME)(value, by.divisor, by.high, by.low, zero);
    case PGI_DIVIDE:
        return ADD(DIV(value, by.divisor), zero);
    case PGI_KEEP:
    default:
        return ADD(value, zero);
    }
}

/* One row, side by side; false if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(terms_row, ELEMENT)(REAL *restrict to, const STORED *from,
                                                    int64_t count, const pgi_divisors *by, int step,
                                                    pgi_division how, bool room)
{
    const VECTOR zero = SET(0);
    const BY none = {zero, zero, zero};
    const BY one = how == PGI_KEEP ? none : PGI_NAME(by_one, ELEMENT)(by, 0);
    const pgi_divisors each = *by;
    vec_least least = vec_least_none();
    int64_t i;

#define TERM(value)                                                                                \
    PGI_NAME(divided, ELEMENT)                                                                     \
    (value, step ? PGI_NAME(by_each, ELEMENT)(&each, i) : one, how, zero, &least)
    for (i = 0; i + LANES <= count; i += LANES)
        PUT(to + i, TERM(LOAD_VECTOR(from + i)));
    if (i < count) {
        const VECTOR term = TERM(PGI_VEC(load_some, ELEMENT)(from + i, count - i));

        if (room) /* the rest are zeros */
            PUT(to + i, term);
        else
            PGI_VEC(store_some, REAL_NAME)(to + i, term, count - i);
    }
#undef TERM
    return !PGI_VEC(below, REAL_NAME)(least);
}

/* Bytes of short rows that lie apart which are fetched ahead: the machine does so by itself only
 * for rows without gaps. Long rows are enough for it. */
#define APART_AHEAD 2048
#define APART_LONG  1024

/* So many elements ahead they are fetched; 0 if they need not be. */
static inline int64_t PGI_NAME(ahead_apart, ELEMENT)(int64_t pitch, int64_t count)
{
    const int64_t bytes = count * (int64_t)sizeof(STORED);

    return pitch <= count || bytes > APART_LONG || bytes == 0
               ? 0
               : (APART_AHEAD + bytes - 1) / bytes * pitch;
}

/* Some rows by one way to divide. */
PGI_ALWAYS_INLINE void PGI_NAME(terms_by, ELEMENT)(REAL *to, int64_t to_pitch, const STORED *from,
                                                   int64_t from_pitch, int64_t rows, int64_t count,
                                                   const pgi_divisors *by, int step,
                                                   pgi_division how, bool room)
{
    const int64_t ahead = PGI_NAME(ahead_apart, ELEMENT)(from_pitch, count);
    int64_t row, at;

    for (row = 0; row < rows; row++, to += to_pitch, from += from_pitch) {
        for (at = 0; ahead && at < count; at += PGI_LINE_BYTES / (int)sizeof *from)
            __builtin_prefetch(from + ahead + at, 0, 2);
        if (!PGI_NAME(terms_row, ELEMENT)(to, from, count, by, step, how, room))
            PGI_NAME(terms_row, ELEMENT)(to, from, count, by, step, PGI_DIVIDE, room);
    }
}

static void PGI_NAME(terms_dense, ELEMENT)(REAL *to, int64_t to_pitch, const STORED *from,
                                           int64_t from_pitch, int64_t rows, int64_t count,
                                           const pgi_divisors *by, bool room)
{
#define DENSE(step, how)                                                                           \
    PGI_NAME(terms_by, ELEMENT)(to, to_pitch, from, from_pitch, rows, count, by, step, how, room)
    switch (by->how) {
    case PGI_KEEP:
        DENSE(0, PGI_KEEP);
        break;
    case PGI_MULTIPLY:
        DENSE(0, PGI_MULTIPLY);
        break;
    case PGI_QUOTIENT:
        if (by->step)
            DENSE(1, PGI_QUOTIENT);
        else
            DENSE(0, PGI_QUOTIENT);
        break;
    case PGI_DIVIDE:
        if (by->step)
            DENSE(1, PGI_DIVIDE);
        else
            DENSE(0, PGI_DIVIDE);
        break;
    }
#undef DENSE
}

/* Rows ahead that are fetched. */
#define AHEAD 4

/* A row of elements `step` apart, widened. What is so many elements ahead is fetched: the machine
 * does so by itself only for rows without gaps. */
static void PGI_NAME(widen_apart, ELEMENT)(REAL *to, const STORED *from, int64_t step,
                                           int64_t count, int64_t ahead)
{
    int64_t i;

    for (i = 0; step == 2 && i < count; i += LANES) {
        const int64_t rest = 2 * (count - i) - 1; /* the last one has no other behind it */
        const STORED *here = from + 2 * i;
        const VECTOR low =
            rest < LANES ? PGI_VEC(load_some, ELEMENT)(here, rest) : LOAD_VECTOR(here);
        VECTOR high = SET(0);

        __builtin_prefetch(here + ahead, 0, 2);
        __builtin_prefetch(here + ahead + LANES, 0, 2);
        if (rest >= 2 * LANES)
            high = LOAD_VECTOR(here + LANES);
        else if (rest > LANES)
            high = PGI_VEC(load_some, ELEMENT)(here + LANES, rest - LANES);
        PUT(to + i, PGI_VEC(even, REAL_NAME)(low, high));
    }
    for (i = 0; step != 2 && i < count; i++)
        to[i] = LOAD(from[i * step]);
}

static void PGI_NAME(terms, ELEMENT)(void *to, int64_t to_pitch, const void *from,
                                     int64_t from_pitch, int64_t step, int64_t rows, int64_t count,
                                     const pgi_divisors *by, bool room)
{
    enum {
        CHUNK = 256
    };
    const STORED *stored = from;
    REAL *term = to, wide[CHUNK];
    int64_t row, at;

    if (step == 1) {
        if (to_pitch == count && from_pitch == count && by->step == 0) {
            count *= rows; /* one behind the other: one long row */
            rows = 1;
        }
        PGI_NAME(terms_dense, ELEMENT)(term, to_pitch, stored, from_pitch, rows, count, by, room);
        return;
    }
    for (row = 0; row < rows; row++, term += to_pitch, stored += from_pitch) {
        for (at = 0; at < count; at += CHUNK) {
            const int64_t part = count - at < CHUNK ? count - at : CHUNK;
            pgi_divisors here = *by;

            if (by->step) {
                here.divisor = (const REAL *)by->divisor + at;
                here.high = (const REAL *)by->high + at;
                here.low = (const REAL *)by->low + at;
            }
            PGI_NAME(widen_apart, ELEMENT)
            (wide, stored + at * step, step, part, AHEAD * from_pitch);
            PGI_NAME(terms_dense, REAL_NAME)(term + at, 0, wide, 0, 1, part, &here, false);
        }
    }
}

/* Places of a lane that are collected before those of the next lanes: so many that memory is read
 * in long pieces. */
#define SPOTS 256

/* Where places of lines go, and what they are divided by: at least a vector. */
typedef struct PGI_NAME(spots, ELEMENT) {
    REAL *to[SPOTS];
    REAL divisor[SPOTS], high[SPOTS], low[SPOTS];
} PGI_NAME(spots, ELEMENT);

/* A square of elements turned: of up to a vector of places side by side, the spots from one on, as
 * many lanes, `step` apart. False if a quotient is in doubt. */
PGI_ALWAYS_INLINE bool PGI_NAME(collect_square,
                                ELEMENT)(const PGI_NAME(spots, ELEMENT) * spots, int64_t spot,
                                         int64_t lane, const STORED *from, int64_t step,
                                         int64_t places, int64_t count, pgi_division how)
{
    const VECTOR zero = SET(0);
    BY by = {zero, zero, zero};
    VECTOR square[PGI_LANES(REAL_NAME)];
    vec_least least = vec_least_none();
    int i;

    if (how != PGI_KEEP)
        by = (BY){GET(spots->divisor + spot), GET(spots->high + spot), GET(spots->low + spot)};
    PGI_UNROLL
    for (i = 0; i < LANES; i++) {
        square[i] = zero;
        if (i < count) {
            const VECTOR value = places < LANES
                                     ? PGI_VEC(load_some, ELEMENT)(from + i * step, places)
                                     : LOAD_VECTOR(from + i * step);

            square[i] = PGI_NAME(divided, ELEMENT)(value, by, how, zero, &least);
        }
    }
    PGI_NAME(transpose, REAL_NAME)(square);
    PGI_UNROLL
    for (i = 0; i < LANES; i++) {
        if (i < places && count < LANES)
            PGI_VEC(store_some, REAL_NAME)(spots->to[spot + i] + lane, square[i], count);
        else if (i < places)
            PUT(spots->to[spot + i] + lane, square[i]);
    }
    return !PGI_VEC(below, REAL_NAME)(least);
}

/* All lanes of some places side by side. The last square of a lane overlaps the one before. What
 * the next lanes have there is fetched. */
PGI_ALWAYS_INLINE void PGI_NAME(collect_spots, ELEMENT)(const PGI_NAME(spots, ELEMENT) * spots,
                                                        int64_t places, const STORED *from,
                                                        int64_t step, int64_t lanes,
                                                        pgi_division how)
{
    const int64_t in_line = PGI_LINE_BYTES / (int64_t)sizeof *from;
    int64_t lane, spot, i;

#define SQUARE(places, count, how)                                                                 \
    PGI_NAME(collect_square, ELEMENT)                                                              \
    (spots, spot, lane, from + lane * step + spot, step, places, count, how)
    for (lane = 0; lane < lanes; lane += LANES) {
        const int64_t count = lanes - lane < LANES ? lanes - lane : LANES;

        for (spot = 0; spot < places; spot += LANES) {
            bool good;

            if (places > LANES && spot > places - LANES)
                spot = places - LANES;
            for (i = LANES; i < 2 * LANES && lane + i < lanes && spot % in_line == 0; i++)
                __builtin_prefetch(from + (lane + i) * step + spot, 0, 2);
            good = count == LANES && places >= LANES ? SQUARE(LANES, LANES, how)
                                                     : SQUARE(places - spot, count, how);
            if (!good)
                SQUARE(places - spot, count, PGI_DIVIDE);
        }
    }
#undef SQUARE
}

/* The quickest way to divide lines of places alike. */
static pgi_division PGI_NAME(division_of, ELEMENT)(const pgi_divisors *const *by, int each,
                                                   int64_t lines)
{
    pgi_division how = by[0]->how;
    int64_t n;

    for (n = 1; each && n < lines; n++)
        if (how == PGI_DIVIDE || by[n]->how == PGI_DIVIDE)
            how = PGI_DIVIDE;
        else if (how != by[n]->how)
            how = PGI_QUOTIENT; /* good for powers of two as well */
    return how;
}

/* Lines whose places all lie side by side. */
static void PGI_NAME(collect_lines, ELEMENT)(REAL *to, int64_t pitch, const STORED *from,
                                             const pgi_groups *groups,
                                             const pgi_divisors *const *by, int each)
{
    const int64_t all = groups->lines * groups->places, step = groups->lane_step;
    const pgi_division how = PGI_NAME(division_of, ELEMENT)(by, each, groups->lines);
    PGI_NAME(spots, ELEMENT) spots;
    int64_t place, places, i, line = 0, in_line = 0;

    for (place = 0; place < all; place += places) {
        places = all - place < SPOTS ? all - place : SPOTS;
        for (i = 0; i < places; i++) {
            const pgi_divisors *here = by[line * each];
            const int64_t at = here->step ? in_line : 0;

            spots.to[i] = to + line * pitch + in_line * groups->lanes;
            if (how != PGI_KEEP) {
                spots.divisor[i] = ((const REAL *)here->divisor)[at];
                spots.high[i] = ((const REAL *)here->high)[at];
                spots.low[i] = ((const REAL *)here->low)[at];
            }
            if (++in_line == groups->places) {
                in_line = 0;
                line++;
            }
        }
        for (; i < LANES; i++)
            spots.divisor[i] = spots.high[i] = spots.low[i] = 1;
#define LANES_OF(how)                                                                              \
    PGI_NAME(collect_spots, ELEMENT)(&spots, places, from + place, step, groups->lanes, how)
        if (how == PGI_KEEP)
            LANES_OF(PGI_KEEP);
        else if (how == PGI_MULTIPLY)
            LANES_OF(PGI_MULTIPLY);
        else if (how == PGI_QUOTIENT)
            LANES_OF(PGI_QUOTIENT);
        else
            LANES_OF(PGI_DIVIDE);
#undef LANES_OF
    }
}

/* How many places of a line from one on have its divisor. */
static int64_t PGI_NAME(places_alike, ELEMENT)(const pgi_divisors *by, int64_t place,
                                               int64_t places)
{
    const REAL *divisor = by->divisor;
    int64_t behind = by->step ? place + 1 : places;

    while (behind < places && divisor[behind] == divisor[place])
        behind++;
    return behind - place;
}

/* The one divisor of a place of a line. */
PGI_ALWAYS_INLINE pgi_divisors PGI_NAME(by_place, ELEMENT)(const pgi_divisors *by, int64_t place)
{
    pgi_divisors one = *by;

    if (by->step) {
        one.divisor = (const REAL *)by->divisor + place;
        one.high = (const REAL *)by->high + place;
        one.low = (const REAL *)by->low + place;
        one.step = 0;
    }
    return one;
}

static void PGI_NAME(collect, ELEMENT)(void *to, int64_t pitch, const void *from,
                                       const pgi_groups *groups, const pgi_divisors *const *by,
                                       int each)
{
    pgi_groups line = *groups;
    int64_t n, place, places;

    if (groups->lane_step != 1 && groups->place_step == 1 && groups->line_step == groups->places) {
        PGI_NAME(collect_lines, ELEMENT)(to, pitch, from, groups, by, each);
        return;
    }
    line.lines = 1;
    for (n = 0; n < groups->lines; n++) {
        const STORED *first = (const STORED *)from + n * groups->line_step;
        REAL *terms = (REAL *)to + n * pitch;

        if (groups->lane_step != 1 && groups->place_step == 1) {
            PGI_NAME(collect_lines, ELEMENT)(terms, 0, first, &line, by + n * each, 0);
            continue;
        }
        for (place = 0; place < groups->places; place += places) {
            const pgi_divisors here = PGI_NAME(by_place, ELEMENT)(by[n * each], place);

            places = PGI_NAME(places_alike, ELEMENT)(by[n * each], place, groups->places);
            PGI_NAME(terms, ELEMENT)
            (terms + place * groups->lanes, groups->lanes, first + place * groups->place_step,
             groups->place_step, groups->lane_step, places, groups->lanes, &here, false);
        }
    }
}

#undef SPOTS
#undef AHEAD
#undef APART_AHEAD
#undef APART_LONG
