/* SPDX-License-Identifier: BSD-2-Clause */
/* Basic blocks of the traced program, found once and then only followed: the stretch from an
   address to the next waypoint, with links to the blocks that come after it. */
#ifndef IMAGE_BLOCKS_H
#define IMAGE_BLOCKS_H

#include <string.h>

#include <trackway/image.h>
#include <trackway/instruction.h>

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
    return (int32_t)position >= TW_BLOCK_FIRST;
}

/* What is written of a block: the range element but for its index, ready to copy.  Where its ways lead lies apart
   (tw_blocks.links): whoever follows the program waits for that alone, and that of eight blocks is a line of cache. */
struct tw_block {
    uint64_t start;
    uint32_t length;
    uint32_t cycles; /* always 0 */
    uint32_t count;
    uint8_t type; /* TW_ELEMENT_INSTR_RANGE */
    uint8_t flags;
    uint8_t isa;
    uint8_t last;
};

/* Where two members lie in eight bytes that are taken at once: the first 32 bits, and `flags` behind `count`. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
enum { TW_BLOCK_FIRST_BITS = 32, TW_BLOCK_FLAG_BITS = 16 };
#else
enum { TW_BLOCK_FIRST_BITS = 0, TW_BLOCK_FLAG_BITS = 40 };
#endif

/* The range of a block as an element. */
TW_INLINE void tw_block_range(struct tw_element *out, const struct tw_block *block,
                              uint64_t taken, uint64_t index)
{
    uint64_t tail;

    out->index = index;
    memcpy(&out->start, &block->start, 16);
    memcpy(&tail, &block->count, 8);
    tail |= taken << TW_BLOCK_FLAG_BITS; /* TW_RANGE_EXECUTED */
    memcpy(&out->count, &tail, 8);
}

/* A block like another, which has no start, length and count.  Written in pieces not smaller than those
   that tw_block_range reads, which is about to: else it would have to wait for all of them. */
TW_INLINE void tw_block_fill(struct tw_block *out, const struct tw_block *like, uint64_t start,
                             uint32_t length, uint32_t count)
{
    const uint64_t head[2] = { start, (uint64_t)length << TW_BLOCK_FIRST_BITS };
    uint64_t tail;

    memcpy(&out->start, head, 16);
    memcpy(&tail, &like->count, 8);
    tail |= (uint64_t)count << TW_BLOCK_FIRST_BITS;
    memcpy(&out->count, &tail, 8);
}

/* The block that comes next.  Both links are loaded and one is chosen, which is quicker than to choose an address where
   `taken` is known later than `block`. */
TW_INLINE uint32_t tw_block_next(const uint32_t *links, size_t block, uint64_t taken)
{
    const uint32_t straight = links[2 * block], jumped = links[2 * block + 1];

    return taken ? jumped : straight;
}

/* It ends with an indirect branch; with a call. */
TW_INLINE bool tw_block_is_indirect(const struct tw_block *block)
{
    struct tw_element shape;

    shape.last = block->last;
    return shape.last_kind == TW_LAST_IBR;
}

TW_INLINE bool tw_block_is_link(const struct tw_block *block)
{
    struct tw_element shape;

    shape.last = block->last;
    return shape.last_sub == TW_SUB_LINK;
}

enum tw_block_end {
    TW_BLOCK_WAYPOINT,
    TW_BLOCK_UNREADABLE, /* memory ends: the readable part, which may be empty */
    TW_BLOCK_RUNAWAY,    /* no waypoint within the limit */
    TW_BLOCK_NO_CODE     /* check_opcodes: the image holds no code here */
};

/* The cold half, used when a link is followed for the first time or something special happens.
   A capture's first visit to a block touches all of this: it is kept small. */
struct tw_block_more {
    uint64_t target;  /* of a direct branch */
    uint32_t taken;   /* the block at the target, when next[1] is TW_NEXT_SPECIAL; or 0 */
    uint32_t end : 2; /* enum tw_block_end */
    uint32_t target_isa : 4;
    uint32_t it_open : 3;      /* T32: conditions open at the start ... */
    uint32_t it_remaining : 3; /* ... and after the last instruction */
    uint32_t is_link : 1, is_return : 1, is_exception_return : 1, is_indirect : 1;
    uint32_t
        is_sequential : 1;  /* RISC-V: indirect, but the lui or auipc before tells `target` */
    uint32_t transfers : 6; /* has_transfers: how many loads and stores it makes ... */
    uint32_t transfer_flags : 7; /* ... and which: TW_TRANSFER_... */
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
    bool ignores_it;          /* T32: only what an encoding says itself makes it conditional */
    bool single_steps;        /* each instruction is a block of its own ... */
    bool has_transfers;       /* ... and its loads and stores are wanted */
    bool has_decides;         /* RISC-V: the trace tells of conditional branches alone */
    tw_classify_fn *classify; /* of the caller; or NULL */
    void *classify_context;
    uint32_t classify_isas; /* that it is asked of: bits 1 << enum tw_isa */
    const struct tw_allocator *allocator;
};

