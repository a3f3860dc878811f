/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway index: builds, shows and searches the index of a capture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "shared/at.h"
#include "shared/interrupt.h"
#include "shared/session.h"

struct work {
    const struct options *options;
    struct session session;
    struct output out;
    bool is_json;
    const char *buffer;          /* its name, when there are several */
    struct tw_run_place place;   /* find */
    bool is_found;               /* it showed something */
    const char *path;            /* of the index file */
    bool has_file;               /* there is one, good or not */
    bool is_made;                /* it was of no use, and another one was made */
    struct tw_index **built;     /* by buffer; NULL: none was */
    const struct tw_index **all; /* by buffer: of the file, made or built */
};

typedef int verb_fn(struct work *work, uint32_t buffer);

/* ---- build ---- */

static enum tw_index_detail detail_of(const struct options *options)
{
    if (options->detail && strcmp(options->detail, "sparse") == 0)
        return TW_INDEX_SPARSE;
    if (options->detail && strcmp(options->detail, "source") == 0)
        return TW_INDEX_SOURCE;
    return TW_INDEX_FULL;
}

/* An index of parts that stands there already, and to which this one is to be added. */
static const struct tw_index *known_part(struct work *work,
                                         const struct tw_index_config *config, uint32_t buffer)
{
    const struct options *options = work->options;
    const struct tw_index *known = NULL;
    const struct tw_index_about *about;

    if (work->has_file && (options->from.is_given || options->to.is_given))
        known = tw_run_index(work->session.run, buffer, false);
    if (!known)
        return NULL;
    about = tw_index_about(known);
    return about->detail == config->detail &&
                   (!config->block_bytes || about->block_bytes == config->block_bytes)
               ? known
               : NULL;
}

static int build(struct work *work, uint32_t buffer)
{
    const struct options *options = work->options;
    const struct tw_index_config config = {
        .size = sizeof config,
        .detail = detail_of(options),
        .block_bytes = options->block.value > UINT32_MAX ? 1 : (uint32_t)options->block.value,
        .name = tw_capture_buffer(work->session.capture, buffer)->name,
    };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_index **made = &work->built[buffer];
    const struct tw_index *known = known_part(work, &config, buffer);
    const struct tw_index_capture *capture;

    if (tw_run_index_capture(work->session.run, &capture, buffer) != TW_OK) {
        say("%s: %s", tw_capture_path(work->session.capture), tw_run_fault(work->session.run));
        return NOT_DONE;
    }
    if (tw_index_extend(
            made, known, capture, &config, options->from.is_given ? options->from.value : 0,
            options->to.is_given ? options->to.value : UINT64_MAX, &fault) != TW_OK) {
        say("%s: %s", tw_capture_path(work->session.capture), fault.text);
        return fault.status == TW_E_ARGUMENT ? BAD_USAGE : NOT_DONE;
    }
    work->all[buffer] = *made;
    return DONE;
}

/* ---- show ---- */

/* The index of a buffer with all its entries, made if there is none; NULL: failed, said why. */
static const struct tw_index *need(struct work *work, uint32_t buffer, bool is_thorough)
{
    struct tw_run *run = work->session.run;
    const struct tw_index *found = tw_run_index(run, buffer, is_thorough);
    const struct tw_index *index = tw_run_index_need(run, buffer, is_thorough);

    if (!index)
        say("%s: %s", tw_capture_path(work->session.capture), tw_run_fault(run));
    work->is_made |= index && index != found;
    work->all[buffer] = index;
    return index;
}

static const char *detail_name(enum tw_index_detail detail)
{
    static const char *const names[] = { "source", "sparse", "full" };

    return names[detail];
}

static const char *event_name(unsigned kind)
{
    static const char *const names[] = { "TRIGGER", "FLUSH",    "FSYNC",    "HSYNC",
                                         "BARRIER", "LOST",     "RESERVED", "INCOMPLETE",
                                         "SKIPPED", "BAD_BLOCK" };

    return kind < sizeof names / sizeof names[0] ? names[kind] : "UNKNOWN";
}

