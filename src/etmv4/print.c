/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets: what their lines say. */
#include "base/armv8.h"
#include "base/compiler.h"
#include "base/members.h"
#include "etmv4/packet.h"
#include "etmv4/payload.h"

/* clang-format off */
const struct tw_packet_type tw_etmv4_types[TW_ETMV4_TYPES] = {
    [TW_ETMV4_NOT_SYNC] = { "I_NOT_SYNC", TW_PACKET_NOT_SYNC },
    [TW_ETMV4_INCOMPLETE_EOT] = { "I_INCOMPLETE_EOT", TW_PACKET_CUT },
    [TW_ETMV4_BAD_SEQUENCE] = { "I_BAD_SEQUENCE", TW_PACKET_BAD },
    [TW_ETMV4_BAD_TRACEMODE] = { "I_BAD_TRACEMODE", TW_PACKET_BAD },
    [TW_ETMV4_RESERVED] = { "I_RESERVED", TW_PACKET_BAD },
    [TW_ETMV4_RESERVED_CFG] = { "I_RESERVED_CFG", TW_PACKET_BAD },
    [TW_ETMV4_EXTENSION] = { "I_EXTENSION", TW_PACKET_OTHER },
    [TW_ETMV4_ASYNC] = { "I_ASYNC", TW_PACKET_SYNC },
    [TW_ETMV4_DISCARD] = { "I_DISCARD", TW_PACKET_DISCARD },
    [TW_ETMV4_OVERFLOW] = { "I_OVERFLOW", TW_PACKET_OVERFLOW },
    [TW_ETMV4_BF_FLUSH] = { "I_BF_FLUSH", TW_PACKET_FLOW },
    [TW_ETMV4_TRACE_INFO] = { "I_TRACE_INFO", TW_PACKET_INFO },
    [TW_ETMV4_TIMESTAMP] = { "I_TIMESTAMP", TW_PACKET_TIME },
    [TW_ETMV4_TRACE_ON] = { "I_TRACE_ON", TW_PACKET_FLOW },
    [TW_ETMV4_FUNC_RET] = { "I_FUNC_RET", TW_PACKET_FLOW },
    [TW_ETMV4_EXCEPT] = { "I_EXCEPT", TW_PACKET_EXCEPTION },
    [TW_ETMV4_EXCEPT_RTN] = { "I_EXCEPT_RTN", TW_PACKET_EXCEPTION },
    [TW_ETMV4_RESYNC] = { "I_RESYNC", TW_PACKET_FLOW },
    [TW_ETMV4_ITE] = { "I_ITE", TW_PACKET_DATA },
    [TW_ETMV4_TRANS_ST] = { "I_TRANS_ST", TW_PACKET_FLOW },
    [TW_ETMV4_TRANS_COMMIT] = { "I_TRANS_COMMIT", TW_PACKET_FLOW },
    [TW_ETMV4_TRANS_FAIL] = { "I_TRANS_FAIL", TW_PACKET_FLOW },
    [TW_ETMV4_PE_RESET] = { "I_PE_RESET", TW_PACKET_EXCEPTION },
    [TW_ETMV4_CCNT_F2] = { "I_CCNT_F2", TW_PACKET_TIME },
    [TW_ETMV4_CCNT_F1] = { "I_CCNT_F1", TW_PACKET_TIME },
    [TW_ETMV4_CCNT_F3] = { "I_CCNT_F3", TW_PACKET_TIME },
    [TW_ETMV4_NUM_DS_MKR] = { "I_NUM_DS_MKR", TW_PACKET_DATA },
    [TW_ETMV4_UNNUM_DS_MKR] = { "I_UNNUM_DS_MKR", TW_PACKET_DATA },
    [TW_ETMV4_COMMIT] = { "I_COMMIT", TW_PACKET_FLOW },
    [TW_ETMV4_CANCEL_F1] = { "I_CANCEL_F1", TW_PACKET_FLOW },
    [TW_ETMV4_CANCEL_F1_MISPRED] = { "I_CANCEL_F1_MISPRED", TW_PACKET_FLOW },
    [TW_ETMV4_MISPREDICT] = { "I_MISPREDICT", TW_PACKET_FLOW },
    [TW_ETMV4_CANCEL_F2] = { "I_CANCEL_F2", TW_PACKET_FLOW },
    [TW_ETMV4_CANCEL_F3] = { "I_CANCEL_F3", TW_PACKET_FLOW },
    [TW_ETMV4_COND_I_F2] = { "I_COND_I_F2", TW_PACKET_FLOW },
    [TW_ETMV4_COND_FLUSH] = { "I_COND_FLUSH", TW_PACKET_FLOW },
    [TW_ETMV4_COND_RES_F4] = { "I_COND_RES_F4", TW_PACKET_FLOW },
    [TW_ETMV4_COND_RES_F2] = { "I_COND_RES_F2", TW_PACKET_FLOW },
    [TW_ETMV4_COND_RES_F3] = { "I_COND_RES_F3", TW_PACKET_FLOW },
    [TW_ETMV4_COND_RES_F1] = { "I_COND_RES_F1", TW_PACKET_FLOW },
    [TW_ETMV4_COND_I_F1] = { "I_COND_I_F1", TW_PACKET_FLOW },
    [TW_ETMV4_COND_I_F3] = { "I_COND_I_F3", TW_PACKET_FLOW },
    [TW_ETMV4_IGNORE] = { "I_IGNORE", TW_PACKET_PADDING },
    [TW_ETMV4_EVENT] = { "I_EVENT", TW_PACKET_EVENT },
    [TW_ETMV4_CTXT] = { "I_CTXT", TW_PACKET_CONTEXT },
    [TW_ETMV4_ADDR_CTXT_L_32IS0] = { "I_ADDR_CTXT_L_32IS0", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_CTXT_L_32IS1] = { "I_ADDR_CTXT_L_32IS1", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_CTXT_L_64IS0] = { "I_ADDR_CTXT_L_64IS0", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_CTXT_L_64IS1] = { "I_ADDR_CTXT_L_64IS1", TW_PACKET_FLOW },
    [TW_ETMV4_TS_MARKER] = { "I_TS_MARKER", TW_PACKET_TIME },
    [TW_ETMV4_ADDR_MATCH] = { "I_ADDR_MATCH", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_S_IS0] = { "I_ADDR_S_IS0", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_S_IS1] = { "I_ADDR_S_IS1", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_L_32IS0] = { "I_ADDR_L_32IS0", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_L_32IS1] = { "I_ADDR_L_32IS1", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_L_64IS0] = { "I_ADDR_L_64IS0", TW_PACKET_FLOW },
    [TW_ETMV4_ADDR_L_64IS1] = { "I_ADDR_L_64IS1", TW_PACKET_FLOW },
    [TW_ETMV4_Q] = { "I_Q", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_MATCH] = { "I_SRC_ADDR_MATCH", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_S_IS0] = { "I_SRC_ADDR_S_IS0", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_S_IS1] = { "I_SRC_ADDR_S_IS1", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_L_32IS0] = { "I_SCR_ADDR_L_32IS0", TW_PACKET_FLOW }, /* as the listings in use spell it */
    [TW_ETMV4_SRC_ADDR_L_32IS1] = { "I_SRC_ADDR_L_32IS1", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_L_64IS0] = { "I_SRC_ADDR_L_64IS0", TW_PACKET_FLOW },
    [TW_ETMV4_SRC_ADDR_L_64IS1] = { "I_SRC_ADDR_L_64IS1", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F1] = { "I_ATOM_F1", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F2] = { "I_ATOM_F2", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F3] = { "I_ATOM_F3", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F4] = { "I_ATOM_F4", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F5] = { "I_ATOM_F5", TW_PACKET_FLOW },
    [TW_ETMV4_ATOM_F6] = { "I_ATOM_F6", TW_PACKET_FLOW },
    /* What lies between two A-syncs is one line, in how many pieces it may come. */
    [TW_ETMV4_DATA] = { "D_NOT_DECODED", TW_PACKET_NOT_SYNC },
};

