/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements to the tiles that they lie in. */
#include "analysis/pyramid.h"

#include <string.h>

#include "base/memory.h"

/* ---- functions ---- */

/* Where a range begins tells its function; asked once for each address of a run. */
static uint32_t find_function(struct tw_pyramid *pyramid, struct tw_run *run,
                              const struct tw_part *part, uint64_t address)
{
    const uint64_t key = address ^ pyramid->who;
    struct tw_name name = { .size = sizeof name };
    uint64_t *known = tw_map_put(&pyramid->by_address, key);
    uint32_t number;

    if (known && *known)
        return (uint32_t)(*known - 1);
    number = tw_pyramid_function(
        pyramid, tw_run_name(run, &name, part, address) && name.has_symbol ? name.symbol.name
                                                                           : "[no symbol]");
    known = tw_map_find(&pyramid->by_address, key);
    if (!known)
        return UINT32_MAX;
    if (number != UINT32_MAX)
        *known = (uint64_t)number + 1;
    return number;
}

/* Room for what is counted of a function; false: no memory. */
static bool make_room(struct tw_pyramid *pyramid, uint32_t function)
{
    const size_t before = pyramid->self_room;
    uint64_t *selves = pyramid->selves;

    if (function < before)
        return true;
    if (!TW_GROW(pyramid->allocator, &selves, &pyramid->self_room, (size_t)function + 1))
        return false;
    memset(selves + before, 0, (pyramid->self_room - before) * sizeof *selves);
    pyramid->selves = selves;
    return true;
}

static void count_self(struct tw_pyramid *pyramid, uint32_t function, uint64_t more)
{
    if (!make_room(pyramid, function) ||
        !TW_GROW(pyramid->allocator, &pyramid->touched, &pyramid->touched_room,
                 pyramid->touched_count + 1)) {
        pyramid->is_out = true;
        return;
    }
    if (!pyramid->selves[function])
        pyramid->touched[pyramid->touched_count++] = function;
    pyramid->selves[function] += more;
}

/* What the place of an address has of the tile at work goes to its function. */
static void empty_recent(struct tw_pyramid *pyramid, struct tw_tile_recent *recent)
{
    const uint64_t self = recent->self;

    recent->self = 0;
    if (!self)
        return;
    pyramid->levels[0][pyramid->tile].instructions += self;
    count_self(pyramid, recent->function, self);
}

static void empty_listed(struct tw_pyramid *pyramid)
{
    for (size_t i = 0; i < pyramid->listed_count; i++) {
        struct tw_tile_recent *recent = &pyramid->recent[pyramid->listed[i]];

        empty_recent(pyramid, recent);
        recent->is_listed = false;
    }
    pyramid->listed_count = 0;
}

/* What is known by the addresses of a run is asked for anew where the code may be another. */
static void begin_part(struct tw_pyramid *pyramid, const struct tw_run *run,
                       const struct tw_part *part)
{
    if (pyramid->run != run || pyramid->image != part->image) {
        empty_listed(pyramid);
        tw_map_clear(&pyramid->by_address);
        memset(pyramid->recent, 0, sizeof pyramid->recent);
        pyramid->run = run;
        pyramid->image = part->image;
    }
    /* two processes may have different code at one address */
    pyramid->who = tw_hash64((uint64_t)part->who.pid << 32 | part->who.context_id);
}

void tw_pyramid_close_tile(struct tw_pyramid *pyramid)
{
    struct tw_tile_sums *tile;

    if (pyramid->tile == SIZE_MAX)
        return;
    empty_listed(pyramid);
    tile = &pyramid->levels[0][pyramid->tile];
    for (size_t i = 0; i < pyramid->touched_count; i++) {
        const uint32_t function = pyramid->touched[i];

        tw_pyramid_add_function(
            pyramid, tile, (struct tw_tile_function){ function, pyramid->selves[function] });
        pyramid->selves[function] = 0;
    }
    tw_pyramid_sort(pyramid, tile);
    pyramid->touched_count = 0;
    pyramid->tile = SIZE_MAX;
    pyramid->tile_from = pyramid->tile_to = 0;
}

