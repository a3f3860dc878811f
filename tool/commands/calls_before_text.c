/* SPDX-License-Identifier: BSD-2-Clause */
/* How did I get here, as text: the place, its stack, and what was before it, the newest first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/calls_before.h"

/* ---- instructions of a range ---- */

uint32_t before_instructions(struct before_command *command, const struct tw_part *part,
                             const struct tw_element *range, uint64_t address)
{
    struct tw_code_bytes code;
    uint32_t count = 0;
    size_t size;

    tw_walk_start(command->walk, part, range);
    while (tw_walk_next(command->walk, &code, &size) && code.address <= address)
        count++;
    return count;
}

struct tw_element before_cut(struct before_command *command, const struct tw_part *part,
                             const struct tw_element *range, uint32_t instructions)
{
    struct tw_element cut = *range;
    struct tw_code_bytes code;
    size_t size;

    cut.length = 0;
    cut.count = 0;
    tw_walk_start(command->walk, part, range);
    while (cut.count < instructions && tw_walk_next(command->walk, &code, &size)) {
        cut.length += (uint32_t)size;
        cut.count++;
        cut.last_size = (size / 2) & 3;
    }
    if (cut.count < range->count)
        cut.last_kind = TW_LAST_OTHER;
    return cut;
}

/* ---- places ---- */

/* The source text of a line, its blanks in front left out. */
static void print_source(struct before_command *command, const struct tw_source_line *line)
{
    size_t size;
    const char *text = source_text(&command->texts, line->file, line->line, &size);
    char shown[256];

    while (text && size && (*text == ' ' || *text == '\t')) {
        text++;
        size--;
    }
    if (!text || !size)
        return;
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(size < 200 ? size : 200), text);
    output_color(&command->out, DIM);
    output_format(&command->out, "  | %s", shown);
    output_color(&command->out, PLAIN);
}

/* "0x400448 put_num+0x20  rt.c:78  | source". */
static void print_place(struct before_command *command, struct tw_run *run,
                        const struct tw_part *part, uint64_t address)
{
    struct tw_name name = { .size = sizeof name };

    output_address(&command->out, address);
    if (!tw_run_name(run, &name, part, address))
        return;
    if (name.has_symbol) {
        output_format(&command->out, " %s", names_show(&command->names, name.symbol.name));
        if (address != name.symbol.address)
            output_format(&command->out, "+0x%" PRIx64, address - name.symbol.address);
    }
    if (name.has_line) {
        output_format(&command->out, "  %s:%" PRIu32, name.line.file, name.line.line);
        print_source(command, &name.line);
    }
}

static const char *function_name(struct before_command *command, uint32_t number)
{
    return names_show(&command->names,
                      tw_functions_get(tw_calls_functions(command->calls), number)->name);
}

static uint64_t last_address(const struct before_command *command)
{
    const struct tw_element *range = &command->last_range;

    return tw_element_end(range) - (range->last_size ? (uint64_t)range->last_size * 2 : 4);
}

static void print_stack(struct before_command *command)
{
    struct output *out = &command->out;
    const size_t shown = command->depth < BEFORE_FRAMES ? command->depth : BEFORE_FRAMES;

    output_color(out, BOLD);
    output_text(out, "call stack, the innermost first\n");
    output_color(out, PLAIN);
    for (size_t i = 0; i < shown; i++) {
        const struct tw_call_place *place = &command->stack[i];

        output_format(out, "  #%-3zu %s", i, function_name(command, place->function));
        if (place->kind != TW_CALL_CALL && place->kind != TW_CALL_BEGIN)
            output_format(out, " (%s)", tw_call_kind_name(place->kind));
        if (place->has_return && command->last_run) {
            output_text(out, ", returns to ");
            print_place(command, command->last_run, &command->last, place->returns_to);
        }
        output_text(out, "\n");
    }
    if (shown < command->depth)
        output_format(out, "  ... and %zu more\n", command->depth - shown);
    if (shown == command->depth && shown && command->stack[shown - 1].kind == TW_CALL_BEGIN)
        output_text(out, "  the trace begins there: callers before are not known\n");
}

