/* SPDX-License-Identifier: BSD-2-Clause */
/* A stretch of a capture: where it may be cut, and when all of it was decoded. */
#include "base/fault.h"
#include "index/index.h"
#include "run/run.h"
#include "tree/branch.h"

enum {
    LOOK_AHEAD = 1 << 18 /* bytes behind a place that are looked at first for a sync point */
};

/* ---- the extent of a run ---- */

static uint64_t base_of(const struct tw_run *run, uint32_t buffer)
{
    return tw_capture_buffer(run->capture, buffer)->offset;
}

enum tw_status tw_extent_take(struct tw_run *run, const struct tw_run_extent *extent)
{
    const size_t count = tw_capture_buffer_count(run->capture);
    const struct tw_filter *filter = &run->filter.about;
    struct tw_extent_state *made = &run->extent;

    if (!extent)
        return TW_OK;
    if (run->config.order != TW_ORDER_CAPTURE || run->config.is_joined)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "an extent is of a run in capture order");
    if (run->filter.has_count || filter->has_from || filter->has_to || filter->has_from_time ||
        filter->has_to_time)
        return tw_fail(&run->fault, TW_E_ARGUMENT,
                       "a run has an extent, or its filter has bounds: not both");
    if (extent->buffer > count || extent->end_buffer > count ||
        extent->end_buffer < extent->buffer ||
        (extent->end_buffer == extent->buffer && extent->end_offset < extent->offset))
        return tw_fail(&run->fault, TW_E_ARGUMENT, "the extent ends before it begins");
    made->about = *extent;
    made->is_given = true;
    made->is_cut =
        (extent->buffer < count && extent->offset > base_of(run, extent->buffer)) ||
        (extent->end_buffer < count && extent->end_offset > base_of(run, extent->end_buffer));
    run->filter.has_element |= made->is_cut;
    return TW_OK;
}

bool tw_extent_has_buffer(const struct tw_run *run, uint32_t buffer)
{
    const struct tw_run_extent *about = &run->extent.about;

    if (!run->extent.is_given)
        return true;
    if (buffer < about->buffer || buffer > about->end_buffer)
        return false;
    return buffer < about->end_buffer ||
           about->end_offset > (buffer == about->buffer ? about->offset : base_of(run, buffer));
}

enum tw_status tw_extent_start(struct tw_run *run)
{
    const struct tw_run_extent *about = &run->extent.about;
    const struct tw_run_place place = { .kind = TW_PLACE_OFFSET, .value = about->offset };
    enum tw_status status;

    if (!run->extent.is_cut || run->config.packets_only ||
        about->buffer >= tw_capture_buffer_count(run->capture) ||
        !tw_filter_has_buffer(run, about->buffer) ||
        about->offset <= base_of(run, about->buffer))
        return TW_OK;
    status = tw_run_seek(run, &place);
    return status == TW_END ? TW_OK : status;
}

void tw_extent_open(struct tw_run *run, uint32_t buffer)
{
    struct tw_extent_state *extent = &run->extent;

    if (!extent->is_given)
        return;
    extent->from = buffer == extent->about.buffer ? extent->about.offset : 0;
    extent->to = buffer == extent->about.end_buffer ? extent->about.end_offset : UINT64_MAX;
    for (size_t i = 0; i < TW_RUN_IDS; i++)
        extent->is_past[i] = false;
}

/* Whether all that a source gave so far lies behind the extent.  Of one that has bytes, be it the first of a packet, or of
   which some are missing, something may still be held back. */
static bool is_past(const struct tw_run *run, const struct tw_reader *reader, uint8_t id)
{
    const struct tw_source_stats *stats = tw_tree_source_stats(reader->tree, id);

    return !stats || run->extent.is_past[id] ||
           (!stats->bytes && !tw_tree_holds(reader->tree, id));
}

/* Open transactions do; of sources that share a stream it is not known. */
static bool holds_something(const struct tw_reader *reader)
{
    for (size_t i = 0; i < reader->stream_count; i++)
        if (reader->streams[i]->rollback.is_open || reader->streams[i]->src != TW_NO_SRC)
            return true;
    return false;
}

/* Elements that a source gives only behind all that it has to say of damage before them.  (What software wrote is told without
   sync, too, by sources that follow a program.) */
