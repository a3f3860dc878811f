/* SPDX-License-Identifier: BSD-2-Clause */
/* A pyramid that gets sums has the tiles of one that gets each element, whatever is damaged and wherever a run begins. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <trackway/experimental.h>

#include "base/platform.h"

enum { BLOCK = 1024, TIMES = 4, CASES = 400 };

static const char folder[] = "test_pyramid_sums";
static const char *const files[] = { "snapshot.ini", "device_0.ini", "device_1.ini",
                                     "trace.ini", "recur.elf" };
static const char *const others[] = { "ETB_0.bin", "device_2.ini", "device_3.ini" };

static size_t read_file(unsigned char *bytes, size_t room, const char *name)
{
    char path[512];
    FILE *file;
    size_t size;

    (void)snprintf(path, sizeof path, TW_SOURCE_DIR "/tests/captures/demo/%s", name);
    file = fopen(path, "rb");
    CHECK(file);
    size = fread(bytes, 1, room, file);
    (void)fclose(file);
    return size;
}

static void write_file(const unsigned char *bytes, size_t size, const char *name)
{
    char path[512];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    CHECK(file);
    CHECK_EQ(fwrite(bytes, 1, size, file), size);
    CHECK_EQ(fclose(file), 0);
}

static void copy_demo(void)
{
    static unsigned char bytes[1 << 20];

    (void)mkdir(folder, 0777);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_file(bytes, read_file(bytes, sizeof bytes, files[i]), files[i]);
}

static void remove_demo(void)
{
    char path[512];

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        (void)remove(path);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, others[i]);
        (void)remove(path);
    }
    (void)rmdir(folder);
}

/* How a stretch comes to a pyramid. */
struct way {
    uint64_t stretch; /* bytes */
    bool is_summed;
    uint32_t threads;
};

/* A run from one offset on; what lies behind another is left out here, as who looks at windows does. */
static void take_stretch(struct tw_pyramid *pyramid, struct tw_capture *capture,
                         const struct way *way, uint64_t from, uint64_t to)
{
    const struct tw_run_place place = { .kind = TW_PLACE_OFFSET, .value = from };
    struct tw_run_config config = { .size = sizeof config, .threads = way->threads };
    struct tw_part part = { .size = sizeof part };
    struct tw_run_sums sums;
    struct tw_run *run;
    enum tw_status status;

    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, from, to), TW_OK);
    config.sums = way->is_summed ? &sums : NULL;
    CHECK_EQ(tw_run_new(&run, capture, &config, NULL), TW_OK);
    if (from)
        CHECK_EQ(tw_run_seek(run, &place), TW_OK);
    while ((status = tw_run_next(run, &part)) == TW_OK) {
        struct tw_part inside = part;

        for (size_t i = 0; i < part.batch.count; i++) {
            inside.batch.elements = part.batch.elements + i;
            inside.batch.count = 1;
            CHECK(inside.batch.elements->type != TW_ELEMENT_REPEAT);
            if (inside.batch.elements->index < to)
                CHECK_EQ(tw_pyramid_take(pyramid, run, &inside), TW_OK);
        }
    }
    CHECK_EQ(status, TW_END);
    tw_run_free(run);
}

static struct tw_pyramid *pyramid_of(struct tw_capture *capture, const struct way *way)
{
    const struct tw_pyramid_config config = { .size = sizeof config,
                                              .bytes = tw_capture_buffer(capture, 0)->size,
                                              .block = BLOCK };
    struct tw_pyramid *pyramid;

    CHECK_EQ(tw_pyramid_new(&pyramid, &config, NULL), TW_OK);
    for (uint64_t at = 0; at < config.bytes; at += way->stretch)
        take_stretch(pyramid, capture, way, at,
                     at + way->stretch < config.bytes ? at + way->stretch : config.bytes);
    CHECK_EQ(tw_pyramid_finish(pyramid), TW_OK);
    return pyramid;
}

static void same_tiles(const struct tw_pyramid *one, const struct tw_pyramid *other)
{
    struct tw_tile a = { .size = sizeof a }, b = { .size = sizeof b };

    CHECK_EQ(tw_pyramid_tiles(one, 0), tw_pyramid_tiles(other, 0));
    for (size_t i = 0; tw_pyramid_tile(one, &a, 0, i); i++) {
        CHECK(tw_pyramid_tile(other, &b, 0, i));
        CHECK_EQ(a.is_seen, b.is_seen);
        CHECK_EQ(a.instructions, b.instructions);
        CHECK_EQ(a.calls, b.calls);
        CHECK_EQ(a.exceptions, b.exceptions);
        CHECK_EQ(a.overflows, b.overflows);
        CHECK_EQ(a.discards, b.discards);
        CHECK_EQ(a.errors, b.errors);
        CHECK_EQ(a.gaps, b.gaps);
        CHECK_EQ(a.missing_code, b.missing_code);
        CHECK_EQ(a.first, b.first);
        CHECK_EQ(a.last, b.last);
        CHECK_EQ(a.function_count, b.function_count);
        for (size_t k = 0; k < a.function_count; k++) {
            CHECK_EQ(a.functions[k].self, b.functions[k].self);
            CHECK_TEXT(tw_pyramid_name(one, a.functions[k].function),
                       tw_pyramid_name(other, b.functions[k].function));
        }
    }
}

