/* SPDX-License-Identifier: MIT */
/* The rules are those of the operations' pages in oneDNN's guide; which status a mistake gets was
 * seen with oneDNN 3.2 and 3.13, whose graph API checks an operation when it is added to a graph
 * (INVALID_GRAPH_OP) and sizes when the graph is compiled (the others). */
#include <poolgrad/onednn.h>

#include "common/face.h"

#include <string.h>

typedef poolgrad_onednn_code code;
typedef poolgrad_onednn_attributes attributes_t;

/* A call in the making. */
typedef struct backward {
    pgi_face_call call;
    const char *op;
    int average;
    const attributes_t *attributes;
    const poolgrad_tensor *diff_dst, *diff_src;
    poolgrad_layout order; /* data_format */
} backward;

enum {
    DIMS = 5, /* axes of the largest tensor */

    /* positions of tensors in messages: inputs in the operation's order, or its output */
    OUTPUT = -1
};

/* What oneDNN would call the library's own failures. */
static code code_of(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return POOLGRAD_ONEDNN_SUCCESS;
    case POOLGRAD_ERR_MEMORY:
        return POOLGRAD_ONEDNN_OUT_OF_MEMORY;
    case POOLGRAD_ERR_UNSUPPORTED:
        return POOLGRAD_ONEDNN_UNIMPLEMENTED;
    default:
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
}

static poolgrad_dtype dtype_of(int32_t dtype)
{
    switch (dtype) {
    case POOLGRAD_ONEDNN_F32:
        return POOLGRAD_F32;
    case POOLGRAD_ONEDNN_F16:
        return POOLGRAD_F16;
    case POOLGRAD_ONEDNN_BF16:
        return POOLGRAD_BF16;
    default:
        return (poolgrad_dtype)0;
    }
}

/* ---------------------------------------------------------------- the operation */

/* All tensors but src_shape have one type: that of the first one looked at. */
static code check_tensor(backward *b, const poolgrad_tensor *tensor, const char *name, int position,
                         poolgrad_error *error)
{
    const poolgrad_status status = pgi_face_tensor(tensor, name, error);
    poolgrad_desc *desc = &b->call.desc;
    poolgrad_dtype dtype;

    if (status != POOLGRAD_OK)
        return code_of(status);
    dtype = dtype_of(tensor->dtype);
    if (position == 0)
        desc->dtype = dtype;
    if (dtype && dtype == desc->dtype)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_ENUM, "%s: given data type for %s %s is %d v.s. expected %s",
                 b->op, position == OUTPUT ? "output" : "input", name, (int)tensor->dtype,
                 position == 0 ? "f32 (3), bf16 (2) or f16 (1)" : "that of the first input");
    return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
}

static code check_shape_tensor(const backward *b, const poolgrad_tensor *src_shape,
                               poolgrad_error *error)
{
    const poolgrad_status status = pgi_face_tensor(src_shape, "src_shape", error);

    if (status != POOLGRAD_OK)
        return code_of(status);
    if (src_shape->dtype == POOLGRAD_ONEDNN_S32 || src_shape->dtype == POOLGRAD_ONEDNN_S64)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_ENUM,
                 "%s: given data type for input src_shape is %d v.s. expected s32 (4) or s64 (16)",
                 b->op, (int)src_shape->dtype);
    return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
}

static code check_given(const backward *b, const char *name, int given, poolgrad_error *error)
{
    if (given)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE, "%s: attribute %s is required but not set", b->op,
                 name);
    return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
}

static code check_absent(const backward *b, const char *name, int given, poolgrad_error *error)
{
    if (!given)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE, "%s: attribute %s is not defined in spec", b->op,
                 name);
    return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
}

/* Which of words[count] the text is, into *place; a text that was left out is the first. */
static code find_word(const backward *b, const char *name, const char *text,
                      const char *const *words, size_t count, size_t *place, poolgrad_error *error)
{
    *place = 0;
    while (text && *place < count && !pgi_face_same_word(text, words[*place]))
        (*place)++;
    if (*place < count)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                 "%s: attribute %s has invalid value: %.40s; it is one of %s, %s%s%s%s%s", b->op,
                 name, text, words[0], words[1], count > 2 ? ", " : "", count > 2 ? words[2] : "",
                 count > 3 ? ", " : "", count > 3 ? words[3] : "");
    return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
}

static code check_pads(const backward *b, poolgrad_list pads, const char *name,
                       poolgrad_error *error)
{
    size_t i;

    for (i = 0; i < pads.count; i++) {
        if (pads.values[i] < 0) {
            pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                         "%s: %s should be a s64 list containing non-negative values: %s[%zu] is "
                         "%lld",
                         b->op, name, name, i, (long long)pads.values[i]);
            return POOLGRAD_ONEDNN_INVALID_GRAPH_OP;
        }
    }
    return POOLGRAD_ONEDNN_SUCCESS;
}

