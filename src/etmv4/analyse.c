/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE, step 3: what was committed becomes elements; the follower finds the path. */
#include "base/m_profile.h"
#include "etmv4/decode.h"

#include <string.h>

/* M profile: no code ran since the last exception. */
static const uint64_t tail_chain_address = 0xfffffffe;

static enum tw_security security_of(const struct tw_etmv4_context *context)
{
    if (context->nse)
        return context->ns ? TW_REALM : TW_ROOT;
    return context->ns ? TW_NONSECURE : TW_SECURE;
}

static uint32_t space_of(const struct tw_etmv4_context *context)
{
    static const uint32_t spaces[4][4] = {
        [TW_SECURE] = { TW_SPACE_EL1S, TW_SPACE_EL1S, TW_SPACE_EL2S, TW_SPACE_EL3 },
        [TW_NONSECURE] = { TW_SPACE_EL1N, TW_SPACE_EL1N, TW_SPACE_EL2, TW_SPACE_EL3 },
        [TW_ROOT] = { TW_SPACE_ROOT, TW_SPACE_ROOT, TW_SPACE_ROOT, TW_SPACE_ROOT },
        [TW_REALM] = { TW_SPACE_EL1R, TW_SPACE_EL1R, TW_SPACE_EL2R, TW_SPACE_ROOT },
    };

    return spaces[security_of(context)][context->el & 3];
}

static void emit_context(struct tw_stage *stage, const struct tw_etmv4_context *context,
                         uint64_t index)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_element *out = tw_stage_add(stage, TW_ELEMENT_PE_CONTEXT, index);

    out->isa = tw_etmv4_isa(decoder, context->sf, decoder->sub_isa);
    out->flags = TW_CONTEXT_HAS_EL;
    if (decoder->reader.setup.profile == TW_PROFILE_M)
        out->flags |= TW_CONTEXT_M;
    if (context->sf)
        out->flags |= TW_CONTEXT_64BIT;
    if (context->has_cid)
        out->flags |= TW_CONTEXT_HAS_CID;
    if (context->has_vmid)
        out->flags |= TW_CONTEXT_HAS_VMID;
    out->el = (unsigned)context->el & 3u;
    out->security = (unsigned)security_of(context) & 3u;
    out->context_id = context->cid;
    out->vmid = context->vmid;
}

/* After Trace Info the return stack is pushed again once address and context have come. */
static void unblock(struct tw_stage *stage)
{
    const struct tw_etmv4_decoder *decoder = stage->decoder;

    stage->follow->push_is_blocked = decoder->push_needs_address || decoder->push_needs_context;
}

/* Address and context are both known: that is the place. */
static void settle(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (!decoder->has_context || !decoder->has_address)
        return;
    tw_follow_jump(stage->follow, decoder->address,
                   tw_etmv4_isa(decoder, decoder->sf, decoder->sub_isa));
}

static void take_context(struct tw_stage *stage, const struct tw_etmv4_context *context,
                         uint64_t index)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const bool changes_isa = decoder->sf != context->sf;

    decoder->sf = context->sf;
    decoder->push_needs_context = false;
    unblock(stage);
    emit_context(stage, context, index);
    tw_follow_context(stage->follow, space_of(context), stage->out - 1);
    if (!decoder->has_context) {
        decoder->has_context = true;
        settle(stage);
    } else if (changes_isa && stage->follow->at != TW_NEXT_NEEDED) {
        /* It belongs to the address that has just come. */
        tw_follow_go(stage->follow, tw_follow_address(stage->follow),
                     tw_etmv4_isa(decoder, decoder->sf, decoder->sub_isa), 0);
    }
}

static void close_q(struct tw_stage *stage, uint64_t address);

static void take_target(struct tw_stage *stage, uint64_t address, uint8_t sub_isa)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (decoder->q_is_open)
        close_q(stage, address);
    decoder->has_address = true;
    decoder->address = address;
    decoder->sub_isa = sub_isa;
    decoder->push_needs_address = false;
    unblock(stage);
    settle(stage);
}

void tw_etmv4_use_up_address(struct tw_etmv4_decoder *decoder)
{
    if (!decoder->has_context)
        decoder->has_address = false;
}

void tw_etmv4_forget_place(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    decoder->has_context = decoder->has_address = false;
    decoder->has_returns = false;
    decoder->q_is_open = false;
    decoder->atom_is_pending = false;
    stage->follow->last_block = 0;
    stage->follow->return_count = 0;
    tw_follow_lose(stage->follow);
}

/* What a transaction that fails pushed and popped is undone, as if its elements had never come
   [K10.5.4.4].  Who takes the elements decides about those. */
