/* SPDX-License-Identifier: BSD-2-Clause */
/* Libraries that are loaded when something needs them, not with the program: to load all of them takes longer than all
   else that a command does with a small capture.

   What is used of a library is said once, as a list CALLS(CALL) of its functions, whose types are those of its header. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* Puts one function of a library there; C has no conversion from an object's address to a function's.  False: it has none
   of that name, or the library is NULL. */
bool tw_library_take(void *library, void *place, const char *name);
/* The first of these files that is found; NULL: none is. */
void *tw_library_open(const char *const *files, size_t count);
/* The functions of these names, one behind the other.  False: the file is not there, or lacks one.  It stays loaded. */
bool tw_library_load(const char *file, void *places, const char *const *names, size_t count);

/* struct NAME has a pointer to each function, NAME is one of it, to be used when NAME_load has said yes; no means that the
   library is not on this machine.  May be asked again, and by several threads. */
#define TW_LIBRARY(name, CALLS)                                                                \
    struct name {                                                                              \
        CALLS(TW_LIBRARY_MEMBER)                                                               \
    };                                                                                         \
    extern struct name name;                                                                   \
    bool name##_load(void)
#define TW_LIBRARY_MEMBER(function) __typeof__(function) *function;

/* The same, in one source file. */
#ifdef TW_LOAD_LATER
#include <pthread.h>
#define TW_LIBRARY_HERE(name, CALLS, file)                                                     \
    struct name name;                                                                          \
    static bool name##_is_there;                                                               \
    static void name##_look(void)                                                              \
    {                                                                                          \
        static const char *const wanted[] = { CALLS(TW_LIBRARY_NAME) };                        \
                                                                                               \
        _Static_assert(sizeof name == sizeof wanted, "a pointer for each name");               \
        name##_is_there = tw_library_load(file, &name, wanted, TW_LENGTH(wanted));             \
    }                                                                                          \
    bool name##_load(void)                                                                     \
    {                                                                                          \
        static pthread_once_t once = PTHREAD_ONCE_INIT;                                        \
                                                                                               \
        return pthread_once(&once, name##_look) == 0 && name##_is_there;                       \
    }
#define TW_LIBRARY_NAME(function) #function,
#else /* it is linked */
#define TW_LIBRARY_HERE(name, CALLS, file)                                                     \
    struct name name = { CALLS(TW_LIBRARY_ADDRESS) };                                          \
    bool name##_load(void)                                                                     \
    {                                                                                          \
        return true;                                                                           \
    }
#define TW_LIBRARY_ADDRESS(function) function,
#endif

#endif
