/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit of ETMv4 and ETE as its users see it. */
#include "etmv4/unit.h"

#include "base/fault.h"
#include "base/m_profile.h"
#include "base/memory.h"
#include "base/sized.h"

#include <inttypes.h>

/* ETMv4.5 with all that the A profile has; see ete/unit.c for its sister. */
const struct tw_etmv4_unit_identity tw_etmv4_identity = {
    .registers = { { TW_TRCIDR + 0, 0x2801cea1 },
                   { TW_TRCIDR + 1, 0x4100f450 },
                   { TW_TRCIDR + 2, 0xd0001088 },
                   { TW_TRCIDR + 3, 0x8d7b0004 },
                   { TW_TRCIDR + 4, 0x888f8008 },
                   { TW_TRCIDR + 5, 0xc84708ff },
                   { TW_TRCDEVARCH, 0x47754a13 } },
};

/* ETMv4.2 of the M profile: T32 at 32-bit addresses, levels 0 (Thread) and 3 (Handler), no identifiers. */
static const struct tw_etmv4_unit_identity m_identity = {
    .registers = { { TW_TRCIDR + 0, 0x28000ea1 },
                   { TW_TRCIDR + 1, 0x4100f421 },
                   { TW_TRCIDR + 2, 0x00000004 },
                   { TW_TRCIDR + 3, 0x0d990004 },
                   { TW_TRCIDR + 4, 0x008f8008 },
                   { TW_TRCIDR + 5, 0xc84708ff },
                   { TW_TRCDEVARCH, 0x47724a13 } },
};

enum tw_status tw_etmv4_unit_new(struct tw_etmv4_unit **unit,
                                 const struct tw_etmv4_unit_config *config,
                                 struct tw_fault *fault)
{
    const struct tw_etmv4_unit_identity *identity;
    struct tw_etmv4_unit_config copy;
    struct tw_etmv4_unit *made;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_etmv4_unit_config", fault));
    if (copy.return_stack_depth > TW_ETMV4_UNIT_RETURNS)
        return tw_fail(fault, TW_E_ARGUMENT, "a return stack of more than %u entries",
                       (unsigned)TW_ETMV4_UNIT_RETURNS);
    if (copy.is_m && (copy.is_ete || copy.is_self_hosted))
        return tw_fail(fault, TW_E_ARGUMENT,
                       "the M profile has no ETE, and no self-hosted trace");
    made = tw_take(copy.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a trace unit");
    identity = copy.is_ete ? &tw_ete_identity : copy.is_m ? &m_identity : &tw_etmv4_identity;
    made->config = copy;
    if (!made->config.return_stack_depth)
        made->config.return_stack_depth = TW_ETMV4_UNIT_RETURNS;
    if (!made->config.cycles_per_byte)
        made->config.cycles_per_byte = 1;
    for (size_t i = 0; i < TW_LENGTH(identity->registers) && identity->registers[i].value; i++)
        made->registers[identity->registers[i].slot] = identity->registers[i].value;
    made->registers[TW_TRCSTATR] = 3;
    made->context = (struct tw_step_context){ .security = TW_NONSECURE, .is_64bit = true };
    if (copy.is_m)
        made->context = (struct tw_step_context){ .security = TW_SECURE };
    made->cycles_per_instruction = 1;
    made->sync_period = UINT64_MAX;
    *unit = made;
    return TW_OK;
}

void tw_etmv4_unit_free(struct tw_etmv4_unit *unit)
{
    if (!unit)
        return;
    tw_give(unit->config.allocator, unit->records);
    tw_give(unit->config.allocator, unit->bytes);
    tw_give(unit->config.allocator, unit);
}

const char *tw_etmv4_unit_fault(const struct tw_etmv4_unit *unit)
{
    return unit->fault.text;
}

const uint8_t *tw_etmv4_unit_output(const struct tw_etmv4_unit *unit, size_t *size)
{
    *size = unit->size;
    return unit->bytes;
}

void tw_etmv4_unit_take(struct tw_etmv4_unit *unit)
{
    unit->size = 0;
}

unsigned tw_etmv4_unit_events(struct tw_etmv4_unit *unit)
{
    const unsigned events = unit->events_out;

    unit->events_out = 0;
    return events;
}

/* ---- what the processor does ---- */

/* From here on trace is lost, and with it what waits to be packed. */
static void lose(struct tw_etmv4_unit *unit)
{
    unit->q_is_open = false;
    unit->buffered = 0;
    unit->atoms = 0;
    unit->atom_count = 0;
    tw_etmv4_unit_forget_records(unit);
    tw_etmv4_unit_stop_tracing(unit);
    unit->flow.told_transaction = false;
    unit->is_overflowing = true;
    unit->lost_events = 0;
}

/* What each step ends with. */
static enum tw_status done(struct tw_etmv4_unit *unit)
{
    /* A packet did not fit: what came behind it must not either. */
    if (unit->fifo_overflowed && !unit->is_overflowing)
        lose(unit);
    if (unit->fifo_overflowed && unit->is_overflowing) {
        const uint64_t bytes =
            (unit->cycle - unit->fifo_drained) / unit->config.cycles_per_byte;

        if (bytes >= unit->fifo) {
            unit->fifo = 0;
            unit->fifo_drained = unit->cycle;
            TW_TRY(tw_etmv4_unit_recover(unit));
        }
    }
    if (unit->config.no_gathering && unit->is_enabled && !unit->is_overflowing) {
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_pack_atoms(unit, 0);
    }
    return unit->failed;
}

/* Whether nothing but atoms and addresses is to be told of what comes. */
static bool goes_plain(const struct tw_etmv4_unit *unit)
{
    return unit->setup.is_plain && unit->is_viewed && unit->flow.is_active &&
           !unit->is_overflowing;
}

static enum tw_status retire(struct tw_etmv4_unit *unit, const struct tw_retired *instructions,
                             size_t count)
{
    size_t i = 0;

    if (unit->is_asleep)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "the processor is in a low-power state");
    if (!unit->is_enabled) {
        unit->cycle += (uint64_t)count * unit->cycles_per_instruction;
        return TW_OK;
    }
    /* SG changes the Security state in straight code: what covers it is Secure. */
    if (unit->config.is_m && count && unit->flow.is_active && unit->flow.block_is_open &&
        unit->is_changed && !unit->is_overflowing)
        tw_etmv4_unit_emit_context(unit);
    while (i < count && unit->failed == TW_OK) {
        if (goes_plain(unit)) {
            tw_etmv4_unit_retire_plain(unit, instructions + i, count - i);
            break;
        }
        tw_etmv4_unit_retire_slowly(unit, &instructions[i++]);
        if (unit->config.fifo_size) {
            tw_etmv4_unit_stall(unit);
            TW_TRY(done(unit));
        }
    }
    return unit->failed;
}

