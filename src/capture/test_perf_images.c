/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: where code is found, who it belongs to, and what else the records tell. */
#include "capture/test_perf.h"

static const uint64_t module_at = 0xffff800001000000;

/* A 64-bit ELF file of AArch64 with one segment, and a build ID if one is given. */
static void put_elf(struct writer *elf, unsigned type, uint64_t address, const void *code,
                    size_t size, const uint8_t *build_id)
{
    memset(elf, 0, sizeof *elf);
    put_bytes(elf, "\177ELF\2\1\1\0\0\0\0\0\0\0\0", 16);
    put(elf, type, 2);
    put(elf, 183, 2);
    put(elf, 1, 4);
    put(elf, 0, 8);
    put(elf, 64, 8);
    put(elf, 0, 8);
    put(elf, 0, 4);
    put(elf, 64, 2);
    put(elf, 56, 2);
    put(elf, build_id ? 2 : 1, 2);
    put(elf, 0, 6);
    put(elf, 1, 4); /* what is loaded */
    put(elf, 5, 4);
    put(elf, 0x100, 8);
    put(elf, address, 8);
    put(elf, address, 8);
    put(elf, size, 8);
    put(elf, size, 8);
    put(elf, 0x1000, 8);
    if (build_id) {
        put(elf, 4, 4); /* a note */
        put(elf, 4, 4);
        put(elf, 0xc0, 8);
        put(elf, 0xc0, 8);
        put(elf, 0xc0, 8);
        put(elf, 12 + 4 + 20, 8);
        put(elf, 12 + 4 + 20, 8);
        put(elf, 4, 8);
    }
    while (elf->size < 0xc0)
        put(elf, 0, 1);
    if (build_id) {
        put(elf, 4, 4);
        put(elf, 20, 4);
        put(elf, 3, 4);
        put_bytes(elf, "GNU", 4);
        put_bytes(elf, build_id, 20);
    }
    while (elf->size < 0x100)
        put(elf, 0, 1);
    put_bytes(elf, code, size);
}

/* A feature as a pipe has it. */
static void put_feature(struct writer *writer, unsigned number, const void *bytes, size_t size)
{
    begin(writer, 80, 0);
    put(writer, number, 8);
    put_bytes(writer, bytes, size);
    while ((writer->size - writer->record) % 8)
        put(writer, 0, 1);
    end(writer);
}

