/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data that we write, read again. */
#include "capture/perfdata.h"
#include "capture/test_perf.h"

static struct writer file;

/* Keeps what is written, at its place. */
static bool keep(void *context, uint64_t offset, const void *bytes, size_t size)
{
    struct writer *to = context;

    CHECK(offset + size <= ROOM);
    memcpy(to->bytes + offset, bytes, size);
    if (offset + size > to->size)
        to->size = (size_t)offset + size;
    return true;
}

static bool refuse(void *context, uint64_t offset, const void *bytes, size_t size)
{
    (void)context, (void)offset, (void)bytes, (void)size;
    return false;
}

static const struct tw_register registers[] = {
    { "TRCCONFIGR", CONFIG_CID }, { "TRCTRACEIDR", 0x10 }, { "TRCIDR0", 0x28000ea1 },
    { "TRCIDR1", 0x4100f403 },    { "TRCIDR2", 0x488 },
};
static const struct tw_register others[] = {
    { "TRCCONFIGR", CONFIG_CID }, { "TRCTRACEIDR", 0x12 }, { "TRCIDR0", 0x28000ea1 },
    { "TRCIDR1", 0x4100f403 },    { "TRCIDR2", 0x488 },
};
static const struct tw_perf_cpu cpus[] = { { 0, registers, LENGTH(registers) },
                                           { 3, others, LENGTH(others) } };

static struct tw_perf_writer_config config_of(bool (*write)(void *, uint64_t, const void *,
                                                            size_t))
{
    static const char *const command[] = { "walk", "--fast" };

    return (struct tw_perf_writer_config){ .size = sizeof(struct tw_perf_writer_config),
                                           .protocol = "etmv4",
                                           .cpus = cpus,
                                           .cpu_count = LENGTH(cpus),
                                           .machine = "aarch64",
                                           .command = command,
                                           .command_count = LENGTH(command),
                                           .time_mult = 1,
                                           .write = write,
                                           .write_context = &file };
}

static void write_all(const struct tw_perf_writer_config *config)
{
    const struct trace trace = visit(TID_A), other = visit(TID_B);
    const struct tw_perf_mapping mapping = { .address = 0x4000,
                                             .length = 0x1000,
                                             .major = 8,
                                             .minor = 1,
                                             .inode = 700,
                                             .protection = 5,
                                             .flags = 2 };
    const struct tw_perf_mapping library = {
        .address = 0x8000, .length = 0x1000, .protection = 5, .flags = 2
    };
    const struct tw_perf_stamp a = { 1000, TID_A, TID_A, 0 }, b = { 2000, TID_B, TID_B, 3 };
    const uint8_t id[] = { 1, 2, 3, 4 };
    struct tw_perf_writer *writer;

    CHECK_EQ(tw_perf_writer_new(&writer, config, NULL), TW_OK);
    CHECK_EQ(tw_perf_writer_comm(writer, &a, "alpha", true), TW_OK);
    CHECK_EQ(tw_perf_writer_map(writer, &a, &mapping, "/bin/a"), TW_OK);
    CHECK_EQ(tw_perf_writer_map(writer, &a, &library, "/lib/b"), TW_OK);
    CHECK_EQ(tw_perf_writer_start(writer, &a), TW_OK);
    CHECK_EQ(tw_perf_writer_switch(writer, &a, false), TW_OK);
    CHECK_EQ(tw_perf_writer_fork(writer, &b, TID_A, TID_A), TW_OK);
    CHECK_EQ(tw_perf_writer_comm(writer, &b, "beta", false), TW_OK);
    CHECK_EQ(tw_perf_writer_trace(writer, &a, trace.bytes, trace.size, 0), TW_OK);
    CHECK_EQ(tw_perf_writer_trace(writer, &b, other.bytes, other.size, TW_PERF_TRUNCATED),
             TW_OK);
    CHECK_EQ(tw_perf_writer_trace(writer, &a, trace.bytes, trace.size, 0), TW_OK);
    CHECK_EQ(tw_perf_writer_exit(writer, &b), TW_OK);
    CHECK_EQ(tw_perf_writer_build_id(writer, "/lib/b", id, sizeof id), TW_OK);
    CHECK_EQ(tw_perf_writer_finish(writer), TW_OK);
    tw_perf_writer_free(writer);
}

