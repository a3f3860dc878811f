/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 packets as text for people, and as members of a JSON line. */
#include "base/compiler.h"
#include "etmv3/packet.h"

/* clang-format off */
const struct tw_packet_type tw_etmv3_types[TW_ETMV3_TYPES] = {
    [TW_ETMV3_NOT_SYNC] = { "NOTSYNC", TW_PACKET_NOT_SYNC },
    [TW_ETMV3_INCOMPLETE_EOT] = { "INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_ETMV3_BAD_SEQUENCE] = { "BAD_SEQUENCE", TW_PACKET_BAD },
    [TW_ETMV3_BAD_TRACEMODE] = { "BAD_TRACEMODE", TW_PACKET_BAD },
    [TW_ETMV3_RESERVED] = { "I_RESERVED", TW_PACKET_BAD },
    [TW_ETMV3_A_SYNC] = { "A_SYNC", TW_PACKET_SYNC },
    [TW_ETMV3_I_SYNC] = { "I_SYNC", TW_PACKET_INFO },
    [TW_ETMV3_I_SYNC_CYCLE] = { "I_SYNC_CYCLE", TW_PACKET_INFO },
    [TW_ETMV3_BRANCH_ADDRESS] = { "BRANCH_ADDRESS", TW_PACKET_FLOW },
    [TW_ETMV3_P_HDR] = { "P_HDR", TW_PACKET_FLOW },
    [TW_ETMV3_CYCLE_COUNT] = { "CYCLE_COUNT", TW_PACKET_TIME },
    [TW_ETMV3_TRIGGER] = { "TRIGGER", TW_PACKET_EVENT },
    [TW_ETMV3_OOO_DATA] = { "OOO_DATA", TW_PACKET_DATA },
    [TW_ETMV3_STORE_FAIL] = { "STORE_FAIL", TW_PACKET_DATA },
    [TW_ETMV3_OOO_ADDR_PLC] = { "OOO_ADDR_PLC", TW_PACKET_DATA },
    [TW_ETMV3_NORM_DATA] = { "NORM_DATA", TW_PACKET_DATA },
    [TW_ETMV3_DATA_SUPPRESSED] = { "DATA_SUPPRESSED", TW_PACKET_DATA },
    [TW_ETMV3_VAL_NOT_TRACED] = { "VAL_NOT_TRACED", TW_PACKET_DATA },
    [TW_ETMV3_IGNORE] = { "IGNORE", TW_PACKET_PADDING },
    [TW_ETMV3_CONTEXT_ID] = { "CONTEXT_ID", TW_PACKET_CONTEXT },
    [TW_ETMV3_VMID] = { "VMID", TW_PACKET_CONTEXT },
    [TW_ETMV3_EXCEPTION_ENTRY] = { "EXCEPTION_ENTRY", TW_PACKET_EXCEPTION },
    [TW_ETMV3_EXCEPTION_EXIT] = { "EXCEPTION_EXIT", TW_PACKET_EXCEPTION },
    [TW_ETMV3_TIMESTAMP] = { "TIMESTAMP", TW_PACKET_TIME },
};

static const char *const m_exceptions[24] = {
    "none", "cm_irqn", "cm_irqn", "cm_irqn", "cm_irqn", "cm_irqn", "cm_irqn", "cm_irqn",
    "cm_irqn", "cm_usage_fault", "cm_nmi", "svc", "cm_debug_mon", "cm_memmanage", "cm_pendsv",
    "cm_systick", "reserved", "reset", "reserved", "cm_hardfault", "reserved", "cm_busfault",
    "reserved", "reserved",
};
/* clang-format on */

const char *tw_etmv3_type_name(unsigned type)
{
    return type < TW_ETMV3_TYPES ? tw_etmv3_types[type].name : "UNKNOWN";
}

bool tw_etmv3_type_is_bad(unsigned type)
{
    return type < TW_ETMV3_TYPES && tw_kind_is_bad(tw_etmv3_types[type].kind);
}

const char *tw_etmv3_exception_name(unsigned number, bool is_m_profile)
{
    if (!is_m_profile)
        return tw_armv7_exception_name(number);
    return number < TW_LENGTH(m_exceptions) ? m_exceptions[number] : "cm_irqn";
}

/* Letters in the order of execution; cycles as W with `with_cycles`. */
static void atom_letters(struct tw_text *out, const struct tw_etmv3_packet *packet,
                         bool with_cycles)
{
    struct tw_etmv3_atoms atoms = { .first_cycles = packet->header_cycles };
    unsigned left = with_cycles ? packet->header_cycles : 0;

    if (left)
        tw_etmv3_p_header(&atoms, packet->header, true);
    for (unsigned i = 0; i < packet->atom_count; i++) {
        for (unsigned n = tw_etmv3_cycles_of(&atoms, i); left && n; n--, left--)
            tw_text_char(out, 'W');
        tw_text_char(out, packet->atoms >> i & 1 ? 'E' : 'N');
    }
    for (; left; left--)
        tw_text_char(out, 'W');
}

static void print_state(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_text_add(out, packet->ns ? " NS" : " S");
    if (packet->hyp)
        tw_text_add(out, " Hyp");
}

static void print_isync(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_text_format(out, " %s", tw_armv7_reason_name(packet->reason));
    if (packet->has_address) {
        tw_text_char(out, ' ');
        tw_text_hex(out, packet->address);
        tw_text_format(out, " %s", tw_isa_name(packet->isa));
    }
    print_state(out, packet);
    if (packet->is_in_progress) {
        tw_text_add(out, " in progress, next ");
        tw_text_hex(out, packet->next_address);
    }
    if (packet->has_context_id)
        tw_text_format(out, " cid=0x%x", (unsigned)packet->context_id);
    if (packet->base.type == TW_ETMV3_I_SYNC_CYCLE)
        tw_text_format(out, " cc=%u", (unsigned)packet->cycles);
}

static void print_branch(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_text_char(out, ' ');
    tw_text_hex(out, packet->address);
    if (packet->address_valid < 32)
        tw_text_format(out, " (bits %u:0)", packet->address_valid - 1u);
    tw_text_format(out, " %s", tw_isa_name(packet->isa));
    if (!packet->has_info)
        return;
    print_state(out, packet);
    tw_text_format(out, " exception %u %s", packet->exception,
                   tw_etmv3_exception_name(packet->exception, packet->is_m_profile));
    if (packet->is_m_profile && tw_etmv3_irq(packet->exception) >= 0)
        tw_text_format(out, " %d", tw_etmv3_irq(packet->exception));
    if (packet->cancels)
        tw_text_add(out, " cancel");
    if (packet->has_resume)
        tw_text_format(out, " resume=%u", packet->resume);
}

static void print_data(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    if (packet->tag)
        tw_text_format(out, " tag %u", packet->tag);
    if (packet->has_data_address) {
        tw_text_add(out, " address ");
        tw_text_hex(out, packet->data_address);
        if (packet->data_valid < 32)
            tw_text_format(out, " (bits %u:0)", packet->data_valid - 1u);
        if (packet->is_big_endian)
            tw_text_add(out, " BE");
    } else if (packet->is_first) {
        tw_text_add(out, " first");
    }
    if (packet->has_value) {
        tw_text_add(out, " value ");
        tw_text_hex(out, packet->data_value);
    }
}

void tw_etmv3_print(struct tw_text *out, const void *any)
{
    const struct tw_etmv3_packet *packet = any;
    const uint8_t type = packet->base.type;

    tw_text_add(out, tw_etmv3_type_name(type));
    switch (type) {
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        print_isync(out, packet);
        break;
    case TW_ETMV3_BRANCH_ADDRESS:
        print_branch(out, packet);
        break;
    case TW_ETMV3_P_HDR:
        tw_text_char(out, ' ');
        atom_letters(out, packet, true);
        break;
    case TW_ETMV3_CYCLE_COUNT:
        tw_text_format(out, " %u", (unsigned)packet->count);
        break;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        print_data(out, packet);
        break;
    case TW_ETMV3_TIMESTAMP:
        tw_text_char(out, ' ');
        tw_text_hex(out, packet->time);
        if (packet->freq_changed)
            tw_text_add(out, " clock changed");
        break;
    case TW_ETMV3_CONTEXT_ID:
    case TW_ETMV3_VMID:
        tw_text_format(out, " 0x%x", (unsigned)packet->value);
        break;
    default:
        if (tw_etmv3_type_is_bad(type))
            tw_text_format(out, " header 0x%02x", (unsigned)packet->value);
    }
}

static void json_address(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_json_hex(out, "addr", packet->address);
    tw_json_u64(out, "addr_bits", packet->address_bits);
    tw_json_u64(out, "addr_valid", packet->address_valid);
    tw_json_u64(out, "addr_size", 32);
}

static void json_state(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_json_u64(out, "ns", packet->ns);
    tw_json_u64(out, "hyp", packet->hyp);
    tw_json_u64(out, "alt_isa", packet->alt_isa);
}

static void json_isync(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_json_text(out, "reason", tw_armv7_reason_name(packet->reason));
    tw_json_u64(out, "no_addr", !packet->has_address);
    if (packet->has_address)
        json_address(out, packet);
    tw_json_text(out, "isa", tw_isa_name(packet->isa));
    json_state(out, packet);
    if (packet->is_in_progress)
        tw_json_hex(out, "lsip_addr", packet->next_address);
    if (packet->has_context_id)
        tw_json_hex(out, "cid", packet->context_id);
    if (packet->base.type == TW_ETMV3_I_SYNC_CYCLE)
        tw_json_u64(out, "cc", packet->cycles);
}

static void json_branch(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    const int irq = packet->is_m_profile ? tw_etmv3_irq(packet->exception) : -1;

    json_address(out, packet);
    tw_json_text(out, "isa", tw_isa_name(packet->isa));
    tw_json_u64(out, "isa_changed", packet->isa_changed);
    if (!packet->has_info)
        return;
    json_state(out, packet);
    tw_json_text(out, "exc", tw_etmv3_exception_name(packet->exception, packet->is_m_profile));
    tw_json_u64(out, "exc_num", packet->exception);
    tw_json_u64(out, "cancel", packet->cancels);
    tw_json_u64(out, "cm", packet->is_m_profile);
    tw_json_u64(out, "resume", packet->resume);
    tw_json_u64(out, "irq_n", irq < 0 ? 0 : (unsigned)irq);
}

static void json_data(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    if (packet->base.type != TW_ETMV3_OOO_DATA) {
        tw_json_u64(out, "upd_addr", packet->has_data_address);
        tw_json_u64(out, "upd_val", packet->has_value);
    }
    tw_json_u64(out, "tag", packet->tag);
    tw_json_hex(out, "value", packet->data_value);
    if (packet->base.type == TW_ETMV3_OOO_DATA)
        return;
    tw_json_u64(out, "first", packet->is_first);
    if (!packet->has_data_address)
        return;
    tw_json_hex(out, "daddr", packet->data_address);
    tw_json_u64(out, "daddr_bits", packet->data_bits);
    tw_json_u64(out, "daddr_valid", packet->data_valid);
    tw_json_u64(out, "be", packet->is_big_endian);
}

static void json_p_header(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    char letters[32];
    struct tw_text text = tw_text_in(letters, sizeof letters);

    letters[0] = 0;
    atom_letters(&text, packet, false);
    tw_json_text(out, "atoms", letters);
    tw_json_u64(out, "fmt", packet->format);
    tw_json_u64(out, "cc", packet->header_cycles);
}

static void json_timestamp(struct tw_text *out, const struct tw_etmv3_packet *packet)
{
    tw_json_hex(out, "ts", packet->timestamp);
    tw_json_u64(out, "ts_bits", packet->timestamp_bits);
    if (packet->time != packet->timestamp)
        tw_json_hex(out, "time", packet->time);
    tw_json_u64(out, "freq_change", packet->freq_changed);
}

void tw_etmv3_json(struct tw_text *out, const void *any)
{
    const struct tw_etmv3_packet *packet = any;

    switch (packet->base.type) {
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        json_isync(out, packet);
        break;
    case TW_ETMV3_BRANCH_ADDRESS:
        json_branch(out, packet);
        break;
    case TW_ETMV3_P_HDR:
        json_p_header(out, packet);
        break;
    case TW_ETMV3_CYCLE_COUNT:
        tw_json_u64(out, "cc", packet->count);
        break;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        json_data(out, packet);
        break;
    case TW_ETMV3_TIMESTAMP:
        json_timestamp(out, packet);
        break;
    case TW_ETMV3_CONTEXT_ID:
        tw_json_hex(out, "cid", packet->value);
        break;
    case TW_ETMV3_VMID:
        tw_json_hex(out, "vmid", packet->value);
        break;
    default:
        if (tw_etmv3_type_is_bad(packet->base.type))
            tw_json_hex(out, "header", packet->value);
    }
}
