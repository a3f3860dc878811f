/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: the trace unit's model, executed instructions and their data to bytes. */
#include "etmv3/unit.h"

#include "base/fault.h"
#include "base/m_profile.h"
#include "base/memory.h"
#include "base/sized.h"

enum tw_status tw_etmv3_unit_put(struct tw_etmv3_unit *unit,
                                 const struct tw_etmv3_packet *packet)
{
    size_t size = TW_ETMV3_PACKET_MAX;

    if (!TW_GROW(unit->config.allocator, &unit->bytes, &unit->room, unit->size + size))
        return TW_E_MEMORY;
    TW_TRY(tw_etmv3_write(&unit->writer, unit->bytes + unit->size, &size, packet));
    unit->size += size;
    return TW_OK;
}

static enum tw_status put_simple(struct tw_etmv3_unit *unit, uint8_t type)
{
    const struct tw_etmv3_packet packet = { .base = { .type = type } };

    return tw_etmv3_unit_put(unit, &packet);
}

/* Atoms, and the time since. */
static enum tw_status put_all(struct tw_etmv3_unit *unit)
{
    const uint32_t cycles = unit->cycles;

    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    if (!unit->writer.setup.cycle_accurate || !unit->is_tracing || unit->writer.setup.data_only)
        return TW_OK;
    unit->cycles = 0;
    return tw_etmv3_unit_put_time(unit, cycles);
}

static bool is_ns(const struct tw_etmv3_unit *unit)
{
    return unit->context.security != TW_SECURE;
}

static bool is_hyp(const struct tw_etmv3_unit *unit)
{
    return unit->context.el == 2 && unit->writer.setup.has_hyp;
}

static uint32_t context_mask(const struct tw_etmv3_unit *unit)
{
    return unit->writer.setup.context_bytes == 4
               ? UINT32_MAX
               : (1u << (8 * unit->writer.setup.context_bytes)) - 1;
}

static enum tw_status put_isync(struct tw_etmv3_unit *unit, uint8_t reason, uint32_t address,
                                uint8_t isa)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const bool has_cycles = setup->cycle_accurate && reason != TW_ETMV3_PERIODIC;
    struct tw_etmv3_packet packet = { .reason = reason,
                                      .ns = is_ns(unit),
                                      .hyp = is_hyp(unit),
                                      .context_id =
                                          unit->context.context_id & context_mask(unit) };

    packet.base.type = has_cycles ? TW_ETMV3_I_SYNC_CYCLE : TW_ETMV3_I_SYNC;
    packet.has_address = !setup->data_only;
    packet.address = packet.has_address ? address : 0;
    packet.isa = isa;
    if (has_cycles) {
        packet.cycles = unit->cycles;
        unit->cycles = 0;
    }
    unit->told_ns = packet.ns;
    unit->told_hyp = packet.hyp;
    unit->told_context_id = packet.context_id;
    return tw_etmv3_unit_put(unit, &packet);
}

static enum tw_status put_async(struct tw_etmv3_unit *unit)
{
    unit->synced_at = unit->size;
    unit->has_begun = true;
    return put_simple(unit, TW_ETMV3_A_SYNC);
}

static enum tw_status put_branch(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa,
                                 unsigned exception, bool cancels)
{
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_BRANCH_ADDRESS },
                                      .address = address,
                                      .isa = isa,
                                      .exception = (uint16_t)exception,
                                      .cancels = cancels,
                                      .ns = is_ns(unit),
                                      .hyp = is_hyp(unit) };

    TW_TRY(put_all(unit));
    packet.has_info = packet.has_state =
        exception || cancels || packet.ns != unit->told_ns || packet.hyp != unit->told_hyp;
    packet.has_second = exception > 15 || packet.hyp != unit->told_hyp;
    unit->told_ns = packet.ns;
    unit->told_hyp = packet.hyp;
    return tw_etmv3_unit_put(unit, &packet);
}

