/* SPDX-License-Identifier: BSD-2-Clause */
/* Which way so many instructions led to an address, where the trace tells no more [K10.5.5.15]. */
#include "path/follow.h"

enum { BLOCKS_MOST = 1024 }; /* that are looked at for one search */

struct place {
    uint64_t address;
    uint32_t left; /* instructions */
    uint8_t isa, it_open;
    uint8_t branches; /* that were passed */
};

struct search {
    struct tw_follow *follow;
    uint64_t stop;
    struct tw_way *way;    /* the one that was found */
    uint64_t taken;        /* branches of the way at hand */
    unsigned found, looks; /* ways, blocks */
    struct place waiting[TW_WAY_BRANCHES];
    unsigned waiting_count;
    bool leads_elsewhere; /* a way that ends in a branch */
    bool is_lost;         /* where a way leads cannot be told */
};

static bool is_branch(const struct tw_block *block)
{
    const struct tw_element last = { .last = block->last };

    return last.last_kind == TW_LAST_BR || last.last_kind == TW_LAST_IBR;
}

static bool is_conditional(const struct tw_block *block)
{
    return block->flags & TW_RANGE_CONDITIONAL;
}

/* Behind `count` instructions in sequence, of which the last is *last.  False: they are not accessible. */
static bool pass(struct tw_blocks *blocks, const struct place *from, uint32_t count,
                 uint64_t *end, struct tw_instruction *last)
{
    const bool is_fixed = from->isa == TW_ISA_A64 || from->isa == TW_ISA_A32;
    uint64_t at = from->address + (is_fixed ? 4 * (uint64_t)(count - 1) : 0);
    uint8_t it_open = is_fixed ? 0 : from->it_open;

    for (uint32_t i = is_fixed ? count - 1 : 0; i < count; i++) {
        if (!tw_code_instruction(blocks, last, at, from->isa, it_open))
            return false;
        at += last->size;
        it_open = last->it_remaining;
    }
    *end = tw_code_wrap(at, from->isa);
    return true;
}

static void found(struct search *search, const struct place *at, bool is_taken)
{
    search->found++;
    search->way->taken = search->taken;
    if (at->branches < TW_WAY_BRANCHES)
        search->way->taken |= (uint64_t)is_taken << at->branches;
}

/* The last instruction is this block's branch. */
static void end_in_branch(struct search *search, const struct place *at,
                          const struct tw_block *block, const struct tw_block_more *more)
{
    const bool falls = is_conditional(block) &&
                       tw_code_wrap(block->start + block->length, at->isa) == search->stop;

    if (more->is_indirect || falls || more->target == search->stop)
        found(search, at, !falls);
    else
        search->leads_elsewhere = true;
}

/* Goes on behind a block that is passed whole: the way at hand, and one that waits. */
static void pass_block(struct search *search, struct place *at, const struct tw_block *block,
                       const struct tw_block_more *more)
{
    struct place other = *at;

    at->left -= block->count;
    at->address = tw_code_wrap(block->start + block->length, at->isa);
    at->it_open = more->it_remaining;
    if (!is_branch(block))
        return;
    if (at->branches == TW_WAY_BRANCHES || more->is_indirect ||
        search->waiting_count == TW_WAY_BRANCHES) {
        search->is_lost = true;
        return;
    }
    other.address = more->target;
    other.isa = (uint8_t)more->target_isa;
    other.it_open = 0;
    other.left = at->left;
    other.branches = ++at->branches;
    if (is_conditional(block)) {
        search->waiting[search->waiting_count++] = other; /* its last branch is taken */
        return;
    }
    search->taken |= (uint64_t)1 << (at->branches - 1);
    *at = other;
}

