/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks for places: by address, offset, time and number.  Windows in which nothing can be are gone through many at a
   time, and not kept. */
#include "base/fault.h"
#include "replay/replay.h"

enum { TOGETHER = 4, TOGETHER_MOST = 128 };

struct search {
    struct tw_replay *replay;
    uint32_t thread;
    const uint64_t *addresses;
    size_t count;
    uint64_t least, greatest;
    bool is_back;
    bool stops_at_loss;
    struct tw_replay_loss pending; /* passed since the last instruction */
};

/* ---- in a window that is there ---- */

/* The number in a range of the instruction at an address; the count: none begins there. */
static uint32_t number_in(struct tw_replay *replay, const struct tw_part *part,
                          const struct tw_element *range, uint64_t address)
{
    uint32_t low = 0, size;

    for (uint32_t each = 4; each >= 2; each -= 2)
        if (range->length == (uint64_t)range->count * each)
            return (address - range->start) % each
                       ? range->count
                       : (uint32_t)((address - range->start) / each);
    while (low < range->count) {
        const uint64_t at = tw_track_address(replay, part, range, low, &size);

        if (at == address)
            return low;
        if (at > address || !size)
            break;
        low++;
    }
    return range->count;
}

static bool holds(const struct search *search, const struct tw_element *range)
{
    if (search->count == 0 || range->start > search->greatest ||
        tw_element_end(range) <= search->least)
        return false;
    for (size_t i = 0; i < search->count; i++)
        if (search->addresses[i] - range->start < range->length)
            return true;
    return false;
}

/* Of instructions base + n * sum, n < times, the one nearest to `limit` in the direction; UINT64_MAX: none. */
static uint64_t nearest(const struct search *search, uint64_t base, uint64_t sum,
                        uint64_t times, uint64_t limit)
{
    uint64_t n;

    if (search->is_back) {
        if (base >= limit)
            return UINT64_MAX;
        n = sum ? (limit - 1 - base) / sum : 0;
        return base + (n < times ? n : times - 1) * sum;
    }
    if (base >= limit)
        return base;
    if (!sum)
        return UINT64_MAX;
    n = (limit - base + sum - 1) / sum;
    return n < times ? base + n * sum : UINT64_MAX;
}

static void take_better(const struct search *search, uint64_t *best, uint64_t found)
{
    if (found != UINT64_MAX &&
        (*best == UINT64_MAX || (search->is_back ? found > *best : found < *best)))
        *best = found;
}

/* The best hit in an element, which is a range or a REPEAT: at or after `limit`, backwards before it. */
static uint64_t hit_in(const struct search *search, const struct tw_replay_track *track,
                       size_t at, uint64_t limit)
{
    const bool is_repeat = track->elements[at].type == TW_ELEMENT_REPEAT;
    const size_t reach = is_repeat ? tw_repeat_reach(track->elements, at) : 0;
    const size_t first = is_repeat ? at - reach : at, end = is_repeat ? at : at + 1;
    uint64_t sum = 0, done = 0, best = UINT64_MAX;

    for (size_t i = first; is_repeat && i < end; i++)
        sum += track->elements[i].type == TW_ELEMENT_INSTR_RANGE ? track->elements[i].count : 0;
    for (size_t i = first; i < end; i++) {
        const struct tw_element *range = &track->elements[i];

        if (range->type != TW_ELEMENT_INSTR_RANGE)
            continue;
        for (size_t k = 0; holds(search, range) && k < search->count; k++) {
            uint32_t number;

            if (search->addresses[k] - range->start >= range->length)
                continue;
            number = number_in(search->replay, tw_track_part(track, at), range,
                               search->addresses[k]);
            if (number < range->count)
                take_better(search, &best,
                            nearest(search, track->before[at] + done + number, sum,
                                    is_repeat ? track->elements[at].times : 1, limit));
        }
        done += range->count;
    }
    return best;
}

