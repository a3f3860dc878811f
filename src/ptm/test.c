/* SPDX-License-Identifier: BSD-2-Clause */
/* PTM: packets both ways, every header and every cut, random packets; and what the unit's model
   makes of real programs comes back as the same path. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/ptm_unit.h>

#include "exec_log.h"
#include "ptm/packet.h"

enum { CA = 1, CONTEXT = 2, WIDE_TIME = 4, GRAY = 8 };

/* clang-format off */
static const struct {
    const char *name;
    unsigned mode;
    uint8_t size, bytes[16];
    const char *want;
    bool is_canonical; /* the encoder gives the same bytes */
} cases[] = {
    { "ASYNC",                    0,  6,  { 0, 0, 0, 0, 0, 0x80 }, "ASYNC", true },
    { "ASYNC, longer",            0,  8,  { 0, 0, 0, 0, 0, 0, 0, 0x80 }, "ASYNC", true },
    { "broken ASYNC",             0,  3,  { 0, 0, 7 }, "BAD_SEQUENCE header 0x00", false },
    { "ISYNC",                    0,  6,  { 0x08, 0x00, 0x80, 0, 0, 0x21 }, "ISYNC trace_enable 0x8000 A32 S", true },
    { "ISYNC, T32 NS Hyp",        0,  6,  { 0x08, 0x01, 0x80, 0, 0, 0x0b }, "ISYNC periodic 0x8000 T32 NS Hyp", true },
    { "ISYNC, ThumbEE",           0,  6,  { 0x08, 0x01, 0x80, 0, 0, 0x65 }, "ISYNC debug_exit 0x8000 TEE S", true },
    { "ISYNC, context",     CONTEXT, 10,  { 0x08, 0x00, 0x80, 0, 0, 0x41, 0x78, 0x56, 0x34, 0x12 }, "ISYNC restart_overflow 0x8000 A32 S cid=0x12345678", true },
    { "ISYNC, cycles and context", CA | CONTEXT, 15, { 0x08, 0x00, 0x80, 0, 0, 0x21, 0x54, 0x81, 0x82, 0x83, 0x04, 0x44, 0x33, 0x22, 0x11 }, "ISYNC trace_enable 0x8000 A32 S cid=0x11223344 cc=135008277", true },
    { "periodic ISYNC, no cycles", CA, 6, { 0x08, 0x00, 0x80, 0, 0, 0x01 }, "ISYNC periodic 0x8000 A32 S", true },
    { "trigger",                  0,  1,  { 0x0c }, "TRIGGER", true },
    { "VMID",                     0,  2,  { 0x3c, 0x41 }, "VMID 0x41", true },
    { "timestamp",                0,  3,  { 0x42, 0x85, 0x01 }, "TIMESTAMP 0x85", true },
    { "timestamp, clock changed", 0,  2,  { 0x46, 0x05 }, "TIMESTAMP 0x5 clock changed", true },
    { "timestamp of 48 bits",     0,  8,  { 0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f }, "TIMESTAMP 0xffffffffffff", true },
    { "timestamp of 64 bits", WIDE_TIME, 10, { 0x42, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, "TIMESTAMP 0xffffffffffffffff", true },
    { "timestamp, Gray",       GRAY,  2,  { 0x42, 0x03 }, "TIMESTAMP 0x2", true },
    { "timestamp, cycles",       CA,  3,  { 0x42, 0x05, 0x14 }, "TIMESTAMP 0x5 cc=5", true },
    { "ignore",                   0,  1,  { 0x66 }, "IGNORE", true },
    { "context ID",         CONTEXT,  5,  { 0x6e, 4, 3, 2, 1 }, "CTXTID 0x1020304", true },
    { "context ID of no size",    0,  1,  { 0x6e }, "RESERVED header 0x6e", false },
    { "waypoint update",          0,  2,  { 0x72, 0x0b }, "WP_UPDATE 0x8014 A32", true },
    { "waypoint update, 5 bytes", 0,  6,  { 0x72, 0x8b, 0x81, 0x82, 0x83, 0x09 }, "WP_UPDATE 0x20c10114 A32", true },
    { "waypoint update, ThumbEE", 0,  7,  { 0x72, 0x8b, 0x81, 0x82, 0x83, 0x59, 0x40 }, "WP_UPDATE 0x9060808a TEE", true },
    { "exception return",         0,  1,  { 0x76 }, "ERET", true },
    { "atom",                     0,  1,  { 0x84 }, "ATOM E", true },
    { "atoms, five",              0,  1,  { 0xe2 }, "ATOM NEEEN", true },
    { "atom, one cycle",         CA,  1,  { 0x84 }, "ATOM E cc=1", true },
    { "atom, 53 cycles",         CA,  2,  { 0xd4, 0x03 }, "ATOM E cc=53", true },
    { "atom, most cycles",       CA,  5,  { 0xfe, 0xff, 0xff, 0xff, 0x7f }, "ATOM N cc=4294967295", true },
    { "reserved atom header",     0,  1,  { 0x80 }, "RESERVED header 0x80", false },
    { "branch, 1 byte",           0,  1,  { 0x0b }, "BRANCH_ADDRESS 0x8014 A32", true },
    { "branch, 2 bytes",          0,  2,  { 0x8b, 0x01 }, "BRANCH_ADDRESS 0x8114 A32", true },
    { "branch, 3 bytes",          0,  3,  { 0x8b, 0x81, 0x02 }, "BRANCH_ADDRESS 0x10114 A32", true },
    { "branch, 4 bytes",          0,  4,  { 0x8b, 0x81, 0x82, 0x03 }, "BRANCH_ADDRESS 0xc10114 A32", true },
    { "branch, 5 bytes",          0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x09 }, "BRANCH_ADDRESS 0x20c10114 A32", true },
    { "branch to T32",            0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x19 }, "BRANCH_ADDRESS 0x9060808a T32", true },
    { "branch to Jazelle",        0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x23 }, "BRANCH_ADDRESS 0x18304045 Jaz", true },
    { "branch, no meaning",       0,  5,  { 0x8b, 0x81, 0x82, 0x83, 0x01 }, "BAD_SEQUENCE header 0x8b", false },
    { "branch with exception",    0,  6,  { 0x8d, 0x80, 0x80, 0x80, 0x48, 0x1c }, "BRANCH_ADDRESS 0x18 A32 S exception 14 irq", true },
    { "branch with Hyp",          0,  4,  { 0x8d, 0x40, 0x9d, 0x20 }, "BRANCH_ADDRESS 0x8018 A32 NS Hyp exception 14 irq", true },
    { "branch, cycles",          CA,  2,  { 0x0b, 0x14 }, "BRANCH_ADDRESS 0x8014 A32 cc=5", true },
    { "reserved header",          0,  1,  { 0x10 }, "RESERVED header 0x10", false },
};
/* clang-format on */

