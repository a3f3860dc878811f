/* SPDX-License-Identifier: BSD-2-Clause */
/* Events of all tracks in one order, for formats whose times must not decrease: a window of those that
   came last is held, and the earliest leaves it first. */
#ifndef EXPORT_TIMELINE_ORDER_H
#define EXPORT_TIMELINE_ORDER_H

#include "export/timeline_writer.h"

enum { TW_ORDERED_TEXT = 64 }; /* bytes of a mark's text that are kept */

struct tw_ordered {
    uint64_t time, number; /* equal times: as they came */
    struct tw_timeline_event event;
    char text[TW_ORDERED_TEXT];
};

struct tw_timeline_order {
    struct tw_ordered *heap; /* the least at the top */
    size_t count, room;
    uint64_t number;
    uint64_t last; /* time of the last one that left */
    /* `time` does not decrease; the event has no `begin`. */
    void (*give)(struct tw_timeline_writer *writer, const struct tw_timeline_event *event,
                 uint64_t time);
};

void tw_timeline_order_take(struct tw_timeline_order *order, struct tw_timeline_writer *writer,
                            const struct tw_timeline_event *event);
void tw_timeline_order_end(struct tw_timeline_order *order, struct tw_timeline_writer *writer);
void tw_timeline_order_release(struct tw_timeline_order *order,
                               struct tw_timeline_writer *writer);

#endif
