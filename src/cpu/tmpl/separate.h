/* SPDX-License-Identifier: MIT */
/* Lanes and groups exchanged, for one compute type: REAL, and its suffix REAL_NAME. Signature and
 * meaning: plan/maxima.h. */

#define VECTOR  PGI_VECTOR(REAL_NAME)
#define WORD(w) PGI_VEC(w, REAL_NAME)
#define BODY(w) PGI_NAME(w, REAL_NAME)
#define LANES   PGI_LANES(REAL_NAME)

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
