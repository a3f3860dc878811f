/* SPDX-License-Identifier: BSD-2-Clause */
/* AutoFDO's counters: ranges from where a branch led to the next that is taken, and the branches. */
#include "analysis/autofdo.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "run/run.h"

struct stream {
    struct tw_autofdo_state now; /* unless it has a number */
    uint32_t number;             /* in autofdo->states; 0: none */
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

static void forget_steps(struct tw_autofdo *autofdo)
{
    if (autofdo->steps)
        memset(autofdo->steps, 0, sizeof *autofdo->steps << TW_AUTOFDO_STEP_BITS);
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
    forget_steps(autofdo);
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
    made->live.by_key.allocator = made->settled.by_key.allocator = made->by_state.allocator =
        made->allocator;
    tw_streams_init(&made->streams, sizeof(struct stream), made->allocator);
    if (capture) {
        made->perf = tw_capture_perf(capture);
        made->is_simpleperf = tw_perf_feature(made->perf, "meta") != NULL;
        made->steps = tw_take(made->allocator, sizeof *made->steps << TW_AUTOFDO_STEP_BITS);
        if (!made->steps || !take_files(made)) {
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
    tw_give(autofdo->allocator, autofdo->states);
    tw_map_free(&autofdo->by_state);
    tw_give(autofdo->allocator, autofdo->steps);
    tw_give(autofdo->allocator, autofdo->results);
    tw_give(autofdo->allocator ? &allocator : NULL, autofdo);
}

/* ---- states ---- */

static uint64_t hash_of_state(const struct tw_autofdo_state *state)
{
    return state->run.count ? hash_of(&state->run) ^ state->next
                            : hash_of(&state->branch) + state->is_indirect;
}

static bool is_same_pair(const struct tw_autofdo_entry *a, const struct tw_autofdo_entry *b)
{
    return a->count == b->count && a->from == b->from && a->to == b->to && a->file == b->file;
}

static bool is_same_state(const struct tw_autofdo_state *a, const struct tw_autofdo_state *b)
{
    return is_same_pair(&a->run, &b->run) && is_same_pair(&a->branch, &b->branch) &&
           a->next == b->next && a->is_indirect == b->is_indirect;
}

/* What it holds beside what is under way does not tell states apart. */
static void clean(struct tw_autofdo_state *state)
{
    if (!state->run.count) {
        state->run = (struct tw_autofdo_entry){ .count = 0 };
        state->next = 0;
    }
    if (!state->branch.count) {
        state->branch = (struct tw_autofdo_entry){ .count = 0 };
        state->is_indirect = false;
    }
}

/* Streams that had a number have the state itself from now on. */
static void forget_states(struct tw_autofdo *autofdo)
{
    for (size_t i = 0; i < autofdo->streams.count; i++) {
        struct stream *stream = tw_streams_at(&autofdo->streams, i);

        if (stream->number)
            stream->now = autofdo->states[stream->number];
        stream->number = 0;
    }
    autofdo->state_count = 0;
    tw_map_clear(&autofdo->by_state);
    forget_steps(autofdo);
}

/* The number of a state; 0: there is no memory for it. */
static uint32_t number_of(struct tw_autofdo *autofdo, const struct tw_autofdo_state *state)
{
    struct tw_autofdo_state *made;
    uint64_t *first = tw_map_put(&autofdo->by_state, hash_of_state(state));

    for (uint64_t at = first ? *first : 0; at; at = autofdo->states[at].same_hash)
        if (is_same_state(&autofdo->states[at], state))
            return (uint32_t)at;
    if (!first || !TW_GROW(autofdo->allocator, &autofdo->states, &autofdo->state_room,
                           autofdo->state_count + 2))
        return 0;
    made = &autofdo->states[++autofdo->state_count];
    *made = *state;
    made->same_hash = (uint32_t)*first;
    *first = autofdo->state_count;
    return (uint32_t)autofdo->state_count;
}

/* ---- taking ---- */

static uint32_t space_of(const struct tw_who *who)
{
    return who->thread ? who->thread->space : 0;
}

/* All that a range is counted by beside its start and length. */
static uint16_t end_of(const struct tw_element *range)
{
    return (uint16_t)(range->flags << 8 | range->last);
}

/* Where the step is kept that a range makes. */
static size_t slot_of(uint32_t state, const struct tw_element *range)
{
    const uint32_t key = (uint32_t)range->start ^ state << 7 ^ (uint32_t)end_of(range) << 16;

    return key * 0x9e3779b1u >> (32 - TW_AUTOFDO_STEP_BITS);
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

/* What one element counted: the branch or the run that was under way, and a run that a range alone is. */
struct counted {
    uint32_t pairs[2]; /* pair + 1; 0: none */
    bool has_failed;
};

static void count(struct tw_autofdo *autofdo, struct tw_autofdo_entry *pair,
                  struct counted *counted)
{
    const uint32_t number = tw_autofdo_count(autofdo, &autofdo->live, pair);

    counted->pairs[counted->pairs[0] != 0] = number;
    counted->has_failed |= !number;
    pair->count = 0;
}

static void end_run(struct tw_autofdo *autofdo, struct tw_autofdo_state *state,
                    struct counted *counted)
{
    if (state->run.count)
        count(autofdo, &state->run, counted);
}

/* The branch led there; 0: out of what is known. */
static void end_branch(struct tw_autofdo *autofdo, struct tw_autofdo_state *state,
                       const struct tw_who *who, uint64_t to, struct counted *counted)
{
    struct tw_autofdo_entry *branch = &state->branch;
    uint32_t file;

    if (!branch->count)
        return;
    /* simpleperf tells only targets that stand in the instruction. */
    if (!to || (autofdo->is_simpleperf && state->is_indirect) ||
        !place_of(autofdo, who, to, &file, &branch->to) || file != branch->file)
        branch->to = TW_AUTOFDO_NOWHERE;
    count(autofdo, branch, counted);
}

static void take_range(struct tw_autofdo *autofdo, struct tw_autofdo_state *state,
                       const struct tw_who *who, const struct tw_element *range,
                       struct counted *counted)
{
    const bool is_branch = range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR;
    const uint64_t to_last = range->length - (uint64_t)range->last_size * 2;
    struct tw_autofdo_entry pair = { .count = 1 };

    end_branch(autofdo, state, who, range->start, counted);
    if (!place_of(autofdo, who, range->start, &pair.file, &pair.from)) {
        end_run(autofdo, state, counted);
        return;
    }
    /* perf's ranges go from where a branch led to the next that is taken; simpleperf's end at
       each branch. */
    if (state->run.count && state->next == range->start && state->run.file == pair.file &&
        !autofdo->is_simpleperf) {
        state->run.to = pair.from + to_last;
    } else {
        end_run(autofdo, state, counted);
        state->run = pair;
        state->run.to = pair.from + to_last;
    }
    state->next = tw_element_end(range);
    if (!is_branch || !(range->flags & TW_RANGE_EXECUTED))
        return;
    state->branch = state->run;
    state->branch.from = state->run.to;
    state->branch.is_branch = true;
    state->is_indirect = range->last_kind == TW_LAST_IBR;
    end_run(autofdo, state, counted);
}

/* The branch or the run that is under way. */
static void end_both(struct tw_autofdo *autofdo, struct tw_autofdo_state *state,
                     const struct tw_who *who, uint64_t to, struct counted *counted)
{
    end_branch(autofdo, state, who, to, counted);
    end_run(autofdo, state, counted);
}

static void change(struct tw_autofdo *autofdo, struct tw_autofdo_state *state,
                   const struct tw_who *who, const struct tw_element *element,
                   struct counted *counted)
{
    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        take_range(autofdo, state, who, element, counted);
        break;
    case TW_ELEMENT_EXCEPTION:
        end_both(autofdo, state, who,
                 element->flags & TW_EXCEPTION_HAS_RETURN ? element->return_address : 0,
                 counted);
        break;
    case TW_ELEMENT_EXCEPTION_RET: /* no branch of the program */
        state->branch.count = 0;
        end_run(autofdo, state, counted);
        break;
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
    case TW_ELEMENT_EO_TRACE:
    case TW_ELEMENT_ADDR_NACC:
    case TW_ELEMENT_I_RANGE_NOPATH:
        end_both(autofdo, state, who, 0, counted);
        break;
    default:
        break;
    }
}

/* The state of a stream to work with; without a number. */
static struct tw_autofdo_state *state_of(struct tw_autofdo *autofdo, struct stream *stream)
{
    if (stream->number)
        stream->now = autofdo->states[stream->number];
    stream->number = 0;
    return &stream->now;
}

/* A buffer is at its end: so is what was under way in its ring. */
static bool end_buffer(struct tw_autofdo *autofdo, const struct tw_part *part)
{
    bool has_failed = false;

    for (size_t i = 0; i < autofdo->streams.count; i++) {
        struct stream *stream = tw_streams_at(&autofdo->streams, i);
        struct counted counted = { .has_failed = false };

        if (stream->ring == part->ring)
            end_both(autofdo, state_of(autofdo, stream), &part->who, 0, &counted);
        has_failed |= counted.has_failed;
    }
    return !has_failed;
}

/* Takes an element as it is, and keeps the step that a range makes; false: no memory. */
static bool take_element(struct tw_autofdo *autofdo, struct stream *stream,
                         const struct tw_who *who, const struct tw_element *element,
                         struct tw_autofdo_step *step)
{
    const uint32_t before = stream->number;
    struct tw_autofdo_state *state = state_of(autofdo, stream);
    struct counted counted = { .has_failed = false };

    change(autofdo, state, who, element, &counted);
    clean(state);
    if (autofdo->state_count == TW_AUTOFDO_STATES_MOST)
        forget_states(autofdo);
    else
        stream->number = number_of(autofdo, state);
    if (element->type == TW_ELEMENT_INSTR_RANGE && before && stream->number &&
        !counted.has_failed)
        *step = (struct tw_autofdo_step){ .start = element->start,
                                          .length = element->length,
                                          .end = end_of(element),
                                          .before = before,
                                          .then = stream->number,
                                          .pairs = { counted.pairs[0], counted.pairs[1] },
                                          .space = space_of(who),
                                          .time = who->view.time };
    return !counted.has_failed;
}

/* The steps of a batch, as far as they are known; returns how many elements that were. */
static size_t take_known(struct tw_autofdo *autofdo, struct stream *stream,
                         const struct tw_who *who, const struct tw_element *elements,
                         size_t count)
{
    const struct tw_autofdo_step *const steps = autofdo->steps;
    struct tw_autofdo_entry *const pairs = autofdo->live.items;
    const uint32_t space = space_of(who);
    const uint64_t time = who->view.time;
    uint32_t state = stream->number;
    size_t i;

    for (i = 0; i < count; i++) {
        const struct tw_element *range = &elements[i];
        const struct tw_autofdo_step *step = &steps[slot_of(state, range)];

        if (range->type != TW_ELEMENT_INSTR_RANGE || step->before != state ||
            step->start != range->start || step->length != range->length ||
            step->end != end_of(range) || step->time != time || step->space != space || !state)
            break;
        if (step->pairs[0])
            pairs[step->pairs[0] - 1].count++;
        if (step->pairs[1])
            pairs[step->pairs[1] - 1].count++;
        state = step->then;
    }
    stream->number = state;
    return i;
}

enum tw_status tw_autofdo_take(struct tw_autofdo *autofdo, const struct tw_part *part)
{
    const struct tw_element *elements = part->batch.elements;
    struct counted counted = { .has_failed = false };
    struct stream *stream;
    bool is_good;

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
        end_both(autofdo, state_of(autofdo, stream), &part->who, 0, &counted);
    is_good = !counted.has_failed;
    for (size_t i = 0; i < part->batch.count; i++) {
        i += take_known(autofdo, stream, &part->who, &elements[i], part->batch.count - i);
        if (i < part->batch.count)
            is_good &= take_element(autofdo, stream, &part->who, &elements[i],
                                    &autofdo->steps[slot_of(stream->number, &elements[i])]);
    }
    return is_good ? TW_OK : TW_E_MEMORY;
}
