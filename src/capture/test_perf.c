/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: forms, metadata, blocks, threads and mappings in time, damage. */
#include "capture/test_perf.h"

#include "failing.h"

#ifdef TW_WITH_ZSTD
#include <zstd.h>
#endif

static const struct program programs[] = {
    { "root/bin/a", code_a, sizeof code_a },
    { "root/bin/b", code_b, sizeof code_b },
};

static struct disk disk_of(const struct writer *writer)
{
    return (struct disk){ writer, writer->size, programs, LENGTH(programs) };
}

static struct tw_capture *open_good(const struct writer *writer)
{
    const struct disk disk = disk_of(writer);
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;

    if (open_disk(&capture, &disk, NULL, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    CHECK_EQ(tw_capture_kind(capture), TW_CAPTURE_PERF);
    return capture;
}

/* Two threads with other code at the same address, one block of trace. */
static void write_two(struct writer *writer, unsigned version)
{
    struct trace trace = visit(TID_A);

    add_visit(&trace, TID_B, false);
    put_info(writer, version, 2, CONFIG_CID);
    put_comm(writer, TID_A, "alpha", 5);
    put_comm(writer, TID_B, "beta", 6);
    put_map(writer, TID_A, 0x4000, sizeof code_a, "/bin/a", 7);
    put_map(writer, TID_B, 0x4000, sizeof code_b, "/bin/b", 8);
    put_aux(writer, 0, trace.size, RAW, 20, 1);
    put_trace(writer, trace.bytes, trace.size, 0, 1, TW_NONE);
    finish(writer);
}

static void check_two(const struct tw_capture *capture)
{
    static const uint64_t starts[] = { 0x4000, 0x400c, 0x4000, 0x4008 };
    static const uint32_t tids[] = { TID_A, TID_A, TID_B, TID_B };
    struct path path = { .count = 0 };

    CHECK_EQ(tw_capture_buffer_count(capture), 1);
    decode_buffer(&path, capture, 0);
    CHECK_EQ(path.count, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_EQ(path.starts[i], starts[i]);
        CHECK_EQ(path.tids[i], tids[i]);
    }
}

static void reads_both_forms_in_both_byte_orders(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 4; form++)
        for (unsigned version = 0; version < 3; version++) {
            static struct writer writer;
            struct tw_capture *capture;
            const struct tw_perf *perf;

            check_case("form %u, metadata %u", form, version);
            start(&writer, form & 1, form & 2);
            write_two(&writer, version);
            capture = open_good(&writer);
            perf = tw_capture_perf(capture);
            CHECK_EQ(tw_capture_warning_count(capture), 0);
            CHECK_EQ(tw_capture_source_count(capture), 2);
            CHECK_EQ(tw_perf_source_cpu(perf, 1), 1);
            CHECK_EQ(tw_perf_block(perf, 0)->time, 20);
            CHECK_TEXT(tw_perf_thread(perf, TID_B, 20)->comm, "beta");
            CHECK_EQ(tw_perf_record_count(perf, 10), 2);
            check_two(capture);
            tw_capture_free(capture);
        }
}

static void mappings_change_with_time(void **state)
{
    static struct writer writer;
    const struct trace trace = visit(TID_A);
    struct path path = { .count = 0 };
    struct tw_capture *capture;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_comm(&writer, TID_A, "alpha", 5);
    /* Written out of order, as two CPUs' records are: time decides. */
    put_map(&writer, TID_A, 0x4000, sizeof code_b, "/bin/b", 50);
    put_map(&writer, TID_A, 0x4000, sizeof code_a, "/bin/a", 10);
    put_aux(&writer, 0, trace.size, RAW, 40, 0);
    put_aux(&writer, trace.size, trace.size, RAW, 60, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    put_trace(&writer, trace.bytes, trace.size, trace.size, 0, TW_NONE);
    finish(&writer);
    capture = open_good(&writer);
    CHECK_EQ(tw_capture_buffer_count(capture), 2);
    decode_buffer(&path, capture, 0);
    decode_buffer(&path, capture, 1);
    CHECK_EQ(path.count, 4);
    CHECK_EQ(path.starts[1], 0x400c);
    CHECK_EQ(path.starts[3], 0x4008);
    tw_capture_free(capture);
}

static void a_child_has_its_parents_mappings_until_it_makes_its_own(void **state)
{
    static struct writer writer;
    struct trace trace = visit(TID_A);
    const struct tw_perf *perf;
    struct tw_capture *capture;

    (void)state;
    add_visit(&trace, TID_B, false);
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_comm(&writer, TID_A, "alpha", 5);
    put_map(&writer, TID_A, 0x4000, sizeof code_a, "/bin/a", 10);
    begin(&writer, 7, 0);
    put(&writer, TID_B, 4);
    put(&writer, TID_A, 4);
    put(&writer, TID_B, 4);
    put(&writer, TID_A, 4);
    put(&writer, 12, 8);
    end_with_id(&writer, TID_A, 12, 0);
    put_comm(&writer, TID_B, "beta", 20);
    put_map(&writer, TID_B, 0x4000, sizeof code_b, "/bin/b", 21);
    put_aux(&writer, 0, trace.size, RAW, 30, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&writer);
    capture = open_good(&writer);
    perf = tw_capture_perf(capture);
    CHECK_EQ(tw_perf_thread(perf, TID_B, 15)->space, tw_perf_thread(perf, TID_A, 15)->space);
    CHECK_TEXT(tw_perf_thread(perf, TID_B, 15)->comm, "alpha");
    CHECK(tw_perf_thread(perf, TID_B, 30)->space != tw_perf_thread(perf, TID_A, 30)->space);
    check_two(capture);
    tw_capture_free(capture);
}

static void blocks_are_cut_as_the_records_say(void **state)
{
    static const struct {
        const char *name;
        uint64_t aux_offset, aux_size, flags, at, size, blocks, losses;
    } cases[] = {
        { "whole", 0x100, 32, RAW, 0x100, 32, 1, 0 },
        { "inner part", 0x108, 16, RAW, 0x108, 16, 1, 0 },
        { "snapshot: the offset is the end", 0x120, 16, RAW | 2, 0x110, 16, 1, 0 },
        { "snapshot larger than the data", 0x120, 0x10000, RAW | 2, 0x100, 32, 1, 0 },
        { "truncated", 0x100, 32, RAW | 1, 0x100, 32, 1, 1 },
        { "partly there", 0x110, 64, RAW, 0x110, 16, 1, 1 },
        { "not there: the data is a block of its own", 0x1000, 64, RAW, 0x100, 32, 1, 1 },
        { "nothing but flags", 0x100, 0, RAW | 1, 0x100, 32, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct writer writer;
        static const uint8_t zeros[32];
        const struct tw_perf *perf;
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        start(&writer, false, false);
        put_info(&writer, 1, 1, CONFIG_CID);
        put_aux(&writer, cases[i].aux_offset, cases[i].aux_size, cases[i].flags, 9, 0);
        put_trace(&writer, zeros, sizeof zeros, 0x100, 0, TW_NONE);
        finish(&writer);
        capture = open_good(&writer);
        perf = tw_capture_perf(capture);
        CHECK_EQ(tw_capture_buffer_count(capture), cases[i].blocks);
        CHECK_EQ(tw_perf_block(perf, 0)->aux_offset, cases[i].at);
        CHECK_EQ(tw_perf_block(perf, 0)->size, cases[i].size);
        CHECK_EQ(tw_perf_loss_count(perf), cases[i].losses);
        tw_capture_free(capture);
    }
}

static void put_hw_id(struct writer *writer, uint64_t value, uint32_t cpu)
{
    begin(writer, 21, 0);
    put(writer, value, 8);
    end_with_id(writer, 1, 3, cpu);
}

static void hardware_ids_rule_and_sinks_are_apart(void **state)
{
    static struct writer writer;
    static const uint8_t zeros[32];
    struct tw_capture *capture;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 2, 3, CONFIG_CID);
    put_hw_id(&writer, 0x0100001111111120, 0);
    put_hw_id(&writer, 0x0100002222222220, 1);
    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        put_aux(&writer, 0, sizeof zeros, 0, 9, cpu);
        put_trace(&writer, zeros, sizeof zeros, 0, cpu, TW_NONE);
    }
    finish(&writer);
    capture = open_good(&writer);
    CHECK_EQ(tw_capture_source_count(capture), 2); /* CPU 2 sent nothing */
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(tw_capture_source(capture, i)->id, 0x20);
        CHECK(tw_capture_source_is_in(capture, i, 0, i));
        CHECK(!tw_capture_source_is_in(capture, i, 0, 1 - i));
    }
    tw_capture_free(capture);
}

