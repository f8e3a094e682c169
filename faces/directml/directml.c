/* SPDX-License-Identifier: MIT */
/* The rules are those of DirectML's documentation: the pages of the two operators, of their forward
 * operators and of DML_BUFFER_TENSOR_DESC. The asserts that its structs and ours are one are at the
 * end of the public header. */
#include <poolgrad/directml.h>

#include "common/face.h"

#include <stdlib.h>
#include <string.h>

static const poolgrad_layout order = POOLGRAD_NCX;

enum {
    MAX_DIMENSIONS = 5,
    MAX_TENSORS = 3
};

/* A buffer tensor in the library's terms. */
typedef struct tensor {
    const DML_TENSOR_DESC *given;
    const char *name; /* the field of the operator's description */
    pgi_face_slot slot;
    DML_BUFFER_TENSOR_DESC desc; /* a copy; its arrays are the caller's */
    int64_t sizes[MAX_DIMENSIONS], strides[MAX_DIMENSIONS];
    poolgrad_tensor view; /* of the two above, without data */
} tensor;

/* What the descriptions of the two operators have in common. */
typedef struct pooling {
    const char *op;
    tensor tensors[MAX_TENSORS]; /* in the order of the description, the output last */
    int count, dy, dx;           /* places in tensors */
    UINT max_dimensions;
    UINT dimensions;
    const UINT *strides, *window_size, *start_padding, *end_padding, *dilations;
} pooling;

/* What binding a tensor asks for. */
typedef struct binding_rule {
    const char *name;
    pgi_face_slot slot;
    UINT64 bytes;
    UINT64 alignment;
} binding_rule;

struct poolgrad_directml_operator {
    poolgrad_plan *plan;
    void (*release)(void *context, void *memory);
    void *allocator_context;
    UINT inputs;
    binding_rule rules[MAX_TENSORS]; /* inputs, then the output */
};

static HRESULT code_of(poolgrad_status status)
{
    switch (status) {
    case POOLGRAD_OK:
        return S_OK;
    case POOLGRAD_ERR_NULL:
        return E_POINTER;
    case POOLGRAD_ERR_MEMORY:
        return E_OUTOFMEMORY;
    case POOLGRAD_ERR_UNSUPPORTED:
        return E_NOTIMPL;
    default:
        return E_INVALIDARG;
    }
}

/* ------------------------------------------------------------------ tensors */

static poolgrad_dtype dtype_of(DML_TENSOR_DATA_TYPE type)
{
    switch ((int)type) {
    case DML_TENSOR_DATA_TYPE_FLOAT32:
        return POOLGRAD_F32;
    case DML_TENSOR_DATA_TYPE_FLOAT16:
        return POOLGRAD_F16;
    default:
        return (poolgrad_dtype)0;
    }
}

/* Copies the description, and looks at all of it but the arrays. */
static poolgrad_status check_fields(const pooling *p, tensor *t, const DML_TENSOR_DESC *given,
                                    poolgrad_error *error)
{
    const DML_BUFFER_TENSOR_DESC *desc = &t->desc;
    UINT alignment;

    if (!given)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", t->name);
    if ((int)given->Type != DML_TENSOR_TYPE_BUFFER)
        return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                             "%s.Type is %d; it must be DML_TENSOR_TYPE_BUFFER (1)", t->name,
                             (int)given->Type);
    if (!given->Desc)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s.Desc is NULL", t->name);
    memcpy(&t->desc, given->Desc, sizeof t->desc);
    if (!dtype_of(desc->DataType))
        return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                             "%s.DataType is %d; %s supports FLOAT32 (1) and FLOAT16 (2)", t->name,
                             (int)desc->DataType, p->op);
    if ((int)desc->Flags == DML_TENSOR_FLAG_OWNED_BY_DML && t->slot != PGI_FACE_DX)
        return pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                             "%s.Flags is OWNED_BY_DML (1), which binds a tensor when the operator "
                             "is initialized; here all are bound to executions: use NONE (0)",
                             t->name);
    if ((int)desc->Flags != DML_TENSOR_FLAG_NONE)
        return pgi_face_fail(error, POOLGRAD_ERR_ENUM, "%s.Flags is %d; it must be NONE (0)%s",
                             t->name, (int)desc->Flags,
                             t->slot == PGI_FACE_DX ? ", an output has no other" : "");
    if (desc->DimensionCount < 4 || desc->DimensionCount > p->max_dimensions)
        return pgi_face_fail(error, POOLGRAD_ERR_RANK, "%s.DimensionCount is %u; %s supports %s",
                             t->name, desc->DimensionCount, p->op,
                             p->max_dimensions == 4 ? "4" : "4 and 5");
    if (!desc->Sizes)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s.Sizes is NULL", t->name);
    alignment = desc->GuaranteedBaseOffsetAlignment;
    if (alignment && ((alignment & (alignment - 1)) ||
                      alignment < poolgrad_dtype_size(dtype_of(desc->DataType))))
        return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                             "%s.GuaranteedBaseOffsetAlignment is %u; it must be 0 or a power of "
                             "two, at least the element size",
                             t->name, alignment);
    return POOLGRAD_OK;
}

