/* SPDX-License-Identifier: MIT */
/*
 * Kernel bodies for one type of index. Parameters, undefined again at the end:
 *     INDEX, INDEX_NAME   the type and its suffix
 * Signatures and meaning: plan/backend.h.
 */

/* Loops without branches, which compilers turn into vector code. Planes and rows are few, so that
 * comparing with each of their beginnings beats a division. */
static bool PGI_NAME(locate, INDEX_NAME)(int32_t *places, int32_t *scratch, const void *indices,
                                         int64_t step, const pgi_cover *cover, int64_t count)
{
    const INDEX *restrict from = indices;
    int32_t *restrict rest = scratch, *restrict to = places;
    const int64_t limit = (cover->planes - 1) * cover->plane + cover->rows * cover->row;
    const int32_t unit = (int32_t)cover->place_unit, place = (int32_t)cover->place;
    const int32_t place_step = (int32_t)cover->place_step;
    int64_t i, j;
    int32_t bad = 0;

    for (i = 0; i < count; i++) {
        /* unsigned, so that what lies before the cover is far behind it */
        const uint64_t from_first =
            (uint64_t)from[i * step] - (uint64_t)(cover->origin + i * cover->origin_step);

        bad |= from_first >= (uint64_t)limit;
        rest[i] = (int32_t)from_first;
    }
    if (bad)
        return false;
    for (i = 0; i < count; i++)
        to[i] = place + (int32_t)i * place_step + rest[i] * unit;
    for (j = 1; j < cover->planes; j++) {
        const int32_t plane = (int32_t)cover->plane, gap = (int32_t)cover->plane_gap * unit;

        for (i = 0; i < count; i++) {
            to[i] -= rest[i] >= plane ? gap : 0;
            rest[i] -= rest[i] >= plane ? plane : 0;
        }
    }
    for (j = 1; j < cover->rows; j++)
        for (i = 0; i < count; i++)
            rest[i] -= rest[i] >= (int32_t)cover->row ? (int32_t)cover->row : 0;
    if (cover->column_step == 0) {
        const int32_t begin = cover->begin[0], end = cover->end[0];

        for (i = 0; i < count; i++)
            bad |= (rest[i] < begin) | (rest[i] >= end);
    } else {
        const int32_t *restrict begin = cover->begin, *restrict end = cover->end;

        for (i = 0; i < count; i++)
            bad |= (rest[i] < begin[i]) | (rest[i] >= end[i]);
    }
    return bad == 0;
}

#undef INDEX
#undef INDEX_NAME
