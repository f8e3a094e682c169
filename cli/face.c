/* SPDX-License-Identifier: MIT */
#include "face.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy.h"

static const char verb[] = "face";

static const char help[] =
    "usage: poolgrad face OPERATOR FILE... [--ATTRIBUTE VALUE...] -o FILE [OPTION...]\n"
    "\n"
    "Calls another system's operator by its own name, with its own attributes, checks and errors:\n"
    "\n"
    "    poolgrad face tensorflow.AvgPoolGrad grad.npy --orig_input_shape 1,3,3,1 \\\n"
    "        --ksize 1,2,2,1 --strides 1,1,1,1 --padding VALID -o dx.npy\n"
    "\n"
    "'poolgrad faces' lists the operators with the files they read, in order, and their "
    "attributes.\n"
    "The axes of the files are in the order in which the original names them.\n"
    "\n"
    "    -o, --output FILE   where the result goes; required but with --explain\n"
    "    --explain           compute nothing; print the problem that the call stands for\n"
    "    --parity            the original's own arithmetic, bit for bit where its formula is "
    "known\n"
    "    --dtype bf16        the uint16 or V2 elements of the files are bf16\n"
    "    --threads N         threads allowed (default: the CPUs this process may use)\n"
    "    --cpu NAME          instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME     strategy (default: the planner's choice)\n";

const cli_face *cli_face_at(size_t index)
{
    static const cli_face *const faces[] = {
        &cli_face_directml,    &cli_face_tensorflow, &cli_face_onednn,
        &cli_face_onnxruntime, &cli_face_torch,
    };
    return index < sizeof faces / sizeof *faces ? faces[index] : NULL;
}

/* ---------------------------------------------------------------- attributes */

static int place(const cli_operator *op, const char *name)
{
    int i = 0;
    while (op->attributes[i].name && strcmp(op->attributes[i].name, name) != 0)
        i++;
    return op->attributes[i].name ? i : -1;
}

poolgrad_list cli_attr_list(const cli_face_call *call, const char *name)
{
    int i = place(call->op, name);
    return i < 0 ? (poolgrad_list){NULL, 0} : call->list[i];
}

const char *cli_attr_text(const cli_face_call *call, const char *name)
{
    int i = place(call->op, name);
    return i < 0 ? NULL : call->text[i];
}

int64_t cli_attr_int(const cli_face_call *call, const char *name, int64_t fallback)
{
    poolgrad_list list = cli_attr_list(call, name);
    return list.values ? list.values[0] : fallback;
}

static int bad_attribute(const cli_face_call *call, int i, const char *wanted)
{
    cli_error(verb, "%s: --%s %s: give %s", call->op->name, call->op->attributes[i].name,
              call->text[i], wanted);
    return CLI_USAGE;
}

/* One integer; *end is behind it. Returns 0 if there is none. */
static int read_int(const char *text, int64_t *value, const char **end)
{
    char *stop;
    errno = 0;
    *value = strtoll(text, &stop, 10);
    *end = stop;
    return stop != text && !errno;
}

static int read_ints(cli_face_call *call, int i)
{
    const char *text = call->text[i];
    size_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    int64_t *values = malloc(count * sizeof *values);
    if (!values) {
        cli_error(verb, "out of memory");
        return CLI_DATA;
    }
    call->list[i] = (poolgrad_list){values, count};
    for (size_t k = 0; k < count; k++, text++)
        if (!read_int(text, &values[k], &text) || *text != (k + 1 < count ? ',' : '\0'))
            return bad_attribute(call, i, "whole numbers with commas between them, such as 1,2");
    return 0;
}

