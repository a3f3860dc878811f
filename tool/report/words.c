/* SPDX-License-Identifier: BSD-2-Clause */
/* See words.h. */
#include "report/words.h"

#include <string.h>

static void put_word(struct tw_text *text, const char *word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%";

    if (text->size)
        tw_text_char(text, ' ');
    if (*word && strspn(word, plain) == strlen(word)) {
        tw_text_add(text, word);
        return;
    }
    tw_text_char(text, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            tw_text_add(text, "'\\''");
        else
            tw_text_char(text, *word);
    }
    tw_text_char(text, '\'');
}

/* Options of the output, which change nothing of what is read; those of two words have a value. */
static bool is_ours(const struct options *options, const char *word, bool *has_value)
{
    static const uint8_t ours[] = { O_OUTPUT,         O_BUDGET,      O_EMBED_SOURCES,
                                    O_SOURCE_ROOT,    O_COLOR,       O_PROGRESS,
                                    O_QUIET,          O_VERBOSE,     O_SERVE_PORT,
                                    O_SERVE_PERFETTO, O_NO_DEMANGLE, O_DEMANGLE };
    const bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    const size_t size = strcspn(name, "=");
    const unsigned key = is_long ? options_find(options->command, name, size)
                                 : options_find_letter(options->command, *name);

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (key == ours[i]) {
            *has_value = option_rows[key].value && !option_rows[key].is_optional &&
                         (is_long ? !name[size] : !name[1]);
            return true;
        }
    return false;
}

static bool is_argument(const struct options *options, const char *word)
{
    for (size_t i = 0; i < options->arguments.count; i++)
        if (options->arguments.items[i] == word)
            return true;
    return false;
}

void report_words(struct tw_text *text, const struct options *options, size_t number)
{
    put_word(text, options->arguments.items[number]);
    for (char **word = options->words; *word; word++) {
        bool has_value = false;

        if (is_argument(options, *word) || strcmp(*word, "--") == 0)
            continue;
        if (**word == '-' && is_ours(options, *word, &has_value)) {
            if (has_value && word[1])
                word++;
            continue;
        }
        put_word(text, *word);
    }
}