/* ---- what was before ---- */

static void print_event(struct before_command *command, const struct before_step *step)
{
    const struct tw_call_event *event = &step->event;
    struct output *out = &command->out;

    output_format(out, "  n=%-10" PRIu64 " %*s", event->instructions,
                  (int)(event->depth < 40 ? event->depth : 40), "");
    output_color(out, event->is_leave ? DIM : PLAIN);
    output_format(out, "%s %s", event->is_leave ? "left" : "entered",
                  function_name(command, event->function));
    output_format(out, " (%s)",
                  event->is_leave ? tw_leave_kind_name(event->kind)
                                  : tw_call_kind_name(event->kind));
    output_color(out, PLAIN);
    if (event->from) {
        output_text(out, " from ");
        print_place(command, step->run, &step->part, event->from);
    }
    output_text(out, "\n");
}

static void print_instruction(struct before_command *command, const struct before_step *step,
                              const struct tw_code_bytes *code)
{
    char text[256] = "";

    if (!command->has_tried_disassembler) {
        const struct tw_disassembler_config config = { .size = sizeof config };

        command->has_tried_disassembler = true;
        switch (tw_disassembler_new(&command->disassembler, &config, NULL)) {
        case TW_OK:
            break;
        case TW_E_MEMORY:
            out_of_memory();
        default:
            command->disassembler = NULL;
        }
    }
    if (command->disassembler && code->size)
        (void)tw_disassemble(command->disassembler, text, sizeof text, code);
    output_format(&command->out, "  %-40s ", text);
    print_place(command, step->run, &step->part, code->address);
    output_text(&command->out, "\n");
}

/* The instructions of a range from its end; how many lines are left. */
static uint64_t print_range(struct before_command *command, const struct before_step *step,
                            uint64_t left)
{
    struct tw_code_bytes code;
    uint64_t *addresses = malloc((step->range.count + 1) * sizeof *addresses);
    uint32_t count = 0;
    size_t size;

    if (!addresses)
        out_of_memory();
    tw_walk_start(command->walk, &step->part, &step->range);
    while (tw_walk_next(command->walk, &code, &size))
        addresses[count++] = code.address;
    while (left && count) {
        uint8_t bytes[4] = { 0 };

        code = (struct tw_code_bytes){ .bytes = bytes,
                                       .address = addresses[--count],
                                       .isa = step->range.isa };
        if (step->part.image)
            code.size = tw_image_read(step->part.image, bytes, &step->part.who.view,
                                      code.address, sizeof bytes);
        print_instruction(command, step, &code);
        left--;
    }
    free(addresses);
    return left;
}

static void print_steps(struct before_command *command)
{
    const uint64_t kept =
        command->step_count < command->room ? command->step_count : command->room;
    uint64_t left = command->room;

    output_color(&command->out, BOLD);
    output_format(&command->out, "the last %s before it, the newest first\n",
                  command->by_instruction ? "instructions" : "calls and returns");
    output_color(&command->out, PLAIN);
    for (uint64_t i = 0; i < kept && left && !output_is_over(&command->out); i++) {
        const struct before_step *step =
            &command->steps[(command->step_count - 1 - i) % command->room];

        if (command->by_instruction) {
            left = print_range(command, step, left);
        } else {
            print_event(command, step);
            left--;
        }
    }
}

void before_print(struct before_command *command)
{
    struct output *out = &command->out;

    output_color(out, BOLD);
    output_text(out, command->has_here ? "at " : "after ");
    if (command->has_last)
        print_place(command, command->last_run, &command->last,
                    command->has_here ? command->here : last_address(command));
    output_color(out, PLAIN);
    output_text(out, "\n");
    print_stack(command);
    print_steps(command);
}

void before_close(struct before_command *command)
{
    tw_calls_free(command->calls);
    tw_walk_free(command->walk);
    tw_disassembler_free(command->disassembler);
    names_close(&command->names);
    source_texts_free(&command->texts);
    free(command->steps);
}
