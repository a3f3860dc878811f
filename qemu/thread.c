/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of the program: blocks run, in batches, into its trace unit. */
#define _GNU_SOURCE
#include "qemu/thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "qemu/process.h"

enum {
    ENTRIES = 4096,   /* blocks of a batch */
    BATCH = 1 << 15,  /* instructions given to the unit at once, at most */
    BLOCK_MAX = 512,  /* instructions of a block; QEMU's largest */
    OUTPUT = 1 << 18, /* bytes of trace written at once */
    COMM = 16
};

/* What happened behind a block. */
enum { AFTER_NOTHING, AFTER_CALL };

struct entry {
    const struct block *block;
    uint16_t count; /* instructions begun */
    uint8_t after;
    uint8_t is_left; /* ... and left there: the last of them faulted */
    uint64_t time;   /* 0: not looked at */
};

struct thread {
    pthread_mutex_t lock; /* a batch is being given to the unit */
    struct unit *unit;
    uint32_t cpu, tid;
    size_t count;
    uint64_t began; /* time of the batch's first block */
    uint64_t news;  /* of thread_news that it knows of */
    uint64_t strobe;
    bool is_resting; /* strobing or the filter leaves out what runs */
    bool is_broken;  /* nothing can be written any more */
    uint8_t *ring;
    uint64_t ring_size;
    size_t batched;
    struct entry entries[ENTRIES + 1];
    struct tw_retired batch[BATCH + BLOCK_MAX];
};

uint64_t thread_counter, thread_news;

static struct thread *threads[THREADS_MAX];
static uint64_t seen; /* of thread_counter */
static bool is_several;

/* ---- to the unit ---- */

static void ring_put(struct thread *thread, const uint8_t *bytes, size_t size)
{
    const uint64_t room = process_options()->ring;

    if (size > room) { /* what comes before is written over at once */
        bytes += size - room;
        thread->ring_size += size - room;
        size = (size_t)room;
    }
    for (size_t i = 0; i < size; i++)
        thread->ring[thread->ring_size++ % room] = bytes[i];
}

static void write_output(struct thread *thread, size_t least)
{
    size_t size;
    const uint8_t *bytes = unit_output(thread->unit, &size);

    if (!size || size < least)
        return;
    if (thread->ring)
        ring_put(thread, bytes, size);
    else if (!thread->is_broken && !process_write(thread->tid, thread->cpu, bytes, size))
        thread->is_broken = true;
    unit_take(thread->unit);
}

static void step(struct thread *thread, const struct tw_step *what)
{
    if (!thread->is_broken && !unit_step(thread->unit, what))
        thread->is_broken = true;
}

static void give_batch(struct thread *thread)
{
    struct tw_step what = { .kind = TW_STEP_INSTRUCTIONS };

    if (!thread->batched)
        return;
    what.instructions = thread->batch;
    what.count = thread->batched;
    step(thread, &what);
    (void)__atomic_add_fetch(&process_table()->instructions, thread->batched, __ATOMIC_RELAXED);
    thread->batched = 0;
}

static void give_gap(struct thread *thread)
{
    const struct tw_step what = { .kind = TW_STEP_GAP };

    give_batch(thread);
    step(thread, &what);
}

static void give_time(struct thread *thread, uint64_t time)
{
    struct tw_step what = { .kind = TW_STEP_TIME };

    give_batch(thread);
    what.value = time;
    step(thread, &what);
}

static void give_exception(struct thread *thread, uint8_t type, uint64_t return_address,
                           uint8_t isa)
{
    struct tw_step what = { .kind = TW_STEP_EXCEPTION };

    give_batch(thread);
    what.exception = type;
    what.cause = type;
    what.return_address = return_address;
    what.return_isa = isa;
    what.is_interrupt = type == TW_EXCEPTION_IRQ;
    step(thread, &what);
    give_gap(thread);
}

/* ---- blocks ---- */

static bool is_wanted(const struct tw_retired *instruction)
{
    const struct process_options *options = process_options();

    return !options->end ||
           (instruction->address >= options->first && instruction->address < options->end);
}

