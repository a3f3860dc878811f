/* SPDX-License-Identifier: BSD-2-Clause */
/* CSV with the names of signals in its first line: blocks and accesses as they are, or the
   reference flow's list of executed addresses. */
#include "hart/hart.h"

#include <inttypes.h>

enum column {
    NONE,
    /* of a block; these may come several times, as NAME_0, NAME_1 ... */
    ITYPE,
    IADDR,
    IRETIRE,
    ILASTSIZE,
    SIJUMP,
    /* of a cycle */
    CAUSE,
    TVAL,
    PRIV,
    CONTEXT,
    TIME,
    CTYPE,
    IMPDEF,
    TRIGGER,
    HALTED,
    RESET,
    DRETIRE,
    DTYPE,
    DADDR,
    DSIZE,
    DATA,
    OPERAND,
    LRID,
    IADDR_LSBS,
    DBLOCK,
    LRESP,
    LID,
    LDATA,
    /* spike_pc_trace */
    VALID,
    ADDRESS,
    INSN,
    PRIVILEGE,
    EXCEPTION,
    ECAUSE,
    INTERRUPT,
    COLUMNS
};

static const struct {
    const char *name;
    bool is_hex;
    uint64_t most;
} columns[COLUMNS] = {
    [NONE] = { "", false, 0 },
    [ITYPE] = { "itype", false, 15 },
    [IADDR] = { "iaddr", true, UINT64_MAX },
    [IRETIRE] = { "iretire", false, UINT16_MAX },
    [ILASTSIZE] = { "ilastsize", false, 1 },
    [SIJUMP] = { "sijump", false, 1 },
    [CAUSE] = { "cause", false, UINT16_MAX },
    [TVAL] = { "tval", true, UINT64_MAX },
    [PRIV] = { "priv", false, 255 },
    [CONTEXT] = { "context", false, UINT64_MAX },
    [TIME] = { "time", false, UINT64_MAX },
    [CTYPE] = { "ctype", false, 3 },
    [IMPDEF] = { "impdef", false, UINT32_MAX },
    [TRIGGER] = { "trigger", false, 7 },
    [HALTED] = { "halted", false, 1 },
    [RESET] = { "reset", false, 1 },
    [DRETIRE] = { "dretire", false, 1 },
    [DTYPE] = { "dtype", false, 15 },
    [DADDR] = { "daddr", true, UINT64_MAX },
    [DSIZE] = { "dsize", false, 7 },
    [DATA] = { "data", true, UINT64_MAX },
    [OPERAND] = { "operand", true, UINT64_MAX },
    [LRID] = { "lrid", false, UINT32_MAX },
    [IADDR_LSBS] = { "iaddr_lsbs", false, UINT32_MAX },
    [DBLOCK] = { "dblock", false, 255 },
    [LRESP] = { "lresp", false, 3 },
    [LID] = { "lid", false, UINT32_MAX },
    [LDATA] = { "ldata", true, UINT64_MAX },
    [VALID] = { "valid", false, 1 },
    [ADDRESS] = { "address", true, UINT64_MAX },
    [INSN] = { "insn", true, UINT64_MAX },
    [PRIVILEGE] = { "privilege", false, 255 },
    [EXCEPTION] = { "exception", false, 1 },
    [ECAUSE] = { "ecause", true, UINT64_MAX },
    [INTERRUPT] = { "interrupt", false, 1 },
};

enum { GROUPS = 4, WIDE = 32 }; /* blocks a row; bytes of a value */

/* A row's values. */
struct row {
    uint64_t of[GROUPS][COLUMNS]; /* what a cycle has once is in group 0 */
    uint8_t has[GROUPS][COLUMNS];
    uint8_t data[WIDE], operand[WIDE];
};

struct cell {
    const char *at;
    size_t size;
};

static bool take_cell(struct cell *cell, const char **at, const char *end)
{
    const char *stop;

    if (!*at)
        return false;
    stop = memchr(*at, ',', (size_t)(end - *at));
    cell->at = *at;
    cell->size = (size_t)((stop ? stop : end) - *at);
    *at = stop ? stop + 1 : NULL;
    while (cell->size && (*cell->at == ' ' || *cell->at == '\t')) {
        cell->at++;
        cell->size--;
    }
    while (cell->size && (cell->at[cell->size - 1] == ' ' || cell->at[cell->size - 1] == '\t'))
        cell->size--;
    return true;
}

static bool is_name(const struct cell *cell, size_t size, const char *name)
{
    if (strlen(name) != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const char c = cell->at[i];

        if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != name[i])
            return false;
    }
    return true;
}

