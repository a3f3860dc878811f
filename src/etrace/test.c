/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets, encapsulations and configurations. */ /* size: table */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etrace/config.h"
#include "etrace/packet.h"

#define V2                                                                                     \
    "layout=v2,iaddress_width_p=64,iaddress_lsb_p=1,privilege_width_p=2,nocontext_p=0,"        \
    "context_width_p=32,ecause_width_p=5"
#define SEED                                                                                   \
    "layout=seed,iaddress_width_p=64,privilege_width_p=2,context_width_p=32,ecause_width_p=5"

static struct tw_etrace_config read_config(const char *text)
{
    struct tw_etrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    tw_etrace_config_init(&config, (enum tw_etrace_layout)config.layout);
    CHECK_EQ(tw_etrace_config_read(&config, text, &fault), TW_OK);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_OK);
    return config;
}

static struct tw_etrace_codec *codec_of(const char *text)
{
    const struct tw_etrace_config config = read_config(text);
    struct tw_etrace_codec *codec;

    CHECK_EQ(tw_etrace_codec_new(&codec, &config, NULL), TW_OK);
    return codec;
}

/* From an exact-size heap block, so that one byte too far is seen. */
static enum tw_status read_tight(struct tw_etrace_codec *codec, struct tw_etrace_packet *packet,
                                 const uint8_t *bytes, size_t size, bool is_last)
{
    uint8_t *copy = check_copy(bytes, size);
    const enum tw_status status = tw_etrace_read(codec, packet, copy, size, is_last);

    free(copy);
    return status;
}

static size_t from_hex(uint8_t *out, const char *hex)
{
    size_t size = 0;
    char *end;

    for (; *hex; hex = end) {
        out[size++] = (uint8_t)strtoul(hex, &end, 16);
        while (*end == ' ')
            end++;
    }
    return size;
}

/* clang-format off */
/* The byte vectors of public encoders, and of the specification's tables. */
static const struct vector {
    const char *config, *bytes, *text;
} vectors[] = {
    { V2, "41 1f", "f3s3 ienable=1 encoder_mode=0 qual_status=0 ioptions=0 denable=0 dloss=0 doptions=0" },
    { V2, "41 4f", "f3s3 ienable=0 encoder_mode=0 qual_status=1 ioptions=0 denable=0 dloss=0 doptions=0" },
    { V2, "47 73 00 00 00 00 00 04", "f3s0 branch=1 privilege=3 time=0 context=0 address=0x1000" },
    { V2, "49 73 00 00 00 00 46 00 00 20", "f3s0 branch=1 privilege=3 time=0 context=0 address=0x80000118" },
    { V2, "45 02 e0 ff ff 00", "f2 field=0x3ffff800 address=0x7ffff000 notify=0 updiscon=0 irreport=0" },
    { V2, "42 5e 01", "f2 field=0x57 address=0xae notify=0 updiscon=0 irreport=0" },
    { V2, "49 02 00 00 00 00 00 00 00 fc", "f2 field=0x0 address=0x0 notify=0 updiscon=1 irreport=0" },
    { V2, "49 7e fe ff ff ff ff ff ff 03", "f2 field=0x7fffffffffffff9f address=0xffffffffffffff3e notify=0 updiscon=1 irreport=0" },
    { V2, "45 81 a2 a2 a2 e2", "f1 branches=0 branch_map=0x45454545" },
    { V2, "46 6d 00 00 80 00 f2", "f1 branches=27 branch_map=0x1000000 field=0x7fffffffffffffc8 address=0xffffffffffffff90 notify=0 updiscon=0 irreport=0" },
    { V2, "42 85 06", "f1 branches=1 branch_map=0x1 field=0x6 address=0xc notify=0 updiscon=0 irreport=0" },
    { V2, "4a 77 00 00 00 80 a5 71 00 00 10", "f3s1 branch=1 privilege=3 time=0 context=0 ecause=11 interrupt=0 thaddr=1 address=0x8000038c tval=0x0" },
    { V2, "4a 77 00 00 00 80 b3 71 00 00 10", "f3s1 branch=1 privilege=3 time=0 context=0 ecause=7 interrupt=1 thaddr=1 address=0x8000038c" },
    { V2, "52 77 00 00 00 00 01 51 00 00 10 00 00 00 60 5e 04 fc 0f", "f3s1 branch=1 privilege=3 time=0 context=0 ecause=2 interrupt=0 thaddr=0 address=0x80000288 tval=0x7fe022f3" },
    { V2 ",iaddress_width_p=32", "49 73 00 00 00 00 46 00 00 e0", "f3s0 branch=1 privilege=3 time=0 context=0 address=0x80000118" },
    { V2 ",iaddress_lsb_p=0,full_address=1", "45 02 00 00 00 02", "f2 field=0x80000000 address=0x80000000 notify=0 updiscon=0 irreport=0" },
    { V2 ",notime_p=0,time_width_p=40", "4c f3 01 00 00 00 00 00 00 00 00 00 04", "f3s0 branch=1 privilege=3 time=3 context=0 address=0x1000" },
    { V2 ",return_stack_size_p=7", "49 5e 01 00 00 00 00 00 00 f0", "f2 field=0x57 address=0xae notify=0 updiscon=0 irreport=0" },
    { SEED, "50 77 00 00 00 80 42 12 00 00 08 00 00 00 00 00 01", "f3s1 branch=1 privilege=3 time=0 context=0 ecause=5 interrupt=0 thaddr=1 address=0x80000124 tval=0x1000" },
    { SEED, "42 1f f9", "f3s3 ienable=1 encoder_mode=0 qual_status=0 ioptions=25" },
    { V2 ",f0s_width_p=1,bpred_size_p=7,cache_size_p=7", "41 58", "f0s0 branch_count=11 branch_fmt=0" },
    { V2 ",f0s_width_p=1,bpred_size_p=7,cache_size_p=7", "42 70 07", "f0s0 branch_count=238 branch_fmt=0" },
    { V2 ",f0s_width_p=1,cache_size_p=7,call_counter_size_p=9", "43 fc 09 01", "f0s1 index=63 branches=2 branch_map=0x2 irreport=0 address=0x0" },
    { V2 ",jump_target_cache=1,cache_size_p=5,return_stack_size_p=2", "42 18 90", "f0s1 index=6 branches=0 branch_map=0x0 irreport=1 irdepth=4 address=0x0" },
    { V2 ",return_stack_size_p=2", "49 b6 ff ff ff ff ff ff ff 37", "f2 field=0x7fffffffffffffed address=0xffffffffffffffda notify=0 updiscon=0 irreport=1 irdepth=3" },
    { V2 ",implicit_exception=1", "46 77 00 00 00 80 25", "f3s1 branch=1 privilege=3 time=0 context=0 ecause=11 interrupt=0 thaddr=1 tval=0x0" },
    { V2 ",context_width_p=16", "42 bb 13", "f3s2 privilege=3 time=0 context=78" },
};
/* clang-format on */

