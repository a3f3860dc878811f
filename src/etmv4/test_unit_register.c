/* SPDX-License-Identifier: BSD-2-Clause */
/* The ETMv4 and ETE trace unit: its registers by name, what it says of itself, what may be written
   when, and what cannot be enabled. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include <trackway/etmv4_unit.h>

/* Every register, with how many of the kind there are (0: one, without a number). */
static const struct {
    const char *name;
    unsigned count;
} kinds[] = {
    { "TRCCONFIGR", 0 }, { "TRCAUXCTLR", 0 },   { "TRCEVENTCTL0R", 0 }, { "TRCEVENTCTL1R", 0 },
    { "TRCRSR", 0 },     { "TRCSTALLCTLR", 0 }, { "TRCTSCTLR", 0 },     { "TRCSYNCPR", 0 },
    { "TRCCCCTLR", 0 },  { "TRCBBCTLR", 0 },    { "TRCTRACEIDR", 0 },   { "TRCQCTLR", 0 },
    { "TRCITEEDCR", 0 }, { "TRCVICTLR", 0 },    { "TRCVIIECTLR", 0 },   { "TRCVISSCTLR", 0 },
    { "TRCSTATR", 0 },   { "TRCSEQEVR", 3 },    { "TRCVIPCSSCTLR", 0 }, { "TRCSEQRSTEVR", 0 },
    { "TRCSEQSTR", 0 },  { "TRCEXTINSELR", 4 }, { "TRCCNTRLDVR", 4 },   { "TRCCNTCTLR", 4 },
    { "TRCCNTVR", 4 },   { "TRCRSCTLR", 32 },   { "TRCSSCCR", 8 },      { "TRCSSCSR", 8 },
    { "TRCSSPCICR", 8 }, { "TRCOSLSR", 0 },     { "TRCACVR", 16 },      { "TRCACATR", 16 },
    { "TRCCIDCVR", 8 },  { "TRCVMIDCVR", 8 },   { "TRCCIDCCTLR", 2 },   { "TRCVMIDCCTLR", 2 },
    { "TRCIDR", 14 },    { "TRCDEVARCH", 0 },   { "TRCAUTHSTATUS", 0 }, { "TRCITECR_EL1", 0 },
    { "TRFCR_EL1", 0 },  { "TRFCR_EL2", 0 },    { "TRCITECR_EL2", 0 },  { "MDCR_EL3", 0 },
    { "HCR_EL2", 0 },
};

static struct tw_etmv4_unit *make(bool is_ete)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config, .is_ete = is_ete };
    struct tw_etmv4_unit *unit;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    return unit;
}

static uint64_t read(const struct tw_etmv4_unit *unit, const char *name)
{
    uint64_t value = 0;

    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_OK);
    return value;
}

static void write(struct tw_etmv4_unit *unit, const char *name, uint64_t value)
{
    CHECK_EQ(tw_etmv4_unit_write_register(unit, name, value), TW_OK);
}

static const char *name_of(size_t kind, unsigned number)
{
    static char name[40];

    if (kinds[kind].count)
        (void)snprintf(name, sizeof name, "%s%u", kinds[kind].name, number);
    else
        (void)snprintf(name, sizeof name, "%s", kinds[kind].name);
    return name;
}

/* A value of its own for each register, among the bits that are kept. */
static uint64_t value_of(size_t kind, unsigned number)
{
    if (strcmp(kinds[kind].name, "TRCCONFIGR") == 0)
        return 0x18c1;
    if (strcmp(kinds[kind].name, "TRCIDR") == 0 && (number == 0 || number == 2))
        return number ? 0xd0001088 : 0x28c1cea1; /* they govern what TRCCONFIGR keeps */
    return 0x10000 + 0x100 * kind + number;
}

