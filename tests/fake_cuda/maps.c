/* SPDX-License-Identifier: MIT */
/* Maps of tensors: none is used, but what the driver would refuse is, and the last are remembered.
 */
#include "fake.h"

#include <string.h>

enum {
    WORDS = 2, /* the driver's numbers of types */
    MOST_BOX = 256,
    VECTOR = 16,
    MAP_ALIGN = 64,
    REMEMBERED = 4
};

static fake_map made[REMEMBERED];
static long count;

/* What the driver checks, and that all of the tensor is there, which it does not. */
static bool is_good(const fake_map *map, int element)
{
    const uint64_t row = map->extent[0] * (uint64_t)element;
    uint64_t bytes = row;
    int i;

    for (i = 0; i < FAKE_MAP_AXES; i++)
        if (map->extent[i] < 1 || map->extent[i] > UINT64_C(1) << 32 || map->box[i] < 1 ||
            map->box[i] > MOST_BOX)
            return false;
    for (i = 0; i < FAKE_MAP_AXES - 1; i++) {
        if (map->distance[i] % VECTOR || map->distance[i] >= UINT64_C(1) << 40)
            return false;
        bytes += (map->extent[i + 1] - 1) * map->distance[i];
    }
    return map->address % VECTOR == 0 && map->box[0] * (unsigned)element % VECTOR == 0 &&
           fake_bytes(map->address, bytes);
}

FAKE_API int cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *tensor,
                                    const uint64_t *extents, const uint64_t *distances,
                                    const unsigned *box, const unsigned *steps, int interleave,
                                    int swizzle, int promotion, int fill)
{
    fake_map asked = {.address = (uintptr_t)tensor, .type = type};
    int i, result = fake_begin(__func__, FAKE_STARTED);

    if (!result && (rank != FAKE_MAP_AXES || type < 1 || type > WORDS || interleave || swizzle ||
                    promotion || fill || (uintptr_t)map % MAP_ALIGN))
        result = FAKE_INVALID_VALUE;
    for (i = 0; !result && i < FAKE_MAP_AXES; i++) {
        asked.extent[i] = extents[i];
        asked.box[i] = box[i];
        if (i > 0)
            asked.distance[i - 1] = distances[i - 1];
        if (steps[i] != 1)
            result = FAKE_INVALID_VALUE;
    }
    if (!result && !is_good(&asked, 2 * type))
        result = FAKE_INVALID_VALUE;
    if (!result) {
        made[count++ % REMEMBERED] = asked;
        memset(map, 0x5a, 128);
    }
    return fake_end(result);
}

bool fake_last_map(int before, fake_map *map)
{
    bool there;

    fake_begin(__func__, FAKE_NOTHING);
    there = before < REMEMBERED && before < count;
    if (there)
        *map = made[(count - 1 - before) % REMEMBERED];
    fake_end(FAKE_SUCCESS);
    return there;
}
