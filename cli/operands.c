/* SPDX-License-Identifier: MIT */
#include "operands.h"

#include "indices.h"

static cli_operand number(const poolgrad_desc *desc, cli_slot slot, const char *name,
                          poolgrad_view *view)
{
    return (cli_operand){.slot = slot,
                         .name = name,
                         .view = view,
                         .size = poolgrad_dtype_size(desc->dtype),
                         .written = slot >= CLI_DX};
}

static cli_operand index_operand(poolgrad_desc *desc, cli_slot slot)
{
    cli_operand operand = number(desc, slot, "indices", &desc->indices);
    operand.size = sup_index_size(desc->index_type);
    operand.indices = 1;
    return operand;
}

int cli_operands(poolgrad_desc *resolved, cli_operand *operands)
{
    int count = 0;
    int forward = sup_is_forward(resolved);
    if (!forward)
        operands[count++] = number(resolved, CLI_DY, "dy", &resolved->dy);
    if (resolved->op == POOLGRAD_MAX_GRAD && resolved->winner == POOLGRAD_FROM_INDICES)
        operands[count++] = index_operand(resolved, CLI_INDICES);
    else if (resolved->op != POOLGRAD_AVG_GRAD)
        operands[count++] = number(resolved, CLI_X, "x", &resolved->x);
    if (resolved->op == POOLGRAD_MAX_GRAD && resolved->winner == POOLGRAD_NEAR_Y)
        operands[count++] = number(resolved, CLI_MAXIMA, "y", &resolved->y);
    operands[count++] = forward ? number(resolved, CLI_Y, "y", &resolved->y)
                                : number(resolved, CLI_DX, "dx", &resolved->dx);
    if (resolved->op == POOLGRAD_MAX)
        operands[count++] = index_operand(resolved, CLI_INDICES_OUT);
    return count;
}

void cli_bind(poolgrad_buffers *buffers, cli_slot slot, void *first)
{
    switch (slot) {
    case CLI_DY:
        buffers->dy = first;
        break;
    case CLI_X:
        buffers->x = first;
        break;
    case CLI_INDICES:
        buffers->indices = first;
        break;
    case CLI_DX:
        buffers->dx = first;
        break;
    case CLI_MAXIMA:
    case CLI_Y:
        buffers->y = first;
        break;
    case CLI_INDICES_OUT:
        buffers->indices_out = first;
        break;
    }
}

void cli_whole_extents(const poolgrad_desc *resolved, cli_slot slot, int64_t *whole)
{
    const int64_t *spatial = slot == CLI_X || slot == CLI_DX ? resolved->in : resolved->out;
    whole[0] = resolved->batch;
    whole[1] = resolved->channels;
    for (int axis = 0; axis < resolved->rank; axis++)
        whole[axis + 2] = spatial[axis];
}
