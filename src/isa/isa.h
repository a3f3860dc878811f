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
    uint8_t profile; /* enum tw_profile; A also for a core that is not known */
    uint8_t arch;    /* 7, 8, 9; 0 when not known.  No answer depends on it so far: encodings
                                 are undefined, never other instructions, where they are missing */
    bool wfx_is_p0;  /* TRCIDR2.WFXMODE: WFI and WFE are waypoints ... */
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
    /* T32: conditions of an IT block still open after this instruction when flow goes on in
       sequence; a taken branch or an exception closes the block */
    uint8_t it_remaining;
};

/* Whether tw_a64_classify would have anything to say of the opcode: a branch or of the system (op0,
   bits 28:26, is 101). */
static inline bool tw_a64_is_of_interest(uint32_t opcode)
{
    return (opcode & 0x1c000000) == 0x14000000;
}

/* Of these: instructions of the system, and branches to a register; none of them has a distance. */
static inline bool tw_a64_is_system(uint32_t opcode)
{
    return opcode >> 29 == 6;
}

void tw_a64_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options);
/* The bits of a direct branch that tell how far it goes; 0: the opcode is none. */
uint32_t tw_a64_distance_bits(uint32_t opcode);

void tw_a32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     const struct tw_isa_options *options);

/* Bytes of the T32 instruction that begins with this halfword: 2 or 4. */
uint8_t tw_t32_size(uint16_t first_halfword);

/* `opcode` is the halfword itself for a 2-byte instruction; for a 4-byte one the first halfword is in
   bits 31:16 and the second in 15:0.  `it_open` is how many conditions of an IT block are open before
   this instruction: the `it_remaining` of the one before it, 0 at any new address. */
void tw_t32_classify(struct tw_instruction *out, uint32_t opcode, uint64_t address,
                     uint8_t it_open, const struct tw_isa_options *options);

/* RISC-V: what the hart has, and how the encoder counts calls; all zero is a hart without Zcmp and
   Zcmt whose link registers are x1 and x5. */
struct tw_rv_options {
    bool has_zcmp; /* these two reuse encodings of c.fsdsp */
    bool has_zcmt;
    bool x1_links_only; /* is_link and is_return as in the 2020 draft's decoder: x1 alone, and a
                           return needs rd = x0 */
    /* As N-Trace has them: a coroutine swap is a return and then a call; jalr from x0 does not tell
       its target. */
    bool swaps_link, jalr_is_indirect;
    uint64_t jvt_base; /* Zcmt: address of the jump vector table */
};

/* What an instruction does to memory or CSRs, with the codes of E-Trace's dtype. */
enum tw_rv_access {
    TW_RV_LOAD = 0,
    TW_RV_STORE = 1,
    TW_RV_CSR_RW = 4,
    TW_RV_CSR_RS = 5,
    TW_RV_CSR_RC = 6,
    TW_RV_SWAP = 8,
    TW_RV_ADD = 9,
    TW_RV_AND = 10,
    TW_RV_OR = 11,
    TW_RV_XOR = 12,
    TW_RV_MAX = 13,
    TW_RV_MIN = 14,
    TW_RV_STORE_CONDITIONAL = 15, /* a store, or a failure */
    TW_RV_NO_ACCESS = 255
};

/* E-Trace's 4-bit itype of a retired instruction; a branch is given as taken. */
enum tw_rv_itype {
    TW_RV_NOTHING = 0,
    TW_RV_TRAP_RETURN = 3,
    TW_RV_BRANCH_NOT_TAKEN = 4,
    TW_RV_BRANCH_TAKEN = 5,
    TW_RV_CALL_UNINFERABLE = 8,
    TW_RV_CALL_INFERABLE = 9,
    TW_RV_JUMP_UNINFERABLE = 10, /* without link: the draft's tail-call */
    TW_RV_JUMP_INFERABLE = 11,
    TW_RV_SWAP_COROUTINE = 12,
    TW_RV_RETURN = 13,
    TW_RV_OTHER_UNINFERABLE = 14,
    TW_RV_OTHER_INFERABLE = 15
};

/* All jumps, branches and trap returns are waypoints in `flow`, for each ends a straight run; whether
   the trace must tell where it goes is is_inferable.  ecall and ebreak are not waypoints. */
struct tw_rv_instruction {
    struct tw_instruction flow;
    uint8_t itype;  /* enum tw_rv_itype */
    bool is_branch; /* conditional */
    /* a jump whose target stands in the opcode, or in the jump vector table */
    bool is_inferable;
    bool is_uninferable; /* a jump or trap return whose target does not */
    bool is_trapping;    /* ecall, ebreak, c.ebreak */
    /* cm.jt, cm.jalt: flow.target is the XLEN-wide word at table_entry, bit 0 cleared, which the
       caller must read */
    bool is_table_jump;
    bool is_upper;       /* lui, c.lui, auipc: `value` goes to rd */
    uint8_t rd, rs1;     /* of jumps and of upper immediates */
    uint8_t access;      /* enum tw_rv_access */
    uint8_t access_size; /* log2 of its bytes */
    /* more than one for cm.push and cm.pop; 0 for a vector: it depends on vl */
    uint8_t access_count;
    uint16_t csr;   /* its number */
    int32_t offset; /* of an indirect jump */
    uint64_t value; /* of an upper immediate */
    uint64_t table_entry;
};

/* Bytes of the instruction that begins with this halfword: 2 or 4.  Longer encodings count as 4, for
   no standard extension has one. */
uint8_t tw_rv_size(uint16_t first_halfword);

/* `opcode`: the halfword itself for a 2-byte instruction.  `isa` is TW_ISA_RV32 or TW_ISA_RV64. */
void tw_rv_classify(struct tw_rv_instruction *out, uint32_t opcode, uint64_t address,
                    uint8_t isa, const struct tw_rv_options *options);

/* Whether it can be an upper immediate, for loops that have no time to classify: true of each one, and of c.addi16sp. */
static inline bool tw_rv_may_be_upper(uint32_t opcode)
{
    return (opcode & 0x5f) == 0x17 || (opcode & 0xe003) == 0x6001;
}

/* The target of an indirect jump whose register was loaded by the lui, c.lui or auipc that retired
   just before it ("sequentially inferable"); false when this pair is none. */
bool tw_rv_sequential_target(uint64_t *target, const struct tw_rv_instruction *jump,
                             const struct tw_rv_instruction *previous);

#endif
