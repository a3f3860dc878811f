/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway timeline: what happened when. */
#include "commands/timeline.h"

#include <inttypes.h>
#include <string.h>

#include <trackway/formats.h>
#include <trackway/version.h>

#include "base/platform.h"
#include "commands/commands.h"
#include "shared/advice.h"
#include "shared/choices.h"
#include "shared/feed.h"
#include "shared/folder.h"

struct timeline_command {
    struct output out;
    struct folder folder; /* in place of `out`, where the format is one */
    bool is_folder;
    const struct options *options;
    struct tw_timeline *timeline;
    struct tw_timeline_writer *writer; /* NULL: text */
    struct timeline_text text;
    uint64_t limit, count;
    bool is_over; /* the limit is reached */
};

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct timeline_command *command = context;
    const enum tw_status status = tw_timeline_take(command->timeline, run, part);

    return status == TW_OK && output_is_over(&command->out) ? TW_E_CANCELLED : status;
}

static bool write_bytes(void *context, const void *bytes, size_t size)
{
    struct output *out = context;

    output_bytes(out, bytes, size);
    return !output_is_over(out);
}

/* What is open at the limit is left open. */
static void put_event(void *context, const struct tw_timeline_event *event)
{
    struct timeline_command *command = context;

    if (event->kind != TW_TIMELINE_END && ++command->count > command->limit)
        command->is_over = true;
    if (command->is_over)
        return;
    if (command->writer)
        tw_timeline_writer_take(command->writer, event);
    else
        timeline_text_take(&command->text, event);
}

static uint64_t limit_of(const struct options *options)
{
    if (options->limit.is_given)
        return options->limit.value;
    return options_format_is(options, "perfetto") ? 5000000
           : options_format_is(options, "chrome") ? 2000000
                                                  : UINT64_MAX;
}

static enum tw_status make(struct timeline_command *command, const struct tw_subject *given,
                           struct tw_fault *fault)
{
    const struct options *options = command->options;
    const struct tw_timeline_config config = {
        .size = sizeof config,
        .key = call_key_of(options),
        .unit = time_unit_of(options),
        .core_type = options->arch,
        .is_logical = options->tail_calls && strcmp(options->tail_calls, "logical") == 0,
        .least = options->min_duration.is_given ? options->min_duration.value : 0,
        .depth_most = options->depth.is_given && options->depth.value < UINT32_MAX
                          ? (uint32_t)options->depth.value
                          : 0,
        .event = put_event,
        .context = command,
    };
    const struct tw_format *format =
        tw_format_by_name(options->format ? options->format : "text", TW_SUBJECT_TIMELINE);
    struct tw_subject subject = *given;
    enum tw_status status = tw_timeline_new(&command->timeline, &config, fault);

    subject.timeline = command->timeline;
    subject.write_file = folder_write;
    subject.file_context = &command->folder;
    command->text = (struct timeline_text){ .out = &command->out,
                                            .timeline = command->timeline,
                                            .clock = subject.clock };
    if (status != TW_OK || !format)
        return status;
    return tw_timeline_writer_new(&command->writer, format, &subject, write_bytes,
                                  &command->out, fault);
}

static void summarize(const struct timeline_command *command)
{
    struct tw_timeline_stats stats = { .size = sizeof stats };

    if (command->options->quiet || !tw_timeline_stats(command->timeline, &stats))
        return;
    say("%" PRIu64 " spans, %" PRIu64 " marks, %" PRIu64 " merged; %" PRIu64
        " gaps; times count %s",
        stats.spans, stats.marks, stats.merged, stats.gaps,
        tw_time_unit_name(tw_timeline_unit(command->timeline)));
    advise_functions(tw_timeline_functions(command->timeline));
    advise_code(stats.missing);
    if (stats.backwards)
        say("%" PRIu64 " timestamps were less than the one before", stats.backwards);
    if (command->is_over)
        say("only the first %" PRIu64
            " spans and marks were written: see --limit, --from, --to, "
            "--depth, --min-duration",
            command->limit);
}

