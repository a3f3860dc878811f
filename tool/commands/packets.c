/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway packets: each packet of each source. */
#include "commands/commands.h"
#include "formats/lines.h"
#include "shared/session.h"

static bool list_buffer(void *context, struct session *session, size_t buffer)
{
    struct lines *lines = context;
    struct tw_packet_view view = { .size = sizeof view };
    enum tw_status status;

    lines_set_buffer(lines, session_has_several(session)
                                ? tw_capture_buffer(session->capture, buffer)->name
                                : NULL);
    while ((status = session_next_packet(session, &view)) == TW_OK) {
        if (!session_wants_id(session, view.packet->id) ||
            !session_wants_index(session, view.packet->index))
            continue;
        lines_packet(lines, &view);
        if (output_is_over(lines->out))
            return true;
    }
    return status == TW_END;
}

static int run(const struct options *options)
{
    struct output out = { 0 };
    struct lines lines = {
        .out = &out,
        .format = options_format_is(options, "jsonl") ? LINES_JSON
                  : options_format_is(options, "csv") ? LINES_CSV
                                                      : LINES_TEXT,
    };
    struct session session = { 0 };
    int status = csv_start(&lines.csv, options, csv_packet_columns) ? DONE : BAD_USAGE;

    if (status == DONE)
        status = session_open(&session, options);
    if (status == DONE && !output_open(&out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        if (lines.format == LINES_CSV)
            csv_head(&lines.csv, &out);
        session.out = &out;
        status = session_run(&session, true, list_buffer, &lines);
    }
    if (!output_close(&out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    csv_free(&lines.csv);
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    O_BUFFER,     O_ID,       O_SOURCE,      O_FROM,          O_TO,      O_FRAMING,
    O_PROTOCOL,   O_CONFIG,   O_NO_BARRIER,  O_WRAPPED_AT,    O_ARCH,    O_OPT,
    O_STRIP_STOP, O_ON_ERROR, O_ASSUME_SYNC, O_ALLOW_OUTSIDE, O_COLUMNS, O_OUTPUT,
    O_COLOR,      O_PROGRESS, O_QUIET,       O_VERBOSE,       O_END,
};

const struct command command_packets = {
    .name = "packets",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "each packet of each source, with its place in the capture",
    .details = "The program is not needed. Bytes before synchronization are one line for each\n"
               "run, bytes that fit no packet a line of their own.",
    .formats = "text|jsonl|csv",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
