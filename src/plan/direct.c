/* SPDX-License-Identifier: MIT */
/*
 * Averages of small windows, forward, in one pass: every window adds its own taps where they lie in
 * x. Taps are loaded again for every window that has them, from the nearest cache, which is cheaper
 * than keeping sums of them. (The gradient, which would divide every term again, is not.)
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/divisors.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Windows of an axis for which divisors are kept. */
#define MOST_WINDOWS 65536

static bool is_small(const pgi_axis *axis)
{
    return !axis->adaptive && axis->kernel <= PGI_DIRECT &&
           (axis->dilation == 1 || axis->kernel == 1) && axis->out <= MOST_WINDOWS;
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *x = &problem->source, *y = &problem->target;
    const pgi_axis *axis = problem->axis;
    const int last = PGI_SPATIAL + 2;

    if (problem->desc.op != POOLGRAD_AVG || problem->desc.beta != 0 || y->elements == 0 ||
        pgi_rows_below(problem, PGI_SHORT_ROW) || !is_small(&axis[0]) || !is_small(&axis[1]) ||
        !is_small(&axis[2]) ||
        axis[0].kernel > axis[0].stride) /* 3x3x3: sums of planes are worth keeping */
        return false;
    if (pgi_channels_inside(y))
        return y->extent[PGI_CHANNEL] >= PGI_ROW_LANES && x->stride[PGI_CHANNEL] == 1 &&
               y->stride[PGI_CHANNEL] == 1 &&
               (y->extent[last] == 1 || y->stride[last] == y->extent[PGI_CHANNEL]);
    return axis[2].stride <= 2 && axis[2].pad_lo <= 2 && x->stride[last] == 1 &&
           y->stride[last] == 1;
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *target = &plan->problem.target;
    pgi_placement at = {0, true};

    pgi_arrange_rows(plan);
    pgi_units_of_rows(plan, target->extent[2], target->extent[3]);
    pgi_divisors_measure(target->extent + PGI_SPATIAL, (int64_t)plan->kernels.real, &at);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* The taps of a window that exist. */
static pgi_range taps(const pgi_axis *axis, int64_t o)
{
    const int64_t first = o * axis->stride - axis->pad_lo;
    const int64_t end = pgi_max(pgi_min(first + axis->kernel, axis->in), 0);

    return (pgi_range){pgi_min(pgi_max(first, 0), end), end};
}

/* Windows from o on, not more than `most`, that have as many taps, and so the same count. */
static int64_t alike(const pgi_axis *axis, int64_t o, int64_t most)
{
    const int64_t first = o * axis->stride - axis->pad_lo;
    const int64_t room = axis->in - axis->kernel - first;

    return first < 0 || room < 0 ? 1 : pgi_min(most, room / axis->stride + 1);
}

/* Bytes ahead of what is loaded that is fetched, at least: what is loaded in the time memory needs
 * to answer. */
#define AHEAD 2048

/* Short rows one behind the other may be what the machine fetches ahead by itself; 3x3 with stride
 * 2 in NXC takes 1.3 times the floor, and 1.8 if they are not fetched here. What is in the last
 * cache it brings nearer in time: 2x2 with stride 2 on 4x64x112x112, hot, Zen 5, avx2, takes 0.120
 * ms with fetching and 0.083 without. */
static int64_t bytes_ahead(const poolgrad_plan *plan, bool near)
{
    const pgi_axis *axis = &plan->problem.axis[1];

    if (near)
        return 0;
    return plan->block > 1 || axis->kernel < axis->stride ? AHEAD : plan->backend->fetch_bytes();
}

typedef struct pgi_direct_work {
    const poolgrad_plan *plan;
    const pgi_work *work;
    pgi_divisor_rows divisors;
    pgi_direct shape;
} pgi_direct_work;

/* `count` rows from (d, h) on, of a batch and a channel. */
static void run_rows(pgi_direct_work *direct, const pgi_unit *unit, int64_t d, int64_t h,
                     int64_t count)
{
    const pgi_problem *problem = &direct->plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_range planes = taps(&problem->axis[0], d), rows = taps(&problem->axis[1], h);
    const size_t size = problem->element_size;
    const char *first = pgi_unit_memory(problem, source, unit, direct->work->source, size);
    char *to = (char *)pgi_unit_memory(problem, target, unit, direct->work->target, size) +
               pgi_row_offset(target, d, h, target->offset[4]) * (int64_t)size;
    const void *from[PGI_DIRECT * PGI_DIRECT];
    pgi_direct *shape = &direct->shape;
    pgi_divisor_rows *divisors = &direct->divisors;
    int64_t r, p;
    int n = 0;

    shape->planes = (int)pgi_max(planes.end - planes.begin, 1);
    shape->rows = planes.begin < planes.end ? (int)(rows.end - rows.begin) : 0;
    shape->targets = count;
    shape->known =
        shape->ahead ? (int)pgi_max(shape->rows - problem->axis[1].stride, 0) : shape->rows;
    shape->by = *pgi_divisors_of(divisors, pgi_divisors_outer(divisors, d, h));
    for (r = rows.begin; r < rows.begin + shape->rows; r++)
        for (p = planes.begin; p < planes.end; p++)
            from[n++] = first + pgi_row_offset(source, p, r, source->offset[4]) * (int64_t)size;
    direct->plan->kernels.direct(to, from, shape);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *axis = problem->axis;
    const int64_t planes = target->extent[2], rows = target->extent[3];
    pgi_direct_work direct = {
        .plan = plan,
        .work = work,
        .shape = {.columns = (int)axis[2].kernel,
                  .places = target->extent[4],
                  .lanes = plan->block,
                  .stride = axis[2].stride,
                  .before = axis[2].pad_lo - target->offset[4] * axis[2].stride + source->offset[4],
                  .width = pgi_length(pgi_problem_reach(problem, 2)) ? source->extent[4] : 0,
                  .column = source->stride[4],
                  .from_pitch = axis[1].out > 1 ? axis[1].stride * source->stride[3] : 0,
                  .to_pitch = target->stride[3],
                  .alpha = plan->scale.alpha,
                  .stream = work->stream}};
    const int64_t pitch_bytes = direct.shape.from_pitch * (int64_t)problem->element_size;
    pgi_range ranges[3];
    int64_t at, count;
    int i;

    direct.shape.ahead =
        direct.shape.from_pitch *
        pgi_ceil_div(bytes_ahead(plan, work->near), pgi_max(pgi_max(pitch_bytes, -pitch_bytes), 1));

    for (i = 0; i < 3; i++)
        ranges[i] =
            (pgi_range){target->offset[2 + i], target->offset[2 + i] + target->extent[2 + i]};
    pgi_divisors_region(&direct.divisors, problem, plan->kernels.real, ranges, workspace);
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, planes, rows);
        const int64_t h = target->offset[3] + row.h;

        count = alike(&axis[1], h, pgi_min(end - at, rows - row.h));
        run_rows(&direct, &row.unit, target->offset[2] + row.d, h, count);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "windows of up to %d taps per axis, rows of %" PRId64 " channel%s",
             PGI_DIRECT, plan->block, plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_direct = {
    .name = "direct",
    .reason = "windows are small: every one adds its own taps, in one pass",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
