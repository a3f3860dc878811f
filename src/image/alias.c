/* SPDX-License-Identifier: BSD-2-Clause */
/* An image as another thread sees it: the same regions, caches of its own. */
#include "base/memory.h"
#include "image/image.h"
#include "image/store.h"

void tw_image_alias_refresh(struct tw_image *alias)
{
    const struct tw_image *parent = alias->parent;

    if (alias->generation == parent->generation)
        return;
    tw_pages_free(alias);
    tw_image_forget_hits(alias);
    alias->regions = parent->regions;
    alias->count = parent->count;
    alias->layers = parent->layers;
    alias->layer_count = parent->layer_count;
    alias->has_times = parent->has_times;
    alias->cache.read = parent->cache.read;
    alias->cache.context = parent->cache.context;
    alias->generation = parent->generation;
    tw_image_keep_hits(alias);
}

struct tw_image *tw_image_alias_new(struct tw_image *parent,
                                    const struct tw_allocator *allocator)
{
    struct tw_image *alias = tw_take(allocator, sizeof *alias);

    if (!alias)
        return NULL;
    if (allocator) {
        alias->allocator_copy = *allocator;
        alias->allocator = &alias->allocator_copy;
    }
    alias->parent = parent;
    tw_image_alias_refresh(alias);
    return alias;
}

void tw_image_alias_free(struct tw_image *alias)
{
    struct tw_allocator allocator;
    bool is_ours;

    if (!alias)
        return;
    tw_pages_free(alias);
    tw_give(alias->allocator, alias->kept.hits);
    allocator = alias->allocator_copy; /* the alias itself holds it */
    is_ours = !alias->allocator;
    tw_give(is_ours ? NULL : &allocator, alias);
}
