/* SPDX-License-Identifier: MIT */
/*
 * The few SVG elements that a picture is made of.
 */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include <stdio.h>

void cli_svg_begin(FILE *to, double width, double height, const char *title);
void cli_svg_end(FILE *to);

/* `style` is attributes, such as "fill='none' stroke='#000'"; quotes single. */
void cli_svg_rect(FILE *to, double x, double y, double width, double height, const char *style);
void cli_svg_circle(FILE *to, double x, double y, double radius, const char *style);
__attribute__((format(printf, 6, 7))) void cli_svg_text(FILE *to, double x, double y, double size,
                                                        const char *style, const char *format, ...);

/* A cell of a heat map: white for 0, darker for more, reds for negative values; `number` 1 writes
 * the value into it. `most` is the largest absolute value. */
void cli_svg_cell(FILE *to, double x, double y, double width, double height, double value,
                  double most, int number);

/* The colour scale, upright, with numbers beside it. */
void cli_svg_scale(FILE *to, double x, double y, double height, double lo, double hi);

#endif
