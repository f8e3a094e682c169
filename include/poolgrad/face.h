/* SPDX-License-Identifier: MIT */
/*
 * What the faces have in common. A face is an operator of another system, callable from C with that
 * system's own names, defaults, checks and error codes; it converts its arguments into a
 * poolgrad_desc and calls the library. docs/faces/ has a page for each.
 *
 * Rules that hold for every face:
 *   - A function returns the original's kind of error code. `error` may be NULL; otherwise it is
 *     filled in every case: poolgrad's own status and on failure a sentence, in the original's
 *     words where it has words for it.
 *   - Everything is checked before anything is written. The one exception is that of
 *     poolgrad_execute: after POOLGRAD_ERR_INDEX the elements of the output are unspecified.
 *   - Lists and strings that are left out (NULL) have the original's default; where the original
 *     has none, leaving them out is its error.
 *   - Output tensors are the caller's. Their dtype and sizes must be those that the original would
 *     have given its result.
 *   - Every function may be called from any thread, nothing is kept between calls.
 */
#ifndef POOLGRAD_FACE_H
#define POOLGRAD_FACE_H

#include <poolgrad/poolgrad.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A list of integers: an attribute such as strides. A NULL pointer: left out. */
typedef struct poolgrad_list {
    const int64_t *values;
    size_t count;
} poolgrad_list;

#ifndef __cplusplus
/* POOLGRAD_LIST(1, 2, 2, 1), alive as long as the block it stands in (a statement behind `if` is a
 * block of its own, with and without braces). */
#define POOLGRAD_LIST(...)                                                                         \
    ((poolgrad_list){(const int64_t[]){__VA_ARGS__},                                               \
                     sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)})
#endif

/* A tensor of any face. Axes are in the order in which the original names them (TensorFlow's NHWC:
 * batch, height, width, channels). Inputs are never written through `data`. */
typedef struct poolgrad_tensor {
    int32_t dtype;          /* in the face's own numbering */
    int32_t rank;           /* number of sizes */
    const int64_t *sizes;   /* may be NULL if rank is 0 */
    const int64_t *strides; /* in elements, axes as in sizes; NULL: dense, the last axis fastest */
    void *data;             /* element 0 on every axis; may be NULL if a size is 0 */
} poolgrad_tensor;

/* What a call can be told beyond the original's own arguments. NULL instead of a pointer to it
 * stands for the defaults. */
typedef struct poolgrad_face_options {
    size_t size; /* sizeof(poolgrad_face_options); set by poolgrad_face_options_init */

    /* threads, instruction set, allocator; NULL: defaults */
    const poolgrad_options *compute;

    /* as in poolgrad_buffers */
    void *workspace;
    size_t workspace_size;

    /* Not NULL: nothing is computed and no data is looked at. After all checks of types, sizes and
     * attributes *plan receives the plan of the call, owned by the caller, or NULL on failure. For
     * executing it often, and for asking which problem a call stands for (poolgrad_plan_desc). */
    poolgrad_plan **plan;

    /* Not 0: the original's own arithmetic instead of poolgrad's, bit for bit where a formula for
     * it is known (docs/arithmetic.md); slower. */
    int32_t parity;
    int32_t reserved;
} poolgrad_face_options;

/* Fills *options with defaults: everything 0 or NULL but size. Fails with ERR_NULL only. */
POOLGRAD_API poolgrad_status poolgrad_face_options_init(poolgrad_face_options *options);

#ifdef __cplusplus
}
#endif

#endif
