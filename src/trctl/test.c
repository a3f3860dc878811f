/* SPDX-License-Identifier: BSD-2-Clause */
/* Dumps of registers: components, versions, the decoder's configuration. */
#include "check.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <trackway/control.h>

#include "trctl/sequence.h"
#include "trctl/table.h"

/* The configuration of a dump, or what is wrong with it. */
static const char *config_of(const char *dump, const char **protocol)
{
    static char text[16384];
    struct tw_fault fault = { TW_OK, "" };
    struct tw_control *control;
    size_t size = sizeof text;

    *protocol = NULL;
    if (tw_control_read(&control, dump, strlen(dump), NULL, &fault) != TW_OK) {
        (void)snprintf(text, sizeof text, "%s", fault.text);
        return text;
    }
    *protocol = tw_control_protocol(control);
    if (tw_control_config(control, text, &size, &fault) != TW_OK)
        (void)snprintf(text, sizeof text, "%s", fault.text);
    tw_control_free(control);
    return text;
}

/* A dump and what of its configuration, or of its message, must be there. */
static const struct {
    const char *name, *dump, *protocol, *has[6];
} dumps[] = {
    { "N-Trace into memory that wrapped",
      "[te0 0x20000000]\ntrTeControl = 0x01510067\ntrTeImpl=0x10101\n"
      "trTeInstFeatures: 0x20010600\ntrTsControl 0x28008031\n"
      "[ram0 0x20001000]\ntrRamStartLow=0x80000000\ntrRamLimitLow=0x80000ffc\n"
      "trRamWPLow=0x80000125\n",
      "ntrace",
      { "src_bits=2\n", "extend_addr_msb=1\n", "all_jumps=1\n", "time_width=40\n",
        "ram_wp=0x80000124\n", "ram_wrap=1\n" } },
    { "no SRC is sent",
      "trTeControl=0x01008067\ntrTeInstFeatures=0x20010000\n",
      "ntrace",
      { "inhibit_src=1\n", "mode=htm\n" } },
    { "BTM", "trTeControl=0x01000037\n", "ntrace", { "mode=btm\n", "dialect=1.0\n" } },
    { "before 1.0",
      "teControl=0x00000067\nteImpl=0x02a00090\nteSinkBase=0x1000\nteSinkLimit=0x1ffc\n"
      "teSinkWP=0x1101\n",
      "ntrace",
      { "dialect=sifive\n", "ram_start=0x1000\n", "ram_wrap=1\n" } },
    { "E-Trace",
      "trTeControl=0x00000267\ntrTeInstFeatures=0x4000002c\n",
      "etrace",
      { "sijump=1\nimplicit_return=1\n", "jump_target_cache=1\n", "nocontext_p=0\n",
        "sijump_p=1\n", "srcid_bits=4\n", "notime_p=1\n" } },
    { "E-Trace, what is off may be there",
      "trTeControl=0x67\ntrTeInstFeatures=0\n",
      "etrace",
      { "sijump=0\n", "nocontext_p=1\n" } },
    { "E-Trace, the encoder behind its sink",
      "[ram0]\ntrRamStartLow=0x80000000\n[te0]\ntrTeControl=0x00000267\n"
      "trTeInstFeatures=0x4000002c\n",
      "etrace",
      { "sijump=1\nimplicit_return=1\n", "jump_target_cache=1\n", "nocontext_p=0\n",
        "srcid_bits=4\n" } },
    { "words of memory",
      "# mdw\n0x20000000: 01510867 00010101 20010408 00000000\n0x20001000: 13 00002901\n",
      "ntrace",
      { "src_bits=2\n" } },
    { "two harts",
      "[a]\ntrTeControl=0x01000067\ntrTeInstFeatures=0xc0010000\n[b]\ntrTeControl=0x01000067\n"
      "trTeInstFeatures=0xcfff0000\n",
      "ntrace",
      { "src_bits=12\n" } },
    { "widths that differ",
      "[a]\ntrTeControl=0x01000067\ntrTeInstFeatures=0x20010000\n[b]\ntrTeControl=0x01000067\n"
      "trTeInstFeatures=0x30020000\n",
      "ntrace",
      { "trTeSrcBits is 2 in a and 3 in b" } },
    { "a vendor's trace", "trTeControl=0x07000067\n", NULL, { "no encoder tells its format" } },
    { "formats that differ",
      "trTeControl=0x01000067\ntrTeControl=0x00000067\n",
      NULL,
      { "or they differ" } },
    { "another version", "trTeControl=0x01000067\ntrTeImpl=0x102\n", NULL, { "no encoder" } },
    { "another N-Trace", "trTeControl=0x01000067\ntrTeImpl=0x20101\n", NULL, { "no encoder" } },
    { "a register that there is not",
      "trTeControl=0x01000067\ntrTeNothing=1\n",
      NULL,
      { "line 2: there is no register \"trTeNothing\"" } },
    { "no value",
      "trTeControl=\n",
      NULL,
      { "line 1: \"trTeControl\" has no value of 32 bits" } },
    { "no component",
      "[x]\n0x20000000: 00000000 00000f01\n",
      NULL,
      { "what component it is cannot be told" } },
};

