/* SPDX-License-Identifier: BSD-2-Clause */
/* Basic blocks: the only place that reads program memory and classifies instructions. */
#include "image/blocks.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "image/image.h"
#include "isa/data.h"

enum {
    DEFAULT_RANGE_LIMIT = 1048576,
    RANGE_LIMIT_MAX = 1 << 28,    /* a range's length in bytes fits 32 bits */
    BLOCKS_MAX = 4 * 1024 * 1024, /* then all are thrown away */
    SLOT_GROWTH_BITS = 2,
    SLOT_GROWTH = 1 << SLOT_GROWTH_BITS,
    FIRST_SLOT_BITS = 10,
    FIRST_SLOTS = 1 << FIRST_SLOT_BITS,
    CHECKPOINT_STEP = 1024 /* bytes */
};

/* A checkpoint is a place inside a long block, at a multiple of CHECKPOINT_STEP or just behind it.
   A block that starts elsewhere and comes by here ends where that one does; without these, trace
   that jumps about in a large area without waypoints (data, zeros) would cost a walk through all of
   it for each jump.  Value: the block's number; above it, its instructions before the place. */
static bool is_checkpoint(uint64_t address)
{
    return address % CHECKPOINT_STEP < 4;
}

static uint64_t checkpoint_key(uint64_t address, uint8_t isa)
{
    return address ^ (uint64_t)isa << 56;
}

/* A walk from instruction to instruction through what lies together in host memory. */
struct walk {
    struct tw_blocks *blocks;
    const uint8_t *bytes;
    size_t left;
    uint64_t address;
    uint8_t isa;
    uint8_t it_open;
    struct tw_rv_instruction rv, rv_previous; /* RISC-V: the last two instructions */
};

static bool is_rv(uint8_t isa)
{
    return isa == TW_ISA_RV32 || isa == TW_ISA_RV64;
}

/* Addresses wrap at 32 bits in all instruction sets but two. */
static uint64_t wrap(uint64_t address, uint8_t isa)
{
    return isa == TW_ISA_A64 || isa == TW_ISA_RV64 ? address : address & UINT32_MAX;
}

/* Member by member: the RISC-V ones are large, and mostly not used. */
static void begin_walk(struct walk *walk, struct tw_blocks *blocks, uint64_t address,
                       uint8_t isa)
{
    walk->blocks = blocks;
    walk->bytes = NULL;
    walk->left = 0;
    walk->address = address;
    walk->isa = isa;
    walk->it_open = 0;
    if (is_rv(isa)) {
        memset(&walk->rv, 0, sizeof walk->rv);
        memset(&walk->rv_previous, 0, sizeof walk->rv_previous);
    }
}

static struct tw_block_slot *slot_of(const struct tw_blocks *blocks, uint64_t address,
                                     uint8_t isa, uint8_t it_open)
{
    size_t at = (size_t)(tw_blocks_hash(address, isa, it_open) >> blocks->slot_shift);

    while (blocks->slots[at].index &&
           !tw_blocks_match(blocks, &blocks->slots[at], address, isa, it_open))
        at = (at + 1) & (blocks->slot_room - 1);
    return &blocks->slots[at];
}

/* Puts a block where it is looked for; it is not there yet. */
static void put_slot(struct tw_blocks *blocks, uint32_t index)
{
    const uint32_t number = index & ~TW_BLOCK_BROKEN;
    const struct tw_block *block = &blocks->blocks[number];
    const uint64_t hash =
        tw_blocks_hash(block->start, block->isa, blocks->more[number].it_open);
    size_t at = (size_t)(hash >> blocks->slot_shift);

    while (blocks->slots[at].index)
        at = (at + 1) & (blocks->slot_room - 1);
    blocks->slots[at] = (struct tw_block_slot){ (uint32_t)hash, index };
}

