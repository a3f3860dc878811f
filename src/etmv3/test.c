/* SPDX-License-Identifier: BSD-2-Clause */
/* ETMv3: packets both ways, every header and every cut, random packets; and what the unit's model
   makes of real programs comes back as the same path.  Data trace is in test_data.c. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/etmv3_unit.h>

#include "etmv3/packet.h"
#include "exec_log.h"

enum { CA = 1, CONTEXT = 2, WIDE_TIME = 4, GRAY = 8, ALT = 16, M = 32, DATA = 64, ONLY = 128 };

/* clang-format off */
static const struct {
    const char *name;
    unsigned mode;
    uint8_t size, bytes[20];
    const char *want;
    bool is_canonical; /* the encoder gives the same bytes */
} cases[] = {
    { "A-sync",                    0,  6,  { 0, 0, 0, 0, 0, 0x80 }, "A_SYNC", true },
    { "A-sync, longer",            0,  7,  { 0, 0, 0, 0, 0, 0, 0x80 }, "A_SYNC", true },
    { "broken A-sync",             0,  3,  { 0, 0, 7 }, "BAD_SEQUENCE header 0x00", false },
    { "cycle count",              CA,  3,  { 0x04, 0x85, 0x01 }, "CYCLE_COUNT 133", true },
    { "cycle count, most",        CA,  6,  { 0x04, 0xff, 0xff, 0xff, 0xff, 0x0f }, "CYCLE_COUNT 4294967295", true },
    { "cycle count, not accurate", 0,  1,  { 0x04 }, "BAD_TRACEMODE header 0x04", false },
    { "I-sync",                    0,  6,  { 0x08, 0x21, 0x00, 0x80, 0, 0 }, "I_SYNC trace_enable 0x8000 A32 S", true },
    { "I-sync, T32 NS Hyp",        0,  6,  { 0x08, 0x0b, 0x01, 0x80, 0, 0 }, "I_SYNC periodic 0x8000 T32 NS Hyp", true },
    { "I-sync, ThumbEE",           0,  6,  { 0x08, 0x65, 0x01, 0x80, 0, 0 }, "I_SYNC debug_exit 0x8000 TEE S", true },
    { "I-sync, Jazelle",           0,  6,  { 0x08, 0x51, 0x05, 0x80, 0, 0 }, "I_SYNC restart_overflow 0x8005 Jaz S", true },
    { "I-sync, context",     CONTEXT, 10,  { 0x08, 0x78, 0x56, 0x34, 0x12, 0x21, 0x00, 0x80, 0, 0 }, "I_SYNC trace_enable 0x8000 A32 S cid=0x12345678", true },
    { "I-sync, in progress",       0,  7,  { 0x08, 0xa1, 0x08, 0x80, 0, 0, 0x07 }, "I_SYNC trace_enable 0x8008 A32 S in progress, next 0x800c", true },
    { "I-sync, data only",      ONLY,  2,  { 0x08, 0x21 }, "I_SYNC trace_enable S", true },
    { "I-sync with cycles",       CA,  8,  { 0x70, 0x85, 0x01, 0x21, 0x00, 0x80, 0, 0 }, "I_SYNC_CYCLE trace_enable 0x8000 A32 S cc=133", true },
    { "I-sync with all", CA | CONTEXT, 19, { 0x70, 0xff, 0xff, 0xff, 0xff, 0x0f, 4, 3, 2, 1, 0xa1, 0x08, 0x80, 0, 0, 0x87, 0x80, 0x82, 0x03 }, "I_SYNC_CYCLE trace_enable 0x8008 A32 S in progress, next 0xc1000c cid=0x1020304 cc=4294967295", true },
    { "trigger",                   0,  1,  { 0x0c }, "TRIGGER", true },
    { "late value",             DATA,  5,  { 0x2c, 0x11, 0x22, 0x33, 0x44 }, "OOO_DATA tag 1 value 0x44332211", true },
    { "late value of zero",     DATA,  1,  { 0x60 }, "OOO_DATA tag 3 value 0x0", true },
    { "store failed",           DATA,  1,  { 0x50 }, "STORE_FAIL", true },
    { "placeholder",            DATA,  1,  { 0x58 }, "OOO_ADDR_PLC tag 2", true },
    { "placeholder, address",   DATA,  6,  { 0x7c, 0x80, 0x81, 0x82, 0x83, 0x11 }, "OOO_ADDR_PLC tag 3 address 0x10608080 BE", true },
    { "VMID",                      0,  2,  { 0x3c, 0x41 }, "VMID 0x41", true },
    { "data, zero",             DATA,  1,  { 0x02 }, "NORM_DATA value 0x0", true },
    { "data, byte",             DATA,  2,  { 0x06, 0xaa }, "NORM_DATA value 0xaa", true },
    { "data, halfword",         DATA,  3,  { 0x0a, 0xbb, 0xaa }, "NORM_DATA value 0xaabb", true },
    { "data, word",             DATA,  5,  { 0x0e, 0xdd, 0xcc, 0xbb, 0xaa }, "NORM_DATA value 0xaabbccdd", true },
    { "data, address",          DATA,  5,  { 0x2a, 0x85, 0x01, 0xbb, 0xaa }, "NORM_DATA address 0x85 (bits 13:0) value 0xaabb", true },
    { "data, D-sync",           DATA, 10,  { 0x2e, 0x80, 0x81, 0x82, 0x83, 0x01, 0x11, 0x22, 0x33, 0x44 }, "NORM_DATA address 0x10608080 value 0x44332211", true },
    { "data where none is traced", 0,  1,  { 0x02 }, "BAD_TRACEMODE header 0x02", false },
    { "timestamp",                 0,  3,  { 0x42, 0x85, 0x01 }, "TIMESTAMP 0x85", true },
    { "timestamp, clock changed",  0,  2,  { 0x46, 0x05 }, "TIMESTAMP 0x5 clock changed", true },
    { "timestamp of 64 bits", WIDE_TIME, 10, { 0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, "TIMESTAMP 0xffffffffffffffff", true },
    { "timestamp, Gray",        GRAY,  2,  { 0x42, 0x03 }, "TIMESTAMP 0x2", true },
    { "data suppressed",        DATA,  1,  { 0x62 }, "DATA_SUPPRESSED", true },
    { "ignore",                    0,  1,  { 0x66 }, "IGNORE", true },
    { "value not traced",       DATA,  1,  { 0x6a }, "VAL_NOT_TRACED", true },
    { "value not traced, address", DATA, 2, { 0x7a, 0x05 }, "VAL_NOT_TRACED address 0x5 (bits 6:0)", true },
    { "context ID",          CONTEXT,  5,  { 0x6e, 4, 3, 2, 1 }, "CONTEXT_ID 0x1020304", true },
    { "exception exit",            0,  1,  { 0x76 }, "EXCEPTION_EXIT", true },
    { "exception entry",    M | DATA,  1,  { 0x7e }, "EXCEPTION_ENTRY", true },
    { "P-header, E and N",         0,  1,  { 0xc8 }, "P_HDR EEN", true },
    { "P-header, fifteen E",       0,  1,  { 0xbc }, "P_HDR EEEEEEEEEEEEEEE", true },
    { "P-header, format 2",        0,  1,  { 0x8a }, "P_HDR NE", true },
    { "P-header, reserved",        0,  1,  { 0x92 }, "I_RESERVED header 0x92", false },
    { "P-header, W E",            CA,  1,  { 0x84 }, "P_HDR WE", true },
    { "P-header, W E W E W N",    CA,  1,  { 0xc8 }, "P_HDR WEWEWN", true },
    { "P-header, W E N",          CA,  1,  { 0x86 }, "P_HDR WEN", true },
    { "P-header, W W W",          CA,  1,  { 0xa8 }, "P_HDR WWW", true },
    { "P-header, W W W W E",      CA,  1,  { 0xec }, "P_HDR WWWWE", true },
    { "P-header, N",              CA,  1,  { 0x96 }, "P_HDR N", true },
    { "P-header, W alone",        CA,  1,  { 0x80 }, "P_HDR W", true },
    { "branch, 1 byte",            0,  1,  { 0x0b }, "BRANCH_ADDRESS 0x8014 A32", true },
    { "branch, 2 bytes",           0,  2,  { 0x8b, 0x01 }, "BRANCH_ADDRESS 0x8114 A32", true },
    { "branch, 5 bytes",           0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x09 }, "BRANCH_ADDRESS 0x20c10114 A32", true },
    { "branch to T32",             0,  5,  { 0xc1, 0x80, 0x82, 0x80, 0x10 }, "BRANCH_ADDRESS 0x8040 T32", true },
    { "branch, no meaning",        0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x01 }, "BAD_SEQUENCE header 0x8b", false },
    { "branch with IRQ",           0,  6,  { 0x8d, 0x80, 0x80, 0x80, 0x48, 0x1c }, "BRANCH_ADDRESS 0x18 A32 S exception 14 irq", true },
    { "branch with cancel, Hyp",   0,  7,  { 0x8d, 0x80, 0x80, 0x80, 0x48, 0xbd, 0x20 }, "BRANCH_ADDRESS 0x18 A32 NS Hyp exception 14 irq cancel", true },
    { "branch, deprecated IRQ",    0,  5,  { 0x8d, 0x80, 0x80, 0x80, 0x88 }, "BRANCH_ADDRESS 0x18 A32 S exception 14 irq", true },
    { "alternative, 2 bytes",    ALT,  2,  { 0x8b, 0x01 }, "BRANCH_ADDRESS 0x8114 A32", true },
    { "alternative, exception",  ALT,  3,  { 0x8b, 0x41, 0x1c }, "BRANCH_ADDRESS 0x8114 A32 S exception 14 irq", true },
    { "M profile, IRQ 8",    ALT | M,  4,  { 0xa1, 0x42, 0x90, 0x01 }, "BRANCH_ADDRESS 0x8240 A32 S exception 24 cm_irqn 8", true },
    { "M profile, resume",   ALT | M,  5,  { 0xa1, 0x42, 0x90, 0x81, 0x45 }, "BRANCH_ADDRESS 0x8240 A32 S exception 24 cm_irqn 8 resume=5", true },
    { "M profile, IRQ 0",    ALT | M,  4,  { 0xa1, 0x42, 0x91, 0x40 }, "BRANCH_ADDRESS 0x8240 A32 NS exception 8 cm_irqn 0 resume=0", true },
    { "branch, data only",      ONLY,  1,  { 0x0b }, "BAD_TRACEMODE header 0x0b", false },
    { "reserved header",           0,  1,  { 0x10 }, "I_RESERVED header 0x10", false },
};
/* clang-format on */

