/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: decoders that the client brings. */
#ifndef ARM_OCSD_C_API_CUSTOM_H_INCLUDED
#define ARM_OCSD_C_API_CUSTOM_H_INCLUDED

#include "opencsd/c_api/ocsd_c_api_types.h"

/* ---- What the library calls */

typedef ocsd_datapath_resp_t (*fnTraceDataIn)(
    const void *decoder_handle, const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
    const uint32_t dataBlockSize, const uint8_t *pDataBlock, uint32_t *numBytesProcessed);

/* Tells which of the packet callbacks have someone at the other end. */
typedef void (*fnUpdatePktMonFlags)(const void *decoder_handle, const int flags);

#define OCSD_CUST_DCD_PKT_CB_USE_MON  0x1
#define OCSD_CUST_DCD_PKT_CB_USE_SINK 0x2

/* One decoder, filled in by createDecoder. */
typedef struct _ocsd_extern_dcd_inst {
    fnTraceDataIn fn_data_in;
    fnUpdatePktMonFlags fn_update_pkt_mon;
    void *decoder_handle;
    char *p_decoder_name;
    uint8_t cs_id;
} ocsd_extern_dcd_inst_t;

/* ---- What the decoder calls */

typedef ocsd_datapath_resp_t (*fnGenElemOpCB)(const void *lib_context,
                                              const ocsd_trc_index_t index_sop,
                                              const uint8_t trc_chan_id,
                                              const ocsd_generic_trace_elem *elem);

typedef void (*fnLogErrorCB)(const void *lib_context, const ocsd_err_severity_t filter_level,
                             const ocsd_err_t code, const ocsd_trc_index_t idx,
                             const uint8_t chan_id, const char *pMsg);

typedef void (*fnLogMsgCB)(const void *lib_context, const ocsd_err_severity_t filter_level,
                           const char *msg);

typedef ocsd_err_t (*fnDecodeArmInstCB)(const void *lib_context, ocsd_instr_info *instr_info);

typedef ocsd_err_t (*fnMemAccessCB)(const void *lib_context, const ocsd_vaddr_t address,
                                    const uint8_t cs_trace_id,
                                    const ocsd_mem_space_acc_t mem_space, uint32_t *num_bytes,
                                    uint8_t *p_buffer);

typedef void (*fnPktMonCB)(const void *lib_context, const ocsd_datapath_op_t op,
                           const ocsd_trc_index_t index_sop, const void *pkt,
                           const uint32_t size, const uint8_t *p_data);

typedef ocsd_datapath_resp_t (*fnPktDataSinkCB)(const void *lib_context,
                                                const ocsd_datapath_op_t op,
                                                const ocsd_trc_index_t index_sop,
                                                const void *pkt);

typedef struct _ocsd_extern_dcd_cb_fns {
    fnGenElemOpCB fn_gen_elem_out;
    fnLogErrorCB fn_log_error;
    fnLogMsgCB fn_log_msg;
    fnDecodeArmInstCB fn_arm_instruction_decode;
    fnMemAccessCB fn_memory_access;
    fnPktMonCB fn_packet_mon;
    fnPktDataSinkCB fn_packet_data_sink;
    int packetCBFlags;
    const void *lib_context; /* first argument of all of them */
} ocsd_extern_dcd_cb_fns;

/* ---- A kind of decoder */

typedef ocsd_err_t (*fnCreateCustomDecoder)(const int create_flags, const void *decoder_cfg,
                                            const ocsd_extern_dcd_cb_fns *p_lib_callbacks,
                                            ocsd_extern_dcd_inst_t *p_decoder_inst);
typedef ocsd_err_t (*fnDestroyCustomDecoder)(const void *decoder_handle);
typedef ocsd_err_t (*fnGetCSIDFromConfig)(const void *decoder_cfg, unsigned char *p_csid);
typedef ocsd_err_t (*fnPacketToString)(const void *trc_pkt, char *buffer, const int buflen);

typedef struct _ocsd_extern_dcd_fact {
    fnCreateCustomDecoder createDecoder;
    fnDestroyCustomDecoder destroyDecoder;
    fnGetCSIDFromConfig csidFromConfig;
    fnPacketToString pktToString;
    ocsd_trace_protocol_t protocol_id; /* set when it is registered */
} ocsd_extern_dcd_fact_t;

#endif