static void reads_and_writes_each_packet(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        struct tw_etrace_codec *codec = codec_of(vectors[i].config);
        struct tw_etrace_codec *writer = codec_of(vectors[i].config);
        struct tw_etrace_packet packet;
        uint8_t bytes[40], back[40];
        const size_t size = from_hex(bytes, vectors[i].bytes);
        size_t written = sizeof back;
        char line[400];
        struct tw_text text = tw_text_in(line, sizeof line);

        CHECK_CASE(vectors[i].bytes);
        for (size_t cut = 0; cut < size; cut++)
            CHECK_EQ(read_tight(codec, &packet, bytes, cut, false), TW_MORE);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, false), TW_OK);
        CHECK_EQ(packet.packet.size, size);
        CHECK_EQ(packet.payload_size, size - 1);
        tw_etrace_print(&text, &packet);
        CHECK_TEXT(line, vectors[i].text);
        CHECK_EQ(tw_etrace_write(writer, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        tw_etrace_codec_free(codec);
        tw_etrace_codec_free(writer);
    }
}

static void a_cut_packet_at_the_end_is_incomplete(void **state)
{
    struct tw_etrace_codec *codec = codec_of(V2);
    struct tw_etrace_packet packet;

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, (const uint8_t *)"\x47\x73\x00", 3, true), TW_OK);
    CHECK_EQ(packet.packet.type, TW_ETRACE_INCOMPLETE);
    CHECK_EQ(packet.packet.size, 3);
    CHECK_EQ(packet.error, TW_ERROR_TRUNCATED);
    CHECK_EQ(read_tight(codec, &packet, (const uint8_t *)"", 0, true), TW_MORE);
    tw_etrace_codec_free(codec);
}

