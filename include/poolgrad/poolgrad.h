/* SPDX-License-Identifier: MIT */
/*
 * poolgrad: pooling and its gradient, with the same bits everywhere.
 *
 * x is the pooled input, y the output, dy the gradient that arrives, dx the gradient to compute.
 * Say what you want in a poolgrad_desc, make a plan of it once, execute the plan as often as you
 * like:
 *
 *     poolgrad_desc desc;
 *     poolgrad_desc_parse("avg2d:f32:nchw:8x64x56x56:k3:s2:p1", &desc, NULL);
 *     poolgrad_plan *plan;
 *     poolgrad_plan_create(&plan, &desc, NULL, NULL);
 *     poolgrad_buffers buffers;
 *     poolgrad_buffers_init(&buffers);
 *     buffers.dy = dy;
 *     buffers.dx = dx;
 *     poolgrad_execute(plan, &buffers, NULL);
 *     poolgrad_plan_destroy(plan);
 *
 * Rules that hold for every function:
 *   - Errors are returned, never printed; nothing aborts. A function that fails has changed none
 *     of its outputs except *error (plan_create also sets its plan to NULL).
 *   - `error` may be NULL. Otherwise it is filled in every case: status, and on failure a sentence
 *     that names the field, its value and the rule it broke.
 *   - Structs whose first field is `size` are versioned by it. The init functions set it; a struct
 *     from an older, smaller header is accepted, one that is larger than the library knows is not.
 *   - Every function may be called from any thread. Objects are not locked: two threads may not
 *     change the same descriptor at once. A plan never changes.
 *
 * docs/arithmetic.md defines the result to the bit, docs/semantics.md the windows and divisors,
 * docs/problem-strings.md the text form of a descriptor.
 */
#ifndef POOLGRAD_POOLGRAD_H
#define POOLGRAD_POOLGRAD_H

#include <stddef.h>
#include <stdint.h>

#define POOLGRAD_VERSION_MAJOR 0
#define POOLGRAD_VERSION_MINOR 1
#define POOLGRAD_VERSION_PATCH 0

#if defined(__GNUC__) && !defined(_WIN32)
#define POOLGRAD_API __attribute__((visibility("default")))
#else
#define POOLGRAD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ status */

/* Values are fixed for all time, spaced by topic. */
typedef enum poolgrad_status {
    POOLGRAD_OK = 0,

    /* how the call was made */
    POOLGRAD_ERR_NULL = 10,        /* a required pointer is NULL */
    POOLGRAD_ERR_STRUCT_SIZE = 11, /* a struct's size field is not one this library knows */
    POOLGRAD_ERR_ENUM = 12,        /* an enum field holds an unknown value */
    POOLGRAD_ERR_OPTION = 13,      /* an option or environment variable has an unknown value */
    POOLGRAD_ERR_SYNTAX = 14,      /* a problem string does not follow the grammar */

    /* the problem */
    POOLGRAD_ERR_RANK = 20,      /* rank is not 1, 2 or 3 */
    POOLGRAD_ERR_ATTRIBUTE = 21, /* kernel, stride, dilation, padding, divisor, alpha, beta, or
                                    what does not go with parity */
    POOLGRAD_ERR_SHAPE = 22,     /* an extent is negative or does not follow from the problem; also
                                    batch and channels of views */
    POOLGRAD_ERR_OVERFLOW = 23,  /* a product or sum of sizes does not fit in 64 bits */
    POOLGRAD_ERR_BOX = 24,       /* a view leaves its tensor on a spatial axis, or what is read does
                                    not cover what is written */
    POOLGRAD_ERR_LAYOUT = 25,    /* two elements of what is written would share memory */

    /* the memory handed to poolgrad_execute */
    POOLGRAD_ERR_MISALIGNED = 30, /* a pointer is not aligned to its element type */
    POOLGRAD_ERR_OVERLAP = 31,    /* something that is written overlaps something else */
    POOLGRAD_ERR_WORKSPACE = 32,  /* the workspace is smaller than the plan needs */
    POOLGRAD_ERR_INDEX = 33,      /* an index names no position of its window; error.position says
                                     which element of the indices */
    POOLGRAD_ERR_POINTER = 34,    /* memory or a stream of another device than the plan's, or of
                                     the host */

    /* the system */
    POOLGRAD_ERR_MEMORY = 40,      /* an allocation failed */
    POOLGRAD_ERR_UNSUPPORTED = 41, /* known, but not available on this machine */
    POOLGRAD_ERR_DEVICE = 42       /* a device or its driver failed */
} poolgrad_status;

