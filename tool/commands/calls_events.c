/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway calls --events: every call and return, in the order in which the trace shows them. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands/calls.h"

/* The interval of the part before on the same thread: a branch right before a timestamp is seen after
   it. */
struct seen {
    uint64_t instructions; /* of the thread when the part began */
    struct tw_when now, before;
};

struct events_command {
    struct output out;
    struct tw_calls *calls;
    struct names names;
    const struct tw_part *part;
    struct seen *seen; /* by thread */
    size_t count;
    bool is_csv;
    uint64_t written;
};

static struct seen *seen_of(struct events_command *command, uint32_t thread)
{
    if (thread >= command->count) {
        struct seen *more =
            realloc(command->seen, ((size_t)thread + 1) * sizeof *command->seen);

        if (!more)
            return NULL;
        command->seen = more;
        for (; command->count <= thread; command->count++)
            more[command->count] =
                (struct seen){ 0, { 0, UINT64_MAX, 0 }, { 0, UINT64_MAX, 0 } };
    }
    return &command->seen[thread];
}

static void put_time(struct events_command *command, const char *key, uint64_t value,
                     bool is_known)
{
    if (command->is_csv)
        output_text(&command->out, ",");
    else if (is_known)
        output_format(&command->out, ",\"%s\":", key);
    if (is_known)
        output_decimal(&command->out, value);
}

static void put_when(struct events_command *command, const struct tw_call_event *event)
{
    const struct seen *seen = seen_of(command, event->thread);
    struct tw_when when = { 0, UINT64_MAX, TW_CLOCK_NONE };

    if (seen) {
        when = seen->now;
        if (event->instructions == seen->instructions && seen->now.not_before) {
            when.not_before = seen->before.not_before;
            when.not_after = seen->now.not_before;
        }
    }
    put_time(command, "lo", when.not_before, when.clock != TW_CLOCK_NONE && when.not_before);
    put_time(command, "hi", when.not_after,
             when.clock != TW_CLOCK_NONE && when.not_after != UINT64_MAX);
}

static void put_thread(struct events_command *command, uint32_t number)
{
    const struct tw_call_thread *thread = tw_calls_thread(command->calls, number);

    if (thread->tid != UINT64_MAX)
        output_format(&command->out, ",\"tid\":%" PRIu64, thread->tid);
    if (thread->context != UINT64_MAX)
        output_format(&command->out, ",\"cid\":%" PRIu64, thread->context);
}

static void put_json(struct events_command *command, const struct tw_call_event *event,
                     const char *name, const char *kind)
{
    struct output *out = &command->out;

    output_format(out, "{\"i\":%" PRIu64 ",\"id\":%u,\"t\":\"%s\",\"n\":%" PRIu64, event->index,
                  command->part ? command->part->batch.id : 0,
                  event->is_leave ? "LEAVE" : "ENTER", event->instructions);
    output_text(out, ",\"from\":\"");
    output_address(out, event->from);
    output_text(out, "\",\"to\":\"");
    output_address(out, event->to);
    output_text(out, "\",\"name\":");
    output_json_text(out, name);
    output_format(out, ",\"kind\":\"%s\",\"depth\":%" PRIu32, kind, event->depth);
    put_thread(command, event->thread);
    put_when(command, event);
    output_text(out, "}\n");
}

static void put_csv(struct events_command *command, const struct tw_call_event *event,
                    const char *name, const char *kind)
{
    struct output *out = &command->out;

    output_format(out, "%" PRIu64 ",%u,%s,%" PRIu64 ",", event->index,
                  command->part ? command->part->batch.id : 0,
                  event->is_leave ? "LEAVE" : "ENTER", event->instructions);
    output_address(out, event->from);
    output_text(out, ",");
    output_address(out, event->to);
    output_text(out, ",\"");
    for (; *name; name++)
        output_text(out, (char[]){ *name, *name == '"' ? '"' : 0, 0 });
    output_format(out, "\",%s,%" PRIu32, kind, event->depth);
    put_when(command, event);
    output_text(out, "\n");
}

static void take_event(void *context, const struct tw_call_event *event)
{
    struct events_command *command = context;
    const char *name =
        names_show(&command->names,
                   tw_functions_get(tw_calls_functions(command->calls), event->function)->name);
    const char *kind =
        event->is_leave ? tw_leave_kind_name(event->kind) : tw_call_kind_name(event->kind);

    command->written++;
    (command->is_csv ? put_csv : put_json)(command, event, name, kind);
}

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct events_command *command = context;
    enum tw_status status;
    struct seen *seen = NULL;

    if (part->kind == TW_PART_ELEMENTS) {
        const uint32_t thread = tw_calls_thread_number(command->calls, part);

        seen = thread == UINT32_MAX ? NULL : seen_of(command, thread);
        if (!seen)
            return TW_E_MEMORY;
        if (part->when.not_before != seen->now.not_before) {
            seen->before = seen->now;
            seen->instructions = tw_calls_instructions(command->calls, thread);
        }
        seen->now = part->when;
    }
    command->part = part;
    status = tw_calls_take(command->calls, run, part);
    command->part = NULL;
    return status;
}

int calls_print_events(const struct options *options, const struct tw_calls_config *given)
{
    struct tw_calls_config config = *given;
    struct events_command command = { .is_csv = options_format_is(options, "csv") };
    struct feed feed = { .order = TW_ORDER_TIME, .with_not_after = true };
    struct tw_fault fault;
    int status = NOT_DONE;

    config.event = take_event;
    config.context = &command;
    names_open(&command.names, options, false);
    if (tw_calls_new(&command.calls, &config, &fault) != TW_OK)
        say("%s", fault.text);
    else if (output_open(&command.out, options->output, options->color)) {
        if (command.is_csv)
            output_text(&command.out, "i,id,t,n,from,to,name,kind,depth,lo,hi\n");
        status = feed_run(&feed, options, take, &command);
        if ((status == DONE || status == DONE_WITH_LOSS) &&
            tw_calls_finish(command.calls) != TW_OK)
            out_of_memory();
        if (!output_close(&command.out, status == DONE || status == DONE_WITH_LOSS))
            status = NOT_DONE;
        if (!options->quiet)
            say("%" PRIu64 " events", command.written);
    }
    tw_calls_free(command.calls);
    names_close(&command.names);
    free(command.seen);
    feed_close(&feed);
    return status;
}
