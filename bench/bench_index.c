/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexing a capture of four ETMv4 units beside unpacking it and reading its packets, and decoding
   from the middle of it with the index.
   bench_index [MIB [FOLDER]]: of so many MiB (64), kept as a snapshot in FOLDER. */
#define _GNU_SOURCE /* sched_setaffinity */

#include "harness.h"

#include <inttypes.h>
#include <stdbool.h>
#include <unistd.h>

#include <trackway/trackway.h>

enum {
    CORES = 4,
    FIRST_ID = 0x10,
    PIECE = 1 << 16,
    RECORDS = 1024,
    BURST = 240, /* bytes of a core in a row */
    CODE_MAX = 1 << 20,
    REGISTERS = 64,
    PASSES = 3,
    ELEMENTS = 1000 /* taken from the middle on */
};

static const char log_path[] = "tests/captures/logs/a64-coro.exlog.gz";

/* A stretch of trace of one core, and where its timestamps are. */
struct stretch {
    uint8_t *bytes;
    size_t size;
    struct tw_etmv4_packet *times;
    size_t time_count;
    uint64_t first, last;
};

struct subject {
    uint8_t *data;
    size_t size;
    struct stretch stretch;
    struct tw_register registers[REGISTERS];
    size_t register_count;
    uint8_t code[CODE_MAX];
    uint64_t code_first, code_end;
    struct tw_image *image;
    struct tw_register own[CORES][REGISTERS]; /* with the trace ID of each core */
    struct tw_tree_source sources[CORES];
};

static void need(enum tw_status status)
{
    if (status != TW_OK)
        bench_stop("a call failed");
}

static void keep_code(struct subject *subject, const struct tw_step *step)
{
    for (size_t i = 0; step->kind == TW_STEP_INSTRUCTIONS && i < step->count; i++) {
        const struct tw_retired *one = &step->instructions[i];

        if (!subject->code_end)
            subject->code_first = one->address & ~(uint64_t)0xffff;
        if (one->address - subject->code_first > CODE_MAX - 4)
            bench_stop("the program is too large");
        memcpy(subject->code + (one->address - subject->code_first), &one->opcode, 4);
        if (one->address + 4 > subject->code_end)
            subject->code_end = one->address + 4;
    }
}

/* The log through a trace unit: sync points each KiB, a timestamp with each. */
static void run_unit(struct subject *subject)
{
    const struct tw_unit_config config = { .size = sizeof config };
    struct tw_fault fault;
    struct tw_unit *unit;
    struct tw_log *log;
    struct tw_step step;
    const uint8_t *bytes;
    size_t size;

    need(tw_unit_new(&unit, &config));
    need(tw_unit_preset(unit, TW_UNIT_MINIMAL, 0, 0));
    need(tw_unit_write_register(unit, "TRCVICTLR", 0x201));
    need(tw_unit_write_register(unit, "TRCCONFIGR", 0x801));
    need(tw_unit_write_register(unit, "TRCTSCTLR", 0));
    need(tw_unit_write_register(unit, "TRCSYNCPR", 10));
    while (subject->register_count < REGISTERS &&
           tw_unit_register(unit, subject->register_count,
                            &subject->registers[subject->register_count]) == TW_OK)
        subject->register_count++;
    need(tw_unit_write_register(unit, "TRCPRGCTLR", 1));
    for (unsigned round = 0; round < 8; round++) {
        if (tw_log_open(&log, log_path, NULL, &fault) != TW_OK)
            bench_stop("%s", fault.text);
        while (tw_log_next(log, &step) == TW_OK) {
            keep_code(subject, &step);
            need(tw_unit_step(unit, &step));
        }
        tw_log_free(log);
    }
    need(tw_unit_write_register(unit, "TRCPRGCTLR", 0));
    bytes = tw_unit_output(unit, &size);
    subject->stretch.bytes = malloc(size);
    if (!subject->stretch.bytes)
        bench_stop("no memory");
    memcpy(subject->stretch.bytes, bytes, size);
    subject->stretch.size = size;
    /* Names of registers are the unit's own and stay. */
    tw_unit_free(unit);
}

static void find_times(struct subject *subject)
{
    struct stretch *stretch = &subject->stretch;
    struct tw_etmv4_config config;
    struct tw_etmv4_reader *reader;
    struct tw_etmv4_packet packet;
    struct tw_fault fault;

    need(tw_etmv4_config_from(&config, subject->registers, subject->register_count,
                              "Cortex-A57", false, &fault));
    need(tw_etmv4_reader_new(&reader, &config, NULL));
    stretch->times = malloc(stretch->size * sizeof packet / 64);
    for (size_t at = 0; at < stretch->size; at += packet.base.size) {
        need(tw_etmv4_read(reader, &packet, stretch->bytes + at, stretch->size - at, true));
        if (packet.base.type != TW_ETMV4_TIMESTAMP)
            continue;
        if (!stretch->times || stretch->time_count == stretch->size / 64)
            bench_stop("no memory");
        if (!stretch->time_count)
            stretch->first = packet.timestamp;
        stretch->last = packet.timestamp;
        stretch->times[stretch->time_count++] = packet;
    }
    tw_etmv4_reader_free(reader);
}

