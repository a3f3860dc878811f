/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbols of each image, and what --function and --range keep. */
#ifndef NAMES_H
#define NAMES_H

#include <trackway/symbols.h>

#include "shared/session.h"

struct names {
    const struct session *session;
    bool is_filtered;
    size_t count; /* images; the last one stands for code of no image */
    struct image_names {
        struct tw_symbols *symbols; /* NULL: not asked for */
        struct address_range *ranges;
        size_t range_count;
    } * images;
    struct tw_symbols **files; /* perf.data: by file number, once they were asked for */
};

/* DONE, or the exit status that says why not (said in words too). */
int names_open(struct names *names, const struct session *session);
void names_close(struct names *names);

/* The symbols of a source's code; NULL: none. */
struct tw_symbols *names_of(const struct names *names, uint8_t id);
/* Those of a file that perf.data maps, by its own addresses; NULL: none. */
struct tw_symbols *names_of_file(const struct names *names, uint32_t file);
/* Whether anything from `first` up to `end` is to be shown. */
bool names_keep(const struct names *names, uint8_t id, uint64_t first, uint64_t end);

#endif
