/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of instructions as text. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/disassembly.h>
#include <trackway/version.h>

#include "isa/isa.h"

static struct tw_disassembler *make(const char *core)
{
    const struct tw_disassembler_config config = { .size = sizeof config, .core_type = core };
    struct tw_disassembler *made;
    struct tw_fault fault = { TW_OK, "" };

    if (strstr(tw_features(), "llvm")) {
        CHECK_EQ(tw_disassembler_new(&made, &config, &fault), TW_OK);
        return made;
    }
    CHECK_EQ(tw_disassembler_new(&made, &config, &fault), TW_E_UNSUPPORTED);
    CHECK(!made && strstr(fault.text, "libllvm19"));
    print_message("skipped: no LLVM\n");
    skip();
    return NULL;
}

static const struct {
    uint8_t isa, profile, size;
    uint32_t opcode; /* T32 of four bytes: the first halfword is the upper one */
    const char *text;
} cases[] = {
    { TW_ISA_A64, 0, 4, 0xd503201f, "nop" },
    { TW_ISA_A64, 0, 4, 0xb4000040, "cbz x0, 0x4008" },
    { TW_ISA_A64, 0, 4, 0x17fffffd, "b 0x3ff4" },
    { TW_ISA_A64, 0, 4, 0x58000080, "ldr x0, #0x10 // 0x4010" },
    { TW_ISA_A64, 0, 4, 0x90000000, "adrp x0, 0 // 0x4000" },
    { TW_ISA_A64, 0, 4, 0xd65f0bff, "retaa" },
    { TW_ISA_A64, 0, 4, 0x54010008, "b.hi 0x6000" },
    { TW_ISA_A64, 0, 4, 0x5500001f, "retaasppc #0x0" }, /* FEAT_PAuth_LR */
    { TW_ISA_A64, 0, 4, 0xd5031000, "wfet x0" },
    { TW_ISA_A64, 0, 4, 0xff000000, ".inst 0xff000000" },
    { TW_ISA_A32, 0, 4, 0xeafffffe, "b 0x4000" },
    { TW_ISA_A32, 0, 4, 0xe12fff1e, "bx lr" },
    { TW_ISA_A32, 0, 4, 0xe59f1004, "ldr r1, [pc, #0x4] @ 0x400c" },
    { TW_ISA_A32, 0, 4, 0xf2000150, "vand q0, q0, q0" },
    { TW_ISA_A32, 0, 4, 0xe6000010, ".inst 0xe6000010" },
    { TW_ISA_T32, 0, 2, 0xe7fe, "b 0x4000" },
    { TW_ISA_T32, 0, 4, 0xf000f800, "bl 0x4004" },
    { TW_ISA_T32, 0, 4, 0xf000e800, "blx 0x4004" },
    { TW_ISA_TEE, 0, 2, 0x4770, "bx lr" },
    { TW_ISA_T32, 0, 2, 0xb6ff, ".inst 0xb6ff" },
    { TW_ISA_T32, TW_PROFILE_M, 4, 0xf040e001, "dls lr, r0" },
    { TW_ISA_T32, 0, 4, 0xf040e001, ".inst 0xf040e001" },
    { TW_ISA_T32, TW_PROFILE_M, 4, 0xf3ef8000, "mrs r0, apsr" },
    { TW_ISA_T32, TW_PROFILE_M, 4, 0xe97fe97f, "sg" },
    { TW_ISA_RV64, 0, 4, 0xffdff06f, "j 0x3ffc" },
    { TW_ISA_RV64, 0, 2, 0xa001, "j 0x4000" },
    { TW_ISA_RV64, 0, 4, 0x00a58463, "beq a1, a0, 0x4008" },
    { TW_ISA_RV64, 0, 4, 0x008002ef, "jal t0, 0x4008" },
    { TW_ISA_RV64, 0, 2, 0x8082, "ret" },
    { TW_ISA_RV64, 0, 4, 0x20a5a533, "sh1add a0, a1, a0" },
    { TW_ISA_RV64, 0, 2, 0x2505, "addiw a0, a0, 0x1" },
    { TW_ISA_RV32, 0, 2, 0x2001, "jal 0x4000" },
    { TW_ISA_RV32, 0, 4, 0x00100073, "ebreak" },
    { TW_ISA_RV64, 0, 4, 0xfffff00b, ".inst 0xfffff00b" },
};

