/* SPDX-License-Identifier: BSD-2-Clause */
/* What an instruction does to the flow of control, for instruction sets that the library
   does not know: the caller tells.  Stable. */
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
};

/* Tells of the instruction of TW_ISA_CUSTOM at `address`, whose bytes are at `bytes`: `size` of
   them (at most TW_INSTRUCTION_MAX) are in memory.  *out is all zero before.  False: these bytes
   are no instruction, or not all of it.  The answer must always be the same: it is kept. */
typedef bool tw_classify_fn(void *context, struct tw_instruction_info *out, uint64_t address,
                            const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
