/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the payloads of E-Trace packets.  Fields of any width that a configuration may have, out
   of any bytes of every size that a payload may have: what is read lies within the payload as it is loaded. */
#include "etrace/packet.h"

#include "proof/reader.h"

static struct tw_etrace_shape shape;
static struct tw_payload payload;
static struct tw_etrace_packet packet;

/* As tw_etrace_config_check lets them be. */
static void any_shape(void)
{
    shape.is_seed = any_bool();
    shape.lsb = any_u8(2);
    shape.address_width = (uint8_t)Frama_C_interval(8, 64);
    shape.address_bits = (uint8_t)Frama_C_interval(6, 64);
    shape.privilege = any_u8(8);
    shape.time = any_u8(64);
    shape.context = any_u8(64);
    shape.ecause = any_u8(64);
    shape.subformat = any_u8(4);
    shape.irdepth = any_u8(31);
    shape.index = any_u8(15);
    shape.encoder_mode = any_u8(32);
    shape.ioptions = any_u8(TW_ETRACE_OPTION_BITS);
    shape.doptions = any_u8(TW_ETRACE_OPTION_BITS);
    shape.is_short = any_bool();
    shape.has_thaddr = any_bool();
    shape.has_data_options = any_bool();
    shape.tval_of_interrupts = any_bool();
    shape.never_notifies = any_bool();
    shape.compresses_addresses = any_bool();
}

static void prove_payload(unsigned size)
{
    uint8_t object[TW_PAYLOAD_MAX + 1], *data = any_bytes(object, TW_PAYLOAD_MAX + 1, size);
    const unsigned used = size < TW_PAYLOAD_MAX ? size : TW_PAYLOAD_MAX;
    enum tw_error_code error;

    any_shape();
    tw_payload_load(&payload, data, used, size);
    error = tw_etrace_parse(&shape, any_u32(), &packet, &payload);
    //@ assert payload.at <= 8 * TW_PAYLOAD_FULL;
    //@ assert error == TW_ERROR_NONE ==> packet.base.type < TW_ETRACE_TYPES;
    //@ slevel merge;
    FORGET;
}

int main(void)
{
    //@ loop unroll TW_PAYLOAD_MAX + 1;
    for (unsigned size = 1; size <= TW_PAYLOAD_MAX + 1; size++)
        prove_payload(size);
    return 0;
}
