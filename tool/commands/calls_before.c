/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway calls --before PLACE, --last N: how did I get here.  The stack at a place of the trace, and
   the last calls or instructions before it, the newest first. */
#include "commands/calls_before.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"

enum { LAST = 20, LAST_MOST = 1 << 20 };

/* ---- the place ---- */

static bool wrong(const struct options *options)
{
    return options_wrong(
        options,
        "--before: \"%s\" is no place; give end, an offset in the capture, "
        "t:TIMESTAMP, n:INSTRUCTIONS, exception:N, trigger:N, pc:ADDRESS[:N] or "
        "function:NAME[:N]",
        options->before);
}

/* ":N" at the end of `text`; 1 if there is none. */
static bool parse_nth(struct before_command *command, char *text)
{
    char *colon = strrchr(text, ':');
    uint64_t nth;

    command->nth = 1;
    if (colon && parse_number(&nth, colon + 1)) {
        *colon = 0;
        command->nth = nth;
    }
    return command->nth != 0;
}

static bool parse_place(struct before_command *command, const struct options *options)
{
    static const struct {
        const char *word;
        enum before_kind kind;
    } words[] = { { "t:", BEFORE_TIME },
                  { "n:", BEFORE_INSTRUCTION },
                  { "exception:", BEFORE_EXCEPTION },
                  { "trigger:", BEFORE_TRIGGER },
                  { "pc:", BEFORE_ADDRESS },
                  { "function:", BEFORE_FUNCTION } };
    const char *text = options->before ? options->before : "end";

    if (strcmp(text, "end") == 0)
        return true;
    command->kind = BEFORE_OFFSET;
    for (size_t i = 0; i < TW_LENGTH(words); i++)
        if (strncmp(text, words[i].word, strlen(words[i].word)) == 0) {
            command->kind = words[i].kind;
            text += strlen(words[i].word);
            break;
        }
    (void)snprintf(command->text, sizeof command->text, "%s", text);
    if (command->kind == BEFORE_ADDRESS || command->kind == BEFORE_FUNCTION) {
        if (!parse_nth(command, command->text) || !command->text[0])
            return wrong(options);
        if (command->kind == BEFORE_FUNCTION)
            return true;
        return parse_number(&command->value, command->text) || wrong(options);
    }
    if (!parse_number(&command->value, text))
        return wrong(options);
    if (command->kind == BEFORE_EXCEPTION || command->kind == BEFORE_TRIGGER) {
        command->nth = command->value;
        return command->nth != 0 || wrong(options);
    }
    return true;
}

/* ---- what came before ---- */

static struct before_step *next_step(struct before_command *command)
{
    struct before_step *step = &command->steps[command->step_count++ % command->room];

    step->run = command->run;
    step->part = *command->part;
    step->part.batch.elements = NULL;
    step->part.batch.count = 0;
    return step;
}

static void keep_stack(struct before_command *command, uint32_t thread)
{
    command->depth = tw_calls_stack_now(command->calls, command->stack, BEFORE_FRAMES, thread);
    command->is_found = true;
}

static void take_event(void *context, const struct tw_call_event *event)
{
    struct before_command *command = context;
    const struct tw_function *function =
        tw_functions_get(tw_calls_functions(command->calls), event->function);

    if (command->is_found || !command->part)
        return;
    if (!command->by_instruction)
        next_step(command)->event = *event;
    if (command->kind != BEFORE_FUNCTION || event->is_leave ||
        strcmp(function->name, command->text) != 0 || --command->nth)
        return;
    command->here = event->to;
    command->has_here = true;
    keep_stack(command, event->thread);
}

/* Where in a part the place is: `at` elements are before it, and of the next one, a range, so many
   instructions.  False: it is not in it. */
