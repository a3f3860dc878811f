/* SPDX-License-Identifier: BSD-2-Clause */
/* Counting for fuzzers: what ways and steps were counted goes straight to the bytes of a map. */
#include "image/sums.h"

/* What struct tw_blocks.places holds beside a byte's number. */
enum { PLACE_UNKNOWN, PLACE_NONE, PLACE_FIRST };

bool tw_sums_set_bytes(struct tw_code *code, struct tw_sum_bytes *bytes)
{
    bool is_set = true;

    code->sums->bytes = bytes;
    for (size_t i = 0; i < code->space_count; i++)
        is_set = tw_sums_grow(code->spaces[i]) && is_set;
    return is_set;
}

/* A jump that uses up no decision is taken, whatever the next one is. */
static uint32_t place_of(struct tw_blocks *blocks, uint32_t way)
{
    const struct tw_block *block = &blocks->blocks[way / 2];
    const struct tw_sums *sums = blocks->code->sums;
    const struct tw_sum_bytes *bytes = sums->bytes;
    struct tw_element range;

    if (TW_LIKELY(blocks->places[way] != PLACE_UNKNOWN))
        return blocks->places[way];
    tw_block_range(
        &range, block,
        (way & 1) || (sums->jumps_are_free && !(block->flags & TW_RANGE_CONDITIONAL)), 0);
    /* TW_SUM_NO_BYTE comes to PLACE_NONE. */
    return blocks->places[way] = bytes->find(bytes->context, &range) + PLACE_FIRST;
}

TW_INLINE uint32_t fits_byte(uint32_t times)
{
    return times < UINT8_MAX ? times : UINT8_MAX;
}

/* Adds what fits a byte; whether it was 0. */
TW_INLINE uint32_t add_to_byte(uint8_t *bytes, uint32_t place, uint32_t times)
{
    uint8_t *const byte = bytes + place - PLACE_FIRST;
    const uint32_t value = *byte;

    *byte = (uint8_t)fits_byte(value + times);
    return !value;
}

void tw_sums_way_to_byte(struct tw_blocks *blocks, uint32_t way, uint32_t times)
{
    struct tw_sum_bytes *bytes = blocks->code->sums->bytes;
    const uint32_t place = place_of(blocks, way);

    bytes->instructions += (uint64_t)blocks->blocks[way / 2].count * times;
    if (place != PLACE_NONE)
        bytes->count += add_to_byte(bytes->bytes, place, fits_byte(times));
}

/* What a step adds: bytes that were 0. */
struct added {
    uint64_t instructions;
    uint32_t count;
};

/* All ways that a step is made of.  Called for hundreds in a row, each made but a few times. */
TW_INLINE struct added add_step(struct tw_blocks *blocks, uint8_t *bytes, uint32_t number,
                                uint32_t times, const uint32_t all_decide)
{
    const uint32_t some = fits_byte(times);
    uint32_t decisions = number % TW_STEP_WORDS, at = number / TW_STEP_WORDS;
    const struct tw_block *const all = blocks->blocks;
    const uint32_t *const links = blocks->links;
    const uint32_t *const places = blocks->places;
    struct added added = { .count = 0 };

    do {
        const struct tw_block *block = &all[at];
        const uint32_t decides =
            all_decide | (block->flags >> 1 & 1); /* TW_RANGE_CONDITIONAL */
        const uint32_t taken = decisions & 1, way = at * 2 + taken;
        uint32_t place = places[way];

        added.instructions += block->count;
        if (TW_LIKELY(place >= PLACE_FIRST) || (place = place_of(blocks, way)) != PLACE_NONE)
            added.count += add_to_byte(bytes, place, some);
        decisions >>= decides;
        at = links[way]; /* a jump's two links are the same */
    } while (decisions != 1);
    added.instructions *= times;
    return added;
}

TW_INLINE void add_steps(struct tw_code *code, const uint32_t all_decide)
{
    struct tw_sums *sums = code->sums;
    struct tw_sum_bytes *const to = sums->bytes;
    uint64_t instructions = to->instructions;
    uint32_t count = to->count;

    for (size_t i = 0; i < sums->step_count; i++) {
        const uint64_t summed = sums->steps[i];
        struct tw_blocks *blocks = code->spaces[(summed >> 32) - 1];
        struct tw_step_sum *step = &blocks->steps[(uint32_t)summed];

        if (TW_LIKELY(step->times)) {
            const struct added added =
                add_step(blocks, to->bytes, (uint32_t)summed, step->times, all_decide);

            instructions += added.instructions;
            count += added.count;
        }
        step->times = 0;
    }
    sums->step_count = 0;
    to->instructions = instructions;
    to->count = count;
}

void tw_sums_steps_to_bytes(struct tw_code *code)
{
    if (code->sums->jumps_are_free)
        add_steps(code, 0);
    else
        add_steps(code, 1);
}
