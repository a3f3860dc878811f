/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway decode: the path of execution. */
#include <inttypes.h>
#include <string.h>

#include "commands/branches.h"
#include "commands/commands.h"
#include "formats/accesses.h"
#include "formats/lines.h"
#include "formats/listing.h"
#include "formats/path.h"
#include "formats/press.h"
#include "formats/runs.h"
#include "shared/attribution.h"
#include "shared/session.h"

struct decode {
    const struct options *options;
    struct session session;
    struct output out;
    struct lines lines;
    struct path *path;       /* NULL: lines */
    struct listing *listing; /* NULL: ranges, not instructions */
    struct press *press;     /* NULL: lines are made by this thread */
    bool is_accesses;        /* csv of data trace alone */
    struct accesses accesses;
    struct attribution attribution; /* perf.data */
};

static void take_lines(struct decode *decode, const struct tw_part *part)
{
    const struct session *session = &decode->session;
    const bool is_filtered = session_is_filtered(session);
    const bool is_json = decode->lines.format != LINES_TEXT;

    if (session->perf)
        attribution_part(&decode->attribution, part, is_json);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_ERROR && !decode->options->errors) {
            session_say_error(session, element, part->batch.id);
            continue;
        }
        if (element->type == TW_ELEMENT_ERROR && is_filtered)
            continue; /* --range and --function keep what executed there, and nothing else */
        if (session->perf)
            decode->lines.tail =
                attribution_of(&decode->attribution, session->run, part, element, is_json);
        if (decode->press)
            press_element(decode->press, element, part->batch.id);
        else
            lines_element(&decode->lines, element, part->batch.id);
    }
}

static bool take_part(struct decode *decode, const struct tw_part *part)
{
    if (decode->path)
        return path_take(decode->path, part);
    if (decode->listing)
        listing_take(decode->listing, part);
    else if (decode->is_accesses)
        accesses_take(&decode->accesses, &decode->out, &decode->session, &part->batch);
    else
        take_lines(decode, part);
    return true;
}

static void say_stats(const struct session *session)
{
    const char *name = tw_capture_buffer(session->capture, session->buffer)->name;

    for (unsigned id = 0; id < 128; id++) {
        const struct tw_source_stats *stats = tw_run_source_stats(session->run, (uint8_t)id);

        if (!stats)
            continue;
        fprintf(stderr,
                "%s id 0x%02x: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64
                " ranges, %" PRIu64 " exceptions, %" PRIu64 " missing addresses, %" PRIu64
                " bytes without sync\n",
                name, id, stats->bytes, stats->instructions,
                stats->elements[TW_ELEMENT_INSTR_RANGE], stats->elements[TW_ELEMENT_EXCEPTION],
                stats->missing_code, stats->unsynced_bytes);
    }
}

static void begin_buffer(struct decode *decode)
{
    const struct session *session = &decode->session;
    const bool has_several = session_has_several(session);
    const char *name = tw_capture_buffer(session->capture, session->buffer)->name;

    lines_set_buffer(&decode->lines, has_several ? name : NULL);
    if (decode->path && has_several)
        output_format(&decode->out, "# buffer %s\n", name);
    /* Of perf.data, a line tells what was known when it came. */
    if (!decode->path && !decode->listing && !decode->is_accesses && !session->perf)
        decode->press = press_new(&decode->lines, tw_run_threads(session->run));
}

static void end_buffer(struct decode *decode)
{
    press_free(decode->press);
    decode->press = NULL;
    if (decode->path)
        path_end(decode->path);
    accesses_end(&decode->accesses, &decode->out);
    if (decode->options->stats)
        say_stats(&decode->session);
}

static int list_parts(struct decode *decode)
{
    struct session *session = &decode->session;
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = TW_END;

    while (!output_is_over(&decode->out) && (status = session_next(session, &part)) == TW_OK) {
        if (part.kind == TW_PART_BEGIN)
            begin_buffer(decode);
        else if (part.kind == TW_PART_END)
            end_buffer(decode);
        else if (!take_part(decode, &part))
            return NOT_DONE;
    }
    press_free(decode->press);
    decode->press = NULL;
    return session_end(session, status);
}

static int list(struct decode *decode)
{
    struct session_wish wish;
    int status;

    status = session_wish(&decode->session, &wish);
    if (status == DONE) {
        /* What a transaction executed that failed is shown where elements are. */
        wish.config.keeps_failed = !decode->path && !decode->listing;
        wish.config.loads_names = decode->options->instructions;
        status = session_start(&decode->session, &wish);
    }
    session_wish_free(&wish);
    return status == DONE ? list_parts(decode) : status;
}

