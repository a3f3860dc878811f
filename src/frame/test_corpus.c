/* SPDX-License-Identifier: BSD-2-Clause */
/* Real captures: the stream of each ID has the length and digest that the corpus gives. */
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#include "frame_oracle.h"
#include "sha256.h"

enum { PATH_ROOM = 2048 };

static void set_path(char path[PATH_ROOM], const char *format, ...)
{
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(path, PATH_ROOM, format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && length < PATH_ROOM);
}

/* The value of the next `"key": ` after `at`, without quotes; NULL if there is none. */
static const char *find(char *value, size_t room, const char *at, const char *key)
{
    char pattern[64];
    size_t length;

    (void)snprintf(pattern, sizeof pattern, "\"%s\": ", key);
    at = strstr(at, pattern);
    if (!at)
        return NULL;
    at += strlen(pattern);
    at += *at == '"';
    length = strcspn(at, "\",\n");
    CHECK(length < room);
    memcpy(value, at, length);
    value[length] = '\0';
    return at + length;
}

/* The files of a buffer, joined. */
static uint8_t *load_buffer(size_t *size, const char *folder, char *files)
{
    uint8_t *joined = NULL;

    *size = 0;
    for (char *name = strtok(files, ","); name; name = strtok(NULL, ",")) {
        char path[PATH_ROOM];
        uint8_t *part;
        size_t part_size;

        set_path(path, "%s/%s", folder, name + strspn(name, " "));
        part = check_load(&part_size, path);
        CHECK(part != NULL);
        joined = realloc(joined, *size + part_size + 1);
        CHECK(joined != NULL);
        memcpy(joined + *size, part, part_size);
        *size += part_size;
        free(part);
    }
    return joined;
}

static void unframe(struct oracle_result *result, enum tw_framing framing, bool with_runs,
                    const uint8_t *data, size_t size)
{
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = framing,
                                               .wanted = { UINT64_MAX, UINT64_MAX },
                                               .on_run = with_runs ? oracle_on_run : NULL,
                                               .on_run_context = result };
    struct tw_unframer *unframer;

    memset(result, 0, sizeof *result);
    CHECK_EQ(tw_unframer_new(&unframer, &config, NULL), TW_OK);
    CHECK_EQ(tw_unframer_feed(unframer, data, size), TW_OK);
    CHECK_EQ(tw_unframer_finish(unframer), TW_OK);
    oracle_gather_end(result, unframer);
    tw_unframer_free(unframer);
}

static bool is_damaged(const struct oracle_result *result)
{
    for (size_t i = 0; i < result->event_count; i++)
        if (result->events[i].kind == TW_FRAME_LOST)
            return true;
    return false;
}

/* Digest of the bytes that a plain unpacking gives to an ID. */
static size_t digest(char text[65], const struct oracle_log *plain, uint8_t id)
{
    uint8_t *bytes = malloc(plain->size + 1);
    size_t size = 0;

    CHECK(bytes != NULL);
    for (size_t i = 0; i < plain->size; i++)
        if (plain->ids[i] == id)
            bytes[size++] = plain->bytes[i];
    sha256_text(text, bytes, size);
    free(bytes);
    return size;
}

/* Each stream that the run names, and no others.  Returns how many there are. */
static unsigned check_streams(const struct oracle_result *runs,
                              const struct oracle_result *fast, const char *streams)
{
    unsigned count = 0;
    size_t total = 0;

    for (unsigned id = 0; id <= TW_ID_UNKNOWN; id++) {
        char name[16], size[32], want[80], text[65];
        const char *at;

        (void)snprintf(name, sizeof name, id == TW_ID_UNKNOWN ? "none" : "0x%02x", id);
        at = find(size, sizeof size, streams, name);
        if (!at)
            continue;
        at = find(size, sizeof size, at, "bytes");
        CHECK(at && find(want, sizeof want, at, "sha256"));
        CHECK_EQ(digest(text, &runs->plain, (uint8_t)id), strtoul(size, NULL, 10));
        CHECK_TEXT(text, want);
        if (id < 128 && !is_damaged(runs)) {
            sha256_text(text, fast->decoders[id].bytes, fast->decoders[id].size);
            CHECK_TEXT(text, want);
        }
        total += runs->counts[id];
        count++;
    }
    CHECK_EQ(total, runs->plain.size);
    return count;
}

/* Returns the number of streams compared. */
static unsigned check_run(const char *corpus, const char *name, const char *run)
{
    char path[PATH_ROOM], files[512], format[64];
    const char *streams, *at;
    uint8_t *data;
    char *json;
    size_t size;
    unsigned count = 0;

    set_path(path, "%s/expected/%s/%s/run.json", corpus, name, run);
    data = check_load(&size, path);
    if (!data)
        return 0;
    json = malloc(size + 1);
    CHECK(json != NULL);
    memcpy(json, data, size);
    json[size] = '\0';
    free(data);
    streams = strstr(json, "\"streams\"");
    at = find(files, sizeof files, json, "file");
    if (streams && at && find(format, sizeof format, at, "format")) {
        const enum tw_framing framing =
            strcmp(format, "dstream_coresight") == 0 ? TW_FRAMING_DSTREAM : TW_FRAMING_MEMORY;
        struct oracle_result runs, fast, want;
        const struct tw_unframer_config config = { .framing = framing,
                                                   .wanted = { UINT64_MAX, UINT64_MAX } };

        check_case("%s/%s", name, run);
        set_path(path, "%s/snapshots/%s", corpus, name);
        data = load_buffer(&size, path, files);
        unframe(&runs, framing, true, data, size);
        unframe(&fast, framing, false, data, size);
        count = check_streams(&runs, &fast, streams);
        oracle_run(&want, &config, data, size);
        CHECK(!oracle_difference(&runs, &want, true));
        CHECK(!oracle_difference(&fast, &want, false));
        oracle_free(&runs);
        oracle_free(&fast);
        oracle_free(&want);
        free(data);
    }
    free(json);
    return count;
}

static void gives_the_corpus_digests(void **state)
{
    char corpus[PATH_ROOM], path[PATH_ROOM];
    const struct dirent *name, *run;
    unsigned count = 0, runs = 0;
    DIR *names;

    (void)state;
    check_corpus(corpus, sizeof corpus, "coresight");
    set_path(path, "%s/expected", corpus);
    names = opendir(path);
    CHECK(names != NULL);
    while ((name = readdir(names)) != NULL) {
        DIR *inner;

        set_path(path, "%s/expected/%s", corpus, name->d_name);
        inner = name->d_name[0] == '.' ? NULL : opendir(path);
        while (inner && (run = readdir(inner)) != NULL) {
            const unsigned streams = check_run(corpus, name->d_name, run->d_name);

            count += streams;
            runs += streams != 0;
        }
        if (inner)
            (void)closedir(inner);
    }
    (void)closedir(names);
    print_message("%u streams of %u runs\n", count, runs);
    CHECK(runs > 0);
}

static void digests_are_right(void **state)
{
    char text[65];

    (void)state;
    sha256_text(text, NULL, 0);
    CHECK_TEXT(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_text(
        text, (const uint8_t *)"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    CHECK_TEXT(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_right),
        cmocka_unit_test(gives_the_corpus_digests),
    };

    return cmocka_run_group_tests_name("frame_corpus", tests, NULL, NULL);
}
