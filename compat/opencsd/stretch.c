/* SPDX-License-Identifier: BSD-2-Clause */
/* Many packets at once. */
#include "opencsd/stretch.h"

#include "opencsd/elements.h"

bool oc_stretch_is_possible(const struct oc_channel *channel)
{
    return channel->chunk && channel->is_full && channel->is_decoding && !channel->skip &&
           channel->protocol->may_batch && !channel->packets.to.monitor;
}

/* A range, which most elements are; the others are given one by one. */
static inline ocsd_datapath_resp_t give_range(struct oc_channel *channel,
                                              const struct tw_element *element)
{
    oc_shape_range(&channel->shape.element.plain, element);
    channel->delivered++;
    return channel->element(channel->element_context, (ocsd_trc_index_t)element->index,
                            channel->setup.id, &channel->shape.element.plain);
}

/* Elements that came at once, until something asks for single packets. */
static ocsd_datapath_resp_t deliver_batch(struct oc_channel *channel, bool *is_odd)
{
    const struct tw_element *element = channel->batch.elements;
    const struct tw_element *const end = element + channel->batch.count;
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    for (; element < end && answer == OCSD_RESP_CONT; element++) {
        if (element->type == TW_ELEMENT_INSTR_RANGE) {
            answer = give_range(channel, element);
            continue;
        }
        if (element->type == TW_ELEMENT_ERROR && element->error == TW_ERROR_UNPLACED)
            continue;
        /* Up to the next synchronization elements do not tell of bad packets. */
        *is_odd = element->type == TW_ELEMENT_ERROR || element->type == TW_ELEMENT_NO_SYNC;
        if (*is_odd)
            return OCSD_RESP_CONT;
        answer = oc_elements_give(channel, element);
    }
    return answer;
}

/* Goes back to the mark; the elements delivered since are not delivered again. */
static ocsd_datapath_resp_t go_back(struct oc_channel *channel, uint64_t delivered,
                                    ocsd_datapath_resp_t answer)
{
    channel->fed = channel->chunk = channel->calm = 0;
    channel->skip = (size_t)(channel->delivered - delivered);
    channel->answer = answer;
    channel->reader_is_behind = true;
    channel->is_decoding = true; /* as it was */
    return tw_tree_return(channel->tree) == TW_OK ? OCSD_RESP_CONT : OCSD_RESP_FATAL_SYS_ERR;
}

ocsd_datapath_resp_t oc_stretch(struct oc_channel *channel, bool *is_cut)
{
    const uint64_t delivered = channel->delivered;
    size_t until = channel->fed + channel->chunk, done;
    enum tw_status status = tw_tree_mark(channel->tree);
    bool is_odd = false;

    if (until > channel->held.size)
        until = channel->held.size;
    if (status == TW_OK)
        status = oc_elements_feed(channel, channel->fed, until);
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
    if (tw_tree_is_damaged(channel->tree)) /* a bad packet that nothing tells of yet */
        return go_back(channel, delivered, OCSD_RESP_CONT);
    if (channel->chunk < OC_CHUNK_MOST)
        channel->chunk *= 2;
    channel->reader_is_behind = true;
    done = (size_t)(tw_tree_done(channel->tree) - channel->held.offset);
    channel->fed = until - done;
    channel->last_is_in_tree = channel->last_is_in_tree || done;
    oc_held_drop(&channel->held, done);
    *is_cut = channel->fed == channel->held.size;
    return OCSD_RESP_CONT;
}
