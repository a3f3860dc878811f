/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets of small executions, control fields, memory, and the readers of logs. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/hart.h>

#include "hart/test_kept.h"

/* One line a packet: its type and what matters of it. */
static void describe(char *out, size_t room, const struct kept *kept)
{
    size_t used = 0;

    *out = 0;
    for (size_t i = 0; i < kept->count && used < room; i++) {
        const struct tw_etrace_packet *packet = &kept->packets[i];
        const unsigned type = packet->base.type;

        used += (size_t)snprintf(out + used, room - used, "%s", tw_etrace_type_name(type));
        if (type <= TW_ETRACE_F3S1 && packet->has & TW_ETRACE_HAS_ADDRESS && used < room)
            used += (size_t)snprintf(out + used, room - used, " %" PRIx64, packet->address);
        if (packet->branches && used < room)
            used += (size_t)snprintf(out + used, room - used, " map %u:%" PRIx32,
                                     packet->branches, packet->branch_map);
        if (type == TW_ETRACE_F3S1 && used < room)
            used +=
                (size_t)snprintf(out + used, room - used, " cause %" PRIu64 "%s thaddr %u",
                                 packet->ecause, packet->interrupt ? "i" : "", packet->thaddr);
        if (type == TW_ETRACE_F3S3 && used < room)
            used += (size_t)snprintf(out + used, room - used, " %u/%u", packet->ienable,
                                     packet->qual_status);
        if (used < room)
            used += (size_t)snprintf(
                out + used, room - used, "%s%s%s\n", packet->notify ? " notify" : "",
                packet->updiscon ? " updiscon" : "", packet->irreport ? " irreport" : "");
    }
}

/* ---- small executions ---- */

#define SEQUENCE(at, n)                                                                        \
    {                                                                                          \
        .iaddr = (at), .iretire = (n), .ilastsize = 1, .priv = 3                               \
    }
#define ENDING(at, n, how)                                                                     \
    {                                                                                          \
        .iaddr = (at), .iretire = (n), .ilastsize = 1, .priv = 3, .itype = (how)               \
    }
#define TRAP(at, why)                                                                          \
    {                                                                                          \
        .iaddr = (at), .itype = 1, .cause = (why), .priv = 3                                   \
    }

