/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: the handle of a decode tree, and the functions that it calls. */
#ifndef ARM_OCSD_C_API_TYPES_H_INCLUDED
#define ARM_OCSD_C_API_TYPES_H_INCLUDED

#include "opencsd/ete/trc_pkt_types_ete.h"
#include "opencsd/etmv3/trc_pkt_types_etmv3.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"
#include "opencsd/ocsd_if_version.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"
#include "opencsd/stm/trc_pkt_types_stm.h"
#include "opencsd/trc_gen_elem_types.h"
#include "opencsd/trc_pkt_types.h"
#if OCSD_HAS_1_7
#include "opencsd/itm/trc_pkt_types_itm.h"
#endif

typedef void *dcd_tree_handle_t;

#define C_API_INVALID_TREE_HANDLE (dcd_tree_handle_t)0

/* Where messages go. */
#define C_API_MSGLOGOUT_FLG_NONE   0x0
#define C_API_MSGLOGOUT_FLG_FILE   0x1
#define C_API_MSGLOGOUT_FLG_STDERR 0x2
#define C_API_MSGLOGOUT_FLG_STDOUT 0x4
#define C_API_MSGLOGOUT_MASK       0x7

/* Gets elements. */
typedef ocsd_datapath_resp_t (*FnTraceElemIn)(const void *p_context,
                                              const ocsd_trc_index_t index_sop,
                                              const uint8_t trc_chan_id,
                                              const ocsd_generic_trace_elem *elem);

/* Gets packets, and answers. */
typedef ocsd_datapath_resp_t (*FnDefPktDataIn)(const void *p_context,
                                               const ocsd_datapath_op_t op,
                                               const ocsd_trc_index_t index_sop,
                                               const void *p_packet_in);

/* Sees packets and their bytes. */
typedef void (*FnDefPktDataMon)(const void *p_context, const ocsd_datapath_op_t op,
                                const ocsd_trc_index_t index_sop, const void *p_packet_in,
                                const uint32_t size, const uint8_t *p_data);

/* Gets the lines of the log and of the printers. */
typedef void (*FnDefLoggerPrintStrCB)(const void *p_context, const char *psz_msg_str,
                                      const int str_len);

typedef enum _ocsd_c_api_cb_types {
    OCSD_C_API_CB_PKT_SINK, /* FnDefPktDataIn */
    OCSD_C_API_CB_PKT_MON   /* FnDefPktDataMon */
} ocsd_c_api_cb_types;

#endif
