/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages on their way through the components of the Trace Control Interface: losses, stops, triggers,
   lines of one wire, calibration. */
#include "trsim/test.h"

#include <stdio.h>

#include "base/text.h"

enum { JUMPS = 1000 };

/* Indirect jumps between two places: a message for each. */
static char *jumps(void)
{
    static char text[32768];
    struct tw_text out = tw_text_in(text, sizeof text);

    tw_text_add(&out, "itype,iaddr,iretire,ilastsize,priv\n");
    for (unsigned i = 0; i < JUMPS; i++)
        tw_text_format(&out, "10,%x,2,1,0\n", i % 2 ? 0x2000 : 0x1000);
    return text;
}

static struct sim_run *new_run(void)
{
    struct sim_run *run = calloc(1, sizeof *run);
    char *log = jumps();

    CHECK(run != NULL);
    run->files[run->file_count++] =
        (struct sim_file){ .name = "log", .bytes = (uint8_t *)log, .size = strlen(log) };
    return run;
}

#define DEFAULTS                                                                               \
    "te0.trTeInstFeatures = 0\nte0.trTeInstFilters = 0\nte0.trTeDataControl = 0\n"             \
    "te0.trTeDataFilters = 0\nte0.trTsControl = 0\nte0.trTeTrigDbgControl = 0\n"               \
    "te0.trTeTrigExtInControl = 0\nte0.trTeTrigExtOutControl = 0\n"
#define TE_ON(control)                                                                         \
    "te0.trTeControl = " control "\nte0.trTeEnable = 1\npoll te0.trTeEnable == 1\n"            \
    "te0.trTeInstTracing = 1\n"
#define TE_OFF "te0.trTeEnable = 0\npoll te0.trTeEnable == 0\npoll te0.trTeEmpty == 1\n"
#define RAM(control)                                                                           \
    "memory 0x1000 0x10000\ncomponent ram0 ram\ncomponent te0 encoder feeds ram0\n"            \
    "log te0 log\ntrRamActive = 1\npoll trRamActive == 1\ntrRamControl = " control "\n"        \
    "trRamStartLow = 0x1000\ntrRamLimitLow = 0x10fc\ntrRamWPLow = 0x1000\ntrRamWPHigh = 0\n"   \
    "trRamEnable = 1\npoll trRamEnable == 1\nte0.trTeActive = 1\n"                             \
    "poll te0.trTeActive == 1\n" DEFAULTS
#define RAM_OFF "trRamEnable = 0\npoll trRamEnable == 0\npoll trRamEmpty == 1\n"
#define PIB(control)                                                                           \
    "component pib0 pib\ncomponent te0 encoder feeds pib0\nlog te0 log\ntrPibActive = 1\n"     \
    "poll trPibActive == 1\ntrPibControl = " control "\nprobe start\ntrPibEnable = 1\n"        \
    "poll trPibEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == 1\n" DEFAULTS
#define PIB_OFF                                                                                \
    "poll trPibEmpty == 1\ntrPibEnable = 0\npoll trPibEnable == 0\npoll trPibEmpty == 1\n"     \
    "probe stop\n"

