/* SPDX-License-Identifier: BSD-2-Clause */
/* A run: parts of a capture, one after the other. */
#include <string.h>

#include "base/compiler.h"
#include "base/fault.h"
#include "base/sized.h"
#include "run/count.h"
#include "tree/retained.h"

/* Memory for others; theirs follows. */
struct tw_run_kept {
    struct tw_run_kept *next;
    max_align_t first;
};

void *tw_run_keep(struct tw_run *run, size_t size)
{
    struct tw_run_kept *kept =
        tw_take(run->allocator, offsetof(struct tw_run_kept, first) + size);

    if (!kept)
        return NULL;
    kept->next = run->kept;
    run->kept = kept;
    return &kept->first;
}

char *tw_run_keep_text(struct tw_run *run, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = tw_run_keep(run, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

static enum tw_status check_config(const struct tw_run_config *config, struct tw_fault *fault)
{
    const struct tw_run_counter *counter = config->counter;

    if (counter && (!counter->count || !counter->add || !counter->merge))
        return tw_fail(fault, TW_E_ARGUMENT, "tw_run_counter lacks a function");
    if (config->sums && (!config->sums->block || !config->sums->sum || !config->sums->take ||
                         !config->sums->forget))
        return tw_fail(fault, TW_E_ARGUMENT, "tw_run_sums lacks a block or a function");
    if (counter && (config->packets_only || config->order != TW_ORDER_CAPTURE))
        return tw_fail(fault, TW_E_ARGUMENT, "elements are counted in capture order");
    if (config->packets_only && config->order != TW_ORDER_CAPTURE)
        return tw_fail(fault, TW_E_ARGUMENT, "packets come in capture order");
    if (config->is_joined && config->order != TW_ORDER_CAPTURE)
        return tw_fail(fault, TW_E_ARGUMENT, "buffers are joined in capture order");
    return TW_OK;
}

static enum tw_status set_up(struct tw_run *run, const struct tw_run_config *config)
{
    const size_t files = run->perf ? tw_perf_file_count(run->perf) : 0;

    if (config->core_type &&
        !(run->config.core_type = tw_run_keep_text(run, config->core_type)))
        return TW_E_MEMORY;
    if (config->index && !(run->config.index = tw_run_keep_text(run, config->index)))
        return TW_E_MEMORY;
    run->missing = tw_run_keep(run, (files + 1) * sizeof *run->missing);
    if (!run->missing)
        return TW_E_MEMORY;
    TW_TRY(tw_losses_new(run));
    TW_TRY(tw_filter_new(run, config->filter));
    TW_TRY(tw_extent_take(run, config->extent));
    TW_TRY(tw_names_new(run, config));
    if (config->counter) {
        run->counter = *config->counter;
        run->config.counter = &run->counter;
        TW_TRY(tw_count_new(run));
    }
    if (run->config.with_not_after)
        TW_TRY(tw_bounds_new(run));
    if (config->sums)
        TW_TRY(tw_summing_new(run, config->sums));
    TW_TRY(tw_order_start(run));
    return tw_extent_start(run);
}

enum tw_status tw_run_new(struct tw_run **run, struct tw_capture *capture,
                          const struct tw_run_config *config, struct tw_fault *fault)
{
    struct tw_run_config own = { .size = sizeof own };
    struct tw_run_counter counter;
    struct tw_run_sums sums;
    struct tw_run *made;
    enum tw_status status;

    *run = NULL;
    if (config)
        TW_TRY(TW_SIZED_TAKE(&own, config, "tw_run_config", fault));
    config = &own;
    if (config->counter) {
        TW_TRY(TW_SIZED_TAKE(&counter, config->counter, "tw_run_counter", fault));
        own.counter = &counter;
    }
    if (config->sums) {
        TW_TRY(TW_SIZED_TAKE(&sums, config->sums, "tw_run_sums", fault));
        own.sums = &sums;
    }
    TW_TRY(check_config(config, fault));
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a run");
    if (config->allocator) {
        made->allocator_copy = *config->allocator;
        made->allocator = &made->allocator_copy;
    }
    made->slice.size = sizeof made->slice;
    made->capture = capture;
    made->perf = tw_capture_perf(capture);
    made->config = *config;
    made->config.filter = NULL;
    made->config.extent = NULL;
    made->config.sums = NULL;
    made->config.symbols = NULL;
    status = set_up(made, config);
    if (status == TW_OK) {
        *run = made;
        return TW_OK;
    }
    (void)tw_fail(fault, status, "%s",
                  made->fault.text[0] ? made->fault.text : "no memory for a run");
    tw_run_free(made);
    return status;
}

void tw_run_free(struct tw_run *run)
{
    struct tw_allocator allocator;
    bool has_allocator;

    if (!run)
        return;
    has_allocator = run->allocator != NULL;
    allocator = run->allocator_copy;
    for (size_t i = 0; i < run->reader_count; i++)
        tw_reader_free(run->readers[i]);
    for (size_t i = 0; i < run->stream_count; i++) {
        tw_give(run->allocator, run->streams[i]->rollback.items);
        tw_give(run->allocator, run->streams[i]);
    }
    tw_bounds_free(run);
    tw_count_free(run);
    tw_summing_free(run);
    tw_seek_free(run);
    tw_indexes_free(run);
    tw_names_free(run);
    tw_give(run->allocator, run->readers);
    tw_give(run->allocator, run->streams);
    while (run->kept) {
        struct tw_run_kept *kept = run->kept;

        run->kept = kept->next;
        tw_give(run->allocator, kept);
    }
    tw_give(has_allocator ? &allocator : NULL, run);
}

const char *tw_run_fault(const struct tw_run *run)
{
    return run->fault.text;
}

/* Nothing that a caller has to look at. */
static void clear_part(struct tw_part *part)
{
    *part = (struct tw_part){ .size = sizeof *part,
                              .source_number = TW_NONE,
                              .buffer = TW_NONE,
                              .ring = TW_NONE,
                              .stream = TW_NONE,
                              .who = { .cpu = TW_NONE, .pid = TW_NONE, .tid = TW_NONE },
                              .when = { .not_after = UINT64_MAX } };
    part->who.comm = "";
    part->who.view = tw_element_view(NULL);
}

void tw_part_of(struct tw_part *part, const struct tw_run_stream *stream)
{
    part->kind = TW_PART_ELEMENTS;
    part->source = stream->source;
    part->source_number = stream->source_number;
    part->buffer = stream->buffer;
    part->ring = stream->ring;
    part->stream = stream->number;
    part->image = stream->image;
    part->who = stream->who;
    part->when = stream->when;
    part->batch = (struct tw_batch){ .size = sizeof part->batch,
                                     .source = stream->source_number,
                                     .src = stream->src,
                                     .id = stream->id,
                                     .src_is_id = stream->src_is_id };
}

/* Cuts the next part off the slice; it may turn out not to be wanted. */
static void cut_part(struct tw_run *run)
{
    struct tw_run_stream *stream = run->stream;
    struct tw_part *part = &run->part;
    struct tw_element *elements = run->slice.elements + run->cut;
    const uint64_t before = stream->timestamp;
    bool has_missing;
    const size_t count =
        tw_who_cut(stream, elements, run->slice.count - run->cut, &has_missing);

    if (has_missing)
        tw_losses_see(run, stream, elements, count);
    if (run->bounds)
        tw_bounds_see(run, stream, before, count);
    clear_part(part);
    tw_part_of(part, stream);
    part->batch.elements = elements;
    part->batch.count = part->batch.room = count;
    run->cut += count;
    run->part_next = 0;
}

/* Elements from `first` to before `end` of the part at work are left out. */
static void skip(struct tw_run *run, size_t first, size_t end)
{
    for (size_t i = first; i < end && !run->has_skipped; i++)
        run->has_skipped = run->part.batch.elements[i].type == TW_ELEMENT_INSTR_RANGE;
}

/* What comes right before the run's extent is seen by its counter, which counts nothing of it. */
static bool take_lead(struct tw_run *run)
{
    const size_t count = tw_seek_lead(run, &run->part);
    struct tw_part lead = run->part;

    if (!count || !tw_filter_has_part(run, &run->part))
        return true;
    if (run->filter.has_code && !tw_filter_has_code(run, &run->part, count - 1))
        return true;
    lead.batch.count = lead.batch.room = count;
    lead.is_resumed = run->stream->is_resumed;
    if (tw_count_lead(run, &lead) != TW_OK)
        return false;
    run->part_next = count;
    run->stream->is_resumed = false;
    return true;
}

/* Of a run without one it is passed over: what the extent has is said as if all was given. */
static void pass_lead(struct tw_run *run)
{
    const size_t count = tw_seek_lead(run, &run->part);

    if (!count || !tw_filter_has_part(run, &run->part) ||
        (run->filter.has_code && !tw_filter_has_code(run, &run->part, count - 1)))
        return;
    run->part_next = count;
    run->stream->is_resumed = false;
}

/* Gives what is wanted of the part at work; false: nothing more is. */
static bool give_wanted(struct tw_run *run, struct tw_part *part)
{
    size_t before, first, count = 0;

    if (run->count && run->seek && !run->part_next && !take_lead(run))
        run->count->is_broken = true;
    if (!run->count && run->seek && !run->part_next)
        pass_lead(run);
    before = run->part_next;
    if (before == run->part.batch.count)
        return false;
    if (tw_filter_has_part(run, &run->part))
        count = tw_filter_cut(run, &run->part, &first, &run->part_next);
    if (!count) {
        skip(run, before, run->part.batch.count);
        run->part_next = run->part.batch.count;
        run->stream->is_resumed = true;
        return false;
    }
    skip(run, before, first);
    *part = run->part;
    part->has_skipped = run->has_skipped;
    run->has_skipped = false;
    skip(run, first + count, run->part_next);
    part->is_resumed = run->stream->is_resumed || first > before;
    part->batch.elements += first;
    part->batch.count = part->batch.room = count;
    run->stream->is_resumed = run->part_next > first + count;
    return true;
}

/* The next part, as if there was no look-ahead. */
enum tw_status tw_run_part(struct tw_run *run, struct tw_part *part)
{
    for (;;) {
        enum tw_status status;

        if (run->part_next < run->part.batch.count && give_wanted(run, part))
            return TW_OK;
        if (run->cut < run->slice.count) {
            cut_part(run);
            continue;
        }
        clear_part(part);
        run->slice.count = run->cut = run->part.batch.count = 0;
        status = tw_order_next(run, part);
        if (status == TW_OK && run->slice.count)
            continue;
        return status;
    }
}

static enum tw_status next_part(struct tw_run *run, struct tw_part *part)
{
    return run->bounds ? tw_bounds_next(run, part) : tw_run_part(run, part);
}

/* Elements on their way are counted instead where they could not be counted on threads. */
static enum tw_status next_counted(struct tw_run *run, struct tw_part *part)
{
    for (;;) {
        enum tw_status status = next_part(run, part);

        if (status == TW_OK && part->kind == TW_PART_ELEMENTS) {
            status = tw_count_part(run, part);
            if (status == TW_OK)
                continue;
        } else if (status == TW_OK && part->kind == TW_PART_END) {
            status = tw_count_end(run);
            if (status == TW_MORE)
                continue;
        }
        return status;
    }
}

static enum tw_status next(struct tw_run *run, struct tw_part *part)
{
    if (run->config.packets_only)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "this run gives packets");
    return run->count ? next_counted(run, part) : next_part(run, part);
}

static enum tw_status give_part(struct tw_run *run, struct tw_part *to,
                                const struct tw_part *part)
{
    if (TW_SIZED_GIVE(to, part))
        return TW_OK;
    return tw_fail(&run->fault, TW_E_ARGUMENT, "tw_part has no size: set it to its sizeof");
}

enum tw_status tw_run_next(struct tw_run *run, struct tw_part *part)
{
    struct tw_part given;
    enum tw_status status = run->broken;

    run->is_started = true;
    if (status == TW_OK)
        status = next(run, &given);
    if (status < 0) {
        if (!run->fault.text[0])
            (void)tw_fail(&run->fault, status, "%s", "out of memory");
        run->broken = status;
    }
    return status == TW_OK ? give_part(run, part, &given) : status;
}

enum tw_status tw_run_retain(struct tw_retained **retained, struct tw_run *run,
                             struct tw_part *part)
{
    struct tw_tree *tree = run->at_work ? run->at_work->tree : NULL;
    enum tw_status status = TW_END;

    *retained = NULL;
    if (part->kind != TW_PART_ELEMENTS)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "the part has no elements");
    if (tree)
        status = tw_tree_retain(retained, tree, part->batch.elements);
    if (status == TW_END) { /* they waited in memory of the run's own */
        *retained = tw_retained_copy(&part->batch.elements, part->batch.count, run->allocator);
        status = *retained ? TW_OK : TW_E_MEMORY;
    }
    return status;
}

