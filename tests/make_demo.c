/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes tests/captures/demo: an execution log (exlog 1, not compressed) and its ELF file to a snapshot
   with ETMv4 trace.  Usage: make_demo LOG ELF FOLDER. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/capture.h>
#include <trackway/etmv4.h>
#include <trackway/frame.h>

#include "isa/isa.h"

enum { ID = 0x10, SYNC_BYTES = 512, ATOMS_MOST = 24, HISTORY = 3 };

/* What the log's records say; numbers of runs begin at FIRST_RUN. */
enum { END = 0, DEFINE = 1, SYSCALL = 3, REPEAT = 6, FIRST_RUN = 16 };
enum { DIRECT = 1, INDIRECT = 2, CALL = 4 };

struct run {
    uint64_t start, kind, bytes;
    const uint8_t *code;
};

struct log {
    uint8_t *all;
    const uint8_t *at, *end;
    struct run *runs;
    size_t count;
    uint64_t last_start;
};

struct unit {
    struct tw_etmv4_reader *writer;
    struct tw_framer *framer;
    uint32_t atoms; /* bit 0 is the oldest */
    unsigned atom_count;
    uint64_t history[HISTORY]; /* addresses, the newest first */
    size_t since_sync;
    bool is_off, needs_address;
    uint64_t instructions, bytes;
};

static _Noreturn void die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("make_demo: ", stderr);
    (void)vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

static void must(enum tw_status status, const char *what)
{
    if (status != TW_OK)
        die("%s: %s", what, tw_status_name(status));
}

static uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t room = 0;

    if (!file)
        die("cannot open %s", path);
    *size = 0;
    do {
        room = room ? 2 * room : 1 << 16;
        bytes = realloc(bytes, room);
        if (!bytes)
            die("out of memory");
        *size += fread(bytes + *size, 1, room - *size, file);
    } while (*size == room);
    (void)fclose(file);
    return bytes;
}

/* ---- The trace unit */

static void put(struct unit *unit, const struct tw_etmv4_packet *packet)
{
    uint8_t bytes[64];
    size_t size = sizeof bytes;

    must(tw_etmv4_write(unit->writer, bytes, &size, packet),
         tw_etmv4_type_name(packet->base.type));
    must(tw_framer_write(unit->framer, ID, bytes, size), "frames");
    unit->since_sync += size;
    unit->bytes += size;
}

static void put_type(struct unit *unit, uint8_t type)
{
    const struct tw_etmv4_packet packet = { .base = { .type = type } };

    put(unit, &packet);
}

/* The longest packet that holds the oldest atoms. */
static void put_atoms(struct unit *unit)
{
    static const struct {
        uint8_t type, least, most;
    } formats[] = {
        { TW_ETMV4_ATOM_F6, 4, 24 }, { TW_ETMV4_ATOM_F5, 5, 5 }, { TW_ETMV4_ATOM_F4, 4, 4 },
        { TW_ETMV4_ATOM_F3, 3, 3 },  { TW_ETMV4_ATOM_F2, 2, 2 }, { TW_ETMV4_ATOM_F1, 1, 1 },
    };
    uint8_t bytes[64];

    for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
        for (unsigned count = formats[f].most; count >= formats[f].least; count--) {
            struct tw_etmv4_packet packet = { .base = { .type = formats[f].type } };
            size_t size = sizeof bytes;

            if (count > unit->atom_count)
                continue;
            packet.atom_count = (uint8_t)count;
            packet.atoms = unit->atoms & (UINT32_MAX >> (32 - count));
            if (tw_etmv4_write(unit->writer, bytes, &size, &packet) != TW_OK)
                continue;
            put(unit, &packet);
            unit->atoms >>= count;
            unit->atom_count -= count;
            return;
        }
    }
    die("atoms that no packet holds");
}

static void flush_atoms(struct unit *unit)
{
    while (unit->atom_count)
        put_atoms(unit);
}

static void add_atom(struct unit *unit, bool is_taken)
{
    unit->atoms |= (uint32_t)is_taken << unit->atom_count;
    if (++unit->atom_count == ATOMS_MOST)
        put_atoms(unit);
}

static void remember(struct unit *unit, uint64_t address)
{
    memmove(unit->history + 1, unit->history, (HISTORY - 1) * sizeof unit->history[0]);
    unit->history[0] = address;
}

/* An address in as few bytes as its history allows. */
static void put_address(struct unit *unit, uint64_t address)
{
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_ADDR_L_64IS0 } };
    const uint64_t differs = address ^ unit->history[0];

    packet.address = address;
    if (differs < (uint64_t)1 << 32)
        packet.base.type = TW_ETMV4_ADDR_L_32IS0;
    if (differs < 1 << 17) {
        packet.base.type = TW_ETMV4_ADDR_S_IS0;
        packet.address_bits = differs < 1 << 9 ? 9 : 17;
    }
    for (uint8_t i = HISTORY; i-- > 0;) {
        if (unit->history[i] == address) {
            packet.base.type = TW_ETMV4_ADDR_MATCH;
            packet.match = i;
        }
    }
    put(unit, &packet);
    remember(unit, address);
}

