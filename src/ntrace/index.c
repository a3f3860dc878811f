/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: what an index notes of messages, and what a synchronizing one does not tell. */
#include <trackway/index.h>

#include "ntrace/decode.h"

/* The stream's own words: the time; and what a loss does not change: MET, what the last Ownership said, and the contexts. */
enum {
    TIME,
    HAS_TIME,
    MET = TW_INDEX_KEPT,
    PROCESS,
    SCONTEXT,
    HCONTEXT,
    UNKNOWN = TW_INDEX_WORDS - 1
};

/* Bits of MET; and of the first word that is kept of a synchronizing message, which is that one. */
enum { DIALECT = 1, OWNER = 2, HAS_SCONTEXT = 4, HAS_HCONTEXT = 8, KNOWS_TIME = 16 };

/* The words that are kept of it: the first alone where the others are zero. */
enum { KEPT_MET, KEPT_TIME, KEPT_PROCESS, KEPT_SCONTEXT, KEPT_HCONTEXT, KEPT_AT, KEPT_WORDS };

static uint64_t add_time(const struct tw_ntrace_reader *reader, const uint64_t *state,
                         uint64_t difference)
{
    const unsigned width = reader->config.time_width;
    const bool is_dialect = reader->config.dialect == TW_NTRACE_SIFIVE || state[MET] & DIALECT;
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

static void note_owner(uint64_t *state, uint64_t process)
{
    struct tw_ntrace_owner owner = { .scontext = state[SCONTEXT], .hcontext = state[HCONTEXT] };

    tw_ntrace_own(&owner, process);
    state[MET] |= OWNER | (owner.has_scontext ? HAS_SCONTEXT : 0) |
                  (owner.has_hcontext ? HAS_HCONTEXT : 0);
    state[PROCESS] = process;
    state[SCONTEXT] = owner.scontext;
    state[HCONTEXT] = owner.hcontext;
}

/* What came before and the message does not say: the words for tw_ntrace_restore. */
static unsigned note_state(const uint64_t *state, struct tw_index_note *notes,
                           const struct tw_ntrace_packet *packet)
{
    const bool lacks_time = state[HAS_TIME] && !(packet->has & TW_NTRACE_HAS_TSTAMP);
    const uint64_t words[KEPT_WORDS] = { [KEPT_MET] =
                                             state[MET] | (lacks_time ? KNOWS_TIME : 0),
                                         [KEPT_TIME] = lacks_time ? state[TIME] : 0,
                                         [KEPT_PROCESS] = state[PROCESS],
                                         [KEPT_SCONTEXT] = state[SCONTEXT],
                                         [KEPT_HCONTEXT] = state[HCONTEXT],
                                         [KEPT_AT] = state[TW_INDEX_CONTEXT_AT] };
    const unsigned count = state[MET] & OWNER ? KEPT_WORDS : lacks_time ? KEPT_TIME + 1 : 1;

    for (unsigned i = 0; i < count; i++)
        (void)tw_note(notes + i, TW_INDEX_STATE, words[i]);
    return count;
}

static unsigned note_sync(uint64_t *state, struct tw_index_note *notes,
                          const struct tw_ntrace_reader *reader,
                          const struct tw_ntrace_packet *packet)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, is_whole(reader) && !state[UNKNOWN]);

    if (notes[0].value)
        count += note_state(state, notes + count, packet);
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
        state[MET] |= DIALECT;
    if (from->base.type == TW_NTRACE_BAD || from->base.type == TW_NTRACE_INCOMPLETE)
        state[HAS_TIME] = 0; /* differences may be missing */
    if (tw_ntrace_is_sync(from->base.type))
        count = note_sync(state, notes, of, from);
    else if (from->base.type == TW_NTRACE_ERROR)
        count = tw_note(notes, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    else if (from->base.type == TW_NTRACE_OWNERSHIP) {
        count = tw_note(notes, TW_INDEX_CONTEXT, from->process >> 5);
        note_owner(state, from->process);
    } else if (from->base.type == TW_NTRACE_IN_CIRCUIT_TRACE ||
               from->base.type == TW_NTRACE_IN_CIRCUIT_TRACE_SYNC)
        count = tw_note(notes, TW_INDEX_EVENT, from->code);
    return count + note_time(state, notes + count, of, from);
}

void tw_ntrace_restore(void *any, const uint64_t *words)
{
    struct tw_ntrace_decoder *decoder = any;

    if (words[KEPT_MET] & DIALECT)
        tw_ntrace_take_dialect(decoder);
    decoder->before = (struct tw_ntrace_before){
        .is_due = true,
        .has_time = (words[KEPT_MET] & KNOWS_TIME) != 0,
        .time = words[KEPT_TIME],
        .has_owner = (words[KEPT_MET] & OWNER) != 0,
        .owner_index = words[KEPT_AT],
        .process = words[KEPT_PROCESS],
        .owner = { .has_scontext = (words[KEPT_MET] & HAS_SCONTEXT) != 0,
                   .has_hcontext = (words[KEPT_MET] & HAS_HCONTEXT) != 0,
                   .scontext = words[KEPT_SCONTEXT],
                   .hcontext = words[KEPT_HCONTEXT] },
    };
}
