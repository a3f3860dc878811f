/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: the trace unit's model, executed instructions to bytes. */
#include <trackway/ptm_unit.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "path/follow.h"
#include "ptm/packet.h"

enum {
    UPDATE_BYTES = 4096, /* a waypoint update after so many bytes without a waypoint */
    ATOMS_MOST = 5,
    DEFAULT_DEPTH = 4,
    CODES = 512 /* waypoints that are kept classified */
};

struct tw_ptm_unit {
    struct tw_ptm_unit_config config;
    struct tw_ptm_reader writer;
    struct tw_isa_options isa;
    uint8_t *bytes;
    size_t size, room;
    size_t synced_at; /* bytes made since the last ASYNC: size less this */

    bool has_begun;   /* an ASYNC was made */
    bool is_tracing;  /* an I-sync told where we are */
    uint8_t reason;   /* of the next I-sync */
    uint32_t next;    /* the instruction that comes next if nothing happens ... */
    uint8_t next_isa; /* ... and its instruction set */
    uint32_t block;   /* where the decoder is: behind the last waypoint */
    uint32_t last;    /* the last instruction since, if there was one */
    bool has_last;
    bool is_waiting; /* the last one is a taken indirect branch: its target comes next */
    bool is_exception_return; /* ... and an exception return */
    bool is_linking;          /* ... and a call */
    uint32_t link_address;    /* return address of that call */
    uint8_t link_isa;

    uint8_t atoms, atom_count;
    uint64_t cycles; /* since the last count */

    struct {
        uint32_t address;
        uint8_t isa;
    } returns[16];
    unsigned return_count;

    struct tw_step_context context;
    bool has_told_state; /* `told` is what the trace says */
    bool told_ns, told_hyp;
    uint32_t told_context_id, told_vmid;

    struct {
        uint32_t address, opcode;
        uint8_t isa;
        struct tw_instruction what;
    } codes[CODES];
};

static enum tw_status put(struct tw_ptm_unit *unit, const struct tw_ptm_packet *packet)
{
    size_t size = TW_PTM_PACKET_MAX;

    if (!TW_GROW(unit->config.allocator, &unit->bytes, &unit->room, unit->size + size))
        return TW_E_MEMORY;
    TW_TRY(tw_ptm_write(&unit->writer, unit->bytes + unit->size, &size, packet));
    unit->size += size;
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
    const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_ATOM },
                                          .atoms = unit->atoms,
                                          .atom_count = unit->atom_count };

    if (!unit->atom_count)
        return TW_OK;
    unit->atoms = unit->atom_count = 0;
    return put(unit, &packet);
}

static enum tw_status add_atom(struct tw_ptm_unit *unit, bool taken)
{
    const struct tw_ptm_packet single = { .base = { .type = TW_PTM_ATOM },
                                          .atoms = taken,
                                          .atom_count = 1,
                                          .has_cycles = true,
                                          .cycles = unit->writer.setup.cycle_accurate
                                                        ? take_cycles(unit)
                                                        : 0 };

    if (unit->writer.setup.cycle_accurate)
        return put(unit, &single);
    unit->atoms |= (uint8_t)(taken << unit->atom_count);
    if (++unit->atom_count == ATOMS_MOST)
        return put_atoms(unit);
    return TW_OK;
}

static bool is_ns(const struct tw_ptm_unit *unit)
{
    return unit->context.security != TW_SECURE;
}

static bool is_hyp(const struct tw_ptm_unit *unit)
{
    return unit->context.el == 2 && unit->writer.setup.has_hyp;
}

static uint32_t context_mask(const struct tw_ptm_unit *unit)
{
    return unit->writer.setup.context_bytes == 4
               ? UINT32_MAX
               : (1u << (8 * unit->writer.setup.context_bytes)) - 1;
}

static enum tw_status put_isync(struct tw_ptm_unit *unit, uint8_t reason, uint32_t address,
                                uint8_t isa)
{
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_ISYNC },
                                    .address = address,
                                    .isa = isa,
                                    .reason = reason,
                                    .ns = is_ns(unit),
                                    .hyp = is_hyp(unit),
                                    .context_id =
                                        unit->context.context_id & context_mask(unit) };

    if (unit->writer.setup.cycle_accurate && reason != TW_PTM_PERIODIC) {
        packet.has_cycles = true;
        packet.cycles = take_cycles(unit);
    }
    unit->has_told_state = true;
    unit->told_ns = packet.ns;
    unit->told_hyp = packet.hyp;
    unit->told_context_id = packet.context_id;
    unit->return_count = 0;
    unit->block = address;
    unit->has_last = false;
    return put(unit, &packet);
}