static void what_is_written_is_read(void **state)
{
    const struct program programs[] = { { "root/bin/a", code_a, sizeof code_a } };
    const struct tw_perf_writer_config config = config_of(keep);
    struct disk disk = { &file, 0, programs, LENGTH(programs) };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_capture *capture;
    const struct tw_perf *perf;
    struct path path = { .count = 0 };

    (void)state;
    memset(&file, 0, sizeof file);
    write_all(&config);
    disk.perf_size = file.size;
    CHECK_EQ(open_disk(&capture, &disk, NULL, &fault), TW_OK);
    perf = tw_capture_perf(capture);
    CHECK_EQ(tw_capture_source_count(capture), 2);
    CHECK_EQ(tw_perf_source_cpu(perf, 1), 3);
    CHECK_EQ(tw_capture_source(capture, 1)->id, 0x12);
    CHECK_EQ(tw_perf_stream_count(perf), 2);
    CHECK_EQ(tw_perf_loss_count(perf), 1);
    CHECK_EQ(tw_perf_record_count(perf, PERF_AUX), 3);
    CHECK_EQ(tw_perf_record_count(perf, PERF_SWITCH_CPU_WIDE), 1);
    CHECK(strcmp(tw_perf_feature(perf, "cmdline"), "walk --fast") == 0);
    CHECK(strcmp(tw_perf_feature(perf, "arch"), "aarch64") == 0);
    CHECK_EQ(tw_perf_thread(perf, TID_B, 3000)->pid, TID_B);
    CHECK(strcmp(tw_perf_thread(perf, TID_B, 3000)->comm, "beta") == 0);
    CHECK(strcmp(tw_perf_file(perf, 0)->name, "/lib/b") ==
          0); /* the list of build IDs comes first */
    CHECK_EQ(tw_perf_file(perf, 0)->build_id_size, 4);
    CHECK_EQ(tw_perf_mapping(perf, 0)->inode, 700);
    for (uint32_t i = 0; i < 3; i++)
        decode_buffer(&path, capture, i);
    /* Two visits of A, one of B in the memory that it has from A. */
    CHECK_EQ(path.count, 6);
    for (size_t i = 0; i < path.count; i++)
        CHECK_EQ(path.tids[i], i < 4 ? TID_A : TID_B);
    tw_capture_free(capture);
}

/* Stretches of any size, of which none is a multiple of the records' eight bytes. */
static void snapshots_are_read_whole(void **state)
{
    static const uint8_t bytes[24] = { 1, 2, 3 };
    static const size_t sizes[] = { 7, 21, 6, 13 };
    const struct tw_perf_writer_config config = config_of(keep);
    const struct tw_perf_stamp stamp = { 1000, TID_A, TID_A, 0 };
    struct disk disk = { &file, 0, NULL, 0 };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_perf_writer *writer;
    struct tw_capture *capture;

    (void)state;
    memset(&file, 0, sizeof file);
    CHECK_EQ(tw_perf_writer_new(&writer, &config, NULL), TW_OK);
    for (size_t i = 0; i < LENGTH(sizes); i++)
        CHECK_EQ(tw_perf_writer_trace(writer, &stamp, bytes, sizes[i], TW_PERF_OVERWRITE),
                 TW_OK);
    CHECK_EQ(tw_perf_writer_finish(writer), TW_OK);
    tw_perf_writer_free(writer);
    disk.perf_size = file.size;
    CHECK_EQ(open_disk(&capture, &disk, NULL, &fault), TW_OK);
    CHECK_EQ(tw_capture_buffer_count(capture), LENGTH(sizes));
    for (size_t i = 0; i < LENGTH(sizes); i++)
        CHECK_EQ(tw_capture_buffer(capture, i)->size, sizes[i]);
    tw_capture_free(capture);
}

