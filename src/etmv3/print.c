/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 packets: what their lines say. */
#include "armv7/print.h"
#include "base/compiler.h"
#include "base/members.h"
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

/* clang-format off */
enum {
    REASON, NO_ADDR, ADDR, BITS = ADDR + TW_ARMV7_ADDRESS_MEMBERS, ISA, ISA_ALONE,
    ISA_CHANGED, STATE, LSIP_ADDR = STATE + TW_ARMV7_STATE_MEMBERS, CONTEXT_ID, SYNC_CC, EXC,
    EXC_NUM, EXCEPTION, IRQ, CANCEL, CM, RESUME, RESUMES, IRQ_N, UPD_ADDR, UPD_VAL, TAG,
    VALUE, FIRST, DADDR, DADDR_BITS, DADDR_VALID, BE, DATA, ATOMS, LETTERS, FMT, HEADER_CC,
    TIME, COUNT = TIME + TW_ARMV7_TIME_MEMBERS, NUMBERS, MEMBERS = NUMBERS + TW_ARMV7_NUMBER_MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [REASON] = TW_SHOWN("reason", NAME, " "),
    [NO_ADDR] = TW_LISTED("no_addr", DECIMAL),
    TW_ARMV7_ADDRESS_ROWS(ADDR),
    [BITS] = TW_TOLD(TEXT, ""),
    [ISA] = TW_SHOWN("isa", NAME, " "),
    [ISA_ALONE] = TW_LISTED("isa", NAME),
    [ISA_CHANGED] = TW_LISTED("isa_changed", DECIMAL),
    TW_ARMV7_STATE_ROWS(STATE),
    [LSIP_ADDR] = TW_SHOWN("lsip_addr", HEX, " in progress, next "),
    [CONTEXT_ID] = TW_SHOWN("cid", HEX, " cid="),
    [SYNC_CC] = TW_SHOWN("cc", DECIMAL, " cc="),
    [EXC] = TW_SHOWN("exc", NAME, " "),
    [EXC_NUM] = TW_LISTED("exc_num", DECIMAL),
    [EXCEPTION] = TW_TOLD(DECIMAL, " exception "),
    [IRQ] = TW_TOLD(DECIMAL, " "),
    [CANCEL] = TW_SHOWN("cancel", FLAG, " cancel"),
    [CM] = TW_LISTED("cm", DECIMAL),
    [RESUME] = TW_LISTED("resume", DECIMAL),
    [RESUMES] = TW_SHOWN("resume", DECIMAL, " resume="),
    [IRQ_N] = TW_LISTED("irq_n", DECIMAL),
    [UPD_ADDR] = TW_LISTED("upd_addr", DECIMAL),
    [UPD_VAL] = TW_LISTED("upd_val", DECIMAL),
    [TAG] = TW_LISTED("tag", DECIMAL),
    [VALUE] = TW_LISTED("value", HEX),
    [FIRST] = TW_LISTED("first", DECIMAL),
    [DADDR] = TW_LISTED("daddr", HEX),
    [DADDR_BITS] = TW_LISTED("daddr_bits", DECIMAL),
    [DADDR_VALID] = TW_LISTED("daddr_valid", DECIMAL),
    [BE] = TW_LISTED("be", DECIMAL),
    [DATA] = TW_TOLD(TEXT, ""),
    [ATOMS] = TW_LISTED("atoms", NAME),
    [LETTERS] = TW_TOLD(NAME, " "),
    [FMT] = TW_LISTED("fmt", DECIMAL),
    [HEADER_CC] = TW_LISTED("cc", DECIMAL),
    TW_ARMV7_TIME_ROWS(TIME),
    [COUNT] = TW_SHOWN("cc", DECIMAL, " "),
    TW_ARMV7_NUMBER_ROWS(NUMBERS),
};
/* clang-format on */

enum { LETTERS_MOST = 40 };

/* Letters in the order of execution; cycles as W with `with_cycles`. */
static void put_letters(struct tw_members *out, const struct tw_etmv3_packet *packet,
                        bool with_cycles)
{
    struct tw_etmv3_atoms atoms = { .first_cycles = packet->header_cycles };
    unsigned left = with_cycles ? packet->header_cycles : 0, size = 0;
    char *letters = tw_put_room(out, with_cycles ? LETTERS : ATOMS, LETTERS_MOST);

    if (!letters)
        return;
    if (left)
        tw_etmv3_p_header(&atoms, packet->header, true);
    for (unsigned i = 0; i < packet->atom_count && size < LETTERS_MOST - 1; i++) {
        for (unsigned n = tw_etmv3_cycles_of(&atoms, i); left && n && size < LETTERS_MOST - 2;
             n--, left--)
            letters[size++] = 'W';
        letters[size++] = packet->atoms >> i & 1 ? 'E' : 'N';
    }
    for (; left && size < LETTERS_MOST - 1; left--)
        letters[size++] = 'W';
    letters[size] = 0;
}