typedef struct poolgrad_error {
    poolgrad_status status;
    int32_t reserved;
    int64_t position; /* -1: the error belongs to no single element */
    char message[240];
} poolgrad_error;

/* A few words for a status, for example "shape mismatch". Static; never NULL, also for values
 * that are no status. */
POOLGRAD_API const char *poolgrad_status_text(poolgrad_status status);

/* "0.1.0", of the library that is running (the macros above are of the header compiled with). */
POOLGRAD_API const char *poolgrad_version(void);

/* ------------------------------------------------------------- the problem */

typedef enum poolgrad_op {
    POOLGRAD_AVG_GRAD = 1, /* dx from dy, average pooling */
    POOLGRAD_MAX_GRAD = 2, /* dx from dy and the winners: indices, or found again from x */
    POOLGRAD_AVG = 3,      /* y from x, average pooling */
    POOLGRAD_MAX = 4       /* y, and the winners' indices if asked for, from x */
} poolgrad_op;

typedef enum poolgrad_dtype {
    POOLGRAD_F32 = 1,
    POOLGRAD_F64 = 2,
    POOLGRAD_F16 = 3, /* IEEE binary16, in uint16_t where C has no such type */
    POOLGRAD_BF16 = 4 /* upper half of an f32 */
} poolgrad_dtype;

/* How many windows an axis has: floor and ceil are of (in + pad_lo + pad_hi - span) / stride,
 * plus 1, with span = (kernel - 1) * dilation + 1; none if that is negative. */
typedef enum poolgrad_rounding {
    POOLGRAD_FLOOR = 1,
    POOLGRAD_CEIL = 2,    /* the last window is dropped if it starts at or past in + pad_lo */
    POOLGRAD_ADAPTIVE = 3 /* `out` is given; window o is [floor(o*in/out), ceil((o+1)*in/out)) */
} poolgrad_rounding;

/* What dy, or forward the sum, is divided by. Each is a product over the axes, except OVERRIDE. */
typedef enum poolgrad_divisor {
    POOLGRAD_EXCLUDE = 1,         /* taps inside the input */
    POOLGRAD_INCLUDE = 2,         /* all taps */
    POOLGRAD_INCLUDE_CLIPPED = 3, /* taps inside the padded input; differs from INCLUDE only where
                                     CEIL makes a window run past it */
    POOLGRAD_OVERRIDE = 4         /* divisor_override */
} poolgrad_divisor;

/* Where the gradient of max pooling has its winners from. */
typedef enum poolgrad_winner {
    POOLGRAD_FROM_INDICES = 1, /* the index tensor; every index is checked against its window */
    POOLGRAD_FROM_X = 2,       /* x: the first maximum in row-major order of the window */
    POOLGRAD_NEAR_Y = 3        /* x and y, the forward result: every position of a window with
                                  |x - y| < 1e-5 gets the whole dy. TensorFlow's MaxPool3DGrad; only
                                  with POOLGRAD_PARITY_TENSORFLOW */
} poolgrad_winner;

/* Who wins in a window with NaN. Padding never wins, and -inf loses to nothing but a larger value
 * or an earlier position. */
typedef enum poolgrad_nan {
    POOLGRAD_NAN_FIRST = 1,  /* the first NaN */
    POOLGRAD_NAN_SKIP = 2,   /* the largest number; the first position if all are NaN */
    POOLGRAD_NAN_LAST = 3,   /* the last NaN (PyTorch) */
    POOLGRAD_NAN_LEADING = 4 /* a NaN at the first position inside the input; otherwise as SKIP
                                (TensorFlow's MaxPoolGrad) */
} poolgrad_nan;

/* Whose arithmetic a gradient is computed in. OFF is poolgrad's own: faster, more accurate. The
 * others reproduce, to the bit, what a system computes on its CPU: how dy is divided, the order in
 * which windows are added, what is rounded after every step (docs/arithmetic.md has the table, and
 * what was confirmed). They select arithmetic only: divisor, winner and NaN rule stay the
 * descriptor's, and places where a system goes wrong are not reproduced. They need alpha 1 and
 * beta 0, have no forward passes, and are slow. */
typedef enum poolgrad_parity {
    POOLGRAD_PARITY_OFF = 1,
    POOLGRAD_PARITY_TENSORFLOW = 2,
    POOLGRAD_PARITY_ONNXRUNTIME = 3,
    POOLGRAD_PARITY_TORCH = 4,
    POOLGRAD_PARITY_ONEDNN = 5
} poolgrad_parity;

