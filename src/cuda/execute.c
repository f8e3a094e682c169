/* SPDX-License-Identifier: MIT */
/* Executing a plan: checks of the memory, and the launches. */
#include "core/status.h"
#include "core/window.h"
#include "cuda/plan.h"
#include "plan/buffers.h"

/* What the first word of the workspace holds while all indices are good: the driver fills bytes. */
#define ALL_GOOD UINT64_MAX

/* Memory must be the device's. Managed memory is. */
static poolgrad_status check_pointer(const poolgrad_cuda_plan *plan, const void *pointer,
                                     const char *name, poolgrad_error *error)
{
    const pgi_cuda_driver *driver = plan->device->driver;
    const pgi_cuda_address address = (uintptr_t)pointer;
    int type = 0, ordinal = -1;

    if (!pointer)
        return POOLGRAD_OK;
    if (driver->pointer_attribute(&type, PGI_CUDA_POINTER_MEMORY_TYPE, address) !=
            PGI_CUDA_SUCCESS ||
        type != PGI_CUDA_MEMORY_DEVICE)
        return pgi_fail(error, POOLGRAD_ERR_POINTER,
                        "buffers.%s is %p, which is no memory of a device; it must be of device %d",
                        name, pointer, (int)plan->device->ordinal);
    if (driver->pointer_attribute(&ordinal, PGI_CUDA_POINTER_DEVICE, address) == PGI_CUDA_SUCCESS &&
        ordinal != plan->device->ordinal)
        return pgi_fail(error, POOLGRAD_ERR_POINTER,
                        "buffers.%s is memory of device %d; the plan is for device %d", name,
                        ordinal, (int)plan->device->ordinal);
    return POOLGRAD_OK;
}

static poolgrad_status check_memory(const poolgrad_cuda_plan *plan, const poolgrad_buffers *read,
                                    const pgi_work *work, poolgrad_error *error)
{
    const pgi_problem *problem = &plan->problem;
    const poolgrad_op op = problem->desc.op;

    PGI_TRY(pgi_buffers_check(problem, read, work, plan->workspace, error));
    if (plan->workspace && !read->workspace)
        return pgi_fail(error, POOLGRAD_ERR_NULL,
                        "buffers.workspace is NULL; the plan needs %zu bytes", plan->workspace);
    if (plan->workspace && (uintptr_t)read->workspace % sizeof(int64_t))
        return pgi_fail(error, POOLGRAD_ERR_MISALIGNED,
                        "buffers.workspace is %p; it must be a multiple of %zu", read->workspace,
                        sizeof(int64_t));
    if (problem->source.elements > 0)
        PGI_TRY(check_pointer(plan, work->source, pgi_source_name(op), error));
    if (problem->target.elements > 0)
        PGI_TRY(check_pointer(plan, work->target, pgi_target_name(op), error));
    if (problem->has_x && problem->x.elements > 0)
        PGI_TRY(check_pointer(plan, work->x, "x", error));
    if (problem->has_indices && problem->indices.elements > 0)
        PGI_TRY(op == POOLGRAD_MAX ? check_pointer(plan, work->indices_out, "indices_out", error)
                                   : check_pointer(plan, work->indices, "indices", error));
    if (plan->workspace)
        PGI_TRY(check_pointer(plan, read->workspace, "workspace", error));
    return POOLGRAD_OK;
}

/* The stream's context must be the plan's. */
static poolgrad_status check_stream(const poolgrad_cuda_plan *plan, void *stream,
                                    poolgrad_error *error)
{
    void *context = NULL;
    int result;

    if (!stream)
        return POOLGRAD_OK;
    result = plan->device->driver->stream_context(stream, &context);
    if (result != PGI_CUDA_SUCCESS)
        return pgi_cuda_fail(plan->device->driver, result, "looking at the stream", error);
    if (context != plan->device->context)
        return pgi_fail(error, POOLGRAD_ERR_POINTER,
                        "the stream is not one of device %d's primary context",
                        (int)plan->device->ordinal);
    return POOLGRAD_OK;
}

