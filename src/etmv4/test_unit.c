/* SPDX-License-Identifier: BSD-2-Clause */
/* The trace unit: an example of each packet, element by element and byte by byte; packing,
   registers, faults. */
#include "etmv4/test_example.h"

/* clang-format off */
static const struct {
    const char *name;
    const char *registers;
    const char *log;
    const char *elements;
    const char *bytes;   /* behind the A-Sync */
    bool is_etmv4;
    struct tw_etmv4_unit_config config;
} examples[] = {
    /* Further packets. */
    { "64-bit address", "",
      "context el=1\ni 0xffff800010081000 14000c00\ni 0xffff800010084000 d61f0020 taken "
      "0xffff800010081000\ni 0xffff800010081000 14000c00",
      "trace_info trace_on " EL1("0x0") " address(0xffff800010081000) atom(E) atom(E) "
      "address(0xffff800010081000) atom(E)",
      .bytes = "01 00 04 85 00 08 08 10 00 80 FF FF 31 DB 90 F7" },
    { "T32", "",
      "isa t32\ni 0x8000 e07f\ni 0x8102 4700 taken 0x8000\ni 0x8000 e07f",
      "trace_info trace_on " EL0_32 " address(0x8000) atom(E) atom(E) address(0x8000) atom(E)",
      .bytes = "01 00 04 81 20 96 80 80 DB 90 F7" },
    { "waits are P0", "", "i 0x1000 d503207f\ni 0x1004 d5033fdf\ni 0x1008 14000001",
      BEGIN "atom(E) atom(E) atom(E)", .bytes = "01 00 04 81 30 95 80 08 FF" },
    { "cycle counts", "TRCCONFIGR=0x11 TRCCCCTLR=0x16",
      "clock 0\ni 0x1000 14000001\ncycles 24\ni 0x1004 14000001\ncycles 31\n"
      "i 0x1008 14000001\ncycles 4682\ni 0x100c 14000001\ncycles 5\ni 0x1010 14000001",
      BEGIN "atom(E) cycle_count(unknown) atom(E) cycle_count(24) atom(E) cycle_count(31) "
            "atom(E) cycle_count(4682) atom(E)",
      .bytes = "01 09 01 16 04 81 30 95 80 08 F7 0F F7 12 F7 0D F9 F7 0E B4 24 F7" },
    { "cycle counts with commits", SPEC "TRCCONFIGR=0x11 TRCCCCTLR=0x16",
      "clock 0\nspeculate on\ni 0x1000 14000001\ncommit\ni 0x1004 14000001\ni 0x1008 14000001\n"
      "cycles 24\ncommit\ni 0x100c 14000001\ni 0x1010 14000001\ni 0x1014 14000001\ncycles 32\n"
      "commit\ni 0x1018 14000001\ncycles 790\ncommit\ncommit",
      BEGIN "atom(E) commit(1) cycle_count(unknown) atom(E) atom(E) commit(2) cycle_count(24) "
            "atom(E) atom(E) atom(E) commit(3) cycle_count(32) atom(E) commit(1) "
            "cycle_count(790)",
      .bytes = "01 09 01 16 04 81 30 95 80 08 F7 0F 01 DB 16 FF 0C 2A F7 0E 01 80 06" },
    { "timestamps", "TRCCONFIGR=0x801 TRCIDR0=0x2841cea1",
      "clock 0\ntime 0x123456789\ni 0x1000 d5033fdf\ntime 0x12345480a\ni 0x1004 d5033fdf\n"
      "time 0xffffffffffffffff\ni 0x1008 d5033fdf",
      BEGIN "atom(E) timestamp(0x123456789) atom(E) timestamp(0x12345480a) atom(E) "
            "timestamp(0xffffffffffffffff)",
      .bytes = "01 00 04 81 30 95 80 08 F7 02 89 CF 95 9A 12 F7 02 8A 10 F7 02 FF FF FF FF FF FF FF "
      "FF FF" },
    { "events, markers, instrumentation",
      "TRCCONFIGR=0x801 TRCITEEDCR=0x11 TRCITECR_EL1=1 TRCEVENTCTL0R=0x02020202 "
      "TRCEVENTCTL1R=0xf TRCRSCTLR2=1 TRCEXTINSELR0=0x23",
      "clock 0\ntime 0x77\ni 0x1000 14000001\nexternal 0x23\ncycles 1\n"
      "instrumentation 0xdeadbeefcafef00d\ncycles 1\ni 0x1004 14000001",
      BEGIN "atom(E) timestamp_marker timestamp(0x77) event(0) event(1) event(2) event(3) "
            "instrumentation(el0,0xdeadbeefcafef00d) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 88 02 77 7F 09 00 0D F0 FE CA EF BE AD DE F7" },
    { "source address", "", "i 0x1000 54000100\ni 0x1004 54000100\ni 0x1008 14000001",
      BEGIN "source_address(0x1008)", .bytes = "01 00 04 81 30 95 80 08 B4 02",
      .config = { .source_addresses = 2 } },
    { "exception behind branches that are not told", "",
      "i 0x1000 54000100\ni 0x1004 54000100\nexception irq return=0x1008",
      BEGIN "exception(14,0x1008)", .bytes = "01 00 04 81 30 95 80 08 06 1D 95 02",
      .config = { .source_addresses = 2 } },
    { "Q with count", "TRCCONFIGR=0x2001 TRCQCTLR=0x101 TRCACVR0=0x1000 TRCACVR1=0x1008",
      "i 0xff0 14000004\nnops 1000 1004\ni 0x1008 140003fe\ni 0x2000 14000001",
      "trace_info trace_on " EL0 " address(0xff0) atom(E) q(3) address(0x2000) atom(E)",
      .bytes = "01 00 04 81 30 95 FC 07 F7 A5 80 10 03 F7", .config = { .q_instructions = 3 } },
    { "Q without count", "TRCCONFIGR=0x6001 TRCQCTLR=0x101 TRCACVR0=0x1000 TRCACVR1=0x1008",
      "i 0xff0 14000004\nnops 1000 1004\ni 0x1008 17fffffa\ni 0xff0 14000004",
      "trace_info trace_on " EL0 " address(0xff0) atom(E) q(unknown) address(0xff0) atom(E)",
      .bytes = "01 00 04 81 30 95 FC 07 F7 AF 90 F7",
      .config = { .q_instructions = 3, .q_without_count = true } },
    { "four atoms of which two are lost", SPEC "TRCIDR8=2",
      "speculate on\ni 0x1000 14000001\ni 0x1004 14000001\ncommit\ni 0x1008 14000001\n"
      "i 0x100c 14000001",
      BEGIN "atom(E) atom(E) atom(E) atom(E) discard",
      .bytes = "01 00 04 81 30 95 80 08 C0 00 03" },
    { "branch broadcast", "TRCCONFIGR=9", "i 0x1000 14000000\ni 0x1000 14000000\ni 0x1000 14000000",
      BEGIN "atom(E) address(0x1000) atom(E) address(0x1000) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 90 F7 90 F7" },
    { "Realm", "TRCCONFIGR=0xc1",
      "context el=1 security=realm vmid=0x11223344 cid=0x55667788\ni 0x1000 14000001",
      "trace_info trace_on context(el1 Realm 64-bit cid=0x55667788 vmid=0x11223344) "
      "address(0x1000) atom(E)",
      .bytes = "01 00 04 81 F9 44 33 22 11 88 77 66 55 95 80 08 F7" },
    { "overflow", "",
      "i 0x1000 14000001\noverflow\ni 0x1004 14000001\nrecover\ni 0x3000 14000001",
      BEGIN "atom(E) overflow trace_info trace_on " EL0 " address(0x3000) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 00 05 00 00 00 00 00 00 00 00 00 00 00 80 01 00 04 81 30 95 "
      "80 18 F7" },
    { "exception return of ETMv4", "",
      "context el=1\ni 0x1000 d69f03e0 taken 0x2000\ncontext el=0\ni 0x2000 14000001",
      "trace_info trace_on " EL1("0x0") " address(0x1000) atom(E) exception_return " EL0
      " address(0x2000) atom(E)",
      .bytes = "01 00 04 81 31 95 80 08 F7 07 81 30 95 80 10 F7", .is_etmv4 = true },
    { "reset", "TRCVICTLR=0x601",
      "i 0x1000 14000001\nexception reset\ncontext el=3 security=secure\ni 0x0 14000001",
      BEGIN "atom(E) exception(0) context(el3 S 64-bit cid=0x0 vmid=0x0) address(0x0) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 06 01 70 81 13 90 F7" },
    { "reset in a transaction", "TRCVICTLR=0x601",
      "i 0x1000 d5233060\ntransaction start\ni 0x1004 14000001\nexception reset\n"
      "context el=3 security=secure\ni 0x0 14000001",
      BEGIN "atom(E) transaction_start atom(E) transaction_failure exception(0) "
            "context(el3 S 64-bit cid=0x0 vmid=0x0) address(0x0) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 0A F7 06 31 70 06 01 70 81 13 90 F7" },
    { "a synchronization request", "",
      "i 0x1000 14000001\nsync\ni 0x1004 14000001",
      BEGIN "atom(E) trace_info " EL0 " address(0x1004) atom(E)",
      .bytes = "01 00 04 81 30 95 80 08 F7 00 00 00 00 00 00 00 00 00 00 00 80 01 00 81 30 95 81 08 F7" },
    { "mispredictions", SPEC,
      "speculate on\ni 0x1000 54000000 taken\ni 0x1000 54000000 taken\ncancel 0 direction\n"
      "i 0x1004 14000001\ncommit",
      BEGIN "atom(E) atom(E) mispredict atom(E) commit(3)", .bytes = "01 00 04 81 30 95 80 08 32 F7 2D 03" },
    { "an indirect branch that went elsewhere", SPEC,
      "speculate on\ni 0x1000 d61f0020 taken 0x2000\ni 0x2000 14000001\ncancel 1 target\n"
      "i 0x3000 14000001\ncommit",
      BEGIN "atom(E) address(0x2000) atom(E) cancel(1) address(0x3000) atom(E) commit(2)",
      .bytes = "01 00 04 81 30 95 80 08 F7 95 80 10 F7 2E 01 95 80 18 F7 2D 02" },
};
/* clang-format on */