/* clang-format off */
static const struct {
    const char *name;
    enum tw_etrace_layout layout;
    struct tw_etrace_block blocks[10];
    const char *packets;
} executions[] = {
    { "a straight line", TW_ETRACE_LAYOUT_V2, { SEQUENCE(0x1000, 8), SEQUENCE(0x1010, 2) },
      "f3s3 1/0\nf3s0 1000\nf2 1010\nf3s3 0/1\n" },
    { "an indirect jump", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 8, 10), SEQUENCE(0x2000, 4), SEQUENCE(0x2008, 2) },
      "f3s3 1/0\nf3s0 1000\nf2 2000\nf2 2008\nf3s3 0/1\n" },
    { "trace ends at a target", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 8, 10), SEQUENCE(0x2000, 2) },
      "f3s3 1/0\nf3s0 1000\nf2 2000\nf3s3 0/3\n" },
    { "branches", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 4, 4), ENDING(0x1008, 4, 5), ENDING(0x1020, 2, 4), SEQUENCE(0x1024, 2) },
      "f3s3 1/0\nf3s0 1000\nf1 1024 map 3:5\nf3s3 0/1\n" },
    { "a trap", TW_ETRACE_LAYOUT_V2,
      { SEQUENCE(0x1000, 4), TRAP(0x1008, 5), SEQUENCE(0x8000, 2) },
      "f3s3 1/0\nf3s0 1000\nf2 1004\nf3s1 8000 cause 5 thaddr 1\nf3s3 0/1\n" },
    { "a trap at a jump's target", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 4, 10), TRAP(0x2000, 12), SEQUENCE(0x8000, 4) },
      "f3s3 1/0\nf3s0 1000\nf2 1004\nf3s1 2000 cause 12 thaddr 0\nf3s0 8000\nf2 8004\nf3s3 0/1\n" },
    { "the same in the draft", TW_ETRACE_LAYOUT_SEED,
      { ENDING(0x1000, 4, 10), TRAP(0x2000, 12), SEQUENCE(0x8000, 4) },
      "f3s3 1/0\nf3s0 1000\nf2 2000 updiscon\nf3s1 8000 cause 12 thaddr 1\nf2 8004\nf3s3 0/1\n" },
    { "two traps in a row", TW_ETRACE_LAYOUT_V2,
      { SEQUENCE(0x1000, 2), TRAP(0x1004, 5), TRAP(0x8000, 1), SEQUENCE(0x9000, 2) },
      "f3s3 1/0\nf3s0 1000\nf3s1 8000 cause 5 thaddr 0\nf3s1 9000 cause 1 thaddr 1\nf3s3 0/1\n" },
    { "the same in the draft", TW_ETRACE_LAYOUT_SEED,
      { SEQUENCE(0x1000, 2), TRAP(0x1004, 5), TRAP(0x8000, 1), SEQUENCE(0x9000, 2) },
      "f3s3 1/0\nf3s0 1000\nf3s1 9000 cause 1 thaddr 1\nf3s3 0/1\n" },
    { "ecall retires and traps", TW_ETRACE_LAYOUT_V2,
      { { .iaddr = 0x1000, .iretire = 4, .ilastsize = 1, .priv = 3, .itype = 1, .cause = 11 },
        SEQUENCE(0x8000, 2) },
      "f3s3 1/0\nf3s0 1000\nf2 1004\nf3s1 8000 cause 11 thaddr 1\nf3s3 0/1\n" },
    { "notify", TW_ETRACE_LAYOUT_V2,
      { { .iaddr = 0x1000, .iretire = 8, .ilastsize = 1, .priv = 3, .trigger = 4 },
        SEQUENCE(0x1010, 4) },
      "f3s3 1/0\nf3s0 1000\nf2 100c notify\nf2 1014\nf3s3 0/1\n" },
    { "another privilege", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 8, 3), { .iaddr = 0x2000, .iretire = 4, .ilastsize = 1, .priv = 0 } },
      "f3s3 1/0\nf3s0 1000\nf3s0 2000\nf2 2004\nf3s3 0/1\n" },
    { "the same after a branch", TW_ETRACE_LAYOUT_V2,
      { ENDING(0x1000, 4, 4), ENDING(0x1008, 8, 3),
        { .iaddr = 0x2000, .iretire = 4, .ilastsize = 1, .priv = 0 } },
      "f3s3 1/0\nf3s0 1000\nf1 1014 map 1:1\nf3s0 2000\nf2 2004\nf3s3 0/1\n" },
    { "context, imprecise", TW_ETRACE_LAYOUT_V2,
      { SEQUENCE(0x1000, 8),
        { .iaddr = 0x1010, .iretire = 8, .ilastsize = 1, .priv = 3, .context = 5, .ctype = 1 },
        { .iaddr = 0x1020, .iretire = 8, .ilastsize = 1, .priv = 3, .context = 5 } },
      "f3s3 1/0\nf3s0 1000\nf3s2\nf2 102c\nf3s3 0/1\n" },
    { "context, precise", TW_ETRACE_LAYOUT_V2,
      { SEQUENCE(0x1000, 8),
        { .iaddr = 0x1010, .iretire = 8, .ilastsize = 1, .priv = 3, .context = 5, .ctype = 2 } },
      "f3s3 1/0\nf3s0 1000\nf3s0 1010\nf2 101c\nf3s3 0/1\n" },
    { "another hart", TW_ETRACE_LAYOUT_V2,
      { SEQUENCE(0x1000, 8),
        { .iaddr = 0x5010, .iretire = 8, .ilastsize = 1, .priv = 3, .context = 5, .ctype = 3 } },
      "f3s3 1/0\nf3s0 1000\nf2 100c\nf3s0 5010\nf2 501c\nf3s3 0/1\n" },
    { "another hart in the draft", TW_ETRACE_LAYOUT_SEED,
      { SEQUENCE(0x1000, 8),
        { .iaddr = 0x5010, .iretire = 8, .ilastsize = 1, .priv = 3, .context = 5, .ctype = 3 } },
      "f3s3 1/0\nf3s0 1000\nf2 100c\nf3s1 5010 cause 0i thaddr 1\nf2 501c\nf3s3 0/1\n" },
    { "table 4.8", TW_ETRACE_LAYOUT_V2,
      { { .iaddr = 0x1000, .iretire = 7, .ilastsize = 0, .priv = 3, .itype = 8 },
        { .iaddr = 0x0940, .iretire = 3, .ilastsize = 0, .priv = 3, .itype = 4 },
        { .iaddr = 0x0946, .iretire = 1, .ilastsize = 0, .priv = 3, .itype = 5 },
        { .iaddr = 0x0988, .iretire = 4, .ilastsize = 1, .priv = 3 } },
      "f3s3 1/0\nf3s0 1000\nf2 940\nf1 98c map 2:1\nf3s3 0/1\n" },
};
/* clang-format on */