/* Whose the packet is.  Of most packets that is what it was of the one before. */
static const struct tw_part *packet_part(struct tw_run *run, const struct tw_packet_view *view,
                                         bool is_lead)
{
    const struct tw_reader *reader = run->readers[0];
    const uint32_t owner = reader->owner_of[view->packet->id % TW_RUN_IDS];
    struct tw_part *part = &run->packet_part;

    if (!part->size)
        clear_part(part);
    if (part->source_number != owner) {
        part->source_number = part->batch.source = owner;
        part->source = tw_capture_source(run->capture, owner);
    }
    part->buffer = reader->buffer;
    part->ring = reader->ring;
    part->batch.id = view->packet->id;
    part->batch.src = view->src;
    part->is_lead = is_lead;
    return part;
}

/* Whether every source has come to where nothing more is wanted: the rest of the buffer need not be read.  (Where
   an index is built beside, it is; and how many sources share a stream is known at its end.) */
static bool is_past_the_end(struct tw_run *run, struct tw_reader *reader,
                            const struct tw_packet_view *view)
{
    uint8_t *progress = &reader->progress[view->packet->id % TW_RUN_IDS];
    const uint8_t now = tw_filter_is_behind(run, view->packet->index) ? TW_BEHIND : TW_SEEN;

    if (*progress == now || !run->filter.about.has_to)
        return false;
    *progress = now;
    if (now != TW_BEHIND || view->src != TW_NO_SRC || reader->index)
        return false;
    for (size_t i = 0; i < TW_RUN_IDS; i++)
        if (reader->progress[i] != TW_BEHIND &&
            (reader->source_of[i] != TW_NONE || reader->progress[i] == TW_SEEN))
            return false;
    return true;
}

