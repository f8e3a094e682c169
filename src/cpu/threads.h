/* SPDX-License-Identifier: MIT */
#ifndef PGI_CPU_THREADS_H
#define PGI_CPU_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether this process may start threads: the one that called this first may, its forked children
 * may not. */
bool pgi_threads_claim(void);

/* The backend's parallel_for: OpenMP, or one after the other where that is not to be had. */
void pgi_threads_run(int32_t threads, int64_t tasks, void (*task)(void *data, int64_t index),
                     void *data);

#endif
