/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets instead of bytes.  Decoders work on bytes: the packets of the library's protocols are written
   again; those of custom protocols are held as they are. */
#include <stddef.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "tree/branch.h"
#include "tree/custom.h"

enum { FLUSH_ROOM = 8 }; /* bytes that completing one takes */

/* Bytes of one, up to where a packet may stand. */
static size_t room_of(const struct tw_protocol *protocol)
{
    const size_t align = _Alignof(max_align_t);

    return (protocol->packet_max + FLUSH_ROOM + align - 1) / align * align;
}

/* The writer of a source's packets, which knows of none yet. */
static enum tw_status prepare_writer(struct tw_branch *branch)
{
    const struct tw_allocator *allocator = branch->tree->config.allocator;
    const struct tw_protocol *protocol = branch->protocol;

    if (!branch->writer)
        branch->writer = tw_take(allocator, protocol->reader_size);
    if (!branch->written)
        branch->written = tw_take(allocator, room_of(protocol) + protocol->packet_size);
    if (!branch->writer || !branch->written)
        return tw_fail(&branch->tree->fault, TW_E_MEMORY, "no memory for a packet writer");
    protocol->reader_init(branch->writer, branch->config);
    return TW_OK;
}

/* The first packets. */
static enum tw_status begin(struct tw_branch *branch)
{
    struct tw_tree *tree = branch->tree;
    const struct tw_protocol *protocol = branch->protocol;

    if (tree->offset + tree->size)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "bytes were fed already");
    if (protocol->custom && branch->reader)
        return tw_fail(&tree->fault, TW_E_ARGUMENT,
                       "packets of a custom protocol are not handed back");
    if (!protocol->custom && !protocol->write)
        return tw_fail(&tree->fault, TW_E_UNSUPPORTED, "%s has no encoder", protocol->title);
    if (protocol->custom)
        tw_custom_take_packets(branch->decoder);
    else
        TW_TRY(prepare_writer(branch));
    tree->takes_packets = true;
    return TW_OK;
}

static enum tw_status write_packet(struct tw_branch *branch, size_t *size,
                                   const struct tw_packet *packet)
{
    const struct tw_protocol *protocol = branch->protocol;
    const size_t room = room_of(protocol);
    size_t more;

    *size = room;
    TW_TRY(protocol->write(branch->writer, branch->written, size, packet));
    if (!protocol->write_flush)
        return TW_OK;
    more = room - *size;
    TW_TRY(protocol->write_flush(branch->writer, branch->written + *size, &more));
    *size += more;
    return TW_OK;
}

static enum tw_status hold(struct tw_tree *tree, uint64_t index, const void *bytes, size_t size)
{
    const struct tw_place place = { .capture = index };

    return tw_unframed_hold(
        tree, &(struct tw_stream){
                  .bytes = bytes, .size = size, .places = &place, .place_count = 1 });
}

/* A run that is longer than any packet says nothing, but what follows it may have its place: piece by piece. */
static enum tw_status take_padding(struct tw_branch *branch, const struct tw_packet *packet)
{
    const size_t room = room_of(branch->protocol);
    struct tw_packet *piece = (struct tw_packet *)(void *)(branch->written + room);
    size_t size;

    memcpy(piece, packet, branch->protocol->packet_size);
    for (uint32_t left = packet->size; left; left -= piece->size) {
        piece->size =
            left < branch->protocol->packet_max ? left : (uint32_t)branch->protocol->packet_max;
        if (write_packet(branch, &size, piece) != TW_OK)
            break;
        TW_TRY(hold(branch->tree, packet->index, branch->written, size));
    }
    return TW_OK;
}

static enum tw_status take(struct tw_branch *branch, const struct tw_packet *packet)
{
    struct tw_tree *tree = branch->tree;
    const struct tw_protocol *protocol = branch->protocol;
    enum tw_status status;
    size_t size;

    if (!tw_kind_is_understood(tw_type_kind(protocol, packet->type))) {
        if (branch->writer)
            protocol->reader_lost(branch->writer);
        tree->is_gap_next = tree->has_gaps = true;
        return TW_OK;
    }
    if (protocol->custom)
        return hold(tree, packet->index, packet, protocol->packet_size);
    status = write_packet(branch, &size, packet);
    if (status == TW_E_ROOM && tw_type_kind(protocol, packet->type) == TW_PACKET_PADDING)
        return take_padding(branch, packet);
    if (status != TW_OK)
        return TW_E_ARGUMENT;
    return hold(tree, packet->index, branch->written, size);
}

enum tw_status tw_tree_feed_packets(struct tw_tree *tree, const struct tw_packet *packets,
                                    size_t count)
{
    struct tw_branch *branch;
    enum tw_status status, fed = TW_OK;
    size_t i = 0;

    if (!tree)
        return TW_E_ARGUMENT;
    if (count && !packets)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "there are no packets, but a count");
    if (!tree->branch_count || tree->config.framing != TW_FRAMING_NONE)
        return tw_fail(&tree->fault, TW_E_ARGUMENT,
                       "packets are for a source of an unframed capture");
    TW_TRY(tw_tree_may_feed(tree));
    branch = tw_branch_of(tree, tree->branches[0]->id);
    if (!tree->takes_packets)
        TW_TRY(begin(branch));
    status = tw_tree_begin_feed(tree);
    for (; status == TW_OK && fed == TW_OK && i < count; i++) {
        fed = take(branch, (const struct tw_packet *)((const char *)packets +
                                                      i * branch->protocol->packet_size));
        if (fed == TW_E_MEMORY)
            status = fed;
    }
    status = tw_tree_end_feed(tree, status);
    if (status != TW_OK || fed == TW_OK)
        return status;
    return tw_fail(
        &tree->fault, TW_E_ARGUMENT, "packet %zu, %s, cannot be written", i - 1,
        tw_type_name(branch->protocol,
                     ((const struct tw_packet *)((const char *)packets +
                                                 (i - 1) * branch->protocol->packet_size))
                         ->type));
}
