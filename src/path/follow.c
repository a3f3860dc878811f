/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the program: what the fast loop of follow.h leaves over. */
#include "path/follow.h"

void tw_follow_init(struct tw_follow *follow, struct tw_code *code)
{
    *follow = (struct tw_follow){ .code = code, .return_depth = TW_RETURN_STACK_MAX };
    tw_follow_reset(follow);
}

void tw_follow_reset(struct tw_follow *follow)
{
    follow->lost_atoms = 0;
    tw_follow_lose(follow);
    follow->return_count = 0;
    follow->push_is_blocked = false;
    follow->error = TW_ERROR_NONE;
    follow->last_block = 0;
    follow->context = (struct tw_element){ .type = TW_ELEMENT_NO_SYNC }; /* of nobody */
    follow->walked = 0;
    follow->epoch = follow->code->epoch;
    follow->view = (struct tw_view){ .space = TW_SPACE_ANY };
    if (follow->look)
        follow->look(follow->look_context, &follow->view, NULL);
    follow->blocks = tw_code_space(follow->code, &follow->view);
}

static void set_view(struct tw_follow *follow, const struct tw_view *view)
{
    if (follow->view.space == view->space && follow->view.context == view->context &&
        follow->view.time == view->time)
        return;
    /* What comes next is looked up in the new space. */
    if (follow->at != TW_NEXT_NEEDED && follow->at != TW_NEXT_AT_ADDRESS)
        tw_follow_go(follow, tw_follow_address(follow), tw_follow_isa(follow),
                     follow->blocks->more[follow->at & ~TW_BLOCK_BROKEN].it_open);
    follow->is_stopped |= follow->sums != NULL;
    follow->last_block = 0;
    follow->view = *view;
    follow->blocks = tw_code_space(follow->code, &follow->view);
}

void tw_follow_view(struct tw_follow *follow, uint32_t space, uint32_t context)
{
    struct tw_view view = { space, context, follow->view.time };

    if (follow->look)
        view.context = follow->view.context;
    set_view(follow, &view);
}

void tw_follow_context(struct tw_follow *follow, uint32_t space,
                       const struct tw_element *context)
{
    struct tw_view view = { space, 0, follow->view.time };

    if (follow->look)
        follow->look(follow->look_context, &view, context);
    set_view(follow, &view);
    follow->is_stopped |= follow->stops_at_context;
    tw_follow_owner(follow, context);
}

void tw_follow_owner(struct tw_follow *follow, const struct tw_element *context)
{
    const struct tw_element *last = &follow->context;

    if (!follow->sums)
        return;
    follow->is_stopped |=
        last->type != context->type || last->context_id != context->context_id ||
        last->vmid != context->vmid || last->context_high != context->context_high ||
        last->flags != context->flags || last->last != context->last;
    follow->context = *context;
}

void tw_follow_time(struct tw_follow *follow, const struct tw_element *timestamp)
{
    struct tw_view view = follow->view;

    if (!follow->look)
        return;
    follow->look(follow->look_context, &view, timestamp);
    set_view(follow, &view);
}

void tw_follow_go(struct tw_follow *follow, uint64_t address, uint8_t isa, uint8_t it_open)
{
    follow->at = TW_NEXT_AT_ADDRESS;
    follow->pop_is_pending = false;
    follow->missing = TW_MISSING_NOTHING;
    follow->address = address;
    follow->isa = isa;
    follow->it_open = it_open;
}

void tw_follow_jump(struct tw_follow *follow, uint64_t address, uint8_t isa)
{
    if (follow->check_continuity && follow->at != TW_NEXT_NEEDED &&
        follow->at != TW_NEXT_AT_ADDRESS && tw_follow_address(follow) != address) {
        follow->error = TW_ERROR_NOT_CONTINUOUS;
        follow->error_detail = address;
    }
    tw_follow_go(follow, address, isa, 0);
}

