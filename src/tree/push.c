/* SPDX-License-Identifier: BSD-2-Clause */
/* The push data path: a thin layer on pull that calls consumers and may stop at any item. */
#include <trackway/push.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tree/branch.h"

enum { DEFAULT_PIECE = 65536 };

/* A raw item that waits for its consumer; its bytes lie in `bytes` of the data path. */
struct raw_item {
    uint64_t index, offset;
    size_t at, size;
    struct tw_frame_event event;
    bool is_event;
    uint8_t id;
};

struct tw_push {
    struct tw_push_config config;
    struct tw_tree *tree;
    uint64_t next; /* index that the next byte must have */
    bool is_fed, is_ended, is_waiting, is_busy;
    enum tw_response fatal; /* TW_RESPONSE_CONT: none; sticky */
    unsigned worst;         /* since the last answer: 0, 1 warning, 2 error */

    /* Of the piece at work. */
    struct raw_item *items;
    size_t item_count, item_room, next_item;
    uint8_t *bytes;
    size_t byte_count, byte_room;
    size_t events_seen;
    bool raw_has_failed; /* no memory to keep an item */
    struct tw_batch batch;
    size_t next_element;
    bool raw_is_told, packet_is_told; /* of the end */
};

const char *tw_response_name(enum tw_response response)
{
    static const char *const names[] = {
        [TW_RESPONSE_CONT] = "TW_RESPONSE_CONT",
        [TW_RESPONSE_CONT_WARNING] = "TW_RESPONSE_CONT_WARNING",
        [TW_RESPONSE_CONT_ERROR] = "TW_RESPONSE_CONT_ERROR",
        [TW_RESPONSE_WAIT] = "TW_RESPONSE_WAIT",
        [TW_RESPONSE_WAIT_WARNING] = "TW_RESPONSE_WAIT_WARNING",
        [TW_RESPONSE_WAIT_ERROR] = "TW_RESPONSE_WAIT_ERROR",
        [TW_RESPONSE_FATAL_OPERATION] = "TW_RESPONSE_FATAL_OPERATION",
        [TW_RESPONSE_FATAL_ARGUMENT] = "TW_RESPONSE_FATAL_ARGUMENT",
        [TW_RESPONSE_FATAL_DATA] = "TW_RESPONSE_FATAL_DATA",
        [TW_RESPONSE_FATAL_MEMORY] = "TW_RESPONSE_FATAL_MEMORY",
    };

    return (unsigned)response < TW_LENGTH(names) ? names[response] : "TW_RESPONSE_UNKNOWN";
}

/* ---- Raw items, kept while the tree is fed */

static struct raw_item *keep_item(struct tw_push *push)
{
    const struct tw_allocator *allocator = push->tree->config.allocator;

    if (push->raw_has_failed ||
        !TW_GROW(allocator, &push->items, &push->item_room, push->item_count + 1)) {
        push->raw_has_failed = true;
        return NULL;
    }
    return &push->items[push->item_count++];
}

/* What the frames have said since this was asked last. */
static void keep_events(struct tw_push *push)
{
    const struct tw_frame_event *events;
    size_t count;

    if (!push->tree->unframer)
        return;
    events = tw_unframer_events(push->tree->unframer, &count);
    for (; push->events_seen < count; push->events_seen++) {
        struct raw_item *item = keep_item(push);

        if (!item)
            return;
        *item = (struct raw_item){ .index = events[push->events_seen].offset,
                                   .event = events[push->events_seen],
                                   .is_event = true,
                                   .id = TW_ID_UNKNOWN };
    }
}

static void keep_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct tw_push *push = context;
    struct raw_item *item;

    keep_events(push);
    item = keep_item(push);
    if (!item)
        return;
    if (!TW_GROW(push->tree->config.allocator, &push->bytes, &push->byte_room,
                 push->byte_count + size)) {
        push->raw_has_failed = true;
        push->item_count--;
        return;
    }
    *item = (struct raw_item){ .index = capture_offset,
                               .offset = stream_offset,
                               .at = push->byte_count,
                               .size = size,
                               .id = id };
    memcpy(push->bytes + push->byte_count, bytes, size);
    push->byte_count += size;
}

static void forget_items(struct tw_push *push)
{
    push->item_count = push->next_item = 0;
    push->byte_count = 0;
    push->events_seen = 0;
}

/* ---- Delivery: each function returns true when nothing is left at its height */

static void note(struct tw_push *push, unsigned severity)
{
    if (severity > push->worst)
        push->worst = severity;
}

