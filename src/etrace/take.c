/* SPDX-License-Identifier: BSD-2-Clause */
/* What packets mean: where to walk to, then what to say. */
#include "etrace/decode.h"

static struct tw_element *emit(struct tw_stage *stage, uint8_t type)
{
    *stage->out = (struct tw_element){ .index = stage->index, .type = type };
    return stage->out++;
}

/* Loss and return. */

static void lose(struct tw_etrace_decoder *decoder, uint8_t state)
{
    tw_etrace_drop_outcomes(decoder);
    decoder->loop.is_wanted = decoder->loop.is_due = false;
    decoder->state = state;
    decoder->is_inferred = false;
    decoder->has_trap = decoder->has_next_epc = false;
    decoder->place.at = 0;
    decoder->return_depth = 0;
}

void tw_etrace_fail(struct tw_stage *stage, uint8_t code, uint64_t detail)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const bool is_of_code = code == TW_ERROR_RANGE_LIMIT || code == TW_ERROR_PACKET_LIMIT ||
                            code == TW_ERROR_BAD_OPCODE || code == TW_ERROR_IMAGE_MISMATCH;

    if (decoder->state == TW_ETRACE_UNSYNCED && decoder->is_after_error)
        return; /* part of what is to be reported already */
    if (decoder->state == TW_ETRACE_TRACING && !decoder->has_left) {
        decoder->place = decoder->sure; /* what the walk hoped to add is void */
        tw_etrace_flush(stage);
    }
    tw_stage_damage(
        stage, code,
        &(struct tw_packet){ .index = stage->index, .offset = decoder->packet_offset }, detail);
    decoder->is_after_error = true;
    tw_etrace_untie(decoder);
    lose(decoder, TW_ETRACE_UNSYNCED);
    emit(stage, TW_ELEMENT_NO_SYNC)->reason = is_of_code ? TW_REASON_BAD_IMAGE
                                              : code == TW_ERROR_DISCONTINUITY
                                                  ? TW_REASON_DISCARD
                                                  : TW_REASON_BAD_PACKET;
}

/* Packets that mean nothing yet: the trace should begin with format 3 (chapter 11). */
static void pass_over(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    if (decoder->is_after_error)
        return;
    tw_stage_damage(
        stage, TW_ERROR_UNSYNCED,
        &(struct tw_packet){ .index = stage->index, .offset = decoder->packet_offset }, 0);
    decoder->is_after_error = true;
}

/* Tracing begins, or goes on behind a gap. */
static void begin_tracing(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const bool is_new =
        decoder->state == TW_ETRACE_UNSYNCED || decoder->state == TW_ETRACE_ENDED;

    if (!is_new)
        return;
    tw_stage_report(stage, decoder->packet_offset);
    emit(stage, TW_ELEMENT_TRACE_ON)->reason =
        decoder->is_after_loss ? TW_TRACE_ON_OVERFLOW : TW_TRACE_ON_NORMAL;
    decoder->is_after_loss = decoder->is_after_error = false;
}

/* Context. */

/* The address space to look in: the context, where the image tells them apart.  True: it is
   another one than before. */
static bool set_view(struct tw_stage *stage)
{
    const struct tw_blocks *before = stage->follow->blocks;
    struct tw_image *image = stage->follow->code->image;
    uint32_t context = 0;

    if (tw_etrace_of(stage)->image_has_contexts)
        for (size_t i = 0; i < tw_image_region_count(image) && !context; i++)
            if (tw_image_region(image, i)->context == (uint32_t)tw_etrace_of(stage)->context)
                context = (uint32_t)tw_etrace_of(stage)->context;
    tw_follow_view(stage->follow, TW_SPACE_ANY, context);
    return stage->follow->blocks != before;
}

