/* SPDX-License-Identifier: MIT */
/* Problem strings: descriptors as text, read and written here and nowhere else. The grammar is in
 * docs/problem-strings.md. */
#include "core/number.h"
#include "core/problem.h"
#include "core/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------- names */

typedef struct pgi_name {
    const char *text;
    int value;
} pgi_name;

static const pgi_name dtypes[] = {{"f32", POOLGRAD_F32},
                                  {"f64", POOLGRAD_F64},
                                  {"f16", POOLGRAD_F16},
                                  {"bf16", POOLGRAD_BF16},
                                  {NULL, 0}};
static const pgi_name roundings[] = {
    {"floor", POOLGRAD_FLOOR}, {"ceil", POOLGRAD_CEIL}, {"adaptive", POOLGRAD_ADAPTIVE}, {NULL, 0}};
static const pgi_name divisors[] = {{"exclude", POOLGRAD_EXCLUDE},
                                    {"include", POOLGRAD_INCLUDE},
                                    {"include_clipped", POOLGRAD_INCLUDE_CLIPPED},
                                    {NULL, 0}};
/* by rank; the last two fit every rank */
static const pgi_name layouts[][5] = {
    {{"ncw", POOLGRAD_NCX}, {"nwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
    {{"nchw", POOLGRAD_NCX}, {"nhwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
    {{"ncdhw", POOLGRAD_NCX}, {"ndhwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
};
static const pgi_name any_rank[] = {{"ncx", POOLGRAD_NCX}, {"nxc", POOLGRAD_NXC}, {NULL, 0}};

static const char *name_of(const pgi_name *names, int value)
{
    for (; names->text; names++)
        if (names->value == value)
            return names->text;
    return NULL;
}

static bool find_name(const pgi_name *names, const char *text, size_t length, int *value)
{
    for (; names->text; names++) {
        if (strlen(names->text) == length && memcmp(names->text, text, length) == 0) {
            *value = names->value;
            return true;
        }
    }
    return false;
}

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
        return expected(reader, "a decimal of at most 15 digits or a hexadecimal number");
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
    ITEM_DY_STRIDE,
    ITEM_DX_STRIDE,
    ITEM_KERNEL,
    ITEM_STRIDE,
    ITEM_DILATION,
    ITEM_PADDING,
    ITEM_OUT,
    ITEM_ROUNDING,
    ITEM_COUNT
} pgi_item;

/* Longer words first where one begins with another ("dystride" before "d"). */
static const char *const item_words[ITEM_ROUNDING] = {"alpha=", "beta=",     "div=",      "dybox=",
                                                      "dxbox=", "dystride=", "dxstride=", "k",
                                                      "s",      "d",         "p",         "o"};

static poolgrad_status read_item_value(pgi_reader *reader, pgi_item item)
{
    poolgrad_desc *desc = reader->desc;
    int value;

    switch (item) {
    case ITEM_ALPHA:
        return read_factor(reader, &desc->alpha);
    case ITEM_BETA:
        return read_factor(reader, &desc->beta);
    case ITEM_DIVISOR:
        return read_divisor(reader);
    case ITEM_DY_BOX:
        return read_box(reader, &desc->dy);
    case ITEM_DX_BOX:
        return read_box(reader, &desc->dx);
    case ITEM_DY_STRIDE:
        return read_strides(reader, &desc->dy);
    case ITEM_DX_STRIDE:
        return read_strides(reader, &desc->dx);
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
    case ITEM_COUNT:
        break;
    }
    PGI_TRY(read_name(reader, roundings, NULL,
                      "an item: k, s, d, p, o, floor, ceil, adaptive, div=, alpha=, beta=, dybox=, "
                      "dxbox=, dystride= or dxstride=",
                      &value));
    desc->rounding = (poolgrad_rounding)value;
    return POOLGRAD_OK;
}

static poolgrad_status read_item(pgi_reader *reader)
{
    const char *begin = reader->at;
    pgi_item item = ITEM_ALPHA;

    while (item < ITEM_ROUNDING && !accept(reader, item_words[item]))
        item++;
    if (reader->seen & 1u << item) {
        reader->at = begin;
        return expected(reader, "each item at most once");
    }
    reader->seen |= 1u << item;
    return read_item_value(reader, item);
}

static poolgrad_status read_head(pgi_reader *reader)
{
    poolgrad_desc *desc = reader->desc;
    int value = 0, i;

    if (!accept(reader, "avg"))
        return expected(reader, "avg1d, avg2d or avg3d");
    if (*reader->at < '1' || *reader->at > '3' || reader->at[1] != 'd')
        return expected(reader, "1d, 2d or 3d");
    desc->rank = *reader->at - '0';
    reader->at += 2;
    if (!accept(reader, ":"))
        return expected(reader, "\":\" and a type");
    PGI_TRY(read_name(reader, dtypes, NULL, "f32, f64, f16 or bf16", &value));
    desc->dtype = (poolgrad_dtype)value;
    if (!accept(reader, ":"))
        return expected(reader, "\":\" and a layout");
    PGI_TRY(read_name(reader, layouts[desc->rank - 1], any_rank,
                      "a layout of this rank: nchw, nhwc and their like, ncx, nxc or strided",
                      &value));
    desc->dy.layout = desc->dx.layout = (poolgrad_layout)value;
    if (accept(reader, "/")) {
        PGI_TRY(read_name(reader, layouts[desc->rank - 1], any_rank, "a layout of this rank for dx",
                          &value));
        desc->dx.layout = (poolgrad_layout)value;
    }
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
    if ((read.dy.layout == POOLGRAD_STRIDED && !(reader.seen & 1u << ITEM_DY_STRIDE)) ||
        (read.dx.layout == POOLGRAD_STRIDED && !(reader.seen & 1u << ITEM_DX_STRIDE)))
        return expected(&reader, "dystride= and dxstride= for the layout \"strided\"");
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
    for (i = 0; i < count && view->layout == POOLGRAD_STRIDED; i++) {
        put(writer, i == 0 ? stride_word : ",");
        put_int(writer, view->stride[i]);
    }
}

static void put_desc(pgi_writer *writer, const poolgrad_desc *desc)
{
    const int rank = desc->rank;
    const pgi_name *layout_names = layouts[rank - 1];
    int i;

    put(writer, rank == 1 ? "avg1d:" : rank == 2 ? "avg2d:" : "avg3d:");
    put(writer, name_of(dtypes, (int)desc->dtype));
    put(writer, ":");
    put(writer, name_of(layout_names, (int)desc->dy.layout));
    if (desc->dx.layout != desc->dy.layout) {
        put(writer, "/");
        put(writer, name_of(layout_names, (int)desc->dx.layout));
    }
    put(writer, ":");
    put_int(writer, desc->batch);
    put(writer, "x");
    put_int(writer, desc->channels);
    for (i = 0; i < rank; i++) {
        put(writer, "x");
        put_int(writer, desc->in[i]);
    }
    put_axes(writer, ":k", desc->kernel, desc->kernel, rank,
             desc->rounding == POOLGRAD_ADAPTIVE ? 0 : -1);
    put_axes(writer, ":s", desc->stride, desc->stride, rank, 1);
    put_axes(writer, ":d", desc->dilation, desc->dilation, rank, 1);
    put_axes(writer, ":p", desc->pad_lo, desc->pad_hi, rank, 0);
    put_axes(writer, ":o", desc->out, desc->out, rank, 0);
    if (desc->rounding != POOLGRAD_FLOOR) {
        put(writer, ":");
        put(writer, name_of(roundings, (int)desc->rounding));
    }
    if (desc->divisor == POOLGRAD_OVERRIDE) {
        put(writer, ":div=");
        put_int(writer, desc->divisor_override);
    } else if (desc->divisor != POOLGRAD_INCLUDE_CLIPPED) {
        put(writer, ":div=");
        put(writer, name_of(divisors, (int)desc->divisor));
    }
    put_factor(writer, ":alpha=", desc->alpha, 1);
    put_factor(writer, ":beta=", desc->beta, 0);
    put_view(writer, ":dybox=", ":dystride=", &desc->dy, rank + PGI_SPATIAL);
    put_view(writer, ":dxbox=", ":dxstride=", &desc->dx, rank + PGI_SPATIAL);
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
