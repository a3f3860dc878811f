/* SPDX-License-Identifier: BSD-2-Clause */
/* What GDB 13 wants to be told of each machine.  The trace tells the pc; what else it cannot do without follows from
   the traced path, or stands in for a value that is not known.  "trackway_depth" is the depth of the traced call
   stack: by it trackway-gdb.py knows its frames. */
#include "gdb/machine.h"

#include <inttypes.h>
#include <stdio.h>

/* `count` registers of a kind: "x%u", or one without a number. */
struct row {
    const char *name;
    uint8_t size;
    uint8_t known;
    uint16_t count;
    uint16_t number; /* of the first in packets */
    const char *type;
    uint64_t (*value)(const struct gdb_values *values);
};

struct feature {
    const char *name;
    const struct row *rows;
    size_t count;
};

struct gdb_machine {
    const char *architecture;
    uint64_t frames; /* 64 bits: more than any address has; 32 bits: below the high vectors */
    const struct feature *features;
    size_t feature_count;
};

static uint64_t value_of_pc(const struct gdb_values *values)
{
    return values->pc;
}

static uint64_t value_of_depth(const struct gdb_values *values)
{
    return gdb_depth(values->level);
}

static uint64_t value_of_sp(const struct gdb_values *values)
{
    return 0x80000000u - 16u * (uint32_t)values->level;
}

static uint64_t value_of_lr(const struct gdb_values *values)
{
    return values->returns_to | (values->returns_to && values->returns_to_t32);
}

/* The mode by the Exception level; flags are not known, and 0. */
static uint64_t value_of_cpsr(const struct gdb_values *values)
{
    static const uint8_t modes[] = { 0x10, 0x13, 0x1a, 0x16 }; /* usr, svc, hyp, mon */
    const uint64_t thumb = values->isa == TW_ISA_T32 || values->isa == TW_ISA_TEE ? 0x20 : 0;

    return thumb | modes[values->has_level ? values->exception_level & 3 : 0];
}

static uint64_t value_of_xpsr(const struct gdb_values *values)
{
    (void)values;
    return 0x01000000; /* T */
}

/* clang-format off */
static const struct row a64_rows[] = {
    { "x%u",  8, GDB_UNKNOWN, 31, 0,  NULL,       NULL },
    { "sp",   8, GDB_UNKNOWN, 1,  31, "data_ptr", NULL },
    { "pc",   8, GDB_TRACED,  1,  32, "code_ptr", value_of_pc },
    { "cpsr", 4, GDB_UNKNOWN, 1,  33, NULL,       NULL },
};
#define ARM_CORE                                                        \
    { "r%u",  4, GDB_UNKNOWN,  13, 0,  NULL,       NULL },              \
    { "sp",   4, GDB_STAND_IN, 1,  13, "data_ptr", value_of_sp },       \
    { "lr",   4, GDB_DERIVED,  1,  14, NULL,       value_of_lr },       \
    { "pc",   4, GDB_TRACED,   1,  15, "code_ptr", value_of_pc }
static const struct row arm_rows[] = {
    ARM_CORE, { "cpsr", 4, GDB_DERIVED, 1, 25, NULL, value_of_cpsr },
};
static const struct row arm_m_rows[] = {
    ARM_CORE, { "xpsr", 4, GDB_DERIVED, 1, 25, NULL, value_of_xpsr },
};
/* without them GDB 13 fails where a function returns a floating-point number in a register */
static const struct row arm_float_rows[] = {
    { "d%u",   8, GDB_UNKNOWN, 16, 26, "ieee_double", NULL },
    { "fpscr", 4, GDB_UNKNOWN, 1,  42, NULL,          NULL },
};
#define RV_CORE(size)                                                   \
    { "x%u", size, GDB_UNKNOWN, 32, 0,  NULL,       NULL },             \
    { "pc",  size, GDB_TRACED,  1,  32, "code_ptr", value_of_pc }
static const struct row rv32_rows[] = { RV_CORE(4) };
static const struct row rv64_rows[] = { RV_CORE(8) };
static const struct row rv_float_rows[] = {
    { "f%u",    8, GDB_UNKNOWN, 32, 33, "ieee_double", NULL },
    { "fflags", 4, GDB_UNKNOWN, 1,  65, NULL,          NULL },
    { "frm",    4, GDB_UNKNOWN, 1,  66, NULL,          NULL },
    { "fcsr",   4, GDB_UNKNOWN, 1,  67, NULL,          NULL },
};
static const struct row trace_rows[] = {
    { "trackway_depth", 4, GDB_DERIVED, 1, 100, NULL, value_of_depth },
};

