/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway branches: every branch taken, or samples with the branches before them. */
#include "commands/branches.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/autofdo.h>
#include <trackway/samples.h>

#include "base/compiler.h"
#include "base/members.h"
#include "commands/commands.h"
#include "commands/coverage.h"

enum {
    LINE_ROOM = 128,
    HEAD_ROOM = 160,
    HEAD_USUAL = 32,
    TAIL_BITS = 12, /* of the number of tails kept */
    TAIL_SIZE = 45,
    DEFAULT_STACK = 16,
    DEFAULT_PERIOD = 1000,
    STACK_MAX = 1024
};

/* "flags ip => to\n" of a branch.  A program takes few branches many times: their text is kept, each where its addresses put it.
   So large that it fills a line of the host's cache. */
struct tail {
    uint64_t ip, to;
    uint16_t flags;
    uint8_t size; /* 0: none yet */
    char text[TAIL_SIZE];
};

struct printer {
    struct output *out;
    bool is_old;
    enum branches_kind kind;
    /* What the last line began with, and for whom. */
    const char *comm;
    uint32_t pid, tid, cpu;
    size_t head_size;
    char head[HEAD_ROOM];
    struct tail tails[1 << TAIL_BITS];
};

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_flags(const struct printer *printer, char *at, unsigned flags)
{
    const unsigned edge = flags & (TW_SAMPLE_TRACE_BEGIN | TW_SAMPLE_TRACE_END);
    const unsigned rest = flags & ~(unsigned)(TW_SAMPLE_TRACE_BEGIN | TW_SAMPLE_TRACE_END);

    if (edge)
        at = put_text(at, edge & TW_SAMPLE_TRACE_BEGIN ? "tr strt " : "tr end ");
    /* To older versions beginning and end were names of their own. */
    if (!(edge && rest == TW_SAMPLE_BRANCH && printer->is_old)) {
        const char *name = tw_sample_flags_name(rest);

        if (*name) {
            at = put_text(at, name);
            *at++ = ' ';
        }
    }
    return at;
}

static void make_head(struct printer *printer, const struct tw_sample *sample)
{
    const int size = snprintf(printer->head, sizeof printer->head,
                              "%.100s %" PRId32 "/%" PRId32 " [%03" PRIu32 "] ", sample->comm,
                              (int32_t)sample->pid, (int32_t)sample->tid, sample->cpu);

    printer->head_size = size < 0 ? 0 : (size_t)size;
    printer->comm = sample->comm;
    printer->pid = sample->pid;
    printer->tid = sample->tid;
    printer->cpu = sample->cpu;
}

/* "comm pid/tid [cpu] ": nearly always that of the line before. */
TW_INLINE char *put_head(struct printer *printer, char *at, const struct tw_sample *sample)
{
    if (TW_UNLIKELY(sample->comm != printer->comm || sample->tid != printer->tid ||
                    sample->pid != printer->pid || sample->cpu != printer->cpu))
        make_head(printer, sample);
    memcpy(at, printer->head, HEAD_USUAL);
    if (TW_UNLIKELY(printer->head_size > HEAD_USUAL))
        memcpy(at, printer->head, printer->head_size);
    return at + printer->head_size;
}

static char *make_tail(const struct printer *printer, char *at, const struct tw_sample *sample)
{
    at = put_flags(printer, at, sample->flags);
    at = tw_write_digits(at, sample->ip);
    at = put_text(at, " => ");
    at = tw_write_digits(at, sample->to);
    *at++ = '\n';
    return at;
}

static TW_NOINLINE char *put_new_tail(const struct printer *printer, char *at,
                                      struct tail *tail, const struct tw_sample *sample)
{
    char *const end = make_tail(printer, at, sample);

    if (end - at <= TAIL_SIZE) {
        tail->ip = sample->ip;
        tail->to = sample->to;
        tail->flags = (uint16_t)sample->flags;
        tail->size = (uint8_t)(end - at);
        memcpy(tail->text, at, TAIL_SIZE);
    }
    return end;
}

