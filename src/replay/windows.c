/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of a capture: stretches of bytes that are decoded when they are looked at, and forgotten when others need
   their memory. */
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "replay/replay.h"

enum {
    WINDOW = 128 << 10,
    BEHIND = 256 << 10, /* bytes behind a window after which nothing of it comes any more */
    KEPT_LEAST = 3      /* windows that are kept whatever their size */
};

/* ---- the list ---- */

static bool wants_buffer(const struct tw_replay *replay, uint32_t buffer)
{
    const struct tw_filter *filter = replay->config.run ? replay->config.run->filter : NULL;
    const char *name = tw_capture_buffer(replay->capture, buffer)->name;

    if (!filter || !filter->buffer_count)
        return true;
    for (size_t i = 0; i < filter->buffer_count; i++)
        if (strcmp(filter->buffers[i], name) == 0)
            return true;
    return false;
}

static int compare_times(const void *a, const void *b)
{
    const struct tw_replay_block *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

/* Blocks of perf.data come by the time of their record, where all have one. */
static void sort_blocks(struct tw_replay *replay)
{
    bool has_times = replay->perf != NULL;

    for (size_t i = 0; replay->perf && i < replay->block_count; i++) {
        const struct tw_perf_block *block =
            tw_perf_block(replay->perf, replay->blocks[i].buffer);

        replay->blocks[i].time = block->time;
        replay->blocks[i].stream = block->stream;
        has_times = has_times && block->time;
    }
    if (has_times)
        qsort(replay->blocks, replay->block_count, sizeof *replay->blocks, compare_times);
    else if (replay->block_count)
        replay->blocks[0].time = 0; /* one without is as none with */
}

static bool add_windows(struct tw_replay *replay, uint32_t buffer, uint64_t each)
{
    const struct tw_buffer *about = tw_capture_buffer(replay->capture, buffer);

    for (uint64_t at = 0; at < about->size; at += each) {
        const uint64_t size = about->size - at < each ? about->size - at : each;

        if (!TW_GROW(replay->allocator, &replay->windows, &replay->window_room,
                     replay->window_count + 1))
            return false;
        replay->windows[replay->window_count++] =
            (struct tw_replay_window){ .buffer = buffer,
                                       .from = about->offset + at,
                                       .to = about->offset + at + size,
                                       .bytes = size };
    }
    return true;
}

enum tw_status tw_windows_list(struct tw_replay *replay)
{
    const uint32_t count = (uint32_t)tw_capture_buffer_count(replay->capture);
    const uint64_t each = replay->config.window ? replay->config.window : WINDOW;
    enum tw_status status;

    replay->blocks = tw_take(replay->allocator, ((size_t)count + 1) * sizeof *replay->blocks);
    if (!replay->blocks)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        if (wants_buffer(replay, i))
            replay->blocks[replay->block_count++].buffer = i;
    sort_blocks(replay);
    status = tw_timed_list(replay, each);
    for (size_t i = 0; status == TW_END && i < replay->block_count; i++)
        if (!add_windows(replay, replay->blocks[i].buffer, each))
            status = TW_E_MEMORY;
    return status == TW_E_MEMORY ? tw_fail(&replay->fault, status, "out of memory") : TW_OK;
}

/* ---- decoding ---- */

uint32_t tw_windows_together(const struct tw_replay *replay, uint32_t first, uint32_t most)
{
    uint32_t end = first + 1;

    while (end < replay->window_count && end - first < most &&
           replay->windows[end].buffer == replay->windows[first].buffer &&
           replay->windows[end].from == replay->windows[end - 1].to)
        end++;
    return end;
}

/* A scan of the bytes from `from` to before `to`. */
struct scan {
    const struct tw_replay *replay;
    struct tw_replay *changed;   /* the same; NULL: it is not changed */
    struct tw_scan_apart *apart; /* then */
    struct tw_fault *fault;
    uint32_t buffer;
    uint64_t from, to;
    tw_scan_fn *take;
    void *context;
    void (*begin)(void *context, uint32_t buffer); /* it begins inside; or NULL */
    struct tw_timed_cut cut;
    bool is_over; /* `take` wants no more */
    bool is_out;  /* no memory for a thread */
    uint64_t fed, fed_at_passing;
    bool has_passed;
};

static void count_bytes(void *context, uint64_t bytes)
{
    struct scan *scan = context;

    scan->fed += bytes;
}

/* What a scan meets first follows what the window before it ends with. */
static void set_resumed(struct tw_replay *replay, uint32_t thread, struct tw_part *part)
{
    if (replay->threads[thread]->scan != replay->scans)
        part->is_resumed = false;
    replay->threads[thread]->scan = replay->scans;
}

/* Gives the elements of a part that lie in the window.  False: no more of them can come. */
static bool give(struct scan *scan, struct tw_part *part)
{
    const struct tw_element *elements = part->batch.elements;
    const size_t count = part->batch.count;
    size_t first = 0, end;
    uint32_t thread = TW_NONE;

    while (first < count) {
        while (first < count &&
               (elements[first].index < scan->from || elements[first].index >= scan->to)) {
            if (elements[first].index >= scan->to && !scan->has_passed) {
                scan->has_passed = true;
                scan->fed_at_passing = scan->fed;
            }
            first++;
        }
        end = first;
        while (end < count && elements[end].index >= scan->from &&
               elements[end].index < scan->to)
            end++;
        if (first == end)
            break;
        if (thread == TW_NONE)
            thread = scan->changed ? tw_replay_thread_of(scan->changed, part, &scan->is_out)
                                   : tw_replay_known_thread(scan->replay, part);
        if (thread == TW_NONE) /* nothing was executed yet, or no one looks for it */
            break;
        part->batch.elements += first;
        part->batch.count = part->batch.room = end - first;
        part->stream = thread; /* the same in every run */
        if (scan->changed)
            set_resumed(scan->changed, thread, part);
        scan->is_over = !scan->take(scan->context, thread, part);
        part->batch.elements -= first;
        if (scan->is_over)
            return false;
        first = end;
    }
    return count == 0 || elements[count - 1].index < scan->to ||
           elements[count - 1].index - scan->to < BEHIND;
}

/* One stream alone gives its elements in order: the first behind the window is the end. */
static bool is_past(const struct scan *scan, const struct tw_run *run)
{
    if (!scan->has_passed)
        return false;
    return tw_run_source_count(run) == 1 && tw_run_stream_count(run) == 1
               ? true
               : scan->fed > scan->fed_at_passing + BEHIND;
}

static bool is_cancelled(const struct scan *scan)
{
    return scan->changed ? tw_replay_is_cancelled(scan->changed)
                         : scan->apart->is_over(scan->apart->context);
}

/* What a run says besides elements.  True: that was all. */
static bool take_event(struct scan *scan, const struct tw_part *part)
{
    const struct tw_replay *replay = scan->replay;

    if (part->kind == TW_PART_BEGIN && scan->begin && !scan->cut.open_before)
        scan->begin(scan->context, part->buffer);
    if (replay->is_timed)
        return (part->kind == TW_PART_END || part->kind == TW_PART_NOTHING) &&
               tw_timed_end(replay, &scan->cut, part->buffer);
    return part->kind == TW_PART_END && part->buffer == scan->buffer;
}

static enum tw_status go_through(struct scan *scan, struct tw_run *run)
{
    const bool is_timed = scan->replay->is_timed;
    const struct tw_run_place place = { .kind = TW_PLACE_OFFSET, .value = scan->from };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = is_timed ? TW_OK : tw_run_seek(run, &place);

    while (status == TW_OK) {
        status = tw_run_next(run, &part);
        if (status != TW_OK || take_event(scan, &part))
            break;
        if (part.kind == TW_PART_ELEMENTS && part.source && !scan->cut.open_before &&
            (!give(scan, &part) || (!is_timed && is_past(scan, run))))
            break;
        if (is_cancelled(scan))
            return tw_fail(scan->fault, TW_E_CANCELLED, "interrupted");
    }
    if (status < 0)
        return tw_fail(scan->fault, status, "%s", tw_run_fault(run));
    return scan->is_out ? tw_fail(scan->fault, TW_E_MEMORY, "out of memory") : TW_OK;
}

static enum tw_status scan_windows(struct scan *scan, struct tw_capture *capture,
                                   uint32_t first, uint32_t end)
{
    const struct tw_replay *replay = scan->replay;
    struct tw_run_config config = replay->run_config;
    struct tw_filter filter = replay->filter;
    const char *name;
    struct tw_run *run;
    enum tw_status status;

    scan->buffer = replay->windows[first].buffer;
    scan->from = replay->windows[first].from;
    scan->to = replay->windows[end - 1].to;
    name = tw_capture_buffer(capture, scan->buffer)->name;
    filter.buffers = &name;
    filter.buffer_count = 1;
    if (replay->is_timed) {
        if (tw_timed_begin(replay, &scan->cut, first, end) != TW_OK)
            return tw_fail(scan->fault, TW_E_MEMORY, "out of memory");
        filter.buffers = scan->cut.names;
        filter.buffer_count = scan->cut.count;
        config.order = TW_ORDER_TIME;
    }
    config.filter = &filter;
    config.on_bytes = count_bytes;
    config.context = scan;
    config.threads = 1; /* what is long is cut into pieces, each for a thread */
    status = tw_run_new(&run, capture, &config, scan->fault);
    if (status == TW_OK) {
        status = go_through(scan, run);
        tw_run_free(run);
    }
    tw_give(replay->allocator, scan->cut.names);
    return status;
}

enum tw_status tw_windows_scan(struct tw_replay *replay, uint32_t first, uint32_t end,
                               tw_scan_fn *take, void *context)
{
    struct scan scan = { .replay = replay,
                         .changed = replay,
                         .fault = &replay->fault,
                         .take = take,
                         .context = context };

    replay->scans++;
    return scan_windows(&scan, replay->capture, first, end);
}

enum tw_status tw_windows_scan_apart(const struct tw_replay *replay,
                                     struct tw_scan_apart *apart, uint32_t first, uint32_t end)
{
    struct scan scan = { .replay = replay,
                         .apart = apart,
                         .fault = &apart->fault,
                         .take = apart->take,
                         .context = apart->context };

    return scan_windows(&scan, apart->capture, first, end);
}

/* ---- keeping ---- */

static void release(struct tw_replay *replay, struct tw_replay_window *window)
{
    struct tw_replay_data *data = window->data;

    if (!data)
        return;
    for (size_t i = 0; i < data->count; i++)
        tw_track_release(replay, &data->tracks[i]);
    replay->bytes -= data->bytes;
    tw_give(replay->allocator, data->tracks);
    tw_give(replay->allocator, data);
    window->data = NULL;
}

void tw_windows_free(struct tw_replay *replay)
{
    for (size_t i = 0; i < replay->window_count; i++)
        release(replay, &replay->windows[i]);
    tw_give(replay->allocator, replay->windows);
    replay->windows = NULL;
    replay->window_count = 0;
}

/* The window that was used longest ago, of those with data; NULL: too few have. */
static struct tw_replay_window *oldest(struct tw_replay *replay)
{
    struct tw_replay_window *found = NULL;
    size_t count = 0;

    for (size_t i = 0; i < replay->window_count; i++) {
        struct tw_replay_window *window = &replay->windows[i];

        if (!window->data)
            continue;
        count++;
        if (!found || window->used < found->used)
            found = window;
    }
    return count > KEPT_LEAST ? found : NULL;
}

static void make_room(struct tw_replay *replay)
{
    struct tw_replay_window *window;

    while (replay->bytes > replay->config.memory && (window = oldest(replay)) != NULL)
        release(replay, window);
}

struct keeper {
    struct tw_replay *replay;
    struct tw_replay_data *data;
    uint32_t *begun; /* buffers that begin in the window */
    size_t begun_count, begun_room;
    bool is_out;
};

static bool keep(void *context, uint32_t thread, const struct tw_part *part)
{
    struct keeper *keeper = context;
    struct tw_replay_data *data = keeper->data;
    const size_t before = data->room;

    if (!TW_GROW(keeper->replay->allocator, &data->tracks, &data->room, (size_t)thread + 1)) {
        keeper->is_out = true;
        return false;
    }
    if (data->room > before)
        memset(data->tracks + before, 0, (data->room - before) * sizeof *data->tracks);
    if (data->count <= thread)
        data->count = (size_t)thread + 1;
    keeper->is_out = !tw_track_add(keeper->replay, &data->tracks[thread], part,
                                   part->batch.elements, part->batch.count);
    return !keeper->is_out;
}

static void begin(void *context, uint32_t buffer)
{
    struct keeper *keeper = context;

    if (TW_GROW(keeper->replay->allocator, &keeper->begun, &keeper->begun_room,
                keeper->begun_count + 1))
        keeper->begun[keeper->begun_count++] = buffer;
    else
        keeper->is_out = true;
}

/* What was lost stands, as elements without instructions, before the first one that a track has of a buffer. */
static bool put_before(const struct tw_replay *replay, struct tw_replay_track *track,
                       uint32_t buffer, const struct tw_replay_lost *lost, size_t count)
{
    uint64_t before;
    size_t n = 0, at;

    while (n < track->stretch_count && track->stretches[n].part.buffer != buffer)
        n++;
    if (n == track->stretch_count)
        return true;
    if (!TW_GROW(replay->allocator, &track->elements, &track->room, track->count + count) ||
        !TW_GROW(replay->allocator, &track->before, &track->before_room, track->count + count))
        return false;
    at = track->stretches[n].first;
    before = at < track->count ? track->before[at] : track->instructions;
    memmove(track->elements + at + count, track->elements + at,
            (track->count - at) * sizeof *track->elements);
    memmove(track->before + at + count, track->before + at,
            (track->count - at) * sizeof *track->before);
    for (size_t i = 0; i < count; i++) {
        track->elements[at + i] =
            (struct tw_element){ .index = tw_perf_block(replay->perf, buffer)->offset,
                                 .type = TW_ELEMENT_UNKNOWN,
                                 .value = lost[count - 1 - i].has_data };
        track->before[at + i] = before;
    }
    track->count += count;
    while (++n < track->stretch_count)
        track->stretches[n].first += count;
    return true;
}

/* perf.data: what the recorder lost before a block stands before its first element. */
static void put_losses(struct keeper *keeper, uint32_t buffer)
{
    const struct tw_replay_lost *lost;
    const size_t count = tw_lost_before(keeper->replay, buffer, &lost);

    for (size_t k = 0; count && !keeper->is_out && k < keeper->data->count; k++)
        keeper->is_out =
            !put_before(keeper->replay, &keeper->data->tracks[k], buffer, lost, count);
}

static uint64_t bytes_of(const struct tw_replay_data *data)
{
    uint64_t bytes = sizeof *data + data->room * sizeof *data->tracks;

    for (size_t i = 0; i < data->count; i++)
        bytes += data->tracks[i].room * sizeof(struct tw_element) +
                 data->tracks[i].before_room * sizeof(uint64_t) +
                 data->tracks[i].stretch_room * sizeof(struct tw_replay_stretch);
    return bytes;
}

enum tw_status tw_windows_load(struct tw_replay *replay, struct tw_replay_data **data,
                               uint32_t number)
{
    struct tw_replay_window *window = &replay->windows[number];
    struct keeper keeper = { .replay = replay };
    struct scan scan;
    enum tw_status status;

    window->used = ++replay->clock;
    *data = window->data;
    if (*data)
        return TW_OK;
    make_room(replay);
    keeper.data = tw_take(replay->allocator, sizeof *keeper.data);
    if (!keeper.data)
        return tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    scan = (struct scan){ .replay = replay,
                          .changed = replay,
                          .fault = &replay->fault,
                          .take = keep,
                          .begin = replay->is_timed ? begin : NULL,
                          .context = &keeper };
    replay->scans++;
    status = scan_windows(&scan, replay->capture, number, number + 1);
    if (replay->perf && !replay->is_timed &&
        window->from == tw_perf_block(replay->perf, window->buffer)->offset)
        begin(&keeper, window->buffer);
    for (size_t i = 0; i < keeper.begun_count; i++)
        put_losses(&keeper, keeper.begun[i]);
    tw_give(replay->allocator, keeper.begun);
    keeper.data->bytes = bytes_of(keeper.data);
    replay->bytes += keeper.data->bytes;
    window->data = keeper.data;
    if (status == TW_OK && keeper.is_out)
        status = tw_fail(&replay->fault, TW_E_MEMORY, "out of memory");
    if (status != TW_OK) {
        release(replay, window);
        return status;
    }
    *data = keeper.data;
    return TW_OK;
}

struct tw_replay_track *tw_windows_track(const struct tw_replay_data *data, uint32_t thread)
{
    return thread < data->count && data->tracks[thread].count ? &data->tracks[thread] : NULL;
}