static int read_bool(cli_face_call *call, int i)
{
    static const char *const words[] = {"0", "1", "false", "true", "False", "True"};
    for (int64_t k = 0; k < 6; k++) {
        if (strcmp(call->text[i], words[k]) == 0) {
            free((void *)call->list[i].values);
            int64_t *value = malloc(sizeof *value);
            if (!value) {
                cli_error(verb, "out of memory");
                return CLI_DATA;
            }
            *value = k & 1;
            call->list[i] = (poolgrad_list){value, 1};
            return 0;
        }
    }
    return bad_attribute(call, i, "true or false");
}

int cli_face_read_attributes(cli_face_call *call)
{
    int code = 0;
    for (int i = 0; call->op->attributes[i].name && !code; i++) {
        cli_attribute_kind kind = call->op->attributes[i].kind;
        if (!call->text[i] || kind == CLI_ATTR_TEXT)
            continue;
        code = kind == CLI_ATTR_BOOL ? read_bool(call, i) : read_ints(call, i);
        if (!code && kind == CLI_ATTR_INT && call->list[i].count != 1)
            code = bad_attribute(call, i, "one whole number");
    }
    return code;
}

void cli_face_free_attributes(cli_face_call *call)
{
    for (int i = 0; i < CLI_FACE_ATTRIBUTES; i++)
        free((void *)call->list[i].values);
}

/* --------------------------------------------------------------------- files */

typedef struct session {
    cli_face_call call;
    sup_npy arrays[CLI_FACE_INPUTS];
    int64_t strides[CLI_FACE_INPUTS][SUP_NPY_MAX_RANK]; /* of files in Fortran order */
    int inputs;
    const char *path, *dtype; /* of the options */
    int explain, parity;
    cli_compute compute;
    poolgrad_options options;
} session;

static int32_t dtype_of(const session *s, const sup_npy *array)
{
    cli_face_dtype type = CLI_FACE_F32;
    if (array->kind == 'f')
        type = array->size == 2 ? CLI_FACE_F16 : array->size == 8 ? CLI_FACE_F64 : CLI_FACE_F32;
    else if (array->size == 2)
        type = CLI_FACE_BF16;
    else if (array->kind == 'i')
        type = array->size == 8 ? CLI_FACE_I64 : CLI_FACE_I32;
    else
        type = CLI_FACE_U32;
    return s->call.face->dtypes[type];
}

static int load(session *s, int i, const char *path)
{
    sup_npy *array = &s->arrays[i];
    poolgrad_tensor *tensor = &s->call.input[i];
    char message[320];
    if (sup_npy_read(path, array, message, sizeof message)) {
        cli_error(verb, "cannot read %s: %s", path, message);
        return CLI_DATA;
    }
    if (array->kind != 'f' && array->size == 2 && !s->dtype) {
        cli_error(verb, "%s holds %c2; add --dtype bf16 if these are bf16 numbers", path,
                  array->kind);
        return CLI_DATA;
    }
    if (array->kind == 'f' && s->dtype) {
        cli_error(verb, "--dtype bf16 but %s holds f%d; let them agree", path, array->size);
        return CLI_DATA;
    }
    *tensor = (poolgrad_tensor){
        dtype_of(s, array), array->rank, array->shape, NULL, array->data,
    };
    if (array->fortran) {
        int64_t stride = 1;
        for (int k = 0; k < array->rank; k++) {
            s->strides[i][k] = stride;
            stride *= array->shape[k] > 0 ? array->shape[k] : 1;
        }
        tensor->strides = s->strides[i];
    }
    return 0;
}

/* The result's type and sizes; its memory comes when the face has agreed to them. */
static void describe_output(session *s)
{
    const cli_operator *op = s->call.op;
    poolgrad_tensor *output = &s->call.output;
    poolgrad_list list = cli_attr_list(&s->call, op->output_sizes);
    output->dtype = s->call.input[0].dtype;
    output->sizes = list.values;
    output->rank = list.count > SUP_NPY_MAX_RANK ? SUP_NPY_MAX_RANK : (int32_t)list.count;
    for (int i = 0; i < s->inputs; i++) {
        if (strcmp(op->inputs[i], op->output_sizes) == 0) {
            output->rank = s->call.input[i].rank;
            output->sizes = s->call.input[i].sizes;
        }
    }
}