enum tw_status tw_etmv4_unit_retire(struct tw_etmv4_unit *unit,
                                    const struct tw_retired *instructions, size_t count)
{
    TW_TRY(retire(unit, instructions, count));
    return unit->is_enabled ? done(unit) : TW_OK;
}

static enum tw_status retire_runs(struct tw_etmv4_unit *unit, const struct tw_retired_run *runs,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tw_retired_run *run = &runs[i];
        struct tw_retired last;

        if (unit->is_enabled && !unit->is_asleep && !unit->config.is_m && goes_plain(unit)) {
            tw_etmv4_unit_retire_plain_runs(unit, run, count - i);
            break;
        }
        if (!run->count)
            continue;
        last = run->instructions[run->count - 1];
        last.flags = run->flags;
        last.target = run->target;
        for (uint64_t times = (uint64_t)run->repeats + 1; times; times--) {
            TW_TRY(retire(unit, run->instructions, run->count - 1));
            TW_TRY(retire(unit, &last, 1));
        }
    }
    return unit->is_enabled ? done(unit) : TW_OK;
}

enum tw_status tw_etmv4_unit_context(struct tw_etmv4_unit *unit,
                                     const struct tw_step_context *context)
{
    unit->context = *context;
    tw_etmv4_unit_look_again(unit);
    return TW_OK;
}

enum tw_status tw_etmv4_unit_exception(struct tw_etmv4_unit *unit, unsigned type,
                                       uint64_t return_address, uint8_t isa)
{
    if (type > 0x17 || unit->config.is_m)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no exception type %u", type);
    if (unit->is_enabled && !unit->is_overflowing)
        tw_etmv4_unit_trace_exception(unit, type, return_address, isa);
    return done(unit);
}