/* Scripts whose every expectation holds, and what they must print. */
static const struct {
    const char *name, *script, *has[4];
    uint64_t told; /* digest of all that is printed */
} flows[] = {
    { "a buffer stops at its end",
      RAM("0x111") TE_ON("0x01110061") "run\n" TE_OFF
                                       "expect trRamEnable 0\nexpect trRamWrap 1\n"
                                       "expect trRamWPLow 0x1001\nexpect ram0.wraps 1\n",
      { "event WRAP of ram0", "event STOPPED of ram0" },
      0xb9c061d72e99d417 },
    { "a buffer wraps, and wraps again",
      RAM("0x11")
          TE_ON("0x01110061") "run until wrap\nexpect ram0.wraps 1\nrun\n" TE_OFF RAM_OFF
                              "expect trRamWrap 1\nwrite trRamWPLow 0x1000\n"
                              "expect trRamWrap 0\ndrain ram0\n",
      { "0 bytes: " },
      0xd7d6b271ae1f7ec7 },
    { "words are filled up",
      "memory 0x1000 0x100\ncomponent ram0 ram\nset ram0 word=64\ncomponent te0 encoder feeds "
      "ram0\nlog te0 log\ntrRamActive = 1\npoll trRamActive == 1\ntrRamControl = 0x11\n"
      "trRamStartLow = 0x1000\ntrRamLimitLow = 0x10fc\ntrRamWPLow = 0x1000\n"
      "trRamEnable = 1\npoll trRamEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == "
      "1\n" DEFAULTS TE_ON(
          "0x01110061") "run 2\n" TE_OFF
                        "expect trRamEmpty 0\nexpect trRamWPLow 0x1000\n" RAM_OFF
                        "expect trRamWPLow 0x1040\n"
                        "drain ram0\n",
      { "64 bytes: 24", "ffffffffffffffff" },
      0xe47b51241ba845fc },
    { "the sink's own memory, through its window",
      "component ram0 ram\nset ram0 sram=256 smem=0\ncomponent te0 encoder feeds ram0\nlog te0 "
      "log\ntrRamActive = 1\npoll trRamActive == 1\ntrRamControl = 1\ntrRamStartLow = 0\n"
      "trRamLimitLow = 0xfc\ntrRamWPLow = 0\ntrRamEnable = 1\npoll trRamEnable == 1\n"
      "te0.trTeActive = 1\npoll te0.trTeActive == 1\n" DEFAULTS TE_ON(
          "0x01110061") "run 3\n" TE_OFF RAM_OFF "trRamRPLow = 0\nread trRamData -> "
                        "0x83001524\nexpect trRamRPLow 4\ntrRamRPLow = 0xfc\nread "
                        "trRamData\nexpect trRamRPLow 0\n",
      { "ram0.trRamData 0x83001524" },
      0x46dadb243542b7d5 },
    { "no memory where the pointer points",
      RAM("0x11") "trRamEnable = 0\npoll trRamEnable == 0\npoll trRamEmpty == 1\ntrRamWPLow = "
                  "0x100000\ntrRamEnable = 1\npoll trRamEnable == 1\n" TE_ON(
                      "0x01110061") "run 9\n" TE_OFF RAM_OFF,
      { "event FAULT of ram0" },
      0x717dc03d8c8e05bb },
    { "what is behind is not enabled",
      "component ram0 ram\ncomponent te0 encoder feeds ram0\nlog te0 log\nte0.trTeActive = "
      "1\npoll te0.trTeActive == 1\n" DEFAULTS "te0.trTeControl = 0x01110065\nte0.trTeEnable = "
      "1\npoll te0.trTeEnable == 1\nrun\nexpect te0.trTeEmpty 0\nexpect te0.lost 3553\n",
      { "TC3", "event LOST of te0" },
      0xb72ad202690b86fd },
    { "a funnel that passes an input over",
      "memory 0x1000 0x10000\ncomponent ram0 ram\ncomponent f0 funnel feeds ram0\ncomponent "
      "te0 "
      "encoder feeds f0\nlog te0 log\ntrRamActive = 1\npoll trRamActive == 1\ntrRamControl = "
      "0x11\ntrRamStartLow = 0x1000\ntrRamLimitLow = 0x1ffc\ntrRamWPLow = 0x1000\ntrRamEnable "
      "= 1\npoll trRamEnable == 1\ntrFunnelActive = 1\npoll trFunnelActive == "
      "1\ntrFunnelDisInput = 1\ntrFunnelTsControl = 0\ntrFunnelEnable = 1\npoll "
      "trFunnelEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == 1\n" DEFAULTS TE_ON(
          "0x01110061") "run\n" TE_OFF "expect f0.messages 0\nexpect ram0.bytes 0\n"
                        "expect trFunnelEmpty 1\n",
      { NULL },
      0x236152d309d308b4 },
    { "pins too slow for the trace lose some of it",
      "component pib0 pib\ncomponent te0 encoder feeds pib0\nset te0 fifo=80\nlog te0 log\n"
      "trPibActive = 1\npoll trPibActive == 1\ntrPibControl = 0x00030081\nprobe start\n"
      "trPibEnable = 1\npoll trPibEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == "
      "1\n" DEFAULTS TE_ON(
          "0x01110061") "run\nexpect te0.trTeInstStallOrOverflow 1\n"
                        "te0.trTeInstStallOrOverflow = 1\n"
                        "expect te0.trTeInstStallOrOverflow 0\n" TE_OFF PIB_OFF,
      { "event OVERFLOW of te0" },
      0xda9b9ab7b7d21911 },
    { "or the hart waits",
      "component pib0 pib\ncomponent te0 encoder feeds pib0\nset te0 fifo=80\nlog te0 log\n"
      "trPibActive = 1\npoll trPibActive == 1\ntrPibControl = 0x00030081\nprobe start\n"
      "trPibEnable = 1\npoll trPibEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == "
      "1\n" DEFAULTS TE_ON(
          "0x01112061") "run\nexpect te0.trTeInstStallOrOverflow 1\n" TE_OFF PIB_OFF,
      { "event STALL of te0" },
      0x737d076123ba1e7c },
    { "triggers start and stop tracing",
      RAM("0x11") "te0.trTeTrigExtInControl = 0x32\nte0.trTeTrigExtOutControl = 0x3\n"
                  "te0.trTeControl = 0x01110861\nte0.trTeEnable = 1\npoll te0.trTeEnable == 1\n"
                  "run 5\nexpect te0.messages 0\nexternal te0 0\nrun 5\n"
                  "expect te0.trTeInstTracing 1\nexternal te0 1\nrun 5\n"
                  "expect te0.trTeInstTracing 0\ntrigger te0 on\nrun 2\n"
                  "expect te0.trTeInstTracing 1\ntrigger te0 off\nrun 2\n"
                  "expect te0.trTeInstTracing 0\n" TE_OFF RAM_OFF,
      { "event EXTERNAL_OUTPUT of te0", "output 0: tracing started",
        "output 0: tracing stopped" },
      0x8cab9c09007aa654 },
    { "triggers that may not do nothing",
      RAM("0x11") "te0.trTeTrigExtInControl = 0x2\n" TE_ON(
          "0x01110061") "trigger te0 off\nrun 3\nexpect te0.trTeInstTracing 1\n" TE_OFF RAM_OFF,
      { NULL },
      0x28283b2ed847b137 },
    { "a notification is a synchronization",
      RAM("0x11") "te0.trTeTrigExtInControl = 0x4\n" TE_ON(
          "0x01110061") "run 3\ntrigger te0 notify\nrun 3\nexternal te0 0\nrun 3\n" TE_OFF
          RAM_OFF "drain ram0\n",
      { " bytes: " },
      0xb9c7f5824ab58cb0 },
    { "a hart that halts, sleeps, is reset",
      RAM("0x11")
          TE_ON("0x01110061") "run 3\nhart te0 halted\nrun 1\nhart te0 resumed\nrun 3\n"
                              "hart te0 asleep\nrun 1\nhart te0 awake\nrun 3\n"
                              "hart te0 reset\nrun 1\nhart te0 released\nrun 3\n" TE_OFF RAM_OFF
                              "expect misuses 0\ndrain ram0\n",
      { " bytes: " },
      0xd76a99d93b761911 },
    { "calibration instead of trace",
      PIB("0x281") TE_ON("0x01110061") "run 2\n" TE_OFF "tick 1\n"
                                       "pins pib0\n",
      { "aa5500ffaa5500ff" },
      0x9c95e70914265a93 },
    { "calibration of two pins",
      PIB("0x291") "tick 1\npins pib0\n",
      { "6666cc336666cc33" },
      0x66cab7080b7580a0 },
    { "calibration of four pins",
      PIB("0x2a1") "tick 1\npins pib0\n",
      { "5a5af00f5a5af00f" },
      0xdb84b4ce8359395f },
    { "calibration of sixteen pins",
      PIB("0x2c1") "tick 1\npins pib0\n",
      { "aaaa55550000ffffaaaa5555" },
      0x42f45b0bba2697e },
    { "frames of an ATB",
      "component atb0 atb\ncomponent te0 encoder feeds atb0\nlog te0 log\ntrAtbBridgeActive = "
      "1\npoll trAtbBridgeActive == 1\ntrAtbBridgeID = 5\ntrAtbBridgeEnable = 1\npoll "
      "trAtbBridgeEnable == 1\nte0.trTeActive = 1\npoll te0.trTeActive == 1\n" DEFAULTS TE_ON(
          "0x01110061") "run 4\n" TE_OFF "frames\n",
      { "32 bytes: 0b24" },
      0xad7b04f692118c2d },
};

