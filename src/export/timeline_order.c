/* SPDX-License-Identifier: BSD-2-Clause */
/* A heap of the events that came last. */
#include "export/timeline_order.h"

#include <string.h>

#include "base/memory.h"

enum { HELD = 1 << 14 };

static bool is_before(const struct tw_ordered *a, const struct tw_ordered *b)
{
    return a->time != b->time ? a->time < b->time : a->number < b->number;
}

static void swap(struct tw_ordered *a, struct tw_ordered *b)
{
    const struct tw_ordered was = *a;

    *a = *b;
    *b = was;
}

static void sink_down(struct tw_timeline_order *order)
{
    size_t at = 0;

    for (;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < order->count; child++)
            if (is_before(&order->heap[child], &order->heap[least]))
                least = child;
        if (least == at)
            return;
        swap(&order->heap[at], &order->heap[least]);
        at = least;
    }
}

static void give_least(struct tw_timeline_order *order, struct tw_timeline_writer *writer)
{
    struct tw_ordered least = order->heap[0];

    order->heap[0] = order->heap[--order->count];
    sink_down(order);
    if (least.event.text)
        least.event.text = least.text;
    if (least.time > order->last)
        order->last = least.time;
    order->give(writer, &least.event, order->last);
}

void tw_timeline_order_take(struct tw_timeline_order *order, struct tw_timeline_writer *writer,
                            const struct tw_timeline_event *event)
{
    struct tw_ordered *made;
    size_t at;

    if (order->count == HELD)
        give_least(order, writer);
    if (!TW_GROW(writer->sink.allocator, &order->heap, &order->room, order->count + 1)) {
        writer->sink.lacks_memory = true;
        return;
    }
    at = order->count++;
    made = &order->heap[at];
    made->time = tw_timeline_ns(writer, &event->times);
    made->number = order->number++;
    made->event = *event;
    made->event.begin = NULL;
    if (event->text) {
        if (made->event.text_size > TW_ORDERED_TEXT)
            made->event.text_size = TW_ORDERED_TEXT;
        memcpy(made->text, event->text, made->event.text_size);
    }
    for (; at && is_before(&order->heap[at], &order->heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&order->heap[at], &order->heap[(at - 1) / 2]);
}

void tw_timeline_order_end(struct tw_timeline_order *order, struct tw_timeline_writer *writer)
{
    while (order->count)
        give_least(order, writer);
}

void tw_timeline_order_release(struct tw_timeline_order *order,
                               struct tw_timeline_writer *writer)
{
    tw_give(writer->sink.allocator, order->heap);
    order->heap = NULL;
    order->count = order->room = 0;
}
