/* SPDX-License-Identifier: MIT */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "cli.h"

/* Draws a problem into an SVG file, whole or not at all. Returns 0, or an exit code after a
 * message. */
int cli_draw(const char *verb, const char *problem, const char *path);

#endif
