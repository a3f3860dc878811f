/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway channels: what software wrote to its trace ports, and what the hardware watched. */
#include <string.h>
#include <sys/stat.h>

#include "commands/channels.h"
#include "commands/commands.h"
#include "shared/session.h"

static void take_part(struct channels *channels, const struct session *session,
                      const struct tw_part *part)
{
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_ERROR)
            session_say_error(session, element, part->batch.id);
        channels_take(channels, element, part->batch.id);
    }
}

static int take_parts(struct channels *channels, struct session *session)
{
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = TW_END;

    while (!output_is_over(&channels->out) &&
           (status = session_next(session, &part)) == TW_OK) {
        if (part.kind == TW_PART_BEGIN)
            channels->is_framed =
                tw_capture_buffer(session->capture, part.buffer)->framing != TW_FRAMING_NONE;
        else if (part.kind == TW_PART_END)
            channels_finish(channels);
        else
            take_part(channels, session, &part);
    }
    return session_end(session, status);
}

/* A file that nothing is said about holds what an SWO pin sent. */
static bool is_plain_file(const char *path)
{
    struct stat about;

    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static int run_capture(struct channels *channels, const struct options *options)
{
    struct options with_itm = *options;
    struct session session = { .options = options };
    struct session_wish wish;
    int status;

    if (!options->protocol && !options->sources.count &&
        is_plain_file(options->arguments.items[0]))
        with_itm.protocol = "itm";
    status = session_open(&session, &with_itm);
    if (status == DONE) {
        session.out = &channels->out;
        status = session_wish(&session, &wish);
        if (status == DONE)
            status = session_start(&session, &wish);
        session_wish_free(&wish);
        if (status == DONE)
            status = take_parts(channels, &session);
    }
    session_close(&session);
    return status;
}

static int run_any(struct channels *channels, const struct options *options)
{
    const char *path = options->arguments.count ? options->arguments.items[0] : NULL;

    channels_head(channels);
    if (options->follow)
        return channels_follow(channels, options->follow, true);
    if (strcmp(path, "-") == 0)
        return channels_follow(channels, path, false);
    return run_capture(channels, options);
}

static int run(const struct options *options)
{
    struct channels channels = { .options = options };
    int status = DONE;

    if ((options->arguments.count == 0) == (options->follow == NULL)) {
        (void)options_wrong(options, "give one capture, or --follow FILE");
        return BAD_USAGE;
    }
    channels.format = options->raw                          ? CHANNELS_RAW
                      : options_format_is(options, "jsonl") ? CHANNELS_JSON
                      : options_format_is(options, "csv")   ? CHANNELS_CSV
                                                            : CHANNELS_TEXT;
    channels.histogram = histogram_new(options);
    if (!channels.histogram || !output_open(&channels.out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        status = run_any(&channels, options);
        if (channels.format == CHANNELS_TEXT)
            histogram_print(channels.histogram, &channels.out);
        if (channels.has_failed) {
            say("out of memory");
            status = NOT_DONE;
        }
    }
    if (!output_close(&channels.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    histogram_free(channels.histogram);
    channels_free_items(&channels);
    channels_free_lines(&channels);
    return status;
}

static const uint8_t takes[] = {
    O_PORT,     O_RAW,         O_FOLLOW,     O_BUFFER,     O_ID,
    O_SOURCE,   O_FROM,        O_TO,         O_FRAMING,    O_PROTOCOL,
    O_PLUGIN,   O_CONFIG,      O_IMAGE,      O_SYMBOLS,    O_NO_BARRIER,
    O_ON_ERROR, O_ASSUME_SYNC, O_WRAPPED_AT, O_STRIP_STOP, O_ALLOW_OUTSIDE,
    O_CLOCK,    O_OUTPUT,      O_COLOR,      O_THREADS,    O_PROGRESS,
    O_QUIET,    O_VERBOSE,     O_END,
};

const struct command command_channels = {
    .name = "channels",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "what software wrote to ITM and STM ports, and what the DWT watched",
    .details =
        "text prints each line that software wrote, with its time and port (STM: master and\n"
        "channel), and with --image or --symbols how PC samples spread over functions.\n"
        "csv and jsonl list data accesses, exceptions, PC samples and counters too.\n"
        "A file without --protocol is raw SWO; CAPTURE may be - for standard input, and\n"
        "--follow FILE goes on as the file grows:  nc host 3443 | trackway channels -",
    .formats = "text|jsonl|csv",
    .options = takes,
    .least = 0,
    .most = 1,
    .run = run,
};