/* From an address to the block that starts there: open addressing, at most half full.  A slot is
   the block's index as tw_blocks_find gives it, with more bits of the hash in its free bits; 0: it
   is free. */
enum { TW_SLOT_NUMBER_BITS = 22, TW_BLOCKS_MAX = 1 << TW_SLOT_NUMBER_BITS };
#define TW_SLOT_TAG ((TW_BLOCK_BROKEN - 1) & ~(TW_BLOCKS_MAX - 1u))

/* Memory where the last block was, as long as the image is of this generation. */
struct tw_window {
    uint64_t generation;
    uint64_t low, size;
    const uint8_t *bytes; /* at low */
};

/* The blocks of one address space. */
struct tw_blocks {
    struct tw_block *blocks; /* from index TW_BLOCK_FIRST on */
    uint32_t *links;         /* by way, which is block * 2 + taken: the block that comes next */
    uint8_t *decides; /* by block, where config.has_decides: it ends in a conditional branch */
    struct tw_block_more *more;
    uint32_t *slots; /* slot_room of them */
    size_t slot_room;
    struct tw_code *code;
    unsigned slot_shift;   /* of the hash: 64 less the bits of slot_room */
    uint32_t count, limit; /* from so many blocks on there is no room for one more */
    size_t room;           /* of both halves */
    struct tw_window window;
    struct tw_view view;
    struct tw_map checkpoints; /* see build.c */
    uint32_t no_slots[2];      /* `slots` of a space without blocks */
    uint32_t number;           /* of the space, from 1 on */
    struct tw_sum_way *ways;   /* sums.h: of all blocks, where they are counted */
    size_t way_room;
    uint32_t *places; /* sums.h: bytes of ways, where they have some */
    size_t place_room;
    struct tw_step_sum *steps; /* sums.h: by block * TW_STEP_WORDS + word */
    size_t step_room;
    /* sums.h: of the code that steps lead through, where that is wanted */
    uint32_t *step_lengths;
    size_t length_room;
    struct tw_quiet_way *quiet; /* quiet.h: of all blocks, where some are left out */
    void *large;                /* blocks.c: where blocks, links, more and slots lie; or NULL */
};

/* What blocks of A64 have in common that end in instructions of one row (isa/row.h). */
struct tw_block_ending {
    struct tw_block block; /* without start, length and count */
    uint32_t links[2];
    struct tw_block_more more; /* without target */
    const struct tw_isa_row *row;
    bool is_waypoint, is_direct;
};
enum { TW_BLOCK_ENDINGS = 32 };

struct tw_isa_row;
struct tw_sums;
struct tw_quiet;

/* All address spaces of one image, as one decoder (or several of the same kind) see it. */
struct tw_code {
    struct tw_image *image; /* borrowed; may be NULL */
    struct tw_code_config config;
    struct tw_blocks **spaces;
    size_t space_count, space_room;
    struct tw_map space_by_view; /* hash to its number, or to the next free key */
    bool has_large;              /* a space took a large page */
    uint32_t simple_isas;        /* see build.h */
    uint64_t generation;         /* of the image */
    uint64_t epoch;         /* moves on when blocks are thrown away: indices are void then */
    bool out_of_memory;     /* sticky: following stops */
    struct tw_blocks spare; /* where there was no memory for a space: it has no blocks */
    struct tw_sums *sums;   /* what was counted; NULL: nothing is to be */
    struct tw_quiet *quiet; /* who is asked what may be left out; NULL: all is written */
    struct tw_block_ending endings[TW_BLOCK_ENDINGS]; /* build_a64.h: by the row's address */
    /* What spaces without blocks show for the indices that are none. */
    struct tw_block no_blocks[TW_BLOCK_FIRST];
    uint32_t no_links[2 * TW_BLOCK_FIRST];
    struct tw_block_more no_more[TW_BLOCK_FIRST];
};

