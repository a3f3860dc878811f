/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks that a thread ran, into its trace unit. */
#include "qemu/feed.h"

#include <stdlib.h>
#include <string.h>

#include "qemu/process.h"

enum {
    RUNS = 1024,     /* given to the unit at once */
    OUTPUT = 1 << 18 /* bytes of trace written at once */
};

struct feed {
    struct tw_unit *unit;
    uint32_t tid, cpu;
    uint64_t strobe;
    bool is_resting; /* strobing or the filter leaves out what runs */
    bool is_broken;  /* nothing can be written any more */
    bool is_simple;  /* everything is traced */
    bool is_system;  /* it is a machine's processor */
    uint8_t *ring;
    uint64_t ring_size;
    uint64_t instructions; /* that were not yet added to the table */
    size_t count;
    struct tw_retired_run runs[RUNS];
};

struct feed *feed_new(struct tw_unit *unit, uint32_t tid, uint32_t cpu)
{
    const struct process_options *options = process_options();
    struct feed *feed = calloc(1, sizeof *feed);

    if (!feed)
        return NULL;
    feed->unit = unit;
    feed->tid = tid;
    feed->cpu = cpu;
    feed->is_system = options->is_system;
    feed->is_simple = !options->filter_count && !options->strobe_off;
    if (options->ring)
        feed->ring = malloc((size_t)options->ring);
    if (options->ring && !feed->ring) {
        free(feed);
        return NULL;
    }
    return feed;
}

void feed_free(struct feed *feed)
{
    if (!feed)
        return;
    free(feed->ring);
    free(feed);
}

/* ---- bytes ---- */

static void ring_put(struct feed *feed, const uint8_t *bytes, size_t size)
{
    const uint64_t room = process_options()->ring;

    if (size > room) { /* what comes before is written over at once */
        bytes += size - room;
        feed->ring_size += size - room;
        size = (size_t)room;
    }
    while (size) {
        const size_t at = (size_t)(feed->ring_size % room);
        const size_t some = size < room - at ? size : (size_t)(room - at);

        memcpy(feed->ring + at, bytes, some);
        feed->ring_size += some;
        bytes += some;
        size -= some;
    }
}

static void write_output(struct feed *feed, size_t least)
{
    size_t size;
    const uint8_t *bytes = tw_unit_output(feed->unit, &size);

    if (!size || size < least)
        return;
    if (feed->ring)
        ring_put(feed, bytes, size);
    else if (!feed->is_broken && !process_write(feed->tid, feed->cpu, bytes, size))
        feed->is_broken = true;
    tw_unit_take(feed->unit);
}

/* ---- steps ---- */

static void step(struct feed *feed, const struct tw_step *what)
{
    if (!feed->is_broken && tw_unit_step(feed->unit, what) != TW_OK)
        feed->is_broken = true;
}

static void give_runs(struct feed *feed)
{
    struct tw_step what = { .kind = TW_STEP_RUNS };

    if (!feed->count)
        return;
    what.runs = feed->runs;
    what.run_count = feed->count;
    step(feed, &what);
    feed->count = 0;
}

static void give_gap(struct feed *feed)
{
    const struct tw_step what = { .kind = TW_STEP_GAP };

    give_runs(feed);
    step(feed, &what);
}

static void give_time(struct feed *feed, uint64_t time)
{
    struct tw_step what = { .kind = TW_STEP_TIME };

    give_runs(feed);
    what.value = time;
    step(feed, &what);
}

static void give_trap(struct feed *feed, const struct system_trap *trap, uint8_t isa)
{
    struct tw_step what = { .kind = TW_STEP_EXCEPTION };

    give_runs(feed);
    what.exception = trap->type;
    what.cause = trap->cause;
    what.return_address = trap->return_address;
    what.return_isa = isa;
    what.is_interrupt = trap->is_interrupt;
    what.is_chained = trap->is_chained;
    step(feed, &what);
}

static void give_exception(struct feed *feed, uint8_t type, uint64_t return_address,
                           uint8_t isa)
{
    struct tw_step what = { .kind = TW_STEP_EXCEPTION };

    give_runs(feed);
    what.exception = type;
    what.cause = type;
    what.return_address = return_address;
    what.return_isa = isa;
    what.is_interrupt = type == TW_EXCEPTION_IRQ;
    step(feed, &what);
    give_gap(feed);
}

