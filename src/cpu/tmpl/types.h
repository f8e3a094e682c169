/* SPDX-License-Identifier: MIT */
/*
 * Stamps bodies for every type: those of averages if PGI_AVERAGES is defined, else those of maxima.
 * Their parameters are
 *     REAL, REAL_NAME    what is computed with, and its suffix
 *     ELEMENT            f32, f64, f16, bf16: what lies in memory, as a suffix
 *     STORED             its type
 *     LOAD, STORE        between that and REAL
 *     HAS_TINY           whether there are numbers that PGI_QUOTIENT cannot divide
 */

#define REAL      float
#define REAL_NAME f32
#include "cpu/tmpl/of_real.h"

#define ELEMENT      f32
#define STORED       float
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define HAS_TINY     true
#include "cpu/tmpl/of_element.h"

#define ELEMENT      f16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_f16(stored)
#define STORE(real)  pgi_f16_of_f32(real)
#define HAS_TINY     false
#include "cpu/tmpl/of_element.h"

#define ELEMENT      bf16
#define STORED       uint16_t
#define LOAD(stored) pgi_f32_of_bf16(stored)
#define STORE(real)  pgi_bf16_of_f32(real)
#define HAS_TINY     true
#include "cpu/tmpl/of_element.h"

#undef REAL
#undef REAL_NAME
#define REAL      double
#define REAL_NAME f64
#include "cpu/tmpl/of_real.h"

#define ELEMENT      f64
#define STORED       double
#define LOAD(stored) (stored)
#define STORE(real)  (real)
#define HAS_TINY     true
#include "cpu/tmpl/of_element.h"

#undef REAL
#undef REAL_NAME
