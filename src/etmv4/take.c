/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE, step 1: what each packet puts in the queue. */
#include "etmv4/decode.h"

#include <string.h>

/* Nothing is known any more; wait for A-sync and Trace Info. */
static void lose_sync(struct tw_stage *stage, uint8_t reason)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    decoder->sync = TW_SYNC_ASYNC;
    decoder->lost_reason = reason;
    decoder->exception_is_open = false;
    decoder->has_atom = false;
    decoder->in_transaction = false;
    decoder->has_marker = false;
    stage->follow->error = TW_ERROR_NONE;
}

static void emit_no_sync(struct tw_stage *stage, uint8_t reason, uint64_t index)
{
    tw_stage_add(stage, TW_ELEMENT_NO_SYNC, index)->reason = reason;
}

/* What was committed is sure; what waits belongs to a packet that will not come. */
static void drop_all(struct tw_stage *stage)
{
    if (!stage->follow->error)
        tw_etmv4_analyse_pending(stage);
    tw_etmv4_drop_queue(stage->decoder);
    tw_etmv4_forget_place(stage);
}

/* The packets contradict each other or the image: what waits is void. */
void tw_etmv4_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                   uint64_t detail)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const struct tw_etmv4_item item = { .index = packet->index,
                                        .kind = TW_ITEM_NO_SYNC,
                                        .number = TW_REASON_BAD_PACKET };

    drop_all(stage);
    tw_stage_damage(stage, code, packet, detail);
    lose_sync(stage, TW_REASON_BAD_PACKET);
    if (tw_etmv4_enqueue(decoder, &item))
        decoder->drains = true;
    else /* no memory */
        emit_no_sync(stage, TW_REASON_BAD_PACKET, packet->index);
}

/* The last atom that was committed is final. */
static void settle_pending(struct tw_stage *stage, const struct tw_packet *packet)
{
    const struct tw_follow *follow = stage->follow;

    tw_etmv4_analyse_pending(stage);
    if (follow->error)
        tw_etmv4_fail(stage, follow->error, packet, follow->error_detail);
}

static void add(struct tw_stage *stage, const struct tw_etmv4_item *item,
                const struct tw_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (!tw_etmv4_enqueue(decoder, item)) {
        tw_etmv4_fail(stage, TW_ERROR_COMMIT, packet, decoder->count);
        return;
    }
    if (item->kind < TW_ITEM_NOT_P0)
        tw_etmv4_count_p0(decoder, 1);
}

static void add_atoms(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    uint32_t bits = packet->atoms;

    decoder->has_atom = true;
    if (decoder->reader.setup.max_spec == 0) {
        decoder->drains = true;
        tw_etmv4_release(stage);
        tw_etmv4_use_up_address(decoder);
        stage->out = tw_follow_atoms(stage->follow, stage->out, bits, packet->atom_count,
                                     packet->base.index);
        return;
    }
    for (unsigned i = 0; i < packet->atom_count && decoder->sync == TW_SYNC_DONE; i++) {
        const struct tw_etmv4_item item = { .index = packet->base.index,
                                            .kind = TW_ITEM_ATOM,
                                            .is_taken = bits & 1,
                                            .was_taken = bits & 1 };

        add(stage, &item, &packet->base);
        bits >>= 1;
    }
}

/* Context fields that a packet does not carry keep their last value. */
static struct tw_etmv4_context merge_context(struct tw_etmv4_decoder *decoder,
                                             const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_context *last = &decoder->context;

    last->el = packet->el;
    last->sf = packet->sf;
    last->ns = packet->ns;
    last->nse = packet->nse;
    if (packet->has_cid) {
        last->has_cid = true;
        last->cid = packet->cid;
    }
    if (packet->has_vmid) {
        last->has_vmid = true;
        last->vmid = packet->vmid;
    }
    return *last;
}

static bool is_address(uint8_t type)
{
    return (type >= TW_ETMV4_ADDR_CTXT_L_32IS0 && type <= TW_ETMV4_ADDR_CTXT_L_64IS1) ||
           (type >= TW_ETMV4_ADDR_MATCH && type <= TW_ETMV4_ADDR_L_64IS1);
}

