/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: bytes to elements in one pass.  P-headers drive the follower straight from the bytes;
   every other packet is read whole. */
#include "etmv3/decode.h"

#include <string.h>

static bool has_room(const struct tw_stage *stage)
{
    return stage->limit - stage->out >= TW_ETMV3_ROOM;
}

static void mark(struct tw_stage *stage, const uint8_t *packet_end)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;

    tw_stage_mark(stage, decoder->waiting ? decoder->waiting : stage->out, packet_end);
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_packet packet;
    const uint8_t *at = stage->at;

    decoder->reader.offset = stage->offset + (uint64_t)(at - stage->base);
    if (tw_etmv3_read(&decoder->reader, &packet, at, (size_t)(stage->end - at),
                      stage->is_last) != TW_OK)
        return false;
    packet.base.index = decoder->last_index = tw_stage_index(stage, at);
    stage->at = at + packet.base.size;
    tw_etmv3_take(stage, &packet);
    if (stage->follow->error)
        tw_etmv3_fail(stage, stage->follow->error, &packet.base, stage->follow->error_detail);
    if (decoder->waiting && stage->out - decoder->waiting > TW_ETMV3_HELD_MAX)
        tw_etmv3_release(decoder);
    mark(stage, stage->at);
    return true;
}

/* size: hot loop */
/* P-headers, until something else comes or the room is used up. */
static void fast_packets(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_follow *follow = stage->follow;
    const bool has_cycles = decoder->reader.setup.cycle_accurate;
    const uint8_t *at = stage->at;
    struct tw_element *const last = stage->limit - TW_ETMV3_ROOM;

    while (at < stage->end && stage->out <= last && follow->at != TW_NEXT_NEEDED &&
           decoder->sync == TW_ETMV3_SYNC_DONE) {
        const struct tw_etmv3_atoms *atoms = &decoder->reader.atoms[*at];
        struct tw_element *first = stage->out;
        uint64_t index;

        if (!atoms->is_legal)
            break;
        index = tw_stage_index(stage, at);
        if (atoms->count) {
            stage->out = tw_follow_atoms(follow, stage->out, atoms->bits, atoms->count, index);
            if (TW_UNLIKELY(follow->error)) {
                const struct tw_packet packet = {
                    .index = index, .offset = stage->offset + (uint64_t)(at - stage->base)
                };

                tw_etmv3_fail(stage, follow->error, &packet, follow->error_detail);
            } else if (TW_UNLIKELY(stage->out != first + atoms->count ||
                                   stage->out[-1].type != TW_ELEMENT_INSTR_RANGE)) {
                tw_etmv3_settle(stage, atoms, first, index);
            } else {
                if (has_cycles)
                    tw_etmv3_set_cycles(first, atoms, atoms->count);
                decoder->waiting = stage->out - 1;
                decoder->has_instruction = true;
            }
        } else if (atoms->cycles) {
            struct tw_element *count = tw_stage_add(stage, TW_ELEMENT_CYCLE_COUNT, index);

            count->cycles = atoms->cycles;
            count->flags = TW_FLAG_HAS_CYCLES;
            if (decoder->waiting && stage->out - decoder->waiting > TW_ETMV3_HELD_MAX)
                tw_etmv3_release(decoder);
        }
        decoder->last_index = index;
        at++;
        mark(stage, at);
    }
    stage->at = at;
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
        if (is_plain && decoder->sync == TW_ETMV3_SYNC_DONE) {
            fast_packets(stage);
            if (!has_room(stage))
                return false;
        }
        if (stage->at == stage->end || !one_packet(stage))
            return true;
    }
}

static void begin(struct tw_stage *stage, struct tw_etmv3_decoder *decoder,
                  struct tw_follow *follow, struct tw_output *output)
{
    tw_stage_begin(stage, decoder, &decoder->trouble, follow, output);
    if (decoder->held_count) {
        memcpy(stage->out, decoder->held, decoder->held_count * sizeof *decoder->held);
        decoder->waiting = stage->out;
        stage->out += decoder->held_count;
        decoder->held_count = 0;
    }
}

static void finish(struct tw_stage *stage)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;

    if (decoder->waiting) {
        decoder->held_count = (unsigned)(stage->out - decoder->waiting);
        memcpy(decoder->held, decoder->waiting, decoder->held_count * sizeof *decoder->held);
        stage->out = decoder->waiting;
        decoder->waiting = NULL;
    }
    tw_stage_finish(stage);
}

enum tw_status tw_etmv3_decode(void *state, struct tw_follow *follow, struct tw_output *output,
                               struct tw_input *in)
{
    struct tw_etmv3_decoder *decoder = state;
    struct tw_stage stage;
    bool is_used_up;

    if (output->batch->room < TW_ETMV3_ROOM + TW_ETMV3_HELD_MAX)
        return TW_E_ARGUMENT;
    if (output->batch->room - output->batch->count < TW_ETMV3_ROOM + TW_ETMV3_HELD_MAX)
        return TW_OK;
    begin(&stage, decoder, follow, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, tw_etmv3_take_gap);
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
    tw_etmv3_decoder_reset(decoder);
    decoder->lost_reason = TW_REASON_INIT;
}

void tw_etmv3_decoder_reset(void *state)
{
    struct tw_etmv3_decoder *decoder = state;
    const struct tw_etmv3_config config = decoder->config;

    memset(decoder, 0, sizeof *decoder);
    decoder->config = config;
    decoder->lost_reason = TW_REASON_RESET;
    tw_etmv3_reader_init(&decoder->reader, &decoder->config);
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
