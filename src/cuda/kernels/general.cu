// SPDX-License-Identifier: MIT
// Everything, literally: docs/arithmetic.md with a thread per element, in 64-bit integers. What
// other kernels do not do is done here.
#include "cuda/kernels/element.cuh"
#include "cuda/kernels/general.h"

#include "core/window.h"

#include <math_constants.h>

// Element (batch, channel, at) of the whole, in elements from the first of the view.
__device__ static int64_t offset_of(const pgi_tensor *tensor, const int64_t at[PGI_AXES])
{
    int64_t offset = 0;

    for (int i = 0; i < PGI_AXES; i++)
        offset += (at[i] - tensor->offset[i]) * tensor->stride[i];
    return offset;
}

// The element-th place of a box, row-major, in the whole.
__device__ static void place_of(int64_t element, const int64_t extent[PGI_AXES],
                                const int64_t begin[PGI_AXES], int64_t at[PGI_AXES])
{
    for (int i = PGI_AXES - 1; i >= 0; element /= extent[i], i--)
        at[i] = begin[i] + element % extent[i];
}

__device__ static int64_t first_element()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static int64_t element_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

// The sum of a run, its terms being term(0), term(1), ...: blocks of powers of two, the largest
// first. block[j] holds the last whole block of 2^j terms, as a counter holds its bits.
template <typename Real, typename Term> __device__ static Real sum_of_run(int64_t count, Term term)
{
    Real block[63];
    Real sum = 0;
    bool begun = false;

    for (int64_t i = 0; i < count; i++) {
        Real value = term(i);
        int level = 0;

        for (; i >> level & 1; level++)
            value = block[level] + value;
        block[level] = value;
    }
    for (int level = 62; level >= 0; level--) {
        if (count >> level & 1) {
            sum = begun ? sum + block[level] : block[level];
            begun = true;
        }
    }
    return sum;
}

// What is summed first.
template <typename T>
__device__ static pgi_real<T> first_term(const pgi_problem *problem, const T *source,
                                         const int64_t at[PGI_AXES])
{
    const pgi_real<T> value = widen(source[offset_of(&problem->source, at)]);
    int64_t count;

    if (pgi_is_forward(problem->desc.op))
        return value + 0;
    count = pgi_window_divisor(problem, at + PGI_SPATIAL);
    return count ? value / (pgi_real<T>)count + 0 : 0;
}

template <typename T>
__device__ static void average_pass(const pgi_cuda_general &pass, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_problem *problem = &pass.problem;
    const pgi_gather *gather = &problem->gather[pass.axis];
    const pgi_tensor *target = &problem->target;
    const int axis = PGI_SPATIAL + pass.axis;
    int64_t extent[PGI_AXES], begin[PGI_AXES], step = 1;

    for (int i = 0; i < PGI_AXES; i++) {
        const bool summed = i <= axis; // batch and channels too are those of the target

        extent[i] = summed ? target->extent[i] : pass.held[i - PGI_SPATIAL];
        begin[i] = summed ? target->offset[i] : pass.begin[i - PGI_SPATIAL];
    }
    for (int i = axis + 1; i < PGI_AXES; i++)
        step *= extent[i]; // from place to place of the axis, in an array of sums
    for (int64_t e = first_element(); e < pass.count; e += element_step()) {
        const int64_t within = e % step, before = e / step / extent[axis];
        int64_t at[PGI_AXES];
        Real sum;

        place_of(e, extent, begin, at);
        const pgi_run run = pgi_gather_run(gather, at[axis]);
        sum = sum_of_run<Real>(run.count, [&](int64_t i) -> Real {
            const int64_t place = run.first + i * gather->q, held = pass.held[pass.axis];
            const int64_t here = place - pass.begin[pass.axis];
            int64_t from[PGI_AXES];

            if (here < 0 || here >= held)
                return 0;
            if (!pass.first)
                return ((const Real *)memory.sums_in)[(before * held + here) * step + within];
            for (int k = 0; k < PGI_AXES; k++)
                from[k] = at[k];
            from[axis] = place;
            return first_term<T>(problem, (const T *)memory.source, from);
        });
        if (!pass.last) {
            ((Real *)memory.sums_out)[e] = sum;
            continue;
        }
        if (pgi_is_forward(problem->desc.op)) {
            const int64_t count = pgi_window_divisor(problem, at + PGI_SPATIAL);

            sum = count ? sum / (Real)count : 0;
        }
        store((T *)memory.target + offset_of(target, at), sum, (Real)pass.alpha, (Real)pass.beta);
    }
}

// Whether `value` wins against what was the best before it in row-major order.
template <typename Real> __device__ static bool beats(poolgrad_nan rule, Real value, Real best)
{
    if (rule == POOLGRAD_NAN_FIRST && isnan(value))
        return !isnan(best);
    if (rule == POOLGRAD_NAN_LAST && isnan(value))
        return true;
    if (rule == POOLGRAD_NAN_SKIP && isnan(best))
        return !isnan(value);
    return value > best;
}