static bool is_sound(const struct tw_run *run, const struct tw_reader *reader,
                     const struct tw_batch *batch, const struct tw_element *element)
{
    const uint32_t source = reader->source_of[batch->id % TW_RUN_IDS];
    const struct tw_protocol *protocol;

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
    case TW_ELEMENT_I_RANGE_NOPATH:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_SWTRACE:
    case TW_ELEMENT_INSTRUMENTATION:
    case TW_ELEMENT_DATA_ADDR:
    case TW_ELEMENT_DATA_VALUE:
    case TW_ELEMENT_BUS_TRANSFER:
    case TW_ELEMENT_CUSTOM:
        return true;
    case TW_ELEMENT_ITMTRACE:
        protocol = source == TW_NONE
                       ? NULL
                       : tw_protocol_by_name(tw_capture_source(run->capture, source)->protocol);
        return protocol && !(protocol->flags & TW_PROTOCOL_FOLLOWS);
    default:
        return false;
    }
}

bool tw_extent_is_behind(struct tw_run *run, const struct tw_reader *reader,
                         const struct tw_batch *batch)
{
    size_t last = batch->count;

    if (!run->extent.is_cut || run->extent.to == UINT64_MAX)
        return false;
    while (last && !is_sound(run, reader, batch, &batch->elements[last - 1]))
        last--;
    return last && tw_extent_is_over(run, reader, batch->id, batch->elements[last - 1].index);
}

bool tw_extent_is_over(struct tw_run *run, const struct tw_reader *reader, uint8_t id,
                       uint64_t index)
{
    struct tw_extent_state *extent = &run->extent;

    if (!extent->is_cut || extent->to == UINT64_MAX || index < extent->to)
        return false;
    if (extent->is_past[id % TW_RUN_IDS])
        return false; /* it was asked then */
    extent->is_past[id % TW_RUN_IDS] = true;
    for (unsigned i = 0; i < TW_RUN_IDS; i++)
        if (!is_past(run, reader, (uint8_t)i))
            return false;
    return !holds_something(reader);
}

enum { SAMPLE = 4096 };

/* Captures of the same program are as large and called the same: their first bytes tell them apart. */
static uint64_t hash_of(const struct tw_capture *capture)
{
    uint64_t hash = tw_capture_buffer_count(capture);

    for (uint32_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        const uint8_t *bytes;
        size_t size;

        hash = tw_hash64(hash ^ tw_capture_buffer(capture, i)->size);
        if (tw_capture_read(capture, &bytes, &size, i, 0) != TW_OK)
            continue;
        for (size_t at = 0; at < size && at < SAMPLE; at++)
            hash = (hash ^ bytes[at]) * 1099511628211u;
    }
    return hash;
}

void tw_run_stretch(const struct tw_run *run, struct tw_run_stretch *stretch)
{
    const uint32_t count = (uint32_t)tw_capture_buffer_count(run->capture);
    const struct tw_run_extent *extent = &stretch->extent;

    *stretch = (struct tw_run_stretch){ .capture = hash_of(run->capture),
                                        .extent.end_buffer = count,
                                        .is_first = true,
                                        .is_last = true };
    if (run->extent.is_given)
        stretch->extent = run->extent.about;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t base = base_of(run, i);
        const uint64_t end = base + tw_capture_buffer(run->capture, i)->size;

        if (!tw_filter_has_buffer(run, i) || base == end)
            continue;
        if (i < extent->buffer || (i == extent->buffer && extent->offset > base))
            stretch->is_first = false;
        if (i > extent->end_buffer || (i == extent->end_buffer && extent->end_offset < end))
            stretch->is_last = false;
    }
}

/* ---- cutting ---- */

/* The first sync point of any stream at or behind a place of a buffer; TW_END: there is none. */
static enum tw_status next_sync(const struct tw_index *index, uint64_t *offset, uint64_t from)
{
    struct tw_index_stream stream = { .size = sizeof stream };
    enum tw_status found = TW_END;

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        struct tw_index_entry entry;
        const enum tw_status status = tw_index_find_next(index, &entry, i, TW_INDEX_SYNC, from);

        if (status < 0)
            return status;
        if (status == TW_OK && (found == TW_END || entry.offset < *offset))
            *offset = entry.offset;
        found = status == TW_OK ? TW_OK : found;
    }
    return found;
}

/* The same, without an index of all: more and more is looked at. */
static enum tw_status look_for_sync(const struct tw_index_capture *capture, uint64_t *offset,
                                    uint64_t from)
{
    const uint64_t end = capture->base + capture->bytes;
    /* A sync point is known by what comes before it, too. */
    const uint64_t first = from - capture->base <= LOOK_AHEAD || tw_index_adds_up(capture)
                               ? capture->base
                               : from - LOOK_AHEAD;

    for (uint64_t ahead = LOOK_AHEAD;; ahead *= 2) {
        const uint64_t to = ahead < end - from ? from + ahead : end;
        struct tw_index *window;
        enum tw_status status;

        TW_TRY(tw_index_window(&window, capture, first, to));
        status = next_sync(window, offset, from);
        tw_index_free(window);
        if (status != TW_END || to == end)
            return status;
    }
}

