/* SPDX-License-Identifier: MIT */
/*
 * What DirectML's face refuses of operators and tensors, rule by rule of the documentation. Codes
 * are E_INVALIDARG unless a test says otherwise; the documentation names none.
 */
#include "directml_call.h"

#include <limits.h>
#include <string.h>

static dml_tensor *tensor_of(dml_call *call, int i)
{
    return i == 0 ? &call->x : i == 1 ? &call->dy : &call->dx;
}

static const char *const names[] = {"InputTensor", "InputGradientTensor", "OutputGradientTensor"};

/* ------------------------------------------------------------------ operator */

static void operator_description_null(void **state)
{
    poolgrad_directml_operator *made = (poolgrad_directml_operator *)&made;
    poolgrad_error error;
    dml_call call;

    (void)state;
    assert_int_equal(poolgrad_directml_create_operator(NULL, NULL, &made, &error), E_POINTER);
    assert_null(made);
    assert_non_null(strstr(error.message, "NULL"));
    dml_example(&call, 1);
    assert_int_equal(poolgrad_directml_create_operator(&call.desc, NULL, NULL, &error), E_POINTER);
    call.desc.Desc = NULL;
    dml_refuse_code(&call, NULL, E_POINTER, "Desc is NULL");
}

static void operator_type(void **state)
{
    static const int others[] = {1, 56, 129, 132, 500, -1};
    dml_call call;
    size_t i;

    (void)state;
    dml_example(&call, 1);
    call.desc.Type = DML_OPERATOR_INVALID;
    dml_refuse(&call, "DML_OPERATOR_INVALID");
    for (i = 0; i < sizeof others / sizeof *others; i++) {
        call.desc.Type = (DML_OPERATOR_TYPE)others[i];
        dml_refuse_code(&call, NULL, E_NOTIMPL, "AVERAGE_POOLING_GRAD (130)");
    }
}

static void tensor_null(void **state)
{
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        dml_example(&call, 0);
        *(i == 0   ? &call.max.InputTensor
          : i == 1 ? &call.max.InputGradientTensor
                   : &call.max.OutputGradientTensor) = NULL;
        dml_refuse_code(&call, NULL, E_POINTER, names[i]);
        dml_example(&call, 0);
        tensor_of(&call, i)->desc.Desc = NULL;
        dml_refuse_code(&call, NULL, E_POINTER, "Desc is NULL");
        dml_example(&call, 0);
        tensor_of(&call, i)->buffer.Sizes = NULL;
        dml_refuse_code(&call, NULL, E_POINTER, "Sizes is NULL");
    }
}

static void bad_options(void **state)
{
    poolgrad_face_options options;
    poolgrad_options compute;
    char workspace[16];
    dml_call call;

    (void)state;
    dml_example(&call, 1);
    poolgrad_face_options_init(&options);
    options.size--;
    dml_refuse_code(&call, &options, E_INVALIDARG, "options.size");
    poolgrad_face_options_init(&options);
    options.workspace = workspace;
    options.workspace_size = sizeof workspace;
    dml_refuse_code(&call, &options, E_INVALIDARG, "options.workspace");
    poolgrad_face_options_init(&options);
    options.parity = 1; /* the documentation does not say how DirectML computes */
    dml_refuse_code(&call, &options, E_NOTIMPL, "parity");
    poolgrad_face_options_init(&options);
    poolgrad_options_init(&compute);
    compute.strategy = "no such strategy";
    options.compute = &compute;
    dml_refuse_code(&call, &options, E_INVALIDARG, "no such strategy");
    poolgrad_options_init(&compute);
    compute.size += sizeof(size_t);
    dml_refuse_code(&call, &options, E_INVALIDARG, "options.size");
}

/* ------------------------------------------------------------ buffer tensors */