static bool find_place(struct before_command *command, const struct tw_part *part, size_t *at,
                       uint32_t *instructions)
{
    *instructions = 0;
    if (command->kind == BEFORE_TIME) {
        *at = 0;
        return part->when.clock != TW_CLOCK_NONE && part->when.not_before >= command->value;
    }
    for (*at = 0; *at < part->batch.count; ++*at) {
        const struct tw_element *element = &part->batch.elements[*at];
        const bool is_range = element->type == TW_ELEMENT_INSTR_RANGE;

        switch (command->kind) {
        case BEFORE_OFFSET:
            if (element->index >= command->value)
                return true;
            break;
        case BEFORE_EXCEPTION:
            if (element->type == TW_ELEMENT_EXCEPTION && !--command->nth)
                return true;
            break;
        case BEFORE_TRIGGER:
            if (element->type == TW_ELEMENT_EVENT && element->kind == TW_EVENT_TRIGGER &&
                !--command->nth)
                return true;
            break;
        case BEFORE_ADDRESS:
            if (is_range && command->value - element->start < element->length &&
                !--command->nth) {
                *instructions = before_instructions(command, part, element, command->value);
                return true;
            }
            break;
        case BEFORE_INSTRUCTION:
            if (is_range && command->executed + element->count > command->value) {
                *instructions = (uint32_t)(command->value - command->executed);
                return true;
            }
            command->executed += is_range ? element->count : 0;
            break;
        default:
            break;
        }
    }
    return false;
}

static enum tw_status take_elements(struct before_command *command, struct tw_run *run,
                                    const struct tw_part *part)
{
    enum tw_status status;

    if (!part->batch.count)
        return TW_OK;
    command->part = part;
    status = tw_calls_take(command->calls, run, part);
    command->thread = tw_calls_thread_number(command->calls, part);
    for (size_t i = 0; command->by_instruction && !command->is_found && i < part->batch.count;
         i++)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
            next_step(command)->range = part->batch.elements[i];
    for (size_t i = part->batch.count; i-- > 0;)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
            command->last = *part;
            command->last_run = run;
            command->last_range = part->batch.elements[i];
            command->has_last = true;
            break;
        }
    command->part = NULL;
    return status;
}

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct before_command *command = context;
    struct tw_part before = *part;
    struct tw_element cut;
    uint32_t instructions;
    enum tw_status status;
    bool is_here;
    size_t at;

    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    command->run = run;
    is_here = find_place(command, part, &at, &instructions);
    before.batch.count = at;
    status = take_elements(command, run, is_here ? &before : part);
    if (status == TW_OK && is_here && instructions) {
        cut = before_cut(command, part, &part->batch.elements[at], instructions);
        before.batch.elements = &cut;
        before.batch.count = 1;
        before.is_resumed = at == 0 && part->is_resumed;
        status = take_elements(command, run, &before);
    }
    if (is_here && !command->is_found)
        keep_stack(command, tw_calls_thread_number(command->calls, part));
    command->feed->is_done = command->is_found;
    return status;
}

static bool open_command(struct before_command *command, const struct options *options,
                         const struct tw_calls_config *given)
{
    struct tw_calls_config config = *given;
    struct tw_fault fault = { .text = "out of memory" };

    config.event = take_event;
    config.context = command;
    command->by_instruction = options->instructions;
    command->room = options->last.is_given ? (size_t)options->last.value : LAST;
    command->texts.root = options->source_root;
    command->steps = calloc(command->room, sizeof *command->steps);
    names_open(&command->names, options, true);
    if (command->steps && tw_walk_new(&command->walk, NULL, NULL) == TW_OK &&
        tw_calls_new(&command->calls, &config, &fault) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

int calls_print_before(const struct options *options, const struct tw_calls_config *config)
{
    struct before_command command = { .kind = BEFORE_END };
    struct feed feed = { .order = TW_ORDER_TIME };
    int status = NOT_DONE;

    if (options->last.is_given && (!options->last.value || options->last.value > LAST_MOST)) {
        (void)options_wrong(options, "--last: from 1 to %d", LAST_MOST);
        return BAD_USAGE;
    }
    if (!parse_place(&command, options))
        return BAD_USAGE;
    command.feed = &feed;
    if (open_command(&command, options, config))
        status = feed_run(&feed, options, take, &command);
    if ((status == DONE || status == DONE_WITH_LOSS) && command.kind == BEFORE_END &&
        command.has_last)
        keep_stack(&command, command.thread);
    if ((status == DONE || status == DONE_WITH_LOSS) && !command.is_found) {
        say("--before %s: the trace does not come there",
            options->before ? options->before : "end");
        status = NOT_DONE;
    } else if (status == DONE || status == DONE_WITH_LOSS) {
        if (!output_open(&command.out, options->output, options->color))
            status = NOT_DONE;
        else {
            bool is_sound;

            before_print(&command);
            is_sound = feed_is_sound(&feed);
            if (!output_close(&command.out, is_sound) || !is_sound)
                status = NOT_DONE;
        }
    }
    before_close(&command);
    feed_close(&feed);
    return status;
}
