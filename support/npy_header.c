/* SPDX-License-Identifier: MIT */
#include "npy_header.h"

#include <stdio.h>
#include <string.h>

/* A place in the text, and where to complain. */
typedef struct cursor {
    const char *at, *end;
    char *message;
    size_t capacity;
} cursor;

static int fail(cursor *c, const char *what)
{
    snprintf(c->message, c->capacity, "its .npy header is not valid: %s", what);
    return -1;
}

static void skip_space(cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'))
        c->at++;
}

/* Skips white space, then takes the character if it is next. */
static int accept(cursor *c, char wanted)
{
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return 0;
    c->at++;
    return 1;
}

/* A Python string without escapes: nothing in a valid header needs one. */
static int parse_string(cursor *c, char *text, size_t capacity)
{
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return fail(c, "a quoted word is missing");
    char quote = *c->at++;
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (*c->at == '\\' || (unsigned char)*c->at < ' ' || length + 1 >= capacity)
            return fail(c, "a quoted word is too long or holds odd characters");
        text[length++] = *c->at++;
    }
    if (c->at == c->end)
        return fail(c, "a quote is not closed");
    c->at++;
    text[length] = '\0';
    return 0;
}

static int parse_bool(cursor *c, int *value)
{
    static const char *const words[] = {"False", "True"};
    skip_space(c);
    for (int i = 0; i < 2; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= length && memcmp(c->at, words[i], length) == 0) {
            c->at += length;
            *value = i;
            return 0;
        }
    }
    return fail(c, "fortran_order is neither True nor False");
}

static int parse_extent(cursor *c, int64_t *value)
{
    skip_space(c);
    if (c->at == c->end || *c->at < '0' || *c->at > '9')
        return fail(c, "a dimension is not a number of 0 or more");
    int64_t result = 0;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        if (__builtin_mul_overflow(result, 10, &result) ||
            __builtin_add_overflow(result, *c->at++ - '0', &result))
            return fail(c, "a dimension does not fit in 64 bits");
    if (c->at < c->end && *c->at == 'L')
        c->at++;
    *value = result;
    return 0;
}

static int parse_shape(cursor *c, sup_npy *array)
{
    if (!accept(c, '('))
        return fail(c, "shape is not a tuple");
    array->rank = 0;
    while (!accept(c, ')')) {
        if (array->rank == SUP_NPY_MAX_RANK)
            return fail(c, "more than 32 dimensions");
        if (parse_extent(c, &array->shape[array->rank]))
            return -1;
        array->rank++;
        if (!accept(c, ',')) {
            /* Without a comma "(3)" is a number in Python, not a tuple. */
            if (array->rank == 1)
                return fail(c, "shape is not a tuple");
            if (!accept(c, ')'))
                return fail(c, "the shape's tuple is not closed");
            break;
        }
    }
    return 0;
}

static int parse_descr(cursor *c, sup_npy *array)
{
    char text[32];
    skip_space(c);
    if (c->at < c->end && *c->at == '[') {
        snprintf(c->message, c->capacity,
                 "it holds a structured dtype; store one of float16, float32, float64, uint16 or "
                 "|V2 for bf16, int64, int32, uint32 or uint8 for indices");
        return -1;
    }
    if (parse_string(c, text, sizeof text))
        return -1;
    static const char *const known[] = {"f2", "f4", "f8", "u2", "V2", "i8", "i4", "u4", "u1"};
    const char *type = strchr("<>=|", text[0]) && text[0] ? text + 1 : text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(type, known[i]) == 0) {
            array->order = type == text || text[0] == '=' ? '|' : text[0];
            array->kind = known[i][0];
            array->size = known[i][1] - '0';
            return 0;
        }
    }
    snprintf(c->message, c->capacity,
             "its dtype is '%s'; store one of float16 (f2), float32 (f4), float64 (f8), uint16 "
             "(u2) or V2 for bf16, int64 (i8), int32 (i4), uint32 (u4) or uint8 (u1) for indices",
             text);
    return -1;
}

int sup_npy_header_parse(const char *text, size_t length, sup_npy *array, char *message,
                         size_t capacity)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    cursor c = {text, text + length, message, capacity};
    unsigned seen = 0;
    if (!accept(&c, '{'))
        return fail(&c, "it is not a dictionary");
    while (!accept(&c, '}')) {
        char key[32];
        if (parse_string(&c, key, sizeof key))
            return -1;
        unsigned which = 0;
        while (which < 3 && strcmp(key, keys[which]) != 0)
            which++;
        if (which == 3)
            return fail(&c, "it has a key other than descr, fortran_order and shape");
        if (seen & 1u << which)
            return fail(&c, "a key stands twice");
        seen |= 1u << which;
        if (!accept(&c, ':'))
            return fail(&c, "a colon is missing");
        if (which == 0   ? parse_descr(&c, array)
            : which == 1 ? parse_bool(&c, &array->fortran)
                         : parse_shape(&c, array))
            return -1;
        if (!accept(&c, ',')) {
            if (!accept(&c, '}'))
                return fail(&c, "the dictionary is not closed");
            break;
        }
    }
    skip_space(&c);
    if (c.at != c.end)
        return fail(&c, "something follows the dictionary");
    if (seen != 7)
        return fail(&c, "it lacks descr, fortran_order or shape");
    return 0;
}
