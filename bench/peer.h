/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenCSD on a capture, through its C interface, in its best configuration: images by the buffer
   accessor, one call for the whole buffer, a callback that only counts. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <trackway/trackway.h>

#include "harness.h"

struct peer_counts {
    uint64_t elements, ranges, instructions, packets;
};

#ifdef TW_PEER_OPENCSD

#include <opencsd/c_api/opencsd_c_api.h>

struct peer {
    dcd_tree_handle_t tree;
    struct peer_counts counts;
};

static inline uint32_t peer_register(const struct tw_source *source, const char *name)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (strcmp(source->registers[i].name, name) == 0)
            return (uint32_t)source->registers[i].value;
    return 0;
}

static inline ocsd_datapath_resp_t peer_element(const void *context,
                                                const ocsd_trc_index_t index, const uint8_t id,
                                                const ocsd_generic_trace_elem *element)
{
    struct peer_counts *counts = (struct peer_counts *)(uintptr_t)context;

    (void)index;
    (void)id;
    counts->elements++;
    if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
        counts->ranges++;
        counts->instructions += element->num_instr_range;
    }
    return OCSD_RESP_CONT;
}

static inline ocsd_datapath_resp_t peer_packet(const void *context, const ocsd_datapath_op_t op,
                                               const ocsd_trc_index_t index, const void *packet)
{
    struct peer_counts *counts = (struct peer_counts *)(uintptr_t)context;

    (void)index;
    (void)packet;
    counts->packets += op == OCSD_OP_DATA;
    return OCSD_RESP_CONT;
}

static inline uint32_t peer_no_memory(const void *context, const ocsd_vaddr_t address,
                                      const ocsd_mem_space_acc_t space, const uint32_t size,
                                      uint8_t *out)
{
    (void)context;
    (void)address;
    (void)space;
    (void)size;
    (void)out;
    return 0;
}

static inline void peer_map_images(struct peer *peer, const struct tw_capture *capture)
{
    /* Something must be mapped, or it refuses to run. */
    (void)ocsd_dt_add_callback_mem_acc(peer->tree, 1, 2, OCSD_MEM_SPACE_ANY, peer_no_memory,
                                       NULL);
    for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
        const struct tw_device *device = tw_capture_device(capture, i);

        for (size_t j = 0; j < device->dump_count; j++) {
            const struct tw_dump *dump = &device->dumps[j];
            const bool is_narrow = dump->spaces && dump->spaces != TW_SPACE_ANY;

            if (dump->length)
                (void)ocsd_dt_add_buffer_mem_acc(peer->tree, dump->address,
                                                 is_narrow ? (ocsd_mem_space_acc_t)dump->spaces
                                                           : OCSD_MEM_SPACE_ANY,
                                                 dump->bytes, (uint32_t)dump->length);
        }
    }
}

static inline void peer_core(const struct tw_source *source, ocsd_arch_version_t *arch,
                             ocsd_core_profile_t *profile)
{
    const char *core = source->core_type ? source->core_type : "";

    *profile = strncmp(core, "Cortex-M", 8) == 0   ? profile_CortexM
               : strncmp(core, "Cortex-R", 8) == 0 ? profile_CortexR
                                                   : profile_CortexA;
    *arch = strcmp(core, "ARM-AA64") == 0 ? ARCH_AA64
            : strcmp(core, "Cortex-A15") == 0 || strcmp(core, "Cortex-A7") == 0 ||
                    strcmp(core, "Cortex-A9") == 0
                ? ARCH_V7
                : ARCH_V8;
}

