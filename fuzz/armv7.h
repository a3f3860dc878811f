/* SPDX-License-Identifier: BSD-2-Clause */
/* For the fuzz targets of PTM and ETMv3: a program to follow, and decoding with a tree. */
#ifndef FUZZ_ARMV7_H
#define FUZZ_ARMV7_H

#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>
#include <trackway/tree.h>

/* Code everywhere below 64 KiB but in the last page of each 16 KiB: loads, branches, calls, returns
   by the address, some T32 when read so. */
static size_t read_code(void *context, uint8_t *out, const struct tw_view *view,
                        uint64_t address, size_t size)
{
    static const uint32_t words[] = { 0xe320f000, 0xe5921000, 0xeb000006, 0x0afffff9,
                                      0xe89300f0, 0xf57ff04f, 0xf57ff06f, 0xfa000005,
                                      0xe12fff1e, 0xe12fff33, 0xbf004770, 0xf804f000,
                                      0xbf08b510, 0xbd103001, 0xe1b0f00e, 0xe160006e };
    size_t n = 0;

    (void)context;
    (void)view;
    for (; n < size && address + n < 0x10000 && ((address + n) >> 12 & 3) != 3; n++) {
        const uint64_t at = address + n;
        const uint32_t word = words[(at >> 2 ^ at >> 7) % (sizeof words / sizeof words[0])];

        out[n] = (uint8_t)(word >> (8 * (at & 3)));
    }
    return n;
}

static void take_all(struct tw_tree *tree)
{
    struct tw_batch batch = { .size = sizeof batch };
    char line[600];

    while (tw_tree_next(tree, &batch) == TW_OK)
        for (size_t i = 0; i < batch.count; i++)
            if (tw_element_json(line, sizeof line, &batch.elements[i], batch.id) >= sizeof line)
                abort();
}

static void decode_all(const char *protocol, const char *core,
                       const struct tw_register *registers, size_t count, const uint8_t *data,
                       size_t size, size_t piece)
{
    const struct tw_tree_config config = { .size = sizeof config };
    struct tw_tree_source source = { .size = sizeof source,
                                     .protocol = protocol,
                                     .registers = registers,
                                     .register_count = count,
                                     .core_type = core };
    struct tw_image *image = NULL;
    struct tw_tree *tree = NULL;

    if (tw_image_new(&image, NULL, NULL) != TW_OK ||
        tw_image_set_callback(image, read_code, NULL) != TW_OK ||
        tw_tree_new(&tree, &config, NULL) != TW_OK)
        abort();
    source.image = image;
    if (tw_tree_add_source(tree, NULL, &source) != TW_OK)
        abort();
    for (size_t at = 0; at < size; at += piece) {
        if (tw_tree_feed(tree, data + at, size - at < piece ? size - at : piece) != TW_OK)
            abort();
        take_all(tree);
    }
    if (tw_tree_finish(tree) != TW_OK)
        abort();
    take_all(tree);
    tw_tree_free(tree);
    tw_image_free(image);
}

#endif