/* ---- elements ---- */

void tw_tile_take_time(struct tw_tile_sums *tile, uint64_t time)
{
    if (!tile->is_seen || tile->first > tile->last) {
        tile->first = tile->last = time;
        return;
    }
    tile->first = time < tile->first ? time : tile->first;
    tile->last = time > tile->last ? time : tile->last;
}

/* The place of an address becomes its own; false: no memory. */
static bool begin_recent(struct tw_pyramid *pyramid, struct tw_run *run,
                         const struct tw_part *part, struct tw_tile_recent *recent,
                         uint64_t address)
{
    const uint64_t key = address ^ pyramid->who;

    if (recent->key != key || !recent->is_known) {
        const uint32_t function = find_function(pyramid, run, part, address);

        if (function == UINT32_MAX)
            return false;
        empty_recent(pyramid, recent);
        recent->key = key;
        recent->function = function;
        recent->is_known = true;
    }
    if (!recent->is_listed)
        pyramid->listed[pyramid->listed_count++] = (uint16_t)(recent - pyramid->recent);
    recent->is_listed = true;
    return true;
}

/* A range that was executed so often. */
static inline bool take_pyramid_range(struct tw_pyramid *pyramid, struct tw_run *run,
                                      const struct tw_part *part,
                                      const struct tw_element *element, uint64_t times)
{
    const uint64_t address = element->start;
    struct tw_tile_recent *recent =
        &pyramid->recent[(address >> 1 ^ address >> 13) % TW_PYRAMID_RECENT];

    if ((recent->key != (address ^ pyramid->who) || !recent->is_listed) &&
        !begin_recent(pyramid, run, part, recent, address))
        return false;
    recent->self += element->count * times;
    if (element->last_sub == TW_SUB_LINK && element->flags & TW_RANGE_EXECUTED)
        pyramid->levels[0][pyramid->tile].calls += times;
    return true;
}

static void take_tile_loss(struct tw_tile_sums *tile, const struct tw_element *element)
{
    switch (element->type) {
    case TW_ELEMENT_EXCEPTION:
        tile->exceptions++;
        break;
    case TW_ELEMENT_ADDR_NACC:
        tile->missing_code++;
        break;
    case TW_ELEMENT_ERROR:
        if (element->error == TW_ERROR_OVERFLOW)
            tile->overflows++;
        else if (element->error != TW_ERROR_UNSYNCED && element->error != TW_ERROR_UNPLACED)
            tile->errors++;
        break;
    case TW_ELEMENT_TRACE_ON:
        tile->overflows += element->reason == TW_TRACE_ON_OVERFLOW;
        break;
    case TW_ELEMENT_NO_SYNC:
        tile->discards += element->reason == TW_REASON_DISCARD;
        tile->overflows += element->reason == TW_REASON_OVERFLOW;
        tile->gaps += element->reason != TW_REASON_DISCARD &&
                      element->reason != TW_REASON_OVERFLOW &&
                      element->reason != TW_REASON_INIT;
        break;
    default:
        break;
    }
}

/* Another tile becomes the one at work; false: the element lies behind the end. */
static bool change_tile(struct tw_pyramid *pyramid, uint64_t index)
{
    const uint64_t number = index / pyramid->block;
    struct tw_tile_sums *tile;

    if (number >= pyramid->counts[0])
        return false;
    tw_pyramid_close_tile(pyramid);
    pyramid->tile = (size_t)number;
    pyramid->tile_from = number * pyramid->block;
    pyramid->tile_to = pyramid->tile_from + pyramid->block;
    if (pyramid->first_seen >= pyramid->end_seen) {
        pyramid->first_seen = (size_t)number;
        pyramid->end_seen = (size_t)number + 1;
    }
    if (number < pyramid->first_seen)
        pyramid->first_seen = (size_t)number;
    if (number >= pyramid->end_seen)
        pyramid->end_seen = (size_t)number + 1;
    tile = &pyramid->levels[0][number];
    if (!tile->is_seen) {
        tile->first = UINT64_MAX;
        tile->is_seen = true;
    }
    return true;
}

