/* SPDX-License-Identifier: MIT */
#include "plan/rows.h"

#include "core/dtype.h"

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
                    int64_t h, int64_t w, const pgi_rows *runs, int phases, int64_t places,
                    int64_t lanes)
{
    memory += pgi_row_offset(&plan->problem.target, d, h, w) * (int64_t)plan->problem.element_size;
    plan->kernels.finish(memory, runs, phases, lanes, places, plan->scale.alpha, work->stream);
}

bool pgi_is_dense(const poolgrad_plan *plan, int64_t lanes)
{
    const pgi_tensor *target = &plan->problem.target;

    return target->stride[PGI_SPATIAL + 2] == lanes &&
           (lanes == 1 || target->stride[PGI_CHANNEL] == 1);
}

void pgi_store_row(const poolgrad_plan *plan, char *memory, int64_t d, int64_t h, int64_t w,
                   int64_t places, int64_t lanes, const char *reals)
{
    const pgi_tensor *target = &plan->problem.target;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t step = target->stride[PGI_SPATIAL + 2], lane_step = target->stride[PGI_CHANNEL];
    const size_t group = (size_t)lanes * plan->kernels.sums.size;
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
                  int64_t places, int64_t lanes, const char *divisors, bool uniform, char *reals)
{
    static const double one_f64 = 1;
    static const float one_f32 = 1;
    const pgi_tensor *source = &plan->problem.source;
    const int64_t size = (int64_t)plan->problem.element_size;
    const int64_t step = source->stride[PGI_SPATIAL + 2], lane_step = source->stride[PGI_CHANNEL];
    const size_t real = plan->kernels.sums.size;
    int64_t i;

    if (!divisors)
        divisors = real == sizeof one_f64 ? (const char *)&one_f64 : (const char *)&one_f32;
    memory += pgi_row_offset(source, d, h, w) * size;
    if (lanes == 1) {
        plan->kernels.terms(reals, memory, step, divisors, !uniform, places);
    } else if (uniform && lane_step == 1 && step == lanes) {
        plan->kernels.terms(reals, memory, 1, divisors, 0, places * lanes);
    } else {
        for (i = 0; i < places; i++)
            plan->kernels.terms(reals + (size_t)(i * lanes) * real, memory + i * step * size,
                                lane_step, divisors + (uniform ? 0 : (size_t)i * real), 0, lanes);
    }
}
