/* SPDX-License-Identifier: BSD-2-Clause */
/* The drop-in for OpenCSD: any calls in any order, with handles that are none, callbacks that answer
   anything and trace of any bytes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <opencsd/c_api/opencsd_c_api.h>

enum { TREES = 3, PIECE_MOST = 96 };

/* The input, read from the front; after its end all is 0. */
static const uint8_t *input;
static size_t left;

static dcd_tree_handle_t trees[TREES];
static ocsd_trc_index_t at[TREES]; /* where the next piece lies */
static uint8_t answers;            /* what callbacks say: sometimes this */
static unsigned calls;

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static uint8_t take(void)
{
    if (!left)
        return 0;
    left--;
    return *input++;
}

/* ---- Callbacks */

static ocsd_datapath_resp_t answer(void)
{
    const uint8_t said = answers & 0xf;

    return ++calls % (1u + (answers >> 4)) ? OCSD_RESP_CONT
                                           : (ocsd_datapath_resp_t)(said < 10 ? said : 0);
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    char text[256];

    (void)context;
    (void)index;
    require(id < 128 && element->elem_type <= OCSD_GEN_TRC_ELEM_CUSTOM + 2);
    require(ocsd_gen_elem_str(element, text, sizeof text) == OCSD_OK && text[0]);
    return answer();
}

static ocsd_datapath_resp_t on_packet(const void *context, const ocsd_datapath_op_t op,
                                      const ocsd_trc_index_t index, const void *packet)
{
    char text[256];

    (void)context;
    (void)index;
    require((op == OCSD_OP_DATA) == (packet != NULL));
    if (packet) /* of whatever protocol it is not: nothing but a struct of its size is read */
        (void)ocsd_pkt_str(OCSD_PROTOCOL_STM, packet, text, sizeof text);
    return answer();
}

static void on_monitor(const void *context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                       const uint8_t *bytes)
{
    static volatile uint8_t sum;

    (void)context;
    (void)index;
    require((op == OCSD_OP_DATA) == (packet != NULL) && (size == 0) == (bytes == NULL));
    for (uint32_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + bytes[i]);
}

static void on_text(const void *context, const char *text, const int length)
{
    (void)context;
    require(length >= 0 && strlen(text) == (size_t)length);
}

static uint32_t read_code(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id,
                          const uint32_t size, uint8_t *out)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003,
                                      0x17fffffd, 0xe320f000, 0x0afffff9,
                                      0xd65f03c0, 0xe12fff1e, 0xbf004770 };
    uint32_t count = size;

    (void)context;
    (void)space;
    (void)id;
    if (address >> 14 & 1)
        return 0;
    if (address >> 13 & 1)
        count = size / 2 + (size & 1);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t place = address + i;

        out[i] =
            (uint8_t)(words[(place >> 2 ^ place >> 7) % (sizeof words / sizeof words[0])] >>
                      (8 * (place & 3)));
    }
    return address >> 12 & 1 ? count + 1 : count; /* more than was wanted */
}

static uint32_t read_plain(const void *context, const ocsd_vaddr_t address,
                           const ocsd_mem_space_acc_t space, const uint32_t size, uint8_t *out)
{
    return read_code(context, address & 0xfff, space, 0, size, out);
}

/* ---- A decoder of one's own */

static ocsd_datapath_resp_t custom_data(const void *handle, const ocsd_datapath_op_t op,
                                        const ocsd_trc_index_t index, const uint32_t size,
                                        const uint8_t *data, uint32_t *used)
{
    (void)handle;
    (void)op;
    (void)index;
    (void)data;
    if (used)
        *used = answers & 1 ? size + 7 : size;
    return answer();
}

static void custom_update(const void *handle, const int flags)
{
    (void)handle;
    (void)flags;
}

static ocsd_err_t custom_create(const int flags, const void *config,
                                const ocsd_extern_dcd_cb_fns *library,
                                ocsd_extern_dcd_inst_t *instance)
{
    static char name[] = "FUZZ";
    static uint8_t something;

    (void)flags;
    (void)library;
    *instance = (ocsd_extern_dcd_inst_t){ custom_data, custom_update, &something, name,
                                          *(const uint8_t *)config };
    return OCSD_OK;
}

static ocsd_err_t custom_destroy(const void *handle)
{
    require(handle != NULL);
    return OCSD_OK;
}

