/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: bytes to elements in one pass. */
#include "ntrace/decode.h"

/* The elements written since the last mark were released by the message at hand. */
static void mark(struct tw_stage *stage)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;

    if (!stage->output->marks.marks)
        return;
    tw_stage_mark_at(stage, stage->out, decoder->packet_end - 1, decoder->end_index - 1);
    if (decoder->packet_end <= stage->offset) /* its last byte lies in an input that is gone */
        stage->marked_until = 0;
}

/* The code may have changed since the last run. */
static void refresh(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_code *code = stage->follow->code;

    tw_code_refresh(code);
    if (decoder->generation != code->generation) {
        decoder->generation = code->generation;
        decoder->image_has_contexts = false;
        for (size_t i = 0; code->image && i < tw_image_region_count(code->image); i++)
            decoder->image_has_contexts |= tw_image_region(code->image, i)->context != 0;
    }
    if (decoder->epoch == code->epoch)
        return;
    decoder->epoch = code->epoch;
    decoder->at = decoder->last = 0;
}

static void begin(struct tw_stage *stage, struct tw_ntrace_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->damage, follow, output);
    stage->index = decoder->packet_index; /* of a message that lies in an input that is gone */
    follow->is_stopped = false;
    refresh(stage);
}

/* The bytes at hand are behind the last message. */
TW_INLINE void pass(struct tw_stage *stage, uint64_t offset, uint32_t size)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    decoder->packet_end = offset + size;
    decoder->end_index = tw_position_at(&stage->position, decoder->packet_end - 1) + 1;
    if (TW_LIKELY(decoder->has_begun))
        return;
    decoder->has_begun = true;
    decoder->packet_index = stage->index = tw_position_at(&stage->position, offset);
    tw_stage_add(stage, TW_ELEMENT_NO_SYNC, stage->index)->reason = TW_REASON_INIT;
}

/* What begins `into` bytes behind this stream offset is at hand. */
TW_INLINE void begin_packet(struct tw_stage *stage, uint64_t offset, uint32_t size,
                            uint32_t into)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    pass(stage, offset, size);
    decoder->packet_offset = offset + into;
    decoder->packet_index = stage->index =
        tw_position_at(&stage->position, decoder->packet_offset);
}

/* What was read at this stream offset. */
static void take_packet(struct tw_stage *stage, uint64_t offset)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_packet *packet = &decoder->packet;
    const unsigned type = packet->base.type;
    const uint32_t size = packet->base.size;

    if (TW_LIKELY(type <= TW_NTRACE_VENDOR || type == TW_NTRACE_RESERVED)) {
        begin_packet(stage, offset, size, 0);
        tw_ntrace_take(stage);
    } else if (type == TW_NTRACE_BAD || type == TW_NTRACE_INCOMPLETE) {
        begin_packet(stage, offset, size, packet->fault_at);
        decoder->has_time = false; /* differences may be missing */
        tw_ntrace_fail(stage, packet->error, (uint64_t)packet->tcode << 2);
    } else { /* how a run of other bytes is cut depends on how they were fed */
        pass(stage, offset, size);
        if (type == TW_NTRACE_NOT_SYNC)
            tw_stage_unsynced(stage, size);
    }
}

/* Up to the end of the input or a gap: a message that the gap cuts is none.  False: the batch is
   full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_ntrace_reader *codec = &decoder->codec;

    for (;;) {
        const size_t size = (size_t)(stage->end - stage->at);
        const uint64_t offset = tw_stage_offset(stage, stage->at);
        size_t found = 0;

        if (decoder->phase != TW_NTRACE_DONE) {
            const bool is_done = tw_ntrace_go_on(stage);

            mark(stage);
            if (!is_done)
                return false;
        }
        if (size == 0 && !stage->has_gap)
            return true;
        if (stage->limit - stage->out <= TW_NTRACE_MOST || stage->follow->is_stopped)
            return false;
        if (size == 0)
            return true;
        /* 64 bytes behind the input may be read. */
        if (TW_LIKELY(!codec->is_lost))
            found = tw_ntrace_parse_direct(&codec->shape, &decoder->packet, stage->at)
                        ? 2
                        : tw_ntrace_parse_short(&codec->shape, &decoder->packet, stage->at);
        if (TW_UNLIKELY(!found || found > size) &&
            tw_ntrace_read_any(codec, &decoder->packet, stage->at, size,
                               stage->is_last && !stage->has_gap) != TW_OK)
            return true;
        stage->at += decoder->packet.base.size;
        take_packet(stage, offset);
        if (decoder->phase == TW_NTRACE_DONE)
            mark(stage);
    }
}

static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;

    tw_ntrace_reader_lost(&decoder->codec);
    if (!decoder->has_begun)
        return;
    begin_packet(stage, at->offset, 1, 0);
    decoder->has_time = false;
    tw_ntrace_fail(stage, TW_ERROR_DISCONTINUITY, 0);
    mark(stage);
}

enum tw_status tw_ntrace_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                                struct tw_input *in)
{
    struct tw_ntrace_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    tw_stage_finish(&stage);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_ntrace_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_ntrace_decoder *decoder = state;
    struct tw_stage stage;

    begin(&stage, decoder, follow, output);
    if (decoder->is_ended)
        return TW_END;
    if (stage.limit - stage.out < TW_NTRACE_MOST)
        return TW_OK;
    decoder->is_ended = true;
    if (decoder->state == TW_NTRACE_TRACING && decoder->adjust > 0)
        tw_ntrace_walk_certain(&stage, (uint64_t)decoder->adjust);
    tw_stage_report(&stage, decoder->packet_end);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->end_index)->reason = TW_REASON_END;
    tw_stage_finish(&stage);
    return TW_END;
}

static void forget(struct tw_ntrace_decoder *decoder)
{
    const struct tw_ntrace_config *config = &decoder->codec.config;

    tw_ntrace_reader_init(&decoder->codec, config);
    decoder->isa = config->xlen == 32 ? TW_ISA_RV32 : TW_ISA_RV64;
    decoder->is_dialect = config->dialect == TW_NTRACE_SIFIVE;
}

void tw_ntrace_decoder_init(void *state, const void *config)
{
    struct tw_ntrace_decoder *decoder = state;

    memset(decoder, 0, offsetof(struct tw_ntrace_decoder, returns));
    decoder->codec.config = *(const struct tw_ntrace_config *)config;
    forget(decoder);
}

void tw_ntrace_decoder_reset(void *state)
{
    struct tw_ntrace_decoder *decoder = state;

    memset(&decoder->isa, 0,
           offsetof(struct tw_ntrace_decoder, returns) -
               offsetof(struct tw_ntrace_decoder, isa));
    forget(decoder);
}

void tw_ntrace_code_config(struct tw_code_config *code, const void *config)
{
    const struct tw_ntrace_config *typed = config;

    code->rv.has_zcmp = code->rv.has_zcmt = typed->has_zcmp_zcmt;
    code->rv.jvt_base = typed->jvt;
    code->rv.swaps_link = true;
    code->rv.jalr_is_indirect = true;
    code->has_decides = true;
}
