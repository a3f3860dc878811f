/* SPDX-License-Identifier: BSD-2-Clause */
/* Straight runs of instructions to the blocks that a hart reports, many at a time: what path.c makes of them one
   after the other. */
#include "hart/hart.h"

/* The block at work, while runs are gathered: the one behind those that are whole. */
TW_INLINE struct tw_etrace_block *open_block(struct tw_hart *hart, uint64_t address)
{
    struct tw_hart_batch *batch = &hart->batch;
    struct tw_etrace_block *open = &batch->blocks[batch->count];

    if (hart->open_count == 0) {
        open->iaddr = address;
        open->time = hart->instructions;
        open->iretire = 0;
        open->priv = hart->priv;
    }
    return open;
}

/* Instructions behind each other, the last of them of this type, into the block at work.  There is room for
   them. */
TW_INLINE void extend(struct tw_hart *hart, const struct tw_retired *list, uint32_t count,
                      uint8_t itype, bool ends)
{
    const struct tw_retired *last = &list[count - 1];
    struct tw_etrace_block *open = open_block(hart, list->address);
    const uint64_t bytes = last->address + last->size - list->address;

    open->iretire += hart->trace.retires <= 1 ? count : (uint32_t)(bytes / 2);
    open->ilastsize = last->size == 4;
    open->itype = itype;
    open->sijump = false;
    hart->open_count += count;
    hart->instructions += count;
    if (ends || hart->open_count >= hart->trace.retires) {
        hart->batch.count++;
        hart->open_count = 0;
    }
}

/* What the last instruction before this address is, for the jump that stands there alone. */
static bool is_sequential_jump(struct tw_hart *hart, const struct tw_retired_run *run,
                               const struct tw_retired *before, uint64_t *target)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];
    struct tw_rv_instruction first = hart->before;

    if (run->count > 1)
        before = last - 1;
    if (before) {
        tw_hart_note(hart, before->address, before->opcode);
        first = *tw_hart_known(hart, before->address);
    } else if (!hart->has_before) {
        return false;
    }
    tw_hart_note(hart, last->address, last->opcode);
    return tw_rv_sequential_target(target, tw_hart_known(hart, last->address), &first);
}

/* What the hart says of the way from the last instruction of a run to `next`; false: it does not lead there, or more
   is to be looked at. */
TW_INLINE bool leaves(struct tw_hart *hart, const struct tw_retired_run *run,
                      const struct tw_retired *before, uint64_t next, struct tw_hart_exit *out)
{
    const struct tw_retired *last = &run->instructions[run->count - 1];
    const uint64_t behind = last->address + last->size;
    const struct tw_rv_instruction *what;
    uint64_t target;

    tw_hart_note(hart, last->address, last->opcode);
    what = tw_hart_known(hart, last->address);
    *out = (struct tw_hart_exit){ .itype = TW_ETRACE_ITYPE_NONE };
    if (what->is_branch) {
        out->itype = next == behind ? TW_ETRACE_ITYPE_NOT_TAKEN : TW_ETRACE_ITYPE_TAKEN;
        out->ends = true;
        return next == behind || next == what->flow.target;
    }
    if (what->flow.is_exception_return) {
        out->itype = TW_ETRACE_ITYPE_TRAP_RETURN;
        out->ends = true;
        return true;
    }
    if (!what->is_inferable && !what->is_uninferable) {
        out->ends = what->flow.is_waypoint;
        return next == behind;
    }
    if (what->is_inferable && next != what->flow.target)
        return false;
    out->itype = tw_hart_jump_type(hart, what);
    out->ends = out->itype || what->flow.is_waypoint;
    if (what->is_uninferable && is_sequential_jump(hart, run, before, &target)) {
        out->is_sequential = true;
        return target == next;
    }
    return true;
}

static bool is_gathered(const struct tw_hart *hart, const struct tw_retired_run *run)
{
    const uint64_t mask = hart->isa == TW_ISA_RV32 ? UINT32_MAX : UINT64_MAX;
    const unsigned most = hart->trace.retires ? hart->trace.retires : 1;
    const struct tw_retired *last;

    if (!run->count || run->count / most + 2 > TW_HART_BATCH - hart->batch.count)
        return false;
    last = &run->instructions[run->count - 1];
    return last->address + last->size <= mask;
}

