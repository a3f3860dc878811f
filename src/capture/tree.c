/* SPDX-License-Identifier: BSD-2-Clause */
/* A decode tree for a buffer of a capture. */
#include <trackway/errors.h>
#include <trackway/tree.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "capture/capture.h"
#include "capture/sources.h"

/* Tells the tree's log that a source is left out, and why. */
static void say_left_out(const struct tw_tree_config *config, const struct tw_source *source,
                         const char *why)
{
    struct tw_error error = { .index = TW_NO_INDEX,
                              .id = source->has_id ? source->id : TW_ID_UNKNOWN,
                              .severity = TW_SEVERITY_WARNING,
                              .code = TW_ERROR_UNSUPPORTED };
    struct tw_text text = tw_text_in(error.text, sizeof error.text);

    if (!config->errors)
        return;
    tw_text_format(&text, "source %.30s is left out: %.50s", source->name, why);
    tw_errors_add(config->errors, &error);
}

struct told {
    const struct tw_tree_config *config;
    const struct tw_capture *capture;
};

static void tell(void *context, const struct tw_added_source *added)
{
    const struct told *told = context;

    if (added->left_out)
        say_left_out(told->config, tw_capture_source(told->capture, added->number),
                     added->left_out);
}

enum tw_status tw_capture_tree(struct tw_tree **tree, const struct tw_capture *capture,
                               size_t buffer, const struct tw_tree_config *config,
                               struct tw_fault *fault)
{
    struct tw_tree_config own = { .size = sizeof own };
    struct told told = { &own, capture };
    struct tw_source_setup setup = {
        .capture = capture, .buffer = (uint32_t)buffer, .added = tell, .context = &told
    };
    size_t added;

    *tree = NULL;
    if (buffer >= tw_capture_buffer_count(capture))
        return tw_fail(fault, TW_E_ARGUMENT, "the capture has no such buffer");
    if (config)
        TW_TRY(TW_SIZED_TAKE(&own, config, "tw_tree_config", fault));
    own.framing = tw_capture_buffer(capture, buffer)->framing;
    own.base = tw_capture_buffer(capture, buffer)->offset;
    own.no_barrier = tw_capture_no_barrier(capture);
    TW_TRY(tw_tree_new(tree, &own, fault));
    setup.tree = *tree;
    added = tw_add_sources(&setup);
    if (added && added != SIZE_MAX)
        return TW_OK;
    (void)tw_fail(fault, added ? TW_E_MEMORY : TW_E_CONFIG, "%s",
                  added                     ? "no memory for a decode tree"
                  : tw_tree_fault(*tree)[0] ? tw_tree_fault(*tree)
                                            : "no source of this buffer can be decoded");
    tw_tree_free(*tree);
    *tree = NULL;
    return added ? TW_E_MEMORY : TW_E_CONFIG;
}
