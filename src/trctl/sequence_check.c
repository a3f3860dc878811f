/* SPDX-License-Identifier: BSD-2-Clause */
/* What accesses to the Trace Control Interface do, and which rules they break. */
#include "trctl/sequence.h"

#include <string.h>

enum {
    ACTIVE = 1 << 0, /* of every tr??Control */
    ENABLE = 1 << 1,
    EMPTY = 1 << 3,
    TRACING = 1 << 2, /* of trTeControl */
    TRIGGERS = 1 << 11,
    OVERFLOW = 1 << 12,
    STOP_ON_WRAP = 1 << 8, /* of trRamControl */
    RAM_MODE = 1 << 4,
    FORMAT_NTRACE = 1,
    RAM_START = 0x10,
    RAM_LIMIT = 0x18,
    RAM_WP = 0x20,
    RAM_RP = 0x28,
    RAM_DATA = 0x40
};

static uint32_t value_of(const struct tw_trctl_part *part, uint32_t offset)
{
    return part->registers[offset / 4];
}

static uint32_t line_of(const struct tw_trctl_part *part, uint32_t offset)
{
    return part->line_of[offset / 4];
}

static bool is_sink(const struct tw_trctl_part *part)
{
    return part->type == TW_TRCTL_RAM_SINK || part->type == TW_TRCTL_PIB_SINK ||
           part->type == TW_TRCTL_ATB_BRIDGE;
}

const struct tw_trctl_part *tw_trctl_behind(const struct tw_trctl_checker *c,
                                            const struct tw_trctl_part *part)
{
    if (is_sink(part))
        return NULL;
    if (part->feeds != TW_TRCTL_NOWHERE)
        return &c->parts[part->feeds];
    for (size_t i = 0; i < c->count && part->type == TW_TRCTL_ENCODER; i++)
        if (c->parts[i].type == TW_TRCTL_FUNNEL)
            return &c->parts[i];
    for (size_t i = 0; i < c->count; i++)
        if (is_sink(&c->parts[i]))
            return &c->parts[i];
    return NULL;
}

static struct tw_trctl_part *behind(struct tw_trctl_checker *c,
                                    const struct tw_trctl_part *part)
{
    const struct tw_trctl_part *found = tw_trctl_behind(c, part);

    return found ? &c->parts[found - c->parts] : NULL;
}

static struct tw_trctl_part *sink_of(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    for (size_t steps = 0; part && !is_sink(part) && steps < TW_TRCTL_PARTS; steps++)
        part = behind(c, part);
    return part;
}

/* What was written to Enable was not waited for: said once. */
static void check_waited(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    if (part->is_unwaited_told)
        return;
    if (part->enable == TW_TRCTL_RISING) {
        part->is_unwaited_told = true;
        tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_ENABLE_WAIT,
                             "%s was enabled at line %u, and nobody has waited for it",
                             part->name, part->enable_line);
    } else if (part->enable == TW_TRCTL_FALLING ||
               (part->enable == TW_TRCTL_OFF && part->was_enabled && !part->is_empty_seen)) {
        part->is_unwaited_told = true;
        tw_trctl_find_broken(
            c, part->enable_line, TW_TRCTL_DRAIN,
            "%s was disabled at line %u, and not seen to be disabled and empty", part->name,
            part->enable_line);
    }
}

/* ---- what must hold when a component is enabled ---- */

static void check_sources(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    struct tw_trctl_part *const to = behind(c, part);
    const uint32_t features = value_of(part, TW_TRCTL_INST_FEATURES);

    for (size_t i = 0; i < c->count; i++) {
        struct tw_trctl_part *other = &c->parts[i];
        const uint32_t others = value_of(other, TW_TRCTL_INST_FEATURES);

        if (other == part || other->type != TW_TRCTL_ENCODER || behind(c, other) != to ||
            !line_of(other, TW_TRCTL_INST_FEATURES) || !line_of(part, TW_TRCTL_INST_FEATURES))
            continue;
        if (features >> 28 != others >> 28)
            tw_trctl_find_broken(c, line_of(other, TW_TRCTL_INST_FEATURES), TW_TRCTL_SOURCES,
                                 "trTeSrcBits is %u in %s and %u in %s", features >> 28,
                                 part->name, others >> 28, other->name);
        else if (features >> 28 == 0 || (features >> 16 & 0xfff) == (others >> 16 & 0xfff))
            tw_trctl_find_broken(c, line_of(other, TW_TRCTL_INST_FEATURES), TW_TRCTL_SOURCES,
                                 "%s and %s have the same trTeSrcID, or none", part->name,
                                 other->name);
    }
}

