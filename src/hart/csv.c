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
    TRIGGER,
    /* of a cycle */
    CAUSE,
    TVAL,
    PRIV,
    CONTEXT,
    TIME,
    CTYPE,
    IMPDEF,
    HALTED,
    RESET,
    DRETIRE,
    DTYPE,
    DADDR,
    DSIZE,
    DATA,
    SDATA,
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
    [CAUSE] = { "cause", false, UINT64_MAX },
    [TVAL] = { "tval", true, UINT64_MAX },
    [PRIV] = { "priv", false, 255 },
    [CONTEXT] = { "context", false, UINT64_MAX },
    [TIME] = { "time", false, UINT64_MAX },
    [CTYPE] = { "ctype", false, 3 },
    [IMPDEF] = { "impdef", false, UINT64_MAX },
    [TRIGGER] = { "trigger", false, 7 },
    [HALTED] = { "halted", false, 1 },
    [RESET] = { "reset", false, 1 },
    [DRETIRE] = { "dretire", false, 1 },
    [DTYPE] = { "dtype", false, 15 },
    [DADDR] = { "daddr", true, UINT64_MAX },
    [DSIZE] = { "dsize", false, 7 },
    [DATA] = { "data", true, UINT64_MAX },
    [SDATA] = { "sdata", true, UINT64_MAX },
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
enum { WIDE_DATA, WIDE_SDATA, WIDE_LDATA, WIDE_OPERAND, WIDE_IMPDEF, WIDE_COLUMNS };

/* A row's values. */
struct row {
    uint64_t of[GROUPS][COLUMNS]; /* what a cycle has once is in group 0 */
    uint8_t has[GROUPS][COLUMNS];
    uint8_t wide[WIDE_COLUMNS][WIDE]; /* those of more than 64 bits, lowest byte first */
};

/* Which of the wide values a column is; WIDE_COLUMNS: none. */
static unsigned wide_of(unsigned column)
{
    switch (column) {
    case DATA:
        return WIDE_DATA;
    case SDATA:
        return WIDE_SDATA;
    case LDATA:
        return WIDE_LDATA;
    case OPERAND:
        return WIDE_OPERAND;
    case IMPDEF:
        return WIDE_IMPDEF;
    default:
        return WIDE_COLUMNS;
    }
}

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
        if (is_name(cell, size, columns[i].name) && (group == 0 || i <= TRIGGER))
            return (uint8_t)(i | group << 6);
    return NONE;
}

