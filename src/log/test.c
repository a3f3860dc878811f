/* SPDX-License-Identifier: BSD-2-Clause */
/* Execution logs: gzip, the exlog form, the text form, and what damage does to each. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gunzip.h"
#include "log/log.h"

/* ---- gzip ---- */

static const char small_log[] = "trackway-log 1\ni 0x1000 14000400\ni 0x2000 14000000\n";

static const uint8_t stored[] = {
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04, 0x03, 0x01, 0x33, 0x00, 0xcc, 0xff,
    0x74, 0x72, 0x61, 0x63, 0x6b, 0x77, 0x61, 0x79, 0x2d, 0x6c, 0x6f, 0x67, 0x20, 0x31, 0x0a,
    0x69, 0x20, 0x30, 0x78, 0x31, 0x30, 0x30, 0x30, 0x20, 0x31, 0x34, 0x30, 0x30, 0x30, 0x34,
    0x30, 0x30, 0x0a, 0x69, 0x20, 0x30, 0x78, 0x32, 0x30, 0x30, 0x30, 0x20, 0x31, 0x34, 0x30,
    0x30, 0x30, 0x30, 0x30, 0x30, 0x0a, 0x76, 0x8f, 0x24, 0x3b, 0x33, 0x00, 0x00, 0x00
};
static const uint8_t fixed[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                                 0x2b, 0x29, 0x4a, 0x4c, 0xce, 0x2e, 0x4f, 0xac, 0xd4, 0xcd,
                                 0xc9, 0x4f, 0x57, 0x30, 0xe4, 0xca, 0x54, 0x30, 0xa8, 0x30,
                                 0x34, 0x30, 0x30, 0x50, 0x30, 0x34, 0x01, 0x92, 0x40, 0x0c,
                                 0x16, 0x31, 0x82, 0x8b, 0x00, 0x01, 0x17, 0x00, 0x76, 0x8f,
                                 0x24, 0x3b, 0x33, 0x00, 0x00, 0x00 };

static enum tw_status inflate_tight(const uint8_t *bytes, size_t size, uint8_t **out,
                                    size_t *out_size)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status =
        tw_gunzip(out, out_size, copy, size, TW_GUNZIP_LOG_MOST, NULL);

    free(copy);
    return status;
}

static void inflates_and_sees_damage(void **state)
{
    static const struct {
        const char *name;
        const uint8_t *bytes;
        size_t size;
    } cases[] = { { "stored", stored, sizeof stored }, { "fixed", fixed, sizeof fixed } };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint8_t twice[2 * sizeof stored];
        uint8_t *out;
        size_t size;

        CHECK_CASE(cases[i].name);
        CHECK_EQ(inflate_tight(cases[i].bytes, cases[i].size, &out, &size), TW_OK);
        CHECK_BYTES(out, size, small_log, sizeof small_log - 1);
        free(out);
        memcpy(twice, cases[i].bytes, cases[i].size);
        memcpy(twice + cases[i].size, cases[i].bytes, cases[i].size);
        CHECK_EQ(inflate_tight(twice, 2 * cases[i].size, &out, &size), TW_OK);
        CHECK_EQ(size, 2 * (sizeof small_log - 1));
        free(out);
        for (size_t cut = 0; cut < cases[i].size; cut++) {
            CHECK_EQ(inflate_tight(cases[i].bytes, cut, &out, &size), TW_E_CONFIG);
            free(out);
        }
        for (size_t byte = 10; byte < cases[i].size; byte++) {
            memcpy(twice, cases[i].bytes, cases[i].size);
            twice[byte] ^= 0x10;
            /* Some bits are spare, and some ways to say a thing are as good as others. */
            if (inflate_tight(twice, cases[i].size, &out, &size) == TW_OK)
                CHECK_BYTES(out, size, small_log, sizeof small_log - 1);
            free(out);
        }
    }
}

/* ---- exlog ---- */

