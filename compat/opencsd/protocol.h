/* SPDX-License-Identifier: BSD-2-Clause */
/* What the data path knows of a protocol: one constant table of functions for each. */
#ifndef OPENCSD_PROTOCOL_H
#define OPENCSD_PROTOCOL_H

#include <stdbool.h>

#include <trackway/types.h>

#include "opencsd/c_api/opencsd_c_api.h"
#include "opencsd/text.h"

enum { OC_REGISTERS_MAX = 16 };

/* A decoder's configuration as Trackway takes it. */
struct oc_setup {
    uint8_t id;
    const char *core;
    struct tw_register registers[OC_REGISTERS_MAX];
    size_t count;
    bool is_unsupported; /* the original decodes no such trace */
    uint8_t version;     /* ETMv4, ETE: major << 4 | minor */
    bool is_m_profile;
    bool has_hyp;      /* ETMv3: the virtualization extensions */
    bool time_is_gray; /* PTM, ETMv3 */
};

/* What is to be done with bytes in front of the first synchronization. */
enum oc_unsynced_kind {
    OC_UNSYNCED_WAIT, /* it is not clear yet */
    OC_UNSYNCED_SKIP, /* `size` bytes are nothing */
    OC_UNSYNCED_BAD,  /* a packet of `size` bytes that is none */
    OC_UNSYNCED_SYNC  /* a packet begins */
};

/* How the index of what follows comes about. */
enum oc_unsynced_next { OC_NEXT_BYTE, OC_NEXT_BEHIND, OC_NEXT_SAME, OC_NEXT_COUNTED };

struct oc_unsynced {
    enum oc_unsynced_kind kind;
    size_t size;
    enum oc_unsynced_next next;
};

/* What is said about a bad packet. */
struct oc_complaint {
    ocsd_err_severity_t severity;
    ocsd_err_t code;
    const char *message; /* NULL: none */
};

/* False: nothing is said. */
typedef bool oc_complain_fn(struct oc_complaint *complaint, const void *packet,
                            const uint8_t *bytes);

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
    /* Types of the library: bytes before the first synchronization, a packet that is none, an alignment
       synchronization, what decoding starts with, and after what it has to start again (0: nothing). */
    uint8_t not_sync, bad_sequence, async, start, stops[2];
    bool starts_behind_async; /* without it that start is none */

    /* Packets as OpenCSD has them: a state goes from packet to packet. */
    size_t state_size;
    void (*state_init)(void *state, const struct oc_setup *setup);
    void (*state_reset)(void *state);
    void (*fill)(void *state, const void *packet, const uint8_t *bytes);
    const void *(*shown)(
        void *state); /* the struct for callbacks; NULL: the state begins with it */
    void (*text)(struct oc_text *text, const void *shown);
    /* NULL: bytes in front of the first synchronization are cut as the reader does. */
    struct oc_unsynced (*unsynced)(const uint8_t *bytes, size_t size);
    /* Makes the packet of what is left of them at the end; NULL: as the reader does. */
    void (*cut_unsynced)(void *packet, const uint8_t *bytes, size_t size);
    bool sinks_each_unsynced; /* the sink gets them all, else the first alone */
    bool has_stats;           /* the original keeps statistics */
    bool needs_consumer;    /* packets alone: the original takes no data that nobody looks at */
    bool is_fatal_when_bad; /* the original stops at bad packets */
    oc_complain_fn *complain;          /* where packets are all that is made; NULL: never */
    oc_complain_fn *complain_decoding; /* where elements are made of them */
};

/* NULL: there is no decoder of that name, or number. */
const struct oc_protocol *oc_protocol_by_name(const char *name);
const struct oc_protocol *oc_protocol_by_number(unsigned number);

extern const struct oc_protocol oc_etmv4, oc_ete, oc_ptm, oc_etmv3, oc_stm, oc_itm;

void oc_setup_add(struct oc_setup *setup, const char *name, uint32_t value);
/* A core's name for what the configuration says of it. */
const char *oc_core_name(ocsd_arch_version_t arch, ocsd_core_profile_t profile);

#endif
