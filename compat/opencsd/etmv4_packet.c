/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv4 and ETE packets as OpenCSD has them. */
#include "opencsd/etmv4_packet.h"

#include <string.h>

#include "opencsd/settings.h"

/* clang-format off */
static const uint16_t types[TW_ETMV4_TYPES] = {
    [TW_ETMV4_NOT_SYNC] = ETM4_PKT_I_NOTSYNC,
    [TW_ETMV4_INCOMPLETE_EOT] = ETM4_PKT_I_INCOMPLETE_EOT,
    [TW_ETMV4_BAD_SEQUENCE] = ETM4_PKT_I_BAD_SEQUENCE,
    [TW_ETMV4_BAD_TRACEMODE] = ETM4_PKT_I_BAD_TRACEMODE,
    [TW_ETMV4_RESERVED] = ETM4_PKT_I_RESERVED,
    [TW_ETMV4_RESERVED_CFG] = ETM4_PKT_I_RESERVED_CFG,
    [TW_ETMV4_EXTENSION] = ETM4_PKT_I_EXTENSION,
    [TW_ETMV4_ASYNC] = ETM4_PKT_I_ASYNC,
    [TW_ETMV4_DISCARD] = ETM4_PKT_I_DISCARD,
    [TW_ETMV4_OVERFLOW] = ETM4_PKT_I_OVERFLOW,
    [TW_ETMV4_BF_FLUSH] = ETM4_PKT_I_BAD_SEQUENCE,
    [TW_ETMV4_TRACE_INFO] = ETM4_PKT_I_TRACE_INFO,
    [TW_ETMV4_TIMESTAMP] = ETM4_PKT_I_TIMESTAMP,
    [TW_ETMV4_TRACE_ON] = ETM4_PKT_I_TRACE_ON,
    [TW_ETMV4_FUNC_RET] = ETM4_PKT_I_FUNC_RET,
    [TW_ETMV4_EXCEPT] = ETM4_PKT_I_EXCEPT,
    [TW_ETMV4_EXCEPT_RTN] = ETM4_PKT_I_EXCEPT_RTN,
    [TW_ETMV4_RESYNC] = ETM4_PKT_I_RESERVED,
    [TW_ETMV4_ITE] = OC_ETMV4_ITE_1_7,
    [TW_ETMV4_TRANS_ST] = ETE_PKT_I_TRANS_ST,
    [TW_ETMV4_TRANS_COMMIT] = ETE_PKT_I_TRANS_COMMIT,
    [TW_ETMV4_TRANS_FAIL] = ETE_PKT_I_TRANS_FAIL,
    [TW_ETMV4_PE_RESET] = ETE_PKT_I_PE_RESET,
    [TW_ETMV4_CCNT_F2] = ETM4_PKT_I_CCNT_F2,
    [TW_ETMV4_CCNT_F1] = ETM4_PKT_I_CCNT_F1,
    [TW_ETMV4_CCNT_F3] = ETM4_PKT_I_CCNT_F3,
    [TW_ETMV4_NUM_DS_MKR] = ETM4_PKT_I_NUM_DS_MKR,
    [TW_ETMV4_UNNUM_DS_MKR] = ETM4_PKT_I_UNNUM_DS_MKR,
    [TW_ETMV4_COMMIT] = ETM4_PKT_I_COMMIT,
    [TW_ETMV4_CANCEL_F1] = ETM4_PKT_I_CANCEL_F1,
    [TW_ETMV4_CANCEL_F1_MISPRED] = ETM4_PKT_I_CANCEL_F1_MISPRED,
    [TW_ETMV4_MISPREDICT] = ETM4_PKT_I_MISPREDICT,
    [TW_ETMV4_CANCEL_F2] = ETM4_PKT_I_CANCEL_F2,
    [TW_ETMV4_CANCEL_F3] = ETM4_PKT_I_CANCEL_F3,
    [TW_ETMV4_COND_I_F2] = ETM4_PKT_I_COND_I_F2,
    [TW_ETMV4_COND_FLUSH] = ETM4_PKT_I_COND_FLUSH,
    [TW_ETMV4_COND_RES_F4] = ETM4_PKT_I_COND_RES_F4,
    [TW_ETMV4_COND_RES_F2] = ETM4_PKT_I_COND_RES_F2,
    [TW_ETMV4_COND_RES_F3] = ETM4_PKT_I_COND_RES_F3,
    [TW_ETMV4_COND_RES_F1] = ETM4_PKT_I_COND_RES_F1,
    [TW_ETMV4_COND_I_F1] = ETM4_PKT_I_COND_I_F1,
    [TW_ETMV4_COND_I_F3] = ETM4_PKT_I_COND_I_F3,
    [TW_ETMV4_IGNORE] = ETM4_PKT_I_IGNORE,
    [TW_ETMV4_EVENT] = ETM4_PKT_I_EVENT,
    [TW_ETMV4_CTXT] = ETM4_PKT_I_CTXT,
    [TW_ETMV4_ADDR_CTXT_L_32IS0] = ETM4_PKT_I_ADDR_CTXT_L_32IS0,
    [TW_ETMV4_ADDR_CTXT_L_32IS1] = ETM4_PKT_I_ADDR_CTXT_L_32IS1,
    [TW_ETMV4_ADDR_CTXT_L_64IS0] = ETM4_PKT_I_ADDR_CTXT_L_64IS0,
    [TW_ETMV4_ADDR_CTXT_L_64IS1] = ETM4_PKT_I_ADDR_CTXT_L_64IS1,
    [TW_ETMV4_TS_MARKER] = ETE_PKT_I_TS_MARKER,
    [TW_ETMV4_ADDR_MATCH] = ETM4_PKT_I_ADDR_MATCH,
    [TW_ETMV4_ADDR_S_IS0] = ETM4_PKT_I_ADDR_S_IS0,
    [TW_ETMV4_ADDR_S_IS1] = ETM4_PKT_I_ADDR_S_IS1,
    [TW_ETMV4_ADDR_L_32IS0] = ETM4_PKT_I_ADDR_L_32IS0,
    [TW_ETMV4_ADDR_L_32IS1] = ETM4_PKT_I_ADDR_L_32IS1,
    [TW_ETMV4_ADDR_L_64IS0] = ETM4_PKT_I_ADDR_L_64IS0,
    [TW_ETMV4_ADDR_L_64IS1] = ETM4_PKT_I_ADDR_L_64IS1,
    [TW_ETMV4_Q] = ETM4_PKT_I_Q,
    [TW_ETMV4_SRC_ADDR_MATCH] = ETE_PKT_I_SRC_ADDR_MATCH,
    [TW_ETMV4_SRC_ADDR_S_IS0] = ETE_PKT_I_SRC_ADDR_S_IS0,
    [TW_ETMV4_SRC_ADDR_S_IS1] = ETE_PKT_I_SRC_ADDR_S_IS1,
    [TW_ETMV4_SRC_ADDR_L_32IS0] = ETE_PKT_I_SRC_ADDR_L_32IS0,
    [TW_ETMV4_SRC_ADDR_L_32IS1] = ETE_PKT_I_SRC_ADDR_L_32IS1,
    [TW_ETMV4_SRC_ADDR_L_64IS0] = ETE_PKT_I_SRC_ADDR_L_64IS0,
    [TW_ETMV4_SRC_ADDR_L_64IS1] = ETE_PKT_I_SRC_ADDR_L_64IS1,
    [TW_ETMV4_ATOM_F1] = ETM4_PKT_I_ATOM_F1,
    [TW_ETMV4_ATOM_F2] = ETM4_PKT_I_ATOM_F2,
    [TW_ETMV4_ATOM_F3] = ETM4_PKT_I_ATOM_F3,
    [TW_ETMV4_ATOM_F4] = ETM4_PKT_I_ATOM_F4,
    [TW_ETMV4_ATOM_F5] = ETM4_PKT_I_ATOM_F5,
    [TW_ETMV4_ATOM_F6] = ETM4_PKT_I_ATOM_F6,
};
/* clang-format on */