static uint8_t *load_demo(size_t *size)
{
    uint8_t *bytes = check_load(size, TW_SOURCE_DIR "/tests/captures/demo.exlog.gz");

    CHECK(bytes != NULL);
    return bytes;
}

/* Runs through a log; how it ended. */
static enum tw_status read_all(struct tw_log *log, uint64_t *instructions, uint64_t *exceptions)
{
    enum tw_status status;
    struct tw_step step;
    uint64_t next = 0;

    *instructions = *exceptions = 0;
    while ((status = tw_log_next(log, &step)) == TW_OK) {
        if (step.kind == TW_STEP_EXCEPTION)
            (*exceptions)++;
        if (step.kind != TW_STEP_INSTRUCTIONS)
            next = 0;
        for (size_t i = 0; step.kind == TW_STEP_INSTRUCTIONS && i < step.count; i++) {
            const struct tw_retired *at = &step.instructions[i];
            const bool is_branch =
                at->kind == TW_RETIRED_BRANCH || at->kind == TW_RETIRED_INDIRECT;

            if (next)
                CHECK_EQ(at->address, next);
            next = at->address + at->size;
            if (is_branch && at->flags & TW_RETIRED_TAKEN)
                next = at->target;
            (*instructions)++;
        }
        if (*instructions > 1000000)
            return TW_OK; /* a repetition that damage made */
    }
    return status;
}

static void every_instruction_leads_to_the_next(void **state)
{
    uint64_t instructions, exceptions;
    struct tw_log *log;
    size_t size;
    uint8_t *bytes = load_demo(&size);

    (void)state;
    CHECK_EQ(tw_log_open_memory(&log, bytes, size, NULL, NULL), TW_OK);
    CHECK(!tw_log_is_riscv(log));
    CHECK_EQ(read_all(log, &instructions, &exceptions), TW_END);
    CHECK_EQ(instructions, 51431);
    CHECK_EQ(exceptions, 3);
    CHECK_TEXT(tw_log_fault(log), "");
    tw_log_free(log);
    free(bytes);
}

static void a_damaged_exlog_says_so(void **state)
{
    struct check_random random = check_random_start(0x65786c6f67);
    uint64_t instructions, exceptions;
    size_t packed_size, size;
    uint8_t *packed = load_demo(&packed_size), *bytes;

    (void)state;
    CHECK_EQ(inflate_tight(packed, packed_size, &bytes, &size), TW_OK);
    for (size_t i = 0; i < 300; i++) {
        const size_t cut = (size_t)check_random_below(&random, size);
        uint8_t *copy = check_copy(bytes, cut);
        struct tw_log *log;

        if (tw_log_open_memory(&log, copy, cut, NULL, NULL) == TW_OK) {
            CHECK_EQ(read_all(log, &instructions, &exceptions), TW_E_CONFIG);
            CHECK(*tw_log_fault(log) != 0);
            tw_log_free(log);
        }
        free(copy);
    }
    free(bytes);
    free(packed);
}

