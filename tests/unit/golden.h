/* SPDX-License-Identifier: MIT */
/* The answers of real systems: reading tests/data/golden, whose README describes the files. */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include "harness.h"

enum {
    GOLDEN_VALUES = 65536,
    GOLDEN_DIMS = 5
};

/* One case. Values are the bit patterns of the file, in the memory order of dense views. */
typedef struct golden {
    char name[128];
    char api[64];      /* the system's operator */
    char auto_pad[16]; /* how the pads were asked for: NONE, VALID, SAME_UPPER, SAME_LOWER */
    char rule[32];     /* max: how the winner is picked */
    char note[512];    /* empty if there is none, as is the next */
    char error[256];   /* instead of an answer: how the system refused */
    int average, has_out, differs, channels_last;
    poolgrad_desc desc; /* shape, window, divisor, layouts; op and winner are the visitor's */
    int64_t dx[GOLDEN_DIMS], dy[GOLDEN_DIMS]; /* as in the file, in memory order */
    int dims;
    int64_t values, results, references, inputs, indices; /* how many of the following */
    uint64_t dyv[GOLDEN_VALUES], out[GOLDEN_VALUES], xv[GOLDEN_VALUES];
    int64_t idx[GOLDEN_VALUES];
    double ref[GOLDEN_VALUES];
} golden;

/* Calls `visit` with every case of a file of tests/data/golden; returns how many there are. A file
 * that cannot be read fails the test. The visitor may change the case. */
int golden_each(const char *file, void (*visit)(golden *g, void *context), void *context);

/* The value of a bit pattern. */
double golden_value(poolgrad_dtype dtype, uint64_t bits);

/* Stores `count` bit patterns in memory of the case's type. */
void golden_put(const golden *g, const uint64_t *bits, int64_t count, void *memory);

/* Fails the test, naming `file`, case and element, unless dx is within the tolerance of its type of
 * the system's own answer, or with `against_rule` of the reference. */
void golden_compare(const golden *g, const char *file, const void *dx, int against_rule);

/* Whether the system goes wrong there, which parity does not repeat. */
int golden_is_defect(const golden *g);

/* Whether the case's answer is one that parity gives bit for bit: neither one of the system's
 * defects, nor of kernels whose formula is not known. */
int golden_has_formula(const golden *g, const char *file);

/* Fails the test unless dx has the bits of the system's own answer, NaN for NaN. */
void golden_compare_bits(const golden *g, const char *file, const void *dx);

#endif
