/* SPDX-License-Identifier: BSD-2-Clause */
/* The text form: one statement a line (docs/formats.md). */
#include "log/words.h"

#include "log/log.h"

enum { BATCH = 512 /* instructions given at once */ };

/* ---- statements ---- */

static enum tw_status take_isa(struct tw_log *log, struct tw_step *step,
                               const struct tw_words *line)
{
    static const char *const names[] = { "a32", "t32", "a64", "rv32", "rv64", NULL };
    static const uint8_t isas[] = { TW_ISA_A32, TW_ISA_T32, TW_ISA_A64, TW_ISA_RV32,
                                    TW_ISA_RV64 };
    const int found = line->count == 2 ? tw_word_choice(&line->words[1], names) : -1;
    bool is_64bit;

    if (found < 0)
        return tw_words_wrong(log, &line->words[0], "wants one of a64, a32, t32, rv32, rv64");
    if ((isas[found] >= TW_ISA_RV32) != log->is_riscv)
        return tw_words_wrong(log, &line->words[1], "is of another processor than the log");
    if (log->is_m && isas[found] != TW_ISA_T32)
        return tw_words_wrong(log, &line->words[1], "is not of the M profile");
    log->isa = isas[found];
    log->it_open = 0;
    is_64bit = log->isa == TW_ISA_A64 || log->isa == TW_ISA_RV64;
    if (is_64bit == log->context.is_64bit)
        return TW_MORE;
    log->context.is_64bit = is_64bit;
    step->kind = TW_STEP_CONTEXT;
    step->context = log->context;
    return TW_OK;
}

/* profile m: of a processor of the M profile.  It is looked for before all else is read. */
static enum tw_status take_profile(struct tw_log *log, struct tw_step *step,
                                   const struct tw_words *line)
{
    (void)step;
    if (line->count != 2 || !tw_word_is(&line->words[1], "m") || !log->is_m)
        return tw_words_wrong(log, &line->words[0], "wants m, and stands before instructions");
    return TW_MORE;
}

static enum tw_status take_cpu(struct tw_log *log, struct tw_step *step,
                               const struct tw_words *line)
{
    (void)step;
    if (line->count != 2)
        return tw_words_wrong(log, &line->words[0], "wants a name, such as cortex-m3");
    return TW_MORE; /* read at the start */
}

static bool take_mode(const struct tw_log *log, struct tw_step_context *context,
                      const struct tw_log_word *word)
{
    static const char *const modes[] = { "thread", "handler", NULL };
    struct tw_log_word text;
    const int found =
        log->is_m && tw_word_keyed(&text, word, "mode") ? tw_word_choice(&text, modes) : -1;

    if (found >= 0)
        context->el = found ? 3 : 0;
    return found >= 0;
}

static enum tw_status take_context(struct tw_log *log, struct tw_step *step,
                                   const struct tw_words *line)
{
    static const char *const states[] = { "secure", "nonsecure", "root", "realm", NULL };
    struct tw_step_context *context = &log->context;

    for (unsigned i = 1; i < line->count; i++) {
        const struct tw_log_word *word = &line->words[i];
        struct tw_log_word text;
        uint64_t value;

        if (take_mode(log, context, word))
            continue;
        if (!log->is_m && tw_word_keyed_number(&value, word, "el") && value <= 3)
            context->el = (uint8_t)value;
        else if (tw_word_keyed_number(&value, word, "cid") && value <= UINT32_MAX)
            context->context_id = (uint32_t)value;
        else if (tw_word_keyed_number(&value, word, "vmid") && value <= UINT32_MAX)
            context->vmid = (uint32_t)value;
        else if (tw_word_keyed(&text, word, "security") && tw_word_choice(&text, states) >= 0)
            context->security = (uint8_t)tw_word_choice(&text, states);
        else
            return tw_words_wrong(log, word,
                                  "is none of el=0...3 (profile m: mode=thread|handler), "
                                  "security=nonsecure|secure|realm|root, cid=N, "
                                  "vmid=N");
    }
    step->kind = TW_STEP_CONTEXT;
    step->context = log->context;
    return TW_OK;
}

