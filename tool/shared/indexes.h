/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes of a capture's buffers: in a file beside it, or made when they are asked for. */
#ifndef INDEXES_H
#define INDEXES_H

#include <trackway/index.h>

#include "shared/session.h"

/* A buffer as the library's index wants it. */
struct subject {
    const struct session *session;
    size_t buffer;
    struct tw_index_capture about;
    struct tw_tree_source *sources;
    struct tw_register *registers; /* of all sources, when options add to them */
};

bool subject_open(struct subject *subject, const struct session *session, size_t buffer);
void subject_close(struct subject *subject);

struct indexes {
    const struct session *session;
    char *path;
    bool has_file;               /* there is one, good or not */
    struct tw_index_file *file;  /* NULL: none that can be used */
    struct tw_index **made;      /* by buffer; NULL: none was made */
    const struct tw_index **all; /* by buffer: of the file or made */
};

/* Opens the file, if there is one; says why it is of no use, if it is not. */
bool indexes_open(struct indexes *indexes, const struct session *session);
void indexes_close(struct indexes *indexes);
/* Looks at every page of the file now, not when it is needed; a damaged file is of no use. */
void indexes_check(struct indexes *indexes);
/* The file's index of the buffer, if it is of this capture; NULL: there is none (said why when one
   was expected).  is_thorough: compares all of the capture with it. */
const struct tw_index *indexes_find(struct indexes *indexes, const struct subject *subject,
                                    bool is_thorough);
/* The same; else made now, with all entries. */
const struct tw_index *indexes_need(struct indexes *indexes, const struct subject *subject,
                                    bool is_thorough);
/* Writes all that there are to the file. */
bool indexes_write(const struct indexes *indexes);

#endif