static void put_isync(struct tw_members *out, const struct tw_etmv3_packet *packet)
{
    tw_put_text(out, REASON, tw_armv7_reason_name(packet->reason));
    tw_put(out, NO_ADDR, !packet->has_address);
    if (packet->has_address)
        tw_armv7_put_addr(out, ADDR, packet->address, packet->address_bits,
                          packet->address_valid);
    tw_put_text(out, packet->has_address ? ISA : ISA_ALONE, tw_isa_name(packet->isa));
    tw_armv7_put_state(out, STATE, packet->ns, packet->hyp, packet->alt_isa);
    if (packet->is_in_progress)
        tw_put(out, LSIP_ADDR, packet->next_address);
    if (packet->has_context_id)
        tw_put(out, CONTEXT_ID, packet->context_id);
    if (packet->base.type == TW_ETMV3_I_SYNC_CYCLE)
        tw_put(out, SYNC_CC, packet->cycles);
}

static void put_branch(struct tw_members *out, const struct tw_etmv3_packet *packet)
{
    const int irq = packet->is_m_profile ? tw_etmv3_irq(packet->exception) : -1;

    tw_armv7_put_addr(out, ADDR, packet->address, packet->address_bits, packet->address_valid);
    tw_armv7_put_known(out, BITS, packet->address_valid);
    tw_put_text(out, ISA, tw_isa_name(packet->isa));
    tw_put(out, ISA_CHANGED, packet->isa_changed);
    if (!packet->has_info)
        return;
    tw_armv7_put_state(out, STATE, packet->ns, packet->hyp, packet->alt_isa);
    tw_put(out, EXCEPTION, packet->exception);
    tw_put_text(out, EXC, tw_etmv3_exception_name(packet->exception, packet->is_m_profile));
    tw_put(out, EXC_NUM, packet->exception);
    if (irq >= 0)
        tw_put(out, IRQ, (unsigned)irq);
    tw_put(out, CANCEL, packet->cancels);
    tw_put(out, CM, packet->is_m_profile);
    tw_put(out, packet->has_resume ? RESUMES : RESUME, packet->resume);
    tw_put(out, IRQ_N, irq < 0 ? 0 : (unsigned)irq);
}

static void put_data_words(struct tw_members *out, const struct tw_etmv3_packet *packet)
{
    if (packet->tag)
        tw_put_format(out, DATA, " tag %u", packet->tag);
    if (packet->has_data_address) {
        tw_put_format(out, DATA, " address 0x%x", (unsigned)packet->data_address);
        tw_armv7_put_known(out, DATA, packet->data_valid);
        if (packet->is_big_endian)
            tw_put_text(out, DATA, " BE");
    } else if (packet->is_first) {
        tw_put_text(out, DATA, " first");
    }
    if (packet->has_value)
        tw_put_format(out, DATA, " value 0x%x", (unsigned)packet->data_value);
}

static void put_data(struct tw_members *out, const struct tw_etmv3_packet *packet)
{
    const bool is_late = packet->base.type == TW_ETMV3_OOO_DATA;

    if (!is_late) {
        tw_put(out, UPD_ADDR, packet->has_data_address);
        tw_put(out, UPD_VAL, packet->has_value);
    }
    tw_put(out, TAG, packet->tag);
    tw_put(out, VALUE, packet->data_value);
    if (!is_late)
        tw_put(out, FIRST, packet->is_first);
    if (!is_late && packet->has_data_address) {
        tw_put(out, DADDR, packet->data_address);
        tw_put(out, DADDR_BITS, packet->data_bits);
        tw_put(out, DADDR_VALID, packet->data_valid);
        tw_put(out, BE, packet->is_big_endian);
    }
    put_data_words(out, packet);
}

static void put_p_header(struct tw_members *out, const struct tw_etmv3_packet *packet)
{
    put_letters(out, packet, true);
    put_letters(out, packet, false);
    tw_put(out, FMT, packet->format);
    tw_put(out, HEADER_CC, packet->header_cycles);
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_etmv3_packet *packet = any;

    (void)protocol;
    switch (packet->base.type) {
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        put_isync(out, packet);
        break;
    case TW_ETMV3_BRANCH_ADDRESS:
        put_branch(out, packet);
        break;
    case TW_ETMV3_P_HDR:
        put_p_header(out, packet);
        break;
    case TW_ETMV3_CYCLE_COUNT:
        tw_put(out, COUNT, packet->count);
        break;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        put_data(out, packet);
        break;
    case TW_ETMV3_TIMESTAMP:
        tw_armv7_put_time_members(out, TIME, packet->timestamp, packet->timestamp_bits,
                                  packet->time, packet->freq_changed);
        break;
    case TW_ETMV3_CONTEXT_ID:
        tw_put(out, NUMBERS + TW_ARMV7_CID, packet->value);
        break;
    case TW_ETMV3_VMID:
        tw_put(out, NUMBERS + TW_ARMV7_VMID, packet->value);
        break;
    default:
        if (tw_etmv3_type_is_bad(packet->base.type))
            tw_armv7_put_header(out, NUMBERS, packet->value);
    }
}

const struct tw_member_table tw_etmv3_members = { rows, MEMBERS, put_members, NULL };
