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

    if (!tw_armv7_unit_has_room(&unit->base, size))
        return TW_E_MEMORY;
    TW_TRY(tw_etmv3_write(&unit->writer, unit->base.bytes + unit->base.size, &size, packet));
    unit->base.size += size;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_put_simple(struct tw_etmv3_unit *unit, uint8_t type)
{
    const struct tw_etmv3_packet packet = { .base = { .type = type } };

    return tw_etmv3_unit_put(unit, &packet);
}

/* Atoms, and the time since. */
static enum tw_status put_all(struct tw_etmv3_unit *unit)
{
    const uint32_t cycles = unit->cycles;

    TW_TRY(tw_etmv3_unit_put_atoms(unit));
    if (!unit->writer.setup.cycle_accurate || !unit->base.is_tracing ||
        unit->writer.setup.data_only)
        return TW_OK;
    unit->cycles = 0;
    return tw_etmv3_unit_put_time(unit, cycles);
}

static enum tw_status put_isync(struct tw_etmv3_unit *unit, uint8_t reason, uint32_t address,
                                uint8_t isa)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const bool has_cycles = setup->cycle_accurate && reason != TW_ETMV3_PERIODIC;
    struct tw_etmv3_packet packet = { .reason = reason,
                                      .ns = tw_armv7_unit_is_ns(&unit->base),
                                      .hyp = tw_armv7_unit_is_hyp(&unit->base),
                                      .context_id = tw_armv7_unit_context_id(&unit->base) };

    packet.base.type = has_cycles ? TW_ETMV3_I_SYNC_CYCLE : TW_ETMV3_I_SYNC;
    packet.has_address = !setup->data_only;
    packet.address = packet.has_address ? address : 0;
    packet.isa = isa;
    if (has_cycles) {
        packet.cycles = unit->cycles;
        unit->cycles = 0;
    }
    unit->base.told_ns = packet.ns;
    unit->base.told_hyp = packet.hyp;
    unit->base.told_context_id = packet.context_id;
    tw_armv7_unit_settle(&unit->base);
    return tw_etmv3_unit_put(unit, &packet);
}

static enum tw_status put_async(struct tw_etmv3_unit *unit)
{
    unit->base.synced_at = unit->base.size;
    unit->base.has_begun = true;
    return tw_etmv3_unit_put_simple(unit, TW_ETMV3_A_SYNC);
}

/* A branch of which nothing but its target is told. */
static enum tw_status put_address(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa)
{
    struct tw_etmv3_reader *writer = &unit->writer;
    unsigned size;

    if (!tw_armv7_unit_has_room(&unit->base, TW_ETMV3_PACKET_MAX))
        return TW_E_MEMORY;
    size = tw_armv7_write_branch(unit->base.bytes + unit->base.size, address, writer->address,
                                 isa, writer->isa, writer->setup.alternative);
    unit->base.size += size;
    writer->offset += size;
    writer->address = address;
    writer->isa = isa;
    return TW_OK;
}

static enum tw_status put_branch(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa,
                                 unsigned exception, bool cancels)
{
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_BRANCH_ADDRESS },
                                      .address = address,
                                      .isa = isa,
                                      .exception = (uint16_t)exception,
                                      .cancels = cancels,
                                      .ns = tw_armv7_unit_is_ns(&unit->base),
                                      .hyp = tw_armv7_unit_is_hyp(&unit->base) };

    TW_TRY(put_all(unit));
    packet.has_info = packet.has_state =
        exception || cancels || !tw_armv7_unit_knows_state(&unit->base);
    packet.has_second = exception > 15 || packet.hyp != unit->base.told_hyp;
    if (!packet.has_info && unit->writer.is_synced)
        return put_address(unit, address, isa);
    unit->base.told_ns = packet.ns;
    unit->base.told_hyp = packet.hyp;
    if (packet.has_info)
        tw_armv7_unit_settle(&unit->base);
    return tw_etmv3_unit_put(unit, &packet);
}

