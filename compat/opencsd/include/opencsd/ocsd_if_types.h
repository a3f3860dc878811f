/* SPDX-License-Identifier: BSD-2-Clause */
/* The OpenCSD interface: error codes, the data path, cores, instructions, memory, decoders. */
#ifndef ARM_OCSD_IF_TYPES_H_INCLUDED
#define ARM_OCSD_IF_TYPES_H_INCLUDED

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "opencsd/ocsd_if_version.h"

/* Structs and unions without a name, which standards before C11, and C++, do not all have. */
#ifdef __GNUC__
#define OCSD_UNNAMED __extension__
#else
#define OCSD_UNNAMED
#endif

/* ---- Places in the trace, and whose it is */

#ifdef ENABLE_LARGE_TRACE_SOURCES
typedef uint64_t ocsd_trc_index_t;
#define OCSD_TRC_IDX_STR PRIu64
#else
typedef uint32_t ocsd_trc_index_t;
#define OCSD_TRC_IDX_STR PRIu32
#endif

#define OCSD_BAD_TRC_INDEX             ((ocsd_trc_index_t)-1)
#define OCSD_BAD_CS_SRC_ID             ((uint8_t)-1)
#define OCSD_IS_VALID_CS_SRC_ID(id)    (((id) > 0) && ((id) < 0x70))
#define OCSD_IS_RESERVED_CS_SRC_ID(id) (((id) == 0) || (((id) >= 0x70) && ((id) <= 0x7F)))

/* ---- Results of calls */

typedef enum _ocsd_err_t {
    OCSD_OK = 0,
    OCSD_ERR_FAIL,
    OCSD_ERR_MEM,
    OCSD_ERR_NOT_INIT,
    OCSD_ERR_INVALID_ID,
    OCSD_ERR_BAD_HANDLE,
    OCSD_ERR_INVALID_PARAM_VAL,
    OCSD_ERR_INVALID_PARAM_TYPE,
    OCSD_ERR_FILE_ERROR,
    OCSD_ERR_NO_PROTOCOL,
    OCSD_ERR_ATTACH_TOO_MANY,
    OCSD_ERR_ATTACH_INVALID_PARAM,
    OCSD_ERR_ATTACH_COMP_NOT_FOUND,
    OCSD_ERR_RDR_FILE_NOT_FOUND,
    OCSD_ERR_RDR_INVALID_INIT,
    OCSD_ERR_RDR_NO_DECODER,
    OCSD_ERR_DATA_DECODE_FATAL,
    OCSD_ERR_DFMTR_NOTCONTTRACE,
    OCSD_ERR_DFMTR_BAD_FHSYNC,
    OCSD_ERR_BAD_PACKET_SEQ,
    OCSD_ERR_INVALID_PCKT_HDR,
    OCSD_ERR_PKT_INTERP_FAIL,
    OCSD_ERR_UNSUPPORTED_ISA,
    OCSD_ERR_HW_CFG_UNSUPP,
    OCSD_ERR_UNSUPP_DECODE_PKT,
    OCSD_ERR_BAD_DECODE_PKT,
    OCSD_ERR_COMMIT_PKT_OVERRUN,
    OCSD_ERR_MEM_NACC,
    OCSD_ERR_RET_STACK_OVERFLOW,
    OCSD_ERR_DCDT_NO_FORMATTER,
    OCSD_ERR_MEM_ACC_OVERLAP,
    OCSD_ERR_MEM_ACC_FILE_NOT_FOUND,
    OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE,
    OCSD_ERR_MEM_ACC_RANGE_INVALID,
    OCSD_ERR_MEM_ACC_BAD_LEN,
    OCSD_ERR_TEST_SNAPSHOT_PARSE,
    OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO,
    OCSD_ERR_TEST_SNAPSHOT_READ,
    OCSD_ERR_TEST_SS_TO_DECODER,
    OCSD_ERR_DCDREG_NAME_REPEAT,
    OCSD_ERR_DCDREG_NAME_UNKNOWN,
    OCSD_ERR_DCDREG_TYPE_UNKNOWN,
    OCSD_ERR_DCDREG_TOOMANY,
    OCSD_ERR_DCD_INTERFACE_UNUSED,
#if OCSD_HAS_1_7
    OCSD_ERR_INVALID_OPCODE,
    OCSD_ERR_I_RANGE_LIMIT_OVERRUN,
    OCSD_ERR_BAD_DECODE_IMAGE,
#endif
    OCSD_ERR_LAST
} ocsd_err_t;

