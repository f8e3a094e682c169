/* SPDX-License-Identifier: MIT */
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "frame.h"
#include "outfile.h"
#include "svg.h"
#include "weights.h"

static const char help[] = "usage: poolgrad picture PROBLEM -o FILE.svg\n"
                           "\n"
                           "Draws which windows reach which inputs, and with what weight, as SVG. "
                           "2-D: dx for dy = 1 with\n"
                           "the padding around it, three windows, and the weights of either axis "
                           "at the margins. 1-D: the\n"
                           "weights of every window, and their sum. 3-D: the middle slice as in "
                           "2-D, and the weights of the\n"
                           "first axis. Axes longer than 40 are cut there. Every number is "
                           "computed by the library, in f64,\n"
                           "for the whole problem without alpha, beta and boxes. The weights are "
                           "those of average\n"
                           "pooling, forward (avgpool) and backward (avg) alike; max has none.\n"
                           "\n"
                           "    -o, --output FILE   where the picture goes; required\n";

#define GREY "fill='#667'"

/* Three windows are outlined; colours that stand apart from the scale and from each other. */
static const char *const outline_colours[] = {"#d7301f", "#f0a30a", "#8e44ad"};

typedef struct painting {
    FILE *to;
    const char *problem;
    const poolgrad_desc *desc;
    cli_frame frame[3];
    cli_axis_weights weights[3];
} painting;

static double clamp(double value, double lo, double hi)
{
    return fmax(lo, fmin(hi, value));
}

/* ------------------------------------------------------------------- pieces */

/* The words above every picture. Returns the height they take. */
static double draw_title(const painting *p, const char *what)
{
    const poolgrad_desc *desc = p->desc;
    char in[64] = "", out[64] = "", divisor[64];
    for (int axis = 0; axis < desc->rank; axis++) {
        size_t a = strlen(in), b = strlen(out);
        snprintf(in + a, sizeof in - a, "%s%lld", axis ? " x " : "", (long long)desc->in[axis]);
        snprintf(out + b, sizeof out - b, "%s%lld", axis ? " x " : "", (long long)desc->out[axis]);
    }
    if (desc->divisor == POOLGRAD_OVERRIDE)
        snprintf(divisor, sizeof divisor, "divided by %lld", (long long)desc->divisor_override);
    else if (desc->rounding == POOLGRAD_ADAPTIVE)
        snprintf(divisor, sizeof divisor, "adaptive, divided by the window's size");
    else
        snprintf(divisor, sizeof divisor, "divisor %s", cli_divisor_name(desc->divisor));
    cli_svg_text(p->to, 24, 34, 16,
                 "fill='#1b2733' font-weight='bold' font-family='DejaVu Sans Mono, monospace'",
                 "%s", p->problem);
    cli_svg_text(p->to, 24, 56, 12.5, GREY, "%s", what);
    cli_svg_text(p->to, 24, 74, 12.5, GREY, "input %s, windows %s, %s; computed by poolgrad %s", in,
                 out, divisor, poolgrad_version());
    return 92;
}

/* One window of the axis: its cells, and outlines of its taps in the padding. A line of cells that
 * runs along x, or along y if `upright`. */
static void draw_line(const painting *p, int axis, int64_t row, double x, double y, double along,
                      double across, int upright, double most, int numbers)
{
    const cli_axis_weights *w = &p->weights[axis];
    const cli_frame *frame = &p->frame[axis];
    double width = upright ? across : along, height = upright ? along : across;
    for (int64_t i = 0; i < w->positions; i++) {
        double at = (double)(i + frame->pad_lo) * along;
        cli_svg_cell(p->to, x + (upright ? 0 : at), y + (upright ? at : 0), width, height,
                     w->matrix[row * w->positions + i], most, numbers);
    }
    cli_window window = cli_window_at(p->desc, axis, w->first_window + row);
    for (int64_t cell = 0; cell < frame->cells; cell++) {
        int64_t position = cell - frame->pad_lo;
        int64_t into = position - window.start;
        if ((position >= 0 && position < frame->extent) || into < 0 || position >= window.end ||
            into % window.step != 0)
            continue;
        double at = (double)cell * along, inset = fmin(width, height) * 0.18;
        cli_svg_rect(p->to, x + (upright ? 0 : at) + inset, y + (upright ? at : 0) + inset,
                     width - 2 * inset, height - 2 * inset,
                     "fill='#ffffff' stroke='#8a8880' stroke-width='0.8'");
    }
}

