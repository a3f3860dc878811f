/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of any bytes made fit for output: JSON stays inside its quotes, a terminal gets nothing that it would obey, and
   both are UTF-8; and any name of a symbol as it was written in the program. */
#include <stdlib.h>
#include <string.h>

#include <trackway/demangle.h>
#include <trackway/version.h>

#include "base/escape.h"

static void require(int is_true)
{
    if (!is_true)
        abort();
}

static void check(const char *text, size_t size, int is_json)
{
    for (size_t at = 0; at < size;) {
        const size_t length = tw_utf8_size(text + at, size - at);

        require(length > 0);
        require((unsigned char)text[at] >= 0x20 && text[at] != 0x7f);
        if (is_json)
            require(text[at] != '"');
        at += is_json && text[at] == '\\' ? 2 : length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tw_demangler *demangler;
    const char *text = (const char *)data;
    char *out = malloc(TW_ESCAPE_JSON_MOST * size + 1), *name = malloc(size + 1);
    size_t used;

    require(out && name);
    used = tw_escape_json(out, text, size);
    require(used <= TW_ESCAPE_JSON_MOST * size);
    check(out, used, 1);
    used = tw_escape_text(out, text, size);
    require(used <= TW_ESCAPE_TEXT_MOST * size);
    check(out, used, 0);
    memcpy(name, text, size);
    name[size] = 0;
    require(tw_version()[0] && tw_features() && tw_version_number());
    /* Some builds know no names but those that there are. */
    require(tw_demangler_new(&demangler, NULL, NULL) != TW_E_MEMORY);
    require(tw_demangle(demangler, name) != NULL);
    require(tw_demangle(demangler, name) != NULL);
    tw_demangler_free(demangler);
    free(out);
    free(name);
    return 0;
}
