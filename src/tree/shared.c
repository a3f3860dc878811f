/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared stream to the packets of each of its sources. */
#include "tree/shared.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "tree/parallel.h"

static const struct tw_allocator *allocator_of(const struct tw_branch *branch)
{
    return branch->tree->config.allocator;
}

static enum tw_status out_of_memory(struct tw_branch *branch)
{
    return tw_fail(&branch->tree->fault, TW_E_MEMORY,
                   "no memory for a stream of several sources");
}

enum tw_status tw_shared_new(struct tw_branch *branch, const struct tw_tree_source *source)
{
    const struct tw_allocator *allocator = allocator_of(branch);
    struct tw_shared *shared = tw_take(allocator, sizeof *shared);

    if (!shared)
        return out_of_memory(branch);
    branch->shared = shared;
    shared->about = *source;
    shared->about.registers =
        NULL; /* what the branch's configuration was made of is not needed */
    shared->about.register_count = 0;
    shared->about.type = shared->about.core_type = shared->about.text = NULL;
    shared->router = tw_take(allocator, branch->protocol->reader_size);
    if (source->src_image_count)
        shared->images = tw_take(allocator, source->src_image_count * sizeof *shared->images);
    if (source->src_count)
        shared->srcs = tw_take(allocator, source->src_count * sizeof *shared->srcs);
    if (!shared->router || (source->src_image_count && !shared->images) ||
        (source->src_count && !shared->srcs))
        return out_of_memory(branch);
    if (shared->images)
        memcpy(shared->images, source->src_images,
               source->src_image_count * sizeof *shared->images);
    if (shared->srcs)
        memcpy(shared->srcs, source->srcs, source->src_count * sizeof *shared->srcs);
    shared->about.src_images = shared->images;
    shared->about.srcs = shared->srcs;
    branch->protocol->reader_init(shared->router, branch->config);
    return TW_OK;
}

void tw_shared_free(struct tw_branch *branch)
{
    const struct tw_allocator *allocator = allocator_of(branch);

    if (branch->part) {
        tw_give(allocator, branch->part->bytes);
        tw_give(allocator, branch->part->places);
        tw_give(allocator, branch->part->offsets);
        tw_give(allocator, branch->part);
    }
    if (branch->shared) {
        tw_give(allocator, branch->shared->router);
        tw_give(allocator, branch->shared->images);
        tw_give(allocator, branch->shared->srcs);
        tw_give(allocator, branch->shared->branches);
        tw_give(allocator, branch->shared->errors);
        tw_give(allocator, branch->shared);
    }
}

void tw_shared_reset(struct tw_branch *branch)
{
    struct tw_shared_part *part = branch->part;
    struct tw_shared *shared = branch->shared;

    if (part) {
        part->head = part->size = part->place_head = part->place_count = 0;
        part->origin = 0;
        part->has_gap = false;
    }
    if (shared) {
        shared->handled_gap = 0;
        shared->is_open = shared->is_full = false;
        shared->error_first = shared->error_count = 0;
        branch->protocol->reader_init(shared->router, branch->config);
    }
}

/* ---- the sources ---- */

static bool is_wanted(const struct tw_branch *branch, uint32_t src)
{
    const struct tw_shared *shared = branch->shared;

    if (!branch->protocol->wants_src(branch->config, src))
        return false;
    for (size_t i = 0; i < shared->about.src_count; i++)
        if (shared->srcs[i] == src)
            return true;
    return shared->about.src_count == 0;
}

