/* SPDX-License-Identifier: BSD-2-Clause */
/* A script's trace unit: its registers, the log that it executes, and its trace to the buffer. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trbe/sim.h"

enum {
    TRACER_FIFO = 4096, /* bytes that wait when the buffer unit refuses them */
    EXTERNAL_OUTPUTS = 1 << 13
};

static enum tw_status told(struct sim *sim, enum tw_status status)
{
    const char *why = tw_etmv4_unit_fault(sim->pe->tracer);

    if (status == TW_OK || status == TW_E_MEMORY)
        return status;
    if (sim->pe->is_running && tw_log_line(sim->pe->log))
        return tw_sim_wrong(sim, "log, line %u: %s", tw_log_line(sim->pe->log),
                            *why ? why : tw_status_name(status));
    return tw_sim_wrong(sim, "trace unit: %s", *why ? why : tw_status_name(status));
}

/* ---- making it ---- */

/* Where trace is prohibited, the buffer unit knows; what the tracer would look at allows all. */
enum tw_status tw_sim_need_tracer(struct sim *sim)
{
    if (sim->pe->tracer)
        return TW_OK;
    if (!sim->pe->tracer_config.size)
        sim->pe->tracer_config.is_ete = true;
    sim->pe->tracer_config.size = sizeof sim->pe->tracer_config;
    sim->pe->tracer_config.is_self_hosted = true;
    sim->pe->tracer_config.allocator = sim->config->allocator;
    if (tw_etmv4_unit_new(&sim->pe->tracer, &sim->pe->tracer_config, NULL) != TW_OK)
        return tw_fail(sim->fault, TW_E_MEMORY, "out of memory");
    sim->pe->is_allowed = true;
    sim->pe->context =
        (struct tw_step_context){ .el = 1,
                                  .security = (sim->pe->unit_config.features &
                                               (TW_TRBE_SECURE | TW_TRBE_EL3)) == TW_TRBE_SECURE
                                                  ? TW_SECURE
                                                  : TW_NONSECURE,
                                  .is_64bit = true };
    TW_TRY(tw_etmv4_unit_write_register(sim->pe->tracer, "TRFCR_EL1", 3));
    TW_TRY(tw_etmv4_unit_write_register(sim->pe->tracer, "TRFCR_EL2", 3));
    TW_TRY(tw_etmv4_unit_write_register(sim->pe->tracer, "MDCR_EL3", 0x40001));
    TW_TRY(tw_etmv4_unit_write_register(sim->pe->tracer, "TRCTRACEIDR", 0x10 + sim->pe_number));
    if (tw_trbe_used(sim->pe->unit, TW_TRBE_OSLAR) & 1)
        TW_TRY(tw_sim_lock(sim, true));
    /* The script may have enabled it before it said more of it. */
    TW_TRY(tw_etmv4_unit_write_register(sim->pe->tracer, "TRCPRGCTLR",
                                        tw_trbe_used(sim->pe->unit, TW_TRBE_TRCPRGCTLR)));
    return tw_sim_look_again(sim);
}

/* unit ete|etmv4 [CHOICE=VALUE...] */
enum tw_status tw_sim_tracer(struct sim *sim)
{
    struct tw_etmv4_unit_config *config = &sim->pe->tracer_config;

    if (sim->pe->tracer)
        return tw_sim_wrong(sim, "there is a trace unit already");
    config->size = sizeof *config;
    if (sim->count > 1 && tw_sim_is_word(sim->word[1], "ete"))
        config->is_ete = true;
    else if (!(sim->count > 1 && tw_sim_is_word(sim->word[1], "etmv4")))
        return tw_sim_wrong(sim, "unit wants ete or etmv4");
    for (size_t i = 2; i < sim->count; i += 3) {
        uint64_t value;

        if (i + 2 >= sim->count || strcmp(sim->word[i + 1], "=") != 0)
            return tw_sim_wrong(sim, "unit wants CHOICE=VALUE");
        TW_TRY(tw_sim_number_at(sim, i + 2, &value));
        if (tw_etmv4_unit_config_set(config, sim->word[i], value) != TW_OK)
            return tw_sim_wrong(sim, "a trace unit has no choice %s=%s", sim->word[i],
                                sim->word[i + 2]);
    }
    return tw_sim_need_tracer(sim);
}

/* preset minimal, preset exclude|include FIRST LAST */
enum tw_status tw_sim_preset(struct sim *sim)
{
    const char *name = sim->count > 1 ? sim->word[1] : "";
    const bool is_minimal = tw_sim_is_word(name, "minimal");
    const bool is_include = tw_sim_is_word(name, "include");
    uint64_t first = 0, last = 0;

