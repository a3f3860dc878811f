/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows of mask and value that tell the instructions of interest, and how one is found. */
#ifndef TW_ISA_ROW_H
#define TW_ISA_ROW_H

#include <stddef.h>
#include <stdint.h>

#include "isa/data.h"
#include "isa/isa.h"

/* More about a row: bits of `flags`. */
enum {
    TW_ROW_COND = 0x01,   /* the encoding itself is conditional */
    TW_ROW_LINK = 0x02,   /* puts the return address in a register */
    TW_ROW_RETURN = 0x04, /* a return by name */
    TW_ROW_ERET = 0x08,   /* an exception return */
    TW_ROW_SWAP = 0x10,   /* a direct branch to the other of A32 and T32 */
    TW_ROW_NOT_M = 0x20,  /* A and R profile only: undefined, or something else, on M */
    TW_ROW_TIMED = 0x40   /* a WFx with timeout */
};

/* Applies when (opcode & mask) == value, and not (opcode & except_mask) == except_value; an
   except_mask of 0 excepts nothing.  Within a table no opcode fits two rows. */
struct tw_isa_row {
    uint32_t mask, value;
    uint32_t except_mask, except_value;
    uint8_t kind; /* enum tw_flow_kind */
    /* of a direct branch: how the target is computed; private to each instruction set */
    uint8_t form;
    uint8_t flags; /* TW_ROW_... */
    const char *name;
};

/* The rows that share some major bits of the opcode; what does not fit `mask` and `value` fits none of
   them. */
struct tw_isa_group {
    const struct tw_isa_row *rows;
    uint32_t count;
    uint32_t mask, value;
};

#define TW_ISA_GROUP_OF(rows, mask, value)                                                     \
    {                                                                                          \
        (rows), sizeof(rows) / sizeof((rows)[0]), (mask), (value)                              \
    }
#define TW_ISA_GROUP(rows) TW_ISA_GROUP_OF(rows, 0, 0)

/* The tables themselves, by major bits; for the tests as well. */
enum {
    TW_A64_GROUPS = 32,
    TW_A32_GROUPS = 10,
    TW_T32_NARROW_GROUPS = 16,
    TW_T32_WIDE_GROUPS = 8
};
extern const struct tw_isa_group tw_a64_groups[TW_A64_GROUPS];
extern const struct tw_isa_group tw_a32_groups[TW_A32_GROUPS];
extern const struct tw_isa_group tw_t32_narrow_groups[TW_T32_NARROW_GROUPS];
extern const struct tw_isa_group tw_t32_wide_groups[TW_T32_WIDE_GROUPS];

static inline bool tw_isa_row_fits(const struct tw_isa_row *row, uint32_t opcode)
{
    if ((opcode & row->mask) != row->value)
        return false;
    return row->except_mask == 0 || (opcode & row->except_mask) != row->except_value;
}

/* The row that fits, or NULL; and the same for groups most of whose opcodes fit none. */
static inline const struct tw_isa_row *tw_isa_find(const struct tw_isa_group *group,
                                                   uint32_t opcode)
{
    for (size_t i = 0; i < group->count; i++) {
        if (tw_isa_row_fits(&group->rows[i], opcode))
            return &group->rows[i];
    }
    return NULL;
}

static inline const struct tw_isa_row *tw_isa_search(const struct tw_isa_group *group,
                                                     uint32_t opcode)
{
    return (opcode & group->mask) == group->value ? tw_isa_find(group, opcode) : NULL;
}

/* Bits high:low of the opcode, sign-extended. */
static inline int64_t tw_isa_signed(uint32_t opcode, unsigned high, unsigned low)
{
    const uint64_t sign = UINT64_C(1) << (high - low);
    const uint64_t field = (opcode >> low) & ((sign << 1) - 1);

    return (int64_t)(field ^ sign) - (int64_t)sign;
}

/* Which bits of a direct branch of A64 hold its distance, by the row's form: in instructions, from the
   branch itself. */
struct tw_a64_field {
    uint8_t high, low;
};
extern const struct tw_a64_field tw_a64_fields[];

/* The row that fits an opcode that is of interest, or NULL. */
static inline const struct tw_isa_row *tw_a64_row(uint32_t opcode)
{
    return tw_isa_find(&tw_a64_groups[(opcode >> 27 & 28) | (opcode >> 24 & 3)], opcode);
}

/* Where a direct branch of A64 leads. */
static inline uint64_t tw_a64_target(const struct tw_isa_row *row, uint32_t opcode,
                                     uint64_t address)
{
    const struct tw_a64_field *field = &tw_a64_fields[row->form];

    return address + 4 * (uint64_t)tw_isa_signed(opcode, field->high, field->low);
}

/* Is an instruction of this row a waypoint under these options? */
static inline bool tw_isa_is_waypoint(const struct tw_isa_row *row,
                                      const struct tw_isa_options *options)
{
    switch (row->kind) {
    case TW_FLOW_BRANCH:
    case TW_FLOW_INDIRECT:
    case TW_FLOW_ISB:
        return true;
    case TW_FLOW_DSB_DMB:
        return options->dsb_dmb_is_waypoint;
    case TW_FLOW_WFX:
        return options->wfx_is_p0 && (!(row->flags & TW_ROW_TIMED) || options->wfet_wfit_is_p0);
    case TW_FLOW_TSTART:
        return options->tstart_is_p0;
    default:
        return false;
    }
}

/* TRCCONFIGR.INSTP0: loads and stores of memory can be P0 as well; their kind stays "other". */
static inline bool tw_isa_access_is_p0(const struct tw_data_access *access,
                                       const struct tw_isa_options *options)
{
    return !access->is_coprocessor && ((access->is_load && options->load_is_p0) ||
                                       (access->is_store && options->store_is_p0));
}

/* Puts what the row says into *out, the target and what depends on registers aside.  The caller has
   set size, target_isa and what the condition field says. */
static inline void tw_isa_apply(struct tw_instruction *out, const struct tw_isa_row *row,
                                const struct tw_isa_options *options)
{
    if (!tw_isa_is_waypoint(row, options))
        return;
    out->is_waypoint = true;
    out->kind = row->kind;
    out->is_conditional |= (row->flags & TW_ROW_COND) != 0;
    out->is_link = (row->flags & TW_ROW_LINK) != 0;
    out->is_return = (row->flags & TW_ROW_RETURN) != 0;
    out->is_exception_return = (row->flags & TW_ROW_ERET) != 0;
    if (out->is_link)
        out->sub = TW_SUB_LINK;
}

#endif
