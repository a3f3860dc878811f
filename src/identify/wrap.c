/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the oldest byte of a ring buffer lies when nobody knows the write pointer.  In such a dump the
   newest bytes stand before the oldest ones: there time goes back, or packets break off, once; and what
   stands at the beginning goes on from what stands at the end. */
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "identify/identify.h"
#include "identify/wrap.h"

enum {
    WHOLE =
        4 << 20, /* a file up to this is read whole; a larger one only where time goes back */
    WINDOW = 128 << 10, /* in which a time is looked for */
    START_NEAR = 24,    /* bytes from a synchronization sequence to what it introduces */
    UNSETTLED = 512,
    TIMES_LEAST = 4
};

/* ---- threads */

static uint64_t offset_of(const struct wrap_stream *thread, size_t at)
{
    size_t low = 0, high = thread->place_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        *(thread->places[middle].at <= at ? &low : &high) = middle;
    }
    return thread->place_count ? thread->places[low].offset + (at - thread->places[low].at) : 0;
}

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct wrap_search *search = context;
    const struct tw_allocator *allocator = search->inquiry->allocator;
    struct wrap_stream *thread = NULL;

    (void)stream_offset;
    for (size_t i = 0; i < search->count && !thread; i++)
        if (search->threads[i].id == id)
            thread = &search->threads[i];
    if (!thread || !size)
        return;
    if (!TW_GROW(allocator, &thread->bytes, &thread->room, thread->size + size) ||
        !TW_GROW(allocator, &thread->places, &thread->place_room, thread->place_count + 1)) {
        search->no_memory = true;
        return;
    }
    thread->places[thread->place_count++] = (struct wrap_place){ thread->size, capture_offset };
    memcpy(thread->bytes + thread->size, bytes, size);
    thread->size += size;
}

/* The threads of a part of the file. */
static enum tw_status take_part(struct wrap_search *search, size_t from, size_t size)
{
    const enum tw_framing framing = search->inquiry->best.way.framing;
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = framing,
                                               .on_run = take_run,
                                               .on_run_context = search,
                                               .allocator = search->inquiry->allocator };
    struct tw_unframer *unframer;
    enum tw_status status;

    for (size_t i = 0; i < search->count; i++)
        search->threads[i].size = search->threads[i].place_count = 0;
    if (framing == TW_FRAMING_NONE) {
        take_run(search, search->threads[0].id, 0, 0, search->file + from, size);
    } else {
        TW_TRY(tw_unframer_new(&unframer, &config, NULL));
        status = tw_unframer_feed(unframer, search->file + from, size);
        if (status == TW_OK)
            status = tw_unframer_finish(unframer);
        tw_unframer_free(unframer);
        TW_TRY(status);
    }
    for (size_t i = 0; i < search->count; i++)
        for (size_t k = 0; k < search->threads[i].place_count; k++)
            search->threads[i].places[k].offset += from;
    return search->no_memory ? TW_E_MEMORY : TW_OK;
}

/* ---- reading */

static void note_sync(struct wrap_course *course, size_t at, bool *is_broken)
{
    if (course->syncs++) {
        const size_t period = at - course->last_sync;

        if (*is_broken) {
            course->break_period = period;
        } else {
            course->shortest = period < course->shortest ? period : course->shortest;
            course->longest = period > course->longest ? period : course->longest;
        }
    } else {
        course->first_sync = at;
    }
    course->last_sync = at;
    if (course->since_time == SIZE_MAX)
        course->since_time = at;
    *is_broken = false;
}

static void note_time(struct wrap_course *course, uint64_t time, size_t at, size_t *last_at)
{
    const uint64_t drop =
        course->times && time < course->last_time ? course->last_time - time : 0;

    if (!course->times++)
        course->first_time = course->least_time = course->most_time = time;
    course->least_time = time < course->least_time ? time : course->least_time;
    course->most_time = time > course->most_time ? time : course->most_time;
    if (drop > course->drop) {
        course->next_drop = course->drop;
        course->drop = drop;
        course->before = *last_at;
        course->after = at;
        course->between = course->since_time;
    } else if (drop > course->next_drop) {
        course->next_drop = drop;
    }
    course->since_time = SIZE_MAX;
    course->last_time = time;
    *last_at = at;
}

