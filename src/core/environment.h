/* SPDX-License-Identifier: MIT */
/*
 * The floating-point environment. Arithmetic runs in the default one (to nearest, subnormals
 * kept, nothing trapped) whatever the caller has set; what the caller had, flags included, comes
 * back afterwards. Belongs around every piece of work on every thread.
 */
#ifndef PGI_CORE_ENVIRONMENT_H
#define PGI_CORE_ENVIRONMENT_H

#if defined(__SSE2__)

#include <xmmintrin.h>

/* All arithmetic is SSE's or wider: the x87 half of an fenv_t, which takes most of the time, does
 * not matter. */
typedef unsigned pgi_environment;

static inline void pgi_environment_enter(pgi_environment *caller)
{
    *caller = _mm_getcsr();
    _mm_setcsr(0x1f80); /* to nearest, all exceptions masked, no flag, nothing flushed to zero */
}

static inline void pgi_environment_leave(const pgi_environment *caller)
{
    _mm_setcsr(*caller);
}

#else

#include <fenv.h>

typedef fenv_t pgi_environment;

/* In the C library's FE_DFL_ENV flush-to-zero is off on the machines we know (AArch64: FPCR 0);
 * tests/unit/test_threads.c holds it to that. */
static inline void pgi_environment_enter(pgi_environment *caller)
{
    fegetenv(caller);
    fesetenv(FE_DFL_ENV);
}

static inline void pgi_environment_leave(const pgi_environment *caller)
{
    fesetenv(caller);
}

#endif

#endif
