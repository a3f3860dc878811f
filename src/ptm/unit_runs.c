/* SPDX-License-Identifier: BSD-2-Clause */
/* The PTM trace unit for runs of instructions: while all that is to be told of them are atoms and the targets of
   branches, packets are written at once. */
#include "ptm/unit.h"

enum { SOME = 32 /* bytes that a run comes to at most, with all that waits */ };

struct tw_ptm_flow {
    struct tw_armv7_flow base;
    uint32_t block;
    uint8_t atoms, atom_count;
};

/* Nothing is due, and nothing but atoms and addresses is traced. */
static bool is_plain(const struct tw_ptm_unit *unit)
{
    const struct tw_ptm_setup *setup = &unit->writer.setup;

    return unit->base.is_tracing && unit->base.is_settled && unit->writer.is_synced &&
           !setup->cycle_accurate && !setup->branch_broadcast &&
           !unit->base.isa.dsb_dmb_is_waypoint &&
           !(unit->base.is_waiting && unit->base.is_exception_return);
}

TW_INLINE void put_atoms(struct tw_ptm_flow *flow)
{
    if (flow->atom_count)
        *flow->base.at++ = tw_ptm_atom_header(flow->atoms, flow->atom_count);
    flow->atoms = flow->atom_count = 0;
}

TW_INLINE void add_atom(struct tw_ptm_flow *flow, bool is_taken)
{
    flow->atoms |= (uint8_t)(is_taken << flow->atom_count);
    if (++flow->atom_count == TW_PTM_UNIT_ATOMS)
        put_atoms(flow);
}

/* The taken indirect branch went here. */
TW_INLINE void resolve(struct tw_ptm_unit *unit, struct tw_ptm_flow *flow, uint32_t address,
                       uint8_t isa)
{
    const unsigned count = unit->return_count;

    if (count && unit->returns[count - 1].address == address &&
        unit->returns[count - 1].isa == isa) {
        unit->return_count--;
        add_atom(flow, true);
    } else {
        put_atoms(flow);
        flow->base.at += tw_armv7_write_branch(flow->base.at, address, unit->writer.address,
                                               isa, unit->writer.isa, true);
        unit->writer.address = address;
        unit->writer.isa = isa;
    }
    if (unit->is_linking)
        tw_ptm_unit_push(unit, unit->link_address, unit->link_isa);
    flow->base.is_waiting = false;
    flow->base.next = flow->block = address;
    flow->base.next_isa = isa;
    unit->has_last = false;
}

/* The last instruction of a run is left. */
TW_INLINE void leave(struct tw_ptm_unit *unit, struct tw_ptm_flow *flow,
                     const struct tw_retired *last, const struct tw_retired_run *run)
{
    const uint32_t after = (uint32_t)last->address + last->size;
    const bool is_taken = run->flags & TW_RETIRED_TAKEN;

    flow->base.next = after;
    if (last->kind == TW_RETIRED_OTHER) {
        unit->last = (uint32_t)last->address;
        unit->has_last = true;
        return;
    }
    unit->has_last = false;
    if (last->kind == TW_RETIRED_INDIRECT && is_taken) {
        flow->base.is_waiting = true;
        unit->is_linking = run->flags & TW_RETIRED_LINK;
        unit->link_address = after;
        unit->link_isa = last->isa;
        return;
    }
    add_atom(flow, is_taken);
    if (is_taken) {
        flow->base.next = (uint32_t)run->target;
        if (run->flags & TW_RETIRED_LINK)
            tw_ptm_unit_push(unit, after, last->isa);
    }
    flow->block = flow->base.next;
}

/* Nothing but a branch ends the run, which leaves no gap that would have to be told of. */
TW_INLINE bool is_told(const struct tw_ptm_flow *flow, const struct tw_retired_run *run)
{
    const struct tw_retired *first = run->instructions, *last = &first[run->count - 1];
    const uint32_t block = flow->base.is_waiting ? (uint32_t)first->address : flow->block;

    return last->kind <= TW_RETIRED_INDIRECT &&
           (uint32_t)last->address + last->size - block < TW_PTM_UPDATE_BYTES &&
           (flow->base.is_waiting ||
            (flow->base.next == (uint32_t)first->address && flow->base.next_isa == first->isa));
}

size_t tw_ptm_unit_pass_runs(struct tw_ptm_unit *unit, const struct tw_retired_run *runs,
                             size_t count)
{
    struct tw_ptm_flow flow = { .block = unit->block,
                                .atoms = unit->atoms,
                                .atom_count = unit->atom_count };
    const uint8_t *end;
    size_t passed = 0;

    if (!is_plain(unit) || !tw_armv7_flow_begin(&unit->base, &flow.base, &end, 16 * SOME))
        return 0;
    for (; passed < count && (size_t)(end - flow.base.at) > SOME; passed++) {
        const struct tw_retired_run *run = &runs[passed];

        if (!tw_armv7_unit_is_short(run, TW_PTM_UPDATE_BYTES) || !is_told(&flow, run))
            break;
        if (flow.base.is_waiting)
            resolve(unit, &flow, (uint32_t)run->instructions->address, run->instructions->isa);
        unit->cycles += run->count;
        leave(unit, &flow, &run->instructions[run->count - 1], run);
    }
    if (!passed)
        return 0;
    unit->writer.offset += tw_armv7_flow_end(&unit->base, &flow.base);
    unit->block = flow.block;
    unit->atoms = flow.atoms;
    unit->atom_count = flow.atom_count;
    return passed;
}
