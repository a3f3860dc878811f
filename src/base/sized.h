/* SPDX-License-Identifier: BSD-2-Clause */
/* Structs of the interface that begin with `size_t size`, the caller's sizeof: they may grow at their
   end, and callers built before or after that are served all the same. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include <trackway/status.h>

/* Copies the caller's struct into `ours`, whose size becomes our_size: what a smaller one lacks is zero,
   what a larger one has more must be zero, as it would be ignored.  `what` names it in faults. */
enum tw_status tw_sized_take(void *ours, size_t our_size, const void *theirs, const char *what,
                             struct tw_fault *fault) TW_MUST_USE;

/* Copies a result into the caller's struct, of which only `size` is set: what it lacks is left out,
   what it has more is zero.  False: its size cannot be. */
bool tw_sized_give(void *theirs, const void *ours, size_t our_size) TW_MUST_USE;

/* Member `number` of a caller's array of such structs: all are as large as the first says. */
const void *tw_sized_at(const void *array, size_t number);

/* Same, for two pointers of one type, which the compiler looks at. */
#define TW_SIZED_TAKE(ours, theirs, what, fault)                                               \
    tw_sized_take((ours), sizeof *(ours), 1 ? (theirs) : (ours), (what), (fault))
#define TW_SIZED_GIVE(theirs, ours)                                                            \
    tw_sized_give((theirs), 1 ? (ours) : (theirs), sizeof *(ours))

#endif
