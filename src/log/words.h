/* SPDX-License-Identifier: BSD-2-Clause */
/* Text logs: lines cut into words, and what stands in them. */
#ifndef LOG_WORDS_H
#define LOG_WORDS_H

#include "log/log.h"

enum { TW_WORDS_MOST = 8 };

/* A line cut into words, which end with no zero. */
struct tw_log_word {
    const char *at;
    size_t size;
};

struct tw_words {
    struct tw_log_word words[TW_WORDS_MOST];
    unsigned count; /* more than TW_WORDS_MOST: it has too many */
};

/* TW_E_CONFIG: "line N: "WORD" what". */
enum tw_status tw_words_wrong(struct tw_log *log, const struct tw_log_word *word,
                              const char *what);
/* The next line that says something; false: there is none. */
bool tw_words_take(struct tw_log *log, struct tw_words *line);
bool tw_word_is(const struct tw_log_word *word, const char *text);
/* The value of a hexadecimal digit; 99: it is none. */
unsigned tw_word_digit(char c);
/* Decimal, or hexadecimal after 0x. */
bool tw_word_number(uint64_t *value, struct tw_log_word word);
/* The number that stands at this place. */
bool tw_words_number(uint64_t *value, const struct tw_words *line, unsigned place);
/* The value of "key=value". */
bool tw_word_keyed(struct tw_log_word *value, const struct tw_log_word *word, const char *key);
bool tw_word_keyed_number(uint64_t *value, const struct tw_log_word *word, const char *key);
/* One of a list of names, NULL at its end; its place in the list, or -1. */
int tw_word_choice(const struct tw_log_word *word, const char *const *names);

/* text_sw.c: what software trace shows. */
enum tw_status tw_textlog_stimulus(struct tw_log *log, struct tw_step *step,
                                   const struct tw_words *line);
enum tw_status tw_textlog_watch(struct tw_log *log, struct tw_step *step,
                                const struct tw_words *line);

#endif
