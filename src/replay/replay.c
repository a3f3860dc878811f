/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay: its capture, its threads. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core.h"
#include "base/fault.h"
#include "base/sized.h"
#include "replay/replay.h"

enum { MEMORY = 192 << 20, TOGETHER = 64 };

/* What every run is like: the caller's wishes, but for those that would leave out code or its order. */
static void take_run_config(struct tw_replay *replay)
{
    const struct tw_run_config *wish = replay->config.run;

    replay->run_config = (struct tw_run_config){ .size = sizeof replay->run_config };
    if (wish)
        replay->run_config = *wish;
    replay->filter = (struct tw_filter){ .size = sizeof replay->filter };
    if (wish && wish->filter)
        replay->filter = *wish->filter;
    replay->filter.ranges = NULL;
    replay->filter.functions = NULL;
    replay->filter.range_count = replay->filter.function_count = 0;
    replay->filter.has_from = replay->filter.has_to = false;
    replay->filter.has_from_time = replay->filter.has_to_time = false;
    replay->filter.has_from_instruction = replay->filter.has_to_instruction = false;
    replay->run_config.size = sizeof replay->run_config;
    replay->run_config.filter = &replay->filter;
    replay->run_config.order = TW_ORDER_CAPTURE;
    replay->run_config.counter = NULL;
    replay->run_config.is_joined = replay->run_config.packets_only = false;
    replay->run_config.builds_index = false;
    replay->run_config.loads_names = false;
    replay->run_config.with_not_after = false;
    replay->run_config.on_source = NULL;
    replay->run_config.on_bytes = NULL;
    replay->run_config.on_warning = NULL;
    replay->run_config.on_note = NULL;
    replay->run_config.context = NULL;
    replay->run_config.allocator = replay->allocator;
}

/* Threads of the first and the last window of each buffer. */
static enum tw_status see_ends(struct tw_replay *replay)
{
    struct tw_replay_data *data;
    const uint32_t count = (uint32_t)replay->window_count;

    for (uint32_t i = 0; i < count; i++) {
        const bool is_first = !i || replay->windows[i - 1].buffer != replay->windows[i].buffer;
        const bool is_last =
            i + 1 == count || replay->windows[i + 1].buffer != replay->windows[i].buffer;

        const uint32_t few = replay->is_timed ? 2 : 8; /* those hold blocks of all CPUs */

        /* Of many blocks a few are enough: all others are come across later. */
        if ((is_first || is_last) &&
            ((count <= TOGETHER && !replay->is_timed) || i < few || i + few > count))
            TW_TRY(tw_windows_load(replay, &data, i));
    }
    return TW_OK;
}

static enum tw_status set_up(struct tw_replay *replay)
{
    const struct tw_run_config *wish = replay->config.run;
    const struct tw_calls_config calls = { .size = sizeof calls,
                                           .key = replay->config.key,
                                           .allocator = replay->allocator };
    struct tw_run_config names = replay->run_config;

    if (wish) {
        names.on_warning = wish->on_warning;
        names.on_note = wish->on_note;
        names.context = wish->context;
    }
    TW_TRY(tw_run_new(&replay->names, replay->capture, &names, &replay->fault));
    if (tw_walk_new(&replay->walk, replay->allocator, NULL) != TW_OK)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    TW_TRY(tw_calls_new(&replay->calls, &calls, &replay->fault));
    TW_TRY(tw_lost_list(replay));
    TW_TRY(tw_windows_list(replay));
    return see_ends(replay);
}

