/* SPDX-License-Identifier: MIT */
/*
 * NumPy's .npy files: versions 1, 2 and 3, both byte orders, C and Fortran order, for the types
 * that poolgrad's elements and indices have.
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#ifndef SUPPORT_NPY_H
#define SUPPORT_NPY_H

#include <stddef.h>
#include <stdint.h>

#include "outfile.h"

#define SUP_NPY_MAX_RANK 32 /* NumPy's own limit before version 2 */

typedef struct sup_npy {
    char order;  /* '<' or '>' as in the file; '|' where the type has none */
    char kind;   /* 'f', 'u', 'i', 'V' */
    int size;    /* bytes per element: f2 f4 f8, u2, V2; i8 i4 u4 u1 */
    int fortran; /* 1: the first axis is fastest */
    int rank;    /* number of dimensions, 0 for a scalar */
    int64_t shape[SUP_NPY_MAX_RANK];
    void *data;   /* elements in file order, native byte order; malloc'ed, never NULL */
    size_t bytes; /* of data */
} sup_npy;

/*
 * Reads a whole file. Every size is checked against the file's before memory is allocated.
 * Returns 0, or -1 with a sentence in message[capacity] that does not repeat the path; *array is
 * then all zero.
 */
int sup_npy_read(const char *path, sup_npy *array, char *message, size_t capacity);
void sup_npy_free(sup_npy *array);

/*
 * Writes an array to a file that sup_outfile_commit then puts in place: version 1, the header
 * padded to 64 bytes. Uses order, kind, size, fortran, rank, shape and data of *array; data is in
 * native byte order and is swapped on the way out if `order` asks for it. Returns 0, or -1 with a
 * message, nothing being left of the file.
 */
int sup_npy_write(const char *path, const sup_npy *array, sup_outfile *file, char *message,
                  size_t capacity);

/* "(2, 3)" as Python prints a shape, cut at capacity. Returns text. */
char *sup_npy_shape_text(int rank, const int64_t *shape, char *text, size_t capacity);

#endif
