/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway branches --format autofdo: how often each range and branch of a program was executed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands/branches.h"
#include "shared/merge.h"

/* A range (first to last instruction) or a branch, by file offsets. */
struct pair {
    uint64_t from, to;
    uint64_t count;
    uint32_t file; /* TW_NONE: a free place */
    bool is_branch;
};

/* Open addressing, at most half full. */
struct table {
    struct pair *pairs;
    size_t room, count;
};

struct autofdo {
    const struct session *session;
    struct table table;
    bool is_out;
    bool is_simpleperf; /* text as simpleperf makes it of its own recordings */
    /* The map that held the last address: code does not often leave it. */
    const struct tw_perf_map *map;
    uint32_t space;
    uint64_t time;
    uint32_t chosen;
};

static size_t slot_of(const struct table *table, const struct pair *pair)
{
    uint64_t hash = (pair->from * 0x9e3779b97f4a7c15u) ^ (pair->to * 0xc2b2ae3d27d4eb4fu) ^
                    pair->file ^ (uint64_t)pair->is_branch << 32;
    size_t slot;

    hash ^= hash >> 29;
    slot = (size_t)hash & (table->room - 1);
    while (table->pairs[slot].count &&
           (table->pairs[slot].from != pair->from || table->pairs[slot].to != pair->to ||
            table->pairs[slot].file != pair->file ||
            table->pairs[slot].is_branch != pair->is_branch))
        slot = (slot + 1) & (table->room - 1);
    return slot;
}

static bool grow(struct table *table)
{
    struct table bigger = { .room = table->room ? table->room * 2 : 4096,
                            .count = table->count };

    bigger.pairs = calloc(bigger.room, sizeof *bigger.pairs);
    if (!bigger.pairs)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->pairs[i].count)
            bigger.pairs[slot_of(&bigger, &table->pairs[i])] = table->pairs[i];
    free(table->pairs);
    *table = bigger;
    return true;
}

static void count_pair(struct autofdo *autofdo, const struct pair *pair)
{
    struct table *table = &autofdo->table;
    size_t slot;

    if (autofdo->is_out || (table->count * 2 >= table->room && !grow(table))) {
        autofdo->is_out = true;
        return;
    }
    slot = slot_of(table, pair);
    if (!table->pairs[slot].count) {
        table->pairs[slot] = *pair;
        table->pairs[slot].count = 0;
        table->count++;
    }
    table->pairs[slot].count++;
}

/* The file and offset of an address; false: it is in none. */
static bool place_of(struct autofdo *autofdo, const struct merge_lane *lane, uint64_t address,
                     uint32_t *file, uint64_t *offset)
{
    const uint32_t space = lane->at.thread ? lane->at.thread->space : 0;

    if (!autofdo->map || autofdo->space != space || autofdo->time != lane->view.time ||
        address - autofdo->map->address >= autofdo->map->length)
        autofdo->map = tw_perf_map(autofdo->session->perf, space, address, lane->view.time);
    autofdo->space = space;
    autofdo->time = lane->view.time;
    if (!autofdo->map || autofdo->map->file == TW_NONE)
        return false;
    *file = autofdo->map->file;
    *offset = address - autofdo->map->address + autofdo->map->offset;
    return true;
}

/* What is under way in a lane: a run of code without a taken branch, and the branch that ended the
   one before it. */
struct course {
    struct pair run, branch; /* count 1: there is one */
    uint64_t next;           /* address at which the run goes on */
    bool is_indirect;        /* the branch */
};

static void end_run(struct autofdo *autofdo, struct course *course)
{
    if (course->run.count)
        count_pair(autofdo, &course->run);
    course->run.count = 0;
}

/* The branch led there; 0: out of what is known. */
static void end_branch(struct autofdo *autofdo, struct course *course,
                       const struct merge_lane *lane, uint64_t to)
{
    struct pair *branch = &course->branch;
    uint32_t file;

    if (!branch->count)
        return;
    /* simpleperf tells only targets that stand in the instruction. */
    if (!to || (autofdo->is_simpleperf && course->is_indirect) ||
        !place_of(autofdo, lane, to, &file, &branch->to) || file != branch->file)
        branch->to = UINT64_MAX;
    count_pair(autofdo, branch);
    branch->count = 0;
}

static void take_range(struct autofdo *autofdo, struct merge_lane *lane,
                       const struct tw_element *range)
{
    struct course *course = lane->state;
    const bool is_branch = range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR;
    const uint64_t to_last = range->length - (uint64_t)range->last_size * 2;
    struct pair pair = { .count = 1 };

    end_branch(autofdo, course, lane, range->start);
    if (!place_of(autofdo, lane, range->start, &pair.file, &pair.from)) {
        end_run(autofdo, course);
        return;
    }
    /* perf's ranges go from where a branch led to the next that is taken; simpleperf's end at
       each branch. */
    if (course->run.count && course->next == range->start && course->run.file == pair.file &&
        !autofdo->is_simpleperf) {
        course->run.to = pair.from + to_last;
    } else {
        end_run(autofdo, course);
        course->run = pair;
        course->run.to = pair.from + to_last;
    }
    course->next = tw_element_end(range);
    if (!is_branch || !(range->flags & TW_RANGE_EXECUTED))
        return;
    course->branch = course->run;
    course->branch.from = course->run.to;
    course->branch.is_branch = true;
    course->is_indirect = range->last_kind == TW_LAST_IBR;
    end_run(autofdo, course);
}

