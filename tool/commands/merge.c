/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway merge: saved results, added up. */
#include <trackway/merge.h>

#include "commands/commands.h"

static int run(const struct options *options)
{
    struct tw_fault fault;

    if (!options->output) {
        (void)options_wrong(options, "merge needs -o FILE");
        return BAD_USAGE;
    }
    if (tw_merge(options->output, (const char *const *)options->arguments.items,
                 options->arguments.count, NULL, &fault) == TW_OK)
        return DONE;
    say("%s", fault.text);
    return NOT_DONE;
}

static const uint8_t takes[] = { O_OUTPUT, O_END };

const struct command command_merge = {
    .name = "merge",
    .arguments = "-o FILE RESULT...",
    .summary = "adds up saved results",
    .details =
        "RESULTs are files that \"coverage --save\", \"stats --save\", \"calls --save\" and\n"
        "\"profile --save\" wrote, all of one kind. They are read one after the other, "
        "however\n"
        "many there are; the sum does not depend on their order, and may be merged again.\n"
        "Results of other builds of a program are refused. \"coverage CAPTURE --add FILE\"\n"
        "shows a sum, and so do \"calls\" and \"profile\", which need no CAPTURE then.\n"
        "\n"
        "examples:\n"
        "  trackway coverage run1 --save 1.tws && trackway coverage run2 --save 2.tws\n"
        "  trackway merge -o all.tws 1.tws 2.tws",
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .run = run,
};
