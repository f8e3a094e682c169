/* SPDX-License-Identifier: MIT */
/*
 * DirectML's DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC and DML_MAX_POOLING_GRAD_OPERATOR_DESC on the
 * CPU: DirectML's own structs, and functions in the place of its interfaces. docs/faces/directml.md
 * goes through them field by field and lists what differs.
 *
 *     UINT in[] = {1, 1, 2, 2}, out[] = {1, 1, 3, 3}, ones[] = {1, 1}, twos[] = {2, 2};
 *     UINT none[] = {0, 0};
 *     DML_BUFFER_TENSOR_DESC dy = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, in, NULL,
 *                                  16, 0};
 *     DML_BUFFER_TENSOR_DESC dx = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, out,
 *                                  NULL, 36, 0};
 *     DML_TENSOR_DESC dyDesc = {DML_TENSOR_TYPE_BUFFER, &dy}, dxDesc = {DML_TENSOR_TYPE_BUFFER,
 * &dx}; DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC pooling = {&dyDesc, &dxDesc, 2, ones, twos, none,
 * none, 0}; DML_OPERATOR_DESC desc = {DML_OPERATOR_AVERAGE_POOLING_GRAD, &pooling};
 *     poolgrad_directml_operator *op;
 *     poolgrad_directml_create_operator(&desc, NULL, &op, NULL);
 *     poolgrad_directml_binding input = {dyMemory, 0, 16}, output = {dxMemory, 0, 36};
 *     poolgrad_directml_execute(op, &input, 1, &output, 1, NULL, NULL);
 *     poolgrad_directml_release(op);
 *
 * Where DirectML itself is to be used beside it, define POOLGRAD_USE_SYSTEM_DIRECTML (or include
 * <DirectML.h> first): this header then takes the definitions from there. They need C++, as
 * <DirectML.h> does, and DML_TARGET_VERSION 0x3000 or later.
 */
#ifndef POOLGRAD_DIRECTML_H
#define POOLGRAD_DIRECTML_H

#include <poolgrad/face.h>

#if defined(POOLGRAD_USE_SYSTEM_DIRECTML) || defined(DIRECTML_H)
#include <DirectML.h>
#elif defined(_WIN32)
#include <windows.h>
#elif !defined(POOLGRAD_HAS_WINDOWS_TYPES)
/* Define POOLGRAD_HAS_WINDOWS_TYPES if another header has these types. */
typedef unsigned int UINT;
typedef uint64_t UINT64;
typedef int BOOL;
typedef int32_t HRESULT;
#endif

#ifndef S_OK
#define S_OK ((HRESULT)0)
#endif
#ifndef E_NOTIMPL
#define E_NOTIMPL ((HRESULT)0x80004001u)
#endif
#ifndef E_POINTER
#define E_POINTER ((HRESULT)0x80004003u)
#endif
#ifndef E_OUTOFMEMORY
#define E_OUTOFMEMORY ((HRESULT)0x8007000Eu)
#endif
#ifndef E_INVALIDARG
#define E_INVALIDARG ((HRESULT)0x80070057u)
#endif
#ifndef FAILED
#define FAILED(hr) (((HRESULT)(hr)) < 0)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(POOLGRAD_USE_SYSTEM_DIRECTML) && !defined(DIRECTML_H)

/* ------------------------------------------------- DirectML's own definitions */

enum {
    DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT = 16
};

typedef enum DML_TENSOR_DATA_TYPE {
    DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
    DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
    DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
    DML_TENSOR_DATA_TYPE_UINT32 = 3,
    DML_TENSOR_DATA_TYPE_UINT16 = 4,
    DML_TENSOR_DATA_TYPE_UINT8 = 5,
    DML_TENSOR_DATA_TYPE_INT32 = 6,
    DML_TENSOR_DATA_TYPE_INT16 = 7,
    DML_TENSOR_DATA_TYPE_INT8 = 8,
    DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
    DML_TENSOR_DATA_TYPE_UINT64 = 10,
    DML_TENSOR_DATA_TYPE_INT64 = 11
} DML_TENSOR_DATA_TYPE;

