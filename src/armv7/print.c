/* SPDX-License-Identifier: BSD-2-Clause */
/* Members that packets of ETMv3 and PTM both have. */
#include "armv7/print.h"

void tw_armv7_put_addr(struct tw_members *out, unsigned first, uint32_t address, unsigned bits,
                       unsigned valid)
{
    tw_put(out, first + TW_ARMV7_ADDR, address);
    tw_put(out, first + TW_ARMV7_ADDR_BITS, bits);
    tw_put(out, first + TW_ARMV7_ADDR_VALID, valid);
    tw_put(out, first + TW_ARMV7_ADDR_SIZE, 32);
}

void tw_armv7_put_known(struct tw_members *out, unsigned row, unsigned valid)
{
    if (valid < 32)
        tw_put_format(out, row, " (bits %u:0)", valid - 1u);
}

void tw_armv7_put_state(struct tw_members *out, unsigned first, bool ns, bool hyp, bool alt_isa)
{
    tw_put(out, first + TW_ARMV7_NS, ns);
    tw_put(out, first + TW_ARMV7_HYP, hyp);
    tw_put(out, first + TW_ARMV7_ALT_ISA, alt_isa);
    tw_put_text(out, first + TW_ARMV7_STATE, ns ? "NS" : "S");
    tw_put(out, first + TW_ARMV7_HYP_WORD, hyp);
}

void tw_armv7_put_time_members(struct tw_members *out, unsigned first, uint64_t sent,
                               unsigned bits, uint64_t time, bool freq_changed)
{
    tw_put(out, first + TW_ARMV7_TS, sent);
    tw_put(out, first + TW_ARMV7_TS_BITS, bits);
    if (time != sent)
        tw_put(out, first + TW_ARMV7_TIME, time);
    tw_put(out, first + TW_ARMV7_TIME_WORDS, time);
    tw_put(out, first + TW_ARMV7_FREQ_CHANGE, freq_changed);
}

void tw_armv7_put_header(struct tw_members *out, unsigned first, uint32_t header)
{
    tw_put(out, first + TW_ARMV7_HEADER, header);
    tw_put_format(out, first + TW_ARMV7_HEADER_WORDS, "0x%02x", (unsigned)header);
}
