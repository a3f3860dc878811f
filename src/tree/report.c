/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tree tells its error log, and the statistics of its sources. */
#include "tree/report.h"

#include <inttypes.h>
#include <string.h>

#include <trackway/errors.h>

#include "base/text.h"
#include "tree/custom.h"
#include "tree/shared.h"

static bool is_wanted(const struct tw_tree *tree, unsigned severity)
{
    const unsigned verbosity =
        tree->config.verbosity ? tree->config.verbosity : TW_SEVERITY_WARNING;

    return severity <= verbosity;
}

static void add(const struct tw_tree *tree, const struct tw_error *error)
{
    if (is_wanted(tree, error->severity))
        tw_errors_add(tree->config.errors, error);
}

void tw_report_elements(const struct tw_branch *branch, const struct tw_batch *batch)
{
    const struct tw_tree *tree = branch->tree;
    struct tw_error error;

    if (!tree->config.errors)
        return;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->elements[i].type != TW_ELEMENT_INSTR_RANGE &&
            tw_error_from_element(&error, &batch->elements[i], batch->id))
            add(tree, &error);
}

void tw_report_bad(const struct tw_branch *branch, const struct tw_packet_view *view)
{
    struct tw_error error = { .index = view->packet->index,
                              .id = branch->id,
                              .severity = TW_SEVERITY_ERROR,
                              .code = view->kind == TW_PACKET_CUT ? TW_ERROR_TRUNCATED
                                                                  : TW_ERROR_BAD_SEQUENCE };
    struct tw_text text = tw_text_in(error.text, sizeof error.text);

    if (!branch->tree->config.errors)
        return;
    tw_protocol_print(&text, branch->protocol, view->packet);
    add(branch->tree, &error);
}

static bool frame_text(struct tw_text *text, struct tw_error *error,
                       const struct tw_frame_event *event)
{
    error->severity = TW_SEVERITY_WARNING;
    switch (event->kind) {
    case TW_FRAME_LOST:
        error->code = TW_ERROR_DISCONTINUITY;
        tw_text_format(text, "frame lost, %" PRIu32 " bytes", event->length);
        return true;
    case TW_FRAME_INCOMPLETE:
        error->code = TW_ERROR_TRUNCATED;
        tw_text_format(text, "the capture ends inside a frame, after %" PRIu32 " bytes",
                       event->length);
        return true;
    case TW_FRAME_BAD_BLOCK:
        error->code = TW_ERROR_BAD_SEQUENCE;
        tw_text_format(text, "block footer counts %u words", (unsigned)event->value);
        return true;
    case TW_FRAME_RESERVED:
        error->severity = TW_SEVERITY_INFO;
        error->code = TW_ERROR_UNSUPPORTED;
        tw_text_format(text, "bytes of the reserved ID 0x%02x", (unsigned)event->value);
        return true;
    case TW_FRAME_SKIPPED:
        error->severity = TW_SEVERITY_INFO;
        error->code = TW_ERROR_DISCONTINUITY;
        tw_text_format(text, "%" PRIu32 " bytes before the first frame sync", event->length);
        return true;
    default: /* what belongs to every capture */
        return false;
    }
}

void tw_report_frames(const struct tw_tree *tree)
{
    const struct tw_frame_event *events;
    size_t count;

    if (!tree->config.errors || !tree->unframer)
        return;
    events = tw_unframer_events(tree->unframer, &count);
    for (size_t i = 0; i < count; i++) {
        struct tw_error error = { .index = events[i].offset, .id = TW_ID_UNKNOWN };
        struct tw_text text = tw_text_in(error.text, sizeof error.text);

        if (frame_text(&text, &error, &events[i]))
            add(tree, &error);
    }
}

void tw_report_others(const struct tw_tree *tree)
{
    const struct tw_frame_stats *stats;

    if (!tree->config.errors || !tree->unframer)
        return;
    stats = tw_unframer_stats(tree->unframer);
    for (unsigned id = 1; id < 0x70; id++) {
        struct tw_error error = { .index = TW_NO_INDEX,
                                  .id = (uint8_t)id,
                                  .severity = TW_SEVERITY_INFO,
                                  .code = TW_ERROR_UNSUPPORTED };
        struct tw_text text = tw_text_in(error.text, sizeof error.text);

        if (!stats->bytes_by_id[id] || tw_branch_of(tree, id))
            continue;
        tw_text_format(&text, "%" PRIu64 " bytes skipped: no decoder for this ID",
                       stats->bytes_by_id[id]);
        add(tree, &error);
    }
}

enum tw_status tw_report_fault(const struct tw_tree *tree, enum tw_status status)
{
    struct tw_error error = { .index = TW_NO_INDEX,
                              .id = TW_ID_UNKNOWN,
                              .severity = TW_SEVERITY_ERROR,
                              .status = status };
    struct tw_text text = tw_text_in(error.text, sizeof error.text);

    if (status >= 0 || !tree->config.errors)
        return status;
    tw_text_format(&text, "%.*s", (int)sizeof error.text - 1,
                   tree->fault.text[0] ? tree->fault.text : tw_status_name(status));
    add(tree, &error);
    return status;
}

void tw_count_packet(struct tw_branch *branch, const struct tw_packet_view *view)
{
    struct tw_source_stats *stats = &branch->stats.seen;
    const bool is_understood = tw_kind_is_understood(view->kind);

    stats->packets++;
    branch->stats.packet_types[view->packet->type]++;
    stats->syncs += view->kind == TW_PACKET_SYNC;
    stats->bad_packets += view->is_bad;
    if (!branch->decoder) /* which tells better */
        stats->losses += branch->is_understood && !is_understood;
    branch->is_understood = is_understood;
}

const struct tw_source_stats *tw_tree_source_stats(const struct tw_tree *tree, uint8_t id)
{
    const struct tw_branch *branch = tw_branch_of(tree, id);

    if (!branch || !branch->shared)
        return branch ? &branch->stats.seen : NULL;
    return tw_shared_total(branch);
}

size_t tw_tree_src_count(const struct tw_tree *tree, uint8_t id)
{
    const struct tw_branch *branch = tw_branch_of(tree, id);

    return branch && branch->shared ? branch->shared->count : 0;
}

const struct tw_source_stats *tw_tree_src_stats(const struct tw_tree *tree, uint8_t id,
                                                size_t number, uint32_t *src)
{
    const struct tw_branch *branch = tw_branch_of(tree, id);

    *src = TW_NO_SRC;
    if (number >= tw_tree_src_count(tree, id))
        return NULL;
    *src = branch->shared->branches[number]->src;
    return &branch->shared->branches[number]->stats.seen;
}