enum tw_status tw_code_new(struct tw_code **code, struct tw_image *image,
                           const struct tw_code_config *config);
void tw_code_free(struct tw_code *code);

/* The blocks of an address space; code->spare, where none is ever found, when memory is out. */
struct tw_blocks *tw_code_space(struct tw_code *code, const struct tw_view *view);

/* Throws all blocks away if the image has changed since. */
void tw_code_refresh(struct tw_code *code);

/* Addresses wrap at 32 bits in all instruction sets but a few. */
TW_INLINE uint64_t tw_code_wrap(uint64_t address, uint8_t isa)
{
    return isa == TW_ISA_A64 || isa == TW_ISA_RV64 || isa == TW_ISA_CUSTOM
               ? address
               : address & UINT32_MAX;
}

TW_INLINE uint64_t tw_blocks_hash(uint64_t address, uint8_t isa, uint8_t it_open)
{
    return (address ^ (uint64_t)isa << 56 ^ (uint64_t)it_open << 48) * 0x9e3779b97f4a7c15u;
}

TW_INLINE uint32_t tw_slot_tag(uint64_t hash)
{
    return (uint32_t)hash & TW_SLOT_TAG;
}

/* Whether this slot is that of the block that starts at this address. */
TW_INLINE bool tw_blocks_match(const struct tw_blocks *blocks, uint32_t slot, uint64_t address,
                               uint8_t isa, uint8_t it_open)
{
    const uint32_t number = slot & (TW_BLOCKS_MAX - 1u);

    return (slot & TW_SLOT_TAG) == tw_slot_tag(tw_blocks_hash(address, isa, it_open)) &&
           blocks->blocks[number].start == address && blocks->blocks[number].isa == isa &&
           (isa != TW_ISA_T32 || blocks->more[number].it_open == it_open);
}

/* The block that starts at this address if there is one; else 0, and the free slot where it belongs. */
TW_INLINE uint32_t tw_blocks_probe(const struct tw_blocks *blocks, size_t *slot,
                                   uint64_t address, uint8_t isa, uint8_t it_open)
{
    size_t at = (size_t)(tw_blocks_hash(address, isa, it_open) >> blocks->slot_shift);

    while (blocks->slots[at]) {
        if (TW_LIKELY(tw_blocks_match(blocks, blocks->slots[at], address, isa, it_open)))
            return blocks->slots[at] & ~TW_SLOT_TAG;
        at = (at + 1) & (blocks->slot_room - 1);
    }
    *slot = at;
    return 0;
}

TW_INLINE uint32_t tw_blocks_known(const struct tw_blocks *blocks, uint64_t address,
                                   uint8_t isa, uint8_t it_open)
{
    size_t slot;

    return tw_blocks_probe(blocks, &slot, address, isa, it_open);
}

/* The block that starts at this address, built if it is not there yet: its index, with
   TW_BLOCK_BROKEN where it has no waypoint.  0 when memory is out. */
uint32_t tw_blocks_find(struct tw_blocks *blocks, uint64_t address, uint8_t isa,
                        uint8_t it_open);

/* Follows a link that is TW_NEXT_UNKNOWN and remembers where it goes. */
uint32_t tw_blocks_link(struct tw_blocks *blocks, uint32_t block, unsigned taken);
/* An array by block is to have so many items, the new ones zero; false: no memory. */
bool tw_blocks_grow(const struct tw_blocks *blocks, void **items, size_t *room, size_t wanted,
                    size_t size);
/* The block at a direct branch's target, for links that are special. */
uint32_t tw_blocks_target(struct tw_blocks *blocks, uint32_t block);

/* An instruction's place in its block: how many come before it, and where the one before it is (the
   block's start, if there is none).  False: no instruction of the block begins at `address`.  Quick
   however long the block is. */
struct tw_block_place {
    uint32_t count;
    uint64_t before;
};
bool tw_block_locate(struct tw_blocks *blocks, uint32_t number, uint64_t address,
                     struct tw_block_place *place);
/* The instruction at an address.  False: it is not accessible. */
bool tw_code_instruction(struct tw_blocks *blocks, struct tw_instruction *out, uint64_t address,
                         uint8_t isa, uint8_t it_open);
/* The same, with its opcode (as the classifiers of isa.h take it). */
bool tw_code_opcode(struct tw_blocks *blocks, uint32_t *opcode, uint8_t *size, uint64_t address,
                    uint8_t isa);

#endif
