/* SPDX-License-Identifier: BSD-2-Clause */
/* What --config and --unit hold. */
#include "shared/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shared/option_text.h"
#include "shared/output.h"

enum { LINE_MOST = 512 };

static bool add_setting(struct settings *settings, const char *command, char *text,
                        const char *where)
{
    char *equals = strchr(text, '=');

    if (!equals) {
        say("%s: %s\"%s\" is not NAME=VALUE", command, where, text);
        return false;
    }
    if (settings->count == SETTINGS_MOST) {
        say("%s: %sthere are too many settings", command, where);
        return false;
    }
    *equals = 0;
    settings->items[settings->count++] =
        (struct setting){ text_trim(text), text_trim(equals + 1), where };
    return true;
}

static bool add_line(struct settings *settings, struct arena *arena, const char *command,
                     const char *text, const char *where)
{
    char *own = arena_copy(arena, text), *own_where = arena_copy(arena, where);

    return own && own_where && add_setting(settings, command, own, own_where);
}

static bool read_file(struct settings *settings, struct arena *arena, const char *command,
                      const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE_MOST], where[LINE_MOST + 32];
    unsigned number = 0;
    bool is_good = true;

    if (!file) {
        say("%s: cannot read %s: %s", command, path, strerror(errno));
        return false;
    }
    while (is_good && fgets(line, sizeof line, file)) {
        const bool is_whole = strchr(line, '\n') || feof(file);
        const char *text = text_trim(line);

        (void)snprintf(where, sizeof where, "%.*s, line %u: ", LINE_MOST, path, ++number);
        if (!is_whole) {
            say("%s: %sit is too long, or no text", command, where);
            is_good = false;
        } else if (*text && !strchr("#;[", *text))
            is_good = add_line(settings, arena, command, text, where);
    }
    if (is_good && ferror(file)) {
        say("%s: cannot read %s: %s", command, path, strerror(errno));
        is_good = false;
    }
    (void)fclose(file);
    return is_good;
}

bool settings_read(struct settings *settings, struct arena *arena, const char *command,
                   const char *given)
{
    char *at;

    if (!given)
        return true;
    settings->items = arena_room(arena, SETTINGS_MOST * sizeof *settings->items);
    if (!settings->items)
        return false;
    if (!strchr(given, '='))
        return read_file(settings, arena, command, given);
    for (at = arena_copy(arena, given); at;) {
        char *next = text_comma(at);

        if (!add_setting(settings, command, at, ""))
            return false;
        at = next;
    }
    return true;
}
