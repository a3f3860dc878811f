/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace: packets. */
#include "check.h"

#include <string.h>

#include "etrace/test.h"
#include "etrace/test_random.h"

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

/* [RVT 6/4] [RVT 6/5] [RVT 6/6] [RVT 6/7] [RVT 6.1/1] [RVT 6.2/1] [RVT 6.3/1] [RVT 6.3/3] [RVT 6.4/1] [RVT T6.4/1] [RVT 6.6/1] [RVT 6.7/1] [RVT 6.7/2]
   [RVT T6.8/1] [RVT T6.10/1] [RVT T6.11/1] [RVT 6.8.3/1] */
static void reads_and_writes_each_packet(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        struct tw_etrace_reader *codec = codec_of(vectors[i].config);
        struct tw_etrace_reader *writer = codec_of(vectors[i].config);
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
        CHECK_EQ(packet.base.size, size);
        CHECK_EQ(packet.payload_size, size - 1);
        tw_protocol_print(&text, &tw_etrace, &packet);
        CHECK_TEXT(line, vectors[i].text);
        CHECK_EQ(tw_etrace_write(writer, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        tw_etrace_reader_free(codec);
        tw_etrace_reader_free(writer);
    }
}

static void a_cut_packet_at_the_end_is_incomplete(void **state)
{
    struct tw_etrace_reader *codec = codec_of(V2);
    struct tw_etrace_packet packet;

    (void)state;
    CHECK_EQ(read_tight(codec, &packet, (const uint8_t *)"\x47\x73\x00", 3, true), TW_OK);
    CHECK_EQ(packet.base.type, TW_ETRACE_INCOMPLETE);
    CHECK_EQ(packet.base.size, 3);
    CHECK_EQ(packet.error, TW_ERROR_TRUNCATED);
    CHECK_EQ(read_tight(codec, &packet, (const uint8_t *)"", 0, true), TW_MORE);
    tw_etrace_reader_free(codec);
}

/* [RVT 6.8.1/1] [RVT 6.8.2/1] */
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
        struct tw_etrace_reader *codec = codec_of(bad[i].config);
        struct tw_etrace_packet packet;
        uint8_t bytes[40];
        const size_t size = from_hex(bytes, bad[i].bytes);

        CHECK_CASE(bad[i].bytes);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, true), TW_OK);
        CHECK_EQ(packet.base.type, TW_ETRACE_BAD);
        CHECK_EQ(packet.error, bad[i].error);
        tw_etrace_reader_free(codec);
    }
}

/* Too long for five bits of length: the writer must say so, and a random one may be. */
static bool round_trip(struct tw_etrace_reader *reader, struct tw_etrace_reader *writer,
                       const struct tw_etrace_packet *packet)
{
    struct tw_etrace_packet got;
    uint8_t first[64], second[64];
    size_t first_size = sizeof first, second_size = sizeof second;
    const uint32_t options = writer->options;

    if (tw_etrace_write(writer, first, &first_size, packet) != TW_OK)
        return false;
    CHECK_EQ(read_tight(reader, &got, first, first_size, true), TW_OK);
    CHECK_EQ(got.base.type, packet->base.type);
    CHECK_EQ(got.base.size, first_size);
    writer->options = options;
    CHECK_EQ(tw_etrace_write(writer, second, &second_size, &got), TW_OK);
    CHECK_BYTES(second, second_size, first, first_size);
    if (packet->base.type <= TW_ETRACE_F2 && (got.has & TW_ETRACE_HAS_ADDRESS)) {
        CHECK_EQ(got.field, packet->field);
        CHECK_EQ(got.notify, packet->notify);
        CHECK_EQ(got.updiscon, packet->updiscon);
        CHECK_EQ(got.irreport, packet->irreport);
        if (packet->irreport)
            CHECK_EQ(got.irdepth, packet->irdepth);
    }
    return true;
}

/* [RVT 6/2] [RVT 6/3] [RVT 6.1/1] [RVT 6.7.2/2] [RVT T6.9/1] [RVT 7.1.1/1] */
static void random_packets_survive_the_way_there_and_back(void **state)
{
    struct check_random random = check_random_start(0x2020);
    const size_t configs = check_scale(4000);
    size_t written = 0;

    (void)state;
    for (size_t i = 0; i < configs; i++) {
        const struct tw_etrace_config config = random_config(&random);
        struct tw_etrace_reader *reader, *writer;
        const bool has_types = config.encapsulation == TW_ETRACE_ENCAP_LEN5_TYPE2 ||
                               ((config.encapsulation == TW_ETRACE_ENCAP_RISCV ||
                                 config.encapsulation == TW_ETRACE_ENCAP_SMI) &&
                                config.type_bits);

        CHECK_EQ(tw_etrace_reader_new(&reader, &config, NULL, NULL), TW_OK);
        CHECK_EQ(tw_etrace_reader_new(&writer, &config, NULL, NULL), TW_OK);
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
        tw_etrace_reader_free(reader);
        tw_etrace_reader_free(writer);
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
        struct tw_etrace_reader *codec;
        size_t at = 0;

        check_random_fill(&random, bytes, size);
        if (below(&random, 2))
            memset(bytes + size / 3, 0, size / 3);
        CHECK_EQ(tw_etrace_reader_new(&codec, &config, NULL, NULL), TW_OK);
        while (at < size) {
            struct tw_etrace_packet packet;
            char line[700];
            struct tw_text text = tw_text_in(line, sizeof line);

            CHECK_EQ(read_tight(codec, &packet, bytes + at, size - at, true), TW_OK);
            CHECK(packet.base.size >= 1 && packet.base.size <= size - at);
            tw_protocol_print(&text, &tw_etrace, &packet);
            CHECK(!text.failed);
            at += packet.base.size;
        }
        tw_etrace_reader_free(codec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_each_packet),
        cmocka_unit_test(a_cut_packet_at_the_end_is_incomplete),
        cmocka_unit_test(payloads_that_no_encoder_sends),
        cmocka_unit_test(random_packets_survive_the_way_there_and_back),
        cmocka_unit_test(random_bytes_never_stop_the_reader),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
