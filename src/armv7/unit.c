/* SPDX-License-Identifier: BSD-2-Clause */
/* What the models of the trace units of ETMv3 and PTM share. */
#include "armv7/unit.h"

void tw_armv7_unit_classify(struct tw_armv7_unit *unit, size_t slot,
                            const struct tw_retired *from)
{
    unit->codes[slot].address = (uint32_t)from->address;
    unit->codes[slot].opcode = from->opcode;
    unit->codes[slot].isa = from->isa;
    if (from->isa == TW_ISA_A32)
        tw_a32_classify(&unit->codes[slot].what, from->opcode, from->address, &unit->isa);
    else
        tw_t32_classify(&unit->codes[slot].what, from->opcode, from->address, 0, &unit->isa);
}

bool tw_armv7_unit_knows_state(const struct tw_armv7_unit *unit)
{
    return tw_armv7_unit_is_ns(unit) == unit->told_ns &&
           tw_armv7_unit_is_hyp(unit) == unit->told_hyp;
}

bool tw_armv7_unit_knows_context(const struct tw_armv7_unit *unit)
{
    return !unit->context_bytes || tw_armv7_unit_context_id(unit) == unit->told_context_id;
}

bool tw_armv7_unit_knows_vmid(const struct tw_armv7_unit *unit)
{
    return !unit->has_vmid || (unit->context.vmid & 0xff) == unit->told_vmid;
}

void tw_armv7_unit_settle(struct tw_armv7_unit *unit)
{
    unit->is_settled = tw_armv7_unit_knows_state(unit) && tw_armv7_unit_knows_context(unit) &&
                       tw_armv7_unit_knows_vmid(unit);
}

void tw_armv7_unit_take(struct tw_armv7_unit *unit)
{
    unit->synced_at -= unit->size; /* wraps, as the difference does */
    unit->size = 0;
}
