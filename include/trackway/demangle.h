/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of C++ and Rust functions as they were written.  Experimental. */
#ifndef TRACKWAY_DEMANGLE_H
#define TRACKWAY_DEMANGLE_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_demangler;

/* The libraries that know how (LLVM's, that of C++) are loaded when the first name needs them.
   TW_E_UNSUPPORTED: this build cannot. */
TW_API TW_MUST_USE enum tw_status tw_demangler_new(struct tw_demangler **demangler,
                                                   const struct tw_allocator *allocator,
                                                   struct tw_fault *fault);
TW_API void tw_demangler_free(struct tw_demangler *demangler);

/* A symbol's name as it was written in the program; `name` itself where it is not mangled, or nothing
   that is there can tell.  Lasts as long as the handle (and `name`). */
TW_API const char *tw_demangle(struct tw_demangler *demangler, const char *name);

#ifdef __cplusplus
}
#endif

#endif
