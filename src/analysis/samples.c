/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's rules: a sample is made when a range arrives, of what ended the range before it. */
#include <trackway/samples.h>

#include <string.h>

#include "analysis/streams.h"
#include "base/bytes.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/sized.h"

enum kind { EMPTY, RANGE, DISCONTINUITY };

/* A range, or a break in the trace. */
struct packet {
    uint8_t kind; /* enum kind */
    bool is_taken;
    uint8_t isa, last_size;
    unsigned flags;
    uint64_t start, end;
};

/* A thread as perf has it. */
struct thread {
    uint32_t pid, tid;
    const char *comm; /* NULL: none yet */
};

/* What goes on in a stream, or in all of a ring where perf keeps them together. */
struct state {
    struct packet before;
    struct thread whose;   /* `before` was */
    struct thread now;     /* as the last context of any source says */
    uint64_t instructions; /* since the last sample */
    bool has_exception;    /* ... that has not been taken into account */
    uint32_t exception;
    uint64_t last_index; /* of the last range */
    size_t count, newest;
    struct tw_branch_step stack[];
};

/* Whether the streams of a ring have one state for all. */
enum share { SHARE_IN_THREADS /* in the rings of threads */, SHARE_ALWAYS };

struct stream {
    bool is_begun;
    uint8_t id;
    uint32_t ring, buffer, cpu;
    struct thread thread; /* of the last part */
    struct tw_view view;
    struct tw_image *image;
    const char *protocol;
    struct state *state;
};

struct tw_samples {
    struct tw_samples_config config;
    struct tw_allocator allocator_copy;
    const struct tw_allocator *allocator;
    const struct tw_perf *perf;
    enum share share;
    struct tw_streams streams; /* struct stream, by number */
    struct tw_streams rings;   /* struct state *, by ring */
};

/* ---- states ---- */

/* Whether the trace units were told to send timestamps. */
static bool has_timestamps(const struct tw_capture *capture)
{
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const struct tw_register *control = source->registers;

        /* RISC-V has none. */
        if (source->register_count &&
            control->value >> (strcmp(control->name, "ETMCR") == 0 ? 28 : 11) & 1)
            return true;
    }
    return false;
}

enum tw_status tw_samples_new(struct tw_samples **samples, const struct tw_capture *capture,
                              const struct tw_samples_config *config, struct tw_fault *fault)
{
    struct tw_samples_config own;
    struct tw_samples *made;

    *samples = NULL;
    TW_TRY(TW_SIZED_TAKE(&own, config, "tw_samples_config", fault));
    if (!tw_capture_perf(capture) || !own.report)
        return tw_fail(fault, TW_E_ARGUMENT, "samples are made of perf.data, and reported");
    made = tw_take(own.allocator, sizeof *made);
    if (!made)
        return tw_fail(fault, TW_E_MEMORY, "no memory for samples");
    made->config = own;
    if (own.allocator) {
        made->allocator_copy = *own.allocator;
        made->allocator = &made->allocator_copy;
    }
    made->perf = tw_capture_perf(capture);
    /* perf 6.1 keeps one state for all sources in a ring buffer where it does not look at time. */
    made->share = own.is_perf_6_1 && !has_timestamps(capture) ? SHARE_ALWAYS : SHARE_IN_THREADS;
    tw_streams_init(&made->streams, sizeof(struct stream), made->allocator);
    tw_streams_init(&made->rings, sizeof(struct state *), made->allocator);
    *samples = made;
    return TW_OK;
}

void tw_samples_free(struct tw_samples *samples)
{
    struct tw_allocator allocator;

    if (!samples)
        return;
    allocator = samples->allocator_copy;
    for (uint32_t i = 0; i < samples->streams.count; i++) {
        struct stream *stream = tw_streams_at(&samples->streams, i);
        struct state **shared = tw_streams_at(&samples->rings, stream->ring);

        if (!shared || *shared != stream->state)
            tw_give(samples->allocator, stream->state);
    }
    for (uint32_t i = 0; i < samples->rings.count; i++)
        tw_give(samples->allocator, *(struct state **)tw_streams_at(&samples->rings, i));
    tw_streams_free(&samples->streams);
    tw_streams_free(&samples->rings);
    tw_give(samples->allocator ? &allocator : NULL, samples);
}