static void take_other(struct autofdo *autofdo, struct merge_lane *lane,
                       const struct tw_element *element)
{
    struct course *course = lane->state;

    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        end_branch(autofdo, course, lane,
                   element->flags & TW_EXCEPTION_HAS_RETURN ? element->return_address : 0);
        end_run(autofdo, course);
        break;
    case TW_ELEMENT_EXCEPTION_RET: /* no branch of the program */
        course->branch.count = 0;
        end_run(autofdo, course);
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_EO_TRACE:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_I_RANGE_NOPATH:
        end_branch(autofdo, course, lane, 0);
        end_run(autofdo, course);
        break;
    case TW_ELEMENT_ERROR:
        session_say_error(autofdo->session, element, lane->id);
        break;
    default:
        merge_look(lane, element);
        break;
    }
}

static void take(void *context, struct merge_lane *lane, const struct tw_element *elements,
                 size_t count)
{
    struct autofdo *autofdo = context;

    for (size_t i = 0; i < count; i++) {
        if (elements[i].type == TW_ELEMENT_INSTR_RANGE)
            take_range(autofdo, lane, &elements[i]);
        else
            take_other(autofdo, lane, &elements[i]);
    }
}

static void end_block(void *context, struct merge_lane *lane)
{
    struct autofdo *autofdo = context;

    end_branch(autofdo, lane->state, lane, 0);
    end_run(autofdo, lane->state);
}

static bool is_named(const char *path, const char *name)
{
    const char *last = strrchr(path, '/');

    return strcmp(path, name) == 0 || (last && strcmp(last + 1, name) == 0);
}

/* The program asked for, else the one that executed most. */
static bool choose(struct autofdo *autofdo)
{
    const struct tw_perf *perf = autofdo->session->perf;
    const char *name = autofdo->session->options->binary;
    const size_t count = tw_perf_file_count(perf);
    uint64_t *times = calloc(count + 1, sizeof *times), most = 0;

    autofdo->chosen = TW_NONE;
    for (size_t i = 0; times && i < autofdo->table.room; i++) {
        const struct pair *pair = &autofdo->table.pairs[i];

        if (pair->count && !pair->is_branch)
            times[pair->file] += pair->count;
    }
    for (size_t i = 0; times && i < count; i++) {
        if (name && !is_named(tw_perf_file(perf, i)->name, name))
            continue;
        if (times[i] > most || (name && autofdo->chosen == TW_NONE)) {
            most = times[i];
            autofdo->chosen = (uint32_t)i;
        }
    }
    free(times);
    if (autofdo->chosen == TW_NONE)
        say("%s: %s%s%s", tw_capture_path(autofdo->session->capture),
            name ? "nothing was mapped that is named \"" : "no program executed anything",
            name ? name : "", name ? "\"" : "");
    return autofdo->chosen != TW_NONE;
}

static int compare(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;

    if (left->is_branch != right->is_branch)
        return left->is_branch ? 1 : -1;
    if (left->from != right->from)
        return left->from < right->from ? -1 : 1;
    return left->to < right->to ? -1 : left->to > right->to;
}

static void print(const struct autofdo *autofdo, struct pair *pairs, size_t count)
{
    struct output *out = autofdo->session->out;
    const struct tw_perf *perf = autofdo->session->perf;
    const struct tw_perf_file *file = tw_perf_file(perf, autofdo->chosen);
    /* create_llvm_prof adds the address of the first segment to all that it reads. */
    const uint64_t base = tw_perf_link_base(perf, autofdo->chosen);
    size_t ranges = 0;

    qsort(pairs, count, sizeof *pairs, compare);
    while (ranges < count && !pairs[ranges].is_branch)
        ranges++;
    output_format(out, "%zu\n", ranges);
    for (size_t i = 0; i < count; i++) {
        const uint64_t from = tw_perf_link_address(perf, autofdo->chosen, pairs[i].from) - base;
        const uint64_t to =
            pairs[i].to == UINT64_MAX
                ? 0
                : tw_perf_link_address(perf, autofdo->chosen, pairs[i].to) - base;

        if (i == ranges)
            output_format(out, "0\n%zu\n", count - ranges);
        output_format(out, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", from,
                      pairs[i].is_branch ? "->" : "-", to, pairs[i].count);
    }
    if (ranges == count)
        output_text(out, "0\n0\n");
    if (file->build_id_size) {
        output_text(out, "// build_id: 0x");
        output_hex(out, file->build_id, file->build_id_size);
        output_text(out, "\n");
    }
    output_format(out, autofdo->is_simpleperf ? "// %s\n\n" : "// %s\n", file->name);
}

int autofdo_print(struct session *session)
{
    struct autofdo autofdo = { .session = session,
                               .is_simpleperf = tw_perf_feature(session->perf, "meta") };
    const struct merge_sink sink = { .state_size = sizeof(struct course),
                                     .take = take,
                                     .end_block = end_block,
                                     .context = &autofdo };
    int status = merge_run(session, &sink);
    size_t count = 0;

    if (status == DONE || status == DONE_WITH_LOSS) {
        if (autofdo.is_out)
            say("out of memory");
        if (autofdo.is_out || !choose(&autofdo))
            status = NOT_DONE;
    }
    for (size_t i = 0; i < autofdo.table.room; i++)
        if (autofdo.table.pairs[i].count && autofdo.table.pairs[i].file == autofdo.chosen)
            autofdo.table.pairs[count++] = autofdo.table.pairs[i];
    if (status == DONE || status == DONE_WITH_LOSS)
        print(&autofdo, autofdo.table.pairs, count);
    free(autofdo.table.pairs);
    return status;
}
