/* SPDX-License-Identifier: BSD-2-Clause */
/* perf's rules: a sample is made when a range arrives, of what ended the range before it. */
#include "commands/synth.h"

#include <stdlib.h>
#include <string.h>

enum kind { EMPTY, RANGE, DISCONTINUITY };

/* A range, or a break in the trace. */
struct packet {
    uint8_t kind; /* enum kind */
    bool is_taken;
    uint8_t isa, last_size;
    unsigned flags;
    uint64_t start, end;
};

struct state {
    struct packet before;
    uint32_t pid, tid; /* whose `before` was */
    const char *comm;
    uint32_t pid_now, tid_now; /* as the last context of any source says */
    const char *comm_now;
    uint64_t instructions; /* since the last sample */
    bool has_exception;    /* ... that has not been taken into account */
    uint32_t exception;
    uint64_t last_index; /* of the last range */
    size_t count, newest;
    struct branch stack[];
};

static uint64_t last_ip(const struct packet *packet)
{
    return packet->kind == RANGE ? packet->end - packet->last_size : 0;
}

static uint64_t first_ip(const struct packet *packet)
{
    return packet->kind == RANGE ? packet->start : 0;
}

static void remember(struct state *state, const struct merge_lane *lane)
{
    state->pid = merge_pid(lane);
    state->tid = lane->at.tid;
    state->comm = merge_comm(lane);
}

static void fill(struct sample *sample, const struct synth *synth, struct merge_lane *lane)
{
    const struct state *state = lane->state;

    *sample = (struct sample){
        .lane = lane, .pid = state->pid, .tid = state->tid, .comm = state->comm
    };
    if (synth->is_old && state->comm_now) {
        sample->pid = state->pid_now;
        sample->tid = state->tid_now;
        sample->comm = state->comm_now;
    } else if (synth->is_old || state->before.kind != RANGE) {
        sample->pid = merge_pid(lane);
        sample->tid = lane->at.tid;
        sample->comm = merge_comm(lane);
    }
}

static void report_branch(const struct synth *synth, struct merge_lane *lane,
                          const struct packet *next)
{
    const struct state *state = lane->state;
    struct sample sample;

    fill(&sample, synth, lane);
    sample.flags = state->before.flags;
    sample.ip = last_ip(&state->before);
    sample.to = first_ip(next);
    synth->report(synth->context, &sample);
}

static void report_sample(const struct synth *synth, struct merge_lane *lane, uint64_t ip)
{
    const struct state *state = lane->state;
    struct sample sample;

    fill(&sample, synth, lane);
    if (!synth->is_old) {
        sample.pid = merge_pid(lane);
        sample.tid = lane->at.tid;
        sample.comm = merge_comm(lane);
    }
    sample.ip = ip;
    sample.stack = state->stack;
    sample.stack_count = state->count;
    sample.stack_newest = state->newest;
    sample.stack_room = synth->stack_room;
    synth->report(synth->context, &sample);
}

static size_t read_code(const struct merge_lane *lane, uint8_t *out, uint64_t address,
                        size_t size)
{
    return tw_image_read(lane->image, out, &lane->view, address, size) == size;
}

/* Whether the instruction that ends at this address is a supervisor call. */
static bool is_svc(const struct merge_lane *lane, const struct packet *packet, uint64_t end)
{
    uint8_t bytes[4];
    uint32_t word;

    if (packet->isa == TW_ISA_T32)
        return read_code(lane, bytes, end - 2, 2) && bytes[1] == 0xdf;
    if (!read_code(lane, bytes, end - 4, 4))
        return false;
    word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
    if (packet->isa == TW_ISA_A32)
        return (word & 0x0f000000) == 0x0f000000 && (word & 0xf0000000) != 0xf0000000;
    return (word & 0xffe0001f) == 0xd4000001;
}

