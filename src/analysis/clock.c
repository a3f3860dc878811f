/* SPDX-License-Identifier: BSD-2-Clause */
/* Events wait for the timestamp after them, and get their times from the two around them. */
#include "analysis/clock.h"

#include "base/memory.h"

enum {
    WAITING_MOST = 1 << 16 /* beyond, events go on without a time that they are not after */
};

void tw_event_clock_release(struct tw_event_clock *clock)
{
    tw_give(clock->allocator, clock->waiting);
    clock->waiting = NULL;
    clock->count = clock->room = 0;
}

/* The part of the time from a to b that has passed, by cycles where both ends count them. */
static uint64_t estimate(const struct tw_anchor *a, const struct tw_anchor *b,
                         uint64_t instructions, uint64_t cycles)
{
    const bool by_cycles = b->cycles > a->cycles && cycles >= a->cycles && cycles <= b->cycles;
    const uint64_t whole =
        by_cycles ? b->cycles - a->cycles : b->instructions - a->instructions;
    const uint64_t part = by_cycles ? cycles - a->cycles : instructions - a->instructions;

    if (!whole || part >= whole || b->time < a->time)
        return b->time;
    return a->time + (uint64_t)((double)(b->time - a->time) * ((double)part / (double)whole));
}

static void give(struct tw_event_clock *clock, const struct tw_waiting *waiting,
                 const struct tw_anchor *low, const struct tw_anchor *high)
{
    struct tw_timed_event event = waiting->event;

    event.times = (struct tw_times){ TW_TIME_UNKNOWN, TW_TIME_UNKNOWN, TW_TIME_UNKNOWN };
    if (low)
        event.times.low = event.times.estimate = low->time;
    if (high)
        event.times.high = high->time;
    if (low && high)
        event.times.estimate = estimate(low, high, event.event.instructions, waiting->cycles);
    else if (high)
        event.times.estimate = high->time;
    clock->give(clock->context, &event);
}

/* A branch that was taken right before a timestamp happened before it, though where it led is seen
   only after: an event belongs to the stretch that ends with its last instruction. */
void tw_event_clock_take(struct tw_event_clock *clock, const struct tw_call_event *event,
                         uint64_t cycles)
{
    const struct tw_waiting waiting = { .event.event = *event, .cycles = cycles };

    if (clock->anchor_count && event->instructions <= clock->last.instructions &&
        !clock->count) {
        give(clock, &waiting, clock->anchor_count > 1 ? &clock->before : NULL, &clock->last);
        return;
    }
    if (clock->count == WAITING_MOST ||
        !TW_GROW(clock->allocator, &clock->waiting, &clock->room, clock->count + 1))
        tw_event_clock_flush(clock);
    if (clock->count < clock->room)
        clock->waiting[clock->count++] = waiting;
    else
        give(clock, &waiting, clock->anchor_count ? &clock->last : NULL, NULL);
}

void tw_event_clock_anchor(struct tw_event_clock *clock, const struct tw_anchor *anchor)
{
    for (size_t i = 0; i < clock->count; i++)
        give(clock, &clock->waiting[i], clock->anchor_count ? &clock->last : NULL, anchor);
    clock->count = 0;
    if (clock->anchor_count && clock->last.instructions == anchor->instructions) {
        clock->last.time = anchor->time; /* nothing was executed between them */
        return;
    }
    clock->before = clock->last;
    clock->last = *anchor;
    if (clock->anchor_count < 2)
        clock->anchor_count++;
}

void tw_event_clock_not_before(struct tw_event_clock *clock, const struct tw_anchor *anchor)
{
    tw_event_clock_flush(clock);
    clock->last = *anchor;
    clock->anchor_count = 1;
}

void tw_event_clock_flush(struct tw_event_clock *clock)
{
    for (size_t i = 0; i < clock->count; i++)
        give(clock, &clock->waiting[i], clock->anchor_count ? &clock->last : NULL, NULL);
    clock->count = 0;
}