/* Digits to bytes, lowest first. */
static bool take_wide(uint8_t out[WIDE], const struct cell *cell, unsigned base)
{
    memset(out, 0, WIDE);
    if (cell->size == 0)
        return false;
    for (size_t i = 0; i < cell->size; i++) {
        uint64_t carry;

        if (!tw_hart_number(&carry, &cell->at[i], 1, base))
            return false;
        for (size_t k = 0; k < WIDE; k++) {
            carry += (uint64_t)out[k] * base;
            out[k] = (uint8_t)carry;
            carry >>= 8;
        }
        if (carry)
            return false;
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
    if (wide_of(kind) < WIDE_COLUMNS)
        is_good = take_wide(row->wide[wide_of(kind)], &cell, is_hex ? 16 : 10);
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

/* The value has no more bits than its bus. */
static bool fits(const uint8_t bytes[WIDE], unsigned bits)
{
    for (unsigned i = bits / 8; i < WIDE; i++)
        if (i == bits / 8 ? bytes[i] >> bits % 8 : bytes[i])
            return false;
    return true;
}

/* Values that are wider than their parameters (table 4.9). */
static enum tw_status check_access(struct tw_hart *hart, const struct row *row, bool has_two)
{
    const struct tw_etrace_config *config = &hart->trace;
    const unsigned width = config->data_width;
    const unsigned stored = config->sdata_width > width ? config->sdata_width : width;
    const unsigned loaded = config->ldata_width > width ? config->ldata_width : width;
    const uint64_t daddr = row->of[0][DADDR];
    const bool is_csr = row->of[0][DTYPE] >= TW_ETRACE_DTYPE_CSR_RW &&
                        row->of[0][DTYPE] <= TW_ETRACE_DTYPE_CSR_RC;
    const unsigned bits = is_csr ? 12 : config->daddress_width;

    if (!fits(row->wide[WIDE_DATA], has_two ? 2 * width : width))
        return tw_hart_wrong(hart, "data does not fit data_width_p");
    if (!fits(row->wide[WIDE_SDATA], stored))
        return tw_hart_wrong(hart, "sdata does not fit sdata_width_p");
    if (!fits(row->wide[WIDE_LDATA], loaded))
        return tw_hart_wrong(hart, "ldata does not fit ldata_width_p");
    if (!fits(row->wide[WIDE_OPERAND], width))
        return tw_hart_wrong(hart, "operand does not fit data_width_p");
    if (bits < 64 && daddr >> bits &&
        (is_csr || daddr >> (bits - 1) != UINT64_MAX >> (bits - 1))) /* sign-extended */
        return tw_hart_wrong(hart, "daddr does not fit %s",
                             is_csr ? "a CSR's 12 bits" : "daddress_width_p");
    return TW_OK;
}

/* What the hart stores is sdata where there is such a signal, else data; what it loads is data where
   the load is not split (table 4.9). */
static const uint8_t *data_of(const struct row *row)
{
    if (row->has[0][SDATA])
        return row->wide[WIDE_SDATA];
    if (!row->has[0][DATA] && row->has[0][LDATA] && !row->has[0][LRESP])
        return row->wide[WIDE_LDATA];
    return row->wide[WIDE_DATA];
}

/* An access as the hart shows it.  CSRs and atomics without an operand's column have it above the
   data, and a size that counts both. */
static enum tw_status take_access(struct tw_hart *hart, const struct row *row)
{
    const uint64_t *of = row->of[0];
    const uint8_t *data = data_of(row);
    struct tw_etrace_access *access = &hart->access;
    const bool has_two = of[DTYPE] >= TW_ETRACE_DTYPE_CSR_RW && !row->has[0][OPERAND];
    const unsigned dsize = (unsigned)of[DSIZE] - (has_two && of[DSIZE]); /* of one of the two */
    const unsigned bytes = dsize < 5 ? 1u << dsize : 16u;
    const uint8_t *operand = row->has[0][OPERAND] ? row->wide[WIDE_OPERAND]
                             : bytes <= WIDE / 2  ? data + bytes
                                                  : data;

    TW_TRY(check_access(hart, row, has_two));
    *access = (struct tw_etrace_access){ .daddr = of[DADDR],
                                         .dtype = (uint8_t)of[DTYPE],
                                         .dsize = (uint8_t)dsize,
                                         .lrid = (uint32_t)of[LRID],
                                         .iaddr_lsbs = (uint32_t)of[IADDR_LSBS],
                                         .dblock = (uint8_t)of[DBLOCK] };
    access->data = load(data, bytes);
    access->data_high = bytes > 8 ? load(data + 8, bytes - 8) : 0;
    if (of[DTYPE] >= TW_ETRACE_DTYPE_CSR_RW) {
        access->operand = load(operand, bytes);
        access->operand_high = bytes > 8 ? load(operand + 8, bytes - 8) : 0;
    }
    hart->has_access = true;
    return TW_OK;
}

/* Data that a split load or atomic brings. */
static enum tw_status take_response(struct tw_hart *hart, const struct row *row)
{
    const uint64_t *of = row->of[0];
    const uint8_t *data = row->wide[row->has[0][LDATA] ? WIDE_LDATA : WIDE_DATA];

    TW_TRY(check_access(hart, row, true));
    hart->is_response = true;
    hart->response.lrid = (uint32_t)of[LID];
    hart->response.data = load(data, 8);
    hart->response.data_high = load(data + 8, 8);
    hart->response.is_error = of[LRESP] == 3;
    return TW_OK;
}

/* Group i of a row's blocks. */
static struct tw_etrace_block block_of(const struct row *row, unsigned i)
{
    const uint64_t *of = row->of[0];
    const bool is_trap = row->of[i][ITYPE] == TW_ETRACE_ITYPE_EXCEPTION ||
                         row->of[i][ITYPE] == TW_ETRACE_ITYPE_INTERRUPT;

    return (struct tw_etrace_block){
        .iaddr = row->of[i][IADDR],
        .iretire = (uint32_t)row->of[i][IRETIRE],
        .itype = (uint8_t)row->of[i][ITYPE],
        .ilastsize = (uint8_t)row->of[i][ILASTSIZE],
        .sijump = row->of[i][SIJUMP],
        .trigger = (uint8_t)row->of[i][TRIGGER],
        .cause = is_trap ? of[CAUSE] : 0,
        .tval = is_trap ? of[TVAL] : 0,
        .context = of[CONTEXT],
        .time = of[TIME],
        .impdef = load(row->wide[WIDE_IMPDEF], 8),
        .impdef_high = load(row->wide[WIDE_IMPDEF] + 8, 8),
        .priv = (uint8_t)of[PRIV],
        .ctype = i == 0 ? (uint8_t)of[CTYPE] : 0,
    };
}

/* 4.2: a trap is in the newest group alone, and lower numbered groups are used first. */
static enum tw_status take_blocks(struct tw_hart *hart, const struct row *row)
{
    bool is_over = false;

    if (!fits(row->wide[WIDE_IMPDEF], 128))
        return tw_hart_wrong(hart, "impdef does not fit impdef_width_p");
    for (unsigned i = 0; i < GROUPS; i++) {
        const struct tw_etrace_block block = block_of(row, i);
        const bool is_trap = block.itype == TW_ETRACE_ITYPE_EXCEPTION ||
                             block.itype == TW_ETRACE_ITYPE_INTERRUPT;
        const bool is_used = block.iretire || is_trap;

        if (block.iretire == 0 && block.itype && !is_trap)
            return tw_hart_wrong(hart, "itype is %u, but nothing retired", block.itype);
        if (is_used && is_over)
            return tw_hart_wrong(
                hart, "group %u is used, but the one before it is empty or traps", i);
        is_over = !is_used || is_trap;
        if (!is_used && !block.trigger)
            continue;
        tw_hart_queue(hart, &block);
        hart->instructions += hart->trace.retires <= 1 ? block.iretire : 0;
    }
    return TW_OK;
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
    TW_TRY(take_blocks(hart, &row));
    if (of[DRETIRE] || (row.has[0][DTYPE] && !row.has[0][DRETIRE]))
        TW_TRY(take_access(hart, &row));
    if (of[LRESP] >= 2)
        TW_TRY(take_response(hart, &row));
    hart->is_row = true;
    return TW_OK;
}

static enum tw_status next_addresses(struct tw_hart *hart)
{
    struct row row;
    const uint64_t *of = row.of[0];
    /* of a cause register: another column says what its top bit does */
    const uint64_t top = (uint64_t)1 << (hart->isa == TW_ISA_RV32 ? 31 : 63);
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
                                  .cause = of[ECAUSE] & ~top,
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