void oc_etmv4_init(void *any, const struct oc_setup *setup)
{
    struct oc_etmv4_state *state = any;

    memset(state, 0, sizeof *state);
    state->version = setup->version;
    state->is_m_profile = setup->is_m_profile;
    state->is_1_7 = oc_settings()->is_1_7;
    oc_etmv4_reset(state);
}

static void forget_addresses(struct oc_etmv4_state *state)
{
    for (unsigned i = 0; i < 3; i++) {
        state->history[i].address =
            (ocsd_pkt_vaddr){ .size = VA_64BIT, .valid_bits = OCSD_MAX_VA_BITSIZE };
        state->history[i].isa = 0;
    }
}

void oc_etmv4_reset(void *any)
{
    struct oc_etmv4_state *state = any;
    ocsd_etmv4_i_pkt *out = &state->packet;

    out->type = ETM4_PKT_I_NOTSYNC;
    out->pkt_valid.val = 0;
    out->v_addr.pkt_bits = out->v_addr.valid_bits = 0;
    out->v_addr_ISA = 0;
    out->ts.bits_changed = 0;
    out->ts.timestamp = 0;
    out->protocol_version = state->version;
    out->err_type = ETM4_PKT_I_NO_ERR_TYPE;
}

/* What holds for one packet only. */
static void begin(struct oc_etmv4_state *state)
{
    ocsd_etmv4_i_pkt *out = &state->packet;

    out->pkt_valid.bits.cc_valid = 0;
    out->pkt_valid.bits.commit_elem_valid = 0;
    out->atom.num = 0;
    out->context.updated = out->context.updated_v = out->context.updated_c = 0;
    out->err_type = ETM4_PKT_I_NO_ERR_TYPE;
    state->is_initial = state->has_spec = state->has_cancel = false;
}

