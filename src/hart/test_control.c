/* SPDX-License-Identifier: BSD-2-Clause */
/* What controls the encoder from outside: enables, modes, resynchronization, signals of the hart. */
#include "check.h"

#include <stdio.h>

#include <trackway/hart.h>

#include "hart/test_kept.h"

#define BLOCK(at)                                                                              \
    {                                                                                          \
        .iaddr = at, .iretire = 4, .ilastsize = 1, .priv = 3                                   \
    }

static void retire(struct tw_etrace_unit *unit, uint64_t address)
{
    const struct tw_etrace_block block = BLOCK(address);

    CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
}

static unsigned type_of(const struct kept *kept, size_t number)
{
    CHECK(number < kept->count);
    return kept->packets[number].base.type;
}

/* [RVT 2.1/2] [RVT 2.1/3] */
static void what_is_queued_goes_out_at_the_end(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    const struct tw_etrace_access access = { .dtype = 1, .dsize = 2, .daddr = 0x1000 };
    const struct tw_etrace_cycle cycle = { .accesses = &access, .access_count = 1 };
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;
    size_t before;

    (void)state;
    config.encapsulation = TW_ETRACE_ENCAP_ATB; /* data in a stream of its own */
    unit = make_unit(kept, &config);
    write_field(unit, "iEnable", 1);
    retire(unit, 0x1000);
    retire(unit, 0x1008);
    CHECK_EQ(kept->size[0], 0); /* nothing is pressing */
    write_field(unit, "iEnable", 0);
    CHECK(kept->size[0] > 0);
    CHECK_EQ(type_of(kept, kept->count - 1), TW_ETRACE_F3S3);
    CHECK_EQ(type_of(kept, kept->count - 2), TW_ETRACE_F2); /* the last instruction */
    write_field(unit, "dEnable", 1);
    before = kept->size[1];
    CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
    CHECK_EQ(kept->size[1], before);
    write_field(unit, "dEnable", 0);
    CHECK(kept->size[1] > before);
    tw_etrace_unit_free(unit);
    free(kept);
}

/* [RVT 2.1/5] */
static void triggers_work_data_trace(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;
    unsigned stores = 0;

    (void)state;
    unit = make_unit(kept, &config);
    write_field(unit, "dTrigEnable", 1);
    for (unsigned i = 0; i < 30; i++) {
        const struct tw_etrace_block block = { .iaddr = 0x1000 + 8 * (uint64_t)i,
                                               .iretire = 4,
                                               .ilastsize = 1,
                                               .priv = 3,
                                               .trigger = i == 10   ? TW_ETRACE_TRIGGER_ON
                                                          : i == 20 ? TW_ETRACE_TRIGGER_OFF
                                                                    : 0 };
        const struct tw_etrace_access access = { .dtype = 1, .dsize = 2, .daddr = 4 * i };
        const struct tw_etrace_cycle cycle = {
            .blocks = &block, .block_count = 1, .accesses = &access, .access_count = 1
        };
        uint64_t is_on;

        CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
        CHECK_EQ(tw_etrace_unit_read_field(unit, &is_on, "dEnable"), TW_OK);
        CHECK_EQ(is_on, i >= 10 && i < 20);
    }
    tw_etrace_unit_flush(unit);
    for (size_t i = 0; i < kept->count; i++)
        stores += type_of(kept, i) == TW_ETRACE_STORE;
    CHECK(stores >= 9 && stores <= 11);
    tw_etrace_unit_free(unit);
    free(kept);
}

/* Packets, cycles and half-words between synchronization packets.
   [RVT 2.1/9] [RVT 2.1/10] */
static void the_longest_way_between_synchronizations(void **state)
{
    struct kept *kept = new_kept();

    (void)state;
    for (unsigned mode = 0; mode < 4; mode++)
        for (unsigned most = 0; most < 4; most++) {
            const struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_SEED);
            struct tw_etrace_unit *unit = make_unit(kept, &config);
            uint64_t longest = 0, last = 0, syncs = 0;

            check_case("ResyncMode %u, ResyncMax %u", mode, most);
            kept->count = 0;
            write_field(unit, "ResyncMode", mode);
            write_field(unit, "ResyncMax", most);
            write_field(unit, "iEnable", 1);
            for (unsigned i = 0; i < 1500; i++) { /* a jump and its packet in each cycle */
                const struct tw_etrace_block block = { .iaddr = 0x1000 + 16 * (i * 7ull % 64),
                                                       .iretire = 4,
                                                       .ilastsize = 1,
                                                       .priv = 3,
                                                       .itype = 10 };
                const size_t before = kept->count;

                CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
                for (size_t k = before; k < kept->count; k++) {
                    const uint64_t now = mode == 1 ? k : mode == 2 ? i : 4ull * i;

                    if (type_of(kept, k) != TW_ETRACE_F3S0)
                        continue;
                    if (syncs++ && now - last > longest)
                        longest = now - last;
                    last = now;
                }
            }
            tw_etrace_unit_free(unit);
            if (mode == 0) {
                CHECK_EQ(syncs, 1);
                continue;
            }
            CHECK(syncs > 2);
            /* 8.2: when the count is reached, with the next instruction */
            CHECK(longest >= UINT64_C(16) << most);
            CHECK(longest <= (UINT64_C(16) << most) + (mode == 3 ? 8 : 3));
        }
    free(kept);
}

