/* SPDX-License-Identifier: MIT */
/*
 * What the bodies of all kernels use, for one instruction set: the file that includes this has set
 *     PGI_ISA    the name of the instruction set, as a suffix
 * and included the vocabulary of its instruction set (cpu/vec/). The order of operations on one
 * element is fixed by docs/arithmetic.md, so every instruction set gives the same bits.
 */
#ifndef PGI_ISA
#error "define PGI_ISA before including this"
#endif

#include "core/dtype.h"
#include "core/sanitizer.h"
#include "cpu/kernels.h"

#include <math.h>

/* PGI_ALWAYS_INLINE makes constants of arguments, and PGI_UNROLL stands before a loop of few,
 * constant turns that must not remain one. Both are for speed alone; where a sanitizer checks every
 * access, a level of such code takes it many minutes to compile. */
#if defined(PGI_SANITIZED)
#define PGI_ALWAYS_INLINE static inline
#define PGI_UNROLL
#else
#define PGI_ALWAYS_INLINE static inline __attribute__((always_inline))
#if defined(__clang__)
#define PGI_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PGI_UNROLL _Pragma("GCC unroll 64")
#endif
#endif

/* For loops whose registers are not to be shared with others. */
#define PGI_NOINLINE __attribute__((noinline))

#define PGI_LARGER(a, b)  ((a) > (b) ? (a) : (b))
#define PGI_SMALLER(a, b) ((a) < (b) ? (a) : (b))

#define PGI_VEC_(word, type) vec_##word##_##type
#define PGI_VEC(word, type)  PGI_VEC_(word, type)
#define PGI_LANES_(type)     VEC_##type
#define PGI_LANES(type)      PGI_LANES_(type)
#define PGI_VECTOR_(type)    vec_##type
#define PGI_VECTOR(type)     PGI_VECTOR_(type)
#define PGI_MASK_(type)      vec_mask_##type
#define PGI_MASK(type)       PGI_MASK_(type)
#define PGI_AT_(type)        vec_at_##type
#define PGI_AT(type)         PGI_AT_(type)

#define PGI_JOIN_(a, b, c)        a##_##b##_##c
#define PGI_JOIN(a, b, c)         PGI_JOIN_(a, b, c)
#define PGI_NAME(operation, type) PGI_JOIN(operation, type, PGI_ISA)