/* FNV-1a. */
static uint64_t digest(const char *text)
{
    uint64_t value = 0xcbf29ce484222325;

    for (; *text; text++)
        value = (value ^ (uint8_t)*text) * 0x100000001b3;
    return value;
}

static void flows_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(flows); i++) {
        struct sim_run *run = new_run();

        check_case("%s", flows[i].name);
        if (run_script(run, flows[i].script, NULL, false) != TW_OK)
            CHECK_TEXT(run->fault.text, "");
        if (run->result.failed)
            CHECK_TEXT(run->out, "");
        for (size_t k = 0; k < LENGTH(flows[i].has) && flows[i].has[k]; k++)
            if (!strstr(run->out, flows[i].has[k]))
                CHECK_TEXT(run->out, flows[i].has[k]);
        if (digest(run->out) != flows[i].told)
            fail_msg("%s: other output than before (0x%llx):\n%s", flows[i].name,
                     (unsigned long long)digest(run->out), run->out);
        end_scripts(run);
        free(run);
    }
}

/* Bit i of trFunnelDisInput is the funnel's i-th input, and no other. */
static void a_funnel_passes_over_the_inputs_that_are_named(void **state)
{
    (void)state;
    for (unsigned traced = 0; traced < 3; traced++)
        for (unsigned passed_over = 0; passed_over < 3; passed_over++) {
            struct sim_run *run = new_run();
            char script[2000];
            struct tw_text text = tw_text_in(script, sizeof script);

            check_case("te%u is traced, input %u is passed over", traced, passed_over);
            tw_text_format(
                &text,
                "memory 0x1000 0x10000\ncomponent ram0 ram\ncomponent f0 funnel feeds ram0\n"
                "component te0 encoder feeds f0\ncomponent te1 encoder feeds f0\n"
                "component te2 encoder feeds f0\nlog te%u log\ntrRamActive = 1\n"
                "poll trRamActive == 1\ntrRamControl = 0x11\ntrRamStartLow = 0x1000\n"
                "trRamLimitLow = 0x8ffc\ntrRamWPLow = 0x1000\ntrRamEnable = 1\n"
                "poll trRamEnable == 1\ntrFunnelActive = 1\npoll trFunnelActive == 1\n"
                "trFunnelDisInput = %u\ntrFunnelEnable = 1\npoll trFunnelEnable == 1\n",
                traced, 1u << passed_over);
            tw_text_format(&text,
                           "te%u.trTeActive = 1\npoll te%u.trTeActive == 1\n"
                           "te%u.trTeInstFeatures = 0\nte%u.trTeControl = 0x01110061\n"
                           "te%u.trTeEnable = 1\npoll te%u.trTeEnable == 1\n"
                           "te%u.trTeInstTracing = 1\nrun 100\nte%u.trTeEnable = 0\n"
                           "poll te%u.trTeEnable == 0\npoll te%u.trTeEmpty == 1\n%s",
                           traced, traced, traced, traced, traced, traced, traced, traced,
                           traced, traced,
                           traced == passed_over ? "expect f0.messages 0\nexpect ram0.bytes 0\n"
                                                 : "expect f0.lost 0\n");
            if (run_script(run, script, NULL, false) != TW_OK)
                CHECK_TEXT(run->fault.text, "");
            if (run->result.failed)
                CHECK_TEXT(run->out, "");
            end_scripts(run);
            free(run);
        }
}

