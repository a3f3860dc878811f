/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of element lines: every type, as JSON and as text. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/members.h>
#include <trackway/types.h>

#include "base/members.h"

/* clang-format off */
static const struct {
    struct tw_element element;
    const char *json, *text;
} rows[] = {
    { { .type = TW_ELEMENT_NO_SYNC, .reason = TW_REASON_INIT },
      "{\"i\":0,\"id\":16,\"t\":\"NO_SYNC\",\"reason\":\"init-decoder\"}",
      "0x0       0x10 NO_SYNC        init-decoder" },
    { { .index = 0x123456789a, .type = TW_ELEMENT_TRACE_ON, .reason = TW_TRACE_ON_OVERFLOW },
      "{\"i\":78187493530,\"id\":16,\"t\":\"TRACE_ON\",\"reason\":\"overflow\"}",
      "0x123456789a 0x10 TRACE_ON       overflow" },
    { { .index = 9, .type = TW_ELEMENT_TRACE_ON, .reason = TW_TRACE_ON_DEBUG_EXIT,
        .flags = TW_FLAG_HAS_CYCLES, .cycles = 5 },
      "{\"i\":9,\"id\":16,\"t\":\"TRACE_ON\",\"reason\":\"debug_exit\",\"cc\":5}",
      "0x9       0x10 TRACE_ON       debug_exit cc=5" },
    { { .index = 1, .type = TW_ELEMENT_EO_TRACE, .reason = TW_REASON_END },
      "{\"i\":1,\"id\":16,\"t\":\"EO_TRACE\",\"reason\":\"end-of-trace\"}",
      "0x1       0x10 EO_TRACE       end-of-trace" },
    { { .index = 2, .type = TW_ELEMENT_PE_CONTEXT, .isa = TW_ISA_A64, .el = 1,
        .security = TW_REALM, .context_id = 0xaa, .vmid = 0xbb,
        .flags = TW_CONTEXT_64BIT | TW_CONTEXT_HAS_EL | TW_CONTEXT_HAS_CID | TW_CONTEXT_HAS_VMID },
      "{\"i\":2,\"id\":16,\"t\":\"PE_CONTEXT\",\"isa\":\"A64\",\"bits\":64,\"sec\":\"Realm\",\"el\":1,"
      "\"vmid\":\"0xbb\",\"cid\":\"0xaa\"}",
      "0x2       0x10 PE_CONTEXT     A64 EL1Realm vmid=0xbb cid=0xaa" },
    { { .index = 2, .type = TW_ELEMENT_PE_CONTEXT, .isa = TW_ISA_T32, .security = TW_SECURE,
        .flags = TW_FLAG_HAS_CYCLES, .context_cycles = 7 },
      "{\"i\":2,\"id\":16,\"t\":\"PE_CONTEXT\",\"isa\":\"T32\",\"bits\":32,\"sec\":\"S\",\"cc\":7}",
      "0x2       0x10 PE_CONTEXT     T32 S cc=7" },
    { { .index = 2, .type = TW_ELEMENT_PE_CONTEXT, .isa = TW_ISA_RV64, .el = 3,
        .flags = TW_CONTEXT_64BIT | TW_CONTEXT_HAS_PRIV },
      "{\"i\":2,\"id\":16,\"t\":\"PE_CONTEXT\",\"isa\":\"RV64\",\"bits\":64,\"priv\":3}",
      "0x2       0x10 PE_CONTEXT     RV64 priv 3" },
    { { .index = 3, .type = TW_ELEMENT_INSTR_RANGE, .start = 0xffff800010081000, .length = 0x10,
        .count = 4, .isa = TW_ISA_A64, .last_kind = TW_LAST_IBR, .last_sub = TW_SUB_V8_RET,
        .last_size = 2, .flags = TW_RANGE_EXECUTED },
      "{\"i\":3,\"id\":16,\"t\":\"INSTR_RANGE\",\"st\":\"0xffff800010081000\","
      "\"en\":\"0xffff800010081010\",\"n\":4,\"isa\":\"A64\",\"lt\":\"IBR\",\"ls\":\"V8_RET\","
      "\"ex\":1,\"sz\":4,\"cond\":0}",
      "0x3       0x10 INSTR_RANGE    0xffff800010081000-0xffff800010081010 n=4 A64 IBR.V8_RET taken" },
    { { .index = 3, .type = TW_ELEMENT_INSTR_RANGE, .start = 0x8000, .length = 6, .count = 3,
        .isa = TW_ISA_T32, .last_kind = TW_LAST_BR, .last_size = 1, .range_cycles = 12,
        .flags = TW_RANGE_CONDITIONAL | TW_FLAG_HAS_CYCLES },
      "{\"i\":3,\"id\":16,\"t\":\"INSTR_RANGE\",\"st\":\"0x8000\",\"en\":\"0x8006\",\"n\":3,"
      "\"isa\":\"T32\",\"lt\":\"BR\",\"ls\":\"NONE\",\"ex\":0,\"sz\":2,\"cond\":1,\"cc\":12}",
      "0x3       0x10 INSTR_RANGE    0x8000-0x8006 n=3 T32 BR cond not-taken cc=12" },
    { { .index = 4, .type = TW_ELEMENT_I_RANGE_NOPATH, .first = 0x2000, .next = 0x2010, .count = 2,
        .isa = TW_ISA_A32 },
      "{\"i\":4,\"id\":16,\"t\":\"I_RANGE_NOPATH\",\"st\":\"0x2000\",\"en\":\"0x2010\",\"n\":2,"
      "\"isa\":\"A32\"}",
      "0x4       0x10 I_RANGE_NOPATH 0x2000 to 0x2010 n=2, path unknown" },
    { { .index = 5, .type = TW_ELEMENT_ADDR_NACC, .address = 0x1234, .space = TW_SPACE_EL1N },
      "{\"i\":5,\"id\":16,\"t\":\"ADDR_NACC\",\"st\":\"0x1234\",\"space\":\"0x2\","
      "\"space_name\":\"EL1N\"}",
      "0x5       0x10 ADDR_NACC      0x1234 (EL1N) is not in the image" },
    { { .index = 5, .type = TW_ELEMENT_ADDR_UNKNOWN },
      "{\"i\":5,\"id\":16,\"t\":\"ADDR_UNKNOWN\"}", "0x5       0x10 ADDR_UNKNOWN   " },
    { { .index = 6, .type = TW_ELEMENT_EXCEPTION, .number = 14, .return_address = 0x2000,
        .flags = TW_EXCEPTION_HAS_RETURN | TW_EXCEPTION_RETURN_IS_TARGET },
      "{\"i\":6,\"id\":16,\"t\":\"EXCEPTION\",\"num\":14,\"has_ret\":1,\"ret\":\"0x2000\","
      "\"ret_is_br_tgt\":1,\"data_marker\":0,\"m_tail\":0}",
      "0x6       0x10 EXCEPTION      number 0xe return 0x2000" },
    { { .index = 6, .type = TW_ELEMENT_EXCEPTION, .number = 17, .flags = TW_EXCEPTION_TAIL_CHAIN },
      "{\"i\":6,\"id\":16,\"t\":\"EXCEPTION\",\"num\":17,\"has_ret\":0,\"ret_is_br_tgt\":0,"
      "\"data_marker\":0,\"m_tail\":1}",
      "0x6       0x10 EXCEPTION      number 0x11 chained" },
    { { .index = 6, .type = TW_ELEMENT_EXCEPTION, .number = 7, .return_address = 0x80, .tval = 9,
        .flags = TW_EXCEPTION_RISCV | TW_EXCEPTION_INTERRUPT | TW_EXCEPTION_HAS_RETURN |
                 TW_EXCEPTION_HAS_TVAL },
      "{\"i\":6,\"id\":16,\"t\":\"EXCEPTION\",\"num\":7,\"interrupt\":1,\"ret\":\"0x80\","
      "\"tval\":\"0x9\"}",
      "0x6       0x10 EXCEPTION      interrupt 0x7 return 0x80 tval 0x9" },
    { { .index = 7, .type = TW_ELEMENT_EXCEPTION_RET },
      "{\"i\":7,\"id\":16,\"t\":\"EXCEPTION_RET\"}", "0x7       0x10 EXCEPTION_RET  " },
    { { .index = 8, .type = TW_ELEMENT_TIMESTAMP, .timestamp = 0x89101c305080c101,
        .flags = TW_FLAG_HAS_CYCLES, .cycles = 133 },
      "{\"i\":8,\"id\":16,\"t\":\"TIMESTAMP\",\"ts\":\"0x89101c305080c101\",\"freq_change\":0,"
      "\"cc\":133}",
      "0x8       0x10 TIMESTAMP      0x89101c305080c101 cc=133" },
    { { .index = 9, .type = TW_ELEMENT_CYCLE_COUNT, .flags = TW_FLAG_HAS_CYCLES, .cycles = 19 },
      "{\"i\":9,\"id\":16,\"t\":\"CYCLE_COUNT\",\"cc\":19}",
      "0x9       0x10 CYCLE_COUNT     cc=19" },
    { { .index = 9, .type = TW_ELEMENT_CYCLE_COUNT,
        .flags = TW_FLAG_HAS_CYCLES | TW_CYCLES_UNKNOWN },
      "{\"i\":9,\"id\":16,\"t\":\"CYCLE_COUNT\",\"cc\":0,\"unknown\":1}",
      "0x9       0x10 CYCLE_COUNT     cc unknown" },
    { { .index = 10, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_NUMBERED, .count = 5 },
      "{\"i\":10,\"id\":16,\"t\":\"EVENT\",\"kind\":\"numbered\",\"num\":5}",
      "0xa       0x10 EVENT          numbered 5" },
    { { .index = 11, .type = TW_ELEMENT_SWTRACE, .master = 2, .channel = 3, .width = 8,
        .payload = 0x41, .packets = 1, .sw_time = 6,
        .flags = TW_SW_HAS_ID | TW_SW_MARKER | TW_SW_HAS_TIME },
      "{\"i\":11,\"id\":16,\"t\":\"SWTRACE\",\"id_valid\":1,\"master\":2,\"chan\":3,\"bits\":8,"
      "\"npkt\":1,\"marker\":1,\"has_ts\":1,\"trig\":0,\"freq\":0,\"merr\":0,\"gerr\":0,"
      "\"data\":\"0x41\",\"ts\":\"0x6\"}",
      "0xb       0x10 SWTRACE        master 0x02 channel 0x0003 marker 8 bits 0x41 at 0x6" },
    { { .index = 12, .type = TW_ELEMENT_SYNC_MARKER },
      "{\"i\":12,\"id\":16,\"t\":\"SYNC_MARKER\",\"kind\":\"ts\",\"value\":0}",
      "0xc       0x10 SYNC_MARKER    " },
    { { .index = 13, .type = TW_ELEMENT_MEMTRANS, .kind = TW_TRANS_FAIL },
      "{\"i\":13,\"id\":16,\"t\":\"MEMTRANS\",\"kind\":\"fail\"}",
      "0xd       0x10 MEMTRANS       fail" },
    { { .index = 14, .type = TW_ELEMENT_INSTRUMENTATION, .value = 0xdeadbeef,
        .instrumentation_el = 2 },
      "{\"i\":14,\"id\":16,\"t\":\"INSTRUMENTATION\",\"el\":2,\"value\":\"0xdeadbeef\"}",
      "0xe       0x10 INSTRUMENTATION EL2 0xdeadbeef" },
    { { .index = 15, .type = TW_ELEMENT_ITMTRACE, .kind = TW_ITM_SWIT, .source = 1, .size = 1,
        .itm_value = 0x48 },
      "{\"i\":15,\"id\":16,\"t\":\"ITMTRACE\",\"kind\":\"SWIT\",\"overflow\":0,\"src\":1,"
      "\"size\":1,\"value\":\"0x48\"}",
      "0xf       0x10 ITMTRACE       SWIT source 1, 1 bytes 0x48" },
    { { .index = 15, .type = TW_ELEMENT_ITMTRACE, .kind = TW_ITM_TS_GLOBAL, .itm_time = 0x99,
        .flags = TW_ITM_FREQ_CHANGE | TW_ITM_OVERFLOW },
      "{\"i\":15,\"id\":16,\"t\":\"ITMTRACE\",\"kind\":\"TS_GLOBAL\",\"overflow\":1,"
      "\"ts\":\"0x99\",\"freq_change\":1}",
      "0xf       0x10 ITMTRACE       TS_GLOBAL time 0x99 clock-change after-overflow" },
    { { .index = 16, .type = TW_ELEMENT_DATA_ADDR, .data_address = 0x2000, .size = 4,
        .kind = TW_DATA_STORE, .flags = TW_DATA_HAS_ADDRESS | TW_DATA_HAS_PC, .pc = 0x100 },
      "{\"i\":16,\"id\":16,\"t\":\"DATA_ADDR\",\"addr\":\"0x2000\",\"size\":4,\"dir\":\"store\","
      "\"pc\":\"0x100\"}",
      "0x10      0x10 DATA_ADDR      store 4 bytes at 0x2000" },
    { { .index = 17, .type = TW_ELEMENT_DATA_VALUE, .data_address = 0x2000, .data_value = 0x55,
        .size = 1, .flags = TW_DATA_HAS_ADDRESS | TW_DATA_HAS_VALUE | TW_DATA_HAS_KEY, .pc = 3 },
      "{\"i\":17,\"id\":16,\"t\":\"DATA_VALUE\",\"value\":\"0x55\",\"size\":1,\"addr\":\"0x2000\","
      "\"key\":3}",
      "0x11      0x10 DATA_VALUE     0x55" },
    { { .index = 18, .type = TW_ELEMENT_BUS_TRANSFER, .kind = TW_DATA_STORE, .size = 4,
        .flags = TW_DATA_HAS_ADDRESS | TW_DATA_HAS_VALUE, .data_address = 0x40,
        .data_value = 7 },
      "{\"i\":18,\"id\":16,\"t\":\"BUS_TRANSFER\",\"dir\":\"store\",\"size\":4,"
      "\"addr\":\"0x40\",\"value\":\"0x7\"}",
      "0x12      0x10 BUS_TRANSFER   store 4 bytes at 0x40 value 0x7" },
    { { .index = 18, .type = TW_ELEMENT_CUSTOM, .number = 3, .value = 0x99 },
      "{\"i\":18,\"id\":16,\"t\":\"CUSTOM\",\"num\":3,\"value\":\"0x99\"}",
      "0x12      0x10 CUSTOM         3 0x99" },
    { { .index = 18, .type = TW_ELEMENT_UNKNOWN },
      "{\"i\":18,\"id\":16,\"t\":\"UNKNOWN\"}", "0x12      0x10 UNKNOWN        " },
    { { .index = 19, .type = TW_ELEMENT_ERROR, .error = TW_ERROR_RESERVED_HEADER, .skipped = 31,
        .error_detail = 0x94 },
      "{\"i\":19,\"id\":16,\"t\":\"ERROR\",\"code\":\"reserved-header\","
      "\"msg\":\"reserved header 0x94\",\"skipped\":31}",
      "0x13      0x10 ERROR          reserved header 0x94; skipped 31 bytes" },
    { { .index = 19, .type = TW_ELEMENT_ERROR, .error = TW_ERROR_RANGE_LIMIT,
        .error_detail = 0x401000 },
      "{\"i\":19,\"id\":16,\"t\":\"ERROR\",\"code\":\"range-limit\","
      "\"msg\":\"no branch within the range limit up to 0x401000\",\"skipped\":0}",
      "0x13      0x10 ERROR          no branch within the range limit up to 0x401000; skipped 0 bytes" },
    { { .index = 20, .type = TW_ELEMENT_REPEAT, .count = 3, .times = 0x100000000 },
      "{\"i\":20,\"id\":16,\"t\":\"REPEAT\",\"k\":3,\"n\":4294967296}",
      "0x14      0x10 REPEAT         the last 3 elements, 4294967296 more times" },
    { { .index = 21, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_FLUSH, .count = 0x42 },
      "{\"i\":21,\"id\":16,\"t\":\"EVENT\",\"kind\":\"flush\",\"num\":66}",
      "0x15      0x10 EVENT          flush 66" },
    { { .index = 22, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_CIRCUIT, .count = 3, .value = 0x8000,
        .value_more = 0x1234 },
      "{\"i\":22,\"id\":16,\"t\":\"EVENT\",\"kind\":\"circuit\",\"num\":3,\"addr\":\"0x8000\","
      "\"value\":\"0x1234\"}",
      "0x16      0x10 EVENT          circuit 3" },
    { { .index = 23, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_NOTIFY, .value = 0x8000, .value_more = 0x1234 },
      "{\"i\":23,\"id\":16,\"t\":\"EVENT\",\"kind\":\"notify\",\"num\":0,\"addr\":\"0x8000\"}",
      "0x17      0x10 EVENT          notify 0" },
    { { .index = 24, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_TRIGGER, .value = 0x8000 },
      "{\"i\":24,\"id\":16,\"t\":\"EVENT\",\"kind\":\"trigger\",\"num\":0,\"addr\":\"0x8000\"}",
      "0x18      0x10 EVENT          trigger 0" },
    { { .index = 25, .type = TW_ELEMENT_EVENT, .kind = TW_EVENT_LOST, .value = 5 },
      "{\"i\":25,\"id\":16,\"t\":\"EVENT\",\"kind\":\"lost\",\"num\":0,\"ecode\":\"0x5\"}",
      "0x19      0x10 EVENT          lost 0" },
};
/* clang-format on */

