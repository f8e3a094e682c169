/* SPDX-License-Identifier: MIT */
/* The bodies that each compute type has of its own; types.h has the parameters. */
#include "cpu/tmpl/transpose.h"

#ifdef PGI_AVERAGES
#include "cpu/tmpl/real.h"
#include "cpu/tmpl/sums.h"
#else
#include "cpu/tmpl/contest.h"
#include "cpu/tmpl/deal.h"
#include "cpu/tmpl/separate.h"
#include "cpu/tmpl/sweep.h"
#endif
