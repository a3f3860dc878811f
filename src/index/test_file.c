/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of indexes, files that are damaged or of something else, and want of memory. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "failing.h"
#include "index/file.h"
#include "index/test.h"

/* Looks at everything in it; nothing is to come of that but an answer. */
static void look_at_all(const struct tw_index *index)
{
    const struct tw_index_about *about = tw_index_about(index);
    struct tw_index_stream_block stream_block = { .size = sizeof stream_block };
    struct tw_index_stream stream = { .size = sizeof stream };
    struct tw_index_block block = { .size = sizeof block };
    struct tw_index_entry entry;
    struct tw_frame_event event;
    int answers = 0;

    for (uint64_t i = 0; tw_index_block(index, &block, i) == TW_OK; i++)
        ;
    for (uint64_t i = 0; tw_index_event(index, &event, i) == TW_OK; i++)
        ;
    answers += tw_index_find_trigger(index, &entry, 3);
    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++) {
        for (uint64_t n = 0; tw_index_stream_block(index, &stream_block, i, n) == TW_OK; n++)
            ;
        for (uint64_t n = 0; tw_index_entry(index, &entry, i, n) == TW_OK; n++)
            ;
        answers += tw_index_find_time(index, &entry, i, 2000);
        answers += tw_index_find_before(index, &entry, i, TW_INDEX_SYNC, about->base + 3000);
        answers += tw_index_find_next(index, &entry, i, TW_INDEX_TIME, about->base + 3000);
    }
    CHECK(answers < 1000);
}

/* [CSD 2.3.3.1/7] */
static void a_file_holds_the_same(void **state)
{
    struct fixture fixture;
    struct tw_index *index;
    struct tw_index_file *file;
    const struct tw_index *again;
    uint8_t *bytes, *twice;
    size_t size, twice_size;

    (void)state;
    make_fixture(&fixture, 700);
    for (unsigned detail = TW_INDEX_SOURCE; detail <= TW_INDEX_FULL; detail++) {
        index = build(&fixture, (enum tw_index_detail)detail);
        bytes = bytes_of(index, &size);
        CHECK_EQ(tw_index_open_bytes(&file, bytes, size, NULL, NULL), TW_OK);
        CHECK_EQ(tw_index_file_count(file), 1);
        again = tw_index_file_get(file, 0);
        CHECK(!tw_index_file_get(file, 1));
        CHECK_EQ(tw_index_matches(again, &fixture.about, true, NULL), TW_OK);
        CHECK_EQ(tw_index_file_check(file, NULL), TW_OK);
        twice = bytes_of(again, &twice_size);
        CHECK_BYTES(twice, twice_size, bytes, size);
        free(twice);
        tw_index_close(file);
        free(bytes);
        tw_index_free(index);
    }
    free(fixture.data);
}

/* [CSD 2.3.3.3/1] */
static void damage_is_noticed(void **state)
{
    struct fixture fixture;
    struct tw_index *index;
    struct tw_index_file *file;
    uint8_t *bytes;
    size_t size;

    (void)state;
    make_fixture(&fixture, 300);
    index = build(&fixture, TW_INDEX_FULL);
    bytes = bytes_of(index, &size);
    for (size_t at = 0; at < size; at += at < 200 ? 1 : 97) {
        uint8_t *copy = check_copy(bytes, size);

        check_case("byte %zu", at);
        copy[at] ^= 0x40;
        if (tw_index_open_bytes(&file, copy, size, NULL, NULL) == TW_OK) {
            /* The header's page is no part of it behind the header. */
            if (at < HEADER_BYTES || at >= TW_INDEX_PAGE)
                CHECK_EQ(tw_index_file_check(file, NULL), TW_E_FILE);
            look_at_all(tw_index_file_get(file, 0));
            tw_index_close(file);
        }
        free(copy);
    }
    for (size_t cut = 0; cut < size; cut += 211) {
        uint8_t *copy = check_copy(bytes, cut);

        check_case("cut at %zu", cut);
        CHECK_EQ(tw_index_open_bytes(&file, copy, cut, NULL, NULL), TW_E_FILE);
        free(copy);
    }
    free(bytes);
    tw_index_free(index);
    free(fixture.data);
}

