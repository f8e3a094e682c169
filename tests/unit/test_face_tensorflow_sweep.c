/* SPDX-License-Identifier: MIT */
/*
 * Random calls of TensorFlow's face against the library itself, bit for bit. The descriptors are
 * made here, by TensorFlow's rules as its documents state them, with nothing from the face.
 */
#include "tensorflow_calls.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_ELEMENTS = 40000
};

/* A tensor with its own memory, somewhere between dense and scattered. */
typedef struct block {
    poolgrad_tensor tensor;
    int64_t sizes[5], strides[5], elements;
    size_t bytes;
    char *memory;
} block;

typedef struct problem {
    tf_op op;
    int spatial, nchw, whole; /* whole: include_batch_in_index */
    poolgrad_dtype dtype;
    int64_t batch, channels, in[3], out[3], kernel[3], stride[3], lo[3], hi[3];
    const char *padding;
} problem;

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* By axis: SAME gives ceil(in / stride) windows and the lesser half of the padding in front; VALID
 * no padding; explicit padding stays below the window. */
static void random_axis(problem *p, int i, sup_rng *rng)
{
    int64_t total;

    p->in[i] = sup_rng_range(rng, 1, 9);
    p->kernel[i] = sup_rng_range(rng, 1, sup_rng_chance(rng, 20) ? 20 : 4);
    p->stride[i] = sup_rng_range(rng, 1, 4);
    p->lo[i] = p->hi[i] = 0;
    if (p->padding[0] == 'S') {
        p->out[i] = (p->in[i] + p->stride[i] - 1) / p->stride[i];
        total = (p->out[i] - 1) * p->stride[i] + p->kernel[i] - p->in[i];
        p->lo[i] = total > 0 ? total / 2 : 0;
        p->hi[i] = total > 0 ? total - total / 2 : 0;
        return;
    }
    if (p->padding[0] == 'E') {
        p->lo[i] = sup_rng_range(rng, 0, at_most(p->kernel[i] - 1, 3));
        p->hi[i] = sup_rng_range(rng, 0, at_most(p->kernel[i] - 1, 3));
    }
    p->kernel[i] = at_most(p->kernel[i], p->in[i] + p->stride[i]); /* else negative, perhaps */
    p->lo[i] = at_most(p->lo[i], p->kernel[i] - 1);
    p->hi[i] = at_most(p->hi[i], p->kernel[i] - 1);
    p->out[i] = (p->in[i] + p->lo[i] + p->hi[i] - p->kernel[i] + p->stride[i]) / p->stride[i];
}

static void random_problem(problem *p, sup_rng *rng)
{
    static const char *const paddings[] = {"SAME", "VALID", "EXPLICIT"};
    int i;

    memset(p, 0, sizeof *p);
    p->op = (tf_op)sup_rng_range(rng, 0, TF_OPS - 1);
    p->spatial = p->op == TF_AVG3D || p->op == TF_MAX3D ? 3 : 2;
    p->nchw = p->op != TF_ARGMAX && sup_rng_chance(rng, 50);
    p->whole = p->op == TF_ARGMAX && sup_rng_chance(rng, 50);
    p->dtype = (poolgrad_dtype)sup_rng_range(rng, 1, 4);
    p->padding = paddings[sup_rng_range(rng, 0, p->op == TF_MAX ? 2 : 1)];
    p->batch = sup_rng_range(rng, sup_rng_chance(rng, 5) ? 0 : 1, 3);
    p->channels = sup_rng_range(rng, sup_rng_chance(rng, 5) ? 0 : 1, 5);
    for (i = 0; i < p->spatial; i++)
        random_axis(p, i, rng);
}

/* The axis of a tensor as TensorFlow orders them, for the view's axis 0 batch, 1 channels, 2.. */
static int axis_of(const problem *p, int view_axis)
{
    if (view_axis == 0 || p->nchw)
        return view_axis;
    return view_axis == 1 ? p->spatial + 1 : view_axis - 1;
}

