/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: what was mapped earlier is found as a search through all of it would find it. */
#include "capture/test.h"

#include <string.h>

#include "capture/perfdata.h"

enum { CELLS = 48, TIMES = 200, SPACES = 3, MAPS_MAX = 4096 };

static uint32_t seed;

static uint32_t any(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

/* Maps over random places, one at a time; what gives way goes into the past, as in perfdata_tasks.c. */
static void make_past(struct tw_perf *perf, uint64_t base, uint64_t unit)
{
    static uint64_t since[SPACES][CELLS];

    memset(since, 0, sizeof since);
    perf->past_count = 0;
    for (uint64_t time = 1; time < TIMES; time++) {
        const uint32_t space = any(SPACES), first = any(CELLS), count = 1 + any(CELLS - first);

        for (uint32_t i = first; i < first + count;) {
            const uint64_t from = since[space][i];
            uint32_t end = i;

            while (end < first + count && since[space][end] == from)
                end++;
            CHECK(perf->past_count < MAPS_MAX);
            if (any(8)) /* some was never there */
                perf->past[perf->past_count++] =
                    (struct tw_perf_map){ .address = base + i * unit,
                                          .length = (end - i) * unit,
                                          .from = from,
                                          .until = time,
                                          .space = space };
            i = end;
        }
        for (uint32_t i = first; i < first + count; i++)
            since[space][i] = time;
    }
}

static const struct tw_perf_map *search(const struct tw_perf *perf, uint32_t space,
                                        uint64_t address, uint64_t time)
{
    for (size_t i = 0; i < perf->past_count; i++) {
        const struct tw_perf_map *map = &perf->past[i];

        if (map->space == space && address - map->address < map->length && map->from <= time &&
            time < map->until)
            return map;
    }
    return NULL;
}

static void is_what_a_search_finds(void **state)
{
    static struct tw_perf_map past[MAPS_MAX];
    static struct tw_capture capture;
    static struct tw_perf perf = { .capture = &capture, .past = past };

    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        const uint64_t unit = round % 2 ? 1 : 0x1000;
        /* The last ends at the end of memory. */
        const uint64_t base = round % 3 ? 0x400000 : 0 - CELLS * unit;

        seed = round + 1;
        check_case("round %u", round);
        make_past(&perf, base, unit);
        CHECK_EQ(tw_perf_history_new(&perf), TW_OK);
        for (uint32_t i = 0; i < 3000; i++) {
            const uint32_t space = any(SPACES + 1);
            const uint64_t address = base + any(CELLS + 2) * unit - unit + any((uint32_t)unit);
            const uint64_t time = any(TIMES + 2);

            CHECK(tw_perf_past(&perf, space, address, time) ==
                  search(&perf, space, address, time));
        }
        tw_perf_history_free(&perf);
    }
    perf.past_count = 0;
    CHECK_EQ(tw_perf_history_new(&perf), TW_OK);
    CHECK(tw_perf_past(&perf, 0, 0, 0) == NULL);
    tw_perf_history_free(&perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(is_what_a_search_finds) };

    return cmocka_run_group_tests_name("what was mapped earlier", tests, NULL, NULL);
}
