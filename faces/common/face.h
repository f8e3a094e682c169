/* SPDX-License-Identifier: MIT */
/*
 * What the faces share: a call in the making. A face begins it, fills the descriptor from its own
 * arguments, asks how many windows there are, judges the shapes in its own words, binds the tensors
 * and finishes; the library then judges what is left.
 */
#ifndef FACES_COMMON_FACE_H
#define FACES_COMMON_FACE_H

#include <poolgrad/face.h>

typedef enum pgi_face_origin {
    PGI_FACE_DIRECTML = 1,
    PGI_FACE_TENSORFLOW = 2,
    PGI_FACE_ONEDNN = 3,
    PGI_FACE_ONNXRUNTIME = 4,
    PGI_FACE_TORCH = 5
} pgi_face_origin;

typedef enum pgi_face_slot {
    PGI_FACE_DY = 0,
    PGI_FACE_DX = 1,
    PGI_FACE_X = 2,
    PGI_FACE_Y = 3,
    PGI_FACE_INDICES = 4
} pgi_face_slot;

enum {
    PGI_FACE_SLOTS = 5
};

typedef struct pgi_face_call {
    poolgrad_desc desc;
    poolgrad_buffers buffers;
    poolgrad_face_options options;
    const char *name[PGI_FACE_SLOTS]; /* what the face calls the tensors, for messages */
} pgi_face_call;

/* Fills a failure if error is not NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void pgi_face_say(poolgrad_error *error, poolgrad_status status, const char *format, ...);

/* The same with `status` as its value; a macro, so that whoever reads or analyses a face sees that
 * it is not POOLGRAD_OK. */
#define pgi_face_fail(error, status, ...) (pgi_face_say(error, status, __VA_ARGS__), (status))

/* Checks and copies the options (NULL: defaults), sets *options->plan to NULL, and gives the call a
 * descriptor with defaults and the parity that the options ask for. */
poolgrad_status pgi_face_begin(pgi_face_call *call, const poolgrad_face_options *options,
                               pgi_face_origin origin, poolgrad_error *error);

/* Fails if the tensor is NULL or has no sizes although it has a rank, or rank is negative. */
poolgrad_status pgi_face_tensor(const poolgrad_tensor *tensor, const char *name,
                                poolgrad_error *error);

/* Index of a view's axis (0 batch, 1 channels, 2.. spatial) in a tensor with that order of axes
 * (POOLGRAD_NCX or POOLGRAD_NXC). */
int pgi_face_axis(poolgrad_layout order, int32_t spatial, int view_axis);

/* Lets batch, channels, in and rank of the descriptor be those of a whole input tensor with a batch
 * axis; tensor->rank must be 3, 4 or 5. */
void pgi_face_set_input(poolgrad_desc *desc, const poolgrad_tensor *tensor, poolgrad_layout order);

/* Copies the list to array[count]; a list that was left out becomes `fill`. The list must have
 * `count` values or be left out. */
void pgi_face_copy(poolgrad_list list, int64_t *array, int32_t count, int64_t fill);

/* How many windows each axis of the descriptor has, into out[3], after the library's own checks of
 * the axes (desc.out is taken as 0; op and divisor need not be set yet). */
poolgrad_status pgi_face_windows(const pgi_face_call *call, int64_t *out, poolgrad_error *error);

/* Sizes in the order of a face's tensor axes from batch, channels and spatial extents. */
void pgi_face_sizes(poolgrad_layout order, int32_t spatial, int64_t batch, int64_t channels,
                    const int64_t *extent, int64_t *sizes);

/* 1 if the tensor has exactly these sizes. */
int pgi_face_has_sizes(const poolgrad_tensor *tensor, int32_t rank, const int64_t *sizes);

/* "[1,2,3]", cut at capacity and after five sizes; returns text. */
char *pgi_face_sizes_text(int32_t rank, const int64_t *sizes, char *text, size_t capacity);

/* Lets one operand of the call be this tensor, under the face's name for it: memory, and how it
 * lies there. The descriptor's rank must be set. A tensor without a batch axis (torch) has a rank
 * one smaller. */
void pgi_face_bind(pgi_face_call *call, pgi_face_slot slot, const poolgrad_tensor *tensor,
                   poolgrad_layout order, const char *name);

/* Plans, and executes unless the caller wants the plan only. Messages of the library are followed
 * by the face's names of the tensors. */
poolgrad_status pgi_face_finish(pgi_face_call *call, poolgrad_error *error);

/* Executes a plan that a face has kept, with the buffers and the names of the call. */
poolgrad_status pgi_face_execute(const pgi_face_call *call, const poolgrad_plan *plan,
                                 poolgrad_error *error);

/* Reads `count` integers of 4 or 8 bytes from a tensor of one axis with as many, at most 5. */
poolgrad_status pgi_face_read_ints(const poolgrad_tensor *tensor, const char *name, size_t bytes,
                                   int32_t count, int64_t *values, poolgrad_error *error);

/* 1 if both are the same text but for the case of ASCII letters. */
int pgi_face_same_word(const char *a, const char *b);

#endif
