/* SPDX-License-Identifier: BSD-2-Clause */
/* Scripts for the Trace Buffer Unit: commands, output, expectations, bad lines. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/sim.h>

/* Execution logs that scripts name. */
static const struct {
    const char *name, *text;
} logs[] = {
    /* Four branches, an interrupt between them. */
    { "run.log", "trackway-log 1\ncontext el=0\ni 0x1000 14000001\ni 0x1004 14000001\n"
                 "exception irq return=0x1008\ncontext el=1\ni 0x3000 d69f03e0 taken 0x1008\n"
                 "context el=0\ni 0x1008 14000001\ni 0x100c 14000001\n" },
    /* Indirect branches: an address for each. */
    { "long.log", "trackway-log 1\ncontext el=0\n"
                  "i 0x1000 d61f0020 taken 0x90000\ni 0x90000 d61f0020 taken 0x1000\n"
                  "i 0x1000 d61f0020 taken 0x2000\ni 0x2000 d61f0020 taken 0xa0000\n"
                  "i 0xa0000 d61f0020 taken 0x3000\ni 0x3000 d61f0020 taken 0xb0000\n"
                  "i 0xb0000 d61f0020 taken 0x4000\ni 0x4000 d61f0020 taken 0xc0000\n"
                  "i 0xc0000 14000001\ni 0xc0004 14000001\n" },
    /* Software that stops trace by itself. */
    { "stop.log", "trackway-log 1\ncontext el=1\ni 0x1000 14000001\nregister TRFCR_EL1=0\n"
                  "i 0x1004 d5033fdf\ni 0x1008 d503225f\ni 0x100c d5033f9f\n"
                  "i 0x1010 d503201f\nregister TRCPRGCTLR=0\n" },
    { "high.log", "trackway-log 1\ncontext el=2\ni 0 14000001\n" },
    { "secure.log", "trackway-log 1\ncontext el=1 security=secure\ni 0 14000001\n" },
    { "bad.log", "trackway-log 1\ni 0x1000 14000001\nfrob\n" },
    { "certain.log", "trackway-log 1\ni 0x1000 14000001\n\ncancel 1\n" },
    { "odd.log", "trackway-log 1\nregister TRCFOO=1\n" },
    { "no.log", "hello\n" },
    { "rv.log", "trackway-log 1\nisa rv64\ni 0 00000013\n" },
    { "m.log", "trackway-log 1\nprofile m\ni 0 bf00\n" },
    /* The save and restore of K10.5.7.1.3, as the processor executes it. */
    { "save.log",
      "trackway-log 1\ncontext el=0\ni 0x1000 14000001\nexception call return=0x1004\ncontext "
      "el=1\n"
      "register TRFCR_EL1=0\ni 0x3000 d5033fdf\ni 0x3004 d503225f\nregister OSLAR_EL1=1\n"
      "i 0x3008 d5033fdf\nregister TRFCR_EL1=3\n" },
    { "restore.log",
      "trackway-log 1\ncontext el=1\nregister TRCCONFIGR=0x801\nregister TRCVICTLR=0x201\n"
      "register TRCPRGCTLR=1\nregister OSLAR_EL1=0\ni 0x3100 d5033fdf\ni 0x3104 d69f03e0 taken "
      "0x1004\n"
      "context el=0\ni 0x1004 14000001\ni 0x1008 14000001\n" },
};

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
    if (strcmp(name, "trace.bin") == 0)
        return true;
    for (size_t i = 0; i < LENGTH(logs); i++)
        if (strcmp(name, logs[i].name) == 0) {
            *bytes = (const uint8_t *)logs[i].text;
            *size = strlen(logs[i].text);
            return true;
        }
    return false;
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