/* One block further; true: the way at hand is at its end. */
static bool step(struct search *search, struct place *at)
{
    struct tw_blocks *blocks = search->follow->blocks;
    const uint32_t index = tw_blocks_find(blocks, at->address, at->isa, at->it_open);
    const struct tw_block block = blocks->blocks[index & ~TW_BLOCK_BROKEN];
    const struct tw_block_more more = blocks->more[index & ~TW_BLOCK_BROKEN];
    struct tw_instruction last;
    uint64_t end;

    if (!index || ++search->looks > BLOCKS_MOST ||
        (at->left > block.count && !tw_block_is_plain(index))) {
        search->is_lost = true;
    } else if (at->left < block.count || !tw_block_is_plain(index)) {
        search->is_lost = !pass(blocks, at, at->left, &end, &last);
        if (!search->is_lost && end == search->stop)
            found(search, at, false);
    } else if (at->left == block.count && is_branch(&block)) {
        end_in_branch(search, at, &block, &more);
    } else {
        pass_block(search, at, &block, &more);
        if (at->left)
            return search->is_lost;
        if (at->address == search->stop)
            found(search, at, false);
    }
    return true;
}

enum tw_ways tw_follow_find_way(struct tw_follow *follow, struct tw_way *way, uint32_t count,
                                uint64_t stop)
{
    struct search search = { .follow = follow, .stop = stop, .way = way };
    struct place at = { .address = tw_follow_address(follow),
                        .left = count,
                        .isa = tw_follow_isa(follow) };

    *way = (struct tw_way){ .count = count, .stop = stop };
    at.it_open = follow->at == TW_NEXT_AT_ADDRESS
                     ? follow->it_open
                     : follow->blocks->more[follow->at & ~TW_BLOCK_BROKEN].it_open;
    /* Blocks may be thrown away. */
    tw_follow_go(follow, at.address, at.isa, at.it_open);
    follow->last_block = 0;
    for (;;) {
        while (!step(&search, &at))
            continue;
        if (search.is_lost || search.found > 1)
            return TW_WAYS_MANY;
        if (!search.waiting_count)
            return search.found             ? TW_WAYS_ONE
                   : search.leads_elsewhere ? TW_WAYS_NONE
                                            : TW_WAYS_MANY;
        at = search.waiting[--search.waiting_count];
        search.taken &= ((uint64_t)1 << (at.branches - 1)) - 1;
        search.taken |= (uint64_t)1 << (at.branches - 1);
    }
}

/* Ends a range behind its last instruction. */
static struct tw_element *emit(struct tw_element *out, struct tw_element *range, uint64_t end,
                               bool is_executed)
{
    range->length = (uint32_t)(end - range->start);
    if (is_executed)
        range->flags |= TW_RANGE_EXECUTED;
    *out = *range;
    return out + 1;
}

struct tw_element *tw_follow_way(struct tw_follow *follow, struct tw_element *out,
                                 const struct tw_way *way, uint64_t index)
{
    struct tw_blocks *blocks = follow->blocks;
    struct place at = { .address = follow->address,
                        .left = way->count,
                        .isa = follow->isa,
                        .it_open = follow->it_open };
    struct tw_element range = {
        .index = index, .type = TW_ELEMENT_INSTR_RANGE, .start = at.address, .isa = at.isa
    };

    while (at.left) {
        const uint32_t number =
            tw_blocks_find(blocks, at.address, at.isa, at.it_open) & ~TW_BLOCK_BROKEN;
        const struct tw_block block = blocks->blocks[number];
        const struct tw_block_more more = blocks->more[number];
        const bool is_taken = way->taken >> at.branches & 1;
        struct tw_instruction last;
        uint64_t end;

        if (at.left < block.count) {
            if (!pass(blocks, &at, at.left, &end, &last))
                break; /* memory is out */
            range.count += at.left;
            tw_range_set_last(&range, &last);
            return emit(out, &range, end, true);
        }
        if (!block.count)
            break;
        at.left -= block.count;
        range.count += block.count;
        range.last = block.last;
        range.flags = block.flags;
        at.address = tw_code_wrap(block.start + block.length, at.isa);
        at.it_open = more.it_remaining;
        if (is_branch(&block) || !at.left)
            out = emit(out, &range, block.start + block.length, !is_branch(&block) || is_taken);
        if (!is_branch(&block))
            continue;
        if (is_taken) {
            at.address = more.target;
            at.isa = (uint8_t)more.target_isa;
            at.it_open = 0;
        }
        at.branches++;
        range = (struct tw_element){
            .index = index, .type = TW_ELEMENT_INSTR_RANGE, .start = at.address, .isa = at.isa
        };
    }
    return out;
}
