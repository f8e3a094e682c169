/* SPDX-License-Identifier: MIT */
#include "allocator.h"

#include <stdlib.h>
#include <string.h>

static void *counted_allocate(void *context, size_t bytes)
{
    allocator *a = context;

    if (++a->calls == a->fail_at)
        return NULL;
    a->live++;
    return malloc(bytes);
}

static void counted_release(void *context, void *memory)
{
    allocator *a = context;

    assert_non_null(memory);
    a->live--;
    free(memory);
}

poolgrad_options counted_options(allocator *a, const char *strategy)
{
    poolgrad_options options = options_for(strategy, 3);

    memset(a, 0, sizeof *a);
    options.allocate = counted_allocate;
    options.release = counted_release;
    options.allocator_context = a;
    return options;
}
