/* SPDX-License-Identifier: BSD-2-Clause */
/* Data trace: every kind of access in every compression comes back, and filters on accesses. */
#include "check.h"

#include "hart/test_kept.h"

static uint64_t random_value(struct check_random *random)
{
    const unsigned bits = (unsigned)check_random_below(random, 64);
    const uint64_t value = check_random_next(random) >> bits;

    return check_random_below(random, 4) ? value : ~value;
}

static struct tw_etrace_access random_access(struct check_random *random,
                                             const struct tw_etrace_config *config)
{
    static const uint8_t types[] = { 0, 0, 1, 1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14 };
    struct tw_etrace_access access = {
        .dtype = types[check_random_below(random, config->format_bits == 2 ? 4 : 14)],
        .daddr = 0x80000000 + check_random_below(random, 0x4000),
        .data = random_value(random),
        .operand = random_value(random),
        .lrid = (uint32_t)check_random_below(random, 8),
    };
    unsigned sizes = 1;

    while (8u << sizes <= config->data_width)
        sizes++;
    access.dsize = (uint8_t)check_random_below(random, sizes);
    if (access.dtype >= 8) {
        access.dsize =
            (uint8_t)(config->data_width >= 64 ? 2 + check_random_below(random, 2) : 2);
        access.daddr &= ~(((uint64_t)1 << access.dsize) - 1);
    }
    if (access.dtype >= 4 && access.dtype <= 6)
        access.daddr = check_random_below(random, 0x1000);
    if (access.dsize == 4) {
        access.data_high = random_value(random);
        access.operand_high = random_value(random);
    }
    return access;
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size >= 3 ? value : value & (((uint64_t)1 << (8u << size)) - 1);
}

/* The packet says what was done. */
static void check_access(const struct tw_etrace_packet *packet,
                         const struct tw_etrace_access *access,
                         const struct tw_etrace_config *config)
{
    const bool is_csr = access->dtype >= 4 && access->dtype <= 6;
    const bool is_split = config->lrid_width && !is_csr && access->dtype != 1;
    const bool no_data = config->options & TW_ETRACE_NO_DATA;
    const bool no_address = config->options & TW_ETRACE_NO_ADDRESS && !no_data && !is_csr &&
                            !(is_split && access->dtype == 0);
    const unsigned size = is_csr ? (config->data_width >= 64 ? 3u : 2u) : access->dsize;

    if (!no_address)
        CHECK_EQ(packet->address, access->daddr);
    if (!no_data && !is_split) {
        CHECK_EQ(packet->value, cut(access->data, size));
        if (size == 4)
            CHECK_EQ(packet->value_high, access->data_high);
    }
    if (!no_data && access->dtype >= 4 && !(is_csr && access->daddr >> 10 == 3))
        CHECK_EQ(packet->operand_value, cut(access->operand, size));
}

struct data_run {
    struct tw_etrace_config config;
    struct tw_etrace_access accesses[300];
    size_t count;
};

static void make_data(struct kept *kept, struct data_run *run, struct check_random *random)
{
    struct tw_etrace_unit *unit = make_unit(kept, &run->config);
    uint64_t pc = 0x1000;

    kept->count = kept->size[0] = kept->size[1] = 0;
    write_field(unit, "ResyncMode", 1);
    write_field(unit, "iEnable", 1);
    write_field(unit, "dEnable", 1);
    for (run->count = 0; run->count < LENGTH(run->accesses); run->count++) {
        struct tw_etrace_access *access = &run->accesses[run->count];
        const struct tw_etrace_block block = {
            .iaddr = pc, .iretire = 2, .ilastsize = 1, .priv = 3, .itype = 10
        };
        const struct tw_etrace_cycle cycle = {
            .blocks = &block, .block_count = 1, .accesses = access, .access_count = 1
        };

        *access = random_access(random, &run->config);
        pc = 0x1000 + 2 * check_random_below(random, 500);
        CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
        if (run->config.lrid_width && (access->dtype == 0 || access->dtype >= 8))
            CHECK_EQ(tw_etrace_unit_response(unit, access->lrid, access->data,
                                             access->data_high,
                                             check_random_below(random, 9) == 0),
                     TW_OK);
    }
    write_field(unit, "dEnable", 0);
    write_field(unit, "iEnable", 0);
    tw_etrace_unit_flush(unit);
    tw_etrace_unit_free(unit);
}

