/* SPDX-License-Identifier: BSD-2-Clause */
/* The drop-in for OpenCSD: however trace is fed, in pieces and with waits, looked at by monitors or not,
   elements, packets and statistics are those of one block. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <opencsd/c_api/opencsd_c_api.h>

#include "kept.h"

/* What came of a way to feed it. */
struct run {
    uint64_t hash, count;
    uint32_t seed; /* 0: no waits, one block */
    ocsd_trace_protocol_t protocol;
    ocsd_decode_stats_t stats;
};

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static uint32_t next_random(struct run *run)
{
    run->seed = run->seed * 1664525u + 1013904223u;
    return run->seed >> 16;
}

static ocsd_datapath_resp_t answer(struct run *run)
{
    return run->seed && next_random(run) % 4 == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static void add(struct run *run, uint64_t value)
{
    run->hash = (run->hash ^ value) * 0x100000001b3u;
    run->hash ^= run->hash >> 29;
}

/* ---- Callbacks */

/* Where nothing is synchronized the index goes by what there is of the block. */
static bool has_index(const ocsd_generic_trace_elem *element)
{
    return element->elem_type != OCSD_GEN_TRC_ELEM_NO_SYNC &&
           element->elem_type != OCSD_GEN_TRC_ELEM_EO_TRACE;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct run *run = (struct run *)(uintptr_t)context;

    (void)id;
    add(run, (uint64_t)element->elem_type << 32 | (has_index(element) ? index : 0));
    add(run, element->st_addr);
    add(run, element->en_addr);
    add(run, (uint64_t)element->flag_bits << 32 | element->num_instr_range);
    add(run, element->timestamp ^ (uint64_t)element->cycle_count << 32);
    run->count++;
    return answer(run);
}

/* Whether it is of bytes without synchronization, which come in other pieces. */
static bool is_unsynced(const struct run *run, const void *packet)
{
    switch (run->protocol) {
    case OCSD_PROTOCOL_ETMV4I:
        return ((const ocsd_etmv4_i_pkt *)packet)->type == ETM4_PKT_I_NOTSYNC;
    case OCSD_PROTOCOL_PTM:
        return ((const ocsd_ptm_pkt *)packet)->type == PTM_PKT_NOTSYNC;
    case OCSD_PROTOCOL_ETMV3:
        return ((const ocsd_etmv3_pkt *)packet)->type == ETM3_PKT_NOTSYNC;
    default:
        return ((const ocsd_stm_pkt *)packet)->type == STM_PKT_NOTSYNC;
    }
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    struct run *run = (struct run *)(uintptr_t)context;
    char text[512];

    (void)index;
    if (op != OCSD_OP_DATA || is_unsynced(run, packet))
        return OCSD_RESP_CONT;
    require(ocsd_pkt_str(run->protocol, packet, text, sizeof text) == OCSD_OK);
    for (size_t i = 0; text[i]; i++)
        add(run, (uint8_t)text[i]);
    run->count++;
    return answer(run);
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    (void)context, (void)op, (void)index, (void)packet, (void)size, (void)bytes;
}

static uint32_t read_code(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id,
                          const uint32_t size, uint8_t *out)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003,
                                      0x17fffffd, 0xe320f000, 0x0afffff9,
                                      0xd65f03c0, 0xe12fff1e, 0xbf004770 };

    (void)context, (void)space, (void)id;
    if (address >> 14 & 1)
        return 0;
    for (uint32_t i = 0; i < size; i++) {
        const uint64_t place = address + i;

        out[i] =
            (uint8_t)(words[(place >> 2 ^ place >> 7) % (sizeof words / sizeof words[0])] >>
                      (8 * (place & 3)));
    }
    return size;
}

/* ---- A decoder, and what it is fed */

