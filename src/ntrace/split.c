/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: what parallel decode asks for.  A stream is cut at a synchronizing message, which tells all
   but privilege, context and dialect: these are taken to be as they were. */
#include "ntrace/decode.h"
#include "path/state.h"

enum { MESSAGES = 8 }; /* behind the synchronizing one that make the state the same */

/* What of a message its walk and what follows it need. */
static void message_state(struct tw_ntrace_packet *packet, struct tw_state *state)
{
    TW_STATE(state, packet->base.type);
    TW_STATE(state, packet->tcode);
    TW_STATE(state, packet->has);
    TW_STATE(state, packet->sync);
    TW_STATE(state, packet->btype);
    TW_STATE(state, packet->code);
    TW_STATE(state, packet->icnt);
    TW_STATE(state, packet->address);
    TW_STATE(state, packet->hist);
}

static void way_state(struct tw_ntrace_way *way, struct tw_state *state)
{
    TW_STATE(state, way->left);
    TW_STATE(state, way->walked);
    TW_STATE(state, way->bits);
    TW_STATE(state, way->count);
    TW_STATE(state, way->hops);
    TW_STATE(state, way->pattern);
    TW_STATE(state, way->pattern_count);
    TW_STATE(state, way->refills);
}

static void previous_state(struct tw_ntrace_previous *previous, struct tw_state *state)
{
    TW_STATE(state, previous->is_there);
    if (!previous->is_there)
        return;
    TW_STATE(state, previous->type);
    TW_STATE(state, previous->tcode);
    TW_STATE(state, previous->has);
    TW_STATE(state, previous->btype);
    TW_STATE(state, previous->icnt);
    TW_STATE(state, previous->hist);
}

/* What is left of the message at hand, and what may come again. */
static void packet_state(struct tw_ntrace_decoder *decoder, struct tw_state *state)
{
    TW_STATE(state, decoder->packet_end);
    TW_STATE(state, decoder->packet_index);
    TW_STATE(state, decoder->end_index);
    TW_STATE(state, decoder->phase);
    if (decoder->phase != TW_NTRACE_DONE) {
        message_state(&decoder->packet, state);
        way_state(&decoder->way, state);
        TW_STATE(state, decoder->packet_offset);
        TW_STATE(state, decoder->times);
        TW_STATE(state, decoder->repeat_has);
    }
    previous_state(&decoder->previous, state);
}

static void owner_state(struct tw_ntrace_owner *owner, struct tw_state *state)
{
    TW_STATE(state, owner->has_scontext);
    TW_STATE(state, owner->has_hcontext);
    TW_STATE(state, owner->scontext);
    TW_STATE(state, owner->hcontext);
}

static void before_state(struct tw_ntrace_before *before, struct tw_state *state)
{
    TW_STATE(state, before->has_time);
    TW_STATE(state, before->time);
    TW_STATE(state, before->has_owner);
    TW_STATE(state, before->owner_index);
    TW_STATE(state, before->process);
    owner_state(&before->owner, state);
}

static void context_state(struct tw_ntrace_decoder *decoder, struct tw_state *state)
{
    owner_state(&decoder->owner, state);
    TW_STATE(state, decoder->before.is_due);
    if (decoder->before.is_due)
        before_state(&decoder->before, state);
    TW_STATE(state, decoder->is_dialect);
    TW_STATE(state, decoder->codec.shape.extension);
    TW_STATE(state, decoder->has_time);
    if (decoder->has_time)
        TW_STATE(state, decoder->time);
}

static void returns_state(struct tw_ntrace_decoder *decoder, struct tw_state *state)
{
    enum { MAX = TW_NTRACE_RETURNS_MAX };

    TW_STATE(state, decoder->return_depth);
    if (decoder->return_depth > MAX)
        decoder->return_depth = 0;
    if (state->loads)
        decoder->return_top = MAX - 1;
    for (uint32_t i = 0; i < decoder->return_depth; i++)
        TW_STATE(state, decoder->returns[(decoder->return_top + MAX - i) % MAX]);
}

void tw_ntrace_state(void *any, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_ntrace_decoder *decoder = any;

    tw_follow_state(follow, state, false);
    TW_STATE(state, decoder->codec.is_lost);
    TW_STATE(state, decoder->state);
    TW_STATE(state, decoder->has_begun);
    TW_STATE(state, decoder->is_after_loss);
    TW_STATE(state, decoder->is_after_error);
    TW_STATE(state, decoder->has_pc);
    if (decoder->has_pc)
        TW_STATE(state, decoder->pc);
    TW_STATE(state, decoder->reference);
    TW_STATE(state, decoder->adjust);
    context_state(decoder, state);
    tw_damage_state(&decoder->damage, state);
    packet_state(decoder, state);
    returns_state(decoder, state);
    if (state->loads) {
        decoder->at = decoder->last = 0;
        decoder->epoch = follow->code->epoch;
    }
}

void tw_ntrace_resume(void *any, struct tw_follow *follow)
{
    struct tw_ntrace_decoder *decoder = any;

    (void)follow;
    decoder->codec.is_lost = false;
    decoder->state = TW_NTRACE_UNSYNCED;
    decoder->phase = TW_NTRACE_DONE;
    decoder->is_after_error = decoder->is_after_loss = decoder->previous.is_there = false;
    decoder->has_pc = decoder->has_time = decoder->before.is_due = false;
    decoder->at = decoder->last = 0;
    decoder->adjust = 0;
    decoder->times = 0;
    decoder->return_depth = 0;
    decoder->damage.code = TW_ERROR_NONE;
    decoder->has_begun = true;
}

bool tw_ntrace_split(struct tw_split *split, const void *any, const uint8_t *data, size_t size)
{
    const struct tw_ntrace_decoder *decoder = any;
    struct tw_ntrace_reader reader = decoder->codec;
    size_t at = split->at, start = size;
    unsigned messages = 0;

    /* From anywhere: a message ends where one of its bytes says so. */
    reader.is_lost = true;
    if (at < split->least)
        at = split->least;
    while (at < size) {
        struct tw_ntrace_packet packet;

        if (tw_ntrace_read(&reader, &packet, data + at, size - at, false) != TW_OK)
            break;
        if (start == size && tw_ntrace_is_sync(packet.base.type) &&
            (!split->wants_time || packet.has & TW_NTRACE_HAS_TSTAMP)) {
            start = at;
            messages = 0;
        }
        at += packet.base.size;
        messages += packet.base.type <= TW_NTRACE_VENDOR;
        if (start < size && messages > MESSAGES) {
            split->start = start;
            split->at = split->until = at;
            return true;
        }
    }
    split->at = size;
    return false;
}
