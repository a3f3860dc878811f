/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of executed instructions, with the program's code, to the blocks that a hart reports. */
#include "hart/hart.h"

#include <inttypes.h>

/* The word of a jump vector table. */
static bool read_target(struct tw_hart *hart, struct tw_rv_instruction *what)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    const size_t size = hart->isa == TW_ISA_RV32 ? 4 : 8;
    uint8_t bytes[8] = { 0 };
    uint64_t target = 0;

    if (tw_image_read(hart->options.image, bytes, &view, what->table_entry, size) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        target |= (uint64_t)bytes[i] << 8 * i;
    what->flow.target = target & ~(uint64_t)1;
    return true;
}

static const struct tw_rv_instruction *look(struct tw_hart *hart, uint64_t pc)
{
    const struct tw_view view = { .space = TW_SPACE_ANY };
    struct tw_hart_code *code = &hart->codes[pc >> 1 & (TW_HART_CODES - 1)];
    uint8_t bytes[4] = { 0 };
    uint32_t opcode;
    size_t size;

    if (code->address == pc + 1)
        return &code->what;
    if (!hart->options.image)
        return NULL;
    size = tw_image_read(hart->options.image, bytes, &view, pc, 4);
    opcode = bytes[0] | (uint32_t)bytes[1] << 8;
    if (size < tw_rv_size((uint16_t)opcode))
        return NULL;
    if ((opcode & 3) == 3)
        opcode |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    tw_rv_classify(&code->what, opcode, pc, hart->isa, &hart->rv);
    code->address = 0;
    code->opcode = opcode;
    if (code->what.is_table_jump && !read_target(hart, &code->what))
        return NULL;
    code->address = pc + 1;
    return &code->what;
}

uint8_t tw_hart_jump_type(const struct tw_hart *hart, const struct tw_rv_instruction *what)
{
    const bool is_inferable = what->is_inferable;

    if (hart->trace.itype_width == 3)
        return is_inferable ? TW_ETRACE_ITYPE_NONE : TW_ETRACE_ITYPE_UNINFERABLE;
    if (what->flow.is_link)
        return is_inferable ? TW_ETRACE_ITYPE_INFERABLE_CALL : TW_ETRACE_ITYPE_CALL;
    if (what->flow.is_return)
        return TW_ETRACE_ITYPE_RETURN;
    if (what->itype == TW_RV_CALL_UNINFERABLE || what->itype == TW_RV_RETURN) /* x1 only */
        return TW_ETRACE_ITYPE_OTHER;
    if (what->itype == TW_RV_CALL_INFERABLE)
        return TW_ETRACE_ITYPE_INFERABLE_OTHER;
    return what->itype;
}

static void close_block(struct tw_hart *hart)
{
    if (hart->open_count)
        tw_hart_queue(hart, &hart->open);
    hart->open_count = 0;
}

/* Adds the last instruction to the block at work. */
static void add_last(struct tw_hart *hart, uint8_t itype, bool is_sequential)
{
    const struct tw_rv_instruction *what = hart->last;
    const bool is_single = hart->trace.retires <= 1;

    if (hart->open_count == 0) {
        hart->open =
            (struct tw_etrace_block){ .iaddr = hart->last_pc, .priv = hart->last_priv };
        hart->open.time = hart->instructions;
    }
    hart->open.iretire += is_single ? 1u : what->flow.size / 2u;
    hart->open.ilastsize = what->flow.size == 4;
    hart->open.itype = itype;
    hart->open.sijump = is_sequential;
    hart->open_count++;
    hart->instructions++;
    if (!hart->keeps_open &&
        (itype || what->flow.is_waypoint || hart->open_count >= hart->trace.retires))
        close_block(hart);
    hart->before = *what;
    hart->has_before = true;
    hart->has_last = false;
}

