/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway sim: runs a script on the models of the Trace Buffer Unit and the trace unit, or of the
   components of the RISC-V Trace Control Interface. */
#define _XOPEN_SOURCE 700 /* lstat */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

#include "base/inside.h"
#include "base/platform.h"
#include "commands/commands.h"
#include "commands/encode.h"
#include "shared/file.h"

enum { FILES = 32 };

struct run {
    struct output *out;
    const char *script; /* its path: files are named relative to its folder */
    uint8_t *loaded[FILES];
    size_t loaded_count;
    uint8_t *trace; /* the source, and how far it was taken; or the log */
    size_t trace_size, trace_at;
    struct tw_log *log;
    const struct options *options;
    struct tw_image *image;
    struct tw_unit *unit; /* what captures are made of */
    bool is_riscv;
};

static void put_line(void *context, const char *text, size_t size)
{
    const struct run *run = context;

    output_bytes(run->out, text, size);
    output_bytes(run->out, "\n", 1);
}

/* A name in a script stands beside it, and below its folder: a script may come from anyone. */
static char *beside(const struct run *run, const char *name)
{
    const char *slash = tw_last_slash(run->script);
    const bool is_free = run->options->allow_outside;
    const size_t size =
        slash && !(is_free && tw_is_slash(name[0])) ? (size_t)(slash - run->script) + 1 : 0;
    char *path = malloc(size + strlen(name) + 1);
    struct tw_text real = { 0 };
    bool is_good = path != NULL;

    if (!path) {
        say("out of memory");
        return NULL;
    }
    memcpy(path, run->script, size);
    path[size] = 0;
    if (!is_free && !tw_inside(&real, path, name, false)) {
        if (errno == EXDEV)
            say("%s: %s leads out of the script's folder; --allow-outside allows it",
                run->script, name);
        else
            say("%s: %s: %s", run->script, name, strerror(errno));
        is_good = false;
    }
    tw_text_free(&real);
    memcpy(path + size, name, strlen(name) + 1);
    if (is_good)
        return path;
    free(path);
    return NULL;
}

/* Nothing that is there is written over unless that is asked for. */
static bool may_write(const struct run *run, const char *path)
{
    struct stat about;

    if (run->options->force || lstat(path, &about) != 0)
        return true;
    say("%s exists already; --force replaces it", path);
    return false;
}

static bool load(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    struct run *run = context;
    char *path = beside(run, name);
    uint8_t *loaded = path && run->loaded_count < FILES ? file_load(size, path) : NULL;

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
    bool is_good = path && may_write(run, path) && output_open(&file, path, COLOR_NEVER);

    if (is_good) {
        output_bytes(&file, bytes, size);
        is_good = output_close(&file, true);
    }
    free(path);
    return is_good;
}

static bool told(const struct run *run, enum tw_status status)
{
    if (status != TW_OK)
        say("sim: %s", tw_unit_fault(run->unit));
    return status == TW_OK;
}

static bool executes(void *context, const struct tw_step *step)
{
    const struct run *run = context;

    return told(run, tw_unit_note(run->unit, step));
}

static bool capture(void *context, const struct tw_sim_capture *capture)
{
    const struct run *run = context;
    char *path = beside(run, capture->name);
    const bool is_good = path && told(run, tw_unit_adopt(run->unit, capture)) &&
                         encode_write(run->unit, run->options, path);

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
        .log = run->log,
        .image = run->image,
        .context = run,
        .line = put_line,
        .load = load,
        .save = save,
        .capture = capture,
        .executes = executes,
    };
    struct tw_sim_result result;
    struct tw_fault fault = { .status = TW_OK };
    size_t size;
    uint8_t *script = file_load(&size, run->script);
    enum tw_status status;

    if (!script)
        return NOT_DONE;
    if (run->trace && !run->log)
        config.source = (struct tw_sim_source){ run, take, NULL };
    config.hart_log = run->trace;
    config.hart_log_size = run->trace_size;
    status = run->is_riscv
                 ? tw_sim_run_riscv(&result, (const char *)script, size, &config, &fault)
                 : tw_sim_run(&result, (const char *)script, size, &config, &fault);
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
        say("%s: the %s misused %" PRIu64 " times", run->script,
            run->is_riscv ? "interface was" : "unit was", result.misuses);
    return result.failed || result.misuses ? DONE_WITH_LOSS : DONE;
}

