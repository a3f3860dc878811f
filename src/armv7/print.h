/* SPDX-License-Identifier: BSD-2-Clause */
/* Members that packets of ETMv3 and PTM both have.  They stand together in the table of each protocol, in
   the order given here: the functions take the number of the first. */
#ifndef ARMV7_PRINT_H
#define ARMV7_PRINT_H

#include "base/members.h"

/* An instruction address. */
enum {
    TW_ARMV7_ADDR,
    TW_ARMV7_ADDR_BITS,
    TW_ARMV7_ADDR_VALID,
    TW_ARMV7_ADDR_SIZE,
    TW_ARMV7_ADDRESS_MEMBERS
};
/* clang-format off */
#define TW_ARMV7_ADDRESS_ROWS(first)                                                           \
    [(first) + TW_ARMV7_ADDR] = TW_SHOWN("addr", HEX, " "),                                    \
    [(first) + TW_ARMV7_ADDR_BITS] = TW_LISTED("addr_bits", DECIMAL),                          \
    [(first) + TW_ARMV7_ADDR_VALID] = TW_LISTED("addr_valid", DECIMAL),                        \
    [(first) + TW_ARMV7_ADDR_SIZE] = TW_LISTED("addr_size", DECIMAL)
/* clang-format on */
void tw_armv7_put_addr(struct tw_members *out, unsigned first, uint32_t address, unsigned bits,
                       unsigned valid);
/* " (bits 12:0)" where not all of an address is known. */
void tw_armv7_put_known(struct tw_members *out, unsigned row, unsigned valid);

/* Security state, Hyp mode, instruction set. */
enum {
    TW_ARMV7_NS,
    TW_ARMV7_HYP,
    TW_ARMV7_ALT_ISA,
    TW_ARMV7_STATE,
    TW_ARMV7_HYP_WORD,
    TW_ARMV7_STATE_MEMBERS
};
/* clang-format off */
#define TW_ARMV7_STATE_ROWS(first)                                                             \
    [(first) + TW_ARMV7_NS] = TW_LISTED("ns", DECIMAL),                                        \
    [(first) + TW_ARMV7_HYP] = TW_LISTED("hyp", DECIMAL),                                      \
    [(first) + TW_ARMV7_ALT_ISA] = TW_LISTED("alt_isa", DECIMAL),                              \
    [(first) + TW_ARMV7_STATE] = TW_TOLD(NAME, " "),                                           \
    [(first) + TW_ARMV7_HYP_WORD] = TW_TOLD(FLAG, " Hyp")
/* clang-format on */
void tw_armv7_put_state(struct tw_members *out, unsigned first, bool ns, bool hyp,
                        bool alt_isa);

/* A timestamp as it was sent, and what it means. */
enum {
    TW_ARMV7_TS,
    TW_ARMV7_TS_BITS,
    TW_ARMV7_TIME,
    TW_ARMV7_TIME_WORDS,
    TW_ARMV7_FREQ_CHANGE,
    TW_ARMV7_TIME_MEMBERS
};
/* clang-format off */
#define TW_ARMV7_TIME_ROWS(first)                                                              \
    [(first) + TW_ARMV7_TS] = TW_LISTED("ts", HEX),                                            \
    [(first) + TW_ARMV7_TS_BITS] = TW_LISTED("ts_bits", DECIMAL),                              \
    [(first) + TW_ARMV7_TIME] = TW_LISTED("time", HEX),                                        \
    [(first) + TW_ARMV7_TIME_WORDS] = TW_TOLD(HEX, " "),                                       \
    [(first) + TW_ARMV7_FREQ_CHANGE] = TW_SHOWN("freq_change", FLAG, " clock changed")
/* clang-format on */
void tw_armv7_put_time_members(struct tw_members *out, unsigned first, uint64_t sent,
                               unsigned bits, uint64_t time, bool freq_changed);

/* Numbers that have packets of their own, and the header of a bad packet. */
enum {
    TW_ARMV7_CID,
    TW_ARMV7_VMID,
    TW_ARMV7_HEADER,
    TW_ARMV7_HEADER_WORDS,
    TW_ARMV7_NUMBER_MEMBERS
};
/* clang-format off */
#define TW_ARMV7_NUMBER_ROWS(first)                                                            \
    [(first) + TW_ARMV7_CID] = TW_SHOWN("cid", HEX, " "),                                      \
    [(first) + TW_ARMV7_VMID] = TW_SHOWN("vmid", HEX, " "),                                    \
    [(first) + TW_ARMV7_HEADER] = TW_LISTED("header", HEX),                                    \
    [(first) + TW_ARMV7_HEADER_WORDS] = TW_TOLD(TEXT, " header ")
/* clang-format on */
void tw_armv7_put_header(struct tw_members *out, unsigned first, uint32_t header);

#endif
