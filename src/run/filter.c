/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a capture is wanted.  Filters come after attribution: they change nothing of what is said. */
#include <string.h>

#include "base/fault.h"
#include "base/sized.h"
#include "run/run.h"

/* A copy of an array of the caller's; NULL also for none. */
static void *copy(struct tw_run *run, const void *items, size_t count, size_t size,
                  bool *failed)
{
    void *made = count ? tw_run_keep(run, count * size) : NULL;

    if (made)
        memcpy(made, items, count * size);
    *failed |= count && !made;
    return made;
}

static const char *const *copy_texts(struct tw_run *run, const char *const *texts, size_t count,
                                     bool *failed)
{
    const char **made = count ? tw_run_keep(run, count * sizeof(const char *)) : NULL;

    *failed |= count && !made;
    for (size_t i = 0; made && i < count; i++) {
        made[i] = tw_run_keep_text(run, texts[i]);
        *failed |= !made[i];
    }
    return made;
}

static enum tw_status choose_buffers(struct tw_run *run, const struct tw_filter *filter)
{
    const size_t count = tw_capture_buffer_count(run->capture);

    if (!filter->buffer_count)
        return TW_OK;
    run->filter.has_buffer = tw_run_keep(run, count + 1);
    if (!run->filter.has_buffer)
        return TW_E_MEMORY;
    for (size_t i = 0; i < filter->buffer_count; i++) {
        const uint32_t number = tw_capture_buffer_by_name(run->capture, filter->buffers[i]);

        if (number == TW_NONE)
            return tw_fail(&run->fault, TW_E_ARGUMENT, "no buffer is named \"%s\"",
                           filter->buffers[i]);
        run->filter.has_buffer[number] = true;
    }
    return TW_OK;
}

static enum tw_status choose_sources(struct tw_run *run, const struct tw_filter *filter)
{
    const size_t count = tw_capture_source_count(run->capture);

    if (!filter->source_count)
        return TW_OK;
    run->filter.has_source = tw_run_keep(run, count + 1);
    if (!run->filter.has_source)
        return TW_E_MEMORY;
    for (size_t i = 0; i < filter->source_count; i++) {
        bool is_any = false;

        for (size_t k = 0; k < count; k++)
            if (strcmp(tw_capture_source(run->capture, k)->name, filter->sources[i]) == 0)
                is_any = run->filter.has_source[k] = true;
        if (!is_any)
            return tw_fail(&run->fault, TW_E_ARGUMENT, "no source is named \"%s\"",
                           filter->sources[i]);
    }
    return TW_OK;
}

enum tw_status tw_filter_new(struct tw_run *run, const struct tw_filter *filter)
{
    struct tw_run_filter *made = &run->filter;
    struct tw_filter *about = &made->about;
    struct tw_filter given;
    bool failed = false;

    if (!filter)
        return TW_OK;
    TW_TRY(TW_SIZED_TAKE(&given, filter, "tw_filter", &run->fault));
    filter = &given;
    *about = given;
    about->buffers = about->sources = NULL;
    about->srcs = copy(run, filter->srcs, filter->src_count, sizeof *about->srcs, &failed);
    about->cpus = copy(run, filter->cpus, filter->cpu_count, sizeof *about->cpus, &failed);
    about->pids = copy(run, filter->pids, filter->pid_count, sizeof *about->pids, &failed);
    about->tids = copy(run, filter->tids, filter->tid_count, sizeof *about->tids, &failed);
    about->ranges =
        copy(run, filter->ranges, filter->range_count, sizeof *about->ranges, &failed);
    about->comms = copy_texts(run, filter->comms, filter->comm_count, &failed);
    about->functions = copy_texts(run, filter->functions, filter->function_count, &failed);
    if (failed)
        return TW_E_MEMORY;
    TW_TRY(choose_buffers(run, filter));
    TW_TRY(choose_sources(run, filter));
    made->has_who = filter->cpu_count || filter->pid_count || filter->tid_count ||
                    filter->comm_count || filter->levels;
    made->has_code = filter->range_count || filter->function_count;
    made->has_count = filter->has_from_instruction || filter->has_to_instruction;
    made->has_element = made->has_code || made->has_count || filter->has_from || filter->has_to;
    /* Whether something was before a time is only known from what came next. */
    run->config.with_not_after |= filter->has_from_time;
    return TW_OK;
}

