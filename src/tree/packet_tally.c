/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets counted where they are read. */
#include "tree/packet_tally.h"

#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"

enum tw_status tw_tree_tally_packets(struct tw_tree *tree)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        /* Sources that share a stream are told apart by what their packets hold. */
        if (branch->packet_tally || branch->decoder || branch->shared || branch->part ||
            branch->bits)
            continue;
        branch->packet_tally = tw_take(tree->config.allocator, sizeof *branch->packet_tally);
        if (!branch->packet_tally)
            return tw_fail(&tree->fault, TW_E_MEMORY, "no memory to count packets");
    }
    return TW_OK;
}

bool tw_packet_tally_read(struct tw_branch *branch)
{
    const struct tw_protocol *protocol = branch->protocol;
    const uint8_t *bytes = branch->stream.bytes;
    const size_t size = branch->stream.size;
    const struct tw_packet *packet = branch->packet;
    struct tw_source_stats *stats = &branch->stats.seen;
    const size_t first = branch->read_used;
    size_t used = first;
    bool is_read = false;

    if (branch->has_gaps || branch->has_run)
        return false;
    while (used < size) {
        if (protocol->read(branch->reader, branch->packet, bytes + used, size - used,
                           branch->tree->is_finished) != TW_OK)
            break;
        is_read = tw_type_kind(protocol, packet->type) <= TW_PACKET_DISCARD;
        if (is_read)
            break;
        branch->packet_tally->types[packet->type].packets++;
        branch->packet_tally->types[packet->type].bytes += packet->size;
        branch->stats.packet_types[packet->type]++;
        stats->packets++;
        used += tw_packet_taken(packet);
    }
    stats->bytes += used - first;
    branch->read_used = used;
    return is_read;
}

void tw_packet_tally_take(struct tw_tree *tree, tw_packet_sum_fn *take, void *context)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_packet_tally *tally = tree->branches[i]->packet_tally;

        for (size_t type = 0; tally && type < TW_LENGTH(tally->types); type++) {
            const struct tw_packet packet = { .type = (uint8_t)type,
                                              .id = tree->branches[i]->id };
            const struct tw_packet_view view = { .size = sizeof view,
                                                 .protocol = tree->branches[i]->protocol->name,
                                                 .packet = &packet,
                                                 .source = tree->branches[i]->source,
                                                 .src = tree->branches[i]->src,
                                                 .user = tree->branches[i]->user,
                                                 .about = tree->branches[i]->protocol };

            if (tally->types[type].packets)
                take(context, &view, &tally->types[type]);
        }
        if (tally)
            memset(tally, 0, sizeof *tally);
    }
}