static struct tw_capture *open_here(const struct disk *disk,
                                    const struct tw_capture_options *options)
{
    struct tw_fault fault = { .text = "" };
    struct tw_capture *capture;

    if (open_with(&capture, disk, options, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

static void check_visit(const struct tw_capture *capture, uint32_t buffer, uint64_t address,
                        uint32_t tid)
{
    struct path path = { .count = 0 };

    decode_buffer(&path, capture, buffer);
    CHECK_EQ(path.count, 2);
    CHECK_EQ(path.starts[0], address);
    CHECK_EQ(path.starts[1], address + 12);
    CHECK_EQ(path.tids[0], tid);
}

/* perf record --threads: each thread of the recorder has a file of its own. */
static void a_folder_holds_several_files(void **state)
{
    static struct writer writer, parts[2];
    const struct program files[] = { { "root/bin/a", code_a, sizeof code_a },
                                     { "in/data.0", parts[0].bytes, 0 },
                                     { "in/data.1", parts[1].bytes, 0 } };
    struct program served[3];
    const struct disk disk = { &writer, 0, served, 3 };
    struct disk all = disk;
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = "root" };
    const struct tw_perf *perf;
    struct tw_capture *capture;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 2, CONFIG_CID);
    put_comm(&writer, TID_A, "alpha", 5);
    put_map(&writer, TID_A, 0x4000, sizeof code_a, "/bin/a", 7);
    finish(&writer);
    for (uint32_t cpu = 0; cpu < 2; cpu++) {
        const struct trace trace = visit(TID_A);

        memset(&parts[cpu], 0, sizeof parts[cpu]);
        put_aux(&parts[cpu], 0, trace.size, RAW, 20, cpu);
        put_trace(&parts[cpu], trace.bytes, trace.size, 0, cpu, TW_NONE);
    }
    memcpy(served, files, sizeof served);
    served[1].size = parts[0].size;
    served[2].size = parts[1].size;
    all.perf_size = writer.size;
    capture = open_here(&all, &options);
    perf = tw_capture_perf(capture);
    CHECK_EQ(tw_capture_buffer_count(capture), 2);
    CHECK_TEXT(tw_capture_buffer(capture, 1)->files[0], "in/data.1");
    /* Offsets count through all files. */
    CHECK(tw_perf_block(perf, 1)->offset > writer.size + parts[0].size);
    for (uint32_t i = 0; i < 2; i++)
        check_visit(capture, i, 0x4000, TID_A);
    {
        /* What lies in no file was linked nowhere. */
        const struct tw_perf_map nowhere = { .address = 0x4000, .file = TW_NONE };
        uint64_t link = 0;

        CHECK(!tw_perf_link(perf, &link, &nowhere, 0x4000));
    }
    tw_capture_free(capture);
}

static void put_kernel_map(struct writer *writer, uint64_t address, uint64_t size,
                           const char *name)
{
    begin(writer, 1, 1);
    put(writer, TW_NONE, 4);
    put(writer, 0, 4);
    put(writer, address, 8);
    put(writer, size, 8);
    put(writer, 0, 8);
    put_text(writer, name);
    end_with_id(writer, 0, 0, 0);
}

/* EL1, thread TID_A */
static const uint8_t kernel_context[] = { 0x81, 0xb1, TID_A, 0, 0, 0 };

/* Trace of CPU 0 at an address of the kernel. */
static void put_kernel_trace(struct writer *writer, uint64_t address)
{
    struct trace trace = { .size = 0 };

    add(&trace, sync_bytes, sizeof sync_bytes);
    add(&trace, kernel_context, sizeof kernel_context);
    add_branches(&trace, address);
    put_aux(writer, 0, trace.size, RAW, 20, 0);
    put_trace(writer, trace.bytes, trace.size, 0, 0, TW_NONE);
}

static void code_of_the_kernel_and_its_modules_is_found(void **state)
{
    static const char release[] = "\x08\0\0\0005.10\0\0\0";
    static const char list[] =
        "kernel/fs/other.ko:\nkernel/fs/my-mod.ko.xz: kernel/fs/other.ko\n";
    static struct writer core, vmlinux;
    const struct program files[] = {
        { "in/kcore_dir/kcore", core.bytes, ROOM },
        { "root/lib/modules/5.10/modules.dep", list, sizeof list - 1 },
        { "root/lib/modules/5.10/kernel/fs/my-mod.ko", code_a, sizeof code_a },
        { "some/vmlinux", vmlinux.bytes, ROOM },
    };
    static const struct {
        const char *name, *module, *kernel, *found;
        uint64_t at;
        unsigned first, count; /* files */
    } cases[] = {
        { "module in kcore", "[my_mod]", NULL, "in/kcore_dir/kcore", 0xffff800001000000, 0, 1 },
        { "by the list of modules", "[my_mod]", NULL,
          "root/lib/modules/5.10/kernel/fs/my-mod.ko", 0xffff800001000000, 1, 2 },
        { "by its path", "/lib/modules/5.10/kernel/fs/my-mod.ko.xz", NULL,
          "root/lib/modules/5.10/kernel/fs/my-mod.ko", 0xffff800001000000, 1, 2 },
        { "kernel that was moved", "[my_mod]", "some/vmlinux", NULL, 0xffff800000080000, 3, 1 },
    };

    (void)state;
    put_elf(&core, 4, module_at, code_a, sizeof code_a, NULL);
    put_elf(&vmlinux, 2, 0xffff000000080000, code_a, sizeof code_a, NULL);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct writer writer;
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .sysroot = "root",
                                                    .kernel = cases[i].kernel };
        struct disk disk = { &writer, 0, files + cases[i].first, cases[i].count };
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        start(&writer, false, true);
        put_feature(&writer, 4, release, sizeof release - 1);
        put_info(&writer, 1, 1, CONFIG_CID);
        put_kernel_map(&writer, 0xffff800000080000, 0x1000, "[kernel.kallsyms]_text");
        put_kernel_map(&writer, module_at, 0x1000, cases[i].module);
        put_kernel_trace(&writer, cases[i].at);
        disk.perf_size = writer.size;
        capture = open_here(&disk, &options);
        check_visit(capture, 0, cases[i].at, TID_A);
        if (cases[i].found)
            CHECK_TEXT(tw_perf_file(tw_capture_perf(capture), 1)->path, cases[i].found);
        tw_capture_free(capture);
    }
}

