/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: every first byte with every kind of payload, under each configuration. */
#include "check.h"

#include "every_listing.h"

/* addi; beq; jal ra; ret; ecall; c.beqz, c.jr ra; j */
#define CODE                                                                                   \
    "13 00 00 00 63 04 00 00 ef 00 80 00 67 80 00 00 73 00 00 00 01 c1 82 80 6f f0 df fe"
/* ProgTraceSync for address 0x8000. */
#define START "24 05 00 00 13"
#define ROW   .protocol = "ntrace", .code = CODE

int main(void)
{
    static struct every_setup setups[] = {
        { "BTM", ROW, .start = START, .text = "mode=btm\nxlen=64\n" },
        { "HTM", ROW, .start = START, .text = "mode=htm\nxlen=64\n" },
        { "32 bits, addresses extended", ROW, .start = START,
          .text = "mode=htm\nxlen=32\nextend_addr_msb=1\n" },
        { "timestamps", ROW, .start = "24 05 00 00 11 03",
          .text = "mode=btm\nxlen=64\ntimestamps=1\ntime_width=40\n" },
        { "all options", ROW, .start = START,
          .text = "mode=htm\nxlen=64\nimplicit_return_mode=2\nimplicit_return_depth=8\n"
                  "repeat_history=1\nrepeat_branch=1\nsequential_jump=1\nownership=1\n" },
        { "a buffer that wrapped", ROW, .start = "",
          .text = "mode=btm\nxlen=64\nstarts_inside=1\n" },
    };

    return every_run(setups, LENGTH(setups));
}