static void makes_the_elements_and_bytes_of_the_architecture(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(examples); i++) {
        struct tw_etmv4_unit_config config = examples[i].config;
        size_t size;

        CHECK_CASE(examples[i].name);
        config.is_ete = !examples[i].is_etmv4;
        free(check_example(config, examples[i].registers, examples[i].log, examples[i].elements,
                           examples[i].bytes, &size));
    }
}

/* The fewest packets for a string of atoms, by trying all. */
static unsigned fewest(uint32_t atoms, unsigned count)
{
    unsigned best[32] = { 0 };

    for (unsigned end = 1; end <= count; end++) {
        best[end] = UINT32_MAX;
        for (unsigned head = 0; head < 256; head++) {
            const struct tw_atom_packet *packet = &tw_etmv4_atoms[head];
            const unsigned size = packet->count;

            if (size && size <= end &&
                (atoms >> (end - size) & ((1u << size) - 1)) == packet->bits &&
                best[end - size] + 1 < best[end])
                best[end] = best[end - size] + 1;
        }
    }
    return best[count];
}

/* [K10.5.2.10.2] [K10.5.2.10.3] [K10.5.2.10.4] [K10.5.2.10.5] [K10.5.2.10.6]
   [K10.5.2.10.7] [K10.5.2.10.8] */
