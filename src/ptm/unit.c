/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: the trace unit's model, executed instructions to bytes. */
#include "ptm/unit.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum {
    REPEATS_MOST = 1 << 18, /* bytes of atoms made at once: memory is bounded */
    DEFAULT_DEPTH = 4
};

static enum tw_status put(struct tw_ptm_unit *unit, const struct tw_ptm_packet *packet)
{
    size_t size = TW_PTM_PACKET_MAX;

    if (!tw_armv7_unit_has_room(&unit->base, size))
        return TW_E_MEMORY;
    TW_TRY(tw_ptm_write(&unit->writer, unit->base.bytes + unit->base.size, &size, packet));
    unit->base.size += size;
    return TW_OK;
}

static uint32_t take_cycles(struct tw_ptm_unit *unit)
{
    const uint32_t cycles = unit->cycles > UINT32_MAX ? UINT32_MAX : (uint32_t)unit->cycles;

    unit->cycles = 0;
    return cycles;
}

static enum tw_status put_atoms(struct tw_ptm_unit *unit)
{
    if (!unit->atom_count)
        return TW_OK;
    if (!tw_armv7_unit_has_room(&unit->base, 1))
        return TW_E_MEMORY;
    unit->base.bytes[unit->base.size++] = tw_ptm_atom_header(unit->atoms, unit->atom_count);
    unit->writer.offset++;
    unit->atoms = unit->atom_count = 0;
    return TW_OK;
}

static enum tw_status add_atom(struct tw_ptm_unit *unit, bool taken)
{
    if (TW_UNLIKELY(unit->writer.setup.cycle_accurate)) {
        const struct tw_ptm_packet single = { .base = { .type = TW_PTM_ATOM },
                                              .atoms = taken,
                                              .atom_count = 1,
                                              .has_cycles = true,
                                              .cycles = take_cycles(unit) };

        return put(unit, &single);
    }
    unit->atoms |= (uint8_t)(taken << unit->atom_count);
    if (++unit->atom_count == TW_PTM_UNIT_ATOMS)
        return put_atoms(unit);
    return TW_OK;
}

static enum tw_status put_isync(struct tw_ptm_unit *unit, uint8_t reason, uint32_t address,
                                uint8_t isa)
{
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_ISYNC },
                                    .address = address,
                                    .isa = isa,
                                    .reason = reason,
                                    .ns = tw_armv7_unit_is_ns(&unit->base),
                                    .hyp = tw_armv7_unit_is_hyp(&unit->base),
                                    .context_id = tw_armv7_unit_context_id(&unit->base) };

    if (unit->writer.setup.cycle_accurate && reason != TW_PTM_PERIODIC) {
        packet.has_cycles = true;
        packet.cycles = take_cycles(unit);
    }
    unit->base.told_ns = packet.ns;
    unit->base.told_hyp = packet.hyp;
    unit->base.told_context_id = packet.context_id;
    tw_armv7_unit_settle(&unit->base);
    unit->return_count = 0;
    unit->block = address;
    unit->has_last = false;
    return put(unit, &packet);
}

static enum tw_status put_async(struct tw_ptm_unit *unit)
{
    const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_ASYNC } };

    unit->base.synced_at = unit->base.size;
    return put(unit, &packet);
}

/* A branch packet: the taken waypoint that is not told by an atom, or an exception. */
static enum tw_status put_branch(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa,
                                 unsigned exception)
{
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_BRANCH_ADDRESS },
                                    .address = address,
                                    .isa = isa,
                                    .exception = (uint16_t)exception,
                                    .ns = tw_armv7_unit_is_ns(&unit->base),
                                    .hyp = tw_armv7_unit_is_hyp(&unit->base) };

    TW_TRY(put_atoms(unit));
    packet.has_info = exception || !tw_armv7_unit_knows_state(&unit->base);
    if (packet.has_info) {
        packet.info_size = packet.hyp != unit->base.told_hyp || packet.hyp ? 2 : 1;
        /* An exception's address is always whole: nothing else tells the instruction set. */
        packet.address_size = TW_ARMV7_ADDRESS_MAX;
    }
    if (unit->writer.setup.cycle_accurate) {
        packet.has_cycles = true;
        packet.cycles = take_cycles(unit);
    }
    unit->base.told_ns = packet.ns;
    unit->base.told_hyp = packet.hyp;
    if (packet.has_info)
        tw_armv7_unit_settle(&unit->base);
    return put(unit, &packet);
}