/* 60 bytes that ask for 2^33 instructions: not without being told. */
static void repetitions_are_bounded(void **state)
{
    static const char head[] = "exlog 1\nmode user\ntarget aarch64\n\n";
    /* DEF at 0x1000, A64, direct, 2 instructions of 8 bytes: nop; b . - 4.  REP. */
    static const uint8_t run[] = { 1,    0x80, 0x40, 0,    1,    2,    8,    0x1f,
                                   0x20, 0x03, 0xd5, 0xff, 0xff, 0xff, 0x17, 6 };
    static const struct {
        uint64_t most, times;
        uint64_t instructions; /* 0: refused */
    } cases[] = {
        { 0, 100, 202 },   { 0, 0xffffffff, 0 }, { 0, 1 << 23, 2 * ((1 << 23) + 1) },
        { 200, 100, 202 }, { 199, 100, 0 },      { UINT64_MAX, 1 << 24, 2 * ((1 << 24) + 1) }
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_log_options options = { .size = sizeof options,
                                          .repeats_most = cases[i].most };
        uint8_t bytes[sizeof head + sizeof run + 12];
        uint64_t times = cases[i].times, instructions = 0;
        size_t size = sizeof head - 1;
        struct tw_step step;
        struct tw_log *log;
        enum tw_status status;

        check_case("case %zu", i);
        memcpy(bytes, head, size);
        memcpy(bytes + size, run, sizeof run);
        for (size += sizeof run; times > 0x7f; times >>= 7)
            bytes[size++] = (uint8_t)(times | 0x80);
        bytes[size++] = (uint8_t)times;
        bytes[size++] = 0; /* END */
        CHECK_EQ(tw_log_open_memory(&log, bytes, size, &options, NULL), TW_OK);
        while ((status = tw_log_next(log, &step)) == TW_OK)
            instructions += step.kind == TW_STEP_INSTRUCTIONS ? step.count : 0;
        CHECK_EQ(instructions, cases[i].instructions);
        CHECK_EQ(status, cases[i].instructions ? TW_END : TW_E_CONFIG);
        if (!cases[i].instructions)
            CHECK(strstr(tw_log_fault(log), "repetitions add more than") != NULL);
        tw_log_free(log);
    }
}

/* ---- text ---- */

static const struct {
    const char *line;
    uint8_t kind;
    uint64_t value; /* or the address */
    uint8_t how;
} statements[] = {
    { "gap", TW_STEP_GAP, 0, 0 },
    { "time 0x123456789abcdef0", TW_STEP_TIME, 0x123456789abcdef0, 0 },
    { "cycles 17", TW_STEP_CYCLES, 17, 0 },
    { "clock 0", TW_STEP_CLOCK, 0, 0 },
    { "external 0x4010", TW_STEP_EXTERNAL, 0x4010, 0 },
    { "inputs 0xff", TW_STEP_INPUTS, 0xff, 0 },
    { "instrumentation 18446744073709551615", TW_STEP_INSTRUMENTATION, UINT64_MAX, 0 },
    { "speculate on", TW_STEP_SPECULATE, 1, 0 },
    { "speculate off", TW_STEP_SPECULATE, 0, 0 },
    { "commit", TW_STEP_COMMIT, 0, 0 },
    { "commit except=3", TW_STEP_COMMIT, 3, 0 },
    { "cancel 4", TW_STEP_CANCEL, 4, TW_CANCEL_ONLY },
    { "cancel 4 direction", TW_STEP_CANCEL, 4, TW_CANCEL_DIRECTION },
    { "\tcancel 0  target # so it is", TW_STEP_CANCEL, 0, TW_CANCEL_TARGET },
    { "overflow", TW_STEP_OVERFLOW, 0, 0 },
    { "recover", TW_STEP_RECOVER, 0, 0 },
    { "flush", TW_STEP_FLUSH, 0, 0 },
    { "sync\r", TW_STEP_SYNC, 0, 0 },
    { "debug on", TW_STEP_DEBUG, 1, 0 },
    { "transaction start", TW_STEP_TRANSACTION, 0, TW_TRANS_START },
    { "transaction commit", TW_STEP_TRANSACTION, 0, TW_TRANS_COMMIT },
    { "transaction fail cancel=9", TW_STEP_TRANSACTION, 9, TW_TRANS_FAIL },
};

static struct tw_log *open_text(const char *text, struct tw_fault *fault)
{
    static char all[1024]; /* borrowed by the log */
    struct tw_log *log;

    (void)snprintf(all, sizeof all, "# a comment\n\ntrackway-log 1\n%s", text);
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)all, strlen(all), NULL, fault), TW_OK);
    return log;
}