/* By name, as irqN or as the number in IPSR. */
static bool take_number_m(uint64_t *number, const struct tw_log_word *word)
{
    static const char *const names[] = {
        "thread",       "reset",       "nmi",        "hardfault",  "memmanage",   "busfault",
        "usagefault",   "securefault", "reserved-8", "reserved-9", "reserved-10", "svcall",
        "debugmonitor", "reserved-13", "pendsv",     "systick",    NULL
    };
    const int found = tw_word_choice(word, names);

    if (found > 0)
        *number = (uint64_t)found;
    else if (word->size > 3 && memcmp(word->at, "irq", 3) == 0 &&
             tw_word_number(number, (struct tw_log_word){ word->at + 3, word->size - 3 }))
        *number += 16;
    else if (!tw_word_number(number, *word))
        return false;
    return *number > 0 && *number <= 511;
}

static enum tw_status take_exception_m(struct tw_log *log, struct tw_step *step,
                                       const struct tw_words *line)
{
    if (line->count != 3 || !take_number_m(&step->cause, &line->words[1]))
        return tw_words_wrong(
            log, &line->words[0],
            "wants a name (hardfault, svcall, irq3 ...) or a number from 1 to "
            "511, and return=ADDRESS or chained");
    step->kind = TW_STEP_EXCEPTION;
    step->return_isa = TW_ISA_T32;
    step->is_interrupt = step->cause == 2 || step->cause >= 14;
    step->is_chained = tw_word_is(&line->words[2], "chained");
    log->it_open = 0;
    if (step->is_chained)
        step->return_address = TW_M_CHAINED;
    else if (!tw_word_keyed_number(&step->return_address, &line->words[2], "return"))
        return tw_words_wrong(log, &line->words[2], "is neither return=ADDRESS nor chained");
    return TW_OK;
}

static enum tw_status take_exception(struct tw_log *log, struct tw_step *step,
                                     const struct tw_words *line)
{
    static const char *const names[] = { "reset",      "debug-halt",   "call",
                                         "trap",       "system-error", "inst-debug",
                                         "data-debug", "alignment",    "inst-fault",
                                         "data-fault", "irq",          "fiq",
                                         NULL };
    static const uint8_t types[] = { TW_EXCEPTION_PE_RESET,     TW_EXCEPTION_DEBUG_HALT,
                                     TW_EXCEPTION_CALL,         TW_EXCEPTION_TRAP,
                                     TW_EXCEPTION_SYSTEM_ERROR, TW_EXCEPTION_INST_DEBUG,
                                     TW_EXCEPTION_DATA_DEBUG,   TW_EXCEPTION_ALIGNMENT,
                                     TW_EXCEPTION_INST_FAULT,   TW_EXCEPTION_DATA_FAULT,
                                     TW_EXCEPTION_IRQ,          TW_EXCEPTION_FIQ };
    const int found = line->count >= 2 ? tw_word_choice(&line->words[1], names) : -1;
    uint64_t type = 0;

    if (log->is_m)
        return take_exception_m(log, step, line);
    if (found >= 0)
        type = types[found];
    else if (!tw_words_number(&type, line, 1) || type > 0x17)
        return tw_words_wrong(log, &line->words[0],
                              "wants a type, such as irq, call or a number up to 0x17");
    step->kind = TW_STEP_EXCEPTION;
    step->exception = (uint8_t)type;
    step->cause = type;
    step->is_interrupt = type == TW_EXCEPTION_IRQ || type == TW_EXCEPTION_FIQ;
    step->return_isa = log->isa;
    log->it_open = 0;
    if (type == TW_EXCEPTION_PE_RESET && line->count == 2)
        return TW_OK;
    if (line->count != 3 ||
        !tw_word_keyed_number(&step->return_address, &line->words[2], "return"))
        return tw_words_wrong(log, &line->words[0], "wants TYPE return=ADDRESS");
    return TW_OK;
}

static enum tw_status take_transaction(struct tw_log *log, struct tw_step *step,
                                       const struct tw_words *line)
{
    static const char *const names[] = { "init", "start", "commit", "fail", NULL };
    const int found = line->count >= 2 ? tw_word_choice(&line->words[1], names) : -1;

    if (found <= 0 || line->count > 3 ||
        (line->count == 3 && (found != TW_TRANS_FAIL ||
                              !tw_word_keyed_number(&step->value, &line->words[2], "cancel"))))
        return tw_words_wrong(log, &line->words[0], "wants start, commit or fail [cancel=N]");
    step->kind = TW_STEP_TRANSACTION;
    step->how = (uint8_t)found;
    return TW_OK;
}