static void tensor_type(void **state)
{
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        dml_example(&call, 0);
        tensor_of(&call, i)->desc.Type = DML_TENSOR_TYPE_INVALID;
        dml_refuse(&call, "DML_TENSOR_TYPE_BUFFER");
        tensor_of(&call, i)->desc.Type = (DML_TENSOR_TYPE)2;
        dml_refuse(&call, names[i]);
    }
}

static void data_type(void **state)
{
    dml_call call;
    int i, type;

    (void)state;
    for (i = 0; i < 3; i++) {
        for (type = -1; type < 20; type++) {
            if (type == DML_TENSOR_DATA_TYPE_FLOAT32 || type == DML_TENSOR_DATA_TYPE_FLOAT16)
                continue;
            dml_example(&call, 0);
            tensor_of(&call, i)->buffer.DataType = (DML_TENSOR_DATA_TYPE)type;
            dml_refuse(&call, "FLOAT32 (1) and FLOAT16 (2)");
        }
        dml_example(&call, 0);
        tensor_of(&call, i)->buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT16;
        dml_refuse(&call, "must be the same");
    }
}

/* OWNED_BY_DML is a flag of inputs, for which there is nothing here to own them. */
static void flags(void **state)
{
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        dml_example(&call, 0);
        tensor_of(&call, i)->buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
        dml_refuse_code(&call, NULL, i < 2 ? E_NOTIMPL : E_INVALIDARG,
                        i < 2 ? "OWNED_BY_DML" : "NONE");
        tensor_of(&call, i)->buffer.Flags = (DML_TENSOR_FLAGS)2;
        dml_refuse(&call, "NONE (0)");
        tensor_of(&call, i)->buffer.Flags = (DML_TENSOR_FLAGS)3;
        dml_refuse(&call, names[i]);
    }
}

/* Sizes are not looked at if there are not 4 or 5 of them. */
static void dimension_count(void **state)
{
    static const UINT counts[] = {0, 1, 2, 3, 6, 8, 9, UINT_MAX};
    dml_call call;
    size_t k;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        for (k = 0; k < sizeof counts / sizeof *counts; k++) {
            dml_example(&call, 0);
            tensor_of(&call, i)->buffer.DimensionCount = counts[k];
            dml_refuse(&call, "DimensionCount");
            dml_example(&call, 1);
            tensor_of(&call, i)->buffer.DimensionCount = counts[k];
            if (i > 0)
                dml_refuse(&call, "4 and 5");
        }
        dml_example(&call, 0);
        tensor_of(&call, i)->sizes[4] = 1;
        tensor_of(&call, i)->buffer.DimensionCount = 5;
        dml_refuse(&call, "supports 4");
        dml_example(&call, 1);
        tensor_of(&call, i)->sizes[4] = 1;
        tensor_of(&call, i)->buffer.DimensionCount = 5;
        if (i > 0)
            dml_refuse(&call, "must be the same");
    }
}

/* Maxima have tensors of 4 dimensions only. */
static void max_of_5_dimensions(void **state)
{
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 2; i++) {
        int axis;

        dml_begin(&call, i, 3, DML_TENSOR_DATA_TYPE_FLOAT32);
        for (axis = 0; axis < 5; axis++)
            call.x.sizes[axis] = call.dy.sizes[axis] = call.dx.sizes[axis] = 2;
        dml_totals(&call);
        if (i)
            dml_accept(&call);
        else
            dml_refuse(&call, "MAX_POOLING_GRAD supports 4");
    }
}

static void zero_size(void **state)
{
    dml_call call;
    int i, axis;

    (void)state;
    for (i = 0; i < 3; i++) {
        for (axis = 0; axis < 4; axis++) {
            dml_example(&call, 0);
            tensor_of(&call, i)->sizes[axis] = 0;
            dml_refuse(&call, "a size of zero in any dimension is invalid");
        }
    }
}

