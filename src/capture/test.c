/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of reading captures: snapshots from memory, raw files, the corpus. */
#include "check.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/test.h"

static void check_buffer(const struct tw_capture *capture, size_t buffer, const char *want)
{
    uint8_t got[256];
    uint64_t offset = 0;
    const uint8_t *bytes;
    size_t size;

    while (tw_capture_read(capture, &bytes, &size, buffer, offset) == TW_OK) {
        CHECK(size && offset + size <= sizeof got);
        memcpy(got + offset, bytes, size);
        offset += size;
    }
    CHECK_EQ(tw_capture_read(capture, &bytes, &size, buffer, offset), TW_END);
    CHECK_EQ(tw_capture_buffer(capture, buffer)->size, offset);
    CHECK_BYTES(got, (size_t)offset, want, strlen(want));
}

/* [CSD 4.2] [CSD 4.2.1/2] [CSD 4.2.1.1/2] [CSD 4.2.1.2] [CSD 4.2.2.1/4] [CSD 4.2.2.1/5]
   [CSD 4.2.2.2/1] [CSD 4.2.2.2/2] [CSD 4.2.3.3] [CSD 4.3] [CSD 4.3.6] [CSD 4.3.8] */
static void reads_a_small_snapshot(void **state)
{
    struct tw_capture *capture = open_good((struct file[4]){ { 0 } });
    const struct tw_device *device = tw_capture_device(capture, 1);
    const struct tw_source *source = tw_capture_source(capture, 0);
    const struct tw_view view = { TW_SPACE_EL1N, 0, 0 };
    uint8_t byte;

    (void)state;
    CHECK_EQ(tw_capture_kind(capture), TW_CAPTURE_SNAPSHOT);
    CHECK_EQ(tw_capture_warning_count(capture), 0);
    CHECK_EQ(tw_capture_device_count(capture), 2);
    CHECK_TEXT(device->name, "ETM_0");
    CHECK_TEXT(device->class_name, "trace_source");
    CHECK_TEXT(device->location, "address:0x100");
    CHECK_EQ(device->register_count, 2);
    CHECK_TEXT(device->registers[1].name, "TRCIDR0");
    CHECK_EQ(device->registers[1].value, 0x28000ea1);
    CHECK_EQ(device->details[1].id, 0x78);
    CHECK_EQ(device->details[0].id, 4);
    CHECK_EQ(device->details[0].bits, 32);
    CHECK_EQ(tw_capture_buffer_count(capture), 1);
    CHECK_EQ(tw_capture_buffer(capture, 0)->framing, TW_FRAMING_MEMORY);
    CHECK_EQ(tw_capture_buffer_by_name(capture, "ETB_0"), 0);
    CHECK_EQ(tw_capture_buffer_by_name(capture, "ETB_1"), TW_NONE);
    check_buffer(capture, 0, "abcdef");
    CHECK_EQ(tw_capture_source_count(capture), 1);
    CHECK_TEXT(source->protocol, "etmv4");
    CHECK(source->has_id);
    CHECK_EQ(source->id, 0x10);
    CHECK_TEXT(source->core, "cpu_0");
    CHECK_TEXT(source->core_type, "Cortex-A53");
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0);
    CHECK_EQ(tw_image_read(tw_capture_image(capture, source->image), &byte, &view, 0x1003, 1),
             1);
    CHECK_EQ(byte, '3');
    CHECK(!tw_capture_device(capture, 2) && !tw_capture_source(capture, 1));
    CHECK(!tw_capture_buffer(capture, 1) && !tw_capture_image(capture, 1));
    tw_capture_free(capture);
    tw_capture_free(NULL);
}

/* [CSD 4.2.2.3/3] [CSD 4.2.2.3/4] */
static void a_short_dump_gives_what_it_has(void **state)
{
    struct tw_capture *capture =
        open_good((struct file[4]){ { "cpu.ini", CORE "length=0x20\noffset=4\n" } });
    const struct tw_dump *dump = &tw_capture_device(capture, 0)->dumps[0];
    const struct tw_view view = { TW_SPACE_EL1N, 0, 0 };
    uint8_t bytes[16];

    (void)state;
    CHECK_EQ(dump->state, TW_DUMP_SHORT);
    CHECK_EQ(dump->length, 6);
    CHECK_EQ(dump->claimed, 0x20);
    CHECK_EQ(tw_image_read(tw_capture_image(capture, 0), bytes, &view, 0x1000, 16), 6);
    CHECK_BYTES(bytes, 6, "456789", 6);
    tw_capture_free(capture);
}

