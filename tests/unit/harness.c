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

void fixture_make(fixture *f, const poolgrad_desc *desc, sup_kind kind, uint64_t seed)
{
    poolgrad_error error;
    sup_rng rng;

    if (poolgrad_desc_print(desc, f->text, sizeof f->text, NULL, &error))
        fail_msg("print: %s", error.message);
    f->desc = *desc;
    if (poolgrad_desc_resolve(&f->desc, &error))
        fail_msg("%s: %s", f->text, error.message);
    assert_int_equal(sup_view_alloc(&f->desc, &f->desc.dy, &f->dy), 0);
    assert_int_equal(sup_view_alloc(&f->desc, &f->desc.dx, &f->dx), 0);
    sup_rng_seed(&rng, seed);
    sup_view_fill(&f->desc, &f->desc.dy, f->dy.first, kind, &rng);
    if (f->desc.beta != 0)
        sup_view_fill(&f->desc, &f->desc.dx, f->dx.first, kind, &rng);
    else
        sup_view_fill(&f->desc, &f->desc.dx, f->dx.first, SUP_NAN, &rng);
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
}

sup_memory copy_of_dx(const fixture *f)
{
    sup_memory copy;

    assert_int_equal(sup_view_alloc(&f->desc, &f->desc.dx, &copy), 0);
    memcpy(copy.allocation, f->dx.allocation, copy.bytes);
    return copy;
}

poolgrad_options options_for(const char *strategy, int threads)
{
    poolgrad_options options;

    poolgrad_options_init(&options);
    options.strategy = strategy;
    options.threads = threads;
    return options;
}

void run_into(const fixture *f, const poolgrad_options *options, void *dx)
{
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;

    if (poolgrad_plan_create(&plan, &f->desc, options, &error))
        fail_msg("%s: %s", f->text, error.message);
    poolgrad_buffers_init(&buffers);
    buffers.dy = f->dy.first;
    buffers.dx = dx;
    if (poolgrad_execute(plan, &buffers, &error))
        fail_msg("%s: %s", f->text, error.message);
    poolgrad_plan_destroy(plan);
}

void assert_same_dx(const fixture *f, const void *expected, const void *actual, const char *what)
{
    const int64_t at = sup_view_difference(&f->desc, &f->desc.dx, expected, actual);
    int64_t offset;

    if (at < 0)
        return;
    offset = sup_view_offset(&f->desc, &f->desc.dx, at);
    fail_msg("%s\n%s: element %lld is %.17g, expected %.17g", f->text, what, (long long)at,
             sup_load(f->desc.dtype, actual, offset), sup_load(f->desc.dtype, expected, offset));
}