static enum tw_status take_commit(struct tw_log *log, struct tw_step *step,
                                  const struct tw_words *line)
{
    step->kind = TW_STEP_COMMIT;
    if (line->count == 1)
        return TW_OK;
    if (line->count != 2 || !tw_word_keyed_number(&step->value, &line->words[1], "except"))
        return tw_words_wrong(log, &line->words[0], "takes nothing, or except=N");
    return TW_OK;
}

static enum tw_status take_cancel(struct tw_log *log, struct tw_step *step,
                                  const struct tw_words *line)
{
    static const char *const names[] = { "only", "direction", "target", NULL };
    const int found = line->count == 3 ? tw_word_choice(&line->words[2], names) : 0;

    step->kind = TW_STEP_CANCEL;
    step->how = (uint8_t)found;
    if (line->count > 3 || found < 0 || !tw_words_number(&step->value, line, 1))
        return tw_words_wrong(log, &line->words[0], "wants N [direction|target]");
    return TW_OK;
}

static enum tw_status take_register(struct tw_log *log, struct tw_step *step,
                                    const struct tw_words *line)
{
    const struct tw_log_word *word = &line->words[1];
    const char *equals = line->count == 2 ? memchr(word->at, '=', word->size) : NULL;
    const size_t size = equals ? (size_t)(equals - word->at) : 0;

    step->kind = TW_STEP_REGISTER;
    if (!equals || size == 0 || size >= sizeof log->name ||
        !tw_word_number(&step->reg.value,
                        (struct tw_log_word){ equals + 1, word->size - size - 1 }))
        return tw_words_wrong(log, &line->words[0], "wants NAME=VALUE");
    memcpy(log->name, word->at, size);
    log->name[size] = 0;
    step->reg.name = log->name;
    return TW_OK;
}

/* Statements that are a word, or a word and a number (a switch: on or off). */
static enum tw_status take_plain(struct tw_log *log, struct tw_step *step,
                                 const struct tw_words *line)
{
    static const struct {
        const char *name;
        uint8_t kind;
        bool has_value, is_switch;
        uint64_t most;
    } plain[] = {
        { "gap", TW_STEP_GAP, false, false, 0 },
        { "time", TW_STEP_TIME, true, false, UINT64_MAX },
        { "cycles", TW_STEP_CYCLES, true, false, 1 << 20 },
        { "clock", TW_STEP_CLOCK, true, false, 1 << 12 },
        { "external", TW_STEP_EXTERNAL, true, false, 0xffff },
        { "inputs", TW_STEP_INPUTS, true, false, 0xff },
        { "instrumentation", TW_STEP_INSTRUMENTATION, true, false, UINT64_MAX },
        { "speculate", TW_STEP_SPECULATE, true, true, 1 },
        { "overflow", TW_STEP_OVERFLOW, false, false, 0 },
        { "recover", TW_STEP_RECOVER, false, false, 0 },
        { "flush", TW_STEP_FLUSH, false, false, 0 },
        { "sync", TW_STEP_SYNC, false, false, 0 },
        { "debug", TW_STEP_DEBUG, true, true, 1 },
        { "low-power", TW_STEP_LOW_POWER, true, true, 1 },
    };

    for (size_t i = 0; i < TW_LENGTH(plain); i++) {
        if (!tw_word_is(&line->words[0], plain[i].name))
            continue;
        step->kind = plain[i].kind;
        if (line->count != 1u + plain[i].has_value)
            return tw_words_wrong(log, &line->words[0],
                                  plain[i].has_value ? "wants one value"
                                                     : "takes nothing more");
        if (plain[i].is_switch) {
            step->value = tw_word_is(&line->words[1], "on");
            return step->value || tw_word_is(&line->words[1], "off")
                       ? TW_OK
                       : tw_words_wrong(log, &line->words[0], "wants on or off");
        }
        if (plain[i].has_value &&
            (!tw_words_number(&step->value, line, 1) || step->value > plain[i].most))
            return tw_words_wrong(log, &line->words[1], "is no number, or too large");
        return TW_OK;
    }
    return tw_words_wrong(log, &line->words[0], "is no statement");
}

/* ---- instructions ---- */