    if (!is_minimal && !is_include && !tw_sim_is_word(name, "exclude"))
        return tw_sim_wrong(sim, "preset wants minimal, exclude or include");
    if (!is_minimal) {
        TW_TRY(tw_sim_number_at(sim, 2, &first));
        TW_TRY(tw_sim_number_at(sim, 3, &last));
    }
    TW_TRY(tw_sim_need_tracer(sim));
    return told(sim, tw_etmv4_unit_preset(sim->pe->tracer,
                                          is_minimal   ? TW_ETMV4_UNIT_MINIMAL
                                          : is_include ? TW_ETMV4_UNIT_INCLUDE
                                                       : TW_ETMV4_UNIT_EXCLUDE,
                                          first, last));
}

/* ---- registers ---- */

/* Whether a name is of the tracer's registers, and not of those that the buffer unit has too. */
static bool is_tracers(const char *name)
{
    return tolower((unsigned char)name[0]) == 't' && tolower((unsigned char)name[1]) == 'r' &&
           tolower((unsigned char)name[2]) == 'c';
}

/* Whether it is, and not locked. */
static bool is_enabled(const struct sim *sim)
{
    uint64_t status = 1;

    return sim->pe->tracer &&
           tw_etmv4_unit_read_register(sim->pe->tracer, &status, "TRCSTATR") == TW_OK &&
           !(status & 1);
}

enum tw_status tw_sim_tracer_write(struct sim *sim, const char *name, uint64_t value)
{
    uint64_t old;

    if (!is_tracers(name))
        return TW_END;
    TW_TRY(tw_sim_need_tracer(sim));
    if (tw_etmv4_unit_read_register(sim->pe->tracer, &old, name) != TW_OK)
        return TW_END;
    if (is_enabled(sim) &&
        tw_etmv4_unit_write_register(sim->pe->tracer, name, value) == TW_E_ARGUMENT) {
        char text[120];

        (void)snprintf(text, sizeof text,
                       "%.40s is written while the trace unit is enabled; ignored here", name);
        tw_sim_misuse(sim, text);
        return tw_sim_offer(sim);
    }
    TW_TRY(told(sim, tw_etmv4_unit_write_register(sim->pe->tracer, name, value)));
    return tw_sim_offer(sim);
}

enum tw_status tw_sim_lock(struct sim *sim, bool is_locked)
{
    /* An ETMv4 has a lock of its own, TRCOSLAR [K10.5.9]. */
    if (!sim->pe->tracer_config.is_ete)
        return TW_OK;
    TW_TRY(told(sim, tw_etmv4_unit_write_register(sim->pe->tracer, "OSLAR_EL1", is_locked)));
    return tw_sim_offer(sim);
}

void tw_sim_check_read(struct sim *sim, const char *name)
{
    static const char *const moving[] = { "trccntvr", "trcseqstr", "trcsscsr", "trcrsr" };
    char text[120];

    for (size_t i = 0; i < TW_LENGTH(moving); i++) {
        size_t same = 0;

        while (moving[i][same] && tolower((unsigned char)name[same]) == moving[i][same])
            same++;
        if (moving[i][same] || !is_enabled(sim))
            continue;
        (void)snprintf(text, sizeof text,
                       "%.40s is read while the trace unit is enabled; it may be anything",
                       name);
        tw_sim_misuse(sim, text);
    }
}

bool tw_sim_tracer_read(struct sim *sim, const char *name, uint64_t *value)
{
    return sim->pe->tracer && is_tracers(name) &&
           tw_etmv4_unit_read_register(sim->pe->tracer, value, name) == TW_OK;
}

enum tw_status tw_sim_look_again(struct sim *sim)
{
    const uint64_t hcr_el2 = tw_trbe_used(sim->pe->unit, TW_TRBE_HCR_EL2);
    struct tw_trbe_state state;

    tw_trbe_get_state(sim->pe->unit, &state);
    if (hcr_el2 != sim->pe->hcr_el2) {
        sim->pe->hcr_el2 = hcr_el2;
        TW_TRY(told(sim, tw_etmv4_unit_write_register(sim->pe->tracer, "HCR_EL2", hcr_el2)));
    }
    if (state.is_trace_allowed == sim->pe->is_allowed)
        return TW_OK;
    sim->pe->is_allowed = state.is_trace_allowed;
    return told(sim, tw_etmv4_unit_prohibit(sim->pe->tracer, !sim->pe->is_allowed));
}

