/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that say how software drives the Trace Control Interface, to accesses. */
#include "trctl/sequence.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/settings.h"

enum { WORDS = 8, LINE = 200 };

/* A line's words: what blanks, '=', "->", "==", ',' and ':' divide. */
struct words {
    char text[LINE];
    char *word[WORDS];
    size_t count;
};

static bool is_divider(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '=' || c == ',' || c == ':' || c == '-' ||
           c == '>';
}

static void split(struct words *words, const char *line, size_t size)
{
    size_t at = 0;

    words->count = 0;
    if (size > LINE - 1)
        size = LINE - 1;
    memcpy(words->text, line, size);
    words->text[size] = 0;
    words->text[strcspn(words->text, "#;")] = 0;
    if (strstr(words->text, "//"))
        *strstr(words->text, "//") = 0;
    while (words->text[at] && words->count < WORDS) {
        while (is_divider(words->text[at]))
            words->text[at++] = 0;
        if (!words->text[at])
            break;
        words->word[words->count++] = &words->text[at];
        while (words->text[at] && !is_divider(words->text[at]))
            at++;
    }
    if (words->text[at])
        words->text[at] = 0;
}

static bool is_word(const char *text, const char *want)
{
    for (; *text && *want; text++, want++)
        if (tolower((unsigned char)*text) != *want)
            return false;
    return *text == *want;
}

static bool number_of(const char *text, uint64_t *value)
{
    return tw_setting_number(text, strlen(text), 10, value);
}

void tw_trctl_find_broken(struct tw_trctl_checker *c, uint32_t cause, enum tw_trctl_rule rule,
                          const char *format, ...)
{
    char text[240];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->out->find(c->out->context, c->line, cause == c->line ? 0 : cause, &tw_trctl_rules[rule],
                 text);
}

/* ---- components ---- */

static struct tw_trctl_part *add_part(struct tw_trctl_checker *c, const char *name,
                                      uint8_t type)
{
    struct tw_trctl_part *part;

    if (c->count == TW_TRCTL_PARTS)
        return NULL;
    part = &c->parts[c->count++];
    memset(part, 0, sizeof *part);
    (void)snprintf(part->name, sizeof part->name, "%s", name);
    part->type = type;
    part->feeds = TW_TRCTL_NOWHERE;
    return part;
}

static struct tw_trctl_part *find_part(struct tw_trctl_checker *c, const char *name,
                                       size_t size)
{
    for (size_t i = 0; i < c->count; i++)
        if (strlen(c->parts[i].name) == size && memcmp(c->parts[i].name, name, size) == 0)
            return &c->parts[i];
    return NULL;
}

static uint8_t type_of(const char *word)
{
    static const struct {
        const char *word;
        uint8_t type;
    } types[] = {
        { "encoder", TW_TRCTL_ENCODER }, { "funnel", TW_TRCTL_FUNNEL },
        { "ram", TW_TRCTL_RAM_SINK },    { "pib", TW_TRCTL_PIB_SINK },
        { "atb", TW_TRCTL_ATB_BRIDGE },
    };

    for (size_t i = 0; i < TW_LENGTH(types); i++)
        if (is_word(word, types[i].word))
            return types[i].type;
    return TW_TRCTL_NONE;
}

/* "component NAME TYPE [BASE] [feeds NAME]" */
static bool declare(struct tw_trctl_checker *c, const struct words *words)
{
    const uint8_t type = words->count > 2 ? type_of(words->word[2]) : TW_TRCTL_NONE;
    struct tw_trctl_part *part;

    if (!type || strlen(words->word[1]) >= TW_TRCTL_NAME ||
        find_part(c, words->word[1], strlen(words->word[1])))
        return false;
    part = add_part(c, words->word[1], type);
    for (size_t i = 3; part && i < words->count; i++) {
        if (is_word(words->word[i], "feeds") && i + 1 < words->count) {
            const struct tw_trctl_part *to =
                find_part(c, words->word[i + 1], strlen(words->word[i + 1]));

            if (!to)
                return false; /* sinks are declared first */
            part->feeds = (int)(to - c->parts);
            i++;
        } else if (number_of(words->word[i], &part->base)) {
            part->has_base = true;
        } else {
            return false;
        }
    }
    return part != NULL;
}

/* The component of a type that is meant where none is named. */
static struct tw_trctl_part *usual_part(struct tw_trctl_checker *c, uint8_t type)
{
    static const char *const names[] = { [TW_TRCTL_ENCODER] = "te",
                                         [TW_TRCTL_FUNNEL] = "funnel",
                                         [TW_TRCTL_RAM_SINK] = "ram",
                                         [TW_TRCTL_PIB_SINK] = "pib",
                                         [TW_TRCTL_ATB_BRIDGE] = "atb" };

    for (size_t i = 0; i < c->count; i++)
        if (c->parts[i].type == type)
            return &c->parts[i];
    if (type >= TW_LENGTH(names) || !names[type])
        return NULL;
    return add_part(c, names[type], type);
}

/* "te0.trTeControl", "trTeEnable", "0x20000008": which bits of which register. */
static bool take_target(struct tw_trctl_checker *c, struct tw_trctl_step *step,
                        const char *word)
{
    const char *dot = strchr(word, '.'), *name = dot ? dot + 1 : word;
    const struct tw_trctl_register *row;
    const struct tw_trctl_field *field;
    uint64_t address;

    step->mask = UINT32_MAX;
    if (number_of(word, &address)) {
        for (size_t i = 0; i < c->count; i++) {
            struct tw_trctl_part *part = &c->parts[i];

            if (part->has_base && address - part->base < TW_TRCTL_SIZE &&
                tw_trctl_at(part->type, (uint32_t)(address - part->base))) {
                step->part = part;
                step->offset = (uint16_t)(address - part->base);
                return true;
            }
        }
        return false;
    }
    row = tw_trctl_find(name, strlen(name), &step->offset);
    field = row ? NULL : tw_trctl_find_field(name, strlen(name), &step->offset);
    if ((!row && !field) || (row ? row->component : field->component) == TW_TRCTL_VERSION_0)
        return false;
    if (field)
        step->mask = tw_trctl_mask(field);
    step->part = dot ? find_part(c, word, (size_t)(dot - word))
                     : usual_part(c, row ? row->component : field->component);
    return step->part && step->part->type == (row ? row->component : field->component);
}