static void every_type_has_its_lines(void **state)
{
    bool is_seen[TW_ELEMENT_TYPES] = { false };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        char line[512];
        size_t size;

        check_case("row %zu, %s", i, tw_element_type_name(rows[i].element.type));
        is_seen[rows[i].element.type] = true;
        size = tw_element_json(line, sizeof line, &rows[i].element, 0x10);
        CHECK_TEXT(line, rows[i].json);
        CHECK_EQ(size, strlen(line));
        size = tw_element_text(line, sizeof line, &rows[i].element, 0x10);
        CHECK_TEXT(line, rows[i].text);
        CHECK_EQ(size, strlen(line));
    }
    for (unsigned type = 0; type < TW_ELEMENT_TYPES; type++) {
        check_case("%s", tw_element_type_name(type));
        CHECK(is_seen[type]);
    }
}

static void lines_stay_in_their_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const size_t enough = strlen(rows[i].json) + strlen(rows[i].text) + 1;

        for (size_t room = 1; room < enough; room++) {
            char *line = malloc(room);

            assert_non_null(line);
            CHECK(tw_element_json(line, room, &rows[i].element, 0x10) < room);
            CHECK(strlen(line) < room);
            CHECK(tw_element_text(line, room, &rows[i].element, 0x10) < room);
            CHECK(strlen(line) < room);
            free(line);
        }
    }
}

