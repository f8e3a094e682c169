/* SPDX-License-Identifier: MIT */
/*
 * The header of a .npy file: the text of a Python dictionary.
 */
#ifndef SUPPORT_NPY_HEADER_H
#define SUPPORT_NPY_HEADER_H

#include "npy.h"

/* Reads the dictionary text[length] into descr, fortran, rank and shape of *array; the element
 * type as sup_npy says. Keys in any order, any white space, a trailing comma, and the L that
 * Python 2 put behind numbers are accepted. Returns 0, or -1 with a message. */
int sup_npy_header_parse(const char *text, size_t length, sup_npy *array, char *message,
                         size_t capacity);

#endif
