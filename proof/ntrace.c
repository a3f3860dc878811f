/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the careful packet reader of N-Trace, as proof/ptm.c has it for PTM: any bytes behind each
   TCODE, of every size up to LONGEST.  The short ways are held to it elsewhere (src/ntrace/test_short.c). */
#include "ntrace/packet.h"

#include "proof/reader.h"

enum { LONGEST = 10, FEW = 3 };

static struct tw_ntrace_reader reader;

static void any_state(void)
{
    reader.shape.src_bits = any_u8(TW_NTRACE_SRC_BITS_MAX);
    reader.shape.extension = any_u8(TW_NTRACE_EXTEND_48);
    reader.shape.address_bits = any_bool() ? 31 : 63;
    reader.shape.dialect = any_u8(2);
    reader.config.id = any_u8(0x7f);
    reader.is_lost = any_bool();
    reader.offset = any_u64();
}

static void read_any(unsigned size, unsigned tcode, unsigned mseo)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_ntrace_packet packet;
    enum tw_status status;

    any_state();
    data[0] = (uint8_t)(tcode << 2 | mseo);
    status = tw_ntrace_read_any(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    if (status != TW_OK)
        return;
    //@ assert 1 <= packet.base.size <= size;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, unsigned tcode, unsigned mseo)
{
    read_any(size, tcode, mseo);
    //@ slevel merge;
    FORGET;
}

int main(void)
{
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++)
        //@ loop unroll 64;
        for (unsigned tcode = 0; tcode < 64; tcode++)
            prove_read(size, tcode, TW_NTRACE_MSEO_MIDDLE);
    /* Of what does not begin a message no field is read. */
    //@ loop unroll FEW;
    for (unsigned size = 1; size <= FEW; size++)
        //@ loop unroll 64;
        for (unsigned tcode = 0; tcode < 64; tcode++)
            //@ loop unroll 4;
            for (unsigned mseo = 1; mseo < 4; mseo++)
                prove_read(size, tcode, mseo);
    return 0;
}
