/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenCSD as Debian packages it (libopencsd-dev), or nothing where that is not installed. */
#include "peer.h"

#ifdef TW_PEER_OPENCSD

#include <strings.h>

#include <opencsd/c_api/opencsd_c_api.h>

struct peer {
    dcd_tree_handle_t tree;
    const struct subject *subject;
    struct bench_counts counts;
    size_t source_count;
};

/* A decoder's name and configuration. */
struct setup {
    const char *name;
    const void *config;
    ocsd_etmv4_cfg etmv4;
    ocsd_ete_cfg ete;
    ocsd_etmv3_cfg etmv3;
    ocsd_ptm_cfg ptm;
    ocsd_stm_cfg stm;
};

const char *peer_version(void)
{
    return ocsd_get_version_str();
}

static ocsd_datapath_resp_t take_element(const void *context, const ocsd_trc_index_t index,
                                         const uint8_t id,
                                         const ocsd_generic_trace_elem *element)
{
    struct bench_counts *counts = (struct bench_counts *)(uintptr_t)context;

    (void)index;
    (void)id;
    counts->elements++;
    if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
        counts->ranges++;
        counts->instructions += element->num_instr_range;
    }
    return OCSD_RESP_CONT;
}

static ocsd_datapath_resp_t take_packet(const void *context, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const void *packet)
{
    struct bench_counts *counts = (struct bench_counts *)(uintptr_t)context;

    (void)index;
    (void)packet;
    counts->packets += op == OCSD_OP_DATA;
    return OCSD_RESP_CONT;
}

static uint32_t no_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint32_t size, uint8_t *out)
{
    (void)context;
    (void)address;
    (void)space;
    (void)size;
    (void)out;
    return 0;
}

static void map_code(struct peer *peer)
{
    /* Something must be mapped, or it refuses to run. */
    (void)ocsd_dt_add_callback_mem_acc(peer->tree, 1, 2, OCSD_MEM_SPACE_ANY, no_memory, NULL);
    for (size_t i = 0; i < peer->subject->dump_count; i++) {
        const struct subject_dump *dump = &peer->subject->dumps[i];
        const bool is_narrow = dump->spaces && dump->spaces != TW_SPACE_ANY;

        (void)ocsd_dt_add_buffer_mem_acc(peer->tree, dump->address,
                                         is_narrow ? (ocsd_mem_space_acc_t)dump->spaces
                                                   : OCSD_MEM_SPACE_ANY,
                                         dump->bytes, (uint32_t)dump->length);
    }
}

static uint32_t get(const struct tw_tree_source *source, const char *name)
{
    for (size_t i = 0; i < source->register_count; i++)
        if (strcasecmp(source->registers[i].name, name) == 0)
            return (uint32_t)source->registers[i].value;
    return 0;
}

static ocsd_arch_version_t arch_of(const char *core)
{
    static const char *const v7[] = { "Cortex-A15", "Cortex-A7", "Cortex-A9" };

    for (size_t i = 0; i < sizeof v7 / sizeof v7[0]; i++)
        if (strcmp(core, v7[i]) == 0)
            return ARCH_V7;
    return strcmp(core, "ARM-AA64") == 0 ? ARCH_AA64 : ARCH_V8;
}

static ocsd_core_profile_t profile_of(const char *core)
{
    return strncmp(core, "Cortex-M", 8) == 0   ? profile_CortexM
           : strncmp(core, "Cortex-R", 8) == 0 ? profile_CortexR
                                               : profile_CortexA;
}

static void set_up_v4(struct setup *setup, const struct tw_tree_source *from, const char *core)
{
    setup->name = OCSD_BUILTIN_DCD_ETMV4I;
    setup->config = &setup->etmv4;
    setup->etmv4.reg_idr0 = get(from, "TRCIDR0");
    setup->etmv4.reg_idr1 = get(from, "TRCIDR1");
    setup->etmv4.reg_idr2 = get(from, "TRCIDR2");
    setup->etmv4.reg_idr8 = get(from, "TRCIDR8");
    setup->etmv4.reg_configr = get(from, "TRCCONFIGR");
    setup->etmv4.reg_traceidr = get(from, "TRCTRACEIDR");
    setup->etmv4.arch_ver = arch_of(core);
    setup->etmv4.core_prof = profile_of(core);
}

static void set_up_ete(struct setup *setup, const struct tw_tree_source *from, const char *core)
{
    setup->name = OCSD_BUILTIN_DCD_ETE;
    setup->config = &setup->ete;
    setup->ete.reg_idr0 = get(from, "TRCIDR0");
    setup->ete.reg_idr1 = get(from, "TRCIDR1");
    setup->ete.reg_idr2 = get(from, "TRCIDR2");
    setup->ete.reg_idr8 = get(from, "TRCIDR8");
    setup->ete.reg_devarch = get(from, "TRCDEVARCH");
    setup->ete.reg_configr = get(from, "TRCCONFIGR");
    setup->ete.reg_traceidr = get(from, "TRCTRACEIDR");
    setup->ete.arch_ver = arch_of(core);
    setup->ete.core_prof = profile_of(core);
}

