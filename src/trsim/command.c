/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands of a script for the Trace Control Interface: docs/formats.md. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/settings.h"
#include "trsim/sim.h"

enum { POLLS_MOST = 1000000, RAM_IMPL_SRAM = 1 << 12, RAM_IMPL_SMEM = 1 << 13, EXT_IN = 0x54 };

/* ---- accesses ---- */

static unsigned shift_of(uint32_t mask)
{
    unsigned shift = 0;

    while (mask && !(mask >> shift & 1))
        shift++;
    return shift;
}

static void tell(struct tw_trsim *sim, struct tw_trctl_step *step, uint32_t value)
{
    struct tw_trctl_step seen = *step;

    seen.value = value & step->mask;
    seen.has_value = true;
    tw_trctl_take(&sim->checker, &seen);
}

static enum tw_status do_poll(struct tw_trsim *sim, struct tw_trsim_part *part,
                              struct tw_trctl_step *step)
{
    const uint64_t most = step->limit ? step->limit : POLLS_MOST;
    uint32_t value = 0;

    for (uint64_t i = 0; i < most; i++) {
        TW_TRY(tw_trsim_tick(sim));
        value = tw_trsim_peek(sim, part, step->offset);
        if ((value & step->mask) == (step->value & step->mask))
            break;
    }
    tell(sim, step, value);
    tw_trsim_expected(sim, sim->words > 1 ? sim->word[1] : sim->word[0],
                      (value & step->mask) >> shift_of(step->mask),
                      step->value >> shift_of(step->mask));
    return TW_OK;
}

static enum tw_status do_write(struct tw_trsim *sim, struct tw_trsim_part *part,
                               const struct tw_trctl_step *step)
{
    enum { WRITE_1_CLEARS = 1 << 12 };
    uint32_t old = tw_trsim_peek(sim, part, step->offset);

    tw_trctl_take(&sim->checker, step);
    if (step->offset == TW_TRCTL_CONTROL && part->encoder)
        old &= ~(uint32_t)WRITE_1_CLEARS; /* a write of a field leaves the others alone */
    return tw_trsim_write(sim, part, step->offset, (old & ~step->mask) | step->value);
}

/* run [COUNT|all], run until wrap|stopped */
static enum tw_status do_run(struct tw_trsim *sim)
{
    const bool is_until = sim->words > 2 && tw_trsim_is_word(sim->word[1], "until");
    const uint64_t first = sim->executed, since = sim->now;
    uint64_t count = ~(uint64_t)0, wraps = 0, now;
    bool is_end = false;

    if (is_until && !tw_trsim_is_word(sim->word[2], "wrap"))
        return tw_trsim_wrong(sim, "run until wants wrap");
    if (!is_until && sim->words > 1 && !tw_trsim_is_word(sim->word[1], "all"))
        TW_TRY(tw_trsim_number_at(sim, 1, &count));
    for (size_t i = 0; i < sim->count; i++)
        wraps += sim->parts[i]->wraps;
    for (now = 0; now < count && !is_end; now++) {
        uint64_t wrapped = 0;

        is_end = true;
        for (size_t i = 0; i < sim->count; i++) {
            enum tw_status status = TW_END;

            if (sim->parts[i]->encoder && (sim->parts[i]->encoder->log || sim->count == 1))
                status = tw_trsim_cycle(sim, sim->parts[i]);
            if (status != TW_OK && status != TW_END)
                return status;
            is_end &= status == TW_END;
            wrapped += sim->parts[i]->wraps;
        }
        TW_TRY(tw_trsim_tick(sim));
        if (is_until && wrapped != wraps)
            break;
    }
    tw_trsim_ran(sim, sim->executed - first, sim->now - since, is_end);
    return TW_OK;
}

enum tw_status tw_trsim_step(struct tw_trsim *sim, struct tw_trctl_step *step)
{
    struct tw_trsim_part *part =
        step->part ? sim->parts[step->part - sim->checker.parts] : NULL;
    uint32_t value;

