/* SPDX-License-Identifier: BSD-2-Clause */
/* AutoFDO's counters: ranges from where a branch led to the next that is taken, and the branches. */
#include "analysis/autofdo.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "run/run.h"

/* What is under way in a stream: a run of code without a taken branch, and the branch that ended the
   one before it. */
struct stream {
    struct tw_autofdo_entry run, branch; /* count 1: there is one */
    uint64_t next;                       /* address at which the run goes on */
    bool is_indirect;                    /* the branch */
    uint32_t ring;
};

/* ---- pairs ---- */

static uint64_t hash_of(const struct tw_autofdo_entry *pair)
{
    return tw_hash64(pair->from * 0x9e3779b97f4a7c15u ^ pair->to * 0xc2b2ae3d27d4eb4fu ^
                     pair->file ^ (uint64_t)pair->is_branch << 32);
}

uint32_t tw_autofdo_count(struct tw_autofdo *autofdo, struct tw_autofdo_table *pairs,
                          const struct tw_autofdo_entry *pair)
{
    uint64_t *first = tw_map_put(&pairs->by_key, hash_of(pair));

    if (!first)
        return 0;
    for (uint64_t at = *first; at; at = pairs->items[at - 1].next) {
        struct tw_autofdo_entry *same = &pairs->items[at - 1];

        if (same->from == pair->from && same->to == pair->to && same->file == pair->file &&
            same->is_branch == pair->is_branch) {
            same->count += pair->count;
            return (uint32_t)at;
        }
    }
    if (pairs->count >= UINT32_MAX - 1 ||
        !TW_GROW(autofdo->allocator, &pairs->items, &pairs->room, pairs->count + 1))
        return 0;
    pairs->items[pairs->count] = *pair;
    pairs->items[pairs->count].next = (uint32_t)*first;
    *first = ++pairs->count;
    return (uint32_t)pairs->count;
}

static void free_pairs(struct tw_autofdo *autofdo, struct tw_autofdo_table *pairs)
{
    tw_give(autofdo->allocator, pairs->items);
    tw_map_free(&pairs->by_key);
}

/* What was counted since the last time, by address now. */
bool tw_autofdo_settle(struct tw_autofdo *autofdo)
{
    struct tw_autofdo_table *live = &autofdo->live;

    for (size_t i = 0; i < live->count; i++) {
        struct tw_autofdo_entry pair = live->items[i];
        const uint64_t base = tw_perf_link_base(autofdo->perf, pair.file);

        pair.from = tw_perf_link_address(autofdo->perf, pair.file, pair.from) - base;
        if (pair.to != TW_AUTOFDO_NOWHERE)
            pair.to = tw_perf_link_address(autofdo->perf, pair.file, pair.to) - base;
        if (!tw_autofdo_count(autofdo, &autofdo->settled, &pair))
            return false;
    }
    live->count = 0;
    tw_map_clear(&live->by_key);
    if (autofdo->ways)
        memset(autofdo->ways, 0, sizeof *autofdo->ways << TW_AUTOFDO_WAY_BITS);
    return true;
}

/* ---- new and free ---- */

bool tw_autofdo_add_file(struct tw_autofdo *autofdo, const char *name, const uint8_t *build_id,
                         uint8_t build_id_size)
{
    struct tw_autofdo_object *file;

    if (!TW_GROW(autofdo->allocator, &autofdo->files, &autofdo->file_room,
                 autofdo->file_count + 1))
        return false;
    file = &autofdo->files[autofdo->file_count];
    *file = (struct tw_autofdo_object){ .name = tw_copy_text(autofdo->allocator, name),
                                        .build_id_size = build_id_size };
    memcpy(file->build_id, build_id, build_id_size);
    autofdo->file_count += file->name != NULL;
    return file->name != NULL;
}

static bool take_files(struct tw_autofdo *autofdo)
{
    for (size_t i = 0; i < tw_perf_file_count(autofdo->perf); i++) {
        const struct tw_perf_file *file = tw_perf_file(autofdo->perf, i);
        uint8_t id[20];
        const size_t size = tw_run_file_id(id, file);

        if (!tw_autofdo_add_file(autofdo, file->name, id, (uint8_t)size))
            return false;
    }
    return true;
}

