/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of isa/: the vectors of tests/vectors/isa, the tables' shape, and what a vector cannot say. */
#include "check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/data.h"
#include "isa/isa.h"
#include "isa/row.h"

static const uint64_t here = 0x10000; /* where the instruction of every vector stands */

static const struct tw_isa_options everything = {
    .wfx_is_p0 = true,
    .wfet_wfit_is_p0 = true,
    .tstart_is_p0 = true,
    .dsb_dmb_is_waypoint = true,
};
static const struct tw_isa_options everything_m = {
    .profile = TW_PROFILE_M,
    .wfx_is_p0 = true,
    .wfet_wfit_is_p0 = true,
    .tstart_is_p0 = true,
    .dsb_dmb_is_waypoint = true,
};
static const struct tw_isa_options plain;
static const struct tw_rv_options rv_plain;
static const struct tw_rv_options rv_zc = { .has_zcmp = true, .has_zcmt = true };

static const char *const kind_names[] = { "OTHER",   "BR",      "IBR",   "ISB",
                                          "DSB_DMB", "WFI_WFE", "TSTART" };
static const char *const sub_names[] = { "NONE",           "LINK", "V8_RET",  "V8_ERET",
                                         "V7_IMPLIED_RET", "RET",  "TRAP_RET" };

/* One line of a vector file. */
struct vector {
    uint32_t opcode;
    uint8_t size;
    char kind[16], sub[16], flags[8], isa[8], access[16];
    uint64_t target;
    int itype;
    bool is_pc;
};

static bool has_flag(const struct vector *vector, char letter)
{
    return strchr(vector->flags, letter) != NULL;
}

static bool read_vector(struct vector *out, const char *line)
{
    const char *text = strchr(line, '|');
    const char *expected = text ? strchr(text + 1, '|') : NULL;
    const char *riscv = expected ? strchr(expected + 1, '|') : NULL;
    char target[24] = "0";
    const char *digits = line;

    if (line[0] == '#' || expected == NULL)
        return false;
    *out = (struct vector){ .itype = -1 };
    while (*digits == ' ' || *digits == '=')
        digits++;
    out->opcode = (uint32_t)strtoul(digits, NULL, 16);
    out->size = (uint8_t)(strspn(digits, "0123456789abcdef") / 2);
    (void)sscanf(expected + 1, " %15s %15s %7s %23[0-9a-f] %7[A-Z0-9]", out->kind, out->sub,
                 out->flags, target, out->isa);
    out->target = strtoull(target, NULL, 16);
    out->is_pc = strstr(expected, " pc") != NULL;
    if (riscv != NULL)
        CHECK_EQ(sscanf(riscv + 1, " %d %15s", &out->itype, out->access), 2);
    return true;
}

static void check_flow(const struct tw_instruction *got, const struct vector *want, uint8_t isa)
{
    CHECK_TEXT(kind_names[got->kind], want->kind);
    CHECK_TEXT(sub_names[got->sub], want->sub);
    CHECK_EQ(got->size, want->size);
    CHECK_EQ(got->is_link, has_flag(want, 'l'));
    CHECK_EQ(got->is_conditional, has_flag(want, 'c'));
    CHECK_EQ(got->is_return, has_flag(want, 'r'));
    CHECK_EQ(got->is_exception_return, has_flag(want, 'e'));
    CHECK_EQ(got->is_waypoint, got->kind != TW_FLOW_OTHER);
    CHECK_EQ(got->target, want->target);
    if (want->isa[0])
        isa = want->isa[0] == 'A' ? TW_ISA_A32 : TW_ISA_T32;
    CHECK_EQ(got->target_isa, isa);
}

static void check_rv(const struct tw_rv_instruction *got, const struct vector *want)
{
    char access[16] = "-";

    CHECK_EQ(got->itype, want->itype);
    CHECK_EQ(got->is_trapping, has_flag(want, 't'));
    CHECK_EQ(got->is_upper, has_flag(want, 'u'));
    CHECK_EQ(got->is_table_jump, has_flag(want, 'j'));
    CHECK_EQ(got->is_branch, has_flag(want, 'c'));
    CHECK_EQ(got->is_inferable, got->flow.kind == TW_FLOW_BRANCH && !got->is_branch);
    CHECK_EQ(got->is_uninferable, got->flow.kind == TW_FLOW_INDIRECT);
    if (got->access != TW_RV_NO_ACCESS)
        (void)snprintf(access, sizeof access, "%d.%d.%d", got->access, got->access_size,
                       got->access_count);
    CHECK_TEXT(access, want->access);
}