    switch (step->verb) {
    case TW_TRCTL_WRITE:
        TW_TRY(do_write(sim, part, step));
        return tw_trsim_tick(sim);
    case TW_TRCTL_READ:
        TW_TRY(tw_trsim_tick(sim));
        value = tw_trsim_read(sim, part, step->offset);
        tell(sim, step, value);
        tw_trsim_register(sim, part, step->offset, value);
        if (step->has_value)
            tw_trsim_expected(sim, sim->word[1], value & step->mask, step->value);
        return TW_OK;
    case TW_TRCTL_POLL:
        return do_poll(sim, part, step);
    case TW_TRCTL_RUN:
        tw_trctl_take(&sim->checker, step);
        return do_run(sim);
    default:
        if (step->verb == TW_TRCTL_PROBE_START || step->verb == TW_TRCTL_PROBE_STOP)
            sim->has_probe = step->verb == TW_TRCTL_PROBE_START;
        tw_trctl_take(&sim->checker, step);
        return TW_OK;
    }
}

/* ---- what there is ---- */

static enum tw_status set_versions(struct tw_trsim_part *part, const char *key, uint64_t value)
{
    uint32_t *impl = &part->registers[TW_TRCTL_IMPL / 4];

    if (tw_trsim_is_word(key, "latency"))
        part->latency = (uint32_t)value;
    else if (tw_trsim_is_word(key, "unknown"))
        part->unknown = (uint32_t)value;
    else if (tw_trsim_is_word(key, "major"))
        *impl = (*impl & ~UINT32_C(0xf)) | (value & 0xf);
    else if (tw_trsim_is_word(key, "minor"))
        *impl = (*impl & ~UINT32_C(0xf0)) | (uint32_t)(value & 0xf) << 4;
    else if (tw_trsim_is_word(key, "vendor"))
        *impl = (*impl & UINT32_C(0x00ffffff)) | (uint32_t)(value & 0xff) << 24;
    else
        return TW_END;
    return TW_OK;
}

static enum tw_status set_encoder(struct tw_trsim_part *part, const char *key, uint64_t value)
{
    struct tw_trsim_encoder *encoder = part->encoder;

    if (tw_trsim_is_word(key, "fifo"))
        encoder->fifo = (uint32_t)value;
    else if (tw_trsim_is_word(key, "cycles-per-byte"))
        encoder->cycles_per_byte = (uint32_t)value;
    else if (tw_trsim_is_word(key, "formats") && value >= 1 && value <= 3)
        encoder->formats = (uint8_t)value;
    else if (tw_trsim_is_word(key, "btm"))
        encoder->has_btm = value;
    else if (tw_trsim_is_word(key, "htm"))
        encoder->has_htm = value;
    else if (tw_trsim_is_word(key, "time-width") && value < 64)
        encoder->time_width = (uint8_t)value;
    else if (tw_trsim_is_word(key, "data") && value <= 1) {
        encoder->has_data = value;
        part->legal[0x10 / 4] = value ? tw_trctl_writable(TW_TRCTL_ENCODER, 0x10) : 0;
        part->legal[0x1c / 4] = value ? tw_trctl_writable(TW_TRCTL_ENCODER, 0x1c) : 0;
    } else
        return TW_END;
    return encoder->has_btm || encoder->has_htm ? TW_OK : TW_END;
}

