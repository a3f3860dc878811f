/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE: what an index notes of packets, and how to pass over the rest quickly. */
#include <trackway/index.h>

#include "etmv4/payload.h"

unsigned tw_etmv4_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                        const void *packet)
{
    const struct tw_etmv4_packet *from = packet;

    (void)state;
    (void)reader;
    switch (from->base.type) {
    case TW_ETMV4_ASYNC:
        return tw_note(notes, TW_INDEX_SYNC, 1);
    case TW_ETMV4_TRACE_INFO:
        return tw_note(notes, TW_INDEX_INFO, from->info);
    case TW_ETMV4_TIMESTAMP:
        return tw_note(notes, TW_INDEX_TIME, from->timestamp);
    case TW_ETMV4_EVENT:
        return tw_note(notes, TW_INDEX_EVENT, from->number);
    case TW_ETMV4_TRACE_ON:
        return tw_note(notes, TW_INDEX_TRACE_ON, TW_TRACE_ON_NORMAL);
    case TW_ETMV4_OVERFLOW:
        return tw_note(notes, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    case TW_ETMV4_DISCARD:
        return tw_note(notes, TW_INDEX_LOSS, TW_REASON_DISCARD);
    case TW_ETMV4_CTXT:
        return from->has_context && from->has_cid ? tw_note(notes, TW_INDEX_CONTEXT, from->cid)
                                                  : 0;
    case TW_ETMV4_ADDR_CTXT_L_32IS0:
    case TW_ETMV4_ADDR_CTXT_L_32IS1:
    case TW_ETMV4_ADDR_CTXT_L_64IS0:
    case TW_ETMV4_ADDR_CTXT_L_64IS1:
        return from->has_cid ? tw_note(notes, TW_INDEX_CONTEXT, from->cid) : 0;
    default:
        return 0;
    }
}

enum { MARGIN = 16 }; /* longer than any packet that is passed over */

/* Addresses are left out of the reader's history: no note has one. */
size_t tw_etmv4_pass(void *reader, const uint8_t *data, size_t size)
{
    struct tw_etmv4_reader *state = reader;
    const uint8_t *at = data;
    const uint8_t *end;

    if (!state->is_synced || state->setup.is_data_stream || size <= MARGIN)
        return 0;
    end = data + size - MARGIN;
    while (at < end) {
        const uint8_t head = *at;

        if (tw_etmv4_is_atom(head)) { /* guesses are quicker than a look into the table */
            at++;
        } else if (tw_etmv4_is_short(head)) {
            struct tw_bytes in = { .at = at + 1, .end = at + MARGIN };
            unsigned bits;

            (void)tw_etmv4_get_short(&in, &bits, 0);
            at = in.at;
        } else if (TW_LIKELY(state->lengths[head])) {
            at += state->lengths[head];
        } else {
            break;
        }
    }
    state->offset += (uint64_t)(at - data);
    return (size_t)(at - data);
}
