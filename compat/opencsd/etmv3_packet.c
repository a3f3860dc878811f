/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3 packets as OpenCSD has them. */
#include "opencsd/etmv3_packet.h"

#include <string.h>

#include <trackway/etmv3.h>

static const uint8_t types[TW_ETMV3_TYPES] = {
    [TW_ETMV3_NOT_SYNC] = ETM3_PKT_NOTSYNC,
    [TW_ETMV3_INCOMPLETE_EOT] = ETM3_PKT_INCOMPLETE_EOT,
    [TW_ETMV3_BAD_SEQUENCE] = ETM3_PKT_BAD_SEQUENCE,
    [TW_ETMV3_BAD_TRACEMODE] = ETM3_PKT_BAD_TRACEMODE,
    [TW_ETMV3_RESERVED] = ETM3_PKT_RESERVED,
    [TW_ETMV3_A_SYNC] = ETM3_PKT_A_SYNC,
    [TW_ETMV3_I_SYNC] = ETM3_PKT_I_SYNC,
    [TW_ETMV3_I_SYNC_CYCLE] = ETM3_PKT_I_SYNC_CYCLE,
    [TW_ETMV3_BRANCH_ADDRESS] = ETM3_PKT_BRANCH_ADDRESS,
    [TW_ETMV3_P_HDR] = ETM3_PKT_P_HDR,
    [TW_ETMV3_CYCLE_COUNT] = ETM3_PKT_CYCLE_COUNT,
    [TW_ETMV3_TRIGGER] = ETM3_PKT_TRIGGER,
    [TW_ETMV3_OOO_DATA] = ETM3_PKT_OOO_DATA,
    [TW_ETMV3_STORE_FAIL] = ETM3_PKT_STORE_FAIL,
    [TW_ETMV3_OOO_ADDR_PLC] = ETM3_PKT_OOO_ADDR_PLC,
    [TW_ETMV3_NORM_DATA] = ETM3_PKT_NORM_DATA,
    [TW_ETMV3_DATA_SUPPRESSED] = ETM3_PKT_DATA_SUPPRESSED,
    [TW_ETMV3_VAL_NOT_TRACED] = ETM3_PKT_VAL_NOT_TRACED,
    [TW_ETMV3_IGNORE] = ETM3_PKT_IGNORE,
    [TW_ETMV3_CONTEXT_ID] = ETM3_PKT_CONTEXT_ID,
    [TW_ETMV3_VMID] = ETM3_PKT_VMID,
    [TW_ETMV3_EXCEPTION_ENTRY] = ETM3_PKT_EXCEPTION_ENTRY,
    [TW_ETMV3_EXCEPTION_EXIT] = ETM3_PKT_EXCEPTION_EXIT,
    [TW_ETMV3_TIMESTAMP] = ETM3_PKT_TIMESTAMP,
};

void oc_etmv3_init(void *any, const struct oc_setup *setup)
{
    struct oc_etmv3_state *state = any;

    memset(state, 0, sizeof *state);
    state->is_m_profile = setup->is_m_profile;
    state->has_hyp = setup->has_hyp;
    oc_etmv3_reset(state);
}

void oc_etmv3_reset(void *any)
{
    struct oc_etmv3_state *state = any;

    memset(&state->packet, 0, sizeof state->packet);
    state->packet.type = ETM3_PKT_NOTSYNC;
    state->packet.curr_isa = state->packet.prev_isa = ocsd_isa_unknown;
}

/* What holds for one packet only. */
static void begin(ocsd_etmv3_pkt *out)
{
    out->addr.pkt_bits = 0;
    out->prev_isa = out->curr_isa;
    out->exception.bits.present = 0;
    out->atom.num = 0;
    out->cycle_count = 0;
    out->context.updated = out->context.updated_c = out->context.updated_v = 0;
    out->data.ooo_tag = 0;
    out->data.value = 0;
    out->data.update_addr = out->data.update_be = out->data.update_dval = 0;
    out->ts_update_bits = 0;
    out->isync_info.has_cycle_count = 0;
    out->isync_info.has_LSipAddress = 0;
    out->isync_info.no_address = 0;
}

