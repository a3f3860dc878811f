/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets of bytes, one after the other, as a protocol reads them under some settings. */
#include <string.h>

#include "base/compiler.h"
#include "base/members.h"
#include "base/memory.h"
#include "identify/identify.h"

enum { PIECE = 1024 }; /* a reader that searches the next packet searches no further at once */

/* A reader may have a cache for all that can be: it sets to zero itself what it uses. */
static char *bench_memory(struct tw_bench *bench, size_t size,
                          const struct tw_allocator *allocator)
{
    if (bench->size < size) {
        tw_give(allocator, bench->memory);
        bench->memory = tw_take_raw(allocator, size);
        bench->size = bench->memory ? size : 0;
        bench->is_out |= !bench->memory;
    }
    return bench->memory;
}

enum tw_status tw_reading_start(struct tw_reading *step, const struct tw_protocol *protocol,
                                const struct tw_settings *settings, struct tw_bench *bench,
                                const struct tw_allocator *allocator)
{
    const size_t config_size = (protocol->config_size + 63) & ~(size_t)63;
    const size_t reader_size = (protocol->reader_size + 63) & ~(size_t)63;
    char *memory =
        bench_memory(bench, config_size + reader_size + protocol->packet_size, allocator);
    enum tw_status status;

    if (!memory)
        return TW_E_MEMORY;
    *step = (struct tw_reading){ .protocol = protocol,
                                 .reader = memory + config_size,
                                 .packet = memory + config_size + reader_size };
    status = tw_trial_configure(memory, protocol, settings);
    if (status == TW_OK)
        protocol->reader_init(step->reader, memory);
    return status;
}

void tw_reading_lose(struct tw_reading *step)
{
    step->protocol->reader_lost(step->reader);
    step->next = 0;
}

bool tw_reading_next(struct tw_reading *step, const uint8_t *bytes, size_t size)
{
    const bool is_bits = (step->protocol->flags & TW_PROTOCOL_BITS) != 0;
    const struct tw_packet *base = step->packet;

    for (size_t seen = step->protocol->packet_max + PIECE; step->next < size; seen *= 4) {
        const size_t left = size - step->next;
        const size_t given = left < seen ? left : seen;

        if (step->protocol->read(step->reader, step->packet, bytes + step->next, given,
                                 false) == TW_OK) {
            step->at = step->next;
            step->next += base->size - (is_bits && base->spare_bits != 0);
            step->kind = tw_type_kind(step->protocol, base->type);
            return true;
        }
        if (given == left)
            break;
    }
    return false;
}

struct tw_members *tw_reading_members(const struct tw_reading *step,
                                      struct tw_members_here *here)
{
    struct tw_members *list = tw_members_start(here, TW_MEMBER_LISTED);
    const struct tw_member_table *table = step->protocol->members;

    if (table && table->put) {
        list->types = table->rows;
        table->put(list, step->protocol, step->packet);
    }
    return list;
}

/* Why trace is synchronized, as far as it is because tracing begins. */
static const struct {
    const char *key, *name;
    uint64_t numbers; /* bit n: the number n */
} starts[] = {
    { "reason", "trace_enable", 0 }, /* ETMv3, PTM */
    { "reason", "trace_on", 0 },
    { "reason", "debug_exit", 0 },
    /* N-Trace: exit from reset and from debug, trace enable, exit from power down */
    { "sync", NULL, 1u << 1 | 1u << 3 | 1u << 5 | 1u << 9 },
    { "ienable", NULL, 1u << 1 }, /* E-Trace */
};

bool tw_reading_is_start(const struct tw_reading *step)
{
    const struct tw_packet *base = step->packet;
    const char *type = tw_type_name(step->protocol, base->type);
    struct tw_members_here here;
    const struct tw_members *list;

    if (strcmp(type, "I_TRACE_ON") == 0) /* ETMv4, ETE */
        return true;
    if (step->kind != TW_PACKET_SYNC && step->kind != TW_PACKET_INFO)
        return false;
    list = tw_reading_members(step, &here);
    for (size_t i = 0; i < list->count; i++)
        for (size_t k = 0; k < TW_LENGTH(starts); k++) {
            const struct tw_member *item = &list->items[i];

            if (strcmp(item->type->key, starts[k].key) != 0)
                continue;
            if (starts[k].name ? item->text && strcmp(item->text, starts[k].name) == 0
                               : item->number < 64 && (starts[k].numbers >> item->number & 1))
                return true;
        }
    return false;
}

bool tw_reading_time(const struct tw_reading *step, uint64_t *time)
{
    struct tw_members_here here;
    const struct tw_members *list;

    if (step->kind != TW_PACKET_TIME && step->kind != TW_PACKET_SYNC)
        return false;
    list = tw_reading_members(step, &here);
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].type->key, "ts") == 0) {
            *time = list->items[i].number;
            return true;
        }
    return false;
}