enum tw_status tw_etmv4_unit_exception_m(struct tw_etmv4_unit *unit, unsigned number,
                                         uint64_t return_address, bool is_chained)
{
    if (!unit->config.is_m || number == 0 || number > TW_M_LAST)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no exception %u", number);
    if (is_chained)
        return_address = TW_M_CHAINED;
    if (unit->is_enabled && !unit->is_overflowing)
        tw_etmv4_unit_trace_exception(unit, tw_m_to_etmv4(number), return_address, TW_ISA_T32);
    return done(unit);
}

enum tw_status tw_etmv4_unit_gap(struct tw_etmv4_unit *unit)
{
    if (unit->is_enabled && !unit->is_overflowing) {
        tw_etmv4_unit_end_q(unit);
        tw_etmv4_unit_release_buffered(unit);
    }
    tw_etmv4_unit_stop_tracing(unit);
    return done(unit);
}

enum tw_status tw_etmv4_unit_transaction(struct tw_etmv4_unit *unit, enum tw_transaction what,
                                         uint64_t cancelled)
{
    if (what < TW_TRANS_START || what > TW_TRANS_FAIL ||
        (unit->is_enabled && !unit->setup.has_transactions))
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "the unit knows no such transaction");
    if (!unit->is_enabled) {
        unit->flow.in_transaction = what == TW_TRANS_START;
        return TW_OK;
    }
    if (unit->flow.in_transaction == (what == TW_TRANS_START))
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       unit->flow.in_transaction ? "a transaction is open already"
                                                 : "no transaction is open");
    tw_etmv4_unit_transact(unit, what, cancelled);
    return done(unit);
}

enum tw_status tw_etmv4_unit_cycles(struct tw_etmv4_unit *unit, uint32_t count)
{
    const uint32_t most = 1 << 20; /* no counter is wider */

    unit->cycle += count;
    if (unit->is_enabled && unit->setup.has_resources)
        for (uint32_t i = 0; i < count && i < most; i++)
            tw_etmv4_unit_step_resources(unit);
    return done(unit);
}

