/* SPDX-License-Identifier: MIT */
/*
 * Test data: random numbers, typed elements, and memory for views.
 *
 * Nothing here uses the library's own conversions, so that an error in those cannot hide. None of
 * it depends on the floating-point environment.
 *
 * "Resolved" descriptors are those that poolgrad_desc_resolve has filled in (poolgrad_plan_desc
 * returns one): extents and strides of the views are then numbers. `first` is a pointer to
 * element 0 of a view, as in poolgrad_buffers. "Logical order" is batch, channels, spatial axes of
 * the view, the last one fastest, whatever the layout.
 */
#ifndef SUPPORT_DATA_H
#define SUPPORT_DATA_H

#include <poolgrad/poolgrad.h>
#include <stddef.h>
#include <stdint.h>

/* ----------------------------------------------------------- random numbers */

/* splitmix64: every seed, 0 included, gives a good sequence; the same one on every machine. */
typedef struct sup_rng {
    uint64_t state;
} sup_rng;

void sup_rng_seed(sup_rng *rng, uint64_t seed);
uint64_t sup_rng_next(sup_rng *rng);
/* lo <= result <= hi */
int64_t sup_rng_range(sup_rng *rng, int64_t lo, int64_t hi);
/* 0 <= result < 1 */
double sup_rng_unit(sup_rng *rng);
/* 1 in `percent` of a hundred calls, else 0 */
int sup_rng_chance(sup_rng *rng, int percent);

/* ----------------------------------------------------------- typed elements */

/* Element `index` of an array. Widening is exact, narrowing rounds once, to nearest even. */
double sup_load(poolgrad_dtype dtype, const void *array, int64_t index);
void sup_store(poolgrad_dtype dtype, void *array, int64_t index, double value);

/* 1 if the two elements have equal bits or are both NaN. */
int sup_equal_bits(poolgrad_dtype dtype, const void *a, const void *b);

typedef enum sup_kind {
    SUP_UNIFORM = 1, /* in [-1, 1) */
    SUP_INTEGERS,    /* -8 .. 8 */
    SUP_EIGHTHS,     /* multiples of 1/8 in [-4, 4]: sums of them are exact */
    SUP_SPECIALS,    /* uniform, with some -0, +0, denormals, and few NaN and infinities */
    SUP_TIES,        /* -1, -0, +0 and 1, with some NaN and infinities: contested maxima */
    SUP_ONES,        /* 1 */
    SUP_NAN          /* NaN, to see what is not overwritten */
} sup_kind;

/* One value of that kind, not yet rounded to a type. */
double sup_value(poolgrad_dtype dtype, sup_kind kind, sup_rng *rng);
/* Fills `count` consecutive elements. rng may be NULL for SUP_ONES and SUP_NAN. */
void sup_fill(poolgrad_dtype dtype, void *array, int64_t count, sup_kind kind, sup_rng *rng);

/* -------------------------------------------------------------------- views */

/* 1 for the forward passes (AVG, MAX); 1 for max pooling (MAX, MAX_GRAD). */
int sup_is_forward(const poolgrad_desc *desc);
int sup_is_max(const poolgrad_desc *desc);

/* alpha or beta as it is computed with, rounded to the compute type. */
double sup_factor(const poolgrad_desc *desc, double factor);

/* The view that is written (dx, forward y), and the one whose elements are windows (dy, forward
 * y). */
const poolgrad_view *sup_view_written(const poolgrad_desc *resolved);
const poolgrad_view *sup_view_windows(const poolgrad_desc *resolved);

/* Elements of any view of a resolved descriptor; 0 if an extent is 0. */
int64_t sup_view_count(const poolgrad_desc *resolved, const poolgrad_view *view);
/* Where element `logical` (in logical order) lies, in elements from element 0. */
int64_t sup_view_offset(const poolgrad_desc *resolved, const poolgrad_view *view, int64_t logical);

/* Memory that holds exactly a view, from its lowest to its highest element. */
typedef struct sup_memory {
    void *allocation; /* the lowest element; what to compare when gaps must stay untouched */
    size_t bytes;     /* of the allocation; at least one element */
    void *first;      /* element 0 of the view */
} sup_memory;

/* The bytes from a view's lowest element to its highest, one element if it has none, and where its
 * first lies among them; -1 if 64 bits do not suffice. */
int sup_view_span(const poolgrad_desc *resolved, const poolgrad_view *view, size_t element_size,
                  size_t *bytes, size_t *first);

/* Allocates, every byte 0xff: a NaN in every type, so that a gap that is read shows. Returns 0, or
 * -1 when memory is short or the size overflows; *memory is then all zero. */
int sup_view_alloc(const poolgrad_desc *resolved, const poolgrad_view *view, sup_memory *memory);
/* The same for elements of another size than the descriptor's type. */
int sup_view_alloc_sized(const poolgrad_desc *resolved, const poolgrad_view *view,
                         size_t element_size, sup_memory *memory);
void sup_view_free(sup_memory *memory);

/* In logical order: random values drawn one per element (elements that share memory, as with
 * stride 0, are written several times); copies to and from doubles. */
void sup_view_fill(const poolgrad_desc *resolved, const poolgrad_view *view, void *first,
                   sup_kind kind, sup_rng *rng);
void sup_view_gather(const poolgrad_desc *resolved, const poolgrad_view *view, const void *first,
                     double *values);
void sup_view_scatter(const poolgrad_desc *resolved, const poolgrad_view *view,
                      const double *values, void *first);

/* The logical index of the first element in which two buffers of the same view differ (as
 * sup_equal_bits says), or -1. */
int64_t sup_view_difference(const poolgrad_desc *resolved, const poolgrad_view *view,
                            const void *first_a, const void *first_b);

#endif
