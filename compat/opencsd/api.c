/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of the interface: what they refuse, and who does the rest. */
#include <string.h>

#include "opencsd/print.h"
#include "opencsd/settings.h"
#include "opencsd/text.h"
#include "opencsd/tree.h"

/* ---- Version */

uint32_t ocsd_get_version(void)
{
    enum { VERSION_1_7_1 = 0x10701 };

    return oc_settings()->is_1_7 ? VERSION_1_7_1 : OCSD_VER_NUM;
}

const char *ocsd_get_version_str(void)
{
    return oc_settings()->is_1_7 ? "1.7.1" : OCSD_VER_STRING;
}

/* ---- Decode trees */

dcd_tree_handle_t ocsd_create_dcd_tree(const ocsd_dcd_tree_src_t src_type,
                                       const uint32_t deformatterCfgFlags)
{
    return oc_tree_new(src_type, deformatterCfgFlags);
}

void ocsd_destroy_dcd_tree(const dcd_tree_handle_t handle)
{
    oc_tree_free(handle);
}

static ocsd_datapath_resp_t process(struct oc_tree *tree, const ocsd_datapath_op_t op,
                                    const ocsd_trc_index_t index, const uint32_t size,
                                    const uint8_t *data, uint32_t *used)
{
    if (op == OCSD_OP_DATA && (!data || !size || !used))
        return OCSD_RESP_FATAL_INVALID_PARAM;
    if ((unsigned)op > OCSD_OP_RESET)
        return OCSD_RESP_FATAL_INVALID_OP;
    if (tree->is_framed)
        return op == OCSD_OP_DATA ? oc_frames_data(tree, index, size, data, used)
                                  : oc_frames_operation(tree, op);
    return op == OCSD_OP_DATA ? oc_tree_data(tree, 0, index, size, data, used)
                              : oc_tree_operation(tree, 0, op, index);
}

ocsd_datapath_resp_t
ocsd_dt_process_data(const dcd_tree_handle_t handle, const ocsd_datapath_op_t op,
                     const ocsd_trc_index_t index, const uint32_t dataBlockSize,
                     const uint8_t *pDataBlock, uint32_t *numBytesProcessed)
{
    struct oc_tree *tree = oc_tree_of(handle);
    uint32_t used = 0;
    ocsd_datapath_resp_t answer;

    if (!tree || (!tree->is_framed && !oc_tree_has(tree, 0))) {
        if (numBytesProcessed && tree)
            *numBytesProcessed = 0;
        return OCSD_RESP_FATAL_NOT_INIT;
    }
    answer =
        process(tree, op, index, dataBlockSize, pDataBlock, numBytesProcessed ? &used : NULL);
    if (numBytesProcessed && op == OCSD_OP_DATA)
        *numBytesProcessed = used;
    return answer;
}

/* ---- Decoders */

/* Those that are made of packets and elements here. */
static ocsd_err_t create_built_in(struct oc_tree *tree, const struct oc_protocol *protocol,
                                  int flags, const void *config, uint8_t *id)
{
    struct oc_channel *channel = oc_channel_new(protocol, config, flags, &tree->memory);
    unsigned slot;
    int number;

    if (!channel)
        return OCSD_ERR_MEM;
    slot = oc_tree_slot(tree, channel->setup.id);
    if (oc_tree_has(tree, slot)) {
        oc_channel_free(channel);
        return OCSD_ERR_ATTACH_TOO_MANY;
    }
    number = tree->is_framed ? (int)slot : flags & OCSD_CREATE_FLG_INST_ID ? 0 : -1;
    if (channel->is_full) /* the part that reads packets has no log then */
        oc_source_start(&channel->decoder, protocol->decoder, number);
    else
        oc_source_start(&channel->processor, protocol->processor, number);
    tree->channels[slot] = channel;
    *id = channel->setup.id;
    return OCSD_OK;
}