/* Context and time of a format 3 packet.  True: the code is to be looked up anew. */
static bool take_context(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    const bool has_context = decoder->codec.shape.context > 0;
    const bool is_new = !decoder->has_context || packet->privilege != decoder->privilege ||
                        packet->context != decoder->context;
    const bool is_other = has_context && packet->context != decoder->context;

    if (is_new) {
        struct tw_element *out = emit(stage, TW_ELEMENT_PE_CONTEXT);

        decoder->has_context = true;
        decoder->privilege = packet->privilege;
        decoder->context = packet->context;
        out->isa = decoder->isa;
        out->el = packet->privilege & 15u;
        out->flags = (uint8_t)(TW_CONTEXT_HAS_PRIV | (has_context ? TW_CONTEXT_HAS_CID : 0) |
                               (decoder->isa == TW_ISA_RV64 ? TW_CONTEXT_64BIT : 0));
        out->context_id = (uint32_t)packet->context;
        tw_follow_owner(stage->follow, out);
    }
    if (decoder->codec.shape.time)
        emit(stage, TW_ELEMENT_TIMESTAMP)->timestamp = packet->time;
    return is_other && set_view(stage);
}

/* A synchronization packet's address is reached: what both sides forget, they forget now. */
static void synchronize(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    decoder->return_depth = 0;
    if (decoder->codec.config.bpred_reset_on_sync)
        tw_etrace_reset_predictor(decoder);
    decoder->is_inferred = decoder->was_updiscon = false;
    decoder->has_trap = decoder->has_next_epc = false;
    decoder->state = decoder->place.at ? TW_ETRACE_TRACING : TW_ETRACE_MISSING;
}

/* The program is at `address`, by itself; the packet tells which way a branch there goes. */
static void arrive(struct tw_stage *stage, uint64_t address)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    tw_etrace_drop_outcomes(decoder);
    if (tw_etrace_place_at(stage, address) && tw_etrace_is_branch(stage, address)) {
        decoder->map = decoder->packet.branch;
        decoder->count = 1;
    }
}

/* Format 3, subformat 0. */

static void sync_effects(struct tw_stage *stage, bool is_reached)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const uint64_t address = decoder->packet.address;

    if (is_reached)
        tw_etrace_flush_before(stage);
    else
        tw_etrace_flush(stage);
    begin_tracing(stage);
    if (take_context(stage) && is_reached)
        (void)tw_etrace_place_at(stage, address); /* other code, perhaps */
    if (!is_reached)
        arrive(stage, address);
    synchronize(stage);
}

/* ctype 3: another hart or process runs from here on, and the last instruction of the old one was
   reported just before. */
static bool is_asynchronous(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    uint64_t next;

    return decoder->has_context && decoder->packet.context != decoder->context &&
           (decoder->is_inferred || decoder->was_updiscon) &&
           tw_etrace_successor(stage, &next) && next != decoder->packet.address;
}

static void take_sync(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;

    if (decoder->state != TW_ETRACE_TRACING || is_asynchronous(stage)) {
        sync_effects(stage, false);
        return;
    }
    decoder->is_inferred = false;
    if (tw_etrace_is_branch(stage, packet->address)) {
        decoder->map |= (uint64_t)packet->branch << decoder->count;
        decoder->count++;
    }
    decoder->goal = (struct tw_etrace_goal){ .address = packet->address, .is_sync = true };
    if (tw_etrace_reaches(stage)) {
        decoder->phase = TW_ETRACE_FOLLOW;
        return;
    }
    tw_etrace_fail(stage, TW_ERROR_IMAGE_MISMATCH, decoder->place.pc);
    sync_effects(stage, false);
}

/* Format 3, subformat 1. */

/* The trap's EPC.  *is_own: it is the packet's address. */
static bool find_epc(struct tw_stage *stage, uint64_t *epc, bool *is_own)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    const bool is_seed = decoder->codec.shape.is_seed;

    *is_own = false;
    if (is_seed && packet->ecause == 2 && !packet->interrupt) { /* 6.3.1 */
        *epc = packet->tval;
        return true;
    }
    if (decoder->has_next_epc) {
        *epc = decoder->next_epc;
        return true;
    }
    if (decoder->state == TW_ETRACE_TRACING) {
        /* The draft reports a jump's target as executed even when it could not be fetched. */
        const bool is_fetch = packet->ecause == 1 || packet->ecause == 12;

        *epc = decoder->place.pc;
        if (!packet->interrupt &&
            ((decoder->codec.config.ecall_retires && tw_etrace_raised(stage, packet->ecause)) ||
             (is_seed && is_fetch && packet->tval == *epc)))
            return true;
        if (tw_etrace_successor(stage, epc))
            return true;
    }
    *is_own = !packet->thaddr;
    *epc = packet->address;
    return *is_own;
}