enum tw_status tw_etmv4_unit_clock(struct tw_etmv4_unit *unit, uint32_t cycles_per_instruction)
{
    if (cycles_per_instruction > 1 << 12)
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "more than 4096 cycles an instruction");
    unit->cycles_per_instruction = cycles_per_instruction;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_time(struct tw_etmv4_unit *unit, uint64_t time)
{
    unit->clock_base = time - unit->cycle;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_external(struct tw_etmv4_unit *unit, uint16_t number)
{
    if (unit->is_enabled)
        tw_etmv4_unit_take_external(unit, number);
    return TW_OK;
}

enum tw_status tw_etmv4_unit_inputs(struct tw_etmv4_unit *unit, uint8_t inputs)
{
    unit->inputs = inputs;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_instrument(struct tw_etmv4_unit *unit, uint64_t value)
{
    if (unit->is_enabled && !unit->is_overflowing && tw_etmv4_unit_instruments(unit)) {
        tw_etmv4_unit_emit_instrumentation(unit, value);
        if (unit->timestamp_is_due)
            tw_etmv4_unit_emit_timestamp(unit);
    }
    return done(unit);
}

enum tw_status tw_etmv4_unit_debug(struct tw_etmv4_unit *unit, bool is_halted)
{
    unit->is_halted = is_halted;
    if (unit->is_enabled)
        TW_TRY(tw_etmv4_unit_gap(unit));
    tw_etmv4_unit_look_again(unit);
    return TW_OK;
}

enum tw_status tw_etmv4_unit_low_power(struct tw_etmv4_unit *unit, bool is_asleep)
{
    /* What was executed is told before. */
    if (is_asleep && unit->is_enabled && !unit->is_overflowing) {
        tw_etmv4_unit_release_buffered(unit);
        tw_etmv4_unit_send_commits(unit);
        tw_etmv4_unit_pack_atoms(unit, 0);
    }
    unit->is_asleep = is_asleep;
    tw_etmv4_unit_look_again(unit);
    return done(unit);
}

enum tw_status tw_etmv4_unit_prohibit(struct tw_etmv4_unit *unit, bool is_prohibited)
{
    unit->is_barred = is_prohibited;
    tw_etmv4_unit_look_again(unit);
    return TW_OK;
}

/* ---- what the sink does ---- */

enum tw_status tw_etmv4_unit_overflow(struct tw_etmv4_unit *unit)
{
    if (!unit->is_enabled || unit->is_overflowing)
        return unit->failed;
    unit->q_is_open = false;
    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_send_commits(unit);
    tw_etmv4_unit_pack_atoms(unit, 0);
    lose(unit);
    return unit->failed;
}

enum tw_status tw_etmv4_unit_recover(struct tw_etmv4_unit *unit)
{
    if (!unit->is_overflowing)
        return unit->failed;
    unit->is_overflowing = unit->fifo_overflowed = false;
    unit->is_synced = unit->is_synced || unit->size; /* an event needs no more than an A-Sync */
    if (unit->lost_events)
        tw_etmv4_unit_emit_events(unit, unit->lost_events);
    tw_etmv4_unit_emit_loss(unit, true);
    unit->is_synced = false;
    unit->has_sent = false;
    unit->flow.has_context = false;
    unit->return_count = 0;
    unit->count_is_unknown = true;
    unit->timestamp_is_due = unit->setup.timestamps;
    return unit->failed;
}

enum tw_status tw_etmv4_unit_flush(struct tw_etmv4_unit *unit)
{
    if (!unit->is_enabled || unit->is_overflowing)
        return unit->failed;
    tw_etmv4_unit_release_buffered(unit);
    tw_etmv4_unit_send_commits(unit);
    tw_etmv4_unit_pack_atoms(unit, 0);
    unit->timestamp_is_due = unit->setup.timestamps;
    return done(unit);
}

enum tw_status tw_etmv4_unit_synchronize(struct tw_etmv4_unit *unit)
{
    unit->sync_is_due = unit->is_enabled;
    return TW_OK;
}

enum tw_status tw_etmv4_unit_step(struct tw_etmv4_unit *unit, const struct tw_step *step)
{
    switch (step->kind) {
    case TW_STEP_INSTRUCTIONS:
        return tw_etmv4_unit_retire(unit, step->instructions, step->count);
    case TW_STEP_CONTEXT:
        return tw_etmv4_unit_context(unit, &step->context);
    case TW_STEP_EXCEPTION:
        if (unit->config.is_m)
            return tw_etmv4_unit_exception_m(unit, (unsigned)step->cause, step->return_address,
                                             step->is_chained);
        return tw_etmv4_unit_exception(unit, step->exception, step->return_address,
                                       step->return_isa);
    case TW_STEP_GAP:
        return tw_etmv4_unit_gap(unit);
    case TW_STEP_TRANSACTION:
        return tw_etmv4_unit_transaction(unit, (enum tw_transaction)step->how, step->value);
    case TW_STEP_TIME:
        return tw_etmv4_unit_time(unit, step->value);
    case TW_STEP_CYCLES:
        return tw_etmv4_unit_cycles(unit, (uint32_t)step->value);
    case TW_STEP_CLOCK:
        return tw_etmv4_unit_clock(unit, (uint32_t)step->value);
    case TW_STEP_EXTERNAL:
        return tw_etmv4_unit_external(unit, (uint16_t)step->value);
    case TW_STEP_INPUTS:
        return tw_etmv4_unit_inputs(unit, (uint8_t)step->value);
    case TW_STEP_INSTRUMENTATION:
        return tw_etmv4_unit_instrument(unit, step->value);
    case TW_STEP_SPECULATE:
        return tw_etmv4_unit_speculate(unit, step->value);
    case TW_STEP_COMMIT:
        return tw_etmv4_unit_commit(unit, step->value);
    case TW_STEP_CANCEL:
        return tw_etmv4_unit_cancel(unit, step->value, (enum tw_cancel)step->how);
    case TW_STEP_OVERFLOW:
        return tw_etmv4_unit_overflow(unit);
    case TW_STEP_RECOVER:
        return tw_etmv4_unit_recover(unit);
    case TW_STEP_FLUSH:
        return tw_etmv4_unit_flush(unit);
    case TW_STEP_SYNC:
        return tw_etmv4_unit_synchronize(unit);
    case TW_STEP_DEBUG:
        return tw_etmv4_unit_debug(unit, step->value);
    case TW_STEP_LOW_POWER:
        return tw_etmv4_unit_low_power(unit, step->value);
    case TW_STEP_REGISTER:
        return tw_etmv4_unit_write_register(unit, step->reg.name, step->reg.value);
    case TW_STEP_RUNS:
        return retire_runs(unit, step->runs, step->run_count);
    case TW_STEP_STIMULUS: /* other units trace these */
    case TW_STEP_WATCH:
        return TW_OK;
    default:
        return tw_fail(&unit->fault, TW_E_ARGUMENT, "there is no step of kind %u", step->kind);
    }
}

/* ---- elements as text ---- */

static void context_text(struct tw_text *out, const struct tw_step_context *context)
{
    tw_text_format(out, "context(el%u %s %u-bit cid=0x%" PRIx32 " vmid=0x%" PRIx32 ")",
                   context->el, tw_security_name(context->security),
                   context->is_64bit ? 64 : 32, context->context_id, context->vmid);
}

size_t tw_etmv4_unit_element_text(char *out, size_t room,
                                  const struct tw_etmv4_unit_element *element)
{
    static const char *const names[TW_ETMV4_UNIT_ELEMENT_TYPES] = {
        [TW_ETMV4_UNIT_TRACE_INFO] = "trace_info",
        [TW_ETMV4_UNIT_TRACE_ON] = "trace_on",
        [TW_ETMV4_UNIT_ADDRESS] = "address",
        [TW_ETMV4_UNIT_EXCEPTION] = "exception",
        [TW_ETMV4_UNIT_EXCEPTION_RETURN] = "exception_return",
        [TW_ETMV4_UNIT_FUNCTION_RETURN] = "function_return",
        [TW_ETMV4_UNIT_SOURCE_ADDRESS] = "source_address",
        [TW_ETMV4_UNIT_Q] = "q",
        [TW_ETMV4_UNIT_COMMIT] = "commit",
        [TW_ETMV4_UNIT_CANCEL] = "cancel",
        [TW_ETMV4_UNIT_MISPREDICT] = "mispredict",
        [TW_ETMV4_UNIT_DISCARD] = "discard",
        [TW_ETMV4_UNIT_OVERFLOW] = "overflow",
        [TW_ETMV4_UNIT_TRANSACTION_START] = "transaction_start",
        [TW_ETMV4_UNIT_TRANSACTION_COMMIT] = "transaction_commit",
        [TW_ETMV4_UNIT_TRANSACTION_FAILURE] = "transaction_failure",
        [TW_ETMV4_UNIT_CYCLE_COUNT] = "cycle_count",
        [TW_ETMV4_UNIT_TIMESTAMP] = "timestamp",
        [TW_ETMV4_UNIT_TIMESTAMP_MARKER] = "timestamp_marker",
        [TW_ETMV4_UNIT_EVENT] = "event",
        [TW_ETMV4_UNIT_INSTRUMENTATION] = "instrumentation",
    };
    struct tw_text text = tw_text_in(out, room);

    switch (element->type) {
    case TW_ETMV4_UNIT_CONTEXT:
        context_text(&text, &element->context);
        break;
    case TW_ETMV4_UNIT_ATOM:
        tw_text_add(&text, element->is_taken ? "atom(E)" : "atom(N)");
        break;
    case TW_ETMV4_UNIT_ADDRESS:
    case TW_ETMV4_UNIT_SOURCE_ADDRESS:
    case TW_ETMV4_UNIT_TIMESTAMP:
        tw_text_format(&text, "%s(0x%" PRIx64 ")", names[element->type], element->value);
        break;
    case TW_ETMV4_UNIT_EXCEPTION:
        tw_text_format(&text, "exception(%u", element->number);
        if (element->is_known)
            tw_text_format(&text, ",0x%" PRIx64, element->value);
        tw_text_char(&text, ')');
        break;
    case TW_ETMV4_UNIT_INSTRUMENTATION:
        tw_text_format(&text, "instrumentation(el%u,0x%" PRIx64 ")", element->number,
                       element->value);
        break;
    case TW_ETMV4_UNIT_EVENT:
        tw_text_format(&text, "event(%u)", element->number);
        break;
    case TW_ETMV4_UNIT_Q:
    case TW_ETMV4_UNIT_CYCLE_COUNT:
        tw_text_format(&text, element->is_known ? "%s(%u)" : "%s(unknown)",
                       names[element->type], element->count);
        break;
    case TW_ETMV4_UNIT_COMMIT:
    case TW_ETMV4_UNIT_CANCEL:
        tw_text_format(&text, "%s(%u)", names[element->type], element->count);
        break;
    default:
        tw_text_add(&text, element->type < TW_ETMV4_UNIT_ELEMENT_TYPES ? names[element->type]
                                                                       : "unknown");
    }
    return text.size;
}