/* Moves a place to where the capture may be cut, which is not before it. */
static enum tw_status to_cut(struct tw_run *run, uint32_t *buffer, uint64_t *offset)
{
    const struct tw_index_capture *capture;
    enum tw_status status;
    uint64_t found;

    if (*offset <= base_of(run, *buffer))
        return TW_OK;
    if (run->perf) {
        status = TW_END; /* blocks are small */
    } else {
        TW_TRY(tw_run_index_capture(run, &capture, *buffer));
        status = look_for_sync(capture, &found, *offset);
    }
    if (status == TW_OK) {
        *offset = found;
    } else if (status == TW_END) { /* the next buffer begins without knowing of this one */
        ++*buffer;
        *offset = *buffer < tw_capture_buffer_count(run->capture) ? base_of(run, *buffer) : 0;
        status = TW_OK;
    }
    return status;
}

/* The place behind so many bytes of what is wanted. */
static void find_place(const struct tw_run *run, uint64_t bytes, uint32_t *buffer,
                       uint64_t *offset)
{
    const uint32_t count = (uint32_t)tw_capture_buffer_count(run->capture);

    for (*buffer = 0; *buffer < count; ++*buffer) {
        const uint64_t size = tw_capture_buffer(run->capture, *buffer)->size;

        if (!tw_filter_has_buffer(run, *buffer))
            continue;
        if (bytes < size) {
            *offset = base_of(run, *buffer) + bytes;
            return;
        }
        bytes -= size;
    }
    *offset = 0;
}

/* The sync point for the begin of the part with this number, from 0; behind the last: the end. */
static enum tw_status sync_of(struct tw_run *run, uint32_t *buffer, uint64_t *offset,
                              size_t number, size_t count)
{
    const uint32_t buffers = (uint32_t)tw_capture_buffer_count(run->capture);
    uint64_t total = 0;

    *buffer = number ? buffers : 0;
    *offset = !number && buffers ? base_of(run, 0) : 0;
    if (!number || number == count)
        return TW_OK;
    for (uint32_t i = 0; i < buffers; i++)
        if (tw_filter_has_buffer(run, i))
            total += tw_capture_buffer(run->capture, i)->size;
    find_place(run, total / count * number + total % count * number / count, buffer, offset);
    return *buffer < buffers ? to_cut(run, buffer, offset) : TW_OK;
}

/* Where that part begins.  What is seen from one place may not be seen from another: no part begins before the
   sync point of the one before it. */
static enum tw_status find_cut(struct tw_run *run, uint32_t *buffer, uint64_t *offset,
                               size_t number, size_t count)
{
    uint32_t last_buffer = 0;
    uint64_t last = 0;

    if (number > 1 && number < count)
        TW_TRY(sync_of(run, &last_buffer, &last, number - 1, count));
    TW_TRY(sync_of(run, buffer, offset, number, count));
    if (last_buffer > *buffer || (last_buffer == *buffer && last > *offset)) {
        *buffer = last_buffer;
        *offset = last;
    }
    return TW_OK;
}

/* Parts from one number on up to another. */
static enum tw_status cut(struct tw_run *run, struct tw_run_extent *extents, size_t first,
                          size_t end, size_t count)
{
    uint32_t buffer;
    uint64_t offset;

    if (run->extent.is_given)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "an extent is not cut again");
    if (first >= end || end > count)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "there is no such part");
    TW_TRY(find_cut(run, &buffer, &offset, first, count));
    for (; first < end; first++, extents++) {
        extents->buffer = buffer;
        extents->offset = offset;
        TW_TRY(find_cut(run, &buffer, &offset, first + 1, count));
        extents->end_buffer = buffer;
        extents->end_offset = offset;
    }
    return TW_OK;
}

enum tw_status tw_run_cut(struct tw_run *run, struct tw_run_extent *extents, size_t count)
{
    return cut(run, extents, 0, count, count);
}

enum tw_status tw_run_cut_part(struct tw_run *run, struct tw_run_extent *extent, size_t number,
                               size_t count)
{
    return number < count ? cut(run, extent, number, number + 1, count)
                          : tw_fail(&run->fault, TW_E_ARGUMENT, "there is no such part");
}
