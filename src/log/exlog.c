/* SPDX-License-Identifier: BSD-2-Clause */
/* The exlog form: runs of instructions, each defined once with its code and then named by number. */
#include "log/log.h"

#include <inttypes.h>

enum tag { END, DEF, EXC, SYSCALL, SIGNAL, CTX, REP, FIRST_RUN = 16 };

enum { REPEATS = 1 << 24, REPEATS_OF_BYTE = 4096 }; /* see struct tw_log_options */

/* Why a run ended. */
enum { FALL, DIRECT, INDIRECT, ERET, CALL, EXCEPTION, LAST };

static enum tw_status damaged(struct tw_log *log, const char *what)
{
    return tw_fail(&log->fault, TW_E_CONFIG, "exlog: %s, before byte %zu", what,
                   (size_t)(log->in.at - log->begin));
}

static uint64_t take(struct tw_log *log)
{
    return tw_bytes_uleb(&log->in, 10, NULL);
}

static uint64_t take_signed(struct tw_log *log)
{
    const uint64_t value = take(log);

    return value & 1 ? ~(value >> 1) : value >> 1;
}

/* One instruction of a run's code; false: the code ends inside it. */
static bool take_instruction(const struct tw_log *log, struct tw_retired *out,
                             struct tw_bytes *code, uint8_t *it_open)
{
    if (out->isa == TW_ISA_A64 || out->isa == TW_ISA_A32) {
        out->opcode = (uint32_t)tw_bytes_le(code, 4);
    } else {
        const uint32_t first = (uint32_t)tw_bytes_le(code, 2);
        const bool is_long = out->isa == TW_ISA_T32 ? first >> 11 >= 0x1d : (first & 3) == 3;

        out->opcode = first;
        if (is_long && out->isa == TW_ISA_T32)
            out->opcode = first << 16 | (uint32_t)tw_bytes_le(code, 2);
        else if (is_long)
            out->opcode = first | (uint32_t)tw_bytes_le(code, 2) << 16;
    }
    tw_log_classify(log, out, it_open);
    return !code->short_read;
}

/* What the run's kind says of its last instruction. */
static void mark_last(const struct tw_log *log, struct tw_retired *last, uint8_t kind)
{
    if (kind == DIRECT || kind == INDIRECT || kind == ERET)
        last->flags |= TW_RETIRED_TAKEN;
    if (kind != ERET || !log->is_m)
        return;
    /* It loaded EXC_RETURN: BX, POP, LDR, LDM. */
    last->kind = TW_RETIRED_INDIRECT;
    last->flags &= (uint8_t) ~(TW_RETIRED_RETURN | TW_RETIRED_LINK);
    last->flags |= TW_RETIRED_EXCEPTION_RETURN;
}

static enum tw_status take_code(struct tw_log *log, struct tw_log_run *run, uint8_t isa,
                                struct tw_bytes code)
{
    uint64_t address = run->start;
    uint8_t it_open = 0;

    run->first = log->pool_count;
    for (size_t i = 0; i < run->count; i++) {
        struct tw_retired *out;

        if (!TW_GROW(log->options.allocator, &log->pool, &log->pool_room, log->pool_count + 1))
            return tw_fail(&log->fault, TW_E_MEMORY, "no memory");
        out = &log->pool[log->pool_count++];
        *out = (struct tw_retired){ .address = address, .isa = isa };
        if (!take_instruction(log, out, &code, &it_open))
            return damaged(log, "a run's code is too short for its instructions");
        /* A run may begin inside an IT block, whose branches do not look conditional then. */
        if (out->isa == TW_ISA_T32 && out->kind <= TW_RETIRED_INDIRECT)
            out->flags &= (uint8_t)~TW_RETIRED_TAKEN;
        if (i + 1 == run->count)
            mark_last(log, out, run->kind);
        address += out->size;
    }
    return code.at == code.end ? TW_OK : damaged(log, "a run has more code than instructions");
}

static enum tw_status define(struct tw_log *log)
{
    static const uint8_t isas[] = { TW_ISA_A64, TW_ISA_A32, TW_ISA_T32, TW_ISA_RV64 };
    struct tw_log_run run = { 0 };
    struct tw_bytes code;
    uint64_t isa, kind, count, size;

    log->last_def += take_signed(log);
    run.start = log->last_def;
    isa = take(log);
    kind = take(log);
    count = take(log);
    size = take(log);
    if (log->in.short_read || isa >= TW_LENGTH(isas) || kind > LAST || count == 0 ||
        size > tw_bytes_left(&log->in) || count > size / 2)
        return damaged(log, "no such run can be");
    run.kind = (uint8_t)kind;
    run.count = (size_t)count;
    code = (struct tw_bytes){ .at = log->in.at, .end = log->in.at + size };
    log->in.at += size;
    TW_TRY(take_code(log, &run, isas[isa], code));
    if (!TW_GROW(log->options.allocator, &log->runs, &log->run_room, log->run_count + 1))
        return tw_fail(&log->fault, TW_E_MEMORY, "no memory");
    log->run = log->run_count;
    log->runs[log->run_count++] = run;
    return TW_OK;
}