/* Zeroed state for a stream: its own, or that of the ring. */
static struct state *state_for(struct tw_samples *samples, const struct tw_part *part)
{
    const size_t size =
        sizeof(struct state) + samples->config.stack_room * sizeof(struct tw_branch_step);
    struct state **shared;

    if (samples->share == SHARE_IN_THREADS &&
        tw_perf_block(samples->perf, part->buffer)->tid == TW_NONE)
        return tw_take(samples->allocator, size);
    shared = tw_streams_put(&samples->rings, part->ring);
    if (shared && !*shared)
        *shared = tw_take(samples->allocator, size);
    return shared ? *shared : NULL;
}

/* pid, tid and comm as perf prints them. */
static struct thread thread_of(const struct tw_who *who)
{
    struct thread thread = { who->thread ? who->pid : who->tid, who->tid, who->comm };

    if (!*thread.comm)
        thread.comm = who->tid == 0 ? "swapper" : ":-1";
    return thread;
}

/* The stream of a part, which goes on as the part says; NULL: no memory. */
static struct stream *stream_of(struct tw_samples *samples, const struct tw_part *part)
{
    struct stream *stream = tw_streams_put(&samples->streams, part->stream);

    if (!stream)
        return NULL;
    if (!stream->is_begun) {
        stream->state = state_for(samples, part);
        if (!stream->state)
            return NULL;
        stream->is_begun = true;
        stream->id = part->batch.id;
        stream->ring = part->ring;
        stream->cpu = part->who.cpu;
        stream->image = part->image;
        stream->protocol = part->source->protocol;
    }
    stream->buffer = part->buffer;
    stream->thread = thread_of(&part->who);
    stream->view = part->who.view;
    return stream;
}

/* ---- reports ---- */

static uint64_t last_ip(const struct packet *packet)
{
    return packet->kind == RANGE ? packet->end - packet->last_size : 0;
}

static void report(const struct tw_samples *samples, const struct stream *stream,
                   const struct thread *thread, struct tw_sample *sample)
{
    sample->size = sizeof *sample;
    sample->cpu = stream->cpu;
    sample->pid = thread->pid;
    sample->tid = thread->tid;
    sample->comm = thread->comm;
    samples->config.report(samples->config.context, sample);
}

/* Whose the branch is that ends what was before. */
static const struct thread *thread_of_branch(const struct tw_samples *samples,
                                             const struct stream *stream)
{
    const struct state *state = stream->state;

    if (samples->config.is_perf_6_1 && state->now.comm)
        return &state->now;
    return samples->config.is_perf_6_1 || state->before.kind != RANGE ? &stream->thread
                                                                      : &state->whose;
}

static void report_branch(const struct tw_samples *samples, const struct stream *stream,
                          uint64_t next)
{
    const struct packet *before = &stream->state->before;
    struct tw_sample sample = { .flags = before->flags, .ip = last_ip(before), .to = next };

    report(samples, stream, thread_of_branch(samples, stream), &sample);
}

static void report_sample(const struct tw_samples *samples, const struct stream *stream,
                          uint64_t ip)
{
    const struct state *state = stream->state;
    struct tw_sample sample = { .ip = ip,
                                .stack = state->stack,
                                .stack_count = state->count,
                                .stack_newest = state->newest,
                                .stack_room = samples->config.stack_room };

    report(samples, stream,
           samples->config.is_perf_6_1 && state->now.comm ? &state->now : &stream->thread,
           &sample);
}

/* ---- flags ---- */

static bool read_code(const struct stream *stream, uint8_t *out, uint64_t address, size_t size)
{
    return stream->image &&
           tw_image_read(stream->image, out, &stream->view, address, size) == size;
}

/* Whether the instruction that ends at this address is a supervisor call. */
static bool is_svc(const struct stream *stream, unsigned isa, uint64_t end)
{
    uint8_t bytes[4];
    uint32_t word;

    if (isa == TW_ISA_T32)
        return read_code(stream, bytes, end - 2, 2) && bytes[1] == 0xdf;
    if (!read_code(stream, bytes, end - 4, 4))
        return false;
    word = tw_load_le32(bytes);
    if (isa == TW_ISA_A32)
        return (word & 0x0f000000) == 0x0f000000 && (word & 0xf0000000) != 0xf0000000;
    return (word & 0xffe0001f) == 0xd4000001;
}