void tw_sim_heed(struct sim *sim, const struct tw_trbe_event *event)
{
    if (event->kind == TW_TRBE_ON_EVENT &&
        (event->value == TW_TRBE_EVENT_TRB_WRAP || event->value == TW_TRBE_EVENT_TRB_TRIG) &&
        tw_trbe_event_reaches(sim->pe->unit, (unsigned)event->value))
        (void)(tw_etmv4_unit_external(sim->pe->tracer, (uint16_t)event->value) == TW_OK);
}

/* ---- trace ---- */

/* Each byte leaves before it is offered: the buffer unit may ask for a flush because of it, and
   what follows comes first then. */
static bool offer_byte(struct sim *sim)
{
    size_t size;
    const uint8_t *bytes = tw_etmv4_unit_output(sim->pe->tracer, &size);
    uint8_t byte;

    if (sim->pe->sent == size)
        return false;
    byte = bytes[sim->pe->sent++];
    if (tw_trbe_collect(sim->pe->unit, &byte, 1, true) == 1) {
        sim->pe->trace_bytes++;
        return true;
    }
    sim->pe->sent--;
    return false;
}

size_t tw_sim_flush_tracer(struct sim *sim, uint8_t *bytes, size_t room)
{
    const uint8_t *made;
    size_t size;

    if (tw_etmv4_unit_flush(sim->pe->tracer) != TW_OK)
        return 0;
    made = tw_etmv4_unit_output(sim->pe->tracer, &size);
    size -= sim->pe->sent;
    if (size > room)
        size = room;
    if (size)
        memcpy(bytes, made + sim->pe->sent, size);
    sim->pe->sent += size;
    sim->pe->trace_bytes += size;
    return size;
}

/* Events that left the trace unit: the first is the trigger; all are seen outside if it lets them. */
static void pass_events(struct sim *sim)
{
    const unsigned events = tw_etmv4_unit_events(sim->pe->tracer);
    uint64_t control = 0;

    if (!events)
        return;
    if (tw_etmv4_unit_read_register(sim->pe->tracer, &control, "TRCEVENTCTL1R") == TW_OK &&
        control & EXTERNAL_OUTPUTS)
        for (unsigned i = 0; i < 4; i++) {
            const struct tw_trbe_event event = {
                .kind = TW_TRBE_ON_EVENT,
                .value = TW_TRBE_EVENT_TRCEXTOUT0 + i,
                .accepted = tw_trbe_get_counts(sim->pe->unit)->accepted,
                .pointer = tw_trbe_used(sim->pe->unit, TW_TRBE_PTR),
            };

            if (events >> i & 1)
                tw_sim_event(sim, &event);
        }
    if (events & 1)
        tw_trbe_trigger(sim->pe->unit);
}

enum tw_status tw_sim_offer(struct sim *sim)
{
    size_t size;

    while (offer_byte(sim))
        ;
    pass_events(sim);
    while (offer_byte(sim))
        ; /* what a flush left */
    (void)tw_etmv4_unit_output(sim->pe->tracer, &size);
    if (sim->pe->sent == size) {
        tw_etmv4_unit_take(sim->pe->tracer);
        sim->pe->sent = 0;
        if (!sim->pe->is_full)
            return TW_OK;
        sim->pe->is_full = false;
        return told(sim, tw_etmv4_unit_recover(sim->pe->tracer));
    }
    if (size - sim->pe->sent < TRACER_FIFO || sim->pe->is_full)
        return TW_OK;
    sim->pe->is_full = true;
    return told(sim, tw_etmv4_unit_overflow(sim->pe->tracer));
}

/* ---- the log ---- */

/* log NAME */
enum tw_status tw_sim_log(struct sim *sim)
{
    const struct tw_log_options options = { .size = sizeof options,
                                            .image = sim->config->image,
                                            .allocator = sim->config->allocator };
    struct tw_fault fault = { TW_OK, "" };
    const uint8_t *bytes = NULL;
    size_t size = 0;
    enum tw_status status;

    if (sim->count < 2)
        return tw_sim_wrong(sim, "log wants a name");
    if (!sim->config->load ||
        !sim->config->load(sim->config->context, sim->word[1], &bytes, &size))
        return tw_sim_wrong(sim, "\"%s\" cannot be read", sim->word[1]);
    tw_log_free(sim->pe->own_log);
    sim->pe->step = (struct tw_step){ .kind = TW_STEP_GAP };
    sim->pe->log = NULL;
    status = tw_log_open_memory(&sim->pe->own_log, bytes, size, &options, &fault);
    if (status != TW_OK)
        return status == TW_E_MEMORY ? tw_fail(sim->fault, status, "out of memory")
                                     : tw_sim_wrong(sim, "%s: %s", sim->word[1], fault.text);
    sim->pe->log = sim->pe->own_log;
    return TW_OK;
}