static void payloads_that_no_encoder_sends(void **state)
{
    static const struct {
        const char *config, *bytes;
        unsigned error;
    } bad[] = {
        { V2, "c2 5e 01", TW_ERROR_RESERVED_HEADER },               /* bit 7 */
        { V2, "22 5e 01", TW_ERROR_RESERVED_HEADER },               /* no such type */
        { V2, "40 5e 01", TW_ERROR_RESERVED_HEADER },               /* nothing in it */
        { V2, "46 81 a2 a2 a2 e2 01", TW_ERROR_BAD_SEQUENCE },      /* longer than its fields */
        { V2, "41 10", TW_ERROR_RESERVED_CONFIG },                  /* format 0 of no kind */
        { V2 ",f0s_width_p=2", "41 08", TW_ERROR_RESERVED_HEADER }, /* subformat 2 */
        { V2 ",f0s_width_p=1", "41 04", TW_ERROR_RESERVED_CONFIG }, /* no cache */
        { V2 ",branch_prediction=1", "45 00 00 00 00 04", TW_ERROR_BAD_SEQUENCE }, /* fmt 1 */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_etrace_codec *codec = codec_of(bad[i].config);
        struct tw_etrace_packet packet;
        uint8_t bytes[40];
        const size_t size = from_hex(bytes, bad[i].bytes);

        CHECK_CASE(bad[i].bytes);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, true), TW_OK);
        CHECK_EQ(packet.packet.type, TW_ETRACE_BAD);
        CHECK_EQ(packet.error, bad[i].error);
        tw_etrace_codec_free(codec);
    }
}

/* Random packets of random configurations. */

static uint64_t bits(struct check_random *random, unsigned count)
{
    /* Often small or negative, as real values are. */
    const unsigned kept = (unsigned)check_random_below(random, count + 1);
    uint64_t value = check_random_next(random);

    if (kept < 64)
        value &= ((uint64_t)1 << kept) - 1;
    if (check_random_below(random, 2))
        value = ~value;
    return count < 64 ? value & (((uint64_t)1 << count) - 1) : value;
}

static uint8_t below(struct check_random *random, unsigned limit)
{
    return (uint8_t)check_random_below(random, limit);
}

static struct tw_etrace_config random_config(struct check_random *random)
{
    struct tw_etrace_config config;

    tw_etrace_config_init(&config,
                          below(random, 2) ? TW_ETRACE_LAYOUT_SEED : TW_ETRACE_LAYOUT_V2);
    config.encapsulation = below(random, TW_ETRACE_ENCAP_ESP32 + 1);
    config.iaddress_width = (uint8_t)(20 + below(random, 45));
    config.iaddress_lsb = below(random, 3);
    config.privilege_width = (uint8_t)(1 + below(random, 3));
    config.context_width = (uint8_t)(1 + below(random, 16));
    config.nocontext = below(random, 2);
    config.notime = below(random, 2);
    config.time_width = (uint8_t)(1 + below(random, 20));
    config.ecause_width = (uint8_t)(1 + below(random, 8));
    config.f0s_width = below(random, 2);
    config.cache_size = (uint8_t)(1 + below(random, 8));
    config.bpred_size = (uint8_t)(1 + below(random, 8));
    config.return_stack_size = below(random, 6);
    config.call_counter_size = below(random, 6);
    config.options = (uint32_t)check_random_below(random, 32);
    config.srcid_bits = below(random, 17);
    config.type_bits = below(random, 4);
    config.timestamp_bytes = below(random, 5);
    config.data_width = (uint8_t)(32u << below(random, 2));
    config.daddress_width = (uint8_t)(20 + below(random, 45));
    config.lrid_width = below(random, 2) ? below(random, 6) : 0;
    config.diff_bits = (uint8_t)(1 + below(random, 2));
    if (below(random, 3) == 0)
        config.options |= below(random, 2) ? TW_ETRACE_NO_ADDRESS : TW_ETRACE_NO_DATA;
    return config;
}

