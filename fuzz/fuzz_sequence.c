/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text is a sequence: it is read, checked, and what is found has a line and a rule. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sequence.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct tw_sequence_config config = { .size = sizeof config,
                                               .is_strict = size && data[0] & 1 };
    struct tw_sequence *sequence = NULL;
    size_t lines, steps;

    if (tw_sequence_check(&sequence, (const char *)data, size, &config, NULL) != TW_OK)
        abort();
    tw_sequence_lines(sequence, &lines, &steps);
    for (size_t i = 0; i < tw_sequence_count(sequence); i++) {
        const struct tw_sequence_finding *finding = tw_sequence_finding(sequence, i);

        if (finding->line == 0 || finding->line > lines || finding->cause > lines ||
            !tw_sequence_find_rule(finding->rule) || !finding->what[0])
            abort();
    }
    tw_sequence_free(sequence);
    return 0;
}
