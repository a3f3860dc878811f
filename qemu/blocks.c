/* SPDX-License-Identifier: BSD-2-Clause */
/* Blocks of code as QEMU translates them. */
#include "qemu/blocks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 1 << 16 };

static struct block *table[TABLE];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static enum blocks_target target;
static bool is_64bit, is_m_profile;

enum { FILTERS = 256 };
static struct {
    uint64_t first, end, inode;
} filters[FILTERS];
static size_t filter_count;

bool blocks_begin(const char *name)
{
    static const struct {
        const char *name;
        enum blocks_target target;
        bool is_64bit;
    } targets[] = { { "aarch64", TARGET_A64, true },
                    { "arm", TARGET_ARM, false },
                    { "riscv64", TARGET_RISCV, true },
                    { "riscv32", TARGET_RISCV, false } };

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(name, targets[i].name) != 0)
            continue;
        target = targets[i].target;
        is_64bit = targets[i].is_64bit;
        return true;
    }
    return false;
}

enum blocks_target blocks_target(void)
{
    return target;
}

bool blocks_is_64bit(void)
{
    return is_64bit;
}

void blocks_profile(bool is_m)
{
    is_m_profile = is_m;
}

bool blocks_filter(uint64_t first, uint64_t end, uint64_t inode)
{
    if (filter_count == FILTERS)
        return false;
    filters[filter_count].first = first;
    filters[filter_count].end = end;
    filters[filter_count++].inode = inode;
    return true;
}

/* What is known of an instruction before its instruction set is. */
struct raw {
    uint64_t address;
    uint32_t code; /* four bytes of memory, low first; the last may not all be there */
    bool is_cut;   /* it could not be fetched: running it faults */
};

static struct raw read_raw(const struct qemu_plugin_tb *translated, size_t number)
{
    const struct qemu_plugin_insn *from = qemu_plugin_tb_get_insn(translated, number);
    const size_t size = qemu_plugin_insn_size(from);
    struct raw raw = { .address = qemu_plugin_insn_vaddr(from), .is_cut = size == 0 };
    uint8_t bytes[4] = { 0 };

    memcpy(bytes, qemu_plugin_insn_data(from), size < 4 ? size : 4);
    for (unsigned i = 0; i < 4; i++)
        raw.code |= (uint32_t)bytes[i] << 8 * i;
    return raw;
}

static bool is_wide_t32(uint32_t code)
{
    return (code & 0xffff) >> 11 >= 0x1d;
}

/* T32 of two bytes, perhaps, that seems to have four: in front of an instruction that reaches into the next page QEMU ends a block, and the half that
   it looked at to find that out counts to the last instruction before. */
static bool may_be_narrow(const struct raw *raw)
{
    enum { SMALLEST_PAGE = 1024 };

    return raw->address % SMALLEST_PAGE == SMALLEST_PAGE - 4 && is_wide_t32(raw->code >> 16);
}

/* QEMU does not say in which state of a 32-bit processor code runs.  An instruction of two bytes or at an
   odd halfword is T32; one that T32 has no four-byte form for is A32.  What is left, every instruction
   four bytes long and thinkable in both, is what led there, what the code before it is, or what it looks like. */
static uint8_t arm_isa(const struct qemu_plugin_tb *translated, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct raw raw = read_raw(translated, i);

        if (raw.address & 2)
            return TW_ISA_T32;
        if (i + 1 < count && read_raw(translated, i + 1).address - raw.address == 2)
            return TW_ISA_T32;
        if (i + 1 == count &&
            qemu_plugin_insn_size(qemu_plugin_tb_get_insn(translated, i)) == 2)
            return TW_ISA_T32;
        if (!is_wide_t32(raw.code) && !(i + 1 == count && may_be_narrow(&raw)))
            return TW_ISA_A32;
    }
    return TW_ISA_UNKNOWN;
}

/* BLX with an immediate: the only direct branch that leads to the other instruction set. */
static bool is_exchange(const struct tw_retired *branch)
{
    return branch->isa == TW_ISA_A32 ? branch->opcode >> 25 == 0x7d
                                     : (branch->opcode & 0xf800d001) == 0xf000c000;
}

