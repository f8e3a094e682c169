/* SPDX-License-Identifier: MIT */
/* An allocator that counts, and that fails when it is told to. */
#ifndef TESTS_UNIT_ALLOCATOR_H
#define TESTS_UNIT_ALLOCATOR_H

#include "harness.h"

typedef struct allocator {
    int calls, fail_at; /* the fail_at-th call gives NULL; 0: none does */
    int live;
} allocator;

/* Sets *a to zeros; options for that strategy (NULL: the planner's choice) that use it. */
poolgrad_options counted_options(allocator *a, const char *strategy);

#endif