static bool grow_slots(struct tw_blocks *blocks)
{
    const struct tw_allocator *allocator = blocks->code->config.allocator;
    struct tw_block_slot *old = blocks->slots;
    const size_t old_room = blocks->slot_room;
    struct tw_block_slot *larger;

    if (blocks->count < old_room / 2)
        return true;
    larger =
        tw_take(allocator, (old_room ? old_room * SLOT_GROWTH : FIRST_SLOTS) * sizeof *larger);
    if (!larger)
        return false;
    blocks->slots = larger;
    blocks->slot_room = old_room ? old_room * SLOT_GROWTH : FIRST_SLOTS;
    blocks->slot_shift =
        old_room ? blocks->slot_shift - SLOT_GROWTH_BITS : 64 - FIRST_SLOT_BITS;
    for (size_t i = 0; i < old_room; i++)
        if (old[i].index)
            put_slot(blocks, old[i].index);
    tw_give(allocator, old);
    return true;
}

/* The opcode at the walk's place as the classifiers take it; false: not accessible. */
static bool fetch(struct walk *walk, uint32_t *opcode, uint8_t *size)
{
    struct tw_blocks *blocks = walk->blocks;
    const bool is_riscv = is_rv(walk->isa);
    const unsigned need =
        walk->isa == TW_ISA_T32 || walk->isa == TW_ISA_TEE || is_riscv ? 2 : 4;
    uint8_t copy[4];
    const uint8_t *at;
    size_t have = walk->left;

    if (have < 4) {
        if (have == 0 && blocks->code->image)
            have =
                tw_image_find(blocks->code->image, &walk->bytes, &blocks->view, walk->address);
        walk->left = have;
    }
    at = walk->bytes;
    if (have < 4) { /* near the end of a region: it may go on in another one */
        if (!blocks->code->image)
            return false;
        have = tw_image_read(blocks->code->image, copy, &blocks->view, walk->address, 4);
        at = copy;
    }
    if (have < need)
        return false;
    *size = 4;
    if (need == 4) {
        *opcode = tw_load_le32(at);
        return true;
    }
    *opcode = tw_load_le16(at);
    *size = is_riscv ? tw_rv_size((uint16_t)*opcode) : tw_t32_size((uint16_t)*opcode);
    if (*size == 4) {
        if (have < 4)
            return false;
        *opcode = is_riscv ? tw_load_le32(at) : *opcode << 16 | tw_load_le16(at + 2);
    }
    return true;
}

static void classify(struct walk *walk, struct tw_instruction *out, uint32_t opcode)
{
    const struct tw_isa_options *options = &walk->blocks->code->config.isa;

    switch (walk->isa) {
    case TW_ISA_A64:
        tw_a64_classify(out, opcode, walk->address, options);
        break;
    case TW_ISA_A32:
        tw_a32_classify(out, opcode, walk->address, options);
        break;
    case TW_ISA_RV32:
    case TW_ISA_RV64:
        walk->rv_previous = walk->rv;
        tw_rv_classify(&walk->rv, opcode, walk->address, walk->isa,
                       &walk->blocks->code->config.rv);
        *out = walk->rv.flow;
        break;
    default:
        tw_t32_classify(out, opcode, walk->address, walk->it_open, options);
        if (walk->blocks->code->config.ignores_it)
            out->it_remaining = 0;
    }
}

/* What the instruction loads and stores. */
static void set_transfers(const struct walk *walk, struct tw_block_more *more, uint32_t opcode)
{
    struct tw_data_access access = { .count = 0 };

    if (walk->isa == TW_ISA_A32)
        tw_a32_data(&access, opcode);
    else if (walk->isa != TW_ISA_A64)
        tw_t32_data(&access, opcode);
    more->transfers = access.count;
    more->transfer_flags =
        (uint8_t)((access.size & TW_TRANSFER_SIZE) | (access.is_load ? TW_TRANSFER_LOADS : 0) |
                  (access.is_store ? TW_TRANSFER_STORES : 0) |
                  (access.is_coprocessor ? TW_TRANSFER_COPROCESSOR : 0) |
                  (access.has_pc ? TW_TRANSFER_HAS_PC : 0));
}

static void advance(struct walk *walk, unsigned size)
{
    walk->address = wrap(walk->address + size, walk->isa);
    if (walk->left > size) {
        walk->bytes += size;
        walk->left -= size;
    } else {
        walk->left = 0;
    }
}

/* The range limit ends the block being built inside a known one: goes on at the last checkpoint of
   that one before the limit.  `here` is the checkpoint at the walk's place. */
