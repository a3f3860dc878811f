/* SPDX-License-Identifier: BSD-2-Clause */
/* The text form: one statement a line (docs/formats.md). */
#include "log/log.h"

#include <inttypes.h>

enum {
    WORDS_MOST = 8,
    BATCH = 512 /* instructions given at once */
};

/* A line cut into words, which end with no zero. */
struct word {
    const char *at;
    size_t size;
};

struct line {
    struct word words[WORDS_MOST];
    unsigned count;
};

static enum tw_status wrong(struct tw_log *log, const struct word *word, const char *what)
{
    const int size = word && word->size < 60 ? (int)word->size : word ? 60 : 0;

    return tw_fail(&log->fault, TW_E_CONFIG, "log, line %u: \"%.*s\" %s", log->line, size,
                   word ? word->at : "", what);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(const struct word *word, const char *text)
{
    return strlen(text) == word->size && memcmp(word->at, text, word->size) == 0;
}

/* The next line that says something; false: there is none.  Too many words: count is beyond. */
static bool take_line(struct tw_log *log, struct line *line)
{
    while (log->in.at != log->in.end) {
        const char *at = (const char *)log->in.at, *end;
        const uint8_t *stop = memchr(log->in.at, '\n', tw_bytes_left(&log->in));

        end = stop ? (const char *)stop : (const char *)log->in.end;
        log->in.at = stop ? stop + 1 : log->in.end;
        log->line++;
        line->count = 0;
        while (at != end) {
            const char *begin;

            while (at != end && is_space(*at))
                at++;
            if (at == end || *at == '#')
                break;
            for (begin = at; at != end && !is_space(*at);)
                at++;
            if (line->count < WORDS_MOST)
                line->words[line->count] = (struct word){ begin, (size_t)(at - begin) };
            line->count++;
        }
        if (line->count)
            return true;
    }
    return false;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Decimal, or hexadecimal after 0x. */
static bool parse(uint64_t *value, const char *at, size_t size)
{
    unsigned base = 10;

    if (size > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
        size -= 2;
    }
    *value = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned next = (unsigned)digit(at[i]);

        if (next >= base || *value > (UINT64_MAX - next) / base)
            return false;
        *value = *value * base + next;
    }
    return size != 0;
}

static bool number(uint64_t *value, const struct line *line, unsigned word)
{
    return word < line->count && parse(value, line->words[word].at, line->words[word].size);
}

/* The value of "key=value" */
static bool keyed(struct word *value, const struct word *word, const char *key)
{
    const size_t size = strlen(key);

    if (word->size <= size || memcmp(word->at, key, size) != 0 || word->at[size] != '=')
        return false;
    *value = (struct word){ word->at + size + 1, word->size - size - 1 };
    return true;
}

static bool keyed_number(uint64_t *value, const struct word *word, const char *key)
{
    struct word text;

    return keyed(&text, word, key) && parse(value, text.at, text.size);
}

/* One of a list of names, NULL at its end; its place in the list, or -1. */
static int choice(const struct word *word, const char *const *names)
{
    for (int i = 0; names[i]; i++)
        if (is_word(word, names[i]))
            return i;
    return -1;
}

/* ---- statements ---- */

static enum tw_status take_isa(struct tw_log *log, struct tw_step *step,
                               const struct line *line)
{
    static const char *const names[] = { "a32", "t32", "a64", "rv32", "rv64", NULL };
    static const uint8_t isas[] = { TW_ISA_A32, TW_ISA_T32, TW_ISA_A64, TW_ISA_RV32,
                                    TW_ISA_RV64 };
    const int found = line->count == 2 ? choice(&line->words[1], names) : -1;
    bool is_64bit;

    if (found < 0)
        return wrong(log, &line->words[0], "wants one of a64, a32, t32, rv32, rv64");
    if ((isas[found] >= TW_ISA_RV32) != log->is_riscv)
        return wrong(log, &line->words[1], "is of another processor than the log");
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

static enum tw_status take_context(struct tw_log *log, struct tw_step *step,
                                   const struct line *line)
{
    static const char *const states[] = { "secure", "nonsecure", "root", "realm", NULL };
    struct tw_step_context *context = &log->context;

    for (unsigned i = 1; i < line->count; i++) {
        const struct word *word = &line->words[i];
        struct word text;
        uint64_t value;

        if (keyed_number(&value, word, "el") && value <= 3)
            context->el = (uint8_t)value;
        else if (keyed_number(&value, word, "cid") && value <= UINT32_MAX)
            context->context_id = (uint32_t)value;
        else if (keyed_number(&value, word, "vmid") && value <= UINT32_MAX)
            context->vmid = (uint32_t)value;
        else if (keyed(&text, word, "security") && choice(&text, states) >= 0)
            context->security = (uint8_t)choice(&text, states);
        else
            return wrong(log, word,
                         "is none of el=0...3, security=nonsecure|secure|realm|root, cid=N, "
                         "vmid=N");
    }
    step->kind = TW_STEP_CONTEXT;
    step->context = log->context;
    return TW_OK;
}

static enum tw_status take_exception(struct tw_log *log, struct tw_step *step,
                                     const struct line *line)
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
    const int found = line->count >= 2 ? choice(&line->words[1], names) : -1;
    uint64_t type = 0;

    if (found >= 0)
        type = types[found];
    else if (!number(&type, line, 1) || type > 0x17)
        return wrong(log, &line->words[0],
                     "wants a type, such as irq, call or a number up to 0x17");
    step->kind = TW_STEP_EXCEPTION;
    step->exception = (uint8_t)type;
    step->cause = type;
    step->is_interrupt = type == TW_EXCEPTION_IRQ || type == TW_EXCEPTION_FIQ;
    step->return_isa = log->isa;
    log->it_open = 0;
    if (type == TW_EXCEPTION_PE_RESET && line->count == 2)
        return TW_OK;
    if (line->count != 3 || !keyed_number(&step->return_address, &line->words[2], "return"))
        return wrong(log, &line->words[0], "wants TYPE return=ADDRESS");
    return TW_OK;
}

static enum tw_status take_transaction(struct tw_log *log, struct tw_step *step,
                                       const struct line *line)
{
    static const char *const names[] = { "init", "start", "commit", "fail", NULL };
    const int found = line->count >= 2 ? choice(&line->words[1], names) : -1;

    if (found <= 0 || line->count > 3 ||
        (line->count == 3 &&
         (found != TW_TRANS_FAIL || !keyed_number(&step->value, &line->words[2], "cancel"))))
        return wrong(log, &line->words[0], "wants start, commit or fail [cancel=N]");
    step->kind = TW_STEP_TRANSACTION;
    step->how = (uint8_t)found;
    return TW_OK;
}

static enum tw_status take_commit(struct tw_log *log, struct tw_step *step,
                                  const struct line *line)
{
    step->kind = TW_STEP_COMMIT;
    if (line->count == 1)
        return TW_OK;
    if (line->count != 2 || !keyed_number(&step->value, &line->words[1], "except"))
        return wrong(log, &line->words[0], "takes nothing, or except=N");
    return TW_OK;
}

static enum tw_status take_cancel(struct tw_log *log, struct tw_step *step,
                                  const struct line *line)
{
    static const char *const names[] = { "only", "direction", "target", NULL };
    const int found = line->count == 3 ? choice(&line->words[2], names) : 0;

    step->kind = TW_STEP_CANCEL;
    step->how = (uint8_t)found;
    if (line->count > 3 || found < 0 || !number(&step->value, line, 1))
        return wrong(log, &line->words[0], "wants N [direction|target]");
    return TW_OK;
}

static enum tw_status take_register(struct tw_log *log, struct tw_step *step,
                                    const struct line *line)
{
    const struct word *word = &line->words[1];
    const char *equals = line->count == 2 ? memchr(word->at, '=', word->size) : NULL;
    const size_t size = equals ? (size_t)(equals - word->at) : 0;

    step->kind = TW_STEP_REGISTER;
    if (!equals || size == 0 || size >= sizeof log->name ||
        !parse(&step->reg.value, equals + 1, word->size - size - 1))
        return wrong(log, &line->words[0], "wants NAME=VALUE");
    memcpy(log->name, word->at, size);
    log->name[size] = 0;
    step->reg.name = log->name;
    return TW_OK;
}

/* Statements that are a word, or a word and a number (a switch: on or off). */
static enum tw_status take_plain(struct tw_log *log, struct tw_step *step,
                                 const struct line *line)
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
        if (!is_word(&line->words[0], plain[i].name))
            continue;
        step->kind = plain[i].kind;
        if (line->count != 1u + plain[i].has_value)
            return wrong(log, &line->words[0],
                         plain[i].has_value ? "wants one value" : "takes nothing more");
        if (plain[i].is_switch) {
            step->value = is_word(&line->words[1], "on");
            return step->value || is_word(&line->words[1], "off")
                       ? TW_OK
                       : wrong(log, &line->words[0], "wants on or off");
        }
        if (plain[i].has_value &&
            (!number(&step->value, line, 1) || step->value > plain[i].most))
            return wrong(log, &line->words[1], "is no number, or too large");
        return TW_OK;
    }
    return wrong(log, &line->words[0], "is no statement");
}

