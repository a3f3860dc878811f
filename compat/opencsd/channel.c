/* SPDX-License-Identifier: BSD-2-Clause */
/* One decoder: the data path from bytes to packets and elements.  Where nobody looks at packets and
   the client takes elements as they come, the tree decodes many bytes at once; a client that has to
   stop somewhere inside is given exactly what came before, by going back and decoding packet by
   packet. */
#include "opencsd/channel.h"

#include <stdlib.h>
#include <string.h>

#include "opencsd/settings.h"

enum {
    CHUNK_LEAST = 16,  /* bytes decoded at once after a stop: twice as many each time ... */
    CHUNK_MOST = 8192, /* ... up to this */
    CALM_PACKETS = 32  /* after so many single ones */
};

/* ---- Memory */

static size_t read_memory(void *context, uint8_t *out, const struct tw_view *view,
                          uint64_t address, size_t size)
{
    const struct oc_channel *channel = context;
    const struct oc_reader reader = { .space = view->space, .id = channel->setup.id };

    return oc_memory_read(channel->memory, &reader, address, (uint32_t)size, out);
}

/* The number of an address space.  When too many were met new ones are not kept. */
static uint32_t space_number(struct oc_spaces *spaces, const struct tw_element *context)
{
    const uint8_t has = context->flags & (TW_CONTEXT_HAS_CID | TW_CONTEXT_HAS_VMID);

    for (size_t i = spaces->count; i-- > 0;)
        if (spaces->known[i].has == has && spaces->known[i].context_id == context->context_id &&
            spaces->known[i].vmid == context->vmid)
            return spaces->known[i].number;
    spaces->last++;
    if (spaces->count < OC_SPACES_MAX) {
        spaces->known[spaces->count].has = has;
        spaces->known[spaces->count].context_id = context->context_id;
        spaces->known[spaces->count].vmid = context->vmid;
        spaces->known[spaces->count++].number = spaces->last;
    }
    return spaces->last;
}

static void look(void *context, struct tw_view *view, const struct tw_element *element)
{
    struct oc_look *at = context;

    if (element && element->type == TW_ELEMENT_PE_CONTEXT)
        at->current = space_number(at->spaces, element);
    view->context = at->current;
}

/* What the memory's accessors say is asked anew. */
static void forget_memory(struct oc_channel *channel)
{
    channel->generation = channel->memory->generation;
    channel->spaces.count = 0;
    if (channel->image && tw_image_set_callback(channel->image, read_memory, channel) != TW_OK)
        channel->image = NULL; /* it never fails */
}

/* ---- Elements */

static ocsd_datapath_resp_t give(struct oc_channel *channel, const struct tw_element *element)
{
    struct oc_shape *shape = &channel->shape;

    if (element->type == TW_ELEMENT_INSTR_RANGE)
        oc_shape_range(&shape->element.plain, element);
    else if (!oc_shape_other(shape, element))
        return OCSD_RESP_CONT;
    if (channel->skip) /* it was delivered, and answered, before the tree went back */
        return --channel->skip ? OCSD_RESP_CONT : channel->answer;
    channel->delivered++;
    return channel->to.element(channel->to.element_context, (ocsd_trc_index_t)element->index,
                               channel->setup.id, &shape->element.plain);
}

/* What the tree has, until the client stops it. */
static ocsd_datapath_resp_t deliver(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    enum tw_status status = TW_OK;

    while (status == TW_OK) {
        while (channel->next < channel->batch.count) {
            answer = give(channel, &channel->batch.elements[channel->next++]);
            if (!OCSD_DATA_RESP_IS_CONT(answer))
                return answer;
        }
        channel->next = channel->batch.count = 0;
        status = tw_tree_next(channel->tree, &channel->batch);
        if (status != TW_OK)
            channel->batch.count = 0;
    }
    return status < 0 ? OCSD_RESP_FATAL_SYS_ERR : answer;
}

/* Whether elements can come out at all. */
static bool is_ready(const struct oc_channel *channel)
{
    const char *lacks = NULL;

    if (!channel->to.element)
        lacks = "No element output interface attached and enabled";
    else if (channel->protocol->follows && !channel->memory->is_used)
        lacks = "No memory access interface attached and enabled";
    if (lacks)
        oc_log_error(&channel->decoder, &(struct oc_error){ .severity = OCSD_ERR_SEV_ERROR,
                                                            .code = OCSD_ERR_NOT_INIT,
                                                            .index = OCSD_BAD_TRC_INDEX,
                                                            .id = OCSD_BAD_CS_SRC_ID,
                                                            .message = lacks });
    return !lacks;
}