static void packs_atoms_in_the_fewest_bytes(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 12; count++) {
        for (uint32_t atoms = 0; atoms < 1u << count; atoms++) {
            uint64_t left = atoms;
            unsigned left_count = count, packets = 0;

            while (left_count) {
                uint8_t head;
                const unsigned packed = tw_etmv4_unit_atom_packet(&head, left, left_count);

                CHECK(packed > 0 && packed <= left_count);
                CHECK_EQ(tw_etmv4_atoms[head].count, packed);
                CHECK_EQ(tw_etmv4_atoms[head].bits, left & ((1u << packed) - 1));
                left >>= packed;
                left_count -= packed;
                packets++;
            }
            CHECK_EQ(packets, fewest(atoms, count));
        }
    }
}

/* The size of the smallest packet for an address, from what the last three were. */
struct known {
    uint64_t address;
    bool is_t32;
};

static size_t smallest(const struct known history[3], uint64_t address, bool is_t32)
{
    const unsigned shift = is_t32 ? 1 : 2;
    const uint64_t changed = address ^ history[0].address;

    for (unsigned i = 0; i < 3; i++)
        if (history[i].address == address && history[i].is_t32 == is_t32)
            return 1;
    return changed >> (7 + shift) == 0    ? 2
           : changed >> (15 + shift) == 0 ? 3
           : changed >> 32 == 0           ? 5
                                          : 9;
}

