/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bits of a packet its members come from.  The reader itself tells: the packet is read again with each bit
   turned over, and what then differs is what the bit stands for. */
#include <string.h>

#include "base/members.h"
#include "base/memory.h"
#include "tree/branch.h"

/* Members of a packet and where its text is kept. */
struct reading {
    struct tw_members_here members;
    void *packet;
    bool is_read;
};

struct tw_bit_reader {
    const struct tw_protocol *protocol;
    const struct tw_allocator *allocator;
    void *before;   /* the reader as it was before the packet at hand */
    void *reader;   /* a copy to work with */
    uint8_t *bytes; /* of the packet, and zeros behind it */
    struct reading plain, turned;
};

void tw_bits_free(struct tw_branch *branch)
{
    struct tw_bit_reader *bits = branch->bits;
    const struct tw_allocator *allocator = branch->tree->config.allocator;

    if (!bits)
        return;
    tw_give(allocator, bits->before);
    tw_give(allocator, bits->reader);
    tw_give(allocator, bits->bytes);
    tw_give(allocator, bits->plain.packet);
    tw_give(allocator, bits->turned.packet);
    tw_give(allocator, bits);
    branch->bits = NULL;
}

enum tw_status tw_bits_new(struct tw_branch *branch)
{
    const struct tw_protocol *protocol = branch->protocol;
    const struct tw_allocator *allocator = branch->tree->config.allocator;
    struct tw_bit_reader *bits;

    /* The reader of a protocol of the caller's own may hold what cannot be copied. */
    if (!branch->tree->config.keeps_bits || protocol->custom)
        return TW_OK;
    bits = branch->bits = tw_take(allocator, sizeof *bits);
    if (!bits)
        return TW_E_MEMORY;
    bits->protocol = protocol;
    bits->allocator = allocator;
    bits->before = tw_take(allocator, protocol->reader_size);
    bits->reader = tw_take(allocator, protocol->reader_size);
    bits->bytes = tw_take(allocator, 2 * protocol->packet_max + 16);
    bits->plain.packet = tw_take(allocator, protocol->packet_size);
    bits->turned.packet = tw_take(allocator, protocol->packet_size);
    if (bits->before && bits->reader && bits->bytes && bits->plain.packet &&
        bits->turned.packet)
        return TW_OK;
    tw_bits_free(branch);
    return TW_E_MEMORY;
}

void tw_bits_remember(struct tw_branch *branch)
{
    if (branch->bits)
        memcpy(branch->bits->before, branch->reader, branch->protocol->reader_size);
}

static void read_again(struct tw_bit_reader *bits, struct reading *to, size_t size)
{
    const struct tw_protocol *protocol = bits->protocol;
    struct tw_members *out = tw_members_start(&to->members, TW_MEMBER_LISTED);

    memcpy(bits->reader, bits->before, protocol->reader_size);
    memset(to->packet, 0, protocol->packet_size);
    to->is_read = protocol->read(bits->reader, to->packet, bits->bytes,
                                 size + protocol->packet_max, true) == TW_OK;
    if (!to->is_read || !protocol->members)
        return;
    out->types = protocol->members->rows;
    protocol->members->put(out, protocol, to->packet);
}

/* Values as they are written; members that are texts have no number. */
static bool is_same(const struct tw_member *a, const struct tw_member *b)
{
    switch (a->type->kind) {
    case TW_MEMBER_NAME:
    case TW_MEMBER_TEXT:
        return a->text == b->text || (a->text && b->text && strcmp(a->text, b->text) == 0);
    case TW_MEMBER_WIDE:
    case TW_MEMBER_SECONDS:
        return a->number == b->number && a->high == b->high;
    case TW_MEMBER_BYTES:
        return a->number == b->number &&
               (a->number == 0 || memcmp(a->bytes, b->bytes, (size_t)a->number) == 0);
    default:
        return a->number == b->number;
    }
}

static const struct tw_member *find(const struct tw_members *members,
                                    const struct tw_member_type *type)
{
    for (size_t i = 0; i < members->count; i++)
        if (members->items[i].type == type)
            return &members->items[i];
    return NULL;
}

/* The first member that is another, or not there any more, or new. */
static const char *what_differs(const struct tw_bit_reader *bits)
{
    const struct tw_members *plain = &bits->plain.members.list;
    const struct tw_members *turned = &bits->turned.members.list;

    for (size_t i = 0; i < plain->count; i++) {
        const struct tw_member *other = find(turned, plain->items[i].type);

        if (other && !is_same(&plain->items[i], other))
            return plain->items[i].type->key;
    }
    for (size_t i = 0; i < plain->count; i++)
        if (!find(turned, plain->items[i].type))
            return plain->items[i].type->key;
    for (size_t i = 0; i < turned->count; i++)
        if (!find(plain, turned->items[i].type))
            return turned->items[i].type->key;
    return NULL;
}

/* What a bit stands for. */
static const char *name_of(struct tw_bit_reader *bits, size_t size, size_t bit)
{
    const struct tw_packet *plain = bits->plain.packet, *turned = bits->turned.packet;
    const char *key;

    read_again(bits, &bits->turned, size);
    if (!bits->turned.is_read)
        return "type";
    if (turned->type != plain->type)
        return bit >= 8 && tw_kind_is_bad(tw_type_kind(bits->protocol, turned->type)) ? "fixed"
                                                                                      : "type";
    key = what_differs(bits);
    if (turned->size != plain->size || turned->spare_bits != plain->spare_bits)
        return "more";
    return key ? key : "-";
}

size_t tw_packet_bits(const struct tw_packet_view *view, struct tw_packet_bit_run *runs,
                      size_t room)
{
    struct tw_bit_reader *bits = view->bits;
    const size_t size = view->packet->size;
    const size_t first = view->packet->skip_bits;
    const size_t end = 8 * size - view->packet->spare_bits;
    size_t count = 0;

    if (!bits || !view->bytes || size > bits->protocol->packet_max)
        return 0;
    memset(bits->bytes, 0, 2 * bits->protocol->packet_max + 16);
    memcpy(bits->bytes, view->bytes, size);
    read_again(bits, &bits->plain, size);
    for (size_t bit = first; bit < end; bit++) {
        const char *name;

        bits->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        name = name_of(bits, size, bit);
        bits->bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (count && count <= room && strcmp(runs[count - 1].name, name) == 0) {
            runs[count - 1].count++;
            continue;
        }
        if (count < room)
            runs[count] = (struct tw_packet_bit_run){ name, (uint32_t)bit, 1 };
        count++;
    }
    return count < room ? count : room;
}
