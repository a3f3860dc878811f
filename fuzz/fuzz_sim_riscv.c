/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text is a script for the Trace Control Interface, with a hart's log behind it: it runs, or says which
   line is wrong; and says the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

#include "kept.h"

struct run {
    const uint8_t *log;
    size_t log_size;
    uint64_t said; /* of all lines, and of what was saved */
};

static void note(struct run *run, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        run->said = (run->said ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
}

static void put_line(void *context, const char *text, size_t size)
{
    if (strlen(text) != size)
        abort();
    note(context, text, size);
}

static bool load(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    const struct run *run = context;

    (void)name;
    *bytes = run->log;
    *size = run->log_size;
    return run->log_size != 0;
}

static bool save(void *context, const char *name, const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;

    note(context, name, strlen(name));
    note(context, bytes, size);
    for (size_t i = 0; i < size; i++)
        sum ^= bytes[i];
    return sum < 250;
}

/* The log begins with the names of its signals, or as one of addresses. */
static size_t find_log(const uint8_t *data, size_t size)
{
    static const char *const heads[] = { "itype,", "trackway-log 1\n" };

    for (size_t at = 0; at < size; at++)
        for (size_t i = 0; i < 2; i++)
            if (data[at] == (uint8_t)heads[i][0] && size - at >= strlen(heads[i]) &&
                memcmp(data + at, heads[i], strlen(heads[i])) == 0)
                return at;
    return size;
}

/* What it said, and how it ended. */
static uint64_t run_script(const uint8_t *data, size_t size)
{
    const size_t script = find_log(data, size);
    struct run run = { data + script, size - script, 0 };
    const struct tw_sim_config config = {
        .size = sizeof config,
        .is_json = size && data[size - 1] & 1,
        .limit = is_fuzzed() ? 1 << 12 : 1 << 16,
        .context = &run,
        .line = put_line,
        .load = load,
        .save = save,
        .hart_log = run.log_size ? run.log : NULL,
        .hart_log_size = run.log_size,
    };
    struct tw_sim_result result;
    struct tw_fault fault = { .status = TW_OK };
    const enum tw_status status =
        tw_sim_run_riscv(&result, (const char *)data, script, &config, &fault);

    if (status != TW_OK && !fault.text[0])
        abort();
    if (result.failed > result.expected)
        abort();
    note(&run, fault.text, strlen(fault.text));
    return run.said ^ (uint64_t)status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (run_script(data, size) != run_script(data, size))
        abort();
    return 0;
}