static void reads_each_statement(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(statements); i++) {
        char all[256];
        struct tw_log *log;
        struct tw_step step;

        CHECK_CASE(statements[i].line);
        (void)snprintf(all, sizeof all, "trackway-log 1\n%s", statements[i].line);
        CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)all, strlen(all), NULL, NULL),
                 TW_OK);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(step.kind, TW_STEP_CONTEXT); /* the one that holds at first */
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(step.kind, statements[i].kind);
        CHECK_EQ(step.value, statements[i].value);
        CHECK_EQ(step.how, statements[i].how);
        CHECK_EQ(tw_log_next(log, &step), TW_END);
        CHECK_EQ(tw_log_next(log, &step), TW_END);
        tw_log_free(log);
    }
}

static void reads_instructions_and_contexts(void **state)
{
    static const char text[] = "trackway-log 1\n"
                               "i 0x1000 14000400\n"
                               "i 0x2000 54000040 taken\n"
                               "i 0x2008 d65f03c0 taken 0x1004\n"
                               "context el=2 security=realm cid=7 vmid=9\n"
                               "isa t32\n"
                               "i 0x8000 bf08\n" /* it eq */
                               "i 0x8002 4770\n" /* bxeq lr, not taken */
                               "i 0x8004 f3bf8f6f\n"
                               "exception data-fault return=0x8008\n"
                               "register TRFCR_EL1=0x3\n";
    struct tw_log *log;
    struct tw_step step;

    (void)state;
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, sizeof text - 1, NULL, NULL),
             TW_OK);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_CONTEXT && step.context.is_64bit && step.context.el == 0);
    CHECK_EQ(step.context.security, TW_NONSECURE);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.kind, TW_STEP_INSTRUCTIONS);
    CHECK_EQ(step.count, 3);
    CHECK_EQ(step.instructions[0].kind, TW_RETIRED_BRANCH);
    CHECK_EQ(step.instructions[0].flags, TW_RETIRED_TAKEN);
    CHECK_EQ(step.instructions[0].target, 0x2000);
    CHECK_EQ(step.instructions[1].flags, TW_RETIRED_TAKEN | TW_RETIRED_CONDITIONAL);
    CHECK_EQ(step.instructions[1].target, 0x2008);
    CHECK_EQ(step.instructions[2].flags, TW_RETIRED_TAKEN | TW_RETIRED_RETURN);
    CHECK_EQ(step.instructions[2].target, 0x1004);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_CONTEXT && step.context.el == 2);
    CHECK_EQ(step.context.security, TW_REALM);
    CHECK(step.context.context_id == 7 && step.context.vmid == 9 && step.context.is_64bit);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_CONTEXT && !step.context.is_64bit);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.count, 3);
    CHECK(!(step.instructions[1].flags & TW_RETIRED_TAKEN));
    CHECK_EQ(step.instructions[2].kind, TW_RETIRED_ISB);
    CHECK_EQ(step.instructions[2].size, 4);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK(step.kind == TW_STEP_EXCEPTION && step.exception == TW_EXCEPTION_DATA_FAULT);
    CHECK(step.return_address == 0x8008 && step.return_isa == TW_ISA_T32);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.kind, TW_STEP_REGISTER);
    CHECK_TEXT(step.reg.name, "TRFCR_EL1");
    CHECK_EQ(step.reg.value, 3);
    CHECK_EQ(tw_log_next(log, &step), TW_END);
    tw_log_free(log);
}

static void opcodes_may_come_from_the_image(void **state)
{
    static const uint8_t code[] = { 0x00, 0x04, 0x00, 0x14, 0x1f, 0x20, 0x03, 0xd5 };
    static const char text[] = "trackway-log 1\ni 0x1000\ni 0x1004\ni 0x1008\n";
    const struct tw_region region = {
        .size = sizeof region, .address = 0x1000, .length = sizeof code, .name = "code"
    };
    struct tw_log_options options = { .size = sizeof options };
    struct tw_log *log;
    struct tw_step step;

    (void)state;
    CHECK_EQ(tw_image_new(&options.image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(options.image, &region, code), TW_OK);
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, sizeof text - 10, &options, NULL),
             TW_OK);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.count, 2);
    CHECK_EQ(step.instructions[0].opcode, 0x14000400);
    CHECK_EQ(step.instructions[1].opcode, 0xd503201f);
    tw_log_free(log);
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, sizeof text - 1, &options, NULL),
             TW_OK);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(tw_log_next(log, &step), TW_E_CONFIG);
    CHECK_TEXT(tw_log_fault(log), "log, line 4: \"0x1008\" is not in the image");
    tw_log_free(log);
    tw_image_free(options.image);
}

