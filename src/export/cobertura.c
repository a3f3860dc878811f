/* SPDX-License-Identifier: BSD-2-Clause */
/* Cobertura's XML (coverage-04.dtd): lines and branches by source file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"

/* A conditional branch of a source line: how many of its two ways were gone. */
struct line_branch {
    const char *file;
    uint32_t line;
    uint32_t ways;
};

struct cobertura {
    struct tw_sink *sink;
    const struct tw_coverage *coverage;
    struct line_branch *branches; /* by file and line */
    size_t branch_count, branch_room;
};

static int by_line(const void *left, const void *right)
{
    const struct line_branch *a = left, *b = right;
    const int order = strcmp(a->file, b->file);

    return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static bool collect(struct cobertura *writer)
{
    const struct tw_branch_count *branch;

    for (size_t i = 0; i < tw_coverage_object_count(writer->coverage); i++) {
        for (size_t k = 0; (branch = tw_coverage_branch(writer->coverage, i, k)); k++) {
            struct tw_source_line line;

            if (!tw_coverage_source(writer->coverage, i, &line, branch->address))
                continue;
            if (!TW_GROW(writer->sink->allocator, &writer->branches, &writer->branch_room,
                         writer->branch_count + 1))
                return false;
            writer->branches[writer->branch_count++] =
                (struct line_branch){ .file = line.file,
                                      .line = line.line,
                                      .ways = (uint32_t)(branch->taken != 0) +
                                              (branch->not_taken != 0) };
        }
    }
    if (writer->branch_count)
        qsort(writer->branches, writer->branch_count, sizeof *writer->branches, by_line);
    return true;
}

/* What was found of something, and what was gone through. */
struct share {
    uint64_t all, hit;
};

/* The ways out of a line's branches; *at: the first branch that may be its. */
static struct share ways_of(const struct cobertura *writer, const struct tw_line_count *line,
                            size_t *at)
{
    const struct line_branch like = { .file = line->file, .line = line->line };
    struct share share = { 0, 0 };

    while (*at < writer->branch_count && by_line(&writer->branches[*at], &like) < 0)
        ++*at;
    for (size_t i = *at; i < writer->branch_count && by_line(&writer->branches[i], &like) == 0;
         i++) {
        share.all += 2;
        share.hit += writer->branches[i].ways;
    }
    return share;
}

static void put_rate(struct tw_sink *sink, const char *name, struct share share)
{
    tw_sink_format(sink, " %s=\"%.4f\"", name,
                   share.all ? (double)share.hit / (double)share.all : 1.0);
}

/* Lines and ways of one file (NULL: of all), from line number `first` on; how many lines. */
static size_t sum_up(const struct cobertura *writer, struct share *lines, struct share *ways,
                     size_t first, const char *file)
{
    const struct tw_line_count *line;
    size_t i = first, at = 0;

    *lines = *ways = (struct share){ 0, 0 };
    for (; (line = tw_coverage_line(writer->coverage, i)); i++) {
        struct share of;

        if (file && strcmp(line->file, file) != 0)
            break;
        of = ways_of(writer, line, &at);
        lines->all++;
        lines->hit += line->count != 0;
        ways->all += of.all;
        ways->hit += of.hit;
    }
    return i - first;
}

static void put_line(const struct cobertura *writer, const struct tw_line_count *line,
                     size_t *at)
{
    const struct share ways = ways_of(writer, line, at);

    tw_sink_format(writer->sink, "<line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"",
                   line->line, line->count);
    if (ways.all)
        tw_sink_format(writer->sink,
                       " branch=\"true\" condition-coverage=\"%" PRIu64 "%% (%" PRIu64
                       "/%" PRIu64 ")\"/>\n",
                       ways.hit * 100 / ways.all, ways.hit, ways.all);
    else
        tw_sink_text(writer->sink, " branch=\"false\"/>\n");
}

static size_t put_file(const struct cobertura *writer, size_t first)
{
    struct tw_sink *sink = writer->sink;
    const char *file = tw_coverage_line(writer->coverage, first)->file;
    const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    struct share lines, ways;
    const size_t count = sum_up(writer, &lines, &ways, first, file);
    size_t at = 0;

    tw_sink_text(sink, "<class name=\"");
    tw_sink_xml(sink, base);
    tw_sink_text(sink, "\" filename=\"");
    tw_sink_xml(sink, file);
    tw_sink_text(sink, "\"");
    put_rate(sink, "line-rate", lines);
    put_rate(sink, "branch-rate", ways);
    tw_sink_text(sink, " complexity=\"0\"><methods/><lines>\n");
    for (size_t i = 0; i < count && !sink->is_over; i++)
        put_line(writer, tw_coverage_line(writer->coverage, first + i), &at);
    tw_sink_text(sink, "</lines></class>\n");
    return count;
}

static void put_all(const struct cobertura *writer)
{
    struct tw_sink *sink = writer->sink;
    struct share lines, ways;

    (void)sum_up(writer, &lines, &ways, 0, NULL);
    tw_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<!DOCTYPE coverage SYSTEM "
                       "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n"
                       "<coverage");
    put_rate(sink, "line-rate", lines);
    put_rate(sink, "branch-rate", ways);
    tw_sink_format(sink,
                   " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
                   "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64
                   "\" complexity=\"0\" version=\"trackway\" timestamp=\"0\">\n"
                   "<sources><source>/</source></sources>\n"
                   "<packages><package name=\"",
                   lines.hit, lines.all, ways.hit, ways.all);
    tw_sink_text(sink, "\"");
    put_rate(sink, "line-rate", lines);
    put_rate(sink, "branch-rate", ways);
    tw_sink_text(sink, " complexity=\"0\"><classes>\n");
    for (size_t at = 0; tw_coverage_line(writer->coverage, at) && !sink->is_over;)
        at += put_file(writer, at);
    tw_sink_text(sink, "</classes></package></packages>\n</coverage>\n");
}

void tw_write_cobertura(struct tw_sink *sink, const struct tw_subject *subject)
{
    struct cobertura writer = { .sink = sink, .coverage = subject->coverage };

    if (collect(&writer))
        put_all(&writer);
    else
        sink->lacks_memory = true;
    tw_give(sink->allocator, writer.branches);
}
