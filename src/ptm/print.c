/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM packets as text for people, and as members of a JSON line. */
#include "base/compiler.h"
#include "ptm/packet.h"

/* clang-format off */
const struct tw_packet_type tw_ptm_types[TW_PTM_TYPES] = {
    [TW_PTM_NOT_SYNC] = { "NOTSYNC", TW_PACKET_NOT_SYNC },
    [TW_PTM_INCOMPLETE_EOT] = { "INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_PTM_BAD_SEQUENCE] = { "BAD_SEQUENCE", TW_PACKET_BAD },
    [TW_PTM_RESERVED] = { "RESERVED", TW_PACKET_BAD },
    [TW_PTM_ASYNC] = { "ASYNC", TW_PACKET_SYNC },
    [TW_PTM_ISYNC] = { "ISYNC", TW_PACKET_INFO },
    [TW_PTM_ATOM] = { "ATOM", TW_PACKET_FLOW },
    [TW_PTM_BRANCH_ADDRESS] = { "BRANCH_ADDRESS", TW_PACKET_FLOW },
    [TW_PTM_WP_UPDATE] = { "WP_UPDATE", TW_PACKET_FLOW },
    [TW_PTM_TRIGGER] = { "TRIGGER", TW_PACKET_EVENT },
    [TW_PTM_CONTEXT_ID] = { "CTXTID", TW_PACKET_CONTEXT },
    [TW_PTM_VMID] = { "VMID", TW_PACKET_CONTEXT },
    [TW_PTM_TIMESTAMP] = { "TIMESTAMP", TW_PACKET_TIME },
    [TW_PTM_EXCEPTION_RETURN] = { "ERET", TW_PACKET_EXCEPTION },
    [TW_PTM_IGNORE] = { "IGNORE", TW_PACKET_PADDING },
};
/* clang-format on */

const char *tw_ptm_type_name(unsigned type)
{
    return type < TW_PTM_TYPES ? tw_ptm_types[type].name : "UNKNOWN";
}

bool tw_ptm_type_is_bad(unsigned type)
{
    return type < TW_PTM_TYPES && tw_kind_is_bad(tw_ptm_types[type].kind);
}

/* Letters, the oldest atom first. */
static void atom_letters(char letters[9], const struct tw_ptm_packet *packet)
{
    unsigned i;

    for (i = 0; i < packet->atom_count && i < 8; i++)
        letters[i] = packet->atoms >> i & 1 ? 'E' : 'N';
    letters[i] = 0;
}

static const char *exception_name(const struct tw_ptm_packet *packet)
{
    return (packet->exception & 15) == 5 ? "thumbee_check"
                                         : tw_armv7_exception_name(packet->exception);
}

static void print_address(struct tw_text *out, const struct tw_ptm_packet *packet)
{
    tw_text_char(out, ' ');
    tw_text_hex(out, packet->address);
    if (packet->address_valid < 32)
        tw_text_format(out, " (bits %u:0)", packet->address_valid - 1u);
    tw_text_char(out, ' ');
    tw_text_add(out, tw_isa_name(packet->isa));
}

static void print_state(struct tw_text *out, const struct tw_ptm_packet *packet)
{
    tw_text_add(out, packet->ns ? " NS" : " S");
    if (packet->hyp)
        tw_text_add(out, " Hyp");
}

void tw_ptm_print(struct tw_text *out, const void *any)
{
    const struct tw_ptm_packet *packet = any;
    char letters[9];

    tw_text_add(out, tw_ptm_type_name(packet->base.type));
    switch (packet->base.type) {
    case TW_PTM_ATOM:
        atom_letters(letters, packet);
        tw_text_char(out, ' ');
        tw_text_add(out, letters);
        break;
    case TW_PTM_ISYNC:
        tw_text_char(out, ' ');
        tw_text_add(out, tw_armv7_reason_name(packet->reason));
        print_address(out, packet);
        print_state(out, packet);
        if (packet->has_context_id)
            tw_text_format(out, " cid=0x%x", (unsigned)packet->context_id);
        break;
    case TW_PTM_BRANCH_ADDRESS:
    case TW_PTM_WP_UPDATE:
        print_address(out, packet);
        if (packet->base.type == TW_PTM_BRANCH_ADDRESS && packet->has_info) {
            print_state(out, packet);
            tw_text_format(out, " exception %u %s", packet->exception & 15u,
                           exception_name(packet));
        }
        break;
    case TW_PTM_TIMESTAMP:
        tw_text_char(out, ' ');
        tw_text_hex(out, packet->time);
        if (packet->freq_changed)
            tw_text_add(out, " clock changed");
        break;
    case TW_PTM_CONTEXT_ID:
    case TW_PTM_VMID:
        tw_text_format(out, " 0x%x", (unsigned)packet->value);
        break;
    case TW_PTM_RESERVED:
    case TW_PTM_BAD_SEQUENCE:
    case TW_PTM_INCOMPLETE_EOT:
        tw_text_format(out, " header 0x%02x", (unsigned)packet->value);
        break;
    default:
        break;
    }
    if (packet->has_cycles && !tw_ptm_type_is_bad(packet->base.type)) {
        tw_text_add(out, " cc=");
        tw_text_decimal(out, packet->cycles);
    }
}

static void json_address(struct tw_text *out, const struct tw_ptm_packet *packet)
{
    tw_json_hex(out, "addr", packet->address);
    tw_json_u64(out, "addr_bits", packet->address_bits);
    tw_json_u64(out, "addr_valid", packet->address_valid);
    tw_json_u64(out, "addr_size", 32);
    tw_json_text(out, "isa", tw_isa_name(packet->isa));
}

static void json_state(struct tw_text *out, const struct tw_ptm_packet *packet)
{
    tw_json_u64(out, "ns", packet->ns);
    tw_json_u64(out, "hyp", packet->hyp);
    tw_json_u64(out, "alt_isa", packet->alt_isa);
}

static void json_timestamp(struct tw_text *out, const struct tw_ptm_packet *packet)
{
    tw_json_hex(out, "ts", packet->timestamp);
    tw_json_u64(out, "ts_bits", packet->timestamp_bits);
    if (packet->time != packet->timestamp)
        tw_json_hex(out, "time", packet->time);
    tw_json_u64(out, "freq_change", packet->freq_changed);
}

void tw_ptm_json(struct tw_text *out, const void *any)
{
    const struct tw_ptm_packet *packet = any;
    char letters[9];

    switch (packet->base.type) {
    case TW_PTM_ATOM:
        atom_letters(letters, packet);
        tw_json_text(out, "atoms", letters);
        break;
    case TW_PTM_ISYNC:
        tw_json_text(out, "reason", tw_armv7_reason_name(packet->reason));
        json_address(out, packet);
        json_state(out, packet);
        if (packet->has_context_id)
            tw_json_hex(out, "cid", packet->context_id);
        break;
    case TW_PTM_BRANCH_ADDRESS:
    case TW_PTM_WP_UPDATE:
        json_address(out, packet);
        tw_json_u64(out, "isa_changed", packet->isa_changed);
        if (packet->base.type == TW_PTM_BRANCH_ADDRESS && packet->has_info) {
            json_state(out, packet);
            tw_json_text(out, "exc", exception_name(packet));
            tw_json_u64(out, "exc_num", packet->exception);
        }
        break;
    case TW_PTM_TIMESTAMP:
        json_timestamp(out, packet);
        break;
    case TW_PTM_CONTEXT_ID:
        tw_json_hex(out, "cid", packet->value);
        break;
    case TW_PTM_VMID:
        tw_json_hex(out, "vmid", packet->value);
        break;
    case TW_PTM_RESERVED:
    case TW_PTM_BAD_SEQUENCE:
    case TW_PTM_INCOMPLETE_EOT:
        tw_json_hex(out, "header", packet->value);
        break;
    default:
        break;
    }
    if (packet->has_cycles && !tw_ptm_type_is_bad(packet->base.type))
        tw_json_u64(out, "cc", packet->cycles);
}
