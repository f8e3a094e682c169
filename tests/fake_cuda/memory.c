/* SPDX-License-Identifier: MIT */
/* Memory of the stand-in's devices, and pinned memory of the host. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Numbers of the driver. */
enum {
    POINTER_MEMORY_TYPE = 2,
    POINTER_DEVICE = 9,
    MEMORY_HOST = 1,
    MEMORY_DEVICE = 2
};

/* Device memory is a range of addresses that cannot be read or written, and bytes elsewhere that
 * stand for it. */
typedef struct fake_memory {
    uint64_t begin;
    size_t size;
    char *bytes;
    int device;
    bool pinned; /* memory of the host: the addresses are the bytes' own */
    void *map;
    size_t map_size;
    struct fake_memory *next;
} fake_memory;

static fake_memory *memories;

static fake_memory *find(uint64_t address)
{
    fake_memory *memory;

    for (memory = memories; memory; memory = memory->next)
        if (address >= memory->begin && address - memory->begin < memory->size)
            return memory;
    return NULL;
}

char *fake_bytes(uint64_t address, size_t bytes)
{
    const fake_memory *memory = find(address);
    const uint64_t at = memory ? address - memory->begin : 0;

    return memory && !memory->pinned && bytes <= memory->size - at ? memory->bytes + at : NULL;
}

bool fake_is_of_device(uint64_t address, int device)
{
    const fake_memory *memory = find(address);

    return memory && !memory->pinned && memory->device == device;
}

static void add(fake_memory *memory)
{
    memory->device = fake_current()->device;
    memory->next = memories;
    memories = memory;
    fake_born();
}

/* A page that cannot be touched lies before and behind the addresses, and behind the bytes. */
static int allocate(uint64_t *address, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (size + page - 1) / page * page;
    fake_memory *memory;

    if (size == 0)
        return FAKE_INVALID_VALUE;
    if (size > (size_t)16 << 30 || !(memory = calloc(1, sizeof *memory)))
        return FAKE_OUT_OF_MEMORY;
    memory->map_size = 2 * whole + 3 * page;
    memory->map =
        mmap(NULL, memory->map_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    memory->bytes = (char *)memory->map + whole + 2 * page;
    if (memory->map == MAP_FAILED || mprotect(memory->bytes, whole, PROT_READ | PROT_WRITE)) {
        if (memory->map != MAP_FAILED)
            munmap(memory->map, memory->map_size);
        free(memory);
        return FAKE_OUT_OF_MEMORY;
    }
    memory->begin = (uintptr_t)memory->map + page;
    memory->size = size;
    add(memory);
    *address = memory->begin;
    return FAKE_SUCCESS;
}

static int release(uint64_t address, bool pinned)
{
    fake_memory **link, *memory;

    for (link = &memories; (memory = *link) != NULL; link = &memory->next)
        if (memory->begin == address && memory->pinned == pinned)
            break;
    if (!memory)
        return FAKE_INVALID_VALUE;
    *link = memory->next;
    if (pinned)
        free(memory->bytes);
    else
        munmap(memory->map, memory->map_size);
    free(memory);
    fake_died();
    return FAKE_SUCCESS;
}

FAKE_API int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : allocate(address, bytes));
}

FAKE_API int cuMemFree_v2(uint64_t address)
{
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : release(address, false));
}

FAKE_API int cuMemAllocHost_v2(void **host, size_t bytes)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_memory *memory = calloc(1, sizeof *memory);

    if (!result && memory && (memory->bytes = malloc(bytes)) != NULL) {
        memory->begin = (uintptr_t)memory->bytes;
        memory->size = bytes;
        memory->pinned = true;
        add(memory);
        *host = memory->bytes;
        return fake_end(result);
    }
    free(memory);
    return fake_end(result ? result : FAKE_OUT_OF_MEMORY);
}

FAKE_API int cuMemFreeHost(void *host)
{
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : release((uintptr_t)host, true));
}

FAKE_API int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    const fake_memory *memory = result ? NULL : find(address);
    int found = 0;

    if (!result && (!memory || (attribute != POINTER_MEMORY_TYPE && attribute != POINTER_DEVICE)))
        result = FAKE_INVALID_VALUE;
    if (!result) {
        if (attribute == POINTER_DEVICE)
            found = memory->device;
        else
            found = memory->pinned ? MEMORY_HOST : MEMORY_DEVICE;
        memcpy(value, &found, sizeof found);
    }
    return fake_end(result);
}

FAKE_API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    char *there = result ? NULL : fake_bytes(to, bytes);

    if (!result && !there)
        result = FAKE_INVALID_VALUE;
    if (!result)
        memcpy(there, from, bytes);
    return fake_end(result);
}

FAKE_API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    const fake_work work = {.kind = FAKE_FETCH, .host = to, .from = from, .bytes = bytes};
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : fake_put(NULL, &work));
}

FAKE_API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream)
{
    const fake_work work = {.kind = FAKE_FETCH, .host = to, .from = from, .bytes = bytes};
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : fake_put(stream, &work));
}

FAKE_API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    const fake_work work = {.kind = FAKE_COPY, .to = to, .from = from, .bytes = bytes};
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : fake_put(stream, &work));
}

FAKE_API int cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes)
{
    const fake_work work = {.kind = FAKE_FILL, .to = to, .bytes = bytes, .value = value};
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : fake_put(NULL, &work));
}

FAKE_API int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void *stream)
{
    const fake_work work = {.kind = FAKE_FILL, .to = to, .bytes = bytes, .value = value};
    const int result = fake_begin(__func__, FAKE_CURRENT);

    return fake_end(result ? result : fake_put(stream, &work));
}
