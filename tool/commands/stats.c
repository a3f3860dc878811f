/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway stats: what the trace is made of, and what it lost. */
#include <inttypes.h>
#include <stdlib.h>

#include <trackway/statistics.h>

#include "base/percent.h"
#include "commands/commands.h"
#include "commands/stats.h"
#include "shared/session.h"

struct stats {
    const struct options *options;
    struct session session;
    struct output out;
    bool is_json;
    bool *is_there; /* by buffer: it held something */
};

static double seconds_of(const struct stats *stats, const struct tw_source_statistics *source)
{
    return stats->options->clock.value ? (double)(source->last_time - source->first_time) /
                                             (double)stats->options->clock.value
                                       : 0;
}

static void print_flow(struct stats *stats, const struct tw_source_statistics *source)
{
    struct output *out = &stats->out;
    const double seconds = seconds_of(stats, source);

    if (source->instructions)
        output_format(out, "  %" PRIu64 " instructions, %.3f bits of trace for each\n",
                      source->instructions,
                      8 * (double)source->bytes / (double)source->instructions);
    if (source->exceptions || source->missing)
        output_format(out, "  %" PRIu64 " exceptions, %" PRIu64 " addresses not in the image\n",
                      source->exceptions, source->missing);
    if (source->timestamps)
        output_format(out, "  %" PRIu64 " timestamps from %" PRIu64 " to %" PRIu64 "\n",
                      source->timestamps, source->first_time, source->last_time);
    if (seconds > 0)
        output_format(out, "  %.9f s, %.0f bytes/s\n", seconds,
                      (double)source->bytes / seconds);
    else if (source->last_time > source->first_time)
        output_format(out, "  %.3f bytes for each unit of time (--clock HZ gives bytes/s)\n",
                      (double)source->bytes / (double)(source->last_time - source->first_time));
    if (source->cycles)
        output_format(out, "  %" PRIu64 " cycles counted\n", source->cycles);
}

/* `apart`: the distance of syncs, on average. */
static void print_text(struct stats *stats, const struct tw_source_statistics *source,
                       double apart)
{
    struct output *out = &stats->out;

    output_color(out, BOLD);
    output_format(out, "id 0x%02x %s: %" PRIu64 " bytes, %" PRIu64 " packets\n",
                  (unsigned)source->id, source->protocol, source->bytes, source->packets);
    output_color(out, PLAIN);
    for (size_t i = 0; i < source->type_count; i++)
        output_format(
            out, "  %-24s %10" PRIu64 " packets %12" PRIu64 " bytes %6s %%\n",
            source->types[i].name, source->types[i].packets, source->types[i].bytes,
            tw_percent((double)source->types[i].bytes, (double)source->bytes, 2).text);
    output_format(out, "  %" PRIu64 " syncs", source->syncs);
    if (source->sync_most)
        output_format(out, ", %" PRIu64 " to %" PRIu64 " bytes apart, %.0f on average",
                      source->sync_least, source->sync_most, apart);
    output_text(out, "\n");
    print_flow(stats, source);
    output_format(out,
                  "  lost: %" PRIu64 " bad packets, %" PRIu64 " errors, %" PRIu64
                  " overflows, %" PRIu64 " discards, %" PRIu64 " bytes without sync\n",
                  source->bad, source->errors, source->overflows, source->discards,
                  source->unsynced);
}

