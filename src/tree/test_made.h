/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: a decoder of every protocol, driven without a tree over made streams with damage and gaps. */
#ifndef TREE_TEST_MADE_H
#define TREE_TEST_MADE_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "base/state.h"
#include "etrace/packet.h"
#include "path/follow.h"
#include "protocol.h"

enum {
    MADE_REGISTERS = 12,
    MADE_PACKETS = 64,
    MADE_PLACES = 16,
    MADE_SIZE = 4096,
    MADE_SLACK = 64
};

/* What a stream is made of: a configuration, and packets as hexadecimal digits.  The first one
   synchronizes, those up to "|" are frequent.  E-Trace's are written by its encoder: made_etrace. */
struct made_kind {
    const char *name, *protocol, *core;
    /* "NAME=VALUE ...", or the text of E-Trace's or N-Trace's configuration */
    const char *registers;
    const char *packets[MADE_PACKETS];
};

/* clang-format off */
#define MADE_ETMV4_PACKETS                                                                         \
    { "000000000000000000000080 0100 04 82 0008000031 f7", "f7", "f6", "dc", "da", "e0", "d5", "c5",  \
      "9504", "958402", "960a", "90", "91", "92", "9a00060000", "80", "8131", "2d01", "71", "|",     \
      "9b00060000", "9d0006000000000000", "85000800000000000033", "820108000031", "061d 9504",        \
      "065c 9a00080000", "0619 820010000032", "07", "0285 01", "0303 09", "2d02", "2e01", "30", "31",  \
      "32", "35", "37", "3d", "0e05", "0c01 04", "11", "a0 04", "aa 04", "88", "b0", "b420", "0a",     \
      "0b", "0903", "03 81 82 03", "0005", "0003", "0109 0110", "ac05 f7", "aff7",                        \
      "000000000000000000000080 0100 04 82 0008000031 b600140000",                                    \
      "000000000000000000000080 0100 04 9d0008000000000000 f7 8131 f7",                               \
      "000000000000000000000080" }
#define MADE_PTM_PACKETS                                                                           \
    { "000000000080 08 00100000 01 84 86 84 84", "84", "86", "88", "8e", "9e", "fe", "94", "8501",   \
      "2301", "83 05", "87 84 03", "|", "81 82 83 84 0a", "81 82 83 84 48 1c", "83 42 06", "76",      \
      "7204 02", "6e 44332211", "3c 05", "42 8101", "46 8502", "0c", "66", "08 00200000 21",         \
      "08 00300000 41", "000000000080" }
#define MADE_ETMV3_PACKETS                                                                         \
    { "000000000080 08 2100100000 84 88 84 84", "84", "88", "a0", "8c", "82", "8a", "86", "fc", "e0", \
      "8501", "2301", "83 05", "87 84 03", "|", "c4", "81 82 83 84 0a", "81 82 83 84 48 1c",          \
      "8d 80 80 80 48 3c", "2e8080808001 11223344", "0655", "26 04 55", "4a 07", "52", "50", "54 11", \
      "58 22 33", "5c 44", "6a", "62", "6e 44332211", "3c 05", "42 8101", "46 8502", "0c", "66", "76", \
      "7e", "08 41 00200000", "08 61 00300000", "14 33", "24 04", "000000000080" }
#define MADE_ITM_PACKETS                                                                           \
    { "000000000080 0941", "0941", "0a4241", "0b44434241", "0d05", "8e4142", "10", "20", "c08101", "|", \
      "d0 8383 02", "94 8182 83 04", "94 05", "94 818283 64", "b4 81828303", "70", "08", "28",        \
      "88 8101", "04", "0c", "24", "0000", "000000000080" }
#define MADE_NTRACE_PACKETS                                                                        \
    { "24150083", "0c07", "0c0f", "0c17", "0c1f", "0c2f", "0c87", "10110b", "10210f", "10310183",   \
      "70210107", "7081210f", "70c1051f", "70210917", "6c400b", "6c87", "6cc7", "6cc407", "6c480507", \
      "7807", "ff", "0c0d47", "|", "74180185057f", "2c890083", "3008110083", "24050b 03", "84400107", \
      "845013ff", "840003", "08c83b", "0833", "089cfc3f", "2003", "20008f", "e0142b", "3c03", "ffff", \
      "6c48050d", "780b", "78fcff", "6cc9fcff", "10c903", "708d210b", "6c200f", "6c602b", "1c0553",   \
      "88000b", "8c64090f", "5c1107", "0c060c07", "70210103", "0d07", "24", "6c500b", "24150081ffff07" }
