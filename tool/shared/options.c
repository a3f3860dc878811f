/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads a command's words by the table of options, and prints its help from the same table. */
#include "shared/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/distance.h"

bool options_wrong(const struct options *options, const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say("%s: %s", options->command->name, text);
    return false;
}

bool list_add(struct list *list, const char *item)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof *items);

    if (!items)
        out_of_memory();
    list->items = items;
    items[list->count++] = item;
    return true;
}

/* 16: no digit. */
static unsigned digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

    return at ? (unsigned)(at - digits) : 16;
}

bool parse_number_size(uint64_t *value, const char *text, size_t size)
{
    static const char units[] = { 'k', 'M', 'G' };
    const bool is_hex = size > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = is_hex ? 16 : 10;
    const char *unit = size > 1 && !is_hex ? memchr(units, text[size - 1], sizeof units) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t result = 0;

    if (size == 0)
        return false;
    for (size_t at = is_hex ? 2 : 0; at < size - (unit != NULL); at++) {
        const unsigned digit = digit_of(text[at]);

        if (digit >= base || result > (UINT64_MAX - digit) / base)
            return false;
        result = result * base + digit;
    }
    if (result > UINT64_MAX >> shift)
        return false;
    *value = result << shift;
    return true;
}

bool parse_number(uint64_t *value, const char *text)
{
    return parse_number_size(value, text, strlen(text));
}

bool is_choice(const char *choices, const char *word, size_t size)
{
    while (*choices) {
        const size_t length = strcspn(choices, "|");

        if (length == size && memcmp(choices, word, size) == 0)
            return true;
        choices += length + (choices[length] == '|');
    }
    return false;
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;

    for (size_t i = 0; i < count; i++) {
        const size_t far = tw_name_distance(word, names[i]);

        if (far < least) {
            least = far;
            best = names[i];
        }
    }
    return best;
}

const char *options_formats(const struct command *command)
{
    return command->formats_of ? command->formats_of() : command->formats;
}

static bool is_listed(const uint8_t *list, unsigned key)
{
    while (*list != O_END && *list != key)
        list++;
    return *list != O_END;
}

bool options_takes(const struct command *command, unsigned key)
{
    if (key == O_HELP)
        return true;
    if (key == O_FORMAT)
        return options_formats(command) != NULL;
    for (const uint8_t *at = command->options; *at != O_END; at++)
        if (*at == key ||
            (*at >= OPTION_COUNT && is_listed(option_groups[*at - OPTION_COUNT], key)))
            return true;
    return false;
}

unsigned options_find(const struct command *command, const char *name, size_t size)
{
    unsigned key = 1;

    while (key < OPTION_COUNT &&
           !(strncmp(option_rows[key].name, name, size) == 0 &&
             option_rows[key].name[size] == 0 && options_takes(command, key)))
        key++;
    return key;
}

unsigned options_find_letter(const struct command *command, char letter)
{
    unsigned key = 1;

    while (key < OPTION_COUNT &&
           !(option_rows[key].letter == letter && options_takes(command, key)))
        key++;
    return key;
}

static bool unknown_option(const struct options *options, const char *word)
{
    const char *names[OPTION_COUNT];
    const size_t size = strcspn(word, "=");
    const char *nearest;
    char name[40];
    size_t count = 0;

    for (unsigned key = 1; key < OPTION_COUNT; key++)
        if (options_takes(options->command, key))
            names[count++] = option_rows[key].name;
    (void)snprintf(name, sizeof name, "%.*s", (int)size, word);
    nearest = word[0] ? nearest_name(name, names, count) : NULL;
    if (nearest)
        return options_wrong(options, "no option --%s; did you mean --%s?", name, nearest);
    return options_wrong(options, "no option --%s; \"trackway %s --help\" lists them", name,
                         options->command->name);
}

static bool set_format(struct options *options, const char *value)
{
    const char *formats = options_formats(options->command);

    if (is_choice(formats, value, strlen(value))) {
        options->format = value;
        return true;
    }
    return options_wrong(options, "--format: there is no \"%s\"; there is %s", value, formats);
}

static bool set_text(struct options *options, const struct option_row *row, const char *value)
{
    if (row == &option_rows[O_FORMAT])
        return set_format(options, value);
    if (row->choices && !is_choice(row->choices, value, strlen(value)))
        return options_wrong(options, "--%s: there is no \"%s\"; there is %s", row->name, value,
                             row->choices);
    *(const char **)((char *)options + row->offset) = value;
    return true;
}

