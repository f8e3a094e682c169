/* SPDX-License-Identifier: MIT */
/* Executing on a CUDA device what lies in the memory of the host. */
#ifndef CLI_CUDA_EXECUTE_H
#define CLI_CUDA_EXECUTE_H

#include "cli.h"

/* The kernel families that `strategy` chooses from on a device; NULL behind the last. */
extern const char *const cli_cuda_strategies[];

/* As plan_create and execute, but on the first device: the tensors of the buffers are copied there
 * and what is written is copied back. */
poolgrad_status cli_cuda_execute(const poolgrad_desc *desc, const poolgrad_options *options,
                                 const poolgrad_buffers *buffers, poolgrad_error *error);

#endif
