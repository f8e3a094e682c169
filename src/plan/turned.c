/* SPDX-License-Identifier: MIT */
/*
 * Maxima, both ways, where the channels of a place would fill vectors but do not lie side by side,
 * and rows are too short for them or lie otherwise in each tensor. A block of channels of one batch
 * element is brought to the workspace, as reals, channels side by side; another strategy computes
 * it there; and what it has made is stored. Where channels are few, batch elements take their
 * place. Indices stay where they are, and so do tensors that are as the others become.
 */
#include "core/dtype.h"
#include "core/integer.h"
#include "core/window.h"
#include "plan/arrange.h"
#include "plan/contest.h"
#include "plan/placement.h"
#include "plan/strategies.h"

#include <inttypes.h>
#include <stdio.h>

/* Places of rows that vectors make little of; where indices say who wins, and windows are alike,
 * these are traced and dealt many rows at a time, and rows are short later (2x2 with stride 2 on
 * 14x14, from indices, takes 4.4 times the floor and so 5.1; 3x3 on 7x7 7.9 and 5.0). */
#define SHORT_PLACES 24
#define SHORT_TRACED 12
/* Windows of a plane up to which bringing channels side by side gains more than reading or writing
 * indices in steps costs (3x3 on 14x14, forward: 5.1 without and 5.9 with it). */
#define MOST_INDICES 128
/* Channels of a block: these are worth the while, more do not make calls noticeably cheaper. */
#define LEAST_LANES 16
#define MOST_LANES  256
/* Batch elements that are brought side by side where channels are fewer than those. */
#define LEAST_BATCH 64
/* Bytes of a block: what stays in the second-level cache beside the other strategy's own, and what
 * the fewest channels may have at most. */
#define BLOCK_BYTES (INT64_C(192) << 10)
#define MOST_BYTES  (INT64_C(768) << 10)
/* Where some tensors have channels side by side, blocks have so many, if they have no more bytes
 * than this: pieces of memory would be as short (Zen 5, two threads, from NHWC to NCHW,
 * f32 on 8x64x56x56, blocks of 16 and 64: from indices 5x5 1.49 and 0.78 ms, 3x3s2 0.61 and 0.36;
 * the other way round 1.34 and 1.05, 0.36 and 0.31). */
#define GROUP_LANES 64
#define GROUP_BYTES (INT64_C(832) << 10)
/* Blocks for each thread, if there are channels for them. */
#define BLOCKS_PER_THREAD 4

/* The parts of the workspace. */
enum {
    ROOM_SOURCE,
    ROOM_TARGET,
    ROOM_X,
    ROOM_OTHER /* of the other strategy */
};

/* The part of a tensor that is needed. */
static void set_part(const pgi_problem *problem, const pgi_tensor *tensor, pgi_range part[3])
{
    int i;

    for (i = 0; i < 3; i++) {
        const int64_t begin = tensor->offset[PGI_SPATIAL + i];

        part[i] = tensor == &problem->target
                      ? (pgi_range){begin, begin + tensor->extent[PGI_SPATIAL + i]}
                  : tensor == &problem->x ? pgi_problem_x_reach(problem, i)
                                          : pgi_problem_reach(problem, i);
    }
}

/* Its places; more than any block has if there are many. */
static int64_t places_of(const pgi_problem *problem, const pgi_tensor *tensor)
{
    int64_t places = 1;
    pgi_range part[3];
    int i;

    set_part(problem, tensor, part);
    for (i = 0; i < 3; i++)
        places = pgi_min(MOST_BYTES, places * pgi_min(MOST_BYTES, pgi_length(part[i])));
    return places;
}

/* ------------------------------------------------------------ the other plan */

/* Between neighbours on the last axis that has any; 0 if none has. */
static int64_t distance_of_places(const pgi_tensor *tensor)
{
    int i;

    for (i = PGI_AXES - 1; i >= PGI_SPATIAL; i--)
        if (tensor->extent[i] > 1)
            return tensor->stride[i] < 0 ? -tensor->stride[i] : tensor->stride[i];
    return 0;
}

/* Whether places lie closer together than channels; of one place neither this nor the other. */
static bool has_lines(const pgi_tensor *tensor)
{
    const int64_t channel = tensor->stride[PGI_CHANNEL];

    return distance_of_places(tensor) > 0 &&
           distance_of_places(tensor) < (channel < 0 ? -channel : channel);
}

