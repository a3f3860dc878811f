/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: bytes to elements in one pass. */
#include "etrace/decode.h"

/* A run over an input, and what of it is where in the capture. */
struct stage {
    struct tw_etrace_run run;
    struct tw_position position;
    struct tw_output *output;
    struct tw_input *in;
    struct tw_element *marked; /* elements before this one have a mark */
};

/* Notes which packet released the elements written since the last mark. */
static void mark(struct stage *stage)
{
    struct tw_marks *marks = &stage->output->marks;

    if (!marks->marks || stage->run.out == stage->marked || marks->count == marks->room)
        return;
    marks->marks[marks->count++] = (struct tw_mark){
        .released = stage->run.decoder->end_index,
        .first = (size_t)(stage->marked - stage->output->batch->elements),
    };
    stage->marked = stage->run.out;
}

/* The code may have changed since the last run: finds the place again. */
static void find_place(struct tw_etrace_run *run)
{
    struct tw_etrace_decoder *decoder = run->decoder;
    struct tw_code *code = run->follow->code;

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
        tw_blocks_find(run->follow->blocks, decoder->place.start, decoder->isa, 0);
    decoder->epoch = code->epoch;
}

static struct stage begin(struct tw_etrace_decoder *decoder, struct tw_follow *follow,
                          struct tw_output *output, struct tw_input *in)
{
    struct tw_batch *batch = output->batch;
    struct stage stage = { .output = output, .in = in };

    stage.run = (struct tw_etrace_run){ .decoder = decoder,
                                        .follow = follow,
                                        .out = batch->elements + batch->count,
                                        .end = batch->elements + batch->room };
    stage.marked = stage.run.out;
    if (in)
        tw_position_init(&stage.position, in->places, in->place_count);
    find_place(&stage.run);
    return stage;
}

/* What the next packet is; the common encapsulation without a call. */
TW_INLINE enum tw_status next_frame(struct tw_etrace_transport *transport,
                                    struct tw_etrace_frame *frame, const uint8_t *data,
                                    size_t size, bool is_last)
{
    if (transport->encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 && transport->is_synced &&
        !transport->block_size && size >= 32 && data[0] >> 5 == 2 && data[0] & 0x1f) {
        frame->kind = TW_ETRACE_FRAME_INST;
        frame->has_stamp = false;
        frame->header_size = 1;
        frame->header_bits = 0;
        frame->payload_size = data[0] & 0x1f;
        frame->size = 1u + frame->payload_size;
        return TW_OK;
    }
    return tw_etrace_transport_next(transport, frame, data, size, is_last);
}

static void begin_packet(struct stage *stage, uint64_t offset, uint32_t size)
{
    struct tw_etrace_decoder *decoder = stage->run.decoder;

    decoder->packet_offset = offset;
    decoder->packet_end = offset + size;
    decoder->has_left = false;
    decoder->sure = decoder->place;
    decoder->end_index = tw_position_at(&stage->position, decoder->packet_end - 1) + 1;
    stage->run.index = tw_position_at(&stage->position, offset);
    if (TW_UNLIKELY(!decoder->has_begun)) {
        decoder->has_begun = true;
        if (!decoder->codec.config.is_data)
            *stage->run.out++ = (struct tw_element){ .index = stage->run.index,
                                                     .type = TW_ELEMENT_NO_SYNC,
                                                     .reason = TW_REASON_INIT };
    }
}

/* Reads the payload and begins with what it means. */
static void take_payload(struct stage *stage, const struct tw_etrace_frame *frame,
                         const uint8_t *data, size_t readable)
{
    struct tw_etrace_decoder *decoder = stage->run.decoder;
    struct tw_etrace_codec *codec = &decoder->codec;
    struct tw_payload payload;
    enum tw_error_code error;

    tw_etrace_frame_payload(&payload, frame, data, readable);
    if (TW_LIKELY(frame->kind == TW_ETRACE_FRAME_INST))
        error = tw_etrace_parse(&codec->shape, codec->options, &decoder->packet, &payload);
    else
        error = tw_etraced_parse(&codec->data_shape, codec->options, &codec->history,
                                 &decoder->packet, &payload);
    if (TW_UNLIKELY(frame->has_stamp))
        *stage->run.out++ = (struct tw_element){ .index = stage->run.index,
                                                 .type = TW_ELEMENT_TIMESTAMP,
                                                 .timestamp = frame->stamp };
    if (TW_LIKELY(error == TW_ERROR_NONE)) {
        tw_etrace_take(&stage->run);
        return;
    }
    tw_etrace_fail(&stage->run, (uint8_t)error, data[0]);
    tw_etrace_transport_lose(&codec->transport);
}

/* Decodes up to `end`, where the trace ends, goes on later, or has a gap: a packet that the gap cuts
   is no packet.  False: the batch is full. */
