/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of assembler, of disassembly or of a simulator's log to steps. */
#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "trbe/sequence_line.h"

static struct step *add(struct parser *p, uint8_t kind)
{
    struct tw_seq_steps *out = p->out;
    struct step *step;

    if (!TW_GROW(p->allocator, &out->items, &out->room, out->count + 1))
        return NULL;
    step = &out->items[out->count++];
    *step = (struct step){ .line = p->number,
                           .kind = kind,
                           .rd = NO_REGISTER,
                           .rn = NO_REGISTER,
                           .rm = NO_REGISTER,
                           .target = NO_STEP };
    return step;
}

static bool has(const char *text, const char *word)
{
    return strstr(text, word) != NULL;
}

/* Words for what stands for many instructions: "<save the trace unit registers>". */
static uint8_t placeholder_kind(const char *text)
{
    const bool is_buffer = has(text, "buffer");
    const bool is_registers = has(text, "regist") || has(text, "state") || has(text, "context");

    if (has(text, "power down") || has(text, "power-down") || has(text, "power off"))
        return STEP_POWER_DOWN;
    if (has(text, "vmsa") || has(text, "translation") || has(text, "page table"))
        return STEP_CHANGE_TABLES;
    if (is_buffer && is_registers && (has(text, "save") || has(text, "store")) &&
        !has(text, "restore"))
        return STEP_SAVE_BUFFER;
    if (is_buffer && is_registers && (has(text, "restore") || has(text, "program")))
        return STEP_RESTORE_BUFFER;
    if (is_buffer && (has(text, "read") || has(text, "copy") || has(text, "consume")))
        return STEP_READ_BUFFER;
    if (is_buffer && (has(text, "clear") || has(text, "write") || has(text, "pad")))
        return STEP_WRITE_BUFFER;
    if (has(text, "restore") && has(text, "trace unit"))
        return STEP_RESTORE_UNIT;
    if (has(text, "save") && has(text, "trace unit"))
        return STEP_SAVE_UNIT;
    if (has(text, "program") && has(text, "trace unit"))
        return STEP_PROGRAM_UNIT;
    if (has(text, "traced"))
        return STEP_TRACED;
    return STEP_OTHER;
}

static bool add_placeholder(struct parser *p, const char *text)
{
    const uint8_t kind = placeholder_kind(text);
    struct step *step;

    if (kind == STEP_OTHER)
        return true;
    step = add(p, kind);
    if (step)
        /* "... including TRCPRGCTLR" and "... except TRCPRGCTLR" */
        step->more = has(text, "trcprgctlr") && !has(text, "except");
    return step != NULL;
}

static uint8_t read_el(const struct line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const char *at = strstr(line->operand[i], "el");

        if (at && at[2] >= '0' && at[2] <= '3')
            return (uint8_t)(at[2] - '0');
    }
    return NO_REGISTER;
}

/* "= VALUE" or "-> VALUE" behind the operands: what a log tells of the access. */
static void take_value(struct step *step, struct line *line)
{
    for (size_t i = 0; i < line->count; i++) {
        char *at = strpbrk(line->operand[i], "=:-");

        if (!at || at == line->operand[i])
            continue;
        if (at[0] == '-' && at[1] != '>')
            continue;
        step->has_value =
            tw_line_number(&step->value, tw_line_trim(at + (at[0] == '-' ? 2 : 1)));
        *at = 0;
        line->operand[i] = tw_line_trim(line->operand[i]);
    }
}

static bool name_register(struct step *step, const char *name)
{
    size_t i = 0;

    for (; name[i] && i + 1 < sizeof step->name; i++)
        step->name[i] = (char)toupper((unsigned char)name[i]);
    step->name[i] = 0;
    step->class_code = tw_seq_classify(name, &step->el);
    return name[i] == 0 && i > 0;
}