static void allows_outside_when_told(void **state)
{
    const struct file changes[4] = {
        { "cpu.ini", "[device]\nname=c\n[dump]\nfile=../x.bin\naddress=0\n" },
        { "../x.bin", "xyz" },
    };
    const struct tw_capture_options options = { .size = sizeof options, .allow_outside = true };
    struct tw_capture *capture;

    (void)state;
    CHECK_EQ(open_changed(&capture, changes, NULL, NULL), TW_E_CONFIG);
    CHECK_EQ(open_changed(&capture, changes, &options, NULL), TW_OK);
    CHECK_EQ(tw_capture_device(capture, 0)->dumps[0].length, 3);
    tw_capture_free(capture);
}

/* [CSD 4.2.1.1/2] [CSD 4.2.1.3/1] [CSD 4.2.2.1/6] [CSD 4.2.2.2/1] [CSD 4.2.2.2/2]
   [CSD 4.2.3.2/2] [CSD 4.2.3.2/3] [CSD 4.2.3.4/3] [CSD 4.2.3.5]
   As found in the wild: CRLF, comments, quotes, spaces for underscores, other case. */
static void takes_files_as_people_write_them(void **state)
{
    struct tw_capture *capture = open_good((struct file[4]){
        { "snapshot.ini",
          "\xef\xbb\xbf; made by hand\r\n\r\n[snapshot]\r\n version = 1.0 \r\n"
          "description=a = b\r\n[device list]\r\nx = cpu.ini ; the core\r\ny=.\\etm.ini\r\n"
          "[clusters]\r\nCluster 0=cpu_0, cpu_9,\r\n[other]\r\nno key here\r\n"
          "[TRACE]\r\nmetadata=\"trace.ini\"\r\n" },
        { "./etm.ini",
          "[device]\rname=ETM_0\rclass=Trace_Source\rtype=etm4\rcolour=red\r[regs]\r"
          "trctraceidr ( size:64 , 0x4 ) = 0x11\rV0(size:128)=0x123456789abcdef01\r"
          "X(unit:a)=7" },
        { "trace.ini", "[trace buffers]\nbuffers=buffer0,\n[buffer0]\nname=ETB_0\n"
                       "file=trace.bin , code.bin,\nformat=source_data\n"
                       "# several\n[core_trace_sources]\ncpu_0=ETM_0\ncpu_0=ETM_0\n" },
    });
    const struct tw_device *etm = tw_capture_device(capture, 1);

    (void)state;
    CHECK_EQ(tw_capture_warning_count(capture), 0);
    CHECK_TEXT(tw_capture_description(capture), "a = b");
    CHECK_EQ(tw_capture_cluster_count(capture), 1);
    CHECK_EQ(tw_capture_cluster(capture, 0)->device_count, 2);
    CHECK_TEXT(tw_capture_device(capture, 0)->cluster, "Cluster 0");
    CHECK(!etm->cluster);
    CHECK_TEXT(etm->registers[0].name, "trctraceidr");
    CHECK_EQ(etm->details[0].id, 4);
    CHECK_EQ(etm->details[0].bits, 64);
    CHECK_EQ(etm->registers[1].value, 0x23456789abcdef01);
    CHECK_EQ(etm->details[1].bits, 128);
    CHECK_EQ(etm->registers[2].value, 7);
    CHECK_EQ(tw_capture_source(capture, 0)->id, 0x11);
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0); /* the only one */
    CHECK_EQ(tw_capture_buffer(capture, 0)->file_count, 2);
    check_buffer(capture, 0, "abcdef0123456789");
    tw_capture_free(capture);
}

/* [CSD 4.2.3.2/3] [CSD 4.2.3.3] [CSD 4.2.3.4/1] [CSD 4.2.3.4/4] */
static void ties_sources_to_cores_and_buffers(void **state)
{
    struct tw_capture *capture = open_good((struct file[4]){
        { "trace.ini",
          "[trace_buffers]\nbuffers=b0,b1\n[b0]\nname=ETB_0\nfile=trace.bin\nformat=coresight\n"
          "[b1]\nname=DS 0\nfile=code.bin\nformat=dstream_coresight\n[core_trace_sources]\n"
          "cpu_0=@address:0x100\n[source_buffers]\nETM_0(stream:1)=DS 0\nETM_0=ETB_0, DS "
          "0\n" } });
    const struct tw_source *source = tw_capture_source(capture, 0);

    (void)state;
    CHECK_TEXT(source->core, "cpu_0");
    CHECK_EQ(source->stream_count, 2);
    CHECK_EQ(source->streams[0].stream, TW_NONE);
    CHECK_EQ(source->streams[1].stream, 1);
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 0), 0);
    CHECK_EQ(tw_capture_source_buffer(capture, 0, 1), 1);
    CHECK(tw_capture_source_is_in(capture, 0, 0, 1));
    CHECK(!tw_capture_source_is_in(capture, 0, 1, 0));
    CHECK_EQ(tw_capture_source_buffer(capture, 9, 0), TW_NONE);
    CHECK_EQ(tw_capture_buffer(capture, 1)->framing, TW_FRAMING_DSTREAM);
    tw_capture_free(capture);
}