static size_t write_opcode(uint8_t out[4], size_t row)
{
    const bool is_t32 = cases[row].isa == TW_ISA_T32 || cases[row].isa == TW_ISA_TEE;
    uint32_t opcode = cases[row].opcode;

    if (is_t32 && cases[row].size == 4)
        opcode = opcode >> 16 | opcode << 16;
    for (size_t i = 0; i < cases[row].size; i++)
        out[i] = (uint8_t)(opcode >> (8 * i));
    return cases[row].size;
}

static void sizes_and_opcodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint8_t bytes[4];
        const size_t size = write_opcode(bytes, i);
        uint8_t *tight = check_copy(bytes, size);
        struct tw_code_bytes code = { tight, size, 0x4000, cases[i].isa };

        CHECK_CASE(cases[i].text);
        CHECK_EQ(tw_instruction_size(&code), size);
        CHECK_EQ(tw_instruction_opcode(&code), cases[i].opcode);
        for (code.size = 0; code.size < size; code.size++) {
            CHECK_EQ(tw_instruction_size(&code), 0);
            CHECK_EQ(tw_instruction_opcode(&code), 0);
        }
        code.isa = TW_ISA_JAZELLE;
        CHECK_EQ(tw_instruction_size(&code), 0);
        free(tight);
    }
}

static void texts(void **state)
{
    struct tw_disassembler *made[2] = { make("Cortex-A57"), NULL };

    (void)state;
    made[1] = make("ARMv8.1-M");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_disassembler *disassembler = made[cases[i].profile == TW_PROFILE_M];
        uint8_t bytes[4];
        const size_t size = write_opcode(bytes, i);
        uint8_t *tight = check_copy(bytes, size);
        struct tw_code_bytes code = { tight, size, 0x4000, cases[i].isa };
        char text[128], small[6] = "?????";

        CHECK_CASE(cases[i].text);
        CHECK_EQ(tw_disassemble(disassembler, text, sizeof text, &code), size);
        CHECK_TEXT(text, cases[i].text);
        CHECK_EQ(tw_disassemble(disassembler, small, 5, &code), size);
        CHECK(strlen(small) <= 4 && strncmp(small, text, strlen(small)) == 0);
        CHECK_EQ(tw_disassemble(disassembler, NULL, 0, &code), size);
        code.size--;
        CHECK_EQ(tw_disassemble(disassembler, text, sizeof text, &code), 0);
        CHECK_TEXT(text, "");
        free(tight);
    }
    tw_disassembler_free(made[0]);
    tw_disassembler_free(made[1]);
    tw_disassembler_free(NULL);
}

static void check_one(struct tw_disassembler *disassembler, uint64_t address, uint16_t opcode,
                      const char *want)
{
    const uint8_t bytes[2] = { (uint8_t)opcode, (uint8_t)(opcode >> 8) };
    const struct tw_code_bytes code = { bytes, 2, address, TW_ISA_T32 };
    char text[64];

    CHECK_EQ(tw_disassemble(disassembler, text, sizeof text, &code), 2);
    CHECK_TEXT(text, want);
}

static void an_it_block_ends_at_a_jump(void **state)
{
    struct tw_disassembler *disassembler = make("Cortex-A57");

    (void)state;
    check_one(disassembler, 0x4000, 0xbf04, "itt eq");
    check_one(disassembler, 0x4002, 0x1c40, "addeq r0, r0, #0x1");
    check_one(disassembler, 0x4004, 0x1c40, "addeq r0, r0, #0x1");
    check_one(disassembler, 0x4006, 0x1c40, "adds r0, r0, #0x1");
    check_one(disassembler, 0x4000, 0xbf04, "itt eq");
    check_one(disassembler, 0x5000, 0x1c40, "adds r0, r0, #0x1");
    tw_disassembler_free(disassembler);
}

static void any_word_gives_some_text(void **state)
{
    static const uint8_t isas[] = { TW_ISA_A64,  TW_ISA_A32, TW_ISA_T32,    TW_ISA_RV32,
                                    TW_ISA_RV64, TW_ISA_TEE, TW_ISA_UNKNOWN };
    struct tw_disassembler *disassembler = make("Cortex-A57");
    struct check_random random = check_random_start(0xd15a);

    (void)state;
    for (size_t n = check_scale(200000); n > 0; n--) {
        uint8_t bytes[4];
        const struct tw_code_bytes code = { bytes, sizeof bytes,
                                            check_random_next(&random) & ~(uint64_t)3,
                                            isas[n % LENGTH(isas)] };
        char text[300];
        size_t size;

        check_random_fill(&random, bytes, sizeof bytes);
        size = tw_disassemble(disassembler, text, sizeof text, &code);
        CHECK_EQ(size, tw_instruction_size(&code));
        CHECK_EQ(text[0] == 0, size == 0);
        CHECK(!strpbrk(text, "\t\n"));
    }
    tw_disassembler_free(disassembler);
}