/* ---- one wire ---- */

static unsigned level(const struct sim_file *pins, size_t at)
{
    return (unsigned)pins->bytes[at / 8] >> at % 8 & 1u;
}

/* UART: idle high, start 0, eight bits, stop 1. */
static size_t read_uart(const struct sim_file *pins, uint8_t *out)
{
    const size_t end = pins->size * 8;
    size_t count = 0;

    for (size_t at = 0; at + 10 <= end; at++) {
        if (level(pins, at))
            continue;
        out[count] = 0;
        for (unsigned i = 0; i < 8; i++)
            out[count] |= (uint8_t)(level(pins, at + 1 + i) << i);
        CHECK_EQ(level(pins, at + 9), 1);
        count++;
        at += 9;
    }
    return count;
}

/* Manchester: idle low, a message from (1,0) to (0,0), 0 is (0,1), 1 is (1,0). */
static size_t read_manchester(const struct sim_file *pins, uint8_t *out)
{
    const size_t end = pins->size * 8;
    size_t count = 0, at = 0;

    while (at + 2 <= end) {
        unsigned bit = 0;

        if (!level(pins, at)) {
            at++;
            continue;
        }
        CHECK_EQ(level(pins, at + 1), 0);
        for (at += 2; at + 2 <= end && (level(pins, at) || level(pins, at + 1)); at += 2) {
            CHECK(level(pins, at) != level(pins, at + 1));
            if (bit == 0)
                out[count] = 0;
            out[count] |= (uint8_t)(level(pins, at) << bit);
            bit = (bit + 1) % 8;
            count += bit == 0;
        }
        CHECK_EQ(bit, 0);
        at += 2;
    }
    return count;
}

