/* SPDX-License-Identifier: BSD-2-Clause */
/* Beginning in the middle of a capture, with what is said from there on as if all before it had been
   decoded too. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "run/run.h"

struct tw_run_seek {
    uint32_t buffer;              /* that holds the place */
    const struct tw_index *index; /* NULL: none */
    uint64_t offset;              /* elements before it are left out */
    uint64_t from;                /* where decoding began */
    uint64_t base;
    unsigned back;            /* sync points between the two */
    uint64_t given, skip;     /* elements given out; and still to pass over again */
    bool is_seen[TW_RUN_IDS]; /* something of this ID came before `offset` */
    bool is_begun;            /* the place is behind: buffers are decoded from their start */
};

void tw_seek_free(struct tw_run *run)
{
    tw_give(run->allocator, run->seek);
    run->seek = NULL;
}

/* ---- the n-th of a kind ---- */

uint64_t tw_run_place_count(const struct tw_run *run, const struct tw_index *index,
                            enum tw_index_kind kind)
{
    struct tw_index_stream stream = { .size = sizeof stream };
    uint64_t count = 0;

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        count += tw_filter_has_id(run, stream.id) ? stream.counts[kind] : 0;
    if (kind == TW_INDEX_TRIGGER) {
        struct tw_frame_event event;

        for (uint64_t i = 0; tw_index_event(index, &event, i) == TW_OK; i++)
            count += event.kind == TW_FRAME_TRIGGER;
    }
    return count;
}

/* One stream alone is found at once. */
static bool only_stream(const struct tw_run *run, const struct tw_index *index, size_t *number)
{
    struct tw_index_stream stream = { .size = sizeof stream };
    unsigned count = 0;

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        if (tw_filter_has_id(run, stream.id)) {
            *number = i;
            count++;
        }
    return count == 1;
}

enum tw_status tw_run_place_nth(const struct tw_run *run, const struct tw_index *index,
                                struct tw_index_entry *entry, enum tw_index_kind kind,
                                uint64_t nth)
{
    uint64_t taken[TW_RUN_IDS] = { 0 };
    size_t only;

    if (kind == TW_INDEX_TRIGGER && !run->filter.about.has_ids)
        return tw_index_find_trigger(index, entry, nth);
    if (only_stream(run, index, &only))
        return tw_index_find_nth(index, entry, only, kind, nth);
    for (;; nth--) {
        struct tw_index_stream stream = { .size = sizeof stream };
        struct tw_index_entry other;
        size_t first = SIZE_MAX;

        for (size_t i = 0; i < TW_RUN_IDS && tw_index_stream(index, &stream, i) == TW_OK; i++) {
            enum tw_status status = TW_END;

            if (tw_filter_has_id(run, stream.id))
                status = tw_index_find_nth(index, &other, i, kind, taken[i]);
            if (status < 0)
                return status;
            if (status == TW_OK && (first == SIZE_MAX || other.offset < entry->offset)) {
                *entry = other;
                first = i;
            }
        }
        if (first == SIZE_MAX)
            return TW_END;
        if (nth == 0)
            return TW_OK;
        taken[first]++;
    }
}

/* ---- where to begin ---- */

/* With several buffers: whether the time is reached in this one. */
static bool reaches(const struct tw_run *run, const struct tw_index *index, uint64_t time)
{
    struct tw_index_stream stream = { .size = sizeof stream };

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        if (tw_filter_has_id(run, stream.id) && stream.counts[TW_INDEX_TIME] &&
            stream.last_time >= time)
            return true;
    return false;
}

static enum tw_status find_nth(struct tw_run *run, const struct tw_run_place *place,
                               uint64_t *nth)
{
    struct tw_run_seek *seek = run->seek;
    const uint64_t count = tw_run_place_count(run, seek->index, place->of);
    struct tw_index_entry entry;
    enum tw_status status;

    if (*nth >= count) {
        *nth -= count;
        return TW_END;
    }
    status = tw_run_place_nth(run, seek->index, &entry, place->of, *nth);
    seek->offset = status == TW_OK ? entry.offset : 0;
    return status;
}

static enum tw_status find_time(struct tw_run *run, const struct tw_index_capture *capture,
                                uint64_t time)
{
    struct tw_run_seek *seek = run->seek;
    const uint64_t *ids = run->filter.about.has_ids ? run->filter.about.ids : NULL;
    enum tw_status status = tw_index_locate(capture, seek->index, &seek->offset, ids, time);
    bool is_there;

    if (status == TW_E_FILE && seek->index) { /* a page of the file is damaged */
        tw_warn(run, "%s is damaged; it is not used", tw_run_index_path(run, &is_there));
        seek->index = NULL;
        status = tw_index_locate(capture, NULL, &seek->offset, ids, time);
    }
    return status;
}