static struct tw_etmv3_config config_of(unsigned mode)
{
    return (struct tw_etmv3_config){
        .size = sizeof(struct tw_etmv3_config),
        .etmcr = (mode & CA ? 0x1000u : 0) | (mode & CONTEXT ? 0xc000u : 0) |
                 (mode & (DATA | ONLY) ? 0xcu : 0) | (mode & ONLY ? 0x100000u : 0),
        .etmidr = mode & ALT ? 0x411cf250 : 0x410cf250,
        .etmccer =
            (mode & GRAY ? 0 : 0x10000000u) | (mode & WIDE_TIME ? 0x20000000u : 0) | 0x04000000,
        .etmtraceidr = 0x10,
        .profile = mode & M ? TW_PROFILE_M : TW_PROFILE_A,
    };
}

/* In A32 at 0x8000. */
static struct tw_etmv3_reader reader_of(unsigned mode)
{
    const struct tw_etmv3_config config = config_of(mode);
    struct tw_etmv3_reader reader;

    tw_etmv3_reader_init(&reader, &config);
    reader.is_synced = true;
    reader.address = 0x8000;
    reader.address_valid = 32;
    reader.isa = TW_ISA_A32;
    return reader;
}

static void reads_each_packet_and_asks_for_more_at_each_cut(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_etmv3_packet packet;
        char line[200];
        struct tw_text text = tw_text_in(line, sizeof line);
        struct tw_etmv3_reader reader = reader_of(cases[i].mode);

        CHECK_CASE(cases[i].name);
        for (size_t cut = 0; cut <= cases[i].size; cut++) {
            uint8_t *copy = check_copy(cases[i].bytes, cut);

            reader = reader_of(cases[i].mode);
            CHECK_EQ(tw_etmv3_read(&reader, &packet, copy, cut, false),
                     cut < cases[i].size ? TW_MORE : TW_OK);
            if (cut && cut < cases[i].size) {
                CHECK_EQ(reader.address, 0x8000);
                CHECK_EQ(tw_etmv3_read(&reader, &packet, copy, cut, true), TW_OK);
                CHECK_EQ(packet.base.type, TW_ETMV3_INCOMPLETE_EOT);
                CHECK_EQ(packet.base.size, cut);
            }
            free(copy);
        }
        CHECK_EQ(packet.base.size, cases[i].size);
        tw_protocol_print(&text, &tw_etmv3, &packet);
        CHECK_TEXT(line, cases[i].want);
    }
}

