/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway branches: every branch taken, or samples with the branches before them. */
#include "commands/branches.h"

#include <inttypes.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/synth.h"

enum { LINE_ROOM = 128, HEAD_ROOM = 160, DEFAULT_STACK = 16, DEFAULT_PERIOD = 1000 };

struct printer {
    struct output *out;
    bool is_old;
    enum branches_kind kind;
    /* What the last line began with, and for whom. */
    const char *comm;
    uint32_t pid, tid, cpu;
    size_t head_size;
    char head[HEAD_ROOM];
};

static const struct {
    unsigned flags;
    const char *name;
} names[] = {
    { IP_BRANCH | IP_CALL, "call" },
    { IP_BRANCH | IP_RETURN, "return" },
    { IP_BRANCH | IP_CONDITIONAL, "jcc" },
    { IP_BRANCH, "jmp" },
    { IP_BRANCH | IP_CALL | IP_INTERRUPT, "int" },
    { IP_BRANCH | IP_RETURN | IP_INTERRUPT, "iret" },
    { IP_BRANCH | IP_CALL | IP_SYSCALLRET, "syscall" },
    { IP_BRANCH | IP_RETURN | IP_SYSCALLRET, "sysret" },
    { IP_BRANCH | IP_ASYNC, "async" },
    { IP_BRANCH | IP_CALL | IP_ASYNC | IP_INTERRUPT, "hw int" },
};

static const char *name_of(unsigned flags)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].flags == flags)
            return names[i].name;
    return "";
}

static char *put_text(char *at, const char *text)
{
    while (*text)
        *at++ = *text++;
    return at;
}

static char *put_hex(char *at, uint64_t value)
{
    static const char digits[] = "0123456789abcdef";
    unsigned count = 1;

    while (count < 16 && value >> 4 * count)
        count++;
    for (unsigned i = count; i--; value >>= 4)
        at[i] = digits[value & 15];
    return at + count;
}

static char *put_flags(const struct printer *printer, char *at, unsigned flags)
{
    const unsigned edge = flags & (IP_TRACE_BEGIN | IP_TRACE_END);
    const unsigned rest = flags & ~(unsigned)(IP_TRACE_BEGIN | IP_TRACE_END);

    if (edge)
        at = put_text(at, edge & IP_TRACE_BEGIN ? "tr strt " : "tr end ");
    /* To older versions beginning and end were names of their own. */
    if (!(edge && rest == IP_BRANCH && printer->is_old)) {
        const char *name = name_of(rest);

        if (*name) {
            at = put_text(at, name);
            *at++ = ' ';
        }
    }
    return at;
}

/* "comm pid/tid [cpu] ": nearly always that of the line before. */
static char *put_head(struct printer *printer, char *at, const struct sample *sample)
{
    if (sample->comm != printer->comm || sample->tid != printer->tid ||
        sample->pid != printer->pid || sample->lane->cpu != printer->cpu) {
        const int size =
            snprintf(printer->head, sizeof printer->head,
                     "%.100s %" PRId32 "/%" PRId32 " [%03" PRIu32 "] ", sample->comm,
                     (int32_t)sample->pid, (int32_t)sample->tid, sample->lane->cpu);

        printer->head_size = size < 0 ? 0 : (size_t)size;
        printer->comm = sample->comm;
        printer->pid = sample->pid;
        printer->tid = sample->tid;
        printer->cpu = sample->lane->cpu;
    }
    for (size_t i = 0; i < printer->head_size; i++)
        at[i] = printer->head[i];
    return at + printer->head_size;
}

static void print_branch(struct printer *printer, const struct sample *sample)
{
    char *line = output_room(printer->out, HEAD_ROOM + LINE_ROOM);
    char *at = put_head(printer, line, sample);

    at = put_flags(printer, at, sample->flags);
    at = put_hex(at, sample->ip);
    at = put_text(at, " => ");
    at = put_hex(at, sample->to);
    *at++ = '\n';
    output_took(printer->out, (size_t)(at - line));
}

static void print_instruction(struct printer *printer, const struct sample *sample)
{
    char *line = output_room(printer->out, HEAD_ROOM + LINE_ROOM);
    char *at = put_head(printer, line, sample);

    at = put_hex(at, sample->ip);
    *at++ = '\n';
    output_took(printer->out, (size_t)(at - line));
}

