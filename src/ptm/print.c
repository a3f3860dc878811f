/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM packets: what their lines say. */
#include "armv7/print.h"
#include "base/compiler.h"
#include "base/members.h"
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

/* clang-format off */
enum {
    ATOMS, REASON, ADDR, BITS = ADDR + TW_ARMV7_ADDRESS_MEMBERS, ISA, STATE,
    CONTEXT_ID = STATE + TW_ARMV7_STATE_MEMBERS, ISA_CHANGED, EXC, EXC_NUM, EXCEPTION, TIME,
    NUMBERS = TIME + TW_ARMV7_TIME_MEMBERS, CC = NUMBERS + TW_ARMV7_NUMBER_MEMBERS, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [ATOMS] = TW_SHOWN("atoms", NAME, " "),
    [REASON] = TW_SHOWN("reason", NAME, " "),
    TW_ARMV7_ADDRESS_ROWS(ADDR),
    [BITS] = TW_TOLD(TEXT, ""),
    [ISA] = TW_SHOWN("isa", NAME, " "),
    TW_ARMV7_STATE_ROWS(STATE),
    [CONTEXT_ID] = TW_SHOWN("cid", HEX, " cid="),
    [ISA_CHANGED] = TW_LISTED("isa_changed", DECIMAL),
    [EXC] = TW_SHOWN("exc", NAME, " "),
    [EXC_NUM] = TW_LISTED("exc_num", DECIMAL),
    [EXCEPTION] = TW_TOLD(DECIMAL, " exception "),
    TW_ARMV7_TIME_ROWS(TIME),
    TW_ARMV7_NUMBER_ROWS(NUMBERS),
    [CC] = TW_SHOWN("cc", DECIMAL, " cc="),
};
/* clang-format on */

/* Letters, the oldest atom first. */
static void put_atoms(struct tw_members *out, const struct tw_ptm_packet *packet)
{
    const unsigned count = packet->atom_count < 8 ? packet->atom_count : 8;
    char *letters = tw_put_room(out, ATOMS, count + 1);

    if (!letters)
        return;
    for (unsigned i = 0; i < count; i++)
        letters[i] = packet->atoms >> i & 1 ? 'E' : 'N';
    letters[count] = 0;
}

static const char *exception_name(const struct tw_ptm_packet *packet)
{
    return (packet->exception & 15) == 5 ? "thumbee_check"
                                         : tw_armv7_exception_name(packet->exception);
}

static void put_address(struct tw_members *out, const struct tw_ptm_packet *packet)
{
    tw_armv7_put_addr(out, ADDR, packet->address, packet->address_bits, packet->address_valid);
    tw_armv7_put_known(out, BITS, packet->address_valid);
    tw_put_text(out, ISA, tw_isa_name(packet->isa));
}

static void put_branch(struct tw_members *out, const struct tw_ptm_packet *packet)
{
    put_address(out, packet);
    tw_put(out, ISA_CHANGED, packet->isa_changed);
    if (packet->base.type != TW_PTM_BRANCH_ADDRESS || !packet->has_info)
        return;
    tw_armv7_put_state(out, STATE, packet->ns, packet->hyp, packet->alt_isa);
    tw_put(out, EXCEPTION, packet->exception & 15u);
    tw_put_text(out, EXC, exception_name(packet));
    tw_put(out, EXC_NUM, packet->exception);
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_ptm_packet *packet = any;

    (void)protocol;
    switch (packet->base.type) {
    case TW_PTM_ATOM:
        put_atoms(out, packet);
        break;
    case TW_PTM_ISYNC:
        tw_put_text(out, REASON, tw_armv7_reason_name(packet->reason));
        put_address(out, packet);
        tw_armv7_put_state(out, STATE, packet->ns, packet->hyp, packet->alt_isa);
        if (packet->has_context_id)
            tw_put(out, CONTEXT_ID, packet->context_id);
        break;
    case TW_PTM_BRANCH_ADDRESS:
    case TW_PTM_WP_UPDATE:
        put_branch(out, packet);
        break;
    case TW_PTM_TIMESTAMP:
        tw_armv7_put_time_members(out, TIME, packet->timestamp, packet->timestamp_bits,
                                  packet->time, packet->freq_changed);
        break;
    case TW_PTM_CONTEXT_ID:
        tw_put(out, NUMBERS + TW_ARMV7_CID, packet->value);
        break;
    case TW_PTM_VMID:
        tw_put(out, NUMBERS + TW_ARMV7_VMID, packet->value);
        break;
    case TW_PTM_RESERVED:
    case TW_PTM_BAD_SEQUENCE:
    case TW_PTM_INCOMPLETE_EOT:
        tw_armv7_put_header(out, NUMBERS, packet->value);
        break;
    default:
        break;
    }
    if (packet->has_cycles && !tw_ptm_type_is_bad(packet->base.type))
        tw_put(out, CC, packet->cycles);
}

const struct tw_member_table tw_ptm_members = { rows, MEMBERS, put_members, NULL };
