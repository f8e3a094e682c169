/* SPDX-License-Identifier: MIT */
/* What executions of DirectML's face refuse: the rules of bindings. The output stays as it is. */
#include "directml_call.h"

#include <stdalign.h>
#include <string.h>

/* The example of max pooling, with everything an execution needs, all of it right. */
typedef struct execution {
    alignas(256) float x[64];
    alignas(256) float dy[64];
    alignas(256) float dx[64];
    alignas(256) char temporary_memory[65536];
    poolgrad_directml_operator *made;
    poolgrad_directml_binding inputs[2], output, temporary;
    poolgrad_directml_binding_properties properties;
    UINT input_count, output_count;
} execution;

/* One for all tests: too large for the stack. */
static execution shared;

static execution *begin(UINT alignment)
{
    execution *e = &shared;
    dml_call call;

    poolgrad_directml_release(e->made);
    memset(e, 0, sizeof *e);
    memset(e->dx, 0x5a, sizeof e->dx);
    memcpy(e->x, dml_x, sizeof dml_x);
    memcpy(e->dy, dml_max_dy, sizeof dml_max_dy);
    dml_example(&call, 0);
    call.dx.buffer.GuaranteedBaseOffsetAlignment = alignment;
    call.dx.buffer.TotalTensorSizeInBytes = 40;
    e->made = dml_create(&call, NULL);
    assert_int_equal(poolgrad_directml_get_binding_properties(e->made, &e->properties), S_OK);
    assert_true(e->properties.TemporaryResourceSize > 0 &&
                e->properties.TemporaryResourceSize <= sizeof e->temporary_memory);
    e->inputs[0] = (poolgrad_directml_binding){e->x, 0, 36};
    e->inputs[1] = (poolgrad_directml_binding){e->dy, 0, 16};
    e->output = (poolgrad_directml_binding){e->dx, 0, 40};
    e->temporary =
        (poolgrad_directml_binding){e->temporary_memory, 0, e->properties.TemporaryResourceSize};
    e->input_count = 2;
    e->output_count = 1;
    return e;
}

static HRESULT execute(execution *e, poolgrad_error *error)
{
    return poolgrad_directml_execute(e->made, e->inputs, e->input_count, &e->output,
                                     e->output_count, &e->temporary, error);
}

static void accept(execution *e)
{
    const char *first = (char *)e->output.Buffer + e->output.Offset;
    poolgrad_error error;

    memset(&error, 0xff, sizeof error);
    if (FAILED(execute(e, &error)))
        fail_msg("%s", error.message);
    assert_int_equal(error.status, POOLGRAD_OK);
    assert_memory_equal(first, dml_max_dx, sizeof dml_max_dx);
    assert_memory_equal(first + sizeof dml_max_dx, "ZZZZZZZZ", 8);
    memset(e->dx, 0x5a, sizeof e->dx);
}

static void untouched(const execution *e)
{
    size_t i;

    for (i = 0; i < sizeof e->dx; i++)
        assert_int_equal(((const char *)e->dx)[i], 0x5a);
}

static void refuse(execution *e, HRESULT code, const char *words)
{
    poolgrad_error error;

    memset(&error, 0xff, sizeof error);
    assert_int_equal(execute(e, &error), code);
    assert_true(error.status > POOLGRAD_OK && error.position == -1);
    if (!strstr(error.message, words))
        fail_msg("'%s' does not contain '%s'", error.message, words);
    assert_int_equal(execute(e, NULL), code);
    untouched(e);
}

static void null_arguments(void **state)
{
    execution *e = begin(0);
    poolgrad_directml_binding_properties properties;
    poolgrad_error error;

    (void)state;
    accept(e);
    assert_int_equal(poolgrad_directml_execute(NULL, e->inputs, 2, &e->output, 1, NULL, &error),
                     E_POINTER);
    assert_non_null(strstr(error.message, "operator_ is NULL"));
    assert_int_equal(poolgrad_directml_execute(e->made, NULL, 2, &e->output, 1, NULL, &error),
                     E_POINTER);
    assert_non_null(strstr(error.message, "inputs is NULL"));
    assert_int_equal(poolgrad_directml_execute(e->made, e->inputs, 2, NULL, 1, NULL, &error),
                     E_POINTER);
    assert_non_null(strstr(error.message, "outputs is NULL"));
    untouched(e);
    assert_int_equal(poolgrad_directml_get_binding_properties(NULL, &properties), E_POINTER);
    assert_int_equal(poolgrad_directml_get_binding_properties(e->made, NULL), E_POINTER);
}

static void counts(void **state)
{
    static const UINT bad[] = {0, 1, 3, UINT32_MAX};
    execution *e = begin(0);
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        e->input_count = bad[i];
        refuse(e, E_INVALIDARG, "the operator has 2 and 1");
    }
    e->input_count = 2;
    for (i = 0; i < 4; i++) {
        e->output_count = bad[i] == 1 ? 2 : bad[i];
        refuse(e, E_INVALIDARG, "the operator has 2 and 1");
    }
}