/* [RVT 3.1.2/1] [RVT 3.1.3/1] [RVT 3.1.4/1] [RVT 3.1.4/2] [RVT 3.1.5/3] [RVT 3.1.6/5] [RVT T4.1/1] [RVT T4.4/1]
   [RVT T4.4/2] [RVT T4.4/3] [RVT T4.4/4] [RVT 4.2/1] [RVT 4.2/2] [RVT 4.2/3] [RVT 4.2/4] [RVT 4.2.4/4] [RVT 4.2.5/1]
   [RVT 6.2/2] [RVT 6.2.1/1] [RVT 6.3/2] [RVT 6.5/1] [RVT 8/1] */
static void test_executions(void **state)
{
    struct kept *kept = new_kept();

    (void)state;
    for (size_t i = 0; i < LENGTH(executions); i++) {
        const struct tw_etrace_config config = make_config(executions[i].layout);
        struct tw_etrace_unit *unit = make_unit(kept, &config);
        char text[2000];

        check_case("%s", executions[i].name);
        kept->count = 0;
        write_field(unit, "iEnable", 1);
        for (size_t k = 0; k < LENGTH(executions[i].blocks); k++)
            CHECK_EQ(tw_etrace_unit_retire(unit, &executions[i].blocks[k], 1), TW_OK);
        write_field(unit, "iEnable", 0);
        describe(text, sizeof text, kept);
        CHECK_TEXT(text, executions[i].packets);
        tw_etrace_unit_free(unit);
    }
    free(kept);
}

/* ---- control fields ---- */

static const struct {
    const char *name;
    uint64_t most;
} fields[] = {
    { "iTrigEnable", 1 },
    { "dTrigEnable", 1 },
    { "stallEnable", 1 },
    { "ResyncMode", 3 },
    { "ResyncMax", 15 },
    { "FullAddress", 1 },
    { "ImplicitExcept", 1 },
    { "siJump", 1 },
    { "ImplicitReturn", 1 },
    { "BranchPrediction", 1 },
    { "JumpTargetCache", 1 },
    { "noData", 1 },
    { "noAddress", 1 },
    { "DataCompress", 3 },
    { "iFilters", 0xffff },
    { "dFilters", 0xffff },
    { "filter3.filterEnable", 1 },
    { "filter3.matchComp1", 1 },
    { "filter3.comp1", 3 },
    { "filter3.matchComp2", 1 },
    { "filter3.comp2", 3 },
    { "filter3.matchComp3", 1 },
    { "filter3.comp3", 3 },
    { "filter0.matchPrivilege", 1 },
    { "filter0.matchEcause", 1 },
    { "filter0.matchInterrupt", 1 },
    { "filter0.matchImpdef", 1 },
    { "filter0.matchDtype", 1 },
    { "filter0.matchDsize", 1 },
    { "filter1.matchChoicePrivilege", 255 },
    { "filter1.matchValueInterrupt", 1 },
    { "filter1.matchChoiceEcause", UINT32_MAX },
    { "filter1.matchMaskImpdef", UINT64_MAX },
    { "filter1.matchValueImpdef", UINT64_MAX },
    { "filter1.matchChoiceDtype", 0xffff },
    { "filter1.matchChoiceDsize", 255 },
    { "comparator2.pInput", 3 },
    { "comparator2.sInput", 3 },
    { "comparator2.pFunction", 7 },
    { "comparator2.sFunction", 7 },
    { "comparator2.matchMode", 3 },
    { "comparator2.pMatch", UINT64_MAX },
    { "comparator2.sMatch", UINT64_MAX },
    { "comparator2.pNotify", 1 },
    { "COMPARATOR2.SNOTIFY", 1 },
};

