/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of a script for the Trace Buffer Unit: docs/formats.md. */
#include <ctype.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "trbe/sim.h"

enum { PIECE = 4096 };

static void feed(struct sim *sim, const uint8_t *bytes, size_t size, bool is_earlier)
{
    (void)tw_trbe_collect(sim->pe->unit, bytes, size, is_earlier);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : tolower((unsigned char)c) >= 'a' && isxdigit((unsigned char)c)
               ? tolower((unsigned char)c) - 'a' + 10
               : -1;
}

/* bytes HEX..., earlier HEX..., held HEX... */
static enum tw_status do_bytes(struct sim *sim)
{
    uint8_t bytes[PIECE];
    size_t size = 0;

    for (size_t i = 1; i < sim->count; i++) {
        for (const char *at = sim->word[i]; *at; at += 2) {
            const int high = hex_digit(at[0]), low = high < 0 ? -1 : hex_digit(at[1]);

            if (low < 0 || size == sizeof bytes)
                return tw_sim_wrong(sim, "\"%s\" is no row of bytes", sim->word[i]);
            bytes[size++] = (uint8_t)(high << 4 | low);
        }
    }
    if (!tw_sim_spend(sim, size))
        return TW_E_ARGUMENT;
    if (!tw_sim_is_word(sim->word[0], "held")) {
        feed(sim, bytes, size, tw_sim_is_word(sim->word[0], "earlier"));
        return TW_OK;
    }
    if (size > sizeof sim->pe->buffered - sim->pe->buffered_size)
        return tw_sim_wrong(sim, "the trace unit holds no more than %u bytes", SIM_HELD);
    memcpy(sim->pe->buffered + sim->pe->buffered_size, bytes, size);
    sim->pe->buffered_size += size;
    return TW_OK;
}

/* fill COUNT [BYTE]: without BYTE it counts up. */
static enum tw_status do_fill(struct sim *sim)
{
    uint64_t count, value = 0;
    uint8_t bytes[PIECE];

    TW_TRY(tw_sim_number_at(sim, 1, &count));
    if (sim->count > 2)
        TW_TRY(tw_sim_number_at(sim, 2, &value));
    if (!tw_sim_spend(sim, count))
        return TW_E_ARGUMENT;
    /* Pieces are all the same: where one ends, the next counts on from 0. */
    for (size_t i = 0; i < sizeof bytes && i < count; i++)
        bytes[i] = (uint8_t)(sim->count > 2 ? value : i);
    while (count) {
        const size_t piece = count < sizeof bytes ? (size_t)count : sizeof bytes;

        feed(sim, bytes, piece, false);
        count -= piece;
    }
    return TW_OK;
}

/* file NAME [OFFSET [COUNT]] */
static enum tw_status do_file(struct sim *sim)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    uint64_t offset = 0, count;

    if (sim->count < 2)
        return tw_sim_wrong(sim, "file wants a name");
    if (!sim->config->load ||
        !sim->config->load(sim->config->context, sim->word[1], &bytes, &size))
        return tw_sim_wrong(sim, "\"%s\" cannot be read", sim->word[1]);
    if (sim->count > 2)
        TW_TRY(tw_sim_number_at(sim, 2, &offset));
    if (offset > size)
        offset = size;
    count = size - offset;
    if (sim->count > 3) {
        uint64_t wanted;

        TW_TRY(tw_sim_number_at(sim, 3, &wanted));
        count = wanted < count ? wanted : count;
    }
    if (!tw_sim_spend(sim, count))
        return TW_E_ARGUMENT;
    feed(sim, bytes + offset, (size_t)count, false);
    return TW_OK;
}

/* source COUNT|all: from the trace unit that the caller has. */
static enum tw_status do_source(struct sim *sim)
{
    const struct tw_sim_source *source = &sim->config->source;
    uint64_t count = ~(uint64_t)0;
    uint8_t bytes[PIECE];

    if (!source->take)
        return tw_sim_wrong(sim, "there is no source of trace");
    if (sim->count > 1 && !tw_sim_is_word(sim->word[1], "all"))
        TW_TRY(tw_sim_number_at(sim, 1, &count));
    while (count) {
        const size_t room = count < sizeof bytes ? (size_t)count : sizeof bytes;
        bool is_trigger = false;
        size_t size = source->take(source->context, bytes, room, &is_trigger);

        if (size > room)
            size = room;
        if (!tw_sim_spend(sim, size))
            return TW_E_ARGUMENT;
        feed(sim, bytes, size, false);
        if (is_trigger)
            tw_trbe_trigger(sim->pe->unit);
        if (size == 0)
            break;
        count -= size;
    }
    return TW_OK;
}

