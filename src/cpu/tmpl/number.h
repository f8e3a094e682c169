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

static void PGI_NAME(number, INDEX_NAME)(void *indices, int64_t step, const int32_t *places,
                                         int64_t count, const pgi_numbering *numbering, bool stream)
{
    enum {
        BLOCK = 4096 / sizeof(INDEX)
    };
    /* what a block of channels shares a line with may be written by others at the same time */
    const int unit = numbering->origin_step ? PGI_LINE_BYTES : VEC_bytes;
    pgi_numbering here = *numbering;
    INDEX *to = indices, made[BLOCK];
    int64_t done, part, i;

    if (!stream || step != 1 || (uintptr_t)to % (unsigned)unit ||
        count * (int64_t)sizeof *to % unit) {
        PGI_NAME(number_some, INDEX_NAME)(to, step, places, count, numbering);
        return;
    }
    for (done = 0; done < count; done += part) {
        part = count - done < BLOCK ? count - done : BLOCK;
        PGI_NAME(number_some, INDEX_NAME)(made, 1, places + done, part, &here);
        here.origin += part * here.origin_step;
        for (i = 0; i < part; i += VEC_bytes / (int64_t)sizeof *to)
            vec_stream_bytes(to + done + i, made + i);
    }
}