static void go_near_limit(struct walk *walk, struct tw_block *block, uint64_t here)
{
    const struct tw_map *checkpoints = &walk->blocks->checkpoints;
    const uint32_t left = walk->blocks->code->config.range_limit - block->count;
    uint64_t last = 0, steps = 0;

    for (uint64_t step = CHECKPOINT_STEP;; step += CHECKPOINT_STEP) {
        const uint64_t key = checkpoint_key(walk->address + step, walk->isa);
        const uint64_t *next = tw_map_find(checkpoints, key);

        if (!next || (uint32_t)*next != (uint32_t)here || (*next >> 32) - (here >> 32) >= left)
            break;
        last = *next;
        steps = step;
    }
    if (steps) {
        block->count += (uint32_t)((last >> 32) - (here >> 32));
        advance(walk, (unsigned)steps);
        walk->left = 0;
    }
}

/* Where the block being built can go on behind a known long block's end.  True: it ends there
   too, and is finished. */
static bool use_checkpoint(struct walk *walk, struct tw_block *block,
                           struct tw_block_more *more)
{
    struct tw_blocks *blocks = walk->blocks;
    const uint32_t limit = blocks->code->config.range_limit;
    const uint64_t *found =
        tw_map_find(&blocks->checkpoints, checkpoint_key(walk->address, walk->isa));
    const struct tw_block *known;

    if (!found || block->count >= limit)
        return false;
    known = &blocks->blocks[(uint32_t)*found];
    if (known->isa != walk->isa || walk->address - known->start >= known->length)
        return false; /* keys may meet */
    if (known->count - (uint32_t)(*found >> 32) > limit - block->count) {
        go_near_limit(walk, block, *found);
        return false;
    }
    block->count += known->count - (uint32_t)(*found >> 32);
    advance(walk, (unsigned)(known->start + known->length - walk->address));
    walk->left = 0;
    *more = blocks->more[(uint32_t)*found];
    block->last = known->last;
    block->flags = known->flags;
    return more->end != TW_BLOCK_RUNAWAY;
}

static void add_checkpoint(struct walk *walk, uint32_t index, uint32_t count_before)
{
    struct tw_map *checkpoints = &walk->blocks->checkpoints;
    uint64_t *value = tw_map_put(checkpoints, checkpoint_key(walk->address, walk->isa));

    if (value) /* else only slower */
        *value = index | (uint64_t)count_before << 32;
}

static void set_last(struct tw_block *block, const struct tw_instruction *instruction)
{
    struct tw_element shape = { .index = 0 };

    tw_range_set_last(&shape, instruction);
    block->last = shape.last;
    block->flags = shape.flags;
}

/* RISC-V: targets that stand in a table, or in the instruction before the jump. */
static void find_rv_target(struct walk *walk, struct tw_block_more *more)
{
    struct tw_blocks *blocks = walk->blocks;
    const size_t width = walk->isa == TW_ISA_RV64 ? 8 : 4;
    uint8_t word[8] = { 0 };

    if (walk->rv.is_table_jump) {
        if (tw_image_read(blocks->code->image, word, &blocks->view, walk->rv.table_entry,
                          width) == width)
            more->target = tw_load_le64(word) & ~(uint64_t)1;
        else
            more->is_indirect = true; /* not to be known */
    } else if (walk->rv.is_uninferable) {
        more->is_sequential =
            tw_rv_sequential_target(&more->target, &walk->rv, &walk->rv_previous);
    }
}

/* Passes A64 instructions that are neither branches nor of the system: op0 (bits 28:26) of those
   is 101, and no other one can end a block.  Stops short of the next checkpoint and of the limit,
   at the end of what lies together, or at the first one of another kind. */
static void skip_plain_a64(struct walk *walk, struct tw_block *block, uint32_t limit)
{
    const struct tw_instruction plain = { .size = 4, .kind = TW_FLOW_OTHER };
    const uint64_t to_checkpoint = CHECKPOINT_STEP - walk->address % CHECKPOINT_STEP;
    const size_t bytes = walk->left < to_checkpoint ? walk->left : (size_t)to_checkpoint;
    const uint32_t most =
        limit - block->count < bytes / 4 ? limit - block->count : (uint32_t)(bytes / 4);
    uint32_t n = 0;

    while (n < most && (tw_load_le32(walk->bytes + 4 * (size_t)n) >> 26 & 7) != 5)
        n++;
    if (n) {
        block->count += n;
        set_last(block, &plain);
        advance(walk, 4 * n);
    }
}