bool tw_filter_has_buffer(const struct tw_run *run, uint32_t buffer)
{
    return (!run->filter.has_buffer || run->filter.has_buffer[buffer]) &&
           tw_extent_has_buffer(run, buffer);
}

bool tw_filter_has_id(const struct tw_run *run, uint8_t id)
{
    const struct tw_filter *about = &run->filter.about;

    return !about->has_ids || (id < TW_RUN_IDS && (about->ids[id / 64] >> id % 64 & 1));
}

bool tw_filter_has_source(const struct tw_run *run, uint32_t source)
{
    const struct tw_source *about = tw_capture_source(run->capture, source);

    if (about->has_id && !tw_filter_has_id(run, about->id))
        return false;
    return !run->filter.has_source || run->filter.has_source[source];
}

bool tw_filter_is_behind(const struct tw_run *run, uint64_t index)
{
    return run->filter.about.has_to && index >= run->filter.about.to;
}

bool tw_filter_has_offset(const struct tw_run *run, uint64_t index)
{
    const struct tw_filter *about = &run->filter.about;

    return (!about->has_from || index >= about->from) && !tw_filter_is_behind(run, index) &&
           (!run->extent.is_cut || (index >= run->extent.from && index < run->extent.to));
}

bool tw_filter_has_packets(const struct tw_run *run)
{
    const struct tw_filter *about = &run->filter.about;

    return about->has_ids || about->src_count || about->has_from || about->has_to;
}

static bool is_among(const uint32_t *numbers, size_t count, uint32_t number)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return count == 0;
}

static bool is_named(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return count == 0;
}

bool tw_filter_has_stream(const struct tw_run *run, uint8_t id, uint32_t src)
{
    const struct tw_filter *about = &run->filter.about;

    return tw_filter_has_id(run, id) && is_among(about->srcs, about->src_count, src);
}

bool tw_filter_has_who(const struct tw_run *run, const struct tw_who *who)
{
    const struct tw_filter *about = &run->filter.about;

    return !run->filter.has_who ||
           (is_among(about->cpus, about->cpu_count, who->cpu) &&
            is_among(about->pids, about->pid_count, who->pid) &&
            is_among(about->tids, about->tid_count, who->tid) &&
            is_named(about->comms, about->comm_count, who->comm) &&
            (!about->levels || ((who->known & TW_WHO_LEVEL) && who->level < 8 &&
                                (about->levels >> who->level & 1))));
}

bool tw_filter_has_when(const struct tw_run *run, const struct tw_when *when)
{
    const struct tw_filter *about = &run->filter.about;

    /* What may have happened then: of what has no time, nothing can be said against it. */
    return (!about->has_from_time || when->not_after >= about->from_time) &&
           (!about->has_to_time || when->not_before < about->to_time);
}

bool tw_filter_has_part(const struct tw_run *run, const struct tw_part *part)
{
    return tw_filter_has_stream(run, part->batch.id, part->batch.src) &&
           tw_filter_has_who(run, &part->who) &&
           (run->config.with_not_after || tw_filter_has_when(run, &part->when));
}

/* Ranges executed there, addresses missing there; and what is wrong with the trace. */
static bool has_code(struct tw_run *run, const struct tw_part *part,
                     const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        return tw_run_keeps(run, part, element->start, tw_element_end(element));
    case TW_ELEMENT_I_RANGE_NOPATH:
        return tw_run_keeps(run, part, element->first, element->first + 1);
    case TW_ELEMENT_ADDR_NACC:
        return tw_run_keeps(run, part, element->address, element->address + 1);
    case TW_ELEMENT_ERROR:
        return true;
    default:
        return false;
    }
}

bool tw_filter_has_code(struct tw_run *run, const struct tw_part *part, size_t element)
{
    return has_code(run, part, &part->batch.elements[element]);
}

