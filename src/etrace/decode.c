/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: bytes to elements in one pass. */
#include "etrace/decode.h"

/* The elements written since the last mark were released by the packet at hand. */
TW_INLINE void mark(struct tw_stage *stage)
{
    const struct tw_etrace_decoder *decoder = stage->decoder;

    if (TW_LIKELY(!stage->output->marks.marks))
        return;
    tw_stage_mark_at(stage, stage->out, decoder->packet_end - 1, decoder->end_index - 1);
    if (decoder->packet_end <= stage->offset) /* its last byte lies in an input that is gone */
        stage->marked_until = 0;
}

/* The code may have changed since the last run: finds the place again. */
static void find_place(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_code *code = stage->follow->code;

    tw_code_refresh(code);
    if (decoder->generation != code->generation) {
        decoder->generation = code->generation;
        decoder->image_has_contexts = false;
        for (size_t i = 0; code->image && i < tw_image_region_count(code->image); i++)
            decoder->image_has_contexts |= tw_image_region(code->image, i)->context != 0;
    }
    if (decoder->epoch == code->epoch || !decoder->place.at)
        return;
    decoder->place.at =
        tw_blocks_find(stage->follow->blocks, decoder->place.start, decoder->isa, 0);
    decoder->epoch = code->epoch;
}

static void begin(struct tw_stage *stage, struct tw_etrace_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->damage, follow, output);
    stage->index = decoder->packet_index; /* of a packet that lies in an input that is gone */
    follow->is_stopped = false;
    if (follow->sums && decoder->tie.is_on)
        tw_etrace_untie(decoder); /* most instructions are not looked at */
    find_place(stage);
}

/* What the next packet is. */
TW_INLINE enum tw_status next_frame(struct tw_etrace_transport *transport,
                                    struct tw_etrace_frame *frame, const uint8_t *data,
                                    size_t size, bool is_last)
{
    if (transport->is_synced && !transport->block_size && size >= 32 &&
        tw_etrace_frame_whole(transport, frame, data, size))
        return TW_OK;
    return tw_etrace_transport_next(transport, frame, data, size, is_last);
}

/* The bytes at hand are behind the last packet. */
static void pass(struct tw_stage *stage, uint64_t offset, uint32_t size)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    decoder->packet_end = offset + size;
    decoder->end_index = tw_position_at(&stage->position, decoder->packet_end - 1) + 1;
    if (TW_LIKELY(decoder->has_begun))
        return;
    decoder->has_begun = true;
    decoder->packet_index = stage->index = tw_position_at(&stage->position, offset);
    if (!decoder->codec.config.is_data)
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, stage->index)->reason = TW_REASON_INIT;
}

void tw_etrace_begin_packet(struct tw_stage *stage, uint64_t offset, uint32_t size)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    pass(stage, offset, size);
    decoder->packet_offset = offset;
    decoder->packet_index = stage->index = tw_position_at(&stage->position, offset);
    decoder->has_left = false;
    decoder->steps = 0;
    decoder->sure = decoder->place;
}

/* Reads the payload and begins with what it means. */
static void take_payload(struct tw_stage *stage, const struct tw_etrace_frame *frame,
                         const uint8_t *data, size_t readable)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_reader *codec = &decoder->codec;
    struct tw_payload payload;
    enum tw_error_code error;

    if (TW_LIKELY(frame->kind == TW_ETRACE_FRAME_INST && codec->shape.has_usual_flow &&
                  frame->payload_size <= TW_PAYLOAD_WINDOW && !frame->header_bits &&
                  !frame->has_stamp) &&
        tw_etrace_parse_flow(&codec->shape, &decoder->packet, data + frame->header_size,
                             frame->payload_size)) {
        tw_etrace_take(stage);
        return;
    }
    tw_etrace_frame_payload(&payload, frame, data, readable);
    if (TW_LIKELY(frame->kind == TW_ETRACE_FRAME_INST))
        error = tw_etrace_parse(&codec->shape, codec->options, &decoder->packet, &payload);
    else
        error = tw_etraced_parse(&codec->data_shape, codec->options, &codec->history,
                                 &decoder->packet, &payload);
    if (TW_UNLIKELY(frame->has_stamp))
        tw_stage_add(stage, TW_ELEMENT_TIMESTAMP, stage->index)->timestamp = frame->stamp;
    if (TW_LIKELY(error == TW_ERROR_NONE)) {
        tw_etrace_take(stage);
        return;
    }
    tw_etrace_transport_doubt(&codec->transport);
    if (frame->kind == TW_ETRACE_FRAME_INST) {
        tw_etrace_fail(stage, (uint8_t)error, data[0]);
        return;
    }
    tw_etrace_untie(decoder);
    tw_etraced_lose(&codec->history); /* the path does not depend on data */
    tw_stage_add_error(stage, (uint8_t)error, stage->index, data[0], frame->size);
}

/* What the bytes of one frame mean. */
static void take_frame(struct tw_stage *stage, const struct tw_etrace_frame *frame)
{
    const uint64_t offset = tw_stage_offset(stage, stage->at);
    const uint8_t *data = stage->at;

    stage->at += frame->size;
    if (TW_LIKELY(frame->kind <= TW_ETRACE_FRAME_DATA)) {
        tw_etrace_begin_packet(stage, offset, frame->size);
        /* 64 bytes behind the input may be read. */
        take_payload(stage, frame, data, (size_t)(stage->end - data) + 64);
    } else if (frame->kind == TW_ETRACE_FRAME_BAD) {
        tw_etrace_begin_packet(stage, offset, frame->size);
        tw_etrace_fail(stage, TW_ERROR_RESERVED_HEADER, data[0]);
    } else { /* how a run of idle bytes is cut depends on how they were fed */
        pass(stage, offset, frame->size);
        if (frame->kind == TW_ETRACE_FRAME_HUNT)
            tw_stage_unsynced(stage, frame->size);
    }
}

