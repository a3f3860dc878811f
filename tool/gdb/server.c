/* SPDX-License-Identifier: BSD-2-Clause */
/* What the packets of the remote protocol mean. */
#include "gdb/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gdb_server_init(struct gdb_server *server, const struct gdb_target *target)
{
    *server = (struct gdb_server){ .target = target };
    server->thread = server->resumed = target->first_thread(target->context);
    server->stop.thread = server->thread;
}

void gdb_server_free(struct gdb_server *server)
{
    gdb_text_free(&server->answer);
    gdb_text_free(&server->out);
    gdb_text_free(&server->last);
}

/* Sends a packet. */
static void send(struct gdb_server *server, const char *data, size_t size)
{
    char *packet = malloc(gdb_write_room(size));

    if (!packet) {
        server->out.is_out = true;
        return;
    }
    size = gdb_write(packet, data, size);
    gdb_text_clear(&server->last);
    gdb_text_add(&server->last, packet, size);
    gdb_text_add(&server->out, packet, size);
    free(packet);
}

static void put(struct gdb_server *server, const char *text)
{
    gdb_text_put(&server->answer, text);
}

/* Text for the client's console. */
static void tell(struct gdb_server *server, const char *text, size_t size)
{
    char piece[1 + 2 * 1024];

    for (size_t done = 0; done < size;) {
        const size_t now = size - done < 1024 ? size - done : 1024;

        piece[0] = 'O';
        send(server, piece, 1 + gdb_to_hex(piece + 1, (const uint8_t *)text + done, now));
        done += now;
    }
}

/* ---- stops ---- */

static void put_stop(struct gdb_server *server)
{
    const struct gdb_stop *stop = &server->stop;
    /* SIGINT, none (the client says "stopped"), SIGTRAP */
    const unsigned number = stop->is_interrupted ? 2 : stop->is_loss ? 0 : 5;

    gdb_text_format(&server->answer, "T%02xthread:%" PRIx32 ";", number, stop->thread + 1);
    if (stop->is_begin || stop->is_end)
        put(server, stop->is_begin ? "replaylog:begin;" : "replaylog:end;");
    else if (stop->is_breakpoint)
        put(server, "swbreak:;");
}

static void move(struct gdb_server *server, struct gdb_move *way)
{
    const struct gdb_target *target = server->target;

    way->breakpoints = server->breakpoints;
    way->breakpoint_count = server->breakpoint_count;
    way->removed = server->removed;
    way->removed_count = server->removed_count;
    server->stop =
        (struct gdb_stop){ .thread = way->thread, .is_interrupted = server->is_interrupted };
    /* A client that sees no acknowledgement for seconds sends the packet again. */
    if (server->flush)
        server->flush(server->flush_context, &server->out);
    server->is_moving = true;
    if (!server->is_interrupted && !target->move(target->context, &server->stop, way) &&
        !server->stop.why[0])
        (void)snprintf(server->stop.why, sizeof server->stop.why, "it could not be done");
    server->is_moving = server->is_interrupted = false;
    if (server->stop.why[0]) {
        tell(server, "trackway: ", 10);
        tell(server, server->stop.why, strlen(server->stop.why));
        tell(server, "\n", 1);
    }
    server->thread = server->resumed = server->stop.thread;
    put_stop(server);
    /* What GDB asks after each step: it need not. */
    target->known(target->context, &server->answer, server->stop.thread);
}

static bool is_thread(const struct gdb_server *server, uint64_t number)
{
    return number >= 1 && number <= server->target->thread_count(server->target->context);
}

/* vCont;s:1;c and the like: the first action with a thread of its own says who moves; threads are recordings, and
   those that are not asked for stay where they are. */
static void take_vcont(struct gdb_server *server, const char *at, const char *end)
{
    struct gdb_move way = { .thread = server->resumed }, first = way;
    bool has_any = false, has_thread = false;

    while (at < end && *at == ';' && !has_thread) {
        uint64_t number = 0;
        char kind;

        if (++at == end)
            break;
        kind = *at++;
        way = (struct gdb_move){ .thread = server->resumed,
                                 .is_step = kind == 's' || kind == 'S' || kind == 'r' };
        if ((kind == 'C' || kind == 'S') && !gdb_hex(&at, end, &number))
            break;
        if (kind == 'r' && !(gdb_hex_then(&at, end, &way.first, ',') &&
                             gdb_hex(&at, end, &way.end) && (way.has_range = true)))
            break;
        if (!strchr("csCSrt", kind))
            break;
        if (at < end && *at == ':' && (at++, at < end) && *at != '-') {
            if (!gdb_hex(&at, end, &number) || !is_thread(server, number)) {
                put(server, "E22");
                return;
            }
            way.thread = (uint32_t)number - 1;
            has_thread = kind != 't';
        }
        while (at < end && *at != ';')
            at++;
        if (!has_any || has_thread)
            first = way;
        has_any = true;
    }
    first.is_alone = has_thread && at == end;
    if (!has_any)
        put(server, "E22");
    else
        move(server, &first);
}

