/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether what stands at the beginning of a file goes on from what stands at its end, as in a ring buffer.

   E-Trace and N-Trace tell most addresses by their distance from the one before.  Read behind the end, the
   first of a ring buffer become addresses that the program was at before; read behind anything else they
   do not. */
#include <string.h>

#include "base/memory.h"
#include "identify/wrap.h"

enum {
    ADDRESSES_MOST = 1 << 14, /* that are kept: a power of two */
    PACKETS_MOST = 1 << 18,   /* that are looked at */
    HEAD_MOST = 1024,         /* bytes at the beginning that are looked at */
    TAIL_MOST = 64 << 10,
    RAGGED = 8,
    TOLD_LEAST = 4, /* addresses that show that nothing goes on */
    KNOWN_LEAST = 64
};

enum round { CANNOT_TELL, GOES_ON, BREAKS_OFF };

struct round_addresses {
    uint64_t known[ADDRESSES_MOST]; /* + 1; 0: free */
    size_t count;
    size_t told; /* with those that came again */
};

/* What is read of a stream. */
struct round_reading {
    struct tw_reading step;
    struct tw_members_here members;
    uint64_t address; /* the last one */
    bool has_base;    /* ... and it is known */
};

bool tw_wrap_is_ragged(const struct wrap_course *course, const struct wrap_stream *thread)
{
    return !thread->trial->suspect->has_sync &&
           (course->breaks > RAGGED || (course->breaks && course->starts == 1));
}

static bool has_addresses(const struct wrap_stream *thread)
{
    return !thread->trial->suspect->has_sync && !thread->trial->suspect->is_data;
}

static uint64_t *slot_of(struct round_addresses *addresses, uint64_t address)
{
    size_t at = (size_t)((address * 0x9e3779b97f4a7c15u) >> 40) % ADDRESSES_MOST;

    while (addresses->known[at] && addresses->known[at] != address + 1)
        at = (at + 1) % ADDRESSES_MOST;
    return &addresses->known[at];
}

/* The address that the packet tells; false: none, or it is not known from where it counts. */
static bool address_of(struct round_reading *reading, uint64_t *address)
{
    const struct tw_members *list = tw_reading_members(&reading->step, &reading->members);
    bool is_any = false;

    for (size_t i = 0; i < list->count; i++) {
        const struct tw_member *item = &list->items[i];
        const char *key = item->type->key;

        if (strcmp(key, "address") == 0) { /* E-Trace: its reader knows the one before */
            reading->address = item->number;
            is_any = true;
        } else if (strcmp(key, "faddr") == 0) {
            reading->address = item->number;
            is_any = true;
        } else if (strcmp(key, "uaddr") == 0) {
            reading->address ^= item->number;
            is_any = true;
        }
    }
    if (is_any && reading->step.kind == TW_PACKET_SYNC)
        reading->has_base = true;
    *address = reading->address;
    return is_any && reading->has_base;
}

static bool start_reading(struct round_reading *reading, const struct wrap_search *search,
                          const struct wrap_stream *thread)
{
    reading->address = 0;
    reading->has_base = false;
    return tw_reading_start(&reading->step, thread->trial->protocol, &thread->trial->settings,
                            &search->inquiry->bench, search->inquiry->allocator) == TW_OK;
}

/* All addresses of the stream but those at its beginning. */
static void collect(struct round_addresses *addresses, const struct wrap_search *search,
                    const struct wrap_stream *thread)
{
    struct round_reading reading;
    uint64_t address;

    if (!start_reading(&reading, search, thread))
        return;
    for (unsigned n = 0; n < PACKETS_MOST && addresses->count < ADDRESSES_MOST / 2 &&
                         tw_reading_next(&reading.step, thread->bytes, thread->size);
         n++)
        if (address_of(&reading, &address) && reading.step.at >= HEAD_MOST) {
            uint64_t *slot = slot_of(addresses, address);

            addresses->told++;
            addresses->count += *slot == 0;
            *slot = address + 1;
        }
}

