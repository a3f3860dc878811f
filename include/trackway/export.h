/* SPDX-License-Identifier: BSD-2-Clause */
/* Marks what the library offers to its users.  Stable. */
#ifndef TRACKWAY_EXPORT_H
#define TRACKWAY_EXPORT_H

#if defined(_WIN32) && defined(TW_BUILDING)
#define TW_API __declspec(dllexport)
#define TW_MUST_USE
#elif defined(__GNUC__)
#define TW_API      __attribute__((visibility("default")))
#define TW_MUST_USE __attribute__((warn_unused_result))
#else
#define TW_API
#define TW_MUST_USE
#endif

/* Structs without a name inside of unions without a name: C11 has them, C++ as an extension that
   compilers are not to warn of. */
#if defined(__GNUC__) && defined(__cplusplus)
#define TW_EXTENSION __extension__
#else
#define TW_EXTENSION
#endif

#endif