/* Headers of the data trace stream: (header & mask) == match. */
static const struct data_name {
    uint8_t mask, match;
    const char *name;
} data_names[] = {
    { 0xff, 0x01, "D_UNNUM_DS_MKR" }, { 0xff, 0x02, "D_TIMESTAMP" }, { 0xff, 0x03, "D_SUPPRESSION" },
    { 0xff, 0x04, "D_EVENT" },        { 0xfc, 0x10, "D_P2_DATA_F4" }, { 0xfc, 0x14, "D_P1_ADDR_F3" },
    { 0xf8, 0x18, "D_P2_DATA_F5" },   { 0xf0, 0x20, "D_P2_DATA_F1" }, { 0xf8, 0x30, "D_P2_DATA_F2" },
    { 0xf8, 0x38, "D_P2_DATA_F6" },   { 0xe0, 0x40, "D_P2_DATA_F3" }, { 0xf0, 0x60, "D_P1_ADDR_F4" },
    { 0xf0, 0x70, "D_P1_ADDR_F1" },   { 0xc0, 0x80, "D_P1_ADDR_F2" }, { 0xff, 0xf5, "D_P1_ADDR_F7" },
    { 0xfe, 0xf6, "D_P1_ADDR_F6" },   { 0xf8, 0xf8, "D_P1_ADDR_F5" },
};
/* clang-format on */