static enum tw_status put_async(struct tw_ptm_unit *unit)
{
    const struct tw_ptm_packet packet = { .base = { .type = TW_PTM_ASYNC } };

    unit->synced_at = unit->size;
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
                                    .ns = is_ns(unit),
                                    .hyp = is_hyp(unit) };

    TW_TRY(put_atoms(unit));
    packet.has_info = exception || packet.ns != unit->told_ns || packet.hyp != unit->told_hyp;
    if (packet.has_info) {
        packet.info_size = packet.hyp != unit->told_hyp || packet.hyp ? 2 : 1;
        /* An exception's address is always whole: nothing else tells the instruction set. */
        packet.address_size = TW_ARMV7_ADDRESS_MAX;
    }
    if (unit->writer.setup.cycle_accurate) {
        packet.has_cycles = true;
        packet.cycles = take_cycles(unit);
    }
    unit->told_ns = packet.ns;
    unit->told_hyp = packet.hyp;
    return put(unit, &packet);
}

static void push_return(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    const unsigned depth = unit->config.return_stack_depth;

    if (!unit->writer.setup.return_stack)
        return;
    if (unit->return_count == depth) {
        for (unsigned i = 1; i < depth; i++)
            unit->returns[i - 1] = unit->returns[i];
        unit->return_count--;
    }
    unit->returns[unit->return_count].address = address;
    unit->returns[unit->return_count++].isa = isa;
}

/* Context ID and VMID follow the first waypoint after they changed. */
static enum tw_status put_identifiers(struct tw_ptm_unit *unit)
{
    const uint32_t context_id = unit->context.context_id & context_mask(unit);
    struct tw_ptm_packet packet = { .base = { .type = TW_PTM_CONTEXT_ID } };

    if (unit->writer.setup.context_bytes && context_id != unit->told_context_id) {
        TW_TRY(put_atoms(unit));
        packet.value = unit->told_context_id = context_id;
        TW_TRY(put(unit, &packet));
    }
    if (unit->writer.setup.vmid && (unit->context.vmid & 0xff) != unit->told_vmid) {
        TW_TRY(put_atoms(unit));
        packet.base.type = TW_PTM_VMID;
        packet.value = unit->told_vmid = unit->context.vmid & 0xff;
        TW_TRY(put(unit, &packet));
    }
    return TW_OK;
}

/* A waypoint is told: the decoder is at `next` now. */
static enum tw_status pass_waypoint(struct tw_ptm_unit *unit, uint32_t next)
{
    unit->block = next;
    unit->has_last = false;
    TW_TRY(put_identifiers(unit));
    if (!unit->config.sync_bytes || unit->size - unit->synced_at < unit->config.sync_bytes)
        return TW_OK;
    TW_TRY(put_atoms(unit));
    TW_TRY(put_async(unit));
    return put_isync(unit, TW_PTM_PERIODIC, next, unit->next_isa);
}

/* The taken indirect branch went here. */
static enum tw_status resolve(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    const unsigned count = unit->return_count;

    if (!unit->is_waiting)
        return TW_OK;
    unit->is_waiting = false;
    unit->next = address;
    unit->next_isa = isa;
    if (count && unit->returns[count - 1].address == address &&
        unit->returns[count - 1].isa == isa && is_ns(unit) == unit->told_ns &&
        is_hyp(unit) == unit->told_hyp) {
        unit->return_count--;
        TW_TRY(add_atom(unit, true));
    } else {
        TW_TRY(put_branch(unit, address, isa, 0));
    }
    if (unit->is_linking)
        push_return(unit, unit->link_address, unit->link_isa);
    if (unit->is_exception_return && unit->writer.setup.is_v11) {
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
                                          .isa = unit->next_isa };

    if (!unit->has_last)
        return TW_OK;
    unit->has_last = false;
    unit->block = unit->next;
    TW_TRY(put_atoms(unit));
    return put(unit, &packet);
}

