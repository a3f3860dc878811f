/* SPDX-License-Identifier: BSD-2-Clause */
/* The only place that knows compiler attributes. */
#ifndef BASE_COMPILER_H
#define BASE_COMPILER_H

#if defined(__GNUC__)
#define TW_LIKELY(x)           __builtin_expect(!!(x), 1)
#define TW_UNLIKELY(x)         __builtin_expect(!!(x), 0)
#define TW_NOINLINE            __attribute__((noinline))
#define TW_INLINE              static inline __attribute__((always_inline))
#define TW_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define TW_UNUSED              __attribute__((unused))
#else
#define TW_LIKELY(x)   (x)
#define TW_UNLIKELY(x) (x)
#define TW_NOINLINE
#define TW_INLINE static inline
#define TW_PRINTF(text, first)
#define TW_UNUSED
#endif

#define TW_LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#endif