#define MADE_ETE "TRCIDR1=0x4100fff0 TRCIDR2=0xd0001088 TRCDEVARCH=0x47735a13 TRCTRACEIDR=0x10 "

static const struct made_kind made_kinds[] = {
    { "ETE in order", "ete", "ARM-AA64", MADE_ETE "TRCIDR0=0x28c1cea1 TRCCONFIGR=0x1001", MADE_ETMV4_PACKETS },
    { "ETE with markers and cycles", "ete", "ARM-AA64", MADE_ETE "TRCIDR0=0x28c1cea1 TRCCONFIGR=0x1811",
      MADE_ETMV4_PACKETS },
    { "ETE with speculation", "ete", "ARM-AA64", MADE_ETE "TRCIDR0=0x08c1cea1 TRCIDR8=8 TRCCONFIGR=0x1001",
      MADE_ETMV4_PACKETS },
    { "ETMv4 in order", "etmv4", "ARM-AA64",
      "TRCIDR0=0x28000ea1 TRCIDR1=0x4100f403 TRCIDR2=0x1088 TRCIDR8=0 TRCCONFIGR=0x1001 TRCTRACEIDR=0x10",
      MADE_ETMV4_PACKETS },
    { "ETMv4 with speculation", "etmv4", "ARM-AA64",
      "TRCIDR0=0x0801cea1 TRCIDR1=0x4100f420 TRCIDR2=0x1088 TRCIDR8=6 TRCCONFIGR=0x7811 TRCTRACEIDR=0x10",
      MADE_ETMV4_PACKETS },
    { "ETMv4 with contexts", "etmv4", "ARM-AA64",
      "TRCIDR0=0x28000ea1 TRCIDR1=0x4100f403 TRCIDR2=0x1088 TRCIDR8=0 TRCCONFIGR=0xc1 TRCTRACEIDR=0x10",
      { "000000000000000000000080 0100 04 82 00080000 f1 07 aa000000 f7", "f7", "f6", "dc", "9504", "90", "81 f1 08 bb000000",
        "82 00080000 b1 cc000000", "81 71 09", "061d 9504", "|", "00", "0303 09", "000000000000000000000080" } },
    { "ETMv4 with conditions", "etmv4", "ARM-V7A",
      "TRCIDR0=0x28000ee7 TRCIDR1=0x4100f403 TRCIDR2=0x4 TRCIDR8=2 TRCCONFIGR=0x1801 TRCTRACEIDR=0x10",
      MADE_ETMV4_PACKETS },
    { "PTM", "ptm", "Cortex-A15", "ETMCR=0 ETMIDR=0x411CF312 ETMCCER=0x00C00000 ETMTRACEIDR=0x10",
      MADE_PTM_PACKETS },
    { "PTM with cycles and a return stack", "ptm", "Cortex-A15",
      "ETMCR=0x70001000 ETMIDR=0x411CF312 ETMCCER=0x34C00000 ETMTRACEIDR=0x10", MADE_PTM_PACKETS },
    { "PTM with a return stack", "ptm", "Cortex-A15", "ETMCR=0x20000000 ETMIDR=0x411CF312 ETMCCER=0x34C00000 ETMTRACEIDR=0x10",
      MADE_PTM_PACKETS },
    { "PTM of A9, with contexts", "ptm", "Cortex-A9", "ETMCR=0x1000C000 ETMIDR=0x411CF301 ETMCCER=0x000008EA ETMTRACEIDR=0x10",
      { "000000000080 08 00100000 01 04030201 84 86 84 84", "84", "86", "88", "8501", "83 05", "6e 44332211", "6e 44332212", "3c 05",
        "|", "81 82 83 84 0a", "76", "42 8101", "08 00200000 21 44332211" } },
    { "ETMv3", "etmv3", "Cortex-A7", "ETMCR=0 ETMIDR=0x410CF250 ETMCCER=0 ETMTRACEIDR=0x10", MADE_ETMV3_PACKETS },
    { "ETMv3 with cycles", "etmv3", "Cortex-A7", "ETMCR=0x50001000 ETMIDR=0x411CF250 ETMCCER=0x24400000 ETMTRACEIDR=0x10",
      MADE_ETMV3_PACKETS },
    { "ETMv3 with contexts", "etmv3", "Cortex-A7", "ETMCR=0x5000C000 ETMIDR=0x411CF250 ETMCCER=0x24400000 ETMTRACEIDR=0x10",
      { "000000000080 08 44332211 21 00100000 84 88", "84", "88", "a0", "8501", "83 05", "6e 44332211", "6e 44332212", "3c 05",
        "|", "81 82 83 84 48 1c", "8d 80 80 80 48 3c", "42 8101", "46 8502", "08 55332211 61 00100000", "76" } },
    { "ETMv3 with data", "etmv3", "Cortex-R5", "ETMCR=0xE ETMIDR=0x410CF250 ETMCCER=0 ETMTRACEIDR=0x10",
      MADE_ETMV3_PACKETS },
    { "ETMv3, a wide instruction is two", "etmv3", "Cortex-R4", "ETMCR=0x1000C ETMIDR=0x4108F250 ETMCCER=0 ETMTRACEIDR=0x10",
      MADE_ETMV3_PACKETS },
    { "ITM that resumes", "itm", NULL, "ITM_TCR=0x10041 ON_ERROR=1", MADE_ITM_PACKETS },
    { "ITM that waits", "itm", NULL, "ITM_TCR=0x10141 ON_ERROR=2", MADE_ITM_PACKETS },
    { "ITM taken as synchronized", "itm", NULL, "ITM_TCR=0x10041 ASSUME_SYNC=1", MADE_ITM_PACKETS },
    { "STM", "stm", NULL, "STMTCSR=0x10003",
      { "ffffffffffffffffffff0f 0f30 1141 0441 0541 0641 00", "1105", "3107", "2141", "4241", "4f41", "5f4142", "6f1234", "7f12345678",
        "00", "|", "0f30", "0f40", "0f5a", "8f1324", "9f12", "f0e1", "f005", "f08a", "1f23", "f00a12", "f612", "f01a1234",
        "ffffffffffffffffffff0f" } },
    { "E-Trace", "etrace", NULL, "", { NULL } },
    { "E-Trace with implicit return", "etrace", NULL,
      "implicit_return=1\nreturn_stack_size_p=3\n", { NULL } },
    { "E-Trace with prediction and a jump target cache", "etrace", NULL,
      "branch_prediction=1\nbpred_size_p=2\njump_target_cache=1\ncache_size_p=2\n", { NULL } },
    { "E-Trace with stamps in blocks", "etrace", NULL, "encapsulation=riscv\ntimestamp_bytes=2\nsrcid_bits=3\nblock_size=64\n",
      { NULL } },
    { "N-Trace", "ntrace", NULL, "dialect=1.0", MADE_NTRACE_PACKETS },
    { "N-Trace or the dialect", "ntrace", NULL, "time_width=8", MADE_NTRACE_PACKETS },
    { "N-Trace with all jumps", "ntrace", NULL, "all_jumps=1,extend_addr_msb=1,xlen=32", MADE_NTRACE_PACKETS },
    { "N-Trace's dialect from the middle", "ntrace", NULL, "dialect=sifive,starts_inside=1", MADE_NTRACE_PACKETS },
};
/* clang-format on */

