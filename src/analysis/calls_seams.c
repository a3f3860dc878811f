/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments of calls that wait for their neighbours, saved and loaded. */
#include <string.h>

#include "analysis/calls.h"
#include "base/memory.h"

enum {
    SEGMENT_SIZE = 7 * 8,
    STREAM_SIZE = 2 * 8,
    LOG_SIZE = 10 * 8,
    STEP_SIZE = 8 * 8,
    PIECE_SIZE = 2 * 8,
    EPOCH_SIZE = 5 * 8,
    FRAME_SIZE = 4 * 8,
    NODE_SIZE = 4 * 8
};

/* ---- saving ---- */

static void save_pair(struct tw_save *save, uint32_t high, uint32_t low)
{
    tw_save_u64(save, (uint64_t)high << 32 | low);
}

/* Members of an element that matter to a stack. */
static void save_step(struct tw_save *save, const struct tw_call_step *step)
{
    const struct tw_element *element = &step->element;

    tw_save_u64(save, element->index);
    tw_save_u64(save, element->start); /* or address, or times: they lie in one place */
    save_pair(save, element->length, element->count);
    tw_save_u64(save, (uint64_t)element->type | (uint64_t)element->flags << 8 |
                          (uint64_t)element->isa << 16 | (uint64_t)element->last << 24 |
                          (uint64_t)step->kind << 32 | (uint64_t)step->to.transfer << 40 |
                          (uint64_t)step->to.last_size << 48 |
                          (uint64_t)step->to.is_entry << 56 | (uint64_t)step->to.is_trap << 57 |
                          (uint64_t)step->to.lacks_call_before << 58);
    save_pair(save, step->to.function, step->to.last_function);
    tw_save_u64(save, step->losses);
    save_pair(save, step->first_piece, step->pieces);
    tw_save_u64(save, step->epoch);
}

static void save_epoch(struct tw_save *save, const struct tw_call_epoch *epoch)
{
    save_pair(save, epoch->root, epoch->frames);
    tw_save_u64(save, epoch->left.from);
    tw_save_u64(save, epoch->left.after);
    tw_save_u64(save, epoch->left.function);
    tw_save_u64(save, (uint64_t)epoch->left.transfer | (uint64_t)epoch->left.is_trap << 8 |
                          (uint64_t)epoch->left.is_known << 9);
}

static void save_frame(struct tw_save *save, const struct tw_call_frame *frame)
{
    tw_save_u64(save, frame->returns_to);
    tw_save_u64(save, frame->function);
    save_pair(save, frame->node, frame->parent);
    tw_save_u64(save, (uint64_t)frame->kind | (uint64_t)frame->has_return << 8);
}

static void save_log(struct tw_save *save, const struct tw_call_log *log)
{
    tw_save_u64(save, log->thread.source);
    tw_save_u64(save, log->thread.tid);
    tw_save_u64(save, log->thread.context);
    tw_save_u64(save, log->stream);
    tw_save_u64(save, log->losses);
    tw_save_u64(save, log->step_count);
    for (size_t i = 0; i < log->step_count; i++)
        save_step(save, &log->steps[i]);
    tw_save_u64(save, log->pieces.count);
    for (size_t i = 0; i < log->pieces.count; i++) {
        tw_save_u64(save, log->pieces.items[i].at);
        save_pair(save, log->pieces.items[i].function, log->pieces.items[i].count);
    }
    tw_save_u64(save, log->frame_count);
    for (size_t i = 0; i < log->frame_count; i++)
        save_frame(save, &log->frames[i]);
    tw_save_u64(save, log->epoch_count);
    for (size_t i = 0; i < log->epoch_count; i++)
        save_epoch(save, &log->epochs[i]);
    tw_save_u64(save, log->node_count);
    for (size_t i = 0; i < log->node_count; i++) {
        save_pair(save, log->nodes[i].parent, log->nodes[i].edge);
        tw_save_u64(save, log->nodes[i].self);
        tw_save_u64(save, log->nodes[i].entries);
        tw_save_u64(save, log->nodes[i].returned);
    }
}

