/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: STM packets and configuration. */
#ifndef ARM_TRC_PKT_TYPES_STM_H_INCLUDED
#define ARM_TRC_PKT_TYPES_STM_H_INCLUDED

#include "opencsd/trc_pkt_types.h"

typedef enum _ocsd_stm_pkt_type {
    STM_PKT_NOTSYNC,
    STM_PKT_INCOMPLETE_EOT,
    STM_PKT_NO_ERR_TYPE,

    STM_PKT_ASYNC,
    STM_PKT_VERSION,
    STM_PKT_FREQ,
    STM_PKT_NULL,
    STM_PKT_TRIG,

    STM_PKT_GERR,
    STM_PKT_MERR,

    STM_PKT_M8,
    STM_PKT_C8,
    STM_PKT_C16,

    STM_PKT_FLAG,

    STM_PKT_D4,
    STM_PKT_D8,
    STM_PKT_D16,
    STM_PKT_D32,
    STM_PKT_D64,

    STM_PKT_BAD_SEQUENCE,
    STM_PKT_RESERVED
} ocsd_stm_pkt_type;

typedef enum _ocsd_stm_ts_type {
    STM_TS_UNKNOWN,
    STM_TS_NATBINARY,
    STM_TS_GREY
} ocsd_stm_ts_type;

typedef struct _ocsd_stm_pkt {
    ocsd_stm_pkt_type type;

    uint8_t master; /* these three: in force after the packet */
    uint16_t channel;
    uint64_t timestamp;

    uint8_t pkt_ts_bits; /* that the packet brought */
    uint8_t pkt_has_ts;
    ocsd_stm_ts_type ts_type;

    uint8_t pkt_has_marker;

    union {
        uint8_t D8;
        uint16_t D16;
        uint32_t D32;
        uint64_t D64;
    } payload;

    ocsd_stm_pkt_type err_type; /* of a bad packet: what its header announced */
} ocsd_stm_pkt;

typedef enum _hw_event_feat {
    HwEvent_Unknown_Disabled,
    HwEvent_Enabled,
    HwEvent_UseRegisters
} hw_event_feat_t;

typedef struct _ocsd_stm_cfg {
    uint32_t reg_tcsr;
    uint32_t reg_feat3r;
    uint32_t reg_devid;
    uint32_t reg_feat1r;
    uint32_t reg_hwev_mast;
    hw_event_feat_t hw_event;
} ocsd_stm_cfg;

#endif