static ocsd_err_t create_custom(struct oc_tree *tree, struct oc_custom_kind *kind, int flags,
                                const void *config, uint8_t *id)
{
    uint8_t wanted = 0;
    ocsd_err_t result = oc_custom_id(kind, config, &wanted);
    unsigned slot = 0;

    if (result == OCSD_OK && tree->is_framed && wanted >= OC_IDS)
        result = OCSD_ERR_INVALID_ID;
    if (result == OCSD_OK) {
        slot = tree->is_framed ? wanted : 0;
        result = oc_tree_has(tree, slot) ? OCSD_ERR_ATTACH_TOO_MANY : OCSD_OK;
    }
    if (result != OCSD_OK) {
        oc_custom_drop(kind);
        return result;
    }
    result = oc_custom_new(&tree->customs[slot], kind,
                           tree->is_framed ? flags | OCSD_CREATE_FLG_INST_ID : flags, config,
                           &tree->memory);
    if (result == OCSD_OK)
        *id = wanted;
    return result;
}

ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle, const char *decoder_name,
                                  const int create_flags, const void *decoder_cfg,
                                  unsigned char *pCSID)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const struct oc_protocol *protocol;
    struct oc_custom_kind *kind;

    if (!tree || !decoder_name || !decoder_cfg || !pCSID)
        return OCSD_ERR_INVALID_PARAM_VAL;
    protocol = oc_protocol_by_name(decoder_name);
    kind = protocol ? NULL : oc_custom_by_name(decoder_name);
    if (kind)
        return create_custom(tree, kind, create_flags, decoder_cfg, pCSID);
    if (!protocol)
        return OCSD_ERR_DCDREG_NAME_UNKNOWN;
    if (!(create_flags & (OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER)))
        return OCSD_ERR_INVALID_PARAM_VAL;
    return create_built_in(tree, protocol, create_flags, decoder_cfg, pCSID);
}

ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct oc_tree *tree = oc_tree_of(handle);

    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (tree->is_framed && !OCSD_IS_VALID_CS_SRC_ID(CSID))
        return OCSD_ERR_INVALID_ID;
    oc_tree_remove(tree, oc_tree_slot(tree, CSID));
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                      const void *p_context)
{
    struct oc_tree *tree = oc_tree_of(handle);

    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    for (unsigned id = 0; id < OC_IDS; id++) { /* of those that there are now */
        if (tree->channels[id] && tree->channels[id]->is_full) {
            tree->channels[id]->element = pFn;
            tree->channels[id]->element_context = p_context;
        }
        if (tree->customs[id] && tree->customs[id]->is_full) {
            tree->customs[id]->element = pFn;
            tree->customs[id]->element_context = p_context;
        }
    }
    return OCSD_OK;
}

static ocsd_err_t attach_sink(struct oc_channel *channel, FnDefPktDataIn sink,
                              const void *context)
{
    if (channel->is_full)
        return OCSD_ERR_INVALID_PARAM_TYPE;
    channel->packets.to.sink = sink;
    channel->packets.to.sink_context = context;
    return OCSD_OK;
}

static ocsd_err_t attach_monitor(struct oc_channel *channel, FnDefPktDataMon monitor,
                                 const void *context)
{
    channel->packets.to.monitor = monitor;
    channel->packets.to.monitor_context = context;
    return OCSD_OK;
}

static ocsd_err_t attach_to_custom(struct oc_custom *custom, ocsd_c_api_cb_types type,
                                   void *function, const void *context)
{
    if (type == OCSD_C_API_CB_PKT_SINK) {
        custom->to.sink = (FnDefPktDataIn)(uintptr_t)function;
        custom->to.sink_context = context;
    } else {
        custom->to.monitor = (FnDefPktDataMon)(uintptr_t)function;
        custom->to.monitor_context = context;
    }
    oc_custom_update(custom);
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle,
                                          const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type,
                                          void *p_fn_pkt_data_in, const void *p_context)
{
    const struct oc_tree *tree = oc_tree_of(handle);
    const unsigned slot = tree ? oc_tree_slot(tree, CSID) : 0;
    struct oc_channel *channel;

    if (!tree || !oc_tree_has(tree, slot))
        return OCSD_ERR_INVALID_ID;
    if (callback_type != OCSD_C_API_CB_PKT_SINK && callback_type != OCSD_C_API_CB_PKT_MON)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (tree->customs[slot])
        return attach_to_custom(tree->customs[slot], callback_type, p_fn_pkt_data_in,
                                p_context);
    channel = tree->channels[slot];
    if (channel->protocol == &oc_ete && oc_settings()->is_strict && !oc_settings()->is_1_7)
        return OCSD_ERR_NO_PROTOCOL;
    if (callback_type == OCSD_C_API_CB_PKT_SINK)
        return attach_sink(channel, (FnDefPktDataIn)(uintptr_t)p_fn_pkt_data_in, p_context);
    return attach_monitor(channel, (FnDefPktDataMon)(uintptr_t)p_fn_pkt_data_in, p_context);
}

/* Of decoders that the client brought there is none. */
static struct oc_channel *channel_of(const struct oc_tree *tree, uint8_t id)
{
    return tree ? tree->channels[oc_tree_slot(tree, id)] : NULL;
}

ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID,
                                    ocsd_decode_stats_t **p_stats_block)
{
    const struct oc_tree *tree = oc_tree_of(handle);
    struct oc_channel *channel = channel_of(tree, CSID);

    if (!channel || !p_stats_block)
        return OCSD_ERR_INVALID_PARAM_VAL;
    channel->stats.version = ocsd_get_version();
    channel->stats.revision = OCSD_STATS_REVISION;
    channel->stats.demux = tree->frames.stats;
    *p_stats_block = &channel->stats;
    return channel->protocol->has_stats ? OCSD_OK : OCSD_ERR_NOT_INIT;
}

