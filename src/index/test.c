/* SPDX-License-Identifier: BSD-2-Clause */
/* Indexes: what is in them, and how they are searched. */
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/trackway.h>

#include "index/hash.h"
#include "index/test.h"

/* ---- the hash ---- */

/* Indexes in files hold these: they stay what they are. */
static void hashes_are_for_good(void **state)
{
    static const struct {
        size_t size;
        uint64_t want;
    } cases[] = { { 0, 0x87dc0576e27d5dc7 },  { 1, 0x13cadfa8ede467cc },
                  { 31, 0xcb84da1f91121bd0 }, { 32, 0x49605aa333df0bce },
                  { 33, 0x1d3e0438f0ed3f20 }, { 300, 0x0ba0828be754e152 } };
    uint8_t bytes[300];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 + 1);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        check_case("%zu bytes", cases[i].size);
        CHECK_EQ(tw_hash_of(bytes, cases[i].size), cases[i].want);
    }
}

static void pieces_do_not_matter_to_the_hash(void **state)
{
    struct check_random random = check_random_start(1);
    uint8_t bytes[300];

    (void)state;
    check_random_fill(&random, bytes, sizeof bytes);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        const uint64_t want = tw_hash_of(bytes, size);
        struct tw_hash hash;

        tw_hash_begin(&hash);
        for (size_t at = 0; at < size;) {
            size_t piece = 1 + (size_t)check_random_below(&random, 50);

            piece = piece < size - at ? piece : size - at;
            tw_hash_add(&hash, bytes + at, piece);
            at += piece;
        }
        CHECK_EQ(tw_hash_end(&hash), want);
        if (size) {
            bytes[size - 1] ^= 1;
            CHECK(tw_hash_of(bytes, size) != want);
            bytes[size - 1] ^= 1;
        }
        CHECK(tw_hash_of(bytes, size < 299 ? size + 1 : 0) != want);
    }
}

/* ---- the source index ---- */

struct map {
    uint64_t ids[64][2];
    struct tw_unframer *unframer;
};

static void note_run(void *context, uint8_t id, uint64_t capture, uint64_t stream,
                     const uint8_t *bytes, size_t size)
{
    struct map *map = context;

    (void)stream;
    (void)bytes;
    for (size_t i = 0; i < size && id < 128; i++)
        map->ids[(capture + i - BASE) / BLOCK][id / 64] |= (uint64_t)1 << id % 64;
}

/* [CSD 2.3.3.1/1] [CSD 2.3.3.1/2] [CSD 2.3.3.1/3] */
static void blocks_tell_ids_and_events(void **state)
{
    struct fixture fixture;
    struct map map = { .unframer = NULL };
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = TW_FRAMING_MEMORY,
                                         .base = BASE,
                                         .on_run = note_run,
                                         .on_run_context = &map };
    struct tw_index *index;
    const struct tw_index_about *about;
    const struct tw_frame_event *events;
    struct tw_frame_event event;
    size_t count;

    (void)state;
    make_fixture(&fixture, 700);
    index = build(&fixture, TW_INDEX_SOURCE);
    about = tw_index_about(index);
    CHECK_EQ(tw_unframer_new(&map.unframer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(map.unframer, fixture.data, fixture.size), TW_OK);
    CHECK_EQ(tw_unframer_finish(map.unframer), TW_OK);
    CHECK_EQ(about->blocks, (fixture.size + BLOCK - 1) / BLOCK);
    CHECK(about->blocks < 64 && about->blocks > 10);
    CHECK(about->is_complete);
    CHECK_EQ(about->indexed, fixture.size);
    CHECK_TEXT(about->name, "ETB_0");
    CHECK(memcmp(&about->frames, tw_unframer_stats(map.unframer), sizeof about->frames) == 0);
    events = tw_unframer_events(map.unframer, &count);
    CHECK_EQ(about->events, count);
    for (uint64_t i = 0; i < about->blocks; i++) {
        struct tw_index_block block = { .size = sizeof block };

        CHECK_EQ(tw_index_block(index, &block, i), TW_OK);
        CHECK_EQ(block.offset, BASE + i * BLOCK);
        CHECK_EQ(block.ids[0], map.ids[i][0]);
        CHECK_EQ(block.ids[1], map.ids[i][1]);
        for (uint32_t n = 0; n < block.events; n++) {
            CHECK_EQ(tw_index_event(index, &event, block.first_event + n), TW_OK);
            CHECK(event.offset - block.offset < BLOCK);
        }
    }
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(tw_index_event(index, &event, i), TW_OK);
        CHECK(event.offset == events[i].offset && event.kind == events[i].kind &&
              event.value == events[i].value && event.length == events[i].length);
    }
    CHECK_EQ(tw_index_event(index, &event, count), TW_END);
    tw_unframer_free(map.unframer);
    tw_index_free(index);
    free(fixture.data);
}

