/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace configurations from any text: refused with a reason, or printed in both forms and read
   again to the same. */
#include <string.h>

#include "etrace_config.h"
#include "kept.h"

enum { LINES_ROOM = 16384, COMPONENT_ROOM = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char lines[LINES_ROOM], again[LINES_ROOM], component[COMPONENT_ROOM];
    struct tw_etrace_config config, other;
    struct tw_fault fault = { TW_OK, "" };
    char *text = malloc(size + 1);
    enum tw_status status;

    require(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    status = tw_etrace_config_read(&config, text, &fault);
    free(text);
    if (status != TW_OK) {
        require(status == TW_E_CONFIG && fault.text[0]);
        return 0;
    }
    require(tw_etrace_config_text(lines, sizeof lines, &config) > 0);
    require(tw_etrace_config_ipxact(component, sizeof component, &config) > 0);
    for (unsigned i = 0; i < 2; i++) {
        if (!goes_through(i, 2, size ? data[size - 1] : 0))
            continue;
        tw_etrace_config_init(&other, TW_ETRACE_LAYOUT_V2);
        require(tw_etrace_config_read(&other, i ? component : lines, &fault) == TW_OK);
        require(tw_etrace_config_text(again, sizeof again, &other) > 0);
        require(strcmp(lines, again) == 0);
    }
    return 0;
}
