/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the packet reader of ETMv3, as proof/ptm.c has it for PTM. */
#include "etmv3/packet.h"

#include "proof/reader.h"

enum { LONGEST = TW_ETMV3_PACKET_MAX + 1, PLAIN = 22 };

static struct tw_etmv3_reader reader;

static void any_state(void)
{
    reader.setup.time_width = any_bool() ? 48 : 64;
    reader.setup.time_is_gray = any_bool();
    reader.offset = any_u64();
    reader.timestamp = any_u64();
    reader.address = any_u32();
    reader.data_address = any_u32();
    reader.address_valid = any_u8(32);
    reader.data_valid = any_u8(32);
    reader.isa = any_u8(255);
    reader.alt_isa = any_bool();
    reader.ns = any_bool();
    reader.hyp = any_bool();
    reader.is_big_endian = any_bool();
    reader.is_synced = true;
}

static void read_any(unsigned size, bool is_zero)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_etmv3_packet packet;
    enum tw_status status;

    any_state();
    data[0] = is_zero ? 0 : (uint8_t)Frama_C_interval(1, 255);
    status = tw_etmv3_read(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    //@ assert reader.address_valid <= 32;
    //@ assert reader.data_valid <= 32;
    if (status != TW_OK)
        return;
    //@ assert 1 <= packet.base.size <= size;
    //@ assert packet.base.size <= TW_ETMV3_PACKET_MAX;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, bool is_zero)
{
    read_any(size, is_zero);
    //@ slevel merge;
    FORGET;
}

/* Every packet is there; what else the configuration says is left open. */
static void prove_configuration(unsigned cycle_accurate)
{
    struct tw_etmv3_config config = { .size = sizeof config };

    config.etmcr = cycle_accurate << 12 | 3u << 14 | 3u << 2;
    config.etmidr = 5u << 4;
    config.profile = TW_PROFILE_M;
    tw_etmv3_reader_init(&reader, &config);
    reader.setup.minor = any_u8(15);
    reader.setup.profile = any_u8(3);
    reader.setup.alternative = any_bool();
    reader.setup.data_only = any_bool();
    reader.setup.data_value = any_bool();
    reader.setup.data_address = any_bool();
    reader.setup.context_bytes = any_bool() ? 4 : any_u8(2);
    //@ loop unroll PLAIN;
    for (unsigned size = 1; size <= PLAIN; size++)
        prove_read(size, false);
}

int main(void)
{
    prove_configuration(0);
    prove_configuration(1);
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++)
        prove_read(size, true);
    return 0;
}