/* ---- breakpoints ---- */

/* It is there again. */
static void forget_removed(struct gdb_server *server, uint64_t address)
{
    size_t kept = 0;

    for (size_t i = 0; i < server->removed_count; i++)
        if (server->removed[i] != address)
            server->removed[kept++] = server->removed[i];
    server->removed_count = kept;
}

static void remember_removed(struct gdb_server *server, uint64_t address)
{
    forget_removed(server, address);
    if (server->removed_count == GDB_REMOVED)
        forget_removed(server, server->removed[0]);
    server->removed[server->removed_count++] = address;
}

static void take_breakpoint(struct gdb_server *server, const char *at, const char *end)
{
    const bool is_set = *at++ == 'Z';
    const char kind = at < end ? *at++ : 0;
    uint64_t address, size;
    size_t i = 0;

    if (kind != '0' && kind != '1')
        return; /* watchpoints: values are not known */
    if (at == end || *at++ != ',' || !gdb_hex_then(&at, end, &address, ',') ||
        !gdb_hex(&at, end, &size)) {
        put(server, "E22");
        return;
    }
    while (i < server->breakpoint_count &&
           (server->breakpoints[i] != address || server->kinds[i] != (uint8_t)kind))
        i++;
    if (is_set && i == server->breakpoint_count) {
        if (i == GDB_BREAKPOINTS) {
            put(server, "E28");
            return;
        }
        server->breakpoints[i] = address;
        server->kinds[i] = (uint8_t)kind;
        server->breakpoint_count++;
        forget_removed(server, address);
    } else if (!is_set && i < server->breakpoint_count) {
        server->breakpoint_count--;
        server->breakpoints[i] = server->breakpoints[server->breakpoint_count];
        server->kinds[i] = server->kinds[server->breakpoint_count];
        remember_removed(server, address);
    }
    put(server, "OK");
}

/* ---- registers and memory ---- */

static void take_memory(struct gdb_server *server, const char *at, const char *end)
{
    const struct gdb_target *target = server->target;
    uint8_t bytes[GDB_PACKET_MOST / 2];
    char digits[GDB_PACKET_MOST];
    uint64_t address, size;
    size_t there;

    at++;
    if (!gdb_hex_then(&at, end, &address, ',') || !gdb_hex(&at, end, &size)) {
        put(server, "E22");
        return;
    }
    if (size > sizeof bytes)
        size = sizeof bytes;
    there = size ? target->memory(target->context, bytes, server->thread, address, (size_t)size)
                 : 0;
    if (size && !there)
        put(server, "E14");
    else
        gdb_text_add(&server->answer, digits, gdb_to_hex(digits, bytes, there));
}

static void take_registers(struct gdb_server *server, const char *at, const char *end)
{
    const struct gdb_target *target = server->target;
    uint64_t number = GDB_ALL_REGISTERS;

    if (*at++ == 'p' && (!gdb_hex(&at, end, &number) || number >= GDB_ALL_REGISTERS)) {
        put(server, "E22");
        return;
    }
    if (!target->registers(target->context, &server->answer, server->thread, (uint32_t)number))
        put(server, "E22");
}

/* ---- questions ---- */

/* The piece of `text` that "OFFSET,LENGTH" asks for. */
static void put_piece(struct gdb_server *server, const char *text, size_t size, const char *at,
                      const char *end)
{
    uint64_t offset, length;

    if (!gdb_hex_then(&at, end, &offset, ',') || !gdb_hex(&at, end, &length)) {
        put(server, "E22");
        return;
    }
    if (offset > size)
        offset = size;
    if (length > GDB_PACKET_MOST / 2)
        length = GDB_PACKET_MOST / 2;
    if (length > size - offset)
        length = size - offset;
    put(server, offset + length < size ? "m" : "l");
    gdb_text_add(&server->answer, text + offset, (size_t)length);
}

/* Frees what an answer is made of: where memory was out for it, the answer is not whole. */
static void drop(struct gdb_server *server, struct gdb_text *part)
{
    server->answer.is_out |= part->is_out;
    gdb_text_free(part);
}

