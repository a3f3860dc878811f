/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of trace units by name: each takes a log and makes what a decoder takes, or says what is wrong. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <trackway/unit.h>

#include "failing.h"

#define HEAD "trackway-log 1\n"

static const char a64[] = HEAD "context el=0 cid=0xaa\n"
                               "i 0x1000 94000400\n"
                               "i 0x2000 d503201f\n"
                               "i 0x2004 54ffffe0 taken\n"
                               "i 0x2000 d503201f\n"
                               "i 0x2004 54ffffe0\n"
                               "i 0x2008 d65f03c0 taken 0x1004\n"
                               "i 0x1004 d503201f\n";
static const char a32[] = HEAD "isa a32\n"
                               "i 0x1000 e1a00000\n"
                               "i 0x1004 eb000001\n" /* bl 0x1010 */
                               "i 0x1010 e12fff1e taken 0x1008\n"
                               "i 0x1008 e1a00000\n";
static const char m[] = HEAD "profile m\ncpu cortex-m4\n"
                             "i 0x1000 bf00\n"
                             "exception systick return=0x1002\n"
                             "context mode=handler\n"
                             "stimulus 0 0x68 bits=8\n"
                             "i 0x2000 4770 eret 0x1002\n"
                             "i 0x1002 bf00\n";
static const char rv[] = HEAD "isa rv64\n"
                              "i 0x1000 00000013\n"
                              "i 0x1004 00050463 taken\n"
                              "i 0x100c 008000ef\n"
                              "i 0x1014 00008067 taken 0x1010\n"
                              "i 0x1010 00000013\n";

static const struct {
    const char *protocol, *log, *device, *core;
    uint64_t instructions;
} rows[] = {
    { "ete", a64, "ETE", "ARM-AA64", 7 },       { "etmv4", a64, "ETM4.5", "Cortex-A57", 7 },
    { "etmv4", m, "ETM4.2", "Cortex-M4", 3 },   { "ptm", a32, "PTM1.0", "Cortex-A15", 4 },
    { "etmv3", a32, "ETM3.5", "Cortex-A7", 4 }, { "etmv3", m, "ETM3.5", "Cortex-M4", 3 },
    { "itm", m, "ITM", "Cortex-M4", 3 },        { "stm", m, "STM", NULL, 3 },
    { "etrace", rv, "ETRACE2.0", "RV64", 5 },   { "ntrace", rv, "NTRACE1.0", "RV64", 5 },
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static struct tw_unit *new_unit(const char *protocol)
{
    const struct tw_unit_config config = { .size = sizeof config, .protocol = protocol };
    struct tw_unit *unit;

    CHECK_EQ(tw_unit_new(&unit, &config, NULL), TW_OK);
    return unit;
}

static enum tw_status take(struct tw_unit *unit, const char *log)
{
    return tw_unit_log_memory(unit, (const uint8_t *)log, strlen(log));
}

static void each_protocol_makes_trace(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct tw_unit *unit = new_unit(rows[i].protocol);
        const struct tw_unit_trace *trace;

        check_case("%s, %s", rows[i].protocol, rows[i].device);
        CHECK_EQ(tw_unit_trace(unit)->size, 0);
        CHECK_EQ(take(unit, rows[i].log), TW_OK);
        CHECK_EQ(tw_unit_finish(unit), TW_OK);
        CHECK_EQ(tw_unit_finish(unit), TW_OK);
        trace = tw_unit_trace(unit);
        CHECK(trace->size > 4 && trace->id > 0 && trace->register_count > 0);
        CHECK_TEXT(trace->device_type, rows[i].device);
        CHECK(rows[i].core ? strcmp(trace->core_type, rows[i].core) == 0 : !trace->core_type);
        CHECK_EQ(trace->text != NULL, tw_unit_is_riscv(rows[i].protocol));
        CHECK_EQ(trace->instructions, rows[i].instructions);
        CHECK_EQ(take(unit, rows[i].log), TW_E_ARGUMENT);
        CHECK_TEXT(tw_unit_fault(unit), "tracing has ended");
        tw_unit_free(unit);
    }
}

