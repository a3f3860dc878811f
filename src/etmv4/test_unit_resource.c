/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit's filters and resources: ViewInst, comparators, counters, sequencer, single-shot
   comparators, events, prohibited regions, overflow of its FIFO. */
#include "etmv4/test_example.h"

#define EL0   "context(el0 N 64-bit cid=0x0 vmid=0x0)"
#define BEGIN "trace_info trace_on " EL0 " address(0x1000) "

/* One event for each time that selector 2 is active. */
#define EVENT "TRCEVENTCTL0R=2 TRCEVENTCTL1R=1 "

/* clang-format off */
static const struct {
    const char *name;
    const char *registers, *log, *elements, *after;
    bool is_self_hosted;
} examples[] = {
    { "a counter that reloads itself",
      EVENT "TRCRSCTLR2=0x20001 TRCCNTCTLR0=0x10001 TRCCNTRLDVR0=3 TRCCNTVR0=3",
      "clock 0\ni 0x1000 14000001\ncycles 13",
      BEGIN "atom(E) event(0) event(0) event(0)", .after = "TRCCNTVR0=2" },
    { "a counter that stays at zero", EVENT "TRCRSCTLR2=0x20002 TRCCNTCTLR1=1 TRCCNTVR1=2",
      "clock 0\ni 0x1000 14000001\ncycles 5", BEGIN "atom(E) event(0) event(0)",
      .after = "TRCCNTVR1=0" },
    { "a chain of counters",
      EVENT "TRCRSCTLR2=0x20002 TRCCNTCTLR0=0x10001 TRCCNTRLDVR0=1 TRCCNTVR0=1 "
      "TRCCNTCTLR1=0x30000 TRCCNTRLDVR1=2 TRCCNTVR1=1",
      "clock 0\ni 0x1000 14000001\ncycles 5", BEGIN "atom(E) event(0)",
      .after = "TRCCNTVR0=0 TRCCNTVR1=2" },
    { "a counter that an input counts and another reloads",
      "TRCRSCTLR2=0x10001 TRCRSCTLR3=0x10002 TRCCNTCTLR2=0x0302 TRCCNTRLDVR2=100 TRCCNTVR2=9",
      "clock 0\ni 0x1000 14000001\ninputs 1\ncycles 4\ninputs 0\ncycles 9",
      BEGIN "atom(E)", .after = "TRCCNTVR2=5" },
    { "... reloaded",
      "TRCRSCTLR2=0x10001 TRCRSCTLR3=0x10002 TRCCNTCTLR2=0x0302 TRCCNTRLDVR2=100 TRCCNTVR2=9",
      "clock 0\ni 0x1000 14000001\ninputs 1\ncycles 4\ninputs 3\ncycles 1\ninputs 1\ncycles 2",
      BEGIN "atom(E)", .after = "TRCCNTVR2=98" },
#define SEQUENCER                                                                              \
    "TRCRSCTLR2=0x00001 TRCRSCTLR3=0x00002 TRCRSCTLR4=0x00004 TRCRSCTLR5=0x00008 "             \
    "TRCEXTINSELR0=0x10 TRCEXTINSELR1=0x11 TRCEXTINSELR2=0x12 TRCEXTINSELR3=0x13 "             \
    "TRCSEQEVR0=0x0302 TRCSEQEVR1=0x0302 TRCSEQEVR2=0x0304 TRCSEQRSTEVR=0x5 "
    { "the sequencer steps on, twice in a cycle", SEQUENCER,
      "clock 0\ni 0x1000 14000001\nexternal 0x10\ncycles 1", BEGIN "atom(E)",
      .after = "TRCSEQSTR=2" },
    { "... to the end, where it stays", SEQUENCER,
      "clock 0\ni 0x1000 14000001\nexternal 0x10\ncycles 1\nexternal 0x12\ncycles 7",
      BEGIN "atom(E)", .after = "TRCSEQSTR=3" },
    { "... three steps back", SEQUENCER "TRCSEQSTR=3",
      "clock 0\ni 0x1000 14000001\nexternal 0x11\ncycles 1", BEGIN "atom(E)",
      .after = "TRCSEQSTR=0" },
    { "... forward before backward", SEQUENCER "TRCSEQSTR=1",
      "clock 0\ni 0x1000 14000001\nexternal 0x10\nexternal 0x11\ncycles 1", BEGIN "atom(E)",
      .after = "TRCSEQSTR=2" },
    { "... and reset", SEQUENCER "TRCSEQSTR=2",
      "clock 0\ni 0x1000 14000001\nexternal 0x12\nexternal 0x13\ncycles 1", BEGIN "atom(E)",
      .after = "TRCSEQSTR=0" },
    { "states passed through are seen",
      SEQUENCER EVENT "TRCEVENTCTL0R=6 TRCRSCTLR6=0x20020",
      "clock 0\ni 0x1000 14000001\nexternal 0x10\ncycles 3", BEGIN "atom(E) event(0)",
      .after = "TRCSEQSTR=2" },
    { "a single shot", EVENT "TRCRSCTLR2=0x30001 TRCSSCCR0=1 TRCACVR0=0x1004",
      "i 0x1000 14000001\ni 0x1004 17ffffff\ni 0x1000 14000001\ni 0x1004 14000001",
      BEGIN "atom(E) atom(E) event(0) atom(E) atom(E)", .after = "TRCSSCSR0=0x80000000" },
    { "many shots, at a range", EVENT "TRCRSCTLR2=0x30002 TRCSSCCR1=0x01010000 TRCACVR0=0x1004 "
      "TRCACVR1=0x1004",
      "i 0x1000 14000001\ni 0x1004 17ffffff\ni 0x1000 14000001\ni 0x1004 14000001",
      BEGIN "atom(E) atom(E) event(0) atom(E) atom(E) event(0)",
      .after = "TRCSSCSR1=0x80000000" },
    { "a shot that is cancelled does not count",
      EVENT "TRCIDR8=8 TRCRSCTLR2=0x30001 TRCSSCCR0=1 TRCACVR0=0x1004",
      "speculate on\ni 0x1000 14000001\ni 0x1004 14000001\ncancel 1\ni 0x1004 14000001\ncommit\n"
      "cycles 1",
      BEGIN "atom(E) atom(E) cancel(1) atom(E) event(0) commit(2)", .after = NULL },
    { "a shot in a transaction waits for its end",
      EVENT "TRCRSCTLR2=0x30001 TRCSSCCR0=1 TRCACVR0=0x1004",
      "i 0x1000 d5233060\ntransaction start\ni 0x1004 14000001\ntransaction commit\ncycles 1",
      BEGIN "atom(E) transaction_start atom(E) transaction_commit event(0)", .after = NULL },
    { "a failed transaction has no shots", EVENT "TRCRSCTLR2=0x30001 TRCSSCCR0=1 TRCACVR0=0x1004",
      "i 0x1000 d5233060\ntransaction start\ni 0x1004 14000001\ntransaction fail\ncycles 2",
      BEGIN "atom(E) transaction_start atom(E) address(0x1008) transaction_failure",
      .after = "TRCSSCSR0=0" },
    { "address comparators as resources", EVENT "TRCRSCTLR2=0x40002 TRCACVR1=0x1004",
      "i 0x1000 14000001\ni 0x1004 14000001\ni 0x1008 14000001",
      BEGIN "atom(E) atom(E) event(0) atom(E)", .after = NULL },
    { "address ranges as resources", EVENT "TRCRSCTLR2=0x50001 TRCACVR0=0x1004 TRCACVR1=0x1008",
      "i 0x1000 14000001\ni 0x1004 14000001\ni 0x1008 14000001",
      BEGIN "atom(E) atom(E) event(0) atom(E) event(0)", .after = NULL },
    { "context comparators as resources",
      EVENT "TRCCONFIGR=0x41 TRCRSCTLR2=0x60001 TRCCIDCVR0=0x12 TRCCIDCCTLR0=0xe",
      "i 0x1000 d5033fdf\ncontext cid=0xff12\ni 0x1004 14000001\ncontext cid=0x13\ncycles 1",
      BEGIN "atom(E) context(el0 N 64-bit cid=0xff12 vmid=0x0) atom(E) event(0)", .after = NULL },
    { "virtual context comparators as resources",
      EVENT "TRCCONFIGR=0x81 TRCRSCTLR2=0x70010 TRCVMIDCVR4=5",
      "i 0x1000 d5033fdf\ncontext vmid=5\ni 0x1004 14000001\ncontext vmid=0\ncycles 1",
      "event(0)", .after = NULL },
    { "ViewInst by an input", "TRCVICTLR=0x202 TRCRSCTLR2=0x10001",
      "i 0xff8 14000001\ninputs 1\ni 0x1000 14000001\ni 0x1004 14000001\ninputs 0\n"
      "i 0x1008 14000001\ninputs 1\ni 0x100c 14000001",
      BEGIN "atom(E) atom(E) trace_on address(0x100c) atom(E)", .after = NULL },
    { "start and stop by inputs", "TRCVICTLR=0x1 TRCVIPCSSCTLR=0x00020001",
      "i 0xff8 14000001\ninputs 1\ni 0x1000 14000001\ninputs 0\ni 0x1004 14000001\ninputs 2\n"
      "i 0x1008 14000001\ninputs 0\ni 0x100c 14000001",
      BEGIN "atom(E) atom(E) atom(E)", .after = "TRCVICTLR=0x1" },
    { "start and stop by addresses, and their state", "TRCVICTLR=0x1 TRCVISSCTLR=0x00020001 "
      "TRCACVR0=0x1000 TRCACVR1=0x1008",
      "i 0xff8 14000001\ni 0x1000 14000001\ni 0x1004 14000001\ni 0x1008 14000001\n"
      "i 0x100c 14000001\ni 0x1000 14000001",
      BEGIN "atom(E) atom(E) atom(E) trace_on address(0x1000) atom(E)", .after = "TRCVICTLR=0x201" },
    { "a range in one context", "TRCCONFIGR=0x41 TRCVIIECTLR=1 TRCACVR0=0x1000 TRCACVR1=0x1fff "
      "TRCACATR0=0x14 TRCACATR1=0x14 TRCCIDCVR1=7",
      "i 0xff8 d5033fdf\ncontext cid=7\ni 0x1000 d5033fdf\ncontext cid=8\ni 0x1004 14000001\n"
      "context cid=7\ni 0x1008 14000001",
      "trace_info trace_on context(el0 N 64-bit cid=0x7 vmid=0x0) address(0x1000) atom(E) "
      "trace_on address(0x1008) atom(E)", .after = NULL },
    { "a range at one Exception level", "TRCVIIECTLR=0x10000 TRCACVR0=0x1000 TRCACVR1=0x1fff "
      "TRCACATR0=0x1000 TRCACATR1=0x1000",
      "i 0x1000 d5033fdf\ncontext el=1\ni 0x1004 14000001\ncontext el=0\ni 0x1008 14000001",
      BEGIN "atom(E) trace_on address(0x1008) atom(E)", .after = NULL },
    { "Realm turns Non-secure round", "TRCVICTLR=0x01100201",
      "context security=realm\ni 0x1000 14000001\ncontext security=nonsecure\ni 0x1004 14000001",
      "trace_info trace_on context(el0 Realm 64-bit cid=0x0 vmid=0x0) address(0x1000) atom(E)", .after = NULL },
    { "a timestamp when an event wants it", "TRCCONFIGR=0x801 TRCTSCTLR=2 TRCRSCTLR2=0x10001 "
      "TRCIDR0=0x2841cea1",
      "i 0x1000 14000001\ni 0x1004 14000001\ninputs 1\ncycles 1\ninputs 0\ni 0x1008 14000001",
      BEGIN "atom(E) timestamp(0x1) atom(E) atom(E) timestamp(0x4)", .after = NULL },
    { "a System Error is forced", "TRCVICTLR=0xa01 TRCVIIECTLR=0x10000 TRCACVR0=0 TRCACVR1=0xffff",
      "i 0x1000 14000001\nexception system-error return=0x1000",
      BEGIN "exception(4,0x1000)", .after = NULL },
    { "... an IRQ is not", "TRCVICTLR=0xa01 TRCVIIECTLR=0x10000 TRCACVR0=0 TRCACVR1=0xffff",
      "i 0x1000 14000001\nexception irq return=0x1000", "", .after = NULL },
    { "Debug state", "",
      "i 0x1000 14000001\nexception debug-halt return=0x1004\ndebug on\ni 0x2000 14000001\n"
      "debug off\ni 0x1004 14000001",
      BEGIN "atom(E) exception(1,0x1004) trace_on address(0x1004) atom(E)", .after = NULL },
    { "a prohibited region", "TRFCR_EL1=1",
      "i 0x1000 d503201f\nexception irq return=0x1004\ncontext el=1\ni 0x3000 14000001\n"
      "exception fiq return=0x3004\ni 0x4000 d69f03e0\ncontext el=0\ni 0x1004 14000001",
      BEGIN "exception(14,0x1004) trace_on address(0x1004) atom(E)", .is_self_hosted = true },
    { "... is lifted", "",
      "i 0x0ff8 14000001\nregister TRFCR_EL1=1\ni 0x1000 14000001\nregister TRFCR_EL1=0\n"
      "i 0x1004 14000001", BEGIN "atom(E)", .is_self_hosted = true },
    { "resources wait there, and some inputs are latched",
      EVENT "TRFCR_EL1=1 TRCRSCTLR2=0x1 TRCEXTINSELR0=0x400d",
      "i 0x1000 d503201f\nexception irq return=0x1004\ncontext el=1\nexternal 0x400d\ncycles 5\n"
      "external 0x23\ncontext el=0\ncycles 3\ni 0x1004 14000001",
      BEGIN "exception(14,0x1004) event(0) trace_on address(0x1004) atom(E)",
      .is_self_hosted = true },
    { "... others are not", EVENT "TRFCR_EL1=1 TRCRSCTLR2=0x1 TRCEXTINSELR0=0x23",
      "i 0x1000 d503201f\nexception irq return=0x1004\ncontext el=1\nexternal 0x23\ncycles 5\n"
      "context el=0\ncycles 3\ni 0x1004 14000001",
      BEGIN "exception(14,0x1004) trace_on address(0x1004) atom(E)", .is_self_hosted = true },
    { "instrumentation where it is allowed", "TRFCR_EL1=3 TRCITECR_EL1=2",
      "i 0x1000 14000001\ninstrumentation 1\ncontext el=1\ninstrumentation 2",
      BEGIN "atom(E) instrumentation(el1,0x2)", .is_self_hosted = true },
    { "... by a debugger", "TRCITEEDCR=0x12 TRCCONFIGR=0x40001",
      "i 0x1000 14000001\ninstrumentation 1\ncontext el=1\ninstrumentation 2\n"
      "context security=secure\ninstrumentation 3",
      BEGIN "atom(E) instrumentation(el1,0x2)", .after = NULL },
    { "the OS Lock stops the unit, and lets it go on", "",
      "i 0x1000 14000001\nregister OSLAR_EL1=1\ni 0x1004 14000001\nregister OSLAR_EL1=0\n"
      "i 0x1008 14000001",
      BEGIN "atom(E) trace_info trace_on " EL0 " address(0x1008) atom(E)",
      .after = "TRCOSLSR=0x10 TRCPRGCTLR=1 TRCSTATR=0" },
    { "... while it is locked", "",
      "register TRCOSLAR=1\ni 0x1000 14000001\nregister TRCCONFIGR=0x41", "",
      .after = "TRCOSLSR=0x12 TRCPRGCTLR=1 TRCSTATR=3 TRCCONFIGR=0x41" },
    { "resources wait in a low-power state",
      EVENT "TRCRSCTLR2=0x10001 TRCCNTCTLR0=1 TRCCNTVR0=100",
      "clock 0\ni 0x1000 d503207f\ncycles 3\nlow-power on\ninputs 1\ncycles 50\ninputs 0\n"
      "low-power off\ncycles 4\ni 0x1004 14000001",
      BEGIN "atom(E) atom(E)", .after = "TRCCNTVR0=93" },
    { "... unless they may not", EVENT "TRCEVENTCTL1R=0x1001 TRCCNTCTLR0=1 TRCCNTVR0=100",
      "clock 0\ni 0x1000 d503207f\ncycles 3\nlow-power on\ncycles 50\n"
      "low-power off\ncycles 4\ni 0x1004 14000001",
      BEGIN "atom(E) atom(E)", .after = "TRCCNTVR0=43" },
    { "commits come before it", "TRCIDR8=16 TRCIDR0=0x08c1cea1",
      "speculate on\ni 0x1000 d503207f\ncommit\nlow-power on\ncycles 5\nlow-power off\n"
      "i 0x1004 14000001\ncommit",
      BEGIN "atom(E) commit(1) atom(E) commit(1)", .after = NULL },
    { "an input that is latched there can be read", EVENT "TRFCR_EL1=1 TRCRSCTLR2=0x1 TRCEXTINSELR1=0x400d",
      "i 0x1000 d503201f\nexception irq return=0x1004\ncontext el=1\nexternal 0x400d\ncycles 5",
      BEGIN "exception(14,0x1004)", .after = "TRCRSR=0x2", .is_self_hosted = true },
    { "... and whether the last instruction was traced", "", "i 0x1000 14000001", BEGIN "atom(E)",
      .after = "TRCRSR=0x1000" },
    { "a shot that fires there waits",
      EVENT "TRFCR_EL1=1 TRCIDR8=8 TRCRSCTLR2=0x30001 TRCSSCCR0=1 TRCACVR0=0x1004",
      "speculate on\ni 0x1000 14000001\ni 0x1004 d503201f\nexception irq return=0x1008\n"
      "context el=1\ncommit\ncycles 2",
      BEGIN "atom(E) exception(14,0x1008) commit(2)", .after = "TRCSSCSR0=0xc0000000",
      .is_self_hosted = true },
    { "the first cycle count after an overflow is not known", "TRCCONFIGR=0x11 TRCCCCTLR=4",
      "clock 0\ni 0x1000 14000001\ncycles 24\ni 0x1004 14000001\noverflow\ncycles 9\nrecover\n"
      "i 0x1000 14000001\ncycles 9\ni 0x1004 14000001",
      BEGIN "atom(E) cycle_count(unknown) atom(E) cycle_count(24) overflow "
      BEGIN "atom(E) cycle_count(unknown) atom(E) cycle_count(9)",
      .after = NULL },
    { "events of an overflow come before it", EVENT "TRCRSCTLR2=0x1 TRCEXTINSELR0=0x23",
      "i 0x1000 14000001\noverflow\nexternal 0x23\ncycles 1\nrecover\ni 0x1000 14000001",
      BEGIN "atom(E) event(0) overflow " BEGIN "atom(E)", .after = NULL },
};
/* clang-format on */

