/* SPDX-License-Identifier: BSD-2-Clause */
/* What bytes of unknown origin look like: streams of every kind are known again, other bytes are not. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>

#include "ntrace/test_trip.h"

static struct tw_ntrace_guess guess_of(const uint8_t *bytes, size_t size)
{
    struct tw_ntrace_guess guess = { .size = sizeof guess };

    CHECK_EQ(tw_ntrace_guess(&guess, bytes, size, NULL), TW_OK);
    return guess;
}

static const struct {
    const char *name, *hex;
    uint8_t least, most, src_bits, dialect;
} streams[] = {
    { "nothing", "", 0, 0, 0, 0 },
    { "idle alone", "ffffffffffffffffffffffff", 0, 0, 0, 0 },
    { "zeros", "000000000000000000000000000000000000000000000000", 0, 10, 0, 0 },
    { "text", "5472616365206f66206e6f7468696e6720617420616c6c2c206a75737420776f7264732e0a", 0,
      20, 0, 0 },
    { "BTM", "240d000b0c0f840007240d000b0c1f84000b240d000b84002b240d000b0c0f840007", 50, 100, 0,
      TW_NTRACE_1_0 },
    { "of the dialect: RCODE 8",
      "240d000b6cca6c606c6870d01d1df8ff240d000b6c200f70d01d1df8ff240d000b70d01d1df8ff", 30, 100,
      0, TW_NTRACE_SIFIVE },
};

static void streams_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(streams); i++) {
        uint8_t bytes[128];
        const size_t size = from_hex(bytes, streams[i].hex);
        const struct tw_ntrace_guess guess = guess_of(bytes, size);

        check_case("%s", streams[i].name);
        CHECK(guess.score >= streams[i].least && guess.score <= streams[i].most);
        if (!streams[i].least)
            continue;
        CHECK_EQ(guess.src_bits, streams[i].src_bits);
        CHECK_EQ(guess.dialect, streams[i].dialect);
    }
}

/* Streams of the encoder, of all widths of SRC: some are too poor to tell. */
static void streams_of_the_encoder(void **state)
{
    struct check_random random = check_random_start(31);
    struct program *program = malloc(sizeof *program);
    struct history *history = malloc(sizeof *history);
    struct bytes trace = { .bytes = NULL };
    size_t right = 0, all = 0;

    (void)state;
    CHECK(program != NULL && history != NULL);
    for (size_t i = 0; i < check_scale(1000); i++) {
        struct setup setup = { .name = "" };
        struct tw_ntrace_guess guess;

        tw_ntrace_config_init(&setup.config);
        setup.config.mode = i % 2 ? TW_NTRACE_MODE_BTM : TW_NTRACE_MODE_HTM;
        setup.config.src_bits = (uint8_t)(i / 2 % 13);
        setup.config.src = (uint16_t)check_random_below(&random, 1u << setup.config.src_bits);
        setup.config.sync_messages = 20;
        setup.config.timestamps = i % 3 == 0;
        setup.run.may_trap = true;
        make_program(program, &random);
        run_program(history, program, &setup.run, &random);
        encode(&trace, &setup, history);
        guess = guess_of(trace.bytes, trace.size);
        check_case("stream %zu, src_bits %u", i, setup.config.src_bits);
        if (trace.size < 200)
            continue;
        CHECK(guess.score > 80);
        CHECK_EQ(guess.dialect, TW_NTRACE_1_0);
        CHECK_EQ(guess.pib_bits, 0);
        all++;
        right += guess.src_bits == setup.config.src_bits;
    }
    print_message("%zu of %zu widths of SRC\n", right, all);
    CHECK(right * 10 >= all * 9);
    free(trace.bytes);
    free(program);
    free(history);
}

/* Messages with times, differences added or combined by exclusive or. */
static size_t make_times(uint8_t *out, size_t room, bool is_combined)
{
    struct tw_ntrace_config config;
    struct tw_ntrace_reader writer;
    uint64_t time = 1000, before = 0;
    size_t used = 0;

    tw_ntrace_config_init(&config);
    tw_ntrace_reader_init(&writer, &config);
    for (unsigned i = 0; i < 400; i++) {
        struct tw_ntrace_packet packet = { .base = { .type = TW_NTRACE_DIRECT_BRANCH } };
        size_t size = room - used;

        time += 1 + i % 37;
        packet.has = TW_NTRACE_HAS_TSTAMP;
        packet.icnt = 1 + i % 60;
        packet.tstamp = is_combined ? time ^ before : time - before;
        if (i % 20 == 0) {
            packet.base.type = TW_NTRACE_PROG_TRACE_SYNC;
            packet.sync = i ? TW_NTRACE_SYNC_PERIODIC : TW_NTRACE_SYNC_ENABLED;
            packet.address = 0x80001000 + i;
            packet.tstamp = time;
        }
        before = time;
        CHECK_EQ(tw_ntrace_write(&writer, out + used, &size, &packet), TW_OK);
        used += size;
    }
    return used;
}

