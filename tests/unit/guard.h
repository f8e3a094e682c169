/* SPDX-License-Identifier: MIT */
/* Memory between two pages without access: touching a byte outside ends the program. */
#ifndef TESTS_UNIT_GUARD_H
#define TESTS_UNIT_GUARD_H

#include "harness.h"

typedef struct guarded {
    char *pages;
    size_t length;
    char *memory; /* flush with one of the guards */
} guarded;

guarded guard(size_t bytes, int at_end);
void unguard(guarded *g);

/* A guarded copy of the memory of a view; *first is element 0 in it. Empty memory stays so. */
guarded guard_copy(const sup_memory *memory, int at_end, void **first);

/* All memory of a fixture between guards, at the end or at the beginning. */
typedef struct guarded_fixture {
    guarded dy, dx, x, y, indices;
    poolgrad_buffers buffers;
} guarded_fixture;

void guard_fixture(guarded_fixture *g, const fixture *f, int at_end);
void unguard_fixture(guarded_fixture *g);

#endif
