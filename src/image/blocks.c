/* SPDX-License-Identifier: BSD-2-Clause */
/* The store of basic blocks: found by their address, linked to those that come after them. */
#include "image/blocks.h"

#include <string.h>

#include "base/memory.h"
#include "image/build_a64.h"
#include "image/image.h"
#include "image/quiet.h"
#include "image/sums.h"

enum {
    DEFAULT_RANGE_LIMIT = 1048576,
    RANGE_LIMIT_MAX = 1 << 28, /* a range's length in bytes fits 32 bits */
    FIRST_ROOM = 512,
    FIRST_SLOT_BITS = 10,
    SLOTS_IN_PAGE = 1024,
    LARGE_SLOT_BITS = 16,
    LARGE_ROOM = 1 << (LARGE_SLOT_BITS - 1)
};

/* The first free slot from the place where this hash belongs. */
static size_t free_slot(const struct tw_blocks *blocks, uint64_t hash)
{
    size_t at = (size_t)(hash >> blocks->slot_shift);

    while (blocks->slots[at])
        at = (at + 1) & (blocks->slot_room - 1);
    return at;
}

/* Puts a block where it is looked for; it is not there yet. */
static void put_slot(struct tw_blocks *blocks, uint32_t number)
{
    const struct tw_block *block = &blocks->blocks[number];
    const struct tw_block_more *more = &blocks->more[number];
    const uint64_t hash = tw_blocks_hash(block->start, block->isa, more->it_open);
    const uint32_t index = more->end == TW_BLOCK_WAYPOINT ? number : number | TW_BLOCK_BROKEN;

    blocks->slots[free_slot(blocks, hash)] = index | tw_slot_tag(hash);
}

/* The slot that will be looked for next, when a block is met for the first time. */
static void expect(const struct tw_blocks *blocks, uint64_t address, uint8_t isa)
{
    const uint64_t hash = tw_blocks_hash(address, isa, 0);

    TW_PREFETCH(&blocks->slots[hash >> blocks->slot_shift]);
}

/* Whether a table lies in the large page. */
static bool is_large(const struct tw_blocks *blocks, const void *table)
{
    return blocks->large && (uintptr_t)table - (uintptr_t)blocks->large < TW_LARGE_PAGE;
}

/* By how many bits tables grow that have so much room: each step moves and touches all of them, but most of what a large
   one gets may never be needed. */
static unsigned growth_bits(size_t room)
{
    return room < LARGE_ROOM ? 3 : 2;
}

/* Free slots, for the blocks that are there. */
static void set_slots(struct tw_blocks *blocks, uint32_t *slots, unsigned bits)
{
    blocks->slots = slots;
    blocks->slot_room = (size_t)1 << bits;
    blocks->slot_shift = 64 - bits;
    for (uint32_t number = TW_BLOCK_FIRST; number < blocks->count; number++)
        put_slot(blocks, number);
}

static bool grow_slots(struct tw_blocks *blocks)
{
    const struct tw_allocator *allocator = blocks->code->config.allocator;
    const bool is_first = blocks->slots == blocks->no_slots;
    const unsigned bits = is_first
                              ? FIRST_SLOT_BITS
                              : 64 - blocks->slot_shift + growth_bits(blocks->slot_room / 2);
    const size_t room = (size_t)1 << bits;
    uint32_t *larger = tw_take(allocator, room * sizeof *larger);

    if (!larger)
        return false;
    if (!is_first && !is_large(blocks, blocks->slots))
        tw_give(allocator, blocks->slots);
    /* Memory that is fresh is given page by page, and for what is read first twice: all of it will be needed. */
    for (size_t i = 0; i < room; i += SLOTS_IN_PAGE)
        larger[i] = 0;
    set_slots(blocks, larger, bits);
    return true;
}

bool tw_blocks_grow(const struct tw_blocks *blocks, void **items, size_t *room, size_t wanted,
                    size_t size)
{
    const struct tw_allocator *allocator = blocks->code->config.allocator;
    void *larger;

    if (wanted <= *room)
        return true;
    larger = tw_take(allocator, wanted * size); /* most of it may never be touched */
    if (!larger)
        return false;
    if (*room)
        memcpy(larger, *items, *room * size);
    tw_give(allocator, *items);
    *items = larger;
    *room = wanted;
    return true;
}

/* A block's ways are set when it is made: the rest is not touched. */
static bool grow_quiet(struct tw_blocks *blocks)
{
    struct tw_quiet_way *larger = tw_take_more(blocks->code->config.allocator, blocks->quiet,
                                               2 * blocks->room * sizeof *larger);

    if (!larger)
        return false;
    if (!blocks->quiet)
        memset(larger, 0, sizeof *larger * 2 * TW_BLOCK_FIRST);
    blocks->quiet = larger;
    return true;
}