static poolgrad_status too_many(const tensor *t, poolgrad_error *error)
{
    return pgi_face_fail(error, POOLGRAD_ERR_OVERFLOW,
                         "%s has more than 2^32-1 elements, counted by its Sizes or from the first "
                         "to the last in memory",
                         t->name);
}

/* Reads the arrays, and compares the total size with what they imply. */
static poolgrad_status check_sizes(tensor *t, poolgrad_error *error)
{
    const DML_BUFFER_TENSOR_DESC *desc = &t->desc;
    uint64_t elements = 1, last = 0, least;
    UINT i;

    for (i = 0; i < desc->DimensionCount; i++) {
        const uint64_t size = desc->Sizes[i], stride = desc->Strides ? desc->Strides[i] : 0;

        if (size == 0)
            return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                                 "%s.Sizes[%u] is 0; a size of zero in any dimension is invalid",
                                 t->name, i);
        if (t->slot == PGI_FACE_DX && desc->Strides && size > 1 && stride == 0)
            return pgi_face_fail(error, POOLGRAD_ERR_LAYOUT,
                                 "%s.Strides[%u] is 0 for %u elements; an output cannot be "
                                 "broadcast",
                                 t->name, i, (UINT)size);
        /* Neither leaves 64 bits: as long as the product of the sizes is below 2^32, so is the sum
         * of (size - 1), which the largest stride multiplies. */
        elements *= size;
        if (elements > UINT32_MAX)
            return too_many(t, error);
        last += (size - 1) * stride;
        t->sizes[i] = (int64_t)size;
        t->strides[i] = (int64_t)stride;
    }
    if (!desc->Strides)
        last = elements - 1;
    if (last >= UINT32_MAX)
        return too_many(t, error);
    least = (last + 1) * poolgrad_dtype_size(dtype_of(desc->DataType));
    least = (least + 3) / 4 * 4;
    if (desc->TotalTensorSizeInBytes < least)
        return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                             "%s.TotalTensorSizeInBytes is %llu; sizes, strides and type imply at "
                             "least %llu",
                             t->name, (unsigned long long)desc->TotalTensorSizeInBytes,
                             (unsigned long long)least);
    t->view.rank = (int32_t)desc->DimensionCount;
    t->view.sizes = t->sizes;
    t->view.strides = desc->Strides ? t->strides : NULL;
    return POOLGRAD_OK;
}

static poolgrad_status check_equal(const tensor *a, const tensor *b, poolgrad_error *error)
{
    if (a->desc.DataType != b->desc.DataType)
        return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                             "%s.DataType is %d but %s.DataType is %d; they must be the same",
                             a->name, (int)a->desc.DataType, b->name, (int)b->desc.DataType);
    if (a->desc.DimensionCount != b->desc.DimensionCount)
        return pgi_face_fail(error, POOLGRAD_ERR_RANK,
                             "%s.DimensionCount is %u but %s.DimensionCount is %u; they must be "
                             "the same",
                             a->name, a->desc.DimensionCount, b->name, b->desc.DimensionCount);
    return POOLGRAD_OK;
}

