/* SPDX-License-Identifier: BSD-2-Clause */
/* ITM: the trace unit's model, and configurations. */
#include "check.h"

#include <trackway/itm_unit.h>

#include "itm/test.h"

/* What the unit is told comes out of the decoder, with its time. */
static void unit_model_is_decoded(void **unused)
{
    const struct tw_itm_unit_config setup = { .size = sizeof setup,
                                              .tcr = 0x0f | 3u << 10,
                                              .sync_cycles = 1000,
                                              .global_time = 0x3fffff0 };
    const struct tw_dwt_meaning tick = { .kind = TW_DWT_EXCEPTION,
                                         .number = 15,
                                         .action = TW_DWT_ENTERED };
    const struct tw_itm_config config = config_of(STRICT);
    struct tw_itm_unit *unit;
    struct feed feed = { .piece = SIZE_MAX / 2, .room = 8 };
    char lines[2000] = "";
    struct tw_text text = tw_text_in(lines, sizeof lines);

    (void)unused;
    CHECK_EQ(tw_itm_unit_new(&unit, &setup, NULL), TW_OK);
    CHECK_EQ(tw_itm_unit_write(unit, 0, 'a', 1), TW_OK);
    CHECK_EQ(tw_itm_unit_advance(unit, 5), TW_OK);
    CHECK_EQ(tw_itm_unit_write(unit, 74, 0x1234, 2), TW_OK);
    CHECK_EQ(tw_itm_unit_advance(unit, 995), TW_OK);
    CHECK_EQ(tw_itm_unit_watch(unit, &tick), TW_OK);
    CHECK_EQ(tw_itm_unit_write(unit, 64, 'b', 1), TW_OK);
    CHECK_EQ(tw_itm_unit_write(unit, 256, 'b', 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_itm_unit_write(unit, 1, 'b', 3), TW_E_ARGUMENT);
    CHECK_EQ(tw_itm_unit_flush(unit), TW_OK);
    feed.bytes = tw_itm_unit_output(unit, &feed.size);
    decode(&text, &config, &feed);
    CHECK_TEXT(lines, "0 NO_SYNC init\n6 SWIT 0/1 61\n13 TS_GLOBAL =3fffff0\n"
                      "19 SWIT 74/2 1234\n22 TS_GLOBAL =3fffff5\n24 TS_SYNC +5 =5\n"
                      "32 DWT 1/2 100f\n40 TS_GLOBAL =40003d8\n45 SWIT 64/1 62\n"
                      "47 TS_GLOBAL =40003d8\n49 TS_SYNC +3e3 =3e8\n49 EO_TRACE end\n");
    tw_itm_unit_take(unit);
    (void)tw_itm_unit_output(unit, &feed.size);
    CHECK_EQ(feed.size, 0);
    tw_itm_unit_free(unit);
}

/* ITM_TCR: without ITMENA nothing comes out, without DWTENA nothing that the DWT tells. */
static void unit_model_that_is_off_is_silent(void **unused)
{
    static const uint32_t tcr[] = { 0x0e, 0x07 };
    const struct tw_dwt_meaning tick = { .kind = TW_DWT_EXCEPTION,
                                         .number = 15,
                                         .action = TW_DWT_ENTERED };

    (void)unused;
    for (size_t i = 0; i < LENGTH(tcr); i++) {
        const struct tw_itm_unit_config setup = { .size = sizeof setup, .tcr = tcr[i] };
        struct tw_itm_unit *unit;
        size_t before, after;

        CHECK_EQ(tw_itm_unit_new(&unit, &setup, NULL), TW_OK);
        (void)tw_itm_unit_output(unit, &before);
        CHECK_EQ(tw_itm_unit_watch(unit, &tick), TW_OK);
        (void)tw_itm_unit_output(unit, &after);
        CHECK_EQ(after, before);
        CHECK_EQ(tw_itm_unit_write(unit, 0, 'a', 1), TW_OK);
        CHECK_EQ(tw_itm_unit_flush(unit), TW_OK);
        (void)tw_itm_unit_output(unit, &after);
        CHECK_EQ(after > before, i == 1);
        tw_itm_unit_free(unit);
    }
}

static void unit_model_overflows(void **unused)
{
    const struct tw_itm_unit_config setup = {
        .size = sizeof setup, .tcr = 0x0f, .fifo_size = 10, .cycles_per_byte = 10
    };
    const struct tw_itm_config config = config_of(STRICT);
    struct tw_itm_unit *unit;
    struct feed feed = { .piece = SIZE_MAX / 2, .room = 8 };
    char lines[2000] = "";
    struct tw_text text = tw_text_in(lines, sizeof lines);

    (void)unused;
    CHECK_EQ(tw_itm_unit_new(&unit, &setup, NULL), TW_OK);
    for (unsigned i = 0; i < 4; i++) /* 6 bytes of SYNC, then room for two writes */
        CHECK_EQ(tw_itm_unit_write(unit, 0, 'a' + i, 1), TW_OK);
    CHECK_EQ(tw_itm_unit_advance(unit, 100), TW_OK);
    CHECK_EQ(tw_itm_unit_write(unit, 0, 'z', 1), TW_OK);
    CHECK_EQ(tw_itm_unit_flush(unit), TW_OK);
    feed.bytes = tw_itm_unit_output(unit, &feed.size);
    decode(&text, &config, &feed);
    CHECK_TEXT(lines, "0 NO_SYNC init\n6 SWIT 0/1 61\n8 SWIT 0/1 62\n11 SWIT 0/1 7a overflow\n"
                      "13 TS_SYNC +64 =64\n13 EO_TRACE end\n");
    tw_itm_unit_free(unit);
}

static void configuration_is_read(void **unused)
{
    static const char *const names[] = { "ITMTCR", "control_register", "Itm_Tcr" };
    struct tw_register registers[] = { { NULL, 0x00150300 },
                                       { "assume_sync", 1 },
                                       { "ON_ERROR", 2 } };
    struct tw_source_info source = { .registers = registers, .register_count = 3, .id = 7 };
    struct tw_itm_config config;
    struct tw_fault fault;

    (void)unused;
    for (size_t i = 0; i < LENGTH(names); i++) {
        registers[0].name = names[i];
        CHECK_EQ(tw_itm.configure(&config, &source, &fault), TW_OK);
        CHECK_EQ(tw_itm.trace_id(&config), 0x15);
        CHECK(config.assume_sync && config.on_error == TW_ITM_WAIT);
    }
    registers[2].value = 3;
    CHECK_EQ(tw_itm.configure(&config, &source, &fault), TW_E_CONFIG);
    source.register_count = 0;
    CHECK_EQ(tw_itm.configure(&config, &source, &fault), TW_OK);
    CHECK_EQ(tw_itm.trace_id(&config), 7);
}

/* A unit whose SYNCENA is 0 sends no synchronization, at its start or later. */
static void units_without_sync_send_none(void **unused)
{
    (void)unused;
    for (uint32_t sync = 0; sync < 2; sync++) {
        const struct tw_itm_unit_config setup = { .size = sizeof setup,
                                                  .tcr = 1 | (sync ? TW_ITM_TCR_SYNC : 0) };
        struct tw_itm_unit *unit;
        size_t size;

        CHECK_EQ(tw_itm_unit_new(&unit, &setup, NULL), TW_OK);
        (void)tw_itm_unit_output(unit, &size);
        CHECK_EQ(size, sync ? 6 : 0);
        tw_itm_unit_free(unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unit_model_is_decoded),
        cmocka_unit_test(unit_model_that_is_off_is_silent),
        cmocka_unit_test(unit_model_overflows),
        cmocka_unit_test(configuration_is_read),
        cmocka_unit_test(units_without_sync_send_none),
    };

    return cmocka_run_group_tests_name("itm unit", tests, NULL, NULL);
}
