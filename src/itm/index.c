/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: what an index notes of packets, and the times and the page that synchronization does not
   tell. */
#include <trackway/index.h>

#include "itm/packet.h"

/* Words of the state. */
enum { LOCAL, GLOBAL, OTHER, UNKNOWN };
enum { PAGE = 0xffff, OVERFLOW = 0x10000, HAS_LOW = 0x20000, HAS_HIGH = 0x40000 };

static unsigned note_sync(const uint64_t *state, struct tw_index_note *notes)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, !state[UNKNOWN]);

    if (!state[UNKNOWN])
        for (unsigned i = 0; i < UNKNOWN; i++)
            count += tw_note(notes + count, TW_INDEX_STATE, state[i]);
    return count;
}

/* As the decoder does it. */
static unsigned note_global(uint64_t *state, struct tw_index_note *notes,
                            const struct tw_itm_packet *packet)
{
    if (packet->base.type == TW_ITM_PACKET_GTS_1) {
        state[GLOBAL] = tw_replace_low(state[GLOBAL], packet->value,
                                       packet->size == 4 ? 26 : 7u * packet->size);
        state[OTHER] |= HAS_LOW;
        if (packet->wrap)
            state[OTHER] &= ~(uint64_t)HAS_HIGH;
    } else {
        state[GLOBAL] = packet->value << 26 | (state[GLOBAL] & 0x3ffffff);
        state[OTHER] |= HAS_HIGH;
    }
    if ((state[OTHER] & (HAS_LOW | HAS_HIGH)) != (HAS_LOW | HAS_HIGH))
        return 0;
    state[OTHER] &= ~(uint64_t)OVERFLOW;
    return tw_note(notes, TW_INDEX_INFO, state[GLOBAL]);
}

unsigned tw_itm_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                      const void *packet)
{
    const struct tw_itm_packet *from = packet;

    switch (from->base.type) {
    case TW_ITM_PACKET_ASYNC:
        return note_sync(state, notes);
    case TW_ITM_PACKET_SWIT:
    case TW_ITM_PACKET_DWT:
        state[OTHER] &= ~(uint64_t)OVERFLOW;
        return 0;
    case TW_ITM_PACKET_TS_LOCAL:
        state[LOCAL] += from->value;
        state[OTHER] &= ~(uint64_t)OVERFLOW;
        return tw_note(notes, TW_INDEX_TIME,
                       state[LOCAL] << ((const struct tw_itm_reader *)reader)->scale);
    case TW_ITM_PACKET_GTS_1:
    case TW_ITM_PACKET_GTS_2:
        return note_global(state, notes, from);
    case TW_ITM_PACKET_EXTENSION:
        if (from->source == 0 && from->bits == 3)
            state[OTHER] =
                (state[OTHER] & ~(uint64_t)PAGE) | ((uint64_t)32 * from->value & PAGE);
        return 0;
    case TW_ITM_PACKET_OVERFLOW:
        state[OTHER] |= OVERFLOW;
        state[LOCAL] = 0;
        return tw_note(notes, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    case TW_ITM_PACKET_NOT_SYNC:
        return 0;
    default:
        /* A listing hunts for synchronization, decoding may go on at the next byte: what it has
           seen since is not known here. */
        state[UNKNOWN] = 1;
        return 0;
    }
}

void tw_itm_restore(void *decoder, const uint64_t *words)
{
    struct tw_itm_decoder *to = decoder;

    to->local = words[LOCAL];
    to->global = words[GLOBAL];
    to->page = (uint32_t)(words[OTHER] & PAGE);
    to->overflow = words[OTHER] & OVERFLOW ? TW_ITM_OVERFLOW : 0;
    to->has_low = (words[OTHER] & HAS_LOW) != 0;
    to->has_high = (words[OTHER] & HAS_HIGH) != 0;
}