static unsigned flags_of_range(const struct tw_element *range)
{
    const bool is_direct = range->last_kind == TW_LAST_BR;
    const unsigned sub = range->last_sub;

    if (!is_direct && range->last_kind != TW_LAST_IBR)
        return 0;
    if (sub == TW_SUB_LINK)
        return IP_BRANCH | IP_CALL;
    if (is_direct && sub == TW_SUB_NONE)
        return IP_BRANCH | (range->flags & TW_RANGE_CONDITIONAL ? IP_CONDITIONAL : 0);
    if (!is_direct &&
        (sub == TW_SUB_NONE || sub == TW_SUB_V8_RET || sub == TW_SUB_V7_IMPLIED_RET))
        return IP_BRANCH | IP_RETURN;
    return 0;
}

/* Bit n: exception n is of that kind, by protocol. */
struct kinds {
    uint32_t async, sync;
    uint8_t call;
};

static unsigned flags_of_exception(const struct merge_lane *lane, const struct packet *before,
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
    const bool is_etmv4 = strcmp(lane->protocol, "etmv4") == 0;
    const struct kinds *kinds = is_etmv4 ? &etmv4 : &armv7;
    const uint32_t bit = number < 32 ? (uint32_t)1 << number : 0;

    /* Exceptions of an ETE have no name in perf. */
    if (strcmp(lane->protocol, "ete") == 0)
        return 0;
    if (number == kinds->call) {
        if (!is_etmv4 || is_svc(lane, before, before->end))
            return IP_BRANCH | IP_CALL | IP_SYSCALLRET;
        return IP_BRANCH | IP_CALL | IP_INTERRUPT;
    }
    if (kinds->async & bit)
        return IP_BRANCH | IP_CALL | IP_ASYNC | IP_INTERRUPT;
    return kinds->sync & bit ? IP_BRANCH | IP_CALL | IP_INTERRUPT : 0;
}

static void push_branch(const struct synth *synth, struct state *state,
                        const struct packet *next)
{
    if (!synth->stack_room || state->before.kind != RANGE || !state->before.is_taken)
        return;
    state->newest = (state->newest + 1) % synth->stack_room;
    state->stack[state->newest] = (struct branch){ last_ip(&state->before), first_ip(next) };
    if (state->count < synth->stack_room)
        state->count++;
}

/* The address of the n-th instruction of a range. */
static uint64_t nth(const struct merge_lane *lane, const struct tw_element *range, uint64_t n)
{
    uint64_t at = range->start;
    uint8_t bytes[2];

    if (range->isa != TW_ISA_T32)
        return at + n * 4;
    for (; n && read_code(lane, bytes, at, 2); n--)
        at += (bytes[1] & 0xf8) >= 0xe8 ? 4 : 2;
    return at;
}

static void report_instructions(const struct synth *synth, struct merge_lane *lane,
                                const struct tw_element *range)
{
    struct state *state = lane->state;
    uint64_t next = synth->period - state->instructions - 1;

    state->instructions += range->count;
    while (state->instructions >= synth->period) {
        report_sample(synth, lane, nth(lane, range, next));
        next += synth->period;
        state->instructions -= synth->period;
    }
}

/* size: hot loop */
static void take_range(const struct synth *synth, struct merge_lane *lane,
                       const struct tw_element *range)
{
    struct state *state = lane->state;
    struct packet *before = &state->before;
    const bool is_branch = range->last_kind == TW_LAST_BR || range->last_kind == TW_LAST_IBR;
    const struct packet packet = { .kind = RANGE,
                                   .is_taken = is_branch && (range->flags & TW_RANGE_EXECUTED),
                                   .isa = range->isa,
                                   .last_size = (uint8_t)(range->last_size * 2),
                                   .flags = flags_of_range(range),
                                   .start = range->start,
                                   .end = tw_element_end(range) };

    if (before->kind == DISCONTINUITY)
        before->flags |= IP_BRANCH | IP_TRACE_BEGIN;
    else if (before->flags == (IP_BRANCH | IP_RETURN | IP_INTERRUPT) &&
             is_svc(lane, &packet, packet.start))
        before->flags = IP_BRANCH | IP_RETURN | IP_SYSCALLRET;
    push_branch(synth, state, &packet);
    if (synth->period)
        report_instructions(synth, lane, range);
    else if (before->kind == DISCONTINUITY || (before->kind == RANGE && before->is_taken))
        report_branch(synth, lane, &packet);
    *before = packet;
    state->last_index = range->index;
    remember(state, lane);
}