/* ------------------------------------------------------------------ windows */

static poolgrad_status read_array(const pooling *p, const UINT *array, const char *name, UINT least,
                                  int64_t *to, poolgrad_error *error)
{
    UINT i;

    if (!array)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s is NULL", name);
    for (i = 0; i < p->dimensions; i++) {
        if (array[i] < least)
            return pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                 "%s[%u] is %u; it must be at least %u", name, i, array[i], least);
        to[i] = array[i];
    }
    return POOLGRAD_OK;
}

static poolgrad_status set_windows(const pooling *p, poolgrad_desc *desc, poolgrad_error *error)
{
    poolgrad_status status;

    if (p->dimensions + 2 != p->tensors[p->dx].desc.DimensionCount)
        return pgi_face_fail(error, POOLGRAD_ERR_RANK,
                             "DimensionCount is %u; it must be the spatial dimension count, %u for "
                             "tensors of %u dimensions",
                             p->dimensions, p->tensors[p->dx].desc.DimensionCount - 2,
                             p->tensors[p->dx].desc.DimensionCount);
    status = read_array(p, p->strides, "Strides", 1, desc->stride, error);
    if (!status)
        status = read_array(p, p->window_size, "WindowSize", 1, desc->kernel, error);
    if (!status)
        status = read_array(p, p->start_padding, "StartPadding", 0, desc->pad_lo, error);
    if (!status)
        status = read_array(p, p->end_padding, "EndPadding", 0, desc->pad_hi, error);
    if (!status && desc->op == POOLGRAD_MAX_GRAD)
        status = read_array(p, p->dilations, "Dilations", 1, desc->dilation, error);
    return status;
}

/* InputGradientTensor must have the sizes that the forward operator's output has; InputTensor, if
 * there is one, those of OutputGradientTensor. */
static poolgrad_status check_shapes(const pooling *p, const pgi_face_call *call,
                                    poolgrad_error *error)
{
    const tensor *dy = &p->tensors[p->dy], *dx = &p->tensors[p->dx], *x = &p->tensors[0];
    const poolgrad_desc *desc = &call->desc;
    int64_t out[3], sizes[MAX_DIMENSIONS];
    char expected[64], found[64];
    poolgrad_status status;

    if (p->dy != 0 && !pgi_face_has_sizes(&x->view, dx->view.rank, dx->sizes))
        return pgi_face_fail(
            error, POOLGRAD_ERR_SHAPE, "%s has the sizes %s but %s has %s; they must be the same",
            x->name, pgi_face_sizes_text(x->view.rank, x->sizes, found, sizeof found), dx->name,
            pgi_face_sizes_text(dx->view.rank, dx->sizes, expected, sizeof expected));
    status = pgi_face_windows(call, out, error);
    if (status != POOLGRAD_OK)
        return status;
    pgi_face_sizes(order, desc->rank, desc->batch, desc->channels, out, sizes);
    if (pgi_face_has_sizes(&dy->view, desc->rank + 2, sizes))
        return POOLGRAD_OK;
    return pgi_face_fail(
        error, POOLGRAD_ERR_SHAPE, "%s has the sizes %s; %s and the windows make it %s", dy->name,
        pgi_face_sizes_text(dy->view.rank, dy->sizes, found, sizeof found), dx->name,
        pgi_face_sizes_text(desc->rank + 2, sizes, expected, sizeof expected));
}

/* ----------------------------------------------------------------- creating */

static void add_tensor(pooling *p, const char *name, pgi_face_slot slot,
                       const DML_TENSOR_DESC *given)
{
    tensor *t = &p->tensors[p->count];

    t->name = name;
    t->slot = slot;
    t->given = given;
    if (slot == PGI_FACE_DY)
        p->dy = p->count;
    if (slot == PGI_FACE_DX)
        p->dx = p->count;
    p->count++;
}