static void push_address(struct oc_etmv4_state *state)
{
    state->history[2] = state->history[1];
    state->history[1] = state->history[0];
    state->history[0].address = state->packet.v_addr;
    state->history[0].isa = state->packet.v_addr_ISA;
}

static void match_address(struct oc_etmv4_state *state, unsigned entry)
{
    state->packet.addr_exact_match_idx = (uint8_t)entry;
    if (entry < 3) {
        state->packet.v_addr = state->history[entry].address;
        state->packet.v_addr_ISA = state->history[entry].isa;
    }
    push_address(state);
}

static void set_address(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;
    ocsd_pkt_vaddr *address = &out->v_addr;

    address->val = packet->address;
    address->pkt_bits = packet->address_bits;
    if (packet->address_bits == 64)
        address->size = VA_64BIT;
    else if (packet->address_bits == 32)
        address->size =
            out->pkt_valid.bits.context_valid && out->context.SF ? VA_64BIT : VA_32BIT;
    if (address->valid_bits < packet->address_bits)
        address->valid_bits = packet->address_bits;
    out->v_addr_ISA = packet->sub_isa;
    push_address(state);
}

static void set_context(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;

    out->pkt_valid.bits.context_valid = 1;
    if (!packet->has_context)
        return;
    out->context.updated = 1;
    out->context.EL = packet->el & 3u;
    out->context.NS = packet->ns;
    out->context.SF = packet->sf;
    out->context.NSE = packet->nse;
    if (packet->has_vmid) {
        out->context.VMID = packet->vmid;
        out->context.updated_v = 1;
    }
    if (packet->has_cid) {
        out->context.ctxtID = packet->cid;
        out->context.updated_c = 1;
    }
}

static void set_trace_info(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;

    out->pkt_valid.bits.ts_valid = 0;
    out->pkt_valid.bits.p0_key_valid = 0;
    out->pkt_valid.bits.cc_thresh_valid = 0;
    out->trace_info.val = packet->info;
    out->pkt_valid.bits.trace_info_valid = 1;
    out->curr_spec_depth = packet->spec;
    out->pkt_valid.bits.spec_depth_valid = 1;
    forget_addresses(state);
    out->v_addr = state->history[0].address;
    out->v_addr_ISA = 0;
    if (packet->sections & TW_ETMV4_KEY) {
        out->p0_key = packet->key;
        out->pkt_valid.bits.p0_key_valid = 1;
    }
    if (packet->sections & TW_ETMV4_CYCT) {
        out->cc_threshold = packet->threshold;
        out->pkt_valid.bits.cc_thresh_valid = 1;
    }
    state->is_initial = packet->is_initial;
    state->has_spec = (packet->sections & TW_ETMV4_SPEC) != 0;
}

static void set_cycles(ocsd_etmv4_i_pkt *out, uint32_t cycles)
{
    out->cycle_count = cycles;
    out->pkt_valid.bits.cc_valid = 1;
}

/* Cycle counts and speculation. */
static void set_counts(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;
    const uint8_t type = packet->base.type;

    if (type == TW_ETMV4_CCNT_F1 || type == TW_ETMV4_CCNT_F2 || type == TW_ETMV4_CCNT_F3) {
        set_cycles(out, packet->is_unknown ? 0 : packet->cycles);
        if (!packet->has_commit)
            return;
        out->commit_elements = packet->commit;
        out->pkt_valid.bits.commit_elem_valid = 1;
        return;
    }
    if (type == TW_ETMV4_COMMIT) {
        out->commit_elements = packet->commit;
        out->pkt_valid.bits.commit_elem_valid = 1;
        return;
    }
    out->cancel_elements = packet->cancel;
    state->has_cancel = true;
    out->atom.En_bits = packet->atom_count ? packet->atoms : out->atom.En_bits;
    out->atom.num = packet->atom_count;
}