static bool capture(void *context, const struct tw_sim_capture *capture)
{
    CHECK(capture->is_ete);
    CHECK(capture->unit != NULL);
    return save(context, capture->name, capture->bytes, capture->size);
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
        .capture = capture,
    };
    char *tight = (char *)check_copy(script, strlen(script));
    enum tw_status status;

    memset(bench, 0, sizeof *bench);
    memset(fault, 0, sizeof *fault);
    status = tw_sim_run(result, tight, strlen(script), &config, fault);
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
    { "blocks that are apart", "memory 0x80000 0x1000\nmemory 0x30000 0x1000\nmap 0x10000 0x80000 0x1000\nmap 0x11000 0x30000 0x1000\nTRBBASER = 0x10000\nTRBPTR = 0x10ffe\nisb\n" ENABLE("0x12001") "bytes aabbccdd\nexpect TRBPTR 0x11002\ndrain 0x10ffe\n",
      "12: drained 4 bytes: aabbccdd\n" },
    { "a fault", START ENABLE("0x12001") "fault 0x10002 0x24 0x07\nbytes 010203\nexpect TRBSR.EC 0x24\nexpect TRBSR.FSC 7\nexpect TRBPTR 0x10002\n",
      "8: event STOP 0x90420007 after 2 bytes, TRBPTR_EL1 0x10002\n8: event TRBIRQ 0x1 after 2 bytes, TRBPTR_EL1 0x10002\n" },
    { "no memory is an abort", "TRBBASER = 0\nTRBPTR = 0\nisb\n" ENABLE("0x1001") "bytes 01\nexpect TRBSR.EA 1\n",
      "6: event STOP 0x90460010 after 0 bytes, TRBPTR_EL1 0x0\n6: event TRBIRQ 0x1 after 0 bytes, TRBPTR_EL1 0x0\n" },
    { "a register that traps", "config features=el2\nMDCR_EL2 = 0\nisb\nTRBTRG = 1\n", "2: MDCR_EL2 is UNDEFINED here\n4: TRBTRG_EL1 traps to EL2\n" },