typedef enum DML_TENSOR_TYPE {
    DML_TENSOR_TYPE_INVALID = 0,
    DML_TENSOR_TYPE_BUFFER = 1
} DML_TENSOR_TYPE;

typedef enum DML_TENSOR_FLAGS {
    DML_TENSOR_FLAG_NONE = 0,
    DML_TENSOR_FLAG_OWNED_BY_DML = 1
} DML_TENSOR_FLAGS;

/* The two that are here; the other values are taken, by operators that are not. */
typedef enum DML_OPERATOR_TYPE {
    DML_OPERATOR_INVALID = 0,
    DML_OPERATOR_AVERAGE_POOLING_GRAD = 130,
    DML_OPERATOR_MAX_POOLING_GRAD = 131
} DML_OPERATOR_TYPE;

typedef struct DML_BUFFER_TENSOR_DESC {
    DML_TENSOR_DATA_TYPE DataType; /* FLOAT32 or FLOAT16 */
    DML_TENSOR_FLAGS Flags;        /* NONE */
    UINT DimensionCount;           /* 4; average also 5 */
    const UINT *Sizes;             /* N, C, (D,) H, W; none is 0 */
    const UINT *Strides;           /* in elements; NULL: packed. 0 repeats an input's elements */
    UINT64 TotalTensorSizeInBytes; /* at least what sizes and strides imply, rounded up to 4 */
    UINT GuaranteedBaseOffsetAlignment; /* 0, or a power of two not below the element size */
} DML_BUFFER_TENSOR_DESC;

typedef struct DML_TENSOR_DESC {
    DML_TENSOR_TYPE Type; /* BUFFER */
    const void *Desc;     /* a DML_BUFFER_TENSOR_DESC */
} DML_TENSOR_DESC;

typedef struct DML_OPERATOR_DESC {
    DML_OPERATOR_TYPE Type;
    const void *Desc; /* the struct of that type */
} DML_OPERATOR_DESC;

/* Arrays have DimensionCount elements: 2 for tensors of 4 dimensions, 3 for 5. */
typedef struct DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputGradientTensor;  /* dy */
    const DML_TENSOR_DESC *OutputGradientTensor; /* dx */
    UINT DimensionCount;
    const UINT *Strides;
    const UINT *WindowSize;
    const UINT *StartPadding;
    const UINT *EndPadding;
    BOOL IncludePadding; /* not 0: padding counts in the divisor */
} DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC;

typedef struct DML_MAX_POOLING_GRAD_OPERATOR_DESC {
    const DML_TENSOR_DESC *InputTensor;          /* x */
    const DML_TENSOR_DESC *InputGradientTensor;  /* dy */
    const DML_TENSOR_DESC *OutputGradientTensor; /* dx */
    UINT DimensionCount;
    const UINT *Strides;
    const UINT *WindowSize;
    const UINT *StartPadding;
    const UINT *EndPadding;
    const UINT *Dilations; /* 1: none */
} DML_MAX_POOLING_GRAD_OPERATOR_DESC;

#endif

/* ------------------------------------------------------------ the functions */

/* DML_BUFFER_BINDING with memory instead of an ID3D12Resource. The range begins at Buffer + Offset,
 * which is a multiple of 16 and of the tensor's GuaranteedBaseOffsetAlignment, and has at least
 * TotalTensorSizeInBytes bytes. Inputs are not written to. */
typedef struct poolgrad_directml_binding {
    void *Buffer;
    UINT64 Offset;
    UINT64 SizeInBytes;
} poolgrad_directml_binding;

/* What an execution needs. */
typedef struct poolgrad_directml_binding_properties {
    UINT InputCount;               /* 1 (InputGradientTensor); max: 2 (InputTensor before it) */
    UINT OutputCount;              /* 1 (OutputGradientTensor) */
    UINT64 InputSizes[2];          /* smallest SizeInBytes: the tensors' TotalTensorSizeInBytes */
    UINT64 OutputSizes[1];         /* likewise */
    UINT64 TemporaryResourceSize;  /* any alignment will do */
    UINT64 PersistentResourceSize; /* 0 */
} poolgrad_directml_binding_properties;