/* A column's number, and in the upper bits which block it is for. */
static uint8_t find_column(const struct cell *cell)
{
    size_t size = cell->size;
    unsigned group = 0;

    if (size > 2 && cell->at[size - 2] == '_' && cell->at[size - 1] >= '0' &&
        cell->at[size - 1] < '0' + GROUPS) {
        group = (unsigned)(cell->at[size - 1] - '0');
        size -= 2;
    }
    for (unsigned i = 1; i < COLUMNS; i++)
        if (is_name(cell, size, columns[i].name) && (group == 0 || i <= SIJUMP))
            return (uint8_t)(i | group << 6);
    return NONE;
}

/* Hexadecimal digits to bytes, lowest first. */
static bool take_wide(uint8_t out[WIDE], const struct cell *cell)
{
    memset(out, 0, WIDE);
    if (cell->size == 0 || cell->size > 2 * (size_t)WIDE)
        return false;
    for (size_t i = 0; i < cell->size; i++) {
        uint64_t digit;

        if (!tw_hart_number(&digit, &cell->at[cell->size - 1 - i], 1, 16))
            return false;
        out[i / 2] = (uint8_t)(out[i / 2] | digit << (i & 1 ? 4 : 0));
    }
    return true;
}

static enum tw_status take_value(struct tw_hart *hart, struct row *row, uint8_t column,
                                 const struct cell *given)
{
    const unsigned group = column >> 6, kind = column & 63u;
    struct cell cell = *given;
    bool is_hex = columns[kind].is_hex, is_good;
    uint64_t *value = &row->of[group][kind];

    if (kind == NONE || cell.size == 0)
        return TW_OK;
    if (cell.size > 2 && cell.at[0] == '0' && (cell.at[1] | 32) == 'x') {
        is_hex = true;
        cell.at += 2;
        cell.size -= 2;
    }
    row->has[group][kind] = 1;
    if (kind == DATA || kind == OPERAND || kind == LDATA)
        is_good = take_wide(kind == OPERAND ? row->operand : row->data, &cell);
    else
        is_good = tw_hart_number(value, cell.at, cell.size, is_hex ? 16 : 10) &&
                  *value <= columns[kind].most;
    if (!is_good)
        return tw_hart_wrong(hart, "%s cannot be \"%.*s\"", columns[kind].name,
                             given->size < 60 ? (int)given->size : 60, given->at);
    return TW_OK;
}

static enum tw_status take_row(struct tw_hart *hart, struct row *row, const char *line,
                               size_t size)
{
    const char *at = line;
    struct cell cell;
    unsigned count = 0;

    memset(row, 0, sizeof *row);
    while (take_cell(&cell, &at, line + size)) {
        if (count >= hart->column_count)
            return tw_hart_wrong(hart, "more values than the first line has names");
        TW_TRY(take_value(hart, row, hart->columns[count++], &cell));
    }
    return count == hart->column_count
               ? TW_OK
               : tw_hart_wrong(hart, "%u values, but %u names", count, hart->column_count);
}