static enum tw_status put_identifiers(struct tw_etmv3_unit *unit)
{
    const uint32_t context_id = unit->context.context_id & context_mask(unit);
    const bool has_vmid =
        unit->writer.setup.minor >= 5 && (unit->config.registers.etmcr >> 30 & 1);
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_CONTEXT_ID } };

    if (unit->writer.setup.context_bytes && context_id != unit->told_context_id) {
        TW_TRY(put_all(unit));
        packet.value = unit->told_context_id = context_id;
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
    }
    if (has_vmid && (unit->context.vmid & 0xff) != unit->told_vmid) {
        TW_TRY(put_all(unit));
        packet.base.type = TW_ETMV3_VMID;
        packet.value = unit->told_vmid = unit->context.vmid & 0xff;
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
    }
    return TW_OK;
}

/* The branch went here. */
static enum tw_status resolve(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    if (!unit->is_waiting)
        return TW_OK;
    unit->is_waiting = false;
    if (unit->is_exception_return &&
        (setup->minor >= 5 || (setup->minor == 4 && setup->profile == TW_PROFILE_M))) {
        TW_TRY(put_all(unit));
        TW_TRY(put_simple(unit, TW_ETMV3_EXCEPTION_EXIT));
    }
    unit->next = address;
    unit->next_isa = isa;
    return put_branch(unit, address, isa, 0, false);
}

/* M profile: the handler of the exception begins here. */
static enum tw_status enter(struct tw_etmv3_unit *unit, uint32_t address)
{
    const unsigned traced = unit->entered;

    unit->entered = 0;
    if (!traced || !unit->is_tracing)
        return TW_OK;
    unit->next = address;
    unit->next_isa = TW_ISA_T32;
    return unit->writer.setup.data_only ? TW_OK
                                        : put_branch(unit, address, TW_ISA_T32, traced, false);
}

/* Starts tracing, goes on where the path was broken off, or synchronizes in between. */
static enum tw_status begin(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa)
{
    const bool is_new = !unit->is_tracing || unit->next != address || unit->next_isa != isa;
    const bool is_due =
        !unit->has_begun ||
        (unit->config.sync_bytes && unit->size - unit->synced_at >= unit->config.sync_bytes);

    if (!is_new && !is_due && is_ns(unit) == unit->told_ns && is_hyp(unit) == unit->told_hyp)
        return TW_OK;
    TW_TRY(is_new ? tw_etmv3_unit_put_atoms(unit) : put_all(unit));
    if (is_due)
        TW_TRY(put_async(unit));
    TW_TRY(put_isync(unit, is_new ? unit->reason : TW_ETMV3_PERIODIC, address, isa));
    unit->is_tracing = true;
    unit->reason = TW_ETMV3_TRACE_ENABLE;
    return TW_OK;
}