/* [RVT 2.3/8] [RVT T4.5/1] [RVT 5/6] */
static void filters_by_impdef(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_SEED);
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;
    unsigned syncs = 0;

    (void)state;
    config.impdef_width = 128;
    unit = make_unit(kept, &config);
    write_field(unit, "iFilters", 1);
    write_field(unit, "filter0.filterEnable", 1);
    write_field(unit, "filter0.matchImpdef", 1);
    write_field(unit, "filter0.matchMaskImpdef", 0xf0);
    write_field(unit, "filter0.matchValueImpdef", 0x5a); /* the low bits do not count */
    write_field(unit, "filter0.matchMaskImpdefHigh", UINT64_C(1) << 63);
    write_field(unit, "filter0.matchValueImpdefHigh", UINT64_MAX);
    write_field(unit, "iEnable", 1);
    for (unsigned i = 0; i < 64; i++) {
        const struct tw_etrace_block block = { .iaddr = 0x1000 + 8 * (uint64_t)i,
                                               .iretire = 4,
                                               .ilastsize = 1,
                                               .priv = 3,
                                               .impdef = i << 4 & 0xff,
                                               .impdef_high = (uint64_t)(i < 32) << 63 };

        CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
    }
    write_field(unit, "iEnable", 0);
    for (size_t i = 0; i < kept->count; i++)
        if (type_of(kept, i) == TW_ETRACE_F3S0) {
            syncs++;
            CHECK_EQ((kept->packets[i].address - 0x1000) / 8 % 16, 5);
            CHECK(kept->packets[i].address < 0x1000 + 8 * 32);
        }
    CHECK_EQ(syncs, 2);
    tw_etrace_unit_free(unit);
    free(kept);
}

/* [RVT 3.1.5/1] [RVT 3.1.6/1] [RVT 3.1.6/2] [RVT T4.5/3] [RVT T4.5/4] [RVT 8/3] */
static void halt_and_reset_end_the_trace(void **state)
{
    struct kept *kept = new_kept();

    (void)state;
    for (unsigned is_reset = 0; is_reset < 2; is_reset++)
        for (unsigned is_seed = 0; is_seed < 2; is_seed++) {
            const struct tw_etrace_config config =
                make_config(is_seed ? TW_ETRACE_LAYOUT_SEED : TW_ETRACE_LAYOUT_V2);
            struct tw_etrace_unit *unit = make_unit(kept, &config);
            void (*signal)(struct tw_etrace_unit *, bool) =
                is_reset ? tw_etrace_unit_reset : tw_etrace_unit_halted;
            const struct tw_etrace_packet *at;

            check_case("%s, %s", is_reset ? "reset" : "halted", is_seed ? "draft" : "2.0");
            kept->count = 0;
            write_field(unit, "iEnable", 1);
            retire(unit, 0x1000);
            retire(unit, 0x1008);
            signal(unit, true);
            /* support, sync, the last instruction, support */
            CHECK_EQ(kept->count, 4);
            at = &kept->packets[2];
            CHECK_EQ(at->base.type, TW_ETRACE_F2);
            CHECK_EQ(at->address, 0x100c);
            CHECK_EQ(type_of(kept, 3), TW_ETRACE_F3S3);
            CHECK_EQ(kept->packets[3].qual_status, TW_ETRACE_ENDED_REP);
            retire(unit, 0x5000); /* not seen */
            CHECK_EQ(kept->count, 4);
            signal(unit, false);
            retire(unit, 0x2000);
            retire(unit, 0x2008);
            write_field(unit, "iEnable", 0);
            CHECK_EQ(type_of(kept, 4), TW_ETRACE_F3S0);
            CHECK_EQ(kept->packets[4].address, 0x2000);
            tw_etrace_unit_free(unit);
        }
    free(kept);
}