/* Bytes of `held` from `from` up to `until` to the tree. */
static enum tw_status feed(struct oc_channel *channel, size_t from, size_t until)
{
    enum tw_status status = TW_OK;

    while (from < until && status == TW_OK) {
        size_t size;
        const uint64_t index = oc_held_index(&channel->held, from, &size);

        if (size > until - from)
            size = until - from;
        status = tw_tree_feed_at(channel->tree, index, channel->held.bytes + from, size);
        from += size;
    }
    return status;
}

/* ---- Packet by packet */

/* The reader begins at held.bytes[0], wherever it was before. */
static void catch_up(struct oc_channel *channel)
{
    const struct oc_protocol *protocol = channel->protocol;

    if (!channel->reader_is_behind)
        return;
    channel->reader_is_behind = false;
    protocol->reader_lost(channel->reader);
    (void)protocol->read(channel->reader, channel->packet, protocol->sync, protocol->sync_size,
                         false);
}

/* The tree forgets the beginning of a packet that it holds. */
static enum tw_status take_back(struct oc_channel *channel)
{
    enum tw_status status;

    if (!channel->fed)
        return TW_OK;
    channel->fed = 0;
    status = tw_tree_mark(channel->tree);
    return status == TW_OK ? tw_tree_return(channel->tree) : status;
}

static void count_packet(struct oc_channel *channel, const struct tw_packet *packet,
                         size_t size)
{
    const struct oc_protocol *protocol = channel->protocol;

    if (protocol->is_not_sync(packet->type))
        channel->stats.channel_unsynced += size;
    else
        channel->is_synced = true;
}

/* One packet.  *is_cut: there is none, but the beginning of one. */
static ocsd_datapath_resp_t step(struct oc_channel *channel, bool *is_cut)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_packet *packet = channel->packet;
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    size_t size;

    catch_up(channel);
    if (take_back(channel) != TW_OK)
        return OCSD_RESP_FATAL_SYS_ERR;
    *is_cut = protocol->read(channel->reader, channel->packet, channel->held.bytes,
                             channel->held.size, false) != TW_OK;
    if (*is_cut)
        return OCSD_RESP_CONT;
    size = packet->size - (packet->spare_bits != 0);
    count_packet(channel, packet, size);
    if (channel->is_full && !is_ready(channel))
        answer = OCSD_RESP_FATAL_NOT_INIT;
    else if (channel->is_full)
        answer = feed(channel, 0, size) == TW_OK ? deliver(channel) : OCSD_RESP_FATAL_SYS_ERR;
    oc_held_drop(&channel->held, size);
    return answer;
}

/* ---- Many packets at once */

static bool may_batch(const struct oc_channel *channel)
{
    return channel->chunk && channel->is_full && channel->is_synced && !channel->skip &&
           channel->protocol->may_batch && !channel->to.monitor;
}

/* Elements that came at once, until something asks for single packets. */
static ocsd_datapath_resp_t deliver_batch(struct oc_channel *channel, bool *is_odd)
{
    for (size_t i = 0; i < channel->batch.count; i++) {
        const struct tw_element *element = &channel->batch.elements[i];
        ocsd_datapath_resp_t answer;

        *is_odd = element->type == TW_ELEMENT_ERROR ||
                  (element->type == TW_ELEMENT_NO_SYNC && element->reason > TW_REASON_DISCARD);
        if (*is_odd)
            return OCSD_RESP_CONT;
        answer = give(channel, element);
        if (answer != OCSD_RESP_CONT)
            return answer;
    }
    return OCSD_RESP_CONT;
}

/* Goes back to the mark; the elements delivered since are not delivered again. */
static ocsd_datapath_resp_t go_back(struct oc_channel *channel, uint64_t delivered,
                                    ocsd_datapath_resp_t answer)
{
    channel->fed = channel->chunk = channel->calm = 0;
    channel->skip = (size_t)(channel->delivered - delivered);
    channel->answer = answer;
    channel->reader_is_behind = true;
    return tw_tree_return(channel->tree) == TW_OK ? OCSD_RESP_CONT : OCSD_RESP_FATAL_SYS_ERR;
}

