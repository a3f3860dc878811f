/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of target memory from files: flat, segment lists, ELF, and files that lie. */
#include "check.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

static uint8_t memory[4096]; /* what the files hold */

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (uint8_t)(i >> 4 ^ i);
    return 0;
}

static struct tw_image *new_image(void)
{
    struct tw_image *image;

    CHECK_EQ(tw_image_new(&image, NULL, NULL), TW_OK);
    return image;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");

    CHECK(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

/* A name in the folder where the tests run. */
static const char *scratch(const char *name)
{
    static char path[256];

    (void)snprintf(path, sizeof path, "image-test-%s", name);
    return path;
}

static void adds_flat_files(void **state)
{
    struct tw_image *image = new_image();
    const struct tw_view view = { TW_SPACE_EL2, 0, 0 };
    struct tw_region region = { .size = sizeof region, .address = 0x4000, .length = 0x20 };
    const char *path = scratch("flat.bin");
    uint8_t out[64];

    (void)state;
    write_file(path, memory, 0x60);
    CHECK_EQ(tw_image_add_file(image, &region, path, 0x10), TW_OK);
    CHECK_EQ(tw_image_add_file(image, &region, path, 0x10), TW_OK); /* the same again */
    CHECK_EQ(tw_image_add_file(image, &region, path, 0x11), TW_E_CONFIG);
    CHECK_EQ(tw_image_region_count(image), 1);
    CHECK_EQ(tw_image_read(image, out, &view, 0x4000, 64), 0x20);
    CHECK_BYTES(out, 0x20, memory + 0x10, 0x20);

    region.address = 0x8000;
    region.length = 0; /* to the end */
    CHECK_EQ(tw_image_add_file(image, &region, path, 0x50), TW_OK);
    CHECK_EQ(tw_image_read(image, out, &view, 0x8000, 64), 0x10);

    region.address = 0x9000;
    region.length = 0x61;
    CHECK_EQ(tw_image_add_file(image, &region, path, 0), TW_E_FILE);
    CHECK(strstr(tw_image_fault(image), path));
    CHECK_EQ(tw_image_add_file(image, &region, path, UINT64_MAX), TW_E_FILE);
    CHECK_EQ(tw_image_add_file(image, &region, "image-test-none", 0), TW_E_FILE);
    CHECK_EQ(tw_image_add_file(image, &region, ".", 0), TW_E_FILE);
    region.length = 0;
    CHECK_EQ(tw_image_add_file(image, &region, path, 0x60), TW_E_ARGUMENT); /* nothing there */
    tw_image_remove(image, 0x4000, 0);
    tw_image_remove(image, 0x8000, 0);
    CHECK_EQ(tw_image_region_count(image), 0);
    tw_image_free(image);
    CHECK_EQ(remove(path), 0);
}

static const struct {
    const char *text;
    enum tw_status want;
    const char *fault;
} lists[] = {
    { "# comment\r\nxlen 64\nseg 1000 0 16\n\nseg ffffffff80000000 16 32 # end\n", TW_OK,
      NULL },
    { "xlen 32\nseg 0x1000 0x0 16", TW_OK, NULL },
    { "", TW_E_FILE, "no segment list" },
    { "seg 0 0 1\n", TW_E_FILE, ":1: " },
    { "xlen 16\n", TW_E_FILE, ":1: " },
    { "xlen 64\nseg 1000 0\n", TW_E_FILE, ":2: " },
    { "xlen 64\nseg g 0 1\n", TW_E_FILE, ":2: " },
    { "xlen 64\nseg 1000 0 16\nseg 2000 0 4097\n", TW_E_FILE, ":3: " },
    { "xlen 64\nseg 1000 99999999999999999999 1\n", TW_E_FILE, ":2: " },
    { "xlen 64\nseg 1000 0 16\nseg 1008 0 16\n", TW_E_CONFIG, "overlaps" },
    { "xlen 64\nsegment 1000 0 16\n", TW_E_FILE, "segment" },
};

static void adds_segment_lists_whole_or_not_at_all(void **state)
{
    const struct tw_region region = { .size = sizeof region, .address = 0x100 };
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };

    (void)state;
    write_file(scratch("list.bin"), memory, 4096);
    for (size_t i = 0; i < LENGTH(lists); i++) {
        struct tw_image *image = new_image();
        uint8_t out[4];

        CHECK_CASE(lists[i].text);
        write_file(scratch("list.txt"), lists[i].text, strlen(lists[i].text));
        CHECK_EQ(tw_image_add_segments(image, &region, scratch("list.txt")), lists[i].want);
        if (lists[i].want == TW_OK) {
            CHECK_EQ(tw_image_read(image, out, &view, 0x110c, 4), 4);
            CHECK_BYTES(out, 4, memory + 12, 4);
        } else {
            CHECK_EQ(tw_image_region_count(image), 0);
            CHECK(strstr(tw_image_fault(image), lists[i].fault));
        }
        tw_image_free(image);
    }
    CHECK_EQ(remove(scratch("list.bin")), 0);
    CHECK_EQ(remove(scratch("list.txt")), 0);
}

static void reads_the_segment_lists_of_the_corpus(void **state)
{
    const struct tw_region region = { .size = sizeof region };
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
    struct tw_image *image;
    const uint8_t *bytes;
    char path[512];

    (void)state;
    check_corpus(path, sizeof path, "riscv/programs/coremark/image.txt");
    image = new_image();
    CHECK_EQ(tw_image_add_segments(image, &region, path), TW_OK);
    CHECK_EQ(tw_image_region_count(image), 3);
    CHECK_EQ(tw_image_find(image, &bytes, &view, 0x80001000), 25028);
    tw_image_free(image);
}

/* A small ELF file: two loadable segments and one of another kind. */
static size_t make_elf(uint8_t out[1024], bool is_64, bool is_big)
{
    const size_t header_size = is_64 ? 64 : 52, entry = is_64 ? 56 : 32;
    const struct {
        uint32_t type;
        uint64_t offset, address, file_size, memory_size;
    } segments[] = { { PT_LOAD, 0x200, 0x10000, 0x40, 0x40 },
                     { PT_NOTE, 0x200, 0x10000, 0x40, 0x40 },
                     { PT_LOAD, 0x240, 0x20000, 0x20, 0x1000 } };
    uint8_t *at;

#define PUT(place, size, number)                                                               \
    do {                                                                                       \
        for (size_t b_ = 0; b_ < (size); b_++)                                                 \
            out[(place) + (is_big ? (size)-1 - b_ : b_)] =                                     \
                (uint8_t)((uint64_t)(number) >> (8 * b_));                                     \
    } while (0)

    memset(out, 0, 1024);
    memcpy(out, ELFMAG, SELFMAG); /* NOLINT(bugprone-not-null-terminated-result) */
    out[4] = is_64 ? ELFCLASS64 : ELFCLASS32;
    out[5] = is_big ? ELFDATA2MSB : ELFDATA2LSB;
    out[6] = EV_CURRENT;
    PUT(16, 2, ET_EXEC);
    PUT(18, 2, is_64 ? EM_AARCH64 : EM_ARM);
    PUT(20, 4, EV_CURRENT);
    PUT(is_64 ? 32u : 28u, is_64 ? 8u : 4u, header_size); /* e_phoff */
    at = out + (is_64 ? 52 : 40);
    PUT((size_t)(at - out), 2, header_size);
    PUT((size_t)(at - out) + 2, 2, entry);
    PUT((size_t)(at - out) + 4, 2, LENGTH(segments));
    for (size_t i = 0; i < LENGTH(segments); i++) {
        const size_t place = header_size + i * entry, word = is_64 ? 8 : 4;
        const size_t first = is_64 ? place + 8 : place + 4;

        PUT(place, 4, segments[i].type);
        PUT(first, word, segments[i].offset);
        PUT(first + word, word, segments[i].address);
        PUT(first + 2 * word, word, segments[i].address);
        PUT(first + 3 * word, word, segments[i].file_size);
        PUT(first + 4 * word, word, segments[i].memory_size);
    }
#undef PUT
    for (size_t i = 0x200; i < 0x260; i++)
        out[i] = (uint8_t)i;
    return 0x260;
}

static void adds_elf_files(void **state)
{
    const struct tw_region region = { .size = sizeof region, .address = 0x1000000 };
    const struct tw_view view = { TW_SPACE_ANY, 0, 0 };

    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct tw_image *image = new_image();
        uint8_t file[1024];
        const size_t size = make_elf(file, kind & 1, kind & 2);
        enum tw_status status;
        const uint8_t *bytes;

        CHECK_CASE(kind & 1 ? "64 bits" : "32 bits");
        write_file(scratch("elf"), file, size);
        status = tw_image_add_elf(image, &region, scratch("elf"));
        if (status == TW_E_UNSUPPORTED) {
            tw_image_free(image);
            print_message("skipped: no libelf\n");
            skip();
        }
        CHECK_EQ(status, TW_OK);
        CHECK_EQ(tw_image_region_count(image), 2);
        CHECK_EQ(tw_image_find(image, &bytes, &view, 0x1010000), 0x40);
        CHECK_EQ(bytes[1], 0x01);
        CHECK_EQ(tw_image_find(image, &bytes, &view, 0x1020000), 0x20);
        CHECK_EQ(bytes[0], 0x40);
        CHECK_EQ(tw_image_find(image, &bytes, &view, 0x1020020), 0); /* zeros are left out */
        CHECK_EQ(tw_image_add_elf(image, &region, scratch("elf")), TW_OK);
        CHECK_EQ(tw_image_region_count(image), 2);
        tw_image_free(image);
    }
    CHECK_EQ(remove(scratch("elf")), 0);
}