static char *put_tail(struct printer *printer, char *at, const struct tw_sample *sample)
{
    const uint64_t key = (sample->ip << 1 ^ sample->to) * 0x9e3779b97f4a7c15;
    struct tail *tail = &printer->tails[key >> (64 - TAIL_BITS)];

    if (tail->ip != sample->ip || tail->to != sample->to || tail->flags != sample->flags ||
        !tail->size)
        return put_new_tail(printer, at, tail, sample);
    memcpy(at, tail->text, TAIL_SIZE);
    return at + tail->size;
}

static void print_branch(struct printer *printer, const struct tw_sample *sample)
{
    char *line = output_room(printer->out, HEAD_ROOM + LINE_ROOM);
    char *at = put_head(printer, line, sample);

    at = put_tail(printer, at, sample);
    output_took(printer->out, (size_t)(at - line));
}

static void print_instruction(struct printer *printer, const struct tw_sample *sample)
{
    char *line = output_room(printer->out, HEAD_ROOM + LINE_ROOM);
    char *at = put_head(printer, line, sample);

    at = tw_write_digits(at, sample->ip);
    *at++ = '\n';
    output_took(printer->out, (size_t)(at - line));
}

static void print_stack(struct printer *printer, const struct tw_sample *sample)
{
    size_t at = sample->stack_newest;

    if (printer->kind == STACKS)
        output_format(printer->out, "%s %5" PRId32 "  %16" PRIx64, sample->comm,
                      (int32_t)sample->tid, sample->ip);
    else if (sample->stack_count)
        output_format(printer->out, "%16" PRIx64, sample->ip);
    else
        return; /* what reads these has no use for a sample without branches */
    for (size_t i = 0; i < sample->stack_count; i++) {
        const struct tw_branch_step *branch = &sample->stack[at];
        char *line = output_room(printer->out, LINE_ROOM), *end;

        end = tw_write_digits(put_text(line, " 0x"), branch->from);
        end = tw_write_digits(put_text(end, "/0x"), branch->to);
        end = put_text(end, printer->is_old ? "/P/-/-/0/ " : "/P/-/-/0//- ");
        output_took(printer->out, (size_t)(end - line));
        at = (at + sample->stack_room - 1) % sample->stack_room;
    }
    output_text(printer->out, "\n");
}

static void report(void *context, const struct tw_sample *sample)
{
    struct printer *printer = context;

    if (printer->kind == EACH_BRANCH)
        print_branch(printer, sample);
    else if (printer->kind == EACH_INSTRUCTION)
        print_instruction(printer, sample);
    else
        print_stack(printer, sample);
}

/* The mappings, for those who turn addresses back into places of a program. */
static void print_mappings(struct output *out, const struct tw_perf *perf)
{
    enum { SHARED = 1 };

    for (size_t i = 0; i < tw_perf_mapping_count(perf); i++) {
        const struct tw_perf_mapping *mapping = tw_perf_mapping(perf, i);
        const struct tw_perf_file *file = tw_perf_file(perf, mapping->file);
        const unsigned bits = mapping->protection;

        if (!(bits & 4) || mapping->pid == TW_NONE)
            continue;
        output_format(
            out, "PERF_RECORD_MMAP2 %" PRId32 "/%" PRId32 ": [0x%" PRIx64 "(0x%" PRIx64 ") @ ",
            (int32_t)mapping->pid, (int32_t)mapping->tid, mapping->address, mapping->length);
        output_format(out, mapping->offset ? "0x%" PRIx64 : "%" PRIx64, mapping->offset);
        if (mapping->has_build_id) {
            output_text(out, " <");
            output_hex(out, file->build_id, file->build_id_size);
            output_text(out, ">");
        } else {
            output_format(out, " %02" PRIx32 ":%02" PRIx32 " %" PRIu64 " %" PRIu64,
                          mapping->major, mapping->minor, mapping->inode, mapping->generation);
        }
        output_format(out, "]: %c%c%c%c %s\n", bits & 1 ? 'r' : '-', bits & 2 ? 'w' : '-',
                      bits & 4 ? 'x' : '-', mapping->flags & SHARED ? 's' : 'p', file->name);
    }
}

