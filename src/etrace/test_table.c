/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: every first byte with every kind of payload, in each encapsulation and layout. */
#include "check.h"

#include "etrace_used.h"
#include "every_listing.h"

/* addi; beq; jal ra; ret; ecall; c.beqz, c.jr ra; j */
#define CODE                                                                                   \
    "13 00 00 00 63 04 00 00 ef 00 80 00 67 80 00 00 73 00 00 00 01 c1 82 80 6f f0 df fe"
#define WIDE                                                                                   \
    "iaddress_width_p=64\niaddress_lsb_p=1\nprivilege_width_p=2\nnocontext_p=0\n"              \
    "context_width_p=32\necause_width_p=5\n"
/* A synchronization packet (format 3, subformat 0), for address 0x8000 and context 0x1234. */
#define START_WIDE "73 1a 09 00 00 00 20"
#define ROW        .protocol = "etrace", .code = CODE, .used = etrace_used

int main(void)
{
    static struct every_setup setups[] = {
        { "2.0", ROW, .start = "47 " START_WIDE,
          .text = "layout=v2\nencapsulation=len5-type2\n" WIDE },
        { "2.0, all options", ROW, .start = "47 " START_WIDE,
          .text = "layout=v2\nencapsulation=len5-type2\nbpred_size_p=4\ncache_size_p=4\n"
                  "return_stack_size_p=4\ncall_counter_size_p=4\nf0s_width_p=1\n"
                  "implicit_return=1\nbranch_prediction=1\njump_target_cache=1\n" WIDE },
        { "2.0 of 32 bits, full addresses", ROW, .start = "43 73 00 20", .core = "RV32",
          .text = "layout=v2\nencapsulation=len5-type2\niaddress_width_p=32\niaddress_lsb_p=1\n"
                  "privilege_width_p=2\nnocontext_p=1\nfull_address=1\n" },
        { "draft of 2020", ROW, .start = "47 " START_WIDE,
          .text = "layout=seed\nencapsulation=len5-type2\n" WIDE },
        { "RISC-V encapsulation", ROW, .start = "00 00 08 ce 69 24 00 00 00 80 00",
          .text = "layout=v2\nencapsulation=riscv\nsrcid_bits=0\ntype_bits=2\n"
                  "timestamp_bytes=2\n" WIDE },
        { "ATB", ROW, .start = "07 " START_WIDE,
          .text = "layout=seed\nencapsulation=atb\ntimestamp_bytes=2\n" WIDE },
        { "SMI", ROW, .start = "08 00 " START_WIDE,
          .text = "layout=seed\nencapsulation=smi\n" WIDE },
        { "ESP32", ROW, .start = "0a 00 00 " START_WIDE,
          .text = "layout=v2\nencapsulation=esp32\n" WIDE },
        { "a buffer that wrapped", ROW, .start = "",
          .text = "layout=v2\nencapsulation=len5-type2\nstarts_inside=1\n" WIDE },
    };

    return every_run(setups, LENGTH(setups));
}
