/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet by packet. */
#include "opencsd/step.h"

#include <string.h>

#include "opencsd/elements.h"
#include "opencsd/settings.h"

/* The reader begins at held.bytes[0], wherever it was before. */
static void catch_up(struct oc_channel *channel)
{
    const struct oc_protocol *protocol = channel->protocol;

    if (!channel->reader_is_behind)
        return;
    channel->reader_is_behind = false;
    protocol->reader_lost(channel->reader);
    (void)protocol->read(channel->reader, channel->packet, protocol->sync, protocol->sync_size,
                         false);
}

static ocsd_trc_index_t index_at(const struct oc_channel *channel, size_t at)
{
    return (ocsd_trc_index_t)oc_held_index(&channel->held, at);
}

/* Of the next packet, as the original counts. */
static ocsd_trc_index_t next_index(const struct oc_channel *channel)
{
    const bool is_real = channel->unsynced_next == OC_NEXT_BYTE ||
                         (channel->unsynced_next == OC_NEXT_BEHIND && !channel->held.bytes[0]);

    return is_real ? index_at(channel, 0) : channel->unsynced_index;
}

/* How far the index of a packet that begins inside a byte is from that byte's: the original has read the
   byte by then, and is at the next one, wherever the client goes on after a WAIT. */
static ocsd_trc_index_t shift(const struct oc_channel *channel)
{
    const struct tw_packet *packet = channel->packet;

    if (!packet->skip_bits)
        return 0;
    return channel->shared_is_old && channel->held.size > 1
               ? index_at(channel, 1) - index_at(channel, 0)
               : 1;
}

/* Elements may come of the packet that was read, be it later.  Not so of what shares its first byte, of this index, with a
   bad packet before it. */
static void note_start(struct oc_channel *channel, ocsd_trc_index_t index, ocsd_trc_index_t by)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_packet *packet = channel->packet;

    if (packet->type == protocol->not_sync || packet->type == protocol->async)
        return;
    channel->starts[channel->start] = (struct oc_start){ index, by };
    channel->start = (channel->start + 1) % OC_STARTS;
}

/* ---- Bad packets */

static void log_complaint(const struct oc_source *source, const struct oc_complaint *complaint,
                          const struct oc_channel *channel, ocsd_trc_index_t index)
{
    oc_log_error(source, &(struct oc_error){ .severity = complaint->severity,
                                             .code = complaint->code,
                                             .index = index,
                                             .id = channel->setup.id,
                                             .message = complaint->message });
}

/* Where packets are all that is made. */
static void note_bad(struct oc_channel *channel, const uint8_t *bytes, ocsd_trc_index_t index)
{
    const struct oc_protocol *protocol = channel->protocol;
    struct oc_complaint complaint;

    if (!protocol->complain || !protocol->complain(&complaint, channel->packet, bytes))
        return;
    if (complaint.code == OCSD_ERR_INVALID_PCKT_HDR)
        channel->stats.bad_header_errs++;
    else
        channel->stats.bad_sequence_errs++;
    log_complaint(&channel->processor, &complaint, channel, index);
}

/* Where elements are made of packets.  FATAL: it is to stop here. */
static ocsd_datapath_resp_t refuse_bad(struct oc_channel *channel, const uint8_t *bytes,
                                       ocsd_trc_index_t index)
{
    const struct oc_protocol *protocol = channel->protocol;
    const bool may_halt = protocol->complain_decoding && !protocol->is_fatal_when_bad;
    struct oc_complaint complaint;

    if (channel->is_decoding && protocol->complain_decoding &&
        protocol->complain_decoding(&complaint, channel->packet, bytes)) {
        if (channel->flags & OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS)
            complaint.severity = OCSD_ERR_SEV_ERROR;
        log_complaint(&channel->decoder, &complaint, channel, index);
    }
    if (may_halt && channel->is_decoding && channel->flags & OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS)
        return OCSD_RESP_FATAL_INVALID_DATA;
    return protocol->is_fatal_when_bad && oc_settings()->is_strict
               ? OCSD_RESP_FATAL_INVALID_DATA
               : OCSD_RESP_CONT;
}

/* ---- One packet */

