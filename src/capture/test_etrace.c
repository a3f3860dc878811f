/* SPDX-License-Identifier: BSD-2-Clause */
/* RISC-V trace in captures: a snapshot with a section [etrace], a raw file with an ipxact component. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/capture.h>
#include <trackway/tree.h>

#include "base/platform.h"

/* addi, addi, jalr a0; the trace starts at 1000 and jumps back to it once. */
static const uint8_t code[] = { 0x13, 0, 0, 0, 0x13, 0, 0, 0, 0x67, 0, 0x05, 0 };
static const uint8_t trace[] = { 0x41, 0x1f, 0x43, 0x73, 0x00, 0x04, 0x41, 0x02 };
static const char keys[] = "# an encoder\n[hardware]\nencapsulation=len5-type2\n"
                           "iaddress_width_p=64\nprivilege_width_p=2\nnocontext_p=1\n"
                           "notime_p=1\nlink_registers=x1,x5\n";

static uint64_t count_instructions(const struct tw_capture *capture)
{
    const struct tw_tree_config config = { .size = sizeof config };
    const struct tw_source *from = tw_capture_source(capture, 0);
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = from->protocol,
                                           .type = from->type,
                                           .core_type = from->core_type,
                                           .text = from->text,
                                           .image = tw_capture_image(capture, from->image) };
    struct tw_fault fault = { TW_OK, "" };
    struct tw_tree *tree;
    struct tw_batch batch = { .size = sizeof batch };
    uint64_t count = 0;

    CHECK_TEXT(from->protocol, "etrace");
    CHECK_EQ(tw_tree_new(&tree, &config, &fault), TW_OK);
    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
    CHECK_EQ(tw_tree_feed(tree, trace, sizeof trace), TW_OK);
    CHECK_EQ(tw_tree_finish(tree), TW_OK);
    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++) {
            CHECK(batch.elements[i].type != TW_ELEMENT_ERROR);
            if (batch.elements[i].type == TW_ELEMENT_INSTR_RANGE)
                count += batch.elements[i].count;
        }
    tw_tree_free(tree);
    return count;
}

static void snapshot_with_a_riscv_device(void **state)
{
    static const char *const buffers[] = { "RAM" };
    const struct tw_snapshot_dump dump = {
        .file = "code.bin", .bytes = code, .size = sizeof code, .address = 0x1000
    };
    const struct tw_snapshot_device devices[] = {
        { .name = "hart0",
          .class_name = "core",
          .type = "RV64",
          .dumps = &dump,
          .dump_count = 1 },
        { .name = "encoder",
          .class_name = "trace_source",
          .type = "ETRACE2.0",
          .core = "hart0",
          .buffers = buffers,
          .buffer_count = 1,
          .text = keys },
    };
    const struct tw_snapshot_buffer buffer = {
        .name = "RAM", .format = "source_data", .bytes = trace, .size = sizeof trace
    };
    const struct tw_snapshot snapshot = { .size = sizeof snapshot,
                                          .devices = devices,
                                          .device_count = 2,
                                          .buffers = &buffer,
                                          .buffer_count = 1 };
    char folder[] = "etrace-test-XXXXXX", path[64];
    static const char *const files[] = { "snapshot.ini", "trace.ini", "device_0.ini",
                                         "device_1.ini", "code.bin",  "RAM.bin" };
    struct tw_capture *capture;
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(rmdir(folder), 0); /* only its name is wanted */
    CHECK_EQ(tw_snapshot_write(folder, &snapshot, &fault), TW_OK);
    CHECK_EQ(tw_capture_open(&capture, folder, NULL, &fault), TW_OK);
    CHECK_TEXT(tw_capture_source(capture, 0)->text,
               "encapsulation=len5-type2\niaddress_width_p=64\nprivilege_width_p=2\n"
               "nocontext_p=1\nnotime_p=1\nlink_registers=x1,x5\n");
    CHECK_EQ(count_instructions(capture), 4);
    tw_capture_free(capture);
    for (size_t i = 0; i < LENGTH(files); i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        CHECK_EQ(remove(path), 0);
    }
    CHECK_EQ(rmdir(folder), 0);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static void raw_file_with_a_component(void **state)
{
    static const char component[] =
        "layout=v2\nnocontext_p=1\n<component><register><field><name>iaddress_width</name>\n"
        "<resets><reset><value>63</value></reset></resets></field>\n"
        "<field><name>privilege_width</name><resets><reset><value>1</value></reset></resets>\n"
        "</field></register></component>\n";
    char folder[] = "etrace-test-XXXXXX", config[64], image[64], bytes[64];
    const struct tw_capture_source_option source = { 0, "etrace", config, NULL };
    const struct tw_capture_image_option more = { .path = image, .address = 0x1000 };
    const struct tw_capture_options options = { .size = sizeof options,
                                                .sources = &source,
                                                .source_count = 1,
                                                .images = &more,
                                                .image_count = 1 };
    struct tw_capture *capture;
    struct tw_fault fault = { TW_OK, "" };

    (void)state;
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(config, sizeof config, "%s/unit.xml", folder);
    (void)snprintf(image, sizeof image, "%s/code.bin", folder);
    (void)snprintf(bytes, sizeof bytes, "%s/trace.bin", folder);
    write_file(config, component, sizeof component - 1);
    write_file(image, code, sizeof code);
    write_file(bytes, trace, sizeof trace);
    CHECK_EQ(tw_capture_open(&capture, bytes, &options, &fault), TW_OK);
    CHECK_EQ(count_instructions(capture), 4);
    tw_capture_free(capture);
    CHECK_EQ(remove(config) + remove(image) + remove(bytes) + rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot_with_a_riscv_device),
        cmocka_unit_test(raw_file_with_a_component),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