static void per_thread_trace_and_vmids_name_the_thread(void **state)
{
    for (unsigned is_vmid = 0; is_vmid < 2; is_vmid++) {
        static struct writer writer;
        struct trace trace = { .size = 0 };
        struct path path = { .count = 0 };
        struct tw_capture *capture;

        (void)state;
        check_case("VMID %u", is_vmid);
        add(&trace, sync_bytes, sizeof sync_bytes);
        add_visit(&trace, is_vmid ? TID_B : 77, is_vmid);
        start(&writer, false, false);
        put_info(&writer, 1, 1, is_vmid ? CONFIG_VMID : 1);
        put_map(&writer, TID_B, 0x4000, sizeof code_b, "/bin/b", 8);
        put_aux(&writer, 0, trace.size, RAW, 9, is_vmid ? 0 : 5);
        if (is_vmid)
            put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
        else /* the AUX record's own thread is that of the buffer */
            put_trace(&writer, trace.bytes, trace.size, 0, TW_NONE, 1);
        finish(&writer);
        capture = open_good(&writer);
        if (is_vmid) {
            decode_buffer(&path, capture, 0);
            CHECK_EQ(path.count, 2);
            CHECK_EQ(path.tids[0], TID_B);
            CHECK_EQ(path.starts[1], 0x4008);
        } else {
            CHECK_EQ(tw_perf_tid(tw_capture_perf(capture), 0, 0, NULL), 1);
        }
        tw_capture_free(capture);
    }
}