void feed_context(struct feed *feed, const struct tw_step_context *context)
{
    struct tw_step what = { .kind = TW_STEP_CONTEXT };

    give_runs(feed);
    what.context = *context;
    step(feed, &what);
}

/* ---- blocks ---- */

static void add_run(struct feed *feed, const struct tw_retired *instructions, uint32_t count,
                    uint8_t flags, uint64_t target)
{
    if (feed->count == RUNS)
        give_runs(feed);
    feed->runs[feed->count++] = (struct tw_retired_run){
        .instructions = instructions, .target = target, .count = count, .flags = flags
    };
    feed->instructions += count;
}

/* Instructions of which any may be something to the flow of control; flags and target are those of the
   last. */
static void add_mixed(struct feed *feed, const struct tw_retired *list, uint32_t count,
                      uint8_t flags, uint64_t target)
{
    uint32_t from = 0;

    for (uint32_t i = 0; i + 1 < count; i++)
        if (list[i].kind != TW_RETIRED_OTHER) {
            add_run(feed, list + from, i + 1 - from, list[i].flags, list[i].target);
            from = i + 1;
        }
    add_run(feed, list + from, count - from, flags, target);
}

/* Instructions that the filter or the strobe leaves out are a gap. */
static void leave_out(struct feed *feed)
{
    if (!feed->is_resting)
        give_gap(feed);
    feed->is_resting = true;
}

static bool is_strobed_out(struct feed *feed, uint32_t count)
{
    const struct process_options *options = process_options();

    if (!options->strobe_off)
        return false;
    feed->strobe = (feed->strobe + count) % (options->strobe_on + options->strobe_off);
    return feed->strobe >= options->strobe_on;
}

/* Those instructions of a block that the filter wants. */
static void add_wanted(struct feed *feed, const struct block *block, uint32_t count,
                       uint8_t flags, uint64_t target)
{
    const struct tw_retired *list = block->instructions;

    for (uint32_t i = 0; i < count;) {
        uint32_t end = i;

        while (end < count && block->wanted[end])
            end++;
        if (end == i) {
            leave_out(feed);
            i++;
            continue;
        }
        feed->is_resting = false;
        add_mixed(feed, list + i, end - i, end == count ? flags : list[end - 1].flags,
                  end == count ? target : list[end - 1].target);
        i = end;
    }
}

/* The first `count` instructions of a block; the last one went to `next`, if that is known. */
static void give_block(struct feed *feed, const struct block *block, uint32_t count,
                       uint64_t next, bool has_next)
{
    const struct tw_retired *last;
    uint64_t target;
    uint8_t flags;

    if (!count)
        return;
    if (is_strobed_out(feed, count) || !block->is_partly_wanted) {
        leave_out(feed);
        return;
    }
    last = &block->instructions[count - 1];
    flags = last->flags;
    target = last->target;
    if (count == block->count && has_next) {
        if (last->kind == TW_RETIRED_BRANCH && flags & TW_RETIRED_CONDITIONAL && next == target)
            flags |= TW_RETIRED_TAKEN;
        if (last->kind == TW_RETIRED_INDIRECT &&
            !(flags & TW_RETIRED_CONDITIONAL && next == block->end)) {
            flags |= TW_RETIRED_TAKEN;
            target = next;
        }
    }
    if (!block->is_wanted) {
        add_wanted(feed, block, count, flags, target);
        return;
    }
    feed->is_resting = false;
    add_mixed(feed, block->instructions, count, flags, target);
}

/* A signal came behind the block.  Where a branch of two ways was going only the return from the signal
   could tell: nothing is said of it. */
static void give_interrupted(struct feed *feed, const struct block *block, uint32_t count)
{
    const struct tw_retired *last = &block->instructions[block->count - 1];
    const bool is_jump = last->kind == TW_RETIRED_BRANCH;

    if (is_jump && last->flags & TW_RETIRED_CONDITIONAL) {
        give_block(feed, block, count - 1u, 0, false);
        give_gap(feed);
        return;
    }
    give_block(feed, block, count, is_jump ? last->target : 0, is_jump);
    give_exception(feed, TW_EXCEPTION_IRQ, is_jump ? last->target : block->end, last->isa);
}

