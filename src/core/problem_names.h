/* SPDX-License-Identifier: MIT */
/* The words of problem strings, for problem_string.c and problem_print.c. Tables end with NULL. */
#ifndef PGI_CORE_PROBLEM_NAMES_H
#define PGI_CORE_PROBLEM_NAMES_H

#include <poolgrad/poolgrad.h>
#include <stdbool.h>
#include <string.h>

typedef struct pgi_name {
    const char *text;
    int value;
} pgi_name;

/* Longer names first: the rank follows without a separator. */
static const pgi_name ops[] = {{"avgpool", POOLGRAD_AVG},
                               {"maxpool", POOLGRAD_MAX},
                               {"avg", POOLGRAD_AVG_GRAD},
                               {"max", POOLGRAD_MAX_GRAD},
                               {NULL, 0}};
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
static const pgi_name winners[] = {
    {"indices", POOLGRAD_FROM_INDICES}, {"x", POOLGRAD_FROM_X}, {"y", POOLGRAD_NEAR_Y}, {NULL, 0}};
static const pgi_name parities[] = {{"off", POOLGRAD_PARITY_OFF},
                                    {"tensorflow", POOLGRAD_PARITY_TENSORFLOW},
                                    {"onnxruntime", POOLGRAD_PARITY_ONNXRUNTIME},
                                    {"torch", POOLGRAD_PARITY_TORCH},
                                    {"onednn", POOLGRAD_PARITY_ONEDNN},
                                    {NULL, 0}};
static const pgi_name nans[] = {{"first", POOLGRAD_NAN_FIRST},
                                {"skip", POOLGRAD_NAN_SKIP},
                                {"last", POOLGRAD_NAN_LAST},
                                {"leading", POOLGRAD_NAN_LEADING},
                                {NULL, 0}};
static const pgi_name index_types[] = {{"i64", POOLGRAD_I64},
                                       {"i32", POOLGRAD_I32},
                                       {"u32", POOLGRAD_U32},
                                       {"u8", POOLGRAD_U8},
                                       {NULL, 0}};
static const pgi_name index_bases[] = {
    {"tensor", POOLGRAD_INDEX_TENSOR}, {"plane", POOLGRAD_INDEX_PLANE},
    {"nxc", POOLGRAD_INDEX_NXC},       {"nxc_image", POOLGRAD_INDEX_NXC_IMAGE},
    {"window", POOLGRAD_INDEX_WINDOW}, {NULL, 0}};
static const pgi_name index_orders[] = {
    {"row", POOLGRAD_ROW_MAJOR}, {"column", POOLGRAD_COLUMN_MAJOR}, {NULL, 0}};
/* by rank */
static const pgi_name layouts[][4] = {
    {{"ncw", POOLGRAD_NCX}, {"nwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
    {{"nchw", POOLGRAD_NCX}, {"nhwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
    {{"ncdhw", POOLGRAD_NCX}, {"ndhwc", POOLGRAD_NXC}, {"strided", POOLGRAD_STRIDED}, {NULL, 0}},
};

/* x, y and the indices of max pooling lie like what has their shape, unless that is strided. */
static inline poolgrad_layout usual_layout(const poolgrad_view *like)
{
    return like->layout == POOLGRAD_STRIDED ? POOLGRAD_NCX : like->layout;
}

static inline const char *name_of(const pgi_name *names, int value)
{
    for (; names->text; names++)
        if (names->value == value)
            return names->text;
    return NULL;
}

static inline bool find_name(const pgi_name *names, const char *text, size_t length, int *value)
{
    for (; names->text; names++) {
        if (strlen(names->text) == length && memcmp(names->text, text, length) == 0) {
            *value = names->value;
            return true;
        }
    }
    return false;
}

#endif
