/* SPDX-License-Identifier: BSD-2-Clause */
/* One hypothesis put to the test: the reader of a protocol, configured in some way, reads the samples. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/members.h"
#include "base/memory.h"
#include "identify/identify.h"

enum { TEXT_MOST = 1024 };

enum tw_status tw_trial_configure(void *config, const struct tw_protocol *protocol,
                                  const struct tw_settings *settings)
{
    struct tw_register registers[TW_SETTINGS_MOST];
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);
    struct tw_source_info info = { .registers = registers, .id = 1, .text = lines };
    struct tw_fault fault;

    lines[0] = 0;
    tw_settings_print(&text, settings);
    for (char *at = lines; *at; at++)
        if (*at == ',')
            *at = '\n';
    for (size_t i = 0; i < settings->count; i++)
        if (!settings->items[i].word)
            registers[info.register_count++] =
                (struct tw_register){ settings->items[i].name, settings->items[i].value };
    return protocol->configure(config, &info, &fault);
}

static void note_page(struct tw_trial *trial, uint64_t page)
{
    const size_t mask = TW_TRIAL_PAGES - 1;
    size_t at = (size_t)((page * 0x9e3779b97f4a7c15u) >> 40) & mask;

    if (trial->pages > TW_TRIAL_PAGES / 2)
        return;
    while (trial->page[at] && trial->page[at] != page + 1)
        at = (at + 1) & mask;
    trial->pages += trial->page[at] == 0;
    trial->page[at] = page + 1;
}

/* What is looked at from packet to packet. */
struct watch {
    struct tw_members_here members;
    struct tw_image *image;
    uint64_t last_time, last_address;
    unsigned since_sync; /* packets; 0: none is awaited */
    bool was_synced;     /* in this stretch */
};

/* About the binary logarithm. */
static double magnitude(uint64_t value)
{
    double bits = 0;

    for (; value; value >>= 1)
        bits++;
    return bits;
}

static void look_at_address(struct tw_trial *trial, struct watch *watch, uint64_t address,
                            bool is_begin)
{
    uint8_t byte;

    trial->addresses++;
    trial->odd += address & 1;
    note_page(trial, address >> 20);
    if (is_begin) {
        const uint64_t from = watch->last_address;

        trial->begins++;
        trial->leaps += magnitude(address > from ? address - from : from - address);
    }
    watch->last_address = address;
    if (watch->image)
        trial->inside +=
            tw_image_read(watch->image, &byte, &(struct tw_view){ .space = TW_SPACE_ANY },
                          address & ~(uint64_t)1, 1);
}

static void look_at_member(struct tw_trial *trial, struct watch *watch,
                           const struct tw_member *item, bool is_begin)
{
    const char *key = item->type->key;

    if (strcmp(key, "addr") == 0 || strcmp(key, "address") == 0 || strcmp(key, "faddr") == 0) {
        look_at_address(trial, watch, item->number, is_begin);
    } else if (strcmp(key, "ts") == 0) {
        trial->times++;
        trial->backward += item->number < watch->last_time;
        watch->last_time = item->number;
    } else if (strcmp(key, "cid") == 0) {
        trial->cids++;
    } else if (strcmp(key, "vmid") == 0) {
        trial->vmids++;
    } else if (strcmp(key, "cc") == 0) {
        trial->cycles++;
    } else if (strcmp(key, "spec_depth") == 0 && item->number > trial->depth) {
        trial->depth = item->number;
    }
}

/* Addresses and times of a packet are seen in what its line would say. */
static void look_inside(struct tw_trial *trial, struct watch *watch, const void *packet,
                        unsigned kind)
{
    struct tw_members *list = tw_members_start(&watch->members, TW_MEMBER_LISTED);
    const struct tw_member_table *table = trial->protocol->members;

    if (!table || !table->put)
        return;
    list->types = table->rows;
    table->put(list, trial->protocol, packet);
    for (size_t i = 0; i < list->count; i++)
        look_at_member(trial, watch, &list->items[i],
                       kind == TW_PACKET_INFO || kind == TW_PACKET_SYNC);
}

