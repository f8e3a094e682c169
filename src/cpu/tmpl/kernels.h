/* SPDX-License-Identifier: MIT */
/*
 * The bodies of all kernels, compiled once per instruction set: the file that includes this sets
 *     PGI_ISA    the name of the instruction set, as a suffix
 * and gets the table pgi_table_<PGI_ISA>. Element types are stamped below by including
 * element.h with ELEMENT, STORED, REAL, LOAD and STORE. Plain C that compilers turn into vector
 * code; the order of operations on one element is fixed by docs/arithmetic.md, so every
 * instruction set gives the same bits.
 */
#ifndef PGI_ISA
#error "define PGI_ISA before including this"
#endif

#include "core/dtype.h"
#include "cpu/kernels.h"

#define PGI_JOIN_(a, b, c)        a##_##b##_##c
#define PGI_JOIN(a, b, c)         PGI_JOIN_(a, b, c)
#define PGI_NAME(operation, type) PGI_JOIN(operation, type, PGI_ISA)

#define ELEMENT      f32
#define STORED       float
#define REAL         float
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define COMPUTE_TYPE 1
#include "cpu/tmpl/element.h"

#define ELEMENT      f64
#define STORED       double
#define REAL         double
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define COMPUTE_TYPE 1
#include "cpu/tmpl/element.h"

#define ELEMENT      f16
#define STORED       uint16_t
#define REAL         float
#define LOAD(stored) pgi_f32_of_f16(stored)
#define STORE(real)  pgi_f16_of_f32(real)
#define COMPUTE_TYPE 0
#include "cpu/tmpl/element.h"

#define ELEMENT      bf16
#define STORED       uint16_t
#define REAL         float
#define LOAD(stored) pgi_f32_of_bf16(stored)
#define STORE(real)  pgi_bf16_of_f32(real)
#define COMPUTE_TYPE 0
#include "cpu/tmpl/element.h"

#define PGI_TABLE_(isa) pgi_table_##isa
#define PGI_TABLE(isa)  PGI_TABLE_(isa)

const pgi_kernel_table PGI_TABLE(PGI_ISA) = {
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/kernels.def"
#undef PGI_KERNEL
};
