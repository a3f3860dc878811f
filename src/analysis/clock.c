/* SPDX-License-Identifier: BSD-2-Clause */
/* Events wait for the timestamp after them, and get their times from the two around them. */
#include "analysis/clock.h"

#include "base/memory.h"

enum {
    WAITING_MOST = 1 << 16 /* beyond, events go on without a time that they are not after */
};

#define NO_GAP SIZE_MAX

void tw_event_clock_init(struct tw_event_clock *clock, const struct tw_allocator *allocator)
{
    *clock = (struct tw_event_clock){ .gap_at = NO_GAP, .allocator = allocator };
}

void tw_event_clock_release(struct tw_event_clock *clock)
{
    tw_give(clock->allocator, clock->waiting);
    clock->waiting = NULL;
    clock->count = clock->room = 0;
}

/* What was spent from one place to another: cycles where they are counted, else instructions. */
struct cost {
    bool is_cycles;
};

static double spent(struct cost cost, uint64_t instructions, uint64_t cycles,
                    const struct tw_anchor *since)
{
    const uint64_t now = cost.is_cycles ? cycles : instructions;
    const uint64_t then = cost.is_cycles ? since->cycles : since->instructions;

    return now > then ? (double)(now - then) : 0.0;
}

/* Between two timestamps with no loss between them: by the part of the cost. */
static uint64_t spread(const struct tw_moment *moment, const struct tw_anchor *low,
                       const struct tw_anchor *high)
{
    const struct cost cost = { high->cycles > low->cycles };
    const double whole = spent(cost, high->instructions, high->cycles, low);
    const double part = spent(cost, moment->position, moment->cycles, low);

    if (part >= whole)
        return moment->is_late && !(whole > 0.0) ? low->time : high->time;
    return low->time + (uint64_t)((double)(high->time - low->time) * (part / whole));
}

/* Trace is missing between the two, and nobody knows for how long: what is before it goes on as fast as
   it went before `low`, and what comes after is as fast up to `high`. */
static uint64_t around_gap(const struct tw_event_clock *clock, const struct tw_moment *moment,
                           const struct tw_anchor *high, bool is_after)
{
    const struct tw_anchor *low = &clock->last;
    const struct cost cost = { clock->anchor_count > 1 && low->cycles > clock->before.cycles &&
                               high->cycles > low->cycles };
    const double time = (double)(high->time - low->time);
    double rate = 0.0, at;

    if (clock->anchor_count > 1) {
        const double before = spent(cost, low->instructions, low->cycles, &clock->before);

        if (before > 0.0)
            rate = (double)(low->time - clock->before.time) / before;
    }
    if (is_after) {
        const struct tw_anchor here = { moment->position, moment->cycles, 0 };

        at = time - rate * spent(cost, high->instructions, high->cycles, &here);
    } else {
        at = rate * spent(cost, moment->position, moment->cycles, low);
    }
    return low->time + (at <= 0.0 ? 0 : at >= time ? high->time - low->time : (uint64_t)at);
}

static void give(struct tw_event_clock *clock, const struct tw_moment *moment,
                 struct tw_times times)
{
    if (times.estimate != TW_TIME_UNKNOWN) {
        if (times.estimate < clock->estimate &&
            (times.high == TW_TIME_UNKNOWN || times.high >= clock->estimate))
            times.estimate = clock->estimate;
        clock->estimate = times.estimate;
    }
    clock->give(clock->context, moment, &times);
}

static struct tw_times unknown_end(const struct tw_event_clock *clock)
{
    struct tw_times times = { TW_TIME_UNKNOWN, TW_TIME_UNKNOWN, TW_TIME_UNKNOWN };

    if (clock->anchor_count)
        times.low = times.estimate = clock->last.time;
    return times;
}

void tw_event_clock_flush(struct tw_event_clock *clock)
{
    const struct tw_times times = unknown_end(clock);

    for (size_t i = 0; i < clock->count; i++)
        give(clock, &clock->waiting[i], times);
    clock->count = 0;
    clock->gap_at = NO_GAP;
}

/* A branch that was taken right before a timestamp happened before it, though where it led is seen
   only after: an event belongs to the stretch that ends with its last instruction.  Not so what a thread
   does first when it comes from elsewhere, which its floor shows. */
static bool is_before_last(const struct tw_event_clock *clock, const struct tw_moment *moment)
{
    return clock->anchor_count && !clock->count && !moment->is_late &&
           moment->position <= clock->last.instructions && moment->floor <= clock->first;
}

void tw_event_clock_take(struct tw_event_clock *clock, const struct tw_moment *moment)
{
    if (is_before_last(clock, moment)) {
        const struct tw_anchor high = { clock->last.instructions, clock->last.cycles,
                                        clock->first };
        struct tw_times times = { TW_TIME_UNKNOWN, high.time, high.time };

        if (clock->anchor_count > 1) {
            times.low = clock->before.time;
            times.estimate = spread(moment, &clock->before, &high);
        }
        give(clock, moment, times);
        return;
    }
    if (clock->count == WAITING_MOST ||
        !TW_GROW(clock->allocator, &clock->waiting, &clock->room, clock->count + 1))
        tw_event_clock_flush(clock);
    if (clock->count >= clock->room) {
        give(clock, moment, unknown_end(clock));
        return;
    }
    clock->waiting[clock->count++] = *moment;
    if (moment->has_gap && clock->gap_at == NO_GAP)
        clock->gap_at = clock->count;
}

void tw_event_clock_anchor(struct tw_event_clock *clock, const struct tw_anchor *anchor)
{
    if (clock->anchor_count && anchor->time < clock->last.time) {
        clock->backwards++; /* it begins again: nothing is known between the two */
        tw_event_clock_flush(clock);
        clock->anchor_count = 0;
        clock->estimate = 0;
    }
    for (size_t i = 0; i < clock->count; i++) {
        const struct tw_moment *moment = &clock->waiting[i];
        struct tw_times times = { TW_TIME_UNKNOWN, anchor->time, anchor->time };

        if (clock->anchor_count) {
            times.low = clock->last.time;
            times.estimate = clock->gap_at == NO_GAP
                                 ? spread(moment, &clock->last, anchor)
                                 : around_gap(clock, moment, anchor, i >= clock->gap_at);
        }
        give(clock, moment, times);
    }
    clock->count = 0;
    clock->gap_at = NO_GAP;
    if (clock->anchor_count && clock->last.instructions == anchor->instructions) {
        clock->last = *anchor; /* nothing was executed between them */
        return;
    }
    clock->before = clock->last;
    clock->last = *anchor;
    clock->first = anchor->time;
    if (clock->anchor_count < 2)
        clock->anchor_count++;
}
