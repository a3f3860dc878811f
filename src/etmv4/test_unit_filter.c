/* SPDX-License-Identifier: BSD-2-Clause */
/* What the trace unit traces when filters are mixed at random: address ranges, start and stop,
   Exception levels, prohibited regions, and resources of every kind.  A model of its own, written
   from the tables of the manual, says which instructions must come back. */
#include "etmv4/test_filter.h"
#include "etmv4/test_peer.h"
#include "etmv4/test_program.h"

/* ---- the unit ---- */

static void set_many(struct tw_etmv4_unit *unit, const char *name, const uint32_t *values,
                     unsigned first, unsigned count)
{
    char full[32];

    for (unsigned i = 0; i < count; i++) {
        (void)snprintf(full, sizeof full, "%s%u", name, first + i);
        set_register(unit, full, values[i]);
    }
}

static struct tw_etmv4_unit *make_unit(const struct programming *p)
{
    const struct tw_etmv4_unit_config config = { .size = sizeof config,
                                                 .is_ete = p->is_ete,
                                                 .is_self_hosted = p->is_self_hosted };
    struct tw_etmv4_unit *unit;

    CHECK_EQ(tw_etmv4_unit_new(&unit, &config, NULL), TW_OK);
    set_register(unit, "TRCTRACEIDR", 0x10);
    set_register(unit, "TRCCONFIGR", p->configr);
    set_register(unit, "TRCVICTLR", p->victlr);
    set_register(unit, "TRCVIIECTLR", p->viiectlr);
    set_register(unit, "TRCVISSCTLR", p->vissctlr);
    set_register(unit, "TRCVIPCSSCTLR", p->vipcssctlr);
    set_many(unit, "TRCACATR", p->acatr, 0, SACS);
    set_many(unit, "TRCRSCTLR", p->rsctlr, 2, SELECTORS);
    set_many(unit, "TRCCNTCTLR", p->cntctlr, 0, 4);
    set_many(unit, "TRCCNTRLDVR", p->cntrldvr, 0, 4);
    set_many(unit, "TRCCNTVR", p->cntvr, 0, 4);
    set_many(unit, "TRCSEQEVR", p->seqevr, 0, 3);
    set_register(unit, "TRCSEQRSTEVR", p->seqrstevr);
    set_register(unit, "TRCSEQSTR", p->seqstr);
    set_many(unit, "TRCSSCCR", p->ssccr, 0, SHOTS);
    set_many(unit, "TRCSSPCICR", p->sspcicr, 0, SHOTS);
    if (p->is_ete)
        set_many(unit, "TRCEXTINSELR", p->extinselr, 0, 4);
    else
        set_register(unit, "TRCEXTINSELR",
                     p->extinselr[0] | p->extinselr[1] << 8 | p->extinselr[2] << 16 |
                         p->extinselr[3] << 24);
    set_register(unit, "TRCCIDCVR0", p->cidcvr);
    set_register(unit, "TRCCIDCCTLR0", p->cidcctlr);
    set_register(unit, "TRCVMIDCVR0", p->vmidcvr);
    set_register(unit, "TRCVMIDCCTLR0", p->vmidcctlr);
    set_register(unit, "TRFCR_EL1", p->trfcr_el1);
    set_register(unit, "TRFCR_EL2", p->trfcr_el2);
    set_register(unit, "MDCR_EL3", p->mdcr_el3);
    for (unsigned i = 0; i < SACS; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "TRCACVR%u", i);
        set_register(unit, name, p->acvr[i]);
    }
    return unit;
}

/* The state that registers show must be the model's, too. */
static void check_state(const struct tw_etmv4_unit *unit, const struct model *m)
{
    uint64_t value;

    for (unsigned i = 0; i < 4; i++) {
        char name[32];

        (void)snprintf(name, sizeof name, "TRCCNTVR%u", i);
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_OK);
        CHECK_EQ(value, m->counter[i]);
        (void)snprintf(name, sizeof name, "TRCSSCSR%u", i);
        CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, name), TW_OK);
        CHECK_EQ(value >> 31, m->status[i]);
    }
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCSEQSTR"), TW_OK);
    CHECK_EQ(value, m->sequencer);
    CHECK_EQ(tw_etmv4_unit_read_register(unit, &value, "TRCVICTLR"), TW_OK);
    CHECK_EQ(bits(value, 9, 9), m->is_started);
}

