/* SPDX-License-Identifier: MIT */
/* The bodies of maxima.def for one instruction set (level.h), and its table of them. */
#include "cpu/tmpl/level.h"
#include "cpu/tmpl/watch.h"

/* How much further than one group of channels the one lies that is fetched meanwhile: the machine
 * does not find groups that lie apart by itself. The step of a single group may be any number. */
PGI_ALWAYS_INLINE int64_t pgi_groups_ahead(int64_t step)
{
    return step > 0 && step < (1 << 24) ? 8 * step : 0;
}

#include "cpu/tmpl/types.h"

#define INDEX      int64_t
#define INDEX_NAME i64
#include "cpu/tmpl/number.h"

#include "cpu/tmpl/name.h"
#include "cpu/tmpl/trace.h"

#define INDEX      int32_t
#define INDEX_NAME i32
#include "cpu/tmpl/number.h"

#include "cpu/tmpl/name.h"
#include "cpu/tmpl/trace.h"

#define INDEX      uint32_t
#define INDEX_NAME u32
#include "cpu/tmpl/number.h"

#include "cpu/tmpl/name.h"
#include "cpu/tmpl/trace.h"

#define INDEX      uint8_t
#define INDEX_NAME u8
#include "cpu/tmpl/number.h"
#include "cpu/tmpl/taps.h"

#define PGI_TABLE_(isa) pgi_maxima_##isa
#define PGI_TABLE(isa)  PGI_TABLE_(isa)

const pgi_maxima PGI_TABLE(PGI_ISA) = {
#define PGI_KERNEL(operation, type) .operation##_##type = PGI_NAME(operation, type),
#include "cpu/maxima.def"
#undef PGI_KERNEL
};
