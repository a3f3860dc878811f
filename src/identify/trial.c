/* SPDX-License-Identifier: BSD-2-Clause */
/* One hypothesis put to the test: the reader of a protocol, configured in some way, reads the samples. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/members.h"
#include "base/memory.h"
#include "identify/identify.h"

enum {
    TEXT_MOST = 1024,
    PIECE = 1024,       /* a reader that searches the next packet searches no further at once */
    FAIR_CHANCE = 4096, /* bytes after which a reader that makes nothing of them is stopped */
    SEARCHING_COST = 16, /* ... of a byte that is skipped, or read in vain */
};

enum tw_status tw_trial_configure(void *config, const struct tw_protocol *protocol,
                                  const struct tw_settings *settings)
{
    struct tw_register registers[TW_SETTINGS_MOST];
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);
    struct tw_source_info info = { .registers = registers, .id = 1, .text = lines };
    struct tw_fault fault;

    lines[0] = 0;
    tw_settings_print(&text, settings, "\n");
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

    if (strcmp(key, "addr") == 0 || strcmp(key, "address") == 0) {
        look_at_address(trial, watch, item->number, is_begin);
    } else if (strcmp(key, "faddr") == 0) { /* N-Trace leaves out bit 0 */
        look_at_address(trial, watch, item->number << 1, is_begin);
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
    } else if (strcmp(key, "ioptions") == 0) {
        trial->options |= item->number;
    } else if (strcmp(key, "spec_depth") == 0 && item->number > trial->depth) {
        trial->depth = item->number;
    }
}

#define DIGEST_PRIME 0x100000001b3u /* FNV-1a's */

/* Addresses and times of a packet are seen in what its line would say. */
static void look_inside(struct tw_trial *trial, struct watch *watch,
                        const struct tw_reading *step)
{
    const struct tw_members *list = tw_reading_members(step, &watch->members);

    trial->digest = (trial->digest ^ step->kind) * DIGEST_PRIME;
    for (size_t i = 0; i < list->count; i++) {
        trial->digest = (trial->digest ^ list->items[i].number) * DIGEST_PRIME;
        look_at_member(trial, watch, &list->items[i],
                       step->kind == TW_PACKET_INFO || step->kind == TW_PACKET_SYNC);
    }
}

static void count_packet(struct tw_trial *trial, struct watch *watch,
                         const struct tw_reading *step)
{
    const struct tw_packet *base = step->packet;
    const unsigned kind = step->kind;

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
    look_inside(trial, watch, step);
}

/* More than half of what came after the first synchronization could not be read. */
static bool is_hopeless(const struct tw_trial *trial)
{
    return trial->bytes >= FAIR_CHANCE && (trial->unsynced + trial->bad_bytes) * 2 >
                                              trial->bytes - trial->head + FAIR_CHANCE / 2;
}

/* Counts start anew; protocol and settings stay. */
static void start(struct tw_trial *trial)
{
    const struct tw_trial old = *trial;

    *trial = (struct tw_trial){ .suspect = old.suspect,
                                .protocol = old.protocol,
                                .settings = old.settings,
                                .chain = old.chain,
                                .links = old.links };
}

static uint64_t cost(const struct tw_trial *trial)
{
    /* Synchronization sequences are looked for quickly; where there are none, every byte is tried. */
    const uint64_t searched = trial->suspect->has_sync ? 0 : trial->head + trial->unsynced;

    return TW_TRIAL_COST + trial->bytes + SEARCHING_COST * (searched + trial->bad_bytes);
}

/* From cut to cut. */
static void read_stretches(struct tw_trial *trial, const struct tw_search *search,
                           struct tw_reading *step)
{
    const struct tw_sampled *sampled = search->sampled;
    const size_t size = sampled->size < search->most ? sampled->size : search->most;
    struct watch watch;
    size_t from = 0;

    watch.image = search->image;
    watch.last_time = watch.last_address = 0;
    for (size_t i = 0; i <= sampled->cut_count && from < size; i++) {
        size_t to = i < sampled->cut_count ? sampled->cuts[i] : size;

        to = to < size ? to : size;
        if (i)
            tw_reading_lose(step);
        watch.since_sync = 0;
        watch.was_synced = false;
        while (!trial->is_abandoned &&
               tw_reading_next(step, sampled->bytes + from, to - from)) {
            count_packet(trial, &watch, step);
            trial->is_abandoned = is_hopeless(trial);
        }
        from = to;
    }
}

enum tw_status tw_trial_run(struct tw_trial *trial, const struct tw_search *search)
{
    struct tw_reading step;
    enum tw_status status;
    uint64_t spent;

    start(trial);
    status = tw_reading_start(&step, trial->protocol, &trial->settings, search->bench,
                              search->allocator);
    if (status == TW_OK)
        read_stretches(trial, search, &step);
    spent = cost(trial);
    search->budget->left -= spent < search->budget->left ? spent : search->budget->left;
    return status;
}