static struct tw_etrace_packet random_inst(struct check_random *random,
                                           const struct tw_etrace_codec *codec)
{
    const struct tw_etrace_shape *shape = &codec->shape;
    struct tw_etrace_packet packet = { .packet = { .type = below(random, TW_ETRACE_LOAD) } };

    packet.branches = below(random, 32);
    packet.branch_map =
        (uint32_t)bits(random, packet.branches ? tw_etrace_map_bits(packet.branches) : 31);
    packet.branch_count = (uint32_t)bits(random, 32);
    packet.branch_fmt = (uint8_t)(below(random, 3) ? 1 + below(random, 2) + 1 : 0);
    packet.index = (uint32_t)bits(random, shape->index);
    packet.field = bits(random, shape->address_bits);
    packet.notify = below(random, 4) == 0;
    packet.updiscon = below(random, 4) == 0;
    packet.irreport = below(random, 2);
    packet.irdepth = packet.irreport ? (uint32_t)bits(random, shape->irdepth) : 0;
    packet.branch = below(random, 2);
    packet.privilege = (uint8_t)bits(random, shape->privilege);
    packet.time = bits(random, shape->time);
    packet.context = bits(random, shape->context);
    packet.ecause = (uint16_t)bits(random, shape->ecause);
    packet.interrupt = below(random, 2);
    packet.thaddr = below(random, 2);
    packet.tval = bits(random, shape->address_width);
    packet.ienable = below(random, 2);
    packet.encoder_mode = (uint8_t)bits(random, shape->encoder_mode);
    packet.qual_status = below(random, 4);
    packet.ioptions = (uint32_t)bits(random, shape->ioptions);
    packet.doptions = (uint32_t)bits(random, shape->doptions);
    return packet;
}

static struct tw_etrace_packet random_data(struct check_random *random,
                                           const struct tw_etrace_codec *codec)
{
    const struct tw_etraced_shape *shape = &codec->data_shape;
    const bool is_seed_atomic = shape->is_seed;
    struct tw_etrace_packet packet = { .format = below(random, shape->is_split ? 8 : 4) };
    static const uint8_t types[] = { TW_ETRACE_LOAD,
                                     TW_ETRACE_LOAD,
                                     TW_ETRACE_STORE,
                                     TW_ETRACE_STORE,
                                     TW_ETRACE_SPLIT_LOAD_DATA,
                                     TW_ETRACE_CSR,
                                     TW_ETRACE_ATOMIC,
                                     TW_ETRACE_SPLIT_ATOMIC_DATA };

    if (!shape->is_split && below(random, 2))
        packet.format = (uint8_t)(5 + below(random, 2));
    packet.packet.type = types[packet.format];
    if (shape->is_split && packet.format <= 1)
        packet.packet.type = TW_ETRACE_SPLIT_LOAD_ADDR;
    if (shape->is_split && packet.format == 6)
        packet.packet.type = TW_ETRACE_SPLIT_ATOMIC_ADDR;
    packet.data_size = below(random, shape->data_width == 64 ? 4 : 3);
    if (packet.format == 6 && is_seed_atomic)
        packet.data_size = (uint8_t)(2 + below(random, shape->data_width == 64 ? 2 : 1));
    if (packet.format == 5)
        packet.data_size = shape->csr_size;
    if (packet.format == 7) /* the size of what was asked for */
        packet.data_size = 0;
    packet.subtype = below(random, packet.format == 5 ? 3 : 7);
    packet.lrid = packet.format == 7 ? 0 : (uint32_t)bits(random, shape->lrid);
    packet.diff = below(random, 2);
    packet.resp = below(random, 4);
    packet.data_len = (uint8_t)bits(random, packet.data_size);
    packet.op_len = (uint8_t)bits(random, packet.data_size);
    packet.data = bits(random, 8 * (packet.data_len + 1u));
    packet.operand = bits(random, 8 * (packet.op_len + 1u));
    packet.field = bits(random, packet.format == 5 ? 12 : shape->address_width);
    return packet;
}

/* Too long for five bits of length: the writer must say so, and a random one may be. */
static bool round_trip(struct tw_etrace_codec *reader, struct tw_etrace_codec *writer,
                       const struct tw_etrace_packet *packet)
{
    struct tw_etrace_packet got;
    uint8_t first[64], second[64];
    size_t first_size = sizeof first, second_size = sizeof second;
    const uint32_t options = writer->options;

    if (tw_etrace_write(writer, first, &first_size, packet) != TW_OK)
        return false;
    CHECK_EQ(read_tight(reader, &got, first, first_size, true), TW_OK);
    CHECK_EQ(got.packet.type, packet->packet.type);
    CHECK_EQ(got.packet.size, first_size);
    writer->options = options;
    CHECK_EQ(tw_etrace_write(writer, second, &second_size, &got), TW_OK);
    CHECK_BYTES(second, second_size, first, first_size);
    if (packet->packet.type <= TW_ETRACE_F2 && (got.has & TW_ETRACE_HAS_ADDRESS)) {
        CHECK_EQ(got.field, packet->field);
        CHECK_EQ(got.notify, packet->notify);
        CHECK_EQ(got.updiscon, packet->updiscon);
        CHECK_EQ(got.irreport, packet->irreport);
        if (packet->irreport)
            CHECK_EQ(got.irdepth, packet->irdepth);
    }
    return true;
}