static enum tw_status set_sink(struct tw_trsim *sim, struct tw_trsim_part *part, unsigned type,
                               const char *key, uint64_t value)
{
    uint32_t *impl = &part->registers[TW_TRCTL_IMPL / 4];

    if (type == TW_TRCTL_PIB_SINK && tw_trsim_is_word(key, "idle") && value < 1000) {
        part->idle = (uint32_t)value;
        return TW_OK;
    }
    if (type != TW_TRCTL_RAM_SINK)
        return TW_END;
    if (tw_trsim_is_word(key, "smem")) {
        *impl = (*impl & ~(uint32_t)RAM_IMPL_SMEM) | (value ? (uint32_t)RAM_IMPL_SMEM : 0);
    } else if (tw_trsim_is_word(key, "word")) {
        if (value < 4 || value > TW_TRSIM_WORD_MOST || (value & (value - 1)))
            return TW_END;
        part->word_size = (uint32_t)value;
    } else if (tw_trsim_is_word(key, "sram")) {
        if (value < TW_TRSIM_WORD_MOST || (value & (value - 1)) || value > UINT32_C(1) << 28)
            return TW_END;
        if (part->sram || !tw_trsim_spend(sim, value))
            return TW_END;
        part->sram = tw_take(sim->config->allocator, (size_t)value);
        if (!part->sram)
            return tw_trsim_no_memory(sim);
        part->sram_size = (size_t)value;
        *impl |= RAM_IMPL_SRAM;
    } else {
        return TW_END;
    }
    return TW_OK;
}

/* set NAME KEY=VALUE... */
static enum tw_status do_set(struct tw_trsim *sim)
{
    struct tw_trsim_part *part = sim->words > 2 ? tw_trsim_find(sim, sim->word[1]) : NULL;

    if (!part)
        return tw_trsim_wrong(sim, "set wants a component and KEY=VALUE");
    for (size_t i = 2; i < sim->words; i++) {
        char *key = sim->word[i], *equals = strchr(key, '=');
        const unsigned type = tw_trsim_known(sim, part)->type;
        enum tw_status status = TW_END;
        uint64_t value;

        if (!equals || !tw_setting_number(equals + 1, strlen(equals + 1), 10, &value) ||
            value > UINT32_MAX)
            return tw_trsim_wrong(sim, "\"%s\" is no KEY=VALUE", key);
        *equals = 0;
        status = set_versions(part, key, value);
        if (status == TW_END && part->encoder)
            status = set_encoder(part, key, value);
        else if (status == TW_END)
            status = set_sink(sim, part, type, key, value);
        if (status == TW_END)
            return tw_trsim_wrong(sim, "%s=%s cannot be set of a %s", key, equals + 1,
                                  tw_trctl_component_name(type));
        TW_TRY(status);
    }
    return TW_OK;
}

/* legal NAME.REGISTER MASK: the bits of it that can be written. */
static enum tw_status do_legal(struct tw_trsim *sim)
{
    char *dot = sim->words > 2 ? strchr(sim->word[1], '.') : NULL;
    const struct tw_trctl_register *row;
    struct tw_trsim_part *part;
    uint16_t offset;
    uint64_t mask;

    if (!dot)
        return tw_trsim_wrong(sim, "legal wants NAME.REGISTER and a mask");
    *dot = 0;
    part = tw_trsim_find(sim, sim->word[1]);
    row = tw_trctl_find(dot + 1, strlen(dot + 1), &offset);
    if (!part)
        return TW_E_ARGUMENT;
    if (!row || row->component != tw_trsim_known(sim, part)->type)
        return tw_trsim_wrong(sim, "%s has no register \"%s\"", sim->word[1], dot + 1);
    TW_TRY(tw_trsim_number_at(sim, 2, &mask));
    part->legal[offset / 4] = tw_trctl_writable(row->component, offset) & (uint32_t)mask;
    return TW_OK;
}

/* trace NAME KEY=VALUE...: the encoder's own parameters. */
static enum tw_status do_trace(struct tw_trsim *sim)
{
    struct tw_trsim_part *part = sim->words > 2 ? tw_trsim_find(sim, sim->word[1]) : NULL;

    if (!part || !part->encoder)
        return tw_trsim_wrong(sim, "trace wants an encoder and KEY=VALUE");
    for (size_t i = 2; i < sim->words; i++) {
        tw_text_add(&part->encoder->settings, sim->word[i]);
        tw_text_char(&part->encoder->settings, '\n');
    }
    return part->encoder->settings.failed ? tw_trsim_no_memory(sim) : TW_OK;
}