struct made_packet {
    uint8_t bytes[32];
    size_t size;
};

/* A decoder of one kind with what it needs; the same for all streams of that kind. */
struct made_setup {
    const struct made_kind *kind;
    const struct tw_protocol *protocol;
    void *config;
    struct tw_image *image;
    struct tw_code *code;
    bool check_continuity, splits_sources;
    struct made_packet packets[MADE_PACKETS];
    size_t packet_count, frequent;
};

/* Decisions of the tree's options. */
struct made_options {
    uint32_t range_limit;
    bool checks, splits_sources;
};

struct made_stream_of {
    uint8_t bytes[MADE_SIZE];
    size_t size;
    struct tw_place places[MADE_PLACES];
    size_t place_count;
    bool has_gaps;
};

/* Code of all instruction sets: plain, branching, calling and returning; every fourth page is
   missing. */
static inline size_t made_read(void *context, uint8_t *out, const struct tw_view *view,
                               uint64_t address, size_t size)
{
    static const uint32_t arm64[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xd503201f, 0xd65f03c0, 0xb4000060, 0xd5033fdf };
    static const uint32_t arm32[] = { 0xe320f000, 0xe5921000, 0xeb000006, 0x0afffff9,
                                      0xe89300f0, 0xf57ff04f, 0xfa000005, 0xe12fff1e,
                                      0xbf004770, 0xf804f000, 0xbf08b510, 0xbd103001 };
    static const uint32_t riscv[] = { 0x00000013, 0xfe0008e3, 0x00000013, 0x00008067,
                                      0x00c000ef, 0x00000463, 0x0001a001, 0x00000073 };
    const struct made_setup *setup = context;
    const bool is_64 = setup->kind->core && strcmp(setup->kind->core, "ARM-AA64") == 0;
    const uint32_t *words = is_64 ? arm64 : setup->kind->core ? arm32 : riscv;
    const size_t count = words == arm32 ? LENGTH(arm32) : LENGTH(riscv);
    size_t n = 0;

    (void)view;
    for (; n < size && address + n < 0x10000 && ((address + n) >> 12 & 3) != 3; n++) {
        const uint64_t at = address + n;

        out[n] = (uint8_t)(words[(at >> 2 ^ at >> 7) % count] >> 8 * (at & 3));
    }
    return n;
}