/* Buffers begin and end, between packets. */
static TW_NOINLINE enum tw_status packet_event(struct tw_run *run, struct tw_part *event,
                                               enum tw_status status)
{
    clear_part(event);
    if (status == TW_OK || status == TW_END)
        status = tw_order_event(run, event);
    if (status < 0)
        run->broken = status;
    return status;
}

enum tw_status tw_run_packet(struct tw_run *run, struct tw_part *event,
                             const struct tw_part **part, struct tw_packet_view *view)
{
    struct tw_reader *reader = run->readers[0];
    enum tw_status status = run->broken;

    if (!run->config.packets_only)
        return tw_fail(&run->fault, TW_E_ARGUMENT, "this run gives elements");
    run->is_started = true;
    while (status == TW_OK && reader->is_open) {
        bool is_lead;

        status = tw_reader_next_packet(reader, view);
        if (status == TW_OK && run->extent.is_cut &&
            tw_extent_is_over(run, reader, view->packet->id, view->packet->index))
            status = TW_END;
        if (status != TW_OK)
            break;
        tw_losses_add_packet(run, view);
        is_lead = run->extent.is_cut && view->packet->index < run->extent.from;
        if (tw_filter_has_stream(run, view->packet->id, view->src) &&
            (is_lead || tw_filter_has_offset(run, view->packet->index))) {
            *part = packet_part(run, view, is_lead);
            return TW_OK;
        }
        if (is_past_the_end(run, reader, view))
            break;
    }
    *part = event;
    return packet_event(run, event, status);
}

