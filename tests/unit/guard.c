/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "guard.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

guarded guard(size_t bytes, int at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inside = (bytes + page - 1) / page * page;
    guarded g;

    g.length = inside + 2 * page;
    g.pages = mmap(NULL, g.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(g.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(g.pages + page + inside, page, PROT_NONE), 0);
    g.memory = g.pages + page + (at_end ? inside - bytes : 0);
    return g;
}

void unguard(guarded *g)
{
    if (g->pages)
        assert_int_equal(munmap(g->pages, g->length), 0);
}

guarded guard_copy(const sup_memory *memory, int at_end, void **first)
{
    guarded g = {0};

    *first = NULL;
    if (!memory->allocation)
        return g;
    g = guard(memory->bytes, at_end);
    memcpy(g.memory, memory->allocation, memory->bytes);
    *first = g.memory + ((const char *)memory->first - (const char *)memory->allocation);
    return g;
}

void guard_fixture(guarded_fixture *g, const fixture *f, int at_end)
{
    void *dy, *x, *indices;

    poolgrad_buffers_init(&g->buffers);
    g->dy = guard_copy(&f->dy, at_end, &dy);
    g->dx = guard_copy(&f->dx, at_end, &g->buffers.dx);
    g->x = guard_copy(&f->x, at_end, &x);
    g->y = guard_copy(&f->y, at_end, &g->buffers.y);
    g->indices = guard_copy(&f->indices, at_end, &indices);
    g->buffers.dy = dy;
    g->buffers.x = x;
    g->buffers.indices = indices;
}

void unguard_fixture(guarded_fixture *g)
{
    unguard(&g->dy);
    unguard(&g->dx);
    unguard(&g->x);
    unguard(&g->y);
    unguard(&g->indices);
}