static void emit_exception(struct tw_stage *stage, bool has_epc, uint64_t epc)
{
    const struct tw_etrace_packet *packet = &tw_etrace_of(stage)->packet;
    const bool is_seed_epc =
        tw_etrace_of(stage)->codec.shape.is_seed && packet->ecause == 2 && !packet->interrupt;
    struct tw_element *out = emit(stage, TW_ELEMENT_EXCEPTION);

    /* causes of more bits are implementations' own */
    out->number = packet->ecause < UINT32_MAX ? (uint32_t)packet->ecause : UINT32_MAX;
    out->flags = (uint8_t)(TW_EXCEPTION_RISCV | (has_epc ? TW_EXCEPTION_HAS_RETURN : 0) |
                           (packet->interrupt ? TW_EXCEPTION_INTERRUPT : 0));
    out->return_address = has_epc ? epc : 0;
    if ((packet->has & TW_ETRACE_HAS_TVAL) && !is_seed_epc) {
        out->flags |= TW_EXCEPTION_HAS_TVAL;
        out->tval = packet->tval;
    }
}

/* Where the handler is.  False: in implicit exception mode nobody said. */
static bool find_handler(const struct tw_etrace_decoder *decoder, uint64_t *address)
{
    const struct tw_etrace_packet *packet = &decoder->packet;
    const struct tw_etrace_config *config = &decoder->codec.config;
    uint64_t tvec;

    *address = packet->address;
    if (packet->has & TW_ETRACE_HAS_ADDRESS)
        return true;
    if (packet->privilege >= TW_ETRACE_PRIVILEGES ||
        !(config->tvec_mask >> packet->privilege & 1))
        return false;
    tvec = config->tvec[packet->privilege];
    *address = tvec & ~(uint64_t)3;
    if ((tvec & 3) == 1 && packet->interrupt) /* vectored */
        *address += 4u * packet->ecause;
    return true;
}

static void take_trap(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    /* The same trap again, because a second one struck before its handler ran. */
    const bool is_repeated = decoder->has_trap && !packet->thaddr &&
                             packet->ecause == decoder->trap_cause &&
                             packet->interrupt == decoder->trap_interrupt &&
                             (packet->interrupt || packet->tval == decoder->trap_tval);
    uint64_t epc = 0, handler;
    bool is_own = false;

    begin_tracing(stage);
    if (!is_repeated) {
        const bool has_epc = find_epc(stage, &epc, &is_own);

        tw_etrace_flush(stage);
        emit_exception(stage, has_epc, epc);
    }
    lose(decoder, TW_ETRACE_TRAPPED);
    if (packet->thaddr) {
        (void)take_context(stage);
        if (find_handler(decoder, &handler)) {
            arrive(stage, handler);
            synchronize(stage);
        } else {
            tw_etrace_fail(stage, TW_ERROR_UNSUPPORTED, packet->privilege);
        }
        return;
    }
    decoder->has_trap = true;
    decoder->trap_cause = packet->ecause;
    decoder->trap_interrupt = packet->interrupt;
    decoder->trap_tval = packet->tval;
    decoder->has_next_epc = !is_own;
    decoder->next_epc = packet->address;
}

/* Format 3, subformat 3. */

/* Table 6.4: 0 is branch trace, and no other mode is defined. */
static void take_mode(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    decoder->encoder_mode = decoder->packet.encoder_mode;
    if (decoder->encoder_mode)
        tw_etrace_fail(stage, TW_ERROR_ENCODER_MODE, decoder->encoder_mode);
}

/* Data trace that begins while nothing is traced is in step with what will be. */
static void take_data_enable(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;

    if (!packet->has_data_options)
        return;
    if (!packet->denable || packet->dloss)
        tw_etrace_untie(decoder);
    else if (!decoder->tie.is_on && packet->ienable && !decoder->place.at &&
             !stage->follow->sums)
        tw_etrace_tie_begin(decoder);
}

