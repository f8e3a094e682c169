/* SPDX-License-Identifier: MIT */
/* The bodies that each element type has of its own; types.h has the parameters. */
#ifdef PGI_AVERAGES
#include "cpu/tmpl/element.h"
#else
#include "cpu/tmpl/entry.h"
#endif

#undef ELEMENT
#undef STORED
#undef LOAD
#undef STORE
#undef HAS_TINY