static enum tw_status put_identifiers(struct tw_etmv3_unit *unit)
{
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_CONTEXT_ID } };

    if (!tw_armv7_unit_knows_context(&unit->base)) {
        TW_TRY(put_all(unit));
        packet.value = unit->base.told_context_id = tw_armv7_unit_context_id(&unit->base);
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
    }
    if (!tw_armv7_unit_knows_vmid(&unit->base)) {
        TW_TRY(put_all(unit));
        packet.base.type = TW_ETMV3_VMID;
        packet.value = unit->base.told_vmid = unit->base.context.vmid & 0xff;
        TW_TRY(tw_etmv3_unit_put(unit, &packet));
    }
    tw_armv7_unit_settle(&unit->base);
    return TW_OK;
}

/* The branch went here. */
static enum tw_status resolve(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    if (!unit->base.is_waiting)
        return TW_OK;
    unit->base.is_waiting = false;
    if (unit->base.is_exception_return &&
        (setup->minor >= 5 || (setup->minor == 4 && setup->profile == TW_PROFILE_M))) {
        TW_TRY(put_all(unit));
        TW_TRY(tw_etmv3_unit_put_simple(unit, TW_ETMV3_EXCEPTION_EXIT));
    }
    unit->base.next = address;
    unit->base.next_isa = isa;
    return put_branch(unit, address, isa, 0, false);
}

/* M profile: the handler of the exception begins here. */
static enum tw_status enter(struct tw_etmv3_unit *unit, uint32_t address)
{
    const unsigned traced = unit->entered;

    unit->entered = 0;
    if (!traced || !unit->base.is_tracing)
        return TW_OK;
    unit->base.next = address;
    unit->base.next_isa = TW_ISA_T32;
    return unit->writer.setup.data_only ? TW_OK
                                        : put_branch(unit, address, TW_ISA_T32, traced, false);
}

/* Starts tracing, goes on where the path was broken off, or synchronizes in between. */
static enum tw_status begin(struct tw_etmv3_unit *unit, uint32_t address, uint8_t isa)
{
    const bool is_new =
        !unit->base.is_tracing || unit->base.next != address || unit->base.next_isa != isa;
    const bool is_due = !unit->base.has_begun || !tw_armv7_unit_before_sync(&unit->base);

    if (!is_new && !is_due && tw_armv7_unit_knows_state(&unit->base))
        return TW_OK;
    TW_TRY(is_new ? tw_etmv3_unit_put_atoms(unit) : put_all(unit));
    if (is_due)
        TW_TRY(put_async(unit));
    TW_TRY(put_isync(unit, is_new ? unit->base.reason : TW_ETMV3_PERIODIC, address, isa));
    unit->base.is_tracing = true;
    unit->base.reason = TW_ETMV3_TRACE_ENABLE;
    return TW_OK;
}

/* An instruction comes: where the one before went, or where trace begins. */
static enum tw_status arrive(struct tw_etmv3_unit *unit, const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;

    TW_TRY(resolve(unit, address, from->isa));
    if (unit->entered)
        TW_TRY(enter(unit, address));
    TW_TRY(begin(unit, address, from->isa));
    return unit->base.is_settled ? TW_OK : put_identifiers(unit);
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
    unit->atom_cycles[unit->atom_count] = unit->cycles + 1;
    unit->atoms |= (uint32_t)is_taken << unit->atom_count++;
    if (is_two) {
        unit->atom_cycles[unit->atom_count] = 0;
        unit->atoms |= (uint32_t)is_taken << unit->atom_count++;
    }
    unit->cycles = 0;
    return TW_OK;
}

/* An instruction that was arrived at, with flags that stand for its own. */
static enum tw_status leave(struct tw_etmv3_unit *unit, const struct tw_retired *from,
                            uint8_t flags)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const struct tw_instruction *what = tw_armv7_unit_look(&unit->base, from);
    const bool is_branch = what->kind == TW_FLOW_BRANCH || what->kind == TW_FLOW_INDIRECT;
    const bool is_taken = is_branch ? flags & TW_RETIRED_TAKEN : !(flags & TW_RETIRED_FAILED);

    unit->base.next = (uint32_t)from->address + from->size;
    unit->base.next_isa = from->isa;
    if (is_branch && is_taken && what->kind == TW_FLOW_BRANCH) {
        unit->base.next = (uint32_t)what->target;
        unit->base.next_isa = what->target_isa;
    }
    TW_TRY(add_atom(unit, from, is_taken));
    if (!is_branch || !is_taken || setup->data_only)
        return TW_OK;
    unit->base.is_exception_return = setup->profile == TW_PROFILE_M
                                         ? flags & TW_RETIRED_EXCEPTION_RETURN
                                         : what->is_exception_return;
    if (what->kind == TW_FLOW_INDIRECT)
        unit->base.is_waiting = true;
    else if (setup->branch_broadcast || what->target_isa != from->isa)
        TW_TRY(put_branch(unit, unit->base.next, unit->base.next_isa, 0, false));
    return TW_OK;
}

