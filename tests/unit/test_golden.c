/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* getline */
/* The answers of real systems (tests/data/golden): every case that is not an error. */
#include "harness.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef POOLGRAD_TEST_DATA
#error "define POOLGRAD_TEST_DATA as the folder of test data"
#endif

enum {
    MAX_VALUES = 65536,
    MAX_DIMS = 5
};

typedef struct golden {
    char name[128];
    int average, has_out, differs, channels_last;
    poolgrad_desc desc;
    int64_t dx[MAX_DIMS], dy[MAX_DIMS];
    int dims;
    int64_t values, results, references, inputs, indices;
    uint64_t dyv[MAX_VALUES], out[MAX_VALUES], xv[MAX_VALUES];
    int64_t idx[MAX_VALUES];
    double ref[MAX_VALUES];
} golden;

static int read_ints(const char *text, int64_t *to, int limit)
{
    int count = 0;
    char *end;

    while (count < limit) {
        const long long value = strtoll(text, &end, 10);

        if (end == text)
            break;
        to[count++] = value;
        text = end;
    }
    return count;
}

static int64_t read_hex(const char *text, uint64_t *to)
{
    int64_t count = 0;
    char *end;

    for (;;) {
        const unsigned long long value = strtoull(text, &end, 16);

        if (end == text)
            return count;
        assert_true(count < MAX_VALUES);
        to[count++] = value;
        text = end;
    }
}

static int64_t read_decimals(const char *text, double *to)
{
    int64_t count = 0;
    char *end;

    for (;;) {
        const double value = strtod(text, &end);

        if (end == text)
            return count;
        assert_true(count < MAX_VALUES);
        to[count++] = value;
        text = end;
    }
}

static void read_field(golden *g, const char *key, const char *value)
{
    static const char *const divisors[] = {"", "exclude", "include", "include_clipped"};
    static const char *const dtypes[] = {"", "f32", "f64", "f16", "bf16"};
    int i;

    if (strcmp(key, "op") == 0)
        g->average = strcmp(value, "avg") == 0;
    else if (strcmp(key, "layout") == 0)
        g->channels_last = strcmp(value, "NXC") == 0;
    else if (strcmp(key, "dx") == 0)
        g->dims = read_ints(value, g->dx, MAX_DIMS);
    else if (strcmp(key, "dy") == 0)
        read_ints(value, g->dy, MAX_DIMS);
    else if (strcmp(key, "kernel") == 0)
        read_ints(value, g->desc.kernel, 3);
    else if (strcmp(key, "stride") == 0)
        read_ints(value, g->desc.stride, 3);
    else if (strcmp(key, "pad_begin") == 0)
        read_ints(value, g->desc.pad_lo, 3);
    else if (strcmp(key, "pad_end") == 0)
        read_ints(value, g->desc.pad_hi, 3);
    else if (strcmp(key, "dilation") == 0)
        read_ints(value, g->desc.dilation, 3);
    else if (strcmp(key, "ceil") == 0)
        g->desc.rounding = value[0] == '1' ? POOLGRAD_CEIL : POOLGRAD_FLOOR;
    else if (strcmp(key, "dyv") == 0)
        g->values = read_hex(value, g->dyv);
    else if (strcmp(key, "out") == 0)
        g->results = read_hex(value, g->out), g->has_out = 1;
    else if (strcmp(key, "xv") == 0)
        g->inputs = read_hex(value, g->xv);
    else if (strcmp(key, "idx") == 0)
        g->indices = read_ints(value, g->idx, MAX_VALUES);
    else if (strcmp(key, "rule") == 0 && strcmp(value, "indices_plane") == 0)
        g->desc.index_base = POOLGRAD_INDEX_PLANE;
    else if (strcmp(key, "ref") == 0)
        g->references = read_decimals(value, g->ref);
    else if (strcmp(key, "verdict") == 0)
        g->differs = strcmp(value, "differs") == 0;
    else if (strcmp(key, "divisor") == 0 && strncmp(value, "override:", 9) == 0) {
        g->desc.divisor = POOLGRAD_OVERRIDE;
        read_ints(value + 9, &g->desc.divisor_override, 1);
    }
    for (i = 1; i < 4; i++)
        if (strcmp(key, "divisor") == 0 && strcmp(value, divisors[i]) == 0)
            g->desc.divisor = (poolgrad_divisor)i;
    for (i = 1; i < 5; i++)
        if (strcmp(key, "dtype") == 0 && strcmp(value, dtypes[i]) == 0)
            g->desc.dtype = (poolgrad_dtype)i;
}

