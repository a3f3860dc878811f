/* SPDX-License-Identifier: BSD-2-Clause */
/* One decoder: the data path from bytes to packets and elements.  Where nobody looks at packets and
   the client takes elements as they come, the tree decodes many bytes at once; a client that has to
   stop somewhere inside is given exactly what came before, by going back and decoding packet by
   packet. */
#include "opencsd/channel.h"

#include <stdlib.h>
#include <string.h>

#include "opencsd/elements.h"
#include "opencsd/settings.h"
#include "opencsd/step.h"
#include "opencsd/stretch.h"

/* Bytes that are copied at once: few at first, for a client that stops soon and gives the rest again; then
   twice as many each time.  All that may be there before the synchronization, which goes by what there
   is. */
enum { SLICE_LEAST = 256, SLICE_MOST = 1 << 20 };

/* Bytes are missing before the next one. */
static void lose(struct oc_channel *channel)
{
    oc_elements_find_last(channel);
    oc_held_clear(&channel->held);
    channel->protocol->reader_lost(channel->reader);
    channel->reader_is_behind = false;
    channel->is_synced = channel->is_waiting = channel->is_ending = channel->is_decoding =
        false;
    channel->has_shown_unsynced = channel->shared_is_old = channel->has_async = false;
    channel->unsynced_next = OC_NEXT_BYTE;
    channel->fed = channel->shared = channel->skip = channel->next = channel->batch.count = 0;
    channel->calm = 0;
    memset(channel->starts, 0, sizeof channel->starts);
    if (channel->tree) {
        tw_tree_reset(channel->tree, 0);
        if (channel->asked !=
            channel->memory->asked) /* what callbacks say may be another now */
            oc_elements_forget_memory(channel);
    }
}

/* What was answered with WAIT goes on. */
static ocsd_datapath_resp_t go_on(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;

    if (!channel->tree)
        return OCSD_RESP_CONT;
    if (channel->is_waiting || channel->is_ending)
        answer = oc_elements_deliver(channel);
    if (OCSD_DATA_RESP_IS_CONT(answer) && channel->is_ending) {
        channel->is_ending = false; /* more may follow, whatever was said */
        if (channel->held.size)     /* but the rest of this packet cannot */
            lose(channel);
        else if (tw_tree_return(channel->tree) != TW_OK)
            return OCSD_RESP_FATAL_SYS_ERR;
        channel->fed = 0;
    }
    return answer;
}