static void add_address(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_etmv4_item item = { .index = packet->base.index, .value = packet->address };
    const bool has_context = packet->base.type <= TW_ETMV4_ADDR_CTXT_L_64IS1;

    item.sub_isa = packet->sub_isa;
    if (decoder->exception_is_open) {
        struct tw_etmv4_item *exception = &decoder->exception;

        decoder->exception_is_open = false;
        exception->value = packet->address;
        exception->sub_isa = packet->sub_isa;
        exception->has_address = true;
        exception->has_context = has_context;
        if (has_context)
            exception->context = merge_context(decoder, packet);
        add(stage, exception, &packet->base);
        return;
    }
    item.kind = TW_ITEM_TARGET;
    add(stage, &item, &packet->base);
    if (decoder->q_is_open && decoder->reader.setup.max_spec == 0)
        decoder->drains =
            true; /* it ends the Q, which may make more elements than fit beside others */
    if (has_context) {
        item.kind = TW_ITEM_CONTEXT;
        item.context = merge_context(decoder, packet);
        add(stage, &item, &packet->base);
    }
}

static void add_exception(struct tw_stage *stage, const struct tw_etmv4_packet *packet,
                          uint8_t header)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_etmv4_item item = { .index = packet->base.index, .kind = TW_ITEM_EXCEPTION };

    if (packet->interpretation != 1 && packet->interpretation != 2) { /* E=00 and E=11 */
        tw_etmv4_fail(stage, TW_ERROR_BAD_SEQUENCE, &packet->base, header);
        return;
    }

    item.number = packet->exception;
    item.is_target = packet->interpretation == 2;
    if (packet->base.type == TW_ETMV4_EXCEPT) {
        decoder->exception = item;
        decoder->exception_is_open = true;
        return;
    }
    if (packet->base.type == TW_ETMV4_TRANS_FAIL || decoder->in_transaction) {
        struct tw_etmv4_item failure = { .index = packet->base.index,
                                         .kind = TW_ITEM_TRANSACTION,
                                         .number = TW_TRANS_FAIL };

        decoder->in_transaction = false;
        add(stage, &failure, &packet->base);
    }
    if (packet->base.type == TW_ETMV4_PE_RESET) {
        item.is_target = false;
        add(stage, &item, &packet->base);
    }
}

static void add_q(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    const struct tw_etmv4_item item = { .index = packet->base.index,
                                        .kind = TW_ITEM_Q,
                                        .value = packet->address,
                                        .number = packet->q_count,
                                        .sub_isa = packet->sub_isa,
                                        .has_address = packet->q_has_address,
                                        .has_count = packet->q_has_count };

    add(stage, &item, &packet->base);
}

static void add_timestamp(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    const struct tw_etmv4_decoder *decoder = stage->decoder;
    const struct tw_etmv4_setup *setup = &decoder->reader.setup;
    const struct tw_etmv4_item item = {
        .index = packet->base.index,
        .kind = TW_ITEM_TIMESTAMP,
        .value = packet->timestamp,
        .number = packet->timestamp_has_count ? packet->timestamp_count : 0,
        .has_count = setup->cci,
    };

    /* With markers, a timestamp before the first one belongs to nothing that was seen. */
    if (setup->version >= 0x51 && setup->tsmark && !decoder->has_marker)
        return;
    add(stage, &item, &packet->base);
}

static void take_trace_info(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const bool is_first = decoder->sync != TW_SYNC_DONE;
    struct tw_etmv4_item item = { .index = packet->base.index };

    memset(&decoder->context, 0, sizeof decoder->context);
    if (is_first) {
        tw_stage_report(stage, packet->base.offset);
        tw_etmv4_drop_queue(decoder);
        tw_etmv4_forget_place(stage);
        decoder->sync = TW_SYNC_DONE;
        decoder->depth = decoder->unseen = packet->spec;
        decoder->in_transaction = (packet->info & 0x40) != 0;
        if (decoder->in_transaction) {
            item.kind = TW_ITEM_TRANSACTION;
            item.number = TW_TRANS_INIT;
            add(stage, &item, &packet->base);
        }
    }
    if (decoder->reader.setup.return_stack) {
        item.kind = TW_ITEM_TRACE_INFO;
        add(stage, &item, &packet->base);
    }
}