ocsd_err_t ocsd_dt_reset_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct oc_tree *tree = oc_tree_of(handle);
    struct oc_channel *channel = channel_of(tree, CSID);

    if (!channel)
        return OCSD_ERR_INVALID_PARAM_VAL;
    memset(&channel->stats, 0, sizeof channel->stats);
    memset(&tree->frames.stats, 0, sizeof tree->frames.stats);
    return OCSD_OK;
}

/* ---- Program memory */

ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle,
                                       const ocsd_vaddr_t address,
                                       const ocsd_mem_space_acc_t mem_space,
                                       const char *filepath)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const ocsd_file_mem_region_t whole = { .start_address = address };

    return tree ? oc_memory_add_file(&tree->memory, &whole, 1, mem_space, filepath)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_file_mem_region_t *region_array,
                                              const int num_regions,
                                              const ocsd_mem_space_acc_t mem_space,
                                              const char *filepath)
{
    struct oc_tree *tree = oc_tree_of(handle);

    return tree ? oc_memory_add_file(&tree->memory, region_array, num_regions, mem_space,
                                     filepath)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_add_buffer_mem_acc(const dcd_tree_handle_t handle,
                                      const ocsd_vaddr_t address,
                                      const ocsd_mem_space_acc_t mem_space,
                                      const uint8_t *p_mem_buffer, const uint32_t mem_length)
{
    struct oc_tree *tree = oc_tree_of(handle);

    return tree ? oc_memory_add_buffer(&tree->memory, address, mem_space, p_mem_buffer,
                                       mem_length)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_add_callback_mem_acc(const dcd_tree_handle_t handle,
                                        const ocsd_vaddr_t st_address,
                                        const ocsd_vaddr_t en_address,
                                        const ocsd_mem_space_acc_t mem_space,
                                        Fn_MemAcc_CB p_cb_func, const void *p_context)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const struct oc_callback callback = {
        .first = st_address, .last = en_address, .read = p_cb_func, .context = p_context
    };

    return tree ? oc_memory_add_callback(&tree->memory, &callback, mem_space)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_add_callback_trcid_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_vaddr_t st_address,
                                              const ocsd_vaddr_t en_address,
                                              const ocsd_mem_space_acc_t mem_space,
                                              Fn_MemAccID_CB p_cb_func, const void *p_context)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const struct oc_callback callback = {
        .first = st_address, .last = en_address, .read_by_id = p_cb_func, .context = p_context
    };

    return tree ? oc_memory_add_callback(&tree->memory, &callback, mem_space)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                  const ocsd_mem_space_acc_t mem_space)
{
    struct oc_tree *tree = oc_tree_of(handle);

    return tree ? oc_memory_remove(&tree->memory, st_address, mem_space)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_dt_set_mem_acc_cacheing(const dcd_tree_handle_t handle, const int enable,
                                        const uint16_t page_size, const int nr_pages)
{
    struct oc_tree *tree = oc_tree_of(handle);

    return tree ? oc_memory_set_cache(&tree->memory, enable != 0, page_size, nr_pages)
                : OCSD_ERR_INVALID_PARAM_VAL;
}

void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle)
{
    const struct oc_tree *tree = oc_tree_of(handle);

    if (tree)
        oc_memory_log(&tree->memory);
}

/* ---- The log */

ocsd_err_t ocsd_def_errlog_init(const ocsd_err_severity_t verbosity,
                                const int create_output_logger)
{
    return oc_log_init(verbosity, create_output_logger != 0);
}

ocsd_err_t ocsd_def_errlog_config_output(const int output_flags, const char *log_file_name)
{
    return oc_log_set_output(output_flags, log_file_name);
}

ocsd_err_t ocsd_def_errlog_set_strprint_cb(const dcd_tree_handle_t handle, void *p_context,
                                           FnDefLoggerPrintStrCB p_str_print_cb)
{
    const struct oc_tree *tree = oc_tree_of(handle);

    return tree ? oc_log_set_callback(tree, p_context, p_str_print_cb) : OCSD_ERR_NOT_INIT;
}

void ocsd_def_errlog_msgout(const char *msg)
{
    if (msg)
        oc_log_line(msg);
}

void ocsd_err_str(const ocsd_err_t err, char *buffer, const int buffer_size)
{
    const struct oc_error error = { .severity = OCSD_ERR_SEV_ERROR,
                                    .code = err,
                                    .index = OCSD_BAD_TRC_INDEX,
                                    .id = OCSD_BAD_CS_SRC_ID };

    if (buffer)
        oc_error_text(&error, buffer, buffer_size);
}