/* Memory for a result that the face has checked. */
static int make_output(session *s)
{
    poolgrad_tensor *output = &s->call.output;
    size_t bytes = (size_t)s->arrays[0].size;
    for (int i = 0; i < output->rank; i++)
        bytes *= (size_t)output->sizes[i];
    output->data = malloc(bytes ? bytes : 1);
    if (!output->data) {
        cli_error(verb, "out of memory for %zu bytes of %s", bytes, s->call.op->output);
        return CLI_DATA;
    }
    return 0;
}

static int write_output(const session *s)
{
    const poolgrad_tensor *output = &s->call.output;
    sup_npy array = {.order = s->arrays[0].order,
                     .kind = s->arrays[0].kind,
                     .size = s->arrays[0].size,
                     .rank = output->rank,
                     .data = output->data,
                     .bytes = (size_t)s->arrays[0].size};
    sup_outfile file = {0};
    char message[320];
    for (int i = 0; i < output->rank; i++) {
        array.shape[i] = output->sizes[i];
        array.bytes *= (size_t)output->sizes[i];
    }
    if (sup_npy_write(s->path, &array, &file, message, sizeof message) ||
        sup_outfile_commit(&file, message, sizeof message)) {
        cli_error(verb, "%s", message);
        return CLI_DATA;
    }
    return CLI_OK;
}

/* ------------------------------------------------------------------- calling */

/* The original's name and number of an error, and the sentence. */
static int face_error(const session *s, int64_t code, const poolgrad_error *error)
{
    const char *name = s->call.face->code_name(code);
    const int hex = code < 0 || code > 0xffff; /* an HRESULT is read in hexadecimal */
    char number[32];
    snprintf(number, sizeof number, hex ? "0x%08llX" : "%llu",
             (unsigned long long)(hex ? (uint32_t)code : (uint64_t)code));
    cli_error(verb, "%s: %s (%s): %s", s->call.op->name, name, number, error->message);
    return error->status == POOLGRAD_ERR_OPTION ? CLI_USAGE : CLI_DATA;
}

/* The problem as a person would write it: what follows from the rest is left out. */
static int explain(const poolgrad_plan *plan)
{
    poolgrad_desc desc = *poolgrad_plan_desc(plan);
    poolgrad_view *const views[] = {&desc.dy, &desc.dx, &desc.x, &desc.y, &desc.indices};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        for (int axis = 0; axis < 5; axis++)
            views[i]->extent[axis] = POOLGRAD_WHOLE;
    if (desc.rounding != POOLGRAD_ADAPTIVE)
        memset(desc.out, 0, sizeof desc.out);
    char *text = cli_problem_text(verb, &desc);
    if (text)
        puts(text);
    free(text);
    return text ? CLI_OK : CLI_DATA;
}

static int call_operator(session *s)
{
    poolgrad_error error;
    poolgrad_plan *plan = NULL;
    cli_compute_options(&s->compute, &s->options);
    poolgrad_face_options_init(&s->call.options);
    s->call.options.compute = &s->options;
    s->call.options.parity = s->parity;
    s->call.options.plan = &plan;
    int64_t code = s->call.op->run(&s->call, &error);
    if (code)
        return face_error(s, code, &error);
    int result = s->explain ? explain(plan) : make_output(s);
    poolgrad_plan_destroy(plan);
    if (s->explain || result)
        return result;
    s->call.options.plan = NULL;
    code = s->call.op->run(&s->call, &error);
    return code ? face_error(s, code, &error) : write_output(s);
}

