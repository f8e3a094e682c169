/* SPDX-License-Identifier: MIT */
/*
 * An axis as something that is gathered: every target place takes a run of source places. For a
 * gradient targets are positions and sources windows (the windows that cover the position); for a
 * forward pass it is the other way round (the taps of the window). What reduces runs needs to
 * know no more than this.
 */
#ifndef PGI_CORE_GATHER_H
#define PGI_CORE_GATHER_H

#include "core/axis.h"
#include "core/integer.h"

typedef struct pgi_gather {
    pgi_axis axis;
    bool forward;
    int64_t sources; /* how many there are; a filled run may name others, which count as nothing */
    int64_t q;       /* distance of the places in a run */
    int64_t longest; /* most places in a run */
    bool filled;
    /* In a filled axis, targets `period` apart have runs of one length, `advance` places on. */
    int64_t period, advance;
    /* For the targets of the view at hand: at most so many sources, without and with those that
     * only a filled axis counts. Set by pgi_gather_limit. */
    int64_t most_sources, most_reach;
} pgi_gather;

pgi_gather pgi_gather_make(const pgi_axis *axis, bool forward);

/* The run of a target. */
PGI_SHARED pgi_run pgi_gather_run(const pgi_gather *gather, int64_t target)
{
    const pgi_axis *axis = &gather->axis;

    if (!gather->forward)
        return pgi_axis_run(axis, target);
    return gather->filled || axis->adaptive
               ? pgi_axis_taps(axis, target)
               : pgi_run_clip(pgi_axis_taps(axis, target), gather->q, axis->in);
}

/* Sources whose span meets the targets [begin, end), begin < end. Where the axis is filled,
 * `virtual` is not cut to those that exist: it contains all runs that have a place among them.
 * `reach` is cut. */
pgi_range pgi_gather_virtual_reach(const pgi_gather *gather, int64_t begin, int64_t end);
pgi_range pgi_gather_reach(const pgi_gather *gather, int64_t begin, int64_t end);

/* Says that only targets [begin, end) will be asked for. */
void pgi_gather_limit(pgi_gather *gather, int64_t begin, int64_t end);

/* An upper bound of virtual reach's length for any `extent` of those targets. */
int64_t pgi_gather_reach_bound(const pgi_gather *gather, int64_t extent);

#endif