static double value_of_bits(poolgrad_dtype dtype, uint64_t bits)
{
    const uint16_t half = (uint16_t)bits;
    const uint32_t single = (uint32_t)bits;

    if (dtype == POOLGRAD_F64)
        return sup_load(dtype, &bits, 0);
    if (dtype == POOLGRAD_F32)
        return sup_load(dtype, &single, 0);
    return sup_load(dtype, &half, 0);
}

static void set_shape(golden *g)
{
    const int spatial = g->channels_last ? 1 : 2;
    int i;

    g->desc.rank = g->dims - 2;
    g->desc.batch = g->dx[0];
    g->desc.channels = g->dx[g->channels_last ? g->dims - 1 : 1];
    for (i = 0; i < g->desc.rank; i++) {
        g->desc.in[i] = g->dx[spatial + i];
        g->desc.out[i] = g->dy[spatial + i];
        /* ONNX Runtime ignores auto_pad: the pads recorded are those it used, 0, and dy alone says
         * how far the windows run past the end. The same as that much padding, not counted. */
        if (strcmp(g->name, "1d_auto_pad_ignored") == 0)
            g->desc.pad_hi[i] = (g->desc.out[i] - 1) * g->desc.stride[i] + g->desc.kernel[i] -
                                g->desc.in[i] - g->desc.pad_lo[i];
    }
    g->desc.dy.layout = g->channels_last ? POOLGRAD_NXC : POOLGRAD_NCX;
    g->desc.dx.layout = g->desc.x.layout = g->desc.y.layout = g->desc.dy.layout;
    g->desc.indices.layout = g->desc.dy.layout;
}

/* Files and dense views have the same memory order. */
static void put_values(const golden *g, const uint64_t *bits, int64_t count, void *memory)
{
    int64_t i;

    for (i = 0; i < count; i++)
        sup_store(g->desc.dtype, memory, i, value_of_bits(g->desc.dtype, bits[i]));
}

/* dx against the system's own answer, or against the rule. */
static void compare(const golden *g, const char *file, const void *dx, int against_rule)
{
    static const double tolerances[] = {0, 4e-6, 1e-12, 2e-2, 1.5e-1};
    const poolgrad_dtype dtype = g->desc.dtype;
    double scale = 1, worst = 0;
    int64_t i;

    for (i = 0; i < g->references; i++)
        if (isfinite(g->ref[i]) && fabs(g->ref[i]) > scale)
            scale = fabs(g->ref[i]);
    for (i = 0; i < g->results; i++) {
        const double got = sup_load(dtype, dx, i);
        const double expected = against_rule ? g->ref[i] : value_of_bits(dtype, g->out[i]);

        if (isnan(expected) ? !isnan(got) : isinf(expected) && got != expected)
            fail_msg("%s, %s: element %lld is %g, expected %g", file, g->name, (long long)i, got,
                     expected);
        if (isfinite(expected) && !(fabs(got - expected) <= worst))
            worst = fabs(got - expected);
    }
    if (!(worst <= tolerances[dtype] * scale))
        fail_msg("%s, %s: off by %g", file, g->name, worst);
}

