/* SPDX-License-Identifier: BSD-2-Clause */
/* What one instruction does, for who asks from outside. */
#include <trackway/instruction.h>

#include "base/sized.h"
#include "isa/isa.h"

static uint16_t halfword(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

/* Bytes of the instruction; 0: the instruction set is not known, or it is not all there. */
static uint8_t size_of(const struct tw_instruction_query *query)
{
    uint8_t size = 0;

    if (query->isa == TW_ISA_A64 || query->isa == TW_ISA_A32)
        size = 4;
    else if (query->count < 2)
        return 0;
    else if (query->isa == TW_ISA_T32)
        size = tw_t32_size(halfword(query->bytes));
    else if (query->isa == TW_ISA_RV32 || query->isa == TW_ISA_RV64)
        size = tw_rv_size(halfword(query->bytes));
    return size <= query->count ? size : 0;
}

static void classify(struct tw_instruction *out, const struct tw_instruction_query *query,
                     uint8_t size)
{
    const struct tw_isa_options options = { .profile = query->profile,
                                            .wfx_is_p0 = query->wfx_is_waypoint,
                                            .wfet_wfit_is_p0 = query->wfx_is_waypoint,
                                            .tstart_is_p0 = query->tstart_is_waypoint,
                                            .dsb_dmb_is_waypoint = query->dsb_dmb_is_waypoint };
    const struct tw_rv_options rv_options = { .has_zcmp = false };
    const uint32_t low = halfword(query->bytes);
    const uint32_t high = size == 4 ? halfword(query->bytes + 2) : 0;
    struct tw_rv_instruction rv;

    switch (query->isa) {
    case TW_ISA_A64:
        tw_a64_classify(out, high << 16 | low, query->address, &options);
        break;
    case TW_ISA_A32:
        tw_a32_classify(out, high << 16 | low, query->address, &options);
        break;
    case TW_ISA_T32:
        tw_t32_classify(out, size == 4 ? low << 16 | high : low, query->address, query->it_open,
                        &options);
        break;
    default:
        tw_rv_classify(&rv, high << 16 | low, query->address, query->isa, &rv_options);
        *out = rv.flow;
        break;
    }
}

enum tw_status tw_instruction_classify(struct tw_instruction_answer *answer,
                                       const struct tw_instruction_query *query)
{
    struct tw_instruction_query ours;
    struct tw_instruction_answer made = { .size = sizeof made };
    struct tw_instruction found;
    enum tw_status status;
    uint8_t size;

    status = TW_SIZED_TAKE(&ours, query, "tw_instruction_query", NULL);
    if (status != TW_OK)
        return status;
    size = size_of(&ours);
    if (!size)
        return TW_E_ARGUMENT;
    classify(&found, &ours, size);
    made.info =
        (struct tw_instruction_info){ .target = found.target,
                                      .size = size,
                                      .kind = found.kind,
                                      .sub = found.sub,
                                      .is_waypoint = found.is_waypoint,
                                      .is_conditional = found.is_conditional,
                                      .is_link = found.is_link,
                                      .is_return = found.is_return,
                                      .is_exception_return = found.is_exception_return };
    made.target_isa = found.target_isa;
    made.it_open = found.it_remaining;
    return TW_SIZED_GIVE(answer, &made) ? TW_OK : TW_E_ARGUMENT;
}
