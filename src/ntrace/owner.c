/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: whose code it is, as Ownership messages say, and what a decoder knows that begins behind them. */
#include "ntrace/decode.h"

void tw_ntrace_own(struct tw_ntrace_owner *owner, uint64_t process)
{
    const unsigned format = process & 3;

    if (format == TW_NTRACE_SCONTEXT) {
        owner->scontext = process >> 5;
        owner->has_scontext = true;
    } else if (format == TW_NTRACE_HCONTEXT) {
        owner->hcontext = process >> 5;
        owner->has_hcontext = true;
    }
}

/* The address space to look in: the context, where the image tells them apart. */
static void set_view(struct tw_stage *stage, const struct tw_element *element)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_blocks *before = stage->follow->blocks;
    struct tw_image *image = stage->follow->code->image;
    uint32_t context = 0;

    if (stage->follow->look) {
        tw_follow_context(stage->follow, TW_SPACE_ANY, element);
    } else {
        if (decoder->image_has_contexts)
            for (size_t i = 0; i < tw_image_region_count(image) && !context; i++)
                if (tw_image_region(image, i)->context == (uint32_t)decoder->owner.scontext)
                    context = (uint32_t)decoder->owner.scontext;
        tw_follow_view(stage->follow, TW_SPACE_ANY, context);
        tw_follow_owner(stage->follow, element);
    }
    if (stage->follow->blocks != before)
        decoder->at = decoder->last = 0;
}

void tw_ntrace_tell_owner(struct tw_stage *stage, uint64_t process, uint64_t index)
{
    const struct tw_ntrace_decoder *decoder = stage->decoder;
    const struct tw_ntrace_owner *owner = &decoder->owner;
    struct tw_element *out = tw_stage_add(stage, TW_ELEMENT_PE_CONTEXT, index);

    out->isa = decoder->isa;
    out->el = process >> 2 & 3;
    out->is_virtual = process >> 4 & 1;
    out->ownership = process & 3;
    out->flags = (uint8_t)(TW_CONTEXT_HAS_PRIV | TW_CONTEXT_OWNERSHIP |
                           (owner->has_scontext ? TW_CONTEXT_HAS_CID : 0) |
                           (owner->has_hcontext ? TW_CONTEXT_HAS_VMID : 0) |
                           (decoder->isa == TW_ISA_RV64 ? TW_CONTEXT_64BIT : 0));
    out->context_id = (uint32_t)owner->scontext;
    out->vmid = (uint32_t)owner->hcontext;
    out->context_high = (uint32_t)(process >> 5 >> 32);
    set_view(stage, out);
}

void tw_ntrace_take_before(struct tw_stage *stage)
{
    struct tw_ntrace_decoder *decoder = stage->decoder;
    struct tw_ntrace_before *before = &decoder->before;

    before->is_due = false;
    decoder->has_time = before->has_time;
    decoder->time = before->time;
    if (!before->has_owner)
        return;
    decoder->owner = before->owner;
    tw_ntrace_tell_owner(stage, before->process, before->owner_index);
}
