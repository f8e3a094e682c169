/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L /* getline */
#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef POOLGRAD_TEST_DATA
#error "define POOLGRAD_TEST_DATA as the folder of test data"
#endif

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
        assert_true(count < GOLDEN_VALUES);
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
        assert_true(count < GOLDEN_VALUES);
        to[count++] = value;
        text = end;
    }
}

static void read_text(char *to, size_t capacity, const char *value)
{
    snprintf(to, capacity, "%s", value);
}

static void read_field(golden *g, const char *key, const char *value)
{
    static const char *const divisors[] = {"", "exclude", "include", "include_clipped"};
    static const char *const dtypes[] = {"", "f32", "f64", "f16", "bf16"};
    int i;

    if (strcmp(key, "op") == 0)
        g->average = strcmp(value, "avg") == 0;
    else if (strcmp(key, "api") == 0)
        read_text(g->api, sizeof g->api, value);
    else if (strcmp(key, "auto") == 0)
        read_text(g->auto_pad, sizeof g->auto_pad, value);
    else if (strcmp(key, "note") == 0)
        read_text(g->note, sizeof g->note, value);
    else if (strcmp(key, "error") == 0)
        read_text(g->error, sizeof g->error, value);
    else if (strcmp(key, "layout") == 0)
        g->channels_last = strcmp(value, "NXC") == 0;
    else if (strcmp(key, "dx") == 0)
        g->dims = read_ints(value, g->dx, GOLDEN_DIMS);
    else if (strcmp(key, "dy") == 0)
        read_ints(value, g->dy, GOLDEN_DIMS);
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
        g->indices = read_ints(value, g->idx, GOLDEN_VALUES);
    else if (strcmp(key, "ref") == 0)
        g->references = read_decimals(value, g->ref);
    else if (strcmp(key, "verdict") == 0)
        g->differs = strcmp(value, "differs") == 0;
    else if (strcmp(key, "divisor") == 0 && strncmp(value, "override:", 9) == 0) {
        g->desc.divisor = POOLGRAD_OVERRIDE;
        read_ints(value + 9, &g->desc.divisor_override, 1);
    } else if (strcmp(key, "rule") == 0) {
        read_text(g->rule, sizeof g->rule, value);
        if (strcmp(value, "indices_plane") == 0)
            g->desc.index_base = POOLGRAD_INDEX_PLANE;
    }
    for (i = 1; i < 4; i++)
        if (strcmp(key, "divisor") == 0 && strcmp(value, divisors[i]) == 0)
            g->desc.divisor = (poolgrad_divisor)i;
    for (i = 1; i < 5; i++)
        if (strcmp(key, "dtype") == 0 && strcmp(value, dtypes[i]) == 0)
            g->desc.dtype = (poolgrad_dtype)i;
}

double golden_value(poolgrad_dtype dtype, uint64_t bits)
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

void golden_put(const golden *g, const uint64_t *bits, int64_t count, void *memory)
{
    int64_t i;

    for (i = 0; i < count; i++)
        sup_store(g->desc.dtype, memory, i, golden_value(g->desc.dtype, bits[i]));
}

int golden_each(const char *file, void (*visit)(golden *g, void *context), void *context)
{
    char path[512];
    char *line = NULL;
    size_t capacity = 0;
    golden *g = calloc(1, sizeof *g);
    int cases = 0;
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
            read_text(g->name, sizeof g->name, value);
        } else if (strcmp(line, "end") == 0) {
            set_shape(g);
            visit(g, context);
            cases++;
        } else {
            read_field(g, line, value);
        }
    }
    fclose(stream);
    free(line);
    free(g);
    return cases;
}

void golden_compare(const golden *g, const char *file, const void *dx, int against_rule)
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
        const double expected = against_rule ? g->ref[i] : golden_value(dtype, g->out[i]);

        if (isnan(expected) ? !isnan(got) : isinf(expected) && got != expected)
            fail_msg("%s, %s: element %lld is %g, expected %g", file, g->name, (long long)i, got,
                     expected);
        if (isfinite(expected) && !(fabs(got - expected) <= worst))
            worst = fabs(got - expected);
    }
    if (!(worst <= tolerances[dtype] * scale))
        fail_msg("%s, %s: off by %g", file, g->name, worst);
}

int golden_is_defect(const golden *g)
{
    static const char *const wrong[] = {
        "3d_cubic_overlap", /* ONNX Runtime's 3-D average */
        "3d_noncubic_nonoverlap",
        "3d_rect_kernel",
        "same_k_gt_in_1d", /* TensorFlow's windows of kernels above the input */
        "3d_same_k_gt_in",
        "max_storage_order_1",  /* ONNX Runtime takes its column-major indices for row-major */
        "max_neg_inf_left_pad", /* oneDNN lets padding win */
    };
    size_t i;

    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (g->differs && strcmp(g->name, wrong[i]) == 0)
            return 1;
    return 0;
}

/* No formula is known for the f32 averages of oneDNN's kernels in TensorFlow, and of oneDNN 3.2
 * with channels last. */
int golden_has_formula(const golden *g, const char *file)
{
    if (!g->has_out || golden_is_defect(g))
        return 0;
    if (g->average && strcmp(file, "golden_onednn_3.2.0.txt") == 0)
        return !g->channels_last;
    if (g->average && strcmp(file, "golden_tf_onednn.txt") == 0)
        return g->desc.dtype != POOLGRAD_F32;
    return 1;
}

void golden_compare_bits(const golden *g, const char *file, const void *dx)
{
    const poolgrad_dtype dtype = g->desc.dtype;
    int64_t i;

    for (i = 0; i < g->results; i++) {
        const double got = sup_load(dtype, dx, i), wanted = golden_value(dtype, g->out[i]);

        if (isnan(wanted) ? !isnan(got) : got != wanted || !signbit(got) != !signbit(wanted))
            fail_msg("%s, %s, in parity: element %lld is %.9g, the original has %.9g", file,
                     g->name, (long long)i, got, wanted);
    }
}