/* Text inside an XML attribute or element. */
static void put_xml(struct gdb_text *out, const struct gdb_text *text)
{
    for (size_t i = 0; i < text->size; i++) {
        const char c = text->text[i];

        if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'')
            gdb_text_format(out, "&#%d;", c);
        else if ((unsigned char)c >= ' ')
            gdb_text_add(out, &c, 1);
    }
}

static void put_threads(struct gdb_server *server, const char *at, const char *end)
{
    const struct gdb_target *target = server->target;
    const uint32_t count = target->thread_count(target->context);
    struct gdb_text list = { .size = 0 }, words = { .size = 0 };

    gdb_text_put(&list, "<?xml version=\"1.0\"?>\n<threads>\n");
    for (uint32_t i = 0; i < count; i++) {
        gdb_text_format(&list, "<thread id=\"%" PRIx32 "\" name=\"", i + 1);
        gdb_text_clear(&words);
        target->thread_name(target->context, &words, i);
        put_xml(&list, &words);
        gdb_text_put(&list, "\">");
        gdb_text_clear(&words);
        target->thread_about(target->context, &words, i);
        put_xml(&list, &words);
        gdb_text_put(&list, "</thread>\n");
    }
    gdb_text_put(&list, "</threads>\n");
    put_piece(server, list.text, list.size, at, end);
    drop(server, &list);
    drop(server, &words);
}

static void put_extra(struct gdb_server *server, const char *at, const char *end)
{
    const struct gdb_target *target = server->target;
    struct gdb_text words = { .size = 0 };
    uint64_t number;
    char digits[512];

    if (!gdb_hex(&at, end, &number) || !is_thread(server, number)) {
        put(server, "E22");
        return;
    }
    target->thread_about(target->context, &words, (uint32_t)number - 1);
    if (words.size > sizeof digits / 2)
        words.size = sizeof digits / 2;
    gdb_text_add(&server->answer, digits,
                 gdb_to_hex(digits, (const uint8_t *)words.text, words.size));
    drop(server, &words);
}

static void put_thread_list(struct gdb_server *server)
{
    const uint32_t count = server->target->thread_count(server->target->context);

    put(server, "m");
    for (uint32_t i = 0; i < count && i < GDB_PACKET_MOST / 16; i++)
        gdb_text_format(&server->answer, i ? ",%" PRIx32 : "%" PRIx32, i + 1);
}

/* "monitor ...": what it says comes as console output. */
static void take_monitor(struct gdb_server *server, const char *at, const char *end)
{
    const struct gdb_target *target = server->target;
    struct gdb_text out = { .size = 0 };
    char line[1024];
    const size_t size = gdb_from_hex((uint8_t *)line, sizeof line - 1, at, (size_t)(end - at));
    uint32_t thread = server->thread;

    if (size == SIZE_MAX) {
        put(server, "E22");
        return;
    }
    line[size] = 0;
    target->monitor(target->context, &out, &thread, line);
    if (is_thread(server, (uint64_t)thread + 1))
        server->thread = server->resumed = server->stop.thread = thread;
    tell(server, out.text ? out.text : "", out.size);
    drop(server, &out);
    put(server, "OK");
}

/* What stands behind a word; NULL: the packet begins otherwise. */
static const char *after(const char *text, const char *word)
{
    const size_t size = strlen(word);

    return strncmp(text, word, size) == 0 ? text + size : NULL;
}

static void take_question(struct gdb_server *server, const char *text, const char *end)
{
    const struct gdb_target *target = server->target;
    const char *rest;

    if (after(text, "qSupported"))
        gdb_text_format(&server->answer,
                        "PacketSize=%x;QStartNoAckMode+;ReverseStep+;ReverseContinue+;"
                        "vContSupported+;qXfer:features:read+;qXfer:threads:read+;swbreak+;"
                        "hwbreak+",
                        GDB_PACKET_MOST);
    else if ((rest = after(text, "qXfer:features:read:target.xml:")) != NULL)
        put_piece(server, target->description(target->context),
                  strlen(target->description(target->context)), rest, end);
    else if ((rest = after(text, "qXfer:threads:read::")) != NULL)
        put_threads(server, rest, end);
    else if (after(text, "qXfer:features:read:"))
        put(server, "E00");
    else if (strcmp(text, "qfThreadInfo") == 0)
        put_thread_list(server);
    else if (strcmp(text, "qsThreadInfo") == 0)
        put(server, "l");
    else if ((rest = after(text, "qThreadExtraInfo,")) != NULL)
        put_extra(server, rest, end);
    else if (strcmp(text, "qC") == 0)
        gdb_text_format(&server->answer, "QC%" PRIx32, server->thread + 1);
    else if (after(text, "qAttached"))
        put(server, "1");
    else if (after(text, "qSymbol:"))
        put(server, "OK");
    else if ((rest = after(text, "qRcmd,")) != NULL)
        take_monitor(server, rest, end);
}

