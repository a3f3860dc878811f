/* SPDX-License-Identifier: BSD-2-Clause */
/* Management events: what TRBSR_ELx records, the interrupt line, cross-triggers. */
#include "trbe/unit.h"

enum tw_trbe_register tw_trbe_sr(unsigned el)
{
    return el == 3 ? TW_TRBE_SR_EL3 : el == 2 ? TW_TRBE_SR_EL2 : TW_TRBE_SR_EL1;
}

static void tell_text(struct tw_trbe *unit, const struct tw_trbe_event *event)
{
    if (unit->config.event)
        unit->config.event(unit->config.context, event);
}

void tw_trbe_tell(struct tw_trbe *unit, enum tw_trbe_event_kind kind, uint64_t value,
                  unsigned el)
{
    const struct tw_trbe_event event = {
        .kind = kind,
        .value = value,
        .accepted = unit->counts.accepted,
        .pointer = unit->used[TW_TRBE_PTR],
        .el = (uint8_t)el,
    };

    tell_text(unit, &event);
}

void tw_trbe_misuse(struct tw_trbe *unit, const char *text)
{
    const struct tw_trbe_event event = {
        .kind = TW_TRBE_ON_MISUSE,
        .accepted = unit->counts.accepted,
        .pointer = unit->used[TW_TRBE_PTR],
        .text = text,
    };

    unit->counts.misuses++;
    tell_text(unit, &event);
}

void tw_trbe_indirect(struct tw_trbe *unit, enum tw_trbe_register name, uint64_t value)
{
    unit->used[name] = value;
    if (unit->config.timing == TW_TRBE_SEQUENTIAL)
        unit->seen[name] = value;
    else
        unit->indirect |= 1u << name;
}

/* IRQ is set by every event; the syndrome is that of the first one that stops. */
void tw_trbe_manage(struct tw_trbe *unit, unsigned el, uint64_t syndrome, bool stops)
{
    static const uint64_t fields = 0x00ffffff00000000u | 0xfc000000u | 0xffffu;
    const enum tw_trbe_register name = tw_trbe_sr(el);
    const uint64_t before = unit->used[name];
    uint64_t after = before | TW_TRBE_SR_IRQ;
    const bool is_stop = stops && !(before & TW_TRBE_SR_S);

    if (is_stop)
        after = (after & ~fields) | syndrome | TW_TRBE_SR_S;
    unit->counts.management_events++;
    tw_trbe_indirect(unit, name, after);
    if (tw_trbe_has(unit, TW_TRBE_EXT) && !(before & TW_TRBE_SR_IRQ))
        tw_trbe_tell(unit, TW_TRBE_ON_CTI_MANAGE, 0, el);
    if (!is_stop)
        return;
    unit->counts.stops++;
    tw_trbe_tell(unit, TW_TRBE_ON_STOP, after, el);
    if (tw_trbe_has(unit, TW_TRBE_EXT))
        tw_trbe_tell(unit, TW_TRBE_ON_CTI_STOP, 0, el);
}

void tw_trbe_stop_other(struct tw_trbe *unit, unsigned code)
{
    tw_trbe_manage(unit, tw_trbe_recorder(unit, NULL), code, true);
}

static uint64_t syndrome_of(const struct tw_trbe_fault *fault)
{
    const uint64_t code = fault->class_code == TW_TRBE_EC_GPC ? 0 : fault->status & 0x3fu;

    return (uint64_t)(fault->class_code & 0x3fu) << 26 |
           (uint64_t)(fault->class_code == TW_TRBE_EC_GPC ? 0 : fault->more & 0xffffffu) << 32 |
           code;
}

static bool is_walk_abort(unsigned status)
{
    return (status >= 0x12 && status <= 0x17) || status == 0x1b;
}

/* A fault of the translation, or an External abort that is reported. */
void tw_trbe_report(struct tw_trbe *unit, const struct tw_trbe_fault *fault)
{
    const unsigned el = tw_trbe_recorder(unit, fault);
    const enum tw_trbe_register name = tw_trbe_sr(el);
    const bool is_abort = fault->status == 0x10 || fault->status == 0x11;
    const bool sets_ea =
        (is_abort || (unit->config.aborts_set_ea && is_walk_abort(fault->status))) &&
        !tw_trbe_has(unit, TW_TRBE_V9_3);

    unit->restart_pointer = unit->used[TW_TRBE_PTR];
    if (is_abort || fault->status == 0x21)
        unit->has_fault_pointer = true;
    if (is_abort && unit->used[name] & TW_TRBE_SR_S) {
        tw_trbe_indirect(unit, name, unit->used[name] | TW_TRBE_SR_EA);
        return;
    }
    if (sets_ea)
        tw_trbe_indirect(unit, name, unit->used[name] | TW_TRBE_SR_EA);
    tw_trbe_manage(unit, el, syndrome_of(fault), true);
}

void tw_trbe_abort(struct tw_trbe *unit, const struct tw_trbe_fault *fault)
{
    struct tw_trbe_fault reported = *fault;

    if (unit->config.aborts == 1)
        return;
    if (unit->config.aborts == 2 || tw_trbe_has(unit, TW_TRBE_V9_3)) {
        unit->has_fault_pointer = true;
        tw_trbe_tell(unit, TW_TRBE_ON_SERROR, fault->status, 0);
        return;
    }
    if (reported.class_code != TW_TRBE_EC_STAGE2 && reported.class_code != TW_TRBE_EC_GPC)
        reported.class_code = TW_TRBE_EC_STAGE1;
    reported.status = 0x11;
    tw_trbe_report(unit, &reported);
    tw_trbe_lines(unit);
}

void tw_trbe_implementation_event(struct tw_trbe *unit, uint16_t mss)
{
    tw_trbe_manage(unit, tw_trbe_recorder(unit, NULL),
                   (uint64_t)TW_TRBE_EC_IMPLEMENTATION << 26 | mss, true);
    tw_trbe_lines(unit);
}

/* Level of the interrupt and pending exceptions, told when they change. */
void tw_trbe_lines(struct tw_trbe *unit)
{
    const bool irq = unit->used[TW_TRBE_SR_EL1] & TW_TRBE_SR_IRQ && tw_trbe_el1_ee(unit) == 0;
    bool is_unmasked;
    const uint8_t exception = tw_trbe_pending(unit, &is_unmasked);

    if (irq != unit->irq) {
        unit->irq = irq;
        tw_trbe_tell(unit, TW_TRBE_ON_IRQ, irq, 1);
    }
    if (exception != unit->exception) {
        unit->exception = exception;
        if (exception)
            tw_trbe_tell(unit, TW_TRBE_ON_EXCEPTION, exception, exception);
    }
}