static void writes_what_it_reads(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_etmv3_reader reader = reader_of(cases[i].mode);
        struct tw_etmv3_reader writer = reader_of(cases[i].mode);
        struct tw_etmv3_packet packet;
        uint8_t bytes[64];
        size_t size = sizeof bytes;

        CHECK_CASE(cases[i].name);
        CHECK_EQ(tw_etmv3_read(&reader, &packet, cases[i].bytes, cases[i].size, true), TW_OK);
        if (!cases[i].is_canonical) {
            CHECK_EQ(tw_etmv3_write(&writer, bytes, &size, &packet), TW_E_ARGUMENT);
            continue;
        }
        CHECK_EQ(tw_etmv3_write(&writer, bytes, &size, &packet), TW_OK);
        CHECK_BYTES(bytes, size, cases[i].bytes, cases[i].size);
        CHECK_EQ(writer.address, reader.address);
        CHECK_EQ(writer.data_address, reader.data_address);
        CHECK_EQ(writer.isa, reader.isa);
        size = cases[i].size - 1u;
        writer = reader_of(cases[i].mode);
        CHECK_EQ(tw_etmv3_write(&writer, bytes, &size, &packet), TW_E_ROOM);
    }
}

static void no_header_is_claimed_twice(void **unused)
{
    (void)unused;
    for (unsigned mode = 0; mode < 256; mode++) {
        const struct tw_etmv3_config config = config_of(mode);
        struct tw_etmv3_setup setup;
        uint8_t claims[256];

        tw_etmv3_setup_from_config(&setup, &config);
        tw_etmv3_claims(claims, &setup);
        for (unsigned head = 0; head < 256; head++)
            CHECK(claims[head] <= 1);
    }
}