/* memory BASE SIZE */
static enum tw_status do_memory(struct tw_trsim *sim)
{
    struct tw_trsim_region *region = &sim->regions[sim->region_count];
    uint64_t base, size;

    TW_TRY(tw_trsim_number_at(sim, 1, &base));
    TW_TRY(tw_trsim_number_at(sim, 2, &size));
    if (sim->region_count == TW_TRSIM_REGIONS || !size || size > UINT64_MAX - base)
        return tw_trsim_wrong(sim, "there are too many memories, or this one is empty");
    if (!tw_trsim_spend(sim, size))
        return TW_E_ARGUMENT;
    region->bytes = tw_take(sim->config->allocator, (size_t)size);
    if (!region->bytes)
        return tw_trsim_no_memory(sim);
    region->base = base;
    region->size = size;
    sim->region_count++;
    return TW_OK;
}

/* log NAME FILE */
static enum tw_status do_log(struct tw_trsim *sim)
{
    struct tw_trsim_part *part = sim->words > 2 ? tw_trsim_find(sim, sim->word[1]) : NULL;

    if (!part || !part->encoder)
        return tw_trsim_wrong(sim, "log wants an encoder and a file");
    tw_hart_free(part->encoder->hart);
    part->encoder->hart = NULL;
    part->encoder->is_at_end = false;
    if (!sim->config->load || !sim->config->load(sim->config->context, sim->word[2],
                                                 &part->encoder->log, &part->encoder->log_size))
        return tw_trsim_wrong(sim, "\"%s\" cannot be read", sim->word[2]);
    return TW_OK;
}

/* ---- the hart's signals ---- */

/* trigger NAME on|off|notify: a debug trigger; external NAME INPUT: an external one. */
static enum tw_status do_trigger(struct tw_trsim *sim)
{
    static const char *const words[] = { "on", "off", "notify" };
    static const uint8_t bits[] = { TW_ETRACE_TRIGGER_ON, TW_ETRACE_TRIGGER_OFF,
                                    TW_ETRACE_TRIGGER_NOTIFY };
    struct tw_trsim_part *part = sim->words > 2 ? tw_trsim_find(sim, sim->word[1]) : NULL;
    const bool is_external = tw_trsim_is_word(sim->word[0], "external");
    uint64_t input;

    if (!part || !part->encoder)
        return tw_trsim_wrong(sim, "%s wants an encoder", sim->word[0]);
    if (is_external) {
        unsigned action;

        TW_TRY(tw_trsim_number_at(sim, 2, &input));
        if (input > 7)
            return tw_trsim_wrong(sim, "there are inputs 0 to 7");
        action = part->registers[EXT_IN / 4] >> (4 * input) & 0xf;
        if (action == 4)
            part->encoder->trigger |= (part->registers[0] >> 24 & 7) == TW_TRSIM_NTRACE
                                          ? TW_NTRACE_TRIGGER_EXTERNAL
                                          : TW_ETRACE_TRIGGER_NOTIFY;
        else if (action == 2 || action == 3)
            part->encoder->trigger |= bits[action - 2];
        return TW_OK;
    }
    for (size_t i = 0; i < TW_LENGTH(words); i++)
        if (tw_trsim_is_word(sim->word[2], words[i])) {
            part->encoder->trigger |= bits[i];
            return TW_OK;
        }
    return tw_trsim_wrong(sim, "a trigger is on, off or notify");
}

/* hart NAME halted|resumed|reset|released|asleep|awake */
static enum tw_status do_hart(struct tw_trsim *sim)
{
    struct tw_trsim_part *part = sim->words > 2 ? tw_trsim_find(sim, sim->word[1]) : NULL;
    struct tw_trsim_encoder *encoder = part ? part->encoder : NULL;
    const char *word = sim->words > 2 ? sim->word[2] : "";