/* The first instruction set says whose log it is; it stays so. */
static void a_log_is_of_one_processor(void **state)
{
    static const struct {
        const char *text;
        bool is_riscv;
        const char *fault;
    } logs[] = {
        { "trackway-log 1\nisa rv64\ni 0 00000013\nisa rv32\n", true, "" },
        { "trackway-log 1\ncontext el=0\nisa t32\nisa a64\n", false, "" },
        { "trackway-log 1\ni 0 14000001\nisa rv64\n", false,
          "log, line 3: \"rv64\" is of another processor than the log" },
        { "trackway-log 1\nisa rv32\n\nisa a32\n", true,
          "log, line 4: \"a32\" is of another processor than the log" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(logs); i++) {
        struct tw_log *log;
        struct tw_step step;

        CHECK_CASE(logs[i].text);
        CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)logs[i].text, strlen(logs[i].text),
                                    NULL, NULL),
                 TW_OK);
        CHECK_EQ(tw_log_is_riscv(log), logs[i].is_riscv);
        while (tw_log_next(log, &step) == TW_OK)
            ;
        CHECK_TEXT(tw_log_fault(log), logs[i].fault);
        tw_log_free(log);
    }
}

/* A line of an exlog's head tells one thing, and another line nothing. */
static void the_head_of_an_exlog(void **state)
{
    static const struct {
        const char *lines;
        bool is_riscv, is_m, is_64bit;
        const char *cpu;
    } rows[] = {
        { "target aarch64\n", false, false, true, "" },
        { "target arm\n", false, false, false, "" },
        { "target armeb\n", false, false, true, "" },
        { "target riscv64\n", true, false, true, "" },
        { "target riscv32\n", true, false, true, "" },
        { "target riscv\n", true, false, true, "" },
        { "target riscw64\n", false, false, true, "" },
        { "target risc\n", false, false, true, "" },
        { "target arm\nprofile m\ncpu cortex-m33\n", false, true, false, "cortex-m33" },
        { "profile a\ncpu cortex-a57\n", false, false, true, "cortex-a57" },
        { "colour red\n", false, false, true, "" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char text[200];
        struct tw_step step;
        struct tw_log *log;

        CHECK_CASE(rows[i].lines);
        (void)snprintf(text, sizeof text, "exlog 1\nmode user\n%s\n", rows[i].lines);
        CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, strlen(text), NULL, NULL),
                 TW_OK);
        CHECK_EQ(tw_log_is_riscv(log), rows[i].is_riscv);
        CHECK_EQ(tw_log_is_m(log), rows[i].is_m);
        CHECK_TEXT(tw_log_cpu(log) ? tw_log_cpu(log) : "", rows[i].cpu);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(step.kind, TW_STEP_CONTEXT);
        CHECK_EQ(step.context.is_64bit, rows[i].is_64bit);
        tw_log_free(log);
    }
}

