/* SPDX-License-Identifier: BSD-2-Clause */
/* --at: a place in a capture, and decoding from there as if all before it had been decoded too. */
#ifndef AT_H
#define AT_H

#include "shared/indexes.h"

enum point_kind { POINT_TIME, POINT_OFFSET, POINT_NTH };

struct point {
    enum point_kind kind;
    enum tw_index_kind of; /* POINT_NTH */
    uint64_t value;        /* time, offset, or number counted from 1 */
};

/* The value of --at; false: it is none, said so. */
bool point_parse(struct point *point, const struct options *options);
/* The entry of a kind with this number, from 0 on, among all IDs that are wanted; and how many
   there are. */
enum tw_status point_nth(const struct tw_index *index, struct tw_index_entry *entry,
                         const struct session *session, enum tw_index_kind kind, uint64_t nth);
uint64_t point_count(const struct tw_index *index, const struct session *session,
                     enum tw_index_kind kind);

/* What a session that began in the middle has to know. */
struct at {
    struct indexes indexes;
    struct subject subject;
    const struct tw_index *index; /* NULL: none */
    bool is_begun;        /* the point is behind: buffers are decoded from their start */
    uint64_t offset;      /* elements before it are left out */
    uint64_t from;        /* where decoding began */
    unsigned back;        /* sync points between the two */
    uint64_t given, skip; /* elements given out; and still to pass over again */
    uint64_t left;        /* of --count */
    bool is_seen[128];    /* something of this ID came before `offset` */
};

/* Instead of session_run, when there is --at or --count. */
int at_run(struct session *session, session_fn *each, void *context);

/* For session_next: leaves of a batch what is wanted.  TW_OK: there is some; TW_MORE: ask again;
   TW_END: no more is wanted. */
enum tw_status at_trim(struct session *session, struct tw_batch *batch);

#endif
