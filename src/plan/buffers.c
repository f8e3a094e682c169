/* SPDX-License-Identifier: MIT */
#include "plan/buffers.h"

#include "core/status.h"
#include "core/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BUFFERS_SIZE_0_1 (offsetof(poolgrad_buffers, workspace_size) + sizeof(size_t))

poolgrad_status poolgrad_buffers_init(poolgrad_buffers *buffers)
{
    if (!buffers)
        return POOLGRAD_ERR_NULL;
    memset(buffers, 0, sizeof *buffers);
    buffers->size = sizeof *buffers;
    return POOLGRAD_OK;
}

/* Memory that an execution uses: where, and whether it is written. */
typedef struct pgi_memory {
    const char *name;
    const void *begin;
    size_t bytes; /* 0 if nothing of it is used */
    bool written;
} pgi_memory;

enum {
    MAX_MEMORIES = 5
};

typedef struct pgi_memories {
    pgi_memory memory[MAX_MEMORIES];
    int count;
} pgi_memories;

static poolgrad_status add_tensor(pgi_memories *memories, const pgi_tensor *tensor,
                                  size_t element_size, const void *first, const char *name,
                                  bool written, poolgrad_error *error)
{
    const int64_t size = (int64_t)element_size;
    pgi_memory *memory = &memories->memory[memories->count++];

    *memory = (pgi_memory){.name = name, .written = written};
    if (tensor->elements == 0)
        return POOLGRAD_OK;
    if (!first)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "buffers.%s is NULL", name);
    if ((uintptr_t)first % element_size)
        return pgi_fail(error, POOLGRAD_ERR_MISALIGNED,
                        "buffers.%s is %p; it must be a multiple of its element size, %zu bytes",
                        name, first, element_size);
    memory->begin = (const char *)first + tensor->lowest * size;
    memory->bytes = (size_t)((tensor->highest - tensor->lowest + 1) * size);
    return POOLGRAD_OK;
}

/* What is written must be apart from everything else. */
static poolgrad_status check_overlap(const pgi_memories *memories, poolgrad_error *error)
{
    int i, k;

    for (i = 0; i < memories->count; i++) {
        for (k = 0; k < i; k++) {
            const pgi_memory *a = &memories->memory[i], *b = &memories->memory[k];

            if ((a->written || b->written) &&
                pgi_bytes_overlap(a->begin, a->bytes, b->begin, b->bytes))
                return pgi_fail(error, POOLGRAD_ERR_OVERLAP,
                                "the bytes of %s and %s overlap; they must be apart", a->name,
                                b->name);
        }
    }
    return POOLGRAD_OK;
}

poolgrad_status pgi_buffers_check(const pgi_problem *problem, const poolgrad_buffers *buffers,
                                  const pgi_work *work, size_t needed, poolgrad_error *error)
{
    const poolgrad_op op = problem->desc.op;
    const size_t size = problem->element_size;
    pgi_memories memories = {.count = 0};

    PGI_TRY(add_tensor(&memories, &problem->source, size, work->source, pgi_source_name(op), false,
                       error));
    PGI_TRY(add_tensor(&memories, &problem->target, size, work->target, pgi_target_name(op), true,
                       error));
    if (problem->has_x)
        PGI_TRY(add_tensor(&memories, &problem->x, size, work->x, "x", false, error));
    if (problem->has_y)
        PGI_TRY(add_tensor(&memories, &problem->y, size, work->y, "y", false, error));
    if (op == POOLGRAD_MAX_GRAD && problem->has_indices)
        PGI_TRY(add_tensor(&memories, &problem->indices, problem->index_size, work->indices,
                           "indices", false, error));
    if (op == POOLGRAD_MAX && work->indices_out)
        PGI_TRY(add_tensor(&memories, &problem->indices, problem->index_size, work->indices_out,
                           "indices_out", true, error));
    if (buffers->workspace && buffers->workspace_size < needed)
        return pgi_fail(error, POOLGRAD_ERR_WORKSPACE,
                        "buffers.workspace_size is %zu; the plan needs %zu bytes",
                        buffers->workspace_size, needed);
    if (buffers->workspace)
        memories.memory[memories.count++] =
            (pgi_memory){"the workspace", buffers->workspace, needed, true};
    return check_overlap(&memories, error);
}

poolgrad_status pgi_buffers_read(const pgi_problem *problem, const poolgrad_buffers *buffers,
                                 poolgrad_buffers *read, pgi_work *work, poolgrad_error *error)
{
    const bool forward = pgi_is_forward(problem->desc.op);

    poolgrad_buffers_init(read);
    PGI_TRY(pgi_struct_read(read, sizeof *read, buffers, BUFFERS_SIZE_0_1, "buffers", error));
    *work = (pgi_work){.source = forward ? read->x : read->dy,
                       .target = forward ? read->y : read->dx,
                       .x = read->x,
                       .y = read->y,
                       .indices = read->indices,
                       .indices_out = read->indices_out};
    return POOLGRAD_OK;
}

poolgrad_status pgi_bad_index(const pgi_problem *problem, int64_t element, int64_t index,
                              poolgrad_error *error)
{
    const int64_t *extent = problem->desc.dy.extent; /* axes as the caller has them */
    const int axes = PGI_SPATIAL + problem->desc.rank;
    int64_t at[PGI_AXES] = {0}, rest = element;
    char window[72] = "";
    size_t used = 0;
    int i;

    for (i = axes - 1; i >= 0; rest /= extent[i], i--)
        at[i] = rest % extent[i];
    for (i = PGI_SPATIAL; i < axes; i++)
        used += (size_t)snprintf(window + used, sizeof window - used,
                                 used ? ",%" PRId64 : "%" PRId64, at[i]);
    pgi_fail(error, POOLGRAD_ERR_INDEX,
             "element %" PRId64 " of the indices (batch %" PRId64 ", channel %" PRId64
             ", window %s) is %" PRId64 "; it must be %s%s",
             element, at[PGI_BATCH], at[PGI_CHANNEL], window, index,
             problem->indexing.window ? "a tap of its window inside the input"
                                      : "a position that its window covers",
             problem->indexing.no_winner ? ", or -1" : "");
    if (error)
        error->position = element;
    return POOLGRAD_ERR_INDEX;
}