static bool add_access(struct parser *p, struct line *line, bool is_write)
{
    const bool is_alias = line->word[0] != 'm'; /* WRITE and READ of a log: name first */
    const size_t at = is_write || is_alias ? 0 : 1;
    struct step *step = add(p, is_write ? STEP_MSR : STEP_MRS);

    if (!step)
        return false;
    take_value(step, line);
    if (line->count <= at || !name_register(step, line->operand[at])) {
        step->kind = STEP_UNKNOWN;
        return true;
    }
    if (line->count > 1 - at && !(is_alias && !is_write)) {
        const char *other = line->operand[1 - at];

        step->rd = tw_line_register(other);
        if (is_write && step->rd == NO_REGISTER && !step->has_value)
            step->has_value = tw_line_number(&step->value, other);
    }
    if (step->class_code == REG_BAD_NAME)
        step->kind = STEP_UNKNOWN;
    /* PSTATE fields ("msr daifset, #2") and registers of no concern say nothing. */
    if (step->kind == STEP_MSR && step->class_code == REG_OTHER)
        p->out->count--;
    return true;
}

static bool is_full_dsb(const struct line *line)
{
    const char *option = line->count ? line->operand[0] : "sy";
    const size_t size = strlen(option);
    uint64_t number;

    if (tw_line_number(&number, option))
        return (number & 3) == 3;
    return !(size > 2 &&
             (strcmp(option + size - 2, "ld") == 0 || strcmp(option + size - 2, "st") == 0)) &&
           strcmp(option, "ld") != 0 && strcmp(option, "st") != 0;
}

static bool add_assumption(struct parser *p, struct line *line)
{
    static const char *const names[] = { "prohibited",      "allowed",
                                         "drained",         "trace-unit-enabled",
                                         "trace-unit-idle", "buffer-enabled",
                                         "buffer-disabled" };
    struct step *step;

    if (strcmp(line->word, ".sequence") == 0)
        return add(p, STEP_BEGIN) != NULL;
    if (strcmp(line->word, ".el") == 0 || strcmp(line->word, ".owner") == 0) {
        uint8_t el = read_el(line);
        uint64_t number;

        if (el == NO_REGISTER && line->count && tw_line_number(&number, line->operand[0]) &&
            number < 4)
            el = (uint8_t)number;
        step = add(p, el == NO_REGISTER ? STEP_UNKNOWN : STEP_ASSUME);
        if (step) {
            step->op = strcmp(line->word, ".el") == 0 ? ASSUME_EL : ASSUME_OWNER;
            step->el = el;
        }
        return step != NULL;
    }
    if (strcmp(line->word, ".assume") != 0)
        return true; /* a directive of an assembler */
    for (unsigned i = 0; i < TW_LENGTH(names); i++) {
        if (line->count && strcmp(line->operand[0], names[i]) == 0) {
            step = add(p, STEP_ASSUME);
            if (step)
                step->op = (uint8_t)i;
            return step != NULL;
        }
    }
    return add(p, STEP_UNKNOWN) != NULL;
}

/* clang-format off */
static const struct simple {
    const char *word;
    uint8_t kind;
} simples[] = {
    { "isb", STEP_CSE }, { "cse", STEP_CSE }, { "dcps1", STEP_CSE }, { "dcps2", STEP_CSE },
    { "dcps3", STEP_CSE }, { "drps", STEP_CSE }, { "tsb", STEP_TSB },
    { "svc", STEP_CALL }, { "hvc", STEP_CALL }, { "smc", STEP_CALL },
    { "halt", STEP_HALT }, { "resume", STEP_RESUME }, { "restart", STEP_RESUME },
    { "tlbi", STEP_MAINTAIN }, { "dc", STEP_MAINTAIN }, { "ic", STEP_MAINTAIN },
    { "wfi", STEP_WAIT }, { "wfe", STEP_WAIT }, { "wfit", STEP_WAIT }, { "wfet", STEP_WAIT },
    { "sev", STEP_WAIT },
    { "traced", STEP_TRACED },
    { "exception", STEP_EXCEPTION }, { "irq", STEP_EXCEPTION }, { "fiq", STEP_EXCEPTION },
    { "serror", STEP_EXCEPTION }, { "eret", STEP_ERET }, { "eretaa", STEP_ERET }, { "eretab", STEP_ERET },
};

