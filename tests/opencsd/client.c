/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of the OpenCSD interface that writes down all that happens to it. */
#include "client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

struct client {
    struct events *events;
    const struct library *library;
    const struct subject *subject;
    const struct plan *plan;
    dcd_tree_handle_t tree;
    uint64_t asked; /* counts random numbers, anew from each place */
    bool is_over, has_reset, has_data;
    /* An element, or its text, that is not told yet; empty: none. */
    char buffered[2200];
    unsigned buffered_stream;
    ocsd_trc_index_t buffered_index;
    ocsd_vaddr_t buffered_address;
};

/* One decoder's callbacks. */
struct end {
    struct client *client;
    const struct subject_decoder *decoder;
    uint8_t id;
};

/* ---- What happens */

void events_free(struct events *events)
{
    for (size_t i = 0; i < events->keep && events->lines; i++)
        free(events->lines[i]);
    free(events->lines);
    free(events->hashes);
    free(events->streams);
}

static uint64_t hash_of(const char *line)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (const char *at = line; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    return hash;
}

static void add(struct events *events, unsigned stream, const char *line)
{
    if (events->count == events->room) {
        events->room = events->room ? 2 * events->room : 4096;
        events->hashes = realloc(events->hashes, events->room * sizeof *events->hashes);
        events->streams = realloc(events->streams, events->room * sizeof *events->streams);
        if (!events->hashes || !events->streams)
            abort();
    }
    if (events->count - events->from < events->keep) {
        if (!events->lines)
            events->lines = calloc(events->keep, sizeof *events->lines);
        events->lines[events->count - events->from] = strdup(line);
    }
    events->streams[events->count] = (uint16_t)stream;
    events->hashes[events->count++] = hash_of(line);
}

static unsigned stream_of(enum event_kind kind, uint8_t id)
{
    return (unsigned)kind << 8 | id;
}

