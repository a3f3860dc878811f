/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements that callers keep: their memory is not used again. */
#ifndef TREE_RETAINED_H
#define TREE_RETAINED_H

#include "tree/branch.h"

/* The branch wants to write elements, or ends: memory that somebody keeps is theirs from now on. */
void tw_retained_leave(struct tw_branch *branch);
/* A copy, which *elements points at then; NULL: no memory, and nothing has changed. */
struct tw_retained *tw_retained_copy(struct tw_element **elements, size_t count,
                                     const struct tw_allocator *allocator);

#endif