static void random_packets_survive_the_way_there_and_back(void **state)
{
    struct check_random random = check_random_start(0x2020);
    const size_t configs = check_scale(4000);
    size_t written = 0;

    (void)state;
    for (size_t i = 0; i < configs; i++) {
        const struct tw_etrace_config config = random_config(&random);
        struct tw_etrace_codec *reader, *writer;
        const bool has_types = config.encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 ||
                               ((config.encapsulation == TW_ETRACE_ENCAP_RISCV ||
                                 config.encapsulation == TW_ETRACE_ENCAP_SMI) &&
                                config.type_bits);

        CHECK_EQ(tw_etrace_codec_new(&reader, &config, NULL), TW_OK);
        CHECK_EQ(tw_etrace_codec_new(&writer, &config, NULL), TW_OK);
        for (unsigned k = 0; k < 20; k++) {
            const bool is_data = has_types && below(&random, 2);
            struct tw_etrace_packet packet =
                is_data ? random_data(&random, writer) : random_inst(&random, writer);

            packet.source = (uint16_t)bits(&random, config.srcid_bits);
            packet.flow = below(&random, 4);
            if (below(&random, 3) == 0) {
                packet.has |= TW_ETRACE_HAS_STAMP;
                packet.stamp = bits(&random, 8u * config.timestamp_bytes);
            }
            written += round_trip(reader, writer, &packet);
            reader->options = writer->options;
            tw_etrace_transport_reset(&reader->transport);
        }
        tw_etrace_codec_free(reader);
        tw_etrace_codec_free(writer);
    }
    CHECK(written > configs * 10);
}

static void random_bytes_never_stop_the_reader(void **state)
{
    struct check_random random = check_random_start(0x2021);
    const size_t rounds = check_scale(2000);

    (void)state;
    for (size_t i = 0; i < rounds; i++) {
        const struct tw_etrace_config config = random_config(&random);
        uint8_t bytes[600];
        const size_t size = (size_t)check_random_below(&random, sizeof bytes) + 1;
        struct tw_etrace_codec *codec;
        size_t at = 0;

        check_random_fill(&random, bytes, size);
        if (below(&random, 2))
            memset(bytes + size / 3, 0, size / 3);
        CHECK_EQ(tw_etrace_codec_new(&codec, &config, NULL), TW_OK);
        while (at < size) {
            struct tw_etrace_packet packet;
            char line[700];
            struct tw_text text = tw_text_in(line, sizeof line);

            CHECK_EQ(read_tight(codec, &packet, bytes + at, size - at, true), TW_OK);
            CHECK(packet.packet.size >= 1 && packet.packet.size <= size - at);
            tw_etrace_print(&text, &packet);
            CHECK(!text.failed);
            at += packet.packet.size;
        }
        tw_etrace_codec_free(codec);
    }
}

/* Encapsulations. */

static void worked_example_of_the_encapsulation(void **state)
{
    struct tw_etrace_codec *codec =
        codec_of(V2 ",encapsulation=riscv,srcid_bits=6,type_bits=2,context_width_p=1");
    struct tw_etrace_packet packet;
    uint8_t bytes[] = { 0x06, 0x81, 0x32, 0x04, 0x00, 0x00, 0x02 }, back[40];
    size_t size = sizeof back;

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, bytes, sizeof bytes, true), TW_OK);
    CHECK_EQ(packet.packet.size, 7);
    CHECK_EQ(packet.header_size, 2);
    CHECK_EQ(packet.source, 1);
    CHECK_EQ(packet.packet.type, TW_ETRACE_F2);
    CHECK_EQ(tw_etrace_write(codec, back, &size, &packet), TW_OK);
    CHECK_BYTES(back, size, bytes, sizeof bytes);
    tw_etrace_codec_free(codec);
}

