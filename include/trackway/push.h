/* SPDX-License-Identifier: BSD-2-Clause */
/* The push data path: operations in, answers out, consumers called at three heights of a
   tree.  Stable. */
#ifndef TRACKWAY_PUSH_H
#define TRACKWAY_PUSH_H

#include <trackway/tree.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is asked of the data path. */
enum tw_operation {
    TW_OP_DATA,  /* here are bytes of the capture */
    TW_OP_EOT,   /* there are no more: give all that is held back, and the end of each stream */
    TW_OP_FLUSH, /* after an answer of the group WAIT: go on from where it stopped */
    TW_OP_RESET  /* back to the initial state; what was not delivered yet is lost */
};

/* Answers, of consumers and of the data path itself, in three groups. */
enum tw_response {
    /* CONT: go on with data. */
    TW_RESPONSE_CONT,
    TW_RESPONSE_CONT_WARNING, /* something to know of was met since the last answer ... */
    TW_RESPONSE_CONT_ERROR,   /* ... or bad trace; the error log tells what */
    /* WAIT: call with TW_OP_FLUSH until the answer is of the group CONT. */
    TW_RESPONSE_WAIT,
    TW_RESPONSE_WAIT_WARNING,
    TW_RESPONSE_WAIT_ERROR,
    /* FATAL: nothing goes on; only TW_OP_RESET helps. */
    TW_RESPONSE_FATAL_OPERATION, /* not now: data after the end, a call from inside a consumer */
    TW_RESPONSE_FATAL_ARGUMENT,  /* wrong argument, or an index that does not follow on */
    TW_RESPONSE_FATAL_DATA,      /* for consumers: what they got cannot be */
    TW_RESPONSE_FATAL_MEMORY     /* memory is out */
};

static inline bool tw_response_is_cont(enum tw_response response)
{
    return response <= TW_RESPONSE_CONT_ERROR;
}

static inline bool tw_response_is_wait(enum tw_response response)
{
    return response >= TW_RESPONSE_WAIT && response <= TW_RESPONSE_WAIT_ERROR;
}

static inline bool tw_response_is_fatal(enum tw_response response)
{
    return response >= TW_RESPONSE_FATAL_OPERATION;
}

/* Bytes of one ID that lie together in the capture, or something that the frames say. */
struct tw_raw {
    uint64_t index;       /* offset in the capture */
    uint64_t offset;      /* ... in the ID's own stream */
    const uint8_t *bytes; /* valid during the call */
    size_t size;
    uint8_t id;                         /* may be TW_ID_UNKNOWN, and one without decoder */
    const struct tw_frame_event *event; /* then there are no bytes; NULL: bytes */
};

/* Consumers.  What a consumer is called with counts as delivered, whatever it answers.  `raw` and
   `packet` are NULL for operations other than TW_OP_DATA: TW_OP_EOT comes once behind the last
   item, TW_OP_FLUSH when the data path is flushed after a WAIT (an answer of that group keeps it
   waiting), TW_OP_RESET when it is reset.  `element` is one of the batch's, which says of what
   source it is. */
typedef enum tw_response tw_raw_fn(void *context, enum tw_operation operation,
                                   const struct tw_raw *raw);
typedef enum tw_response tw_packet_fn(void *context, enum tw_operation operation,
                                      const struct tw_packet_view *packet);
typedef enum tw_response tw_element_fn(void *context, const struct tw_batch *batch,
                                       const struct tw_element *element);

/* Each consumer may be NULL. */
struct tw_push_config {
    size_t size; /* sizeof(struct tw_push_config) */
    tw_raw_fn *raw;
    void *raw_context;
    tw_packet_fn *packet; /* the tree has packets_only or with_packets */
    void *packet_context;
    tw_element_fn *element; /* the tree has not packets_only */
    void *element_context;
    /* The capture is worked on in pieces of this many bytes, 0: 65,536.  Of each piece all raw
       items come first, then the packets, then the elements. */
    size_t piece;
};

struct tw_push;

/* `tree` is borrowed: all its sources are added, nothing was fed.  From now on only the data path
   feeds it and takes from it; its statistics and error log may be looked at.  The memory comes
   from the tree's allocator. */
TW_API TW_MUST_USE enum tw_status tw_push_new(struct tw_push **push, struct tw_tree *tree,
                                              const struct tw_push_config *config,
                                              struct tw_fault *fault);
/* Frees the data path, not the tree. */
TW_API void tw_push_free(struct tw_push *push);

/* One operation.  TW_OP_DATA: `data` lies at offset `index` of the capture, directly behind the
   bytes used before (or anywhere, after new and after TW_OP_RESET); `*used` tells how many bytes
   were taken: all of them when the answer is of the group CONT, else the rest is to be given again
   once flushing has brought an answer of that group.  While the data path waits, TW_OP_DATA takes
   nothing, TW_OP_EOT does nothing, and both are answered with WAIT.  All other operations: 0, NULL and 0; `used` may be NULL. */
TW_API TW_MUST_USE enum tw_response tw_push_operation(struct tw_push *push, size_t *used,
                                                      enum tw_operation operation,
                                                      uint64_t index, const uint8_t *data,
                                                      size_t size);

/* "TW_RESPONSE_CONT" and the like; never NULL. */
TW_API const char *tw_response_name(enum tw_response response);

#ifdef __cplusplus
}
#endif

#endif