static uint64_t word_at(uint64_t offset)
{
    uint64_t word = 0;

    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)file.bytes[offset + i] << 8 * i;
    return word;
}

/* The options that perf would have been given, and the flags of the event: perf_event_attr. */
static void attributes_say_what_was_traced(void **state)
{
    static const struct {
        uint32_t bit; /* of TRCCONFIGR */
        uint64_t option;
    } cases[] = { { 0, 0 },
                  { 1u << 4, 1u << 12 },
                  { 1u << 6, 1u << 14 },
                  { 1u << 11, 1u << 28 },
                  { 1u << 12, 1u << 29 },
                  { 1u << 3, 0 } };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_register own[LENGTH(registers)];
        const struct tw_perf_cpu cpu = { 0, own, LENGTH(own) };
        struct tw_perf_writer_config config = config_of(keep);
        const struct tw_perf_stamp stamp = { 1000, TID_A, TID_A, 0 };
        struct tw_perf_writer *writer;
        uint64_t attribute;

        memcpy(own, registers, sizeof own);
        own[0].value = cases[i].bit;
        config.cpus = &cpu;
        config.cpu_count = 1;
        memset(&file, 0, sizeof file);
        CHECK_EQ(tw_perf_writer_new(&writer, &config, NULL), TW_OK);
        CHECK_EQ(tw_perf_writer_start(writer, &stamp), TW_OK);
        CHECK_EQ(tw_perf_writer_finish(writer), TW_OK);
        tw_perf_writer_free(writer);
        attribute = word_at(24);
        check_case("TRCCONFIGR 0x%x", (unsigned)cases[i].bit);
        CHECK_EQ(word_at(attribute + 8), cases[i].option);
        /* disabled, exclude_kernel, exclude_hv, sample_id_all, exclude_guest */
        CHECK_EQ(word_at(attribute + 40) & 0x140061, 0x140061);
    }
}

static void what_cannot_be_written_is_said(void **state)
{
    struct tw_perf_writer_config config = config_of(keep);
    const struct tw_perf_stamp nowhere = { 1, 1, 1, 2 };
    struct tw_perf_writer *writer;
    struct tw_fault fault;
    uint8_t id[20] = { 0 };

    (void)state;
    memset(&file, 0, sizeof file);
    CHECK_EQ(tw_perf_writer_new(&writer, &config, &fault), TW_OK);
    CHECK_EQ(tw_perf_writer_trace(writer, &nowhere, id, sizeof id, 0), TW_E_ARGUMENT);
    CHECK(strstr(tw_perf_writer_fault(writer), "no CPU 2") != NULL);
    CHECK_EQ(tw_perf_writer_build_id(writer, "x", id, 21), TW_E_ARGUMENT);
    tw_perf_writer_free(writer);
    config.cpu_count = 501;
    CHECK_EQ(tw_perf_writer_new(&writer, &config, &fault), TW_E_ARGUMENT);
    config.cpu_count = 0;
    CHECK_EQ(tw_perf_writer_new(&writer, &config, &fault), TW_E_ARGUMENT);
    config = config_of(keep);
    config.protocol = "etrace";
    CHECK_EQ(tw_perf_writer_new(&writer, &config, &fault), TW_E_UNSUPPORTED);
    CHECK(strstr(fault.text, "etrace") != NULL);
    config = config_of(refuse);
    CHECK_EQ(tw_perf_writer_new(&writer, &config, &fault), TW_OK);
    CHECK_EQ(tw_perf_writer_finish(writer), TW_E_FILE);
    tw_perf_writer_free(writer);
    CHECK_EQ(tw_perf_build_id(id, "/nowhere/at/all"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(snapshots_are_read_whole),
        cmocka_unit_test(attributes_say_what_was_traced),
        cmocka_unit_test(what_cannot_be_written_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