typedef enum poolgrad_index_type {
    POOLGRAD_I64 = 1,
    POOLGRAD_I32 = 2,
    POOLGRAD_U32 = 3,
    POOLGRAD_U8 = 4 /* with POOLGRAD_INDEX_WINDOW only; windows have at most 255 taps */
} poolgrad_index_type;

/* What an index counts. Boxes do not change it: it is a place in the whole tensor, or a tap. -1, no
 * winner, has all bits set, in unsigned types too. */
typedef enum poolgrad_index_base {
    POOLGRAD_INDEX_TENSOR = 1,    /* ((n*C + c)*H + h)*W + w   (ONNX Runtime, DirectML) */
    POOLGRAD_INDEX_PLANE = 2,     /* h*W + w                   (PyTorch) */
    POOLGRAD_INDEX_NXC = 3,       /* ((n*H + h)*W + w)*C + c   (TensorFlow, include_batch) */
    POOLGRAD_INDEX_NXC_IMAGE = 4, /* (h*W + w)*C + c           (TensorFlow) */
    POOLGRAD_INDEX_WINDOW = 5 /* the tap, row-major in its window: kh*KW + kw, taps in the padding
                                 counted (ADAPTIVE: KW is that window's own). The least to
                                 store: in U8 a byte */
} poolgrad_index_base;

/* How positions of a plane are counted. Column-major goes with TENSOR and PLANE only. */
typedef enum poolgrad_index_order {
    POOLGRAD_ROW_MAJOR = 1,   /* the last spatial axis fastest */
    POOLGRAD_COLUMN_MAJOR = 2 /* the first spatial axis fastest (ONNX storage_order 1) */
} poolgrad_index_order;

/* How the elements of a view lie in memory. */
typedef enum poolgrad_layout {
    POOLGRAD_NCX = 1,    /* dense, the last spatial axis fastest */
    POOLGRAD_NXC = 2,    /* dense, channels fastest */
    POOLGRAD_STRIDED = 3 /* as `stride` says */
} poolgrad_layout;

#define POOLGRAD_WHOLE INT64_C(-1)

/*
 * The part of a tensor that the caller holds, and how it lies in memory. Index 0 is the batch,
 * 1 the channels, 2.. the spatial axes in order; entries past the rank are ignored.
 *
 * A view that is not whole is a box: dx (or y) is then computed for that part only, from views
 * that must contain everything that reaches it (poolgrad_desc_reach), with the same bits as the
 * whole. Pointers address the first element of the view (index 0 on every axis, which with
 * negative strides is not the lowest address), and dense layouts are dense over the view.
 */
typedef struct poolgrad_view {
    poolgrad_layout layout;
    int32_t reserved;
    int64_t offset[5]; /* where the view begins in the whole tensor */
    int64_t extent[5]; /* POOLGRAD_WHOLE: to the end of the axis */
    int64_t stride[5]; /* in elements; read only if layout is POOLGRAD_STRIDED. For what is read
                          anything, 0 (broadcast) and negative included; elements of what is written
                          may not coincide: sorted by size, each stride must exceed the span of the
                          smaller ones */
} poolgrad_view;

/*
 * A problem. dx = alpha * gradient + beta * dx; with beta 0 dx is not read. dx is always written
 * completely: positions that no window reaches get the gradient 0. Forward likewise, with y; a
 * window that covers no position of the input gives the average 0, the maximum -inf and the
 * index -1.
 *
 * Which views count: AVG_GRAD dy and dx; MAX_GRAD those and indices, or x, or x and y; AVG x and y;
 * MAX those and indices. The others are ignored, as are fields that the op has no use for.
 */
