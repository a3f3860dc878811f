/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds a basic block: the only place that reads program memory and classifies instructions. */
#include "image/build.h"

#include <string.h>

#include "base/bytes.h"
#include "image/image.h"
#include "isa/data.h"

/* A checkpoint is a place inside a long block, at a multiple of TW_CHECKPOINT_STEP or just behind it.
   A block that starts elsewhere and comes by here ends where that one does; without these, trace
   that jumps about in a large area without waypoints (data, zeros) would cost a walk through all of
   it for each jump.  Value: the block's number; above it, its instructions before the place. */
static bool is_checkpoint(uint64_t address)
{
    return address % TW_CHECKPOINT_STEP < 4;
}

static uint64_t checkpoint_key(uint64_t address, uint8_t isa)
{
    return address ^ (uint64_t)isa << 56;
}

struct tw_block_bytes tw_blocks_look(struct tw_blocks *blocks, uint64_t address)
{
    struct tw_image *image = blocks->code->image;
    const struct hit *hit = &image->hit;
    struct tw_block_bytes found = { .bytes = NULL };

    found.size = tw_image_find(image, &found.bytes, &blocks->view, address);
    if (tw_hit_tells(image, hit, &blocks->view, address)) /* not what the callback gave */
        blocks->window = (struct tw_window){ .generation = image->generation,
                                             .low = hit->low,
                                             .size = hit->high - hit->low + 1,
                                             .bytes = hit->bytes };
    return found;
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
    struct tw_instruction custom;             /* the last one, as the caller has it ... */
    bool has_custom;                          /* ... which tells of it ... */
    bool is_unknown;                          /* ... or says that it is none */
};

static bool is_rv(uint8_t isa)
{
    return isa == TW_ISA_RV32 || isa == TW_ISA_RV64;
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
    walk->has_custom = walk->is_unknown = false;
    if (is_rv(isa)) {
        memset(&walk->rv, 0, sizeof walk->rv);
        memset(&walk->rv_previous, 0, sizeof walk->rv_previous);
    }
}

/* What the caller tells of the instruction; false: not accessible, or walk->is_unknown. */
static bool ask_caller(struct walk *walk, uint8_t *size)
{
    const struct tw_code *code = walk->blocks->code;
    const bool is_known_set = walk->isa != TW_ISA_CUSTOM;
    struct tw_instruction_info info = { .isa = walk->isa };
    uint8_t bytes[TW_INSTRUCTION_MAX];
    size_t have = 0;

    if (code->image)
        have =
            tw_image_read(code->image, bytes, &walk->blocks->view, walk->address, sizeof bytes);
    if (!have)
        return false;
    walk->is_unknown = true;
    walk->has_custom = false;
    if (!tw_code_asks(code, walk->isa) ||
        !code->config.classify(code->config.classify_context, &info, walk->address, bytes,
                               have))
        return false;
    if (is_known_set && info.size == 0) {
        walk->is_unknown = false;
        return true;
    }
    if (info.size > have || info.size < 2 || info.size % 2)
        return false;
    walk->is_unknown = false;
    walk->has_custom = true;
    walk->custom =
        (struct tw_instruction){ .target = info.target,
                                 .size = info.size,
                                 .kind = info.kind & 7u,
                                 .sub = info.sub & 7u,
                                 .target_isa = info.isa & 15u,
                                 .is_waypoint = info.is_waypoint,
                                 .is_conditional = info.is_conditional,
                                 .is_link = info.is_link,
                                 .is_return = info.is_return,
                                 .is_exception_return = info.is_exception_return,
                                 .it_remaining =
                                     (uint8_t)(walk->it_open ? walk->it_open - 1 : 0) };
    *size = info.size;
    return true;
}