static const struct value_row {
    const char *word;
    uint8_t kind, op;
} value_rows[] = {
    { "mov", STEP_VALUE, OP_MOV }, { "movz", STEP_VALUE, OP_MOV }, { "movk", STEP_VALUE, OP_MOVK },
    { "and", STEP_VALUE, OP_AND }, { "ands", STEP_VALUE, OP_AND }, { "orr", STEP_VALUE, OP_ORR },
    { "bic", STEP_VALUE, OP_BIC }, { "bics", STEP_VALUE, OP_BIC }, { "eor", STEP_VALUE, OP_EOR },
    { "ubfx", STEP_VALUE, OP_UBFX }, { "bfc", STEP_VALUE, OP_BFC },
    { "tst", STEP_TEST, OP_TST }, { "cmp", STEP_TEST, OP_CMP }, { "ccmp", STEP_TEST, OP_CCMP },
    { "b.eq", STEP_BRANCH, OP_BEQ }, { "beq", STEP_BRANCH, OP_BEQ }, { "b.ne", STEP_BRANCH, OP_BNE },
    { "bne", STEP_BRANCH, OP_BNE }, { "b.none", STEP_BRANCH, OP_BEQ }, { "b.any", STEP_BRANCH, OP_BNE },
    { "cbz", STEP_BRANCH, OP_CBZ }, { "cbnz", STEP_BRANCH, OP_CBNZ },
    { "tbz", STEP_BRANCH, OP_TBZ }, { "tbnz", STEP_BRANCH, OP_TBNZ }, { "b", STEP_BRANCH, OP_JUMP },
    { "b.cs", STEP_BRANCH, OP_BANY }, { "b.hs", STEP_BRANCH, OP_BANY }, { "b.cc", STEP_BRANCH, OP_BANY },
    { "b.lo", STEP_BRANCH, OP_BANY }, { "b.mi", STEP_BRANCH, OP_BANY }, { "b.pl", STEP_BRANCH, OP_BANY },
    { "b.vs", STEP_BRANCH, OP_BANY }, { "b.vc", STEP_BRANCH, OP_BANY }, { "b.hi", STEP_BRANCH, OP_BANY },
    { "b.ls", STEP_BRANCH, OP_BANY }, { "b.ge", STEP_BRANCH, OP_BANY }, { "b.lt", STEP_BRANCH, OP_BANY },
    { "b.gt", STEP_BRANCH, OP_BANY }, { "b.le", STEP_BRANCH, OP_BANY },
    { "bcs", STEP_BRANCH, OP_BANY }, { "bcc", STEP_BRANCH, OP_BANY }, { "bmi", STEP_BRANCH, OP_BANY },
    { "bpl", STEP_BRANCH, OP_BANY }, { "bhi", STEP_BRANCH, OP_BANY }, { "bls", STEP_BRANCH, OP_BANY },
    { "bge", STEP_BRANCH, OP_BANY }, { "blt", STEP_BRANCH, OP_BANY }, { "bgt", STEP_BRANCH, OP_BANY },
    { "ble", STEP_BRANCH, OP_BANY }, { "ret", STEP_LEAVE, 0 }, { "br", STEP_LEAVE, 0 },
    { "ldr", STEP_LOAD, 0 }, { "ldp", STEP_LOAD, 0 }, { "ldur", STEP_LOAD, 0 }, { "ldrb", STEP_LOAD, 0 },
    { "ldrh", STEP_LOAD, 0 }, { "ldnp", STEP_LOAD, 0 },
    { "str", STEP_STORE, 0 }, { "stp", STEP_STORE, 0 }, { "stur", STEP_STORE, 0 }, { "strb", STEP_STORE, 0 },
    { "stnp", STEP_STORE, 0 },
};
/* clang-format on */

