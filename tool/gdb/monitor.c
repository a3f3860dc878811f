/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands behind GDB's "monitor". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "gdb/recording.h"

/* A command: its words, and what the user gave behind them. */
typedef void command_fn(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                        const char *rest);

void recording_put_code(struct recording *recording, struct gdb_text *out,
                        const struct tw_part *part, uint64_t address)
{
    struct tw_name name = { .size = sizeof name };

    gdb_text_format(out, "0x%" PRIx64, address);
    if (!tw_run_name(tw_replay_names(recording->replay), &name, part, address))
        return;
    if (name.has_symbol)
        gdb_text_format(out, " <%.200s+%" PRIu64 ">", name.symbol.name,
                        address - name.symbol.address);
    if (name.has_line)
        gdb_text_format(out, " at %.300s:%" PRIu32, name.line.file, name.line.line);
}

/* ---- places as they are written ---- */

/* ":N" behind a word, which is cut off; 1 if there is none. */
static uint64_t nth_of(char *text)
{
    char *colon = strrchr(text, ':');
    uint64_t nth = 1;

    if (colon && parse_number(&nth, colon + 1))
        *colon = 0;
    return nth ? nth : 1;
}

/* The addresses of a function of this name, or a number; 0: there is none. */
static size_t addresses_of(struct recording *recording, const struct tw_replay_view *view,
                           const char *text, uint64_t *addresses, size_t room)
{
    struct tw_run *names = tw_replay_names(recording->replay);
    struct tw_symbols *symbols;
    struct tw_symbol symbol;
    uint64_t link; /* the place's pc as linked: by it the file's code is moved */
    size_t count = 0;

    if (parse_number(&addresses[0], text))
        return 1;
    symbols = tw_run_symbols(names, &link, &view->part, view->pc);
    for (size_t i = 0; symbols && count < room && tw_symbols_by_name(symbols, &symbol, text, i);
         i++)
        addresses[count++] = symbol.address + (view->pc - link);
    return count;
}

/* The n-th time, from the first instruction on, that the thread comes to an address or function. */
static bool go_to_code(struct recording *recording, struct gdb_text *out, uint32_t thread,
                       const char *text)
{
    struct tw_replay_view view;
    struct tw_replay_place place;
    uint64_t addresses[64];
    char word[256];
    uint64_t nth;
    size_t count;
    bool is_there = false;

    (void)snprintf(word, sizeof word, "%s", text);
    nth = nth_of(word);
    if (!recording_look(recording, &view, thread))
        return false;
    count = addresses_of(recording, &view, word, addresses, TW_LENGTH(addresses));
    if (!count) {
        gdb_text_format(out, "there is no function \"%.200s\"\n", word);
        return false;
    }
    if (tw_replay_first(recording->replay, &place, thread) == TW_OK &&
        tw_replay_look(recording->replay, &view, &place) == TW_OK) {
        for (size_t i = 0; i < count; i++)
            is_there |= addresses[i] == view.pc;
        nth -= is_there;
        while (nth && tw_replay_find(recording->replay, &place, false, addresses, count,
                                     NULL) == TW_OK)
            nth--;
        if (!nth) {
            *recording_place(recording, thread) = place;
            return true;
        }
    }
    gdb_text_format(
        out, "the trace does not come there (%" PRIu64 " times more were asked for)\n", nth);
    return false;
}

/* The n-th entry of a kind in the index. */
static enum tw_status go_to_entry(struct recording *recording, struct tw_replay_place *place,
                                  uint32_t thread, enum tw_index_kind kind, uint64_t nth)
{
    struct tw_run *names = tw_replay_names(recording->replay);
    struct tw_capture *capture = recording->session->capture;

    for (uint32_t i = 0; nth && i < tw_capture_buffer_count(capture); i++) {
        const struct tw_index *index = tw_run_index_need(names, i, false);
        const uint64_t count = index ? tw_run_place_count(names, index, kind) : 0;
        struct tw_index_entry entry;

        if (nth > count) {
            nth -= count;
            continue;
        }
        if (tw_run_place_nth(names, index, &entry, kind, nth - 1) != TW_OK)
            break;
        return tw_replay_at_offset(recording->replay, place, thread, entry.offset);
    }
    return TW_END;
}