#define UNIT "unit ete at-once=1\nTRCVICTLR = 0x201\nTRCCONFIGR = 1\n"
    { "a log through the trace unit", START ENABLE("0x12001") UNIT "log run.log\nTRCPRGCTLR = 1\nrun 1\nexpect instructions 1\nexpect trace 21\nexpect accepted 21\nrun all\nexpect instructions 5\ndrain 0x10000\n",
      "12: ran 1 instructions, 21 bytes of trace\n16: ran 4 instructions, 16 bytes of trace, to the end of the log\n"
      "18: drained 37 bytes: 0000000000000000000000800100048130958008f7f7061d95028131958018f7813091f7f7\n" },
    { "only EL0 may be traced", START ENABLE("0x12001") UNIT "TRFCR_EL1 = 1\nisb\nlog run.log\nTRCPRGCTLR = 1\nrun\ncapture out.bin 0x10000\n",
      "14: ran 5 instructions, 30 bytes of trace, to the end of the log\n15: drained 30 bytes to out.bin\n" },
    { "nothing may", START ENABLE("0x12001") UNIT "TRFCR_EL1 = 0\nisb\nlog run.log\nTRCPRGCTLR = 1\nrun\nexpect trace 0\nexpect allowed 0\n",
      "14: ran 5 instructions, 0 bytes of trace, to the end of the log\n" },
    { "the unit is not enabled", START ENABLE("0x12001") UNIT "log run.log\nrun\nexpect TRCSTATR 3\nexpect trace 0\n",
      "11: ran 5 instructions, 0 bytes of trace, to the end of the log\n" },
    { "a preset", "preset include 0x1000 0x1004\nread TRCCONFIGR\nexpect TRCVIIECTLR 1\nexpect TRCACVR1 0x1004\nexpect trcvictlr 0x6f0201\n",
      "2: TRCCONFIGR 0x18c1\n" },
    { "a wrap is an event of the trace unit", START "TRBPTR = 0x11fe0\nisb\n" ENABLE("0x1201b") UNIT "TRCEXTINSELR0 = 0x400c\nTRCRSCTLR2 = 1\nTRCEVENTCTL0R = 2\nTRCEVENTCTL1R = 0x2001\nlog long.log\nTRCPRGCTLR = 1\nrun\n",
      "18: event TRB_WRAP 0x400c after 32 bytes, TRBPTR_EL1 0x10000\n18: event TRBIRQ 0x1 after 32 bytes, TRBPTR_EL1 0x10000\n"
      "18: event TRCEXTOUT0 0x4010 after 40 bytes, TRBPTR_EL1 0x10008\n18: event DETECTED_TRIGGER after 40 bytes, TRBPTR_EL1 0x10008\n"
      "18: event TRB_TRIG 0x400e after 40 bytes, TRBPTR_EL1 0x10008\n18: ran 10 instructions, 65 bytes of trace, to the end of the log\n" },
    { "a trigger from the trace unit stops the buffer", START ENABLE("0x12001") UNIT "TRCACVR0 = 0xa0000\nTRCRSCTLR2 = 0x40001\nTRCEVENTCTL0R = 2\nlog long.log\nTRCPRGCTLR = 1\nrun until stopped\nexpect instructions 5\nexpect TRBSR.BSC 2\nexpect discarded 0\nrun all\nexpect accepted 39\n",
      "15: event DETECTED_TRIGGER after 39 bytes, TRBPTR_EL1 0x10027\n15: event TRB_TRIG 0x400e after 39 bytes, TRBPTR_EL1 0x10027\n"
      "15: event FLUSH after 39 bytes, TRBPTR_EL1 0x10027\n15: event STOP 0x620002 after 39 bytes, TRBPTR_EL1 0x10027\n15: event TRBIRQ 0x1 after 39 bytes, TRBPTR_EL1 0x10027\n"
      "15: ran 5 instructions, 39 bytes of trace\n19: ran 5 instructions, 25 bytes of trace, to the end of the log\n" },
    { "a flush in the middle of what is offered", START "TRBTRG = 23\nTRBSR.TRG = 1\nisb\n" ENABLE("0x1200f") "unit ete\nTRCVICTLR = 0x201\nTRCCONFIGR = 1\nlog run.log\nTRCPRGCTLR = 1\nrun\nTRCPRGCTLR = 0\ndrain 0x10000\n",
      "15: event TRB_TRIG 0x400e after 23 bytes, TRBPTR_EL1 0x10017\n15: event FLUSH after 23 bytes, TRBPTR_EL1 0x10017\n15: event TRBIRQ 0x1 after 25 bytes, TRBPTR_EL1 0x10019\n"
      "15: ran 5 instructions, 34 bytes of trace, to the end of the log\n16: TRCPRGCTLR is UNDEFINED here\n17: drained 35 bytes: 0000000000000000000000800100048130958008db061d95028131958018f7813091db\n" },
    { "barriers of the log", "config timing=late\n" START ENABLE("0x12001") UNIT "log stop.log\nTRCPRGCTLR = 1\nrun\nexpect finished 1\nexpect complete 1\nexpect TRBPTR 0x10000\nisb\nexpect TRBPTR 0x10016\nexpect written 22\n",
      "13: event FLUSH after 22 bytes, TRBPTR_EL1 0x10016\n13: ran 5 instructions, 22 bytes of trace, to the end of the log\n" },
    { "an interrupt of the script", START ENABLE("0x12001") UNIT "TRFCR_EL1 = 1\nisb\nlog long.log\nTRCPRGCTLR = 1\nrun 2\nexception EL1\nTRFCR_EL1 = 0\nisb\ntsb\nexpect finished 1\nTRFCR_EL1 = 1\nisb\neret EL0\nrun 1\ndrain 0x10000\n",
      "14: ran 2 instructions, 27 bytes of trace\n18: event FLUSH after 30 bytes, TRBPTR_EL1 0x1001e\n23: ran 1 instructions, 3 bytes of trace\n"
      "24: drained 33 bytes: 0000000000000000000000800100048130958008f79a00000900f7065c910490f7\n" },
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
    { "run\n", "there is no log to run" },
    { "log gone.log\n", "cannot be read" },
    { "log no.log\n", "no.log: no execution log" },
    { "log rv.log\nrun\n", "RISC-V" },
    { "log bad.log\nrun all\n", "line 2: log, line 3: \"frob\" is no statement" },
    { "log certain.log\npreset minimal\nTRCPRGCTLR = 1\nrun\n",
      "line 4: log, line 4: cancels instructions that are certain already" },
    { "log odd.log\nrun\n", "the log writes TRCFOO, which is no register" },
    { "log high.log\nrun\n", "goes to EL2" },
    { "log secure.log\nrun\n", "a Security state that the unit does not have" },
    { "log run.log\nrun until dawn\n", "irq or stopped" },
    { "unit tmc\n", "unit wants ete or etmv4" },
    { "unit ete speed=3\n", "no choice speed=3" },
    { "unit ete\nunit ete\n", "a trace unit already" },
    { "preset most\n", "minimal, exclude or include" },
    { "preset include\n", "wants more than that" },
    { "TRCSYNCPR = 3\nTRCPRGCTLR = 1\n", "trace unit: TRCSYNCPR is 3" },
    { "pe 16\n", "there are PEs 0 to 15" },
    { "pe\n", "wants more than that" },
    { "log m.log\nrun\n", "M profile" },
    { "TRCFOO = 1\n", "no command and no register" },
    { "capture out.bin 0\n", "no trace unit made this trace" },
    { "drain 0 like this\n", "drain has no \"like\"" },
};
/* clang-format on */

/* [K10.5.9/31] [K10.5.10/1]
   [D6.1/3] [D6.1.2/2] [D6.1.2/4] [D6.6.2/R_YWSDB] */
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

/* Runs a script and looks at what it prints and counts. */
static void check_run(const char *name, const char *script, const char *want, unsigned misuses)
{
    static struct bench bench;
    struct tw_sim_result result;
    struct tw_fault fault;

    CHECK_CASE(name);
    if (run(&bench, &result, &fault, script, false) != TW_OK)
        CHECK_TEXT(fault.text, "");
    CHECK_TEXT(bench.out, want);
    CHECK_EQ(result.failed, 0);
    CHECK_EQ(result.misuses, misuses);
}