/* What a drain is asked for. */
struct drain {
    const char *name; /* NULL: to be shown */
    uint64_t start, align;
    bool is_capture;
};

/* drain START [align N] [to NAME], capture NAME START [align N] */
static enum tw_status read_drain(struct sim *sim, struct drain *drain)
{
    size_t at = 1;

    *drain = (struct drain){ .is_capture = tw_sim_is_word(sim->word[0], "capture") };
    if (drain->is_capture && sim->count < 3)
        return tw_sim_wrong(sim, "capture wants a name and where the trace starts");
    if (drain->is_capture && !sim->pe->tracer)
        return tw_sim_wrong(sim, "no trace unit made this trace: use drain");
    if (drain->is_capture)
        drain->name = sim->word[at++];
    TW_TRY(tw_sim_number_at(sim, at++, &drain->start));
    for (; at < sim->count; at += 2) {
        if (tw_sim_is_word(sim->word[at], "align"))
            TW_TRY(tw_sim_number_at(sim, at + 1, &drain->align));
        else if (tw_sim_is_word(sim->word[at], "to") && !drain->name && at + 1 < sim->count)
            drain->name = sim->word[at + 1];
        else
            return tw_sim_wrong(sim, "%s has no \"%s\"", sim->word[0], sim->word[at]);
    }
    if (drain->align > PIECE)
        return tw_sim_wrong(sim, "align is at most %u", PIECE);
    return TW_OK;
}

static bool save_drained(struct sim *sim, const struct drain *drain, const uint8_t *bytes,
                         size_t size)
{
    const struct tw_sim_config *config = sim->config;
    const struct tw_sim_capture capture = {
        .name = drain->name,
        .bytes = bytes,
        .size = size,
        .unit = sim->pe->tracer,
        .is_ete = sim->pe->tracer_config.is_ete,
    };

    if (drain->is_capture)
        return config->capture && config->capture(config->context, &capture);
    return !drain->name ||
           (config->save && config->save(config->context, drain->name, bytes, size));
}

static enum tw_status do_drain(struct sim *sim)
{
    const struct tw_trbe_memory memory = { sim, tw_sim_read_memory };
    struct drain drain;
    size_t size = 0;
    uint8_t *bytes;
    enum tw_status status;

    TW_TRY(read_drain(sim, &drain));
    status =
        tw_trbe_drain(sim->pe->unit, NULL, &size, &memory, drain.start, (size_t)drain.align);
    if (size > (size_t)256 << 20 || !tw_sim_spend(sim, size))
        return tw_sim_wrong(sim, "the buffer is too large to drain");
    bytes = tw_take(sim->config->allocator, size + 1);
    if (!bytes)
        return tw_fail(sim->fault, TW_E_MEMORY, "out of memory");
    if (status == TW_E_ROOM)
        status = tw_trbe_drain(sim->pe->unit, bytes, &size, &memory, drain.start,
                               (size_t)drain.align);
    if (status != TW_OK)
        status = tw_sim_wrong(sim, "the buffer lies where there is no memory");
    else if (!save_drained(sim, &drain, bytes, size))
        status = tw_sim_wrong(sim, "\"%s\" cannot be written", drain.name);
    else
        tw_sim_drained(sim, bytes, size, drain.name);
    tw_give(sim->config->allocator, bytes);
    return status;
}

/* A register, or a field of one. */
struct place {
    enum tw_trbe_register name;
    struct tw_trbe_field field;
};

static bool find_place(struct place *place, const char *word)
{
    const char *dot = strchr(word, '.');
    const size_t size = dot ? (size_t)(dot - word) : strlen(word);

    place->name = tw_trbe_register_find(word, size);
    place->field = (struct tw_trbe_field){ "", 0, 64 };
    if (place->name == TW_TRBE_REGISTERS)
        return false;
    if (!dot)
        return true;
    for (size_t i = 0; tw_trbe_register_field(&place->field, place->name, i); i++) {
        const char *a = place->field.name, *b = dot + 1;

        while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
            a++;
            b++;
        }
        if (!*a && !*b)
            return true;
    }
    return false;
}

