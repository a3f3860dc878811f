/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway stats: what the trace is made of, and what it lost. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "shared/attribution.h"
#include "shared/session.h"

/* One type of packet. */
struct kind {
    const char *name; /* the library's own */
    uint64_t packets, bytes;
};

/* From decoding; of a part of the trace, which can be added to what was before it. */
struct flow {
    uint64_t instructions, exceptions, errors, missing;
    uint64_t times, first_time, last_time, cycles;
};

struct source_count {
    const char *protocol;
    struct kind kinds[256];
    uint64_t packets, bytes, bad, unsynced;
    uint64_t syncs, last_sync, sync_least, sync_most; /* stream offsets and distances */
    uint64_t first_sync;
    uint64_t overflows, discards;
    struct flow flow;
};

struct stats {
    const struct options *options;
    const struct session *session;
    struct output out;
    struct source_count *sources; /* by trace ID, for the buffer at work */
    bool is_json;
};

static void count_sync(struct source_count *source, uint64_t offset)
{
    if (source->syncs++) {
        const uint64_t distance = offset - source->last_sync;

        if (source->syncs == 2 || distance < source->sync_least)
            source->sync_least = distance;
        if (distance > source->sync_most)
            source->sync_most = distance;
    } else {
        source->first_sync = offset;
    }
    source->last_sync = offset;
}

static bool count_packets(struct stats *stats, struct session *session)
{
    struct tw_packet_view view = { .size = sizeof view };
    enum tw_status status;

    while ((status = session_next_packet(session, &view)) == TW_OK) {
        const struct tw_packet *packet = view.packet;
        struct source_count *source = &stats->sources[packet->id & 0x7f];
        struct kind *kind = &source->kinds[packet->type];

        if (!session_wants_id(session, packet->id) ||
            !session_wants_index(session, packet->index))
            continue;
        source->protocol = view.protocol;
        kind->name = tw_packet_type_name(&view);
        kind->packets++;
        kind->bytes += packet->size;
        source->packets++;
        source->bytes += packet->size;
        source->bad += view.is_bad;
        if (view.is_not_sync)
            source->unsynced += packet->size;
        if (view.kind == TW_PACKET_SYNC)
            count_sync(source, packet->offset);
    }
    return status == TW_END;
}

static void count_element(struct flow *flow, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        flow->instructions += element->count;
        break;
    case TW_ELEMENT_EXCEPTION:
        flow->exceptions++;
        break;
    case TW_ELEMENT_ADDR_NACC:
        flow->missing++;
        break;
    case TW_ELEMENT_TIMESTAMP:
        if (!flow->times++)
            flow->first_time = element->timestamp;
        flow->last_time = element->timestamp;
        break;
    case TW_ELEMENT_ERROR:
        flow->errors++;
        return;
    default:
        break;
    }
    if (element->flags & TW_FLAG_HAS_CYCLES)
        flow->cycles += element->cycles;
}

/* On any thread: see struct tw_counter. */
static void count_batch(void *context, void *tally, const struct tw_batch *batch)
{
    const struct stats *stats = context;

    for (size_t i = 0; i < batch->count; i++)
        if (session_wants_index(stats->session, batch->elements[i].index))
            count_element(tally, &batch->elements[i]);
}

static void add_flow(void *context, void *tally, const struct tw_batch *whose)
{
    struct stats *stats = context;
    struct flow *flow = &stats->sources[whose->id & 0x7f].flow;
    const struct flow *more = tally;

    /* The sources of a stream that they share are added up. */
    if (!session_wants_id(stats->session, whose->id))
        return;
    if (!flow->times)
        flow->first_time = more->first_time;
    if (more->times)
        flow->last_time = more->last_time;
    flow->times += more->times;
    flow->instructions += more->instructions;
    flow->exceptions += more->exceptions;
    flow->errors += more->errors;
    flow->missing += more->missing;
    flow->cycles += more->cycles;
}

/* Most of it is counted by the threads that decode, and then session_next has no elements; but of
   perf.data others want to see them too. */
static bool count_elements(struct stats *stats, struct session *session)
{
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    while ((status = session_next(session, &batch)) == TW_OK) {
        struct flow flow = { 0 };

        count_batch(stats, &flow, &batch);
        add_flow(stats, &flow, &batch);
    }
    for (size_t id = 0; id < 128; id++) {
        const struct tw_source_stats *more =
            session->source_of[id] == TW_NONE
                ? NULL
                : tw_tree_source_stats(session->tree, (uint8_t)id);

        if (more) {
            stats->sources[id].overflows = more->overflows;
            stats->sources[id].discards = more->discards;
        }
    }
    return status == TW_END;
}

