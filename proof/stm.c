/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the packet reader of STM, as proof/ptm.c has it for PTM.  Packets are of nibbles: one
   takes a nibble at least, and the next may begin in the byte that it ends in.  Where bytes enough are there
   a table has what the first two nibbles mean; here every row of it reads every packet. */
#include "stm/packet.c"

#include "proof/reader.h"

enum { LONGEST = TW_STM_AHEAD + 2 };

static struct tw_stm_reader reader;

static void any_state(bool is_high)
{
    reader.offset = any_u64();
    reader.timestamp = any_u64();
    reader.master = (uint16_t)Frama_C_interval(0, 0xffff);
    reader.channel = (uint16_t)Frama_C_interval(0, 0xffff);
    reader.version = any_u8(255);
    reader.has_id = any_bool() ? TW_SW_HAS_ID : 0;
    reader.is_high = is_high;
    reader.is_synced = true;
}

static void read_any(unsigned size, bool is_high)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_stm_packet packet;
    enum tw_status status;

    any_state(is_high);
    status = tw_stm_read(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    if (status != TW_OK)
        return;
    if (size > TW_STM_AHEAD)
        return; /* by way of the table: which of its cases it was is not known here any more */
    //@ assert 1 <= packet.nibbles;
    //@ assert 1 <= packet.base.size <= size;
    //@ assert packet.base.size <= TW_STM_PACKET_MAX || packet.base.type == TW_STM_INCOMPLETE;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, bool is_high)
{
    read_any(size, is_high);
    //@ slevel merge;
    FORGET;
}

static void prove_quick(const struct tw_stm_rule *rule)
{
    const struct tw_stm_quick quick = make_quick(rule, 1);

    //@ loop unroll 256;
    for (unsigned i = 0; i < 256; i++)
        reader.quick[i] = quick;
    prove_read(TW_STM_AHEAD + 1, false);
    prove_read(TW_STM_AHEAD + 1, true);
    prove_read(TW_STM_AHEAD + 2, false);
}

int main(void)
{
    struct tw_stm_config config = { .size = sizeof config };

    tw_stm_reader_init(&reader, &config);
    //@ loop unroll TW_STM_AHEAD;
    for (unsigned size = 1; size <= TW_STM_AHEAD; size++) {
        prove_read(size, false);
        prove_read(size, true);
    }
    //@ loop unroll 64;
    for (unsigned row = 0; row < TW_LENGTH(tw_stm_rules); row++)
        prove_quick(&tw_stm_rules[row]);
    return 0;
}
