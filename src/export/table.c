/* SPDX-License-Identifier: BSD-2-Clause */
/* Every format: a new one is a file and a row here. */
#include <string.h>

#include "base/memory.h"
#include "export/export.h"

struct row {
    struct tw_format format;
    tw_writer *writer;
};

/* clang-format off */
static const struct row rows[] = {
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_CALLS, false }, tw_write_calls_jsonl },
    { { "folded",     ".folded",          "folded stacks: flamegraph.pl, speedscope",   TW_SUBJECT_CALLS, false }, tw_write_folded },
    { { "svg",        ".svg",             "flame graph, for a browser",                 TW_SUBJECT_CALLS, false }, tw_write_flame_graph },
    { { "callgrind",  ".callgrind",       "callgrind_annotate, KCachegrind",            TW_SUBJECT_CALLS, false }, tw_write_callgrind },
    { { "pprof",      ".pb.gz",           "go tool pprof",                              TW_SUBJECT_CALLS, true  }, tw_write_pprof },
    { { "speedscope", ".speedscope.json", "speedscope",                                 TW_SUBJECT_CALLS, false }, tw_write_speedscope },
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_PROFILE, false }, tw_write_profile_jsonl },
    { { "csv",        ".csv",             "tables with commas",                         TW_SUBJECT_PROFILE, false }, tw_write_profile_csv },
    { { "jsonl",      ".jsonl",           "JSON lines",                                 TW_SUBJECT_COVERAGE, false }, tw_write_coverage_jsonl },
    { { "lcov",       ".info",            "lcov, genhtml",                              TW_SUBJECT_COVERAGE, false }, tw_write_lcov },
    { { "dot",        ".dot",             "call graph for Graphviz",                    TW_SUBJECT_CALLS, false }, tw_write_dot },
};
/* clang-format on */

enum { ROWS = sizeof rows / sizeof rows[0] };

const struct tw_format *tw_format_get(size_t number)
{
    return number < ROWS ? &rows[number].format : NULL;
}

const struct tw_format *tw_format_by_name(const char *name, enum tw_subject_kind kind)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].format.name, name) == 0 && rows[i].format.subjects & kind)
            return &rows[i].format;
    return NULL;
}

enum tw_status tw_format_write(const struct tw_format *format, const struct tw_subject *subject,
                               tw_write_fn *write, void *context)
{
    struct tw_sink *sink = tw_take_raw(NULL, sizeof *sink);
    enum tw_status status = TW_E_ARGUMENT;

    if (!sink)
        return TW_E_MEMORY;
    sink->write = write;
    sink->context = context;
    sink->used = 0;
    sink->is_over = sink->lacks_memory = false;
    for (size_t i = 0; i < ROWS; i++) {
        if (&rows[i].format != format)
            continue;
        rows[i].writer(sink, subject);
        status = tw_sink_end(sink);
    }
    tw_give(NULL, sink);
    return status;
}