/* Whether a capture has the same tiles in every way. */
static void same_in_every_way(void)
{
    static const struct way ways[] = { { 1 << 20, false, 1 },  { 1 << 20, true, 1 },
                                       { BLOCK, false, 1 },    { BLOCK, true, 1 },
                                       { 3 * BLOCK, true, 1 }, { 3 * BLOCK, true, 2 } };
    struct tw_pyramid *first, *other;
    struct tw_capture *capture;
    struct tw_fault fault;

    CHECK_EQ(tw_capture_open(&capture, folder, NULL, &fault), TW_OK);
    first = pyramid_of(capture, &ways[0]);
    for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
        check_case("way %zu", i);
        other = pyramid_of(capture, &ways[i]);
        same_tiles(first, other);
        tw_pyramid_free(other);
    }
    tw_pyramid_free(first);
    tw_capture_free(capture);
}

static size_t fill_trace(unsigned char *bytes, size_t room)
{
    const size_t size = read_file(bytes, room, "ETB_0.bin");

    for (size_t i = 1; i < TIMES; i++)
        memcpy(bytes + i * size, bytes, size);
    return size * TIMES;
}

static void sums_are_what_elements_are(void **state)
{
    static unsigned char trace[1 << 16];

    (void)state;
    copy_demo();
    write_file(trace, fill_trace(trace, sizeof trace), "ETB_0.bin");
    same_in_every_way();
    remove_demo();
}

static void damaged_trace_has_the_same_tiles(void **state)
{
    static unsigned char trace[1 << 16];
    struct check_random random = check_random_start(20);
    const size_t cases = check_scale(CASES);

    (void)state;
    copy_demo();
    for (size_t i = 0; i < cases; i++) {
        size_t size = fill_trace(trace, sizeof trace);

        for (uint64_t k = 1 + check_random_below(&random, 20); k > 0; k--) {
            const size_t at = (size_t)check_random_below(&random, size - 64);
            const size_t less = (size_t)check_random_below(&random, 40);

            if (check_random_below(&random, 2)) {
                trace[at] = (unsigned char)check_random_next(&random);
            } else {
                memmove(trace + at, trace + at + less, size - at - less);
                size -= less;
            }
        }
        write_file(trace, size, "ETB_0.bin");
        same_in_every_way();
    }
    remove_demo();
}

/* The demo's trace of two cores, which take turns at random: packets lie on both sides of long stretches of the other's. */
static void write_two(struct check_random *random)
{
    static const struct tw_unframer_config frames = { .size = sizeof frames,
                                                      .framing = TW_FRAMING_MEMORY };
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = TW_FRAMING_MEMORY };
    static unsigned char trace[1 << 16];
    const size_t size = fill_trace(trace, sizeof trace);
    struct tw_unframer *unframer;
    struct tw_framer *framer;
    struct tw_stream stream;
    size_t done[2] = { 0 }, made;
    const uint8_t *bytes;

    CHECK_EQ(tw_unframer_new(&unframer, &frames, NULL), TW_OK);
    CHECK_EQ(tw_framer_new(&framer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, trace, size), TW_OK);
    stream = tw_unframer_stream(unframer, 0x10);
    for (unsigned i = 0; done[0] < stream.size || done[1] < stream.size; i ^= 1) {
        const size_t left = stream.size - done[i];
        const size_t wished = (size_t)check_random_below(random, 1800);
        const size_t now = wished < left ? wished : left;

        CHECK_EQ(tw_framer_write(framer, (uint8_t)(0x10 + i), stream.bytes + done[i], now),
                 TW_OK);
        done[i] += now;
    }
    CHECK_EQ(tw_framer_finish(framer), TW_OK);
    bytes = tw_framer_output(framer, &made);
    write_file(bytes, made, "ETB_0.bin");
    tw_framer_free(framer);
    tw_unframer_free(unframer);
}

static void write_text(const char *text, const char *name)
{
    write_file((const unsigned char *)text, strlen(text), name);
}