static inline void peer_add_source(struct peer *peer, const struct tw_source *source, int flags)
{
    ocsd_etmv4_cfg etmv4 = { 0 };
    ocsd_ete_cfg ete = { 0 };
    ocsd_etmv3_cfg etmv3 = { 0 };
    ocsd_ptm_cfg ptm = { 0 };
    ocsd_stm_cfg stm = { 0 };
    ocsd_arch_version_t arch;
    ocsd_core_profile_t profile;
    const char *name = NULL;
    const void *config = NULL;
    unsigned char id = 0;

    peer_core(source, &arch, &profile);
    if (strcmp(source->protocol, "etmv4") == 0) {
        etmv4.reg_idr0 = peer_register(source, "TRCIDR0");
        etmv4.reg_idr1 = peer_register(source, "TRCIDR1");
        etmv4.reg_idr2 = peer_register(source, "TRCIDR2");
        etmv4.reg_idr8 = peer_register(source, "TRCIDR8");
        etmv4.reg_configr = peer_register(source, "TRCCONFIGR");
        etmv4.reg_traceidr = peer_register(source, "TRCTRACEIDR");
        etmv4.arch_ver = arch;
        etmv4.core_prof = profile;
        name = OCSD_BUILTIN_DCD_ETMV4I;
        config = &etmv4;
    } else if (strcmp(source->protocol, "ete") == 0) {
        ete.reg_idr0 = peer_register(source, "TRCIDR0");
        ete.reg_idr1 = peer_register(source, "TRCIDR1");
        ete.reg_idr2 = peer_register(source, "TRCIDR2");
        ete.reg_idr8 = peer_register(source, "TRCIDR8");
        ete.reg_devarch = peer_register(source, "TRCDEVARCH");
        ete.reg_configr = peer_register(source, "TRCCONFIGR");
        ete.reg_traceidr = peer_register(source, "TRCTRACEIDR");
        ete.arch_ver = arch;
        ete.core_prof = profile;
        name = OCSD_BUILTIN_DCD_ETE;
        config = &ete;
    } else if (strcmp(source->protocol, "etmv3") == 0) {
        etmv3.reg_idr = peer_register(source, "ETMIDR");
        etmv3.reg_ctrl = peer_register(source, "ETMCR");
        etmv3.reg_ccer = peer_register(source, "ETMCCER");
        etmv3.reg_trc_id = peer_register(source, "ETMTRACEIDR");
        etmv3.arch_ver = arch;
        etmv3.core_prof = profile;
        name = OCSD_BUILTIN_DCD_ETMV3;
        config = &etmv3;
    } else if (strcmp(source->protocol, "ptm") == 0) {
        ptm.reg_idr = peer_register(source, "ETMIDR");
        ptm.reg_ctrl = peer_register(source, "ETMCR");
        ptm.reg_ccer = peer_register(source, "ETMCCER");
        ptm.reg_trc_id = peer_register(source, "ETMTRACEIDR");
        ptm.arch_ver = arch;
        ptm.core_prof = profile;
        name = OCSD_BUILTIN_DCD_PTM;
        config = &ptm;
    } else if (strcmp(source->protocol, "stm") == 0) {
        stm.reg_tcsr = peer_register(source, "STMTCSR");
        stm.hw_event = HwEvent_Unknown_Disabled;
        name = OCSD_BUILTIN_DCD_STM;
        config = &stm;
    }
    if (!name)
        return;
    if (ocsd_dt_create_decoder(peer->tree, name, flags, config, &id) != OCSD_OK)
        bench_stop("the peer does not take a source");
    if (flags & OCSD_CREATE_FLG_PACKET_PROC)
        (void)ocsd_dt_attach_packet_callback(peer->tree, id, OCSD_C_API_CB_PKT_SINK,
                                             (void *)(uintptr_t)peer_packet, &peer->counts);
}

/* A decode tree for one buffer of the capture. */
static inline struct peer *peer_new(const struct tw_capture *capture, uint32_t buffer,
                                    bool packets_only)
{
    struct peer *peer = calloc(1, sizeof *peer);
    const bool is_framed = tw_capture_buffer(capture, buffer)->framing != TW_FRAMING_NONE;
    const int flags = packets_only ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;

    if (!peer)
        bench_stop("no memory");
    (void)ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    peer->tree =
        ocsd_create_dcd_tree(is_framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                             OCSD_DFRMTR_FRAME_MEM_ALIGN);
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (source->protocol && tw_capture_source_is_in(capture, i, 0, buffer))
            peer_add_source(peer, source, flags);
    }
    if (!packets_only) {
        (void)ocsd_dt_set_gen_elem_outfn(peer->tree, peer_element, &peer->counts);
        peer_map_images(peer, capture);
    }
    return peer;
}

static inline void peer_pass(struct peer *peer, const uint8_t *data, size_t size)
{
    uint32_t used = 0, done = 0;

    memset(&peer->counts, 0, sizeof peer->counts);
    (void)ocsd_dt_process_data(peer->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
    while (done < size) {
        const ocsd_datapath_resp_t answer = ocsd_dt_process_data(
            peer->tree, OCSD_OP_DATA, done, (uint32_t)size - done, data + done, &used);

        done += used;
        if (OCSD_DATA_RESP_IS_FATAL(answer) || !used)
            break;
    }
    (void)ocsd_dt_process_data(peer->tree, OCSD_OP_EOT, 0, 0, NULL, &used);
}

static inline void peer_free(struct peer *peer)
{
    if (peer)
        ocsd_destroy_dcd_tree(peer->tree);
    free(peer);
}

static inline const char *peer_name(void)
{
    return ocsd_get_version_str();
}

#else

struct peer {
    struct peer_counts counts;
};

static inline struct peer *peer_new(const struct tw_capture *capture, uint32_t buffer,
                                    bool packets_only)
{
    (void)capture;
    (void)buffer;
    (void)packets_only;
    return NULL;
}

static inline void peer_pass(struct peer *peer, const uint8_t *data, size_t size)
{
    (void)peer;
    (void)data;
    (void)size;
}

static inline void peer_free(struct peer *peer)
{
    (void)peer;
}

static inline const char *peer_name(void)
{
    return "none";
}

#endif

#endif