static inline bool go_to_tile(struct tw_pyramid *pyramid, uint64_t index)
{
    return (index >= pyramid->tile_from && index < pyramid->tile_to) ||
           change_tile(pyramid, index);
}

static bool take_tile_element(struct tw_pyramid *pyramid, struct tw_run *run,
                              const struct tw_part *part, size_t number)
{
    const struct tw_element *elements = part->batch.elements, *element = &elements[number];
    struct tw_tile_sums *tile = &pyramid->levels[0][pyramid->tile];

    switch (element->type) {
    case TW_ELEMENT_INSTR_RANGE:
        return take_pyramid_range(pyramid, run, part, element, 1);
    case TW_ELEMENT_REPEAT:
        for (size_t i = number - tw_repeat_reach(elements, number); i < number; i++)
            if (elements[i].type == TW_ELEMENT_INSTR_RANGE &&
                !take_pyramid_range(pyramid, run, part, &elements[i], element->times))
                return false;
        return true;
    case TW_ELEMENT_TIMESTAMP:
        tw_tile_take_time(tile, element->timestamp);
        return true;
    default:
        take_tile_loss(tile, element);
        return true;
    }
}

enum tw_status tw_pyramid_take(struct tw_pyramid *pyramid, struct tw_run *run,
                               const struct tw_part *part)
{
    if (part->kind != TW_PART_ELEMENTS) {
        pyramid->run = NULL; /* another run may come, with the same address */
        return TW_OK;
    }
    if (!part->source) /* markers of the frames: nothing that a tile tells of */
        return TW_OK;
    begin_part(pyramid, run, part);
    for (size_t i = 0; i < part->batch.count; i++)
        if (go_to_tile(pyramid, part->batch.elements[i].index) &&
            !take_tile_element(pyramid, run, part, i))
            return TW_E_MEMORY;
    return pyramid->is_out ? TW_E_MEMORY : TW_OK;
}

/* ---- sums ---- */

static void take_sums(void *context, struct tw_run *run, const struct tw_part *part,
                      uint64_t at, const struct tw_range_sum *sums, size_t count)
{
    struct tw_pyramid *pyramid = context;

    begin_part(pyramid, run, part);
    if (!go_to_tile(pyramid, at))
        return;
    for (size_t i = 0; i < count; i++)
        if (!sums[i].is_edge &&
            !take_pyramid_range(pyramid, run, part, &sums[i].range, sums[i].times))
            pyramid->is_out = true;
}

static void take_between(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct tw_pyramid *pyramid = context;

    if (tw_pyramid_take(pyramid, run, part) != TW_OK)
        pyramid->is_out = true;
}

static void forget_stretch(void *context)
{
    struct tw_pyramid *pyramid = context;
    const size_t end = (size_t)((pyramid->summed_to + pyramid->block - 1) / pyramid->block);

    tw_pyramid_close_tile(pyramid);
    for (size_t i = (size_t)(pyramid->summed_from / pyramid->block); i < end; i++)
        pyramid->levels[0][i] = (struct tw_tile_sums){ .is_seen = false };
}

enum tw_status tw_pyramid_sums(struct tw_pyramid *pyramid, struct tw_run_sums *sums,
                               uint64_t from, uint64_t to)
{
    if (from > to || to > pyramid->bytes || from % pyramid->block ||
        (to % pyramid->block && to != pyramid->bytes))
        return TW_E_ARGUMENT;
    pyramid->summed_from = from;
    pyramid->summed_to = to;
    *sums = (struct tw_run_sums){ .size = sizeof *sums,
                                  .block = pyramid->block,
                                  .from = from,
                                  .to = to,
                                  .context = pyramid,
                                  .sum = take_sums,
                                  .take = take_between,
                                  .forget = forget_stretch };
    return TW_OK;
}
