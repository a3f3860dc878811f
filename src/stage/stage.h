/* SPDX-License-Identifier: BSD-2-Clause */
/* What all decoders share around their packet loops: one run over an input, from gap to gap, with
   its batch, positions and marks; and damage, which is reported once its end is known. */
#ifndef STAGE_STAGE_H
#define STAGE_STAGE_H

#include "protocol.h"
#include "stage/damage.h"
#include "stage/position.h"

/* One run over an input. */
struct tw_stage {
    void *decoder;
    struct tw_follow *follow; /* NULL: the protocol follows no program */
    struct tw_output *output;
    struct tw_damage *damage;

    /* The bytes to decode, up to the end of the input or the next gap. */
    const uint8_t *at, *end;
    bool is_last;        /* nothing follows them: what `end` cuts is no packet ... */
    bool has_gap;        /* ... because bytes are missing there */
    const uint8_t *base; /* data[0] of the input ... */
    uint64_t offset;     /* ... and its place in the stream */
    struct tw_position position;
    uint64_t index; /* in the capture, of the packet at hand */

    struct tw_element *out, *limit; /* the next element, and the end of the batch */
    struct tw_element *elements;    /* the first of the batch */
    struct tw_mark *mark, *mark_limit;
    struct tw_element *marked; /* elements before this one have a mark */
    uint64_t marked_until;     /* stream offsets before this one need no other mark */
};

static inline void tw_stage_begin(struct tw_stage *stage, void *decoder,
                                  struct tw_damage *damage, struct tw_follow *follow,
                                  struct tw_output *output)
{
    struct tw_batch *batch = output->batch;

    *stage = (struct tw_stage){
        .decoder = decoder, .follow = follow, .output = output, .damage = damage
    };
    stage->elements = batch->elements;
    stage->out = stage->marked = batch->elements + batch->count;
    stage->limit = batch->elements + batch->room;
    if (output->marks.marks) {
        stage->mark = output->marks.marks + output->marks.count;
        stage->mark_limit = output->marks.marks + output->marks.room;
    }
    tw_position_init(&stage->position, NULL, 0);
}

/* The stream offset of a byte of the input. */
TW_INLINE uint64_t tw_stage_offset(const struct tw_stage *stage, const uint8_t *at)
{
    return stage->offset + (uint64_t)(at - stage->base);
}

/* The capture offset of a byte of the input. */
TW_INLINE uint64_t tw_stage_index(struct tw_stage *stage, const uint8_t *at)
{
    return tw_position_at(&stage->position, tw_stage_offset(stage, at));
}

/* The bytes from stage->at up to the result lie together in the capture, from *index on. */
TW_INLINE const uint8_t *tw_stage_together(struct tw_stage *stage, uint64_t *index)
{
    const uint64_t size = (uint64_t)(stage->end - stage->base);
    const uint64_t offset = tw_stage_offset(stage, stage->at);
    const struct tw_stretch stretch = tw_position_stretch(&stage->position, offset);
    const uint64_t until = stretch.stop - stage->offset;

    *index = offset + stretch.delta;
    return stage->base + (until < size ? until : size);
}

/* For loops over packets: the line of the stretch that holds the byte at `at`, which is_new if it is mostly not the last one.
   Returns where that stretch ends, or `end`. */
TW_INLINE const uint8_t *tw_stage_line(struct tw_stage *stage, struct tw_position_line *line,
                                       const uint8_t *at, const uint8_t *end, const bool is_new)
{
    const uint64_t offset = tw_stage_offset(stage, at);
    uint64_t left;

    if (is_new)
        tw_position_find(&stage->position, offset);
    else
        (void)tw_position_at(&stage->position, offset);
    *line = tw_position_line(&stage->position, at, offset);
    left = stage->position.until - offset;
    return left < (uint64_t)(end - at) ? at + left : end;
}

/* The elements from `first` on were released by the packet whose last byte has this index.  One mark
   does for all packets whose last bytes lie in one place of the capture: no other source's bytes come
   between.  The position stands in the packet. */
static inline void tw_stage_add_mark(struct tw_stage *stage, const struct tw_element *first,
                                     uint64_t index)
{
    if (stage->mark < stage->mark_limit) {
        stage->mark->released = index + 1;
        stage->mark->first = (size_t)(first - stage->elements);
        stage->mark++;
    }
    stage->marked_until = stage->position.until; /* no further than its place */
}

/* Notes that the packet whose last byte is at this stream offset and index released the elements
   before `until`. */
TW_INLINE void tw_stage_mark_at(struct tw_stage *stage, struct tw_element *until,
                                uint64_t offset, uint64_t index)
{
    if (!stage->output->marks.marks || until == stage->marked)
        return;
    if (offset >= stage->marked_until)
        tw_stage_add_mark(stage, stage->marked, index);
    stage->marked = until;
}

