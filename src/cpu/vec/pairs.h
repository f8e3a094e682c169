/* SPDX-License-Identifier: MIT */
/*
 * Words for two vectors of elements at once, made of those for one; a vocabulary stamps them for
 * the types for which it has nothing better.
 */
#ifndef PGI_CPU_VEC_PAIRS_H
#define PGI_CPU_VEC_PAIRS_H

#define PGI_PAIRS_LOAD(element, real, stored)                                                      \
    static inline void vec_load_both_##element(const stored *from, vec_##real *a, vec_##real *b)   \
    {                                                                                              \
        *a = vec_load_##element(from);                                                             \
        *b = vec_load_##element(from + VEC_##real);                                                \
    }                                                                                              \
    static inline void vec_apart_##element(vec_##real *a, vec_##real *b)                           \
    {                                                                                              \
        const vec_##real low = *a, high = *b;                                                      \
                                                                                                   \
        *a = vec_even_##real(low, high);                                                           \
        *b = vec_odd_##real(low, high);                                                            \
    }

#define PGI_PAIRS_STORE(element, real, stored)                                                     \
    static inline void vec_store_two_##element(stored *to, vec_##real a, vec_##real b, bool past)  \
    {                                                                                              \
        if (past) {                                                                                \
            vec_stream_##element(to, a);                                                           \
            vec_stream_##element(to + VEC_##real, b);                                              \
        } else {                                                                                   \
            vec_store_##element(to, a);                                                            \
            vec_store_##element(to + VEC_##real, b);                                               \
        }                                                                                          \
    }                                                                                              \
    static inline void vec_store_both_##element(stored *to, vec_##real a, vec_##real b, bool past) \
    {                                                                                              \
        vec_store_two_##element(to, a, b, past);                                                   \
    }                                                                                              \
    static inline void vec_store_zip_##element(stored *to, vec_##real a, vec_##real b, bool past)  \
    {                                                                                              \
        vec_##real low, high;                                                                      \
                                                                                                   \
        vec_zip_##real(a, b, &low, &high);                                                         \
        vec_store_two_##element(to, low, high, past);                                              \
    }

#define PGI_PAIRS(element, real, stored)                                                           \
    PGI_PAIRS_LOAD(element, real, stored)                                                          \
    PGI_PAIRS_STORE(element, real, stored)

#endif