/* A dump with code that is loaded, and moved at a later time. */
static void code_made_at_run_time_is_found_and_moves(void **state)
{
    static struct writer writer, dump;
    const struct program jit[] = { { "jit-100.dump", dump.bytes, ROOM } };
    struct disk disk = { &writer, 0, jit, 1 };
    const struct trace trace = visit(TID_A);
    struct tw_fault fault = { .text = "" };
    struct path path = { .count = 0 };
    struct tw_capture *capture;

    (void)state;
    memset(&dump, 0, sizeof dump);
    put(&dump, 0x4a695444, 4);
    put(&dump, 1, 4);
    put(&dump, 40, 4);
    while (dump.size < 40)
        put(&dump, 0, 4);
    put(&dump, 0, 4); /* load */
    put(&dump, 16 + 40 + 2 + sizeof code_a, 4);
    put(&dump, 10, 8);
    put(&dump, TID_A, 4);
    put(&dump, TID_A, 4);
    put(&dump, 0x9000, 8);
    put(&dump, 0x9000, 8);
    put(&dump, sizeof code_a, 8);
    put(&dump, 7, 8);
    put_bytes(&dump, "f", 2);
    put_bytes(&dump, code_a, sizeof code_a);
    put(&dump, 1, 4); /* move */
    put(&dump, 16 + 48, 4);
    put(&dump, 20, 8);
    put(&dump, TID_A, 4);
    put(&dump, TID_A, 4);
    put(&dump, 0x4000, 8);
    put(&dump, 0x9000, 8);
    put(&dump, 0x4000, 8);
    put(&dump, sizeof code_a, 8);
    put(&dump, 7, 8);
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_map(&writer, TID_A, 0x700000, 0x1000, "/tmp/jit-100.dump", 5);
    put_aux(&writer, 0, trace.size, RAW, 40, 0);
    put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
    finish(&writer);
    disk.perf_size = writer.size;
    /* It lies beside the recording: its path is in no sysroot. */
    CHECK_EQ(open_disk(&capture, &disk, NULL, &fault), TW_OK);
    CHECK_EQ(tw_capture_buffer_count(capture), 1);
    decode_buffer(&path, capture, 0);
    CHECK_EQ(path.count, 2);
    CHECK_EQ(path.starts[1], 0x400c);
    tw_capture_free(capture);
}

static void compressed_records_are_as_good(void **state)
{
    (void)state;
#ifdef TW_WITH_ZSTD
    for (unsigned form = 0; form < 2; form++) {
        static struct writer writer, inner;
        static uint8_t packed[ROOM];
        struct trace trace = visit(TID_A);
        struct tw_capture *capture;
        size_t size;

        check_case("form %u", form);
        add_visit(&trace, TID_B, false);
        memset(&inner, 0, sizeof inner);
        put_comm(&inner, TID_A, "alpha", 5);
        put_map(&inner, TID_A, 0x4000, sizeof code_a, "/bin/a", 7);
        put_map(&inner, TID_B, 0x4000, sizeof code_b, "/bin/b", 8);
        put_aux(&inner, 0, trace.size, RAW, 20, 1);
        size = ZSTD_compress(packed, sizeof packed, inner.bytes, inner.size, 1);
        CHECK(!ZSTD_isError(size));
        start(&writer, false, false);
        put_info(&writer, 1, 2, CONFIG_CID);
        begin(&writer, form ? 83 : 81, 0);
        if (form)
            put(&writer, size, 8);
        put_bytes(&writer, packed, size);
        while (form && (writer.size - writer.record) % 8)
            put(&writer, 0, 1);
        end(&writer);
        put_trace(&writer, trace.bytes, trace.size, 0, 1, TW_NONE);
        finish(&writer);
        capture = open_good(&writer);
        check_two(capture);
        tw_capture_free(capture);
    }
#else
    skip();
#endif
}