/* Memory for a tensor of these spatial extents: dense, or with its axes in any order and gaps. */
static void make_block(block *b, const problem *p, const int64_t *extent, int32_t dtype,
                       size_t element, sup_rng *rng)
{
    const int rank = p->spatial + 2, strided = sup_rng_chance(rng, 40);
    int64_t stride = 1;
    int order[5], i;

    b->sizes[0] = p->batch;
    b->sizes[axis_of(p, 1)] = p->channels;
    for (i = 0; i < p->spatial; i++)
        b->sizes[axis_of(p, 2 + i)] = extent[i];
    for (i = 0; i < rank; i++)
        order[i] = i;
    for (i = rank - 1; i > 0 && strided; i--) {
        const int k = (int)sup_rng_range(rng, 0, i), other = order[k];

        order[k] = order[i];
        order[i] = other;
    }
    for (i = rank - 1; i >= 0; i--) {
        b->strides[order[i]] = stride;
        stride *= b->sizes[order[i]] + (strided ? sup_rng_range(rng, 0, 2) : 0);
    }
    b->elements = stride;
    assert_true(stride < MAX_ELEMENTS);
    b->bytes = (size_t)(stride ? stride : 1) * element;
    b->memory = malloc(b->bytes);
    assert_non_null(b->memory);
    memset(b->memory, 0, b->bytes);
    b->tensor = (poolgrad_tensor){dtype, rank, b->sizes, strided ? b->strides : NULL, b->memory};
}

/* Lets a view be this tensor. */
static void set_view(const problem *p, const block *b, poolgrad_view *view)
{
    int i;

    view->layout = POOLGRAD_STRIDED;
    for (i = 0; i < p->spatial + 2; i++)
        view->stride[i] = b->strides[axis_of(p, i)];
}

static void make_desc(const problem *p, poolgrad_desc *desc)
{
    poolgrad_desc_init(desc);
    desc->op = p->op <= TF_AVG3D ? POOLGRAD_AVG_GRAD : POOLGRAD_MAX_GRAD;
    desc->dtype = p->dtype;
    desc->rank = p->spatial;
    desc->divisor = POOLGRAD_EXCLUDE;
    desc->batch = p->batch;
    desc->channels = p->channels;
    memcpy(desc->in, p->in, sizeof desc->in);
    memcpy(desc->out, p->out, sizeof desc->out);
    memcpy(desc->kernel, p->kernel, (size_t)p->spatial * sizeof *p->kernel);
    memcpy(desc->stride, p->stride, (size_t)p->spatial * sizeof *p->stride);
    memcpy(desc->pad_lo, p->lo, sizeof desc->pad_lo);
    memcpy(desc->pad_hi, p->hi, sizeof desc->pad_hi);
    desc->winner = p->op == TF_ARGMAX ? POOLGRAD_FROM_INDICES : POOLGRAD_FROM_X;
    desc->nan = p->op == TF_MAX ? POOLGRAD_NAN_LEADING : POOLGRAD_NAN_SKIP;
    desc->index_base = p->whole ? POOLGRAD_INDEX_NXC : POOLGRAD_INDEX_NXC_IMAGE;
}

static void run_native(const poolgrad_desc *desc, const poolgrad_buffers *buffers)
{
    poolgrad_error error;
    poolgrad_plan *plan;

    if (poolgrad_plan_create(&plan, desc, NULL, &error) || poolgrad_execute(plan, buffers, &error))
        fail_msg("%s", error.message);
    poolgrad_plan_destroy(plan);
}

/* The winners that the library's own forward pass finds, as the argmax. */
static void fill_argmax(const poolgrad_desc *gradient, const void *x, void *argmax)
{
    poolgrad_desc desc = *gradient;
    poolgrad_buffers buffers;

    poolgrad_buffers_init(&buffers);
    desc.op = POOLGRAD_MAX;
    buffers.x = x;
    buffers.y = malloc(MAX_ELEMENTS * 8);
    buffers.indices_out = argmax;
    assert_non_null(buffers.y);
    run_native(&desc, &buffers);
    free(buffers.y);
}

/* ksize, strides and paddings in the order of the tensors' axes. */
static void make_attributes(const problem *p, poolgrad_tensorflow_attributes *attributes,
                            int64_t *ksize, int64_t *strides, int64_t *paddings)
{
    static const char *const formats[][2] = {{"NHWC", "NCHW"}, {"NDHWC", "NCDHW"}};
    const size_t rank = (size_t)p->spatial + 2;
    int i;

    memset(attributes, 0, sizeof *attributes);
    for (i = 0; i < 5; i++)
        ksize[i] = strides[i] = 1;
    memset(paddings, 0, 10 * sizeof *paddings);
    for (i = 0; i < p->spatial; i++) {
        const int axis = axis_of(p, 2 + i);

        ksize[axis] = p->kernel[i];
        strides[axis] = p->stride[i];
        paddings[2 * axis] = p->lo[i];
        paddings[2 * axis + 1] = p->hi[i];
    }
    attributes->ksize = (poolgrad_list){ksize, rank};
    attributes->strides = (poolgrad_list){strides, rank};
    attributes->padding = p->padding;
    if (p->padding[0] == 'E')
        attributes->explicit_paddings = (poolgrad_list){paddings, 2 * rank};
    if (p->op != TF_ARGMAX && (p->nchw || (p->in[0] & 1)))
        attributes->data_format = formats[p->spatial - 2][p->nchw];
    attributes->include_batch_in_index = p->whole;
}

