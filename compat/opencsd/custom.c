/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders that the client brings. */
#include "opencsd/custom.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/instruction.h>

#include "opencsd/protocol.h"

enum { KINDS_MAX = OCSD_PROTOCOL_END - OCSD_PROTOCOL_CUSTOM_0 };

struct oc_custom_kind {
    unsigned users; /* decoders, and the list of kinds */
    ocsd_extern_dcd_fact_t factory;
    char name[];
};

static struct oc_custom_kind *kinds[KINDS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- Kinds */

static struct oc_custom_kind *find(const char *name)
{
    for (size_t i = 0; i < KINDS_MAX; i++)
        if (kinds[i] && strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

/* The lock is held. */
static ocsd_err_t add(const char *name, ocsd_extern_dcd_fact_t *factory)
{
    struct oc_custom_kind *made;
    size_t number = 0;

    if (find(name))
        return OCSD_ERR_DCDREG_NAME_REPEAT;
    while (number < KINDS_MAX && kinds[number])
        number++;
    if (number == KINDS_MAX) {
        factory->protocol_id = OCSD_PROTOCOL_END;
        return OCSD_ERR_DCDREG_TOOMANY;
    }
    made = malloc(sizeof *made + strlen(name) + 1);
    if (!made)
        return OCSD_ERR_MEM;
    factory->protocol_id = (ocsd_trace_protocol_t)(OCSD_PROTOCOL_CUSTOM_0 + number);
    made->users = 1;
    made->factory = *factory;
    memcpy(made->name, name, strlen(name) + 1);
    kinds[number] = made;
    return OCSD_OK;
}

ocsd_err_t oc_custom_register(const char *name, ocsd_extern_dcd_fact_t *factory)
{
    ocsd_err_t result;

    if (oc_protocol_by_name(name))
        return OCSD_ERR_DCDREG_NAME_REPEAT;
    if (!factory->createDecoder || !factory->destroyDecoder || !factory->csidFromConfig)
        return OCSD_ERR_INVALID_PARAM_VAL;
    (void)pthread_mutex_lock(&lock);
    result = add(name, factory);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

static struct oc_custom_kind *hold(struct oc_custom_kind *kind)
{
    if (kind)
        kind->users++;
    return kind;
}

void oc_custom_drop(struct oc_custom_kind *kind)
{
    bool is_unused;

    if (!kind)
        return;
    (void)pthread_mutex_lock(&lock);
    is_unused = --kind->users == 0;
    (void)pthread_mutex_unlock(&lock);
    if (is_unused)
        free(kind);
}

void oc_custom_forget_all(void)
{
    struct oc_custom_kind *known[KINDS_MAX];

    (void)pthread_mutex_lock(&lock);
    memcpy(known, kinds, sizeof known);
    memset(kinds, 0, sizeof kinds);
    (void)pthread_mutex_unlock(&lock);
    for (size_t i = 0; i < KINDS_MAX; i++) /* decoders that there are keep theirs */
        oc_custom_drop(known[i]);
}

struct oc_custom_kind *oc_custom_by_name(const char *name)
{
    struct oc_custom_kind *kind;

    (void)pthread_mutex_lock(&lock);
    kind = hold(find(name));
    (void)pthread_mutex_unlock(&lock);
    return kind;
}

struct oc_custom_kind *oc_custom_by_number(ocsd_trace_protocol_t number)
{
    struct oc_custom_kind *kind = NULL;

    if (number < OCSD_PROTOCOL_CUSTOM_0 || number >= OCSD_PROTOCOL_END)
        return NULL;
    (void)pthread_mutex_lock(&lock);
    kind = hold(kinds[number - OCSD_PROTOCOL_CUSTOM_0]);
    (void)pthread_mutex_unlock(&lock);
    return kind;
}

void oc_custom_text(const struct oc_custom_kind *kind, const void *packet, char *buffer,
                    int size)
{
    if (kind->factory.pktToString)
        (void)kind->factory.pktToString(packet, buffer, size);
    else
        (void)snprintf(buffer, (size_t)size, "CUSTOM_PKT[]: print unsupported; protocol(%d).",
                       (int)kind->factory.protocol_id);
}

ocsd_err_t oc_custom_id(const struct oc_custom_kind *kind, const void *config, uint8_t *id)
{
    return kind->factory.csidFromConfig(config, id);
}

/* ---- What a decoder calls */

static ocsd_datapath_resp_t give_element(const void *context, const ocsd_trc_index_t index,
                                         const uint8_t id,
                                         const ocsd_generic_trace_elem *element)
{
    const struct oc_custom *custom = context;

    return custom && custom->element
               ? custom->element(custom->element_context, index, id, element)
               : OCSD_RESP_FATAL_NOT_INIT;
}

static void log_error(const void *context, const ocsd_err_severity_t severity,
                      const ocsd_err_t code, const ocsd_trc_index_t index, const uint8_t id,
                      const char *message)
{
    const struct oc_custom *custom = context;

    if (custom)
        oc_log_error(&custom->log, &(struct oc_error){ severity, code, index, id, message });
}

static void log_message(const void *context, const ocsd_err_severity_t severity,
                        const char *message)
{
    const struct oc_custom *custom = context;

    if (custom && message)
        oc_log_message(&custom->log, severity, message);
}

static ocsd_err_t decode_instruction(const void *context, ocsd_instr_info *info)
{
    const struct oc_custom *custom = context;
    const uint32_t opcode = info ? info->opcode : 0;
    const uint8_t bytes[4] = { (uint8_t)opcode, (uint8_t)(opcode >> 8), (uint8_t)(opcode >> 16),
                               (uint8_t)(opcode >> 24) };
    struct tw_instruction_query query = { .size = sizeof query, .bytes = bytes, .count = 4 };
    struct tw_instruction_answer answer = { .size = sizeof answer };

    if (!custom || !custom->is_full || !info)
        return OCSD_ERR_ATTACH_INVALID_PARAM;
    query.address = info->instr_addr;
    query.isa = (uint8_t)info->isa;
    query.profile = info->pe_type.profile == profile_CortexM   ? TW_PROFILE_M
                    : info->pe_type.profile == profile_CortexR ? TW_PROFILE_R
                                                               : TW_PROFILE_A;
    query.wfx_is_waypoint = info->wfi_wfe_branch;
    query.dsb_dmb_is_waypoint = info->dsb_dmb_waypoints;
    query.tstart_is_waypoint = OCSD_IS_ARCH_MINVER(info->pe_type.arch, ARCH_AA64);
    info->sub_type = OCSD_S_INSTR_NONE;
    if (info->isa > ocsd_isa_aarch64 || tw_instruction_classify(&answer, &query) != TW_OK)
        return OCSD_ERR_UNSUPPORTED_ISA;
    if (info->isa == ocsd_isa_thumb2)
        info->opcode = opcode << 16 | opcode >> 16; /* the first halfword is the upper one */
    info->type = (ocsd_instr_type)answer.info.kind;
    info->sub_type = (ocsd_instr_subtype)answer.info.sub;
    info->next_isa = info->isa;
    if (answer.info.kind == TW_LAST_BR) {
        info->branch_addr = answer.info.target;
        info->next_isa = (ocsd_isa)answer.target_isa;
    }
    info->instr_size = answer.info.size;
    info->is_conditional = answer.info.is_conditional;
    info->is_link = answer.info.is_link;
    if (info->isa == ocsd_isa_thumb2)
        info->thumb_it_conditions = answer.it_open;
    return OCSD_OK;
}

static ocsd_err_t read_memory(const void *context, const ocsd_vaddr_t address, const uint8_t id,
                              const ocsd_mem_space_acc_t space, uint32_t *count, uint8_t *out)
{
    const struct oc_custom *custom = context;
    const struct oc_reader reader = { .space = (uint32_t)space, .id = id };

    if (!custom || !custom->is_full || !custom->memory->is_used || !count || !out)
        return OCSD_ERR_INVALID_PARAM_VAL;
    *count = *count ? oc_memory_read(custom->memory, &reader, address, *count, out) : 0;
    return OCSD_OK;
}

static void monitor(const void *context, const ocsd_datapath_op_t op,
                    const ocsd_trc_index_t index, const void *packet, const uint32_t size,
                    const uint8_t *bytes)
{
    const struct oc_custom *custom = context;

    if (custom && custom->to.monitor)
        custom->to.monitor(custom->to.monitor_context, op, index, packet, size, bytes);
}

static ocsd_datapath_resp_t sink(const void *context, const ocsd_datapath_op_t op,
                                 const ocsd_trc_index_t index, const void *packet)
{
    const struct oc_custom *custom = context;

    return custom && custom->to.sink
               ? custom->to.sink(custom->to.sink_context, op, index, packet)
               : OCSD_RESP_CONT;
}

/* ---- One decoder */

ocsd_err_t oc_custom_new(struct oc_custom **custom, struct oc_custom_kind *kind, int flags,
                         const void *config, struct oc_memory *memory)
{
    struct oc_custom *made = calloc(1, sizeof *made);
    ocsd_extern_dcd_inst_t *instance;
    ocsd_err_t result;

    if (!made) {
        oc_custom_drop(kind);
        return OCSD_ERR_MEM;
    }
    made->kind = kind;
    made->memory = memory;
    made->is_full = (flags & OCSD_CREATE_FLG_FULL_DECODER) != 0;
    instance = &made->instance;
    result = kind->factory.createDecoder(
        flags, config,
        &(ocsd_extern_dcd_cb_fns){ .fn_gen_elem_out = give_element,
                                   .fn_log_error = log_error,
                                   .fn_log_msg = log_message,
                                   .fn_arm_instruction_decode = decode_instruction,
                                   .fn_memory_access = read_memory,
                                   .fn_packet_mon = monitor,
                                   .fn_packet_data_sink = sink,
                                   .lib_context = made },
        instance);
    if (result == OCSD_OK &&
        (!instance->fn_data_in || !instance->fn_update_pkt_mon || !instance->cs_id ||
         !instance->decoder_handle || !instance->p_decoder_name)) {
        if (instance->decoder_handle)
            (void)kind->factory.destroyDecoder(instance->decoder_handle);
        result = OCSD_ERR_INVALID_PARAM_VAL;
    }
    if (result != OCSD_OK) {
        oc_custom_drop(kind);
        free(made);
        return result;
    }
    oc_source_start(&made->log, instance->p_decoder_name, instance->cs_id);
    *custom = made;
    return OCSD_OK;
}

void oc_custom_free(struct oc_custom *custom)
{
    if (!custom)
        return;
    (void)custom->kind->factory.destroyDecoder(custom->instance.decoder_handle);
    oc_custom_drop(custom->kind);
    free(custom);
}

void oc_custom_update(const struct oc_custom *custom)
{
    custom->instance.fn_update_pkt_mon(
        custom->instance.decoder_handle,
        (custom->to.monitor ? OCSD_CUST_DCD_PKT_CB_USE_MON : 0) |
            (custom->to.sink ? OCSD_CUST_DCD_PKT_CB_USE_SINK : 0));
}