static uint64_t field_mask(const struct tw_trbe_field *field)
{
    return field->width < 64 ? ((uint64_t)1 << field->width) - 1 : ~(uint64_t)0;
}

/* REGISTER = VALUE, REGISTER.FIELD = VALUE */
static enum tw_status do_write(struct sim *sim, const struct place *place)
{
    const unsigned trap = tw_trbe_access(sim->pe->unit, place->name);
    uint64_t value;

    TW_TRY(tw_sim_number_at(sim, 2, &value));
    if (value & ~field_mask(&place->field))
        return tw_sim_wrong(sim, "0x%llx does not fit %s", (unsigned long long)value,
                            sim->word[0]);
    if (place->field.width < 64) {
        const uint64_t mask = field_mask(&place->field) << place->field.lowest;

        value = (tw_trbe_read(sim->pe->unit, place->name) & ~mask) | value
                                                                         << place->field.lowest;
    }
    /* A script stands above the levels: what traps or is UNDEFINED is told, and done. */
    if (trap) {
        tw_sim_begin(sim, "TRAP");
        if (sim->config->is_json) {
            tw_json_text(&sim->text, "name", tw_trbe_register_name(place->name));
            tw_json_u64(&sim->text, "to", trap);
        } else if (trap == 255) {
            tw_text_format(&sim->text, "%s is UNDEFINED here",
                           tw_trbe_register_name(place->name));
        } else {
            tw_text_format(&sim->text, "%s traps to EL%u", tw_trbe_register_name(place->name),
                           trap);
        }
        tw_sim_end(sim);
    }
    /* The last trace of a trace unit that is disabled comes out before. */
    if (place->name == TW_TRBE_TRCPRGCTLR && sim->pe->tracer)
        TW_TRY(tw_sim_tracer_write(sim, "TRCPRGCTLR", value));
    if (place->name == TW_TRBE_OSLAR && sim->pe->tracer)
        TW_TRY(tw_sim_lock(sim, value & 1));
    tw_trbe_write(sim->pe->unit, place->name, value);
    return TW_OK;
}

static enum tw_status do_read(struct sim *sim)
{
    struct place place;
    uint64_t value;

    if (sim->count >= 2)
        tw_sim_check_read(sim, sim->word[1]);
    if (sim->count >= 2 && tw_sim_tracer_read(sim, sim->word[1], &value)) {
        tw_sim_tracer_register(sim, sim->word[1], value);
        return TW_OK;
    }
    if (sim->count < 2 || !find_place(&place, sim->word[1]))
        return tw_sim_wrong(sim, "read wants a register");
    tw_sim_register(sim, place.name, tw_trbe_read(sim->pe->unit, place.name));
    return TW_OK;
}

static bool find_number(const struct sim *sim, const char *word, uint64_t *value)
{
    const struct tw_trbe_counts *c = tw_trbe_get_counts(sim->pe->unit);
    struct tw_trbe_state s;

    tw_trbe_get_state(sim->pe->unit, &s);
    {
        const struct {
            const char *name;
            uint64_t value;
        } numbers[] = {
            { "irq", s.irq },
            { "enabled", s.is_enabled },
            { "running", s.is_running },
            { "stopped", s.is_stopped },
            { "allowed", s.is_trace_allowed },
            { "exception", s.exception },
            { "finished", s.is_finished },
            { "complete", s.is_complete },
            { "visible", s.is_visible },
            { "abort_visible", s.is_abort_visible },
            { "accepted", c->accepted },
            { "written", c->written },
            { "rejected", c->rejected },
            { "discarded", c->discarded },
            { "disabled", c->disabled },
            { "prohibited", c->prohibited },
            { "wraps", c->wraps },
            { "trigger_events", c->trigger_events },
            { "ignored_writes", c->ignored_writes },
            { "misuses", c->misuses + sim->pe->misuses },
            { "instructions", sim->pe->executed },
            { "trace", sim->pe->trace_bytes },
        };

        for (size_t i = 0; i < TW_LENGTH(numbers); i++) {
            if (tw_sim_is_word(word, numbers[i].name)) {
                *value = numbers[i].value;
                return true;
            }
        }
    }
    return false;
}