/* The same code is executed over and over. */
static const struct tw_instruction *look(struct tw_etmv3_unit *unit,
                                         const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;
    const size_t slot = (address >> 1 ^ address >> 10) % TW_ETMV3_UNIT_CODES;

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
static enum tw_status arrive(struct tw_etmv3_unit *unit, const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;

    TW_TRY(resolve(unit, address, from->isa));
    if (unit->entered)
        TW_TRY(enter(unit, address));
    TW_TRY(begin(unit, address, from->isa));
    return put_identifiers(unit);
}

static enum tw_status add_atom(struct tw_etmv3_unit *unit, const struct tw_retired *from,
                               bool is_taken)
{
    /* A 32-bit Thumb instruction may have an atom for each half. */
    const bool is_two =
        unit->writer.setup.wide_is_two && from->isa == TW_ISA_T32 && from->size == 4;

    if (unit->writer.setup.data_only)
        return TW_OK;
    if (unit->atom_count + is_two >= TW_ETMV3_UNIT_ATOMS)
        TW_TRY(tw_etmv3_unit_put_atoms(unit));
    unit->atoms[unit->atom_count].cycles = unit->cycles + 1;
    unit->atoms[unit->atom_count++].is_taken = is_taken;
    if (is_two) {
        unit->atoms[unit->atom_count].cycles = 0;
        unit->atoms[unit->atom_count++].is_taken = is_taken;
    }
    unit->cycles = 0;
    return TW_OK;
}

static enum tw_status retire_one(struct tw_etmv3_unit *unit, const struct tw_retired *from)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const struct tw_instruction *what = look(unit, from);
    const bool is_branch = what->kind == TW_FLOW_BRANCH || what->kind == TW_FLOW_INDIRECT;
    const bool is_taken =
        is_branch ? from->flags & TW_RETIRED_TAKEN : !(from->flags & TW_RETIRED_FAILED);

    TW_TRY(arrive(unit, from));
    unit->next = (uint32_t)from->address + from->size;
    unit->next_isa = from->isa;
    if (is_branch && is_taken && what->kind == TW_FLOW_BRANCH) {
        unit->next = (uint32_t)what->target;
        unit->next_isa = what->target_isa;
    }
    TW_TRY(add_atom(unit, from, is_taken));
    if (!is_branch || !is_taken || setup->data_only)
        return TW_OK;
    unit->is_exception_return = setup->profile == TW_PROFILE_M
                                    ? from->flags & TW_RETIRED_EXCEPTION_RETURN
                                    : what->is_exception_return;
    if (what->kind == TW_FLOW_INDIRECT)
        unit->is_waiting = true;
    else if (setup->branch_broadcast || what->target_isa != from->isa)
        TW_TRY(put_branch(unit, unit->next, unit->next_isa, 0, false));
    return TW_OK;
}

enum tw_status tw_etmv3_unit_retire(struct tw_etmv3_unit *unit,
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

/* All but the last: each has its atom, and is no branch. */
static enum tw_status retire_run(struct tw_etmv3_unit *unit, const struct tw_retired_run *run)
{
    struct tw_retired last = run->instructions[run->count - 1];

    if ((last.isa != TW_ISA_A32 && last.isa != TW_ISA_T32) || last.address > UINT32_MAX)
        return TW_E_ARGUMENT;
    last.flags = run->flags;
    last.target = run->target;
    for (size_t i = 0; i + 1 < run->count; i++) {
        const struct tw_retired *at = &run->instructions[i];

        TW_TRY(i ? begin(unit, (uint32_t)at->address, at->isa) : arrive(unit, at));
        unit->next = (uint32_t)at->address + at->size;
        unit->next_isa = at->isa;
        TW_TRY(add_atom(unit, at, !(at->flags & TW_RETIRED_FAILED)));
    }
    return retire_one(unit, &last);
}

static enum tw_status retire_runs(struct tw_etmv3_unit *unit, const struct tw_retired_run *runs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t times = runs[i].count ? (uint64_t)runs[i].repeats + 1 : 0; times; times--)
            TW_TRY(retire_run(unit, &runs[i]));
    return TW_OK;
}

static uint8_t value_size(uint32_t value)
{
    return value > 0xffff ? 4 : value > 0xff ? 2 : value ? 1 : 0;
}

enum tw_status tw_etmv3_unit_access(struct tw_etmv3_unit *unit,
                                    const struct tw_etmv3_transfer *transfers, size_t count)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    if (!tw_etmv3_has_data(setup) || !unit->is_tracing)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    for (size_t i = 0; i < count; i++) {
        const struct tw_etmv3_transfer *from = &transfers[i];
        struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_NORM_DATA } };

        if (from->tag > 3)
            return TW_E_ARGUMENT;
        packet.is_first =
            !from->has_no_address && (i == 0 || from->address != transfers[i - 1].address + 4 ||
                                      from->is_big_endian != transfers[i - 1].is_big_endian);
        packet.has_data_address = packet.is_first && setup->data_address;
        packet.data_address = packet.has_data_address ? from->address : 0;
        packet.is_big_endian = from->is_big_endian;
        packet.tag = from->tag;
        if (from->is_untraced) {
            packet.base.type = TW_ETMV3_VAL_NOT_TRACED;
            packet.tag = 0;
        } else if (from->tag) {
            packet.base.type = TW_ETMV3_OOO_ADDR_PLC;
        } else if (setup->data_value) {
            packet.has_value = true;
            packet.data_value = from->value;
            packet.value_size = value_size(from->value);
        }
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
        if (from->has_failed && packet.has_value)
            TW_TRY(put_simple(unit, TW_ETMV3_STORE_FAIL));
    }
    return TW_OK;
}