typedef unsigned int ocsd_hndl_rdr_t;
typedef unsigned int ocsd_hndl_err_log_t;

#define OCSD_INVALID_HANDLE (unsigned int)-1

typedef enum _ocsd_err_severity_t {
    OCSD_ERR_SEV_NONE,
    OCSD_ERR_SEV_ERROR,
    OCSD_ERR_SEV_WARN,
    OCSD_ERR_SEV_INFO
} ocsd_err_severity_t;

/* ---- The data path: what is asked, and what is answered */

typedef enum _ocsd_datapath_op_t {
    OCSD_OP_DATA = 0, /* bytes, with their index */
    OCSD_OP_EOT,      /* there are no more bytes */
    OCSD_OP_FLUSH,    /* go on after an answer of the group WAIT */
    OCSD_OP_RESET     /* forget what was */
} ocsd_datapath_op_t;

typedef enum _ocsd_datapath_resp_t {
    OCSD_RESP_CONT,
    OCSD_RESP_WARN_CONT,
    OCSD_RESP_ERR_CONT,
    OCSD_RESP_WAIT,
    OCSD_RESP_WARN_WAIT,
    OCSD_RESP_ERR_WAIT,
    OCSD_RESP_FATAL_NOT_INIT,
    OCSD_RESP_FATAL_INVALID_OP,
    OCSD_RESP_FATAL_INVALID_PARAM,
    OCSD_RESP_FATAL_INVALID_DATA,
    OCSD_RESP_FATAL_SYS_ERR
} ocsd_datapath_resp_t;

#define OCSD_DATA_RESP_IS_FATAL(x)       ((x) >= OCSD_RESP_FATAL_NOT_INIT)
#define OCSD_DATA_RESP_IS_WARN(x)        (((x) == OCSD_RESP_WARN_CONT) || ((x) == OCSD_RESP_WARN_WAIT))
#define OCSD_DATA_RESP_IS_ERR(x)         (((x) == OCSD_RESP_ERR_CONT) || ((x) == OCSD_RESP_ERR_WAIT))
#define OCSD_DATA_RESP_IS_WARN_OR_ERR(x) (OCSD_DATA_RESP_IS_ERR(x) || OCSD_DATA_RESP_IS_WARN(x))
#define OCSD_DATA_RESP_IS_CONT(x)        ((x) < OCSD_RESP_WAIT)
#define OCSD_DATA_RESP_IS_WAIT(x)        (((x) >= OCSD_RESP_WAIT) && ((x) < OCSD_RESP_FATAL_NOT_INIT))

/* ---- Frames */

typedef enum _rcdtl_rawframe_elem_t {
    OCSD_FRM_NONE,
    OCSD_FRM_PACKED,
    OCSD_FRM_HSYNC,
    OCSD_FRM_FSYNC,
    OCSD_FRM_ID_DATA
} ocsd_rawframe_elem_t;

typedef enum _ocsd_dcd_tree_src_t {
    OCSD_TRC_SRC_FRAME_FORMATTED, /* formatter frames */
    OCSD_TRC_SRC_SINGLE           /* the bytes of one source */
} ocsd_dcd_tree_src_t;

#define OCSD_DFRMTR_HAS_FSYNCS        0x01 /* TPIU: pieces are multiples of 4 bytes */
#define OCSD_DFRMTR_HAS_HSYNCS        0x02 /* ... of 2 bytes */
#define OCSD_DFRMTR_FRAME_MEM_ALIGN   0x04 /* buffers: pieces are multiples of 16 bytes */
#define OCSD_DFRMTR_PACKED_RAW_OUT    0x08 /* the raw frame printer shows frames */
#define OCSD_DFRMTR_UNPACKED_RAW_OUT  0x10 /* ... and the bytes of each ID */
#define OCSD_DFRMTR_RESET_ON_4X_FSYNC 0x20 /* a frame of four FSYNCs resets all decoders */
#define OCSD_DFRMTR_VALID_MASK        0x3F
#define OCSD_DFRMTR_FRAME_SIZE        0x10