/* Instructions of ranges are counted as they go by, each `times` times. */
static bool has_instruction(struct tw_run *run, const struct tw_element *element,
                            uint64_t times)
{
    const struct tw_filter *about = &run->filter.about;
    const bool is_range = element->type == TW_ELEMENT_INSTR_RANGE;
    const uint64_t first = run->filter.executed;
    const uint64_t end = first + (is_range ? element->count * times : 0);

    run->filter.executed = end;
    if (about->has_to_instruction && first >= about->to_instruction)
        return false;
    return !about->has_from_instruction ||
           (is_range ? end > about->from_instruction : first >= about->from_instruction);
}

/* Asked once of each element, in order. */
static bool has_element(struct tw_run *run, const struct tw_part *part,
                        const struct tw_element *element, uint64_t times)
{
    const bool is_counted = !run->filter.has_count || has_instruction(run, element, times);

    if (!is_counted || (run->seek && !tw_seek_has(run, part, element)))
        return false;
    if (!tw_filter_has_offset(run, element->index))
        return false;
    return !run->filter.has_code || has_code(run, part, element);
}

/* The first REPEAT at or after `from`; the count: there is none. */
static size_t find_repeat(const struct tw_batch *batch, size_t from)
{
    while (from < batch->count && batch->elements[from].type != TW_ELEMENT_REPEAT)
        from++;
    return from;
}

/* A REPEAT and what it repeats go together: what is wanted of it is moved up to the REPEAT, which
   repeats that much. */
static size_t cut_repeat(struct tw_run *run, const struct tw_part *part, size_t *first,
                         size_t repeat)
{
    struct tw_element *elements = part->batch.elements;
    const uint64_t times = elements[repeat].times;
    size_t kept = *first;

    for (size_t i = *first; i < repeat; i++)
        if (has_element(run, part, &elements[i], times < UINT64_MAX ? times + 1 : times))
            elements[kept++] = elements[i];
    kept -= *first;
    memmove(elements + repeat - kept, elements + *first, kept * sizeof *elements);
    elements[repeat].count = (uint32_t)kept;
    *first = repeat - kept;
    return kept ? kept + 1 : 0;
}

/* Whether nothing is asked of elements but where they lie, and all from `first` on lie there. */
static bool has_all_offsets(const struct tw_run *run, const struct tw_batch *batch,
                            size_t first)
{
    const struct tw_filter *about = &run->filter.about;
    uint64_t from = about->has_from ? about->from : 0, to = about->has_to ? about->to : 0;

    if (run->filter.has_code || run->filter.has_count)
        return false;
    if (run->extent.is_cut) {
        from = run->extent.from > from ? run->extent.from : from;
        to = about->has_to && about->to < run->extent.to ? about->to : run->extent.to;
    }
    for (; first < batch->count; first++)
        if (batch->elements[first].index < from ||
            ((about->has_to || run->extent.is_cut) && batch->elements[first].index >= to))
            return false;
    return true;
}

size_t tw_filter_cut(struct tw_run *run, const struct tw_part *part, size_t *first,
                     size_t *next)
{
    const struct tw_element *elements = part->batch.elements;
    const size_t count = part->batch.count;

    *first = *next;
    *next = count;
    if ((!run->filter.has_element || has_all_offsets(run, &part->batch, *first)) &&
        (!run->seek || tw_seek_has_all(run, part, *first)))
        return count - *first;
    while (*first < count) {
        const size_t repeat = find_repeat(&part->batch, *first);
        const size_t limit =
            repeat < count ? repeat - tw_repeat_reach(elements, repeat) : count;
        size_t end;

        while (*first < limit && !has_element(run, part, &elements[*first], 1))
            ++*first;
        if (*first < limit) {
            for (end = *first + 1; end < limit; end++)
                if (!has_element(run, part, &elements[end], 1))
                    break;
            *next = end < limit ? end + 1 : limit;
            return end - *first;
        }
        *next = repeat + 1;
        end = repeat < count ? cut_repeat(run, part, first, repeat) : 0;
        if (end)
            return end;
        *first = *next = repeat < count ? repeat + 1 : count;
    }
    return 0;
}