/* Bytes as they may come: many of them packets, some damaged. */
static void fill(struct check_random *random, uint8_t *bytes, size_t size)
{
    static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0x00, 0x80, 0x00, 0x00 };

    check_random_fill(random, bytes, size);
    for (size_t at = 0; at + sizeof sync < size; at += 40 + check_random_below(random, 60))
        memcpy(bytes + at, sync, sizeof sync);
}

static void random_packets_are_written_as_they_were_read(void **unused)
{
    struct check_random random = check_random_start(0x65746d);
    uint8_t bytes[600], again[64];
    size_t good = 0;

    (void)unused;
    for (size_t run = 0; run < check_scale(3000); run++) {
        const struct tw_etmv3_config config =
            config_of((unsigned)check_random_below(&random, 256));
        struct tw_etmv3_reader reader, before;
        struct tw_etmv3_packet packet;

        fill(&random, bytes, sizeof bytes);
        tw_etmv3_reader_init(&reader, &config);
        for (size_t at = 0; at < sizeof bytes; at += packet.base.size) {
            size_t size = sizeof again;

            before = reader;
            CHECK_EQ(tw_etmv3_read(&reader, &packet, bytes + at, sizeof bytes - at, true),
                     TW_OK);
            CHECK(packet.base.size > 0);
            if (tw_etmv3_type_is_bad(packet.base.type) ||
                packet.base.type == TW_ETMV3_NOT_SYNC || packet.has_reserved)
                continue;
            if (tw_etmv3_write(&before, again, &size, &packet) != TW_OK)
                fail_msg("packet type %s at %zu is not written",
                         tw_etmv3_type_name(packet.base.type), at);
            CHECK_EQ(size, packet.base.size);
            CHECK_BYTES(again, size, bytes + at, packet.base.size);
            good++;
        }
    }
    CHECK(good > 1000);
}