static const char *set_config(void *config, uint8_t kind, uint8_t option,
                              ocsd_trace_protocol_t *protocol)
{
    const ocsd_etmv4_cfg etmv4 = { .reg_idr0 = 0x28000ea1,
                                   .reg_idr1 = 0x4100f403,
                                   .reg_idr2 = 0x488,
                                   .reg_idr8 = option & 0xf,
                                   .reg_configr = option,
                                   .reg_traceidr = 0x10,
                                   .arch_ver = ARCH_V8,
                                   .core_prof = profile_CortexA };
    const ocsd_ptm_cfg ptm = { .reg_idr = 0x411cf312,
                               .reg_ctrl = (uint32_t)option << 8,
                               .reg_ccer = 0x34c01ac2,
                               .reg_trc_id = 0x10 };
    const ocsd_etmv3_cfg etmv3 = { .reg_idr = 0x410cf250,
                                   .reg_ctrl = (uint32_t)option << 8,
                                   .reg_ccer = 0x344008f2,
                                   .reg_trc_id = 0x10 };
    const ocsd_stm_cfg stm = { .reg_tcsr = 0x100000 };

    switch (kind & 3) {
    case 0:
        *protocol = OCSD_PROTOCOL_ETMV4I;
        memcpy(config, &etmv4, sizeof etmv4);
        return OCSD_BUILTIN_DCD_ETMV4I;
    case 1:
        *protocol = OCSD_PROTOCOL_PTM;
        memcpy(config, &ptm, sizeof ptm);
        return OCSD_BUILTIN_DCD_PTM;
    case 2:
        *protocol = OCSD_PROTOCOL_ETMV3;
        memcpy(config, &etmv3, sizeof etmv3);
        return OCSD_BUILTIN_DCD_ETMV3;
    default:
        *protocol = OCSD_PROTOCOL_STM;
        memcpy(config, &stm, sizeof stm);
        return OCSD_BUILTIN_DCD_STM;
    }
}

static void flush(dcd_tree_handle_t tree, ocsd_datapath_resp_t said)
{
    while (OCSD_DATA_RESP_IS_WAIT(said))
        said = ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL);
    require(said == OCSD_RESP_CONT);
}

static void feed(struct run *run, dcd_tree_handle_t tree, const uint8_t *data, uint32_t size)
{
    uint32_t done = 0, end = run->seed ? 0 : size;

    while (done < size) {
        uint32_t used = 0;
        ocsd_datapath_resp_t said;

        if (done >= end)
            end = done + 1 + next_random(run) % 70;
        end = end < size ? end : size;
        said = ocsd_dt_process_data(tree, OCSD_OP_DATA, done, end - done, data + done, &used);
        require(used <= end - done && (used == end - done || OCSD_DATA_RESP_IS_WAIT(said)));
        done += used;
        flush(tree, said);
    }
    flush(tree, ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, NULL));
}

static struct run run_once(const uint8_t *data, size_t size, uint32_t seed, bool is_full,
                           bool is_monitored)
{
    union {
        ocsd_etmv4_cfg etmv4;
        uint8_t bytes[128];
    } config;
    struct run run = { .seed = seed };
    const char *name = set_config(&config, data[0], data[1], &run.protocol);
    dcd_tree_handle_t tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    ocsd_decode_stats_t *stats = NULL;
    unsigned char id = 0;

    require(tree != NULL);
    require(ocsd_dt_create_decoder(tree, name,
                                   is_full ? OCSD_CREATE_FLG_FULL_DECODER
                                           : OCSD_CREATE_FLG_PACKET_PROC,
                                   &config, &id) == OCSD_OK);
    require(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY,
                                               read_code, NULL) == OCSD_OK);
    if (is_full)
        require(ocsd_dt_set_gen_elem_outfn(tree, on_element, &run) == OCSD_OK);
    else
        require(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK,
                                               (void *)(uintptr_t)on_packet, &run) == OCSD_OK);
    if (is_monitored)
        require(ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON,
                                               (void *)(uintptr_t)on_monitor, NULL) == OCSD_OK);
    feed(&run, tree, data + 4, (uint32_t)(size - 4));
    if (ocsd_dt_get_decode_stats(tree, id, &stats) == OCSD_OK)
        run.stats = *stats;
    ocsd_destroy_dcd_tree(tree);
    return run;
}

static void require_same(const struct run *a, const struct run *b)
{
    require(a->count == b->count && a->hash == b->hash);
    require(a->stats.channel_total == b->stats.channel_total);
    require(a->stats.bad_header_errs == b->stats.bad_header_errs);
    require(a->stats.bad_sequence_errs == b->stats.bad_sequence_errs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 5)
        return 0;
    for (unsigned part = 0; part < 4; part++) {
        const bool is_full = part & 1, is_watched = part & 2;
        const uint32_t seed = 1u + data[2] + ((uint32_t)data[3] << 8);
        struct run whole, other;

        if (!goes_through(part, 4, data[0] >> 2))
            continue;
        whole = run_once(data, size, 0, is_full, false);
        other = run_once(data, size, is_watched ? 0 : seed, is_full, is_watched);
        require_same(&whole, &other);
    }
    return 0;
}
