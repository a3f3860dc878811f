/* SPDX-License-Identifier: BSD-2-Clause */
/* Tests of replays: tracks of elements that are made here, and a capture with two buffers. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/replay.h>

#include "all_runs.h"
#include "base/platform.h"
#include "replay/replay.h"

/* ---- tracks ---- */

static struct tw_element range_of(uint64_t start, uint32_t count)
{
    return (struct tw_element){
        .type = TW_ELEMENT_INSTR_RANGE, .start = start, .length = 4 * count, .count = count
    };
}

/* Each instruction of a loop is found in the range that it is repeated from. */
static void instructions_of_a_loop_are_found(void **state)
{
    const struct tw_element elements[] = {
        range_of(0x1000, 2), range_of(0x2000, 3),
        range_of(0x3000, 1), { .type = TW_ELEMENT_REPEAT, .count = 2, .times = 2 },
        range_of(0x4000, 5),
    };
    /* element, range, times, instruction */
    static const struct tw_track_spot want[] = {
        { 0, 0, 0, 0 }, { 0, 0, 0, 1 }, { 1, 1, 0, 0 }, { 1, 1, 0, 1 }, { 1, 1, 0, 2 },
        { 2, 2, 0, 0 }, { 3, 1, 0, 0 }, { 3, 1, 0, 1 }, { 3, 1, 0, 2 }, { 3, 2, 0, 0 },
        { 3, 1, 1, 0 }, { 3, 1, 1, 1 }, { 3, 1, 1, 2 }, { 3, 2, 1, 0 }, { 4, 4, 0, 0 },
        { 4, 4, 0, 1 }, { 4, 4, 0, 2 }, { 4, 4, 0, 3 }, { 4, 4, 0, 4 },
    };
    const struct tw_part part = { .size = sizeof part };
    struct tw_replay replay = { .allocator = NULL };
    struct tw_replay_track track = { 0 };
    struct tw_track_spot spot;

    (void)state;
    CHECK(tw_track_add(&replay, &track, &part, elements, LENGTH(elements)));
    CHECK_EQ(track.instructions, LENGTH(want));
    for (size_t i = 0; i < LENGTH(want); i++) {
        check_case("instruction %zu", i);
        CHECK(tw_track_find(&track, &spot, i));
        CHECK_EQ(spot.element, want[i].element);
        CHECK_EQ(spot.range, want[i].range);
        CHECK_EQ(spot.times, want[i].times);
        CHECK_EQ(spot.instruction, want[i].instruction);
    }
    CHECK(!tw_track_find(&track, &spot, LENGTH(want)));
    tw_track_release(&replay, &track);
}

/* A loop that goes on for longer than can be counted counts as once; nothing wraps round. */
static void endless_loops_are_not_counted(void **state)
{
    static const struct {
        uint64_t times, instructions;
    } rows[] = {
        { 0, 3 + 7 },
        { 5, 3 + 15 + 7 },
        { (UINT64_MAX >> 2) / 3, 3 + (UINT64_MAX >> 2) / 3 * 3 + 7 },
        { (UINT64_MAX >> 2) / 3 + 1, 3 + 7 },
        { UINT64_MAX >> 2, 3 + 7 },
        { UINT64_MAX, 3 + 7 },
    };
    const struct tw_part part = { .size = sizeof part };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct tw_element elements[] = {
            range_of(0x1000, 3),
            { .type = TW_ELEMENT_REPEAT, .count = 1, .times = rows[i].times },
            range_of(0x2000, 7),
        };
        struct tw_replay replay = { .allocator = NULL };
        struct tw_replay_track track = { 0 };

        check_case("row %zu", i);
        CHECK(tw_track_add(&replay, &track, &part, elements, LENGTH(elements)));
        CHECK_EQ(track.instructions, rows[i].instructions);
        tw_track_release(&replay, &track);
    }
}

/* ---- two buffers ---- */

static const char folder[] = "two-buffers";

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_file(name, text, strlen(text));
}

