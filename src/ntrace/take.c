/* SPDX-License-Identifier: BSD-2-Clause */
/* What messages mean: how far to walk, then what to say. */
#include "ntrace/decode.h"

enum {
    ICNT_BITS = 32, /* more than any unit's: the specification allows 22 */
    CKSRC_CONTROL = 0,
    CKSRC_CALL = 9
};

static struct tw_element *emit(struct tw_stage *stage, uint8_t type)
{
    return tw_stage_add(stage, type, stage->index);
}

/* ---- loss and return ---- */

static void lose(struct tw_ntrace_decoder *decoder, uint8_t state)
{
    decoder->state = state;
    decoder->phase = TW_NTRACE_DONE;
    decoder->previous.is_there = false;
    decoder->times = 0;
    decoder->adjust = 0;
    decoder->has_pc = false;
    decoder->at = decoder->last = 0;
    decoder->return_depth = 0;
}

void tw_ntrace_fail(struct tw_stage *stage, uint8_t code, uint64_t detail)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const bool is_of_code = code == TW_ERROR_RANGE_LIMIT || code == TW_ERROR_BAD_OPCODE ||
                            code == TW_ERROR_IMAGE_MISMATCH || code == TW_ERROR_RETURN_STACK;

    if (decoder->state == TW_NTRACE_UNSYNCED && decoder->is_after_error)
        return; /* part of what is to be reported already */
    tw_stage_damage(
        stage, code,
        &(struct tw_packet){ .index = stage->index, .offset = decoder->packet_offset }, detail);
    decoder->is_after_error = true;
    lose(decoder, TW_NTRACE_UNSYNCED);
    emit(stage, TW_ELEMENT_NO_SYNC)->reason = is_of_code ? TW_REASON_BAD_IMAGE
                                              : code == TW_ERROR_DISCONTINUITY
                                                  ? TW_REASON_DISCARD
                                                  : TW_REASON_BAD_PACKET;
}

/* Tracing begins, or goes on behind a gap. */
static void begin_tracing(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const unsigned sync = decoder->packet.sync;
    struct tw_element *out;

    tw_stage_report(stage, decoder->packet_offset);
    out = emit(stage, TW_ELEMENT_TRACE_ON);
    out->reason = decoder->is_after_loss || sync == TW_NTRACE_SYNC_OVERRUN
                      ? TW_TRACE_ON_OVERFLOW
                  : sync == TW_NTRACE_SYNC_DEBUG_EXIT ? TW_TRACE_ON_DEBUG_EXIT
                                                      : TW_TRACE_ON_NORMAL;
    out->count = sync + 1;
    decoder->is_after_loss = decoder->is_after_error = false;
}

/* ---- time ---- */

static uint64_t wrap_time(const struct tw_ntrace_decoder *decoder, uint64_t time)
{
    const unsigned width = decoder->codec.config.time_width;

    return width && width < 64 ? time & (((uint64_t)1 << width) - 1) : time;
}

static void take_time(struct tw_ntrace_decoder *decoder)
{
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const bool is_absolute = tw_ntrace_is_sync(packet->base.type) ||
                             packet->base.type == TW_NTRACE_IN_CIRCUIT_TRACE_SYNC;

    if (is_absolute)
        decoder->time = packet->tstamp;
    else if (decoder->is_dialect)
        decoder->time ^= packet->tstamp;
    else
        decoder->time = wrap_time(decoder, decoder->time + packet->tstamp);
    decoder->has_time |= is_absolute;
}

/* What was walked happened before this. */
static void emit_time(struct tw_stage *stage)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;

    if ((decoder->packet.has & TW_NTRACE_HAS_TSTAMP) && decoder->has_time) {
        struct tw_element *out = emit(stage, TW_ELEMENT_TIMESTAMP);

        out->timestamp = decoder->time;
        tw_follow_time(stage->follow, out);
    }
}

/* ---- walks ---- */

