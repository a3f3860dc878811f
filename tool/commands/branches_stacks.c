/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway branches --format profgen of a snapshot or raw file: samples with the branches before them, by the
   address, as llvm-profgen --perfscript reads them.  There are no threads: what the sources execute is taken as that of
   one process, and the program's files as mapped where their symbols are. */
#include <inttypes.h>
#include <stdlib.h>

#include "commands/branches.h"

enum { PROCESS = 1 };

struct step {
    uint64_t from, to;
};

/* What a source executed last. */
struct source_stack {
    struct step *steps; /* a ring */
    size_t count, newest;
    uint64_t from; /* of a branch whose target comes next; is_open */
    bool is_open;
    uint64_t left; /* instructions until the next sample */
};

struct stacks {
    struct session *session;
    struct source_stack *sources;
    size_t source_count;
    size_t depth;
    uint64_t period;
    bool has_mappings;
};

static void put_mappings(struct stacks *stacks, const struct tw_part *part, uint64_t address)
{
    struct tw_symbol_object file = { .size = sizeof file };
    uint64_t link;
    const struct tw_symbols *symbols =
        tw_run_symbols(stacks->session->run, &link, part, address);

    stacks->has_mappings = true;
    for (size_t i = 0; symbols && tw_symbols_object(symbols, &file, i); i++)
        output_format(stacks->session->out,
                      "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%" PRIx64 ") @ 0x%" PRIx64
                      " 00:00 0 0]: r-xp %s\n",
                      PROCESS, PROCESS, file.code + file.bias, file.code_size, file.code_offset,
                      file.path);
    if (!symbols)
        say("warning: nothing tells where the program's files are: --symbols FILE");
}

static void put_sample(const struct stacks *stacks, const struct source_stack *source,
                       uint64_t address)
{
    struct output *out = stacks->session->out;
    size_t at = source->newest;

    if (!source->count)
        return;
    output_format(out, "%16" PRIx64, address);
    for (size_t i = 0; i < source->count; i++) {
        const struct step *step = &source->steps[at];

        output_format(out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0//- ", step->from, step->to);
        at = (at + stacks->depth - 1) % stacks->depth;
    }
    output_text(out, "\n");
}

static void take_range(struct stacks *stacks, struct source_stack *source,
                       const struct tw_part *part, const struct tw_element *range)
{
    const uint64_t last = tw_element_end(range) - (uint64_t)range->last_size * 2;

    if (!range->count)
        return;
    if (!stacks->has_mappings)
        put_mappings(stacks, part, range->start);
    if (source->is_open) {
        source->newest = (source->newest + 1) % stacks->depth;
        source->steps[source->newest] = (struct step){ source->from, range->start };
        source->count += source->count < stacks->depth;
    }
    source->is_open = range->flags & TW_RANGE_EXECUTED &&
                      (range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR);
    source->from = last;
    if (source->left > range->count) {
        source->left -= range->count;
        return;
    }
    source->left = stacks->period;
    put_sample(stacks, source, last);
}

/* A gap: what comes after it does not follow. */
static void cut(struct source_stack *source)
{
    source->is_open = false;
    source->count = 0;
}

static struct source_stack *source_of(struct stacks *stacks, uint32_t stream)
{
    while (stream >= stacks->source_count) {
        struct source_stack *more =
            realloc(stacks->sources, (stacks->source_count + 1) * sizeof *more);

        if (!more)
            return NULL;
        stacks->sources = more;
        more[stacks->source_count] =
            (struct source_stack){ .steps = calloc(stacks->depth, sizeof(struct step)),
                                   .left = stacks->period };
        if (!more[stacks->source_count].steps)
            return NULL;
        stacks->source_count++;
    }
    return &stacks->sources[stream];
}

static bool take(void *context, const struct tw_part *part, const struct tw_packet_view *packet)
{
    struct stacks *stacks = context;
    struct source_stack *source;

    (void)packet;
    if (part->kind != TW_PART_ELEMENTS)
        return true;
    source = source_of(stacks, part->stream);
    if (!source) {
        say("out of memory");
        return false;
    }
    if (part->is_resumed)
        cut(source);
    session_say_errors(stacks->session, &part->batch);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (element->type == TW_ELEMENT_INSTR_RANGE)
            take_range(stacks, source, part, element);
        else if (element->type == TW_ELEMENT_EXCEPTION)
            source->is_open = false;
        else if (element->type == TW_ELEMENT_TRACE_ON || element->type == TW_ELEMENT_NO_SYNC ||
                 element->type == TW_ELEMENT_ADDR_NACC ||
                 element->type == TW_ELEMENT_I_RANGE_NOPATH ||
                 element->type == TW_ELEMENT_ERROR)
            cut(source);
    }
    return true;
}

int branches_stacks(struct session *session, size_t depth, uint64_t period)
{
    struct stacks stacks = { .session = session, .depth = depth, .period = period };
    const struct session_way way = { .context = &stacks, .take = take };
    const int status = session_go(session, &way);

    for (size_t i = 0; i < stacks.source_count; i++)
        free(stacks.sources[i].steps);
    free(stacks.sources);
    return status;
}