/* Reads the end, and then the beginning behind it up to its first synchronization. */
static enum round compare_head(struct round_addresses *addresses,
                               const struct wrap_search *search,
                               const struct wrap_stream *joined, size_t tail)
{
    struct round_reading reading;
    uint64_t address, told = 0, known = 0;

    if (!start_reading(&reading, search, joined))
        return CANNOT_TELL;
    while (tw_reading_next(&reading.step, joined->bytes, joined->size)) {
        /* A packet that reaches over the seam is the first of those that tell. */
        if (!address_of(&reading, &address) || reading.step.next <= tail)
            continue;
        if (reading.step.kind == TW_PACKET_SYNC && reading.step.at >= tail)
            break;
        told++;
        known += *slot_of(addresses, address) != 0;
    }
    /* Programs come to new places, too. */
    if (told && known * 10 >= told * 6)
        return GOES_ON;
    return told >= TOLD_LEAST && addresses->count >= KNOWN_LEAST &&
                   addresses->told >= addresses->count * 3 && known * 10 < told * 3
               ? BREAKS_OFF
               : CANNOT_TELL;
}

static enum round addresses_go_round(const struct wrap_search *search,
                                     const struct wrap_stream *thread,
                                     const struct wrap_course *course)
{
    const struct tw_allocator *allocator = search->inquiry->allocator;
    const size_t tail = thread->size - course->last_sync;
    const size_t head = thread->size / 4 < HEAD_MOST ? thread->size / 4 : HEAD_MOST;
    struct wrap_stream joined = { .trial = thread->trial, .size = tail + head };
    struct round_addresses *addresses;
    enum round answer = CANNOT_TELL;

    if (!course->syncs || tail > TAIL_MOST)
        return CANNOT_TELL;
    addresses = tw_take(allocator, sizeof *addresses);
    joined.bytes = tw_take_raw(allocator, joined.size + 1);
    if (addresses && joined.bytes) {
        memcpy(joined.bytes, thread->bytes + course->last_sync, tail);
        memcpy(joined.bytes + tail, thread->bytes, head);
        collect(addresses, search, thread);
        answer = compare_head(addresses, search, &joined, tail);
    }
    tw_give(allocator, joined.bytes);
    tw_give(allocator, addresses);
    return answer;
}

bool tw_wrap_goes_round(struct wrap_search *search, const struct wrap_course *courses)
{
    const struct tw_allocator *allocator = search->inquiry->allocator;
    bool is_shown = false;

    for (size_t i = 0; i < search->count; i++) {
        const struct wrap_stream *thread = &search->threads[i];
        const size_t head = courses[i].first_sync, last = courses[i].last_sync;
        struct wrap_stream joined = { .trial = thread->trial };
        struct wrap_course course;

        if (has_addresses(thread)) {
            const enum round answer = addresses_go_round(search, thread, &courses[i]);

            if (answer == BREAKS_OFF)
                return false;
            if (answer == GOES_ON) {
                is_shown = true;
                continue;
            }
        }
        if (head == SIZE_MAX || head < HEAD_LEAST)
            continue;
        joined.size = thread->size - last + head;
        joined.bytes = tw_take_raw(allocator, joined.size + 1);
        if (!joined.bytes)
            return false;
        memcpy(joined.bytes, thread->bytes + last, thread->size - last);
        memcpy(joined.bytes + thread->size - last, thread->bytes, head);
        tw_wrap_read(&course, search, &joined);
        tw_give(allocator, joined.bytes);
        if (course.breaks || !course.packets)
            return false;
        /* Where synchronization comes at even intervals, it does there too. */
        if (courses[i].syncs > PERIODS_LEAST &&
            courses[i].longest <= courses[i].shortest * 3 / 2 &&
            (joined.size > courses[i].longest * 5 / 4 ||
             joined.size < courses[i].shortest * 3 / 4))
            return false;
        is_shown = true;
    }
    return is_shown;
}