static void set_address(ocsd_etmv3_pkt *out, uint32_t address, unsigned bits)
{
    out->addr.val = address;
    out->addr.pkt_bits = (uint8_t)bits;
    if (out->addr.valid_bits < bits)
        out->addr.valid_bits = (uint8_t)bits;
}

static void set_exception(struct oc_etmv3_state *state, const struct tw_etmv3_packet *packet)
{
    static const uint8_t kinds[16] = {
        Excp_NoException,   Excp_DebugHalt, Excp_SMC,      Excp_Hyp,
        Excp_AsyncDAbort,   Excp_Jazelle,   Excp_Reserved, Excp_Reserved,
        Excp_Reset,         Excp_Undef,     Excp_SVC,      Excp_PrefAbort,
        Excp_SyncDataAbort, Excp_Generic,   Excp_IRQ,      Excp_FIQ
    };
    static const uint8_t m_kinds[24] = { Excp_NoException,    Excp_CMIRQn,      Excp_CMIRQn,
                                         Excp_CMIRQn,         Excp_CMIRQn,      Excp_CMIRQn,
                                         Excp_CMIRQn,         Excp_CMIRQn,      Excp_CMIRQn,
                                         Excp_CMUsageFault,   Excp_CMNMI,       Excp_SVC,
                                         Excp_CMDebugMonitor, Excp_CMMemManage, Excp_CMPendSV,
                                         Excp_CMSysTick,      Excp_Reserved,    Excp_Reset,
                                         Excp_Reserved,       Excp_CMHardFault, Excp_Reserved,
                                         Excp_CMBusFault,     Excp_Reserved,    Excp_Reserved };
    const unsigned number = packet->exception;
    ocsd_etmv3_excep *exception = &state->packet.exception;

    exception->bits.present = 1;
    exception->bits.cancel = packet->cancels;
    exception->bits.cm_type = state->is_m_profile;
    exception->bits.cm_resume = packet->has_resume ? packet->resume & 0xfu : 0;
    exception->bits.cm_irq_n = 0;
    exception->number = (uint16_t)number;
    if (!state->is_m_profile) {
        exception->type = (ocsd_armv7_exception)kinds[number & 15];
        return;
    }
    exception->type = (ocsd_armv7_exception)(number < 24 ? m_kinds[number] : Excp_CMIRQn);
    if (exception->type == Excp_CMIRQn)
        exception->bits.cm_irq_n = (number > 0x18 ? number - 0x10
                                    : number == 8 ? 0
                                                  : number) &
                                   0x1ffu;
}

static void set_branch(struct oc_etmv3_state *state, const struct tw_etmv3_packet *packet)
{
    ocsd_etmv3_pkt *out = &state->packet;

    set_address(out, packet->address, packet->address_bits);
    out->curr_isa = (ocsd_isa)packet->isa;
    if (packet->has_state) {
        out->context.curr_NS = packet->ns;
        out->context.curr_alt_isa = packet->alt_isa;
        out->context.updated = 1;
    }
    if (packet->has_second)
        out->context.curr_Hyp = packet->hyp;
    if (packet->has_info || packet->is_deprecated)
        set_exception(state, packet);
}

static void set_isync(struct oc_etmv3_state *state, const struct tw_etmv3_packet *packet)
{
    ocsd_etmv3_pkt *out = &state->packet;

    if (packet->base.type == TW_ETMV3_I_SYNC_CYCLE) {
        out->cycle_count = packet->cycles;
        out->isync_info.has_cycle_count = 1;
    }
    if (packet->has_context_id) {
        out->context.ctxtID = packet->context_id;
        out->context.updated_c = 1;
    }
    out->isync_info.reason = (ocsd_iSync_reason)packet->reason;
    out->context.curr_NS = packet->ns;
    if (state->has_hyp)
        out->context.curr_Hyp = packet->hyp;
    out->context.updated = 1;
    if (!packet->has_address) {
        out->isync_info.no_address = 1;
        return;
    }
    set_address(out, packet->address, 32);
    out->curr_isa = (ocsd_isa)packet->isa;
    if (packet->is_in_progress) {
        set_address(out, packet->next_address, packet->address_bits);
        out->data.update_addr = 1;
    }
}

