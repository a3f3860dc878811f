/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V, RV32 and RV64 with C: branches and jumps by E-Trace's classes, memory and CSR accesses. */
#include <stddef.h>

#include "isa/isa.h"

static uint32_t bits(uint32_t opcode, unsigned high, unsigned low)
{
    return (opcode >> low) & ((UINT32_C(2) << (high - low)) - 1);
}

/* The low `width` bits as a signed number. */
static int32_t extend(uint32_t value, unsigned width)
{
    const uint32_t sign = UINT32_C(1) << (width - 1);

    return (int32_t)((value ^ sign) - sign);
}

static bool is_link_register(uint8_t number)
{
    return number == 1 || number == 5;
}

static uint64_t add(uint64_t address, int32_t distance, uint8_t isa)
{
    const uint64_t sum = address + (uint64_t)(int64_t)distance;

    return isa == TW_ISA_RV32 ? sum & UINT32_MAX : sum;
}

/* E-Trace 4.1.1; a jump is inferable when rs1 is x0 or it has none. */
static uint8_t jump_class(uint8_t rd, uint8_t rs1, bool is_inferable)
{
    if (!is_inferable && is_link_register(rs1)) {
        if (!is_link_register(rd))
            return TW_RV_RETURN;
        return rd == rs1 ? TW_RV_CALL_UNINFERABLE : TW_RV_SWAP_COROUTINE;
    }
    if (is_link_register(rd))
        return is_inferable ? TW_RV_CALL_INFERABLE : TW_RV_CALL_UNINFERABLE;
    if (rd == 0)
        return is_inferable ? TW_RV_JUMP_INFERABLE : TW_RV_JUMP_UNINFERABLE;
    return is_inferable ? TW_RV_OTHER_INFERABLE : TW_RV_OTHER_UNINFERABLE;
}

static void set_call_and_return(struct tw_rv_instruction *out,
                                const struct tw_rv_options *options)
{
    struct tw_instruction *flow = &out->flow;

    if (options->x1_links_only) {
        flow->is_link = out->rd == 1;
        flow->is_return = out->is_uninferable && out->rs1 == 1 && out->rd == 0;
    } else {
        flow->is_link =
            out->itype == TW_RV_CALL_UNINFERABLE || out->itype == TW_RV_CALL_INFERABLE;
        flow->is_return = out->itype == TW_RV_RETURN;
    }
    if (options->swaps_link && out->itype == TW_RV_SWAP_COROUTINE)
        flow->is_link = flow->is_return = true;
    if (flow->is_link)
        flow->sub = TW_SUB_LINK;
    else if (flow->is_return)
        flow->sub = TW_SUB_RET;
}

static void direct_jump(struct tw_rv_instruction *out, uint8_t rd, uint64_t target,
                        const struct tw_rv_options *options)
{
    out->flow.kind = TW_FLOW_BRANCH;
    out->flow.is_waypoint = true;
    out->flow.target = target;
    out->is_inferable = true;
    out->rd = rd;
    out->itype = jump_class(rd, 0, true);
    set_call_and_return(out, options);
}

static void indirect_jump(struct tw_rv_instruction *out, uint8_t rd, uint8_t rs1,
                          int32_t offset, const struct tw_rv_options *options)
{
    out->flow.kind = TW_FLOW_INDIRECT;
    out->flow.is_waypoint = true;
    out->is_uninferable = true;
    out->rd = rd;
    out->rs1 = rs1;
    out->offset = offset;
    out->itype = jump_class(rd, rs1, false);
    set_call_and_return(out, options);
}

static void branch(struct tw_rv_instruction *out, uint64_t target)
{
    out->flow.kind = TW_FLOW_BRANCH;
    out->flow.is_waypoint = true;
    out->flow.is_conditional = true;
    out->flow.target = target;
    out->is_branch = true;
    out->itype = TW_RV_BRANCH_TAKEN;
}

static void upper(struct tw_rv_instruction *out, uint8_t rd, uint64_t value)
{
    out->is_upper = true;
    out->rd = rd;
    out->value = value;
}

static void accesses(struct tw_rv_instruction *out, uint8_t access, uint32_t log2_size)
{
    out->access = access;
    out->access_size = (uint8_t)log2_size;
    out->access_count = 1;
}