static void compare_one(const problem *p, sup_rng *rng)
{
    static const int32_t numbers[] = {0, 1, 2, 19, 14};
    const size_t element = poolgrad_dtype_size(p->dtype);
    const int32_t dtype = numbers[p->dtype];
    const int narrow = sup_rng_chance(rng, 50);
    int64_t ksize[5], strides[5], paddings[10], shape64[5], four = p->spatial + 2;
    int32_t shape32[5];
    poolgrad_tensorflow_attributes attributes;
    poolgrad_tensor shape = {narrow ? 3 : 9, 1, &four, NULL, narrow ? (void *)shape32 : shape64};
    const poolgrad_tensor *given[TF_TENSORS];
    block x = {0}, y = {0}, grad = {0}, argmax = {0}, dx = {0};
    poolgrad_buffers buffers;
    poolgrad_desc desc;
    poolgrad_error error;
    char *expected;
    int i;

    make_block(&x, p, p->in, dtype, element, rng);
    make_block(&y, p, p->out, dtype, element, rng);
    make_block(&grad, p, p->out, dtype, element, rng);
    make_block(&argmax, p, p->out, narrow ? 3 : 9, narrow ? 4 : 8, rng);
    make_block(&dx, p, p->in, dtype, element, rng);
    sup_fill(p->dtype, x.memory, x.elements, SUP_TIES, rng);
    sup_fill(p->dtype, grad.memory, grad.elements, SUP_UNIFORM, rng);
    memset(dx.memory, 0xa5, dx.bytes);
    for (i = 0; i < four; i++) {
        shape64[i] = dx.sizes[i];
        shape32[i] = (int32_t)dx.sizes[i];
    }
    make_desc(p, &desc);
    desc.index_type = narrow ? POOLGRAD_I32 : POOLGRAD_I64;
    set_view(p, &grad, &desc.dy);
    set_view(p, &dx, &desc.dx);
    set_view(p, &x, &desc.x);
    set_view(p, &argmax, &desc.indices);
    fill_argmax(&desc, x.memory, argmax.memory);
    poolgrad_buffers_init(&buffers);
    expected = malloc(dx.bytes);
    assert_non_null(expected);
    memcpy(expected, dx.memory, dx.bytes);
    buffers.dy = grad.memory;
    buffers.dx = expected;
    buffers.x = x.memory;
    buffers.indices = argmax.memory;
    run_native(&desc, &buffers);

    make_attributes(p, &attributes, ksize, strides, paddings);
    given[0] = p->op <= TF_AVG3D ? &shape : &x.tensor;
    given[1] = p->op == TF_MAX || p->op == TF_MAX3D ? &y.tensor : &grad.tensor;
    given[2] = p->op == TF_ARGMAX ? &argmax.tensor : &grad.tensor;
    given[TF_OUTPUT] = &dx.tensor;
    if (tf_call(p->op, given, &attributes, NULL, &error))
        fail_msg("%s", error.message);
    if (memcmp(expected, dx.memory, dx.bytes) != 0) {
        char text[512] = "";

        poolgrad_desc_print(&desc, text, sizeof text, NULL, NULL);
        fail_msg("operator %d, %s", (int)p->op, text);
    }
    free(expected);
    free(x.memory);
    free(y.memory);
    free(grad.memory);
    free(argmax.memory);
    free(dx.memory);
}

static void random_calls(void **state)
{
    const int calls = scaled(400);
    int seen[TF_OPS] = {0};
    sup_rng rng;
    problem p;
    int i;

    (void)state;
    sup_rng_seed(&rng, 2021);
    for (i = 0; i < calls; i++) {
        random_problem(&p, &rng);
        compare_one(&p, &rng);
        seen[p.op]++;
    }
    for (i = 0; i < TF_OPS && calls >= 100; i++)
        assert_true(seen[i] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