static bool set_value(struct options *options, const struct option_row *row, const char *value)
{
    void *place = (char *)options + row->offset;
    struct number *number = place;

    if (row->kind == KIND_OTHER)
        return row->set(options, value);
    if (!value)
        value = ""; /* a flag has none; the rest was seen to have one */
    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)place = true;
        return true;
    case KIND_COUNT:
        ++*(unsigned *)place;
        return true;
    case KIND_LIST:
        return list_add(place, value);
    case KIND_NUMBER:
        number->is_given = parse_number(&number->value, value);
        if (!number->is_given)
            return options_wrong(options, "--%s: \"%s\" is no number; write 4096, 0x1000 or 4k",
                                 row->name, value);
        return true;
    default:
        return set_text(options, row, value);
    }
}

/* An optional value may be the next word, if it can be nothing else. */
static bool is_value_list(const char *choices, const char *word)
{
    if (!word || !*word)
        return false;
    for (;; word++) {
        const size_t size = strcspn(word, ",");

        if (!is_choice(choices, word, size))
            return false;
        word += size;
        if (!*word)
            return true;
    }
}

/* `value` is what follows the option in the same word, or NULL; *words is the next word. */
static bool take_option(struct options *options, const struct option_row *row,
                        const char *value, char ***words)
{
    if (!row->value) {
        if (value)
            return options_wrong(options, "--%s takes no value", row->name);
    } else if (!value && row->is_optional) {
        if (is_value_list(row->choices, **words))
            value = *(*words)++;
    } else if (!value && **words) {
        value = *(*words)++;
    } else if (!value) {
        return options_wrong(options, "--%s wants a value: --%s %s", row->name, row->name,
                             row->value);
    }
    return set_value(options, row, value);
}

static bool take_long(struct options *options, const char *word, char ***words)
{
    const size_t size = strcspn(word, "=");
    const unsigned key = options_find(options->command, word, size);

    if (key == OPTION_COUNT)
        return unknown_option(options, word);
    return take_option(options, &option_rows[key], word[size] ? word + size + 1 : NULL, words);
}

/* "-v", "-qv", "-oFILE", "-o FILE" */
static bool take_letters(struct options *options, const char *letters, char ***words)
{
    for (; *letters; letters++) {
        const unsigned key = options_find_letter(options->command, *letters);
        const struct option_row *row = &option_rows[key];

        if (key == OPTION_COUNT)
            return options_wrong(options, "no option -%c; \"trackway %s --help\" lists them",
                                 *letters, options->command->name);
        if (row->value)
            return take_option(options, row, letters[1] ? letters + 1 : NULL, words);
        if (!take_option(options, row, NULL, words))
            return false;
    }
    return true;
}

static bool check_counts(const struct options *options)
{
    const struct command *command = options->command;

    if (options->arguments.count < command->least)
        return options_wrong(options, "usage: trackway %s %s", command->name,
                             command->arguments);
    if (options->arguments.count > command->most)
        return options_wrong(options, "one argument too many: \"%s\"; usage: trackway %s %s",
                             options->arguments.items[command->most], command->name,
                             command->arguments);
    return true;
}

bool options_parse(struct options *options, const struct command *command, char **words)
{
    bool is_ended = false;

    *options = (struct options){ .command = command, .words = words };
    while (*words) {
        const char *word = *words++;
        bool is_good;

        if (is_ended || word[0] != '-' || !word[1]) {
            is_good = list_add(&options->arguments, word);
            is_ended |= command->is_program_last;
        } else if (strcmp(word, "--") == 0)
            is_good = is_ended = true;
        else if (word[1] == '-')
            is_good = take_long(options, word + 2, &words);
        else
            is_good = take_letters(options, word + 1, &words);
        if (!is_good)
            return false;
    }
    if (!options->format)
        options->format = options_formats(command); /* its first word counts */
    return options->help || check_counts(options);
}

bool options_format_is(const struct options *options, const char *name)
{
    return is_choice(name, options->format, strcspn(options->format, "|"));
}

static void list_free(struct list *list)
{
    free((void *)list->items);
    *list = (struct list){ 0 };
}

