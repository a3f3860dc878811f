/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway packets: each packet of each source. */
#include "commands/commands.h"
#include "formats/formats.h"

static const char *formats(void)
{
    return format_names(FORMAT_PACKETS);
}

/* It is taken, so that one line of options serves decode and packets. */
static int list(const struct options *options)
{
    struct options own = *options;

    if (own.images.count && !own.quiet)
        say("packets: --image is left alone: packets are listed without the program");
    own.images.count = 0;
    return formats_list(&own, FORMAT_PACKETS);
}

static int run(const struct options *options)
{
    if (options->bits && !options_format_is(options, "text") &&
        !options_format_is(options, "jsonl")) {
        (void)options_wrong(options, "--bits: there is text and jsonl of it");
        return BAD_USAGE;
    }
    return options_want_offsets(options) ? list(options) : BAD_USAGE;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART, G_DECODER, O_SRC, O_OPT, O_BITS, O_COLUMNS, O_THREADS, G_OUTPUT, O_END,
};

const struct command command_packets = {
    .name = "packets",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "each packet of each source, with its place in the capture",
    .details = "The program is not needed. Bytes before synchronization are one line for each\n"
               "run, bytes that fit no packet a line of their own.\n" LISTS_EACH "\n"
               "examples:\n"
               "  trackway packets snapshot --id 0x10\n"
               "  trackway packets etb.bin --protocol etmv4 --config regs.ini --framing memory",
    .formats_of = formats,
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .lists_each = true,
    .is_confined = true,
    .run = run,
};