static inline void made_add_hex(struct made_setup *setup, const char *hex)
{
    struct made_packet *packet = &setup->packets[setup->packet_count++];

    packet->size = 0;
    for (; *hex; hex++) {
        char digits[3] = { hex[0], hex[1], 0 };

        if (*hex == ' ')
            continue;
        packet->bytes[packet->size++] = (uint8_t)strtoul(digits, NULL, 16);
        hex += hex[1] != 0 && hex[1] != ' ';
    }
}

static inline void made_add_etrace(struct made_setup *setup, struct tw_etrace_reader *codec,
                                   struct tw_etrace_packet packet)
{
    struct made_packet *to = &setup->packets[setup->packet_count++];

    to->size = sizeof to->bytes;
    CHECK_EQ(tw_etrace_write(codec, to->bytes, &to->size, &packet), TW_OK);
}

/* E-Trace's packets: the encoder's, in the configuration's encapsulation. */
static inline void made_etrace(struct made_setup *setup)
{
    const struct tw_etrace_config *config = setup->config;
    const unsigned options =
        (setup->kind->registers[0] == 'i' ? TW_ETRACE_IMPLICIT_RETURN : 0) |
        (setup->kind->registers[0] == 'b'
             ? TW_ETRACE_BRANCH_PREDICTION | TW_ETRACE_JUMP_TARGET_CACHE
             : 0);
    struct tw_etrace_reader *codec;

    CHECK_EQ(tw_etrace_reader_new(&codec, config, NULL, NULL), TW_OK);
#define MADE_TYPE(name) .base = { .type = TW_ETRACE_##name }
#define MADE_ADD(...)   made_add_etrace(setup, codec, (struct tw_etrace_packet){ __VA_ARGS__ })
    MADE_ADD(MADE_TYPE(F3S0), .branch = 1, .privilege = 3, .field = 0x1000 / 2,
             .has = TW_ETRACE_HAS_ADDRESS);
    for (unsigned i = 0; i < 6; i++)
        MADE_ADD(MADE_TYPE(F1), .branch_map = 0x5a5a5a5au >> i);
    for (unsigned i = 1; i < 6; i++)
        MADE_ADD(MADE_TYPE(F1), .branches = (uint8_t)i, .branch_map = i, .field = 4 * i,
                 .has = TW_ETRACE_HAS_ADDRESS);
    made_add_hex(setup, "000000");
    for (unsigned i = 0; i < 6; i++)
        MADE_ADD(MADE_TYPE(F2), .field = 6 * i, .updiscon = i & 1, .notify = i == 5,
                 .has = TW_ETRACE_HAS_ADDRESS);
    setup->frequent = setup->packet_count;
    MADE_ADD(MADE_TYPE(F3S3), .ienable = 1, .ioptions = options);
    MADE_ADD(MADE_TYPE(F3S3), .ienable = 1, .qual_status = TW_ETRACE_TRACE_LOST,
             .ioptions = options);
    MADE_ADD(MADE_TYPE(F3S3), .ienable = 1, .qual_status = TW_ETRACE_ENDED_REP,
             .ioptions = options);
    MADE_ADD(MADE_TYPE(F3S0), .branch = 0, .privilege = 3, .field = 0x2004 / 2,
             .has = TW_ETRACE_HAS_ADDRESS);
    MADE_ADD(MADE_TYPE(F3S0), .branch = 0, .privilege = 1, .context = 7, .field = 0x3f00 / 2,
             .has = TW_ETRACE_HAS_ADDRESS);
    MADE_ADD(MADE_TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 5, .thaddr = 1,
             .field = 0x2000 / 2, .has = TW_ETRACE_HAS_ADDRESS);
    MADE_ADD(MADE_TYPE(F3S1), .branch = 1, .privilege = 3, .ecause = 8, .field = 0x2100 / 2,
             .has = TW_ETRACE_HAS_ADDRESS);
    MADE_ADD(MADE_TYPE(F3S2), .privilege = 3, .context = 9);
#undef MADE_ADD
#undef MADE_TYPE
    tw_etrace_reader_free(codec);
    made_add_hex(setup, "00");
}

