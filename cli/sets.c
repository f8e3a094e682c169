/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L

#include "sets.h"

#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "indices.h"
#include "timing.h"

static size_t round_up(size_t bytes)
{
    return (bytes + 4095) / 4096 * 4096;
}

int cli_view_bytes(const poolgrad_desc *desc, const cli_operand *operand, size_t *bytes,
                   size_t *first)
{
    return sup_view_span(desc, operand->view, operand->size, bytes, first) || *bytes > SIZE_MAX / 8
               ? -1
               : 0;
}

void cli_sets_free(cli_sets *sets)
{
    free(sets->memory);
    free(sets->workspace);
    memset(sets, 0, sizeof *sets);
}

static char *place(const cli_sets *sets, size_t index, size_t offset)
{
    return sets->memory + index * sets->set_bytes + offset;
}

/* ------------------------------------------------------------------ filling */

/* Random numbers, the same block again and again: the time does not depend on the values. */
static void fill_numbers(poolgrad_dtype dtype, char *to, size_t bytes)
{
    size_t size = poolgrad_dtype_size(dtype), block = 65536 * size;
    sup_rng rng;
    sup_rng_seed(&rng, 1);
    if (block > bytes)
        block = bytes / size * size;
    sup_fill(dtype, to, (int64_t)(block / size), SUP_UNIFORM, &rng);
    for (size_t done = block; done < bytes; done += block)
        memcpy(to + done, to, bytes - done < block ? bytes - done : block);
}

poolgrad_status cli_forward_problem(const poolgrad_desc *desc, poolgrad_desc *forward,
                                    poolgrad_error *error)
{
    *forward = *desc;
    forward->op = POOLGRAD_MAX;
    forward->alpha = 1;
    forward->beta = 0;
    forward->parity = POOLGRAD_PARITY_OFF;
    forward->y = desc->dy;
    forward->x.layout = forward->y.layout = POOLGRAD_NCX;
    poolgrad_status status = poolgrad_desc_reach(forward, error);
    return status == POOLGRAD_OK ? poolgrad_desc_resolve(forward, error) : status;
}

/* The winners of random numbers: where they lie, and how often neighbouring windows share one, is
 * as in real data, which matters to the time. */
static poolgrad_status fill_indices(const poolgrad_desc *desc, void *first, poolgrad_error *error)
{
    poolgrad_desc forward;
    poolgrad_plan *plan = NULL;
    poolgrad_status status = cli_forward_problem(desc, &forward, error);
    if (status != POOLGRAD_OK)
        return status;
    sup_memory x = {0}, y = {0};
    if (sup_view_alloc(&forward, &forward.x, &x) || sup_view_alloc(&forward, &forward.y, &y)) {
        error->status = status = POOLGRAD_ERR_MEMORY;
    } else {
        poolgrad_buffers buffers;
        fill_numbers(forward.dtype, x.allocation, x.bytes);
        poolgrad_buffers_init(&buffers);
        cli_bind(&buffers, CLI_X, x.first);
        cli_bind(&buffers, CLI_Y, y.first);
        cli_bind(&buffers, CLI_INDICES_OUT, first);
        status = poolgrad_plan_create(&plan, &forward, NULL, error);
        if (status == POOLGRAD_OK)
            status = poolgrad_execute(plan, &buffers, error);
    }
    poolgrad_plan_destroy(plan);
    sup_view_free(&x);
    sup_view_free(&y);
    return status;
}

static int fill(const char *verb, const char *problem, cli_sets *sets)
{
    poolgrad_error error;
    for (int i = 0; i < sets->operand_count; i++) {
        const cli_operand *operand = &sets->operands[i];
        if (operand->written)
            continue;
        if (!operand->indices)
            fill_numbers(sets->desc.dtype, place(sets, 0, sets->offset[i]), sets->bytes[i]);
        else if (fill_indices(&sets->desc, place(sets, 0, sets->first[i]), &error) != POOLGRAD_OK)
            return cli_library_error(verb, problem, &error);
    }
    for (size_t set = 1; set < sets->count; set++)
        memcpy(place(sets, set, 0), place(sets, 0, 0), sets->set_bytes);
    return CLI_OK;
}

