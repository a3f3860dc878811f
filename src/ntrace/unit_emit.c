/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder: messages, what is held back of them, and where they go. */
#include "ntrace/unit.h"

enum { LOST_PROGRAM = 1 << 2, LOST_OWNERSHIP = 1 << 3 };

static void give(struct tw_ntrace_unit *unit)
{
    if (unit->used && unit->user.write)
        unit->user.write(unit->user.write_context, unit->bytes, unit->used);
    unit->written += unit->used;
    unit->used = 0;
}

void tw_ntrace_sink_flush(struct tw_ntrace_unit *unit)
{
    give(unit);
}

static bool is_indirect(unsigned type)
{
    return type == TW_NTRACE_INDIRECT_BRANCH || type == TW_NTRACE_INDIRECT_BRANCH_HIST;
}

static uint64_t time_bits(const struct tw_ntrace_unit *unit, uint64_t time)
{
    const unsigned width = unit->codec.config.time_width;

    return width && width < 64 ? time & (((uint64_t)1 << width) - 1) : time;
}

static void add_time(const struct tw_ntrace_unit *unit, struct tw_ntrace_packet *packet)
{
    const bool is_sync = tw_ntrace_is_sync(packet->base.type);

    if (!unit->has_times ||
        (unit->user.sparse_times && !is_sync && !is_indirect(packet->base.type)))
        return;
    packet->has |= TW_NTRACE_HAS_TSTAMP;
    packet->tstamp = time_bits(unit, is_sync ? unit->time : unit->time - unit->sent_time);
}

static void send(struct tw_ntrace_unit *unit, struct tw_ntrace_packet *packet)
{
    size_t size = TW_NTRACE_MESSAGE_ROOM;

    if (unit->is_lost) {
        unit->counts.lost++;
        return;
    }
    packet->tcode = unit->codec.tcodes[packet->base.type];
    packet->src = unit->codec.config.src;
    packet->has |= unit->codec.shape.src_bits ? TW_NTRACE_HAS_SRC : 0;
    add_time(unit, packet);
    if (unit->used + TW_NTRACE_MESSAGE_ROOM > TW_NTRACE_SINK)
        give(unit);
    /* What cannot be written cannot be here: fields are bounded, and so is the room. */
    if (tw_ntrace_write(&unit->codec, unit->bytes + unit->used, &size, packet) != TW_OK)
        return;
    if (!tw_fifo_put(&unit->fifo, &unit->cycle, size, unit->may_stall)) {
        unit->is_lost = true;
        unit->lost_code |=
            packet->base.type == TW_NTRACE_OWNERSHIP ? LOST_OWNERSHIP : LOST_PROGRAM;
        tw_ntrace_unit_set(unit, "trTeInstStallOrOverflow", 1);
        unit->counts.lost++;
        return;
    }
    packet->base.offset = packet->base.index = unit->written + unit->used;
    packet->base.size = (uint32_t)size;
    unit->used += size;
    unit->counts.messages++;
    unit->counts.bytes += size;
    if (packet->has & TW_NTRACE_HAS_TSTAMP)
        unit->sent_time = unit->time;
    if (unit->sync_mode == 1)
        unit->sync_count++;
    if (unit->user.on_packet)
        unit->user.on_packet(unit->user.packet_context, packet);
}

/* ---- what is held back ---- */

static void send_repeats(struct tw_ntrace_unit *unit)
{
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_REPEAT_BRANCH } };

    packet.bcnt = unit->sent.times;
    unit->sent.times = 0;
    unit->sent.is_there = false;
    if (packet.bcnt)
        send(unit, &packet);
}

static void send_history(struct tw_ntrace_unit *unit, uint32_t hist, uint32_t times)
{
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_RESOURCE_FULL } };

    packet.code = times > 1 ? TW_NTRACE_RCODE_REPEAT : TW_NTRACE_RCODE_HIST;
    packet.rdata = hist;
    packet.hrepeat = times > 1 ? times : 0;
    send(unit, &packet);
}

void tw_ntrace_emit_buffered(struct tw_ntrace_unit *unit)
{
    const uint32_t times = unit->buffered_times;

    send_repeats(unit);
    unit->buffered_times = 0;
    if (times)
        send_history(unit, unit->buffered, times);
}

void tw_ntrace_emit_history(struct tw_ntrace_unit *unit)
{
    const uint32_t hist = unit->hist;

    unit->hist = 1;
    if (!unit->codec.config.repeat_history) {
        tw_ntrace_emit_buffered(unit);
        send_history(unit, hist, 1);
    } else if (unit->buffered_times && unit->buffered == hist &&
               unit->buffered_times < TW_NTRACE_REPEAT_MAX) {
        unit->buffered_times++;
    } else {
        tw_ntrace_emit_buffered(unit);
        unit->buffered = hist;
        unit->buffered_times = 1;
    }
}

void tw_ntrace_emit_count(struct tw_ntrace_unit *unit, uint32_t count)
{
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_RESOURCE_FULL },
                                       .code = TW_NTRACE_RCODE_ICNT };

    tw_ntrace_emit_buffered(unit);
    packet.rdata = count;
    unit->icnt -= count;
    send(unit, &packet);
}

/* ---- branches ---- */

static bool is_repeated(const struct tw_ntrace_unit *unit, const struct tw_ntrace_sent *next)
{
    const struct tw_ntrace_sent *sent = &unit->sent;

    return unit->codec.config.repeat_branch && sent->is_there && !unit->buffered_times &&
           sent->times < TW_NTRACE_REPEAT_MAX && sent->type == next->type &&
           sent->btype == next->btype && sent->icnt == next->icnt && sent->hist == next->hist &&
           sent->target == next->target && !unit->is_lost;
}