/* What a kind's source is, in the words of a tree. */
struct made_about {
    char names[MADE_REGISTERS][24], text[1000];
    struct tw_register registers[MADE_REGISTERS];
    size_t register_count;
    bool has_text;
};

static inline void made_describe(struct made_about *about, const struct made_kind *kind)
{
    const bool is_etrace = strcmp(kind->protocol, "etrace") == 0;
    const char *at = kind->registers;

    about->register_count = 0;
    about->has_text = is_etrace || strcmp(kind->protocol, "ntrace") == 0;
    (void)snprintf(
        about->text, sizeof about->text, "%s%s",
        is_etrace
            ? "layout=v2\nencapsulation=len5-type2\niaddress_width_p=64\niaddress_lsb_p=1\n"
              "privilege_width_p=2\nnocontext_p=0\ncontext_width_p=8\necause_width_p=5\n"
              "notime_p=1\n"
            : "",
        at);
    while (!about->has_text && *at) {
        struct tw_register *to = &about->registers[about->register_count];
        char *name = about->names[about->register_count++];
        const size_t size = strcspn(at, "=");
        char *end;

        assert_true(about->register_count <= MADE_REGISTERS && size < sizeof about->names[0]);
        (void)snprintf(name, sizeof about->names[0], "%.*s", (int)size, at);
        to->name = name;
        to->value = strtoull(at + size + 1, &end, 0);
        at = end + strspn(end, " ");
    }
}

static inline void made_configure(struct made_setup *setup)
{
    struct made_about about;
    struct tw_source_info info = { .registers = about.registers,
                                   .core_type = setup->kind->core,
                                   .id = 0x10 };
    struct tw_fault fault = { TW_OK, "" };

    made_describe(&about, setup->kind);
    info.register_count = about.register_count;
    info.text = about.has_text ? about.text : NULL;
    setup->config = calloc(1, setup->protocol->config_size);
    assert_non_null(setup->config);
    if (setup->protocol->configure(setup->config, &info, &fault) != TW_OK)
        fail_msg("%s: %s", setup->kind->name, fault.text);
}

static inline struct made_setup made_set_up(const struct made_kind *kind,
                                            const struct made_options *options)
{
    struct made_setup setup = { .kind = kind, .protocol = tw_protocol_by_name(kind->protocol) };

    assert_non_null(setup.protocol);
    made_configure(&setup);
    setup.check_continuity = options->checks;
    setup.splits_sources = options->splits_sources;
    for (size_t i = 0; i < MADE_PACKETS && kind->packets[i]; i++)
        if (kind->packets[i][0] == '|')
            setup.frequent = setup.packet_count;
        else
            made_add_hex(&setup, kind->packets[i]);
    if (setup.packet_count == 0)
        made_etrace(&setup);
    return setup;
}

