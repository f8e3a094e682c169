/* SPDX-License-Identifier: MIT */
/*
 * One axis of a picture: the cells of the input, the padding around it, and where windows lie.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include "cli.h"

/* Cells of padding that are drawn on a side; the rest is only told. */
#define CLI_MOST_PADDING 6

typedef struct cli_frame {
    int64_t extent;         /* of the input */
    int64_t shown;          /* input cells drawn, from position 0 */
    int64_t pad_lo, pad_hi; /* padding cells drawn */
    int64_t beyond;         /* cells behind the padding, which a last window under ceil may cover */
    int64_t cells;          /* all of them */
} cli_frame;

cli_frame cli_frame_make(const poolgrad_desc *resolved, int axis);

/* A window on an axis: taps at start, start + step, ..., `taps` of them. */
typedef struct cli_window {
    int64_t start, step, taps, end; /* end: behind the last tap */
} cli_window;

cli_window cli_window_at(const poolgrad_desc *resolved, int axis, int64_t index);

/* The part of [start, end) that the frame draws, as cells counted from its first. Returns 0 if
 * there is none. */
int cli_frame_clip(const cli_frame *frame, int64_t start, int64_t end, int64_t *first,
                   int64_t *last);

#endif
