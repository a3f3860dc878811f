/* SPDX-License-Identifier: BSD-2-Clause */
/* The readers of payloads that the rule table of packet.c names.  Each fills the members of its
   packet and leaves the reader as it was when the bytes are too few (in->short_read). */
#ifndef ETMV4_PAYLOAD_H
#define ETMV4_PAYLOAD_H

#include "etmv4/packet.h"

/* Bits of an address packet's form, by type. */
enum {
    TW_ETMV4_FORM_IS1 = 1,
    TW_ETMV4_FORM_64 = 2,
    TW_ETMV4_FORM_CONTEXT = 4,
    TW_ETMV4_FORM_LONG = 8,
    TW_ETMV4_FORM_SHORT = 16
};
extern const uint8_t tw_etmv4_forms[TW_ETMV4_TYPES];

void tw_etmv4_read_resync(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_extension(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_trace_info(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_timestamp(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_exception(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                             struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_instrumentation(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                   struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_2(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cycles_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_commit(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cancel_1(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_mispredict(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                              struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cancel_3(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                            struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_number(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                          struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cond_instruction(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                                    struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_cond_result(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                               struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_context(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                           struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_match(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_short(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                         struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_long(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                        struct tw_etmv4_packet *out, uint8_t head);
void tw_etmv4_read_q(struct tw_etmv4_reader *reader, struct tw_bytes *in,
                     struct tw_etmv4_packet *out, uint8_t head);

#endif
