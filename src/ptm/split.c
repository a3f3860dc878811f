/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: what parallel decode asks for.  A stream is cut at an A-sync; the I-sync behind it tells all
   that a decoder knows, but for what has packets of its own. */
#include "path/state.h"
#include "ptm/decode.h"

enum {
    LOOK_MAX = 2048, /* bytes behind an A-sync in which I-sync and an atom must come ... */
    MORE_MAX = 512   /* ... and behind those all else that is to be known */
};

static void reader_state(struct tw_ptm_reader *reader, struct tw_state *state)
{
    TW_STATE(state, reader->offset);
    TW_STATE(state, reader->timestamp);
    TW_STATE(state, reader->address);
    TW_STATE(state, reader->address_valid);
    TW_STATE(state, reader->isa);
    TW_STATE(state, reader->alt_isa);
    TW_STATE(state, reader->ns);
    TW_STATE(state, reader->hyp);
    TW_STATE(state, reader->is_synced);
}

void tw_ptm_state(void *any, struct tw_follow *follow, struct tw_state *state)
{
    struct tw_ptm_decoder *decoder = any;

    reader_state(&decoder->reader, state);
    tw_damage_state(&decoder->damage, state);
    TW_STATE(state, decoder->last_index);
    TW_STATE(state, decoder->sync);
    if (decoder->sync == TW_PTM_SYNC_START)
        TW_STATE(state, decoder->lost_reason);
    TW_STATE(state, decoder->is_in_run);
    tw_armv7_context_state(&decoder->context, state);
    tw_follow_state(follow, state, true);
}

/* How a place is looked for. */
struct ptm_search {
    struct tw_ptm_reader *reader;
    bool wants_time;
};

/* Where a decoder that begins at the A-sync at `start` knows all; 0: not within reach. */
static size_t knows_all(void *context, const uint8_t *data, size_t size, size_t start)
{
    const struct ptm_search *search = context;
    struct tw_ptm_reader *reader = search->reader;
    bool has_isync = false, has_time = false, has_vmid = false;
    size_t at = start, until = 0;

    tw_ptm_reader_lost(reader);
    while (at - start < LOOK_MAX && (!until || at - until < MORE_MAX)) {
        struct tw_ptm_packet packet;
        uint8_t type;

        if (tw_ptm_read(reader, &packet, data + at, size - at, false) != TW_OK)
            break;
        type = packet.base.type;
        if (tw_ptm_type_is_bad(type) || type == TW_PTM_NOT_SYNC)
            break;
        at += packet.base.size;
        has_isync |= type == TW_PTM_ISYNC;
        has_time |= type == TW_PTM_TIMESTAMP;
        has_vmid |= type == TW_PTM_VMID;
        if (!has_isync || (type != TW_PTM_ATOM && type != TW_PTM_BRANCH_ADDRESS))
            continue;
        until = until ? until : at;
        if ((has_time || !search->wants_time) && (has_vmid || !reader->setup.vmid))
            return at;
    }
    return until;
}

bool tw_ptm_split(struct tw_split *split, const void *any, const uint8_t *data, size_t size)
{
    const struct tw_ptm_decoder *decoder = any;
    struct tw_ptm_reader reader = decoder->reader;
    struct ptm_search search = { &reader, split->wants_time || reader.setup.timestamps };

    return tw_armv7_split(split, data, size, knows_all, &search);
}
