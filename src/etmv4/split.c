/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: what parallel decode asks for.  A stream is cut at an A-sync; what follows it up
   to an atom that both address and context precede makes a new decoder know as much as an old one. */
#include "base/memory.h"
#include "etmv4/decode.h"
#include "path/state.h"

enum {
    LOOK_MAX = 4096,          /* bytes behind an A-sync in which all must have been said */
    SPECULATION_BYTES = 1024, /* ... and, roughly, elements of before it committed */
};

static void context_state(struct tw_etmv4_context *context, struct tw_state *state)
{
    TW_STATE(state, context->cid);
    TW_STATE(state, context->vmid);
    TW_STATE(state, context->el);
    TW_STATE(state, context->sf);
    TW_STATE(state, context->ns);
    TW_STATE(state, context->nse);
    TW_STATE(state, context->has_cid);
    TW_STATE(state, context->has_vmid);
}

static void item_state(struct tw_etmv4_item *item, struct tw_state *state)
{
    TW_STATE(state, item->index);
    TW_STATE(state, item->value);
    TW_STATE(state, item->number);
    TW_STATE(state, item->kind);
    TW_STATE(state, item->sub_isa);
    TW_STATE(state, item->is_taken);
    TW_STATE(state, item->was_taken);
    TW_STATE(state, item->has_context);
    TW_STATE(state, item->has_address);
    TW_STATE(state, item->has_count);
    TW_STATE(state, item->is_target);
    context_state(&item->context, state);
}

static void open_item_state(bool *is_open, struct tw_etmv4_item *item, struct tw_state *state)
{
    TW_STATE(state, *is_open);
    if (*is_open)
        item_state(item, state);
}

static void reader_state(struct tw_etmv4_reader *reader, struct tw_state *state)
{
    for (unsigned i = 0; i < TW_ETMV4_HISTORY; i++) {
        TW_STATE(state, reader->history[i].address);
        TW_STATE(state, reader->history[i].sub_isa);
        TW_STATE(state, reader->history[i].bits);
        TW_STATE(state, reader->history[i].width);
    }
    TW_STATE(state, reader->offset);
    TW_STATE(state, reader->timestamp);
    TW_STATE(state, reader->threshold);
    TW_STATE(state, reader->is_synced);
    TW_STATE(state, reader->has_trace_info);
    TW_STATE(state, reader->has_timestamp);
    TW_STATE(state, reader->sf);
}

/* Step 1. */
static void packets_state(struct tw_etmv4_decoder *decoder, struct tw_state *state)
{
    const struct tw_etmv4_setup *setup = &decoder->reader.setup;

    TW_STATE(state, decoder->sync);
    TW_STATE(state, decoder->lost_is_pending);
    if (decoder->sync != TW_SYNC_DONE || decoder->lost_is_pending)
        TW_STATE(state, decoder->lost_reason);
    TW_STATE(state, decoder->is_after_overflow);
    TW_STATE(state, decoder->in_transaction);
    if (setup->version >= 0x51 && setup->tsmark)
        TW_STATE(state, decoder->has_marker);
    TW_STATE(state, decoder->has_atom);
    open_item_state(&decoder->exception_is_open, &decoder->exception, state);
    context_state(&decoder->context, state);
    tw_damage_state(&decoder->damage, state);
    TW_STATE(state, decoder->last_index);
    TW_STATE(state, decoder->last_offset);
    TW_STATE(state, decoder->is_in_run);
}

/* Step 2. */
static void queue_state(struct tw_etmv4_decoder *decoder, struct tw_state *state)
{
    const size_t count = (size_t)tw_state_number(state, decoder->count);

    if (state->loads) {
        decoder->first = decoder->count = 0;
        if (!TW_GROW(decoder->allocator, &decoder->items, &decoder->room, count)) {
            state->failed = true;
            return;
        }
        decoder->count = count;
    }
    for (size_t i = 0; i < count && !state->failed; i++)
        item_state(&decoder->items[decoder->first + i], state);
    TW_STATE(state, decoder->depth);
    TW_STATE(state, decoder->unseen);
    TW_STATE(state, decoder->commit_left);
    TW_STATE(state, decoder->drains);
}