static void environment(struct tw_rv_instruction *out, uint32_t opcode)
{
    switch (opcode) {
    case 0x00000073: /* ecall */
    case 0x00100073: /* ebreak */
        out->is_trapping = true;
        break;
    case 0x00200073: /* uret */
    case 0x10200073: /* sret */
    case 0x30200073: /* mret */
    case 0x70200073: /* mnret */
    case 0x7b200073: /* dret */
        out->flow.kind = TW_FLOW_INDIRECT;
        out->flow.is_waypoint = true;
        out->flow.is_exception_return = true;
        out->flow.sub = TW_SUB_TRAP_RET;
        out->is_uninferable = true;
        out->itype = TW_RV_TRAP_RETURN;
        break;
    default:
        break;
    }
}

static void system_instruction(struct tw_rv_instruction *out, uint32_t opcode, uint8_t isa)
{
    static const uint8_t kinds[4] = { TW_RV_NO_ACCESS, TW_RV_CSR_RW, TW_RV_CSR_RS,
                                      TW_RV_CSR_RC };
    const uint32_t kind = bits(opcode, 13, 12);

    if (kind != 0) {
        accesses(out, kinds[kind], isa == TW_ISA_RV32 ? 2 : 3);
        out->csr = (uint16_t)bits(opcode, 31, 20);
    } else if (bits(opcode, 14, 12) == 0) {
        environment(out, opcode);
    } else if (bits(opcode, 31, 28) == 6) { /* hlv, hlvx, hsv */
        accesses(out, bits(opcode, 25, 25) ? TW_RV_STORE : TW_RV_LOAD, bits(opcode, 27, 26));
    }
}

static void atomic(struct tw_rv_instruction *out, uint32_t opcode)
{
    static const uint8_t kinds[32] = {
        [0x00] = TW_RV_ADD,
        [0x01] = TW_RV_SWAP,
        [0x02] = TW_RV_LOAD, /* lr */
        [0x03] = TW_RV_STORE_CONDITIONAL,
        [0x04] = TW_RV_XOR,
        [0x05] = TW_RV_SWAP, /* amocas */
        [0x08] = TW_RV_OR,
        [0x0c] = TW_RV_AND,
        [0x10] = TW_RV_MIN,
        [0x14] = TW_RV_MAX,
        [0x18] = TW_RV_MIN,
        [0x1c] = TW_RV_MAX,
    };
    const uint32_t operation = bits(opcode, 31, 27);
    const uint32_t size = bits(opcode, 14, 12);

    /* Zalasr: load-acquire and store-release stand at 00110 and 00111. */
    if (size > 4)
        return;
    if (operation == 0x06 || operation == 0x07)
        accesses(out, operation == 0x06 ? TW_RV_LOAD : TW_RV_STORE, size);
    else if (kinds[operation] != TW_RV_LOAD || operation == 0x02)
        accesses(out, kinds[operation], size);
}

/* Floating point and vector loads and stores share their opcodes; widths 1 to 4 are scalar. */
static void float_or_vector(struct tw_rv_instruction *out, uint32_t opcode, uint8_t access)
{
    const uint32_t width = bits(opcode, 14, 12);

    accesses(out, access, width >= 5 ? width - 4 : width);
    if (width == 0 || width >= 5)
        out->access_count = 0;
}

