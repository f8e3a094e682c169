/* SPDX-License-Identifier: MIT */
/*
 * Averages of 3x3 and 3x3x3 windows with stride 1, both ways, in one pass over some rows at a
 * time: PGI_THREES target rows and the two more source rows that reach them, or a row of as many
 * planes. The gradient divides source rows, the forward pass target rows.
 */
#include "core/integer.h"
#include "plan/arrange.h"
#include "plan/divisors.h"
#include "plan/placement.h"
#include "plan/rows.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Elements of a row: where planes are added, sums of three of them stay in the nearest caches. */
#define MOST_ELEMENTS 16384
#define MOST_IN_PLANE 262144

/* Bytes of a row of sums that are made before they are used, and places, if that is less. */
#define ROOM_BYTES  4096
#define ROOM_PLACES 8

/* Bytes ahead of what is loaded that is fetched. Of channels side by side that are near it is not:
 * 3x3 forward, NXC f32, hot, Zen 5, avx2, takes 0.142 ms with and 0.133 without, in NCX 0.179 and
 * 0.185. */
#define AHEAD 2048

/* The strategy's parts of the workspace, behind its divisors. */
enum {
    ROOM_DIVISORS,
    ROOM_ZEROS, /* a source row that does not exist */
    ROOM_SUMS,  /* of rows below each other, for every target row, */
    ROOM_PLANES /* and of planes behind each other, of three rows */
};

static bool applicable(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_axis *axis = problem->axis;
    const bool deep = pgi_axis_is(&axis[0], 3, 1), forward = pgi_is_forward(problem->desc.op);
    const int64_t lanes = pgi_row_lanes(problem), width = source->extent[PGI_SPATIAL + 2];

    if (pgi_is_max(problem->desc.op) || problem->desc.beta != 0 || target->elements == 0 ||
        source->elements == 0 || pgi_rows_below(problem, PGI_SHORT_ROW) ||
        !(deep || pgi_axis_is(&axis[0], 1, 1)) || !pgi_axis_is(&axis[1], 3, 1) ||
        !pgi_axis_is(&axis[2], 3, 1) || lanes == 0)
        return false;
    /* Rows of less than a vector, on 7x7 forward 0.57 ms against 0.40, on 8x14x14 0.35 against
     * 0.27, 14x14 with 512 channels 2.1 against 0.9; the gradient of 3x3 takes a third on one image
     * of 8x8x8. */
    if (lanes == 1 && width < PGI_ROW_REALS &&
        (forward || deep || source->extent[1] >= PGI_ROW_REALS))
        return false;
    return width <= (deep ? MOST_ELEMENTS : MOST_IN_PLANE) / lanes;
}

/* What divisors are for: the windows, which are the target of a forward pass. */
static const pgi_tensor *windows_of(const pgi_problem *problem)
{
    return pgi_is_forward(problem->desc.op) ? &problem->target : &problem->source;
}

/* How far the last source place that a target takes is ahead of it. */
static int64_t lead(const pgi_problem *problem, int axis)
{
    const int64_t pad = problem->axis[axis].pad_lo;

    return pgi_is_forward(problem->desc.op) ? 2 - pad : pad;
}

/* Places of a row of sums. */
static int64_t room_places(const poolgrad_plan *plan)
{
    return pgi_max(ROOM_BYTES / (int64_t)plan->kernels.real / plan->block, ROOM_PLACES);
}

/* Reals of a row: whole vectors, and one more. */
static int64_t whole_reals(int64_t places, int64_t lanes)
{
    return (pgi_ceil_div(places * lanes, PGI_ROW_REALS) + 1) * PGI_ROW_REALS;
}

/* The same of a row of sums, and one more, so that the first column that exists is aligned. */
static int64_t room_reals(const poolgrad_plan *plan)
{
    return whole_reals(room_places(plan) + 2, plan->block) + PGI_ROW_REALS;
}

/* Target planes that are made together. */
static int64_t planes_together(const pgi_problem *problem)
{
    return problem->axis[0].kernel == 1 ? 1 : PGI_THREES;
}

static int64_t blocks_of_planes(const pgi_problem *problem)
{
    return pgi_ceil_div(problem->target.extent[2], planes_together(problem));
}