#define ROWS(rows) rows, sizeof(rows) / sizeof(rows)[0]
static const struct feature a64_features[] = {
    { "org.gnu.gdb.aarch64.core", ROWS(a64_rows) }, { "trackway.trace", ROWS(trace_rows) },
};
#define ARM_MORE { "org.gnu.gdb.arm.vfp", ROWS(arm_float_rows) }, { "trackway.trace", ROWS(trace_rows) }
static const struct feature arm_features[] = {
    { "org.gnu.gdb.arm.core", ROWS(arm_rows) }, ARM_MORE,
};
static const struct feature arm_m_features[] = {
    { "org.gnu.gdb.arm.m-profile", ROWS(arm_m_rows) }, ARM_MORE,
};
/* programs that use floating point are refused without */
#define RV_MORE { "org.gnu.gdb.riscv.fpu", ROWS(rv_float_rows) }, { "trackway.trace", ROWS(trace_rows) }
static const struct feature rv32_features[] = { { "org.gnu.gdb.riscv.cpu", ROWS(rv32_rows) }, RV_MORE };
static const struct feature rv64_features[] = { { "org.gnu.gdb.riscv.cpu", ROWS(rv64_rows) }, RV_MORE };

static const struct gdb_machine a64 = { "aarch64", 0x0070747261636b00, ROWS(a64_features) };
static const struct gdb_machine arm = { "arm", 0xfffa0000, ROWS(arm_features) };
static const struct gdb_machine arm_m = { "arm", 0xfffa0000, ROWS(arm_m_features) };
static const struct gdb_machine rv32 = { "riscv:rv32", 0xfffa0000, ROWS(rv32_features) };
static const struct gdb_machine rv64 = { "riscv:rv64", 0x0070747261636b00, ROWS(rv64_features) };
/* clang-format on */

const struct gdb_machine *gdb_machine_of(uint8_t isa, bool is_m)
{
    switch (isa) {
    case TW_ISA_A32:
    case TW_ISA_T32:
    case TW_ISA_TEE:
        return is_m ? &arm_m : &arm;
    case TW_ISA_RV32:
        return &rv32;
    case TW_ISA_RV64:
        return &rv64;
    default:
        return &a64;
    }
}

const struct gdb_register *gdb_machine_register(const struct gdb_machine *machine, size_t place,
                                                struct gdb_register *room, char name[16])
{
    for (size_t i = 0; i < machine->feature_count; i++)
        for (size_t k = 0; k < machine->features[i].count; k++) {
            const struct row *row = &machine->features[i].rows[k];

            if (place >= row->count) {
                place -= row->count;
                continue;
            }
            /* one name is a pattern, the others have no '%' */
            if (row->count > 1)
                (void)snprintf(name, 16, "%c%u", row->name[0], (unsigned)place);
            else
                (void)snprintf(name, 16, "%s", row->name);
            *room = (struct gdb_register){ .name = name,
                                           .size = row->size,
                                           .known = row->known,
                                           .number = row->number + (uint32_t)place,
                                           .value = row->value };
            return room;
        }
    return NULL;
}

uint64_t gdb_machine_frames(const struct gdb_machine *machine)
{
    return machine->frames;
}

void gdb_machine_describe(const struct gdb_machine *machine, struct gdb_text *out)
{
    gdb_text_format(out,
                    "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
                    "<target version=\"1.0\">\n<architecture>%s</architecture>\n"
                    /* for Linux it would compute where steps and longjmp lead from registers */
                    "<osabi>none</osabi>\n",
                    machine->architecture);
    for (size_t i = 0; i < machine->feature_count; i++) {
        const struct feature *feature = &machine->features[i];

        gdb_text_format(out, "<feature name=\"%s\">\n", feature->name);
        for (size_t k = 0; k < feature->count; k++)
            for (uint32_t n = 0; n < feature->rows[k].count; n++) {
                const struct row *row = &feature->rows[k];

                gdb_text_put(out, "<reg name=\"");
                if (row->count > 1)
                    gdb_text_format(out, "%c%" PRIu32, row->name[0], n);
                else
                    gdb_text_put(out, row->name);
                gdb_text_format(out, "\" bitsize=\"%u\" regnum=\"%" PRIu32 "\"%s%s%s/>\n",
                                row->size * 8u, row->number + n, row->type ? " type=\"" : "",
                                row->type ? row->type : "", row->type ? "\"" : "");
            }
        gdb_text_put(out, "</feature>\n");
    }
    gdb_text_put(out, "</target>\n");
}
