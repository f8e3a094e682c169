/* SPDX-License-Identifier: MIT */
#include "plan/rows.h"

#include "core/dtype.h"
#include "core/window.h"
#include "plan/arrange.h"
#include "plan/divisors.h"

int64_t pgi_row_lanes(const pgi_problem *problem)
{
    const pgi_tensor *source = &problem->source, *target = &problem->target;
    const int64_t channels = target->extent[PGI_CHANNEL];
    const int last = PGI_SPATIAL + 2;
    int64_t lanes = 1;

    if (pgi_channels_inside(target)) {
        if (channels < PGI_ROW_LANES || source->stride[PGI_CHANNEL] != 1 ||
            target->stride[PGI_CHANNEL] != 1)
            return 0;
        lanes = channels;
    }
    return (source->extent[last] == 1 || source->stride[last] == lanes) &&
                   (target->extent[last] == 1 || target->stride[last] == lanes)
               ? lanes
               : 0;
}

bool pgi_is_joined(const pgi_tensor *tensor)
{
    int64_t elements = 1;
    int i;

    for (i = PGI_AXES - 1; i >= 0; i--) {
        if (tensor->extent[i] > 1 && tensor->stride[i] != elements)
            return false;
        elements *= tensor->extent[i];
    }
    return true;
}

bool pgi_axis_is(const pgi_axis *axis, int64_t kernel, int64_t stride)
{
    return !axis->adaptive && axis->kernel == kernel && axis->stride == stride &&
           (axis->dilation == 1 || kernel == 1) && axis->pad_lo < kernel && axis->pad_hi < kernel;
}

void pgi_arrange_rows(poolgrad_plan *plan)
{
    const pgi_tensor *target = &plan->problem.target;

    plan->block = pgi_channels_inside(target) ? target->extent[PGI_CHANNEL] : 1;
    plan->first_axis = pgi_arrange(&plan->problem, plan->rank, false);
}

void pgi_units_of_rows(poolgrad_plan *plan, int64_t planes, int64_t rows)
{
    const int64_t *extent = plan->problem.target.extent;

    plan->blocks = plan->block > 1 ? 1 : extent[PGI_CHANNEL];
    plan->units = extent[PGI_BATCH] * plan->blocks * planes * rows;
}

pgi_row_unit pgi_row_of_unit(const poolgrad_plan *plan, int64_t index, int64_t planes, int64_t rows)
{
    const int64_t block = index / rows / planes;

    return (pgi_row_unit){.unit = {.batch = block / plan->blocks, .channel = block % plan->blocks},
                          .d = index / rows % planes,
                          .h = index % rows};
}

const char *pgi_unit_memory(const pgi_problem *problem, const pgi_tensor *tensor,
                            const pgi_unit *unit, const void *first, size_t element_size)
{
    const pgi_tensor *target = &problem->target;
    const int64_t batch = unit->batch + target->offset[PGI_BATCH] - tensor->offset[PGI_BATCH];
    const int64_t channel =
        unit->channel + target->offset[PGI_CHANNEL] - tensor->offset[PGI_CHANNEL];

    return (const char *)first +
           (batch * tensor->stride[PGI_BATCH] + channel * tensor->stride[PGI_CHANNEL]) *
               (int64_t)element_size;
}

int64_t pgi_row_offset(const pgi_tensor *tensor, int64_t d, int64_t h, int64_t w)
{
    const int64_t *offset = tensor->offset + PGI_SPATIAL, *stride = tensor->stride + PGI_SPATIAL;

    return (d - offset[0]) * stride[0] + (h - offset[1]) * stride[1] + (w - offset[2]) * stride[2];
}

void pgi_finish_row(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                    int64_t h, int64_t w, const void *sums, int64_t places, int64_t lanes)
{
    const pgi_last_axis last = {
        .places = places, .lanes = lanes, .advance = 1, .step = lanes, .turns = 1, .count = {1}};

    memory += pgi_row_offset(&plan->problem.target, d, h, w) * (int64_t)plan->problem.element_size;
    plan->kernels.finish(memory, 0, &sums, 1, &last, NULL, plan->scale.alpha, work->stream,
                         (pgi_ahead){NULL, NULL});
}

