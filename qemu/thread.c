/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread of the program: blocks run, in batches, into its trace unit. */
#define _GNU_SOURCE
#include "qemu/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "qemu/feed.h"
#include "qemu/process.h"
#include "qemu/queue.h"
#include "qemu/worker.h"

enum {
    /* Chunks that may wait for the worker, of all threads together and of each; with more a thread works itself. */
    WAITING_ALL = 128,
    WAITING = 4,
    COMM = 16
};

struct thread {
    /* What each block needs. */
    chunk_entry *at, *end;    /* where it is written down */
    const struct block *last; /* that was written down */
    const struct block *loop; /* the same, if nothing is noted of it: may be repeated */
    uint64_t expected;        /* of thread_counter, when the last block is done */
    uint64_t news;            /* of thread_news that it knows of */
    struct chunk *chunk;

    /* The worker writes here: not into the same line of its cache. */
    _Alignas(64) struct work work;
    struct tw_unit *unit;
    struct feed *feed; /* NULL: the thread is not traced */
    uint32_t cpu, tid;
    uint32_t owner;                 /* the thread of QEMU that runs it */
    struct tw_step_context context; /* of a processor of a machine */
    uint8_t level;                  /* RISC-V: behind the last block, unless a trap comes */
    struct queue queue;
    pthread_mutex_t feeding; /* the unit is at work */
};

uint64_t thread_counter, thread_news;

static struct thread *threads[THREADS_MAX];
static unsigned thread_count;
static bool is_several, is_system;
static struct thread *current; /* of a machine's processors, which take turns */

/* ---- chunks ---- */

/* All that waits goes into the unit; the worker or the thread itself does it. */
static void feed_waiting(struct thread *thread)
{
    struct chunk *chunk;

    (void)pthread_mutex_lock(&thread->feeding);
    while ((chunk = queue_take(&thread->queue)) != NULL) {
        if (thread->feed)
            feed_chunk(thread->feed, chunk);
        queue_give_back(&thread->queue, chunk);
    }
    (void)pthread_mutex_unlock(&thread->feeding);
}

static void run_work(struct work *work)
{
    feed_waiting((struct thread *)((char *)work - offsetof(struct thread, work)));
}

static void begin_chunk(struct thread *thread, struct chunk *chunk)
{
    chunk->count = chunk->note_count = 0;
    chunk->is_end = false;
    chunk->began = process_time();
    thread->chunk = chunk;
    thread->at = chunk->entries;
    thread->last = thread->loop = NULL;
    thread->end = chunk->entries + CHUNK_ENTRIES - 2; /* part_last needs some */
}

/* The last block stands alone, without repeats. */
static void part_last(struct thread *thread)
{
    chunk_entry *tag = thread->at - 1;

    if (thread->at == thread->chunk->entries || !entry_is_repeat(*tag))
        return;
    if (*tag == 3) { /* one repeat: the block twice */
        *tag = (chunk_entry)thread->last;
    } else {
        *tag -= 2;
        *thread->at++ = (chunk_entry)thread->last; /* there is always a place left for this */
    }
}

/* The chunk is handed over.  Its last block, whose way out is not known yet, begins the next one. */
static void hand_over(struct thread *thread, bool is_end)
{
    struct chunk *old = thread->chunk, *next = queue_unused(&thread->queue);
    const struct block *last = thread->last;

    part_last(thread);
    old->count = (uint32_t)(thread->at - old->entries);
    old->is_end = is_end;
    if (!next) { /* no memory: what was written down is fed now, and its memory used again */
        feed_waiting(thread);
        next = queue_unused(&thread->queue);
    }
    if (!next) {
        thread->at = old->entries; /* lost */
        thread->last = thread->loop = NULL;
        return;
    }
    begin_chunk(thread, next);
    if (!is_end && old->count) {
        const struct note *note = old->note_count ? &old->notes[old->note_count - 1] : NULL;

        *thread->at++ = (chunk_entry)last;
        thread->last = last;
        if (note && note->at == old->count - 1) {
            next->notes[next->note_count++] = *note;
            next->notes[0].at = 0;
        }
    }
    queue_put(&thread->queue, old);
}