typedef struct poolgrad_desc {
    size_t size; /* sizeof(poolgrad_desc); set by poolgrad_desc_init */
    poolgrad_op op;
    poolgrad_dtype dtype;
    int32_t rank; /* 1, 2 or 3 spatial axes */
    poolgrad_rounding rounding;
    poolgrad_divisor divisor;
    int32_t reserved;
    int64_t divisor_override; /* not 0 if divisor is POOLGRAD_OVERRIDE; may be negative */
    double alpha, beta;       /* finite and in the range of the compute type (f32, f64 for f64),
                                 to which they are rounded once */
    int64_t batch, channels;  /* 0 is allowed: nothing is written */
    int64_t in[3];            /* spatial extents of x and dx */
    int64_t out[3];           /* spatial extents of y and dy; 0: derive. Anything else must be
                                 what the rounding gives (ADAPTIVE: is required) */
    int64_t kernel[3], stride[3], dilation[3];
    int64_t pad_lo[3], pad_hi[3];
    poolgrad_view dy, dx;

    /* max pooling */
    poolgrad_winner winner;         /* MAX_GRAD */
    poolgrad_nan nan;               /* MAX, and MAX_GRAD from x */
    poolgrad_index_type index_type; /* MAX, and MAX_GRAD from indices */
    poolgrad_index_base index_base;
    poolgrad_index_order index_order;
    int32_t no_winner; /* MAX_GRAD from indices; not 0: -1 is a valid index, "goes nowhere". For
                          windows that cover no position of the input it always is. */
    poolgrad_view x, y;
    poolgrad_view indices; /* offset and extent are ignored: they are those of dy (of y) */

    poolgrad_parity parity; /* AVG_GRAD, MAX_GRAD; for the forward passes it must be OFF */
    int32_t reserved_2;
} poolgrad_desc;

/* Fills *desc with defaults: AVG_GRAD, f32, rank 2, floor, include_clipped, alpha 1, beta 0, batch
 * and channels 1, stride and dilation 1, no padding, whole dense NCX views; winners from indices,
 * i64, counted over the whole tensor in row-major order; the first NaN wins; no parity. `in` and
 * `kernel` are 0 and must be set (ADAPTIVE: `in` and `out`; kernel and pads stay 0, stride and
 * dilation 1). Fails with ERR_NULL only. */
POOLGRAD_API poolgrad_status poolgrad_desc_init(poolgrad_desc *desc);

/* Reads a problem string into *desc (see docs/problem-strings.md); fields it does not mention get
 * their defaults. Only the text is judged here, the problem itself by plan_create and resolve.
 * Fails with ERR_NULL, ERR_SYNTAX. */
POOLGRAD_API poolgrad_status poolgrad_desc_parse(const char *text, poolgrad_desc *desc,
                                                 poolgrad_error *error);

/* Writes the problem string of *desc, such that parsing it gives *desc again, into text[capacity],
 * always terminated if capacity > 0 and cut there. *length (may be NULL) receives the full length
 * without the terminator; a cut text is not an error. text may be NULL if capacity is 0. Extents
 * and attributes are printed as they are; negative ones, which no problem has, do not parse.
 * Fails with ERR_NULL, ERR_STRUCT_SIZE, ERR_RANK, ERR_ENUM, ERR_ATTRIBUTE (alpha or beta is not
 * finite). */
POOLGRAD_API poolgrad_status poolgrad_desc_print(const poolgrad_desc *desc, char *text,
                                                 size_t capacity, size_t *length,
                                                 poolgrad_error *error);

typedef enum poolgrad_padding {
    POOLGRAD_VALID = 1,      /* no padding */
    POOLGRAD_SAME_UPPER = 2, /* out = ceil(in / stride), the odd element of padding at the end */
    POOLGRAD_SAME_LOWER = 3  /* the same, at the beginning */
} poolgrad_padding;

/* Sets pad_lo and pad_hi of every axis from in, kernel, stride and dilation by the rule of that
 * name. Fails with ERR_NULL, ERR_STRUCT_SIZE, ERR_RANK, ERR_ENUM (also for ADAPTIVE, which has no
 * padding), ERR_ATTRIBUTE, ERR_SHAPE, ERR_OVERFLOW. */
POOLGRAD_API poolgrad_status poolgrad_desc_set_padding(poolgrad_desc *desc,
                                                       poolgrad_padding padding,
                                                       poolgrad_error *error);

/* Checks the problem exactly as plan_create does and fills in what follows from it: out, and
 * extent and stride of the views that the op uses (layouts keep their name). This is how to ask for
 * an output size, for strides, or whether a problem is valid. Fails as plan_create does, except for
 * ERR_OPTION, ERR_MEMORY, ERR_UNSUPPORTED and an ERR_OVERFLOW of intermediate sums. */
POOLGRAD_API poolgrad_status poolgrad_desc_resolve(poolgrad_desc *desc, poolgrad_error *error);