static void sources_that_take_turns(void **state)
{
    static unsigned char unit[4096];
    struct check_random random = check_random_start(21);
    char *id;

    (void)state;
    copy_demo();
    write_text("[snapshot]\nversion=1.0\n[device_list]\ndevice0=device_0.ini\n"
               "device1=device_1.ini\ndevice2=device_2.ini\ndevice3=device_3.ini\n"
               "[trace]\nmetadata=trace.ini\n",
               "snapshot.ini");
    write_text("[trace_buffers]\nbuffers=buffer0\n[buffer0]\nname=ETB_0\nfile=ETB_0.bin\n"
               "format=coresight\n[source_buffers]\nETM_0=ETB_0\nETM_1=ETB_0\n"
               "[core_trace_sources]\ncpu_0=ETM_0\ncpu_1=ETM_1\n",
               "trace.ini");
    write_text("[device]\nname=cpu_1\nclass=core\ntype=Cortex-A53\n[dump]\nfile=recur.elf\n"
               "address=0x400000\nlength=0x9b8\n",
               "device_2.ini");
    CHECK(read_file(unit, sizeof unit - 1, "device_1.ini") > 0);
    id = strstr((char *)unit, "ETM_0");
    CHECK(id);
    id[4] = '1';
    id = strstr((char *)unit, "0x00000010");
    CHECK(id);
    id[9] = '1';
    write_text((const char *)unit, "device_3.ini");
    for (size_t i = 0; i < check_scale(CASES); i++) {
        write_two(&random);
        same_in_every_way();
    }
    remove_demo();
}

/* What a run gives by sums, and what by parts. */
struct seen {
    uint64_t ranges, elements, forgotten;
    uint64_t least, most; /* blocks */
};

static void see_sums(void *context, struct tw_run *run, const struct tw_part *part, uint64_t at,
                     const struct tw_range_sum *sums, size_t count)
{
    struct seen *seen = context;

    (void)run;
    CHECK(part->source && part->image);
    CHECK_EQ(at % BLOCK, 0);
    seen->least = at < seen->least ? at : seen->least;
    seen->most = at > seen->most ? at : seen->most;
    for (size_t i = 0; i < count; i++)
        seen->ranges += sums[i].is_edge ? 0 : sums[i].times;
}

static void see_elements(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct seen *seen = context;

    (void)run;
    seen->elements += part->batch.count;
}

static void see_again(void *context)
{
    struct seen *seen = context;

    seen->forgotten++;
}

/* Most of it does come as sums, and none of what was not wished. */
static void ranges_are_summed(void **state)
{
    struct seen seen = { .least = UINT64_MAX };
    struct tw_run_sums sums = { .size = sizeof sums,
                                .block = BLOCK,
                                .from = BLOCK,
                                .to = 2 * BLOCK,
                                .context = &seen,
                                .sum = see_sums,
                                .take = see_elements,
                                .forget = see_again };
    struct tw_run_config config = { .size = sizeof config, .threads = 1, .sums = &sums };
    struct tw_capture *capture;
    struct tw_fault fault;
    struct tw_run *run;

    (void)state;
    CHECK_EQ(tw_capture_open(&capture, TW_SOURCE_DIR "/tests/captures/demo", NULL, &fault),
             TW_OK);
    CHECK_EQ(tw_run_new(&run, capture, &config, &fault), TW_OK);
    CHECK_EQ(tw_run_all(run), TW_OK);
    tw_run_free(run);
    CHECK(seen.ranges > 100);
    CHECK(seen.elements > 0);
    CHECK_EQ(seen.forgotten, 0);
    CHECK_EQ(seen.least, BLOCK);
    CHECK_EQ(seen.most, BLOCK);
    sums.forget = NULL;
    CHECK_EQ(tw_run_new(&run, capture, &config, &fault), TW_E_ARGUMENT);
    sums.forget = see_again;
    sums.block = 0;
    CHECK_EQ(tw_run_new(&run, capture, &config, &fault), TW_E_ARGUMENT);
    tw_capture_free(capture);
}

static void stretches_are_of_whole_tiles(void **state)
{
    const struct tw_pyramid_config config = { .size = sizeof config,
                                              .bytes = 5 * BLOCK + 7,
                                              .block = BLOCK };
    struct tw_pyramid *pyramid;
    struct tw_run_sums sums;

    (void)state;
    CHECK_EQ(tw_pyramid_new(&pyramid, &config, NULL), TW_OK);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, BLOCK, 3 * BLOCK), TW_OK);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, 5 * BLOCK, 5 * BLOCK + 7), TW_OK);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, BLOCK + 1, 3 * BLOCK), TW_E_ARGUMENT);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, BLOCK, 3 * BLOCK - 1), TW_E_ARGUMENT);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, 3 * BLOCK, BLOCK), TW_E_ARGUMENT);
    CHECK_EQ(tw_pyramid_sums(pyramid, &sums, 0, 6 * BLOCK), TW_E_ARGUMENT);
    tw_pyramid_free(pyramid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_what_elements_are),
        cmocka_unit_test(damaged_trace_has_the_same_tiles),
        cmocka_unit_test(sources_that_take_turns),
        cmocka_unit_test(ranges_are_summed),
        cmocka_unit_test(stretches_are_of_whole_tiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
