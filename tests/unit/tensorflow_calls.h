/* SPDX-License-Identifier: MIT */
/* Calls of TensorFlow's face: any operator, and small valid calls for tests to spoil. */
#ifndef TESTS_UNIT_TENSORFLOW_CALLS_H
#define TESTS_UNIT_TENSORFLOW_CALLS_H

#include <poolgrad/tensorflow.h>

#include "harness.h"

typedef enum tf_op {
    TF_AVG,    /* orig_input_shape, grad */
    TF_AVG3D,  /* the same */
    TF_MAX,    /* orig_input, orig_output, grad */
    TF_MAX3D,  /* the same */
    TF_ARGMAX, /* input, grad, argmax */
    TF_OPS
} tf_op;

enum {
    TF_OUTPUT = 3, /* place of the output among the tensors of a call; before it the inputs */
    TF_TENSORS = 4
};

/* Place of grad among the inputs. */
int tf_grad(tf_op op);

poolgrad_tensorflow_code tf_call(tf_op op, const poolgrad_tensor *const *tensors,
                                 const poolgrad_tensorflow_attributes *attributes,
                                 const poolgrad_face_options *options, poolgrad_error *error);

/*
 * A valid call that holds its own memory: 2x2 windows, stride 1, VALID, float, on 1x3x3x1 (3-D:
 * 1x2x3x3x1 with windows of 1x2x2); grad 1, 2, 3 ..; the input likewise, so that the last position
 * of a window wins. Pointers in it point into it: do not copy it.
 */
typedef struct tf_sample {
    tf_op op;
    poolgrad_tensor tensors[TF_TENSORS];
    const poolgrad_tensor *given[TF_TENSORS]; /* what the call gets: those, or NULL */
    poolgrad_tensorflow_attributes attributes;
    poolgrad_face_options options;
    int64_t sizes[TF_TENSORS][16];
    int64_t ksize[8], strides[8], paddings[16];
    int32_t shape[16]; /* the data of orig_input_shape */
    int64_t argmax[32];
    float data[TF_TENSORS][64]; /* of the output: a pattern */
} tf_sample;

void tf_sample_make(tf_sample *s, tf_op op);
void tf_sizes(tf_sample *s, int tensor, int32_t rank, const int64_t *sizes);
/* The sizes of the pooled input: the elements of orig_input_shape, or the sizes of orig_input; and
 * those of the output. */
void tf_input(tf_sample *s, int32_t rank, const int64_t *sizes);
void tf_window(tf_sample *s, size_t count, const int64_t *ksize, const int64_t *strides,
               const char *padding);

#define TF_LIST(...) ((const int64_t[]){__VA_ARGS__})

/* The call must succeed, and the output must begin with these values. */
void tf_expect_values(tf_sample *s, int count, const float *values);

/* The call must fail with this code and a message that holds these words; so must the same call
 * without an error struct, and the one for a plan only. The output stays untouched. */
void tf_expect(tf_sample *s, poolgrad_tensorflow_code code, const char *words);

/* The same for memory that cannot be used: planning alone succeeds. */
void tf_expect_memory(tf_sample *s, poolgrad_tensorflow_code code, const char *words);

#endif