/* What was held back is told after all. */
static void let_go(struct client *client)
{
    if (client->buffered[0])
        add(client->events, client->buffered_stream, client->buffered);
    client->buffered[0] = 0;
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
say(struct client *client, unsigned stream, const char *format, ...)
{
    char line[8192];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    let_go(client);
    add(client->events, stream, line);
}

/* ---- What it does */

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t random_below(struct client *client, uint64_t limit)
{
    return mix(client->plan->seed + 0x9e3779b97f4a7c15u * ++client->asked) % limit;
}

/* Depends on what was given, so that what is missing in one library changes nothing behind it. */
static ocsd_datapath_resp_t answer(const struct client *client, unsigned stream,
                                   ocsd_trc_index_t index, const char *what)
{
    const uint64_t number =
        mix(mix(client->plan->seed + stream) + mix(index) + hash_of(what)) % 1000;

    return number < client->plan->waits ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static bool is_masked(const struct client *client, enum mask mask)
{
    return client->plan->masks & (unsigned)mask;
}

/* Code that is not there, in front of an exception that returns to before it: the original looks for
   what was passed already.  Held back until it is clear what follows. */
static void hold_back(struct client *client, const ocsd_generic_trace_elem *element,
                      ocsd_trc_index_t index, uint8_t id)
{
    const bool is_passed =
        is_masked(client, MASK_PASSED) && client->buffered[0] &&
        client->buffered_stream == stream_of(EVENT_ELEMENT, id) &&
        client->buffered_index == index && element->elem_type == OCSD_GEN_TRC_ELEM_EXCEPTION &&
        element->excep_ret_addr && element->en_addr < client->buffered_address;

    if (is_passed)
        client->buffered[0] = 0;
    let_go(client);
    client->buffered_stream = stream_of(EVENT_ELEMENT, id);
    client->buffered_index = index;
    client->buffered_address = element->st_addr;
}

/* After a RESET the original's PTM keeps bytes of before it: they move the index of its loss of
   synchronization, are shown with the next synchronization, and are a cut packet at the end. */
static bool is_ptm_reset(const struct client *client)
{
    if (!client->has_reset || !is_masked(client, MASK_PTM_RESET))
        return false;
    for (size_t i = 0; i < client->subject->decoder_count; i++)
        if (client->subject->decoders[i].protocol == OCSD_PROTOCOL_PTM)
            return true;
    return false;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct client *client = (struct client *)(uintptr_t)context;
    const bool is_missing = element->elem_type == OCSD_GEN_TRC_ELEM_ADDR_NACC;
    const bool is_end =
        is_ptm_reset(client) && (element->elem_type == OCSD_GEN_TRC_ELEM_NO_SYNC ||
                                 element->elem_type == OCSD_GEN_TRC_ELEM_EO_TRACE);
    ocsd_datapath_resp_t said = OCSD_RESP_CONT;
    char text[2048], line[2200];

    show_element(text, sizeof text, element);
    if (!is_missing)
        said = answer(client, stream_of(EVENT_ELEMENT, id), is_end ? 0 : index, text);
    hold_back(client, element, index, id);
    (void)snprintf(line, sizeof line, "element %" PRIu32 " id %02x %s -> %d",
                   is_end ? 0 : index, id, text, client->plan->is_loose ? 0 : (int)said);
    if (is_missing)
        memcpy(client->buffered, line, sizeof line);
    else
        add(client->events, stream_of(EVENT_ELEMENT, id), line);
    return said;
}

/* Packets of which not all is the same.  SHOW_KIND: but for the index, and the bytes of monitors. */
enum showing { SHOW_ALL, SHOW_KIND, SHOW_NONE };

static enum showing ptm_showing(const struct client *client, const ocsd_ptm_pkt *packet,
                                bool is_monitor)
{
    switch (packet->type) {
    case PTM_PKT_NOTSYNC: /* monitors see some bytes twice, and some from behind the buffer */
        return (is_monitor && is_masked(client, MASK_NOTSYNC)) || is_ptm_reset(client)
                   ? SHOW_NONE
                   : SHOW_ALL;
    case PTM_PKT_A_SYNC:
        return is_ptm_reset(client) ? SHOW_KIND : SHOW_ALL;
    case PTM_PKT_INCOMPLETE_EOT:
        return is_ptm_reset(client) ? SHOW_NONE : SHOW_ALL;
    default:
        return SHOW_ALL;
    }
}

/* STM: bytes before the first synchronization are cut elsewhere; after them the original counts the index
   of the synchronization from what it had read of it before, and makes up its bytes. */
static enum showing stm_showing(const struct client *client, const ocsd_stm_pkt *packet)
{
    if (packet->type == STM_PKT_NOTSYNC && is_masked(client, MASK_NOTSYNC))
        return SHOW_NONE;
    return packet->type == STM_PKT_ASYNC && is_masked(client, MASK_STM_ASYNC) ? SHOW_KIND
                                                                              : SHOW_ALL;
}

static enum showing showing_of(const struct end *end, const void *packet, bool is_monitor)
{
    const struct client *client = end->client;

    if (!packet)
        return SHOW_ALL;
    switch (end->decoder->protocol) {
    case OCSD_PROTOCOL_PTM:
        return ptm_showing(client, packet, is_monitor);
    case OCSD_PROTOCOL_ETMV3: /* a zero of the block before may be at another index */
        return ((const ocsd_etmv3_pkt *)packet)->type == ETM3_PKT_NOTSYNC &&
                       is_masked(client, MASK_NOTSYNC)
                   ? SHOW_KIND
                   : SHOW_ALL;
    case OCSD_PROTOCOL_STM:
        return stm_showing(client, packet);
    default:
        return SHOW_ALL;
    }
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    const struct end *end = context;
    struct client *client = end->client;
    /* How often there is a FLUSH depends on how the bytes come. */
    const enum showing showing = showing_of(end, packet, false);
    const bool is_silent =
        showing == SHOW_NONE || (client->plan->is_loose && op == OCSD_OP_FLUSH);
    ocsd_datapath_resp_t said = OCSD_RESP_CONT;
    char text[4096] = "";
    const ocsd_trc_index_t shown = showing == SHOW_KIND ? 0 : index;

    if (packet)
        show_packet(text, sizeof text, client->library, end->decoder->protocol, packet);
    if (!is_silent && op == OCSD_OP_DATA)
        said = answer(client, stream_of(EVENT_PACKET, end->id), shown, text);
    if (!is_silent)
        say(client, stream_of(EVENT_PACKET, end->id),
            "packet op %d %" PRIu32 " id %02x %s -> %d", (int)op, shown, end->id, text,
            client->plan->is_loose ? 0 : (int)said);
    return said;
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    const struct end *end = context;
    char text[4096] = "", hex[3 * 256 + 1] = "";
    const enum showing showing = showing_of(end, packet, true);
    const bool is_bare = showing == SHOW_KIND;
    const bool is_etmv3 = end->decoder->protocol == OCSD_PROTOCOL_ETMV3;
    const uint32_t shown = is_bare && !is_etmv3 ? 0 : size;

    if (showing == SHOW_NONE)
        return;
    if (packet)
        show_packet(text, sizeof text, end->client->library, end->decoder->protocol, packet);
    for (uint32_t i = 0; i < shown && i < 256; i++)
        (void)sprintf(hex + 3 * (size_t)i, " %02x", bytes[i]);
    say(end->client, stream_of(EVENT_MONITOR, end->id),
        "monitor op %d %" PRIu32 " id %02x [%" PRIu32 "%s] %s", (int)op, is_bare ? 0 : index,
        end->id, shown, hex, text);
}

/* The same for the text of packets: printers are monitors where elements are made. */
static enum showing text_showing(const struct client *client, const char *text)
{
    const bool is_cut = is_masked(client, MASK_NOTSYNC);

    if (strstr(text, "\tNOTSYNC : PTM"))
        return (is_cut && client->plan->is_full) || is_ptm_reset(client) ? SHOW_NONE : SHOW_ALL;
    if (is_cut && strstr(text, "\tNOTSYNC:STM"))
        return SHOW_NONE;
    if (is_ptm_reset(client) && strstr(text, "\tINCOMPLETE_EOT :"))
        return SHOW_NONE;
    if ((is_cut && strstr(text, "\tNOTSYNC : Trace Stream")) ||
        (is_ptm_reset(client) && (strstr(text, "EO_TRACE(") || strstr(text, "\tASYNC : "))) ||
        (is_masked(client, MASK_STM_ASYNC) && strstr(text, "\tASYNC:Alignment")))
        return SHOW_KIND;
    return SHOW_ALL;
}

/* The address behind a word of a text, and whether it is there. */
static bool find_address(ocsd_vaddr_t *address, const char *text, const char *word)
{
    const char *at = strstr(text, word);

    at = at ? strstr(at, "0x") : NULL;
    if (at)
        *address = strtoull(at, NULL, 16);
    return at != NULL;
}

/* See hold_back.  True: it is kept for now. */
static bool hold_back_text(struct client *client, const char *text, int length)
{
    const char *buffered = strstr(client->buffered, "Idx:"),
               *element = strstr(text, "OCSD_GEN");
    ocsd_vaddr_t address;

    if (!is_masked(client, MASK_PASSED) || !element)
        return false;
    if (buffered && strncmp(buffered, text, (size_t)(element - text)) == 0 &&
        find_address(&address, text, "ELEM_EXCEPTION(pref ret addr") &&
        address < client->buffered_address)
        client->buffered[0] = 0;
    if (!find_address(&address, text, "ELEM_ADDR_NACC("))
        return false;
    let_go(client);
    client->buffered_stream = stream_of(EVENT_TEXT, 0);
    client->buffered_address = address;
    (void)snprintf(client->buffered, sizeof client->buffered, "text %d %s", length, text);
    return true;
}

static void on_text(const void *context, const char *text, const int length)
{
    struct client *client = (struct client *)(uintptr_t)context;
    const char *behind = strchr(text, ';');
    const enum showing showing = text_showing(client, text);

    if (showing == SHOW_NONE || hold_back_text(client, text, length))
        return;
    if (behind && showing == SHOW_KIND)
        say(client, stream_of(EVENT_TEXT, 0), "text %s", behind);
    else
        say(client, stream_of(EVENT_TEXT, 0), "text %d %s", length, text);
}

static uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id,
                          const uint32_t size, uint8_t *out)
{
    const struct client *client = context;
    const struct subject *subject = client->subject;

    (void)id;
    for (size_t i = 0; i < subject->dump_count; i++) {
        const struct tw_dump *dump = subject->dumps[i];
        const uint64_t left = dump->length - (address - dump->address);

        if (address < dump->address || address - dump->address >= dump->length ||
            (dump->spaces && !(dump->spaces & (uint32_t)space)))
            continue;
        memcpy(out, dump->bytes + (address - dump->address), left < size ? left : size);
        return (uint32_t)(left < size ? left : size);
    }
    return 0;
}

static void add_memory(struct client *client)
{
    const struct library *library = client->library;
    const struct subject *subject = client->subject;

    if (client->plan->uses_memory_callback || !subject->dump_count) {
        say(client, EVENT_CALL, "callback %d",
            (int)library->ocsd_dt_add_callback_trcid_mem_acc(
                client->tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY, on_memory, client));
        return;
    }
    for (size_t i = 0; i < subject->dump_count; i++) {
        const struct tw_dump *dump = subject->dumps[i];
        const bool is_narrow = dump->spaces && (dump->spaces & 0x1f) != 0x1f;

        say(client, EVENT_CALL, "memory %d",
            (int)library->ocsd_dt_add_buffer_mem_acc(
                client->tree, dump->address,
                is_narrow ? (ocsd_mem_space_acc_t)dump->spaces : OCSD_MEM_SPACE_ANY,
                dump->bytes, (uint32_t)dump->length));
    }
}

static void add_decoders(struct client *client, struct end *ends)
{
    const struct library *library = client->library;
    const struct plan *plan = client->plan;

    for (size_t i = 0; i < client->subject->decoder_count; i++) {
        const struct subject_decoder *decoder = &client->subject->decoders[i];
        unsigned char id = 0xee;
        bool is_printed;
        int result;

        result = (int)library->ocsd_dt_create_decoder(
            client->tree, decoder->name,
            plan->is_full ? OCSD_CREATE_FLG_FULL_DECODER : OCSD_CREATE_FLG_PACKET_PROC,
            &decoder->config, &id);
        say(client, EVENT_CALL, "decoder %s %d id %02x", decoder->name, result, id);
        ends[i] = (struct end){ client, decoder, id };
        if (result != OCSD_OK)
            continue;
        /* 1.3.3 has no callbacks for ETE's packets, but printers. */
        is_printed = plan->is_printed || strcmp(decoder->name, OCSD_BUILTIN_DCD_ETE) == 0;
        if (is_printed && (!plan->is_full || plan->has_monitor))
            say(client, EVENT_CALL, "printer %d",
                (int)library->ocsd_dt_set_pkt_protocol_printer(client->tree, id,
                                                               plan->is_full));
        else if (!plan->is_full)
            say(client, EVENT_CALL, "sink %d",
                (int)library->ocsd_dt_attach_packet_callback(
                    client->tree, id, OCSD_C_API_CB_PKT_SINK, (void *)(uintptr_t)on_packet,
                    &ends[i]));
        if (plan->has_monitor && !is_printed)
            say(client, EVENT_CALL, "monitor %d",
                (int)library->ocsd_dt_attach_packet_callback(
                    client->tree, id, OCSD_C_API_CB_PKT_MON, (void *)(uintptr_t)on_monitor,
                    &ends[i]));
    }
}

static bool start(struct client *client, struct end *ends)
{
    const struct library *library = client->library;
    const struct plan *plan = client->plan;
    const bool is_framed = client->subject->framing != TW_FRAMING_NONE;

    client->tree = library->ocsd_create_dcd_tree(is_framed ? OCSD_TRC_SRC_FRAME_FORMATTED
                                                           : OCSD_TRC_SRC_SINGLE,
                                                 subject_flags(client->subject));
    if (!client->tree)
        return false;
    (void)library->ocsd_def_errlog_init((ocsd_err_severity_t)plan->verbosity, 1);
    (void)library->ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    (void)library->ocsd_def_errlog_set_strprint_cb(client->tree, client, on_text);
    add_decoders(client, ends);
    if (plan->is_full) {
        if (plan->is_printed)
            (void)library->ocsd_dt_set_gen_elem_printer(client->tree);
        else
            (void)library->ocsd_dt_set_gen_elem_outfn(client->tree, on_element, client);
        add_memory(client);
    }
    if (plan->is_printed && is_framed)
        (void)library->ocsd_dt_set_raw_frame_printer(
            client->tree, OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT);
    return true;
}

static ocsd_datapath_resp_t operate(struct client *client, ocsd_datapath_op_t op)
{
    const ocsd_datapath_resp_t said =
        client->library->ocsd_dt_process_data(client->tree, op, 0, 0, NULL, NULL);

    client->has_reset = client->has_reset || op == OCSD_OP_RESET;
    say(client, EVENT_CALL, "op %d -> %d", (int)op, (int)said);
    return said;
}

/* Until it no longer asks to wait.  The original reads what is not set, and may crash, if it had no frame
   before. */
static ocsd_datapath_resp_t flush(struct client *client, ocsd_datapath_resp_t said)
{
    while (OCSD_DATA_RESP_IS_WAIT(said) && client->has_data)
        said = operate(client, OCSD_OP_FLUSH);
    return said;
}

/* Frames of a TPIU: where the next FSYNC is.  Without one a block is lost on the original. */
static size_t next_fsync(const struct subject *subject, size_t at)
{
    static const uint8_t fsync[] = { 0xff, 0xff, 0xff, 0x7f };

    if (subject->align != 2 && subject->align != 4)
        return at;
    while (at + sizeof fsync <= subject->size &&
           memcmp(subject->data + at, fsync, sizeof fsync) != 0)
        at += subject->align;
    return at + sizeof fsync <= subject->size ? at : subject->size;
}

/* Operations that nothing asks for. */
static ocsd_datapath_resp_t disturb(struct client *client, size_t *done)
{
    const struct plan *plan = client->plan;
    ocsd_datapath_resp_t said = OCSD_RESP_CONT;

    if (plan->flushes && client->has_data && random_below(client, 1000) < plan->flushes)
        said = flush(client, operate(client, OCSD_OP_FLUSH));
    if (plan->ends && random_below(client, 1000) < plan->ends) {
        (void)flush(client, operate(client, OCSD_OP_EOT));
        said = operate(client, OCSD_OP_RESET);
        *done = next_fsync(client->subject, *done);
    }
    if (plan->resets && random_below(client, 1000) < plan->resets) {
        said = operate(client, OCSD_OP_RESET);
        *done = next_fsync(client->subject, *done);
        if (client->subject->framing == TW_FRAMING_NONE && random_below(client, 2))
            *done += random_below(client, 20); /* and goes on elsewhere */
    }
    return said;
}

static uint32_t piece_size(struct client *client, size_t left)
{
    const unsigned align = client->subject->align;
    const size_t most = 1 + random_below(client, 4) * 300 + random_below(client, 40);
    size_t size = 1 + random_below(client, most);

    if (align > 1) /* at least an FSYNC */
        size = align * (1 + size / align + (align == 2));
    return (uint32_t)(size < left ? size : left);
}

static void feed(struct client *client)
{
    const struct subject *subject = client->subject;
    const bool is_framed = subject->framing != TW_FRAMING_NONE;
    const size_t size = subject->size;
    ocsd_datapath_resp_t said = OCSD_RESP_CONT;
    size_t done = 0, end = client->plan->cuts ? 0 : size;

    while (done < size && !client->is_over) {
        uint32_t piece, used = 0;

        if (done >= end) { /* a new piece, chosen by its place */
            client->asked = 256 * (uint64_t)done;
            end = done + piece_size(client, size - done);
        }
        piece = (uint32_t)(end - done);
        said = client->library->ocsd_dt_process_data(client->tree, OCSD_OP_DATA,
                                                     (ocsd_trc_index_t)done, piece,
                                                     subject->data + done, &used);
        say(client, EVENT_CALL, "data %zu %" PRIu32 " used %" PRIu32 " -> %d", done, piece,
            used, (int)said);
        done += used;
        client->has_data = client->has_data || used || !is_framed;
        said = flush(client, said);
        client->is_over = OCSD_DATA_RESP_IS_FATAL(said) && client->plan->stops_early;
        if (!client->is_over && done >= end && done < size)
            (void)disturb(client, &done);
        if (!used && OCSD_DATA_RESP_IS_FATAL(said)) {
            if (is_framed)
                break;
            done++;
        }
    }
    if (!client->is_over)
        (void)flush(client, operate(client, OCSD_OP_EOT));
}

static void show_stats(struct client *client, const struct end *ends)
{
    for (size_t i = 0; i < client->subject->decoder_count; i++) {
        ocsd_decode_stats_t *stats = NULL;
        const int result =
            (int)client->library->ocsd_dt_get_decode_stats(client->tree, ends[i].id, &stats);

        if (result != OCSD_OK || !stats) {
            say(client, EVENT_CALL, "stats %d", result);
            continue;
        }
        say(client, EVENT_CALL,
            "stats id %02x %x %u total %" PRIu64 " unsynced %" PRIu64 " header %" PRIu32
            " sequence %" PRIu32 " demux %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
            " %" PRIu64,
            ends[i].id, stats->version, stats->revision, stats->channel_total,
            stats->channel_unsynced, stats->bad_header_errs, stats->bad_sequence_errs,
            stats->demux.valid_id_bytes, stats->demux.no_id_bytes,
            stats->demux.reserved_id_bytes, stats->demux.unknown_id_bytes,
            stats->demux.frame_bytes);
    }
}

void client_run(struct events *events, const struct library *library,
                const struct subject *subject, const struct plan *plan)
{
    struct client client = {
        .events = events, .library = library, .subject = subject, .plan = plan
    };
    struct end ends[SUBJECT_DECODERS];

    if (!start(&client, ends)) {
        say(&client, EVENT_CALL, "no tree");
        return;
    }
    feed(&client);
    show_stats(&client, ends);
    library->ocsd_destroy_dcd_tree(client.tree);
}
