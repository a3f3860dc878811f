/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of one decoder. */
#include "opencsd/elements.h"

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

void oc_elements_forget_memory(struct oc_channel *channel)
{
    channel->generation = channel->memory->generation;
    channel->asked = channel->memory->asked;
    channel->spaces.count = 0;
    if (channel->image && tw_image_set_callback(channel->image, read_memory, channel) != TW_OK)
        channel->image = NULL; /* it never fails */
}

/* ---- Elements */

/* How far an element's index is from that of the byte in which its packet began, which need not be the packet at work. */
static ocsd_trc_index_t shift_at(const struct oc_channel *channel, ocsd_trc_index_t index)
{
    for (unsigned i = 0; i < OC_STARTS; i++) {
        const struct oc_start *start = &channel->starts[(channel->start + i) % OC_STARTS];

        if (start->index == index && start->shift)
            return start->shift;
    }
    return 0;
}

/* The end of trace is where the last packet was, be it before a reset. */
static ocsd_trc_index_t index_of(const struct oc_channel *channel,
                                 const struct tw_element *element)
{
    if (element->type == TW_ELEMENT_EO_TRACE && !channel->last_is_in_tree)
        return channel->last_index;
    return (ocsd_trc_index_t)element->index +
           shift_at(channel, (ocsd_trc_index_t)element->index);
}

ocsd_datapath_resp_t oc_elements_give(struct oc_channel *channel,
                                      const struct tw_element *element)
{
    struct oc_shape *shape = &channel->shape;

    if (element->type == TW_ELEMENT_INSTR_RANGE)
        oc_shape_range(&shape->element.plain, element);
    else if (!oc_shape_other(shape, element))
        return OCSD_RESP_CONT;
    if (channel->skip) /* it was delivered, and answered, before the tree went back */
        return --channel->skip ? OCSD_RESP_CONT : channel->answer;
    channel->delivered++;
    return channel->element(channel->element_context, index_of(channel, element),
                            channel->setup.id, &shape->element.plain);
}

ocsd_datapath_resp_t oc_elements_deliver(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    enum tw_status status = TW_OK;

    channel->is_waiting = false;
    while (status == TW_OK) {
        while (channel->next < channel->batch.count) {
            answer = oc_elements_give(channel, &channel->batch.elements[channel->next++]);
            if (!OCSD_DATA_RESP_IS_CONT(answer)) {
                channel->is_waiting = true;
                return answer;
            }
        }
        channel->next = channel->batch.count = 0;
        status = tw_tree_next(channel->tree, &channel->batch);
        if (status != TW_OK)
            channel->batch.count = 0;
    }
    return status < 0 ? OCSD_RESP_FATAL_SYS_ERR : answer;
}

bool oc_elements_are_ready(const struct oc_channel *channel, bool is_quiet)
{
    const char *lacks = NULL;

    if (!channel->element)
        lacks = "No element output interface attached and enabled";
    else if (channel->protocol->follows && !channel->memory->is_used)
        lacks = "No memory access interface attached and enabled";
    if (lacks && !is_quiet)
        oc_log_error(&channel->decoder, &(struct oc_error){ .severity = OCSD_ERR_SEV_ERROR,
                                                            .code = OCSD_ERR_NOT_INIT,
                                                            .index = OCSD_BAD_TRC_INDEX,
                                                            .id = OCSD_BAD_CS_SRC_ID,
                                                            .message = lacks });
    return !lacks;
}

enum tw_status oc_elements_feed(struct oc_channel *channel, size_t from, size_t until)
{
    struct tw_stream part;

    if (from >= until)
        return TW_OK;
    part = oc_held_part(&channel->held, from, until);
    return tw_tree_feed_stream(channel->tree, &part);
}

enum tw_status oc_elements_take_back(struct oc_channel *channel)
{
    enum tw_status status;

    if (!channel->fed || !channel->protocol->may_batch)
        return TW_OK;
    channel->fed = 0;
    status = tw_tree_mark(channel->tree);
    return status == TW_OK ? tw_tree_return(channel->tree) : status;
}

/* Of the tree's end, if the batch has it. */
static void note_end(struct oc_channel *channel)
{
    for (size_t i = 0; i < channel->batch.count; i++)
        if (channel->batch.elements[i].type == TW_ELEMENT_EO_TRACE)
            channel->last_index = (ocsd_trc_index_t)channel->batch.elements[i].index;
}

void oc_elements_find_last(struct oc_channel *channel)
{
    enum tw_status status;

    if (!channel->last_is_in_tree)
        return;
    note_end(channel); /* the client stopped the end of trace */
    status = oc_elements_take_back(channel);
    if (status == TW_OK && !channel->is_ending)
        status = tw_tree_finish(channel->tree);
    while (status == TW_OK) {
        status = tw_tree_next(channel->tree, &channel->batch);
        if (status == TW_OK)
            note_end(channel);
    }
    channel->last_is_in_tree = false;
}

enum tw_status oc_elements_start(struct oc_channel *channel)
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
        oc_elements_forget_memory(channel);
    return status;
}
