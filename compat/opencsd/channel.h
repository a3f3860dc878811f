/* SPDX-License-Identifier: BSD-2-Clause */
/* One decoder of a decode tree: the bytes of its trace ID in, packets and elements out. */
#ifndef OPENCSD_CHANNEL_H
#define OPENCSD_CHANNEL_H

#include <trackway/image.h>
#include <trackway/tree.h>

#include "opencsd/element.h"
#include "opencsd/held.h"
#include "opencsd/log.h"
#include "opencsd/memory.h"
#include "opencsd/packets.h"
#include "opencsd/print.h"
#include "opencsd/protocol.h"

enum {
    OC_SPACES_MAX = 256,
    OC_STARTS = 4 /* packets behind which an element may come, and some more */
};

/* Where a packet began: the byte's index, and how far from it the packet's own is. */
struct oc_start {
    ocsd_trc_index_t index, shift;
};

/* Address spaces that were met: each pair of context ID and VMID has a number of its own. */
struct oc_spaces {
    struct {
        uint32_t context_id, vmid, number;
        uint8_t has; /* TW_CONTEXT_HAS_... */
    } known[OC_SPACES_MAX];
    size_t count;
    uint32_t last; /* number given */
};

/* Where a decoder is; goes back with it. */
struct oc_look {
    struct oc_spaces *spaces;
    uint32_t current;
};

struct oc_channel {
    const struct oc_protocol *protocol;
    struct oc_setup setup;
    struct oc_memory *memory; /* of the tree */
    bool is_full;             /* packets and elements, else packets alone */
    uint32_t flags;           /* OCSD_OPFLG_... */
    struct oc_source processor, decoder;
    ocsd_decode_stats_t stats;

    /* Packets. */
    struct oc_held held;
    void *reader;
    void *packet;          /* Trackway's struct */
    bool reader_is_behind; /* it has not seen what is done: elements came without it */
    struct oc_packets packets;
    struct oc_printer printer;
    size_t shared;      /* bytes of `held` that the last packet has a part of: none or one */
    bool shared_is_old; /* ... and the client stopped behind that packet */
    bool is_synced, has_shown_unsynced;
    bool is_decoding;                    /* what elements start with was seen */
    bool has_async;                      /* ... or what comes before that */
    enum oc_unsynced_next unsynced_next; /* how the index of the next packet comes about, ... */
    ocsd_trc_index_t unsynced_index;     /* ... where it is not that of its first byte */
    ocsd_trc_index_t last_index; /* of the last packet that elements could be made of; ... */
    bool last_is_in_tree;        /* ... only the tree knows it */

    /* Elements. */
    FnTraceElemIn element;
    const void *element_context;
    struct tw_tree *tree;
    struct tw_image *image;
    uint64_t generation; /* of the memory, when the image was last told to ask again, ... */
    uint64_t asked;      /* ... and how often callbacks had been asked by then */
    struct oc_spaces spaces;
    struct oc_look look;
    struct oc_shape shape;
    size_t fed;            /* bytes of `held` that the tree has */
    struct tw_batch batch; /* of the tree: what is not delivered yet, from `next` on */
    size_t next;
    uint64_t delivered;
    size_t skip; /* elements that were delivered before the tree went back ... */
    ocsd_datapath_resp_t answer; /* ... and what the client said to the last of them */
    size_t chunk;                /* bytes that are decoded at once; 0: packet by packet ... */
    unsigned calm;               /* ... for so many packets so far */
    /* The last packets, of which elements may come yet: one of STM that ends with F is taken for a packet only when the
       tree has more, which comes with the next ones. */
    struct oc_start starts[OC_STARTS];
    unsigned start;  /* the next to be replaced */
    bool is_waiting; /* the client stopped inside what the tree has */
    bool is_ending;
};

/* The config struct is that of the protocol.  NULL: no memory. */
struct oc_channel *oc_channel_new(const struct oc_protocol *protocol, const void *config,
                                  int flags, struct oc_memory *memory);
void oc_channel_free(struct oc_channel *channel);

/* OCSD_OP_DATA; *used gets the bytes done. */
ocsd_datapath_resp_t oc_channel_data(struct oc_channel *channel, ocsd_trc_index_t index,
                                     uint32_t size, const uint8_t *data, uint32_t *used);
/* The other operations. */
ocsd_datapath_resp_t oc_channel_operation(struct oc_channel *channel, ocsd_datapath_op_t op,
                                          ocsd_trc_index_t index);
/* OCSD_OP_DATA in two steps, for bytes that do not lie together: first all of them (false: no memory),
   then what becomes of them; `size` is how many there were.  Only as many as it wants, and only if it
   wants any: not when it has to go on with something. */
size_t oc_channel_appetite(const struct oc_channel *channel);
bool oc_channel_hold(struct oc_channel *channel, ocsd_trc_index_t index, uint32_t size,
                     const uint8_t *data);
ocsd_datapath_resp_t oc_channel_take(struct oc_channel *channel, uint32_t size, uint32_t *used);

#endif
