/* SPDX-License-Identifier: MIT */
/* Streams, which do everything at once unless they are captured; graphs; events. */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Larger pieces of memory are neither filled nor copied: `bench` has some, and nobody looks. */
#define MOST_REAL ((size_t)64 << 20)

typedef struct fake_graph {
    fake_context *context;
    fake_work *work;
    size_t count, room;
} fake_graph;

typedef struct fake_stream {
    fake_context *context;
    fake_graph *graph; /* that is being captured, or NULL */
    bool invalid;      /* the capture has failed */
    struct fake_stream *next;
} fake_stream;

typedef struct fake_event {
    struct timespec time;
} fake_event;

static fake_stream *streams;

/* Streams that every context has: NULL, and by number the two that the driver's header defines. */
static bool is_default(const void *stream)
{
    return (uintptr_t)stream <= 2;
}

static fake_stream *find(const void *stream)
{
    fake_stream *found;

    for (found = streams; found && found != stream; found = found->next)
        ;
    return found;
}

/* --------------------------------------------------------------------- work */

static int work_on(const fake_work *work)
{
    char *to = work->kind == FAKE_FETCH ? work->host : fake_bytes(work->to, work->bytes);
    const char *from = work->kind == FAKE_FILL ? to : fake_bytes(work->from, work->bytes);

    if (work->kind == FAKE_LAUNCH)
        return FAKE_SUCCESS;
    if (!to || !from)
        return FAKE_INVALID_VALUE;
    if (work->bytes > MOST_REAL)
        return FAKE_SUCCESS;
    if (work->kind == FAKE_FILL)
        memset(to, work->value, work->bytes);
    else
        memmove(to, from, work->bytes);
    return FAKE_SUCCESS;
}

static int record(fake_graph *graph, const fake_work *work)
{
    if (graph->count == graph->room) {
        const size_t room = graph->room ? 2 * graph->room : 16;
        fake_work *more = realloc(graph->work, room * sizeof *more);

        if (!more)
            return FAKE_OUT_OF_MEMORY;
        graph->work = more;
        graph->room = room;
    }
    graph->work[graph->count++] = *work;
    return FAKE_SUCCESS;
}

int fake_put(void *stream, const fake_work *work)
{
    fake_stream *found;

    if (is_default(stream))
        return work_on(work);
    found = find(stream);
    if (!found || found->context != fake_current())
        return FAKE_INVALID_HANDLE;
    return found->graph ? record(found->graph, work) : work_on(work);
}

/* ------------------------------------------------------------------ streams */

FAKE_API int cuStreamCreate(void **stream, unsigned flags)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_stream *made = result || flags > 1 ? NULL : calloc(1, sizeof *made);

    if (!made)
        return fake_end(result ? result : FAKE_INVALID_VALUE);
    made->context = fake_current();
    made->next = streams;
    streams = made;
    fake_born();
    *stream = made;
    return fake_end(result);
}

static void free_graph(fake_graph *graph)
{
    free(graph->work);
    free(graph);
}

FAKE_API int cuStreamDestroy_v2(void *stream)
{
    int result = fake_begin(__func__, FAKE_STARTED);
    fake_stream **link, *found;

    for (link = &streams; (found = *link) && found != stream; link = &found->next)
        ;
    if (!result && !found)
        result = FAKE_INVALID_HANDLE;
    if (!result) {
        *link = found->next;
        if (found->graph)
            free_graph(found->graph);
        free(found);
        fake_died();
    }
    return fake_end(result);
}

FAKE_API int cuStreamGetCtx(void *stream, void **context)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    const fake_stream *found = find(stream);

    if (!result && !found && !is_default(stream))
        result = FAKE_INVALID_HANDLE;
    if (!result)
        *context = found ? found->context : fake_current();
    return fake_end(result);
}

FAKE_API int cuStreamSynchronize(void *stream)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_stream *found = find(stream);

    if (!result && !found && !is_default(stream))
        result = FAKE_INVALID_HANDLE;
    if (!result && found && found->graph) {
        found->invalid = true;
        result = FAKE_CAPTURE_UNSUPPORTED;
    }
    return fake_end(result);
}

FAKE_API int cuCtxSynchronize(void)
{
    return fake_end(fake_begin(__func__, FAKE_CURRENT));
}