/* Sets offset and extent of the views that are read to the smallest boxes that computing the view
 * that is written needs. For a gradient dy gets the windows whose span, first tap to last, meets
 * the dx view (y, where it is read, the same), and x the positions that those windows span; forward
 * x gets the positions that the windows of the y view span. An extent may become 0 (only gaps in
 * the dx view). Fails as resolve does, but does not judge strides and sizes of what is read. */
POOLGRAD_API poolgrad_status poolgrad_desc_reach(poolgrad_desc *desc, poolgrad_error *error);

/* Dense strides of a tensor of `rank` spatial axes with extents in view order (batch, channels,
 * spatial), rank + 2 numbers each. An extent of 0 counts as 1. Fails with ERR_NULL, ERR_RANK,
 * ERR_ENUM (STRIDED has no dense strides), ERR_SHAPE, ERR_OVERFLOW. */
POOLGRAD_API poolgrad_status poolgrad_dense_strides(poolgrad_layout layout, int32_t rank,
                                                    const int64_t *extent, int64_t *stride,
                                                    poolgrad_error *error);

/* ----------------------------------------------------------------- the plan */

/* Runs task(data, i) once for every i in [0, tasks), in any order, on any threads, and returns
 * when all have returned. */
typedef void (*poolgrad_parallel_for)(void *context, int64_t tasks,
                                      void (*task)(void *data, int64_t index), void *data);

/* How to compute; none of it changes a bit of the result. */
typedef struct poolgrad_options {
    size_t size;     /* sizeof(poolgrad_options); set by poolgrad_options_init */
    int32_t threads; /* 0: as many CPUs as the process may use (affinity, cgroup v2 quota,
                        OMP_NUM_THREADS); at most 4096 */
    int32_t reserved;
    const char *cpu;      /* instruction set by name ("scalar", "avx2", ...); NULL: the environment
                             variable POOLGRAD_CPU, or the best this machine has */
    const char *strategy; /* strategy by name; NULL: the planner's choice */

    /* NULL: OpenMP, serial inside a parallel region and in a child forked from a process that
     * has made a plan. (OpenMP's runtime allocates when it starts its threads, and ends the
     * process if the system gives it none.) Otherwise the caller's threads, called from
     * poolgrad_execute with `threads` tasks at most; not called when a plan has a single task. */
    poolgrad_parallel_for parallel_for;
    void *parallel_context;

    /* NULL, NULL: malloc and free. allocate returns memory aligned for any C type, or NULL;
     * release receives what allocate returned. They must outlive the plan and be safe to call
     * from every thread that executes it. */
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory);
    void *allocator_context;
} poolgrad_options;

/* Fills *options with defaults: everything 0 or NULL but size. Fails with ERR_NULL only. */
POOLGRAD_API poolgrad_status poolgrad_options_init(poolgrad_options *options);

/* Immutable; may be executed by any number of threads at once. */
typedef struct poolgrad_plan poolgrad_plan;

/*
 * Checks the whole problem and decides how to compute it; afterwards execution can fail only for
 * the memory it is handed. Both structs are copied and need not outlive the call (the hooks in
 * them must). options may be NULL. On success the caller owns *plan. Costs microseconds; strings
 * in options are compared once. Fails with ERR_NULL, ERR_STRUCT_SIZE, ERR_ENUM, ERR_OPTION,
 * ERR_RANK, ERR_ATTRIBUTE, ERR_SHAPE, ERR_OVERFLOW, ERR_BOX, ERR_LAYOUT, ERR_MEMORY,
 * ERR_UNSUPPORTED (a known instruction set or strategy that this machine or problem does not
 * allow).
 */
POOLGRAD_API poolgrad_status poolgrad_plan_create(poolgrad_plan **plan, const poolgrad_desc *desc,
                                                  const poolgrad_options *options,
                                                  poolgrad_error *error);

/* Frees a plan that no thread is executing. NULL is allowed. */
POOLGRAD_API void poolgrad_plan_destroy(poolgrad_plan *plan);

/* The resolved descriptor of the plan, owned by it. NULL for NULL. */
POOLGRAD_API const poolgrad_desc *poolgrad_plan_desc(const poolgrad_plan *plan);

/* Bytes of workspace that one execution needs; any alignment will do. 0 for NULL. Two executions
 * at once need two workspaces. */
POOLGRAD_API size_t poolgrad_plan_workspace(const poolgrad_plan *plan);

