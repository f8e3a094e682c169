/* SPDX-License-Identifier: MIT */
#include "plan/ladder.h"

#include "core/integer.h"

void pgi_ladder_double(pgi_ladder *ladder, int levels, char *storage, const pgi_cells *cells)
{
    int64_t place;
    int level;

    for (place = 0; levels > 0 && place < ladder->length; place++)
        ladder->row[place] = pgi_ladder_row(ladder, ladder->begin + place);

    for (level = 1; level <= levels; level++) {
        const char **below = ladder->row + (level - 1) * ladder->length;
        const char **made = below + ladder->length;
        const int64_t distance = ladder->q << (level - 1);
        const int64_t count = ladder->length - (ladder->q << level) + ladder->q;
        int64_t i;

        for (i = 0; i < count; i++, storage += (size_t)ladder->cells * cells->size) {
            const char *a = below[i], *b = below[i + distance];

            made[i] = a ? a : b;
            if (a && b) {
                cells->combine(storage, a, b, ladder->cells);
                made[i] = storage;
            }
        }
    }
}

const char *pgi_ladder_reduce(const pgi_ladder *ladder, pgi_run run, char *target,
                              pgi_combine_fn *combine)
{
    const char *made = NULL;
    int64_t place;
    int level;

    /* a filled run all of whose places are missing may lie outside the ladder */
    if (run.count == 0 || run.first < ladder->begin ||
        run.first + (run.count - 1) * ladder->q >= ladder->begin + ladder->length)
        return NULL;
    place = run.first - ladder->begin;
    for (level = pgi_log2(run.count); level >= 0; level--) {
        const char *block;

        if (!(run.count >> level & 1))
            continue;
        block = ladder->row[level * ladder->length + place];
        place += pgi_next_piece(run.count, level, ladder->q);
        if (made && block) {
            combine(target, made, block, ladder->cells);
            made = target;
        } else if (block) {
            made = block;
        }
    }
    return made;
}