/* +OFFSET, n:NUMBER, sync:N ..., or a timestamp. */
static enum tw_status find_place(struct recording *recording, struct tw_replay_place *place,
                                 uint32_t thread, const char *text)
{
    static const struct {
        const char *word;
        int kind; /* enum tw_index_kind, or what stands below */
    } words[] = { { "offset:", -1 },
                  { "+", -1 },
                  { "n:", -2 },
                  { "time:", -3 },
                  { "t:", -3 },
                  { "trigger:", TW_INDEX_TRIGGER },
                  { "event:", TW_INDEX_EVENT },
                  { "sync:", TW_INDEX_SYNC },
                  { "trace-on:", TW_INDEX_TRACE_ON } };
    struct tw_replay *replay = recording->replay;
    uint64_t value;
    int kind = -3;

    for (size_t i = 0; i < TW_LENGTH(words); i++)
        if (strncmp(text, words[i].word, strlen(words[i].word)) == 0) {
            kind = words[i].kind;
            text += strlen(words[i].word);
            break;
        }
    if (!parse_number(&value, text))
        return TW_E_ARGUMENT;
    if (kind == -1)
        return tw_replay_at_offset(replay, place, thread, value);
    if (kind == -2)
        return tw_replay_at_number(replay, place, thread, value);
    if (kind == -3)
        return tw_replay_at_time(replay, place, thread, value);
    return go_to_entry(recording, place, thread, (enum tw_index_kind)kind, value);
}

