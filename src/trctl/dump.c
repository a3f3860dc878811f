/* SPDX-License-Identifier: BSD-2-Clause */
/* Dumps of the Trace Control Interface's registers: components, versions, configurations. */
#include <trackway/control.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <trackway/etrace.h>
#include <trackway/ntrace.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/settings.h"
#include "base/sized.h"
#include "base/text.h"
#include "trctl/table.h"

enum { PARTS = 64, NAME = 40, NOTE = 120, FORMAT_ETRACE = 0, FORMAT_NTRACE = 1, WORDS = 16 };

struct part {
    char name[NAME];
    uint8_t type;
    bool has_base;
    uint64_t base;
    struct tw_register *registers;
    uint16_t *offsets;
    size_t count, room, offset_room;
    char note[NOTE];
    bool is_refused;
};

struct tw_control {
    const struct tw_allocator *allocator;
    struct part parts[PARTS];
    size_t count;
};

/* ---- lines ---- */

struct line {
    const char *at, *end;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '=' || c == ':' || c == ',' || c == '|';
}

/* The next word; 0 characters: there is none. */
static size_t next_word(struct line *line, const char **word)
{
    while (line->at < line->end && is_blank(*line->at))
        line->at++;
    *word = line->at;
    while (line->at < line->end && !is_blank(*line->at))
        line->at++;
    return (size_t)(line->at - *word);
}

/* Without its comment. */
static struct line line_of(const char *text, size_t size)
{
    const char *comment = memchr(text, '#', size);

    return (struct line){ text, comment ? comment : text + size };
}

static bool is_register_name(const char *word, size_t size)
{
    uint16_t offset;

    return size > 4 && (tw_trctl_find(word, size, &offset) != NULL);
}

/* What stands at the offset of tr??Impl tells what a component is. */
static uint8_t type_of_impl(uint32_t impl)
{
    if ((impl & 0xf) == 0)
        return TW_TRCTL_VERSION_0;
    switch (impl >> 8 & 0xf) {
    case TW_TRCTL_ENCODER:
    case TW_TRCTL_FUNNEL:
    case TW_TRCTL_RAM_SINK:
    case TW_TRCTL_PIB_SINK:
    case TW_TRCTL_ATB_BRIDGE:
        return impl >> 8 & 0xf;
    default:
        return TW_TRCTL_NONE;
    }
}

/* "0x20000000: 01510867 00010101 ...": a component's first words, of which the second tells its version and
   type. */
static bool is_component(uint64_t address, struct line line)
{
    const char *word;
    uint64_t value;
    size_t size = next_word(&line, &word);

    if (address & 0xfff || !tw_setting_number(word, size, 16, &value))
        return false;
    size = next_word(&line, &word);
    return size >= 8 && tw_setting_number(word, size, 16, &value) && value <= UINT32_MAX &&
           (value & 0xf) == 1 && type_of_impl((uint32_t)value) != TW_TRCTL_NONE;
}

bool tw_control_is_dump(const char *text, size_t size)
{
    const char *const end = text + size;
    unsigned found = 0;

    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct line line = line_of(text, (size_t)((stop ? stop : end) - text));
        const char *word;
        size_t length = next_word(&line, &word);
        uint64_t value;

        if (is_register_name(word, length)) {
            length = next_word(&line, &word);
            if (!tw_setting_number(word, length, 16, &value) || next_word(&line, &word))
                return false;
            found++;
        } else if (length && *word != '[') {
            if (!tw_setting_number(word, length, 16, &value))
                return false;
            found += is_component(value, line);
        }
        text = stop ? stop + 1 : end;
    }
    return found > 0;
}

/* ---- components ---- */

static struct part *add_part(struct tw_control *control, const char *name, size_t size,
                             uint8_t type)
{
    struct part *part;

    if (control->count == PARTS)
        return NULL;
    part = &control->parts[control->count++];
    (void)snprintf(part->name, sizeof part->name, "%.*s", size < NAME ? (int)size : NAME - 1,
                   name);
    part->type = type;
    return part;
}

static bool add_register(struct tw_control *control, struct part *part, uint16_t offset,
                         uint32_t value)
{
    const struct tw_trctl_register *row = tw_trctl_at(part->type, offset);

    if (!row || row->count > 1) /* filters have no name of their own here */
        return true;
    for (size_t i = 0; i < part->count; i++)
        if (part->offsets[i] == offset) {
            part->registers[i].value = value;
            return true;
        }
    if (!TW_GROW(control->allocator, &part->registers, &part->room, part->count + 1) ||
        !TW_GROW(control->allocator, &part->offsets, &part->offset_room, part->count + 1))
        return false;
    part->offsets[part->count] = offset;
    part->registers[part->count++] = (struct tw_register){ row->name, value };
    return true;
}