/* Context ID and VMID follow the first waypoint after they changed. */
static enum tw_status put_identifiers(struct tw_ptm_unit *unit)
{
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_CONTEXT_ID } };

    if (!tw_armv7_unit_knows_context(&unit->base)) {
        TW_TRY(put_atoms(unit));
        packet.value = unit->base.told_context_id = tw_armv7_unit_context_id(&unit->base);
        TW_TRY(put(unit, &packet));
    }
    if (!tw_armv7_unit_knows_vmid(&unit->base)) {
        TW_TRY(put_atoms(unit));
        packet.base.type = TW_PTM_VMID;
        packet.value = unit->base.told_vmid = unit->base.context.vmid & 0xff;
        TW_TRY(put(unit, &packet));
    }
    tw_armv7_unit_settle(&unit->base);
    return TW_OK;
}

/* A waypoint is told: the decoder is at `next` now. */
static enum tw_status pass_waypoint(struct tw_ptm_unit *unit, uint32_t next)
{
    unit->block = next;
    unit->has_last = false;
    if (TW_UNLIKELY(!unit->base.is_settled))
        TW_TRY(put_identifiers(unit));
    if (TW_LIKELY(tw_armv7_unit_before_sync(&unit->base)))
        return TW_OK;
    TW_TRY(put_atoms(unit));
    TW_TRY(put_async(unit));
    return put_isync(unit, TW_PTM_PERIODIC, next, unit->base.next_isa);
}

/* The taken indirect branch went here. */
static enum tw_status resolve(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    const unsigned count = unit->return_count;

    if (!unit->base.is_waiting)
        return TW_OK;
    unit->base.is_waiting = false;
    unit->base.next = address;
    unit->base.next_isa = isa;
    if (count && unit->returns[count - 1].address == address &&
        unit->returns[count - 1].isa == isa && tw_armv7_unit_knows_state(&unit->base)) {
        unit->return_count--;
        TW_TRY(add_atom(unit, true));
    } else {
        TW_TRY(put_branch(unit, address, isa, 0));
    }
    if (unit->is_linking)
        tw_ptm_unit_push(unit, unit->link_address, unit->link_isa);
    if (unit->base.is_exception_return && unit->writer.setup.is_v11) {
        const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_EXCEPTION_RETURN } };

        TW_TRY(put_atoms(unit));
        TW_TRY(put(unit, &packet));
    }
    return pass_waypoint(unit, address);
}

/* Tells of instructions since the last waypoint. */
static enum tw_status put_update(struct tw_ptm_unit *unit)
{
    const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_WP_UPDATE },
                                          .address = unit->last,
                                          .isa = unit->base.next_isa };

    if (!unit->has_last)
        return TW_OK;
    unit->has_last = false;
    unit->block = unit->base.next;
    TW_TRY(put_atoms(unit));
    return put(unit, &packet);
}

/* Starts tracing, or goes on where the path was broken off. */
static enum tw_status begin(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    TW_TRY(tw_ptm_unit_flush(unit));
    unit->base.is_waiting = false;
    if (!unit->base.has_begun)
        TW_TRY(put_async(unit));
    unit->base.has_begun = true;
    unit->base.is_tracing = true;
    unit->base.next = address;
    unit->base.next_isa = isa;
    TW_TRY(put_isync(unit, unit->base.reason, address, isa));
    unit->base.reason = TW_PTM_TRACE_ENABLE;
    return TW_OK;
}

static enum tw_status retire_waypoint(struct tw_ptm_unit *unit, const struct tw_retired *from,
                                      uint8_t flags, const struct tw_instruction *what)
{
    const bool is_taken = flags & TW_RETIRED_TAKEN;
    const uint32_t after = (uint32_t)from->address + from->size;

    if (what->kind == TW_FLOW_INDIRECT && is_taken) {
        unit->base.is_waiting = true;
        unit->is_linking = what->is_link;
        unit->base.is_exception_return = what->is_exception_return;
        unit->link_address = after;
        unit->link_isa = from->isa;
        unit->has_last = false; /* the branch packet or atom tells of it */
        return TW_OK;
    }
    if (what->kind == TW_FLOW_BRANCH && is_taken) {
        unit->base.next = (uint32_t)what->target;
        unit->base.next_isa = what->target_isa;
        if (unit->writer.setup.branch_broadcast)
            TW_TRY(put_branch(unit, unit->base.next, unit->base.next_isa, 0));
        else
            TW_TRY(add_atom(unit, true));
        if (what->is_link)
            tw_ptm_unit_push(unit, after, from->isa);
    } else {
        /* A barrier is executed unless its condition failed, of which nothing is known. */
        TW_TRY(add_atom(unit, what->kind != TW_FLOW_BRANCH && what->kind != TW_FLOW_INDIRECT));
    }
    return pass_waypoint(unit, unit->base.next);
}