static struct tw_ptm_config config_of(unsigned mode)
{
    return (struct tw_ptm_config){
        .size = sizeof(struct tw_ptm_config),
        .etmcr = (mode & CA ? 0x1000u : 0) | (mode & CONTEXT ? 0xc000u : 0),
        .etmidr = 0x411cf312,
        .etmccer = (mode & GRAY ? 0 : 0x10000000u) | (mode & WIDE_TIME ? 0x20000000u : 0),
        .etmtraceidr = 0x10
    };
}

/* In A32 at 0x8000. */
static struct tw_ptm_reader reader_of(unsigned mode)
{
    const struct tw_ptm_config config = config_of(mode);
    struct tw_ptm_reader reader;

    tw_ptm_reader_init(&reader, &config);
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
        struct tw_ptm_packet packet;
        char line[200];
        struct tw_text text = tw_text_in(line, sizeof line);
        struct tw_ptm_reader reader = reader_of(cases[i].mode);

        CHECK_CASE(cases[i].name);
        for (size_t cut = 0; cut <= cases[i].size; cut++) {
            uint8_t *copy = check_copy(cases[i].bytes, cut);

            reader = reader_of(cases[i].mode);
            CHECK_EQ(tw_ptm_read(&reader, &packet, copy, cut, false),
                     cut < cases[i].size ? TW_MORE : TW_OK);
            if (cut && cut < cases[i].size) {
                CHECK_EQ(reader.address, 0x8000);
                CHECK_EQ(tw_ptm_read(&reader, &packet, copy, cut, true), TW_OK);
                CHECK_EQ(packet.base.type, TW_PTM_INCOMPLETE_EOT);
                CHECK_EQ(packet.base.size, cut);
            }
            free(copy);
        }
        CHECK_EQ(packet.base.size, cases[i].size);
        tw_protocol_print(&text, &tw_ptm, &packet);
        CHECK_TEXT(line, cases[i].want);
    }
}