/* The note on the last block. */
static struct note *note_last(struct thread *thread)
{
    struct chunk *chunk = thread->chunk;
    struct note *note;
    uint32_t at;

    part_last(thread);
    at = (uint32_t)(thread->at - chunk->entries) - 1;
    note = chunk->note_count ? &chunk->notes[chunk->note_count - 1] : NULL;
    thread->loop = NULL;
    if (note && note->at == at)
        return note;
    if (chunk->note_count == CHUNK_NOTES) {
        hand_over(thread, false);
        chunk = thread->chunk;
        if (thread->at == chunk->entries)
            return NULL;
        at = 0;
    }
    note = &chunk->notes[chunk->note_count++];
    *note = (struct note){ .at = at, .count = (uint16_t)thread->last->count };
    return note;
}

static bool has_blocks(const struct thread *thread)
{
    return thread->at != thread->chunk->entries;
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
    const struct tw_unit_trace *trace;
    struct tw_fault fault;

    thread->cpu = process_take_cpu();
    if (thread->cpu == SPOOL_CPUS)
        return;
    thread->unit = unit_new(&process_options()->unit, &fault);
    if (thread->unit)
        thread->feed = feed_new(thread->unit, thread->tid, thread->cpu);
    if (!thread->feed) {
        tw_unit_free(thread->unit);
        thread->unit = NULL;
        if (!is_told)
            (void)fprintf(stderr, "trackway record: %s\n", fault.text);
        is_told = true;
        process_give_cpu(thread->cpu);
        thread->cpu = SPOOL_CPUS;
        return;
    }
    trace = tw_unit_trace(thread->unit);
    for (size_t i = 0; i < trace->register_count; i++) {
        char text[128];

        (void)snprintf(text, sizeof text, "%s=%llu", trace->registers[i].name,
                       (unsigned long long)trace->registers[i].value);
        say(thread, SPOOL_REGISTER, 0, text);
    }
    if (trace->text)
        say(thread, SPOOL_CONFIG, 0, trace->text);
    say(thread, SPOOL_START, 0, NULL);
    if (!is_system)
        thread->context = (struct tw_step_context){ .security = TW_NONSECURE,
                                                    .is_64bit = blocks_is_64bit(),
                                                    .context_id = thread->tid };
    feed_context(thread->feed, &thread->context);
}

static void free_thread(struct thread *thread)
{
    (void)__atomic_sub_fetch(&thread_count, 1, __ATOMIC_RELAXED);
    queue_free(&thread->queue);
    feed_free(thread->feed);
    tw_unit_free(thread->unit);
    free(thread->chunk);
    free(thread);
}

static struct thread *begin_thread(unsigned vcpu)
{
    static uint32_t first_of;
    struct thread *thread =
        vcpu < THREADS_MAX ? aligned_alloc(_Alignof(struct thread), sizeof *thread) : NULL;
    struct chunk *chunk = thread ? malloc(sizeof *chunk) : NULL;
    const uint32_t pid = (uint32_t)getpid();
    const bool is_first = __atomic_exchange_n(&first_of, pid, __ATOMIC_ACQ_REL) != pid;

    if (!chunk) {
        free(thread);
        return NULL;
    }
    memset(thread, 0, sizeof *thread);
    queue_begin(&thread->queue);
    (void)pthread_mutex_init(&thread->feeding, NULL);
    thread->owner = (uint32_t)gettid();
    thread->tid = is_system ? vcpu + 1 : thread->owner;
    if (is_system)
        thread->context = system_context(vcpu);
    thread->expected = thread_counter;
    begin_chunk(thread, chunk);
    if (!is_first && !is_system) /* made by another thread of the process */
        process_say(
            &(struct spool_event){
                .kind = SPOOL_FORK, .tid = thread->tid, .extra = pid, .more = pid },
            NULL, NULL, 0);
    if (!is_first && !is_system)
        say_comm(thread);
    begin_unit(thread);
    threads[vcpu] = thread;
    (void)__atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
    return thread;
}