static uint64_t load(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < size && i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* An access as the hart shows it.  CSRs and atomics without an operand's column have it above the
   data, and a size that counts both. */
static void take_access(struct tw_hart *hart, const struct row *row)
{
    const uint64_t *of = row->of[0];
    struct tw_etrace_access *access = &hart->access;
    const bool has_two = of[DTYPE] >= TW_ETRACE_DTYPE_CSR_RW && !row->has[0][OPERAND];
    const unsigned dsize = (unsigned)of[DSIZE] - (has_two && of[DSIZE]); /* of one of the two */
    const unsigned bytes = dsize < 5 ? 1u << dsize : 16u;
    const uint8_t *operand = row->has[0][OPERAND] ? row->operand
                             : bytes <= WIDE / 2  ? row->data + bytes
                                                  : row->data;

    *access = (struct tw_etrace_access){ .daddr = of[DADDR],
                                         .dtype = (uint8_t)of[DTYPE],
                                         .dsize = (uint8_t)dsize,
                                         .lrid = (uint32_t)of[LRID],
                                         .iaddr_lsbs = (uint32_t)of[IADDR_LSBS],
                                         .dblock = (uint8_t)of[DBLOCK] };
    access->data = load(row->data, bytes);
    access->data_high = bytes > 8 ? load(row->data + 8, bytes - 8) : 0;
    if (of[DTYPE] >= TW_ETRACE_DTYPE_CSR_RW) {
        access->operand = load(operand, bytes);
        access->operand_high = bytes > 8 ? load(operand + 8, bytes - 8) : 0;
    }
    hart->has_access = true;
}

static enum tw_status next_blocks(struct tw_hart *hart)
{
    struct row row;
    const uint64_t *of = row.of[0];
    const char *line;
    size_t size;

    if (!tw_hart_line(hart, &line, &size))
        return TW_END;
    if (size == 0 || *line == '#')
        return TW_OK;
    TW_TRY(take_row(hart, &row, line, size));
    hart->signals = (uint8_t)(of[HALTED] | of[RESET] << 1);
    hart->has_signals = row.has[0][HALTED] || row.has[0][RESET];
    for (unsigned i = 0; i < GROUPS; i++) {
        const bool is_trap = row.of[i][ITYPE] == TW_ETRACE_ITYPE_EXCEPTION ||
                             row.of[i][ITYPE] == TW_ETRACE_ITYPE_INTERRUPT;
        const struct tw_etrace_block block = {
            .iaddr = row.of[i][IADDR],
            .iretire = (uint32_t)row.of[i][IRETIRE],
            .itype = (uint8_t)row.of[i][ITYPE],
            .ilastsize = (uint8_t)row.of[i][ILASTSIZE],
            .sijump = row.of[i][SIJUMP],
            .cause = is_trap ? (uint32_t)of[CAUSE] : 0,
            .tval = is_trap ? of[TVAL] : 0,
            .context = of[CONTEXT],
            .time = of[TIME],
            .impdef = (uint32_t)of[IMPDEF],
            .priv = (uint8_t)of[PRIV],
            .ctype = i == 0 ? (uint8_t)of[CTYPE] : 0,
            .trigger = i == 0 ? (uint8_t)of[TRIGGER] : 0,
        };

        if (block.iretire == 0 && block.itype && !is_trap)
            return tw_hart_wrong(hart, "itype is %u, but nothing retired", block.itype);
        if (!block.iretire && !is_trap && !block.trigger)
            continue;
        tw_hart_queue(hart, &block);
        hart->instructions += hart->trace.retires <= 1 ? block.iretire : 0;
    }
    if (of[DRETIRE] || (row.has[0][DTYPE] && !row.has[0][DRETIRE]))
        take_access(hart, &row);
    hart->is_response = of[LRESP] >= 2;
    if (hart->is_response) {
        hart->response.lrid = (uint32_t)of[LID];
        hart->response.data = load(row.data, 8);
        hart->response.data_high = load(row.data + 8, 8);
        hart->response.is_error = of[LRESP] == 3;
    }
    hart->is_row = true;
    return TW_OK;
}

static enum tw_status next_addresses(struct tw_hart *hart)
{
    struct row row;
    const uint64_t *of = row.of[0];
    struct tw_hart_trap trap;
    const char *line;
    size_t size;

    if (!tw_hart_line(hart, &line, &size)) {
        tw_hart_finish(hart);
        return TW_END;
    }
    if (size == 0 || *line == '#')
        return TW_OK;
    TW_TRY(take_row(hart, &row, line, size));
    if (row.has[0][VALID] && !of[VALID])
        return TW_OK;
    if (row.has[0][PRIVILEGE] && !of[EXCEPTION])
        TW_TRY(tw_hart_set_priv(hart, of[PRIVILEGE]));
    if (!of[EXCEPTION])
        return tw_hart_step(hart, of[ADDRESS]);
    trap = (struct tw_hart_trap){ .epc = of[ADDRESS],
                                  .tval = of[TVAL],
                                  .cause = (uint32_t)(of[ECAUSE] & UINT16_MAX),
                                  .is_interrupt = of[INTERRUPT] };
    return tw_hart_trap(hart, &trap);
}

enum tw_status tw_hart_csv_begin(struct tw_hart *hart, bool *is_mine)
{
    const char *const start = hart->at, *line, *at;
    bool has_blocks = false, has_addresses = false;
    struct cell cell;
    size_t size;

    *is_mine = false;
    do {
        if (!tw_hart_line(hart, &line, &size)) {
            hart->at = start;
            hart->line = 0;
            return TW_OK;
        }
    } while (size == 0 || *line == '#');
    at = line;
    while (take_cell(&cell, &at, line + size)) {
        const uint8_t column = find_column(&cell);

        if (hart->column_count == TW_HART_COLUMNS)
            return tw_hart_wrong(hart, "too many columns");
        hart->columns[hart->column_count++] = column;
        has_blocks |= column == IRETIRE || column == DTYPE || column == LRESP;
        has_addresses |= column == ADDRESS;
    }
    *is_mine = has_blocks || has_addresses;
    if (!*is_mine) {
        hart->at = start;
        hart->line = 0;
        hart->column_count = 0;
        return TW_OK;
    }
    for (unsigned i = 0; i < hart->column_count; i++)
        if (hart->columns[i] == NONE)
            return tw_hart_wrong(hart, "column %u has a name that is no signal's", i + 1);
    if (has_addresses && !hart->options.image)
        return tw_hart_wrong(hart, "addresses alone need the program");
    hart->next = has_blocks ? next_blocks : next_addresses;
    return TW_OK;
}
