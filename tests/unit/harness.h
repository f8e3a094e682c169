/* SPDX-License-Identifier: MIT */
/* What the unit tests share: cmocka with its includes, problems with their memory, running plans.
 */
#ifndef TESTS_UNIT_HARNESS_H
#define TESTS_UNIT_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poolgrad/poolgrad.h>

#include "data.h"
#include "random_problem.h"
#include "scatter.h"

/* `count` scaled by POOLGRAD_TEST_SCALE, a percentage (100 if it is not set), at least 1. Slow
 * builds run smaller samples. */
int scaled(int count);

/* Whether the program was started with --big. */
int is_big(int argc, char **argv);

/* A resolved problem with dy filled, and dx filled with what it should not keep. */
typedef struct fixture {
    char text[1024]; /* the problem string, for messages */
    poolgrad_desc desc;
    sup_memory dy, dx;
} fixture;

/* From a problem string or from any valid descriptor. dx holds random values if beta reads them,
 * else NaN. */
void fixture_parse(fixture *f, const char *text, sup_kind kind, uint64_t seed);
void fixture_make(fixture *f, const poolgrad_desc *desc, sup_kind kind, uint64_t seed);
void fixture_free(fixture *f);

/* Another dx for the same problem with the same previous contents. */
sup_memory copy_of_dx(const fixture *f);

/* Plans and executes; anything but success fails the test. options may be NULL. */
void run_into(const fixture *f, const poolgrad_options *options, void *dx);

/* Options for a strategy by name, otherwise defaults. */
poolgrad_options options_for(const char *strategy, int threads);

/* Fails the test, naming problem and element, unless two buffers of dx have the same bits. */
void assert_same_dx(const fixture *f, const void *expected, const void *actual, const char *what);

#endif
