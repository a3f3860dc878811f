/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: what an index notes of packets, and what of it a decoder needs that begins there. */
#include <trackway/index.h>

#include "etmv3/decode.h"

/* Words of the state. */
enum { TIME, VMID, HAS_VMID };

static unsigned note_sync(const uint64_t *state, struct tw_index_note *notes,
                          const struct tw_etmv3_reader *reader)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, 1);

    count += tw_note(notes + count, TW_INDEX_STATE, reader->timestamp);
    count += tw_note(notes + count, TW_INDEX_STATE, state[VMID]);
    return count + tw_note(notes + count, TW_INDEX_STATE, state[HAS_VMID]);
}

static unsigned note_isync(struct tw_index_note *notes, const struct tw_etmv3_packet *packet)
{
    static const uint8_t reasons[4] = { TW_TRACE_ON_NORMAL, TW_TRACE_ON_NORMAL,
                                        TW_TRACE_ON_OVERFLOW, TW_TRACE_ON_DEBUG_EXIT };
    unsigned count = 0;

    if (packet->reason == TW_ETMV3_PERIODIC)
        count += tw_note(notes, TW_INDEX_INFO, packet->address);
    else
        count += tw_note(notes, TW_INDEX_TRACE_ON, reasons[packet->reason & 3]);
    if (packet->reason == TW_ETMV3_AFTER_OVERFLOW)
        count += tw_note(notes + count, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    if (packet->has_context_id)
        count += tw_note(notes + count, TW_INDEX_CONTEXT, packet->context_id);
    return count;
}

unsigned tw_etmv3_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                        const void *packet)
{
    const struct tw_etmv3_packet *from = packet;

    switch (from->base.type) {
    case TW_ETMV3_A_SYNC:
        return note_sync(state, notes, reader);
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        return note_isync(notes, from);
    case TW_ETMV3_TIMESTAMP:
        return tw_note(notes, TW_INDEX_TIME, from->time);
    case TW_ETMV3_TRIGGER:
        return tw_note(notes, TW_INDEX_TRIGGER, 0);
    case TW_ETMV3_CONTEXT_ID:
        return tw_note(notes, TW_INDEX_CONTEXT, from->value);
    case TW_ETMV3_VMID:
        state[VMID] = from->value;
        state[HAS_VMID] = 1;
        return 0;
    case TW_ETMV3_BAD_SEQUENCE:
    case TW_ETMV3_RESERVED:
    case TW_ETMV3_BAD_TRACEMODE:
        state[VMID] = state[HAS_VMID] = 0; /* as the decoder forgets it */
        return 0;
    default:
        return 0;
    }
}

void tw_etmv3_restore(void *decoder, const uint64_t *words)
{
    struct tw_etmv3_decoder *to = decoder;

    to->reader.timestamp = words[TIME];
    to->vmid = (uint32_t)words[VMID];
    to->has_vmid = words[HAS_VMID] != 0;
}