const char *tw_etmv4_type_name(unsigned type)
{
    return type < TW_ETMV4_TYPES ? tw_etmv4_types[type].name : "I_UNKNOWN";
}

bool tw_etmv4_type_is_bad(unsigned type)
{
    return type < TW_ETMV4_TYPES && tw_kind_is_bad(tw_etmv4_types[type].kind);
}

const char *tw_etmv4_data_name(uint8_t header, uint8_t second)
{
    if (header == 0) {
        if ((second & 0xf1) == 0x11)
            return "D_NUM_DS_MKR";
        return second == 0   ? "D_ASYNC"
               : second == 1 ? "D_TRACE_INFO"
               : second == 3 ? "D_DISCARD"
               : second == 5 ? "D_OVERFLOW"
                             : "D_RESERVED";
    }
    for (size_t i = 0; i < TW_LENGTH(data_names); i++)
        if ((header & data_names[i].mask) == data_names[i].match)
            return data_names[i].name;
    return "D_RESERVED";
}

/* What a packet's members are, for printing: bits. */
enum {
    SHOW_ATOMS = 0x0001,
    SHOW_CANCEL = 0x0002,
    SHOW_MISPREDICT = 0x0004,
    SHOW_COMMIT = 0x0008,
    SHOW_CYCLES = 0x0010,
    SHOW_MATCH = 0x0020,
    SHOW_ADDRESS = 0x0040,
    SHOW_CONTEXT = 0x0080,
    SHOW_Q = 0x0100,
    SHOW_EXCEPTION = 0x0200,
    SHOW_TIMESTAMP = 0x0400,
    SHOW_INFO = 0x0800,
    SHOW_VALUE = 0x1000,
    SHOW_NUMBER = 0x2000,
    SHOW_COND = 0x4000,
    SHOW_RESULT = 0x8000
};

