/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a follower as bytes. */
#include "path/state.h"

enum { NOWHERE, PLACED, IN_BLOCK };

/* Where the path goes on.  A block and its address mean the same, but to the check that the trace
   only says what follows anyhow. */
static void place_state(struct tw_follow *follow, struct tw_state *state, bool keeps_isa)
{
    const bool is_block = follow->at != TW_NEXT_NEEDED && follow->at != TW_NEXT_AT_ADDRESS;
    uint8_t place = is_block && follow->check_continuity ? IN_BLOCK : PLACED;

    if (follow->at == TW_NEXT_NEEDED)
        place = NOWHERE;
    TW_STATE(state, place);
    TW_STATE(state, follow->pop_is_pending);
    TW_STATE(state, follow->missing);
    if (place == NOWHERE) {
        if (follow->missing == TW_MISSING_CODE)
            TW_STATE(state, follow->address);
        if (keeps_isa)
            TW_STATE(state, follow->isa);
        if (state->loads)
            follow->at = TW_NEXT_NEEDED;
        return;
    }
    TW_STATE(state, follow->address); /* tw_follow_leave set them, if it is a block */
    TW_STATE(state, follow->isa);
    TW_STATE(state, follow->it_open);
    if (!state->loads)
        return;
    follow->at = TW_NEXT_AT_ADDRESS;
    if (place == IN_BLOCK && follow->blocks)
        follow->at =
            tw_blocks_find(follow->blocks, follow->address, follow->isa, follow->it_open);
}

static void returns_state(struct tw_follow *follow, struct tw_state *state)
{
    TW_STATE(state, follow->return_count);
    if (state->loads) {
        if (follow->return_count > TW_RETURN_STACK_MAX)
            follow->return_count = TW_RETURN_STACK_MAX;
        follow->return_top = TW_RETURN_STACK_MAX - 1;
    }
    for (unsigned i = 0; i < follow->return_count; i++) {
        const unsigned at =
            (follow->return_top + TW_RETURN_STACK_MAX - i) % TW_RETURN_STACK_MAX;

        TW_STATE(state, follow->returns[at].address);
        TW_STATE(state, follow->returns[at].isa);
    }
}

/* The last atom's block, for those that take its decision back. */
static void last_state(struct tw_follow *follow, struct tw_state *state)
{
    const bool is_known =
        tw_state_flag(state, follow->last_block && follow->blocks &&
                                 (state->loads || follow->epoch == follow->code->epoch));
    uint64_t start = 0;
    uint8_t isa = 0, it_open = 0;

    if (!is_known) {
        if (state->loads)
            follow->last_block = 0;
        return;
    }
    if (!state->loads) {
        start = follow->blocks->blocks[follow->last_block].start;
        isa = follow->blocks->blocks[follow->last_block].isa;
        it_open = (uint8_t)follow->blocks->more[follow->last_block].it_open;
    }
    TW_STATE(state, start);
    TW_STATE(state, isa);
    TW_STATE(state, it_open);
    TW_STATE(state, follow->last_taken);
    if (state->loads) {
        const uint32_t found =
            follow->blocks ? tw_blocks_find(follow->blocks, start, isa, it_open) : 0;

        follow->last_block = tw_block_is_plain(found) ? found : 0;
    }
}

/* The guess of 32 bits as one of the state's totals, and back. */
static void lost_state(struct tw_follow *follow, struct tw_state *state)
{
    const uint32_t lost = follow->lost_atoms;
    uint64_t total = lost < TW_LOST_GUESS ? lost : TW_STATE_GUESS + (lost - TW_LOST_GUESS);

    tw_state_total(state, &total);
    if (state->loads)
        follow->lost_atoms = (uint32_t)total + (tw_state_is_guess(total) ? TW_LOST_GUESS : 0);
}

void tw_follow_rebase(struct tw_element *elements, size_t count, uint64_t by)
{
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == TW_ELEMENT_ADDR_NACC && elements[i].count >= TW_LOST_GUESS)
            elements[i].count += (uint32_t)by - TW_LOST_GUESS;
}

void tw_follow_state(struct tw_follow *follow, struct tw_state *state, bool keeps_isa)
{
    uint64_t epoch;

    TW_STATE(state, follow->view.space);
    TW_STATE(state, follow->view.context);
    TW_STATE(state, follow->view.time);
    if (state->loads) {
        tw_code_refresh(follow->code);
        follow->blocks = tw_code_space(follow->code, &follow->view);
    }
    TW_STATE(state, follow->push_is_blocked);
    TW_STATE(state, follow->error);
    if (follow->error)
        TW_STATE(state, follow->error_detail);
    TW_STATE(state, follow->walked);
    lost_state(follow, state);
    returns_state(follow, state);
    epoch = follow->code->epoch;
    last_state(follow, state);
    place_state(follow, state, keeps_isa);
    if (!state->loads)
        return;
    if (epoch != follow->code->epoch) /* finding blocks threw the old ones away */
        follow->last_block = 0;
    follow->epoch = follow->code->epoch;
}