static bool prepare(poolgrad_plan *plan)
{
    const pgi_tensor *source = &plan->problem.source, *target = &plan->problem.target;
    const int64_t real = (int64_t)plan->kernels.real;
    pgi_placement at = {0, true};

    pgi_arrange_rows(plan);
    pgi_units_of_rows(plan, blocks_of_planes(&plan->problem), target->extent[3]);
    pgi_divisors_measure(windows_of(&plan->problem)->extent + PGI_SPATIAL, real, &at);
    plan->room[ROOM_ZEROS] =
        pgi_place(&at, source->extent[4], plan->block, 1, (int64_t)plan->problem.element_size);
    plan->room[ROOM_SUMS] = pgi_place(&at, 2 * PGI_THREES, 1, room_reals(plan), real);
    plan->room[ROOM_PLANES] =
        pgi_place(&at, planes_together(&plan->problem) > 1 ? 3 * PGI_THREES : 0, 1,
                  whole_reals(source->extent[4], plan->block), real);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

/* One call of the kernel: rows that go together, as distances from the first of a unit, in bytes.
 * They are the same for all planes: finding them for each was a sixth of all instructions with
 * planes of 56x56. */
typedef struct pgi_threes_call {
    int64_t from[PGI_THREES + 2], to[PGI_THREES];
    bool source[PGI_THREES + 2], target[PGI_THREES]; /* whether there is such a row */
    const pgi_divisors *by[PGI_THREES + 2];
    int64_t from_pitch[PGI_THREES + 2], times, row;
    bool last, exactly;
} pgi_threes_call;

#define MOST_CALLS 8

typedef struct pgi_threes_work {
    const poolgrad_plan *plan;
    pgi_divisor_rows divisors;
    pgi_threes shape;
    int64_t size; /* of an element */
    const char *sources, *zeros;
    char *targets;
    int64_t rows;       /* target rows, one below the other, of a group */
    pgi_range plain[2]; /* source and target rows that differ only in where they lie */

    /* Calls for `count` target rows from (d, h) on, and from `row` on, up to `next`. */
    pgi_threes_call calls[MOST_CALLS];
    int number;
    int64_t d, h, count, row, next;
} pgi_threes_work;

static bool exists(const pgi_threes_work *threes, int axis, int64_t at)
{
    const pgi_tensor *source = &threes->plan->problem.source;
    const int64_t begin = source->offset[PGI_SPATIAL + axis];

    return at >= begin && at < begin + source->extent[PGI_SPATIAL + axis];
}

/* The divisors of the windows at (d, h); any, if there are none or they cover nothing. Counts are
 * up to 3: no more different ones are asked for than are kept. */
static const pgi_divisors *divisors_at(pgi_threes_work *threes, int64_t d, int64_t h)
{
    pgi_divisor_rows *rows = &threes->divisors;
    const pgi_range *windows = rows->windows;
    int64_t outer = 0;

    if (d >= windows[0].begin && d < windows[0].end && h >= windows[1].begin && h < windows[1].end)
        outer = pgi_divisors_outer(rows, d, h);
    return pgi_divisors_of(rows, outer ? outer : 1);
}

/* The i-th of the source rows that go together; rows from `end` on are not needed. */
static void set_source(pgi_threes_work *threes, pgi_threes_call *call, int i, int64_t plane,
                       int64_t row, int64_t end)
{
    const pgi_tensor *source = &threes->plan->problem.source;

    call->source[i] = row < end && exists(threes, 0, plane) && exists(threes, 1, row);
    if (!call->source[i])
        return;
    call->from[i] = pgi_row_offset(source, plane, row, source->offset[4]) * threes->size;
    call->from_pitch[i] = source->stride[3] * threes->rows;
    if (!threes->shape.forward)
        call->by[i] = divisors_at(threes, plane, row);
}

/* The i-th of the target rows, if it is one of those that are wanted. */
static void set_target(pgi_threes_work *threes, pgi_threes_call *call, int i, int64_t d, int64_t h,
                       pgi_range wanted)
{
    const pgi_tensor *target = &threes->plan->problem.target;

    call->target[i] =
        h >= wanted.begin && h < wanted.end && d < target->offset[2] + target->extent[2];
    if (!call->target[i])
        return;
    call->to[i] = pgi_row_offset(target, d, h, target->offset[4]) * threes->size;
    if (threes->shape.forward)
        call->by[i] = divisors_at(threes, d, h);
}

/* Rows that do not exist have the divisors of others: all calls of a run divide in the same way,
 * and most have one kind only. */
static void complete_divisors(pgi_threes_work *threes, pgi_threes_call *call)
{
    const pgi_range *windows = threes->divisors.windows;
    const pgi_divisors *some = NULL;
    int i;

    for (i = 0; i < PGI_THREES + 2 && !some; i++)
        some = call->by[i];
    for (i = 0; i < PGI_THREES + 2; i++) {
        if (!call->by[i])
            call->by[i] = some ? some : divisors_at(threes, windows[0].begin, windows[1].begin);
        call->exactly |= call->by[i]->how == PGI_DIVIDE;
    }
}

/* How often the rows that follow those from h on differ from them only in where they lie. */
static int64_t times_from(const pgi_threes_work *threes, int64_t h, int64_t end)
{
    const pgi_range *plain = threes->plain;
    const int64_t first = h + lead(&threes->plan->problem, 1) - 2; /* of the source rows */
    const int64_t more = 2 - 2 * threes->shape.deep, rows = threes->rows;

    if (first + 2 - more < plain[0].begin || h < plain[1].begin)
        return 1;
    return pgi_max(pgi_min(plain[0].end - first - 2, pgi_min(plain[1].end, end) - h) / rows, 1);
}

/* The next calls for the target rows that are wanted. */
static void find_calls(pgi_threes_work *threes)
{
    const pgi_problem *problem = &threes->plan->problem;
    const pgi_range wanted = {threes->h, threes->h + threes->count};
    const bool deep = threes->shape.deep;
    const int64_t d = threes->d, ahead = lead(problem, 1), end = wanted.end + ahead;
    int64_t row = threes->next;
    int i;

    threes->row = row;
    for (threes->number = 0; row < wanted.end && threes->number < MOST_CALLS; threes->number++) {
        pgi_threes_call *call = &threes->calls[threes->number];

        *call = (pgi_threes_call){.times = 1, .row = row};
        if (row >= wanted.begin)
            call->times = times_from(threes, row, wanted.end);
        call->last = deep || row + threes->rows * call->times >= wanted.end;
        if (call->last && !deep && call->times > 1) {
            call->times--;
            call->last = false;
        }
        for (i = 0; i < PGI_THREES + 2; i++)
            if (deep)
                set_source(threes, call, i, d + lead(problem, 0) - 2 + i, row + ahead, end);
            else
                set_source(threes, call, i, d, row + ahead - 2 + i, end);
        for (i = 0; i < PGI_THREES; i++)
            set_target(threes, call, i, deep ? d + i : d, deep ? row : row + i, wanted);
        complete_divisors(threes, call);
        row += threes->rows * call->times;
    }
    threes->next = row;
}

/* One of these calls, for plane d: without windows along D, planes differ only in where they lie.
 */
static bool run_call(const pgi_threes_work *threes, const pgi_threes_call *call, int64_t d,
                     bool exactly)
{
    const pgi_problem *problem = &threes->plan->problem;
    const int64_t planes = (d - threes->d) * threes->size; /* that these are further */
    const char *sources = threes->sources + planes * problem->source.stride[2];
    char *targets = threes->targets + planes * problem->target.stride[2];
    const void *from[PGI_THREES + 2];
    void *to[PGI_THREES];
    pgi_threes shape = threes->shape;
    int i;

    shape.times = call->times;
    shape.last = call->last;
    shape.exactly = exactly || call->exactly;
    shape.row = (call->row % 3 + 3) % 3; /* rows before the first have negative numbers */
    for (i = 0; i < PGI_THREES + 2; i++) {
        from[i] = call->source[i] ? sources + call->from[i] : threes->zeros;
        shape.from_pitch[i] = call->from_pitch[i];
    }
    for (i = 0; i < PGI_THREES; i++)
        to[i] = call->target[i] ? targets + call->to[i] : NULL;
    return threes->plan->kernels.threes(to, from, call->by, &shape);
}

/* `count` target rows from (d, h) on, of the planes that are made together. False if a quotient is
 * in doubt: then, exactly. */
static bool run_rows(pgi_threes_work *threes, int64_t d, int64_t h, int64_t count, bool exactly)
{
    const pgi_problem *problem = &threes->plan->problem;
    const pgi_threes *shape = &threes->shape;
    /* planes: two rows before the first target, if they exist, are only added */
    const int64_t above = h + lead(problem, 1) - problem->source.offset[3];
    const int64_t row = h - (shape->deep ? pgi_max(pgi_min(2, above), 0) : 0);
    const bool known = (threes->d == d || !shape->deep) && threes->h == h &&
                       threes->count == count && threes->row == row && threes->number > 0;
    int i;

    if (shape->deep)
        memset(shape->planes, 0,
               (size_t)(3 * PGI_THREES * shape->plane_pitch) * threes->plan->kernels.real);
    if (!known) {
        threes->d = d;
        threes->h = h;
        threes->count = count;
        threes->next = row;
        find_calls(threes);
    }
    for (;;) {
        for (i = 0; i < threes->number; i++)
            if (!run_call(threes, &threes->calls[i], d, exactly))
                return false;
        if (threes->next >= h + count)
            return true;
        find_calls(threes);
    }
}

/* Rows with the divisors of most, and all others of the kind that is not divided. */
static void find_plain(pgi_threes_work *threes)
{
    const pgi_range windows = threes->divisors.windows[1];
    const int64_t *counts = threes->divisors.counts[1], number = windows.end - windows.begin;
    const int64_t most = counts[number / 2];
    const pgi_tensor *source = &threes->plan->problem.source;
    const bool forward = threes->shape.forward;
    int64_t begin = number / 2, end = begin;

    while (begin > 0 && counts[begin - 1] == most)
        begin--;
    while (end < number && counts[end] == most)
        end++;
    threes->plain[0] = (pgi_range){source->offset[3], source->offset[3] + source->extent[3]};
    threes->plain[1] = (pgi_range){INT64_MIN, INT64_MAX};
    threes->plain[forward] = (pgi_range){windows.begin + begin, windows.begin + end};
}

/* Elements ahead of what is loaded that are fetched: of rows that lie apart, whole groups of them.
 */
static int64_t elements_ahead(const poolgrad_plan *plan)
{
    const pgi_tensor *source = &plan->problem.source;
    const int64_t pitch = source->stride[3], row = source->extent[4] * plan->block;
    const int64_t ahead = AHEAD / (int64_t)plan->problem.element_size;

    return pitch <= row ? ahead : pgi_ceil_div(ahead, pitch * PGI_THREES) * pitch * PGI_THREES;
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_problem *problem = &plan->problem;
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const pgi_tensor *windows = windows_of(problem);
    const int64_t blocks = blocks_of_planes(problem), rows = target->extent[3];
    const int64_t together = planes_together(problem);
    char *room = workspace;
    pgi_threes_work threes = {
        .plan = plan,
        .zeros = room + plan->room[ROOM_ZEROS],
        .size = (int64_t)problem->element_size,
        .rows = together > 1 ? 1 : PGI_THREES,
        .shape = {.deep = together > 1,
                  .places = target->extent[4],
                  .lanes = plan->block,
                  .first = target->offset[4] + lead(problem, 2) - 2 - source->offset[4],
                  .width = source->extent[4],
                  .to_pitch = target->stride[3] * (together > 1 ? 1 : PGI_THREES),
                  .ahead = work->near && plan->block > 1 ? 0 : elements_ahead(plan),
                  .room = room + plan->room[ROOM_SUMS],
                  .room_places = room_places(plan),
                  .room_pitch = room_reals(plan),
                  .planes = room + plan->room[ROOM_PLANES],
                  .plane_pitch = whole_reals(source->extent[4], plan->block),
                  .forward = pgi_is_forward(problem->desc.op),
                  .alpha = plan->scale.alpha,
                  .stream = work->stream}};
    pgi_range ranges[3];
    int64_t at, count;
    int i;

    for (i = 0; i < 3; i++)
        ranges[i] =
            (pgi_range){windows->offset[2 + i], windows->offset[2 + i] + windows->extent[2 + i]};
    pgi_divisors_region(&threes.divisors, problem, plan->kernels.real, ranges, room);
    if (threes.shape.first < 0)
        threes.shape.room = (char *)threes.shape.room +
                            (PGI_ROW_REALS + threes.shape.first * plan->block % PGI_ROW_REALS) *
                                (int64_t)plan->kernels.real;
    threes.shape.step = pgi_divisors_of(&threes.divisors, 1)->step;
    find_plain(&threes);
    memset(room + plan->room[ROOM_ZEROS], 0,
           (size_t)(source->extent[4] * plan->block) * problem->element_size);
    for (at = begin; at < end; at += count) {
        const pgi_row_unit row = pgi_row_of_unit(plan, at, blocks, rows);
        const int64_t d = target->offset[2] + row.d * together, h = target->offset[3] + row.h;

        count = pgi_min(end - at, rows - row.h);
        threes.sources =
            pgi_unit_memory(problem, source, &row.unit, work->source, problem->element_size);
        threes.targets = (char *)pgi_unit_memory(problem, target, &row.unit, work->target,
                                                 problem->element_size);
        if (!run_rows(&threes, d, h, count, false))
            run_rows(&threes, d, h, count, true);
    }
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "%s windows, rows of %" PRId64 " channel%s",
             plan->problem.axis[0].kernel == 3 ? "3x3x3" : "3x3", plan->block,
             plan->block == 1 ? "" : "s");
}

const pgi_strategy pgi_strategy_threes = {
    .name = "threes",
    .reason = "windows of three taps per axis with stride 1: all is added and divided in one pass",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
