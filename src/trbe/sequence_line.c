/* SPDX-License-Identifier: BSD-2-Clause */
/* Text of a sequence: lines without their comments, labels, words, operands, numbers. */
#include "trbe/sequence_line.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"

/* Labels further back are not looked for. */
enum { LABEL_WINDOW = 4096 };

char *tw_line_trim(char *text)
{
    size_t size;

    while (isspace((unsigned char)*text))
        text++;
    size = strlen(text);
    while (size && isspace((unsigned char)text[size - 1]))
        text[--size] = 0;
    return text;
}

static const char *const mnemonics[] = {
    "eretaa", "eretab", "msr",    "mrs",     "isb",   "dsb",       "dmb",   "tsb",   "hint",
    "eret",   "svc",    "hvc",    "smc",     "wfi",   "wfe",       "sev",   "nop",   "mov",
    "movz",   "movk",   "movn",   "orr",     "and",   "ands",      "bic",   "eor",   "ldr",
    "ldp",    "str",    "stp",    "cmp",     "tst",   "cbz",       "cbnz",  "tbz",   "tbnz",
    "tlbi",   "dc",     "ic",     "ret",     "ubfx",  "bfc",       "bl",    "b",     "b.ne",
    "b.eq",   "bne",    "beq",    "cse",     "halt",  "exception", "dcps1", "dcps2", "dcps3",
    "drps",   "irq",    "fiq",    "serror",  "write", "read",      "wfit",  "wfet",  "traced",
    "debug",  "power",  "resume", "restart",
};

static bool is_mnemonic(const char *word, size_t size)
{
    for (size_t i = 0; i < TW_LENGTH(mnemonics); i++)
        if (strlen(mnemonics[i]) == size && memcmp(mnemonics[i], word, size) == 0)
            return true;
    return false;
}

static bool is_hex(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return size > 0;
}

bool tw_line_number(uint64_t *value, const char *text)
{
    unsigned base = 10;
    bool is_negative;
    uint64_t sum = 0;

    if (*text == '#' || *text == '=')
        text++;
    is_negative = *text == '-';
    if (is_negative)
        text++;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'b')) {
        base = text[1] == 'x' ? 16 : 2;
        text += 2;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        const unsigned digit = isdigit(c) ? c - '0' + 0u : isalpha(c) ? c - 'a' + 10u : 99;

        if (c == '_')
            continue;
        if (digit >= base)
            return false;
        sum = sum * base + digit;
    }
    *value = is_negative ? 0 - sum : sum;
    return true;
}

uint8_t tw_line_register(const char *text)
{
    uint64_t number;

    if (strcmp(text, "xzr") == 0 || strcmp(text, "wzr") == 0)
        return ZERO_REGISTER;
    if (strcmp(text, "lr") == 0)
        return 30;
    if ((*text == 'x' || *text == 'w') && isdigit((unsigned char)text[1]) &&
        tw_line_number(&number, text + 1) && number <= 30)
        return (uint8_t)number;
    return NO_REGISTER;
}

static bool add_label(struct parser *p, const char *name, size_t size)
{
    if (!TW_GROW(p->allocator, &p->labels, &p->label_room, p->label_count + 1))
        return false;
    p->labels[p->label_count++] = (struct label){ name, size, (uint32_t)p->out->count };
    return true;
}

/* Length of the label's name: "1b" is the label 1 before here, "1f" the one behind. */
static size_t label_size(const char *name, char where)
{
    const size_t size = strlen(name);

    if (size > 1 && name[size - 1] == where && strspn(name, "0123456789") == size - 1)
        return size - 1;
    return size;
}

static bool is_label(const struct label *label, const char *name, size_t size)
{
    size_t k = 0;

    if (label->size != size)
        return false;
    while (k < size && tolower((unsigned char)label->name[k]) == name[k])
        k++;
    return k == size;
}

uint32_t tw_line_label(const struct parser *p, const char *name)
{
    const size_t size = label_size(name, 'b');
    size_t tries = LABEL_WINDOW;

    for (size_t i = p->label_count; i > 0 && tries > 0; i--, tries--)
        if (is_label(&p->labels[i - 1], name, size))
            return p->labels[i - 1].step;
    return NO_STEP;
}

uint32_t tw_line_label_after(const struct parser *p, const char *name, uint32_t step)
{
    const size_t size = label_size(name, 'f');
    size_t low = 0, high = p->label_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (p->labels[middle].step <= step)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < p->label_count && i - low < LABEL_WINDOW; i++)
        if (is_label(&p->labels[i], name, size))
            return p->labels[i].step;
    return NO_STEP;
}