static void writes_what_it_reads(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_ptm_reader reader = reader_of(cases[i].mode);
        struct tw_ptm_reader writer = reader_of(cases[i].mode);
        struct tw_ptm_packet packet;
        uint8_t bytes[64];
        size_t size = sizeof bytes;

        CHECK_CASE(cases[i].name);
        CHECK_EQ(tw_ptm_read(&reader, &packet, cases[i].bytes, cases[i].size, true), TW_OK);
        if (!cases[i].is_canonical) {
            CHECK_EQ(tw_ptm_write(&writer, bytes, &size, &packet), TW_E_ARGUMENT);
            continue;
        }
        CHECK_EQ(tw_ptm_write(&writer, bytes, &size, &packet), TW_OK);
        CHECK_BYTES(bytes, size, cases[i].bytes, cases[i].size);
        CHECK_EQ(writer.address, reader.address);
        CHECK_EQ(writer.isa, reader.isa);
        size = cases[i].size - 1u;
        writer = reader_of(cases[i].mode);
        CHECK_EQ(tw_ptm_write(&writer, bytes, &size, &packet), TW_E_ROOM);
    }
}

static void no_header_is_claimed_twice(void **unused)
{
    (void)unused;
    for (unsigned mode = 0; mode < 16; mode++) {
        const struct tw_ptm_config config = config_of(mode);
        struct tw_ptm_setup setup;
        uint8_t claims[256];
        unsigned reserved = 0;

        tw_ptm_setup_from_config(&setup, &config);
        tw_ptm_claims(claims, &setup);
        for (unsigned head = 0; head < 256; head++) {
            CHECK(claims[head] <= 1);
            reserved += claims[head] == 0;
        }
        /* 54 even values below 80, two atoms without cycle counts, the context ID's header. */
        CHECK_EQ(reserved, 54u + (mode & CA ? 0 : 2) + (mode & CONTEXT ? 0 : 1));
    }
}

/* Bytes as they may come: many of them packets, some damaged. */
static void fill(struct check_random *random, uint8_t *bytes, size_t size)
{
    static const uint8_t sync[] = { 0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x80, 0x00, 0x00, 0x21 };

    check_random_fill(random, bytes, size);
    for (size_t at = 0; at + sizeof sync < size; at += 40 + check_random_below(random, 60))
        memcpy(bytes + at, sync, sizeof sync);
}

