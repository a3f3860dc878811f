/* SPDX-License-Identifier: BSD-2-Clause */
/* What an instruction does to the flow of control: A64, A32, T32, RISC-V. */
#ifndef TW_ISA_ISA_H
#define TW_ISA_ISA_H

#include <stdbool.h>
#include <stdint.h>

#include <trackway/types.h>

/* The kind of an instruction: the "lt" of a range that ends with it. */
enum tw_flow_kind {
    TW_FLOW_OTHER = TW_LAST_OTHER,
    TW_FLOW_BRANCH = TW_LAST_BR, /* direct: the target stands in the opcode */
    TW_FLOW_INDIRECT = TW_LAST_IBR,
    TW_FLOW_ISB = TW_LAST_ISB,
    TW_FLOW_DSB_DMB = TW_LAST_DSB_DMB,
    TW_FLOW_WFX = TW_LAST_WFI_WFE,
    TW_FLOW_TSTART = TW_LAST_TSTART
};

/* What the core and the trace unit's configuration make of instructions; all zero is an ETMv4 of
   an A-profile core that traces branches and ISB only. */
struct tw_isa_options {
    uint8_t profile;          /* enum tw_profile; A also for a core that is not known */
    uint8_t arch;             /* 7, 8, 9; 0 when not known.  No answer depends on it so far: encodings
                                 are undefined, never other instructions, where they are missing */
    bool wfx_is_p0;           /* TRCIDR2.WFXMODE: WFI and WFE are waypoints ... */
    bool wfet_wfit_is_p0;     /* ... and, with it, WFET and WFIT too */
    bool tstart_is_p0;        /* ETE */
    bool dsb_dmb_is_waypoint; /* PTM, ETMCCER bit 24 */
    bool load_is_p0;          /* TRCCONFIGR.INSTP0 bit 0, A32 and T32 only */
    bool store_is_p0;         /* TRCCONFIGR.INSTP0 bit 1 */
};

/* The answer.  `kind` and `sub` are what a range ending here shows: barriers, WFx and TSTART that the
   options do not make waypoints are TW_FLOW_OTHER. */
struct tw_instruction {
    uint64_t target;    /* of a direct branch when taken; else 0 */
    uint8_t size;       /* in bytes */
    uint8_t kind;       /* enum tw_flow_kind */
    uint8_t sub;        /* enum tw_last_sub */
    uint8_t target_isa; /* enum tw_isa; of a direct branch when taken, else the current one */
    bool is_waypoint;   /* ends a range: P0 for ETMv4 and ETE, waypoint for PTM */
    bool is_conditional;
    bool is_link;
    bool is_return; /* by name or by habit (BX lr, POP {pc}) */
    bool is_exception_return;
    uint8_t it_remaining; /* T32: conditions of an IT block still open after this instruction when flow
                             goes on in sequence; a taken branch or an exception closes the block */
};

void tw_a64_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options);

void tw_a32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options);

/* Bytes of the T32 instruction that begins with this halfword: 2 or 4. */
uint8_t tw_t32_size(uint16_t first_halfword);

/* `opcode` is the halfword itself for a 2-byte instruction; for a 4-byte one the first halfword is in
   bits 31:16 and the second in 15:0.  `it_open` is how many conditions of an IT block are open before
   this instruction: the `it_remaining` of the one before it, 0 at any new address. */
void tw_t32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address, uint8_t it_open,
                     const struct tw_isa_options *options);

#endif
