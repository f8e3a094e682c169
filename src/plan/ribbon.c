/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 windows with stride 1 that keep the size of small planes, both ways: the planes,
 * which lie one behind the other, are one long row to the kernel, cut into pieces of the same size.
 */
#include "core/integer.h"
#include "plan/divisors.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Elements of a piece: its terms stay in the nearest cache. */
#define PIECE 2048

/* Of a plane: what is kept for each of its places shares that cache. (Zen 5, two threads, against
 * the strategy for larger ones, gradient in f32 and bf16: on 38x38 avx2 0.51 and 0.45 ms, 0.64 and
 * 0.52, avx512 0.57 and 0.31, 0.58 and 0.47; on 48x48 0.44 and 0.37, 0.45 and 0.35, avx512 0.49 and
 * 0.36, 0.36 and 0.26.) */
#define MOST_IN_PLANE 1500

/* Places of a ring, at least: where it ends a loop begins anew. */
#define LEAST_IN_RING 256

/* With fewer elements than so many rings, what is made for every place of one may not be worth it
 * (24 planes of 32x32, f32, Zen 5, one thread, avx512, hot: 4.8 us, 6.7 by the strategy for larger
 * ones). */
#define LEAST_RINGS 24

/* Bytes ahead of what is loaded that is fetched. */
#define AHEAD 4096

/* The strategy's parts of the workspace, behind the divisors of rows. */
enum {
    ROOM_DIVISORS, /* of every place: the divisor and the two parts of its reciprocal */
    ROOM_BITS,     /* whether it has a neighbour above, below, before, behind */
    ROOM_TERMS
};

enum {
    PARTS = 3,
    SIDES = 4
};

static int64_t plane_of(const pgi_problem *problem)
{
    return problem->axis[1].in * problem->axis[2].in;
}

/* Places of as many planes as there are in a ring. */
static int64_t ring_of(const pgi_problem *problem)
{
    return pgi_ceil_div(LEAST_IN_RING, plane_of(problem)) * plane_of(problem);
}

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *axis = problem->axis;
    int i;

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || target->elements == 0 ||
        !pgi_axis_is(&axis[0], 1, 1))
        return false;
    for (i = 1; i < 3; i++)
        if (!pgi_axis_is(&axis[i], 3, 1) || axis[i].pad_lo != 1 || axis[i].out != axis[i].in ||
            target->extent[PGI_SPATIAL + i] != axis[i].in)
            return false;
    for (i = 0; i < PGI_AXES; i++)
        if (source->extent[i] != target->extent[i] || source->offset[i] != target->offset[i])
            return false;
    return axis[1].in * axis[2].in >= PGI_ROW_REALS && axis[1].in <= MOST_IN_PLANE / axis[2].in &&
           target->elements >= LEAST_RINGS * ring_of(problem) && pgi_is_joined(source) &&
           pgi_is_joined(target);
}

/* Reals of an array for a ring. */
static int64_t reals_of_ring(const pgi_problem *problem)
{
    return PGI_RIBBON_BEFORE + ring_of(problem) + PGI_RIBBON_BEHIND;
}