/* [K10.5.9/13] [K10.5.9/15] [K10.5.9/17] [K10.5.9/19] [K10.5.9/22] [K10.5.9/23]
   [K10.5.9/29] [K10.5.9/31] [K10.5.9/33] [K10.5.9/38] [K10.5.9/40] [K10.5.9/43]
   [K10.5.9/44]
   [D6.6.2/I_ZYZGZ] */
static void each_resource_does_its_part(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++) {
        const struct tw_etmv4_unit_config config = { .is_ete = true,
                                                     .is_self_hosted =
                                                         examples[i].is_self_hosted };
        struct shown shown = { .registers = examples[i].after };
        uint8_t *bytes;
        size_t size;

        CHECK_CASE(examples[i].name);
        CHECK_EQ(
            run_example(config, examples[i].registers, examples[i].log, &shown, &bytes, &size),
            TW_OK);
        if (strcmp(examples[i].elements, "event(0)") == 0)
            CHECK(strstr(shown.text, " event(0)") != NULL);
        else
            CHECK_TEXT(shown.text, examples[i].elements);
        free(bytes);
    }
}

/* The functions of two selectors, as the table of the manual has them. */
static void pairs_of_selectors(void **state)
{
    static const struct {
        bool pair_inverts, a_inverts, b_inverts;
        bool want[4]; /* by A and B: bit 0 and bit 1 of the inputs */
    } functions[] = {
        { false, false, false, { false, false, false, true } }, /* A and B */
        { false, true, false, { false, false, true, false } },  /* not A and B */
        { false, true, true, { true, false, false, false } },   /* not A and not B */
        { true, false, false, { true, true, true, false } },    /* not (A and B) */
        { true, false, true, { true, false, true, true } },     /* not A or B */
        { true, true, true, { false, true, true, true } },      /* A or B */
    };
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = true };
    struct tw_etmv4_unit *unit;

    (void)state;
    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    for (size_t i = 0; i < LENGTH(functions); i++) {
        set_register(unit, "TRCRSCTLR4",
                     0x10001u | (uint32_t)functions[i].a_inverts << 20 |
                         (uint32_t)functions[i].pair_inverts << 21);
        set_register(unit, "TRCRSCTLR5", 0x10002u | (uint32_t)functions[i].b_inverts << 20);
        for (uint8_t inputs = 0; inputs < 4; inputs++) {
            CHECK_EQ(tw_etmv4_unit_inputs(unit, inputs), TW_OK);
            CHECK_EQ(tw_etmv4_unit_event_is_active(unit, 0x82), functions[i].want[inputs]);
        }
    }
    CHECK(!tw_etmv4_unit_event_is_active(unit, 0) && tw_etmv4_unit_event_is_active(unit, 1));
    tw_etmv4_unit_free(unit);
}