/* [RVT 4.2/6] */
static void groups_of_a_cycle_are_in_order(void **state)
{
    static const struct tw_etrace_block blocks[] = {
        { .iaddr = 0x1000, .iretire = 4, .ilastsize = 1, .priv = 3, .itype = 5 },
        { .iaddr = 0x2000, .iretire = 2, .ilastsize = 1, .priv = 3, .itype = 10 },
        { .iaddr = 0x3000, .iretire = 6, .ilastsize = 1, .priv = 3, .itype = 4 },
        { .iaddr = 0x300c, .iretire = 2, .ilastsize = 0, .priv = 3, .itype = 0 }
    };
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_SEED);
    struct kept *one = new_kept(), *four = new_kept();
    const struct tw_etrace_cycle cycle = { .blocks = blocks, .block_count = LENGTH(blocks) };

    (void)state;
    config.taken_branches = 4;
    for (unsigned i = 0; i < 2; i++) {
        struct tw_etrace_unit *unit = make_unit(i ? four : one, &config);

        write_field(unit, "iEnable", 1);
        if (i)
            CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
        else
            CHECK_EQ(tw_etrace_unit_retire(unit, blocks, LENGTH(blocks)), TW_OK);
        write_field(unit, "iEnable", 0);
        tw_etrace_unit_free(unit);
    }
    CHECK(one->size[0] > 0);
    CHECK_BYTES(four->bytes[0], four->size[0], one->bytes[0], one->size[0]);
    free(one);
    free(four);
}

/* What changes a mode tells the decoder; what could not tell is refused.
   [RVT 6.5/2] [RVT 3.2/1] [RVT 3.2/2] */
static void a_change_of_mode_is_reported(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_SEED);
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;
    size_t before;

    (void)state;
    config.sijump = config.has_sijump_mode = true;
    unit = make_unit(kept, &config);
    write_field(unit, "siJump", 1); /* before anything was sent */
    write_field(unit, "siJump", 0);
    write_field(unit, "iEnable", 1);
    retire(unit, 0x1000);
    retire(unit, 0x1008);
    before = kept->count;
    write_field(unit, "FullAddress", 1);
    CHECK(kept->count > before);
    CHECK_EQ(type_of(kept, kept->count - 1), TW_ETRACE_F3S3);
    CHECK_EQ(kept->packets[kept->count - 1].qual_status, TW_ETRACE_NO_CHANGE);
    CHECK_EQ(kept->packets[kept->count - 1].ioptions, 4);
    retire(unit, 0x1010);
    retire(unit, 0x1018);
    CHECK_EQ(type_of(kept, kept->count - 1), TW_ETRACE_F3S0); /* it begins anew */
    CHECK_EQ(tw_etrace_unit_write_field(unit, "siJump", 1), TW_E_ARGUMENT);
    CHECK_TEXT(tw_etrace_unit_fault(unit),
               "the support packet has no bit that tells of a change of this mode");
    tw_etrace_unit_free(unit);
    free(kept);
}

/* [RVT T4.9/1] [RVT 4.4/1] */
static void an_access_retires_with_dretire(void **state)
{
    static const char log[] = "dretire,dtype,daddr,dsize,data\n"
                              "1,1,1000,2,1\n0,1,2000,2,2\n0,0,0,0,0\n1,0,3000,2,3\n";
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    const struct tw_hart_options options = { .size = sizeof options, .trace = &config };
    struct tw_hart_event event;
    struct tw_hart *hart;
    uint64_t sum = 0;

    (void)state;
    CHECK_EQ(tw_hart_open_memory(&hart, (const uint8_t *)log, sizeof log - 1, &options, NULL),
             TW_OK);
    while (tw_hart_next(hart, &event) == TW_OK)
        for (size_t i = 0; i < event.cycle.access_count; i++)
            sum += event.cycle.accesses[i].daddr;
    CHECK_EQ(sum, 0x4000);
    tw_hart_free(hart);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_queued_goes_out_at_the_end),
        cmocka_unit_test(triggers_work_data_trace),
        cmocka_unit_test(the_longest_way_between_synchronizations),
        cmocka_unit_test(filters_by_impdef),
        cmocka_unit_test(halt_and_reset_end_the_trace),
        cmocka_unit_test(groups_of_a_cycle_are_in_order),
        cmocka_unit_test(a_change_of_mode_is_reported),
        cmocka_unit_test(an_access_retires_with_dretire),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