static bool take_value(struct tw_trctl_step *step, const char *word)
{
    uint64_t value;
    unsigned shift = 0;

    while (!(step->mask >> shift & 1))
        shift++;
    if (!number_of(word, &value) || value > step->mask >> shift)
        return false;
    step->value = (uint32_t)value << shift;
    step->has_value = true;
    return true;
}

/* ---- lines ---- */

/* False: it cannot be read. */
static bool read_access(struct tw_trctl_checker *c, struct tw_trctl_step *step,
                        const struct words *words)
{
    const bool is_read = is_word(words->word[0], "read");
    const bool is_poll = is_word(words->word[0], "poll") || is_word(words->word[0], "wait") ||
                         is_word(words->word[0], "until");
    const size_t first = is_read || is_poll || is_word(words->word[0], "write") ? 1 : 0;

    *step = (struct tw_trctl_step){ .verb = is_read   ? TW_TRCTL_READ
                                            : is_poll ? TW_TRCTL_POLL
                                                      : TW_TRCTL_WRITE };
    if (words->count <= first || !take_target(c, step, words->word[first]))
        return false;
    if (words->count > first + 1 && !take_value(step, words->word[first + 1]))
        return false;
    if (!is_read && !step->has_value)
        return false;
    for (size_t i = first + 2; i < words->count; i++) {
        if (is_word(words->word[i], "timeout") || is_word(words->word[i], "limit"))
            step->is_bounded = true;
        else if (step->is_bounded)
            (void)number_of(words->word[i], &step->limit);
    }
    return true;
}

static const struct {
    const char *first, *second;
    uint8_t verb;
} other_lines[] = {
    { "read", "memory", TW_TRCTL_READ_MEMORY },
    { "read", "buffer", TW_TRCTL_READ_MEMORY },
    { "probe", "start", TW_TRCTL_PROBE_START },
    { "probe", "stop", TW_TRCTL_PROBE_STOP },
    { "run", NULL, TW_TRCTL_RUN },
    { "traced", NULL, TW_TRCTL_RUN },
};

static bool read_other(struct tw_trctl_step *step, const struct words *words)
{
    for (size_t i = 0; i < TW_LENGTH(other_lines); i++)
        if (is_word(words->word[0], other_lines[i].first) &&
            (!other_lines[i].second ||
             (words->count > 1 && is_word(words->word[1], other_lines[i].second)))) {
            *step = (struct tw_trctl_step){ .verb = other_lines[i].verb };
            return true;
        }
    return false;
}

enum tw_trctl_line tw_trctl_read_line(struct tw_trctl_checker *c, struct tw_trctl_step *step,
                                      const char *line, size_t size)
{
    struct words words;

    split(&words, line, size);
    if (words.count == 0)
        return TW_TRCTL_LINE_EMPTY;
    if (is_word(words.word[0], ".sequence"))
        return TW_TRCTL_LINE_NEW;
    if (is_word(words.word[0], "component"))
        return declare(c, &words) ? TW_TRCTL_LINE_PART : TW_TRCTL_LINE_WRONG;
    return read_other(step, &words) || read_access(c, step, &words) ? TW_TRCTL_LINE_STEP
                                                                    : TW_TRCTL_LINE_WRONG;
}

static void begin(struct tw_trctl_checker *c)
{
    c->count = 0;
    c->has_probe = false;
}

static void take_line(struct tw_trctl_checker *c, const char *line, size_t size)
{
    struct tw_trctl_step step;

    switch (tw_trctl_read_line(c, &step, line, size)) {
    case TW_TRCTL_LINE_STEP:
        c->out->steps++;
        tw_trctl_take(c, &step);
        break;
    case TW_TRCTL_LINE_NEW:
        tw_trctl_end(c);
        begin(c);
        break;
    case TW_TRCTL_LINE_WRONG:
        tw_trctl_find_broken(c, 0, TW_TRCTL_INPUT, "this line cannot be read");
        break;
    default:
        break;
    }
}

bool tw_trctl_is_sequence(const char *text, size_t size)
{
    for (size_t i = 0; i + 4 < size; i++) {
        const bool is_begin = i == 0 || !isalnum((unsigned char)text[i - 1]);
        size_t length = 0;
        uint16_t offset;

        if (!is_begin || text[i] != 't' || text[i + 1] != 'r')
            continue;
        while (i + length < size && isalnum((unsigned char)text[i + length]))
            length++;
        if (length > 4 && (tw_trctl_find(text + i, length, &offset) ||
                           tw_trctl_find_field(text + i, length, &offset)))
            return true;
        i += length ? length - 1 : 0;
    }
    return false;
}

void tw_trctl_check(struct tw_trctl_checking *checking, const char *text, size_t size)
{
    struct tw_trctl_checker c = { .out = checking };
    const char *const end = text + size;

    checking->lines = checking->steps = 0;
    begin(&c);
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));

        c.line++;
        checking->lines++;
        take_line(&c, text, (size_t)((stop ? stop : end) - text));
        text = stop ? stop + 1 : end;
    }
    tw_trctl_end(&c);
}
