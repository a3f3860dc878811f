/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway packets: each packet of each source. */
#include "commands/commands.h"
#include "formats/formats.h"

static const char *formats(void)
{
    return format_names(FORMAT_PACKETS);
}

static int run(const struct options *options)
{
    return options_want_offsets(options) ? formats_list(options, FORMAT_PACKETS) : BAD_USAGE;
}

static const uint8_t takes[] = {
    O_BUFFER,        O_ID,       O_SOURCE, O_SRC,        O_FROM,     O_TO,
    O_FRAMING,       O_PROTOCOL, O_PLUGIN, O_CONFIG,     O_PRESET,   O_NO_BARRIER,
    O_WRAPPED_AT, O_SWAP, O_SKIP,    O_ARCH,     O_OPT,    O_STRIP_STOP, O_ON_ERROR, O_ASSUME_SYNC,
    O_ALLOW_OUTSIDE, O_COLUMNS,  O_OUTPUT, O_COLOR,      O_PROGRESS, O_QUIET,
    O_VERBOSE,       O_END,
};

const struct command command_packets = {
    .name = "packets",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "each packet of each source, with its place in the capture",
    .details = "The program is not needed. Bytes before synchronization are one line for each\n"
               "run, bytes that fit no packet a line of their own.",
    .formats_of = formats,
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
