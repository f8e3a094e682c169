/* SPDX-License-Identifier: MIT */
#include "plan/rows.h"

#include "core/dtype.h"
#include "core/window.h"
#include "plan/divisors.h"

void pgi_units_of_rows(poolgrad_plan *plan, int64_t block, int64_t planes, int64_t rows)
{
    const int64_t *extent = plan->problem.target.extent;

    plan->block = block;
    plan->blocks = block > 1 ? 1 : extent[PGI_CHANNEL];
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
    plan->kernels.finish(memory, 0, &sums, 1, &last, plan->scale.alpha, work->stream,
                         (pgi_ahead){NULL, NULL});
}

void pgi_finish_groups(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                       int64_t h, int64_t w, const char *sums, int64_t places, int64_t lanes)
{
    int64_t i;

    for (i = 0; i < places; i++, sums += (size_t)lanes * plan->kernels.real)
        pgi_finish_row(plan, work, memory, d, h, w + i, sums, 1, lanes);
}

bool pgi_is_dense(const poolgrad_plan *plan, int64_t lanes)
{
    const pgi_tensor *target = &plan->problem.target;

    return (target->stride[PGI_SPATIAL + 2] == lanes || target->extent[PGI_SPATIAL + 2] == 1) &&
           (lanes == 1 || target->stride[PGI_CHANNEL] == 1);
}

void pgi_store_row(const poolgrad_plan *plan, char *memory, int64_t d, int64_t h, int64_t w,
                   int64_t places, int64_t lanes, const char *reals)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t step = target->stride[PGI_SPATIAL + 2], lane_step = target->stride[PGI_CHANNEL];
    const size_t group = (size_t)lanes * plan->kernels.real;
    int64_t i;

    memory += pgi_row_offset(target, d, h, w) * size;
    if (lanes == 1) {
        plan->kernels.store(memory, step, reals, places, &plan->scale);
    } else if (lane_step == 1 && step == lanes) {
        plan->kernels.store(memory, 1, reals, places * lanes, &plan->scale);
    } else {
        for (i = 0; i < places; i++)
            plan->kernels.store(memory + i * step * size, lane_step, reals + (size_t)i * group,
                                lanes, &plan->scale);
    }
}

void pgi_load_row(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h, int64_t w,
                  int64_t places, int64_t lanes, char *reals)
{
    static const pgi_divisors none = {.how = PGI_KEEP};
    const pgi_tensor *source = &plan->problem.source;
    const int64_t step = source->stride[PGI_SPATIAL + 2], lane_step = source->stride[PGI_CHANNEL];

    memory += pgi_row_offset(source, d, h, w) * (int64_t)plan->problem.element_size;
    if (lanes == 1)
        plan->kernels.terms(reals, 0, memory, 0, step, 1, places, &none, false);
    else if (lane_step == 1 && step == lanes)
        plan->kernels.terms(reals, 0, memory, 0, 1, 1, places * lanes, &none, false);
    else
        plan->kernels.terms(reals, lanes, memory, step, lane_step, places, lanes, &none, false);
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
