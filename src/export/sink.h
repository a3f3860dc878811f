/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the writers of formats put their bytes: a buffer that is emptied when full. */
#ifndef EXPORT_SINK_H
#define EXPORT_SINK_H

#include <trackway/formats.h>

#include "base/compiler.h"

enum { TW_SINK_ROOM = 1 << 15 };

struct tw_sink {
    const struct tw_allocator *allocator;
    tw_write_fn *write;
    void *context;
    bool is_over; /* no more is wanted */
    bool lacks_memory;
    size_t used;
    char buffer[TW_SINK_ROOM];
};

void tw_sink_bytes(struct tw_sink *sink, const void *bytes, size_t size);
void tw_sink_text(struct tw_sink *sink, const char *text);
void tw_sink_format(struct tw_sink *sink, const char *format, ...) TW_PRINTF(2, 3);
void tw_sink_decimal(struct tw_sink *sink, uint64_t value);
/* A name where nothing is quoted: bytes that end a line are "?", and what ends a name there is ":". */
void tw_sink_name(struct tw_sink *sink, const char *name, char end);
/* A JSON string with its quotes; what is no UTF-8 becomes U+FFFD. */
void tw_sink_json(struct tw_sink *sink, const char *text);
/* The same of so many characters. */
void tw_sink_json_size(struct tw_sink *sink, const char *text, size_t size);
/* Text between tags or inside an attribute of XML, HTML or SVG. */
void tw_sink_xml(struct tw_sink *sink, const char *text);
/* A member of a table with commas, in quotes where it needs them. */
void tw_sink_csv(struct tw_sink *sink, const char *text);
enum tw_status tw_sink_end(struct tw_sink *sink);

/* Whether an edge is among those that are wanted. */
bool tw_subject_has_edge(const struct tw_subject *subject, const struct tw_call_edge *edge);
/* A name as the subject wants it shown. */
const char *tw_subject_name(const struct tw_subject *subject, const char *name);

#endif
