/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that no one should make: program memory. */
#include <stdio.h>
#include <string.h>

#include "calls.h"

static const uint8_t bytes[256];

static uint32_t read_nothing(const void *context, const ocsd_vaddr_t address,
                             const ocsd_mem_space_acc_t space, const uint32_t size,
                             uint8_t *out)
{
    (void)context;
    (void)address;
    (void)space;
    (void)size;
    (void)out;
    return 0;
}

static uint32_t read_too_much(const void *context, const ocsd_vaddr_t address,
                              const ocsd_mem_space_acc_t space, const uint32_t size,
                              uint8_t *out)
{
    (void)context;
    (void)address;
    (void)space;
    memcpy(out, bytes, size < sizeof bytes ? size : sizeof bytes);
    return size + 1;
}

static void null_handle(void)
{
    const ocsd_file_mem_region_t region = { 0, 0, 16 };

    say("file", lib->ocsd_dt_add_binfile_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, "/dev/null"));
    say("regions", lib->ocsd_dt_add_binfile_region_mem_acc(NULL, &region, 1, OCSD_MEM_SPACE_ANY,
                                                           "/dev/null"));
    say("buffer", lib->ocsd_dt_add_buffer_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY, bytes, 16));
    say("callback",
        lib->ocsd_dt_add_callback_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, read_nothing, NULL));
    say("by id",
        lib->ocsd_dt_add_callback_trcid_mem_acc(NULL, 0, 1, OCSD_MEM_SPACE_ANY, NULL, NULL));
    say("remove", lib->ocsd_dt_remove_mem_acc(NULL, 0, OCSD_MEM_SPACE_ANY));
    lib->ocsd_tl_log_mapped_mem_ranges(NULL);
}

static void overlaps(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    say("first",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0x100));
    say("same",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0x100));
    say("inside",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1010, OCSD_MEM_SPACE_ANY, bytes, 0x10));
    say("around",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0xff0, OCSD_MEM_SPACE_ANY, bytes, 0x100));
    say("before",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0xf00, OCSD_MEM_SPACE_ANY, bytes, 0x100));
    say("behind",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1100, OCSD_MEM_SPACE_ANY, bytes, 0x100));
    say("last byte",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x11ff, OCSD_MEM_SPACE_ANY, bytes, 2));
    say("remove", lib->ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
    say("remove again", lib->ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
    say("remove inside", lib->ocsd_dt_remove_mem_acc(tree, 0x1110, OCSD_MEM_SPACE_ANY));
    say("add again",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0x100));
}

static void spaces(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    for (unsigned space = 0; space < 0x20; space++)
        say("space", lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, (ocsd_mem_space_acc_t)space,
                                                     bytes, 0x10));
    for (unsigned space = 0; space < 0x20; space++)
        say("remove", lib->ocsd_dt_remove_mem_acc(tree, 0x1000, (ocsd_mem_space_acc_t)space));
}

static void odd_sizes(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    say("size 0", lib->ocsd_dt_add_buffer_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY, bytes, 0));
    say("size 1", lib->ocsd_dt_add_buffer_mem_acc(tree, 0x2000, OCSD_MEM_SPACE_ANY, bytes, 1));
    say("odd address",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x3001, OCSD_MEM_SPACE_ANY, bytes, 16));
    say("odd size",
        lib->ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, bytes, 15));
    say("wraps",
        lib->ocsd_dt_add_buffer_mem_acc(tree, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY, bytes, 16));
    say("null", lib->ocsd_dt_add_buffer_mem_acc(tree, 0x5000, OCSD_MEM_SPACE_ANY, NULL, 16));
}

