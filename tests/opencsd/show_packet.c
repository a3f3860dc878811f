/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet structs of the OpenCSD interface as text: the fields that a packet of its type sets, or that
   stay from those before it. */
#include "show.h"

#include <inttypes.h>

#include "opencsd/etmv3/trc_pkt_types_etmv3.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"
#include "opencsd/stm/trc_pkt_types_stm.h"

static void put_address(struct show *text, const char *name, const ocsd_pkt_vaddr *address)
{
    if (address->valid_bits)
        show_put(text, " %s %" PRIx64 " size %d bits %u %u", name, address->val,
                 (int)address->size, address->pkt_bits, address->valid_bits);
}

static void put_etmv4_details(struct show *text, const ocsd_etmv4_i_pkt *packet)
{
    switch (packet->type) {
    case ETM4_PKT_I_EXCEPT:
        show_put(text, " exception %u interp %u pending %u m %u",
                 packet->exception_info.exceptionType, packet->exception_info.addr_interp,
                 packet->exception_info.m_fault_pending, packet->exception_info.m_type);
        break;
    case ETM4_PKT_I_ADDR_MATCH:
    case ETE_PKT_I_SRC_ADDR_MATCH:
        show_put(text, " match %u", packet->addr_exact_match_idx);
        break;
    case ETM4_PKT_I_NUM_DS_MKR:
    case ETM4_PKT_I_UNNUM_DS_MKR:
        show_put(text, " marker %u", packet->dsm_val);
        break;
    case ETM4_PKT_I_EVENT:
        show_put(text, " event %u", packet->event_val);
        break;
    case ETM4_PKT_I_Q:
        show_put(text, " q %" PRIu32 " address %u match %u count %u type %u",
                 packet->Q_pkt.q_count, packet->Q_pkt.addr_present, packet->Q_pkt.addr_match,
                 packet->Q_pkt.count_present, packet->Q_pkt.q_type);
        break;
    case ETM4_PKT_I_CANCEL_F1:
    case ETM4_PKT_I_CANCEL_F1_MISPRED:
    case ETM4_PKT_I_CANCEL_F2:
    case ETM4_PKT_I_CANCEL_F3:
        show_put(text, " cancel %" PRIu32, packet->cancel_elements);
        break;
    default:
        break;
    }
}

static void put_etmv4(struct show *text, const ocsd_etmv4_i_pkt *packet)
{
    const etmv4_context_t *context = &packet->context;

    show_put(text, "type %x valid %" PRIx32 " err %x version %x", (unsigned)packet->type,
             packet->pkt_valid.val, (unsigned)packet->err_type, packet->protocol_version);
    put_address(text, "address", &packet->v_addr);
    show_put(text, " is %u", packet->v_addr_ISA);
    if (packet->pkt_valid.bits.context_valid)
        show_put(text, " context %u%u%u el %u ns %u sf %u nse %u cid %" PRIx32 " vmid %" PRIx32,
                 context->updated, context->updated_c, context->updated_v, context->EL,
                 context->NS, context->SF, context->NSE,
                 context->updated_c ? context->ctxtID : 0,
                 context->updated_v ? context->VMID : 0);
    if (packet->pkt_valid.bits.ts_valid)
        show_put(text, " ts %" PRIx64 " %u", packet->ts.timestamp, packet->ts.bits_changed);
    if (packet->pkt_valid.bits.cc_thresh_valid)
        show_put(text, " threshold %" PRIu32, packet->cc_threshold);
    show_put(text, " atoms %u:%" PRIx32, packet->atom.num,
             packet->atom.num ? packet->atom.En_bits : 0);
    if (packet->pkt_valid.bits.cc_valid)
        show_put(text, " cc %" PRIu32, packet->cycle_count);
    if (packet->pkt_valid.bits.spec_depth_valid)
        show_put(text, " depth %" PRIu32, packet->curr_spec_depth);
    if (packet->pkt_valid.bits.p0_key_valid)
        show_put(text, " key %" PRIu32, packet->p0_key);
    if (packet->pkt_valid.bits.commit_elem_valid)
        show_put(text, " commit %" PRIu32, packet->commit_elements);
    if (packet->pkt_valid.bits.trace_info_valid)
        show_put(text, " info %" PRIx32, packet->trace_info.val);
    put_etmv4_details(text, packet);
}

