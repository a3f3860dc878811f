/* SPDX-License-Identifier: BSD-2-Clause */
/* Every format: a new one is a file and a row here. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "export/export.h"

struct row {
    struct tw_format format;
    tw_writer *writer;
};

/* Timelines are written while they are made. */
struct timeline_row {
    struct tw_format format;
    const struct tw_timeline_form *form;
};

/* clang-format off */
static const struct row rows[] = {
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_CALLS, false }, tw_write_calls_jsonl },
    { { "csv",        ".csv",             "tables with commas",                         TW_SUBJECT_CALLS, false }, tw_write_calls_csv },
    { { "folded",     ".folded",          "folded stacks: flamegraph.pl, speedscope",   TW_SUBJECT_CALLS, false }, tw_write_folded },
    { { "svg",        ".svg",             "flame graph, for a browser",                 TW_SUBJECT_CALLS, false }, tw_write_flame_graph },
    { { "callgrind",  ".callgrind",       "callgrind_annotate, KCachegrind",            TW_SUBJECT_CALLS, false }, tw_write_callgrind },
    { { "pprof",      ".pb.gz",           "go tool pprof",                              TW_SUBJECT_CALLS, true  }, tw_write_pprof },
    { { "speedscope", ".speedscope.json", "speedscope",                                 TW_SUBJECT_CALLS, false }, tw_write_speedscope },
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_PROFILE, false }, tw_write_profile_jsonl },
    { { "csv",        ".csv",             "tables with commas",                         TW_SUBJECT_PROFILE, false }, tw_write_profile_csv },
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_COVERAGE, false }, tw_write_coverage_jsonl },
    { { "lcov",       ".info",            "lcov, genhtml",                              TW_SUBJECT_COVERAGE, false }, tw_write_lcov },
    { { "cobertura",  ".xml",             "Cobertura's readers: CI servers, editors",   TW_SUBJECT_COVERAGE, false }, tw_write_cobertura },
    { { "drcov",      ".drcov",           "Lighthouse, Cartographer",                   TW_SUBJECT_COVERAGE, true  }, tw_write_drcov },
    { { "outcomes",   ".csv",             "outcomes of each branch, unexplained code",  TW_SUBJECT_COVERAGE, false }, tw_write_outcomes },
    { { "autofdo",    ".autofdo",         "AutoFDO: create_llvm_prof, create_gcov",     TW_SUBJECT_COVERAGE, false }, tw_write_autofdo },
    { { "unsymbolized", ".unsymbolized",  "llvm-profgen --unsymbolized-profile",        TW_SUBJECT_COVERAGE, false }, tw_write_unsymbolized },
    { { "llvm",       ".proftext",        "clang -fprofile-sample-use, llvm-profdata",  TW_SUBJECT_COVERAGE, false }, tw_write_sample_profile },
    { { "bolt",       ".preagg",          "perf2bolt -pa",                              TW_SUBJECT_COVERAGE, false }, tw_write_bolt },
    { { "fdata",      ".fdata",           "llvm-bolt -data",                            TW_SUBJECT_COVERAGE, false }, tw_write_fdata },
    { { "dot",        ".dot",             "call graph for Graphviz",                    TW_SUBJECT_CALLS, false }, tw_write_dot },
};

static const struct timeline_row timeline_rows[] = {
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_TIMELINE, false }, &tw_timeline_jsonl },
    { { "csv",        ".csv",             "comma-separated values",                     TW_SUBJECT_TIMELINE, false }, &tw_timeline_csv },
    { { "perfetto",   ".perfetto-trace",  "Perfetto's viewer",                          TW_SUBJECT_TIMELINE, true  }, &tw_timeline_perfetto },
    { { "chrome",     ".trace.json",      "Chrome's trace events: speedscope, Firefox", TW_SUBJECT_TIMELINE, false }, &tw_timeline_chrome },
    { { "ctf",        NULL,               "CTF 1.8: babeltrace2, Trace Compass",        TW_SUBJECT_TIMELINE, true  }, &tw_timeline_ctf },
    { { "vcd",        ".vcd",             "value change dump: GTKWave, vcd2fst",        TW_SUBJECT_TIMELINE, false }, &tw_timeline_vcd },
    { { "svg",        ".svg",             "picture, for a browser or a notebook",       TW_SUBJECT_TIMELINE, false }, &tw_timeline_svg },
};
/* clang-format on */

enum {
    ROWS = sizeof rows / sizeof rows[0],
    TIMELINE_ROWS = sizeof timeline_rows / sizeof timeline_rows[0]
};

const struct tw_format *tw_format_get(size_t number)
{
    if (number < ROWS)
        return &rows[number].format;
    return number - ROWS < TIMELINE_ROWS ? &timeline_rows[number - ROWS].format : NULL;
}

const struct tw_format *tw_format_by_name(const char *name, enum tw_subject_kind kind)
{
    const struct tw_format *format;

    for (size_t i = 0; (format = tw_format_get(i)) != NULL; i++)
        if (strcmp(format->name, name) == 0 && format->subjects & kind)
            return format;
    return NULL;
}

enum tw_status tw_format_write(const struct tw_format *format, const struct tw_subject *subject,
                               tw_write_fn *write, void *context)
{
    enum tw_status status = TW_E_ARGUMENT;
    struct tw_subject copy;
    struct tw_sink *sink;

    TW_TRY(TW_SIZED_TAKE(&copy, subject, "tw_subject", NULL));
    sink = tw_take_raw(copy.allocator, sizeof *sink);
    if (!sink)
        return TW_E_MEMORY;
    sink->allocator = copy.allocator;
    sink->write = write;
    sink->context = context;
    sink->used = 0;
    sink->is_over = sink->lacks_memory = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (&rows[i].format != format)
            continue;
        rows[i].writer(sink, &copy);
        /* Source lines are read when they are asked for. */
        sink->lacks_memory |= copy.calls && !tw_calls_is_complete(copy.calls);
        status = tw_sink_end(sink);
    }
    tw_give(copy.allocator, sink);
    return status;
}

enum tw_status tw_timeline_writer_new(struct tw_timeline_writer **writer,
                                      const struct tw_format *format,
                                      const struct tw_subject *subject, tw_write_fn *write,
                                      void *context, struct tw_fault *fault)
{
    *writer = NULL;
    for (size_t i = 0; i < TIMELINE_ROWS; i++)
        if (&timeline_rows[i].format == format)
            return tw_timeline_writer_make(writer, timeline_rows[i].form, subject, write,
                                           context, fault);
    return tw_fail(fault, TW_E_ARGUMENT, "the format is none of timelines");
}