/* The unit gave up what was not committed, and perhaps more: kept is what happened anyway. */
static void take_loss(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const bool is_overflow = packet->base.type == TW_ETMV4_OVERFLOW;
    struct tw_etmv4_item item = { .index = packet->base.index };

    settle_pending(stage, &packet->base);
    if (tw_etmv4_discard(decoder)) {
        item.kind = TW_ITEM_TRANSACTION;
        item.number = TW_TRANS_FAIL;
        add(stage, &item, &packet->base);
    }
    item.kind = TW_ITEM_NO_SYNC;
    item.number = is_overflow ? TW_REASON_OVERFLOW : TW_REASON_DISCARD;
    add(stage, &item, &packet->base);
    lose_sync(stage, (uint8_t)item.number);
    decoder->is_after_overflow = is_overflow;
}

static void take_speculation(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (packet->atom_count)
        add_atoms(stage, packet);
    if (decoder->sync != TW_SYNC_DONE)
        return;
    tw_etmv4_release(stage);
    if ((packet->base.type == TW_ETMV4_COMMIT && !tw_etmv4_commit(decoder, packet->commit)) ||
        (packet->cancel && !tw_etmv4_cancel(decoder, packet->cancel))) {
        tw_etmv4_fail(stage, TW_ERROR_COMMIT, &packet->base, decoder->depth);
        return;
    }
    if (!packet->mispredict)
        return;
    if (decoder->reader.setup.max_spec == 0) { /* in order: addresses may be on their way */
        const struct tw_etmv4_item item = { .index = packet->base.index,
                                            .kind = TW_ITEM_MISPREDICT };

        if (!decoder->has_atom)
            return;
        add(stage, &item, &packet->base);
        decoder->drains = true;
    } else {
        tw_etmv4_mispredict(stage);
    }
}

static void take_cycle_count(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const struct tw_etmv4_item item = { .index = packet->base.index,
                                        .kind = TW_ITEM_CYCLE_COUNT,
                                        .number = packet->is_unknown ? 0 : packet->cycles,
                                        .has_count = !packet->is_unknown };

    if (packet->has_commit && !tw_etmv4_commit(decoder, packet->commit)) {
        tw_etmv4_fail(stage, TW_ERROR_COMMIT, &packet->base, decoder->depth);
        return;
    }
    add(stage, &item, &packet->base);
}

static void take_transaction(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const bool is_start = packet->base.type == TW_ETMV4_TRANS_ST;
    struct tw_etmv4_item item = { .index = packet->base.index,
                                  .kind = TW_ITEM_TRANSACTION,
                                  .number = is_start ? TW_TRANS_START : TW_TRANS_COMMIT };

    decoder->in_transaction = is_start;
    if (is_start && decoder->reader.setup.start_is_p0)
        item.kind = TW_ITEM_TRANS_START_P0;
    add(stage, &item, &packet->base);
}

