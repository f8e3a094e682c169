/* SPDX-License-Identifier: MIT */
/*
 * Nothing outside the buffers is touched, and no allocation is lost: buffers that begin and that
 * end at pages without access, allocation failure at every site, executions that allocate nothing.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --------------------------------------------------------------- guard pages */

typedef struct guarded {
    char *pages;
    size_t length;
    char *memory; /* `bytes` of it, flush with one of the guards */
} guarded;

static guarded guard(size_t bytes, int at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inside = (bytes + page - 1) / page * page;
    guarded g;

    g.length = inside + 2 * page;
    g.pages = mmap(NULL, g.length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(g.pages != MAP_FAILED);
    assert_int_equal(mprotect(g.pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(g.pages + page + inside, page, PROT_NONE), 0);
    g.memory = g.pages + page + (at_end ? inside - bytes : 0);
    return g;
}

static void unguard(guarded *g)
{
    assert_int_equal(munmap(g->pages, g->length), 0);
}

/* Where element 0 of a view lies in memory that starts at its lowest element. */
static size_t first_of(const sup_memory *memory)
{
    return (size_t)((const char *)memory->first - (const char *)memory->allocation);
}

static void run_guarded(const fixture *f, const char *cpu, int at_end)
{
    poolgrad_options options = options_for(NULL, 2);
    poolgrad_buffers buffers;
    poolgrad_error error;
    poolgrad_plan *plan;
    guarded dy, dx, workspace;
    sup_memory expected = copy_of_dx(f);

    run_into(f, &options, expected.first);
    options.cpu = cpu;
    assert_int_equal(poolgrad_plan_create(&plan, &f->desc, &options, &error), POOLGRAD_OK);
    dy = guard(f->dy.bytes, at_end);
    dx = guard(f->dx.bytes, at_end);
    workspace = guard(poolgrad_plan_workspace(plan) + 1, at_end);
    memcpy(dy.memory, f->dy.allocation, f->dy.bytes);
    memcpy(dx.memory, f->dx.allocation, f->dx.bytes);
    poolgrad_buffers_init(&buffers);
    buffers.dy = dy.memory + first_of(&f->dy);
    buffers.dx = dx.memory + first_of(&f->dx);
    buffers.workspace = workspace.memory + at_end;
    buffers.workspace_size = poolgrad_plan_workspace(plan);
    if (poolgrad_execute(plan, &buffers, &error))
        fail_msg("%s: %s", f->text, error.message);
    assert_same_dx(f, expected.first, buffers.dx, "guarded");
    poolgrad_plan_destroy(plan);
    unguard(&dy);
    unguard(&dx);
    unguard(&workspace);
    sup_view_free(&expected);
}

static void guard_pages(void **state)
{
    const int problems = scaled(1500);
    const char *cpu;
    sup_rng rng;
    size_t c;
    int i;

    (void)state;
    sup_rng_seed(&rng, 99);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;
        fixture f;

        sup_random_problem(&rng, NULL, &desc);
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)i);
        for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
            run_guarded(&f, cpu, 0);
            run_guarded(&f, cpu, 1);
        }
        fixture_free(&f);
    }
}

/* ---------------------------------------------------------------- allocation */

typedef struct allocator {
    int calls, fail_at; /* the fail_at-th call gives NULL; 0: none does */
    int live;
} allocator;

static void *counted_allocate(void *context, size_t bytes)
{
    allocator *a = context;

    if (++a->calls == a->fail_at)
        return NULL;
    a->live++;
    return malloc(bytes);
}

static void counted_release(void *context, void *memory)
{
    allocator *a = context;

    assert_non_null(memory);
    a->live--;
    free(memory);
}

static poolgrad_options counted_options(allocator *a, const char *strategy)
{
    poolgrad_options options = options_for(strategy, 3);

    memset(a, 0, sizeof *a);
    options.allocate = counted_allocate;
    options.release = counted_release;
    options.allocator_context = a;
    return options;
}

/* Plan, execute without workspace, destroy; returns what the first failing step said. */
static poolgrad_status attempt(const fixture *f, const poolgrad_options *options,
                               poolgrad_error *error)
{
    poolgrad_buffers buffers;
    poolgrad_status status;
    poolgrad_plan *plan;

    status = poolgrad_plan_create(&plan, &f->desc, options, error);
    if (status)
        return status;
    poolgrad_buffers_init(&buffers);
    buffers.dy = f->dy.first;
    buffers.dx = f->dx.first;
    status = poolgrad_execute(plan, &buffers, error);
    poolgrad_plan_destroy(plan);
    return status;
}