/* expect REGISTER[.FIELD] VALUE, expect NAME VALUE */
static enum tw_status do_expect(struct sim *sim)
{
    struct place place;
    uint64_t got, want;

    if (sim->count < 3)
        return tw_sim_wrong(sim, "expect wants a name and a value");
    TW_TRY(tw_sim_number_at(sim, sim->count - 1, &want));
    if (tw_sim_tracer_read(sim, sim->word[1], &got))
        ;
    else if (find_place(&place, sim->word[1]))
        got = tw_trbe_read(sim->pe->unit, place.name) >> place.field.lowest &
              field_mask(&place.field);
    else if (!find_number(sim, sim->word[1], &got))
        return tw_sim_wrong(sim, "there is no \"%s\" to expect", sim->word[1]);
    tw_sim_expected(sim, sim->word[1], got, want);
    return TW_OK;
}

/* watermark wrap|trigger BASE LIMIT LEVEL */
static enum tw_status do_watermark(struct sim *sim)
{
    const bool by_wrap = sim->count > 1 && tw_sim_is_word(sim->word[1], "wrap");
    uint64_t base, limit, level;

    if (!by_wrap && !(sim->count > 1 && tw_sim_is_word(sim->word[1], "trigger")))
        return tw_sim_wrong(sim, "watermark wants wrap or trigger");
    TW_TRY(tw_sim_number_at(sim, 2, &base));
    TW_TRY(tw_sim_number_at(sim, 3, &limit));
    TW_TRY(tw_sim_number_at(sim, 4, &level));
    if (tw_trbe_set_watermark(sim->pe->unit, by_wrap ? TW_TRBE_BY_WRAP : TW_TRBE_BY_TRIGGER,
                              base, limit, level) != TW_OK)
        return tw_sim_wrong(sim,
                            "the unit is enabled, or the watermark does not fit the buffer");
    return TW_OK;
}

/* external OFFSET [= VALUE] */
static enum tw_status do_external(struct sim *sim)
{
    uint64_t offset, value;

    TW_TRY(tw_sim_number_at(sim, 1, &offset));
    if (offset > 0xfff)
        return tw_sim_wrong(sim, "offsets are below 0x1000");
    if (sim->count > 3) {
        TW_TRY(tw_sim_number_at(sim, 3, &value));
        if (tw_trbe_external_write(sim->pe->unit, (uint32_t)offset, value) != TW_OK)
            return tw_sim_wrong(sim, "the external access is refused");
        return TW_OK;
    }
    if (tw_trbe_external_read(sim->pe->unit, &value, (uint32_t)offset) != TW_OK)
        return tw_sim_wrong(sim, "the external access is refused");
    tw_sim_begin(sim, "EXTERNAL");
    if (sim->config->is_json) {
        tw_json_u64(&sim->text, "offset", offset);
        tw_json_hex(&sim->text, "value", value);
    } else {
        tw_text_format(&sim->text, "external 0x%03x 0x%llx", (unsigned)offset,
                       (unsigned long long)value);
    }
    tw_sim_end(sim);
    return TW_OK;
}

static enum tw_status do_level(struct sim *sim)
{
    const char *word = sim->count > 1 ? sim->word[1] : "";
    uint64_t el;

    if (tolower((unsigned char)word[0]) == 'e' && tolower((unsigned char)word[1]) == 'l')
        word += 2;
    if (!tw_sim_number(&el, word) || el > 3)
        return tw_sim_wrong(sim, "%s wants an Exception level, EL0 to EL3", sim->word[0]);
    if (sim->pe->tracer)
        return tw_sim_level(sim, tw_sim_is_word(sim->word[0], "exception"), (unsigned)el);
    tw_trbe_enter(sim->pe->unit, (unsigned)el);
    return TW_OK;
}

/* One number, for whatever takes one. */
static enum tw_status do_setting(struct sim *sim)
{
    uint64_t value;

    TW_TRY(tw_sim_number_at(sim, 1, &value));
    if (tw_sim_is_word(sim->word[0], "pm"))
        tw_trbe_set_pm(sim->pe->unit, value != 0);
    else if (tw_sim_is_word(sim->word[0], "aarch32"))
        tw_trbe_set_aarch32(sim->pe->unit, value != 0);
    else if (tw_sim_is_word(sim->word[0], "authentication"))
        tw_trbe_set_authentication(sim->pe->unit, (unsigned)value & 0xff);
    else
        tw_trbe_implementation_event(sim->pe->unit, (uint16_t)value);
    return TW_OK;
}

