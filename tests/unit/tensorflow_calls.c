/* SPDX-License-Identifier: MIT */
#include "tensorflow_calls.h"

#include <string.h>

int tf_grad(tf_op op)
{
    return op == TF_MAX || op == TF_MAX3D ? 2 : 1;
}

poolgrad_tensorflow_code tf_call(tf_op op, const poolgrad_tensor *const *tensors,
                                 const poolgrad_tensorflow_attributes *attributes,
                                 const poolgrad_face_options *options, poolgrad_error *error)
{
    const poolgrad_tensor *output = tensors[TF_OUTPUT];

    switch (op) {
    case TF_AVG:
        return poolgrad_tensorflow_avg_pool_grad(tensors[0], tensors[1], attributes, output,
                                                 options, error);
    case TF_AVG3D:
        return poolgrad_tensorflow_avg_pool3d_grad(tensors[0], tensors[1], attributes, output,
                                                   options, error);
    case TF_MAX:
        return poolgrad_tensorflow_max_pool_grad(tensors[0], tensors[1], tensors[2], attributes,
                                                 output, options, error);
    case TF_MAX3D:
        return poolgrad_tensorflow_max_pool3d_grad(tensors[0], tensors[1], tensors[2], attributes,
                                                   output, options, error);
    default:
        return poolgrad_tensorflow_max_pool_grad_with_argmax(tensors[0], tensors[1], tensors[2],
                                                             attributes, output, options, error);
    }
}

void tf_sizes(tf_sample *s, int tensor, int32_t rank, const int64_t *sizes)
{
    s->tensors[tensor].rank = rank;
    memcpy(s->sizes[tensor], sizes, (size_t)rank * sizeof *sizes);
}

void tf_input(tf_sample *s, int32_t rank, const int64_t *sizes)
{
    const int64_t count = rank;
    int i;

    if (s->op == TF_AVG || s->op == TF_AVG3D) {
        tf_sizes(s, 0, 1, &count);
        for (i = 0; i < rank; i++)
            s->shape[i] = (int32_t)sizes[i];
    } else {
        tf_sizes(s, 0, rank, sizes);
    }
    tf_sizes(s, TF_OUTPUT, rank, sizes);
}

void tf_window(tf_sample *s, size_t count, const int64_t *ksize, const int64_t *strides,
               const char *padding)
{
    memcpy(s->ksize, ksize, count * sizeof *ksize);
    memcpy(s->strides, strides, count * sizeof *strides);
    s->attributes.ksize = (poolgrad_list){s->ksize, count};
    s->attributes.strides = (poolgrad_list){s->strides, count};
    s->attributes.padding = padding;
}

void tf_sample_make(tf_sample *s, tf_op op)
{
    const int deep = op == TF_AVG3D || op == TF_MAX3D;
    const int32_t rank = deep ? 5 : 4;
    const int64_t *windows = deep ? TF_LIST(1, 2, 2, 2, 1) : TF_LIST(1, 2, 2, 1);
    int i, k;

    memset(s, 0, sizeof *s);
    s->op = op;
    poolgrad_face_options_init(&s->options);
    for (i = 0; i < TF_TENSORS; i++) {
        s->tensors[i] =
            (poolgrad_tensor){POOLGRAD_TENSORFLOW_FLOAT, 0, s->sizes[i], NULL, s->data[i]};
        s->given[i] = &s->tensors[i];
        for (k = 0; k < 64; k++)
            s->data[i][k] = (float)(k + 1);
    }
    memset(s->data[TF_OUTPUT], 0xa5, sizeof s->data[TF_OUTPUT]);
    if (op == TF_AVG || op == TF_AVG3D) {
        s->tensors[0].dtype = POOLGRAD_TENSORFLOW_INT32;
        s->tensors[0].data = s->shape;
    }
    if (op == TF_MAX || op == TF_MAX3D)
        tf_sizes(s, 1, rank, windows);
    if (op == TF_ARGMAX) {
        s->tensors[2].dtype = POOLGRAD_TENSORFLOW_INT64;
        s->tensors[2].data = s->argmax;
        tf_sizes(s, 2, rank, windows);
        memcpy(s->argmax, TF_LIST(4, 5, 7, 8), 4 * sizeof(int64_t));
    }
    tf_input(s, rank, deep ? TF_LIST(1, 2, 3, 3, 1) : TF_LIST(1, 3, 3, 1));
    tf_sizes(s, tf_grad(op), rank, windows);
    if (deep)
        tf_window(s, 5, TF_LIST(1, 1, 2, 2, 1), TF_LIST(1, 1, 1, 1, 1), "VALID");
    else
        tf_window(s, 4, TF_LIST(1, 2, 2, 1), TF_LIST(1, 1, 1, 1), "VALID");
}

void tf_expect_values(tf_sample *s, int count, const float *values)
{
    poolgrad_error error;

    memset(&error, 0xff, sizeof error);
    if (tf_call(s->op, s->given, &s->attributes, &s->options, &error) != POOLGRAD_TENSORFLOW_OK)
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
    assert_memory_equal(s->data[TF_OUTPUT], values, (size_t)count * sizeof *values);
}

static void expect(tf_sample *s, poolgrad_tensorflow_code code, const char *words,
                   poolgrad_tensorflow_code planning)
{
    poolgrad_plan *plan = (poolgrad_plan *)s; /* anything but NULL */
    char before[sizeof s->data[TF_OUTPUT]];
    poolgrad_error error;

    memcpy(before, s->data[TF_OUTPUT], sizeof before);
    assert_int_equal(tf_call(s->op, s->given, &s->attributes, &s->options, &error), code);
    assert_int_not_equal(error.status, POOLGRAD_OK);
    if (!strstr(error.message, words))
        fail_msg("the message is: %s", error.message);
    assert_int_equal(tf_call(s->op, s->given, &s->attributes, &s->options, NULL), code);
    if (s->options.size == sizeof s->options) {
        s->options.plan = &plan;
        assert_int_equal(tf_call(s->op, s->given, &s->attributes, &s->options, &error), planning);
        s->options.plan = NULL;
        assert_int_equal(plan != NULL, planning == POOLGRAD_TENSORFLOW_OK);
        poolgrad_plan_destroy(plan);
    }
    assert_memory_equal(s->data[TF_OUTPUT], before, sizeof before);
}

void tf_expect(tf_sample *s, poolgrad_tensorflow_code code, const char *words)
{
    expect(s, code, words, code);
}

void tf_expect_memory(tf_sample *s, poolgrad_tensorflow_code code, const char *words)
{
    expect(s, code, words, POOLGRAD_TENSORFLOW_OK);
}