bool pgi_is_dense(const pgi_problem *problem, int64_t lanes)
{
    const pgi_tensor *target = &problem->target;

    return (target->stride[PGI_SPATIAL + 2] == lanes || target->extent[PGI_SPATIAL + 2] == 1) &&
           (lanes == 1 || target->stride[PGI_CHANNEL] == 1);
}

/* `lines` rows of `places` groups of lanes of a tensor, and what lies in them. */
static pgi_groups groups_of(const pgi_tensor *tensor, int64_t lines, int64_t places, int64_t lanes)
{
    const int64_t *stride = tensor->stride + PGI_SPATIAL;

    return (pgi_groups){lines, places, lanes, stride[1], stride[2], tensor->stride[PGI_CHANNEL]};
}

void pgi_store_rows(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                    int64_t h, int64_t w, int64_t rows, int64_t places, int64_t lanes,
                    const char *reals, int64_t pitch)
{
    const pgi_groups groups = groups_of(&plan->problem.target, rows, places, lanes);

    memory += pgi_row_offset(&plan->problem.target, d, h, w) * (int64_t)plan->problem.element_size;
    plan->kernels.store(memory, &groups, reals, pitch, &plan->scale, work->stream_inside);
}

void pgi_store_row(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                   int64_t h, int64_t w, int64_t places, int64_t lanes, const char *reals)
{
    pgi_store_rows(plan, work, memory, d, h, w, 1, places, lanes, reals, 0);
}

void pgi_collect_rows(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h,
                      int64_t w, int64_t rows, int64_t places, int64_t lanes,
                      const pgi_divisors *const *by, int each, char *reals, int64_t pitch)
{
    const pgi_groups groups = groups_of(&plan->problem.source, rows, places, lanes);

    memory += pgi_row_offset(&plan->problem.source, d, h, w) * (int64_t)plan->problem.element_size;
    plan->kernels.collect(reals, pitch, memory, &groups, by, each);
}

void pgi_load_row(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h, int64_t w,
                  int64_t places, int64_t lanes, char *reals)
{
    static const pgi_divisors none = {.how = PGI_KEEP}, *const by = &none;
    const pgi_tensor *source = &plan->problem.source;
    const int64_t step = source->stride[PGI_SPATIAL + 2], lane_step = source->stride[PGI_CHANNEL];

    memory += pgi_row_offset(source, d, h, w) * (int64_t)plan->problem.element_size;
    if (lanes == 1)
        plan->kernels.terms(reals, 0, memory, 0, step, 1, places, &none, false);
    else if (lane_step == 1 && step == lanes)
        plan->kernels.terms(reals, 0, memory, 0, 1, 1, places * lanes, &none, false);
    else
        plan->kernels.collect(reals, 0, memory, &(pgi_groups){1, places, lanes, 0, step, lane_step},
                              &by, 0);
}

bool pgi_has_one_place(const pgi_problem *problem)
{
    int i;

    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];

        if (axis->in != 1 || !(axis->adaptive || (axis->out == 1 && pgi_axis_is(axis, 1, 1))))
            return false;
    }
    return problem->desc.divisor != POOLGRAD_OVERRIDE;
}

void pgi_set_one_divisor(const pgi_problem *problem, pgi_one_divisor *one)
{
    static const int64_t window[3] = {0, 0, 0};
    const int64_t count = pgi_window_divisor(problem, window);

    one->divisors = (pgi_divisors){.divisor = &one->room[0],
                                   .high = &one->room[1],
                                   .low = &one->room[2],
                                   .how = pgi_division_by(&count, 1, 1)};
    pgi_divisor_make(count, pgi_compute_size(problem->desc.dtype), 0, &one->room[0], &one->room[1],
                     &one->room[2]);
}
