/* SPDX-License-Identifier: MIT */
/*
 * The tensors of a problem, as a list: what the operator reads, then what it writes. Verbs that
 * treat all operators alike go over it instead of naming dy, dx, x, y and indices.
 */
#ifndef CLI_OPERANDS_H
#define CLI_OPERANDS_H

#include "cli.h"

typedef enum cli_slot {
    CLI_DY,
    CLI_X,
    CLI_INDICES, /* read by the max gradient */
    CLI_MAXIMA,  /* y, read by the max gradient with from=y */
    CLI_DX,
    CLI_Y,
    CLI_INDICES_OUT /* written by max pooling */
} cli_slot;

enum {
    CLI_SLOTS = 7,
    CLI_MOST_OPERANDS = 4
};

typedef struct cli_operand {
    cli_slot slot;
    const char *name;    /* of the view: "dy", "indices" */
    poolgrad_view *view; /* of the descriptor */
    size_t size;         /* bytes per element */
    int written;
    int indices; /* 1: elements are of the index type, otherwise of the dtype */
} cli_operand;

/* Fills operands[CLI_MOST_OPERANDS] and returns how many there are. The first that is written is dx
 * or y. */
int cli_operands(poolgrad_desc *resolved, cli_operand *operands);

/* Lets the buffers' pointer of an operand be `first`. */
void cli_bind(poolgrad_buffers *buffers, cli_slot slot, void *first);

/* Extents of the whole tensor in view order; whole[rank + 2]. */
void cli_whole_extents(const poolgrad_desc *resolved, cli_slot slot, int64_t *whole);

#endif