static void set_exception(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;

    out->exception_info.exceptionType = packet->exception & 0x3ffu;
    out->exception_info.addr_interp = packet->interpretation & 3u;
    out->exception_info.m_fault_pending = packet->fault_pending;
    out->exception_info.m_type = state->is_m_profile;
    if (packet->base.type == TW_ETMV4_EXCEPT)
        return;
    out->v_addr = (ocsd_pkt_vaddr){ .size = VA_64BIT, .pkt_bits = 64, .valid_bits = 64 };
    out->v_addr_ISA = 0;
    push_address(state);
}

static void set_q(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet)
{
    ocsd_etmv4_i_pkt *out = &state->packet;

    if (packet->q_is_match)
        match_address(state, packet->match);
    else if (packet->q_has_address)
        set_address(state, packet);
    out->Q_pkt.q_count = packet->q_has_count ? packet->q_count : 0;
    out->Q_pkt.q_type = packet->q_type & 0xfu;
    out->Q_pkt.count_present = packet->q_has_count;
    out->Q_pkt.addr_present = packet->q_has_address || packet->q_is_match;
    out->Q_pkt.addr_match = packet->q_is_match;
}

static void set_condition(ocsd_etmv4_i_pkt *out, const struct tw_etmv4_packet *packet)
{
    switch (packet->base.type) {
    case TW_ETMV4_COND_I_F2:
    case TW_ETMV4_COND_I_F3:
        out->cond_instr.cond_key_set = 0;
        out->cond_instr.f3_final_elem = packet->cond_final;
        out->cond_instr.f2_cond_incr = packet->cond_increment;
        out->cond_instr.num_c_elem = packet->cond_count;
        break;
    case TW_ETMV4_COND_RES_F1:
        out->cond_result.key_res_0_set = 1;
        out->cond_result.cond_r_key_0 = packet->result_key[0];
        out->cond_result.res_0 = packet->result[0] & 0xfu;
        out->cond_result.ci_0 = packet->result_ci[0] & 1u;
        if (packet->result_count < 2)
            break;
        out->cond_result.key_res_1_set = 1;
        out->cond_result.cond_r_key_1 = packet->result_key[1];
        out->cond_result.res_1 = packet->result[1] & 0xfu;
        out->cond_result.ci_1 = packet->result_ci[1] & 1u;
        break;
    case TW_ETMV4_COND_RES_F2:
        out->cond_result.f2_key_incr = packet->result_increment & 3u;
        out->cond_result.f2f4_token = packet->token & 3u;
        out->cond_result.key_res_0_set = out->cond_result.key_res_1_set = 0;
        break;
    case TW_ETMV4_COND_RES_F3:
        out->cond_result.f3_tokens = packet->tokens & 0xfffu;
        out->cond_result.key_res_0_set = out->cond_result.key_res_1_set = 0;
        break;
    case TW_ETMV4_COND_RES_F4:
        out->cond_result.f2f4_token = packet->token & 3u;
        out->cond_result.key_res_0_set = out->cond_result.key_res_1_set = 0;
        break;
    default:
        break;
    }
}

static void set_bad(ocsd_etmv4_i_pkt *out, const struct tw_etmv4_packet *packet,
                    const uint8_t *bytes)
{
    const bool is_header =
        packet->base.type == TW_ETMV4_RESERVED || packet->base.type == TW_ETMV4_RESERVED_CFG;

    out->err_type =
        (ocsd_etmv4_i_pkt_type)(packet->cause == OC_ETMV4_UNSYNCED ? ETM4_PKT_I_NOTSYNC
                                : packet->cause                    ? types[packet->cause]
                                : is_header                        ? ETM4_PKT_I_RESERVED
                                                                   : ETM4_PKT_I_EXTENSION);
    if (is_header) {
        out->err_hdr_val = bytes[0];
    } else if (packet->base.type == TW_ETMV4_INCOMPLETE_EOT) {
        out->err_hdr_val = 0;
        /* A zero is an extension, two are the beginning of an A-Sync. */
        if (packet->cause != OC_ETMV4_UNSYNCED && packet->base.size == 1 && !bytes[0])
            out->err_type = ETM4_PKT_I_EXTENSION;
        else if (packet->cause != OC_ETMV4_UNSYNCED && packet->base.size > 1 && !bytes[0] &&
                 !bytes[1])
            out->err_type = ETM4_PKT_I_ASYNC;
    }
}