void tw_calls_write_segments(const struct tw_calls *calls, struct tw_save *save)
{
    tw_save_u64(save, calls->segments.count);
    for (size_t i = 0; i < calls->segments.count; i++) {
        const struct tw_call_segment *segment = calls->segments.items[i];
        const struct tw_run_extent *extent = &segment->about.extent;

        tw_save_u64(save, segment->about.capture);
        save_pair(save, extent->buffer, extent->end_buffer);
        tw_save_u64(save, extent->offset);
        tw_save_u64(save, extent->end_offset);
        tw_save_u64(save,
                    (uint64_t)segment->about.is_first | (uint64_t)segment->about.is_last << 1);
        tw_save_u64(save, segment->stream_count);
        for (size_t k = 0; k < segment->stream_count; k++) {
            tw_save_u64(save, segment->streams[k].stream);
            tw_save_u64(save, segment->streams[k].losses);
        }
        tw_save_u64(save, segment->log_count);
        for (size_t k = 0; k < segment->log_count; k++)
            save_log(save, segment->logs[k]);
    }
}

/* ---- loading: nothing is believed that a replay would stumble over ---- */

static void load_pair(struct tw_load *load, uint32_t *high, uint32_t *low)
{
    const uint64_t both = tw_load_u64(load);

    *high = (uint32_t)(both >> 32);
    *low = (uint32_t)both;
}

/* Whether it is a function, or code without a symbol. */
static bool is_function(const struct tw_calls *calls, uint32_t number)
{
    return number == TW_FUNCTION_ANY || number < calls->functions.count;
}

static void load_step(struct tw_load *load, const struct tw_calls *calls,
                      struct tw_call_step *step)
{
    struct tw_element *element = &step->element;
    uint64_t about, epoch;

    element->index = tw_load_u64(load);
    element->start = step->to.start = tw_load_u64(load);
    load_pair(load, &element->length, &element->count);
    step->to.length = element->length;
    about = tw_load_u64(load);
    element->type = (uint8_t)about;
    element->flags = (uint8_t)(about >> 8);
    element->isa = (uint8_t)(about >> 16);
    element->last = (uint8_t)(about >> 24);
    step->kind = (uint8_t)(about >> 32);
    step->to.transfer = (uint8_t)(about >> 40);
    step->to.last_size = (uint8_t)(about >> 48);
    step->to.is_entry = about >> 56 & 1;
    step->to.is_trap = about >> 57 & 1;
    step->to.lacks_call_before = about >> 58 & 1;
    load_pair(load, &step->to.function, &step->to.last_function);
    step->losses = tw_load_u64(load);
    load_pair(load, &step->first_piece, &step->pieces);
    epoch = tw_load_u64(load);
    step->epoch = (uint32_t)epoch;
    load->is_wrong |= about >> 59 != 0 || step->kind > TW_CALL_STEP_GAP || epoch > UINT32_MAX ||
                      step->to.transfer > TW_TRANSFER_EXCEPTION_RETURN ||
                      !is_function(calls, step->to.function) ||
                      !is_function(calls, step->to.last_function) ||
                      (step->to.is_entry && step->to.function == TW_FUNCTION_ANY);
}

/* Pieces are there, what is repeated follows, and epochs come one after the other behind ranges. */
static void check_steps(struct tw_load *load, const struct tw_call_log *log)
{
    uint32_t epochs = 0;
    size_t repeated = 0; /* steps that are, from here on */

    for (size_t i = 0; i < log->step_count && !load->is_wrong; i++) {
        const struct tw_call_step *step = &log->steps[i];
        const bool is_range = step->element.type == TW_ELEMENT_INSTR_RANGE;

        if (step->kind == TW_CALL_STEP_REPEAT) {
            load->is_wrong |=
                repeated || step->epoch || !step->pieces || step->pieces > TW_REPEAT_MAX ||
                step->pieces > log->step_count - i - 1 || step->element.times >> 48;
            repeated = step->pieces;
            continue;
        }
        if (is_range && step->pieces)
            load->is_wrong |= step->first_piece > log->pieces.count ||
                              step->pieces > log->pieces.count - step->first_piece;
        if (repeated) {
            load->is_wrong |= step->epoch || step->kind != TW_CALL_STEP_ELEMENT;
            repeated--;
            continue;
        }
        load->is_wrong |=
            step->kind == TW_CALL_STEP_ELEMENT && !tw_call_matters(&step->element);
        if (step->epoch)
            load->is_wrong |=
                step->epoch != ++epochs || !is_range || step->kind != TW_CALL_STEP_ELEMENT;
    }
    load->is_wrong |= epochs != log->epoch_count;
}

