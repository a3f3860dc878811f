/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway info: what is in a capture. */
#include "commands/info.h"

#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"

enum { WINDOW = 1 << 20 };

static void count_events(struct scan *scan, struct tw_unframer *unframer)
{
    size_t count;
    const struct tw_frame_event *events = tw_unframer_events(unframer, &count);

    for (size_t i = 0; i < count; i++) {
        scan->barriers += events[i].kind == TW_FRAME_BARRIER;
        scan->triggers += events[i].kind == TW_FRAME_TRIGGER;
        scan->bad_ids += events[i].kind == TW_FRAME_RESERVED;
        scan->losses += events[i].kind == TW_FRAME_LOST || events[i].kind == TW_FRAME_BAD_BLOCK;
        if (events[i].kind == TW_FRAME_INCOMPLETE)
            scan->incomplete += events[i].length;
    }
    tw_unframer_clear_events(unframer);
}

/* All of a buffer through the unframer, keeping nothing. */
static enum tw_status scan_buffer(struct scan *scan, const struct tw_capture *capture,
                                  size_t buffer)
{
    const struct tw_unframer_config config = {
        .size = sizeof config,
        .framing = tw_capture_buffer(capture, buffer)->framing,
        .no_barrier = tw_capture_no_barrier(capture),
    };
    struct tw_unframer *unframer = NULL;
    enum tw_status status = tw_unframer_new(&unframer, &config, NULL);
    uint64_t offset = 0;

    while (status == TW_OK) {
        const uint8_t *bytes;
        size_t size;

        status = tw_capture_read(capture, &bytes, &size, buffer, offset);
        if (status != TW_OK)
            break;
        size = size < WINDOW ? size : WINDOW;
        status = tw_unframer_feed(unframer, bytes, size);
        count_events(scan, unframer);
        offset += size;
    }
    if (status == TW_END) {
        status = tw_unframer_finish(unframer);
        count_events(scan, unframer);
        scan->stats = *tw_unframer_stats(unframer);
    }
    tw_unframer_free(unframer);
    return status;
}

const struct tw_source *info_source(const struct session *session, size_t buffer, unsigned id)
{
    const struct tw_capture *capture = session->capture;

    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer) && source->has_id &&
            source->id == id)
            return source;
    }
    return NULL;
}

static bool scan_all(struct scan **scans, const struct session *session)
{
    const size_t count = tw_capture_buffer_count(session->capture);

    *scans = calloc(count + 1, sizeof **scans);
    if (!*scans) {
        say("out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const enum tw_status status =
            session_wants(session, i) ? scan_buffer(&(*scans)[i], session->capture, i) : TW_OK;

        if (status != TW_OK) {
            say("%s: cannot read buffer %s (%s)", tw_capture_path(session->capture),
                tw_capture_buffer(session->capture, i)->name, tw_status_name(status));
            return false;
        }
    }
    return true;
}

static int run_control(const struct options *options, const char *text, size_t size)
{
    struct output out = { 0 };
    int status = NOT_DONE;

    if (output_open(&out, options->output, options->color)) {
        status = info_control(&out, options, text, size);
        if (!output_close(&out, status == DONE))
            status = NOT_DONE;
    }
    return status;
}

static int run_capture(const struct options *options)
{
    struct session session;
    struct scan *scans = NULL;
    struct output out = { 0 };
    int status = session_open(&session, options);

    if (status == DONE &&
        (!scan_all(&scans, &session) || !output_open(&out, options->output, options->color)))
        status = NOT_DONE;
    if (status == DONE) {
        if (options_format_is(options, "jsonl"))
            info_json(&out, &session, scans);
        else
            info_text(&out, &session, scans);
    }
    if (!output_close(&out, status == DONE))
        status = NOT_DONE;
    free(scans);
    session_close(&session);
    return status;
}

static int run(const struct options *options)
{
    char *text;
    size_t size;
    int status;

    if (!info_is_control(options->arguments.items[0], &text, &size))
        return run_capture(options);
    status = run_control(options, text, size);
    free(text);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,
    O_BUFFER,
    G_OUTPUT,
    O_END,
};

const struct command command_info = {
    .name = "info",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "what is in a capture: buffers, sources, cores, program memory",
    .details =
        "Lists the trace buffers with the bytes that each trace ID has in them, the trace\n"
        "sources with protocol, core and registers, the cores, and the program memory.\n"
        "-v adds the registers of the cores.\n"
        "Of a text with the registers of RISC-V trace components (trTeControl, "
        "trTeInstFeatures,\n"
        "trRamWPLow ...) it tells the components, their versions, and the configuration that "
        "a\n"
        "decoder of their trace wants; -v adds the fields.\n" LISTS_EACH "\n"
        "examples:\n"
        "  trackway info snapshot\n"
        "  trackway info perf.data -v\n"
        "  trackway info registers.txt --format jsonl",
    .formats = "text|jsonl",
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .lists_each = true,
    .is_confined = true,
    .run = run,
};