void tw_follow_leave(struct tw_follow *follow)
{
    const uint32_t at = follow->at;
    const uint32_t block = at & ~TW_BLOCK_BROKEN;

    follow->epoch = follow->code->epoch;
    if (at == TW_NEXT_NEEDED || at == TW_NEXT_AT_ADDRESS || !follow->blocks)
        return;
    follow->address = follow->blocks->blocks[block].start;
    follow->isa = follow->blocks->blocks[block].isa;
    follow->it_open = follow->blocks->more[block].it_open;
}

void tw_follow_enter(struct tw_follow *follow)
{
    follow->is_stopped = false;
    tw_code_refresh(follow->code);
    if (follow->epoch == follow->code->epoch)
        return;
    follow->epoch = follow->code->epoch;
    follow->last_block = 0;
    if (follow->at != TW_NEXT_NEEDED)
        follow->at = TW_NEXT_AT_ADDRESS;
}

static void pop_return(struct tw_follow *follow)
{
    const unsigned top = follow->return_top;

    if (follow->return_count == 0) {
        follow->error = TW_ERROR_RETURN_STACK;
        follow->error_detail = 0;
        tw_follow_lose(follow);
        return;
    }
    tw_follow_drop(follow);
    tw_follow_go(follow, follow->returns[top].address, follow->returns[top].isa, 0);
}

bool tw_follow_is_placed(struct tw_follow *follow)
{
    if (follow->at == TW_NEXT_NEEDED && follow->pop_is_pending)
        pop_return(follow);
    return follow->at != TW_NEXT_NEEDED;
}

void tw_follow_save_returns(const struct tw_follow *follow, struct tw_returns *returns)
{
    memset(returns, 0, sizeof *returns);
    for (unsigned i = follow->return_count; i-- > 0;) {
        const unsigned at =
            (follow->return_top + TW_RETURN_STACK_MAX - i) % TW_RETURN_STACK_MAX;

        returns->address[returns->count] = follow->returns[at].address;
        returns->isa[returns->count++] = follow->returns[at].isa;
    }
}

void tw_follow_restore_returns(struct tw_follow *follow, const struct tw_returns *returns)
{
    follow->return_count = 0;
    for (unsigned i = 0; i < returns->count; i++)
        tw_follow_push(follow, returns->address[i], returns->isa[i]);
}

void tw_follow_empty_returns(struct tw_follow *follow)
{
    if (follow->return_count)
        (void)tw_follow_is_placed(follow);
    follow->return_count = 0;
    follow->pop_is_pending = false;
}

/* tw_follow_lose, at the end of this block. */
static void lose_from(struct tw_follow *follow, const struct tw_block *block)
{
    follow->at = TW_NEXT_NEEDED;
    follow->isa = block->isa;
    follow->pop_is_pending = false;
    follow->missing = TW_MISSING_NOTHING;
}

/* After an indirect branch: the trace tells where it went, or the return stack does. */
static void await_address(struct tw_follow *follow, const struct tw_block *from)
{
    follow->at = TW_NEXT_NEEDED;
    follow->pop_is_pending = follow->has_return_stack;
    if (!follow->pops_at_once || !tw_follow_is_placed(follow))
        follow->isa = from->isa;
}

uint64_t tw_follow_address(const struct tw_follow *follow)
{
    if (follow->at == TW_NEXT_AT_ADDRESS || follow->at == TW_NEXT_NEEDED)
        return follow->address;
    return follow->blocks->blocks[follow->at & ~TW_BLOCK_BROKEN].start;
}

uint8_t tw_follow_isa(const struct tw_follow *follow)
{
    if (follow->at == TW_NEXT_AT_ADDRESS || follow->at == TW_NEXT_NEEDED)
        return follow->isa;
    return follow->blocks->blocks[follow->at & ~TW_BLOCK_BROKEN].isa;
}

