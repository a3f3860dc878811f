/* SPDX-License-Identifier: BSD-2-Clause */
/* A stream that several sources share (RISC-V: E-Trace srcid, N-Trace SRC).  The branch of its trace
   ID takes the stream apart, packet by packet; each source is a branch of its own that gets its
   packets alone.  Bytes that are no source's (idle, damaged) stay with the branch of the ID, and
   where the stream is damaged every source has a gap. */
#ifndef TREE_SHARED_H
#define TREE_SHARED_H

#include "tree/branch.h"

/* What is held of one source's packets. */
struct tw_shared_part {
    uint8_t *bytes; /* bytes[head] up to bytes[size] */
    size_t head, size, room;
    uint64_t origin; /* stream offset of bytes[0] */
    struct tw_place *places;
    uint64_t *offsets; /* one for each place: its offset in the shared stream */
    size_t place_head, place_count, place_room, offset_room;
    bool has_gap; /* something may be missing before the next packet ... */
    uint64_t gap; /* ... from this capture offset on */
};

/* Damage of the stream, until it is handed out. */
struct tw_shared_error {
    struct tw_element element;
    uint64_t released; /* capture offset at which its end was known */
};

/* Of the branch whose stream is shared. */
struct tw_shared {
    void *router; /* the protocol's reader, that takes the stream apart */
    struct tw_tree_source about;
    struct tw_src_image *images;
    uint32_t *srcs;              /* that are wanted; none: all */
    struct tw_branch **branches; /* by ascending src */
    size_t count, room;
    struct tw_branch *last; /* that a packet went to */
    uint64_t handled_gap;
    bool is_full; /* there are too many sources, and it was said */
    bool is_open; /* damage whose end is not known yet ... */
    struct tw_element open;
    uint64_t open_offset; /* ... and its stream offset */
    struct tw_shared_error *errors;
    size_t error_first, error_count, error_room;
    struct tw_stats total;
};

/* The branch's configuration says that its stream is shared.  Keeps of the source what branches of
   the single sources will need. */
enum tw_status tw_shared_new(struct tw_branch *branch, const struct tw_tree_source *source);
/* Also of a single source's branch. */
void tw_shared_free(struct tw_branch *branch);
void tw_shared_reset(struct tw_branch *branch);

/* Takes apart what is held of the stream. */
enum tw_status tw_shared_route(struct tw_branch *branch);
/* What is held of a single source's packets, and that the first bytes of it are done. */
struct tw_stream tw_shared_stream(const struct tw_branch *branch);
void tw_shared_consume(struct tw_branch *branch, size_t size);
/* Whether a single source has sent anything, since a reset if there was one. */
bool tw_shared_has_begun(const struct tw_branch *branch);
/* Where a stream offset of a single source lies in the shared stream. */
uint64_t tw_shared_offset(const struct tw_branch *branch, uint64_t offset);
/* Damage of the stream becomes elements. */
void tw_shared_fill(struct tw_branch *branch, struct tw_output *output);
bool tw_shared_has_errors(const struct tw_branch *branch);
/* The next packet that is no source's; its bytes are those before *used. */
enum tw_status tw_shared_read(struct tw_branch *branch, size_t *used, size_t end, bool is_last);

/* What came under the ID in all. */
const struct tw_source_stats *tw_shared_total(const struct tw_branch *branch);

/* tree.c: a branch for a source of this one's stream. */
enum tw_status tw_tree_add_src(struct tw_branch *trunk, struct tw_branch **added, uint32_t src);

#endif
