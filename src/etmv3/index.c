/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: what an index notes of packets, and what of it a decoder needs that begins there. */
#include <trackway/index.h>

#include "etmv3/decode.h"

unsigned tw_etmv3_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                        const void *packet)
{
    const struct tw_etmv3_packet *from = packet;

    switch (from->base.type) {
    case TW_ETMV3_A_SYNC:
        return tw_armv7_note_sync(state, notes,
                                  ((const struct tw_etmv3_reader *)reader)->timestamp);
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        return tw_armv7_note_isync(notes, from->reason, from->address, from->has_context_id,
                                   from->context_id);
    case TW_ETMV3_TIMESTAMP:
        return tw_note(notes, TW_INDEX_TIME, from->time);
    case TW_ETMV3_TRIGGER:
        return tw_note(notes, TW_INDEX_TRIGGER, 0);
    case TW_ETMV3_CONTEXT_ID:
        return tw_note(notes, TW_INDEX_CONTEXT, from->value);
    case TW_ETMV3_VMID:
        tw_armv7_note_vmid(state, from->value);
        return 0;
    case TW_ETMV3_BAD_SEQUENCE:
    case TW_ETMV3_RESERVED:
    case TW_ETMV3_BAD_TRACEMODE:
        tw_armv7_forget_vmid(state);
        return 0;
    default:
        return 0;
    }
}

void tw_etmv3_restore(void *decoder, const uint64_t *words)
{
    struct tw_etmv3_decoder *to = decoder;

    tw_armv7_restore(&to->context, &to->reader.timestamp, words);
}