/* Types in the order of their bytes, most first. */
static int by_bytes(const void *a, const void *b)
{
    const struct kind *one = a, *other = b;

    if (one->bytes != other->bytes)
        return one->bytes < other->bytes ? 1 : -1;
    return (one->packets < other->packets) - (one->packets > other->packets);
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double seconds_of(const struct stats *stats, const struct source_count *source)
{
    return stats->options->clock.value
               ? (double)(source->flow.last_time - source->flow.first_time) /
                     (double)stats->options->clock.value
               : 0;
}

static void print_flow(struct stats *stats, const struct source_count *source)
{
    struct output *out = &stats->out;
    const double seconds = seconds_of(stats, source);

    if (source->flow.instructions)
        output_format(out, "  %" PRIu64 " instructions, %.3f bits of trace for each\n",
                      source->flow.instructions,
                      8 * (double)source->bytes / (double)source->flow.instructions);
    if (source->flow.exceptions || source->flow.missing)
        output_format(out, "  %" PRIu64 " exceptions, %" PRIu64 " addresses not in the image\n",
                      source->flow.exceptions, source->flow.missing);
    if (source->flow.times)
        output_format(out, "  %" PRIu64 " timestamps from %" PRIu64 " to %" PRIu64 "\n",
                      source->flow.times, source->flow.first_time, source->flow.last_time);
    if (seconds > 0)
        output_format(out, "  %.9f s, %.0f bytes/s\n", seconds,
                      (double)source->bytes / seconds);
    else if (source->flow.last_time > source->flow.first_time)
        output_format(out, "  %.3f bytes for each unit of time (--clock HZ gives bytes/s)\n",
                      (double)source->bytes /
                          (double)(source->flow.last_time - source->flow.first_time));
    if (source->flow.cycles)
        output_format(out, "  %" PRIu64 " cycles counted\n", source->flow.cycles);
}

static void print_text(struct stats *stats, unsigned id, const struct source_count *source)
{
    struct output *out = &stats->out;

    output_color(out, BOLD);
    output_format(out, "id 0x%02x %s: %" PRIu64 " bytes, %" PRIu64 " packets\n", id,
                  source->protocol, source->bytes, source->packets);
    output_color(out, PLAIN);
    for (size_t i = 0; i < 256 && source->kinds[i].name; i++)
        output_format(out, "  %-24s %10" PRIu64 " packets %12" PRIu64 " bytes %6.2f %%\n",
                      source->kinds[i].name, source->kinds[i].packets, source->kinds[i].bytes,
                      share(source->kinds[i].bytes, source->bytes));
    output_format(out, "  %" PRIu64 " syncs", source->syncs);
    if (source->syncs > 1)
        output_format(out, ", %" PRIu64 " to %" PRIu64 " bytes apart, %.0f on average",
                      source->sync_least, source->sync_most,
                      (double)(source->last_sync - source->first_sync) /
                          (double)(source->syncs - 1));
    output_text(out, "\n");
    print_flow(stats, source);
    output_format(out,
                  "  lost: %" PRIu64 " bad packets, %" PRIu64 " errors, %" PRIu64
                  " overflows, %" PRIu64 " discards, %" PRIu64 " bytes without sync\n",
                  source->bad, source->flow.errors, source->overflows, source->discards,
                  source->unsynced);
}

static void print_json(struct stats *stats, const char *buffer, unsigned id,
                       const struct source_count *source)
{
    struct output *out = &stats->out;

    for (size_t i = 0; i < 256 && source->kinds[i].name; i++) {
        output_format(out, "{\"id\":%u,\"t\":\"PACKETS\"", id);
        if (buffer) {
            output_text(out, ",\"buf\":");
            output_json_text(out, buffer);
        }
        output_format(out, ",\"type\":\"%s\",\"packets\":%" PRIu64 ",\"bytes\":%" PRIu64 "}\n",
                      source->kinds[i].name, source->kinds[i].packets, source->kinds[i].bytes);
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
                  source->sync_least, source->sync_most, source->flow.instructions,
                  source->flow.exceptions, source->flow.missing, source->flow.cycles);
    if (source->flow.times)
        output_format(
            out, ",\"timestamps\":%" PRIu64 ",\"ts_first\":%" PRIu64 ",\"ts_last\":%" PRIu64,
            source->flow.times, source->flow.first_time, source->flow.last_time);
    if (seconds_of(stats, source) > 0)
        output_format(out, ",\"seconds\":%.9f,\"bytes_per_second\":%.0f",
                      seconds_of(stats, source),
                      (double)source->bytes / seconds_of(stats, source));
    output_format(out,
                  ",\"bad\":%" PRIu64 ",\"errors\":%" PRIu64 ",\"overflows\":%" PRIu64
                  ",\"discards\":%" PRIu64 ",\"unsynced\":%" PRIu64 "}\n",
                  source->bad, source->flow.errors, source->overflows, source->discards,
                  source->unsynced);
}

/* The pass that reads packets, with a tree of its own. */
struct packet_pass {
    struct stats *stats;
    struct session session;
    struct attribution seen;
    bool is_good;
};

static struct packet_pass *packet_pass_new(struct stats *stats, const struct session *session)
{
    struct packet_pass *pass = calloc(1, sizeof *pass);

    if (!pass) {
        say("out of memory");
        return NULL;
    }
    pass->stats = stats;
    pass->session = *session;
    pass->session.tree = NULL;
    pass->session.seen = &pass->seen;
    pass->session.progress = NULL; /* the other pass tells of it */
    return pass;
}

static void *read_packets(void *context)
{
    struct packet_pass *pass = context;

    pass->is_good = pass->session.tree && count_packets(pass->stats, &pass->session);
    return NULL;
}

/* One pass decodes, another one reads packets: at the same time where there are threads.  Of
   perf.data, both would write down whose trace it is. */
static bool count_all(struct stats *stats, struct session *session, size_t buffer)
{
    struct packet_pass *pass = packet_pass_new(stats, session);
    bool is_apart = false, is_good;
    pthread_t thread;

    if (!pass)
        return false;
    if (!session->perf && session_threads(session) > 1 &&
        session_start(&pass->session, buffer, true) == STARTED)
        is_apart = pthread_create(&thread, NULL, read_packets, pass) == 0;
    is_good = count_elements(stats, session);
    if (is_apart)
        (void)pthread_join(thread, NULL);
    session_stop(session);
    if (!is_apart && is_good) {
        if (!pass->session.tree)
            (void)session_start(&pass->session, buffer, true);
        (void)read_packets(pass);
    }
    is_good &= pass->is_good;
    tw_tree_free(pass->session.tree); /* what it lost, the other pass counted */
    free(pass);
    return is_good;
}

static bool count_and_print(void *context, struct session *session, size_t buffer)
{
    struct stats *stats = context;
    const char *name = tw_capture_buffer(session->capture, buffer)->name;
    const bool has_several = session_has_several(session);

    memset(stats->sources, 0, 128 * sizeof *stats->sources);
    if (!count_all(stats, session, buffer))
        return false;
    if (has_several && !stats->is_json)
        output_format(&stats->out, "buffer %s\n", name);
    for (unsigned id = 0; id < 128; id++) {
        struct source_count *source = &stats->sources[id];

        if (session->source_of[id] == TW_NONE || !source->packets)
            continue;
        qsort(source->kinds, 256, sizeof source->kinds[0], by_bytes);
        if (stats->is_json)
            print_json(stats, has_several ? name : NULL, id, source);
        else
            print_text(stats, id, source);
    }
    return true;
}

static int run(const struct options *options)
{
    struct stats stats = {
        .options = options,
        .sources = calloc(128, sizeof *stats.sources),
        .is_json = options_format_is(options, "jsonl"),
    };
    struct session session = { .options = options };
    const struct tw_counter counter = { .size = sizeof counter,
                                        .tally_size = sizeof(struct flow),
                                        .context = &stats,
                                        .count = count_batch,
                                        .merge = add_flow };
    int status = NOT_DONE;

    stats.session = &session;

    if (!stats.sources) {
        say("out of memory");
        return NOT_DONE;
    }
    status = session_open(&session, options);
    if (status == DONE && !output_open(&stats.out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        session.out = &stats.out;
        session.counter = session.perf ? NULL : &counter;
        status = session_run(&session, false, count_and_print, &stats);
    }
    if (!output_close(&stats.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    free(stats.sources);
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    O_BUFFER,   O_ID,          O_SOURCE,        O_FROM,       O_TO,         O_FRAMING,
    O_PROTOCOL, O_CONFIG,      O_ARCH,          O_NO_BARRIER, O_WRAPPED_AT, O_STRIP_STOP,
    O_ON_ERROR, O_ASSUME_SYNC, O_ALLOW_OUTSIDE, O_SYSROOT,    O_SYMFS,      O_KERNEL,
    O_VDSO,     O_BUILD_IDS,   O_IMAGE,         O_CLOCK,      O_OUTPUT,     O_COLOR,
    O_THREADS,  O_PROGRESS,    O_QUIET,         O_VERBOSE,    O_END,
};

const struct command command_stats = {
    .name = "stats",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "counts: packets and bytes by type, bandwidth, syncs, losses",
    .formats = "text|jsonl",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
