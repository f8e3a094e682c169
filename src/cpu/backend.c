/* SPDX-License-Identifier: MIT */
/* The CPU backend: instruction sets, and which of them a plan gets. */
#include "core/status.h"
#include "cpu/kernels.h"
#include "cpu/ref/reference.h"
#include "cpu/threads.h"

#include <stdlib.h>
#include <string.h>

static bool always(void)
{
    return true;
}

#ifdef POOLGRAD_HAVE_AVX2
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2"); /* asks the operating system about the registers too */
}
#endif

typedef struct pgi_level {
    const char *name;
    bool (*usable)(void);
    const pgi_kernel_table *table;
} pgi_level;

/* Ascending: the last usable one is the best. */
static const pgi_level levels[] = {
    {"scalar", always, &pgi_table_scalar},
#ifdef POOLGRAD_HAVE_AVX2
    {"avx2", has_avx2, &pgi_table_avx2},
#endif
};

#define LEVELS (sizeof levels / sizeof levels[0])

static const pgi_level *best_level(void)
{
    const pgi_level *level = levels + LEVELS - 1;

    while (!level->usable())
        level--;
    return level;
}

static void pick(const pgi_level *level, poolgrad_dtype dtype, pgi_kernels *kernels)
{
    const pgi_kernel_table *table = level->table;

    kernels->isa = level->name;
    kernels->add = dtype == POOLGRAD_F64 ? table->add_f64 : table->add_f32;
    kernels->spread = dtype == POOLGRAD_F64 ? table->spread_f64 : table->spread_f32;
    switch (dtype) {
    case POOLGRAD_F32:
        kernels->terms = table->terms_f32;
        kernels->store = table->store_f32;
        break;
    case POOLGRAD_F64:
        kernels->terms = table->terms_f64;
        kernels->store = table->store_f64;
        break;
    case POOLGRAD_F16:
        kernels->terms = table->terms_f16;
        kernels->store = table->store_f16;
        break;
    case POOLGRAD_BF16:
        kernels->terms = table->terms_bf16;
        kernels->store = table->store_bf16;
        break;
    }
}

static poolgrad_status select_kernels(const char *isa, poolgrad_dtype dtype, pgi_kernels *kernels,
                                      poolgrad_error *error)
{
    const char *source = "options.cpu";
    size_t i;

    pgi_threads_claim(); /* plans begin here */
    if (!isa) {
        source = "environment variable POOLGRAD_CPU";
        isa = getenv("POOLGRAD_CPU");
    }
    if (!isa || !*isa) {
        pick(best_level(), dtype, kernels);
        return POOLGRAD_OK;
    }
    for (i = 0; i < LEVELS; i++) {
        if (strcmp(levels[i].name, isa) != 0)
            continue;
        if (!levels[i].usable())
            return pgi_fail(error, POOLGRAD_ERR_UNSUPPORTED,
                            "%s is \"%s\", which this machine does not have", source, isa);
        pick(&levels[i], dtype, kernels);
        return POOLGRAD_OK;
    }
    return pgi_fail(error, POOLGRAD_ERR_OPTION, "%s is \"%.40s\"; this build knows scalar%s",
                    source, isa, LEVELS > 1 ? " and avx2" : "");
}

static const char *const kernel_names[] = {
#define PGI_KERNEL(operation, type) #operation "_" #type,
#include "cpu/kernels.def"
#undef PGI_KERNEL
};

static const char *name(poolgrad_name_kind kind, size_t index)
{
    size_t i;

    if (kind == POOLGRAD_NAME_KERNEL)
        return index < sizeof kernel_names / sizeof kernel_names[0] ? kernel_names[index] : NULL;
    if (kind == POOLGRAD_NAME_CPU)
        for (i = 0; i < LEVELS; i++)
            if (levels[i].usable() && index-- == 0)
                return levels[i].name;
    return NULL;
}

const pgi_backend pgi_cpu_backend = {
    .select = select_kernels,
    .parallel_for = pgi_threads_run,
    .name = name,
    .reference = pgi_reference_plane,
};
