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
    struct oc_channel *channel = tree->channels[0];

    if (op == OCSD_OP_DATA && (!data || !size || !used))
        return OCSD_RESP_FATAL_INVALID_PARAM;
    if ((unsigned)op > OCSD_OP_RESET)
        return OCSD_RESP_FATAL_INVALID_OP;
    if (tree->is_framed)
        return op == OCSD_OP_DATA ? oc_frames_data(tree, index, size, data, used)
                                  : oc_frames_operation(tree, op);
    return op == OCSD_OP_DATA ? oc_channel_data(channel, index, size, data, used)
                              : oc_channel_operation(channel, op, index);
}

ocsd_datapath_resp_t
ocsd_dt_process_data(const dcd_tree_handle_t handle, const ocsd_datapath_op_t op,
                     const ocsd_trc_index_t index, const uint32_t dataBlockSize,
                     const uint8_t *pDataBlock, uint32_t *numBytesProcessed)
{
    struct oc_tree *tree = oc_tree_of(handle);
    uint32_t used = 0;
    ocsd_datapath_resp_t answer;

    if (!tree || (!tree->is_framed && !tree->channels[0])) {
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

ocsd_err_t ocsd_dt_create_decoder(const dcd_tree_handle_t handle, const char *decoder_name,
                                  const int create_flags, const void *decoder_cfg,
                                  unsigned char *pCSID)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const struct oc_protocol *protocol;
    struct oc_channel *channel;
    unsigned slot;
    int number;

    if (!tree || !decoder_name || !decoder_cfg || !pCSID)
        return OCSD_ERR_INVALID_PARAM_VAL;
    protocol = oc_protocol_by_name(decoder_name);
    if (!protocol)
        return OCSD_ERR_DCDREG_NAME_UNKNOWN;
    channel = oc_channel_new(protocol, decoder_cfg, create_flags, &tree->memory);
    if (!channel)
        return OCSD_ERR_MEM;
    slot = tree->is_framed ? channel->setup.id : 0;
    if (tree->channels[slot]) {
        oc_channel_free(channel);
        return OCSD_ERR_ATTACH_TOO_MANY;
    }
    if (!(create_flags & (OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER))) {
        oc_channel_free(channel);
        return OCSD_ERR_INVALID_PARAM_VAL;
    }
    number = tree->is_framed ? (int)slot : create_flags & OCSD_CREATE_FLG_INST_ID ? 0 : -1;
    if (channel->is_full) /* the part that reads packets has no log then */
        oc_source_start(&channel->decoder, protocol->decoder, number);
    else
        oc_source_start(&channel->processor, protocol->processor, number);
    tree->channels[slot] = channel;
    *pCSID = channel->setup.id;
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_remove_decoder(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct oc_tree *tree = oc_tree_of(handle);
    const unsigned slot = tree && tree->is_framed ? CSID : 0;

    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (tree->is_framed && !OCSD_IS_VALID_CS_SRC_ID(CSID))
        return OCSD_ERR_INVALID_ID;
    oc_channel_free(tree->channels[slot]);
    tree->channels[slot] = NULL;
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                      const void *p_context)
{
    struct oc_tree *tree = oc_tree_of(handle);

    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    for (unsigned id = 0; id < OC_IDS; id++) /* of those that there are now */
        if (tree->channels[id] && tree->channels[id]->is_full) {
            tree->channels[id]->element = pFn;
            tree->channels[id]->element_context = p_context;
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

ocsd_err_t ocsd_dt_attach_packet_callback(const dcd_tree_handle_t handle,
                                          const unsigned char CSID,
                                          const ocsd_c_api_cb_types callback_type,
                                          void *p_fn_pkt_data_in, const void *p_context)
{
    const struct oc_tree *tree = oc_tree_of(handle);
    struct oc_channel *channel = tree ? oc_tree_channel(tree, CSID) : NULL;

    if (!channel)
        return OCSD_ERR_INVALID_ID;
    if (callback_type != OCSD_C_API_CB_PKT_SINK && callback_type != OCSD_C_API_CB_PKT_MON)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (channel->protocol == &oc_ete && oc_settings()->is_strict && !oc_settings()->is_1_7)
        return OCSD_ERR_NO_PROTOCOL;
    if (callback_type == OCSD_C_API_CB_PKT_SINK)
        return attach_sink(channel, (FnDefPktDataIn)(uintptr_t)p_fn_pkt_data_in, p_context);
    return attach_monitor(channel, (FnDefPktDataMon)(uintptr_t)p_fn_pkt_data_in, p_context);
}

ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID,
                                    ocsd_decode_stats_t **p_stats_block)
{
    const struct oc_tree *tree = oc_tree_of(handle);
    struct oc_channel *channel = tree ? oc_tree_channel(tree, CSID) : NULL;

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
    struct oc_channel *channel = tree ? oc_tree_channel(tree, CSID) : NULL;

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
    struct oc_channel *channel = tree ? oc_tree_channel(tree, cs_id) : NULL;

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
    (void)name;
    (void)p_dcd_fact;
    return OCSD_ERR_DCDREG_TOOMANY;
}

ocsd_err_t ocsd_deregister_decoders(void)
{
    return OCSD_OK;
}

ocsd_err_t ocsd_cust_protocol_to_str(const ocsd_trace_protocol_t pkt_protocol,
                                     const void *trc_pkt, char *buffer, const int buflen)
{
    (void)pkt_protocol;
    (void)trc_pkt;
    (void)buffer;
    (void)buflen;
    return OCSD_ERR_NO_PROTOCOL;
}
