/* SPDX-License-Identifier: MIT */
/*
 * The bodies of all kernels, compiled once per instruction set: the file that includes this sets
 *     PGI_ISA    the name of the instruction set, as a suffix
 * and gets the table pgi_table_<PGI_ISA>. Types are stamped below by including element.h (what
 * lies in memory), real.h (what is computed with) and cell.h (what a sweep moves and reduces).
 * Plain C that compilers turn into vector code; the order of operations on one element is fixed
 * by docs/arithmetic.md, so every instruction set gives the same bits.
 */
#ifndef PGI_ISA
#error "define PGI_ISA before including this"
#endif

#include "core/dtype.h"
#include "cpu/kernels.h"

#define PGI_JOIN_(a, b, c)        a##_##b##_##c
#define PGI_JOIN(a, b, c)         PGI_JOIN_(a, b, c)
#define PGI_NAME(operation, type) PGI_JOIN(operation, type, PGI_ISA)

/* Orders as the number does, -0 and +0 alike; NaN is the caller's business. */
static inline int64_t PGI_NAME(ordered, f32)(float value)
{
    const int32_t bits = (int32_t)pgi_bits_of_f32(value + 0);

    return bits < 0 ? bits ^ INT32_MAX : bits;
}

static inline int64_t PGI_NAME(ordered, f64)(double value)
{
    int64_t bits;

    value += 0;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

#define REAL      float
#define REAL_NAME f32
#include "cpu/tmpl/real.h"

#define ELEMENT      f32
#define STORED       float
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#include "cpu/tmpl/element.h"

#define ELEMENT      f16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_f16(stored)
#define STORE(real)  pgi_f16_of_f32(real)
#include "cpu/tmpl/element.h"

#define ELEMENT      bf16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_bf16(stored)
#define STORE(real)  pgi_bf16_of_f32(real)
#include "cpu/tmpl/element.h"

#undef REAL
#undef REAL_NAME
#define REAL      double
#define REAL_NAME f64
#include "cpu/tmpl/real.h"

#define ELEMENT      f64
#define STORED       double
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#include "cpu/tmpl/element.h"

#undef REAL
#undef REAL_NAME

#define CELL      float
#define CELL_NAME f32
#define NOTHING   0
#include "cpu/tmpl/cell.h"

#define CELL      double
#define CELL_NAME f64
#define NOTHING   0
#include "cpu/tmpl/cell.h"

static const pgi_pair PGI_NAME(no, pair) = {PGI_NO_KEY, PGI_NO_PLACE};

#define CELL      pgi_pair
#define CELL_NAME pair
#define NOTHING   PGI_NAME(no, pair)
#include "cpu/tmpl/cell.h"

static void PGI_NAME(combine, pair)(void *to, const void *a, const void *b, int64_t count)
{
    pgi_pair *better = to;
    const pgi_pair *left = a, *right = b;
    int64_t i;

    for (i = 0; i < count; i++) {
        const bool take = right[i].key > left[i].key ||
                          (right[i].key == left[i].key && right[i].place < left[i].place);

        better[i] = take ? right[i] : left[i];
    }
}

#define PGI_TABLE_(isa) pgi_table_##isa
#define PGI_TABLE(isa)  PGI_TABLE_(isa)

const pgi_kernel_table PGI_TABLE(PGI_ISA) = {
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/kernels.def"
#undef PGI_KERNEL
};
