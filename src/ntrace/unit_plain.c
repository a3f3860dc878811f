/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder for what most programs are: all is traced as history, and nothing is to be said of a block but
   which way its branch went. */
#include "ntrace/unit.h"

/* How often a block that was just taken can be taken again so that nothing but its branch is noted: neither HIST nor
   I-CNT fills, and no synchronization is due. */
static uint64_t room_for_branches(const struct tw_ntrace_unit *unit,
                                  const struct tw_etrace_block *block)
{
    const unsigned held = 31u - (unsigned)__builtin_clz(unit->hist);
    uint64_t room = unit->hist_limit - 1u - held, count;

    if (block->itype != TW_ETRACE_ITYPE_TAKEN || block->trigger || !unit->is_htm ||
        !unit->is_tracing || !unit->is_running || unit->is_lost ||
        unit->due != TW_NTRACE_NO_SYNC || !tw_ingress_is_idle(&unit->ingress) ||
        !unit->has_owner || unit->priv != block->priv || unit->context != block->context ||
        unit->end.itype != TW_ETRACE_ITYPE_TAKEN || held + 2 > unit->hist_limit ||
        unit->icnt >= unit->icnt_limit || unit->icnt == 0)
        return 0;
    room--; /* the last of them would fill it */
    count = (unit->icnt_limit - 1 - unit->icnt) / block->iretire;
    if (count < room)
        room = count;
    if (unit->sync_mode > 1) {
        const uint64_t each = unit->sync_mode == 3 ? block->iretire : 1;

        if (unit->sync_count + each >= unit->sync_limit)
            return 0;
        count = (unit->sync_limit - 1 - unit->sync_count) / each;
        if (count < room)
            room = count;
    }
    return room;
}

enum tw_status tw_ntrace_unit_repeat(struct tw_ntrace_unit *unit,
                                     const struct tw_etrace_block *block, uint64_t times,
                                     uint64_t step)
{
    struct tw_etrace_block now = *block;

    for (bool is_taken = false; times; is_taken = true) {
        uint64_t some = is_taken ? room_for_branches(unit, &now) : 0;

        if (!some) {
            now.time += step;
            TW_TRY(tw_ntrace_unit_retire(unit, &now, 1));
            times--;
            continue;
        }
        some = some < times ? some : times;
        unit->hist = (unit->hist + 1) << some;
        unit->hist--;
        unit->icnt += (uint32_t)some * now.iretire;
        if (unit->sync_mode == 3)
            unit->sync_count += some * now.iretire;
        tw_ntrace_unit_idle(unit, (uint32_t)some);
        unit->end.is_alone = false;
        unit->counts.blocks += some;
        unit->counts.half_words += some * now.iretire;
        now.time += some * step;
        unit->time = now.time;
        times -= some;
    }
    return TW_OK;
}

/* ---- runs ---- */

/* A run that is a block which ends with a branch or jump, and what its last instruction is. */
TW_INLINE bool is_block(const struct tw_ntrace_unit *unit, const struct tw_retired_run *run,
                        uint32_t most, uint8_t *itype)
{
    enum { JALR = 0x67, OPCODE = 0x7f }; /* inferable for some, but not here */
    const struct tw_retired *last;
    uint64_t behind, next;

    if (run->count - 1 >= most || !run[1].count)
        return false;
    next = run[1].instructions->address;
    last = &run->instructions[run->count - 1];
    behind = last->address + last->size;
    if (run->instructions->address & 1 ||
        (unit->codec.config.xlen == 32 && behind > UINT32_MAX))
        return false;
    if (last->kind == TW_RETIRED_INDIRECT) {
        *itype = TW_ETRACE_ITYPE_OTHER;
        return true;
    }
    if (last->kind != TW_RETIRED_BRANCH || (last->opcode & OPCODE) == JALR)
        return false;
    if (!(run->flags & TW_RETIRED_CONDITIONAL)) {
        *itype = TW_ETRACE_ITYPE_INFERABLE_OTHER;
        return next == last->target;
    }
    *itype = next == behind ? TW_ETRACE_ITYPE_NOT_TAKEN : TW_ETRACE_ITYPE_TAKEN;
    return next == behind || next == last->target;
}