struct vector_file {
    const char *name;
    uint8_t isa;
    const struct tw_isa_options *options; /* NULL: RISC-V */
    const struct tw_rv_options *rv_options;
    size_t least; /* rows that must be there, against a file that went missing or was cut */
};

static const struct vector_file files[] = {
    { "a64", TW_ISA_A64, &everything, NULL, 95 },
    { "a32", TW_ISA_A32, &everything, NULL, 90 },
    { "t32", TW_ISA_T32, &everything, NULL, 95 },
    { "t32m", TW_ISA_T32, &everything_m, NULL, 40 },
    { "rv32", TW_ISA_RV32, NULL, &rv_plain, 100 },
    { "rv64", TW_ISA_RV64, NULL, &rv_plain, 100 },
    { "rvzc", TW_ISA_RV32, NULL, &rv_zc, 11 },
};

static void check_vector(const struct vector_file *file, const struct vector *want)
{
    struct tw_instruction got;
    struct tw_rv_instruction got_rv;

    switch (file->isa) {
    case TW_ISA_A64:
        tw_a64_classify(&got, want->opcode, here, file->options);
        break;
    case TW_ISA_A32:
        tw_a32_classify(&got, want->opcode, here, file->options);
        break;
    case TW_ISA_T32:
        tw_t32_classify(&got, want->opcode, here, 0, file->options);
        break;
    default:
        tw_rv_classify(&got_rv, want->opcode, here, file->isa, file->rv_options);
        check_rv(&got_rv, want);
        got = got_rv.flow;
        break;
    }
    check_flow(&got, want, file->isa);
}

/* Calls `use` for each row of the file; returns how many there were. */
static size_t for_each_vector(const struct vector_file *file, void *state,
                              void (*use)(void *state, const struct vector_file *file,
                                          const struct vector *vector))
{
    char path[512], line[256];
    struct vector vector;
    size_t count = 0;
    FILE *in;

    (void)snprintf(path, sizeof path, "%s/tests/vectors/isa/%s.tv", TW_SOURCE_DIR, file->name);
    in = fopen(path, "r");
    CHECK_CASE(path);
    CHECK(in != NULL);
    while (fgets(line, sizeof line, in)) {
        line[strcspn(line, "\n")] = 0;
        if (!read_vector(&vector, line))
            continue;
        check_case("%s.tv: %s", file->name, line);
        use(state, file, &vector);
        count++;
    }
    (void)fclose(in);
    return count;
}

static void use_for_check(void *state, const struct vector_file *file,
                          const struct vector *vector)
{
    (void)state;
    check_vector(file, vector);
}

/* [RVT 4.1.1/1] [RVT 4.1.1/3] [RVT 4.1.1/4] [RVT 4.1.1/5] [RVT 4.1.1/6] [RVT 4.1.1/7] [RVT 11/15] */
static void classifies_every_vector(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++)
        CHECK(for_each_vector(&files[i], NULL, use_for_check) >= files[i].least);
}

static void use_for_data(void *state, const struct vector_file *file, const struct vector *want)
{
    struct tw_data_access got;
    unsigned count = 0, size = 0;

    (void)state;
    if (file->isa == TW_ISA_A32)
        tw_a32_data(&got, want->opcode);
    else
        tw_t32_data(&got, want->opcode);
    CHECK_EQ(got.is_load, strchr(want->kind, 'L') != NULL);
    CHECK_EQ(got.is_store, strchr(want->kind, 'S') != NULL);
    CHECK_EQ(got.is_coprocessor, strchr(want->kind, 'C') != NULL);
    if (want->kind[0] != '-') {
        count = (unsigned)strtoul(want->sub, NULL, 10);
        size = (unsigned)strtoul(want->flags, NULL, 10);
    }
    CHECK_EQ(got.count, count);
    CHECK_EQ(got.size, size);
    CHECK_EQ(got.has_pc, want->is_pc);
}

