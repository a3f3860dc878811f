/* SPDX-License-Identifier: BSD-2-Clause */
/* See request.h. */
#include "serve/request.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *path;
    enum serve_what what;
    bool has_capture, has_window;
} paths[] = {
    { "/", SERVE_PAGE, false, false },           { "/info", SERVE_INFO, false, false },
    { "/data", SERVE_DATA, true, false },        { "/window", SERVE_WINDOW, true, true },
    { "/perfetto", SERVE_PERFETTO, true, true }, { "/tiles", SERVE_TILES, true, true },
};

/* Takes as long for every wrong token. */
static bool is_token(const struct serve_door *door, const char *given)
{
    unsigned differ = 0;

    if (!given || strlen(given) != SERVE_TOKEN)
        return false;
    for (size_t i = 0; i < SERVE_TOKEN; i++)
        differ |= (unsigned)(door->token[i] ^ given[i]);
    return differ == 0;
}

/* A page elsewhere, whose name was made to mean this machine, names itself. */
static bool is_here(const struct serve_door *door, const char *text, const char *before)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    char wanted[64];

    for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++) {
        (void)snprintf(wanted, sizeof wanted, "%s%s:%u", before, names[i], door->port);
        if (strcmp(text, wanted) == 0)
            return true;
    }
    return false;
}

/* Decimal digits alone, and no more than fit. */
static bool take_number(uint64_t *value, const char *text)
{
    if (!text || !*text)
        return false;
    for (*value = 0; *text; text++) {
        const unsigned digit = (unsigned)((unsigned char)*text - '0');

        if (digit > 9 || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

static bool take_window(struct serve_request *request, const struct serve_asked *asked)
{
    const char *by = asked->member(asked->context, "by");

    request->is_time = by && strcmp(by, "time") == 0;
    return (!by || request->is_time || strcmp(by, "bytes") == 0) &&
           take_number(&request->from, asked->member(asked->context, "from")) &&
           take_number(&request->to, asked->member(asked->context, "to")) &&
           request->from < request->to;
}

unsigned serve_check(struct serve_request *request, const struct serve_door *door,
                     const struct serve_asked *asked)
{
    uint64_t capture = 0;

    *request = (struct serve_request){ .what = SERVE_PAGE };
    if (strcmp(asked->method, "GET") != 0)
        return 405;
    if (!is_here(door, asked->host, "") ||
        (asked->origin && !is_here(door, asked->origin, "http://")) ||
        !is_token(door, asked->member(asked->context, "k")))
        return 403;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        if (strcmp(asked->path, paths[i].path) != 0)
            continue;
        request->what = paths[i].what;
        if (paths[i].has_capture &&
            (!take_number(&capture, asked->member(asked->context, "capture")) ||
             capture >= door->captures))
            return 400;
        request->capture = (size_t)capture;
        if (paths[i].has_window && !take_window(request, asked))
            return 400;
        (void)take_number(&request->view, asked->member(asked->context, "view"));
        return 200;
    }
    return 404;
}
