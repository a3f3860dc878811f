/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: configurations. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "etrace/test.h"

static void refuses_what_it_does_not_know(void **state)
{
    static const struct {
        const char *text, *fault;
    } bad[] = {
        { "layout=v2\nspeed=3\n", "line 2: unknown key \"speed\"" },
        { "layout=v3\n", "line 1: layout: \"v3\" is no value it can have" },
        { "# a comment\n\nlayout=v2\niaddress_lsb_p=7\n",
          "line 4: iaddress_lsb_p: \"7\" is no number from 0 to 2" },
        { "layout=v2\nnonsense\n", "line 2: \"nonsense\" is no key=value" },
        { "tvec=3\n", "line 1: tvec: \"3\" is no value it can have" },
        { "link_registers=x2\n", "line 1: link_registers: \"x2\" is no value it can have" },
        { "sijump_p=2\n", "line 1: sijump_p: \"2\" is no number from 0 to 1" },
        { "<a><b></a>", "ipxact, line 1: an element ends that did not begin" },
        { "<a>\n<!-- ", "ipxact, line 2: the text ends inside a comment or declaration" },
        { "<a", "ipxact, line 1: a tag without an end" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_etrace_config config;
        struct tw_fault fault = { TW_OK, "" };

        CHECK_CASE(bad[i].text);
        tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
        CHECK_EQ(tw_etrace_config_read(&config, bad[i].text, &fault), TW_E_CONFIG);
        CHECK_TEXT(fault.text, bad[i].fault);
    }
}

/* The largest number that a key may have is taken, the next is not. */
static void numbers_have_limits(void **state)
{
    static const struct {
        const char *key;
        unsigned most;
    } rows[] = {
        { "iaddress_lsb_p", 2 },   { "data_compress", 3 },  { "srcid_bits", 16 },
        { "type_bits", 8 },        { "block_size", 32768 }, { "id", 0x6f },
        { "timestamp_bytes", 8 },  { "starts_inside", 1 },  { "iretire_width_p", 128 },
        { "impdef_width_p", 128 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (unsigned more = 0; more < 2; more++) {
            struct tw_fault fault = { TW_OK, "" };
            struct tw_etrace_config config;
            char text[80], want[120];

            (void)snprintf(text, sizeof text, "%s=%u\n", rows[i].key, rows[i].most + more);
            (void)snprintf(want, sizeof want, "line 1: %s: \"%u\" is no number from 0 to %u",
                           rows[i].key, rows[i].most + more, rows[i].most);
            CHECK_CASE(text);
            tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
            CHECK_EQ(tw_etrace_config_read(&config, text, &fault), more ? TW_E_CONFIG : TW_OK);
            CHECK_TEXT(fault.text, more ? want : "");
        }
}

/* [RVT 9/1] */
static void needs_a_layout_and_sane_widths(void **state)
{
    struct tw_etrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_E_CONFIG);
    CHECK_TEXT(fault.text, "no layout: say layout=seed, layout=v2 or layout=v2-refpy-quirks");
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_OK);
    config.iaddress_width = 0;
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_E_CONFIG);
    CHECK_TEXT(fault.text, "iaddress_width_p is 0; it must be from 8 to 64");
}

static void takes_bookkeeping_headings_and_own_keys(void **state)
{
    const struct tw_etrace_config config =
        read_config("# made by hand\n[required]\nlayout = seed\nprogram=x\nexpected=pcs\n"
                    "grade=A\nx_mine=anything\r\n[codec]\nfull-address=true\nresync-max=4\n"
                    "resync_packets=off,tvec=1:ffffffc000001dac,3:80000080\njvt=800000c0\n"
                    "link_registers=x1,x5\nioptions=jump_target_cache,branch_prediction\n");

    (void)state;
    CHECK_EQ(config.layout, TW_ETRACE_LAYOUT_SEED);
    CHECK_EQ(config.options, TW_ETRACE_FULL_ADDRESS);
    CHECK_EQ(config.tvec_mask, 0xa);
    CHECK_EQ(config.tvec[1], 0xffffffc000001dacu);
    CHECK_EQ(config.tvec[3], 0x80000080u);
    CHECK_EQ(config.jvt, 0x800000c0u);
    CHECK_EQ(config.resync_packets, 0);
    CHECK_EQ(config.ioption_order[1], TW_ETRACE_BRANCH_PREDICTION);
    CHECK_EQ(config.privilege_width, 3); /* the draft's default */
}

