/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text is a sequence: it is read, checked, and what is found has a line and a rule, and is found again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sequence.h>

static struct tw_sequence *check(size_t *lines, const uint8_t *data, size_t size)
{
    const struct tw_sequence_config config = { .size = sizeof config,
                                               .is_strict = size && data[0] & 1 };
    struct tw_sequence *sequence = NULL;
    size_t steps;

    if (tw_sequence_check(&sequence, (const char *)data, size, &config, NULL) != TW_OK)
        abort();
    tw_sequence_lines(sequence, lines, &steps);
    return sequence;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t lines, same;
    struct tw_sequence *sequence = check(&lines, data, size), *again = check(&same, data, size);

    if (lines != same || tw_sequence_count(sequence) != tw_sequence_count(again))
        abort();
    for (size_t i = 0; i < tw_sequence_count(sequence); i++) {
        const struct tw_sequence_finding *finding = tw_sequence_finding(sequence, i);
        const struct tw_sequence_finding *other = tw_sequence_finding(again, i);

        if (finding->line == 0 || finding->line > lines || finding->cause > lines ||
            !tw_sequence_find_rule(finding->rule) || !finding->what[0])
            abort();
        if (finding->line != other->line || finding->cause != other->cause ||
            strcmp(finding->what, other->what) != 0)
            abort();
    }
    tw_sequence_free(sequence);
    tw_sequence_free(again);
    return 0;
}