void tw_wrap_read(struct wrap_course *course, const struct wrap_search *search,
                  const struct wrap_stream *thread)
{
    struct tw_reading step;
    /* Where packets are told from the first one on, it takes a while to find one. */
    const size_t settled = thread->trial->suspect->has_sync ? 0
                           : thread->size / 4 < UNSETTLED   ? thread->size / 4
                                                            : UNSETTLED;
    bool is_broken = false, was_good = false;
    size_t last_time = 0;

    *course = (struct wrap_course){ .first_sync = SIZE_MAX,
                                    .shortest = SIZE_MAX,
                                    .between = SIZE_MAX,
                                    .since_time = SIZE_MAX };
    if (tw_reading_start(&step, thread->trial->protocol, &thread->trial->settings,
                         &search->inquiry->bench, search->inquiry->allocator) != TW_OK)
        return;
    while (tw_reading_next(&step, thread->bytes, thread->size)) {
        uint64_t time;

        if (!tw_kind_is_understood(step.kind)) {
            if (was_good && course->first_sync != SIZE_MAX && step.at >= settled) {
                course->broken = course->breaks ? course->broken : step.at;
                course->breaks++;
                is_broken = true;
            }
            was_good = false;
            continue;
        }
        was_good = true;
        course->packets++;
        if (step.kind == TW_PACKET_SYNC)
            note_sync(course, step.at, &is_broken);
        if (tw_reading_time(&step, &time))
            note_time(course, time, step.at, &last_time);
        if (tw_reading_is_start(&step)) {
            const bool has_sync = course->syncs && step.at - course->last_sync < START_NEAR;

            if (!has_sync && step.kind == TW_PACKET_FLOW)
                continue; /* by a filter */
            if (!course->starts++)
                course->start = has_sync ? course->last_sync : step.at;
        }
    }
}

/* ---- what it says */

/* The seam lies after `low`, at or before `high`. */
struct wrap_interval {
    uint64_t low, high;
    bool is_known;
};

static void narrow(struct wrap_interval *interval, uint64_t low, uint64_t high)
{
    if (!interval->is_known) {
        *interval = (struct wrap_interval){ low, high, true };
        return;
    }
    interval->low = low > interval->low ? low : interval->low;
    interval->high = high < interval->high ? high : interval->high;
}

/* Time goes back once, by most of what it ran, and what is at the end is before what is at the
   beginning.  (Times of some units go back a little now and then.) */
static bool time_is_turned(const struct wrap_course *course)
{
    return course->times >= TIMES_LEAST && course->drop > course->next_drop * 4 &&
           course->drop > (course->most_time - course->least_time) / 2 &&
           course->last_time <= course->first_time;
}

static bool time_runs(const struct wrap_course *course)
{
    return course->times >= TIMES_LEAST && course->last_time > course->first_time;
}

/* Synchronization comes at even intervals, and where packets break off it does too: damage, no seam. */
static bool is_damage(const struct wrap_course *course)
{
    const size_t spread = course->longest - course->shortest;
    const size_t lenient = spread > course->longest / 32 ? spread : course->longest / 32;

    return course->syncs > PERIODS_LEAST && course->longest <= course->shortest * 3 / 2 &&
           course->break_period + lenient >= course->shortest &&
           course->break_period <= course->longest + lenient;
}

/* Tracing was switched on once, and not where the file begins: there the oldest trace is.  All sources begin
   about there. */
static bool find_start(struct wrap_interval *interval, const struct wrap_search *search,
                       const struct wrap_course *courses)
{
    for (size_t i = 0; i < search->count; i++) {
        const uint64_t start = offset_of(&search->threads[i], courses[i].start);

        if (!courses[i].starts)
            continue;
        if (courses[i].starts > 1 || start < HEAD_LEAST)
            return false;
        if (!interval->is_known || start < interval->high)
            *interval = (struct wrap_interval){ 0, start, true };
    }
    return interval->is_known;
}

/* From the courses of all sources to where the seam is; also what says so. */
static bool find_interval(struct wrap_interval *interval, struct wrap_search *search,
                          const struct wrap_course *courses, enum tw_wrap_sign *sign)
{
    uint64_t breaks = 0, running = 0, starts = 0;
    bool is_odd = false, is_timed = false;
    for (size_t i = 0; i < search->count; i++) {
        const struct wrap_stream *thread = &search->threads[i];

        if (time_is_turned(&courses[i])) {
            narrow(interval, offset_of(thread, courses[i].before),
                   offset_of(thread, courses[i].after));
            is_timed = true;
        }
        running += time_runs(&courses[i]);
        starts += courses[i].starts;
        /* Settings that are not found make breaks everywhere. */
        if (tw_wrap_is_ragged(&courses[i], thread))
            continue;
        is_odd = is_odd || courses[i].breaks > 1;
        breaks += courses[i].breaks;
    }
    *sign = is_timed ? TW_WRAP_TIME : breaks ? TW_WRAP_BREAK : TW_WRAP_START;
    if (!is_timed && (is_odd || running))
        return false;
    if (!is_timed && !breaks)
        return starts && find_start(interval, search, courses);
    for (size_t i = 0; i < search->count; i++) {
        const struct wrap_stream *thread = &search->threads[i];
        const uint64_t broken = offset_of(thread, courses[i].broken);

        if (courses[i].breaks != 1 || (!is_timed && is_damage(&courses[i])))
            continue;
        if (!interval->is_known)
            narrow(interval, 0, broken);
        else if (broken > interval->low && broken < interval->high)
            interval->high = broken;
    }
    return interval->is_known && interval->low < interval->high;
}

/* ---- large files */

