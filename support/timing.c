/* SPDX-License-Identifier: MIT */
#include "timing.h"

#include <string.h>

/* How often floor, cold and hot executions take turns: a machine whose speed changes while it is
 * measured is in the same state for all three, now and then. */
#define ROUNDS 4

/* A first look takes this part of a measurement. */
#define BRIEF 0.05

size_t sup_set_count(size_t bytes)
{
    size_t count = bytes ? 4 * sup_cache_bytes() / bytes + 1 : 0;
    return count < 2 ? 2 : count;
}

/* Lowers *best to the best time of executions that rotate over `rotate` sets, for `seconds`. The
 * first warms up threads and pages and does not count. Then three count at least, unless they take
 * ten times as long as they may; one always does. */
static int time_executions(sup_step step, void *context, size_t rotate, double seconds,
                           double *best)
{
    double start = sup_now(), now = start;
    for (size_t i = 0; i < 2 || now < start + seconds || (i < 4 && now < start + 10 * seconds);
         i++) {
        double begin = sup_now();
        if (step(context, i % rotate))
            return -1;
        now = sup_now();
        if (i > 0 && now - begin < *best)
            *best = now - begin;
    }
    return 0;
}

sup_timed sup_time(sup_floor *floor, sup_step step, void *context, size_t sets, double seconds,
                   int brief, sup_times *times)
{
    int rounds = brief ? 1 : ROUNDS;
    double part = brief ? seconds * BRIEF : seconds / ROUNDS;
    double waited = 0, timed = 0;
    memset(times, 0, sizeof *times);
    times->cold = times->hot = 1e300;
    sup_floor_reset(floor);
    for (int round = 0; round < rounds; round++) {
        times->rate = sup_floor_measure(floor, part * 0.2);
        sup_floor_halves(floor, 0, &times->reading, &times->writing);
        if (times->rate <= 0)
            return SUP_FLOOR_FAILED;
        double begin = sup_now(), wait = sup_cpu_wait();
        if (time_executions(step, context, sets, part * 0.6, &times->cold) ||
            (!brief && time_executions(step, context, 1, part * 0.2, &times->hot)))
            return SUP_STEP_FAILED;
        timed += sup_now() - begin;
        waited += sup_cpu_wait() - wait;
    }
    /* what a thread waited is forgotten when it ends */
    times->waiting = waited > 0 ? waited / (timed * sup_floor_threads(floor)) : 0;
    return SUP_TIMED;
}