enum tw_status tw_autofdo_new(struct tw_autofdo **autofdo, const struct tw_capture *capture,
                              const struct tw_allocator *allocator, struct tw_fault *fault)
{
    struct tw_autofdo *made;

    *autofdo = NULL;
    if (capture && !tw_capture_perf(capture))
        return tw_fail(fault, TW_E_ARGUMENT, "AutoFDO's profiles are made of perf.data");
    made = tw_take(allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a profile");
    if (allocator) {
        made->allocator_copy = *allocator;
        made->allocator = &made->allocator_copy;
    }
    made->live.by_key.allocator = made->settled.by_key.allocator = made->allocator;
    tw_streams_init(&made->streams, sizeof(struct stream), made->allocator);
    if (capture) {
        made->perf = tw_capture_perf(capture);
        made->is_simpleperf = tw_perf_feature(made->perf, "meta") != NULL;
        made->ways = tw_take(made->allocator, sizeof *made->ways << TW_AUTOFDO_WAY_BITS);
        if (!made->ways || !take_files(made)) {
            tw_autofdo_free(made);
            return tw_fail(fault, TW_E_MEMORY, "no memory for a profile");
        }
    }
    *autofdo = made;
    return TW_OK;
}

void tw_autofdo_free(struct tw_autofdo *autofdo)
{
    struct tw_allocator allocator;

    if (!autofdo)
        return;
    allocator = autofdo->allocator_copy;
    for (size_t i = 0; i < autofdo->file_count; i++)
        tw_give(autofdo->allocator, autofdo->files[i].name);
    tw_give(autofdo->allocator, autofdo->files);
    free_pairs(autofdo, &autofdo->live);
    free_pairs(autofdo, &autofdo->settled);
    tw_streams_free(&autofdo->streams);
    tw_give(autofdo->allocator, autofdo->ways);
    tw_give(autofdo->allocator, autofdo->results);
    tw_give(autofdo->allocator ? &allocator : NULL, autofdo);
}

/* ---- taking ---- */

static uint32_t space_of(const struct tw_who *who)
{
    return who->thread ? who->thread->space : 0;
}

/* Where the last instruction of a range is, from its start on. */
static uint64_t last_of(const struct tw_element *range)
{
    return range->length - (uint64_t)range->last_size * 2;
}

/* Whether a range ends with a branch that is taken. */
static bool leads_away(const struct tw_element *range)
{
    return (range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR) &&
           (range->flags & TW_RANGE_EXECUTED);
}

/* The file and offset of an address; false: it is in none. */
static bool place_of(struct tw_autofdo *autofdo, const struct tw_who *who, uint64_t address,
                     uint32_t *file, uint64_t *offset)
{
    const uint32_t space = space_of(who);

    if (!autofdo->map || autofdo->space != space || autofdo->time != who->view.time ||
        address - autofdo->map->address >= autofdo->map->length)
        autofdo->map = tw_perf_map(autofdo->perf, space, address, who->view.time);
    autofdo->space = space;
    autofdo->time = who->view.time;
    if (!autofdo->map || autofdo->map->file == TW_NONE)
        return false;
    *file = autofdo->map->file;
    *offset = address - autofdo->map->address + autofdo->map->offset;
    return true;
}

static bool end_run(struct tw_autofdo *autofdo, struct stream *stream)
{
    const bool has_run = stream->run.count != 0;
    const bool is_good = !has_run || tw_autofdo_count(autofdo, &autofdo->live, &stream->run);

    stream->run.count = 0;
    return is_good;
}

/* The branch led there; 0: out of what is known. */
static bool end_branch(struct tw_autofdo *autofdo, struct stream *stream,
                       const struct tw_who *who, uint64_t to)
{
    struct tw_autofdo_entry *branch = &stream->branch;
    uint32_t file;
    bool is_good;

    if (!branch->count)
        return true;
    /* simpleperf tells only targets that stand in the instruction. */
    if (!to || (autofdo->is_simpleperf && stream->is_indirect) ||
        !place_of(autofdo, who, to, &file, &branch->to) || file != branch->file)
        branch->to = TW_AUTOFDO_NOWHERE;
    is_good = tw_autofdo_count(autofdo, &autofdo->live, branch);
    branch->count = 0;
    return is_good;
}

static bool take_range(struct tw_autofdo *autofdo, struct stream *stream,
                       const struct tw_who *who, const struct tw_element *range)
{
    struct tw_autofdo_entry pair = { .count = 1 };
    bool is_good = end_branch(autofdo, stream, who, range->start);

    if (!place_of(autofdo, who, range->start, &pair.file, &pair.from))
        return end_run(autofdo, stream) && is_good;
    /* perf's ranges go from where a branch led to the next that is taken; simpleperf's end at
       each branch. */
    if (stream->run.count && stream->next == range->start && stream->run.file == pair.file &&
        !autofdo->is_simpleperf) {
        stream->run.to = pair.from + last_of(range);
    } else {
        is_good &= end_run(autofdo, stream);
        stream->run = pair;
        stream->run.to = pair.from + last_of(range);
    }
    stream->next = tw_element_end(range);
    if (!leads_away(range))
        return is_good;
    stream->branch = stream->run;
    stream->branch.from = stream->run.to;
    stream->branch.is_branch = true;
    stream->is_indirect = range->last_kind == TW_LAST_IBR;
    return end_run(autofdo, stream) && is_good;
}

/* The branch and the run that are under way. */
static bool end_both(struct tw_autofdo *autofdo, struct stream *stream,
                     const struct tw_who *who, uint64_t to)
{
    const bool is_good = end_branch(autofdo, stream, who, to);

    return end_run(autofdo, stream) && is_good;
}

static bool take_other(struct tw_autofdo *autofdo, struct stream *stream,
                       const struct tw_who *who, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        return end_both(autofdo, stream, who,
                        element->flags & TW_EXCEPTION_HAS_RETURN ? element->return_address : 0);
    case TW_ELEMENT_EXCEPTION_RET: /* no branch of the program */
        stream->branch.count = 0;
        return end_run(autofdo, stream);
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_EO_TRACE:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_I_RANGE_NOPATH:
        return end_both(autofdo, stream, who, 0);
    default:
        return true;
    }
}

