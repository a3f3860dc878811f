/* SPDX-License-Identifier: BSD-2-Clause */
/* The INI reader. */
#include "capture/ini.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

/* Cuts blanks off both ends of [text, end), then one pair of quotes. */
static char *trim(char *text, char *end)
{
    while (text != end && is_blank(*text))
        text++;
    while (end != text && is_blank(end[-1]))
        end--;
    if (end - text >= 2 && (*text == '"' || *text == '\'') && end[-1] == *text) {
        text++;
        end--;
    }
    *end = 0;
    return text;
}

/* The end of what counts in a line: a comment begins the line or follows a blank. */
static char *before_comment(char *text, char *end)
{
    for (char *at = text; at != end; at++)
        if ((*at == ';' || *at == '#') && (at == text || is_blank(at[-1])))
            return at;
    return end;
}

static int fold(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 'a';
    return c == ' ' ? '_' : c;
}

/* Where the number of the first section of this name is.  NULL: it has none; with `make`, no memory. */
static uint64_t *section_place(const struct tw_ini *ini, const char *name, struct tw_map *make)
{
    uint64_t key = 0xcbf29ce484222325u, *place; /* FNV-1a */

    for (const char *at = name; *at; at++)
        key = (key ^ (uint8_t)fold(*at)) * 0x100000001b3u;
    for (;; key++) {
        place = make ? tw_map_put(make, key) : tw_map_find(&ini->section_by_name, key);
        if (!place || !*place || tw_name_equal(ini->sections[*place - 1].name, name))
            return place;
    }
}

static enum tw_status add_section(struct tw_ini *ini, char *name, unsigned line,
                                  struct tw_fault *fault)
{
    uint64_t *place;

    ini->section_by_name.allocator = ini->allocator;
    if (!TW_GROW(ini->allocator, &ini->sections, &ini->section_room, ini->section_count + 1) ||
        !(place = section_place(ini, name, &ini->section_by_name)))
        return tw_fail(fault, TW_E_MEMORY, "no memory for %s", ini->path);
    ini->sections[ini->section_count++] =
        (struct tw_ini_section){ name, line, ini->entry_count, 0 };
    if (!*place)
        *place = ini->section_count;
    return TW_OK;
}

static enum tw_status add_entry(struct tw_ini *ini, char *text, char *end, unsigned line,
                                struct tw_fault *fault)
{
    char *equals = memchr(text, '=', (size_t)(end - text));
    struct tw_ini_entry entry = { .line = line };

    if (!TW_GROW(ini->allocator, &ini->entries, &ini->entry_room, ini->entry_count + 1))
        return tw_fail(fault, TW_E_MEMORY, "no memory for %s", ini->path);
    if (equals)
        entry.value = trim(equals + 1, end);
    entry.key = trim(text, equals ? equals : end);
    ini->entries[ini->entry_count++] = entry;
    ini->sections[ini->section_count - 1].count++;
    return TW_OK;
}

/* One line: [text, end), where *end may be overwritten. */
static enum tw_status take_line(struct tw_ini *ini, char *text, char *end, unsigned line,
                                struct tw_fault *fault)
{
    char *close;

    if (memchr(text, 0, (size_t)(end - text)))
        return tw_fail(fault, TW_E_CONFIG, "%s:%u: not a text file", ini->path, line);
    while (text != end && is_blank(*text))
        text++;
    end = before_comment(text, end);
    if (text == end)
        return TW_OK;
    if (*text != '[')
        return add_entry(ini, text, end, line, fault);
    close = memchr(text, ']', (size_t)(end - text));
    if (!close)
        return tw_fail(fault, TW_E_CONFIG, "%s:%u: section name without ']'", ini->path, line);
    return add_section(ini, trim(text + 1, close), line, fault);
}

enum tw_status tw_ini_parse(struct tw_ini *ini, char *text, size_t size, struct tw_fault *fault)
{
    char *end = text + size;
    unsigned line = 1;

    *end = 0;
    TW_TRY(add_section(ini, end, 0, fault));
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* byte order mark */
    while (text != end) {
        char *stop = text, *next;

        while (stop != end && *stop != '\n' && *stop != '\r')
            stop++;
        next = stop;
        if (next != end)
            next += next[0] == '\r' && next + 1 != end && next[1] == '\n' ? 2 : 1;
        TW_TRY(take_line(ini, text, stop, line++, fault));
        text = next;
    }
    return TW_OK;
}

void tw_ini_free(struct tw_ini *ini)
{
    tw_give(ini->allocator, ini->entries);
    tw_give(ini->allocator, ini->sections);
    tw_map_free(&ini->section_by_name);
    ini->entries = NULL;
    ini->sections = NULL;
}

size_t tw_ini_section(const struct tw_ini *ini, const char *name, size_t from)
{
    const uint64_t *first;

    if (!from) {
        first = section_place(ini, name, NULL);
        return first && *first ? (size_t)(*first - 1) : ini->section_count;
    }
    while (from < ini->section_count && !tw_name_equal(ini->sections[from].name, name))
        from++;
    return from;
}

const struct tw_ini_entry *tw_ini_key(const struct tw_ini *ini, size_t section, const char *key)
{
    const struct tw_ini_section *in = &ini->sections[section];

    for (size_t i = in->first; i < in->first + in->count; i++)
        if (ini->entries[i].value && tw_name_equal(ini->entries[i].key, key))
            return &ini->entries[i];
    return NULL;
}

enum tw_status tw_ini_check(const struct tw_ini *ini, size_t section, struct tw_fault *fault)
{
    const struct tw_ini_section *in = &ini->sections[section];

    for (size_t i = in->first; i < in->first + in->count; i++) {
        const struct tw_ini_entry *entry = &ini->entries[i];

        if (!entry->value || !*entry->key)
            return tw_fail(fault, TW_E_CONFIG, "%s:%u: [%s] want key=value, not \"%.60s\"",
                           ini->path, entry->line, in->name, entry->key);
    }
    return TW_OK;
}

bool tw_name_begins(const char *name, const char *start)
{
    while (*start)
        if (fold(*name++) != fold(*start++))
            return false;
    return true;
}

bool tw_name_equal(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && tw_name_begins(a, b);
}

char *tw_list_next(char **list)
{
    while (**list) {
        char *item = *list;
        char *end = item + strcspn(item, ",");

        *list = *end ? end + 1 : end;
        item = trim(item, end);
        if (*item)
            return item;
    }
    return NULL;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)fold(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tw_number_parse(uint64_t *value, const char *text, bool wide)
{
    const bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const unsigned base = is_hex ? 16 : 10;
    uint64_t sum = 0;

    *value = 0;
    if (is_hex)
        text += 2;
    if (!*text)
        return false;
    for (; *text; text++) {
        const int digit = digit_value(*text);

        if (digit < 0 || (unsigned)digit >= base)
            return false;
        if (sum > (UINT64_MAX - (unsigned)digit) / base && !(wide && is_hex))
            return false;
        sum = sum * base + (unsigned)digit;
    }
    *value = sum;
    return true;
}
