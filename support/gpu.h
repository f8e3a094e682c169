/* SPDX-License-Identifier: MIT */
/*
 * A CUDA device as a user of the library has it: memory, streams, events, graphs. Through the
 * driver, found at run time, so that programs run where there is none. One device at a time.
 */
#ifndef SUPPORT_GPU_H
#define SUPPORT_GPU_H

#include <stddef.h>

/* Opens the device's primary context for this thread. NULL, or why it cannot be done. */
const char *sup_gpu_open(int device);

/* Device memory; NULL when it is short. Copies wait until they are done; they return 0, or -1 when
 * something failed on the device. */
void *sup_gpu_allocate(size_t bytes);
void sup_gpu_free(void *memory);
int sup_gpu_fill(void *to, int byte, size_t bytes);
int sup_gpu_to_device(void *to, const void *from, size_t bytes);
int sup_gpu_to_host(void *to, const void *from, size_t bytes);

/* Host memory that is pinned, for tests of pointers. */
void *sup_gpu_allocate_pinned(size_t bytes);
void sup_gpu_free_pinned(void *memory);

void *sup_gpu_stream(void);
void sup_gpu_stream_free(void *stream);
int sup_gpu_wait(void *stream);

/* Between begin and end, what is put on the stream is recorded, not done; launch does it. */
int sup_gpu_capture_begin(void *stream);
int sup_gpu_capture_end(void *stream, void **graph);
int sup_gpu_graph_launch(void *graph, void *stream);
void sup_gpu_graph_free(void *graph);

/* Seconds that the device takes for what `work` puts on the stream, the time for putting it there
 * left out: `times` of them captured in a graph, which is launched once to warm up and then timed;
 * work's `turn` goes from 0 to times - 1. Negative when something failed. */
double sup_gpu_time(int times, int (*work)(void *data, int turn, void *stream), void *data);

/* Seconds of a copy from device to device, the best of several. Not in a graph: there the driver
 * hands copies to an engine that is slower than the processors. Negative when something failed. */
double sup_gpu_copy_time(void *to, const void *from, size_t bytes);

/* A copy from device to device, put on the stream. */
int sup_gpu_copy(void *to, const void *from, size_t bytes, void *stream);

#endif