/* The stretch once more, later: all but the timestamps as they are. */
static size_t write_later(const struct subject *subject, uint8_t *out, uint64_t later)
{
    const struct stretch *stretch = &subject->stretch;
    size_t from = 0, size = 0;

    for (size_t i = 0; i <= stretch->time_count; i++) {
        const struct tw_etmv4_packet *time = &stretch->times[i];
        const size_t to = i < stretch->time_count ? (size_t)time->base.offset : stretch->size;
        uint64_t value;

        memcpy(out + size, stretch->bytes + from, to - from);
        size += to - from;
        if (i == stretch->time_count)
            break;
        from = to + time->base.size;
        out[size++] = 0x02; /* a timestamp, all bits of it */
        value = time->timestamp + later;
        for (unsigned byte = 0; byte < 8; byte++, value >>= 7)
            out[size++] = (uint8_t)(value & 0x7f) | 0x80;
        out[size++] = (uint8_t)value;
    }
    return size;
}

static void append(struct subject *subject, struct tw_framer *framer, size_t room)
{
    size_t size;
    const uint8_t *frames = tw_framer_output(framer, &size);

    if (size > room - subject->size)
        size = room - subject->size;
    memcpy(subject->data + subject->size, frames, size);
    subject->size += size;
    tw_framer_take(framer);
}

static void fill_capture(struct subject *subject, size_t room)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    const struct stretch *stretch = &subject->stretch;
    struct tw_framer *framer;
    uint8_t *later = malloc(stretch->size + 16 * stretch->time_count);

    subject->data = malloc(room);
    if (!later || !subject->data)
        bench_stop("no memory");
    need(tw_framer_new(&framer, &config));
    for (uint64_t round = 0; subject->size < room; round++) {
        const size_t size = write_later(subject, later, round * (stretch->last + 100));

        for (size_t at = 0; at < size; at += BURST)
            for (unsigned core = 0; core < CORES; core++)
                need(tw_framer_write(framer, (uint8_t)(FIRST_ID + core), later + at,
                                     size - at < BURST ? size - at : BURST));
        append(subject, framer, room);
    }
    free(later);
    tw_framer_free(framer);
}

static void describe(struct subject *subject)
{
    const struct tw_region region = { .size = sizeof region,
                                      .address = subject->code_first,
                                      .length = subject->code_end - subject->code_first };

    need(tw_image_new(&subject->image, NULL));
    need(tw_image_add(subject->image, &region, subject->code));
    for (unsigned core = 0; core < CORES; core++) {
        memcpy(subject->own[core], subject->registers, sizeof subject->registers);
        for (size_t i = 0; i < subject->register_count; i++)
            if (strcmp(subject->own[core][i].name, "TRCTRACEIDR") == 0)
                subject->own[core][i].value = FIRST_ID + core;
        subject->sources[core] =
            (struct tw_tree_source){ .size = sizeof(struct tw_tree_source),
                                     .protocol = "etmv4",
                                     .registers = subject->own[core],
                                     .register_count = subject->register_count,
                                     .core_type = "Cortex-A57",
                                     .image = subject->image };
    }
}

/* For the tool: the same as a snapshot. */
static void write_snapshot(const struct subject *subject, const char *folder)
{
    static const char *const names[CORES][2] = {
        { "cpu_0", "ETM_0" }, { "cpu_1", "ETM_1" }, { "cpu_2", "ETM_2" }, { "cpu_3", "ETM_3" }
    };
    const char *const buffers[] = { "ETR_0" };
    const struct tw_snapshot_dump dump = { .file = "code.bin",
                                           .bytes = subject->code,
                                           .size = (size_t)(subject->code_end -
                                                            subject->code_first),
                                           .address = subject->code_first };
    const struct tw_snapshot_buffer buffer = {
        .name = "ETR_0", .format = "coresight", .bytes = subject->data, .size = subject->size
    };
    struct tw_snapshot_device devices[2 * CORES];
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .devices = devices,
                                          .device_count = 2 * CORES,
                                          .buffers = &buffer,
                                          .buffer_count = 1,
                                          .overwrite = true };
    struct tw_fault fault;

    memset(devices, 0, sizeof devices);
    for (unsigned core = 0; core < CORES; core++) {
        devices[2 * core].name = names[core][0];
        devices[2 * core].class_name = "core";
        devices[2 * core].type = "Cortex-A57";
        devices[2 * core].dumps = &dump;
        devices[2 * core].dump_count = 1;
        devices[2 * core + 1].name = names[core][1];
        devices[2 * core + 1].class_name = "trace_source";
        devices[2 * core + 1].type = "ETM4.5";
        devices[2 * core + 1].core = names[core][0];
        devices[2 * core + 1].registers = subject->own[core];
        devices[2 * core + 1].register_count = subject->register_count;
        devices[2 * core + 1].buffers = buffers;
        devices[2 * core + 1].buffer_count = 1;
    }
    if (tw_snapshot_write(folder, &snapshot, &fault) != TW_OK)
        bench_stop("%s", fault.text);
}