static void callbacks(void)
{
    dcd_tree_handle_t tree = framed_tree(0);

    say("good", lib->ocsd_dt_add_callback_mem_acc(tree, 0x1000, 0x1fff, OCSD_MEM_SPACE_ANY,
                                                  read_nothing, NULL));
    say("backwards", lib->ocsd_dt_add_callback_mem_acc(tree, 0x3000, 0x2fff, OCSD_MEM_SPACE_ANY,
                                                       read_nothing, NULL));
    say("one", lib->ocsd_dt_add_callback_mem_acc(tree, 0x4000, 0x4000, OCSD_MEM_SPACE_ANY,
                                                 read_nothing, NULL));
    say("all", lib->ocsd_dt_add_callback_mem_acc(tree, 0, ~(ocsd_vaddr_t)0, OCSD_MEM_SPACE_ANY,
                                                 read_nothing, NULL));
    say("null", lib->ocsd_dt_add_callback_mem_acc(tree, 0x6000, 0x6fff, OCSD_MEM_SPACE_ANY,
                                                  NULL, NULL));
    say("null by id", lib->ocsd_dt_add_callback_trcid_mem_acc(tree, 0x7000, 0x7fff,
                                                              OCSD_MEM_SPACE_ANY, NULL, NULL));
    say("remove", lib->ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
}

static void files(void)
{
    static const char path[] = "calls_memory.bin";
    const ocsd_file_mem_region_t none = { 0, 0, 0 }, good = { 0, 0x1000, 64 },
                                 beyond = { 64, 0x3000, 1000 };
    dcd_tree_handle_t tree = framed_tree(0);
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(bytes, 1, 128, file) != 128 || fclose(file) != 0)
        return;
    say("missing",
        lib->ocsd_dt_add_binfile_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY, "no/such/file"));
    say("good", lib->ocsd_dt_add_binfile_mem_acc(tree, 0x8000, OCSD_MEM_SPACE_ANY, path));
    say("again", lib->ocsd_dt_add_binfile_mem_acc(tree, 0x8000, OCSD_MEM_SPACE_ANY, path));
    say("elsewhere", lib->ocsd_dt_add_binfile_mem_acc(tree, 0x9000, OCSD_MEM_SPACE_ANY, path));
    say("remove", lib->ocsd_dt_remove_mem_acc(tree, 0x8000, OCSD_MEM_SPACE_ANY));
    say("region",
        lib->ocsd_dt_add_binfile_region_mem_acc(tree, &good, 1, OCSD_MEM_SPACE_ANY, path));
    say("remove", lib->ocsd_dt_remove_mem_acc(tree, 0x1000, OCSD_MEM_SPACE_ANY));
    say("no regions",
        lib->ocsd_dt_add_binfile_region_mem_acc(tree, &good, 0, OCSD_MEM_SPACE_ANY, path));
    say("beyond",
        lib->ocsd_dt_add_binfile_region_mem_acc(tree, &beyond, 1, OCSD_MEM_SPACE_ANY, path));
    say("empty region",
        lib->ocsd_dt_add_binfile_region_mem_acc(tree, &none, 1, OCSD_MEM_SPACE_ANY, path));
    say("empty name", lib->ocsd_dt_add_binfile_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY, ""));
    (void)remove(path);
}

static void null_path(void)
{
    say("null", lib->ocsd_dt_add_binfile_mem_acc(framed_tree(0), 0, OCSD_MEM_SPACE_ANY, NULL));
}

static void null_regions(void)
{
    say("null", lib->ocsd_dt_add_binfile_region_mem_acc(framed_tree(0), NULL, 1,
                                                        OCSD_MEM_SPACE_ANY, "/dev/null"));
}

static void remove_first(void)
{
    say("remove", lib->ocsd_dt_remove_mem_acc(framed_tree(0), 0x1000, OCSD_MEM_SPACE_ANY));
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    (void)context;
    (void)printf("element %u %u %d\n", (unsigned)index, id, (int)element->elem_type);
    return OCSD_RESP_CONT;
}

static void reads_too_much(void)
{
    dcd_tree_handle_t tree = raw_tree(OCSD_CREATE_FLG_FULL_DECODER);

    (void)lib->ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL);
    say("callback", lib->ocsd_dt_add_callback_mem_acc(tree, 0, 0xffff, OCSD_MEM_SPACE_ANY,
                                                      read_too_much, NULL));
    (void)feed(tree, 0, 28);
    lib->ocsd_destroy_dcd_tree(tree);
}

const struct call_case memory_cases[] = { { "memory_null_handle", null_handle },
                                          { "memory_overlaps", overlaps },
                                          { "memory_spaces", spaces },
                                          { "memory_odd_sizes", odd_sizes },
                                          { "memory_callbacks", callbacks },
                                          { "memory_files", files },
                                          { "memory_null_path", null_path },
                                          { "memory_null_regions", null_regions },
                                          { "memory_remove_first", remove_first },
                                          { "memory_reads_too_much", reads_too_much },
                                          { NULL, NULL } };
