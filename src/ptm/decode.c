/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: bytes to elements in one pass.  Atoms and plain branches drive the follower straight from
   the bytes; every other packet is read whole. */
#include "ptm/decode.h"

#include <string.h>

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= TW_PTM_PACKET_MOST && !stage->follow->is_stopped;
}

static void forget(struct tw_stage *stage)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    tw_follow_lose(stage->follow);
    stage->follow->return_count = 0;
    stage->follow->error = TW_ERROR_NONE;
    decoder->context.has_context_id = decoder->context.has_vmid = false;
}

void tw_ptm_fail(struct tw_stage *stage, uint8_t code, const struct tw_packet *packet,
                 uint64_t detail)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    forget(stage);
    tw_stage_damage(stage, code, packet, detail);
    decoder->sync = TW_PTM_SYNC_ISYNC;
    tw_armv7_add_no_sync(stage,
                         code == TW_ERROR_BAD_OPCODE || code == TW_ERROR_RANGE_LIMIT
                             ? TW_REASON_BAD_IMAGE
                             : TW_REASON_BAD_PACKET,
                         packet->index);
}

/* Takes over security state and Hyp mode; true when they are new. */
static bool take_state(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    return tw_armv7_take_state(stage, &decoder->context, packet->ns,
                               packet->hyp && decoder->reader.setup.has_hyp);
}

static void take_isync(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const bool is_first = decoder->sync != TW_PTM_SYNC_DONE;
    bool is_new =
        take_state(stage, packet) || is_first || tw_follow_isa(stage->follow) != packet->isa;

    if (packet->has_context_id && (!decoder->context.has_context_id ||
                                   decoder->context.context_id != packet->context_id)) {
        decoder->context.has_context_id = is_new = true;
        decoder->context.context_id = packet->context_id;
    }
    if (is_first)
        tw_stage_report(stage, packet->base.offset);
    decoder->sync = TW_PTM_SYNC_DONE;
    if (is_first || packet->reason != TW_PTM_PERIODIC) {
        struct tw_element *on = tw_stage_add(stage, TW_ELEMENT_TRACE_ON, packet->base.index);

        on->reason = tw_armv7_trace_on[packet->reason & 3];
        if (packet->has_cycles)
            tw_ptm_set_cycles(on, packet->cycles);
        tw_follow_lose(stage->follow);
    }
    if (is_new)
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    stage->follow->return_count = 0;
    tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
}

static void take_exception(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;
    enum { DEBUG_ENTRY = 1, RESET = 8 };
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_EXCEPTION, packet->base.index);

    element->number = packet->exception & 15;
    element->kind = TW_NUMBERS_ARMV7;
    if (element->number != RESET && tw_follow_is_placed(stage->follow)) {
        element->flags |= TW_EXCEPTION_HAS_RETURN;
        element->return_address = tw_follow_address(stage->follow);
    }
    if (packet->has_cycles) {
        element->exception_cycles = packet->cycles;
        element->flags |= TW_FLAG_HAS_CYCLES;
    }
    tw_follow_lose(stage->follow);
    if (take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    if (element->number != DEBUG_ENTRY)
        tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
    else
        stage->follow->isa = packet->isa; /* its address means nothing */
}

static void take_branch(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_element *first = stage->out;

    if (packet->has_info && packet->exception & 15) {
        take_exception(stage, packet);
        return;
    }
    stage->out = tw_follow_taken(stage->follow, stage->out, packet->base.index);
    if (packet->has_cycles)
        stage->out = tw_ptm_give_cycles(first, stage->out, packet->cycles, packet->base.index);
    if (stage->follow->error)
        return;
    if (packet->has_info && take_state(stage, packet))
        (void)tw_armv7_add_context(stage, &decoder->context, packet->isa, packet->base.index);
    tw_armv7_jump(stage, packet->address, packet->isa, packet->base.index);
}

static void take_update(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_follow *follow = stage->follow;

    stage->out = tw_follow_to_update(follow, stage->out, packet->address, packet->base.index);
    if (follow->error != TW_ERROR_IMAGE_MISMATCH)
        return;
    follow->error = TW_ERROR_NONE;
    tw_stage_add_error(stage, TW_ERROR_IMAGE_MISMATCH, packet->base.index, packet->address, 0);
}

static void take_number(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const bool is_context = packet->base.type == TW_PTM_CONTEXT_ID;
    bool *has = is_context ? &decoder->context.has_context_id : &decoder->context.has_vmid;
    uint32_t *value = is_context ? &decoder->context.context_id : &decoder->context.vmid;

    if (*has && *value == packet->value)
        return;
    *has = true;
    *value = packet->value;
    (void)tw_armv7_add_context(stage, &decoder->context, tw_follow_isa(stage->follow),
                               packet->base.index);
}

static void take_timestamp(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_element *element =
        tw_armv7_add_time(stage, packet->time, packet->freq_changed, packet->base.index);

    if (packet->has_cycles)
        tw_ptm_set_cycles(element, packet->cycles);
    tw_follow_time(stage->follow, element);
}

static void take_packet(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_element *first = stage->out;

    switch (packet->base.type) {
    case TW_PTM_ISYNC:
        take_isync(stage, packet);
        break;
    case TW_PTM_ATOM:
        stage->out = tw_follow_atoms(stage->follow, stage->out, packet->atoms,
                                     packet->atom_count, packet->base.index);
        if (packet->has_cycles)
            stage->out =
                tw_ptm_give_cycles(first, stage->out, packet->cycles, packet->base.index);
        break;
    case TW_PTM_BRANCH_ADDRESS:
        take_branch(stage, packet);
        break;
    case TW_PTM_WP_UPDATE:
        take_update(stage, packet);
        break;
    case TW_PTM_CONTEXT_ID:
    case TW_PTM_VMID:
        take_number(stage, packet);
        break;
    case TW_PTM_TIMESTAMP:
        take_timestamp(stage, packet);
        break;
    case TW_PTM_EXCEPTION_RETURN:
        tw_stage_add(stage, TW_ELEMENT_EXCEPTION_RET, packet->base.index);
        break;
    case TW_PTM_TRIGGER:
        tw_stage_add(stage, TW_ELEMENT_EVENT, packet->base.index)->kind = TW_EVENT_TRIGGER;
        break;
    default: /* ASYNC, IGNORE */
        break;
    }
}

