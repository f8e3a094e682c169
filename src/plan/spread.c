/* SPDX-License-Identifier: MIT */
/*
 * The gradient of averages whose windows tile the input (2x2 with stride 2): every dy is divided
 * once and stored at all positions of its window.
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Elements of a row from which on this is faster than sums of many short rows, of wider types and
 * of narrow ones, which are rounded row by row here (Zen 5, two threads, avx2, 2x2 with stride 2,
 * hot: f32 on 14x14 0.38 ms against 0.42, on 12x12 0.33 against 0.28; bf16 on 14x14 1.15 against
 * 0.59). */
#define SHORT_ROW        13
#define SHORT_ROW_NARROW 15

/* Whether windows cover an axis without rest, padding or overlap, all of it. */
static bool tiles(const pgi_problem *problem, int i)
{
    const pgi_axis *axis = &problem->axis[i];
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int at = PGI_SPATIAL + i;

    return !axis->adaptive && axis->kernel == axis->stride &&
           (axis->dilation == 1 || axis->kernel == 1) && axis->pad_lo == 0 &&
           axis->in / axis->kernel == axis->out && axis->in % axis->kernel == 0 &&
           dy->extent[at] == axis->out && dx->extent[at] == axis->in;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const pgi_axis *axis = problem->axis;
    const int64_t channels = dx->extent[PGI_CHANNEL];
    const int last = PGI_SPATIAL + 2;

    if (problem->desc.op != POOLGRAD_AVG_GRAD || problem->desc.beta != 0 || dx->elements == 0 ||
        pgi_rows_below(problem, problem->element_size == 2 ? SHORT_ROW_NARROW : SHORT_ROW) ||
        !tiles(problem, 0) || !tiles(problem, 1) || !tiles(problem, 2) ||
        axis[0].kernel > PGI_SPREAD || axis[1].kernel > PGI_SPREAD / axis[0].kernel)
        return false;
    if (pgi_channels_inside(dx)) /* places of rank 1 become rows, see pgi_arrange */
        return (axis[1].in > 1 || axis[2].kernel <= PGI_SPREAD) && channels >= PGI_ROW_LANES &&
               dy->stride[PGI_CHANNEL] == 1 && dx->stride[PGI_CHANNEL] == 1 &&
               dx->stride[last] == channels &&
               (dy->extent[last] == 1 || dy->stride[last] == channels);
    return axis[2].kernel <= 2 && dx->stride[last] == 1 &&
           (dy->extent[last] == 1 || dy->stride[last] == 1);
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *dx = &plan->problem.target;
    const pgi_axis *axis = plan->problem.axis;

    pgi_arrange_rows(plan);
    pgi_units_of_rows(plan, dx->extent[2] / axis[0].kernel, dx->extent[3] / axis[1].kernel);
    return true;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *dy = &problem->source, *dx = &problem->target;
    const int64_t depth = problem->axis[0].kernel, height = problem->axis[1].kernel;
    const int64_t planes = dx->extent[2] / depth, rows = dx->extent[3] / height;
    /* batch and channels that were moved to an axis may be boxed there */
    const int64_t first_plane = dx->offset[2] / depth - dy->offset[2];
    const int64_t first_row = dx->offset[3] / height - dy->offset[3];
    const size_t size = problem->element_size;
    pgi_one_divisor one;
    pgi_spread shape = {.from_pitch = dy->stride[3],
                        .to_pitch = height * dx->stride[3],
                        .places = dy->extent[4],
                        .lanes = plan->block,
                        .columns = problem->axis[2].kernel,
                        .times = (int)(depth * height),
                        .alpha = plan->scale.alpha,
                        .stream = work->stream};
    int64_t at, p, r;

    (void)workspace;
    pgi_set_one_divisor(problem, &one);
    shape.by = one.divisors;
    for (at = begin; at < end; at += shape.rows) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, planes, rows);
        const int64_t d = row.d, h = row.h;
        char *to = (char *)pgi_unit_memory(problem, dx, &row.unit, work->target, size);
        void *target[PGI_SPREAD];
        int n = 0;

        shape.rows = pgi_min(end - at, rows - h);
        for (p = 0; p < depth; p++)
            for (r = 0; r < height; r++)
                target[n++] =
                    to + ((d * depth + p) * dx->stride[2] + (h * height + r) * dx->stride[3]) *
                             (int64_t)size;
        plan->kernels.spread(
            target,
            pgi_unit_memory(problem, dy, &row.unit, work->source, size) +
                ((first_plane + d) * dy->stride[2] + (first_row + h) * dy->stride[3]) *
                    (int64_t)size,
            &shape);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "every dy to %" PRId64 " rows, rows of %" PRId64 " channel%s",
             plan->problem.axis[0].kernel * plan->problem.axis[1].kernel, plan->block,
             plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_spread = {
    .name = "spread",
    .reason = "windows tile the input: every dy is divided once and stored as often as needed",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
