/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway pack: streams of several trace IDs into CoreSight frames. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/capture.h>
#include <trackway/frame.h>

#include "commands/commands.h"

enum { TURN = 64, PIECE = 1 << 16, FIRST_RESERVED_ID = 0x70 };

struct stream {
    FILE *file;
    const char *path;
    uint8_t id;
    bool is_done;
};

enum marker_kind { MARK_TRIGGER, MARK_FLUSH, MARK_BARRIER, MARK_IDLE };

struct marker {
    uint64_t at; /* when so many bytes of all streams are written */
    enum marker_kind kind;
    uint8_t value;
};

struct pack {
    const struct options *options;
    struct tw_framer *framer;
    struct output *out;
    struct stream *streams;
    size_t stream_count;
    struct marker *markers;
    size_t marker_count, next_marker;
    uint64_t written;
};

static bool fault(enum tw_status status)
{
    if (status == TW_OK)
        return true;
    if (status == TW_E_MEMORY)
        out_of_memory();
    say("pack: the frames could not be made (%s)", tw_status_name(status));
    return false;
}

/* Finished frames go out. */
static bool drain(struct pack *pack)
{
    size_t size;
    const uint8_t *bytes = tw_framer_output(pack->framer, &size);

    output_bytes(pack->out, bytes, size);
    tw_framer_take(pack->framer);
    return !output_is_over(pack->out);
}

static bool put_marker(struct pack *pack, const struct marker *marker)
{
    if (marker->kind == MARK_BARRIER)
        return fault(tw_framer_barrier(pack->framer));
    if (marker->kind == MARK_IDLE)
        return fault(tw_framer_idle(pack->framer));
    return fault(tw_framer_mark(pack->framer,
                                marker->kind == MARK_TRIGGER ? TW_ID_TRIGGER : TW_ID_FLUSH,
                                marker->value));
}

static bool put_markers(struct pack *pack, bool is_end)
{
    while (pack->next_marker < pack->marker_count &&
           (is_end || pack->markers[pack->next_marker].at <= pack->written)) {
        if (!put_marker(pack, &pack->markers[pack->next_marker]))
            return false;
        pack->next_marker++;
    }
    return true;
}

/* Bytes of one ID, cut where a marker is due. */
static bool put_bytes(struct pack *pack, uint8_t id, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t now = size;

        if (!put_markers(pack, false))
            return false;
        if (pack->next_marker < pack->marker_count &&
            now > pack->markers[pack->next_marker].at - pack->written)
            now = (size_t)(pack->markers[pack->next_marker].at - pack->written);
        if (!fault(tw_framer_write(pack->framer, id, bytes, now)))
            return false;
        pack->written += now;
        bytes += now;
        size -= now;
    }
    return true;
}

/* A stream's turn: at most `turn` bytes. */
static bool put_turn(struct pack *pack, struct stream *stream, uint8_t *piece, size_t turn)
{
    while (turn) {
        const size_t wish = turn < PIECE ? turn : PIECE;
        const size_t got = fread(piece, 1, wish, stream->file);

        if (!put_bytes(pack, stream->id, piece, got) || !drain(pack))
            return false;
        if (got < wish) {
            stream->is_done = true;
            if (!ferror(stream->file))
                return true;
            say("pack: cannot read %s: %s", stream->path, strerror(errno));
            return false;
        }
        turn -= got;
    }
    return true;
}

static bool put_streams(struct pack *pack)
{
    const struct number *wish = &pack->options->interleave;
    const size_t turn = !wish->is_given           ? TURN
                        : wish->value == 0        ? SIZE_MAX
                        : wish->value >= SIZE_MAX ? SIZE_MAX
                                                  : (size_t)wish->value;
    uint8_t *piece = malloc(PIECE);
    bool is_good = piece != NULL, is_more = true;

    if (!piece)
        say("out of memory");
    while (is_good && is_more) {
        is_more = false;
        for (size_t i = 0; is_good && i < pack->stream_count; i++) {
            if (!pack->streams[i].is_done)
                is_good = put_turn(pack, &pack->streams[i], piece, turn);
            is_more |= !pack->streams[i].is_done;
        }
    }
    free(piece);
    return is_good && put_markers(pack, true) && fault(tw_framer_finish(pack->framer)) &&
           drain(pack);
}

/* Exit status: a bad option or an unreadable file. */
static int open_stream(const struct options *options, struct stream *stream, const char *text)
{
    const char *colon = strchr(text, ':');
    uint64_t id;

    if (!colon || !parse_number_size(&id, text, (size_t)(colon - text)) || id == 0 ||
        id >= FIRST_RESERVED_ID || !colon[1]) {
        (void)options_wrong(
            options,
            "--stream: \"%s\" is not ID:FILE with an ID from 0x01 to 0x6f, such "
            "as 0x10:core0.bin",
            text);
        return BAD_USAGE;
    }
    *stream = (struct stream){ fopen(colon + 1, "rb"), colon + 1, (uint8_t)id, false };
    if (stream->file)
        return DONE;
    say("pack: cannot read %s: %s", colon + 1, strerror(errno));
    return NOT_DONE;
}

static int open_streams(struct pack *pack)
{
    const struct list *list = &pack->options->streams;

    if (list->count == 0) {
        (void)options_wrong(pack->options, "nothing to pack; give --stream ID:FILE for each "
                                           "trace ID");
        return BAD_USAGE;
    }
    pack->streams = calloc(list->count, sizeof *pack->streams);
    if (!pack->streams) {
        say("out of memory");
        return NOT_DONE;
    }
    for (size_t i = 0; i < list->count; i++) {
        const int status = open_stream(pack->options, &pack->streams[i], list->items[i]);

        if (status != DONE)
            return status;
        pack->stream_count++;
    }
    return DONE;
}