/* Which branch comes next no one can tell: a table, and nothing for the host to guess. */
static unsigned flags_of_range(const struct tw_element *range)
{
    enum { KINDS = 8, SUBS = 8 }; /* fields of three bits */
    static const uint16_t flags[KINDS * SUBS] = {
        [SUBS * TW_LAST_BR + TW_SUB_NONE] = TW_SAMPLE_BRANCH,
        [SUBS * TW_LAST_BR + TW_SUB_LINK] = TW_SAMPLE_BRANCH | TW_SAMPLE_CALL,
        [SUBS * TW_LAST_IBR + TW_SUB_LINK] = TW_SAMPLE_BRANCH | TW_SAMPLE_CALL,
        [SUBS * TW_LAST_IBR + TW_SUB_NONE] = TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN,
        [SUBS * TW_LAST_IBR + TW_SUB_V8_RET] = TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN,
        [SUBS * TW_LAST_IBR + TW_SUB_V7_IMPLIED_RET] = TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN,
    };
    const unsigned is_conditional = (range->flags & TW_RANGE_CONDITIONAL) != 0;
    const unsigned found = flags[SUBS * range->last_kind + range->last_sub];

    return found |
           (unsigned)(found == TW_SAMPLE_BRANCH) * is_conditional * TW_SAMPLE_CONDITIONAL;
}

/* Bit n: exception n is of that kind, by protocol. */
struct kinds {
    uint32_t async, sync;
    uint8_t call;
};

static unsigned flags_of_exception(const struct stream *stream, const struct packet *before,
                                   uint32_t number)
{
    static const struct kinds etmv4 = { 1 << 0 | 1 << 1 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 14 |
                                            1 << 15,
                                        1u << 3 | 1u << 10 | 1u << 11 | 1u << 12 | 0x7fff0000u,
                                        2 };
    static const struct kinds armv7 = { 1 << 1 | 1 << 4 | 1 << 8 | 1 << 14 | 1 << 15,
                                        1 << 2 | 1 << 3 | 1 << 5 | 1 << 9 | 1 << 11 | 1 << 12 |
                                            1 << 13,
                                        10 };
    const bool is_etmv4 = strcmp(stream->protocol, "etmv4") == 0;
    const struct kinds *kinds = is_etmv4 ? &etmv4 : &armv7;
    const uint32_t bit = number < 32 ? (uint32_t)1 << number : 0;
    const unsigned call = TW_SAMPLE_BRANCH | TW_SAMPLE_CALL;

    /* Exceptions of an ETE have no name in perf. */
    if (strcmp(stream->protocol, "ete") == 0)
        return 0;
    if (number == kinds->call) {
        if (!is_etmv4 || is_svc(stream, before->isa, before->end))
            return call | TW_SAMPLE_SYSCALL;
        return call | TW_SAMPLE_INTERRUPT;
    }
    if (kinds->async & bit)
        return call | TW_SAMPLE_ASYNC | TW_SAMPLE_INTERRUPT;
    return kinds->sync & bit ? call | TW_SAMPLE_INTERRUPT : 0;
}

/* ---- elements ---- */

static void push_branch(const struct tw_samples *samples, struct state *state, uint64_t next)
{
    const size_t room = samples->config.stack_room;

    if (!room || state->before.kind != RANGE || !state->before.is_taken)
        return;
    state->newest = (state->newest + 1) % room;
    state->stack[state->newest] = (struct tw_branch_step){ last_ip(&state->before), next };
    if (state->count < room)
        state->count++;
}

/* The address of the n-th instruction of a range. */
static uint64_t nth(const struct stream *stream, const struct tw_element *range, uint64_t n)
{
    uint64_t at = range->start;
    uint8_t bytes[2];

    if (range->isa != TW_ISA_T32)
        return at + n * 4;
    for (; n && read_code(stream, bytes, at, 2); n--)
        at += (bytes[1] & 0xf8) >= 0xe8 ? 4 : 2;
    return at;
}