/* What oneDNN checks when an operation is added to a graph, in its order; *padding receives which
 * auto_pad, 0 for none. */
static code check_operation(backward *b, size_t *padding, poolgrad_error *error)
{
    static const char *const formats[] = {"NXC", "NCX"};
    static const char *const paddings[] = {"none", "valid", "same_upper", "same_lower"};
    static const attributes_t nothing;
    const attributes_t *a = b->attributes ? b->attributes : &nothing;
    size_t format = 0;
    code c;

    b->attributes = a;
    c = check_given(b, "strides", a->strides.values != NULL, error);
    if (!c)
        c = check_given(b, "pads_begin", a->pads_begin.values != NULL, error);
    if (!c)
        c = check_given(b, "pads_end", a->pads_end.values != NULL, error);
    if (!c)
        c = check_given(b, "kernel", a->kernel.values != NULL, error);
    if (!c && b->average)
        c = check_given(b, "exclude_pad", a->exclude_pad != NULL, error);
    if (!c)
        c = find_word(b, "auto_pad", a->auto_pad, paddings, 4, padding, error);
    if (!c)
        c = find_word(b, "data_format", a->data_format, formats, 2, &format, error);
    if (!c && b->average)
        c = check_absent(b, "dilations", a->dilations.values != NULL, error);
    if (!c && !b->average)
        c = check_absent(b, "exclude_pad", a->exclude_pad != NULL, error);
    if (!c && !b->average)
        c = check_absent(b, "src_shape", a->src_shape.values != NULL, error);
    if (!c)
        c = check_pads(b, a->pads_begin, "pads_begin", error);
    if (!c)
        c = check_pads(b, a->pads_end, "pads_end", error);
    b->order = format == 0 ? POOLGRAD_NXC : POOLGRAD_NCX;
    return c;
}

/* -------------------------------------------------------------------- the sizes */

/* Also keeps messages from reading more sizes than a tensor can have. */
static code check_rank(const backward *b, const poolgrad_tensor *tensor, const char *name,
                       poolgrad_error *error)
{
    if (tensor->rank >= 3 && tensor->rank <= DIMS)
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_RANK, "%s: %s has %d dimensions; it must have 3, 4 or 5",
                 b->op, name, (int)tensor->rank);
    return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
}

static code check_list(const backward *b, poolgrad_list list, const char *name, size_t count,
                       int64_t least, poolgrad_error *error)
{
    size_t i;

    if (list.count != count) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                     "%s: dimensions are invalid: %s has %zu values; there are %zu spatial axes",
                     b->op, name, list.count, count);
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
    for (i = 0; i < count; i++) {
        if (list.values[i] < least) {
            pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                         "%s: bad dimension: %s[%zu] is %lld; it must be at least %d", b->op, name,
                         i, (long long)list.values[i], (int)least);
            return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
        }
    }
    return POOLGRAD_ONEDNN_SUCCESS;
}

/* The elements of a one-axis tensor of integers, as many as `count`. */
static code read_shape(const backward *b, const poolgrad_tensor *tensor, int32_t count,
                       int64_t *sizes, poolgrad_error *error)
{
    if (tensor->rank != 1) {
        pgi_face_say(error, POOLGRAD_ERR_RANK,
                     "%s: dimensions are invalid: src_shape is a tensor of %d dimensions; it must "
                     "have 1",
                     b->op, (int)tensor->rank);
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
    if (tensor->sizes[0] != count) {
        pgi_face_say(error, POOLGRAD_ERR_SHAPE,
                     "%s: dimensions are invalid: src_shape is a tensor of %lld elements; diff_dst "
                     "has %d dimensions",
                     b->op, (long long)tensor->sizes[0], (int)count);
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
    return code_of(pgi_face_read_ints(
        tensor, "src_shape", tensor->dtype == POOLGRAD_ONEDNN_S64 ? 8 : 4, count, sizes, error));
}

/* The shape of the pooled input of AvgPoolBackward, by the tensor or else by the attribute. */
static code find_shape(const backward *b, const poolgrad_tensor *src_shape, int64_t *sizes,
                       poolgrad_error *error)
{
    const poolgrad_list list = b->attributes->src_shape;
    const int32_t rank = b->diff_dst->rank;

    if (src_shape)
        return read_shape(b, src_shape, rank, sizes, error);
    if (!list.values) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                     "%s: src_shape should be specified in attributes if it's not given in inputs",
                     b->op);
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
    if (list.count != (size_t)rank) {
        pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                     "%s: dimensions are invalid: src_shape has %zu values; diff_dst has %d "
                     "dimensions",
                     b->op, list.count, (int)rank);
        return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
    }
    pgi_face_copy(list, sizes, rank, 0);
    return POOLGRAD_ONEDNN_SUCCESS;
}