    if (!encoder)
        return tw_trsim_wrong(sim, "hart wants an encoder and what happens");
    if (tw_trsim_is_word(word, "halted") || tw_trsim_is_word(word, "resumed"))
        encoder->is_halted = tw_trsim_is_word(word, "halted");
    else if (tw_trsim_is_word(word, "reset") || tw_trsim_is_word(word, "released"))
        encoder->is_reset = tw_trsim_is_word(word, "reset");
    else if (tw_trsim_is_word(word, "asleep") || tw_trsim_is_word(word, "awake"))
        encoder->is_asleep = tw_trsim_is_word(word, "asleep");
    else
        return tw_trsim_wrong(sim, "a hart is not \"%s\"", word);
    return tw_trsim_signals(sim, part);
}

/* tick COUNT */
static enum tw_status do_tick(struct tw_trsim *sim)
{
    uint64_t count;

    TW_TRY(tw_trsim_number_at(sim, 1, &count));
    while (count--)
        TW_TRY(tw_trsim_tick(sim));
    return TW_OK;
}

/* ---- results ---- */

static enum tw_status put_out(struct tw_trsim *sim, const struct tw_text *bytes, size_t at)
{
    const bool has_name = sim->words > at + 1 && tw_trsim_is_word(sim->word[at], "to");
    const char *name = has_name ? sim->word[at + 1] : NULL;
    const uint8_t *from = (const uint8_t *)bytes->chars;

    if (bytes->failed)
        return tw_trsim_no_memory(sim);
    if (name && !(sim->config->save &&
                  sim->config->save(sim->config->context, name, from, bytes->size)))
        return tw_trsim_wrong(sim, "\"%s\" cannot be written", name);
    tw_trsim_drained(sim, from, bytes->size, name);
    return TW_OK;
}

/* drain|buffer|pins NAME [to FILE] */
static enum tw_status do_drain(struct tw_trsim *sim)
{
    struct tw_trsim_part *part = sim->words > 1 ? tw_trsim_find(sim, sim->word[1]) : NULL;
    const bool is_pins = tw_trsim_is_word(sim->word[0], "pins");
    struct tw_text bytes = { .allocator = sim->config->allocator };
    enum tw_status status;

    if (!part || tw_trsim_known(sim, part)->type !=
                     (is_pins ? (unsigned)TW_TRCTL_PIB_SINK : (unsigned)TW_TRCTL_RAM_SINK))
        return tw_trsim_wrong(sim, "%s wants a %s", sim->word[0],
                              is_pins ? "PIB sink" : "RAM sink");
    if (is_pins) {
        tw_trsim_pins_end(part);
        status = put_out(sim, &part->pins, 2);
        tw_text_clear(&part->pins);
        return status;
    }
    status = tw_trsim_buffer(sim, part, tw_trsim_is_word(sim->word[0], "drain"), &bytes);
    if (status == TW_OK)
        status = put_out(sim, &bytes, 2);
    tw_text_free(&bytes);
    return status;
}

/* frames [to FILE] */
static enum tw_status do_frames(struct tw_trsim *sim)
{
    struct tw_text bytes = { .allocator = sim->config->allocator };
    enum tw_status status;
    const uint8_t *from;
    size_t size;

    if (!sim->framer)
        return tw_trsim_wrong(sim, "nothing came out of an ATB bridge");
    if (tw_framer_finish(sim->framer) != TW_OK)
        return tw_trsim_no_memory(sim);
    from = tw_framer_output(sim->framer, &size);
    tw_text_add_size(&bytes, (const char *)from, size);
    status = put_out(sim, &bytes, 1);
    tw_text_free(&bytes);
    tw_framer_take(sim->framer);
    return status;
}

/* dump [to FILE] */
static enum tw_status do_dump(struct tw_trsim *sim)
{
    struct tw_text text = { .allocator = sim->config->allocator };
    enum tw_status status;