static void headers_of_each_kind(void **state)
{
    static const struct {
        const char *config, *bytes;
        uint8_t header;
        uint16_t source;
        uint64_t stamp;
    } headers[] = {
        { V2 ",encapsulation=atb", "02 5e 01", 1, 0, 0 },
        { V2 ",encapsulation=atb", "22 34 12 5e 01", 3, 0, 0x1234 },
        { V2 ",encapsulation=esp32", "05 07 01 5e 01", 3, 0x107, 0 },
        { V2 ",encapsulation=riscv", "02 5e 01", 1, 0, 0 },
        { V2 ",encapsulation=riscv,srcid_bits=8", "82 09 34 12 5e 01", 4, 9, 0x1234 },
        { V2 ",encapsulation=smi,srcid_bits=6,type_bits=2", "83 89 34 12 5e 01", 4, 9, 0x1234 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(headers); i++) {
        struct tw_etrace_codec *codec = codec_of(headers[i].config);
        struct tw_etrace_packet packet;
        uint8_t bytes[40], back[40];
        const size_t size = from_hex(bytes, headers[i].bytes);
        size_t written = sizeof back;

        CHECK_CASE(headers[i].bytes);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, true), TW_OK);
        CHECK_EQ(packet.packet.type, TW_ETRACE_F2);
        CHECK_EQ(packet.field, 0x57);
        CHECK_EQ(packet.header_size, headers[i].header);
        CHECK_EQ(packet.source, headers[i].source);
        CHECK_EQ(packet.stamp, headers[i].stamp);
        CHECK_EQ(tw_etrace_write(codec, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        tw_etrace_codec_free(codec);
    }
}

static void only_the_wanted_source(void **state)
{
    struct tw_etrace_codec *codec = codec_of(V2 ",encapsulation=riscv,srcid_bits=8,srcid=3");
    struct tw_etrace_packet packet;
    const uint8_t bytes[] = { 0x02, 0x04, 0x5e, 0x01, 0x02, 0x03, 0x5e, 0x01 };

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, bytes, 8, true), TW_OK);
    CHECK_EQ(packet.packet.type, TW_ETRACE_OTHER);
    CHECK_EQ(packet.packet.size, 4);
    CHECK_EQ(read_tight(codec, &packet, bytes + 4, 4, true), TW_OK);
    CHECK_EQ(packet.packet.type, TW_ETRACE_F2);
    tw_etrace_codec_free(codec);
}

/* Reads all; the types' names, runs of one name once. */
static void list(struct tw_text *out, struct tw_etrace_codec *codec, const uint8_t *bytes,
                 size_t size)
{
    const char *last = "";

    for (size_t at = 0; at < size;) {
        struct tw_etrace_packet packet;

        CHECK_EQ(read_tight(codec, &packet, bytes + at, size - at, true), TW_OK);
        if (strcmp(last, tw_etrace_type_name(packet.packet.type)) != 0) {
            last = tw_etrace_type_name(packet.packet.type);
            tw_text_format(out, "%zu %s ", at, last);
        }
        at += packet.packet.size;
    }
}

static void finds_the_next_packet_after_null_bytes(void **state)
{
    struct tw_etrace_codec *codec =
        codec_of(V2 ",encapsulation=riscv,timestamp_bytes=2,starts_inside=1");
    uint8_t bytes[60] = { 0x1f, 0x00, 0xff, 0x13 };
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    bytes[50] = 0x02; /* the first byte that is no null packet */
    bytes[51] = 0x5e;
    bytes[52] = 0x01;
    list(&text, codec, bytes, sizeof bytes);
    CHECK_TEXT(line, "0 not_sync 50 f2 53 null ");
    tw_etrace_codec_free(codec);
}

static void finds_the_next_packet_at_a_block(void **state)
{
    struct tw_etrace_codec *codec = codec_of(V2 ",block_size=64");
    uint8_t bytes[192] = { 0xff, 0x41, 0x42 };
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    for (size_t at = 64; at < 192; at += 64) {
        bytes[at] = 0x42;
        bytes[at + 1] = 0x5e;
        bytes[at + 2] = 0x01;
    }
    bytes[64 + 60] = 0x45; /* would reach into the next block */
    list(&text, codec, bytes, sizeof bytes);
    CHECK_TEXT(line, "0 bad 1 not_sync 64 f2 67 null 124 bad 125 not_sync 128 f2 131 null ");
    tw_etrace_codec_free(codec);
}

static void finds_the_next_packet_among_packets(void **state)
{
    struct tw_etrace_codec *codec = codec_of(V2);
    uint8_t bytes[200];
    size_t size = 0;
    char line[200];
    struct tw_text text = tw_text_in(line, sizeof line);

    (void)state;
    bytes[size++] = 0x42; /* a good one, then one whose length lies */
    bytes[size++] = 0x5e;
    bytes[size++] = 0x01;
    bytes[size++] = 0x49;
    bytes[size++] = 0x5e;
    bytes[size++] = 0x01;
    while (size < 150) {
        bytes[size++] = 0x42;
        bytes[size++] = 0x5e;
        bytes[size++] = 0x01;
    }
    list(&text, codec, bytes, size);
    CHECK_TEXT(line, "0 f2 3 bad 13 not_sync 15 f2 ");
    tw_etrace_codec_free(codec);
}

