/* SPDX-License-Identifier: BSD-2-Clause */
/* The ETMv3 trace unit for runs of instructions: while all that is to be told of them are atoms and the targets of
   branches, what they change is kept in registers, and packets are written at once. */
#include "etmv3/unit.h"

enum { SOME = 64 /* bytes that a short run comes to at most, with all that waits */ };

struct tw_etmv3_flow {
    struct tw_armv7_flow base; /* that waits for no return from an exception */
    uint32_t atoms;
    unsigned atom_count;
    uint32_t told; /* the address that was told last */
    uint8_t told_isa;
};

/* Nothing is due, and nothing but atoms and addresses is traced. */
static bool is_plain(const struct tw_etmv3_unit *unit)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    return unit->base.is_tracing && unit->base.is_settled && unit->base.has_begun &&
           unit->writer.is_synced && !unit->entered && !setup->data_only &&
           !setup->cycle_accurate && !setup->wide_is_two && !setup->branch_broadcast;
}

TW_INLINE void put_atoms(struct tw_etmv3_flow *flow)
{
    while (flow->atom_count) {
        const unsigned some =
            tw_etmv3_plain_header(flow->atoms, flow->atom_count, flow->base.at++);

        flow->atoms >>= some;
        flow->atom_count -= some;
    }
}

/* As many E as fit wait until one more comes. */
TW_INLINE void add_taken(struct tw_etmv3_flow *flow, uint32_t count)
{
    for (;;) {
        const unsigned room = TW_ETMV3_UNIT_ATOMS - flow->atom_count;
        const unsigned some = count < room ? count : room;

        flow->atoms |= ((1u << some) - 1) << flow->atom_count;
        flow->atom_count += some;
        count -= some;
        if (TW_LIKELY(!count))
            return;
        put_atoms(flow);
    }
}

/* The first instruction of a run comes; false: there is more to tell. */
TW_INLINE bool arrive(const struct tw_etmv3_unit *unit, struct tw_etmv3_flow *flow,
                      const struct tw_retired *first)
{
    const uint32_t address = (uint32_t)first->address;

    if (!flow->base.is_waiting)
        return flow->base.next == address && flow->base.next_isa == first->isa;
    put_atoms(flow);
    flow->base.at += tw_armv7_write_branch(flow->base.at, address, flow->told, first->isa,
                                           flow->told_isa, unit->writer.setup.alternative);
    flow->base.is_waiting = false;
    flow->told = address;
    flow->told_isa = first->isa;
    return true;
}

/* Its last one is left. */
TW_INLINE void leave(struct tw_etmv3_flow *flow, const struct tw_retired *last,
                     const struct tw_retired_run *run)
{
    const bool is_branch = last->kind == TW_RETIRED_BRANCH || last->kind == TW_RETIRED_INDIRECT;
    const bool is_taken =
        is_branch ? run->flags & TW_RETIRED_TAKEN : !(run->flags & TW_RETIRED_FAILED);
    const bool jumps = last->kind == TW_RETIRED_BRANCH && is_taken;

    flow->base.next = jumps ? (uint32_t)run->target : (uint32_t)last->address + last->size;
    flow->base.next_isa = last->isa;
    if (flow->atom_count == TW_ETMV3_UNIT_ATOMS)
        put_atoms(flow);
    flow->atoms |= (uint32_t)is_taken << flow->atom_count++;
    flow->base.is_waiting = last->kind == TW_RETIRED_INDIRECT && is_taken;
}

size_t tw_etmv3_unit_pass_runs(struct tw_etmv3_unit *unit, const struct tw_retired_run *runs,
                               size_t count)
{
    struct tw_etmv3_flow flow = { .atoms = unit->atoms,
                                  .atom_count = unit->atom_count,
                                  .told = unit->writer.address,
                                  .told_isa = unit->writer.isa };
    const uint8_t *end;
    size_t passed = 0;

    if (!is_plain(unit) || (unit->base.is_waiting && unit->base.is_exception_return) ||
        !tw_armv7_flow_begin(&unit->base, &flow.base, &end, 16 * SOME))
        return 0;
    for (; passed < count && (size_t)(end - flow.base.at) > SOME; passed++) {
        const struct tw_retired_run *run = &runs[passed];

        if (!tw_armv7_unit_is_short(run, SOME / 2) || !arrive(unit, &flow, run->instructions))
            break;
        add_taken(&flow, run->count - 1);
        leave(&flow, &run->instructions[run->count - 1], run);
    }
    if (!passed)
        return 0;
    unit->writer.offset += tw_armv7_flow_end(&unit->base, &flow.base);
    unit->writer.address = flow.told;
    unit->writer.isa = flow.told_isa;
    unit->atoms = flow.atoms;
    unit->atom_count = flow.atom_count;
    unit->cycles = 0;
    return passed;
}