/* An operator, compiled; it never changes and may be executed by any number of threads at once. */
typedef struct poolgrad_directml_operator poolgrad_directml_operator;

/*
 * Checks the whole description and makes an operator of it, which the caller owns: DirectML's
 * CreateOperator and CompileOperator. Nothing of the description is looked at afterwards.
 * *operator_ is NULL after a failure, and if options->plan asks for the plan only (operator_ may
 * then be NULL itself). The operator is allocated by the hooks of options->compute, which must
 * outlive it; options->workspace must be NULL, memory is bound to executions.
 *
 * E_POINTER: a pointer that is needed is NULL. E_OUTOFMEMORY. E_NOTIMPL: another operator than the
 * two, OWNED_BY_DML on an input, an instruction set or strategy that is not available.
 * E_INVALIDARG: everything else.
 */
POOLGRAD_API HRESULT poolgrad_directml_create_operator(const DML_OPERATOR_DESC *desc,
                                                       const poolgrad_face_options *options,
                                                       poolgrad_directml_operator **operator_,
                                                       poolgrad_error *error);

/* E_POINTER if one of the two is NULL. */
POOLGRAD_API HRESULT poolgrad_directml_get_binding_properties(
    const poolgrad_directml_operator *operator_, poolgrad_directml_binding_properties *properties);

/*
 * Computes. Bindings are in the order of the tensors in the description, inputs and outputs counted
 * separately. temporary is memory of TemporaryResourceSize bytes or more; NULL, or empty (Buffer
 * NULL and SizeInBytes 0): allocated for the call. Of the output exactly the elements are written,
 * all of them; other bytes of its range stay as they are. After a failure nothing was written.
 */
POOLGRAD_API HRESULT poolgrad_directml_execute(
    const poolgrad_directml_operator *operator_, const poolgrad_directml_binding *inputs,
    UINT input_count, const poolgrad_directml_binding *outputs, UINT output_count,
    const poolgrad_directml_binding *temporary, poolgrad_error *error);

/* Frees an operator that no thread is executing. NULL is allowed. */
POOLGRAD_API void poolgrad_directml_release(poolgrad_directml_operator *operator_);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------- the layout */

/* The library was compiled with the definitions above: those of <DirectML.h> must have the same
 * values and places. 32-bit systems but Windows may align 64 bits differently; there is no
 * <DirectML.h> for them to agree with. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define POOLGRAD_SAME(what, value) static_assert((what) == (value), "not DirectML's " #what)
#elif !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define POOLGRAD_SAME(what, value) _Static_assert((what) == (value), "not DirectML's " #what)
#endif

#if defined(POOLGRAD_SAME) && (defined(_WIN32) || UINTPTR_MAX > 0xffffffffu)
#define POOLGRAD_AT(type, field, bytes, place)                                                     \
    POOLGRAD_SAME(sizeof(((type *)0)->field), bytes);                                              \
    POOLGRAD_SAME(offsetof(type, field), place)
#define POOLGRAD_WORD sizeof(void *)

POOLGRAD_SAME(sizeof(UINT), 4);
POOLGRAD_SAME(sizeof(UINT64), 8);
POOLGRAD_SAME(sizeof(BOOL), 4);
POOLGRAD_SAME(sizeof(HRESULT), 4);
POOLGRAD_SAME((unsigned)S_OK, 0u);
POOLGRAD_SAME((unsigned)E_NOTIMPL, 0x80004001u);
POOLGRAD_SAME((unsigned)E_POINTER, 0x80004003u);
POOLGRAD_SAME((unsigned)E_OUTOFMEMORY, 0x8007000Eu);
POOLGRAD_SAME((unsigned)E_INVALIDARG, 0x80070057u);

#ifdef __cplusplus /* in C a constant of <DirectML.h> is no constant expression */
POOLGRAD_SAME(DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, 16);
#endif
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_UNKNOWN, 0);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_FLOAT32, 1);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_FLOAT16, 2);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_UINT32, 3);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_UINT16, 4);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_UINT8, 5);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_INT32, 6);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_INT16, 7);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_INT8, 8);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_FLOAT64, 9);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_UINT64, 10);
POOLGRAD_SAME((int)DML_TENSOR_DATA_TYPE_INT64, 11);
POOLGRAD_SAME((int)DML_TENSOR_TYPE_INVALID, 0);
POOLGRAD_SAME((int)DML_TENSOR_TYPE_BUFFER, 1);
POOLGRAD_SAME((int)DML_TENSOR_FLAG_NONE, 0);
POOLGRAD_SAME((int)DML_TENSOR_FLAG_OWNED_BY_DML, 1);
POOLGRAD_SAME((int)DML_OPERATOR_INVALID, 0);
POOLGRAD_SAME((int)DML_OPERATOR_AVERAGE_POOLING_GRAD, 130);
POOLGRAD_SAME((int)DML_OPERATOR_MAX_POOLING_GRAD, 131);
POOLGRAD_SAME(sizeof(DML_TENSOR_DATA_TYPE), 4);
POOLGRAD_SAME(sizeof(DML_TENSOR_TYPE), 4);
POOLGRAD_SAME(sizeof(DML_TENSOR_FLAGS), 4);
POOLGRAD_SAME(sizeof(DML_OPERATOR_TYPE), 4);

