/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements of a thread in a window, and its instructions by number. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "replay/replay.h"

bool tw_track_add(struct tw_replay *replay, struct tw_replay_track *track,
                  const struct tw_part *part, const struct tw_element *elements, size_t count)
{
    struct tw_replay_stretch *stretch;

    if (!TW_GROW(replay->allocator, &track->elements, &track->room, track->count + count) ||
        !TW_GROW(replay->allocator, &track->before, &track->before_room,
                 track->count + count) ||
        !TW_GROW(replay->allocator, &track->stretches, &track->stretch_room,
                 track->stretch_count + 1))
        return false;
    stretch = &track->stretches[track->stretch_count++];
    stretch->first = track->count;
    stretch->part = *part;
    stretch->part.batch.elements = NULL;
    stretch->part.batch.count = stretch->part.batch.room = 0;
    memcpy(track->elements + track->count, elements, count * sizeof *elements);
    for (size_t i = 0; i < count; i++) {
        const struct tw_element *element = &elements[i];
        uint64_t sum = 0;

        track->before[track->count] = track->instructions;
        if (element->type == TW_ELEMENT_INSTR_RANGE)
            track->instructions += element->count;
        if (element->type == TW_ELEMENT_REPEAT) {
            const size_t reach = tw_repeat_reach(track->elements, track->count);

            for (size_t k = 1; k <= reach; k++)
                if (track->elements[track->count - k].type == TW_ELEMENT_INSTR_RANGE)
                    sum += track->elements[track->count - k].count;
            /* What would not fit into a number is as good as endless. */
            if (sum && element->times > (UINT64_MAX >> 2) / sum)
                sum = 0;
            track->instructions += sum * element->times;
        }
        track->count++;
    }
    return true;
}

void tw_track_release(const struct tw_replay *replay, struct tw_replay_track *track)
{
    tw_give(replay->allocator, track->elements);
    tw_give(replay->allocator, track->before);
    tw_give(replay->allocator, track->stretches);
    *track = (struct tw_replay_track){ 0 };
}

/* In a REPEAT, which instructions of the ranges before it these are. */
static bool find_repeated(const struct tw_replay_track *track, struct tw_track_spot *spot,
                          uint64_t instruction)
{
    const size_t reach = tw_repeat_reach(track->elements, spot->element);
    uint64_t sum = 0;

    for (size_t i = spot->element - reach; i < spot->element; i++)
        sum += track->elements[i].type == TW_ELEMENT_INSTR_RANGE ? track->elements[i].count : 0;
    if (!sum)
        return false;
    spot->times = instruction / sum;
    instruction %= sum;
    for (size_t i = spot->element - reach; i < spot->element; i++) {
        const uint32_t count =
            track->elements[i].type == TW_ELEMENT_INSTR_RANGE ? track->elements[i].count : 0;

        if (instruction < count) {
            spot->range = i;
            spot->instruction = (uint32_t)instruction;
            return true;
        }
        instruction -= count;
    }
    return false;
}

bool tw_track_find(const struct tw_replay_track *track, struct tw_track_spot *spot,
                   uint64_t instruction)
{
    size_t low = 0, high = track->count;

    if (instruction >= track->instructions)
        return false;
    while (high - low > 1) { /* the last that has no more before it */
        const size_t middle = low + (high - low) / 2;

        if (track->before[middle] <= instruction)
            low = middle;
        else
            high = middle;
    }
    *spot = (struct tw_track_spot){ .element = low, .range = low };
    if (track->elements[low].type == TW_ELEMENT_REPEAT)
        return find_repeated(track, spot, instruction - track->before[low]);
    spot->instruction = (uint32_t)(instruction - track->before[low]);
    return track->elements[low].type == TW_ELEMENT_INSTR_RANGE;
}

const struct tw_part *tw_track_part(const struct tw_replay_track *track, size_t element)
{
    size_t low = 0, high = track->stretch_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (track->stretches[middle].first <= element)
            low = middle;
        else
            high = middle;
    }
    return &track->stretches[low].part;
}