static bool decode_stretch(struct stage *stage, size_t end, bool has_gap)
{
    const bool is_last = has_gap || stage->in->is_last;
    struct tw_etrace_decoder *decoder = stage->run.decoder;
    struct tw_etrace_transport *transport = &decoder->codec.transport;
    struct tw_input *in = stage->in;

    for (;;) {
        const size_t size = end - in->used;
        const uint8_t *data = size ? in->data + in->used : NULL;
        struct tw_etrace_frame frame;

        if (decoder->phase != TW_ETRACE_IDLE) {
            const bool is_done = tw_etrace_go_on(&stage->run);

            mark(stage);
            if (!is_done)
                return false;
        }
        if (size == 0)
            return true;
        if (stage->run.end - stage->run.out < TW_ETRACE_MOST)
            return false;
        if (next_frame(transport, &frame, data, size, is_last) != TW_OK) {
            if (has_gap || !is_last)
                return true;
            begin_packet(stage, in->offset + in->used, (uint32_t)size);
            tw_etrace_fail(&stage->run, TW_ERROR_TRUNCATED, data[0]);
            in->used = end;
            mark(stage);
            return true;
        }
        tw_etrace_transport_pass(transport, &frame);
        begin_packet(stage, in->offset + in->used, frame.size);
        in->used += frame.size;
        if (TW_LIKELY(frame.kind <= TW_ETRACE_FRAME_DATA)) {
            /* 64 bytes behind the input may be read. */
            take_payload(stage, &frame, data, size + 64);
        } else if (frame.kind == TW_ETRACE_FRAME_BAD) {
            tw_etrace_fail(&stage->run, TW_ERROR_RESERVED_HEADER, data[0]);
        }
        if (decoder->phase == TW_ETRACE_IDLE)
            mark(stage);
    }
}

/* Bytes are missing at stream offset `gap`. */
static void take_gap(struct stage *stage, uint64_t gap)
{
    struct tw_etrace_decoder *decoder = stage->run.decoder;

    decoder->handled_gap = gap + 1;
    tw_etrace_transport_lose(&decoder->codec.transport);
    if (!decoder->has_begun)
        return;
    begin_packet(stage, gap, 1);
    tw_etrace_fail(&stage->run, TW_ERROR_DISCONTINUITY, 0);
    mark(stage);
}

enum tw_status tw_etrace_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                                struct tw_input *in)
{
    struct tw_etrace_decoder *decoder = state;
    struct stage stage = begin(decoder, follow, output, in);
    bool has_room;

    /* A packet that was begun lies in an input that is gone; its index does not. */
    stage.run.index = decoder->resume_index;
    for (;;) {
        const uint64_t from = in->offset + in->used;
        const uint64_t first = decoder->handled_gap > from ? decoder->handled_gap : from;
        const uint64_t gap = tw_position_discontinuity(in->places, in->place_count, first,
                                                       in->offset + in->size);
        const bool has_gap = gap != UINT64_MAX;
        const size_t end = has_gap ? (size_t)(gap - in->offset) : in->size;

        has_room = decode_stretch(&stage, end, has_gap);
        if (!has_room || !has_gap)
            break;
        if (stage.run.end - stage.run.out < TW_ETRACE_MOST) {
            has_room = false;
            break;
        }
        in->used = end;
        take_gap(&stage, gap);
    }
    decoder->resume_index = stage.run.index;
    output->batch->count = (size_t)(stage.run.out - output->batch->elements);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return has_room ? TW_MORE : TW_OK;
}

enum tw_status tw_etrace_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_etrace_decoder *decoder = state;
    struct stage stage = begin(decoder, follow, output, NULL);

    if (decoder->is_ended)
        return TW_END;
    if (stage.run.end - stage.run.out < TW_ETRACE_MOST)
        return TW_OK;
    decoder->is_ended = true;
    stage.run.index = decoder->resume_index;
    tw_etrace_flush(&stage.run);
    tw_etrace_report_error(&stage.run, decoder->packet_end);
    *stage.run.out++ = (struct tw_element){ .index = decoder->end_index,
                                            .type = TW_ELEMENT_EO_TRACE,
                                            .reason = TW_REASON_END };
    output->batch->count = (size_t)(stage.run.out - output->batch->elements);
    return TW_END;
}

static void forget(struct tw_etrace_decoder *decoder)
{
    const struct tw_etrace_config *config = &decoder->codec.config;
    const unsigned bits =
        config->return_stack_size ? config->return_stack_size : config->call_counter_size;
    const unsigned xlen = config->xlen ? config->xlen : config->iaddress_width <= 32 ? 32 : 64;

    tw_etrace_codec_reset(&decoder->codec);
    decoder->isa = xlen == 32 ? TW_ISA_RV32 : TW_ISA_RV64;
    decoder->returns_max = bits ? 1u << bits : 0;
    decoder->hops_max = 4096 + 2 * decoder->returns_max;
    tw_etrace_reset_predictor(decoder);
}

void tw_etrace_decoder_init(void *state, const void *config)
{
    struct tw_etrace_decoder *decoder = state;

    memset(decoder, 0, offsetof(struct tw_etrace_decoder, returns));
    tw_etrace_codec_init(&decoder->codec, config);
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
}