/* Instructions that an element of a track holds. */
static uint64_t held_by(const struct tw_replay_track *track, size_t at)
{
    return (at + 1 < track->count ? track->before[at + 1] : track->instructions) -
           track->before[at];
}

/* Goes through a track from instruction `limit` on, or back from before it.  True: found. */
static bool search_on(struct search *search, const struct tw_replay_track *track,
                      uint64_t limit, uint64_t *found)
{
    struct tw_track_spot spot = { .element = 0 };
    size_t at = 0;

    if (limit && limit < track->instructions && tw_track_find(track, &spot, limit))
        at = spot.element;
    else if (limit)
        at = track->count;
    if (at == track->count || track->before[at] == limit)
        while (at && held_by(track, at - 1) == 0) /* what lies before it was not passed yet */
            at--;
    for (; at < track->count; at++) {
        if (search->stops_at_loss && search->pending.kind == TW_REPLAY_NO_LOSS)
            (void)tw_track_loss(&search->pending, &track->elements[at]);
        if (!held_by(track, at))
            continue;
        if (search->pending.kind != TW_REPLAY_NO_LOSS) {
            *found = track->before[at] > limit ? track->before[at] : limit;
            return true;
        }
        *found = hit_in(search, track, at, limit);
        if (*found != UINT64_MAX)
            return true;
    }
    return false;
}

static bool search_back(struct search *search, const struct tw_replay_track *track,
                        uint64_t limit, uint64_t *found)
{
    struct tw_track_spot spot;
    size_t at = track->count;

    if (limit < track->instructions && tw_track_find(track, &spot, limit))
        at = spot.element + 1;
    while (at--) {
        if (search->stops_at_loss) /* of several the first, as on the way forwards */
            (void)tw_track_loss(&search->pending, &track->elements[at]);
        if (!held_by(track, at) || track->before[at] >= limit)
            continue;
        if (search->pending.kind != TW_REPLAY_NO_LOSS) {
            const uint64_t end = track->before[at] + held_by(track, at);

            *found = (end < limit ? end : limit) - 1;
            return true;
        }
        *found = hit_in(search, track, at, limit);
        if (*found != UINT64_MAX)
            return true;
    }
    return false;
}

/* The same in a window: true and TW_OK: found. */
static enum tw_status search_window(struct search *search, uint32_t window, uint64_t limit,
                                    uint64_t *found, bool *is_found)
{
    struct tw_replay_data *data;
    struct tw_replay_track *track;

    *is_found = false;
    TW_TRY(tw_windows_load(search->replay, &data, window));
    track = tw_windows_track(data, search->thread);
    if (!track)
        return TW_OK;
    *is_found = search->is_back ? search_back(search, track, limit, found)
                                : search_on(search, track, limit, found);
    return TW_OK;
}

/* ---- in windows that are not ---- */

/* A block before which the recorder lost something and that begins in a window at hand. */
static bool is_lost_before(const struct tw_scan_group *group, const struct tw_part *part,
                           uint64_t *index)
{
    const struct search *search = group->search;
    const struct tw_replay *replay = search->replay;
    const struct tw_replay_lost *lost;

    if (!search->stops_at_loss || !tw_lost_before(replay, part->buffer, &lost))
        return false;
    *index = tw_perf_block(replay->perf, part->buffer)->offset;
    for (uint32_t i = group->scanned; i < group->end; i++)
        if (*index >= replay->windows[i].from && *index < replay->windows[i].to)
            return true;
    return false;
}

/* Any hit of the ways to the place that a window may hold; where exactly is found when it is there. */
static bool scan_part(void *context, uint32_t thread, const struct tw_part *part)
{
    struct tw_scan_group *group = context;
    const struct search *search = group->search;
    uint64_t lost;

    if (thread != search->thread)
        return true;
    if (is_lost_before(group, part, &lost) && (!group->is_hit || lost > group->index)) {
        group->is_hit = true;
        group->index = lost;
        group->at = group->scanned;
        if (!search->is_back)
            return false;
    }
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];
        const bool is_hit = element->type == TW_ELEMENT_INSTR_RANGE
                                ? holds(search, element)
                                : search->stops_at_loss && tw_track_loss(NULL, element);

        if (!is_hit)
            continue;
        group->is_hit = true;
        group->index = element->index;
        group->at = group->scanned;
        if (!search->is_back)
            return false;
    }
    return true;
}