static const struct {
    const char *type, *reg, *protocol;
    uint8_t id;
} types[] = {
    { "ETM4", "TRCTRACEIDR=0x12", "etmv4", 0x12 },
    { "ETM4.4", "TRCTRACEIDR=0x7f", "etmv4", 0x7f },
    { "ETMv4.0", "TRCTRACEIDR=1", "etmv4", 1 },
    { "ETE", "TRCTRACEIDR=2", "ete", 2 },
    { "ETM3.5", "ETMTRACEIDR=0x10", "etmv3", 0x10 },
    { "PTM1.1", "ETMTRACEIDR=0x13", "ptm", 0x13 },
    { "PFT1.0", "etmtraceidr=0x13", "ptm", 0x13 },
    { "ITM", "ITMTCR=0x00200006", "itm", 0x20 },
    { "ITM", "CONTROL_REGISTER=0x00110000", "itm", 0x11 },
    { "STM", "STMTCSR(0x3A0)=0x00A00005", "stm", 0x20 },
    { "STM-500", "STMTCSR=0x00010001", "stm", 1 },
    { "ETRACE2.0", "traceid=3", "etrace", 3 },
    { "ETRACED1.1", "traceid=4", "etraced", 4 },
    { "HTM", "ETMTRACEIDR=1", NULL, 0 },
    { "ETEX", "TRCTRACEIDR=1", NULL, 0 },
};

/* [CSD 4.2.2.1/3] [CSD 4.3.4] [CSD 4.3.5] */
static void knows_protocols_by_type_and_ids_by_register(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(types); i++) {
        char text[256];
        struct tw_capture *capture;
        const struct tw_source *source;

        CHECK_CASE(types[i].type);
        (void)snprintf(text, sizeof text,
                       "[device]\nname=ETM_0\nclass=trace_source\ntype=%s\n[regs]\n%s\n",
                       types[i].type, types[i].reg);
        capture = open_good((struct file[4]){ { "etm.ini", text } });
        source = tw_capture_source(capture, 0);
        CHECK_TEXT(source->type, types[i].type);
        CHECK_EQ(source->protocol != NULL, types[i].protocol != NULL);
        CHECK_EQ(source->has_id, types[i].protocol != NULL);
        if (types[i].protocol)
            CHECK_TEXT(source->protocol, types[i].protocol);
        CHECK_EQ(source->id, types[i].id);
        tw_capture_free(capture);
    }
}

/* [CSD 4.2.2.1/2] */
static void memory_spaces_serve_cores_without_dumps(void **state)
{
    struct tw_capture *capture = open_good((struct file[4]){
        { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\nb=etm.ini\n"
                          "c=cpu1.ini\nd=bus.ini\n[trace]\nmetadata=trace.ini\n" },
        { "cpu.ini", "[device]\nname=cpu_0\nclass=core\n" },
        { "bus.ini", "[device]\nname=AXI\nclass=memory_space\n[dump]\nfile=code.bin\n"
                     "address=0x40\nlength=4\nspace=EL1S\n" },
        { "cpu1.ini", "[device]\nname=cpu_1\nclass=core\n" },
    });
    const struct tw_source *source = tw_capture_source(capture, 0);
    uint8_t bytes[8];

    (void)state;
    CHECK_EQ(tw_capture_image_count(capture), 1);
    CHECK_EQ(tw_image_read(tw_capture_image(capture, source->image), bytes,
                           &(struct tw_view){ TW_SPACE_EL1S, 0, 0 }, 0x40, 8),
             4);
    CHECK_EQ(tw_image_read(tw_capture_image(capture, source->image), bytes,
                           &(struct tw_view){ TW_SPACE_EL1N, 0, 0 }, 0x40, 8),
             0);
    tw_capture_free(capture);
}