#define OCSD_CMPNAME_PREFIX_SOURCE_READER    "SRDR"
#define OCSD_CMPNAME_PREFIX_FRAMEDEFORMATTER "DFMT"
#define OCSD_CMPNAME_PREFIX_PKTPROC          "PKTP"
#define OCSD_CMPNAME_PREFIX_PKTDEC           "PDEC"

/* ---- Cores */

typedef enum _ocsd_arch_version {
    ARCH_UNKNOWN = 0x0000,
    ARCH_CUSTOM = 0x0001,
    ARCH_V7 = 0x0700,
    ARCH_V8 = 0x0800,
    ARCH_V8r3 = 0x0803,
    ARCH_AA64 = 0x0864, /* newer AArch64 features, too */
    ARCH_V8_max = ARCH_AA64
} ocsd_arch_version_t;

#define OCSD_IS_V8_ARCH(arch)               (((arch) >= ARCH_V8) && ((arch) <= ARCH_V8_max))
#define OCSD_IS_ARCH_MINVER(arch, min_arch) ((arch) >= (min_arch))

typedef enum _ocsd_core_profile {
    profile_Unknown,
    profile_CortexM,
    profile_CortexR,
    profile_CortexA,
    profile_Custom
} ocsd_core_profile_t;

typedef struct _ocsd_arch_profile_t {
    ocsd_arch_version_t arch;
    ocsd_core_profile_t profile;
} ocsd_arch_profile_t;

#ifdef USE_32BIT_V_ADDR
typedef uint32_t ocsd_vaddr_t;
#define OCSD_MAX_VA_BITSIZE 32
#define OCSD_VA_MASK        ~0UL
#else
typedef uint64_t ocsd_vaddr_t;
#define OCSD_MAX_VA_BITSIZE 64
#define OCSD_VA_MASK        ~0ULL
#endif
#define OCSD_BIT_MASK(bits)                                                                    \
    ((bits) == OCSD_MAX_VA_BITSIZE ? OCSD_VA_MASK : ((ocsd_vaddr_t)1 << (bits)) - 1)

/* ---- Instructions */

typedef enum _ocsd_isa {
    ocsd_isa_arm,
    ocsd_isa_thumb2,
    ocsd_isa_aarch64,
    ocsd_isa_tee,
    ocsd_isa_jazelle,
    ocsd_isa_custom,
    ocsd_isa_unknown
} ocsd_isa;

typedef enum _ocsd_sec_level {
    ocsd_sec_secure,
    ocsd_sec_nonsecure,
    ocsd_sec_root,
    ocsd_sec_realm
} ocsd_sec_level;

typedef enum _ocsd_ex_level {
    ocsd_EL_unknown = -1,
    ocsd_EL0 = 0,
    ocsd_EL1,
    ocsd_EL2,
    ocsd_EL3
} ocsd_ex_level;

typedef enum _ocsd_instr_type {
    OCSD_INSTR_OTHER,
    OCSD_INSTR_BR,
    OCSD_INSTR_BR_INDIRECT,
    OCSD_INSTR_ISB,
    OCSD_INSTR_DSB_DMB,
    OCSD_INSTR_WFI_WFE,
    OCSD_INSTR_TSTART
} ocsd_instr_type;

typedef enum _ocsd_instr_subtype {
    OCSD_S_INSTR_NONE,
    OCSD_S_INSTR_BR_LINK,
    OCSD_S_INSTR_V8_RET,
    OCSD_S_INSTR_V8_ERET,
    OCSD_S_INSTR_V7_IMPLIED_RET
} ocsd_instr_subtype;

/* What a custom decoder asks of an instruction, and what it is told. */
typedef struct _ocsd_instr_info {
    /* asked */
    ocsd_arch_profile_t pe_type;
    ocsd_isa isa;
    ocsd_vaddr_t instr_addr;
    uint32_t opcode; /* 16 bits: in the upper half */
    uint8_t dsb_dmb_waypoints;
    uint8_t wfi_wfe_branch;
#if OCSD_HAS_1_7
    uint8_t track_it_block;
#endif
    /* told */
    ocsd_instr_type type;
    ocsd_vaddr_t branch_addr;
    ocsd_isa next_isa;
    uint8_t instr_size;
    uint8_t is_conditional;
    uint8_t is_link;
    uint8_t thumb_it_conditions;
    ocsd_instr_subtype sub_type;
} ocsd_instr_info;