/* The pooled input; `name` is what tells its sizes. */
static code set_input(backward *b, const poolgrad_tensor *input, const char *name,
                      poolgrad_error *error)
{
    char given[128], needed[128];
    int32_t i;

    for (i = 0; i < input->rank; i++) {
        if (input->sizes[i] < 0) {
            pgi_face_say(error, POOLGRAD_ERR_SHAPE, "%s: the size %d of %s is %lld", b->op, (int)i,
                         name, (long long)input->sizes[i]);
            return POOLGRAD_ONEDNN_INVALID_SHAPE;
        }
    }
    pgi_face_set_input(&b->call.desc, input, b->order);
    if (pgi_face_has_sizes(b->diff_src, input->rank, input->sizes))
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_SHAPE,
                 "%s: input and output shapes are not compatible: diff_src is %s, %s is %s", b->op,
                 pgi_face_sizes_text(b->diff_src->rank, b->diff_src->sizes, given, sizeof given),
                 name, pgi_face_sizes_text(input->rank, input->sizes, needed, sizeof needed));
    return b->average ? POOLGRAD_ONEDNN_INVALID_ARGUMENTS : POOLGRAD_ONEDNN_INVALID_SHAPE;
}

/* After the input: kernel, strides, dilations, pads. */
static code set_window(backward *b, size_t padding, poolgrad_error *error)
{
    static const poolgrad_padding paddings[] = {(poolgrad_padding)0, POOLGRAD_VALID,
                                                POOLGRAD_SAME_UPPER, POOLGRAD_SAME_LOWER};
    const attributes_t *a = b->attributes;
    poolgrad_desc *desc = &b->call.desc;
    const size_t spatial = (size_t)desc->rank;
    code c;

    c = check_list(b, a->strides, "strides", spatial, 1, error);
    if (!c)
        c = check_list(b, a->kernel, "kernel", spatial, 1, error);
    if (!c && a->dilations.values)
        c = check_list(b, a->dilations, "dilations", spatial, 1, error);
    if (!c && (padding == 0 || a->pads_begin.count > 0))
        c = check_list(b, a->pads_begin, "pads_begin", spatial, 0, error);
    if (!c && (padding == 0 || a->pads_end.count > 0))
        c = check_list(b, a->pads_end, "pads_end", spatial, 0, error);
    if (c)
        return c;
    pgi_face_copy(a->strides, desc->stride, desc->rank, 1);
    pgi_face_copy(a->kernel, desc->kernel, desc->rank, 1);
    pgi_face_copy(a->dilations, desc->dilation, desc->rank, 1);
    if (padding != 0)
        return code_of(poolgrad_desc_set_padding(desc, paddings[padding], error));
    pgi_face_copy(a->pads_begin, desc->pad_lo, desc->rank, 0);
    pgi_face_copy(a->pads_end, desc->pad_hi, desc->rank, 0);
    return POOLGRAD_ONEDNN_SUCCESS;
}

/* oneDNN's own rule against windows that divide by 0, although here they would add nothing. */
static code check_excluded(const backward *b, poolgrad_error *error)
{
    const poolgrad_desc *desc = &b->call.desc;
    int32_t i;

    for (i = 0; i < desc->rank; i++) {
        if (desc->pad_lo[i] >= desc->kernel[i] || desc->pad_hi[i] >= desc->kernel[i]) {
            pgi_face_say(error, POOLGRAD_ERR_ATTRIBUTE,
                         "%s: inconsistent padding (%lld, %lld >= kernel, %lld) on spatial axis "
                         "%d; exclude_pad needs pads below the kernel",
                         b->op, (long long)desc->pad_lo[i], (long long)desc->pad_hi[i],
                         (long long)desc->kernel[i], (int)i);
            return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
        }
    }
    return POOLGRAD_ONEDNN_SUCCESS;
}