/* Instructions by what a trace unit has to know of them. */
static void instructions_have_their_kinds(void **state)
{
    enum {
        CALL = TW_RETIRED_TAKEN | TW_RETIRED_LINK,
        RETURN = TW_RETIRED_TAKEN | TW_RETIRED_RETURN,
        BACK = TW_RETIRED_TAKEN | TW_RETIRED_EXCEPTION_RETURN
    };
    static const struct {
        const char *name;
        uint32_t opcode;
        uint8_t isa, kind, flags;
    } rows[] = {
        { "nop", 0xd503201f, TW_ISA_A64, TW_RETIRED_OTHER, 0 },
        { "tsb csync", 0xd503225f, TW_ISA_A64, TW_RETIRED_TSB, 0 },
        { "psb csync", 0xd503223f, TW_ISA_A64, TW_RETIRED_OTHER, 0 },
        { "bl", 0x94000001, TW_ISA_A64, TW_RETIRED_BRANCH, CALL },
        { "ret", 0xd65f03c0, TW_ISA_A64, TW_RETIRED_INDIRECT, RETURN },
        { "eret", 0xd69f03e0, TW_ISA_A64, TW_RETIRED_INDIRECT, BACK },
        { "tsb csync", 0xe320f012, TW_ISA_A32, TW_RETIRED_TSB, 0 },
        { "nop", 0xe320f000, TW_ISA_A32, TW_RETIRED_OTHER, 0 },
        { "tsb csync", 0xf3af8012, TW_ISA_T32, TW_RETIRED_TSB, 0 },
        { "nop.w", 0xf3af8000, TW_ISA_T32, TW_RETIRED_OTHER, 0 },
        { "nop", 0x00000013, TW_ISA_RV64, TW_RETIRED_OTHER, 0 },
        { "jal ra", 0x008000ef, TW_ISA_RV64, TW_RETIRED_BRANCH, CALL },
        { "jal zero", 0x0080006f, TW_ISA_RV64, TW_RETIRED_BRANCH, TW_RETIRED_TAKEN },
        { "jalr ra", 0x000500e7, TW_ISA_RV64, TW_RETIRED_INDIRECT, CALL },
        { "ret", 0x00008067, TW_ISA_RV64, TW_RETIRED_INDIRECT, RETURN },
        { "mret", 0x30200073, TW_ISA_RV64, TW_RETIRED_INDIRECT, BACK },
        { "sret", 0x10200073, TW_ISA_RV32, TW_RETIRED_INDIRECT, BACK },
        { "beqz", 0x00050463, TW_ISA_RV64, TW_RETIRED_BRANCH, TW_RETIRED_CONDITIONAL },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct tw_retired what = {
            .address = 0x1000, .opcode = rows[i].opcode, .isa = rows[i].isa, .flags = 0xff
        };

        check_case("%s, instruction set %u", rows[i].name, rows[i].isa);
        tw_retired_classify(&what, NULL);
        CHECK_EQ(what.kind, rows[i].kind);
        CHECK_EQ(what.flags, rows[i].flags);
    }
}