/* Up to the end of the input or a gap: a packet that the gap cuts is no packet.  False: the batch is
   full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_etrace_decoder *decoder = stage->decoder;
    struct tw_etrace_transport *transport = &decoder->codec.transport;

    for (;;) {
        struct tw_etrace_frame frame;
        size_t size;

        if (decoder->phase != TW_ETRACE_IDLE) {
            const bool is_done = tw_etrace_go_on(stage);

            mark(stage);
            if (!is_done)
                return false;
        }
        if (TW_UNLIKELY(decoder->tie.ready)) {
            const bool is_done = tw_etrace_tie_drain(stage);

            mark(stage);
            if (!is_done)
                return false;
        }
        if (stage->at == stage->end && !stage->has_gap)
            return true;
        if (stage->limit - stage->out < TW_ETRACE_MOST || stage->follow->is_stopped)
            return false;
        if (stage->at == stage->end)
            return true;
        tw_etrace_pass_plain(stage);
        size = (size_t)(stage->end - stage->at);
        if (decoder->phase != TW_ETRACE_IDLE || size == 0)
            continue;
        if (next_frame(transport, &frame, stage->at, size, stage->is_last) != TW_OK) {
            if (stage->has_gap || !stage->is_last)
                return true;
            tw_etrace_begin_packet(stage, tw_stage_offset(stage, stage->at), (uint32_t)size);
            tw_etrace_fail(stage, TW_ERROR_TRUNCATED, *stage->at);
            stage->at = stage->end;
            mark(stage);
            return true;
        }
        tw_etrace_transport_pass(transport, &frame);
        take_frame(stage, &frame);
        if (decoder->phase == TW_ETRACE_IDLE)
            mark(stage);
    }
}

static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_etrace_decoder *decoder = stage->decoder;

    tw_etrace_transport_lose(&decoder->codec.transport);
    tw_etraced_lose(&decoder->codec.history);
    tw_etrace_untie(decoder);
    if (!decoder->has_begun)
        return;
    tw_etrace_begin_packet(stage, at->offset, 1);
    tw_etrace_fail(stage, TW_ERROR_DISCONTINUITY, 0);
    mark(stage);
}

enum tw_status tw_etrace_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                                struct tw_input *in)
{
    struct tw_etrace_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    tw_stage_finish(&stage);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_etrace_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_etrace_decoder *decoder = state;
    struct tw_stage stage;

    begin(&stage, decoder, follow, output);
    if (decoder->is_ended)
        return TW_END;
    if (stage.limit - stage.out < TW_ETRACE_MOST)
        return TW_OK;
    if (!decoder->is_flushed) {
        tw_etrace_flush(&stage);
        tw_etrace_tie_end(&stage);
        decoder->is_flushed = true;
    }
    if (!tw_etrace_tie_drain(&stage)) {
        tw_stage_finish(&stage);
        return TW_OK;
    }
    decoder->is_ended = true;
    tw_stage_report(&stage, decoder->packet_end);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->end_index)->reason = TW_REASON_END;
    tw_stage_finish(&stage);
    return TW_END;
}

static void forget(struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_config *config = &decoder->codec.config;
    const unsigned bits =
        config->return_stack_size ? config->return_stack_size : config->call_counter_size;
    const unsigned xlen = config->xlen ? config->xlen : config->iaddress_width <= 32 ? 32 : 64;

    tw_etrace_reader_reset(&decoder->codec);
    decoder->isa = xlen == 32 ? TW_ISA_RV32 : TW_ISA_RV64;
    decoder->returns_max = bits ? 1u << bits : 0;
    decoder->hops_max = 4096 + 2 * decoder->returns_max;
    decoder->steps_max = TW_ETRACE_STEPS + 2 * decoder->returns_max;
    tw_etrace_reset_predictor(decoder);
    decoder->tie.first = decoder->tie.count = decoder->tie.ready = 0;
    decoder->tie.passed_first = decoder->tie.passed = 0;
    memset(decoder->tie.split, 0, sizeof decoder->tie.split);
    tw_etrace_tie_begin(decoder);
}

void tw_etrace_decoder_init(void *state, const void *config)
{
    struct tw_etrace_decoder *decoder = state;

    memset(decoder, 0, offsetof(struct tw_etrace_decoder, returns));
    tw_etrace_reader_init(&decoder->codec, config);
    forget(decoder);
}

void tw_etrace_decoder_reset(void *state)
{
    struct tw_etrace_decoder *decoder = state;

    memset(&decoder->isa, 0,
           offsetof(struct tw_etrace_decoder, returns) -
               offsetof(struct tw_etrace_decoder, isa));
    forget(decoder);
}

void tw_etrace_code_config(struct tw_code_config *code, const void *config)
{
    const struct tw_etrace_config *typed = config;

    code->rv.has_zcmp = code->rv.has_zcmt = typed->has_zcmp_zcmt;
    code->rv.x1_links_only = typed->x1_links_only;
    code->rv.jvt_base = typed->jvt;
    code->links_are_special = typed->return_stack_size || typed->call_counter_size;
    code->has_decides = true;
}
