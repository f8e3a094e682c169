/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "npy.h"

static const char help[] =
    "usage: poolgrad grad PROBLEM dy.npy -o dx.npy [OPTION...]\n"
    "\n"
    "Computes dx from the dy in a NumPy file and writes it to another. The axes of the files are "
    "in\n"
    "the memory order of PROBLEM's layout (nchw: N, C, H, W; nhwc: N, H, W, C), their extents "
    "those\n"
    "of dy and dx, or of their boxes. C and Fortran order, both byte orders and all versions of "
    "the\n"
    "format are read. dx.npy is written whole or not at all, with the dtype of dy.npy.\n"
    "\n"
    "    -o, --output FILE   where dx goes; required\n"
    "    --dtype bf16        the uint16 or V2 elements of dy.npy are bf16\n"
    "    --dx FILE           the dx that beta multiplies; required if beta is not 0\n"
    "    --threads N         threads allowed (default: the CPUs this process may use)\n"
    "    --cpu NAME          instruction set (default: POOLGRAD_CPU, or the best there is)\n"
    "    --strategy NAME     strategy (default: the planner's choice)\n";

typedef struct grad_job {
    const char *problem, *dy, *dx, *output, *dtype;
    cli_compute compute;
} grad_job;

/* Axis of the view (batch, channels, spatial) that axis `index` of a file holds. */
static int file_axis(const poolgrad_desc *desc, poolgrad_layout layout, int index)
{
    if (layout == POOLGRAD_NCX || index == 0)
        return index;
    return index == desc->rank + 1 ? 1 : index + 1; /* channels come last */
}