/* Where the program goes on, from the records ahead; 0: they do not say. */
static uint64_t look_ahead(const struct tw_log *log)
{
    struct tw_log ahead = { .in = log->in };

    for (unsigned i = 0; i < 8; i++) {
        const uint64_t tag = take(&ahead);

        if (ahead.in.short_read || tag == END || (tag > REP && tag < FIRST_RUN))
            return 0;
        if (tag >= FIRST_RUN)
            return tag - FIRST_RUN < log->run_count ? log->runs[tag - FIRST_RUN].start : 0;
        if (tag == DEF)
            return log->last_def + take_signed(&ahead);
        if (tag == EXC) {
            for (unsigned j = 0; j < 4; j++)
                (void)take(&ahead);
            return take(&ahead);
        }
        if (tag == SIGNAL) {
            (void)take(&ahead);
            return take(&ahead);
        }
        for (unsigned j = tag == CTX ? 4 : 1; j; j--)
            (void)take(&ahead);
    }
    return 0;
}

/* Instructions that repetitions may add. */
static uint64_t repeats_most(const struct tw_log *log)
{
    if (log->options.repeats_most)
        return log->options.repeats_most;
    return REPEATS + (uint64_t)REPEATS_OF_BYTE * (uint64_t)(log->in.end - log->begin);
}

/* A RUN or DEF was read: with the repetitions that follow it. */
static enum tw_status begin_run(struct tw_log *log)
{
    struct tw_bytes at = log->in;
    uint64_t more;

    log->left = 1;
    if (tw_bytes_uleb(&at, 10, NULL) != REP)
        return TW_OK;
    more = tw_bytes_uleb(&at, 10, NULL);
    if (at.short_read || more > UINT32_MAX)
        return TW_OK; /* the next record will say so */
    if (more > (repeats_most(log) - log->repeated) / log->runs[log->run].count)
        return tw_fail(&log->fault, TW_E_CONFIG,
                       "exlog: its repetitions add more than %" PRIu64
                       " instructions, at byte %zu",
                       repeats_most(log), (size_t)(log->in.at - log->begin));
    log->repeated += more * log->runs[log->run].count;
    log->left += more;
    log->in = at;
    return TW_OK;
}

/* From Non-secure into Secure code, which no exception explains: a branch to FNC_RETURN. */
static bool is_function_return(const struct tw_log *log, const struct tw_log_run *run)
{
    struct tw_log ahead = { .in = log->in };

    if (!log->is_m || run->kind != INDIRECT || log->left ||
        log->context.security != TW_NONSECURE || take(&ahead) != CTX)
        return false;
    (void)take(&ahead);
    return take(&ahead) == 0 && !ahead.in.short_read;
}

static void give_run(struct tw_log *log, struct tw_step *step)
{
    const struct tw_log_run *run = &log->runs[log->run];
    struct tw_retired *last = &log->pool[run->first + run->count - 1];

    log->left--;
    last->flags &= (uint8_t)~TW_RETIRED_FUNCTION_RETURN;
    if (is_function_return(log, run))
        last->flags |= TW_RETIRED_FUNCTION_RETURN;
    if (last->flags & TW_RETIRED_TAKEN && last->kind == TW_RETIRED_INDIRECT)
        last->target = log->left ? run->start : look_ahead(log);
    log->end = last->address + last->size;
    *step = (struct tw_step){ .kind = TW_STEP_INSTRUCTIONS };
    step->instructions = &log->pool[run->first];
    step->count = run->count;
}

static uint8_t last_isa(const struct tw_log *log)
{
    const uint8_t first = log->is_m ? TW_ISA_T32 : TW_ISA_A64;

    return log->run_count ? log->pool[log->runs[log->run].first].isa : first;
}

/* The trace's exception type of an emulator's exception number and syndrome. */
static uint8_t exception_type(uint64_t number, uint64_t syndrome)
{
    if (number == 5)
        return TW_EXCEPTION_IRQ;
    if (number == 6)
        return TW_EXCEPTION_FIQ;
    switch (syndrome >> 26 & 0x3f) {
    case 0x11: /* SVC, HVC, SMC from AArch32 and AArch64 */
    case 0x12:
    case 0x13:
    case 0x15:
    case 0x16:
    case 0x17:
        return TW_EXCEPTION_CALL;
    case 0x20:
    case 0x21:
        return TW_EXCEPTION_INST_FAULT;
    case 0x22:
    case 0x26:
        return TW_EXCEPTION_ALIGNMENT;
    case 0x24:
    case 0x25:
        return TW_EXCEPTION_DATA_FAULT;
    case 0x2f:
        return TW_EXCEPTION_SYSTEM_ERROR;
    case 0x30: /* breakpoint, step, BKPT, BRK */
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x38:
    case 0x3c:
        return TW_EXCEPTION_INST_DEBUG;
    case 0x34:
    case 0x35:
        return TW_EXCEPTION_DATA_DEBUG;
    default:
        return TW_EXCEPTION_TRAP;
    }
}

