/* SPDX-License-Identifier: BSD-2-Clause */
/* What a script prints: registers, states, events, bytes; as text or as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "script/lines.h"
#include "trbe/sim.h"

/* "line 12: TYPE ..." or {"line":12,"t":"TYPE",...}. */
void tw_sim_begin(struct sim *sim, const char *type)
{
    tw_script_begin(&sim->text, sim->config, sim->number, type);
    if (sim->has_pes && sim->config->is_json)
        tw_json_u64(&sim->text, "pe", sim->pe_number);
    else if (sim->has_pes)
        tw_text_format(&sim->text, "pe %u: ", sim->pe_number);
}

void tw_sim_end(struct sim *sim)
{
    tw_script_end(&sim->text, sim->config);
}

static const char *kind_name(const struct tw_trbe_event *event)
{
    switch (event->kind) {
    case TW_TRBE_ON_EVENT:
        return tw_trbe_event_name((unsigned)event->value);
    case TW_TRBE_ON_CTI_STOP:
        return "CTI_STOPPED";
    case TW_TRBE_ON_CTI_MANAGE:
        return "CTI_MANAGEMENT";
    case TW_TRBE_ON_CTI_WRAP:
        return "CTI_WRAP";
    case TW_TRBE_ON_STOP:
        return "STOP";
    case TW_TRBE_ON_TRIGGER:
        return "DETECTED_TRIGGER";
    case TW_TRBE_ON_FLUSH:
        return "FLUSH";
    case TW_TRBE_ON_IRQ:
        return "TRBIRQ";
    case TW_TRBE_ON_EXCEPTION:
        return "EXCEPTION";
    case TW_TRBE_ON_SERROR:
        return "SERROR";
    case TW_TRBE_ON_MISUSE:
        return "MISUSE";
    }
    return "EVENT";
}

static bool has_value(const struct tw_trbe_event *event)
{
    return event->kind == TW_TRBE_ON_EVENT || event->kind == TW_TRBE_ON_STOP ||
           event->kind == TW_TRBE_ON_IRQ || event->kind == TW_TRBE_ON_EXCEPTION ||
           event->kind == TW_TRBE_ON_SERROR;
}

void tw_sim_event(void *context, const struct tw_trbe_event *event)
{
    struct sim *sim = context;
    struct tw_text *text = &sim->text;

    tw_sim_begin(sim, "EVENT");
    if (sim->config->is_json) {
        tw_json_text(text, "name", kind_name(event));
        if (has_value(event))
            tw_json_hex(text, "value", event->value);
        tw_json_u64(text, "accepted", event->accepted);
        tw_json_hex(text, "ptr", event->pointer);
        if (event->text)
            tw_json_text(text, "msg", event->text);
    } else {
        tw_text_format(text, "event %s", kind_name(event));
        if (has_value(event))
            tw_text_format(text, " 0x%" PRIx64, event->value);
        tw_text_format(text, " after %" PRIu64 " bytes, TRBPTR_EL1 0x%" PRIx64, event->accepted,
                       event->pointer);
        if (event->text)
            tw_text_format(text, ": %s", event->text);
    }
    tw_sim_end(sim);
    if (sim->pe->tracer)
        tw_sim_heed(sim, event);
}

void tw_sim_misuse(struct sim *sim, const char *text)
{
    const struct tw_trbe_event event = { .kind = TW_TRBE_ON_MISUSE,
                                         .accepted =
                                             tw_trbe_get_counts(sim->pe->unit)->accepted,
                                         .pointer = tw_trbe_used(sim->pe->unit, TW_TRBE_PTR),
                                         .text = text };

    sim->pe->misuses++;
    tw_sim_event(sim, &event);
}

void tw_sim_register(struct sim *sim, enum tw_trbe_register name, uint64_t value)
{
    struct tw_text *text = &sim->text;
    struct tw_trbe_field field;

    tw_sim_begin(sim, "REGISTER");
    if (sim->config->is_json) {
        tw_json_text(text, "name", tw_trbe_register_name(name));
        tw_json_hex(text, "value", value);
        tw_sim_end(sim);
        return;
    }
    tw_text_format(text, "%s 0x%" PRIx64, tw_trbe_register_name(name), value);
    for (size_t i = 0; tw_trbe_register_field(&field, name, i); i++) {
        const uint64_t mask =
            field.width < 64 ? ((uint64_t)1 << field.width) - 1 : ~(uint64_t)0;
        const uint64_t part = value >> field.lowest & mask;

        if (part && field.width < 64)
            tw_text_format(text, " %s=0x%" PRIx64, field.name, part);
    }
    tw_sim_end(sim);
}

static void put_flag(struct sim *sim, const char *name, bool value)
{
    if (sim->config->is_json)
        tw_json_u64(&sim->text, name, value);
    else if (value)
        tw_text_format(&sim->text, " %s", name);
}

static void put_number(struct sim *sim, const char *name, uint64_t value)
{
    if (sim->config->is_json)
        tw_json_u64(&sim->text, name, value);
    else
        tw_text_format(&sim->text, " %s %" PRIu64, name, value);
}