/* The samples that are due before the branches are forgotten. */
static void flush_sample(const struct synth *synth, struct merge_lane *lane)
{
    struct state *state = lane->state;

    if (!synth->period || !synth->stack_room || state->before.kind != RANGE)
        return;
    report_sample(synth, lane, last_ip(&state->before));
    state->instructions = 0;
}

static void take_break(const struct synth *synth, struct merge_lane *lane)
{
    struct state *state = lane->state;
    const struct packet packet = { .kind = DISCONTINUITY };

    if (state->before.kind == RANGE) {
        state->before.flags |= IP_BRANCH | IP_TRACE_END;
        flush_sample(synth, lane);
        if (!synth->period)
            report_branch(synth, lane, &packet);
    }
    state->before = packet;
    state->count = 0;
    remember(state, lane);
}

static void take_exception(struct merge_lane *lane)
{
    struct state *state = lane->state;
    struct packet *before = &state->before;

    state->has_exception = false;
    if (before->kind != RANGE)
        return;
    before->is_taken = true;
    before->flags = flags_of_exception(lane, before, state->exception);
}

/* perf takes one element at a time, and forgets what is left when a block ends: an exception that
   came together with a range and out of the block's last frame.  True: it counts. */
static bool exception_counts(const struct merge_lane *lane, const struct tw_element *next)
{
    enum { FRAME = 16 };
    const struct tw_perf_block *block = tw_perf_block(lane->at.perf, lane->at.buffer);

    if (next->type == TW_ELEMENT_EO_TRACE)
        return false;
    return (block->flags & TW_PERF_RAW) || next->index <= block->offset + block->size - FRAME;
}

static void take_other(const struct synth *synth, struct merge_lane *lane,
                       const struct tw_element *element)
{
    struct state *state = lane->state;
    struct packet *before = &state->before;

    switch (element->type) {
    case TW_ELEMENT_NO_SYNC:
    case TW_ELEMENT_TRACE_ON:
        take_break(synth, lane);
        break;
    case TW_ELEMENT_EXCEPTION:
        state->exception = element->number;
        /* One that came together with a range waits to see what follows. */
        state->has_exception = element->index == state->last_index;
        if (!state->has_exception)
            take_exception(lane);
        break;
    case TW_ELEMENT_EXCEPTION_RET:
        if (before->kind != RANGE)
            break;
        before->is_taken = true;
        before->flags = IP_BRANCH | IP_RETURN | IP_INTERRUPT;
        break;
    case TW_ELEMENT_ERROR:
        session_say_error(synth->session, element, lane->id);
        break;
    case TW_ELEMENT_PE_CONTEXT:
        merge_look(lane, element);
        state->pid_now = merge_pid(lane);
        state->tid_now = lane->at.tid;
        state->comm_now = merge_comm(lane);
        break;
    default:
        merge_look(lane, element);
        break;
    }
}

static void take(void *context, struct merge_lane *lane, const struct tw_element *elements,
                 size_t count)
{
    const struct synth *synth = context;

    struct state *state = lane->state;

    for (size_t i = 0; i < count; i++) {
        if (state->has_exception && exception_counts(lane, &elements[i]))
            take_exception(lane);
        state->has_exception = false;
        if (elements[i].type != TW_ELEMENT_INSTR_RANGE) {
            take_other(synth, lane, &elements[i]);
            continue;
        }
        take_range(synth, lane, &elements[i]);
    }
}

static void end_block(void *context, struct merge_lane *lane)
{
    struct state *state = lane->state;

    state->has_exception = false;
    flush_sample(context, lane);
}

int synth_run(struct session *session, const struct synth *synth)
{
    struct synth copy = *synth;
    const struct merge_sink sink = { .state_size = sizeof(struct state) +
                                                   synth->stack_room * sizeof(struct branch),
                                     .share = synth->share,
                                     .take = take,
                                     .end_block = end_block,
                                     .context = &copy };

    copy.session = session;
    return merge_run(session, &sink);
}