/* All of a run that went on like this. */
TW_INLINE void add_run(struct tw_hart *hart, const struct tw_retired_run *run,
                       const struct tw_hart_exit *way)
{
    const struct tw_retired *list = run->instructions;
    uint32_t left = run->count;

    while (TW_UNLIKELY(hart->open_count + left > hart->trace.retires)) {
        uint32_t room = hart->trace.retires - hart->open_count;

        if (room > left - 1)
            room = left - 1;
        if (!room)
            break;
        extend(hart, list, room, TW_ETRACE_ITYPE_NONE, false);
        list += room;
        left -= room;
    }
    extend(hart, list, left, way->itype, way->ends);
    if (way->is_sequential)
        hart->batch.blocks[hart->batch.count - 1].sijump = true;
}

/* What path.c left to be done. */
static enum tw_status begin(struct tw_hart *hart)
{
    struct tw_hart_batch *batch = &hart->batch;

    hart->given = hart->count = 0;
    if (hart->has_last)
        TW_TRY(tw_hart_leave(hart, hart->runs->instructions->address));
    if (hart->open_count && hart->open.priv != hart->priv) {
        tw_hart_queue(hart, &hart->open);
        hart->open_count = 0;
    }
    for (size_t i = 0; i < hart->count; i++)
        batch->blocks[batch->count++] = hart->blocks[i];
    hart->count = 0;
    if (hart->open_count)
        batch->blocks[batch->count] = hart->open;
    return TW_OK;
}

/* ... and what path.c needs to go on. */
static void end(struct tw_hart *hart, const struct tw_retired *before)
{
    if (hart->open_count)
        hart->open = hart->batch.blocks[hart->batch.count];
    if (!before)
        return;
    tw_hart_note(hart, before->address, before->opcode);
    hart->before = *tw_hart_known(hart, before->address);
    hart->has_before = true;
    hart->last_priv = hart->priv;
}

/* The next run, or one of its executions; false: it is not for us. */
static bool gather_run(struct tw_hart *hart, const struct tw_retired *before)
{
    struct tw_hart_batch *batch = &hart->batch;
    const struct tw_retired_run *run = hart->runs;
    const uint32_t left = run->repeats - hart->run_repeats;
    const uint64_t start = run->instructions->address;
    const bool was_open = hart->open_count != 0;
    struct tw_hart_exit way;

    if (!leaves(hart, run, before, left ? start : run[1].instructions->address, &way))
        return false;
    add_run(hart, run, &way);
    if (!left) {
        hart->runs++;
        hart->runs_left--;
        hart->run_repeats = 0;
    } else if (was_open || !way.ends || way.is_sequential || run->count > hart->trace.retires) {
        hart->run_repeats++;
    } else {
        /* The last of them goes where the next run begins: what is left of this one. */
        hart->run_repeats = run->repeats;
        batch->repeats = left - 1;
        batch->step = run->count;
        hart->instructions += (uint64_t)(left - 1) * run->count;
    }
    return true;
}

/* Nothing is to be done before the next run is looked at. */
static bool is_at_run(const struct tw_hart *hart)
{
    return hart->runs_left > 1 && hart->given == hart->count && !hart->run_done &&
           !hart->is_free && !hart->halts && !hart->was_halted && !hart->was_reset &&
           !hart->signals && !hart->rv.has_zcmp && !hart->rv.has_zcmt;
}

size_t tw_hart_whole_runs(const struct tw_hart *hart)
{
    return is_at_run(hart) && !hart->has_last && !hart->open_count && !hart->run_repeats
               ? hart->runs_left
               : 0;
}

void tw_hart_took_runs(struct tw_hart *hart, size_t count)
{
    const struct tw_retired_run *last;

    if (!count)
        return;
    last = &hart->runs[count - 1];
    hart->runs += count;
    hart->runs_left -= count;
    end(hart, &last->instructions[last->count - 1]);
}

bool tw_hart_gather(struct tw_hart *hart, size_t most, enum tw_status *status)
{
    struct tw_hart_batch *batch = &hart->batch;
    const struct tw_retired *before = NULL;

    *status = TW_OK;
    batch->count = 0;
    batch->repeats = 0;
    if (!is_at_run(hart) || !is_gathered(hart, hart->runs))
        return false;
    *status = begin(hart);
    if (*status != TW_OK) {
        hart->is_ended = true;
        return false;
    }
    for (; most && hart->runs_left > 1 && hart->runs[1].count && !batch->repeats &&
           is_gathered(hart, hart->runs);
         most--) {
        const struct tw_retired_run *run = hart->runs;

        if (!gather_run(hart, before))
            break;
        before = &run->instructions[run->count - 1];
    }
    end(hart, before);
    return before != NULL || batch->count;
}