/* The file knows neither what a poke wrote nor what was there before it. */
static void pokes_change_the_kernel_in_time(void **state)
{
    static const uint8_t linked[] = { CODE(0u), CODE(0u), CODE(0xd503201f), CODE(0x17fffffd) };
    static const uint32_t pokes[2][2] = { { 0xd503201f, 0xd503201f },
                                          { 0xb4000040, 0xd503201f } };
    static const uint64_t at = 0xffff800000080000;
    static struct writer writer, vmlinux;
    const struct program files[] = { { "some/vmlinux", vmlinux.bytes, ROOM } };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sysroot = "root",
                                                .kernel = "some/vmlinux" };
    struct disk disk = { &writer, 0, files, 1 };
    struct path path = { .count = 0 };
    struct trace trace = { .size = 0 };
    struct tw_capture *capture;

    (void)state;
    put_elf(&vmlinux, 2, at, linked, sizeof linked, NULL);
    add(&trace, sync_bytes, sizeof sync_bytes);
    add(&trace, kernel_context, sizeof kernel_context);
    add_branches(&trace, at);
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_kernel_map(&writer, at, 0x1000, "[kernel.kallsyms]_text");
    for (unsigned i = 0; i < 2; i++) {
        begin(&writer, 20, 0);
        put(&writer, at + 4 * (uint64_t)i, 8);
        put(&writer, 4, 2);
        put(&writer, 4, 2);
        put(&writer, pokes[i][0], 4);
        put(&writer, pokes[i][1], 4);
        put(&writer, 0, 4); /* up to a multiple of 8 */
        end_with_id(&writer, 0, 30, 0);
    }
    for (unsigned i = 0; i < 2; i++)
        put_aux(&writer, i * trace.size, trace.size, RAW, i ? 40 : 20, 0);
    for (unsigned i = 0; i < 2; i++)
        put_trace(&writer, trace.bytes, trace.size, i * trace.size, 0, TW_NONE);
    finish(&writer);
    disk.perf_size = writer.size;
    capture = open_here(&disk, &options);
    decode_buffer(&path, capture, 0);
    decode_buffer(&path, capture, 1);
    CHECK_EQ(path.count, 4);
    CHECK_EQ(path.starts[1], at + 12); /* by the branch that is not there any more */
    CHECK_EQ(path.starts[3], at);
    tw_capture_free(capture);
}

static void code_that_the_kernel_made_has_a_name(void **state)
{
    static struct writer writer;
    struct disk disk = { &writer, 0, NULL, 0 };
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = "root" };
    const struct tw_perf_map *map;
    const struct tw_perf *perf;
    struct tw_capture *capture;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    begin(&writer, 17, 0);
    put(&writer, module_at, 8);
    put(&writer, 0x80, 4);
    put(&writer, 1, 2);
    put(&writer, 0, 2);
    put_text(&writer, "bpf_prog_1234_f");
    end_with_id(&writer, 0, 3, 0);
    begin(&writer, 2, 0); /* LOST */
    put(&writer, 1, 8);
    put(&writer, 7, 8);
    end_with_id(&writer, 0, 4, 0);
    begin(&writer, 72, 0); /* AUXTRACE_ERROR */
    put(&writer, 1, 4);
    put(&writer, 2, 4);
    put(&writer, 3, 4);
    put(&writer, TID_A, 4);
    put(&writer, TID_A, 4);
    put(&writer, 1, 4);
    put(&writer, 0x1234, 8);
    put(&writer, 99, 8);
    put_text(&writer, "no such luck");
    end(&writer);
    finish(&writer);
    disk.perf_size = writer.size;
    capture = open_here(&disk, &options);
    perf = tw_capture_perf(capture);
    map = tw_perf_map(perf, 0, module_at + 8, 10);
    CHECK(map != NULL);
    CHECK_TEXT(tw_perf_file(perf, map->file)->name, "bpf_prog_1234_f");
    CHECK_EQ(tw_perf_file(perf, map->file)->state, TW_PERF_FILE_MISSING);
    CHECK_EQ(tw_capture_warning_count(capture), 2);
    CHECK(strstr(tw_capture_warning(capture, 0), "no such luck") != NULL);
    CHECK(strstr(tw_capture_warning(capture, 1), "dropped 7 records") != NULL);
    tw_capture_free(capture);
}