/* Lines of ranges are written straight: they say what their members say. */
static void check_straight(const char *line, const struct tw_element *element)
{
    const struct tw_batch of = { .size = sizeof of, .src = TW_NO_SRC };
    struct tw_members_here here;
    struct tw_members *list = tw_members_start(&here, TW_MEMBER_TOLD);
    char body[1024];
    size_t size;

    tw_element_members(list, element, &of);
    size = (size_t)(tw_members_text(body, list) - body);
    CHECK(strlen(line) > size);
    CHECK_EQ(memcmp(line + strlen(line) - size, body, size), 0);
}

/* Whatever stands in an element: a line comes out, 512 bytes are enough. */
static void any_bytes_give_a_line(void **state)
{
    struct check_random random = check_random_start(0x7072696e74);
    const size_t rounds = check_scale(100000);

    (void)state;
    for (size_t round = 0; round < rounds; round++) {
        struct tw_element element;
        char line[512];

        check_random_fill(&random, &element, sizeof element);
        if (round % 2)
            element.type = (uint8_t)(round / 2 % TW_ELEMENT_TYPES);
        CHECK(tw_element_json(line, sizeof line, &element, 0x7f) < sizeof line - 1);
        CHECK_EQ(line[strlen(line) - 1], '}');
        CHECK(tw_element_text(line, sizeof line, &element, 0x7f) < sizeof line - 1);
        if (round % 3 == 0)
            element.type = TW_ELEMENT_INSTR_RANGE;
        CHECK(tw_element_text(line, sizeof line, &element, 0x7f) < sizeof line - 1);
        check_straight(line, &element);
    }
}

static void names_are_never_missing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        CHECK(tw_element_type_name(i) && tw_isa_name(i) && tw_last_kind_name(i) &&
              tw_last_sub_name(i) && tw_security_name(i) && tw_reason_name(i) &&
              tw_error_code_name(i) && tw_space_name(i));
    }
    CHECK_TEXT(tw_space_name(TW_SPACE_ANY_S), "Any S");
    CHECK_TEXT(tw_space_name(TW_SPACE_ANY), "Any");
    CHECK_TEXT(tw_space_name(TW_SPACE_EL2), "EL2N");
    CHECK_TEXT(tw_reason_name(TW_REASON_OVERFLOW), "overflow");
    CHECK_TEXT(tw_error_code_name(TW_ERROR_COMMIT), "bad-commit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_lines),
        cmocka_unit_test(lines_stay_in_their_room),
        cmocka_unit_test(any_bytes_give_a_line),
        cmocka_unit_test(names_are_never_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
