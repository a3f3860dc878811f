/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts for the Trace Buffer Unit: commands, output, expectations, bad lines. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

struct bench {
    char out[8192];
    size_t size;
    uint8_t saved[256];
    size_t saved_size;
    unsigned taken;
};

static void put_line(void *context, const char *text, size_t size)
{
    struct bench *bench = context;

    CHECK(bench->size + size + 2 < sizeof bench->out);
    memcpy(bench->out + bench->size, text, size);
    bench->size += size;
    bench->out[bench->size++] = '\n';
    bench->out[bench->size] = 0;
}

static bool load(void *context, const char *name, const uint8_t **bytes, size_t *size)
{
    static const uint8_t file[] = { 1, 2, 3, 4, 5 };

    (void)context;
    *bytes = file;
    *size = sizeof file;
    return strcmp(name, "trace.bin") == 0;
}

static bool save(void *context, const char *name, const uint8_t *bytes, size_t size)
{
    struct bench *bench = context;

    CHECK_TEXT(name, "out.bin");
    CHECK(size <= sizeof bench->saved);
    memcpy(bench->saved, bytes, size);
    bench->saved_size = size;
    return true;
}

static size_t take(void *context, uint8_t *bytes, size_t room, bool *is_trigger)
{
    struct bench *bench = context;
    const size_t size = room < 10 ? room : 10;

    if (bench->taken == 3)
        return 0;
    bench->taken++;
    *is_trigger = bench->taken == 2;
    memset(bytes, (int)bench->taken, size);
    return size;
}

static enum tw_status run(struct bench *bench, struct tw_sim_result *result,
                          struct tw_fault *fault, const char *script, bool is_json)
{
    const struct tw_sim_config config = {
        .size = sizeof config,
        .is_json = is_json,
        .limit = 1 << 20,
        .source = { bench, take, NULL },
        .context = bench,
        .line = put_line,
        .load = load,
        .save = save,
    };
    char *tight = (char *)check_copy(script, strlen(script));
    enum tw_status status;

    memset(bench, 0, sizeof *bench);
    memset(fault, 0, sizeof *fault);
    status = tw_sim_run(result, fault, tight, strlen(script), &config);
    free(tight);
    return status;
}

#define START                                                                                  \
    "memory 0x10000 0x4000\n"                                                                  \
    "TRBBASER = 0x10000\nTRBPTR_EL1 = 0x10000\nisb\n"
#define ENABLE(modes) "TRBLIMITR = " modes "\nisb\n"

/* clang-format off */
static const struct {
    const char *name, *script, *want;
} scripts[] = {
    { "fill to the brim", START ENABLE("0x11001") "fill 0x1003\nexpect TRBPTR 0x10000\nexpect TRBSR.BSC 1\nexpect irq 1\nexpect discarded 3\nexpect stopped 1\n",
      "7: event TRB_WRAP 0x400c after 4096 bytes, TRBPTR_EL1 0x10000\n"
      "7: event STOP 0x520001 after 4096 bytes, TRBPTR_EL1 0x10000\n"
      "7: event TRBIRQ 0x1 after 4096 bytes, TRBPTR_EL1 0x10000\n" },
    { "fields and modes", START "TRBLIMITR.FM = circular\nTRBLIMITR.TM = ignore\nTRBLIMITR.LIMIT = 0x12\nread TRBLIMITR\n",
      "8: TRBLIMITR_EL1 0x1201e LIMIT=0x12 TM=0x3 FM=0x3\n" },
    { "watermark by wrap", "memory 0x10000 0x2000\nwatermark wrap 0x10000 0x12000 0x600\nfill 0x5ff\nexpect irq 0\nfill 1\nexpect irq 1\nexpect running 1\nexpect TRBPTR 0x10000\n",
      "5: event TRB_WRAP 0x400c after 1536 bytes, TRBPTR_EL1 0x10000\n5: event TRBIRQ 0x1 after 1536 bytes, TRBPTR_EL1 0x10000\n" },
    { "watermark by trigger", "memory 0x10000 0x2000\nwatermark trigger 0x10000 0x12000 0x1800\nfill 0x17ff\nexpect irq 0\nfill 1\nexpect irq 1\nexpect TRBPTR 0x11800\n",
      "5: event TRB_TRIG 0x400e after 6144 bytes, TRBPTR_EL1 0x11800\n5: event FLUSH after 6144 bytes, TRBPTR_EL1 0x11800\n"
      "5: event TRBIRQ 0x1 after 6144 bytes, TRBPTR_EL1 0x11800\n" },
    { "what late timing hides", "config timing=late\n" START ENABLE("0x12001") "bytes 0102 03\nexpect TRBPTR 0x10000\nTRFCR_EL1 = 0\nisb\ntsb\nexpect finished 1\nisb\nexpect TRBPTR 0x10003\nexpect written 0\ndsb\nexpect written 3\n",
      "12: event FLUSH after 3 bytes, TRBPTR_EL1 0x10003\n" },
    { "a source, and its trigger", START ENABLE("0x1200b") "source all\nexpect accepted 30\nexpect trigger_events 1\nheld a1a2\nTRFCR_EL1 = 0\nisb\ntsb\nexpect accepted 32\n",
      "7: event DETECTED_TRIGGER after 20 bytes, TRBPTR_EL1 0x10014\n7: event TRB_TRIG 0x400e after 20 bytes, TRBPTR_EL1 0x10014\n"
      "7: event FLUSH after 20 bytes, TRBPTR_EL1 0x10014\n7: event TRBIRQ 0x1 after 20 bytes, TRBPTR_EL1 0x10014\n13: event FLUSH after 30 bytes, TRBPTR_EL1 0x1001e\n" },
    { "drain with padding", START ENABLE("0x12001") "file trace.bin 1 3\ndrain 0x10000 align 8\n", "8: drained 8 bytes: 0203047070707070\n" },
    { "drain to a file", START ENABLE("0x12001") "file trace.bin\ndrain 0x10000 to out.bin\n", "8: drained 5 bytes to out.bin\n" },
    { "through a translation", "memory 0x80000 0x1000\nmap 0x10000 0x80000 0x1000\nTRBBASER = 0x10000\nTRBPTR = 0x10000\nisb\n" ENABLE("0x11001") "bytes aabb\ndrain 0x10000\n",
      "9: drained 2 bytes: aabb\n" },
    { "a fault", START ENABLE("0x12001") "fault 0x10002 0x24 0x07\nbytes 010203\nexpect TRBSR.EC 0x24\nexpect TRBSR.FSC 7\nexpect TRBPTR 0x10002\n",
      "8: event STOP 0x90420007 after 2 bytes, TRBPTR_EL1 0x10002\n8: event TRBIRQ 0x1 after 2 bytes, TRBPTR_EL1 0x10002\n" },
    { "no memory is an abort", "TRBBASER = 0\nTRBPTR = 0\nisb\n" ENABLE("0x1001") "bytes 01\nexpect TRBSR.EA 1\n",
      "6: event STOP 0x90460010 after 0 bytes, TRBPTR_EL1 0x0\n6: event TRBIRQ 0x1 after 0 bytes, TRBPTR_EL1 0x0\n" },
    { "a register that traps", "config features=el2\nMDCR_EL2 = 0\nisb\nTRBTRG = 1\n", "2: MDCR_EL2 is UNDEFINED here\n4: TRBTRG_EL1 traps to EL2\n" },
    { "what does not hold", "expect TRBTRG 5\n", "1: failed: TRBTRG is 0x0, expected 0x5\n" },
};