enum tw_status tw_etmv3_unit_retire(struct tw_etmv3_unit *unit,
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

/* So many instructions behind each other may be told by atoms alone: none of them brings synchronization, whatever
   the headers of their atoms and of those that wait come to. */
TW_INLINE bool is_plain(const struct tw_etmv3_unit *unit, uint64_t count)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;

    return unit->base.is_tracing && !unit->base.is_waiting && unit->base.is_settled &&
           !unit->entered && unit->base.has_begun && !setup->data_only &&
           !setup->cycle_accurate && !setup->wide_is_two &&
           tw_armv7_unit_before_sync(&unit->base) > count + TW_ETMV3_UNIT_ATOMS;
}

/* None of these instructions, which are no branches, failed its condition. */
TW_INLINE bool are_executed(const struct tw_retired *list, size_t count)
{
    unsigned flags = 0;

    for (size_t i = 0; i < count; i++)
        flags |= list[i].flags;
    return !(flags & TW_RETIRED_FAILED);
}

/* All but the last of a run, of which the first was arrived at: each has its atom, and is no branch. */
static enum tw_status pass_straight(struct tw_etmv3_unit *unit, const struct tw_retired *list,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tw_retired *at = &list[i];

        if (i)
            TW_TRY(begin(unit, (uint32_t)at->address, at->isa));
        unit->base.next = (uint32_t)at->address + at->size;
        unit->base.next_isa = at->isa;
        TW_TRY(add_atom(unit, at, !(at->flags & TW_RETIRED_FAILED)));
    }
    return TW_OK;
}

static enum tw_status retire_run(struct tw_etmv3_unit *unit, const struct tw_retired_run *run)
{
    const struct tw_retired *list = run->instructions, *last = &list[run->count - 1];
    const size_t before = run->count - 1;

    if (!tw_armv7_unit_takes(last))
        return TW_E_ARGUMENT;
    if (!tw_armv7_unit_goes_on(&unit->base, list) || !is_plain(unit, run->count))
        TW_TRY(arrive(unit, list));
    if (TW_LIKELY(is_plain(unit, run->count)) && are_executed(list, before)) {
        TW_TRY(tw_etmv3_unit_add_taken(unit, before));
    } else if (before) {
        TW_TRY(pass_straight(unit, list, before));
        TW_TRY(arrive(unit, last));
    }
    return leave(unit, last, run->flags);
}

/* A run that leads to itself, and was executed: so many times more it comes to atoms alone. */
static uint32_t plain_repeats(struct tw_etmv3_unit *unit, const struct tw_retired_run *run,
                              uint32_t most)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];
    const struct tw_instruction *what = tw_armv7_unit_look(&unit->base, last);
    const uint64_t room = tw_armv7_unit_before_sync(&unit->base) / 2 / run->count;

    if (what->kind != TW_FLOW_BRANCH || !(run->flags & TW_RETIRED_TAKEN) ||
        unit->writer.setup.branch_broadcast || what->target_isa != last->isa ||
        !are_executed(run->instructions, run->count - 1))
        return 0;
    if (most > room)
        most = (uint32_t)room;
    return tw_armv7_unit_goes_on(&unit->base, run->instructions) &&
                   is_plain(unit, (uint64_t)most * run->count)
               ? most
               : 0;
}

static enum tw_status repeat_run(struct tw_etmv3_unit *unit, const struct tw_retired_run *run)
{
    enum { MOST = 1 << 16 }; /* at once: memory is bounded */