static void report_instructions(const struct tw_samples *samples, const struct stream *stream,
                                const struct tw_element *range)
{
    const uint64_t period = samples->config.period;
    struct state *state = stream->state;
    uint64_t next = period - state->instructions - 1;

    state->instructions += range->count;
    while (state->instructions >= period) {
        report_sample(samples, stream, nth(stream, range, next));
        next += period;
        state->instructions -= period;
    }
}

static bool is_taken(const struct tw_element *range)
{
    return (range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR) &&
           (range->flags & TW_RANGE_EXECUTED);
}

/* Keeps what the next element is judged by. */
static void keep_range(const struct stream *stream, const struct tw_element *range)
{
    struct state *state = stream->state;
    struct packet *before = &state->before;

    /* Field by field: what is put together elsewhere and copied is waited for. */
    before->kind = RANGE;
    before->is_taken = is_taken(range);
    before->isa = range->isa;
    before->last_size = (uint8_t)(range->last_size * 2);
    before->flags = flags_of_range(range);
    before->start = range->start;
    before->end = tw_element_end(range);
    state->last_index = range->index;
    state->whose = stream->thread;
}

static void take_range(const struct tw_samples *samples, const struct stream *stream,
                       const struct tw_element *range)
{
    struct state *state = stream->state;
    struct packet *before = &state->before;

    if (before->kind == DISCONTINUITY)
        before->flags |= TW_SAMPLE_BRANCH | TW_SAMPLE_TRACE_BEGIN;
    else if (before->flags == (TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_INTERRUPT) &&
             is_svc(stream, range->isa, range->start))
        before->flags = TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_SYSCALL;
    push_branch(samples, state, range->start);
    if (samples->config.period)
        report_instructions(samples, stream, range);
    else if (before->kind == DISCONTINUITY || (before->kind == RANGE && before->is_taken))
        report_branch(samples, stream, range->start);
    keep_range(stream, range);
}

/* The branches of ranges that follow each other from elements[at] on, which has been taken: what ended a range stands in the
   element before, and whose it was does not change.  Gives the last of them. */
static size_t take_run(const struct tw_samples *samples, const struct stream *stream,
                       const struct tw_batch *batch, size_t at)
{
    const struct tw_element *range = &batch->elements[at];
    const struct thread *thread = thread_of_branch(samples, stream);
    struct tw_sample sample = { .size = sizeof sample,
                                .cpu = stream->cpu,
                                .pid = thread->pid,
                                .tid = thread->tid,
                                .comm = thread->comm };

    for (; at + 1 < batch->count && range[1].type == TW_ELEMENT_INSTR_RANGE; at++, range++) {
        if (!is_taken(range))
            continue;
        sample.flags = flags_of_range(range);
        sample.ip = tw_element_end(range) - 2 * (uint64_t)range->last_size;
        sample.to = range[1].start;
        samples->config.report(samples->config.context, &sample);
    }
    keep_range(stream, range);
    return at;
}

static void flush_sample(const struct tw_samples *samples, const struct stream *stream)
{
    struct state *state = stream->state;

    if (!samples->config.period || !samples->config.stack_room || state->before.kind != RANGE)
        return;
    report_sample(samples, stream, last_ip(&state->before));
    state->instructions = 0;
}

static void take_break(const struct tw_samples *samples, const struct stream *stream)
{
    struct state *state = stream->state;
    const struct packet packet = { .kind = DISCONTINUITY };

    if (state->before.kind == RANGE) {
        state->before.flags |= TW_SAMPLE_BRANCH | TW_SAMPLE_TRACE_END;
        flush_sample(samples, stream);
        if (!samples->config.period)
            report_branch(samples, stream, 0);
    }
    state->before = packet;
    state->count = 0;
    state->whose = stream->thread;
}

static void take_exception(const struct stream *stream)
{
    struct state *state = stream->state;
    struct packet *before = &state->before;

    state->has_exception = false;
    if (before->kind != RANGE)
        return;
    before->is_taken = true;
    before->flags = flags_of_exception(stream, before, state->exception);
}

