/* SPDX-License-Identifier: BSD-2-Clause */
/* In which order slices of elements come: as the bytes lie, or merged by the timestamps in them. */
#include <string.h>

#include "run/run.h"

/* ---- events ---- */

static enum tw_status give_event(struct tw_part *part, enum tw_part_kind kind,
                                 const struct tw_reader *reader)
{
    part->kind = (uint8_t)kind;
    part->buffer = reader->buffer;
    part->ring = reader->ring;
    return TW_OK;
}

/* The next loss to tell of before this buffer begins; at the end (NULL) of all that are left. */
static bool give_loss(struct tw_run *run, struct tw_part *part, const uint32_t *buffer)
{
    const struct tw_perf_loss *loss = tw_losses_next(run, buffer);

    if (!loss)
        return false;
    part->kind = TW_PART_LOSS;
    part->loss = loss;
    part->buffer = buffer ? *buffer : TW_NONE;
    part->ring = TW_NONE;
    part->who.cpu = loss->cpu;
    part->who.tid = loss->tid;
    part->when = (struct tw_when){ .clock = loss->time ? TW_CLOCK_RECORD : TW_CLOCK_NONE,
                                   .not_after = loss->time ? loss->time : UINT64_MAX };
    return true;
}

/* ---- a reader's next buffer ---- */

/* TW_OK: an event to give; TW_END: there is no buffer left. */
static enum tw_status open_next(struct tw_reader *reader, struct tw_part *part)
{
    struct tw_run *run = reader->run;

    while (reader->next < reader->end) {
        enum tw_status status;

        if (!tw_filter_has_buffer(run, reader->next)) {
            reader->next++;
            continue;
        }
        if (give_loss(run, part, &reader->next))
            return TW_OK;
        status = tw_reader_open(reader, reader->next++);
        if (status == TW_OK && run->seek)
            status = tw_seek_begin(run, reader);
        if (status == TW_END)
            return give_event(part, TW_PART_NOTHING, reader);
        if (status != TW_OK)
            return status;
        reader->given = reader->batch.count = 0;
        reader->has_key = false;
        run->at_work = reader;
        return give_event(part, TW_PART_BEGIN, reader);
    }
    return TW_END;
}

static enum tw_status end_buffer(struct tw_reader *reader, struct tw_part *part)
{
    struct tw_run *run = reader->run;

    reader->is_open = false;
    run->at_work = reader;
    if (run->seek)
        tw_seek_end(run);
    return give_event(part, TW_PART_END, reader);
}

/* ---- capture order ---- */

static enum tw_status next_in_capture(struct tw_run *run, struct tw_part *part)
{
    struct tw_reader *reader = run->readers[0];
    enum tw_status status;

    if (!reader->is_open)
        return open_next(reader, part);
    run->at_work = reader;
    status = tw_reader_next(reader, &run->slice);
    if (status == TW_END)
        return end_buffer(reader, part);
    if (status == TW_OK)
        run->stream = tw_reader_stream(reader, run->slice.id, run->slice.src);
    return status;
}

/* ---- time order ---- */

/* The time that an element tells; 0: none. */
static uint64_t time_of(const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_TIMESTAMP)
        return element->timestamp;
    if (element->type == TW_ELEMENT_SWTRACE && (element->flags & TW_SW_HAS_TIME))
        return element->sw_time;
    if (element->type == TW_ELEMENT_ITMTRACE && element->kind == TW_ITM_TS_GLOBAL)
        return element->itm_time;
    return 0;
}

/* The first timestamp at or after `from`; the count: there is none. */
static size_t find_time(const struct tw_batch *batch, size_t from)
{
    while (from < batch->count && !time_of(&batch->elements[from]))
        from++;
    return from;
}

/* Makes sure that there are elements to give, or the reader is done.  TW_OK: an event is to be given
   first; TW_MORE: none. */
static enum tw_status refill(struct tw_reader *reader, struct tw_part *part)
{
    while (!reader->is_done && reader->given == reader->batch.count) {
        enum tw_status status;
        size_t time;

        reader->given = reader->batch.count = 0;
        if (!reader->is_open) {
            status = open_next(reader, part);
            reader->is_done = status == TW_END;
            if (status == TW_END)
                return TW_MORE;
            return status;
        }
        status = tw_reader_next(reader, &reader->batch);
        if (status == TW_END) {
            reader->batch.count = 0;
            return end_buffer(reader, part);
        }
        if (status != TW_OK)
            return status;
        reader->next_time = 0;
        if (reader->has_key || reader->run->reader_count == 1)
            continue;
        /* What comes before a buffer's first timestamp is as near to it as to nothing else. */
        time = find_time(&reader->batch, 0);
        if (time < reader->batch.count) {
            reader->key = time_of(&reader->batch.elements[time]);
            reader->has_key = true;
        }
    }
    return TW_MORE;
}

/* Where the elements that are near to the timestamp at `given` end, before the one at `next`.  A
   new context begins a stretch of its own, with what stands between it and the last range: it is
   nearer to the timestamp after it, as time went by before tracing went on. */
