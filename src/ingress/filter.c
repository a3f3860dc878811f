/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions and data accesses are traced: comparators and filters (E-Trace 2.3 and chapter 5,
   Trace Control Interface chapter 5). */
#include "ingress/filter.h"

enum { IADDR, CONTEXT, TVAL, DADDR };
enum { EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, MASK, ALWAYS };
enum { NEVER = MASK }; /* of the primary comparison */
enum { PRIMARY, BOTH, NOT_BOTH, LATCH };

/* What comparators look at: a value, or any of the half-words of a block. */
struct input {
    uint64_t first, last;
    bool is_there;
};

struct inputs {
    struct input of[4];
};

static bool compares(unsigned function, const struct input *in, uint64_t match, uint64_t mask)
{
    if (!in->is_there)
        return false;
    switch (function) {
    case EQUAL:
        if (mask == UINT64_MAX)
            return in->first <= match && match <= in->last;
        for (uint64_t at = in->first;; at += 2) {
            if ((at & mask) == (match & mask))
                return true;
            if (at >= in->last)
                return false;
        }
    case NOT_EQUAL:
        return in->first != in->last || (in->first & mask) != (match & mask);
    case LESS:
        return (in->first & mask) < (match & mask);
    case LESS_EQUAL:
        return (in->first & mask) <= (match & mask);
    case GREATER:
        return (in->last & mask) > (match & mask);
    case GREATER_EQUAL:
        return (in->last & mask) >= (match & mask);
    default:
        return true;
    }
}

/* A comparator's output; its latch is set or cleared. */
static bool compare(struct tw_ingress_comparator *comparator, const struct inputs *inputs,
                    bool matches[2])
{
    const uint64_t mask = comparator->function[1] == MASK ? comparator->match[1] : UINT64_MAX;
    bool output;

    matches[0] = comparator->function[0] != NEVER &&
                 compares(comparator->function[0], &inputs->of[comparator->input[0]],
                          comparator->match[0], mask);
    matches[1] = compares(comparator->function[1], &inputs->of[comparator->input[1]],
                          comparator->match[1], UINT64_MAX);
    switch (comparator->mode) {
    case PRIMARY:
        return matches[0];
    case BOTH:
        return matches[0] && matches[1];
    case NOT_BOTH:
        return !(matches[0] && matches[1]);
    default:
        output = comparator->is_latched || matches[0];
        comparator->is_latched = output && !matches[1];
        return output;
    }
}

/* Whether it is for data accesses alone. */
static bool looks_at_data(const struct tw_ingress_comparator *comparator)
{
    return comparator->input[0] == DADDR ||
           (comparator->mode != PRIMARY && comparator->input[1] == DADDR &&
            comparator->function[1] < MASK);
}

/* Follows traps for "until return from the first one that matches".  What begins with a trap
   begins behind it; what ends with a return includes it. */
static void follow_traps(const struct tw_ingress *ingress, struct tw_ingress_filter *filter,
                         const struct tw_etrace_block *block)
{
    const uint32_t most = 1u << (ingress->nesting_bits < 16 ? ingress->nesting_bits : 16);
    const bool is_interrupt = block->itype == TW_ETRACE_ITYPE_INTERRUPT;

    if (block->itype == TW_ETRACE_ITYPE_TRAP_RETURN) {
        filter->depth -= filter->depth > 0;
    } else if (block->itype == TW_ETRACE_ITYPE_EXCEPTION || is_interrupt) {
        const bool is_chosen =
            !filter->match_ecause || (block->cause < 64 && filter->ecauses >> block->cause & 1);

        if (filter->depth)
            filter->depth += filter->depth < most;
        else if (is_chosen && (!filter->match_interrupt || filter->interrupt == is_interrupt))
            filter->depth = 1;
    }
}

/* The conditions that instructions and data accesses share.  `outputs`: one bit a comparator. */
static bool matches_common(const struct tw_ingress_filter *filter,
                           const struct tw_etrace_block *block, uint32_t outputs)
{
    for (unsigned k = 0; k < 3; k++)
        if (filter->match_comparator[k] && !(outputs >> filter->comparator[k] & 1))
            return false;
    if (filter->match_privilege && !(filter->privileges >> (block->priv & 7) & 1))
        return false;
    return !filter->match_impdef ||
           (((block->impdef ^ filter->impdef_value[0]) & filter->impdef_mask[0]) == 0 &&
            ((block->impdef_high ^ filter->impdef_value[1]) & filter->impdef_mask[1]) == 0);
}