/* The fifth byte of a data address: four bits, the byte order, three that are reserved. */
static void reserved_bits_of_data_addresses(void **unused)
{
    (void)unused;
    for (unsigned last = 0; last < 0x80; last++) {
        /* A-sync, a data packet with address and no value, five bytes. */
        const uint8_t bytes[] = { 0,    0,    0,    0,    0,    0x80,
                                  0x22, 0x81, 0x82, 0x83, 0x84, (uint8_t)last };
        const struct tw_etmv3_config config = { .size = sizeof config,
                                                .etmcr = 1 << 3,
                                                .etmidr = 0x4104f251 };
        struct tw_etmv3_reader reader;
        struct tw_etmv3_packet packet;

        check_case("last byte 0x%x", last);
        tw_etmv3_reader_init(&reader, &config);
        CHECK_EQ(tw_etmv3_read(&reader, &packet, bytes, sizeof bytes, true), TW_OK);
        CHECK_EQ(packet.base.type, TW_ETMV3_A_SYNC);
        CHECK_EQ(tw_etmv3_read(&reader, &packet, bytes + 6, sizeof bytes - 6, true), TW_OK);
        CHECK_EQ(packet.base.type, TW_ETMV3_NORM_DATA);
        CHECK_EQ(packet.base.size, 6);
        CHECK_EQ(packet.has_reserved, last >> 5 != 0);
        CHECK_EQ(packet.is_big_endian, last >> 4 & 1);
        CHECK_EQ(packet.data_address, (last & 0xfu) << 28 | 0x80c101u);
    }
}