/* An instruction comes: where the one before went, or where trace begins. */
static enum tw_status arrive(struct tw_ptm_unit *unit, const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;

    TW_TRY(resolve(unit, address, from->isa));
    if (!unit->base.is_tracing || unit->base.next != address ||
        unit->base.next_isa != from->isa)
        TW_TRY(begin(unit, address, from->isa));
    else if (!tw_armv7_unit_knows_state(&unit->base)) {
        /* The state changed where no branch could tell. */
        TW_TRY(put_update(unit));
        TW_TRY(put_atoms(unit));
        TW_TRY(put_isync(unit, TW_PTM_PERIODIC, address, from->isa));
    }
    return TW_OK;
}

/* An instruction that was arrived at, with flags that stand for its own. */
TW_INLINE enum tw_status leave(struct tw_ptm_unit *unit, const struct tw_retired *from,
                               uint8_t flags)
{
    const struct tw_instruction *what = tw_armv7_unit_look(&unit->base, from);

    unit->base.next = (uint32_t)from->address + from->size;
    unit->cycles++;
    if (TW_LIKELY(what->is_waypoint))
        return retire_waypoint(unit, from, flags, what);
    unit->last = (uint32_t)from->address;
    unit->has_last = true;
    return unit->base.next - unit->block >= TW_PTM_UPDATE_BYTES ? put_update(unit) : TW_OK;
}

enum tw_status tw_ptm_unit_retire(struct tw_ptm_unit *unit,
                                  const struct tw_retired *instructions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!tw_armv7_unit_takes(&instructions[i]))
            return TW_E_ARGUMENT;
        TW_TRY(arrive(unit, &instructions[i]));
        TW_TRY(leave(unit, &instructions[i], instructions[i].flags));
    }
    return TW_OK;
}

/* All but the last of a straight run, of which the first was arrived at. */
TW_INLINE enum tw_status pass_straight(struct tw_ptm_unit *unit, const struct tw_retired *list,
                                       size_t count)
{
    const struct tw_retired *last = &list[count - 1];
    const uint32_t next = (uint32_t)last->address + last->size;

    if (TW_UNLIKELY(unit->base.isa.dsb_dmb_is_waypoint ||
                    next - unit->block >= TW_PTM_UPDATE_BYTES))
        return tw_ptm_unit_retire(unit, list, count);
    unit->base.next = next;
    unit->cycles += count;
    unit->last = (uint32_t)last->address;
    unit->has_last = true;
    return TW_OK;
}

static enum tw_status retire_run(struct tw_ptm_unit *unit, const struct tw_retired_run *run)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];

    if (!tw_armv7_unit_takes(last))
        return TW_E_ARGUMENT;
    if (!tw_armv7_unit_goes_on(&unit->base, run->instructions))
        TW_TRY(arrive(unit, run->instructions));
    if (run->count > 1)
        TW_TRY(pass_straight(unit, run->instructions, run->count - 1));
    return leave(unit, last, run->flags);
}

/* A run that leads to itself, and was executed: how many more atoms it comes to before there is more to tell. */
static uint64_t room_for_atoms(struct tw_ptm_unit *unit, const struct tw_retired_run *run)
{
    const struct tw_retired *first = run->instructions, *last = &first[run->count - 1];
    const struct tw_instruction *what = tw_armv7_unit_look(&unit->base, last);
    const size_t before_sync = tw_armv7_unit_before_sync(&unit->base);

    if (!before_sync || what->kind != TW_FLOW_BRANCH || what->is_link ||
        !(run->flags & TW_RETIRED_TAKEN) || unit->writer.setup.cycle_accurate ||
        unit->writer.setup.branch_broadcast || unit->base.isa.dsb_dmb_is_waypoint ||
        !tw_armv7_unit_goes_on(&unit->base, first) || what->target_isa != first->isa ||
        last->address + last->size - first->address >= TW_PTM_UPDATE_BYTES)
        return 0;
    /* Each byte holds five of them, and the one that would bring synchronization is left. */
    return (before_sync < REPEATS_MOST ? before_sync - 1 : REPEATS_MOST) * TW_PTM_UNIT_ATOMS;
}