/* diff_dst must have exactly the shape that the forward operation gives. */
static code check_windows(const backward *b, poolgrad_error *error)
{
    const poolgrad_desc *desc = &b->call.desc;
    const poolgrad_tensor *diff_dst = b->diff_dst;
    poolgrad_status status;
    int64_t out[3], sizes[DIMS];
    char given[128], computed[128];

    status = pgi_face_windows(&b->call, out, error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    pgi_face_sizes(b->order, desc->rank, desc->batch, desc->channels, out, sizes);
    if (pgi_face_has_sizes(diff_dst, desc->rank + 2, sizes))
        return POOLGRAD_ONEDNN_SUCCESS;
    pgi_face_say(error, POOLGRAD_ERR_SHAPE,
                 "%s: mismatch between actual and computed dims: diff_dst is %s, not %s", b->op,
                 pgi_face_sizes_text(diff_dst->rank, diff_dst->sizes, given, sizeof given),
                 pgi_face_sizes_text(desc->rank + 2, sizes, computed, sizeof computed));
    return POOLGRAD_ONEDNN_INVALID_ARGUMENTS;
}

/* From the input's sizes on both operations are one. */
static code finish(backward *b, const poolgrad_tensor *input, const char *name, size_t padding,
                   poolgrad_error *error)
{
    pgi_face_call *call = &b->call;
    code c;

    c = set_input(b, input, name, error);
    if (!c)
        c = set_window(b, padding, error);
    if (!c && b->average && *b->attributes->exclude_pad)
        c = check_excluded(b, error);
    if (!c)
        c = check_windows(b, error);
    if (c)
        return c;
    pgi_face_bind(call, PGI_FACE_DY, b->diff_dst, b->order, "diff_dst");
    pgi_face_bind(call, PGI_FACE_DX, b->diff_src, b->order, "diff_src");
    if (!b->average)
        pgi_face_bind(call, PGI_FACE_X, input, b->order, name);
    return code_of(pgi_face_finish(call, error));
}

/* ----------------------------------------------------------------- the operators */

poolgrad_onednn_code poolgrad_onednn_avg_pool_backward(const poolgrad_tensor *diff_dst,
                                                       const poolgrad_tensor *src_shape,
                                                       const poolgrad_onednn_attributes *attributes,
                                                       const poolgrad_tensor *diff_src,
                                                       const poolgrad_face_options *options,
                                                       poolgrad_error *error)
{
    poolgrad_tensor input = {0, 0, NULL, NULL, NULL};
    int64_t sizes[DIMS];
    size_t padding = 0;
    code c;
    backward b = {.op = "AvgPoolBackward",
                  .average = 1,
                  .attributes = attributes,
                  .diff_dst = diff_dst,
                  .diff_src = diff_src};

    c = code_of(pgi_face_begin(&b.call, options, PGI_FACE_ONEDNN, error));
    if (!c)
        c = check_tensor(&b, diff_dst, "diff_dst", 0, error);
    if (!c && src_shape)
        c = check_shape_tensor(&b, src_shape, error);
    if (!c)
        c = check_tensor(&b, diff_src, "diff_src", OUTPUT, error);
    if (!c)
        c = check_operation(&b, &padding, error);
    if (!c)
        c = check_rank(&b, diff_dst, "diff_dst", error);
    if (!c)
        c = check_rank(&b, diff_src, "diff_src", error);
    if (!c)
        c = find_shape(&b, src_shape, sizes, error);
    if (c)
        return c;
    input.rank = diff_dst->rank;
    input.sizes = sizes;
    b.call.desc.op = POOLGRAD_AVG_GRAD;
    b.call.desc.divisor = *b.attributes->exclude_pad ? POOLGRAD_EXCLUDE : POOLGRAD_INCLUDE;
    return finish(&b, &input, "src_shape", padding, error);
}

poolgrad_onednn_code poolgrad_onednn_max_pool_backward(const poolgrad_tensor *src,
                                                       const poolgrad_tensor *diff_dst,
                                                       const poolgrad_onednn_attributes *attributes,
                                                       const poolgrad_tensor *diff_src,
                                                       const poolgrad_face_options *options,
                                                       poolgrad_error *error)
{
    size_t padding = 0;
    code c;
    backward b = {.op = "MaxPoolBackward",
                  .average = 0,
                  .attributes = attributes,
                  .diff_dst = diff_dst,
                  .diff_src = diff_src};

    c = code_of(pgi_face_begin(&b.call, options, PGI_FACE_ONEDNN, error));
    if (!c)
        c = check_tensor(&b, src, "src", 0, error);
    if (!c)
        c = check_tensor(&b, diff_dst, "diff_dst", 1, error);
    if (!c)
        c = check_tensor(&b, diff_src, "diff_src", OUTPUT, error);
    if (!c)
        c = check_operation(&b, &padding, error);
    if (!c)
        c = check_rank(&b, src, "src", error);
    if (!c)
        c = check_rank(&b, diff_dst, "diff_dst", error);
    if (!c)
        c = check_rank(&b, diff_src, "diff_src", error);
    if (c)
        return c;
    b.call.desc.op = POOLGRAD_MAX_GRAD;
    b.call.desc.winner = POOLGRAD_FROM_X;
    b.call.desc.nan = POOLGRAD_NAN_SKIP;
    return finish(&b, src, "src", padding, error);
}
