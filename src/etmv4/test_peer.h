/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenCSD on the trace unit's bytes, where Debian's libopencsd-dev is installed. */
#ifndef ETMV4_TEST_PEER_H
#define ETMV4_TEST_PEER_H

#include "etmv4/test_unit.h"

#ifdef TW_PEER_OPENCSD

#include <opencsd/c_api/opencsd_c_api.h>

/* The peer does not give back its callback objects; that is not our leak. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopencsd\n";
}

struct peer_list {
    ocsd_generic_trace_elem *items;
    size_t count, room;
    struct tw_image *image;
};

static inline ocsd_datapath_resp_t peer_take(const void *context, const ocsd_trc_index_t index,
                                             const uint8_t id,
                                             const ocsd_generic_trace_elem *element)
{
    struct peer_list *list = (struct peer_list *)(uintptr_t)context;

    (void)index;
    (void)id;
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 1024;
        list->items = realloc(list->items, list->room * sizeof *list->items);
        if (!list->items)
            abort();
    }
    list->items[list->count++] = *element;
    return OCSD_RESP_CONT;
}

static inline uint32_t peer_memory(const void *context, const ocsd_vaddr_t address,
                                   const ocsd_mem_space_acc_t space, const uint32_t size,
                                   uint8_t *out)
{
    const struct peer_list *list = context;
    const struct tw_view view = { .space = TW_SPACE_ANY };

    (void)space;
    return (uint32_t)tw_image_read(list->image, out, &view, address, size);
}

static inline uint32_t peer_value(const struct tw_register *registers, size_t count,
                                  const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(registers[i].name, name) == 0)
            return (uint32_t)registers[i].value;
    return 0;
}

static inline dcd_tree_handle_t peer_tree(const struct tw_etmv4_unit *unit, bool is_ete,
                                          struct peer_list *list)
{
    struct tw_register registers[REGISTERS_MOST];
    const size_t count = unit_registers(unit, registers);
    ocsd_etmv4_cfg etmv4 = { 0 };
    ocsd_ete_cfg ete = { 0 };
    dcd_tree_handle_t tree;
    unsigned char id;

    etmv4.reg_idr0 = ete.reg_idr0 = peer_value(registers, count, "TRCIDR0");
    etmv4.reg_idr1 = ete.reg_idr1 = peer_value(registers, count, "TRCIDR1");
    etmv4.reg_idr2 = ete.reg_idr2 = peer_value(registers, count, "TRCIDR2");
    etmv4.reg_idr8 = ete.reg_idr8 = peer_value(registers, count, "TRCIDR8");
    etmv4.reg_configr = ete.reg_configr = peer_value(registers, count, "TRCCONFIGR");
    etmv4.reg_traceidr = ete.reg_traceidr = peer_value(registers, count, "TRCTRACEIDR");
    ete.reg_devarch = peer_value(registers, count, "TRCDEVARCH");
    etmv4.arch_ver = ARCH_V8r3; /* knows returns with pointer authentication */
    ete.arch_ver = ARCH_AA64;
    etmv4.core_prof = ete.core_prof = profile_CortexA;
    (void)ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 0);
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, OCSD_DFRMTR_FRAME_MEM_ALIGN);
    CHECK_EQ(ocsd_dt_create_decoder(tree,
                                    is_ete ? OCSD_BUILTIN_DCD_ETE : OCSD_BUILTIN_DCD_ETMV4I,
                                    OCSD_CREATE_FLG_FULL_DECODER,
                                    is_ete ? (const void *)&ete : (const void *)&etmv4, &id),
             OCSD_OK);
    CHECK_EQ(ocsd_dt_set_gen_elem_outfn(tree, peer_take, list), OCSD_OK);
    CHECK_EQ(ocsd_dt_add_callback_mem_acc(tree, 0, UINT64_MAX, OCSD_MEM_SPACE_ANY, peer_memory,
                                          list),
             OCSD_OK);
    return tree;
}

/* As decoder_moment.  A cycle count that is not known it shows as 0. */
static inline void peer_moment(struct moments *moments, const ocsd_generic_trace_elem *element)
{
    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        moments->things += element->num_instr_range;
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        moments->things++;
        break;
    case OCSD_GEN_TRC_ELEM_EVENT:
        for (uint8_t i = 0; i < 4; i++)
            if (element->trace_event.ev_number >> i & 1)
                moments_add(moments, TW_ETMV4_UNIT_EVENT, i, 0);
        break;
    case OCSD_GEN_TRC_ELEM_TIMESTAMP:
        moments_add(moments, TW_ETMV4_UNIT_TIMESTAMP, element->timestamp,
                    element->has_cc ? element->cycle_count : 0);
        break;
    case OCSD_GEN_TRC_ELEM_CYCLE_COUNT:
        moments_add(moments, TW_ETMV4_UNIT_CYCLE_COUNT, element->cycle_count, 0);
        break;
    case OCSD_GEN_TRC_ELEM_SYNC_MARKER:
        moments_add(moments, TW_ETMV4_UNIT_TIMESTAMP_MARKER, 0, 0);
        break;
    case OCSD_GEN_TRC_ELEM_MEMTRANS:
        if (element->mem_trans != OCSD_MEM_TRANS_TRACE_INIT)
            moments_add(moments,
                        (uint8_t)(element->mem_trans == OCSD_MEM_TRANS_START
                                      ? TW_ETMV4_UNIT_TRANSACTION_START
                                  : element->mem_trans == OCSD_MEM_TRANS_COMMIT
                                      ? TW_ETMV4_UNIT_TRANSACTION_COMMIT
                                      : TW_ETMV4_UNIT_TRANSACTION_FAILURE),
                        0, 0);
        break;
    default:
        break;
    }
}