/* clang-format off */
static const uint16_t shows[TW_ETMV4_TYPES] = {
    [TW_ETMV4_TRACE_INFO] = SHOW_INFO,
    [TW_ETMV4_TIMESTAMP] = SHOW_TIMESTAMP,
    [TW_ETMV4_EXCEPT] = SHOW_EXCEPTION,
    [TW_ETMV4_ITE] = SHOW_VALUE,
    [TW_ETMV4_CCNT_F1] = SHOW_CYCLES | SHOW_COMMIT,
    [TW_ETMV4_CCNT_F2] = SHOW_CYCLES | SHOW_COMMIT,
    [TW_ETMV4_CCNT_F3] = SHOW_CYCLES | SHOW_COMMIT,
    [TW_ETMV4_NUM_DS_MKR] = SHOW_NUMBER,
    [TW_ETMV4_UNNUM_DS_MKR] = SHOW_NUMBER,
    [TW_ETMV4_EVENT] = SHOW_NUMBER,
    [TW_ETMV4_COMMIT] = SHOW_COMMIT,
    [TW_ETMV4_CANCEL_F1] = SHOW_CANCEL,
    [TW_ETMV4_CANCEL_F1_MISPRED] = SHOW_CANCEL | SHOW_MISPREDICT,
    [TW_ETMV4_MISPREDICT] = SHOW_ATOMS | SHOW_MISPREDICT,
    [TW_ETMV4_CANCEL_F2] = SHOW_ATOMS | SHOW_CANCEL | SHOW_MISPREDICT,
    [TW_ETMV4_CANCEL_F3] = SHOW_ATOMS | SHOW_CANCEL | SHOW_MISPREDICT,
    [TW_ETMV4_COND_I_F1] = SHOW_COND,
    [TW_ETMV4_COND_I_F2] = SHOW_COND,
    [TW_ETMV4_COND_I_F3] = SHOW_COND,
    [TW_ETMV4_COND_RES_F1] = SHOW_RESULT,
    [TW_ETMV4_COND_RES_F2] = SHOW_RESULT,
    [TW_ETMV4_COND_RES_F3] = SHOW_RESULT,
    [TW_ETMV4_COND_RES_F4] = SHOW_RESULT,
    [TW_ETMV4_CTXT] = SHOW_CONTEXT,
    [TW_ETMV4_ADDR_CTXT_L_32IS0] = SHOW_ADDRESS | SHOW_CONTEXT,
    [TW_ETMV4_ADDR_CTXT_L_32IS1] = SHOW_ADDRESS | SHOW_CONTEXT,
    [TW_ETMV4_ADDR_CTXT_L_64IS0] = SHOW_ADDRESS | SHOW_CONTEXT,
    [TW_ETMV4_ADDR_CTXT_L_64IS1] = SHOW_ADDRESS | SHOW_CONTEXT,
    [TW_ETMV4_ADDR_MATCH] = SHOW_MATCH | SHOW_ADDRESS,
    [TW_ETMV4_ADDR_S_IS0] = SHOW_ADDRESS,
    [TW_ETMV4_ADDR_S_IS1] = SHOW_ADDRESS,
    [TW_ETMV4_ADDR_L_32IS0] = SHOW_ADDRESS,
    [TW_ETMV4_ADDR_L_32IS1] = SHOW_ADDRESS,
    [TW_ETMV4_ADDR_L_64IS0] = SHOW_ADDRESS,
    [TW_ETMV4_ADDR_L_64IS1] = SHOW_ADDRESS,
    [TW_ETMV4_Q] = SHOW_Q,
    [TW_ETMV4_SRC_ADDR_MATCH] = SHOW_MATCH | SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_S_IS0] = SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_S_IS1] = SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_L_32IS0] = SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_L_32IS1] = SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_L_64IS0] = SHOW_ADDRESS,
    [TW_ETMV4_SRC_ADDR_L_64IS1] = SHOW_ADDRESS,
    [TW_ETMV4_ATOM_F1] = SHOW_ATOMS,
    [TW_ETMV4_ATOM_F2] = SHOW_ATOMS,
    [TW_ETMV4_ATOM_F3] = SHOW_ATOMS,
    [TW_ETMV4_ATOM_F4] = SHOW_ATOMS,
    [TW_ETMV4_ATOM_F5] = SHOW_ATOMS,
    [TW_ETMV4_ATOM_F6] = SHOW_ATOMS,
};
/* clang-format on */