/* [K10.5.7.6/1] */
static void each_register_keeps_its_own_value(void **state)
{
    struct tw_etmv4_unit *unit = make(true);

    (void)state;
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < LENGTH(kinds); i++)
            for (unsigned n = 0; n < (kinds[i].count ? kinds[i].count : 1); n++) {
                check_case("%s", name_of(i, n));
                if (round == 0)
                    write(unit, name_of(i, n), value_of(i, n));
                else
                    CHECK_EQ(read(unit, name_of(i, n)), value_of(i, n));
            }
    tw_etmv4_unit_free(unit);
}

static void numbers_end_where_registers_do(void **state)
{
    struct tw_etmv4_unit *unit = make(true);
    uint64_t value;
    char name[50];

    (void)state;
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        check_case("%s", kinds[i].name);
        (void)snprintf(name, sizeof name, "%s%u", kinds[i].name, kinds[i].count);
        if (strcmp(kinds[i].name, "TRCEXTINSELR") != 0 || kinds[i].count)
            CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_E_ARGUMENT);
        (void)snprintf(name, sizeof name, "%sX", kinds[i].name);
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_E_ARGUMENT);
        (void)snprintf(name, sizeof name, "X%s", kinds[i].name);
        CHECK_EQ(tw_etmv4_unit_write_register(unit, name, 0), TW_E_ARGUMENT);
    }
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCACVR"), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCACVR0015"), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCNONE", 1), TW_E_ARGUMENT);
    CHECK_TEXT(tw_etmv4_unit_fault(unit), "there is no register TRCNONE");
    /* In any case, and ETE's first selector by its older name. */
    write(unit, "trcAcVr15", 0x1234);
    CHECK_EQ(read(unit, "TRCACVR15"), 0x1234);
    write(unit, "TRCEXTINSELR", 0x77);
    CHECK_EQ(read(unit, "TRCEXTINSELR0"), 0x77);
    tw_etmv4_unit_free(unit);
}

/* What the identification registers say, field by field. */
static const struct field {
    const char *name;
    unsigned high, low;
    unsigned etmv4, ete;
} fields[] = {
    { "TRCIDR0", 0, 0, 1, 1 },         /* RES1 */
    { "TRCIDR0", 2, 1, 0, 0 },         /* no loads and stores as P0 elements */
    { "TRCIDR0", 4, 3, 0, 0 },         /* no data trace */
    { "TRCIDR0", 5, 5, 1, 1 },         /* branch broadcasting */
    { "TRCIDR0", 6, 6, 0, 0 },         /* no conditional instructions */
    { "TRCIDR0", 7, 7, 1, 1 },         /* cycle counting */
    { "TRCIDR0", 9, 9, 1, 1 },         /* return stack */
    { "TRCIDR0", 11, 10, 3, 3 },       /* four events */
    { "TRCIDR0", 14, 14, 1, 1 },       /* Q elements with a filter */
    { "TRCIDR0", 16, 15, 3, 3 },       /* Q elements with and without count */
    { "TRCIDR0", 22, 22, 0, 1 },       /* instrumentation */
    { "TRCIDR0", 23, 23, 0, 1 },       /* timestamp markers */
    { "TRCIDR0", 28, 24, 8, 8 },       /* timestamps of 64 bits */
    { "TRCIDR0", 29, 29, 1, 1 },       /* COMMOPT */
    { "TRCIDR0", 30, 30, 0, 0 },       /* transaction starts are P0 elements */
    { "TRCIDR1", 31, 24, 0x41, 0x41 }, /* Arm */
    { "TRCIDR1", 11, 8, 4, 0xf },
    { "TRCIDR1", 7, 4, 5, 0xf },
    { "TRCIDR2", 4, 0, 8, 8 },              /* addresses of 64 bits */
    { "TRCIDR2", 9, 5, 4, 4 },              /* Context ID of four bytes */
    { "TRCIDR2", 14, 10, 4, 4 },            /* VMID of four bytes */
    { "TRCIDR2", 28, 25, 8, 8 },            /* cycle counts of 20 bits */
    { "TRCIDR2", 31, 31, 1, 1 },            /* WFI and WFE are P0 elements */
    { "TRCIDR3", 11, 0, 4, 4 },             /* the least threshold */
    { "TRCIDR2", 30, 29, 2, 2 },            /* VMID is CONTEXTIDR_EL2 */
    { "TRCIDR3", 24, 24, 1, 1 },            /* System Errors can be forced */
    { "TRCIDR3", 25, 25, 0, 0 },            /* TRCSYNCPR can be written */
    { "TRCIDR3", 31, 31, 1, 1 },            /* NOOVERFLOW */
    { "TRCIDR3", 26, 26, 1, 1 },            /* STALLCTL */
    { "TRCIDR3", 27, 27, 1, 1 },            /* SYSSTALL */
    { "TRCIDR4", 3, 0, 8, 8 },              /* pairs of address comparators */
    { "TRCIDR4", 15, 12, 8, 8 },            /* PE comparator inputs */
    { "TRCIDR4", 19, 16, 15, 15 },          /* pairs of resource selectors */
    { "TRCIDR4", 23, 20, 8, 8 },            /* single-shot comparators */
    { "TRCIDR4", 27, 24, 8, 8 },            /* Context ID comparators */
    { "TRCIDR4", 31, 28, 8, 8 },            /* VMID comparators */
    { "TRCIDR5", 8, 0, 0xff, 0x1ff },       /* external inputs */
    { "TRCIDR5", 11, 9, 4, 4 },             /* selectors of them */
    { "TRCIDR5", 22, 22, 1, 1 },            /* ATB trigger */
    { "TRCIDR5", 27, 25, 4, 4 },            /* states of the sequencer */
    { "TRCIDR5", 30, 28, 4, 4 },            /* counters */
    { "TRCIDR8", 31, 0, 0, 0 },             /* no speculation until it is written */
    { "TRCIDR9", 31, 0, 0, 0 },             /* no keys of data trace */
    { "TRCDEVARCH", 31, 21, 0x23b, 0x23b }, /* Arm */
    { "TRCDEVARCH", 20, 20, 1, 1 },
    { "TRCDEVARCH", 19, 16, 5, 3 }, /* 4.5; 1.3 */
    { "TRCDEVARCH", 15, 0, 0x4a13, 0x5a13 },
};