static void counts_loads_and_stores(void **state)
{
    static const struct vector_file data_files[] = {
        { "a32_data", TW_ISA_A32, NULL, NULL, 60 },
        { "t32_data", TW_ISA_T32, NULL, NULL, 60 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(data_files); i++)
        CHECK(for_each_vector(&data_files[i], NULL, use_for_data) >= data_files[i].least);
}

/* TRCCONFIGR.INSTP0 */
static void loads_and_stores_can_be_waypoints(void **state)
{
    static const struct {
        const char *name;
        uint8_t isa;
        uint32_t opcode;
        bool by_load, by_store;
    } cases[] = {
        { "a32 ldr", TW_ISA_A32, 0xe5910000, true, false },
        { "a32 str", TW_ISA_A32, 0xe5810000, false, true },
        { "a32 swp", TW_ISA_A32, 0xe1020091, true, true },
        { "a32 mrc", TW_ISA_A32, 0xee100f10, false, false },
        { "a32 add", TW_ISA_A32, 0xe0810002, false, false },
        { "a32 b", TW_ISA_A32, 0xea000002, true, true },
        { "t32 push", TW_ISA_T32, 0xb510, false, true },
        { "t32 ldrd", TW_ISA_T32, 0xe9d20100, true, false },
        { "t32 pop pc", TW_ISA_T32, 0xbd10, true, true },
    };
    static const struct tw_isa_options loads = { .load_is_p0 = true };
    static const struct tw_isa_options stores = { .store_is_p0 = true };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_instruction by_load, by_store;

        CHECK_CASE(cases[i].name);
        if (cases[i].isa == TW_ISA_A32) {
            tw_a32_classify(&by_load, cases[i].opcode, here, &loads);
            tw_a32_classify(&by_store, cases[i].opcode, here, &stores);
        } else {
            tw_t32_classify(&by_load, cases[i].opcode, here, 0, &loads);
            tw_t32_classify(&by_store, cases[i].opcode, here, 0, &stores);
        }
        CHECK_EQ(by_load.is_waypoint, cases[i].by_load);
        CHECK_EQ(by_store.is_waypoint, cases[i].by_store);
    }
}

/* The tables by name, so that tests can walk them all. */
static const struct {
    const char *name;
    const struct tw_isa_group *groups;
    size_t count;
} tables[] = {
    { "a64", tw_a64_groups, TW_A64_GROUPS },
    { "a32", tw_a32_groups, TW_A32_GROUPS },
    { "t32", tw_t32_narrow_groups, TW_T32_NARROW_GROUPS },
    { "t32", tw_t32_wide_groups, TW_T32_WIDE_GROUPS },
};

struct row_search {
    const struct tw_isa_row *row;
    bool is_narrow, is_found;
};

static void use_for_search(void *state, const struct vector_file *file,
                           const struct vector *vector)
{
    struct row_search *search = state;

    (void)file;
    if (search->is_narrow == (vector->size == 2) &&
        tw_isa_row_fits(search->row, vector->opcode))
        search->is_found = true;
}

static void every_row_has_a_vector(void **state)
{
    (void)state;
    for (size_t t = 0; t < LENGTH(tables); t++) {
        for (size_t g = 0; g < tables[t].count; g++) {
            for (size_t r = 0; r < tables[t].groups[g].count; r++) {
                struct row_search search = { .row = &tables[t].groups[g].rows[r],
                                             .is_narrow =
                                                 tables[t].groups == tw_t32_narrow_groups };

                for (size_t f = 0; f < 4; f++) {
                    if (strncmp(files[f].name, tables[t].name, 3) == 0)
                        (void)for_each_vector(&files[f], &search, use_for_search);
                }
                check_case("%s: %s", tables[t].name, search.row->name);
                CHECK(search.is_found);
            }
        }
    }
}

/* Is there an opcode that fits both?  Only the bits of the exceptions are left to try. */
static bool rows_overlap(const struct tw_isa_row *a, const struct tw_isa_row *b)
{
    const uint32_t fixed = a->mask | b->mask;
    const uint32_t tried = (a->except_mask | b->except_mask) & ~fixed;
    uint32_t part = 0;

    if ((a->value ^ b->value) & a->mask & b->mask)
        return false;
    do {
        const uint32_t opcode = a->value | b->value | part;

        if (tw_isa_row_fits(a, opcode) && tw_isa_row_fits(b, opcode))
            return true;
        part = (part - tried) & tried; /* next subset */
    } while (part != 0);
    return false;
}