static enum tw_status repeat_atoms(struct tw_ptm_unit *unit, uint64_t count)
{
    while (count && unit->atom_count) {
        TW_TRY(add_atom(unit, true));
        count--;
    }
    if (count >= TW_PTM_UNIT_ATOMS) {
        const size_t bytes = (size_t)(count / TW_PTM_UNIT_ATOMS);

        if (!tw_armv7_unit_has_room(&unit->base, bytes))
            return TW_E_MEMORY;
        memset(unit->base.bytes + unit->base.size,
               tw_ptm_atom_header((1u << TW_PTM_UNIT_ATOMS) - 1, TW_PTM_UNIT_ATOMS), bytes);
        unit->base.size += bytes;
        unit->writer.offset += bytes;
        count %= TW_PTM_UNIT_ATOMS;
    }
    for (; count; count--)
        TW_TRY(add_atom(unit, true));
    return TW_OK;
}

static enum tw_status repeat_run(struct tw_ptm_unit *unit, const struct tw_retired_run *run)
{
    for (uint64_t left = run->repeats; left;) {
        const uint64_t room = room_for_atoms(unit, run), some = room < left ? room : left;

        if (some) {
            TW_TRY(repeat_atoms(unit, some));
            unit->cycles += some * run->count;
            left -= some;
            continue;
        }
        TW_TRY(retire_run(unit, run));
        left--;
    }
    return TW_OK;
}

static enum tw_status retire_runs(struct tw_ptm_unit *unit, const struct tw_retired_run *runs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        i += tw_ptm_unit_pass_runs(unit, runs + i, count - i);
        if (i == count)
            break;
        if (!runs[i].count)
            continue;
        TW_TRY(retire_run(unit, &runs[i]));
        if (runs[i].repeats)
            TW_TRY(repeat_run(unit, &runs[i]));
    }
    return TW_OK;
}

/* An exception whose return address is known tells where a branch went. */
static enum tw_status take_exception(struct tw_ptm_unit *unit, unsigned number, uint32_t vector,
                                     uint8_t isa)
{
    if (!unit->base.is_tracing)
        return TW_OK;
    TW_TRY(put_update(unit));
    TW_TRY(put_branch(unit, vector, isa, number));
    unit->base.next = unit->block = vector;
    unit->base.next_isa = isa;
    return put_identifiers(unit);
}

enum tw_status tw_ptm_unit_exception(struct tw_ptm_unit *unit, unsigned number, uint32_t vector,
                                     uint8_t isa)
{
    if (number < 1 || number > 15 || !tw_armv7_unit_can_be_at(vector, isa))
        return TW_E_ARGUMENT;
    /* Where the branch went is not known: it went, then the exception came. */
    if (unit->base.is_waiting)
        TW_TRY(resolve(unit, vector, isa));
    return take_exception(unit, number, vector, isa);
}

enum tw_status tw_ptm_unit_context(struct tw_ptm_unit *unit,
                                   const struct tw_step_context *context)
{
    unit->base.context = *context;
    tw_armv7_unit_settle(&unit->base);
    return TW_OK;
}

enum tw_status tw_ptm_unit_flush(struct tw_ptm_unit *unit)
{
    if (unit->base.is_tracing && !unit->base.is_waiting)
        TW_TRY(put_update(unit));
    return put_atoms(unit);
}

enum tw_status tw_ptm_unit_gap(struct tw_ptm_unit *unit, unsigned reason)
{
    if (reason == TW_PTM_PERIODIC || reason > TW_PTM_DEBUG_EXIT)
        return TW_E_ARGUMENT;
    TW_TRY(tw_ptm_unit_flush(unit));
    unit->base.is_tracing = unit->base.is_waiting = false;
    unit->base.reason = (uint8_t)reason;
    return TW_OK;
}

enum tw_status tw_ptm_unit_trigger(struct tw_ptm_unit *unit)
{
    const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_TRIGGER } };

    TW_TRY(put_atoms(unit));
    return put(unit, &packet);
}