static void check_average(golden *g, const char *file)
{
    fixture f;

    fixture_make(&f, &g->desc, SUP_ONES, 1);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.dy), g->values);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.dx), g->results);
    put_values(g, g->dyv, g->values, f.dy.first);
    run_into(&f, NULL, f.dx.first);
    compare(g, file, f.dx.first, g->differs);
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
    put_values(g, g->dyv, g->values, f.dy.first);
    memcpy(f.indices.first, g->idx, (size_t)g->indices * sizeof g->idx[0]);
    run_into(&f, NULL, f.dx.first);
    compare(g, file, f.dx.first, column_major);
    fixture_free(&f);
    if (has_nan || g->inputs == 0)
        return;
    g->desc.op = POOLGRAD_MAX;
    fixture_make(&f, &g->desc, SUP_ONES, 1);
    put_values(g, g->xv, g->inputs, f.x.first);
    assert_int_equal(sup_index_alloc(&f.desc, &f.indices), 0);
    run_with_indices(&f, NULL, f.y.first, f.indices.first);
    for (i = 0; i < g->indices; i++)
        if (((const int64_t *)f.indices.first)[i] != g->idx[i])
            fail_msg("%s, %s: index %lld is %lld, expected %lld", file, g->name, (long long)i,
                     (long long)((const int64_t *)f.indices.first)[i], (long long)g->idx[i]);
    fixture_free(&f);
}

/* A gradient from x. oneDNN skips NaN. TensorFlow lets a NaN win only if it comes first, which is
 * neither of our rules; those cases are left out. */
static int check_from_x(golden *g, const char *file, int has_nan)
{
    const int skips_nan = strncmp(file, "golden_onednn", 13) == 0;
    fixture f;

    if (has_nan && !skips_nan)
        return 0;
    g->desc.op = POOLGRAD_MAX_GRAD;
    g->desc.winner = POOLGRAD_FROM_X;
    g->desc.nan = skips_nan ? POOLGRAD_NAN_SKIP : POOLGRAD_NAN_FIRST;
    fixture_make(&f, &g->desc, SUP_ONES, 1);
    assert_int_equal(sup_view_count(&f.desc, &f.desc.x), g->inputs);
    put_values(g, g->dyv, g->values, f.dy.first);
    put_values(g, g->xv, g->inputs, f.x.first);
    run_into(&f, NULL, f.dx.first);
    compare(g, file, f.dx.first, g->differs && !has_nan);
    fixture_free(&f);
    return 1;
}

/* Whether the case was compared. */
static int check_case(golden *g, const char *file)
{
    int has_nan = 0;
    int64_t i;

    set_shape(g);
    for (i = 0; i < g->inputs; i++)
        has_nan |= isnan(value_of_bits(g->desc.dtype, g->xv[i])) != 0;
    if (!g->average && g->indices == 0)
        return check_from_x(g, file, has_nan);
    if (g->average)
        check_average(g, file);
    else
        check_indices(g, file, has_nan);
    return 1;
}

/* Compares the cases of one op that have an answer; returns how many. */
static int check_file(const char *file, int average)
{
    char path[512];
    char *line = NULL;
    size_t capacity = 0;
    golden *g = calloc(1, sizeof *g);
    int checked = 0;
    FILE *stream;

    assert_non_null(g);
    snprintf(path, sizeof path, "%s/golden/%s", POOLGRAD_TEST_DATA, file);
    stream = fopen(path, "r");
    if (!stream)
        fail_msg("cannot open %s", path);
    while (getline(&line, &capacity, stream) > 0) {
        char *value = line + strcspn(line, " \n");

        if (*value)
            *value++ = '\0';
        value[strcspn(value, "\n")] = '\0';
        if (strcmp(line, "case") == 0) {
            memset(g, 0, sizeof *g);
            poolgrad_desc_init(&g->desc);
            snprintf(g->name, sizeof g->name, "%s", value);
        } else if (strcmp(line, "end") == 0) {
            if (g->average == average && g->has_out)
                checked += check_case(g, file);
        } else {
            read_field(g, line, value);
        }
    }
    fclose(stream);
    free(line);
    free(g);
    return checked;
}

static const struct {
    const char *file;
    int average, max; /* cases compared */
} files[] = {
    {"golden_directml_doc.txt", 1, 1},  {"golden_onednn_3.13.2.txt", 29, 8},
    {"golden_onednn_3.2.0.txt", 29, 8}, {"golden_ort.txt", 29, 10},
    {"golden_tf_onednn.txt", 27, 12},   {"golden_tf_stock.txt", 27, 12},
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
