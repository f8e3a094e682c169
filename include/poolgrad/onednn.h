/* SPDX-License-Identifier: MIT */
/*
 * oneDNN's AvgPoolBackward and MaxPoolBackward (operations of its graph API), callable from C.
 * docs/faces/onednn.md goes through them attribute by attribute and lists what differs.
 *
 *     float dy[4] = {1, 2, 3, 4}, dx[9];
 *     int64_t small[] = {1, 2, 2, 1}, large[] = {1, 3, 3, 1};
 *     int32_t exclude_pad = 0;
 *     poolgrad_tensor diff_dst = {POOLGRAD_ONEDNN_F32, 4, small, NULL, dy};
 *     poolgrad_tensor diff_src = {POOLGRAD_ONEDNN_F32, 4, large, NULL, dx};
 *     poolgrad_onednn_attributes attributes = {.strides = POOLGRAD_LIST(1, 1),
 *                                              .pads_begin = POOLGRAD_LIST(0, 0),
 *                                              .pads_end = POOLGRAD_LIST(0, 0),
 *                                              .kernel = POOLGRAD_LIST(2, 2),
 *                                              .exclude_pad = &exclude_pad,
 *                                              .src_shape = POOLGRAD_LIST(1, 3, 3, 1)};
 *     poolgrad_onednn_avg_pool_backward(&diff_dst, NULL, &attributes, &diff_src, NULL, NULL);
 */
#ifndef POOLGRAD_ONEDNN_H
#define POOLGRAD_ONEDNN_H

#include <poolgrad/face.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values of dnnl_status_t that occur here. */
typedef enum poolgrad_onednn_code {
    POOLGRAD_ONEDNN_SUCCESS = 0,
    POOLGRAD_ONEDNN_OUT_OF_MEMORY = 1,
    POOLGRAD_ONEDNN_INVALID_ARGUMENTS = 2, /* sizes, lists, memory or options */
    POOLGRAD_ONEDNN_UNIMPLEMENTED = 3,     /* options that this machine or problem rules out */
    POOLGRAD_ONEDNN_INVALID_GRAPH_OP = 8,  /* the operation itself: an attribute is missing, unknown
                                              or not one of its values, a data type */
    POOLGRAD_ONEDNN_INVALID_SHAPE = 9      /* a negative size; src and diff_src differ */
} poolgrad_onednn_code;

/* The values of dnnl_data_type_t. */
typedef enum poolgrad_onednn_dtype {
    POOLGRAD_ONEDNN_F16 = 1,
    POOLGRAD_ONEDNN_BF16 = 2,
    POOLGRAD_ONEDNN_F32 = 3,
    POOLGRAD_ONEDNN_S32 = 4, /* src_shape */
    POOLGRAD_ONEDNN_F64 = 7, /* in neither operation: refused */
    POOLGRAD_ONEDNN_S64 = 16 /* src_shape */
} poolgrad_onednn_dtype;

/* The attributes of both operations. All zero: nothing is given. One that is given to an operation
 * without it is an error. */
typedef struct poolgrad_onednn_attributes {
    poolgrad_list strides;    /* required; this and the next three have an entry per spatial axis */
    poolgrad_list pads_begin; /* required, also if auto_pad makes it irrelevant (then it may have
                                 no entries) */
    poolgrad_list pads_end;   /* likewise */
    poolgrad_list kernel;     /* required */
    const int32_t *exclude_pad; /* AvgPoolBackward only, required; not 0: divide by the taps inside
                                   the input, 0: by all taps of the kernel */
    const char *auto_pad;       /* "none" (default), "same_upper", "same_lower", "valid", in any
                                   letter case; all but none make the pads irrelevant */
    const char *data_format;    /* "NXC" (default), "NCX", in any letter case: the order of the axes
                                   of every tensor */
    poolgrad_list src_shape;    /* AvgPoolBackward only; ignored if src_shape is a tensor too */
    poolgrad_list dilations;    /* MaxPoolBackward only; default 1s, which means none */
} poolgrad_onednn_attributes;

/*
 * diff_src from diff_dst, F32, BF16 or F16. The shape of diff_src must also be told by src_shape:
 * a tensor, S32 or S64, with one axis, or if that is NULL the attribute. The elements of the tensor
 * are read even if only the plan is asked for.
 */
POOLGRAD_API poolgrad_onednn_code poolgrad_onednn_avg_pool_backward(
    const poolgrad_tensor *diff_dst, const poolgrad_tensor *src_shape,
    const poolgrad_onednn_attributes *attributes, const poolgrad_tensor *diff_src,
    const poolgrad_face_options *options, poolgrad_error *error);

/*
 * diff_src from diff_dst and src, in which the maxima are found again, F32, BF16 or F16. The first
 * of equal values wins; a NaN only if its window holds nothing else.
 */
POOLGRAD_API poolgrad_onednn_code poolgrad_onednn_max_pool_backward(
    const poolgrad_tensor *src, const poolgrad_tensor *diff_dst,
    const poolgrad_onednn_attributes *attributes, const poolgrad_tensor *diff_src,
    const poolgrad_face_options *options, poolgrad_error *error);

#ifdef __cplusplus
}
#endif

#endif
