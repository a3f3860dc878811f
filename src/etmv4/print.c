/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets as text for people, and as members of a JSON line. */
#include "base/compiler.h"
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

static const char *const exceptions[] = {
    "PE reset", "debug halt", "call", "trap", "system error", NULL, "instruction debug",
    "data debug", NULL, NULL, "alignment", "instruction fault", "data fault", NULL, "IRQ", "FIQ",
};
static const char *const m_exceptions[] = {
    NULL, "reset", "NMI", "HardFault", "MemManage", "BusFault", "UsageFault", "SecureFault",
    NULL, NULL, NULL, "SVCall", "DebugMonitor", NULL, "PendSV", "SysTick",
    NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "debug halt", "lazy FP push", "lockup",
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

static unsigned shown(const struct tw_etmv4_packet *packet)
{
    return packet->base.type < TW_ETMV4_TYPES ? shows[packet->base.type] : 0;
}

static const char *atom_letters(char letters[33], const struct tw_etmv4_packet *packet)
{
    unsigned i = 0;

    for (; i < packet->atom_count && i < 32; i++)
        letters[i] = packet->atoms >> i & 1 ? 'E' : 'N';
    letters[i] = 0;
    return letters;
}

static void json_address(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_json_hex(out, "addr", packet->address);
    tw_json_u64(out, "addr_bits", packet->address_bits);
    tw_json_u64(out, "addr_valid", 64);
    tw_json_u64(out, "addr_size", packet->address_width);
    tw_json_u64(out, "is", packet->sub_isa);
}

static void json_context(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_json_u64(out, "ctxt_updated", packet->has_context);
    if (!packet->has_context)
        return;
    tw_json_u64(out, "el", packet->el);
    tw_json_u64(out, "sf", packet->sf);
    tw_json_u64(out, "ns", packet->ns);
    tw_json_u64(out, "nse", packet->nse);
    if (packet->has_cid)
        tw_json_hex(out, "cid", packet->cid);
    if (packet->has_vmid)
        tw_json_hex(out, "vmid", packet->vmid);
}

static void json_q(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_json_u64(out, "q_type", packet->q_type);
    tw_json_u64(out, "count_present", packet->q_has_count);
    if (packet->q_has_count)
        tw_json_u64(out, "count", packet->q_count);
    tw_json_u64(out, "addr_present", packet->q_has_address);
    tw_json_u64(out, "addr_match", packet->q_is_match);
    if (packet->q_is_match)
        tw_json_u64(out, "match", packet->match);
    if (packet->q_has_address)
        json_address(out, packet);
}

static void json_info(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_json_hex(out, "info", packet->info);
    if (packet->sections & TW_ETMV4_KEY)
        tw_json_u64(out, "p0_key", packet->key);
    if (packet->sections & TW_ETMV4_CYCT)
        tw_json_u64(out, "cc_threshold", packet->threshold);
    tw_json_u64(out, "spec_present", (packet->sections & TW_ETMV4_SPEC) != 0);
    tw_json_u64(out, "spec_depth", packet->spec);
    if (packet->sections & TW_ETMV4_WNDW)
        tw_json_u64(out, "window", packet->window);
    tw_json_u64(out, "initial", packet->is_initial);
}

static void json_conditional(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    if (shown(packet) & SHOW_COND) {
        tw_json_u64(out, "c_key_set", packet->cond_has_key);
        tw_json_u64(out, "c_key", packet->cond_key);
        tw_json_u64(out, "c_num", packet->cond_count);
        tw_json_u64(out, "c_final", packet->cond_final);
        tw_json_u64(out, "c_incr", packet->cond_increment);
        return;
    }
    switch (packet->base.type) {
    case TW_ETMV4_COND_RES_F1:
        tw_json_u64(out, "r_key0", packet->result_key[0]);
        if (packet->result_count > 1)
            tw_json_u64(out, "r_key1", packet->result_key[1]);
        tw_json_u64(out, "res0", packet->result[0]);
        if (packet->result_count > 1)
            tw_json_u64(out, "res1", packet->result[1]);
        tw_json_u64(out, "ci0", packet->result_ci[0]);
        if (packet->result_count > 1)
            tw_json_u64(out, "ci1", packet->result_ci[1]);
        break;
    case TW_ETMV4_COND_RES_F3:
        tw_json_u64(out, "tok3", packet->tokens);
        break;
    default:
        tw_json_u64(out, "tok24", packet->token);
        if (packet->base.type == TW_ETMV4_COND_RES_F2)
            tw_json_u64(out, "incr", packet->result_increment);
        break;
    }
}

/* Members that few packets have. */
static void json_rare(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    const unsigned show = shown(packet);

    if (show & SHOW_INFO)
        json_info(out, packet);
    if (show & SHOW_EXCEPTION) {
        tw_json_u64(out, "exc", packet->exception);
        tw_json_u64(out, "interp", packet->interpretation);
        tw_json_u64(out, "m", packet->is_m_profile);
        tw_json_u64(out, "fault_pending", packet->fault_pending);
    }
    if (show & SHOW_TIMESTAMP) {
        tw_json_hex(out, "ts", packet->timestamp);
        tw_json_u64(out, "ts_bits", packet->timestamp_bits);
        if (packet->timestamp_has_count)
            tw_json_u64(out, "cc", packet->timestamp_count);
    }
    if (show & SHOW_VALUE) {
        tw_json_u64(out, "el", packet->value_el);
        tw_json_hex(out, "value", packet->value);
    }
    if (show & SHOW_NUMBER)
        tw_json_u64(out, packet->base.type == TW_ETMV4_EVENT ? "event" : "dsm", packet->number);
    if (show & SHOW_Q)
        json_q(out, packet);
    if (show & (SHOW_COND | SHOW_RESULT))
        json_conditional(out, packet);
    if (packet->base.type == TW_ETMV4_DATA)
        tw_json_text(out, "first",
                     tw_etmv4_data_name((uint8_t)packet->value, (uint8_t)(packet->value >> 8)));
    if (tw_etmv4_type_is_bad(packet->base.type) && packet->cause)
        tw_json_text(out, "in", tw_etmv4_type_name(packet->cause));
}

void tw_etmv4_json(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    const unsigned show = shown(packet);
    char letters[33];

    if (show & SHOW_MATCH)
        tw_json_u64(out, "match", packet->match);
    if (show & SHOW_ADDRESS)
        json_address(out, packet);
    if (show & SHOW_CONTEXT)
        json_context(out, packet);
    if (show & SHOW_ATOMS)
        tw_json_text(out, "atoms", atom_letters(letters, packet));
    if (show & SHOW_CYCLES)
        tw_json_u64(out, "cc", packet->cycles);
    if (show & SHOW_COMMIT && packet->has_commit)
        tw_json_u64(out, "commit", packet->commit);
    if (show & SHOW_CANCEL)
        tw_json_u64(out, "cancel", packet->cancel);
    if (show & SHOW_MISPREDICT)
        tw_json_u64(out, "mispredict", 1);
    json_rare(out, packet);
}

static void print_exception(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    const unsigned number = packet->exception;
    const char *name = NULL;

    tw_text_format(out, " %u", number);
    if (packet->is_m_profile) {
        if (number < TW_LENGTH(m_exceptions))
            name = m_exceptions[number];
        if (number >= 16 && number < 24)
            tw_text_format(out, " IRQ%u", number - 16);
        else if (number >= 0x208 && number < 0x3f0)
            tw_text_format(out, " IRQ%u", number - 0x200);
    } else if (number < TW_LENGTH(exceptions)) {
        name = exceptions[number];
    }
    if (name)
        tw_text_format(out, " %s", name);
    if (packet->fault_pending)
        tw_text_add(out, ", fault pending");
    tw_text_add(out, packet->interpretation == 2 ? ", return address is also the last target"
                                                 : ", return address follows");
}

static void print_context(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    static const char *const security[] = { "secure", "non-secure", "root", "realm" };

    if (!packet->has_context) {
        tw_text_add(out, " same");
        return;
    }
    tw_text_format(out, " %s EL%u %s", packet->sf ? "AArch64" : "AArch32", packet->el,
                   security[packet->nse * 2 + packet->ns]);
    if (packet->has_cid)
        tw_text_format(out, " cid 0x%x", (unsigned)packet->cid);
    if (packet->has_vmid)
        tw_text_format(out, " vmid 0x%x", (unsigned)packet->vmid);
}

static void print_address(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_text_char(out, ' ');
    tw_text_hex(out, packet->address);
    tw_text_format(out, " IS%u", packet->sub_isa);
}

static void print_info(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    tw_text_format(out, " info 0x%x", (unsigned)packet->info);
    if (packet->sections & TW_ETMV4_KEY)
        tw_text_format(out, " key %u", (unsigned)packet->key);
    if (packet->sections & TW_ETMV4_SPEC)
        tw_text_format(out, " speculation depth %u", (unsigned)packet->spec);
    if (packet->sections & TW_ETMV4_CYCT)
        tw_text_format(out, " cycle threshold %u", (unsigned)packet->threshold);
    if (packet->sections & TW_ETMV4_WNDW)
        tw_text_format(out, " window %u", (unsigned)packet->window);
    if (packet->is_initial)
        tw_text_add(out, ", first");
}

static void print_conditional(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    if (shown(packet) & SHOW_COND) {
        if (packet->cond_has_key)
            tw_text_format(out, " key %u", (unsigned)packet->cond_key);
        else
            tw_text_format(out, " %u element%s%s", packet->cond_count,
                           packet->cond_count == 1 ? "" : "s",
                           packet->cond_increment ? ", next key" : "");
        return;
    }
    for (unsigned i = 0; i < packet->result_count && i < 2; i++)
        tw_text_format(out, " key %u result 0x%x ci %u", (unsigned)packet->result_key[i],
                       packet->result[i], packet->result_ci[i]);
    if (packet->base.type == TW_ETMV4_COND_RES_F3)
        tw_text_format(out, " tokens 0x%03x", packet->tokens);
    else if (packet->base.type != TW_ETMV4_COND_RES_F1)
        tw_text_format(out, " token %u", packet->token);
    if (packet->result_increment)
        tw_text_format(out, ", key + %u", packet->result_increment);
}

static void print_rare(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    const unsigned show = shown(packet);

    if (show & SHOW_INFO)
        print_info(out, packet);
    if (show & SHOW_EXCEPTION)
        print_exception(out, packet);
    if (show & SHOW_TIMESTAMP) {
        tw_text_char(out, ' ');
        tw_text_hex(out, packet->timestamp);
        if (packet->timestamp_has_count)
            tw_text_format(out, " cycles %u", (unsigned)packet->timestamp_count);
    }
    if (show & SHOW_VALUE) {
        tw_text_format(out, " EL%u ", packet->value_el);
        tw_text_hex(out, packet->value);
    }
    if (show & SHOW_NUMBER)
        tw_text_format(out, " %u", packet->number);
    if (show & SHOW_Q) {
        if (packet->q_has_count)
            tw_text_format(out, " count %u", (unsigned)packet->q_count);
        if (packet->q_is_match)
            tw_text_format(out, " [%u]", packet->match);
        if (packet->q_has_address)
            print_address(out, packet);
    }
    if (show & (SHOW_COND | SHOW_RESULT))
        print_conditional(out, packet);
    if (packet->base.type == TW_ETMV4_DATA)
        tw_text_format(
            out, " begins with %s",
            tw_etmv4_data_name((uint8_t)packet->value, (uint8_t)(packet->value >> 8)));
    if (tw_etmv4_type_is_bad(packet->base.type) && packet->cause)
        tw_text_format(out, " in %s", tw_etmv4_type_name(packet->cause));
}

void tw_etmv4_print(struct tw_text *out, const struct tw_etmv4_packet *packet)
{
    const unsigned show = shown(packet);
    char letters[33];

    tw_text_add(out, tw_etmv4_type_name(packet->base.type));
    if (show & SHOW_MATCH)
        tw_text_format(out, " [%u]", packet->match);
    if (show & SHOW_ADDRESS)
        print_address(out, packet);
    if (show & SHOW_CONTEXT)
        print_context(out, packet);
    if (show & SHOW_ATOMS && packet->atom_count)
        tw_text_format(out, " %s", atom_letters(letters, packet));
    if (show & SHOW_CYCLES) {
        if (packet->is_unknown)
            tw_text_add(out, " cycles unknown");
        else
            tw_text_format(out, " cycles %u", (unsigned)packet->cycles);
    }
    if (show & SHOW_COMMIT && packet->has_commit)
        tw_text_format(out, " commit %u", (unsigned)packet->commit);
    if (show & SHOW_CANCEL)
        tw_text_format(out, " cancel %u", (unsigned)packet->cancel);
    if (show & SHOW_MISPREDICT)
        tw_text_add(out, " mispredict");
    print_rare(out, packet);
}
