/* SPDX-License-Identifier: BSD-2-Clause */
/* What an instruction does to the flow of control, where the caller knows better than the
   library: instruction sets of its own, and instructions that a core adds.  Stable. */
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

#ifdef __cplusplus
}
#endif

#endif