/* What the library is to be told, from tensors that the operator has named. */
static poolgrad_status describe(pooling *p, pgi_face_call *call, poolgrad_error *error)
{
    poolgrad_status status = POOLGRAD_OK;
    int i;

    for (i = 0; i < p->count && !status; i++) {
        status = check_fields(p, &p->tensors[i], p->tensors[i].given, error);
        if (!status)
            status = check_sizes(&p->tensors[i], error);
    }
    for (i = 1; i < p->count && !status; i++)
        status = check_equal(&p->tensors[0], &p->tensors[i], error);
    if (!status)
        status = set_windows(p, &call->desc, error);
    if (status)
        return status;
    call->desc.dtype = dtype_of(p->tensors[0].desc.DataType);
    pgi_face_set_input(&call->desc, &p->tensors[p->dx].view, order);
    status = check_shapes(p, call, error);
    for (i = 0; i < p->count && !status; i++)
        pgi_face_bind(call, p->tensors[i].slot, &p->tensors[i].view, order, p->tensors[i].name);
    return status;
}

static poolgrad_status describe_average(const DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC *desc,
                                        pooling *p, pgi_face_call *call, poolgrad_error *error)
{
    p->op = "AVERAGE_POOLING_GRAD";
    p->max_dimensions = 5;
    p->dimensions = desc->DimensionCount;
    p->strides = desc->Strides;
    p->window_size = desc->WindowSize;
    p->start_padding = desc->StartPadding;
    p->end_padding = desc->EndPadding;
    add_tensor(p, "InputGradientTensor", PGI_FACE_DY, desc->InputGradientTensor);
    add_tensor(p, "OutputGradientTensor", PGI_FACE_DX, desc->OutputGradientTensor);
    call->desc.op = POOLGRAD_AVG_GRAD;
    call->desc.divisor = desc->IncludePadding ? POOLGRAD_INCLUDE : POOLGRAD_EXCLUDE;
    return describe(p, call, error);
}

static poolgrad_status describe_max(const DML_MAX_POOLING_GRAD_OPERATOR_DESC *desc, pooling *p,
                                    pgi_face_call *call, poolgrad_error *error)
{
    p->op = "MAX_POOLING_GRAD";
    p->max_dimensions = 4;
    p->dimensions = desc->DimensionCount;
    p->strides = desc->Strides;
    p->window_size = desc->WindowSize;
    p->start_padding = desc->StartPadding;
    p->end_padding = desc->EndPadding;
    p->dilations = desc->Dilations;
    add_tensor(p, "InputTensor", PGI_FACE_X, desc->InputTensor);
    add_tensor(p, "InputGradientTensor", PGI_FACE_DY, desc->InputGradientTensor);
    add_tensor(p, "OutputGradientTensor", PGI_FACE_DX, desc->OutputGradientTensor);
    call->desc.op = POOLGRAD_MAX_GRAD;
    call->desc.winner = POOLGRAD_FROM_X;
    call->desc.nan = POOLGRAD_NAN_FIRST;
    return describe(p, call, error);
}

static poolgrad_status describe_any(const DML_OPERATOR_DESC *desc, pooling *p, pgi_face_call *call,
                                    poolgrad_error *error)
{
    if (!desc)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "the operator's description is NULL");
    if ((int)desc->Type == DML_OPERATOR_INVALID)
        return pgi_face_fail(error, POOLGRAD_ERR_ENUM,
                             "the operator's Type is DML_OPERATOR_INVALID (0)");
    if ((int)desc->Type != DML_OPERATOR_AVERAGE_POOLING_GRAD &&
        (int)desc->Type != DML_OPERATOR_MAX_POOLING_GRAD)
        return pgi_face_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                             "the operator's Type is %d; there are AVERAGE_POOLING_GRAD (130) and "
                             "MAX_POOLING_GRAD (131)",
                             (int)desc->Type);
    if (!desc->Desc)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "the operator's Desc is NULL");
    return (int)desc->Type == DML_OPERATOR_MAX_POOLING_GRAD
               ? describe_max(desc->Desc, p, call, error)
               : describe_average(desc->Desc, p, call, error);
}

static void *allocate_malloc(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}