/* [K10.5.9/1] [K10.5.9/2] [K10.5.9/3] [K10.5.9/4] [K10.5.9/5] [K10.5.9/6] [K10.5.9/7]
   [K10.5.9/8] [K10.5.9/9] [K10.5.9/10] [K10.5.9/12] [K10.5.9/14] [K10.5.9/37] [K10.5.9/38] */
static void a_unit_says_what_it_has(void **state)
{
    (void)state;
    for (unsigned is_ete = 0; is_ete < 2; is_ete++) {
        struct tw_etmv4_unit *unit = make(is_ete);

        for (size_t i = 0; i < LENGTH(fields); i++) {
            const struct field *field = &fields[i];
            const uint64_t mask = ((uint64_t)2 << (field->high - field->low)) - 1;

            check_case("%s[%u:%u], %u", field->name, field->high, field->low, is_ete);
            CHECK_EQ(read(unit, field->name) >> field->low & mask,
                     is_ete ? field->ete : field->etmv4);
        }
        CHECK_EQ(read(unit, "TRCSTATR"), 3);
        CHECK_EQ(read(unit, "TRCIDR6"), is_ete ? 7 : 0); /* Exception levels that Realm has */
        tw_etmv4_unit_free(unit);
    }
}

/* What a decoder needs, and in it only what the unit does. */
static void a_decoder_is_told_the_registers_that_it_needs(void **state)
{
    static const char *const names[] = {
        "TRCTRACEIDR", "TRCCONFIGR",    "TRCIDR0",    "TRCIDR1",  "TRCIDR2",
        "TRCIDR8",     "TRCIDR9",       "TRCIDR10",   "TRCIDR11", "TRCIDR12",
        "TRCIDR13",    "TRCAUTHSTATUS", "TRCDEVARCH",
    };
    struct tw_etmv4_unit *unit = make(false);
    struct tw_register found;

    (void)state;
    write(unit, "TRCTRACEIDR", 0x21);
    for (unsigned i = 8; i < 14; i++) {
        char name[20];

        (void)snprintf(name, sizeof name, "TRCIDR%u", i);
        write(unit, name, 0x700 + i);
    }
    write(unit, "TRCAUTHSTATUS", 0xcc);
    write(unit, "TRCCONFIGR", 0xffffffff);
    for (size_t i = 0; i < LENGTH(names); i++) {
        CHECK_CASE(names[i]);
        CHECK_EQ(tw_etmv4_unit_register(unit, &found, i), TW_OK);
        CHECK_TEXT(found.name, names[i]);
        CHECK_EQ(found.value, read(unit, names[i]));
    }
    CHECK_EQ(tw_etmv4_unit_register(unit, &found, LENGTH(names)), TW_END);
    tw_etmv4_unit_free(unit);
}