/* [RVT 2.1/1] [RVT 2.1/8] [RVT 2.2/1] [RVT 2.2/2] [RVT 2.2/4] [RVT 2.2/5] [RVT 2.2/6] */
static void test_fields(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;
    uint64_t value;

    (void)state;
    config.filters = config.comparators = 4;
    config.bpred_size = config.cache_size = config.return_stack_size = 3;
    config.f0s_width = 1;
    config.sijump = true;
    unit = make_unit(kept, &config);
    for (size_t i = 0; i < LENGTH(fields); i++) {
        check_case("%s", fields[i].name);
        write_field(unit, fields[i].name, fields[i].most);
        CHECK_EQ(tw_etrace_unit_read_field(unit, &value, fields[i].name), TW_OK);
        CHECK_EQ(value, fields[i].most);
        write_field(unit, fields[i].name, 0);
        CHECK_EQ(tw_etrace_unit_read_field(unit, &value, fields[i].name), TW_OK);
        CHECK_EQ(value, 0);
        if (fields[i].most != UINT64_MAX)
            CHECK_EQ(tw_etrace_unit_write_field(unit, fields[i].name, fields[i].most + 1),
                     TW_E_ARGUMENT);
    }
    CHECK_EQ(tw_etrace_unit_read_field(unit, &value, "Empty"), TW_OK);
    CHECK_EQ(value, 1);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "Empty", 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "nonsense", 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "filter4.comp1", 0), TW_E_ARGUMENT);
    CHECK_EQ(tw_etrace_unit_write_field(unit, "filter0.", 0), TW_E_ARGUMENT);
    write_field(unit, "iEnable", 1);
    CHECK_EQ(tw_etrace_unit_read_field(unit, &value, "Empty"), TW_OK);
    CHECK_EQ(value, 0);
    write_field(unit, "Active", 0);
    CHECK_EQ(tw_etrace_unit_read_field(unit, &value, "iEnable"), TW_OK);
    CHECK_EQ(value, 0);
    tw_etrace_unit_free(unit);
    free(kept);
}

/* A comparator that asks for a packet where an address is passed, inside of a block too. */
/* [RVT 2.3/15] */
static void test_watchpoint(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    struct kept *kept = new_kept();
    const struct tw_etrace_block blocks[] = { SEQUENCE(0x1000, 8), SEQUENCE(0x1010, 8),
                                              SEQUENCE(0x1020, 8) };
    struct tw_etrace_unit *unit = make_unit(kept, &config);
    char text[400];

    (void)state;
    write_field(unit, "comparator0.pFunction", 0);
    write_field(unit, "comparator0.pMatch", 0x1014);
    write_field(unit, "comparator0.pNotify", 1);
    write_field(unit, "iEnable", 1);
    CHECK_EQ(tw_etrace_unit_retire(unit, blocks, LENGTH(blocks)), TW_OK);
    write_field(unit, "iEnable", 0);
    describe(text, sizeof text, kept);
    CHECK_TEXT(text, "f3s3 1/0\nf3s0 1000\nf2 101c notify\nf2 102c\nf3s3 0/1\n");
    tw_etrace_unit_free(unit);
    free(kept);
}

static void run_one(struct kept *kept, const struct tw_etrace_config *config)
{
    struct tw_etrace_unit *unit = make_unit(kept, config);

    kept->size[0] = kept->count = 0;
    write_field(unit, "iEnable", 1);
    for (uint64_t i = 0; i < 300; i++) {
        const struct tw_etrace_block block = { .iaddr = 0x1000 + i * 37 % 50 * 8,
                                               .iretire = 4,
                                               .ilastsize = 1,
                                               .itype = i % 3 ? 5 : 13 };

        CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
    }
    write_field(unit, "iEnable", 0);
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
}

/* The same file sets up encoder and decoder, in either form. */
/* [RVT 9.2/1] */
static void test_one_file(void **state)
{
    static char text[65536];
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2), other;
    struct kept *first = new_kept(), *second = new_kept();
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    config.bpred_size = config.cache_size = config.return_stack_size = 2;
    config.f0s_width = 1;
    config.resync_packets = 32;
    config.options =
        TW_ETRACE_BRANCH_PREDICTION | TW_ETRACE_JUMP_TARGET_CACHE | TW_ETRACE_IMPLICIT_RETURN;
    run_one(first, &config);
    for (unsigned form = 0; form < 2; form++) {
        CHECK((form ? tw_etrace_config_ipxact(text, sizeof text, &config)
                    : tw_etrace_config_text(text, sizeof text, &config)) < sizeof text);
        tw_etrace_config_init(&other, TW_ETRACE_LAYOUT_V2);
        if (tw_etrace_config_read(&other, text, &fault) != TW_OK)
            check_true(false, fault.text, __FILE__, __LINE__);
        run_one(second, &other);
        CHECK_BYTES(second->bytes[0], second->size[0], first->bytes[0], first->size[0]);
    }
    free(first);
    free(second);
}