/* What the block that ran before says of the code at `start`. */
static uint8_t isa_behind(const struct block *last, uint64_t start)
{
    const struct tw_retired *end =
        last && last->count ? &last->instructions[last->count - 1] : NULL;

    if (end && last->end == start)
        return end->isa;
    if (!end || end->kind != TW_RETIRED_BRANCH || end->target != start)
        return TW_ISA_UNKNOWN;
    if (!is_exchange(end))
        return end->isa;
    return end->isa == TW_ISA_A32 ? TW_ISA_T32 : TW_ISA_A32;
}

/* The instruction set of code that goes on at `start`, or will come back there from a call. */
static uint8_t isa_before(uint64_t start)
{
    const unsigned comes_back = TW_RETIRED_CONDITIONAL | TW_RETIRED_LINK;
    uint8_t isa = TW_ISA_UNKNOWN;

    (void)pthread_mutex_lock(&table_lock);
    for (size_t i = 0; i < TABLE; i++)
        for (const struct block *block = table[i]; block; block = block->next) {
            const struct tw_retired *last;

            if (!block->count || block->end != start)
                continue;
            last = &block->instructions[block->count - 1];
            if (last->kind == TW_RETIRED_OTHER || last->flags & comes_back)
                isa = last->isa;
        }
    (void)pthread_mutex_unlock(&table_lock);
    return isa;
}

/* What it looks like: most A32 instructions are executed always, and begin with 0xe; in T32 these bits are a
   register, or those of a branch. */
static uint8_t isa_alike(const struct qemu_plugin_tb *translated, size_t count)
{
    size_t always = 0;

    for (size_t i = 0; i < count; i++)
        always += read_raw(translated, i).code >> 28 == 0xe;
    return 2 * always > count ? TW_ISA_A32 : TW_ISA_T32;
}

static uint8_t isa_of(const struct qemu_plugin_tb *translated, size_t count,
                      const struct block *last)
{
    const uint64_t start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(translated, 0));
    uint8_t isa;

    if (target == TARGET_A64)
        return TW_ISA_A64;
    if (target == TARGET_RISCV)
        return is_64bit ? TW_ISA_RV64 : TW_ISA_RV32;
    isa = is_m_profile ? (uint8_t)TW_ISA_T32 : arm_isa(translated, count);
    if (isa == TW_ISA_UNKNOWN)
        isa = isa_behind(last, start);
    if (isa == TW_ISA_UNKNOWN)
        isa = isa_before(start);
    return isa == TW_ISA_UNKNOWN ? isa_alike(translated, count) : isa;
}

static void fill_opcode(struct tw_retired *out, uint32_t code)
{
    if (out->isa == TW_ISA_T32)
        out->opcode = is_wide_t32(code) ? code << 16 | code >> 16 : code & 0xffff;
    else if (out->isa == TW_ISA_RV64 || out->isa == TW_ISA_RV32)
        out->opcode = (code & 3) == 3 ? code : code & 0xffff;
    else
        out->opcode = code;
}

static bool is_wanted(uint64_t address, uint64_t inode, uint64_t offset)
{
    bool is_found = !filter_count;

    for (size_t i = 0; i < filter_count && !is_found; i++) {
        const uint64_t at = filters[i].inode ? offset : address;

        is_found = (!filters[i].inode || filters[i].inode == inode) && at >= filters[i].first &&
                   at < filters[i].end;
    }
    return is_found;
}

void block_mark(struct block *block, uint64_t inode, uint64_t offset)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < block->count; i++) {
        const uint64_t address = block->instructions[i].address;

        block->wanted[i] = is_wanted(address, inode, offset + (address - block->start));
        count += block->wanted[i];
    }
    block->is_wanted = count == block->count;
    block->is_partly_wanted = count != 0;
}

