/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "cuda_execute.h"
#include "data.h"
#include "indices.h"
#include "npy.h"

typedef struct session {
    const cli_files *files;
    poolgrad_desc *desc;
    cli_operand operands[CLI_MOST_OPERANDS];
    poolgrad_layout layouts[CLI_MOST_OPERANDS]; /* the order of the files' axes */
    sup_npy arrays[CLI_MOST_OPERANDS];
    int count;
} session;

/* Axis of the view (batch, channels, spatial) that axis `index` of a file holds. */
static int file_axis(const poolgrad_desc *desc, poolgrad_layout layout, int index)
{
    if (layout == POOLGRAD_NCX || index == 0)
        return index;
    return index == desc->rank + 1 ? 1 : index + 1; /* channels come last */
}

/* ------------------------------------------------------------------ reading */

/* The type of an index file, or 0 if it holds none of them. */
static int index_type(const sup_npy *array)
{
    if (array->kind == 'i')
        return array->size == 8 ? POOLGRAD_I64 : array->size == 4 ? POOLGRAD_I32 : 0;
    return array->kind != 'u' ? 0
           : array->size == 4 ? POOLGRAD_U32
           : array->size == 1 ? POOLGRAD_U8
                              : 0;
}

static int is_unsigned(poolgrad_index_type type)
{
    return type == POOLGRAD_U32 || type == POOLGRAD_U8;
}

static int check_index_type(session *s, cli_operand *operand, const char *path,
                            const sup_npy *array)
{
    const char *verb = s->files->verb;
    int type = index_type(array);
    if (!type) {
        cli_error(verb,
                  "%s holds %c%d; indices are int64 (i8), int32 (i4), uint32 (u4) or uint8 (u1)",
                  path, array->kind, array->size);
        return CLI_DATA;
    }
    if (type == POOLGRAD_U8 && s->desc->index_base != POOLGRAD_INDEX_WINDOW) {
        cli_error(verb, "%s holds uint8, which can only be taps of windows; add base=window", path);
        return CLI_DATA;
    }
    if (!s->files->index_stated) {
        s->desc->index_type = (poolgrad_index_type)type;
        operand->size = (size_t)array->size;
    } else if (type != (int)s->desc->index_type) {
        cli_error(verb, "%s holds %c%d but the problem says index=%s; change it to index=%s", path,
                  array->kind, array->size, cli_index_type_name(s->desc->index_type),
                  cli_index_type_name((poolgrad_index_type)type));
        return CLI_DATA;
    }
    return 0;
}

static int check_type(const session *s, const char *path, const sup_npy *array)
{
    const char *verb = s->files->verb;
    const poolgrad_desc *desc = s->desc;
    int size = (int)poolgrad_dtype_size(desc->dtype), is_float = array->kind == 'f';
    if (array->size != size || (desc->dtype == POOLGRAD_BF16) != !is_float) {
        cli_error(verb, "%s holds %c%d but the problem says %s; change the problem's type", path,
                  array->kind, array->size, cli_dtype_name(desc->dtype));
        return CLI_DATA;
    }
    if (!is_float && !s->files->dtype) {
        cli_error(verb, "%s holds %c2; add --dtype bf16 if these are bf16 numbers", path,
                  array->kind);
        return CLI_DATA;
    }
    return 0;
}

static int check_shape(const session *s, const cli_operand *operand, const char *path,
                       const sup_npy *array)
{
    const poolgrad_desc *desc = s->desc;
    int64_t shape[5];
    int equal = array->rank == desc->rank + 2;
    for (int i = 0; i < desc->rank + 2; i++) {
        shape[i] = operand->view->extent[file_axis(desc, s->layouts[operand - s->operands], i)];
        equal = equal && array->shape[i] == shape[i];
    }
    if (equal)
        return 0;
    char expected[128], found[160];
    cli_error(s->files->verb,
              "%s has shape %s but the problem needs %s; change the one or the other", path,
              sup_npy_shape_text(array->rank, array->shape, found, sizeof found),
              sup_npy_shape_text(desc->rank + 2, shape, expected, sizeof expected));
    return CLI_DATA;
}