static bool take_opcode(struct tw_log *log, struct tw_retired *out,
                        const struct tw_log_word *word)
{
    uint64_t value = 0;

    if (word) {
        for (size_t i = 0; i < word->size; i++) {
            const unsigned next = tw_word_digit(word->at[i]);

            if (next > 15)
                return false;
            value = value << 4 | next;
        }
        out->opcode = (uint32_t)value;
        return word->size <= 8;
    }
    if (log->options.image) {
        const struct tw_view view = { .space = TW_SPACE_ANY };
        uint8_t bytes[4] = { 0 };
        const size_t size = tw_image_read(log->options.image, bytes, &view, out->address, 4);

        if (out->isa == TW_ISA_T32 && size >= 2) {
            out->opcode = tw_load_le16(bytes);
            if (out->opcode >> 11 < 0x1d)
                return true;
            out->opcode = out->opcode << 16 | tw_load_le16(bytes + 2);
            return size == 4;
        }
        out->opcode = tw_load_le32(bytes);
        if (out->isa >= TW_ISA_RV32 && (out->opcode & 3) != 3) {
            out->opcode &= 0xffff;
            return size >= 2;
        }
        return size == 4;
    }
    return false;
}

/* How an instruction ended. */
enum ending { TAKEN, ERET, FRET, FAILED };

static const char *const endings[] = { "taken", "eret", "fret", "failed", NULL };

static enum tw_status take_ending(struct tw_log *log, struct tw_retired *out, int ending,
                                  uint64_t target)
{
    if (ending == FAILED) {
        out->flags = (uint8_t)((out->flags & ~TW_RETIRED_TAKEN) | TW_RETIRED_FAILED);
        return TW_OK;
    }
    if (out->kind == TW_RETIRED_OTHER || out->kind == TW_RETIRED_TSB ||
        (ending != TAKEN && out->kind != TW_RETIRED_INDIRECT))
        return TW_E_CONFIG;
    if (ending != TAKEN && !log->is_m)
        return TW_E_UNSUPPORTED;
    out->flags |= TW_RETIRED_TAKEN;
    if (ending == ERET)
        out->flags |= TW_RETIRED_EXCEPTION_RETURN;
    if (ending == FRET)
        out->flags |= TW_RETIRED_FUNCTION_RETURN;
    if (ending != TAKEN)
        out->flags &= (uint8_t) ~(TW_RETIRED_RETURN | TW_RETIRED_LINK);
    if (out->kind == TW_RETIRED_INDIRECT)
        out->target = target;
    return TW_OK;
}

/* i ADDRESS [OPCODE] [taken|eret|fret [TARGET]], or failed */
static enum tw_status take_instruction(struct tw_log *log, struct tw_retired *out,
                                       const struct tw_words *line)
{
    const bool has_opcode = line->count > 2 && tw_word_choice(&line->words[2], endings) < 0;
    const unsigned place = has_opcode ? 3 : 2;
    uint64_t target = 0;
    enum tw_status status;
    int ending;

    *out = (struct tw_retired){ .isa = log->isa };
    if (!tw_words_number(&out->address, line, 1))
        return tw_words_wrong(log, &line->words[0], "wants ADDRESS [OPCODE] [taken [TARGET]]");
    if (!take_opcode(log, out, has_opcode ? &line->words[2] : NULL))
        return tw_words_wrong(log, &line->words[1],
                              has_opcode ? "has an opcode that is none"
                                         : "is not in the image");
    tw_log_classify(log, out, &log->it_open);
    if (line->count == place)
        return TW_OK;
    ending = tw_word_choice(&line->words[place], endings);
    if (ending < 0 || line->count > place + (ending == FAILED ? 1u : 2u) ||
        (line->count == place + 2 && !tw_words_number(&target, line, place + 1)))
        return tw_words_wrong(log, &line->words[place],
                              log->is_m ? "is not taken|eret|fret [TARGET], nor failed"
                                        : "is not taken [TARGET], nor failed");
    status = take_ending(log, out, ending, target);
    if (status == TW_E_CONFIG)
        return tw_words_wrong(log, &line->words[1], "is taken, but no branch");
    return status == TW_OK ? TW_OK
                           : tw_words_wrong(log, &line->words[place], "is of the M profile");
}

