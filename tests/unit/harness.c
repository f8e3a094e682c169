/* SPDX-License-Identifier: MIT */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

int scaled(int count)
{
    const char *text = getenv("POOLGRAD_TEST_SCALE");
    const int percent = text ? atoi(text) : 100;
    const int scaled_count = (int)((int64_t)count * percent / 100);

    return scaled_count < 1 ? 1 : scaled_count;
}

int is_big(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "--big") == 0;
}

static void make_memory(const fixture *f, const poolgrad_view *view, sup_kind kind, sup_rng *rng,
                        sup_memory *memory)
{
    assert_int_equal(sup_view_alloc(&f->desc, view, memory), 0);
    sup_view_fill(&f->desc, view, memory->first, kind, rng);
}

static void make_indices(fixture *f, sup_rng *rng)
{
    const int64_t windows = sup_view_count(&f->desc, &f->desc.dy);
    int64_t *winners = malloc((size_t)(windows + 1) * sizeof *winners);

    assert_non_null(winners);
    assert_int_equal(sup_index_alloc(&f->desc, &f->indices), 0);
    sup_random_winners(&f->desc, rng, winners);
    sup_index_scatter(&f->desc, winners, f->indices.first);
    free(winners);
}

void fixture_make(fixture *f, const poolgrad_desc *desc, sup_kind kind, uint64_t seed)
{
    const double beta = desc->dtype == POOLGRAD_F64 ? desc->beta : (float)desc->beta;
    const sup_kind previous = beta != 0 ? kind : SUP_NAN; /* which nobody may read then */
    poolgrad_error error;
    sup_rng rng;

    memset(f, 0, sizeof *f);
    if (poolgrad_desc_print(desc, f->text, sizeof f->text, NULL, &error))
        fail_msg("print: %s", error.message);
    f->desc = *desc;
    if (poolgrad_desc_resolve(&f->desc, &error))
        fail_msg("%s: %s", f->text, error.message);
    sup_rng_seed(&rng, seed);
    if (sup_is_forward(&f->desc)) {
        make_memory(f, &f->desc.x, kind, &rng, &f->x);
        make_memory(f, &f->desc.y, previous, &rng, &f->y);
        return;
    }
    make_memory(f, &f->desc.dy, kind, &rng, &f->dy);
    make_memory(f, &f->desc.dx, previous, &rng, &f->dx);
    if (f->desc.op == POOLGRAD_MAX_GRAD && f->desc.winner == POOLGRAD_FROM_INDICES)
        make_indices(f, &rng);
    else if (f->desc.op == POOLGRAD_MAX_GRAD)
        make_memory(f, &f->desc.x, kind, &rng, &f->x);
    if (f->desc.op == POOLGRAD_MAX_GRAD && f->desc.winner == POOLGRAD_NEAR_Y)
        make_memory(f, &f->desc.y, kind, &rng, &f->y);
}

void fixture_parse(fixture *f, const char *text, sup_kind kind, uint64_t seed)
{
    poolgrad_desc desc;
    poolgrad_error error;

    if (poolgrad_desc_parse(text, &desc, &error))
        fail_msg("%s: %s", text, error.message);
    fixture_make(f, &desc, kind, seed);
}

void fixture_free(fixture *f)
{
    sup_view_free(&f->dy);
    sup_view_free(&f->dx);
    sup_view_free(&f->x);
    sup_view_free(&f->y);
    sup_view_free(&f->indices);
}

sup_memory *fixture_result(fixture *f)
{
    return sup_is_forward(&f->desc) ? &f->y : &f->dx;
}

const poolgrad_view *fixture_view(const fixture *f)
{
    return sup_view_written(&f->desc);
}

sup_memory copy_of_result(const fixture *f)
{
    const sup_memory *result = sup_is_forward(&f->desc) ? &f->y : &f->dx;
    sup_memory copy;

    assert_int_equal(sup_view_alloc(&f->desc, fixture_view(f), &copy), 0);
    memcpy(copy.allocation, result->allocation, copy.bytes);
    return copy;
}

poolgrad_buffers fixture_buffers(const fixture *f, void *result)
{
    poolgrad_buffers buffers;

    poolgrad_buffers_init(&buffers);
    buffers.dy = f->dy.first;
    buffers.dx = f->dx.first;
    buffers.x = f->x.first;
    buffers.y = f->y.first;
    buffers.indices = f->indices.first;
    if (result && sup_is_forward(&f->desc))
        buffers.y = result;
    else if (result)
        buffers.dx = result;
    return buffers;
}

poolgrad_options options_for(const char *strategy, int threads)
{
    poolgrad_options options;

    poolgrad_options_init(&options);
    options.strategy = strategy;
    options.threads = threads;
    return options;
}

int strategy_applies(const fixture *f, const char *strategy)
{
    const poolgrad_options options = options_for(strategy, 1);
    poolgrad_plan *plan;
    const poolgrad_status status = poolgrad_plan_create(&plan, &f->desc, &options, NULL);

    poolgrad_plan_destroy(plan);
    if (status != POOLGRAD_OK)
        assert_int_equal(status, POOLGRAD_ERR_UNSUPPORTED);
    return status == POOLGRAD_OK;
}

void run_with_indices(const fixture *f, const poolgrad_options *options, void *result,
                      void *indices_out)
{
    poolgrad_buffers buffers = fixture_buffers(f, result);
    poolgrad_error error;
    poolgrad_plan *plan;

    if (poolgrad_plan_create(&plan, &f->desc, options, &error))
        fail_msg("%s: %s", f->text, error.message);
    buffers.indices_out = indices_out;
    if (poolgrad_execute(plan, &buffers, &error))
        fail_msg("%s: %s", f->text, error.message);
    poolgrad_plan_destroy(plan);
}

void run_into(const fixture *f, const poolgrad_options *options, void *result)
{
    run_with_indices(f, options, result, NULL);
}

void assert_same_result(const fixture *f, const void *expected, const void *actual,
                        const char *what)
{
    const int64_t at = sup_view_difference(&f->desc, fixture_view(f), expected, actual);
    int64_t offset;

    if (at < 0)
        return;
    offset = sup_view_offset(&f->desc, fixture_view(f), at);
    fail_msg("%s\n%s: element %lld is %.17g, expected %.17g", f->text, what, (long long)at,
             sup_load(f->desc.dtype, actual, offset), sup_load(f->desc.dtype, expected, offset));
}
