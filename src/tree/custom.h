/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocols of the caller, as the rest of the tree sees them. */
#ifndef TREE_CUSTOM_H
#define TREE_CUSTOM_H

#include <trackway/protocol.h>

#include "protocol.h"

/* One protocol of a tree. */
struct tw_custom {
    struct tw_protocol table;
    struct tw_custom_protocol about;
    struct tw_custom *next;
};

/* Adds a protocol to a list. */
enum tw_status tw_custom_add(struct tw_custom **list, const struct tw_custom_protocol *protocol,
                             const struct tw_allocator *allocator, struct tw_fault *fault);
/* NULL: there is none of this name. */
const struct tw_protocol *tw_custom_by_name(const struct tw_custom *list, const char *name);
/* From now on the decoder's input are packets as they lie in memory, until it is reset. */
void tw_custom_take_packets(void *decoder);
/* Tells a fresh config whose it is; before configure. */
void tw_custom_prepare(void *config, const struct tw_protocol *protocol);
void tw_custom_free(struct tw_custom *list, const struct tw_allocator *allocator);

extern const struct tw_member_table tw_custom_members;

#endif
