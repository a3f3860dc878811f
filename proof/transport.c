/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: where packets of E-Trace begin and end, in every encapsulation.  Any bytes of every size up to more
   than the longest packet has: a packet has a byte at least and no more than there are, and its payload lies in it.
   Sources of 0, 7 and 16 bits, types of 0, 2 and 8, timestamps of 0 and 8 bytes. */
#include "etrace/transport.c"

#include "proof/reader.h"

/* Header, timestamp of 8 bytes, source of 16 bits and 31 bytes: 42. */
enum { LONGEST = 44 };

static struct tw_etrace_transport transport;
static struct tw_payload payload;

/* The header says in one bit whether there is a timestamp: where the payload lies follows from that. */
static void read_any(unsigned size, bool is_set)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    const uint8_t bit = transport.encapsulation == TW_ETRACE_ENCAP_ATB ? 0x20 : 0x80;
    uint8_t *head = transport.encapsulation == TW_ETRACE_ENCAP_PULP && size >= TW_ETRACE_RECORD
                        ? data + TW_ETRACE_RECORD - 1
                        : data;
    struct tw_etrace_frame frame;

    *head = is_set ? any_u8(255) | bit : any_u8(255) & (uint8_t)~bit;
    if (tw_etrace_frame_read(&transport, &frame, data, size) != TW_OK)
        return;
    //@ assert 1 <= frame.size <= size;
    if (frame.kind > TW_ETRACE_FRAME_DATA)
        return;
    //@ assert 1 <= frame.payload_size;
    //@ assert frame.header_size + frame.payload_size <= size;
    tw_etrace_frame_payload(&payload, &frame, data, size);
}

static void prove_sizes(void)
{
    transport.is_data = any_bool();
    transport.has_srcid = any_bool();
    transport.srcid = (uint16_t)Frama_C_interval(0, UINT16_MAX);
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++)
        //@ loop unroll 2;
        for (unsigned stamp = 0; stamp < 2; stamp++) {
            read_any(size, stamp);
            //@ slevel merge;
            FORGET;
        }
}

static void prove_widths(uint8_t encapsulation)
{
    static const uint8_t sources[] = { 0, 7, 16 }, types[] = { 0, 2, 8 }, stamps[] = { 0, 8 };
    const bool has_type =
        encapsulation == TW_ETRACE_ENCAP_RISCV || encapsulation == TW_ETRACE_ENCAP_SMI;
    const bool has_source = has_type || encapsulation == TW_ETRACE_ENCAP_SIEMENS;

    transport.encapsulation = encapsulation;
    //@ loop unroll 3;
    for (unsigned i = 0; i < (has_source ? 3 : 1); i++)
        //@ loop unroll 3;
        for (unsigned k = 0; k < (has_type ? 3 : 1); k++)
            //@ loop unroll 2;
            for (unsigned n = 0; n < 2; n++) {
                transport.srcid_bits = sources[i];
                transport.type_bits = types[k];
                transport.timestamp_bytes = stamps[n];
                prove_sizes();
            }
}

int main(void)
{
    prove_widths(TW_ETRACE_ENCAP_RISCV);
    prove_widths(TW_ETRACE_ENCAP_SMI);
    prove_widths(TW_ETRACE_ENCAP_ATB);
    prove_widths(TW_ETRACE_ENCAP_LEN5_TYPE2);
    prove_widths(TW_ETRACE_ENCAP_ESP32);
    prove_widths(TW_ETRACE_ENCAP_SIEMENS);
    prove_widths(TW_ETRACE_ENCAP_PULP);
    return 0;
}