enum tw_status tw_hart_leave(struct tw_hart *hart, uint64_t next)
{
    const struct tw_rv_instruction *what = hart->last;
    const uint64_t mask = hart->isa == TW_ISA_RV32 ? UINT32_MAX : UINT64_MAX;
    const uint64_t behind = (hart->last_pc + what->flow.size) & mask;
    uint64_t target;
    bool is_sequential;

    if (what->is_branch) {
        const bool is_taken = next != behind;

        if (is_taken && next != what->flow.target)
            return tw_hart_wrong(hart,
                                 "the branch at 0x%" PRIx64 " does not lead to 0x%" PRIx64,
                                 hart->last_pc, next);
        add_last(hart, is_taken ? TW_ETRACE_ITYPE_TAKEN : TW_ETRACE_ITYPE_NOT_TAKEN, false);
    } else if (what->flow.is_exception_return) {
        add_last(hart, TW_ETRACE_ITYPE_TRAP_RETURN, false);
    } else if (what->is_inferable || what->is_uninferable) {
        if (what->is_inferable && next != what->flow.target)
            return tw_hart_wrong(hart, "the jump at 0x%" PRIx64 " does not lead to 0x%" PRIx64,
                                 hart->last_pc, next);
        is_sequential = what->is_uninferable && hart->has_before &&
                        tw_rv_sequential_target(&target, what, &hart->before);
        if (is_sequential && target != next)
            return tw_hart_wrong(hart, "the jump at 0x%" PRIx64 " does not lead to 0x%" PRIx64,
                                 hart->last_pc, next);
        add_last(hart, tw_hart_jump_type(hart, what), is_sequential);
    } else {
        if (next != behind)
            return tw_hart_wrong(
                hart, "instructions are missing between 0x%" PRIx64 " and 0x%" PRIx64,
                hart->last_pc, next);
        add_last(hart, TW_ETRACE_ITYPE_NONE, false);
    }
    return TW_OK;
}

enum tw_status tw_hart_step(struct tw_hart *hart, uint64_t pc)
{
    if (hart->has_last)
        TW_TRY(tw_hart_leave(hart, pc));
    if (hart->open_count && hart->open.priv != hart->priv)
        close_block(hart);
    hart->last_priv = hart->priv;
    hart->last = look(hart, pc);
    if (!hart->last)
        return tw_hart_wrong(hart, "0x%" PRIx64 " is not in the program", pc);
    hart->current = *hart->last;
    hart->last = &hart->current;
    hart->last_pc = pc;
    hart->has_last = true;
    if (hart->is_free)
        hart->has_before = false;
    hart->is_free = false;
    return TW_OK;
}

/* Instructions that are no jumps, into the block at work. */
static void add_straight(struct tw_hart *hart, const struct tw_retired *list, size_t count)
{
    const struct tw_retired *last = &list[count - 1];
    const uint64_t bytes = last->address + last->size - list->address;

    if (hart->open_count == 0) {
        hart->open = (struct tw_etrace_block){ .iaddr = list->address, .priv = hart->priv };
        hart->open.time = hart->instructions;
    }
    hart->open.iretire += (uint32_t)(hart->trace.retires <= 1 ? count : bytes / 2);
    hart->open.ilastsize = last->size == 4;
    hart->open.itype = TW_ETRACE_ITYPE_NONE;
    hart->open.sijump = false;
    hart->open_count += (uint32_t)count;
    hart->instructions += count;
    if (hart->open_count >= hart->trace.retires)
        close_block(hart);
}

size_t tw_hart_pass(struct tw_hart *hart, const struct tw_retired *list, size_t count,
                    enum tw_status *status)
{
    const uint64_t mask = hart->isa == TW_ISA_RV32 ? UINT32_MAX : UINT64_MAX;
    size_t room;