/* A buffer is at its end: so is what was under way in its ring. */
static bool end_buffer(struct tw_autofdo *autofdo, const struct tw_part *part)
{
    bool is_good = true;

    for (size_t i = 0; i < autofdo->streams.count; i++) {
        struct stream *stream = tw_streams_at(&autofdo->streams, i);

        if (stream->ring == part->ring)
            is_good &= end_both(autofdo, stream, &part->who, 0);
    }
    return is_good;
}

/* ---- taking ranges of one map ---- */

/* As in a stream, but a branch is counted together with the run that it led to. */
struct track {
    enum { BRANCH, LED_RUN, RUN } phase; /* what is under way; LED_RUN: both */
    uint64_t branch;                     /* all are offsets in the file ... */
    uint64_t from, to;
    uint64_t next; /* ... but this address */
    uint32_t file;
};

/* What is under way in a stream, if that is in the file of the map. */
static bool track_begin(struct track *track, const struct stream *stream, uint32_t file)
{
    if (stream->branch.count) {
        *track = (struct track){ .phase = BRANCH, .branch = stream->branch.from, .file = file };
        return stream->branch.file == file;
    }
    *track = (struct track){ .phase = RUN,
                             .from = stream->run.from,
                             .to = stream->run.to,
                             .next = stream->next,
                             .file = file };
    return stream->run.count && stream->run.file == file;
}

static struct tw_autofdo_entry branch_of(const struct track *track)
{
    return (struct tw_autofdo_entry){ .from = track->branch,
                                      .to = track->from,
                                      .count = 1,
                                      .file = track->file,
                                      .is_branch = true };
}

static struct tw_autofdo_entry run_of(const struct track *track)
{
    return (struct tw_autofdo_entry){
        .from = track->from, .to = track->to, .count = 1, .file = track->file
    };
}

/* Only simpleperf asks whether the branch was indirect, and its ranges do not come here. */
static bool track_end(struct tw_autofdo *autofdo, const struct track *track,
                      struct stream *stream)
{
    const struct tw_autofdo_entry branch = branch_of(track);

    stream->branch = branch;
    stream->run = run_of(track);
    stream->next = track->next;
    if (track->phase == BRANCH)
        stream->run.count = 0;
    else
        stream->branch.count = 0;
    return track->phase != LED_RUN || tw_autofdo_count(autofdo, &autofdo->live, &branch);
}

/* A run is at its end, as is the branch that led to it; false: no memory. */
static bool count_way(struct tw_autofdo *autofdo, const struct track *track,
                      struct tw_autofdo_way *way)
{
    const struct tw_autofdo_entry branch = branch_of(track), run = run_of(track);
    struct tw_autofdo_way counted = { 0, 0 };