static uint64_t try_programming(const struct program *program, struct tw_image *image,
                                const struct programming *p)
{
    struct tw_etmv4_unit *unit = make_unit(p);
    struct decoding decoding = decoding_new(unit, p->is_ete, image, false);
    struct model model = model_new(p), again = model;
    struct oracle oracle = { .steps = { .list = program->truth, .count = program->truth_count },
                             .wants = wants,
                             .on_step = on_step,
                             .wants_context = &model,
                             .p0_kinds = p0_kinds(p->is_ete) };
    struct checked_against seen = {
        .oracle = &oracle, .who = "Trackway", .checks_cid = true, .checks_vmid = true
    };
    uint64_t came_back;
    const uint8_t *bytes;
    size_t size;

    set_register(unit, "TRCPRGCTLR", 1);
    for (size_t i = 0; i < program->step_count; i++)
        CHECK_EQ(tw_etmv4_unit_step(unit, &program->steps[i]), TW_OK);
    set_register(unit, "TRCPRGCTLR", 0);
    bytes = tw_etmv4_unit_output(unit, &size);
    if (size)
        decoding_feed(&decoding, &seen, bytes, size);
    decoding_end(&decoding, &seen);
    check_state(unit, &model);
    came_back = oracle.instructions;
    free(seen.moments.items);
    free(oracle.waiting);
    if (size && HAS_PEER) {
        struct oracle peers = { .steps = { .list = program->truth,
                                           .count = program->truth_count },
                                .wants = wants,
                                .on_step = on_step,
                                .wants_context = &again,
                                .p0_kinds = p0_kinds(p->is_ete) };

        seen = (struct checked_against){ .oracle = &peers,
                                         .checks_cid = true,
                                         .checks_vmid = true };
        peer_check(unit, p->is_ete, image, &seen, bytes, size);
        free(seen.moments.items);
        free(peers.waiting);
    }
    tw_etmv4_unit_free(unit);
    return came_back;
}

/* ---- random programming ---- */

enum part { RANGES = 1, POINTS = 2, LEVELS = 4, REGIONS = 8, RESOURCES = 16, ALL = 31 };

static uint32_t any(struct check_random *random, uint64_t below)
{
    return (uint32_t)check_random_below(random, below);
}

/* TRUE often, pairs now and then. */
static uint32_t any_event(struct check_random *random)
{
    if (any(random, 4) == 0)
        return 0x80 | (1 + any(random, SELECTORS / 2));
    return any(random, 5) == 0 ? any(random, 2) : 2 + any(random, SELECTORS);
}

static void make_selectors(struct check_random *random, struct programming *p)
{
    static const uint32_t chosen[] = { 0xf, 0xff, 0xff, 0xf, 0xffff, 0xff, 1, 1 };

    for (unsigned i = 0; i < SELECTORS; i++) {
        const uint32_t group = any(random, 8);

        p->rsctlr[i] = group << 16 | ((uint32_t)check_random_next(random) & chosen[group]) |
                       any(random, 2) << 20;
        if (i % 2 == 0)
            p->rsctlr[i] |= any(random, 2) << 21;
    }
    /* Two of the eight functions of a pair are reserved. */
    for (unsigned i = 0; i < SELECTORS; i += 2) {
        const uint32_t function =
            bits(p->rsctlr[i], 21, 20) << 1 | bits(p->rsctlr[i + 1], 20, 20);

        if (function == 1 || function == 6)
            p->rsctlr[i + 1] ^= 1u << 20;
    }
}

static void make_resources(struct check_random *random, struct programming *p)
{
    make_selectors(random, p);
    for (unsigned i = 0; i < 4; i++) {
        p->cntctlr[i] = any_event(random) | any_event(random) << 8 | any(random, 4) << 16;
        p->cntrldvr[i] = any(random, 30);
        p->cntvr[i] = any(random, 30);
        p->ssccr[i] = (uint32_t)check_random_next(random) &
                      (uint32_t)check_random_next(random) & 0x01ffffff;
        p->sspcicr[i] = any(random, 3) ? 0 : 1u << any(random, 8);
        p->extinselr[i] = 0x20 + i;
    }
    if (p->is_ete && any(random, 2))
        p->extinselr[any(random, 4)] = PMU_OVERFLOW;
    for (unsigned i = 0; i < 3; i++)
        p->seqevr[i] = any_event(random) | any_event(random) << 8;
    p->seqrstevr = any(random, 2) ? 0 : any_event(random);
    p->seqstr = any(random, 4);
    p->victlr = (p->victlr & ~0xffu) | any_event(random);
}