/* What runs of instructions change of the encoder. */
struct tw_ntrace_passed {
    size_t count;
    uint64_t time, half_words, reference;
    uint64_t messages_left; /* until synchronization is due; 0: none may be made here */
    uint32_t hist, icnt;
    uint8_t itype;
};

/* IndirectBranchHist needs nothing that is not known here. */
static uint64_t messages_left(const struct tw_ntrace_unit *unit)
{
    if (unit->has_times || unit->fifo.size || unit->user.on_packet ||
        unit->user.short_messages || unit->codec.config.repeat_branch || unit->buffered_times ||
        unit->codec.shape.extension != TW_NTRACE_EXTEND_NONE || unit->codec.shape.src_bits)
        return 0;
    return unit->sync_mode ? unit->sync_limit - unit->sync_count : UINT64_MAX;
}

/* A variable field of at most 48 bits; there is room for eight bytes.  Returns where the next one begins. */
TW_INLINE uint8_t *put_variable(uint8_t *at, uint64_t value)
{
    const unsigned last = tw_highest_bit(value | 1) / 6;

    /* Six bits to a byte: halves, quarters, eighths. */
    value = (value & 0xffffff) | (value & 0xffffff000000) << 8;
    value = (value & 0xfff00000fff) | (value & 0xfff00000fff000) << 4;
    value = (value & 0x3f003f003f003f) | (value & 0xfc00fc00fc00fc0) << 2;
    tw_store_le64(at, value << 2 | (uint64_t)TW_NTRACE_MSEO_FIELD << 8 * last);
    return at + last + 1;
}

/* The jump that waits leads here; false: the message cannot be made here. */
TW_INLINE bool report_jump(struct tw_ntrace_unit *unit, struct tw_ntrace_passed *at,
                           uint64_t address)
{
    const unsigned fixed = TW_NTRACE_TCODE_BITS + 2 - 6; /* of BTYPE, in the second byte */
    const uint64_t change = (address ^ at->reference) >> 1;
    uint8_t *const first = unit->bytes + unit->used;
    uint8_t *next;

    if (TW_UNLIKELY(!at->messages_left || change >> 48 ||
                    unit->used + TW_NTRACE_MESSAGE_ROOM > TW_NTRACE_SINK))
        return false;
    first[0] = (uint8_t)(unit->codec.tcodes[TW_NTRACE_INDIRECT_BRANCH_HIST] << 2);
    next = put_variable(first + 1, TW_NTRACE_BTYPE_JUMP | (uint64_t)at->icnt << fixed);
    next = put_variable(next, change);
    next = put_variable(next, at->hist);
    next[-1] |= TW_NTRACE_MSEO_END;
    unit->used += (size_t)(next - first);
    unit->counts.bytes += (size_t)(next - first);
    at->messages_left--;
    at->reference = address;
    at->icnt = 0;
    at->hist = 1;
    return true;
}

/* As many runs as come to branches that fit HIST and I-CNT, and to jumps, and nothing else is due. */
static void pass_runs(struct tw_ntrace_passed *to, struct tw_ntrace_unit *unit,
                      const struct tw_retired_run *runs, size_t count, uint32_t most)
{
    struct tw_ntrace_passed at = *to;

    for (; at.count < count; at.count++) {
        const struct tw_retired_run *run = &runs[at.count];
        const struct tw_retired *last;
        uint32_t some;
        uint8_t itype;

        if (run->repeats || !is_block(unit, run, most, &itype) ||
            at.hist >> (unit->hist_limit - 2))
            break;
        last = &run->instructions[run->count - 1];
        some = (uint32_t)(last->address + last->size - run->instructions->address) / 2;
        if (at.icnt + some >= unit->icnt_limit ||
            (at.itype == TW_ETRACE_ITYPE_OTHER &&
             !report_jump(unit, &at, run->instructions->address)))
            break;
        at.itype = itype;
        at.icnt += some;
        at.half_words += some;
        if (itype <= TW_ETRACE_ITYPE_TAKEN) /* or not taken */
            at.hist = at.hist * 2 + (itype == TW_ETRACE_ITYPE_TAKEN);
        at.time += run->count;
    }
    *to = at;
}