static void print_json(struct stats *stats, const struct tw_source_statistics *source)
{
    const char *buffer = session_has_several(&stats->session) ? source->buffer : NULL;
    const unsigned id = source->id;
    struct output *out = &stats->out;

    for (size_t i = 0; i < source->type_count; i++) {
        output_format(out, "{\"id\":%u,\"t\":\"PACKETS\"", id);
        if (buffer) {
            output_text(out, ",\"buf\":");
            output_json_text(out, buffer);
        }
        output_format(out, ",\"type\":\"%s\",\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n",
                      source->types[i].name, source->types[i].packets, source->types[i].bytes);
    }
    output_format(out, "{\"id\":%u,\"t\":\"SOURCE\"", id);
    if (buffer) {
        output_text(out, ",\"buf\":");
        output_json_text(out, buffer);
    }
    output_format(out,
                  ",\"protocol\":\"%s\",\"bytes\":%" PRIu64 ",\"packets\":%" PRIu64
                  ",\"syncs\":%" PRIu64 ",\"sync_least\":%" PRIu64 ",\"sync_most\":%" PRIu64
                  ",\"instructions\":%" PRIu64 ",\"exceptions\":%" PRIu64
                  ",\"missing\":%" PRIu64 ",\"cycles\":%" PRIu64,
                  source->protocol, source->bytes, source->packets, source->syncs,
                  source->sync_least, source->sync_most, source->instructions,
                  source->exceptions, source->missing, source->cycles);
    if (source->timestamps)
        output_format(
            out, ",\"timestamps\":%" PRIu64 ",\"ts_first\":%" PRIu64 ",\"ts_last\":%" PRIu64,
            source->timestamps, source->first_time, source->last_time);
    if (seconds_of(stats, source) > 0)
        output_format(out, ",\"seconds\":%.9f,\"bytes_per_second\":%.0f",
                      seconds_of(stats, source),
                      (double)source->bytes / seconds_of(stats, source));
    output_format(out,
                  ",\"bad\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"overflows\":%" PRIu64
                  ",\"discards\":%" PRIu64 ",\"unsynced\":%" PRIu64 "}\n",
                  source->bad, source->errors, source->overflows, source->discards,
                  source->unsynced);
}

static void print_source(struct stats *stats, const struct tw_source_statistics *source)
{
    if (!source->packets)
        return;
    if (stats->is_json)
        print_json(stats, source);
    else
        print_text(stats, source,
                   source->syncs > 1 ? (double)(source->last_sync - source->first_sync) /
                                           (double)(source->syncs - 1)
                                     : 0);
}

/* Of so many buffers that nobody would read them all. */
static bool print_totals(struct stats *stats, struct tw_statistics *statistics)
{
    struct tw_source_statistics source = { .size = sizeof source };
    struct stats_totals totals = { 0 };
    size_t buffers = 0;
    bool is_done = true;

    for (size_t i = 0; is_done && tw_statistics_source(statistics, &source, i); i++)
        is_done = !source.packets || stats_totals_add(&totals, &source);
    for (size_t i = 0; i < tw_capture_buffer_count(stats->session.capture); i++)
        buffers += stats->is_there[i];
    stats_totals_end(&totals);
    output_format(&stats->out, "%zu buffers, summed up; -v lists each\n", buffers);
    for (size_t i = 0; i < totals.count; i++) {
        const struct stats_total *row = &totals.rows[i];

        print_text(stats, &row->sum, row->gaps ? (double)row->span / (double)row->gaps : 0);
    }
    stats_totals_free(&totals);
    if (!is_done)
        say("out of memory");
    return is_done;
}

static bool print(struct stats *stats, struct tw_statistics *statistics)
{
    const struct tw_capture *capture = stats->session.capture;
    struct tw_source_statistics source = { .size = sizeof source };
    bool has_source = tw_statistics_source(statistics, &source, 0);
    size_t next = 1;

    if (!stats->is_json && session_sums_up(&stats->session))
        return print_totals(stats, statistics);
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        if (!stats->is_there[i])
            continue;
        if (session_has_several(&stats->session) && !stats->is_json)
            output_format(&stats->out, "buffer %s\n", tw_capture_buffer(capture, i)->name);
        for (; has_source && source.buffer_number == i; next++) {
            print_source(stats, &source);
            has_source = tw_statistics_source(statistics, &source, next);
        }
    }
    return true;
}

static struct tw_run *packet_run(struct session *session, struct session_wish *wish)
{
    wish->config.counter = NULL;
    wish->config.packets_only = true;
    wish->config.on_source = NULL; /* the other run tells of these */
    wish->config.on_bytes = NULL;
    return session_run_new(session, wish);
}

