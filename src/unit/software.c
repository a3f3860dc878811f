/* SPDX-License-Identifier: BSD-2-Clause */
/* Software trace.  An ITM with its DWT, and an STM: stimulus writes of the log, watched events,
   exceptions and PC samples of the M profile. */
#include <string.h>

#include <trackway/itm_unit.h>
#include <trackway/stm_unit.h>

#include "unit/unit.h"

/* Of DWT_CTRL. */
enum {
    CYCCNTENA = 1 << 0,
    CYCTAP = 1 << 9,
    PCSAMPLENA = 1 << 12,
    EXCTRCENA = 1 << 16,
    CYCEVTENA = 1 << 22
};

/* Of STMTCSR. */
enum {
    STM_EN = 1 << 0,
    STM_TSEN = 1 << 1,
    STM_SYNCEN = 1 << 2,
    STM_HWTEN = 1 << 3,
    STM_COMPEN = 1 << 5
};

enum { ACTIONS = 64, NESTING = 256 };

/* Something that happens before the next instruction, whose address a PC sample in between shows. */
struct action {
    uint64_t wait; /* cycles before it */
    struct tw_dwt_meaning watched;
    bool is_watched;
};

struct software {
    bool is_stm;
    struct tw_itm_unit *itm;
    struct tw_stm_unit *stm;
    /* registers */
    uint64_t tcr, ter, dwt_control;               /* ITM */
    uint64_t tcsr, frequency, sync, event_master; /* STM */
    /* choices */
    uint64_t clock, entry, leave, chain, period, sync_cycles, fifo, cycles_per_byte;
    uint64_t version, timestamp_bits;

    uint64_t cycles, time_base; /* since the start; the time at the start */
    uint64_t next_sample;
    struct action actions[ACTIONS];
    size_t action_count;
    uint16_t nested[NESTING]; /* numbers of the exceptions that are active */
    size_t depth;
    bool has_left; /* the last instruction returned from an exception */
    uint64_t pc;
};

/* A setting and where it is kept. */
struct setting {
    const char *name;
    uint64_t most, *value;
};

static enum tw_status set_one(struct tw_unit *unit, const struct setting *settings,
                              const char *kind, const struct tw_register *given)
{
    for (; settings->name; settings++)
        if (strcmp(settings->name, given->name) == 0 && given->value <= settings->most) {
            *settings->value = given->value;
            return TW_OK;
        }
    return tw_fail(&unit->fault, TW_E_ARGUMENT, "%s: there is no %s, or its value is too large",
                   kind, given->name);
}

static enum tw_status set_register(struct tw_unit *unit, const char *name, uint64_t value)
{
    const struct tw_register given = { name, value };
    struct software *sw = unit->model;
    const struct setting itm[] = { { "ITMTCR", UINT32_MAX, &sw->tcr },
                                   { "ITMTER", UINT32_MAX, &sw->ter },
                                   { "DWT_CTRL", UINT32_MAX, &sw->dwt_control },
                                   { NULL, 0, NULL } };
    const struct setting stm[] = { { "STMTCSR", UINT32_MAX, &sw->tcsr },
                                   { "STMTSFREQR", UINT32_MAX, &sw->frequency },
                                   { "STMSYNCR", 0xfff, &sw->sync },
                                   { "STMHEMASTR", 0xffff, &sw->event_master },
                                   { NULL, 0, NULL } };

    return set_one(unit, sw->is_stm ? stm : itm, unit->config.registers_name, &given);
}

static enum tw_status set_choice(struct tw_unit *unit, const char *name, uint64_t value)
{
    const struct tw_register given = { name, value };
    struct software *sw = unit->model;
    const struct setting itm[] = { { "cycles", 4096, &sw->clock },
                                   { "entry", 4096, &sw->entry },
                                   { "return", 4096, &sw->leave },
                                   { "chain", 4096, &sw->chain },
                                   { "sample", UINT32_MAX, &sw->period },
                                   { "sync", UINT32_MAX, &sw->sync_cycles },
                                   { "fifo", UINT32_MAX, &sw->fifo },
                                   { "cycles-per-byte", UINT32_MAX, &sw->cycles_per_byte },
                                   { NULL, 0, NULL } };
    const struct setting stm[] = { { "cycles", 4096, &sw->clock },
                                   { "version", 4, &sw->version },
                                   { "timestamp-bits", 64, &sw->timestamp_bits },
                                   { NULL, 0, NULL } };