static struct programming make_programming(struct check_random *random,
                                           const struct program *program, unsigned parts)
{
    struct programming p = { .is_ete = any(random, 2), .configr = 0xc1, .victlr = 0x201 };

    if (any(random, 2))
        p.configr |= 0x1000;
    for (unsigned i = 0; i < SACS; i += 2) {
        const uint32_t first = any(random, SLOTS - 60);

        p.acvr[i] = program->slots[first].address;
        p.acvr[i + 1] = program->slots[first + any(random, 60)].address;
        if (any(random, 4) == 0)
            p.acatr[i] = any(random, 4) << 2 | (any(random, 2) ? any(random, 128) << 8 : 0);
        p.acatr[i + 1] = p.acatr[i];
    }
    p.cidcctlr = any(random, 2) ? 0xf : 0xc;
    p.vmidcvr = any(random, 3);
    if (parts & RANGES)
        p.viiectlr = (any(random, 2) ? 1u << any(random, 8) | 1u << any(random, 8) : 0) |
                     (any(random, 2) ? 0x10000u << any(random, 8) : 0);
    if (parts & POINTS) {
        p.victlr = (p.victlr & ~0x200u) | any(random, 2) << 9;
        p.vissctlr = 1u << any(random, 8) | 1u << any(random, 8) | 0x1000000u << any(random, 8);
        p.vipcssctlr = any(random, 2) ? 1u << any(random, 4) | 0x100000u << any(random, 4) : 0;
    }
    if (parts & LEVELS)
        p.victlr |= (any(random, 128) & any(random, 128)) << 16;
    if (parts & REGIONS) {
        p.is_self_hosted = true;
        p.trfcr_el1 = any(random, 4);
        p.trfcr_el2 = any(random, 4);
        p.mdcr_el3 = any(random, 2) << 18;
    }
    if (parts & RESOURCES)
        make_resources(random, &p);
    return p;
}

static void mix(unsigned parts, size_t times, uint64_t seed)
{
    struct check_random random = check_random_start(seed);
    uint64_t came_back = 0, whole = 0;

    for (size_t i = 0; i < times; i++) {
        const struct wishes wishes = { .is_64bit = i % 4 != 3,
                                       .has_exceptions = true,
                                       .has_context = true,
                                       .has_gaps = i % 3 == 0,
                                       .has_time = true,
                                       .has_externals = true,
                                       .has_inputs = true,
                                       .has_losses = i % 8 == 0,
                                       .length = 800 };
        struct program *program = malloc(sizeof *program);
        struct programming p;
        struct tw_image *image;

        CHECK(program != NULL);
        program_make(program, &random, &wishes);
        p = make_programming(&random, program, parts);
        check_case("parts 0x%x, program %zu", parts, i);
        image = memory_image(&program->memory);
        came_back += try_programming(program, image, &p);
        whole += wishes.length;
        tw_image_free(image);
        program_free(program);
        free(program);
    }
    printf("parts 0x%x: %" PRIu64 " of %" PRIu64 " instructions qualified\n", parts, came_back,
           whole);
    /* A filter that lets nothing or everything through tests nothing. */
    CHECK(came_back > whole / 100 && came_back < whole);
}

/* [K10.5.7.3/2] */
static void each_filter_alone(void **state)
{
    (void)state;
    for (unsigned part = RANGES; part <= RESOURCES; part *= 2)
        mix(part, check_scale(200), part);
}

/* [K10.5.9/43] */
static void each_two_filters(void **state)
{
    (void)state;
    for (unsigned one = RANGES; one <= RESOURCES; one *= 2)
        for (unsigned other = 2 * one; other <= RESOURCES; other *= 2)
            mix(one | other, check_scale(100), one << 8 | other);
}

static void all_filters_at_once(void **state)
{
    (void)state;
    mix(ALL, check_scale(2000), 0x66696c74);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_alone),
        cmocka_unit_test(each_two_filters),
        cmocka_unit_test(all_filters_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