/* Instructions that the filter or the strobe leaves out are a gap. */
static void leave_out(struct thread *thread)
{
    if (!thread->is_resting)
        give_gap(thread);
    thread->is_resting = true;
}

static bool is_strobed_out(struct thread *thread, uint32_t count)
{
    const struct process_options *options = process_options();

    if (!options->strobe_off)
        return false;
    thread->strobe = (thread->strobe + count) % (options->strobe_on + options->strobe_off);
    return thread->strobe >= options->strobe_on;
}

/* The first `count` instructions of a block; the last one went to `next`, if that is known. */
static void give_block(struct thread *thread, const struct block *block, uint32_t count,
                       uint64_t next, bool has_next)
{
    struct tw_retired *to = thread->batch + thread->batched;
    struct tw_retired *last;

    if (!count)
        return;
    if (is_strobed_out(thread, count) || !block->is_partly_wanted) {
        leave_out(thread);
        return;
    }
    if (block->is_wanted) {
        memcpy(to, block->instructions, count * sizeof *to);
        thread->batched += count;
        thread->is_resting = false;
    } else {
        for (uint32_t i = 0; i < count; i++) {
            if (!is_wanted(&block->instructions[i])) {
                leave_out(thread);
                continue;
            }
            thread->is_resting = false;
            thread->batch[thread->batched++] = block->instructions[i];
        }
        if (!thread->batched || !is_wanted(&block->instructions[count - 1]))
            return;
    }
    last = &thread->batch[thread->batched - 1];
    if (count == block->count && has_next) {
        if (last->kind == TW_RETIRED_BRANCH && last->flags & TW_RETIRED_CONDITIONAL &&
            next == last->target)
            last->flags |= TW_RETIRED_TAKEN;
        if (last->kind == TW_RETIRED_INDIRECT &&
            !(last->flags & TW_RETIRED_CONDITIONAL && next == block->end)) {
            last->flags |= TW_RETIRED_TAKEN;
            last->target = next;
        }
    }
    if (thread->batched >= BATCH)
        give_batch(thread);
}

/* A block that was run, and the address that came next. */
static void give_entry(struct thread *thread, const struct entry *entry, uint64_t next)
{
    const struct block *block = entry->block;
    const uint8_t isa = block->count ? block->instructions[0].isa : (uint8_t)TW_ISA_UNKNOWN;

    if (!entry->count)
        return; /* it could not even be fetched */
    if (entry->after == AFTER_CALL) {
        give_block(thread, block, entry->count, 0, false);
        give_exception(thread, TW_EXCEPTION_CALL, block->end, isa);
    } else if (entry->is_left) {
        const uint32_t done = entry->count - 1u;

        give_block(thread, block, done, 0, false);
        /* The same instruction again: it was begun twice, and did nothing the first time. */
        if (block->instructions[done].address != next)
            give_exception(thread, TW_EXCEPTION_DATA_FAULT, block->instructions[done].address,
                           isa);
    } else if (block_leads_to(block, next)) {
        give_block(thread, block, entry->count, next, true);
    } else {
        const struct tw_retired *last = &block->instructions[block->count - 1];
        const bool is_jump = last->kind == TW_RETIRED_BRANCH;

        /* A signal came behind the block.  Where a branch of two ways was going only the return from the
           signal could tell: nothing is said of it. */
        if (is_jump && last->flags & TW_RETIRED_CONDITIONAL) {
            give_block(thread, block, entry->count - 1u, 0, false);
            give_gap(thread);
            return;
        }
        give_block(thread, block, entry->count, is_jump ? last->target : 0, is_jump);
        give_exception(thread, TW_EXCEPTION_IRQ, is_jump ? last->target : block->end, isa);
    }
}