static void show_head(struct work *work, const struct tw_index *index)
{
    const struct tw_index_about *about = tw_index_about(index);
    struct output *out = &work->out;

    if (work->is_json) {
        output_text(out, "{\"t\":\"INDEX\",\"buf\":");
        output_json_text(out, about->name);
        output_format(out,
                      ",\"framing\":\"%s\",\"detail\":\"%s\",\"base\":%" PRIu64
                      ",\"bytes\":%" PRIu64 ",\"indexed\":%" PRIu64 ",\"block\":%" PRIu32
                      ",\"blocks\":%" PRIu64 ",\"events\":%" PRIu64 ",\"frames\":%" PRIu64
                      ",\"sync_bytes\":%" PRIu64 ",\"unknown_bytes\":%" PRIu64 "}\n",
                      tw_framing_name(about->framing), detail_name(about->detail), about->base,
                      about->bytes, about->indexed, about->block_bytes, about->blocks,
                      about->events, about->frames.frames, about->frames.sync_bytes,
                      about->frames.bytes_by_id[TW_ID_UNKNOWN]);
        return;
    }
    output_format(out, "%s: %" PRIu64 " bytes, framing %s, blocks of %" PRIu32 ", %s index",
                  about->name, about->bytes, tw_framing_name(about->framing),
                  about->block_bytes, detail_name(about->detail));
    if (!about->is_complete)
        output_format(out, ", %" PRIu64 " bytes indexed", about->indexed);
    output_text(out, "\n");
    if (about->framing != TW_FRAMING_NONE)
        output_format(out,
                      "  %" PRIu64 " frames, %" PRIu64 " bytes of sync, %" PRIu64
                      " bytes of unknown ID, %" PRIu64 " events\n",
                      about->frames.frames, about->frames.sync_bytes,
                      about->frames.bytes_by_id[TW_ID_UNKNOWN], about->events);
}

static void show_parts(struct work *work, const struct tw_index *index)
{
    uint64_t from, to;

    if (tw_index_about(index)->is_complete)
        return;
    for (uint64_t i = 0; tw_index_part(index, &from, &to, i) == TW_OK; i++)
        output_format(&work->out,
                      work->is_json ? "{\"t\":\"PART\",\"from\":%" PRIu64 ",\"to\":%" PRIu64
                                      "}\n"
                                    : "  indexed from 0x%" PRIx64 " to 0x%" PRIx64 "\n",
                      from, to);
}

static void show_stream(struct work *work, const struct tw_index *index,
                        const struct tw_index_stream *stream)
{
    const struct tw_index_about *about = tw_index_about(index);
    const uint64_t bytes = about->framing == TW_FRAMING_NONE
                               ? about->indexed
                               : about->frames.bytes_by_id[stream->id];
    struct output *out = &work->out;

    output_format(out,
                  work->is_json
                      ? "{\"t\":\"STREAM\",\"id\":%u,\"protocol\":\"%s\",\"bytes\":%" PRIu64
                      : "  id 0x%02x %s: %" PRIu64 " bytes",
                  (unsigned)stream->id, stream->protocol, bytes);
    for (unsigned kind = 0; kind < TW_INDEX_KINDS; kind++)
        if (work->is_json || stream->counts[kind])
            output_format(out, work->is_json ? ",\"%s\":%" PRIu64 : ", %s %" PRIu64,
                          tw_index_kind_name(kind), stream->counts[kind]);
    if (stream->counts[TW_INDEX_TIME])
        output_format(out,
                      work->is_json ? ",\"first_time\":\"0x%" PRIx64
                                      "\",\"last_time\":\"0x%" PRIx64 "\""
                                    : ", time 0x%" PRIx64 " to 0x%" PRIx64,
                      stream->first_time, stream->last_time);
    output_text(out, work->is_json ? "}\n" : "\n");
}

static void show_events(struct work *work, const struct tw_index *index)
{
    struct tw_frame_event event;

    for (uint64_t i = 0; tw_index_event(index, &event, i) == TW_OK; i++)
        if (event.kind == TW_FRAME_TRIGGER || event.kind == TW_FRAME_FLUSH ||
            work->options->all)
            output_format(&work->out,
                          work->is_json ? "{\"i\":%" PRIu64 ",\"t\":\"%s\",\"length\":%" PRIu32
                                          ",\"value\":%u}\n"
                                        : "  0x%" PRIx64 " %s, %" PRIu32 " bytes, value %u\n",
                          event.offset, event_name(event.kind), event.length,
                          (unsigned)event.value);
}