ocsd_err_t ocsd_get_last_err(ocsd_trc_index_t *index, uint8_t *chan_id, char *message,
                             const int message_len)
{
    if (!index || !chan_id || !message)
        return OCSD_ERR_INVALID_PARAM_VAL;
    return oc_log_last(index, chan_id, message, message_len);
}

/* ---- Packets and elements as text */

ocsd_err_t ocsd_pkt_str(const ocsd_trace_protocol_t pkt_protocol, const void *p_pkt,
                        char *buffer, const int buffer_size)
{
    const struct oc_protocol *protocol = oc_protocol_by_number((unsigned)pkt_protocol);
    struct oc_text text;

    if (!buffer || buffer_size < 2)
        return OCSD_ERR_INVALID_PARAM_VAL;
    buffer[0] = 0;
    if (!p_pkt)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (OCSD_PROTOCOL_IS_CUSTOM(pkt_protocol))
        return ocsd_cust_protocol_to_str(pkt_protocol, p_pkt, buffer, buffer_size);
    if (!protocol ||
        (protocol == &oc_ete && oc_settings()->is_strict && !oc_settings()->is_1_7))
        return OCSD_ERR_NO_PROTOCOL;
    oc_text_start(&text);
    protocol->text(&text, p_pkt);
    oc_text_copy(&text, buffer, buffer_size);
    return OCSD_OK;
}

ocsd_err_t ocsd_gen_elem_str(const ocsd_generic_trace_elem *p_pkt, char *buffer,
                             const int buffer_size)
{
    struct oc_text text;

    if (!buffer || buffer_size < 2 || !p_pkt)
        return OCSD_ERR_INVALID_PARAM_VAL;
    oc_text_start(&text);
    oc_element_text(&text, (const union oc_element *)p_pkt);
    oc_text_copy(&text, buffer, buffer_size);
    return OCSD_OK;
}

void ocsd_gen_elem_init(ocsd_generic_trace_elem *p_pkt, const ocsd_gen_trc_elem_t elem_type)
{
    union oc_element *element = (union oc_element *)p_pkt;

    if (!p_pkt)
        return;
    p_pkt->elem_type = elem_type;
    p_pkt->flag_bits = 0;
    if (oc_settings()->is_1_7)
        element->later.extended = NULL;
    else
        p_pkt->ptr_extended_data = NULL;
}

ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags)
{
    struct oc_tree *tree = oc_tree_of(handle);

    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (!tree->is_framed)
        return OCSD_ERR_DCDT_NO_FORMATTER;
    tree->frames.flags |=
        (uint32_t)flags & (OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT);
    if (tree->frames.prints)
        return OCSD_ERR_ATTACH_TOO_MANY;
    tree->frames.prints = true;
    tree->frames.output = oc_log_output();
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle)
{
    struct oc_tree *tree = oc_tree_of(handle);

    if (!tree)
        return OCSD_ERR_NOT_INIT;
    oc_output_drop(tree->element_output);
    tree->element_output = oc_log_output();
    return ocsd_dt_set_gen_elem_outfn(handle, oc_print_element, tree->element_output);
}

ocsd_err_t ocsd_dt_set_pkt_protocol_printer(const dcd_tree_handle_t handle, uint8_t cs_id,
                                            int monitor)
{
    const struct oc_tree *tree = oc_tree_of(handle);
    struct oc_channel *channel = channel_of(tree, cs_id);

    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (!channel)
        return OCSD_ERR_INVALID_PARAM_VAL;
    oc_output_drop(channel->printer.output);
    channel->printer = (struct oc_printer){ channel->protocol, oc_log_output(), cs_id };
    return monitor ? attach_monitor(channel, oc_print_monitored, &channel->printer)
                   : attach_sink(channel, oc_print_packet, &channel->printer);
}

/* ---- Custom decoders */

ocsd_err_t ocsd_register_custom_decoder(const char *name, ocsd_extern_dcd_fact_t *p_dcd_fact)
{
    return name && p_dcd_fact ? oc_custom_register(name, p_dcd_fact)
                              : OCSD_ERR_INVALID_PARAM_VAL;
}

ocsd_err_t ocsd_deregister_decoders(void)
{
    oc_custom_forget_all();
    return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol,
                                     const void *trc_pkt, char *buffer, const int buflen)
{
    struct oc_custom_kind *kind = oc_custom_by_number(pkt_protocol);

    if (!kind)
        return OCSD_ERR_NO_PROTOCOL;
    if (buffer && buflen > 0)
        oc_custom_text(kind, trc_pkt, buffer, buflen);
    oc_custom_drop(kind);
    return OCSD_OK;
}
