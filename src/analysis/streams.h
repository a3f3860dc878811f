/* SPDX-License-Identifier: BSD-2-Clause */
/* What an analysis keeps for each stream of a run (tw_part.stream), or for each ring: an array that
   grows, zeros where nothing was kept yet. */
#ifndef ANALYSIS_STREAMS_H
#define ANALYSIS_STREAMS_H

#include <string.h>

#include "base/memory.h"

struct tw_streams {
    const struct tw_allocator *allocator;
    size_t item_size;
    unsigned char *items;
    size_t count, room; /* in items */
};

static inline void tw_streams_init(struct tw_streams *streams, size_t item_size,
                                   const struct tw_allocator *allocator)
{
    *streams = (struct tw_streams){ .allocator = allocator, .item_size = item_size };
}

static inline void tw_streams_free(struct tw_streams *streams)
{
    tw_give(streams->allocator, streams->items);
    streams->items = NULL;
    streams->count = streams->room = 0;
}

/* NULL: nothing was kept for this number. */
static inline void *tw_streams_at(const struct tw_streams *streams, size_t number)
{
    return number < streams->count ? streams->items + number * streams->item_size : NULL;
}

/* The same, made when it is new; NULL: no memory.  Those of other numbers may move. */
static inline void *tw_streams_put(struct tw_streams *streams, size_t number)
{
    if (number >= streams->count) {
        if (!tw_grow(streams->allocator, (void **)&streams->items, &streams->room, number + 1,
                     streams->item_size))
            return NULL;
        memset(streams->items + streams->count * streams->item_size, 0,
               (number + 1 - streams->count) * streams->item_size);
        streams->count = number + 1;
    }
    return streams->items + number * streams->item_size;
}

#endif