static void read_branch(const struct parser *p, struct step *step, const struct line *line)
{
    const char *name = line->count ? line->operand[line->count - 1] : "";
    char copy[LINE_ROOM];
    const size_t size = strcspn(name, " \t<");

    if (line->count > 1)
        step->rn = tw_line_register(line->operand[0]);
    if (line->count > 2)
        step->has_immediate = tw_line_number(&step->immediate, line->operand[1]);
    memcpy(copy, name, size);
    copy[size] = 0;
    name = strncmp(copy, "0x", 2) == 0 ? copy + 2 : copy;
    step->target = tw_line_label(p, name);
    if (step->target == NO_STEP && strlen(name) < sizeof step->name)
        memcpy(step->name, name, strlen(name) + 1);
}

/* Branches forward, now that all labels are known. */
static void find_targets(const struct parser *p)
{
    for (size_t i = 0; i < p->out->count; i++) {
        struct step *step = &p->out->items[i];

        if (step->kind == STEP_BRANCH && step->target == NO_STEP && step->name[0])
            step->target = tw_line_label_after(p, step->name, (uint32_t)i);
    }
}

/* Base register of a load or store, and the registers that a load fills. */
static void read_memory_operands(struct step *step, const struct line *line)
{
    if (line->count && step->kind == STEP_LOAD)
        step->rd = tw_line_register(line->operand[0]);
    for (size_t i = 1; i < line->count; i++) {
        if (line->operand[i][0] == '[') {
            char copy[LINE_ROOM];
            const size_t size = strcspn(line->operand[i] + 1, ",] \t");

            memcpy(copy, line->operand[i] + 1, size);
            copy[size] = 0;
            step->rn = tw_line_register(copy);
        } else if (line->operand[i][0] == '=') {
            step->has_immediate = tw_line_number(&step->immediate, line->operand[i]);
        } else if (i == 1) {
            step->rm = tw_line_register(line->operand[i]);
        }
    }
}

/* lsl #16 and the like of MOVZ and MOVK. */
static unsigned read_shift(const struct line *line, size_t index)
{
    uint64_t shift = 0;

    if (line->count > index && strncmp(line->operand[index], "lsl", 3) == 0)
        (void)tw_line_number(&shift, line->operand[index] + 3 +
                                         strspn(line->operand[index] + 3, " \t"));
    return shift < 64 ? (unsigned)shift : 0;
}

static void read_value_operands(struct step *step, const struct line *line)
{
    const size_t last = step->op == OP_MOV || step->op == OP_MOVK || step->op == OP_BFC ||
                                step->kind == STEP_TEST
                            ? 1
                            : 2;
    uint64_t width = 0;

    if (line->count == 0)
        return;
    if (step->op == OP_CCMP) /* "ccmp w1, #0, #4, eq" */
        step->more = line->count > 3 && strcmp(line->operand[3], "eq") == 0 ? OP_BEQ : OP_BNE;
    if (step->op == OP_CCMP)
        return;
    if (step->kind == STEP_TEST)
        step->rn = tw_line_register(line->operand[0]);
    else
        step->rd = tw_line_register(line->operand[0]);
    if (last == 2 && line->count > 1)
        step->rn = tw_line_register(line->operand[1]);
    if (line->count <= last)
        return;
    step->rm = tw_line_register(line->operand[last]);
    step->has_immediate = tw_line_number(&step->immediate, line->operand[last]);
    if (step->op == OP_UBFX || step->op == OP_BFC) {
        if (line->count > last + 1 && tw_line_number(&width, line->operand[last + 1]) &&
            width <= 64)
            step->more = (uint8_t)width;
    } else if (step->op == OP_MOV || step->op == OP_MOVK) {
        step->more = (uint8_t)read_shift(line, last + 1);
        step->immediate <<= step->op == OP_MOV ? step->more : 0;
    } else if (line->count > last + 1) {
        step->rm = NO_REGISTER; /* a shifted operand is not followed */
    }
}

/* An ANDS is an AND and a test of its result. */
static bool add_flags(struct parser *p, const struct line *line, uint8_t rd)
{
    struct step *step;

    if (strcmp(line->word, "ands") != 0 && strcmp(line->word, "bics") != 0)
        return true;
    step = add(p, STEP_TEST);
    if (step) {
        step->op = OP_CMP;
        step->rn = rd;
        step->has_immediate = true;
    }
    return step != NULL;
}

