/* SPDX-License-Identifier: MIT */
/* The CPU backend: instruction sets, and which of them a plan gets. */
#define _DEFAULT_SOURCE
#include "core/dtype.h"
#include "core/integer.h"
#include "core/status.h"
#include "cpu/kernels.h"
#include "cpu/ref/parity.h"
#include "cpu/ref/reference.h"
#include "cpu/threads.h"

#ifdef POOLGRAD_HAVE_AVX2
#include <cpuid.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool always(void)
{
    return true;
}

#ifdef POOLGRAD_HAVE_AVX2
/* The builtin asks the operating system about the registers too; not all compilers' builtins know
 * F16C, which like FMA needs the same registers. */
static bool has_avx2(void)
{
    unsigned eax, ebx, ecx, edx;

    return __builtin_cpu_supports("avx2") && __get_cpuid(1, &eax, &ebx, &ecx, &edx) &&
           (ecx & bit_F16C) && (ecx & bit_FMA);
}
#endif

#ifdef POOLGRAD_HAVE_AVX512
static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

typedef struct pgi_level {
    const char *name;
    bool (*usable)(void);
    const pgi_averages *averages;
    const pgi_maxima *maxima;
} pgi_level;

/* Ascending: the last usable one is the best. */
static const pgi_level levels[] = {
    {"scalar", always, &pgi_averages_scalar, &pgi_maxima_scalar},
#ifdef POOLGRAD_HAVE_AVX2
    {"avx2", has_avx2, &pgi_averages_avx2, &pgi_maxima_avx2},
#endif
#ifdef POOLGRAD_HAVE_AVX512
    {"avx512", has_avx512, &pgi_averages_avx512, &pgi_maxima_avx512},
#endif
#ifdef POOLGRAD_HAVE_NEON
    {"neon", always, &pgi_averages_neon, &pgi_maxima_neon},
#endif
};

#define LEVELS (sizeof levels / sizeof levels[0])

/* Whether this machine has a level. Remembered, because a look at the CPU can cost microseconds in
 * a virtual machine. Two threads that look at once find the same. */
static bool is_usable(size_t level)
{
    static _Atomic int known[LEVELS]; /* 1: no, 2: yes */
    int usable = atomic_load_explicit(&known[level], memory_order_relaxed);

    if (usable == 0) {
        usable = 1 + levels[level].usable();
        atomic_store_explicit(&known[level], usable, memory_order_relaxed);
    }
    return usable == 2;
}

static const pgi_level *best_level(void)
{
    size_t level = LEVELS - 1;

    while (level > 0 && !is_usable(level)) /* any machine has the first */
        level--;
    return &levels[level];
}

/* The kernels of a level for one type: those of the element and those of its compute type. */
#define PICK(element, type)                                                                        \
    (pgi_kernels)                                                                                  \
    {                                                                                              \
        .isa = level->name, .real = pgi_compute_size(dtype), .lanes = averages->lanes_##type,      \
        .terms = averages->terms_##element, .collect = averages->collect_##element,                \
        .sum = averages->sum_##type, .sum_block = averages->sum_block_##type,                      \
        .finish = averages->finish_##element, .finish_picks = averages->finish_picks_##element,    \
        .divide = averages->divide_##element, .finish_reals = averages->finish_##type,             \
        .finish_picks_reals = averages->finish_picks_##type,                                       \
        .divide_reals = averages->divide_##type, .totals = averages->totals_##element,             \
        .totals_lanes = averages->totals_lanes_##element, .direct = averages->direct_##element,    \
        .spread = averages->spread_##element, .threes = averages->threes_##element,                \
        .ribbon = averages->ribbon_##element, .pile = averages->pile_##element,                    \
        .fold = averages->fold_##element, .pile_reals = averages->pile_##type,                     \
        .fold_reals = averages->fold_##type, .halves = averages->halves_##element,                 \
        .widen = averages->widen_##element, .store = averages->store_##element,                    \
        .repeat = averages->repeat_##element, .copy = averages->copy_bytes,                        \
        .settle = averages->settle_bytes, .admit = maxima->admit_##element,                        \
        .contest = maxima->contest_##type, .sweep = maxima->sweep_##type,                          \
        .separate = maxima->separate_##type, .separate_places = maxima->separate_f32,              \
        .melee = maxima->melee_##element, .joust = maxima->joust_##element,                        \
        .final = maxima->final_##type,                                                             \
        .number = {maxima->number_i64, maxima->number_i32, maxima->number_u32, maxima->number_u8}, \
        .name = {maxima->name_i64, maxima->name_i32, maxima->name_u32},                            \
        .trace = {maxima->trace_i64, maxima->trace_i32, maxima->trace_u32},                        \
        .follow = maxima->follow_u8, .vouch = maxima->vouch_u8, .deal = maxima->deal_##type,       \
        .award = maxima->award_##element, .reap = maxima->reap_##element,                          \
    }

