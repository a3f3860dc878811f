/* SPDX-License-Identifier: BSD-2-Clause */
/* A decode tree for a buffer of a capture. */
#include <trackway/errors.h>
#include <trackway/perfdata.h>
#include <trackway/tree.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "capture/capture.h"
#include "tree/branch.h"

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

static enum tw_status add_source(struct tw_tree *tree, const struct tw_capture *capture,
                                 size_t number, size_t buffer)
{
    const struct tw_source *from = tw_capture_source(capture, number);
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = from->protocol,
                                     .registers = from->registers,
                                     .register_count = from->register_count,
                                     .type = from->type,
                                     .core_type = from->core_type,
                                     .text = from->text,
                                     .id = from->id };

    if (from->image != TW_NONE)
        source.image = tw_capture_image(capture, from->image);
    if (capture->perf) {
        struct tw_perf_lane *lane = tw_tree_keep(tree, sizeof *lane);

        if (!lane)
            return TW_E_MEMORY;
        *lane = (struct tw_perf_lane){ .perf = capture->perf,
                                       .source = (uint32_t)number,
                                       .buffer = (uint32_t)buffer };
        source.view = tw_perf_look;
        source.view_context = lane;
        source.view_size = sizeof *lane;
        source.view_size = sizeof *lane;
    }
    return tw_tree_add_source(tree, NULL, &source);
}

/* Every source of the buffer that can be; TW_E_CONFIG when none can. */
static enum tw_status add_sources(struct tw_tree *tree, const struct tw_capture *capture,
                                  size_t buffer)
{
    const bool is_single = tree->config.framing == TW_FRAMING_NONE;
    size_t added = 0;

    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        enum tw_status status;

        if (!tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer) || (is_single && added))
            continue;
        if (!source->protocol) {
            say_left_out(&tree->config, source, "no protocol is known for it");
            continue;
        }
        status = add_source(tree, capture, i, buffer);
        if (status == TW_E_MEMORY)
            return status;
        if (status != TW_OK)
            say_left_out(&tree->config, source, tw_tree_fault(tree));
        added += status == TW_OK;
    }
    return added ? TW_OK : TW_E_CONFIG;
}

enum tw_status tw_capture_tree(struct tw_tree **tree, const struct tw_capture *capture,
                               size_t buffer, const struct tw_tree_config *config,
                               struct tw_fault *fault)
{
    struct tw_tree_config own = { .size = sizeof own };
    enum tw_status status;

    *tree = NULL;
    if (buffer >= tw_capture_buffer_count(capture))
        return tw_fail(fault, TW_E_ARGUMENT, "the capture has no such buffer");
    if (config)
        TW_TRY(TW_SIZED_TAKE(&own, config, "tw_tree_config", fault));
    own.framing = tw_capture_buffer(capture, buffer)->framing;
    own.base = tw_capture_buffer(capture, buffer)->offset;
    own.no_barrier = tw_capture_no_barrier(capture);
    TW_TRY(tw_tree_new(tree, &own, fault));
    status = add_sources(*tree, capture, buffer);
    if (status == TW_OK)
        return TW_OK;
    (void)tw_fail(fault, status, "%s",
                  status == TW_E_MEMORY     ? "no memory for a decode tree"
                  : tw_tree_fault(*tree)[0] ? tw_tree_fault(*tree)
                                            : "no source of this buffer can be decoded");
    tw_tree_free(*tree);
    *tree = NULL;
    return status;
}
