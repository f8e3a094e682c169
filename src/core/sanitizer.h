/* SPDX-License-Identifier: MIT */
/* Whether a sanitizer checks this, and what MemorySanitizer cannot know. */
#ifndef PGI_CORE_SANITIZER_H
#define PGI_CORE_SANITIZER_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) ||                         \
    __has_feature(thread_sanitizer)
#define PGI_SANITIZED
#endif

/* PGI_MAY_READ says that memory may be read though not all of it was written: vectors reach past
 * the end of rows, into lanes whose results are never stored. PGI_WRITTEN says that an instruction
 * stored there which MemorySanitizer does not know; it looks at what such a one is given. */
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define PGI_MAY_READ(memory, bytes) __msan_unpoison(memory, bytes)
#define PGI_WRITTEN(memory, bytes)  __msan_unpoison(memory, bytes)
#endif
#endif
#ifndef PGI_MAY_READ
#define PGI_MAY_READ(memory, bytes) ((void)(memory), (void)(bytes))
#define PGI_WRITTEN(memory, bytes)  ((void)(memory), (void)(bytes))
#endif

#endif