static void take_bad(struct tw_stage *stage, const struct tw_ptm_packet *packet)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    const uint8_t code = packet->base.type == TW_PTM_RESERVED         ? TW_ERROR_RESERVED_HEADER
                         : packet->base.type == TW_PTM_INCOMPLETE_EOT ? TW_ERROR_TRUNCATED
                                                                      : TW_ERROR_BAD_SEQUENCE;

    tw_stage_damage(stage, code, &packet->base, packet->value);
    if (code == TW_ERROR_TRUNCATED)
        return;
    forget(stage);
    if (decoder->sync == TW_PTM_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_BAD_PACKET, packet->base.index);
    decoder->sync = TW_PTM_SYNC_ASYNC;
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_ptm_decoder *decoder = stage->decoder;
    struct tw_ptm_packet packet;
    const uint8_t *at = stage->at;

    decoder->reader.offset = tw_stage_offset(stage, at);
    if (tw_ptm_read(&decoder->reader, &packet, at, (size_t)(stage->end - at), stage->is_last) !=
        TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    if (packet.base.type != TW_PTM_NOT_SYNC || !decoder->is_in_run)
        decoder->last_index = packet.base.index;
    decoder->is_in_run = packet.base.type == TW_PTM_NOT_SYNC;
    stage->at = at + packet.base.size;
    if (decoder->sync == TW_PTM_SYNC_START) {
        decoder->sync = TW_PTM_SYNC_ASYNC;
        tw_armv7_add_no_sync(stage, decoder->lost_reason, packet.base.index);
    }
    if (tw_ptm_type_is_bad(packet.base.type))
        take_bad(stage, &packet);
    else if (decoder->sync == TW_PTM_SYNC_DONE || packet.base.type == TW_PTM_ISYNC)
        take_packet(stage, &packet);
    else if (packet.base.type == TW_PTM_ASYNC)
        decoder->sync = TW_PTM_SYNC_ISYNC;
    else if (decoder->is_in_run)
        tw_stage_unsynced(stage, packet.base.size);
    if (stage->follow->error)
        tw_ptm_fail(stage, stage->follow->error, &packet.base, stage->follow->error_detail);
    /* That sync is missing is known at once, however long the run becomes. */
    tw_stage_mark(stage, stage->out, decoder->is_in_run ? at + 1 : stage->at);
    return true;
}

/* A stretch of input without a gap.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    const struct tw_ptm_decoder *decoder = stage->decoder;

    for (;;) {
        if (!has_room(stage))
            return false;
        if (decoder->sync == TW_PTM_SYNC_DONE && stage->end - stage->at > TW_PTM_FAST_MARGIN) {
            tw_ptm_fast(stage);
            if (!has_room(stage))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_ptm_decoder *decoder = stage->decoder;

    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    forget(stage);
    tw_ptm_reader_lost(&decoder->reader);
    if (decoder->sync == TW_PTM_SYNC_DONE)
        tw_armv7_add_no_sync(stage, TW_REASON_RESET, at->index);
    if (decoder->sync != TW_PTM_SYNC_START)
        decoder->sync = TW_PTM_SYNC_ASYNC;
}

enum tw_status tw_ptm_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                             struct tw_input *in)
{
    struct tw_ptm_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_PTM_PACKET_MOST)
        return TW_E_ARGUMENT;
    follow->pops_at_once = follow->says_unplaced = true;
    tw_stage_begin(&stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    decoder->reader.offset = tw_stage_offset(&stage, stage.at); /* however it got there ... */
    follow->last_block = follow->last_taken = 0; /* ... which no packet asks for */
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_ptm_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_ptm_decoder *decoder = state;
    struct tw_stage stage;

    if (decoder->is_ended)
        return TW_END;
    tw_stage_begin(&stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    if (has_room(&stage)) {
        tw_stage_report(&stage, decoder->reader.offset);
        tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->last_index)->reason = TW_REASON_END;
        decoder->is_ended = true;
    }
    tw_stage_finish(&stage);
    tw_follow_leave(follow);
    return decoder->is_ended ? TW_END : TW_OK;
}

void tw_ptm_decoder_init(void *state, const void *config)
{
    struct tw_ptm_decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    decoder->config = *(const struct tw_ptm_config *)config;
    tw_ptm_reader_init(&decoder->reader, &decoder->config);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_ptm_decoder_reset(void *state)
{
    struct tw_ptm_decoder *decoder = state;

    tw_ptm_reader_lost(&decoder->reader); /* its tables stay */
    decoder->reader.offset = 0;
    memset((char *)decoder + offsetof(struct tw_ptm_decoder, damage), 0,
           sizeof *decoder - offsetof(struct tw_ptm_decoder, damage));
    decoder->lost_reason = TW_REASON_RESET;
}

void tw_ptm_code_config(struct tw_code_config *code, const void *config)
{
    struct tw_ptm_setup setup;

    tw_ptm_setup_from_config(&setup, config);
    code->isa.profile = TW_PROFILE_A;
    code->isa.arch = 7;
    code->isa.dsb_dmb_is_waypoint = setup.barriers_are_waypoints;
    code->ignores_it = true;
    code->links_are_special = setup.return_stack;
}
