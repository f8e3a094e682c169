/* SPDX-License-Identifier: MIT */
/* Squares of vectors, for one compute type: REAL, and its suffix REAL_NAME. */

/* As many vectors as each has lanes: lane j of vector i becomes lane i of vector j. Zipping the
 * first half with the second moves the highest bit of a vector's number to the lowest of a lane's;
 * after as many times as there are bits they have changed places. */
PGI_ALWAYS_INLINE void PGI_NAME(transpose, REAL_NAME)(PGI_VECTOR(REAL_NAME) * square)
{
    enum {
        LANES = PGI_LANES(REAL_NAME)
    };
    PGI_VECTOR(REAL_NAME) zipped[LANES];
    int round, i;

    PGI_UNROLL
    for (round = 1; round < LANES; round *= 2) {
        PGI_UNROLL
        for (i = 0; i < LANES / 2; i++) {
            PGI_VECTOR(REAL_NAME) *pair = zipped + 2 * i;

            PGI_VEC(zip, REAL_NAME)(square[i], square[i + LANES / 2], pair, pair + 1);
        }
        PGI_UNROLL
        for (i = 0; i < LANES; i++)
            square[i] = zipped[i];
    }
}