/* The first address after Trace Info or Trace On says where and in which state: EL0, Non-secure. */
static void put_start(struct unit *unit, uint64_t address)
{
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_ADDR_CTXT_L_64IS0 } };

    packet.address = address;
    packet.has_context = packet.sf = packet.ns = true;
    put(unit, &packet);
    remember(unit, address);
}

static void put_sync(struct unit *unit)
{
    struct tw_etmv4_packet info = { .base = { .type = TW_ETMV4_TRACE_INFO } };

    info.sections = TW_ETMV4_INFO;
    put_type(unit, TW_ETMV4_ASYNC);
    put(unit, &info);
    memset(unit->history, 0, sizeof unit->history);
    unit->since_sync = 0;
}

/* Before a run: what the decoder cannot know. */
static void arrive(struct unit *unit, uint64_t address)
{
    const bool wants_sync = unit->since_sync >= SYNC_BYTES || !unit->bytes;

    if (!unit->needs_address)
        return;
    flush_atoms(unit);
    if (wants_sync)
        put_sync(unit);
    if (unit->is_off)
        put_type(unit, TW_ETMV4_TRACE_ON);
    if (wants_sync || unit->is_off)
        put_start(unit, address);
    else
        put_address(unit, address);
    unit->is_off = unit->needs_address = false;
}

