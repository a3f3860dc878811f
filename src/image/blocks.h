/* SPDX-License-Identifier: BSD-2-Clause */
/* Basic blocks of the traced program, found once and then only followed: the stretch from an
   address to the next waypoint, with links to the blocks that come after it. */
#ifndef IMAGE_BLOCKS_H
#define IMAGE_BLOCKS_H

#include <trackway/image.h>

#include "base/compiler.h"
#include "base/map.h"
#include "isa/isa.h"

/* What a link or a position may be besides the index of a block. */
enum {
    TW_NEXT_UNKNOWN = 0,    /* not looked up yet */
    TW_NEXT_NEEDED = 1,     /* only an address in the trace can tell */
    TW_NEXT_SPECIAL = 2,    /* more happens here than going on: see tw_block_more */
    TW_NEXT_AT_ADDRESS = 3, /* position only: an address is known, its block not looked up */
    TW_BLOCK_FIRST = 4
};

/* Blocks that do not end in a waypoint carry this bit in their index, so that one comparison
   keeps them, and the values above, out of the fast path. */
#define TW_BLOCK_BROKEN 0x80000000u

TW_INLINE bool tw_block_is_plain(uint32_t position)
{
    return position - TW_BLOCK_FIRST < TW_BLOCK_BROKEN - TW_BLOCK_FIRST;
}

/* The hot half: the first 24 bytes are those of the range element, ready to copy. */
struct tw_block {
    uint64_t start;
    uint32_t length;
    uint32_t cycles; /* always 0 */
    uint32_t count;
    uint8_t type; /* TW_ELEMENT_INSTR_RANGE */
    uint8_t flags;
    uint8_t isa;
    uint8_t last;
    uint32_t next[2]; /* when the waypoint was not taken, and when it was */
};

enum tw_block_end {
    TW_BLOCK_WAYPOINT,
    TW_BLOCK_UNREADABLE, /* memory ends: the readable part, which may be empty */
    TW_BLOCK_RUNAWAY,    /* no waypoint within the limit */
    TW_BLOCK_NO_CODE     /* check_opcodes: the image holds no code here */
};

/* The cold half, used when a link is followed for the first time or something special happens. */
struct tw_block_more {
    uint64_t target; /* of a direct branch */
    uint32_t taken;  /* the block at the target, when next[1] is TW_NEXT_SPECIAL; or 0 */
    uint8_t end;     /* enum tw_block_end */
    uint8_t target_isa;
    uint8_t it_open;      /* T32: conditions open at the start ... */
    uint8_t it_remaining; /* ... and after the last instruction */
    bool is_link, is_return, is_exception_return, is_indirect;
    bool is_sequential; /* RISC-V: indirect, but the lui or auipc before it tells `target` */
    uint8_t transfers;  /* has_transfers: how many loads and stores it makes ... */
    uint8_t transfer_flags; /* ... and which: TW_TRANSFER_... */
};

/* Loads and stores of an instruction; the size of each in the low bits. */
enum {
    TW_TRANSFER_SIZE = 0x07,
    TW_TRANSFER_LOADS = 0x08,
    TW_TRANSFER_STORES = 0x10,
    TW_TRANSFER_COPROCESSOR = 0x20, /* registers of a coprocessor: there is no address */
    TW_TRANSFER_HAS_PC = 0x40
};

/* The last_* members of a range that ends with this instruction. */
static inline void tw_range_set_last(struct tw_element *range,
                                     const struct tw_instruction *instruction)
{
    range->last_kind = (unsigned)instruction->kind & 7u;
    range->last_sub = (unsigned)instruction->sub & 7u;
    range->last_size = (unsigned)instruction->size / 2 & 3u;
    range->flags = instruction->is_conditional ? TW_RANGE_CONDITIONAL : 0;
}

/* What a decoder wants of the code it follows. */
struct tw_code_config {
    struct tw_isa_options isa;
    struct tw_rv_options rv;
    uint32_t range_limit; /* instructions without a waypoint; 0: 1,048,576 */
    bool check_opcodes;
    bool links_are_special;             /* a return stack is kept */
    bool exception_returns_are_special; /* they make an element of their own */
    bool check_atoms;                   /* not taking an unconditional branch is an error */
    bool ignores_it;    /* T32: only what an encoding says itself makes it conditional */
    bool single_steps;  /* each instruction is a block of its own ... */
    bool has_transfers; /* ... and its loads and stores are wanted */
    const struct tw_allocator *allocator;
};