/* Checks the type and shape of a file against a view. Returns 0, or CLI_DATA after a message. */
static int check_array(const grad_job *job, const poolgrad_desc *desc, const poolgrad_view *view,
                       const char *path, const sup_npy *array)
{
    int size = (int)poolgrad_dtype_size(desc->dtype);
    if (array->size != size || (desc->dtype == POOLGRAD_BF16) != (array->kind != 'f')) {
        cli_error("grad", "%s holds %c%d but the problem says %s; change the problem's type", path,
                  array->kind, array->size, cli_dtype_name(desc->dtype));
        return CLI_DATA;
    }
    if (array->kind != 'f' && !job->dtype) {
        cli_error("grad", "%s holds %c2; add --dtype bf16 if these are bf16 numbers", path,
                  array->kind);
        return CLI_DATA;
    }
    int64_t shape[5];
    int equal = array->rank == desc->rank + 2;
    for (int i = 0; i < desc->rank + 2; i++) {
        shape[i] = view->extent[file_axis(desc, view->layout, i)];
        equal = equal && array->shape[i] == shape[i];
    }
    if (!equal) {
        char expected[128], found[160];
        cli_error("grad", "%s has shape %s but the problem needs %s; change the one or the other",
                  path, sup_npy_shape_text(array->rank, array->shape, found, sizeof found),
                  sup_npy_shape_text(desc->rank + 2, shape, expected, sizeof expected));
        return CLI_DATA;
    }
    return 0;
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

static int load(const grad_job *job, poolgrad_desc *desc, poolgrad_view *view, const char *path,
                sup_npy *array)
{
    char message[320];
    if (sup_npy_read(path, array, message, sizeof message)) {
        cli_error("grad", "cannot read %s: %s", path, message);
        return CLI_DATA;
    }
    int code = check_array(job, desc, view, path, array);
    if (!code && array->fortran)
        use_fortran_order(desc, view);
    return code;
}

/* An array for dx, not filled. */
static int make_dx(const poolgrad_desc *desc, sup_npy *dx)
{
    size_t bytes = poolgrad_dtype_size(desc->dtype); /* the library has checked this product */
    dx->rank = desc->rank + 2;
    for (int i = 0; i < dx->rank; i++) {
        dx->shape[i] = desc->dx.extent[file_axis(desc, desc->dx.layout, i)];
        bytes *= (size_t)dx->shape[i];
    }
    dx->data = malloc(bytes ? bytes : 1);
    dx->bytes = bytes;
    if (!dx->data) {
        cli_error("grad", "out of memory for a dx of %zu bytes; compute it in boxes (dxbox=)",
                  bytes);
        return CLI_DATA;
    }
    return 0;
}

static int compute(const grad_job *job, const poolgrad_desc *desc, const sup_npy *dy, sup_npy *dx)
{
    poolgrad_plan *plan;
    int code = cli_plan("grad", job->problem, desc, &job->compute, &plan, NULL);
    if (code)
        return code;
    poolgrad_error error;
    if (cli_execute(plan, dy->data, dx->data, NULL, 0, &error) != POOLGRAD_OK)
        code = cli_library_error("grad", job->problem, &error);
    poolgrad_plan_destroy(plan);
    return code;
}

static int grad(const grad_job *job, poolgrad_desc *desc, sup_npy *dy, sup_npy *dx)
{
    int code = load(job, desc, &desc->dy, job->dy, dy);
    if (code)
        return code;
    if (job->dx)
        code = load(job, desc, &desc->dx, job->dx, dx);
    else
        code = make_dx(desc, dx);
    if (!code)
        code = compute(job, desc, dy, dx);
    if (code)
        return code;
    dx->order = dy->order;
    dx->kind = dy->kind;
    dx->size = dy->size;
    char message[320];
    if (sup_npy_write(job->output, dx, message, sizeof message)) {
        cli_error("grad", "%s", message);
        return CLI_DATA;
    }
    return CLI_OK;
}

/* What can be said without opening a file. */
static int check_request(const grad_job *job, const poolgrad_desc *desc)
{
    if (desc->dy.layout == POOLGRAD_STRIDED || desc->dx.layout == POOLGRAD_STRIDED) {
        cli_error("grad", "files have no strides; write ncx or nxc instead of strided");
        return CLI_USAGE;
    }
    if (job->dtype && strcmp(job->dtype, "bf16") != 0) {
        cli_error("grad", "--dtype %s: only bf16 can be given, other types are in the file",
                  job->dtype);
        return CLI_USAGE;
    }
    if (job->dtype && desc->dtype != POOLGRAD_BF16) {
        cli_error("grad", "--dtype bf16 but the problem says %s; let them agree",
                  cli_dtype_name(desc->dtype));
        return CLI_USAGE;
    }
    if (desc->beta != 0 && !job->dx) {
        cli_error("grad", "beta is not 0; name the dx that it multiplies with --dx FILE");
        return CLI_USAGE;
    }
    if (desc->beta == 0 && job->dx) {
        cli_error("grad", "--dx is read only if beta is not 0; add beta=1 or leave --dx away");
        return CLI_USAGE;
    }
    return 0;
}

static int run(int argc, char **argv)
{
    grad_job job = {0};
    const cli_option options[] = {
        {"output", 'o', CLI_TEXT, &job.output, 0, 0},
        {"dtype", 0, CLI_TEXT, &job.dtype, 0, 0},
        {"dx", 0, CLI_TEXT, &job.dx, 0, 0},
        CLI_OPTION_THREADS(job.compute),
        CLI_OPTION_CPU(job.compute),
        CLI_OPTION_STRATEGY(job.compute),
        {0},
    };
    int words;
    if (cli_parse("grad", options, argc, argv, &words))
        return CLI_USAGE;
    if (words != 2 || !job.output) {
        cli_error("grad", "give PROBLEM, dy.npy and -o dx.npy; 'poolgrad help grad' explains");
        return CLI_USAGE;
    }
    job.problem = argv[0];
    job.dy = argv[1];
    poolgrad_desc desc;
    int code = cli_resolve("grad", job.problem, &desc);
    if (!code)
        code = check_request(&job, &desc);
    if (code)
        return code;
    sup_npy dy = {0}, dx = {0};
    code = grad(&job, &desc, &dy, &dx);
    sup_npy_free(&dy);
    sup_npy_free(&dx);
    return code;
}

const cli_verb cli_grad = {"grad", "dx from a dy in a NumPy file", help, run};