static void support_effects(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const unsigned status = decoder->packet.qual_status;
    const bool is_traced = decoder->state != TW_ETRACE_UNSYNCED;

    take_mode(stage);
    if (status == TW_ETRACE_NO_CHANGE && decoder->packet.ienable) {
        take_data_enable(stage);
        return;
    }
    if (is_traced && !decoder->encoder_mode) {
        tw_etrace_flush(stage);
        tw_etrace_tie_end(stage);
        lose(decoder, TW_ETRACE_ENDED);
    }
    take_data_enable(stage);
    if (status != TW_ETRACE_TRACE_LOST)
        return;
    tw_etrace_untie(decoder);
    emit(stage, TW_ELEMENT_NO_SYNC)->reason = TW_REASON_OVERFLOW;
    decoder->is_after_loss = true;
}

/* Formats 0 to 2. */

static bool has_address(const struct tw_etrace_packet *packet)
{
    return packet->base.type == TW_ETRACE_F0S1 || (packet->has & TW_ETRACE_HAS_ADDRESS);
}

static void add_outcomes(struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_packet *packet = &decoder->packet;
    unsigned branches = packet->branches;

    switch (packet->base.type) {
    case TW_ETRACE_F0S0:
        decoder->predicted += (uint64_t)packet->branch_count + 31;
        decoder->loop.is_wanted = decoder->predicted > TW_ETRACE_LOOP_LEAST;
        decoder->loop.has_begun = decoder->loop.is_due = false;
        decoder->loop.most = 2;
        decoder->is_missed = packet->branch_fmt != 2;
        break;
    case TW_ETRACE_F1:
        if (branches == 0)
            branches = 31;
        decoder->map |= (uint64_t)(packet->branch_map & (((uint64_t)1 << branches) - 1))
                        << decoder->count;
        decoder->count += branches;
        break;
    case TW_ETRACE_F0S1:
        decoder->map |= (uint64_t)(packet->branch_map & (((uint64_t)1 << branches) - 1))
                        << decoder->count;
        decoder->count += branches;
        break;
    default:
        break;
    }
}

void tw_etrace_set_goal(struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_packet *packet = &decoder->packet;

    decoder->goal = (struct tw_etrace_goal){
        .address = packet->address,
        .to_branch = !has_address(packet),
        .report_only =
            packet->base.type == TW_ETRACE_F0S1 || (packet->updiscon && !packet->notify),
        .is_notify = packet->notify,
        .has_irdepth = packet->irreport,
        .irdepth = packet->irdepth,
    };
    if (decoder->goal.to_branch) /* members of earlier packets */
        decoder->goal.report_only = decoder->goal.is_notify = decoder->goal.has_irdepth = false;
    decoder->phase = TW_ETRACE_FOLLOW;
}

/* To the second visit of the last address, which an uninferable jump made (6.6.2, scenario 1). */
static void visit_again(struct tw_etrace_decoder *decoder)
{
    decoder->goal.address = decoder->place.pc;
    decoder->goal.report_only = true;
    decoder->goal.is_sync = decoder->goal.to_branch = false;
    decoder->phase = TW_ETRACE_SECOND_VISIT;
}

/* Code is missing, but here is an address that the program came to. */
static void resume(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;
    /* Packets without a branch map leave the member of an earlier packet. */
    const unsigned branches =
        type == TW_ETRACE_F1 || type == TW_ETRACE_F0S1 ? packet->branches : 0;

    /* What was missed has changed the predictor and the return stack. */
    if (!has_address(packet) ||
        (decoder->codec.options & (TW_ETRACE_BRANCH_PREDICTION | TW_ETRACE_IMPLICIT_RETURN)))
        return;
    if (!tw_etrace_place_at(stage, packet->address))
        return;
    decoder->state = TW_ETRACE_TRACING;
    if (branches && tw_etrace_is_branch(stage, packet->address)) {
        decoder->map = packet->branch_map >> (branches - 1) & 1;
        decoder->count = 1;
    }
}