/* Where the branch of a source is, or belongs, in the list. */
static size_t search(const struct tw_shared *shared, uint32_t src)
{
    size_t low = 0, high = shared->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (shared->branches[middle]->src < src)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The branch of a source; *found is NULL when it is not to be decoded. */
static enum tw_status find(struct tw_branch *branch, struct tw_branch **found, uint32_t src)
{
    struct tw_shared *shared = branch->shared;
    size_t at;

    *found = shared->last;
    if (shared->last && shared->last->src == src)
        return TW_OK;
    at = search(shared, src);
    *found =
        at < shared->count && shared->branches[at]->src == src ? shared->branches[at] : NULL;
    if (*found) {
        shared->last = *found;
        return TW_OK;
    }
    if (shared->is_full || !is_wanted(branch, src))
        return TW_OK;
    if (shared->count == TW_SRC_MOST) {
        shared->is_full = true;
        return TW_OK;
    }
    if (!TW_GROW(allocator_of(branch), &shared->branches, &shared->room, shared->count + 1))
        return out_of_memory(branch);
    TW_TRY(tw_tree_add_src(branch, found, src));
    memmove(&shared->branches[at + 1], &shared->branches[at],
            (shared->count - at) * sizeof *shared->branches);
    shared->branches[at] = shared->last = *found;
    shared->count++;
    return TW_OK;
}

/* ---- their packets ---- */

/* A place for what is added next; false: no memory. */
static bool add_place(const struct tw_allocator *allocator, struct tw_shared_part *part,
                      const struct tw_place *place, uint64_t offset)
{
    const size_t live = part->place_count - part->place_head;

    if (part->place_head && part->place_head >= live) {
        memmove(part->places, part->places + part->place_head, live * sizeof *part->places);
        memmove(part->offsets, part->offsets + part->place_head, live * sizeof *part->offsets);
        part->place_head = 0;
        part->place_count = live;
    }
    if (!TW_GROW(allocator, &part->places, &part->place_room, part->place_count + 1) ||
        !TW_GROW(allocator, &part->offsets, &part->offset_room, part->place_count + 1))
        return false;
    part->places[part->place_count] = *place;
    part->offsets[part->place_count++] = offset;
    return true;
}

/* Bytes follow on what is held, in the shared stream and in the capture. */
static bool follows(const struct tw_shared_part *part, uint64_t offset, uint64_t capture)
{
    const uint64_t end = part->origin + part->size;
    const struct tw_place *last;

    if (part->place_count == part->place_head || part->has_gap)
        return false;
    last = &part->places[part->place_count - 1];
    return last->capture + (end - last->stream) == capture &&
           part->offsets[part->place_count - 1] + (end - last->stream) == offset;
}

/* Bytes that lie together in the capture. */
static enum tw_status append(struct tw_branch *branch, const uint8_t *bytes, size_t size,
                             uint64_t offset, uint64_t capture)
{
    struct tw_shared_part *part = branch->part;
    const struct tw_allocator *allocator = allocator_of(branch);
    const size_t live = part->size - part->head;

    if (part->head && part->head >= live) {
        memmove(part->bytes, part->bytes + part->head, live);
        part->origin += part->head;
        part->head = 0;
        part->size = live;
    }
    if (!TW_GROW(allocator, &part->bytes, &part->room, part->size + size + TW_BRANCH_SLACK))
        return out_of_memory(branch);
    if (!follows(part, offset, capture)) {
        const struct tw_place place = { .stream = part->origin + part->size,
                                        .capture = capture,
                                        .is_discontinuity = part->has_gap };

        if (!add_place(allocator, part, &place, offset))
            return out_of_memory(branch);
        part->has_gap = false;
    }
    memcpy(part->bytes + part->size, bytes, size);
    part->size += size;
    return TW_OK;
}

/* A packet, in as many pieces as the capture has it in. */
static enum tw_status add_packet(struct tw_branch *trunk, struct tw_branch *branch,
                                 uint64_t offset, size_t size)
{
    const struct tw_stream *stream = &trunk->stream;

    while (size) {
        const struct tw_stretch stretch = tw_position_stretch(&trunk->position, offset);
        const uint64_t together = stretch.stop - offset;
        const size_t piece = together < size ? (size_t)together : size;

        TW_TRY(append(branch, stream->bytes + (offset - stream->offset), piece, offset,
                      offset + stretch.delta));
        offset += piece;
        size -= piece;
    }
    return TW_OK;
}

struct tw_stream tw_shared_stream(const struct tw_branch *branch)
{
    const struct tw_shared_part *part = branch->part;

    return (struct tw_stream){
        .bytes = part->bytes ? part->bytes + part->head : NULL,
        .size = part->size - part->head,
        .offset = part->origin + part->head,
        .places = part->places ? part->places + part->place_head : NULL,
        .place_count = part->place_count - part->place_head,
    };
}

void tw_shared_consume(struct tw_branch *branch, size_t size)
{
    struct tw_shared_part *part = branch->part;

    part->head += size;
    while (part->place_head + 1 < part->place_count &&
           part->places[part->place_head + 1].stream <= part->origin + part->head)
        part->place_head++;
}

uint64_t tw_shared_offset(const struct tw_branch *branch, uint64_t offset)
{
    const struct tw_shared_part *part = branch->part;
    size_t at = (size_t)(branch->position.place - part->places);

    if (at >= part->place_count || part->places[at].stream > offset)
        return offset;
    return part->offsets[at] + (offset - part->places[at].stream);
}

/* ---- bytes that are no source's ---- */

bool tw_shared_has_begun(const struct tw_branch *branch)
{
    return branch->part->origin + branch->part->size > 0;
}

/* Every source may have lost something; but one that was met before a reset is not there until it is met again. */
static void mark_gap(struct tw_branch *branch, uint64_t capture)
{
    for (size_t i = 0; i < branch->shared->count; i++) {
        struct tw_shared_part *part = branch->shared->branches[i]->part;

        if (!tw_shared_has_begun(branch->shared->branches[i]))
            continue;
        if (!part->has_gap)
            part->gap = capture;
        part->has_gap = true;
    }
}

static enum tw_status add_error(struct tw_branch *branch, const struct tw_element *element,
                                uint64_t released)
{
    struct tw_shared *shared = branch->shared;

    if (shared->error_first == shared->error_count)
        shared->error_first = shared->error_count = 0;
    if (!TW_GROW(allocator_of(branch), &shared->errors, &shared->error_room,
                 shared->error_count + 1))
        return out_of_memory(branch);
    shared->errors[shared->error_count++] =
        (struct tw_shared_error){ .element = *element, .released = released };
    return TW_OK;
}

/* Damage ends before this stream offset. */
static enum tw_status close_error(struct tw_branch *branch, uint64_t offset)
{
    struct tw_shared *shared = branch->shared;

    if (!shared->is_open)
        return TW_OK;
    shared->is_open = false;
    shared->open.skipped = offset - shared->open_offset;
    return add_error(branch, &shared->open, tw_position_at(&branch->position, offset - 1) + 1);
}

static enum tw_status take_none(struct tw_branch *branch, const struct tw_route *route,
                                uint64_t offset)
{
    struct tw_shared *shared = branch->shared;
    const uint64_t capture = tw_position_at(&branch->position, offset);

    branch->stats.seen.bytes += route->size;
    if (route->error == TW_ERROR_NONE) {
        if (route->is_hunt && !shared->is_open && !branch->tree->config.packets_only)
            branch->stats.seen.unsynced_bytes += route->size;
        return route->is_hunt ? TW_OK : close_error(branch, offset);
    }
    if (shared->is_open) /* part of the same damage */
        return TW_OK;
    mark_gap(branch, capture);
    shared->is_open = true;
    shared->open_offset = offset;
    shared->open =
        (struct tw_element){ .index = capture,
                             .type = TW_ELEMENT_ERROR,
                             .error = route->error,
                             .error_detail =
                                 branch->stream.bytes[offset - branch->stream.offset] };
    return TW_OK;
}

/* Sources beyond the limit are left out: said once. */
static enum tw_status say_full(struct tw_branch *branch, uint64_t offset, uint32_t src)
{
    const uint64_t capture = tw_position_at(&branch->position, offset);
    const struct tw_element element = { .index = capture,
                                        .type = TW_ELEMENT_ERROR,
                                        .error = TW_ERROR_UNSUPPORTED,
                                        .error_detail = src };

    return add_error(branch, &element, capture + 1);
}

static enum tw_status take_route(struct tw_branch *branch, const struct tw_route *route,
                                 uint64_t offset)
{
    const bool was_full = branch->shared->is_full;
    struct tw_branch *found;

    if (route->src == TW_NO_SRC)
        return take_none(branch, route, offset);
    TW_TRY(close_error(branch, offset));
    TW_TRY(find(branch, &found, route->src));
    if (branch->shared->is_full && !was_full)
        TW_TRY(say_full(branch, offset, route->src));
    if (!found) {
        branch->stats.seen.bytes += route->size;
        return TW_OK;
    }
    return add_packet(branch, found, offset, route->size);
}

/* ---- the stream ---- */

/* Up to `end`, where the trace ends, goes on later, or has a gap. */
static enum tw_status route_stretch(struct tw_branch *branch, size_t end, bool is_last)
{
    const struct tw_stream *stream = &branch->stream;

    while (branch->used < end) {
        struct tw_route route;
        const enum tw_status status =
            branch->protocol->route(branch->shared->router, &route, NULL,
                                    stream->bytes + branch->used, end - branch->used, is_last);

        if (status != TW_OK)
            break;
        TW_TRY(take_route(branch, &route, stream->offset + branch->used));
        branch->used += route.size;
    }
    return TW_OK;
}

/* A gap that nothing follows is told at the end. */
static enum tw_status end_parts(struct tw_branch *branch)
{
    TW_TRY(close_error(branch, branch->stream.offset + branch->used));
    for (size_t i = 0; i < branch->shared->count; i++) {
        struct tw_branch *source = branch->shared->branches[i];
        struct tw_shared_part *part = source->part;
        const struct tw_place place = { .stream = part->origin + part->size,
                                        .capture = part->gap,
                                        .is_discontinuity = 1 };

        if (part->has_gap && !add_place(allocator_of(branch), part, &place, 0))
            return out_of_memory(branch);
        part->has_gap = false;
    }
    return TW_OK;
}

enum tw_status tw_shared_route(struct tw_branch *branch)
{
    struct tw_shared *shared = branch->shared;
    const struct tw_stream *stream = &branch->stream;

    for (;;) {
        const uint64_t from = stream->offset + branch->used;
        const uint64_t gap =
            branch->has_gaps
                ? tw_gap_next(&branch->ahead, stream->places, stream->place_count, from,
                              shared->handled_gap, stream->offset + stream->size)
                : UINT64_MAX;
        const bool has_gap = gap != UINT64_MAX;
        const size_t end = has_gap ? (size_t)(gap - stream->offset) : stream->size;

        TW_TRY(route_stretch(branch, end, has_gap || branch->tree->is_finished));
        if (!has_gap)
            break;
        TW_TRY(close_error(branch, stream->offset + branch->used));
        branch->stats.seen.bytes += end - branch->used; /* a packet that the gap cuts is none */
        branch->used = end;
        shared->handled_gap = gap + 1;
        branch->protocol->reader_lost(shared->router);
        mark_gap(branch, tw_position_at(&branch->position, gap));
    }
    return branch->tree->is_finished ? end_parts(branch) : TW_OK;
}

bool tw_shared_has_errors(const struct tw_branch *branch)
{
    return branch->shared->error_first < branch->shared->error_count;
}

void tw_shared_fill(struct tw_branch *branch, struct tw_output *output)
{
    struct tw_shared *shared = branch->shared;
    struct tw_batch *batch = output->batch;

    while (batch->count < batch->room && tw_shared_has_errors(branch)) {
        const struct tw_shared_error *error = &shared->errors[shared->error_first++];

        if (output->marks.marks)
            output->marks.marks[output->marks.count++] =
                (struct tw_mark){ .released = error->released, .first = batch->count };
        batch->elements[batch->count++] = error->element;
    }
}

enum tw_status tw_shared_read(struct tw_branch *branch, size_t *used, size_t end, bool is_last)
{
    const uint8_t *bytes = branch->stream.bytes;
    struct tw_route route;

    for (; *used < end; *used += route.size) {
        const enum tw_status status = branch->protocol->route(
            branch->reader, &route, branch->packet, bytes + *used, end - *used, is_last);

        if (status != TW_OK)
            return status;
        if (route.src == TW_NO_SRC)
            return TW_OK;
    }
    return TW_MORE;
}

static void add_stats(struct tw_stats *to, const struct tw_stats *from)
{
    tw_stats_add(to, from);
    to->seen.bytes += from->seen.bytes;
    to->seen.packets += from->seen.packets;
    to->seen.bad_packets += from->seen.bad_packets;
    to->seen.syncs += from->seen.syncs;
    for (size_t i = 0; i < TW_LENGTH(to->packet_types); i++)
        to->packet_types[i] += from->packet_types[i];
}

const struct tw_source_stats *tw_shared_total(const struct tw_branch *branch)
{
    struct tw_shared *shared = branch->shared;

    shared->total = branch->stats;
    tw_stats_show(&shared->total);
    for (size_t i = 0; i < shared->count; i++)
        add_stats(&shared->total, &shared->branches[i]->stats);
    return &shared->total.seen;
}
