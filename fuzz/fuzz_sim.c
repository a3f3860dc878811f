/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text is a script for the Trace Buffer Unit, with an execution log behind it for the trace unit:
   it runs, or says which line is wrong; and says the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

struct run {
    const uint8_t *log;
    size_t log_size, lines;
    uint64_t said; /* of all lines */
};

static void put_line(void *context, const char *text, size_t size)
{
    struct run *run = context;

    if (strlen(text) != size)
        abort();
    for (size_t i = 0; i < size; i++)
        run->said = (run->said ^ (uint8_t)text[i]) * 0x100000001b3;
    run->lines++;
}

static size_t take(void *context, uint8_t *bytes, size_t room, bool *is_trigger)
{
    const struct run *run = context;

    memset(bytes, 0x70, room);
    *is_trigger = room & 1;
    return run->lines % 7 ? room : 0;
}

static bool load(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    const struct run *run = context;

    (void)name;
    *bytes = run->log;
    *size = run->log_size;
    return run->log_size != 0;
}

static bool capture(void *context, const struct tw_sim_capture *capture)
{
    struct tw_register one;

    (void)context;
    return capture->unit && tw_etmv4_unit_register(capture->unit, &one, 0) == TW_OK;
}

/* The log begins with its first line, wherever that is; the script ends there. */
static size_t find_log(const uint8_t *data, size_t size)
{
    static const char *const heads[] = { "trackway-log 1\n", "exlog 1\n" };

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
    struct run run = { data + script, size - script, 0, 0 };
    const struct tw_sim_config config = {
        .size = sizeof config,
        .is_json = size && data[size - 1] & 1,
        .limit = 1 << 18,
        .source = { &run, take, NULL },
        .context = &run,
        .line = put_line,
        .load = load,
        .capture = capture,
    };
    struct tw_sim_result result;
    struct tw_fault fault = { .status = TW_OK };
    const enum tw_status status =
        tw_sim_run(&result, (const char *)data, script, &config, &fault);

    if (status != TW_OK && !fault.text[0])
        abort();
    if (result.failed > result.expected)
        abort();
    put_line(&run, fault.text, strlen(fault.text));
    return run.said ^ (uint64_t)status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (run_script(data, size) != run_script(data, size))
        abort();
    return 0;
}