/* [K10.5.9/11] [K10.5.9/36] [K10.5.9/39] */
static void what_a_unit_lacks_reads_as_zero(void **state)
{
    /* What is written to an identification register, and what of TRCCONFIGR is gone. */
    static const struct {
        const char *name;
        uint64_t without;
        uint32_t etmv4, ete;
    } cases[] = {
        { "TRCIDR0", 0x20, 0x8, 0 },            /* branch broadcast: always in ETE */
        { "TRCIDR0", 0x80, 0x10, 0 },           /* cycle counts: always in ETE */
        { "TRCIDR2", 0x3e0, 0x40, 0x40 },       /* Context ID */
        { "TRCIDR2", 0x7c00, 0x80, 0x80 },      /* VMID */
        { "TRCIDR0", 0x1f000000, 0x800, 0 },    /* timestamps: always in ETE */
        { "TRCIDR0", 0x200, 0x1000, 0x1000 },   /* return stack */
        { "TRCIDR0", 0x18000, 0x6000, 0x6000 }, /* Q elements */
    };
    const uint32_t all = 0x4f8d9 | 0x7000;

    (void)state;
    for (unsigned is_ete = 0; is_ete < 2; is_ete++)
        for (size_t i = 0; i < LENGTH(cases); i++) {
            struct tw_etmv4_unit *unit = make(is_ete);

            check_case("%s without 0x%x, %u", cases[i].name, (unsigned)cases[i].without,
                       is_ete);
            write(unit, "TRCCONFIGR", 0xffffffff);
            CHECK_EQ(read(unit, "TRCCONFIGR"), all);
            write(unit, cases[i].name, read(unit, cases[i].name) & ~cases[i].without);
            CHECK_EQ(read(unit, "TRCCONFIGR"), all & ~(is_ete ? cases[i].ete : cases[i].etmv4));
            tw_etmv4_unit_free(unit);
        }
}

static void an_enabled_unit_is_not_programmed(void **state)
{
    struct tw_etmv4_unit *unit = make(true);

    (void)state;
    write(unit, "TRCPRGCTLR", 1);
    CHECK_EQ(read(unit, "TRCSTATR"), 0);
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        const char *name = name_of(i, 0);
        const bool is_of_the_processor = !strncmp(name, "TRCITECR", 8) ||
                                         !strncmp(name, "TRFCR", 5) ||
                                         !strcmp(name, "MDCR_EL3") || !strcmp(name, "HCR_EL2");

        CHECK_CASE(name);
        CHECK_EQ(tw_etmv4_unit_write_register(unit, name, 1),
                 is_of_the_processor ? TW_OK : TW_E_ARGUMENT);
    }
    CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCSYNCPR", 8), TW_E_ARGUMENT);
    CHECK_TEXT(tw_etmv4_unit_fault(unit),
               "TRCSYNCPR may be written only while the unit is disabled");
    CHECK_EQ(tw_etmv4_unit_preset(unit, TW_ETMV4_UNIT_MINIMAL, 0, 0), TW_E_ARGUMENT);
    write(unit, "TRCPRGCTLR", 0);
    CHECK_EQ(read(unit, "TRCSTATR"), 3);
    write(unit, "TRCSYNCPR", 8);
    tw_etmv4_unit_free(unit);
}