static void bad_text_is_named_with_its_line(void **state)
{
    static const struct {
        const char *line, *fault;
    } bad[] = {
        { "hello", "log, line 4: \"hello\" is no statement" },
        { "i", "log, line 4: \"i\" wants ADDRESS [OPCODE] [taken [TARGET]]" },
        { "i 0x10 xyz", "log, line 4: \"0x10\" has an opcode that is none" },
        { "i 0x10", "log, line 4: \"0x10\" is not in the image" },
        { "i 0x10 14000000 token", "log, line 4: \"token\" is not taken [TARGET], nor failed" },
        { "i 0x10 d503201f taken", "log, line 4: \"0x10\" is taken, but no branch" },
        { "isa x86", "log, line 4: \"isa\" wants one of a64, a32, t32, rv32, rv64" },
        { "context el=4", "log, line 4: \"el=4\" is none of el=0...3 (profile m: "
                          "mode=thread|handler), security=nonsecure|secure|realm|root, cid=N, "
                          "vmid=N" },
        { "context mode=handler",
          "log, line 4: \"mode=handler\" is none of el=0...3 (profile m: "
          "mode=thread|handler), security=nonsecure|secure|realm|root, cid=N, vmid=N" },
        { "i 0x10 d65f03c0 eret", "log, line 4: \"eret\" is of the M profile" },
        { "profile a", "log, line 4: \"profile\" wants m, and stands before instructions" },
        { "cpu", "log, line 4: \"cpu\" wants a name, such as cortex-m3" },
        { "stimulus 1",
          "log, line 4: \"stimulus\" wants PORT VALUE, PORT flag or PORT trigger=N" },
        { "stimulus 65536 1",
          "log, line 4: \"stimulus\" wants PORT VALUE, PORT flag or PORT trigger=N" },
        { "stimulus 1 2 bits=7", "log, line 4: \"bits=7\" is none of bits=4|8|16|32|64, "
                                 "master=N, marked, timed" },
        { "stimulus 1 256 bits=8", "log, line 4: \"256\" has more bits than are written" },
        { "stimulus 1 trigger=256",
          "log, line 4: \"trigger=256\" has more bits than are written" },
        { "exception", "log, line 4: \"exception\" wants a type, such as irq, call or a number "
                       "up to 0x17" },
        { "exception irq", "log, line 4: \"exception\" wants TYPE return=ADDRESS" },
        { "exception 0x18 return=0", "log, line 4: \"exception\" wants a type, such as irq, "
                                     "call or a number up to 0x17" },
        { "transaction init",
          "log, line 4: \"transaction\" wants start, commit or fail [cancel=N]" },
        { "time", "log, line 4: \"time\" wants one value" },
        { "time 0x", "log, line 4: \"0x\" is no number, or too large" },
        { "time 18446744073709551616",
          "log, line 4: \"18446744073709551616\" is no number, or too large" },
        { "cycles 1048577", "log, line 4: \"1048577\" is no number, or too large" },
        { "gap 1", "log, line 4: \"gap\" takes nothing more" },
        { "debug maybe", "log, line 4: \"debug\" wants on or off" },
        { "cancel 1 2", "log, line 4: \"cancel\" wants N [direction|target]" },
        { "commit 1", "log, line 4: \"commit\" takes nothing, or except=N" },
        { "register X", "log, line 4: \"register\" wants NAME=VALUE" },
        { "a b c d e f g h i", "log, line 4: \"a\" has too many words" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_log *log;
        struct tw_step step;

        CHECK_CASE(bad[i].line);
        log = open_text(bad[i].line, NULL);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(tw_log_next(log, &step), TW_E_CONFIG);
        CHECK_TEXT(tw_log_fault(log), bad[i].fault);
        CHECK_EQ(tw_log_next(log, &step), TW_E_CONFIG);
        tw_log_free(log);
    }
}

static void what_is_no_log_is_refused(void **state)
{
    struct tw_fault fault = { TW_OK, "" };
    struct tw_log *log;

    (void)state;
    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)"", 0, NULL, &fault), TW_E_CONFIG);
    CHECK(log == NULL && *fault.text);
    CHECK_EQ(
        tw_log_open_memory(&log, (const uint8_t *)"exlog 1\nmode user\n", 18, NULL, &fault),
        TW_E_CONFIG);
    CHECK_TEXT(fault.text, "exlog: its head does not end");
    CHECK_EQ(tw_log_open(&log, TW_SOURCE_DIR "/no/such/log", NULL, &fault), TW_E_FILE);
    CHECK(log == NULL);
    CHECK_EQ(tw_log_open(&log, TW_SOURCE_DIR "/tests/captures/demo.exlog.gz", NULL, &fault),
             TW_OK);
    tw_log_free(log);
    tw_log_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inflates_and_sees_damage),
        cmocka_unit_test(every_instruction_leads_to_the_next),
        cmocka_unit_test(a_damaged_exlog_says_so),
        cmocka_unit_test(repetitions_are_bounded),
        cmocka_unit_test(reads_each_statement),
        cmocka_unit_test(reads_instructions_and_contexts),
        cmocka_unit_test(opcodes_may_come_from_the_image),
        cmocka_unit_test(a_log_is_of_one_processor),
        cmocka_unit_test(bad_text_is_named_with_its_line),
        cmocka_unit_test(the_head_of_an_exlog),
        cmocka_unit_test(instructions_have_their_kinds),
        cmocka_unit_test(what_is_no_log_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
