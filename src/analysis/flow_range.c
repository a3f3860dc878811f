/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions and transfers of executed ranges, each worked out once. */
#include "analysis/flow_range.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "isa/isa.h"

enum {
    STRETCHES_MAX = 1 << 24,
    OPCODE_MAX = 4,
    FIRST_SLOT_BITS = 6,
    SLOT_GROWTH_BITS = 2,
    LEAP_MOST = INT32_MAX
};

/* The slot of a range, or the free one where it belongs. */
static uint32_t *find_slot(const struct tw_flow_ranges *ranges, const struct tw_element *range,
                           const struct tw_code_place *place)
{
    size_t at = tw_flow_ranges_slot(ranges, range->start);

    while (ranges->slots[at] &&
           !tw_flow_range_is(&ranges->items[ranges->slots[at]], range, place))
        at = (at + 1) & (ranges->slot_room - 1);
    return &ranges->slots[at];
}

static bool make_slots(struct tw_flow_ranges *ranges)
{
    const struct tw_flow_ranges before = *ranges;

    ranges->slot_room =
        before.slots ? before.slot_room << SLOT_GROWTH_BITS : (size_t)1 << FIRST_SLOT_BITS;
    ranges->slot_shift =
        before.slots ? before.slot_shift - SLOT_GROWTH_BITS : 64 - FIRST_SLOT_BITS;
    ranges->slots = tw_take(ranges->allocator, ranges->slot_room * sizeof *ranges->slots);
    if (!ranges->slots) {
        *ranges = before;
        return false;
    }
    for (uint32_t number = 1; number < ranges->count; number++) {
        const struct tw_flow_range *item = &ranges->items[number];
        const struct tw_element range = { .start = item->start, .length = item->length };
        const struct tw_code_place place = { .map = item->map };

        *find_slot(ranges, &range, &place) = number;
    }
    tw_give(ranges->allocator, before.slots);
    return true;
}

/* Room for one more. */
static bool grow_slots(struct tw_flow_ranges *ranges)
{
    return ranges->count < ranges->slot_room / 2 || make_slots(ranges);
}

bool tw_flow_ranges_init(struct tw_flow_ranges *ranges, struct tw_functions *functions,
                         const struct tw_allocator *allocator)
{
    *ranges = (struct tw_flow_ranges){ .functions = functions, .allocator = allocator };
    if (!TW_GROW(allocator, &ranges->items, &ranges->room, 1) || !grow_slots(ranges))
        return false;
    ranges->items[0] = (struct tw_flow_range){ .map = UINT32_MAX }; /* number 0 is none */
    ranges->count = 1;
    return true;
}

void tw_flow_ranges_release(struct tw_flow_ranges *ranges)
{
    tw_give(ranges->allocator, ranges->items);
    tw_give(ranges->allocator, ranges->slots);
    *ranges = (struct tw_flow_ranges){ 0 };
}

/* By what the element says alone. */
static enum tw_transfer transfer_of_element(const struct tw_element *range)
{
    if (range->last_kind != TW_LAST_BR && range->last_kind != TW_LAST_IBR)
        return TW_TRANSFER_NONE;
    switch (range->last_sub) {
    case TW_SUB_LINK:
        return TW_TRANSFER_CALL;
    case TW_SUB_V8_RET:
    case TW_SUB_V7_IMPLIED_RET:
    case TW_SUB_RET:
        return TW_TRANSFER_RETURN;
    case TW_SUB_V8_ERET:
    case TW_SUB_TRAP_RET:
        return TW_TRANSFER_EXCEPTION_RETURN;
    default:
        return range->last_kind == TW_LAST_BR ? TW_TRANSFER_JUMP : TW_TRANSFER_INDIRECT;
    }
}

