/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 data trace: transfers to elements that know their address and their instruction. */
#include "etmv3/decode.h"

void tw_etmv3_data_forget(struct tw_etmv3_decoder *decoder)
{
    struct tw_etmv3_data *data = &decoder->data;

    data->is_known = data->is_last = data->has_next = false;
    for (unsigned tag = 0; tag < TW_ETMV3_TAGS; tag++)
        data->slots[tag].is_open = false;
}

void tw_etmv3_data_instruction(struct tw_etmv3_decoder *decoder, const struct tw_follow *follow,
                               const struct tw_element *range)
{
    struct tw_etmv3_data *data = &decoder->data;
    const struct tw_block_more *more = &follow->blocks->more[follow->last_block];

    if (!more->transfers)
        return;
    data->pc = (uint32_t)range->start;
    data->serial++;
    data->left = more->transfers;
    data->flags = more->transfer_flags;
    data->is_known = data->is_last = true;
    data->has_next = false;
}

static uint8_t kind_of(const struct tw_etmv3_data *data)
{
    if (!data->is_known)
        return TW_DATA_UNKNOWN;
    switch (data->flags & (TW_TRANSFER_LOADS | TW_TRANSFER_STORES)) {
    case TW_TRANSFER_LOADS:
        return TW_DATA_LOAD;
    case TW_TRANSFER_STORES:
        return TW_DATA_STORE;
    default:
        return TW_DATA_SWAP;
    }
}

/* The next transfer: what is common to its address and its value. */
static void next_transfer(struct tw_etmv3_decoder *decoder, struct tw_element *out,
                          const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_data *data = &decoder->data;

    if (data->is_known && !data->left)
        data->is_known = false; /* more than the instruction makes */
    *out = (struct tw_element){ .index = packet->base.index, .kind = kind_of(data) };
    if (data->is_known) {
        data->left--;
        out->pc = data->pc;
        out->size = data->flags & TW_TRANSFER_SIZE;
        out->flags |= TW_DATA_HAS_PC;
    }
    if (packet->is_big_endian)
        out->flags |= TW_DATA_BIG_ENDIAN;
    if (packet->is_first) {
        data->has_next = packet->has_data_address && packet->data_valid == 32;
        data->next = packet->data_address;
    }
    if (data->has_next) {
        out->flags |= TW_DATA_HAS_ADDRESS;
        out->data_address = data->next;
        data->next += 4;
    }
}

static void add_address(struct tw_stage *stage, const struct tw_element *transfer)
{
    struct tw_element *element = stage->out;

    if (!(transfer->flags & TW_DATA_HAS_ADDRESS))
        return;
    *element = *transfer;
    element->type = TW_ELEMENT_DATA_ADDR;
    stage->out++;
}

static void add_value(struct tw_stage *stage, const struct tw_element *transfer, uint32_t value)
{
    struct tw_element *element = stage->out++;

    *element = *transfer;
    element->type = TW_ELEMENT_DATA_VALUE;
    element->data_value = value;
    element->flags |= TW_DATA_HAS_VALUE;
}

static void take_value(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_element *first = stage->out;
    struct tw_element transfer;

    next_transfer(decoder, &transfer, packet);
    add_address(stage, &transfer);
    if (packet->has_value)
        add_value(stage, &transfer, packet->data_value);
    if (!decoder->waiting && first != stage->out)
        decoder->waiting = first;
}

/* The address now, the value later. */
static void take_placeholder(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_slot *slot = &decoder->data.slots[packet->tag & 3];

    next_transfer(decoder, &slot->value, packet);
    slot->serial = decoder->data.serial;
    slot->is_open = true;
    add_address(stage, &slot->value);
}

static void take_late_value(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_etmv3_slot *slot = &decoder->data.slots[packet->tag & 3];
    /* Its placeholder was not traced: the tag is all there is. */
    struct tw_element alone = { .kind = TW_DATA_UNKNOWN,
                                .pc = packet->tag,
                                .flags = TW_DATA_HAS_KEY };
    struct tw_element *value = slot->is_open ? &slot->value : &alone;

    value->index = packet->base.index;
    if (!decoder->waiting)
        decoder->waiting = stage->out;
    add_value(stage, value, packet->data_value);
    slot->is_open = false;
}

/* The value just traced is of an exclusive store that did not happen. */
static void take_store_fail(struct tw_stage *stage)
{
    const struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_element *value = stage->out - 1;

    if (!decoder->waiting || value < decoder->waiting || value->type != TW_ELEMENT_DATA_VALUE)
        return;
    value->kind = TW_DATA_SC_FAIL;
    if (value > decoder->waiting && value[-1].type == TW_ELEMENT_DATA_ADDR &&
        value[-1].data_address == value->data_address)
        value[-1].kind = TW_DATA_SC_FAIL;
}

void tw_etmv3_take_data(struct tw_stage *stage, const struct tw_etmv3_packet *packet)
{
    struct tw_etmv3_decoder *decoder = stage->decoder;
    struct tw_element transfer;

    switch (packet->base.type) {
    case TW_ETMV3_NORM_DATA:
        take_value(stage, packet);
        break;
    case TW_ETMV3_OOO_ADDR_PLC:
        take_placeholder(stage, packet);
        break;
    case TW_ETMV3_OOO_DATA:
        take_late_value(stage, packet);
        break;
    case TW_ETMV3_VAL_NOT_TRACED:
        next_transfer(decoder, &transfer, packet);
        add_address(stage, &transfer);
        break;
    case TW_ETMV3_STORE_FAIL:
        take_store_fail(stage);
        break;
    default: /* suppressed: what comes next may be of another instruction */
        decoder->data.is_known = decoder->data.has_next = false;
        tw_stage_add_error(stage, TW_ERROR_OVERFLOW, packet->base.index,
                           TW_ETMV3_HEAD_DATA_SUPPRESSED, 0);
    }
}