struct counted {
    size_t calls, limit, live; /* requests, the one that fails, blocks that are out */
};

static void *count_calls(void *context, void *memory, size_t size)
{
    struct counted *counted = context;
    void *moved;

    if (size == 0) {
        counted->live -= memory != NULL;
        free(memory);
        return NULL;
    }
    if (counted->calls++ == counted->limit)
        return NULL;
    moved = realloc(memory, size);
    counted->live += moved && !memory;
    return moved;
}

/* [RVT 3.2/2] [RVT 4.2/5] [RVT T9.1/1] */
static void test_bad_configurations(void **state)
{
    static const struct {
        const char *text, *fault;
    } bad[] = {
        { "itype_width_p=2", "itype_width_p is 2; it must be 3 or 4" },
        { "branch_prediction=1", "branch_prediction wants a bpred_size_p" },
        { "jump_target_cache=1", "jump_target_cache wants a cache_size_p" },
        { "implicit_return=1",
          "implicit_return wants either call_counter_size_p or return_stack_size_p" },
        { "implicit_return=1,call_counter_size_p=3,itype_width_p=3",
          "implicit_return wants an itype_width_p of 4" },
        { "branch_prediction=1,bpred_size_p=3,jump_target_cache=1,cache_size_p=3",
          "branch_prediction and jump_target_cache together want an f0s_width_p" },
        { "nocontext_p=0,context_width_p=64,notime_p=0,time_width_p=64,iaddress_width_p=64",
          "packets of up to 34 bytes do not fit in 31" },
        { "iaddress_width_p=4", "iaddress_width_p is 4; it must be from 8 to 64" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_etrace_config config;
        struct counted counted = { 0, SIZE_MAX, 0 };
        const struct tw_allocator allocator = { count_calls, &counted };
        const struct tw_etrace_unit_config choices = { .size = sizeof choices,
                                                       .trace = &config,
                                                       .allocator = &allocator };
        struct tw_fault fault = { TW_OK, "" };
        struct tw_etrace_unit *unit;

        check_case("%s", bad[i].text);
        tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
        CHECK_EQ(tw_etrace_config_read(&config, bad[i].text, &fault), TW_OK);
        CHECK_EQ(tw_etrace_unit_new(&unit, &choices, &fault), TW_E_CONFIG);
        CHECK_TEXT(fault.text, bad[i].fault);
        CHECK(unit == NULL);
        CHECK_EQ(counted.live, 0);
    }
}

/* ---- memory ---- */

static void test_memory(void **state)
{
    const struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    struct counted counted = { 0, SIZE_MAX, 0 };
    const struct tw_allocator allocator = { count_calls, &counted };
    const struct tw_etrace_unit_config choices = { .size = sizeof choices,
                                                   .trace = &config,
                                                   .allocator = &allocator };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_etrace_unit *unit;
    size_t calls;

    (void)state;
    CHECK_EQ(tw_etrace_unit_new(&unit, &choices, &fault), TW_OK);
    calls = counted.calls;
    write_field(unit, "ResyncMode", 1);
    write_field(unit, "iEnable", 1);
    for (unsigned i = 0; i < 200000; i++) {
        const struct tw_etrace_block block = { .iaddr = 0x1000 + 16 * (i * 7 % 1000),
                                               .iretire = 8,
                                               .ilastsize = 1,
                                               .priv = 3,
                                               .itype = i % 3 ? 5 : 10 };

        CHECK_EQ(tw_etrace_unit_retire(unit, &block, 1), TW_OK);
    }
    write_field(unit, "iEnable", 0);
    CHECK_EQ(counted.calls, calls); /* none while running */
    tw_etrace_unit_free(unit);
    CHECK_EQ(counted.live, 0);
    for (counted.limit = 0; counted.limit < calls; counted.limit++) {
        counted.calls = 0;
        CHECK_EQ(tw_etrace_unit_new(&unit, &choices, &fault), TW_E_MEMORY);
        CHECK(unit == NULL);
        CHECK_EQ(counted.live, 0);
    }
}

/* ---- logs ---- */

static const uint8_t code[] = {
    0x13, 0x00, 0x00, 0x00, /* 1000: nop */
    0x63, 0x04, 0x05, 0x00, /* 1004: beqz a0, 100c */
    0x01, 0x00, 0x01, 0x00, /* 1008: c.nop, c.nop */
    0x73, 0x00, 0x00, 0x00, /* 100c: ecall */
    0x67, 0x80, 0x00, 0x00, /* 1010: ret */
    0x73, 0x00, 0x20, 0x30, /* 1014: mret */
};

static struct tw_image *make_image(void)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = 0x1000,
                                      .length = sizeof code };
    struct tw_image *image;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(image, &region, code), TW_OK);
    return image;
}