static ocsd_err_t custom_id(const void *config, unsigned char *id)
{
    *id = *(const uint8_t *)config;
    return OCSD_OK;
}

/* ---- Calls */

static dcd_tree_handle_t some_tree(unsigned *number)
{
    static uint8_t no_tree;
    const uint8_t which = take();

    *number = which % TREES;
    return which < 240 ? trees[*number] : which < 250 ? NULL : (dcd_tree_handle_t)&no_tree;
}

static void make_tree(void)
{
    const unsigned number = take() % TREES;
    const uint8_t kind = take();

    ocsd_destroy_dcd_tree(trees[number]);
    trees[number] = ocsd_create_dcd_tree((ocsd_dcd_tree_src_t)(kind & 1), kind >> 1);
    at[number] = 0;
}

static void make_decoder(dcd_tree_handle_t tree)
{
    static const char *const names[] = { "ETMV4I", "ETE",  "PTM", "ETMV3",
                                         "STM",    "FUZZ", "ITM", "?" };
    const uint8_t kind = take(), id = take() & 0x7f;
    const int flags = kind >> 3 & 3 ? kind >> 3 : 2;
    union {
        ocsd_etmv4_cfg etmv4;
        ocsd_ete_cfg ete;
        ocsd_ptm_cfg ptm;
        ocsd_etmv3_cfg etmv3;
        ocsd_stm_cfg stm;
        uint8_t bytes[256];
    } config;
    unsigned char made = 0;

    memset(&config, 0, sizeof config);
    switch (kind & 7) {
    case 0:
        config.etmv4 = (ocsd_etmv4_cfg){ 0x28000ea1,
                                         0x4100f403,
                                         0x488,
                                         take(),
                                         .reg_traceidr = id,
                                         .reg_configr = take(),
                                         .arch_ver = ARCH_V8 };
        break;
    case 1:
        config.ete = (ocsd_ete_cfg){ .reg_idr0 = 0x28000ea1,
                                     .reg_idr1 = 0x4100fff3,
                                     .reg_idr2 = 0x488,
                                     .reg_idr8 = take(),
                                     .reg_devarch = 0x47705a13,
                                     .reg_configr = take(),
                                     .reg_traceidr = id };
        break;
    case 2:
        config.ptm = (ocsd_ptm_cfg){ .reg_idr = 0x411cf312,
                                     .reg_ctrl = (uint32_t)take() << 8,
                                     .reg_ccer = 0x34c01ac2,
                                     .reg_trc_id = id };
        break;
    case 3:
        config.etmv3 = (ocsd_etmv3_cfg){ .reg_idr = 0x410cf250,
                                         .reg_ctrl = (uint32_t)take() << 8 | take(),
                                         .reg_ccer = 0x344008f2,
                                         .reg_trc_id = id };
        break;
    case 4:
        config.stm = (ocsd_stm_cfg){ .reg_tcsr = (uint32_t)id << 16 };
        break;
    default:
        config.bytes[0] = id;
        break;
    }
    (void)ocsd_dt_create_decoder(tree, names[kind & 7], flags, &config, &made);
}

static void connect_decoder(dcd_tree_handle_t tree)
{
    const uint8_t kind = take(), id = take() & 0x7f;

    switch (kind % 7) {
    case 0:
        (void)ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
        break;
    case 1:
        (void)ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_SINK,
                                             (void *)(uintptr_t)on_packet, NULL);
        break;
    case 2:
        (void)ocsd_dt_attach_packet_callback(tree, id, OCSD_C_API_CB_PKT_MON,
                                             (void *)(uintptr_t)on_monitor, NULL);
        break;
    case 3:
        (void)ocsd_dt_set_gen_elem_printer(tree);
        break;
    case 4:
        (void)ocsd_dt_set_pkt_protocol_printer(tree, id, kind >> 4);
        break;
    case 5:
        (void)ocsd_dt_set_raw_frame_printer(tree, kind >> 4);
        break;
    default:
        (void)ocsd_dt_remove_decoder(tree, id);
        break;
    }
}

