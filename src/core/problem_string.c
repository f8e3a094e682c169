/* SPDX-License-Identifier: MIT */
/* Problem strings, descriptors as text: reading. The grammar is in docs/problem-strings.md. */
#include "core/number.h"
#include "core/problem.h"
#include "core/problem_names.h"
#include "core/status.h"

#include <string.h>

static const pgi_name any_rank[] = {{"ncx", POOLGRAD_NCX}, {"nxc", POOLGRAD_NXC}, {NULL, 0}};

typedef struct pgi_reader {
    const char *start; /* of the whole text */
    const char *at;
    poolgrad_desc *desc;
    poolgrad_error *error;
    unsigned seen; /* items met, by bit */
} pgi_reader;

static poolgrad_status expected(const pgi_reader *reader, const char *what)
{
    return pgi_fail(reader->error, POOLGRAD_ERR_SYNTAX,
                    "problem string, character %d: expected %s, found \"%.24s\"",
                    (int)(reader->at - reader->start) + 1, what, reader->at);
}

static bool accept(pgi_reader *reader, const char *word)
{
    const size_t length = strlen(word);

    if (strncmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

/* A name from one or two tables, up to the next separator. */
static poolgrad_status read_name(pgi_reader *reader, const pgi_name *names, const pgi_name *more,
                                 const char *what, int *value)
{
    const size_t length = strcspn(reader->at, ":/");

    if (!find_name(names, reader->at, length, value) &&
        !(more && find_name(more, reader->at, length, value)))
        return expected(reader, what);
    reader->at += length;
    return POOLGRAD_OK;
}

static poolgrad_status read_integer(pgi_reader *reader, bool negative_too, int64_t *value)
{
    const char *what = negative_too ? "an integer of 64 bits" : "an integer from 0 to 2^63 - 1";
    const char *at = reader->at;

    if (!pgi_read_int(&at, value) || (!negative_too && *reader->at == '-'))
        return expected(reader, what);
    reader->at = at;
    return POOLGRAD_OK;
}

/* "3", "3x5": one for all axes or one per axis. With `high`, "1,2" gives each its own. */
static poolgrad_status read_axes(pgi_reader *reader, int64_t *low, int64_t *high)
{
    const int rank = reader->desc->rank;
    int i = 0;

    do {
        if (i == rank)
            return expected(reader, "no more numbers than spatial axes");
        PGI_TRY(read_integer(reader, false, &low[i]));
        if (high) {
            high[i] = low[i];
            if (accept(reader, ","))
                PGI_TRY(read_integer(reader, false, &high[i]));
        }
        i++;
    } while (accept(reader, "x"));
    if (i == 1) {
        for (; i < rank; i++) {
            low[i] = low[0];
            if (high)
                high[i] = high[0];
        }
    }
    return i == rank ? POOLGRAD_OK : expected(reader, "\"x\" and a number for every axis");
}

static poolgrad_status read_box(pgi_reader *reader, poolgrad_view *view)
{
    const int count = reader->desc->rank + PGI_SPATIAL;
    int i;

    for (i = 0; i < count; i++) {
        if (i > 0 && !accept(reader, ","))
            return expected(reader, "\",\" and offset+extent for every tensor axis");
        PGI_TRY(read_integer(reader, false, &view->offset[i]));
        if (!accept(reader, "+"))
            return expected(reader, "\"+\" and an extent");
        if (accept(reader, "*"))
            view->extent[i] = POOLGRAD_WHOLE;
        else
            PGI_TRY(read_integer(reader, false, &view->extent[i]));
    }
    return POOLGRAD_OK;
}

static poolgrad_status read_strides(pgi_reader *reader, poolgrad_view *view)
{
    const int count = reader->desc->rank + PGI_SPATIAL;
    int i;

    if (view->layout != POOLGRAD_STRIDED)
        return expected(reader, "strides only with the layout \"strided\"");
    for (i = 0; i < count; i++) {
        if (i > 0 && !accept(reader, ","))
            return expected(reader, "\",\" and a stride for every tensor axis");
        PGI_TRY(read_integer(reader, true, &view->stride[i]));
    }
    return POOLGRAD_OK;
}

static poolgrad_status read_factor(pgi_reader *reader, double *value)
{
    const char *at = reader->at;

    if (!pgi_read_double(&at, value))
        return expected(reader,
                        "a decimal of at most 15 digits and exponent 22, or a hexadecimal number");
    reader->at = at;
    return POOLGRAD_OK;
}

static poolgrad_status read_divisor(pgi_reader *reader)
{
    const char c = *reader->at;
    int value;

    if (c == '-' || (c >= '0' && c <= '9')) {
        reader->desc->divisor = POOLGRAD_OVERRIDE;
        return read_integer(reader, true, &reader->desc->divisor_override);
    }
    PGI_TRY(
        read_name(reader, divisors, NULL, "exclude, include, include_clipped or a number", &value));
    reader->desc->divisor = (poolgrad_divisor)value;
    return POOLGRAD_OK;
}

typedef enum pgi_item {
    ITEM_ALPHA,
    ITEM_BETA,
    ITEM_DIVISOR,
    ITEM_PARITY,
    ITEM_DY_BOX,
    ITEM_DX_BOX,
    ITEM_X_BOX,
    ITEM_Y_BOX,
    ITEM_DY_STRIDE,
    ITEM_DX_STRIDE,
    ITEM_X_STRIDE,
    ITEM_Y_STRIDE,
    ITEM_INDEX_STRIDE,
    ITEM_X_LAYOUT,
    ITEM_Y_LAYOUT,
    ITEM_INDEX_LAYOUT,
    ITEM_WINNER,
    ITEM_NAN,
    ITEM_INDEX_TYPE,
    ITEM_INDEX_BASE,
    ITEM_INDEX_ORDER,
    ITEM_NO_WINNER,
    ITEM_KERNEL,
    ITEM_STRIDE,
    ITEM_DILATION,
    ITEM_PADDING,
    ITEM_OUT,
    ITEM_ROUNDING,
    ITEM_COUNT
} pgi_item;

/* Longer words first where one begins with another ("dystride" before "d", "parity" before "p"). */
static const char *const item_words[ITEM_ROUNDING] = {
    "alpha=",   "beta=",     "div=",      "parity=",  "dybox=",   "dxbox=",   "xbox=",
    "ybox=",    "dystride=", "dxstride=", "xstride=", "ystride=", "istride=", "xlayout=",
    "ylayout=", "ilayout=",  "from=",     "nan=",     "index=",   "base=",    "order=",
    "nowinner", "k",         "s",         "d",        "p",        "o"};

static poolgrad_status read_layout(pgi_reader *reader, const char *what, poolgrad_view *view)
{
    int value = 0;

    PGI_TRY(read_name(reader, layouts[reader->desc->rank - 1], any_rank, what, &value));
    view->layout = (poolgrad_layout)value;
    return POOLGRAD_OK;
}

/* The items of max pooling. */
static poolgrad_status read_max_item(pgi_reader *reader, pgi_item item)
{
    static const struct {
        const pgi_name *names;
        const char *what;
    } words[] = {{winners, "indices, x or y"},
                 {nans, "first, skip, last or leading"},
                 {index_types, "i64, i32, u32 or u8"},
                 {index_bases, "tensor, plane, nxc, nxc_image or window"},
                 {index_orders, "row or column"}};
    poolgrad_desc *desc = reader->desc;
    int value = 0;

    if (!pgi_is_max(desc->op))
        return expected(reader, "this item only with max pooling");
    if (item != ITEM_NO_WINNER)
        PGI_TRY(read_name(reader, words[item - ITEM_WINNER].names, NULL,
                          words[item - ITEM_WINNER].what, &value));
    if (item == ITEM_WINNER)
        desc->winner = (poolgrad_winner)value;
    else if (item == ITEM_NAN)
        desc->nan = (poolgrad_nan)value;
    else if (item == ITEM_INDEX_TYPE)
        desc->index_type = (poolgrad_index_type)value;
    else if (item == ITEM_INDEX_BASE)
        desc->index_base = (poolgrad_index_base)value;
    else if (item == ITEM_INDEX_ORDER)
        desc->index_order = (poolgrad_index_order)value;
    else
        desc->no_winner = 1;
    return POOLGRAD_OK;
}

static poolgrad_status read_item_value(pgi_reader *reader, pgi_item item)
{
    poolgrad_desc *desc = reader->desc;
    poolgrad_view *const views[] = {&desc->dy, &desc->dx, &desc->x, &desc->y, &desc->indices};
    int value = 0;

    if (item >= ITEM_DY_BOX && item <= ITEM_Y_BOX)
        return read_box(reader, views[item - ITEM_DY_BOX]);
    if (item >= ITEM_DY_STRIDE && item <= ITEM_INDEX_STRIDE)
        return read_strides(reader, views[item - ITEM_DY_STRIDE]);
    switch (item) {
    case ITEM_ALPHA:
        return read_factor(reader, &desc->alpha);
    case ITEM_BETA:
        return read_factor(reader, &desc->beta);
    case ITEM_DIVISOR:
        return read_divisor(reader);
    case ITEM_PARITY:
        PGI_TRY(read_name(reader, parities, NULL, "off, tensorflow, onnxruntime, torch or onednn",
                          &value));
        desc->parity = (poolgrad_parity)value;
        return POOLGRAD_OK;
    case ITEM_X_LAYOUT:
        return read_layout(reader, "a layout of this rank for x", &desc->x);
    case ITEM_Y_LAYOUT:
        return read_layout(reader, "a layout of this rank for y", &desc->y);
    case ITEM_INDEX_LAYOUT:
        return read_layout(reader, "a layout of this rank for the indices", &desc->indices);
    case ITEM_KERNEL:
        return read_axes(reader, desc->kernel, NULL);
    case ITEM_STRIDE:
        return read_axes(reader, desc->stride, NULL);
    case ITEM_DILATION:
        return read_axes(reader, desc->dilation, NULL);
    case ITEM_PADDING:
        return read_axes(reader, desc->pad_lo, desc->pad_hi);
    case ITEM_OUT:
        return read_axes(reader, desc->out, NULL);
    case ITEM_ROUNDING:
        PGI_TRY(read_name(reader, roundings, NULL,
                          "an item such as k3, s2, d2, p1, o28, ceil, div=exclude, alpha=0.5 "
                          "(docs/problem-strings.md lists all)",
                          &value));
        desc->rounding = (poolgrad_rounding)value;
        return POOLGRAD_OK;
    default:
        return read_max_item(reader, item);
    }
}

static poolgrad_status read_item(pgi_reader *reader)
{
    pgi_reader before = *reader;
    pgi_item item = ITEM_ALPHA;

    while (item < ITEM_ROUNDING && !accept(reader, item_words[item]))
        item++;
    PGI_TRY(read_item_value(reader, item));
    if (reader->seen & 1u << item)
        return expected(&before, "each item at most once");
    reader->seen |= 1u << item;
    return POOLGRAD_OK;
}

static void usual_layouts(poolgrad_desc *desc)
{
    if (desc->op == POOLGRAD_MAX_GRAD) {
        desc->x.layout = usual_layout(&desc->dx);
        desc->y.layout = usual_layout(&desc->dy);
    }
    if (pgi_is_max(desc->op))
        desc->indices.layout = usual_layout(desc->op == POOLGRAD_MAX ? &desc->y : &desc->dy);
}

static poolgrad_status read_op(pgi_reader *reader)
{
    const pgi_name *op = ops;

    while (op->text && !accept(reader, op->text))
        op++;
    if (!op->text)
        return expected(reader, "avg, max, avgpool or maxpool, and 1d, 2d or 3d");
    if (*reader->at < '1' || *reader->at > '3' || reader->at[1] != 'd')
        return expected(reader, "1d, 2d or 3d");
    reader->desc->op = (poolgrad_op)op->value;
    reader->desc->rank = *reader->at - '0';
    reader->at += 2;
    return POOLGRAD_OK;
}

static poolgrad_status read_head(pgi_reader *reader)
{
    poolgrad_desc *desc = reader->desc;
    poolgrad_view *source, *target;
    int value = 0, i;

    PGI_TRY(read_op(reader));
    if (!accept(reader, ":"))
        return expected(reader, "\":\" and a type");
    PGI_TRY(read_name(reader, dtypes, NULL, "f32, f64, f16 or bf16", &value));
    desc->dtype = (poolgrad_dtype)value;
    if (!accept(reader, ":"))
        return expected(reader, "\":\" and a layout");
    source = pgi_source_view(desc);
    target = pgi_target_view(desc);
    PGI_TRY(read_layout(
        reader, "a layout of this rank: nchw, nhwc and their like, ncx, nxc or strided", source));
    target->layout = source->layout;
    if (accept(reader, "/"))
        PGI_TRY(read_layout(reader, "a layout of this rank for what is written", target));
    usual_layouts(desc);
    if (!accept(reader, ":"))
        return expected(reader, "\":\" and a shape");
    PGI_TRY(read_integer(reader, false, &desc->batch));
    if (!accept(reader, "x"))
        return expected(reader, "\"x\" and the channels");
    PGI_TRY(read_integer(reader, false, &desc->channels));
    for (i = 0; i < desc->rank; i++) {
        if (!accept(reader, "x"))
            return expected(reader, "\"x\" and an extent for every spatial axis");
        PGI_TRY(read_integer(reader, false, &desc->in[i]));
    }
    return POOLGRAD_OK;
}

/* Every strided view that the op uses must have its strides. */
static bool strides_missing(const pgi_reader *reader)
{
    static const pgi_item items[] = {ITEM_DY_STRIDE, ITEM_DX_STRIDE, ITEM_X_STRIDE, ITEM_Y_STRIDE,
                                     ITEM_INDEX_STRIDE};
    const poolgrad_desc *desc = reader->desc;
    const poolgrad_view *views[] = {&desc->dy, &desc->dx, &desc->x, &desc->y, &desc->indices};
    size_t i;

    for (i = 0; i < sizeof items / sizeof items[0]; i++)
        if (views[i]->layout == POOLGRAD_STRIDED && !(reader->seen & 1u << items[i]))
            return true;
    return false;
}

poolgrad_status poolgrad_desc_parse(const char *text, poolgrad_desc *desc, poolgrad_error *error)
{
    poolgrad_desc read;
    pgi_reader reader = {text, text, &read, error, 0};

    if (!text || !desc)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", text ? "desc" : "text");
    poolgrad_desc_init(&read);
    PGI_TRY(read_head(&reader));
    while (accept(&reader, ":"))
        PGI_TRY(read_item(&reader));
    if (*reader.at)
        return expected(&reader, "\":\" or the end");
    if (read.rounding != POOLGRAD_ADAPTIVE && !(reader.seen & 1u << ITEM_KERNEL))
        return expected(&reader, "a kernel, such as \":k3\"");
    if (strides_missing(&reader))
        return expected(&reader, "dystride=, dxstride= and so on for every view that is "
                                 "\"strided\"");
    *desc = read;
    return pgi_ok(error);
}