    return set_one(unit, sw->is_stm ? stm : itm, unit->config.choices_name, &given);
}

static enum tw_status told(struct tw_unit *unit, enum tw_status status)
{
    return status == TW_OK ? TW_OK : tw_unit_wrong(unit, status, tw_status_name(status));
}

/* How many cycles lie between two PC samples, or events of the cycle counter; 0: there are none. */
static uint64_t sample_period(const struct software *sw)
{
    const uint64_t control = sw->dwt_control;

    if (sw->period)
        return sw->period;
    if (!(control & CYCCNTENA) || !(control & (PCSAMPLENA | CYCEVTENA)))
        return 0;
    return ((control >> 1 & 15) + 1) << (control & CYCTAP ? 10 : 6);
}

static uint64_t sync_period(const struct software *sw)
{
    static const uint8_t taps[] = { 0, 24, 26, 28 };
    const unsigned tap = taps[sw->dwt_control >> 10 & 3];

    return sw->sync_cycles || !tap ? sw->sync_cycles : UINT64_C(1) << tap;
}

static enum tw_status begin_itm(struct tw_unit *unit)
{
    struct software *sw = tw_unit_room(unit, sizeof *sw);
    struct tw_itm_unit_config config = { .size = sizeof config, .allocator = unit->allocator };

    unit->model = sw;
    if (!sw)
        return tw_unit_no_memory(unit);
    /* On, with local timestamps, synchronization, DWT packets and trace ID 0x10. */
    *sw = (struct software){ .tcr = 0x10000f,
                             .ter = UINT32_MAX,
                             .dwt_control = EXCTRCENA | CYCCNTENA,
                             .clock = 1,
                             .entry = 12,
                             .leave = 10,
                             .chain = 6 };
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_unit_registers(unit, set_register));
    config.tcr = (uint32_t)sw->tcr;
    config.sync_cycles = sync_period(sw);
    config.fifo_size = (uint32_t)sw->fifo;
    config.cycles_per_byte = (uint32_t)sw->cycles_per_byte;
    sw->period = sample_period(sw);
    sw->next_sample = sw->period ? sw->period : UINT64_MAX;
    unit->device = "ITM_0";
    unit->trace.device_type = "ITM";
    unit->trace.id = (uint8_t)(sw->tcr >> 16 & 0x7f);
    tw_unit_add_register(unit, "ITMTCR", sw->tcr);
    tw_unit_add_register(unit, "DWT_CTRL", sw->dwt_control);
    return told(unit, tw_itm_unit_new(&sw->itm, &config, NULL));
}

static enum tw_status begin_stm(struct tw_unit *unit)
{
    struct software *sw = tw_unit_room(unit, sizeof *sw);
    struct tw_stm_unit_config config = { .size = sizeof config, .allocator = unit->allocator };