static pgi_kernels pick(const pgi_level *level, poolgrad_dtype dtype)
{
    const pgi_averages *averages = level->averages;
    const pgi_maxima *maxima = level->maxima;
    pgi_kernels kernels;

    switch (dtype) {
    case POOLGRAD_F64:
        kernels = PICK(f64, f64);
        break;
    case POOLGRAD_F16:
        kernels = PICK(f16, f32);
        break;
    case POOLGRAD_BF16:
        kernels = PICK(bf16, f32);
        break;
    case POOLGRAD_F32:
    default:
        kernels = PICK(f32, f32);
        break;
    }
    return kernels;
}

static poolgrad_status select_kernels(const char *isa, poolgrad_dtype dtype, pgi_kernels *kernels,
                                      poolgrad_error *error)
{
    const char *source = "options.cpu";
    char known[64]; /* the names of all levels */
    size_t i, used = 0;

    pgi_threads_claim(); /* plans begin here */
    if (!isa) {
        source = "environment variable POOLGRAD_CPU";
        isa = getenv("POOLGRAD_CPU");
        if (!isa || !*isa) {
            *kernels = pick(best_level(), dtype);
            return POOLGRAD_OK;
        }
    }
    for (i = 0; i < LEVELS; i++) {
        if (strcmp(levels[i].name, isa) != 0)
            continue;
        if (!is_usable(i))
            return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                            "%s is \"%s\", which this machine does not have", source, isa);
        *kernels = pick(&levels[i], dtype);
        return POOLGRAD_OK;
    }
    for (i = 0; i < LEVELS; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 levels[i].name);
    return pgi_fail(error, POOLGRAD_ERR_OPTION, "%s is \"%.40s\"; this build knows %s", source, isa,
                    known);
}

static const char *const kernel_names[] = {
#define PGI_KERNEL(operation, type) #operation "_" #type,
#include "cpu/averages.def"
#include "cpu/maxima.def"
#undef PGI_KERNEL
};

static const char *name(poolgrad_name_kind kind, size_t index)
{
    size_t i;

    if (kind == POOLGRAD_NAME_KERNEL)
        return index < sizeof kernel_names / sizeof kernel_names[0] ? kernel_names[index] : NULL;
    if (kind == POOLGRAD_NAME_CPU)
        for (i = 0; i < LEVELS; i++)
            if (is_usable(i) && index-- == 0)
                return levels[i].name;
    return NULL;
}

/* Where glibc does not know it, a size that most cores of today have. */
static int64_t cache_bytes(void)
{
    int64_t bytes = 0;

#ifdef __GLIBC__
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? bytes : INT64_C(1) << 20;
}

static int64_t last_cache_bytes(void)
{
    int64_t bytes = 0;

#ifdef __GLIBC__
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes > 0 ? bytes : 0;
}

static bool is_intel(void)
{
#ifdef POOLGRAD_HAVE_AVX2
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

/* Zen 3 and Zen 4. */
static bool is_family_19h(void)
{
#ifdef POOLGRAD_HAVE_AVX2
    return __builtin_cpu_is("amdfam19h");
#else
    return false;
#endif
}

/* A page: 2x2 with stride 2 forward, f32 NCX, takes 1.86 ms on a Xeon, 1.39 if half a page ahead is
 * fetched, and 1.22 if a whole one is; on a Zen 5, avx2, 1.35 and 0.60. On a Zen 4 it takes 1.2
 * times the floor, and 1.7 with. */
static int64_t fetch_bytes(void)
{
    return is_family_19h() ? 0 : 4096;
}

/* The gradient of 7x7 over all, f32 NCX, takes 0.18 ms with plain stores and 0.38 past the caches
 * on a Zen 4 with 32 MiB of last cache, 0.87 and 0.48 on a Xeon. Much larger caches are those of
 * many cores. */
#define MOST_PLAIN_BYTES (INT64_C(16) << 20)

static int64_t plain_bytes(void)
{
    return is_intel() ? 0 : pgi_min(last_cache_bytes() / 2, MOST_PLAIN_BYTES);
}

#ifdef POOLGRAD_HAVE_AVX2
/* Reading the clock waits for what was loaded before, on x86. */
static int64_t nanoseconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* On two cores of a Zen 4 four lines at once mostly take 30 to 70 ns from the last cache, the clock
 * included, and 570 to 850 from memory. */
static bool near(const void *const *addresses, int count)
{
    const int64_t begin = nanoseconds();
    int i;

    for (i = 0; i < count; i++)
        (void)*(const volatile char *)addresses[i];
    return nanoseconds() - begin < 150;
}
#else
static bool near(const void *const *addresses, int count)
{
    (void)addresses;
    (void)count;
    return false;
}
#endif

const pgi_backend pgi_cpu_backend = {
    .cache_bytes = cache_bytes,
    .last_cache_bytes = last_cache_bytes,
    .fetch_bytes = fetch_bytes,
    .plain_bytes = plain_bytes,
    .near = near,
    .select = select_kernels,
    .parallel_for = pgi_threads_run,
    .name = name,
    .reference = pgi_reference_plane,
    .parity = pgi_parity_plane,
};
