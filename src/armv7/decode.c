/* SPDX-License-Identifier: BSD-2-Clause */
/* What the decoders of ETMv3 and PTM share. */
#include "armv7/decode.h"

#include <trackway/index.h>

#include "armv7/fields.h"

enum { PERIODIC, AFTER_OVERFLOW = 2 }; /* reasons of an I-sync */

const uint8_t tw_armv7_trace_on[4] = { TW_TRACE_ON_NORMAL, TW_TRACE_ON_NORMAL,
                                       TW_TRACE_ON_OVERFLOW, TW_TRACE_ON_DEBUG_EXIT };

void tw_armv7_add_no_sync(struct tw_stage *stage, uint8_t reason, uint64_t index)
{
    tw_stage_add(stage, TW_ELEMENT_NO_SYNC, index)->reason = reason;
}

struct tw_element *tw_armv7_add_time(struct tw_stage *stage, uint64_t time, bool freq_changed,
                                     uint64_t index)
{
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_TIMESTAMP, index);

    element->timestamp = time;
    if (freq_changed)
        element->flags |= TW_TIME_FREQ_CHANGE;
    return element;
}

struct tw_element *tw_armv7_add_context(struct tw_stage *stage,
                                        const struct tw_armv7_context *context, uint8_t isa,
                                        uint64_t index)
{
    struct tw_element *element = tw_stage_add(stage, TW_ELEMENT_PE_CONTEXT, index);

    element->isa = isa;
    element->security = context->ns ? TW_NONSECURE : TW_SECURE;
    if (context->hyp) {
        element->flags |= TW_CONTEXT_HAS_EL;
        element->el = 2;
    }
    if (context->has_context_id) {
        element->flags |= TW_CONTEXT_HAS_CID;
        element->context_id = context->context_id;
    }
    if (context->has_vmid) {
        element->flags |= TW_CONTEXT_HAS_VMID;
        element->vmid = context->vmid;
    }
    tw_follow_context(stage->follow, stage->follow->view.space, element);
    return element;
}

bool tw_armv7_take_state(struct tw_stage *stage, struct tw_armv7_context *context, bool ns,
                         bool hyp)
{
    const bool is_new = context->ns != ns || context->hyp != hyp;

    context->ns = ns;
    context->hyp = hyp;
    tw_follow_view(stage->follow, ns ? TW_SPACE_ANY_N : TW_SPACE_ANY_S, 0);
    return is_new;
}

void tw_armv7_context_state(struct tw_armv7_context *context, struct tw_state *state)
{
    TW_STATE(state, context->ns);
    TW_STATE(state, context->hyp);
    TW_STATE(state, context->has_context_id);
    if (context->has_context_id)
        TW_STATE(state, context->context_id);
    TW_STATE(state, context->has_vmid);
    if (context->has_vmid)
        TW_STATE(state, context->vmid);
}

/* ---- index ---- */

/* Words of the state. */
enum { TIME, VMID, HAS_VMID };

unsigned tw_armv7_note_sync(const uint64_t *state, struct tw_index_note *notes, uint64_t time)
{
    unsigned count = tw_note(notes, TW_INDEX_SYNC, 1);

    count += tw_note(notes + count, TW_INDEX_STATE, time);
    count += tw_note(notes + count, TW_INDEX_STATE, state[VMID]);
    return count + tw_note(notes + count, TW_INDEX_STATE, state[HAS_VMID]);
}

unsigned tw_armv7_note_isync(struct tw_index_note *notes, unsigned reason, uint32_t address,
                             bool has_context_id, uint32_t context_id)
{
    unsigned count = 0;

    if (reason == PERIODIC)
        count += tw_note(notes, TW_INDEX_INFO, address);
    else
        count += tw_note(notes, TW_INDEX_TRACE_ON, tw_armv7_trace_on[reason & 3]);
    if (reason == AFTER_OVERFLOW)
        count += tw_note(notes + count, TW_INDEX_LOSS, TW_REASON_OVERFLOW);
    if (has_context_id)
        count += tw_note(notes + count, TW_INDEX_CONTEXT, context_id);
    return count;
}

void tw_armv7_note_vmid(uint64_t *state, uint32_t vmid)
{
    state[VMID] = vmid;
    state[HAS_VMID] = 1;
}

void tw_armv7_forget_vmid(uint64_t *state)
{
    state[VMID] = state[HAS_VMID] = 0;
}

void tw_armv7_restore(struct tw_armv7_context *context, uint64_t *time, const uint64_t *words)
{
    *time = words[TIME];
    context->vmid = (uint32_t)words[VMID];
    context->has_vmid = words[HAS_VMID] != 0;
}

/* ---- parallel decode ---- */

bool tw_armv7_split(struct tw_split *split, const uint8_t *data, size_t size,
                    size_t (*knows_all)(void *context, const uint8_t *data, size_t size,
                                        size_t start),
                    void *context)
{
    size_t at = split->at > split->least ? split->at : split->least;

    while ((at = tw_armv7_next_async(data, size, at)) < size) {
        const size_t until = knows_all(context, data, size, at);

        if (until) {
            split->start = at;
            split->at = split->until = until;
            return true;
        }
        at++;
    }
    split->at = size;
    return false;
}