static ocsd_datapath_resp_t take(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    bool is_cut = false;

    while (channel->held.size && !is_cut && OCSD_DATA_RESP_IS_CONT(answer)) {
        if (channel->spaces.count == OC_SPACES_MAX)
            oc_elements_forget_memory(channel);
        if (oc_stretch_is_possible(channel)) {
            answer = oc_stretch(channel, &is_cut);
            continue;
        }
        if (oc_step_may_run(channel)) {
            answer = oc_step_run(channel, &is_cut);
            continue;
        }
        answer = oc_step(channel, &is_cut);
        if (answer == OCSD_RESP_CONT && !channel->chunk && ++channel->calm == OC_CALM_PACKETS)
            channel->chunk = OC_CHUNK_LEAST;
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
        oc_elements_forget_memory(channel);
    answer = take(channel);
    *used = size;
    if (!OCSD_DATA_RESP_IS_CONT(answer)) { /* the rest is given again */
        const size_t unseen = channel->held.size - channel->shared;
        const size_t left = unseen < size ? unseen : size;

        *used -= (uint32_t)left;
        channel->shared_is_old = channel->shared != 0;
        oc_held_cut(&channel->held, left);
        channel->calm = 0;
        channel->chunk = 0;
    }
    channel->stats.channel_total += *used;
    return answer;
}

/* Whether anything can be done at all. */
static bool is_ready(const struct oc_channel *channel)
{
    if (channel->is_full)
        return oc_elements_are_ready(channel, false);
    return !channel->protocol->needs_consumer || channel->packets.to.sink ||
           channel->packets.to.monitor;
}

ocsd_datapath_resp_t oc_channel_data(struct oc_channel *channel, ocsd_trc_index_t index,
                                     uint32_t size, const uint8_t *data, uint32_t *used)
{
    ocsd_datapath_resp_t answer;
    uint32_t most = SLICE_LEAST;

    *used = 0;
    if (!channel->is_full && !is_ready(channel))
        return OCSD_RESP_FATAL_NOT_INIT;
    answer = go_on(channel);
    while (*used < size && OCSD_DATA_RESP_IS_CONT(answer)) {
        const uint32_t room = channel->is_synced ? most : SLICE_MOST;
        const uint32_t slice = size - *used < room ? size - *used : room;
        uint32_t taken = 0;

        if (most < SLICE_MOST)
            most *= 2;
        if (!oc_channel_hold(channel, index + *used, slice, data + *used))
            return OCSD_RESP_FATAL_SYS_ERR;
        answer = oc_channel_take(channel, slice, &taken);
        *used += taken;
    }
    return answer;
}

static ocsd_datapath_resp_t end_elements(struct oc_channel *channel)
{
    if (tw_tree_mark(channel->tree) != TW_OK ||
        oc_elements_feed(channel, channel->fed, channel->held.size) != TW_OK ||
        tw_tree_finish(channel->tree) != TW_OK)
        return OCSD_RESP_FATAL_SYS_ERR;
    channel->is_ending = true;
    return go_on(channel);
}

static ocsd_datapath_resp_t end(struct oc_channel *channel)
{
    ocsd_datapath_resp_t answer;

    if (oc_elements_take_back(channel) != TW_OK)
        return OCSD_RESP_FATAL_SYS_ERR;
    answer = oc_step_last(channel);
    if (!OCSD_DATA_RESP_IS_FATAL(answer))
        answer = channel->is_full ? end_elements(channel) : oc_packets_end(&channel->packets);
    oc_packets_ended(&channel->packets);
    if (!channel->is_full && channel->held.size)
        lose(channel);
    return answer;
}

static ocsd_datapath_resp_t reset(struct oc_channel *channel, ocsd_trc_index_t index)
{
    const ocsd_datapath_resp_t answer = oc_packets_reset(&channel->packets, index);

    if (!OCSD_DATA_RESP_IS_FATAL(answer))
        lose(channel);
    return answer;
}

ocsd_datapath_resp_t oc_channel_operation(struct oc_channel *channel, ocsd_datapath_op_t op,
                                          ocsd_trc_index_t index)
{
    ocsd_datapath_resp_t answer;

    if (!is_ready(channel))
        return OCSD_RESP_FATAL_NOT_INIT;
    switch (op) {
    case OCSD_OP_FLUSH:
        return channel->is_full ? go_on(channel) : oc_packets_flush(&channel->packets);
    case OCSD_OP_EOT:
        answer = go_on(channel);
        return OCSD_DATA_RESP_IS_CONT(answer) ? end(channel) : answer;
    default:
        return reset(channel, index);
    }
}

size_t oc_channel_appetite(const struct oc_channel *channel)
{
    const bool is_idle = !channel->is_waiting && !channel->is_ending;

    if (oc_step_may_run(channel))
        return OC_CHUNK_MOST;
    return is_idle && oc_stretch_is_possible(channel) ? channel->chunk : 0;
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
    channel->shape.is_raw_time = channel->setup.time_is_gray && oc_settings()->is_strict;
    channel->packet = calloc(1, protocol->packet_size);
    status = channel->packet && oc_packets_init(&channel->packets, protocol, &channel->setup,
                                                channel->flags)
                 ? protocol->reader_new(&channel->reader, &channel->setup)
                 : TW_E_MEMORY;
    if (status == TW_OK && channel->is_full)
        status = oc_elements_start(channel);
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
    oc_packets_free(&channel->packets);
    oc_output_drop(channel->printer.output);
    oc_held_free(&channel->held);
    free(channel);
}