static void release_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* Takes over the plan, also when it fails. compute has been checked by making the plan. */
static poolgrad_status make_operator(const pooling *p, poolgrad_plan *plan,
                                     const poolgrad_options *compute,
                                     poolgrad_directml_operator **made, poolgrad_error *error)
{
    poolgrad_directml_operator *op;
    poolgrad_options hooks;
    int i;

    poolgrad_options_init(&hooks);
    if (compute) /* which may be an older, smaller struct */
        memcpy(&hooks, compute, compute->size);
    if (!hooks.allocate) {
        hooks.allocate = allocate_malloc;
        hooks.release = release_free;
    }
    op = hooks.allocate(hooks.allocator_context, sizeof *op);
    if (!op) {
        poolgrad_plan_destroy(plan);
        return pgi_face_fail(error, POOLGRAD_ERR_MEMORY,
                             "the allocator gave no %zu bytes for the operator", sizeof *op);
    }
    op->plan = plan;
    op->release = hooks.release;
    op->allocator_context = hooks.allocator_context;
    op->inputs = (UINT)p->count - 1;
    for (i = 0; i < p->count; i++) {
        const tensor *t = &p->tensors[i];
        const UINT alignment = t->desc.GuaranteedBaseOffsetAlignment;

        op->rules[i].name = t->name;
        op->rules[i].slot = t->slot;
        op->rules[i].bytes = t->desc.TotalTensorSizeInBytes;
        op->rules[i].alignment = alignment > (UINT)DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT
                                     ? alignment
                                     : (UINT)DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT;
    }
    *made = op;
    return POOLGRAD_OK;
}

HRESULT poolgrad_directml_create_operator(const DML_OPERATOR_DESC *desc,
                                          const poolgrad_face_options *options,
                                          poolgrad_directml_operator **operator_,
                                          poolgrad_error *error)
{
    poolgrad_plan **plan_only, *plan = NULL;
    poolgrad_status status;
    pgi_face_call call;
    pooling p = {0};

    if (operator_)
        *operator_ = NULL;
    status = pgi_face_begin(&call, options, PGI_FACE_DIRECTML, error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    plan_only = call.options.plan;
    if (!operator_ && !plan_only)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_NULL, "operator_ is NULL"));
    if (call.options.workspace && !plan_only)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_OPTION,
                                     "options.workspace is not NULL; memory is bound to "
                                     "executions, as their temporary resource"));
    status = describe_any(desc, &p, &call, error);
    if (status != POOLGRAD_OK)
        return code_of(status);
    call.options.plan = &plan;
    status = pgi_face_finish(&call, error);
    if (status == POOLGRAD_OK && plan_only)
        *plan_only = plan;
    else if (status == POOLGRAD_OK)
        status = make_operator(&p, plan, call.options.compute, operator_, error);
    return code_of(status);
}

void poolgrad_directml_release(poolgrad_directml_operator *operator_)
{
    if (!operator_)
        return;
    poolgrad_plan_destroy(operator_->plan);
    operator_->release(operator_->allocator_context, operator_);
}

/* ---------------------------------------------------------------- executing */

HRESULT
poolgrad_directml_get_binding_properties(const poolgrad_directml_operator *operator_,
                                         poolgrad_directml_binding_properties *properties)
{
    UINT i;

    if (!operator_ || !properties)
        return E_POINTER;
    memset(properties, 0, sizeof *properties);
    properties->InputCount = operator_->inputs;
    properties->OutputCount = 1;
    for (i = 0; i < operator_->inputs; i++)
        properties->InputSizes[i] = operator_->rules[i].bytes;
    properties->OutputSizes[0] = operator_->rules[operator_->inputs].bytes;
    properties->TemporaryResourceSize = poolgrad_plan_workspace(operator_->plan);
    return S_OK;
}

/* The first byte of a range that exists in the address space. */
static poolgrad_status first_byte(const poolgrad_directml_binding *binding, const char *name,
                                  char **first, poolgrad_error *error)
{
    const uintptr_t base = (uintptr_t)binding->Buffer;

    if (!binding->Buffer)
        return pgi_face_fail(error, POOLGRAD_ERR_NULL, "the Buffer bound to %s is NULL", name);
    if (binding->Offset > UINTPTR_MAX - base ||
        binding->SizeInBytes > UINTPTR_MAX - base - binding->Offset)
        return pgi_face_fail(error, POOLGRAD_ERR_OVERFLOW,
                             "the range bound to %s, Offset %llu and SizeInBytes %llu, ends "
                             "beyond all memory",
                             name, (unsigned long long)binding->Offset,
                             (unsigned long long)binding->SizeInBytes);
    *first = (char *)binding->Buffer + (size_t)binding->Offset;
    return POOLGRAD_OK;
}