/* [K10.5.9/40]
   A locked unit does not trace, and goes on when the lock is opened. */
static void the_os_lock_holds_the_unit(void **state)
{
    static const char *const locks[] = { "TRCOSLAR", "OSLAR_EL1" };

    (void)state;
    for (size_t i = 0; i < LENGTH(locks); i++) {
        struct tw_etmv4_unit *unit = make(true);
        const uint64_t before = read(unit, "TRCOSLSR");

        CHECK_CASE(locks[i]);
        write(unit, locks[i], 1);
        CHECK_EQ(read(unit, "TRCOSLSR"), before | 2);
        write(unit, "TRCPRGCTLR", 1);
        CHECK_EQ(read(unit, "TRCPRGCTLR"), 1);
        CHECK_EQ(read(unit, "TRCSTATR"), 3);
        write(unit, locks[i], 0);
        CHECK_EQ(read(unit, "TRCOSLSR"), before);
        CHECK_EQ(read(unit, "TRCSTATR"), 0);
        write(unit, locks[i], 3); /* bit 0 alone is the lock */
        CHECK_EQ(read(unit, "TRCSTATR"), 3);
        write(unit, locks[i], 2);
        CHECK_EQ(read(unit, "TRCSTATR"), 0);
        write(unit, "TRCPRGCTLR", 2); /* ... and bit 0 alone enables */
        CHECK_EQ(read(unit, "TRCPRGCTLR"), 0);
        CHECK_EQ(read(unit, "TRCSTATR"), 3);
        tw_etmv4_unit_free(unit);
    }
}

/* [K10.5.7.2/I_PDMBT] [K10.5.7.4] [K10.5.7.5] */
static void presets_are_for_one_process(void **state)
{
    static const struct {
        enum tw_etmv4_unit_preset preset;
        uint64_t ranges;
    } cases[] = {
        { TW_ETMV4_UNIT_MINIMAL, 0 },
        { TW_ETMV4_UNIT_EXCLUDE, 0x10000 },
        { TW_ETMV4_UNIT_INCLUDE, 1 },
    };
    static const struct {
        const char *name;
        uint64_t value;
    } common[] = {
        { "TRCCONFIGR", 0x18c1 }, { "TRCEVENTCTL0R", 0 },  { "TRCEVENTCTL1R", 0 },
        { "TRCSTALLCTLR", 0 },    { "TRCSYNCPR", 12 },     { "TRCTSCTLR", 0 },
        { "TRCVISSCTLR", 0 },     { "TRCTRACEIDR", 0x10 }, { "TRCVICTLR", 0x6f0201 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_etmv4_unit *unit = make(true);
        const bool has_range = cases[i].preset != TW_ETMV4_UNIT_MINIMAL;

        for (size_t n = 0; n < LENGTH(common); n++)
            if (strcmp(common[n].name, "TRCTRACEIDR") != 0)
                write(unit, common[n].name, 0x5a5a5a5a);
        write(unit, "TRCVIIECTLR", 0x5a5a5a5a);
        write(unit, "TRCACATR0", 7);
        write(unit, "TRCACATR1", 7);
        CHECK_EQ(tw_etmv4_unit_preset(unit, cases[i].preset, 0x1000, 0x2000), TW_OK);
        for (size_t n = 0; n < LENGTH(common); n++) {
            check_case("%zu, %s", i, common[n].name);
            CHECK_EQ(read(unit, common[n].name), common[n].value);
        }
        CHECK_EQ(read(unit, "TRCVIIECTLR"), cases[i].ranges);
        CHECK_EQ(read(unit, "TRCACVR0"), has_range ? 0x1000 : 0);
        CHECK_EQ(read(unit, "TRCACVR1"), has_range ? 0x2000 : 0);
        CHECK_EQ(read(unit, "TRCACATR0"), has_range ? 0 : 7);
        CHECK_EQ(read(unit, "TRCACATR1"), has_range ? 0 : 7);
        /* An ID that is there stays. */
        write(unit, "TRCTRACEIDR", 0x33);
        CHECK_EQ(tw_etmv4_unit_preset(unit, cases[i].preset, 0, 0), TW_OK);
        CHECK_EQ(read(unit, "TRCTRACEIDR"), 0x33);
        tw_etmv4_unit_free(unit);
    }
}

static void choices_by_name(void **state)
{
    struct tw_etmv4_unit_config config = { .size = sizeof config };

    (void)state;
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "return-stack", 15), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "return-stack", 16), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "source-addresses", 255), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "source-addresses", 256), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q", UINT32_MAX), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q", (uint64_t)UINT32_MAX + 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q-uncounted", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "q-uncounted", 2), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "fifo", 64), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "cycles-per-byte", 3), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "self-hosted", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "at-once", 1), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "late-places", 3), TW_OK);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "restored-returns", 1), TW_OK);
    CHECK(config.late_places == 3 && config.restores_returns);
    CHECK_EQ(tw_etmv4_unit_config_set(&config, "at-last", 1), TW_E_ARGUMENT);
    CHECK_EQ(config.return_stack_depth, 15);
    CHECK_EQ(config.source_addresses, 255);
    CHECK_EQ(config.q_instructions, UINT32_MAX);
    CHECK(config.q_without_count && config.is_self_hosted && config.no_gathering);
    CHECK_EQ(config.fifo_size, 64);
    CHECK_EQ(config.cycles_per_byte, 3);
}

