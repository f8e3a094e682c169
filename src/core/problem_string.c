/* SPDX-License-Identifier: MIT */
/* Problem strings: descriptors as text, read and written here and nowhere else. The grammar is in
 * docs/problem-strings.md. */
#include "core/number.h"
#include "core/problem.h"
#include "core/problem_names.h"
#include "core/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- reading */

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

/* Longer words first where one begins with another ("dystride" before "d", "order" before "o"). */
static const char *const item_words[ITEM_ROUNDING] = {
    "alpha=",    "beta=",     "div=",     "dybox=",   "dxbox=",   "xbox=",    "ybox=",
    "dystride=", "dxstride=", "xstride=", "ystride=", "istride=", "xlayout=", "ilayout=",
    "from=",     "nan=",      "index=",   "base=",    "order=",   "nowinner", "k",
    "s",         "d",         "p",        "o"};

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
    } words[] = {{winners, "indices or x"},
                 {nans, "first, skip, last or leading"},
                 {index_types, "i64, i32 or u32"},
                 {index_bases, "tensor, plane, nxc or nxc_image"},
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
    case ITEM_X_LAYOUT:
        return read_layout(reader, "a layout of this rank for x", &desc->x);
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

/* x and the indices of max pooling lie like what has their shape, unless that is strided. */
static poolgrad_layout usual_layout(const poolgrad_view *like)
{
    return like->layout == POOLGRAD_STRIDED ? POOLGRAD_NCX : like->layout;
}

static void usual_layouts(poolgrad_desc *desc)
{
    if (desc->op == POOLGRAD_MAX_GRAD)
        desc->x.layout = usual_layout(&desc->dx);
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

/* ---------------------------------------------------------------- writing */

typedef struct pgi_writer {
    char *text;
    size_t capacity, length;
} pgi_writer;

static void put(pgi_writer *writer, const char *text)
{
    for (; *text; text++) {
        if (writer->length + 1 < writer->capacity)
            writer->text[writer->length] = *text;
        writer->length++;
    }
}

static void put_int(pgi_writer *writer, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    put(writer, text);
}

/* Prints an item of one number per axis (two where `high` differs), unless all equal `usual`. */
static void put_axes(pgi_writer *writer, const char *word, const int64_t *low, const int64_t *high,
                     int rank, int64_t usual)
{
    bool all_usual = true, all_equal = true;
    int i;

    for (i = 0; i < rank; i++) {
        all_usual &= low[i] == usual && high[i] == usual;
        all_equal &= low[i] == low[0] && high[i] == high[0];
    }
    if (all_usual)
        return;
    put(writer, word);
    for (i = 0; i < (all_equal ? 1 : rank); i++) {
        if (i > 0)
            put(writer, "x");
        put_int(writer, low[i]);
        if (high[i] != low[i]) {
            put(writer, ",");
            put_int(writer, high[i]);
        }
    }
}

static void put_factor(pgi_writer *writer, const char *word, double value, double usual)
{
    char text[PGI_DOUBLE_TEXT];

    if (value == usual)
        return;
    pgi_write_double(value, text);
    put(writer, word);
    put(writer, text);
}

static void put_strides(pgi_writer *writer, const char *word, const poolgrad_view *view, int count)
{
    int i;

    for (i = 0; i < count && view->layout == POOLGRAD_STRIDED; i++) {
        put(writer, i == 0 ? word : ",");
        put_int(writer, view->stride[i]);
    }
}

static void put_view(pgi_writer *writer, const char *box_word, const char *stride_word,
                     const poolgrad_view *view, int count)
{
    bool whole = true;
    int i;

    for (i = 0; i < count; i++)
        whole &= view->offset[i] == 0 && view->extent[i] == POOLGRAD_WHOLE;
    for (i = 0; i < count && !whole; i++) {
        put(writer, i == 0 ? box_word : ",");
        put_int(writer, view->offset[i]);
        put(writer, "+");
        if (view->extent[i] == POOLGRAD_WHOLE)
            put(writer, "*");
        else
            put_int(writer, view->extent[i]);
    }
    put_strides(writer, stride_word, view, count);
}

static void put_name(pgi_writer *writer, const char *word, const pgi_name *names, int value,
                     int usual)
{
    if (value == usual)
        return;
    put(writer, word);
    put(writer, name_of(names, value));
}

static void put_head(pgi_writer *writer, poolgrad_desc *desc)
{
    const pgi_name *layout_names = layouts[desc->rank - 1];
    const int source = (int)pgi_source_view(desc)->layout;
    int i;

    put(writer, name_of(ops, (int)desc->op));
    put_int(writer, desc->rank);
    put(writer, "d:");
    put(writer, name_of(dtypes, (int)desc->dtype));
    put(writer, ":");
    put(writer, name_of(layout_names, source));
    put_name(writer, "/", layout_names, (int)pgi_target_view(desc)->layout, source);
    put(writer, ":");
    put_int(writer, desc->batch);
    put(writer, "x");
    put_int(writer, desc->channels);
    for (i = 0; i < desc->rank; i++) {
        put(writer, "x");
        put_int(writer, desc->in[i]);
    }
}

/* What only max pooling has; a field that the op does not use is not printed. */
static void put_max(pgi_writer *writer, const poolgrad_desc *desc)
{
    const pgi_name *layout_names = layouts[desc->rank - 1];
    const bool gradient = desc->op == POOLGRAD_MAX_GRAD;
    const bool from_x = gradient && desc->winner == POOLGRAD_FROM_X;
    const int axes = desc->rank + PGI_SPATIAL;

    if (gradient)
        put_name(writer, ":from=", winners, (int)desc->winner, POOLGRAD_FROM_INDICES);
    if (!gradient || from_x)
        put_name(writer, ":nan=", nans, (int)desc->nan, POOLGRAD_NAN_FIRST);
    if (from_x) {
        put_name(writer, ":xlayout=", layout_names, (int)desc->x.layout,
                 (int)usual_layout(&desc->dx));
        put_view(writer, ":xbox=", ":xstride=", &desc->x, axes);
        return;
    }
    put_name(writer, ":index=", index_types, (int)desc->index_type, POOLGRAD_I64);
    put_name(writer, ":base=", index_bases, (int)desc->index_base, POOLGRAD_INDEX_TENSOR);
    put_name(writer, ":order=", index_orders, (int)desc->index_order, POOLGRAD_ROW_MAJOR);
    if (gradient && desc->no_winner)
        put(writer, ":nowinner");
    put_name(writer, ":ilayout=", layout_names, (int)desc->indices.layout,
             (int)usual_layout(gradient ? &desc->dy : &desc->y));
    put_strides(writer, ":istride=", &desc->indices, axes);
}

static void put_desc(pgi_writer *writer, poolgrad_desc *desc)
{
    const bool forward = pgi_is_forward(desc->op);
    const int rank = desc->rank;

    put_head(writer, desc);
    put_axes(writer, ":k", desc->kernel, desc->kernel, rank,
             desc->rounding == POOLGRAD_ADAPTIVE ? 0 : -1);
    put_axes(writer, ":s", desc->stride, desc->stride, rank, 1);
    put_axes(writer, ":d", desc->dilation, desc->dilation, rank, 1);
    put_axes(writer, ":p", desc->pad_lo, desc->pad_hi, rank, 0);
    put_axes(writer, ":o", desc->out, desc->out, rank, 0);
    put_name(writer, ":", roundings, (int)desc->rounding, POOLGRAD_FLOOR);
    if (!pgi_is_max(desc->op) && desc->divisor == POOLGRAD_OVERRIDE) {
        put(writer, ":div=");
        put_int(writer, desc->divisor_override);
    } else if (!pgi_is_max(desc->op)) {
        put_name(writer, ":div=", divisors, (int)desc->divisor, POOLGRAD_INCLUDE_CLIPPED);
    }
    put_factor(writer, ":alpha=", desc->alpha, 1);
    put_factor(writer, ":beta=", desc->beta, 0);
    put_view(writer, forward ? ":xbox=" : ":dybox=", forward ? ":xstride=" : ":dystride=",
             pgi_source_view(desc), rank + PGI_SPATIAL);
    put_view(writer, forward ? ":ybox=" : ":dxbox=", forward ? ":ystride=" : ":dxstride=",
             pgi_target_view(desc), rank + PGI_SPATIAL);
    if (pgi_is_max(desc->op))
        put_max(writer, desc);
}

poolgrad_status poolgrad_desc_print(const poolgrad_desc *desc, char *text, size_t capacity,
                                    size_t *length, poolgrad_error *error)
{
    pgi_writer writer = {text, capacity, 0};
    poolgrad_desc read;

    PGI_TRY(pgi_desc_read(&read, desc, error));
    if (!text && capacity > 0)
        return pgi_fail(error, POOLGRAD_ERR_NULL, "text is NULL but capacity is %zu", capacity);
    PGI_TRY(pgi_check_enums(&read, error));
    if (!isfinite(read.alpha) || !isfinite(read.beta))
        return pgi_fail(error, POOLGRAD_ERR_ATTRIBUTE, "%s is not finite",
                        isfinite(read.alpha) ? "beta" : "alpha");
    put_desc(&writer, &read);
    if (capacity > 0)
        text[writer.length < capacity ? writer.length : capacity - 1] = '\0';
    if (length)
        *length = writer.length;
    return pgi_ok(error);
}
