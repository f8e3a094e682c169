/* SPDX-License-Identifier: MIT */
/*
 * What jousts compare elements by, and how they find out that one is NaN; for reals and for the
 * bits of what is narrower (cpu/vec/scalar_joust.h).
 */

/* What an element is compared as: itself, or the bits of what is narrower. */
#define PGI_KIND_f32       f32
#define PGI_KIND_f64       f64
#define PGI_KIND_f16       i16
#define PGI_KIND_bf16      i16
#define PGI_KIND_(element) PGI_KIND_##element
#define PGI_KIND(element)  PGI_KIND_(element)

#define PGI_WATCH_(kind)       pgi_watch_##kind
#define PGI_WATCH(kind)        PGI_WATCH_(kind)
#define PGI_SEEN_NAN_(element) pgi_seen_nan_##element
#define PGI_SEEN_NAN(element)  PGI_SEEN_NAN_(element)

#define PGI_WATCH_REALS(kind)                                                                      \
    typedef struct pgi_watch_##kind {                                                              \
        vec_doubt nan;                                                                             \
    } pgi_watch_##kind;                                                                            \
                                                                                                   \
    static inline vec_##kind vec_rank_##kind(vec_##kind reals)                                     \
    {                                                                                              \
        return reals;                                                                              \
    }                                                                                              \
                                                                                                   \
    static inline pgi_watch_##kind vec_watch_##kind(void)                                          \
    {                                                                                              \
        return (pgi_watch_##kind){vec_no_doubt()};                                                 \
    }                                                                                              \
                                                                                                   \
    static inline void vec_watch_two_##kind(pgi_watch_##kind *watch, vec_##kind a, vec_##kind b)   \
    {                                                                                              \
        vec_doubt_nan_##kind(a, b, &watch->nan);                                                   \
    }                                                                                              \
                                                                                                   \
    static inline void vec_watch_best_##kind(pgi_watch_##kind *watch, vec_##kind best)             \
    {                                                                                              \
        (void)watch;                                                                               \
        (void)best;                                                                                \
    }

PGI_WATCH_REALS(f32)
PGI_WATCH_REALS(f64)

/* A positive NaN wins, a negative one is the least. */
typedef struct pgi_watch_i16 {
    vec_i16 low, high;
} pgi_watch_i16;

static inline pgi_watch_i16 vec_watch_i16(void)
{
    return (pgi_watch_i16){vec_set_i16(0), vec_set_i16(0)};
}

static inline void vec_watch_two_i16(pgi_watch_i16 *watch, vec_i16 a, vec_i16 b)
{
    watch->low = vec_smaller_i16(watch->low, vec_smaller_i16(a, b));
}

static inline void vec_watch_best_i16(pgi_watch_i16 *watch, vec_i16 best)
{
    watch->high = vec_larger_i16(watch->high, best);
}

/* Whether there was a NaN among what was watched. */
static inline bool pgi_seen_nan_f32(pgi_watch_f32 watch)
{
    return vec_in_doubt(watch.nan);
}

static inline bool pgi_seen_nan_f64(pgi_watch_f64 watch)
{
    return vec_in_doubt(watch.nan);
}

static inline bool pgi_seen_nan_f16(pgi_watch_i16 watch)
{
    return vec_beyond_i16(watch.low, watch.high, 0x7c00);
}

static inline bool pgi_seen_nan_bf16(pgi_watch_i16 watch)
{
    return vec_beyond_i16(watch.low, watch.high, 0x7f80);
}
