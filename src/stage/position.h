/* SPDX-License-Identifier: BSD-2-Clause */
/* From an offset in an ID's stream to the offset in the capture: a cursor over the places of a
   stretch of stream, made for offsets that mostly grow. */
#ifndef STAGE_POSITION_H
#define STAGE_POSITION_H

#include <trackway/frame.h>

#include "base/compiler.h"

/* Between auxiliary bytes 15 bytes lie together.  How many were passed is worked out, not looked up from one to the next: at
   which packet the next one comes no branch predictor foresees. */
struct tw_position {
    uint64_t from, until; /* offsets in this stretch ... */
    uint64_t delta;       /* ... lie at offset + delta in the capture ... */
    uint64_t origin;      /* ... and one further for each 15 bytes from here on ... */
    uint64_t scale;       /* ... unless this is 0: then they lie together */
    const struct tw_place *place, *first, *last;
};

/* x * scale >> shift is x / 15, where x has 32 bits. */
#define TW_POSITION_SCALE 0x88888889u
#define TW_POSITION_MOST  0xfffffff0u /* of x; a multiple of 15 */
enum { TW_POSITION_SHIFT = 35 };

/* No places at all: the stream is the capture. */
static inline void tw_position_init(struct tw_position *position, const struct tw_place *places,
                                    size_t count)
{
    static const struct tw_place everywhere = { .stream = 0 };

    position->first = position->place = count ? places : &everywhere;
    position->last = count ? places + count - 1 : &everywhere;
    position->from = 0;
    position->until = count ? 0 : UINT64_MAX;
    position->delta = position->origin = position->scale = 0;
}