static size_t copy_file(const char *name, const char *as, size_t most)
{
    char path[512];
    uint8_t *bytes;
    size_t size;

    (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/captures/demo/%s", name);
    bytes = check_load(&size, path);
    assert_non_null(bytes);
    size = size < most ? size : most;
    write_file(as, bytes, size);
    free(bytes);
    return size;
}

#define ETM(n)                                                                                 \
    "[device]\nname=ETM_" n "\nclass=trace_source\ntype=ETM4.0\n[regs]\nTRCCONFIGR=0x1\n"      \
    "TRCTRACEIDR=0x10\nTRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\nTRCIDR2=0x488\n"
#define CORE(n)                                                                                \
    "[device]\nname=cpu_" n "\nclass=core\ntype=Cortex-A53\n[dump]\nfile=recur.elf\n"          \
    "address=0x400000\nlength=0x9b8\n"

static const char *const files[] = { "snapshot.ini", "trace.ini", "cpu_0.ini",
                                     "cpu_1.ini",    "etm_0.ini", "etm_1.ini",
                                     "recur.elf",    "ETB_0.bin", "ETB_1.bin" };

/* Two cores of which one was traced for a shorter time, each into a buffer of its own. */
static void make_two(void)
{
    (void)mkdir(folder, 0777);
    write_text("snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\na=cpu_0.ini\n"
                               "b=etm_0.ini\nc=cpu_1.ini\nd=etm_1.ini\n"
                               "[trace]\nmetadata=trace.ini\n");
    write_text("trace.ini", "[trace_buffers]\nbuffers=buffer0,buffer1\n"
                            "[buffer0]\nname=ETB_0\nfile=ETB_0.bin\nformat=coresight\n"
                            "[buffer1]\nname=ETB_1\nfile=ETB_1.bin\nformat=coresight\n"
                            "[source_buffers]\nETM_0=ETB_0\nETM_1=ETB_1\n"
                            "[core_trace_sources]\ncpu_0=ETM_0\ncpu_1=ETM_1\n");
    write_text("cpu_0.ini", CORE("0"));
    write_text("cpu_1.ini", CORE("1"));
    write_text("etm_0.ini", ETM("0"));
    write_text("etm_1.ini", ETM("1"));
    (void)copy_file("recur.elf", "recur.elf", SIZE_MAX);
    (void)copy_file("ETB_0.bin", "ETB_0.bin", SIZE_MAX);
    (void)copy_file("ETB_0.bin", "ETB_1.bin", 1024);
}

static void remove_two(void)
{
    for (size_t i = 0; i < LENGTH(files); i++) {
        char path[512];

        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)remove(path);
    }
    (void)rmdir(folder);
}

/* Instructions of each source, as a run counts them. */
static void count_executed(struct tw_capture *capture, uint64_t counts[2])
{
    const struct tw_run_config config = { .size = sizeof config };
    struct tw_part part = { .size = sizeof part };
    struct tw_run *run;

    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    while (tw_run_next(run, &part) == TW_OK)
        for (size_t i = 0; part.kind == TW_PART_ELEMENTS && i < part.batch.count; i++)
            if (part.batch.elements[i].type == TW_ELEMENT_INSTR_RANGE) {
                CHECK(part.source_number < 2);
                counts[part.source_number] += part.batch.elements[i].count;
            }
    tw_run_free(run);
}

/* Steps from the first instruction of a thread to its end: all that its own buffer holds. */
static void each_thread_has_its_own_buffer(void **state)
{
    const struct run run = { .path = "two-buffers" };
    const struct tw_run_config how = { .size = sizeof how, .threads = 1 };
    const struct tw_replay_config config = { .size = sizeof config, .run = &how };
    uint64_t counts[2] = { 0 };
    struct tw_capture *capture;
    struct tw_replay *replay;

    (void)state;
    make_two();
    CHECK_EQ(run_open(&capture, &run, NULL, NULL), TW_OK);
    count_executed(capture, counts);
    CHECK(counts[0] > counts[1] && counts[1] > 1000);
    CHECK_EQ(tw_replay_new(&replay, capture, &config, NULL), TW_OK);
    CHECK_EQ(tw_replay_thread_count(replay), 2);
    for (uint32_t thread = 0; thread < 2; thread++) {
        struct tw_replay_place place;
        enum tw_status status = tw_replay_first(replay, &place, thread);
        uint64_t steps = 0;

        check_case("thread %u", (unsigned)thread);
        for (; status == TW_OK && !place.is_end && steps <= counts[0]; steps++)
            status = tw_replay_step(replay, &place, false, NULL);
        CHECK(status == TW_OK || status == TW_END);
        CHECK_EQ(steps, counts[thread]);
    }
    tw_replay_free(replay);
    tw_capture_free(capture);
    remove_two();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_of_a_loop_are_found),
        cmocka_unit_test(endless_loops_are_not_counted),
        cmocka_unit_test(each_thread_has_its_own_buffer),
    };

    return cmocka_run_group_tests_name("replays of made captures", tests, NULL, NULL);
}
