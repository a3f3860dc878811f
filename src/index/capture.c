/* SPDX-License-Identifier: BSD-2-Clause */
/* What describes the capture of an index, as the caller gives it. */
#include "base/fault.h"
#include "base/sized.h"
#include "index/index.h"
#include "tree/custom.h"

enum tw_status tw_index_capture_take(struct tw_index_capture *ours,
                                     const struct tw_index_capture *theirs,
                                     struct tw_fault *fault)
{
    TW_TRY(TW_SIZED_TAKE(ours, theirs, "tw_index_capture", fault));
    if ((ours->source_count && !ours->sources) || (ours->protocol_count && !ours->protocols))
        return tw_fail(fault, TW_E_ARGUMENT, "tw_index_capture has a count, but no array");
    return TW_OK;
}

enum tw_status tw_index_capture_source(const struct tw_index_capture *capture,
                                       struct tw_tree_source *source, size_t number,
                                       struct tw_fault *fault)
{
    const struct tw_tree_source *theirs = tw_sized_at(capture->sources, number);

    return TW_SIZED_TAKE(source, theirs, "tw_tree_source", fault);
}

/* Whether a protocol's decoder can begin only where the capture does. */
static bool adds_up(const struct tw_index_capture *capture, const char *name)
{
    const struct tw_protocol *protocol = name ? tw_protocol_by_name(name) : NULL;

    for (size_t i = 0; name && i < capture->protocol_count; i++) {
        struct tw_custom_protocol custom;

        if (TW_SIZED_TAKE(&custom, capture->protocols[i], "", NULL) == TW_OK && custom.name &&
            strcmp(custom.name, name) == 0)
            return custom.adds_up;
    }
    return protocol && protocol->flags & (TW_PROTOCOL_UNMARKED | TW_PROTOCOL_SUMS);
}

bool tw_index_adds_up(const struct tw_index_capture *capture)
{
    for (size_t i = 0; i < capture->source_count; i++) {
        struct tw_tree_source source;

        if (tw_index_capture_source(capture, &source, i, NULL) == TW_OK &&
            adds_up(capture, source.protocol))
            return true;
    }
    return false;
}
