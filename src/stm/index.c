/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: what an index notes of packets, and the time and the master that synchronization does not
   tell. */
#include <trackway/index.h>

#include "stm/packet.h"

/* Words of the state. */
enum { TIME, IDS, UNKNOWN = TW_INDEX_KEPT - 1 };
enum { CHANNEL = 16, VERSION = 32, HAS_ID = 40 }; /* bits of IDS, above the master */

static unsigned note_sync(const uint64_t *state, struct tw_index_note *notes,
                          const struct tw_stm_reader *reader)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, !state[UNKNOWN]);

    if (state[UNKNOWN])
        return count;
    count += tw_note(notes + count, TW_INDEX_STATE, reader->timestamp);
    return count + tw_note(notes + count, TW_INDEX_STATE,
                           reader->master | (uint64_t)reader->channel << CHANNEL |
                               (uint64_t)reader->version << VERSION |
                               (uint64_t)(reader->has_id != 0) << HAS_ID);
}

unsigned tw_stm_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet)
{
    const struct tw_stm_packet *from = packet;
    unsigned count = 0;

    if (from->has_timestamp)
        count += tw_note(notes, TW_INDEX_TIME, from->timestamp);
    switch (from->base.type) {
    case TW_STM_ASYNC:
        return note_sync(state, notes, reader);
    case TW_STM_VERSION:
    case TW_STM_FREQ:
    case TW_STM_FREQ_TS:
    case TW_STM_FREQ_40:
    case TW_STM_FREQ_40_TS:
        return count + tw_note(notes + count, TW_INDEX_INFO, from->value);
    case TW_STM_TRIG:
    case TW_STM_TRIG_TS:
        return count + tw_note(notes + count, TW_INDEX_TRIGGER, from->value);
    case TW_STM_XSYNC:
    case TW_STM_XSYNC_TS:
        return count + tw_note(notes + count, TW_INDEX_EVENT, from->value);
    case TW_STM_MERR:
    case TW_STM_GERR:
        return count + tw_note(notes + count, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    default:
        return count;
    }
}

void tw_stm_restore(void *decoder, const uint64_t *words)
{
    struct tw_stm_reader *to = &((struct tw_stm_decoder *)decoder)->reader;

    to->timestamp = words[TIME];
    to->master = (uint16_t)words[IDS];
    to->channel = (uint16_t)(words[IDS] >> CHANNEL);
    to->version = (uint8_t)(words[IDS] >> VERSION);
    to->has_id = words[IDS] >> HAS_ID & 1 ? TW_SW_HAS_ID : 0;
}
