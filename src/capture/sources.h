/* SPDX-License-Identifier: BSD-2-Clause */
/* Which sources a buffer holds, and how a decode tree gets them: said here, and nowhere else. */
#ifndef CAPTURE_SOURCES_H
#define CAPTURE_SOURCES_H

#include <trackway/capture.h>
#include <trackway/perfdata.h>

enum tw_on_error { TW_ON_ERROR_USUAL, TW_ON_ERROR_RESUME, TW_ON_ERROR_WAIT };

/* A source of the buffer that was added to the tree, or why it was not. */
struct tw_added_source {
    uint32_t number;                     /* for tw_capture_source */
    uint8_t id;                          /* that the tree gave it */
    const struct tw_tree_source *source; /* as it was given; lasts as long as the tree */
    const char *left_out;                /* why; NULL: it was added */
};

struct tw_source_setup {
    const struct tw_capture *capture;
    uint32_t buffer;
    struct tw_tree *tree;
    const char *core_type;  /* instead of the capture's; or NULL */
    struct tw_image *image; /* the same, for every source */
    enum tw_on_error on_error;
    bool assumes_sync;
    /* perf.data: what the decoders look through, by source number; NULL: the tree keeps its own. */
    struct tw_perf_cursor *cursors;
    /* Both optional. */
    bool (*wants)(void *context, uint32_t source);
    void (*added)(void *context, const struct tw_added_source *source);
    void *context;
};

/* Adds every source of the buffer that is wanted and can be decoded; how many.  SIZE_MAX: no memory.
   An unframed buffer holds one alone: the first that can be decoded. */
size_t tw_add_sources(const struct tw_source_setup *setup);

#endif
