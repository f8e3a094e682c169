/* SPDX-License-Identifier: MIT */
/* A test of the CUDA backend: more than 2^31 elements, and more planes than a grid has rows; some
 * planes of the result against the CPU's. */
#ifndef TESTS_UNIT_CUDA_LARGE_H
#define TESTS_UNIT_CUDA_LARGE_H

/* Else the test is skipped: it takes 9 GB of the device's memory. */
extern int cuda_large_wanted;

void cuda_large_test(void **state);

#endif