static size_t take_flow(struct tw_ntrace_unit *unit, const struct tw_retired_run *runs,
                        size_t count, uint32_t most, uint64_t *time)
{
    const uint32_t plain = 1u << TW_ETRACE_ITYPE_NONE | 1u << TW_ETRACE_ITYPE_TAKEN |
                           1u << TW_ETRACE_ITYPE_NOT_TAKEN | 1u << TW_ETRACE_ITYPE_OTHER |
                           1u << TW_ETRACE_ITYPE_INFERABLE_OTHER |
                           1u << TW_ETRACE_ITYPE_INFERABLE_CALL |
                           1u << TW_ETRACE_ITYPE_INFERABLE_JUMP;
    const uint64_t messages = messages_left(unit);
    struct tw_ntrace_passed at = { .time = *time,
                                   .reference = unit->reference,
                                   .messages_left = messages,
                                   .hist = unit->hist,
                                   .icnt = unit->icnt,
                                   .itype = unit->end.itype };
    const struct tw_retired_run *run;
    const struct tw_retired *last;

    if (unit->is_lost || unit->due != TW_NTRACE_NO_SYNC || !unit->is_tracing ||
        !unit->has_owner || unit->sync_mode > 1 ||
        (unit->sync_mode && unit->sync_count >= unit->sync_limit) || !(plain >> at.itype & 1))
        return 0;
    pass_runs(&at, unit, runs, count, most);
    if (!at.count)
        return 0;
    run = &runs[at.count - 1];
    last = &run->instructions[run->count - 1];
    unit->end = (struct tw_ntrace_end){ .itype = at.itype,
                                        .is_alone = at.icnt == last->size / 2u,
                                        .link = last->address + last->size };
    unit->time = at.time - run->count;
    unit->hist = at.hist;
    unit->icnt = at.icnt;
    unit->reference = at.reference;
    unit->counts.blocks += at.count;
    unit->counts.half_words += at.half_words;
    unit->counts.messages += messages - at.messages_left;
    if (unit->sync_mode)
        unit->sync_count += messages - at.messages_left;
    tw_ntrace_unit_idle(unit, (uint32_t)at.count);
    *time = at.time;
    return at.count;
}

/* One run as a block. */
static bool take_alone(struct tw_ntrace_unit *unit, const struct tw_retired_run *run,
                       uint32_t most, uint64_t *time)
{
    const struct tw_retired *first = run->instructions, *last;
    struct tw_etrace_block block = { .iaddr = first->address,
                                     .time = *time,
                                     .priv = unit->priv };

    if (!is_block(unit, run, most, &block.itype) ||
        (run->repeats && run[1].instructions->address != first->address))
        return false;
    last = &first[run->count - 1];
    block.iretire = (uint32_t)(last->address + last->size - first->address) / 2;
    block.ilastsize = last->size == 4;
    if (tw_ntrace_unit_retire(unit, &block, 1) != TW_OK ||
        (run->repeats &&
         tw_ntrace_unit_repeat(unit, &block, run->repeats, run->count) != TW_OK))
        return false;
    *time += (uint64_t)run->count * ((uint64_t)run->repeats + 1);
    return true;
}

size_t tw_ntrace_unit_retire_runs(struct tw_ntrace_unit *unit,
                                  const struct tw_retired_run *runs, size_t count, uint8_t priv,
                                  uint32_t most, uint64_t *time)
{
    const struct tw_ntrace_config *config = &unit->codec.config;
    size_t taken = 0;

    if (!unit->is_htm || config->all_jumps || config->sequential_jump ||
        unit->return_mode != TW_NTRACE_RETURN_NONE || !unit->is_running ||
        !tw_ingress_is_idle(&unit->ingress) || priv != unit->priv || unit->context)
        return 0;
    while (taken + 1 < count) {
        taken += take_flow(unit, runs + taken, count - 1 - taken, most, time);
        if (taken + 1 == count || !take_alone(unit, runs + taken, most, time))
            break;
        taken++;
    }
    return taken;
}