static void what_a_dump_tells(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(dumps); i++) {
        const char *protocol, *text = config_of(dumps[i].dump, &protocol);

        check_case("%s", dumps[i].name);
        CHECK_TEXT(protocol ? protocol : "none",
                   dumps[i].protocol ? dumps[i].protocol : "none");
        for (size_t k = 0; k < LENGTH(dumps[i].has) && dumps[i].has[k]; k++)
            if (!strstr(text, dumps[i].has[k]))
                CHECK_TEXT(text, dumps[i].has[k]);
    }
}

static void what_is_a_dump(void **state)
{
    static const struct {
        const char *text;
        bool is_dump;
    } texts[] = {
        { "trTeControl = 1", true },
        { "# of a board\n[te 0x1000]\ntrTeControl 0x1\n", true },
        { "0x20000000: 01510867 00010101", true },
        { "0x20000004: 01510867 00010101", false },
        { "00000000: 24 0d 00 0b", false },
        { "trTeControl", false },
        { "trTeControl = 1 2", false },
        { "write trTeControl = 1", false },
        { "src_bits=2", false },
        { "", false },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        check_case("%s", texts[i].text);
        CHECK_EQ(tw_control_is_dump(texts[i].text, strlen(texts[i].text)), texts[i].is_dump);
    }
}

static void components_and_versions(void **state)
{
    static const char dump[] = "[te0 0x20000000]\ntrTeImpl=0x000101f1\n[f 0x20001000]\n"
                               "trFunnelImpl=0x811\n[r]\ntrRamImpl=0x9f3\n";
    struct tw_control_component about = { .size = sizeof about };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_control *control;
    char field[80];

    (void)state;
    CHECK_EQ(tw_control_read(&control, dump, strlen(dump), NULL, &fault), TW_OK);
    CHECK_EQ(tw_control_count(control), 3);
    CHECK_EQ(tw_control_component(control, &about, 0), TW_OK);
    CHECK_TEXT(about.type, "trace encoder");
    CHECK_EQ(about.base, 0x20000000);
    CHECK_TEXT(about.note, "an experimental version");
    CHECK(!about.is_refused);
    CHECK(tw_control_field(field, sizeof field, control, 0, 0) > 0);
    CHECK_TEXT(field, "trTeVerMajor = 1");
    CHECK_EQ(tw_control_component(control, &about, 1), TW_OK);
    CHECK_TEXT(about.note, "version 1.1, newer than 1.0: what is new is not read");
    CHECK_EQ(tw_control_component(control, &about, 2), TW_OK);
    CHECK(about.is_refused);
    CHECK_EQ(tw_control_component(control, &about, 3), TW_END);
    tw_control_free(control);
}

/* ---- the tables ---- */

/* The number-th register of a row is found at its offset. */
static void check_found(const struct tw_trctl_register *row, unsigned number)
{
    const struct tw_trctl_register *found =
        tw_trctl_at(row->component, row->offset + TW_TRCTL_STRIDE * number);

    assert_non_null(found);
    CHECK_TEXT(found->name, row->name);
    CHECK_EQ(found->offset, row->offset);
}

/* Registers of a component stand in order, each at an offset of its own, and are found by both. */
static void registers_have_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i], *next = row + 1;

        CHECK_CASE(row->name);
        CHECK_EQ(row->offset % 4, 0);
        CHECK(strcspn(row->name, "%") > 4); /* the search counts on it */
        CHECK(row->count == 1 || strchr(row->name, '%'));
        if (i + 1 < tw_trctl_register_count && next->component == row->component)
            CHECK(row->offset < next->offset);
        check_found(row, 0);
        check_found(row, row->count - 1u);
    }
}