/* [RVT 9.2/1] [RVT T9.2/1] [RVT T9.3/1] [RVT T9.4/1] */
static void both_forms_say_the_same(void **state)
{
    static const char text[] =
        "layout=v2\nencapsulation=smi\nkind=data\nbpred_size_p=4\ncache_size_p=5\n"
        "call_counter_size_p=9\ncontext_width_p=40\nnocontext_p=0\niaddress_width_p=64\n"
        "iaddress_lsb_p=2\nsijump_p=1\ntvec=1:1234\njvt=4000\nlink_registers=x1\n"
        "ecall_retires=1\nsrcid=7\nsrcid_bits=6\ntype_bits=2\nfilters_p=3\nresync_packets=16\n";
    const struct tw_etrace_config config = read_config(text);
    char lines[16384], *xml = malloc(65536);
    struct tw_etrace_config again, other;
    char first[16384], second[16384];
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    CHECK(xml != NULL);
    CHECK(tw_etrace_config_text(lines, sizeof lines, &config) > 500);
    again = read_config(lines);
    CHECK(tw_etrace_config_text(first, sizeof first, &again) > 0);
    CHECK_TEXT(first, lines);
    CHECK(tw_etrace_config_ipxact(xml, 65536, &config) > 5000);
    tw_etrace_config_init(&other, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_read(&other, xml, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    CHECK(tw_etrace_config_text(second, sizeof second, &other) > 0);
    CHECK_TEXT(second, lines);
    free(xml);
}

/* [RVT 9.2/1] */
static void registers_of_a_component(void **state)
{
    static const char text[] =
        "layout=seed\n<?xml version=\"1.0\"?>\n<ipxact:component a='>'><!-- < -->\n"
        "<ipxact:register><ipxact:name>discovery_info_0</ipxact:name>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>'h0001_2000</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets>\n"
        "<ipxact:field><ipxact:name>bpred_size</ipxact:name>\n"
        "<ipxact:bitOffset>12</ipxact:bitOffset><ipxact:bitWidth>4</ipxact:bitWidth>\n"
        "</ipxact:field>\n"
        "<ipxact:field><ipxact:name> cache_size </ipxact:name>\n"
        "<ipxact:bitOffset>16</ipxact:bitOffset><ipxact:bitWidth>4</ipxact:bitWidth>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>7</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets></ipxact:field>\n"
        "<ipxact:field><ipxact:name>not_ours</ipxact:name></ipxact:field>\n"
        "</ipxact:register>\n"
        "<ipxact:register><ipxact:field><ipxact:name>iaddress_width</ipxact:name>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>63</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets></ipxact:field>\n"
        "<ipxact:field><ipxact:name>sijump</ipxact:name></ipxact:field></ipxact:register>\n"
        "</ipxact:component>\n";
    const struct tw_etrace_config config = read_config(text);

    (void)state;
    CHECK_EQ(config.bpred_size, 2);
    CHECK_EQ(config.cache_size, 7);
    CHECK_EQ(config.iaddress_width, 64); /* stored less one */
    CHECK_EQ(config.options, 0);
}

static void damaged_components_are_refused_or_read(void **state)
{
    const struct tw_etrace_config config = read_config("layout=v2");
    struct check_random random = check_random_start(0x2022);
    char *xml = malloc(65536), *damaged = malloc(65536);
    size_t size;

    (void)state;
    CHECK(xml != NULL && damaged != NULL);
    size = tw_etrace_config_ipxact(xml, 65536, &config);
    for (size_t i = 0, rounds = check_scale(2000); i < rounds; i++) {
        struct tw_etrace_config out;
        struct tw_fault fault;
        const size_t kept = (size_t)check_random_below(&random, size) + 1;

        memcpy(damaged, xml, kept);
        for (unsigned k = 0; k < 4; k++)
            damaged[check_random_below(&random, kept)] =
                "<>/'\"=5x\n-"[check_random_below(&random, 10)];
        damaged[kept] = 0;
        tw_etrace_config_init(&out, TW_ETRACE_LAYOUT_V2);
        CHECK(tw_etrace_config_read(&out, damaged, &fault) <= TW_OK);
    }
    free(xml);
    free(damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(needs_a_layout_and_sane_widths),
        cmocka_unit_test(takes_bookkeeping_headings_and_own_keys),
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(registers_of_a_component),
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(damaged_components_are_refused_or_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