/* Elements before and behind a piece that it takes from. */
static int64_t reach_of(const pgi_problem *problem)
{
    return pgi_ceil_div(problem->axis[2].in + 1, PGI_ROW_REALS) * PGI_ROW_REALS;
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t real = (int64_t)plan->kernels.real, ring = reals_of_ring(problem);
    const int64_t windows[3] = {1, problem->axis[1].in, problem->axis[2].in};
    pgi_placement at = {0, true};

    /* the first piece is shorter by what lies before it in its cache line, wherever that is */
    if (!pgi_add(problem->target.elements, PGI_LINE_BYTES / (int64_t)problem->element_size - 1,
                 &plan->units))
        return false;
    plan->units = pgi_ceil_div(plan->units, PIECE);
    pgi_divisors_measure(windows, real, &at);
    plan->room[ROOM_DIVISORS] = pgi_place(&at, PARTS, ring, 1, real);
    plan->room[ROOM_BITS] = pgi_place(&at, SIDES, ring, 1, real);
    plan->room[ROOM_TERMS] = pgi_place(
        &at, PGI_RIBBON_BEFORE + PIECE + 2 * reach_of(problem) + PGI_RIBBON_BEHIND, 1, 1, real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* What the first plane of a ring has to its other planes and beyond its ends. */
static void go_round(const poolgrad_plan *plan, char *first)
{
    const int64_t plane = plane_of(&plan->problem), ring = ring_of(&plan->problem);
    const int64_t real = (int64_t)plan->kernels.real, end = ring + PGI_RIBBON_BEHIND;
    int64_t at, count;

    for (at = plane; at < end; at += count) {
        count = pgi_min(plane, end - at);
        memcpy(first + at * real, first, (size_t)(count * real));
    }
    memcpy(first - PGI_RIBBON_BEFORE * real, first + (ring - PGI_RIBBON_BEFORE) * real,
           (size_t)(PGI_RIBBON_BEFORE * real));
}

/* `count` reals, one after the other or all the same one. */
static void fill(char *to, const char *from, int64_t count, int64_t step, size_t real)
{
    const size_t bytes = (size_t)count * real;
    size_t done = step ? bytes : real, part;

    memcpy(to, from, done);
    for (; done < bytes; done += part) {
        part = done < bytes - done ? done : bytes - done;
        memcpy(to + done, to, part);
    }
}

/* The divisors of all places. */
static void set_divisors(const poolgrad_plan *plan, pgi_divisors *by, char *room)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t height = problem->axis[1].in, width = problem->axis[2].in;
    const int64_t d = problem->target.offset[PGI_SPATIAL];
    const pgi_range windows[3] = {{d, d + 1}, {0, height}, {0, width}};
    const size_t real = plan->kernels.real, array = (size_t)reals_of_ring(problem) * real;
    char *part[PARTS];
    pgi_divisor_rows rows;
    int64_t h;
    int i;

    pgi_divisors_region(&rows, problem, real, windows, room);
    *by = (pgi_divisors){.step = 1, .how = PGI_QUOTIENT};
    for (i = 0; i < PARTS; i++)
        part[i] = room + plan->room[ROOM_DIVISORS] + (size_t)i * array + PGI_RIBBON_BEFORE * real;
    for (h = 0; h < height; h++) {
        const pgi_divisors *row = pgi_divisors_of(&rows, pgi_divisors_outer(&rows, d, h));
        const void *from[PARTS] = {row->divisor, row->high, row->low};

        if (row->how == PGI_DIVIDE)
            by->how = PGI_DIVIDE;
        for (i = 0; i < PARTS; i++)
            fill(part[i] + (size_t)(h * width) * real, from[i], width, row->step, real);
    }
    for (i = 0; i < PARTS; i++)
        go_round(plan, part[i]);
    by->divisor = part[0];
    by->high = part[1];
    by->low = part[2];
}

/* Which places have a neighbour on a side: all but those of the `lacking` row or column. */
static const void *set_bits(const poolgrad_plan *plan, char *room, int side)
{
    const int64_t height = plan->problem.axis[1].in, width = plan->problem.axis[2].in;
    const int64_t lacking[SIDES] = {0, height - 1, 0, width - 1};
    const size_t real = plan->kernels.real;
    const size_t array = (size_t)reals_of_ring(&plan->problem) * real;
    char *bits = room + plan->room[ROOM_BITS] + (size_t)side * array + PGI_RIBBON_BEFORE * real;
    int64_t h;

    memset(bits, 0xff, (size_t)(height * width) * real);
    if (side < 2)
        memset(bits + (size_t)(lacking[side] * width) * real, 0, (size_t)width * real);
    else
        for (h = 0; h < height; h++)
            memset(bits + (size_t)(h * width + lacking[side]) * real, 0, real);
    go_round(plan, bits);
    return bits;
}

/* Elements between the first and the cache line that it lies in begins. */
static int64_t back_of(const poolgrad_plan *plan, const void *target)
{
    return (int64_t)((uintptr_t)target % PGI_LINE_BYTES / plan->problem.element_size);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const int64_t elements = problem->target.elements, back = back_of(plan, work->target);
    char *room = workspace;
    pgi_ribbon shape = {.forward = pgi_is_forward(problem->desc.op),
                        .stream = work->stream_inside,
                        .elements = elements,
                        .width = problem->axis[2].in,
                        .reach = reach_of(problem),
                        .ahead = work->near ? 0 : AHEAD / (int64_t)problem->element_size,
                        .ring = ring_of(problem),
                        .above = set_bits(plan, room, 0),
                        .below = set_bits(plan, room, 1),
                        .before = set_bits(plan, room, 2),
                        .behind = set_bits(plan, room, 3),
                        .terms =
                            room + plan->room[ROOM_TERMS] +
                            (size_t)(PGI_RIBBON_BEFORE + reach_of(problem)) * plan->kernels.real,
                        .alpha = plan->scale.alpha};

    set_divisors(plan, &shape.by, room);
    for (; begin < end; begin++) {
        /* all but the first begin at a cache line, and that one is no longer than they are */
        shape.begin = begin ? pgi_min(begin * PIECE - back, elements) : 0;
        shape.end = pgi_min((begin + 1) * PIECE - back, elements);
        shape.exactly = shape.by.how == PGI_DIVIDE;
        if (!plan->kernels.ribbon(work->target, work->source, &shape)) {
            shape.exactly = true;
            plan->kernels.ribbon(work->target, work->source, &shape);
        }
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "3x3 windows, planes of %" PRId64 " elements",
             plane_of(&plan->problem));
}

const pgi_strategy pgi_strategy_ribbon = {
    .name = "ribbon",
    .reason = "windows are 3x3 with stride 1 and planes are small: they are one long row",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