static int check(const struct decode *decode)
{
    const struct options *options = decode->options;
    const bool is_perfs =
        options_format_is(options, "runs") || options_format_is(options, "perf");

    if (is_perfs && !decode->session.perf) {
        say("%s: --format %s is for perf.data, which tells CPUs and threads",
            tw_capture_path(decode->session.capture), options->format);
        return BAD_USAGE;
    }
    if (is_perfs && (options->at || options->count.is_given)) {
        (void)options_wrong(options, "--at and --count do not go with --format %s",
                            options->format);
        return BAD_USAGE;
    }
    return DONE;
}

/* Before the capture is opened: what is wrong with the options alone. */
static int start(struct decode *decode)
{
    const struct options *options = decode->options;
    const bool is_path =
        options_format_is(options, "pcs") || options_format_is(options, "path");

    if (is_path && options->instructions) {
        (void)options_wrong(options, "--instructions works with text, jsonl and csv");
        return BAD_USAGE;
    }
    if (!csv_start(&decode->lines.csv, options, csv_element_columns))
        return BAD_USAGE;
    decode->lines.out = &decode->out;
    decode->lines.clock = options->clock.value;
    decode->lines.format = options_format_is(options, "jsonl") ? LINES_JSON
                           : options_format_is(options, "csv") ? LINES_CSV
                                                               : LINES_TEXT;
    return DONE;
}

static int decode_capture(struct decode *decode)
{
    const struct options *options = decode->options;
    struct session *session = &decode->session;
    const bool is_pcs = options_format_is(options, "pcs");

    session->out = &decode->out;
    if (options_format_is(options, "runs"))
        return runs_print(session);
    if (options_format_is(options, "perf"))
        return branches_print(session, options->instructions ? EACH_INSTRUCTION : EACH_BRANCH);
    if ((is_pcs || options_format_is(options, "path")) &&
        !(decode->path = path_new(session, is_pcs)))
        return NOT_DONE;
    if (options->instructions && !(decode->listing = listing_new(&decode->lines, session)))
        return NOT_DONE;
    decode->is_accesses = decode->lines.format == LINES_CSV && !options->columns &&
                          !options->instructions && accesses_fit(session);
    if (decode->is_accesses)
        accesses_head(&decode->out);
    else if (decode->lines.format == LINES_CSV)
        csv_head(&decode->lines.csv, &decode->out);
    return list(decode);
}

static int run(const struct options *options)
{
    struct decode decode = { .options = options };
    int status = start(&decode);

    if (status == DONE)
        status = session_open(&decode.session, options);
    if (status == DONE)
        status = check(&decode);
    if (status == DONE && !output_open(&decode.out, options->output, options->color))
        status = NOT_DONE;
    else if (status == DONE)
        status = decode_capture(&decode);
    if (!output_close(&decode.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    path_free(decode.path);
    listing_free(decode.listing);
    csv_free(&decode.lines.csv);
    session_close(&decode.session);
    return status;
}

static const uint8_t takes[] = {
    O_BUFFER,      O_ID,           O_SOURCE,     O_SRC,
    O_CPU,         O_PID,          O_TID,        O_COMM,
    O_FROM,        O_TO,           O_RANGE,      O_FUNCTION,
    O_SYMBOLS,     O_INSTRUCTIONS, O_FRAMING,    O_PROTOCOL,
    O_PLUGIN,      O_CONFIG,       O_ARCH,       O_IMAGE,
    O_NO_BARRIER,  O_WRAPPED_AT,   O_STRIP_STOP, O_ON_ERROR,
    O_ASSUME_SYNC, O_OPT,          O_CHECK,      O_ALLOW_OUTSIDE,
    O_SYSROOT,     O_SYMFS,        O_KERNEL,     O_VDSO,
    O_BUILD_IDS,   O_TRUST_TIME,   O_PERF_STYLE, O_COLUMNS,
    O_CLOCK,       O_AT,           O_COUNT,      O_INDEX,
    O_ERRORS,      O_STATS,        O_OUTPUT,     O_COLOR,
    O_THREADS,     O_PROGRESS,     O_QUIET,      O_VERBOSE,
    O_END,
};

const struct command command_decode = {
    .name = "decode",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "the path of execution: ranges, contexts, exceptions, time",
    .details =
        "text, jsonl and csv list every element. path lists straight runs (R first last n),\n"
        "privilege or Exception level (P), exceptions (E) and interrupts (I); pcs one\n"
        "address for each instruction executed; runs, of perf.data, straight runs of every\n"
        "CPU and thread in time order (cpu tid first n), and perf what perf script prints of\n"
        "branches, or with --instructions of instructions. All leave out transactions that "
        "failed,\n"
        "as does --instructions, which lists instructions in place of ranges.",
    .formats = "text|jsonl|csv|path|pcs|runs|perf",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