/* Whether channels lie at least as close together, or all in one place. */
static bool has_groups(const pgi_tensor *tensor)
{
    return distance_of_places(tensor) > 0 && !has_lines(tensor);
}

/* Whether the other strategy can read or write a tensor where it lies: it has reals, with channels
 * side by side, and nothing is left to be done with results. */
static bool lies_ready(const pgi_problem *problem, const pgi_tensor *tensor)
{
    return problem->element_size == pgi_compute_size(problem->desc.dtype) &&
           tensor->stride[PGI_CHANNEL] == 1 && has_groups(tensor) &&
           (tensor != &problem->target || (problem->desc.alpha == 1 && problem->desc.beta == 0));
}

/* Bytes that a channel has in the workspace: of what is not read or written where it lies. */
static int64_t channel_bytes(const pgi_problem *problem)
{
    const pgi_tensor *tensors[] = {&problem->source, &problem->target, &problem->x};
    int64_t places = 0;
    int i;

    for (i = 0; i < (problem->has_x ? 3 : 2); i++)
        places += lies_ready(problem, tensors[i]) ? 0 : places_of(problem, tensors[i]);
    return pgi_max(1, places) * (int64_t)pgi_compute_size(problem->desc.dtype);
}

static bool any_groups(const pgi_problem *problem)
{
    return has_groups(&problem->target) || has_groups(&problem->source) ||
           (problem->has_x && has_groups(&problem->x));
}

/* Of such a tensor, some channels of a batch element. */
static pgi_tensor ready_part(const pgi_tensor *tensor, int64_t lanes)
{
    pgi_tensor part = *tensor;
    int i;

    part.extent[PGI_BATCH] = 1;
    part.extent[PGI_CHANNEL] = part.elements = lanes;
    for (i = PGI_SPATIAL; i < PGI_AXES; i++)
        part.elements *= part.extent[i];
    return part;
}

/* The needed part of a tensor for some channels of a batch element, as it lies in the workspace; or
 * all of it that these have, where it lies. */
static pgi_tensor turned(const pgi_problem *problem, const pgi_tensor *tensor, int64_t lanes)
{
    pgi_tensor made = {.extent = {1, lanes}, .stride = {0, 1}, .elements = lanes};
    pgi_range part[3];
    int64_t step = lanes;
    int i;

    if (lies_ready(problem, tensor))
        return ready_part(tensor, lanes);
    set_part(problem, tensor, part);
    for (i = 2; i >= 0; i--) {
        made.offset[PGI_SPATIAL + i] = part[i].begin;
        made.extent[PGI_SPATIAL + i] = pgi_length(part[i]);
        made.stride[PGI_SPATIAL + i] = step;
        made.elements *= pgi_length(part[i]);
        step *= pgi_max(1, pgi_length(part[i]));
    }
    made.highest = pgi_max(0, made.elements - 1);
    return made;
}

/* The plan of the other strategy for `lanes` channels of a batch element; false if a size does not
 * fit. */
static bool plan_other(const poolgrad_plan *plan, int64_t lanes, poolgrad_plan *other)
{
    const pgi_problem *problem = &plan->problem;
    const poolgrad_dtype real = problem->desc.dtype == POOLGRAD_F64 ? POOLGRAD_F64 : POOLGRAD_F32;

    *other = *plan;
    other->problem.source = turned(problem, &problem->source, lanes);
    other->problem.target = turned(problem, &problem->target, lanes);
    if (problem->has_x)
        other->problem.x = turned(problem, &problem->x, lanes);
    other->problem.desc.dtype = real;
    other->problem.desc.alpha = other->scale.alpha = 1;
    other->problem.desc.beta = other->scale.beta = 0;
    other->problem.element_size = pgi_compute_size(real);
    other->strategy =
        pgi_is_forward(problem->desc.op) ? &pgi_strategy_sliding_max : &pgi_strategy_scatter;
    other->threads = 1;
    other->stream = false;
    return plan->backend->select(plan->kernels.isa, real, &other->kernels, NULL) == POOLGRAD_OK &&
           other->strategy->prepare(other);
}

/* Says which batch element and channels, from one on, counted in the whole. */
static void set_block(poolgrad_plan *other, int64_t batch, int64_t channel)
{
    pgi_tensor *tensors[] = {&other->problem.source, &other->problem.target, &other->problem.x};
    int i;

    for (i = 0; i < 3; i++) {
        tensors[i]->offset[PGI_BATCH] = batch;
        tensors[i]->offset[PGI_CHANNEL] = channel;
    }
}