    for (size_t i = 0; i < sim->count; i++)
        tw_trsim_dump(sim, sim->parts[i], &text);
    status = put_out(sim, &text, 1);
    tw_text_free(&text);
    return status;
}

/* show [NAME] */
static enum tw_status do_show(struct tw_trsim *sim)
{
    for (size_t i = 0; i < sim->count; i++)
        if (sim->words < 2 || strcmp(sim->checker.parts[i].name, sim->word[1]) == 0)
            tw_trsim_show(sim, sim->parts[i]);
    return TW_OK;
}

static bool find_count(struct tw_trsim *sim, const char *word, uint64_t *value)
{
    const char *dot = strchr(word, '.');

    for (size_t i = 0; dot && i < sim->count; i++) {
        const struct tw_trctl_part *known = &sim->checker.parts[i];
        const struct tw_trsim_part *part = sim->parts[i];

        if (strlen(known->name) != (size_t)(dot - word) ||
            memcmp(known->name, word, (size_t)(dot - word)) != 0)
            continue;
        *value = tw_trsim_is_word(dot + 1, "messages") ? part->messages
                 : tw_trsim_is_word(dot + 1, "bytes")  ? part->bytes
                 : tw_trsim_is_word(dot + 1, "lost")   ? part->lost
                                                       : part->wraps;
        return tw_trsim_is_word(dot + 1, "messages") || tw_trsim_is_word(dot + 1, "bytes") ||
               tw_trsim_is_word(dot + 1, "lost") || tw_trsim_is_word(dot + 1, "wraps");
    }
    *value = tw_trsim_is_word(word, "misuses")        ? sim->result->misuses
             : tw_trsim_is_word(word, "instructions") ? sim->executed
                                                      : sim->now;
    return tw_trsim_is_word(word, "misuses") || tw_trsim_is_word(word, "instructions") ||
           tw_trsim_is_word(word, "now");
}

/* expect WHAT VALUE */
static enum tw_status do_expect(struct tw_trsim *sim)
{
    uint64_t got, want;

    if (sim->words < 3)
        return tw_trsim_wrong(sim, "expect wants a name and a value");
    TW_TRY(tw_trsim_number_at(sim, sim->words - 1, &want));
    if (!find_count(sim, sim->word[1], &got)) {
        struct tw_trctl_step step;
        char line[160];

        (void)snprintf(line, sizeof line, "read %.140s", sim->word[1]);
        if (tw_trctl_read_line(&sim->checker, &step, line, strlen(line)) !=
                TW_TRCTL_LINE_STEP ||
            !step.part || (size_t)(step.part - sim->checker.parts) >= sim->count)
            return tw_trsim_wrong(sim, "there is no \"%s\" to expect", sim->word[1]);
        got = (tw_trsim_peek(sim, sim->parts[step.part - sim->checker.parts], step.offset) &
               step.mask) >>
              shift_of(step.mask);
    }
    tw_trsim_expected(sim, sim->word[1], got, want);
    return TW_OK;
}

static const struct command {
    const char *name;
    enum tw_status (*run)(struct tw_trsim *sim);
} commands[] = {
    { "set", do_set },          { "legal", do_legal },  { "trace", do_trace },
    { "memory", do_memory },    { "log", do_log },      { "trigger", do_trigger },
    { "external", do_trigger }, { "hart", do_hart },    { "tick", do_tick },
    { "drain", do_drain },      { "buffer", do_drain }, { "pins", do_drain },
    { "frames", do_frames },    { "dump", do_dump },    { "show", do_show },
    { "expect", do_expect },
};

enum tw_status tw_trsim_command(struct tw_trsim *sim, bool *is_done)
{
    for (size_t i = 0; i < TW_LENGTH(commands); i++)
        if (tw_trsim_is_word(sim->word[0], commands[i].name)) {
            *is_done = true;
            return commands[i].run(sim);
        }
    return TW_OK;
}