/* clang-format off */
enum {
    MATCH, MATCH_WORDS, ADDR, ADDR_BITS, ADDR_VALID, ADDR_SIZE, IS, CTXT_UPDATED, EL, SF, NS,
    NSE, CID, VMID, CONTEXT, ATOMS, NO_ATOMS, CC, CYCLES, UNKNOWN_CYCLES, COMMIT, CANCEL,
    MISPREDICT, INFO, P0_KEY, CC_THRESHOLD, SPEC_PRESENT, SPEC_DEPTH, SPECULATION, THRESHOLD,
    WINDOW, INITIAL, EXC, INTERP, M, FAULT_PENDING, EXCEPTION, TS, TS_BITS, TS_CC, ITE_EL,
    ITE_VALUE, EVENT, EVENTS, DSM, Q_TYPE, COUNT_PRESENT, COUNT, ADDR_PRESENT, ADDR_MATCH, C_KEY_SET,
    C_KEY, C_NUM, C_FINAL, C_INCR, R_KEY0, R_KEY1, RES0, RES1, CI0, CI1, TOK24, TOK3, INCR,
    CONDITIONAL, FIRST, IN, MEMBERS
};

static const struct tw_member_type rows[MEMBERS] = {
    [MATCH] = TW_LISTED("match", DECIMAL),
    [MATCH_WORDS] = TW_TOLD(NAME, " "),
    [ADDR] = TW_SHOWN("addr", HEX, " "),
    [ADDR_BITS] = TW_LISTED("addr_bits", DECIMAL),
    [ADDR_VALID] = TW_LISTED("addr_valid", DECIMAL),
    [ADDR_SIZE] = TW_LISTED("addr_size", DECIMAL),
    [IS] = TW_SHOWN("is", DECIMAL, " IS"),
    [CTXT_UPDATED] = TW_LISTED("ctxt_updated", DECIMAL),
    [EL] = TW_LISTED("el", DECIMAL),
    [SF] = TW_LISTED("sf", DECIMAL),
    [NS] = TW_LISTED("ns", DECIMAL),
    [NSE] = TW_LISTED("nse", DECIMAL),
    [CID] = TW_SHOWN("cid", HEX, " cid "),
    [VMID] = TW_SHOWN("vmid", HEX, " vmid "),
    [CONTEXT] = TW_TOLD(NAME, " "),
    [ATOMS] = TW_SHOWN("atoms", NAME, " "),
    [NO_ATOMS] = TW_LISTED("atoms", NAME),
    [CC] = TW_LISTED("cc", DECIMAL),
    [CYCLES] = TW_SHOWN("cc", DECIMAL, " cycles "),
    [UNKNOWN_CYCLES] = TW_TOLD(FLAG, " cycles unknown"),
    [COMMIT] = TW_SHOWN("commit", DECIMAL, " commit "),
    [CANCEL] = TW_SHOWN("cancel", DECIMAL, " cancel "),
    [MISPREDICT] = TW_SHOWN("mispredict", FLAG, " mispredict"),
    [INFO] = TW_SHOWN("info", HEX, " info "),
    [P0_KEY] = TW_SHOWN("p0_key", DECIMAL, " key "),
    [CC_THRESHOLD] = TW_LISTED("cc_threshold", DECIMAL),
    [SPEC_PRESENT] = TW_LISTED("spec_present", DECIMAL),
    [SPEC_DEPTH] = TW_LISTED("spec_depth", DECIMAL),
    [SPECULATION] = TW_TOLD(DECIMAL, " speculation depth "),
    [THRESHOLD] = TW_TOLD(DECIMAL, " cycle threshold "),
    [WINDOW] = TW_SHOWN("window", DECIMAL, " window "),
    [INITIAL] = TW_SHOWN("initial", FLAG, ", first"),
    [EXC] = TW_SHOWN("exc", DECIMAL, " "),
    [INTERP] = TW_LISTED("interp", DECIMAL),
    [M] = TW_LISTED("m", DECIMAL),
    [FAULT_PENDING] = TW_LISTED("fault_pending", DECIMAL),
    [EXCEPTION] = TW_TOLD(TEXT, ""),
    [TS] = TW_SHOWN("ts", HEX, " "),
    [TS_BITS] = TW_LISTED("ts_bits", DECIMAL),
    [TS_CC] = TW_SHOWN("cc", DECIMAL, " cycles "),
    [ITE_EL] = TW_SHOWN("el", DECIMAL, " EL"),
    [ITE_VALUE] = TW_SHOWN("value", HEX, " "),
    [EVENT] = TW_LISTED("event", DECIMAL),
    [EVENTS] = TW_TOLD(NAME, " "),
    [DSM] = TW_SHOWN("dsm", DECIMAL, " "),
    [Q_TYPE] = TW_LISTED("q_type", DECIMAL),
    [COUNT_PRESENT] = TW_LISTED("count_present", DECIMAL),
    [COUNT] = TW_SHOWN("count", DECIMAL, " count "),
    [ADDR_PRESENT] = TW_LISTED("addr_present", DECIMAL),
    [ADDR_MATCH] = TW_LISTED("addr_match", DECIMAL),
    [C_KEY_SET] = TW_LISTED("c_key_set", DECIMAL),
    [C_KEY] = TW_LISTED("c_key", DECIMAL),
    [C_NUM] = TW_LISTED("c_num", DECIMAL),
    [C_FINAL] = TW_LISTED("c_final", DECIMAL),
    [C_INCR] = TW_LISTED("c_incr", DECIMAL),
    [R_KEY0] = TW_LISTED("r_key0", DECIMAL),
    [R_KEY1] = TW_LISTED("r_key1", DECIMAL),
    [RES0] = TW_LISTED("res0", DECIMAL),
    [RES1] = TW_LISTED("res1", DECIMAL),
    [CI0] = TW_LISTED("ci0", DECIMAL),
    [CI1] = TW_LISTED("ci1", DECIMAL),
    [TOK24] = TW_LISTED("tok24", DECIMAL),
    [TOK3] = TW_LISTED("tok3", DECIMAL),
    [INCR] = TW_LISTED("incr", DECIMAL),
    [CONDITIONAL] = TW_TOLD(TEXT, ""),
    [FIRST] = TW_SHOWN("first", NAME, " begins with "),
    [IN] = TW_SHOWN("in", NAME, " in "),
};
/* clang-format on */