static void check_data(const struct kept *kept, const struct data_run *run, unsigned stream)
{
    struct tw_etrace_reader *codec;
    size_t access = 0;
    bool is_open = false;

    CHECK_EQ(tw_etrace_reader_new(&codec, &run->config, NULL, NULL), TW_OK);
    for (size_t at = 0; at < kept->size[stream];) {
        const struct tw_etrace_access *now = &run->accesses[access ? access - 1 : 0];
        struct tw_etrace_packet packet;
        unsigned type;

        CHECK_EQ(tw_etrace_read(codec, &packet, kept->bytes[stream] + at,
                                kept->size[stream] - at, true),
                 TW_OK);
        at += packet.base.size;
        type = packet.base.type;
        CHECK(type != TW_ETRACE_BAD && type != TW_ETRACE_INCOMPLETE);
        if (type < TW_ETRACE_LOAD || type > TW_ETRACE_CSR)
            continue;
        if (type == TW_ETRACE_SPLIT_LOAD_DATA || type == TW_ETRACE_SPLIT_ATOMIC_DATA) {
            CHECK(is_open);
            if (packet.resp)
                CHECK_EQ(packet.value, cut(now->data, now->dsize));
            is_open = false;
            continue;
        }
        CHECK(access < run->count);
        check_access(&packet, &run->accesses[access++], &run->config);
        is_open = type == TW_ETRACE_SPLIT_LOAD_ADDR || type == TW_ETRACE_SPLIT_ATOMIC_ADDR;
    }
    CHECK_EQ(access, run->count);
    tw_etrace_reader_free(codec);
}

/* [RVT 2.2/9] [RVT 4.3/1] [RVT 4.3/2] [RVT 4.3/3] [RVT 4.4/2] [RVT 7/1] [RVT 7.1.3/4] [RVT 7.1.3/5] [RVT T4.9/2] [RVT T4.9/4]
   [RVT T4.9/5] [RVT T4.9/6] [RVT T4.9/7] [RVT T4.9/8] */
static void test_data(void **state)
{
    struct check_random random = check_random_start(5);
    struct data_run *run = calloc(1, sizeof *run);
    struct kept *kept = new_kept();
    const size_t rounds = check_scale(3000);

    (void)state;
    CHECK(run != NULL);
    for (size_t i = 0; i < rounds; i++) {
        struct tw_etrace_config *config = &run->config;
        static const uint32_t options[] = { 0, TW_ETRACE_NO_DATA, TW_ETRACE_NO_ADDRESS,
                                            TW_ETRACE_FULL_DADDRESS, TW_ETRACE_FULL_DATA };

        *config = make_config(i & 1 ? TW_ETRACE_LAYOUT_SEED : TW_ETRACE_LAYOUT_V2);
        config->data_width = (uint8_t)(32u << check_random_below(&random, 3));
        if (config->data_width == 128)
            config->format_bits = 2;
        config->daddress_width = check_random_below(&random, 2) ? 64 : 40;
        config->data_compress = (uint8_t)check_random_below(&random, 4);
        config->diff_bits = config->data_compress == 1 || config->data_compress == 2
                                ? (uint8_t)(1 + check_random_below(&random, 2))
                                : 2;
        config->lrid_width =
            config->format_bits == 3 && check_random_below(&random, 3) == 0 ? 3 : 0;
        config->options = options[check_random_below(&random, LENGTH(options))];
        if (check_random_below(&random, 3) == 0)
            config->encapsulation = TW_ETRACE_ENCAP_ATB; /* a stream of its own */
        check_case("round %zu: width %u, compression %u, diff %u, split %u, options %x", i,
                   config->data_width, config->data_compress, config->diff_bits,
                   config->lrid_width, (unsigned)config->options);
        make_data(kept, run, &random);
        config->is_data = config->encapsulation == TW_ETRACE_ENCAP_ATB;
        check_data(kept, run, config->is_data);
    }
    free(kept);
    free(run);
}