static void random_packets_are_written_as_they_were_read(void **unused)
{
    struct check_random random = check_random_start(0x70746d);
    uint8_t bytes[600], again[64];
    size_t good = 0;

    (void)unused;
    for (size_t run = 0; run < check_scale(3000); run++) {
        const unsigned mode = (unsigned)check_random_below(&random, 16);
        const struct tw_ptm_config config = config_of(mode);
        struct tw_ptm_reader reader, before;
        struct tw_ptm_packet packet;

        fill(&random, bytes, sizeof bytes);
        tw_ptm_reader_init(&reader, &config);
        for (size_t at = 0; at < sizeof bytes; at += packet.base.size) {
            size_t size = sizeof again;

            before = reader;
            CHECK_EQ(tw_ptm_read(&reader, &packet, bytes + at, sizeof bytes - at, true), TW_OK);
            CHECK(packet.base.size > 0);
            if (tw_ptm_type_is_bad(packet.base.type) || packet.base.type == TW_PTM_NOT_SYNC ||
                packet.has_reserved || packet.isa > TW_ISA_UNKNOWN)
                continue;
            if (tw_ptm_write(&before, again, &size, &packet) != TW_OK)
                fail_msg("packet type %u at %zu is not written", packet.base.type, at);
            /* A count may come in more bytes than it needs. */
            if (size == packet.base.size)
                CHECK_BYTES(again, size, bytes + at, packet.base.size);
            CHECK(size <= packet.base.size);
            good++;
        }
    }
    CHECK(good > 1000);
}