static void show_ids(struct work *work, const struct tw_index_block *block)
{
    bool is_first = true;

    for (unsigned id = 0; id < 128; id++) {
        if (!(block->ids[id / 64] >> id % 64 & 1))
            continue;
        output_format(&work->out, work->is_json ? "%s%u" : "%s0x%02x", is_first ? "" : ",", id);
        is_first = false;
    }
}

static void show_blocks(struct work *work, const struct tw_index *index)
{
    struct tw_index_block block = { .size = sizeof block };

    for (uint64_t i = 0; tw_index_block(index, &block, i) == TW_OK; i++) {
        if (!block.bytes)
            continue;
        output_format(&work->out,
                      work->is_json ? "{\"i\":%" PRIu64 ",\"t\":\"BLOCK\",\"bytes\":%" PRIu32
                                      ",\"ids\":["
                                    : "  0x%" PRIx64 " BLOCK of %" PRIu32 ", ids ",
                      block.offset, block.bytes);
        show_ids(work, &block);
        output_format(&work->out,
                      work->is_json ? "],\"syncs\":%" PRIu32 ",\"events\":%" PRIu32 "}\n"
                                    : "; %" PRIu32 " syncs, %" PRIu32 " events\n",
                      block.frame_syncs, block.events);
    }
}

static void show_entry(struct work *work, const struct tw_index_entry *entry)
{
    struct output *out = &work->out;

    work->is_found = true;
    if (!work->is_json) {
        if (work->buffer)
            output_format(out, "%s: ", work->buffer);
        output_format(out, "0x%" PRIx64 " id 0x%02x %s 0x%" PRIx64 "\n", entry->offset,
                      (unsigned)entry->id, tw_index_kind_name(entry->kind), entry->value);
        return;
    }
    output_format(out, "{\"i\":%" PRIu64 ",\"id\":%u,\"t\":\"%s\"", entry->offset,
                  (unsigned)entry->id, tw_index_kind_name(entry->kind));
    if (work->buffer) {
        output_text(out, ",\"buf\":");
        output_json_text(out, work->buffer);
    }
    output_format(out, ",\"value\":\"0x%" PRIx64 "\"}\n", entry->value);
}

static void show_stream_blocks(struct work *work, const struct tw_index *index, size_t stream,
                               uint8_t id)
{
    struct tw_index_stream_block block = { .size = sizeof block };

    for (uint64_t i = 0; tw_index_stream_block(index, &block, stream, i) == TW_OK; i++) {
        if (!block.counts[TW_INDEX_SYNC] && !block.counts[TW_INDEX_TIME])
            continue;
        output_format(&work->out,
                      work->is_json ? "{\"i\":%" PRIu64
                                      ",\"id\":%u,\"t\":\"STREAM_BLOCK\",\"SYNC\":%" PRIu64
                                      ",\"TIME\":%" PRIu64 ",\"first_time\":\"0x%" PRIx64
                                      "\",\"last_time\":\"0x%" PRIx64 "\"}\n"
                                    : "  0x%" PRIx64 " id 0x%02x: SYNC %" PRIu64
                                      ", TIME %" PRIu64 ", time 0x%" PRIx64 " to 0x%" PRIx64
                                      "\n",
                      block.offset, (unsigned)id, block.counts[TW_INDEX_SYNC],
                      block.counts[TW_INDEX_TIME], block.first_time, block.last_time);
    }
}