    *status = TW_OK;
    /* What these instructions are depends on more than their opcode, or was told for another instruction set. */
    if (hart->rv.has_zcmp || hart->rv.has_zcmt || count < 2 || list->isa != hart->isa ||
        (list[count - 1].address + list[count - 1].size) > mask) {
        tw_hart_note(hart, list->address, list->opcode);
        *status = tw_hart_step(hart, list->address);
        return 1;
    }
    if (hart->has_last)
        *status = tw_hart_leave(hart, list->address);
    if (*status != TW_OK)
        return 0;
    if (hart->open_count && hart->open.priv != hart->priv)
        close_block(hart);
    hart->last_priv = hart->priv;
    room = hart->trace.retires > hart->open_count ? hart->trace.retires - hart->open_count : 1;
    if (room > count - 1)
        room = count - 1;
    add_straight(hart, list, room);
    /* The next one is left when it is known what comes behind it; a jump may look back. */
    hart->has_before = list[room].kind == TW_RETIRED_INDIRECT;
    if (hart->has_before)
        tw_rv_classify(&hart->before, list[room - 1].opcode, list[room - 1].address, hart->isa,
                       &hart->rv);
    hart->is_free = false;
    tw_hart_note(hart, list[room].address, list[room].opcode);
    *status = tw_hart_step(hart, list[room].address);
    return room + 1;
}

enum tw_status tw_hart_trap(struct tw_hart *hart, const struct tw_hart_trap *trap)
{
    const uint8_t itype =
        trap->is_interrupt ? TW_ETRACE_ITYPE_INTERRUPT : TW_ETRACE_ITYPE_EXCEPTION;

    if (hart->drops_ecalls && hart->has_last && hart->last->is_trapping &&
        trap->epc == hart->last_pc && !trap->is_interrupt)
        hart->has_last = false;
    if (hart->has_last && hart->last->is_trapping && trap->epc == hart->last_pc &&
        !trap->is_interrupt) {
        hart->keeps_open = true;
        add_last(hart, TW_ETRACE_ITYPE_NONE, false);
        hart->keeps_open = false;
        hart->open.itype = itype;
        hart->open.cause = trap->cause;
        hart->open.tval = trap->tval;
        close_block(hart);
    } else {
        struct tw_etrace_block block = { .iaddr = trap->epc,
                                         .itype = itype,
                                         .cause = trap->cause,
                                         .tval = trap->tval,
                                         .priv = hart->priv };

        if (hart->has_last)
            TW_TRY(tw_hart_leave(hart, trap->epc));
        close_block(hart);
        block.time = hart->instructions;
        tw_hart_queue(hart, &block);
    }
    hart->is_free = true;
    return TW_OK;
}

void tw_hart_finish(struct tw_hart *hart)
{
    const struct tw_rv_instruction *what = hart->last;

    if (hart->has_last)
        add_last(hart,
                 what->is_branch                              ? TW_ETRACE_ITYPE_NOT_TAKEN
                 : what->flow.is_exception_return             ? TW_ETRACE_ITYPE_TRAP_RETURN
                 : what->is_inferable || what->is_uninferable ? tw_hart_jump_type(hart, what)
                                                              : TW_ETRACE_ITYPE_NONE,
                 false);
    close_block(hart);
}

void tw_hart_gap(struct tw_hart *hart)
{
    tw_hart_finish(hart);
    hart->is_free = true;
    if (hart->count < TW_HART_QUEUE)
        hart->halts |= (uint16_t)(1u << hart->count);
}

void tw_hart_note_new(struct tw_hart *hart, uint64_t address, uint32_t opcode)
{
    struct tw_hart_code *code = &hart->codes[address >> 1 & (TW_HART_CODES - 1)];

    code->opcode = opcode;
    tw_rv_classify(&code->what, opcode, address, hart->isa, &hart->rv);
    code->address = code->what.is_table_jump ? 0 : address + 1;
}

enum tw_status tw_hart_set_priv(struct tw_hart *hart, uint64_t priv)
{
    if (priv > 7 || priv >> hart->trace.privilege_width)
        return tw_hart_wrong(hart, "privilege %" PRIu64 " does not fit privilege_width_p",
                             priv);
    hart->priv = (uint8_t)priv;
    return TW_OK;
}