/* Walks what the message at hand counts. */
static void begin_walk(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const int64_t units = (int64_t)packet->icnt + decoder->adjust;

    decoder->adjust = 0;
    decoder->last = 0;
    if (packet->icnt >> ICNT_BITS || units < 0) {
        tw_ntrace_fail(stage, TW_ERROR_BAD_SEQUENCE, packet->tcode);
        return;
    }
    decoder->way = (struct tw_ntrace_way){ .left = (uint64_t)units };
    if (packet->has & TW_NTRACE_HAS_HIST)
        tw_ntrace_set_bits(&decoder->way, packet->hist);
    decoder->phase = TW_NTRACE_BY_COUNT;
}

/* What one message may lead through: more than fields of the widths that there are ask for in any program,
   and less than would keep a reader of a few bytes busy for long. */
static const uint64_t branches_most = UINT64_C(1) << 25, half_words_most = UINT64_C(1) << 28;

/* Outcomes of branches that ResourceFull tells.  TW_ERROR_NONE, or what is wrong. */
static enum tw_error_code take_history(struct tw_ntrace_decoder *decoder)
{
    const struct tw_ntrace_packet *packet = &decoder->packet;
    uint64_t hist = packet->rdata, times = 1;

    if (packet->code == TW_NTRACE_RCODE_REPEAT) {
        times = packet->hrepeat;
    } else if (packet->code != TW_NTRACE_RCODE_HIST) {
        hist = packet->code == TW_NTRACE_RCODE_TAKEN ? 3 : 2;
        times = packet->rdata;
    }
    if (hist < 2 || times == 0)
        return TW_ERROR_BAD_SEQUENCE;
    if (TW_UNLIKELY(times > 1) && times > branches_most / tw_highest_bit(hist))
        return TW_ERROR_PACKET_LIMIT;
    decoder->way = (struct tw_ntrace_way){ .left = UINT64_MAX };
    tw_ntrace_set_pattern(&decoder->way, hist, times);
    decoder->phase = TW_NTRACE_BY_HISTORY;
    return TW_ERROR_NONE;
}

/* A message of the program's flow, and it is not known where the program is. */
static void pass_over(struct tw_stage *stage)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;

    if (decoder->state == TW_NTRACE_UNSYNCED && !tw_ntrace_is_sync(decoder->packet.base.type))
        tw_stage_unsynced(stage, decoder->packet.base.size);
}

static void take_resource(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const unsigned code = packet->code;
    const bool is_of_dialect =
        code == TW_NTRACE_RCODE_NOT_TAKEN || code == TW_NTRACE_RCODE_TAKEN;
    enum tw_error_code error;

    if (decoder->state != TW_NTRACE_TRACING) {
        pass_over(stage);
        emit_time(stage);
        return;
    }
    /* Of others, and a vendor's own, only this is known: history was lost. */
    if (code > TW_NTRACE_RCODE_REPEAT &&
        !(is_of_dialect && decoder->codec.config.dialect != TW_NTRACE_1_0)) {
        tw_ntrace_fail(stage, TW_ERROR_UNSUPPORTED, packet->tcode);
        return;
    }
    if (code == TW_NTRACE_RCODE_ICNT)
        error = packet->rdata >> ICNT_BITS ? TW_ERROR_BAD_SEQUENCE : TW_ERROR_NONE;
    else
        error = take_history(decoder);
    if (error != TW_ERROR_NONE) {
        tw_ntrace_fail(stage, (uint8_t)error, packet->tcode);
    } else if (code == TW_NTRACE_RCODE_ICNT) {
        decoder->adjust += (int64_t)packet->rdata;
        emit_time(stage);
    }
}

/* The message at hand happened again; the time of all is told with the last. */
static void begin_repetition(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    decoder->packet.has &= (uint8_t)~TW_NTRACE_HAS_TSTAMP;
    if (--decoder->times == 0)
        decoder->packet.has |= decoder->repeat_has;
    begin_walk(stage);
}

