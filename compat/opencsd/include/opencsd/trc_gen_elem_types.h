/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: generic trace elements. */
#ifndef ARM_TRC_GEN_ELEM_TYPES_H_INCLUDED
#define ARM_TRC_GEN_ELEM_TYPES_H_INCLUDED

#include "opencsd/ocsd_if_types.h"

typedef enum _ocsd_gen_trc_elem_t {
    OCSD_GEN_TRC_ELEM_UNKNOWN = 0,
    OCSD_GEN_TRC_ELEM_NO_SYNC,
    OCSD_GEN_TRC_ELEM_TRACE_ON,
    OCSD_GEN_TRC_ELEM_EO_TRACE,
    OCSD_GEN_TRC_ELEM_PE_CONTEXT,
    OCSD_GEN_TRC_ELEM_INSTR_RANGE,
    OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH,
    OCSD_GEN_TRC_ELEM_ADDR_NACC,
    OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN,
    OCSD_GEN_TRC_ELEM_EXCEPTION,
    OCSD_GEN_TRC_ELEM_EXCEPTION_RET,
    OCSD_GEN_TRC_ELEM_TIMESTAMP,
    OCSD_GEN_TRC_ELEM_CYCLE_COUNT,
    OCSD_GEN_TRC_ELEM_EVENT,
    OCSD_GEN_TRC_ELEM_SWTRACE,
    OCSD_GEN_TRC_ELEM_SYNC_MARKER,
    OCSD_GEN_TRC_ELEM_MEMTRANS,
#if OCSD_HAS_1_7
    OCSD_GEN_TRC_ELEM_INSTRUMENTATION,
    OCSD_GEN_TRC_ELEM_ITMTRACE,
#endif
    OCSD_GEN_TRC_ELEM_CUSTOM
} ocsd_gen_trc_elem_t;

typedef enum _trace_on_reason_t {
    TRACE_ON_NORMAL = 0,
    TRACE_ON_OVERFLOW,
    TRACE_ON_EX_DEBUG
} trace_on_reason_t;

typedef struct _trace_event_t {
    uint16_t ev_type; /* event_t */
    uint16_t ev_number;
} trace_event_t;

typedef enum _unsync_info_t {
    UNSYNC_UNKNOWN,
    UNSYNC_INIT_DECODER,
    UNSYNC_RESET_DECODER,
    UNSYNC_OVERFLOW,
    UNSYNC_DISCARD,
    UNSYNC_BAD_PACKET,
#if OCSD_HAS_1_7
    UNSYNC_BAD_IMAGE,
#endif
    UNSYNC_EOT
} unsync_info_t;

typedef enum _trace_sync_marker_t { ELEM_MARKER_TS } trace_sync_marker_t;

typedef struct _trace_marker_payload_t {
    trace_sync_marker_t type;
    uint32_t value;
} trace_marker_payload_t;

typedef enum _memtrans_t {
    OCSD_MEM_TRANS_TRACE_INIT,
    OCSD_MEM_TRANS_START,
    OCSD_MEM_TRANS_COMMIT,
    OCSD_MEM_TRANS_FAIL
} trace_memtrans_t;

#if OCSD_HAS_1_7
typedef struct _sw_ite_t {
    uint8_t el;
    uint64_t value;
} trace_sw_ite_t;

typedef enum _swt_itm_type {
    SWIT_PAYLOAD,
    DWT_PAYLOAD,
    TS_SYNC,
    TS_DELAY,
    TS_PKT_DELAY,
    TS_PKT_TS_DELAY,
    TS_GLOBAL
} swt_itm_type;

typedef struct _swt_itm_info {
    swt_itm_type pkt_type;
    uint8_t payload_src_id; /* stimulus port, or DWT discriminator */
    uint8_t payload_size;   /* in bytes */
    uint32_t value;
    uint8_t overflow; /* before this one */
} swt_itm_info;
#endif

typedef struct _ocsd_generic_trace_elem {
    ocsd_gen_trc_elem_t elem_type; /* says which of the others hold something */
    ocsd_isa isa;
    ocsd_vaddr_t st_addr;
    ocsd_vaddr_t en_addr; /* behind the last instruction */
    ocsd_pe_context context;
    uint64_t timestamp;
    uint32_t cycle_count;
    ocsd_instr_type last_i_type;
    ocsd_instr_subtype last_i_subtype;

    OCSD_UNNAMED union {
        OCSD_UNNAMED struct {
            uint32_t last_instr_exec : 1;
            uint32_t last_instr_sz : 3;
            uint32_t has_cc : 1;
            uint32_t cpu_freq_change : 1;
            uint32_t excep_ret_addr : 1;
            uint32_t excep_data_marker : 1;
            uint32_t extended_data : 1;
            uint32_t has_ts : 1;
            uint32_t last_instr_cond : 1;
            uint32_t excep_ret_addr_br_tgt : 1;
#if OCSD_HAS_1_7
            uint32_t excep_M_tail_chain : 1;
#endif
        };
        uint32_t flag_bits;
    };

    OCSD_UNNAMED union {
        uint32_t exception_number;
        trace_event_t trace_event;
        trace_on_reason_t trace_on_reason;
        ocsd_swt_info_t sw_trace_info;
        uint32_t num_instr_range;
        unsync_info_t unsync_eot_info;
        trace_marker_payload_t sync_marker;
        trace_memtrans_t mem_trans;
#if OCSD_HAS_1_7
        trace_sw_ite_t sw_ite;
        swt_itm_info swt_itm;
#endif
    };

    const void *ptr_extended_data; /* software trace: the payload */
} ocsd_generic_trace_elem;

typedef enum _event_t { EVENT_UNKNOWN = 0, EVENT_TRIGGER, EVENT_NUMBERED } event_t;

#endif
