/* SPDX-License-Identifier: MIT */
/*
 * The operators of the faces, as the command line calls them: one table per face, in a file of its
 * own (face_tensorflow.c ...), and a run function per operator that hands what was read to the
 * face. Options have the original's attribute names.
 */
#ifndef CLI_FACE_H
#define CLI_FACE_H

#include <poolgrad/face.h>

#include "cli.h"

enum {
    CLI_FACE_INPUTS = 3,
    CLI_FACE_ATTRIBUTES = 16
};

typedef enum cli_attribute_kind {
    CLI_ATTR_INTS, /* 1,2,2,1 */
    CLI_ATTR_INT,  /* 3 */
    CLI_ATTR_BOOL, /* true, false, 1, 0 */
    CLI_ATTR_TEXT
} cli_attribute_kind;

typedef struct cli_attribute {
    const char *name; /* as the original spells it; NULL ends a table */
    cli_attribute_kind kind;
    const char *fallback; /* the default, as text; NULL: required. For listings: the face itself
                             applies defaults to what is left out */
    const char *note;     /* what it is or may be */
} cli_attribute;

struct cli_face_call;

typedef struct cli_operator {
    const char *name;                        /* "tensorflow.AvgPoolGrad" */
    const char *summary;                     /* half a line */
    const char *inputs[CLI_FACE_INPUTS + 1]; /* what the files are, in order; NULL ends */
    const char *output;                      /* what the original calls its result */
    const char *output_sizes;                /* the attribute or the input that tells them */
    const char *types;                       /* the original's names of the element types */
    const cli_attribute *attributes;
    /* Calls the face; returns its code. */
    int64_t (*run)(const struct cli_face_call *call, poolgrad_error *error);
} cli_operator;

/* The element types a file can hold, as columns of a face's table of numbers. */
typedef enum cli_face_dtype {
    CLI_FACE_F32,
    CLI_FACE_F64,
    CLI_FACE_F16,
    CLI_FACE_BF16,
    CLI_FACE_I32,
    CLI_FACE_I64,
    CLI_FACE_U32,
    CLI_FACE_DTYPES
} cli_face_dtype;

typedef struct cli_face {
    const char *name;   /* "tensorflow" */
    const char *header; /* "poolgrad/tensorflow.h" */
    const cli_operator *operators;
    size_t count;
    int32_t dtypes[CLI_FACE_DTYPES]; /* in the face's numbering; 0 or less if it has none: the
                                        face then says so itself */
    const char *(*code_name)(int64_t code); /* "INVALID_ARGUMENT" */
} cli_face;

extern const cli_face cli_face_directml, cli_face_tensorflow, cli_face_onednn, cli_face_onnxruntime,
    cli_face_torch;

/* All of them; NULL past the end. */
const cli_face *cli_face_at(size_t index);

/* What a run function gets. */
typedef struct cli_face_call {
    const cli_face *face;
    const cli_operator *op;
    const char *text[CLI_FACE_ATTRIBUTES];   /* as given, NULL: left out; by place in the table */
    poolgrad_list list[CLI_FACE_ATTRIBUTES]; /* of those that are integers */
    poolgrad_tensor input[CLI_FACE_INPUTS];
    poolgrad_tensor output;
    poolgrad_face_options options;
} cli_face_call;

/* Finds an operator by its name. Returns 0, or an exit code after a message, as does the next. */
int cli_face_find(cli_face_call *call, const char *name);

/* Turns the texts of the attributes into lists where the operator wants numbers. */
int cli_face_read_attributes(cli_face_call *call);
void cli_face_free_attributes(cli_face_call *call);

/* Attributes by name. A list that was left out has NULL values, a text is NULL, a number or bool is
 * `fallback`. */
poolgrad_list cli_attr_list(const cli_face_call *call, const char *name);
const char *cli_attr_text(const cli_face_call *call, const char *name);
int64_t cli_attr_int(const cli_face_call *call, const char *name, int64_t fallback);

#endif