/* An address near the last one, or far away, or one of before. */
static uint64_t wander(struct check_random *random, const struct known history[3])
{
    static const uint64_t masks[] = { 0x1fc, 0x1fffc, 0xfffffffc, ~(uint64_t)3 };

    if (check_random_below(random, 4) == 0)
        return history[check_random_below(random, 3)].address & ~(uint64_t)3;
    return (history[0].address ^
            (check_random_next(random) & masks[check_random_below(random, 4)])) &
           ~(uint64_t)3;
}

static void branch_to(struct tw_etmv4_unit *unit, uint64_t from, uint64_t to, bool is_t32)
{
    struct tw_retired at = { .address = from,
                             .target = to,
                             .isa = is_t32 ? TW_ISA_T32 : TW_ISA_A64,
                             .size = is_t32 ? 2 : 4,
                             .kind = TW_RETIRED_INDIRECT,
                             .flags = TW_RETIRED_TAKEN };

    CHECK_EQ(tw_etmv4_unit_retire(unit, &at, 1), TW_OK);
}

static void addresses_take_the_fewest_bytes(void **state)
{
    struct check_random random = check_random_start(0x61646472);
    const struct tw_etmv4_unit_config config = { .size = sizeof config,
                                                 .is_ete = true,
                                                 .no_gathering = true };
    const size_t times = check_scale(100000);
    struct tw_etmv4_unit *unit;
    uint64_t sizes[10] = { 0 };

    (void)state;
    for (unsigned is_t32 = 0; is_t32 < 2; is_t32++) {
        struct known history[3] = { 0 };
        const struct tw_step_context context = { .security = TW_NONSECURE,
                                                 .is_64bit = !is_t32 };
        uint64_t at = 0x1000;

        CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
        set_registers(unit, "TRCVICTLR=0x201 TRCCONFIGR=1 TRCPRGCTLR=1");
        CHECK_EQ(tw_etmv4_unit_context(unit, &context), TW_OK);
        for (size_t i = 0; i < times; i++) {
            const uint64_t next = wander(&random, history);
            const size_t want = smallest(history, at, is_t32);
            size_t made;

            tw_etmv4_unit_take(unit);
            branch_to(unit, at, next, is_t32);
            (void)tw_etmv4_unit_output(unit, &made);
            if (i)                        /* the first brings more: A-Sync, Trace Info ... */
                CHECK_EQ(made, want + 1); /* and the atom */
            sizes[want]++;
            memmove(&history[1], &history[0], 2 * sizeof history[0]);
            history[0] = (struct known){ at, is_t32 };
            at = next;
        }
        tw_etmv4_unit_free(unit);
    }
    CHECK(sizes[1] && sizes[2] && sizes[3] && sizes[5] && sizes[9]);
}

