/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that say what is missing, the same in every command. */
#include "shared/advice.h"

#include <inttypes.h>

#include "shared/options.h"

void advise_symbols(uint64_t unknown, uint64_t all)
{
    if (unknown)
        say("%.1f %% of the instructions are in code without symbols: give files that have "
            "them (--symbols FILE, --sysroot, --kernel)",
            100.0 * (double)unknown / (double)all);
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

void advise_nothing(uint64_t missing)
{
    if (!missing)
        say("no instruction could be told: give the capture from a synchronization point on "
            "(\"trackway stats\" lists them), and the protocol and registers of its source");
}
