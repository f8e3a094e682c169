/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies for one type of cell. Parameters, undefined again at the end:
 *     CELL, CELL_NAME   the type and its suffix
 *     NOTHING           the cell that changes nothing in a reduction
 * Signatures and meaning: plan/backend.h.
 */

static void PGI_NAME(spread, CELL_NAME)(void *to, int64_t step, const void *from, int64_t lanes,
                                        int64_t count)
{
    CELL *restrict target = to;
    const CELL *restrict source = from;
    int64_t i, lane;

    if (!source) {
        for (i = 0; i < count; i++)
            for (lane = 0; lane < lanes; lane++)
                target[i * step * lanes + lane] = NOTHING;
    } else if (lanes == 1) {
        for (i = 0; i < count; i++)
            target[i * step] = source[i];
    } else {
        for (i = 0; i < count; i++)
            memcpy(target + i * step * lanes, source + i * lanes, (size_t)lanes * sizeof *target);
    }
}

static void PGI_NAME(pick, CELL_NAME)(void *to, const void *from, int64_t step, int64_t lanes,
                                      int64_t count)
{
    CELL *restrict target = to;
    const CELL *restrict source = from;
    int64_t i;

    if (step == 1) {
        memcpy(target, source, (size_t)(count * lanes) * sizeof *target);
    } else if (lanes == 1) {
        for (i = 0; i < count; i++)
            target[i] = source[i * step];
    } else {
        for (i = 0; i < count; i++)
            memcpy(target + i * lanes, source + i * step * lanes, (size_t)lanes * sizeof *target);
    }
}

#undef CELL
#undef CELL_NAME
#undef NOTHING
