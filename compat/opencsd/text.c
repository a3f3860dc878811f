/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that is put together piece by piece. */
#include "opencsd/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void oc_text_start(struct oc_text *text)
{
    text->length = 0;
    text->text[0] = 0;
}

void oc_text_add(struct oc_text *text, const char *format, ...)
{
    const size_t room = sizeof text->text - text->length;
    va_list arguments;
    int added;

    va_start(arguments, format);
    added = vsnprintf(text->text + text->length, room, format, arguments);
    va_end(arguments);
    if (added > 0)
        text->length += (size_t)added < room ? (size_t)added : room - 1;
}

void oc_text_copy(const struct oc_text *text, char *out, int size)
{
    size_t length = text->length;

    if (size < 1)
        return;
    if (length > (size_t)size - 1)
        length = (size_t)size - 1;
    memcpy(out, text->text, length);
    memset(out + length, 0, (size_t)size - length); /* as strncpy does */
}

void oc_text_value(struct oc_text *text, unsigned total, unsigned valid, uint64_t value,
                   unsigned updated)
{
    const unsigned digits = (total + 3) / 4, known = (valid + 3) / 4;

    oc_text_add(text, "0x");
    for (unsigned i = known; i < digits; i++)
        oc_text_add(text, "?");
    if (valid > 32)
        oc_text_add(text, "%0*" PRIX64, (int)known, value);
    else
        oc_text_add(text, "%0*" PRIX32, (int)known, (uint32_t)value);
    if (valid < total)
        oc_text_add(text, " (%d:0)", (int)valid - 1);
    if (updated)
        oc_text_add(text, " ~[0x%" PRIX64 "]", value & (~UINT64_C(0) >> (64 - updated)));
}
