/* SPDX-License-Identifier: BSD-2-Clause */
/* What the decoders of ETMv3 and PTM share: the context, code that cannot be followed, and what an index
   and parallel decode ask for. */
#ifndef ARMV7_DECODE_H
#define ARMV7_DECODE_H

#include "path/follow.h"
#include "path/state.h"
#include "protocol.h"
#include "stage/stage.h"

/* What the last PE_CONTEXT said. */
struct tw_armv7_context {
    bool ns, hyp, has_context_id, has_vmid;
    uint32_t context_id, vmid;
};

/* TRACE_ON elements by the reason of an I-sync. */
extern const uint8_t tw_armv7_trace_on[4];

struct tw_element *tw_armv7_add_context(struct tw_stage *stage,
                                        const struct tw_armv7_context *context, uint8_t isa,
                                        uint64_t index);
/* Takes over security state and Hyp mode; true when they are new. */
bool tw_armv7_take_state(struct tw_stage *stage, struct tw_armv7_context *context, bool ns,
                         bool hyp);
void tw_armv7_add_no_sync(struct tw_stage *stage, uint8_t reason, uint64_t index);
struct tw_element *tw_armv7_add_time(struct tw_stage *stage, uint64_t time, bool freq_changed,
                                     uint64_t index);
void tw_armv7_context_state(struct tw_armv7_context *context, struct tw_state *state);

/* The program goes on there, unless that is code that cannot be followed. */
static inline void tw_armv7_jump(struct tw_stage *stage, uint32_t address, uint8_t isa,
                                 uint64_t index)
{
    if (isa == TW_ISA_A32 || isa == TW_ISA_T32) {
        tw_follow_jump(stage->follow, address, isa);
        return;
    }
    tw_follow_lose(stage->follow);
    stage->follow->isa = isa;
    tw_stage_add_error(stage, TW_ERROR_UNSUPPORTED, index, isa, 0);
}

/* Index: what an A-sync, an I-sync and a VMID packet note; bad packets forget the VMID, as the decoder
   does. */
unsigned tw_armv7_note_sync(const uint64_t *state, struct tw_index_note *notes, uint64_t time);
unsigned tw_armv7_note_isync(struct tw_index_note *notes, unsigned reason, uint32_t address,
                             bool has_context_id, uint32_t context_id);
void tw_armv7_note_vmid(uint64_t *state, uint32_t vmid);
void tw_armv7_forget_vmid(uint64_t *state);
/* What the words of an A-sync say. */
void tw_armv7_restore(struct tw_armv7_context *context, uint64_t *time, const uint64_t *words);

/* Parallel decode: cuts at an A-sync behind which `knows_all` finds a place; 0: there is none. */
bool tw_armv7_split(struct tw_split *split, const uint8_t *data, size_t size,
                    size_t (*knows_all)(void *context, const uint8_t *data, size_t size,
                                        size_t start),
                    void *context);

#endif
