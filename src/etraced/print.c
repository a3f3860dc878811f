/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of data packets: what their lines say. */
#include "base/members.h"
#include "etraced/packet.h"

/* clang-format off */
enum {
    FORMAT, SUBTYPE, SIZE, LRID, RESP, DIFF, OP_LEN, OPERAND, OPERAND_VALUE, DATA_LEN, DATA,
    VALUE, ADDR_MSBS, ADDR_LSBS, FIELD, ADDRESS, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [FORMAT] = TW_PAIR("format", DECIMAL),
    [SUBTYPE] = TW_PAIR("subtype", DECIMAL),
    [SIZE] = TW_PAIR("size", DECIMAL),
    [LRID] = TW_PAIR("lrid", DECIMAL),
    [RESP] = TW_PAIR("resp", DECIMAL),
    [DIFF] = TW_PAIR("diff", DECIMAL),
    [OP_LEN] = TW_PAIR("op_len", DECIMAL),
    [OPERAND] = TW_PAIR("operand", WIDE),
    [OPERAND_VALUE] = TW_PAIR("operand_value", WIDE),
    [DATA_LEN] = TW_PAIR("data_len", DECIMAL),
    [DATA] = TW_PAIR("data", WIDE),
    [VALUE] = TW_PAIR("value", WIDE),
    [ADDR_MSBS] = TW_PAIR("addr_msbs", HEX),
    [ADDR_LSBS] = TW_PAIR("addr_lsbs", HEX),
    [FIELD] = TW_PAIR("field", HEX),
    [ADDRESS] = TW_PAIR("address", HEX),
};
/* clang-format on */

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_etrace_packet *packet = any;
    const unsigned type = packet->base.type;
    const bool is_response =
        type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA;
    const bool is_split =
        is_response || type == TW_ETRACE_SPLIT_LOAD_ADDR || type == TW_ETRACE_SPLIT_ATOMIC_ADDR;

    (void)protocol;
    tw_put(out, FORMAT, packet->format);
    if (type == TW_ETRACE_ATOMIC || type == TW_ETRACE_SPLIT_ATOMIC_ADDR ||
        type == TW_ETRACE_CSR)
        tw_put(out, SUBTYPE, packet->subtype);
    if (type != TW_ETRACE_CSR)
        tw_put(out, SIZE, packet->data_size);
    if (is_split)
        tw_put(out, LRID, packet->lrid);
    if (is_response)
        tw_put(out, RESP, packet->resp);
    else
        tw_put(out, DIFF, packet->diff);
    if (packet->has & TW_ETRACE_HAS_OPERAND) {
        tw_put(out, OP_LEN, packet->op_len);
        tw_put_wide(out, OPERAND, packet->operand, packet->operand_high);
        tw_put_wide(out, OPERAND_VALUE, packet->operand_value, packet->operand_value_high);
    }
    if (packet->has & TW_ETRACE_HAS_DATA) {
        tw_put(out, DATA_LEN, packet->data_len);
        tw_put_wide(out, DATA, packet->data, packet->data_high);
        tw_put_wide(out, VALUE, packet->value, packet->value_high);
    }
    if (packet->has & TW_ETRACE_HAS_ADDRESS) {
        if (type == TW_ETRACE_CSR) {
            tw_put(out, ADDR_MSBS, packet->field >> 6);
            tw_put(out, ADDR_LSBS, packet->field & 0x3f);
        } else {
            tw_put(out, FIELD, packet->field);
        }
        tw_put(out, ADDRESS, packet->address);
    }
}

const struct tw_member_table tw_etraced_members = { rows, MEMBERS, put_members, NULL };
