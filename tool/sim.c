/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway sim trbe: runs a script on the model of the Trace Buffer Unit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

#include "commands.h"
#include "whole.h"

enum { FILES = 32 };

struct run {
    struct output *out;
    const char *script; /* its path: files are named relative to its folder */
    uint8_t *loaded[FILES];
    size_t loaded_count;
    uint8_t *trace; /* the source, and how far it was taken */
    size_t trace_size, trace_at;
};

static void put_line(void *context, const char *text, size_t size)
{
    const struct run *run = context;

    output_bytes(run->out, text, size);
    output_bytes(run->out, "\n", 1);
}

/* A name in a script stands beside it, unless it begins at the root. */
static char *beside(const struct run *run, const char *name)
{
    const char *slash = strrchr(run->script, '/');
    const size_t folder = slash && name[0] != '/' ? (size_t)(slash - run->script) + 1 : 0;
    char *path = malloc(folder + strlen(name) + 1);

    if (!path) {
        say("out of memory");
        return NULL;
    }
    memcpy(path, run->script, folder);
    memcpy(path + folder, name, strlen(name) + 1);
    return path;
}

static bool load(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    struct run *run = context;
    char *path = beside(run, name);
    uint8_t *loaded = path && run->loaded_count < FILES ? whole_load(size, path) : NULL;

    free(path);
    if (!loaded)
        return false;
    run->loaded[run->loaded_count++] = loaded;
    *bytes = loaded;
    return true;
}

static bool save(void *context, const char *name, const uint8_t *bytes, size_t size)
{
    struct run *run = context;
    char *path = beside(run, name);
    struct output file;
    bool is_good = path && output_open(&file, path, COLOR_NEVER);

    if (is_good) {
        output_bytes(&file, bytes, size);
        is_good = output_close(&file, true);
    }
    free(path);
    return is_good;
}

static size_t take(void *context, uint8_t *bytes, size_t room, bool *is_trigger)
{
    struct run *run = context;
    const size_t left = run->trace_size - run->trace_at;
    const size_t size = left < room ? left : room;

    *is_trigger = false;
    memcpy(bytes, run->trace + run->trace_at, size);
    run->trace_at += size;
    return size;
}

static int run_script(struct run *run, const struct options *options)
{
    struct tw_sim_config config = {
        .size = sizeof config,
        .is_json = options_format_is(options, "jsonl"),
        .context = run,
        .line = put_line,
        .load = load,
        .save = save,
    };
    struct tw_sim_result result;
    struct tw_fault fault = { .status = TW_OK };
    size_t size;
    uint8_t *script = whole_load(&size, run->script);
    enum tw_status status;

    if (!script)
        return NOT_DONE;
    if (run->trace)
        config.source = (struct tw_sim_source){ run, take, NULL };
    status = tw_sim_run(&result, &fault, (const char *)script, size, &config);
    free(script);
    for (size_t i = 0; i < run->loaded_count; i++)
        free(run->loaded[i]);
    if (status != TW_OK) {
        say("%s: %s", run->script, fault.text);
        return NOT_DONE;
    }
    if (!options->quiet && result.failed)
        say("%s: %zu of %zu expectations failed", run->script, result.failed, result.expected);
    if (!options->quiet && result.misuses)
        say("%s: the unit was misused %" PRIu64 " times", run->script, result.misuses);
    return result.failed || result.misuses ? DONE_WITH_LOSS : DONE;
}

static int run(const struct options *options)
{
    struct output out;
    struct run state = { .out = &out };
    int status;

    if (strcmp(options->arguments.items[0], "trbe") != 0) {
        say("sim: there is no model \"%s\"; there is trbe", options->arguments.items[0]);
        return BAD_USAGE;
    }
    state.script = options->arguments.items[1];
    if (options->arguments.count > 2) {
        state.trace = whole_load(&state.trace_size, options->arguments.items[2]);
        if (!state.trace)
            return NOT_DONE;
    }
    status = output_open(&out, options->output, options->color) ? DONE : NOT_DONE;
    if (status == DONE) {
        status = run_script(&state, options);
        if (!output_close(&out, status <= DONE_WITH_LOSS))
            status = NOT_DONE;
    }
    free(state.trace);
    return status;
}

static const uint8_t takes[] = { O_OUTPUT, O_COLOR, O_QUIET, O_END };

const struct command command_sim = {
    .name = "sim",
    .arguments = "trbe SCRIPT [TRACE] [OPTION...]",
    .summary = "a script on the model of the Trace Buffer Unit",
    .details =
        "SCRIPT writes registers, executes barriers, gives trace and states what it expects;\n"
        "TRACE is a file of trace bytes for its \"source\" command. Registers, states and\n"
        "events are printed. Exit status 1: an expectation failed, or the unit was misused.",
    .formats = "text|jsonl",
    .options = takes,
    .least = 2,
    .most = 3,
    .run = run,
};