/* Every part of a run in time order. */
typedef enum tw_status take_fn(void *context, const struct tw_part *part);

struct taking {
    const struct session *session;
    take_fn *take;
    void *context;
};

static void in_time_order(void *context, struct tw_run_config *config)
{
    (void)context;
    config->order = TW_ORDER_TIME;
    config->is_joined = false;
}

static bool take_part(void *context, const struct tw_part *part,
                      const struct tw_packet_view *packet)
{
    const struct taking *taking = context;

    (void)packet;
    session_say_errors(taking->session, &part->batch);
    if (taking->take(taking->context, part) == TW_OK)
        return true;
    say("out of memory");
    return false;
}

static int take_parts(struct session *session, take_fn *take, void *context)
{
    struct taking taking = { session, take, context };
    const struct session_way way = { .context = &taking,
                                     .change = in_time_order,
                                     .take = take_part };

    return session_go(session, &way);
}

struct branches {
    struct printer printer;
    struct tw_samples *samples;
};

static size_t depth_of(const struct options *options)
{
    return options->brstack.is_given ? (size_t)options->brstack.value : DEFAULT_STACK;
}

static uint64_t period_of(const struct options *options)
{
    return options->period.is_given ? options->period.value : DEFAULT_PERIOD;
}

struct branches *branches_new(struct session *session, enum branches_kind kind)
{
    const struct options *options = session->options;
    struct branches *made = calloc(1, sizeof *made);
    struct tw_samples_config config = { .size = sizeof config, .report = report };
    struct tw_fault fault = { TW_OK, "out of memory" };

    if (made) {
        made->printer = (struct printer){ .out = session->out, .kind = kind };
        made->printer.is_old = options->perf_style && strcmp(options->perf_style, "6.1") == 0;
        config.is_perf_6_1 = made->printer.is_old;
        config.context = &made->printer;
    }
    if (kind == EACH_INSTRUCTION)
        config.period = 1;
    if (kind == STACKS || kind == STACKS_WITH_MAPPINGS) {
        config.stack_room = depth_of(options);
        config.period = period_of(options);
    }
    if (kind == STACKS_WITH_MAPPINGS)
        print_mappings(session->out, session->perf);
    if (made && tw_samples_new(&made->samples, session->capture, &config, &fault) == TW_OK)
        return made;
    say("%s", fault.text);
    free(made);
    return NULL;
}

bool branches_take(struct branches *branches, const struct tw_part *part)
{
    if (tw_samples_take(branches->samples, part) == TW_OK)
        return true;
    say("out of memory");
    return false;
}

void branches_free(struct branches *branches)
{
    if (branches)
        tw_samples_free(branches->samples);
    free(branches);
}

static enum tw_status take_samples(void *context, const struct tw_part *part)
{
    return tw_samples_take(((struct branches *)context)->samples, part);
}

static int print_branches(struct session *session, enum branches_kind kind)
{
    struct branches *branches = branches_new(session, kind);
    const int status = branches ? take_parts(session, take_samples, branches) : NOT_DONE;

    branches_free(branches);
    return status;
}

static enum tw_status take_autofdo(void *context, const struct tw_part *part)
{
    return tw_autofdo_take(context, part);
}

static bool write_text(void *context, const char *text, size_t size)
{
    output_bytes(context, text, size);
    return !output_is_over(context);
}

/* AutoFDO's text profile of one program. */
static int print_autofdo(struct session *session)
{
    const char *name = session->options->binary;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_autofdo *autofdo;
    size_t file;
    int status;

    if (tw_autofdo_new(&autofdo, session->capture, NULL, &fault) != TW_OK) {
        say("%s", fault.text);
        return NOT_DONE;
    }
    status = take_parts(session, take_autofdo, autofdo);
    file = tw_autofdo_choose(autofdo, name);
    if (status != DONE && status != DONE_WITH_LOSS) {
        file = SIZE_MAX;
    } else if (file == SIZE_MAX) {
        say("%s: %s%s%s", tw_capture_path(session->capture),
            name ? "nothing was mapped that is named \"" : "no program executed anything",
            name ? name : "", name ? "\"" : "");
        status = NOT_DONE;
    } else if (tw_autofdo_write(autofdo, file, write_text, session->out) != TW_OK) {
        say("out of memory");
        status = NOT_DONE;
    }
    tw_autofdo_free(autofdo);
    return status;
}

