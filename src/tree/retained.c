/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements that callers keep.  The memory of a batch is shared by the branch that made it and by whoever
   keeps a part of it; the last of them gives it back. */
#include "tree/retained.h"

#include <string.h>

#include "base/memory.h"

struct tw_retained {
    atomic_size_t owners;
    struct tw_element *elements;
    struct tw_allocator allocator;
    bool has_allocator;
};

void tw_retained_free(struct tw_retained *retained)
{
    struct tw_allocator allocator;
    const struct tw_allocator *from;

    if (!retained || atomic_fetch_sub_explicit(&retained->owners, 1, memory_order_acq_rel) != 1)
        return;
    allocator = retained->allocator;
    from = retained->has_allocator ? &allocator : NULL;
    tw_give(from, retained->elements);
    tw_give(from, retained);
}

void tw_retained_leave(struct tw_branch *branch)
{
    if (!branch->retained)
        return;
    tw_retained_free(branch->retained);
    branch->retained = NULL;
    branch->elements = NULL;
}

static struct tw_retained *make(struct tw_element *elements,
                                const struct tw_allocator *allocator)
{
    struct tw_retained *made = tw_take(allocator, sizeof *made);

    if (!made)
        return NULL;
    made->elements = elements;
    made->has_allocator = allocator != NULL;
    if (allocator)
        made->allocator = *allocator;
    atomic_init(&made->owners, 1);
    return made;
}

struct tw_retained *tw_retained_copy(struct tw_element **elements, size_t count,
                                     const struct tw_allocator *allocator)
{
    struct tw_element *copy = tw_take_raw(allocator, (count + !count) * sizeof *copy);
    struct tw_retained *made = copy ? make(copy, allocator) : NULL;

    if (!made) {
        tw_give(allocator, copy);
        return NULL;
    }
    memcpy(copy, *elements, count * sizeof *copy);
    *elements = copy;
    return made;
}

static struct tw_branch *find_branch(const struct tw_tree *tree,
                                     const struct tw_element *elements)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        const uintptr_t first = (uintptr_t)branch->elements, at = (uintptr_t)elements;

        if (first && at >= first && at - first < tree->config.batch_room * sizeof *elements)
            return branch;
    }
    return NULL;
}

enum tw_status tw_tree_retain(struct tw_retained **retained, struct tw_tree *tree,
                              const struct tw_element *elements)
{
    struct tw_branch *branch = find_branch(tree, elements);

    *retained = NULL;
    if (!branch)
        return TW_END;
    if (!branch->retained)
        branch->retained = make(branch->elements, tree->config.allocator);
    if (!branch->retained)
        return TW_E_MEMORY;
    (void)atomic_fetch_add_explicit(&branch->retained->owners, 1, memory_order_relaxed);
    *retained = branch->retained;
    return TW_OK;
}