/* What both public functions begin with; the device is then the current one, whatever is returned
 * once *entered is true. */
static poolgrad_status enter(const poolgrad_cuda_plan *plan, const poolgrad_buffers *buffers,
                             void *stream, poolgrad_buffers *read, pgi_work *work, bool *entered,
                             poolgrad_error *error)
{
    *entered = false;
    if (!plan)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "plan is NULL");
    PGI_TRY(pgi_buffers_read(&plan->problem, buffers, read, work, error));
    PGI_TRY(pgi_cuda_device_enter(plan->device, error));
    *entered = true;
    PGI_TRY(check_memory(plan, read, work, error));
    return check_stream(plan, stream, error);
}

/* A part may be empty, and the workspace then NULL. */
static void *part(const poolgrad_buffers *read, size_t at)
{
    return at == PGI_CUDA_NOWHERE || !read->workspace ? NULL : (char *)read->workspace + at;
}

static pgi_cuda_memory memory_of(const pgi_cuda_step *step, const poolgrad_buffers *read,
                                 const pgi_work *work)
{
    pgi_cuda_memory memory = {
        .source = work->source,
        .target = work->target,
        .x = work->x,
        .indices = work->indices,
        .indices_out = work->indices_out,
        .bad = read->workspace,
        .sums_in = part(read, step->sums_in),
        .sums_out = part(read, step->sums_out),
    };

    if (step->places_in != PGI_CUDA_NOWHERE)
        memory.indices = part(read, step->places_in);
    if (step->places_out != PGI_CUDA_NOWHERE) { /* a forward pass over x for the winners alone */
        memory.source = work->x;
        memory.target = NULL;
        memory.indices_out = part(read, step->places_out);
    }
    return memory;
}

static bool make_map(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step, const void *tensor,
                     const pgi_cuda_boxes *boxes, pgi_cuda_map *map)
{
    static const unsigned steps[PGI_CUDA_MAP_AXES] = {1, 1, 1, 1};

    return plan->device->driver->map_tensor(map->words, step->map_type, PGI_CUDA_MAP_AXES, tensor,
                                            boxes->extent, boxes->distance, boxes->box, steps, 0, 0,
                                            0, 0) == PGI_CUDA_SUCCESS;
}

/* The driver makes none of tensors that do not begin at a multiple of 16 bytes. */
static pgi_cuda_maps maps_of(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step,
                             const pgi_cuda_memory *memory)
{
    pgi_cuda_maps maps = {0};

    maps.there = step->has_boxes && make_map(plan, step, memory->x, &step->x, &maps.x) &&
                 make_map(plan, step, memory->source, &step->dy, &maps.dy) &&
                 make_map(plan, step, memory->target, &step->dx, &maps.dx);
    return maps;
}

static int launch(const poolgrad_cuda_plan *plan, const pgi_cuda_step *step, void *stream,
                  void **parameters)
{
    pgi_cuda_attribute early = {.id = PGI_CUDA_LAUNCH_EARLY, .value = {.allowed = 1}};
    const pgi_cuda_launch made = {
        .grid_x = step->grid_x,
        .grid_y = step->grid_y,
        .grid_z = 1,
        .block_x = (unsigned)step->block,
        .block_y = 1,
        .block_z = 1,
        .shared = (unsigned)step->shared,
        .stream = stream,
        .attributes = &early,
        .attribute_count = step->early && plan->device->overlaps ? 1 : 0,
    };

    return plan->device->driver->launch(&made, step->function, parameters, NULL);
}

