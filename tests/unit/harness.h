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
#include "indices.h"
#include "naive.h"
#include "random_problem.h"
#include "scatter.h"

/* `count` scaled by POOLGRAD_TEST_SCALE, a percentage (100 if it is not set), at least 1. Slow
 * builds run smaller samples. */
int scaled(int count);

/* Whether the program was started with --big. */
int is_big(int argc, char **argv);

/* A resolved problem with what it reads filled, and what it writes holding what it should not
 * keep. Memory that the op does not use is empty. */
typedef struct fixture {
    char text[1024]; /* the problem string, for messages */
    poolgrad_desc desc;
    sup_memory dy, dx, x, y;
    sup_memory indices; /* of MAX_GRAD: winners that the library will accept */
} fixture;

/* From a problem string or from any valid descriptor. What is written holds random values if beta
 * reads them, else NaN. Indices are the first maxima of values of that kind. */
void fixture_parse(fixture *f, const char *text, sup_kind kind, uint64_t seed);
void fixture_make(fixture *f, const poolgrad_desc *desc, sup_kind kind, uint64_t seed);
void fixture_free(fixture *f);

/* What the problem writes, dx or y, and its view. */
sup_memory *fixture_result(fixture *f);
const poolgrad_view *fixture_view(const fixture *f);

/* More memory for the result, with the same previous contents. */
sup_memory copy_of_result(const fixture *f);

/* Buffers for this fixture that write to `result` (NULL: where the fixture has it). */
poolgrad_buffers fixture_buffers(const fixture *f, void *result);

/* Plans and executes; anything but success fails the test. options may be NULL. indices_out (may
 * be NULL) receives the winners of MAX. */
void run_into(const fixture *f, const poolgrad_options *options, void *result);
void run_with_indices(const fixture *f, const poolgrad_options *options, void *result,
                      void *indices_out);

/* Whether a strategy, by name, applies to the problem. */
int strategy_applies(const fixture *f, const char *strategy);

/* Options for a strategy by name, otherwise defaults. */
poolgrad_options options_for(const char *strategy, int threads);

/* Fails the test, naming problem and element, unless two results have the same bits. */
void assert_same_result(const fixture *f, const void *expected, const void *actual,
                        const char *what);

#endif