POOLGRAD_SAME(sizeof(DML_BUFFER_TENSOR_DESC), POOLGRAD_WORD == 8 ? 48u : 40u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, DataType, 4u, 0u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, Flags, 4u, 4u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, DimensionCount, 4u, 8u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, Sizes, POOLGRAD_WORD, POOLGRAD_WORD == 8 ? 16u : 12u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, Strides, POOLGRAD_WORD, POOLGRAD_WORD == 8 ? 24u : 16u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes, 8u, POOLGRAD_WORD == 8 ? 32u : 24u);
POOLGRAD_AT(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment, 4u,
            POOLGRAD_WORD == 8 ? 40u : 32u);

POOLGRAD_SAME(sizeof(DML_TENSOR_DESC), 2 * POOLGRAD_WORD);
POOLGRAD_AT(DML_TENSOR_DESC, Type, 4u, 0u);
POOLGRAD_AT(DML_TENSOR_DESC, Desc, POOLGRAD_WORD, POOLGRAD_WORD);

POOLGRAD_SAME(sizeof(DML_OPERATOR_DESC), 2 * POOLGRAD_WORD);
POOLGRAD_AT(DML_OPERATOR_DESC, Type, 4u, 0u);
POOLGRAD_AT(DML_OPERATOR_DESC, Desc, POOLGRAD_WORD, POOLGRAD_WORD);

POOLGRAD_SAME(sizeof(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC), 8 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, InputGradientTensor, POOLGRAD_WORD, 0u);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, OutputGradientTensor, POOLGRAD_WORD,
            POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, DimensionCount, 4u, 2 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, Strides, POOLGRAD_WORD, 3 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, WindowSize, POOLGRAD_WORD, 4 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, StartPadding, POOLGRAD_WORD, 5 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, EndPadding, POOLGRAD_WORD, 6 * POOLGRAD_WORD);
POOLGRAD_AT(DML_AVERAGE_POOLING_GRAD_OPERATOR_DESC, IncludePadding, 4u, 7 * POOLGRAD_WORD);

POOLGRAD_SAME(sizeof(DML_MAX_POOLING_GRAD_OPERATOR_DESC), 9 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, InputTensor, POOLGRAD_WORD, 0u);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, InputGradientTensor, POOLGRAD_WORD, POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, OutputGradientTensor, POOLGRAD_WORD,
            2 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, DimensionCount, 4u, 3 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, Strides, POOLGRAD_WORD, 4 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, WindowSize, POOLGRAD_WORD, 5 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, StartPadding, POOLGRAD_WORD, 6 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, EndPadding, POOLGRAD_WORD, 7 * POOLGRAD_WORD);
POOLGRAD_AT(DML_MAX_POOLING_GRAD_OPERATOR_DESC, Dilations, POOLGRAD_WORD, 8 * POOLGRAD_WORD);

#undef POOLGRAD_AT
#undef POOLGRAD_WORD
#endif
#ifdef POOLGRAD_SAME
#undef POOLGRAD_SAME
#endif

#endif