static void check_filters(struct tw_trctl_checker *c, const struct tw_trctl_part *part)
{
    const uint32_t used = value_of(part, TW_TRCTL_INST_FILTERS);

    for (unsigned i = 0; i < TW_TRCTL_FILTERS; i++)
        if (used >> i & 1 && !(value_of(part, TW_TRCTL_FILTER + TW_TRCTL_STRIDE * i) & 1))
            tw_trctl_find_broken(c, line_of(part, TW_TRCTL_INST_FILTERS), TW_TRCTL_FILTER_OFF,
                                 "trTeInstFilters selects filter %u, whose "
                                 "trTeFilter%uEnable is not 1",
                                 i, i);
}

static void check_defaults(struct tw_trctl_checker *c, const struct tw_trctl_part *part)
{
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];

        if (row->component == part->type && row->is_default && !line_of(part, row->offset)) {
            tw_trctl_find_broken(c, 0, TW_TRCTL_DEFAULTS,
                                 "%s was not written since %s was released", row->name,
                                 part->name);
            return; /* one is enough to find the place */
        }
    }
}

static void check_encoder(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    enum { NOT_HERE = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5 };
    const uint32_t control = value_of(part, TW_TRCTL_CONTROL);
    const uint32_t time = value_of(part, TW_TRCTL_TS_CONTROL);
    const struct tw_trctl_part *sink = sink_of(c, part);

    if (sink && sink->type == TW_TRCTL_RAM_SINK && !(control >> 16 & 3) &&
        !(value_of(sink, TW_TRCTL_CONTROL) & STOP_ON_WRAP))
        tw_trctl_find_broken(c, line_of(sink, TW_TRCTL_CONTROL), TW_TRCTL_NO_SYNC,
                             "trTeInstSyncMode is 0, and %s wraps", sink->name);
    if ((control >> 24 & 7) == FORMAT_NTRACE &&
        value_of(part, TW_TRCTL_INST_FEATURES) & NOT_HERE)
        tw_trctl_find_broken(c, line_of(part, TW_TRCTL_INST_FEATURES), TW_TRCTL_NOT_HERE,
                             "trTeInstFeatures 0x%x has features that N-Trace has not",
                             (unsigned)value_of(part, TW_TRCTL_INST_FEATURES));
    if (time >> 15 & 1 && (!(time & 1) || !(time >> 4 & 7)))
        tw_trctl_find_broken(c, line_of(part, TW_TRCTL_TS_CONTROL), TW_TRCTL_TIME,
                             "trTsEnable is 1, but %s",
                             time & 1 ? "trTsMode is 0" : "trTsActive is 0");
    if (c->out->is_strict && !part->is_read[TW_TRCTL_INST_FEATURES / 4] &&
        line_of(part, TW_TRCTL_INST_FEATURES))
        tw_trctl_find_broken(c, line_of(part, TW_TRCTL_INST_FEATURES), TW_TRCTL_READ_BACK,
                             "trTeInstFeatures was not read since it was written");
    check_filters(c, part);
    check_sources(c, part);
}

static void check_ram(struct tw_trctl_checker *c, const struct tw_trctl_part *part)
{
    const uint32_t start = value_of(part, RAM_START), limit = value_of(part, RAM_LIMIT);
    const uint32_t size = limit - start;

    /* A whole power of two between the two: the second one is behind the buffer. */
    if (line_of(part, RAM_LIMIT) && size >= 64 && (size & (size - 1)) == 0)
        tw_trctl_find_broken(
            c, line_of(part, RAM_LIMIT), TW_TRCTL_LIMIT,
            "trRamLimit 0x%x is the end of the buffer; its last word is at 0x%x",
            (unsigned)limit, (unsigned)(limit - 4));
}

