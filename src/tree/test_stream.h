/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: a generated trace with losses and errors in every stretch of it. */
#ifndef TREE_TEST_STREAM_H
#define TREE_TEST_STREAM_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

enum { MADE_STREAM_SIZE = 300000, MADE_STREAM_MEMORY = 0x4000 };

struct made_stream {
    uint8_t *bytes;
    size_t size;
    struct tw_image *image;
    uint8_t memory[MADE_STREAM_MEMORY];
};

static inline void made_stream_put(struct made_stream *made, const void *bytes, size_t size)
{
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

/* An ETE stream: in each stretch between two synchronizations an overflow, a discard, a reserved
   header or a lie about a branch. */
static inline void made_stream_make(struct made_stream *made, uint64_t seed)
{
    static const uint8_t start[] = { 0,    0, 0, 0, 0,    0, 0, 0, 0, 0,   0,
                                     0x80, 1, 0, 4, 0x82, 0, 8, 0, 0, 0x31 };
    static const char *const packets[] = { "\xf7", "\xf6", "\xdc", "\x95\x04", "\x72", "\x90" };
    static const char *const damage[] = { "\x05", "\x02\x33", "\x0f", "\x95\x7f\xdc\xdc" };
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xd503201f, 0xd65f03c0, 0xb4000060, 0xd5033fdf };
    const struct tw_region region = { .size = sizeof region, .length = MADE_STREAM_MEMORY };
    struct check_random random = { seed };

    made->bytes = malloc(MADE_STREAM_SIZE + 64);
    CHECK(made->bytes != NULL);
    made->size = 0;
    while (made->size < MADE_STREAM_SIZE - 1000) {
        made_stream_put(made, start, sizeof start);
        for (unsigned i = 0; i < 200; i++) {
            const char *packet = packets[check_random_below(&random, LENGTH(packets))];

            if (i == 120)
                packet = damage[check_random_below(&random, LENGTH(damage))];
            made_stream_put(made, packet, strlen(packet));
        }
    }
    for (size_t i = 0; i < MADE_STREAM_MEMORY; i++)
        made->memory[i] = (uint8_t)(words[i / 4 % LENGTH(words)] >> (8 * (i % 4)));
    CHECK_EQ(tw_image_new(&made->image, NULL, NULL), TW_OK);
    CHECK_EQ(tw_image_add(made->image, &region, made->memory), TW_OK);
}

static inline void made_stream_free(struct made_stream *made)
{
    tw_image_free(made->image);
    free(made->bytes);
}

/* The stream's source. */
static inline void made_stream_add(const struct made_stream *made, struct tw_tree *tree)
{
    static const struct tw_register registers[] = {
        { "TRCIDR0", 0x28c1cea1 },    { "TRCIDR1", 0x4100fff0 }, { "TRCIDR2", 0xd0001088 },
        { "TRCDEVARCH", 0x47735a13 }, { "TRCCONFIGR", 0x1001 },  { "TRCTRACEIDR", 0x10 },
    };
    const struct tw_tree_source source = { .size = sizeof source,
                                           .protocol = "ete",
                                           .registers = registers,
                                           .register_count = LENGTH(registers),
                                           .core_type = "ARM-AA64",
                                           .image = made->image };

    CHECK_EQ(tw_tree_add_source(tree, NULL, &source), TW_OK);
}

#endif