static enum tw_status read_data(void *context, uint64_t offset, const uint8_t **bytes,
                                size_t *size)
{
    const struct subject *subject = context;

    if (offset >= subject->size)
        return TW_END;
    *bytes = subject->data + offset;
    *size = subject->size - (size_t)offset;
    return TW_OK;
}

static struct tw_index_capture capture_of(struct subject *subject)
{
    return (struct tw_index_capture){ .size = sizeof(struct tw_index_capture),
                                      .framing = TW_FRAMING_MEMORY,
                                      .bytes = subject->size,
                                      .read = read_data,
                                      .read_context = subject,
                                      .sources = subject->sources,
                                      .source_count = CORES };
}

/* ---- what is measured ---- */

static struct tw_unframer *make_unframer(void)
{
    struct tw_unframer_config config = { .size = sizeof config, .framing = TW_FRAMING_MEMORY };
    struct tw_unframer *unframer;

    for (unsigned core = 0; core < CORES; core++)
        config.wanted[0] |= (uint64_t)1 << (FIRST_ID + core);
    need(tw_unframer_new(&unframer, &config));
    return unframer;
}

/* All streams, and with readers their packets as records. */
static void unpack(const struct subject *subject, struct tw_etmv4_reader **readers)
{
    static struct tw_etmv4_packet packets[RECORDS];
    struct tw_unframer *unframer = make_unframer();

    for (size_t at = 0; at < subject->size; at += PIECE) {
        const size_t left = subject->size - at;

        need(tw_unframer_feed(unframer, subject->data + at, left < PIECE ? left : PIECE));
        for (unsigned core = 0; core < CORES; core++) {
            const struct tw_stream stream =
                tw_unframer_stream(unframer, (uint8_t)(FIRST_ID + core));
            size_t done = readers ? 0 : stream.size, used, count = RECORDS;

            while (readers && count == RECORDS) {
                count = tw_etmv4_read_batch(readers[core], packets, RECORDS,
                                            stream.bytes + done, stream.size - done, &used);
                done += used;
            }
            tw_unframer_consume(unframer, (uint8_t)(FIRST_ID + core), done);
        }
    }
    tw_unframer_free(unframer);
}

static void unpack_pass(struct subject *subject)
{
    unpack(subject, NULL);
}

static void packet_pass(struct subject *subject)
{
    struct tw_etmv4_reader *readers[CORES];
    struct tw_etmv4_config config;
    struct tw_fault fault;

    for (unsigned core = 0; core < CORES; core++) {
        need(tw_etmv4_config_from(&config, subject->own[core], subject->register_count,
                                  "Cortex-A57", false, &fault));
        need(tw_etmv4_reader_new(&readers[core], &config, NULL));
    }
    unpack(subject, readers);
    for (unsigned core = 0; core < CORES; core++)
        tw_etmv4_reader_free(readers[core]);
}

static struct tw_index *build(struct subject *subject, enum tw_index_detail detail)
{
    const struct tw_index_config config = { .size = sizeof config, .detail = detail };
    const struct tw_index_capture capture = capture_of(subject);
    struct tw_index *index;

    need(tw_index_build(&index, &capture, &config, NULL));
    return index;
}

static void source_pass(struct subject *subject)
{
    tw_index_free(build(subject, TW_INDEX_SOURCE));
}

static void sparse_pass(struct subject *subject)
{
    tw_index_free(build(subject, TW_INDEX_SPARSE));
}

static void full_pass(struct subject *subject)
{
    tw_index_free(build(subject, TW_INDEX_FULL));
}

/* The best of some passes, in nanoseconds. */
static double best_of(struct subject *subject, const char *name,
                      void (*pass)(struct subject *subject))
{
    double best = 0;

    for (unsigned i = 0; i < PASSES; i++) {
        const uint64_t start = bench_now();
        double taken;

        pass(subject);
        taken = (double)(bench_now() - start);
        if (i == 0 || taken < best)
            best = taken;
    }
    printf("# index %-8s %10zu bytes %8.1f MB/s\n", name, subject->size,
           (double)subject->size * 1e3 / best);
    return best;
}

