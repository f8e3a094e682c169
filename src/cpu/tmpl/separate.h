/* SPDX-License-Identifier: MIT */
/* Lanes and groups exchanged, for one compute type: REAL, and its suffix REAL_NAME. Signature and
 * meaning: plan/backend.h. */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
#define BODY(w) PGI_NAME(w, REAL_NAME)
#define LANES   PGI_LANES(REAL_NAME)

/* As many vectors as each has lanes: lane j of vector i becomes lane i of vector j. Zipping the
 * first half with the second moves the highest bit of a vector's number to the lowest of a lane's;
 * after as many times as there are bits they have changed places. */
PGI_ALWAYS_INLINE void BODY(transpose)(VECTOR square[LANES])
{
    VECTOR zipped[LANES];
    int round, i;

    PGI_UNROLL
    for (round = 1; round < LANES; round *= 2) {
        PGI_UNROLL
        for (i = 0; i < LANES / 2; i++)
            WORD(zip)(square[i], square[i + LANES / 2], &zipped[2 * i], &zipped[2 * i + 1]);
        PGI_UNROLL
        for (i = 0; i < LANES; i++)
            square[i] = zipped[i];
    }
}

static void BODY(separate)(void *to, int64_t pitch, const void *from, int64_t groups, int64_t lanes)
{
    const REAL *source = from;
    REAL *target = to;
    VECTOR square[LANES];
    int64_t lane, i;
    int k;

    for (lane = 0; lane + LANES <= lanes && groups >= LANES; lane += LANES) {
        for (i = 0; i < groups; i += LANES) {
            i = PGI_SMALLER(i, groups - LANES); /* the last where they still fit */
            PGI_UNROLL
            for (k = 0; k < LANES; k++)
                square[k] = WORD(get)(source + (i + k) * lanes + lane);
            BODY(transpose)(square);
            PGI_UNROLL
            for (k = 0; k < LANES; k++)
                WORD(put)(target + (lane + k) * pitch + i, square[k]);
        }
    }
    for (; lane < lanes; lane++)
        for (i = 0; i < groups; i++)
            memcpy(target + lane * pitch + i, source + i * lanes + lane, sizeof *target);
}

#undef VECTOR
#undef WORD
#undef BODY
#undef LANES