/* ------------------------------------------------------------------- making */

/* Where everything lies in a set. Returns -1 if that cannot be addressed. */
static int arrange(cli_sets *sets)
{
    for (int i = 0; i < sets->operand_count; i++) {
        if (cli_view_bytes(&sets->desc, &sets->operands[i], &sets->bytes[i], &sets->first[i]))
            return -1;
        sets->offset[i] = sets->set_bytes;
        sets->first[i] += sets->offset[i];
        sets->set_bytes += round_up(sets->bytes[i]);
    }
    return 0;
}

int cli_sets_make(const char *verb, const char *problem, const poolgrad_plan *plan, int indices_out,
                  cli_sets *sets)
{
    memset(sets, 0, sizeof *sets);
    sets->desc = *poolgrad_plan_desc(plan);
    sets->operand_count = cli_operands(&sets->desc, sets->operands);
    if (!indices_out && sets->operands[sets->operand_count - 1].slot == CLI_INDICES_OUT)
        sets->operand_count--;
    size_t available = sup_memory_bytes() / 10 * 6;
    sets->workspace_size = poolgrad_plan_workspace(plan);
    if (arrange(sets)) {
        cli_error(verb, "%s: its memory is too large to address", problem);
        return CLI_DATA;
    }
    if (available > 0 && 2 * sets->set_bytes + sets->workspace_size > available) {
        cli_error(verb,
                  "%s: needs %.1f GiB for two sets of buffers, more than 60%% of this "
                  "machine's memory; measure a smaller batch",
                  problem, (double)(2 * sets->set_bytes + sets->workspace_size) / (1 << 30));
        return CLI_DATA;
    }
    sets->count = sup_set_count(sets->set_bytes);
    void *memory = NULL;
    sets->workspace = malloc(sets->workspace_size ? sets->workspace_size : 1);
    if (!sets->workspace || posix_memalign(&memory, 4096, sets->set_bytes * sets->count) != 0) {
        cli_sets_free(sets);
        cli_error(verb, "%s: out of memory; measure a smaller batch", problem);
        return CLI_DATA;
    }
    sets->memory = memory;
    memset(memory, 0, sets->set_bytes);
    memset(sets->workspace, 0, sets->workspace_size);
    int code = fill(verb, problem, sets);
    if (code)
        cli_sets_free(sets);
    return code;
}

/* -------------------------------------------------------------------- using */

poolgrad_status cli_sets_execute(const poolgrad_plan *plan, const cli_sets *sets, size_t index,
                                 poolgrad_error *error)
{
    poolgrad_buffers buffers;
    poolgrad_buffers_init(&buffers);
    for (int i = 0; i < sets->operand_count; i++)
        cli_bind(&buffers, sets->operands[i].slot, place(sets, index, sets->first[i]));
    /* Another plan, such as the reference's, may need more than this workspace; then it finds its
     * own. */
    if (poolgrad_plan_workspace(plan) <= sets->workspace_size) {
        buffers.workspace = sets->workspace;
        buffers.workspace_size = sets->workspace_size;
    }
    return poolgrad_execute(plan, &buffers, error);
}

void cli_sets_clear(const cli_sets *sets, size_t index)
{
    for (int i = 0; i < sets->operand_count; i++)
        if (sets->operands[i].written)
            memset(place(sets, index, sets->offset[i]), 0, sets->bytes[i]);
}

int cli_sets_equal(const cli_sets *sets, size_t a, size_t b)
{
    for (int i = 0; i < sets->operand_count; i++) {
        const cli_operand *operand = &sets->operands[i];
        if (!operand->written)
            continue;
        /* Both were cleared, so the bytes between strided indices are equal, too. */
        if (operand->indices
                ? memcmp(place(sets, a, sets->offset[i]), place(sets, b, sets->offset[i]),
                         sets->bytes[i]) != 0
                : sup_view_difference(&sets->desc, operand->view, place(sets, a, sets->first[i]),
                                      place(sets, b, sets->first[i])) >= 0)
            return 0;
    }
    return 1;
}