static enum tw_transfer transfer_of_rv(const struct tw_rv_instruction *is)
{
    switch (is->itype) {
    case TW_RV_TRAP_RETURN:
        return TW_TRANSFER_EXCEPTION_RETURN;
    case TW_RV_CALL_UNINFERABLE:
    case TW_RV_CALL_INFERABLE:
        return TW_TRANSFER_CALL;
    case TW_RV_SWAP_COROUTINE:
        return TW_TRANSFER_SWAP;
    case TW_RV_RETURN:
        return TW_TRANSFER_RETURN;
    case TW_RV_JUMP_UNINFERABLE:
    case TW_RV_OTHER_UNINFERABLE:
        return TW_TRANSFER_INDIRECT;
    case TW_RV_NOTHING:
        return TW_TRANSFER_NONE;
    default:
        return TW_TRANSFER_JUMP;
    }
}

static enum tw_transfer transfer_of_arm(const struct tw_instruction *is)
{
    if (is->is_exception_return)
        return TW_TRANSFER_EXCEPTION_RETURN;
    if (is->is_link)
        return TW_TRANSFER_CALL;
    if (is->is_return)
        return TW_TRANSFER_RETURN;
    if (is->kind == TW_FLOW_BRANCH)
        return TW_TRANSFER_JUMP;
    return is->kind == TW_FLOW_INDIRECT ? TW_TRANSFER_INDIRECT : TW_TRANSFER_NONE;
}

/* What an instruction does by its opcode. */
struct code_flow {
    enum tw_transfer transfer;
    bool is_trap;
    uint64_t target; /* of a direct branch; or 0 */
};

static struct code_flow flow_of_code(const uint8_t *bytes, unsigned size, uint64_t address,
                                     uint8_t isa)
{
    /* The compressed table jumps reuse encodings of floating-point stores, which end no range. */
    const struct tw_rv_options rv_options = { .has_zcmp = true, .has_zcmt = true };
    const struct tw_isa_options options = { .arch = 0 };
    const uint32_t low = tw_load_le16(bytes), high = size == 4 ? tw_load_le16(bytes + 2) : 0;
    struct tw_rv_instruction rv;
    struct tw_instruction is;

    switch (isa) {
    case TW_ISA_RV32:
    case TW_ISA_RV64:
        tw_rv_classify(&rv, low | high << 16, address, isa, &rv_options);
        return (struct code_flow){ transfer_of_rv(&rv), rv.is_trapping, rv.flow.target };
    case TW_ISA_T32:
        tw_t32_classify(&is, size == 4 ? low << 16 | high : low, address, 0, &options);
        break;
    case TW_ISA_A32:
        tw_a32_classify(&is, low | high << 16, address, &options);
        break;
    default:
        tw_a64_classify(&is, low | high << 16, address, &options);
    }
    return (struct code_flow){ transfer_of_arm(&is), false, is.target };
}

/* The element's view is that of the decoder; what a call stack needs to know stands in the opcode
   where the two differ (co-routine swaps, ecall, 32-bit exception returns). */
static void look_at_last(struct tw_flow_range *made, const struct tw_element *range,
                         const struct tw_code_place *place)
{
    const uint64_t end = tw_element_end(range), address = end - made->last_size;
    const bool is_rv = range->isa == TW_ISA_RV32 || range->isa == TW_ISA_RV64;
    uint8_t bytes[OPCODE_MAX] = { 0 };
    struct code_flow flow;

    made->transfer = (uint8_t)transfer_of_element(range);
    if (!place->image || made->last_size > sizeof bytes ||
        (range->isa == TW_ISA_A64 &&
         !(made->transfer == TW_TRANSFER_CALL && range->last_kind == TW_LAST_BR)) ||
        (!is_rv && made->transfer == TW_TRANSFER_NONE) ||
        tw_image_read(place->image, bytes, &place->view, address, made->last_size) !=
            made->last_size)
        return;
    flow = flow_of_code(bytes, made->last_size, address, range->isa);
    if (range->isa != TW_ISA_A64) {
        made->transfer = (uint8_t)flow.transfer;
        made->is_trap = flow.is_trap;
    }
    if (flow.transfer == TW_TRANSFER_CALL && flow.target &&
        flow.target - end + LEAP_MOST <= 2 * (uint64_t)LEAP_MOST)
        made->leap = (int32_t)(int64_t)(flow.target - end);
}