/* Touches every byte that the image claims to hold. */
static void touch_all(struct tw_image *image)
{
    unsigned sum = 0;

    for (size_t n = 0; n < tw_image_region_count(image); n++) {
        const struct tw_region *region = tw_image_region(image, n);
        const struct tw_view view = { TW_SPACE_ANY, 0, 0 };
        const uint8_t *bytes;
        const size_t size = tw_image_find(image, &bytes, &view, region->address);

        CHECK_EQ(size, region->length);
        for (size_t i = 0; i < size; i++)
            sum += bytes[i];
    }
    CHECK(sum < UINT32_MAX);
}

static void hostile_elf_files_do_no_harm(void **state)
{
    static const uint8_t flips[] = { 0x01, 0x80, 0xff, 0x7f };
    const struct tw_region region = { .size = sizeof region };

    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        uint8_t file[1024];
        const size_t size = make_elf(file, kind & 1, kind & 2);

        for (size_t place = 0; place < 0x200; place++) {
            for (size_t f = 0; f < LENGTH(flips); f++) {
                struct tw_image *image = new_image();

                file[place] ^= flips[f];
                write_file(scratch("bad"), file, size);
                file[place] ^= flips[f];
                if (tw_image_add_elf(image, &region, scratch("bad")) != TW_OK)
                    CHECK_EQ(tw_image_region_count(image), 0);
                touch_all(image);
                tw_image_free(image);
                if (place > 0x118)
                    break; /* padding: one flip says it all */
            }
        }
        for (size_t cut = 0; cut < size; cut += 7) {
            struct tw_image *image = new_image();

            write_file(scratch("bad"), file, cut);
            CHECK(tw_image_add_elf(image, &region, scratch("bad")) < 0);
            CHECK_EQ(tw_image_region_count(image), 0);
            tw_image_free(image);
        }
    }
    CHECK_EQ(remove(scratch("bad")), 0);
}

