/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: how readers that are not in sync look for the first synchronization, in any bytes of every size up
   to LONGEST: nothing outside them is read.  How many bytes are passed over is enumerated (tests/every_input.h). */
#include "etmv3/packet.h"
#include "etmv4/packet.h"
#include "ntrace/packet.h"
#include "ptm/packet.h"

#include "proof/reader.h"

enum { LONGEST = 80 };

static struct tw_ptm_reader ptm;
static struct tw_etmv3_reader etmv3;
static struct tw_etmv4_reader etmv4;
static struct tw_ntrace_reader ntrace;

static void search(const uint8_t *data, unsigned size)
{
    struct tw_ptm_packet ptm_packet;
    struct tw_etmv3_packet etmv3_packet;
    struct tw_etmv4_packet etmv4_packet;
    struct tw_ntrace_packet ntrace_packet;
    enum tw_status status;

    ptm.is_synced = etmv3.is_synced = false;
    status = tw_ptm_read(&ptm, &ptm_packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    status = tw_etmv3_read(&etmv3, &etmv3_packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    etmv4.is_synced = any_bool(); /* data streams have nothing but A-sync that is read */
    etmv4.setup.is_data_stream = true;
    status = tw_etmv4_read(&etmv4, &etmv4_packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
    ntrace.is_lost = true;
    status = tw_ntrace_read(&ntrace, &ntrace_packet, data, size, any_bool());
    //@ assert status == TW_OK || status == TW_MORE;
}

int main(void)
{
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++) {
        uint8_t object[LONGEST];

        search(any_bytes(object, LONGEST, size), size);
        //@ slevel merge;
        FORGET;
    }
    return 0;
}