/* True: go on. */
static bool heed(struct tw_push *push, enum tw_response answer)
{
    if ((unsigned)answer > TW_RESPONSE_FATAL_MEMORY)
        answer = TW_RESPONSE_FATAL_ARGUMENT;
    if (tw_response_is_fatal(answer)) {
        push->fatal = answer;
        return false;
    }
    if (tw_response_is_wait(answer)) {
        note(push, (unsigned)answer - TW_RESPONSE_WAIT);
        push->is_waiting = true;
        return false;
    }
    note(push, (unsigned)answer);
    return true;
}

static bool fail(struct tw_push *push, enum tw_status status)
{
    push->fatal = status == TW_E_MEMORY ? TW_RESPONSE_FATAL_MEMORY : TW_RESPONSE_FATAL_ARGUMENT;
    return false;
}

static bool deliver_raw(struct tw_push *push)
{
    const struct tw_push_config *config = &push->config;

    if (push->raw_has_failed)
        return fail(push, TW_E_MEMORY);
    while (push->next_item < push->item_count) {
        const struct raw_item *item = &push->items[push->next_item++];
        const struct tw_raw raw = { .index = item->index,
                                    .offset = item->offset,
                                    .bytes = item->is_event ? NULL : push->bytes + item->at,
                                    .size = item->size,
                                    .id = item->id,
                                    .event = item->is_event ? &item->event : NULL };

        if (!heed(push, config->raw(config->raw_context, TW_OP_DATA, &raw)))
            return false;
    }
    forget_items(push);
    if (!push->is_ended || push->raw_is_told || !config->raw)
        return true;
    push->raw_is_told = true;
    return heed(push, config->raw(config->raw_context, TW_OP_EOT, NULL));
}

static bool deliver_packets(struct tw_push *push)
{
    const struct tw_push_config *config = &push->config;
    struct tw_packet_view view = { .size = sizeof view };
    enum tw_status status;

    if (!push->tree->config.packets_only && !push->tree->config.with_packets)
        return true;
    while ((status = tw_tree_next_packet(push->tree, &view)) == TW_OK) {
        if (push->tree->config.packets_only)
            note(push, view.is_bad ? 2 : 0);
        if (config->packet &&
            !heed(push, config->packet(config->packet_context, TW_OP_DATA, &view)))
            return false;
    }
    if (status < 0)
        return fail(push, status);
    if (!push->is_ended || push->packet_is_told || !config->packet)
        return true;
    push->packet_is_told = true;
    return heed(push, config->packet(config->packet_context, TW_OP_EOT, NULL));
}

static void note_element(struct tw_push *push, const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_ERROR)
        note(push, 2);
    else if (element->type == TW_ELEMENT_NO_SYNC &&
             (element->reason == TW_REASON_OVERFLOW || element->reason == TW_REASON_DISCARD))
        note(push, 1);
}

static bool deliver_elements(struct tw_push *push)
{
    const struct tw_push_config *config = &push->config;
    enum tw_status status = TW_OK;

    if (push->tree->config.packets_only)
        return true;
    while (status == TW_OK) {
        while (push->next_element < push->batch.count) {
            const struct tw_element *element = &push->batch.elements[push->next_element++];

            note_element(push, element);
            if (config->element &&
                !heed(push, config->element(config->element_context, &push->batch, element)))
                return false;
        }
        push->next_element = push->batch.count = 0;
        status = tw_tree_next(push->tree, &push->batch);
    }
    push->batch.count = 0;
    return status > 0 || fail(push, status);
}

/* All that is there, as far as the consumers want it. */
static bool deliver(struct tw_push *push)
{
    return deliver_raw(push) && deliver_packets(push) && deliver_elements(push);
}

/* ---- Operations */

static enum tw_response answer(struct tw_push *push)
{
    const unsigned worst = push->worst;

    push->worst = 0;
    if (push->fatal != TW_RESPONSE_CONT)
        return push->fatal;
    return (enum tw_response)((push->is_waiting ? TW_RESPONSE_WAIT : TW_RESPONSE_CONT) +
                              (int)worst);
}

static enum tw_response refuse(struct tw_push *push, enum tw_response why)
{
    push->fatal = why;
    return why;
}

static enum tw_response take_data(struct tw_push *push, size_t *used, uint64_t index,
                                  const uint8_t *data, size_t size)
{
    if (!used || (size && !data))
        return refuse(push, TW_RESPONSE_FATAL_ARGUMENT);
    if (push->is_waiting)
        return answer(push);
    if (push->is_ended)
        return refuse(push, TW_RESPONSE_FATAL_OPERATION);
    if (push->is_fed && index != push->next)
        return refuse(push, TW_RESPONSE_FATAL_ARGUMENT);
    if (!push->is_fed)
        tw_tree_rebase(push->tree, index);
    push->is_fed = true;
    push->next = index;
    while (*used < size) {
        const size_t left = size - *used;
        const size_t piece = left < push->config.piece ? left : push->config.piece;
        enum tw_status status;

        forget_items(push);
        status = tw_tree_feed(push->tree, data + *used, piece);
        if (push->config.raw)
            keep_events(push);
        *used += piece;
        push->next += piece;
        if (status != TW_OK)
            (void)fail(push, status);
        if (status != TW_OK || !deliver(push))
            break;
    }
    return answer(push);
}