static void presets_program_the_registers(void **state)
{
    static const struct {
        const char *name;
        uint64_t minimal, exclude, include;
    } want[] = {
        { "TRCCONFIGR", 0x18c1, 0x18c1, 0x18c1 },
        { "TRCSYNCPR", 0xc, 0xc, 0xc },
        { "TRCVICTLR", 0x6f0201, 0x6f0201, 0x6f0201 },
        { "TRCVIIECTLR", 0, 0x10000, 1 },
        { "TRCACVR0", 0, 0x1000, 0x1000 },
        { "TRCACVR1", 0, 0x1ffc, 0x1ffc },
        { "trcacatr0", 0, 0, 0 },
    };

    (void)state;
    for (unsigned preset = TW_ETMV4_UNIT_MINIMAL; preset <= TW_ETMV4_UNIT_INCLUDE; preset++) {
        const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = true };
        struct tw_etmv4_unit *unit;
        uint64_t value;

        CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
        CHECK_EQ(tw_etmv4_unit_preset(unit, (enum tw_etmv4_unit_preset)preset, 0x1000, 0x1ffc),
                 TW_OK);
        for (size_t i = 0; i < LENGTH(want); i++) {
            CHECK_CASE(want[i].name);
            CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, want[i].name), TW_OK);
            CHECK_EQ(value, preset == TW_ETMV4_UNIT_MINIMAL   ? want[i].minimal
                            : preset == TW_ETMV4_UNIT_EXCLUDE ? want[i].exclude
                                                              : want[i].include);
        }
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCTRACEIDR"), TW_OK);
        CHECK(value != 0);
        tw_etmv4_unit_free(unit);
    }
}

static void refuses_what_cannot_be(void **state)
{
    static const struct {
        const char *name, *registers, *log;
    } bad[] = {
        { "cancel of what is certain", SPEC, "speculate on\ni 0 14000001\ncommit\ncancel 1" },
        { "no branch to mispredict", SPEC, "speculate on\ni 0 d503201f\ncancel 0 direction" },
        { "too much is not certain", SPEC "TRCIDR8=1",
          "speculate on\ni 0 14000001\ni 4 14000001" },
        { "a unit that does not speculate", "", "speculate on" },
        { "a transaction in another", "", "transaction start\ntransaction start" },
        { "no transaction", "", "transaction commit" },
        { "a register while it runs", "", "register TRCCONFIGR=1" },
        { "no such register", "", "register TRCFOO=1" },
        { "no such register of many", "", "register TRFCR_EL12=1" },
    };
    const struct tw_etmv4_unit_config config = { .size = sizeof config };
    struct tw_etmv4_unit *unit;
    uint64_t value;

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        const struct tw_etmv4_unit_config ete = { .is_ete = true };
        struct shown shown = { 0 };
        uint8_t *bytes;
        size_t size;

        CHECK_CASE(bad[i].name);
        CHECK_EQ(run_example(ete, bad[i].registers, bad[i].log, &shown, &bytes, &size),
                 TW_E_ARGUMENT);
        free(bytes);
    }
    CHECK_CASE("registers");
    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCACVR16", 0), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCACVR", 0), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCACVR15", 5), TW_OK);
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCACVR15"), TW_OK);
    CHECK_EQ(value, 5);
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, ""), TW_E_ARGUMENT);
    set_register(unit, "TRCSYNCPR", 7);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1), TW_E_CONFIG);
    set_register(unit, "TRCSYNCPR", 0);
    set_register(unit, "TRCCONFIGR", 0x11);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1), TW_E_CONFIG);
    set_register(unit, "TRCCCCTLR", 4);
    set_register(unit, "TRCIDR8", 5000);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1), TW_E_CONFIG);
    tw_etmv4_unit_free(unit);
}

static void choices_by_name(void **state)
{
    struct tw_etmv4_unit_config config = { .size = sizeof config };

    (void)state;
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "return-stack", 15), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "return-stack", 16), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "source-addresses", 2), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q", 70000), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q-uncounted", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "fifo", 64), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "cycles-per-byte", 3), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "self-hosted", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "self-hosted", 2), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "at-once", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "speed", 1), TW_E_ARGUMENT);
    CHECK_EQ(config.return_stack_depth, 15);
    CHECK_EQ(config.source_addresses, 2);
    CHECK_EQ(config.q_instructions, 70000);
    CHECK_EQ(config.fifo_size, 64);
    CHECK_EQ(config.cycles_per_byte, 3);
    CHECK(config.q_without_count && config.is_self_hosted && config.no_gathering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_elements_and_bytes_of_the_architecture),
        cmocka_unit_test(packs_atoms_in_the_fewest_bytes),
        cmocka_unit_test(addresses_take_the_fewest_bytes),
        cmocka_unit_test(presets_program_the_registers),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(choices_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