/* Every step of a log by itself, the bytes taken as they come. */
static size_t step_through(uint8_t *bytes, size_t room, struct tw_unit *unit, const char *text)
{
    struct tw_log *log;
    struct tw_step step;
    size_t count = 0, size;
    const uint8_t *some;

    CHECK_EQ(tw_log_open_memory(&log, (const uint8_t *)text, strlen(text), NULL, NULL), TW_OK);
    while (tw_log_next(log, &step) == TW_OK) {
        CHECK_EQ(tw_unit_step(unit, &step), TW_OK);
        some = tw_unit_output(unit, &size);
        CHECK(count + size <= room);
        if (size)
            memcpy(bytes + count, some, size);
        count += size;
        tw_unit_take(unit);
        (void)tw_unit_output(unit, &size);
        CHECK_EQ(size, 0);
    }
    tw_log_free(log);
    CHECK_EQ(tw_unit_finish(unit), TW_OK);
    some = tw_unit_output(unit, &size);
    CHECK_EQ(size, tw_unit_trace(unit)->size);
    CHECK(count + size <= room);
    memcpy(bytes + count, some, size);
    return count + size;
}

static void steps_make_what_logs_make(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        struct tw_unit *one = new_unit(rows[i].protocol), *other = new_unit(rows[i].protocol);
        const struct tw_unit_trace *want, *got = tw_unit_trace(other);
        const struct tw_step nothing = { .kind = TW_STEP_TIME };
        uint8_t bytes[512];
        size_t size;

        check_case("%s, %s", rows[i].protocol, rows[i].device);
        CHECK_EQ(take(one, rows[i].log), TW_OK);
        CHECK_EQ(tw_unit_finish(one), TW_OK);
        want = tw_unit_trace(one);
        CHECK_EQ(tw_unit_step(other, &nothing), TW_E_ARGUMENT);
        CHECK(tw_unit_output(other, &size) == NULL && size == 0);
        CHECK_EQ(got->register_count, 0);
        CHECK_EQ(tw_unit_begin(other, rows[i].log == m, rows[i].log == rv ? 64 : 0), TW_OK);
        got = tw_unit_trace(other);
        CHECK_EQ(got->register_count, want->register_count);
        for (size_t k = 0; k < want->register_count; k++) {
            CHECK_TEXT(got->registers[k].name, want->registers[k].name);
            CHECK_EQ(got->registers[k].value, want->registers[k].value);
        }
        CHECK_EQ(got->id, want->id);
        CHECK_EQ(got->text != NULL, want->text != NULL);
        if (want->text)
            CHECK_TEXT(got->text, want->text);
        size = step_through(bytes, sizeof bytes, other, rows[i].log);
        CHECK_EQ(size, want->size);
        CHECK(memcmp(bytes, want->bytes, size) == 0);
        CHECK_EQ(tw_unit_step(other, &nothing), TW_E_ARGUMENT);
        tw_unit_free(one);
        tw_unit_free(other);
    }
}

static void logs_and_steps_do_not_mix(void **state)
{
    struct tw_unit *unit = new_unit("ete");

    (void)state;
    CHECK_EQ(tw_unit_begin(unit, false, 0), TW_OK);
    CHECK_EQ(take(unit, a64), TW_E_ARGUMENT);
    CHECK_TEXT(tw_unit_fault(unit), "the unit is given steps");
    tw_unit_free(unit);
    unit = new_unit("ete");
    CHECK_EQ(take(unit, a64), TW_OK);
    CHECK_EQ(tw_unit_begin(unit, false, 0), TW_E_ARGUMENT);
    CHECK_TEXT(tw_unit_fault(unit), "tracing has begun");
    tw_unit_free(unit);
    unit = new_unit("ete");
    CHECK_EQ(tw_unit_begin(unit, true, 0), TW_E_CONFIG);
    CHECK(strstr(tw_unit_fault(unit), "take etmv4") != NULL);
    CHECK_EQ(tw_unit_begin(unit, false, 0), TW_E_ARGUMENT);
    tw_unit_free(unit);
}

