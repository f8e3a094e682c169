/* SPDX-License-Identifier: MIT */
/* The answers of real systems (tests/data/golden): every case that is not an error. */
#include "golden.h"

#include <math.h>
#include <string.h>

static void check_average(golden *g, const char *file)
{
    fixture f;

    fixture_make(&f, &g->desc, SUP_ONES, 1);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.dy), g->values);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.dx), g->results);
    golden_put(g, g->dyv, g->values, f.dy.first);
    run_into(&f, NULL, f.dx.first);
    golden_compare(g, file, f.dx.first, g->differs);
    fixture_free(&f);
}

/* A gradient from the indices that the system's forward pass gave: the same as the system's, also
 * where its choice of a winner differs from ours. Only ONNX Runtime's column-major indices, which
 * its gradient takes for row-major ones, are read as what they are. Our forward pass gives the same
 * indices, NaN apart. */
static void check_indices(golden *g, const char *file, int has_nan)
{
    const int column_major = strcmp(g->name, "max_storage_order_1") == 0;
    fixture f;
    int64_t i;

    g->desc.op = POOLGRAD_MAX_GRAD;
    g->desc.index_order = column_major ? POOLGRAD_COLUMN_MAJOR : POOLGRAD_ROW_MAJOR;
    fixture_make(&f, &g->desc, SUP_ONES, 1);
    assert_int_equal(g->indices, g->values);
    golden_put(g, g->dyv, g->values, f.dy.first);
    memcpy(f.indices.first, g->idx, (size_t)g->indices * sizeof g->idx[0]);
    run_into(&f, NULL, f.dx.first);
    golden_compare(g, file, f.dx.first, column_major);
    fixture_free(&f);
    if (has_nan || g->inputs == 0)
        return;
    g->desc.op = POOLGRAD_MAX;
    fixture_make(&f, &g->desc, SUP_ONES, 1);
    golden_put(g, g->xv, g->inputs, f.x.first);
    assert_int_equal(sup_index_alloc(&f.desc, &f.indices), 0);
    run_with_indices(&f, NULL, f.y.first, f.indices.first);
    for (i = 0; i < g->indices; i++)
        if (((const int64_t *)f.indices.first)[i] != g->idx[i])
            fail_msg("%s, %s: index %lld is %lld, expected %lld", file, g->name, (long long)i,
                     (long long)((const int64_t *)f.indices.first)[i], (long long)g->idx[i]);
    fixture_free(&f);
}

/* A gradient from x. oneDNN skips NaN, TensorFlow lets a NaN win only if it comes first. */
static void check_from_x(golden *g, const char *file, int has_nan)
{
    const int skips_nan = strncmp(file, "golden_onednn", 13) == 0;
    fixture f;

    g->desc.op = POOLGRAD_MAX_GRAD;
    g->desc.winner = POOLGRAD_FROM_X;
    g->desc.nan = skips_nan ? POOLGRAD_NAN_SKIP : POOLGRAD_NAN_LEADING;
    fixture_make(&f, &g->desc, SUP_ONES, 1);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.x), g->inputs);
    golden_put(g, g->dyv, g->values, f.dy.first);
    golden_put(g, g->xv, g->inputs, f.x.first);
    run_into(&f, NULL, f.dx.first);
    golden_compare(g, file, f.dx.first, g->differs && !has_nan);
    fixture_free(&f);
}

static void check_case(golden *g, const char *file)
{
    int has_nan = 0;
    int64_t i;

    for (i = 0; i < g->inputs; i++)
        has_nan |= isnan(golden_value(g->desc.dtype, g->xv[i])) != 0;
    if (g->average)
        check_average(g, file);
    else if (g->indices > 0)
        check_indices(g, file, has_nan);
    else
        check_from_x(g, file, has_nan);
}

typedef struct tally {
    const char *file;
    int average; /* which op to compare */
    int checked;
} tally;

static void check_visited(golden *g, void *context)
{
    tally *t = context;

    if (g->average == t->average && g->has_out) {
        check_case(g, t->file);
        t->checked++;
    }
}

/* Compares the cases of one op that have an answer; returns how many. */
static int check_file(const char *file, int average)
{
    tally t = {file, average, 0};

    golden_each(file, check_visited, &t);
    return t.checked;
}

static const struct {
    const char *file;
    int average, max; /* cases compared */
} files[] = {
    {"golden_directml_doc.txt", 1, 1},  {"golden_onednn_3.13.2.txt", 29, 8},
    {"golden_onednn_3.2.0.txt", 29, 8}, {"golden_ort.txt", 29, 10},
    {"golden_tf_onednn.txt", 27, 13},   {"golden_tf_stock.txt", 27, 13},
    {"golden_torch.txt", 29, 8},
};

static void golden_average_cases(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_int_equal(check_file(files[i].file, 1), files[i].average);
}

static void golden_max_cases(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof files / sizeof files[0]; i++)
        if (check_file(files[i].file, 0) != files[i].max)
            fail_msg("%s: %d max cases compared, expected %d", files[i].file,
                     check_file(files[i].file, 0), files[i].max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_average_cases),
        cmocka_unit_test(golden_max_cases),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
