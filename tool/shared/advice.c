/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that say what is missing, the same in every command. */
#include "shared/advice.h"

#include <inttypes.h>
#include <string.h>

#include "base/percent.h"
#include "shared/feed.h"

void advise_symbols(uint64_t unknown, uint64_t all)
{
    if (unknown)
        say("%s %% of the instructions are in code without symbols: give files that have "
            "them (--symbols FILE, --sysroot, --kernel)",
            tw_percent((double)unknown, (double)all, 1).text);
}

void advise_functions(const struct tw_functions *functions)
{
    size_t unnamed = 0, all = 0;

    for (uint32_t i = 1; i < tw_functions_count(functions); i++) {
        const uint8_t kind = (uint8_t)tw_functions_get(functions, i)->kind;

        unnamed += kind == TW_FUNCTION_UNNAMED;
        all += kind == TW_FUNCTION_UNNAMED || kind == TW_FUNCTION_SYMBOL;
    }
    if (unnamed)
        say("%zu of %zu functions have no symbols, and are shown by their addresses: give "
            "files "
            "that have them (--symbols FILE, --sysroot, --kernel)",
            unnamed, all);
}

void advise_code(uint64_t times)
{
    if (times)
        say("%" PRIu64 " time%s the path led to code that is not there: give it (--image, "
            "--sysroot); what was executed there is in no count",
            times, times == 1 ? "" : "s");
}

/* Whether there are sources, and what they send is written by software or sampled: ITM, DWT, STM. */
static bool is_software_trace(const struct feed *feed)
{
    size_t count = 0;

    for (size_t i = 0; i < feed->count; i++) {
        const struct tw_capture *capture = feed->sessions[i].capture;
        const struct tw_source *source;

        for (size_t k = 0; (source = tw_capture_source(capture, k)) != NULL; k++, count++)
            if (!source->protocol ||
                (strcmp(source->protocol, "itm") != 0 && strcmp(source->protocol, "stm") != 0))
                return false;
    }
    return count != 0;
}

void advise_nothing(const struct feed *feed, uint64_t missing)
{
    if (missing)
        return;
    if (is_software_trace(feed))
        say("this is software trace, which tells of no instruction: \"trackway channels\" "
            "shows "
            "what it holds; a profile of it needs PC samples (DWT_CTRL.PCSAMPLENA)");
    else
        say("no instruction could be told: give the capture from a synchronization point on "
            "(\"trackway stats\" lists them), and the protocol and registers of its source");
}
