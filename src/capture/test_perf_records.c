/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: the names of records, the id behind each of them in every layout, mappings as written,
   trace IDs that the hardware gave. */
#include "capture/test_perf.h"

#include "capture/perfdata.h"

/* As the kernel has them: enum perf_event_type, and perf's own from 64 on. */
static void records_have_perfs_names(void **state)
{
    static const struct {
        unsigned type;
        const char *name;
    } names[] = {
        { 1, "MMAP" },          { 2, "LOST" },
        { 3, "COMM" },          { 4, "EXIT" },
        { 5, "THROTTLE" },      { 6, "UNTHROTTLE" },
        { 7, "FORK" },          { 8, "READ" },
        { 9, "SAMPLE" },        { 10, "MMAP2" },
        { 11, "AUX" },          { 12, "ITRACE_START" },
        { 13, "LOST_SAMPLES" }, { 14, "SWITCH" },
        { 16, "NAMESPACES" },   { 15, "SWITCH_CPU_WIDE" },
        { 17, "KSYMBOL" },      { 18, "BPF_EVENT" },
        { 19, "CGROUP" },       { 20, "TEXT_POKE" },
        { 64, "HEADER_ATTR" },  { 21, "AUX_OUTPUT_HW_ID" },
        { 66, "TRACING_DATA" }, { 67, "BUILD_ID" },
        { 69, "ID_INDEX" },     { 68, "FINISHED_ROUND" },
        { 71, "AUXTRACE" },     { 70, "AUXTRACE_INFO" },
        { 73, "THREAD_MAP" },   { 72, "AUXTRACE_ERROR" },
        { 74, "CPU_MAP" },      { 78, "EVENT_UPDATE" },
        { 79, "TIME_CONV" },    { 80, "FEATURE" },
        { 81, "COMPRESSED" },   { 82, "FINISHED_INIT" },
        { 83, "COMPRESSED2" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(names); i++) {
        CHECK_CASE(names[i].name);
        CHECK_TEXT(tw_perf_record_name(names[i].type), names[i].name);
    }
    CHECK(tw_perf_record_name(0) == NULL);
    CHECK(tw_perf_record_name(22) == NULL);
    CHECK(tw_perf_record_name(100000) == NULL);
}

enum {
    TID = 1 << 1,
    TIME = 1 << 2,
    ID = 1 << 6,
    CPU = 1 << 7,
    STREAM = 1 << 9,
    IDENTIFIER = 1 << 16
};

/* A record's end in this layout: the order is the kernel's. */
static void end_in(struct writer *writer, uint64_t type, uint32_t tid, uint64_t time,
                   uint32_t cpu)
{
    if (type & TID) {
        put(writer, tid + 1000, 4);
        put(writer, tid, 4);
    }
    if (type & TIME)
        put(writer, time, 8);
    if (type & ID)
        put(writer, 0xaaaa, 8);
    if (type & STREAM)
        put(writer, 0xbbbb, 8);
    if (type & CPU) {
        put(writer, cpu, 4);
        put(writer, 0xffffffff, 4);
    }
    if (type & IDENTIFIER)
        put(writer, 1, 8);
    end(writer);
}

static struct tw_capture *open_it(struct writer *writer)
{
    const struct disk disk = { writer, writer->size, NULL, 0 };
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;

    if (open_disk(&capture, &disk, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

static void the_id_behind_a_record_is_read_in_every_layout(void **state)
{
    static const uint64_t bits[] = { TID, TIME, ID, CPU, STREAM, IDENTIFIER };

    (void)state;
    for (unsigned choice = 0; choice < 64; choice++)
        for (unsigned is_big = 0; is_big < 2; is_big++) {
            static struct writer writer;
            const struct trace trace = visit(TID_A);
            struct tw_capture *capture;
            const struct tw_perf *perf;
            uint64_t type = 0, first, last;

            for (size_t i = 0; i < LENGTH(bits); i++)
                type |= choice >> i & 1 ? bits[i] : 0;
            check_case("sample type 0x%x, %u", (unsigned)type, is_big);
            start(&writer, is_big, false);
            put_at(&writer, 104 + 24, type, 8);
            put_info(&writer, 1, 2, CONFIG_CID);
            begin(&writer, 3, MISC_EXEC);
            put(&writer, TID_A, 4);
            put(&writer, TID_A, 4);
            put_text(&writer, "alpha");
            end_in(&writer, type, TID_A, 7, 1);
            begin(&writer, 11, 0);
            put(&writer, 0, 8);
            put(&writer, trace.size, 8);
            put(&writer, RAW | 1, 8); /* truncated: so the record is told of */
            end_in(&writer, type, TID_A, 20, 1);
            put_trace(&writer, trace.bytes, trace.size, 0, 1, TW_NONE);
            finish(&writer);
            capture = open_it(&writer);
            perf = tw_capture_perf(capture);
            CHECK_EQ(tw_perf_loss_count(perf), 1);
            CHECK_EQ(tw_perf_loss(perf, 0)->cpu, type & CPU ? 1 : TW_NONE);
            CHECK_EQ(tw_perf_loss(perf, 0)->tid, type & TID ? TID_A : TW_NONE);
            CHECK_EQ(tw_perf_loss(perf, 0)->time, type & TIME ? 20 : 0);
            /* Without a CPU nobody can tell whose ring buffer it was. */
            CHECK_EQ(tw_perf_loss(perf, 0)->has_data, (type & CPU) != 0);
            CHECK_EQ(tw_perf_time_span(perf, &first, &last), (type & TIME) != 0);
            if (type & TIME) {
                CHECK_EQ(first, 7);
                CHECK_EQ(last, 20);
            }
            CHECK_TEXT(tw_perf_thread(perf, TID_A, 30)->comm, "alpha");
            tw_capture_free(capture);
        }
}

/* Records that perf makes itself have no time, or all ones. */
static void times_that_are_none_do_not_count(void **state)
{
    static struct writer writer;
    const struct trace trace = visit(TID_A);
    struct tw_capture *capture;
    uint64_t first = 0, last = 0;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_comm(&writer, TID_A, "alpha", 0);
    put_comm(&writer, TID_A, "beta", UINT64_MAX);
    put_comm(&writer, TID_B, "gamma", 50);
    put_comm(&writer, TID_B, "delta", 40);
    put_comm(&writer, TID_B, "omega", 60);
    put_aux(&writer, 0, trace.size, RAW, 55, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&writer);
    capture = open_it(&writer);
    CHECK(tw_perf_time_span(tw_capture_perf(capture), &first, &last));
    CHECK_EQ(first, 40);
    CHECK_EQ(last, 60);
    tw_capture_free(capture);
}

static void write_mappings(struct writer *writer)
{
    const struct trace trace = visit(TID_A);

    start(writer, false, false);
    put_info(writer, 1, 1, CONFIG_CID);
    put_map(writer, TID_A, 0x4000, 0x1000, "/bin/a", 7); /* MMAP2 */
    begin(writer, 1, 2);                                 /* MMAP, user */
    put(writer, TID_A, 4);
    put(writer, TID_B, 4);
    put(writer, 0x8000, 8);
    put(writer, 0x2000, 8);
    put(writer, 0x3000, 8);
    put_text(writer, "/bin/old");
    end_with_id(writer, TID_A, 9, 0);
    begin(writer, 1, 2 | MISC_EXEC); /* of data: the same bit that COMM has for exec */
    put(writer, TID_A, 4);
    put(writer, TID_A, 4);
    put(writer, 0xa000, 8);
    put(writer, 0x1000, 8);
    put(writer, 0, 8);
    put_text(writer, "/bin/data");
    end_with_id(writer, TID_A, 10, 0);
    begin(writer, 10, 2 | 1 << 14); /* MMAP2 with a build ID */
    put(writer, TID_A, 4);
    put(writer, TID_A, 4);
    put(writer, 0xc000, 8);
    put(writer, 0x1000, 8);
    put(writer, 0x500, 8);
    put(writer, 20, 1);
    put(writer, 0, 3);
    for (unsigned i = 0; i < 20; i++)
        put(writer, 0x60 + i, 1);
    put(writer, 5, 4);
    put(writer, 0x12, 4);
    put_text(writer, "/bin/id");
    end_with_id(writer, TID_A, 11, 0);
    put_aux(writer, 0, trace.size, RAW, 55, 0);
    put_trace(writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(writer);
}

static void mappings_are_told_as_written(void **state)
{
    static struct writer writer;
    const struct tw_perf_mapping *map;
    struct tw_capture *capture;
    const struct tw_perf *perf;

    (void)state;
    write_mappings(&writer);
    capture = open_it(&writer);
    perf = tw_capture_perf(capture);
    CHECK_EQ(tw_perf_mapping_count(perf), 4);
    map = tw_perf_mapping(perf, 0);
    CHECK(map->is_mmap2 && !map->has_build_id);
    CHECK_EQ(map->major, 8);
    CHECK_EQ(map->minor, 1);
    CHECK_EQ(map->inode, 700);
    CHECK_EQ(map->generation, 0);
    CHECK_EQ(map->protection, 5);
    CHECK_EQ(map->flags, 2);
    CHECK_EQ(map->time, 7);
    map = tw_perf_mapping(perf, 1);
    CHECK(!map->is_mmap2 && !map->has_build_id);
    CHECK_EQ(map->pid, TID_A);
    CHECK_EQ(map->tid, TID_B);
    CHECK_EQ(map->address, 0x8000);
    CHECK_EQ(map->length, 0x2000);
    CHECK_EQ(map->offset, 0x3000);
    CHECK_EQ(map->protection, 5);
    CHECK_EQ(map->inode, 0);
    CHECK_EQ(map->time, 9);
    CHECK_EQ(tw_perf_mapping(perf, 2)->protection, 1);
    map = tw_perf_mapping(perf, 3);
    CHECK(map->is_mmap2 && map->has_build_id);
    CHECK_EQ(map->major, 0);
    CHECK_EQ(map->flags, 0x12);
    CHECK_EQ(tw_perf_file(perf, map->file)->build_id_size, 20);
    CHECK_EQ(tw_perf_file(perf, map->file)->build_id[0], 0x60);
    CHECK_EQ(tw_perf_file(perf, map->file)->build_id[19], 0x73);
    CHECK(tw_perf_mapping(perf, 4) == NULL);
    CHECK_EQ(tw_perf_record_count(perf, 1), 2);
    CHECK_EQ(tw_perf_record_count(perf, 10), 2);
    CHECK_EQ(tw_perf_record_count(perf, 300), 0);
    tw_capture_free(capture);
}

/* Seven bits of trace ID, in the metadata and in what the hardware said. */
static void trace_ids_have_seven_bits(void **state)
{
    (void)state;
    for (unsigned is_said = 0; is_said < 2; is_said++)
        for (unsigned id = 0; id < 0x80; id++) {
            static struct writer writer;
            static const uint8_t zeros[32];
            const struct tw_source *source;
            struct tw_capture *capture;
            size_t info;

            check_case("ID 0x%02x, %u", id, is_said);
            start(&writer, false, false);
            info = writer.size;
            put_info(&writer, 1, 1, CONFIG_CID);
            /* Header, then version, CPUs and size; for each CPU magic, number, count, words. */
            put_at(&writer, info + 8 + 8 + 3 * 8 + 3 * 8 + 8, is_said ? 0x33 : 0xabcd0080 | id,
                   8);
            if (is_said) {
                begin(&writer, 21, 0);
                put(&writer, 0x80 | id, 8);
                end_with_id(&writer, 1, 3, 0);
            }
            put_aux(&writer, 0, sizeof zeros, 0, 9, 0);
            put_trace(&writer, zeros, sizeof zeros, 0, 0, TW_NONE);
            finish(&writer);
            capture = open_it(&writer);
            source = tw_capture_source(capture, 0);
            CHECK_EQ(source->id, id);
            CHECK_EQ(source->has_id, id && id <= 0x6f);
            tw_capture_free(capture);
        }
}

/* Records that would map what lies beyond the last address, once and again. */
static void memory_ends_where_addresses_do(void **state)
{
    static struct writer writer;
    const struct trace trace = visit(TID_A);
    struct tw_capture *capture;
    const struct tw_perf *perf;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_map(&writer, TID_A, 0x4000, 0x1000, "/bin/a", 7);
    for (unsigned i = 0; i < 3; i++) {
        put_map(&writer, TID_A, UINT64_MAX, 0x1000, i & 1 ? "/bin/b" : "/bin/c", 8 + 2 * i);
        begin(&writer, 20, 1); /* TEXT_POKE */
        put(&writer, UINT64_MAX - 1, 8);
        put(&writer, 4, 2);
        put(&writer, 4, 2);
        put(&writer, 0, 8);
        end_with_id(&writer, TID_A, 9 + 2 * i, 0);
    }
    put_aux(&writer, 0, trace.size, RAW, 55, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&writer);
    capture = open_it(&writer);
    perf = tw_capture_perf(capture);
    CHECK_EQ(perf->spaces[0].count, 0); /* the kernel's */
    CHECK_EQ(perf->spaces[tw_perf_thread(perf, TID_A, 50)->space].count, 1);
    CHECK_EQ(perf->map_total, 1);
    tw_capture_free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_have_perfs_names),
        cmocka_unit_test(the_id_behind_a_record_is_read_in_every_layout),
        cmocka_unit_test(times_that_are_none_do_not_count),
        cmocka_unit_test(mappings_are_told_as_written),
        cmocka_unit_test(trace_ids_have_seven_bits),
        cmocka_unit_test(memory_ends_where_addresses_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
