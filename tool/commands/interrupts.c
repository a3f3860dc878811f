/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway interrupts: how often, how long, how regularly exceptions come, and what they interrupt. */
#include <inttypes.h>
#include <string.h>

#include <trackway/interrupts.h>

#include "commands/commands.h"
#include "shared/advice.h"
#include "shared/choices.h"
#include "shared/feed.h"

enum interrupts_format { INTERRUPTS_TEXT, INTERRUPTS_JSON, INTERRUPTS_CSV };
enum { INTERRUPTED_SHOWN = 5, SPARKS = 9 };

struct interrupts_command {
    struct output out;
    const struct options *options;
    enum interrupts_format format;
    struct tw_timeline *timeline;
    struct tw_interrupts *interrupts;
    bool has_head;
    bool is_out;
};

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct interrupts_command *command = context;

    return tw_timeline_take(command->timeline, run, part);
}

static void take_event(void *context, const struct tw_timeline_event *event)
{
    struct interrupts_command *command = context;

    if (tw_interrupts_take(command->interrupts, event) != TW_OK)
        command->is_out = true;
}

static const char *unit_of(const struct interrupts_command *command)
{
    return tw_time_unit_name(tw_timeline_unit(command->timeline));
}

static const char *function_name(const struct interrupts_command *command, uint32_t function)
{
    const struct tw_function *found =
        tw_functions_get(tw_timeline_functions(command->timeline), function);

    return found ? found->name : "?";
}

/* ---- one line for each exception ---- */

static void put_csv_text(struct output *out, const char *text)
{
    output_text(out, "\"");
    for (; *text; text++)
        output_format(out, *text == '"' ? "\"\"" : "%c", *text);
    output_text(out, "\"");
}

static void put_time(struct output *out, const char *key, uint64_t time)
{
    if (time == TW_TIME_UNKNOWN)
        output_format(out, ",\"%s\":null", key);
    else
        output_format(out, ",\"%s\":%" PRIu64, key, time);
}

static void event_json(struct interrupts_command *command,
                       const struct tw_interrupt_event *event)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, event->track);

    output_format(out,
                  "{\"t\":\"INTERRUPT\",\"i\":%" PRIu64 ",\"id\":%u,\"num\":%" PRIu32
                  ",\"name\":\"%s\"",
                  event->begin->index, track->id, event->number, track->name);
    put_time(out, "entry", event->begin->times.estimate);
    put_time(out, "exit", event->end->times.estimate);
    put_time(out, "lo", event->begin->times.low);
    put_time(out, "hi", event->end->times.high);
    output_format(out,
                  ",\"n0\":%" PRIu64 ",\"n1\":%" PRIu64 ",\"depth\":%" PRIu32 ",\"tail\":%s",
                  event->begin->instructions, event->end->instructions, event->begin->depth,
                  event->begin->how == TW_EXCEPTION_CHAINED ? "true" : "false");
    if (event->has_lengths)
        output_format(out, ",\"gross\":%" PRIu64 ",\"net\":%" PRIu64, event->gross, event->net);
    else
        output_text(out, ",\"open\":true");
    if (event->interrupted != TW_NONE) {
        output_text(out, ",\"interrupted\":");
        output_json_text(out, function_name(command, event->interrupted));
    }
    if (event->begin->has_address)
        output_format(out, ",\"ret\":\"0x%" PRIx64 "\"", event->begin->address);
    if (event->under != TW_NONE)
        output_format(out, ",\"under\":%" PRIu32,
                      tw_timeline_track(command->timeline, event->under)->number);
    output_text(out, "}\n");
}

static void event_csv(struct interrupts_command *command,
                      const struct tw_interrupt_event *event)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, event->track);

    if (!command->has_head)
        output_text(out, "id,num,name,entry,exit,n0,n1,depth,tail,gross,net,interrupted\r\n");
    command->has_head = true;
    output_format(out, "%u,%" PRIu32 ",", track->id, event->number);
    put_csv_text(out, track->name);
    output_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%d,",
                  event->begin->times.estimate, event->end->times.estimate,
                  event->begin->instructions, event->end->instructions, event->begin->depth,
                  event->begin->how == TW_EXCEPTION_CHAINED);
    if (event->has_lengths)
        output_format(out, "%" PRIu64 ",%" PRIu64 ",", event->gross, event->net);
    else
        output_text(out, ",,");
    if (event->interrupted != TW_NONE)
        put_csv_text(out, function_name(command, event->interrupted));
    output_text(out, "\r\n");
}

