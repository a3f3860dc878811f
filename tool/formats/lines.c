/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of packets and elements. */
#include "formats/lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "formats/instructions.h"
#include "formats/threads.h"

const struct tw_member_type line_members[LINE_MEMBERS] = {
    [LINE_BUF] = TW_LISTED("buf", TEXT),
    [LINE_SRC] = TW_TOLD(DECIMAL, " src "),
    [LINE_SECONDS] = TW_SHOWN("seconds", SECONDS, " ("),
    [LINE_SECONDS_END] = TW_TOLD(FLAG, " s)"),
    /* Of perf.data */
    [LINE_WHO] = TW_TOLD(TEXT, "  "),
    [LINE_CPU] = TW_LISTED("cpu", DECIMAL),
    [LINE_PID] = TW_LISTED("pid", SIGNED),
    [LINE_TID] = TW_LISTED("tid", SIGNED),
    [LINE_COMM] = TW_LISTED("comm", TEXT),
    [LINE_TIME] = TW_LISTED("time", DECIMAL),
    [LINE_DSO] = TW_SHOWN("dso", TEXT, " "),
    [LINE_OFF] = TW_SHOWN("off", HEX, "+"),
    /* Of ranges */
    [LINE_FUNCTION] = TW_SHOWN("sym", TEXT, "  "),
    /* Of instructions */
    [LINE_I] = TW_LISTED("i", DECIMAL),
    [LINE_ID] = TW_LISTED("id", DECIMAL),
    [LINE_SRCID] = TW_LISTED("srcid", DECIMAL),
    [LINE_T] = TW_LISTED("t", NAME),
    [LINE_PC] = TW_LISTED("pc", HEX),
    [LINE_OP] = TW_LISTED("op", HEX),
    [LINE_SIZE] = TW_LISTED("size", DECIMAL),
    [LINE_ISA] = TW_LISTED("isa", NAME),
    [LINE_ASM] = TW_LISTED("asm", TEXT),
    [LINE_SYM] = TW_LISTED("sym", TEXT),
    [LINE_SOURCE] = TW_LISTED("src", TEXT),
};

/* ---- members ---- */

static bool has_time(const struct tw_part *part)
{
    return part->when.clock == TW_CLOCK_RECORD && part->when.not_before;
}

void lines_begin_part(struct lines *lines, const struct tw_part *part)
{
    lines->part = lines->run ? part : NULL;
    lines->named = part;
    lines->part_number++;
}

const char *lines_told_who(struct lines *lines, const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    const uint64_t second = 1000000000;
    char time[32] = "";

    if (lines->told_number == lines->part_number)
        return lines->who;
    if (has_time(part))
        (void)snprintf(time, sizeof time, "%" PRIu64 ".%09" PRIu64 " ",
                       part->when.not_before / second, part->when.not_before % second);
    (void)snprintf(lines->who, sizeof lines->who,
                   "[%03" PRIu32 "] %s%" PRId32 "/%" PRId32 " %s", who->cpu, time,
                   (int32_t)(who->thread ? who->pid : who->tid), (int32_t)who->tid, who->comm);
    lines->told_number = lines->part_number;
    return lines->who;
}

void lines_put_who(struct lines *lines, struct tw_members *out, const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    const uint32_t pid = who->thread ? who->pid : who->tid;

    if (who->cpu == TW_NONE)
        return;
    tw_put(out, LINE_CPU, who->cpu);
    tw_put(out, LINE_PID, (uint64_t)(int32_t)pid);
    tw_put(out, LINE_TID, (uint64_t)(int32_t)who->tid);
    tw_put_text(out, LINE_COMM, who->comm);
    if (has_time(part))
        tw_put(out, LINE_TIME, part->when.not_before);
    if (tw_is_wanted(out, LINE_WHO))
        tw_put_text(out, LINE_WHO, lines_told_who(lines, part));
}

void lines_put_where(struct tw_members *out, struct tw_run *run, const struct tw_part *part,
                     uint64_t address)
{
    uint64_t offset;
    const char *object = tw_run_object(run, &offset, part, address);

    if (!object)
        return;
    tw_put_text(out, LINE_DSO, object);
    tw_put(out, LINE_OFF, offset);
}

/* "buf" stands after "t". */
static void insert_buffer(struct tw_members *list, const char *buffer)
{
    size_t at = 0;

    while (at < list->count && strcmp(list->items[at].type->key, "t") != 0)
        at++;
    if (at == list->count || list->count + 1 >= list->room)
        return;
    memmove(&list->items[at + 2], &list->items[at + 1],
            (list->count - at - 1) * sizeof list->items[0]);
    list->items[at + 1].type = &line_members[LINE_BUF];
    list->items[at + 1].text = buffer;
    list->count++;
}

static void put_seconds(struct tw_members *out, uint64_t time, uint64_t clock)
{
    const double fraction = (double)(time % clock) / (double)clock * 1e9;

    tw_put_wide(out, LINE_SECONDS, time / clock, (uint64_t)fraction);
    tw_put(out, LINE_SECONDS_END, 1);
}

/* "main+0x10": where an address is in its function. */
static void put_function(struct tw_members *out, struct tw_run *run, const struct tw_part *part,
                         uint64_t address)
{
    struct tw_symbol symbol;
    uint64_t link;
    const struct tw_symbols *symbols = tw_run_symbols(run, &link, part, address);

    if (symbols && tw_symbols_find(symbols, &symbol, link))
        tw_put_format(out, LINE_FUNCTION, "%.200s+0x%" PRIx64, symbol.name,
                      link - symbol.address);
}