static size_t end_of_stretch(const struct tw_batch *batch, size_t given, size_t next)
{
    size_t end = given + (batch->elements[given].type == TW_ELEMENT_TIMESTAMP);

    for (size_t i = given; i < next; i++) {
        if (batch->elements[i].type == TW_ELEMENT_INSTR_RANGE ||
            batch->elements[i].type == TW_ELEMENT_REPEAT)
            end = i + 1;
        else if (batch->elements[i].type == TW_ELEMENT_PE_CONTEXT && end > given)
            return end;
        else if (batch->elements[i].type == TW_ELEMENT_PE_CONTEXT)
            return next;
    }
    return next;
}

/* The elements up to the next timestamp, or to a context before it. */
static void give(struct tw_run *run, struct tw_reader *reader)
{
    const struct tw_batch *batch = &reader->batch;
    const bool is_alone = run->reader_count == 1; /* nothing can come between */
    size_t next = batch->count, end = batch->count;

    if (!is_alone) {
        if (reader->next_time <= reader->given)
            reader->next_time = find_time(batch, reader->given + 1);
        next = reader->next_time;
        end = end_of_stretch(batch, reader->given, next);
    }
    run->at_work = reader;
    run->stream = tw_reader_stream(reader, batch->id, batch->src);
    run->slice = *batch;
    run->slice.elements += reader->given;
    run->slice.count = run->slice.room = end - reader->given;
    reader->given = end;
    if (next < batch->count)
        reader->key = time_of(&batch->elements[next]);
}

static enum tw_status next_in_time(struct tw_run *run, struct tw_part *part)
{
    struct tw_reader *found = NULL;

    for (size_t i = 0; i < run->reader_count; i++) {
        struct tw_reader *reader = run->readers[i];
        const enum tw_status status = refill(reader, part);

        if (status != TW_MORE)
            return status;
        if (!reader->is_done && (!found || reader->key < found->key))
            found = reader;
    }
    if (!found)
        return TW_END;
    give(run, found);
    return TW_OK;
}

enum tw_status tw_order_next(struct tw_run *run, struct tw_part *part)
{
    const enum tw_status status = run->config.order == TW_ORDER_TIME
                                      ? next_in_time(run, part)
                                      : next_in_capture(run, part);

    return status == TW_END && give_loss(run, part, NULL) ? TW_OK : status;
}

enum tw_status tw_order_event(struct tw_run *run, struct tw_part *part)
{
    struct tw_reader *reader = run->readers[0];
    enum tw_status status;

    if (reader->is_open)
        return end_buffer(reader, part);
    status = open_next(reader, part);
    return status == TW_END && give_loss(run, part, NULL) ? TW_OK : status;
}

/* ---- readers ---- */

static struct tw_reader *add_reader(struct tw_run *run, size_t *room, uint32_t first,
                                    uint32_t end)
{
    struct tw_reader *reader;

    if (!TW_GROW(run->allocator, &run->readers, room, run->reader_count + 1))
        return NULL;
    reader = tw_take(run->allocator, sizeof *reader);
    if (!reader)
        return NULL;
    reader->run = run;
    reader->next = first;
    reader->end = end;
    reader->batch.size = sizeof reader->batch;
    reader->only = TW_NONE;
    reader->ring = TW_NONE;
    reader->by_src.allocator = run->allocator;
    for (uint32_t i = first; i < end; i++)
        reader->bytes += tw_capture_buffer(run->capture, i)->size;
    run->readers[run->reader_count++] = reader;
    return reader;
}

/* The blocks of a ring buffer follow each other. */
static bool add_rings(struct tw_run *run, size_t *room, uint32_t count)
{
    for (uint32_t first = 0, end; first < count; first = end) {
        const uint32_t ring = tw_perf_block(run->perf, first)->stream;

        end = first + 1;
        while (end < count && tw_perf_block(run->perf, end)->stream == ring)
            end++;
        if (!add_reader(run, room, first, end))
            return false;
    }
    return true;
}

/* A source in a buffer: sources share a buffer, but not each other's time. */
static bool add_sources(struct tw_run *run, size_t *room, uint32_t count)
{
    for (uint32_t buffer = 0; buffer < count; buffer++) {
        bool is_any = false;

        for (uint32_t i = 0; i < tw_capture_source_count(run->capture); i++) {
            struct tw_reader *reader;

            if (!tw_filter_has_source(run, i) ||
                !tw_capture_source_is_in(run->capture, i, 0, buffer))
                continue;
            reader = add_reader(run, room, buffer, buffer + 1);
            if (!reader)
                return false;
            reader->only = i;
            is_any = true;
        }
        if (!is_any && !add_reader(run, room, buffer, buffer + 1))
            return false;
    }
    return true;
}

enum tw_status tw_order_start(struct tw_run *run)
{
    const uint32_t count = (uint32_t)tw_capture_buffer_count(run->capture);
    size_t room = 0;
    bool is_good;

    if (run->config.order == TW_ORDER_CAPTURE)
        is_good = add_reader(run, &room, 0, count) != NULL;
    else if (run->perf)
        is_good = add_rings(run, &room, count);
    else
        is_good = add_sources(run, &room, count);
    return is_good ? TW_OK : TW_E_MEMORY;
}