static void every_protocol_is_named(void **state)
{
    size_t count = 0;

    (void)state;
    for (; tw_unit_protocol(count); count++) {
        bool is_tested = false;

        for (size_t i = 0; i < ROWS; i++)
            is_tested |= strcmp(rows[i].protocol, tw_unit_protocol(count)) == 0;
        CHECK(is_tested);
    }
    CHECK_EQ(count, 8);
    CHECK_TEXT(tw_unit_presets("ete"), "minimal|exclude|include");
    CHECK(!tw_unit_presets("ptm") && !tw_unit_presets("none") && !tw_unit_is_riscv(NULL));
}

/* A snapshot has all code that ran, in one dump for pages that touch. */
static void snapshots_hold_the_code(void **state)
{
    struct tw_snapshot snapshot = { .size = sizeof snapshot };
    struct tw_unit *unit = new_unit("ete");

    (void)state;
    CHECK_EQ(tw_unit_snapshot(unit, &snapshot, false), TW_E_ARGUMENT);
    CHECK_EQ(tw_unit_finish(unit), TW_E_ARGUMENT);
    CHECK_EQ(take(unit, a64), TW_OK);
    CHECK_EQ(take(unit, a64), TW_OK); /* again, as if the program had run twice */
    CHECK_EQ(tw_unit_finish(unit), TW_OK);
    CHECK_EQ(tw_unit_trace(unit)->instructions, 14);
    for (int is_framed = 0; is_framed < 2; is_framed++) {
        const struct tw_snapshot_dump *dump;

        CHECK_EQ(tw_unit_snapshot(unit, &snapshot, is_framed), TW_OK);
        CHECK_EQ(snapshot.device_count, 2);
        CHECK_EQ(snapshot.buffer_count, 1);
        CHECK_TEXT(snapshot.buffers[0].format, is_framed ? "coresight" : "source_data");
        CHECK_EQ(snapshot.devices[0].dump_count, 1);
        dump = &snapshot.devices[0].dumps[0];
        CHECK_EQ(dump->address, 0x1000);
        CHECK_EQ(dump->size, 0x2000);
        CHECK_BYTES(dump->bytes + 0x1008, 4, "\xc0\x03\x5f\xd6", 4);
    }
    CHECK_EQ(snapshot.buffers[0].size % 16, 0);
    tw_unit_free(unit);
}

struct setting {
    const char *protocol, *log;
    struct tw_register choice, reg;
    const char *preset, *parameters, *fault;
};