#define TRACED                                                                                 \
    START "TRBLIMITR_EL1 = 0x13005\nisb\npreset minimal\nTRCVICTLR = 0x201\nTRCPRGCTLR = 1\n"

/* [K10.5.9/40] [K10.5.7.1.3/1] [K10.5.7.1.3/2]
   [D6.6/I_DDLVC]
   Rule R_TMLTF. */
static void the_os_lock_reaches_the_trace_unit(void **state)
{
    (void)state;
    check_run("locked",
              TRACED "OSLAR_EL1 = 1\nisb\nexpect TRCSTATR 3\nlog run.log\nrun all\n"
                     "expect trace 0\nTRCCONFIGR = 0x801\nexception EL1\nOSLAR_EL1 = 0\n"
                     "expect TRCSTATR 0\nexpect TRCCONFIGR 0x801\n",
              "14: ran 5 instructions, 0 bytes of trace, to the end of the log\n", 0);
    check_run("saved, powered down and restored",
              TRACED
              "log save.log\nrun all\nexpect TRCSTATR 3\nTRCPRGCTLR = 0\nTRCCONFIGR = 0\n"
              "log restore.log\nrun all\nexpect TRCSTATR 0\nexpect TRCPRGCTLR 1\n",
              "11: event FLUSH after 39 bytes, TRBPTR_EL1 0x10027\n"
              "11: ran 4 instructions, 39 bytes of trace, to the end of the log\n"
              "16: ran 4 instructions, 33 bytes of trace, to the end of the log\n",
              0);
}

/* [K10.5.9/35] [K10.5.9/42] [K10.5.10/2] */
static void access_while_enabled_is_told(void **state)
{
    (void)state;
    check_run(
        "write", TRACED "TRCCONFIGR = 1\nread TRCPRGCTLR\nexpect misuses 1\n",
        "10: event MISUSE after 0 bytes, TRBPTR_EL1 0x10000: TRCCONFIGR is written while the "
        "trace unit is enabled; ignored here\n11: TRCPRGCTLR 0x1\n",
        1);
    check_run("read", TRACED "read TRCCNTVR0\nread TRCSTATR\nTRCPRGCTLR = 0\nread TRCCNTVR0\n",
              "10: event MISUSE after 0 bytes, TRBPTR_EL1 0x10000: TRCCNTVR0 is read while the "
              "trace unit is enabled; it may be anything\n10: TRCCNTVR0 0x0\n11: TRCSTATR 0x0\n"
              "13: TRCCNTVR0 0x0\n",
              1);
    check_run(
        "claim tags",
        TRACED "TRCCLAIMSET = 5\nread TRCCLAIMSET\nread TRCCLAIMCLR\n"
               "TRCCLAIMCLR = 4\nread TRCCLAIMCLR\nread TRCIMSPEC0\n",
        "11: TRCCLAIMSET 0xf\n12: TRCCLAIMCLR 0x5\n14: TRCCLAIMCLR 0x1\n15: TRCIMSPEC0 0x0\n",
        0);
}

/* [D6.1/1]
   Each has its units, its log and its registers; memory is shared. */
static void several_pes_in_one_script(void **state)
{
    (void)state;
    check_run("two PEs",
              TRACED
              "pe 1\nmemory 0x14000 0x4000\nTRBBASER_EL1 = 0x14000\nTRBPTR_EL1 = 0x14000\n"
              "TRBLIMITR_EL1 = 0x17005\nisb\npreset minimal\n"
              "TRCVICTLR = 0x201\nTRCPRGCTLR = 1\nread TRCTRACEIDR\n"
              "pe 0\nread TRCTRACEIDR\nlog run.log\nrun 1\n"
              "pe 1\nlog long.log\nrun 3\npe 0\nrun all\npe 1\nrun all\n"
              "expect instructions 10\npe 0\nexpect instructions 5\n",
              "19: pe 1: TRCTRACEIDR 0x11\n21: pe 0: TRCTRACEIDR 0x10\n"
              "23: pe 0: ran 1 instructions, 32 bytes of trace\n"
              "26: pe 1: ran 3 instructions, 39 bytes of trace\n"
              "28: pe 0: ran 4 instructions, 20 bytes of trace, to the end of the log\n"
              "30: pe 1: ran 7 instructions, 34 bytes of trace, to the end of the log\n",
              0);
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
        cmocka_unit_test(the_os_lock_reaches_the_trace_unit),
        cmocka_unit_test(access_while_enabled_is_told),
        cmocka_unit_test(several_pes_in_one_script),
        cmocka_unit_test(lines_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