/* Starts tracing, or goes on where the path was broken off. */
static enum tw_status begin(struct tw_ptm_unit *unit, uint32_t address, uint8_t isa)
{
    TW_TRY(tw_ptm_unit_flush(unit));
    unit->is_waiting = false;
    if (!unit->has_begun)
        TW_TRY(put_async(unit));
    unit->has_begun = true;
    unit->is_tracing = true;
    unit->next = address;
    unit->next_isa = isa;
    TW_TRY(put_isync(unit, unit->reason, address, isa));
    unit->reason = TW_PTM_TRACE_ENABLE;
    return TW_OK;
}

static enum tw_status retire_waypoint(struct tw_ptm_unit *unit, const struct tw_retired *from,
                                      const struct tw_instruction *what)
{
    const bool is_taken = (from->flags & TW_RETIRED_TAKEN) != 0;
    const uint32_t after = (uint32_t)from->address + from->size;

    if (what->kind == TW_FLOW_INDIRECT && is_taken) {
        unit->is_waiting = true;
        unit->is_linking = what->is_link;
        unit->is_exception_return = what->is_exception_return;
        unit->link_address = after;
        unit->link_isa = from->isa;
        unit->has_last = false; /* the branch packet or atom tells of it */
        return TW_OK;
    }
    if (what->kind == TW_FLOW_BRANCH && is_taken) {
        unit->next = (uint32_t)what->target;
        unit->next_isa = what->target_isa;
        if (unit->writer.setup.branch_broadcast)
            TW_TRY(put_branch(unit, unit->next, unit->next_isa, 0));
        else
            TW_TRY(add_atom(unit, true));
        if (what->is_link)
            push_return(unit, after, from->isa);
    } else {
        /* A barrier is executed unless its condition failed, of which nothing is known. */
        TW_TRY(add_atom(unit, what->kind != TW_FLOW_BRANCH && what->kind != TW_FLOW_INDIRECT));
    }
    return pass_waypoint(unit, unit->next);
}

/* The same code is executed over and over. */
static const struct tw_instruction *look(struct tw_ptm_unit *unit,
                                         const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;
    const size_t slot = (address >> 1 ^ address >> 10) % CODES;

    if (unit->codes[slot].address == address && unit->codes[slot].opcode == from->opcode &&
        unit->codes[slot].isa == from->isa)
        return &unit->codes[slot].what;
    unit->codes[slot].address = address;
    unit->codes[slot].opcode = from->opcode;
    unit->codes[slot].isa = from->isa;
    if (from->isa == TW_ISA_A32)
        tw_a32_classify(&unit->codes[slot].what, from->opcode, from->address, &unit->isa);
    else
        tw_t32_classify(&unit->codes[slot].what, from->opcode, from->address, 0, &unit->isa);
    return &unit->codes[slot].what;
}

/* An instruction comes: where the one before went, or where trace begins. */
static enum tw_status arrive(struct tw_ptm_unit *unit, const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;

    TW_TRY(resolve(unit, address, from->isa));
    if (!unit->is_tracing || unit->next != address || unit->next_isa != from->isa)
        TW_TRY(begin(unit, address, from->isa));
    else if (is_ns(unit) != unit->told_ns || is_hyp(unit) != unit->told_hyp) {
        /* The state changed where no branch could tell. */
        TW_TRY(put_update(unit));
        TW_TRY(put_atoms(unit));
        TW_TRY(put_isync(unit, TW_PTM_PERIODIC, address, from->isa));
    }
    return TW_OK;
}

static enum tw_status retire_one(struct tw_ptm_unit *unit, const struct tw_retired *from)
{
    const struct tw_instruction *what = look(unit, from);

    TW_TRY(arrive(unit, from));
    unit->next = (uint32_t)from->address + from->size;
    unit->cycles++;
    if (what->is_waypoint)
        return retire_waypoint(unit, from, what);
    unit->last = (uint32_t)from->address;
    unit->has_last = true;
    return unit->next - unit->block >= UPDATE_BYTES ? put_update(unit) : TW_OK;
}

enum tw_status tw_ptm_unit_retire(struct tw_ptm_unit *unit,
                                  const struct tw_retired *instructions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((instructions[i].isa != TW_ISA_A32 && instructions[i].isa != TW_ISA_T32) ||
            instructions[i].address > UINT32_MAX)
            return TW_E_ARGUMENT;
        TW_TRY(retire_one(unit, &instructions[i]));
    }
    return TW_OK;
}