static bool is_word(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

bool recording_go(struct recording *recording, struct gdb_text *out, uint32_t thread,
                  const char *text)
{
    struct tw_replay_place place;
    enum tw_status status;

    if (!recording_place(recording, thread))
        return false;
    if (strncmp(text, "pc:", 3) == 0)
        return go_to_code(recording, out, thread, text + 3);
    if (strncmp(text, "function:", 9) == 0)
        return go_to_code(recording, out, thread, text + 9);
    if (is_word(text, "first", "begin"))
        status = tw_replay_first(recording->replay, &place, thread);
    else if (is_word(text, "last", "end"))
        status = tw_replay_last(recording->replay, &place, thread);
    else
        status = find_place(recording, &place, thread, text);
    if (status == TW_OK) {
        *recording_place(recording, thread) = place;
        return true;
    }
    if (status == TW_E_ARGUMENT)
        gdb_text_format(
            out,
            "\"%.100s\" is no place; give first, last, TIMESTAMP, +OFFSET, n:NUMBER, "
            "pc:ADDRESS[:N], function:NAME[:N], trigger:N, event:N, sync:N or "
            "trace-on:N\n",
            text);
    else if (status == TW_END)
        gdb_text_format(out, "the trace does not come to %.100s\n", text);
    else
        gdb_text_format(out, "%s\n", tw_replay_fault(recording->replay));
    return false;
}

/* ---- commands ---- */

static void say_where(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                      const char *rest)
{
    enum { NUMBERED_BYTES = 4 << 20 };
    const struct tw_replay_place *place = recording_place(recording, *thread);
    struct tw_replay_view view;
    uint64_t number;

    (void)rest;
    if (!place || !recording_look(recording, &view, *thread))
        return;
    recording_put_code(recording, out, &view.part, view.pc);
    gdb_text_format(out, "\n%s, packet at 0x%" PRIx64 " of buffer %s",
                    place->is_end ? "behind the last instruction" : "before it is executed",
                    view.range.index,
                    tw_capture_buffer(recording->session->capture, view.part.buffer)->name);
    /* of a place far behind, it would take long to say */
    if (tw_replay_bytes_before(recording->replay, place) <= NUMBERED_BYTES &&
        tw_replay_number(recording->replay, &number, place) == TW_OK)
        gdb_text_format(out, ", instruction %" PRIu64, number);
    if (view.part.when.clock != TW_CLOCK_NONE)
        gdb_text_format(out, ", not before %" PRIu64 "%s", view.part.when.not_before,
                        view.part.when.clock == TW_CLOCK_RECORD ? " ns" : "");
    gdb_text_put(out, "\n");
}

static void go(struct recording *recording, struct gdb_text *out, uint32_t *thread,
               const char *rest)
{
    if (!recording_go(recording, out, *thread, rest))
        return;
    say_where(recording, out, thread, "");
    gdb_text_put(out, "GDB does not know yet: say \"maintenance flush register-cache\", or use "
                      "\"trackway goto\".\n");
}

static void say_calls(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                      const char *rest)
{
    struct tw_replay_view view;
    size_t count;

    (void)rest;
    if (!recording_look(recording, &view, *thread))
        return;
    count = recording_stack(recording, *thread, TW_REPLAY_STACK_WHOLE);
    if (!count)
        gdb_text_format(out, "%s\n", tw_replay_fault(recording->replay));
    for (size_t i = 0; i < count; i++) {
        const struct tw_replay_frame *frame = &recording->frames[i];

        gdb_text_format(out, "#%-3zu %.200s  ", i, frame->name);
        if (frame->pc)
            recording_put_code(recording, out, &view.part, frame->pc);
        gdb_text_format(out, "  (%s)\n", tw_call_kind_name(frame->kind));
    }
    if (recording->frame_count > count)
        gdb_text_format(out, "... and %zu more\n", recording->frame_count - count);
    gdb_text_put(out, "     [callers unknown: the trace begins inside]\n");
}

static void say_registers(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                          const char *rest)
{
    static const char *const known[] = { "not known", "traced", "derived from the traced path",
                                         "stand-in: a number that GDB needs" };
    const struct gdb_register *one;
    struct gdb_register room;
    char name[16];

    (void)rest;
    for (size_t i = 0; (one = gdb_machine_register(recording->machine, i, &room, name)) != NULL;
         i++) {
        if (one->known == GDB_UNKNOWN)
            continue;
        gdb_text_format(out, "%-14s 0x", one->name);
        {
            struct gdb_text digits = { .size = 0 };

            /* the low byte comes first */
            if (recording->target.registers(recording, &digits, *thread, one->number))
                for (size_t k = digits.size; k >= 2; k -= 2)
                    gdb_text_add(out, digits.text + k - 2, 2);
            gdb_text_free(&digits);
        }
        gdb_text_format(out, "  %s\n", known[one->known]);
    }
    gdb_text_put(out, "all others: not known\n");
}

/* Whether an access is known to be of another instruction. */
static bool is_of_another(const struct tw_element *access, uint64_t pc)
{
    const uint64_t wide =
        access->type == TW_ELEMENT_DATA_ADDR ? access->data_value : access->data_address;

    return (access->flags & TW_DATA_HAS_PC) &&
           (access->flags & TW_DATA_WIDE_PC ? wide : access->pc) != pc;
}

/* Those of the accesses that may be of a place's instruction; how many. */
static size_t put_accesses(struct gdb_text *out, const struct tw_element *elements,
                           size_t count, const struct tw_replay_view *view, const char *where)
{
    size_t put = 0;

    for (size_t i = 0; i < count; i++) {
        const bool is_access = elements[i].type == TW_ELEMENT_DATA_ADDR ||
                               elements[i].type == TW_ELEMENT_DATA_VALUE ||
                               elements[i].type == TW_ELEMENT_BUS_TRANSFER;
        char line[512];

        if (!is_access || is_of_another(&elements[i], view->pc))
            continue;
        (void)tw_element_text(line, sizeof line, &elements[i], view->part.batch.id);
        gdb_text_format(out, "%s %s\n",
                        elements[i].flags & TW_DATA_HAS_PC ? "this instruction:" : where, line);
        put++;
    }
    return put;
}

/* Data accesses between the instructions around the place.  What a decoder knows to be of an instruction stands behind
   the straight run that holds it. */
static void say_data(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                     const char *rest)
{
    enum { STEPS_MOST = 1 << 16 };
    const struct tw_replay_place *place = recording_place(recording, *thread);
    struct tw_replay_view view, there;
    struct tw_replay_place at;
    const struct tw_element *elements;
    size_t count, put;

    (void)rest;
    if (!place || !recording_look(recording, &view, *thread))
        return;
    elements = tw_replay_elements(recording->replay, &count, place, true);
    put = put_accesses(out, elements, count, &view, "before it:");
    at = *place;
    there = view;
    for (unsigned i = 0; i < STEPS_MOST; i++) {
        elements = tw_replay_elements(recording->replay, &count, &at, false);
        if (elements || tw_replay_step(recording->replay, &at, false, NULL) != TW_OK ||
            tw_replay_look(recording->replay, &there, &at) != TW_OK ||
            there.range.index != view.range.index || there.range.start != view.range.start)
            break;
    }
    put += put_accesses(out, elements, elements ? count : 0, &view,
                        there.pc == view.pc ? "behind it:" : "behind the straight run:");
    if (!put)
        gdb_text_put(out, "the trace has no data accesses here\n");
}

/* All threads to the moment of the one at work. */
static void set_time(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                     const char *rest)
{
    struct tw_replay_view view;
    uint64_t time;

    if (!recording_look(recording, &view, *thread))
        return;
    time = view.part.when.not_before;
    if (rest[0] && !parse_number(&time, rest)) {
        gdb_text_format(out, "\"%.100s\" is no time\n", rest);
        return;
    }
    if (view.part.when.clock == TW_CLOCK_NONE) {
        gdb_text_put(out, "the trace tells no time here\n");
        return;
    }
    for (uint32_t i = 0; i < tw_replay_thread_count(recording->replay); i++) {
        struct tw_replay_place place;

        if ((i == *thread && !rest[0]) || !recording_place(recording, i))
            continue;
        if (tw_replay_at_time(recording->replay, &place, i, time) == TW_OK)
            *recording_place(recording, i) = place;
        else if (tw_replay_last(recording->replay, &place, i) == TW_OK)
            *recording_place(recording, i) = place;
    }
    gdb_text_format(out, "all threads stand at %" PRIu64 "\n", time);
}

static void say_gaps(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                     const char *rest)
{
    (void)rest;
    recording_gaps(recording, out, *thread);
}

static void say_profile(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                        const char *rest)
{
    (void)thread;
    (void)rest;
    recording_profile(recording, out);
}

static void say_coverage(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                         const char *rest)
{
    (void)thread;
    (void)rest;
    recording_coverage(recording, out);
}

/* Where the thread comes to an address or function, before and after the place. */
static void find(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                 const char *rest)
{
    enum { SHOWN = 10 };
    const struct tw_replay_place *place = recording_place(recording, *thread);
    struct tw_replay_view view;
    uint64_t addresses[64];
    size_t count, shown = 0;

    if (!place || !recording_look(recording, &view, *thread))
        return;
    count = addresses_of(recording, &view, rest, addresses, TW_LENGTH(addresses));
    if (!count) {
        gdb_text_format(out, "there is no function \"%.200s\"\n", rest);
        return;
    }
    for (unsigned way = 0; way < 2; way++) {
        struct tw_replay_place at = *place;

        for (shown = 0; shown < SHOWN; shown++) {
            struct tw_replay_view there = { .size = sizeof there };

            if (tw_replay_find(recording->replay, &at, way == 0, addresses, count, NULL) !=
                    TW_OK ||
                tw_replay_look(recording->replay, &there, &at) != TW_OK)
                break;
            gdb_text_format(out, "%s  goto +0x%" PRIx64 "  ",
                            way ? "after: " : "before:", there.range.index);
            recording_put_code(recording, out, &there.part, there.pc);
            gdb_text_put(out, "\n");
        }
        if (shown == SHOWN)
            gdb_text_format(out, "%s  and so on\n", way ? "after: " : "before:");
        else if (!shown)
            gdb_text_format(out, "%s  never\n", way ? "after: " : "before:");
    }
}

static void list_threads(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                         const char *rest)
{
    (void)thread;
    (void)rest;
    if (tw_replay_find_threads(recording->replay) != TW_OK)
        gdb_text_format(out, "%s\n", tw_replay_fault(recording->replay));
    gdb_text_format(out, "threads: %zu; \"info threads\" lists them\n",
                    tw_replay_thread_count(recording->replay));
}

/* From trackway gdb: it has GDB keep its breakpoints inserted. */
static void keep_inserted(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                          const char *rest)
{
    (void)out;
    (void)thread;
    (void)rest;
    recording->is_always_inserted = true;
}

static command_fn help;

static const struct {
    const char *name, *about;
    command_fn *run;
} commands[] = {
    { "goto", "PLACE: go there (in GDB rather: trackway goto PLACE)", go },
    { "where", "where in the trace and the capture this is", say_where },
    { "calls", "the call stack, as the trace tells it", say_calls },
    { "profile", "the functions with the most instructions, of the whole capture",
      say_profile },
    { "coverage", "how much of the program was executed, in the whole capture", say_coverage },
    { "gaps", "where trace or code is missing, for this thread", say_gaps },
    { "find", "ADDRESS|FUNCTION: when the thread came there before, and comes there after",
      find },
    { "registers", "which registers are real, derived, or stand in", say_registers },
    { "data", "data accesses that were traced here", say_data },
    { "time", "[TIMESTAMP]: move all threads to that moment, or to this thread's", set_time },
    { "threads", "look through the whole capture for threads", list_threads },
    { "help", "this list", help },
    { "always-inserted", NULL, keep_inserted }, /* not for people */
};

static void help(struct recording *recording, struct gdb_text *out, uint32_t *thread,
                 const char *rest)
{
    (void)recording;
    (void)thread;
    (void)rest;
    for (size_t i = 0; i < TW_LENGTH(commands); i++)
        if (commands[i].about)
            gdb_text_format(out, "monitor %-10s %s\n", commands[i].name, commands[i].about);
    gdb_text_put(out, "PLACE: first, last, TIMESTAMP, +OFFSET, n:NUMBER, pc:ADDRESS[:N], "
                      "function:NAME[:N],\ntrigger:N, event:N, sync:N, trace-on:N\n");
}

void recording_monitor(void *context, struct gdb_text *out, uint32_t *thread, const char *line)
{
    size_t size = strcspn(line, " \t");
    const char *rest = line + size + strspn(line + size, " \t");
    uint64_t whose;

    /* "thread:N ...", for trackway-gdb.py: GDB itself does not tell which one it has selected */
    if (strncmp(line, "thread:", 7) == 0 && parse_number_size(&whose, line + 7, size - 7) &&
        whose && whose <= tw_replay_thread_count(((struct recording *)context)->replay)) {
        *thread = (uint32_t)whose - 1;
        line = rest;
        size = strcspn(line, " \t");
        rest = line + size + strspn(line + size, " \t");
    }
    for (size_t i = 0; i < TW_LENGTH(commands); i++)
        if (size == strlen(commands[i].name) && strncmp(line, commands[i].name, size) == 0) {
            commands[i].run(context, out, thread, rest);
            return;
        }
    gdb_text_format(
        out, "there is no monitor command \"%.100s\"; \"monitor help\" lists them\n", line);
}
