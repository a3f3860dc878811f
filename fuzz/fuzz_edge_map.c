/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a capture for an edge map, of every protocol that follows a program: a map and a status, the same
   ones whatever came before.  The first byte says which source and how much memory there is. */
#include <stdlib.h>
#include <string.h>

#include <trackway/experimental.h>
#include <trackway/trackway.h>

#include "kept.h"

enum { SIZE_MOST = 8192, RANGE_LIMIT = 400, PROGRAM = 0x10000, BITS = 10, TIMES = 2 };

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static const struct {
    const char *protocol, *core, *text;
    struct tw_register registers[7];
} sources[] = {
    { "ete",
      "ARM-AA64",
      NULL,
      { { "TRCIDR0", 0x28c1cea1 },
        { "TRCIDR1", 0x4100fff0 },
        { "TRCIDR2", 0xd0001088 },
        { "TRCIDR8", 4 },
        { "TRCDEVARCH", 0x47735a13 },
        { "TRCCONFIGR", 0x1001 },
        { "TRCTRACEIDR", 1 } } },
    { "etmv4",
      "ARM-AA64",
      NULL,
      { { "TRCIDR0", 0x0801cea1 },
        { "TRCIDR1", 0x4100f420 },
        { "TRCIDR2", 0x1088 },
        { "TRCIDR8", 6 },
        { "TRCCONFIGR", 0x78d1 },
        { "TRCTRACEIDR", 1 } } },
    { "ptm",
      "Cortex-A9",
      NULL,
      { { "ETMCR", 0x10001000 },
        { "ETMIDR", 0x411cf302 },
        { "ETMCCER", 0x000008ea },
        { "ETMTRACEIDR", 1 } } },
    { "etmv3",
      "Cortex-A5",
      NULL,
      { { "ETMCR", 0 }, { "ETMIDR", 0x410cf250 }, { "ETMCCER", 0 }, { "ETMTRACEIDR", 1 } } },
    { "etrace",
      NULL,
      "encapsulation=len5-type2\nlayout=v2\niaddress_width_p=32\niaddress_lsb_p=1\n",
      { { NULL, 0 } } },
    { "ntrace", NULL, "time_width=8", { { NULL, 0 } } },
};

enum { SOURCES = sizeof sources / sizeof sources[0], NTRACE = SOURCES - 1 /* the last */ };

/* Code below 64 KiB but in the last page of each 16 KiB; A64, A32, T32 and RISC-V all through. */
static struct tw_image *program(void)
{
    static const uint32_t words[] = { 0xd503201f, 0x54000040, 0x94000003, 0x17fffffd,
                                      0xe320f000, 0xeb000006, 0x0afffff9, 0xd65f03c0,
                                      0xe12fff1e, 0xbf004770, 0xf804f000, 0x00008067 };
    static uint8_t bytes[PROGRAM];
    struct tw_image *image;

    for (size_t at = 0; at < PROGRAM; at++)
        bytes[at] = (uint8_t)(words[(at >> 2 ^ at >> 7) % (sizeof words / sizeof words[0])] >>
                              (8 * (at & 3)));
    require(tw_image_new(&image, NULL, NULL) == TW_OK);
    for (uint64_t at = 0; at < PROGRAM; at += 0x4000) {
        const struct tw_region region = { .size = sizeof region,
                                          .address = at,
                                          .length = 0x3000 };

        require(tw_image_add(image, &region, bytes + at) == TW_OK);
    }
    return image;
}

/* Made once: as in a fuzzer, all inputs go through the same ones. */
static struct tw_edge_map *map_of(unsigned number, bool is_small)
{
    static struct tw_edge_map *maps[2][SOURCES];
    static struct tw_tree_source all[SOURCES];
    struct tw_tree_source *source = &all[number];
    const struct tw_edge_map_config config = { .size = sizeof config,
                                               .bits = BITS,
                                               .sources = source,
                                               .source_count = 1,
                                               .range_limit = RANGE_LIMIT,
                                               .memory = is_small ? 1 : 16u << 20 };

    if (maps[is_small][number])
        return maps[is_small][number];
    if (!source->image) {
        *source = (struct tw_tree_source){ .size = sizeof *source,
                                           .protocol = sources[number].protocol,
                                           .registers = sources[number].registers,
                                           .core_type = sources[number].core,
                                           .text = sources[number].text,
                                           .id = 1,
                                           .image = program() };
        while (source->register_count < 7 && source->registers[source->register_count].name)
            source->register_count++;
    }
    require(tw_edge_map_new(&maps[is_small][number], &config, NULL) == TW_OK);
    return maps[is_small][number];
}

/* Whether a message of N-Trace may say that something came again more than 2^18 times (ResourceFull, RepeatBranch: a number
   of three bytes and more, none of which ends it). */
static bool repeats_long(const uint8_t *data, size_t size)
{
    enum { RESOURCE_FULL = 27 << 2, REPEAT_BRANCH = 30 << 2, REACH = 8 };

    for (size_t at = 0; at < size; at++) {
        size_t open = 0;

        if (data[at] != RESOURCE_FULL && data[at] != REPEAT_BRANCH)
            continue;
        for (size_t i = at + 1; i < size && i < at + REACH; i++) {
            open = data[i] & 3 ? 0 : open + 1;
            if (open == 3)
                return true;
        }
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[TIMES][1 << BITS];
    struct tw_edge_map_result results[TIMES];
    enum tw_status statuses[TIMES];
    struct tw_edge_map *map;

    if (size < 1 || size > SIZE_MOST)
        return 0;
    if (is_fuzzed() && data[0] % SOURCES == NTRACE && repeats_long(data + 1, size - 1))
        return 0; /* it takes a second where millions wait */
    map = map_of(data[0] % SOURCES, data[0] & 0x80);
    for (unsigned i = 0; i < TIMES; i++) {
        memset(&results[i], 0, sizeof results[i]);
        results[i].size = sizeof results[i];
        statuses[i] = tw_edge_map_take(map, bytes[i], data + 1, size - 1, &results[i]);
        require(statuses[i] == TW_OK || statuses[i] == TW_E_MEMORY);
    }
    require(statuses[0] == statuses[1]);
    require(memcmp(&results[0], &results[1], sizeof results[0]) == 0);
    require(memcmp(bytes[0], bytes[1], sizeof bytes[0]) == 0);
    return 0;
}