/* The same for the packet that ends here. */
static inline void tw_stage_mark(struct tw_stage *stage, struct tw_element *until,
                                 const uint8_t *packet_end)
{
    if (!stage->output->marks.marks || until == stage->marked)
        return;
    if (tw_stage_offset(stage, packet_end - 1) >= stage->marked_until) {
        const uint64_t index = tw_stage_index(stage, packet_end - 1);

        tw_stage_add_mark(stage, stage->marked, index);
    }
    stage->marked = until;
}

/* What was written since the last mark (at a gap, when the batch was full then) was released no later
   than by the next byte. */
static inline void tw_stage_finish(struct tw_stage *stage)
{
    if (stage->output->marks.marks) { /* then there was an input */
        const bool has_next = stage->at < stage->end || stage->at == stage->base;

        tw_stage_mark(stage, stage->out, has_next ? stage->at + 1 : stage->at);
        stage->output->marks.count = (size_t)(stage->mark - stage->output->marks.marks);
    }
    stage->output->batch->count = (size_t)(stage->out - stage->output->batch->elements);
}

static inline struct tw_element *tw_stage_add(struct tw_stage *stage, uint8_t type,
                                              uint64_t index)
{
    struct tw_element *element = stage->out++;

    *element = (struct tw_element){ .type = type, .index = index };
    return element;
}

static inline void tw_stage_add_error(struct tw_stage *stage, uint8_t code, uint64_t index,
                                      uint64_t detail, uint64_t skipped)
{
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_ERROR, index);

    element->error = code;
    element->error_detail = detail;
    element->skipped = skipped;
}

/* Reports the last damage, now that decoding goes on (or ends) at this stream offset. */
static inline void tw_stage_report(struct tw_stage *stage, uint64_t resumed_at)
{
    struct tw_damage *damage = stage->damage;

    if (damage->code == TW_ERROR_NONE)
        return;
    tw_stage_add_error(stage, damage->code, damage->index, damage->detail,
                       resumed_at - damage->offset);
    stage->out[-1].flags = damage->flags;
    if (damage->reason != TW_REASON_UNDEFINED)
        tw_stage_add(stage, TW_ELEMENT_NO_SYNC, damage->index)->reason = damage->reason;
    damage->code = TW_ERROR_NONE;
}

/* Damage begins at this packet: the damage before it ends there. */
static inline void tw_stage_damage(struct tw_stage *stage, uint8_t code,
                                   const struct tw_packet *packet, uint64_t detail)
{
    struct tw_damage *damage = stage->damage;

    tw_stage_report(stage, packet->offset);
    damage->code = code;
    damage->reason = TW_REASON_UNDEFINED;
    damage->flags = 0;
    damage->index = packet->index;
    damage->offset = packet->offset;
    damage->detail = detail;
}

/* Bytes before synchronization.  Behind damage they are counted with it, once its end is known. */
TW_INLINE void tw_stage_unsynced(struct tw_stage *stage, uint64_t size)
{
    if (stage->damage->code == TW_ERROR_NONE)
        stage->output->unsynced += size;
}

/* Runs over the input from gap to gap.  `decode` works from stage->at up to stage->end and returns
   false when the batch has no room for what the next packet or a gap may make; `take_gap` is told
   where bytes are missing.  Returns whether there is room for more. */
static inline bool tw_stage_run(struct tw_stage *stage, struct tw_input *in,
                                bool (*decode)(struct tw_stage *stage),
                                void (*take_gap)(struct tw_stage *stage,
                                                 const struct tw_packet *at))
{
    struct tw_gap_ahead own = { .is_known = false };
    struct tw_gap_ahead *ahead = in->ahead ? in->ahead : &own;
    bool has_room = true;

    tw_position_init(&stage->position, in->places, in->place_count);
    stage->base = in->data;
    stage->offset = in->offset;
    stage->at = in->data + in->used;
    while (has_room) {
        const uint64_t from = tw_stage_offset(stage, stage->at);
        const uint64_t gap =
            in->has_gaps ? tw_gap_next(ahead, in->places, in->place_count, from,
                                       stage->damage->handled_gap, in->offset + in->size)
                         : UINT64_MAX;
        struct tw_packet place = { .offset = gap };

        stage->has_gap = gap != UINT64_MAX;
        stage->end = in->data + (stage->has_gap ? gap - in->offset : in->size);
        stage->is_last = stage->has_gap || in->is_last;
        has_room = decode(stage);
        if (!has_room || !stage->has_gap)
            break;
        stage->at = stage->end;
        stage->damage->handled_gap = gap + 1;
        place.index = tw_position_at(&stage->position, gap);
        take_gap(stage, &place);
    }
    in->used = (size_t)(stage->at - in->data);
    return has_room;
}

#endif