/* clang-format off */
static const struct {
    const char *name, *log;
    uint8_t retires;
    const char *blocks; /* iaddr:iretire:itype, or what is wrong */
} logs[] = {
    { "addresses", "1000\n1004\n1008\n100a\n100c\n", 1, "1000:1:0 1004:1:4 1008:1:0 100a:1:0 100c:1:0 " },
    { "addresses in blocks", "0x1000\n0x1004\n\n# a comment\n100c\n1010\n", 50, "1000:4:5 100c:4:13 " },
    { "runs", "P 0\nR 1000 1004 2\nR 100c 100c 1\nE 8 100c 0\nP 3\nR 1014 1014 1\n", 50,
      "1000:4:5 100c:2:1 1014:2:3 " },
    { "an interrupt", "R 1000 1004 2\nI 7 1008\nR 1014 1014 1\n", 50, "1000:4:4 1008:0:2 1014:2:3 " },
    { "a gap", "1000\nG\n1010\n", 50, "1000:2:0 | 1010:2:13 " },
    { "spike", "VALID,ADDRESS,INSN,PRIVILEGE,EXCEPTION,ECAUSE,TVAL,INTERRUPT\n"
      "1,1000,13,3,0,0,0,0\n1,1004,50463,3,0,0,0,0\n1,100c,0,3,1,2,13,0\n1,1014,0,3,0,0,0,0\n", 50,
      "1000:4:5 100c:0:1 1014:2:3 " },
    { "encoder_input", "itype_0,cause,tval,priv,iaddr_0,context,ctype,iretire_0,ilastsize_0\n"
      "0,0,0,3,1000,0,0,1,1\n5,0,0,3,1004,0,0,1,1\n1,11,1f,3,100c,0,0,0,0\n", 1,
      "1000:1:0 1004:1:5 100c:0:1 " },
    { "two blocks a cycle", "iaddr_0,iretire_0,ilastsize_0,itype_0,iaddr_1,iretire_1,ilastsize_1,itype_1,priv\n"
      "1000,4,1,5,100c,4,1,13,3\n", 50, "1000:4:5 100c:4:13 " },
    { "a skipped instruction", "1000\n1008\n", 1, "line 2: instructions are missing between 0x1000 and 0x1008" },
    { "an impossible branch", "1004\n1014\n", 1, "line 2: the branch at 0x1004 does not lead to 0x1014" },
    { "an address outside", "1000\n9000\n", 1, "line 2: instructions are missing between 0x1000 and 0x9000" },
    { "a return to nowhere", "1010\n9000\n", 1, "line 2: 0x9000 is not in the program" },
    { "a run that is wrong", "R 1000 1010 2\n", 1, "line 1: the run does not end at 0x1010" },
    { "an impossible itype", "iaddr,iretire,itype\n1000,1,7\n", 1, "line 2: block at 0x1000: there is no such itype" },
    { "another", "iaddr,iretire,itype\n1000,1,16\n", 1, "line 2: itype cannot be \"16\"" },
    { "nothing retires", "iaddr,iretire,itype\n1000,0,5\n", 1, "line 2: itype is 5, but nothing retired" },
    { "an unknown column", "iaddr,iretire,colour\n1000,1,red\n", 1, "line 1: column 3 has a name that is no signal's" },
    { "a short row", "iaddr,iretire,itype\n1000,1\n", 1, "line 2: 2 values, but 3 names" },
    { "no number", "iaddr,iretire\n10zz,1\n", 1, "line 2: iaddr cannot be \"10zz\"" },
    { "four words that are no trap", "1000\nX 8 1004 0\n", 1, "line 2: neither an address nor R, P, E, I or G" },
    { "a trap that lacks a word", "1000\nE 8 1004\n", 1, "line 2: neither an address nor R, P, E, I or G" },
    { "a privilege", "P 9\n1000\n", 1, "line 1: privilege 9 does not fit privilege_width_p" },
    { "no log", "hello world\n", 1, "no log of a hart: neither CSV with names of signals in its first line, nor runs, "
      "nor addresses, nor an execution log" },
    { "nothing", "", 1, "no log of a hart: neither CSV with names of signals in its first line, nor runs, "
      "nor addresses, nor an execution log" },
};
/* clang-format on */