static void change_memory(dcd_tree_handle_t tree)
{
    static const uint8_t code[64] = { 0x1f, 0x20, 0x03, 0xd5 };
    const uint8_t kind = take();
    const ocsd_vaddr_t address = (ocsd_vaddr_t)take() << 12;
    const ocsd_mem_space_acc_t space =
        kind & 0x80 ? OCSD_MEM_SPACE_ANY : (ocsd_mem_space_acc_t)(kind >> 3);

    switch (kind & 7) {
    case 0:
        (void)ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, space, read_code,
                                                 NULL);
        break;
    case 1:
        (void)ocsd_dt_add_callback_mem_acc(tree, address, address + 0xfff, space, read_plain,
                                           NULL);
        break;
    case 2:
        (void)ocsd_dt_add_buffer_mem_acc(tree, address, space, code, take() % 65);
        break;
    case 3:
        (void)ocsd_dt_remove_mem_acc(tree, address, space);
        break;
    case 4:
        (void)ocsd_dt_set_mem_acc_cacheing(tree, kind >> 7, (uint16_t)(take() << 8), take());
        break;
    default:
        ocsd_tl_log_mapped_mem_ranges(tree);
        break;
    }
}

static void feed(dcd_tree_handle_t tree, unsigned number)
{
    uint8_t piece[PIECE_MOST];
    const uint32_t wanted = take() % (PIECE_MOST + 1);
    const uint32_t size = left < wanted ? (uint32_t)left : wanted;
    uint32_t used = 0;
    ocsd_datapath_resp_t said;

    for (uint32_t i = 0; i < size; i++)
        piece[i] = take();
    said = ocsd_dt_process_data(tree, OCSD_OP_DATA, at[number], size, piece, &used);
    require(used <= size && said <= OCSD_RESP_FATAL_SYS_ERR);
    at[number] += used;
}

static void operate(dcd_tree_handle_t tree, unsigned number)
{
    const uint8_t op = take();

    require(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)(op % 5), op, 0, NULL, NULL) <=
            OCSD_RESP_FATAL_SYS_ERR);
    if (op & 0x80)
        at[number] = (ocsd_trc_index_t)op << 24; /* goes on elsewhere */
}

static void ask(dcd_tree_handle_t tree)
{
    ocsd_decode_stats_t *stats = NULL;
    ocsd_trc_index_t index;
    uint8_t id;
    char text[200];

    if (ocsd_dt_get_decode_stats(tree, take() & 0x7f, &stats) == OCSD_OK)
        require(stats->channel_unsynced <= stats->channel_total + 16);
    (void)ocsd_dt_reset_decode_stats(tree, take() & 0x7f);
    (void)ocsd_get_last_err(&index, &id, text, 1 + take() % (int)sizeof text);
    ocsd_err_str((ocsd_err_t)take(), text, 1 + take() % (int)sizeof text);
}

static void change_log(dcd_tree_handle_t tree)
{
    (void)ocsd_def_errlog_init((ocsd_err_severity_t)(take() % 4), 1);
    (void)ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, NULL);
    (void)ocsd_def_errlog_set_strprint_cb(tree, NULL, on_text);
}

static void change_kinds(void)
{
    ocsd_extern_dcd_fact_t factory = { custom_create, custom_destroy, custom_id, NULL,
                                       OCSD_PROTOCOL_UNKNOWN };

    if (take() & 1)
        (void)ocsd_register_custom_decoder("FUZZ", &factory);
    else
        (void)ocsd_deregister_decoders();
}

static void one_call(void)
{
    const uint8_t kind = take();
    unsigned number;
    dcd_tree_handle_t tree = some_tree(&number);

    switch (kind % 16) {
    case 0:
        make_tree();
        break;
    case 1:
    case 2:
        make_decoder(tree);
        break;
    case 3:
    case 4:
        connect_decoder(tree);
        break;
    case 5:
        change_memory(tree);
        break;
    case 6:
        operate(tree, number);
        break;
    case 7:
        answers = take();
        break;
    case 8:
        ask(tree);
        break;
    case 9:
        change_log(tree);
        break;
    case 10:
        change_kinds();
        break;
    default:
        feed(tree, number);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input = data;
    left = size;
    answers = 0;
    calls = 0;
    while (left)
        one_call();
    for (unsigned i = 0; i < TREES; i++) {
        ocsd_destroy_dcd_tree(trees[i]);
        trees[i] = NULL;
    }
    (void)ocsd_deregister_decoders();
    return 0;
}
