/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow's checks, in TensorFlow's words: what the operators have in common. The functions fill
 * an operation step by step, each needing what the ones before it have set; they return
 * ERR_UNSUPPORTED for what TensorFlow calls unimplemented.
 */
#ifndef FACES_TENSORFLOW_OPERATION_H
#define FACES_TENSORFLOW_OPERATION_H

#include <poolgrad/tensorflow.h>

#include "common/face.h"

enum {
    PGI_TENSORFLOW_AXES = 5 /* of a tensor, at most */
};

/* What distinguishes the operators. */
typedef struct pgi_tensorflow_op {
    const char *name;
    int32_t spatial;
    int has_explicit, has_format, has_batch_in_index;
    int channels_late;        /* AvgPoolGrad looks at channels after the shapes */
    const char *for_channels; /* how it refuses to pool over them */
} pgi_tensorflow_op;

typedef struct pgi_tensorflow_call {
    pgi_face_call call;
    const pgi_tensorflow_op *op;
    const poolgrad_tensorflow_attributes *attributes; /* not NULL once they have been checked */
    int32_t dtype;                                    /* T */
    poolgrad_layout order;
    int64_t sizes[PGI_TENSORFLOW_AXES];   /* of the pooled input */
    int64_t windows[PGI_TENSORFLOW_AXES]; /* of the pooled output */
} pgi_tensorflow_call;

/* TensorFlow's name of a type; never NULL. */
const char *pgi_tensorflow_type_name(int32_t dtype);

/* Says that a type is not among those allowed. */
poolgrad_status pgi_tensorflow_wrong_type(const char *attribute, int32_t dtype, const char *allowed,
                                          poolgrad_error *error);

/* Lets T be the type of this tensor. */
poolgrad_status pgi_tensorflow_set_type(pgi_tensorflow_call *o, const poolgrad_tensor *tensor,
                                        poolgrad_error *error);

/* Fails unless the operator's input number `place` has the type. */
poolgrad_status pgi_tensorflow_check_type(const pgi_tensorflow_call *o,
                                          const poolgrad_tensor *tensor, int place, int32_t dtype,
                                          poolgrad_error *error);

/* All that can be said of the attributes alone; sets the order of axes. */
poolgrad_status pgi_tensorflow_check_attributes(pgi_tensorflow_call *o, poolgrad_error *error);

/* Fails unless ksize or strides, as the name says, is 1 for channels. */
poolgrad_status pgi_tensorflow_check_channels(const pgi_tensorflow_call *o, const char *name,
                                              poolgrad_list list, poolgrad_error *error);

/* Fails unless the tensor has a batch axis, spatial axes and channels. `original` is what
 * TensorFlow's message calls it. */
poolgrad_status pgi_tensorflow_check_rank(const pgi_tensorflow_call *o,
                                          const poolgrad_tensor *tensor, const char *name,
                                          const char *original, poolgrad_error *error);

/* Sets the sizes to the elements of orig_input_shape, INT32 or INT64. */
poolgrad_status pgi_tensorflow_read_shape(pgi_tensorflow_call *o, const poolgrad_tensor *shape,
                                          poolgrad_error *error);

/* Checks the sizes, and lets the pooled input of the descriptor have them. */
poolgrad_status pgi_tensorflow_set_input(pgi_tensorflow_call *o, poolgrad_error *error);

/* From the attributes the windows of the descriptor, from these the shape of the pooled output. */
poolgrad_status pgi_tensorflow_set_windows(pgi_tensorflow_call *o, poolgrad_error *error);

/* Fails unless the tensor has the shape of the pooled output. */
poolgrad_status pgi_tensorflow_check_shape(const pgi_tensorflow_call *o,
                                           const poolgrad_tensor *tensor, const char *name,
                                           poolgrad_error *error);

/* AvgPool3DGrad's words for a grad whose batch or channels differ from the input's. */
poolgrad_status pgi_tensorflow_check_ends(const pgi_tensorflow_call *o, const poolgrad_tensor *grad,
                                          poolgrad_error *error);

#endif
