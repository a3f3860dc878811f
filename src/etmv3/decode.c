/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: bytes to elements in one pass.  P-headers and plain branches drive the follower straight from the bytes
   (fast.c); every other packet is read whole. */
#include "etmv3/decode.h"

#include <string.h>

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= 2 * TW_ETMV3_PACKET_MOST && !stage->follow->is_stopped;
}

/* A packet was taken.  What is counted is that of one context: while another one waits nothing is, and the batch ends that it
   comes in. */
static void settle_context(struct tw_stage *stage, const struct tw_element *waited)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;

    if (decoder->holds_context && decoder->waiting != waited) {
        decoder->holds_context = false;
        follow->is_stopped = true;
    } else if (follow->is_stopped && follow->sums && decoder->waiting) {
        decoder->holds_context = true;
    }
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_packet packet;
    const uint8_t *at = stage->at;
    const struct tw_element *const waited = decoder->waiting;

    decoder->reader.offset = tw_stage_offset(stage, at);
    if (tw_etmv3_read(&decoder->reader, &packet, at, (size_t)(stage->end - at),
                      stage->is_last) != TW_OK)
        return false;
    packet.base.index = tw_stage_index(stage, at);
    if (packet.base.type != TW_ETMV3_NOT_SYNC || !decoder->is_in_run)
        decoder->last_index = packet.base.index;
    decoder->is_in_run = packet.base.type == TW_ETMV3_NOT_SYNC;
    stage->at = at + packet.base.size;
    tw_etmv3_take(stage, &packet);
    if (stage->follow->error)
        tw_etmv3_fail(stage, stage->follow->error, &packet.base, stage->follow->error_detail);
    settle_context(stage, waited);
    /* That sync is missing is known at once, however long the run becomes. */
    tw_etmv3_mark(stage, decoder->is_in_run ? at + 1 : stage->at);
    return true;
}

/* A stretch of input without a gap.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    const struct tw_etmv3_setup *setup = &decoder->reader.setup;
    const bool is_plain = !setup->wide_is_two && !tw_etmv3_has_data(setup);

    for (;;) {
        if (!has_room(stage))
            return false;
        if (is_plain && decoder->sync == TW_ETMV3_SYNC_DONE && stage->follow->blocks) {
            tw_etmv3_fast(stage);
            /* The rest of a large batch is not worth going on slowly. */
            if (!has_room(stage) ||
                (stage->limit - stage->out < TW_ETMV3_STRETCH_ROOM &&
                 stage->out - stage->output->batch->elements > 2 * TW_ETMV3_STRETCH_ROOM))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void begin(struct tw_stage *stage, struct tw_etmv3_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->damage, follow, output);
    tw_follow_enter(follow);
    if (decoder->buffered_count) {
        memcpy(stage->out, decoder->buffered,
               decoder->buffered_count * sizeof *decoder->buffered);
        decoder->waiting = stage->out;
        stage->out += decoder->buffered_count;
        decoder->buffered_count = 0;
    }
}

static void finish(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (decoder->waiting && stage->out - decoder->waiting > TW_ETMV3_HELD_MAX) {
        tw_etmv3_release(decoder);
        tw_etmv3_mark(stage, stage->at);
        decoder->holds_context = false;
    }
    if (decoder->waiting) {
        decoder->buffered_count = (unsigned)(stage->out - decoder->waiting);
        memcpy(decoder->buffered, decoder->waiting,
               decoder->buffered_count * sizeof *decoder->buffered);
        stage->out = decoder->waiting;
        decoder->waiting = NULL;
    }
    /* No packet asks for it that comes later. */
    stage->follow->last_block = stage->follow->last_taken = 0;
    tw_stage_finish(stage);
    tw_follow_leave(stage->follow);
}

enum tw_status tw_etmv3_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                               struct tw_input *in)
{
    struct tw_etmv3_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_ETMV3_ROOM)
        return TW_E_ARGUMENT;
    if (output->batch->room - output->batch->count < TW_ETMV3_ROOM)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, tw_etmv3_take_gap);
    decoder->reader.offset = tw_stage_offset(&stage, stage.at); /* however it got there */
    finish(&stage);
    if (follow->code->out_of_memory)
        return TW_E_MEMORY;
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_etmv3_end(void *state, struct tw_follow *follow, struct tw_output *output)
{
    struct tw_etmv3_decoder *decoder = state;
    struct tw_stage stage;

    if (decoder->is_ended)
        return TW_END;
    if (output->batch->room - output->batch->count < TW_ETMV3_ROOM)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    tw_etmv3_release(decoder);
    tw_stage_report(&stage, decoder->reader.offset);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, decoder->last_index)->reason = TW_REASON_END;
    decoder->is_ended = true;
    finish(&stage);
    return TW_END;
}

void tw_etmv3_decoder_init(void *state, const void *config)
{
    struct tw_etmv3_decoder *decoder = state;

    memset(decoder, 0, sizeof *decoder);
    decoder->config = *(const struct tw_etmv3_config *)config;
    tw_etmv3_reader_init(&decoder->reader, &decoder->config);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_etmv3_decoder_reset(void *state)
{
    struct tw_etmv3_decoder *decoder = state;

    tw_etmv3_reader_lost(&decoder->reader); /* its tables stay */
    decoder->reader.offset = 0;
    memset((char *)decoder + offsetof(struct tw_etmv3_decoder, damage), 0,
           sizeof *decoder - offsetof(struct tw_etmv3_decoder, damage));
    decoder->lost_reason = TW_REASON_RESET;
}

void tw_etmv3_code_config(struct tw_code_config *code, const void *config)
{
    struct tw_etmv3_setup setup;

    tw_etmv3_setup_from_config(&setup, config);
    code->isa.profile = setup.profile;
    code->isa.arch = 7;
    code->ignores_it = true;
    code->single_steps = true;
    code->has_transfers = tw_etmv3_has_data(&setup);
}
