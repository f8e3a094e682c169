/* SPDX-License-Identifier: MIT */
/*
 * Winners to indices of one type. Parameters:
 *     INDEX, INDEX_NAME   the type and its suffix
 * Signatures and meaning: plan/maxima.h.
 */

PGI_ALWAYS_INLINE void PGI_NAME(number_some, INDEX_NAME)(INDEX *restrict to, int64_t step,
                                                         const int32_t *restrict places,
                                                         int64_t count,
                                                         const pgi_numbering *numbering)
{
    const int64_t origin_step = numbering->origin_step, unit = numbering->unit;
    int64_t origin = numbering->origin, i;

    if (unit == 1 && step == 1) { /* no product */
        for (i = 0; i < count; i++, origin += origin_step) {
            const int64_t index = places[i] + origin;

            to[i] = (INDEX)(places[i] < 0 ? -1 : index);
        }
        return;
    }
    for (i = 0; i < count; i++) {
        const int64_t index = places[i] * unit + origin + i * origin_step;

        to[i * step] = (INDEX)(places[i] < 0 ? -1 : index);
    }
}

/* The same for few lanes, side by side, whose origins are in a table. */
PGI_ALWAYS_INLINE void PGI_NAME(number_groups, INDEX_NAME)(INDEX *restrict to,
                                                           const int32_t *restrict places,
                                                           int64_t count, int64_t unit,
                                                           const INDEX *restrict origins)
{
    int64_t i;

    for (i = 0; i < count; i++) {
        const int64_t index = places[i] * unit + (int64_t)origins[i];

        to[i] = (INDEX)(places[i] < 0 ? -1 : index);
    }
}

static void PGI_NAME(number, INDEX_NAME)(void *indices, int64_t step, const int32_t *places,
                                         int64_t count, const pgi_numbering *numbering, bool stream)
{
    enum {
        BLOCK = 4096 / sizeof(INDEX),
        VECTOR = VEC_bytes / (int)sizeof(INDEX)
    };
    const int64_t lanes = numbering->lanes;
    /* what a block of channels shares a line with may be written by others at the same time */
    const unsigned last = (numbering->origin_step && !lanes ? PGI_LINE_BYTES : VEC_bytes) - 1;
    const bool past = stream && step == 1 && ((uintptr_t)indices & last) == 0 &&
                      ((uint64_t)count * sizeof(INDEX) & last) == 0;
    /* whole vectors, and whole groups */
    const int64_t most = lanes ? BLOCK / (lanes * VECTOR) * lanes * VECTOR : BLOCK;
    pgi_numbering here = *numbering;
    INDEX *to = indices, made[BLOCK], origins[BLOCK];
    int64_t done, part, i;

    if (!past && !lanes) {
        PGI_NAME(number_some, INDEX_NAME)(to, step, places, count, numbering);
        return;
    }
    for (i = 0; lanes && i < PGI_SMALLER(count, most); i++)
        origins[i] = (INDEX)(here.origin + i % lanes * here.origin_step);
    for (done = 0; done < count; done += part) {
        INDEX *into = past ? made : to + done;

        part = PGI_SMALLER(count - done, most);
        if (lanes)
            PGI_NAME(number_groups, INDEX_NAME)(into, places + done, part, here.unit, origins);
        else
            PGI_NAME(number_some, INDEX_NAME)(into, 1, places + done, part, &here);
        here.origin += part * here.origin_step;
        for (i = 0; past && i < part; i += VECTOR)
            vec_stream_bytes(to + done + i, made + i);
    }
}