static inline void see_peer_element(struct checked_against *seen,
                                    const ocsd_generic_trace_elem *element)
{
    peer_moment(&seen->moments, element);
    switch (element->elem_type) {
    case OCSD_GEN_TRC_ELEM_INSTR_RANGE:
        see_range(seen, element->st_addr, element->en_addr, element->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH:
        see_no_path(seen, element->st_addr, element->num_instr_range);
        break;
    case OCSD_GEN_TRC_ELEM_EXCEPTION:
        see_exception(seen, element->exception_number, element->excep_ret_addr,
                      element->en_addr);
        break;
    case OCSD_GEN_TRC_ELEM_PE_CONTEXT:
        seen->has_context = true;
        seen->context = (struct tw_step_context){
            .el = (uint8_t)element->context.exception_level,
            .security =
                element->context.security_level == ocsd_sec_secure ? TW_SECURE : TW_NONSECURE,
            .is_64bit = element->context.bits64,
            .context_id = element->context.ctxt_id_valid ? element->context.context_id : 0,
            .vmid = element->context.vmid_valid ? element->context.vmid : 0,
        };
        break;
    case OCSD_GEN_TRC_ELEM_ADDR_NACC:
        CHECK(element->elem_type != OCSD_GEN_TRC_ELEM_ADDR_NACC);
        break;
    default:
        break;
    }
}

/* What it has found so far goes to the oracle. */
static inline void peer_see(struct peer_list *list, struct checked_against *seen)
{
    for (size_t i = 0; i < list->count; i++)
        see_peer_element(seen, &list->items[i]);
    list->count = 0;
}

/* Decodes the bytes; elements are held against the oracle in between, so that they need not all be
   kept.  With `kept` they are, and not looked at. */
static inline void peer_decode(const struct tw_etmv4_unit *unit, bool is_ete,
                               struct tw_image *image, struct checked_against *seen,
                               struct peer_list *kept, const uint8_t *bytes, size_t size)
{
    enum { PIECE_BYTES = 1 << 16 };
    struct peer_list list = { .image = image };
    const dcd_tree_handle_t tree = peer_tree(unit, is_ete, &list);
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    uint32_t used = 0;
    size_t done = 0;

    while (done < size) {
        const size_t left = size - done;

        answer = ocsd_dt_process_data(tree, OCSD_OP_DATA, (ocsd_trc_index_t)done,
                                      (uint32_t)(left < PIECE_BYTES ? left : PIECE_BYTES),
                                      bytes + done, &used);
        done += used;
        if (!kept)
            peer_see(&list, seen);
        if (OCSD_DATA_RESP_IS_FATAL(answer) || !used)
            break;
    }
    if (!OCSD_DATA_RESP_IS_FATAL(answer))
        (void)ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, NULL, &used);
    ocsd_destroy_dcd_tree(tree);
    CHECK(!OCSD_DATA_RESP_IS_FATAL(answer));
    if (kept) {
        *kept = list;
        return;
    }
    peer_see(&list, seen);
    free(list.items);
}

static inline void peer_check(const struct tw_etmv4_unit *unit, bool is_ete,
                              struct tw_image *image, struct checked_against *seen,
                              const uint8_t *bytes, size_t size)
{
    seen->who = "OpenCSD";
    peer_decode(unit, is_ete, image, seen, NULL, bytes, size);
    CHECK(oracle_next(seen->oracle) == NULL);
}

/* The same for a part of a trace: its end, if not its beginning, of the `total` things. */
static inline uint64_t peer_check_part(const struct tw_etmv4_unit *unit, bool is_ete,
                                       struct tw_image *image, struct checked_against *seen,
                                       bool is_end, uint64_t total, const uint8_t *bytes,
                                       size_t size)
{
    struct peer_list list;
    uint64_t things = 0;

    seen->who = "OpenCSD";
    peer_decode(unit, is_ete, image, seen, &list, bytes, size);
    for (size_t i = 0; i < list.count; i++) {
        const ocsd_generic_trace_elem *element = &list.items[i];

        if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ||
            element->elem_type == OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH)
            things += element->num_instr_range;
        things += element->elem_type == OCSD_GEN_TRC_ELEM_EXCEPTION;
    }
    CHECK(things <= total);
    if (is_end)
        oracle_skip(seen->oracle, total - things);
    peer_see(&list, seen);
    free(list.items);
    return things;
}

enum { HAS_PEER = 1 };

#else

static inline void peer_check(const struct tw_etmv4_unit *unit, bool is_ete,
                              struct tw_image *image, struct checked_against *seen,
                              const uint8_t *bytes, size_t size)
{
    (void)unit;
    (void)is_ete;
    (void)image;
    (void)seen;
    (void)bytes;
    (void)size;
}

static inline uint64_t peer_check_part(const struct tw_etmv4_unit *unit, bool is_ete,
                                       struct tw_image *image, struct checked_against *seen,
                                       bool is_end, uint64_t total, const uint8_t *bytes,
                                       size_t size)
{
    (void)is_end;
    peer_check(unit, is_ete, image, seen, bytes, size);
    return total;
}

enum { HAS_PEER = 0 };

#endif

#endif
