/* SPDX-License-Identifier: MIT */
/* The bodies of averages.def for one instruction set (level.h), and its table of them. */
#include "cpu/tmpl/level.h"

PGI_ALWAYS_INLINE void PGI_NAME(fetch, ahead)(pgi_ahead *ahead)
{
    if (ahead->at < ahead->end) {
        __builtin_prefetch(ahead->at, 0, 2);
        ahead->at += 64;
    }
}

#define PGI_AVERAGES
#include "cpu/tmpl/types.h"

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

#define PGI_TABLE_(isa) pgi_averages_##isa
#define PGI_TABLE(isa)  PGI_TABLE_(isa)

const pgi_averages PGI_TABLE(PGI_ISA) = {
    .lanes_f32 = VEC_f32,
    .lanes_f64 = VEC_f64,
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/averages.def"
#undef PGI_KERNEL
};