void options_free(struct options *options)
{
    list_free(&options->arguments);
    list_free(&options->source_names);
    list_free(&options->sources);
    list_free(&options->markers);
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (option_rows[i].kind == KIND_LIST)
            list_free((struct list *)(void *)((char *)options + option_rows[i].offset));
    free(options->srcs.items);
    free(options->cpus.items);
    free(options->pids.items);
    free(options->tids.items);
}

bool options_want_offsets(const struct options *options)
{
    if (options->from.kind == BOUND_OFFSET && options->to.kind == BOUND_OFFSET)
        return true;
    return options_wrong(options, "--from and --to want offsets in the capture here");
}

enum { HELP_WIDTH = 80 };

/* Up to the next place where a line may break. */
static size_t word_of(const char *text, const char *end)
{
    const char *at = text;

    while (at < end && *at != ' ' && *at != '\n' && (at == text || at[-1] != '|'))
        at++;
    return (size_t)(at - text);
}

/* A paragraph of help from this column on, filled to the width, indented so much from its second line on.
   Where it is broken in its table says nothing. */
static void help_fill(struct output *out, const char *text, size_t size, size_t indent)
{
    const char *const end = text + size;
    size_t column = indent;
    bool is_first = true;

    while (text < end) {
        const size_t word = word_of(text, end);
        const size_t blank = !is_first && text[-1] != '|';

        if (column + blank + word > HELP_WIDTH && !is_first) {
            output_format(out, "\n%*s", (int)indent, "");
            column = indent;
            is_first = true;
            continue;
        }
        output_format(out, "%s%.*s", blank ? " " : "", (int)word, text);
        column += blank + word;
        is_first = false;
        text += word;
        while (text < end && (*text == ' ' || *text == '\n'))
            text++;
    }
    output_text(out, "\n");
}

static void help_option(struct output *out, const struct command *command, unsigned key)
{
    enum { COLUMN = 28 };
    const struct option_row *row = &option_rows[key];
    const char *help = row->help;
    char head[80], formats[200];
    int width = snprintf(head, sizeof head, "  %c%c%c --%s%s%s%s", row->letter ? '-' : ' ',
                         row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
                         row->is_optional ? "[="
                         : row->value     ? " "
                                          : "",
                         row->value ? row->value : "", row->is_optional ? "]" : "");

    if (key == O_FORMAT) {
        help = options_formats(command);
        (void)snprintf(formats, sizeof formats, "%s (default: %.*s)", help,
                       (int)strcspn(help, "|"), help);
        help = formats;
    } else if (key == O_FRAMING && row->choices) {
        output_format(out, "%s\n%*s%s\n", head, COLUMN, "", row->choices);
        width = COLUMN - 1;
        head[0] = 0;
    }
    if (head[0])
        output_text(out, head);
    if (head[0] && width >= COLUMN - 1)
        output_text(out, "\n");
    output_format(out, "%*s", head[0] && width < COLUMN - 1 ? COLUMN - width : COLUMN, "");
    help_fill(out, help, strlen(help), COLUMN);
}

/* Up to the end of a paragraph: of lines that begin at the margin, but for those before an example. */
static size_t paragraph_of(const char *text)
{
    size_t size = strcspn(text, "\n");

    while (text[0] != ' ' && text[size] == '\n' && size && text[size - 1] != ':' &&
           text[size + 1] && text[size + 1] != ' ' && text[size + 1] != '\n' &&
           strncmp(text + size + 1, "examples:", 9) != 0)
        size += 1 + strcspn(text + size + 1, "\n");
    return size;
}

/* Paragraphs, with a blank line before each, and examples as they stand. */
static void help_details(struct output *out, const char *text)
{
    while (*text) {
        const size_t size = paragraph_of(text);

        if (text[0] == ' ') { /* its blanks are columns */
            output_format(out, "%.*s\n", (int)size, text);
        } else if (size) {
            output_text(out, "\n");
            help_fill(out, text, size, 0);
        }
        text += size + (text[size] == '\n');
    }
}

void options_help(struct output *out, const struct command *command)
{
    output_format(out, "usage: trackway %s ", command->name);
    output_text(out, command->arguments);
    output_format(out, "\n\n%s\n", command->summary);
    if (command->details)
        help_details(out, command->details);
    output_text(out, "\nOptions:\n");
    for (unsigned key = 1; key < OPTION_COUNT; key++)
        if (options_takes(command, key))
            help_option(out, command, key);
}