static void put_own(struct lines *lines, struct tw_members *out,
                    const struct tw_element *element, const struct tw_batch *of)
{
    const bool has_address =
        element->type == TW_ELEMENT_INSTR_RANGE || element->type == TW_ELEMENT_ADDR_NACC;

    out->types = line_members;
    if (of->src != TW_NO_SRC)
        tw_put(out, LINE_SRC, of->src);
    if (lines->clock && element->type == TW_ELEMENT_TIMESTAMP)
        put_seconds(out, element->timestamp, lines->clock);
    if (lines->part) {
        lines_put_who(lines, out, lines->part);
        if (has_address)
            lines_put_where(out, lines->run, lines->part, element->start);
    }
    if (lines->names && has_address)
        put_function(out, lines->names, lines->named, element->start);
}

struct tw_members *lines_own_members(struct lines *lines, const struct tw_element *element,
                                     const struct tw_batch *of)
{
    struct tw_members *list;

    if (!lines_has_own(lines, of))
        return NULL;
    list = tw_members_start(&lines->members, lines->style->wanted);
    put_own(lines, list, element, of);
    return list;
}

struct tw_members *lines_element_members(struct lines *lines, const struct tw_element *element,
                                         const struct tw_batch *of)
{
    struct tw_members *list = tw_members_start(&lines->members, lines->style->wanted);

    tw_element_members(list, element, of);
    if (lines->buffer)
        insert_buffer(list, lines->buffer);
    if (lines_has_own(lines, of))
        put_own(lines, list, element, of);
    return list;
}

struct tw_members *lines_packet_members(struct lines *lines,
                                        const struct tw_packet_view *packet)
{
    struct tw_members *list = tw_members_start(&lines->members, lines->style->wanted);

    tw_packet_members(list, packet);
    if (lines->buffer)
        insert_buffer(list, lines->buffer);
    return list;
}

/* ---- the sink ---- */

struct sink {
    const struct listing *listing;
    struct lines lines;
    struct instructions *instructions; /* NULL: ranges, not instructions */
    struct line_threads *threads;      /* NULL: lines are made by this thread */
};

void *lines_start(const struct listing *listing, const struct line_style *style,
                  struct columns *columns)
{
    struct sink *sink = calloc(1, sizeof *sink);

    if (!sink) {
        say("out of memory");
        return NULL;
    }
    sink->listing = listing;
    sink->lines.style = style;
    sink->lines.out = listing->out;
    sink->lines.columns = columns;
    sink->lines.clock = listing->options->clock.value;
    if (style->wanted == TW_MEMBER_TOLD && !listing->is_packets)
        sink->lines.kept = kept_lines_new();
    if (listing->options->instructions) {
        sink->instructions = instructions_new(&sink->lines, listing->session);
        if (!sink->instructions) {
            kept_lines_free(sink->lines.kept);
            free(sink);
            return NULL;
        }
    }
    return sink;
}

static void stop_threads(struct sink *sink)
{
    line_threads_free(sink->threads);
    sink->threads = NULL;
}

static void set_buffer(struct lines *lines, const char *name)
{
    struct tw_text prefix = tw_text_in(lines->prefix, sizeof lines->prefix);

    lines->buffer = name;
    if (name) {
        tw_text_escaped(&prefix, name);
        tw_text_add(&prefix, ": ");
    }
    lines->prefix_size = prefix.size;
}

static void begin_buffer(struct sink *sink, uint32_t buffer)
{
    const struct session *session = sink->listing->session;

    set_buffer(&sink->lines, session_has_several(session)
                                 ? tw_capture_buffer(session->capture, buffer)->name
                                 : NULL);
    sink->lines.run = session->perf ? session->run : NULL;
    /* Of perf.data, a line tells what was known when it came. */
    sink->lines.names = session->options->symbols_in_lines ? session->run : NULL;
    if (sink->listing->is_packets ? !session->options->bits
                                  : !sink->instructions && !session->perf && !sink->lines.names)
        sink->threads = line_threads_new(&sink->lines, tw_run_threads(session->run));
}

static void take_elements(struct sink *sink, const struct tw_part *part)
{
    const struct session *session = sink->listing->session;
    /* --range and --function keep what executed there, and nothing else. */
    const bool lists_errors = session->options->errors && !session_is_filtered(session);
    const struct tw_batch *batch = &part->batch;

    lines_begin_part(&sink->lines, part);
    if (sink->instructions) {
        instructions_part(sink->instructions, part, lists_errors);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (element->type == TW_ELEMENT_ERROR && !lists_errors)
            continue;
        if (sink->threads)
            line_threads_element(sink->threads, element, batch);
        else
            sink->lines.style->element(&sink->lines, element, batch);
    }
}

bool lines_take(void *state, const struct tw_part *part, const struct tw_packet_view *packet)
{
    struct sink *sink = state;

    if (part->kind == TW_PART_BEGIN)
        begin_buffer(sink, part->buffer);
    else if (part->kind == TW_PART_END)
        stop_threads(sink);
    else if (packet && sink->threads)
        line_threads_packet(sink->threads, packet);
    else if (packet)
        sink->lines.style->packet(&sink->lines, packet);
    else
        take_elements(sink, part);
    return true;
}

void lines_end(void *state)
{
    struct sink *sink = state;

    stop_threads(sink);
    instructions_free(sink->instructions);
    kept_lines_free(sink->lines.kept);
    free(sink);
}
