/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree that begins in the middle of a capture. */
#include "tree/resume.h"

#include "base/fault.h"
#include "frame/unframer.h"

void tw_tree_begin(struct tw_tree *tree, uint64_t base)
{
    if (tree->is_started) {
        tw_tree_reset(tree, base);
    } else {
        tree->config.base = base;
        tree->place.capture = base;
    }
}

enum tw_status tw_tree_resume(struct tw_tree *tree, uint64_t base, uint8_t id)
{
    tw_tree_begin(tree, base);
    TW_TRY(tw_tree_feed(tree, NULL, 0)); /* makes the unframer */
    if (tree->unframer)
        tw_unframer_resume(tree->unframer, base, id);
    return TW_OK;
}

void tw_tree_restore(struct tw_tree *tree, uint8_t id, const uint64_t *words)
{
    for (size_t i = 0; i < tree->branch_count; i++) {
        const struct tw_branch *branch = tree->branches[i];

        if (branch->id == id && branch->decoder && branch->protocol->restore)
            branch->protocol->restore(branch->decoder, words);
    }
}
