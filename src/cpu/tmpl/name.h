/* SPDX-License-Identifier: MIT */
/* Taps of windows to indices, for one type of these; included by maxima.h behind number.h, which
 * it uses. Signature and meaning: plan/maxima.h. */

/* What taps are further on than the first of their windows; `deep`, a constant: there are planes.
 * The quotients are those of taps.h, and so is the first loop. */
PGI_ALWAYS_INLINE void PGI_NAME(name_some, INDEX_NAME)(int32_t *restrict further,
                                                       const uint8_t *restrict taps, int64_t count,
                                                       const pgi_naming *naming, bool deep)
{
    const pgi_naming copy = *naming; /* which no store can change */
    int64_t i;

    for (i = 0; i < count; i++)
        further[i] = taps[i];
    for (i = 0; i < count; i++) {
        const uint32_t tap = (uint32_t)further[i], line = tap * copy.by_columns >> 16;
        const uint32_t plane = deep ? (line * copy.by_rows >> 16) * copy.plane : 0;

        further[i] = (int32_t)(tap * copy.column + line * copy.row + plane);
    }
}

static void PGI_NAME(name, INDEX_NAME)(void *indices, const uint8_t *taps, const pgi_naming *naming,
                                       bool stream)
{
    enum {
        BLOCK = 1024
    };
    const int64_t lanes = naming->lanes;
    pgi_numbering numbering = {.origin_step = naming->lane_step, .unit = 1};
    int32_t further[BLOCK];
    int64_t w, lane, count;

    for (w = 0; w < naming->windows; w++, taps += lanes) {
        for (lane = 0; lane < lanes; lane += count) {
            count = PGI_SMALLER(lanes - lane, BLOCK);
            if (naming->plane)
                PGI_NAME(name_some, INDEX_NAME)(further, taps + lane, count, naming, true);
            else
                PGI_NAME(name_some, INDEX_NAME)(further, taps + lane, count, naming, false);
            numbering.origin = naming->origin + w * naming->window_step + lane * naming->lane_step;
            PGI_NAME(number, INDEX_NAME)
            ((INDEX *)indices + w * naming->step + lane, 1, further, count, &numbering, stream);
        }
    }
}