static bool add_value(struct parser *p, const struct line *line, const struct value_row *row)
{
    struct step *step = add(p, row->kind);

    if (!step)
        return false;
    step->op = row->op;
    if (row->kind == STEP_LEAVE)
        return true;
    if (row->kind == STEP_BRANCH)
        read_branch(p, step, line);
    else if (row->kind == STEP_LOAD || row->kind == STEP_STORE)
        read_memory_operands(step, line);
    else
        read_value_operands(step, line);
    return add_flags(p, line, step->rd);
}

/* Something else: its first operand may be a register that it changes. */
static bool add_other(struct parser *p, const struct line *line)
{
    struct step *step;
    const uint8_t rd = line->count ? tw_line_register(line->operand[0]) : NO_REGISTER;

    if (rd == NO_REGISTER || rd == ZERO_REGISTER)
        return true;
    step = add(p, STEP_OTHER);
    if (step)
        step->rd = rd;
    return step != NULL;
}

static bool add_instruction(struct parser *p, struct line *line)
{
    const char *word = line->word;
    const char *first = line->count ? line->operand[0] : "";
    uint64_t number;

    /* Two words for what a listing cannot show. */
    if (strcmp(first, "buffer") == 0 &&
        (strcmp(word, "read") == 0 || strcmp(word, "write") == 0))
        return add(p, word[0] == 'r' ? STEP_READ_BUFFER : STEP_WRITE_BUFFER) != NULL;
    if (strcmp(word, "debug") == 0)
        return add(p, strcmp(first, "exit") == 0 ? STEP_RESUME : STEP_HALT) != NULL;
    if (strcmp(word, "power") == 0 && strcmp(first, "down") == 0)
        return add(p, STEP_POWER_DOWN) != NULL;
    if (strcmp(word, "msr") == 0 || strcmp(word, "write") == 0)
        return add_access(p, line, true);
    if (strcmp(word, "mrs") == 0 || strcmp(word, "read") == 0)
        return add_access(p, line, false);
    if (strcmp(word, "dsb") == 0)
        return !is_full_dsb(line) || add(p, STEP_DSB) != NULL;
    if (strcmp(word, "hint") == 0)
        return !(tw_line_number(&number, first) && number == 18) || add(p, STEP_TSB) != NULL;
    for (size_t i = 0; i < TW_LENGTH(simples); i++) {
        if (strcmp(word, simples[i].word) == 0) {
            struct step *step = add(p, simples[i].kind);

            if (step)
                step->el = read_el(line);
            return step != NULL;
        }
    }
    for (size_t i = 0; i < TW_LENGTH(value_rows); i++)
        if (strcmp(word, value_rows[i].word) == 0)
            return add_value(p, line, &value_rows[i]);
    return add_other(p, line);
}

static bool parse_line(struct parser *p, const char *raw, size_t size)
{
    struct line line;

    if (!tw_line_read(p, &line, raw, size))
        return false;
    if (has(line.comment, "program the trace unit registers") &&
        !add_placeholder(p, line.comment))
        return false;
    if (line.word[0] == '<')
        return add_placeholder(p, line.word);
    if (line.word[0] == '.' && strncmp(line.word, ".inst", 5) != 0)
        return add_assumption(p, &line);
    return !line.word[0] || add_instruction(p, &line);
}

enum tw_status tw_seq_parse(struct tw_seq_steps *steps, const char *text, size_t size,
                            const struct tw_allocator *allocator)
{
    struct parser p = { .out = steps, .allocator = allocator };
    enum tw_status status = TW_OK;

    for (size_t at = 0; at < size && status == TW_OK;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - (text + at)) : size - at;

        p.number++;
        if (!parse_line(&p, text + at, length))
            status = TW_E_MEMORY;
        at += length + 1;
    }
    steps->lines = p.number;
    find_targets(&p);
    tw_give(allocator, p.labels);
    return status;
}
