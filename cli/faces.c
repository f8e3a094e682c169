/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "face.h"

static const char verb[] = "faces";

static const char help[] =
    "usage: poolgrad faces [NAME...]\n"
    "\n"
    "Lists the operators of other systems that 'poolgrad face' can call: the files they read, the\n"
    "element types, and the attributes with their defaults. NAME is a face (tensorflow) or an\n"
    "operator (tensorflow.AvgPoolGrad); without one, all are listed.\n";

static const char *kind_name(cli_attribute_kind kind)
{
    switch (kind) {
    case CLI_ATTR_INTS:
        return "ints";
    case CLI_ATTR_INT:
        return "int";
    case CLI_ATTR_BOOL:
        return "bool";
    case CLI_ATTR_TEXT:
        break;
    }
    return "text";
}

static void print_operator(const cli_operator *op)
{
    printf("%s: %s\n    files ", op->name, op->summary);
    for (int i = 0; op->inputs[i]; i++)
        printf("%s%s", i ? ", " : "", op->inputs[i]);
    printf(" -> %s\n    types %s\n", op->output, op->types);
    for (const cli_attribute *a = op->attributes; a->name; a++)
        printf("    --%-22s %-5s %-10s %s\n", a->name, kind_name(a->kind),
               a->fallback ? a->fallback : "required", a->note);
}

/* Prints what the word means; returns whether it means something. NULL means everything. */
static int print_named(const char *word)
{
    const cli_face *face;
    int found = 0;
    for (size_t f = 0; (face = cli_face_at(f)) != NULL; f++) {
        int whole = !word || strcmp(word, face->name) == 0;
        if (whole)
            printf("%s# %s, in C <%s>\n", f && !word ? "\n" : "", face->name, face->header);
        for (size_t i = 0; i < face->count; i++) {
            if (whole || strcmp(word, face->operators[i].name) == 0) {
                print_operator(&face->operators[i]);
                found = 1;
            }
        }
    }
    return found;
}

static int run(int argc, char **argv)
{
    const cli_option none[] = {{0}};
    int words;
    if (cli_parse(verb, none, argc, argv, &words))
        return CLI_USAGE;
    if (words == 0)
        print_named(NULL);
    for (int i = 0; i < words; i++) {
        if (!print_named(argv[i])) {
            cli_error(verb, "no face or operator is called '%s'; 'poolgrad faces' lists them",
                      argv[i]);
            return CLI_USAGE;
        }
    }
    return CLI_OK;
}

const cli_verb cli_faces = {verb, "list the operators of other systems", help, run};