static void trace_run(struct unit *unit, const struct run *run)
{
    static const struct tw_isa_options options = { .profile = TW_PROFILE_A };

    arrive(unit, run->start);
    for (uint64_t offset = 0; offset < run->bytes; offset += 4) {
        const uint8_t *code = run->code + offset;
        const uint32_t opcode = (uint32_t)code[0] | (uint32_t)code[1] << 8 |
                                (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
        const bool is_last = offset + 4 == run->bytes;
        struct tw_instruction instruction;

        unit->instructions++;
        tw_a64_classify(&instruction, opcode, run->start + offset, &options);
        if (!instruction.is_waypoint)
            continue;
        add_atom(unit, instruction.kind == TW_FLOW_ISB ||
                           (is_last && (run->kind == DIRECT || run->kind == INDIRECT)));
    }
    unit->needs_address = run->kind == INDIRECT;
}

/* A system call leads out of what is traced: the kernel is not. */
static void trace_call(struct unit *unit, const struct run *run)
{
    struct tw_etmv4_packet packet = { .base = { .type = TW_ETMV4_EXCEPT } };

    flush_atoms(unit);
    packet.exception = 2; /* Call */
    packet.interpretation = 1;
    put(unit, &packet);
    put_address(unit, run->start + run->bytes);
    unit->is_off = unit->needs_address = true;
}

/* ---- The log */

static uint64_t number(struct log *log)
{
    uint64_t value = 0;
    unsigned shift = 0;

    for (;;) {
        if (log->at == log->end || shift > 63)
            die("the log is damaged");
        value |= (uint64_t)(*log->at & 0x7f) << shift;
        if (!(*log->at++ & 0x80))
            return value;
        shift += 7;
    }
}

static void open_log(struct log *log, const char *path)
{
    static const char head[] = "exlog 1\n";
    size_t size;

    log->all = load(path, &size);
    log->at = log->all;
    log->end = log->all + size;
    if (size < sizeof head || memcmp(log->at, head, sizeof head - 1) != 0)
        die("%s is no execution log", path);
    while (log->end - log->at >= 2 && memcmp(log->at, "\n\n", 2) != 0)
        log->at++;
    log->at += log->end - log->at >= 2 ? 2 : 0;
}

static const struct run *define(struct log *log)
{
    struct run *run;
    uint64_t delta;

    log->runs = realloc(log->runs, (log->count + 1) * sizeof *log->runs);
    if (!log->runs)
        die("out of memory");
    run = &log->runs[log->count++];
    delta = number(log);
    log->last_start += delta >> 1 ^ (~(delta & 1) + 1);
    run->start = log->last_start;
    if (number(log) != 0)
        die("only A64 is known here");
    run->kind = number(log);
    run->bytes = number(log); /* instructions: follows from the bytes */
    run->bytes = number(log);
    if (run->bytes > (uint64_t)(log->end - log->at) || run->bytes % 4)
        die("the log is damaged");
    run->code = log->at;
    log->at += run->bytes;
    return run;
}

static void trace_log(struct unit *unit, struct log *log)
{
    const struct run *run = NULL;
    uint64_t tag;

    while ((tag = number(log)) != END) {
        if (tag == DEFINE)
            run = define(log);
        else if (tag >= FIRST_RUN && tag - FIRST_RUN < log->count)
            run = &log->runs[tag - FIRST_RUN];
        else if (!run || (tag != REPEAT && tag != SYSCALL))
            die("a log with records %" PRIu64 " cannot be used", tag);
        if (tag == SYSCALL) {
            (void)number(log);
            trace_call(unit, run);
            continue;
        }
        for (uint64_t times = tag == REPEAT ? number(log) : 1; times > 0; times--)
            trace_run(unit, run);
    }
    flush_atoms(unit);
}

/* ---- The snapshot */

static const struct tw_register registers[] = {
    { "TRCCONFIGR", 0x1 },     { "TRCTRACEIDR", ID },     { "TRCAUTHSTATUS", 0xcc },
    { "TRCIDR0", 0x28000ea1 }, { "TRCIDR1", 0x4100f403 }, { "TRCIDR2", 0x488 },
    { "TRCIDR8", 0 },          { "TRCIDR9", 0 },          { "TRCIDR10", 0 },
    { "TRCIDR11", 0 },         { "TRCIDR12", 0 },         { "TRCIDR13", 0 },
};
enum { REGISTER_COUNT = sizeof registers / sizeof registers[0] };

static uint64_t word(const uint8_t *elf, size_t size, uint64_t at, unsigned bytes)
{
    uint64_t value = 0;

    if (at > size || bytes > size - at)
        die("the ELF file is cut");
    while (bytes--)
        value = value << 8 | elf[at + bytes];
    return value;
}

/* The executable segment of a 64-bit ELF file as a dump. */
static void find_code(struct tw_snapshot_dump *dump, const char *path)
{
    const uint64_t load_segment = 1, executable = 1;
    const char *slash = strrchr(path, '/');
    size_t size;
    uint8_t *elf = load(path, &size);
    const uint64_t table = word(elf, size, 32, 8);

    *dump = (struct tw_snapshot_dump){ .file = slash ? slash + 1 : path, .path = path };
    for (uint64_t i = 0; i < word(elf, size, 56, 2) && !dump->length; i++) {
        const uint64_t head = table + i * word(elf, size, 54, 2);

        if (word(elf, size, head, 4) != load_segment ||
            !(word(elf, size, head + 4, 4) & executable))
            continue;
        dump->offset = word(elf, size, head + 8, 8);
        dump->address = word(elf, size, head + 16, 8);
        dump->length = word(elf, size, head + 32, 8);
    }
    free(elf);
    if (!dump->length)
        die("%s has no code", path);
}

static void write_snapshot(const struct unit *unit, const char *elf, const char *folder)
{
    static const char *const buffers[] = { "ETB_0" };
    struct tw_snapshot_dump dump;
    const struct tw_snapshot_device devices[] = {
        { .name = "cpu_0",
          .class_name = "core",
          .type = "Cortex-A53",
          .dumps = &dump,
          .dump_count = 1 },
        { .name = "ETM_0",
          .class_name = "trace_source",
          .type = "ETM4.0",
          .registers = registers,
          .register_count = REGISTER_COUNT,
          .core = "cpu_0",
          .buffers = buffers,
          .buffer_count = 1 },
    };
    struct tw_snapshot_buffer buffer = { .name = "ETB_0", .format = "coresight" };
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .description = "A program that calls itself",
                                          .devices = devices,
                                          .device_count = 2,
                                          .buffers = &buffer,
                                          .buffer_count = 1,
                                          .overwrite = true };
    struct tw_fault fault = { TW_OK, "" };

    find_code(&dump, elf);
    buffer.bytes = tw_framer_output(unit->framer, &buffer.size);
    if (tw_snapshot_write(folder, &snapshot, &fault) != TW_OK)
        die("%s", fault.text);
    printf("%" PRIu64 " instructions, %" PRIu64 " bytes of trace, %zu bytes of frames\n",
           unit->instructions, unit->bytes, buffer.size);
}

int main(int count, char **words)
{
    const struct tw_framer_config frames = { .size = sizeof frames,
                                             .framing = TW_FRAMING_MEMORY };
    struct unit unit = { .is_off = true, .needs_address = true };
    struct tw_etmv4_config config;
    struct log log = { NULL, NULL, NULL, NULL, 0, 0 };
    struct tw_fault fault = { TW_OK, "" };

    if (count != 4)
        die("usage: make_demo LOG ELF FOLDER");
    if (tw_etmv4_config_from(&config, registers, REGISTER_COUNT, "Cortex-A53", false, &fault) !=
        TW_OK)
        die("%s", fault.text);
    must(tw_etmv4_reader_new(&unit.writer, &config, NULL, NULL), "writer");
    must(tw_framer_new(&unit.framer, &frames, NULL), "frames");
    open_log(&log, words[1]);
    trace_log(&unit, &log);
    must(tw_framer_finish(unit.framer), "frames");
    write_snapshot(&unit, words[2], words[3]);
    tw_framer_free(unit.framer);
    tw_etmv4_reader_free(unit.writer);
    free(log.runs);
    free(log.all);
    return 0;
}