/* The processor's state is the log's from here on. */
static enum tw_status enter(struct sim *sim, const struct tw_step_context *context)
{
    const uint32_t features = sim->pe->unit_config.features;
    const bool has_el3 = features & TW_TRBE_EL3;
    const bool is_realm = context->security == TW_REALM || context->security == TW_ROOT;
    uint64_t scr = tw_trbe_read(sim->pe->unit, TW_TRBE_SCR_EL3);

    if ((context->el == 2 && !(features & TW_TRBE_EL2)) || (context->el == 3 && !has_el3))
        return tw_sim_wrong(sim, "the log goes to EL%u, which config features= does not name",
                            context->el);
    if (has_el3 && (!is_realm || features & TW_TRBE_RME)) {
        scr &= ~((uint64_t)1 << 62 | 1);
        if (context->security == TW_NONSECURE || context->security == TW_REALM)
            scr |= 1;
        if (context->security == TW_REALM)
            scr |= (uint64_t)1 << 62;
        if (context->el < 3)
            tw_trbe_write(sim->pe->unit, TW_TRBE_SCR_EL3, scr);
    } else if (is_realm ||
               (context->security == TW_SECURE) != ((features & TW_TRBE_SECURE) != 0)) {
        return tw_sim_wrong(sim,
                            "the log goes to a Security state that the unit does not have");
    }
    tw_trbe_enter(sim->pe->unit, context->el);
    sim->pe->context = *context;
    TW_TRY(tw_sim_look_again(sim));
    return told(sim, tw_etmv4_unit_context(sim->pe->tracer, context));
}

enum tw_status tw_sim_level(struct sim *sim, bool is_exception, unsigned el)
{
    const bool is_inside =
        sim->pe->step.kind == TW_STEP_INSTRUCTIONS && sim->pe->step_at < sim->pe->step.count;
    struct tw_step_context context = sim->pe->context;

    context.el = (uint8_t)el;
    if (is_exception)
        TW_TRY(told(sim, tw_etmv4_unit_exception(
                             sim->pe->tracer, TW_EXCEPTION_IRQ,
                             is_inside ? sim->pe->step.instructions[sim->pe->step_at].address
                                       : sim->pe->next,
                             sim->pe->next_isa)));
    else
        TW_TRY(told(sim, tw_etmv4_unit_gap(sim->pe->tracer))); /* the handler is in no log */
    TW_TRY(tw_sim_offer(sim));
    return enter(sim, &context);
}

/* Barriers among the instructions are barriers of the processor. */
static void synchronize(struct sim *sim, const struct tw_retired *at)
{
    const bool is_a64 = at->isa == TW_ISA_A64;

    if (at->kind == TW_RETIRED_ISB && at->flags & TW_RETIRED_TAKEN)
        tw_trbe_isb(sim->pe->unit);
    else if (is_a64 && at->opcode == 0xd503225f)
        tw_trbe_tsb(sim->pe->unit);
    else if (is_a64 && (at->opcode & 0xfffff0ff) == 0xd503309f)
        tw_trbe_dsb(sim->pe->unit);
}

static enum tw_status execute(struct sim *sim)
{
    const struct tw_retired *at = &sim->pe->step.instructions[sim->pe->step_at++];

    TW_TRY(told(sim, tw_etmv4_unit_retire(sim->pe->tracer, at, 1)));
    sim->pe->executed++;
    sim->pe->next =
        at->flags & TW_RETIRED_TAKEN && at->target ? at->target : at->address + at->size;
    sim->pe->next_isa = at->isa;
    synchronize(sim, at);
    if (at->kind == TW_RETIRED_ISB)
        TW_TRY(tw_sim_look_again(sim));
    return tw_sim_offer(sim);
}

static enum tw_status write_logged(struct sim *sim, const struct tw_register *reg)
{
    const enum tw_trbe_register name = tw_trbe_register_find(reg->name, strlen(reg->name));
    enum tw_status status = TW_OK;