/* The output cannot be broadcast, inputs can; on an axis of 1 a stride means nothing. */
static void broadcast_output(void **state)
{
    static const UINT packed[] = {9, 9, 3, 1};
    dml_call call;

    (void)state;
    dml_example(&call, 0);
    call.dx.buffer.Strides = call.dx.strides;
    memcpy(call.dx.strides, packed, sizeof packed);
    call.dx.strides[0] = call.dx.strides[1] = 0;
    dml_accept(&call);
    call.dx.strides[2] = 0;
    dml_refuse(&call, "cannot be broadcast");
    memcpy(call.dx.strides, packed, sizeof packed);
    call.dx.strides[2] = 1; /* neither 0 nor apart */
    dml_refuse(&call, "OutputGradientTensor");
    dml_example(&call, 0);
    call.x.buffer.Strides = call.x.strides;
    call.dy.buffer.Strides = call.dy.strides;
    dml_totals(&call);
    assert_int_equal(call.x.buffer.TotalTensorSizeInBytes, 4);
    dml_accept(&call);
}

static void total_size(void **state)
{
    static const UINT strides[] = {0, 0, 100, 2};
    dml_call call;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        dml_example(&call, 0);
        tensor_of(&call, i)->buffer.TotalTensorSizeInBytes += 1000;
        dml_accept(&call);
        tensor_of(&call, i)->buffer.TotalTensorSizeInBytes -= 1001;
        dml_refuse(&call, "TotalTensorSizeInBytes is");
        tensor_of(&call, i)->buffer.TotalTensorSizeInBytes = 0;
        dml_refuse(&call, names[i]);
    }
    dml_example(&call, 0);
    call.dx.buffer.Strides = call.dx.strides;
    memcpy(call.dx.strides, strides, sizeof strides);
    call.dx.buffer.TotalTensorSizeInBytes = (2 * 100 + 2 * 2 + 1) * 4;
    dml_accept(&call);
    call.dx.buffer.TotalTensorSizeInBytes--;
    dml_refuse(&call, "at least 820");
}

/* 9 halves are 18 bytes, which are rounded up to 20. */
static void total_size_rounded_up(void **state)
{
    dml_call call;

    (void)state;
    dml_example(&call, 1);
    call.dx.buffer.DataType = call.dy.buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT16;
    call.dy.buffer.TotalTensorSizeInBytes = 8;
    call.dx.buffer.TotalTensorSizeInBytes = 20;
    dml_accept(&call);
    call.dx.buffer.TotalTensorSizeInBytes = 19;
    dml_refuse(&call, "at least 20");
    call.dx.buffer.TotalTensorSizeInBytes = 18;
    dml_refuse(&call, "at least 20");
}

/* 2^32-1 elements, 65535 x 65537, are allowed; one row more is not. */
static void too_many_elements(void **state)
{
    dml_call call;

    (void)state;
    dml_begin(&call, 1, 2, DML_TENSOR_DATA_TYPE_FLOAT16);
    call.dx.sizes[0] = call.dx.sizes[1] = call.dy.sizes[0] = call.dy.sizes[1] = 1;
    call.dx.sizes[2] = call.dy.sizes[2] = 65535;
    call.dx.sizes[3] = call.dy.sizes[3] = 65537;
    dml_totals(&call);
    assert_int_equal(call.dx.buffer.TotalTensorSizeInBytes, 8589934592);
    dml_accept(&call);
    call.dx.sizes[2] = call.dy.sizes[2] = 65536;
    call.dx.buffer.TotalTensorSizeInBytes = UINT64_MAX;
    call.dy.buffer.TotalTensorSizeInBytes = UINT64_MAX;
    dml_refuse(&call, "2^32-1 elements");
    call.dx.sizes[0] = call.dx.sizes[1] = call.dx.sizes[2] = call.dx.sizes[3] = UINT_MAX;
    dml_refuse(&call, "InputGradientTensor has more than 2^32-1");
    call.dy.sizes[2] = 1;
    dml_refuse(&call, "OutputGradientTensor has more than 2^32-1");
    call.dy.sizes[2] = 65536; /* repeated elements count */
    call.dy.buffer.Strides = call.dy.strides;
    dml_refuse(&call, "InputGradientTensor has more than 2^32-1");
}