/* The place in this buffer.  TW_END: it is not there; *nth counts what was passed over. */
static enum tw_status find_place(struct tw_run *run, const struct tw_run_place *place,
                                 uint64_t *nth, bool is_last)
{
    struct tw_run_seek *seek = run->seek;
    const bool has_several = tw_capture_buffer_count(run->capture) > 1;
    const struct tw_index_capture *capture;

    TW_TRY(tw_run_index_capture(run, &capture, seek->buffer));
    seek->base = capture->base;
    seek->index = run->perf ? NULL : tw_run_index(run, seek->buffer, false);
    if (place->kind == TW_PLACE_OFFSET) {
        seek->offset = place->value;
        return place->value >= capture->base && place->value - capture->base < capture->bytes
                   ? TW_OK
                   : TW_END;
    }
    if (place->kind == TW_PLACE_NTH || has_several) {
        seek->index = tw_run_index_need(run, seek->buffer, false);
        if (!seek->index)
            return TW_E_FILE;
    }
    if (place->kind == TW_PLACE_NTH)
        return find_nth(run, place, nth);
    if (has_several && !is_last && !reaches(run, seek->index, place->value))
        return TW_END;
    return find_time(run, capture, place->value);
}

enum tw_status tw_run_seek(struct tw_run *run, const struct tw_run_place *place)
{
    const uint32_t count = (uint32_t)tw_capture_buffer_count(run->capture);
    uint64_t nth = place->value - 1;
    enum tw_status status = TW_END;

    if (run->is_started || run->config.order != TW_ORDER_CAPTURE || run->config.packets_only ||
        run->config.is_joined || (place->kind == TW_PLACE_NTH && !place->value))
        return tw_fail(&run->fault, TW_E_ARGUMENT,
                       "a place is sought before the first part, in capture order");
    tw_seek_free(run);
    run->seek = tw_take(run->allocator, sizeof *run->seek);
    if (!run->seek)
        return tw_fail(&run->fault, TW_E_MEMORY, "out of memory");
    if (place->kind == TW_PLACE_NTH)
        tw_run_index_check(run);
    for (uint32_t i = 0; i < count && status == TW_END; i++) {
        if (!tw_filter_has_buffer(run, i))
            continue;
        run->seek->buffer = i;
        run->seek->back = 2;
        status = find_place(run, place, &nth, i + 1 == count);
        if (status == TW_OK)
            run->readers[0]->next = i;
    }
    if (status != TW_OK)
        tw_seek_free(run);
    return status;
}

/* ---- decoding from there ---- */

enum tw_status tw_seek_begin(struct tw_run *run, struct tw_reader *reader)
{
    struct tw_run_seek *seek = run->seek;
    const struct tw_index_capture *capture;
    enum tw_status status;
    bool is_there;

    if (seek->is_begun)
        return TW_OK;
    memset(seek->is_seen, 0, sizeof seek->is_seen);
    seek->from = seek->base;
    if (run->perf) /* blocks are small, and what runs in them is told in order */
        return TW_OK;
    TW_TRY(tw_run_index_capture(run, &capture, reader->buffer));
    status = tw_index_seek(capture, seek->index, reader->tree, &seek->from, seek->offset,
                           seek->back);
    if (status == TW_E_FILE && seek->index) {
        tw_warn(run, "%s is damaged; it is not used", tw_run_index_path(run, &is_there));
        seek->index = NULL;
        status =
            tw_index_seek(capture, NULL, reader->tree, &seek->from, seek->offset, seek->back);
    }
    if (status != TW_OK)
        return tw_fail(&run->fault, status, "cannot begin at 0x%" PRIx64, seek->offset);
    tw_note_that(run, "begins at 0x%" PRIx64 " for 0x%" PRIx64, seek->from, seek->offset);
    reader->fed = seek->from - seek->base;
    for (size_t i = 0; i < reader->stream_count; i++)
        tw_who_begin(run, reader->streams[i], reader->buffer);
    return TW_OK;
}

uint64_t tw_seek_time(const struct tw_run *run, const struct tw_run_stream *stream)
{
    const struct tw_run_seek *seek = run->seek;
    struct tw_index_entry entry = { .offset = 0 };
    size_t number;

    if (seek->is_begun || !seek->index || stream->buffer != seek->buffer ||
        seek->from <= seek->base ||
        tw_index_stream_of(seek->index, &number, stream->id) != TW_OK)
        return 0;
    return tw_index_find_before(seek->index, &entry, number, TW_INDEX_TIME, seek->from) == TW_OK
               ? entry.value
               : 0;
}