static int show(struct work *work, uint32_t buffer)
{
    const struct tw_index *index =
        work->has_file ? tw_run_index(work->session.run, buffer, true) : NULL;
    struct tw_index_stream stream = { .size = sizeof stream };

    if (!work->has_file) {
        say("%s is not there; \"trackway index build\" makes it", work->path);
        return NOT_DONE;
    }
    work->all[buffer] = index;
    if (!index) /* damaged, or of something else */
        index = need(work, buffer, true);
    if (!index)
        return NOT_DONE;
    show_head(work, index);
    show_parts(work, index);
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        if (session_wants_id(&work->session, stream.id))
            show_stream(work, index, &stream);
    show_events(work, index);
    if (!work->options->all)
        return DONE;
    show_blocks(work, index);
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        struct tw_index_entry entry;

        if (!session_wants_id(&work->session, stream.id))
            continue;
        show_stream_blocks(work, index, i, stream.id);
        for (uint64_t n = 0; tw_index_entry(index, &entry, i, n) == TW_OK; n++)
            show_entry(work, &entry);
    }
    return DONE;
}

/* ---- find ---- */

/* So many entries of a stream from an offset on. */
static enum tw_status list_from(struct work *work, const struct tw_index *index, size_t stream,
                                uint64_t offset)
{
    uint64_t left = work->options->count.is_given ? work->options->count.value : 1;
    uint64_t number;
    struct tw_index_entry entry;

    if (tw_index_find_offset(index, &number, stream, offset) != TW_OK)
        return TW_OK;
    for (; left && tw_index_entry(index, &entry, stream, number) == TW_OK; number++) {
        if (entry.kind == TW_INDEX_STATE && !work->options->all)
            continue;
        show_entry(work, &entry);
        left--;
    }
    return TW_OK;
}

static int find(struct work *work, uint32_t buffer)
{
    const struct tw_index *index = need(work, buffer, false);
    const struct tw_run_place *place = &work->place;
    struct tw_index_stream stream = { .size = sizeof stream };
    struct tw_index_entry entry;

    if (!index)
        return NOT_DONE;
    if (place->kind == TW_PLACE_NTH) {
        const uint64_t most = work->options->count.is_given ? work->options->count.value : 1;

        for (uint64_t i = 0; i < most; i++)
            if (tw_run_place_nth(work->session.run, index, &entry, place->of,
                                 place->value - 1 + i) == TW_OK)
                show_entry(work, &entry);
            else
                break;
        return DONE;
    }
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        uint64_t offset = place->value;

        if (!session_wants_id(&work->session, stream.id))
            continue;
        if (place->kind == TW_PLACE_TIME) {
            if (tw_index_find_time(index, &entry, i, place->value) != TW_OK)
                continue;
            show_entry(work, &entry);
            if (work->options->count.value < 2)
                continue;
            offset = entry.offset + 1;
        }
        if (list_from(work, index, i, offset) != TW_OK)
            return NOT_DONE;
    }
    return DONE;
}

/* ---- all ---- */

static int each_buffer(struct work *work, verb_fn *verb)
{
    const size_t count = tw_capture_buffer_count(work->session.capture);
    int status = DONE;

    for (uint32_t i = 0; status == DONE && i < count; i++) {
        if (!session_wants(&work->session, i))
            continue;
        if (session_has_several(&work->session))
            work->buffer = tw_capture_buffer(work->session.capture, i)->name;
        status = verb(work, i);
    }
    return status;
}

static bool write_all(const struct work *work)
{
    const size_t count = tw_capture_buffer_count(work->session.capture);
    const struct tw_index **list = calloc(count + 1, sizeof(const struct tw_index *));
    struct tw_fault fault = { TW_OK, "" };
    size_t written = 0;
    bool is_done;

    if (!list) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++)
        if (work->all[i])
            list[written++] = work->all[i];
    is_done =
        written && work->path && tw_index_write(work->path, list, written, &fault) == TW_OK;
    if (!is_done)
        say("%s", !work->path ? "out of memory"
                  : written   ? fault.text
                              : "there is no buffer to index");
    free(list);
    return is_done;
}

/* Quickly done: an interrupt waits, so that nothing is left beside the file. */
static bool write_indexes(const struct work *work)
{
    bool is_done;

    interrupt_hold();
    is_done = write_all(work);
    interrupt_release();
    return is_done;
}

