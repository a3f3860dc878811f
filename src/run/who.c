/* SPDX-License-Identifier: BSD-2-Clause */
/* Who executed, and when: told by the contexts and timestamps in the trace, and by the recorder. */
#include <string.h>

#include "capture/capture.h"
#include "run/run.h"

static void set_thread(struct tw_run_stream *stream)
{
    struct tw_who *who = &stream->who;

    who->tid = stream->cursor.tid;
    who->thread = stream->cursor.thread;
    who->pid = who->thread ? who->thread->pid : TW_NONE;
    who->comm = who->thread ? who->thread->comm : "";
}

/* perf.data: the recorder's clock where it can be known; its record of the block was written after
   all that is in it. */
static void set_time(struct tw_run_stream *stream)
{
    const struct tw_perf_cursor *cursor = &stream->cursor;
    struct tw_when *when = &stream->when;

    const struct tw_perf_block *block =
        cursor->perf ? tw_perf_block(cursor->perf, cursor->buffer) : NULL;

    *when = (struct tw_when){ .not_after = UINT64_MAX };
    if (stream->timestamp && !cursor->has_time) {
        when->clock = TW_CLOCK_TRACE;
        when->not_before = stream->timestamp;
        return;
    }
    if (!block || (!cursor->has_time && !block->time))
        return;
    when->clock = TW_CLOCK_RECORD;
    if (cursor->has_time)
        when->not_before = cursor->time;
    if (block->time && block->time >= when->not_before)
        when->not_after = block->time;
}

void tw_who_begin(struct tw_run *run, struct tw_run_stream *stream, uint32_t buffer)
{
    struct tw_who *who = &stream->who;

    stream->buffer = buffer;
    stream->has_context = false;
    stream->timestamp = run->seek ? tw_seek_time(run, stream) : 0;
    *who = (struct tw_who){ .cpu = TW_NONE,
                            .pid = TW_NONE,
                            .tid = TW_NONE,
                            .comm = "",
                            .core = stream->source ? stream->source->core : NULL,
                            .view = tw_element_view(NULL) };
    if (run->perf && stream->source) {
        stream->cursor = (struct tw_perf_cursor){ .perf = run->perf,
                                                  .source = stream->source_number,
                                                  .buffer = buffer };
        tw_perf_look(&stream->cursor, &who->view, NULL);
        who->cpu = tw_perf_src_cpu(run->perf, stream->source_number, stream->src);
        set_thread(stream);
    }
    set_time(stream);
}

void tw_who_take_context(struct tw_who *who, const struct tw_element *context)
{
    who->known = 0;
    if (context->flags & (TW_CONTEXT_HAS_EL | TW_CONTEXT_HAS_PRIV)) {
        who->known |= TW_WHO_LEVEL;
        who->level = context->el;
        who->security = context->security;
    }
    if (context->flags & (TW_CONTEXT_HAS_CID | TW_CONTEXT_HAS_PRIV))
        who->known |= TW_WHO_CONTEXT;
    if (context->flags & TW_CONTEXT_HAS_VMID)
        who->known |= TW_WHO_VMID;
    if (context->flags & TW_CONTEXT_64BIT)
        who->known |= TW_WHO_64BIT;
    who->context_id = context->context_id;
    who->vmid = context->vmid;
    who->context_high = context->context_high;
    who->view.space = tw_element_view(context).space;
}

static void set_context(struct tw_run_stream *stream, const struct tw_element *context)
{
    stream->context = *context;
    stream->has_context = true;
    tw_who_take_context(&stream->who, context);
}

void tw_who_see(struct tw_run_stream *stream, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_PE_CONTEXT)
        set_context(stream, element);
    else if (element->type == TW_ELEMENT_TIMESTAMP && element->timestamp)
        stream->timestamp = element->timestamp;
    else if (element->type != TW_ELEMENT_TIMESTAMP)
        return;
    if (stream->cursor.perf) {
        tw_perf_look(&stream->cursor, &stream->who.view, element);
        set_thread(stream);
    }
    if (element->type == TW_ELEMENT_TIMESTAMP)
        set_time(stream);
}

/* Whether another context than the last one begins here, or another time. */
static bool is_new(const struct tw_run_stream *stream, const struct tw_element *element)
{
    const struct tw_element *last = &stream->context;

    if (element->type == TW_ELEMENT_TIMESTAMP)
        return element->timestamp != stream->timestamp;
    return !stream->has_context || element->context_id != last->context_id ||
           element->vmid != last->vmid || element->context_high != last->context_high ||
           element->isa != last->isa || element->last != last->last ||
           (element->flags ^ last->flags) & (uint8_t)~TW_FLAG_HAS_CYCLES;
}

size_t tw_who_cut(struct tw_run_stream *stream, const struct tw_element *elements, size_t count,
                  bool *has_missing)
{
    static const uint32_t marks = 1u << TW_ELEMENT_PE_CONTEXT | 1u << TW_ELEMENT_TIMESTAMP;
    static const uint32_t missing = 1u << TW_ELEMENT_ADDR_NACC | 1u << TW_ELEMENT_EO_TRACE;
    size_t at = 1;
    uint32_t seen = 1u << (elements[0].type & 31);

    tw_who_see(stream, &elements[0]);
    for (; at < count; at++) {
        uint32_t bit;

        at = tw_past_ranges(elements, at, count);
        while (at + TW_TYPES_AT_ONCE <= count &&
               !((bit = tw_types_of(elements + at)) & marks)) {
            seen |= bit;
            at += TW_TYPES_AT_ONCE;
        }
        if (at == count)
            break;
        bit = 1u << (elements[at].type & 31);

        if ((bit & marks) && is_new(stream, &elements[at]))
            break;
        seen |= bit;
    }
    *has_missing = (seen & missing) != 0;
    return at;
}