/* All blocks but the last, whose way out is not known yet; at the end that one, too. */
static void drain(struct thread *thread, bool is_end)
{
    if (!thread->count)
        return;
    if (thread->unit)
        give_time(thread, thread->began);
    for (size_t i = 0; thread->unit && i + 1 < thread->count; i++) {
        give_entry(thread, &thread->entries[i], thread->entries[i + 1].block->start);
        if (thread->entries[i + 1].time)
            give_time(thread, thread->entries[i + 1].time);
    }
    if (is_end && thread->unit) {
        const struct entry *last = &thread->entries[thread->count - 1];

        if (last->after == AFTER_CALL || last->is_left)
            give_entry(thread, last, 0);
        else
            give_block(thread, last->block, last->count, 0, false);
    }
    give_batch(thread);
    thread->entries[0] = thread->entries[thread->count - 1];
    thread->count = is_end ? 0 : 1;
    thread->began = process_time();
    if (thread->unit)
        write_output(thread, OUTPUT);
}

/* ---- threads ---- */

static void say(const struct thread *thread, uint32_t kind, uint32_t extra, const char *text)
{
    process_say(&(struct spool_event){ .kind = kind,
                                       .size = text ? (uint32_t)strlen(text) + 1 : 0,
                                       .tid = thread->tid,
                                       .cpu = thread->cpu,
                                       .extra = extra },
                text, NULL, 0);
}

/* A thread is called as its maker was, until it says otherwise. */
static void say_comm(const struct thread *thread)
{
    char name[COMM + 1] = "";

    if (prctl(PR_GET_NAME, name) == 0)
        say(thread, SPOOL_COMM, 0, name);
}

void thread_program(void)
{
    const char *path = qemu_plugin_path_to_binary();
    const char *slash = path ? strrchr(path, '/') : NULL;
    char name[COMM];

    (void)snprintf(name, sizeof name, "%.15s", slash ? slash + 1 : path ? path : "?");
    (void)prctl(PR_SET_NAME, name); /* not QEMU's: threads inherit it */
    process_say(&(struct spool_event){ .kind = SPOOL_COMM,
                                       .size = (uint32_t)strlen(name) + 1,
                                       .time = process_start(),
                                       .tid = (uint32_t)gettid(),
                                       .extra = 1 },
                name, NULL, 0);
}

/* The trace unit and a CPU for it. */
static void begin_unit(struct thread *thread)
{
    static bool is_told;
    struct tw_step context = { .kind = TW_STEP_CONTEXT };
    struct tw_register reg;
    struct tw_fault fault;

    thread->cpu = process_take_cpu();
    if (thread->cpu == SPOOL_CPUS)
        return;
    thread->unit = unit_new(&process_options()->unit, &fault);
    if (!thread->unit) {
        if (!is_told)
            (void)fprintf(stderr, "trackway record: %s\n", fault.text);
        is_told = true;
        process_give_cpu(thread->cpu);
        thread->cpu = SPOOL_CPUS;
        return;
    }
    if (process_options()->ring)
        thread->ring = malloc((size_t)process_options()->ring);
    for (size_t i = 0; unit_register(thread->unit, &reg, i); i++) {
        char text[128];

        (void)snprintf(text, sizeof text, "%s=%llu", reg.name, (unsigned long long)reg.value);
        say(thread, SPOOL_REGISTER, 0, text);
    }
    if (unit_text(thread->unit))
        say(thread, SPOOL_CONFIG, 0, unit_text(thread->unit));
    say(thread, SPOOL_START, 0, NULL);
    context.context.security = TW_NONSECURE;
    context.context.is_64bit = blocks_is_64bit();
    context.context.context_id = thread->tid;
    step(thread, &context);
}

static struct thread *begin_thread(unsigned vcpu)
{
    static uint32_t first_of;
    struct thread *thread = vcpu < THREADS_MAX ? calloc(1, sizeof *thread) : NULL;
    const uint32_t pid = (uint32_t)getpid();
    const bool is_first = __atomic_exchange_n(&first_of, pid, __ATOMIC_ACQ_REL) != pid;

    if (!thread)
        return NULL;
    (void)pthread_mutex_init(&thread->lock, NULL);
    thread->tid = (uint32_t)gettid();
    thread->began = process_time();
    if (!is_first) /* made by another thread of the process */
        process_say(
            &(struct spool_event){
                .kind = SPOOL_FORK, .tid = thread->tid, .extra = pid, .more = pid },
            NULL, NULL, 0);
    if (!is_first)
        say_comm(thread);
    begin_unit(thread);
    threads[vcpu] = thread;
    return thread;
}

