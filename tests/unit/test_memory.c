/* SPDX-License-Identifier: MIT */
/*
 * Nothing outside the buffers is touched, and no allocation is lost: buffers that begin and that
 * end at pages without access, allocation failure at every site, executions that allocate nothing.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "allocator.h"
#include "guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --------------------------------------------------------------- guard pages */

/* The result must be that of a strategy (NULL: the one that is chosen) without guards. */
static void run_guarded(const fixture *f, const char *strategy, const char *cpu, int at_end)
{
    poolgrad_options options = options_for(NULL, 2), other = options_for(strategy, 2);
    sup_memory expected = copy_of_result(f), indices = {0};
    guarded_fixture g;
    guarded workspace, indices_out = {0};
    poolgrad_error error;
    poolgrad_plan *plan;

    options.cpu = cpu;
    assert_int_equal(poolgrad_plan_create(&plan, &f->desc, &options, &error), POOLGRAD_OK);
    guard_fixture(&g, f, at_end);
    workspace = guard(poolgrad_plan_workspace(plan) + 1, at_end);
    g.buffers.workspace = workspace.memory + at_end;
    g.buffers.workspace_size = poolgrad_plan_workspace(plan);
    if (f->desc.op == POOLGRAD_MAX) {
        assert_int_equal(sup_index_alloc(&f->desc, &indices), 0);
        indices_out = guard_copy(&indices, at_end, &g.buffers.indices_out);
    }
    run_with_indices(f, &other, expected.first, indices.first);
    if (poolgrad_execute(plan, &g.buffers, &error))
        fail_msg("%s: %s", f->text, error.message);
    assert_same_result(f, expected.first, sup_is_forward(&f->desc) ? g.buffers.y : g.buffers.dx,
                       "guarded");
    if (indices.first && memcmp(indices.allocation, indices_out.memory, indices.bytes) != 0)
        fail_msg("%s: other indices", f->text);
    poolgrad_plan_destroy(plan);
    unguard_fixture(&g);
    unguard(&workspace);
    unguard(&indices_out);
    sup_view_free(&indices);
    sup_view_free(&expected);
}

static void guard_pages(void **state)
{
    const int problems = scaled(3000);
    sup_limits limits = sup_limits_default();
    const char *cpu;
    sup_rng rng;
    size_t c;
    int i;

    (void)state;
    limits.ops = SUP_ALL_OPS;
    limits.parity = 15;
    sup_rng_seed(&rng, 99);
    for (i = 0; i < problems; i++) {
        poolgrad_desc desc;
        fixture f;

        sup_random_problem(&rng, &limits, &desc);
        fixture_make(&f, &desc, SUP_UNIFORM, (uint64_t)i);
        for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
            run_guarded(&f, NULL, cpu, 0);
            run_guarded(&f, NULL, cpu, 1);
        }
        fixture_free(&f);
    }
}

/* Problems, with %s where their types go: every type and level, data with ties, infinities and NaN,
 * compared with the reference. */
