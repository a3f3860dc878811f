/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway channels: what software wrote to its trace ports, and what the hardware watched. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/channels.h"
#include "commands/commands.h"
#include "shared/session.h"
#include "shared/stream_input.h"

static bool is_good(enum tw_status status)
{
    if (status != TW_OK)
        say("out of memory");
    return status == TW_OK;
}

bool channels_take(struct channels *channels, const struct tw_batch *batch)
{
    if (channels->samples && !is_good(tw_pc_samples_take(channels->samples, batch)))
        return false;
    return is_good(tw_channels_take(channels->analysis, batch));
}

bool channels_idle(struct channels *channels)
{
    return is_good(tw_channels_idle(channels->analysis));
}

bool channels_finish(struct channels *channels)
{
    return is_good(tw_channels_finish(channels->analysis));
}

/* A capture on its way. */
struct work {
    struct channels *channels;
    const struct session *session;
};

static bool take_part(void *context, const struct tw_part *part,
                      const struct tw_packet_view *packet)
{
    const struct work *work = context;
    struct channels *channels = work->channels;

    (void)packet;
    session_say_errors(work->session, &part->batch);
    if (part->kind == TW_PART_END)
        return channels_finish(channels);
    if (part->kind == TW_PART_ELEMENTS) {
        for (size_t i = 0; i < part->batch.count; i++)
            channels->taken += part->batch.elements[i].type == TW_ELEMENT_SWTRACE ||
                               part->batch.elements[i].type == TW_ELEMENT_ITMTRACE;
        return channels_take(channels, &part->batch);
    }
    channels->is_framed =
        tw_capture_buffer(work->session->capture, part->buffer)->framing != TW_FRAMING_NONE;
    return true;
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
    struct work work = { channels, &session };
    const struct session_way way = { .context = &work, .take = take_part };
    int status;

    if (!options->protocol && !options->sources.count &&
        is_plain_file(options->arguments.items[0]))
        with_itm.protocol = "itm";
    status = session_open(&session, &with_itm);
    if (status == DONE) {
        session.out = &channels->out;
        status = session_go(&session, &way);
    }
    if ((status == DONE || status == DONE_WITH_LOSS) && !channels->taken) {
        say("%s: no ITM or STM packet was read: it holds other trace, or none that is "
            "synchronized (ITM: --assume-sync); \"trackway doctor\" tells",
            options->arguments.items[0]);
        status = DONE_WITH_LOSS;
    }
    session_close(&session);
    return status;
}

static int run_any(struct channels *channels, const struct options *options)
{
    const char *path = options->arguments.count ? options->arguments.items[0] : NULL;

    channels_head(channels);
    if (options->follow)
        return channels_follow(channels, options->follow);
    if (stream_input_is_live(path))
        return channels_follow(channels, path);
    return run_capture(channels, options);
}

static bool open_analyses(struct channels *channels)
{
    const struct options *options = channels->options;
    const enum channels_format format = channels->format;
    const struct tw_channels_config config = {
        .size = sizeof config,
        .has_port = options->port.is_given,
        .port = options->port.value,
        .with_values = format == CHANNELS_CSV || options->port_format,
        .on_event = channels_event,
        .on_line = format == CHANNELS_TEXT || format == CHANNELS_JSON ? channels_line : NULL,
        .on_bytes = format == CHANNELS_RAW ? channels_bytes : NULL,
        .context = channels,
    };

    return is_good(tw_channels_new(&channels->analysis, &config, NULL)) &&
           samples_open(channels);
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
    if (!ports_open(&channels))
        status = BAD_USAGE;
    else if (!open_analyses(&channels) ||
             !output_open(&channels.out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        status = run_any(&channels, options);
        if (channels.format == CHANNELS_TEXT)
            samples_print(&channels);
    }
    if (!output_close(&channels.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    tw_channels_free(channels.analysis);
    tw_pc_samples_free(channels.samples);
    tw_symbols_free(channels.symbols);
    free(channels.formats);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE,   G_PART,    G_DECODER, O_PORT,    O_PORT_FORMAT, O_RAW, O_FOLLOW,
    O_HISTOGRAM, O_SYMBOLS, O_CLOCK,   O_THREADS, G_OUTPUT,      O_END,
};

const struct command command_channels = {
    .name = "channels",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "what software wrote to ITM and STM ports, and what the DWT watched",
    .details =
        "text prints each line that software wrote, with its time and port (STM: master and\n"
        "channel), data accesses, exceptions, PC samples and counters, and with --image or\n"
        "--symbols the functions they are in and how PC samples spread over them.\n"
        "A file without --protocol is raw SWO; CAPTURE and FILE of --follow may be - for\n"
        "standard input, tcp:HOST:PORT for a debug probe's server, or serial:PATH:BAUD.\n"
        "\n"
        "examples:\n"
        "  trackway channels tcp:localhost:3443 --port-format 1=%d,2=%08x\n"
        "  trackway channels --follow swo.bin --symbols firmware.elf --histogram",
    .formats = "text|jsonl|csv",
    .options = takes,
    .least = 0,
    .most = 1,
    .run = run,
};
