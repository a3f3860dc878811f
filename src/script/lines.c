/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that the scripts of both simulators print alike. */
#include "script/lines.h"

#include <inttypes.h>

enum { SHOWN = 64 }; /* bytes in a line of text */

void tw_script_begin(struct tw_text *text, const struct tw_sim_config *config, size_t number,
                     const char *type)
{
    tw_text_clear(text);
    if (config->is_json) {
        tw_text_char(text, '{');
        tw_json_u64(text, "line", number);
        tw_json_text(text, "t", type);
    } else {
        tw_text_format(text, "%zu: ", number);
    }
}

void tw_script_end(struct tw_text *text, const struct tw_sim_config *config)
{
    if (config->is_json)
        tw_text_char(text, '}');
    if (!text->failed)
        config->line(config->context, text->chars, text->size);
}

void tw_script_failed(struct tw_text *text, const struct tw_sim_config *config,
                      const char *what, uint64_t got, uint64_t want)
{
    if (config->is_json) {
        tw_json_text(text, "what", what);
        tw_json_hex(text, "got", got);
        tw_json_hex(text, "want", want);
    } else {
        tw_text_format(text, "failed: %s is 0x%" PRIx64 ", expected 0x%" PRIx64, what, got,
                       want);
    }
}

void tw_script_drained(struct tw_text *text, const struct tw_sim_config *config,
                       const uint8_t *bytes, size_t size, const char *name)
{
    if (config->is_json) {
        tw_json_u64(text, "n", size);
        if (name)
            tw_json_text(text, "file", name);
        else
            tw_json_bytes(text, "b", bytes, size);
        return;
    }
    tw_text_format(text, "drained %zu bytes%s%s", size, name ? " to " : ":", name ? name : " ");
    if (!name)
        tw_text_hex_bytes(text, bytes, size < SHOWN ? size : SHOWN);
    if (!name && size > SHOWN)
        tw_text_add(text, "...");
}