static void set_timestamp(ocsd_etmv4_i_pkt *out, const struct tw_etmv4_packet *packet)
{
    out->ts.timestamp = packet->timestamp;
    out->ts.bits_changed = packet->timestamp_bits;
    out->pkt_valid.bits.ts_valid = 1;
    if (packet->timestamp_has_count)
        set_cycles(out, packet->timestamp_count);
}

static void set_details(struct oc_etmv4_state *state, const struct tw_etmv4_packet *packet,
                        const uint8_t *bytes)
{
    ocsd_etmv4_i_pkt *out = &state->packet;
    const uint8_t type = packet->base.type;

    switch (type) {
    case TW_ETMV4_TRACE_INFO:
        set_trace_info(state, packet);
        break;
    case TW_ETMV4_TIMESTAMP:
        set_timestamp(out, packet);
        break;
    case TW_ETMV4_EXCEPT:
    case TW_ETMV4_PE_RESET:
    case TW_ETMV4_TRANS_FAIL:
        set_exception(state, packet);
        break;
    case TW_ETMV4_ITE:
        state->ite_el = packet->value_el;
        state->ite_value = packet->value;
        break;
    case TW_ETMV4_NUM_DS_MKR:
    case TW_ETMV4_UNNUM_DS_MKR:
        out->dsm_val = packet->number;
        break;
    case TW_ETMV4_EVENT:
        out->event_val = packet->number;
        break;
    case TW_ETMV4_CTXT:
        set_context(state, packet);
        break;
    case TW_ETMV4_ADDR_MATCH:
    case TW_ETMV4_SRC_ADDR_MATCH:
        match_address(state, packet->match);
        break;
    case TW_ETMV4_Q:
        set_q(state, packet);
        break;
    default:
        if (type >= TW_ETMV4_ATOM_F1 && type <= TW_ETMV4_ATOM_F6) {
            out->atom.En_bits = packet->atoms;
            out->atom.num = packet->atom_count;
        } else if (type >= TW_ETMV4_CCNT_F2 && type <= TW_ETMV4_CANCEL_F3) {
            set_counts(state, packet);
        } else if (type >= TW_ETMV4_COND_I_F2 && type <= TW_ETMV4_COND_I_F3) {
            set_condition(out, packet);
        } else if (type >= TW_ETMV4_ADDR_CTXT_L_32IS0 && type <= TW_ETMV4_SRC_ADDR_L_64IS1 &&
                   type != TW_ETMV4_TS_MARKER) {
            set_address(state, packet);
            if (type <= TW_ETMV4_ADDR_CTXT_L_64IS1)
                set_context(state, packet);
        } else if (tw_etmv4_type_is_bad(type)) {
            set_bad(out, packet, bytes);
        }
        break;
    }
}

void oc_etmv4_fill(void *any, const void *from, const uint8_t *bytes)
{
    struct oc_etmv4_state *state = any;
    const struct tw_etmv4_packet *packet = from;

    begin(state);
    state->packet.type = (ocsd_etmv4_i_pkt_type)types[packet->base.type];
    if (packet->base.type == TW_ETMV4_ITE && !state->is_1_7)
        state->packet.type = ETM4_PKT_I_RESERVED; /* 1.3.3 has no name for it */
    set_details(state, packet, bytes);
}

static const void *show_later(struct oc_etmv4_state *state)
{
    enum { INITIAL = 1 << 16, SPEC = 1 << 17, CANCEL_VALID = 1 << 10 };
    struct oc_etmv4_later *later = &state->later;
    ocsd_etmv4_i_pkt head = state->packet;

    head.trace_info.val = (head.trace_info.val & 0xffff) | (state->is_initial ? INITIAL : 0u) |
                          (state->has_spec ? SPEC : 0u);
    memcpy(later->head, &head, sizeof later->head);
    later->ite.el = state->ite_el;
    later->ite.value = state->ite_value;
    later->valid = head.pkt_valid.val | (state->has_cancel ? CANCEL_VALID : 0u);
    later->err_type = (uint32_t)head.err_type;
    later->err_hdr_val = head.err_hdr_val;
    later->protocol_version = head.protocol_version;
    return later;
}

const void *oc_etmv4_shown(void *any)
{
    struct oc_etmv4_state *state = any;

    return state->is_1_7 ? show_later(state) : &state->packet;
}