static void event_text(struct interrupts_command *command,
                       const struct tw_interrupt_event *event)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, event->track);

    if (!command->has_head) {
        output_color(out, BOLD);
        output_format(out, "%14s %14s %10s %10s  exception (in %s)\n", "entry", "exit", "gross",
                      "net", unit_of(command));
        output_color(out, PLAIN);
    }
    command->has_head = true;
    output_format(out, "%14" PRIu64 " %14" PRIu64 " ", event->begin->times.estimate,
                  event->end->times.estimate);
    if (event->has_lengths)
        output_format(out, "%10" PRIu64 " %10" PRIu64 "  ", event->gross, event->net);
    else
        output_format(out, "%10s %10s  ", "?", "?");
    for (uint32_t i = 0; i < event->begin->depth && i < 16; i++)
        output_text(out, "| ");
    output_name(out, track->name);
    if (event->begin->how == TW_EXCEPTION_CHAINED)
        output_text(out, ", chained");
    if (event->interrupted != TW_NONE) {
        output_text(out, "  interrupts ");
        output_name(out, function_name(command, event->interrupted));
    }
    output_text(out, "\n");
}

static void put_event(void *context, const struct tw_interrupt_event *event)
{
    struct interrupts_command *command = context;

    if (command->format == INTERRUPTS_JSON)
        event_json(command, event);
    else if (command->format == INTERRUPTS_CSV)
        event_csv(command, event);
    else
        event_text(command, event);
}

/* ---- the table ---- */

static double mean(const struct tw_interrupt_lengths *lengths)
{
    return lengths->count ? (double)lengths->sum / (double)lengths->count : 0.0;
}

static void put_lengths(struct output *out, const char *key,
                        const struct tw_interrupt_lengths *lengths)
{
    output_format(out, ",\"%s\":{", key);
    if (lengths->count)
        output_format(out,
                      "\"min\":%" PRIu64 ",\"mean\":%.3f,\"max\":%" PRIu64 ",\"sum\":%" PRIu64,
                      lengths->least, mean(lengths), lengths->most, lengths->sum);
    output_text(out, "}");
}

static void put_interrupted(struct interrupts_command *command, const struct tw_interrupt *row)
{
    struct output *out = &command->out;

    output_text(out, ",\"interrupted\":[");
    for (size_t i = 0; i < row->interrupted_count; i++) {
        output_text(out, i ? ",{\"name\":" : "{\"name\":");
        output_json_text(out, function_name(command, row->interrupted[i].function));
        output_format(out, ",\"count\":%" PRIu64 "}", row->interrupted[i].count);
    }
    output_text(out, "]");
}

static void row_json(struct interrupts_command *command, const struct tw_interrupt *row)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, row->track);

    output_format(out,
                  "{\"t\":\"EXCEPTION\",\"num\":%" PRIu32 ",\"name\":\"%s\",\"count\":%" PRIu64,
                  row->number, track->name, row->count);
    put_lengths(out, "net", &row->net);
    put_lengths(out, "gross", &row->gross);
    output_format(out, ",\"unit\":\"%s\",\"nested\":%" PRIu64, unit_of(command), row->nested);
    put_interrupted(command, row);
    output_format(out, ",\"id\":%u", track->id);
    if (track->source) {
        output_text(out, ",\"source\":");
        output_json_text(out, track->source);
    }
    output_format(out,
                  ",\"tail\":%" PRIu64 ",\"preempted\":%" PRIu64 ",\"open\":%" PRIu64
                  ",\"depth\":%" PRIu32 ",\"estimated\":%" PRIu64,
                  row->chained, row->preempted, row->open, row->depth, row->estimated);
    put_lengths(out, "period", &row->period);
    output_format(out, ",\"jitter\":%" PRIu64, row->period.most - row->period.least);
    put_lengths(out, "instructions", &row->instructions);
    output_text(out, "}\n");
}

static void csv_lengths(struct output *out, const struct tw_interrupt_lengths *lengths)
{
    if (lengths->count)
        output_format(out, ",%" PRIu64 ",%.3f,%" PRIu64, lengths->least, mean(lengths),
                      lengths->most);
    else
        output_text(out, ",,,");
}

