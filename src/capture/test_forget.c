/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes of a capture that are given up come again when they are asked for, mapped or not. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include <trackway/capture.h>

#include "base/platform.h"

enum { MOST = 70000, STEP = 5000 };

static void read_all(const struct tw_capture *capture, const uint8_t *want, size_t size)
{
    for (size_t at = 0, together; at < size; at += together) {
        const uint8_t *bytes;

        CHECK_EQ(tw_capture_read(capture, &bytes, &together, 0, at), TW_OK);
        CHECK(together > 0 && together <= size - at);
        CHECK_BYTES(bytes, together, want + at, together);
    }
}

static void what_is_given_up_comes_again(void **state)
{
    static const size_t sizes[] = { 1, 4096, 12288, 16384, 16385, 20480, 65536, MOST };
    static uint8_t bytes[MOST];
    const struct tw_capture_source_option source = { .id = 5, .protocol = "etmv4" };
    char folder[] = "forget-test-XXXXXX", path[64];

    (void)state;
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof path, "%s/trace.bin", folder);
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(1 + i % 251);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
        const size_t size = sizes[i / 2];
        const struct tw_capture_options options = {
            .size = sizeof options, .sources = &source, .source_count = 1, .copies = i % 2
        };
        struct tw_fault fault = { TW_OK, "" };
        struct tw_capture *capture;
        FILE *file = fopen(path, "wb");

        check_case("%zu bytes, copies %zu", size, i % 2);
        CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
        CHECK_EQ(tw_capture_open(&capture, path, &options, &fault), TW_OK);
        read_all(capture, bytes, size);
        for (size_t at = 0; at < size; at += STEP)
            tw_capture_forget(capture, 0, at, size - at < STEP ? size - at : STEP);
        tw_capture_forget(capture, 0, 0, size);
        read_all(capture, bytes, size);
        tw_capture_free(capture);
    }
    CHECK_EQ(remove(path) + rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_given_up_comes_again) };

    return cmocka_run_group_tests_name("giving up bytes of a capture", tests, NULL, NULL);
}
