/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the payloads of E-Trace's data packets, as proof/etrace.c has it for flow, their short way, and the
   histories that values are worked out from. */
#include "etraced/packet.h"

#include "proof/reader.h"

enum { WIDEST = 4 }; /* log2 of the bytes of an access */

static struct tw_etraced_shape shape;
static struct tw_etraced_history history;
static struct tw_payload payload;
static struct tw_etrace_packet packet;

/* As tw_etrace_config_check lets them be; log2 of the bytes of the widest access is `size_max`. */
static void any_shape(unsigned size_max)
{
    shape.is_seed = any_bool();
    shape.is_quirky = any_bool();
    shape.is_split = any_bool();
    shape.format = (uint8_t)Frama_C_interval(2, 3);
    shape.size = (uint8_t)Frama_C_interval(1, 3);
    shape.atomic_size = (uint8_t)Frama_C_interval(1, 3);
    shape.lrid = any_u8(32);
    shape.diff = (uint8_t)Frama_C_interval(1, 2);
    shape.csr_diff = any_u8(1);
    shape.csr_len = shape.csr_size = (uint8_t)Frama_C_interval(2, 3);
    shape.one_bit_is_difference = any_bool();
    shape.data_width = (uint8_t)(8u << size_max);
    shape.size_max = (uint8_t)size_max;
    shape.address_width = (uint8_t)Frama_C_interval(8, 64);
}

static void any_history(void)
{
    history.lost_address = any_u8(255);
    history.lost_data = any_u8(255);
    Frama_C_make_unknown((char *)history.address, sizeof history.address);
    Frama_C_make_unknown((char *)history.data, sizeof history.data);
    //@ loop unroll TW_ETRACED_REQUESTS;
    for (unsigned i = 0; i < TW_ETRACED_REQUESTS; i++) {
        history.requests[i].size = any_u8(WIDEST);
        history.requests[i].subtype = any_u8(7);
        history.requests[i].is_open = any_bool();
        history.requests[i].address = any_u64();
    }
}

/* What is open has a size that accesses may have, again. */
static void check_history(void)
{
    const unsigned number = (unsigned)Frama_C_interval(0, TW_ETRACED_REQUESTS - 1);

    //@ assert history.requests[number].size <= WIDEST;
}

/* As it is loaded, whatever its size: that nothing outside is loaded is shown with encapsulations. */
static void parse_any(void)
{
    Frama_C_make_unknown((char *)payload.bytes, sizeof payload.bytes);
    payload.size_bits = Frama_C_unsigned_int_interval(8, 8 * TW_PAYLOAD_MAX);
    payload.at = any_u8(7);
    if (tw_etraced_parse(&shape, any_u32(), &history, &packet, &payload) != TW_ERROR_NONE)
        return;
    //@ assert payload.at <= 8 * TW_PAYLOAD_FULL;
    //@ assert packet.data_size <= WIDEST;
    tw_etraced_resolve(&shape, &history, &packet);
    (void)tw_etraced_kind(&shape, &packet);
    check_history();
}

static void parse_short(unsigned size)
{
    uint8_t object[TW_PAYLOAD_WINDOW],
        *data = any_bytes(object, TW_PAYLOAD_WINDOW, TW_PAYLOAD_WINDOW);

    packet.has = 0;
    if (!tw_etraced_parse_access(&shape, any_u32(), &packet, data, size))
        return;
    //@ assert packet.data_size <= WIDEST;
    tw_etraced_resolve(&shape, &history, &packet);
    check_history();
}

int main(void)
{
    //@ loop unroll 5;
    for (unsigned size_max = 0; size_max <= WIDEST; size_max++) {
        any_shape(size_max);
        any_history();
        parse_any();
        //@ slevel merge;
        FORGET;
        //@ loop unroll TW_PAYLOAD_WINDOW;
        for (unsigned size = 1; size <= TW_PAYLOAD_WINDOW; size++) {
            parse_short(size);
            //@ slevel merge;
            FORGET;
        }
    }
    return 0;
}