static void times_tell_the_dialect(void **state)
{
    uint8_t bytes[8192];

    (void)state;
    for (unsigned is_combined = 0; is_combined < 2; is_combined++) {
        const size_t size = make_times(bytes, sizeof bytes, is_combined);
        const struct tw_ntrace_guess guess = guess_of(bytes, size);

        check_case("%s", is_combined ? "combined" : "added");
        CHECK(guess.score > 90 && guess.has_times);
        CHECK_EQ(guess.dialect, is_combined ? TW_NTRACE_SIFIVE : TW_NTRACE_1_0);
    }
}

/* On few pins messages begin at any edge. */
static void pins_are_found(void **state)
{
    uint8_t bytes[8192], pins[16384];
    const size_t size = make_times(bytes, sizeof bytes, false);

    (void)state;
    for (unsigned width = 1; width <= 4; width *= 2) {
        size_t bits = 0;
        struct tw_ntrace_guess guess;

        memset(pins, 0xff, sizeof pins);
        for (size_t i = 0; i < size; i++) {
            for (unsigned k = 0; k < 8; k++, bits++)
                if (!((unsigned)bytes[i] >> k & 1u))
                    pins[bits / 8] &= (uint8_t) ~(1u << bits % 8);
            if ((bytes[i] & 3) == 3) /* some edges, and now and then a run of them */
                bits += i % 7 ? width : 16 + width;
        }
        guess = guess_of(pins, bits / 8 + 3);
        check_case("%u pins", width);
        CHECK(guess.score > 60);
        CHECK_EQ(guess.pib_bits, width);
    }
}

static void random_bytes_are_none(void **state)
{
    struct check_random random = check_random_start(32);
    uint8_t bytes[4096];

    (void)state;
    for (size_t n = 0; n < check_scale(200); n++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)check_random_next(&random);
        CHECK(guess_of(bytes, sizeof bytes).score < 10);
        CHECK(guess_of(bytes, n + 1).score < 50);
    }
}

/* ---- the corpus */

static uint64_t number_in(const char *text, const char *key, uint64_t otherwise)
{
    char pattern[64];
    const char *at;

    (void)snprintf(pattern, sizeof pattern, "\n%s=", key);
    at = strstr(text, pattern);
    return at ? strtoull(at + strlen(pattern), NULL, 0) : otherwise;
}

static void streams_of_the_corpus(void **state)
{
    char root[700], path[1100];
    const struct dirent *entry;
    size_t right = 0, all = 0, known = 0;
    DIR *folder;

    (void)state;
    check_corpus(root, sizeof root, "ntrace/cases");
    folder = opendir(root);
    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        size_t size, text_size;
        uint8_t *bytes;
        char *text;
        struct tw_ntrace_guess guess;

        if (entry->d_name[0] == '.' || strncmp(entry->d_name, "framed", 6) == 0)
            continue;
        (void)snprintf(path, sizeof path, "%s/%s/trace.bin", root, entry->d_name);
        bytes = check_load(&size, path);
        (void)snprintf(path, sizeof path, "%s/%s/case.txt", root, entry->d_name);
        text = (char *)check_load(&text_size, path);
        text[text_size - 1] = 0;
        guess = guess_of(bytes, size);
        check_case("%s", entry->d_name);
        if (size > 60) {
            CHECK(guess.score > 50);
            CHECK_EQ(guess.dialect, TW_NTRACE_1_0);
            all++;
            known += guess.score > 90;
            right += guess.src_bits == number_in(text, "src_bits", 0);
        }
        free(bytes);
        free(text);
    }
    (void)closedir(folder);
    print_message("%zu streams, %zu above 90, %zu widths of SRC\n", all, known, right);
    CHECK(all > 50 && known * 10 >= all * 9 && right * 20 >= all * 19);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_by_hand),        cmocka_unit_test(streams_of_the_encoder),
        cmocka_unit_test(times_tell_the_dialect), cmocka_unit_test(pins_are_found),
        cmocka_unit_test(random_bytes_are_none),  cmocka_unit_test(streams_of_the_corpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
