/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: what an index notes of messages, and what a synchronizing one does not tell. */
#include <trackway/index.h>

#include "ntrace/decode.h"

/* The stream's own words: the time, whether it is known, and whether the dialect was met. */
enum { TIME, HAS_TIME, DIALECT, UNKNOWN = TW_INDEX_WORDS - 1 };

static uint64_t add_time(const struct tw_ntrace_reader *reader, const uint64_t *state,
                         uint64_t difference)
{
    const unsigned width = reader->config.time_width;
    const bool is_dialect = reader->config.dialect == TW_NTRACE_SIFIVE || state[DIALECT];
    const uint64_t sum = is_dialect ? state[TIME] ^ difference : state[TIME] + difference;

    return width && width < 64 ? sum & (((uint64_t)1 << width) - 1) : sum;
}

static unsigned note_time(uint64_t *state, struct tw_index_note *note,
                          const struct tw_ntrace_reader *reader,
                          const struct tw_ntrace_packet *packet)
{
    if (!(packet->has & TW_NTRACE_HAS_TSTAMP))
        return 0;
    if (tw_ntrace_is_sync(packet->base.type)) {
        state[TIME] = packet->tstamp;
        state[HAS_TIME] = 1;
    } else if (state[HAS_TIME]) {
        state[TIME] = add_time(reader, state, packet->tstamp);
    } else {
        return 0;
    }
    return tw_note(note, TW_INDEX_TIME, state[TIME]);
}

/* Whether a decoder may begin at a synchronizing message: not where other sources of the stream are
   not synchronized. */
static bool is_whole(const struct tw_ntrace_reader *reader)
{
    return reader->shape.src_bits == 0 || reader->config.comes_apart;
}

static unsigned note_sync(uint64_t *state, struct tw_index_note *notes,
                          const struct tw_ntrace_reader *reader,
                          const struct tw_ntrace_packet *packet)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, is_whole(reader) && !state[UNKNOWN]);

    if (notes[0].value)
        count += tw_note(notes + count, TW_INDEX_STATE, state[DIALECT]);
    switch (packet->sync) {
    case TW_NTRACE_SYNC_TRIGGER:
        count += tw_note(notes + count, TW_INDEX_TRIGGER, 0);
        break;
    case TW_NTRACE_SYNC_EVENT:
        count += tw_note(notes + count, TW_INDEX_EVENT, 0);
        break;
    case TW_NTRACE_SYNC_PERIODIC:
    case TW_NTRACE_SYNC_ICNT_FULL:
        break;
    default:
        count += tw_note(notes + count, TW_INDEX_TRACE_ON,
                         packet->sync == TW_NTRACE_SYNC_OVERRUN      ? TW_TRACE_ON_OVERFLOW
                         : packet->sync == TW_NTRACE_SYNC_DEBUG_EXIT ? TW_TRACE_ON_DEBUG_EXIT
                                                                     : TW_TRACE_ON_NORMAL);
    }
    return count;
}

unsigned tw_ntrace_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                         const void *packet)
{
    const struct tw_ntrace_reader *of = reader;
    const struct tw_ntrace_packet *from = packet;
    unsigned count = 0;

    if (of->config.dialect == TW_NTRACE_AUTO && tw_ntrace_shows_dialect(from))
        state[DIALECT] = 1;
    if (tw_ntrace_is_sync(from->base.type))
        count = note_sync(state, notes, of, from);
    else if (from->base.type == TW_NTRACE_ERROR)
        count = tw_note(notes, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    else if (from->base.type == TW_NTRACE_OWNERSHIP)
        count = tw_note(notes, TW_INDEX_CONTEXT, from->process >> 5);
    else if (from->base.type == TW_NTRACE_IN_CIRCUIT_TRACE ||
             from->base.type == TW_NTRACE_IN_CIRCUIT_TRACE_SYNC)
        count = tw_note(notes, TW_INDEX_EVENT, from->code);
    return count + note_time(state, notes + count, of, from);
}

void tw_ntrace_restore(void *decoder, const uint64_t *words)
{
    if (words[0])
        tw_ntrace_take_dialect(decoder);
}