/* Takes comments away; the first one is kept. */
static void strip_comment(struct line *line)
{
    char *at = line->chars;

    line->comment[0] = 0;
    for (; *at; at++) {
        if (at[0] == '/' && at[1] == '*') {
            char *end = strstr(at + 2, "*/");

            if (!end) {
                memcpy(line->comment, at, strlen(at) + 1);
                *at = 0;
                return;
            }
            memset(at, ' ', (size_t)(end + 2 - at));
        } else if (*at == ';' || (at[0] == '/' && at[1] == '/') ||
                   (*at == '#' && (at == line->chars || isspace((unsigned char)at[1]))) ||
                   *at == '@') {
            memcpy(line->comment, at, strlen(at) + 1);
            *at = 0;
            return;
        }
    }
}

static void split_operands(struct line *line, char *at)
{
    int depth = 0;

    line->count = 0;
    at = tw_line_trim(at);
    while (*at && line->count < OPERANDS) {
        char *end = at;

        while (*end && !(*end == ',' && depth == 0)) {
            depth += *end == '[' || *end == '{' ? 1 : *end == ']' || *end == '}' ? -1 : 0;
            end++;
        }
        if (*end)
            *end++ = 0;
        line->operand[line->count++] = tw_line_trim(at);
        at = end;
        depth = 0;
    }
}

/* Disassembly: "  40:\td5033fdf \tisb"; simulators: "... : ISB". */
static char *skip_prefix(struct parser *p, struct line *line, const char *raw, char *at)
{
    char *colon = strchr(at, ':');
    char *last = NULL;

    for (char *s = strstr(at, " : "); s; s = strstr(s + 3, " : ")) {
        char *word = tw_line_trim(s + 3);

        if (is_mnemonic(word, strcspn(word, " \t,")))
            last = word;
    }
    if (last)
        return last;
    if (colon && is_hex(at, (size_t)(colon - at)) &&
        (colon[1] == '\t' || (colon[1] == ' ' && colon - at >= 2) || colon - at >= 4)) {
        if (!add_label(p, raw + (at - line->chars), (size_t)(colon - at)))
            return NULL;
        at = tw_line_trim(colon + 1);
        /* The opcode, as one word or as four bytes. */
        for (int i = 0; i < 4; i++) {
            const size_t size = strcspn(at, " \t");

            if (!(size == 8 || size == 2) || !is_hex(at, size) || is_mnemonic(at, size))
                break;
            at = tw_line_trim(at + size);
            if (size == 8)
                break;
        }
    }
    return at;
}

/* "name:" or, as some assemblers have it, a name alone or before an instruction. */
static char *take_labels(struct parser *p, struct line *line, const char *raw, char *at)
{
    for (int i = 0; i < 8; i++) {
        const size_t size = strcspn(at, " \t:,<[");
        char *next;

        if (size == 0 || at[size] == ',' || at[size] == '<' || at[size] == '[')
            return at;
        next = tw_line_trim(at + size);
        if (at[0] == '.' && *next != ':')
            return at; /* a directive; compilers write ".L2:" */
        if (*next == ':')
            next = tw_line_trim(next + 1);
        else if (is_mnemonic(at, size) ||
                 (*next && !is_mnemonic(next, strcspn(next, " \t,"))) ||
                 (!*next && (!isalpha((unsigned char)*at) || strchr(at, '.'))))
            return at;
        if (!add_label(p, raw + (at - line->chars), size))
            return NULL;
        at = next;
    }
    return at;
}

bool tw_line_read(struct parser *p, struct line *line, const char *raw, size_t size)
{
    char *at;
    size_t word;

    if (size >= LINE_ROOM)
        size = LINE_ROOM - 1;
    for (size_t i = 0; i < size; i++) {
        line->chars[i] = (char)tolower((unsigned char)raw[i]);
        if (!raw[i])
            line->chars[i] = ' ';
    }
    line->chars[size] = 0;
    line->count = 0;
    strip_comment(line);
    at = tw_line_trim(line->chars);
    if (*at != '<')
        at = skip_prefix(p, line, raw, at);
    if (at && *at != '<')
        at = take_labels(p, line, raw, at);
    if (!at)
        return false;
    line->word = at;
    if (*at == '<')
        return true;
    word = strcspn(at, " \t");
    if (at[word])
        at[word++] = 0;
    split_operands(line, at + word);
    return true;
}