static void analyse_transaction(struct tw_stage *stage, uint8_t kind, uint64_t index)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;

    if (kind == TW_TRANS_FAIL) {
        tw_follow_lose(follow); /* the next address tells where to */
        if (decoder->has_returns)
            tw_follow_restore_returns(follow, &decoder->returns);
    }
    decoder->has_returns = kind == TW_TRANS_START || kind == TW_TRANS_INIT;
    if (decoder->has_returns)
        tw_follow_save_returns(follow, &decoder->returns);
    tw_stage_add(stage, TW_ELEMENT_MEMTRANS, index)->kind = kind;
}

static void analyse_exception(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const bool is_tail = decoder->reader.setup.profile == TW_PROFILE_M &&
                         item->value == tail_chain_address && item->has_address;
    struct tw_element *out;

    if (item->has_context)
        take_context(stage, &item->context, item->index);
    if (item->has_address && item->is_target)
        take_target(stage, item->value, item->sub_isa);
    if (item->has_address && !is_tail && decoder->has_context)
        stage->out =
            tw_follow_to_exception(stage->follow, stage->out, item->value, item->index);
    if (stage->follow->error)
        return;
    out = tw_stage_add(stage, TW_ELEMENT_EXCEPTION, item->index);
    out->number = item->number;
    out->kind =
        decoder->reader.setup.profile == TW_PROFILE_M ? TW_NUMBERS_ARMV8_M : TW_NUMBERS_ARMV8;
    if (out->kind == TW_NUMBERS_ARMV8_M)
        out->architectural = tw_m_from_etmv4(item->number);
    if (is_tail)
        out->flags = TW_EXCEPTION_TAIL_CHAIN;
    else if (item->has_address)
        out->flags = TW_EXCEPTION_HAS_RETURN;
    if (item->has_address && !is_tail)
        out->return_address = item->value;
    if (item->is_target)
        out->flags |= TW_EXCEPTION_RETURN_IS_TARGET;
    tw_etmv4_use_up_address(decoder);
}

/* A Q element: so many instructions ran (or no one knows how many) up to this address [K10.5.5.15]. */
static void close_q(struct tw_stage *stage, uint64_t address)
{
    struct tw_follow *follow = stage->follow;
    struct tw_etmv4_decoder *decoder = stage->decoder;
    const struct tw_etmv4_item *q = &decoder->q;
    const bool has_count = q->has_count && q->number;
    enum tw_ways ways = TW_WAYS_MANY;
    struct tw_element *out;
    struct tw_way way;

    decoder->q_is_open = false;
    if (follow->error || !follow->blocks)
        return;
    if (!tw_follow_is_placed(follow)) {
        if (!follow->error)
            stage->out = tw_follow_unknown(follow, stage->out, q->index);
        return;
    }
    if (has_count)
        ways = tw_follow_find_way(follow, &way, q->number, address);
    if (ways == TW_WAYS_ONE) {
        stage->out = tw_follow_way(follow, stage->out, &way, q->index);
        return;
    }
    if (ways == TW_WAYS_NONE)
        tw_stage_add_error(stage, TW_ERROR_IMAGE_MISMATCH, q->index, address, 0);
    out = tw_stage_add(stage, TW_ELEMENT_I_RANGE_NOPATH, q->index);
    out->first = tw_follow_address(follow);
    out->next = address;
    out->count = has_count ? q->number : 0;
    out->isa = tw_follow_isa(follow);
}

static void analyse_q(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    tw_etmv4_use_up_address(decoder);
    decoder->q = *item;
    decoder->q_is_open = true;
    if (item->has_address)
        take_target(stage, item->value, item->sub_isa);
}

void tw_etmv4_go_on(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    bool done;

    stage->out =
        tw_follow_to_source(stage->follow, stage->out, stage->limit, decoder->source.value,
                            stage->follow->splits_sources, decoder->source.index, &done);
    decoder->source_is_open = !done && !stage->follow->error;
    if (stage->follow->error ==
        TW_ERROR_IMAGE_MISMATCH) { /* the next address tells where to go on */
        tw_stage_add_error(stage, TW_ERROR_IMAGE_MISMATCH, decoder->source.index,
                           stage->follow->error_detail, 0);
        stage->follow->error = TW_ERROR_NONE;
    }
    if (!decoder->source_is_open)
        memset(&decoder->source, 0, sizeof decoder->source); /* no part of the state */
}

static void analyse_source(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    const uint8_t isa = tw_etmv4_isa(decoder, decoder->sf, item->sub_isa);

    tw_etmv4_use_up_address(decoder);
    if (!decoder->has_context) {
        stage->out = tw_follow_unknown(follow, stage->out, item->index);
        return;
    }
    if (!tw_follow_is_placed(follow))
        follow->isa = isa;
    else if (tw_follow_isa(follow) != isa) /* the path knows better; but say so */
        tw_stage_add_error(stage, TW_ERROR_IMAGE_MISMATCH, item->index, item->value, 0);
    if (follow->error)
        return;
    decoder->source = *item;
    decoder->source_is_open = true;
    tw_etmv4_go_on(stage);
}

