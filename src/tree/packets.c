/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of all branches, in the order in which they are complete. */
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tree/custom.h"
#include "tree/packet_tally.h"
#include "tree/report.h"
#include "tree/shared.h"

static struct tw_packet *packet_of(struct tw_branch *branch)
{
    return branch->packet;
}

static uint64_t end_of(struct tw_branch *branch, uint64_t offset, size_t size)
{
    return tw_position_at(&branch->position, size ? offset + size - 1 : offset) + 1;
}

/* Where the packet that was read lies. */
static void place_packet(struct tw_branch *branch)
{
    struct tw_packet *packet = packet_of(branch);
    const uint64_t from = branch->stream.offset + branch->read_used;

    packet->index = tw_position_at(&branch->position, from);
    packet->offset = branch->part ? tw_shared_offset(branch, from) : from;
    packet->id = branch->id;
    branch->packet_bytes = branch->stream.bytes + branch->read_used;
    branch->packet_end = end_of(branch, from, packet->size);
    branch->read_used += tw_packet_taken(packet);
    if (!branch->decoder && !branch->shared) /* which count them otherwise */
        branch->stats.seen.bytes += tw_packet_taken(packet);
}

/* Reads the next packet up to the next gap.  False: there is none (yet). */
static bool read_packet(struct tw_branch *branch)
{
    struct tw_stream *stream = &branch->stream;
    struct tw_packet *packet = packet_of(branch);

    for (;;) {
        const uint64_t from = stream->offset + branch->read_used;
        const uint64_t gap =
            branch->has_gaps
                ? tw_gap_next(&branch->read_ahead, stream->places, stream->place_count, from,
                              branch->handled_gap, stream->offset + stream->size)
                : UINT64_MAX;
        const size_t end = gap == UINT64_MAX ? stream->size : (size_t)(gap - stream->offset);
        const bool is_last = gap != UINT64_MAX || branch->tree->is_finished;
        enum tw_status status = TW_MORE;

        if (branch->shared && branch->read_used < end)
            status = tw_shared_read(branch, &branch->read_used, end, is_last);
        else if (branch->read_used < end && (tw_bits_remember(branch), true))
            status = branch->protocol->read(branch->reader, packet,
                                            stream->bytes + branch->read_used,
                                            end - branch->read_used, is_last);
        if (status == TW_OK) {
            place_packet(branch);
            return true;
        }
        if (gap == UINT64_MAX)
            return false;
        branch->read_used = end; /* a packet that the gap cut is no packet */
        branch->protocol->reader_lost(branch->reader);
        branch->handled_gap = gap + 1;
    }
}

/* Adds a stretch of unsynchronized bytes to the run.  False: it does not fit. */
static bool extend_run(struct tw_branch *branch)
{
    const struct tw_packet *packet = packet_of(branch);

    if (branch->has_run && branch->run_size + packet->size > TW_BRANCH_RUN_MAX)
        return false;
    if (!TW_GROW(branch->tree->config.allocator, &branch->run_bytes, &branch->run_room,
                 branch->run_size + packet->size)) {
        branch->tree->broken = TW_E_MEMORY;
        branch->tree->quick_limit = branch->tree->live;
        return false;
    }
    if (!branch->has_run) {
        *branch->run = *packet;
        branch->run_size = 0;
        branch->has_run = true;
    }
    if (branch->run_size && branch->run->spare_bits)
        branch->run_size--; /* this one begins in the last byte of the one before */
    memcpy(branch->run_bytes + branch->run_size, branch->packet_bytes, packet->size);
    branch->run_size += packet->size;
    branch->run->spare_bits = packet->spare_bits;
    branch->run->size = (uint32_t)branch->run_size;
    branch->run_end = branch->packet_end;
    if (!branch->decoder)
        branch->stats.seen.unsynced_bytes += packet->size;
    return true;
}

/* The next packet that is not counted right away, if it comes before the next gap. */
static bool read_wanted(struct tw_branch *branch)
{
    if (branch->packet_tally && branch->is_understood && tw_packet_tally_read(branch)) {
        place_packet(branch);
        return true;
    }
    return read_packet(branch);
}

/* Sees to it that the branch has something to hand out, if what is held gives it. */
static void look_ahead(struct tw_branch *branch)
{
    while (!branch->has_packet && !branch->is_read_idle) {
        if (!read_wanted(branch)) {
            branch->is_read_idle = true;
            break;
        }
        branch->has_packet =
            tw_type_kind(branch->protocol, packet_of(branch)->type) != TW_PACKET_NOT_SYNC ||
            !extend_run(branch);
        if (branch->tree->broken != TW_OK)
            break;
    }
}