static enum tw_status do_plain(struct sim *sim)
{
    const char *word = sim->word[0];
    const char *second = sim->count > 1 ? sim->word[1] : "";
    static const struct tw_trbe_fault late = { .class_code = TW_TRBE_EC_STAGE1,
                                               .status = 0x11 };

    if (tw_sim_is_word(word, "isb") || tw_sim_is_word(word, "cse"))
        tw_trbe_isb(sim->pe->unit);
    else if (tw_sim_is_word(word, "tsb"))
        tw_trbe_tsb(sim->pe->unit);
    else if (tw_sim_is_word(word, "dsb"))
        tw_trbe_dsb(sim->pe->unit);
    else if (tw_sim_is_word(word, "trigger"))
        tw_trbe_trigger(sim->pe->unit);
    else if (tw_sim_is_word(word, "late-abort"))
        tw_trbe_abort(sim->pe->unit, &late);
    else if (tw_sim_is_word(word, "debug"))
        tw_trbe_set_debug(sim->pe->unit, !tw_sim_is_word(second, "exit"));
    else if (tw_sim_is_word(word, "reset"))
        tw_trbe_reset(sim->pe->unit, tw_sim_is_word(second, "cold"));
    else
        tw_sim_show(sim);
    return TW_OK;
}

/* pe NUMBER: what follows is of that PE. */
static enum tw_status do_pe(struct sim *sim)
{
    uint64_t number;

    TW_TRY(tw_sim_number_at(sim, 1, &number));
    if (number >= SIM_PES)
        return tw_sim_wrong(sim, "there are PEs 0 to %u", SIM_PES - 1);
    sim->has_pes = true;
    return tw_sim_select(sim, (unsigned)number);
}

static const struct command {
    const char *name;
    enum tw_status (*run)(struct sim *sim);
} commands[] = {
    { "memory", tw_sim_memory },
    { "map", tw_sim_map },
    { "fault", tw_sim_fault },
    { "abort", tw_sim_fault },
    { "busy", tw_sim_busy },
    { "bytes", do_bytes },
    { "earlier", do_bytes },
    { "held", do_bytes },
    { "fill", do_fill },
    { "file", do_file },
    { "source", do_source },
    { "drain", do_drain },
    { "capture", do_drain },
    { "unit", tw_sim_tracer },
    { "preset", tw_sim_preset },
    { "log", tw_sim_log },
    { "run", tw_sim_run_log },
    { "read", do_read },
    { "expect", do_expect },
    { "watermark", do_watermark },
    { "external", do_external },
    { "exception", do_level },
    { "eret", do_level },
    { "pm", do_setting },
    { "aarch32", do_setting },
    { "authentication", do_setting },
    { "implementation-event", do_setting },
    { "isb", do_plain },
    { "cse", do_plain },
    { "tsb", do_plain },
    { "dsb", do_plain },
    { "trigger", do_plain },
    { "late-abort", do_plain },
    { "debug", do_plain },
    { "reset", do_plain },
    { "show", do_plain },
};

enum tw_status tw_sim_command(struct sim *sim)
{
    struct place place;
    uint64_t value;

    if (tw_sim_is_word(sim->word[0], "pe"))
        return do_pe(sim);
    if (tw_sim_is_word(sim->word[0], "config"))
        return tw_sim_config(sim);
    TW_TRY(tw_sim_need_unit(sim));
    for (size_t i = 0; i < TW_LENGTH(commands); i++)
        if (tw_sim_is_word(sim->word[0], commands[i].name))
            return commands[i].run(sim);
    if (sim->count >= 3 && strcmp(sim->word[1], "=") == 0 && find_place(&place, sim->word[0]))
        return do_write(sim, &place);
    if (sim->count >= 3 && strcmp(sim->word[1], "=") == 0) {
        enum tw_status status;

        TW_TRY(tw_sim_number_at(sim, 2, &value));
        status = tw_sim_tracer_write(sim, sim->word[0], value);
        if (status != TW_END)
            return status;
    }
    return tw_sim_wrong(sim, "\"%s\" is no command and no register", sim->word[0]);
}
