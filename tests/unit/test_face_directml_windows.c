/* SPDX-License-Identifier: MIT */
/* What DirectML's face refuses of windows and shapes, and TensorFlow's advisories in DirectML's
 * terms. */
#include "directml_call.h"

#include <limits.h>

/* ------------------------------------------------------------------- windows */

static void spatial_dimension_count(void **state)
{
    static const UINT counts[] = {0, 1, 3, 4, UINT_MAX, UINT_MAX - 1};
    dml_call call;
    size_t k;
    int average;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (k = 0; k < sizeof counts / sizeof *counts; k++) {
            dml_example(&call, average);
            call.average.DimensionCount = call.max.DimensionCount = counts[k];
            dml_refuse(&call, "spatial dimension count");
        }
    }
}

static void windows_null(void **state)
{
    static const char *const words[] = {"Strides", "WindowSize", "StartPadding", "EndPadding",
                                        "Dilations"};
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 5; i++) {
        const UINT **const fields[] = {&call.max.Strides, &call.max.WindowSize,
                                       &call.max.StartPadding, &call.max.EndPadding,
                                       &call.max.Dilations};

        dml_example(&call, 0);
        *fields[i] = NULL;
        dml_refuse_code(&call, NULL, E_POINTER, words[i]);
    }
}

static void windows_zero(void **state)
{
    dml_call call;
    int average, axis;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (axis = 0; axis < 2; axis++) {
            dml_example(&call, average);
            call.strides[axis] = 0;
            dml_refuse(&call, "Strides[");
            dml_example(&call, average);
            call.window_size[axis] = 0;
            dml_refuse(&call, "WindowSize[");
            dml_example(&call, average);
            call.dilations[axis] = 0;
            if (!average)
                dml_refuse(&call, "Dilations[");
            else
                dml_accept(&call);
        }
    }
}

/* Every size of InputGradientTensor is what the windows make it, in every dimension. */
static void input_gradient_sizes(void **state)
{
    dml_call call;
    int average, axis, step;

    (void)state;
    for (average = 0; average < 2; average++) {
        for (axis = 0; axis < 4; axis++) {
            for (step = 0; step < 2; step++) {
                dml_example(&call, average);
                call.dy.sizes[axis] += step || axis < 2 ? 1u : UINT_MAX;
                dml_totals(&call);
                dml_refuse(&call, "InputGradientTensor has the sizes");
            }
        }
        dml_example(&call, average);
        call.window_size[0] = 4; /* no window at all */
        dml_refuse(&call, "make it [1,1,0,2]");
        call.window_size[0] = UINT_MAX;
        dml_refuse(&call, "make it [1,1,0,2]");
    }
}

/* The span of a window is that of its dilation. */
static void dilated_windows(void **state)
{
    dml_call call;

    (void)state;
    dml_example(&call, 0);
    call.dilations[0] = call.dilations[1] = 2;
    dml_refuse(&call, "make it [1,1,1,1]");
    call.dy.sizes[2] = call.dy.sizes[3] = 1;
    dml_accept(&call);
    call.window_size[0] = call.dilations[0] = UINT_MAX;
    dml_refuse(&call, "64 bits");
}

static void input_and_output_sizes(void **state)
{
    dml_call call;
    int axis;

    (void)state;
    for (axis = 0; axis < 4; axis++) {
        dml_example(&call, 0);
        call.x.sizes[axis]++;
        dml_totals(&call);
        dml_refuse(&call, "InputTensor has the sizes");
    }
}

/* Huge paddings and windows are sums of 64 bits here. */
static void padding_beyond_32_bits(void **state)
{
    dml_call call;

    (void)state;
    dml_example(&call, 1);
    call.start_padding[0] = call.end_padding[0] = UINT_MAX;
    dml_refuse(&call, "make it [1,1,8589934592,2]");
    call.window_size[0] = UINT_MAX; /* 3 + 2 (2^32-1) - (2^32-1) + 1 */
    dml_refuse(&call, "make it [1,1,4294967299,2]");
    call.strides[0] = UINT_MAX;
    dml_accept(&call); /* two windows, of which the second has the input */
}

/* ------------------------------------------------ advisories, in DirectML's terms */

static void advisory(int average, int spatial, const UINT *dx, const UINT *dy, UINT window,
                     UINT stride, const char *words)
{
    dml_call call;
    int i;

    dml_begin(&call, average, spatial, DML_TENSOR_DATA_TYPE_FLOAT32);
    for (i = 0; i < spatial + 2; i++) {
        call.dx.sizes[i] = call.x.sizes[i] = dx[i];
        call.dy.sizes[i] = dy[i];
    }
    for (i = 0; i < spatial; i++) {
        call.window_size[i] = window;
        call.strides[i] = stride;
    }
    call.x.buffer.TotalTensorSizeInBytes = call.dx.buffer.TotalTensorSizeInBytes =
        call.dy.buffer.TotalTensorSizeInBytes = UINT64_MAX;
    dml_refuse(&call, words);
}

static void cve_2021_29577(void **state)
{
    static const UINT dx[] = {10, 7, 6, 3, 7}, dy[] = {3, 1, 1, 1, 1};

    (void)state;
    advisory(1, 3, dx, dy, 1, 1, "make it [10,7,6,3,7]");
}

static void cve_2022_35959(void **state)
{
    static const UINT dx[] = {1879048192, 1879048192, 1879048192, 1879048192, 1879048192};
    static const UINT dy[] = {1, 2, 3, 2, 4};

    (void)state;
    advisory(1, 3, dx, dy, 1, 1, "2^32-1 elements");
}

/* -536870912 four times */
static void cve_2022_35968(void **state)
{
    static const UINT dx[] = {3758096384, 3758096384, 3758096384, 3758096384};
    static const UINT dy[] = {1, 1, 5, 7};

    (void)state;
    advisory(1, 2, dx, dy, 2, 2, "2^32-1 elements");
}

static void cve_2023_25664(void **state)
{
    static const UINT dx[] = {11, 9, 9, 78}, dy[] = {16, 16, 16, 16};

    (void)state;
    advisory(1, 2, dx, dy, 40, 128, "InputGradientTensor has the sizes [16,16,16,16]");
}

static void cve_2023_25669(void **state)
{
    static const UINT dx[] = {1, 0, 0, 0}, dy[] = {1, 1, 1, 1};

    (void)state;
    advisory(1, 2, dx, dy, 0, 0, "a size of zero");
}

static void cve_2021_29579(void **state)
{
    static const UINT dx[] = {1, 1, 1, 1}, dy[] = {0, 0, 0, 0};

    (void)state;
    advisory(0, 2, dx, dy, 1, 1, "a size of zero");
}

static void issue_63353(void **state)
{
    static const UINT dx[] = {1, 3, 28, 28}, dy[] = {1, 6, 14, 14};

    (void)state;
    advisory(1, 2, dx, dy, 2, 2, "make it [1,3,14,14]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spatial_dimension_count),
        cmocka_unit_test(windows_null),
        cmocka_unit_test(windows_zero),
        cmocka_unit_test(input_gradient_sizes),
        cmocka_unit_test(dilated_windows),
        cmocka_unit_test(input_and_output_sizes),
        cmocka_unit_test(padding_beyond_32_bits),
        cmocka_unit_test(cve_2021_29577),
        cmocka_unit_test(cve_2022_35959),
        cmocka_unit_test(cve_2022_35968),
        cmocka_unit_test(cve_2023_25664),
        cmocka_unit_test(cve_2023_25669),
        cmocka_unit_test(cve_2021_29579),
        cmocka_unit_test(issue_63353),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
