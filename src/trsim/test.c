/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts for the Trace Control Interface: what registers take and give, what is told, bad lines. */
#include "trsim/test.h"

#define TE  "component ram0 ram\ncomponent te0 encoder feeds ram0\ntrTeActive = 1\n"
#define RAM "component ram0 ram\ntrRamActive = 1\npoll trRamActive == 1 timeout\n"
#define PIB "component pib0 pib\ntrPibActive = 1\npoll trPibActive == 1 timeout\n"
#define ATB "component atb0 atb\ntrAtbBridgeActive = 1\npoll trAtbBridgeActive == 1 timeout\n"
#define FUN                                                                                    \
    "component ram0 ram\ncomponent f0 funnel feeds ram0\ntrFunnelActive = 1\n"                 \
    "poll trFunnelActive == 1 timeout\n"

/* Scripts whose every expectation holds. */
static const struct {
    const char *name, *script;
} good[] = {
    { "nothing", "# a comment\n\n" },
    { "reset and release",
      "component te0 encoder\nexpect trTeActive 0\ntrTeControl = 0x63\nexpect trTeActive 1\n"
      "expect trTeEnable 0\nexpect trTeInstMode 0\ntrTeControl = 0x61\nexpect trTeInstMode 6\n"
      "trTeActive = 0\nexpect trTeActive 0\nexpect trTeInstMode 0\n" },
    { "a write before release does nothing",
      "component te0 encoder\ntrTeInstFeatures = 0x20010000\nexpect trTeInstFeatures 0\n"
      "expect misuses 0\ntrTeActive = 0\npoll trTeActive == 0\ntrTeInstFeatures = 8\n"
      "expect trTeInstFeatures 0\nexpect misuses 1\n" },
    { "levels take their time",
      "component te0 encoder\nset te0 latency=20\ntrTeActive = 1\nexpect trTeActive 0\n"
      "poll trTeActive == 1 timeout 100\nexpect trTeActive 1\ntrTeControl = 0x01000063\n"
      "expect trTeEnable 0\npoll trTeEnable == 1 timeout\ntrTeEnable = 0\nexpect trTeEnable 1\n"
      "poll trTeEnable == 0 timeout\n" },
    { "what registers hold after release is anything",
      "component te0 encoder\nset te0 unknown=0xffffffff\ntrTeActive = 0\ntrTeActive = 1\n"
      "expect trTeActive 1\nexpect trTeEnable 0\nexpect trTeInstFilters 0xffff\n"
      "expect trTeImpl 0x10101\n" },
    { "Impl",
      TE "expect trTeImpl 0x10101\nexpect trRamImpl 0x2901\nset te0 major=1 minor=15 vendor=7\n"
         "expect trTeImpl 0x70101f1\ntrTeImpl = 0\nexpect trTeImpl 0x70101f1\n" },
    { "the mode never falls back to 0",
      TE "trTeControl = 0x01000061\nexpect trTeInstMode 6\ntrTeControl = 0x01000051\n"
         "expect trTeInstMode 6\nset te0 htm=0\ntrTeControl = 0x01000061\n"
         "expect trTeInstMode 3\ntrTeControl = 0x01000001\nexpect trTeInstMode 0\n" },
    { "the format is one that there is",
      TE "trTeFormat = 7\nexpect trTeFormat 1\ntrTeFormat = 0\nexpect trTeFormat 0\n"
         "set te0 formats=1\ntrTeFormat = 1\nexpect trTeFormat 0\n"
         "set te0 formats=2\ntrTeFormat = 0\nexpect trTeFormat 1\n" },
    { "N-Trace alone has no prediction", TE "set te0 formats=2\ntrTeInstFeatures = 0x2001073f\n"
                                            "expect trTeInstFeatures 0x2001070c\n" },
    { "SRC has 12 bits at most",
      TE "trTeSrcBits = 12\nexpect trTeSrcBits 12\ntrTeSrcBits = 13\nexpect trTeSrcBits 12\n"
         "trTeSrcID = 0xfff\nexpect trTeSrcID 0xfff\n" },
    { "registers that are not there",
      TE "legal te0.trTeInstFeatures 0x8\ntrTeInstFeatures = 0xffffffff\n"
         "expect trTeInstFeatures 8\nlegal te0.trTeFilter3Control 0\ntrTeFilter3Control = 1\n"
         "expect trTeFilter3Control 0\ntrTeDataControl = 0xffff\nexpect trTeDataControl 0\n" },
    { "data trace",
      TE "set te0 data=1\ntrTeActive = 0\ntrTeActive = 1\nexpect trTeDataImplemented 1\n"
         "trTeDataNoValue = 1\nexpect trTeDataControl 0x10001\n" },
    { "filters and comparators keep what is written",
      TE "trTeFilter15MatchEcauseHigh = 0x12345678\ntrTeComp7SMatchHigh = 0x9abcdef0\n"
         "expect trTeFilter15MatchEcauseHigh 0x12345678\n"
         "expect trTeComp7SMatchHigh 0x9abcdef0\ntrTeFilter0Control = 0xffffffff\n"
         "expect trTeFilter0Control 0x0301ffff\n" },
    { "a clock of its own",
      TE "trTsControl = 0x23\nexpect trTsCounterLow 1\ntick 9\nexpect trTsCounterLow 10\n"
         "trTsControl = 0x21\ntick 5\nexpect trTsCounterLow 10\ntrTsControl = 0x27\n"
         "expect trTsCounterLow 1\nexpect trTsWidth 40\n" },
    { "a clock that is divided", TE "trTsControl = 0x123\ntick 39\nexpect trTsCounterLow 10\n"
                                    "trTsControl = 0x327\ntick 63\nexpect trTsCounterLow 1\n" },
    { "the core's clock stops with it",
      TE "trTsControl = 0x33\ntick 4\nhart te0 halted\ntick 10\nexpect trTsCounterLow 5\n"
         "trTsRunInDebug = 1\nexpect trTsCounterLow 6\ntick 4\nexpect trTsCounterLow 10\n" },
    { "a clock that is shared",
      FUN "component te0 encoder feeds f0\ntrTeActive = 1\ntrFunnelTsControl = 0x23\n"
          "trTsControl = 0x43\ntick 7\nexpect trTsCounterLow 9\nexpect trFunnelTsCounterLow 9\n"
          "trFunnelActive = 0\nexpect trTsCounterLow 0\n" },
    { "a clock wraps",
      TE "set te0 time-width=4\ntrTsControl = 0x23\ntick 20\nexpect trTsCounterLow 5\n" },
    { "what memory there is",
      RAM "trRamControl = 1\nexpect trRamMode 1\nset ram0 sram=1024\ntrRamControl = 1\n"
          "expect trRamMode 0\nexpect trRamHasSRAM 1\nset ram0 smem=0\ntrRamControl = 0x11\n"
          "expect trRamMode 0\n" },
    { "the range of the sink's own memory",
      RAM "set ram0 sram=4096\ntrRamControl = 1\ntrRamStartLow = 0xffffffff\n"
          "expect trRamStartLow 0xffc\ntrRamStartLow = 0\nexpect trRamStartLow 0\n"
          "trRamLimitLow = 0xffffffff\nread trRamLimitLow -> 0xffc\ntrRamLimitHigh = 1\n"
          "expect trRamLimitHigh 0\ntrRamRPLow = 0xfff\nread trRamRPLow -> 0xffc\n" },
    { "system memory has no read pointer",
      RAM "trRamControl = 0x11\ntrRamStartHigh = 0xff\nexpect trRamStartHigh 0xff\n"
          "trRamRPLow = 0x3ff\nexpect trRamRPLow 0\n" },
    { "MemFormat", RAM "trRamControl = 0x611\nexpect trRamMemFormat 0\n" },
    { "wrap is cleared by writing the pointer",
      RAM "trRamControl = 0x11\nwrite ram0.trRamWPLow 0x1001\nexpect trRamWrap 1\n" },
    { "pins",
      PIB "trPibMode = 7\nexpect trPibMode 0\ntrPibMode = 12\nexpect trPibMode 12\n"
          "trPibMode = 13\nexpect trPibMode 12\ntrPibControl = 0xffff0351\nexpect trPibMode 5\n"
          "expect trPibDivider 0xffff\nexpect trPibClkCenter 1\nexpect trPibCalibrate 1\n" },
    { "IDs of the ATB",
      ATB "trAtbBridgeID = 0x6f\nexpect trAtbBridgeID 0x6f\ntrAtbBridgeID = 0x70\n"
          "expect trAtbBridgeID 0x6f\ntrAtbBridgeID = 0\nexpect trAtbBridgeID 0x6f\n"
          "trAtbBridgeAsyncFreq = 3\nexpect trAtbBridgeAsyncFreq 3\nread trAtbBridgeImpl -> "
          "0x3e01\n" },
    { "inputs of a funnel",
      FUN "trFunnelDisInput = 0xffffffff\nexpect trFunnelDisInput 0xffff\n" },
    { "addresses",
      "component te0 encoder 0x20000000\nwrite 0x20000000 0x1\nread 0x20000004 -> 0x10101\n" },
    { "empty at first", TE "expect trTeEmpty 1\nexpect trRamEmpty 1\n" },
};

