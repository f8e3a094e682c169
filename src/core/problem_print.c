/* SPDX-License-Identifier: MIT */
/* Problem strings, descriptors as text: writing. The grammar is in docs/problem-strings.md. */
#include "core/number.h"
#include "core/problem.h"
#include "core/problem_names.h"
#include "core/status.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    const bool near_y = gradient && desc->winner == POOLGRAD_NEAR_Y;
    const int axes = desc->rank + PGI_SPATIAL;

    if (gradient)
        put_name(writer, ":from=", winners, (int)desc->winner, POOLGRAD_FROM_INDICES);
    if (!gradient || from_x)
        put_name(writer, ":nan=", nans, (int)desc->nan, POOLGRAD_NAN_FIRST);
    if (from_x || near_y) {
        put_name(writer, ":xlayout=", layout_names, (int)desc->x.layout,
                 (int)usual_layout(&desc->dx));
        put_view(writer, ":xbox=", ":xstride=", &desc->x, axes);
    }
    if (near_y) {
        put_name(writer, ":ylayout=", layout_names, (int)desc->y.layout,
                 (int)usual_layout(&desc->dy));
        put_view(writer, ":ybox=", ":ystride=", &desc->y, axes);
    }
    if (from_x || near_y)
        return;
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
    put_name(writer, ":parity=", parities, (int)desc->parity, POOLGRAD_PARITY_OFF);
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
