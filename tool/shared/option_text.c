/* SPDX-License-Identifier: BSD-2-Clause */
/* Cutting the values of options. */
#include "shared/option_text.h"

#include <ctype.h>
#include <string.h>

#include "shared/options.h"

char *text_trim(char *text)
{
    size_t size;

    while (isspace((unsigned char)*text))
        text++;
    size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1]))
        text[--size] = 0;
    return text;
}

char *text_comma(char *text)
{
    unsigned depth = 0;

    for (; *text; text++) {
        if (*text == '(')
            depth++;
        else if (*text == ')' && depth)
            depth--;
        else if (*text == ',' && !depth) {
            *text = 0;
            return text + 1;
        }
    }
    return NULL;
}

int text_key(char *part, char **value, const char *const *keys)
{
    for (int i = 0; keys[i]; i++) {
        const size_t size = strlen(keys[i]);

        if (strncmp(part, keys[i], size) == 0 && part[size] == '=') {
            *value = part + size + 1;
            return i;
        }
    }
    return -1;
}

char *text_cut(char *text, const char *const *keys)
{
    char *value;

    for (char *comma = strchr(text, ','); comma; comma = strchr(comma + 1, ',')) {
        if (text_key(comma + 1, &value, keys) >= 0) {
            *comma = 0;
            return comma + 1;
        }
    }
    return NULL;
}

bool text_register_detail(struct tw_register_detail *detail, char *text)
{
    char *close = strchr(text, ')');

    if (!close || close[1])
        return false;
    *close = 0;
    while (text) {
        char *next = text_comma(text);
        char *colon = strchr(text, ':');
        const bool is_size = colon && strncmp(text_trim(text), "size:", 5) == 0;
        const bool is_id = !colon || strncmp(text_trim(text), "id:", 3) == 0;
        uint64_t value;

        if ((!is_size && !is_id) || !parse_number(&value, text_trim(colon ? colon + 1 : text)))
            return false;
        if (is_size && value <= 64)
            detail->bits = (uint32_t)value;
        else if (is_id && value < TW_NONE)
            detail->id = (uint32_t)value;
        else
            return false;
        text = next;
    }
    return true;
}