typedef struct _ocsd_pe_context {
    ocsd_sec_level security_level;
    ocsd_ex_level exception_level;
    uint32_t context_id;
    uint32_t vmid;
    OCSD_UNNAMED struct {
        uint32_t bits64 : 1;
        uint32_t ctxt_id_valid : 1;
        uint32_t vmid_valid : 1;
        uint32_t el_valid : 1;
    };
} ocsd_pe_context;

/* ---- Program memory */

typedef enum _ocsd_mem_space_acc_t {
#if OCSD_HAS_1_7
    OCSD_MEM_SPACE_NONE = 0x00,
#endif
    OCSD_MEM_SPACE_EL1S = 0x01, /* secure EL0 and EL1 */
    OCSD_MEM_SPACE_EL1N = 0x02, /* non-secure EL0 and EL1 */
    OCSD_MEM_SPACE_EL2 = 0x04,
    OCSD_MEM_SPACE_EL3 = 0x08,
    OCSD_MEM_SPACE_EL2S = 0x10,
#if OCSD_HAS_1_7
    OCSD_MEM_SPACE_EL1R = 0x20,
    OCSD_MEM_SPACE_EL2R = 0x40,
    OCSD_MEM_SPACE_ROOT = 0x80,
#endif
    OCSD_MEM_SPACE_S = 0x19,
    OCSD_MEM_SPACE_N = 0x06,
#if OCSD_HAS_1_7
    OCSD_MEM_SPACE_R = 0x60,
    OCSD_MEM_SPACE_ANY = 0xFF
#else
    OCSD_MEM_SPACE_ANY = 0x1F
#endif
} ocsd_mem_space_acc_t;

/* Fill at most reqBytes bytes, return how many; 0: there is no memory. */
typedef uint32_t (*Fn_MemAcc_CB)(const void *p_context, const ocsd_vaddr_t address,
                                 const ocsd_mem_space_acc_t mem_space, const uint32_t reqBytes,
                                 uint8_t *byteBuffer);
typedef uint32_t (*Fn_MemAccID_CB)(const void *p_context, const ocsd_vaddr_t address,
                                   const ocsd_mem_space_acc_t mem_space, const uint8_t trcID,
                                   const uint32_t reqBytes, uint8_t *byteBuffer);

typedef struct _ocsd_file_mem_region {
    size_t file_offset;
    ocsd_vaddr_t start_address;
    size_t region_size;
} ocsd_file_mem_region_t;

/* ---- Flags of ocsd_dt_create_decoder */

#define OCSD_CREATE_FLG_PACKET_PROC  0x01 /* packets only */
#define OCSD_CREATE_FLG_FULL_DECODER 0x02 /* packets and elements */
#define OCSD_CREATE_FLG_INST_ID      0x04 /* names in messages have a number */

#define OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS     0x00000010
#define OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS     0x00000020
#define OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS       0x00000040
#define OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS 0x00000080
#define OCSD_OPFLG_PKTPROC_COMMON                                                              \
    (OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS | OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS |                   \
     OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS | OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS)
#define OCSD_OPFLG_COMP_MODE_MASK 0xFFFF0000

#define OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS 0x00000100
#define OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS  0x00000200
#if OCSD_HAS_1_7
#define OCSD_OPFLG_N_UNCOND_DIR_BR_CHK    0x00000400
#define OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK 0x00000800
#define OCSD_OPFLG_CHK_RANGE_CONTINUE     0x00001000
#define OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB  0x00002000
#define OCSD_OPFLG_PKTDEC_COMMON                                                               \
    (OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS | OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS |                      \
     OCSD_OPFLG_N_UNCOND_DIR_BR_CHK | OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK |                      \
     OCSD_OPFLG_CHK_RANGE_CONTINUE | OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB)
