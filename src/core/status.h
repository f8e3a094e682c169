/* SPDX-License-Identifier: MIT */
/* Filling a poolgrad_error. Every public entry ends in pgi_ok or in one pgi_fail. */
#ifndef PGI_CORE_STATUS_H
#define PGI_CORE_STATUS_H

#include <poolgrad/poolgrad.h>

/* Writes status and message if error is not NULL; returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
poolgrad_status
pgi_fail(poolgrad_error *error, poolgrad_status status, const char *format, ...);

poolgrad_status pgi_ok(poolgrad_error *error);

/* Passes a failure on. */
#define PGI_TRY(call)                                                                              \
    do {                                                                                           \
        const poolgrad_status pgi_try_status = (call);                                             \
        if (pgi_try_status != POOLGRAD_OK)                                                         \
            return pgi_try_status;                                                                 \
    } while (0)

#endif
