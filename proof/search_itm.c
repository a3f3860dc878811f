/* SPDX-License-Identifier: BSD-2-Clause */
/* For Frama-C's Eva: proof/search.c for ITM. */
#include "itm/packet.c"

#include "proof/reader.h"

enum { LONGEST = 80 };

static struct tw_itm_reader reader;

int main(void)
{
    //@ loop unroll LONGEST;
    for (unsigned size = 1; size <= LONGEST; size++) {
        uint8_t object[LONGEST], *data = any_bytes(object, LONGEST, size);

        reader.is_synced = false;
        reader.is_in_zeros = any_bool();
        (void)before_sync(&reader, data, size, any_bool());
        //@ slevel merge;
        FORGET;
    }
    return 0;
}