static void take_jump(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    if (TW_UNLIKELY(decoder->state != TW_ETRACE_TRACING)) {
        if (decoder->state == TW_ETRACE_MISSING)
            resume(stage);
        else if (decoder->state == TW_ETRACE_UNSYNCED)
            pass_over(stage);
        else
            tw_etrace_fail(stage, TW_ERROR_BAD_SEQUENCE, decoder->packet.base.type);
        return;
    }
    add_outcomes(decoder);
    if (decoder->is_inferred)
        visit_again(decoder);
    else
        tw_etrace_set_goal(decoder);
}

static void jump_effects(struct tw_stage *stage, enum tw_etrace_walk how)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const struct tw_etrace_packet *packet = &decoder->packet;
    const uint64_t left = tw_etrace_outcomes(decoder);

    if (how == TW_ETRACE_WALK_REPORTED && left > 0 &&
        (left > 1 || !tw_etrace_is_branch(stage, decoder->place.pc))) {
        tw_etrace_fail(stage, TW_ERROR_IMAGE_MISMATCH, decoder->place.pc);
        return;
    }
    if (left)
        tw_etrace_settle_outcomes(decoder);
    decoder->was_updiscon = !decoder->goal.to_branch && packet->updiscon;
    decoder->is_inferred = how == TW_ETRACE_WALK_ADDRESS && !decoder->goal.is_notify;
    if (TW_UNLIKELY(decoder->goal.is_notify)) {
        struct tw_element *out;

        tw_etrace_flush(stage);
        out = emit(stage, TW_ELEMENT_EVENT);
        out->kind = TW_EVENT_NOTIFY;
        out->value = packet->address;
    }
}

/* All packets. */

void tw_etrace_take(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;

    if (TW_UNLIKELY(decoder->encoder_mode && type < TW_ETRACE_F3S3))
        return; /* these bits mean something else */
    if (type <= TW_ETRACE_F3S3)
        tw_etrace_track(&decoder->codec, packet);
    switch (type) {
    case TW_ETRACE_F3S0:
        take_sync(stage);
        break;
    case TW_ETRACE_F3S1:
        take_trap(stage);
        break;
    case TW_ETRACE_F3S2:
        if (decoder->state == TW_ETRACE_UNSYNCED)
            break;
        tw_etrace_flush(stage);
        if (take_context(stage) && decoder->place.at &&
            tw_etrace_place_at(stage, decoder->place.pc))
            tw_etrace_skip(stage);
        break;
    case TW_ETRACE_F3S3:
        if (packet->qual_status == TW_ETRACE_ENDED_UPD && decoder->is_inferred)
            visit_again(decoder);
        else
            support_effects(stage);
        break;
    case TW_ETRACE_F0S0:
    case TW_ETRACE_F0S1:
    case TW_ETRACE_F1:
    case TW_ETRACE_F2:
        take_jump(stage);
        break;
    default:
        tw_etrace_take_data(stage);
    }
}

/* A walk came to its end, or broke off. */
static void end_walk(struct tw_stage *stage, enum tw_etrace_walk how)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    const unsigned type = decoder->packet.base.type;
    const bool is_second = decoder->phase == TW_ETRACE_SECOND_VISIT;
    const bool is_broken = how == TW_ETRACE_WALK_ERROR || how == TW_ETRACE_WALK_MISSING;

    decoder->phase = TW_ETRACE_IDLE;
    if (how == TW_ETRACE_WALK_ERROR)
        tw_etrace_fail(stage, decoder->walk_error, decoder->walk_error_detail);
    else if (how == TW_ETRACE_WALK_MISSING)
        lose(decoder, TW_ETRACE_MISSING);
    decoder->is_inferred = false;
    if (type == TW_ETRACE_F3S0)
        sync_effects(stage, !is_broken);
    else if (type == TW_ETRACE_F3S3)
        support_effects(stage);
    else if (is_broken)
        return;
    else if (is_second)
        tw_etrace_set_goal(decoder);
    else
        jump_effects(stage, how);
}

bool tw_etrace_go_on(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    while (decoder->phase != TW_ETRACE_IDLE) {
        const enum tw_etrace_walk how = tw_etrace_walk(stage);

        if (how == TW_ETRACE_WALK_FULL)
            return false;
        end_walk(stage, how);
    }
    return true;
}