static void load_steps(struct tw_load *load, const struct tw_calls *calls,
                       struct tw_call_log *log)
{
    size_t left;

    left = tw_load_count(load, STEP_SIZE);
    tw_load_need(load, TW_GROW(calls->allocator, &log->steps, &log->step_room, left + 1));
    for (; left && !load->is_wrong; left--) {
        log->steps[log->step_count] = (struct tw_call_step){ .kind = 0 };
        load_step(load, calls, &log->steps[log->step_count++]);
    }
    left = tw_load_count(load, PIECE_SIZE);
    tw_load_need(load,
                 TW_GROW(calls->allocator, &log->pieces.items, &log->pieces.room, left + 1));
    for (; left && !load->is_wrong; left--) {
        struct tw_call_piece *piece = &log->pieces.items[log->pieces.count++];

        piece->at = tw_load_u64(load);
        load_pair(load, &piece->function, &piece->count);
        load->is_wrong |= !is_function(calls, piece->function);
    }
}

static void load_frames(struct tw_load *load, const struct tw_calls *calls,
                        struct tw_call_log *log)
{
    size_t left = tw_load_count(load, FRAME_SIZE);

    tw_load_need(load, TW_GROW(calls->allocator, &log->frames, &log->frame_room, left + 1));
    for (; left && !load->is_wrong; left--) {
        struct tw_call_frame *frame = &log->frames[log->frame_count++];
        uint64_t function, about;

        frame->returns_to = tw_load_u64(load);
        function = tw_load_u64(load);
        frame->function = (uint32_t)function;
        load_pair(load, &frame->node, &frame->parent);
        about = tw_load_u64(load);
        frame->kind = (uint8_t)about;
        frame->has_return = about >> 8 & 1;
        load->is_wrong |=
            function >= calls->functions.count || about >> 9 || frame->kind > TW_CALL_INLINED;
    }
}

static void load_epochs(struct tw_load *load, const struct tw_calls *calls,
                        struct tw_call_log *log)
{
    size_t left = tw_load_count(load, EPOCH_SIZE);
    uint32_t frames = 0;

    tw_load_need(load, TW_GROW(calls->allocator, &log->epochs, &log->epoch_room, left + 1));
    for (; left && !load->is_wrong; left--) {
        struct tw_call_epoch *epoch = &log->epochs[log->epoch_count++];
        uint64_t function, about;

        load_pair(load, &epoch->root, &epoch->frames);
        epoch->first_frame = frames;
        epoch->left.from = tw_load_u64(load);
        epoch->left.after = tw_load_u64(load);
        function = tw_load_u64(load);
        epoch->left.function = (uint32_t)function;
        about = tw_load_u64(load);
        epoch->left.transfer = (uint8_t)about;
        epoch->left.is_trap = about >> 8 & 1;
        epoch->left.is_known = about >> 9 & 1;
        load->is_wrong |= function >= calls->functions.count || about >> 10 ||
                          epoch->left.transfer > TW_TRANSFER_EXCEPTION_RETURN ||
                          epoch->frames > log->frame_count - frames;
        frames += load->is_wrong ? 0 : epoch->frames;
    }
    load->is_wrong |= frames != log->frame_count;
}

static void load_nodes(struct tw_load *load, const struct tw_calls *calls,
                       struct tw_call_log *log)
{
    size_t left = tw_load_count(load, NODE_SIZE);