static bool parse_marker(const struct options *options, struct marker *marker, const char *kind,
                         const char *text)
{
    const size_t size = strcspn(text, ":");
    uint64_t value = 0;
    bool has_value;

    marker->kind = kind[0] == 't'   ? MARK_TRIGGER
                   : kind[0] == 'f' ? MARK_FLUSH
                   : kind[0] == 'b' ? MARK_BARRIER
                                    : MARK_IDLE;
    has_value = marker->kind == MARK_TRIGGER || marker->kind == MARK_FLUSH;
    if (!parse_number_size(&marker->at, text, size) ||
        (text[size] && (!has_value || !parse_number(&value, text + size + 1) || value > 0xff)))
        return options_wrong(options, "--%s: \"%s\" is not AT%s, such as 4096%s", kind, text,
                             has_value ? "[:VALUE]" : "", has_value ? " or 4096:0x01" : "");
    marker->value = (uint8_t)value;
    return true;
}

static bool parse_markers(struct pack *pack)
{
    const struct list *list = &pack->options->markers;

    pack->markers = calloc(list->count + 1, sizeof *pack->markers);
    if (!pack->markers)
        out_of_memory();
    for (size_t i = 0; i + 1 < list->count; i += 2) {
        struct marker marker;
        size_t at = pack->marker_count;

        if (!parse_marker(pack->options, &marker, list->items[i], list->items[i + 1]))
            return false;
        for (; at > 0 && pack->markers[at - 1].at > marker.at; at--)
            pack->markers[at] = pack->markers[at - 1];
        pack->markers[at] = marker;
        pack->marker_count++;
    }
    return true;
}

static bool small_number(const struct options *options, uint32_t *to, const struct number *from,
                         const char *name)
{
    if (from->value > UINT32_MAX)
        return options_wrong(options, "--%s: %" PRIu64 " is too much", name, from->value);
    *to = (uint32_t)from->value;
    return true;
}

static bool new_framer(struct pack *pack)
{
    const struct options *options = pack->options;
    struct tw_framer_config config = { .size = sizeof config, .framing = TW_FRAMING_MEMORY };
    enum tw_status status;

    if (options->framing &&
        (!tw_framing_by_name(&config.framing, options->framing) ||
         config.framing == TW_FRAMING_NONE || config.framing == TW_FRAMING_DSTREAM))
        return options_wrong(options,
                             "--framing: frames are packed as memory, tpiu or tpiu-hsync");
    for (size_t i = 0; i < pack->marker_count; i++) {
        if (pack->markers[i].kind == MARK_BARRIER && config.framing != TW_FRAMING_MEMORY)
            return options_wrong(options, "--barrier: only memory framing has barrier frames");
        if (pack->markers[i].kind == MARK_IDLE && config.framing != TW_FRAMING_TPIU_HSYNC)
            return options_wrong(options, "--idle: only --framing tpiu-hsync has HSYNCs");
    }
    if (!small_number(options, &config.repeat_frames, &options->repeat, "repeat-id") ||
        !small_number(options, &config.fsync_frames, &options->fsync, "fsync") ||
        !small_number(options, &config.align, &options->align, "align"))
        return false;
    status = tw_framer_new(&pack->framer, &config, NULL);
    if (status == TW_E_ARGUMENT || status == TW_E_CONFIG)
        return options_wrong(options,
                             "--align, --repeat-id or --fsync does not fit this framing: "
                             "--align wants a multiple of 16 (tpiu: of 4)");
    return fault(status);
}

static int run(const struct options *options)
{
    struct output out = { 0 };
    struct pack pack = { .options = options, .out = &out };
    int status = open_streams(&pack);

    if (status == DONE && (!parse_markers(&pack) || !new_framer(&pack)))
        status = BAD_USAGE;
    if (status == DONE && !output_open(&out, options->output, COLOR_NEVER))
        status = NOT_DONE;
    if (status == DONE && !put_streams(&pack))
        status = out.is_closed ? DONE : NOT_DONE;
    if (!output_close(&out, status == DONE))
        status = NOT_DONE;
    for (size_t i = 0; i < pack.stream_count; i++)
        (void)fclose(pack.streams[i].file);
    free(pack.streams);
    free(pack.markers);
    tw_framer_free(pack.framer);
    return status;
}

static const uint8_t takes[] = {
    O_STREAM,  O_INTERLEAVE, O_TRIGGER, O_FLUSH, O_BARRIER, O_IDLE,
    O_FRAMING, O_ALIGN,      O_REPEAT,  O_FSYNC, O_OUTPUT,  O_END,
};

const struct command command_pack = {
    .name = "pack",
    .arguments = "--stream ID:FILE... [OPTION...]",
    .summary = "streams of several trace IDs into CoreSight frames",
    .details =
        "The reverse of frames --split. The streams take turns of --interleave bytes, in\n"
        "the order given. --framing is memory (default), tpiu or tpiu-hsync.\n"
        "\n"
        "examples:\n"
        "  trackway pack --stream 0x10:0x10.bin --stream 0x11:0x11.bin -o etb.bin",
    .options = takes,
    .least = 0,
    .most = 0,
    .run = run,
};
