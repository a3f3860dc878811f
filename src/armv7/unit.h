/* SPDX-License-Identifier: BSD-2-Clause */
/* What the models of the trace units of ETMv3 and PTM share: what they know of the program, what they told of it, and
   the bytes that they made. */
#ifndef ARMV7_UNIT_H
#define ARMV7_UNIT_H

#include <trackway/log.h>

#include "base/compiler.h"
#include "base/memory.h"
#include "path/follow.h"

enum { TW_ARMV7_UNIT_CODES = 512 /* instructions that are kept classified */ };

struct tw_armv7_unit {
    const struct tw_allocator *allocator;
    struct tw_isa_options isa;
    uint8_t *bytes;
    size_t size, room;
    size_t synced_at; /* bytes made since the last A-sync: size less this */
    uint32_t sync_bytes;

    bool has_begun;  /* an A-sync was made */
    bool is_tracing; /* an I-sync told where we are */
    uint8_t reason;  /* of the next I-sync */
    uint32_t next;   /* the instruction that comes next if nothing happens ... */
    uint8_t next_isa;
    bool is_waiting; /* the last one is a taken branch whose packet needs its target */
    bool is_exception_return;

    struct tw_step_context context;
    bool has_hyp, has_vmid;
    uint8_t context_bytes;
    bool told_ns, told_hyp;
    uint32_t told_context_id, told_vmid;
    bool is_settled; /* all of these were told */

    struct {
        uint32_t address, opcode;
        uint8_t isa;
        struct tw_instruction what;
    } codes[TW_ARMV7_UNIT_CODES];
};

/* The same code is executed over and over. */
void tw_armv7_unit_classify(struct tw_armv7_unit *unit, size_t slot,
                            const struct tw_retired *from);
TW_INLINE const struct tw_instruction *tw_armv7_unit_look(struct tw_armv7_unit *unit,
                                                          const struct tw_retired *from)
{
    const uint32_t address = (uint32_t)from->address;
    const size_t slot = (address >> 1 ^ address >> 10) % TW_ARMV7_UNIT_CODES;

    if (unit->codes[slot].address != address || unit->codes[slot].opcode != from->opcode ||
        unit->codes[slot].isa != from->isa)
        tw_armv7_unit_classify(unit, slot, from);
    return &unit->codes[slot].what;
}

/* Whether such a processor can have an instruction there. */
TW_INLINE bool tw_armv7_unit_can_be_at(uint64_t address, uint8_t isa)
{
    return (isa == TW_ISA_A32 || isa == TW_ISA_T32) && address <= UINT32_MAX &&
           !(address & (isa == TW_ISA_A32 ? 3 : 1));
}

/* Of a straight run the last one says it for all: what is before it lies lower, and is aligned as it is. */
TW_INLINE bool tw_armv7_unit_takes(const struct tw_retired *from)
{
    return tw_armv7_unit_can_be_at(from->address, from->isa);
}

/* A run of no more instructions than this, all of which were executed, and that a return from an exception or a branch
   to the other instruction set does not end: kinds and targets say all. */
TW_INLINE bool tw_armv7_unit_is_short(const struct tw_retired_run *run, uint32_t most)
{
    const uint32_t t32_blx = 0xf000c000, t32_blx_bits = 0xf800d001, a32_blx = 0x7d;
    const struct tw_retired *last;

    if (run->count - 1 >= most || run->repeats ||
        (run->count > 1 && !(run->flags & TW_RETIRED_EXECUTED)) ||
        run->flags & TW_RETIRED_EXCEPTION_RETURN)
        return false;
    last = &run->instructions[run->count - 1];
    return tw_armv7_unit_takes(last) &&
           (last->kind != TW_RETIRED_BRANCH ||
            (run->target &&
             (last->isa == TW_ISA_A32 ? last->opcode >> 25 != a32_blx
                                      : (last->opcode & t32_blx_bits) != t32_blx)));
}

/* It goes on here, and nothing of its state is to be told. */
TW_INLINE bool tw_armv7_unit_goes_on(const struct tw_armv7_unit *unit,
                                     const struct tw_retired *from)
{
    return unit->is_tracing && !unit->is_waiting && unit->is_settled &&
           unit->next == from->address && unit->next_isa == from->isa;
}

TW_INLINE bool tw_armv7_unit_is_ns(const struct tw_armv7_unit *unit)
{
    return unit->context.security != TW_SECURE;
}

TW_INLINE bool tw_armv7_unit_is_hyp(const struct tw_armv7_unit *unit)
{
    return unit->context.el == 2 && unit->has_hyp;
}

/* As much of the context ID as is traced. */
TW_INLINE uint32_t tw_armv7_unit_context_id(const struct tw_armv7_unit *unit)
{
    return unit->context_bytes == 4
               ? unit->context.context_id
               : unit->context.context_id & ((1u << 8 * unit->context_bytes) - 1);
}

/* Security state and mode are those that were told; and what is told by packets of its own. */
bool tw_armv7_unit_knows_state(const struct tw_armv7_unit *unit);
bool tw_armv7_unit_knows_context(const struct tw_armv7_unit *unit);
bool tw_armv7_unit_knows_vmid(const struct tw_armv7_unit *unit);
/* After any of these may have been told. */
void tw_armv7_unit_settle(struct tw_armv7_unit *unit);

/* Bytes until synchronization is due; 0: it is. */
TW_INLINE size_t tw_armv7_unit_before_sync(const struct tw_armv7_unit *unit)
{
    const size_t made = unit->size - unit->synced_at;

    if (!unit->sync_bytes)
        return SIZE_MAX;
    return made < unit->sync_bytes ? unit->sync_bytes - made : 0;
}

/* Room for so many bytes more; false: there is no memory. */
TW_INLINE bool tw_armv7_unit_has_room(struct tw_armv7_unit *unit, size_t count)
{
    return TW_LIKELY(unit->room - unit->size >= count) ||
           TW_GROW(unit->allocator, &unit->bytes, &unit->room, unit->size + count);
}

/* What runs of instructions change while they pass: kept in registers. */
struct tw_armv7_flow {
    uint8_t *at;   /* the next byte goes here */
    uint32_t next; /* this and the others: as in the unit */
    uint8_t next_isa;
    bool is_waiting;
};

/* *end: how far bytes may go before there is no room, or an A-sync is due.  False: there is no memory. */
TW_INLINE bool tw_armv7_flow_begin(struct tw_armv7_unit *unit, struct tw_armv7_flow *flow,
                                   const uint8_t **end, size_t least)
{
    size_t room;

    if (!tw_armv7_unit_has_room(unit, least))
        return false;
    room = unit->room - unit->size;
    if (tw_armv7_unit_before_sync(unit) < room)
        room = tw_armv7_unit_before_sync(unit);
    *flow = (struct tw_armv7_flow){ .at = unit->bytes + unit->size,
                                    .next = unit->next,
                                    .next_isa = unit->next_isa,
                                    .is_waiting = unit->is_waiting };
    *end = flow->at + room;
    return true;
}

/* Back to the unit; how many bytes were made. */
TW_INLINE size_t tw_armv7_flow_end(struct tw_armv7_unit *unit, const struct tw_armv7_flow *flow)
{
    const size_t made = (size_t)(flow->at - unit->bytes) - unit->size;

    unit->size += made;
    unit->next = flow->next;
    unit->next_isa = flow->next_isa;
    unit->is_waiting = flow->is_waiting;
    unit->is_exception_return = false;
    return made;
}

/* The bytes were taken. */
void tw_armv7_unit_take(struct tw_armv7_unit *unit);

#endif