    unit->model = sw;
    if (!sw)
        return tw_unit_no_memory(unit);
    *sw = (struct software){ .is_stm = true,
                             .tcsr = 0x100000 | STM_EN | STM_TSEN | STM_SYNCEN | STM_HWTEN |
                                     STM_COMPEN,
                             .frequency = 100000000,
                             .sync = 0xfff,
                             .event_master = 0x80,
                             .clock = 1,
                             .version = 3,
                             .timestamp_bits = 64 };
    TW_TRY(tw_unit_choices(unit, set_choice));
    TW_TRY(tw_unit_registers(unit, set_register));
    if (sw->version < 3 || (sw->timestamp_bits != 48 && sw->timestamp_bits != 64))
        return tw_fail(&unit->fault, TW_E_ARGUMENT,
                       "%s: version is 3 or 4, timestamp-bits 48 or 64",
                       unit->config.choices_name);
    config.version = (uint8_t)sw->version;
    config.has_timestamps = sw->tcsr & STM_TSEN;
    config.compresses = sw->tcsr & STM_COMPEN;
    config.timestamp_bits = (uint8_t)sw->timestamp_bits;
    config.frequency = (uint32_t)sw->frequency;
    config.sync_bytes = sw->tcsr & STM_SYNCEN ? (uint32_t)sw->sync : 0;
    config.event_master = (uint16_t)sw->event_master;
    unit->device = "STM_0";
    unit->trace.device_type = "STM";
    unit->is_of_no_core = true;
    unit->trace.id = (uint8_t)(sw->tcsr >> 16 & 0x7f);
    tw_unit_add_register(unit, "STMTCSR", sw->tcsr);
    tw_unit_add_register(unit, "STMTSFREQR", sw->frequency);
    tw_unit_add_register(unit, "STMSYNCR", sw->sync);
    return told(unit, tw_stm_unit_new(&sw->stm, &config, NULL));
}

/* ---- time ---- */

/* Cycles pass; what is sampled meanwhile shows this address. */
static enum tw_status pass(struct software *sw, uint64_t cycles, uint64_t pc)
{
    const struct tw_dwt_meaning event = { .kind = TW_DWT_COUNTERS, .mask = TW_DWT_CYC };
    const struct tw_dwt_meaning sample = { .kind = TW_DWT_PC_SAMPLE,
                                           .size = 4,
                                           .value = (uint32_t)pc };
    const bool is_event = !(sw->dwt_control & PCSAMPLENA) && sw->dwt_control & CYCEVTENA;
    const uint64_t until = sw->cycles + cycles;
    enum tw_status status = TW_OK;

    while (status == TW_OK && sw->itm && sw->next_sample <= until) {
        status = tw_itm_unit_advance(sw->itm, sw->next_sample - sw->cycles);
        if (status == TW_OK)
            status = tw_itm_unit_watch(sw->itm, is_event ? &event : &sample);
        sw->cycles = sw->next_sample;
        sw->next_sample += sw->period;
    }
    if (status == TW_OK && sw->itm && until > sw->cycles)
        status = tw_itm_unit_advance(sw->itm, until - sw->cycles);
    sw->cycles = until;
    return status;
}

/* Everything that waited for the address of the next instruction. */
static enum tw_status act(struct software *sw, uint64_t pc)
{
    enum tw_status status = TW_OK;

    for (size_t i = 0; i < sw->action_count && status == TW_OK; i++) {
        const struct action *action = &sw->actions[i];

        status = pass(sw, action->wait, pc);
        if (status == TW_OK && action->is_watched)
            status = tw_itm_unit_watch(sw->itm, &action->watched);
    }
    sw->action_count = 0;
    return status;
}

static enum tw_status wait_for(struct software *sw, uint64_t cycles,
                               const struct tw_dwt_meaning *watched)
{
    enum tw_status status = TW_OK;

    if (sw->action_count == ACTIONS)
        status = act(sw, sw->pc);
    sw->actions[sw->action_count] = (struct action){ .wait = cycles };
    if (watched) {
        sw->actions[sw->action_count].watched = *watched;
        sw->actions[sw->action_count].is_watched = true;
    }
    sw->action_count++;
    return status;
}

/* ---- exceptions of the M profile ---- */

static enum tw_status watch_exception(struct software *sw, uint64_t wait, unsigned number,
                                      uint8_t action)
{
    const struct tw_dwt_meaning event = { .kind = TW_DWT_EXCEPTION,
                                          .number = (uint16_t)number,
                                          .action = action };

    return wait_for(sw, wait, sw->dwt_control & EXCTRCENA ? &event : NULL);
}

static unsigned innermost(const struct software *sw)
{
    return sw->depth && sw->depth <= NESTING ? sw->nested[sw->depth - 1] : 0;
}

