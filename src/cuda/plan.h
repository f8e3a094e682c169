/* SPDX-License-Identifier: MIT */
/* A plan for a device: the problem, and the launches that compute it. */
#ifndef PGI_CUDA_PLAN_H
#define PGI_CUDA_PLAN_H

#include "cuda/device.h"
#include "cuda/kernels/cell.h"
#include "cuda/kernels/closing.h"
#include "cuda/kernels/general.h"
#include "cuda/kernels/halves.h"
#include "cuda/kernels/layers.h"
#include "cuda/kernels/map.h"
#include "cuda/kernels/march.h"
#include "cuda/kernels/near.h"
#include "cuda/kernels/outer.h"
#include "cuda/kernels/plane.h"
#include "cuda/kernels/plots.h"
#include "cuda/kernels/scatter.h"
#include "cuda/kernels/spread.h"
#include "cuda/kernels/threes.h"
#include "cuda/kernels/whole.h"
#include "plan/backend.h"

#include <poolgrad/cuda.h>

enum {
    PGI_CUDA_STEPS = 4,
    PGI_CUDA_NAME = 48
};

/* "Not in the workspace". */
#define PGI_CUDA_NOWHERE SIZE_MAX

/* A tensor as the copy engine is to know it: elements and distances in bytes of its axes, and
 * elements of the boxes that are moved. */
typedef struct pgi_cuda_boxes {
    uint64_t extent[PGI_CUDA_MAP_AXES], distance[PGI_CUDA_MAP_AXES - 1];
    unsigned box[PGI_CUDA_MAP_AXES];
} pgi_cuda_boxes;

/* One launch. Its kernel takes the parameters and a pgi_cuda_memory. */
typedef struct pgi_cuda_step {
    const char *file; /* of kernels */
    char kernel[PGI_CUDA_NAME];
    int block, shared;
    unsigned grid_x, grid_y;
    void *function;
    int resident; /* blocks on a multiprocessor */
    bool early;   /* it may begin before the last step has ended: its kernel awaits that */

    /* Whether its kernel takes pgi_cuda_maps too, before the memory; and whether tensors have boxes
     * for them, of elements of that type (the driver's number), or there are none. */
    bool takes_maps, has_boxes;
    int map_type;
    pgi_cuda_boxes x, dy, dx;

    pgi_cuda_address table; /* memory of the device that is the plan's, or 0 */

    /* Where in the workspace: sums that are read and written, winners that are read and written in
     * place of indices. */
    size_t sums_in, sums_out, places_in, places_out;

    union {
        pgi_cuda_general general;
        pgi_cuda_whole whole;
        pgi_cuda_spread spread;
        pgi_cuda_spread_dense spread_dense;
        pgi_cuda_halves halves;
        pgi_cuda_threes threes;
        pgi_cuda_near near;
        pgi_cuda_layers layers;
        pgi_cuda_march march;
        pgi_cuda_plane plane;
        pgi_cuda_closing closing;
        pgi_cuda_cell cell;
        pgi_cuda_scatter scatter;
        pgi_cuda_plots plots;
    } parameters;
} pgi_cuda_step;

struct poolgrad_cuda_plan {
    pgi_problem problem;
    pgi_scale scale;
    const pgi_cuda_device *device;
    const char *strategy, *reason;
    pgi_cuda_step step[PGI_CUDA_STEPS];
    int steps;
    bool checks;      /* indices, with the first word of the workspace */
    size_t workspace; /* bytes */
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory);
    void *allocator_context;
};

/* One way of computing problems. */
typedef struct pgi_cuda_strategy {
    const char *name;
    const char *reason;

    /* Adds the steps and the workspace they need, if this is a way. An error is one that no other
     * way would avoid. */
    poolgrad_status (*prepare)(poolgrad_cuda_plan *plan, bool *possible, poolgrad_error *error);
} pgi_cuda_strategy;

/* In the order of preference; the last does everything. NULL behind it. */
extern const pgi_cuda_strategy *const pgi_cuda_strategies[];
extern const pgi_cuda_strategy pgi_cuda_strategy_whole, pgi_cuda_strategy_spread,
    pgi_cuda_strategy_halves, pgi_cuda_strategy_threes, pgi_cuda_strategy_cell,
    pgi_cuda_strategy_near, pgi_cuda_strategy_layers, pgi_cuda_strategy_march,
    pgi_cuda_strategy_closing, pgi_cuda_strategy_plane, pgi_cuda_strategy_general;

/* A step for a kernel of src/cuda/kernels/FILE.cu. */
pgi_cuda_step *pgi_cuda_step_add(poolgrad_cuda_plan *plan, const char *file, const char *kernel,
                                 int block, int shared);

/* Finds the step's kernel on the device; `resident` is then known. */
poolgrad_status pgi_cuda_step_find(poolgrad_cuda_plan *plan, pgi_cuda_step *step,
                                   poolgrad_error *error);

/* Room for so many bytes in the workspace; false if 64 bits do not suffice. */
bool pgi_cuda_reserve(poolgrad_cuda_plan *plan, int64_t count, int64_t size, size_t *at);

/* Whether a number, and a few times that, can be kept in 32 bits. */
static inline bool pgi_cuda_is_small(int64_t number)
{
    return number < INT32_MAX / 8 && number > -(INT32_MAX / 8);
}

/* Whether two tensors have the same elements at the same distances. */
bool pgi_cuda_alike(const pgi_tensor *a, const pgi_tensor *b);

/* Where elements of planes lie; false if rows do not lie at equal distances, or too far apart. */
bool pgi_cuda_plane_strides(const pgi_tensor *tensor, pgi_cuda_strides *strides);

/* Whether 16 bytes of channels lie side by side, in both tensors. */
bool pgi_cuda_has_lanes(const pgi_problem *problem);

/* Where the target's first batch and channel lie in the source. */
int64_t pgi_cuda_source_begin(const pgi_problem *problem);

/* The side of windows that have the same on all axes, stride 1 and filled runs, if it is one of
 * those that are known, which end with a 0; else 0. */
int pgi_cuda_side(const pgi_problem *problem, const int *known);

/* With stride 1: the first source of the first target on an axis, both counted from the first of
 * their views. */
int64_t pgi_cuda_shift(const pgi_problem *problem, int i);

/* What threads go through: images if they have `channels`, planes otherwise, `pieces` threads each;
 * false if there are too many. And the grid of a step that does, once its kernel has been found. */
bool pgi_cuda_outer_make(const pgi_problem *problem, bool channels, int64_t pieces,
                         pgi_cuda_outer *outer);
void pgi_cuda_outer_deal(const poolgrad_cuda_plan *plan, pgi_cuda_step *step,
                         pgi_cuda_outer *outer);

/* Into how long segments a march along so many targets is cut, so that the last round of blocks
 * over the device is not much idler than the others; every segment costs `lost` targets more. */
int64_t pgi_cuda_segment(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step, int64_t blocks,
                         int64_t targets, int64_t lost);

/* Whether all windows are divided by the same number, which is then *divisor. */
bool pgi_cuda_one_divisor(const pgi_problem *problem, int64_t *divisor);

/* "f32", "bf16", ... */
const char *pgi_cuda_type(poolgrad_dtype dtype);

#endif
