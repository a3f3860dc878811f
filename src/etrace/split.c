/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: what parallel decode asks for.  A stream is cut at a synchronization packet (format 3,
   subformat 0 or 1).  Options, which only a support packet tells, are taken to be as they were; so
   are jump target cache and predictor, where there are any, which seldom proves right. */
#include "etrace/decode.h"
#include "path/state.h"

enum {
    PACKETS = 12,   /* behind the synchronization packet that make the place the same ... */
    LOOK_MAX = 512, /* ... within so many bytes */
    RUN_UP = 512    /* bytes in which packets that seem to be some lead to those that are */
};

static void place_state(struct tw_etrace_place *place, const struct tw_etrace_decoder *decoder,
                        struct tw_follow *follow, struct tw_state *state)
{
    const bool is_placed = tw_state_flag(state, place->at != 0);

    TW_STATE(state, place->pc);
    if (!is_placed) {
        place->at = 0;
        return;
    }
    TW_STATE(state, place->from_count);
    TW_STATE(state, place->done_count);
    TW_STATE(state, place->is_first);
    TW_STATE(state, place->start);
    TW_STATE(state, place->from);
    TW_STATE(state, place->done);
    if (state->loads && follow->blocks)
        place->at = tw_blocks_find(follow->blocks, place->start, decoder->isa, 0);
}

static void goal_state(struct tw_etrace_goal *goal, struct tw_state *state)
{
    TW_STATE(state, goal->address);
    TW_STATE(state, goal->to_branch);
    TW_STATE(state, goal->report_only);
    TW_STATE(state, goal->is_sync);
    TW_STATE(state, goal->is_notify);
    TW_STATE(state, goal->has_irdepth);
    TW_STATE(state, goal->irdepth);
}

static void history_state(struct tw_etraced_history *history, struct tw_state *state)
{
    TW_STATE(state, history->lost_address);
    TW_STATE(state, history->lost_data);
    for (unsigned i = 0; i < TW_ETRACED_SIZES; i++) {
        TW_STATE(state, history->address[i]);
        TW_STATE(state, history->data[i]);
    }
    for (unsigned i = 0; i < TW_ETRACED_REQUESTS; i++) {
        TW_STATE(state, history->requests[i].is_open);
        TW_STATE(state, history->requests[i].size); /* also behind a loss */
        if (!history->requests[i].is_open)
            continue;
        TW_STATE(state, history->requests[i].subtype);
        TW_STATE(state, history->requests[i].address);
    }
}

static void codec_state(struct tw_etrace_reader *codec, struct tw_state *state)
{
    TW_STATE(state, codec->transport.is_synced);
    TW_STATE(state, codec->transport.is_doubtful);
    TW_STATE(state, codec->transport.null_run);
    if (codec->transport.block_size)
        TW_STATE(state, codec->transport.offset);
    TW_STATE(state, codec->options);
    TW_STATE(state, codec->address);
    history_state(&codec->history, state);
    if (codec->shape.index) /* else no packet refers to it */
        tw_state_bytes(state, codec->cache, sizeof codec->cache[0] << codec->shape.index);
}

static void returns_state(struct tw_etrace_decoder *decoder, struct tw_state *state)
{
    const uint32_t max = decoder->returns_max;

    TW_STATE(state, decoder->return_depth);
    if (!max || decoder->return_depth > max)
        return;
    if (state->loads)
        decoder->return_top = max - 1;
    for (uint32_t i = 0; i < decoder->return_depth; i++)
        TW_STATE(state, decoder->returns[(decoder->return_top + max - i) % max]);
}

/* What is left of the packet at hand. */
static void packet_state(struct tw_etrace_decoder *decoder, struct tw_follow *follow,
                         struct tw_state *state)
{
    TW_STATE(state, decoder->packet_end);
    TW_STATE(state, decoder->packet_index);
    TW_STATE(state, decoder->end_index);
    TW_STATE(state, decoder->phase);
    if (decoder->phase == TW_ETRACE_IDLE)
        return;
    goal_state(&decoder->goal, state);
    place_state(&decoder->sure, decoder, follow, state);
    TW_STATE(state, decoder->packet);
    TW_STATE(state, decoder->packet_offset);
    TW_STATE(state, decoder->has_left);
    TW_STATE(state, decoder->steps);
    TW_STATE(state, decoder->loop.is_wanted);
    TW_STATE(state, decoder->loop.is_due);
    TW_STATE(state, decoder->loop.most);
    if (state->loads)
        decoder->loop.has_begun = false;
}