/* Configurations. */

static void refuses_what_it_does_not_know(void **state)
{
    static const struct {
        const char *text, *fault;
    } bad[] = {
        { "layout=v2\nspeed=3\n", "line 2: unknown key \"speed\"" },
        { "layout=v3\n", "line 1: layout: \"v3\" is no value it can have" },
        { "# a comment\n\nlayout=v2\niaddress_lsb_p=7\n",
          "line 4: iaddress_lsb_p: \"7\" is no number from 0 to 2" },
        { "layout=v2\nnonsense\n", "line 2: \"nonsense\" is no key=value" },
        { "tvec=3\n", "line 1: tvec: \"3\" is no value it can have" },
        { "link_registers=x2\n", "line 1: link_registers: \"x2\" is no value it can have" },
        { "sijump_p=2\n", "line 1: sijump_p: \"2\" is no number from 0 to 1" },
        { "<a><b></a>", "ipxact, line 1: an element ends that did not begin" },
        { "<a>\n<!-- ", "ipxact, line 2: the text ends inside a comment or declaration" },
        { "<a", "ipxact, line 1: a tag without an end" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_etrace_config config;
        struct tw_fault fault = { TW_OK, "" };

        CHECK_CASE(bad[i].text);
        tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
        CHECK_EQ(tw_etrace_config_read(&config, bad[i].text, &fault), TW_E_CONFIG);
        CHECK_TEXT(fault.text, bad[i].fault);
    }
}

static void needs_a_layout_and_sane_widths(void **state)
{
    struct tw_etrace_config config;
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_NONE);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_E_CONFIG);
    CHECK_TEXT(fault.text, "no layout: say layout=seed, layout=v2 or layout=v2-refpy-quirks");
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_OK);
    config.iaddress_width = 0;
    CHECK_EQ(tw_etrace_config_check(&config, &fault), TW_E_CONFIG);
    CHECK_TEXT(fault.text, "iaddress_width_p is 0; it must be from 8 to 64");
}

static void takes_bookkeeping_headings_and_own_keys(void **state)
{
    const struct tw_etrace_config config =
        read_config("# made by hand\n[required]\nlayout = seed\nprogram=x\nexpected=pcs\n"
                    "grade=A\nx_mine=anything\r\n[codec]\nfull-address=true\nresync-max=4\n"
                    "resync_packets=off,tvec=1:ffffffc000001dac,3:80000080\njvt=800000c0\n"
                    "link_registers=x1,x5\nioptions=jump_target_cache,branch_prediction\n");

    (void)state;
    CHECK_EQ(config.layout, TW_ETRACE_LAYOUT_SEED);
    CHECK_EQ(config.options, TW_ETRACE_FULL_ADDRESS);
    CHECK_EQ(config.tvec_mask, 0xa);
    CHECK_EQ(config.tvec[1], 0xffffffc000001dacu);
    CHECK_EQ(config.tvec[3], 0x80000080u);
    CHECK_EQ(config.jvt, 0x800000c0u);
    CHECK_EQ(config.resync_packets, 0);
    CHECK_EQ(config.ioption_order[1], TW_ETRACE_BRANCH_PREDICTION);
    CHECK_EQ(config.privilege_width, 3); /* the draft's default */
}

static void both_forms_say_the_same(void **state)
{
    static const char text[] =
        "layout=v2\nencapsulation=smi\nkind=data\nbpred_size_p=4\ncache_size_p=5\n"
        "call_counter_size_p=9\ncontext_width_p=40\nnocontext_p=0\niaddress_width_p=64\n"
        "iaddress_lsb_p=2\nsijump_p=1\ntvec=1:1234\njvt=4000\nlink_registers=x1\n"
        "ecall_retires=1\nsrcid=7\nsrcid_bits=6\ntype_bits=2\nfilters_p=3\nresync_packets=16\n";
    const struct tw_etrace_config config = read_config(text);
    char lines[16384], *xml = malloc(65536);
    struct tw_etrace_config again, other;
    char first[16384], second[16384];
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    CHECK(xml != NULL);
    CHECK(tw_etrace_config_text(lines, sizeof lines, &config) > 500);
    again = read_config(lines);
    CHECK(tw_etrace_config_text(first, sizeof first, &again) > 0);
    CHECK_TEXT(first, lines);
    CHECK(tw_etrace_config_ipxact(xml, 65536, &config) > 5000);
    tw_etrace_config_init(&other, TW_ETRACE_LAYOUT_V2);
    CHECK_EQ(tw_etrace_config_read(&other, xml, &fault), TW_OK);
    CHECK_TEXT(fault.text, "");
    CHECK(tw_etrace_config_text(second, sizeof second, &other) > 0);
    CHECK_TEXT(second, lines);
    free(xml);
}

