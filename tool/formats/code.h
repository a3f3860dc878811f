/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's code, as the source that executed it saw it. */
#ifndef CODE_H
#define CODE_H

#include <trackway/disassembly.h>

#include "shared/attribution.h"

struct code {
    const struct session *session;
    struct tw_view views[128];      /* by trace ID: what the last context says */
    struct attribution attribution; /* perf.data: whose context that is */
};

/* At the start of each buffer. */
void code_start(struct code *code, const struct session *session);
/* Sees every element; contexts count. */
void code_context(struct code *code, const struct tw_element *element, uint8_t id);
/* The number of the image that a trace ID's code is in; TW_NONE: there is none. */
uint32_t code_image(const struct session *session, uint8_t id);

/* Goes through the instructions of a range, one after the other. */
struct walk {
    const struct code *code;
    const struct tw_element *range;
    uint8_t id;

    struct tw_code_bytes at; /* the instruction; at.size 0: its bytes are not there */
    size_t size;             /* ... and how many it has */

    uint32_t left;
    uint64_t next, loaded;
    size_t there;
    uint8_t bytes[256];
};

void walk_start(struct walk *walk, const struct code *code, const struct tw_element *range,
                uint8_t id);
bool walk_next(struct walk *walk);

#endif