/* ----------------------------------------------------------------- running */

/* Lines of a tensor and how they lie, from its part on: those of a plane, or of all planes if they
 * follow each other. */
static pgi_groups lines_of(const pgi_tensor *tensor, const pgi_tensor *part)
{
    const int64_t *stride = tensor->stride + PGI_SPATIAL, *extent = part->extent + PGI_SPATIAL;
    int64_t plane;
    const bool follow =
        extent[0] == 1 || (pgi_mul(extent[1], stride[1], &plane) && stride[0] == plane);

    return (pgi_groups){.lines = follow ? extent[0] * extent[1] : extent[1],
                        .places = extent[2],
                        .lanes = part->extent[PGI_CHANNEL],
                        .line_step = stride[1],
                        .place_step = stride[2],
                        .lane_step = tensor->stride[PGI_CHANNEL]};
}

/* Where the part's first element is, in elements from the tensor's. */
static int64_t offset_of(const pgi_tensor *tensor, const pgi_tensor *part)
{
    int64_t offset = 0;
    int i;

    for (i = 0; i < PGI_AXES; i++)
        offset += (part->offset[i] - tensor->offset[i]) * tensor->stride[i];
    return offset;
}

static const char *where_it_lies(const pgi_problem *problem, const pgi_tensor *tensor,
                                 const pgi_tensor *part, const void *memory)
{
    return (const char *)memory + offset_of(tensor, part) * (int64_t)problem->element_size;
}

/* How many times these lines make the part, which is not empty, a plane apart. */
static int64_t planes_of(const pgi_groups *lines, const pgi_tensor *part)
{
    return part->elements / (lines->lines * lines->places * lines->lanes);
}

/* Brings a part of a tensor to the workspace. */
static void bring(const poolgrad_plan *plan, const pgi_tensor *tensor, const pgi_tensor *part,
                  const void *memory, char *reals)
{
    const pgi_groups lines = lines_of(tensor, part);
    const pgi_entry entry = {.rows = lines.lines,
                             .row_step = lines.line_step,
                             .places = lines.places,
                             .step = lines.place_step,
                             .lanes = lines.lanes,
                             .lane_step = lines.lane_step};
    const int64_t size = (int64_t)plan->problem.element_size, planes = planes_of(&lines, part);
    const char *from = (const char *)memory + offset_of(tensor, part) * size;
    int64_t d;

    for (d = 0; d < planes; d++)
        plan->kernels.admit(reals + (size_t)(d * (part->elements / planes)) * plan->kernels.real,
                            from + d * tensor->stride[PGI_SPATIAL] * size, &entry);
}

/* Stores what the other strategy has made. */
static void store(const poolgrad_plan *plan, const pgi_tensor *part, const pgi_work *work,
                  const char *reals)
{
    const pgi_tensor *tensor = &plan->problem.target;
    const pgi_groups lines = lines_of(tensor, part);
    const int64_t size = (int64_t)plan->problem.element_size, planes = planes_of(&lines, part);
    char *to = (char *)work->target + offset_of(tensor, part) * size;
    int64_t d;

    for (d = 0; d < planes; d++)
        plan->kernels.store(to + d * tensor->stride[PGI_SPATIAL] * size, &lines,
                            reals + (size_t)(d * (part->elements / planes)) * plan->kernels.real,
                            lines.places * lines.lanes, &plan->scale, work->stream_inside);
}

/* Reports an index that is none: the element of the block's dy as one of the whole. */
static void report(const poolgrad_plan *plan, const pgi_work *work, const pgi_tensor *part,
                   int64_t element)
{
    int64_t at[PGI_AXES];
    int i;

    for (i = PGI_AXES - 1; i >= 0; i--) {
        at[i] = part->offset[i] + element % part->extent[i];
        element /= part->extent[i];
    }
    pgi_report_bad_index(
        work, pgi_window_element(&plan->problem, at[PGI_BATCH], at[PGI_CHANNEL], at + PGI_SPATIAL));
}

/* Fetches a block's indices if those of a channel lie together: they are read or written place by
 * place. Meanwhile x is brought. */