static const struct setting wrong[] = {
    /* clang-format off */
    { "ptm", a32, { "sync", 64 }, { "ETMCR", 0x1000 }, NULL, NULL, "" },
    { "ete", a64, { NULL, 0 }, { "TRCCONFIGR", 1 }, "include", NULL, "" },
    { "etrace", rv, { "fifo", 64 }, { NULL, 0 }, "reference", NULL, "" },
    { "ntrace", rv, { "trTeInstSyncMode", 1 }, { NULL, 0 }, NULL, "mode=btm", "" },
    { "none", a64, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "protocol: \"none\" cannot be encoded" },
    { "ptm", a32, { NULL, 0 }, { NULL, 0 }, "minimal", NULL, "preset: \"minimal\" is not for ptm" },
    { "ete", a64, { NULL, 0 }, { NULL, 0 }, "clude", NULL, "preset: \"clude\" is not for ete" },
    { "ete", a64, { "nothing", 0 }, { NULL, 0 }, NULL, NULL, "choices: nothing is none of" },
    { "ete", a64, { NULL, 0 }, { "NONESUCH", 0 }, NULL, NULL, "NONESUCH" },
    { "etmv3", a32, { "sync", UINT64_MAX }, { NULL, 0 }, NULL, NULL, "choices: sync is none of" },
    { "etmv3", a32, { NULL, 0 }, { "ETMFOO", 1 }, NULL, NULL, "registers: ETMFOO is none of" },
    { "itm", m, { "what", 1 }, { NULL, 0 }, NULL, NULL, "choices: there is no what" },
    { "stm", m, { NULL, 0 }, { "STMWHAT", 1 }, NULL, NULL, "registers: there is no STMWHAT" },
    { "stm", m, { "timestamp-bits", 7 }, { NULL, 0 }, NULL, NULL, "choices: version is 3 or 4" },
    { "etrace", rv, { "iWhat", 1 }, { NULL, 0 }, NULL, NULL, "choices: " },
    { "etrace", rv, { "fifo", UINT64_MAX }, { NULL, 0 }, NULL, NULL, "choices: " },
    { "etrace", rv, { NULL, 0 }, { NULL, 0 }, NULL, "what=1", "registers: " },
    { "ntrace", rv, { "trTeWhat", 1 }, { NULL, 0 }, NULL, NULL, "choices: " },
    { "ntrace", rv, { NULL, 0 }, { NULL, 0 }, NULL, "mode=what", "registers: " },
    { "ete", m, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "the log is of the M profile, which has no ETE" },
    { "ptm", m, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "the log is of the M profile, which has no PTM" },
    { "ptm", rv, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "the log is of a RISC-V processor, which ptm" },
    { "ntrace", a64, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "the log is of an Arm processor, which ntrace" },
    { "ptm", a64, { NULL, 0 }, { NULL, 0 }, NULL, NULL, "line " },
    { "stm", HEAD "external 300\n", { NULL, 0 }, { NULL, 0 }, NULL, NULL, "line 2: an STM has hardware" },
    { "itm", HEAD "stimulus 1 2 bits=64\n", { NULL, 0 }, { NULL, 0 }, NULL, NULL, "line 2: an ITM takes" },
    { "ete", "what", { NULL, 0 }, { NULL, 0 }, NULL, NULL, "" },
    { "ete", HEAD "frobnicate\n", { NULL, 0 }, { NULL, 0 }, NULL, NULL, "line 2" },
    { "etrace", "what", { NULL, 0 }, { NULL, 0 }, NULL, NULL, "" },
    /* clang-format on */
};

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const struct setting *row = &wrong[i];
        const struct tw_unit_config config = { .size = sizeof config,
                                               .protocol = row->protocol,
                                               .preset = row->preset,
                                               .first = 0x2000,
                                               .last = 0x2008,
                                               .parameters = row->parameters,
                                               .choices = &row->choice,
                                               .choice_count = row->choice.name != NULL,
                                               .registers = &row->reg,
                                               .register_count = row->reg.name != NULL };
        struct tw_fault fault = { TW_OK, "" };
        struct tw_unit *unit;
        enum tw_status status = tw_unit_new(&unit, &config, &fault);

        check_case("row %zu, %s", i, row->protocol);
        CHECK_EQ(status == TW_OK, unit != NULL);
        if (unit) {
            status = take(unit, row->log);
            (void)snprintf(fault.text, sizeof fault.text, "%s", tw_unit_fault(unit));
            CHECK_EQ(tw_unit_finish(unit) == TW_OK, status == TW_OK);
        }
        CHECK_EQ(status == TW_OK, i < 4);
        if (!strstr(fault.text, row->fault))
            CHECK_TEXT(fault.text, row->fault);
        tw_unit_free(unit);
    }
}

/* Whatever request fails, it says so, and gives all back. */
static void memory_may_run_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        enum tw_status status = TW_E_MEMORY;

        for (size_t limit = 0; status != TW_OK; limit++) {
            struct failing failing = { .left = limit };
            const struct tw_allocator allocator = { failing_resize, &failing };
            const struct tw_unit_config config = { .size = sizeof config,
                                                   .protocol = rows[i].protocol,
                                                   .allocator = &allocator };
            struct tw_snapshot snapshot = { .size = sizeof snapshot };
            struct tw_unit *unit;

            check_case("%s, %zu requests", rows[i].protocol, limit);
            status = tw_unit_new(&unit, &config, NULL);
            if (status == TW_OK)
                status = take(unit, rows[i].log);
            if (status == TW_OK)
                status = tw_unit_finish(unit);
            if (status == TW_OK)
                status = tw_unit_snapshot(unit, &snapshot, true);
            tw_unit_free(unit);
            CHECK_EQ(failing.live, 0);
            CHECK(limit < 1000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_protocol_makes_trace),
        cmocka_unit_test(every_protocol_is_named),
        cmocka_unit_test(snapshots_hold_the_code),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(steps_make_what_logs_make),
        cmocka_unit_test(logs_and_steps_do_not_mix),
    };

    return cmocka_run_group_tests_name("unit", tests, NULL, NULL);
}
