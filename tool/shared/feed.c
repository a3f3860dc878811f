/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures, one after the other, through runs into an analysis. */
#include "shared/feed.h"

#include <stdlib.h>
#include <string.h>

static void warn(void *context, const char *text)
{
    const struct session *session = context;

    if (!session->options->quiet)
        say("warning: %s: %s", tw_capture_path(session->capture), text);
}

static void tell_source(void *context, const struct tw_run_source *source)
{
    const struct session *session = context;

    if (source->left_out && !session->options->quiet)
        say("warning: %s: source %s is left out: %s", tw_capture_path(session->capture),
            tw_capture_source(session->capture, source->source)->name, source->left_out);
}

static void count_bytes(void *context, uint64_t bytes)
{
    struct session *session = context;

    if (session->progress)
        progress_add(session->progress, bytes);
}

static struct tw_filter filter_of(const struct options *options, struct tw_address_range *range)
{
    struct tw_filter filter = { .size = sizeof filter };

    if (options->buffer) {
        filter.buffers = &options->buffer;
        filter.buffer_count = 1;
    }
    filter.sources = options->source_names.items;
    filter.source_count = options->source_names.count;
    filter.has_ids = options->has_ids;
    memcpy(filter.ids, options->ids, sizeof filter.ids);
    filter.functions = options->functions.items;
    filter.function_count = options->functions.count;
    if (options->range.is_given) {
        *range = (struct tw_address_range){ options->range.first, options->range.end };
        filter.ranges = range;
        filter.range_count = 1;
    }
    filter.has_from = options->from.is_given;
    filter.from = options->from.value;
    filter.has_to = options->to.is_given;
    filter.to = options->to.value;
    return filter;
}

static bool open_run(struct feed *feed, struct session *session, struct tw_run **run)
{
    const struct options *options = session->options;
    struct tw_address_range range;
    const struct tw_filter filter = filter_of(options, &range);
    struct tw_symbol_file *symbols = calloc(options->symbols.count + 1, sizeof *symbols);
    struct tw_run_config config = {
        .size = sizeof config,
        .filter = &filter,
        .order = feed->order,
        .counter = feed->counter,
        .threads = (uint32_t)options->threads.value,
        .core_type = options->arch,
        .waits_on_error = options->on_error && strcmp(options->on_error, "wait") == 0,
        .resumes_on_error = options->on_error && strcmp(options->on_error, "resume") == 0,
        .assumes_sync = options->assume_sync,
        .symbols = symbols,
        .symbol_count = options->symbols.count,
        .on_source = tell_source,
        .on_bytes = count_bytes,
        .on_warning = warn,
        .context = session,
    };
    struct tw_fault fault = { TW_OK, "out of memory" };
    enum tw_status status = TW_E_MEMORY;

    for (size_t i = 0; symbols && i < options->symbols.count; i++)
        symbols[i].path = options->symbols.items[i];
    if (symbols)
        status = tw_run_new(run, session->capture, &config, &fault);
    free(symbols);
    if (status != TW_OK)
        say("%s: %s", tw_capture_path(session->capture), fault.text);
    return status == TW_OK;
}

/* The account of what was lost, as every command gives it. */
static void take_losses(struct session *session, const struct tw_run *run)
{
    struct tw_run_losses losses = { .size = sizeof losses };
    struct tw_missing missing;

    tw_run_losses(run, &losses);
    session->loss = (struct loss){ .bad = losses.errors,
                                   .truncated = losses.truncated,
                                   .overflows = losses.overflows,
                                   .discards = losses.discards,
                                   .lost = losses.gaps,
                                   .unsynced = losses.unsynced_bytes,
                                   .missing = losses.missing_code };
    for (size_t i = 0; session->missing && tw_run_missing(run, &missing, i); i++) {
        const size_t files = tw_perf_file_count(session->perf);
        struct missing *to = &session->missing[missing.file < files ? missing.file : files];

        to->times += missing.times;
        to->branches += missing.branches;
    }
}

static int run_one(struct feed *feed, size_t number, feed_fn *take, void *context)
{
    struct session *session = &feed->sessions[number];
    struct tw_part part = { .size = sizeof part };
    bool is_any = false;
    enum tw_status status;

    if (!open_run(feed, session, &feed->runs[number]))
        return NOT_DONE;
    session->progress = &feed->progress;
    if (feed->begin)
        feed->begin(context, feed->runs[number]);
    while ((status = tw_run_next(feed->runs[number], &part)) == TW_OK) {
        is_any |= part.kind == TW_PART_BEGIN;
        if (take)
            status = take(context, feed->runs[number], &part);
        if (status != TW_OK)
            break;
    }
    session->progress = NULL;
    if (status != TW_END) {
        say("%s: %s", tw_capture_path(session->capture),
            status == TW_E_MEMORY ? "out of memory" : tw_run_fault(feed->runs[number]));
        return NOT_DONE;
    }
    take_losses(session, feed->runs[number]);
    if (!is_any && tw_capture_buffer_count(session->capture)) {
        say("%s: nothing was decoded; \"trackway info\" shows what it holds",
            tw_capture_path(session->capture));
        return NOT_DONE;
    }
    return session_summary(session);
}

static uint64_t bytes_of(const struct session *session)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        if (session_wants(session, i))
            bytes += tw_capture_buffer(session->capture, i)->size;
    return bytes;
}

int feed_run(struct feed *feed, const struct options *options, feed_fn *take, void *context)
{
    const size_t count = options->arguments.count;
    uint64_t bytes = 0;
    int worst = DONE;

    feed->options = options;
    feed->each = calloc(count + 1, sizeof *feed->each);
    feed->sessions = calloc(count + 1, sizeof *feed->sessions);
    feed->runs = calloc(count + 1, sizeof *feed->runs);
    if (!feed->each || !feed->sessions || !feed->runs) {
        say("out of memory");
        return NOT_DONE;
    }
    for (size_t i = 0; i < count; i++) {
        int status;

        feed->each[i] = *options;
        feed->each[i].arguments = (struct list){ &options->arguments.items[i], 1 };
        feed->count++;
        status = session_open(&feed->sessions[i], &feed->each[i]);
        if (status != DONE)
            return status;
        bytes += bytes_of(&feed->sessions[i]);
    }
    progress_start(&feed->progress, options, bytes);
    for (size_t i = 0; i < count; i++) {
        const int status = run_one(feed, i, take, context);

        if (status == DONE_WITH_LOSS)
            worst = DONE_WITH_LOSS;
        else if (status != DONE) {
            progress_end(&feed->progress);
            return status;
        }
    }
    progress_end(&feed->progress);
    return worst;
}

void feed_close(struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        tw_run_free(feed->runs[i]);
        session_close(&feed->sessions[i]);
    }
    free(feed->runs);
    free(feed->sessions);
    free(feed->each);
    *feed = (struct feed){ .options = feed->options };
}

const char *feed_title(const struct feed *feed)
{
    const char *path = feed->options->arguments.count ? feed->options->arguments.items[0] : "";
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}