/* The message before happened again, so many times. */
static void take_repeat(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_previous *previous = &decoder->previous;
    const uint64_t times = decoder->packet.bcnt;

    if (decoder->state != TW_NTRACE_TRACING) {
        pass_over(stage);
        emit_time(stage);
        return;
    }
    /* A walk that goes nowhere and says nothing would have no end. */
    if (!previous->is_there || times == 0 || (previous->icnt == 0 && !previous->btype)) {
        tw_ntrace_fail(stage, TW_ERROR_BAD_SEQUENCE, decoder->packet.tcode);
        return;
    }
    if (times > branches_most ||
        times > half_words_most / (previous->icnt ? previous->icnt : 1)) {
        tw_ntrace_fail(stage, TW_ERROR_PACKET_LIMIT, decoder->packet.tcode);
        return;
    }
    decoder->repeat_has = decoder->packet.has & TW_NTRACE_HAS_TSTAMP;
    decoder->packet = (struct tw_ntrace_packet){ .base = { .type = previous->type },
                                                 .tcode = previous->tcode,
                                                 .has = previous->has,
                                                 .btype = previous->btype,
                                                 .hist = previous->hist };
    decoder->packet.icnt = previous->icnt;
    /* Its address is 0: the target is the same again. */
    decoder->times = times;
    begin_repetition(stage);
}

/* ---- what follows a walk ---- */

static void emit_trap(struct tw_stage *stage)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;
    const unsigned btype = decoder->packet.btype;
    struct tw_element *out = emit(stage, TW_ELEMENT_EXCEPTION);

    out->number = TW_CAUSE_UNKNOWN;
    out->kind = btype == TW_NTRACE_BTYPE_TRAP ? TW_TRAP_ANY : TW_TRAP_KNOWN;
    out->flags =
        (uint8_t)(TW_EXCEPTION_RISCV | (decoder->has_pc ? TW_EXCEPTION_HAS_RETURN : 0) |
                  (btype == TW_NTRACE_BTYPE_INTERRUPT ? TW_EXCEPTION_INTERRUPT : 0));
    out->return_address = decoder->has_pc ? decoder->pc : 0;
}

/* An address as the hart has it. */
static uint64_t pc_of(const struct tw_ntrace_decoder *decoder, uint64_t field)
{
    return tw_code_wrap(field << 1, decoder->isa);
}

/* Events that a synchronizing message tells of. */
static void emit_event(struct tw_stage *stage)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_element *out;

    if (decoder->packet.sync != TW_NTRACE_SYNC_TRIGGER &&
        decoder->packet.sync != TW_NTRACE_SYNC_EVENT)
        return;
    out = emit(stage, TW_ELEMENT_EVENT);
    out->kind =
        decoder->packet.sync == TW_NTRACE_SYNC_EVENT ? TW_EVENT_NOTIFY : TW_EVENT_TRIGGER;
    out->value = pc_of(decoder, decoder->packet.address);
}

/* The program is at the address of a synchronizing message. */
static void synchronize(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const uint64_t address = pc_of(decoder, packet->address);
    const bool was_traced = decoder->state == TW_NTRACE_TRACING;
    /* A jump that was to be told, a trap, and code that is missing lead anywhere. */
    const bool leads_on = !was_traced || !decoder->has_pc || decoder->last || packet->btype ||
                          decoder->pc == address;

    if (decoder->state < TW_NTRACE_MISSING || !leads_on ||
        packet->sync == TW_NTRACE_SYNC_RESET || packet->sync == TW_NTRACE_SYNC_POWER_UP)
        begin_tracing(stage);
    emit_event(stage);
    decoder->return_depth = 0;
    decoder->adjust = 0;
    decoder->reference = address;
    decoder->state = TW_NTRACE_TRACING;
    tw_ntrace_go(stage, address);
}

static void take_off(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_element *out = emit(stage, TW_ELEMENT_EVENT);

    out->kind = TW_EVENT_TRACE_OFF;
    out->count = decoder->packet.code;
    if (!decoder->is_after_error)
        lose(decoder, TW_NTRACE_ENDED);
}

/* The walk, if there was one, is done. */
static void finish(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;

    emit_time(stage);
    if (packet->btype && decoder->state >= TW_NTRACE_MISSING) {
        emit_trap(stage);
        decoder->last = 0; /* not its jump is told */
    }
    if (tw_ntrace_is_sync(type)) {
        synchronize(stage);
    } else if (type == TW_NTRACE_PROG_TRACE_CORRELATION) {
        take_off(stage);
    } else if (type == TW_NTRACE_DIRECT_BRANCH) {
        if (decoder->state == TW_NTRACE_TRACING && !decoder->has_pc)
            tw_ntrace_fail(stage, TW_ERROR_IMAGE_MISMATCH, decoder->packet.tcode);
    } else if (decoder->state >= TW_NTRACE_MISSING) {
        decoder->reference = pc_of(decoder, decoder->reference >> 1 ^ packet->address);
        decoder->state = TW_NTRACE_TRACING;
        decoder->adjust = 0;
        tw_ntrace_go(stage, decoder->reference);
    }
}