static void row_csv(struct interrupts_command *command, const struct tw_interrupt *row,
                    bool is_first)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, row->track);

    if (is_first)
        output_text(out, "id,num,name,count,nested,tail,preempted,open,unit,net_min,net_mean,"
                         "net_max,gross_min,gross_mean,gross_max,period_min,period_mean,"
                         "period_max,jitter\r\n");
    output_format(out, "%u,%" PRIu32 ",", track->id, row->number);
    put_csv_text(out, track->name);
    output_format(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s",
                  row->count, row->nested, row->chained, row->preempted, row->open,
                  unit_of(command));
    csv_lengths(out, &row->net);
    csv_lengths(out, &row->gross);
    csv_lengths(out, &row->period);
    output_format(out, ",%" PRIu64 "\r\n", row->period.most - row->period.least);
}

static void text_lengths(struct output *out, const struct tw_interrupt_lengths *lengths)
{
    if (lengths->count)
        output_format(out, " %8" PRIu64 " %10.1f %8" PRIu64, lengths->least, mean(lengths),
                      lengths->most);
    else
        output_format(out, " %8s %10s %8s", "-", "-", "-");
}

/* How the lengths are spread: a character for each power of two, the higher the more. */
static void put_spread(struct output *out, const struct tw_interrupt_lengths *lengths)
{
    static const char sparks[SPARKS + 1] = " .:-=+*#@";
    uint64_t most = 0;
    unsigned first = TW_INTERRUPT_BUCKETS, last = 0;

    for (unsigned i = 0; i < TW_INTERRUPT_BUCKETS; i++) {
        if (!lengths->buckets[i])
            continue;
        if (first == TW_INTERRUPT_BUCKETS)
            first = i;
        last = i;
        if (lengths->buckets[i] > most)
            most = lengths->buckets[i];
    }
    if (!most)
        return;
    output_format(out, "2^%u [", first ? first - 1 : 0);
    for (unsigned i = first; i <= last; i++)
        output_format(
            out, "%c",
            lengths->buckets[i] ? sparks[1 + (SPARKS - 2) * lengths->buckets[i] / most] : ' ');
    output_format(out, "] 2^%u", last);
}

static void row_text(struct interrupts_command *command, const struct tw_interrupt *row)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, row->track);

    output_format(out, "%4" PRIu32 "  %-16s %8" PRIu64 " %7" PRIu64 " %7" PRIu64,
                  row->number & 0x7fffffff, track->name, row->count, row->nested, row->chained);
    text_lengths(out, &row->net);
    text_lengths(out, &row->gross);
    if (row->period.count)
        output_format(out, " %12.1f %10" PRIu64 "\n", mean(&row->period),
                      row->period.most - row->period.least);
    else
        output_format(out, " %12s %10s\n", "-", "-");
    output_color(out, DIM);
    output_text(out, "      net ");
    put_spread(out, &row->net);
    if (row->depth)
        output_format(out, "  deepest %" PRIu32, row->depth + 1);
    if (row->preempted)
        output_format(out, "  preempted %" PRIu64, row->preempted);
    if (row->open)
        output_format(out, "  %" PRIu64 " not whole", row->open);
    for (size_t i = 0; i < row->interrupted_count && i < INTERRUPTED_SHOWN; i++) {
        if (row->interrupted[i].function == TW_NONE)
            continue;
        output_text(out, i ? ", " : "  interrupts ");
        output_name(out, function_name(command, row->interrupted[i].function));
        output_format(out, " %" PRIu64, row->interrupted[i].count);
    }
    output_color(out, PLAIN);
    output_text(out, "\n");
}

/* A line over the rows of each source. */
static void source_text(struct interrupts_command *command, uint32_t number)
{
    struct output *out = &command->out;
    const struct tw_track *track = tw_timeline_track(command->timeline, number);

    output_color(out, BOLD);
    output_name(out, track->core ? track->core : track->source ? track->source : "trace");
    if (track->core && track->source)
        output_format(out, " (%s)", track->source);
    output_format(out, ", id 0x%02x, in %s\n", track->id, unit_of(command));
    output_format(out, "%4s  %-16s %8s %7s %7s %8s %10s %8s %8s %10s %8s %12s %10s\n", "num",
                  "name", "count", "nested", "chained", "net min", "mean", "max", "gross min",
                  "mean", "max", "period mean", "jitter");
    output_color(out, PLAIN);
}