/* Of data accesses only those come that match: by address, type, size, and where the code is. */
/* [RVT 2.3/2] [RVT 2.3/9] [RVT 2.3/10] [RVT 2.3/11] [RVT 4.4/3] */
static void test_data_filters(void **state)
{
    struct check_random random = check_random_start(6);
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    struct kept *kept = new_kept();
    const size_t rounds = check_scale(200);

    (void)state;
    config.data_width = config.daddress_width = 64;
    config.filters = config.comparators = 2;
    config.iaddr_lsbs_width = 6;
    config.taken_branches = 2;
    config.dblock_width = 1;
    for (size_t i = 0; i < rounds; i++) {
        struct tw_etrace_unit *unit = make_unit(kept, &config);
        uint64_t wanted[200];
        size_t wanted_count = 0, next = 0;

        check_case("round %zu", i);
        kept->count = 0;
        write_field(unit, "dFilters", 1);
        write_field(unit, "filter0.filterEnable", 1);
        write_field(unit, "filter0.matchComp1", 1);
        write_field(unit, "comparator0.pInput", 3);
        write_field(unit, "comparator0.pFunction", 2);
        write_field(unit, "comparator0.pMatch", 0x80002000);
        write_field(unit, "filter0.matchComp2", 1);
        write_field(unit, "filter0.comp2", 1);
        write_field(unit, "comparator1.pFunction", 0);
        write_field(unit, "comparator1.pMatch", 0x1004);
        write_field(unit, "filter0.matchDtype", 1);
        write_field(unit, "filter0.matchChoiceDtype", 2);
        write_field(unit, "filter0.matchDsize", 1);
        write_field(unit, "filter0.matchChoiceDsize", 0xc);
        write_field(unit, "dEnable", 1);
        for (unsigned k = 0; k < 200; k++) {
            const struct tw_etrace_block blocks[2] = {
                { .iaddr = 0x0f00, .iretire = 4, .ilastsize = 1, .itype = 5, .priv = 3 },
                { .iaddr = 0x1000, .iretire = 8, .ilastsize = 1, .priv = 3 }
            };
            struct tw_etrace_access access = {
                .dtype = (uint8_t)check_random_below(&random, 2),
                .dsize = (uint8_t)check_random_below(&random, 4),
                .daddr = 0x80000000 + check_random_below(&random, 0x4000),
                .dblock = 1,
            };
            const uint64_t iaddr = 0x1000 + 4 * check_random_below(&random, 4);
            const struct tw_etrace_cycle cycle = {
                .blocks = blocks, .block_count = 2, .accesses = &access, .access_count = 1
            };

            access.iaddr_lsbs = (uint32_t)(iaddr & 63);
            if (access.dtype == 1 && access.dsize >= 2 && access.daddr < 0x80002000 &&
                iaddr == 0x1004)
                wanted[wanted_count++] = access.daddr;
            CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_OK);
        }
        tw_etrace_unit_flush(unit);
        tw_etrace_unit_free(unit);
        for (size_t k = 0; k < kept->count; k++)
            if (kept->packets[k].base.type == TW_ETRACE_STORE)
                next++;
            else
                CHECK_EQ(kept->packets[k].base.type, TW_ETRACE_F3S3);
        CHECK_EQ(next, wanted_count);
        CHECK(wanted_count == 0 || wanted[0] >= 0x80000000);
    }
    free(kept);
}

/* Two values of 16 bytes and an address do not fit in 31. */
static void test_too_long(void **state)
{
    struct tw_etrace_config config = make_config(TW_ETRACE_LAYOUT_V2);
    const struct tw_etrace_access access = { .dtype = TW_ETRACE_DTYPE_ADD,
                                             .dsize = 4,
                                             .daddr = 0x80000000,
                                             .data = 1,
                                             .data_high = UINT64_C(0x123456789abcdef0),
                                             .operand_high = UINT64_C(0x123456789abcdef0) };
    const struct tw_etrace_cycle cycle = { .accesses = &access, .access_count = 1 };
    struct kept *kept = new_kept();
    struct tw_etrace_unit *unit;

    (void)state;
    config.data_width = 128;
    config.daddress_width = 64;
    unit = make_unit(kept, &config);
    write_field(unit, "dEnable", 1);
    CHECK_EQ(tw_etrace_unit_cycle(unit, &cycle), TW_E_ARGUMENT);
    CHECK_TEXT(tw_etrace_unit_fault(unit), "the access needs a packet that is too long");
    tw_etrace_unit_free(unit);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_data),
                                        cmocka_unit_test(test_data_filters),
                                        cmocka_unit_test(test_too_long) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