static bool has_trap_condition(const struct tw_ingress_filter *filter)
{
    return filter->match_ecause || filter->match_interrupt;
}

void tw_ingress_note(struct tw_ingress *ingress)
{
    const uint32_t used = ingress->filters_used | (uint32_t)ingress->data_filters_used;

    ingress->comparators_used = 0;
    for (unsigned i = 0; i < TW_INGRESS_COMPARATORS; i++) {
        struct tw_ingress_comparator *comparator = &ingress->comparators[i];

        if (comparator->notify[0] || comparator->notify[1])
            ingress->comparators_used |= 1u << i;
        if (comparator->mode == LATCH && comparator->function[0] == NEVER)
            comparator->is_latched = true; /* from the start, until the secondary matches */
    }
    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++)
        for (unsigned k = 0; k < 3; k++)
            if (used >> i & 1 && ingress->filters[i].is_enabled &&
                ingress->filters[i].match_comparator[k])
                ingress->comparators_used |= 1u << ingress->filters[i].comparator[k];
}

bool tw_ingress_qualify(struct tw_ingress *ingress, const struct tw_etrace_block *block,
                        const struct tw_ingress_stretch *stretch, bool *notify)
{
    const bool is_trap =
        block->itype == TW_ETRACE_ITYPE_EXCEPTION || block->itype == TW_ETRACE_ITYPE_INTERRUPT;
    const struct inputs inputs = { .of = { { stretch->first, stretch->last, true },
                                           { block->context, block->context, true },
                                           { ingress->last_tval, ingress->last_tval, true },
                                           { 0, 0, false } } };
    uint32_t outputs = 0;
    bool is_qualified = ingress->filters_used == 0;

    for (unsigned i = 0; i < TW_INGRESS_COMPARATORS; i++) {
        struct tw_ingress_comparator *comparator = &ingress->comparators[i];
        bool matches[2];

        if (!(ingress->comparators_used >> i & 1) || looks_at_data(comparator))
            continue;
        if (compare(comparator, &inputs, matches))
            outputs |= 1u << i;
        for (unsigned k = 0; k < 2; k++)
            if (comparator->notify[k] && comparator->input[k] == IADDR && matches[k] &&
                block->iretire)
                *notify = true;
    }
    ingress->outputs = outputs;
    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++) {
        struct tw_ingress_filter *filter = &ingress->filters[i];

        if (!filter->is_enabled ||
            !((ingress->filters_used | ingress->data_filters_used) >> i & 1))
            continue;
        filter->was_inside = filter->depth > 0;
        if (has_trap_condition(filter))
            follow_traps(ingress, filter, block);
        if (ingress->filters_used >> i & 1 && !filter->match_dtype && !filter->match_dsize &&
            (!has_trap_condition(filter) || filter->was_inside) &&
            matches_common(filter, block, outputs))
            is_qualified = true;
    }
    if (is_trap)
        ingress->last_tval = block->tval;
    return is_qualified;
}

bool tw_ingress_qualify_data(struct tw_ingress *ingress, const struct tw_etrace_access *access,
                             const struct tw_etrace_block *block, uint64_t iaddr)
{
    const struct inputs inputs = { .of = { { iaddr, iaddr, true },
                                           { block->context, block->context, true },
                                           { ingress->last_tval, ingress->last_tval, true },
                                           { access->daddr, access->daddr, true } } };
    uint32_t outputs = 0;

    if (ingress->data_filters_used == 0)
        return true;
    for (unsigned i = 0; i < TW_INGRESS_COMPARATORS; i++) {
        struct tw_ingress_comparator *comparator = &ingress->comparators[i];
        bool matches[2], output;

        if (!(ingress->comparators_used >> i & 1))
            continue;
        /* a latch that instructions work was worked by the block already */
        if (comparator->mode == LATCH && !looks_at_data(comparator))
            output = ingress->outputs >> i & 1;
        else
            output = compare(comparator, &inputs, matches);
        if (output)
            outputs |= 1u << i;
    }
    for (unsigned i = 0; i < TW_INGRESS_FILTERS; i++) {
        const struct tw_ingress_filter *filter = &ingress->filters[i];

        if (!(ingress->data_filters_used >> i & 1) || !filter->is_enabled ||
            (has_trap_condition(filter) && !filter->was_inside))
            continue;
        if (filter->match_dtype && !(filter->types >> (access->dtype & 15) & 1))
            continue;
        if (filter->match_dsize && !(filter->sizes >> (access->dsize & 7) & 1))
            continue;
        if (matches_common(filter, block, outputs))
            return true;
    }
    return false;
}