/* Packets that become one item and change nothing else. */
static void take_simple(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_etmv4_item item = { .index = packet->base.index };

    switch (packet->base.type) {
    case TW_ETMV4_TRACE_ON:
        item.kind = TW_ITEM_TRACE_ON;
        decoder->has_atom = false;
        item.number = decoder->is_after_overflow ? TW_TRACE_ON_OVERFLOW : TW_TRACE_ON_NORMAL;
        decoder->is_after_overflow = false;
        break;
    case TW_ETMV4_CTXT:
        if (!packet->has_context)
            return; /* the same again */
        item.kind = TW_ITEM_CONTEXT;
        item.context = merge_context(decoder, packet);
        break;
    case TW_ETMV4_EVENT:
        item.kind = TW_ITEM_EVENT;
        item.number = packet->number;
        break;
    case TW_ETMV4_TS_MARKER:
        decoder->has_marker = true;
        item.kind = TW_ITEM_MARKER;
        break;
    case TW_ETMV4_ITE:
        item.kind = TW_ITEM_INSTRUMENTATION;
        item.value = packet->value;
        item.sub_isa = packet->value_el;
        break;
    case TW_ETMV4_EXCEPT_RTN:
        item.kind = decoder->reader.setup.profile == TW_PROFILE_M ? TW_ITEM_EXCEPTION_RETURN_P0
                                                                  : TW_ITEM_EXCEPTION_RETURN;
        break;
    case TW_ETMV4_FUNC_RET:
        item.kind = TW_ITEM_FUNCTION_RETURN;
        break;
    case TW_ETMV4_SRC_ADDR_MATCH:
    case TW_ETMV4_SRC_ADDR_S_IS0:
    case TW_ETMV4_SRC_ADDR_S_IS1:
    case TW_ETMV4_SRC_ADDR_L_32IS0:
    case TW_ETMV4_SRC_ADDR_L_32IS1:
    case TW_ETMV4_SRC_ADDR_L_64IS0:
    case TW_ETMV4_SRC_ADDR_L_64IS1:
        item.kind = TW_ITEM_SOURCE;
        item.value = packet->address;
        item.sub_isa = packet->sub_isa;
        break;
    default: /* A-sync, Ignore, conditional instructions, data sync markers: not of the path */
        return;
    }
    add(stage, &item, &packet->base);
}

static void take_packet(struct tw_stage *stage, const struct tw_etmv4_packet *packet,
                        uint8_t header)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const uint8_t type = packet->base.type;

    if (decoder->exception_is_open && !is_address(type)) {
        tw_etmv4_fail(stage, TW_ERROR_BAD_SEQUENCE, &packet->base, header);
        return;
    }
    switch (type) {
    case TW_ETMV4_TRACE_INFO:
        take_trace_info(stage, packet);
        break;
    case TW_ETMV4_OVERFLOW:
    case TW_ETMV4_DISCARD:
        take_loss(stage, packet);
        break;
    case TW_ETMV4_TIMESTAMP:
        add_timestamp(stage, packet);
        break;
    case TW_ETMV4_EXCEPT:
    case TW_ETMV4_PE_RESET:
    case TW_ETMV4_TRANS_FAIL:
        add_exception(stage, packet, header);
        break;
    case TW_ETMV4_TRANS_ST:
    case TW_ETMV4_TRANS_COMMIT:
        take_transaction(stage, packet);
        break;
    case TW_ETMV4_CCNT_F1:
    case TW_ETMV4_CCNT_F2:
    case TW_ETMV4_CCNT_F3:
        take_cycle_count(stage, packet);
        break;
    case TW_ETMV4_COMMIT:
    case TW_ETMV4_CANCEL_F1:
    case TW_ETMV4_CANCEL_F1_MISPRED:
    case TW_ETMV4_CANCEL_F2:
    case TW_ETMV4_CANCEL_F3:
    case TW_ETMV4_MISPREDICT:
        take_speculation(stage, packet);
        break;
    case TW_ETMV4_Q:
        add_q(stage, packet);
        break;
    default:
        if (type >= TW_ETMV4_ATOM_F1 && type <= TW_ETMV4_ATOM_F6)
            add_atoms(stage, packet);
        else if (is_address(type))
            add_address(stage, packet);
        else
            take_simple(stage, packet);
    }
}

static uint8_t error_of(uint8_t type)
{
    switch (type) {
    case TW_ETMV4_RESERVED:
        return TW_ERROR_RESERVED_HEADER;
    case TW_ETMV4_RESERVED_CFG:
    case TW_ETMV4_BAD_TRACEMODE:
        return TW_ERROR_RESERVED_CONFIG;
    case TW_ETMV4_INCOMPLETE_EOT:
        return TW_ERROR_TRUNCATED;
    default:
        return TW_ERROR_BAD_SEQUENCE;
    }
}

