/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of an exlog that are made here: exceptions of every class, signals, the name of a core. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "log/log.h"

enum { EXC = 2, SIGNAL = 4 };

struct made {
    uint8_t bytes[256];
    size_t size;
};

static void add_text(struct made *made, const char *text)
{
    CHECK(made->size + strlen(text) <= sizeof made->bytes);
    memcpy(made->bytes + made->size, text, strlen(text));
    made->size += strlen(text);
}

static void add(struct made *made, uint64_t number)
{
    CHECK(made->size + 10 <= sizeof made->bytes);
    for (; number > 0x7f; number >>= 7)
        made->bytes[made->size++] = (uint8_t)(number | 0x80);
    made->bytes[made->size++] = (uint8_t)number;
}

static struct tw_log *open_log(const struct made *made)
{
    struct tw_log *log;

    CHECK_EQ(tw_log_open_memory(&log, made->bytes, made->size, NULL, NULL), TW_OK);
    return log;
}

/* What the classes of ESR_ELx.EC are in trace; those that stand nowhere here are traps. */
static uint8_t type_of(unsigned ec)
{
    static const struct {
        uint8_t ec, type;
    } rows[] = {
        { 0x11, TW_EXCEPTION_CALL },         { 0x12, TW_EXCEPTION_CALL },
        { 0x13, TW_EXCEPTION_CALL },         { 0x15, TW_EXCEPTION_CALL },
        { 0x16, TW_EXCEPTION_CALL },         { 0x17, TW_EXCEPTION_CALL },
        { 0x20, TW_EXCEPTION_INST_FAULT },   { 0x21, TW_EXCEPTION_INST_FAULT },
        { 0x22, TW_EXCEPTION_ALIGNMENT },    { 0x26, TW_EXCEPTION_ALIGNMENT },
        { 0x24, TW_EXCEPTION_DATA_FAULT },   { 0x25, TW_EXCEPTION_DATA_FAULT },
        { 0x2f, TW_EXCEPTION_SYSTEM_ERROR }, { 0x30, TW_EXCEPTION_INST_DEBUG },
        { 0x31, TW_EXCEPTION_INST_DEBUG },   { 0x32, TW_EXCEPTION_INST_DEBUG },
        { 0x33, TW_EXCEPTION_INST_DEBUG },   { 0x38, TW_EXCEPTION_INST_DEBUG },
        { 0x3c, TW_EXCEPTION_INST_DEBUG },   { 0x34, TW_EXCEPTION_DATA_DEBUG },
        { 0x35, TW_EXCEPTION_DATA_DEBUG },
    };

    for (size_t i = 0; i < LENGTH(rows); i++)
        if (rows[i].ec == ec)
            return rows[i].type;
    return TW_EXCEPTION_TRAP;
}

static void exceptions_are_told_by_their_class(void **state)
{
    (void)state;
    for (unsigned number = 4; number <= 6; number++)
        for (unsigned ec = 0; ec < 64; ec++) {
            const uint8_t wanted = number == 5   ? TW_EXCEPTION_IRQ
                                   : number == 6 ? TW_EXCEPTION_FIQ
                                                 : type_of(ec);
            struct made made = { .size = 0 };
            struct tw_step step;
            struct tw_log *log;

            check_case("exception %u of class 0x%x", number, ec);
            add_text(&made, "exlog 1\nmode system\ntarget aarch64\n\n");
            add(&made, EXC);
            add(&made, number);
            add(&made, (uint64_t)ec << 26 | 0x123);
            add(&made, 0);
            add(&made, 1);
            add(&made, 0x4008);
            add(&made, 0x200);
            add(&made, 0);
            log = open_log(&made);
            CHECK_EQ(tw_log_next(log, &step), TW_OK);
            CHECK_EQ(step.kind, TW_STEP_EXCEPTION);
            CHECK_EQ(step.exception, wanted);
            CHECK_EQ(step.return_address, 0x4008);
            CHECK_EQ(step.is_interrupt, number != 4);
            CHECK_EQ(tw_log_next(log, &step), TW_END);
            tw_log_free(log);
        }
}

/* A signal enters the kernel, which is not traced; one on the way back from a system call does not. */
static void signals_are_exceptions_and_a_gap(void **state)
{
    static const uint8_t types[] = { TW_EXCEPTION_IRQ, TW_EXCEPTION_DATA_FAULT };

    (void)state;
    for (unsigned why = 0; why < 3; why++) {
        struct made made = { .size = 0 };
        struct tw_step step;
        struct tw_log *log;

        check_case("signal %u", why);
        add_text(&made, "exlog 1\nmode user\ntarget aarch64\n\n");
        add(&made, SIGNAL);
        add(&made, why);
        add(&made, 0x1004);
        add(&made, 0);
        log = open_log(&made);
        CHECK_EQ(tw_log_next(log, &step), TW_OK);
        CHECK_EQ(step.kind, TW_STEP_CONTEXT);
        if (why < 2) {
            CHECK_EQ(tw_log_next(log, &step), TW_OK);
            CHECK_EQ(step.kind, TW_STEP_EXCEPTION);
            CHECK_EQ(step.exception, types[why]);
            CHECK_EQ(step.return_address, 0x1004);
            CHECK_EQ(tw_log_next(log, &step), TW_OK);
            CHECK_EQ(step.kind, TW_STEP_GAP);
        }
        CHECK_EQ(tw_log_next(log, &step), TW_END);
        tw_log_free(log);
    }
}

/* The run before a signal leads to where the signal came, and begins again behind it. */
static void a_run_that_a_signal_ends_leads_there(void **state)
{
    /* DEF at 0x1000, A64, indirect, 2 instructions of 8 bytes: nop; br x3 */
    static const uint8_t run[] = { 1,    0x80, 0x40, 0,    2,    2,    8,   0x1f,
                                   0x20, 0x03, 0xd5, 0x60, 0x00, 0x1f, 0xd6 };
    struct made made = { .size = 0 };
    struct tw_step step;
    struct tw_log *log;

    (void)state;
    add_text(&made, "exlog 1\nmode user\ntarget aarch64\n\n");
    for (size_t i = 0; i < sizeof run; i++)
        made.bytes[made.size++] = run[i];
    add(&made, SIGNAL);
    add(&made, 0);
    add(&made, 0x2000);
    add(&made, 0);
    log = open_log(&made);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.kind, TW_STEP_CONTEXT);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.kind, TW_STEP_INSTRUCTIONS);
    CHECK_EQ(step.count, 2);
    CHECK_EQ(step.instructions[1].target, 0x2000);
    CHECK_EQ(tw_log_next(log, &step), TW_OK);
    CHECK_EQ(step.kind, TW_STEP_EXCEPTION);
    tw_log_free(log);
}

static void the_name_of_a_core_is_kept_as_far_as_there_is_room(void **state)
{
    struct made made = { .size = 0 };
    struct tw_log *log;

    (void)state;
    add_text(
        &made,
        "exlog 1\nmode user\ntarget aarch64\ncpu 0123456789012345678901234567890123456789\n\n");
    add(&made, 0);
    log = open_log(&made);
    CHECK_TEXT(tw_log_cpu(log), "0123456789012345678901234567890");
    tw_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_are_told_by_their_class),
        cmocka_unit_test(signals_are_exceptions_and_a_gap),
        cmocka_unit_test(a_run_that_a_signal_ends_leads_there),
        cmocka_unit_test(the_name_of_a_core_is_kept_as_far_as_there_is_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