/* Texts are kept by opcode where the address does not matter: one that has seen an opcode elsewhere says what one says that has not. */
static void texts_are_kept_where_the_address_does_not_matter(void **state)
{
    struct check_random random = check_random_start(0x6b6e6f776e);
    struct tw_disassembler *has_seen = make(NULL), *has_not = make(NULL);

    (void)state;
    for (size_t n = check_scale(50000); n > 0; n--) {
        uint8_t bytes[4];
        struct tw_code_bytes code = { bytes, sizeof bytes, 0x4000, TW_ISA_A64 };
        char got[300], want[300];

        check_random_fill(&random, bytes, sizeof bytes);
        (void)tw_disassemble(has_seen, got, sizeof got, &code);
        code.address = check_random_next(&random) & ~(uint64_t)3;
        (void)tw_disassemble(has_seen, got, sizeof got, &code);
        (void)tw_disassemble(has_not, want, sizeof want, &code);
        CHECK_TEXT(got, want);
        CHECK_EQ(tw_disassemble(has_seen, got, 5, &code), 4); /* cut alike */
        CHECK(strncmp(got, want, strlen(got)) == 0);
    }
    tw_disassembler_free(has_seen);
    tw_disassembler_free(has_not);
}

static void put_opcode(uint8_t out[4], uint32_t opcode)
{
    for (unsigned i = 0; i < 4; i++)
        out[i] = (uint8_t)(opcode >> (8 * i));
}

/* A kind of opcodes whose text is kept without a number. */
struct kind {
    uint32_t mask, bits;
    uint32_t number; /* its bits; 0: those of a direct branch */
};
static const struct kind kinds[] = {
    { 0x1c000000, 0x14000000, 0 },          /* branches */
    { 0x1f000000, 0x10000000, 0x60ffffe0 }, /* ADR, ADRP */
    { 0x3b000000, 0x39000000, 0x003ffc00 }, /* loads and stores with an offset */
    { 0x1f800000, 0x11000000, 0x003ffc00 }, /* ADD, SUB, CMP and CMN of a number */
};

/* Of these all but the number is kept: one that has seen the opcode with another says what one says that has seen nothing. */
static void texts_are_kept_without_their_number(void **state)
{
    struct check_random random = check_random_start(0x6272616e6368);
    struct tw_disassembler *has_seen = make(NULL);
    const size_t rounds = check_scale(8000);
    size_t others = 0;

    (void)state;
    for (size_t n = rounds; n > 0; n--) {
        struct tw_disassembler *has_not = make(NULL);
        const struct kind *kind = &kinds[n % (sizeof kinds / sizeof kinds[0])];
        uint32_t opcode = ((uint32_t)check_random_next(&random) & ~kind->mask) | kind->bits;
        const uint32_t number = kind->number ? kind->number : tw_a64_distance_bits(opcode);
        const uint32_t other = opcode ^ ((uint32_t)check_random_next(&random) & number);
        uint8_t bytes[4];
        struct tw_code_bytes code = { bytes, sizeof bytes, 0x4000, TW_ISA_A64 };
        char got[300], want[300];

        if (n % 8 < 4) /* a small number, or none */
            opcode &= ~number | (number & -number) * (n / 8 % 4);
        put_opcode(bytes, other);
        (void)tw_disassemble(has_seen, got, sizeof got, &code);
        put_opcode(bytes, opcode);
        code.address = check_random_next(&random) & ~(uint64_t)3;
        (void)tw_disassemble(has_seen, got, sizeof got, &code);
        (void)tw_disassemble(has_not, want, sizeof want, &code);
        CHECK_TEXT(got, want);
        CHECK_EQ(tw_disassemble(has_seen, got, n % 40 + 1, &code), 4);
        CHECK(strncmp(got, want, strlen(got)) == 0); /* cut alike */
        others += other != opcode;
        tw_disassembler_free(has_not);
    }
    CHECK(others > rounds / 4 * 3);
    tw_disassembler_free(has_seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_kept_without_their_number),
        cmocka_unit_test(texts_are_kept_where_the_address_does_not_matter),
        cmocka_unit_test(sizes_and_opcodes),
        cmocka_unit_test(texts),
        cmocka_unit_test(an_it_block_ends_at_a_jump),
        cmocka_unit_test(any_word_gives_some_text),
    };

    return cmocka_run_group_tests_name("disassembly", tests, NULL, NULL);
}