static void set_last(struct oc_channel *channel, ocsd_trc_index_t index)
{
    channel->last_index = index;
    channel->last_is_in_tree = false;
}

/* Whether elements come of what follows the packet, so that they tell of bad packets, too. */
static void note_state(struct oc_channel *channel, bool is_bad)
{
    const struct oc_protocol *protocol = channel->protocol;
    const unsigned type = ((const struct tw_packet *)channel->packet)->type;

    if (is_bad || (type && (type == protocol->stops[0] || type == protocol->stops[1])))
        channel->is_decoding = channel->has_async = false;
    else if (type == protocol->start)
        channel->is_decoding |= channel->has_async || !protocol->starts_behind_async;
    else if (type == protocol->async)
        channel->has_async = true;
}

/* To those who look at packets, and to the tree; `size` bytes are done.  Where the last byte is shared
   with the next packet the tree gets it now. */
static ocsd_datapath_resp_t pass_on(struct oc_channel *channel, struct oc_packet *shown,
                                    size_t size)
{
    const struct tw_packet *packet = channel->packet;
    const bool is_bad = channel->packets.is_bad[packet->type];
    ocsd_datapath_resp_t answer, refused = OCSD_RESP_CONT;

    if (is_bad)
        note_bad(channel, shown->bytes, shown->index);
    answer = oc_packets_show(&channel->packets, shown);
    if (channel->is_full && !(is_bad && channel->flags & OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS)) {
        const bool is_ready = oc_elements_are_ready(channel, shown->is_quiet);

        if (is_ready && !shown->is_quiet)
            set_last(channel, shown->index);
        if (!is_ready)
            answer = shown->is_quiet ? OCSD_RESP_CONT : OCSD_RESP_FATAL_NOT_INIT;
        else if (oc_elements_feed(channel, channel->fed, shown->size) != TW_OK)
            answer = OCSD_RESP_FATAL_SYS_ERR;
        else
            answer = oc_elements_deliver(channel);
        channel->fed = shown->size - size;
        if (is_bad)
            refused = refuse_bad(channel, shown->bytes, shown->index);
    }
    note_state(channel, is_bad);
    return refused > answer ? refused : answer;
}

/* Bytes in front of the first synchronization.  False: here it is. */
static bool skip(struct oc_channel *channel, bool *is_cut, ocsd_datapath_resp_t *answer)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct oc_unsynced found =
        protocol->unsynced(channel->held.bytes, channel->held.size);
    const ocsd_trc_index_t last = found.size ? index_at(channel, found.size - 1) : 0;
    struct tw_packet *packet = channel->packet;
    struct oc_packet shown = { .packet = packet,
                               .bytes = channel->held.bytes,
                               .size = found.size,
                               .index = next_index(channel) };

    if (found.kind == OC_UNSYNCED_SYNC)
        return false;
    *is_cut = found.kind == OC_UNSYNCED_WAIT;
    if (*is_cut)
        return true;
    memset(packet, 0, protocol->packet_size);
    packet->type = found.kind == OC_UNSYNCED_BAD ? protocol->bad_sequence
                   : found.next == OC_NEXT_SAME  ? protocol->async /* of too many zeros */
                                                 : protocol->not_sync;
    if (found.kind == OC_UNSYNCED_SKIP) {
        channel->stats.channel_unsynced += found.size;
        shown.is_quiet = channel->has_shown_unsynced && !protocol->sinks_each_unsynced;
        channel->has_shown_unsynced = true;
    }
    *answer = pass_on(channel, &shown, found.size);
    channel->unsynced_next = found.next;
    channel->unsynced_index = found.next == OC_NEXT_BEHIND ? last + 1
                              : found.next == OC_NEXT_SAME
                                  ? shown.index
                                  : shown.index + (ocsd_trc_index_t)found.size;
    oc_held_drop(&channel->held, found.size);
    return true;
}

