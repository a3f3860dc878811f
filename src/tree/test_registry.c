/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocols by name and number, and registers of a source by name. */
#include "check.h"

#include <string.h>

#include <trackway/tree.h>

#include "protocol.h"

static void protocols_by_number_and_name(void **state)
{
    static const char *const names[] = { "etmv3", "ptm", "etmv4",  "etmv4d",  "ete",
                                         "itm",   "stm", "etrace", "etraced", "ntrace" };
    size_t count = 0;

    (void)state;
    for (; tw_protocol_name(count); count++) {
        const char *name = tw_protocol_name(count);
        const struct tw_protocol *protocol = tw_protocol_by_name(name);
        bool is_known = false;

        CHECK_CASE(name);
        for (size_t i = 0; i < LENGTH(names); i++)
            is_known |= strcmp(names[i], name) == 0;
        CHECK(is_known);
        CHECK(protocol == tw_protocols[count]);
        CHECK_TEXT(protocol->name, name);
        CHECK_TEXT(tw_protocol_title(name), protocol->title);
    }
    CHECK_EQ(count, LENGTH(names));
    CHECK(tw_protocol_name(count + 5) == NULL);
    CHECK(tw_protocol_by_name("etm") == NULL);
    CHECK(tw_protocol_by_name("zzz") == NULL);
    CHECK(tw_protocol_by_name("") == NULL);
    CHECK(tw_protocol_title("zzz") == NULL);
}

static void registers_by_name(void **state)
{
    static const struct tw_register registers[] = {
        { "TRCIDR10", 10 }, { "TRCIDR1", 1 }, { "TrcIdr2", 2 }, { "TRCIDR1", 3 }
    };
    const struct tw_source_info source = { .registers = registers,
                                           .register_count = LENGTH(registers) };
    struct tw_fault fault = { TW_OK, "" };
    uint64_t value = 77;

    (void)state;
    CHECK(tw_source_register(&source, &value, "TRCIDR1"));
    CHECK_EQ(value, 1); /* the first of that name */
    CHECK(tw_source_register(&source, &value, "trcidr10"));
    CHECK_EQ(value, 10);
    CHECK(tw_source_register(&source, &value, "TRCIDR2"));
    CHECK_EQ(value, 2);
    CHECK(!tw_source_register(&source, &value, "TRCIDR"));
    CHECK(!tw_source_register(&source, &value, "TRCIDR11"));
    CHECK(!tw_source_register(&source, &value, "TRCIDR100"));
    CHECK(!tw_source_register(&source, &value, ""));
    CHECK_EQ(value, 2); /* untouched */
    CHECK_EQ(tw_source_need(&source, &value, "TRCIDR10", &fault), TW_OK);
    CHECK_EQ(value, 10);
    CHECK_EQ(tw_source_need(&source, &value, "TRCIDR11", &fault), TW_E_CONFIG);
    CHECK_TEXT(fault.text, "register TRCIDR11 is missing");
}

/* All that is missing is named at once, with what stands in for those that may be left out. */
static void missing_registers_are_named(void **state)
{
    static const struct tw_register_use uses[] = {
        { "TRCIDR0", NULL },    { "TRCIDR1", NULL }, { "TRCIDR8", "0" },
        { "TRCIDR9", "0" },     { "TRCIDR10", "0" }, { "TRCDEVARCH", "ETMv4.0" },
        { "TRCIDR11", "zero" }, { NULL, NULL },
    };
    static const struct {
        const char *given[2], *text;
    } rows[] = {
        { { NULL },
          "registers TRCIDR0, TRCIDR1 are missing; TRCIDR8 to TRCIDR10 may be left out (0), "
          "TRCDEVARCH may be left out (ETMv4.0), TRCIDR11 may be left out (zero)" },
        { { "TRCIDR0", "TRCIDR9" },
          "register TRCIDR1 is missing; TRCIDR8 may be left out (0), TRCIDR10 may be left out "
          "(0), "
          "TRCDEVARCH may be left out (ETMv4.0), TRCIDR11 may be left out (zero)" },
        { { "TRCIDR0", "TRCIDR1" }, "" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct tw_register registers[] = { { rows[i].given[0], 1 },
                                                 { rows[i].given[1], 2 } };
        const struct tw_source_info source = { .registers = registers,
                                               .register_count =
                                                   rows[i].given[0] ? LENGTH(registers) : 0 };
        struct tw_fault fault = { TW_OK, "" };

        check_case("row %zu", i);
        CHECK_EQ(tw_source_need_all(&source, uses, &fault),
                 rows[i].text[0] ? TW_E_CONFIG : TW_OK);
        CHECK_TEXT(fault.text, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocols_by_number_and_name),
        cmocka_unit_test(registers_by_name),
        cmocka_unit_test(missing_registers_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