static double largest(const double *values, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* Hatches the padding of one axis over `depth` pixels across it. */
static void draw_padding(const painting *p, int axis, double x, double y, double along,
                         double depth, int upright)
{
    const cli_frame *frame = &p->frame[axis];
    const int64_t begin[] = {0, frame->pad_lo + frame->shown};
    const int64_t count[] = {frame->pad_lo, frame->pad_hi};
    for (int side = 0; side < 2; side++) {
        double at = (double)begin[side] * along, length = (double)count[side] * along;
        if (count[side] > 0)
            cli_svg_rect(p->to, upright ? x : x + at, upright ? y + at : y,
                         upright ? depth : length, upright ? length : depth, "fill='url(#pad)'");
    }
}

/* The weight matrix of an axis; windows go downwards, or to the right if `upright`. */
static void draw_matrix(const painting *p, int axis, double x, double y, double along,
                        double across, int upright, int numbers)
{
    const cli_axis_weights *w = &p->weights[axis];
    /* Most matrices hold one value; where no scale belongs to them, not in the darkest colour. */
    double most = largest(w->matrix, w->windows * w->positions) * (p->desc->rank == 1 ? 1 : 1.5);
    draw_padding(p, axis, x, y, along, across * (double)w->windows, upright);
    for (int64_t row = 0; row < w->windows; row++) {
        double at = (double)row * across;
        draw_line(p, axis, row, x + (upright ? at : 0), y + (upright ? 0 : at), along, across,
                  upright, most, numbers);
    }
}

/* "windows 0..39 of 112" and the like; empty if everything is there. */
static void cut_text(const painting *p, int axis, char *text, size_t capacity)
{
    const cli_axis_weights *w = &p->weights[axis];
    size_t used = 0;
    text[0] = '\0';
    if (p->frame[axis].shown < p->frame[axis].extent)
        used = (size_t)snprintf(text, capacity, "; first %lld of %lld positions",
                                (long long)p->frame[axis].shown, (long long)p->frame[axis].extent);
    if (w->windows < p->desc->out[axis] && used < capacity) {
        if (w->windows > 0)
            snprintf(text + used, capacity - used, "; windows %lld..%lld of %lld",
                     (long long)w->first_window, (long long)(w->first_window + w->windows - 1),
                     (long long)p->desc->out[axis]);
        else
            snprintf(text + used, capacity - used, "; no window reaches it");
    }
}

static int padding_cut(const painting *p)
{
    for (int axis = 0; axis < p->desc->rank; axis++)
        if (p->desc->pad_lo[axis] > CLI_MOST_PADDING || p->desc->pad_hi[axis] > CLI_MOST_PADDING)
            return 1;
    return 0;
}

/* ---------------------------------------------------------------------- 1-D */

static void draw_1d(const painting *p)
{
    const cli_axis_weights *w = &p->weights[0];
    const cli_frame *frame = &p->frame[0];
    double along = clamp(900 / (double)frame->cells, 18, 46);
    double across = clamp(480 / fmax(1, (double)w->windows), 13, 30);
    double grid = (double)frame->cells * along, height = (double)w->windows * across;
    double width = fmax(fmax(grid + 210, (double)strlen(p->problem) * 10.2 + 48), 760);
    double x = 76, y = 122, sum_y = y + height + 34;
    char cut[96];
    cut_text(p, 0, cut, sizeof cut);

    cli_svg_begin(p->to, width, sum_y + across + 66, p->problem);
    draw_title(p,
               "Which windows reach which inputs, with what weight; below, their sum: dx for dy = "
               "1.");
    cli_svg_text(p->to, x, y - 8, 11, GREY, "input positions%s", cut);
    draw_matrix(p, 0, x, y, along, across, 0, along >= 28);
    for (int64_t row = 0; row < w->windows; row++)
        if (across >= 13 || row % 2 == 0)
            cli_svg_text(p->to, x - 8, y + ((double)row + 0.5) * across + 4, 10.5,
                         "fill='#667' text-anchor='end'", "%lld",
                         (long long)(w->first_window + row));
    double most = largest(w->sum, w->positions);
    draw_padding(p, 0, x, sum_y, along, across, 0);
    for (int64_t i = 0; i < w->positions; i++) {
        double at = x + (double)(i + frame->pad_lo) * along;
        cli_svg_cell(p->to, at, sum_y, along, across, w->sum[i], most, along >= 28);
        if (along >= 24 || i % 5 == 0)
            cli_svg_text(p->to, at + along / 2, sum_y + across + 15, 10,
                         "fill='#99a' text-anchor='middle'", "%lld", (long long)i);
    }
    cli_svg_text(p->to, x - 8, sum_y + across / 2 + 4, 11, "fill='#1b2733' text-anchor='end'",
                 "dx");
    cli_svg_text(p->to, x - 8, y - 8, 11, "fill='#667' text-anchor='end'", "window");
    double foot = sum_y + across + 40;
    if (frame->cells > frame->shown) {
        cli_svg_rect(p->to, x, foot - 10, 14, 11, "fill='url(#pad)' stroke='#cfcdc6'");
        cli_svg_text(p->to, x + 20, foot, 11, GREY, "padding%s",
                     padding_cut(p) ? " (only 6 cells of it)" : "");
        cli_svg_rect(p->to, x + 222, foot - 9, 9, 9, "fill='#ffffff' stroke='#8a8880'");
        cli_svg_text(p->to, x + 237, foot, 11, GREY, "tap outside the input");
    }
    double scale_x = x + grid + 36;
    double scale = largest(w->matrix, w->windows * w->positions);
    int negative = p->desc->divisor == POOLGRAD_OVERRIDE && p->desc->divisor_override < 0;
    if (scale > 0)
        cli_svg_scale(p->to, scale_x, y, clamp(height, 90, 220), negative ? -scale : 0,
                      negative ? 0 : scale);
    cli_svg_end(p->to);
}

/* ---------------------------------------------------------------- 2-D slice */

/* Outline `which` of a window over the heat map, with its taps marked if they are apart. Returns 0
 * if no part of the window is drawn. */
static int draw_window(const painting *p, int rows_axis, double x, double y, double cell,
                       int64_t row, int64_t column, int which)
{
    cli_window v = cli_window_at(p->desc, rows_axis, row);
    cli_window h = cli_window_at(p->desc, rows_axis + 1, column);
    const cli_frame *rows = &p->frame[rows_axis], *columns = &p->frame[rows_axis + 1];
    int64_t top, bottom, left, right;
    if (!cli_frame_clip(rows, v.start, v.end, &top, &bottom) ||
        !cli_frame_clip(columns, h.start, h.end, &left, &right))
        return 0;
    char style[128];
    double inset = 1.2 + 0.057 * cell * which;
    int apart = v.step > 1 || h.step > 1;
    snprintf(style, sizeof style, "fill='none' stroke='%s' stroke-width='2.4' rx='2'%s",
             outline_colours[which], apart ? " stroke-dasharray='6 3'" : "");
    cli_svg_rect(p->to, x + (double)left * cell + inset, y + (double)top * cell + inset,
                 (double)(right - left) * cell - 2 * inset,
                 (double)(bottom - top) * cell - 2 * inset, style);
    snprintf(style, sizeof style, "fill='%s' stroke='#ffffff' stroke-width='0.8'",
             outline_colours[which]);
    for (int64_t i = top; apart && i < bottom; i++)
        for (int64_t j = left; j < right; j++)
            if ((i - rows->pad_lo - v.start) % v.step == 0 &&
                (j - columns->pad_lo - h.start) % h.step == 0)
                cli_svg_circle(p->to, x + ((double)j + 0.16 + 0.17 * which) * cell,
                               y + ((double)i + 0.17) * cell, fmax(2, cell * 0.085), style);
    return 1;
}

/* Three windows and their key. Returns the height of the key. */
static double draw_windows(const painting *p, int rows_axis, double x, double y, double cell,
                           double key_x, double key_y)
{
    const cli_axis_weights *v = &p->weights[rows_axis], *h = &p->weights[rows_axis + 1];
    if (v->windows < 1 || h->windows < 1)
        return 0;
    /* The first, the second and the last of those that reach what is shown. */
    const int64_t chosen[3][2] = {
        {v->first_window, h->first_window},
        {v->first_window, h->first_window + 1},
        {v->first_window + v->windows - 1, h->first_window + h->windows - 1}};
    int drawn = 0;
    for (int which = 0; which < 3; which++) {
        if ((which == 1 && h->windows < 2) || (which == 2 && v->windows * h->windows < 3) ||
            !draw_window(p, rows_axis, x, y, cell, chosen[which][0], chosen[which][1], which))
            continue;
        char style[64];
        snprintf(style, sizeof style, "fill='none' stroke='%s' stroke-width='2.4'",
                 outline_colours[which]);
        cli_svg_rect(p->to, key_x + 1, key_y + 22 * drawn - 10, 13, 11, style);
        cli_svg_text(p->to, key_x + 22, key_y + 22 * drawn, 11.5, GREY, "window (%lld, %lld)",
                     (long long)chosen[which][0], (long long)chosen[which][1]);
        drawn++;
    }
    return 22 * drawn;
}

/* The rectangle of all cells, the padding hatched, what lies behind it left white. */
static void draw_ground(const painting *p, int rows_axis, double x, double y, double cell)
{
    const cli_frame *rows = &p->frame[rows_axis], *columns = &p->frame[rows_axis + 1];
    double width = (double)(columns->cells - columns->beyond) * cell;
    double height = (double)(rows->cells - rows->beyond) * cell;
    if (rows->beyond || columns->beyond)
        cli_svg_rect(p->to, x, y, (double)columns->cells * cell, (double)rows->cells * cell,
                     "fill='none' stroke='#b8b6ae' stroke-dasharray='3 3'");
    cli_svg_rect(p->to, x, y, width, height, "fill='url(#pad)' stroke='#cfcdc6'");
}

static void draw_2d(const painting *p, int rows_axis, int64_t slice, const double *grid)
{
    const cli_frame *rows = &p->frame[rows_axis], *columns = &p->frame[rows_axis + 1];
    const cli_axis_weights *v = &p->weights[rows_axis], *h = &p->weights[rows_axis + 1];
    double cell =
        clamp(620 / (double)(rows->cells > columns->cells ? rows->cells : columns->cells), 14, 46);
    double v_across = clamp(130 / fmax(1, (double)v->windows), 4, 15);
    double h_across = clamp(130 / fmax(1, (double)h->windows), 4, 15);
    double x = 52 + v_across * (double)v->windows;
    double head = 92 + 22;
    double y = head + h_across * (double)h->windows + 14;
    double right = x + (double)columns->cells * cell, bottom = y + (double)rows->cells * cell;
    const cli_axis_weights *depth = rows_axis == 1 ? &p->weights[0] : NULL;
    double d_along = depth ? clamp(520 / (double)p->frame[0].cells, 10, 22) : 0;
    double d_across = depth ? clamp(130 / fmax(1, (double)depth->windows), 5, 14) : 0;
    double d_y = bottom + 62;
    double low = depth ? d_y + d_across * (double)depth->windows : bottom;
    double width = fmax(right + 220, (double)strlen(p->problem) * 10.2 + 48);
    if (depth)
        width = fmax(width, x + d_along * (double)p->frame[0].cells + 60);
    width = fmax(width, 700);
    double height = fmax(low + 40, y + 380);
    double lo = 0, hi = 0;
    int64_t count = rows->shown * columns->shown, zeros = 0;
    for (int64_t i = 0; i < count; i++) {
        lo = fmin(lo, grid[i]);
        hi = fmax(hi, grid[i]);
        zeros += grid[i] == 0;
    }
    double most = fmax(-lo, hi);
    char what[160], cut[96];

    cli_svg_begin(p->to, width, height, p->problem);
    if (depth)
        snprintf(what, sizeof what,
                 "dx for dy = 1, slice %lld of the first axis: how much each input receives.",
                 (long long)slice);
    else
        snprintf(what, sizeof what,
                 "dx for dy = 1: how much each input receives; at the margins, each axis alone.");
    draw_title(p, what);

    draw_ground(p, rows_axis, x, y, cell);
    for (int64_t i = 0; i < rows->shown; i++)
        for (int64_t j = 0; j < columns->shown; j++)
            cli_svg_cell(p->to, x + (double)(j + columns->pad_lo) * cell,
                         y + (double)(i + rows->pad_lo) * cell, cell, cell,
                         grid[i * columns->shown + j], most, cell >= 26);

    draw_matrix(p, rows_axis + 1, x, head, cell, h_across, 0, 0);
    draw_matrix(p, rows_axis, x - 14 - v_across * (double)v->windows, y, cell, v_across, 1, 0);
    cut_text(p, rows_axis + 1, cut, sizeof cut);
    cli_svg_text(p->to, x, head - 6, 11, GREY, "windows (down) x columns%s", cut);
    cut_text(p, rows_axis, cut, sizeof cut);
    cli_svg_text(p->to, x - 14 - v_across * (double)v->windows, bottom + 16, 11, GREY,
                 "rows x windows (to the right)%s", cut);
    if (depth) {
        cut_text(p, 0, cut, sizeof cut);
        cli_svg_text(p->to, x, d_y - 8, 11, GREY,
                     "first axis: windows (down) x positions, the slice framed%s", cut);
        draw_matrix(p, 0, x, d_y, d_along, d_across, 0, 0);
        if (slice < p->frame[0].shown)
            cli_svg_rect(p->to, x + (double)(slice + p->frame[0].pad_lo) * d_along, d_y - 2,
                         d_along, d_across * (double)depth->windows + 4,
                         "fill='none' stroke='#1b2733' stroke-width='1.8'");
    }

    double key_x = right + 34;
    if (most > 0)
        cli_svg_scale(p->to, key_x, y, 200, lo, hi);
    double key_y = y + 236;
    key_y += draw_windows(p, rows_axis, x, y, cell, key_x, key_y);
    if (rows->pad_lo + rows->pad_hi + columns->pad_lo + columns->pad_hi > 0) {
        cli_svg_rect(p->to, key_x + 1, key_y - 10, 13, 11, "fill='url(#pad)' stroke='#cfcdc6'");
        cli_svg_text(p->to, key_x + 22, key_y, 11.5, GREY, "padding%s",
                     padding_cut(p) ? " (6 cells of it)" : "");
        key_y += 22;
    }
    if (zeros) {
        cli_svg_rect(p->to, key_x + 1, key_y - 10, 13, 11, "fill='#ffffff' stroke='#c9c7c0'");
        cli_svg_text(p->to, key_x + 22, key_y, 11.5, GREY, "no window reaches it: 0");
        key_y += 22;
    }
    if (rows->beyond || columns->beyond) {
        cli_svg_rect(p->to, key_x + 1, key_y - 10, 13, 11,
                     "fill='none' stroke='#b8b6ae' stroke-dasharray='3 3'");
        cli_svg_text(p->to, key_x + 22, key_y, 11.5, GREY, "behind the padding (ceil)");
    }
    cli_svg_end(p->to);
}

/* --------------------------------------------------------------- everything */

static int draw_painting(const char *verb, painting *p, const char *path)
{
    double grid[CLI_MOST_CELLS * CLI_MOST_CELLS];
    int rank = p->desc->rank, code = CLI_OK;
    /* A slice that is shown in the matrix of its axis, as near to the middle as that allows. */
    int64_t slice = rank == 3 ? (p->frame[0].shown - 1) / 2 : 0;
    for (int axis = 0; axis < rank && !code; axis++)
        code = cli_axis_weights_make(verb, p->problem, p->desc, axis, &p->weights[axis]);
    if (!code && rank > 1)
        code = cli_plane_weights(verb, p->problem, p->desc, slice, grid);
    if (code)
        return code;
    sup_outfile file;
    char message[320];
    if (sup_outfile_open(&file, path, message, sizeof message)) {
        cli_error(verb, "%s", message);
        return CLI_DATA;
    }
    p->to = file.stream;
    if (rank == 1)
        draw_1d(p);
    else
        draw_2d(p, rank - 2, slice, grid);
    if (sup_outfile_commit(&file, message, sizeof message)) {
        cli_error(verb, "%s", message);
        return CLI_DATA;
    }
    return CLI_OK;
}

int cli_draw(const char *verb, const char *problem, const char *path)
{
    poolgrad_desc desc;
    painting p = {.problem = problem, .desc = &desc};
    int code = cli_resolve(verb, problem, &desc);
    if (code)
        return code;
    if (sup_is_max(&desc)) {
        cli_error(verb,
                  "%s: only the weights of averages are drawn; who wins a maximum depends on "
                  "the data, so write avg instead of max to see the windows",
                  problem);
        return CLI_USAGE;
    }
    for (int axis = 0; axis < desc.rank; axis++) {
        if (desc.in[axis] == 0) {
            cli_error(verb, "%s: an extent is 0; there is nothing to draw", problem);
            return CLI_DATA;
        }
        p.frame[axis] = cli_frame_make(&desc, axis);
    }
    code = draw_painting(verb, &p, path);
    for (int axis = 0; axis < desc.rank; axis++)
        cli_axis_weights_free(&p.weights[axis]);
    return code;
}

static int run(int argc, char **argv)
{
    const char *output = NULL;
    const cli_option options[] = {
        {"output", 'o', CLI_TEXT, &output, 0, 0},
        {0},
    };
    int words;
    if (cli_parse("picture", options, argc, argv, &words))
        return CLI_USAGE;
    if (words != 1 || !output) {
        cli_error("picture", "give one PROBLEM and -o FILE.svg");
        return CLI_USAGE;
    }
    return cli_draw("picture", argv[0], output);
}

const cli_verb cli_picture = {"picture", "which windows reach which inputs, as SVG", help, run};