static void what_cannot_be_enabled(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
        const char *fault; /* NULL: it can */
    } cases[] = {
        { "TRCSYNCPR", 0, NULL },
        { "TRCSYNCPR", 7, "TRCSYNCPR is 7; it must be 0 or from 8 to 20" },
        { "TRCSYNCPR", 8, NULL },
        { "TRCSYNCPR", 20, NULL },
        { "TRCSYNCPR", 21, "TRCSYNCPR is 21; it must be 0 or from 8 to 20" },
        { "TRCSYNCPR", 0x20, NULL }, /* five bits */
        { "TRCIDR8", 4096, NULL },
        { "TRCIDR8", 4097, "TRCIDR8 is beyond 4096" },
        { "TRCCCCTLR", 3, "TRCCCCTLR is below TRCIDR3.CCITMIN: 3 cycles" },
        { "TRCCCCTLR", 4, NULL },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_etmv4_unit *unit = make(true);
        const bool is_count = strcmp(cases[i].name, "TRCCCCTLR") == 0;

        check_case("%s %u", cases[i].name, (unsigned)cases[i].value);
        write(unit, "TRCCONFIGR", is_count ? 0x11 : 1);
        write(unit, cases[i].name, cases[i].value);
        CHECK_EQ(tw_etmv4_unit_write_register(unit, "TRCPRGCTLR", 1),
                 cases[i].fault ? TW_E_CONFIG : TW_OK);
        if (cases[i].fault)
            CHECK_TEXT(tw_etmv4_unit_fault(unit), cases[i].fault);
        CHECK_EQ(read(unit, "TRCSTATR"), cases[i].fault ? 3 : 0);
        tw_etmv4_unit_free(unit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_register_keeps_its_own_value),
        cmocka_unit_test(numbers_end_where_registers_do),
        cmocka_unit_test(a_unit_says_what_it_has),
        cmocka_unit_test(a_decoder_is_told_the_registers_that_it_needs),
        cmocka_unit_test(what_a_unit_lacks_reads_as_zero),
        cmocka_unit_test(an_enabled_unit_is_not_programmed),
        cmocka_unit_test(the_os_lock_holds_the_unit),
        cmocka_unit_test(presets_are_for_one_process),
        cmocka_unit_test(choices_by_name),
        cmocka_unit_test(what_cannot_be_enabled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