static void classify_32(struct tw_rv_instruction *out, uint32_t opcode, uint64_t address,
                        uint8_t isa, const struct tw_rv_options *options)
{
    const uint8_t rd = (uint8_t)bits(opcode, 11, 7);
    const uint8_t rs1 = (uint8_t)bits(opcode, 19, 15);
    const uint32_t funct3 = bits(opcode, 14, 12);

    switch (opcode & 0x7f) {
    case 0x03:
        if (funct3 < 7)
            accesses(out, TW_RV_LOAD, funct3 & 3);
        break;
    case 0x07:
        float_or_vector(out, opcode, TW_RV_LOAD);
        break;
    case 0x17: /* auipc */
        upper(out, rd, add(address, (int32_t)(opcode & 0xfffff000), isa));
        break;
    case 0x23:
        if (funct3 < 4)
            accesses(out, TW_RV_STORE, funct3);
        break;
    case 0x27:
        float_or_vector(out, opcode, TW_RV_STORE);
        break;
    case 0x2f:
        atomic(out, opcode);
        break;
    case 0x37: /* lui */
        upper(out, rd, add(0, (int32_t)(opcode & 0xfffff000), isa));
        break;
    case 0x63:
        if (funct3 != 2 && funct3 != 3)
            branch(out, add(address,
                            extend(bits(opcode, 31, 31) << 12 | bits(opcode, 7, 7) << 11 |
                                       bits(opcode, 30, 25) << 5 | bits(opcode, 11, 8) << 1,
                                   13),
                            isa));
        break;
    case 0x67:
        if (funct3 != 0)
            break;
        if (rs1 == 0 && !options->jalr_is_indirect)
            direct_jump(out, rd, add(0, extend(bits(opcode, 31, 20), 12), isa) & ~UINT64_C(1),
                        options);
        else
            indirect_jump(out, rd, rs1, extend(bits(opcode, 31, 20), 12), options);
        break;
    case 0x6f:
        direct_jump(out, rd,
                    add(address,
                        extend(bits(opcode, 31, 31) << 20 | bits(opcode, 19, 12) << 12 |
                                   bits(opcode, 20, 20) << 11 | bits(opcode, 30, 21) << 1,
                               21),
                        isa),
                    options);
        break;
    case 0x73:
        system_instruction(out, opcode, isa);
        break;
    default:
        break;
    }
}

/* c.lw and its kin; quadrants 0 and 2 agree on funct3, but for the codes of Zcb and c.jr. */
static void compressed_access(struct tw_rv_instruction *out, uint32_t funct3, uint8_t isa)
{
    const bool is_rv32 = isa == TW_ISA_RV32;

    switch (funct3) {
    case 1: /* c.fld */
        accesses(out, TW_RV_LOAD, 3);
        break;
    case 2: /* c.lw */
        accesses(out, TW_RV_LOAD, 2);
        break;
    case 3: /* c.flw, c.ld */
        accesses(out, TW_RV_LOAD, is_rv32 ? 2 : 3);
        break;
    case 5: /* c.fsd */
        accesses(out, TW_RV_STORE, 3);
        break;
    case 6: /* c.sw */
        accesses(out, TW_RV_STORE, 2);
        break;
    case 7: /* c.fsw, c.sd */
        accesses(out, TW_RV_STORE, is_rv32 ? 2 : 3);
        break;
    default:
        break;
    }
}

/* Zcb: c.lbu, c.lhu and c.lh, c.sb, c.sh. */
static void byte_and_half(struct tw_rv_instruction *out, uint32_t opcode)
{
    const uint32_t operation = bits(opcode, 12, 10);

    if (operation < 4)
        accesses(out, operation & 2 ? TW_RV_STORE : TW_RV_LOAD, operation & 1);
}

static void quadrant_1(struct tw_rv_instruction *out, uint32_t opcode, uint64_t address,
                       uint8_t isa, const struct tw_rv_options *options)
{
    const uint8_t rd = (uint8_t)bits(opcode, 11, 7);
    const uint32_t jump = bits(opcode, 12, 12) << 11 | bits(opcode, 8, 8) << 10 |
                          bits(opcode, 10, 9) << 8 | bits(opcode, 6, 6) << 7 |
                          bits(opcode, 7, 7) << 6 | bits(opcode, 2, 2) << 5 |
                          bits(opcode, 11, 11) << 4 | bits(opcode, 5, 3) << 1;
    const uint32_t condition = bits(opcode, 12, 12) << 8 | bits(opcode, 6, 5) << 6 |
                               bits(opcode, 2, 2) << 5 | bits(opcode, 11, 10) << 3 |
                               bits(opcode, 4, 3) << 1;

    switch (bits(opcode, 15, 13)) {
    case 1: /* c.jal; on RV64 c.addiw */
        if (isa == TW_ISA_RV32)
            direct_jump(out, 1, add(address, extend(jump, 12), isa), options);
        break;
    case 3: /* c.lui; rd 2 is c.addi16sp and an immediate of 0 is reserved (or Zcmop) */
        if (rd != 0 && rd != 2 && (bits(opcode, 12, 12) | bits(opcode, 6, 2)) != 0)
            upper(
                out, rd,
                add(0, extend(bits(opcode, 12, 12) << 17 | bits(opcode, 6, 2) << 12, 18), isa));
        break;
    case 5: /* c.j */
        direct_jump(out, 0, add(address, extend(jump, 12), isa), options);
        break;
    case 6: /* c.beqz */
    case 7: /* c.bnez */
        branch(out, add(address, extend(condition, 9), isa));
        break;
    default:
        break;
    }
}