/* Makes the view address a file whose first axis is fastest, so that nothing need be copied. */
static void use_fortran_order(const poolgrad_desc *desc, poolgrad_view *view)
{
    int64_t stride = 1;
    poolgrad_layout layout = view->layout;
    view->layout = POOLGRAD_STRIDED;
    for (int i = 0; i < desc->rank + 2; i++) {
        int axis = file_axis(desc, layout, i);
        view->stride[axis] = stride;
        if (view->extent[axis] > 0)
            stride *= view->extent[axis];
    }
}

static int load(session *s, int i, const char *path)
{
    char message[320];
    sup_npy *array = &s->arrays[i];
    cli_operand *operand = &s->operands[i];
    if (sup_npy_read(path, array, message, sizeof message)) {
        cli_error(s->files->verb, "cannot read %s: %s", path, message);
        return CLI_DATA;
    }
    int code =
        operand->indices ? check_index_type(s, operand, path, array) : check_type(s, path, array);
    if (!code)
        code = check_shape(s, operand, path, array);
    if (!code && array->fortran)
        use_fortran_order(s->desc, operand->view);
    return code;
}

/* ------------------------------------------------------------------ writing */

/* An array for what will be written, not filled; bytes in the order of the first input. */
static int make(session *s, int i)
{
    const cli_operand *operand = &s->operands[i];
    sup_npy *array = &s->arrays[i];
    size_t bytes = operand->size; /* the library has checked this product */
    array->rank = s->desc->rank + 2;
    for (int axis = 0; axis < array->rank; axis++) {
        array->shape[axis] = operand->view->extent[file_axis(s->desc, s->layouts[i], axis)];
        bytes *= (size_t)array->shape[axis];
    }
    array->data = malloc(bytes ? bytes : 1);
    array->bytes = bytes;
    if (!array->data) {
        cli_error(s->files->verb, "out of memory for %zu bytes of %s; compute it in boxes (%sbox=)",
                  bytes, operand->name, operand->indices ? "y" : operand->name);
        return CLI_DATA;
    }
    return 0;
}

/* Writes one array under its temporary name. */
static int write_array(session *s, int i, sup_outfile *file)
{
    const cli_operand *operand = &s->operands[i];
    sup_npy *array = &s->arrays[i];
    char message[320];
    array->order = s->arrays[0].order;
    array->kind = s->arrays[0].kind;
    array->size = (int)operand->size;
    if (operand->indices)
        array->kind = is_unsigned(s->desc->index_type) ? 'u' : 'i';
    if (sup_npy_write(s->files->path[operand->slot], array, file, message, sizeof message)) {
        cli_error(s->files->verb, "%s", message);
        return CLI_DATA;
    }
    return CLI_OK;
}

/* All of them, and only then puts them in place, so that what is there stays if one fails. */
static int write_arrays(session *s)
{
    sup_outfile outputs[CLI_MOST_OPERANDS] = {{0}};
    char message[320];
    int code = CLI_OK;
    for (int i = 0; i < s->count && !code; i++)
        if (s->operands[i].written && s->files->path[s->operands[i].slot])
            code = write_array(s, i, &outputs[i]);
    for (int i = 0; i < s->count && !code; i++) {
        if (outputs[i].stream && sup_outfile_commit(&outputs[i], message, sizeof message)) {
            cli_error(s->files->verb, "%s", message);
            code = CLI_DATA;
        }
    }
    for (int i = 0; i < s->count; i++)
        sup_outfile_abort(&outputs[i]); /* nothing to do for those in place */
    return code;
}

/* ---------------------------------------------------------------- computing */

