/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a request of a browser is answered, and what it asks for.  No text of it reaches the file
   system. */
#ifndef SERVE_REQUEST_H
#define SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SERVE_TOKEN = 32 }; /* letters of the secret that every request carries */

enum serve_what {
    SERVE_PAGE,
    SERVE_INFO,
    SERVE_DATA,
    SERVE_WINDOW,
    SERVE_PERFETTO,
    SERVE_TILES
};

/* What the server knows. */
struct serve_door {
    char token[SERVE_TOKEN + 1];
    uint16_t port;
    size_t captures;
};

/* What came. */
struct serve_asked {
    const char *method, *path;
    const char *host, *origin; /* headers; NULL: there is none */
    /* A member of the query; NULL: there is none. */
    const char *(*member)(void *context, const char *key);
    void *context;
};

struct serve_request {
    enum serve_what what;
    size_t capture;
    uint64_t from, to; /* offsets in the capture, or times */
    bool is_time;
    uint64_t view; /* whose window it is: a newer one cancels an older one */
};

/* The status of HTTP: 200, or why not: 400 (no such number), 403 (wrong token, host or origin), 404, 405. */
unsigned serve_check(struct serve_request *request, const struct serve_door *door,
                     const struct serve_asked *asked);

#endif