static void lies_are_refused_by_offset(void **state)
{
    static const struct {
        const char *name;
        uint16_t at; /* from the start of the AUXTRACE_INFO record */
        uint64_t value;
        const char *text;
    } cases[] = {
        { "version", 16, 3, "record at offset 0xf0 is of version 3" },
        { "a milliard of CPUs", 24, 1000000000,
          "record at offset 0xf0 claims 1000000000 CPUs" },
        { "magic", 40, 0x1234, "record at offset 0xf0: CPU block 0 is not understood" },
        { "words", 56, UINT64_MAX, "record at offset 0xf0: CPU block 0 has" },
        { "kind of trace", 8, 1, "holds no trace that is known" },
        { "size", 0, 0x0004000000000046, "record at offset 0xf0 has 4 bytes" },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct writer writer;
        struct disk disk;
        struct tw_fault fault = { .text = "" };
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        start(&writer, false, false);
        write_two(&writer, 1);
        put_at(&writer, 0xf0 + cases[i].at, cases[i].value, 8);
        disk = disk_of(&writer);
        CHECK(open_disk(&capture, &disk, NULL, &fault) < 0);
        CHECK(capture == NULL);
        if (!strstr(fault.text, cases[i].text))
            CHECK_TEXT(fault.text, cases[i].text);
    }
}

/* Whatever it says, it says so and ends. */
static void try_damaged(const struct writer *writer, size_t size)
{
    struct disk disk = disk_of(writer);
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;

    disk.perf_size = size;
    if (open_disk(&capture, &disk, NULL, &fault) != TW_OK)
        CHECK(fault.text[0] != 0);
    tw_capture_free(capture);
}

static void any_cut_and_any_damage_ends_well(void **state)
{
    static struct writer writer, damaged;
    struct check_random random = check_random_start(11);

    (void)state;
    start(&writer, false, false);
    write_two(&writer, 1);
    for (size_t cut = 8; cut < writer.size; cut++) {
        check_case("cut at %zu", cut);
        try_damaged(&writer, cut);
    }
    for (size_t i = 0; i < check_scale(20000); i++) {
        damaged = writer;
        for (uint64_t n = check_random_below(&random, 4); n < 4; n++)
            damaged.bytes[8 + check_random_below(&random, writer.size - 8)] =
                (uint8_t)check_random_next(&random);
        check_case("damage %zu", i);
        try_damaged(&damaged, writer.size);
    }
}

static void every_allocation_may_fail(void **state)
{
    static struct writer writer;
    struct disk disk;

    (void)state;
    start(&writer, false, false);
    write_two(&writer, 1);
    disk = disk_of(&writer);
    for (size_t left = 0;; left++) {
        struct failing failing = { .left = left };
        const struct tw_allocator allocator = { failing_resize, &failing };
        struct tw_fault fault = { .text = "" };
        struct tw_capture *capture;
        const enum tw_status status = open_disk(&capture, &disk, &allocator, &fault);

        check_case("%zu allocations", left);
        CHECK(status == TW_OK || status == TW_E_MEMORY);
        tw_capture_free(capture);
        CHECK_EQ(failing.live, 0);
        if (status == TW_OK)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_forms_in_both_byte_orders),
        cmocka_unit_test(mappings_change_with_time),
        cmocka_unit_test(a_child_has_its_parents_mappings_until_it_makes_its_own),
        cmocka_unit_test(blocks_are_cut_as_the_records_say),
        cmocka_unit_test(hardware_ids_rule_and_sinks_are_apart),
        cmocka_unit_test(per_thread_trace_and_vmids_name_the_thread),
        cmocka_unit_test(code_made_at_run_time_is_found_and_moves),
        cmocka_unit_test(compressed_records_are_as_good),
        cmocka_unit_test(lies_are_refused_by_offset),
        cmocka_unit_test(any_cut_and_any_damage_ends_well),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