static void set_up_v7(struct setup *setup, const struct tw_tree_source *from, const char *core)
{
    setup->etmv3.reg_idr = setup->ptm.reg_idr = get(from, "ETMIDR");
    setup->etmv3.reg_ctrl = setup->ptm.reg_ctrl = get(from, "ETMCR");
    setup->etmv3.reg_ccer = setup->ptm.reg_ccer = get(from, "ETMCCER");
    setup->etmv3.reg_trc_id = setup->ptm.reg_trc_id = get(from, "ETMTRACEIDR");
    setup->etmv3.arch_ver = setup->ptm.arch_ver = arch_of(core);
    setup->etmv3.core_prof = setup->ptm.core_prof = profile_of(core);
    if (strcmp(from->protocol, "ptm") == 0) {
        setup->name = OCSD_BUILTIN_DCD_PTM;
        setup->config = &setup->ptm;
    } else {
        setup->name = OCSD_BUILTIN_DCD_ETMV3;
        setup->config = &setup->etmv3;
    }
}

static void add_source(struct peer *peer, const struct tw_tree_source *source, bool is_full)
{
    const char *core = source->core_type ? source->core_type : "";
    struct setup setup = { 0 };
    unsigned char id = 0;

    if (strcmp(source->protocol, "etmv4") == 0) {
        set_up_v4(&setup, source, core);
    } else if (strcmp(source->protocol, "ete") == 0) {
        set_up_ete(&setup, source, core);
    } else if (strcmp(source->protocol, "ptm") == 0 || strcmp(source->protocol, "etmv3") == 0) {
        set_up_v7(&setup, source, core);
    } else if (strcmp(source->protocol, "stm") == 0) {
        setup.name = OCSD_BUILTIN_DCD_STM;
        setup.config = &setup.stm;
        setup.stm.reg_tcsr = get(source, "STMTCSR");
        setup.stm.hw_event = HwEvent_Unknown_Disabled;
    } else {
        return;
    }
    if (ocsd_dt_create_decoder(peer->tree, setup.name,
                               is_full ? OCSD_CREATE_FLG_FULL_DECODER
                                       : OCSD_CREATE_FLG_PACKET_PROC,
                               setup.config, &id) != OCSD_OK)
        bench_stop("the peer does not take a source of %s", peer->subject->name);
    /* Where it refuses (1.3.3: ETE) packets are read and thrown away, which costs it less. */
    if (!is_full)
        (void)ocsd_dt_attach_packet_callback(peer->tree, id, OCSD_C_API_CB_PKT_SINK,
                                             (void *)(uintptr_t)take_packet, &peer->counts);
    peer->source_count++;
}

/* Unpacking frames has no decoder attached: its cheapest case. */
struct peer *peer_new(const struct subject *subject, enum bench_stage stage)
{
    const bool is_full = stage == BENCH_WARM || stage == BENCH_NEW;
    const bool is_unframing = stage == BENCH_UNFRAME_ONE || stage == BENCH_UNFRAME_ALL;
    struct peer *peer = bench_allocate(sizeof *peer);

    peer->subject = subject;
    (void)ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    peer->tree =
        ocsd_create_dcd_tree(subject->framing == TW_FRAMING_NONE ? OCSD_TRC_SRC_SINGLE
                                                                 : OCSD_TRC_SRC_FRAME_FORMATTED,
                             OCSD_DFRMTR_FRAME_MEM_ALIGN);
    if (is_unframing)
        return peer;
    for (size_t i = 0; i < subject->source_count; i++)
        add_source(peer, &subject->sources[i], is_full);
    if (!peer->source_count) {
        peer_free(peer);
        return NULL;
    }
    if (is_full) {
        (void)ocsd_dt_set_gen_elem_outfn(peer->tree, take_element, &peer->counts);
        map_code(peer);
    }
    return peer;
}

void peer_free(struct peer *peer)
{
    if (peer)
        ocsd_destroy_dcd_tree(peer->tree);
    free(peer);
}

void peer_pass(struct peer *peer, struct bench_counts *counts)
{
    const struct subject *subject = peer->subject;
    uint32_t used = 0;
    size_t done = 0;

    peer->counts = (struct bench_counts){ 0 };
    (void)ocsd_dt_process_data(peer->tree, OCSD_OP_RESET, 0, 0, NULL, &used);
    while (done < subject->size) {
        const ocsd_datapath_resp_t answer =
            ocsd_dt_process_data(peer->tree, OCSD_OP_DATA, (ocsd_trc_index_t)done,
                                 (uint32_t)(subject->size - done), subject->data + done, &used);

        done += used;
        if (OCSD_DATA_RESP_IS_FATAL(answer) || !used)
            break;
    }
    (void)ocsd_dt_process_data(peer->tree, OCSD_OP_EOT, 0, 0, NULL, &used);
    *counts = peer->counts;
    counts->bytes = done;
}

#else

const char *peer_version(void)
{
    return NULL;
}

struct peer *peer_new(const struct subject *subject, enum bench_stage stage)
{
    (void)subject;
    (void)stage;
    return NULL;
}

void peer_free(struct peer *peer)
{
    (void)peer;
}

void peer_pass(struct peer *peer, struct bench_counts *counts)
{
    (void)peer;
    (void)counts;
}

#endif