/* The first time in a window. */
static bool time_at(struct wrap_search *search, uint64_t *time, size_t from)
{
    const size_t left = search->size - from;

    if (take_part(search, from, left < WINDOW ? left : WINDOW) != TW_OK)
        return false;
    for (size_t i = 0; i < search->count; i++) {
        struct wrap_course course;

        if (!search->threads[i].size)
            continue;
        tw_wrap_read(&course, search, &search->threads[i]);
        if (course.times) {
            *time = course.first_time;
            return true;
        }
    }
    return false;
}

/* Narrows down where times become less than the first one. */
static bool find_part(struct wrap_search *search, size_t *from, size_t *size)
{
    size_t low = 0, high = search->size;
    uint64_t first, last, time;

    if (!time_at(search, &first, 0) || !time_at(search, &last, search->size - WINDOW) ||
        last >= first)
        return false;
    while (high - low > 2 * WINDOW) {
        const size_t middle = (low + (high - low) / 2) & ~(size_t)511;

        if (!time_at(search, &time, middle))
            return false;
        *(time >= first ? &low : &high) = middle;
    }
    *from = low;
    *size = search->size - low < (size_t)4 * WINDOW ? search->size - low : (size_t)4 * WINDOW;
    return true;
}

/* ---- all */

/* In a large file only the part where time goes back is read. */
static bool find_large(struct wrap_interval *interval, struct wrap_search *search,
                       struct wrap_course *courses)
{
    size_t from, size;
    bool is_any = false;

    if (!find_part(search, &from, &size) || take_part(search, from, size) != TW_OK)
        return false;
    for (size_t i = 0; i < search->count; i++) {
        tw_wrap_read(&courses[i], search, &search->threads[i]);
        if (!courses[i].drop)
            continue;
        narrow(interval, offset_of(&search->threads[i], courses[i].before),
               offset_of(&search->threads[i], courses[i].after));
        is_any = true;
    }
    for (size_t i = 0; is_any && i < search->count; i++) {
        const uint64_t broken = offset_of(&search->threads[i], courses[i].broken);

        if (courses[i].breaks == 1 && broken > interval->low && broken < interval->high)
            interval->high = broken;
    }
    return is_any;
}

static bool find_seam(struct wrap_interval *interval, struct wrap_search *search,
                      struct wrap_course *courses, enum tw_wrap_sign *sign)
{
    if (search->size > WHOLE) {
        *sign = TW_WRAP_TIME;
        return find_large(interval, search, courses);
    }
    if (take_part(search, 0, search->size) != TW_OK)
        return false;
    for (size_t i = 0; i < search->count; i++)
        tw_wrap_read(&courses[i], search, &search->threads[i]);
    if (!find_interval(interval, search, courses, sign))
        return false;
    return *sign == TW_WRAP_TIME || tw_wrap_goes_round(search, courses);
}

/* A synchronization that stands in the interval may be where the oldest trace begins: where nothing else
   tells, that is the likeliest place. */
static uint64_t choose(const struct wrap_search *search, const struct wrap_interval *interval,
                       const struct wrap_course *courses)
{
    const uint64_t unit =
        search->inquiry->best.way.framing == TW_FRAMING_NONE ? 1 : TW_FRAME_SIZE;
    uint64_t high = interval->high;
    bool is_broken = false;

    for (size_t i = 0; i < search->count; i++)
        is_broken =
            is_broken || (courses[i].breaks == 1 &&
                          offset_of(&search->threads[i], courses[i].broken) == interval->high);
    for (size_t i = 0; !is_broken && i < search->count; i++) {
        const uint64_t offset = courses[i].between == SIZE_MAX
                                    ? UINT64_MAX
                                    : offset_of(&search->threads[i], courses[i].between);

        if (offset > interval->low && offset < high)
            high = offset;
    }
    return high / unit * unit;
}

bool tw_wrap_find(struct tw_inquiry *inquiry, uint64_t *oldest, enum tw_wrap_sign *sign)
{
    const struct tw_verdict *best = &inquiry->best;
    struct wrap_search search = { .inquiry = inquiry,
                                  .file = inquiry->file,
                                  .size = inquiry->size };
    struct wrap_course *courses =
        tw_take(inquiry->allocator, best->count * sizeof *courses + 1);
    struct wrap_interval interval = { 0, 0, false };
    bool is_found = false;

    search.threads = tw_take(inquiry->allocator, best->count * sizeof *search.threads + 1);
    for (size_t i = 0; search.threads && i < best->count; i++)
        if (best->trials[i].suspect)
            search.threads[search.count++] =
                (struct wrap_stream){ .id = best->ids[i], .trial = &best->trials[i] };
    if (search.threads && courses && search.count)
        is_found = find_seam(&interval, &search, courses, sign);
    if (is_found)
        *oldest = choose(&search, &interval, courses);
    for (size_t i = 0; i < search.count; i++) {
        tw_give(inquiry->allocator, search.threads[i].bytes);
        tw_give(inquiry->allocator, search.threads[i].places);
    }
    tw_give(inquiry->allocator, search.threads);
    tw_give(inquiry->allocator, courses);
    return is_found && *oldest > 0 && *oldest < inquiry->size;
}