enum tw_status tw_etmv3_unit_data(struct tw_etmv3_unit *unit, unsigned tag, uint32_t value,
                                  bool has_failed)
{
    const struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_OOO_DATA },
                                            .tag = tag & 3,
                                            .has_value = true,
                                            .data_value = value,
                                            .value_size = value_size(value) };

    if (tag < 1 || tag > 3)
        return TW_E_ARGUMENT;
    if (!unit->writer.setup.data_value || !unit->is_tracing)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    TW_TRY(tw_etmv3_unit_put(unit, &packet));
    return has_failed ? put_simple(unit, TW_ETMV3_STORE_FAIL) : TW_OK;
}

enum tw_status tw_etmv3_unit_suppress(struct tw_etmv3_unit *unit)
{
    if (!tw_etmv3_has_data(&unit->writer.setup) || unit->writer.setup.data_only)
        return TW_OK;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    return put_simple(unit, TW_ETMV3_DATA_SUPPRESSED);
}

static enum tw_status take_exception(struct tw_etmv3_unit *unit, unsigned number,
                                     uint32_t vector, uint8_t isa, bool cancels)
{
    if (!unit->is_tracing)
        return TW_OK;
    unit->next = vector;
    unit->next_isa = isa;
    if (unit->writer.setup.data_only)
        return TW_OK;
    return put_branch(unit, vector, isa, number, cancels);
}

enum tw_status tw_etmv3_unit_exception(struct tw_etmv3_unit *unit, unsigned number,
                                       uint32_t vector, uint8_t isa, bool cancels)
{
    const unsigned most = unit->writer.setup.profile == TW_PROFILE_M ? 511 : 15;

    if (number < 1 || number > most || (isa != TW_ISA_A32 && isa != TW_ISA_T32) ||
        vector & (isa == TW_ISA_A32 ? 3 : 1))
        return TW_E_ARGUMENT;
    unit->is_waiting = false; /* where the branch went, no one tells */
    return take_exception(unit, number, vector, isa, cancels);
}

enum tw_status tw_etmv3_unit_exception_m(struct tw_etmv3_unit *unit, unsigned number,
                                         uint32_t return_address)
{
    const unsigned traced = tw_m_to_etmv3(number);

    if (!traced || unit->writer.setup.profile != TW_PROFILE_M)
        return TW_E_ARGUMENT;
    if (unit->entered) /* and nothing of that handler was executed */
        TW_TRY(enter(unit, return_address));
    if (unit->is_waiting && unit->is_exception_return) {
        /* Whether the return ended first is not to be seen. */
        unit->is_waiting = false;
        TW_TRY(put_all(unit));
        TW_TRY(put_simple(unit, TW_ETMV3_EXCEPTION_EXIT));
    }
    TW_TRY(resolve(unit, return_address, TW_ISA_T32));
    unit->entered = (uint16_t)(unit->is_tracing ? traced : 0);
    return TW_OK;
}

enum tw_status tw_etmv3_unit_context(struct tw_etmv3_unit *unit,
                                     const struct tw_step_context *context)
{
    unit->context = *context;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_flush(struct tw_etmv3_unit *unit)
{
    return put_all(unit);
}

enum tw_status tw_etmv3_unit_gap(struct tw_etmv3_unit *unit, unsigned reason)
{
    if (reason == TW_ETMV3_PERIODIC || reason > TW_ETMV3_DEBUG_EXIT)
        return TW_E_ARGUMENT;
    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    unit->is_tracing = unit->is_waiting = false;
    unit->entered = 0;
    unit->reason = (uint8_t)reason;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_trigger(struct tw_etmv3_unit *unit)
{
    TW_TRY(put_all(unit));
    return put_simple(unit, TW_ETMV3_TRIGGER);
}

enum tw_status tw_etmv3_unit_time(struct tw_etmv3_unit *unit, uint64_t time)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const uint64_t mask = setup->time_width == 48 ? ((uint64_t)1 << 48) - 1 : UINT64_MAX;
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_TIMESTAMP } };

    if (!(unit->config.registers.etmcr >> 28 & 1) || setup->minor < 5 || !unit->is_tracing)
        return TW_OK;
    TW_TRY(put_all(unit));
    packet.timestamp = setup->time_is_gray ? tw_binary_to_gray(time & mask) : time & mask;
    return tw_etmv3_unit_put(unit, &packet);
}

