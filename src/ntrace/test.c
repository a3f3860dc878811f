/* SPDX-License-Identifier: BSD-2-Clause */
/* N-Trace: messages. */
#include "check.h"

#include "ntrace/test.h"

/* clang-format off */
static const struct vector {
    const char *config, *bytes, *text;
} vectors[] = {
    /* The specification's example, and one of each message. */
    { "", "70 d0 1d 1d f8 ff", "IndirectBranchHist tcode=28 btype=0 icnt=125 uaddr=0x7 hist=0xffe" },
    { "", "08 c8 3b", "Ownership tcode=2 process=0x3b2" },
    { "", "08 03", "Ownership tcode=2 process=0x0" },
    { "", "0c 07", "DirectBranch tcode=3 icnt=1" },
    { "", "0c ff", "DirectBranch tcode=3 icnt=63" },
    { "", "0c 00 07", "DirectBranch tcode=3 icnt=64" },
    { "", "0c fc fc fc 3f", "DirectBranch tcode=3 icnt=4194303" },
    { "", "10 11 d8 7b", "IndirectBranch tcode=4 btype=0 icnt=1 uaddr=0x7b6" },
    { "", "10 00 05 07", "IndirectBranch tcode=4 btype=0 icnt=16 uaddr=0x1" },
    { "", "10 5d 03", "IndirectBranch tcode=4 btype=3 icnt=5 uaddr=0x0" },
    { "", "20 03", "Error tcode=8 etype=0 ecode=0x0" },
    { "", "20 00 8f", "Error tcode=8 etype=0 ecode=0x8c" },
    { "", "24 05 44 28 20 00 43", "ProgTraceSync tcode=9 sync=1 icnt=0 faddr=0x10008291" },
    { "", "24 25 03", "ProgTraceSync tcode=9 sync=9 icnt=0 faddr=0x0" },
    { "", "2c 89 00 13", "DirectBranchSync tcode=11 sync=2 icnt=2 faddr=0x100" },
    { "", "30 08 11 00 13", "IndirectBranchSync tcode=12 sync=2 btype=0 icnt=4 faddr=0x100" },
    { "", "6c 40 0b", "ResourceFull tcode=27 rcode=0 rdata=9" },
    { "", "6c 04 00 40 08 00 83", "ResourceFull tcode=27 rcode=1 rdata=0x80009000" },
    { "", "6c 87", "ResourceFull tcode=27 rcode=1 rdata=0x2" },
    { "", "6c c9 fc fc ff", "ResourceFull tcode=27 rcode=2 rdata=0x3 hrepeat=262143" },
    { "", "70 21 01 07", "IndirectBranchHist tcode=28 btype=0 icnt=2 uaddr=0x0 hist=0x1" },
    { "", "74 18 01 05 07", "IndirectBranchHistSync tcode=29 sync=6 btype=0 icnt=0 faddr=0x1 hist=0x1" },
    { "", "78 fc fc ff", "RepeatBranch tcode=30 bcnt=262143" },
    { "", "84 00 03", "ProgTraceCorrelation tcode=33 evcode=0 cdf=0 icnt=0" },
    { "", "84 40 15 0b", "ProgTraceCorrelation tcode=33 evcode=0 cdf=1 icnt=5 hist=0x2" },
    /* Longer than one word, two words, and the longest there is. */
    { "", "24 7d e8 8c 04 00 00 fc fc fc fc fc 1f", "ProgTraceSync tcode=9 sync=15 icnt=1 faddr=0x7fffffffc00018fa" },
    { "", "74 88 0d fc fc fc fc fc fc fc fc fc fc 1d fc fc fc fc fc 0f",
      "IndirectBranchHistSync tcode=29 sync=2 btype=2 icnt=3 faddr=0x7fffffffffffffff hist=0xffffffff" },
    { "src_bits=12", "74 fc fc c8 fc fc fc 3d fc fc fc fc fc fc fc fc fc fc 1d fc fc fc fc fc 0d fc fc fc fc fc fc fc fc fc fc 3f",
      "IndirectBranchHistSync tcode=29 sync=2 btype=3 icnt=4194303 faddr=0x7fffffffffffffff hist=0xffffffff tstamp=18446744073709551615" },
    /* SRC, of which the packet's line tells elsewhere. */
    { "src_bits=1", "0c 1f", "DirectBranch tcode=3 icnt=3" },
    { "src_bits=6", "0c a8 0f", "DirectBranch tcode=3 icnt=3" },
    { "src_bits=12,inhibit_src=1", "0c 0f", "DirectBranch tcode=3 icnt=3" },
    { "src_bits=5", "84 0c a8 11 17", "ProgTraceCorrelation tcode=33 evcode=4 cdf=1 icnt=9 hist=0x5" },
    /* Timestamps: one field more. */
    { "", "0c 0d 47", "DirectBranch tcode=3 icnt=3 tstamp=17" },
    { "", "6c 00 21 fc 0f", "ResourceFull tcode=27 rcode=0 rdata=32 tstamp=255" },
    { "", "84 10 0d 27", "ProgTraceCorrelation tcode=33 evcode=4 cdf=0 icnt=3 tstamp=9" },
    { "", "24 0d 00 09 03", "ProgTraceSync tcode=9 sync=3 icnt=0 faddr=0x80 tstamp=0" },
    /* Address extension. */
    { "extend_addr_msb=1", "24 15 fc fc fc fc fc 7f", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0x7ffffffff" },
    { "extend_addr_msb=1", "24 15 fc fc fc fc 7c f3", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0x7fffffff1fffffff" },
    { "extend_addr_msb=1", "24 15 fc fc fc fc fc fc 03", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0xfffffffff" },
    { "extend_addr_msb=1", "24 15 fc fc fc fc fc fc fc fc fc fc 17", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0x5fffffffffffffff" },
    { "extend_addr_msb=1", "24 15 ff", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0x7fffffffffffffff" },
    { "extend_addr_msb=1,xlen=32", "24 15 ff", "ProgTraceSync tcode=9 sync=5 icnt=0 faddr=0x7fffffff" },
    { "extend_addr_msb=1", "70 21 00 00 00 00 00 00 f9 07", "IndirectBranchHist tcode=28 btype=0 icnt=2 uaddr=0x7fffffe000000000 hist=0x1" },
    { "extend_addr_msb=1", "10 21 80 03", "IndirectBranch tcode=4 btype=0 icnt=2 uaddr=0x20" },
    /* The dialect. */
    { "dialect=sifive", "1c 05 53", "DataAcquisition tcode=7 idtag=0x1 dqdata=0x14" },
    { "dialect=sifive", "5c 11 07", "AuxAccessWrite tcode=23 addr=0x4 data=0x1" },
    { "dialect=sifive", "88 00 0b", "InCircuitTrace tcode=34 cksrc=0 ckdf=0 ckdata0=0x2" },
    { "dialect=sifive", "8c 64 09 0f", "InCircuitTraceSync tcode=35 cksrc=9 ckdf=1 ckdata0=0x2 ckdata1=0x3" },
    { "dialect=sifive", "10 01 e8 8c 04 00 00 fc fc ff", "IndirectBranch tcode=4 btype=0 icnt=0 uaddr=0x7fffffffc00018fa" },
    { "dialect=sifive", "6c 20 0f", "ResourceFull tcode=27 rcode=8 rdata=12" },
};
/* clang-format on */

static void reads_and_writes_each_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(vectors); i++) {
        struct tw_ntrace_reader *codec = codec_of(vectors[i].config);
        struct tw_ntrace_packet packet;
        uint8_t bytes[80], back[80];
        const size_t size = from_hex(bytes, vectors[i].bytes);
        size_t written = sizeof back;
        char line[400];
        struct tw_text text = tw_text_in(line, sizeof line);

        CHECK_CASE(vectors[i].bytes);
        for (size_t cut = 0; cut < size; cut++)
            CHECK_EQ(read_tight(codec, &packet, bytes, cut, false), TW_MORE);
        CHECK_EQ(read_tight(codec, &packet, bytes, size, false), TW_OK);
        CHECK_EQ(packet.base.size, size);
        CHECK_EQ(packet.odd, 0);
        tw_protocol_print(&text, &tw_ntrace, &packet);
        CHECK_TEXT(line, vectors[i].text);
        CHECK_EQ(tw_ntrace_write(codec, back, &written, &packet), TW_OK);
        CHECK_BYTES(back, written, bytes, size);
        CHECK_EQ(codec->offset, size);

        /* The same with bytes behind it, which the short way may look at. */
        memset(bytes + size, 0xff, sizeof bytes - size);
        CHECK_EQ(read_tight(codec, &packet, bytes, sizeof bytes, false), TW_OK);
        CHECK_EQ(packet.base.size, size);
        text = tw_text_in(line, sizeof line);
        tw_protocol_print(&text, &tw_ntrace, &packet);
        CHECK_TEXT(line, vectors[i].text);
        tw_ntrace_reader_free(codec);
    }
}

/* clang-format off */
/* What lies between messages, damage, odd forms: each packet is a line. */
static const struct run {
    const char *config, *bytes, *text;
} runs[] = {
    { "", "ff ff 0c 07 ff 0c 0f", "0+2 Idle n=2\n2+2 DirectBranch tcode=3 icnt=1\n4+1 Idle n=1\n5+2 DirectBranch tcode=3 icnt=3\n" },
    { "", "0c ff ff 0c 07", "0+2 DirectBranch tcode=3 icnt=63\n2+1 Idle n=1\n3+2 DirectBranch tcode=3 icnt=1\n" },
    { "", "03 0c 07", "0+1 Idle n=1 warning=idle data\n1+2 DirectBranch tcode=3 icnt=1\n" },
    { "", "0c 06 0c 07 0c 0f", "0+4 BadSequence tcode=0 error=mseo at=1\n4+2 DirectBranch tcode=3 icnt=3\n" },
    { "", "0d 07 0c 07", "0+2 BadSequence tcode=0 error=start\n2+2 DirectBranch tcode=3 icnt=1\n" },
    { "", "06 07 0c 07", "0+2 BadSequence tcode=0 error=mseo\n2+2 DirectBranch tcode=3 icnt=1\n" },
    { "starts_inside=1", "04 07 0c 07", "0+2 NotSync\n2+2 DirectBranch tcode=3 icnt=1\n" },
    { "start=middle of a message", "04", "0+1 NotSync\n" },
    { "", "84 03", "0+2 ProgTraceCorrelation tcode=33 evcode=0 cdf=0 icnt=0 warning=empty field\n" },
    { "src_bits=2", "20 c5 0f", "0+3 Error tcode=8 etype=12 ecode=0x0 tstamp=3 warning=empty field\n" },
    { "", "24 07 0c 07", "0+2 BadSequence tcode=9 error=missing address\n2+2 DirectBranch tcode=3 icnt=1\n" },
    { "", "70 21 01 03", "0+4 BadSequence tcode=28 error=HIST 0\n" },
    { "", "70 21 03", "0+3 BadSequence tcode=28 error=HIST 0\n" },
    { "", "84 80 03", "0+3 BadSequence tcode=33 error=reserved CDF\n" },
    { "", "6c c9 07", "0+3 ResourceFull tcode=27 rcode=2 rdata=0x3 hrepeat=1\n" },
    { "", "6c cb", "0+2 BadSequence tcode=27 error=missing field\n" },
    { "src_bits=12", "0c 05 07", "0+3 BadSequence tcode=3 error=fixed fields cut at=1\n" },
    { "", "6c 50 0b", "0+3 ResourceFull tcode=27 rcode=4 rdata=9 warning=reserved code\n" },
    { "", "e0 14 2b 0c 07", "0+3 Vendor tcode=56\n3+2 DirectBranch tcode=3 icnt=1\n" },
    { "", "3c 03 0c 07", "0+2 Reserved tcode=15 error=reserved-header\n2+2 DirectBranch tcode=3 icnt=1\n" },
    { "dialect=1.0", "1c 05 53", "0+3 Reserved tcode=7 error=reserved-header\n" },
    { "", "0c 0d 45 47", "0+4 DirectBranch tcode=3 icnt=3 tstamp=17 warning=extra field\n" },
    { "", "0c 0d 45 45 45 45 47", "0+7 DirectBranch tcode=3 icnt=3 tstamp=17 warning=extra field\n" },
    { "", "24", "0+1 Incomplete tcode=9 error=truncated\n" },
    { "", "0c 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 07", "0+18 BadSequence tcode=3 error=field too wide at=17\n" },
    { "", "0c 04 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 03", "0+20 DirectBranch tcode=3 icnt=1\n" },
    { "", "08 07", "0+2 Ownership tcode=2 process=0x1 warning=reserved FORMAT\n" },
    { "", "24 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00", "0+18 Incomplete tcode=9 error=truncated\n" },
};
/* clang-format on */

static void list(struct tw_text *out, const struct tw_ntrace_packet *packet)
{
    tw_text_format(out, "%u+%u ", (unsigned)packet->base.offset, (unsigned)packet->base.size);
    tw_protocol_print(out, &tw_ntrace, packet);
    tw_text_char(out, '\n');
}

/* All packets of a stream that comes in pieces of `piece` bytes. */
static void list_pieces(struct tw_text *out, const char *config, const uint8_t *bytes,
                        size_t size, size_t piece)
{
    struct tw_ntrace_reader *codec = codec_of(config);
    struct tw_ntrace_packet packet, run = { .base = { .type = TW_NTRACE_NOT_SYNC } };

    for (size_t fed = piece, at = 0;; fed += piece) {
        const bool is_last = fed >= size;
        const size_t end = is_last ? size : fed;

        while (read_tight(codec, &packet, bytes + at, end - at, is_last) == TW_OK) {
            at += packet.base.size;
            if (packet.base.type == TW_NTRACE_NOT_SYNC) { /* whose run may go on */
                packet.base.size += run.base.size;
                packet.base.offset -= run.base.size;
                run = packet;
                continue;
            }
            if (run.base.size)
                list(out, &run);
            run.base.size = 0;
            list(out, &packet);
        }
        if (is_last)
            break;
    }
    if (run.base.size)
        list(out, &run);
    tw_ntrace_reader_free(codec);
}

static void tells_messages_from_what_lies_between(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(runs); i++) {
        uint8_t bytes[80];
        const size_t size = from_hex(bytes, runs[i].bytes);

        CHECK_CASE(runs[i].bytes);
        for (size_t piece = 1; piece <= size; piece++) {
            char lines[600];
            struct tw_text text = tw_text_in(lines, sizeof lines);

            list_pieces(&text, runs[i].config, bytes, size, piece);
            CHECK_TEXT(lines, runs[i].text);
        }
    }
}

/* What does not end is bounded. */
static void passes_over_what_has_no_end(void **state)
{
    static const struct {
        uint8_t byte;
        const char *text;
    } cases[] = {
        { 0x00, "0+4096 BadSequence tcode=0 error=no end\n4096+5904 NotSync\n" },
        { 0xff, "0+4096 Idle n=4096\n4096+4096 Idle n=4096\n8192+1808 Idle n=1808\n" },
    };
    enum { SIZE = 10000 };
    uint8_t *bytes = malloc(SIZE);

    (void)state;
    CHECK(bytes != NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char lines[600];
        struct tw_text text = tw_text_in(lines, sizeof lines);

        memset(bytes, cases[i].byte, SIZE);
        list_pieces(&text, "", bytes, SIZE, SIZE);
        CHECK_TEXT(lines, cases[i].text);
    }
    free(bytes);
}

static uint64_t random_bits(struct check_random *random, unsigned most)
{
    const unsigned width = (unsigned)check_random_below(random, most + 1);

    return width == 0 ? 0 : check_random_next(random) >> (64 - width);
}

static struct tw_ntrace_packet random_packet(struct check_random *random,
                                             const struct tw_ntrace_config *config)
{
    struct tw_ntrace_packet packet;
    const struct tw_ntrace_rule *rule;
    unsigned fields;

    memset(&packet, 0, sizeof packet);
    do {
        packet.tcode = (uint8_t)check_random_below(random, 64);
        rule = &tw_ntrace_rules[packet.tcode];
    } while (!rule->fields);
    packet.base.type = rule->type;
    packet.src = (uint16_t)check_random_below(random, 1u << config->src_bits);
    packet.has = config->src_bits ? TW_NTRACE_HAS_SRC : 0;
    packet.sync = (uint8_t)(check_random_next(random) & rule->sync_mask);
    packet.code = (uint8_t)(check_random_next(random) & rule->code_mask);
    packet.cdf = check_random_next(random) & rule->cdf_mask & 1;
    packet.btype = (uint8_t)(check_random_next(random) & rule->btype_mask);
    fields = tw_ntrace_fields(rule, &packet);
    packet.icnt = random_bits(random, rule->roles[0] == TW_NTRACE_ROLE_ADDRESS ? 31 : 64);
    if (fields > 1 && rule->roles[1] == TW_NTRACE_ROLE_ADDRESS) {
        const unsigned width = config->xlen - 1u;

        packet.address = random_bits(random, width);
        if (check_random_below(random, 2)) /* upper half */
            packet.address = ~packet.address & (UINT64_MAX >> (64 - width));
    } else if (fields > 1 && rule->roles[1] == TW_NTRACE_ROLE_NUMBER) {
        packet.address = random_bits(random, 64);
    }
    if (rule->roles[fields - 1] == TW_NTRACE_ROLE_HIST) {
        packet.hist = 1 | random_bits(random, 32);
        packet.has |= TW_NTRACE_HAS_HIST;
    }
    if (check_random_below(random, 2)) {
        packet.tstamp = random_bits(random, 64);
        packet.has |= TW_NTRACE_HAS_TSTAMP;
    }
    return packet;
}

/* What is written is read again, by either way of reading, alone and among others. */
static void round_trips(void **state)
{
    static const char *const configs[] = {
        "",
        "src_bits=3",
        "src_bits=12,extend_addr_msb=1",
        "extend_addr_msb=1,xlen=32",
        "dialect=sifive,src_bits=1",
    };
    struct check_random random = check_random_start(20260101);
    const size_t count = check_scale(200000);

    (void)state;
    for (size_t i = 0; i < LENGTH(configs); i++) {
        const struct tw_ntrace_config config = read_config(configs[i]);
        struct tw_ntrace_reader *codec = codec_of(configs[i]);

        for (size_t n = 0; n < count; n++) {
            struct tw_ntrace_packet packet = random_packet(&random, &config), got;
            uint8_t bytes[80];
            size_t size = sizeof bytes;

            memset(bytes, 0xff, sizeof bytes);
            CHECK_EQ(tw_ntrace_write(codec, bytes, &size, &packet), TW_OK);
            packet.base.size = (uint32_t)size;
            tw_ntrace_parse(&codec->shape, &got, bytes, size);
            packet.odd = got.odd; /* reserved codes are as good as others here */
            CHECK_BYTES(&got, sizeof got, &packet, sizeof packet);
            if (size <= 16 && tw_ntrace_rules[packet.tcode].roles[0] != TW_NTRACE_ROLE_ADDRESS)
                CHECK_EQ(tw_ntrace_parse_short(&codec->shape, &got, bytes), size);
            CHECK_BYTES(&got, sizeof got, &packet, sizeof packet);
        }
        tw_ntrace_reader_free(codec);
    }
}

/* Random bytes: the two ways agree, and the batch gives what single reads give. */
static void reads_anything_alike(void **state)
{
    struct check_random random = check_random_start(7);
    const size_t count = check_scale(20000);
    struct tw_ntrace_reader *one = codec_of("src_bits=2"), *many = codec_of("src_bits=2");

    (void)state;
    for (size_t n = 0; n < count; n++) {
        enum { SIZE = 200, ROOM = 210 };
        static struct tw_ntrace_packet packets[ROOM];
        uint8_t bytes[SIZE];
        size_t used, at = 0, read;

        check_random_fill(&random, bytes, sizeof bytes);
        for (size_t i = 0; i < SIZE; i++) /* mostly messages: few reserved MSEO, short fields */
            if ((bytes[i] & 3) == 2)
                bytes[i] &= check_random_below(&random, 20) ? 0xfd : 0xff;
        read = tw_ntrace_read_batch(many, packets, ROOM, &used, bytes, SIZE);
        for (size_t i = 0; i < read; i++) {
            struct tw_ntrace_packet packet;

            /* Exactly its bytes: there is nothing behind that the short way could look at. */
            CHECK_EQ(read_tight(one, &packet, bytes + at, packets[i].base.size, true), TW_OK);
            CHECK_BYTES(&packet, sizeof packet, &packets[i], sizeof packet);
            at += packet.base.size;
        }
        CHECK_EQ(at, used);
        tw_ntrace_reader_reset(one);
        tw_ntrace_reader_reset(many);
    }
    tw_ntrace_reader_free(one);
    tw_ntrace_reader_free(many);
}

static void reads_and_prints_a_configuration(void **state)
{
    static const struct {
        const char *text, *fault;
    } bad[] = {
        { "src_bits=13", "line 1: src_bits: \"13\" is no number from 0 to 12" },
        { "xlen=64\ndialect=2", "line 2: dialect: \"2\" is no value it can have" },
        { "colour=red", "line 1: unknown key \"colour\"" },
        { "<a>", "\"<a>\" is no key=value" },
        { "xlen=16", "xlen is 16; it must be 32 or 64" },
        { "src_bits=2,src=4", "src is 4, which src_bits=2 cannot hold" },
        { "ram_limit=0xffc,ram_wp=0x1000", "ram_wp 0x1000 does not lie in 0x0 to 0xffc" },
        { "ram_start=0x100,ram_limit=0xffc,ram_wp=0xfc",
          "ram_wp 0xfc does not lie in 0x100 to 0xffc" },
        { "ram_start=0x1000,ram_limit=0xffc,ram_wp=0x1000",
          "ram_wp 0x1000 does not lie in 0x1000 to 0xffc" },
    };
    static const char all[] = "dialect=sifive,src_bits=2,src=3,extend_addr_msb=1,all_jumps=1,"
                              "xlen=32,zcmp_zcmt=true,jvt=800000c0,time_width=40,mode=htm,"
                              "ram_start=0,ram_limit=0xffc,ram_wp=0xcdc,ram_wrap=1,btype=1,"
                              "sync_style=exact,sync_messages=20,hist_max_bits=8,icnt_max=32,"
                              "program=x,src0_mode=btm,x_own=1";
    const struct tw_ntrace_config config = read_config(all);
    struct tw_ntrace_config again;
    char text[4096], more[4096];

    (void)state;
    CHECK_EQ(config.dialect, TW_NTRACE_SIFIVE);
    CHECK_EQ(config.src_bits, 2);
    CHECK(config.has_src && config.src == 3);
    CHECK_EQ(config.jvt, 0x800000c0);
    CHECK_EQ(config.mode, TW_NTRACE_MODE_HTM);
    CHECK_EQ(config.ram_wp, 0xcdc);
    CHECK_EQ(config.sync_style, TW_NTRACE_SYNC_AT_ONCE);
    CHECK(tw_ntrace_config_text(text, sizeof text, &config) < sizeof text);
    again = read_config(text);
    CHECK(tw_ntrace_config_text(more, sizeof more, &again) < sizeof more);
    CHECK_TEXT(more, text);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct tw_fault fault = { TW_OK, "" };
        enum tw_status status;

        CHECK_CASE(bad[i].text);
        tw_ntrace_config_init(&again);
        status = tw_ntrace_config_read(&again, bad[i].text, &fault);
        if (status == TW_OK)
            status = tw_ntrace_config_check(&again, &fault);
        CHECK_EQ(status, TW_E_CONFIG);
        CHECK_TEXT(fault.text, bad[i].fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_each_message),
        cmocka_unit_test(tells_messages_from_what_lies_between),
        cmocka_unit_test(passes_over_what_has_no_end),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(reads_anything_alike),
        cmocka_unit_test(reads_and_prints_a_configuration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