static void pieces_do_not_matter(void **state)
{
    struct check_random random = check_random_start(2);
    const struct tw_index_config config = {
        .size = sizeof config, .detail = TW_INDEX_FULL, .block_bytes = BLOCK, .name = "ETB_0"
    };
    struct fixture fixture;
    struct tw_index *index;
    uint8_t *want, *got;
    size_t want_size, got_size;

    (void)state;
    make_fixture(&fixture, 700);
    index = build(&fixture, TW_INDEX_FULL);
    want = bytes_of(index, &want_size);
    tw_index_free(index);
    for (size_t i = 0; i < check_scale(100); i++) {
        CHECK_EQ(tw_index_new(&index, &fixture.about, &config, NULL), TW_OK);
        for (size_t at = 0; at < fixture.size;) {
            size_t piece = 1 + (size_t)check_random_below(&random, i % 2 ? 40 : 3000);

            piece = piece < fixture.size - at ? piece : fixture.size - at;
            CHECK_EQ(tw_index_feed(index, fixture.data + at, piece), TW_OK);
            at += piece;
        }
        CHECK_EQ(tw_index_finish(index), TW_OK);
        got = bytes_of(index, &got_size);
        CHECK_BYTES(got, got_size, want, want_size);
        free(got);
        tw_index_free(index);
    }
    free(want);
    free(fixture.data);
}

/* ---- parts ---- */

/* [CSD 2.3.3.1/6] */
static void parts_leave_the_rest_out(void **state)
{
    struct fixture fixture;
    const struct tw_index_config config = { .size = sizeof config,
                                            .detail = TW_INDEX_FULL,
                                            .block_bytes = BLOCK };
    struct tw_index *index, *whole;
    struct tw_index_block block = { .size = sizeof block }, same = { .size = sizeof same };
    uint64_t from, to;

    (void)state;
    make_fixture(&fixture, 700);
    whole = build(&fixture, TW_INDEX_FULL);
    CHECK_EQ(tw_index_new(&index, &fixture.about, &config, NULL), TW_OK);
    CHECK_EQ(tw_index_feed(index, fixture.data, 700), TW_OK);
    CHECK_EQ(tw_index_skip(index, BASE + 700), TW_E_ARGUMENT);
    CHECK_EQ(tw_index_skip(index, BASE), TW_E_ARGUMENT);
    CHECK_EQ(tw_index_skip(index, BASE + 8 * BLOCK), TW_OK);
    CHECK_EQ(tw_index_feed(index, fixture.data + 8 * BLOCK, 3 * BLOCK), TW_OK);
    CHECK_EQ(tw_index_feed(index, fixture.data, fixture.size), TW_E_ARGUMENT);
    CHECK_EQ(tw_index_finish(index), TW_OK);
    CHECK(!tw_index_about(index)->is_complete);
    CHECK_EQ(tw_index_about(index)->indexed, 700 + 3 * BLOCK);
    CHECK_EQ(tw_index_part(index, &from, &to, 0), TW_OK);
    CHECK(from == BASE && to == BASE + 700);
    CHECK_EQ(tw_index_part(index, &from, &to, 1), TW_OK);
    CHECK(from == BASE + 8 * BLOCK && to == BASE + 11 * BLOCK);
    CHECK_EQ(tw_index_part(index, &from, &to, 2), TW_END);
    for (uint64_t i = 0; i < 11; i++) {
        CHECK_EQ(tw_index_block(index, &block, i), TW_OK);
        CHECK_EQ(tw_index_block(whole, &same, i), TW_OK);
        CHECK_EQ(block.bytes, i == 0 || i > 7 ? BLOCK : i == 1 ? 700 - BLOCK : 0);
        if (i == 0)
            CHECK(block.ids[0] == same.ids[0] && block.events == same.events);
    }
    CHECK_EQ(tw_index_matches(index, &fixture.about, true, NULL), TW_OK);
    tw_index_free(index);
    tw_index_free(whole);
    free(fixture.data);
}

/* ---- searching ---- */

/* Every answer of the searches by walking through all entries. */
static void check_searches(const struct tw_index *index, size_t stream,
                           struct check_random *random, size_t size)
{
    struct tw_index_entry entry, got;
    struct tw_index_stream about = { .size = sizeof about };