/* The SG by which Secure code is entered. */
static void give_gateway(struct feed *feed, uint64_t address)
{
    struct tw_retired gateway = { .address = address, .opcode = 0xe97fe97f, .isa = TW_ISA_T32 };
    uint8_t it_open = 0;

    if (feed->is_resting)
        return;
    tw_retired_classify_m(&gateway, &it_open);
    add_run(feed, &gateway, 1, gateway.flags, gateway.target);
    give_runs(feed); /* it is here only */
}

/* What a processor of a machine did at the end of a block. */
static void give_events(struct feed *feed, const struct block *block, const struct note *note,
                        uint64_t next)
{
    struct system_events *events = note->events;
    const struct tw_retired *last = &block->instructions[note->count - 1u];
    struct system_trap *traps = events->traps;
    const bool is_trapping =
        last->opcode == 0x73 || last->opcode == 0x100073 ||
        last->opcode == 0x9002; /* ECALL, EBREAK: RISC-V lets them retire */
    const bool is_riscv = last->isa == TW_ISA_RV32 || last->isa == TW_ISA_RV64;
    uint32_t count = note->count;
    uint64_t to = next;

    if (events->trap_count) {
        /* An interrupt behind an access to a device, which ends the block: the access brought it. */
        if (traps[0].return_address == SYSTEM_UNTOLD && note->is_left)
            traps[0].return_address =
                traps[0].is_interrupt ? last->address + last->size : last->address;
        if (traps[0].return_address == last->address && !(is_riscv && is_trapping))
            count--;
        if (traps[0].return_address == SYSTEM_UNTOLD)
            traps[0].return_address = block->follows;
        to = traps[0].return_address;
    } else if (events->gateway != SYSTEM_UNTOLD)
        to = events->gateway;
    if ((events->is_return || events->is_function_return) && count == note->count &&
        last->kind == TW_RETIRED_INDIRECT) {
        struct tw_retired_run *run;

        give_block(feed, block, count, to, true);
        run = feed->count ? &feed->runs[feed->count - 1] : NULL;
        if (run && run->instructions + run->count - 1 == last)
            run->flags |=
                events->is_return ? TW_RETIRED_EXCEPTION_RETURN : TW_RETIRED_FUNCTION_RETURN;
    } else {
        give_block(feed, block, count, to, count == note->count);
    }
    if (events->gateway != SYSTEM_UNTOLD)
        give_gateway(feed, events->gateway);
    for (unsigned i = 0; i < events->trap_count; i++)
        give_trap(feed, &traps[i], last->isa);
    feed_context(feed, &events->context);
}

/* A block of which something is noted, or that has no simple way out, and the address that came next. */
static void give_noted(struct feed *feed, const struct block *block, const struct note *note,
                       uint64_t next)
{
    const uint32_t count = note ? note->count : block->count;

    if (!count)
        return; /* it could not even be fetched */
    if (note && note->events)
        give_events(feed, block, note, next);
    else if (note && note->after == AFTER_CALL) {
        give_block(feed, block, count, 0, false);
        give_exception(feed, TW_EXCEPTION_CALL, block->end, block->instructions[0].isa);
    } else if (note && note->is_left) {
        const struct tw_retired *at = &block->instructions[count - 1u];

        /* An access to a device that QEMU did a second time, untold: it did retire. */
        if (next == at->address + at->size && feed->is_system) {
            give_block(feed, block, count, next, false);
            return;
        }
        give_block(feed, block, count - 1u, 0, false);
        /* The same instruction again: it was begun twice, and did nothing the first time. */
        if (at->address != next)
            give_exception(feed, TW_EXCEPTION_DATA_FAULT, at->address, at->isa);
    } else if (block_leads_to(block, next)) {
        give_block(feed, block, count, next, true);
    } else {
        give_interrupted(feed, block, count);
    }
}

/* A block that ran several times, the last of them to `next`. */
static void give_repeated(struct feed *feed, const struct block *block, uint64_t repeats,
                          uint64_t next)
{
    const bool is_simple = feed->is_simple && block->is_simple && !block->is_anywhere &&
                           block->start == block->follows;

    while (repeats) {
        const uint32_t some =
            is_simple ? (uint32_t)(repeats < UINT32_MAX ? repeats : UINT32_MAX) : 1;

        give_noted(feed, block, NULL, block->start);
        if (some > 1) {
            feed->runs[feed->count - 1].repeats = some - 1;
            feed->instructions += (uint64_t)(some - 1) * block->count;
        }
        repeats -= some;
    }
    give_noted(feed, block, NULL, next);
}