/* Status, counters, data and pointers of the reader may be written at any time. */
static bool is_no_setting(const struct tw_trctl_register *row)
{
    static const char *const any_time[] = { "Impl",     "Counter", "RP",     "RamData",
                                            "SinkData", "tsLower", "tsUpper" };
    bool found = row->offset == TW_TRCTL_CONTROL;

    for (size_t i = 0; i < LENGTH(any_time); i++)
        if (!strstr(row->name, "MatchValueImpdef") && !strstr(row->name, "MatchMaskImpdef"))
            found |= strstr(row->name, any_time[i]) != NULL;
    return found;
}

static void what_can_be_written(void **state)
{
    (void)state;
    for (unsigned component = 0; component < 16; component++) {
        uint32_t masks[TW_TRCTL_SIZE / 4] = { 0 };

        check_case("component %u", component);
        tw_trctl_writable_all(component, masks);
        for (uint32_t offset = 0; offset < TW_TRCTL_SIZE; offset += 4)
            CHECK_EQ(masks[offset / 4], tw_trctl_writable(component, offset));
    }
}

static void settings_and_defaults(void **state)
{
    (void)state;
    for (size_t i = 0; i < tw_trctl_register_count; i++) {
        const struct tw_trctl_register *row = &tw_trctl_registers[i];
        const bool is_path =
            row->component == TW_TRCTL_ENCODER || row->component == TW_TRCTL_FUNNEL;

        CHECK_CASE(row->name);
        CHECK_EQ(row->is_setting, !is_no_setting(row));
        CHECK_EQ(row->is_default, row->is_setting && is_path && row->count == 1);
    }
}

/* Fields lie in registers that there are, none over another; one with its register's name begins at
   bit 0, but addresses in the memory of a sink are those of words. */
static void fields_have_places(void **state)
{
    (void)state;
    for (size_t i = 0; i < tw_trctl_field_count; i++) {
        const struct tw_trctl_field *field = &tw_trctl_fields[i];
        const struct tw_trctl_register *row = tw_trctl_at(field->component, field->offset);
        uint32_t others = 0;

        CHECK_CASE(field->name);
        CHECK(row != NULL);
        CHECK(strcspn(field->name, "%") > 4);
        CHECK(field->low <= field->high && field->high < 32);
        if (strcmp(field->name, row->name) == 0)
            CHECK_EQ(field->low,
                     field->component == TW_TRCTL_RAM_SINK && strstr(field->name, "Low") ? 2
                                                                                         : 0);
        for (size_t k = 0; k < tw_trctl_field_count; k++)
            if (k != i && tw_trctl_fields[k].component == field->component &&
                tw_trctl_fields[k].offset == field->offset)
                others |= tw_trctl_mask(&tw_trctl_fields[k]);
        CHECK_EQ(others & tw_trctl_mask(field), 0);
    }
}

/* "TC1", "TC2" ..., where it is said, and sentences. */
static void rules_are_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < TW_TRCTL_INPUT; i++) {
        const struct tw_sequence_rule *rule = &tw_trctl_rules[i];
        char name[16];

        (void)snprintf(name, sizeof name, "TC%zu", i + 1);
        CHECK_TEXT(rule->name, name);
        CHECK(isdigit((unsigned char)rule->tags[0]));
        CHECK_EQ(strspn(rule->tags, "0123456789. "), strlen(rule->tags));
        CHECK(strlen(rule->title) > 10 && strlen(rule->needs) > strlen(rule->title) / 2);
        CHECK(strlen(rule->hazard) > 10 && strlen(rule->fix) > 10);
        CHECK_EQ(rule->needs[strlen(rule->needs) - 1], '.');
        CHECK(rule->hazard[strlen(rule->hazard) - 1] != '.');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_dump_tells),       cmocka_unit_test(what_is_a_dump),
        cmocka_unit_test(components_and_versions), cmocka_unit_test(registers_have_places),
        cmocka_unit_test(settings_and_defaults),   cmocka_unit_test(what_can_be_written),
        cmocka_unit_test(fields_have_places),      cmocka_unit_test(rules_are_whole),
    };

    return cmocka_run_group_tests_name("trctl", tests, NULL, NULL);
}