static void no_buffer(void **state)
{
    execution *e = begin(0);

    (void)state;
    e->inputs[0].Buffer = NULL;
    refuse(e, E_POINTER, "InputTensor is NULL");
    e = begin(0);
    e->inputs[1].Buffer = NULL;
    refuse(e, E_POINTER, "InputGradientTensor is NULL");
    e = begin(0);
    e->output.Buffer = NULL;
    refuse(e, E_POINTER, "OutputGradientTensor is NULL");
    e = begin(0);
    e->temporary.Buffer = NULL;
    refuse(e, E_POINTER, "temporary is NULL");
    e->temporary.SizeInBytes = 0; /* no binding: allocated */
    accept(e);
}

static void size_in_bytes(void **state)
{
    execution *e = begin(0);

    (void)state;
    e->inputs[0].SizeInBytes--;
    refuse(e, E_INVALIDARG, "InputTensor is 35");
    e = begin(0);
    e->inputs[1].SizeInBytes = 0;
    refuse(e, E_INVALIDARG, "InputGradientTensor is 0");
    e = begin(0);
    e->output.SizeInBytes = 36; /* the elements, but not TotalTensorSizeInBytes */
    refuse(e, E_INVALIDARG, "OutputGradientTensor is 36; its TotalTensorSizeInBytes is 40");
    e = begin(0);
    e->temporary.SizeInBytes--;
    refuse(e, E_INVALIDARG, "TemporaryResourceSize is");
}

/* Buffer + Offset, not each of them, is a multiple of 16. */
static void base_alignment(void **state)
{
    execution *e = begin(0);

    (void)state;
    e->output.Offset = 16;
    accept(e);
    e->output.Offset = 8;
    refuse(e, E_INVALIDARG, "8 bytes behind a multiple of 16");
    e->output.Buffer = e->dx + 2;
    accept(e);
    e = begin(0);
    e->inputs[0].Buffer = e->x + 1;
    refuse(e, E_INVALIDARG, "InputTensor begins 4 bytes");
    e = begin(0);
    e->inputs[1].Offset = 1;
    refuse(e, E_INVALIDARG, "InputGradientTensor begins 1 bytes");
}

static void guaranteed_alignment(void **state)
{
    execution *e = begin(64);

    (void)state;
    accept(e);
    e->output.Offset = 64;
    accept(e);
    e->output.Offset = 16;
    refuse(e, E_INVALIDARG, "16 bytes behind a multiple of 64");
    e = begin(4); /* less than 16 asks for nothing more, and allows nothing less */
    e->output.Offset = 16;
    accept(e);
    e->output.Offset = 4;
    refuse(e, E_INVALIDARG, "4 bytes behind a multiple of 16");
}

static void beyond_all_memory(void **state)
{
    poolgrad_directml_binding *all;
    execution *e;
    int i;

    (void)state;
    for (i = 0; i < 4; i++) {
        e = begin(0);
        all = i < 2 ? &e->inputs[i] : i == 2 ? &e->output : &e->temporary;
        all->Offset = UINT64_MAX - 15;
        refuse(e, E_INVALIDARG, "beyond all memory");
        all->Offset = 0;
        all->SizeInBytes = UINT64_MAX;
        refuse(e, E_INVALIDARG, "beyond all memory");
    }
}

static void overlap(void **state)
{
    execution *e = begin(0);

    (void)state;
    e->inputs[1].Buffer = e->dx;
    refuse(e, E_INVALIDARG, "dy is InputGradientTensor, dx is OutputGradientTensor");
    e = begin(0);
    e->inputs[0].Buffer = e->dx;
    e->inputs[0].Offset = 32; /* its first element is the output's last */
    refuse(e, E_INVALIDARG, "overlap");
    e = begin(0);
    e->temporary.Buffer = e->dx;
    e->temporary.SizeInBytes = sizeof e->temporary_memory;
    refuse(e, E_INVALIDARG, "overlap");
    e = begin(0); /* inputs may */
    memcpy(e->x, dml_x, sizeof dml_x);
    e->inputs[1].Buffer = e->x;
    assert_int_equal(execute(e, NULL), S_OK);
}

static int release(void **state)
{
    (void)state;
    poolgrad_directml_release(shared.made);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_arguments),    cmocka_unit_test(counts),
        cmocka_unit_test(no_buffer),         cmocka_unit_test(size_in_bytes),
        cmocka_unit_test(base_alignment),    cmocka_unit_test(guaranteed_alignment),
        cmocka_unit_test(beyond_all_memory), cmocka_unit_test(overlap),
    };

    return cmocka_run_group_tests(tests, NULL, release);
}