/* The return whose instruction was the last has ended, and nothing is chained to it. */
static enum tw_status return_now(struct software *sw)
{
    if (!sw->has_left)
        return TW_OK;
    sw->has_left = false;
    return watch_exception(sw, sw->leave, innermost(sw), TW_DWT_RETURNED);
}

static enum tw_status take_exception(struct software *sw, const struct tw_step *step)
{
    enum tw_status status = TW_OK;

    if (!step->is_chained)
        status = return_now(sw);
    sw->has_left = false;
    if (sw->depth < NESTING)
        sw->nested[sw->depth] = (uint16_t)step->cause;
    sw->depth++;
    return status == TW_OK ? watch_exception(sw, step->is_chained ? sw->chain : sw->entry,
                                             (unsigned)step->cause, TW_DWT_ENTERED)
                           : status;
}

static enum tw_status leave(struct software *sw)
{
    const unsigned number = innermost(sw);

    if (sw->depth)
        sw->depth--;
    sw->has_left = true;
    return watch_exception(sw, 0, number, TW_DWT_EXITED);
}

static enum tw_status execute(struct software *sw, const struct tw_step *step)
{
    enum tw_status status = TW_OK;

    for (size_t i = 0; i < step->count && status == TW_OK; i++) {
        const struct tw_retired *at = &step->instructions[i];

        sw->pc = at->address;
        if (sw->itm)
            status = return_now(sw);
        if (status == TW_OK && sw->action_count)
            status = act(sw, at->address);
        if (status == TW_OK)
            status = pass(sw, sw->clock, at->address);
        if (status == TW_OK && sw->itm && at->isa == TW_ISA_T32 &&
            at->flags & TW_RETIRED_EXCEPTION_RETURN)
            status = leave(sw);
    }
    return status;
}

/* ---- steps ---- */

static enum tw_status write_itm(struct tw_unit *unit, const struct tw_stimulus *what)
{
    struct software *sw = unit->model;
    enum tw_status status;

    if (what->port > 255 || what->flags & (TW_STIMULUS_FLAG | TW_STIMULUS_TRIGGER) ||
        (what->bits != 8 && what->bits != 16 && what->bits != 32))
        return tw_unit_wrong(unit, TW_E_ARGUMENT,
                             "an ITM takes 8, 16 or 32 bits at ports 0 to 255");
    if (what->port < 32 && !(sw->ter >> what->port & 1))
        return TW_OK;
    status = act(sw, sw->pc);
    if (status == TW_OK)
        status = tw_itm_unit_write(sw->itm, what->port, (uint32_t)what->value, what->bits / 8u);
    return told(unit, status);
}

static enum tw_status step_itm(struct tw_unit *unit, const struct tw_step *what)
{
    struct software *sw = unit->model;

    switch (what->kind) {
    case TW_STEP_INSTRUCTIONS:
        if (sw->period && what->count && what->instructions[0].address > UINT32_MAX)
            return tw_fail(&unit->fault, TW_E_CONFIG,
                           "PC samples have 32 bits, and the program is at higher addresses");
        return told(unit, execute(sw, what));
    case TW_STEP_EXCEPTION:
        return unit->is_m ? told(unit, take_exception(sw, what)) : TW_OK;
    case TW_STEP_STIMULUS:
        return write_itm(unit, &what->stimulus);
    case TW_STEP_WATCH:
        return told(unit, wait_for(sw, 0, &what->watched));
    case TW_STEP_CYCLES:
        return told(unit, wait_for(sw, what->value, NULL));
    case TW_STEP_CLOCK:
        sw->clock = what->value;
        return TW_OK;
    case TW_STEP_TIME:
        TW_TRY(told(unit, act(sw, sw->pc)));
        return told(unit, tw_itm_unit_set_time(sw->itm, what->value));
    default:
        return TW_OK; /* of no concern to it */
    }
}

static enum tw_status write_stm(struct software *sw, const struct tw_stimulus *what)
{
    const unsigned flags = what->flags & (TW_STIMULUS_MARKED | TW_STIMULUS_TIMED);