/* Strides whose offsets come to 0 in 32 bits, in which Microsoft's helper adds them: 65536 * 65536,
 * and 2 * 2^31. */
static void strides_beyond_32_bits(void **state)
{
    dml_call call;

    (void)state;
    dml_begin(&call, 1, 2, DML_TENSOR_DATA_TYPE_FLOAT32);
    call.dx.sizes[0] = call.dx.sizes[1] = call.dx.sizes[3] = 1;
    call.dy.sizes[0] = call.dy.sizes[1] = call.dy.sizes[3] = 1;
    call.dx.sizes[2] = call.dy.sizes[2] = 65537;
    dml_totals(&call);
    dml_accept(&call);
    call.dx.buffer.Strides = call.dx.strides;
    call.dx.strides[2] = 65536;
    call.dx.buffer.TotalTensorSizeInBytes = 4;
    dml_refuse(&call, "2^32-1 elements");
    call.dx.strides[2] = 65535; /* (2^16)(2^16-1) + 1 elements */
    dml_refuse(&call, "at least 17179607044");
    call.dx.buffer.TotalTensorSizeInBytes = 17179607044;
    dml_accept(&call);
    dml_example(&call, 1);
    call.dy.buffer.Strides = call.dy.strides;
    call.dy.strides[2] = call.dy.strides[3] = 0x80000000u;
    dml_refuse(&call, "2^32-1 elements");
    call.dy.strides[2] = call.dy.strides[3] = UINT_MAX;
    dml_refuse(&call, "2^32-1 elements");
    call.dy.strides[3] = 0;
    dml_refuse(&call, "2^32-1 elements");
    call.dy.strides[2]--;
    dml_totals(&call);
    assert_int_equal(call.dy.buffer.TotalTensorSizeInBytes, 4 * (UINT64)UINT_MAX);
    dml_accept(&call);
}

static void guaranteed_alignment(void **state)
{
    static const UINT bad[] = {1, 2, 3, 5, 12, 24, 0x80000001u, UINT_MAX};
    static const UINT good[] = {0, 4, 8, 16, 256, 0x80000000u};
    dml_call call;
    size_t k;
    int i;

    (void)state;
    for (i = 0; i < 3; i++) {
        dml_example(&call, 0);
        for (k = 0; k < sizeof bad / sizeof *bad; k++) {
            tensor_of(&call, i)->buffer.GuaranteedBaseOffsetAlignment = bad[k];
            dml_refuse(&call, "a power of two");
        }
        for (k = 0; k < sizeof good / sizeof *good; k++) {
            tensor_of(&call, i)->buffer.GuaranteedBaseOffsetAlignment = good[k];
            dml_accept(&call);
        }
    }
    dml_example(&call, 1);
    call.dx.buffer.DataType = call.dy.buffer.DataType = DML_TENSOR_DATA_TYPE_FLOAT16;
    call.dx.buffer.GuaranteedBaseOffsetAlignment = 2;
    dml_accept(&call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_description_null),
        cmocka_unit_test(operator_type),
        cmocka_unit_test(tensor_null),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(tensor_type),
        cmocka_unit_test(data_type),
        cmocka_unit_test(flags),
        cmocka_unit_test(dimension_count),
        cmocka_unit_test(max_of_5_dimensions),
        cmocka_unit_test(zero_size),
        cmocka_unit_test(broadcast_output),
        cmocka_unit_test(total_size),
        cmocka_unit_test(total_size_rounded_up),
        cmocka_unit_test(too_many_elements),
        cmocka_unit_test(strides_beyond_32_bits),
        cmocka_unit_test(guaranteed_alignment),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
