/* SPDX-License-Identifier: BSD-2-Clause */
/* One program or library of a coverage, as compilers and linkers want to hear of it. */
#ifndef EXPORT_FEEDBACK_H
#define EXPORT_FEEDBACK_H

#include "export/sink.h"

struct tw_feedback {
    const struct tw_coverage *coverage;
    size_t object;
    const char *path;           /* NULL: not known */
    struct tw_symbols *symbols; /* NULL: none */
    bool has_symbols;           /* ... of its own */
    uint64_t bias;              /* of its addresses in the coverage */
    uint64_t first, end; /* of its segments, as linked; first 0, end UINT64_MAX: not known */
};

/* The one that the subject names, else the one that executed most; false: there is none. */
bool tw_feedback_choose(struct tw_feedback *feedback, const struct tw_subject *subject);
/* Blocks and jumps of it from number *at on, addresses as linked; false: that was all.  Of a jump one end
   may be outside: UINT64_MAX. */
bool tw_feedback_block(const struct tw_feedback *feedback, struct tw_block_count *block,
                       size_t *at);
bool tw_feedback_jump(const struct tw_feedback *feedback, struct tw_jump_count *jump,
                      size_t *at);

#endif