/* What a stream gives, as text. */
static char *decode_text(const uint8_t *bytes, size_t size, size_t piece,
                         const struct tw_register *registers, size_t count)
{
    struct exec_memory *memory = exec_memory_new();
    struct exec_tree tree;
    struct tw_batch batch = { .size = sizeof batch };
    char *out = calloc(1, 1 << 20);
    size_t at = 0, length = 0;

    assert_non_null(out);
    for (uint32_t i = 0; i < 512; i++)
        exec_memory_set(memory, 0x8000 + i, (uint8_t)(i % 7 == 6 ? 0xea : 0x01));
    exec_tree_open(&tree, memory, "ptm", registers, count, "Cortex-A9");
    while (at <= size) {
        const size_t some = size - at < piece ? size - at : piece;

        if (at == size)
            CHECK_EQ(tw_tree_finish(tree.tree), TW_OK);
        else
            CHECK_EQ(tw_tree_feed(tree.tree, bytes + at, some), TW_OK);
        while (tw_tree_next(tree.tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count && length < (1 << 20) - 600; i++) {
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
        const uint64_t control = check_random_next(&random) & 0x3000d100;
        const struct tw_register registers[] = { { "ETMCR", control },
                                                 { "ETMIDR", 0x411cf312 },
                                                 { "ETMCCER", 0x35c00000 } };
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
    uint8_t depth;
    uint32_t sync_bytes;
} units[] = {
    { "plain", 0, 0x411cf312, 0x00c00000, 0, 0 },
    { "synchronized often", 0, 0x411cf312, 0x00c00000, 0, 200 },
    { "return stack", 0x20000000, 0x411cf312, 0x00c00000, 0, 1000 },
    { "return stack of one", 0x20000000, 0x411cf312, 0x00c00000, 1, 1000 },
    { "deep return stack", 0x20000000, 0x411cf312, 0x00c00000, 16, 0 },
    { "branch broadcast", 0x100, 0x411cf312, 0x00c00000, 0, 500 },
    { "barriers", 0, 0x411cf312, 0x01c00000, 0, 0 },
    { "cycles, Gray time", 0x10001000, 0x411cf301, 0x000008ea, 0, 700 },
    { "cycles, context ID", 0x7000d000, 0x411cf312, 0x34c00000, 0, 700 },
};

/* The log's steps through the unit; a time and a context now and then. */
static struct tw_ptm_unit *trace_log(struct exec_memory *memory, const char *path,
                                     size_t unit_at, size_t limit, size_t *exceptions)
{
    const struct tw_ptm_unit_config config = {
        .size = sizeof config,
        .registers = { .size = sizeof config.registers,
                       .etmcr = units[unit_at].etmcr,
                       .etmidr = units[unit_at].etmidr,
                       .etmccer = units[unit_at].etmccer },
        .return_stack_depth = units[unit_at].depth,
        .sync_bytes = units[unit_at].sync_bytes,
        .vectors = 0xffff0000,
    };
    struct tw_ptm_unit *unit;
    struct exec_walk walk;
    size_t done = 0, steps = 0;

    CHECK_EQ(tw_ptm_unit_new(&unit, &config, NULL), TW_OK);
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
        CHECK_EQ(tw_ptm_unit_step(unit, &walk.step), TW_OK);
        if (++steps % 1000 == 0) {
            const struct tw_step_context context = { .security = TW_NONSECURE,
                                                     .context_id = (uint32_t)steps };

            CHECK_EQ(tw_ptm_unit_time(unit, steps * 77), TW_OK);
            CHECK_EQ(tw_ptm_unit_context(unit, &context), TW_OK);
        }
    }
    CHECK_EQ(tw_ptm_unit_flush(unit), TW_OK);
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
    struct tw_ptm_unit *unit = trace_log(memory, path, unit_at, limit, &exceptions);
    const uint8_t *bytes = tw_ptm_unit_output(unit, &size);

    exec_walk_open(&walk, path, SIZE_MAX);
    exec_tree_open(&tree, memory, "ptm", registers, LENGTH(registers), "Cortex-A15");
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
    CHECK(result.instructions > 0 && result.instructions <= limit);
    /* The last instruction may be a branch whose target never came. */
    CHECK(result.instructions + 200 > (limit < walk.done ? limit : walk.done));
    exec_tree_close(&tree);
    tw_log_free(walk.log);
    tw_ptm_unit_free(unit);
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
        0x00, 0x00, 0x00, 0x00, 0x00, 0x80,             /* ASYNC */
        0x08, 0x00, 0x80, 0x00, 0x00, 0x21,             /* 8000, secure */
        0x81, 0x80, 0x02,                               /* mov pc, lr to 10000 */
        0x0c,                                           /* trigger */
        0x72, 0x01,                                     /* 10000 was executed */
        0x8d, 0x80, 0x80, 0x80, 0x48, 0x9d, 0x20,       /* IRQ to 18 in Hyp mode */
        0x81, 0xa0, 0x82, 0x80, 0x50, 0x81, 0x00, 0x76, /* subs pc, lr to 9000, T32, no Hyp */
        0x72, 0x01,                                     /* 9000 was executed */
        0x08, 0x01, 0x90, 0x00, 0x00, 0x49,             /* 9000, after overflow */
        0x72, 0x01,
    };
    const struct tw_ptm_unit_config config = { .size = sizeof config,
                                               .registers = { .size = sizeof config.registers,
                                                              .etmidr = 0x411cf312,
                                                              .etmccer = 0x04000000 } };
    const struct tw_step_context hyp = { .el = 2, .security = TW_NONSECURE };
    const struct tw_step_context guest = { .el = 1, .security = TW_NONSECURE };
    struct tw_ptm_unit *unit;
    const uint8_t *bytes;
    size_t size;

    (void)unused;
    CHECK_EQ(tw_ptm_unit_new(&unit, &config, NULL), TW_OK);
    CHECK_EQ(tw_ptm_unit_retire(unit, code, 3), TW_OK);
    CHECK_EQ(tw_ptm_unit_trigger(unit), TW_OK);
    CHECK_EQ(tw_ptm_unit_context(unit, &hyp), TW_OK);
    CHECK_EQ(tw_ptm_unit_exception(unit, 14, 0x18, TW_ISA_A32), TW_OK);
    CHECK_EQ(tw_ptm_unit_retire(unit, code + 3, 2), TW_OK);
    CHECK_EQ(tw_ptm_unit_context(unit, &guest), TW_OK);
    CHECK_EQ(tw_ptm_unit_retire(unit, code + 5, 1), TW_OK);
    CHECK_EQ(tw_ptm_unit_gap(unit, TW_PTM_AFTER_OVERFLOW), TW_OK);
    CHECK_EQ(tw_ptm_unit_retire(unit, code + 5, 1), TW_OK);
    CHECK_EQ(tw_ptm_unit_flush(unit), TW_OK);
    bytes = tw_ptm_unit_output(unit, &size);
    CHECK_BYTES(bytes, size, want, sizeof want);

    CHECK_EQ(tw_ptm_unit_gap(unit, TW_PTM_PERIODIC), TW_E_ARGUMENT);
    CHECK_EQ(tw_ptm_unit_exception(unit, 16, 0x18, TW_ISA_A32), TW_E_ARGUMENT);
    CHECK_EQ(tw_ptm_unit_exception(unit, 14, 0x1a, TW_ISA_A32), TW_E_ARGUMENT);
    tw_ptm_unit_take(unit);
    (void)tw_ptm_unit_output(unit, &size);
    CHECK_EQ(size, 0);
    tw_ptm_unit_free(unit);
}

/* Instructions take a cycle each; cycles that pass besides are added to them. */
static void cycles_that_pass_are_told(void **unused)
{
    static const struct tw_register registers[] = {
        { "ETMCR", 0x1000 }, { "ETMIDR", 0x411cf312 }, { "ETMCCER", 0 }, { "ETMTRACEIDR", 0x21 }
    };
    static const struct tw_retired branch = { .address = 0x8000,
                                              .target = 0x8000,
                                              .opcode = 0xeafffffe, /* b . */
                                              .isa = TW_ISA_A32,
                                              .size = 4,
                                              .kind = TW_RETIRED_BRANCH,
                                              .flags = 1 };
    const struct tw_ptm_unit_config config = {
        .size = sizeof config,
        .registers = { .size = sizeof config.registers, .etmcr = 0x1000, .etmidr = 0x411cf312 }
    };
    const struct tw_tree_config packets = { .size = sizeof packets, .packets_only = true };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "ptm",
                                           .registers = registers,
                                           .register_count = LENGTH(registers) };
    uint64_t told[2] = { 0, 0 };

    (void)unused;
    for (unsigned more = 0; more < 2; more++) {
        struct tw_packet_view view = { .size = sizeof view };
        struct tw_ptm_unit *unit;
        struct tw_tree *tree;
        const uint8_t *bytes;
        size_t size;

        CHECK_EQ(tw_ptm_unit_new(&unit, &config, NULL), TW_OK);
        for (unsigned i = 0; i < 10; i++) {
            CHECK_EQ(tw_ptm_unit_retire(unit, &branch, 1), TW_OK);
            CHECK_EQ(tw_ptm_unit_cycles(unit, more ? 100 + i : 0), TW_OK);
        }
        CHECK_EQ(tw_ptm_unit_retire(unit, &branch, 1), TW_OK);
        CHECK_EQ(tw_ptm_unit_flush(unit), TW_OK);
        bytes = tw_ptm_unit_output(unit, &size);
        CHECK_EQ(tw_tree_new(&tree, &packets, NULL), TW_OK);
        CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
        CHECK_EQ(tw_tree_feed(tree, bytes, size), TW_OK);
        CHECK_EQ(tw_tree_finish(tree), TW_OK);
        while (tw_tree_next_packet(tree, &view) == TW_OK) {
            const struct tw_ptm_packet *packet = (const struct tw_ptm_packet *)view.packet;

            told[more] += packet->has_cycles ? packet->cycles : 0;
        }
        tw_tree_free(tree);
        tw_ptm_unit_free(unit);
    }
    CHECK(told[0] >= 10);
    CHECK_EQ(told[1] - told[0], 1045);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cycles_that_pass_are_told),
        cmocka_unit_test(reads_each_packet_and_asks_for_more_at_each_cut),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(no_header_is_claimed_twice),
        cmocka_unit_test(random_packets_are_written_as_they_were_read),
        cmocka_unit_test(damaged_streams_decode_the_same_in_any_pieces),
        cmocka_unit_test(programs_come_back_from_their_trace),
        cmocka_unit_test(the_unit_tells_exceptions_and_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