/* Walks from the block's start to its end.  `index` is what the block will be called. */
static void build(struct walk *walk, struct tw_block *block, struct tw_block_more *more,
                  uint32_t index)
{
    const struct tw_code_config *config = &walk->blocks->code->config;
    const bool is_plain_a64 =
        walk->isa == TW_ISA_A64 && !config->check_opcodes && !config->single_steps;
    struct tw_instruction instruction = { .size = 0 };
    uint32_t opcode;
    uint8_t size;

    if (is_plain_a64 && walk->blocks->code->image)
        walk->left = tw_image_find(walk->blocks->code->image, &walk->bytes, &walk->blocks->view,
                                   walk->address);
    for (;;) {
        if (is_checkpoint(walk->address) && block->count && !walk->it_open) {
            if (use_checkpoint(walk, block, more))
                break;
            if (is_checkpoint(walk->address))
                add_checkpoint(walk, index, block->count);
        }
        if (block->count >= config->range_limit) {
            more->end = TW_BLOCK_RUNAWAY;
            break;
        }
        if (is_plain_a64 && walk->left) {
            const uint32_t before = block->count;

            skip_plain_a64(walk, block, config->range_limit);
            if (block->count != before)
                continue;
        }
        if (!fetch(walk, &opcode, &size)) {
            more->end = TW_BLOCK_UNREADABLE;
            break;
        }
        if (config->check_opcodes && walk->isa == TW_ISA_A64 && !(opcode >> 16)) {
            more->end = TW_BLOCK_NO_CODE;
            break;
        }
        classify(walk, &instruction, opcode);
        if (config->has_transfers)
            set_transfers(walk, more, opcode);
        advance(walk, size);
        walk->it_open = instruction.it_remaining;
        block->count++;
        set_last(block, &instruction);
        if (instruction.is_waypoint || config->single_steps) {
            more->end = TW_BLOCK_WAYPOINT;
            break;
        }
    }
    block->length = (uint32_t)(walk->address - block->start);
    if (more->end != TW_BLOCK_WAYPOINT || !(instruction.is_waypoint || config->single_steps))
        return;
    more->target = instruction.target;
    more->target_isa = instruction.target_isa;
    more->it_remaining = instruction.it_remaining;
    more->is_link = instruction.is_link;
    more->is_return = instruction.is_return;
    more->is_exception_return = instruction.is_exception_return;
    more->is_indirect = instruction.kind == TW_FLOW_INDIRECT;
    if (is_rv(walk->isa))
        find_rv_target(walk, more);
}

static void set_links(const struct tw_code_config *config, struct tw_block *block,
                      const struct tw_block_more *more)
{
    block->next[0] = block->next[1] = TW_NEXT_UNKNOWN;
    if (more->is_indirect)
        block->next[1] = TW_NEXT_NEEDED;
    if ((config->links_are_special && more->is_link) ||
        (config->exception_returns_are_special && more->is_exception_return))
        block->next[1] = TW_NEXT_SPECIAL;
    if (config->check_atoms && !(block->flags & TW_RANGE_CONDITIONAL) &&
        more->end == TW_BLOCK_WAYPOINT)
        block->next[0] = TW_NEXT_SPECIAL;
}

static void drop_blocks(struct tw_blocks *blocks)
{
    blocks->count = TW_BLOCK_FIRST;
    tw_map_clear(&blocks->checkpoints);
    if (blocks->slot_room)
        memset(blocks->slots, 0, blocks->slot_room * sizeof *blocks->slots);
}

static void drop_all(struct tw_code *code)
{
    for (size_t i = 0; i < code->space_count; i++)
        drop_blocks(code->spaces[i]);
    code->epoch++;
}