static unsigned shown(const struct tw_etmv4_packet *packet)
{
    return packet->base.type < TW_ETMV4_TYPES ? shows[packet->base.type] : 0;
}

static void put_match(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    static const char *const words[] = { "[0]", "[1]", "[2]", "[3]" };

    tw_put(out, MATCH, packet->match);
    tw_put_text(out, MATCH_WORDS, words[packet->match & 3]);
}

static void put_address(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    tw_put(out, ADDR, packet->address);
    tw_put(out, ADDR_BITS, packet->address_bits);
    tw_put(out, ADDR_VALID, 64);
    tw_put(out, ADDR_SIZE, packet->address_width);
    tw_put(out, IS, packet->sub_isa);
}

static void put_context(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    static const char *const security[] = { "secure", "non-secure", "root", "realm" };

    tw_put(out, CTXT_UPDATED, packet->has_context);
    if (!packet->has_context) {
        tw_put_text(out, CONTEXT, "same");
        return;
    }
    tw_put(out, EL, packet->el);
    tw_put(out, SF, packet->sf);
    tw_put(out, NS, packet->ns);
    tw_put(out, NSE, packet->nse);
    tw_put_format(out, CONTEXT, "%s EL%u %s", packet->sf ? "AArch64" : "AArch32", packet->el,
                  security[packet->nse * 2 + packet->ns]);
    if (packet->has_cid)
        tw_put(out, CID, packet->cid);
    if (packet->has_vmid)
        tw_put(out, VMID, packet->vmid);
}