static void count_packet(struct tw_trial *trial, struct watch *watch, const void *packet,
                         uint8_t first)
{
    const struct tw_packet *base = packet;
    const unsigned kind = tw_type_kind(trial->protocol, base->type);

    trial->bytes += base->size;
    if (kind == TW_PACKET_NOT_SYNC) {
        *(watch->was_synced ? &trial->unsynced : &trial->head) += base->size;
        watch->since_sync = 0;
        return;
    }
    watch->was_synced = true;
    trial->kinds[kind % TW_TRIAL_KINDS]++;
    if (kind == TW_PACKET_PADDING) {
        trial->padding += base->size;
        return;
    }
    trial->packets++;
    trial->first_bytes[first]++;
    if (tw_kind_is_bad(kind)) {
        trial->bad += kind == TW_PACKET_BAD;
        trial->bad_bytes += base->size;
        watch->since_sync = 0;
        return;
    }
    if (watch->since_sync && kind == TW_PACKET_INFO) {
        trial->greeted++;
        watch->since_sync = 0;
    } else if (watch->since_sync && ++watch->since_sync > 3) {
        watch->since_sync = 0;
    }
    if (kind == TW_PACKET_SYNC) {
        trial->syncs++;
        watch->since_sync = 1;
    }
    look_inside(trial, watch, packet, kind);
}

static void read_piece(struct tw_trial *trial, struct watch *watch, void *reader, void *packet,
                       const uint8_t *bytes, size_t size)
{
    const bool is_bits = (trial->protocol->flags & TW_PROTOCOL_BITS) != 0;
    const struct tw_packet *base = packet;
    size_t at = 0;

    while (at < size) {
        size_t used;

        if (trial->protocol->read(reader, packet, bytes + at, size - at, false) != TW_OK)
            return;
        used = base->size - (is_bits && base->spare_bits != 0);
        count_packet(trial, watch, packet, bytes[at]);
        at += used;
    }
}

/* Counts start anew; protocol and settings stay. */
static void start(struct tw_trial *trial)
{
    const struct tw_trial old = *trial;

    *trial = (struct tw_trial){ .suspect = old.suspect,
                                .protocol = old.protocol,
                                .settings = old.settings };
}

enum tw_status tw_trial_run(struct tw_trial *trial, const struct tw_sampled *sampled,
                            size_t most, struct tw_image *image,
                            const struct tw_allocator *allocator)
{
    const struct tw_protocol *protocol = trial->protocol;
    const size_t config_size = (protocol->config_size + 63) & ~(size_t)63;
    const size_t reader_size = (protocol->reader_size + 63) & ~(size_t)63;
    char *memory = tw_take(allocator, config_size + reader_size + protocol->packet_size);
    const size_t size = sampled->size < most ? sampled->size : most;
    struct watch watch;
    enum tw_status status;
    size_t from = 0;

    start(trial);
    if (!memory)
        return TW_E_MEMORY;
    watch.image = image;
    watch.last_time = watch.last_address = 0;
    status = tw_trial_configure(memory, protocol, &trial->settings);
    if (status == TW_OK)
        protocol->reader_init(memory + config_size, memory);
    for (size_t i = 0; status == TW_OK && i <= sampled->cut_count && from < size; i++) {
        size_t to = i < sampled->cut_count ? sampled->cuts[i] : size;

        to = to < size ? to : size;
        if (i)
            protocol->reader_lost(memory + config_size);
        watch.since_sync = 0;
        watch.was_synced = false;
        read_piece(trial, &watch, memory + config_size, memory + config_size + reader_size,
                   sampled->bytes + from, to - from);
        from = to;
    }
    tw_give(allocator, memory);
    return status;
}