static void enable(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    struct tw_trctl_part *const to = behind(c, part);

    if (part->active == TW_TRCTL_OFF)
        tw_trctl_find_broken(c, part->active_line, TW_TRCTL_ACTIVE,
                             "%s is enabled while it is not active", part->name);
    if (to && to->enable != TW_TRCTL_ON && to->enable != TW_TRCTL_RISING)
        tw_trctl_find_broken(c, to->enable_line, TW_TRCTL_SINK_FIRST,
                             "%s is enabled before %s, which it feeds", part->name, to->name);
    else if (to)
        check_waited(c, to);
    if (part->type == TW_TRCTL_ENCODER)
        check_encoder(c, part);
    if (part->type == TW_TRCTL_RAM_SINK)
        check_ram(c, part);
    if (part->type == TW_TRCTL_PIB_SINK && !c->has_probe)
        tw_trctl_find_broken(c, 0, TW_TRCTL_PROBE, "%s is enabled before the probe listens",
                             part->name);
    check_defaults(c, part);
    part->enable = TW_TRCTL_RISING;
    part->enable_line = c->line;
    part->is_empty_seen = part->is_unwaited_told = false;
    part->was_enabled = true;
}

static void disable(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    for (size_t i = 0; i < c->count; i++) {
        struct tw_trctl_part *before = &c->parts[i];

        if (before == part || behind(c, before) != part)
            continue;
        if (before->enable == TW_TRCTL_ON || before->enable == TW_TRCTL_RISING)
            tw_trctl_find_broken(c, before->enable_line, TW_TRCTL_STOP_ORDER,
                                 "%s is disabled while %s, which feeds it, is enabled",
                                 part->name, before->name);
        else
            check_waited(c, before);
    }
    part->enable = TW_TRCTL_FALLING;
    part->enable_line = c->line;
    part->is_empty_seen = part->is_unwaited_told = false;
}

/* ---- writes ---- */

/* An access that meets a component in reset, or on its way there. */
static void check_active(struct tw_trctl_checker *c, struct tw_trctl_part *part)
{
    if (part->active == TW_TRCTL_RISING || part->active == TW_TRCTL_FALLING) {
        tw_trctl_find_broken(
            c, part->active_line, TW_TRCTL_ACTIVE_WAIT,
            "tr??Active of %s was written at line %u, and nobody has waited for it", part->name,
            part->active_line);
        part->active = part->active == TW_TRCTL_RISING ? TW_TRCTL_ON : TW_TRCTL_OFF;
    } else if (part->active == TW_TRCTL_OFF) {
        tw_trctl_find_broken(c, part->active_line, TW_TRCTL_ACTIVE,
                             "%s is not active since line %u", part->name, part->active_line);
        part->active = TW_TRCTL_UNKNOWN; /* said once */
    }
}

static void reset(struct tw_trctl_checker *c, struct tw_trctl_part *part, bool is_active)
{
    part->active = is_active ? TW_TRCTL_RISING : TW_TRCTL_FALLING;
    part->active_line = c->line;
    if (is_active)
        return;
    if (part->enable == TW_TRCTL_ON || part->enable == TW_TRCTL_RISING)
        disable(c, part);
    part->enable = TW_TRCTL_OFF;
    part->was_enabled = false;
    memset(part->line_of, 0, sizeof part->line_of);
    memset(part->registers, 0, sizeof part->registers);
}

static void check_modify(struct tw_trctl_checker *c, const struct tw_trctl_part *part,
                         const struct tw_trctl_step *step, uint32_t value)
{
    const uint32_t old = value_of(part, TW_TRCTL_CONTROL);
    const bool is_whole = step->mask == UINT32_MAX;

    if (value & OVERFLOW && (step->mask & OVERFLOW) && part->is_read[0])
        tw_trctl_find_broken(
            c, line_of(part, TW_TRCTL_CONTROL), TW_TRCTL_MODIFY,
            "trTeControl is written with bit 12 as it was read: that clears it");
    else if (!is_whole && !(step->mask & TRACING) && old & TRIGGERS && old & TRACING)
        tw_trctl_find_broken(
            c, line_of(part, TW_TRCTL_CONTROL), TW_TRCTL_MODIFY,
            "a trigger may have stopped tracing; writing trTeControl back starts "
            "it again");
}