static void put_map_with_id(struct writer *writer, uint64_t address, const char *name,
                            const uint8_t *id)
{
    const size_t at = writer->size;

    put_map(writer, TID_A, address, 0x1000, name, 7);
    put_at(writer, at + 4, 2 | 1 << 14, 2);
    put_at(writer, at + 32, 0x100, 8); /* offset in the file */
    put_at(writer, at + 40, 20, 4);
    memcpy(writer->bytes + at + 44, id, 20);
}

static void the_build_id_decides(void **state)
{
    static const uint8_t mine[20] = { 0xab, 0xcd, 1 }, other[20] = { 0xab, 0xcd, 2 };
    static struct writer right, wrong, writer;
    const char *const cached = "cache/.build-id/ab/cd010000000000000000000000000000000000/elf";
    const char *const vdso = "cache/.build-id/ab/cd010000000000000000000000000000000000/vdso";
    const struct program files[] = { { "root/bin/a", wrong.bytes, ROOM },
                                     { cached, right.bytes, ROOM },
                                     { "root/bin/a", wrong.bytes, ROOM },
                                     { vdso, right.bytes, ROOM },
                                     { "root/bin/a", right.bytes, ROOM } };
    static const struct {
        const char *name, *file;
        unsigned first, count;
        bool is_found, has_warning;
    } cases[] = {
        { "another build", "/bin/a", 0, 1, false, true },
        { "in the cache", "/bin/a", 0, 2, true, false },
        { "vdso in the cache", "[vdso]", 2, 2, true, false },
        { "in its place", "/bin/a", 4, 1, true, false },
    };

    (void)state;
    put_elf(&right, 3, 0, code_a, sizeof code_a, mine);
    put_elf(&wrong, 3, 0, code_b, sizeof code_b, other);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .sysroot = "root",
                                                    .build_ids = "cache" };
        struct disk disk = { &writer, 0, files + cases[i].first, cases[i].count };
        const struct trace trace = visit(TID_A);
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        start(&writer, false, false);
        put_info(&writer, 1, 1, CONFIG_CID);
        put_comm(&writer, TID_A, "alpha", 5);
        put_map_with_id(&writer, 0x4000, cases[i].file, mine);
        put_aux(&writer, 0, trace.size, RAW, 20, 0);
        put_trace(&writer, trace.bytes, trace.size, 0, 0, TW_NONE);
        finish(&writer);
        disk.perf_size = writer.size;
        capture = open_here(&disk, &options);
        CHECK_EQ(tw_capture_warning_count(capture), cases[i].has_warning);
        CHECK_EQ(tw_perf_file(tw_capture_perf(capture), 0)->state,
                 cases[i].is_found ? TW_PERF_FILE_FOUND : TW_PERF_FILE_WRONG);
        if (cases[i].is_found)
            check_visit(capture, 0, 0x4000, TID_A);
        tw_capture_free(capture);
    }
}

static void put_fork(struct writer *writer, uint32_t pid, uint32_t tid, uint32_t ppid,
                     uint64_t time)
{
    begin(writer, 7, 0);
    put(writer, pid, 4);
    put(writer, ppid, 4);
    put(writer, tid, 4);
    put(writer, ppid, 4);
    put(writer, time, 8);
    end_with_id(writer, ppid, time, 0);
}