static void put_ptm(struct show *text, const ocsd_ptm_pkt *packet)
{
    const ptm_context_t *context = &packet->context;

    show_put(text, "type %d err %d isa %d %d", (int)packet->type, (int)packet->err_type,
             (int)packet->curr_isa, (int)packet->prev_isa);
    if (packet->type == PTM_PKT_INCOMPLETE_EOT)
        return; /* the original fills some in as it goes */
    put_address(text, "address", &packet->addr);
    show_put(text, " context alt %u ns %u hyp %u %u%u%u", context->curr_alt_isa,
             context->curr_NS, context->curr_Hyp, context->updated, context->updated_c,
             context->updated_v);
    if (context->updated_c)
        show_put(text, " cid %" PRIx32, context->ctxtID);
    if (context->updated_v)
        show_put(text, " vmid %x", context->VMID);
    if (packet->type == PTM_PKT_ATOM)
        show_put(text, " atoms %u:%" PRIx32, packet->atom.num, packet->atom.En_bits);
    if (packet->type == PTM_PKT_I_SYNC)
        show_put(text, " reason %d", (int)packet->i_sync_reason);
    if (packet->cc_valid)
        show_put(text, " cc %" PRIu32, packet->cycle_count);
    if (packet->type == PTM_PKT_TIMESTAMP)
        show_put(text, " ts %" PRIx64 " %u", packet->timestamp, packet->ts_update_bits);
    show_put(text, " exception %u", packet->exception.bits.present);
    if (packet->exception.bits.present)
        show_put(text, " %d number %u", (int)packet->exception.type, packet->exception.number);
}

static void put_etmv3(struct show *text, const ocsd_etmv3_pkt *packet)
{
    show_put(text, "type %d err %d isa %d changed %d", (int)packet->type, (int)packet->err_type,
             (int)packet->curr_isa, packet->curr_isa != packet->prev_isa);
    put_address(text, "address", &packet->addr);
    show_put(text, " context alt %u ns %u hyp %u %u%u%u", packet->context.curr_alt_isa,
             packet->context.curr_NS, packet->context.curr_Hyp, packet->context.updated,
             packet->context.updated_c, packet->context.updated_v);
    if (packet->context.updated_c)
        show_put(text, " cid %" PRIx32, packet->context.ctxtID);
    if (packet->context.updated_v)
        show_put(text, " vmid %x", packet->context.VMID);
    show_put(text, " atoms %u:%" PRIx32 " format %u", packet->atom.num,
             packet->atom.num ? packet->atom.En_bits : 0,
             packet->type == ETM3_PKT_P_HDR ? packet->p_hdr_fmt : 0u);
    show_put(text, " cc %" PRIu32 " sync %u%u%u", packet->cycle_count,
             packet->isync_info.has_cycle_count, packet->isync_info.has_LSipAddress,
             packet->isync_info.no_address);
    if (packet->type == ETM3_PKT_I_SYNC || packet->type == ETM3_PKT_I_SYNC_CYCLE)
        show_put(text, " reason %d", (int)packet->isync_info.reason);
    if (packet->type == ETM3_PKT_TIMESTAMP)
        show_put(text, " ts %" PRIx64 " %u", packet->timestamp, packet->ts_update_bits);
    show_put(text, " data tag %u value %" PRIx32 " %u%u%u", packet->data.ooo_tag,
             packet->data.value, packet->data.update_be, packet->data.update_addr,
             packet->data.update_dval);
    if (packet->data.update_addr)
        put_address(text, "data address", &packet->data.addr);
    show_put(text, " exception %u", packet->exception.bits.present);
    if (packet->exception.bits.present)
        show_put(text, " %d number %u cancel %u m %u resume %u irq %u",
                 (int)packet->exception.type, packet->exception.number,
                 packet->exception.bits.cancel, packet->exception.bits.cm_type,
                 packet->exception.bits.cm_resume, packet->exception.bits.cm_irq_n);
}

static void put_stm(struct show *text, const ocsd_stm_pkt *packet)
{
    show_put(text, "type %d err %d master %u channel %u marker %u ts %u", (int)packet->type,
             (int)packet->err_type, packet->master, packet->channel, packet->pkt_has_marker,
             packet->pkt_has_ts);
    if (packet->pkt_has_ts)
        show_put(text, " %" PRIx64 " %u", packet->timestamp, packet->pkt_ts_bits);
    switch (packet->type) {
    case STM_PKT_D64:
        show_put(text, " %" PRIx64, packet->payload.D64);
        break;
    case STM_PKT_D32:
    case STM_PKT_FREQ:
        show_put(text, " %" PRIx32, packet->payload.D32);
        break;
    case STM_PKT_D16:
        show_put(text, " %x", packet->payload.D16);
        break;
    case STM_PKT_D8:
    case STM_PKT_D4:
    case STM_PKT_TRIG:
    case STM_PKT_VERSION:
    case STM_PKT_GERR:
    case STM_PKT_MERR:
        show_put(text, " %x", packet->payload.D8);
        break;
    default:
        break;
    }
}

void show_packet(char *out, size_t room, const struct library *library,
                 ocsd_trace_protocol_t protocol, const void *packet)
{
    struct show text = { out, room };
    char line[2048] = "";

    (void)library->ocsd_pkt_str(protocol, packet, line, sizeof line);
    show_put(&text, "'%s' ", line);
    switch (protocol) {
    case OCSD_PROTOCOL_ETMV4I:
    case OCSD_PROTOCOL_ETE:
        put_etmv4(&text, packet);
        break;
    case OCSD_PROTOCOL_PTM:
        put_ptm(&text, packet);
        break;
    case OCSD_PROTOCOL_ETMV3:
        put_etmv3(&text, packet);
        break;
    default:
        put_stm(&text, packet);
        break;
    }
}