static void no_two_rows_overlap(void **state)
{
    (void)state;
    for (size_t t = 0; t < LENGTH(tables); t++) {
        for (size_t g = 0; g < tables[t].count; g++) {
            const struct tw_isa_group *group = &tables[t].groups[g];

            for (size_t i = 0; i < group->count; i++) {
                const struct tw_isa_row *row = &group->rows[i];

                check_case("%s: %s", tables[t].name, row->name);
                CHECK_EQ(row->value & ~row->mask, 0);
                CHECK_EQ(row->except_value & ~row->except_mask, 0);
                CHECK(rows_overlap(row, row));
                for (size_t k = i + 1; k < group->count; k++)
                    CHECK(!rows_overlap(row, &group->rows[k]));
            }
        }
    }
}

/* [Table K10-1] [K10.5.5.4/1] */
static void only_configured_barriers_and_waits_are_waypoints(void **state)
{
    static const struct {
        const char *name;
        uint8_t isa;
        uint32_t opcode;
        uint8_t kind; /* with the option */
        struct tw_isa_options options;
    } cases[] = {
        { "isb", TW_ISA_A64, 0xd5033fdf, TW_FLOW_ISB, { 0 } },
        { "dsb", TW_ISA_A64, 0xd5033f9f, TW_FLOW_DSB_DMB, { .dsb_dmb_is_waypoint = true } },
        { "wfi", TW_ISA_A64, 0xd503207f, TW_FLOW_WFX, { .wfx_is_p0 = true } },
        { "wfit",
          TW_ISA_A64,
          0xd5031022,
          TW_FLOW_WFX,
          { .wfx_is_p0 = true, .wfet_wfit_is_p0 = true } },
        { "wfit without wfx",
          TW_ISA_A64,
          0xd5031022,
          TW_FLOW_OTHER,
          { .wfet_wfit_is_p0 = true } },
        { "wfet, older unit", TW_ISA_A64, 0xd5031001, TW_FLOW_OTHER, { .wfx_is_p0 = true } },
        { "tstart", TW_ISA_A64, 0xd5233060, TW_FLOW_TSTART, { .tstart_is_p0 = true } },
        { "a32 dmb", TW_ISA_A32, 0xf57ff05f, TW_FLOW_DSB_DMB, { .dsb_dmb_is_waypoint = true } },
        { "a32 cp15 isb", TW_ISA_A32, 0xee070f95, TW_FLOW_ISB, { 0 } },
        { "a32 wfe", TW_ISA_A32, 0xe320f002, TW_FLOW_WFX, { .wfx_is_p0 = true } },
        { "t32 dsb", TW_ISA_T32, 0xf3bf8f4f, TW_FLOW_DSB_DMB, { .dsb_dmb_is_waypoint = true } },
        { "t32 wfi", TW_ISA_T32, 0xbf30, TW_FLOW_WFX, { .wfx_is_p0 = true } },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        for (int with = 0; with < 2; with++) {
            const struct tw_isa_options *options = with ? &cases[i].options : &plain;
            uint8_t want = with || cases[i].kind == TW_FLOW_ISB ? cases[i].kind : TW_FLOW_OTHER;
            struct tw_instruction got;

            check_case("%s, option %d", cases[i].name, with);
            if (cases[i].isa == TW_ISA_A64)
                tw_a64_classify(&got, cases[i].opcode, here, options);
            else if (cases[i].isa == TW_ISA_A32)
                tw_a32_classify(&got, cases[i].opcode, here, options);
            else
                tw_t32_classify(&got, cases[i].opcode, here, 0, options);
            CHECK_EQ(got.kind, want);
            CHECK_EQ(got.is_waypoint, want != TW_FLOW_OTHER);
            CHECK_EQ(got.target, 0);
        }
    }
}

static void counts_the_conditions_of_it_blocks(void **state)
{
    static const struct {
        const char *name;
        uint32_t opcode;
        uint8_t open, remaining;
        bool is_conditional;
    } cases[] = {
        { "it eq", 0xbf08, 0, 1, false },        { "itt ne", 0xbf1c, 0, 2, false },
        { "ite eq", 0xbf0c, 0, 2, false },       { "ittt", 0xbf0e, 0, 3, false },
        { "itttt ne", 0xbf1f, 0, 4, false },     { "itete eq", 0xbf0b, 0, 4, false },
        { "nop is no it", 0xbf00, 0, 0, false }, { "yield is no it", 0xbf10, 0, 0, false },
        { "first of four", 0x4408, 4, 3, true }, { "last", 0x4408, 1, 0, true },
        { "outside", 0x4408, 0, 0, false },      { "bx lr, last", 0x4770, 1, 0, true },
        { "b.w, last", 0xf000bffe, 1, 0, true }, { "isb in a block", 0xf3bf8f6f, 2, 1, true },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_instruction got;

        CHECK_CASE(cases[i].name);
        tw_t32_classify(&got, cases[i].opcode, here, cases[i].open, &plain);
        CHECK_EQ(got.it_remaining, cases[i].remaining);
        CHECK_EQ(got.is_conditional, cases[i].is_conditional);
    }
}