static const struct { const char *script, *said; } bad[] = {
    { "frob\n", "line 1: \"frob\" is no command and no register" },
    { "\n\nTRBPTR_EL1 = zz\n", "line 3: \"zz\" is no number" },
    { "memory 0 0\n", "no such memory" },
    { "memory 0 0x10000000\n", "asks for more than" },
    { "config align=12\n", "config has no align=12" },
    { "config features=el9\n", "no feature \"el9\"" },
    { "config features=mpam\nisb\n", "configured so" },
    { "isb\nconfig align=1\n", "comes before" },
    { "TRBLIMITR.FM = 9\n", "does not fit" },
    { "TRBLIMITR.XX = 1\n", "no command and no register" },
    { "bytes 0g\n", "no row of bytes" },
    { "bytes 012\n", "no row of bytes" },
    { "file gone.bin\n", "cannot be read" },
    { "exception EL4\n", "EL0 to EL3" },
    { "watermark wrap 0 0x1000 0\n", "does not fit" },
    { "watermark\n", "wrap or trigger" },
    { "external 0\n", "refused" },
    { "expect luck 1\n", "no \"luck\" to expect" },
    { "fill 99999999999\n", "asks for more than" },
    { "fill 18446744073709551616\n", "is no number" },
};
/* clang-format on */

static void scripts_do_what_they_say(void **state)
{
    static struct bench bench;

    (void)state;
    for (size_t i = 0; i < LENGTH(scripts); i++) {
        struct tw_sim_result result;
        struct tw_fault fault;

        CHECK_CASE(scripts[i].name);
        if (run(&bench, &result, &fault, scripts[i].script, false) != TW_OK)
            CHECK_TEXT(fault.text, "");
        CHECK_TEXT(bench.out, scripts[i].want);
        CHECK_EQ(result.failed, strstr(scripts[i].want, "failed") != NULL);
    }
}

static void bad_lines_are_named(void **state)
{
    static struct bench bench;

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_sim_result result;
        struct tw_fault fault;

        CHECK_CASE(bad[i].script);
        CHECK_EQ(run(&bench, &result, &fault, bad[i].script, false), TW_E_ARGUMENT);
        if (!strstr(fault.text, bad[i].said))
            CHECK_TEXT(fault.text, bad[i].said);
    }
}

static void lines_as_json(void **state)
{
    static struct bench bench;
    struct tw_sim_result result;
    struct tw_fault fault;

    (void)state;
    CHECK_EQ(run(&bench, &result, &fault,
                 START ENABLE("0x11001") "fill 0x1000\nread TRBSR\nexpect irq 0\n", true),
             TW_OK);
    CHECK_TEXT(
        bench.out,
        "{\"line\":7,\"t\":\"EVENT\",\"name\":\"TRB_WRAP\",\"value\":\"0x400c\","
        "\"accepted\":4096,\"ptr\":\"0x10000\"}\n"
        "{\"line\":7,\"t\":\"EVENT\",\"name\":\"STOP\",\"value\":\"0x520001\","
        "\"accepted\":4096,\"ptr\":\"0x10000\"}\n"
        "{\"line\":7,\"t\":\"EVENT\",\"name\":\"TRBIRQ\",\"value\":\"0x1\","
        "\"accepted\":4096,\"ptr\":\"0x10000\"}\n"
        "{\"line\":8,\"t\":\"REGISTER\",\"name\":\"TRBSR_EL1\",\"value\":\"0x520001\"}\n"
        "{\"line\":9,\"t\":\"FAILED\",\"what\":\"irq\",\"got\":\"0x1\",\"want\":\"0x0\"}\n");
    CHECK_EQ(result.expected, 1);
    CHECK_EQ(result.failed, 1);
    CHECK_EQ(result.lines, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_do_what_they_say),
        cmocka_unit_test(bad_lines_are_named),
        cmocka_unit_test(lines_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
