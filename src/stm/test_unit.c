/* SPDX-License-Identifier: BSD-2-Clause */
/* STM: the trace unit's model, and configurations. */
#include "check.h"

#include <string.h>

#include <trackway/stm_unit.h>

#include "stm/test.h"

/* What the unit is told comes out of the decoder. */
static void unit_model_is_decoded(void **unused)
{
    (void)unused;
    for (uint8_t version = 3; version <= 4; version++) {
        const struct tw_stm_unit_config setup = { .size = sizeof setup,
                                                  .version = version,
                                                  .has_timestamps = true,
                                                  .timestamp_bits = 48,
                                                  .frequency = 1000,
                                                  .sync_bytes = 40 };
        struct tw_stm_unit *unit;
        struct feed feed = { .piece = SIZE_MAX / 2, .room = 16 };
        char lines[2000] = "";
        struct tw_text text = tw_text_in(lines, sizeof lines);

        CHECK_EQ(tw_stm_unit_new(&unit, &setup, NULL), TW_OK);
        tw_stm_unit_select(unit, 0x41, 0x0301);
        tw_stm_unit_set_time(unit, 0x123456789a);
        CHECK_EQ(tw_stm_unit_write(unit, 0x6c6c6548, 32, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 0x6f, 8, 0), TW_OK);
        tw_stm_unit_set_time(unit, 0x123456789c);
        CHECK_EQ(tw_stm_unit_flag(unit, TW_STM_TIMED), TW_OK);
        tw_stm_unit_select(unit, 0x41, 0x0302);
        CHECK_EQ(tw_stm_unit_write(unit, UINT64_MAX, 64, TW_STM_MARKED), TW_OK);
        CHECK_EQ(tw_stm_unit_trigger(unit, 7, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_event(unit, 9, TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_lose(unit, false, 1), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 5, 4, TW_STM_MARKED | TW_STM_TIMED), TW_OK);
        CHECK_EQ(tw_stm_unit_lose(unit, true, 2), TW_OK);
        tw_stm_unit_select(unit, 0x141, 1);
        CHECK_EQ(tw_stm_unit_write(unit, 0x1234, 16, 0), TW_OK);
        CHECK_EQ(tw_stm_unit_write(unit, 0x10, 4, 0), TW_E_ARGUMENT);
        CHECK_EQ(tw_stm_unit_write(unit, 0, 12, 0), TW_E_ARGUMENT);
        CHECK_EQ(tw_stm_unit_flush(unit), TW_OK);
        feed.bytes = tw_stm_unit_output(unit, &feed.size);
        CHECK_EQ(feed.size % 4, 0);
        decode(&text, &feed);
        for (char *at = lines; *at; at++) /* where they are does not matter here */
            while (at == lines || at[-1] == '\n') {
                char *space = strchr(at, ' ');

                if (!space)
                    break;
                memmove(at, space + 1, strlen(space));
                at++;
            }
        CHECK_TEXT(lines, "NO_SYNC init\n0/0? 32:3e8 freq\n41/301 32:6c6c6548 =123456789a\n"
                          "41/301 8:6f\n41/301 0 =123456789c marker\n"
                          "41/302 64:ffffffffffffffff marker\n41/302 8:7 =123456789c trigger\n"
                          "80/0 8:9 =123456789c\n0/0 32:3e8 freq\n41/0 8:1 merr\n"
                          "41/302 4:5 =123456789c marker\n0/0? 8:2 gerr\n141/1 16:1234\n"
                          "EO_TRACE end\n");
        tw_stm_unit_take(unit);
        (void)tw_stm_unit_output(unit, &feed.size);
        CHECK_EQ(feed.size, 0);
        tw_stm_unit_free(unit);
    }
}

static void unit_model_compresses(void **unused)
{
    const struct tw_stm_unit_config setup = { .size = sizeof setup,
                                              .version = 3,
                                              .compresses = true };
    struct tw_stm_unit *unit;
    struct feed feed = { .piece = SIZE_MAX / 2, .room = 16 };
    char lines[2000] = "";
    struct tw_text text = tw_text_in(lines, sizeof lines);

    (void)unused;
    CHECK_EQ(tw_stm_unit_new(&unit, &setup, NULL), TW_OK);
    CHECK_EQ(tw_stm_unit_write(unit, 5, 64, TW_STM_TIMED), TW_OK);
    CHECK_EQ(tw_stm_unit_write(unit, 0x10000, 64, 0), TW_OK);
    CHECK_EQ(tw_stm_unit_flush(unit), TW_OK);
    feed.bytes = tw_stm_unit_output(unit, &feed.size);
    decode(&text, &feed);
    CHECK_TEXT(lines, "0 NO_SYNC init\n13 0/0? 4:5\n14 0/0? 32:10000\n14 EO_TRACE end\n");
    tw_stm_unit_free(unit);
}

static void configuration_is_read(void **unused)
{
    struct tw_register control = { "StmTcsr", 0x00a00007 };
    struct tw_source_info source = { .registers = &control, .register_count = 1, .id = 7 };
    struct tw_stm_config got;
    struct tw_fault fault;

    (void)unused;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_OK);
    CHECK_EQ(tw_stm.trace_id(&got), 0x20);
    control.value = UINT64_MAX;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_E_CONFIG);
    source.register_count = 0;
    CHECK_EQ(tw_stm.configure(&got, &source, &fault), TW_OK);
    CHECK_EQ(tw_stm.trace_id(&got), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unit_model_is_decoded),
        cmocka_unit_test(unit_model_compresses),
        cmocka_unit_test(configuration_is_read),
    };

    return cmocka_run_group_tests_name("stm unit", tests, NULL, NULL);
}