static void what_registers_take(void **state)
{
    struct sim_run *run = calloc(1, sizeof *run);

    (void)state;
    CHECK(run != NULL);
    for (size_t i = 0; i < LENGTH(good); i++) {
        check_case("%s", good[i].name);
        for (unsigned is_json = 0; is_json < 2; is_json++) {
            CHECK_EQ(run_script(run, good[i].script, NULL, is_json), TW_OK);
            if (run->result.failed)
                CHECK_TEXT(run->out, "");
        }
    }
    free(run);
}

static const struct {
    const char *script, *message;
} bad[] = {
    { "frob\n", "line 1: \"frob\" is no command and no register" },
    { "component x thing\n", "line 1: \"component\" is no command and no register" },
    { "set te0 fifo=1\n", "line 1: set wants a component and KEY=VALUE" },
    { "component te0 encoder\nset te0 fifo\n", "line 2: \"fifo\" is no KEY=VALUE" },
    { "component te0 encoder\nset te0 sram=64\n",
      "line 2: sram=64 cannot be set of a trace encoder" },
    { "component te0 encoder\nset te0 btm=0 htm=0\n",
      "line 2: htm=0 cannot be set of a trace encoder" },
    { "component r ram\nset r sram=100\n", "line 2: sram=100 cannot be set of a RAM sink" },
    { "component r ram\nset r word=3\n", "line 2: word=3 cannot be set of a RAM sink" },
    { "component r ram\ndrain r\n", "line 2: the buffer of r lies where there is no memory" },
    { "component te0 encoder\ndrain te0\n", "line 2: drain wants a RAM sink" },
    { "component te0 encoder\npins te0\n", "line 2: pins wants a PIB sink" },
    { "component te0 encoder\nlegal te0.trRamWPLow 1\n",
      "line 2: te0 has no register \"trRamWPLow\"" },
    { "component te0 encoder\nrun\n", "line 2: te0 has no log to run" },
    { "component te0 encoder\nlog te0 none\n", "line 2: \"none\" cannot be read" },
    { "component te0 encoder\nlog te0 bad\nrun\n", "line 3: the log of te0: no log of a hart" },
    { "component te0 encoder\ntrigger te0 sideways\n",
      "line 2: a trigger is on, off or notify" },
    { "component te0 encoder\nexternal te0 8\n", "line 2: there are inputs 0 to 7" },
    { "component te0 encoder\nhart te0 bored\n", "line 2: a hart is not \"bored\"" },
    { "component te0 encoder\ntrace te0 mode=9\ntrTeActive = 1\ntrTeControl = 0x01000063\n",
      "line 4: " },
    { "frames\n", "line 1: nothing came out of an ATB bridge" },
    { "expect nothing 1\n", "line 1: there is no \"nothing\" to expect" },
    { "expect now\n", "line 1: expect wants a name and a value" },
    { "expect now soon\n", "line 1: \"soon\" is no number" },
    { "memory 0 0\n", "line 1: there are too many memories, or this one is empty" },
    { "memory 0 0x100000000\n", "line 1: the script asks for more than 268435456 bytes" },
    { ".sequence\n", "line 1: a script is one sequence" },
    { "component te0 encoder\nrun until tea\n", "line 2: run until wants wrap" },
    { "tick 0x20000000\n", "line 1: the script asks for more than" },
};