static void allocation_failure(void **state)
{
    const char *strategy;
    size_t s;

    (void)state;
    for (s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++) {
        poolgrad_options options;
        poolgrad_error error;
        sup_memory before;
        allocator a;
        fixture f;
        int sites, i;

        fixture_parse(&f, "avg2d:f32:nchw:2x3x40x50:k3:p1", SUP_UNIFORM, 1);
        before = copy_of_dx(&f);
        options = counted_options(&a, strategy);
        assert_int_equal(attempt(&f, &options, &error), POOLGRAD_OK);
        assert_int_equal(a.live, 0);
        sites = a.calls;
        assert_true(sites >= 2);
        memcpy(f.dx.allocation, before.allocation, before.bytes);
        for (i = 1; i <= sites; i++) {
            options = counted_options(&a, strategy);
            a.fail_at = i;
            assert_int_equal(attempt(&f, &options, &error), POOLGRAD_ERR_MEMORY);
            assert_non_null(strstr(error.message, "the allocator gave no "));
            assert_int_equal(a.live, 0);
            assert_memory_equal(f.dx.allocation, before.allocation, before.bytes);
        }
        sup_view_free(&before);
        fixture_free(&f);
    }
}

/* A plan that cannot be made gives back what it took. */
static void failed_plans_release(void **state)
{
    poolgrad_options options;
    const char *strategy;
    poolgrad_plan *plan;
    poolgrad_desc desc;
    allocator a;
    size_t s;

    (void)state;
    poolgrad_desc_parse("avg2d:f32:nchw:2x3x8x8:k3", &desc, NULL);
    options = counted_options(&a, "no such strategy");
    assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_ERR_OPTION);
    assert_true(a.calls > 0 && a.live == 0);
    options = counted_options(&a, NULL);
    options.cpu = "no such cpu";
    assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_ERR_OPTION);
    assert_int_equal(a.live, 0);
    /* sums that no memory can hold: refused when planning, not when executing */
    poolgrad_desc_parse("avg1d:f64:strided/ncw:1x1x1:k576460752303423488:p576460752303423487:"
                        "dystride=0,0,0:div=1",
                        &desc, NULL);
    for (s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++) {
        options = counted_options(&a, strategy);
        assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_ERR_OVERFLOW);
        assert_true(a.calls > 0 && a.live == 0);
    }
}

/* With a workspace an execution calls no allocator; any alignment of it will do. */
static void workspace(void **state)
{
    poolgrad_options options;
    poolgrad_buffers buffers;
    poolgrad_plan *plan;
    sup_memory expected;
    size_t bytes, shift;
    allocator a;
    char *memory;
    fixture f;

    (void)state;
    fixture_parse(&f, "avg3d:f32:ndhwc:1x7x20x20x20:k5:p2", SUP_UNIFORM, 1);
    options = options_for("reference", 1);
    expected = copy_of_dx(&f);
    run_into(&f, &options, expected.first);
    options = counted_options(&a, NULL);
    assert_int_equal(poolgrad_plan_create(&plan, &f.desc, &options, NULL), POOLGRAD_OK);
    bytes = poolgrad_plan_workspace(plan);
    memory = malloc(bytes + 64);
    assert_non_null(memory);
    poolgrad_buffers_init(&buffers);
    buffers.dy = f.dy.first;
    buffers.dx = f.dx.first;
    buffers.workspace_size = bytes;
    a.calls = 0;
    for (shift = 0; shift < 64; shift += 7) {
        /* whatever an earlier use left there does not matter */
        memset(memory, (int)(0xff - shift), bytes + 64);
        buffers.workspace = memory + shift;
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        assert_same_dx(&f, expected.first, f.dx.first, "with a workspace");
    }
    assert_int_equal(a.calls, 0);
    poolgrad_plan_destroy(plan);
    assert_int_equal(a.live, 0);
    free(memory);
    sup_view_free(&expected);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guard_pages),
        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(failed_plans_release),
        cmocka_unit_test(workspace),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
