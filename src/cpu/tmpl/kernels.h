/* SPDX-License-Identifier: MIT */
/*
 * The bodies of all kernels, compiled once per instruction set: the file that includes this sets
 *     PGI_ISA    the name of the instruction set, as a suffix
 * and gets the table pgi_table_<PGI_ISA>; before that it includes the vocabulary of its instruction
 * set (cpu/vec/). Types are stamped below by including
 *     contest.h, deal.h, real.h, sums.h    for what is computed with
 *     element.h                            for what lies in memory, and with it terms.h, finish.h,
 *                                          divide.h, direct.h, spread.h, threes.h; for maxima
 *                                          entry.h with award.h, melee.h
 *     number.h                             for indices
 * The order of operations on one element is fixed by docs/arithmetic.md, so every instruction set
 * gives the same bits.
 */
#ifndef PGI_ISA
#error "define PGI_ISA before including this"
#endif

#include "core/dtype.h"
#include "core/sanitizer.h"
#include "cpu/kernels.h"

#include <math.h>

#define PGI_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Before a loop of few, constant turns that must not remain one; but where a sanitizer checks every
 * access, a level of such code takes it many minutes to compile. */
#if defined(PGI_SANITIZED)
#define PGI_UNROLL
#elif defined(__clang__)
#define PGI_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PGI_UNROLL _Pragma("GCC unroll 64")
#endif

#define PGI_LARGER(a, b) ((a) > (b) ? (a) : (b))

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

PGI_ALWAYS_INLINE void PGI_NAME(fetch, ahead)(pgi_ahead *ahead)
{
    if (ahead->at < ahead->end) {
        __builtin_prefetch(ahead->at, 0, 2);
        ahead->at += 64;
    }
}

#define REAL      float
#define REAL_NAME f32
#include "cpu/tmpl/contest.h"
#include "cpu/tmpl/deal.h"
#include "cpu/tmpl/real.h"
#include "cpu/tmpl/sums.h"

#define ELEMENT      f32
#define STORED       float
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define HAS_TINY     true
#include "cpu/tmpl/element.h"

#define ELEMENT      f16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_f16(stored)
#define STORE(real)  pgi_f16_of_f32(real)
#define HAS_TINY     false
#include "cpu/tmpl/element.h"

#define ELEMENT      bf16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_bf16(stored)
#define STORE(real)  pgi_bf16_of_f32(real)
#define HAS_TINY     true
#include "cpu/tmpl/element.h"

#undef REAL
#undef REAL_NAME
#define REAL      double
#define REAL_NAME f64
#include "cpu/tmpl/contest.h"
#include "cpu/tmpl/deal.h"
#include "cpu/tmpl/real.h"
#include "cpu/tmpl/sums.h"

#define ELEMENT      f64
#define STORED       double
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define HAS_TINY     true
#include "cpu/tmpl/element.h"

#undef REAL
#undef REAL_NAME

#define INDEX      int64_t
#define INDEX_NAME i64
#include "cpu/tmpl/number.h"

#define INDEX      int32_t
#define INDEX_NAME i32
#include "cpu/tmpl/number.h"

#define INDEX      uint32_t
#define INDEX_NAME u32
#include "cpu/tmpl/number.h"

static void PGI_NAME(copy, bytes)(void *to, const void *from, int64_t bytes, bool stream)
{
    char *target = to;
    const char *source = from;
    int64_t head = (int64_t)((uintptr_t)0 - (uintptr_t)to) & (VEC_bytes - 1);

    head = stream && head < bytes ? head : bytes;
    memcpy(target, source, (size_t)head);
    for (; head + VEC_bytes <= bytes; head += VEC_bytes)
        vec_stream_bytes(target + head, source + head);
    memcpy(target + head, source + head, (size_t)(bytes - head));
}

static void PGI_NAME(settle, bytes)(void)
{
    vec_stream_end();
}

#define PGI_TABLE_(isa) pgi_table_##isa
#define PGI_TABLE(isa)  PGI_TABLE_(isa)

const pgi_kernel_table PGI_TABLE(PGI_ISA) = {
    .lanes_f32 = VEC_f32,
    .lanes_f64 = VEC_f64,
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/kernels.def"
#undef PGI_KERNEL
};