/* The opcode at the walk's place as the classifiers take it; false: not accessible. */
static bool fetch_opcode(struct walk *walk, uint32_t *opcode, uint8_t *size)
{
    struct tw_blocks *blocks = walk->blocks;
    const bool is_riscv = is_rv(walk->isa);
    const unsigned need =
        walk->isa == TW_ISA_T32 || walk->isa == TW_ISA_TEE || is_riscv ? 2 : 4;
    uint8_t copy[4];
    const uint8_t *at;
    size_t have = walk->left;

    if (have < 4) {
        if (have == 0 && blocks->code->image) {
            const struct tw_block_bytes here = tw_blocks_bytes(blocks, walk->address);

            walk->bytes = here.bytes;
            have = here.size;
        }
        walk->left = have;
    }
    at = walk->bytes;
    if (have < 4) { /* near the end of a region: it may go on in another one */
        if (!have)
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

/* ... and its size; or what the caller has to say. */
static bool fetch(struct walk *walk, uint32_t *opcode, uint8_t *size)
{
    if (walk->isa == TW_ISA_CUSTOM) {
        *opcode = 0;
        return ask_caller(walk, size);
    }
    if (!fetch_opcode(walk, opcode, size))
        return false;
    return TW_LIKELY(!tw_code_asks(walk->blocks->code, walk->isa)) || ask_caller(walk, size);
}

static void classify(struct walk *walk, struct tw_instruction *out, uint32_t opcode)
{
    const struct tw_isa_options *options = &walk->blocks->code->config.isa;

    if (walk->has_custom) {
        *out = walk->custom;
        return;
    }
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

void tw_block_set_transfers(struct tw_block_more *more, uint8_t isa, uint32_t opcode)
{
    struct tw_data_access access = { .count = 0 };

    if (isa == TW_ISA_A32)
        tw_a32_data(&access, opcode);
    else if (isa != TW_ISA_A64)
        tw_t32_data(&access, opcode);
    more->transfers = access.count & 63u;
    more->transfer_flags =
        ((access.size & TW_TRANSFER_SIZE) | (access.is_load ? TW_TRANSFER_LOADS : 0) |
         (access.is_store ? TW_TRANSFER_STORES : 0) |
         (access.is_coprocessor ? TW_TRANSFER_COPROCESSOR : 0) |
         (access.has_pc ? TW_TRANSFER_HAS_PC : 0));
}

static void advance(struct walk *walk, unsigned size)
{
    walk->address = tw_code_wrap(walk->address + size, walk->isa);
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

    for (uint64_t step = TW_CHECKPOINT_STEP;; step += TW_CHECKPOINT_STEP) {
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

/* Passes A64 instructions that are neither branches nor of the system: no other one can end a
   block.  Stops short of the next checkpoint and of the limit,
   at the end of what lies together, or at the first one of another kind. */
static void skip_plain_a64(struct walk *walk, struct tw_block *block, uint32_t limit)
{
    const struct tw_instruction plain = { .size = 4, .kind = TW_FLOW_OTHER };
    const uint64_t to_checkpoint = TW_CHECKPOINT_STEP - walk->address % TW_CHECKPOINT_STEP;
    const size_t bytes = walk->left < to_checkpoint ? walk->left : (size_t)to_checkpoint;
    const uint32_t most =
        limit - block->count < bytes / 4 ? limit - block->count : (uint32_t)(bytes / 4);
    uint32_t n = 0;

    while (n < most && !tw_a64_is_of_interest(tw_load_le32(walk->bytes + 4 * (size_t)n)))
        n++;
    if (n) {
        block->count += n;
        tw_block_set_last(block, &plain);
        advance(walk, 4 * n);
    }
}

/* Walks from the block's start to its end.  `index` is what the block will be called. */
static void build(struct walk *walk, struct tw_block *block, struct tw_block_more *more,
                  uint32_t index)
{
    const struct tw_code_config *config = &walk->blocks->code->config;
    const bool is_plain_a64 = walk->isa == TW_ISA_A64 && !config->check_opcodes &&
                              !config->single_steps &&
                              !tw_code_asks(walk->blocks->code, walk->isa);
    struct tw_instruction instruction = { .size = 0 };
    uint32_t opcode;
    uint8_t size;

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
            more->end = walk->is_unknown ? TW_BLOCK_NO_CODE : TW_BLOCK_UNREADABLE;
            break;
        }
        if (config->check_opcodes && walk->isa == TW_ISA_A64 && !(opcode >> 16) &&
            !walk->has_custom) {
            more->end = TW_BLOCK_NO_CODE;
            break;
        }
        classify(walk, &instruction, opcode);
        if (config->has_transfers)
            tw_block_set_transfers(more, walk->isa, opcode);
        advance(walk, size);
        walk->it_open = instruction.it_remaining;
        block->count++;
        tw_block_set_last(block, &instruction);
        if (instruction.is_waypoint || config->single_steps) {
            tw_block_set_end(more, &instruction);
            if (is_rv(walk->isa) && !walk->has_custom)
                find_rv_target(walk, more);
            break;
        }
    }
    block->length = (uint32_t)(walk->address - block->start);
}

uint32_t tw_block_build(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                        uint8_t isa, uint8_t it_open)
{
    struct tw_block *block = &blocks->blocks[number];
    struct tw_block_more *more = &blocks->more[number];
    struct walk walk;

    *block = (struct tw_block){ .start = address, .type = TW_ELEMENT_INSTR_RANGE, .isa = isa };
    *more = (struct tw_block_more){ .end = TW_BLOCK_WAYPOINT };
    begin_walk(&walk, blocks, address, isa);
    walk.it_open = it_open & 7u;
    build(&walk, block, more, number);
    more->it_open = it_open & 7u; /* the end may be copied from another block */
    if (is_rv(isa) && more->end == TW_BLOCK_WAYPOINT &&
        !(block->flags & TW_RANGE_CONDITIONAL)) /* no outcome tells of it: it is taken */
        block->flags |= TW_RANGE_EXECUTED;
    tw_block_set_links(&blocks->links[2 * (size_t)number], block, more, &blocks->code->config);
    if (blocks->decides)
        blocks->decides[number] = block->flags >> 1 & 1; /* TW_RANGE_CONDITIONAL */
    return more->end == TW_BLOCK_WAYPOINT ? number : number | TW_BLOCK_BROKEN;
}

void tw_block_make_ending(struct tw_block_ending *ending, const struct tw_code *code,
                          const struct tw_isa_row *row, uint32_t opcode)
{
    struct tw_instruction instruction;

    tw_a64_classify(&instruction, opcode, 0, &code->config.isa);
    *ending = (struct tw_block_ending){ .row = row };
    ending->block.type = TW_ELEMENT_INSTR_RANGE;
    ending->block.isa = TW_ISA_A64;
    tw_block_set_last(&ending->block, &instruction);
    tw_block_set_end(&ending->more, &instruction);
    tw_block_set_links(ending->links, &ending->block, &ending->more, &code->config);
    ending->more.target = 0; /* each has its own */
    ending->is_waypoint = instruction.is_waypoint;
    ending->is_direct = instruction.kind == TW_FLOW_BRANCH;
}

bool tw_code_opcode(struct tw_blocks *blocks, uint32_t *opcode, uint8_t *size, uint64_t address,
                    uint8_t isa)
{
    struct walk walk;

    begin_walk(&walk, blocks, address, isa);
    return fetch(&walk, opcode, size);
}

/* A checkpoint at `address` that the block comes by: the block whose it is, which ends at the same
   place.  0: there is none. */
static uint64_t checkpoint_of(const struct tw_blocks *blocks, const struct tw_block *block,
                              uint64_t address)
{
    const uint64_t *found =
        tw_map_find(&blocks->checkpoints, checkpoint_key(address, block->isa));
    const struct tw_block *known = found ? &blocks->blocks[(uint32_t)*found] : NULL;

    return known && known->isa == block->isa &&
                   known->start + known->length == block->start + block->length &&
                   known->count - (uint32_t)(*found >> 32) <= block->count
               ? *found
               : 0;
}

/* The last checkpoint of a long block before `address`, and its instructions before that.  False:
   none is sure. */
static bool find_checkpoint(const struct tw_blocks *blocks, uint32_t number, uint64_t *address,
                            uint32_t *count)
{
    const struct tw_block *block = &blocks->blocks[number];
    uint64_t base = *address - *address % TW_CHECKPOINT_STEP;

    /* At the multiple, or just behind it, if an instruction lies across.  Where both are known, from
       blocks that begin inside of each other's instructions, only its own tells. */
    for (unsigned tries = 0; tries < 2 && base > block->start; tries++) {
        const uint64_t here = checkpoint_of(blocks, block, base);
        const uint64_t behind = checkpoint_of(blocks, block, base + 2);
        const bool is_behind = behind && (!here || (uint32_t)behind == number);
        const uint64_t found = is_behind ? behind : here;
        const uint64_t at = base + (is_behind ? 2 : 0);

        if (found && at < *address && (!here || !behind || (uint32_t)found == number)) {
            *address = at;
            *count = block->count -
                     (blocks->blocks[(uint32_t)found].count - (uint32_t)(found >> 32));
            return true;
        }
        base -= TW_CHECKPOINT_STEP;
    }
    return false;
}

bool tw_block_locate(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                     struct tw_block_place *place)
{
    const struct tw_block *block = &blocks->blocks[number & ~TW_BLOCK_BROKEN];
    uint64_t at = address;
    struct walk walk;

    number &= ~TW_BLOCK_BROKEN;
    *place = (struct tw_block_place){ .count = 0, .before = block->start };
    if (address - block->start >= block->length)
        return false;
    if (!find_checkpoint(blocks, number, &at, &place->count)) {
        at = block->start;
        place->count = 0;
    }
    begin_walk(&walk, blocks, at, block->isa);
    while (walk.address < address) {
        uint32_t opcode;
        uint8_t size;

        if (!fetch(&walk, &opcode, &size))
            return false;
        place->before = walk.address;
        place->count++;
        advance(&walk, size);
    }
    return walk.address == address;
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
