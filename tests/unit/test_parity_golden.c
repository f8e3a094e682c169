/* SPDX-License-Identifier: MIT */
/* The arithmetic of other systems: the bits of their own answers (tests/data/golden). */
#include "golden.h"

#include <math.h>
#include <string.h>

typedef struct system_file {
    const char *file;
    poolgrad_parity parity;
    poolgrad_nan nan;
    int average, max; /* cases whose bits are compared */
} system_file;

typedef struct tally {
    const system_file *system;
    int average, max;
} tally;

/* The forward maximum of x in f.y; TensorFlow's own skips NaN. */
static void pool_into_y(fixture *f)
{
    poolgrad_desc desc = f->desc;
    poolgrad_buffers buffers = fixture_buffers(f, NULL);
    poolgrad_plan *plan;

    desc.op = POOLGRAD_MAX;
    desc.parity = POOLGRAD_PARITY_OFF;
    desc.nan = POOLGRAD_NAN_SKIP;
    assert_int_equal(poolgrad_plan_create(&plan, &desc, NULL, NULL), POOLGRAD_OK);
    assert_int_equal(poolgrad_execute(plan, &buffers, NULL), POOLGRAD_OK);
    poolgrad_plan_destroy(plan);
}

/* Results of the same size, within the rounding of f32. */
static void assert_near(const golden *g, const fixture *f, const void *expected)
{
    double scale = 1, got, wanted;
    int64_t i;

    for (i = 0; i < g->results; i++)
        if (fabs(sup_load(f->desc.dtype, expected, i)) > scale)
            scale = fabs(sup_load(f->desc.dtype, expected, i));
    for (i = 0; i < g->results; i++) {
        got = sup_load(f->desc.dtype, f->dx.first, i);
        wanted = sup_load(f->desc.dtype, expected, i);
        if (!(fabs(got - wanted) <= 4e-6 * scale) && !(isnan(got) && isnan(wanted)) &&
            !(got == wanted))
            fail_msg("%s: element %lld is %g, expected %g", g->name, (long long)i, got, wanted);
    }
}

/* The case by one way of finding winners, bit for bit, or where no formula is known nearly so. */
static void check_answer(const golden *g, const system_file *system, poolgrad_winner winner,
                         int exact)
{
    poolgrad_desc desc = g->desc;
    sup_memory out;
    fixture f;

    desc.op = g->average ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    desc.parity = system->parity;
    desc.winner = winner;
    desc.nan = system->nan;
    fixture_make(&f, &desc, SUP_ONES, 1);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.dx), g->results);
    golden_put(g, g->dyv, g->values, f.dy.first);
    if (f.x.first)
        golden_put(g, g->xv, g->inputs, f.x.first);
    if (f.indices.first)
        memcpy(f.indices.first, g->idx, (size_t)g->indices * sizeof g->idx[0]);
    if (f.y.first)
        pool_into_y(&f);
    out = copy_of_result(&f);
    golden_put(g, g->out, g->results, out.first);
    run_into(&f, NULL, f.dx.first);
    if (exact)
        assert_same_result(&f, out.first, f.dx.first, g->name);
    else
        assert_near(g, &f, out.first);
    sup_view_free(&out);
    fixture_free(&f);
}

static void check_case(golden *g, void *context)
{
    tally *t = context;

    if (!g->has_out || golden_is_defect(g))
        return;
    if (g->average) {
        /* the file says include_clipped, the system has only include */
        if (t->system->parity == POOLGRAD_PARITY_ONNXRUNTIME && g->differs)
            g->desc.divisor = POOLGRAD_INCLUDE;
        check_answer(g, t->system, POOLGRAD_FROM_INDICES, golden_has_formula(g, t->system->file));
        t->average += golden_has_formula(g, t->system->file);
        return;
    }
    if (g->indices > 0)
        check_answer(g, t->system, POOLGRAD_FROM_INDICES, 1);
    else if (strcmp(g->rule, "all_1e-5") == 0)
        check_answer(g, t->system, POOLGRAD_NEAR_Y, 1);
    if (g->inputs > 0 && strcmp(g->rule, "all_1e-5") != 0)
        check_answer(g, t->system, POOLGRAD_FROM_X, 1);
    t->max++;
}

static void golden_bits(void **state)
{
    static const system_file systems[] = {
        {"golden_onednn_3.13.2.txt", POOLGRAD_PARITY_ONEDNN, POOLGRAD_NAN_SKIP, 29, 7},
        {"golden_onednn_3.2.0.txt", POOLGRAD_PARITY_ONEDNN, POOLGRAD_NAN_SKIP, 23, 7},
        {"golden_ort.txt", POOLGRAD_PARITY_ONNXRUNTIME, POOLGRAD_NAN_SKIP, 26, 9},
        {"golden_tf_onednn.txt", POOLGRAD_PARITY_TENSORFLOW, POOLGRAD_NAN_LEADING, 7, 13},
        {"golden_tf_stock.txt", POOLGRAD_PARITY_TENSORFLOW, POOLGRAD_NAN_LEADING, 25, 13},
        {"golden_torch.txt", POOLGRAD_PARITY_TORCH, POOLGRAD_NAN_LAST, 29, 8},
    };
    size_t i;

    (void)state;
    for (i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        tally t = {&systems[i], 0, 0};

        golden_each(systems[i].file, check_case, &t);
        if (t.average != systems[i].average || t.max != systems[i].max)
            fail_msg("%s: compared %d averages and %d maxima, expected %d and %d", systems[i].file,
                     t.average, t.max, systems[i].average, systems[i].max);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
