/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode: the path of execution. */
#include "commands/commands.h"
#include "formats/formats.h"

static const char *formats(void)
{
    return format_names(FORMAT_ELEMENTS);
}

static int run(const struct options *options)
{
    return formats_list(options, FORMAT_ELEMENTS);
}

static const uint8_t takes[] = {
    G_CAPTURE,          G_PART,   G_DECODER,    G_EXECUTED, O_RANGE, O_FUNCTION, O_INSTRUCTIONS,
    O_SYMBOLS_IN_LINES, O_CHECK,  O_PERF_STYLE, O_COLUMNS,  O_AT,    O_COUNT,    O_INDEX,
    O_BUILD_INDEX,      O_ERRORS, O_STATS,      G_OUTPUT,   O_END,
};

const struct command command_decode = {
    .name = "decode",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "the path of execution: ranges, contexts, exceptions, time",
    .details =
        "text, jsonl and csv list every element. path lists straight runs (R first last n),\n"
        "privilege or Exception level (P), exceptions (E) and interrupts (I); pcs one\n"
        "address for each instruction executed; runs, of perf.data, straight runs of every\n"
        "CPU and thread in time order (cpu tid first n), and perf what perf script prints of\n"
        "branches, or with --instructions of instructions. All leave out transactions that "
        "failed,\n"
        "as does --instructions, which lists instructions in place of ranges.\n" LISTS_EACH "\n"
        "examples:\n"
        "  trackway decode snapshot\n"
        "  trackway decode captures/*.bin --protocol etmv4 --config regs.ini\n"
        "  trackway decode perf.data --instructions --function main\n"
        "  trackway decode trace.bin --protocol etrace --image prog.elf --format jsonl",
    .formats_of = formats,
    .options = takes,
    .least = 1,
    .most = 1 << 20,
    .lists_each = true,
    .is_confined = true,
    .run = run,
};