/* The packet that was read at held.bytes[0]. */
static ocsd_datapath_resp_t take(struct oc_channel *channel)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_packet *packet = channel->packet;
    const size_t size = packet->size - (packet->spare_bits != 0);
    const ocsd_trc_index_t by = shift(channel);
    struct oc_packet shown = { .packet = packet };
    ocsd_datapath_resp_t answer;

    channel->shared_is_old = false;
    shown.bytes = channel->held.bytes;
    shown.size = packet->size;
    shown.index = next_index(channel);
    note_start(channel, shown.index, by);
    shown.index += by;
    channel->unsynced_next = OC_NEXT_BYTE;
    if (packet->type == protocol->not_sync) {
        channel->stats.channel_unsynced += size;
        shown.is_quiet = channel->has_shown_unsynced && !protocol->sinks_each_unsynced;
        channel->has_shown_unsynced = true;
    }
    channel->is_synced = packet->type != protocol->not_sync;
    answer = pass_on(channel, &shown, size);
    oc_held_drop(&channel->held, size);
    channel->shared = packet->size - size;
    return answer;
}

ocsd_datapath_resp_t oc_step(struct oc_channel *channel, bool *is_cut)
{
    const struct oc_protocol *protocol = channel->protocol;
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    catch_up(channel);
    if (oc_elements_take_back(channel) != TW_OK)
        return OCSD_RESP_FATAL_SYS_ERR;
    if (!channel->is_synced && protocol->unsynced && skip(channel, is_cut, &answer))
        return answer;
    *is_cut = protocol->read(channel->reader, channel->packet, channel->held.bytes,
                             channel->held.size, false) != TW_OK;
    return *is_cut ? OCSD_RESP_CONT : take(channel);
}

bool oc_step_may_run(const struct oc_channel *channel)
{
    return !channel->is_full && channel->is_synced && !channel->shared &&
           channel->unsynced_next == OC_NEXT_BYTE &&
           (channel->packets.to.sink || channel->packets.to.monitor);
}

ocsd_datapath_resp_t oc_step_run(struct oc_channel *channel, bool *is_cut)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_packet *packet = channel->packet;
    struct oc_held *held = &channel->held;
    struct oc_walk walk = oc_held_walk(held);
    struct oc_packet shown = { .packet = packet };
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    bool is_odd = false;
    size_t at = 0;

    while (at < held->size && OCSD_DATA_RESP_IS_CONT(answer)) {
        shown.bytes = held->bytes + at;
        *is_cut = protocol->read(channel->reader, channel->packet, shown.bytes, held->size - at,
                                 false) != TW_OK;
        if (*is_cut)
            break;
        is_odd = packet->type == protocol->not_sync || packet->skip_bits ||
                 packet->spare_bits || channel->packets.is_bad[packet->type];
        if (is_odd)
            break;
        shown.size = packet->size;
        shown.index = (ocsd_trc_index_t)oc_walk_index(&walk, at);
        answer = oc_packets_show_good(&channel->packets, &shown);
        at += packet->size;
    }
    oc_held_drop(held, at);
    return is_odd ? take(channel) : answer;
}

ocsd_datapath_resp_t oc_step_last(struct oc_channel *channel)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_packet *packet = channel->packet;
    struct oc_packet shown = { .packet = packet };
    ocsd_trc_index_t by;
    ocsd_datapath_resp_t answer;

    if (!channel->held.size)
        return OCSD_RESP_CONT;
    catch_up(channel);
    shown.bytes = channel->held.bytes;
    shown.index = next_index(channel);
    if (!channel->is_synced && protocol->cut_unsynced) {
        memset(channel->packet, 0, protocol->packet_size);
        protocol->cut_unsynced(channel->packet, channel->held.bytes, channel->held.size);
        shown.size = channel->held.size;
        set_last(channel, shown.index);
        return oc_packets_show(&channel->packets, &shown);
    }
    if (protocol->read(channel->reader, channel->packet, channel->held.bytes,
                       channel->held.size, true) != TW_OK)
        return OCSD_RESP_CONT;
    shown.size = packet->size;
    by = shift(channel);
    note_start(channel, shown.index, by);
    shown.index += by;
    set_last(channel, shown.index);
    answer = oc_packets_show(&channel->packets, &shown);
    return channel->is_full && channel->packets.is_bad[packet->type]
               ? refuse_bad(channel, shown.bytes, shown.index)
               : answer;
}