/* The message for a branch, without and with synchronization. */
static uint8_t branch_type(const struct tw_ntrace_unit *unit, bool is_direct, bool is_sync)
{
    const bool has_hist = unit->is_htm && (unit->hist != 1 || !unit->user.short_messages);

    if (is_direct)
        return is_sync ? TW_NTRACE_DIRECT_BRANCH_SYNC : TW_NTRACE_DIRECT_BRANCH;
    if (has_hist)
        return is_sync ? TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC : TW_NTRACE_INDIRECT_BRANCH_HIST;
    return is_sync ? TW_NTRACE_INDIRECT_BRANCH_SYNC : TW_NTRACE_INDIRECT_BRANCH;
}

static void add_counts(struct tw_ntrace_unit *unit, struct tw_ntrace_packet *packet)
{
    const unsigned type = packet->base.type;

    packet->icnt = unit->icnt;
    if (type == TW_NTRACE_INDIRECT_BRANCH_HIST || type == TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC ||
        packet->cdf) {
        packet->hist = unit->hist;
        packet->has |= TW_NTRACE_HAS_HIST;
    }
    unit->icnt = 0;
    unit->hist = 1;
}

/* Everything that a reader learns anew. */
static void send_sync(struct tw_ntrace_unit *unit, struct tw_ntrace_packet *packet,
                      uint64_t address)
{
    tw_ntrace_emit_buffered(unit);
    packet->sync = unit->due;
    packet->address = address >> 1;
    add_counts(unit, packet);
    unit->due = TW_NTRACE_NO_SYNC;
    unit->is_due_now = false;
    unit->reference = address;
    unit->depth = 0;
    send(unit, packet);
    unit->sync_count = 0;
    unit->has_owner = false; /* it is to be told again */
}

void tw_ntrace_emit_branch(struct tw_ntrace_unit *unit, uint8_t btype, bool is_direct,
                           uint64_t target)
{
    const bool is_sync = unit->due != TW_NTRACE_NO_SYNC;
    const struct tw_ntrace_sent next = { .is_there = unit->codec.config.repeat_branch,
                                         .type = branch_type(unit, is_direct, is_sync),
                                         .btype = btype,
                                         .icnt = unit->icnt,
                                         .hist = unit->hist,
                                         .target = is_direct ? 0 : target };
    struct tw_ntrace_packet packet = { .base = { .type = next.type }, .btype = btype };

    if (is_sync) {
        send_sync(unit, &packet, target);
        return;
    }
    if (is_repeated(unit, &next)) {
        unit->sent.times++;
        unit->icnt = 0;
        unit->hist = 1;
        return;
    }
    tw_ntrace_emit_buffered(unit);
    add_counts(unit, &packet);
    if (!is_direct) {
        packet.address = (target ^ unit->reference) >> 1;
        unit->reference = target;
    }
    send(unit, &packet);
    unit->sent = next;
}

void tw_ntrace_emit_sync(struct tw_ntrace_unit *unit, uint64_t address)
{
    const bool is_history =
        unit->is_htm && (unit->hist != 1 ||
                         (unit->codec.config.sync_style == TW_NTRACE_SYNC_HIST && unit->icnt));
    struct tw_ntrace_packet packet = {
        .base = { .type = is_history ? TW_NTRACE_INDIRECT_BRANCH_HIST_SYNC
                                     : TW_NTRACE_PROG_TRACE_SYNC }
    };

    send_sync(unit, &packet, address);
}

/* ---- other messages ---- */

void tw_ntrace_emit_stop(struct tw_ntrace_unit *unit, uint8_t code)
{
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_PROG_TRACE_CORRELATION },
                                       .code = code,
                                       .cdf = unit->is_htm };

    tw_ntrace_emit_buffered(unit);
    add_counts(unit, &packet);
    send(unit, &packet);
}

static void send_owner(struct tw_ntrace_unit *unit, unsigned format, uint64_t context)
{
    static const uint8_t privileges[8] = { 0, 1, 2, 3, 3, 0, 1, 3 };
    const unsigned priv = unit->priv & 7;
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_OWNERSHIP } };

    packet.process = format | (uint64_t)privileges[priv] << 2 |
                     (uint64_t)(priv == 5 || priv == 6) << 4 | context << 5;
    send(unit, &packet);
}

void tw_ntrace_emit_owner(struct tw_ntrace_unit *unit)
{
    const bool has_both = unit->user.has_hcontext;

    tw_ntrace_emit_buffered(unit);
    if (unit->has_owner) { /* only the privilege has changed */
        send_owner(unit, TW_NTRACE_PRIVILEGE, 0);
        return;
    }
    if (has_both)
        send_owner(unit, TW_NTRACE_HCONTEXT, unit->context >> 32);
    send_owner(unit, TW_NTRACE_SCONTEXT, has_both ? (uint32_t)unit->context : unit->context);
    unit->has_owner = true;
}

bool tw_ntrace_emit_loss(struct tw_ntrace_unit *unit)
{
    struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_ERROR } };

    if (!tw_fifo_is_empty(&unit->fifo, unit->cycle))
        return false;
    unit->is_lost = false;
    packet.ecode = unit->lost_code;
    unit->lost_code = 0;
    send(unit, &packet);
    return !unit->is_lost;
}
