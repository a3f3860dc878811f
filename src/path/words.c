/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of elements as words. */
#include "path/print.h"

#include "base/compiler.h"

static const char *word(const char *const *words, size_t count, unsigned value)
{
    return value < count ? words[value] : "?";
}

const char *tw_trace_on_word(unsigned value)
{
    static const char *const words[] = { "normal", "overflow", "debug_exit" };

    return word(words, TW_LENGTH(words), value);
}

const char *tw_event_word(unsigned value)
{
    static const char *const words[] = { "trigger",   "numbered", "notify", "flush",
                                         "trace_off", "lost",     "circuit" };

    return word(words, TW_LENGTH(words), value);
}

const char *tw_transaction_word(unsigned value)
{
    static const char *const words[] = { "init", "start", "commit", "fail" };

    return word(words, TW_LENGTH(words), value);
}

const char *tw_itm_word(unsigned value)
{
    static const char *const words[] = { "SWIT",      "DWT",          "TS_SYNC",
                                         "TS_DELAY",  "TS_PKT_DELAY", "TS_PKT_TS_DELAY",
                                         "TS_GLOBAL", "LOST" };

    return word(words, TW_LENGTH(words), value);
}

const char *tw_data_word(unsigned value)
{
    static const char *const words[] = { "load", "store", "csr_rw",  "csr_rs", "csr_rc",
                                         "swap", "add",   "and",     "or",     "xor",
                                         "max",  "min",   "sc_fail", "unknown" };

    return word(words, TW_LENGTH(words), value);
}