/* Step 3. */
static void analysis_state(struct tw_etmv4_decoder *decoder, struct tw_state *state)
{
    TW_STATE(state, decoder->has_context);
    TW_STATE(state, decoder->has_address);
    TW_STATE(state, decoder->push_needs_address);
    TW_STATE(state, decoder->push_needs_context);
    if (decoder->has_address && !decoder->has_context) /* else it has gone to the follower */
        TW_STATE(state, decoder->address);
    TW_STATE(state, decoder->sub_isa);
    TW_STATE(state, decoder->sf);
    open_item_state(&decoder->q_is_open, &decoder->q, state);
    open_item_state(&decoder->atom_is_pending, &decoder->atom, state);
    open_item_state(&decoder->source_is_open, &decoder->source, state);
    TW_STATE(state, decoder->has_returns);
    for (unsigned i = 0; decoder->has_returns && i < TW_RETURN_STACK_MAX; i++) {
        TW_STATE(state, decoder->returns.address[i]);
        TW_STATE(state, decoder->returns.isa[i]);
    }
    if (decoder->has_returns)
        TW_STATE(state, decoder->returns.count);
    if (decoder->returns.count > TW_RETURN_STACK_MAX)
        decoder->returns.count = TW_RETURN_STACK_MAX;
}

void tw_etmv4_state(void *any, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_etmv4_decoder *decoder = any;

    decoder->allocator = follow->code->config.allocator;
    reader_state(&decoder->reader, state);
    packets_state(decoder, state);
    queue_state(decoder, state);
    analysis_state(decoder, state);
    tw_follow_state(follow, state, false);
}

/* What has been said since the A-sync. */
struct seen {
    bool info, address, context, time, marker, atom;
};

static void see(struct seen *seen, const struct tw_etmv4_packet *packet)
{
    const uint8_t type = packet->base.type;

    seen->info |= type == TW_ETMV4_TRACE_INFO;
    if (!seen->info)
        return;
    if (type >= TW_ETMV4_ADDR_CTXT_L_32IS0 && type <= TW_ETMV4_ADDR_CTXT_L_64IS1)
        seen->address = seen->context = true;
    else if (type >= TW_ETMV4_ADDR_MATCH && type <= TW_ETMV4_ADDR_L_64IS1)
        seen->address = true;
    else if (type == TW_ETMV4_CTXT)
        seen->context |= packet->has_context;
    else if (type == TW_ETMV4_TIMESTAMP)
        seen->time = true;
    else if (type == TW_ETMV4_TS_MARKER)
        seen->marker = true;
    else if (type >= TW_ETMV4_ATOM_F1 && type <= TW_ETMV4_ATOM_F6)
        seen->atom = seen->address && seen->context;
}

/* Where a decoder that begins at the A-sync at `start` knows all; 0: not within reach. */
static size_t find_until(const struct tw_split *split, struct tw_etmv4_reader *reader,
                         const uint8_t *data, size_t size, size_t start)
{
    const struct tw_etmv4_setup *setup = &reader->setup;
    const bool wants_marker = setup->version >= 0x51 && setup->tsmark && setup->timestamps;
    const size_t more = setup->max_spec ? SPECULATION_BYTES : 0;
    size_t at = start, until = 0;
    struct seen seen = { .info = false };

    tw_etmv4_reader_lost(reader);
    while (at - start < LOOK_MAX) {
        struct tw_etmv4_packet packet;

        if (tw_etmv4_read(reader, &packet, data + at, size - at, false) != TW_OK ||
            tw_etmv4_type_is_bad(packet.base.type) || packet.base.type == TW_ETMV4_NOT_SYNC)
            break;
        at += packet.base.size;
        seen.atom = false; /* one behind all the others is wanted */
        see(&seen, &packet);
        if (!seen.atom)
            continue;
        until = until ? until : at;
        if (at - until >= more && (seen.time || !split->wants_time) &&
            (seen.marker || !wants_marker))
            return at;
    }
    return more ? 0 : until;
}

bool tw_etmv4_split(struct tw_split *split, const void *any, const uint8_t *data, size_t size)
{
    const struct tw_etmv4_decoder *decoder = any;
    struct tw_etmv4_reader reader = decoder->reader;
    size_t at = split->at > split->least ? split->at : split->least;

    while ((at = tw_find_zeros_80(data, size, at, TW_ETMV4_ASYNC_SIZE - 1)) < size) {
        const size_t until = find_until(split, &reader, data, size, at);

        if (until) {
            split->start = at;
            split->at = split->until = until;
            return true;
        }
        at += TW_ETMV4_ASYNC_SIZE;
    }
    split->at = size;
    return false;
}