/* A table of so many bytes in place of one of `held`; NULL: no memory. */
static void *grow_table(const struct tw_blocks *blocks, void *table, const void *none,
                        size_t held, size_t size)
{
    const struct tw_allocator *allocator = blocks->code->config.allocator;
    void *larger;

    if (table != none && !is_large(blocks, table))
        return tw_take_more(allocator, table, size);
    larger = tw_take_raw(allocator, size);
    if (larger && table != none)
        memcpy(larger, table, held);
    return larger;
}

/* Room for one more block. */
static bool grow_room(struct tw_blocks *blocks)
{
    const struct tw_code *code = blocks->code;
    const size_t before = blocks->room,
                 wanted = before ? before << growth_bits(before) : FIRST_ROOM;
    const size_t room = wanted < TW_BLOCKS_MAX ? wanted : TW_BLOCKS_MAX;
    const size_t link_size = 2 * sizeof *blocks->links;
    struct tw_block *larger = grow_table(blocks, blocks->blocks, code->no_blocks,
                                         before * sizeof *larger, room * sizeof *larger);
    struct tw_block_more *larger_more;
    uint32_t *larger_links;

    if (!larger)
        return false;
    blocks->blocks = larger;
    larger_links =
        grow_table(blocks, blocks->links, code->no_links, before * link_size, room * link_size);
    if (!larger_links)
        return false;
    blocks->links = larger_links;
    larger_more = grow_table(blocks, blocks->more, code->no_more, before * sizeof *larger_more,
                             room * sizeof *larger_more);
    if (!larger_more)
        return false;
    blocks->more = larger_more;
    blocks->room = room;
    return true;
}

/* Where a table of a large page begins; the next one is to begin at *at. */
static void *place_table(struct tw_blocks *blocks, size_t *at, void *table, size_t held,
                         size_t size)
{
    void *place = (uint8_t *)blocks->large + *at;

    *at += size;
    if (held)
        memcpy(place, table, held);
    if (table != blocks->no_slots)
        tw_give(blocks->code->config.allocator, table);
    return place;
}

/* A space that becomes large takes a page of the system's large ones for all its tables: fresh memory costs more than what
   is written there.  Only the first that needs it does, which need not be the first space: most of it may not be needed, and many
   sources with many spaces would take much.  False: as if it was not tried. */
static bool become_large(struct tw_blocks *blocks)
{
    const size_t before = blocks->room, link_size = 2 * sizeof *blocks->links;
    size_t at = 0;

    _Static_assert(
        LARGE_ROOM * (sizeof *blocks->blocks + sizeof *blocks->more + 4 * sizeof(uint32_t)) <=
            TW_LARGE_PAGE,
        "blocks, what goes with them, two links and two slots of each");
    if (!before || before << growth_bits(before) != LARGE_ROOM ||
        blocks->slot_room != 2 * before || blocks->code->has_large)
        return false;
    blocks->large = tw_take_large(blocks->code->config.allocator);
    if (!blocks->large)
        return false;
    blocks->code->has_large = true;
    blocks->blocks = place_table(blocks, &at, blocks->blocks, before * sizeof *blocks->blocks,
                                 LARGE_ROOM * sizeof *blocks->blocks);
    blocks->more = place_table(blocks, &at, blocks->more, before * sizeof *blocks->more,
                               LARGE_ROOM * sizeof *blocks->more);
    blocks->links =
        place_table(blocks, &at, blocks->links, before * link_size, LARGE_ROOM * link_size);
    blocks->slots = place_table(blocks, &at, blocks->slots, 0, 0);
    memset(blocks->slots, 0, 2 * LARGE_ROOM * sizeof *blocks->slots);
    blocks->room = LARGE_ROOM;
    set_slots(blocks, blocks->slots, LARGE_SLOT_BITS);
    return true;
}

static void drop_blocks(struct tw_blocks *blocks)
{
    blocks->count = TW_BLOCK_FIRST;
    tw_map_clear(&blocks->checkpoints);
    memset(blocks->slots, 0, blocks->slot_room * sizeof *blocks->slots);
}

static void drop_all(struct tw_code *code)
{
    if (code->sums)
        tw_sums_keep(code);
    for (size_t i = 0; i < code->space_count; i++)
        drop_blocks(code->spaces[i]);
    code->epoch++;
}

/* What is kept for each block beside what every space has. */
static bool grow_others(struct tw_blocks *blocks)
{
    const struct tw_code *code = blocks->code;

    if (code->config.has_decides) {
        uint8_t *larger = tw_take_more(code->config.allocator, blocks->decides, blocks->room);

        if (!larger)
            return false;
        blocks->decides = larger;
    }
    return (!code->sums || tw_sums_grow(blocks)) && (!code->quiet || grow_quiet(blocks));
}