static void run_wide(const char *const *texts, size_t count)
{
    static const char *const types[] = {"f32", "f16", "bf16", "f64"};
    static const sup_kind kinds[] = {SUP_UNIFORM, SUP_TIES, SUP_SPECIALS};
    const char *cpu;
    size_t c, i, k;

    for (i = 0; i < 4 * count; i++) {
        const char *text = texts[i / 4], *rest = strstr(text, "%s") + 2;
        char problem[128];
        fixture f;

        snprintf(problem, sizeof problem, "%.*s%s%s", (int)(rest - 2 - text), text, types[i % 4],
                 rest);
        for (k = 0; k < 3; k++) {
            fixture_parse(&f, problem, kinds[k], i);
            for (c = 0; (cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
                run_guarded(&f, "reference", cpu, 0);
                run_guarded(&f, "reference", cpu, 1);
            }
            fixture_free(&f);
        }
    }
}

/* Maxima whose rows fill vectors, which random problems seldom have: every way to find winners and
 * to sum them, with edges, ties, and NaN by every rule. */
static void wide_maxima(void **state)
{
    static const char *const texts[] = {
        "maxpool2d:%s:nchw:1x2x41x75:k3:s2:p1",       /* every other window, edges, a remainder */
        "maxpool2d:%s:nchw:1x2x40x64:k2:s2:nan=last", /* likewise, without edges */
        "maxpool2d:%s:nchw:1x2x21x45:k2:p1:nan=skip", /* side by side */
        "maxpool2d:%s:nchw:1x2x63x70:k3:s3:nan=leading", /* apart */
        "maxpool1d:%s:ncw:3x2x90:k3:s2:p1:alpha=2",      /* one row: edges cell by cell */
        "maxpool1d:%s:ncw:3x2x120:k4:s2:d3",             /* gaps */
        "maxpool2d:%s:nchw:2x20x30x30:o7x8:adaptive",    /* channels that lie apart */
        "maxpool2d:%s:nhwc:2x35x9x11:k3:s2:p1",          /* channels, a remainder */
        "maxpool2d:%s:nhwc:2x20x9x11:k2:p1:nan=leading",
        "maxpool2d:%s:nhwc:1x32x9x11:o4x3:adaptive",
        "maxpool3d:%s:ndhwc:1x17x5x6x7:k3:s2:p1:nan=last",
        "maxpool3d:%s:ncdhw:1x2x5x6x47:k3:s2:p1:nan=leading", /* rows and planes that are shared */
        "maxpool3d:%s:ncdhw:1x2x6x7x44:k2x3x3:s1x2x2:index=u8:base=window",
        "maxpool3d:%s:ndhwc:1x33x7x9x8:k3:s2:p1:ybox=0+*,4+20,1+2,0+4,1+3",
        "maxpool2d:%s:nhwc:1x33x9x8:k2:s2:ybox=0+*,4+20,1+2,0+3", /* a box */
        "max2d:%s:nchw:1x2x41x75:k3:s2:p1:from=x",
        "max2d:%s:nchw:1x2x40x70:k2:s2:from=x:nan=last", /* positions take */
        "max2d:%s:nchw:1x2x41x71:k2:s2:p1:beta=0.5",
        "max1d:%s:ncw:2x3x101:k3:s2:p1",
        "max1d:%s:ncw:2x3x101:k2:p1:from=x",
        "max2d:%s:nchw:1x2x40x70:k1:s2", /* positions without windows */
        "max2d:%s:nhwc:2x35x9x11:k3:s2:p1",
        "max2d:%s:nhwc:2x35x9x11:k3:s2:p1:from=x:nan=leading",
        "max2d:%s:nhwc:1x16x9x11:k3:p1:from=x",
        "max2d:%s:nhwc:1x32x12x13:k5:s5:p2",             /* one window each */
        "max2d:%s:nhwc:1x32x12x13:k3:s2:d2:p2:base=nxc", /* gaps */
        "max2d:%s:nchw:1x3x12x43:k3:s2:d2:p2",
        "max3d:%s:ndhwc:1x17x5x6x7:k3:s2:p1",
        "max3d:%s:ncdhw:1x2x5x6x47:k3:s2:d2:p2",
        "max3d:%s:ncdhw:1x2x7x9x47:k3:s2:p1:from=x:nan=skip",
        "max3d:%s:ndhwc:1x35x7x9x8:k3:s2:p1:from=x", /* winners as bytes */
        "max3d:%s:ndhwc:1x33x7x9x8:k3:s2:from=x:dxbox=0+*,4+20,1+4,3+2,1+6",
        "max2d:%s:nhwc:1x33x9x8:k3:s2:p1:dxbox=0+*,4+20,3+2,1+6",
        "max2d:%s:strided/nhwc:1x33x9x8:k3:s2:p1:dystride=0,0,0,0",
        "max2d:%s:nhwc/nchw:1x20x9x80:k2:s2",
        "max2d:%s:nchw/nhwc:1x20x9x8:k3:s2:p1:from=x",
        "maxpool2d:%s:nchw:2x35x7x9:k3:s2:p1", /* short rows: channels are turned, a remainder */
        "maxpool1d:%s:ncw:2x20x5:k2:s2:beta=0.5",
        "max2d:%s:nchw:2x35x7x9:k3:s2:p1",
        "max2d:%s:nchw:2x300x3x3:k3:s2:p1:from=x:nan=leading", /* more channels than a block has */
        "max3d:%s:ncdhw:1x33x3x4x5:k2:p1:beta=2:dxbox=0+*,4+20,1+2,0+*,1+3",
    };

    (void)state;
    run_wide(texts, sizeof texts / sizeof texts[0]);
}

/* Likewise averages: every way to add few taps, to spread windows that tile, to total planes, and
 * to pick what is far apart on the last axis. */
static void wide_averages(void **state)
{
    static const char *const texts[] = {
        "avgpool2d:%s:nchw:1x2x9x75:k3:p1:div=exclude", /* side by side, edges, a remainder */
        "avgpool2d:%s:nchw:1x2x9x70:k2:p1",
        "avgpool2d:%s:nchw:1x2x9x70:k3:p2:div=exclude", /* windows that lack two columns */
        "avgpool2d:%s:nchw:1x2x9x75:k3:s2:p1",          /* every other */
        "avgpool2d:%s:nchw:1x2x8x64:k2:s2:alpha=0.5",
        "avgpool2d:%s:nchw:1x2x9x71:k1:s2",
        "avgpool1d:%s:ncw:3x2x90:k3:s2:p1:ceil",
        "avgpool3d:%s:ncdhw:1x2x5x6x37:k2x3x3:s2x1x1:p1:div=exclude",
        "avgpool2d:%s:nhwc:1x16x6x7:k3:p1:div=exclude", /* channels: less than go together, */
        "avgpool2d:%s:nhwc:1x130x5x6:k3:p1",            /* more, and a remainder */
        "avgpool2d:%s:nhwc:1x64x5x6:k2:p1",
        "avgpool2d:%s:nhwc:1x35x7x8:k3:s2:p1:div=exclude",
        "avgpool2d:%s:nhwc:1x20x7x8:k2:s3:p1",
        "avgpool1d:%s:nwc:2x70x31:k3:p1",
        "avgpool3d:%s:ndhwc:1x20x5x6x7:k3x2x3:s3x1x2:p1",
        "avgpool2d:%s:nhwc:1x33x9x8:k3:p1:ybox=0+*,4+20,1+2,3+4", /* a box */
        "avgpool2d:%s:nchw:1x3x9x60:k3:p1:ybox=0+*,1+1,1+2,20+35",
        "avg2d:%s:nchw:2x3x8x70:k2:s2", /* windows that tile */
        "avg2d:%s:nchw:2x3x9x35:k3x1:s3x1:div=7",
        "avg2d:%s:nhwc:2x35x6x8:k2:s2",
        "avg2d:%s:nhwc:1x130x6x6:k3:s3:alpha=3",
        "avg3d:%s:ncdhw:1x2x4x6x40:k2:s2",
        "avg3d:%s:ndhwc:1x33x4x4x6:k2:s2",
        "avg3d:%s:ncdhw:1x2x5x6x37:k3:p1", /* four planes at a time, and the last */
        "avgpool3d:%s:ncdhw:1x1x6x5x40:k3:p1:div=exclude",
        "avg3d:%s:ndhwc:1x35x5x4x6:k3:p1",
        "avg2d:%s:nhwc:3x40x4x6:k2:s2:dxbox=1+1,3+20,0+*,0+*", /* a box of batch and channels */
        "avg2d:%s:nchw:3x5x4x36:k2:s2:dxbox=1+1,2+2,0+*,0+*",
        "avgpool2d:%s:nhwc:2x300x7x7:k7", /* whole planes */
        "avgpool2d:%s:nhwc:2x21x5x16:o1:adaptive",
        "avgpool2d:%s:nchw:1x2x9x75:k3:s3", /* far apart on the last axis */
        "avgpool2d:%s:nchw:1x2x20x90:k5:s4:p2:div=exclude",
        "avgpool2d:%s:nchw:1x2x30x56:o7x13:adaptive",
        "avgpool2d:%s:nhwc:1x5x9x40:k7x6:s5x4",
        "avg2d:%s:nhwc:1x131x4x7:o7x16:adaptive", /* place by place */
        "avgpool2d:%s:nhwc:1x136x7x7:o16:adaptive",
        "avg2d:%s:nhwc/nchw:1x70x5x9:k3:p1", /* channels side by side to planes */
        "avg2d:%s:strided/nchw:1x2x9x11:k3:p1:dystride=396,198,22,1",  /* fetched across gaps */
        "avg2d:%s:strided/nchw:1x2x9x40:k3:p1:dystride=1440,720,80,2", /* every other element */
        "avg2d:%s:nchw:1x1x40x37:k19x31:p9x15",                        /* long runs */
        "avg3d:%s:ncdhw:1x1x24x3x21:k20x1x18:p9x0x8",
        "avgpool2d:%s:nchw:1x3x12x64:k5x3", /* x summed where it lies */
        "avgpool2d:%s:nhwc:1x16x12x7:k5x3:p2x1",
        "avgpool3d:%s:strided/ncdhw:1x3x5x12x16:k2x5x3:xstride=2889,963,192,16,1",
        "avgpool3d:%s:ncdhw:1x1x40x8x16:k32x3x3",
        "avgpool3d:%s:ndhwc:1x16x40x8x5:k33x3x3:p16x1x1",
        "avgpool3d:%s:ncdhw:1x1x3x70x16:k1x63x3:p1x31x1",
        "avg2d:%s:nchw:2x70x7x7:k5:p2:div=exclude", /* many channels of short rows */
        "avg2d:%s:nchw:2x35x7x9:k3:p1:div=exclude", /* planes as one row */
        "avgpool2d:%s:nchw:1x11x15x14:k3:p1:div=exclude",
        "avgpool2d:%s:nchw:3x5x4x4:k3:p1",    /* less than a piece */
        "avgpool2d:%s:nchw:1x3x21x19:k21x19", /* whole planes, large, */
        "avgpool1d:%s:ncw:2x3x157:k157",
        "avgpool2d:%s:nhwc:2x35x20x3:k20x3", /* and with channels side by side */
        "avg2d:%s:nchw:70x3x5x6:k3:p1:beta=0.5",
        "avg2d:%s:nhwc/nchw:1x70x9x40:k3:p1",
        "avgpool2d:%s:nchw/nhwc:1x67x9x11:k3:p1",
    };

    (void)state;
    run_wide(texts, sizeof texts / sizeof texts[0]);
}

/* Small planes far apart, each with a page without access behind it: what lies between strided
 * elements is not theirs. */
static void gaps_between_planes(void **state)
{
    enum {
        PLANES = 20,
        ELEMENTS = 7 * 7
    };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t step = 2 * page / sizeof(float);
    char text[128];
    poolgrad_buffers buffers;
    poolgrad_options options;
    poolgrad_desc desc;
    float y[PLANES];
    char *memory;
    size_t c, plane, i;

    (void)state;
    memory =
        mmap(NULL, 2 * page * PLANES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    for (plane = 0; plane < PLANES; plane++) {
        float *x = (float *)(void *)(memory + (2 * plane + 1) * page) - ELEMENTS;

        for (i = 0; i < ELEMENTS; i++)
            x[i] = (float)plane;
        assert_int_equal(mprotect(memory + (2 * plane + 1) * page, page, PROT_NONE), 0);
    }
    snprintf(text, sizeof text, "avgpool2d:f32:strided/nchw:1x%dx7x7:k7:xstride=%zu,%zu,7,1",
             PLANES, PLANES * step, step);
    assert_int_equal(poolgrad_desc_parse(text, &desc, NULL), POOLGRAD_OK);
    poolgrad_options_init(&options);
    for (c = 0; (options.cpu = poolgrad_name(POOLGRAD_NAME_CPU, c)) != NULL; c++) {
        poolgrad_plan *plan = NULL;

        assert_int_equal(poolgrad_plan_create(&plan, &desc, &options, NULL), POOLGRAD_OK);
        poolgrad_buffers_init(&buffers);
        buffers.x = (float *)(void *)(memory + page) - ELEMENTS;
        buffers.y = y;
        assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
        for (plane = 0; plane < PLANES; plane++)
            assert_true(y[plane] == (float)plane);
        poolgrad_plan_destroy(plan);
    }
    munmap(memory, 2 * page * PLANES);
}

/* Results that begin anywhere in a cache line: what is cut at lines is complete all the same. */
static void anywhere_in_a_line(void **state)
{
    enum {
        LINE = 64
    };
    static const char *const texts[] = {
        "avg2d:f32:nchw:1x390x3x7:k3:p1", /* 8190 elements: 2 less than some pieces of 2048 */
        "avgpool2d:bf16:nchw:1x390x3x7:k3:p1", "avg2d:f64:nchw:1x390x3x7:k3:p1",
        "avg2d:f32:nchw:40x70x14x14:k2:s2", /* stored in one piece, if not near */
        "avgpool1d:f16:ncw:2x9x331:k331",
    };
    size_t t;

    (void)state;
    for (t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        const poolgrad_options reference = options_for("reference", 1);
        sup_memory expected;
        size_t size, at;
        char *memory;
        fixture f;

        fixture_parse(&f, texts[t], SUP_UNIFORM, t);
        size = poolgrad_dtype_size(f.desc.dtype);
        expected = copy_of_result(&f);
        run_into(&f, &reference, expected.first);
        memory = aligned_alloc(LINE, (expected.bytes / LINE + 2) * LINE);
        assert_non_null(memory);
        for (at = 0; at < LINE; at += size) {
            sup_memory copy = copy_of_result(&f);

            memset(memory, 0xff, expected.bytes + LINE);
            run_into(&f, NULL, memory + at);
            memcpy(copy.allocation, memory + at, copy.bytes);
            assert_same_result(&f, expected.first, copy.first, texts[t]);
            sup_view_free(&copy);
        }
        free(memory);
        sup_view_free(&expected);
        fixture_free(&f);
    }
}

/* ---------------------------------------------------------------- allocation */

/* Plan, execute without workspace, destroy; returns what the first failing step said. */
static poolgrad_status attempt(const fixture *f, const poolgrad_options *options,
                               poolgrad_error *error)
{
    const poolgrad_buffers buffers = fixture_buffers(f, NULL);
    poolgrad_status status;
    poolgrad_plan *plan;

    status = poolgrad_plan_create(&plan, &f->desc, options, error);
    if (status)
        return status;
    status = poolgrad_execute(plan, &buffers, error);
    poolgrad_plan_destroy(plan);
    return status;
}

static void fail_every_allocation(fixture *f, const char *strategy)
{
    sup_memory before = copy_of_result(f);
    poolgrad_options options;
    poolgrad_error error;
    allocator a;
    int sites, i;

    options = counted_options(&a, strategy);
    assert_int_equal(attempt(f, &options, &error), POOLGRAD_OK);
    assert_int_equal(a.live, 0);
    sites = a.calls;
    assert_true(sites >= 2);
    memcpy(fixture_result(f)->allocation, before.allocation, before.bytes);
    for (i = 1; i <= sites; i++) {
        options = counted_options(&a, strategy);
        a.fail_at = i;
        assert_int_equal(attempt(f, &options, &error), POOLGRAD_ERR_MEMORY);
        assert_non_null(strstr(error.message, "the allocator gave no "));
        assert_int_equal(a.live, 0);
        assert_memory_equal(fixture_result(f)->allocation, before.allocation, before.bytes);
    }
    sup_view_free(&before);
}

static void allocation_failure(void **state)
{
    static const char *const texts[] = {
        "avg2d:f32:nchw:2x3x40x50:k3:p1", "avgpool2d:f32:nchw:2x3x40x50:k3:p1",
        "max2d:f32:nchw:2x3x40x50:k3:p1", "max2d:f32:nchw:2x3x40x50:k3:p1:from=x",
        "maxpool2d:f32:nchw:2x3x40x50:k3:p1"};
    const char *strategy;
    size_t s, t;

    (void)state;
    for (t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        fixture f;

        fixture_parse(&f, texts[t], SUP_UNIFORM, 1);
        for (s = 0; (strategy = poolgrad_name(POOLGRAD_NAME_STRATEGY, s)) != NULL; s++)
            if (strategy_applies(&f, strategy))
                fail_every_allocation(&f, strategy);
        fixture_free(&f);
    }
}

/* A plan that cannot be made gives back what it took. */
static void failed_plans_release(void **state)
{
    poolgrad_options options;
    poolgrad_plan *plan;
    poolgrad_desc desc;
    allocator a;
    int s;

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
    for (s = 0; s < 2; s++) {
        options = counted_options(&a, s ? "separable" : "reference");
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
    expected = copy_of_result(&f);
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
        assert_same_result(&f, expected.first, f.dx.first, "with a workspace");
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
        cmocka_unit_test(guard_pages),          cmocka_unit_test(wide_maxima),
        cmocka_unit_test(wide_averages),        cmocka_unit_test(allocation_failure),
        cmocka_unit_test(failed_plans_release), cmocka_unit_test(workspace),
        cmocka_unit_test(gaps_between_planes),  cmocka_unit_test(anywhere_in_a_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