/* A run that may still go on is not handed out. */
static bool is_ready(const struct tw_branch *branch)
{
    return branch->has_packet || (branch->has_run && branch->tree->is_finished);
}

/* Where it is known what comes next: a run is complete with the packet that ends it, in whatever pieces both come. */
static uint64_t next_end(const struct tw_branch *branch)
{
    return branch->has_packet ? branch->packet_end : branch->run_end;
}

static void hand_out(struct tw_branch *branch, struct tw_packet_view *view)
{
    const struct tw_protocol *protocol = branch->protocol;

    *view = (struct tw_packet_view){ .size = sizeof *view,
                                     .protocol = protocol->name,
                                     .source = branch->source,
                                     .src = branch->src,
                                     .user = branch->user,
                                     .about = protocol };
    if (branch->has_run) {
        branch->has_run = false;
        branch->run_size = 0;
        view->packet = branch->run;
        view->bytes = branch->run_bytes;
    } else {
        branch->has_packet = false;
        view->packet = packet_of(branch);
        view->bytes = branch->packet_bytes;
        view->bits = branch->bits;
    }
    view->kind = (uint8_t)tw_type_kind(protocol, view->packet->type);
    view->is_bad = tw_kind_is_bad(view->kind);
    view->is_not_sync = view->kind == TW_PACKET_NOT_SYNC;
    tw_count_packet(branch, view);
    if (view->is_bad && !branch->decoder) /* else its elements tell */
        tw_report_bad(branch, view);
}

/* The branch whose packet is complete first; of two the one with the lower ID.  NULL: none has one, or
   the tree is broken. */
static struct tw_branch *find_earliest(struct tw_tree *tree)
{
    struct tw_branch *earliest = NULL;
    uint64_t others = UINT64_MAX; /* the end before which `earliest` comes first */
    bool is_shared = false;

    for (size_t i = 0; i < tree->branch_count; i++) {
        struct tw_branch *branch = tree->branches[i];

        look_ahead(branch);
        if (tree->broken != TW_OK)
            return NULL;
        is_shared = is_shared || branch->shared;
        if (!is_ready(branch))
            continue;
        if (!earliest || next_end(branch) < next_end(earliest)) {
            if (earliest && next_end(earliest) < others)
                others = next_end(earliest);
            earliest = branch;
        } else if (next_end(branch) + 1 < others) {
            others = next_end(branch) + 1;
        }
    }
    /* Sources that share a stream get packets while others are read. */
    tree->packets_from = is_shared ? NULL : earliest;
    tree->packets_until = others;
    return earliest;
}

/* Until more is fed, nothing changes of the other branches: the one that gave the last packet has the
   next one too while that comes before theirs. */
static struct tw_branch *next_branch(struct tw_tree *tree)
{
    struct tw_branch *last = tree->packets_from;

    if (last) {
        look_ahead(last);
        if (tree->broken != TW_OK)
            return NULL;
        if (is_ready(last) && next_end(last) < tree->packets_until)
            return last;
    }
    return find_earliest(tree);
}

/* To a view of another size than ours. */
static TW_NOINLINE enum tw_status give_view(struct tw_tree *tree, struct tw_branch *branch,
                                            struct tw_packet_view *view)
{
    struct tw_packet_view ours;

    memset(&ours, 0, sizeof ours);
    ours.size = sizeof ours;
    if (!TW_SIZED_GIVE(view, &ours))
        return tw_fail(&tree->fault, TW_E_ARGUMENT,
                       "tw_packet_view: set its size to its sizeof");
    hand_out(branch, &ours);
    return TW_SIZED_GIVE(view, &ours) ? TW_OK : TW_E_ARGUMENT;
}

enum tw_status tw_tree_next_packet(struct tw_tree *tree, struct tw_packet_view *view)
{
    struct tw_branch *branch;

    if (!tree || !view)
        return TW_E_ARGUMENT;
    if (!tree->config.packets_only && !tree->config.with_packets)
        return tw_fail(&tree->fault, TW_E_ARGUMENT, "the tree was made for elements");
    branch = next_branch(tree);
    if (tree->broken != TW_OK)
        return tree->broken;
    if (!branch)
        return tree->is_finished ? TW_END : TW_MORE;
    if (view->size != sizeof *view)
        return give_view(tree, branch, view);
    hand_out(branch, view);
    return TW_OK;
}
