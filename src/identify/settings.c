/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of a protocol while they are searched for. */
#include <inttypes.h>
#include <string.h>

#include "identify/identify.h"

const struct tw_setting *tw_settings_find(const struct tw_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0)
            return &settings->items[i];
    return NULL;
}

static struct tw_setting *setting(struct tw_settings *settings, const char *name)
{
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0)
            return &settings->items[i];
    if (settings->count == TW_SETTINGS_MOST)
        return &settings->items[TW_SETTINGS_MOST - 1];
    settings->items[settings->count] = (struct tw_setting){ name, 0, NULL };
    return &settings->items[settings->count++];
}

void tw_settings_put(struct tw_settings *settings, const char *name, uint64_t value)
{
    setting(settings, name)->value = value;
}

void tw_settings_put_word(struct tw_settings *settings, const char *name, const char *word)
{
    setting(settings, name)->word = word;
}

void tw_settings_put_item(struct tw_settings *settings, const struct tw_setting *item)
{
    struct tw_setting *own = setting(settings, item->name);

    own->value = item->value;
    own->word = item->word;
}

void tw_settings_set(struct tw_settings *settings, const struct tw_dial *dial, unsigned choice)
{
    struct tw_setting *item = setting(settings, dial->name);

    item->word = dial->words[choice];
    if (dial->mask)
        item->value = (item->value & ~dial->mask) | dial->values[choice];
    else
        item->value = dial->values[choice];
}

bool tw_settings_is(const struct tw_settings *settings, const struct tw_dial *dial,
                    unsigned choice)
{
    const struct tw_setting *item = tw_settings_find(settings, dial->name);

    return item && item->word == dial->words[choice] &&
           (item->value & (dial->mask ? dial->mask : UINT64_MAX)) == dial->values[choice];
}

void tw_settings_print(struct tw_text *out, const struct tw_settings *settings,
                       const char *separator)
{
    for (size_t i = 0; i < settings->count; i++) {
        const struct tw_setting *item = &settings->items[i];

        if (i)
            tw_text_add(out, separator);
        tw_text_add(out, item->name);
        tw_text_add(out, "=");
        if (item->word)
            tw_text_add(out, item->word);
        else if (settings->is_text)
            tw_text_decimal(out, item->value);
        else
            tw_text_hex(out, item->value);
    }
}