static bool find_value(const struct part *part, uint16_t offset, uint32_t *value)
{
    for (size_t i = 0; i < part->count; i++)
        if (part->offsets[i] == offset) {
            *value = (uint32_t)part->registers[i].value;
            return true;
        }
    *value = 0;
    return false;
}

/* "[te0 0x20000000]" */
static struct part *take_heading(struct tw_control *control, struct line line)
{
    const char *word;
    size_t size;
    struct part *part;

    line.at++;
    if (line.end > line.at && memchr(line.at, ']', (size_t)(line.end - line.at)))
        line.end = memchr(line.at, ']', (size_t)(line.end - line.at));
    size = next_word(&line, &word);
    part = add_part(control, word, size, TW_TRCTL_NONE);
    while (part && (size = next_word(&line, &word)) > 0)
        if (tw_setting_number(word, size, 16, &part->base))
            part->has_base = true;
    return part;
}

/* A register by name: of the component at hand if that has no type yet, or has this one; else of a new
   one. */
static enum tw_status take_named(struct tw_control *control, struct part **part,
                                 const char *word, size_t size, uint32_t value,
                                 struct tw_fault *fault)
{
    uint16_t offset;
    const struct tw_trctl_register *row = tw_trctl_find(word, size, &offset);
    uint32_t old;

    if (!row)
        return tw_fail(fault, TW_E_CONFIG, "there is no register \"%.*s\"",
                       size < 60 ? (int)size : 60, word);
    if (*part && !(*part)->type)
        (*part)->type = row->component;
    if (!*part || (*part)->type != row->component || find_value(*part, offset, &old)) {
        const char *name = tw_trctl_component_name(row->component);

        *part = add_part(control, name, strlen(name), row->component);
    }
    if (!*part)
        return tw_fail(fault, TW_E_CONFIG, "there are more than %d components", PARTS);
    if (!add_register(control, *part, offset, value))
        return tw_fail(fault, TW_E_MEMORY, "no memory for a dump");
    return TW_OK;
}

/* "0x20000000: 01000061 00010101 ...": words of memory. */
static enum tw_status take_words(struct tw_control *control, struct part **part,
                                 uint64_t address, struct line *line, struct tw_fault *fault)
{
    uint32_t words[WORDS];
    unsigned count = 0;
    const char *word;
    size_t size;
    uint64_t value;

    while (count < WORDS && (size = next_word(line, &word)) > 0) {
        if (!tw_setting_number(word, size, 16, &value) || value > UINT32_MAX)
            break; /* the characters that some dumps have at the end */
        words[count++] = (uint32_t)value;
    }
    if (!*part || ((*part)->has_base && address - (*part)->base >= 0x1000) ||
        ((*part)->type && !(*part)->has_base))
        *part = add_part(control, "component", strlen("component"), TW_TRCTL_NONE);
    if (!*part)
        return tw_fail(fault, TW_E_CONFIG, "there are more than %d components", PARTS);
    if (!(*part)->has_base) {
        (*part)->base = address & ~(uint64_t)0xfff;
        (*part)->has_base = true;
    }
    if (!(*part)->type && address == (*part)->base && count > 1)
        (*part)->type = type_of_impl(words[1]);
    if (!(*part)->type)
        return tw_fail(fault, TW_E_CONFIG,
                       "0x%" PRIx64
                       ": what component it is cannot be told: the word at 4 is no "
                       "tr\?\?Impl",
                       address);
    for (unsigned i = 0; i < count; i++)
        if (!add_register(control, *part, (uint16_t)(address - (*part)->base + 4 * i),
                          words[i]))
            return tw_fail(fault, TW_E_MEMORY, "no memory for a dump");
    return TW_OK;
}

static enum tw_status take_line(struct tw_control *control, struct part **part,
                                struct line line, struct tw_fault *fault)
{
    const char *word, *second;
    const size_t size = next_word(&line, &word);
    uint64_t value;

    if (size == 0)
        return TW_OK;
    if (*word == '[') {
        line.at = word;
        *part = take_heading(control, line);
        return *part ? TW_OK
                     : tw_fail(fault, TW_E_CONFIG, "there are more than %d components", PARTS);
    }
    if (tw_setting_number(word, size, 16, &value))
        return take_words(control, part, value, &line, fault);
    {
        const size_t length = next_word(&line, &second);

        if (!tw_setting_number(second, length, 16, &value) || value > UINT32_MAX)
            return tw_fail(fault, TW_E_CONFIG, "\"%.*s\" has no value of 32 bits",
                           size < 60 ? (int)size : 60, word);
    }
    return take_named(control, part, word, size, (uint32_t)value, fault);
}