    tw_stm_unit_select(sw->stm, what->master, what->port);
    tw_stm_unit_set_time(sw->stm, sw->time_base + sw->cycles);
    if (what->flags & TW_STIMULUS_FLAG)
        return tw_stm_unit_flag(sw->stm, flags);
    if (what->flags & TW_STIMULUS_TRIGGER)
        return tw_stm_unit_trigger(sw->stm, (uint8_t)what->value, flags);
    return tw_stm_unit_write(sw->stm, what->value, what->bits, flags);
}

static enum tw_status step_stm(struct tw_unit *unit, const struct tw_step *what)
{
    struct software *sw = unit->model;

    switch (what->kind) {
    case TW_STEP_INSTRUCTIONS:
        return told(unit, execute(sw, what));
    case TW_STEP_STIMULUS:
        return sw->tcsr & STM_EN ? told(unit, write_stm(sw, &what->stimulus)) : TW_OK;
    case TW_STEP_EXTERNAL:
        if (!(sw->tcsr & STM_EN) || !(sw->tcsr & STM_HWTEN))
            return TW_OK;
        if (what->value > UINT8_MAX)
            return tw_unit_wrong(unit, TW_E_ARGUMENT, "an STM has hardware events 0 to 255");
        tw_stm_unit_set_time(sw->stm, sw->time_base + sw->cycles);
        return told(unit, tw_stm_unit_event(sw->stm, (uint8_t)what->value, TW_STM_TIMED));
    case TW_STEP_OVERFLOW:
        return told(unit, tw_stm_unit_lose(sw->stm, true, 0));
    case TW_STEP_CYCLES:
        sw->cycles += what->value;
        return TW_OK;
    case TW_STEP_CLOCK:
        sw->clock = what->value;
        return TW_OK;
    case TW_STEP_TIME:
        sw->time_base = what->value - sw->cycles;
        return TW_OK;
    case TW_STEP_FLUSH:
        return told(unit, tw_stm_unit_flush(sw->stm));
    default:
        return TW_OK;
    }
}

static enum tw_status end_itm(struct tw_unit *unit)
{
    struct software *sw = unit->model;

    TW_TRY(told(unit, return_now(sw)));
    TW_TRY(told(unit, act(sw, sw->pc)));
    TW_TRY(told(unit, tw_itm_unit_flush(sw->itm)));
    unit->trace.bytes = tw_itm_unit_output(sw->itm, &unit->trace.size);
    unit->trace.core_type = unit->is_m ? tw_unit_m_core(unit) : NULL;
    return TW_OK;
}

static enum tw_status end_stm(struct tw_unit *unit)
{
    struct software *sw = unit->model;

    TW_TRY(told(unit, tw_stm_unit_flush(sw->stm)));
    unit->trace.bytes = tw_stm_unit_output(sw->stm, &unit->trace.size);
    return TW_OK;
}

static const uint8_t *output(const struct tw_unit *unit, size_t *size)
{
    const struct software *sw = unit->model;

    return sw->is_stm ? tw_stm_unit_output(sw->stm, size) : tw_itm_unit_output(sw->itm, size);
}

static void take(struct tw_unit *unit)
{
    const struct software *sw = unit->model;

    if (sw->is_stm)
        tw_stm_unit_take(sw->stm);
    else
        tw_itm_unit_take(sw->itm);
}

static void free_model(struct tw_unit *unit)
{
    const struct software *sw = unit->model;

    tw_itm_unit_free(sw->itm);
    tw_stm_unit_free(sw->stm);
}

const struct tw_unit_kind tw_unit_itm = { .protocol = "itm",
                                          .begin = begin_itm,
                                          .step = step_itm,
                                          .end = end_itm,
                                          .output = output,
                                          .take = take,
                                          .free = free_model };
const struct tw_unit_kind tw_unit_stm = { .protocol = "stm",
                                          .begin = begin_stm,
                                          .step = step_stm,
                                          .end = end_stm,
                                          .output = output,
                                          .take = take,
                                          .free = free_model };
