/* SPDX-License-Identifier: BSD-2-Clause */
/* The outcomes of each conditional branch, for those who have to show them: taken, not taken, both, or never
   reached; and the code that no source line explains, by name.  A table with commas. */
#include <inttypes.h>

#include "export/export.h"

/* The function around an address: `at` goes on from one address to a higher one. */
static const struct tw_function_count *function_at(const struct tw_coverage *coverage,
                                                   size_t object, size_t *at, uint64_t address)
{
    const struct tw_function_count *function, *next;

    while ((next = tw_coverage_function(coverage, object, *at + 1)) != NULL &&
           next->address <= address)
        ++*at;
    function = tw_coverage_function(coverage, object, *at);
    return function && function->address <= address ? function : NULL;
}

static const char *outcome_of(const struct tw_branch_count *branch)
{
    return branch->taken && branch->not_taken ? "both"
           : branch->taken                    ? "taken"
           : branch->not_taken                ? "not taken"
                                              : "never reached";
}

static void put_name(struct tw_sink *sink, const struct tw_subject *subject, size_t object,
                     const struct tw_function_count *function)
{
    const char *name = tw_coverage_object(subject->coverage, object)->name;

    tw_sink_csv(sink, name ? name : "");
    tw_sink_text(sink, ",");
    if (function)
        tw_sink_csv(sink, tw_subject_name(subject, function->name));
}

static void put_branches(struct tw_sink *sink, const struct tw_subject *subject, size_t object)
{
    const struct tw_coverage *coverage = subject->coverage;
    const struct tw_branch_count *branch;
    size_t at = 0;

    for (size_t i = 0;
         (branch = tw_coverage_branch(coverage, object, i)) != NULL && !sink->is_over; i++) {
        struct tw_source_line line = { NULL, 0 };
        const bool has_line = tw_coverage_source(coverage, object, &line, branch->address);

        tw_sink_format(sink, "branch,0x%" PRIx64 ",,%s,%" PRIu64 ",%" PRIu64 ",",
                       branch->address, outcome_of(branch), branch->taken, branch->not_taken);
        put_name(sink, subject, object, function_at(coverage, object, &at, branch->address));
        tw_sink_text(sink, ",");
        if (has_line) {
            tw_sink_csv(sink, line.file);
            tw_sink_format(sink, ",%" PRIu32 "\n", line.line);
        } else {
            tw_sink_text(sink, ",\n");
        }
    }
}

/* A stretch with one count, or a part of it, of which no line is known. */
static void put_stretch(struct tw_sink *sink, const struct tw_subject *subject, size_t object,
                        const struct tw_code_count *code,
                        const struct tw_function_count *function)
{
    tw_sink_format(sink, "unexplained,0x%" PRIx64 ",0x%" PRIx64 ",%s,%" PRIu64 ",,",
                   code->first, code->end, code->count ? "executed" : "never reached",
                   code->count);
    put_name(sink, subject, object, function);
    tw_sink_text(sink, ",,\n");
}

static void put_unexplained(struct tw_sink *sink, const struct tw_subject *subject,
                            size_t object)
{
    const struct tw_coverage *coverage = subject->coverage;
    const struct tw_code_count *code;
    size_t at = 0;

    for (size_t i = 0; (code = tw_coverage_code(coverage, object, i)) != NULL && !sink->is_over;
         i++) {
        const unsigned step = code->isa == TW_ISA_A64 || code->isa == TW_ISA_A32 ? 4 : 2;
        const struct tw_function_count *whose = NULL;
        struct tw_code_count part = { .first = code->first, .end = code->first };

        part.count = code->count;
        for (uint64_t pc = code->first; pc < code->end; pc += step) {
            const struct tw_function_count *function = function_at(coverage, object, &at, pc);
            struct tw_source_line line;
            const bool is_explained = tw_coverage_source(coverage, object, &line, pc);

            if (part.end > part.first && (is_explained || function != whose)) {
                put_stretch(sink, subject, object, &part, whose);
                part.first = part.end = pc;
            }
            if (is_explained)
                part.first = pc + step;
            part.end = pc + step;
            whose = function;
        }
        if (part.end > part.first)
            put_stretch(sink, subject, object, &part, whose);
    }
}

void tw_write_outcomes(struct tw_sink *sink, const struct tw_subject *subject)
{
    tw_sink_text(sink, "kind,address,end,outcome,taken,not_taken,object,function,file,line\n");
    for (size_t i = 0; i < tw_coverage_object_count(subject->coverage); i++) {
        put_branches(sink, subject, i);
        put_unexplained(sink, subject, i);
    }
}
