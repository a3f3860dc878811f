/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters and comparators of a RISC-V trace encoder, which E-Trace and N-Trace share with the ingress
   port that they stand behind: which instructions and data accesses are traced. */
#ifndef INGRESS_FILTER_H
#define INGRESS_FILTER_H

#include <trackway/etrace_unit.h>

enum { TW_INGRESS_FILTERS = 16, TW_INGRESS_COMPARATORS = 8 };

struct tw_ingress_comparator {
    uint8_t input[2], function[2], mode; /* primary, secondary */
    bool notify[2];
    bool is_latched;
    uint64_t match[2];
};

struct tw_ingress_filter {
    bool is_enabled;
    bool match_comparator[3], match_privilege, match_ecause, match_interrupt, match_impdef;
    bool match_dtype, match_dsize;
    uint8_t comparator[3], privileges, interrupt, sizes;
    uint16_t types;
    uint64_t ecauses;
    uint64_t impdef_value[2], impdef_mask[2]; /* the low 64 bits, and those above */
    uint32_t depth;  /* traps nested since the first one that matched; 0: none matches */
    bool was_inside; /* of one, before the block at hand */
};

struct tw_ingress {
    uint16_t filters_used, data_filters_used;
    struct tw_ingress_filter filters[TW_INGRESS_FILTERS];
    struct tw_ingress_comparator comparators[TW_INGRESS_COMPARATORS];
    uint32_t comparators_used; /* by enabled filters, or because they notify */
    uint32_t outputs;          /* of those that instructions work, for the block at hand */
    uint64_t last_tval;
    uint8_t nesting_bits; /* of the counters of nested traps */
};

/* Addresses of a block's first and last instruction. */
struct tw_ingress_stretch {
    uint64_t first, last;
};

/* Which comparators have to look at each block at all: after any setting has changed. */
void tw_ingress_note(struct tw_ingress *ingress);
/* Nothing is filtered, and nothing is to be looked at. */
static inline bool tw_ingress_is_idle(const struct tw_ingress *ingress)
{
    return !ingress->filters_used && !ingress->comparators_used;
}

/* Whether a block is traced; *notify is set where a comparator reports it. */
bool tw_ingress_qualify(struct tw_ingress *ingress, const struct tw_etrace_block *block,
                        const struct tw_ingress_stretch *stretch, bool *notify);
/* Whether an access is, of an instruction of the block. */
bool tw_ingress_qualify_data(struct tw_ingress *ingress, const struct tw_etrace_access *access,
                             const struct tw_etrace_block *block, uint64_t iaddr);

#endif