/* As many as stand together. */
static enum tw_status take_instructions(struct tw_log *log, struct tw_step *step,
                                        struct tw_words *line)
{
    if (!TW_GROW(log->options.allocator, &log->pool, &log->pool_room, BATCH))
        return tw_fail(&log->fault, TW_E_MEMORY, "no memory");
    log->pool_count = 0;
    for (;;) {
        const struct tw_bytes before = log->in;
        const unsigned number_before = log->line;
        struct tw_retired *out = &log->pool[log->pool_count];

        TW_TRY(take_instruction(log, out, line));
        if (out->flags & TW_RETIRED_TAKEN && out->kind <= TW_RETIRED_INDIRECT)
            log->it_open = 0;
        if (++log->pool_count == BATCH || !tw_words_take(log, line))
            break;
        if (!tw_word_is(&line->words[0], "i") || line->count > TW_WORDS_MOST) {
            log->in = before;
            log->line = number_before;
            break;
        }
    }
    step->kind = TW_STEP_INSTRUCTIONS;
    step->instructions = log->pool;
    step->count = log->pool_count;
    return TW_OK;
}

static enum tw_status take_statement(struct tw_log *log, struct tw_step *step,
                                     struct tw_words *line)
{
    static const struct {
        const char *name;
        enum tw_status (*take)(struct tw_log *log, struct tw_step *step,
                               const struct tw_words *line);
    } statements[] = {
        { "profile", take_profile },
        { "cpu", take_cpu },
        { "isa", take_isa },
        { "context", take_context },
        { "exception", take_exception },
        { "transaction", take_transaction },
        { "commit", take_commit },
        { "cancel", take_cancel },
        { "register", take_register },
        { "stimulus", tw_textlog_stimulus },
        { "watch", tw_textlog_watch },
    };

    if (line->count > TW_WORDS_MOST)
        return tw_words_wrong(log, &line->words[0], "has too many words");
    if (tw_word_is(&line->words[0], "i"))
        return take_instructions(log, step, line);
    for (size_t i = 0; i < TW_LENGTH(statements); i++)
        if (tw_word_is(&line->words[0], statements[i].name))
            return statements[i].take(log, step, line);
    return take_plain(log, step, line);
}

static enum tw_status next(struct tw_log *log, struct tw_step *step)
{
    struct tw_words line;
    enum tw_status status = TW_MORE;

    while (status == TW_MORE) {
        *step = (struct tw_step){ 0 };
        if (!tw_words_take(log, &line))
            return TW_END;
        status = take_statement(log, step, &line);
    }
    return status;
}

static enum tw_status next_first(struct tw_log *log, struct tw_step *step)
{
    *step = (struct tw_step){ .kind = TW_STEP_CONTEXT };
    step->context = log->context;
    log->next = next;
    return TW_OK;
}

/* What stands before the first instruction says whose log it is: an instruction set, a profile. */
static void look_ahead(struct tw_log *log)
{
    struct tw_log ahead = { .in = log->in };
    struct tw_words line;
    bool has_isa = false;

    while (tw_words_take(&ahead, &line) && !tw_word_is(&line.words[0], "i")) {
        const struct tw_log_word *word = &line.words[1];

        if (line.count != 2)
            continue;
        if (tw_word_is(&line.words[0], "isa") && !has_isa) {
            has_isa = true;
            log->is_riscv = word->size > 2 && memcmp(word->at, "rv", 2) == 0;
        } else if (tw_word_is(&line.words[0], "profile")) {
            log->is_m = tw_word_is(word, "m");
        } else if (tw_word_is(&line.words[0], "cpu")) {
            tw_log_set_cpu(log, word->at, word->size);
        }
    }
    log->is_m = log->is_m && !log->is_riscv;
}

enum tw_status tw_textlog_begin(struct tw_log *log, bool *is_mine)
{
    const struct tw_bytes start = log->in;
    struct tw_words line;

    *is_mine = tw_words_take(log, &line) && line.count == 2 &&
               tw_word_is(&line.words[0], "trackway-log") && tw_word_is(&line.words[1], "1");
    if (!*is_mine) {
        log->in = start;
        return TW_OK;
    }
    look_ahead(log);
    log->isa = log->is_riscv ? TW_ISA_RV64 : log->is_m ? TW_ISA_T32 : TW_ISA_A64;
    log->context.is_64bit = !log->is_m;
    log->context.security = log->is_m ? TW_SECURE : TW_NONSECURE;
    log->next = next_first;
    return TW_OK;
}