struct failing {
    unsigned left;
};

static void *fail_later(void *context, void *old, size_t size)
{
    struct failing *failing = context;

    if (!size) {
        free(old);
        return NULL;
    }
    if (!failing->left)
        return NULL;
    failing->left--;
    return realloc(old, size);
}

static void survives_each_failed_allocation(void **state)
{
    const struct tw_region region = { .size = sizeof region, .address = 0x5000 };
    bool is_done = false;
    uint8_t file[1024];

    (void)state;
    write_file(scratch("all.bin"), memory, 64);
    write_file(scratch("all.txt"), "xlen 64\nseg 0 0 16\n", 19);
    write_file(scratch("all.elf"), file, make_elf(file, true, false));
    for (unsigned left = 0; !is_done; left++) {
        struct failing failing = { left };
        const struct tw_allocator allocator = { fail_later, &failing };
        struct tw_image *image;

        CHECK(left < 1000);
        if (tw_image_new(&image, &allocator, NULL) != TW_OK)
            continue;
        is_done = tw_image_add_segments(image, &region, scratch("all.txt")) == TW_OK;
        tw_image_remove(image, 0x5000, 0);
        is_done &= tw_image_add_file(image, &region, scratch("all.bin"), 8) == TW_OK;
        is_done &= tw_image_add_elf(image, &region, scratch("all.elf")) != TW_E_MEMORY;
        touch_all(image);
        tw_image_free(image);
    }
    CHECK_EQ(remove(scratch("all.bin")), 0);
    CHECK_EQ(remove(scratch("all.txt")), 0);
    CHECK_EQ(remove(scratch("all.elf")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_flat_files),
        cmocka_unit_test(adds_segment_lists_whole_or_not_at_all),
        cmocka_unit_test(reads_the_segment_lists_of_the_corpus),
        cmocka_unit_test(adds_elf_files),
        cmocka_unit_test(hostile_elf_files_do_no_harm),
        cmocka_unit_test(survives_each_failed_allocation),
    };

    return cmocka_run_group_tests_name("image files", tests, setup, NULL);
}