    CHECK_EQ(tw_index_stream(index, &about, stream), TW_OK);
    for (size_t i = 0; i < check_scale(300); i++) {
        const uint64_t offset = BASE + check_random_below(random, size + 20) - 10;
        const uint64_t time = check_random_below(random, 9000);
        const enum tw_index_kind kind =
            (enum tw_index_kind)check_random_below(random, TW_INDEX_KINDS);
        struct tw_index_entry before = { 0 }, next = { 0 }, buffered = { 0 }, last = { 0 };
        bool has_before = false, has_next = false, is_buffered = false, has_last = false;
        uint64_t nth = 0;
        enum tw_status status;

        for (uint64_t n = 0; tw_index_entry(index, &entry, stream, n) == TW_OK; n++) {
            if (entry.kind == TW_INDEX_TIME && !is_buffered) {
                if (entry.value >= time) {
                    buffered = entry.value == time || !has_last ? entry : last;
                    is_buffered = true;
                }
                last = entry;
                has_last = true;
            }
            if (entry.kind != kind)
                continue;
            if (entry.offset < offset) {
                before = entry;
                has_before = true;
            } else if (!has_next) {
                next = entry;
                has_next = true;
            }
            if (n % 37 == 0) {
                CHECK_EQ(tw_index_find_nth(index, &got, stream, kind, nth), TW_OK);
                CHECK(got.offset == entry.offset && got.value == entry.value);
            }
            nth++;
        }
        CHECK_EQ(nth, about.counts[kind]);
        CHECK_EQ(tw_index_find_nth(index, &got, stream, kind, nth), TW_END);
        status = tw_index_find_before(index, &got, stream, kind, offset);
        CHECK_EQ(status, has_before ? TW_OK : TW_END);
        if (has_before)
            CHECK(got.offset == before.offset && got.value == before.value);
        status = tw_index_find_next(index, &got, stream, kind, offset);
        CHECK_EQ(status, has_next ? TW_OK : TW_END);
        if (has_next)
            CHECK(got.offset == next.offset && got.value == next.value);
        status = tw_index_find_time(index, &got, stream, time);
        CHECK_EQ(status, has_last ? TW_OK : TW_END);
        if (has_last)
            CHECK_EQ(got.offset, is_buffered ? buffered.offset : last.offset);
    }
}

/* [CSD 2.3.3.2/5] [CSD 2.3.3.3/2] */
static void searches_find_what_a_walk_finds(void **state)
{
    struct check_random random = check_random_start(3);
    struct fixture fixture;
    struct tw_index *index, *sparse;
    struct tw_index_entry entry;
    uint64_t last = 0, number, triggers = 0;
    size_t stream = 9;

    (void)state;
    make_fixture(&fixture, 700);
    index = build(&fixture, TW_INDEX_FULL);
    sparse = build(&fixture, TW_INDEX_SPARSE);
    check_searches(index, 0, &random, fixture.size);
    check_searches(index, 1, &random, fixture.size);
    while (tw_index_find_trigger(index, &entry, triggers) == TW_OK) {
        CHECK(entry.offset >= last);
        last = entry.offset;
        triggers++;
    }
    CHECK_EQ(triggers, 7 + 14); /* of the frames and of the STM */
    CHECK_EQ(tw_index_stream_of(index, &stream, 0x22), TW_OK);
    CHECK_EQ(stream, 1);
    CHECK_EQ(tw_index_stream_of(index, &stream, 0x23), TW_END);
    CHECK_EQ(tw_index_find_nth(sparse, &entry, 0, TW_INDEX_SYNC, 0), TW_E_UNSUPPORTED);
    CHECK_EQ(tw_index_find_nth(index, &entry, 2, TW_INDEX_SYNC, 0), TW_END);
    CHECK_EQ(tw_index_find_offset(index, &number, 0, 0), TW_OK);
    CHECK_EQ(number, 0);
    for (uint64_t i = 0; i < tw_index_about(index)->blocks; i++) {
        struct tw_index_stream_block a = { .size = sizeof a }, b = { .size = sizeof b };

        CHECK_EQ(tw_index_stream_block(index, &a, 0, i), TW_OK);
        CHECK_EQ(tw_index_stream_block(sparse, &b, 0, i), TW_OK);
        CHECK(memcmp(&a, &b, sizeof a) == 0);
        CHECK(!a.counts[TW_INDEX_TIME] || a.first_time <= a.last_time);
    }
    tw_index_free(index);
    tw_index_free(sparse);
    free(fixture.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_for_good),
        cmocka_unit_test(pieces_do_not_matter_to_the_hash),
        cmocka_unit_test(blocks_tell_ids_and_events),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(parts_leave_the_rest_out),
        cmocka_unit_test(searches_find_what_a_walk_finds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