/* All but the last of a straight run. */
static enum tw_status pass_straight(struct tw_ptm_unit *unit, const struct tw_retired *list,
                                    size_t count)
{
    const struct tw_retired *last = &list[count - 1];
    const uint32_t next = (uint32_t)last->address + last->size;

    TW_TRY(arrive(unit, list));
    if (unit->isa.dsb_dmb_is_waypoint || next - unit->block >= UPDATE_BYTES)
        return tw_ptm_unit_retire(unit, list, count);
    unit->next = next;
    unit->cycles += count;
    unit->last = (uint32_t)last->address;
    unit->has_last = true;
    return TW_OK;
}

static enum tw_status retire_run(struct tw_ptm_unit *unit, const struct tw_retired_run *run)
{
    struct tw_retired last = run->instructions[run->count - 1];

    if ((last.isa != TW_ISA_A32 && last.isa != TW_ISA_T32) || last.address > UINT32_MAX)
        return TW_E_ARGUMENT;
    last.flags = run->flags;
    last.target = run->target;
    if (run->count > 1)
        TW_TRY(pass_straight(unit, run->instructions, run->count - 1));
    return retire_one(unit, &last);
}

static enum tw_status retire_runs(struct tw_ptm_unit *unit, const struct tw_retired_run *runs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t times = runs[i].count ? (uint64_t)runs[i].repeats + 1 : 0; times; times--)
            TW_TRY(retire_run(unit, &runs[i]));
    return TW_OK;
}

/* An exception whose return address is known tells where a branch went. */
static enum tw_status take_exception(struct tw_ptm_unit *unit, unsigned number, uint32_t vector,
                                     uint8_t isa)
{
    if (!unit->is_tracing)
        return TW_OK;
    TW_TRY(put_update(unit));
    TW_TRY(put_branch(unit, vector, isa, number));
    unit->next = unit->block = vector;
    unit->next_isa = isa;
    return put_identifiers(unit);
}

enum tw_status tw_ptm_unit_exception(struct tw_ptm_unit *unit, unsigned number, uint32_t vector,
                                     uint8_t isa)
{
    if (number < 1 || number > 15 || (isa != TW_ISA_A32 && isa != TW_ISA_T32) ||
        vector & (isa == TW_ISA_A32 ? 3 : 1))
        return TW_E_ARGUMENT;
    /* Where the branch went is not known: it went, then the exception came. */
    if (unit->is_waiting)
        TW_TRY(resolve(unit, vector, isa));
    return take_exception(unit, number, vector, isa);
}

enum tw_status tw_ptm_unit_context(struct tw_ptm_unit *unit,
                                   const struct tw_step_context *context)
{
    unit->context = *context;
    return TW_OK;
}

enum tw_status tw_ptm_unit_flush(struct tw_ptm_unit *unit)
{
    if (unit->is_tracing && !unit->is_waiting)
        TW_TRY(put_update(unit));
    return put_atoms(unit);
}

enum tw_status tw_ptm_unit_gap(struct tw_ptm_unit *unit, unsigned reason)
{
    if (reason == TW_PTM_PERIODIC || reason > TW_PTM_DEBUG_EXIT)
        return TW_E_ARGUMENT;
    TW_TRY(tw_ptm_unit_flush(unit));
    unit->is_tracing = unit->is_waiting = false;
    unit->reason = (uint8_t)reason;
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

    if (!setup->timestamps || !unit->is_tracing)
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
    made->isa.arch = 7;
    made->isa.dsb_dmb_is_waypoint = made->writer.setup.barriers_are_waypoints;
    made->reason = TW_PTM_TRACE_ENABLE;
    *unit = made;
    return TW_OK;
}

void tw_ptm_unit_free(struct tw_ptm_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->bytes);
    tw_give(unit->config.allocator, unit);
}

const uint8_t *tw_ptm_unit_output(const struct tw_ptm_unit *unit, size_t *size)
{
    *size = unit->size;
    return unit->bytes;
}

void tw_ptm_unit_take(struct tw_ptm_unit *unit)
{
    unit->synced_at -= unit->size; /* wraps, as the difference does */
    unit->size = 0;
}