static void tells_sizes_from_the_first_halfword(void **state)
{
    (void)state;
    for (uint32_t half = 0; half <= 0xffff; half++) {
        const uint32_t top = half >> 11;

        CHECK_EQ(tw_t32_size((uint16_t)half),
                 top == 0x1d || top == 0x1e || top == 0x1f ? 4 : 2);
        CHECK_EQ(tw_rv_size((uint16_t)half), half % 4 == 3 ? 4 : 2);
    }
}

/* [K10.5.5.18.3] */
static void targets_wrap_at_the_width_of_addresses(void **state)
{
    struct tw_instruction got;
    struct tw_rv_instruction rv;

    (void)state;
    tw_a64_classify(&got, 0x17fffffe, 0, &plain); /* b .-8 */
    CHECK_EQ(got.target, UINT64_C(0xfffffffffffffff8));
    tw_a64_classify(&got, 0x14000002, UINT64_C(0xfffffffffffffffc), &plain);
    CHECK_EQ(got.target, 4);
    tw_a32_classify(&got, 0xea000002, 0xfffffff8, &plain); /* b .+16 */
    CHECK_EQ(got.target, 8);
    tw_a32_classify(&got, 0xeafffffa, 0, &plain); /* b .-16 */
    CHECK_EQ(got.target, 0xfffffff0);
    tw_t32_classify(&got, 0xe002, 0xfffffffe, 0, &plain); /* b .+8 */
    CHECK_EQ(got.target, 6);
    tw_t32_classify(&got, 0xf000ea00, 0x10002, 0, &plain); /* blx from an odd halfword */
    CHECK_EQ(got.target, 0x10404);
    CHECK_EQ(got.target_isa, TW_ISA_A32);
    tw_rv_classify(&rv, 0xff9ff0ef, 0, TW_ISA_RV32, &rv_plain); /* jal .-8 */
    CHECK_EQ(rv.flow.target, 0xfffffff8);
    tw_rv_classify(&rv, 0xff9ff0ef, 0, TW_ISA_RV64, &rv_plain);
    CHECK_EQ(rv.flow.target, UINT64_C(0xfffffffffffffff8));
}

