/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: threads, processes and what they have mapped, as it changes with time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

/* Far beyond what programs do; a file that says more only costs time. */
enum {
    MOVES_MAX = 2000000000, /* mappings that others were put before */
    CUTS_MAX = 16384        /* times that a process mapped over something */
};

static enum tw_status no_memory(struct tw_perf *perf)
{
    return tw_capture_no_memory(perf->capture);
}

/* A new address space; TW_NONE: no memory. */
static uint32_t new_space(struct tw_perf *perf)
{
    if (!TW_GROW(perf->capture->allocator, &perf->spaces, &perf->space_room,
                 perf->space_count + 1)) {
        (void)no_memory(perf);
        return TW_NONE;
    }
    perf->spaces[perf->space_count] = (struct perf_space){ .users = 1 };
    return (uint32_t)perf->space_count++;
}

/* The address space of a process, made if it is new; TW_NONE: no memory. */
static uint32_t space_of(struct tw_perf *perf, uint32_t pid)
{
    uint64_t *found;

    /* The kernel, and its idle tasks. */
    if (pid == TW_NONE || pid == 0)
        return 0;
    found = tw_map_put(&perf->space_by_pid, pid);
    if (!found) {
        (void)no_memory(perf);
        return TW_NONE;
    }
    if (!*found) {
        const uint32_t made = new_space(perf);

        if (made == TW_NONE)
            return TW_NONE;
        *found = (uint64_t)made + 1;
    }
    return (uint32_t)(*found - 1);
}

static const struct perf_thread *newest(const struct tw_perf *perf, uint32_t tid)
{
    const uint64_t *found = tw_map_find(&perf->thread_by_tid, tid);

    return found && *found ? &perf->threads[*found - 1] : NULL;
}

/* Its place in the list of its thread, whose newest entry so far is `older`.  Leaps are as long as those
   of the binary numbers that have the digits 0, 1 and, last of all, 2. */
static void put_leap(const struct tw_perf *perf, struct perf_thread *made)
{
    const struct perf_thread *older = made->older ? &perf->threads[made->older - 1] : NULL;
    const struct perf_thread *far =
        older && older->leap ? &perf->threads[older->leap - 1] : NULL;
    const struct perf_thread *farther = far && far->leap ? &perf->threads[far->leap - 1] : NULL;

    made->depth = older ? older->depth + 1 : 0;
    made->leap = made->older;
    if (farther && older->depth - far->depth == far->depth - farther->depth)
        made->leap = far->leap;
}

/* The thread is this from `time` on. */
static enum tw_status set_thread(struct tw_perf *perf, uint32_t pid, uint32_t tid,
                                 const char *comm, uint64_t time)
{
    const struct perf_thread *before = newest(perf, tid);
    const uint32_t space = space_of(perf, pid);
    uint64_t *place = tw_map_put(&perf->thread_by_tid, tid);
    struct perf_thread *made;

    if (space == TW_NONE)
        return TW_E_MEMORY;
    if (before && before->about.pid == pid && before->about.space == space &&
        (before->about.comm == comm || strcmp(before->about.comm, comm) == 0))
        return TW_OK;
    if (!place || perf->thread_count >= TW_NONE - 1 ||
        !TW_GROW(perf->capture->allocator, &perf->threads, &perf->thread_room,
                 perf->thread_count + 1))
        return no_memory(perf);
    made = &perf->threads[perf->thread_count++];
    *made = (struct perf_thread){
        .about = { .tid = tid, .pid = pid, .comm = comm, .from = time, .space = space },
        .older = (uint32_t)*place
    };
    put_leap(perf, made);
    *place = perf->thread_count;
    return TW_OK;
}

