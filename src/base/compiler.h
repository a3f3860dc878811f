/* SPDX-License-Identifier: BSD-2-Clause */
/* The only place that knows compiler attributes. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#include <stddef.h>

/* "%zu" and the like on Windows too; clang knows the check by its plain name alone. */
#if defined(__clang__)
#define TW_PRINTF(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__)
#define TW_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define TW_PRINTF(text, first)
#endif

#if defined(__GNUC__)
#define TW_LIKELY(x)         __builtin_expect(!!(x), 1)
#define TW_UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define TW_NOINLINE          __attribute__((noinline))
#define TW_INLINE            static inline __attribute__((always_inline))
#define TW_UNUSED            __attribute__((unused))
#define TW_PREFETCH(address) __builtin_prefetch(address)
#else
#define TW_LIKELY(x)   (x)
#define TW_UNLIKELY(x) (x)
#define TW_NOINLINE
#define TW_INLINE static inline
#define TW_UNUSED
#define TW_PREFETCH(address) ((void)(address))
#endif

/* Of the host; where it is not known, the slower way is taken. */
#if defined(_WIN32) || (defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define TW_IS_LITTLE_ENDIAN 1
#else
#define TW_IS_LITTLE_ENDIAN 0
#endif

#define TW_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Bytes that will be read soon, from the first on, are brought near; for readers so slow that the
   host does not see by itself that they go on and on. */
TW_INLINE void tw_prefetch(const void *data, size_t size)
{
    enum { LINE = 64, MOST = 2048 };
    const char *at = data;

    for (size_t i = 0; i < size && i < MOST; i += LINE)
        TW_PREFETCH(at + i);
}

/* Number of the lowest set bit; there must be one. */
TW_INLINE unsigned tw_lowest_bit(unsigned long long bits)
{
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(bits);
#else
    unsigned number = 0;

    while (!(bits >> number & 1))
        number++;
    return number;
#endif
}

/* Number of the highest set bit; there must be one. */
TW_INLINE unsigned tw_highest_bit(unsigned long long bits)
{
#if defined(__GNUC__)
    return 63 - (unsigned)__builtin_clzll(bits);
#else
    unsigned number = 0;

    while (bits >>= 1)
        number++;
    return number;
#endif
}

#endif