static void registers_of_a_component(void **state)
{
    static const char text[] =
        "layout=seed\n<?xml version=\"1.0\"?>\n<ipxact:component a='>'><!-- < -->\n"
        "<ipxact:register><ipxact:name>discovery_info_0</ipxact:name>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>'h0001_2000</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets>\n"
        "<ipxact:field><ipxact:name>bpred_size</ipxact:name>\n"
        "<ipxact:bitOffset>12</ipxact:bitOffset><ipxact:bitWidth>4</ipxact:bitWidth>\n"
        "</ipxact:field>\n"
        "<ipxact:field><ipxact:name> cache_size </ipxact:name>\n"
        "<ipxact:bitOffset>16</ipxact:bitOffset><ipxact:bitWidth>4</ipxact:bitWidth>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>7</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets></ipxact:field>\n"
        "<ipxact:field><ipxact:name>not_ours</ipxact:name></ipxact:field>\n"
        "</ipxact:register>\n"
        "<ipxact:register><ipxact:field><ipxact:name>iaddress_width</ipxact:name>\n"
        "<ipxact:resets><ipxact:reset><ipxact:value>63</ipxact:value></ipxact:reset>\n"
        "</ipxact:resets></ipxact:field>\n"
        "<ipxact:field><ipxact:name>sijump</ipxact:name></ipxact:field></ipxact:register>\n"
        "</ipxact:component>\n";
    const struct tw_etrace_config config = read_config(text);

    (void)state;
    CHECK_EQ(config.bpred_size, 2);
    CHECK_EQ(config.cache_size, 7);
    CHECK_EQ(config.iaddress_width, 64); /* stored less one */
    CHECK_EQ(config.options, 0);
}

static void damaged_components_are_refused_or_read(void **state)
{
    const struct tw_etrace_config config = read_config("layout=v2");
    struct check_random random = check_random_start(0x2022);
    char *xml = malloc(65536), *damaged = malloc(65536);
    size_t size;

    (void)state;
    CHECK(xml != NULL && damaged != NULL);
    size = tw_etrace_config_ipxact(xml, 65536, &config);
    for (size_t i = 0, rounds = check_scale(2000); i < rounds; i++) {
        struct tw_etrace_config out;
        struct tw_fault fault;
        const size_t kept = (size_t)check_random_below(&random, size) + 1;

        memcpy(damaged, xml, kept);
        for (unsigned k = 0; k < 4; k++)
            damaged[check_random_below(&random, kept)] =
                "<>/'\"=5x\n-"[check_random_below(&random, 10)];
        damaged[kept] = 0;
        tw_etrace_config_init(&out, TW_ETRACE_LAYOUT_V2);
        CHECK(tw_etrace_config_read(&out, damaged, &fault) <= TW_OK);
    }
    free(xml);
    free(damaged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_each_packet),
        cmocka_unit_test(a_cut_packet_at_the_end_is_incomplete),
        cmocka_unit_test(payloads_that_no_encoder_sends),
        cmocka_unit_test(random_packets_survive_the_way_there_and_back),
        cmocka_unit_test(random_bytes_never_stop_the_reader),
        cmocka_unit_test(worked_example_of_the_encapsulation),
        cmocka_unit_test(headers_of_each_kind),
        cmocka_unit_test(only_the_wanted_source),
        cmocka_unit_test(finds_the_next_packet_after_null_bytes),
        cmocka_unit_test(finds_the_next_packet_at_a_block),
        cmocka_unit_test(finds_the_next_packet_among_packets),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(needs_a_layout_and_sane_widths),
        cmocka_unit_test(takes_bookkeeping_headings_and_own_keys),
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(registers_of_a_component),
        cmocka_unit_test(damaged_components_are_refused_or_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