uint64_t tw_track_address(struct tw_replay *replay, const struct tw_part *part,
                          const struct tw_element *range, uint32_t instruction, uint32_t *size)
{
    struct tw_code_bytes code;
    size_t bytes = 0;

    for (uint32_t each = 4; each >= 2; each -= 2)
        if (range->length == (uint64_t)range->count * each) {
            *size = each;
            return range->start + (uint64_t)instruction * each;
        }
    code.address = range->start;
    tw_walk_start(replay->walk, part, range);
    for (uint32_t i = 0; i <= instruction; i++)
        if (!tw_walk_next(replay->walk, &code, &bytes))
            break;
    *size = (uint32_t)bytes;
    return code.address;
}

bool tw_track_loss(struct tw_replay_loss *loss, const struct tw_element *element)
{
    uint8_t kind = TW_REPLAY_NO_LOSS;

    switch (element->type) {
    case TW_ELEMENT_NO_SYNC:
        kind = element->reason != TW_REASON_INIT && element->reason != TW_REASON_END
                   ? TW_REPLAY_LOST
                   : TW_REPLAY_NO_LOSS;
        break;
    case TW_ELEMENT_TRACE_ON:
        kind = element->reason == TW_TRACE_ON_OVERFLOW ? TW_REPLAY_LOST : TW_REPLAY_NO_LOSS;
        break;
    case TW_ELEMENT_ERROR:
        kind = element->error != TW_ERROR_UNSYNCED && element->error != TW_ERROR_UNPLACED
                   ? TW_REPLAY_LOST
                   : TW_REPLAY_NO_LOSS;
        break;
    case TW_ELEMENT_I_RANGE_NOPATH:
        kind = TW_REPLAY_UNTRACED;
        break;
    case TW_ELEMENT_ADDR_NACC:
        kind = TW_REPLAY_NO_CODE;
        break;
    case TW_ELEMENT_UNKNOWN: /* made by windows.c of the recorder's loss */
        kind = TW_REPLAY_RECORDER;
        break;
    default:
        break;
    }
    if (kind != TW_REPLAY_NO_LOSS && loss)
        *loss = (struct tw_replay_loss){ .kind = kind, .element = *element };
    return kind != TW_REPLAY_NO_LOSS;
}

size_t tw_replay_loss_text(char *out, size_t room, const struct tw_replay_loss *loss)
{
    const struct tw_element *element = &loss->element;
    char place[48];
    int size = 0;

    (void)snprintf(place, sizeof place, " at 0x%" PRIx64 " in the capture", element->index);
    switch (loss->kind) {
    case TW_REPLAY_LOST:
        if (element->type == TW_ELEMENT_ERROR)
            size = snprintf(out, room, "trace lost%s: %s, %" PRIu64 " bytes passed over", place,
                            tw_error_code_name(element->error), element->skipped);
        else
            size = snprintf(out, room, "trace lost%s: %s", place,
                            element->type == TW_ELEMENT_TRACE_ON
                                ? "overflow"
                                : tw_reason_name(element->reason));
        break;
    case TW_REPLAY_NO_CODE:
        size = snprintf(out, room,
                        "code missing: the program went to 0x%" PRIx64
                        ", which no image holds (%s%s)",
                        element->address, "packet", place);
        break;
    case TW_REPLAY_UNTRACED:
        size =
            snprintf(out, room, "path not traced%s: %" PRIu32 " instructions from 0x%" PRIx64,
                     place, element->count, element->first);
        break;
    case TW_REPLAY_RECORDER:
        size = snprintf(out, room, "trace lost%s: the recorder could not keep up%s", place,
                        element->value ? "" : " (bytes are missing in the file)");
        break;
    default:
        if (room)
            out[0] = 0;
        break;
    }
    return size > 0 ? (size_t)size : 0;
}
