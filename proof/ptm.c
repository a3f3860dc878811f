/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the packet reader of PTM.  From any state of a reader in sync any bytes, of any
   size up to a byte more than the longest packet, lead to a packet of one byte at least and no more
   than there are, or to the wish for more; and the state is again one of those. */
#include "ptm/packet.h"

#include "proof/reader.h"

enum { LONGEST = TW_PTM_PACKET_MAX + 1, PLAIN = 20 };

static struct tw_ptm_reader reader;

static void any_state(void)
{
    reader.setup.time_is_gray = any_bool();
    reader.offset = any_u64();
    reader.timestamp = any_u64();
    reader.address = any_u32();
    reader.address_valid = any_u8(32);
    reader.isa = any_u8(255);
    reader.alt_isa = any_bool();
    reader.ns = any_bool();
    reader.hyp = any_bool();
    reader.is_synced = true;
}

static void read_any(unsigned size, bool is_zero)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_ptm_packet packet;
    enum tw_status status;

    any_state();
    data[0] = is_zero ? 0 : (uint8_t)Frama_C_interval(1, 255);
    status = tw_ptm_read(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    //@ assert reader.address_valid <= 32;
    if (status != TW_OK)
        return;
    //@ assert 1 <= packet.base.size <= size;
    //@ assert packet.base.size <= TW_PTM_PACKET_MAX;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, bool is_zero)
{
    read_any(size, is_zero);
    //@ slevel merge;
    FORGET;
}

/* Of what the configuration says only this matters to the reader: cycle counts, the bytes of a context
   ID, the width of timestamps, and whether there are packets of version 1.1. */
static void prove_configuration(unsigned number)
{
    struct tw_ptm_config config = { .size = sizeof config };

    config.etmcr = (number & 1) << 12 | (number >> 1 & 3) << 14;
    config.etmccer = (number >> 3 & 1) << 29;
    config.etmidr = 0x300 | (number >> 4 & 1) << 4;
    tw_ptm_reader_init(&reader, &config);
    //@ loop unroll PLAIN;
    for (unsigned size = 1; size <= PLAIN; size++)
        prove_read(size, false);
}

int main(void)
{
    //@ loop unroll 32;
    for (unsigned number = 0; number < 32; number++)
        prove_configuration(number);
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++)
        prove_read(size, true);
    return 0;
}
