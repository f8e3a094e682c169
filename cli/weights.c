/* SPDX-License-Identifier: MIT */
#include "weights.h"

#include <stdlib.h>
#include <string.h>

/* Impulses need windows x windows numbers; a picture of more would show nothing. */
#define MOST_WINDOWS 100000

static int64_t cut(int64_t extent)
{
    return extent < CLI_MOST_CELLS ? extent : CLI_MOST_CELLS;
}

/* The windows of *desc in f64, everything else plain; the gradient, whose weights are those of the
 * forward pass as well. */
static void plain_problem(const poolgrad_desc *desc, poolgrad_desc *plain)
{
    poolgrad_desc_init(plain);
    plain->dtype = POOLGRAD_F64;
    plain->rank = desc->rank;
    plain->rounding = desc->rounding;
    plain->divisor = desc->divisor;
    plain->divisor_override = desc->divisor_override;
    memcpy(plain->in, desc->in, sizeof plain->in);
    memcpy(plain->out, desc->out, sizeof plain->out);
    memcpy(plain->kernel, desc->kernel, sizeof plain->kernel);
    memcpy(plain->stride, desc->stride, sizeof plain->stride);
    memcpy(plain->dilation, desc->dilation, sizeof plain->dilation);
    memcpy(plain->pad_lo, desc->pad_lo, sizeof plain->pad_lo);
    memcpy(plain->pad_hi, desc->pad_hi, sizeof plain->pad_hi);
}

static int execute(const char *verb, const char *problem, const poolgrad_desc *desc,
                   const double *dy, double *dx)
{
    static const cli_compute defaults = {0};
    poolgrad_plan *plan;
    poolgrad_error error;
    poolgrad_buffers buffers;
    int code = cli_plan(verb, problem, desc, &defaults, &plan, NULL);
    if (code)
        return code;
    poolgrad_buffers_init(&buffers);
    buffers.dy = dy;
    buffers.dx = dx;
    if (poolgrad_execute(plan, &buffers, &error) != POOLGRAD_OK)
        code = cli_library_error(verb, problem, &error);
    poolgrad_plan_destroy(plan);
    return code;
}

/* Makes dy a single 1 that stands for all its elements. */
static void broadcast_dy(poolgrad_desc *desc)
{
    desc->dy.layout = POOLGRAD_STRIDED;
    memset(desc->dy.stride, 0, sizeof desc->dy.stride);
}

int cli_axis_weights_make(const char *verb, const char *problem, const poolgrad_desc *resolved,
                          int axis, cli_axis_weights *weights)
{
    static const double one = 1;
    poolgrad_desc line;
    poolgrad_error error;
    memset(weights, 0, sizeof *weights);
    plain_problem(resolved, &line);
    line.rank = 1;
    line.in[0] = line.in[axis];
    line.out[0] = line.out[axis];
    line.kernel[0] = line.kernel[axis];
    line.stride[0] = line.stride[axis];
    line.dilation[0] = line.dilation[axis];
    line.pad_lo[0] = line.pad_lo[axis];
    line.pad_hi[0] = line.pad_hi[axis];
    if (line.divisor == POOLGRAD_OVERRIDE && resolved->rank > 1)
        line.divisor_override = 1;
    line.dx.extent[2] = cut(line.in[0]);
    if (poolgrad_desc_reach(&line, &error) != POOLGRAD_OK)
        return cli_library_error(verb, problem, &error);
    int64_t reach = line.dy.extent[2];
    if (reach > MOST_WINDOWS) {
        cli_error(verb, "%s: %lld windows reach the part to draw; at most %d can be drawn", problem,
                  (long long)reach, MOST_WINDOWS);
        return CLI_DATA;
    }
    weights->positions = line.dx.extent[2];
    weights->windows = cut(reach);
    weights->first_window = line.dy.offset[2];
    size_t cells = (size_t)(weights->windows * weights->positions);
    weights->matrix = calloc(cells ? cells : 1, sizeof(double));
    weights->sum = calloc(weights->positions ? (size_t)weights->positions : 1, sizeof(double));
    /* One batch for every window, with 1 in that window and 0 in the others. */
    double *impulses = calloc(cells ? (size_t)(weights->windows * reach) : 1, sizeof(double));
    int code = CLI_DATA;
    if (!weights->matrix || !weights->sum || !impulses) {
        cli_error(verb, "out of memory");
    } else {
        for (int64_t i = 0; i < weights->windows; i++)
            impulses[i * reach + i] = 1;
        poolgrad_desc batch = line;
        batch.batch = weights->windows;
        batch.dy.extent[0] = batch.dx.extent[0] = POOLGRAD_WHOLE;
        code = execute(verb, problem, &batch, impulses, weights->matrix);
        broadcast_dy(&line);
        if (!code)
            code = execute(verb, problem, &line, &one, weights->sum);
    }
    free(impulses);
    if (code)
        cli_axis_weights_free(weights);
    return code;
}

void cli_axis_weights_free(cli_axis_weights *weights)
{
    free(weights->matrix);
    free(weights->sum);
    memset(weights, 0, sizeof *weights);
}

int cli_plane_weights(const char *verb, const char *problem, const poolgrad_desc *resolved,
                      int64_t slice, double *grid)
{
    static const double one = 1;
    poolgrad_desc plane;
    poolgrad_error error;
    plain_problem(resolved, &plane);
    for (int axis = 0; axis < plane.rank; axis++)
        plane.dx.extent[axis + 2] = cut(plane.in[axis]);
    if (plane.rank == 3) {
        plane.dx.offset[2] = slice;
        plane.dx.extent[2] = 1;
    }
    if (poolgrad_desc_reach(&plane, &error) != POOLGRAD_OK)
        return cli_library_error(verb, problem, &error);
    broadcast_dy(&plane);
    return execute(verb, problem, &plane, &one, grid);
}
