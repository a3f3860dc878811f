/* SPDX-License-Identifier: BSD-2-Clause */
/* Attribution of elements, and the account of what was missing. */
#include "shared/attribution.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { LOSSES_SHOWN = 20 };

void attribution_start(struct attribution *attribution, const struct session *session)
{
    attribution->session = session->perf ? session : NULL;
    memset(attribution->is_begun, 0, sizeof attribution->is_begun);
}

struct tw_perf_lane *attribution_see(struct attribution *attribution,
                                     const struct tw_element *element, uint8_t id)
{
    const struct session *session = attribution->session;
    struct tw_perf_lane *lane = &attribution->lanes[id & 0x7f];
    struct tw_view *view = &attribution->views[id & 0x7f];

    if (!session || session->source_of[id & 0x7f] == TW_NONE)
        return NULL;
    if (!attribution->is_begun[id & 0x7f]) {
        *lane = (struct tw_perf_lane){ .perf = session->perf,
                                       .source = session->source_of[id & 0x7f],
                                       .buffer = session->buffer };
        *view = tw_element_view(NULL);
        tw_perf_look(lane, view, NULL);
        attribution->is_begun[id & 0x7f] = true;
    }
    if (element->type == TW_ELEMENT_PE_CONTEXT)
        view->space = tw_element_view(element).space;
    if (element->type == TW_ELEMENT_PE_CONTEXT || element->type == TW_ELEMENT_TIMESTAMP)
        tw_perf_look(lane, view, element);
    return lane;
}

/* A name as part of a JSON string. */
static void copy_json(char *out, size_t room, const char *text)
{
    size_t at = 0;

    for (; *text && at + 8 < room; text++) {
        const unsigned char byte = (unsigned char)*text;

        if (byte == '"' || byte == '\\')
            out[at++] = '\\';
        if (byte < 0x20 || byte == 0x7f)
            at += (size_t)snprintf(out + at, 8, "\\u%04x", byte);
        else
            out[at++] = *text;
    }
    out[at] = 0;
}

static const struct tw_perf_map *map_of(const struct tw_perf_lane *lane, uint64_t address)
{
    return tw_perf_map(lane->perf, lane->thread ? lane->thread->space : 0, address, lane->time);
}

/* Appends to the text, if there is room for all of it. */
static void append(struct attribution *attribution, const char *format, ...) PRINTF_LIKE(2, 3);

static void append(struct attribution *attribution, const char *format, ...)
{
    const size_t used = strlen(attribution->text), room = sizeof attribution->text - used;
    va_list arguments;
    int size;

    va_start(arguments, format);
    size = vsnprintf(attribution->text + used, room, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= room)
        attribution->text[used] = 0;
}

const char *attribution_who(struct attribution *attribution, uint8_t id, bool is_json)
{
    const struct tw_perf_lane *lane = &attribution->lanes[id & 0x7f];
    char comm[100] = "";

    attribution->text[0] = 0;
    if (!attribution->session || !attribution->is_begun[id & 0x7f])
        return attribution->text;
    copy_json(comm, sizeof comm, lane->thread ? lane->thread->comm : "");
    append(attribution,
           is_json ? ",\"cpu\":%" PRIu32 ",\"pid\":%" PRId32 ",\"tid\":%" PRId32
                     ",\"comm\":\"%s\""
                   : "  [%03" PRIu32 "] %" PRId32 "/%" PRId32 " %s",
           tw_perf_source_cpu(lane->perf, lane->source),
           lane->thread ? (int32_t)lane->thread->pid : (int32_t)lane->tid, (int32_t)lane->tid,
           comm);
    if (is_json && lane->has_time)
        append(attribution, ",\"time\":%" PRIu64, lane->time);
    return attribution->text;
}

const struct tw_perf_map *attribution_map(const struct attribution *attribution, uint8_t id,
                                          uint64_t address)
{
    const struct tw_perf_map *map;

    if (!attribution->session || !attribution->is_begun[id & 0x7f])
        return NULL;
    map = map_of(&attribution->lanes[id & 0x7f], address);
    return map && map->file != TW_NONE ? map : NULL;
}