static void write_control(struct tw_trctl_checker *c, struct tw_trctl_part *part,
                          const struct tw_trctl_step *step)
{
    const uint32_t old = value_of(part, TW_TRCTL_CONTROL);
    const uint32_t value = (old & ~step->mask) | (step->value & step->mask);
    const uint32_t settings =
        ~(uint32_t)(ACTIVE | ENABLE | EMPTY |
                    (part->type == TW_TRCTL_ENCODER ? TRACING | OVERFLOW : 0));
    const bool has_active = part->active != TW_TRCTL_OFF && part->active != TW_TRCTL_FALLING;

    if ((value & ACTIVE) != (old & ACTIVE) || (!(value & ACTIVE) && has_active)) {
        if (part->active == TW_TRCTL_RISING || part->active == TW_TRCTL_FALLING)
            check_active(c, part);
        if ((value & ACTIVE) && (value & ~(uint32_t)ACTIVE))
            tw_trctl_find_broken(c, part->active_line, TW_TRCTL_ACTIVE,
                                 "%s is set up by the same write that releases it", part->name);
        reset(c, part, value & ACTIVE);
        part->registers[0] = value;
        part->line_of[0] = c->line;
        return;
    }
    check_active(c, part);
    if (part->type == TW_TRCTL_ENCODER)
        check_modify(c, part, step, value);
    if ((old ^ value) & settings && line_of(part, TW_TRCTL_CONTROL) &&
        (part->enable == TW_TRCTL_ON || part->enable == TW_TRCTL_RISING) && value & ENABLE)
        tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_SETTING,
                             "settings of %s change while it is enabled", part->name);
    if (part->type == TW_TRCTL_RAM_SINK && (old ^ value) & RAM_MODE && part->pointer_line)
        tw_trctl_find_broken(c, part->pointer_line, TW_TRCTL_MODE_FIRST,
                             "trRamMode changes after addresses were written at line %u",
                             part->pointer_line);
    part->registers[0] = value & ~(uint32_t)OVERFLOW;
    part->line_of[0] = c->line;
    part->is_read[0] = false;
    if (value & ENABLE && part->enable != TW_TRCTL_ON && part->enable != TW_TRCTL_RISING)
        enable(c, part);
    else if (!(value & ENABLE) &&
             (part->enable == TW_TRCTL_ON || part->enable == TW_TRCTL_RISING))
        disable(c, part);
    if (part->type == TW_TRCTL_ENCODER && value & (TRACING | TRIGGERS)) {
        part->has_traced = true;
        if (value & TRACING && !(old & TRACING) && part->enable_line != c->line)
            check_waited(c, part);
    }
}

static void write_register(struct tw_trctl_checker *c, struct tw_trctl_part *part,
                           const struct tw_trctl_step *step)
{
    const struct tw_trctl_register *row = tw_trctl_at(part->type, step->offset);
    const bool is_pointer =
        part->type == TW_TRCTL_RAM_SINK && step->offset >= RAM_START && step->offset < RAM_RP;
    const bool is_running = part->enable == TW_TRCTL_ON || part->enable == TW_TRCTL_RISING;
    const bool is_ignored = part->active == TW_TRCTL_OFF;

    check_active(c, part);
    if (is_ignored)
        return;
    if (is_pointer && (is_running || part->enable == TW_TRCTL_FALLING ||
                       (part->was_enabled && !part->is_empty_seen)))
        tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_POINTERS,
                             "%s is written while %s is enabled or not empty", row->name,
                             part->name);
    else if (row->is_setting && is_running)
        tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_SETTING,
                             "%s changes while %s is enabled", row->name, part->name);
    if (is_pointer && step->offset < RAM_WP)
        part->pointer_line = c->line;
    part->registers[step->offset / 4] =
        (part->registers[step->offset / 4] & ~step->mask) | (step->value & step->mask);
    part->line_of[step->offset / 4] = c->line;
    part->is_read[step->offset / 4] = false;
}

/* ---- reads ---- */

/* What was seen of a tr??Control. */
static void see_control(struct tw_trctl_part *part, uint32_t value, uint32_t mask)
{
    if (mask & ACTIVE) {
        const bool is_active = value & ACTIVE;

        if (part->active == (is_active ? TW_TRCTL_RISING : TW_TRCTL_FALLING) ||
            part->active == TW_TRCTL_UNKNOWN)
            part->active = is_active ? TW_TRCTL_ON : TW_TRCTL_OFF;
    }
    if (mask & ENABLE) {
        const bool is_enabled = value & ENABLE;

        if (part->enable == (is_enabled ? TW_TRCTL_RISING : TW_TRCTL_FALLING))
            part->enable = is_enabled ? TW_TRCTL_ON : TW_TRCTL_OFF;
    }
    if (mask & EMPTY && value & EMPTY && part->enable != TW_TRCTL_ON)
        part->is_empty_seen = true;
}