/* ---- what both the flow and the DWT tell of ---- */

/* The only row of an exception that the DWT told of, or the flow; SIZE_MAX: there is none, or several, and who
   goes with whom is not known. */
static size_t only_row(struct interrupts_command *command, uint32_t number, bool is_dwt)
{
    const struct tw_interrupt *row;
    size_t found = SIZE_MAX;

    for (size_t i = 0; (row = tw_interrupts_get(command->interrupts, i)) != NULL; i++) {
        const struct tw_track *track = tw_timeline_track(command->timeline, row->track);

        if (row->number != number || !track->is_m_profile || track->is_dwt != is_dwt)
            continue;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = i;
    }
    return found;
}

/* Whose times are shown.  The DWT counts no instructions. */
static const struct tw_interrupt *times_of(const struct interrupts_command *command,
                                           const struct tw_interrupt *flow,
                                           const struct tw_interrupt *dwt)
{
    return tw_timeline_unit(command->timeline) != TW_UNIT_INSTRUCTIONS &&
                   dwt->gross.count >= flow->gross.count
               ? dwt
               : flow;
}

static void joined_json(struct interrupts_command *command, const struct tw_interrupt *flow,
                        const struct tw_interrupt *dwt)
{
    const struct tw_interrupt *times = times_of(command, flow, dwt);
    const struct tw_track *track = tw_timeline_track(command->timeline, flow->track);
    struct output *out = &command->out;

    output_format(out,
                  "{\"t\":\"JOINED\",\"num\":%" PRIu32 ",\"name\":\"%s\",\"count\":%" PRIu64
                  ",\"flow\":%" PRIu64 ",\"dwt\":%" PRIu64 ",\"times\":\"%s\"",
                  flow->number, track->name,
                  flow->count > dwt->count ? flow->count : dwt->count, flow->count, dwt->count,
                  times == dwt ? "dwt" : "flow");
    put_lengths(out, "net", &times->net);
    put_lengths(out, "gross", &times->gross);
    put_lengths(out, "period", &times->period);
    output_format(out, ",\"jitter\":%" PRIu64, times->period.most - times->period.least);
    put_lengths(out, "instructions", &flow->instructions);
    put_interrupted(command, flow);
    output_text(out, "}\n");
}

static void joined_text(struct interrupts_command *command, const struct tw_interrupt *flow,
                        const struct tw_interrupt *dwt)
{
    const struct tw_interrupt *times = times_of(command, flow, dwt);
    struct output *out = &command->out;

    output_format(out, "%4" PRIu32 "  %-16s %8" PRIu64 " %8" PRIu64, flow->number,
                  tw_timeline_track(command->timeline, flow->track)->name, flow->count,
                  dwt->count);
    text_lengths(out, &times->net);
    text_lengths(out, &times->gross);
    if (flow->instructions.count)
        output_format(out, " %12.1f", mean(&flow->instructions));
    else
        output_format(out, " %12s", "-");
    output_format(out, "%s\n",
                  flow->count != dwt->count ? "  they differ: one of them lost some" : "");
}

/* Times of the DWT, which tells of each entry and exit at once, beside what the flow knows: what was
   executed, and what was interrupted. */
static void print_joined(struct interrupts_command *command)
{
    const struct tw_interrupt *row;
    bool has_head = false;

    for (size_t i = 0; (row = tw_interrupts_get(command->interrupts, i)) != NULL; i++) {
        const size_t other = only_row(command, row->number, true);
        struct tw_interrupt dwt;

        if (other == SIZE_MAX || only_row(command, row->number, false) != i)
            continue;
        dwt = *tw_interrupts_get(command->interrupts, other);
        row = tw_interrupts_get(command->interrupts, i);
        if (command->format == INTERRUPTS_JSON) {
            joined_json(command, row, &dwt);
            continue;
        }
        if (!has_head) {
            output_color(&command->out, BOLD);
            output_format(&command->out,
                          "\nfrom both, in %s\n%4s  %-16s %8s %8s %8s %10s %8s %8s %10s %8s "
                          "%12s\n",
                          unit_of(command), "num", "name", "flow", "DWT", "net min", "mean",
                          "max", "gross min", "mean", "max", "instructions");
            output_color(&command->out, PLAIN);
        }
        has_head = true;
        joined_text(command, row, &dwt);
    }
}