/* perf takes one element at a time, and forgets what is left when a block ends: an exception that
   came together with a range and out of the block's last frame.  True: it counts. */
static bool exception_counts(const struct tw_samples *samples, const struct stream *stream,
                             const struct tw_element *next)
{
    enum { FRAME = 16 };
    const struct tw_perf_block *block = tw_perf_block(samples->perf, stream->buffer);

    if (next->type == TW_ELEMENT_EO_TRACE)
        return false;
    return (block->flags & TW_PERF_RAW) || next->index <= block->offset + block->size - FRAME;
}

static void take_other(const struct tw_samples *samples, const struct stream *stream,
                       const struct tw_element *element)
{
    struct state *state = stream->state;
    struct packet *before = &state->before;

    switch (element->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
        take_break(samples, stream);
        break;
    case TW_ELEMENT_EXCEPTION:
        state->exception = element->number;
        /* One that came together with a range waits to see what follows. */
        state->has_exception = element->index == state->last_index;
        if (!state->has_exception)
            take_exception(stream);
        break;
    case TW_ELEMENT_EXCEPTION_RET:
        if (before->kind != RANGE)
            break;
        before->is_taken = true;
        before->flags = TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_INTERRUPT;
        break;
    case TW_ELEMENT_PE_CONTEXT:
        state->now = stream->thread;
        break;
    default:
        break;
    }
}

/* A buffer is at its end: streams of its ring, by trace ID. */
static void end_buffer(const struct tw_samples *samples, uint32_t ring)
{
    const struct stream *stream, *next;

    for (int last = -1;; last = stream->id) {
        stream = NULL;
        for (size_t i = 0; i < samples->streams.count; i++) {
            next = tw_streams_at(&samples->streams, i);
            if (next->is_begun && next->ring == ring && next->id > last &&
                (!stream || next->id < stream->id))
                stream = next;
        }
        if (!stream)
            return;
        stream->state->has_exception = false;
        flush_sample(samples, stream);
    }
}

enum tw_status tw_samples_take(struct tw_samples *samples, const struct tw_part *part)
{
    const bool is_each = !samples->config.period && !samples->config.stack_room;
    const struct stream *stream;
    struct state *state;

    if (part->kind == TW_PART_END)
        end_buffer(samples, part->ring);
    if (part->kind != TW_PART_ELEMENTS || !part->source)
        return TW_OK;
    stream = stream_of(samples, part);
    if (!stream)
        return TW_E_MEMORY;
    state = stream->state;
    if (part->is_resumed) /* what a filter left out is not traced */
        take_break(samples, stream);
    for (size_t i = 0; i < part->batch.count; i++) {
        const struct tw_element *element = &part->batch.elements[i];

        if (state->has_exception && exception_counts(samples, stream, element))
            take_exception(stream);
        state->has_exception = false;
        if (element->type != TW_ELEMENT_INSTR_RANGE) {
            take_other(samples, stream, element);
            continue;
        }
        take_range(samples, stream, element);
        if (is_each)
            i = take_run(samples, stream, &part->batch, i);
    }
    return TW_OK;
}

const char *tw_sample_flags_name(unsigned flags)
{
    static const struct {
        unsigned flags;
        const char *name;
    } names[] = {
        { TW_SAMPLE_BRANCH | TW_SAMPLE_CALL, "call" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN, "return" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_CONDITIONAL, "jcc" },
        { TW_SAMPLE_BRANCH, "jmp" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_CALL | TW_SAMPLE_INTERRUPT, "int" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_INTERRUPT, "iret" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_CALL | TW_SAMPLE_SYSCALL, "syscall" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_RETURN | TW_SAMPLE_SYSCALL, "sysret" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_ASYNC, "async" },
        { TW_SAMPLE_BRANCH | TW_SAMPLE_CALL | TW_SAMPLE_ASYNC | TW_SAMPLE_INTERRUPT, "hw int" },
    };

    flags &= ~(unsigned)(TW_SAMPLE_TRACE_BEGIN | TW_SAMPLE_TRACE_END);
    for (size_t i = 0; i < TW_LENGTH(names); i++)
        if (names[i].flags == flags)
            return names[i].name;
    return "";
}