static void show_state(struct sim *sim)
{
    struct tw_trbe_state state;

    tw_trbe_get_state(sim->pe->unit, &state);
    tw_sim_begin(sim, "STATE");
    if (!sim->config->is_json)
        tw_text_add(&sim->text, "state");
    put_number(sim, "el", state.el);
    put_number(sim, "owner_el", state.owner_el);
    put_flag(sim, "self_hosted", state.is_self_hosted);
    put_flag(sim, "external", state.is_external);
    put_flag(sim, "enabled", state.is_enabled);
    put_flag(sim, "running", state.is_running);
    put_flag(sim, "stopped", state.is_stopped);
    put_flag(sim, "allowed", state.is_trace_allowed);
    put_flag(sim, "irq", state.irq);
    put_number(sim, "exception", state.exception);
    put_flag(sim, "finished", state.is_finished);
    put_flag(sim, "complete", state.is_complete);
    put_flag(sim, "visible", state.is_visible);
    put_flag(sim, "abort_visible", state.is_abort_visible);
    tw_sim_end(sim);
}

static void show_counts(struct sim *sim)
{
    const struct tw_trbe_counts *counts = tw_trbe_get_counts(sim->pe->unit);

    tw_sim_begin(sim, "COUNTS");
    if (!sim->config->is_json)
        tw_text_add(&sim->text, "counts");
    put_number(sim, "accepted", counts->accepted);
    put_number(sim, "written", counts->written);
    put_number(sim, "rejected", counts->rejected);
    put_number(sim, "discarded", counts->discarded);
    put_number(sim, "disabled", counts->disabled);
    put_number(sim, "prohibited", counts->prohibited);
    put_number(sim, "wraps", counts->wraps);
    put_number(sim, "trigger_events", counts->trigger_events);
    put_number(sim, "ignored_writes", counts->ignored_writes);
    put_number(sim, "misuses", counts->misuses);
    tw_sim_end(sim);
}

void tw_sim_tracer_register(struct sim *sim, const char *name, uint64_t value)
{
    tw_sim_begin(sim, "REGISTER");
    if (sim->config->is_json) {
        tw_json_text(&sim->text, "name", name);
        tw_json_hex(&sim->text, "value", value);
    } else {
        tw_text_format(&sim->text, "%s 0x%" PRIx64, name, value);
    }
    tw_sim_end(sim);
}

/* The tracer's programming and state, so far as it is not 0. */
static void show_tracer(struct sim *sim)
{
    static const char *const names[] = {
        "TRCPRGCTLR", "TRCSTATR",  "TRCCONFIGR", "TRCSYNCPR", "TRCVICTLR", "TRCVIIECTLR",
        "TRCACVR0",   "TRCACVR1",  "TRCRSR",     "TRCSEQSTR", "TRCCNTVR0", "TRCCNTVR1",
        "TRCCNTVR2",  "TRCCNTVR3", "TRCSSCSR0",  "TRCSSCSR1", "TRCSSCSR2", "TRCSSCSR3",
    };
    uint64_t value;

    for (size_t i = 0; i < TW_LENGTH(names); i++)
        if (tw_etmv4_unit_read_register(sim->pe->tracer, &value, names[i]) == TW_OK && value)
            tw_sim_tracer_register(sim, names[i], value);
}

void tw_sim_ran(struct sim *sim, uint64_t instructions, uint64_t bytes, bool is_end)
{
    tw_sim_begin(sim, "RAN");
    if (sim->config->is_json) {
        tw_json_u64(&sim->text, "n", instructions);
        tw_json_u64(&sim->text, "bytes", bytes);
        tw_json_u64(&sim->text, "end", is_end);
    } else {
        tw_text_format(&sim->text, "ran %" PRIu64 " instructions, %" PRIu64 " bytes of trace%s",
                       instructions, bytes, is_end ? ", to the end of the log" : "");
    }
    tw_sim_end(sim);
}

void tw_sim_show(struct sim *sim)
{
    static const enum tw_trbe_register names[] = { TW_TRBE_BASER, TW_TRBE_LIMITR, TW_TRBE_PTR,
                                                   TW_TRBE_TRG, TW_TRBE_SR_EL1 };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        tw_sim_register(sim, names[i], tw_trbe_read(sim->pe->unit, names[i]));
    if (sim->pe->unit_config.features & TW_TRBE_EXC) {
        tw_sim_register(sim, TW_TRBE_SR_EL2, tw_trbe_read(sim->pe->unit, TW_TRBE_SR_EL2));
        tw_sim_register(sim, TW_TRBE_SR_EL3, tw_trbe_read(sim->pe->unit, TW_TRBE_SR_EL3));
    }
    if (sim->pe->tracer)
        show_tracer(sim);
    show_state(sim);
    show_counts(sim);
}

void tw_sim_expected(struct sim *sim, const char *what, uint64_t got, uint64_t want)
{
    sim->result->expected++;
    if (got == want)
        return;
    sim->result->failed++;
    tw_sim_begin(sim, "FAILED");
    tw_script_failed(&sim->text, sim->config, what, got, want);
    tw_sim_end(sim);
}

void tw_sim_drained(struct sim *sim, const uint8_t *bytes, size_t size, const char *name)
{
    tw_sim_begin(sim, "DRAINED");
    tw_script_drained(&sim->text, sim->config, bytes, size, name);
    tw_sim_end(sim);
}
