/* SPDX-License-Identifier: MIT */
/*
 * Buffers to measure with: the same tensors several times over, so that executions which rotate
 * over them find nothing in the caches.
 */
#ifndef CLI_SETS_H
#define CLI_SETS_H

#include "cli.h"
#include "operands.h"

typedef struct cli_sets {
    poolgrad_desc desc;
    cli_operand operands[CLI_MOST_OPERANDS];
    int operand_count;
    size_t offset[CLI_MOST_OPERANDS]; /* of the operand's lowest element within a set */
    size_t bytes[CLI_MOST_OPERANDS];  /* from its lowest to its highest element */
    size_t first[CLI_MOST_OPERANDS];  /* element 0 of the view within a set */
    char *memory;                     /* all sets, in one allocation */
    size_t set_bytes, count;
    void *workspace;
    size_t workspace_size;
} cli_sets;

/* Two sets at least, together more than four times the last-level cache, filled: numbers are
 * random, indices the winners of random numbers; without `indices_out` a forward pass writes none.
 * Returns 0, or an exit code after a message. */
int cli_sets_make(const char *verb, const char *problem, const poolgrad_plan *plan, int indices_out,
                  cli_sets *sets);
void cli_sets_free(cli_sets *sets);

/* Bytes from the lowest to the highest element of a view, and where element 0 is among them.
 * Returns 0, or -1 if they cannot be counted. */
int cli_view_bytes(const poolgrad_desc *desc, const cli_operand *operand, size_t *bytes,
                   size_t *first);

/* The max pooling whose indices a max gradient reads, with dense x and y. */
poolgrad_status cli_forward_problem(const poolgrad_desc *desc, poolgrad_desc *forward,
                                    poolgrad_error *error);

/* Executes on one of the sets. */
poolgrad_status cli_sets_execute(const poolgrad_plan *plan, const cli_sets *sets, size_t index,
                                 poolgrad_error *error);

/* Sets dx or y, and indices that are written, to zero in one of the sets. */
void cli_sets_clear(const cli_sets *sets, size_t index);

/* 1 if two sets hold the same results, bit for bit. */
int cli_sets_equal(const cli_sets *sets, size_t a, size_t b);

#endif