/* [CSD 4.2.2.3/2] [CSD 4.3.6] [CSD 4.3.7] */
static void spaces_have_names(void **state)
{
    static const struct {
        const char *name;
        uint32_t spaces;
    } cases[] = {
        { "N", TW_SPACE_ANY_N },   { "S", TW_SPACE_ANY_S },   { "H", TW_SPACE_EL2 },
        { "EL1N", TW_SPACE_EL1N }, { "EL1S", TW_SPACE_EL1S }, { "EL2", TW_SPACE_EL2 },
        { "EL3", TW_SPACE_EL3 },
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char text[200];
        struct tw_capture *capture;

        CHECK_CASE(cases[i].name);
        (void)snprintf(text, sizeof text, CORE "space=%s\n", cases[i].name);
        capture = open_good((struct file[4]){ { "cpu.ini", text } });
        CHECK_EQ(tw_capture_warning_count(capture), 0);
        CHECK_EQ(tw_capture_device(capture, 0)->dumps[0].spaces, cases[i].spaces);
        tw_capture_free(capture);
    }
}

/* [CSD 4.2.1/2] */
static void opens_a_snapshot_without_trace(void **state)
{
    struct tw_capture *capture = open_good((struct file[4]){
        { "snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\na=cpu.ini\n" } });

    (void)state;
    CHECK_EQ(tw_capture_device_count(capture), 1);
    CHECK_EQ(tw_capture_buffer_count(capture), 0);
    CHECK_EQ(tw_capture_source_count(capture), 0);
    tw_capture_free(capture);
}

/* [CSD 4.2] [CSD 4.2.3.5] */
static void opens_every_snapshot_of_the_corpus(void **state)
{
    static const struct {
        const char *name;
        unsigned warnings;
    } quirks[] = { { "a55-test-tpiu-part", 1 }, { "event_test", 2 },
                   { "juno-uname-001", 2 },     { "q_elem-part", 1 },
                   { "ete-ite-instr-part", 1 }, { "feat_cmpbr-part", 1 },
                   { "rme_test-part", 1 },      { "tc2-ptm-rstk-t32-part", 1 },
                   { "trace_cov_a15", 1 } };
    char folder[400], path[800];
    struct dirent *entry;
    unsigned count = 0;
    DIR *all;

    (void)state;
    check_corpus(folder, sizeof folder, "coresight/snapshots");
    all = opendir(folder);
    CHECK(all);
    while ((entry = readdir(all))) {
        struct tw_capture *capture;
        struct tw_fault fault = { .text = "" };
        unsigned want = 0;

        if (entry->d_name[0] == '.')
            continue;
        CHECK_CASE(entry->d_name);
        (void)snprintf(path, sizeof path, "%s/%s%s", folder, entry->d_name,
                       count % 2 ? "/snapshot.ini" : "");
        if (tw_capture_open(&capture, path, NULL, &fault) != TW_OK)
            CHECK_TEXT(fault.text, "(opens)");
        for (size_t i = 0; i < LENGTH(quirks); i++)
            if (strcmp(quirks[i].name, entry->d_name) == 0)
                want = quirks[i].warnings;
        for (size_t i = 0; i < tw_capture_warning_count(capture) && !want; i++)
            print_error("%s\n", tw_capture_warning(capture, i));
        CHECK_EQ(tw_capture_warning_count(capture), want);
        CHECK(tw_capture_buffer_count(capture) > 0 && tw_capture_source_count(capture) > 0);
        for (size_t i = 0; i < tw_capture_source_count(capture); i++)
            CHECK(tw_capture_source(capture, i)->protocol &&
                  tw_capture_source(capture, i)->has_id);
        look_at_all(capture);
        tw_capture_free(capture);
        count++;
    }
    (void)closedir(all);
    CHECK_EQ(count, 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_small_snapshot),
        cmocka_unit_test(a_short_dump_gives_what_it_has),
        cmocka_unit_test(allows_outside_when_told),
        cmocka_unit_test(takes_files_as_people_write_them),
        cmocka_unit_test(ties_sources_to_cores_and_buffers),
        cmocka_unit_test(knows_protocols_by_type_and_ids_by_register),
        cmocka_unit_test(memory_spaces_serve_cores_without_dumps),
        cmocka_unit_test(spaces_have_names),
        cmocka_unit_test(opens_a_snapshot_without_trace),
        cmocka_unit_test(opens_every_snapshot_of_the_corpus),
    };

    return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
