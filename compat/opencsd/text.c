/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that is put together piece by piece. */
#include "opencsd/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "opencsd/settings.h"

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
    if (updated) /* who prints a packet of another protocol may have any number here */
        oc_text_add(text, " ~[0x%" PRIX64 "]",
                    updated < 64 ? value & (((uint64_t)1 << updated) - 1) : value);
}

void oc_text_spaces(struct oc_text *text, unsigned spaces)
{
    static const struct {
        unsigned spaces;
        const char *name, *later; /* 1.7.1; where `name` is NULL, 1.3.3 has none */
    } known[] = { { 0x01, "EL1S", "EL1S" },   { 0x02, "EL1N", "EL1N" },
                  { 0x04, "EL2", "EL2N" },    { 0x08, "EL3", "EL3" },
                  { 0x10, NULL, "EL2S" },     { 0x20, NULL, "EL1R" },
                  { 0x40, NULL, "EL2R" },     { 0x80, NULL, "Root" },
                  { 0x19, "Any S", "Any S" }, { 0x06, "Any NS", "Any NS" },
                  { 0x60, NULL, "Any R" },    { 0xff, "Any", "Any" } };
    const bool is_1_7 = oc_settings()->is_1_7;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].spaces == spaces && (is_1_7 || known[i].name)) {
            oc_text_add(text, "%s", is_1_7 ? known[i].later : known[i].name);
            return;
        }
    for (unsigned i = 0; i < 8; i++)
        if (spaces >> i & 1 && (is_1_7 || known[i].name))
            oc_text_add(text, "%s,", is_1_7 ? known[i].later : known[i].name);
}