/* A stretch of what is held.  Where the client stops, or the trace has a place that is to be looked
   at closely, nothing was done but what was delivered; it goes on packet by packet. */
static ocsd_datapath_resp_t stretch(struct oc_channel *channel, bool *is_cut)
{
    const uint64_t delivered = channel->delivered;
    size_t until = channel->fed + channel->chunk, done;
    enum tw_status status = tw_tree_mark(channel->tree);
    bool is_odd = false;

    if (until > channel->held.size)
        until = channel->held.size;
    if (status == TW_OK)
        status = feed(channel, channel->fed, until);
    while (status == TW_OK &&
           (status = tw_tree_next(channel->tree, &channel->batch)) == TW_OK) {
        const ocsd_datapath_resp_t answer = deliver_batch(channel, &is_odd);

        channel->batch.count = channel->next = 0;
        if (answer != OCSD_RESP_CONT || is_odd)
            return go_back(channel, delivered, answer);
    }
    channel->batch.count = 0;
    if (status < 0)
        return OCSD_RESP_FATAL_SYS_ERR;
    if (channel->chunk < CHUNK_MOST)
        channel->chunk *= 2;
    channel->reader_is_behind = true;
    done = (size_t)(tw_tree_done(channel->tree) - channel->held.offset);
    channel->fed = until - done;
    oc_held_drop(&channel->held, done);
    *is_cut = channel->fed == channel->held.size;
    return OCSD_RESP_CONT;
}

/* ---- Operations */

/* What was answered with WAIT goes on. */
static ocsd_datapath_resp_t go_on(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    if (!channel->tree)
        return OCSD_RESP_CONT;
    if (channel->next < channel->batch.count || channel->is_ending)
        answer = deliver(channel);
    if (OCSD_DATA_RESP_IS_CONT(answer) && channel->is_ending) {
        channel->is_ending = false; /* more may follow, whatever was said */
        channel->fed = 0;
        oc_held_drop(&channel->held, channel->held.size);
        if (tw_tree_return(channel->tree) != TW_OK)
            return OCSD_RESP_FATAL_SYS_ERR;
    }
    return answer;
}

static ocsd_datapath_resp_t take(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    bool is_cut = false;

    while (channel->held.size && !is_cut && OCSD_DATA_RESP_IS_CONT(answer)) {
        if (channel->spaces.count == OC_SPACES_MAX)
            forget_memory(channel);
        if (may_batch(channel)) {
            answer = stretch(channel, &is_cut);
            continue;
        }
        answer = step(channel, &is_cut);
        if (answer == OCSD_RESP_CONT && !channel->chunk && ++channel->calm == CALM_PACKETS)
            channel->chunk = CHUNK_LEAST;
    }
    return answer;
}

bool oc_channel_hold(struct oc_channel *channel, ocsd_trc_index_t index, uint32_t size,
                     const uint8_t *data)
{
    return oc_held_add(&channel->held, index, data, size);
}

ocsd_datapath_resp_t oc_channel_take(struct oc_channel *channel, uint32_t size, uint32_t *used)
{
    ocsd_datapath_resp_t answer;

    if (channel->generation != channel->memory->generation || channel->memory->is_uncached)
        forget_memory(channel);
    answer = take(channel);
    *used = size;
    if (!OCSD_DATA_RESP_IS_CONT(answer)) { /* the rest is given again */
        const size_t left = channel->held.size < size ? channel->held.size : size;

        *used -= (uint32_t)left;
        oc_held_cut(&channel->held, left);
        channel->calm = 0;
        channel->chunk = 0;
    }
    channel->stats.channel_total += *used;
    return answer;
}

ocsd_datapath_resp_t oc_channel_data(struct oc_channel *channel, ocsd_trc_index_t index,
                                     uint32_t size, const uint8_t *data, uint32_t *used)
{
    const ocsd_datapath_resp_t answer = go_on(channel);

    *used = 0;
    if (!OCSD_DATA_RESP_IS_CONT(answer))
        return answer;
    if (!oc_channel_hold(channel, index, size, data))
        return OCSD_RESP_FATAL_SYS_ERR;
    return oc_channel_take(channel, size, used);
}