static poolgrad_status launch_all(const poolgrad_cuda_plan *plan, const poolgrad_buffers *read,
                                  const pgi_work *work, void *stream, poolgrad_error *error)
{
    const pgi_cuda_driver *driver = plan->device->driver;
    int i, result;

    if (plan->checks) {
        result = driver->fill((uintptr_t)read->workspace, 0xff, sizeof(uint64_t), stream);
        if (result != PGI_CUDA_SUCCESS)
            return pgi_cuda_fail(driver, result, "writing to the workspace", error);
    }
    for (i = 0; i < plan->steps; i++) {
        pgi_cuda_step step = plan->step[i]; /* the driver's pointers are not to const */
        pgi_cuda_memory memory = memory_of(&step, read, work);
        void *parameters[] = {&step.parameters, &memory, NULL};
        pgi_cuda_maps maps;

        if (step.grid_x == 0)
            continue;
        if (step.takes_maps) {
            maps = maps_of(plan, &step, &memory);
            parameters[1] = &maps;
            parameters[2] = &memory;
        }
        result = launch(plan, &step, stream, parameters);
        if (result != PGI_CUDA_SUCCESS)
            return pgi_cuda_fail(driver, result, "launching a kernel", error);
    }
    return POOLGRAD_OK;
}

poolgrad_status poolgrad_cuda_execute(const poolgrad_cuda_plan *plan,
                                      const poolgrad_buffers *buffers, void *stream,
                                      poolgrad_error *error)
{
    poolgrad_buffers read;
    poolgrad_status status;
    pgi_work work;
    bool entered;

    status = enter(plan, buffers, stream, &read, &work, &entered, error);
    if (status == POOLGRAD_OK)
        status = launch_all(plan, &read, &work, stream, error);
    if (entered)
        pgi_cuda_device_leave(plan->device);
    return status == POOLGRAD_OK ? pgi_ok(error) : status;
}

/* Waits, and fetches the word in the workspace and, if it names a bad index, that index. */
static poolgrad_status fetch_bad_index(const poolgrad_cuda_plan *plan, const poolgrad_buffers *read,
                                       void *stream, uint64_t *bad, int64_t *index,
                                       poolgrad_error *error)
{
    const pgi_cuda_driver *driver = plan->device->driver;
    const pgi_problem *problem = &plan->problem;
    int64_t stored = 0;
    int result = driver->stream_wait(stream);

    *bad = ALL_GOOD;
    if (result == PGI_CUDA_SUCCESS && plan->checks) {
        result = driver->copy_to_host(bad, (uintptr_t)read->workspace, sizeof *bad, stream);
        if (result == PGI_CUDA_SUCCESS)
            result = driver->stream_wait(stream);
    }
    if (result == PGI_CUDA_SUCCESS && *bad != ALL_GOOD) {
        const int64_t at = pgi_index_offset_of_element(problem, (int64_t)*bad);

        result = driver->copy_to_host(
            &stored, (uintptr_t)((const char *)read->indices + at * (int64_t)problem->index_size),
            problem->index_size, stream);
        if (result == PGI_CUDA_SUCCESS)
            result = driver->stream_wait(stream);
    }
    *index = pgi_index_load(problem->indexing.type, &stored, 0);
    return result == PGI_CUDA_SUCCESS
               ? POOLGRAD_OK
               : pgi_cuda_fail(driver, result, "waiting for the device", error);
}

poolgrad_status poolgrad_cuda_check(const poolgrad_cuda_plan *plan, const poolgrad_buffers *buffers,
                                    void *stream, poolgrad_error *error)
{
    poolgrad_buffers read;
    poolgrad_status status;
    uint64_t bad = ALL_GOOD;
    int64_t index = 0;
    pgi_work work;
    bool entered;

    status = enter(plan, buffers, stream, &read, &work, &entered, error);
    if (status == POOLGRAD_OK)
        status = fetch_bad_index(plan, &read, stream, &bad, &index, error);
    if (entered)
        pgi_cuda_device_leave(plan->device);
    if (status != POOLGRAD_OK)
        return status;
    return bad == ALL_GOOD ? pgi_ok(error)
                           : pgi_bad_index(&plan->problem, (int64_t)bad, index, error);
}
