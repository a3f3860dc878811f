/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: every first byte with every kind of payload, at either half of a byte. */
#include "check.h"

#include "every_listing.h"

/* 21 nibbles F and a 0; VERSION 3 or 4, sent low half first. */
#define ASYNC "ff ff ff ff ff ff ff ff ff ff 0f "
#define ROW   .protocol = "stm"

int main(void)
{
    static struct every_setup setups[] = {
        { "version 3", ROW, .start = ASYNC "0f 30", .registers = "STMTCSR=0x100001" },
        { "version 4", ROW, .start = ASYNC "0f 40", .registers = "STMTCSR=0x100001" },
        /* The ASYNC and all behind it begin in the high half. */
        { "ASYNC at an odd nibble", ROW, .start = "f0 ff ff ff ff ff ff ff ff ff ff f0 00 03",
          .registers = "STMTCSR=0x100001" },
        { "with master and channel", ROW, .start = ASYNC "0f 30 21 43 13 22 ",
          .registers = "STMTCSR=0x100001" },
        { "without a version", ROW, .start = ASYNC, .registers = "STMTCSR=0x100001" },
    };

    return every_run(setups, LENGTH(setups));
}
