/* SPDX-License-Identifier: BSD-2-Clause */
/* Skeleton: bytes to elements.  The loop over gaps and the record of damage are the stage's. */
#include "skeleton/decode.h"

#include "stage/stage.h"

enum { ROOM = 8 }; /* elements that one packet, a gap or the end may give */

static void begin(struct tw_skeleton_decoder *d, bool was_reset)
{
    tw_skeleton_reader_lost(&d->reader);
    d->damage = (struct tw_damage){ .code = TW_ERROR_NONE };
    d->total = d->offset = d->last_index = 0;
    d->was_reset = was_reset;
    d->has_begun = d->is_ended = false;
}

void tw_skeleton_decoder_init(void *decoder, const void *config)
{
    struct tw_skeleton_decoder *d = decoder;

    tw_skeleton_reader_init(&d->reader, config);
    begin(d, false);
}

void tw_skeleton_decoder_reset(void *decoder)
{
    begin(decoder, true);
}

/* Damage lasts until the next synchronization. */
static void take_bad(struct tw_stage *stage, const struct tw_skeleton_packet *packet)
{
    const bool is_cut = packet->base.type == TW_SKELETON_INCOMPLETE;

    tw_stage_damage(stage, is_cut ? TW_ERROR_TRUNCATED : TW_ERROR_RESERVED_HEADER,
                    &packet->base, packet->header);
    if (!is_cut)
        stage->damage->reason = TW_REASON_BAD_PACKET;
}

static void take(struct tw_stage *stage, const struct tw_skeleton_packet *packet)
{
    struct tw_skeleton_decoder *d = stage->decoder;
    struct tw_element *element;

    switch (packet->base.type) {
    case TW_SKELETON_NOT_SYNC:
        return;
    case TW_SKELETON_RESERVED:
    case TW_SKELETON_INCOMPLETE:
        take_bad(stage, packet);
        break;
    case TW_SKELETON_DATA:
        d->total += packet->data;
        element = tw_stage_add(stage, TW_ELEMENT_CUSTOM, packet->base.index);
        element->number = packet->data;
        element->value = d->total;
        break;
    case TW_SKELETON_TIMESTAMP:
        tw_stage_add(stage, TW_ELEMENT_TIMESTAMP, packet->base.index)->timestamp =
            packet->timestamp;
        break;
    case TW_SKELETON_OVERFLOW:
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, packet->base.index)->reason =
            TW_REASON_OVERFLOW;
        break;
    default: /* synchronization: there was nothing to wait for */
        break;
    }
    d->last_index = packet->base.index;
}

/* Reads and takes one packet.  False: it is cut. */
static bool one_packet(struct tw_stage *stage)
{
    struct tw_skeleton_decoder *d = stage->decoder;
    struct tw_skeleton_packet packet;

    if (tw_skeleton_read(&d->reader, &packet, stage->at, (size_t)(stage->end - stage->at),
                         stage->is_last) != TW_OK)
        return false;
    packet.base.offset = tw_stage_offset(stage, stage->at);
    packet.base.index = tw_stage_index(stage, stage->at);
    stage->at += packet.base.size;
    d->offset = tw_stage_offset(stage, stage->at);
    if (packet.base.type == TW_SKELETON_SYNC)
        tw_stage_report(stage, packet.base.offset); /* what was damaged before, up to here */
    /* A packet that a gap cuts is no packet. */
    if (!(stage->has_gap && packet.base.type == TW_SKELETON_INCOMPLETE))
        take(stage, &packet);
    tw_stage_mark(stage, stage->out, stage->at);
    return true;
}

/* Up to a gap or the end of the input.  False: the batch is full. */
static bool decode_stretch(struct tw_stage *stage)
{
    struct tw_skeleton_decoder *d = stage->decoder;

    if (!d->has_begun && stage->at < stage->end) {
        d->has_begun = true;
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, tw_stage_index(stage, stage->at))->reason =
            d->was_reset ? TW_REASON_RESET : TW_REASON_INIT;
        tw_stage_mark(stage, stage->out, stage->at + 1);
    }
    do {
        if (stage->limit - stage->out < ROOM)
            return false;
    } while (one_packet(stage));
    return true;
}

/* Bytes are missing: nothing is known of what they said. */
static void take_gap(struct tw_stage *stage, const struct tw_packet *at)
{
    struct tw_skeleton_decoder *d = stage->decoder;
    const bool was_synced = d->reader.is_synced;

    tw_skeleton_reader_lost(&d->reader);
    d->total = 0;
    if (!was_synced)
        return;
    tw_stage_damage(stage, TW_ERROR_DISCONTINUITY, at, 0);
    stage->damage->reason = TW_REASON_RESET;
}

enum tw_status tw_skeleton_decode(void *decoder, struct tw_follow *follow,
                                  struct tw_output *output, struct tw_input *in)
{
    struct tw_skeleton_decoder *d = decoder;
    struct tw_stage stage;
    bool is_used_up;

    (void)follow; /* this protocol follows no program */
    if (output->batch->room < ROOM)
        return TW_E_ARGUMENT;
    tw_stage_begin(&stage, d, &d->damage, NULL, output);
    is_used_up = tw_stage_run(&stage, in, decode_stretch, take_gap);
    tw_stage_finish(&stage);
    return is_used_up ? TW_MORE : TW_OK;
}

enum tw_status tw_skeleton_end(void *decoder, struct tw_follow *follow,
                               struct tw_output *output)
{
    struct tw_skeleton_decoder *d = decoder;
    struct tw_stage stage;

    (void)follow;
    if (d->is_ended)
        return TW_END;
    if (output->batch->room - output->batch->count < ROOM)
        return TW_OK;
    d->is_ended = true;
    tw_stage_begin(&stage, d, &d->damage, NULL, output);
    tw_stage_report(&stage, d->offset);
    tw_stage_add(&stage, TW_ELEMENT_EO_TRACE, d->last_index)->reason = TW_REASON_END;
    tw_stage_finish(&stage);
    return TW_END;
}
