/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: every header with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

#define SYNC "0 0 0 0 0 80 "
#define ROW  .protocol = "itm"

int main(void)
{
    static struct every_setup setups[] = {
        { "plain", ROW, .start = SYNC, .registers = "ITMTCR=0x10000" },
        { "timestamps with a prescaler", ROW, .start = SYNC "01 aa c0 85 01",
          .registers = "ITMTCR=0x10312" },
        { "prescaler as SWO has it", ROW, .start = SYNC "70",
          .registers = "ITMTCR=0x10312 SCALE_AS_SWO=1" },
        { "page and global time", ROW, .start = SYNC "18 94 81 82 83 04 b4 01 02 03 04",
          .registers = "ITMTCR=0x10c03" },
        { "on an error: resume", ROW, .start = SYNC, .registers = "ITMTCR=0x10000 ON_ERROR=1" },
        { "on an error: wait", ROW, .start = SYNC, .registers = "ITMTCR=0x10000 ON_ERROR=2" },
        { "in sync from the start", ROW, .start = "",
          .registers = "ITMTCR=0x10000 ASSUME_SYNC=1" },
    };

    return every_run(setups, LENGTH(setups));
}
