/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the packet reader of ITM, as proof/ptm.c has it for PTM.  Every row of the rule table
   reads every header that it matches. */
#include "itm/packet.c"

#include "proof/reader.h"

/* No packet but a synchronization is longer than seven bytes, and to know that one is not cut takes six more. */
enum { LONGEST = TW_ITM_PACKET_MAX + 1, PLAIN = 16, SOME = 32 };

static struct tw_itm_reader reader;

static void any_state(void)
{
    reader.offset = any_u64();
    reader.is_synced = true;
    reader.is_start = false;
    reader.is_in_zeros = any_bool();
    reader.assumes = any_bool();
    reader.resumes = any_bool();
}

static void read_any(unsigned size, uint8_t head)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_itm_packet packet;
    enum tw_status status;

    any_state();
    data[0] = head;
    status = tw_itm_read(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    if (status != TW_OK)
        return;
    //@ assert 1 <= packet.base.size <= size;
    //@ assert packet.base.size <= TW_ITM_PACKET_MAX || packet.base.type == TW_ITM_PACKET_INCOMPLETE;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, uint8_t head)
{
    read_any(size, head);
    //@ slevel merge;
    FORGET;
}

static void prove_row(const struct tw_itm_rule *rule)
{
    const struct tw_itm_frequent frequent = frequent_of(rule, rule->match, 1);

    memset(reader.index, (int)(rule - tw_itm_rules), sizeof reader.index);
    //@ loop unroll 256;
    for (unsigned head = 0; head < 256; head++)
        reader.frequent[head] = frequent;
    //@ loop unroll PLAIN;
    for (unsigned size = 1; size <= PLAIN; size++)
        prove_read(size, (uint8_t)(rule->match | (any_u8(255) & ~rule->mask)));
}

int main(void)
{
    //@ loop unroll 32;
    for (unsigned row = 0; row < TW_LENGTH(tw_itm_rules); row++)
        prove_row(&tw_itm_rules[row]);
    /* Zeros: some, as many as are taken for one packet, one more, and one byte more than the longest packet. */
    memset(reader.index, 1, sizeof reader.index);
    //@ loop unroll SOME;
    for (unsigned size = PLAIN + 1; size <= SOME; size++)
        prove_read(size, 0);
    prove_read(TW_ITM_SYNC_ZEROS_MAX, 0);
    prove_read(TW_ITM_SYNC_ZEROS_MAX + 1, 0);
    prove_read(TW_ITM_SYNC_ZEROS_MAX + 2, 0);
    prove_read(LONGEST, 0);
    return 0;
}