#else
#define OCSD_OPFLG_PKTDEC_COMMON                                                               \
    (OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS | OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS)
#endif

/* ---- Decoders by name and number */

#define OCSD_BUILTIN_DCD_STM    "STM"
#define OCSD_BUILTIN_DCD_ETMV3  "ETMV3"
#define OCSD_BUILTIN_DCD_ETMV4I "ETMV4I"
#define OCSD_BUILTIN_DCD_ETMV4D "ETMV4D"
#define OCSD_BUILTIN_DCD_PTM    "PTM"
#define OCSD_BUILTIN_DCD_ETE    "ETE"
#if OCSD_HAS_1_7
#define OCSD_BUILTIN_DCD_ITM "ITM"
#endif

typedef enum _ocsd_trace_protocol_t {
    OCSD_PROTOCOL_UNKNOWN = 0,
    OCSD_PROTOCOL_ETMV3,
    OCSD_PROTOCOL_ETMV4I,
    OCSD_PROTOCOL_ETMV4D,
    OCSD_PROTOCOL_PTM,
    OCSD_PROTOCOL_STM,
    OCSD_PROTOCOL_ETE,
#if OCSD_HAS_1_7
    OCSD_PROTOCOL_ITM,
#endif
    OCSD_PROTOCOL_BUILTIN_END,

    OCSD_PROTOCOL_CUSTOM_0 = 100, /* and those that follow: of registered decoders */
    OCSD_PROTOCOL_CUSTOM_1,
    OCSD_PROTOCOL_CUSTOM_2,
    OCSD_PROTOCOL_CUSTOM_3,
    OCSD_PROTOCOL_CUSTOM_4,
    OCSD_PROTOCOL_CUSTOM_5,
    OCSD_PROTOCOL_CUSTOM_6,
    OCSD_PROTOCOL_CUSTOM_7,
    OCSD_PROTOCOL_CUSTOM_8,
    OCSD_PROTOCOL_CUSTOM_9,
    OCSD_PROTOCOL_END
} ocsd_trace_protocol_t;

#define OCSD_PROTOCOL_IS_BUILTIN(P)                                                            \
    (((P) > OCSD_PROTOCOL_UNKNOWN) && ((P) < OCSD_PROTOCOL_BUILTIN_END))
#define OCSD_PROTOCOL_IS_CUSTOM(P)                                                             \
    (((P) >= OCSD_PROTOCOL_CUSTOM_0) && ((P) < OCSD_PROTOCOL_END))

/* ---- Software trace: who wrote, and what comes with it */

typedef struct _ocsd_swt_info {
    uint16_t swt_master_id;
    uint16_t swt_channel_id;
    OCSD_UNNAMED union {
        OCSD_UNNAMED struct {
            uint32_t swt_payload_pkt_bitsize : 8;
            uint32_t swt_payload_num_packets : 8;
            uint32_t swt_marker_packet : 1;
            uint32_t swt_has_timestamp : 1;
            uint32_t swt_marker_first : 1;
            uint32_t swt_master_err : 1;
            uint32_t swt_global_err : 1;
            uint32_t swt_trigger_event : 1;
            uint32_t swt_frequency : 1;
            uint32_t swt_id_valid : 1;
        };
        uint32_t swt_flag_bits;
    };
} ocsd_swt_info_t;

#define SWT_ID_VALID_MASK (0x1 << 23)

/* ---- Statistics */

typedef struct _ocsd_demux_stats {
    uint64_t valid_id_bytes;    /* of IDs that have a decoder */
    uint64_t no_id_bytes;       /* of IDs that have none */
    uint64_t reserved_id_bytes; /* of IDs that no source has */
    uint64_t unknown_id_bytes;  /* before the first ID */
    uint64_t frame_bytes;       /* IDs, auxiliary bytes and syncs */
} ocsd_demux_stats_t;

typedef struct _ocsd_decode_stats {
    uint32_t version;
    uint16_t revision;
    uint64_t channel_total;
    uint64_t channel_unsynced;
    uint32_t bad_header_errs;
    uint32_t bad_sequence_errs;
    ocsd_demux_stats_t demux; /* the same for each ID */
} ocsd_decode_stats_t;

#define OCSD_STATS_REVISION 0x1

#endif