/* The groups of windows to look at next, from `window` on; how many.  *window: behind them, in the direction. */
static size_t next_groups(const struct search *search, struct tw_scan_group *groups,
                          size_t room, uint32_t *window, uint32_t most)
{
    const uint32_t none = (uint32_t)search->replay->window_count;
    const uint32_t left = *window == none ? 0 : search->is_back ? *window + 1 : none - *window;
    const uint32_t share = (left + (uint32_t)room - 1) / (uint32_t)room;
    size_t count = 0;

    if (most > share) /* the last ones are shared by all threads */
        most = share;
    while (count < room && *window < none) {
        struct tw_scan_group *group = &groups[count++];
        const uint32_t at = *window;

        *group = (struct tw_scan_group){ .search = search, .wants_last = search->is_back };
        if (search->is_back) {
            group->first = at + 1 > most ? at + 1 - most : 0;
            group->end = at + 1;
            *window = group->first ? group->first - 1 : none;
        } else {
            group->first = at;
            group->end = none - at > most ? at + most : none;
            *window = group->end;
        }
    }
    return count;
}

/* The window with a group's hit; false: it has none. */
static bool window_of(const struct tw_replay *replay, const struct tw_scan_group *group,
                      uint32_t *window)
{
    for (uint32_t i = group->at; group->is_hit && i < group->end; i++)
        if (group->index >= replay->windows[i].from && group->index < replay->windows[i].to) {
            *window = i;
            return true;
        }
    return false;
}

/* The next window that may hold a hit.  TW_END: none.  What is near is found by one thread. */
static enum tw_status next_hit(struct search *search, uint32_t *window)
{
    struct tw_replay *replay = search->replay;
    struct tw_scan_group groups[TW_SCANS_MOST];
    uint32_t most = TOGETHER, next = *window;
    size_t room = 1, count;

    while ((count = next_groups(search, groups, room, &next, most)) > 0) {
        TW_TRY(tw_scans_run(replay, groups, count, scan_part));
        for (size_t i = 0; i < count; i++)
            if (window_of(replay, &groups[i], window))
                return TW_OK;
        most = most < TOGETHER_MOST ? most * 2 : most;
        room = tw_scans_room(replay);
    }
    return TW_END;
}

static void set_addresses(struct search *search)
{
    search->least = UINT64_MAX;
    for (size_t i = 0; i < search->count; i++) {
        if (search->addresses[i] < search->least)
            search->least = search->addresses[i];
        if (search->addresses[i] > search->greatest)
            search->greatest = search->addresses[i];
    }
}

static enum tw_status go(struct search *search, struct tw_replay_place *place)
{
    const struct tw_replay *replay = search->replay;
    uint64_t limit =
        search->is_back ? place->instruction + place->is_end : place->instruction + 1;
    uint32_t window = place->window;
    uint64_t found;
    bool is_found;

    for (;;) {
        TW_TRY(search_window(search, window, limit, &found, &is_found));
        if (is_found) {
            place->window = window;
            place->instruction = found;
            place->is_end = false;
            return TW_OK;
        }
        if (search->is_back ? window == 0 : window + 1 >= replay->window_count)
            return TW_END;
        window = search->is_back ? window - 1 : window + 1;
        limit = search->is_back ? UINT64_MAX : 0;
        if (search->pending.kind == TW_REPLAY_NO_LOSS)
            TW_TRY(next_hit(search, &window));
    }
}

