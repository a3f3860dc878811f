/* SPDX-License-Identifier: BSD-2-Clause */
/* Text logs: lines cut into words. */
#include "log/words.h"

enum tw_status tw_words_wrong(struct tw_log *log, const struct tw_log_word *word,
                              const char *what)
{
    const int size = word && word->size < 60 ? (int)word->size : word ? 60 : 0;

    return tw_fail(&log->fault, TW_E_CONFIG, "log, line %u: \"%.*s\" %s", log->line, size,
                   word ? word->at : "", what);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

bool tw_word_is(const struct tw_log_word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(word->at, text, word->size) == 0;
}

bool tw_words_take(struct tw_log *log, struct tw_words *line)
{
    while (log->in.at != log->in.end) {
        const char *at = (const char *)log->in.at, *end;
        const uint8_t *stop = memchr(log->in.at, '\n', tw_bytes_left(&log->in));

        end = stop ? (const char *)stop : (const char *)log->in.end;
        log->in.at = stop ? stop + 1 : log->in.end;
        log->line++;
        line->count = 0;
        while (at != end) {
            const char *begin;

            while (at != end && is_space(*at))
                at++;
            if (at == end || *at == '#')
                break;
            for (begin = at; at != end && !is_space(*at);)
                at++;
            if (line->count < TW_WORDS_MOST)
                line->words[line->count] = (struct tw_log_word){ begin, (size_t)(at - begin) };
            line->count++;
        }
        if (line->count)
            return true;
    }
    return false;
}

unsigned tw_word_digit(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a' + 10);
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 99;
}

bool tw_word_number(uint64_t *value, struct tw_log_word word)
{
    const char *at = word.at;
    size_t size = word.size;
    unsigned base = 10;

    if (size > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
        size -= 2;
    }
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned next = tw_word_digit(at[i]);

        if (next >= base || *value > (UINT64_MAX - next) / base)
            return false;
        *value = *value * base + next;
    }
    return size != 0;
}

bool tw_words_number(uint64_t *value, const struct tw_words *line, unsigned word)
{
    return word < line->count && tw_word_number(value, line->words[word]);
}

bool tw_word_keyed(struct tw_log_word *value, const struct tw_log_word *word, const char *key)
{
    const size_t size = strlen(key);

    if (word->size <= size || memcmp(word->at, key, size) != 0 || word->at[size] != '=')
        return false;
    *value = (struct tw_log_word){ word->at + size + 1, word->size - size - 1 };
    return true;
}

bool tw_word_keyed_number(uint64_t *value, const struct tw_log_word *word, const char *key)
{
    struct tw_log_word text;

    return tw_word_keyed(&text, word, key) && tw_word_number(value, text);
}

int tw_word_choice(const struct tw_log_word *word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (tw_word_is(word, names[i]))
            return i;
    return -1;
}