static int format_of(const struct part *part)
{
    uint32_t control;

    if (part->is_refused)
        return -1;
    if (part->type == TW_TRCTL_VERSION_0)
        return FORMAT_NTRACE;
    if (part->type != TW_TRCTL_ENCODER || !find_value(part, TW_TRCTL_CONTROL, &control))
        return -1;
    return (int)(control >> 24 & 7);
}

/* G6: what a version means to who reads it. */
static void judge(struct part *part)
{
    uint32_t impl;
    unsigned major, minor;

    if (part->type == TW_TRCTL_VERSION_0) {
        (void)snprintf(part->note, sizeof part->note, "before version 1: the dialect sifive");
        return;
    }
    if (!find_value(part, TW_TRCTL_IMPL, &impl))
        return;
    major = impl & 0xf;
    minor = impl >> 4 & 0xf;
    if (major == 0 || major > 1) {
        part->is_refused = true;
        (void)snprintf(part->note, sizeof part->note,
                       "version %u.%u, of which nothing is known: nothing is taken from it",
                       major, minor);
    } else if (format_of(part) == FORMAT_NTRACE && (impl >> 16 & 0xf) != 1) {
        part->is_refused = true;
        (void)snprintf(
            part->note, sizeof part->note,
            "version %u of N-Trace, of which nothing is known: nothing is taken from it",
            (unsigned)(impl >> 16 & 0xf));
    } else if (minor == 15) {
        (void)snprintf(part->note, sizeof part->note, "an experimental version");
    } else if (minor > 0) {
        (void)snprintf(part->note, sizeof part->note,
                       "version 1.%u, newer than 1.0: what is new is not read", minor);
    }
}

enum tw_status tw_control_read(struct tw_control **out, const char *text, size_t size,
                               const struct tw_allocator *allocator, struct tw_fault *fault)
{
    const char *const end = text + size;
    struct tw_control *control = tw_take(allocator, sizeof *control);
    struct part *part = NULL;

    *out = NULL;
    if (!control)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a dump");
    control->allocator = allocator;
    for (unsigned number = 1; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        struct tw_fault inner = { TW_OK, "" };
        const enum tw_status status = take_line(
            control, &part, line_of(text, (size_t)((stop ? stop : end) - text)), &inner);

        if (status != TW_OK) {
            tw_control_free(control);
            return tw_fail(fault, status, "line %u: %.400s", number, inner.text);
        }
        text = stop ? stop + 1 : end;
    }
    for (size_t i = 0; i < control->count; i++)
        judge(&control->parts[i]);
    *out = control;
    return TW_OK;
}

void tw_control_free(struct tw_control *control)
{
    if (!control)
        return;
    for (size_t i = 0; i < control->count; i++) {
        tw_give(control->allocator, control->parts[i].registers);
        tw_give(control->allocator, control->parts[i].offsets);
    }
    tw_give(control->allocator, control);
}

size_t tw_control_count(const struct tw_control *control)
{
    return control->count;
}

enum tw_status tw_control_component(const struct tw_control *control,
                                    struct tw_control_component *component, size_t number)
{
    struct tw_control_component ours = { .size = sizeof ours };
    const struct part *part;

    if (number >= control->count)
        return TW_END;
    part = &control->parts[number];
    ours.name = part->name;
    ours.type = tw_trctl_component_name(part->type);
    ours.has_base = part->has_base;
    ours.base = part->base;
    ours.has_impl = find_value(part, TW_TRCTL_IMPL, &ours.impl);
    ours.major = ours.impl & 0xf;
    ours.minor = part->type == TW_TRCTL_VERSION_0 ? 0 : ours.impl >> 4 & 0xf;
    ours.registers = part->registers;
    ours.register_count = part->count;
    ours.note = part->note[0] ? part->note : NULL;
    ours.is_refused = part->is_refused;
    return TW_SIZED_GIVE(component, &ours) ? TW_OK : TW_E_ARGUMENT;
}

size_t tw_control_field(char *out, size_t room, const struct tw_control *control,
                        size_t component, size_t number)
{
    const struct part *part = component < control->count ? &control->parts[component] : NULL;
    struct tw_text text = tw_text_in(out, room);
    uint32_t value;

    for (size_t i = 0; part && i < tw_trctl_field_count; i++) {
        const struct tw_trctl_field *field = &tw_trctl_fields[i];

        if (field->component != part->type || strchr(field->name, '%') ||
            !find_value(part, field->offset, &value))
            continue;
        if (number-- > 0)
            continue;
        tw_text_add(&text, field->name);
        tw_text_add(&text, " = ");
        if (field->high - field->low >= 15)
            tw_text_hex(&text, tw_trctl_get(field, value));
        else
            tw_text_decimal(&text, tw_trctl_get(field, value));
        return text.size;
    }
    return 0;
}