/* ---- instructions ---- */

static bool take_opcode(struct tw_log *log, struct tw_retired *out, const struct word *word)
{
    uint64_t value = 0;

    if (word) {
        for (size_t i = 0; i < word->size; i++) {
            const unsigned next = (unsigned)digit(word->at[i]);

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

/* i ADDRESS [OPCODE] [taken [TARGET]] */
static enum tw_status take_instruction(struct tw_log *log, struct tw_retired *out,
                                       const struct line *line)
{
    const bool has_opcode = line->count > 2 && !is_word(&line->words[2], "taken");
    const unsigned taken = has_opcode ? 3 : 2;
    uint64_t target = 0;

    *out = (struct tw_retired){ .isa = log->isa };
    if (!number(&out->address, line, 1))
        return wrong(log, &line->words[0], "wants ADDRESS [OPCODE] [taken [TARGET]]");
    if (!take_opcode(log, out, has_opcode ? &line->words[2] : NULL))
        return wrong(log, &line->words[1],
                     has_opcode ? "has an opcode that is none" : "is not in the image");
    tw_retired_classify(out, &log->it_open);
    if (line->count == taken)
        return TW_OK;
    if (!is_word(&line->words[taken], "taken") || line->count > taken + 2 ||
        (line->count == taken + 2 && !number(&target, line, taken + 1)))
        return wrong(log, &line->words[taken], "is not taken [TARGET]");
    if (out->kind == TW_RETIRED_OTHER)
        return wrong(log, &line->words[1], "is taken, but no branch");
    out->flags |= TW_RETIRED_TAKEN;
    if (out->kind == TW_RETIRED_INDIRECT)
        out->target = target;
    return TW_OK;
}

/* As many as stand together. */
static enum tw_status take_instructions(struct tw_log *log, struct tw_step *step,
                                        struct line *line)
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
        if (++log->pool_count == BATCH || !take_line(log, line))
            break;
        if (!is_word(&line->words[0], "i") || line->count > WORDS_MOST) {
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
                                     struct line *line)
{
    static const struct {
        const char *name;
        enum tw_status (*take)(struct tw_log *log, struct tw_step *step,
                               const struct line *line);
    } statements[] = {
        { "isa", take_isa },
        { "context", take_context },
        { "exception", take_exception },
        { "transaction", take_transaction },
        { "commit", take_commit },
        { "cancel", take_cancel },
        { "register", take_register },
    };

    if (line->count > WORDS_MOST)
        return wrong(log, &line->words[0], "has too many words");
    if (is_word(&line->words[0], "i"))
        return take_instructions(log, step, line);
    for (size_t i = 0; i < TW_LENGTH(statements); i++)
        if (is_word(&line->words[0], statements[i].name))
            return statements[i].take(log, step, line);
    return take_plain(log, step, line);
}

static enum tw_status next(struct tw_log *log, struct tw_step *step)
{
    struct line line;
    enum tw_status status = TW_MORE;

    while (status == TW_MORE) {
        *step = (struct tw_step){ 0 };
        if (!take_line(log, &line))
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

/* The first instruction set that is named says whose log it is. */
static bool is_riscv(const struct tw_log *log)
{
    struct tw_log ahead = { .in = log->in };
    struct line line;

    while (take_line(&ahead, &line) && !is_word(&line.words[0], "i"))
        if (is_word(&line.words[0], "isa") && line.count == 2)
            return line.words[1].size > 2 && memcmp(line.words[1].at, "rv", 2) == 0;
    return false;
}

enum tw_status tw_textlog_begin(struct tw_log *log, bool *is_mine)
{
    const struct tw_bytes start = log->in;
    struct line line;

    *is_mine = take_line(log, &line) && line.count == 2 &&
               is_word(&line.words[0], "trackway-log") && is_word(&line.words[1], "1");
    if (!*is_mine) {
        log->in = start;
        return TW_OK;
    }
    log->is_riscv = is_riscv(log);
    log->isa = log->is_riscv ? TW_ISA_RV64 : TW_ISA_A64;
    log->context.is_64bit = true;
    log->context.security = TW_NONSECURE;
    log->next = next_first;
    return TW_OK;
}
