/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway packets: each packet of each source. */
#include "commands/commands.h"
#include "formats/lines.h"
#include "shared/session.h"

static int list_packets(struct session *session, struct lines *lines)
{
    struct tw_packet_view view = { .size = sizeof view };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = TW_END;

    while (!output_is_over(lines->out) &&
           (status = session_next_packet(session, &part, &view)) == TW_OK) {
        if (part.kind == TW_PART_BEGIN)
            lines_set_buffer(lines, session_has_several(session)
                                        ? tw_capture_buffer(session->capture, part.buffer)->name
                                        : NULL);
        else if (part.kind == TW_PART_ELEMENTS)
            lines_packet(lines, &view);
    }
    return session_end(session, status);
}

static int list(struct session *session, struct lines *lines)
{
    struct session_wish wish;
    int status;

    status = session_wish(session, &wish);
    if (status == DONE) {
        wish.config.packets_only = true;
        status = session_start(session, &wish);
    }
    session_wish_free(&wish);
    return status == DONE ? list_packets(session, lines) : status;
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

    if (status == DONE && !options_want_offsets(options))
        status = BAD_USAGE;
    if (status == DONE)
        status = session_open(&session, options);
    if (status == DONE && !output_open(&out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        if (lines.format == LINES_CSV)
            csv_head(&lines.csv, &out);
        session.out = &out;
        status = list(&session, &lines);
    }
    if (!output_close(&out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    csv_free(&lines.csv);
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    O_BUFFER,     O_ID,       O_SOURCE,      O_SRC,           O_FROM,       O_TO,     O_FRAMING,
    O_PROTOCOL,   O_PLUGIN,   O_CONFIG,      O_NO_BARRIER,    O_WRAPPED_AT, O_ARCH,   O_OPT,
    O_STRIP_STOP, O_ON_ERROR, O_ASSUME_SYNC, O_ALLOW_OUTSIDE, O_COLUMNS,    O_OUTPUT, O_COLOR,
    O_PROGRESS,   O_QUIET,    O_VERBOSE,     O_END,
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