    load->is_wrong |= left > UINT32_MAX;
    if (!load->is_wrong) {
        log->nodes = tw_take(calls->allocator, (left + 1) * sizeof *log->nodes);
        tw_load_need(load, log->nodes);
    }
    for (; left && !load->is_wrong; left--) {
        struct tw_call_node *node = &log->nodes[log->node_count++];
        uint64_t returned;

        load_pair(load, &node->parent, &node->edge);
        node->self = tw_load_u64(load);
        node->entries = tw_load_u64(load);
        returned = tw_load_u64(load);
        node->returned = (uint32_t)returned;
        load->is_wrong |= node->edge >= calls->machine.edges.count || returned > UINT32_MAX;
    }
}

/* Nodes and frames of an epoch are its own, callers before callees. */
static void check_epochs(struct tw_load *load, const struct tw_call_log *log)
{
    for (size_t i = 0; i < log->epoch_count && !load->is_wrong; i++) {
        const struct tw_call_epoch *epoch = &log->epochs[i];
        const uint32_t end =
            i + 1 < log->epoch_count ? log->epochs[i + 1].root : (uint32_t)log->node_count;

        load->is_wrong |= !epoch->root || epoch->root >= end || end > log->node_count ||
                          epoch->frames > TW_LOG_DEPTH;
        for (uint32_t k = epoch->root + 1; k < end && !load->is_wrong; k++)
            load->is_wrong |= log->nodes[k].parent < epoch->root || log->nodes[k].parent >= k;
        for (uint32_t k = 0; k < epoch->frames && !load->is_wrong; k++) {
            const struct tw_call_frame *frame = &log->frames[epoch->first_frame + k];

            load->is_wrong |= frame->node <= epoch->root || frame->node >= end ||
                              frame->parent < epoch->root || frame->parent >= end;
        }
    }
}

static void load_log(struct tw_load *load, struct tw_calls *calls,
                     struct tw_call_segment *segment)
{
    struct tw_call_log *log = tw_call_log_new(calls->allocator);

    if (!log || !TW_GROW(calls->allocator, &segment->logs, &segment->log_room,
                         segment->log_count + 1)) {
        tw_call_log_free(log, calls->allocator);
        tw_load_need(load, false);
        return;
    }
    segment->logs[segment->log_count++] = log;
    log->thread.source = tw_load_u64(load);
    log->thread.tid = tw_load_u64(load);
    log->thread.context = tw_load_u64(load);
    log->stream = tw_load_u64(load);
    log->losses = tw_load_u64(load);
    load_steps(load, calls, log);
    load_frames(load, calls, log);
    load_epochs(load, calls, log);
    load_nodes(load, calls, log);
    load->is_wrong |= load->in.short_read;
    check_steps(load, log);
    check_epochs(load, log);
}

static void load_segment(struct tw_load *load, struct tw_calls *calls)
{
    struct tw_call_segments *all = &calls->segments;
    struct tw_call_segment *made = tw_call_segment_new(calls);
    uint64_t about;
    size_t left;

    if (!made || !TW_GROW(calls->allocator, &all->items, &all->room, all->count + 1)) {
        tw_give(calls->allocator, made);
        tw_load_need(load, false);
        return;
    }
    all->items[all->count++] = made;
    made->about.capture = tw_load_u64(load);
    load_pair(load, &made->about.extent.buffer, &made->about.extent.end_buffer);
    made->about.extent.offset = tw_load_u64(load);
    made->about.extent.end_offset = tw_load_u64(load);
    about = tw_load_u64(load);
    made->about.is_first = about & 1;
    made->about.is_last = about >> 1 & 1;
    load->is_wrong |= about >> 2 != 0;
    left = tw_load_count(load, STREAM_SIZE);
    tw_load_need(load, TW_GROW(calls->allocator, &made->streams, &made->stream_room, left + 1));
    for (; left && !load->is_wrong; left--) {
        struct tw_segment_stream *stream = &made->streams[made->stream_count++];

        stream->stream = tw_load_u64(load);
        stream->losses = tw_load_u64(load);
    }
    for (left = tw_load_count(load, LOG_SIZE); left && !load->is_wrong; left--)
        load_log(load, calls, made);
}

void tw_calls_read_segments(struct tw_calls *calls, struct tw_load *load)
{
    for (size_t left = tw_load_count(load, SEGMENT_SIZE); left && !load->is_wrong; left--)
        load_segment(load, calls);
    if (load->is_wrong)
        tw_call_segments_release(calls);
}
