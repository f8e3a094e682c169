/* SPDX-License-Identifier: MIT */
/* The times of measure.h, on a CUDA device. */
#ifndef CLI_CUDA_MEASURE_H
#define CLI_CUDA_MEASURE_H

#include "measure.h"

/* Measures cases[count] on device 0: executions that rotate over buffers which together exceed four
 * times its L2 cache, and the same buffers again and again; the floor is a copy on the device.
 * Returns 0, or an exit code after a message. */
int cli_cuda_measure(const char *verb, cli_case *cases, int count, const char *strategy, int quiet);

#endif