static int print_as_asked(struct session *session)
{
    const struct options *options = session->options;

    if (!session->perf)
        return branches_stacks(session, depth_of(options), period_of(options));

    if (options_format_is(options, "autofdo"))
        return print_autofdo(session);
    if (options_format_is(options, "profgen"))
        return print_branches(session, STACKS_WITH_MAPPINGS);
    return print_branches(session, options->brstack.is_given ? STACKS : EACH_BRANCH);
}

static bool check(const struct options *options)
{
    const struct number *stack = &options->brstack, *period = &options->period;

    if (stack->is_given && (stack->value == 0 || stack->value > STACK_MAX))
        return options_wrong(options, "--brstack wants a number from 1 to %d", STACK_MAX);
    if (period->is_given && period->value == 0)
        return options_wrong(options, "--period wants a number of instructions");
    return true;
}

/* Counts, whatever the capture: perf.data has AutoFDO's profile as perf and simpleperf make it. */
static bool is_for_all(const struct options *options, const struct session *session)
{
    return options_format_is(options, "unsymbolized") || options_format_is(options, "llvm") ||
           options_format_is(options, "bolt") || options_format_is(options, "fdata") ||
           (options_format_is(options, "autofdo") && !session->perf);
}

static int run(const struct options *options)
{
    struct session session = { .options = options };
    struct output out = { 0 };
    int status = check(options) ? session_open(&session, options) : BAD_USAGE;

    if (status == DONE && is_for_all(options, &session)) {
        session_close(&session);
        return coverage_counts(options);
    }
    if (status == DONE && !session.perf && !options_format_is(options, "profgen")) {
        say("%s: branches are listed of perf.data, which tells CPUs and threads; "
            "other formats are for all captures",
            tw_capture_path(session.capture));
        status = BAD_USAGE;
    }
    if (status == DONE && !output_open(&out, options->output, options->color))
        status = NOT_DONE;
    session.out = &out;
    if (status == DONE)
        status = print_as_asked(&session);
    if (!output_close(&out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    session_close(&session);
    return status;
}

static const uint8_t takes[] = {
    G_CAPTURE, G_PART,   G_DECODER, G_EXECUTED, O_PERF_STYLE,
    O_BRSTACK, O_PERIOD, O_BINARY,  G_OUTPUT,   O_END,
};

const struct command command_branches = {
    .name = "branches",
    .arguments = "CAPTURE [OPTION...]",
    .summary = "branches, as perf script prints them, and profiles for compilers and linkers",
    .details =
        "perf prints each taken branch: comm pid/tid [cpu] flags ip => addr; with --brstack,\n"
        "samples with the branches before them: comm tid ip brstack. profgen prints such\n"
        "samples and the mappings, for llvm-profgen --perfscript. All others are counts of "
        "one\n"
        "program (--binary), exact, also of snapshots and raw files: autofdo for\n"
        "create_llvm_prof, unsymbolized for llvm-profgen --unsymbolized-profile, llvm for "
        "clang\n"
        "-fprofile-sample-use, bolt for perf2bolt -pa, fdata for llvm-bolt -data; "
        "\"coverage\"\n"
        "writes them too, of several captures and saved results.\n"
        "\n"
        "examples:\n"
        "  trackway branches perf.data\n"
        "  trackway branches perf.data --format llvm --binary a.out -o a.prof",
    .formats = "perf|profgen|autofdo|unsymbolized|llvm|bolt|fdata",
    .options = takes,
    .least = 1,
    .most = 1,
    .is_confined = true,
    .run = run,
};