/* The number of maps that begin at or before the address. */
static size_t maps_up_to(const struct perf_space *space, uint64_t address)
{
    size_t low = 0, high = space->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (space->maps[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t last_of(const struct tw_perf_map *map)
{
    return map->address + map->length - 1;
}

/* The part of a map from `first` to `last`, both inside it. */
static struct tw_perf_map part_of(const struct tw_perf_map *map, uint64_t first, uint64_t last)
{
    struct tw_perf_map part = *map;

    part.offset += first - map->address;
    part.address = first;
    part.length = last - first + 1;
    return part;
}

static bool put_past(struct tw_perf *perf, const struct tw_perf_map *map, uint64_t until)
{
    if (map->from >= until)
        return true; /* never seen */
    if (!TW_GROW(perf->capture->allocator, &perf->past, &perf->past_room, perf->past_count + 1))
        return false;
    perf->past[perf->past_count] = *map;
    perf->past[perf->past_count++].until = until;
    return true;
}

/* Replaces maps[at ... at + count) by `made` others. */
static bool splice(struct tw_perf *perf, struct perf_space *space, size_t at, size_t count,
                   const struct tw_perf_map *with, size_t made)
{
    if (!TW_GROW(perf->capture->allocator, &space->maps, &space->room, space->count + made))
        return false;
    memmove(space->maps + at + made, space->maps + at + count,
            (space->count - at - count) * sizeof *space->maps);
    memcpy(space->maps + at, with, made * sizeof *with);
    space->count += made - count;
    perf->map_total += made;
    perf->moves += space->count - at - made;
    return true;
}

static bool note_cut(struct tw_perf *perf, struct perf_space *space, uint64_t time)
{
    if (space->cut_count && space->cuts[space->cut_count - 1] == time)
        return true;
    if (!TW_GROW(perf->capture->allocator, &space->cuts, &space->cut_room,
                 space->cut_count + 1))
        return false;
    space->cuts[space->cut_count++] = time;
    return true;
}

/* Maps something.  What it lies upon gives way from then on.  A place that nothing was mapped at
   before is taken to hold it from the beginning: trace has often no time of its own, and code that
   ran there can have been nothing else. */
static enum tw_status add_map(struct tw_perf *perf, uint32_t number, struct tw_perf_map map,
                              uint64_t time)
{
    struct perf_space *space = &perf->spaces[number];
    const uint64_t last = last_of(&map);
    size_t first = maps_up_to(space, map.address), end, made = 0;
    struct tw_perf_map with[3];

    if (!map.length || last < map.address)
        return TW_OK; /* nothing of it lies below the end of memory, or it goes beyond that */
    if (first && last_of(&space->maps[first - 1]) >= map.address)
        first--;
    end = maps_up_to(space, last);
    if (end == first + 1) {
        const struct tw_perf_map *same = &space->maps[first];

        if (same->address == map.address && same->length == map.length &&
            same->offset == map.offset && same->file == map.file && map.file != TW_NONE)
            return TW_OK;
    }
    for (size_t i = first; i < end; i++) {
        const struct tw_perf_map *old = &space->maps[i];
        const uint64_t from = old->address > map.address ? old->address : map.address;
        const uint64_t to = last_of(old) < last ? last_of(old) : last;
        const struct tw_perf_map hidden = part_of(old, from, to);

        if (!put_past(perf, &hidden, time))
            return no_memory(perf);
    }
    if (first < end && space->maps[first].address < map.address)
        with[made++] =
            part_of(&space->maps[first], space->maps[first].address, map.address - 1);
    map.from = first < end ? time : 0;
    map.until = UINT64_MAX;
    map.space = number;
    with[made++] = map;
    if (first < end && last_of(&space->maps[end - 1]) > last)
        with[made++] = part_of(&space->maps[end - 1], last + 1, last_of(&space->maps[end - 1]));
    if ((first < end && !note_cut(perf, space, time)) ||
        !splice(perf, space, first, end - first, with, made))
        return no_memory(perf);
    return TW_OK;
}

/* The other threads of a process go with it to its new space. */
static enum tw_status move_threads(struct tw_perf *perf, uint32_t pid, uint32_t from,
                                   uint64_t time)
{
    const size_t count = perf->thread_count;

    if (perf->moves > MOVES_MAX)
        return TW_OK;
    perf->moves += count;
    for (size_t i = 0; i < count; i++) {
        const struct tw_perf_thread thread = perf->threads[i].about;

        if (thread.pid == pid && thread.space == from &&
            newest(perf, thread.tid) == &perf->threads[i])
            TW_TRY(set_thread(perf, pid, thread.tid, thread.comm, time));
    }
    return TW_OK;
}

/* A space of its own for a process that shares one, with the same maps or none. */
static enum tw_status part_ways(struct tw_perf *perf, uint32_t pid, bool with_maps,
                                uint64_t time)
{
    const uint32_t from = space_of(perf, pid);
    uint64_t *place = tw_map_find(&perf->space_by_pid, pid);
    uint32_t made;
    struct perf_space *old, *new;

    if (from == TW_NONE || !place || perf->spaces[from].users < 2)
        return TW_OK;
    made = new_space(perf);
    if (made == TW_NONE)
        return TW_E_MEMORY;
    perf->spaces[from].users--;
    *place = (uint64_t)made + 1;
    TW_TRY(move_threads(perf, pid, from, time));
    old = &perf->spaces[from];
    new = &perf->spaces[made];
    if (!with_maps || !old->count || perf->map_total + old->count > 4096 + perf->file.size / 8)
        return TW_OK;
    if (!TW_GROW(perf->capture->allocator, &new->maps, &new->room, old->count))
        return no_memory(perf);
    memcpy(new->maps, old->maps, old->count * sizeof *old->maps);
    new->count = old->count;
    perf->map_total += old->count;
    for (size_t i = 0; i < new->count; i++) {
        new->maps[i].space = made;
        new->maps[i].from = 0;
    }
    return TW_OK;
}

static enum tw_status refresh_thread(struct tw_perf *perf, uint32_t pid, uint32_t tid,
                                     uint64_t time)
{
    const struct perf_thread *before = newest(perf, tid);

    return set_thread(perf, pid, tid, before ? before->about.comm : "", time);
}

static enum tw_status apply_map(struct tw_perf *perf, const struct perf_event *event)
{
    const struct tw_perf_map map = { .address = event->address,
                                     .length = event->length,
                                     .offset = event->offset,
                                     .file = event->file,
                                     .is_executable = event->is_exec };
    uint32_t number;

    if (event->pid != TW_NONE) {
        TW_TRY(part_ways(perf, event->pid, true, event->time));
        TW_TRY(refresh_thread(perf, event->pid, event->pid, event->time));
        if (event->tid != event->pid && event->tid != TW_NONE)
            TW_TRY(refresh_thread(perf, event->pid, event->tid, event->time));
    }
    number = space_of(perf, event->pid);
    if (number == TW_NONE)
        return TW_E_MEMORY;
    if (perf->moves > MOVES_MAX || perf->spaces[number].cut_count >= CUTS_MAX) {
        if (!perf->spaces[number].is_full && tw_perf_may_warn(perf))
            TW_TRY(tw_capture_warn(perf->capture,
                                   "%s: record at offset 0x%" PRIx64 ": process %" PRIu32
                                   " has too many mappings; the rest is "
                                   "left out",
                                   perf->capture->path, event->record, event->pid));
        perf->spaces[number].is_full = true;
        return TW_OK;
    }
    return add_map(perf, number, map, event->time);
}

static enum tw_status apply_comm(struct tw_perf *perf, const struct perf_event *event)
{
    /* After exec nothing of the old program runs; where the process has a space to itself its old
       maps stay until others take their place, which serves trace from before the exec. */
    if (event->is_exec)
        TW_TRY(part_ways(perf, event->pid, false, event->time));
    return set_thread(perf, event->pid, event->tid, event->name, event->time);
}

static enum tw_status apply_fork(struct tw_perf *perf, const struct perf_event *event)
{
    const struct perf_thread *parent = newest(perf, event->ptid);
    const char *comm = parent ? parent->about.comm : "";

    if (event->pid != event->ppid && event->pid && event->pid != TW_NONE) {
        const uint32_t space = space_of(perf, event->ppid);
        uint64_t *place = tw_map_put(&perf->space_by_pid, event->pid);

        if (space == TW_NONE || !place)
            return no_memory(perf);
        if (space) {
            if (*place && *place - 1 != space && perf->spaces[*place - 1].users)
                perf->spaces[*place - 1].users--;
            if (*place != (uint64_t)space + 1)
                perf->spaces[space].users++;
            *place = (uint64_t)space + 1;
        }
    }
    return set_thread(perf, event->pid, event->tid, comm, event->time);
}

static int compare_events(const void *a, const void *b)
{
    const struct perf_event *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->order < right->order ? -1 : left->order > right->order;
}

/* The records of all CPUs in the order of time; those without a time come first, in the order of
   the file.  Rounds (FINISHED_ROUND) bound how far apart they may be written: sorting all of them
   needs no such bound. */
enum tw_status tw_perf_apply_events(struct tw_perf *perf)
{
    if (!perf->space_count && new_space(perf) == TW_NONE)
        return TW_E_MEMORY;
    if (perf->event_count)
        qsort(perf->events, perf->event_count, sizeof *perf->events, compare_events);
    for (size_t i = 0; i < perf->event_count; i++) {
        const struct perf_event *event = &perf->events[i];

        if (event->type == PERF_COMM)
            TW_TRY(apply_comm(perf, event));
        else if (event->type == PERF_FORK)
            TW_TRY(apply_fork(perf, event));
        else
            TW_TRY(apply_map(perf, event));
    }
    return TW_OK;
}

const struct tw_perf_thread *tw_perf_thread(const struct tw_perf *perf, uint32_t tid,
                                            uint64_t time)
{
    const struct perf_thread *thread = newest(perf, tid);

    /* Entries are in the order of time.  The oldest stands for all that was before it. */
    while (thread && thread->about.from > time && thread->older) {
        const struct perf_thread *far = &perf->threads[thread->leap - 1];

        thread = far->about.from > time ? far : &perf->threads[thread->older - 1];
    }
    return thread ? &thread->about : NULL;
}

static uint64_t last_cut(const struct perf_space *space, uint64_t time)
{
    size_t low = 0, high = space->cut_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (space->cuts[middle] <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? space->cuts[low - 1] : 0;
}

/* Between two cuts nothing that was mapped changes: they all have the same view. */
void tw_perf_view(const struct tw_perf *perf, struct tw_view *view,
                  const struct tw_perf_thread *thread, uint64_t time)
{
    /* A thread that has nothing mapped sees the kernel alone, as many others do. */
    const uint32_t space = thread && perf->spaces[thread->space].count ? thread->space : 0;
    const uint64_t own = last_cut(&perf->spaces[space], time);
    const uint64_t kernel = last_cut(&perf->spaces[0], time);

    view->context = space;
    view->time = own > kernel ? own : kernel;
}

void tw_perf_look(void *cursor, struct tw_view *view, const struct tw_element *element)
{
    struct tw_perf_cursor *at = cursor;
    const struct tw_perf_block *block = tw_perf_block(at->perf, at->buffer);

    if (!element) {
        at->has_context = at->has_time = false;
        at->time = block ? block->time : 0;
    } else if (element->type == TW_ELEMENT_PE_CONTEXT) {
        at->context = *element;
        at->has_context = true;
    } else if (element->type == TW_ELEMENT_TIMESTAMP) {
        if (!tw_perf_time(at->perf, &at->time, element->timestamp))
            return;
        at->has_time = true;
    }
    at->tid =
        tw_perf_tid(at->perf, at->source, at->buffer, at->has_context ? &at->context : NULL);
    at->thread = at->tid == TW_NONE ? NULL : tw_perf_thread(at->perf, at->tid, at->time);
    tw_perf_view(at->perf, view, at->thread, at->time);
}

static const struct tw_perf_map *map_now(const struct perf_space *space, uint64_t address,
                                         uint64_t time)
{
    const size_t count = maps_up_to(space, address);
    const struct tw_perf_map *map = count ? &space->maps[count - 1] : NULL;

    return map && last_of(map) >= address && map->from <= time ? map : NULL;
}

const struct tw_perf_map *tw_perf_map(const struct tw_perf *perf, uint32_t space,
                                      uint64_t address, uint64_t time)
{
    const struct tw_perf_map *map;

    if (space >= perf->space_count)
        return NULL;
    map = map_now(&perf->spaces[space], address, time);
    if (!map)
        map = tw_perf_past(perf, 0, address, time);
    if (!map && space)
        map = tw_perf_past(perf, space, address, time);
    return map || !space ? map : map_now(&perf->spaces[0], address, time);
}
