/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder as its users see it: what the hart retires, cycle by cycle. */
#include "ntrace/unit.h"

#include "base/sized.h"

#include <inttypes.h>

enum { FIFO_MIN = 80 }; /* two messages of the largest size */

static enum tw_status check(const struct tw_ntrace_unit_config *config, struct tw_fault *fault)
{
    const struct tw_ntrace_config *trace = config->trace;

    TW_TRY(tw_ntrace_config_check(trace, fault));
    if (trace->dialect == TW_NTRACE_SIFIVE)
        return tw_fail(fault, TW_E_CONFIG, "the encoder has no dialect: dialect must be 1.0");
    if (trace->mode && trace->mode != TW_NTRACE_MODE_BTM && trace->mode != TW_NTRACE_MODE_HTM)
        return tw_fail(fault, TW_E_CONFIG, "mode must be btm or htm");
    if (trace->return_depth > TW_NTRACE_CALLS_MAX &&
        trace->return_mode != TW_NTRACE_RETURN_COUNT)
        return tw_fail(fault, TW_E_CONFIG, "implicit_return_depth is %u; %d is the most",
                       trace->return_depth, TW_NTRACE_CALLS_MAX);
    if (trace->icnt_max > TW_NTRACE_ICNT_MAX)
        return tw_fail(fault, TW_E_CONFIG, "icnt_max is %" PRIu32 "; %d is the most",
                       trace->icnt_max, TW_NTRACE_ICNT_MAX);
    if (trace->hist_max == 1)
        return tw_fail(fault, TW_E_CONFIG, "hist_max_bits is 1, which holds no branch");
    if (config->fifo_size && config->fifo_size < FIFO_MIN)
        return tw_fail(fault, TW_E_CONFIG,
                       "a buffer of %" PRIu32 " bytes does not hold two messages: %d do",
                       config->fifo_size, FIFO_MIN);
    return TW_OK;
}

enum tw_status tw_ntrace_unit_new(struct tw_ntrace_unit **unit,
                                  const struct tw_ntrace_unit_config *config,
                                  struct tw_fault *fault)
{
    struct tw_ntrace_unit_config copy;
    struct tw_ntrace_config trace;
    struct tw_ntrace_unit *made;

    *unit = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_ntrace_unit_config", fault));
    config = &copy;
    TW_TRY(TW_SIZED_TAKE(&trace, config->trace, "tw_ntrace_config", fault));
    copy.trace = &trace;
    TW_TRY(check(config, fault));
    made = tw_take(config->allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for an encoder");
    made->user = *config;
    made->user.trace = NULL;
    tw_ntrace_reader_init(&made->codec, config->trace);
    made->fifo.size = config->fifo_size;
    made->fifo.cycles_per_byte = config->cycles_per_byte ? config->cycles_per_byte : 1;
    made->due = TW_NTRACE_NO_SYNC;
    made->next_sync = TW_NTRACE_SYNC_ENABLED;
    made->hist = 1;
    tw_ntrace_unit_setup(made);
    *unit = made;
    return TW_OK;
}

void tw_ntrace_unit_free(struct tw_ntrace_unit *unit)
{
    if (unit)
        tw_give(unit->user.allocator, unit);
}

const char *tw_ntrace_unit_fault(const struct tw_ntrace_unit *unit)
{
    return unit->fault.text;
}

/* ---- blocks ---- */

static TW_NOINLINE enum tw_status bad(struct tw_ntrace_unit *unit,
                                      const struct tw_etrace_block *block, const char *what)
{
    return tw_fail(&unit->fault, TW_E_ARGUMENT, "block at 0x%" PRIx64 ": %s", block->iaddr,
                   what);
}

TW_INLINE enum tw_status check_block(struct tw_ntrace_unit *unit,
                                     const struct tw_etrace_block *block)
{
    const bool is_trap =
        block->itype == TW_ETRACE_ITYPE_EXCEPTION || block->itype == TW_ETRACE_ITYPE_INTERRUPT;

    if (TW_UNLIKELY(block->itype > TW_ETRACE_ITYPE_INFERABLE_OTHER || block->itype == 7))
        return bad(unit, block, "there is no such itype");
    if (TW_UNLIKELY(block->iretire == 0 && !is_trap))
        return bad(unit, block, "nothing retired, but its itype says so");
    if (TW_UNLIKELY(block->ilastsize > 1 ||
                    (block->iretire && block->iretire < 1u << block->ilastsize)))
        return bad(unit, block, "the last instruction is larger than the block");
    if (TW_UNLIKELY(block->iaddr & 1))
        return bad(unit, block, "its address is not aligned");
    return TW_OK;
}

static void take_triggers(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block)
{
    if (block->trigger & TW_ETRACE_TRIGGER_NOTIFY)
        tw_ntrace_unit_sync(unit, TW_NTRACE_SYNC_EVENT, true);
    if (block->trigger & TW_NTRACE_TRIGGER_EXTERNAL)
        tw_ntrace_unit_sync(unit, TW_NTRACE_SYNC_TRIGGER, true);
}

/* A trigger starts or stops tracing, if triggers may. */
static void trigger(struct tw_ntrace_unit *unit, bool is_on)
{
    if (!tw_ntrace_unit_get(unit, "trTeInstTrigEnable"))
        return;
    tw_ntrace_unit_set(unit, "trTeInstTracing", is_on);
    tw_ntrace_unit_refresh(unit);
}

static bool is_qualified(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block)
{
    const struct tw_ingress_stretch stretch = {
        block->iaddr,
        block->iretire ? block->iaddr + 2 * (uint64_t)block->iretire - (2u << block->ilastsize)
                       : block->iaddr
    };
    bool notify = false, is_wanted;

    if (TW_LIKELY(tw_ingress_is_idle(&unit->ingress)))
        return unit->is_running;
    is_wanted =
        tw_ingress_qualify(&unit->ingress, block, &stretch, &notify) && unit->is_running;
    if (notify && is_wanted)
        tw_ntrace_unit_sync(unit, TW_NTRACE_SYNC_EVENT, true);
    return is_wanted;
}

/* A block that is traced. */
static void trace_block(struct tw_ntrace_unit *unit, const struct tw_etrace_block *block)
{
    if (TW_LIKELY(unit->is_tracing)) {
        tw_ntrace_unit_arrive(unit, block->iaddr);
    } else {
        unit->time = block->time;
        tw_ntrace_unit_begin(unit, block->iaddr);
    }
    if (unit->is_tracing)
        tw_ntrace_unit_pass(unit, block);
    if (TW_UNLIKELY(block->trigger))
        take_triggers(unit, block);
}

/* Tracing is on, but not of what runs. */
static void pass_over(struct tw_ntrace_unit *unit)
{
    if (unit->is_tracing)
        tw_ntrace_unit_stop(unit);
    else if (unit->is_running && !unit->is_announced && !unit->is_lost)
        tw_ntrace_emit_stop(unit, TW_NTRACE_EVCODE_DISABLED);
    unit->is_announced = true;
}

static enum tw_status take_block(struct tw_ntrace_unit *unit,
                                 const struct tw_etrace_block *block)
{
    if (block->iretire == 0 && block->itype == TW_ETRACE_ITYPE_NONE && !block->trigger)
        return TW_OK;
    TW_TRY(check_block(unit, block));
    if (TW_UNLIKELY(block->trigger & TW_ETRACE_TRIGGER_ON))
        trigger(unit, true);
    unit->counts.blocks++;
    unit->counts.half_words += block->iretire;
    if (TW_LIKELY(is_qualified(unit, block)))
        trace_block(unit, block);
    else
        pass_over(unit);
    if (TW_UNLIKELY(block->trigger & TW_ETRACE_TRIGGER_OFF))
        trigger(unit, false);
    return TW_OK;
}

enum tw_status tw_ntrace_unit_retire(struct tw_ntrace_unit *unit,
                                     const struct tw_etrace_block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tw_ntrace_unit_idle(unit, 1);
        TW_TRY(take_block(unit, &blocks[i]));
    }
    return TW_OK;
}