static void end_unit(struct thread *thread, uint32_t flags)
{
    char name[64];

    if (!thread->unit)
        return;
    if (!thread->is_broken)
        (void)unit_end(thread->unit);
    write_output(thread, 0);
    if (thread->ring) {
        const uint64_t room = process_options()->ring, at = thread->ring_size % room;

        if (thread->ring_size > room)
            (void)process_write(thread->tid, thread->cpu, thread->ring + at,
                                (size_t)(room - at));
        (void)process_write(thread->tid, thread->cpu, thread->ring,
                            (size_t)(thread->ring_size < room ? thread->ring_size : at));
    }
    process_trace_name(name, sizeof name, thread->tid, thread->cpu);
    say(thread, SPOOL_TRACE, flags, name);
    process_give_cpu(thread->cpu);
    unit_free(thread->unit);
    thread->unit = NULL;
}

static void finish(struct thread *thread, bool is_last)
{
    (void)pthread_mutex_lock(&thread->lock);
    drain(thread, true);
    end_unit(thread, 0);
    say(thread, SPOOL_EXIT, is_last, NULL);
    (void)pthread_mutex_unlock(&thread->lock);
}

/* ---- what happens ---- */

/* How far the block before came. */
static void settle(struct thread *thread)
{
    const uint64_t begun = thread_counter - seen;
    struct entry *last;

    seen = thread_counter;
    if (!thread->count || is_several)
        return;
    last = &thread->entries[thread->count - 1];
    if (begun < last->count) {
        last->count = (uint16_t)begun;
        last->is_left = last->after == AFTER_NOTHING;
    }
}

void thread_block(unsigned vcpu, void *context)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;
    const struct block *block = context;
    struct entry *to;

    if (!thread && !(thread = begin_thread(vcpu)))
        return;
    settle(thread);
    if (thread->count > ENTRIES - 1) {
        (void)pthread_mutex_lock(&thread->lock);
        drain(thread, false);
        (void)pthread_mutex_unlock(&thread->lock);
    }
    to = &thread->entries[thread->count];
    *to = (struct entry){ .block = block, .count = (uint16_t)block->count };
    if (thread->news != thread_news) {
        thread->news = thread_news;
        to->time = process_time();
    }
    thread->count++;
}

void thread_call(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (thread && thread->count)
        thread->entries[thread->count - 1].after = AFTER_CALL;
}

void thread_several(void)
{
    is_several = true;
}

bool thread_is_alone(void)
{
    return !is_several;
}

void thread_flush(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (!thread)
        return;
    (void)pthread_mutex_lock(&thread->lock);
    drain(thread, false);
    if (thread->unit)
        write_output(thread, 1);
    (void)pthread_mutex_unlock(&thread->lock);
}

void thread_end(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (!thread)
        return;
    threads[vcpu] = NULL;
    finish(thread, false);
    free(thread->ring);
    free(thread);
}

void thread_end_all(bool is_crash)
{
    for (unsigned vcpu = 0; vcpu < THREADS_MAX; vcpu++) {
        struct thread *thread = threads[vcpu];

        if (!thread)
            continue;
        if (is_crash && thread->tid == (uint32_t)gettid())
            settle(thread);
        finish(thread, true);
    }
}

void thread_forked(uint32_t parent_pid, uint32_t parent_tid)
{
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        struct thread *thread = threads[i];

        if (!thread)
            continue;
        /* The parent goes on with its unit and its CPU; here they are copies. */
        unit_free(thread->unit);
        free(thread->ring);
        free(thread);
        threads[i] = NULL;
    }
    seen = thread_counter;
    process_say(&(struct spool_event){ .kind = SPOOL_FORK,
                                       .time = process_start(),
                                       .tid = (uint32_t)gettid(),
                                       .extra = parent_pid,
                                       .more = parent_tid },
                NULL, NULL, 0);
}