/* From an address to the block that starts there: open addressing, at most half full. */
struct tw_block_slot {
    uint32_t tag;   /* more bits of the hash */
    uint32_t index; /* as tw_blocks_find gives it; 0: free */
};

/* The blocks of one address space. */
struct tw_blocks {
    struct tw_block *blocks; /* from index TW_BLOCK_FIRST on */
    struct tw_block_more *more;
    struct tw_view view;
    struct tw_code *code;
    uint32_t count;
    size_t room, more_room;
    struct tw_block_slot *slots;
    size_t slot_room;
    unsigned slot_shift;       /* of the hash: 64 less the bits of slot_room */
    struct tw_map checkpoints; /* see blocks.c */
};

/* All address spaces of one image, as one decoder (or several of the same kind) see it. */
struct tw_code {
    struct tw_image *image; /* borrowed; may be NULL */
    struct tw_code_config config;
    struct tw_blocks **spaces;
    size_t space_count, space_room;
    uint64_t generation; /* of the image */
    uint64_t epoch;      /* moves on when blocks are thrown away: indices are void then */
    bool out_of_memory;  /* sticky: following stops */
};

enum tw_status tw_code_new(struct tw_code **code, struct tw_image *image,
                           const struct tw_code_config *config);
void tw_code_free(struct tw_code *code);

/* The blocks of an address space; NULL when memory is out. */
struct tw_blocks *tw_code_space(struct tw_code *code, const struct tw_view *view);

/* Throws all blocks away if the image has changed since. */
void tw_code_refresh(struct tw_code *code);

TW_INLINE uint64_t tw_blocks_hash(uint64_t address, uint8_t isa, uint8_t it_open)
{
    return (address ^ (uint64_t)isa << 56 ^ (uint64_t)it_open << 48) * 0x9e3779b97f4a7c15u;
}

/* Whether this slot is that of the block that starts at this address. */
TW_INLINE bool tw_blocks_match(const struct tw_blocks *blocks, const struct tw_block_slot *slot,
                               uint64_t address, uint8_t isa, uint8_t it_open)
{
    const uint32_t number = slot->index & ~TW_BLOCK_BROKEN;

    return slot->tag == (uint32_t)tw_blocks_hash(address, isa, it_open) &&
           blocks->blocks[number].start == address && blocks->blocks[number].isa == isa &&
           (isa != TW_ISA_T32 || blocks->more[number].it_open == it_open);
}

/* The block that starts at this address if it is where it is looked for first, else 0. */
TW_INLINE uint32_t tw_blocks_known(const struct tw_blocks *blocks, uint64_t address,
                                   uint8_t isa)
{
    const struct tw_block_slot *slot;

    if (TW_UNLIKELY(!blocks || !blocks->slot_room))
        return 0;
    slot = &blocks->slots[tw_blocks_hash(address, isa, 0) >> blocks->slot_shift];
    return slot->index && tw_blocks_match(blocks, slot, address, isa, 0) ? slot->index : 0;
}

/* The block that starts at this address, built if it is not there yet: its index, with
   TW_BLOCK_BROKEN where it has no waypoint.  0 when memory is out. */
uint32_t tw_blocks_find(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                        uint8_t it_open);

/* Follows a link that is TW_NEXT_UNKNOWN and remembers where it goes. */
uint32_t tw_blocks_link(struct tw_blocks *blocks, uint32_t block, unsigned taken);
/* The block at a direct branch's target, for links that are special. */
uint32_t tw_blocks_target(struct tw_blocks *blocks, uint32_t block);

/* The instruction at an address.  False: it is not accessible. */
bool tw_code_instruction(struct tw_blocks *blocks, struct tw_instruction *out, uint64_t address,
                         uint8_t isa, uint8_t it_open);
/* The same, with its opcode (as the classifiers of isa.h take it). */
bool tw_code_opcode(struct tw_blocks *blocks, uint32_t *opcode, uint8_t *size, uint64_t address,
                    uint8_t isa);

#endif