/* What a plan will do. Strings are static. */
typedef struct poolgrad_plan_info {
    size_t size;          /* sizeof(poolgrad_plan_info), set by the caller */
    const char *strategy; /* a name from poolgrad_name(POOLGRAD_NAME_STRATEGY, ...) */
    const char *reason;   /* why this strategy was chosen */
    const char *cpu;      /* instruction set */
    int32_t threads;      /* threads allowed */
    int32_t reserved;
    int64_t units;         /* independent pieces of work */
    int64_t tasks;         /* calls of parallel_for's task; each has its own workspace */
    int64_t bytes_read;    /* of every view that is read, each element once */
    int64_t bytes_written; /* of dx; of y (indices are counted with it) */
    int64_t workspace;     /* bytes, all tasks together */
    char detail[256];      /* the strategy's own words: tiles, run lengths, ends of the axes */
} poolgrad_plan_info;

/* Fails with ERR_NULL, ERR_STRUCT_SIZE. */
POOLGRAD_API poolgrad_status poolgrad_plan_describe(const poolgrad_plan *plan,
                                                    poolgrad_plan_info *info,
                                                    poolgrad_error *error);

/* The memory of one execution. */
typedef struct poolgrad_buffers {
    size_t size;     /* sizeof(poolgrad_buffers); set by poolgrad_buffers_init */
    const void *dy;  /* first element of the dy view; may be NULL if the view is empty */
    void *dx;        /* first element of the dx view; likewise all below */
    void *workspace; /* NULL: allocated for the call (an allocation per execution) */
    size_t workspace_size;
    const void *x;       /* MAX_GRAD from x and NEAR_Y; AVG, MAX */
    void *y;             /* AVG, MAX; only read by MAX_GRAD with NEAR_Y */
    const void *indices; /* MAX_GRAD from indices */
    void *indices_out;   /* MAX; NULL: not wanted */
} poolgrad_buffers;

/* Fills *buffers with NULL and 0, but for size. Fails with ERR_NULL only. */
POOLGRAD_API poolgrad_status poolgrad_buffers_init(poolgrad_buffers *buffers);

/*
 * Computes. Reads no elements but those of the views that are read, writes exactly those of the
 * views that are written (and the workspace); bytes between strided elements are neither. With a
 * workspace it allocates nothing. The result depends on problem and data alone; the caller's
 * floating-point environment is put aside and restored on every thread, flags included. Two
 * executions that write the same memory at once are a data race. Fails with ERR_NULL,
 * ERR_STRUCT_SIZE, ERR_MISALIGNED, ERR_OVERLAP (the byte range of something written meets another;
 * interleaved views count as overlapping), ERR_WORKSPACE, ERR_MEMORY; nothing is then written.
 * Fails with ERR_INDEX if an index is not a position of its window; error->position is then the
 * lowest such element of the indices, counted in row-major order of the dy view (batch, channels,
 * spatial), the elements of dx are unspecified, and nothing else was read or written.
 */
POOLGRAD_API poolgrad_status poolgrad_execute(const poolgrad_plan *plan,
                                              const poolgrad_buffers *buffers,
                                              poolgrad_error *error);

/* ------------------------------------------------------------------ helpers */

/* Bytes per element; 0 for a value that is no dtype. */
POOLGRAD_API size_t poolgrad_dtype_size(poolgrad_dtype dtype);

/* Converts count elements between any two types, rounding to nearest even, once; overflow goes to
 * infinity, NaN stays NaN. The conversion of the kernels themselves. `to` and `from` may not
 * overlap. Fails with ERR_NULL (count > 0), ERR_ENUM, ERR_MISALIGNED, ERR_OVERLAP, ERR_OVERFLOW. */
POOLGRAD_API poolgrad_status poolgrad_convert(poolgrad_dtype to_dtype, void *to,
                                              poolgrad_dtype from_dtype, const void *from,
                                              size_t count, poolgrad_error *error);

typedef enum poolgrad_name_kind {
    POOLGRAD_NAME_STRATEGY = 1, /* in the planner's order of preference */
    POOLGRAD_NAME_CPU = 2,      /* instruction sets usable on this machine, ascending */
    POOLGRAD_NAME_KERNEL = 3    /* kernels, each built for every instruction set */
} poolgrad_name_kind;

/* The index-th name of its kind, static; NULL past the end. For listings and for tests that must
 * not miss one. */
POOLGRAD_API const char *poolgrad_name(poolgrad_name_kind kind, size_t index);

/* Threads that options.threads = 0 stands for at this moment; at least 1. */
POOLGRAD_API int32_t poolgrad_default_threads(void);

#ifdef __cplusplus
}
#endif

#endif