/* The block at a known place; 0 when memory is out. */
static uint32_t block_here(struct tw_follow *follow)
{
    if (follow->at == TW_NEXT_AT_ADDRESS && follow->blocks) {
        const uint32_t known =
            tw_blocks_known(follow->blocks, follow->address, follow->isa, follow->it_open);

        follow->at = TW_LIKELY(known) ? known
                                      : tw_blocks_find(follow->blocks, follow->address,
                                                       follow->isa, follow->it_open);
    }
    return follow->at;
}

struct tw_element *tw_follow_emit_missing(struct tw_follow *follow, struct tw_element *out,
                                          uint64_t address, uint64_t index)
{
    return tw_follow_put_missing(follow, out, address, index);
}

struct tw_element *tw_follow_unknown(struct tw_follow *follow, struct tw_element *out,
                                     uint64_t index)
{
    if (follow->missing != TW_MISSING_NOTHING || !follow->says_unplaced)
        return out;
    follow->missing = TW_MISSING_ADDRESS;
    *out = (struct tw_element){ .index = index, .type = TW_ELEMENT_ERROR };
    out->error = TW_ERROR_UNPLACED;
    return out + 1;
}

struct tw_element *tw_follow_broken(struct tw_follow *follow, struct tw_element *out,
                                    uint32_t block_at, uint64_t index)
{
    const uint32_t number = block_at & ~TW_BLOCK_BROKEN;
    const struct tw_block *block = &follow->blocks->blocks[number];
    const uint8_t end = follow->blocks->more[number].end;

    follow->last_block = 0; /* where else this atom could have led is not known */
    if (TW_UNLIKELY(end > TW_BLOCK_UNREADABLE)) {
        tw_follow_lose(follow);
        follow->isa = block->isa;
        follow->error = end == TW_BLOCK_RUNAWAY ? TW_ERROR_RANGE_LIMIT : TW_ERROR_BAD_OPCODE;
        follow->error_detail = block->start + block->length;
        return out;
    }
    follow->isa = block->isa;
    if (block->count)
        tw_follow_emit(out++, block, TW_RANGE_EXECUTED, index);
    return tw_follow_put_missing(follow, out, block->start + block->length, index);
}

/* More happens behind this block than going on. */
static TW_NOINLINE struct tw_element *pass_special(struct tw_follow *follow,
                                                   struct tw_element *out, uint32_t block,
                                                   bool taken, uint64_t index)
{
    struct tw_blocks *blocks = follow->blocks;
    const struct tw_block_more *more = &blocks->more[block]; /* moves when a block is built */
    const struct tw_block *from = &blocks->blocks[block];

    if (!taken) {
        follow->error = TW_ERROR_BAD_ATOM;
        follow->error_detail = from->start + from->length;
        tw_follow_lose(follow);
        return out;
    }
    if (more->is_indirect && follow->pops_at_once)
        await_address(follow, from); /* the stack as it was before the call */
    if (follow->has_return_stack && more->is_link && !follow->push_is_blocked)
        tw_follow_push(follow, from->start + from->length, from->isa);
    if (follow->code->config.exception_returns_are_special && more->is_exception_return)
        *out++ = (struct tw_element){ .index = index, .type = TW_ELEMENT_EXCEPTION_RET };
    if (!more->is_indirect)
        follow->at = tw_blocks_target(blocks, block);
    else if (!follow->pops_at_once)
        await_address(follow, from);
    return out;
}

struct tw_element *tw_follow_after(struct tw_follow *follow, struct tw_element *out,
                                   uint32_t block, bool taken, uint64_t index)
{
    const struct tw_block *from = &follow->blocks->blocks[block];

    switch (follow->blocks->links[2 * block + taken]) {
    case TW_NEXT_UNKNOWN:
        follow->at = tw_blocks_link(follow->blocks, block, taken);
        return out;
    case TW_NEXT_NEEDED:
        await_address(follow, from);
        return out;
    case TW_NEXT_SPECIAL:
        return pass_special(follow, out, block, taken, index);
    default:
        follow->at = follow->blocks->links[2 * block + taken];
        return out;
    }
}