static void set_exception(struct tw_log *log, struct tw_step *step, uint8_t type,
                          uint64_t return_address)
{
    *step = (struct tw_step){ .kind = TW_STEP_EXCEPTION };
    step->exception = type;
    step->cause = type;
    step->return_address = return_address;
    step->return_isa = last_isa(log);
    step->is_interrupt = type == TW_EXCEPTION_IRQ || type == TW_EXCEPTION_FIQ;
}

static void take_exc(struct tw_log *log, struct tw_step *step)
{
    const uint64_t number = take(log), syndrome = take(log);
    uint64_t return_address;

    (void)take(log); /* from and to which EL: the contexts say it too */
    (void)take(log);
    return_address = take(log);
    (void)take(log); /* the vector: the next run begins there */
    if (log->is_m) {
        set_exception(log, step, 0, return_address);
        step->cause = number;
        step->is_chained = return_address == TW_M_CHAINED;
        step->is_interrupt = number == 2 || number >= 14; /* NMI, PendSV, SysTick, IRQ0 ... */
        return;
    }
    set_exception(log, step, exception_type(number, syndrome), return_address);
}

/* A user-mode log leaves out the kernel: it is entered by an exception, and then not seen. */
static bool take_signal(struct tw_log *log, struct tw_step *step)
{
    const uint64_t why = take(log), return_address = take(log);

    if (why > 1)
        return false; /* on the way back from a system call: the kernel was not left */
    set_exception(log, step, why ? TW_EXCEPTION_DATA_FAULT : TW_EXCEPTION_IRQ, return_address);
    log->gap_is_due = true;
    return true;
}

static void take_context(struct tw_log *log, struct tw_step *step)
{
    *step = (struct tw_step){ .kind = TW_STEP_CONTEXT };
    step->context.el = (uint8_t)(take(log) & 3);
    step->context.security = take(log) ? TW_NONSECURE : TW_SECURE;
    step->context.is_64bit = take(log) != 0;
    step->context.context_id = (uint32_t)take(log);
    log->context.security = step->context.security;
}

static enum tw_status next(struct tw_log *log, struct tw_step *step)
{
    for (;;) {
        uint64_t tag;

        if (log->left) {
            give_run(log, step);
            return TW_OK;
        }
        if (log->gap_is_due) {
            log->gap_is_due = false;
            *step = (struct tw_step){ .kind = TW_STEP_GAP };
            return TW_OK;
        }
        tag = take(log);
        if (tag == END && !log->in.short_read)
            return TW_END;
        if (tag == DEF) {
            TW_TRY(define(log));
            TW_TRY(begin_run(log));
            continue;
        }
        if (tag >= FIRST_RUN && tag - FIRST_RUN < log->run_count) {
            log->run = (size_t)(tag - FIRST_RUN);
            TW_TRY(begin_run(log));
            continue;
        }
        if (tag == EXC) {
            take_exc(log, step);
        } else if (tag == SYSCALL) {
            (void)take(log);
            set_exception(log, step, TW_EXCEPTION_CALL, log->end);
            log->gap_is_due = true;
        } else if (tag == SIGNAL) {
            if (!take_signal(log, step) && !log->in.short_read)
                continue;
        } else if (tag == CTX) {
            take_context(log, step);
        } else {
            return damaged(log, log->in.short_read ? "the log breaks off" : "no such record");
        }
        return log->in.short_read ? damaged(log, "the log breaks off") : TW_OK;
    }
}

/* The first step of a user-mode log: it runs at EL0, all of it. */
static enum tw_status next_first(struct tw_log *log, struct tw_step *step)
{
    *step = (struct tw_step){ .kind = TW_STEP_CONTEXT };
    step->context.security = TW_NONSECURE;
    step->context.is_64bit = log->context.is_64bit;
    log->next = next;
    return TW_OK;
}

enum tw_status tw_exlog_begin(struct tw_log *log, bool *is_mine)
{
    static const char magic[] = "exlog 1\n";
    const uint8_t *at = log->in.at;
    const size_t size = tw_bytes_left(&log->in);
    bool is_user = true, is_64bit = true;

    *is_mine = size >= sizeof magic - 1 && memcmp(at, magic, sizeof magic - 1) == 0;
    if (!*is_mine)
        return TW_OK;
    for (;;) {
        const uint8_t *end = memchr(at, '\n', (size_t)(log->in.end - at));

        if (!end)
            return tw_fail(&log->fault, TW_E_CONFIG, "exlog: its head does not end");
        if (end == at)
            break;
        if (end - at == 11 && memcmp(at, "mode system", 11) == 0)
            is_user = false;
        if (end - at == 10 && memcmp(at, "target arm", 10) == 0)
            is_64bit = false;
        if (end - at >= 12 && memcmp(at, "target riscv", 12) == 0)
            log->is_riscv = true;
        if (end - at == 9 && memcmp(at, "profile m", 9) == 0)
            log->is_m = true;
        if (end - at > 4 && memcmp(at, "cpu ", 4) == 0)
            tw_log_set_cpu(log, (const char *)at + 4, (size_t)(end - at) - 4);
        at = end + 1;
    }
    log->in.at = at + 1;
    log->context.is_64bit = is_64bit;
    log->next = is_user ? next_first : next;
    return TW_OK;
}