/* ---- packets ---- */

/* Hg and Hc: 0 and -1 are whoever stopped last. */
static void take_choice(struct gdb_server *server, const char *at, const char *end)
{
    uint32_t *which = at + 1 < end && at[1] == 'c' ? &server->resumed : &server->thread;
    uint64_t number;

    at += 2;
    if (at >= end || (*at != '-' && !gdb_hex(&at, end, &number))) {
        put(server, "E22");
        return;
    }
    if (*at == '-' || number == 0)
        *which = server->stop.thread;
    else if (!is_thread(server, number)) {
        put(server, "E22");
        return;
    } else
        *which = (uint32_t)number - 1;
    put(server, "OK");
}

static void take_thread_alive(struct gdb_server *server, const char *at, const char *end)
{
    uint64_t number;

    at++;
    put(server, gdb_hex(&at, end, &number) && is_thread(server, number) ? "OK" : "E22");
}

static void take_v(struct gdb_server *server, const char *text, const char *end)
{
    const char *rest;

    if (strcmp(text, "vCont?") == 0)
        put(server, "vCont;c;C;s;S;r");
    else if ((rest = after(text, "vCont")) != NULL)
        take_vcont(server, rest, end);
    else if (after(text, "vKill")) {
        put(server, "OK");
        server->is_over = true;
    }
}

/* s, c, S, C, bs, bc.  An address to go on at is none of the trace's. */
static void take_resume(struct gdb_server *server, const char *text)
{
    const bool is_back = text[0] == 'b';
    const char kind = text[is_back];
    struct gdb_move way = { .thread = server->resumed, .is_back = is_back };

    if (!kind || !strchr("csCS", kind))
        return;
    way.is_step = kind == 's' || kind == 'S';
    move(server, &way);
}

static void take_packet(struct gdb_server *server, const char *text, size_t size)
{
    const char *end = text + size;

    switch (text[0]) {
    case '?':
        put_stop(server);
        break;
    case 'g':
    case 'p':
        take_registers(server, text, end);
        break;
    case 'G':
    case 'P':
    case 'M':
    case 'X':
        put(server, "E01"); /* what was executed cannot be changed */
        break;
    case 'm':
        take_memory(server, text, end);
        break;
    case 'Z':
    case 'z':
        take_breakpoint(server, text, end);
        break;
    case 'H':
        take_choice(server, text, end);
        break;
    case 'T':
        take_thread_alive(server, text, end);
        break;
    case 'v':
        take_v(server, text, end);
        break;
    case 'q':
        take_question(server, text, end);
        break;
    case 'Q':
        if (strcmp(text, "QStartNoAckMode") == 0)
            put(server, "OK");
        break;
    case 's':
    case 'c':
    case 'S':
    case 'C':
    case 'b':
        take_resume(server, text);
        break;
    case 'D':
        put(server, "OK");
        server->is_over = true;
        break;
    case 'k':
        server->is_over = true;
        break;
    default: /* not known: the empty answer */
        break;
    }
}

static void take_event(struct gdb_server *server, enum gdb_event event)
{
    const bool has_acks = !server->has_no_acks;

    switch (event) {
    case GDB_PACKET:
        if (has_acks)
            gdb_text_put(&server->out, "+");
        gdb_text_clear(&server->answer);
        take_packet(server, server->reader.data, server->reader.size);
        if (!(server->is_over && server->reader.data[0] == 'k'))
            send(server, server->answer.text ? server->answer.text : "", server->answer.size);
        server->has_no_acks |= strcmp(server->reader.data, "QStartNoAckMode") == 0;
        break;
    case GDB_DAMAGED:
        if (has_acks)
            gdb_text_put(&server->out, "-");
        break;
    case GDB_TOO_LONG:
        if (has_acks)
            gdb_text_put(&server->out, "+");
        send(server, "E07", 3);
        break;
    case GDB_NAK:
        if (has_acks)
            gdb_text_add(&server->out, server->last.text ? server->last.text : "",
                         server->last.size);
        break;
    case GDB_INTERRUPT:
        /* GDB goes back over a source line in single steps: it comes between two of them as a rule. */
        server->is_interrupted = true;
        break;
    default:
        break;
    }
}

void gdb_server_take(struct gdb_server *server, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size && !server->is_over; i++) {
        const enum gdb_event event = gdb_read(&server->reader, bytes[i]);

        if (event != GDB_MORE)
            take_event(server, event);
    }
}
