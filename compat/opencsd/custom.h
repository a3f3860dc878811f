/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoders that the client brings: kinds by name, and one decoder of a kind in a tree. */
#ifndef OPENCSD_CUSTOM_H
#define OPENCSD_CUSTOM_H

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/log.h"
#include "opencsd/memory.h"
#include "opencsd/packets.h"

struct oc_custom_kind;

ocsd_err_t oc_custom_register(const char *name, ocsd_extern_dcd_fact_t *factory);
void oc_custom_forget_all(void);

/* A user of the kind of this name or number, for the caller to drop; NULL: there is none. */
struct oc_custom_kind *oc_custom_by_name(const char *name);
struct oc_custom_kind *oc_custom_by_number(ocsd_trace_protocol_t number);
void oc_custom_drop(struct oc_custom_kind *kind);

void oc_custom_text(const struct oc_custom_kind *kind, const void *packet, char *buffer,
                    int size);
ocsd_err_t oc_custom_id(const struct oc_custom_kind *kind, const void *config, uint8_t *id);

/* One decoder. */
struct oc_custom {
    struct oc_custom_kind *kind;
    ocsd_extern_dcd_inst_t instance;
    bool is_full;
    struct oc_memory *memory; /* of the tree */
    struct oc_source log;
    FnTraceElemIn element; /* NULL: no one */
    const void *element_context;
    struct oc_consumers to;
};

/* Takes the user of the kind. */
ocsd_err_t oc_custom_new(struct oc_custom **custom, struct oc_custom_kind *kind, int flags,
                         const void *config, struct oc_memory *memory);
void oc_custom_free(struct oc_custom *custom);
/* Who takes packets has changed. */
void oc_custom_update(const struct oc_custom *custom);

#endif