static void one_wire(void **state)
{
    static const char *const scripts[] = {
        PIB("0x51") TE_ON("0x01110061") "run 30\n" TE_OFF PIB_OFF "pins pib0 to pins\n",
        PIB("0x41") TE_ON("0x01110061") "run 30\n" TE_OFF PIB_OFF "pins pib0 to pins\n",
    };
    static const char straight[] =
        RAM("0x11") TE_ON("0x01110061") "run 30\n" TE_OFF RAM_OFF "drain ram0 to bytes\n";
    uint8_t out[4096];

    (void)state;
    for (size_t i = 0; i < LENGTH(scripts); i++) {
        struct sim_run *run = new_run();
        const struct sim_file *bytes;
        size_t size;

        check_case("%s", i ? "Manchester" : "UART");
        CHECK_EQ(run_script(run, straight, NULL, false), TW_OK);
        CHECK_EQ(run_script(run, scripts[i], NULL, false), TW_OK);
        if (run->result.failed || run->result.misuses)
            CHECK_TEXT(run->out, "");
        size = i ? read_manchester(sim_file(run, "pins"), out)
                 : read_uart(sim_file(run, "pins"), out);
        bytes = sim_file(run, "bytes");
        CHECK(size > 50 && size <= bytes->size && bytes->size - size < 4);
        CHECK_BYTES(out, size, bytes->bytes, size);
        end_scripts(run);
        free(run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_hold),
        cmocka_unit_test(a_funnel_passes_over_the_inputs_that_are_named),
        cmocka_unit_test(one_wire),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