static void read_log(char *out, size_t room, struct tw_hart *hart)
{
    struct tw_hart_event event;
    size_t used = 0;
    enum tw_status status;

    *out = 0;
    while ((status = tw_hart_next(hart, &event)) == TW_OK) {
        if (event.is_halted)
            used += (size_t)snprintf(out + used, room - used, "| ");
        for (size_t i = 0; i < event.cycle.block_count && used < room; i++)
            used += (size_t)snprintf(out + used, room - used, "%" PRIx64 ":%" PRIu32 ":%u ",
                                     event.cycle.blocks[i].iaddr, event.cycle.blocks[i].iretire,
                                     event.cycle.blocks[i].itype);
    }
    if (status != TW_END)
        (void)snprintf(out, room, "%s", tw_hart_fault(hart));
}

static void test_logs(void **state)
{
    struct tw_image *image = make_image();

    (void)state;
    for (size_t i = 0; i < LENGTH(logs); i++) {
        struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
        const struct tw_hart_options options = { .size = sizeof options,
                                                 .trace = &config,
                                                 .image = image };
        const size_t size = strlen(logs[i].log);
        uint8_t *copy = check_copy(logs[i].log, size);
        struct tw_fault fault = { TW_OK, "" };
        struct kept *kept = new_kept();
        struct tw_hart *hart;
        char text[600];

        check_case("%s", logs[i].name);
        config.retires = logs[i].retires;
        if (tw_hart_open_memory(&hart, copy, size, &options, &fault) == TW_OK) {
            struct tw_etrace_unit *unit = make_unit(kept, &config);

            read_log(text, sizeof text, hart);
            tw_hart_free(hart);
            /* and what the encoder says of it */
            CHECK_EQ(tw_hart_open_memory(&hart, copy, size, &options, &fault), TW_OK);
            write_field(unit, "iEnable", 1);
            if (tw_hart_run(hart, unit, &fault) != TW_OK)
                (void)snprintf(text, sizeof text, "%s", fault.text);
            tw_etrace_unit_free(unit);
        } else {
            (void)snprintf(text, sizeof text, "%s", fault.text);
        }
        CHECK_TEXT(text, logs[i].blocks);
        tw_hart_free(hart);
        free(kept);
        free(copy);
    }
    tw_image_free(image);
}

/* A log that does not say it begins in machine mode, where there is room for its number. */
static void test_first_privilege(void **state)
{
    struct tw_image *image = make_image();
    const uint8_t log[] = "1000\n";

    (void)state;
    for (unsigned width = 1; width <= 3; width++) {
        struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
        const struct tw_hart_options options = { .size = sizeof options,
                                                 .trace = &config,
                                                 .image = image };
        struct tw_hart_event event;
        struct tw_hart *hart;

        check_case("%u bits", width);
        config.privilege_width = (uint8_t)width;
        CHECK_EQ(tw_hart_open_memory(&hart, log, sizeof log - 1, &options, NULL), TW_OK);
        CHECK_EQ(tw_hart_next(hart, &event), TW_OK);
        CHECK_EQ(event.cycle.block_count, 1);
        CHECK_EQ(event.cycle.blocks[0].priv, width >= 2 ? 3 : 0);
        tw_hart_free(hart);
    }
    tw_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_privilege), cmocka_unit_test(test_executions),
        cmocka_unit_test(test_fields),          cmocka_unit_test(test_bad_configurations),
        cmocka_unit_test(test_watchpoint),      cmocka_unit_test(test_one_file),
        cmocka_unit_test(test_memory),          cmocka_unit_test(test_logs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