static void set_data(ocsd_etmv3_pkt *out, const struct tw_etmv3_packet *packet)
{
    out->data.ooo_tag = packet->tag & 3u;
    if (packet->has_data_address) {
        set_address(out, packet->data_address, packet->data_bits);
        out->data.update_addr = 1;
        if (packet->data_size == 5) {
            out->data.be = packet->is_big_endian;
            out->data.update_be = 1;
        }
    }
    if (packet->has_value) {
        out->data.value = packet->data_value;
        out->data.update_dval = 1;
    }
}

static void set_details(struct oc_etmv3_state *state, const struct tw_etmv3_packet *packet)
{
    ocsd_etmv3_pkt *out = &state->packet;

    switch (packet->base.type) {
    case TW_ETMV3_BRANCH_ADDRESS:
        set_branch(state, packet);
        break;
    case TW_ETMV3_I_SYNC:
    case TW_ETMV3_I_SYNC_CYCLE:
        set_isync(state, packet);
        break;
    case TW_ETMV3_P_HDR:
        out->atom.En_bits = packet->atoms;
        out->atom.num = packet->atom_count;
        out->p_hdr_fmt = packet->format;
        out->cycle_count = packet->header_cycles;
        break;
    case TW_ETMV3_CYCLE_COUNT:
        out->cycle_count = packet->count;
        break;
    case TW_ETMV3_CONTEXT_ID:
        out->context.ctxtID = packet->value;
        out->context.updated_c = 1;
        break;
    case TW_ETMV3_VMID:
        out->context.VMID = (uint8_t)packet->value;
        out->context.updated_v = 1;
        break;
    case TW_ETMV3_TIMESTAMP:
        out->timestamp = packet->timestamp;
        out->ts_update_bits = packet->timestamp_bits;
        break;
    case TW_ETMV3_NORM_DATA:
    case TW_ETMV3_OOO_DATA:
    case TW_ETMV3_OOO_ADDR_PLC:
    case TW_ETMV3_VAL_NOT_TRACED:
        set_data(out, packet);
        break;
    default:
        break;
    }
}

/* A packet that the end of the trace cuts comes as what it began as. */
static ocsd_etmv3_pkt_type type_of_header(uint8_t header)
{
    if (header & 1)
        return ETM3_PKT_BRANCH_ADDRESS;
    switch (header) {
    case 0x00:
        return ETM3_PKT_A_SYNC;
    case 0x04:
        return ETM3_PKT_CYCLE_COUNT;
    case 0x08:
        return ETM3_PKT_I_SYNC;
    case 0x70:
        return ETM3_PKT_I_SYNC_CYCLE;
    case 0x3c:
        return ETM3_PKT_VMID;
    case 0x6e:
        return ETM3_PKT_CONTEXT_ID;
    case 0x42:
    case 0x46:
        return ETM3_PKT_TIMESTAMP;
    case 0x6a:
    case 0x7a:
        return ETM3_PKT_VAL_NOT_TRACED;
    default:
        return (header & 0xd3) == 0x50   ? ETM3_PKT_OOO_ADDR_PLC
               : (header & 0xd3) == 0x02 ? ETM3_PKT_NORM_DATA
                                         : ETM3_PKT_OOO_DATA;
    }
}

void oc_etmv3_fill(void *any, const void *from, const uint8_t *bytes)
{
    struct oc_etmv3_state *state = any;
    const struct tw_etmv3_packet *packet = from;
    const ocsd_etmv3_pkt_type last = state->packet.type;

    begin(&state->packet);
    state->packet.type = (ocsd_etmv3_pkt_type)types[packet->base.type];
    if (packet->base.type == TW_ETMV3_INCOMPLETE_EOT) {
        state->packet.type = type_of_header(bytes[0]);
        return;
    }
    if (packet->base.type == TW_ETMV3_BAD_SEQUENCE)
        state->packet.err_type = ETM3_PKT_A_SYNC; /* nothing else can be broken */
    else if (tw_etmv3_type_is_bad(packet->base.type))
        state->packet.err_type = last; /* whatever the packet before was: so it is */
    else
        set_details(state, packet);
}
