/* SPDX-License-Identifier: MIT */
/*
 * The rule by which everything here is timed: floor, cold and hot executions in turn, several
 * rounds, the best of each.
 */
#ifndef SUPPORT_TIMING_H
#define SUPPORT_TIMING_H

#include "floor.h"

/* Executes what is timed on set `index` of its buffers. Returns 0, or -1 to give up. */
typedef int (*sup_step)(void *context, size_t index);

typedef struct sup_times {
    double cold;    /* seconds; rotating over the sets */
    double hot;     /* the first set again and again */
    double waiting; /* share of that time in which a thread had no CPU, because others had it */
    /* Of memory, in bytes per second, measured in turn with the times: copying, and reading and
     * writing alone. */
    double rate, reading, writing;
} sup_times;

/* When threads waited for a CPU longer than this share of the time, figures are in doubt: two that
 * work together then mostly wait for each other. */
#define SUP_BUSY 0.1

/* How many sets of `bytes` there must be, so that they together exceed four times the last-level
 * cache and an execution that rotates over them finds nothing there; two at least. */
size_t sup_set_count(size_t bytes);

typedef enum sup_timed {
    SUP_TIMED = 0,
    SUP_STEP_FAILED,  /* the step returned -1 */
    SUP_FLOOR_FAILED, /* the threads that copy could not be started */
} sup_timed;

/* Times `step` over sets 0 .. sets-1, for about `seconds` with the floor, using as many threads as
 * the floor does. `brief`: a first look in one round, without the hot time. */
sup_timed sup_time(sup_floor *floor, sup_step step, void *context, size_t sets, double seconds,
                   int brief, sup_times *times);

#endif