/* What 5000 indirect branches leave behind a FIFO of 48 bytes that takes 40 cycles a byte. */
struct behind {
    uint64_t instructions, overflows;
};

static struct behind go_through_fifo(uint32_t stallctlr)
{
    const struct tw_etmv4_unit_config config = {
        .size = sizeof config, .is_ete = true, .fifo_size = 48, .cycles_per_byte = 40
    };
    static const uint8_t code[] = { 0x20, 0x00, 0x1f, 0xd6, 0x20, 0x00, 0x1f, 0xd6 };
    const struct tw_region region = {
        .size = sizeof region, .address = 0x1000, .length = sizeof code, .name = "code"
    };
    struct tw_image *image;
    struct tw_etmv4_unit *unit;
    struct tw_tree *tree;
    const struct tw_tree_config tree_config = { .size = sizeof tree_config };
    struct tw_register registers[REGISTERS_MOST];
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = "ete",
                                     .registers = registers,
                                     .core_type = "ARM-AA64",
                                     .id = 0x10 };
    struct tw_batch batch = { .size = sizeof batch };
    struct behind behind = { 0 };
    const uint8_t *bytes;
    size_t size;
    uint8_t id;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, code), TW_OK);
    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_registers(unit, "TRCTRACEIDR=0x10 TRCVICTLR=0x201 TRCCONFIGR=1");
    set_register(unit, "TRCSTALLCTLR", stallctlr);
    set_register(unit, "TRCPRGCTLR", 1);
    for (unsigned i = 0; i < 5000; i++) {
        struct tw_retired at = { .address = 0x1000 + 4 * (i & 1),
                                 .opcode = 0xd61f0020,
                                 .isa = TW_ISA_A64 };

        tw_retired_classify(&at, NULL);
        CHECK_EQ(tw_etmv4_unit_retire(unit, &at, 1), TW_OK);
    }
    set_register(unit, "TRCPRGCTLR", 0);
    source.image = image;
    source.register_count = unit_registers(unit, registers);
    CHECK_EQ(tw_tree_new(&tree, &tree_config, NULL), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, &id, &source), TW_OK);
    bytes = tw_etmv4_unit_output(unit, &size);
    CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            const struct tw_element *element = &batch.elements[i];

            CHECK(element->type != TW_ELEMENT_ERROR && element->type != TW_ELEMENT_ADDR_NACC);
            behind.overflows +=
                element->type == TW_ELEMENT_TRACE_ON && element->reason == TW_TRACE_ON_OVERFLOW;
            if (element->type == TW_ELEMENT_INSTR_RANGE) {
                CHECK(element->start == 0x1000 || element->start == 0x1004);
                CHECK_EQ(element->count, 1);
                behind.instructions++;
            }
        }
    tw_tree_free(tree);
    tw_etmv4_unit_free(unit);
    tw_image_free(image);
    return behind;
}

/* A FIFO that is too small loses trace, says so, and what is left is whole. */
static void a_small_fifo_overflows(void **state)
{
    const struct behind behind = go_through_fifo(0);

    (void)state;
    CHECK(behind.overflows > 1);
    CHECK(behind.instructions > 10 && behind.instructions < 1000);
}

/* ... unless the processor waits for it: always, or when it is a good part full. */
static void a_unit_that_stalls_loses_nothing(void **state)
{
    static const uint32_t controls[] = { 0x2000, 0x108, 0x10f, 0x2108 };

    (void)state;
    for (size_t i = 0; i < LENGTH(controls); i++) {
        const struct behind behind = go_through_fifo(controls[i]);

        check_case("TRCSTALLCTLR 0x%x", controls[i]);
        CHECK_EQ(behind.overflows, 0);
        CHECK_EQ(behind.instructions, 5000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_resource_does_its_part),
        cmocka_unit_test(pairs_of_selectors),
        cmocka_unit_test(a_small_fifo_overflows),
        cmocka_unit_test(a_unit_that_stalls_loses_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