/* What a stream gives, as text. */
static char *decode_text(const uint8_t *bytes, size_t size, size_t piece,
                         const struct tw_register *registers, size_t count)
{
    struct exec_memory *memory = exec_memory_new();
    struct exec_tree tree;
    struct tw_batch batch = { .size = sizeof batch };
    char *out = calloc(1, 1 << 21);
    size_t at = 0, length = 0;

    assert_non_null(out);
    for (uint32_t i = 0; i < 2048; i++) /* loads, and a branch now and then */
        exec_memory_set(memory, 0x8000 + i,
                        (uint8_t)(i % 28 == 27 ? 0xea
                                  : i % 4 == 3 ? 0xe5
                                               : 0));
    exec_tree_open(&tree, memory, "etmv3", registers, count, "Cortex-R5");
    while (at <= size) {
        const size_t some = size - at < piece ? size - at : piece;

        if (at == size)
            CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
        else
            CHECK_EQ(tw_tree_feed(tree.tree, bytes + at, some), TW_OK);
        while (tw_tree_next(tree.tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count && length < (1 << 21) - 600; i++) {
                length += tw_element_json(out + length, 600, &batch.elements[i], batch.id);
                out[length++] = '\n';
            }
        if (at == size)
            break;
        at += some;
    }
    exec_tree_close(&tree);
    exec_memory_free(memory);
    return out;
}

static void damaged_streams_decode_the_same_in_any_pieces(void **unused)
{
    struct check_random random = check_random_start(0x6461);
    uint8_t bytes[800];

    (void)unused;
    for (size_t run = 0; run < check_scale(300); run++) {
        const uint64_t control = check_random_next(&random) & 0x5010d10c;
        const uint64_t identity = 0x4108f250 | (check_random_next(&random) & 0x00140000);
        const struct tw_register registers[] = { { "ETMCR", control },
                                                 { "ETMIDR", identity },
                                                 { "ETMCCER", 0x34000000 } };
        char *whole, *pieces;

        fill(&random, bytes, sizeof bytes);
        whole = decode_text(bytes, sizeof bytes, sizeof bytes, registers, LENGTH(registers));
        pieces = decode_text(bytes, sizeof bytes, 1 + check_random_below(&random, 9), registers,
                             LENGTH(registers));
        exec_check_lines(pieces, whole);
        free(whole);
        free(pieces);
    }
}

/* ---- the unit's model on real programs ---- */

static const struct {
    const char *name;
    uint32_t etmcr, etmidr, etmccer;
    uint32_t sync_bytes;
} units[] = {
    { "plain", 0, 0x410cf250, 0x10000000, 0 },
    { "synchronized often", 0, 0x410cf250, 0x10000000, 300 },
    { "alternative encoding", 0, 0x411cf250, 0x10000000, 1000 },
    { "branch broadcast", 0x100, 0x410cf250, 0x10000000, 1000 },
    { "cycles, time", 0x10001000, 0x410cf250, 0x34000000, 700 },
    { "cycles, context ID, Gray time", 0x5000d000, 0x410cf250, 0x24000000, 700 },
    { "two atoms for 32-bit Thumb", 0, 0x4108f250, 0x10000000, 500 },
    { "two atoms, cycles", 0x1000, 0x4108f250, 0x10000000, 500 },
};

/* The log's steps through the unit; a time, a context and a wait now and then.  *cycles: all that
   passed. */
static struct tw_etmv3_unit *trace_log(struct exec_memory *memory, const char *path,
                                       size_t unit_at, size_t limit, size_t *exceptions)
{
    const struct tw_etmv3_unit_config config = {
        .size = sizeof config,
        .registers = { .size = sizeof config.registers,
                       .etmcr = units[unit_at].etmcr,
                       .etmidr = units[unit_at].etmidr,
                       .etmccer = units[unit_at].etmccer },
        .sync_bytes = units[unit_at].sync_bytes,
        .vectors = 0xffff0000,
    };
    struct tw_etmv3_unit *unit;
    struct exec_walk walk;
    size_t done = 0, steps = 0;

    CHECK_EQ(tw_etmv3_unit_new(&unit, &config, NULL), TW_OK);
    exec_walk_open(&walk, path, SIZE_MAX);
    while (done < limit && tw_log_next(walk.log, &walk.step) == TW_OK) {
        if (walk.step.kind == TW_STEP_INSTRUCTIONS) {
            if (walk.step.count > limit - done)
                walk.step.count = limit - done;
            for (size_t i = 0; i < walk.step.count; i++)
                exec_memory_add(memory, &walk.step.instructions[i]);
            done += walk.step.count;
        }
        *exceptions += walk.step.kind == TW_STEP_EXCEPTION;
        CHECK_EQ(tw_etmv3_unit_step(unit, &walk.step), TW_OK);
        if (++steps % 50 == 0)
            CHECK_EQ(tw_etmv3_unit_cycles(unit, (uint32_t)(steps / 50 % 40)), TW_OK);
        if (steps % 1000 == 0) {
            const struct tw_step_context context = { .context_id = (uint32_t)steps,
                                                     .vmid = (uint32_t)steps / 1000 };

            CHECK_EQ(tw_etmv3_unit_time(unit, steps * 77), TW_OK);
            CHECK_EQ(tw_etmv3_unit_context(unit, &context), TW_OK);
        }
    }
    CHECK_EQ(tw_etmv3_unit_flush(unit), TW_OK);
    tw_log_free(walk.log);
    return unit;
}

static void round_trip(const char *path, size_t unit_at, size_t limit)
{
    const struct tw_register registers[] = { { "ETMCR", units[unit_at].etmcr },
                                             { "ETMIDR", units[unit_at].etmidr },
                                             { "ETMCCER", units[unit_at].etmccer },
                                             { "ETMTRACEIDR", 0x21 } };
    struct exec_memory *memory = exec_memory_new();
    struct exec_result result = { 0 };
    struct exec_tree tree;
    struct exec_walk walk;
    size_t size, exceptions = 0;
    struct tw_etmv3_unit *unit = trace_log(memory, path, unit_at, limit, &exceptions);
    const uint8_t *bytes = tw_etmv3_unit_output(unit, &size);

    exec_walk_open(&walk, path, SIZE_MAX);
    exec_tree_open(&tree, memory, "etmv3", registers, LENGTH(registers), "Cortex-A7");
    for (size_t at = 0; at < size; at += 5000) {
        CHECK_EQ(tw_tree_feed(tree.tree, bytes + at, size - at < 5000 ? size - at : 5000),
                 TW_OK);
        exec_take(&tree, &walk, &result);
    }
    CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
    exec_take(&tree, &walk, &result);
    CHECK_EQ(result.errors, 0);
    CHECK_EQ(result.missing, 0);
    CHECK_EQ(result.exceptions, exceptions);
    CHECK_EQ(result.ranges, result.instructions);
    CHECK_EQ(result.instructions, walk.done);
    CHECK(result.instructions == limit || !exec_walk_next(&walk));
    if (units[unit_at].etmcr & 0x1000)
        CHECK(result.cycles > result.instructions);
    exec_tree_close(&tree);
    tw_log_free(walk.log);
    tw_etmv3_unit_free(unit);
    exec_memory_free(memory);
}

static void programs_come_back_from_their_trace(void **unused)
{
    static const char *const logs[] = { "a32-recur", "t32-sorts", "t32-interp", "mix-indirect",
                                        "t32-clib" };

    (void)unused;
    for (size_t i = 0; i < LENGTH(logs); i++)
        for (size_t unit = 0; unit < LENGTH(units); unit++) {
            char path[600], relative[100];

            (void)snprintf(relative, sizeof relative, "exec/logs/%s.exlog.gz", logs[i]);
            check_corpus(path, sizeof path, relative);
            check_case("%s, %s", logs[i], units[unit].name);
            round_trip(path, unit, check_scale(400000));
        }
}

static void the_unit_tells_exceptions_and_states(void **unused)
{
    static const struct tw_retired code[] = {
        { .address = 0x8000, .opcode = 0xe320f000, .isa = TW_ISA_A32, .size = 4 },
        { .address = 0x8004, .opcode = 0xe1a0f00e, .isa = TW_ISA_A32, .size = 4, .flags = 1 },
        { .address = 0x10000, .opcode = 0xe320f000, .isa = TW_ISA_A32, .size = 4 },
        { .address = 0x18, .opcode = 0xe320f000, .isa = TW_ISA_A32, .size = 4 },
        { .address = 0x1c, .opcode = 0xe25ef004, .isa = TW_ISA_A32, .size = 4, .flags = 1 },
        { .address = 0x9000, .opcode = 0xbf00, .isa = TW_ISA_T32, .size = 2 },
    };
    static const uint8_t want[] = {
        0x00, 0x00, 0x00, 0x00, 0x00, 0x80,             /* A-sync */
        0x08, 0x21, 0x00, 0x80, 0x00, 0x00,             /* 8000, secure */
        0x88, 0x81, 0x80, 0x02,                         /* nop, mov pc, lr to 10000 */
        0x84, 0x0c,                                     /* nop, trigger */
        0x8d, 0x80, 0x80, 0x80, 0x48, 0xbd, 0x20,       /* IRQ to 18 in Hyp mode, cancels */
        0x88, 0x76,                                     /* nop, subs pc, lr: exit */
        0x81, 0xa0, 0x82, 0x80, 0x50, 0x81, 0x00, 0x84, /* to 9000, T32, no Hyp; nop */
        0x08, 0x49, 0x01, 0x90, 0x00, 0x00, 0x84,       /* 9000, after overflow; nop */
    };
    const struct tw_etmv3_unit_config config = { .size = sizeof config,
                                                 .registers = { .size = sizeof config.registers,
                                                                .etmidr = 0x410cf250,
                                                                .etmccer = 0x04000000 } };
    const struct tw_step_context hyp = { .el = 2, .security = TW_NONSECURE };
    const struct tw_step_context guest = { .el = 1, .security = TW_NONSECURE };
    struct tw_etmv3_unit *unit;
    const uint8_t *bytes;
    size_t size;

    (void)unused;
    CHECK_EQ(tw_etmv3_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_etmv3_unit_retire(unit, code, 3), TW_OK);
    CHECK_EQ(tw_etmv3_unit_trigger(unit), TW_OK);
    CHECK_EQ(tw_etmv3_unit_context(unit, &hyp), TW_OK);
    CHECK_EQ(tw_etmv3_unit_exception(unit, 14, 0x18, TW_ISA_A32, true), TW_OK);
    CHECK_EQ(tw_etmv3_unit_retire(unit, code + 3, 2), TW_OK);
    CHECK_EQ(tw_etmv3_unit_context(unit, &guest), TW_OK);
    CHECK_EQ(tw_etmv3_unit_retire(unit, code + 5, 1), TW_OK);
    CHECK_EQ(tw_etmv3_unit_gap(unit, TW_ETMV3_AFTER_OVERFLOW), TW_OK);
    CHECK_EQ(tw_etmv3_unit_retire(unit, code + 5, 1), TW_OK);
    CHECK_EQ(tw_etmv3_unit_flush(unit), TW_OK);
    bytes = tw_etmv3_unit_output(unit, &size);
    CHECK_BYTES(bytes, size, want, sizeof want);

    CHECK_EQ(tw_etmv3_unit_gap(unit, TW_ETMV3_PERIODIC), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv3_unit_exception(unit, 16, 0x18, TW_ISA_A32, false), TW_E_ARGUMENT);
    CHECK_EQ(tw_etmv3_unit_exception(unit, 14, 0x1a, TW_ISA_A32, false), TW_E_ARGUMENT);
    tw_etmv3_unit_free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_each_packet_and_asks_for_more_at_each_cut),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(no_header_is_claimed_twice),
        cmocka_unit_test(random_packets_are_written_as_they_were_read),
        cmocka_unit_test(damaged_streams_decode_the_same_in_any_pieces),
        cmocka_unit_test(programs_come_back_from_their_trace),
        cmocka_unit_test(reserved_bits_of_data_addresses),
        cmocka_unit_test(the_unit_tells_exceptions_and_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
