/* SPDX-License-Identifier: BSD-2-Clause */
/* The fields of data packets, as members of a JSON line. */
#include "etraced/packet.h"

#include <inttypes.h>

static void json_wide(struct tw_text *out, const char *key, uint64_t low, uint64_t high)
{
    if (!high) {
        tw_json_hex(out, key, low);
        return;
    }
    tw_json_key(out, key);
    tw_text_format(out, "\"0x%" PRIx64 "%016" PRIx64 "\"", high, low);
}

void tw_etraced_json(struct tw_text *out, const struct tw_etrace_packet *packet)
{
    const unsigned type = packet->base.type;
    const bool is_response =
        type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA;
    const bool is_split =
        is_response || type == TW_ETRACE_SPLIT_LOAD_ADDR || type == TW_ETRACE_SPLIT_ATOMIC_ADDR;

    tw_json_u64(out, "format", packet->format);
    if (type == TW_ETRACE_ATOMIC || type == TW_ETRACE_SPLIT_ATOMIC_ADDR ||
        type == TW_ETRACE_CSR)
        tw_json_u64(out, "subtype", packet->subtype);
    if (type != TW_ETRACE_CSR)
        tw_json_u64(out, "size", packet->data_size);
    if (is_split)
        tw_json_u64(out, "lrid", packet->lrid);
    if (is_response)
        tw_json_u64(out, "resp", packet->resp);
    else
        tw_json_u64(out, "diff", packet->diff);
    if (packet->has & TW_ETRACE_HAS_OPERAND) {
        tw_json_u64(out, "op_len", packet->op_len);
        json_wide(out, "operand", packet->operand, packet->operand_high);
        json_wide(out, "operand_value", packet->operand_value, packet->operand_value_high);
    }
    if (packet->has & TW_ETRACE_HAS_DATA) {
        tw_json_u64(out, "data_len", packet->data_len);
        json_wide(out, "data", packet->data, packet->data_high);
        json_wide(out, "value", packet->value, packet->value_high);
    }
    if (packet->has & TW_ETRACE_HAS_ADDRESS) {
        if (type == TW_ETRACE_CSR) {
            tw_json_hex(out, "addr_msbs", packet->field >> 6);
            tw_json_hex(out, "addr_lsbs", packet->field & 0x3f);
        } else {
            tw_json_hex(out, "field", packet->field);
        }
        tw_json_hex(out, "address", packet->address);
    }
}
