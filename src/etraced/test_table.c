/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace data trace: every first byte with every kind of payload, under each configuration. */
#include "check.h"

#include "etrace_used.h"
#include "every_listing.h"

#define ROW .protocol = "etraced", .used = etrace_used

int main(void)
{
    static struct every_setup setups[] = {
        { "2.0, 32 bits", ROW, .start = "",
          .text =
              "layout=v2\nencapsulation=len5-type2\ndata_width_p=32\ndaddress_width_p=32\n" },
        { "2.0, 64 bits, split", ROW, .start = "",
          .text = "layout=v2\nencapsulation=len5-type2\ndata_width_p=64\ndaddress_width_p=64\n"
                  "lrid_width_p=4\n" },
        { "2.0, addresses alone", ROW, .start = "",
          .text = "layout=v2\nencapsulation=len5-type2\nno_data=1\n" },
        { "2.0, data alone", ROW, .start = "",
          .text = "layout=v2\nencapsulation=len5-type2\nno_address=1\n" },
        { "draft of 2020", ROW, .start = "",
          .text =
              "layout=seed\nencapsulation=len5-type2\ndata_width_p=64\ndaddress_width_p=64\n" },
        { "draft of 2020, split, full data", ROW, .start = "",
          .text = "layout=seed\nencapsulation=len5-type2\nlrid_width_p=3\nfull_data=1\n" },
    };

    return every_run(setups, LENGTH(setups));
}