/* ---- from the middle ---- */

static struct tw_tree *make_tree(struct subject *subject)
{
    const struct tw_tree_config config = { .size = sizeof config,
                                           .framing = TW_FRAMING_MEMORY };
    struct tw_tree *tree;

    need(tw_tree_new(&tree, &config, NULL));
    for (unsigned core = 0; core < CORES; core++)
        need(tw_tree_add_source(tree, NULL, &subject->sources[core]));
    return tree;
}

/* The first elements of `offset` and later, when feeding from `from` on. */
static void take(struct subject *subject, struct tw_tree *tree, struct tw_element *out,
                 uint64_t from, uint64_t offset)
{
    struct tw_batch batch;
    size_t count = 0;

    while (count < ELEMENTS && from < subject->size) {
        const size_t left = subject->size - (size_t)from;

        need(tw_tree_feed(tree, subject->data + from, left < PIECE ? left : PIECE));
        from += left < PIECE ? left : PIECE;
        while (tw_tree_next(tree, &batch) == TW_OK)
            for (size_t i = 0; i < batch.count && count < ELEMENTS; i++)
                if (batch.elements[i].index >= offset)
                    out[count++] = batch.elements[i];
    }
    if (count < ELEMENTS)
        bench_stop("too few elements");
}

static void from_the_middle(struct subject *subject, const char *path)
{
    static struct tw_element late[ELEMENTS], early[ELEMENTS];
    const struct tw_index_capture capture = capture_of(subject);
    const uint64_t rounds = subject->size / (CORES * subject->stretch.size);
    const uint64_t middle = rounds / 2 * (subject->stretch.last + 100) + 77;
    struct tw_tree *tree = make_tree(subject);
    struct tw_index_file *file = NULL;
    struct tw_fault fault;
    uint64_t offset, from, start = bench_now(), taken;

    if (path &&
        (tw_index_open(&file, path, NULL, &fault) != TW_OK ||
         tw_index_matches(tw_index_file_get(file, 0), &capture, false, &fault) != TW_OK))
        bench_stop("%s", fault.text);
    need(tw_index_locate(&capture, file ? tw_index_file_get(file, 0) : NULL, &offset, NULL,
                         middle));
    need(tw_index_seek(&capture, file ? tw_index_file_get(file, 0) : NULL, tree, &from, offset,
                       2));
    take(subject, tree, late, from, offset);
    taken = bench_now() - start;
    tw_tree_free(tree);
    tree = make_tree(subject);
    take(subject, tree, early, 0, offset);
    tw_tree_free(tree);
    tw_index_close(file);
    if (memcmp(late, early, sizeof late) != 0)
        bench_stop("from the middle other elements come");
    printf("# index at-%-5s offset 0x%" PRIx64 ", begun 0x%" PRIx64 " before: %.2f ms\n",
           path ? "file" : "none", offset, offset - from, (double)taken / 1e6);
    bench_result(path ? "index/at-file-ms" : "index/at-none-ms", (double)taken / 1e6,
                 "  ms of CPU until %u elements from the middle are there", ELEMENTS);
}

int main(int count, char **words)
{
    static struct subject subject;
    const size_t size = (size_t)(count > 1 ? strtoul(words[1], NULL, 10) : 64) << 20;
    const char *folder = getenv("TMPDIR");
    char path[600];
    const struct tw_index *index;
    double unpacked, packets;

    bench_pin();
    run_unit(&subject);
    find_times(&subject);
    fill_capture(&subject, size);
    describe(&subject);
    if (count > 2)
        write_snapshot(&subject, words[2]);
    unpacked = best_of(&subject, "unpack", unpack_pass);
    packets = best_of(&subject, "packets", packet_pass);
    bench_result("index/source", unpacked / best_of(&subject, "source", source_pass),
                 "  of the rate of unpacking frames");
    bench_result("index/sparse", packets / best_of(&subject, "sparse", sparse_pass),
                 "  of the rate of reading packets");
    bench_result("index/full", packets / best_of(&subject, "full", full_pass),
                 "  of the rate of reading packets");
    (void)snprintf(path, sizeof path, "%s/bench_index_%ld.twx", folder ? folder : "/tmp",
                   (long)getpid());
    index = build(&subject, TW_INDEX_FULL);
    need(tw_index_write(path, &index, 1, NULL));
    from_the_middle(&subject, path);
    (void)remove(path);
    from_the_middle(&subject, NULL);
    return 0;
}