    if (name == TW_TRBE_REGISTERS || name == TW_TRBE_TRCPRGCTLR)
        status = tw_sim_tracer_write(sim, reg->name, reg->value);
    if (status == TW_END)
        return tw_sim_wrong(sim, "the log writes %s, which is no register", reg->name);
    TW_TRY(status);
    if (name == TW_TRBE_OSLAR)
        TW_TRY(tw_sim_lock(sim, reg->value & 1));
    if (name != TW_TRBE_REGISTERS)
        tw_trbe_write(sim->pe->unit, name, reg->value);
    return tw_sim_look_again(sim);
}

/* One step that is no instruction. */
static enum tw_status do_step(struct sim *sim)
{
    const struct tw_step *step = &sim->pe->step;

    switch (step->kind) {
    case TW_STEP_CONTEXT:
        return enter(sim, &step->context);
    case TW_STEP_REGISTER:
        return write_logged(sim, &step->reg);
    case TW_STEP_EXTERNAL:
        if (!tw_trbe_event_reaches(sim->pe->unit, (unsigned)step->value))
            return TW_OK;
        break;
    case TW_STEP_CYCLES: /* each of them is work */
        if (!tw_sim_spend(sim, step->value))
            return TW_E_ARGUMENT;
        break;
    case TW_STEP_DEBUG:
        tw_trbe_set_debug(sim->pe->unit, step->value);
        TW_TRY(tw_sim_look_again(sim));
        break;
    default:
        break;
    }
    TW_TRY(told(sim, tw_etmv4_unit_step(sim->pe->tracer, step)));
    return tw_sim_offer(sim);
}

/* The next step, or the next instruction of this one.  TW_END: there is no more. */
static enum tw_status advance(struct sim *sim)
{
    enum tw_status status;

    if (!tw_sim_spend(sim, 1))
        return TW_E_ARGUMENT;
    if (sim->pe->step.kind == TW_STEP_INSTRUCTIONS && sim->pe->step_at < sim->pe->step.count)
        return execute(sim);
    status = tw_log_next(sim->pe->log, &sim->pe->step);
    if (status != TW_OK) {
        sim->pe->step = (struct tw_step){ .kind = TW_STEP_GAP };
        return status == TW_E_CONFIG ? tw_sim_wrong(sim, "%s", tw_log_fault(sim->pe->log))
                                     : status;
    }
    sim->pe->step_at = 0;
    if (sim->pe->step.kind != TW_STEP_INSTRUCTIONS)
        return do_step(sim);
    if (sim->config->executes && !sim->config->executes(sim->config->context, &sim->pe->step))
        return tw_sim_wrong(sim, "the run was given up");
    return TW_OK;
}

static bool is_reached(const struct sim *sim, const char *word)
{
    struct tw_trbe_state state;

    tw_trbe_get_state(sim->pe->unit, &state);
    return tw_sim_is_word(word, "irq") ? state.irq : state.is_stopped;
}

/* run [COUNT|all], run until irq|stopped */
enum tw_status tw_sim_run_log(struct sim *sim)
{
    const bool is_until = sim->count > 1 && tw_sim_is_word(sim->word[1], "until");
    const char *until = is_until && sim->count > 2 ? sim->word[2] : "";
    uint64_t count = ~(uint64_t)0, first, bytes;
    enum tw_status status = TW_OK;

    if (!sim->pe->log)
        return tw_sim_wrong(sim, "there is no log to run");
    if (tw_log_is_riscv(sim->pe->log))
        return tw_sim_wrong(sim, "the log is of a RISC-V processor");
    if (tw_log_is_m(sim->pe->log))
        return tw_sim_wrong(sim, "the log is of the M profile, which has no Trace Buffer Unit");
    if (is_until && !tw_sim_is_word(until, "irq") && !tw_sim_is_word(until, "stopped"))
        return tw_sim_wrong(sim, "run until wants irq or stopped");
    if (!is_until && sim->count > 1 && !tw_sim_is_word(sim->word[1], "all"))
        TW_TRY(tw_sim_number_at(sim, 1, &count));
    TW_TRY(tw_sim_need_tracer(sim));
    first = sim->pe->executed;
    bytes = sim->pe->trace_bytes;
    sim->pe->is_running = true;
    while (status == TW_OK && sim->pe->executed - first < count &&
           !(is_until && is_reached(sim, until)))
        status = advance(sim);
    sim->pe->is_running = false;
    if (status != TW_OK && status != TW_END)
        return status == TW_E_MEMORY ? tw_fail(sim->fault, status, "out of memory") : status;
    tw_sim_ran(sim, sim->pe->executed - first, sim->pe->trace_bytes - bytes, status == TW_END);
    return TW_OK;
}