/* The last place that begins at or before `offset`, or the first one. */
static inline const struct tw_place *tw_position_search(const struct tw_position *position,
                                                        uint64_t offset)
{
    const struct tw_place *low = position->first, *high = position->last;

    while (low < high) {
        const struct tw_place *middle = low + (high - low + 1) / 2;

        if (middle->stream <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Finds the stretch that holds `offset`; the cursor may stand anywhere. */
static inline void tw_position_find(struct tw_position *position, uint64_t offset)
{
    const struct tw_place *place = position->place, *const last = position->last;
    uint64_t until, into;

    if (TW_LIKELY(place + 1 < last && offset < place[2].stream && offset >= place[1].stream)) {
        place++; /* mostly the next one, and not the last */
        until = place[1].stream;
    } else {
        if (place->stream > offset || (place < last && place[1].stream <= offset))
            place = tw_position_search(position, offset);
        until = place < last ? place[1].stream : UINT64_MAX;
    }
    position->place = place;
    position->until = until;
    position->from = place->stream;
    position->delta = place->capture - place->stream;
    position->origin = position->scale = 0;
    if (place->first == 0 || until - place->stream <= place->first)
        return; /* no auxiliary byte is passed */
    position->origin = place->stream + place->first - 15;
    into = offset - position->origin;
    if (into >= TW_POSITION_MOST) {
        position->delta += into / 15;
        position->from = position->origin = offset - into % 15;
        into %= 15;
    }
    if (until - offset > TW_POSITION_MOST - into)
        position->until = offset + (TW_POSITION_MOST - into);
    position->scale = TW_POSITION_SCALE;
}

/* The same, apart: loops over long stretches have their registers for what they do inside of them. */
void tw_position_seek(struct tw_position *position, uint64_t offset);

/* The capture offset of a stream offset that lies in the stretch at hand. */
TW_INLINE uint64_t tw_position_in(const struct tw_position *position, uint64_t offset)
{
    if (!position->scale)
        return offset + position->delta;
    return offset + position->delta +
           ((offset - position->origin) * position->scale >> TW_POSITION_SHIFT);
}

/* The same for loops over the bytes of a stretch: by a byte's address instead of its offset, and without a
   branch. */
struct tw_position_line {
    uint64_t delta, scale, bias;
};

TW_INLINE struct tw_position_line tw_position_line(const struct tw_position *position,
                                                   const uint8_t *at, uint64_t offset)
{
    const uint64_t shift = (uint64_t)(uintptr_t)at - offset;

    return (struct tw_position_line){ .delta = position->delta - shift,
                                      .scale = position->scale,
                                      .bias =
                                          0 - (position->origin + shift) * position->scale };
}

TW_INLINE uint64_t tw_position_on(const struct tw_position_line *line, const uint8_t *at)
{
    const uint64_t address = (uint64_t)(uintptr_t)at;

    return address + line->delta + ((address * line->scale + line->bias) >> TW_POSITION_SHIFT);
}

/* The same where bytes mostly lie together. */
TW_INLINE uint64_t tw_position_short(const struct tw_position_line *line, const uint8_t *at)
{
    return TW_LIKELY(!line->scale) ? (uint64_t)(uintptr_t)at + line->delta
                                   : tw_position_on(line, at);
}

/* The capture offset of a stream offset. */
TW_INLINE uint64_t tw_position_at(struct tw_position *position, uint64_t offset)
{
    if (TW_UNLIKELY(offset - position->from >= position->until - position->from))
        tw_position_seek(position, offset);
    return tw_position_in(position, offset);
}

/* Where the place ends that the last offset asked for lies in: up to there no other ID's bytes come
   between in the capture. */
TW_INLINE uint64_t tw_position_place_end(const struct tw_position *position)
{
    return position->place < position->last ? position->place[1].stream : UINT64_MAX;
}

/* For loops over bytes that lie together: how far those from `offset` on do, and where their place ends.  From
   `stop` on to `end` the next stretches of 15 bytes lie one byte further each. */
struct tw_stretch {
    uint64_t delta; /* offset + delta is the offset in the capture */
    uint64_t stop, end;
};

static inline struct tw_stretch tw_position_stretch(struct tw_position *position,
                                                    uint64_t offset)
{
    const uint64_t delta = tw_position_at(position, offset) - offset;
    const uint64_t next = position->origin + 15 * (delta - position->delta + 1);

    return (struct tw_stretch){ .delta = delta,
                                .stop =
                                    position->scale && next - offset < position->until - offset
                                        ? next
                                        : position->until,
                                .end = tw_position_place_end(position) };
}

/* Whether one of the places is a discontinuity. */
static inline bool tw_position_has_gap(const struct tw_place *places, size_t count)
{
    for (; count > 0; count--, places++)
        if (places->is_discontinuity)
            return true;
    return false;
}

/* The first discontinuity at or after stream offset `from`; UINT64_MAX: none. */
static inline uint64_t tw_position_discontinuity(const struct tw_place *places, size_t count,
                                                 uint64_t from)
{
    size_t low = 0, high = count;

    while (low < high) { /* the first place at or after `from` */
        const size_t middle = low + (high - low) / 2;

        if (places[middle].stream < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < count; low++)
        if (places[low].is_discontinuity)
            return places[low].stream;
    return UINT64_MAX;
}

/* The discontinuity ahead of an offset that mostly grows, looked for once: places may be many between
   two of them.  All zero: nothing is known yet, as when there are other places. */
struct tw_gap_ahead {
    bool is_known;
    uint64_t from, gap; /* of every offset from the one to the other `gap` is the next */
};

/* The next discontinuity at or after stream offset `from` that was not acted on: `handled` is one more
   than the last that was.  It lies before or at `until`, where a place may stand whose bytes are still to
   come; UINT64_MAX: there is none. */
static inline uint64_t tw_gap_next(struct tw_gap_ahead *ahead, const struct tw_place *places,
                                   size_t count, uint64_t from, uint64_t handled,
                                   uint64_t until)
{
    const uint64_t first = handled > from ? handled : from;

    if (!ahead->is_known || first < ahead->from || first > ahead->gap)
        *ahead =
            (struct tw_gap_ahead){ .is_known = true,
                                   .from = first,
                                   .gap = tw_position_discontinuity(places, count, first) };
    return ahead->gap <= until ? ahead->gap : UINT64_MAX;
}

#endif