static void print(struct interrupts_command *command)
{
    const struct tw_interrupt *row;
    uint32_t stream = TW_NONE;
    bool is_dwt = false;

    for (size_t i = 0; (row = tw_interrupts_get(command->interrupts, i)) != NULL; i++) {
        const struct tw_track *track = tw_timeline_track(command->timeline, row->track);

        if (command->format == INTERRUPTS_JSON) {
            row_json(command, row);
        } else if (command->format == INTERRUPTS_CSV) {
            row_csv(command, row, i == 0);
        } else {
            if (track->stream != stream || track->is_dwt != is_dwt)
                source_text(command, row->track);
            stream = track->stream;
            is_dwt = track->is_dwt;
            row_text(command, row);
        }
    }
    if (command->format != INTERRUPTS_CSV)
        print_joined(command);
    if (!tw_interrupts_get(command->interrupts, 0) && !command->options->quiet)
        say("no exceptions in this trace");
}

/* What has no name, or is not there at all. */
static void say_missing(const struct interrupts_command *command)
{
    struct tw_timeline_stats stats = { .size = sizeof stats };

    if (command->options->quiet || !tw_timeline_stats(command->timeline, &stats))
        return;
    advise_functions(tw_timeline_functions(command->timeline));
    advise_code(stats.missing);
}

/* ---- the command ---- */

static enum tw_status make(struct interrupts_command *command, struct tw_fault *fault)
{
    const struct options *options = command->options;
    const struct tw_timeline_config config = {
        .size = sizeof config,
        .unit = time_unit_of(options),
        .core_type = options->arch,
        .event = take_event,
        .context = command,
    };
    struct tw_interrupts_config about = { .size = sizeof about,
                                          .event = options->events ? put_event : NULL,
                                          .context = command };
    enum tw_status status = tw_timeline_new(&command->timeline, &config, fault);

    about.timeline = command->timeline;
    return status == TW_OK ? tw_interrupts_new(&command->interrupts, &about, fault) : status;
}

static int run(const struct options *options)
{
    struct interrupts_command command = {
        .options = options,
        .format = options_format_is(options, "jsonl") ? INTERRUPTS_JSON
                  : options_format_is(options, "csv") ? INTERRUPTS_CSV
                                                      : INTERRUPTS_TEXT,
    };
    struct feed feed = { .order = TW_ORDER_TIME };
    struct tw_fault fault;
    int status = NOT_DONE;

    if (!output_open(&command.out, options->output, options->color))
        return NOT_DONE;
    if (make(&command, &fault) == TW_OK)
        status = feed_run(&feed, options, take, &command);
    else
        say("%s", fault.text);
    if (status == DONE || status == DONE_WITH_LOSS) {
        if (tw_timeline_finish(command.timeline) != TW_OK || command.is_out) {
            say("out of memory");
            status = NOT_DONE;
        } else if (!options->events) {
            print(&command);
        }
        say_missing(&command);
    }
    if (!output_close(&command.out, status != NOT_DONE))
        status = NOT_DONE;
    tw_interrupts_free(command.interrupts);
    tw_timeline_free(command.timeline);
    feed_close(&feed);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART, G_DECODER, G_EXECUTED, O_TIME_UNIT, O_EACH_EVENT, G_OUTPUT, O_END,
};

const struct command command_interrupts = {
    .name = "interrupts",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "how often, how long and how regularly exceptions come, and what they interrupt",
    .details =
        "From the program flow (ETM, E-Trace ...), from the DWT's exception trace, or from\n"
        "both: each for itself, and joined where both tell of one, with the times of the DWT\n"
        "and what the flow knows. net is the time in the handler, gross also that of the\n"
        "exceptions inside it; period is the time from one entry to the next, jitter the\n"
        "difference of the longest and the shortest; chained are those that follow another\n"
        "one without a return. On M profile numbers are those of the architecture.\n"
        "\n"
        "examples:\n"
        "  trackway interrupts snapshot --symbols firmware.elf\n"
        "  trackway interrupts swo.bin --protocol itm --events --format jsonl",
    .formats = "text|jsonl|csv",
    .options = takes,
    .least = 1,
    .most = 4096,
    .is_confined = true,
    .run = run,
};