static void follow_atom(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_follow *follow = stage->follow;
    const bool was_blocked = follow->push_is_blocked;

    tw_etmv4_use_up_address(stage->decoder);
    /* Pushes go by the first status of an atom, mispredicted or not. */
    follow->push_is_blocked = was_blocked || !item->was_taken;
    follow->last_block = 0;
    stage->out = tw_follow_atoms(follow, stage->out, item->is_taken, 1, item->index);
    follow->push_is_blocked = was_blocked;
    if (item->was_taken && !item->is_taken && !was_blocked)
        tw_follow_push_last(follow);
}

void tw_etmv4_analyse_pending(struct tw_stage *stage)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;

    if (!decoder->atom_is_pending)
        return;
    decoder->atom_is_pending = false;
    follow_atom(stage, &decoder->atom);
}

static void analyse_other(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    struct tw_element *out = stage->out;

    switch (item->kind) {
    case TW_ITEM_TIMESTAMP:
        tw_stage_add(stage, TW_ELEMENT_TIMESTAMP, item->index);
        out->timestamp = item->value;
        tw_follow_time(stage->follow, out);
        if (item->has_count) {
            out->flags = TW_FLAG_HAS_CYCLES | TW_TIME_CYCLES_APART;
            out->cycles = item->number;
        }
        break;
    case TW_ITEM_CYCLE_COUNT:
        tw_stage_add(stage, TW_ELEMENT_CYCLE_COUNT, item->index);
        out->flags = TW_FLAG_HAS_CYCLES;
        if (!item->has_count)
            out->flags |= TW_CYCLES_UNKNOWN;
        out->cycles = item->number;
        break;
    case TW_ITEM_EVENT:
        tw_stage_add(stage, TW_ELEMENT_EVENT, item->index);
        out->kind = TW_EVENT_NUMBERED;
        out->flags = TW_EVENT_IS_MASK;
        out->count = item->number;
        break;
    case TW_ITEM_MARKER:
        tw_stage_add(stage, TW_ELEMENT_SYNC_MARKER, item->index);
        break;
    case TW_ITEM_INSTRUMENTATION:
        tw_stage_add(stage, TW_ELEMENT_INSTRUMENTATION, item->index);
        out->value = item->value;
        out->instrumentation_el = item->sub_isa;
        break;
    case TW_ITEM_TRANS_START_P0:
        analyse_transaction(stage, TW_TRANS_START, item->index);
        break;
    case TW_ITEM_TRANSACTION:
        analyse_transaction(stage, (uint8_t)item->number, item->index);
        break;
    case TW_ITEM_NO_SYNC:
        tw_etmv4_forget_place(stage);
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, item->index);
        out->reason = (uint8_t)item->number;
        break;
    case TW_ITEM_END:
        tw_stage_report(stage, item->value);
        out = stage->out;
        tw_stage_add(stage, TW_ELEMENT_EO_TRACE, item->index);
        out->reason = (uint8_t)item->number;
        decoder->is_ended = true;
        break;
    default:
        break;
    }
}

void tw_etmv4_analyse(struct tw_stage *stage, const struct tw_etmv4_item *item)
{
    struct tw_etmv4_decoder *decoder = stage->decoder;
    bool had_context, had_returns;

    tw_etmv4_analyse_pending(stage);
    if (stage->follow->error)
        return;
    switch (item->kind) {
    case TW_ITEM_ATOM:
        decoder->atom = *item;
        decoder->atom_is_pending = true;
        break;
    case TW_ITEM_EXCEPTION:
        analyse_exception(stage, item);
        break;
    case TW_ITEM_Q:
        analyse_q(stage, item);
        break;
    case TW_ITEM_SOURCE:
        analyse_source(stage, item);
        break;
    case TW_ITEM_TARGET:
        take_target(stage, item->value, item->sub_isa);
        break;
    case TW_ITEM_CONTEXT:
        take_context(stage, &item->context, item->index);
        break;
    case TW_ITEM_TRACE_ON: /* the context stays unless told (R_TJLYH) */
        had_context = decoder->has_context;
        had_returns = decoder->has_returns;
        tw_etmv4_forget_place(stage);
        decoder->has_context = had_context;
        decoder->has_returns = had_returns;
        tw_stage_add(stage, TW_ELEMENT_TRACE_ON, item->index);
        stage->out[-1].reason = (uint8_t)item->number;
        break;
    case TW_ITEM_TRACE_INFO: /* [K10.5.5.9] */
        tw_follow_empty_returns(stage->follow);
        decoder->push_needs_address = decoder->push_needs_context = true;
        unblock(stage);
        break;
    case TW_ITEM_MISPREDICT:
        tw_follow_flip(stage->follow);
        break;
    case TW_ITEM_EXCEPTION_RETURN:
    case TW_ITEM_EXCEPTION_RETURN_P0:
        stage->follow->pop_is_pending = false;
        tw_stage_add(stage, TW_ELEMENT_EXCEPTION_RET, item->index);
        break;
    default:
        analyse_other(stage, item);
    }
}
