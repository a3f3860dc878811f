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
#include "shared/at.h"
#include "shared/attribution.h"
#include "shared/session.h"

struct decode {
    const struct options *options;
    struct output out;
    struct lines lines;
    struct names names;
    struct path *path;       /* NULL: lines */
    struct listing *listing; /* NULL: ranges, not instructions */
    struct press *press;     /* NULL: lines are made by this thread */
    bool is_accesses;        /* csv of data trace alone */
    struct accesses accesses;
    struct attribution attribution; /* perf.data */
};

/* --range and --function keep what executed there, and nothing else. */
static bool is_kept(const struct names *names, const struct tw_element *element, uint8_t id)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        return names_keep(names, id, element->start, tw_element_end(element));
    case TW_ELEMENT_I_RANGE_NOPATH:
        return names_keep(names, id, element->first, element->first + 1);
    case TW_ELEMENT_ADDR_NACC:
        return names_keep(names, id, element->address, element->address + 1);
    default:
        return false;
    }
}

static void take_lines(struct decode *decode, const struct session *session,
                       const struct tw_batch *batch)
{
    const struct options *options = decode->options;

    for (size_t i = 0; i < batch->count; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (!session_wants_index(session, element->index))
            continue;
        if (element->type == TW_ELEMENT_ERROR && !options->errors) {
            session_say_error(session, element, batch->id);
            continue;
        }
        if (decode->names.is_filtered && !is_kept(&decode->names, element, batch->id))
            continue;
        if (session->perf)
            decode->lines.tail = attribution_of(&decode->attribution, element, batch->id,
                                                decode->lines.format != LINES_TEXT);
        if (decode->press)
            press_element(decode->press, element, batch->id);
        else
            lines_element(&decode->lines, element, batch->id);
    }
}

static void take_path(struct decode *decode, const struct session *session,
                      const struct tw_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->elements[i].type == TW_ELEMENT_ERROR)
            session_say_error(session, &batch->elements[i], batch->id);
    path_take(decode->path, batch);
}

static void say_stats(const struct session *session, size_t buffer)
{
    for (unsigned id = 0; id < 128; id++) {
        const struct tw_source_stats *stats =
            session->source_of[id] == TW_NONE
                ? NULL
                : tw_tree_source_stats(session->tree, (uint8_t)id);

        if (!stats)
            continue;
        fprintf(stderr,
                "%s id 0x%02x: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64
                " ranges, %" PRIu64 " exceptions, %" PRIu64 " missing addresses, %" PRIu64
                " bytes without sync\n",
                tw_capture_buffer(session->capture, buffer)->name, id, stats->bytes,
                stats->instructions, stats->elements[TW_ELEMENT_INSTR_RANGE],
                stats->elements[TW_ELEMENT_EXCEPTION], stats->missing_code,
                stats->unsynced_bytes);
    }
}

static bool decode_buffer(void *context, struct session *session, size_t buffer)
{
    struct decode *decode = context;
    const bool has_several = session_has_several(session);
    const char *name = tw_capture_buffer(session->capture, buffer)->name;
    struct tw_batch batch = { .size = sizeof batch };
    enum tw_status status;

    lines_set_buffer(&decode->lines, has_several ? name : NULL);
    attribution_start(&decode->attribution, session);
    if (decode->path && has_several)
        output_format(&decode->out, "# buffer %s\n", name);
    if (decode->path)
        path_start(decode->path, session);
    if (decode->listing)
        listing_start(decode->listing, session);
    /* Of perf.data, a line tells what was known when it came. */
    if (!decode->path && !decode->listing && !decode->is_accesses && !session->perf)
        decode->press = press_new(&decode->lines, session_threads(session));
    while ((status = session_next(session, &batch)) == TW_OK) {
        if (!session_wants_id(session, batch.id))
            continue;
        if (decode->path)
            take_path(decode, session, &batch);
        else if (decode->listing)
            listing_take(decode->listing, &batch);
        else if (decode->is_accesses)
            accesses_take(&decode->accesses, &decode->out, session, &batch);
        else
            take_lines(decode, session, &batch);
        if (output_is_over(&decode->out)) {
            press_free(decode->press);
            decode->press = NULL;
            return true;
        }
    }
    press_free(decode->press);
    decode->press = NULL;
    if (decode->path)
        path_end(decode->path);
    if (decode->listing)
        listing_end(decode->listing);
    accesses_end(&decode->accesses, &decode->out);
    if (decode->options->stats)
        say_stats(session, buffer);
    return status == TW_END;
}