enum tw_status tw_ptm_unit_time(struct tw_ptm_unit *unit, uint64_t time)
{
    const struct tw_ptm_setup *setup = &unit->writer.setup;
    const uint64_t mask = setup->time_width == 48 ? ((uint64_t)1 << 48) - 1 : UINT64_MAX;
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_TIMESTAMP } };

    if (!setup->timestamps || !unit->base.is_tracing)
        return TW_OK;
    TW_TRY(put_atoms(unit));
    packet.timestamp = setup->time_is_gray ? tw_binary_to_gray(time & mask) : time & mask;
    if (setup->cycle_accurate) {
        packet.has_cycles = true;
        packet.cycles = take_cycles(unit);
    }
    return put(unit, &packet);
}

enum tw_status tw_ptm_unit_cycles(struct tw_ptm_unit *unit, uint32_t count)
{
    unit->cycles += count;
    return TW_OK;
}

static enum tw_status step_exception(struct tw_ptm_unit *unit, const struct tw_step *step)
{
    const struct tw_armv7_exception exception = tw_armv7_exception(step->exception);

    /* Its return address is where the branch before it went. */
    TW_TRY(resolve(unit, (uint32_t)step->return_address, step->return_isa));
    return take_exception(unit, exception.number, unit->config.vectors + exception.vector,
                          TW_ISA_A32);
}

enum tw_status tw_ptm_unit_step(struct tw_ptm_unit *unit, const struct tw_step *step)
{
    switch (step->kind) {
    case TW_STEP_INSTRUCTIONS:
        return tw_ptm_unit_retire(unit, step->instructions, step->count);
    case TW_STEP_RUNS:
        return retire_runs(unit, step->runs, step->run_count);
    case TW_STEP_CONTEXT:
        return tw_ptm_unit_context(unit, &step->context);
    case TW_STEP_EXCEPTION:
        return step_exception(unit, step);
    case TW_STEP_GAP:
        return tw_ptm_unit_gap(unit, TW_PTM_TRACE_ENABLE);
    case TW_STEP_TIME:
        return tw_ptm_unit_time(unit, step->value);
    case TW_STEP_CYCLES:
        return tw_ptm_unit_cycles(unit, (uint32_t)step->value);
    case TW_STEP_FLUSH:
        return tw_ptm_unit_flush(unit);
    case TW_STEP_RECOVER:
        return tw_ptm_unit_gap(unit, TW_PTM_AFTER_OVERFLOW);
    case TW_STEP_DEBUG:
        return step->value ? TW_OK : tw_ptm_unit_gap(unit, TW_PTM_DEBUG_EXIT);
    default:
        return TW_OK;
    }
}

enum tw_status tw_ptm_unit_new(struct tw_ptm_unit **unit,
                               const struct tw_ptm_unit_config *config, struct tw_fault *fault)
{
    struct tw_ptm_unit_config copy;
    struct tw_ptm_unit *made;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_ptm_unit_config", fault));
    config = &copy;
    if (config->return_stack_depth > 16)
        return tw_fail(fault, TW_E_ARGUMENT, "a return stack of more than 16 entries");
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a trace unit");
    made->config = *config;
    if (!made->config.return_stack_depth)
        made->config.return_stack_depth = DEFAULT_DEPTH;
    tw_ptm_reader_init(&made->writer, &config->registers);
    made->base.allocator = config->allocator;
    made->base.sync_bytes = config->sync_bytes;
    made->base.has_hyp = made->writer.setup.has_hyp;
    made->base.has_vmid = made->writer.setup.vmid;
    made->base.context_bytes = made->writer.setup.context_bytes;
    made->base.isa.arch = 7;
    made->base.isa.dsb_dmb_is_waypoint = made->writer.setup.barriers_are_waypoints;
    made->base.reason = TW_PTM_TRACE_ENABLE;
    *unit = made;
    return TW_OK;
}

void tw_ptm_unit_free(struct tw_ptm_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->base.bytes);
    tw_give(unit->config.allocator, unit);
}

const uint8_t *tw_ptm_unit_output(const struct tw_ptm_unit *unit, size_t *size)
{
    *size = unit->base.size;
    return unit->base.bytes;
}

void tw_ptm_unit_take(struct tw_ptm_unit *unit)
{
    tw_armv7_unit_take(&unit->base);
}