enum tw_status tw_replay_find(struct tw_replay *replay, struct tw_replay_place *place,
                              bool is_back, const uint64_t *addresses, size_t count,
                              struct tw_replay_loss *loss)
{
    struct search search = { .replay = replay,
                             .thread = place->thread,
                             .addresses = addresses,
                             .count = count,
                             .is_back = is_back,
                             .stops_at_loss = loss != NULL };
    enum tw_status status;

    set_addresses(&search);
    if (loss)
        loss->kind = TW_REPLAY_NO_LOSS;
    if (place->is_end && !is_back)
        return TW_END;
    status = go(&search, place);
    if (loss && status == TW_OK)
        *loss = search.pending;
    if (status == TW_END) {
        TW_TRY(is_back ? tw_replay_first(replay, place, place->thread)
                       : tw_replay_last(replay, place, place->thread));
        if (!is_back) {
            struct tw_replay_place end = *place;

            if (tw_replay_step(replay, &end, false, NULL) == TW_OK)
                *place = end;
        }
        return TW_END;
    }
    return status;
}

/* ---- by offset, time and number ---- */

/* The first instruction of a thread at or behind an element of a window. */
static enum tw_status first_behind(struct tw_replay *replay, struct tw_replay_place *place,
                                   uint32_t thread, uint32_t window, size_t element)
{
    struct tw_replay_data *data;

    for (; window < replay->window_count; window++, element = 0) {
        const struct tw_replay_track *track;

        TW_TRY(tw_windows_load(replay, &data, window));
        track = tw_windows_track(data, thread);
        if (!track || element >= track->count || track->before[element] >= track->instructions)
            continue;
        *place = (struct tw_replay_place){ .thread = thread,
                                           .window = window,
                                           .instruction = track->before[element] };
        return TW_OK;
    }
    return TW_END;
}

/* Whether a part comes from the block that holds an offset. */
static bool is_of(const struct tw_replay *replay, const struct tw_part *part, uint64_t offset)
{
    const struct tw_buffer *buffer = tw_capture_buffer(replay->capture, part->buffer);

    return offset - buffer->offset < buffer->size;
}

/* Whether a window holds bytes at an offset, or ends with the block that does. */
static bool holds_offset(const struct tw_replay *replay, uint32_t number, uint64_t offset)
{
    const struct tw_replay_window *window = &replay->windows[number];
    const uint32_t first = number ? replay->windows[number - 1].end_block : 0;

    if (!replay->is_timed)
        return offset >= window->from && offset < window->to;
    for (uint32_t i = first; i < window->end_block; i++) {
        const struct tw_part part = { .buffer = replay->blocks[i].buffer };

        if (is_of(replay, &part, offset))
            return true;
    }
    return false;
}

enum tw_status tw_replay_at_offset(struct tw_replay *replay, struct tw_replay_place *place,
                                   uint32_t thread, uint64_t offset)
{
    struct tw_replay_data *data;

    for (uint32_t i = 0; i < replay->window_count; i++) {
        const struct tw_replay_track *track;
        size_t at = 0;

        if (!holds_offset(replay, i, offset))
            continue;
        TW_TRY(tw_windows_load(replay, &data, i));
        track = tw_windows_track(data, thread);
        while (track && at < track->count &&
               (track->elements[at].index < offset ||
                (replay->is_timed && !is_of(replay, tw_track_part(track, at), offset))))
            at++;
        return first_behind(replay, place, thread, i, track ? at : 0);
    }
    return TW_END;
}

/* The first time that a window, from `window` on to before `end`, has of a thread; TW_END: none has. */
static enum tw_status time_of(struct tw_replay *replay, uint32_t thread, uint32_t *window,
                              uint32_t end, uint64_t *time)
{
    struct tw_replay_data *data;

    for (; *window < end; ++*window) {
        const struct tw_replay_track *track;

        TW_TRY(tw_windows_load(replay, &data, *window));
        track = tw_windows_track(data, thread);
        for (size_t i = 0; track && i < track->stretch_count; i++)
            if (track->stretches[i].part.when.not_before) {
                *time = track->stretches[i].part.when.not_before;
                return TW_OK;
            }
    }
    return TW_END;
}