static int start(struct decode *decode)
{
    const struct options *options = decode->options;
    const bool is_pcs = options_format_is(options, "pcs");
    const bool is_path = is_pcs || options_format_is(options, "path");

    if (is_path && options->instructions) {
        (void)options_wrong(options, "--instructions works with text, jsonl and csv");
        return BAD_USAGE;
    }
    if (!csv_start(&decode->lines.csv, options, csv_element_columns))
        return BAD_USAGE;
    if (is_path && !(decode->path = path_new(&decode->out, &decode->names, is_pcs)))
        return NOT_DONE;
    decode->lines.out = &decode->out;
    decode->lines.clock = options->clock.value;
    decode->lines.format = options_format_is(options, "jsonl") ? LINES_JSON
                           : options_format_is(options, "csv") ? LINES_CSV
                                                               : LINES_TEXT;
    return DONE;
}

static int run(const struct options *options)
{
    struct decode decode = { .options = options };
    struct session session = { .options = options };
    int status = start(&decode);

    if (status == DONE)
        status = session_open(&session, options);
    if (status == DONE && !session.perf &&
        (options_format_is(options, "runs") || options_format_is(options, "perf"))) {
        say("%s: --format %s is for perf.data, which tells CPUs and threads",
            tw_capture_path(session.capture), options->format);
        status = BAD_USAGE;
    }
    if (status == DONE && (options->at || options->count.is_given) &&
        (options_format_is(options, "runs") || options_format_is(options, "perf"))) {
        (void)options_wrong(options, "--at and --count do not go with --format %s",
                            options->format);
        status = BAD_USAGE;
    }
    if (status == DONE)
        status = names_open(&decode.names, &session);
    if (status == DONE && options->instructions &&
        !(decode.listing = listing_new(&decode.lines, &decode.names)))
        status = NOT_DONE;
    if (status == DONE && !output_open(&decode.out, options->output, options->color))
        status = NOT_DONE;
    if (status == DONE) {
        decode.is_accesses = decode.lines.format == LINES_CSV && !options->columns &&
                             !options->instructions && accesses_fit(&session);
        if (decode.is_accesses)
            accesses_head(&decode.out);
        else if (decode.lines.format == LINES_CSV)
            csv_head(&decode.lines.csv, &decode.out);
        session.out = &decode.out;
        if (options_format_is(options, "runs"))
            status = runs_print(&session);
        else if (options_format_is(options, "perf"))
            status = branches_print(&session,
                                    options->instructions ? EACH_INSTRUCTION : EACH_BRANCH);
        else if (options->at || options->count.is_given)
            status = at_run(&session, decode_buffer, &decode);
        else
            status = session_run(&session, false, decode_buffer, &decode);
    }
    if (!output_close(&decode.out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    path_free(decode.path);
    listing_free(decode.listing);
    names_close(&decode.names);
    csv_free(&decode.lines.csv);
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    O_BUFFER,      O_ID,      O_SOURCE,       O_FROM,          O_TO,         O_RANGE,
    O_FUNCTION,    O_SYMBOLS, O_INSTRUCTIONS, O_FRAMING,       O_PROTOCOL,   O_CONFIG,
    O_ARCH,        O_IMAGE,   O_NO_BARRIER,   O_WRAPPED_AT,    O_STRIP_STOP, O_ON_ERROR,
    O_ASSUME_SYNC, O_OPT,     O_CHECK,        O_ALLOW_OUTSIDE, O_SYSROOT,    O_SYMFS,
    O_KERNEL,      O_VDSO,    O_BUILD_IDS,    O_TRUST_TIME,    O_PERF_STYLE, O_COLUMNS,
    O_CLOCK,       O_AT,      O_COUNT,        O_INDEX,         O_ERRORS,     O_STATS,
    O_OUTPUT,      O_COLOR,   O_THREADS,      O_PROGRESS,      O_QUIET,      O_VERBOSE,
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
