/* SPDX-License-Identifier: BSD-2-Clause */
/* What the data path knows of a protocol: one constant table of functions for each. */
#ifndef OPENCSD_PROTOCOL_H
#define OPENCSD_PROTOCOL_H

#include <stdbool.h>

#include <trackway/types.h>

#include "opencsd/c_api/opencsd_c_api.h"

enum { OC_REGISTERS_MAX = 16 };

/* A decoder's configuration as Trackway takes it. */
struct oc_setup {
    uint8_t id;
    const char *core;
    struct tw_register registers[OC_REGISTERS_MAX];
    size_t count;
    bool is_unsupported; /* the original decodes no such trace */
};

struct oc_protocol {
    const char *name;                /* "ETMV4I" */
    unsigned number;                 /* ocsd_trace_protocol_t */
    const char *library;             /* Trackway's name */
    const char *processor, *decoder; /* names in messages */
    bool follows;                    /* program flow: it needs memory */
    bool has_time_flag;              /* see struct oc_shape */
    bool may_batch;                  /* a reader can begin at any packet behind `sync` */
    const uint8_t *sync;             /* bytes that bring a reader into step */
    size_t sync_size;
    size_t packet_size; /* of Trackway's struct */

    void (*configure)(struct oc_setup *setup, const void *config);
    enum tw_status (*reader_new)(void **reader, const struct oc_setup *setup);
    void (*reader_free)(void *reader);
    enum tw_status (*read)(void *reader, void *packet, const uint8_t *data, size_t size,
                           bool is_last);
    void (*reader_lost)(void *reader);
    bool (*is_bad)(unsigned type);
    bool (*is_not_sync)(unsigned type);
};

/* NULL: there is no decoder of that name, or number. */
const struct oc_protocol *oc_protocol_by_name(const char *name);
const struct oc_protocol *oc_protocol_by_number(unsigned number);

extern const struct oc_protocol oc_etmv4, oc_ete, oc_ptm, oc_etmv3, oc_stm, oc_itm;

void oc_setup_add(struct oc_setup *setup, const char *name, uint32_t value);
/* A core's name for what the configuration says of it. */
const char *oc_core_name(ocsd_arch_version_t arch, ocsd_core_profile_t profile);

#endif