/* A run that decodes nothing: it knows sources and indexes. */
static bool start(struct work *work)
{
    const size_t count = tw_capture_buffer_count(work->session.capture);
    struct session_wish wish;

    work->built = calloc(count + 1, sizeof *work->built);
    work->all = calloc(count + 1, sizeof(const struct tw_index *));
    if (!work->built || !work->all) {
        say("out of memory");
        return false;
    }
    if (session_wish(&work->session, &wish) == DONE)
        work->session.run = session_run_new(&work->session, &wish);
    session_wish_free(&wish);
    if (work->session.run)
        work->path = tw_run_index_path(work->session.run, &work->has_file);
    return work->session.run != NULL;
}

static void stop(struct work *work)
{
    const size_t count = work->built ? tw_capture_buffer_count(work->session.capture) : 0;

    for (size_t i = 0; i < count; i++)
        tw_index_free(work->built[i]);
    free(work->built);
    free(work->all);
}

static int run_verb(struct work *work, verb_fn *verb)
{
    int status = options_want_offsets(work->options)
                     ? session_open(&work->session, work->options)
                     : BAD_USAGE;

    if (status == DONE && !start(work))
        status = NOT_DONE;
    if (status == DONE && !output_open(&work->out, work->options->output, work->options->color))
        status = NOT_DONE;
    if (status == DONE) {
        work->session.out = &work->out;
        if (verb != build)
            tw_run_index_check(work->session.run);
        status = each_buffer(work, verb);
    }
    /* An index that was there and of no use is replaced by the one made. */
    if (status == DONE && (verb == build || (work->is_made && work->has_file)) &&
        !write_indexes(work))
        status = NOT_DONE;
    if (!output_close(&work->out, status == DONE))
        status = NOT_DONE;
    if (status == DONE && verb == find && !work->is_found) {
        say("%s: there is no %s in it%s", tw_capture_path(work->session.capture),
            work->options->at, place_hint(work->options));
        status = DONE_WITH_LOSS;
    }
    stop(work);
    session_close(&work->session);
    return status;
}

static int run(const struct options *options)
{
    static const struct {
        const char *name;
        verb_fn *verb;
    } verbs[] = { { "build", build }, { "show", show }, { "find", find } };
    struct options rest = *options; /* the verb is no capture */
    struct work work = { .options = &rest };

    rest.arguments.items++;
    rest.arguments.count--;
    work.is_json = options_format_is(options, "jsonl");
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(options->arguments.items[0], verbs[i].name) != 0)
            continue;
        if (verbs[i].verb == find && !options->at) {
            (void)options_wrong(options, "find wants --at PLACE");
            return BAD_USAGE;
        }
        if (options->at && !place_parse(&work.place, options))
            return BAD_USAGE;
        if (strcmp(options->arguments.items[1], "-") == 0 && !options->index) {
            (void)options_wrong(options,
                                "standard input has no place for an index: give --index FILE");
            return BAD_USAGE;
        }
        return run_verb(&work, verbs[i].verb);
    }
    (void)options_wrong(options, "there is no \"index %s\"; there are build, show and find",
                        options->arguments.items[0]);
    return BAD_USAGE;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART,  O_AT,       O_COUNT,       O_INDEX,  O_DETAIL, O_BLOCK,
    O_ALL,     O_CLOCK, O_ON_ERROR, O_ASSUME_SYNC, G_OUTPUT, O_END,
};

const struct command command_index = {
    .name = "index",
    .arguments = "build|show|find CAPTURE [OPTION...]",
    .summary = "builds, shows and searches the index of a capture",
    .details =
        "build writes CAPTURE.twx (or --index FILE), from which \"decode --at\" knows where "
        "to\n"
        "begin; --from and --to index a part. show tells what it holds, with --all every\n"
        "block and entry. find tells where --at PLACE is: for a time in every stream, so what\n"
        "the other cores did then. An index that is damaged, or of another capture, is "
        "noticed\n"
        "and made anew.\n"
        "\n"
        "examples:\n"
        "  trackway index build snapshot\n"
        "  trackway index find snapshot --at 1000\n"
        "  trackway decode snapshot --at 1000 --count 20",
    .formats = "text|jsonl",
    .options = takes,
    .least = 2,
    .most = 2,
    .run = run,
};
