/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of raw captures and of writing snapshots. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/capture.h>

#include "base/platform.h"

static char root[64]; /* a folder for all that is written here */

static int setup(void **state)
{
    (void)state;
    (void)strcpy(root, "capture-test-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

/* Removes a folder of plain files and folders of plain files. */
static void clear(const char *folder)
{
    DIR *all = opendir(folder);
    struct dirent *entry;
    char path[2048];

    while (all && (entry = readdir(all))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)remove(path);
    }
    if (all)
        (void)closedir(all);
    (void)rmdir(folder);
}

static int teardown(void **state)
{
    DIR *all = opendir(root);
    struct dirent *entry;
    char path[1024];

    (void)state;
    while (all && (entry = readdir(all)))
        if (entry->d_name[0] != '.') {
            (void)snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
            if (remove(path) != 0)
                clear(path);
        }
    if (all)
        (void)closedir(all);
    return rmdir(root);
}

static const char *in_root(const char *name)
{
    static char path[32][256];
    static unsigned turn;
    char *out = path[turn++ % 32];

    (void)snprintf(out, sizeof path[0], "%s/%s", root, name);
    return out;
}

static unsigned count_files(const char *folder)
{
    DIR *all = opendir(folder);
    unsigned count = 0;

    CHECK(all);
    while (readdir(all))
        count++;
    (void)closedir(all);
    return count - 2;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static struct tw_capture *open_with(const char *path, const struct tw_capture_options *options)
{
    struct tw_capture *capture;
    struct tw_fault fault = { .text = "" };

    if (tw_capture_open(&capture, path, options, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(opens)");
    return capture;
}

static void check_content(const struct tw_capture *capture, size_t buffer, const void *want,
                          size_t want_size)
{
    uint8_t got[256];
    uint64_t at = 0;
    const uint8_t *bytes;
    size_t size;

    for (; tw_capture_read(capture, &bytes, &size, buffer, at) == TW_OK; at += size) {
        CHECK(at + size <= sizeof got);
        memcpy(got + at, bytes, size);
    }
    CHECK_BYTES(got, (size_t)at, want, want_size);
}

static void opens_raw_files(void **state)
{
    const struct tw_capture_source_option source = {
        .protocol = "etmv4", .config = "TRCTRACEIDR=0x12,TRCIDR0=0x28000ea1"
    };
    const struct tw_capture_options options = {
        .size = sizeof options, .sources = &source, .source_count = 1, .core_type = "Cortex-A57"
    };
    const char *path = in_root("raw.bin");
    struct tw_capture *capture;

    (void)state;
    write_file(path, "0123456789", 10);
    capture = open_with(path, NULL);
    CHECK_EQ(tw_capture_kind(capture), TW_CAPTURE_RAW);
    CHECK_TEXT(tw_capture_path(capture), path);
    CHECK_TEXT(tw_capture_buffer(capture, 0)->name, "raw.bin");
    CHECK_EQ(tw_capture_buffer(capture, 0)->framing, TW_FRAMING_NONE);
    CHECK_EQ(tw_capture_source_count(capture), 0);
    check_content(capture, 0, "0123456789", 10);
    tw_capture_free(capture);

    capture = open_with(path, &options);
    CHECK_TEXT(tw_capture_source(capture, 0)->protocol, "etmv4");
    CHECK_TEXT(tw_capture_source(capture, 0)->core_type, "Cortex-A57");
    CHECK_EQ(tw_capture_source(capture, 0)->id, 0x12);
    CHECK_EQ(tw_capture_source(capture, 0)->register_count, 2);
    CHECK_EQ(tw_capture_source(capture, 0)->image, TW_NONE);
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0);
    tw_capture_free(capture);
}

static void several_sources_mean_frames(void **state)
{
    const struct tw_capture_source_option sources[] = {
        { .id = 0x10, .protocol = "etmv4", .config = in_root("etm.ini") },
        { .id = 0x11, .protocol = "stm" },
    };
    struct tw_capture_options options = {
        .size = sizeof options, .sources = sources, .source_count = 2, .no_barrier = true
    };
    const char *path = in_root("several.bin");
    struct tw_capture *capture;

    (void)state;
    write_file(path, "", 0);
    write_file(in_root("etm.ini"), "[device]\ntype=ETM4.1\nname=x\n[regs]\nTRCIDR0(0x78)=7\n",
               50);
    capture = open_with(path, &options);
    CHECK_EQ(tw_capture_buffer(capture, 0)->framing, TW_FRAMING_MEMORY);
    CHECK(tw_capture_no_barrier(capture));
    CHECK_TEXT(tw_capture_source(capture, 0)->type, "ETM4.1");
    CHECK_EQ(tw_capture_source(capture, 0)->registers[0].value, 7);
    CHECK_EQ(tw_capture_source(capture, 0)->id, 0x10);
    CHECK_TEXT(tw_capture_source(capture, 1)->name, "stm-0x11");
    tw_capture_free(capture);

    options.has_framing = true;
    options.framing = TW_FRAMING_TPIU;
    capture = open_with(path, &options);
    CHECK_EQ(tw_capture_buffer(capture, 0)->framing, TW_FRAMING_TPIU);
    tw_capture_free(capture);
}

static void linearises_and_strips(void **state)
{
    static const struct {
        const char *name;
        uint8_t bytes[12];
        size_t size, wrapped_at;
        bool strip;
        uint8_t want[12];
        size_t want_size;
    } cases[] = {
        { "as it is", { 1, 2, 3 }, 3, 0, false, { 1, 2, 3 }, 3 },
        { "wrapped", { 4, 5, 1, 2, 3 }, 5, 2, false, { 1, 2, 3, 4, 5 }, 5 },
        { "wrapped at the end", { 1, 2, 3 }, 3, 3, false, { 1, 2, 3 }, 3 },
        { "stop", { 9, 1, 0, 0 }, 4, 0, true, { 9 }, 1 },
        { "stop without zeros", { 9, 1 }, 2, 0, true, { 9 }, 1 },
        { "no stop", { 9, 2, 0, 0 }, 4, 0, true, { 9, 2, 0, 0 }, 4 },
        { "zeros alone", { 0, 0 }, 2, 0, true, { 0, 0 }, 2 },
        { "wrapped, with stop", { 0, 0, 0, 8, 9, 1 }, 6, 3, true, { 8, 9 }, 2 },
        { "wrapped in the stop", { 0, 7, 8, 9, 1 }, 5, 1, true, { 7, 8, 9 }, 3 },
        { "nothing", { 0 }, 0, 0, true, { 0 }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct tw_capture_options options = { .size = sizeof options,
                                                    .strip_stop = cases[i].strip,
                                                    .has_wrapped = cases[i].wrapped_at != 0,
                                                    .wrapped_at = cases[i].wrapped_at };
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        write_file(in_root("wrap.bin"), cases[i].bytes, cases[i].size);
        capture = open_with(in_root("wrap.bin"), &options);
        check_content(capture, 0, cases[i].want, cases[i].want_size);
        CHECK_EQ(tw_capture_buffer(capture, 0)->size, cases[i].want_size);
        tw_capture_free(capture);
    }
}

static void adds_images_of_every_kind(void **state)
{
    const struct tw_capture_image_option images[] = {
        { .path = in_root("list.txt"), .address = 0x10000 },
        { .path = in_root("list.bin"), .address = 0x40000, .spaces = TW_SPACE_EL2 },
    };
    const struct tw_capture_source_option source = {
        .protocol = "etrace", .config = "layout=v2,link_registers=x1,x5,iaddress_width_p=64"
    };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1,
                                                .images = images,
                                                .image_count = 2 };
    struct tw_capture *capture;
    struct tw_image *image;
    uint8_t bytes[4];

    (void)state;
    write_file(in_root("list.txt"), "# base offset length\n\nxlen 64\nseg 1000 1 4\n", 43);
    write_file(in_root("list.bin"), "abcdefgh", 8);
    capture = open_with(in_root("list.bin"), &options);
    CHECK_EQ(tw_capture_source(capture, 0)->register_count, 1); /* the only number */
    CHECK_TEXT(tw_capture_source(capture, 0)->text,
               "layout=v2\nlink_registers=x1,x5\niaddress_width_p=64");
    image = tw_capture_image(capture, tw_capture_source(capture, 0)->image);
    CHECK_EQ(tw_image_read(image, bytes, &(struct tw_view){ 0 }, 0x11000, 4), 4);
    CHECK_BYTES(bytes, 4, "bcde", 4);
    CHECK_EQ(tw_image_read(image, bytes, &(struct tw_view){ TW_SPACE_EL2, 0, 0 }, 0x40000, 4),
             4);
    CHECK_EQ(tw_image_read(image, bytes, &(struct tw_view){ TW_SPACE_EL3, 0, 0 }, 0x40000, 4),
             0);
    tw_capture_free(capture);
}

static void refuses_bad_raw_captures(void **state)
{
    const struct tw_capture_source_option bad_register = { .protocol = "etmv4",
                                                           .config = "TRCIDR0=x" };
    const struct tw_capture_source_option bad_file = { .protocol = "etmv4", .config = "none" };
    const struct tw_capture_source_option no_protocol = { .id = 1 };
    const struct tw_capture_source_option twice[] = { { .id = 1, .protocol = "a" },
                                                      { .id = 1, .protocol = "b" } };
    const struct tw_capture_image_option no_image = { .path = "none" };
    const struct {
        const char *path;
        struct tw_capture_options options;
        enum tw_status want;
        const char *says;
    } cases[] = {
        { "none", { 0 }, TW_E_FILE, "none" },
        { root, { 0 }, TW_E_FILE, "snapshot.ini" },
        { in_root("perf.data"),
          { 0 },
          TW_E_CONFIG,
          "perf.data" }, /* cut off behind its magic */
        { in_root("x"),
          { .sources = &bad_register, .source_count = 1 },
          TW_E_CONFIG,
          "TRCIDR0=x" },
        { in_root("x"), { .sources = &bad_file, .source_count = 1 }, TW_E_FILE, "none" },
        { in_root("x"),
          { .sources = &no_protocol, .source_count = 1 },
          TW_E_ARGUMENT,
          "protocol" },
        { in_root("x"), { .sources = twice, .source_count = 2 }, TW_E_ARGUMENT, "0x01" },
        { in_root("x"),
          { .images = &no_image, .image_count = 1, .sources = twice, .source_count = 1 },
          TW_E_FILE,
          "none" },
        { in_root("x"), { .has_wrapped = true, .wrapped_at = 4 }, TW_E_ARGUMENT, "wrapped" },
    };

    (void)state;
    write_file(in_root("perf.data"), "PERFILE2........", 16);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tw_capture_options options = cases[i].options;
        struct tw_capture *capture;
        struct tw_fault fault = { .text = "" };

        CHECK_CASE(cases[i].says);
        write_file(in_root("x"), "xxx", 3);
        options.size = sizeof options;
        CHECK_EQ(tw_capture_open(&capture,
                                 strstr(cases[i].path, "/x") ? in_root("x") : cases[i].path,
                                 &options, &fault),
                 cases[i].want);
        CHECK(!capture);
        if (!strstr(fault.text, cases[i].says))
            CHECK_TEXT(fault.text, cases[i].says);
    }
}

/* One core with its trace unit, an STM, two buffers. */
static const struct tw_register core_registers[] = { { "PC", 0xffffffc000081000 },
                                                     { "CPSR", 0x1c5 } };
static const struct tw_register etm_registers[] = {
    { "TRCCONFIGR", 0xc1 },    { "TRCTRACEIDR", 0x10 },   { "TRCAUTHSTATUS", 0xcc },
    { "TRCIDR0", 0x28000ea1 }, { "TRCIDR1", 0x4100f403 }, { "TRCIDR2", 0x488 },
    { "TRCIDR8", 0 },          { "TRCIDR9", 0 },          { "TRCIDR10", 0 },
    { "TRCIDR11", 0 },         { "TRCIDR12", 0 },         { "TRCIDR13", 0 },
};
static const struct tw_register_detail etm_details[] = {
    { 0x4, 32 },  { 0x10, 32 }, { 0x3ee, 32 },   { 0x78, 32 }, { TW_NONE, 32 }, { 0x7a, 64 },
    { 0x60, 32 }, { 0x61, 32 }, { TW_NONE, 64 }, { 0x63, 32 }, { 0x64, 32 },    { 0x65, 32 },
};
static const struct tw_register stm_registers[] = { { "STMTCSR", 0x00a00005 } };
/* Frames of ID 0x10: alignment synchronization, trace info, trace on, then null. */
static const uint8_t frames[32] = { 0x21, 0, 0,    0,    0,    0,    0,    0,    0,   0,
                                    0,    0, 0x80, 0x01, 0x00, 0x80, 0x00, 0x04, 0x01 };
static const char *const first_buffer[] = { "ETB 0" };
static const char *const both_buffers[] = { "ETB_1", "ETB 0" };
static const char *const cluster_devices[] = { "cpu_0" };

static const struct tw_snapshot_dump dumps[] = {
    { .file = "kernel.bin", .bytes = frames, .size = 32, .address = 0xffffffc000081000 },
    { .file = "kernel.bin",
      .bytes = frames,
      .size = 32,
      .address = 0x8000,
      .offset = 4,
      .length = 8,
      .space = "EL2" },
};
static const struct tw_snapshot_device devices[] = {
    { .name = "cpu_0",
      .class_name = "core",
      .type = "Cortex-A53",
      .registers = core_registers,
      .register_count = LENGTH(core_registers),
      .dumps = dumps,
      .dump_count = LENGTH(dumps) },
    { .name = "ETM_0",
      .class_name = "trace_source",
      .type = "ETM4",
      .location = "address:0x22040000",
      .registers = etm_registers,
      .details = etm_details,
      .register_count = LENGTH(etm_registers),
      .core = "cpu_0",
      .buffers = first_buffer,
      .buffer_count = 1 },
    { .name = "STM_0",
      .class_name = "trace_source",
      .type = "STM",
      .registers = stm_registers,
      .register_count = 1,
      .buffers = both_buffers,
      .buffer_count = 2 },
};
static const struct tw_snapshot_buffer buffers[] = {
    { .name = "ETB 0",
      .format = "coresight",
      .file = "cstrace.bin",
      .bytes = frames,
      .size = 32 },
    { .name = "ETB_1", .format = "coresight", .bytes = frames, .size = 16 },
};
static const struct tw_cluster clusters[] = { { "Cluster 0", cluster_devices, 1 } };

static struct tw_snapshot make_snapshot(void)
{
    return (struct tw_snapshot){ .size = sizeof(struct tw_snapshot),
                                 .description = "made by a test",
                                 .devices = devices,
                                 .device_count = LENGTH(devices),
                                 .buffers = buffers,
                                 .buffer_count = LENGTH(buffers),
                                 .clusters = clusters,
                                 .cluster_count = 1 };
}

static void write_snapshot(const char *path, const struct tw_snapshot *snapshot)
{
    struct tw_fault fault = { .text = "" };

    if (tw_snapshot_write(path, snapshot, &fault) != TW_OK)
        CHECK_TEXT(fault.text, "(written)");
}

/* [CSD 4.2.2.3/1] */
static void writes_what_it_reads(void **state)
{
    const struct tw_snapshot snapshot = make_snapshot();
    const char *path = in_root("snapshot");
    struct tw_capture *capture;
    const struct tw_device *etm;

    (void)state;
    write_snapshot(path, &snapshot);
    capture = open_with(path, NULL);
    CHECK_EQ(tw_capture_warning_count(capture), 0);
    CHECK_TEXT(tw_capture_description(capture), "made by a test");
    CHECK_EQ(tw_capture_device_count(capture), 3);
    CHECK_TEXT(tw_capture_device(capture, 0)->cluster, "Cluster 0");
    CHECK_EQ(tw_capture_device(capture, 0)->registers[0].value, core_registers[0].value);
    CHECK_EQ(tw_capture_device(capture, 0)->details[0].bits, 64);
    etm = tw_capture_device(capture, 1);
    CHECK_TEXT(etm->location, "address:0x22040000");
    CHECK_EQ(etm->register_count, LENGTH(etm_registers));
    for (size_t i = 0; i < etm->register_count; i++) {
        CHECK_TEXT(etm->registers[i].name, etm_registers[i].name);
        CHECK_EQ(etm->registers[i].value, etm_registers[i].value);
        CHECK_EQ(etm->details[i].id, etm_details[i].id);
        CHECK_EQ(etm->details[i].bits, etm_details[i].bits);
    }
    CHECK_EQ(tw_capture_device(capture, 0)->dump_count, 2);
    CHECK_EQ(tw_capture_device(capture, 0)->dumps[1].offset, 4);
    CHECK_EQ(tw_capture_device(capture, 0)->dumps[1].length, 8);
    CHECK_EQ(tw_capture_device(capture, 0)->dumps[1].spaces, TW_SPACE_EL2);
    check_content(capture, 0, frames, 32);
    check_content(capture, 1, frames, 16);
    CHECK_EQ(tw_capture_source(capture, 0)->id, 0x10);
    CHECK_TEXT(tw_capture_source(capture, 0)->core, "cpu_0");
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0);
    CHECK_EQ(tw_capture_source_buffer(capture, 1, 0), 1);
    CHECK_EQ(tw_image_region_count(tw_capture_image(capture, 0)), 2);
    tw_capture_free(capture);
}

static void replaces_only_snapshots_and_only_when_told(void **state)
{
    struct tw_snapshot snapshot = make_snapshot();
    const char *path = in_root("twice/");
    unsigned before;

    (void)state;
    write_snapshot(path, &snapshot);
    before = count_files(root);
    CHECK_EQ(tw_snapshot_write(path, &snapshot, NULL), TW_E_FILE);
    snapshot.overwrite = true;
    snapshot.buffer_count = 1;
    snapshot.device_count = 2;
    write_snapshot(path, &snapshot);
    CHECK_EQ(count_files(path), 6); /* snapshot, trace, two devices, dump, buffer */
    CHECK_EQ(mkdir(in_root("other"), 0777), 0);
    write_file(in_root("other/precious"), "x", 1);
    CHECK_EQ(tw_snapshot_write(in_root("other"), &snapshot, NULL), TW_E_FILE);
    CHECK_EQ(count_files(in_root("other")), 1);
    CHECK_EQ(count_files(root), before + 1); /* nothing left lying about */
}

static void writes_nothing_when_something_is_wrong(void **state)
{
    struct tw_snapshot_device device = devices[1];
    struct tw_snapshot_device two[2] = { devices[0], devices[0] };
    struct tw_snapshot_buffer buffer = buffers[0];
    struct tw_snapshot_dump dump = dumps[0];
    struct tw_snapshot snapshot = make_snapshot();
    const unsigned before = count_files(root);
    struct tw_fault fault;

    (void)state;
#define REFUSED(change, undo)                                                                  \
    do {                                                                                       \
        change;                                                                                \
        fault.text[0] = 0;                                                                     \
        CHECK_CASE(#change);                                                                   \
        CHECK(tw_snapshot_write(in_root("never"), &snapshot, &fault) < 0);                     \
        CHECK(fault.text[0] && !strchr(fault.text, '\n'));                                     \
        CHECK_EQ(count_files(root), before);                                                   \
        undo;                                                                                  \
    } while (0)

    snapshot.devices = two;
    snapshot.device_count = 2;
    REFUSED((void)0, (void)0);
    snapshot.devices = &device;
    snapshot.device_count = 1;
    snapshot.cluster_count = 0;
    REFUSED((void)0, device.core = NULL); /* the core is no device */
    REFUSED(device.name = "a\nb", device.name = "ETM_0");
    REFUSED(device.name = "a=b", device.name = "ETM_0");
    REFUSED(device.name = NULL, device.name = "ETM_0");
    REFUSED(device.type = "x ; y", device.type = "ETM4");
    REFUSED(device.buffers = cluster_devices, device.buffers = first_buffer);
    snapshot.buffers = &buffer;
    snapshot.buffer_count = 1;
    REFUSED(buffer.format = "usb", buffer.format = "coresight");
    REFUSED(buffer.file = "../x", buffer.file = "cstrace.bin");
    REFUSED(buffer.file = "trace.ini", buffer.file = "cstrace.bin");
    REFUSED(buffer.file = "device_0.ini", buffer.file = "cstrace.bin");
    REFUSED((buffer.bytes = NULL, buffer.path = "none"),
            (buffer.bytes = frames, buffer.path = NULL));
    device.dumps = &dump;
    device.dump_count = 1;
    REFUSED(dump.length = 33, dump.length = 0);
    REFUSED(dump.offset = 33, dump.offset = 0);
    REFUSED(dump.space = "Q", dump.space = NULL);
    REFUSED((dump.file = "cstrace.bin", dump.size = 31), /* other bytes, same name */
            (dump.file = "kernel.bin", dump.size = 32));
    REFUSED(snapshot.description = "a\nb", snapshot.description = NULL);
#undef REFUSED
    CHECK_EQ(tw_snapshot_write("none/none/none", &snapshot, NULL), TW_E_FILE);
    CHECK_EQ(tw_snapshot_write("", &snapshot, NULL), TW_E_ARGUMENT);
}

static void copies_files_by_path(void **state)
{
    const struct tw_snapshot_buffer buffer = { .name = "B",
                                               .format = "source_data",
                                               .path = in_root("bytes") };
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .buffers = &buffer,
                                          .buffer_count = 1 };
    struct tw_capture *capture;

    (void)state;
    write_file(in_root("bytes"), "trace", 5);
    write_snapshot(in_root("copy"), &snapshot);
    capture = open_with(in_root("copy/snapshot.ini"), NULL);
    CHECK_TEXT(tw_capture_buffer(capture, 0)->files[0], "B.bin");
    check_content(capture, 0, "trace", 5);
    tw_capture_free(capture);
}

/* Debian's reader of snapshots is the judge of what we write. */
static void another_reader_accepts_it(void **state)
{
    const struct tw_snapshot snapshot = make_snapshot();
    char command[512];
    size_t size;
    uint8_t *listing;
    char *text;

    (void)state;
    if (system("command -v trc_pkt_lister >/dev/null 2>&1") != 0) {
        print_message("skipped: no trc_pkt_lister\n");
        skip();
    }
    write_snapshot(in_root("judged"), &snapshot);
    (void)snprintf(
        command, sizeof command,
        "trc_pkt_lister -ss_dir %s -src_name 'ETB 0' -id 0x10 -decode -logfilename %s >%s 2>&1",
        in_root("judged"), in_root("listing"), in_root("output"));
    CHECK_EQ(system(command), 0);
    listing = check_load(&size, in_root("listing"));
    CHECK(listing);
    text = realloc(listing, size + 1);
    CHECK(text);
    text[size] = 0;
    CHECK(strstr(text, "ID:10") && strstr(text, "I_ASYNC") && strstr(text, "I_TRACE_INFO"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_raw_files),
        cmocka_unit_test(several_sources_mean_frames),
        cmocka_unit_test(linearises_and_strips),
        cmocka_unit_test(adds_images_of_every_kind),
        cmocka_unit_test(refuses_bad_raw_captures),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(replaces_only_snapshots_and_only_when_told),
        cmocka_unit_test(writes_nothing_when_something_is_wrong),
        cmocka_unit_test(copies_files_by_path),
        cmocka_unit_test(another_reader_accepts_it),
    };

    return cmocka_run_group_tests_name("raw captures and writing", tests, setup, teardown);
}
