/* SPDX-License-Identifier: MIT */
/*
 * The floating-point environment. Arithmetic runs in the default one (to nearest, subnormals
 * kept, nothing trapped) whatever the caller has set; what the caller had, flags included, comes
 * back afterwards. Belongs around every piece of work on every thread.
 */
#ifndef PGI_CORE_ENVIRONMENT_H
#define PGI_CORE_ENVIRONMENT_H

#include <fenv.h>

typedef fenv_t pgi_environment;

/* In the C library's FE_DFL_ENV flush-to-zero and denormals-are-zero are off on the machines we
 * know (x86-64: MXCSR 0x1f80; AArch64: FPCR 0); tests/unit/test_threads.c holds it to that. */
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