static bool is_log(const uint8_t *bytes, size_t size)
{
    static const char *const heads[] = { "exlog ", "trackway-log", "\x1f\x8b" };

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        if (size >= strlen(heads[i]) && memcmp(bytes, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

/* The third argument: an execution log by its first bytes, else trace. */
static bool open_input(struct run *run, const char *path)
{
    const struct tw_log_options options = { .size = sizeof options, .image = run->image };
    struct tw_fault fault = { TW_OK, "" };

    run->trace = file_load(&run->trace_size, path);
    if (!run->trace)
        return false;
    if (run->is_riscv) /* any log of a hart */
        return true;
    if (!is_log(run->trace, run->trace_size))
        return true;
    if (tw_log_open_memory(&run->log, run->trace, run->trace_size, &options, &fault) == TW_OK)
        return true;
    say("sim: %s: %s", path, fault.text);
    return false;
}

/* Any: which one it is, the script says. */
static bool new_unit(struct run *run)
{
    const struct tw_unit_config config = { .size = sizeof config,
                                           .protocol = "ete",
                                           .image = run->image };

    if (tw_unit_new(&run->unit, &config, NULL) == TW_OK)
        return true;
    say("sim: no memory");
    return false;
}

static int run(const struct options *options)
{
    struct output out;
    struct run state = { .out = &out, .options = options };
    int status = NOT_DONE;

    state.is_riscv = strcmp(options->arguments.items[0], "riscv") == 0;
    if (!state.is_riscv && strcmp(options->arguments.items[0], "trbe") != 0) {
        say("sim: there is no model \"%s\"; there are trbe and riscv",
            options->arguments.items[0]);
        return BAD_USAGE;
    }
    state.script = options->arguments.items[1];
    if ((state.image = encode_open_image(options)) && new_unit(&state) &&
        (options->arguments.count < 3 || open_input(&state, options->arguments.items[2])) &&
        output_open(&out, options->output, options->color)) {
        status = run_script(&state, options);
        if (!output_close(&out, status <= DONE_WITH_LOSS))
            status = NOT_DONE;
    }
    tw_log_free(state.log);
    free(state.trace);
    tw_unit_free(state.unit);
    tw_image_free(state.image);
    return status;
}

static const uint8_t takes[] = {
    O_ELF, O_ALLOW_OUTSIDE, O_FORCE, O_OUTPUT, O_COLOR, O_QUIET, O_END,
};

const struct command command_sim = {
    .name = "sim",
    .arguments = "trbe|riscv SCRIPT [LOG|TRACE] [OPTION...]",
    .summary = "a script on the models of trace units and of what collects their trace",
    .details =
        "SCRIPT writes registers, executes barriers, runs LOG (an execution log) through a\n"
        "trace unit into the buffer, or gives it the bytes of TRACE, and states what it\n"
        "expects. Registers, states and events are printed. A script:\n"
        "  memory 0x10000 0x2000\n"
        "  preset minimal                        # the trace unit, for one process at EL0\n"
        "  watermark wrap 0x10000 0x12000 0x600  # interrupt after 0x600 bytes\n"
        "  TRCPRGCTLR = 1\n"
        "  run until irq\n"
        "  capture snap 0x11a00                  # trackway decode snap\n"
        "riscv: trace encoders, funnels, RAM and PIB sinks and ATB bridges, as check-sequence\n"
        "has them, with LOG (of a hart, as encode takes it) through the first encoder:\n"
        "  component ram0 ram 0x20001000\n"
        "  component te0 encoder 0x20000000 feeds ram0\n"
        "  trRamActive = 1\n"
        "  ...\n"
        "  trTeControl = 0x01610067              # N-Trace, HTM\n"
        "  run\n"
        "  drain ram0 to trace.bin\n"
        "The commands are in docs/formats.md and trackway-sim(1). Exit status 1: an\n"
        "expectation failed, or the unit was misused.\n"
        "\n"
        "examples:\n"
        "  trackway sim trbe wrap.script run.exlog\n"
        "  trackway sim riscv encoder.script hart.csv --format jsonl",
    .formats = "text|jsonl",
    .options = takes,
    .least = 2,
    .most = 3,
    .run = run,
};