static ocsd_datapath_resp_t end(struct oc_channel *channel)
{
    if (!is_ready(channel))
        return OCSD_RESP_FATAL_NOT_INIT;
    if (take_back(channel) != TW_OK || tw_tree_mark(channel->tree) != TW_OK ||
        feed(channel, 0, channel->held.size) != TW_OK || tw_tree_finish(channel->tree) != TW_OK)
        return OCSD_RESP_FATAL_SYS_ERR;
    channel->is_ending = true;
    return go_on(channel);
}

static void reset(struct oc_channel *channel)
{
    oc_held_clear(&channel->held);
    channel->protocol->reader_lost(channel->reader);
    channel->reader_is_behind = false;
    channel->is_synced = channel->is_ending = false;
    channel->fed = channel->skip = channel->next = channel->batch.count = 0;
    channel->calm = 0;
    if (!channel->tree)
        return;
    tw_tree_reset(channel->tree, 0);
    forget_memory(channel);
}

ocsd_datapath_resp_t oc_channel_operation(struct oc_channel *channel, ocsd_datapath_op_t op,
                                          ocsd_trc_index_t index)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    (void)index;
    switch (op) {
    case OCSD_OP_FLUSH:
        if (channel->is_full && !is_ready(channel))
            return OCSD_RESP_FATAL_NOT_INIT;
        return go_on(channel);
    case OCSD_OP_EOT:
        answer = go_on(channel);
        return OCSD_DATA_RESP_IS_CONT(answer) && channel->is_full ? end(channel) : answer;
    default:
        if (channel->is_full && !is_ready(channel))
            return OCSD_RESP_FATAL_NOT_INIT;
        reset(channel);
        return OCSD_RESP_CONT;
    }
}

size_t oc_channel_appetite(const struct oc_channel *channel)
{
    const bool is_idle = channel->next == channel->batch.count && !channel->is_ending;

    return is_idle && may_batch(channel) ? channel->chunk : 0;
}

/* ---- Making one */

static enum tw_status make_tree(struct oc_channel *channel)
{
    const struct oc_protocol *protocol = channel->protocol;
    const struct tw_tree_config config = {
        .size = sizeof config,
        .stops_at_context = true,
        .source_address_n = (channel->flags & ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS) != 0,
    };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = protocol->library,
                                     .registers = channel->setup.registers,
                                     .register_count = channel->setup.count,
                                     .core_type = channel->setup.core,
                                     .id = channel->setup.id };
    enum tw_status status = TW_OK;

    if (protocol->follows) {
        status = tw_image_new(&channel->image, NULL, NULL);
        source.image = channel->image;
        source.view = look;
        source.view_context = &channel->look;
        source.view_size = sizeof channel->look;
    }
    if (status == TW_OK)
        status = tw_tree_new(&channel->tree, &config, NULL);
    if (status == TW_OK)
        status = tw_tree_add_source(channel->tree, NULL, &source);
    if (status == TW_OK)
        forget_memory(channel);
    return status;
}

struct oc_channel *oc_channel_new(const struct oc_protocol *protocol, const void *config,
                                  int flags, struct oc_memory *memory)
{
    struct oc_channel *channel = calloc(1, sizeof *channel);
    enum tw_status status;

    if (!channel)
        return NULL;
    channel->protocol = protocol;
    channel->memory = memory;
    channel->flags = (uint32_t)flags;
    channel->is_full = (flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
    protocol->configure(&channel->setup, config);
    channel->look.spaces = &channel->spaces;
    channel->batch.size = sizeof channel->batch;
    oc_shape_init(&channel->shape);
    channel->shape.has_time_flag = protocol->has_time_flag;
    channel->packet = calloc(1, protocol->packet_size);
    status =
        channel->packet ? protocol->reader_new(&channel->reader, &channel->setup) : TW_E_MEMORY;
    if (status == TW_OK && channel->is_full)
        status = make_tree(channel);
    if (status != TW_OK) {
        oc_channel_free(channel);
        return NULL;
    }
    return channel;
}

void oc_channel_free(struct oc_channel *channel)
{
    if (!channel)
        return;
    tw_tree_free(channel->tree);
    tw_image_free(channel->image);
    if (channel->reader)
        channel->protocol->reader_free(channel->reader);
    free(channel->packet);
    oc_held_free(&channel->held);
    free(channel);
}
