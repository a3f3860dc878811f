/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of a browser: none but a right one passes. */
#include <stdlib.h>
#include <string.h>

#include "serve/request.h"

/* Lines: method, path, host, origin ("-": none); then members of the query, one in each. */
struct lines {
    char *text[16];
    size_t count;
};

static const char *member(void *context, const char *key)
{
    const struct lines *lines = context;
    const size_t size = strlen(key);

    for (size_t i = 4; i < lines->count; i++)
        if (strncmp(lines->text[i], key, size) == 0 && lines->text[i][size] == '=')
            return lines->text[i] + size + 1;
    return NULL;
}

static void cut(struct lines *lines, char *text)
{
    while (text && lines->count < sizeof lines->text / sizeof lines->text[0]) {
        char *end = strchr(text, '\n');

        if (end)
            *end++ = 0;
        lines->text[lines->count++] = text;
        text = end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct serve_door door = { .token = "0123456789abcdef0123456789abcdef",
                                            .port = 8000,
                                            .captures = 3 };
    char *text = malloc(size + 1);
    struct lines lines = { .count = 0 };
    struct serve_request request;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    cut(&lines, text);
    if (lines.count >= 4) {
        const struct serve_asked asked = {
            .method = lines.text[0],
            .path = lines.text[1],
            .host = strcmp(lines.text[2], "-") == 0 ? NULL : lines.text[2],
            .origin = strcmp(lines.text[3], "-") == 0 ? NULL : lines.text[3],
            .member = member,
            .context = &lines
        };
        const unsigned status = serve_check(&request, &door, &asked);
        const char *token = member(&lines, "k");

        if (status != 200 && status != 400 && status != 403 && status != 404 && status != 405)
            abort();
        if (status == 200 &&
            (strcmp(asked.method, "GET") != 0 || !asked.host || !token ||
             strcmp(token, door.token) != 0 || request.capture >= door.captures))
            abort();
        if (status == 200 && (request.what == SERVE_WINDOW || request.what == SERVE_PERFETTO) &&
            request.from >= request.to)
            abort();
    }
    free(text);
    return 0;
}