// y and its indices; the taps of a window one by one.
template <typename T>
__device__ static void maximum(const pgi_cuda_general &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_problem *problem = &all.problem;
    const pgi_tensor *y = &problem->target;

    for (int64_t e = first_element(); e < all.count; e += element_step()) {
        int64_t o[PGI_AXES], at[PGI_AXES], index = -1;
        Real best = -CUDART_INF;
        pgi_run taps[3];

        place_of(e, y->extent, y->offset, o);
        for (int i = 0; i < 3; i++)
            taps[i] = pgi_run_clip(pgi_gather_run(&problem->taps[i], o[PGI_SPATIAL + i]),
                                   problem->taps[i].q, problem->axis[i].in);
        at[PGI_BATCH] = o[PGI_BATCH];
        at[PGI_CHANNEL] = o[PGI_CHANNEL];
        for (int64_t d = 0; d < taps[0].count; d++) {
            for (int64_t h = 0; h < taps[1].count; h++) {
                for (int64_t w = 0; w < taps[2].count; w++) {
                    at[2] = taps[0].first + d * problem->taps[0].q;
                    at[3] = taps[1].first + h * problem->taps[1].q;
                    at[4] = taps[2].first + w * problem->taps[2].q;
                    const Real value =
                        widen(((const T *)memory.source)[offset_of(&problem->source, at)]);

                    if (index >= 0 && !beats(problem->desc.nan, value, best))
                        continue;
                    best = value;
                    index = pgi_index_of_winner(problem, o[PGI_BATCH], o[PGI_CHANNEL],
                                                o + PGI_SPATIAL, at + PGI_SPATIAL);
                }
            }
        }
        if (memory.target)
            store((T *)memory.target + offset_of(y, o), best, (Real)all.alpha, (Real)all.beta);
        if (memory.indices_out)
            pgi_index_store(problem->indexing.type, memory.indices_out,
                            offset_of(&problem->indices, o), index);
    }
}

// dx from indices: every position asks the windows that cover it, in ascending order. An index that
// names no tap of its window is nobody's.
template <typename T>
__device__ static void maximum_gradient(const pgi_cuda_general &all, const pgi_cuda_memory &memory)
{
    typedef pgi_real<T> Real;
    const pgi_problem *problem = &all.problem;
    const pgi_tensor *dx = &problem->target;
    const int64_t height = problem->axis[1].in, width = problem->axis[2].in;

    for (int64_t e = first_element(); e < all.count; e += element_step()) {
        int64_t p[PGI_AXES], o[PGI_AXES];
        pgi_run windows[3];
        Real sum = 0;

        place_of(e, dx->extent, dx->offset, p);
        for (int i = 0; i < 3; i++)
            windows[i] = pgi_run_clip(pgi_gather_run(&problem->gather[i], p[PGI_SPATIAL + i]),
                                      problem->gather[i].q, problem->axis[i].out);
        int64_t mine = pgi_index_of_place(&problem->indexing, p[PGI_BATCH], p[PGI_CHANNEL],
                                          (p[2] * height + p[3]) * width + p[4]);

        o[PGI_BATCH] = p[PGI_BATCH];
        o[PGI_CHANNEL] = p[PGI_CHANNEL];
        for (int64_t d = 0; d < windows[0].count; d++) {
            for (int64_t h = 0; h < windows[1].count; h++) {
                for (int64_t w = 0; w < windows[2].count; w++) {
                    o[2] = windows[0].first + d * problem->gather[0].q;
                    o[3] = windows[1].first + h * problem->gather[1].q;
                    o[4] = windows[2].first + w * problem->gather[2].q;
                    if (problem->indexing.window)
                        mine = pgi_window_tap(problem, o + PGI_SPATIAL, p + PGI_SPATIAL);
                    if (pgi_index_load(problem->indexing.type, memory.indices,
                                       offset_of(&problem->indices, o)) == mine)
                        sum =
                            sum + widen(((const T *)memory.source)[offset_of(&problem->source, o)]);
                }
            }
        }
        store((T *)memory.target + offset_of(dx, p), sum, (Real)all.alpha, (Real)all.beta);
    }
}

#define GENERAL(name, body, suffix, type)                                                          \
    extern "C" __global__ void __launch_bounds__(128) pgi_##name##_##suffix(                       \
        const __grid_constant__ pgi_cuda_general all, const pgi_cuda_memory memory)                \
    {                                                                                              \
        body<type>(all, memory);                                                                   \
    }

#define GENERAL_TYPES(name, body)                                                                  \
    GENERAL(name, body, f32, float)                                                                \
    GENERAL(name, body, f64, double)                                                               \
    GENERAL(name, body, f16, pgi_f16)                                                              \
    GENERAL(name, body, bf16, pgi_bf16)

GENERAL_TYPES(average_pass, average_pass)
GENERAL_TYPES(maximum, maximum)
GENERAL_TYPES(maximum_gradient, maximum_gradient)

// Every index of the dy view against its window.
extern "C" __global__ void __launch_bounds__(128)
    pgi_check_indices(const __grid_constant__ pgi_cuda_general all, const pgi_cuda_memory memory)
{
    const pgi_problem *problem = &all.problem;

    for (int64_t e = first_element(); e < all.count; e += element_step()) {
        int64_t o[PGI_AXES], position[3], index;

        place_of(e, problem->source.extent, problem->source.offset, o);
        index =
            pgi_index_load(problem->indexing.type, memory.indices, offset_of(&problem->indices, o));
        if (pgi_check_index(problem, o[PGI_BATCH], o[PGI_CHANNEL], o + PGI_SPATIAL, index,
                            position) == PGI_INDEX_BAD)
            atomicMin(memory.bad, (unsigned long long)e);
    }
}
