/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared/srcs.h"

#include <trackway/tree.h>

enum { WINDOW = 1 << 18 };

static size_t list(struct src *found, size_t most, const struct tw_tree *tree)
{
    size_t count = 0;

    for (unsigned id = 0; id < TW_ID_COUNT; id++) {
        const size_t here = tw_tree_src_count(tree, (uint8_t)id);

        for (size_t i = 0; i < here && count < most; i++) {
            const struct tw_source_stats *stats =
                tw_tree_src_stats(tree, (uint8_t)id, i, &found[count].src);

            if (!stats)
                continue;
            found[count].id = (uint8_t)id;
            found[count].packets = stats->packets;
            found[count++].bytes = stats->bytes;
        }
    }
    return count;
}

/* The next piece of the buffer; TW_END: that was all. */
static enum tw_status read_piece(struct tw_tree *tree, const struct tw_capture *capture,
                                 size_t buffer, uint64_t *offset)
{
    struct tw_packet_view view = { .size = sizeof view };
    const uint8_t *bytes;
    size_t size;
    enum tw_status status = tw_capture_read(capture, &bytes, &size, buffer, *offset);

    if (status == TW_OK) {
        size = size < WINDOW ? size : WINDOW;
        *offset += size;
        status = tw_tree_feed(tree, bytes, size);
    }
    while (status == TW_OK)
        status = tw_tree_next_packet(tree, &view);
    return status == TW_MORE ? TW_OK : status;
}

size_t srcs_find(struct src *found, size_t most, const struct tw_capture *capture,
                 size_t buffer)
{
    const struct tw_tree_config config = { .size = sizeof config, .packets_only = true };
    struct tw_tree *tree = NULL;
    uint64_t offset = 0;
    size_t count = 0;

    if (tw_capture_tree(&tree, capture, buffer, &config, NULL) != TW_OK)
        return 0;
    /* Streams that name nobody in their first piece are one source's. */
    while (count < most && read_piece(tree, capture, buffer, &offset) == TW_OK &&
           (count = list(found, most, tree)) > 0)
        continue;
    count = list(found, most, tree);
    tw_tree_free(tree);
    return count;
}

bool srcs_are_several(const struct session *session)
{
    struct src found[2];

    if (session->options->srcs.count == 1)
        return false;
    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        if (session_wants(session, i) && srcs_find(found, 2, session->capture, i) == 2)
            return true;
    return false;
}