void tw_run_tally_packets(struct tw_run *run)
{
    run->tallies_packets =
        run->config.packets_only && !run->extent.is_cut && !tw_filter_has_packets(run);
}

struct packet_taker {
    struct tw_run *run;
    tw_run_packet_sum_fn *take;
    void *context;
};

static void take_packets(void *context, const struct tw_packet_view *view,
                         const struct tw_packet_sum *sum)
{
    const struct packet_taker *taker = context;

    taker->take(taker->context, packet_part(taker->run, view, false), view, sum);
}

void tw_run_take_packets(struct tw_run *run, tw_run_packet_sum_fn *take, void *context)
{
    struct packet_taker taker = { run, take, context };

    if (run->tallies_packets && run->readers[0]->tree)
        tw_packet_tally_take(run->readers[0]->tree, take_packets, &taker);
}

enum tw_status tw_run_next_packet(struct tw_run *run, struct tw_part *part,
                                  struct tw_packet_view *view)
{
    const struct tw_part *given;
    struct tw_part event;
    const enum tw_status status = tw_run_packet(run, &event, &given, view);

    return status == TW_OK ? give_part(run, part, given) : status;
}

enum tw_status tw_run_all(struct tw_run *run)
{
    struct tw_part part = { .size = sizeof part };
    enum tw_status status;

    do
        status = tw_run_next(run, &part);
    while (status == TW_OK);
    return status == TW_END ? TW_OK : status;
}

size_t tw_run_stream_count(const struct tw_run *run)
{
    return run->stream_count;
}

size_t tw_run_source_count(const struct tw_run *run)
{
    return run->at_work ? run->at_work->source_count : 0;
}

const struct tw_source_stats *tw_run_source_stats(const struct tw_run *run, uint8_t id)
{
    const struct tw_reader *reader = run->at_work;

    if (!reader || !reader->tree || reader->source_of[id % TW_RUN_IDS] == TW_NONE)
        return NULL;
    return tw_tree_source_stats(reader->tree, id);
}