static void check_sink_stopped(struct tw_trctl_checker *c, const char *what)
{
    for (size_t i = 0; i < c->count; i++) {
        struct tw_trctl_part *part = &c->parts[i];

        if (part->type != TW_TRCTL_RAM_SINK || !part->was_enabled)
            continue;
        if (part->enable != TW_TRCTL_OFF || !part->is_empty_seen) {
            tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_READ_EARLY,
                                 "%s before %s was seen to be disabled and empty", what,
                                 part->name);
            part->was_enabled = false; /* said once */
            part->is_unwaited_told = true;
        }
    }
}

static void read_register(struct tw_trctl_checker *c, struct tw_trctl_part *part,
                          const struct tw_trctl_step *step)
{
    const struct tw_trctl_register *row = tw_trctl_at(part->type, step->offset);

    part->is_read[step->offset / 4] = true;
    if (step->offset == TW_TRCTL_CONTROL) {
        if (step->has_value)
            see_control(part, step->value, step->mask);
        return;
    }
    check_active(c, part);
    if (part->type == TW_TRCTL_RAM_SINK &&
        (step->offset == RAM_WP || step->offset == RAM_WP + 4 || step->offset == RAM_DATA))
        check_sink_stopped(c, row->name);
}

static void poll(struct tw_trctl_checker *c, struct tw_trctl_part *part,
                 const struct tw_trctl_step *step)
{
    if (c->out->is_strict && !step->is_bounded)
        tw_trctl_find_broken(c, 0, TW_TRCTL_BOUND, "nothing bounds the loop");
    if (step->offset == TW_TRCTL_CONTROL)
        see_control(part, step->value, step->mask);
    part->is_read[step->offset / 4] = true;
}

/* ---- all ---- */

static void take_probe(struct tw_trctl_checker *c, bool is_start)
{
    for (size_t i = 0; i < c->count && !is_start; i++)
        if (c->parts[i].type == TW_TRCTL_PIB_SINK &&
            (c->parts[i].enable == TW_TRCTL_ON || c->parts[i].enable == TW_TRCTL_RISING ||
             c->parts[i].enable == TW_TRCTL_FALLING))
            tw_trctl_find_broken(c, c->parts[i].enable_line, TW_TRCTL_PROBE,
                                 "the probe stops before %s is disabled and empty",
                                 c->parts[i].name);
    c->has_probe = is_start;
}

static void take_run(struct tw_trctl_checker *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->parts[i].enable == TW_TRCTL_RISING)
            check_waited(c, &c->parts[i]);
}

void tw_trctl_take(struct tw_trctl_checker *c, const struct tw_trctl_step *step)
{
    switch (step->verb) {
    case TW_TRCTL_WRITE:
        if (step->offset == TW_TRCTL_CONTROL)
            write_control(c, step->part, step);
        else
            write_register(c, step->part, step);
        break;
    case TW_TRCTL_READ:
        read_register(c, step->part, step);
        break;
    case TW_TRCTL_POLL:
        poll(c, step->part, step);
        break;
    case TW_TRCTL_READ_MEMORY:
        check_sink_stopped(c, "memory is read");
        break;
    case TW_TRCTL_PROBE_START:
    case TW_TRCTL_PROBE_STOP:
        take_probe(c, step->verb == TW_TRCTL_PROBE_START);
        break;
    default:
        take_run(c);
    }
}

void tw_trctl_end(struct tw_trctl_checker *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct tw_trctl_part *part = &c->parts[i];

        if (part->active == TW_TRCTL_RISING || part->active == TW_TRCTL_FALLING)
            check_active(c, part);
        if (part->enable == TW_TRCTL_RISING || part->enable == TW_TRCTL_FALLING ||
            (part->enable == TW_TRCTL_OFF && part->was_enabled))
            check_waited(c, part);
        if (part->type == TW_TRCTL_ENCODER && part->was_enabled && !part->has_traced)
            tw_trctl_find_broken(c, part->enable_line, TW_TRCTL_NOTHING,
                                 "%s was enabled, but neither trTeInstTracing nor "
                                 "trTeInstTrigEnable was set",
                                 part->name);
    }
}