static void table_jump(struct tw_rv_instruction *out, uint32_t index, uint8_t isa,
                       const struct tw_rv_options *options)
{
    direct_jump(out, index < 32 ? 0 : 1, 0, options);
    out->is_table_jump = true;
    out->table_entry =
        add(options->jvt_base, (int32_t)(index * (isa == TW_ISA_RV32 ? 4 : 8)), isa);
}

/* Zcmp and Zcmt: what stands in the place of c.fsdsp. */
static bool push_pop_and_table(struct tw_rv_instruction *out, uint32_t opcode, uint8_t isa,
                               const struct tw_rv_options *options)
{
    const uint32_t operation = bits(opcode, 12, 8);
    const uint32_t registers =
        bits(opcode, 7, 4); /* 4: ra; each more adds one, the last adds two */

    if (options->has_zcmt && operation < 4) {
        table_jump(out, bits(opcode, 9, 2), isa, options);
        return true;
    }
    if (!options->has_zcmp)
        return false;
    if (operation < 0x18)
        return operation >= 0x0c && operation < 0x10; /* cm.mvsa01, cm.mva01s: no access */
    if ((operation & 1) != 0 || registers < 4)
        return true;
    accesses(out, operation == 0x18 ? TW_RV_STORE : TW_RV_LOAD, isa == TW_ISA_RV32 ? 2 : 3);
    out->access_count = (uint8_t)(registers == 15 ? 13 : registers - 3);
    if (operation >= 0x1c) /* cm.popretz, cm.popret */
        indirect_jump(out, 0, 1, 0, options);
    return true;
}

static void quadrant_2(struct tw_rv_instruction *out, uint32_t opcode, uint8_t isa,
                       const struct tw_rv_options *options)
{
    const uint32_t funct3 = bits(opcode, 15, 13);
    const uint8_t rs1 = (uint8_t)bits(opcode, 11, 7);

    if (funct3 == 5 && push_pop_and_table(out, opcode, isa, options))
        return;
    if (funct3 != 4) {
        compressed_access(out, funct3, isa);
        return;
    }
    if (opcode == 0x9002) /* c.ebreak */
        out->is_trapping = true;
    else if (bits(opcode, 6, 2) == 0 && rs1 != 0) /* c.jr, c.jalr */
        indirect_jump(out, (uint8_t)bits(opcode, 12, 12), rs1, 0, options);
}

uint8_t tw_rv_size(uint16_t first_halfword)
{
    return (first_halfword & 3) == 3 ? 4 : 2;
}

void tw_rv_classify(struct tw_rv_instruction *out, uint32_t opcode, uint64_t address,
                    uint8_t isa, const struct tw_rv_options *options)
{
    *out = (struct tw_rv_instruction){ .access = TW_RV_NO_ACCESS };
    out->flow.size = tw_rv_size((uint16_t)opcode);
    out->flow.target_isa = isa;
    switch (opcode & 3) {
    case 0:
        if (bits(opcode, 15, 13) == 4)
            byte_and_half(out, opcode);
        else
            compressed_access(out, bits(opcode, 15, 13), isa);
        break;
    case 1:
        quadrant_1(out, opcode & 0xffff, address, isa, options);
        break;
    case 2:
        quadrant_2(out, opcode & 0xffff, isa, options);
        break;
    default:
        classify_32(out, opcode, address, isa, options);
        break;
    }
}

bool tw_rv_sequential_target(uint64_t *target, const struct tw_rv_instruction *jump,
                             const struct tw_rv_instruction *previous)
{
    if (jump->flow.kind != TW_FLOW_INDIRECT || jump->flow.is_exception_return ||
        jump->access != TW_RV_NO_ACCESS || !previous->is_upper || previous->rd != jump->rs1)
        return false;
    *target = add(previous->value, jump->offset, jump->flow.target_isa) & ~UINT64_C(1);
    return true;
}