/* The rest of the output; DONE, or why not. */
static int finish(struct timeline_command *command)
{
    enum tw_status status = tw_timeline_finish(command->timeline);

    if (command->writer && status == TW_OK)
        status = tw_timeline_writer_end(command->writer);
    else if (status == TW_OK)
        timeline_text_end(&command->text);
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

/* False: said why. */
static bool open_output(struct timeline_command *command)
{
    const struct options *options = command->options;

    if (!command->is_folder)
        return output_open(&command->out, options->output, options->color);
    if (!options->output) {
        say("timeline: ctf is a folder: give it a name with --output");
        return false;
    }
    return folder_open(&command->folder, options->output);
}

static bool close_output(struct timeline_command *command, bool keep)
{
    return command->is_folder ? folder_close(&command->folder, keep)
                              : output_close(&command->out, keep);
}

static int run(const struct options *options)
{
    struct timeline_command command = { .options = options, .limit = limit_of(options) };
    /* a place is found by the index, in the order of the bytes */
    struct feed feed = { .order = options->at ? TW_ORDER_CAPTURE : TW_ORDER_TIME };
    char creator[64];
    const char *path = options->arguments.items[0], *slash = tw_last_slash(path);
    struct tw_subject subject = { .size = sizeof subject,
                                  .title = slash && slash[1] ? slash + 1 : path,
                                  .creator = creator,
                                  .clock = options->clock.is_given ? options->clock.value : 0 };
    struct tw_fault fault;
    int status, printed = NOT_DONE;

    (void)snprintf(creator, sizeof creator, "trackway %s", tw_version());
    command.is_folder = options_format_is(options, "ctf");
    if (!open_output(&command))
        return NOT_DONE;
    if (make(&command, &subject, &fault) == TW_OK) {
        status = feed_run(&feed, options, take, &command);
    } else {
        say("%s", fault.text);
        status = NOT_DONE;
    }
    if (status == DONE || status == DONE_WITH_LOSS) {
        printed = finish(&command);
        if (printed != DONE)
            status = printed;
        summarize(&command);
    }
    if (!close_output(&command, printed == DONE))
        status = NOT_DONE;
    tw_timeline_writer_free(command.writer);
    tw_timeline_free(command.timeline);
    feed_close(&feed);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART,       G_DECODER, G_EXECUTED,   O_AT,        O_INDEX,
    O_RANGE,   O_FUNCTION,   O_KEY,     O_TAIL_CALLS, O_TIME_UNIT, O_MIN_DURATION,
    O_DEPTH,   O_SPAN_LIMIT, G_OUTPUT,  O_END,
};

const struct command command_timeline = {
    .name = "timeline",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "what happened when: functions, exceptions, gaps, messages in one clock",
    .details =
        "A line for each function entered and left, with its time: between two timestamps it\n"
        "is estimated (~) by the cycles or instructions executed, and the interval that is\n"
        "known stands in jsonl (lo, hi). Exceptions, threads on their cores, ITM and STM\n"
        "messages, data watches, PC samples and gaps have tracks of their own.\n"
        "\n"
        "perfetto is for ui.perfetto.dev, chrome the same as JSON, ctf a folder for\n"
        "babeltrace2 and Trace Compass, vcd for waveform viewers: there 1 ns stands for what\n"
        "times count, unless --clock says how fast that is. svg is one picture, of bounded\n"
        "size: each column shows what took most of its time, and tells what it leaves out.\n"
        "\n"
        "examples:\n"
        "  trackway timeline snapshot --from t:1000 --to t:2000\n"
        "  trackway timeline snapshot --at 1000 --to t:2000     (the same, by the index)\n"
        "  trackway timeline perf.data --min-duration 1000 --format perfetto -o t.pb",
    .formats = "text|jsonl|csv|perfetto|chrome|ctf|vcd|svg",
    .options = takes,
    .least = 1,
    .most = 4096,
    .is_confined = true,
    .run = run,
};
