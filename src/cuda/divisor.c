/* SPDX-License-Identifier: MIT */
#include "cuda/plan.h"

/* The windows at the ends of every axis have what the others have. */
bool pgi_cuda_one_divisor(const pgi_problem *problem, int64_t *divisor)
{
    const poolgrad_desc *desc = &problem->desc;
    const bool override = desc->divisor == POOLGRAD_OVERRIDE;
    bool one = true;
    int i;

    *divisor = 1;
    if (pgi_is_max(desc->op))
        return true;
    for (i = 0; i < 3; i++) {
        const pgi_axis *axis = &problem->axis[i];
        const poolgrad_divisor rule = override ? POOLGRAD_EXCLUDE : desc->divisor;
        const int64_t full = axis->adaptive ? axis->in / axis->out : axis->kernel;

        if (override && !pgi_is_forward(desc->op))
            continue; /* a window that reaches a position covers one */
        if (axis->adaptive ? axis->in % axis->out != 0
                           : pgi_axis_count(axis, rule, 0) != full ||
                                 pgi_axis_count(axis, rule, axis->out - 1) != full)
            one = false;
        *divisor *= full;
    }
    if (override)
        *divisor = desc->divisor_override;
    return one;
}
