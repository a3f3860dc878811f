/* SPDX-License-Identifier: BSD-2-Clause */
/* The elements that a protocol of the caller gives for a packet: its own, and those of the path. */
#include "tree/emit.h"

struct tw_element *tw_emit(struct tw_emitter *out, enum tw_element_type type)
{
    struct tw_element *element = &out->spare;

    if (out->count < TW_EMIT_MAX)
        element = &out->elements[out->count++];
    else
        out->is_over = true;
    *element = (struct tw_element){ .type = (uint8_t)type, .index = out->index };
    return element;
}

/* What the path ran into. */
static void emit_error(struct tw_emitter *out)
{
    struct tw_element *element;

    if (!out->follow->error)
        return;
    element = tw_emit(out, TW_ELEMENT_ERROR);
    element->error = out->follow->error;
    element->error_detail = out->follow->error_detail;
    out->follow->error = TW_ERROR_NONE;
    tw_follow_lose(out->follow);
}

void tw_flow_go(struct tw_emitter *out, uint64_t address, enum tw_isa isa)
{
    if (!out->follow)
        return;
    tw_follow_jump(out->follow, address, (uint8_t)isa);
    emit_error(out);
}

void tw_flow_atoms(struct tw_emitter *out, uint32_t taken, unsigned count)
{
    if (!out->follow || !count)
        return;
    if (count > 32 || TW_EMIT_MAX - out->count < TW_FOLLOW_MOST * count) {
        out->is_over = true;
        return;
    }
    out->count = (unsigned)(tw_follow_atoms(out->follow, &out->elements[out->count], taken,
                                            count, out->index) -
                            out->elements);
    emit_error(out);
}

void tw_flow_to(struct tw_emitter *out, uint64_t address)
{
    if (!out->follow)
        return;
    if (TW_EMIT_MAX - out->count < TW_FOLLOW_MOST) {
        out->is_over = true;
        return;
    }
    out->count = (unsigned)(tw_follow_to_exception(out->follow, &out->elements[out->count],
                                                   address, out->index) -
                            out->elements);
    emit_error(out);
}

void tw_flow_context(struct tw_emitter *out, const struct tw_element *context)
{
    struct tw_element *element = tw_emit(out, TW_ELEMENT_PE_CONTEXT);
    const uint64_t index = element->index;

    *element = *context;
    element->type = TW_ELEMENT_PE_CONTEXT;
    element->index = index;
    if (out->follow)
        tw_follow_context(out->follow, tw_element_view(element).space, element);
}

void tw_flow_lose(struct tw_emitter *out)
{
    if (out->follow)
        tw_follow_lose(out->follow);
}

void tw_emitter_check_repeats(struct tw_emitter *out)
{
    unsigned kept = 0, ranges = 0;

    for (unsigned i = 0; i < out->count; i++) {
        struct tw_element *element = &out->elements[i];

        if (element->type == TW_ELEMENT_REPEAT) {
            if (element->count > ranges)
                element->count = ranges;
            if (!element->count || !element->times)
                continue;
        }
        ranges = element->type == TW_ELEMENT_INSTR_RANGE ? ranges + 1 : 0;
        if (kept != i)
            out->elements[kept] = *element;
        kept++;
    }
    out->count = kept;
}