static void put_atoms(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    const unsigned count = packet->atom_count < 32 ? packet->atom_count : 32;
    char *letters = count ? tw_put_room(out, ATOMS, count + 1) : NULL;

    if (!letters) {
        tw_put_text(out, NO_ATOMS, "");
        return;
    }
    for (unsigned i = 0; i < count; i++)
        letters[i] = packet->atoms >> i & 1 ? 'E' : 'N';
    letters[count] = 0;
}

static void put_cycles(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    tw_put(out, packet->is_unknown ? CC : CYCLES, packet->cycles);
    if (packet->is_unknown)
        tw_put(out, UNKNOWN_CYCLES, 1);
}

static void put_info(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    tw_put(out, INFO, packet->info);
    if (packet->sections & TW_ETMV4_KEY)
        tw_put(out, P0_KEY, packet->key);
    if (packet->sections & TW_ETMV4_SPEC)
        tw_put(out, SPECULATION, packet->spec);
    if (packet->sections & TW_ETMV4_CYCT) {
        tw_put(out, CC_THRESHOLD, packet->threshold);
        tw_put(out, THRESHOLD, packet->threshold);
    }
    tw_put(out, SPEC_PRESENT, (packet->sections & TW_ETMV4_SPEC) != 0);
    tw_put(out, SPEC_DEPTH, packet->spec);
    if (packet->sections & TW_ETMV4_WNDW)
        tw_put(out, WINDOW, packet->window);
    tw_put(out, INITIAL, packet->is_initial);
}

static void put_exception(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    const unsigned number = packet->exception;
    const char *name;

    tw_put(out, EXC, number);
    tw_put(out, INTERP, packet->interpretation);
    tw_put(out, M, packet->is_m_profile);
    tw_put(out, FAULT_PENDING, packet->fault_pending);
    name = packet->is_m_profile ? tw_armv8_m_exception_name(number)
                                : tw_armv8_exception_name(number);
    if (packet->is_m_profile && tw_armv8_m_irq(number) >= 0)
        tw_put_format(out, EXCEPTION, " IRQ%d", tw_armv8_m_irq(number));
    tw_put_format(out, EXCEPTION, "%s%s%s%s", name ? " " : "", name ? name : "",
                  packet->fault_pending ? ", fault pending" : "",
                  packet->interpretation == 2 ? ", return address is also the last target"
                                              : ", return address follows");
}

static void put_q(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    tw_put(out, Q_TYPE, packet->q_type);
    tw_put(out, COUNT_PRESENT, packet->q_has_count);
    if (packet->q_has_count)
        tw_put(out, COUNT, packet->q_count);
    tw_put(out, ADDR_PRESENT, packet->q_has_address);
    tw_put(out, ADDR_MATCH, packet->q_is_match);
    if (packet->q_is_match)
        put_match(out, packet);
    if (packet->q_has_address)
        put_address(out, packet);
}

static void put_condition(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    tw_put(out, C_KEY_SET, packet->cond_has_key);
    tw_put(out, C_KEY, packet->cond_key);
    tw_put(out, C_NUM, packet->cond_count);
    tw_put(out, C_FINAL, packet->cond_final);
    tw_put(out, C_INCR, packet->cond_increment);
    if (packet->cond_has_key)
        tw_put_format(out, CONDITIONAL, " key %u", (unsigned)packet->cond_key);
    else
        tw_put_format(out, CONDITIONAL, " %u element%s%s", packet->cond_count,
                      packet->cond_count == 1 ? "" : "s",
                      packet->cond_increment ? ", next key" : "");
}