/* While not synchronized: A-sync, then Trace Info. */
static void take_unsynced(struct tw_stage *stage, const struct tw_etmv4_packet *packet)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (packet->base.type == TW_ETMV4_ASYNC) {
        decoder->sync = TW_SYNC_INFO;
        return;
    }
    if (packet->base.type == TW_ETMV4_NOT_SYNC)
        tw_stage_unsynced(stage, packet->base.size);
    if (decoder->sync != TW_SYNC_INFO)
        return;
    if (packet->base.type == TW_ETMV4_TRACE_INFO) {
        take_trace_info(stage, packet);
    } else if (decoder->reader.setup.is_ete &&
               (packet->base.type == TW_ETMV4_EVENT || packet->base.type == TW_ETMV4_ITE)) {
        take_simple(stage, packet); /* ETE: valid before Trace Info */
        decoder->drains = true;
    }
}

static void take_bad(struct tw_stage *stage, const struct tw_etmv4_packet *packet,
                     uint8_t header)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (packet->base.type == TW_ETMV4_INCOMPLETE_EOT) {
        tw_stage_damage(stage, TW_ERROR_TRUNCATED, &packet->base, header);
        return;
    }
    if (decoder->sync != TW_SYNC_DONE)
        return;
    drop_all(stage);
    tw_stage_damage(stage, error_of(packet->base.type), &packet->base, header);
    lose_sync(stage, TW_REASON_BAD_PACKET);
    decoder->lost_is_pending = true;
}

void tw_etmv4_take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    uint64_t lost_from = at->offset;

    settle_pending(stage, at);
    (void)tw_etmv4_discard(decoder);
    if (decoder->damage.code == TW_ERROR_TRUNCATED) { /* the gap cut that packet */
        decoder->damage.code = TW_ERROR_NONE;
        lost_from = decoder->damage.offset;
    }
    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    decoder->damage.offset = lost_from;
    tw_etmv4_reader_lost(&decoder->reader);
    lose_sync(stage, TW_REASON_RESET);
    decoder->lost_is_pending = true;
    decoder->is_in_run = false;
}

/* What end of trace releases: what happened anyway, up to the first thing that is unsure. */
void tw_etmv4_prepare_end(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_etmv4_item item = { .kind = TW_ITEM_END, .number = TW_REASON_END };
    const struct tw_packet last = { .index = decoder->last_index,
                                    .offset = decoder->reader.offset };
    size_t to = 0;

    settle_pending(stage, &last);
    for (size_t i = 0; i < decoder->count; i++) {
        const struct tw_etmv4_item *waiting = &decoder->items[decoder->first + i];

        if (waiting->kind < TW_ITEM_NOT_P0 || waiting->kind == TW_ITEM_TRACE_ON)
            break;
        /* An address that belongs to a Q before it is as sure as the Q. */
        if (waiting->kind >= TW_ITEM_KEPT ||
            (waiting->kind == TW_ITEM_TRANSACTION && decoder->depth == 0) ||
            (waiting->kind == TW_ITEM_TARGET && decoder->q_is_open))
            decoder->items[decoder->first + to++] = *waiting;
    }
    decoder->count = to;
    decoder->commit_left = 0;
    decoder->drains = true;
    item.value = decoder->reader.offset;
    if (decoder->sync != TW_SYNC_DONE && decoder->lost_reason == TW_REASON_OVERFLOW)
        item.number = TW_REASON_OVERFLOW;
    item.index = decoder->last_index;
    (void)tw_etmv4_enqueue(decoder, &item); /* it fits, or no memory is left */
}

void tw_etmv4_take(struct tw_stage *stage, const struct tw_etmv4_packet *packet, uint8_t header)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (decoder->sync == TW_SYNC_START) {
        decoder->sync = TW_SYNC_ASYNC;
        decoder->lost_is_pending = true;
    }
    if (decoder->lost_is_pending && packet->base.type != TW_ETMV4_INCOMPLETE_EOT) {
        decoder->lost_is_pending = false;
        emit_no_sync(stage, decoder->lost_reason, packet->base.index);
    }
    if (packet->has_reserved && stage->follow->check_continuity) /* [K10.5.6.3.5] */
        tw_stage_add_error(stage, TW_ERROR_RESERVED_BITS, packet->base.index, header, 0);
    if (tw_kind_is_bad(tw_etmv4_types[packet->base.type].kind))
        take_bad(stage, packet, header);
    else if (decoder->sync == TW_SYNC_DONE)
        take_packet(stage, packet, header);
    else
        take_unsynced(stage, packet);
}