static void end_unit(struct thread *thread)
{
    char name[64];

    if (!thread->feed)
        return;
    feed_end(thread->feed);
    process_trace_name(name, sizeof name, thread->tid, thread->cpu);
    say(thread, SPOOL_TRACE, 0, name);
    process_give_cpu(thread->cpu);
    feed_free(thread->feed);
    thread->feed = NULL;
    tw_unit_free(thread->unit);
    thread->unit = NULL;
}

/* What another thread has written down so far, which may be writing still. */
static void hand_copy(struct thread *thread)
{
    struct chunk *copy = malloc(sizeof *copy);

    if (!copy)
        return;
    memcpy(copy, thread->chunk, sizeof *copy);
    copy->count = (uint32_t)(thread->at - thread->chunk->entries);
    copy->is_end = true;
    if (copy->count <= CHUNK_ENTRIES && copy->note_count <= CHUNK_NOTES)
        queue_put(&thread->queue, copy);
    else
        free(copy);
}

static void finish(struct thread *thread, bool is_last)
{
    worker_drop(&thread->work);
    if (thread->owner == (uint32_t)gettid())
        hand_over(thread, true);
    else
        hand_copy(thread);
    feed_waiting(thread);
    (void)pthread_mutex_lock(&thread->feeding);
    end_unit(thread);
    (void)pthread_mutex_unlock(&thread->feeding);
    say(thread, SPOOL_EXIT, is_last, NULL);
}

/* ---- what happens ---- */

/* The block before was left before its end. */
static void settle(struct thread *thread)
{
    const uint64_t missing = thread->expected - thread_counter;
    struct note *note;

    thread->expected = thread_counter;
    if (!has_blocks(thread) || is_several || missing > thread->last->count ||
        (note = note_last(thread)) == NULL)
        return;
    note->count = (uint16_t)(thread->last->count - missing);
    note->is_left = note->after == AFTER_NOTHING;
}

/* What is seldom: the first block, a full chunk, a fault before, news.  Not part of thread_block, which
   every block calls. */
static __attribute__((noinline)) void look(unsigned vcpu, const struct block *block)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (!thread && !(thread = begin_thread(vcpu)))
        return;
    if (thread_counter != thread->expected)
        settle(thread);
    if (thread->at >= thread->end) {
        hand_over(thread, false);
        if (thread->queue.count >= WAITING &&
            thread->queue.count >=
                WAITING_ALL / __atomic_load_n(&thread_count, __ATOMIC_RELAXED))
            feed_waiting(thread);
        else
            worker_add(&thread->work, run_work);
    }
    *thread->at++ = (chunk_entry)block;
    thread->last = thread->loop = block;
    thread->expected += block->count;
    if (thread->news != thread_news) {
        struct note *note = note_last(thread);

        thread->news = thread_news;
        if (note)
            note->time = process_time();
    }
}

void thread_block(unsigned vcpu, void *context)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;
    const struct block *block = context;

    if (!thread || thread->at >= thread->end || thread->news != thread_news ||
        (thread_counter != thread->expected && !is_several)) {
        look(vcpu, block);
        return;
    }
    thread->expected += block->count;
    if (block == thread->loop) {
        if (entry_is_repeat(thread->at[-1]))
            thread->at[-1] += 2;
        else
            *thread->at++ = 3;
        return;
    }
    *thread->at++ = (chunk_entry)block;
    thread->last = thread->loop = block;
}

void thread_system(void)
{
    is_system = true;
}

