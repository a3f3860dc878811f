/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface (1.7.1): ITM packets and configuration. */
#ifndef ARM_TRC_PKT_TYPES_ITM_H_INCLUDED
#define ARM_TRC_PKT_TYPES_ITM_H_INCLUDED

#include <stdint.h>

typedef enum _ocsd_itm_pkt_type {
    ITM_PKT_NOTSYNC,
    ITM_PKT_INCOMPLETE_EOT,
    ITM_PKT_NO_ERR_TYPE,

    ITM_PKT_ASYNC,
    ITM_PKT_OVERFLOW,
    ITM_PKT_SWIT,
    ITM_PKT_DWT,
    ITM_PKT_TS_LOCAL,
    ITM_PKT_TS_GLOBAL_1,
    ITM_PKT_TS_GLOBAL_2,
    ITM_PKT_EXTENSION,

    ITM_PKT_BAD_SEQUENCE,
    ITM_PKT_RESERVED
} ocsd_itm_pkt_type;

typedef struct _ocsd_itm_pkt {
    ocsd_itm_pkt_type type;
    /* SWIT: port; DWT: discriminator; local timestamp: relation; global timestamp 1: wrap in bit 1,
       frequency change in bit 0; extension: hardware in bit 7, number of the top bit below */
    uint8_t src_id;
    uint32_t value;
    uint8_t val_sz;             /* in bytes */
    uint8_t val_ext;            /* the top bits of a long global timestamp 2 */
    ocsd_itm_pkt_type err_type; /* of a bad packet: what its header announced */
} ocsd_itm_pkt;

typedef struct _ocsd_itm_cfg {
    uint32_t reg_tcr;
} ocsd_itm_cfg;

typedef enum _ocsd_itm_dwt_ecntr {
    ITM_DWT_ECNTR_CPI = 0x01,
    ITM_DWT_ECNTR_EXC = 0x02,
    ITM_DWT_ECNTR_SLP = 0x04,
    ITM_DWT_ECNTR_LSU = 0x08,
    ITM_DWT_ECNTR_FLD = 0x10,
    ITM_DWT_ECNTR_CYC = 0x20
} ocsd_itm_dwt_ecntr;

#endif