void tw_ntrace_unit_idle(struct tw_ntrace_unit *unit, uint32_t cycles)
{
    unit->cycle += cycles;
    if (unit->sync_mode == 2)
        unit->sync_count += cycles;
}

/* ---- what happens to the hart ---- */

static void change(struct tw_ntrace_unit *unit, bool *level, bool value, uint8_t code)
{
    *level = value;
    unit->stop_code = code;
    tw_ntrace_unit_refresh(unit);
    unit->stop_code = TW_NTRACE_EVCODE_DISABLED;
}

void tw_ntrace_unit_halted(struct tw_ntrace_unit *unit, bool is_halted)
{
    /* While nothing is traced, all that can be told is that it halts. */
    if (is_halted && unit->is_running && !unit->is_tracing && !unit->is_lost)
        tw_ntrace_emit_stop(unit, TW_NTRACE_EVCODE_DEBUG);
    change(unit, &unit->is_halted, is_halted, TW_NTRACE_EVCODE_DEBUG);
    if (!is_halted)
        unit->next_sync = TW_NTRACE_SYNC_DEBUG_EXIT;
}

void tw_ntrace_unit_asleep(struct tw_ntrace_unit *unit, bool is_asleep)
{
    change(unit, &unit->is_asleep, is_asleep, TW_NTRACE_EVCODE_LOW_POWER);
    if (!is_asleep)
        unit->next_sync = TW_NTRACE_SYNC_POWER_UP;
}

void tw_ntrace_unit_reset(struct tw_ntrace_unit *unit, bool is_reset)
{
    /* What ran before is told together with where the hart begins again. */
    if (is_reset && unit->is_tracing && !unit->is_lost) {
        unit->due = TW_NTRACE_SYNC_RESET;
        unit->is_due_now = true;
        tw_ntrace_unit_stop(unit);
    }
    unit->is_reset = is_reset;
    unit->next_sync = TW_NTRACE_SYNC_RESET;
}

uint64_t tw_ntrace_unit_stalled(struct tw_ntrace_unit *unit)
{
    const uint64_t cycles = unit->fifo.stalled;

    unit->fifo.stalled = 0;
    return cycles;
}

void tw_ntrace_unit_flush(struct tw_ntrace_unit *unit)
{
    tw_ntrace_sink_flush(unit);
}

void tw_ntrace_unit_counts(struct tw_ntrace_unit_counts *out, const struct tw_ntrace_unit *unit)
{
    *out = unit->counts;
}