/* What happened before this block, if the last one does not simply lead here. */
static void look_back(struct thread *thread, unsigned vcpu, struct block *block)
{
    const struct block *last = thread->last;
    const struct chunk *chunk = thread->chunk;
    const bool is_left =
        chunk->note_count &&
        chunk->notes[chunk->note_count - 1].at + 1 == (uint32_t)(thread->at - chunk->entries) &&
        chunk->notes[chunk->note_count - 1].is_left;
    struct tw_step_context before;
    struct system_events *events;
    struct note *note;

    if (!is_left && block->is_known && !block->is_handler &&
        block_leads_to(last, block->start) && !system_may_hide(last, &thread->context))
        return;
    block->is_known = true;
    events = malloc(sizeof *events);
    if (!events)
        return;
    before = thread->context;
    if (blocks_target() == TARGET_RISCV)
        before.el = thread->level;
    if (!system_read(events, vcpu, &before, last) && before.el == thread->context.el) {
        free(events);
        return;
    }
    block->is_handler |= events->trap_count != 0 || events->gateway != SYSTEM_UNTOLD;
    thread->context = events->context;
    note = note_last(thread);
    if (note)
        note->events = events;
    else
        free(events);
}

void thread_block_system(unsigned vcpu, void *context)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;
    struct block *block = context;

    if (thread && current && current != thread) {
        if (thread_counter != current->expected)
            settle(current);
        thread->expected = thread_counter;
    }
    if (thread && thread_counter != thread->expected)
        settle(thread);
    if (thread && has_blocks(thread))
        look_back(thread, vcpu, block);
    look(vcpu, block);
    current = vcpu < THREADS_MAX ? threads[vcpu] : NULL;
    if (current)
        current->level = system_return_level(vcpu, block, current->context.el);
}

void thread_call(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;
    struct note *note = thread && has_blocks(thread) ? note_last(thread) : NULL;

    if (note)
        note->after = AFTER_CALL;
}

void thread_several(void)
{
    is_several = true;
}

bool thread_is_alone(void)
{
    return !is_several;
}

const struct block *thread_last(void)
{
    const uint32_t tid = (uint32_t)gettid();

    if (is_system)
        return current ? current->last : NULL;
    for (unsigned vcpu = 0; vcpu < THREADS_MAX; vcpu++)
        if (threads[vcpu] && threads[vcpu]->owner == tid)
            return threads[vcpu]->last;
    return NULL;
}

void thread_flush(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (!thread)
        return;
    hand_over(thread, false);
    feed_waiting(thread);
    (void)pthread_mutex_lock(&thread->feeding);
    if (thread->feed)
        feed_write(thread->feed);
    (void)pthread_mutex_unlock(&thread->feeding);
}

void thread_before_fork(void)
{
    for (unsigned vcpu = 0; !is_several && vcpu < THREADS_MAX; vcpu++)
        if (threads[vcpu])
            worker_drop(&threads[vcpu]->work);
}

void thread_end(unsigned vcpu)
{
    struct thread *thread = vcpu < THREADS_MAX ? threads[vcpu] : NULL;

    if (!thread)
        return;
    threads[vcpu] = NULL;
    finish(thread, false);
    free_thread(thread);
}

void thread_end_all(bool is_crash)
{
    for (unsigned vcpu = 0; vcpu < THREADS_MAX; vcpu++) {
        struct thread *thread = threads[vcpu];

        if (!thread)
            continue;
        if (is_crash && thread->owner == (uint32_t)gettid() &&
            thread_counter != thread->expected)
            settle(thread);
        finish(thread, true);
    }
}

void thread_forked(uint32_t parent_pid, uint32_t parent_tid)
{
    worker_forked();
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        /* The parent goes on with its unit and its CPU; here they are copies, and with several threads
           in the midst of something. */
        if (threads[i] && !is_several)
            free_thread(threads[i]);
        threads[i] = NULL;
    }
    thread_count = 0;
    process_say(&(struct spool_event){ .kind = SPOOL_FORK,
                                       .time = process_start(),
                                       .tid = (uint32_t)gettid(),
                                       .extra = parent_pid,
                                       .more = parent_tid },
                NULL, NULL, 0);
}