static uint32_t new_block(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                          uint8_t it_open)
{
    struct tw_code *code = blocks->code;
    struct tw_block block = { .start = address, .type = TW_ELEMENT_INSTR_RANGE, .isa = isa };
    struct tw_block_more more = { .it_open = it_open };
    struct walk walk;
    uint32_t index;

    if (blocks->count >= BLOCKS_MAX)
        drop_all(code);
    index = blocks->count;
    if (!TW_GROW(code->config.allocator, &blocks->blocks, &blocks->room,
                 (size_t)index + FIRST_SLOTS / 2) ||
        !TW_GROW(code->config.allocator, &blocks->more, &blocks->more_room,
                 (size_t)index + FIRST_SLOTS / 2) ||
        !grow_slots(blocks)) {
        code->out_of_memory = true;
        return 0;
    }
    begin_walk(&walk, blocks, address, isa);
    walk.it_open = it_open;
    build(&walk, &block, &more, index);
    more.it_open = it_open;
    set_links(&code->config, &block, &more);
    blocks->blocks[index] = block;
    blocks->more[index] = more;
    if (more.end != TW_BLOCK_WAYPOINT)
        index |= TW_BLOCK_BROKEN;
    put_slot(blocks, index);
    blocks->count++;
    return index;
}

uint32_t tw_blocks_find(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                        uint8_t it_open)
{
    if (blocks->slot_room) {
        const struct tw_block_slot *slot = slot_of(blocks, address, isa, it_open);

        if (TW_LIKELY(slot->index))
            return slot->index;
    }
    return new_block(blocks, address, isa, it_open);
}

uint32_t tw_blocks_target(struct tw_blocks *blocks, uint32_t block)
{
    const struct tw_block_more *more = &blocks->more[block];
    const uint64_t epoch = blocks->code->epoch;
    uint32_t found = more->taken;

    if (!found) {
        found = tw_blocks_find(blocks, more->target, more->target_isa, 0);
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
    const uint64_t after = wrap(from->start + from->length, from->isa);
    uint32_t found;
    struct tw_element shape;

    shape.last = from->last;
    if (taken && shape.last_kind == TW_LAST_BR)
        found = tw_blocks_find(blocks, more->target, more->target_isa, 0);
    else
        found = tw_blocks_find(blocks, after, from->isa, more->it_remaining);
    if (epoch == blocks->code->epoch && found) /* else `block` is no more */
        blocks->blocks[block].next[taken] = found;
    return found;
}

bool tw_code_opcode(struct tw_blocks *blocks, uint32_t *opcode, uint8_t *size, uint64_t address,
                    uint8_t isa)
{
    struct walk walk;

    begin_walk(&walk, blocks, address, isa);
    return fetch(&walk, opcode, size);
}

bool tw_code_instruction(struct tw_blocks *blocks, struct tw_instruction *out, uint64_t address,
                         uint8_t isa, uint8_t it_open)
{
    struct walk walk;
    uint32_t opcode;
    uint8_t size;

    begin_walk(&walk, blocks, address, isa);
    walk.it_open = it_open;
    if (!fetch(&walk, &opcode, &size))
        return false;
    classify(&walk, out, opcode);
    return true;
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
    made->generation = image ? tw_image_generation(image) : 0;
    return TW_OK;
}

void tw_code_free(struct tw_code *code)
{
    const struct tw_allocator *allocator;

    if (!code)
        return;
    allocator = code->config.allocator;
    for (size_t i = 0; i < code->space_count; i++) {
        struct tw_blocks *blocks = code->spaces[i];

        tw_give(allocator, blocks->blocks);
        tw_give(allocator, blocks->more);
        tw_give(allocator, blocks->slots);
        tw_map_free(&blocks->checkpoints);
        tw_give(allocator, blocks);
    }
    tw_give(allocator, code->spaces);
    tw_give(allocator, code);
}

struct tw_blocks *tw_code_space(struct tw_code *code, const struct tw_view *view)
{
    struct tw_blocks *blocks;

    for (size_t i = 0; i < code->space_count; i++) {
        const struct tw_view *known = &code->spaces[i]->view;

        if (known->space == view->space && known->context == view->context &&
            known->time == view->time)
            return code->spaces[i];
    }
    if (!TW_GROW(code->config.allocator, &code->spaces, &code->space_room,
                 code->space_count + 1) ||
        !(blocks = tw_take(code->config.allocator, sizeof *blocks))) {
        code->out_of_memory = true;
        return NULL;
    }
    blocks->view = *view;
    blocks->code = code;
    blocks->checkpoints.allocator = code->config.allocator;
    blocks->count = TW_BLOCK_FIRST;
    code->spaces[code->space_count++] = blocks;
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
