/* SPDX-License-Identifier: BSD-2-Clause */
/* A buffer of a capture as a client of OpenCSD sees it: bytes, decoders with their configuration, and
   program memory. */
#ifndef OPENCSD_TESTS_SUBJECT_H
#define OPENCSD_TESTS_SUBJECT_H

#include <stdbool.h>

#include <opencsd/c_api/opencsd_c_api.h>
#include <trackway/trackway.h>

enum { SUBJECT_DECODERS = 32, SUBJECT_DUMPS = 256 };

struct subject_decoder {
    const char *name; /* as ocsd_dt_create_decoder takes it */
    ocsd_trace_protocol_t protocol;
    union {
        ocsd_etmv4_cfg etmv4;
        ocsd_ete_cfg ete;
        ocsd_ptm_cfg ptm;
        ocsd_etmv3_cfg etmv3;
        ocsd_stm_cfg stm;
        uint32_t itm; /* TCR */
    } config;
};

struct subject {
    struct tw_capture *capture;
    enum tw_framing framing;
    const uint8_t *data;
    size_t size;
    uint8_t *made;  /* `data`, if it is not the capture's */
    unsigned align; /* it is fed in multiples of this */
    struct subject_decoder decoders[SUBJECT_DECODERS];
    size_t decoder_count;
    const struct tw_dump *dumps[SUBJECT_DUMPS];
    size_t dump_count;
};

/* False: there is nothing in this buffer that OpenCSD decodes; ITM it does from 1.7 on. */
bool subject_open(struct subject *subject, const char *path, size_t buffer, bool has_itm);
/* The same trace in frames of another kind.  False: it is in none. */
bool subject_reframe(struct subject *subject, const struct subject *from,
                     enum tw_framing framing);
/* OCSD_DFRMTR_... */
uint32_t subject_flags(const struct subject *subject);
void subject_free(struct subject *subject);

#endif
