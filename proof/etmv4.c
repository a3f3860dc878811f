/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: the packet reader of ETMv4 and ETE in sync.  The configuration decides which row of the
   rule table reads a header; here every row reads every header that it matches, whatever else is configured
   and from any state.  So nothing depends on which rows a configuration allows. */
#include "etmv4/packet.c"

#include "proof/reader.h"

/* Trace Info is the longest packet but for A-sync: header, five control bytes, and sections of 22. */
enum { LONGEST = TW_ETMV4_PACKET_MAX + 1, PLAIN = 30 };

static struct tw_etmv4_reader reader;

static void any_setup(struct tw_etmv4_setup *setup)
{
    setup->max_spec = any_u32();
    setup->version = any_u8(0x5f);
    setup->id = any_u8(0x7f);
    setup->profile = any_u8(3);
    setup->architecture = any_u8(255);
    setup->vmid_bytes = any_bool() ? 4 : any_u8(2);
    setup->cid_bytes = any_bool() ? 4 : 0;
    setup->commopt = any_bool();
    setup->is_ete = any_bool();
    setup->is_data_stream = false;
}

static void any_state(void)
{
    any_setup(&reader.setup);
    reader.offset = any_u64();
    reader.timestamp = any_u64();
    reader.threshold = any_u32();
    reader.has_trace_info = any_bool();
    reader.has_timestamp = any_bool();
    reader.sf = any_bool();
    reader.is_synced = true;
    //@ loop unroll TW_ETMV4_HISTORY;
    for (unsigned i = 0; i < TW_ETMV4_HISTORY; i++) {
        reader.history[i].address = any_u64();
        reader.history[i].sub_isa = any_u8(1);
        reader.history[i].bits = any_u8(64);
        reader.history[i].width = any_u8(64);
    }
}

/* One packet; `used`, if not NULL: by way of a batch. */
static void read_any(unsigned size, uint8_t head, size_t *used)
{
    uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);
    struct tw_etmv4_packet packet;
    enum tw_status status;

    any_state();
    data[0] = head;
    if (used)
        status = tw_etmv4_read_batch(&reader, &packet, 1, used, data, size) ? TW_OK : TW_MORE;
    else
        status = tw_etmv4_read(&reader, &packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    if (status != TW_OK)
        return;
    //@ assert 1 <= packet.base.size <= size;
    //@ assert packet.base.size <= TW_ETMV4_PACKET_MAX || packet.base.type == TW_ETMV4_INCOMPLETE_EOT;
}

/* What followed from one is of no interest to the next. */
static void prove_read(unsigned size, uint8_t head, size_t *used)
{
    read_any(size, head, used);
    //@ slevel merge;
    FORGET;
}

/* The row reads each header that it matches. */
static void prove_row(unsigned row)
{
    const uint8_t match = rules[row].match, open = (uint8_t)~rules[row].mask;
    const unsigned most = row == ROW_FIRST                ? LONGEST
                          : rules[row].read == read_atoms ? 2
                                                          : PLAIN;

    memset(reader.rule, (int)row, sizeof reader.rule);
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= most; size++)
        prove_read(size, (uint8_t)(match | (any_u8(255) & open)), NULL);
}

int main(void)
{
    size_t used;

    //@ loop unroll 128;
    for (unsigned row = 0; row < TW_LENGTH(rules); row++)
        prove_row(row);
    memset(reader.rule, ROW_RESERVED, sizeof reader.rule);
    //@ loop unroll 256;
    for (unsigned head = 0; head < 256; head++)
        prove_read(TW_ETMV4_FREQUENT_LONGEST, (uint8_t)head, &used);
    return 0;
}