static void fetch_indices(const pgi_problem *problem, const pgi_problem *block, const void *memory)
{
    const pgi_tensor *indices = &problem->indices;
    const pgi_tensor *part = pgi_is_forward(problem->desc.op) ? &block->target : &block->source;
    const int64_t size = (int64_t)problem->index_size;
    const int64_t windows = part->elements / part->extent[PGI_CHANNEL];
    const int64_t step = indices->stride[PGI_CHANNEL];
    int64_t c, at;

    for (c = 0; step >= windows && c < part->extent[PGI_CHANNEL]; c++)
        for (at = 0; at < windows * size; at += PGI_LINE_BYTES)
            __builtin_prefetch(
                (const char *)memory + (offset_of(indices, part) + c * step) * size + at, 0, 2);
}

static void run_block(const poolgrad_plan *plan, const poolgrad_plan *other, const pgi_work *work,
                      char *workspace)
{
    const pgi_problem *problem = &plan->problem, *block = &other->problem;
    _Atomic int64_t bad_index = INT64_MAX;
    const bool stored = !lies_ready(problem, &problem->target);
    pgi_work there = *work;

    there.source = lies_ready(problem, &problem->source)
                       ? where_it_lies(problem, &problem->source, &block->source, work->source)
                       : workspace + plan->room[ROOM_SOURCE];
    there.target =
        stored ? workspace + plan->room[ROOM_TARGET]
               : (char *)where_it_lies(problem, &problem->target, &block->target, work->target);
    there.stream &= !stored;
    there.stream_inside &= !stored;
    there.bad_index = &bad_index;
    if (work->indices || work->indices_out)
        fetch_indices(problem, block, work->indices ? work->indices : work->indices_out);
    if (block->source.elements > 0 && !lies_ready(problem, &problem->source))
        bring(plan, &problem->source, &block->source, work->source,
              workspace + plan->room[ROOM_SOURCE]);
    if (problem->has_x && lies_ready(problem, &problem->x)) {
        there.x = where_it_lies(problem, &problem->x, &block->x, work->x);
    } else if (problem->has_x && block->x.elements > 0) {
        there.x = workspace + plan->room[ROOM_X];
        bring(plan, &problem->x, &block->x, work->x, workspace + plan->room[ROOM_X]);
    }
    other->strategy->run(other, &there, 0, other->units, workspace + plan->room[ROOM_OTHER]);
    if (bad_index != INT64_MAX)
        report(plan, work, &block->source, bad_index);
    if (stored)
        store(plan, &block->target, work, there.target);
}

static void run(const poolgrad_plan *plan, const pgi_work *work, int64_t begin, int64_t end,
                void *workspace)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t last = (plan->blocks - 1) * plan->block;
    poolgrad_plan whole, rest;
    int64_t unit;

    /* both fit, as prepare has seen */
    (void)plan_other(plan, plan->block, &whole);
    (void)plan_other(plan, target->extent[PGI_CHANNEL] - last, &rest);
    for (unit = begin; unit < end; unit++) {
        /* few channels in the place of the batch share cache lines, which one task should write */
        const int64_t batches = target->extent[PGI_BATCH];
        const bool inner = plan->problem.exchanged;
        const int64_t batch = inner ? unit % batches : unit / plan->blocks;
        const int64_t channel = (inner ? unit / batches : unit % plan->blocks) * plan->block;
        poolgrad_plan *other = channel == last ? &rest : &whole;

        set_block(other, target->offset[PGI_BATCH] + batch, target->offset[PGI_CHANNEL] + channel);
        run_block(plan, other, work, workspace);
    }
}

/* ---------------------------------------------------------------- planning */

static bool suits(const pgi_problem *problem)
{
    const pgi_tensor *target = &problem->target, *source = &problem->source, *x = &problem->x;
    const int64_t row = pgi_max(target->extent[PGI_SPATIAL + 2], source->extent[PGI_SPATIAL + 2]);
    const bool forward = pgi_is_forward(problem->desc.op);
    const bool lines = has_lines(target) || has_lines(source) || (problem->has_x && has_lines(x));
    const bool traced = problem->has_indices && !forward && !problem->axis[2].adaptive;
    /* indices of adaptive windows are traced row by row anyway */
    const bool by_rows = problem->axis[2].adaptive && !forward;
    /* long windows of small planes have contests of 16 at a time (13x13 on 20x20, bf16: 1.5,
     * turned 1.8 ms) */
    const bool swept = problem->has_x && !problem->axis[2].adaptive && problem->taps[2].filled &&
                       problem->axis[2].stride == 1 &&
                       pgi_contest_lanes(problem->taps, problem) > 1;
    const bool is_short = row < (traced ? SHORT_TRACED : SHORT_PLACES) && !swept &&
                          (!problem->has_indices || by_rows ||
                           places_of(problem, forward ? target : source) <= MOST_INDICES);

    /* where y has groups, x is better brought row by row (3x3s2 on 8x64x56x56, Zen 5, bf16 0.28 ms,
     * turned 0.59) */
    return pgi_is_max(problem->desc.op) && !problem->has_y && pgi_places_fit(problem) &&
           target->elements > 0 && target->extent[PGI_CHANNEL] >= LEAST_LANES &&
           channel_bytes(problem) <= MOST_BYTES / LEAST_LANES && lines &&
           (any_groups(problem) ? !(forward && has_groups(target)) : is_short);
}

