/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text is a script for the Trace Buffer Unit: it runs, or says which line is wrong. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

static void put_line(void *context, const char *text, size_t size)
{
    size_t *lines = context;

    if (strlen(text) != size)
        abort();
    ++*lines;
}

static size_t take(void *context, uint8_t *bytes, size_t room, bool *is_trigger)
{
    size_t *lines = context;

    memset(bytes, 0x70, room);
    *is_trigger = room & 1;
    return *lines % 7 ? room : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t lines = 0;
    const struct tw_sim_config config = {
        .size = sizeof config,
        .is_json = size && data[size - 1] & 1,
        .limit = 1 << 18,
        .source = { &lines, take, NULL },
        .context = &lines,
        .line = put_line,
    };
    struct tw_sim_result result;
    struct tw_fault fault = { .status = TW_OK };
    const enum tw_status status =
        tw_sim_run(&result, &fault, (const char *)data, size, &config);

    if (status != TW_OK && !fault.text[0])
        abort();
    if (result.failed > result.expected)
        abort();
    return 0;
}
