/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of an executed range beside its element: its functions, and how its last instruction
   leaves it.  Programs run in loops, so each is worked out once and kept. */
#ifndef ANALYSIS_FLOW_RANGE_H
#define ANALYSIS_FLOW_RANGE_H

#include <trackway/image.h>
#include <trackway/types.h>

#include "analysis/functions.h"

/* What a taken transfer does to a call stack, by its instruction. */
enum tw_transfer {
    TW_TRANSFER_NONE, /* goes on in sequence */
    TW_TRANSFER_JUMP, /* direct, no link */
    TW_TRANSFER_INDIRECT,
    TW_TRANSFER_CALL,
    TW_TRANSFER_RETURN,
    TW_TRANSFER_SWAP, /* RISC-V: a return, then a call */
    TW_TRANSFER_EXCEPTION_RETURN
};

/* Where a part's code is to be looked for.  Equal numbers of `map` mean equal code at equal
   addresses, with equal names. */
struct tw_code_place {
    uint32_t map;
    struct tw_image *image; /* NULL: instructions are classified by the element alone */
    struct tw_view view;
    /* The symbol that holds an address: name, size, file and the address that it has there, and from
       where up to where it lies in the target's memory; false: none does, from where up to where that is known to be so. */
    bool (*find)(void *context, struct tw_function *function, uint64_t *first, uint64_t *end,
                 uint64_t address);
    /* The functions that the code at an address was written in, as tw_symbols_frames has them, and the file
       that holds them (file, object, symbols); NULL: not known. */
    size_t (*frames)(void *context, struct tw_source_frame *frames, size_t room,
                     struct tw_function *about, uint64_t address);
    void *context;
};

/* Code without a symbol: which function that is depends on where control entered it. */
#define TW_FUNCTION_ANY UINT32_MAX

struct tw_flow_range {
    uint64_t start;
    uint32_t length;
    uint32_t map;
    uint32_t function;      /* of the first instruction; TW_FUNCTION_ANY: it has no symbol */
    uint32_t last_function; /* of the last one */
    int32_t leap;           /* a direct call: from its end to what it calls; 0: not known */
    uint8_t transfer;       /* enum tw_transfer of the last instruction, when taken */
    uint8_t last_size;
    bool is_entry : 1;          /* begins at the first address of its function */
    bool is_trap : 1;           /* its last instruction asks for the operating system: ecall */
    bool lacks_call_before : 1; /* no call stands before it: no frame of one returns here ... */
    bool knows_before : 1;      /* ... as far as that was looked up */
};

/* Code without symbols. */
struct tw_bare_code {
    uint64_t first, end, time;
    uint32_t map;
};

struct tw_flow_ranges {
    struct tw_flow_range *items; /* from 1 on */
    size_t count, room;
    uint32_t *slots; /* numbers by hash of the start, half of them free: 0 */
    size_t slot_room;
    unsigned slot_shift; /* of the hash: 64 less the bits of slot_room */
    struct tw_functions *functions;
    bool is_out;
    const struct tw_allocator *allocator;
    struct tw_bare_code bare; /* that was met last */
};

bool tw_flow_ranges_init(struct tw_flow_ranges *ranges, struct tw_functions *functions,
                         const struct tw_allocator *allocator) TW_MUST_USE;
void tw_flow_ranges_release(struct tw_flow_ranges *ranges);

/* Works out what is not there yet; NULL when memory is out. */
const struct tw_flow_range *tw_flow_ranges_make(struct tw_flow_ranges *ranges,
                                                const struct tw_element *range,
                                                const struct tw_code_place *place);

/* What stands before a range is looked up when it matters: where a jump through a register led there. */
void tw_flow_ranges_look_before(struct tw_flow_ranges *ranges,
                                const struct tw_flow_range *known,
                                const struct tw_element *range,
                                const struct tw_code_place *place);

/* The function at an address, or TW_FUNCTION_ANY, and from where up to where it lies. */
uint32_t tw_flow_ranges_function(struct tw_flow_ranges *ranges, uint64_t *first, uint64_t *end,
                                 uint64_t address, const struct tw_code_place *place);

static inline bool tw_flow_range_is(const struct tw_flow_range *known,
                                    const struct tw_element *range,
                                    const struct tw_code_place *place)
{
    return known->start == range->start && known->length == range->length &&
           known->map == place->map;
}

/* Where a range is looked for first. */
static inline size_t tw_flow_ranges_slot(const struct tw_flow_ranges *ranges, uint64_t start)
{
    return (size_t)(start * 0x9e3779b97f4a7c15u >> ranges->slot_shift);
}

/* What is known of a range; NULL when memory is out.  Valid until the next call.  Nearly all lie in their own slot or in the
   next one. */
static inline const struct tw_flow_range *tw_flow_ranges_of(struct tw_flow_ranges *ranges,
                                                            const struct tw_element *range,
                                                            const struct tw_code_place *place)
{
    const size_t slot = tw_flow_ranges_slot(ranges, range->start);
    const struct tw_flow_range *known = &ranges->items[ranges->slots[slot]];

    if (tw_flow_range_is(known, range, place))
        return known;
    known = &ranges->items[ranges->slots[(slot + 1) & (ranges->slot_room - 1)]];
    return tw_flow_range_is(known, range, place) ? known
                                                 : tw_flow_ranges_make(ranges, range, place);
}

#endif
