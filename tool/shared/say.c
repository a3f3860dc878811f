/* SPDX-License-Identifier: BSD-2-Clause */
/* The one form of messages. */
#include <stdlib.h>

#include "base/escape.h"
#include "shared/output.h"

/* Messages hold names from captures: what a terminal would obey is shown, not sent. */
static void say_as(const char *head, const char *format, va_list arguments)
{
    enum { SHORT = 400 }; /* what memory need not be there for */
    char small[SHORT], escaped[TW_ESCAPE_TEXT_MOST * SHORT + 1], *text = small, *shown = NULL;
    va_list again;
    int size;

    va_copy(again, arguments);
    size = vsnprintf(small, sizeof small, format, arguments);
    if (size >= (int)sizeof small && (text = malloc((size_t)size + 1)) != NULL)
        (void)vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    if (size >= 0 && size < (int)sizeof small)
        shown = escaped;
    else if (size >= 0 && text)
        shown = malloc(TW_ESCAPE_TEXT_MOST * (size_t)size + 1);
    fputs(head, stderr);
    if (shown)
        (void)fwrite(shown, 1, tw_escape_text(shown, text, (size_t)size), stderr);
    else
        fputs("out of memory", stderr);
    fputc('\n', stderr);
    if (text != small)
        free(text);
    if (shown != escaped)
        free(shown);
}

void say_list(const char *format, va_list arguments)
{
    say_as("trackway: ", format, arguments);
}

void say_plain(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_as("", format, arguments);
    va_end(arguments);
}

void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say_list(format, arguments);
    va_end(arguments);
}
