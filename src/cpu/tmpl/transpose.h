/* SPDX-License-Identifier: MIT */
/* Squares of vectors, for one compute type: REAL, and its suffix REAL_NAME. */

/* As many vectors as each has lanes: lane j of vector i becomes lane i of vector j. Zipping the
 * first half with the second moves the highest bit of a vector's number to the lowest of a lane's;
 * after as many times as there are bits they have changed places. Where that is dear the highest
 * bit of lanes stays out of it, and at last changes places with that of vectors: which has come
 * from the lowest bit, so that vectors begin with their bits turned by one. */
PGI_ALWAYS_INLINE void PGI_NAME(transpose, REAL_NAME)(PGI_VECTOR(REAL_NAME) * square)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    PGI_VECTOR(REAL_NAME) zipped[LANES];
    int round, i;

#ifdef VEC_halves
    PGI_UNROLL
    for (i = 0; i < LANES; i++)
        zipped[2 * i < LANES ? 2 * i : 2 * i - LANES + 1] = square[i];
    PGI_UNROLL
    for (i = 0; i < LANES; i++)
        square[i] = zipped[i];
#define ROUNDS (LANES / 2)
#define ZIP    zip_inside
#else
#define ROUNDS LANES
#define ZIP    zip
#endif
    PGI_UNROLL
    for (round = 1; round < ROUNDS; round *= 2) {
        PGI_UNROLL
        for (i = 0; i < LANES / 2; i++) {
            PGI_VECTOR(REAL_NAME) *pair = zipped + 2 * i;

            PGI_VEC(ZIP, REAL_NAME)(square[i], square[i + LANES / 2], pair, pair + 1);
        }
        PGI_UNROLL
        for (i = 0; i < LANES; i++)
            square[i] = zipped[i];
    }
#ifdef VEC_halves
    PGI_UNROLL
    for (i = 0; i < LANES / 2; i++)
        PGI_VEC(exchange, REAL_NAME)
    (square[i], square[i + LANES / 2], square + i, square + i + LANES / 2);
#endif
#undef ROUNDS
#undef ZIP
}