/* ------------------------------------------------------------------- graphs */

FAKE_API int cuStreamBeginCapture_v2(void *stream, int mode)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_stream *found = find(stream);

    if (!result && (!found || found->graph || mode < 0 || mode > 2))
        result = FAKE_CAPTURE_UNSUPPORTED;
    if (!result && !(found->graph = calloc(1, sizeof *found->graph)))
        result = FAKE_OUT_OF_MEMORY;
    if (!result) {
        found->graph->context = found->context;
        found->invalid = false;
    }
    return fake_end(result);
}

FAKE_API int cuStreamEndCapture(void *stream, void **graph)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    fake_stream *found = find(stream);

    if (!result && (!found || !found->graph))
        result = FAKE_INVALID_VALUE;
    if (result)
        return fake_end(result);
    *graph = NULL;
    if (found->invalid) {
        free_graph(found->graph);
        result = FAKE_CAPTURE_INVALIDATED;
    } else {
        *graph = found->graph;
        fake_born();
    }
    found->graph = NULL;
    return fake_end(result);
}

static fake_graph *copy_graph(const fake_graph *graph)
{
    fake_graph *copy = calloc(1, sizeof *copy);

    if (!copy || !(copy->work = calloc(graph->count + 1, sizeof *copy->work))) {
        free(copy);
        return NULL;
    }
    copy->context = graph->context;
    copy->count = copy->room = graph->count;
    if (graph->count)
        memcpy(copy->work, graph->work, graph->count * sizeof *graph->work);
    return copy;
}

FAKE_API int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
    int result = fake_begin(__func__, FAKE_CURRENT);

    if (!result && flags)
        result = FAKE_INVALID_VALUE;
    if (!result && !(*executable = copy_graph(graph)))
        result = FAKE_OUT_OF_MEMORY;
    if (!result)
        fake_born();
    return fake_end(result);
}

static int destroy_graph(const char *function, void *graph)
{
    const int result = fake_begin(function, FAKE_STARTED);

    if (!result) {
        free_graph(graph);
        fake_died();
    }
    return fake_end(result);
}

FAKE_API int cuGraphDestroy(void *graph)
{
    return destroy_graph(__func__, graph);
}

FAKE_API int cuGraphExecDestroy(void *executable)
{
    return destroy_graph(__func__, executable);
}

FAKE_API int cuGraphLaunch(void *executable, void *stream)
{
    int result = fake_begin(__func__, FAKE_CURRENT);
    const fake_graph *graph = executable;
    size_t i;

    for (i = 0; !result && i < graph->count; i++)
        result = fake_put(stream, &graph->work[i]);
    return fake_end(result);
}

/* ------------------------------------------------------------------- events */

FAKE_API int cuEventCreate(void **event, unsigned flags)
{
    int result = fake_begin(__func__, FAKE_CURRENT);

    (void)flags;
    if (!result && !(*event = calloc(1, sizeof(fake_event))))
        result = FAKE_OUT_OF_MEMORY;
    if (!result)
        fake_born();
    return fake_end(result);
}

FAKE_API int cuEventDestroy_v2(void *event)
{
    const int result = fake_begin(__func__, FAKE_STARTED);

    if (!result) {
        free(event);
        fake_died();
    }
    return fake_end(result);
}

FAKE_API int cuEventRecord(void *event, void *stream)
{
    int result = fake_begin(__func__, FAKE_CURRENT);

    if (!result && !is_default(stream) && !find(stream))
        result = FAKE_INVALID_HANDLE;
    if (!result)
        clock_gettime(CLOCK_MONOTONIC, &((fake_event *)event)->time);
    return fake_end(result);
}

FAKE_API int cuEventSynchronize(void *event)
{
    (void)event;
    return fake_end(fake_begin(__func__, FAKE_CURRENT));
}

/* Never nothing: work takes time. */
FAKE_API int cuEventElapsedTime(float *milliseconds, void *begin, void *end)
{
    const struct timespec *from = &((fake_event *)begin)->time, *to = &((fake_event *)end)->time;
    const int result = fake_begin(__func__, FAKE_CURRENT);

    *milliseconds = 1e-3F + (float)(to->tv_sec - from->tv_sec) * 1e3F +
                    (float)(to->tv_nsec - from->tv_nsec) * 1e-6F;
    return fake_end(result);
}