static void print_stack(struct printer *printer, const struct sample *sample)
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
        const struct branch *branch = &sample->stack[at];
        char *line = output_room(printer->out, LINE_ROOM), *end;

        end = put_hex(put_text(line, " 0x"), branch->from);
        end = put_hex(put_text(end, "/0x"), branch->to);
        end = put_text(end, printer->is_old ? "/P/-/-/0/ " : "/P/-/-/0//- ");
        output_took(printer->out, (size_t)(end - line));
        at = (at + sample->stack_room - 1) % sample->stack_room;
    }
    output_text(printer->out, "\n");
}

static void report(void *context, const struct sample *sample)
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

/* Whether the trace units were told to send timestamps. */
static bool has_timestamps(const struct session *session)
{
    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++) {
        const struct tw_register *control = tw_capture_source(session->capture, i)->registers;

        if (control->value >> (strcmp(control->name, "ETMCR") == 0 ? 28 : 11) & 1)
            return true;
    }
    return false;
}

int branches_print(struct session *session, enum branches_kind kind)
{
    const struct options *options = session->options;
    struct printer printer = { .out = session->out,
                               .is_old = options->perf_style &&
                                         strcmp(options->perf_style, "6.1") == 0,
                               .kind = kind };
    struct synth synth = { .is_old = printer.is_old, .report = report, .context = &printer };

    /* perf keeps one state for all sources in a ring buffer where it does not look at time. */
    synth.share = printer.is_old && !has_timestamps(session) ? SHARE_ALWAYS : SHARE_IN_THREADS;
    if (kind == EACH_INSTRUCTION)
        synth.period = 1;
    if (kind == STACKS || kind == STACKS_WITH_MAPPINGS) {
        synth.stack_room =
            options->brstack.is_given ? (size_t)options->brstack.value : DEFAULT_STACK;
        synth.period = options->period.is_given ? options->period.value : DEFAULT_PERIOD;
    }
    if (kind == STACKS_WITH_MAPPINGS)
        print_mappings(session->out, session->perf);
    return synth_run(session, &synth);
}

static int print_as_asked(struct session *session)
{
    const struct options *options = session->options;

    if (options_format_is(options, "autofdo"))
        return autofdo_print(session);
    if (options_format_is(options, "profgen"))
        return branches_print(session, STACKS_WITH_MAPPINGS);
    return branches_print(session, options->brstack.is_given ? STACKS : EACH_BRANCH);
}

static bool check(const struct options *options)
{
    const struct number *stack = &options->brstack, *period = &options->period;

    if (stack->is_given && (stack->value == 0 || stack->value > BRSTACK_MAX))
        return options_wrong(options, "--brstack wants a number from 1 to %d", BRSTACK_MAX);
    if (period->is_given && period->value == 0)
        return options_wrong(options, "--period wants a number of instructions");
    return true;
}

static int run(const struct options *options)
{
    struct session session = { .options = options };
    struct output out = { 0 };
    int status = check(options) ? session_open(&session, options) : BAD_USAGE;

    if (status == DONE && !session.perf) {
        say("%s: branches are listed of perf.data, which tells CPUs and threads",
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
    O_BUFFER, O_ID,        O_SOURCE,     O_IMAGE,      O_SYSROOT, O_SYMFS,   O_KERNEL,
    O_VDSO,   O_BUILD_IDS, O_TRUST_TIME, O_PERF_STYLE, O_BRSTACK, O_PERIOD,  O_BINARY,
    O_OPT,    O_OUTPUT,    O_COLOR,      O_THREADS,    O_QUIET,   O_VERBOSE, O_END,
};

const struct command command_branches = {
    .name = "branches",
    .arguments = "PERF.DATA [OPTION...]",
    .summary = "branches of a perf.data file, as perf script prints them",
    .details =
        "perf prints each taken branch: comm pid/tid [cpu] flags ip => addr; with --brstack,\n"
        "samples with the branches before them: comm tid ip brstack. profgen prints such\n"
        "samples and the mappings, for llvm-profgen and BOLT. autofdo prints ranges and\n"
        "branches of one program with their counts, for create_llvm_prof.",
    .formats = "perf|profgen|autofdo",
    .options = takes,
    .least = 1,
    .most = 1,
    .run = run,
};