/* ---- what a decoder is told ---- */

const char *tw_control_protocol(const struct tw_control *control)
{
    int format = -1;

    for (size_t i = 0; i < control->count; i++) {
        const int its = format_of(&control->parts[i]);

        if (its < 0)
            continue;
        if (format >= 0 && its != format)
            return NULL;
        format = its;
    }
    return format == FORMAT_NTRACE ? "ntrace" : format == FORMAT_ETRACE ? "etrace" : NULL;
}

/* Encoders of one stream agree on the width of SRC. */
static enum tw_status check_sources(const struct tw_control *control, struct tw_fault *fault)
{
    const struct part *first = NULL;

    for (size_t i = 0; i < control->count; i++) {
        const struct part *part = &control->parts[i];
        uint32_t features, others = 0;

        if (part->type != TW_TRCTL_ENCODER || part->is_refused ||
            !find_value(part, TW_TRCTL_INST_FEATURES, &features))
            continue;
        if (first && find_value(first, TW_TRCTL_INST_FEATURES, &others) &&
            others >> 28 != features >> 28)
            return tw_fail(fault, TW_E_CONFIG, "trTeSrcBits is %u in %s and %u in %s",
                           (unsigned)(others >> 28), first->name, (unsigned)(features >> 28),
                           part->name);
        first = first ? first : part;
    }
    return TW_OK;
}

static enum tw_status make_ntrace(const struct tw_control *control, char *out, size_t *size,
                                  struct tw_fault *fault)
{
    struct tw_ntrace_config config;
    char line[80];

    tw_ntrace_config_init(&config);
    config.dialect = TW_NTRACE_1_0;
    for (size_t i = 0; i < control->count; i++) {
        const struct part *part = &control->parts[i];

        for (size_t k = 0; k < part->count && !part->is_refused; k++) {
            (void)snprintf(line, sizeof line, "%s=%" PRIu64, part->registers[k].name,
                           part->registers[k].value);
            TW_TRY(tw_ntrace_config_read(&config, line, fault));
        }
    }
    TW_TRY(tw_ntrace_config_check(&config, fault));
    *size = tw_ntrace_config_text(out, *size, &config);
    return TW_OK;
}

/* What of E-Trace the registers tell; the widths of its fields are the encoder's parameters. */
static enum tw_status make_etrace(const struct tw_control *control, char *out, size_t *size)
{
    struct tw_text text = tw_text_in(out, *size);
    uint32_t features = 0, time = 0, word = 0;

    for (size_t i = 0; i < control->count; i++) {
        const struct part *part = &control->parts[i];

        if (part->type != TW_TRCTL_ENCODER || part->is_refused)
            continue;
        (void)find_value(part, TW_TRCTL_INST_FEATURES, &features);
        (void)find_value(part, TW_TRCTL_TS_CONTROL, &time);
        (void)find_value(part, TW_TRCTL_CONTROL, &word);
    }
    tw_text_format(&text,
                   "layout=v2\nencapsulation=riscv\nfull_address=%u\nimplicit_exception=%u\n"
                   "sijump=%u\nimplicit_return=%u\nbranch_prediction=%u\n"
                   "jump_target_cache=%u\nnocontext_p=%u\n",
                   features & 1, features >> 1 & 1, features >> 2 & 1, features >> 3 & 1,
                   features >> 4 & 1, features >> 5 & 1, !(word >> 9 & 1));
    if (features >> 2 & 1) /* what is switched on is there; what is not may be there, too */
        tw_text_add(&text, "sijump_p=1\n");
    tw_text_format(&text, "notime_p=%u\nsrcid_bits=%u\n", !(time >> 15 & 1),
                   word >> 15 & 1 ? 0 : features >> 28);
    *size = text.size;
    return TW_OK;
}

enum tw_status tw_control_config(const struct tw_control *control, char *out, size_t *size,
                                 struct tw_fault *fault)
{
    const char *protocol = tw_control_protocol(control);

    if (!protocol)
        return tw_fail(fault, TW_E_CONFIG,
                       "no encoder tells its format (trTeControl), or they differ");
    TW_TRY(check_sources(control, fault));
    return strcmp(protocol, "ntrace") == 0 ? make_ntrace(control, out, size, fault)
                                           : make_etrace(control, out, size);
}