/* Room in what every space has. */
static bool grow(struct tw_blocks *blocks)
{
    if (blocks->count >= blocks->room && !become_large(blocks) && !grow_room(blocks))
        return false;
    if (blocks->count >= blocks->slot_room / 2 && !grow_slots(blocks))
        return false;
    if (blocks->room > LARGE_ROOM) { /* nothing lies there any more */
        tw_give(blocks->code->config.allocator, blocks->large);
        blocks->large = NULL;
    }
    return true;
}

/* Room for one block more than `limit`. */
static bool make_room(struct tw_blocks *blocks)
{
    if (blocks->count >= TW_BLOCKS_MAX)
        drop_all(blocks->code);
    if (!grow(blocks) || !grow_others(blocks)) {
        blocks->code->out_of_memory = true;
        return false;
    }
    blocks->limit =
        (uint32_t)(blocks->room < blocks->slot_room / 2 ? blocks->room : blocks->slot_room / 2);
    return true;
}

/* The block is not there: its slot, the free one at `slot`, is filled. */
TW_INLINE uint32_t new_block(struct tw_blocks *blocks, size_t slot, uint64_t address,
                             uint8_t isa, uint8_t it_open)
{
    struct tw_code *code = blocks->code;
    const uint64_t hash = tw_blocks_hash(address, isa, it_open);
    uint32_t number, index = 0;

    if (TW_UNLIKELY(code->out_of_memory))
        return 0;
    if (TW_UNLIKELY(blocks->count >= blocks->limit)) {
        if (!make_room(blocks))
            return 0;
        slot = free_slot(blocks, hash);
    }
    number = blocks->count;
    if (blocks->quiet)
        memset(&blocks->quiet[2 * (size_t)number], 0, 2 * sizeof *blocks->quiet);
    if (TW_LIKELY(code->simple_isas >> isa & 1))
        index = isa == TW_ISA_A64 ? tw_block_build_a64(blocks, number, address)
                                  : tw_block_build_arm(blocks, number, address, isa, it_open);
    if (TW_UNLIKELY(!index))
        index = tw_block_build(blocks, number, address, isa, it_open);
    blocks->count = number + 1;
    expect(blocks, blocks->more[number].target, isa);
    expect(blocks, address + blocks->blocks[number].length, isa);
    blocks->slots[slot] = index | tw_slot_tag(hash);
    return index;
}

/* A64 is most of what is decoded: apart, so that the compiler knows it. */
static TW_NOINLINE uint32_t new_a64(struct tw_blocks *blocks, size_t slot, uint64_t address)
{
    return new_block(blocks, slot, address, TW_ISA_A64, 0);
}

static TW_NOINLINE uint32_t new_other(struct tw_blocks *blocks, size_t slot, uint64_t address,
                                      uint8_t isa, uint8_t it_open)
{
    return new_block(blocks, slot, address, isa, it_open);
}

static uint32_t find_a64(struct tw_blocks *blocks, uint64_t address)
{
    size_t slot = 0;
    const uint32_t known = tw_blocks_probe(blocks, &slot, address, TW_ISA_A64, 0);

    return known ? known : new_a64(blocks, slot, address);
}

static uint32_t find_other(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                           uint8_t it_open)
{
    size_t slot = 0;
    const uint32_t known = tw_blocks_probe(blocks, &slot, address, isa, it_open);

    return known ? known : new_other(blocks, slot, address, isa, it_open);
}

uint32_t tw_blocks_find(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                        uint8_t it_open)
{
    return isa == TW_ISA_A64 ? find_a64(blocks, address)
                             : find_other(blocks, address, isa, it_open);
}

uint32_t tw_blocks_target(struct tw_blocks *blocks, uint32_t block)
{
    const struct tw_block_more *more = &blocks->more[block];
    const uint64_t epoch = blocks->code->epoch;
    uint32_t found = more->taken;

    if (!found) {
        found = tw_blocks_find(blocks, more->target, (uint8_t)more->target_isa, 0);
        if (epoch == blocks->code->epoch)
            blocks->more[block].taken = found;
    }
    return found;
}

