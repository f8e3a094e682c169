/* SPDX-License-Identifier: MIT */
/* The public functions on descriptors; the checks themselves are in problem.c. */
#include "core/integer.h"
#include "core/problem.h"
#include "core/status.h"

#include <inttypes.h>
#include <string.h>

static void whole_view(poolgrad_view *view)
{
    int i;

    view->layout = POOLGRAD_NCX;
    for (i = 0; i < PGI_AXES; i++)
        view->extent[i] = POOLGRAD_WHOLE;
}

poolgrad_status poolgrad_desc_init(poolgrad_desc *desc)
{
    int i;

    if (!desc)
        return POOLGRAD_ERR_NULL;
    memset(desc, 0, sizeof *desc);
    desc->size = sizeof *desc;
    desc->op = POOLGRAD_AVG_GRAD;
    desc->dtype = POOLGRAD_F32;
    desc->rank = 2;
    desc->rounding = POOLGRAD_FLOOR;
    desc->divisor = POOLGRAD_INCLUDE_CLIPPED;
    desc->alpha = 1;
    desc->batch = desc->channels = 1;
    for (i = 0; i < 3; i++)
        desc->stride[i] = desc->dilation[i] = 1;
    desc->winner = POOLGRAD_FROM_INDICES;
    desc->nan = POOLGRAD_NAN_FIRST;
    desc->index_type = POOLGRAD_I64;
    desc->index_base = POOLGRAD_INDEX_TENSOR;
    desc->index_order = POOLGRAD_ROW_MAJOR;
    desc->parity = POOLGRAD_PARITY_OFF;
    whole_view(&desc->dy);
    whole_view(&desc->dx);
    whole_view(&desc->x);
    whole_view(&desc->y);
    whole_view(&desc->indices);
    return POOLGRAD_OK;
}

/* Gives the caller's descriptor, of whatever version, the new contents. */
static poolgrad_status write_back(poolgrad_desc *caller, const poolgrad_desc *filled,
                                  poolgrad_error *error)
{
    const size_t size = caller->size;

    memcpy(caller, filled, size);
    caller->size = size;
    return pgi_ok(error);
}

poolgrad_status poolgrad_desc_set_padding(poolgrad_desc *desc, poolgrad_padding padding,
                                          poolgrad_error *error)
{
    poolgrad_desc filled;
    int i;

    PGI_TRY(pgi_desc_read(&filled, desc, error));
    if (padding < POOLGRAD_VALID || padding > POOLGRAD_SAME_LOWER)
        return pgi_fail(error, POOLGRAD_ERR_ENUM, "padding is %d; it must be a poolgrad_padding",
                        (int)padding);
    if (filled.rounding == POOLGRAD_ADAPTIVE)
        return pgi_fail(error, POOLGRAD_ERR_ENUM, "rounding is adaptive, which has no padding");
    PGI_TRY(pgi_check_rank(filled.rank, error));
    for (i = 0; i < filled.rank; i++) {
        int64_t windows, reach, total = 0;

        PGI_TRY(pgi_check_window(&filled, i, error));
        if (padding != POOLGRAD_VALID) {
            windows = pgi_ceil_div(filled.in[i], filled.stride[i]);
            if (!pgi_mul(windows - 1, filled.stride[i], &reach) ||
                !pgi_add(reach, (filled.kernel[i] - 1) * filled.dilation[i] + 1, &reach))
                return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                                "the padded extent of axis %d does not fit in 64 bits", i);
            total = pgi_max(0, reach - filled.in[i]);
        }
        filled.pad_lo[i] = padding == POOLGRAD_SAME_LOWER ? total - total / 2 : total / 2;
        filled.pad_hi[i] = total - filled.pad_lo[i];
    }
    return write_back(desc, &filled, error);
}

poolgrad_status poolgrad_desc_resolve(poolgrad_desc *desc, poolgrad_error *error)
{
    pgi_problem problem;

    PGI_TRY(pgi_desc_read(&problem.desc, desc, error));
    PGI_TRY(pgi_problem_make(&problem, error));
    return write_back(desc, &problem.desc, error);
}

static void set_place(poolgrad_view *view, int axis, pgi_range range)
{
    view->offset[axis] = range.begin;
    view->extent[axis] = range.end - range.begin;
}

poolgrad_status poolgrad_desc_reach(poolgrad_desc *desc, poolgrad_error *error)
{
    poolgrad_desc filled;
    poolgrad_view *source;
    pgi_problem problem;
    int i;

    PGI_TRY(pgi_desc_read(&filled, desc, error));
    problem.desc = filled;
    PGI_TRY(pgi_problem_geometry(&problem, error));
    source = pgi_source_view(&filled);
    for (i = 0; i < PGI_SPATIAL; i++) {
        const pgi_range same = {problem.target.offset[i],
                                problem.target.offset[i] + problem.target.extent[i]};

        if (problem.has_x)
            set_place(&filled.x, i, same);
        if (problem.has_y)
            set_place(&filled.y, i, same);
        set_place(source, i, same);
    }
    for (i = 0; i < filled.rank; i++) {
        const pgi_range reach = pgi_problem_reach(&problem, i + 3 - filled.rank);

        if (problem.has_x)
            set_place(&filled.x, PGI_SPATIAL + i,
                      pgi_problem_x_reach(&problem, i + 3 - filled.rank));
        if (problem.has_y)
            set_place(&filled.y, PGI_SPATIAL + i, reach);
        set_place(source, PGI_SPATIAL + i, reach);
    }
    return write_back(desc, &filled, error);
}

poolgrad_status poolgrad_dense_strides(poolgrad_layout layout, int32_t rank, const int64_t *extent,
                                       int64_t *stride, poolgrad_error *error)
{
    int64_t filled[PGI_AXES];
    int i;

    if (!extent || !stride)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", extent ? "stride" : "extent");
    PGI_TRY(pgi_check_rank(rank, error));
    if (layout != POOLGRAD_NCX && layout != POOLGRAD_NXC)
        return pgi_fail(error, POOLGRAD_ERR_ENUM,
                        "layout is %d; only POOLGRAD_NCX and POOLGRAD_NXC are dense", (int)layout);
    for (i = 0; i < rank + PGI_SPATIAL; i++)
        if (extent[i] < 0)
            return pgi_fail(error, POOLGRAD_ERR_SHAPE,
                            "extent[%d] is %" PRId64 "; it must be at least 0", i, extent[i]);
    if (!pgi_dense_strides(layout, rank + PGI_SPATIAL, extent, filled))
        return pgi_fail(error, POOLGRAD_ERR_OVERFLOW,
                        "the product of the extents does not fit in 64 bits");
    memcpy(stride, filled, (size_t)(rank + PGI_SPATIAL) * sizeof *stride);
    return pgi_ok(error);
}
