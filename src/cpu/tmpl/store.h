/* SPDX-License-Identifier: MIT */
/*
 * Reals to elements anywhere in memory, for one element type; included by element.h, whose
 * parameters and words it uses. Signatures and meaning: plan/backend.h.
 */

/* What results are made with. */
typedef struct PGI_NAME(scaling, ELEMENT) {
    VECTOR alpha, beta;
    bool accumulate, past;
} PGI_NAME(scaling, ELEMENT);

#define SCALING PGI_NAME(scaling, ELEMENT)

/* `count` elements side by side, or a vector of them if there are more. */
PGI_ALWAYS_INLINE void PGI_NAME(store_scaled, ELEMENT)(STORED *to, VECTOR sum, int64_t count,
                                                       SCALING scaling)
{
    VECTOR result = MUL(sum, scaling.alpha); /* alpha 1 leaves every bit */

    if (scaling.accumulate)
        result =
            ADD(result, MUL(scaling.beta, count < LANES ? PGI_VEC(load_some, ELEMENT)(to, count)
                                                        : LOAD_VECTOR(to)));
    if (count < LANES)
        PGI_VEC(store_some, ELEMENT)(to, result, count);
    else if (scaling.past)
        STREAM_VECTOR(to, result);
    else
        STORE_VECTOR(to, result);
}

/* A group of reals to elements `step` apart; with `stream` whole cache lines go past the caches. */
static void PGI_NAME(store_group, ELEMENT)(STORED *to, int64_t step, const REAL *reals,
                                           int64_t count, const pgi_scale *scale, bool stream)
{
    const REAL alpha = (REAL)scale->alpha, beta = (REAL)scale->beta;
    const bool past = stream && beta == 0 && (uintptr_t)to % PGI_LINE_BYTES == 0 &&
                      count * (int64_t)sizeof *to % PGI_LINE_BYTES == 0;
    const SCALING scaling = {SET(alpha), SET(beta), beta != 0, past};
    int64_t i;

    if (step == 1) {
        for (i = 0; i < count; i += LANES) {
            const int64_t rest = count - i;
            const VECTOR sum =
                rest < LANES ? PGI_VEC(load_some, REAL_NAME)(reals + i, rest) : GET(reals + i);

            PGI_NAME(store_scaled, ELEMENT)(to + i, sum, rest, scaling);
        }
    } else if (beta == 0) {
        for (i = 0; i < count; i++)
            to[i * step] = STORE(alpha * reals[i]);
    } else {
        for (i = 0; i < count; i++)
            to[i * step] = STORE(alpha * reals[i] + beta * LOAD(to[i * step]));
    }
}

/* A square of vectors turned: of up to a vector of groups, whose places lie side by side in memory,
 * `count` lanes from `lane` on, `step` apart. */
PGI_ALWAYS_INLINE void PGI_NAME(store_turned, ELEMENT)(STORED *to, int64_t step,
                                                       const REAL *const *group, int64_t places,
                                                       int64_t lane, int64_t count, SCALING scaling)
{
    VECTOR square[PGI_LANES(REAL_NAME)];
    int i;

    PGI_UNROLL
    for (i = 0; i < LANES; i++) {
        square[i] = SET(0);
        if (i < places)
            square[i] = count < LANES ? PGI_VEC(load_some, REAL_NAME)(group[i] + lane, count)
                                      : GET(group[i] + lane);
    }
    PGI_NAME(transpose, REAL_NAME)(square);
    PGI_UNROLL
    for (i = 0; i < LANES; i++)
        if (i < count)
            PGI_NAME(store_scaled, ELEMENT)(to + (lane + i) * step, square[i], places, scaling);
}

/* Places that fill a cache line: they are stored together. */
#define SPOTS (PGI_LINE_BYTES / (int)sizeof(STORED))

/* The places of up to a line. If all is whole vectors, or may be stored twice, the last vector of
 * places overlaps the one before. */