static void what_is_wrong(void **state)
{
    struct sim_run *run = calloc(1, sizeof *run);

    (void)state;
    CHECK(run != NULL);
    run->files[run->file_count++] =
        (struct sim_file){ .name = "bad", .bytes = (uint8_t *)"hello\n", .size = 6 };
    for (size_t i = 0; i < LENGTH(bad); i++) {
        check_case("%s", bad[i].script);
        CHECK_EQ(run_script(run, bad[i].script, NULL, false), TW_E_ARGUMENT);
        if (strncmp(run->fault.text, bad[i].message, strlen(bad[i].message)) != 0)
            CHECK_TEXT(run->fault.text, bad[i].message);
    }
    free(run);
}

/* Rules that a script breaks are told with their names; an expectation that fails, too. */
static void what_is_told(void **state)
{
    static const struct {
        const char *script, *line;
    } told[] = {
        { TE "trTeControl = 0x01000065\ntrTeEnable = 1\n",
          "5: event MISUSE at 2: TC3: te0 is enabled before ram0, which it feeds\n" },
        { "component te0 encoder\ntrTeActive = 0\npoll trTeActive == 0\ntrTeInstFilters = 1\n",
          "4: event MISUSE at 2: TC1: te0 is not active since line 2\n" },
        { PIB "trPibControl = 0x81\ntrPibEnable = 1\n",
          "5: event MISUSE at 3: TC21: pib0 is enabled before the probe listens\n" },
        { "component te0 encoder\nexpect trTeImpl 1\n",
          "2: failed: trTeImpl is 0x10101, expected 0x1\n" },
        { "component te0 encoder\npoll trTeActive == 1 timeout 10\n",
          "2: failed: trTeActive is 0x0, expected 0x1\n" },
        { "component te0 encoder\nread trTeImpl\n", "2: te0.trTeImpl 0x0\n" },
        { RAM "memory 0x1000 0x100\ntrRamControl = 0x11\ntrRamStartLow = 0x1000\n"
              "trRamLimitLow = 0x10fc\ntrRamWPLow = 0x1000\nbuffer ram0 to x\n",
          "9: drained 256 bytes to x\n" },
    };
    struct sim_run *run = calloc(1, sizeof *run);

    (void)state;
    CHECK(run != NULL);
    for (size_t i = 0; i < LENGTH(told); i++) {
        check_case("%s", told[i].script);
        CHECK_EQ(run_script(run, told[i].script, NULL, false), TW_OK);
        if (!strstr(run->out, told[i].line))
            CHECK_TEXT(run->out, told[i].line);
    }
    end_scripts(run);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_registers_take),
        cmocka_unit_test(what_is_wrong),
        cmocka_unit_test(what_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