/* [RVT 4.1.1/2] [RVT 11/11] */
static void infers_jumps_from_the_instruction_before(void **state)
{
    static const struct {
        const char *name;
        uint32_t previous, jump;
        uint8_t isa;
        bool is_inferred;
        uint64_t target;
    } cases[] = {
        { "auipc + jalr", 0x12345517, 0x004500e7, TW_ISA_RV64, true, 0x12355004 },
        { "lui + jalr", 0x12345537, 0x004500e7, TW_ISA_RV64, true, 0x12345004 },
        { "lui + jalr, odd sum", 0x12345537, 0x005500e7, TW_ISA_RV64, true, 0x12345004 },
        { "lui + jalr, negative", 0x12345537, 0xffc500e7, TW_ISA_RV64, true, 0x12344ffc },
        { "lui, top bit, RV64", 0x80000537, 0x00050067, TW_ISA_RV64, true,
          UINT64_C(0xffffffff80000000) },
        { "lui, top bit, RV32", 0x80000537, 0x00050067, TW_ISA_RV32, true, 0x80000000 },
        { "auipc + c.jr", 0x00001517, 0x8502, TW_ISA_RV64, true, 0x11000 },
        { "c.lui + c.jalr", 0x657d, 0x9502, TW_ISA_RV64, true, 0x1f000 },
        { "c.lui, negative", 0x757d, 0x9502, TW_ISA_RV32, true, 0xfffff000 },
        { "other register", 0x12345597, 0x004500e7, TW_ISA_RV64, false, 0 },
        { "not an upper immediate", 0x00150513, 0x004500e7, TW_ISA_RV64, false, 0 },
        { "direct jump", 0x12345517, 0x0080006f, TW_ISA_RV64, false, 0 },
        { "mret", 0x12345037, 0x30200073, TW_ISA_RV64, false, 0 },
        { "lui ra + cm.popret", 0x123450b7, 0xbe52, TW_ISA_RV32, false, 0 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_rv_instruction previous, jump;
        uint64_t target = 0;

        CHECK_CASE(cases[i].name);
        tw_rv_classify(&previous, cases[i].previous, here, cases[i].isa, &rv_zc);
        tw_rv_classify(&jump, cases[i].jump, here + 4, cases[i].isa, &rv_zc);
        CHECK_EQ(tw_rv_sequential_target(&target, &jump, &previous), cases[i].is_inferred);
        CHECK_EQ(target, cases[i].target);
    }
}

static void counts_only_x1_as_link_when_asked(void **state)
{
    static const struct tw_rv_options x1 = { .x1_links_only = true };
    static const struct {
        const char *name;
        uint32_t opcode;
        bool is_link, is_return;
    } cases[] = {
        { "jal x1", 0xff9ff0ef, true, false },
        { "jal x5", 0x7ffff2ef, false, false },
        { "jalr x1, x5", 0x000280e7, true, false },
        { "jalr x5, x1", 0x000082e7, false, false },
        { "ret", 0x00008067, false, true },
        { "jalr x10, x1", 0x00008567, false, false },
        { "jr x5", 0x8282, false, false },
        { "c.jr x1", 0x8082, false, true },
        { "c.jalr x5", 0x9282, true, false },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_rv_instruction got;

        CHECK_CASE(cases[i].name);
        tw_rv_classify(&got, cases[i].opcode, here, TW_ISA_RV64, &x1);
        CHECK_EQ(got.flow.is_link, cases[i].is_link);
        CHECK_EQ(got.flow.is_return, cases[i].is_return);
        CHECK_EQ(got.flow.sub, cases[i].is_link     ? TW_SUB_LINK
                               : cases[i].is_return ? TW_SUB_RET
                                                    : TW_SUB_NONE);
    }
}

static void finds_the_entry_of_table_jumps(void **state)
{
    const struct tw_rv_options options = { .has_zcmt = true, .jvt_base = 0x20000 };
    struct tw_rv_instruction got;

    (void)state;
    tw_rv_classify(&got, 0xa07e, here, TW_ISA_RV32, &options); /* cm.jt 31 */
    CHECK_EQ(got.table_entry, 0x20000 + 31 * 4);
    CHECK(!got.flow.is_link);
    tw_rv_classify(&got, 0xa3fe, here, TW_ISA_RV64, &options); /* cm.jalt 255 */
    CHECK_EQ(got.table_entry, 0x20000 + 255 * 8);
    CHECK(got.flow.is_link);
    tw_rv_classify(&got, 0xa07e, here, TW_ISA_RV32, &rv_plain); /* without Zcmt: c.fsdsp */
    CHECK(!got.is_table_jump);
    CHECK_EQ(got.access, TW_RV_STORE);
    tw_rv_classify(&got, 0x300110f3, here, TW_ISA_RV64, &rv_plain); /* csrrw x1, 0x300, x2 */
    CHECK_EQ(got.csr, 0x300);
}

/* The assemblers, where they are installed, still make the opcodes of the vector files. */
static void assemblers_agree_with_the_vectors(void **state)
{
    const int status = system("\"" TW_SOURCE_DIR "/scripts/make-isa-vectors\" --check");
    const int code = status < 0 || status == 9009 ? 127 : status / 256; /* 9009: Windows */

    (void)state;
    if (code == 77 || code == 126 || code == 127) {
        print_message("skipped: no assembler\n");
        skip();
    }
    CHECK_EQ(code, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classifies_every_vector),
        cmocka_unit_test(counts_loads_and_stores),
        cmocka_unit_test(loads_and_stores_can_be_waypoints),
        cmocka_unit_test(every_row_has_a_vector),
        cmocka_unit_test(no_two_rows_overlap),
        cmocka_unit_test(only_configured_barriers_and_waits_are_waypoints),
        cmocka_unit_test(counts_the_conditions_of_it_blocks),
        cmocka_unit_test(tells_sizes_from_the_first_halfword),
        cmocka_unit_test(targets_wrap_at_the_width_of_addresses),
        cmocka_unit_test(infers_jumps_from_the_instruction_before),
        cmocka_unit_test(counts_only_x1_as_link_when_asked),
        cmocka_unit_test(finds_the_entry_of_table_jumps),
        cmocka_unit_test(assemblers_agree_with_the_vectors),
    };

    return cmocka_run_group_tests_name("isa", tests, NULL, NULL);
}