/* [CSD 2.3.3.3/1] */
static void other_captures_are_told_apart(void **state)
{
    struct fixture fixture, other;
    struct tw_fault fault;
    struct tw_index *index;

    (void)state;
    make_fixture(&fixture, 700);
    index = build(&fixture, TW_INDEX_FULL);
    other = fixture;
    other.about.bytes--;
    CHECK_EQ(tw_index_matches(index, &other.about, false, &fault), TW_E_CONFIG);
    other = fixture;
    other.about.framing = TW_FRAMING_TPIU;
    CHECK_EQ(tw_index_matches(index, &other.about, false, &fault), TW_E_CONFIG);
    other = fixture;
    other.about.source_count = 1;
    CHECK_EQ(tw_index_matches(index, &other.about, false, &fault), TW_E_CONFIG);
    fixture.registers[1].value ^= 0x100;
    CHECK_EQ(tw_index_matches(index, &fixture.about, false, &fault), TW_E_CONFIG);
    fixture.registers[1].value ^= 0x100;
    for (size_t at = 0; at < fixture.size; at += 501) {
        fixture.data[at] ^= 2;
        CHECK_EQ(tw_index_matches(index, &fixture.about, true, &fault), TW_E_CONFIG);
        fixture.data[at] ^= 2;
    }
    fixture.data[fixture.size - 1] ^= 2;
    CHECK_EQ(tw_index_matches(index, &fixture.about, false, &fault), TW_E_CONFIG);
    tw_index_free(index);
    free(fixture.data);
}

static void want_of_memory_is_survived(void **state)
{
    struct fixture fixture;
    uint8_t *bytes;
    size_t size;
    bool is_done = false;

    (void)state;
    make_fixture(&fixture, 150);
    {
        struct tw_index *index = build(&fixture, TW_INDEX_FULL);

        bytes = bytes_of(index, &size);
        tw_index_free(index);
    }
    for (size_t n = 0; !is_done; n++) {
        struct failing failing = { .left = n };
        const struct tw_allocator allocator = { failing_resize, &failing };
        const struct tw_index_config config = { .size = sizeof config,
                                                .detail = TW_INDEX_FULL,
                                                .block_bytes = BLOCK };
        struct tw_index_file *file;
        struct tw_index *index;
        uint64_t offset;
        enum tw_status status;

        fixture.about.allocator = &allocator;
        status = tw_index_build(&index, &fixture.about, &config, NULL);
        if (status == TW_OK)
            status = tw_index_locate(&fixture.about, NULL, &offset, NULL, 500);
        if (status == TW_OK)
            status = tw_index_open_bytes(&file, bytes, size, &allocator, NULL);
        if (status == TW_OK)
            tw_index_close(file);
        tw_index_free(index);
        is_done = status == TW_OK;
        CHECK(is_done || status == TW_E_MEMORY);
        CHECK_EQ(failing.live, 0);
    }
    fixture.about.allocator = NULL;
    free(bytes);
    free(fixture.data);
}

/* A time is looked for in the sources that are wanted: with a full index, a sparse one, without. */
static void a_time_of_some_sources(void **state)
{
    static const struct {
        uint64_t ids[2];
        bool is_there;
    } rows[] = {
        { { (uint64_t)1 << 0x10, 0 }, true },
        { { UINT64_MAX, UINT64_MAX }, true },
        { { 0, 0 }, false },
        { { ~((uint64_t)1 << 0x10 | (uint64_t)1 << 0x22), UINT64_MAX }, false },
        { { 0, (uint64_t)1 << 0x10 }, false }, /* 0x50 */
    };
    static const enum tw_index_detail details[] = { TW_INDEX_FULL, TW_INDEX_SPARSE };
    struct fixture fixture;
    uint64_t want = 0;

    (void)state;
    make_fixture(&fixture, 150);
    CHECK_EQ(tw_index_locate(&fixture.about, NULL, &want, NULL, 500), TW_OK);
    for (size_t k = 0; k <= LENGTH(details); k++) {
        struct tw_index *index = k < LENGTH(details) ? build(&fixture, details[k]) : NULL;

        for (size_t i = 0; i < LENGTH(rows); i++) {
            uint64_t offset = 0;

            check_case("index %zu, IDs %zu", k, i);
            CHECK_EQ(tw_index_locate(&fixture.about, index, &offset, rows[i].ids, 500),
                     rows[i].is_there ? TW_OK : TW_END);
            CHECK(!rows[i].is_there || offset >= want);
        }
        tw_index_free(index);
    }
    free(fixture.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_holds_the_same),
        cmocka_unit_test(damage_is_noticed),
        cmocka_unit_test(other_captures_are_told_apart),
        cmocka_unit_test(a_time_of_some_sources),
        cmocka_unit_test(want_of_memory_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