/* As many blocks as come one behind the other without anything odd and as there is room for.  Where programs
   go is not to be foreseen: so no branch here depends on it. */
static size_t give_clear(struct feed *feed, const chunk_entry *entries, size_t count)
{
    struct tw_retired_run *run = feed->runs + feed->count;
    const size_t room = RUNS - feed->count;
    const size_t most = count < room ? count : room;
    uint64_t instructions = 0;
    size_t i = 0;

    for (; i < most; i++) {
        const struct block *block = entry_block(entries[i]);
        uint64_t next;
        bool follows;

        if (entry_is_repeat(entries[i + 1]))
            break;
        next = entry_block(entries[i + 1])->start;
        follows = next == block->follows;
        if (!(block->is_simple & (follows | (next == block->other) | block->is_anywhere)))
            break;
        *run++ = (struct tw_retired_run){
            .instructions = block->instructions,
            .target = block->is_anywhere ? next : block->follows,
            .count = block->count,
            .flags =
                (uint8_t)(block->flags | (follows ? block->follows_flags : block->other_flags))
        };
        instructions += block->count;
    }
    feed->count += i;
    feed->instructions += instructions;
    return i;
}

/* Entries of which nothing is noted; there is a block behind them. */
static void give_entries(struct feed *feed, const chunk_entry *entries, size_t count)
{
    for (size_t i = 0; i < count;) {
        const struct block *block;

        if (feed->is_simple)
            i += give_clear(feed, entries + i, count - i);
        if (feed->count == RUNS)
            give_runs(feed);
        if (i == count)
            break;
        block = entry_block(entries[i]);
        if (entry_is_repeat(entries[i + 1])) {
            give_repeated(feed, block, entries[i + 1] / 2, entry_block(entries[i + 2])->start);
            i += 2;
        } else {
            give_noted(feed, block, NULL, entry_block(entries[i + 1])->start);
            i++;
        }
    }
}

/* The last block of all, whose way out no one knows. */
static void give_last(struct feed *feed, const struct block *block, const struct note *note)
{
    if (note && (note->after != AFTER_NOTHING || note->is_left))
        give_noted(feed, block, note, 0);
    else
        give_block(feed, block, note ? note->count : block->count, 0, false);
}

void feed_chunk(struct feed *feed, const struct chunk *chunk)
{
    const struct note *note = chunk->notes, *notes_end = note + chunk->note_count;
    const uint32_t last = chunk->count - 1;
    uint32_t at = 0;

    if (!chunk->count)
        return;
    give_time(feed, chunk->began);
    while (at < last) {
        uint32_t end = note < notes_end ? note->at : last;

        if (end > last || end < at)
            end = last;
        give_entries(feed, chunk->entries + at, end - at);
        at = end;
        if (at >= last || note == notes_end)
            break;
        if (note->time)
            give_time(feed, note->time);
        give_noted(feed, entry_block(chunk->entries[at]), note,
                   entry_block(chunk->entries[at + 1])->start);
        free(note->events);
        at++;
        note++;
    }
    if (chunk->is_end) {
        const bool has_note = note < notes_end && note->at == at;

        if (has_note && note->time)
            give_time(feed, note->time);
        give_last(feed, entry_block(chunk->entries[at]), has_note ? note : NULL);
    }
    give_runs(feed);
    (void)__atomic_add_fetch(&process_table()->instructions, feed->instructions,
                             __ATOMIC_RELAXED);
    feed->instructions = 0;
    write_output(feed, OUTPUT);
}

void feed_write(struct feed *feed)
{
    const struct tw_step flush = { .kind = TW_STEP_FLUSH };

    step(feed, &flush);
    write_output(feed, 1);
}

void feed_end(struct feed *feed)
{
    if (!feed->is_broken)
        (void)(tw_unit_finish(feed->unit) == TW_OK);
    write_output(feed, 0);
    if (feed->ring) {
        const uint64_t room = process_options()->ring, at = feed->ring_size % room;

        if (feed->ring_size > room)
            (void)process_write(feed->tid, feed->cpu, feed->ring + at, (size_t)(room - at));
        (void)process_write(feed->tid, feed->cpu, feed->ring,
                            (size_t)(feed->ring_size < room ? feed->ring_size : at));
    }
}