/* What is known of the way out of a block. */
static void find_exit(struct block *block)
{
    const struct tw_retired *last;
    bool is_branch, is_conditional;

    block->is_simple = false;
    if (!block->count)
        return;
    last = &block->instructions[block->count - 1];
    is_branch = last->kind == TW_RETIRED_BRANCH;
    is_conditional = last->flags & TW_RETIRED_CONDITIONAL;
    block->flags = last->flags | TW_RETIRED_EXECUTED; /* what QEMU does not tell */
    block->follows = is_branch ? last->target : block->end;
    block->other = is_branch && !is_conditional ? block->follows : block->end;
    block->is_anywhere = last->kind == TW_RETIRED_INDIRECT;
    block->follows_flags =
        is_branch || (block->is_anywhere && !is_conditional) ? TW_RETIRED_TAKEN : 0;
    block->other_flags = block->is_anywhere ? TW_RETIRED_TAKEN : 0;
    block->is_simple = true;
    for (uint32_t i = 0; i + 1 < block->count; i++)
        if (block->instructions[i].kind != TW_RETIRED_OTHER)
            block->is_simple = false;
}

static struct block *make(const struct qemu_plugin_tb *translated, size_t count,
                          const struct block *last)
{
    struct block *block =
        calloc(1, sizeof *block + count * (sizeof block->instructions[0] + sizeof(bool)));
    const uint8_t isa = block ? isa_of(translated, count, last) : (uint8_t)TW_ISA_UNKNOWN;
    uint64_t hash = 0xcbf29ce484222325;
    uint8_t it_open = 0;

    if (!block)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const struct raw raw = read_raw(translated, i);
        struct tw_retired *out = &block->instructions[block->count];

        if (raw.is_cut)
            break;
        *out = (struct tw_retired){ .address = raw.address, .isa = isa };
        fill_opcode(out, raw.code);
        if (is_m_profile)
            tw_retired_classify_m(out, &it_open);
        else
            tw_retired_classify(out, &it_open);
        block->end = out->address + out->size;
        hash = (hash ^ out->opcode) * 0x100000001b3;
        block->count++;
    }
    block->start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(translated, 0));
    if (!block->count)
        block->end = block->start;
    block->hash = (hash ^ block->start ^ (uint64_t)isa << 56) * 0x9e3779b97f4a7c15;
    block->wanted = (bool *)&block->instructions[count];
    find_exit(block);
    return block;
}

static bool is_same(const struct block *a, const struct block *b)
{
    if (a->hash != b->hash || a->start != b->start || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->instructions[i].opcode != b->instructions[i].opcode ||
            a->instructions[i].isa != b->instructions[i].isa)
            return false;
    return true;
}

struct block *blocks_take(const struct qemu_plugin_tb *translated, const struct block *last,
                          bool *is_new)
{
    struct block *made = make(translated, qemu_plugin_tb_n_insns(translated), last), **at,
                 *found;

    if (!made)
        return NULL;
    (void)pthread_mutex_lock(&table_lock);
    at = &table[made->hash >> 48];
    for (found = *at; found && !is_same(found, made); found = found->next)
        ;
    if (!found) {
        made->next = *at;
        *at = made;
    }
    (void)pthread_mutex_unlock(&table_lock);
    *is_new = !found;
    if (found)
        free(made);
    return found ? found : made;
}

bool block_replaces(const struct block *block)
{
    bool is_found = false;

    (void)pthread_mutex_lock(&table_lock);
    for (size_t i = 0; !is_found && i < TABLE; i++)
        for (const struct block *other = table[i]; other && !is_found; other = other->next)
            is_found = other != block && other->start < block->end &&
                       other->end > block->start &&
                       (other->start != block->start ||
                        memcmp(other->instructions, block->instructions,
                               (other->count < block->count ? other->count : block->count) *
                                   sizeof block->instructions[0]) != 0);
    (void)pthread_mutex_unlock(&table_lock);
    return is_found;
}

bool block_leads_to(const struct block *block, uint64_t next)
{
    const struct tw_retired *last = &block->instructions[block->count - 1];

    if (last->kind == TW_RETIRED_INDIRECT)
        return true;
    if (last->kind != TW_RETIRED_BRANCH)
        return next == block->end;
    return next == last->target || (last->flags & TW_RETIRED_CONDITIONAL && next == block->end);
}