static int run_files(session *s, int words, char **paths)
{
    const cli_operator *op = s->call.op;
    while (op->inputs[s->inputs])
        s->inputs++;
    if (words != s->inputs) {
        cli_error(verb, "%s reads %d file%s: %s%s%s%s%s; %d given", op->name, s->inputs,
                  s->inputs == 1 ? "" : "s", op->inputs[0], s->inputs > 1 ? ", " : "",
                  s->inputs > 1 ? op->inputs[1] : "", s->inputs > 2 ? ", " : "",
                  s->inputs > 2 ? op->inputs[2] : "", words);
        return CLI_USAGE;
    }
    if (!s->path && !s->explain) {
        cli_error(verb, "give -o FILE for %s; 'poolgrad help face' explains", op->output);
        return CLI_USAGE;
    }
    if (s->dtype && strcmp(s->dtype, "bf16") != 0) {
        cli_error(verb, "--dtype %s: only bf16 can be given, other types are in the file",
                  s->dtype);
        return CLI_USAGE;
    }
    const int sizes = place(op, op->output_sizes);
    if (sizes >= 0 && !s->call.text[sizes]) {
        cli_error(verb, "%s needs --%s: %s", op->name, op->output_sizes,
                  op->attributes[sizes].note);
        return CLI_USAGE;
    }
    int code = cli_face_read_attributes(&s->call);
    for (int i = 0; i < s->inputs && !code; i++)
        code = load(s, i, paths[i]);
    if (code)
        return code;
    describe_output(s);
    return call_operator(s);
}

/* ---------------------------------------------------------------- the verb */

int cli_face_find(cli_face_call *call, const char *name)
{
    const char *names[64];
    size_t count = 0;
    for (size_t f = 0; (call->face = cli_face_at(f)) != NULL; f++) {
        for (size_t i = 0; i < call->face->count; i++) {
            call->op = &call->face->operators[i];
            if (strcmp(call->op->name, name) == 0)
                return 0;
            if (count < sizeof names / sizeof *names)
                names[count++] = call->op->name;
        }
    }
    const char *near = cli_nearest(name, names, count);
    if (near)
        cli_error(verb, "unknown operator '%s'; did you mean %s?", name, near);
    else
        cli_error(verb, "unknown operator '%s'; 'poolgrad faces' lists them", name);
    return CLI_USAGE;
}

/* The operator's attributes and the verb's own options. */
static int parse(session *s, int argc, char **argv, int *words)
{
    cli_option options[CLI_FACE_ATTRIBUTES + 8] = {
        {"output", 'o', CLI_TEXT, &s->path, 0, 0},
        {"explain", 0, CLI_FLAG, &s->explain, 0, 0},
        {"parity", 0, CLI_FLAG, &s->parity, 0, 0},
        {"dtype", 0, CLI_TEXT, &s->dtype, 0, 0},
        CLI_OPTION_THREADS(s->compute),
        CLI_OPTION_CPU(s->compute),
        CLI_OPTION_STRATEGY(s->compute),
    };
    for (int i = 0; i < CLI_FACE_ATTRIBUTES && s->call.op->attributes[i].name; i++)
        options[7 + i] =
            (cli_option){s->call.op->attributes[i].name, 0, CLI_TEXT, &s->call.text[i], 0, 0};
    return cli_parse(verb, options, argc, argv, words);
}

static int run(int argc, char **argv)
{
    session s = {0};
    if (argc == 0 || argv[0][0] == '-') {
        cli_error(verb, "name the operator first; 'poolgrad faces' lists them");
        return CLI_USAGE;
    }
    int words, code = cli_face_find(&s.call, argv[0]);
    if (!code)
        code = parse(&s, argc - 1, argv + 1, &words);
    if (!code)
        code = run_files(&s, words, argv + 1);
    cli_face_free_attributes(&s.call);
    for (int i = 0; i < CLI_FACE_INPUTS; i++)
        sup_npy_free(&s.arrays[i]);
    free(s.call.output.data);
    return code;
}

const cli_verb cli_face_verb = {verb, "an operator of another system, by its own name", help, run};