    if (track->phase == LED_RUN) {
        counted.branch = tw_autofdo_count(autofdo, &autofdo->live, &branch);
        if (!counted.branch)
            return false;
    }
    counted.run = tw_autofdo_count(autofdo, &autofdo->live, &run);
    if (counted.branch && counted.run)
        *way = counted;
    return counted.run != 0;
}

/* The same, where both came together before: the run is of the same file as the branch, and begins where that leads to. */
static inline bool count_again(const struct tw_autofdo *autofdo, const struct track *track,
                               const struct tw_autofdo_way *way)
{
    struct tw_autofdo_entry *branch, *run;

    if (!way->run || track->phase != LED_RUN)
        return false;
    branch = &autofdo->live.items[way->branch - 1];
    run = &autofdo->live.items[way->run - 1];
    if (branch->from != track->branch || run->from != track->from || run->to != track->to ||
        run->file != track->file)
        return false;
    branch->count++;
    run->count++;
    return true;
}

static inline size_t way_at(const struct track *track)
{
    const uint64_t mixed =
        (track->branch ^ track->from << 13 ^ track->to << 26) * 0x9e3779b97f4a7c15u;

    return (size_t)(mixed >> (64 - TW_AUTOFDO_WAY_BITS));
}

/* Ranges that follow each other in the map that held the last address: what take_range does, for most of them.  Returns how many
   they are; *is_good is false if memory ran out. */
static size_t take_ranges(struct tw_autofdo *autofdo, struct stream *stream,
                          const struct tw_who *who, const struct tw_element *ranges,
                          size_t count, bool *is_good)
{
    const struct tw_perf_map *map = autofdo->map;
    struct track track;
    size_t i;

    /* What leads to address 0 leads nowhere. */
    if (!map || map->file == TW_NONE || !map->address || autofdo->is_simpleperf ||
        autofdo->space != space_of(who) || autofdo->time != who->view.time ||
        !track_begin(&track, stream, map->file))
        return 0;
    for (i = 0; i < count; i++) {
        const struct tw_element *range = &ranges[i];
        const uint64_t at = range->start - map->address;

        if (range->type != TW_ELEMENT_INSTR_RANGE || at >= map->length ||
            (track.phase != BRANCH && track.next != range->start))
            break;
        if (track.phase == BRANCH) {
            track.from = at + map->offset;
            track.phase = LED_RUN;
        }
        track.to = at + map->offset + last_of(range);
        track.next = tw_element_end(range);
        if (!leads_away(range))
            continue;
        if (!count_again(autofdo, &track, &autofdo->ways[way_at(&track)]))
            *is_good &= count_way(autofdo, &track, &autofdo->ways[way_at(&track)]);
        track.branch = track.to;
        track.phase = BRANCH;
    }
    *is_good &= track_end(autofdo, &track, stream);
    return i;
}

enum tw_status tw_autofdo_take(struct tw_autofdo *autofdo, const struct tw_part *part)
{
    struct stream *stream;
    bool is_good = true;
    size_t i = 0;

    if (!autofdo->perf)
        return TW_E_ARGUMENT;
    if (part->kind == TW_PART_END)
        return end_buffer(autofdo, part) ? TW_OK : TW_E_MEMORY;
    if (part->kind != TW_PART_ELEMENTS)
        return TW_OK;
    stream = tw_streams_put(&autofdo->streams, part->stream);
    if (!stream)
        return TW_E_MEMORY;
    stream->ring = part->ring;
    if (part->is_resumed) /* where the branch led was left out */
        is_good &= end_both(autofdo, stream, &part->who, 0);
    while (i < part->batch.count) {
        const struct tw_element *element = &part->batch.elements[i];
        const bool is_range = element->type == TW_ELEMENT_INSTR_RANGE;
        const size_t taken = is_range ? take_ranges(autofdo, stream, &part->who, element,
                                                    part->batch.count - i, &is_good)
                                      : 0;

        if (!taken)
            is_good &= is_range ? take_range(autofdo, stream, &part->who, element)
                                : take_other(autofdo, stream, &part->who, element);
        i += taken ? taken : 1;
    }
    return is_good ? TW_OK : TW_E_MEMORY;
}
