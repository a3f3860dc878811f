/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of scripts, as text and as JSON: all of each line. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "script/lines.h"

struct lines {
    char text[1000];
};

static void keep(void *context, const char *text, size_t size)
{
    struct lines *lines = context;

    (void)snprintf(lines->text, sizeof lines->text, "%.*s", (int)size, text);
}

/* A line of bytes that were taken out. */
static void drain(struct lines *lines, size_t size, const char *name, bool is_json)
{
    const struct tw_sim_config config = {
        .size = sizeof config, .is_json = is_json, .context = lines, .line = keep
    };
    struct tw_text text = { .allocator = NULL };
    uint8_t bytes[100];

    memset(bytes, 0xa5, sizeof bytes);
    tw_script_begin(&text, &config, 12, "DRAINED");
    tw_script_drained(&text, &config, bytes, size, name);
    tw_script_end(&text, &config);
    tw_text_free(&text);
}

static void digits_of(char *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        memcpy(out + 2 * i, "a5", 3);
}

/* A line of text shows 64 bytes, and that there are more. */
static void bytes_as_text(void **state)
{
    static const size_t sizes[] = { 1, 63, 64, 65, 100 };

    (void)state;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        const size_t size = sizes[i];
        char digits[201] = "", want[300];
        struct lines lines;

        check_case("%zu bytes", size);
        digits_of(digits, size < 64 ? size : 64);
        drain(&lines, size, NULL, false);
        (void)snprintf(want, sizeof want, "12: drained %zu bytes: %s%s", size, digits,
                       size > 64 ? "..." : "");
        CHECK_TEXT(lines.text, want);
        drain(&lines, size, "out.bin", false);
        (void)snprintf(want, sizeof want, "12: drained %zu bytes to out.bin", size);
        CHECK_TEXT(lines.text, want);
    }
}

/* JSON has all of them, or the name of the file that they are in. */
static void bytes_as_json(void **state)
{
    struct lines lines;
    char digits[201], want[300];

    (void)state;
    digits_of(digits, 100);
    drain(&lines, 100, NULL, true);
    (void)snprintf(want, sizeof want, "{\"line\":12,\"t\":\"DRAINED\",\"n\":100,\"b\":\"%s\"}",
                   digits);
    CHECK_TEXT(lines.text, want);
    drain(&lines, 100, "out.bin", true);
    CHECK_TEXT(lines.text, "{\"line\":12,\"t\":\"DRAINED\",\"n\":100,\"file\":\"out.bin\"}");
}

static void expectations_that_fail(void **state)
{
    struct lines lines;

    (void)state;
    for (unsigned is_json = 0; is_json < 2; is_json++) {
        const struct tw_sim_config config = {
            .size = sizeof config, .is_json = is_json, .context = &lines, .line = keep
        };
        struct tw_text text = { .allocator = NULL };

        tw_script_begin(&text, &config, 3, "FAILED");
        tw_script_failed(&text, &config, "TRBPTR", 0x10, 0x20);
        tw_script_end(&text, &config);
        CHECK_TEXT(lines.text,
                   is_json
                       ? "{\"line\":3,\"t\":\"FAILED\",\"what\":\"TRBPTR\",\"got\":\"0x10\","
                         "\"want\":\"0x20\"}"
                       : "3: failed: TRBPTR is 0x10, expected 0x20");
        tw_text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_as_text),
        cmocka_unit_test(bytes_as_json),
        cmocka_unit_test(expectations_that_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