enum tw_status tw_replay_new(struct tw_replay **replay, struct tw_capture *capture,
                             const struct tw_replay_config *given, struct tw_fault *fault)
{
    struct tw_replay_config config = { .size = sizeof config };
    struct tw_replay *made;
    enum tw_status status;

    *replay = NULL;
    if (given)
        TW_TRY(TW_SIZED_TAKE(&config, given, "tw_replay_config", fault));
    made = tw_take(config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a replay");
    if (config.allocator) {
        made->allocator_copy = *config.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->capture = capture;
    made->perf = tw_capture_perf(capture);
    made->config = config;
    if (!made->config.memory)
        made->config.memory = MEMORY;
    made->by_key.allocator = made->allocator;
    take_run_config(made);
    status = set_up(made);
    if (status == TW_OK) {
        *replay = made;
        return TW_OK;
    }
    (void)tw_fail(fault, status, "%s",
                  made->fault.text[0] ? made->fault.text : "no memory for a replay");
    tw_replay_free(made);
    return status;
}

void tw_replay_free(struct tw_replay *replay)
{
    struct tw_allocator allocator;

    if (!replay)
        return;
    allocator = replay->allocator_copy;
    tw_replay_stacks_free(replay);
    tw_windows_free(replay);
    for (size_t i = 0; i < replay->thread_count; i++)
        tw_give(replay->allocator, replay->threads[i]);
    tw_give(replay->allocator, replay->threads);
    tw_give(replay->allocator, replay->lost);
    tw_give(replay->allocator, replay->handles);
    tw_give(replay->allocator, replay->blocks);
    tw_give(replay->allocator, replay->ranks);
    tw_map_free(&replay->by_key);
    tw_calls_free(replay->calls);
    tw_walk_free(replay->walk);
    tw_run_free(replay->names);
    tw_give(replay->allocator ? &allocator : NULL, replay);
}

const char *tw_replay_fault(const struct tw_replay *replay)
{
    return replay->fault.text;
}

struct tw_run *tw_replay_names(struct tw_replay *replay)
{
    return replay->names;
}

bool tw_replay_is_cancelled(struct tw_replay *replay)
{
    return replay->config.is_cancelled && replay->config.is_cancelled(replay->config.context);
}

/* ---- threads ---- */

static void name_thread(struct tw_replay_about *about, const struct tw_part *part)
{
    const struct tw_who *who = &part->who;
    const char *core = part->source && part->source->core ? part->source->core : NULL;
    const size_t room = sizeof about->name;

    if (about->thread.tid != TW_NONE && who->comm[0])
        (void)snprintf(about->name, room, "%.40s (%" PRIu32 ")", who->comm, who->tid);
    else if (about->thread.tid != TW_NONE)
        (void)snprintf(about->name, room, "thread %" PRIu32, who->tid);
    else if (part->batch.src != TW_NO_SRC)
        (void)snprintf(about->name, room, "%.40s hart %" PRIu32,
                       core           ? core
                       : part->source ? part->source->name
                                      : "",
                       part->batch.src);
    else if (who->cpu != TW_NONE)
        (void)snprintf(about->name, room, "CPU %" PRIu32, who->cpu);
    else
        (void)snprintf(about->name, room, "%.60s",
                       core           ? core
                       : part->source ? part->source->name
                                      : "");
    about->thread.name = about->name;
}

static bool has_ranges(const struct tw_part *part, uint8_t *isa)
{
    for (size_t i = 0; i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
            *isa = part->batch.elements[i].isa;
            return true;
        }
    return false;
}

static bool is_m_profile(const struct tw_part *part)
{
    const char *type = part->source ? part->source->core_type : NULL;

    for (size_t i = 0; i < part->batch.count; i++)
        if (part->batch.elements[i].type == TW_ELEMENT_PE_CONTEXT &&
            part->batch.elements[i].flags & TW_CONTEXT_M)
            return true;
    return tw_core_profile(type) == TW_PROFILE_M;
}

static uint64_t key_of(const struct tw_part *part)
{
    const struct tw_who *who = &part->who;

    return who->tid != TW_NONE
               ? (uint64_t)1 << 63 | (who->tid ? 0 : (uint64_t)who->cpu << 32) | who->tid
               : (uint64_t)part->source_number << 32 | part->batch.src;
}

uint32_t tw_replay_known_thread(const struct tw_replay *replay, const struct tw_part *part)
{
    const uint64_t *number = tw_map_find(&replay->by_key, key_of(part));

    return number && *number ? (uint32_t)(*number - 1) : TW_NONE;
}

uint32_t tw_replay_thread_of(struct tw_replay *replay, const struct tw_part *part, bool *is_out)
{
    const struct tw_who *who = &part->who;
    uint64_t *number = tw_map_put(&replay->by_key, key_of(part));
    struct tw_replay_about *about;
    uint8_t isa;

    if (number && *number)
        return (uint32_t)(*number - 1);
    *is_out |= !number;
    if (!number || !has_ranges(part, &isa))
        return TW_NONE;
    about = tw_take(replay->allocator, sizeof *about);
    if (!about || !TW_GROW(replay->allocator, &replay->threads, &replay->thread_room,
                           replay->thread_count + 1)) {
        tw_give(replay->allocator, about);
        *is_out = true;
        return TW_NONE;
    }
    about->key = key_of(part);
    about->thread = (struct tw_replay_thread){ .size = sizeof about->thread,
                                               .cpu = who->cpu,
                                               .pid = who->pid,
                                               .tid = who->tid,
                                               .source_number = part->source_number,
                                               .src = part->batch.src,
                                               .isa = isa,
                                               .is_m = is_m_profile(part) };
    name_thread(about, part);
    replay->threads[replay->thread_count++] = about;
    *number = replay->thread_count;
    return (uint32_t)(replay->thread_count - 1);
}

size_t tw_replay_thread_count(const struct tw_replay *replay)
{
    return replay->thread_count;
}

bool tw_replay_thread(const struct tw_replay *replay, struct tw_replay_thread *thread,
                      size_t number)
{
    return number < replay->thread_count &&
           TW_SIZED_GIVE(thread, &replay->threads[number]->thread);
}

static bool see(void *context, uint32_t thread, const struct tw_part *part)
{
    (void)context;
    (void)thread;
    (void)part;
    return true;
}

enum tw_status tw_replay_find_threads(struct tw_replay *replay)
{
    for (uint32_t i = 0, end; i < replay->window_count; i = end) {
        end = tw_windows_together(replay, i, TOGETHER);
        TW_TRY(tw_windows_scan(replay, i, end, see, NULL));
    }
    return TW_OK;
}