    for (uint32_t left = run->repeats; left;) {
        const uint32_t some = plain_repeats(unit, run, left < MOST ? left : MOST);

        TW_TRY(some ? tw_etmv3_unit_add_taken(unit, (size_t)some * run->count)
                    : retire_run(unit, run));
        left -= some ? some : 1;
    }
    return TW_OK;
}

static enum tw_status retire_runs(struct tw_etmv3_unit *unit, const struct tw_retired_run *runs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        i += tw_etmv3_unit_pass_runs(unit, runs + i, count - i);
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

static enum tw_status take_exception(struct tw_etmv3_unit *unit, unsigned number,
                                     uint32_t vector, uint8_t isa, bool cancels)
{
    if (!unit->base.is_tracing)
        return TW_OK;
    unit->base.next = vector;
    unit->base.next_isa = isa;
    if (unit->writer.setup.data_only)
        return TW_OK;
    return put_branch(unit, vector, isa, number, cancels);
}

enum tw_status tw_etmv3_unit_exception(struct tw_etmv3_unit *unit, unsigned number,
                                       uint32_t vector, uint8_t isa, bool cancels)
{
    const unsigned most = unit->writer.setup.profile == TW_PROFILE_M ? 511 : 15;

    if (number < 1 || number > most || !tw_armv7_unit_can_be_at(vector, isa))
        return TW_E_ARGUMENT;
    unit->base.is_waiting = false; /* where the branch went, no one tells */
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
    if (unit->base.is_waiting && unit->base.is_exception_return) {
        /* Whether the return ended first is not to be seen. */
        unit->base.is_waiting = false;
        TW_TRY(put_all(unit));
        TW_TRY(tw_etmv3_unit_put_simple(unit, TW_ETMV3_EXCEPTION_EXIT));
    }
    TW_TRY(resolve(unit, return_address, TW_ISA_T32));
    unit->entered = (uint16_t)(unit->base.is_tracing ? traced : 0);
    return TW_OK;
}

enum tw_status tw_etmv3_unit_context(struct tw_etmv3_unit *unit,
                                     const struct tw_step_context *context)
{
    unit->base.context = *context;
    tw_armv7_unit_settle(&unit->base);
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
    unit->base.is_tracing = unit->base.is_waiting = false;
    unit->entered = 0;
    unit->base.reason = (uint8_t)reason;
    return TW_OK;
}

enum tw_status tw_etmv3_unit_trigger(struct tw_etmv3_unit *unit)
{
    TW_TRY(put_all(unit));
    return tw_etmv3_unit_put_simple(unit, TW_ETMV3_TRIGGER);
}

enum tw_status tw_etmv3_unit_time(struct tw_etmv3_unit *unit, uint64_t time)
{
    const struct tw_etmv3_setup *setup = &unit->writer.setup;
    const uint64_t mask = setup->time_width == 48 ? ((uint64_t)1 << 48) - 1 : UINT64_MAX;
    struct tw_etmv3_packet packet = { .base = { .type = TW_ETMV3_TIMESTAMP } };

    if (!(unit->config.registers.etmcr >> 28 & 1) || setup->minor < 5 || !unit->base.is_tracing)
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
    made->base.allocator = config->allocator;
    made->base.sync_bytes = config->sync_bytes;
    made->base.has_hyp = made->writer.setup.has_hyp;
    made->base.has_vmid = made->writer.setup.minor >= 5 && (config->registers.etmcr >> 30 & 1);
    made->base.context_bytes = made->writer.setup.context_bytes;
    made->base.isa.profile = config->registers.profile;
    made->base.isa.arch = 7;
    made->base.reason = TW_ETMV3_TRACE_ENABLE;
    *unit = made;
    return TW_OK;
}

void tw_etmv3_unit_free(struct tw_etmv3_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->base.bytes);
    tw_give(unit->config.allocator, unit);
}

const uint8_t *tw_etmv3_unit_output(const struct tw_etmv3_unit *unit, size_t *size)
{
    *size = unit->base.size;
    return unit->base.bytes;
}

void tw_etmv3_unit_take(struct tw_etmv3_unit *unit)
{
    tw_armv7_unit_take(&unit->base);
}
