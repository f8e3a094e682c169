/* SPDX-License-Identifier: MIT */
/*
 * The memory floor: how fast this machine copies memory that is not in its caches.
 *
 * B is the better of a plain copy (memcpy) and a streaming one (stores that go around the cache,
 * where the compiler's target has them), with a given number of threads, rotating over buffers that
 * together exceed four times the last-level cache, best of several passes. Bytes count as read plus
 * written. A problem's floor is (bytes read + bytes written) / B.
 */
#ifndef SUPPORT_FLOOR_H
#define SUPPORT_FLOOR_H

#include <stddef.h>

/* Seconds of a clock that only goes forward. */
double sup_now(void);

/* Bytes of the last-level cache, all of them together where a machine has several; a guess of
 * 32 MiB where the system does not tell. */
size_t sup_cache_bytes(void);

/* Bytes of memory this machine has, or the container that the process runs in; 0 if unknown. */
size_t sup_memory_bytes(void);

/* Seconds that the threads of this process, those that are there now, could have run but had no
 * CPU, because others had them; 0 where the system does not tell. */
double sup_cpu_wait(void);

typedef struct sup_floor sup_floor;

/* Allocates the buffers. NULL when memory is short or threads < 1. */
sup_floor *sup_floor_create(int threads);
void sup_floor_destroy(sup_floor *floor);
int sup_floor_threads(const sup_floor *floor);

/* Copies for about `seconds`, at least one pass over all buffers of either kind, and returns the
 * best rate since the last reset in bytes per second; 0 if the threads could not be started. */
double sup_floor_measure(sup_floor *floor, double seconds);

void sup_floor_reset(sup_floor *floor);

/* The best rates of reading alone and of writing alone, likewise; 0 if they could not be measured.
 * They bound what mostly reads or mostly writes, where a copy's rate does not. */
void sup_floor_halves(sup_floor *floor, double seconds, double *reading, double *writing);

/* The best of either kind since then; streaming is 0 where there is none. */
double sup_floor_plain(const sup_floor *floor);
double sup_floor_streaming(const sup_floor *floor);

#endif
