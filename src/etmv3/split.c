/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: what parallel decode asks for.  A stream is cut at an A-sync; the I-sync behind it tells
   all that a decoder knows, but for what has packets of its own. */
#include "etmv3/decode.h"
#include "path/state.h"

enum {
    LOOK_MAX = 2048, /* bytes behind an A-sync in which I-sync and a P-header must come ... */
    MORE_MAX = 512   /* ... and behind those all else that is to be known */
};

static void reader_state(struct tw_etmv3_reader *reader, struct tw_state *state)
{
    TW_STATE(state, reader->offset);
    TW_STATE(state, reader->timestamp);
    TW_STATE(state, reader->address);
    TW_STATE(state, reader->data_address);
    TW_STATE(state, reader->address_valid);
    TW_STATE(state, reader->data_valid);
    TW_STATE(state, reader->isa);
    TW_STATE(state, reader->alt_isa);
    TW_STATE(state, reader->ns);
    TW_STATE(state, reader->hyp);
    TW_STATE(state, reader->is_big_endian);
    TW_STATE(state, reader->is_synced);
}

static void data_state(struct tw_etmv3_data *data, struct tw_state *state)
{
    TW_STATE(state, data->is_known);
    if (data->is_known) {
        TW_STATE(state, data->pc);
        TW_STATE(state, data->left);
        TW_STATE(state, data->flags);
    }
    TW_STATE(state, data->serial);
    TW_STATE(state, data->is_last);
    TW_STATE(state, data->has_next);
    if (data->has_next)
        TW_STATE(state, data->next);
    for (unsigned i = 0; i < TW_ETMV3_TAGS; i++) {
        struct tw_etmv3_slot *slot = &data->slots[i];

        TW_STATE(state, slot->is_open);
        if (!slot->is_open)
            continue;
        TW_STATE(state, slot->value);
        TW_STATE(state, slot->serial);
    }
}

void tw_etmv3_state(void *any, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_etmv3_decoder *decoder = any;

    reader_state(&decoder->reader, state);
    tw_damage_state(&decoder->damage, state);
    TW_STATE(state, decoder->last_index);
    TW_STATE(state, decoder->sync);
    if (decoder->sync == TW_ETMV3_SYNC_START)
        TW_STATE(state, decoder->lost_reason);
    TW_STATE(state, decoder->is_in_run);
    TW_STATE(state, decoder->unknown_is_said);
    TW_STATE(state, decoder->half_is_done);
    TW_STATE(state, decoder->is_returning);
    tw_armv7_context_state(&decoder->context, state);
    if (tw_etmv3_has_data(&decoder->reader.setup))
        data_state(&decoder->data, state);
    TW_STATE(state, decoder->has_instruction);
    TW_STATE(state, decoder->buffered_count);
    for (unsigned i = 0; i < decoder->buffered_count && i < TW_ETMV3_HELD_MAX; i++)
        TW_STATE(state, decoder->buffered[i]);
    if (state->loads) /* what was counted before is not known */
        decoder->holds_context = follow->sums && decoder->buffered_count > 1;
    tw_follow_state(follow, state, true);
}

/* How a place is looked for. */
struct etmv3_search {
    struct tw_etmv3_reader *reader;
    bool wants_time;
};

/* Where a decoder that begins at the A-sync at `start` knows all; 0: not within reach. */
static size_t knows_all(void *context, const uint8_t *data, size_t size, size_t start)
{
    const struct etmv3_search *search = context;
    struct tw_etmv3_reader *reader = search->reader;
    bool has_isync = false, has_time = false;
    size_t at = start, until = 0;

    tw_etmv3_reader_lost(reader);
    while (at - start < LOOK_MAX && (!until || at - until < MORE_MAX)) {
        struct tw_etmv3_packet packet;
        uint8_t type;

        if (tw_etmv3_read(reader, &packet, data + at, size - at, false) != TW_OK)
            break;
        type = packet.base.type;
        if (tw_etmv3_type_is_bad(type) || type == TW_ETMV3_NOT_SYNC)
            break;
        at += packet.base.size;
        has_isync |= type == TW_ETMV3_I_SYNC || type == TW_ETMV3_I_SYNC_CYCLE;
        has_time |= type == TW_ETMV3_TIMESTAMP;
        if (!has_isync || type != TW_ETMV3_P_HDR)
            continue;
        until = until ? until : at;
        if (has_time || !search->wants_time)
            return at;
    }
    return until;
}

bool tw_etmv3_split(struct tw_split *split, const void *any, const uint8_t *data, size_t size)
{
    const struct tw_etmv3_decoder *decoder = any;
    struct tw_etmv3_reader reader = decoder->reader;
    struct etmv3_search search = { &reader,
                                   split->wants_time || (decoder->config.etmcr >> 28 & 1) };

    return tw_armv7_split(split, data, size, knows_all, &search);
}
