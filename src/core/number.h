/* SPDX-License-Identifier: MIT */
/* Numbers as text, the same in every locale: what strtod and printf do not promise. */
#ifndef PGI_CORE_NUMBER_H
#define PGI_CORE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Both read from *text and advance it past the number. False, with *text anywhere, if there is no
 * number of that form or it does not fit. */
bool pgi_read_int(const char **text, int64_t *value);

/* Decimal of at most 15 digits with an exponent of at most 22 in size, where one correctly rounded
 * operation gives the nearest double; or hexadecimal with at most 53 significant bits, exact. */
bool pgi_read_double(const char **text, double *value);

enum {
    PGI_DOUBLE_TEXT = 40
};

/* Writes a text that pgi_read_double reads back to the same finite double: decimal if a short one
 * does that, else hexadecimal. */
void pgi_write_double(double value, char text[PGI_DOUBLE_TEXT]);

#endif