static void end_walk(struct tw_stage *stage, enum tw_ntrace_walk how)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const uint8_t phase = decoder->phase;

    decoder->phase = TW_NTRACE_DONE;
    if (how == TW_NTRACE_WALK_DONE && phase == TW_NTRACE_BY_COUNT && decoder->way.count) {
        decoder->error = TW_ERROR_IMAGE_MISMATCH; /* branches that there are not */
        decoder->error_detail = decoder->pc;
        how = TW_NTRACE_WALK_ERROR;
    }
    if (how == TW_NTRACE_WALK_ERROR)
        tw_ntrace_fail(stage, decoder->error, decoder->error_detail);
    else if (how == TW_NTRACE_WALK_MISSING)
        lose(decoder, TW_NTRACE_MISSING);
    if (phase == TW_NTRACE_BY_HISTORY) {
        if (decoder->state == TW_NTRACE_TRACING)
            decoder->adjust -= (int64_t)decoder->way.walked;
        emit_time(stage);
        return;
    }
    finish(stage);
    if (decoder->times)
        begin_repetition(stage);
}

bool tw_ntrace_go_on(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    while (decoder->phase != TW_NTRACE_DONE) {
        enum tw_ntrace_walk how;

        if (stage->limit - stage->out <= TW_NTRACE_MOST)
            return false;
        how = tw_ntrace_walk(stage);
        if (how == TW_NTRACE_WALK_FULL)
            return false;
        end_walk(stage, how);
    }
    return true;
}

/* ---- other messages ---- */

static void take_error(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_element *out = emit(stage, TW_ELEMENT_EVENT);

    out->kind = TW_EVENT_LOST;
    out->count = decoder->packet.code;
    out->value = decoder->packet.ecode;
    emit(stage, TW_ELEMENT_NO_SYNC)->reason = TW_REASON_OVERFLOW;
    lose(decoder, TW_NTRACE_UNSYNCED);
    decoder->is_after_loss = true;
    emit_time(stage);
}

static void take_ownership(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    decoder->previous.is_there = false;
    tw_ntrace_own(&decoder->owner, decoder->packet.process);
    tw_ntrace_tell_owner(stage, decoder->packet.process, stage->index);
    emit_time(stage);
}

/* The dialect's instrumentation: what software wrote to a stimulus register. */
static void take_write(struct tw_stage *stage)
{
    static const uint8_t sizes[4] = { 4, 4, 2, 1 };
    const struct tw_ntrace_packet *packet = &tw_ntrace_of(stage)->packet;
    struct tw_element *out = emit(stage, TW_ELEMENT_ITMTRACE);

    out->kind = TW_ITM_SWIT;
    out->source = (uint32_t)packet->idtag >> 2;
    out->size = sizes[packet->idtag & 3];
    out->itm_value = (uint32_t)packet->dqdata;
    emit_time(stage);
}

/* The dialect's events, which have no I-CNT: the program does not move. */
static void take_circuit(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const bool is_full = packet->base.type == TW_NTRACE_IN_CIRCUIT_TRACE_SYNC;
    const bool is_code = packet->code == CKSRC_CONTROL && !packet->cdf;
    struct tw_element *out;

    if (is_full && !is_code)
        decoder->reference = pc_of(decoder, packet->ckdata0);
    else if (!is_code)
        decoder->reference = pc_of(decoder, decoder->reference >> 1 ^ packet->ckdata0);
    out = emit(stage, TW_ELEMENT_EVENT);
    out->kind = TW_EVENT_CIRCUIT;
    out->count = packet->code;
    out->value = is_code ? packet->ckdata0 : decoder->reference;
    if (packet->code == CKSRC_CALL && packet->cdf)
        decoder->reference = pc_of(decoder, decoder->reference >> 1 ^ packet->ckdata1);
    out->value_more = packet->code == CKSRC_CALL ? decoder->reference : packet->ckdata1;
    emit_time(stage);
}

