/* SPDX-License-Identifier: MIT */
/* A call of oneDNN's operations with room for everything it points at. */
#ifndef TESTS_UNIT_FACE_ONEDNN_H
#define TESTS_UNIT_FACE_ONEDNN_H

#include <poolgrad/onednn.h>

#include "harness.h"

/* The pointers point into the struct itself: do not copy it. Tests change what they like. */
typedef struct onednn_call {
    int average;
    int64_t src_sizes[5], dst_sizes[5];
    int64_t strides[5], pads_begin[5], pads_end[5], kernel[5], dilations[5];
    int32_t exclude_pad;
    poolgrad_onednn_attributes attributes;
    poolgrad_tensor src, diff_dst, diff_src; /* src_sizes, dst_sizes, src_sizes; f32, dense */
    int32_t shape[5];                        /* src_sizes again, by onednn_shape_as_input */
    int64_t shape_count;
    poolgrad_tensor shape_tensor;
    const poolgrad_tensor *src_shape; /* NULL: by attribute */
    float dy[64], x[64], dx[64];
} onednn_call;

/* Strides and kernel 1, no padding, axes NCX, exclude_pad 0, src_shape by attribute, dilations left
 * out; sizes 0, data NULL. */
void onednn_start(onednn_call *c, int average, int spatial);

/* Lets src_shape be an s32 tensor with what src_sizes holds now, and no attribute. */
void onednn_shape_as_input(onednn_call *c);

/* A good call to spoil: 1 x 1 x 3 x 3, kernel 2, stride 1, on the memory in the struct. Values are
 * 0, but dx holds a pattern. */
void onednn_good(onednn_call *c, int average);

poolgrad_onednn_code onednn_run(const onednn_call *c, const poolgrad_face_options *options,
                                poolgrad_error *error);

/* The call fails with this code, its message has these words, and dx keeps its pattern; with and
 * without an error to fill. */
void onednn_refused(const onednn_call *c, poolgrad_onednn_code code, const char *words);
void onednn_refused_with(const onednn_call *c, const poolgrad_face_options *options,
                         poolgrad_onednn_code code, const char *words);
void onednn_untouched(const onednn_call *c);

/* The call succeeds. */
void onednn_accepted(const onednn_call *c);

#endif