uint32_t tw_blocks_link(struct tw_blocks *blocks, uint32_t block, unsigned taken)
{
    const struct tw_block *from = &blocks->blocks[block];
    const struct tw_block_more *more = &blocks->more[block];
    const uint64_t epoch = blocks->code->epoch;
    const struct tw_element shape = { .last = from->last };
    const bool is_there = taken && shape.last_kind == TW_LAST_BR; /* at the target */
    const uint64_t after = from->start + from->length;
    uint32_t found;

    if (TW_LIKELY(from->isa == TW_ISA_A64))
        found = find_a64(blocks, is_there ? more->target : after);
    else if (is_there)
        found = tw_blocks_find(blocks, more->target, (uint8_t)more->target_isa, 0);
    else
        found = find_other(blocks, tw_code_wrap(after, from->isa), from->isa,
                           (uint8_t)more->it_remaining);
    if (TW_LIKELY(epoch == blocks->code->epoch && found)) /* else `block` is no more */
        blocks->links[2 * block + taken] = found;
    return found;
}

/* A space without blocks. */
static void init_space(struct tw_blocks *blocks, struct tw_code *code,
                       const struct tw_view *view)
{
    blocks->view = *view;
    blocks->code = code;
    blocks->checkpoints.allocator = code->config.allocator;
    blocks->blocks = code->no_blocks;
    blocks->links = code->no_links;
    blocks->more = code->no_more;
    blocks->count = TW_BLOCK_FIRST;
    blocks->slots = blocks->no_slots;
    blocks->slot_room = 2;
    blocks->slot_shift = 63;
}

enum tw_status tw_code_new(struct tw_code **code, struct tw_image *image,
                           const struct tw_code_config *config)
{
    struct tw_code *made = tw_take(config->allocator, sizeof *made);

    *code = made;
    if (!made)
        return TW_E_MEMORY;
    made->image = image;
    made->config = *config;
    if (!made->config.range_limit)
        made->config.range_limit = DEFAULT_RANGE_LIMIT;
    if (made->config.range_limit > RANGE_LIMIT_MAX)
        made->config.range_limit = RANGE_LIMIT_MAX;
    made->space_by_view.allocator = made->config.allocator;
    made->simple_isas = tw_code_simple_isas(made);
    made->generation = image ? tw_image_generation(image) : 0;
    return TW_OK;
}

static void free_table(struct tw_blocks *blocks, void *table, const void *none)
{
    if (table != none && !is_large(blocks, table))
        tw_give(blocks->code->config.allocator, table);
}

void tw_code_free(struct tw_code *code)
{
    const struct tw_allocator *allocator;

    if (!code)
        return;
    allocator = code->config.allocator;
    tw_sums_free(code);
    for (size_t i = 0; i < code->space_count; i++) {
        struct tw_blocks *blocks = code->spaces[i];

        free_table(blocks, blocks->blocks, code->no_blocks);
        free_table(blocks, blocks->links, code->no_links);
        free_table(blocks, blocks->more, code->no_more);
        free_table(blocks, blocks->slots, blocks->no_slots);
        tw_give(allocator, blocks->large);
        tw_give(allocator, blocks->decides);
        tw_map_free(&blocks->checkpoints);
        tw_give(allocator, blocks->ways);
        tw_give(allocator, blocks->places);
        tw_give(allocator, blocks->steps);
        tw_give(allocator, blocks->step_lengths);
        tw_give(allocator, blocks->quiet);
        tw_give(allocator, blocks);
    }
    tw_map_free(&code->space_by_view);
    tw_give(allocator, code->quiet);
    tw_give(allocator, code->spaces);
    tw_give(allocator, code);
}

static uint64_t hash_view(const struct tw_view *view)
{
    return tw_hash64(tw_hash64(view->time) ^ view->context ^ (uint64_t)view->space << 32);
}

struct tw_blocks *tw_code_space(struct tw_code *code, const struct tw_view *view)
{
    struct tw_blocks *blocks = NULL;
    uint64_t *number = NULL;

    for (uint64_t key = hash_view(view);; key++) {
        number = tw_map_put(&code->space_by_view, key);
        if (!number || !*number)
            break;
        blocks = code->spaces[*number - 1];
        if (blocks->view.space == view->space && blocks->view.context == view->context &&
            blocks->view.time == view->time)
            return blocks;
    }
    if (!number ||
        !TW_GROW(code->config.allocator, &code->spaces, &code->space_room,
                 code->space_count + 1) ||
        !(blocks = tw_take(code->config.allocator, sizeof *blocks))) {
        code->out_of_memory = true;
        init_space(&code->spare, code, view);
        return &code->spare;
    }
    init_space(blocks, code, view);
    code->spaces[code->space_count++] = blocks;
    *number = blocks->number = (uint32_t)code->space_count;
    return blocks;
}

void tw_code_refresh(struct tw_code *code)
{
    const uint64_t now = code->image ? tw_image_generation(code->image) : 0;

    if (now == code->generation)
        return;
    code->generation = now;
    drop_all(code);
}