static poolgrad_status bind_tensor(pgi_face_call *call, const binding_rule *rule,
                                   const poolgrad_directml_binding *binding, poolgrad_error *error)
{
    char *first = NULL;
    const poolgrad_status status = first_byte(binding, rule->name, &first, error);

    if (status != POOLGRAD_OK)
        return status;
    if ((uintptr_t)first % rule->alignment)
        return pgi_face_fail(error, POOLGRAD_ERR_MISALIGNED,
                             "the range bound to %s begins %u bytes behind a multiple of %u; "
                             "Buffer + Offset must be one",
                             rule->name, (UINT)((uintptr_t)first % rule->alignment),
                             (UINT)rule->alignment);
    if (binding->SizeInBytes < rule->bytes)
        return pgi_face_fail(error, POOLGRAD_ERR_SHAPE,
                             "SizeInBytes bound to %s is %llu; its TotalTensorSizeInBytes is %llu",
                             rule->name, (unsigned long long)binding->SizeInBytes,
                             (unsigned long long)rule->bytes);
    if (rule->slot == PGI_FACE_DY)
        call->buffers.dy = first;
    else if (rule->slot == PGI_FACE_DX)
        call->buffers.dx = first;
    else
        call->buffers.x = first;
    call->name[rule->slot] = rule->name;
    return POOLGRAD_OK;
}

static poolgrad_status bind_temporary(pgi_face_call *call, const poolgrad_plan *plan,
                                      const poolgrad_directml_binding *temporary,
                                      poolgrad_error *error)
{
    const size_t needed = poolgrad_plan_workspace(plan);
    char *first = NULL;
    poolgrad_status status;

    if (!temporary || (!temporary->Buffer && temporary->SizeInBytes == 0))
        return POOLGRAD_OK;
    status = first_byte(temporary, "temporary", &first, error);
    if (status != POOLGRAD_OK)
        return status;
    if (temporary->SizeInBytes < needed)
        return pgi_face_fail(error, POOLGRAD_ERR_WORKSPACE,
                             "SizeInBytes bound to temporary is %llu; TemporaryResourceSize is %zu",
                             (unsigned long long)temporary->SizeInBytes, needed);
    call->buffers.workspace = first;
    call->buffers.workspace_size = (size_t)temporary->SizeInBytes;
    return POOLGRAD_OK;
}

HRESULT poolgrad_directml_execute(const poolgrad_directml_operator *operator_,
                                  const poolgrad_directml_binding *inputs, UINT input_count,
                                  const poolgrad_directml_binding *outputs, UINT output_count,
                                  const poolgrad_directml_binding *temporary, poolgrad_error *error)
{
    poolgrad_status status;
    pgi_face_call call;
    UINT i;

    if (!operator_ || !inputs || !outputs)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_NULL, "%s is NULL",
                                     !operator_ ? "operator_"
                                     : !inputs  ? "inputs"
                                                : "outputs"));
    if (input_count != operator_->inputs || output_count != 1)
        return code_of(pgi_face_fail(error, POOLGRAD_ERR_ATTRIBUTE,
                                     "%u inputs and %u outputs are bound; the operator has %u "
                                     "and 1",
                                     input_count, output_count, operator_->inputs));
    memset(&call, 0, sizeof call);
    poolgrad_buffers_init(&call.buffers);
    status = bind_tensor(&call, &operator_->rules[input_count], outputs, error);
    for (i = 0; i < input_count && !status; i++)
        status = bind_tensor(&call, &operator_->rules[i], &inputs[i], error);
    if (!status)
        status = bind_temporary(&call, operator_->plan, temporary, error);
    if (!status)
        status = pgi_face_execute(&call, operator_->plan, error);
    return code_of(status);
}