const char *attribution_where(struct attribution *attribution, uint8_t id, uint64_t address,
                              bool is_json)
{
    const struct tw_perf_map *map = attribution_map(attribution, id, address);
    char file[400] = "";

    attribution->text[0] = 0;
    if (!map)
        return attribution->text;
    copy_json(file, sizeof file, tw_perf_file(attribution->session->perf, map->file)->name);
    append(attribution,
           is_json ? ",\"dso\":\"%s\",\"off\":\"0x%" PRIx64 "\"" : " %s+0x%" PRIx64, file,
           address - map->address + map->offset);
    return attribution->text;
}

const char *attribution_of(struct attribution *attribution, const struct tw_element *element,
                           uint8_t id, bool is_json)
{
    char who[sizeof attribution->text];

    (void)attribution_see(attribution, element, id);
    (void)attribution_who(attribution, id, is_json);
    if (element->type != TW_ELEMENT_INSTR_RANGE && element->type != TW_ELEMENT_ADDR_NACC)
        return attribution->text;
    memcpy(who, attribution->text, sizeof who);
    (void)attribution_where(attribution, id, element->start, is_json);
    if (strlen(who) + strlen(attribution->text) < sizeof who)
        strcat(who, attribution->text);
    memcpy(attribution->text, who, sizeof who);
    return attribution->text;
}

void missing_take(struct session *session, struct attribution *attribution,
                  const struct tw_batch *batch)
{
    const size_t files = tw_perf_file_count(session->perf);
    uint32_t *last = &attribution->missing[batch->id & 0x7f];

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];
        const struct tw_perf_lane *lane;
        const struct tw_perf_map *map;

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            continue;
        lane = attribution_see(attribution, element, batch->id);
        if (!lane)
            continue;
        if (element->type == TW_ELEMENT_ADDR_NACC || element->type == TW_ELEMENT_EO_TRACE)
            session->missing[*last].branches += element->count;
        if (element->type != TW_ELEMENT_ADDR_NACC)
            continue;
        map = map_of(lane, element->address);
        *last = map && map->file != TW_NONE ? map->file : (uint32_t)files;
        session->missing[*last].times++;
    }
}

static void say_loss(const struct session *session, const struct tw_perf_loss *loss)
{
    const bool is_cpu = loss->cpu != TW_NONE;

    say("%s: trace of %s %" PRIu32 ": %s%s%s%sat stream offset 0x%" PRIx64 ", %" PRIu64
        " bytes (record at offset 0x%" PRIx64 ")",
        tw_capture_path(session->capture), is_cpu ? "CPU" : "thread",
        is_cpu ? loss->cpu : loss->tid, loss->has_data ? "" : "the data is not in the file; ",
        loss->flags & TW_PERF_TRUNCATED ? "lost, the buffer was full; " : "",
        loss->flags & TW_PERF_PARTIAL ? "has gaps; " : "",
        loss->flags & TW_PERF_COLLISION ? "may end early; " : "", loss->aux_offset, loss->size,
        loss->record);
}

uint64_t missing_say(const struct session *session)
{
    const struct tw_perf *perf = session->perf;
    const size_t files = tw_perf_file_count(perf), losses = tw_perf_loss_count(perf);
    static const char *const why[] = { [TW_PERF_FILE_UNUSED] = "holds no code",
                                       [TW_PERF_FILE_FOUND] = "does not hold all of it",
                                       [TW_PERF_FILE_MISSING] = "not found",
                                       [TW_PERF_FILE_WRONG] = "another build was found" };

    if (session->options->quiet)
        return losses;
    for (size_t i = 0; i <= files; i++) {
        const struct missing *missing = &session->missing[i];
        const struct tw_perf_file *file = tw_perf_file(perf, i);

        /* Where the path was lost an instruction was executed, and so was each branch. */
        if (missing->times)
            say("missing code: %s (%s): the path was lost there %" PRIu64
                " time%s, at least %" PRIu64 " instruction%s",
                i < files ? file->name : "nothing is mapped",
                i < files ? why[file->state & 3] : "no record of it", missing->times,
                missing->times == 1 ? "" : "s", missing->times + missing->branches,
                missing->times + missing->branches == 1 ? "" : "s");
    }
    for (size_t i = 0; i < losses && i < LOSSES_SHOWN; i++)
        say_loss(session, tw_perf_loss(perf, i));
    if (losses > LOSSES_SHOWN)
        say("%s: %zu more losses of this kind", tw_capture_path(session->capture),
            losses - LOSSES_SHOWN);
    return losses;
}