/* One run decodes, another one reads packets: at the same time where there are threads. */
static int count_both(struct stats *stats, struct tw_statistics *statistics,
                      struct tw_run *packets)
{
    struct session *session = &stats->session;
    struct tw_part part = { .size = sizeof part };
    enum tw_status status, read;
    bool is_begun = false;

    while ((status = session_next(session, &part)) == TW_OK) {
        if (part.kind != TW_PART_BEGIN)
            continue;
        stats->is_there[part.buffer] = true;
        if (!is_begun)
            tw_statistics_begin_packets(statistics, packets, tw_run_threads(session->run) > 1);
        is_begun = true;
    }
    read = tw_statistics_end_packets(statistics);
    if (status == TW_END && read < 0) {
        say("%s: %s", tw_capture_path(session->capture),
            read == TW_E_MEMORY ? "out of memory" : tw_run_fault(packets));
        status = read;
    }
    return session_end(session, status);
}

static int count(struct stats *stats, struct tw_statistics *statistics)
{
    struct session *session = &stats->session;
    struct session_wish wish;
    struct tw_run *packets = NULL;
    int status;

    status = session_wish(session, &wish);
    if (status == DONE) {
        wish.config.counter = tw_statistics_counter(statistics);
        wish.config.batch_room = session_batch_room(session);
        status = session_start(session, &wish);
    }
    if (status == DONE && !(packets = packet_run(session, &wish)))
        status = NOT_DONE;
    if (status == DONE)
        status = count_both(stats, statistics, packets);
    tw_run_free(packets);
    session_wish_free(&wish);
    return status;
}

static int run(const struct options *options)
{
    struct stats stats = { .options = options, .is_json = options_format_is(options, "jsonl") };
    struct tw_statistics *statistics = NULL;
    struct tw_fault fault;
    int status =
        options_want_offsets(options) ? session_open(&stats.session, options) : BAD_USAGE;

    if (status == DONE)
        stats.is_there = calloc(tw_capture_buffer_count(stats.session.capture) + 1, 1);
    if (status == DONE &&
        (!stats.is_there ||
         tw_statistics_new(&statistics, stats.session.capture, NULL, NULL) != TW_OK)) {
        say("out of memory");
        status = NOT_DONE;
    }
    if (status == DONE && !output_open(&stats.out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        stats.session.out = &stats.out;
        status = count(&stats, statistics);
    }
    if ((status == DONE || status == DONE_WITH_LOSS) && !print(&stats, statistics))
        status = NOT_DONE;
    if ((status == DONE || status == DONE_WITH_LOSS) &&
        tw_statistics_end_packets(statistics) != TW_OK) { /* so some are not there */
        say("out of memory");
        status = NOT_DONE;
    }
    if ((status == DONE || status == DONE_WITH_LOSS) && options->save &&
        tw_statistics_save(statistics, options->save, &fault) != TW_OK) {
        say("%s", fault.text);
        status = NOT_DONE;
    }
    if (!output_close(&stats.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    tw_statistics_free(statistics);
    free(stats.is_there);
    session_leave(&stats.session);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART, G_DECODER, O_SAVE, O_PART, O_PARTS, O_CLOCK, O_THREADS, G_OUTPUT, O_END,
};

const struct command command_stats = {
    .name = "stats",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "counts: packets and bytes by type, bandwidth, syncs, losses",
    .details =
        "For each trace ID of each buffer. Of more than 64 buffers text prints the sums;\n"
        "-v, or --buffer, prints those of each.\n" LISTS_EACH "\n"
        "examples:\n"
        "  trackway stats snapshot\n"
        "  trackway stats perf.data -v\n"
        "  trackway stats snapshot --clock 1000000000 --format jsonl",
    .formats = "text|jsonl",
    .prints_last = true,
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .lists_each = true,
    .is_confined = true,
    .run = run,
};