static void put_result(struct tw_members *out, const struct tw_etmv4_packet *packet)
{
    const uint8_t type = packet->base.type;

    if (type == TW_ETMV4_COND_RES_F1) {
        tw_put(out, R_KEY0, packet->result_key[0]);
        if (packet->result_count > 1)
            tw_put(out, R_KEY1, packet->result_key[1]);
        tw_put(out, RES0, packet->result[0]);
        if (packet->result_count > 1)
            tw_put(out, RES1, packet->result[1]);
        tw_put(out, CI0, packet->result_ci[0]);
        if (packet->result_count > 1)
            tw_put(out, CI1, packet->result_ci[1]);
    } else if (type == TW_ETMV4_COND_RES_F3) {
        tw_put(out, TOK3, packet->tokens);
    } else {
        tw_put(out, TOK24, packet->token);
    }
    if (type == TW_ETMV4_COND_RES_F2)
        tw_put(out, INCR, packet->result_increment);
    for (unsigned i = 0; i < packet->result_count && i < 2; i++)
        tw_put_format(out, CONDITIONAL, " key %u result 0x%x ci %u",
                      (unsigned)packet->result_key[i], packet->result[i], packet->result_ci[i]);
    if (type == TW_ETMV4_COND_RES_F3)
        tw_put_format(out, CONDITIONAL, " tokens 0x%03x", packet->tokens);
    else if (type != TW_ETMV4_COND_RES_F1)
        tw_put_format(out, CONDITIONAL, " token %u", packet->token);
    if (packet->result_increment)
        tw_put_format(out, CONDITIONAL, ", key + %u", packet->result_increment);
}

/* Members that few packets have. */
static void put_rare(struct tw_members *out, const struct tw_etmv4_packet *packet,
                     unsigned show)
{
    if (show & SHOW_INFO)
        put_info(out, packet);
    if (show & SHOW_EXCEPTION)
        put_exception(out, packet);
    if (show & SHOW_TIMESTAMP) {
        tw_put(out, TS, packet->timestamp);
        tw_put(out, TS_BITS, packet->timestamp_bits);
        if (packet->timestamp_has_count)
            tw_put(out, TS_CC, packet->timestamp_count);
    }
    if (show & SHOW_VALUE) {
        tw_put(out, ITE_EL, packet->value_el);
        tw_put(out, ITE_VALUE, packet->value);
    }
    if (show & SHOW_NUMBER)
        tw_put(out, packet->base.type == TW_ETMV4_EVENT ? EVENT : DSM, packet->number);
    if (packet->base.type == TW_ETMV4_EVENT)
        tw_put_text(out, EVENTS, tw_armv8_events(packet->number));
    if (show & SHOW_Q)
        put_q(out, packet);
    if (show & SHOW_COND)
        put_condition(out, packet);
    if (show & SHOW_RESULT)
        put_result(out, packet);
    if (packet->base.type == TW_ETMV4_DATA)
        tw_put_text(out, FIRST,
                    tw_etmv4_data_name((uint8_t)packet->value, (uint8_t)(packet->value >> 8)));
    if (tw_etmv4_type_is_bad(packet->base.type) && packet->cause)
        tw_put_text(out, IN, tw_etmv4_type_name(packet->cause));
}

static void put_members(struct tw_members *out, const struct tw_protocol *protocol,
                        const void *any)
{
    const struct tw_etmv4_packet *packet = any;
    const unsigned show = shown(packet);

    (void)protocol;
    if (show & SHOW_MATCH)
        put_match(out, packet);
    if (show & SHOW_ADDRESS)
        put_address(out, packet);
    if (show & SHOW_CONTEXT)
        put_context(out, packet);
    if (show & SHOW_ATOMS)
        put_atoms(out, packet);
    if (show & SHOW_CYCLES)
        put_cycles(out, packet);
    if (show & SHOW_COMMIT && packet->has_commit)
        tw_put(out, COMMIT, packet->commit);
    if (show & SHOW_CANCEL)
        tw_put(out, CANCEL, packet->cancel);
    if (show & SHOW_MISPREDICT)
        tw_put(out, MISPREDICT, 1);
    if (!(show & (SHOW_ADDRESS | SHOW_ATOMS)))
        put_rare(out, packet, show);
}

const struct tw_member_table tw_etmv4_members = { rows, MEMBERS, put_members, NULL };
