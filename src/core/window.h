/* SPDX-License-Identifier: MIT */
/* Single windows of a problem, by their three coordinates. */
#ifndef PGI_CORE_WINDOW_H
#define PGI_CORE_WINDOW_H

#include "core/problem.h"

/* What the window is divided by; 0 if it covers no position of the input. */
int64_t pgi_window_divisor(const pgi_problem *problem, const int64_t o[3]);

bool pgi_window_covers(const pgi_problem *problem, const int64_t o[3]);

typedef enum pgi_index_verdict {
    PGI_INDEX_WINNER,  /* a position that the window covers */
    PGI_INDEX_NOWHERE, /* -1 where that is allowed */
    PGI_INDEX_BAD
} pgi_index_verdict;

/* What an index means for a window; a winner's position goes to `position`. */
pgi_index_verdict pgi_check_index(const pgi_problem *problem, int64_t batch, int64_t channel,
                                  const int64_t o[3], int64_t index, int64_t position[3]);

/* Where a window lies in the view of dy, counted row-major (batch, channels, spatial), and back:
 * the element of the indices that is counted so. Batch and channel are those of the whole. */
int64_t pgi_window_element(const pgi_problem *problem, int64_t batch, int64_t channel,
                           const int64_t o[3]);
int64_t pgi_index_offset_of_element(const pgi_problem *problem, int64_t element);

/* The lowest element of the dy view whose index is none, among the windows that do not reach the
 * dx view: those that computing dx does not come across. INT64_MAX if there is none. */
int64_t pgi_bad_unreached_index(const pgi_problem *problem, const void *indices);

#endif
