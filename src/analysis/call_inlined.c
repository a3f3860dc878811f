/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that were inlined, as frames: which instructions of a range are from which, worked out once for
   each range, and counted below the frame that executes them. */
#include <trackway/disassembly.h>

#include "analysis/call_stack.h"
#include "base/memory.h"

void tw_call_inlined_release(struct tw_call_machine *machine)
{
    tw_give(machine->allocator, machine->inlined.pieces);
    tw_give(machine->allocator, machine->inlined.by_range);
    machine->inlined.pieces = NULL;
    machine->inlined.by_range = NULL;
}

/* The functions that were inlined at an address, the outermost first. */
static void look(struct tw_call_machine *machine, struct tw_inlined_piece *piece,
                 const struct tw_code_place *place, uint64_t address)
{
    struct tw_source_frame frames[TW_INLINED_MOST + 1];
    struct tw_function about = { .kind = TW_FUNCTION_INLINED };
    size_t count = place->frames(place->context, frames, TW_INLINED_MOST + 1, &about, address);

    *piece = (struct tw_inlined_piece){ .count = 1 };
    count = count > TW_INLINED_MOST + 1 ? TW_INLINED_MOST + 1 : count;
    while (count-- > 1) { /* the last is the function itself */
        about.name = frames[count - 1].function;
        piece->functions[piece->depth++] = tw_functions_number(machine->functions, &about);
    }
}

static bool is_same(const struct tw_inlined_piece *a, const struct tw_inlined_piece *b)
{
    if (a->depth != b->depth)
        return false;
    for (size_t i = 0; i < a->depth; i++)
        if (a->functions[i] != b->functions[i])
            return false;
    return true;
}

static size_t size_at(const struct tw_element *range, const struct tw_code_place *place,
                      uint64_t address)
{
    uint8_t bytes[4] = { 0 };
    struct tw_code_bytes code = { .bytes = bytes, .address = address, .isa = range->isa };

    if (range->length == (uint64_t)range->count * 4)
        return 4;
    if (place->image)
        code.size = tw_image_read(place->image, bytes, &place->view, address, sizeof bytes);
    return tw_instruction_size(&code);
}

/* False: no memory. */
static bool make(struct tw_call_machine *machine, const struct tw_element *range,
                 const struct tw_code_place *place, struct tw_inlined_range *made)
{
    struct tw_call_inlined *inlined = &machine->inlined;
    uint64_t address = range->start;

    *made = (struct tw_inlined_range){ .first = (uint32_t)inlined->piece_count };
    for (uint32_t i = 0; i < range->count; i++) {
        struct tw_inlined_piece piece;
        const size_t size = size_at(range, place, address);

        look(machine, &piece, place, address);
        if (made->number && is_same(&inlined->pieces[inlined->piece_count - 1], &piece)) {
            inlined->pieces[inlined->piece_count - 1].count++;
        } else {
            if (!TW_GROW(machine->allocator, &inlined->pieces, &inlined->piece_room,
                         inlined->piece_count + 1))
                return false;
            inlined->pieces[inlined->piece_count++] = piece;
            made->number++;
        }
        address += size ? size : 2;
    }
    return true;
}

static const struct tw_inlined_range *range_of(struct tw_call_machine *machine,
                                               const struct tw_element *range,
                                               const struct tw_code_place *place, size_t number)
{
    struct tw_call_inlined *inlined = &machine->inlined;

    if (number >= inlined->range_count) {
        if (!TW_GROW(machine->allocator, &inlined->by_range, &inlined->range_room, number + 1))
            return NULL;
        for (; inlined->range_count <= number; inlined->range_count++)
            inlined->by_range[inlined->range_count] = (struct tw_inlined_range){ 0, 0 };
    }
    if (!inlined->by_range[number].number &&
        !make(machine, range, place, &inlined->by_range[number]))
        return NULL;
    return &inlined->by_range[number];
}

void tw_call_count_inlined(struct tw_call_machine *machine, struct tw_call_stack *stack,
                           const struct tw_element *range, const struct tw_code_place *place,
                           size_t number)
{
    const struct tw_inlined_range *found = range_of(machine, range, place, number);
    const struct tw_call_frame *top = &stack->frames[stack->count - 1];

    if (!found) {
        machine->is_out = true;
        return;
    }
    for (size_t i = 0; i < found->number; i++) {
        const struct tw_inlined_piece *piece = &machine->inlined.pieces[found->first + i];
        uint32_t node = top->node, from = top->function;

        for (size_t k = 0; k < piece->depth && stack->count < TW_INLINED_DEPTH; k++) {
            node =
                tw_call_tree_child(&stack->tree, node,
                                   tw_call_edges_number(&machine->edges, from,
                                                        piece->functions[k], TW_CALL_INLINED));
            from = piece->functions[k];
        }
        stack->tree.nodes[node].self += piece->count;
        machine->stats.instructions += piece->count;
        stack->instructions += piece->count;
    }
}
