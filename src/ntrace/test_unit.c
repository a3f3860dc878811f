/* SPDX-License-Identifier: BSD-2-Clause */
/* The N-Trace encoder, message by message: the specification's examples, every option, what happens to
   a hart, back-pressure, registers, several harts in one stream. */
#include "check.h"

#include "ntrace/test_trip.h"

enum { NONE = 0, EXC = 1, INT = 2, MRET = 3, NT = 4, T = 5, CALL = 8, ICALL = 9, JUMP = 10 };
enum { IJUMP = 11, SWAP = 12, RET = 13 };

struct kept {
    struct tw_text lines;
};

static void list_packet(void *context, const struct tw_ntrace_packet *packet)
{
    struct kept *kept = context;

    list_message(&kept->lines, packet);
    tw_text_char(&kept->lines, '\n');
}

/* A block: address, half-words, whether its last instruction has two, how it ends. */
struct row {
    uint64_t iaddr;
    uint32_t iretire;
    uint8_t ilastsize, itype, trigger;
    bool sijump;
    uint8_t priv;
    uint64_t context;
};

static const struct example {
    const char *name, *config;
    bool short_messages, sync_when_full, has_hcontext;
    struct row rows[12];
    const char *messages;
} examples[] = {
    /* The specification's program: 100 c.addi, 102 beq 200, 106 add, 10a beq 300, 10e c.addi, 110 add,
       114 c.ebreak; 200 c.addi, 202 c.ebreak; 300 add, 304 c.ebreak. */
    { .name = "BTM, first branch taken",
      .config = "mode=btm",
      .rows = { { 0x100, 3, 1, T }, { 0x200, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "DirectBranch ICNT=3\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1\n" },
    { .name = "BTM, second taken",
      .config = "mode=btm",
      .rows = { { 0x100, 3, 1, NT }, { 0x106, 4, 1, T }, { 0x300, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "DirectBranch ICNT=7\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n" },
    { .name = "HTM, none taken",
      .config = "mode=htm",
      .rows = { { 0x100, 3, 1, NT }, { 0x106, 4, 1, NT }, { 0x10e, 3, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=10 HIST=0x4\n" },
    { .name = "BTM, exception at 102",
      .config = "mode=btm",
      .rows = { { 0x100, 1, 0, EXC }, { 0x200, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranch BTYPE=2 ICNT=1 UADDR=0x180\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1\n" },
    { .name = "BTM, interrupt before 100, of which the unit says nothing",
      .config = "mode=btm,btype=1",
      .rows = { { 0x100, 0, 0, INT }, { 0x200, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranch BTYPE=1 ICNT=0 UADDR=0x180\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1\n" },
    { .name = "I-CNT full, HTM",
      .config = "mode=htm,icnt_max=9",
      .rows = { { 0x100, 3, 1, NT }, { 0x106, 6, 1, NONE }, { 0x112, 5, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ResourceFull RCODE=0 RDATA=9\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=5 HIST=0x2\n" },
    { .name = "I-CNT full, BTM",
      .config = "mode=btm,icnt_max=9",
      .sync_when_full = true,
      .rows = { { 0x100, 3, 1, NT }, { 0x106, 6, 1, NONE }, { 0x112, 5, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ProgTraceSync SYNC=4 ICNT=9 FADDR=0x89\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=5\n" },
    { .name = "HIST full, repeated",
      .config = "mode=htm,hist_max_bits=3,repeat_history=1",
      .rows = { { 0x100, 2, 1, T },
                { 0x200, 2, 1, NT },
                { 0x204, 2, 1, T },
                { 0x300, 2, 1, NT },
                { 0x304, 2, 1, NT },
                { 0x308, 2, 1, NT },
                { 0x30c, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ResourceFull RCODE=2 RDATA=0x6 HREPEAT=2\n"
                  "ResourceFull RCODE=1 RDATA=0x4\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=14 HIST=0x1\n" },
    { .name = "branches repeated",
      .config = "mode=btm,repeat_branch=1",
      .rows = { { 0x100, 4, 1, T },
                { 0x100, 4, 1, T },
                { 0x100, 4, 1, T },
                { 0x100, 4, 1, NT },
                { 0x108, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "DirectBranch ICNT=4\n"
                  "RepeatBranch BCNT=2\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=5\n" },
    { .name = "jumps to the same target again",
      .config = "mode=htm,repeat_branch=1",
      .short_messages = true,
      .rows = { { 0x100, 1, 0, JUMP },
                { 0x200, 1, 0, JUMP },
                { 0x200, 1, 0, JUMP },
                { 0x200, 1, 0, JUMP },
                { 0x200, 2, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranch BTYPE=0 ICNT=1 UADDR=0x180\n"
                  "RepeatBranch BCNT=3\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1\n" },
    { .name = "returns: the last call is returned from in silence",
      .config = "mode=htm,implicit_return_mode=3,implicit_return_depth=1",
      .rows = { { 0x100, 2, 1, ICALL },
                { 0x200, 2, 1, ICALL },
                { 0x300, 1, 0, RET },
                { 0x204, 1, 0, RET },
                { 0x104, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranchHist BTYPE=0 ICNT=6 UADDR=0x2 HIST=0x1\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=1 HIST=0x1\n" },
    { .name = "a swap returns and calls",
      .config = "mode=htm,implicit_return_mode=3",
      .rows = { { 0x100, 2, 1, ICALL },
                { 0x200, 1, 0, SWAP },
                { 0x104, 1, 0, RET },
                { 0x202, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=5 HIST=0x1\n" },
    { .name = "a sequential jump is silent, but not if it follows on a message at once",
      .config = "mode=btm,sequential_jump=1",
      .rows = { { 0x100, 3, 0, JUMP, 0, true },
                { 0x200, 1, 0, JUMP },
                { 0x300, 1, 0, JUMP, 0, true },
                { 0x400, 1, 0, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranch BTYPE=0 ICNT=4 UADDR=0x100\n"
                  "IndirectBranch BTYPE=0 ICNT=1 UADDR=0x380\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=1\n" },
    { .name = "all jumps, HTM",
      .config = "mode=htm,all_jumps=1",
      .rows = { { 0x100, 2, 1, IJUMP }, { 0x200, 2, 1, NT }, { 0x204, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=6 HIST=0x6\n" },
    { .name = "all jumps, BTM",
      .config = "mode=btm,all_jumps=1",
      .rows = { { 0x100, 2, 1, IJUMP }, { 0x200, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "DirectBranch ICNT=2\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n" },
    { .name = "synchronization with the next branch",
      .config = "mode=btm,sync_messages=1",
      .rows = { { 0x100, 2, 1, T }, { 0x200, 2, 1, NT }, { 0x204, 2, 1, T }, { 0x300, 2, 1 } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "DirectBranch ICNT=2\n"
                  "DirectBranchSync SYNC=2 ICNT=4 FADDR=0x180\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n" },
    { .name = "synchronization at once",
      .config = "mode=htm,sync_messages=1,sync_style=exact",
      .rows = { { 0x100, 2, 1, JUMP }, { 0x200, 2, 1, NT }, { 0x204, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x180 HIST=0x1\n"
                  "IndirectBranchHistSync SYNC=2 BTYPE=0 ICNT=2 FADDR=0x102 HIST=0x2\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1\n" },
    { .name = "events: a watchpoint, an external trigger",
      .config = "mode=btm",
      .rows = { { 0x100, 2, 1, NONE, TW_ETRACE_TRIGGER_NOTIFY },
                { 0x104, 2, 1, T, TW_NTRACE_TRIGGER_EXTERNAL },
                { 0x200, 2, 1, NONE } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "ProgTraceSync SYNC=6 ICNT=2 FADDR=0x82\n"
                  "DirectBranchSync SYNC=0 ICNT=2 FADDR=0x100\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=2\n" },
    { .name = "who runs",
      .config = "mode=htm,ownership=1",
      .has_hcontext = true,
      .rows = { { 0x100, 2, 1, EXC, 0, false, 5, 0x700000012 },
                { 0x200, 2, 1, MRET, 0, false, 3, 0x700000012 },
                { 0x104, 2, 1, NONE, 0, false, 6, 0x700000013 } },
      .messages = "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
                  "Ownership PROCESS=0xf3\n"
                  "Ownership PROCESS=0x252\n"
                  "IndirectBranchHist BTYPE=2 ICNT=2 UADDR=0x180 HIST=0x1\n"
                  "Ownership PROCESS=0xc\n"
                  "IndirectBranchHist BTYPE=0 ICNT=2 UADDR=0x182 HIST=0x1\n"
                  "Ownership PROCESS=0xf7\n"
                  "Ownership PROCESS=0x276\n"
                  "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1\n" },
};

static struct tw_ntrace_unit *unit_for(const char *config, struct kept *kept,
                                       struct tw_ntrace_unit_config choices)
{
    struct tw_ntrace_config trace = read_config(config);
    struct tw_fault fault = { TW_OK, "" };
    struct tw_ntrace_unit *unit;

    choices.size = sizeof choices;
    choices.trace = &trace;
    choices.on_packet = list_packet;
    choices.packet_context = kept;
    if (tw_ntrace_unit_new(&unit, &choices, &fault) != TW_OK)
        check_true(false, fault.text, __FILE__, __LINE__);
    return unit;
}

static void retire(struct tw_ntrace_unit *unit, const struct row *row)
{
    const struct tw_etrace_block block = { .iaddr = row->iaddr,
                                           .iretire = row->iretire,
                                           .ilastsize = row->ilastsize,
                                           .itype = row->itype,
                                           .trigger = row->trigger,
                                           .sijump = row->sijump,
                                           .priv = row->priv,
                                           .context = row->context };

    CHECK_EQ(tw_ntrace_unit_retire(unit, &block, 1), TW_OK);
}

static void start(struct tw_ntrace_unit *unit)
{
    write_field(unit, "trTeEnable", 1);
    write_field(unit, "trTeInstTracing", 1);
}

static void sends_these_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++) {
        const struct example *example = &examples[i];
        const struct tw_ntrace_unit_config choices = {
            .short_messages = example->short_messages,
            .sync_when_full = example->sync_when_full,
            .has_hcontext = example->has_hcontext,
        };
        struct kept kept = { .lines = { .chars = NULL } };
        struct tw_ntrace_unit *unit = unit_for(example->config, &kept, choices);

        CHECK_CASE(example->name);
        start(unit);
        for (size_t k = 0; k < LENGTH(example->rows) && example->rows[k].iaddr; k++)
            retire(unit, &example->rows[k]);
        write_field(unit, "trTeEnable", 0);
        CHECK_TEXT(kept.lines.chars, example->messages);
        tw_ntrace_unit_free(unit);
        tw_text_free(&kept.lines);
    }
}

/* Debug mode, sleep, reset, filters that keep out all that runs. */
static void tells_what_happens_to_the_hart(void **state)
{
    static const struct row rows[] = {
        { .iaddr = 0x100, .iretire = 2, .ilastsize = 1, .itype = NT },
        { .iaddr = 0x104, .iretire = 2, .ilastsize = 1 },
    };
    struct kept kept = { .lines = { .chars = NULL } };
    struct tw_ntrace_unit *unit =
        unit_for("mode=htm", &kept, (struct tw_ntrace_unit_config){ .size = 0 });

    (void)state;
    start(unit);
    retire(unit, &rows[0]);
    tw_ntrace_unit_halted(unit, true);
    tw_ntrace_unit_halted(unit, false);
    retire(unit, &rows[1]);
    tw_ntrace_unit_asleep(unit, true);
    tw_ntrace_unit_asleep(unit, false);
    retire(unit, &rows[0]);
    tw_ntrace_unit_reset(unit, true);
    tw_ntrace_unit_reset(unit, false);
    retire(unit, &rows[1]);
    write_field(unit, "trTeInstTracing", 0);
    write_field(unit, "trTeInstFilters", 1);
    write_field(unit, "trTeFilter0Enable", 1);
    write_field(unit, "trTeFilter0MatchPrivilege", 1);
    write_field(unit, "trTeFilter0MatchChoicePrivilege", 8);
    write_field(unit, "trTeInstTracing", 1);
    retire(unit, &rows[0]);
    tw_ntrace_unit_halted(unit, true);
    CHECK_TEXT(kept.lines.chars,
               "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x80\n"
               "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=2 HIST=0x2\n"
               "ProgTraceSync SYNC=3 ICNT=0 FADDR=0x82\n"
               "ProgTraceCorrelation EVCODE=1 CDF=1 ICNT=2 HIST=0x1\n"
               "ProgTraceSync SYNC=9 ICNT=0 FADDR=0x80\n"
               "IndirectBranchHistSync SYNC=1 BTYPE=0 ICNT=2 FADDR=0x82 HIST=0x2\n"
               "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=2 HIST=0x1\n"
               "ProgTraceCorrelation EVCODE=4 CDF=1 ICNT=0 HIST=0x1\n"
               "ProgTraceCorrelation EVCODE=0 CDF=1 ICNT=0 HIST=0x1\n");
    tw_ntrace_unit_free(unit);
    tw_text_free(&kept.lines);
}

/* Each filter by its own registers; a comparator sees the addresses from the first to the last instruction. */
static void filters_by_address(void **state)
{
    static const struct {
        struct row row;
        uint32_t match;
        bool is_traced;
    } cases[] = {
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 1 }, 0x0fe, false },
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 1 }, 0x100, true },
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 1 }, 0x108, true },
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 1 }, 0x10a, false },
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 0 }, 0x10a, true },
        { { .iaddr = 0x100, .iretire = 6, .ilastsize = 0 }, 0x10c, false },
    };

    (void)state;
    for (unsigned filter = 0; filter < 16; filter++)
        for (size_t i = 0; i < LENGTH(cases); i++) {
            struct kept kept = { .lines = { .chars = NULL } };
            struct tw_ntrace_unit *unit =
                unit_for("mode=btm", &kept, (struct tw_ntrace_unit_config){ .size = 0 });

            check_case("filter %u, case %zu", filter, i);
            tw_ntrace_unit_write(unit, 0x00c, 1u << filter);
            tw_ntrace_unit_write(unit, 0x400 + 0x20 * filter, 0x11); /* on, with comparator 0 */
            tw_ntrace_unit_write(unit, 0x600, 0);                    /* the address is equal */
            tw_ntrace_unit_write(unit, 0x610, cases[i].match);
            start(unit);
            retire(unit, &cases[i].row);
            CHECK_TEXT(kept.lines.chars && strstr(kept.lines.chars, "FADDR=0x80") ? "traced"
                                                                                  : "",
                       cases[i].is_traced ? "traced" : "");
            tw_ntrace_unit_free(unit);
            tw_text_free(&kept.lines);
        }
}

/* Triggers switch tracing on and off, if they may. */
static void follows_triggers(void **state)
{
    static const struct row rows[] = {
        { .iaddr = 0x100, .iretire = 2, .ilastsize = 1 },
        { .iaddr = 0x104, .iretire = 2, .ilastsize = 1, .trigger = TW_ETRACE_TRIGGER_ON },
        { .iaddr = 0x108, .iretire = 2, .ilastsize = 1, .trigger = TW_ETRACE_TRIGGER_OFF },
        { .iaddr = 0x10c, .iretire = 2, .ilastsize = 1 },
    };

    (void)state;
    for (unsigned may = 0; may < 2; may++) {
        struct kept kept = { .lines = { .chars = NULL } };
        struct tw_ntrace_unit *unit =
            unit_for("mode=btm", &kept, (struct tw_ntrace_unit_config){ .size = 0 });

        write_field(unit, "trTeEnable", 1);
        write_field(unit, "trTeInstTrigEnable", may);
        for (size_t i = 0; i < LENGTH(rows); i++)
            retire(unit, &rows[i]);
        CHECK_TEXT(kept.lines.chars ? kept.lines.chars : "",
                   may ? "ProgTraceSync SYNC=5 ICNT=0 FADDR=0x82\n"
                         "ProgTraceCorrelation EVCODE=4 CDF=0 ICNT=4\n"
                       : "");
        tw_ntrace_unit_free(unit);
        tw_text_free(&kept.lines);
    }
}

static void has_registers(void **state)
{
    struct kept kept = { .lines = { .chars = NULL } };
    struct tw_ntrace_unit *unit = unit_for("mode=btm,src_bits=3,src=5", &kept,
                                           (struct tw_ntrace_unit_config){ .size = 0 });
    uint64_t value;

    (void)state;
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x000), 0x01000039); /* active, empty, BTM, N-Trace */
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x004), 0x00010101);
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x008), 0x30050000);
    tw_ntrace_unit_write(unit, 0x008, 0xf0050fff); /* what N-Trace has not is not accepted */
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x008), 0xc00507cc);
    tw_ntrace_unit_write(unit, 0x000, 0x00000051); /* nor is mode 5, nor E-Trace */
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x000), 0x01000039);
    tw_ntrace_unit_write(unit, 0x004, 0xffffffff); /* read-only */
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x004), 0x00010101);
    tw_ntrace_unit_write(unit, 0x100, 0xffffffff); /* not there */
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x100), 0);
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x1000), 0);
    tw_ntrace_unit_write(unit, 0x470, 5); /* filter 3 */
    CHECK_EQ(tw_ntrace_unit_read_field(unit, "trtefilter3matchvalueimpdef", &value), TW_OK);
    CHECK_EQ(value, 5);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeFilter16Enable", 1), TW_E_ARGUMENT);
    CHECK_TEXT(tw_ntrace_unit_fault(unit), "there is no field trTeFilter16Enable");
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trRamEnable", 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeInstMode", 8), TW_E_ARGUMENT);
    CHECK_TEXT(tw_ntrace_unit_fault(unit), "trTeInstMode has 3 bits; 8 has more");
    CHECK_EQ(tw_ntrace_unit_write_field(unit, "trTeEmpty", 1), TW_E_ARGUMENT);
    tw_ntrace_unit_write(unit, 0x000, 0); /* inactive: all is forgotten, nothing is written */
    tw_ntrace_unit_write(unit, 0x008, 0x10000000);
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x008), 0);
    CHECK_EQ(tw_ntrace_unit_read(unit, 0x000) & 1, 0);
    tw_ntrace_unit_free(unit);
    tw_text_free(&kept.lines);
}

static void refuses_what_cannot_be(void **state)
{
    static const struct {
        struct tw_etrace_block block;
        const char *fault;
    } bad[] = {
        { { .iaddr = 0x100, .iretire = 1, .itype = 7 },
          "block at 0x100: there is no such itype" },
        { { .iaddr = 0x100, .itype = T },
          "block at 0x100: nothing retired, but its itype says so" },
        { { .iaddr = 0x100, .iretire = 1, .ilastsize = 1 },
          "block at 0x100: the last instruction is larger than the block" },
        { { .iaddr = 0x101, .iretire = 1 }, "block at 0x101: its address is not aligned" },
    };
    static const struct {
        const char *config;
        uint32_t fifo;
        const char *fault;
    } configs[] = {
        { "dialect=sifive", 0, "the encoder has no dialect: dialect must be 1.0" },
        { "implicit_return_mode=3,implicit_return_depth=33", 0,
          "implicit_return_depth is 33; 32 is the most" },
        { "icnt_max=4194304", 0, "icnt_max is 4194304; 4194303 is the most" },
        { "hist_max_bits=1", 0, "hist_max_bits is 1, which holds no branch" },
        { "", 79, "a buffer of 79 bytes does not hold two messages: 80 do" },
    };
    struct kept kept = { .lines = { .chars = NULL } };
    struct tw_ntrace_unit *unit =
        unit_for("", &kept, (struct tw_ntrace_unit_config){ .size = 0 });

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        CHECK_EQ(tw_ntrace_unit_retire(unit, &bad[i].block, 1), TW_E_ARGUMENT);
        CHECK_TEXT(tw_ntrace_unit_fault(unit), bad[i].fault);
    }
    tw_ntrace_unit_free(unit);
    for (size_t i = 0; i < LENGTH(configs); i++) {
        const struct tw_ntrace_config trace = read_config(configs[i].config);
        const struct tw_ntrace_unit_config choices = { .size = sizeof choices,
                                                       .trace = &trace,
                                                       .fifo_size = configs[i].fifo };
        struct tw_fault fault = { TW_OK, "" };

        CHECK_EQ(tw_ntrace_unit_new(&unit, &choices, &fault), TW_E_CONFIG);
        CHECK_TEXT(fault.text, configs[i].fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_these_messages),
        cmocka_unit_test(tells_what_happens_to_the_hart),
        cmocka_unit_test(follows_triggers),
        cmocka_unit_test(has_registers),
        cmocka_unit_test(filters_by_address),
        cmocka_unit_test(refuses_what_cannot_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