static enum tw_response end(struct tw_push *push)
{
    enum tw_status status;

    if (push->is_waiting || push->is_ended)
        return answer(push);
    push->is_ended = true;
    forget_items(push);
    status = tw_tree_finish(push->tree);
    if (push->config.raw)
        keep_events(push);
    if (status != TW_OK)
        (void)fail(push, status);
    else
        (void)deliver(push);
    return answer(push);
}

static bool tell(struct tw_push *push, enum tw_operation operation)
{
    const struct tw_push_config *config = &push->config;
    bool goes_on = true;

    if (config->raw)
        goes_on = heed(push, config->raw(config->raw_context, operation, NULL));
    if (config->packet && push->fatal == TW_RESPONSE_CONT)
        goes_on &= heed(push, config->packet(config->packet_context, operation, NULL));
    return goes_on;
}

static enum tw_response flush(struct tw_push *push)
{
    if (!push->is_waiting)
        return answer(push);
    push->is_waiting = false;
    if (tell(push, TW_OP_FLUSH))
        (void)deliver(push);
    return answer(push);
}

static enum tw_response reset(struct tw_push *push)
{
    tw_tree_reset(push->tree, push->tree->config.base);
    forget_items(push);
    push->batch.count = push->next_element = 0;
    push->is_fed = push->is_ended = false;
    push->raw_is_told = push->packet_is_told = push->raw_has_failed = false;
    push->fatal = TW_RESPONSE_CONT;
    push->worst = 0;
    (void)tell(push, TW_OP_RESET);
    push->is_waiting = false; /* there is nothing to wait for */
    return answer(push);
}

enum tw_response tw_push_operation(struct tw_push *push, size_t *used,
                                   enum tw_operation operation, uint64_t index,
                                   const uint8_t *data, size_t size)
{
    enum tw_response response = TW_RESPONSE_FATAL_ARGUMENT;

    if (used)
        *used = 0;
    if (push->is_busy) /* from inside a consumer */
        return TW_RESPONSE_FATAL_OPERATION;
    if (push->fatal != TW_RESPONSE_CONT && operation != TW_OP_RESET)
        return push->fatal;
    push->is_busy = true;
    switch (operation) {
    case TW_OP_DATA:
        response = take_data(push, used, index, data, size);
        break;
    case TW_OP_EOT:
        response = end(push);
        break;
    case TW_OP_FLUSH:
        response = flush(push);
        break;
    case TW_OP_RESET:
        response = reset(push);
        break;
    default:
        response = refuse(push, TW_RESPONSE_FATAL_ARGUMENT);
    }
    push->is_busy = false;
    return response;
}

enum tw_status tw_push_new(struct tw_push **push, struct tw_tree *tree,
                           const struct tw_push_config *config, struct tw_fault *fault)
{
    const bool has_packets = tree->config.packets_only || tree->config.with_packets;
    struct tw_push_config copy;
    struct tw_push *made;

    *push = NULL;
    TW_TRY(TW_SIZED_TAKE(&copy, config, "tw_push_config", fault));
    if (tree->is_started)
        return tw_fail(fault, TW_E_ARGUMENT, "the tree was fed already");
    if (copy.packet && !has_packets)
        return tw_fail(fault, TW_E_CONFIG,
                       "packets are wanted of a tree without packets_only or with_packets");
    if (copy.element && tree->config.packets_only)
        return tw_fail(fault, TW_E_CONFIG, "elements are wanted of a tree with packets_only");
    made = tw_take(tree->config.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for a data path");
    made->config = copy;
    if (!made->config.piece)
        made->config.piece = DEFAULT_PIECE;
    made->tree = tree;
    made->batch.size = sizeof made->batch;
    if (copy.raw) {
        tree->on_run = keep_run;
        tree->on_run_context = made;
    }
    *push = made;
    return TW_OK;
}

void tw_push_free(struct tw_push *push)
{
    const struct tw_allocator *allocator;

    if (!push)
        return;
    allocator = push->tree->config.allocator;
    tw_give(allocator, push->items);
    tw_give(allocator, push->bytes);
    tw_give(allocator, push);
}