/* The code that decoders of this setup follow; `setup` stays where it is from now on. */
static inline void made_set_up_code(struct made_setup *setup,
                                    const struct made_options *options)
{
    struct tw_code_config config = { .range_limit = options->range_limit,
                                     .check_opcodes = options->checks,
                                     .check_atoms = options->checks };

    if (!(setup->protocol->flags & TW_PROTOCOL_FOLLOWS))
        return;
    setup->protocol->code_config(&config, setup->config);
    CHECK_EQ(tw_image_new(&setup->image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_set_callback(setup->image, made_read, setup), TW_OK);
    CHECK_EQ(tw_code_new(&setup->code, setup->image, &config), TW_OK);
}

static inline void made_tear_down(struct made_setup *setup)
{
    tw_code_free(setup->code);
    tw_image_free(setup->image);
    free(setup->config);
}

/* A stream of packets with noise, and where it lies in the capture: with gaps, or without. */
static inline void made_stream(struct made_stream_of *stream, const struct made_setup *setup,
                               struct check_random *random, size_t size, bool has_gaps)
{
    uint64_t capture = check_random_below(random, 100);

    *stream = (struct made_stream_of){ .has_gaps = has_gaps };
    assert_true(size + sizeof setup->packets[0].bytes <= MADE_SIZE);
    while (stream->size < size) {
        const uint64_t choice = check_random_below(random, 100);
        const size_t from = choice < 80 ? setup->frequent : setup->packet_count;
        const struct made_packet *packet =
            &setup->packets[choice < 4 ? 0 : check_random_below(random, from)];

        if (choice == 99 && stream->size) {
            stream->bytes[stream->size++] = (uint8_t)check_random_next(random);
            continue;
        }
        memcpy(stream->bytes + stream->size, packet->bytes, packet->size);
        stream->size += packet->size;
    }
    for (uint64_t at = 0; at < stream->size && stream->place_count < MADE_PLACES;) {
        struct tw_place *place = &stream->places[stream->place_count++];
        const uint32_t first = (uint32_t)check_random_below(random, 16);

        *place = (struct tw_place){ .stream = at, .capture = capture, .first = first };
        place->is_discontinuity = has_gaps && at && check_random_below(random, 2);
        at += 20 + check_random_below(random, 400);
        capture += 1000;
    }
}

enum { MADE_PROGRAM = 0x10000 };

/* A kind of source with its program, for a tree. */
struct made_subject {
    struct made_setup setup;
    struct made_about about;
    struct tw_tree_source source;
    struct tw_image *image;
    uint8_t program[MADE_PROGRAM];
};

static inline void made_subject_open(struct made_subject *subject, const struct made_kind *kind,
                                     const struct tw_allocator *allocator)
{
    const struct made_options options = { .range_limit = 0 };

    memset(subject, 0, sizeof *subject);
    subject->setup = made_set_up(kind, &options);
    made_describe(&subject->about, kind);
    CHECK_EQ(tw_image_new(&subject->image, allocator, NULL), TW_OK);
    for (uint64_t at = 0; at < MADE_PROGRAM; at += 0x1000) {
        struct tw_region region = { .size = sizeof region, .address = at, .length = 0x1000 };

        if (made_read(&subject->setup, subject->program + at, NULL, at, 0x1000) == 0x1000)
            CHECK_EQ(tw_image_add(subject->image, &region, subject->program + at), TW_OK);
    }
    subject->source =
        (struct tw_tree_source){ .size = sizeof subject->source,
                                 .protocol = kind->protocol,
                                 .registers = subject->about.registers,
                                 .register_count = subject->about.register_count,
                                 .text = subject->about.has_text ? subject->about.text : NULL,
                                 .core_type = kind->core,
                                 .id = 0x10,
                                 .image = subject->image };
}

static inline void made_subject_close(struct made_subject *subject)
{
    tw_image_free(subject->image);
    made_tear_down(&subject->setup);
}

/* A list of elements. */
struct made_list {
    struct tw_element *elements;
    size_t count, room;
};

static inline void made_keep(struct made_list *list, const struct tw_batch *batch)
{
    if (list->count + batch->count > list->room) {
        list->room = 2 * (list->count + batch->count);
        list->elements = realloc(list->elements, list->room * sizeof *list->elements);
        assert_non_null(list->elements);
    }
    if (batch->count)
        memcpy(list->elements + list->count, batch->elements,
               batch->count * sizeof *batch->elements);
    list->count += batch->count;
}

static inline void made_check_same(const struct made_list *got, const struct made_list *want)
{
    const size_t count = got->count < want->count ? got->count : want->count;
    size_t i = 0;
    char one[600] = "none", other[600] = "none";

    while (i < count &&
           memcmp(&got->elements[i], &want->elements[i], sizeof *got->elements) == 0)
        i++;
    if (i == got->count && i == want->count)
        return;
    if (i < got->count)
        (void)tw_element_json(one, sizeof one, &got->elements[i], 0x10);
    if (i < want->count)
        (void)tw_element_json(other, sizeof other, &want->elements[i], 0x10);
    print_error("element %zu of %zu and %zu\n", i, got->count, want->count);
    CHECK_TEXT(one, other);
    CHECK_BYTES(&got->elements[i], sizeof *got->elements, &want->elements[i],
                sizeof *want->elements);
}

/* A decoder at work on a stream. */
struct made_decoder {
    const struct made_setup *setup;
    void *decoder;
    struct tw_follow follow;
    size_t at; /* bytes done */
    bool is_marked;
};

static inline struct made_decoder made_decoder_new(const struct made_setup *setup)
{
    struct made_decoder made = { .setup = setup,
                                 .decoder = calloc(1, setup->protocol->decoder_size) };

    assert_non_null(made.decoder);
    setup->protocol->decoder_init(made.decoder, setup->config);
    if (setup->code) {
        struct tw_code_config code = { .range_limit = 0 };

        setup->protocol->code_config(&code, setup->config);
        tw_follow_init(&made.follow, setup->code);
        made.follow.has_return_stack = code.links_are_special;
        made.follow.check_continuity = setup->check_continuity;
        made.follow.splits_sources = setup->splits_sources;
    }
    return made;
}

static inline void made_decoder_free(struct made_decoder *made)
{
    if (made->setup->protocol->decoder_free)
        made->setup->protocol->decoder_free(made->decoder);
    free(made->decoder);
}

enum { MADE_ROOM = 256 };

/* Decodes what came up to `until`, in batches of `room`, at most `calls` of them.  True: all of it
   was decoded. */
static inline bool made_decode_some(struct made_decoder *made, struct made_list *out,
                                    const struct made_stream_of *stream, size_t until,
                                    size_t room, unsigned calls)
{
    struct tw_element elements[MADE_ROOM];
    struct tw_mark marks[MADE_ROOM];
    struct tw_batch batch = { .elements = elements, .room = room, .id = 0x10 };
    struct tw_output output = { .batch = &batch,
                                .marks = { made->is_marked ? marks : NULL, room, 0 } };
    uint8_t *bytes = malloc(until - made->at + MADE_SLACK);
    struct tw_input in = { .data = bytes,
                           .size = until - made->at,
                           .offset = made->at,
                           .places = stream->places,
                           .has_gaps = stream->has_gaps,
                           .is_last = until == stream->size };
    enum tw_status status = TW_OK;

    assert_non_null(bytes);
    memcpy(bytes, stream->bytes + made->at, until - made->at);
    memset(bytes + in.size, 0xa5, MADE_SLACK);
    while (in.place_count < stream->place_count &&
           stream->places[in.place_count].stream < until)
        in.place_count++;
    for (; status == TW_OK && calls; calls--) {
        batch.count = output.marks.count = 0;
        memset(elements, 0xee, sizeof elements);
        status = made->setup->protocol->decode(made->decoder, &made->follow, &output, &in);
        CHECK(status >= 0);
        made_keep(out, &batch);
    }
    made->at += in.used;
    free(bytes);
    return status == TW_MORE;
}

static inline void made_decode(struct made_decoder *made, struct made_list *out,
                               const struct made_stream_of *stream, size_t until, size_t room)
{
    CHECK(made_decode_some(made, out, stream, until, room, UINT32_MAX));
}

static inline void made_end(struct made_decoder *made, struct made_list *out)
{
    struct tw_element elements[MADE_ROOM];
    struct tw_batch batch = { .elements = elements, .room = MADE_ROOM, .id = 0x10 };
    struct tw_output output = { .batch = &batch };
    enum tw_status status;

    do {
        batch.count = 0;
        status = made->setup->protocol->end(made->decoder, &made->follow, &output);
        made_keep(out, &batch);
    } while (status == TW_OK);
    CHECK_EQ(status, TW_END);
}

#endif
