/* SPDX-License-Identifier: MIT */
#include "frame.h"

#include "weights.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

cli_window cli_window_at(const poolgrad_desc *resolved, int axis, int64_t index)
{
    cli_window window;
    if (resolved->rounding == POOLGRAD_ADAPTIVE) {
        double in = (double)resolved->in[axis], out = (double)resolved->out[axis];
        /* Exact: pictures have few windows, and their products are far below 2^53. */
        window.start = (int64_t)((double)index * in / out);
        window.end = (int64_t)(((double)(index + 1) * in + out - 1) / out);
        window.step = 1;
        window.taps = window.end - window.start;
    } else {
        window.start = index * resolved->stride[axis] - resolved->pad_lo[axis];
        window.step = resolved->dilation[axis];
        window.taps = resolved->kernel[axis];
        window.end = window.start + (window.taps - 1) * window.step + 1;
    }
    return window;
}

cli_frame cli_frame_make(const poolgrad_desc *resolved, int axis)
{
    cli_frame frame;
    frame.extent = resolved->in[axis];
    frame.shown = least(frame.extent, CLI_MOST_CELLS);
    frame.pad_lo = least(resolved->pad_lo[axis], CLI_MOST_PADDING);
    frame.pad_hi = 0;
    frame.beyond = 0;
    if (frame.shown == frame.extent) {
        int64_t padded = frame.extent + resolved->pad_hi[axis];
        frame.pad_hi = least(resolved->pad_hi[axis], CLI_MOST_PADDING);
        if (frame.pad_hi == resolved->pad_hi[axis] && resolved->out[axis] > 0) {
            cli_window last = cli_window_at(resolved, axis, resolved->out[axis] - 1);
            if (last.end > padded)
                frame.beyond = least(last.end - padded, CLI_MOST_PADDING);
        }
    }
    frame.cells = frame.pad_lo + frame.shown + frame.pad_hi + frame.beyond;
    return frame;
}

int cli_frame_clip(const cli_frame *frame, int64_t start, int64_t end, int64_t *first,
                   int64_t *last)
{
    int64_t lo = start + frame->pad_lo, hi = end + frame->pad_lo;
    *first = lo > 0 ? lo : 0;
    *last = least(hi, frame->cells);
    return *first < *last;
}
