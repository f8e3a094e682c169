/* SPDX-License-Identifier: MIT */
/* For tests of the CUDA backend without a device: the stand-in for the driver, and memory on it. */
#ifndef TESTS_UNIT_CUDA_HOST_H
#define TESTS_UNIT_CUDA_HOST_H

#include "harness.h"

#include <poolgrad/cuda.h>

#include "fake_cuda/control.h"
#include "gpu.h"

enum {
    CUDA_HOST_STRATEGIES = 16
};

/* The stand-in, once cuda_host_start has returned. */
extern const fake_cuda_control *fake;

/* Makes the stand-in the driver that will be found, by starting the program anew with another
 * LD_LIBRARY_PATH where that is needed. */
void cuda_host_start(char **argv);

/* Opens the first device and makes memory there for cuda_host_buffers; and frees it. Setup and
 * teardown of a group. */
int cuda_host_open(void **state);
int cuda_host_close(void **state);

/* Buffers for a plan: all that its operator reads and writes, each in a place of its own, far
 * apart. The memory is the same for every plan. */
poolgrad_buffers cuda_host_buffers(const poolgrad_cuda_plan *plan);

/* A plan on device 0; fails the test if there is none. */
poolgrad_cuda_plan *cuda_host_plan(const char *problem, const char *strategy);

/* The backend's strategies, as it names them itself, NULL (the planner's choice) first; how many.
 */
int cuda_host_strategies(const char *names[CUDA_HOST_STRATEGIES]);

/* Fails the test unless that status was returned, with these words in the message. */
void expect_error(poolgrad_status status, const poolgrad_error *error, poolgrad_status expected,
                  const char *words);

#endif