PGI_ALWAYS_INLINE void PGI_NAME(store_spots, ELEMENT)(STORED *to, const pgi_groups *groups,
                                                      const REAL *const *group, int64_t places,
                                                      SCALING scaling)
{
    const int64_t lanes = groups->lanes, step = groups->lane_step;
    const bool overlap = places >= LANES && !scaling.accumulate;
    int64_t lane, spot;

    for (lane = 0; lane < lanes; lane += LANES) {
        const int64_t count = lanes - lane < LANES ? lanes - lane : LANES;

        for (spot = 0; spot < places; spot += LANES) {
            if (overlap && spot > places - LANES)
                spot = places - LANES;
            if (count == LANES && places - spot >= LANES)
                PGI_NAME(store_turned, ELEMENT)
            (to + spot, step, group + spot, LANES, lane, LANES, scaling);
            else PGI_NAME(store_turned, ELEMENT)(to + spot, step, group + spot,
                                                 places - spot < LANES ? places - spot : LANES,
                                                 lane, count, scaling);
        }
    }
}

/* Lines whose places all lie side by side. Cache lines of them are streamed, if they are whole; if
 * not, the last vector of places overlaps those before, unless that would count twice. */
static void PGI_NAME(store_lines, ELEMENT)(STORED *to, const pgi_groups *groups, const REAL *reals,
                                           int64_t pitch, const pgi_scale *scale, bool stream)
{
    const REAL beta = (REAL)scale->beta;
    SCALING scaling = {SET((REAL)scale->alpha), SET(beta), beta != 0, false};
    const bool past = stream && beta == 0 && (uintptr_t)to % PGI_LINE_BYTES == 0 &&
                      groups->lane_step % SPOTS == 0;
    const int64_t all = groups->lines * groups->places;
    const REAL *group[SPOTS] = {reals};
    int64_t place, i, in_line = 0;

    for (place = 0; place < all; place += SPOTS) {
        const int64_t rest = all - place < SPOTS ? all - place : SPOTS;
        const int64_t back =
            !scaling.accumulate && !past && place > 0 && rest < LANES ? LANES - rest : 0;

        for (i = 0; i < back; i++)
            group[i] = group[SPOTS - back + i];
        for (; i < back + rest; i++) {
            group[i] = reals + in_line * groups->lanes;
            if (++in_line == groups->places) {
                in_line = 0;
                reals += pitch;
            }
        }
        scaling.past = past && rest == SPOTS;
        PGI_NAME(store_spots, ELEMENT)(to + place - back, groups, group, back + rest, scaling);
    }
}

static void PGI_NAME(store, ELEMENT)(void *to, const pgi_groups *groups, const void *from,
                                     int64_t pitch, const pgi_scale *scale, bool stream)
{
    const int64_t places = groups->places, lanes = groups->lanes;
    const bool dense = groups->lane_step == 1 && groups->place_step == lanes;
    pgi_groups line = *groups;
    int64_t n, p;

    if (lanes > 1 && groups->lane_step != 1 && groups->place_step == 1 &&
        groups->line_step == places) {
        PGI_NAME(store_lines, ELEMENT)(to, groups, from, pitch, scale, stream);
        return;
    }
    line.lines = 1;
    for (n = 0; n < groups->lines; n++) {
        const REAL *reals = (const REAL *)from + n * pitch;
        STORED *first = (STORED *)to + n * groups->line_step;

        if (lanes == 1)
            PGI_NAME(store_group, ELEMENT)(first, groups->place_step, reals, places, scale, stream);
        else if (dense)
            PGI_NAME(store_group, ELEMENT)(first, 1, reals, places * lanes, scale, stream);
        else if (groups->lane_step != 1 && groups->place_step == 1)
            PGI_NAME(store_lines, ELEMENT)(first, &line, reals, 0, scale, stream);
        else
            for (p = 0; p < places; p++)
                PGI_NAME(store_group, ELEMENT)
        (first + p * groups->place_step, groups->lane_step, reals + p * lanes, lanes, scale,
         stream);
    }
}

#undef SCALING
#undef SPOTS