/* Whether the instruction in front of a range is known and no call, whichever of the two sizes it has. */
static bool lacks_call_before(const struct tw_element *range, const struct tw_code_place *place)
{
    const bool has_short = range->isa != TW_ISA_A64 && range->isa != TW_ISA_A32;
    uint8_t bytes[OPCODE_MAX];

    if (!place->image)
        return false;
    for (unsigned size = has_short ? 2 : 4; size <= 4; size += 2) {
        const uint64_t address = range->start - size;
        enum tw_transfer transfer;

        if (tw_image_read(place->image, bytes, &place->view, address, size) != size)
            return false;
        transfer = flow_of_code(bytes, size, address, range->isa).transfer;
        if (transfer == TW_TRANSFER_CALL || transfer == TW_TRANSFER_SWAP)
            return false;
    }
    return true;
}

uint32_t tw_flow_ranges_function(struct tw_flow_ranges *ranges, uint64_t *first, uint64_t *end,
                                 uint64_t address, const struct tw_code_place *place)
{
    struct tw_function about = { .kind = TW_FUNCTION_SYMBOL };
    const bool is_bare = ranges->bare.map == place->map &&
                         ranges->bare.time == place->view.time &&
                         address >= ranges->bare.first && address < ranges->bare.end;

    *first = *end = address;
    if (!is_bare && place->find && place->find(place->context, &about, first, end, address))
        return tw_functions_number(ranges->functions, &about);
    if (!is_bare) {
        ranges->bare.map = place->map;
        ranges->bare.time = place->view.time;
        ranges->bare.first = *first;
        ranges->bare.end = *end;
    }
    *first = ranges->bare.first;
    *end = ranges->bare.end;
    return TW_FUNCTION_ANY;
}

static void fill(struct tw_flow_ranges *ranges, struct tw_flow_range *made,
                 const struct tw_element *range, const struct tw_code_place *place)
{
    const unsigned last_size = range->last_size ? (unsigned)range->last_size * 2 : 4;
    const uint64_t last = tw_element_end(range) - last_size;
    uint64_t first, end;

    *made = (struct tw_flow_range){ .start = range->start,
                                    .length = range->length,
                                    .map = place->map,
                                    .last_size = (uint8_t)last_size };
    made->function = tw_flow_ranges_function(ranges, &first, &end, range->start, place);
    made->is_entry = made->function != TW_FUNCTION_ANY && first == range->start;
    made->last_function = last < end && last >= range->start
                              ? made->function
                              : tw_flow_ranges_function(ranges, &first, &end, last, place);
    look_at_last(made, range, place);
}

void tw_flow_ranges_look_before(struct tw_flow_ranges *ranges,
                                const struct tw_flow_range *known,
                                const struct tw_element *range,
                                const struct tw_code_place *place)
{
    struct tw_flow_range *mine = &ranges->items[known - ranges->items];

    if (mine->knows_before)
        return;
    mine->lacks_call_before = lacks_call_before(range, place);
    mine->knows_before = true;
}

const struct tw_flow_range *tw_flow_ranges_make(struct tw_flow_ranges *ranges,
                                                const struct tw_element *range,
                                                const struct tw_code_place *place)
{
    uint32_t *slot = find_slot(ranges, range, place);
    const size_t slot_room = ranges->slot_room;

    if (*slot)
        return &ranges->items[*slot];
    if (ranges->count >= STRETCHES_MAX || !grow_slots(ranges) ||
        !TW_GROW(ranges->allocator, &ranges->items, &ranges->room, ranges->count + 1)) {
        ranges->is_out = true;
        return NULL;
    }
    if (ranges->slot_room != slot_room)
        slot = find_slot(ranges, range, place);
    *slot = (uint32_t)ranges->count++;
    fill(ranges, &ranges->items[*slot], range, place);
    return &ranges->items[*slot];
}
