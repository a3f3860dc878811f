/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared/complete.h"

#include <string.h>

#include <trackway/trackway.h>

/* The word that is being typed, and what stands before what is offered for it. */
struct typing {
    struct output *out;
    const char *word;
    const char *lead; /* the part of the word that stays: "--check=", "opcodes," */
    size_t lead_size;
};

/* One candidate, if the word may become it; of its explanation, the first line. */
static void offer(const struct typing *typing, const char *name, size_t size, const char *why)
{
    const size_t typed = strlen(typing->word);

    if (typed > size || memcmp(name, typing->word, typed) != 0)
        return;
    output_format(typing->out, "%.*s%.*s", (int)typing->lead_size, typing->lead, (int)size,
                  name);
    if (why)
        output_format(typing->out, "\t%.*s", (int)strcspn(why, "\n"), why);
    output_text(typing->out, "\n");
}

/* Each of "a|b|c". */
static void offer_choices(const struct typing *typing, const char *choices)
{
    while (*choices) {
        const size_t size = strcspn(choices, "|");

        offer(typing, choices, size, NULL);
        choices += size + (choices[size] == '|');
    }
}

static void offer_commands(const struct typing *typing, const struct command *const *commands,
                           size_t count)
{
    for (size_t i = 0; i < count; i++)
        offer(typing, commands[i]->name, strlen(commands[i]->name), commands[i]->summary);
}

static void offer_options(const struct typing *typing, const struct command *command)
{
    for (unsigned key = 1; key < OPTION_COUNT; key++) {
        const struct option_row *row = &option_rows[key];
        char name[48];
        const int size = snprintf(name, sizeof name, "--%s", row->name);

        if (!options_takes(command, key))
            continue;
        if (row->letter)
            offer(typing, (const char[]){ '-', row->letter, 0 }, 2, row->help);
        offer(typing, name, (size_t)size, row->help ? row->help : "what the output looks like");
    }
}

static void offer_values(const struct typing *typing, const struct command *command,
                         unsigned key)
{
    const struct option_row *row = &option_rows[key];

    if (key == O_FORMAT) {
        offer_choices(typing, options_formats(command));
    } else if (key == O_PROTOCOL) {
        for (size_t i = 0; tw_protocol_name(i); i++)
            offer(typing, tw_protocol_name(i), strlen(tw_protocol_name(i)), NULL);
    } else if (row->choices) {
        offer_choices(typing, row->choices);
    } else if (strstr(row->value, "DIR") || strstr(row->value, "FOLDER")) {
        output_text(typing->out, ":folders\n");
    } else if (strstr(row->value, "FILE") || strstr(row->value, "CAPTURE")) {
        output_text(typing->out, ":files\n");
    }
}

/* The option in "--name" or "-o" that wants its value; OPTION_COUNT: none is there, or it has it. */
static unsigned option_in(const struct command *command, const char *word, size_t size)
{
    unsigned key = OPTION_COUNT;

    if (size > 2 && word[0] == '-' && word[1] == '-')
        key = options_find(command, word + 2, size - 2);
    else if (size == 2 && word[0] == '-')
        key = options_find_letter(command, word[1]);
    return key < OPTION_COUNT && option_rows[key].value ? key : OPTION_COUNT;
}

/* How many of the words before the last are no options and no values of them. */
static size_t count_arguments(const struct command *command, char **words, size_t last)
{
    size_t count = 0;

    for (size_t i = 0; i < last; i++) {
        const unsigned key = option_in(command, words[i], strlen(words[i]));

        if (key < OPTION_COUNT && !option_rows[key].is_optional)
            i++;
        else if (words[i][0] != '-')
            count++;
    }
    return count;
}

/* "build|show|find CAPTURE": words that a command wants as they are. */
static void offer_argument(const struct typing *typing, const struct command *command,
                           size_t before)
{
    const size_t size = strcspn(command->arguments, " ");
    char words[64];

    if (before > 0 || command->arguments[0] < 'a' || command->arguments[0] > 'z' ||
        size >= sizeof words) {
        output_text(typing->out, ":files\n");
        return;
    }
    (void)snprintf(words, sizeof words, "%.*s", (int)size, command->arguments);
    offer_choices(typing, words);
}

/* `words` are those behind the command. */
static void complete_command(struct typing typing, const struct command *command, char **words,
                             size_t last)
{
    const char *word = words[last];
    const char *equals = word[0] == '-' ? strchr(word, '=') : NULL;
    const char *name = equals ? word : last ? words[last - 1] : "";
    const unsigned key =
        option_in(command, name, equals ? (size_t)(equals - word) : strlen(name));
    const bool is_needed = key < OPTION_COUNT && !option_rows[key].is_optional;

    if (equals) {
        typing.lead = word;
        typing.lead_size = (size_t)(equals + 1 - word);
        typing.word = equals + 1;
    }
    if (key < OPTION_COUNT && (equals || word[0] != '-'))
        offer_values(&typing, command, key);
    if (equals || is_needed)
        return;
    if (word[0] == '-')
        offer_options(&typing, command);
    else
        offer_argument(&typing, command, count_arguments(command, words, last));
}

void complete(struct output *out, const struct command *const *commands, size_t count,
              char **words)
{
    struct typing typing = { .out = out, .word = "", .lead = "" };
    static const char help[] = "help";
    size_t last = 0, i = 0;

    if (!words[0])
        return;
    while (words[last + 1])
        last++;
    typing.word = words[last];
    while (i < count && last > 0 && strcmp(commands[i]->name, words[0]) != 0)
        i++;
    if (last == 0 || (last == 1 && strcmp(words[0], help) == 0))
        offer_commands(&typing, commands, count);
    if (last == 0)
        offer_choices(&typing, "help|--help|--version");
    else if (i < count)
        complete_command(typing, commands[i], words + 1, last - 1);
}