static void trap_state(struct tw_etrace_decoder *decoder, struct tw_state *state)
{
    TW_STATE(state, decoder->has_trap);
    if (decoder->has_trap) {
        TW_STATE(state, decoder->trap_cause);
        TW_STATE(state, decoder->trap_interrupt);
        TW_STATE(state, decoder->trap_tval);
    }
    TW_STATE(state, decoder->has_next_epc);
    if (decoder->has_next_epc)
        TW_STATE(state, decoder->next_epc);
}

void tw_etrace_state(void *any, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_etrace_decoder *decoder = any;

    tw_follow_state(follow, state, false);
    codec_state(&decoder->codec, state);
    TW_STATE(state, decoder->state);
    TW_STATE(state, decoder->has_begun);
    TW_STATE(state, decoder->is_inferred);
    TW_STATE(state, decoder->was_updiscon);
    TW_STATE(state, decoder->is_after_loss);
    TW_STATE(state, decoder->is_after_error);
    TW_STATE(state, decoder->encoder_mode);
    TW_STATE(state, decoder->has_context);
    TW_STATE(state, decoder->privilege);
    TW_STATE(state, decoder->context);
    TW_STATE(state, decoder->map);
    TW_STATE(state, decoder->count);
    TW_STATE(state, decoder->is_missed);
    TW_STATE(state, decoder->predicted);
    TW_STATE(state, decoder->hops);
    tw_damage_state(&decoder->damage, state);
    trap_state(decoder, state);
    place_state(&decoder->place, decoder, follow, state);
    packet_state(decoder, follow, state);
    tw_etrace_tie_state(&decoder->tie, state);
    returns_state(decoder, state);
    /* Without prediction there is still one counter, which damaged trace may come to. */
    tw_state_bytes(state, decoder->predictor, (size_t)1 << decoder->codec.shape.bpred_size);
    if (state->loads)
        decoder->epoch = follow->code->epoch;
}

void tw_etrace_resume(void *any, struct tw_follow *follow)
{
    struct tw_etrace_decoder *decoder = any;

    (void)follow;
    tw_etrace_drop_outcomes(decoder);
    decoder->codec.transport.is_synced = true;
    decoder->codec.transport.is_doubtful = false;
    decoder->codec.transport.null_run = 0;
    decoder->state = TW_ETRACE_UNSYNCED;
    decoder->phase = TW_ETRACE_IDLE;
    decoder->is_inferred = decoder->is_after_error = decoder->is_after_loss = false;
    decoder->has_trap = decoder->has_next_epc = false;
    decoder->damage.code = TW_ERROR_NONE;
    decoder->place.at = 0;
    decoder->return_depth = 0;
    decoder->tie.count = decoder->tie.ready = decoder->tie.passed = 0;
    decoder->has_begun = true;
}

/* Format 3, subformat 0 or 1: both are the lowest bits of the payload. */
static bool is_sync(const struct tw_etrace_frame *frame, const uint8_t *packet)
{
    unsigned bits;

    if (frame->kind != TW_ETRACE_FRAME_INST || !frame->payload_size)
        return false;
    bits = tw_etrace_frame_byte(frame, packet, 0);
    if (frame->payload_size > 1)
        bits |= (unsigned)tw_etrace_frame_byte(frame, packet, 1) << 8;
    bits >>= frame->header_bits;
    return (bits & 3) == 3 && (bits >> 2 & 3) <= 1;
}

/* Whether bytes alone tell where a packet begins. */
static bool may_hunt(const struct tw_etrace_transport *transport)
{
    return !transport->comes_apart && !transport->block_size &&
           transport->encapsulation != TW_ETRACE_ENCAP_PULP;
}

bool tw_etrace_split(struct tw_split *split, const void *any, const uint8_t *data, size_t size)
{
    const struct tw_etrace_decoder *decoder = any;
    struct tw_etrace_transport transport = decoder->codec.transport;
    size_t at = split->at, start = size;
    unsigned packets = 0;

    transport.is_synced = true;
    transport.is_doubtful = false;
    transport.null_run = 0;
    if (split->least > at + RUN_UP && may_hunt(&transport)) {
        at = split->least - RUN_UP;
        tw_etrace_transport_lose(&transport);
    }
    while (at < size) {
        struct tw_etrace_frame frame;

        if (tw_etrace_transport_next(&transport, &frame, data + at, size - at, false) != TW_OK)
            break;
        tw_etrace_transport_pass(&transport, &frame);
        if (start == size && at >= split->least && is_sync(&frame, data + at)) {
            start = at;
            packets = 0;
        }
        at += frame.size;
        packets += frame.kind <= TW_ETRACE_FRAME_DATA;
        if (start < size && (packets > PACKETS || at - start > LOOK_MAX)) {
            split->start = start;
            split->at = split->until = at;
            return true;
        }
    }
    split->at = size;
    return false;
}