enum tw_status tw_etmv3_unit_cycles(struct tw_etmv3_unit *unit, uint32_t count)
{
    unit->cycles = count > UINT32_MAX - unit->cycles ? UINT32_MAX : unit->cycles + count;
    return TW_OK;
}

static enum tw_status step_exception(struct tw_etmv3_unit *unit, const struct tw_step *step)
{
    const struct tw_armv7_exception exception = tw_armv7_exception(step->exception);

    if (unit->writer.setup.profile == TW_PROFILE_M)
        return tw_etmv3_unit_exception_m(unit, (unsigned)step->cause,
                                         (uint32_t)step->return_address);
    /* Its return address is where the branch before it went. */
    TW_TRY(resolve(unit, (uint32_t)step->return_address, step->return_isa));
    return take_exception(unit, exception.number, unit->config.vectors + exception.vector,
                          TW_ISA_A32, false);
}

enum tw_status tw_etmv3_unit_step(struct tw_etmv3_unit *unit, const struct tw_step *step)
{
    switch (step->kind) {
    case TW_STEP_INSTRUCTIONS:
        return tw_etmv3_unit_retire(unit, step->instructions, step->count);
    case TW_STEP_RUNS:
        return retire_runs(unit, step->runs, step->run_count);
    case TW_STEP_CONTEXT:
        return tw_etmv3_unit_context(unit, &step->context);
    case TW_STEP_EXCEPTION:
        return step_exception(unit, step);
    case TW_STEP_GAP:
        return tw_etmv3_unit_gap(unit, TW_ETMV3_TRACE_ENABLE);
    case TW_STEP_TIME:
        return tw_etmv3_unit_time(unit, step->value);
    case TW_STEP_CYCLES:
        return tw_etmv3_unit_cycles(unit, (uint32_t)step->value);
    case TW_STEP_FLUSH:
        return tw_etmv3_unit_flush(unit);
    case TW_STEP_RECOVER:
        return tw_etmv3_unit_gap(unit, TW_ETMV3_AFTER_OVERFLOW);
    case TW_STEP_DEBUG:
        return step->value ? TW_OK : tw_etmv3_unit_gap(unit, TW_ETMV3_DEBUG_EXIT);
    default:
        return TW_OK;
    }
}

enum tw_status tw_etmv3_unit_new(struct tw_etmv3_unit **unit,
                                 const struct tw_etmv3_unit_config *config,
                                 struct tw_fault *fault)
{
    struct tw_etmv3_unit_config copy;
    struct tw_etmv3_unit *made;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etmv3_unit_config", fault));
    config = &copy;
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a trace unit");
    made->config = *config;
    tw_etmv3_reader_init(&made->writer, &config->registers);
    made->isa.profile = config->registers.profile;
    made->isa.arch = 7;
    made->reason = TW_ETMV3_TRACE_ENABLE;
    *unit = made;
    return TW_OK;
}

void tw_etmv3_unit_free(struct tw_etmv3_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->bytes);
    tw_give(unit->config.allocator, unit);
}

const uint8_t *tw_etmv3_unit_output(const struct tw_etmv3_unit *unit, size_t *size)
{
    *size = unit->size;
    return unit->bytes;
}

void tw_etmv3_unit_take(struct tw_etmv3_unit *unit)
{
    unit->synced_at -= unit->size; /* wraps, as the difference does */
    unit->size = 0;
}