void tw_ntrace_take_dialect(struct tw_ntrace_decoder *decoder)
{
    decoder->is_dialect = true;
    if (decoder->codec.shape.extension == TW_NTRACE_EXTEND_NONE)
        decoder->codec.shape.extension = TW_NTRACE_EXTEND_48;
}

/* ---- all messages ---- */

/* What RepeatBranch would repeat. */
TW_INLINE void keep(struct tw_ntrace_decoder *decoder)
{
    const struct tw_ntrace_packet *packet = &decoder->packet;

    decoder->previous =
        (struct tw_ntrace_previous){ .is_there =
                                         packet->base.type == TW_NTRACE_DIRECT_BRANCH ||
                                         packet->base.type == TW_NTRACE_INDIRECT_BRANCH ||
                                         packet->base.type == TW_NTRACE_INDIRECT_BRANCH_HIST,
                                     .type = packet->base.type,
                                     .tcode = packet->tcode,
                                     .has = packet->has,
                                     .btype = packet->btype,
                                     .icnt = packet->icnt,
                                     .hist = packet->hist };
}

static void take_flow(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const unsigned type = decoder->packet.base.type;

    keep(decoder);
    if (decoder->state == TW_NTRACE_TRACING) {
        begin_walk(stage);
        if (decoder->phase != TW_NTRACE_DONE || !tw_ntrace_is_sync(type))
            return;
    } else {
        pass_over(stage);
    }
    finish(stage);
}

/* DirectBranch, which most messages of BTM are. */
static void take_direct(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    if (TW_UNLIKELY(decoder->state != TW_NTRACE_TRACING || decoder->adjust ||
                    decoder->packet.icnt >> ICNT_BITS || !decoder->packet.icnt ||
                    decoder->packet.has & TW_NTRACE_HAS_TSTAMP)) {
        take_flow(stage);
        return;
    }
    keep(decoder);
    decoder->last = 0;
    if (!tw_ntrace_walk_direct(stage))
        decoder->phase = TW_NTRACE_BY_COUNT;
}

void tw_ntrace_take(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const unsigned type = decoder->packet.base.type;

    if (TW_LIKELY(type == TW_NTRACE_DIRECT_BRANCH)) {
        if (decoder->packet.has & TW_NTRACE_HAS_TSTAMP)
            take_time(decoder);
        take_direct(stage);
        return;
    }
    if (TW_UNLIKELY(!decoder->is_dialect && tw_ntrace_shows_dialect(&decoder->packet)) &&
        decoder->codec.config.dialect == TW_NTRACE_AUTO)
        tw_ntrace_take_dialect(decoder);
    if (TW_UNLIKELY(decoder->before.is_due) && tw_ntrace_is_sync(type))
        tw_ntrace_take_before(stage);
    if (decoder->packet.has & TW_NTRACE_HAS_TSTAMP)
        take_time(decoder);
    switch (type) {
    case TW_NTRACE_RESOURCE_FULL:
        decoder->previous.is_there = false;
        take_resource(stage);
        break;
    case TW_NTRACE_REPEAT_BRANCH:
        take_repeat(stage);
        break;
    case TW_NTRACE_ERROR:
        take_error(stage);
        break;
    case TW_NTRACE_OWNERSHIP:
        take_ownership(stage);
        break;
    case TW_NTRACE_DATA_ACQUISITION:
        take_write(stage);
        break;
    case TW_NTRACE_IN_CIRCUIT_TRACE:
    case TW_NTRACE_IN_CIRCUIT_TRACE_SYNC:
        take_circuit(stage);
        break;
    case TW_NTRACE_AUX_ACCESS_WRITE:
    case TW_NTRACE_VENDOR:
        emit_time(stage);
        break;
    case TW_NTRACE_RESERVED:
        tw_stage_add_error(stage, TW_ERROR_RESERVED_HEADER, stage->index, decoder->packet.tcode,
                           decoder->packet.base.size);
        break;
    default:
        take_flow(stage);
    }
}