/* Whether batch elements are to be brought side by side, where channels are too few, and not side
 * by side in all tensors, which is better than to have them further apart. */
static bool suits_exchanged(const pgi_problem *problem)
{
    pgi_problem other;

    if (!pgi_is_max(problem->desc.op) || problem->target.extent[PGI_CHANNEL] >= LEAST_LANES ||
        problem->target.extent[PGI_BATCH] < LEAST_BATCH ||
        !(has_lines(&problem->target) || has_lines(&problem->source) ||
          (problem->has_x && has_lines(&problem->x))))
        return false;
    other = *problem;
    pgi_exchange_channels(&other);
    return !any_groups(&other) && suits(&other);
}

static bool applicable(const pgi_problem *problem)
{
    return suits(problem) || suits_exchanged(problem);
}

/* For what is brought of a tensor, if it is. */
static size_t make_room(const pgi_problem *problem, const pgi_tensor *tensor,
                        const pgi_tensor *part, pgi_placement *at)
{
    return pgi_place(at, lies_ready(problem, tensor) ? 0 : 1, 1, part->elements + PGI_SLACK,
                     (int64_t)pgi_compute_size(problem->desc.dtype));
}

static bool prepare_blocks(poolgrad_plan *plan)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t channels = target->extent[PGI_CHANNEL], bytes = channel_bytes(&plan->problem);
    const int64_t side_by_side =
        any_groups(&plan->problem) ? pgi_min(GROUP_LANES, GROUP_BYTES / bytes) : 0;
    const int64_t wanted =
        pgi_ceil_div((int64_t)plan->threads * BLOCKS_PER_THREAD, target->extent[PGI_BATCH]);
    pgi_placement at = {0, true};
    poolgrad_plan whole, rest;

    plan->block = pgi_min(MOST_LANES, pgi_max(BLOCK_BYTES / bytes, side_by_side));
    plan->block = pgi_min(plan->block, channels / wanted);
    plan->block = pgi_max(LEAST_LANES, plan->block / LEAST_LANES * LEAST_LANES);
    plan->blocks = pgi_ceil_div(channels, plan->block);
    plan->block = pgi_min(plan->block, channels);
    plan->units = plan->blocks * target->extent[PGI_BATCH];
    if (!plan_other(plan, plan->block, &whole) ||
        !plan_other(plan, channels - (plan->blocks - 1) * plan->block, &rest))
        return false;
    plan->room[ROOM_SOURCE] =
        make_room(&plan->problem, &plan->problem.source, &whole.problem.source, &at);
    plan->room[ROOM_TARGET] = make_room(&plan->problem, target, &whole.problem.target, &at);
    if (plan->problem.has_x)
        plan->room[ROOM_X] = make_room(&plan->problem, &plan->problem.x, &whole.problem.x, &at);
    plan->room[ROOM_OTHER] =
        pgi_place(&at, 1, 1,
                  (int64_t)pgi_max((int64_t)whole.task_workspace, (int64_t)rest.task_workspace), 1);
    plan->task_workspace = (size_t)at.end;
    return at.fits;
}

static bool prepare(poolgrad_plan *plan)
{
    if (!suits(&plan->problem))
        pgi_exchange_channels(&plan->problem);
    return prepare_blocks(plan);
}

static void describe(const poolgrad_plan *plan, char *text, size_t capacity)
{
    snprintf(text, capacity, "blocks of %" PRId64 " %s", plan->block,
             plan->problem.exchanged ? "batch elements" : "channels");
}

const pgi_strategy pgi_strategy_turned = {
    .name = "turned",
    .reason = "rows are short, or tensors lie differently: channels are brought side by side",
    .applicable = applicable,
    .prepare = prepare,
    .run = run,
    .describe = describe,
};
