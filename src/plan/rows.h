/* SPDX-License-Identifier: MIT */
/* Rows of tensors: where they begin in memory, loading and storing one. */
#ifndef PGI_PLAN_ROWS_H
#define PGI_PLAN_ROWS_H

#include "plan/plan.h"

/* For strategies whose units are rows: of all channels side by side, from so many on, or of one. */
#define PGI_ROW_LANES 16

/* How many channels such rows have if, in both tensors, their elements lie side by side; else 0. */
int64_t pgi_row_lanes(const pgi_problem *problem);

/* Whether elements lie one behind the other, in the order of the axes. */
bool pgi_is_joined(const pgi_tensor *tensor);

/* Whether the windows of an axis have so many taps without gaps and this stride, and each has a tap
 * that is no padding before or behind the input. */
bool pgi_axis_is(const pgi_axis *axis, int64_t kernel, int64_t stride);

/* Sets block, the channels of a row, and arranges the problem for rows of so many. */
void pgi_arrange_rows(poolgrad_plan *plan);

/* Then sets blocks and the units: `rows` rows in each of `planes` planes of every batch and block.
 */
void pgi_units_of_rows(poolgrad_plan *plan, int64_t planes, int64_t rows);

/* Which row a unit is: batch and first channel, plane, and row. */
typedef struct pgi_row_unit {
    pgi_unit unit;
    int64_t d, h;
} pgi_row_unit;

pgi_row_unit pgi_row_of_unit(const poolgrad_plan *plan, int64_t index, int64_t planes,
                             int64_t rows);

/* Memory at a unit's batch and first channel; the spatial axes are still at the view's origin. */
const char *pgi_unit_memory(const pgi_problem *problem, const pgi_tensor *tensor,
                            const pgi_unit *unit, const void *first, size_t element_size);

/* Elements from the view's spatial origin to (d, h, w), places of the whole tensor. */
int64_t pgi_row_offset(const pgi_tensor *tensor, int64_t d, int64_t h, int64_t w);

/* Asks for memory that is read soon, if it is there. */
static inline void pgi_fetch(const char *memory, int64_t bytes)
{
    int64_t at;

    for (at = 0; at < bytes; at += PGI_LINE_BYTES)
        __builtin_prefetch(memory + at, 0, 3);
}

/* Scales, rounds and stores `places` groups of `lanes` reals from (d, h, w) on in the target. */
void pgi_store_row(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                   int64_t h, int64_t w, int64_t places, int64_t lanes, const char *reals);

/* The same for rows from h on; the reals are a pitch apart. */
void pgi_store_rows(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                    int64_t h, int64_t w, int64_t rows, int64_t places, int64_t lanes,
                    const char *reals, int64_t pitch);

/* Rows of groups of lanes that do not lie side by side, as terms, a pitch apart; divisors as those
 * of pgi_collect_fn. */
void pgi_collect_rows(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h,
                      int64_t w, int64_t rows, int64_t places, int64_t lanes,
                      const pgi_divisors *const *by, int each, char *reals, int64_t pitch);

/* dy or x of (d, h, w) on, as terms. */
void pgi_load_row(const poolgrad_plan *plan, const char *memory, int64_t d, int64_t h, int64_t w,
                  int64_t places, int64_t lanes, char *reals);

/* Whether elements of a target row lie side by side, as its cells do. */
bool pgi_is_dense(const pgi_problem *problem, int64_t lanes);

/* Scales, rounds and stores a row, past the caches if `work` says so. Only if beta is 0 and the
 * target is dense. The sums may be read to the end of the last vector. */
void pgi_finish_row(const poolgrad_plan *plan, const pgi_work *work, char *memory, int64_t d,
                    int64_t h, int64_t w, const void *sums, int64_t places, int64_t lanes);

/* Whether planes of an average's input have one place, which all windows have as their one tap:
 * what adaptive windows make larger. Nothing is divided then, either way. */
bool pgi_has_one_place(const pgi_problem *problem);

/* The divisor of the one window of a problem, or of all. It points into itself. */
typedef struct pgi_one_divisor {
    union {
        double wide;
        float narrow;
    } room[3];
    pgi_divisors divisors;
} pgi_one_divisor;

void pgi_set_one_divisor(const pgi_problem *problem, pgi_one_divisor *one);

#endif