struct tw_element *tw_follow_slow(struct tw_follow *follow, struct tw_element *out, bool taken,
                                  uint64_t index)
{
    uint32_t at;

    if (!tw_follow_is_placed(follow) || follow->error)
        return out;
    at = block_here(follow);
    if (!tw_block_is_plain(at)) {
        if (at & TW_BLOCK_BROKEN)
            return tw_follow_broken(follow, out, at, index);
        tw_follow_lose(follow); /* no memory: code->out_of_memory tells */
        return out;
    }
    tw_follow_emit(out++, &follow->blocks->blocks[at], taken, index);
    follow->last_block = at;
    follow->last_taken = taken;
    return tw_follow_after(follow, out, at, taken, index);
}

struct tw_element *tw_follow_slowly(struct tw_follow *follow, struct tw_element *out,
                                    uint64_t *atoms, uint64_t index)
{
    while (*atoms != TW_ATOMS_DONE && !tw_block_is_plain(follow->at)) {
        if (follow->at == TW_NEXT_NEEDED && !follow->pop_is_pending) {
            if (!tw_follow_skip(follow, tw_atoms_count(*atoms)))
                out = tw_follow_unknown(follow, out, index);
            *atoms = TW_ATOMS_DONE; /* nothing can be said of the rest */
            break;
        }
        if (follow->at & TW_BLOCK_BROKEN)
            out = tw_follow_broken(follow, out, follow->at, index);
        else
            out = tw_follow_slow(follow, out, *atoms & 1, index);
        *atoms = follow->error ? TW_ATOMS_DONE : *atoms >> 1;
    }
    return out;
}

struct tw_element *tw_follow_taken(struct tw_follow *follow, struct tw_element *out,
                                   uint64_t index)
{
    const struct tw_block *block;
    uint32_t at = follow->at;

    if (TW_UNLIKELY(!tw_block_is_plain(at))) {
        if (!tw_follow_is_placed(follow))
            return out;
        at = block_here(follow);
        if (at & TW_BLOCK_BROKEN)
            return tw_follow_broken(follow, out, at, index);
        if (!tw_block_is_plain(at)) {
            tw_follow_lose(follow);
            return out;
        }
    }
    block = &follow->blocks->blocks[at];
    tw_follow_emit(out++, block, true, index);
    follow->last_block = at;
    follow->last_taken = true;
    if (follow->has_return_stack && follow->blocks->more[at].is_link)
        tw_follow_push(follow, block->start + block->length, block->isa);
    if (follow->check_continuity && !follow->blocks->more[at].is_indirect)
        follow->at = tw_blocks_target(follow->blocks, at); /* the trace must say the same */
    else
        lose_from(follow, block);
    return out;
}

void tw_follow_flip(struct tw_follow *follow)
{
    struct tw_blocks *blocks = follow->blocks;
    const bool taken = !follow->last_taken, was_blocked = follow->push_is_blocked;
    struct tw_element ignored[TW_FOLLOW_MOST];

    if (!follow->last_block || !blocks || follow->epoch != follow->code->epoch) {
        tw_follow_lose(follow); /* where the other way leads is not known */
        return;
    }
    follow->push_is_blocked = true; /* pushes go by the first status of an atom [K10.5.5.3] */
    tw_follow_after(follow, ignored, follow->last_block, taken, 0);
    follow->push_is_blocked = was_blocked;
    follow->last_taken = taken;
}

void tw_follow_push_last(struct tw_follow *follow)
{
    const struct tw_block *block;

    if (!follow->has_return_stack || !follow->last_block || !follow->blocks ||
        !follow->blocks->more[follow->last_block].is_link)
        return;
    block = &follow->blocks->blocks[follow->last_block];
    tw_follow_push(follow, block->start + block->length, block->isa);
}
