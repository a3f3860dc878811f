/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: bytes to packets. */
#include "skeleton/packet.h"

#include "base/bytes.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum { ANY = 0, TIMESTAMPS = 1 };

/* Seven zeros and 0x80 begin a packet boundary wherever they stand. */
enum { SYNC_SIZE = 8 };

static void read_head_only(struct tw_bytes *in, struct tw_skeleton_packet *out)
{
    (void)in;
    (void)out;
}

static void read_sync(struct tw_bytes *in, struct tw_skeleton_packet *out)
{
    unsigned zeros = 1;
    uint8_t byte;

    while ((byte = tw_bytes_u8(in)) == 0 && !in->short_read && zeros < SYNC_SIZE - 1)
        zeros++;
    if (!in->short_read && (zeros != SYNC_SIZE - 1 || byte != 0x80))
        out->base.type = TW_SKELETON_RESERVED;
}

static void read_data(struct tw_bytes *in, struct tw_skeleton_packet *out)
{
    out->data = tw_bytes_u8(in);
}

static void read_timestamp(struct tw_bytes *in, struct tw_skeleton_packet *out)
{
    out->timestamp = tw_bytes_uleb(in, 9, NULL);
}

/* clang-format off */
static const struct rule {
    uint8_t mask, match;     /* applies when (head & mask) == match ... */
    uint8_t needs;           /* ... and the source has these features */
    uint8_t type;
    void (*read)(struct tw_bytes *in, struct tw_skeleton_packet *out);
} rules[] = {
    /* Row 0 catches what no other row claims.  The rest: specification order. */
    { 0x00, 0x00, ANY,        TW_SKELETON_RESERVED,  read_head_only },
    { 0xff, 0x00, ANY,        TW_SKELETON_SYNC,      read_sync      },
    { 0xff, 0x01, ANY,        TW_SKELETON_DATA,      read_data      },
    { 0xff, 0x02, TIMESTAMPS, TW_SKELETON_TIMESTAMP, read_timestamp },
    { 0xff, 0x03, ANY,        TW_SKELETON_OVERFLOW,  read_head_only },
};
/* clang-format on */

void tw_skeleton_reader_init(struct tw_skeleton_reader *reader,
                             const struct tw_skeleton_config *config)
{
    const unsigned has = config->control & 0x100 ? TIMESTAMPS : 0;

    *reader = (struct tw_skeleton_reader){ .id = config->control & 0x7f };
    for (size_t row = 1; row < TW_LENGTH(rules); row++)
        for (unsigned head = 0; head < 256; head++)
            if ((head & rules[row].mask) == rules[row].match && !(rules[row].needs & ~has))
                reader->index[head] = (uint8_t)row;
}

enum tw_status tw_skeleton_reader_new(struct tw_skeleton_reader **reader,
                                      const struct tw_skeleton_config *config,
                                      const struct tw_allocator *allocator,
                                      struct tw_fault *fault)
{
    struct tw_skeleton_config copy;

    *reader = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_skeleton_config", fault));
    *reader = tw_take(allocator, sizeof **reader);
    if (!*reader)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a packet reader");
    tw_skeleton_reader_init(*reader, &copy);
    (*reader)->allocator = allocator;
    return TW_OK;
}

void tw_skeleton_reader_free(struct tw_skeleton_reader *reader)
{
    if (reader)
        tw_give(reader->allocator, reader);
}

void tw_skeleton_reader_lost(struct tw_skeleton_reader *reader)
{
    reader->is_synced = false;
}

/* How many bytes come before synchronization; those that may be its beginning stay back. */
static size_t before_sync(const uint8_t *data, size_t size, bool is_last, bool *found)
{
    size_t zeros = 0;

    *found = false;
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 0x80 && zeros >= SYNC_SIZE - 1) {
            *found = true;
            return i - (SYNC_SIZE - 1);
        }
        zeros = data[i] == 0 ? zeros + 1 : 0;
    }
    if (is_last)
        return size;
    return size - (zeros < SYNC_SIZE - 1 ? zeros : SYNC_SIZE - 1);
}

/* The packet is whole: where it lies, and how far the reader has come. */
static enum tw_status give(struct tw_skeleton_reader *reader, struct tw_skeleton_packet *packet,
                           const struct tw_skeleton_packet *got)
{
    *packet = *got;
    packet->base.index = packet->base.offset = reader->offset;
    packet->base.id = reader->id;
    reader->offset += got->base.size;
    return TW_OK;
}

enum tw_status tw_skeleton_read(struct tw_skeleton_reader *reader,
                                struct tw_skeleton_packet *packet, const uint8_t *data,
                                size_t size, bool is_last)
{
    struct tw_skeleton_packet got = { .base = { .type = TW_SKELETON_NOT_SYNC } };
    struct tw_bytes in = { .at = data, .end = data + size };
    const struct rule *rule;

    if (size == 0)
        return TW_MORE;
    if (!reader->is_synced) {
        got.base.size = (uint32_t)before_sync(data, size, is_last, &reader->is_synced);
        if (got.base.size)
            return give(reader, packet, &got);
        if (!reader->is_synced)
            return TW_MORE;
    }
    rule = &rules[reader->index[tw_bytes_u8(&in)]];
    got.base.type = rule->type;
    rule->read(&in, &got);
    if (in.short_read) {
        if (!is_last)
            return TW_MORE; /* *packet untouched, nothing consumed */
        got.base.type = TW_SKELETON_INCOMPLETE;
        got.header = data[0];
    }
    if (got.base.type == TW_SKELETON_RESERVED) {
        got.header = data[0];
        reader->is_synced = false;
    }
    got.base.size = (uint32_t)(in.at - data);
    return give(reader, packet, &got);
}
