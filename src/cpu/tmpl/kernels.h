/* SPDX-License-Identifier: MIT */
/*
 * The bodies of all kernels, compiled once per instruction set: the file that includes this sets
 *     PGI_ISA    the name of the instruction set, as a suffix
 * and gets the table pgi_table_<PGI_ISA>; before that it includes the vocabulary of its instruction
 * set (cpu/vec/). Types are stamped below by including element.h (what lies in memory), real.h
 * (what is computed with), cell.h (what a sweep moves and reduces) and index.h. The order of
 * operations on one element is fixed by docs/arithmetic.md, so every instruction set gives the same
 * bits.
 */
#ifndef PGI_ISA
#error "define PGI_ISA before including this"
#endif

#include "core/dtype.h"
#include "cpu/kernels.h"

#define PGI_ALWAYS_INLINE static inline __attribute__((always_inline))

/* Before a loop of few, constant turns that must not remain one. */
#if defined(__clang__)
#define PGI_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PGI_UNROLL _Pragma("GCC unroll 32")
#endif

#define PGI_VEC_(word, type) vec_##word##_##type
#define PGI_VEC(word, type)  PGI_VEC_(word, type)
#define PGI_LANES_(type)     VEC_##type
#define PGI_LANES(type)      PGI_LANES_(type)
#define PGI_VECTOR_(type)    vec_##type
#define PGI_VECTOR(type)     PGI_VECTOR_(type)

#define PGI_JOIN_(a, b, c)        a##_##b##_##c
#define PGI_JOIN(a, b, c)         PGI_JOIN_(a, b, c)
#define PGI_NAME(operation, type) PGI_JOIN(operation, type, PGI_ISA)

/* Orders as the number does, -0 and +0 alike; NaN is the caller's business. */
static inline int32_t PGI_NAME(ordered, f32)(float value)
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

#define PACKS 1

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

#undef PACKS
#define PACKS 0

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

#define INDEX      int64_t
#define INDEX_NAME i64
#include "cpu/tmpl/index.h"

#define INDEX      int32_t
#define INDEX_NAME i32
#include "cpu/tmpl/index.h"

#define INDEX      uint32_t
#define INDEX_NAME u32
#include "cpu/tmpl/index.h"

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

static inline pgi_pair PGI_NAME(better, pair)(pgi_pair a, pgi_pair b)
{
    return b.key > a.key || (b.key == a.key && b.place < a.place) ? b : a;
}

static void PGI_NAME(combine, pair)(void *to, const void *a, const void *b, int64_t count)
{
    pgi_pair *better = to;
    const pgi_pair *left = a, *right = b;
    int64_t i;

    for (i = 0; i < count; i++)
        better[i] = PGI_NAME(better, pair)(left[i], right[i]);
}

#define CELL      int64_t
#define CELL_NAME packed
#define NOTHING   PGI_NO_PACKED
#include "cpu/tmpl/cell.h"

static void PGI_NAME(combine, packed)(void *to, const void *a, const void *b, int64_t count)
{
    int64_t *better = to;
    const int64_t *left = a, *right = b;
    int64_t i;

    for (i = 0; i < count; i++)
        better[i] = right[i] > left[i] ? right[i] : left[i];
}

PGI_ALWAYS_INLINE void PGI_NAME(reduce_of, packed)(int64_t *restrict to, const pgi_rows *run,
                                                   int rows, int64_t count)
{
    const int64_t *row[PGI_RUN_ROWS];
    int64_t i;
    int r;

    for (r = 0; r < rows; r++)
        row[r] = run->row[r];
    for (i = 0; i < count; i++) {
        int64_t best = row[0][i];

        PGI_UNROLL
        for (r = 1; r < rows; r++)
            best = row[r][i] > best ? row[r][i] : best;
        to[i] = best;
    }
}

static void PGI_NAME(reduce, packed)(void *to, const pgi_rows *run, int64_t count)
{
    switch (run->count) {
#define PGI_COUNT(n)                                                                               \
    case n:                                                                                        \
        PGI_NAME(reduce_of, packed)(to, run, n, count);                                            \
        break;
#include "cpu/tmpl/counts.def"
#undef PGI_COUNT
    }
}

static void PGI_NAME(reduce, pair)(void *to, const pgi_rows *run, int64_t count)
{
    pgi_pair *best = to;
    int64_t i;
    int r;

    for (i = 0; i < count; i++) {
        pgi_pair made = ((const pgi_pair *)run->row[0])[i];

        for (r = 1; r < run->count; r++)
            made = PGI_NAME(better, pair)(made, ((const pgi_pair *)run->row[r])[i]);
        best[i] = made;
    }
}

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
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/kernels.def"
#undef PGI_KERNEL
};
