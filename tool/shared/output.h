/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a command's output goes: a file that appears only when whole, or standard output. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__clang__)
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__)
#define PRINTF_LIKE(text, first) __attribute__((format(gnu_printf, text, first)))
#else
#define PRINTF_LIKE(text, first)
#endif

/* How the program ends. */
enum {
    DONE = 0,
    DONE_WITH_LOSS = 1, /* ... but the trace held damage */
    BAD_USAGE = 2,
    NOT_DONE = 3
};

enum color_wish { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Writes go to a buffer that is emptied when full.  A reader that went away (a closed pipe) makes
   is_closed true: there is no more to do, and that is no error. */
struct output {
    FILE *file; /* NULL: it stays in the buffer, which grows */
    char *buffer;
    size_t used, room;
    char *path;      /* where it is to stand in the end; NULL: standard output */
    char *temporary; /* where it is written until then; NULL: written in place */
    bool is_closed;
    bool has_failed; /* said already */
    bool has_color;
};

/* path NULL or "-": standard output.  False: said why. */
bool output_open(struct output *out, const char *path, enum color_wish wish);
/* What is written stays in the buffer; the caller frees that.  Colors are as in `like`. */
void output_in_memory(struct output *out, const struct output *like);
/* Writes the rest; puts the file in its place, or removes it when `keep` is false.  False: what
   was written is not whole; said why. */
bool output_close(struct output *out, bool keep);
/* What was written so far is to be seen now. */
void output_flush(struct output *out);
/* True when writing on makes no sense. */
bool output_is_over(const struct output *out);

/* Room for `size` characters to write directly; output_took says how many were used. */
char *output_more_room(struct output *out, size_t size);
static inline char *output_room(struct output *out, size_t size)
{
    return out->room - out->used >= size ? out->buffer + out->used
                                         : output_more_room(out, size);
}
static inline void output_took(struct output *out, size_t size)
{
    out->used += size;
}

void output_bytes(struct output *out, const void *bytes, size_t size);
void output_text(struct output *out, const char *text);
/* As printf, but texts (%s) are escaped as output_name does it. */
void output_format(struct output *out, const char *format, ...) PRINTF_LIKE(2, 3);
void output_decimal(struct output *out, uint64_t value);
/* A number as 0x and as few digits as it has. */
void output_address(struct output *out, uint64_t value);
void output_hex(struct output *out, const uint8_t *bytes, size_t size);
/* A name from a capture, for people: control characters, which a terminal would obey, as \x1b. */
void output_name(struct output *out, const char *text);
/* A JSON string with its quotes. */
void output_json_text(struct output *out, const char *text);

enum color { PLAIN, BOLD, RED, YELLOW, DIM, GREEN, CYAN };
/* Nothing unless the output has colour. */
void output_color(struct output *out, enum color color);

/* say.c: "trackway: ..." on standard error, one line. */
void say(const char *format, ...) PRINTF_LIKE(1, 2);
void say_list(const char *format, va_list arguments);
/* Says so, and ends the program. */
_Noreturn void out_of_memory(void);
/* As say, without the name in front. */
void say_plain(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
