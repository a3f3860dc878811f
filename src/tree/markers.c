/* SPDX-License-Identifier: BSD-2-Clause */
/* Triggers and flushes that the formatter marks in its frames, as elements of an ID of their own. */
#include "tree/markers.h"

#include <string.h>

#include "base/memory.h"

static bool is_marker(const struct tw_frame_event *event)
{
    return event->kind == TW_FRAME_TRIGGER || event->kind == TW_FRAME_FLUSH;
}

enum tw_status tw_markers_take(struct tw_tree *tree)
{
    struct tw_markers *markers = &tree->markers;
    const struct tw_frame_event *events;
    size_t count, wanted = 0;

    if (!tree->config.markers || !tree->unframer || tree->config.packets_only ||
        tree->config.counter)
        return TW_OK;
    events = tw_unframer_events(tree->unframer, &count);
    for (size_t i = 0; i < count; i++)
        wanted += is_marker(&events[i]);
    if (!wanted)
        return TW_OK;
    if (markers->given) { /* those were handed out */
        markers->count -= markers->given;
        memmove(markers->items, markers->items + markers->given,
                markers->count * sizeof *markers->items);
        markers->given = 0;
    }
    if (!TW_GROW(tree->config.allocator, &markers->items, &markers->room,
                 markers->count + wanted))
        return TW_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct tw_element *out;

        if (!is_marker(&events[i]))
            continue;
        out = &markers->items[markers->count++];
        *out = (struct tw_element){ .index = events[i].offset, .type = TW_ELEMENT_EVENT };
        out->kind = events[i].kind == TW_FRAME_TRIGGER ? TW_EVENT_TRIGGER : TW_EVENT_FLUSH;
        out->count = events[i].value;
    }
    return TW_OK;
}

void tw_markers_hand_out(struct tw_tree *tree, struct tw_batch *batch, uint64_t before)
{
    struct tw_markers *markers = &tree->markers;
    size_t until = markers->given;

    while (until < markers->count && markers->items[until].index + 1 < before)
        until++;
    batch->elements = markers->items + markers->given;
    batch->count = batch->room = until - markers->given;
    batch->user = NULL;
    batch->source = UINT32_MAX;
    batch->id = TW_ID_TRIGGER;
    batch->src = TW_NO_SRC;
    batch->src_is_id = false;
    markers->given = until;
}