/* What came shows that decoding began too late: begins earlier, and passes over what was given. */
enum tw_status tw_seek_again(struct tw_run *run, struct tw_reader *reader)
{
    struct tw_run_seek *seek = run->seek;
    enum tw_status status;

    if (seek) {
        seek->back *= 4;
        seek->skip += seek->given; /* some may just be passed over */
        seek->given = 0;
        if (run->count || run->summing) /* these begin again, too */
            seek->skip = 0;
    }
    tw_summing_forget(run);
    for (size_t i = 0; i < reader->stream_count; i++)
        reader->streams[i]->rollback.is_open = false;
    tw_tree_free(reader->tree);
    reader->tree = NULL;
    status = tw_reader_open(reader, reader->buffer);
    if (status == TW_OK && seek)
        status = tw_seek_begin(run, reader);
    if (status == TW_END)
        status = TW_E_FILE;
    return status == TW_OK ? TW_MORE : status;
}

static bool tells_nothing(const struct tw_element *element)
{
    return element->type == TW_ELEMENT_NO_SYNC || element->type == TW_ELEMENT_ERROR ||
           element->type == TW_ELEMENT_EO_TRACE;
}

/* A decoder that has said nothing before the place, or lacks an address, may not know all
   that one from the beginning knows. */
static bool is_doubtful(const struct tw_run_seek *seek, const struct tw_element *element,
                        uint8_t id)
{
    if (element->type == TW_ELEMENT_ERROR &&
        (element->error == TW_ERROR_RETURN_STACK || element->error == TW_ERROR_COMMIT ||
         (element->error == TW_ERROR_UNPLACED && element->index >= seek->offset)))
        return true;
    if (id == TW_ID_TRIGGER) /* of the frames: nothing has to be known */
        return false;
    return element->index >= seek->offset && !tells_nothing(element) &&
           !seek->is_seen[id % TW_RUN_IDS];
}

bool tw_seek_doubts(struct tw_run *run, const struct tw_batch *batch)
{
    struct tw_run_seek *seek = run->seek;
    bool *is_seen = &seek->is_seen[batch->id % TW_RUN_IDS];

    if (seek->is_begun || seek->from <= seek->base)
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (*is_seen) { /* most of them */
            while (i + TW_TYPES_AT_ONCE <= batch->count &&
                   (tw_are_ranges(batch->elements + i) ||
                    !(tw_types_of(batch->elements + i) & 1u << TW_ELEMENT_ERROR)))
                i += TW_TYPES_AT_ONCE;
            if (i == batch->count)
                break;
            element = &batch->elements[i];
            if (element->type != TW_ELEMENT_ERROR)
                continue;
        }
        if (is_doubtful(seek, element, batch->id))
            return true;
        if (element->index < seek->offset)
            *is_seen |= !tells_nothing(element);
    }
    return false;
}

enum tw_status tw_seek_check(struct tw_run *run, struct tw_reader *reader,
                             const struct tw_batch *batch)
{
    return tw_seek_doubts(run, batch) ? tw_seek_again(run, reader) : TW_OK;
}

bool tw_seek_has(struct tw_run *run, const struct tw_part *part,
                 const struct tw_element *element)
{
    struct tw_run_seek *seek = run->seek;

    if (seek->is_begun || part->buffer != seek->buffer)
        return true;
    if (element->index < seek->offset)
        return false;
    seek->given++;
    if (!seek->skip)
        return true;
    seek->skip--;
    return false;
}

size_t tw_seek_lead(const struct tw_run *run, const struct tw_part *part)
{
    const struct tw_run_seek *seek = run->seek;
    size_t count = 0;

    if (!run->extent.is_given || seek->is_begun || part->buffer != seek->buffer)
        return 0;
    while (count < part->batch.count && part->batch.elements[count].index < seek->offset)
        count++;
    return count;
}

bool tw_seek_has_all(struct tw_run *run, const struct tw_part *part, size_t first)
{
    const struct tw_element *elements = part->batch.elements;
    struct tw_run_seek *seek = run->seek;
    uint64_t given = 0;

    if (seek->is_begun || part->buffer != seek->buffer)
        return true;
    if (seek->skip)
        return false;
    for (size_t i = first; i < part->batch.count; i++) {
        if (elements[i].index < seek->offset)
            return false;
        given += elements[i].type != TW_ELEMENT_REPEAT; /* it goes with what it repeats */
    }
    seek->given += given;
    return true;
}

void tw_seek_end(struct tw_run *run)
{
    run->seek->is_begun = true;
}
