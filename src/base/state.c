/* SPDX-License-Identifier: BSD-2-Clause */
/* A decoder's state as bytes. */
#include "base/state.h"

#include "base/memory.h"

void tw_state_free(struct tw_state *state)
{
    tw_give(state->allocator, state->bytes);
    state->bytes = NULL;
    state->size = state->room = 0;
}

void tw_state_save(struct tw_state *state, uint64_t offset)
{
    state->size = state->read = 0;
    state->loads = state->failed = false;
    state->offset = offset;
    state->total = 0;
    TW_STATE(state, state->offset);
}

void tw_state_load(struct tw_state *state)
{
    state->read = 0;
    state->loads = true;
    TW_STATE(state, state->offset);
}

bool tw_state_is_same(const struct tw_state *a, const struct tw_state *b)
{
    return !a->failed && !b->failed && a->size == b->size &&
           memcmp(a->bytes, b->bytes, a->size) == 0;
}

bool tw_state_copy(struct tw_state *to, const struct tw_state *from)
{
    to->failed = true;
    if (from->failed || !TW_GROW(to->allocator, &to->bytes, &to->room, from->size + 1))
        return false;
    memcpy(to->bytes, from->bytes, from->size);
    to->size = from->size;
    to->offset = from->offset;
    to->total = from->total;
    to->loads = to->failed = false;
    return true;
}

void tw_state_bytes(struct tw_state *state, void *member, size_t size)
{
    if (state->loads) {
        if (size > state->size - state->read) {
            state->failed = true;
            return;
        }
        memcpy(member, state->bytes + state->read, size);
        state->read += size;
        return;
    }
    if (state->failed ||
        !TW_GROW(state->allocator, &state->bytes, &state->room, state->size + size)) {
        state->failed = true;
        return;
    }
    memcpy(state->bytes + state->size, member, size);
    state->size += size;
}