/* Says which index of the file is wrong, by the file's own axes. */
static int bad_index(const session *s, const poolgrad_error *error)
{
    const poolgrad_desc *desc = s->desc;
    int i = 0;
    while (i < s->count && s->operands[i].slot != CLI_INDICES)
        i++;
    if (i == s->count || error->position < 0)
        return cli_library_error(s->files->verb, s->files->problem, error);
    const poolgrad_view *view = s->operands[i].view;
    int64_t at[5], shown[5], rest = error->position;
    for (int axis = desc->rank + 1; axis >= 0; axis--) {
        at[axis] = rest % view->extent[axis];
        rest /= view->extent[axis];
    }
    for (int axis = 0; axis < desc->rank + 2; axis++)
        shown[axis] = at[file_axis(desc, s->layouts[i], axis)];
    int64_t value = sup_index_load(desc->index_type, s->arrays[i].data,
                                   sup_view_offset(desc, view, error->position));
    if (value < 0 && is_unsigned(desc->index_type)) /* as it stands in the file */
        value = desc->index_type == POOLGRAD_U8 ? UINT8_MAX : UINT32_MAX;
    char where[128];
    cli_error(s->files->verb, "%s: element %s of %s is %lld; it must be %s%s", s->files->problem,
              sup_npy_shape_text(desc->rank + 2, shown, where, sizeof where),
              s->files->path[CLI_INDICES], (long long)value,
              desc->index_base == POOLGRAD_INDEX_WINDOW ? "a tap of its window inside the input"
                                                        : "a position that its window covers",
              desc->no_winner ? ", or -1" : "");
    return CLI_DATA;
}

static int compute(session *s)
{
    const cli_files *files = s->files;
    poolgrad_plan *plan = NULL;
    poolgrad_options options;
    poolgrad_buffers buffers;
    poolgrad_error error;
    int code = cli_check_device(files->verb, files->compute.device);
    if (!code && !files->compute.device)
        code = cli_plan(files->verb, files->problem, s->desc, &files->compute, &plan, NULL);
    if (code)
        return code;
    cli_compute_options(&files->compute, &options);
    poolgrad_buffers_init(&buffers);
    for (int i = 0; i < s->count; i++)
        cli_bind(&buffers, s->operands[i].slot, s->arrays[i].data);
    if ((plan ? poolgrad_execute(plan, &buffers, &error)
              : cli_cuda_execute(s->desc, &options, &buffers, &error)) != POOLGRAD_OK)
        code = error.status == POOLGRAD_ERR_INDEX
                   ? bad_index(s, &error)
                   : cli_library_error(files->verb, files->problem, &error);
    poolgrad_plan_destroy(plan);
    return code;
}

static int transform(session *s)
{
    const cli_files *files = s->files;
    int code = CLI_OK;
    for (int i = 0; i < s->count && !code; i++) {
        const cli_operand *operand = &s->operands[i];
        if (!operand->written)
            code = load(s, i, files->path[operand->slot]);
        else if (!operand->indices && files->previous)
            code = load(s, i, files->previous);
        else if (files->path[operand->slot])
            code = make(s, i);
    }
    if (!code)
        code = compute(s);
    if (!code)
        code = write_arrays(s);
    return code;
}

/* What can be said without opening a file. */
static int check_request(const session *s)
{
    const cli_files *files = s->files;
    const poolgrad_desc *desc = s->desc;
    const char *verb = files->verb, *option = files->previous_option;
    for (int i = 0; i < s->count; i++) {
        if (s->operands[i].view->layout == POOLGRAD_STRIDED) {
            cli_error(verb, "files have no strides; write ncx or nxc instead of strided");
            return CLI_USAGE;
        }
    }
    if (files->dtype && strcmp(files->dtype, "bf16") != 0) {
        cli_error(verb, "--dtype %s: only bf16 can be given, other types are in the file",
                  files->dtype);
        return CLI_USAGE;
    }
    if (files->dtype && desc->dtype != POOLGRAD_BF16) {
        cli_error(verb, "--dtype bf16 but the problem says %s; let them agree",
                  cli_dtype_name(desc->dtype));
        return CLI_USAGE;
    }
    if (desc->beta != 0 && !files->previous) {
        cli_error(verb, "beta is not 0; name the %s that it multiplies with --%s FILE", option,
                  option);
        return CLI_USAGE;
    }
    if (desc->beta == 0 && files->previous) {
        cli_error(verb, "--%s is read only if beta is not 0; add beta=1 or leave --%s away", option,
                  option);
        return CLI_USAGE;
    }
    return 0;
}

int cli_files_run(const cli_files *files, poolgrad_desc *desc)
{
    session s = {.files = files, .desc = desc};
    s.count = cli_operands(desc, s.operands);
    for (int i = 0; i < s.count; i++)
        s.layouts[i] = s.operands[i].view->layout;
    int code = check_request(&s);
    if (!code)
        code = transform(&s);
    for (int i = 0; i < s.count; i++)
        sup_npy_free(&s.arrays[i]);
    return code;
}
