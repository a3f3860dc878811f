/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: what an index notes of packets, and the options that a support packet set long ago. */
#include <trackway/index.h>

#include "etrace/decode.h"

/* What a synchronization packet brings back, but for the options. */
static bool is_whole(const struct tw_etrace_reader *codec)
{
    const struct tw_etrace_config *config = &codec->config;

    if (config->is_data || config->block_size || config->starts_inside)
        return false;
    if (config->srcid_bits && !config->comes_apart)
        return false; /* other sources of the stream are not synchronized here */
    if (codec->options & TW_ETRACE_JUMP_TARGET_CACHE)
        return false;
    return !(codec->options & TW_ETRACE_BRANCH_PREDICTION) || config->bpred_reset_on_sync;
}

/* Time and context of a format 3 packet. */
static unsigned note_context(struct tw_index_note *notes, const struct tw_etrace_reader *codec,
                             const struct tw_etrace_packet *packet)
{
    unsigned count = 0;

    if (codec->shape.time)
        count += tw_note(notes, TW_INDEX_TIME, packet->time);
    if (codec->shape.context)
        count += tw_note(notes + count, TW_INDEX_CONTEXT, packet->context);
    return count;
}

static unsigned note_support(struct tw_index_note *notes, const struct tw_etrace_packet *packet)
{
    unsigned count = tw_note(notes, TW_INDEX_INFO, packet->ioptions);

    if (packet->qual_status == TW_ETRACE_TRACE_LOST)
        count += tw_note(notes + count, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    else if (packet->qual_status == TW_ETRACE_NO_CHANGE && packet->ienable)
        count += tw_note(notes + count, TW_INDEX_TRACE_ON, TW_TRACE_ON_NORMAL);
    return count;
}

unsigned tw_etrace_notes(uint64_t *state, struct tw_index_note *notes, const void *reader,
                         const void *packet)
{
    const struct tw_etrace_reader *codec = reader;
    const struct tw_etrace_packet *from = packet;
    unsigned count = 0;

    switch (from->base.type) {
    case TW_ETRACE_F3S0:
        count = tw_note(notes, TW_INDEX_SYNC, is_whole(codec) && !state[TW_INDEX_WORDS - 1]);
        if (notes[0].value)
            count += tw_note(notes + count, TW_INDEX_STATE, codec->options);
        count += note_context(notes + count, codec, from);
        break;
    case TW_ETRACE_F3S1:
        count = tw_note(notes, TW_INDEX_INFO, from->ecause);
        count += note_context(notes + count, codec, from);
        break;
    case TW_ETRACE_F3S2:
        count = note_context(notes, codec, from);
        break;
    case TW_ETRACE_F3S3:
        count = note_support(notes, from);
        break;
    case TW_ETRACE_F0S0:
    case TW_ETRACE_F0S1:
    case TW_ETRACE_F1:
    case TW_ETRACE_F2:
        if (from->notify)
            count = tw_note(notes, TW_INDEX_EVENT, 0);
        break;
    default:
        break;
    }
    if (from->has & TW_ETRACE_HAS_STAMP && !codec->shape.time)
        count += tw_note(notes + count, TW_INDEX_TIME, from->stamp);
    return count;
}

void tw_etrace_restore(void *decoder, const uint64_t *words)
{
    ((struct tw_etrace_decoder *)decoder)->codec.options = (uint32_t)words[0];
}
