/* SPDX-License-Identifier: BSD-2-Clause */
/* What an instruction does to the flow of control: the library tells of the instruction sets that it knows,
   the caller where it knows better: sets of its own, and instructions that a core adds.  Stable. */
#ifndef TRACKWAY_INSTRUCTION_H
#define TRACKWAY_INSTRUCTION_H

#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TW_INSTRUCTION_MAX = 6 }; /* bytes of the longest */

/* All zero but `size`: an instruction that does nothing to the flow. */
struct tw_instruction_info {
    uint64_t target;     /* of a direct branch when taken */
    uint8_t size;        /* in bytes: 2, 4 or 6 */
    uint8_t kind;        /* enum tw_last_kind: BR goes to `target`, IBR where the trace says */
    uint8_t sub;         /* enum tw_last_sub */
    bool is_waypoint;    /* the trace says whether it was taken: a range ends here */
    bool is_conditional; /* it may also not be taken */
    bool is_link;        /* a call: what follows it is returned to */
    bool is_return;      /* goes back to behind a call */
    bool is_exception_return;
    uint8_t isa; /* enum tw_isa: before the call, of the instruction; after it, of `target` */
};

/* Tells of the instruction at `address`, whose bytes are at `bytes`: `size` of them (at most
   TW_INSTRUCTION_MAX) are in memory.  *out is all zero before, but for `isa`.  True with `size` left at
   0: as the library has it (not for TW_ISA_CUSTOM).  False: these bytes are no instruction, or not all
   of it.  The answer must always be the same: it is kept. */
typedef bool tw_classify_fn(void *context, struct tw_instruction_info *out, uint64_t address,
                            const uint8_t *bytes, size_t size);

/* An instruction of A64, A32, T32, RV32 or RV64, and what the core and its trace unit make of it. */
struct tw_instruction_query {
    size_t size; /* sizeof(struct tw_instruction_query) */
    uint64_t address;
    const uint8_t *bytes; /* as they lie in memory, the low byte first */
    size_t count;         /* of them that are there: 4 are always enough */
    uint8_t isa;          /* enum tw_isa */
    uint8_t profile;      /* enum tw_profile */
    uint8_t it_open; /* T32: conditions of an IT block that are open before the instruction */
    /* Instructions that are waypoints only if the trace unit says so. */
    bool wfx_is_waypoint, dsb_dmb_is_waypoint, tstart_is_waypoint;
};

struct tw_instruction_answer {
    size_t size;                     /* sizeof(struct tw_instruction_answer) */
    struct tw_instruction_info info; /* kinds that are no waypoint here are TW_LAST_OTHER */
    uint8_t target_isa;              /* enum tw_isa, of a direct branch when taken */
    uint8_t it_open;                 /* T32: conditions that are open after it in sequence */
};

/* Only answer->size is set before.  TW_E_ARGUMENT: the library does not know the instruction set, or
   not all of the instruction is there. */
TW_API TW_MUST_USE enum tw_status
tw_instruction_classify(struct tw_instruction_answer *answer,
                        const struct tw_instruction_query *query);

#ifdef __cplusplus
}
#endif

#endif
