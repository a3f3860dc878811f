/* SPDX-License-Identifier: BSD-2-Clause */
/* What is counted of a source's elements. */
#include "tree/stats.h"

#include <string.h>

#include "base/compiler.h"
#include "base/elements.h"

void tw_stats_show(struct tw_stats *stats)
{
    stats->seen.elements = stats->elements;
    stats->seen.element_types = TW_LENGTH(stats->elements);
    stats->seen.errors = stats->errors;
    stats->seen.error_codes = TW_LENGTH(stats->errors);
    stats->seen.packet_types = stats->packet_types;
}

static void count(struct tw_stats *stats, const struct tw_element *element)
{
    stats->elements[element->type < TW_ELEMENT_TYPES ? element->type : 0]++;
    if (element->type == TW_ELEMENT_INSTR_RANGE) {
        stats->seen.instructions += element->count;
    } else if (element->type == TW_ELEMENT_ERROR) {
        stats->errors[element->error < TW_ERROR_CODES ? element->error : 0]++;
        stats->seen.unsynced_bytes += element->skipped;
    } else if (element->type == TW_ELEMENT_NO_SYNC) {
        stats->seen.overflows += element->reason == TW_REASON_OVERFLOW;
        stats->seen.discards += element->reason == TW_REASON_DISCARD;
        stats->seen.losses += element->reason != TW_REASON_INIT;
    } else if (element->type == TW_ELEMENT_ADDR_NACC) {
        stats->seen.missing_code++;
    }
}

/* Adds value * times, or all that there is room for: traces may claim more than can be counted. */
static void multiply(uint64_t *sum, uint64_t value, uint64_t times)
{
    const uint64_t room = UINT64_MAX - *sum;

    *sum += value && times > room / value ? room : value * times;
}

static void add_times(struct tw_stats *to, const struct tw_stats *from, uint64_t times)
{
    for (size_t i = 0; i < TW_ELEMENT_TYPES; i++)
        multiply(&to->elements[i], from->elements[i], times);
    for (size_t i = 0; i < TW_ERROR_CODES; i++)
        multiply(&to->errors[i], from->errors[i], times);
    multiply(&to->seen.unsynced_bytes, from->seen.unsynced_bytes, times);
    multiply(&to->seen.instructions, from->seen.instructions, times);
    multiply(&to->seen.overflows, from->seen.overflows, times);
    multiply(&to->seen.discards, from->seen.discards, times);
    multiply(&to->seen.losses, from->seen.losses, times);
    multiply(&to->seen.missing_code, from->seen.missing_code, times);
}

static void repeat(struct tw_stats *stats, const struct tw_element *elements, size_t at)
{
    struct tw_stats once;

    memset(&once, 0, sizeof once);
    for (size_t i = at - tw_repeat_reach(elements, at); i < at; i++)
        if (elements[i].type != TW_ELEMENT_REPEAT)
            count(&once, &elements[i]);
    add_times(stats, &once, elements[at].times);
}

void tw_stats_sum(struct tw_stats *stats, const struct tw_range_sum *sums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sums[i].is_edge)
            continue;
        stats->elements[TW_ELEMENT_INSTR_RANGE] += sums[i].times;
        stats->seen.instructions += sums[i].range.count * sums[i].times;
    }
}

void tw_stats_count(struct tw_stats *stats, const struct tw_element *elements, size_t size)
{
    uint64_t ranges = 0, instructions = 0;

    for (size_t i = 0; i < size; i++) {
        const struct tw_element *element = &elements[i];

        /* Most are ranges. */
        while (i + TW_TYPES_AT_ONCE < size && tw_are_ranges(element)) {
            ranges += TW_TYPES_AT_ONCE;
            instructions += (uint64_t)element[0].count + element[1].count + element[2].count +
                            element[3].count;
            i += TW_TYPES_AT_ONCE;
            element += TW_TYPES_AT_ONCE;
        }
        if (element->type == TW_ELEMENT_INSTR_RANGE) {
            ranges++;
            instructions += element->count;
            continue;
        }
        count(stats, element);
        if (element->type == TW_ELEMENT_REPEAT)
            repeat(stats, elements, i);
    }
    multiply(&stats->elements[TW_ELEMENT_INSTR_RANGE], ranges, 1);
    multiply(&stats->seen.instructions, instructions, 1);
}

void tw_stats_add(struct tw_stats *to, const struct tw_stats *from)
{
    add_times(to, from, 1);
}