/* A thread goes where its process goes, also after the process has forked. */
static void threads_stay_with_their_process(void **state)
{
    enum { THREAD = 101 };
    static struct writer writer;
    const struct program files[] = { { "root/bin/a", code_a, sizeof code_a },
                                     { "root/bin/b", code_b, sizeof code_b } };
    struct disk disk = { &writer, 0, files, 2 };
    const struct tw_capture_options options = { .size = sizeof options, .sysroot = "root" };
    const struct tw_perf_thread *thread, *child;
    const struct tw_perf *perf;
    struct tw_capture *capture;

    (void)state;
    start(&writer, false, false);
    put_info(&writer, 1, 1, CONFIG_CID);
    put_comm(&writer, TID_A, "alpha", 5);
    put_map(&writer, TID_A, 0x4000, 0x1000, "/bin/a", 6);
    put_fork(&writer, TID_A, THREAD, TID_A, 7); /* a thread */
    put_fork(&writer, TID_B, TID_B, TID_A, 8);  /* a process */
    put_map(&writer, TID_A, 0x8000, 0x1000, "/bin/b", 9);
    put_comm(&writer, TID_B, "beta", 10); /* by exec */
    put_map(&writer, TID_B, 0x4000, 0x1000, "/bin/b", 11);
    finish(&writer);
    disk.perf_size = writer.size;
    capture = open_here(&disk, &options);
    perf = tw_capture_perf(capture);
    thread = tw_perf_thread(perf, THREAD, 20);
    child = tw_perf_thread(perf, TID_B, 20);
    CHECK_EQ(thread->pid, TID_A);
    CHECK_EQ(thread->space, tw_perf_thread(perf, TID_A, 20)->space);
    CHECK(child->space != thread->space);
    CHECK_TEXT(tw_perf_file(perf, tw_perf_map(perf, thread->space, 0x8000, 20)->file)->name,
               "/bin/b");
    CHECK_TEXT(tw_perf_file(perf, tw_perf_map(perf, thread->space, 0x4000, 20)->file)->name,
               "/bin/a");
    CHECK_TEXT(tw_perf_file(perf, tw_perf_map(perf, child->space, 0x4000, 20)->file)->name,
               "/bin/b");
    CHECK(tw_perf_map(perf, child->space, 0x8000, 20) == NULL);
    tw_capture_free(capture);
}

static void features_are_told(void **state)
{
    static const struct {
        const char *name;
        unsigned number;
        const char *bytes;
        size_t size;
        const char *text;
    } cases[] = {
        /* clang-format off */
        { "hostname", 3, "\x04\0\0\0box\0", 8, "box" },
        { "cpus", 7, "\x06\0\0\0\x04\0\0\0", 8, "4 online of 6" },
        { "memory", 10, "\x00\x10\0\0\0\0\0\0", 8, "4096 KiB" },
        { "clock_resolution", 23, "\x04\0\0\0\0\0\0\0", 8, "4 ns" },
        { "topology", 13, "\x01\0\0\0\x04\0\0\0000-3\0", 12, "cores 0-3" },
        { "topology", 13, "\x02\0\0\0\x04\0\0\0000-3\0\x40\0\0\0", 16, "cores 0-3" },
        { "cmdline", 11, "\x02\0\0\0\x04\0\0\0perf\0\0\0\0\x04\0\0\0-a\0\0", 24, "" },
        { "cmdline", 11, "\x02\0\0\0\x08\0\0\0perf\0\0\0\0\x04\0\0\0-a\0\0", 24, "perf -a" },
        { "topology", 13, "\x01\0\0\0\x04\0\0\0000-3\0\x02\0\0\0\x04\0\0\0000\0\0\0\x04\0\0\0001\0\0\0", 33,
          "cores 0-3, threads 0, threads 1" },
        { "pmus", 16, "\x01\0\0\0\x08\0\0\0\x08\0\0\0cs_etm\0\0", 20, "cs_etm=8" },
        { "sample_time", 21, "\x05\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0", 16, "5 to 9 ns" },
        { "meta", 129, "a\0b\0c\0d\0", 8, "a=b c=d" },
        /* clang-format on */
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        static struct writer writer;
        struct disk disk = { &writer, 0, NULL, 0 };
        const struct tw_capture_options options = { .size = sizeof options, .sysroot = "root" };
        struct tw_capture *capture;
        const char *text;

        CHECK_CASE(cases[i].name);
        start(&writer, false, true);
        put_feature(&writer, cases[i].number, cases[i].bytes, cases[i].size);
        put_info(&writer, 1, 1, CONFIG_CID);
        disk.perf_size = writer.size;
        capture = open_here(&disk, &options);
        text = tw_perf_feature(tw_capture_perf(capture), cases[i].name);
        CHECK_TEXT(text ? text : "(none)", cases[i].text);
        tw_capture_free(capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_holds_several_files),
        cmocka_unit_test(code_of_the_kernel_and_its_modules_is_found),
        cmocka_unit_test(pokes_change_the_kernel_in_time),
        cmocka_unit_test(code_that_the_kernel_made_has_a_name),
        cmocka_unit_test(the_build_id_decides),
        cmocka_unit_test(threads_stay_with_their_process),
        cmocka_unit_test(features_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