enum tw_status tw_replay_at_time(struct tw_replay *replay, struct tw_replay_place *place,
                                 uint32_t thread, uint64_t time)
{
    uint32_t low = 0, high = (uint32_t)replay->window_count;
    struct tw_replay_data *data;

    while (low < high) { /* the first window that begins later */
        uint32_t middle = low + (high - low) / 2;
        uint64_t first = 0;
        const enum tw_status status = time_of(replay, thread, &middle, high, &first);

        if (status != TW_OK && status != TW_END)
            return status;
        if (status == TW_END || first > time)
            high = low + (high - low) / 2;
        else
            low = middle + 1;
    }
    for (low = low ? low - 1 : 0; low < replay->window_count; low++) {
        const struct tw_replay_track *track;

        TW_TRY(tw_windows_load(replay, &data, low));
        track = tw_windows_track(data, thread);
        for (size_t i = 0; track && i < track->stretch_count; i++)
            if (track->stretches[i].part.when.not_before >= time &&
                track->before[track->stretches[i].first] < track->instructions)
                return first_behind(replay, place, thread, low, track->stretches[i].first);
    }
    return TW_END;
}

struct counting {
    uint32_t thread;
    uint64_t count; /* instructions so far */
};

static bool count_part(void *context, uint32_t thread, const struct tw_part *part)
{
    struct counting *counting = context;

    if (thread != counting->thread)
        return true;
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *elements = part->batch.elements;
        uint64_t more = 0;

        if (elements[i].type == TW_ELEMENT_INSTR_RANGE)
            more = elements[i].count;
        if (elements[i].type == TW_ELEMENT_REPEAT) {
            for (size_t k = 1; k <= tw_repeat_reach(elements, i); k++)
                more +=
                    elements[i - k].type == TW_ELEMENT_INSTR_RANGE ? elements[i - k].count : 0;
            more *= elements[i].times;
        }
        counting->count += more;
    }
    return true;
}

enum tw_status tw_replay_at_number(struct tw_replay *replay, struct tw_replay_place *place,
                                   uint32_t thread, uint64_t number)
{
    struct counting counting = { .thread = thread };
    struct tw_replay_data *data;
    uint32_t most = TOGETHER;

    for (uint32_t i = 0, end; i < replay->window_count; i = end) {
        const uint64_t before = counting.count;

        end = tw_windows_together(replay, i, most);
        TW_TRY(tw_windows_scan(replay, i, end, count_part, &counting));
        most = most < TOGETHER_MOST ? most * 2 : most;
        if (counting.count <= number)
            continue;
        counting.count = before;
        for (; i < end; i++) {
            const struct tw_replay_track *track;

            TW_TRY(tw_windows_load(replay, &data, i));
            track = tw_windows_track(data, thread);
            if (!track)
                continue;
            if (number - counting.count < track->instructions) {
                *place = (struct tw_replay_place){ .thread = thread,
                                                   .window = i,
                                                   .instruction = number - counting.count };
                return TW_OK;
            }
            counting.count += track->instructions;
        }
        return TW_END;
    }
    return TW_END;
}

enum tw_status tw_replay_number(struct tw_replay *replay, uint64_t *number,
                                const struct tw_replay_place *place)
{
    struct counting counting = { .thread = place->thread };

    for (uint32_t i = 0, end; i < place->window; i = end) {
        const uint32_t left = place->window - i;

        end = tw_windows_together(replay, i, left < TOGETHER_MOST ? left : TOGETHER_MOST);
        TW_TRY(tw_windows_scan(replay, i, end, count_part, &counting));
    }
    *number = counting.count + place->instruction + place->is_end;
    return TW_OK;
}

uint64_t tw_replay_bytes_before(const struct tw_replay *replay,
                                const struct tw_replay_place *place)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < place->window; i++)
        bytes += replay->windows[i].bytes;
    return bytes;
}
