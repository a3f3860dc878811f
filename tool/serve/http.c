/* SPDX-License-Identifier: BSD-2-Clause */
/* See http.h. */
#include "serve/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifdef TW_WITH_HTTP

#include <microhttpd.h>

#include "base/library.h"
#include "report/page.h"

enum { CONNECTIONS = 32, SECONDS = 60 };

/* What is used of libmicrohttpd.  It is loaded when a server starts, not with the program: it brings nine libraries for
   TLS, whose loading took four times as long as all else that a command does with a small capture. */
static struct {
    struct MHD_Daemon *(*start_daemon)(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback,
                                       void *, MHD_AccessHandlerCallback, void *context, ...);
    const union MHD_DaemonInfo *(*get_daemon_info)(struct MHD_Daemon *, enum MHD_DaemonInfoType,
                                                   ...);
    void (*stop_daemon)(struct MHD_Daemon *);
    const char *(*lookup_connection_value)(struct MHD_Connection *, enum MHD_ValueKind,
                                           const char *key);
    struct MHD_Response *(*create_response_from_buffer)(size_t, void *,
                                                        enum MHD_ResponseMemoryMode);
    enum MHD_Result (*add_response_header)(struct MHD_Response *, const char *, const char *);
    enum MHD_Result (*queue_response)(struct MHD_Connection *, unsigned status,
                                      struct MHD_Response *);
    void (*destroy_response)(struct MHD_Response *);
} mhd;

static bool load_library(void)
{
    static const char *const file = TW_HTTP_SONAME;
    void *library = tw_library_open(&file, 1);

    return tw_library_take(library, &mhd.start_daemon, "MHD_start_daemon") &&
           tw_library_take(library, &mhd.get_daemon_info, "MHD_get_daemon_info") &&
           tw_library_take(library, &mhd.stop_daemon, "MHD_stop_daemon") &&
           tw_library_take(library, &mhd.lookup_connection_value,
                           "MHD_lookup_connection_value") &&
           tw_library_take(library, &mhd.create_response_from_buffer,
                           "MHD_create_response_from_buffer") &&
           tw_library_take(library, &mhd.add_response_header, "MHD_add_response_header") &&
           tw_library_take(library, &mhd.queue_response, "MHD_queue_response") &&
           tw_library_take(library, &mhd.destroy_response, "MHD_destroy_response");
}

static const char *member(void *context, const char *key)
{
    return mhd.lookup_connection_value(context, MHD_GET_ARGUMENT_KIND, key);
}

/* Sends what is in memory; where there was no memory for all of it, hangs up.  `spent`: what it took, as
   browsers show it beside a request; or NULL. */
static enum MHD_Result answer_timed(struct MHD_Connection *connection, unsigned status,
                                    const struct tw_text *text, const char *type,
                                    const struct serve_spent *spent)
{
    struct MHD_Response *response =
        text->failed ? NULL
                     : mhd.create_response_from_buffer(text->size,
                                                       text->chars ? text->chars : (void *)"",
                                                       MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    (void)mhd.add_response_header(response, "Content-Type", type);
    (void)mhd.add_response_header(response, "Cache-Control", "no-store");
    (void)mhd.add_response_header(response, "X-Content-Type-Options", "nosniff");
    (void)mhd.add_response_header(response, "X-Frame-Options", "DENY");
    (void)mhd.add_response_header(response, "Referrer-Policy", "no-referrer");
    (void)mhd.add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    (void)mhd.add_response_header(
        response, "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
    if (spent) {
        char timing[96];

        (void)snprintf(timing, sizeof timing, "cpu;dur=%.3f, decode;dur=%.3f", spent->answering,
                       spent->decoding);
        (void)mhd.add_response_header(response, "Server-Timing", timing);
    }
    result = mhd.queue_response(connection, status, response);
    mhd.destroy_response(response);
    return result;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              const struct tw_text *text, const char *type)
{
    return answer_timed(connection, status, text, type, NULL);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status)
{
    static const struct {
        unsigned status;
        const char *text;
    } reasons[] = {
        { 400, "no such number\n" },
        { 403, "the address has to be the one that trackway printed\n" },
        { 404, "there is nothing of this name\n" },
        { 405, "GET alone\n" },
        { 409, "a newer request came\n" },
        { 413, "the window is too large\n" },
    };
    struct tw_text text = { .chars = NULL };
    enum MHD_Result result;

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            tw_text_add(&text, reasons[i].text);
    if (!text.size)
        tw_text_add(&text, "it could not be decoded\n");
    result = answer(connection, status, &text, "text/plain; charset=utf-8");
    tw_text_free(&text);
    return result;
}

static enum MHD_Result send_page(struct MHD_Connection *connection)
{
    struct output out;
    struct page page = { .out = &out };
    struct tw_text text = { .chars = NULL };
    enum MHD_Result result;

    output_in_memory(&out, &(struct output){ .has_color = false });
    page_head(&page, PAGE_SERVED);
    page_tail(&page);
    tw_text_add_size(&text, out.buffer ? out.buffer : "", out.used);
    free(out.buffer);
    result = answer(connection, 200, &text, "text/html; charset=utf-8");
    tw_text_free(&text);
    return result;
}

static enum MHD_Result send_info(const struct serve_http *http,
                                 struct MHD_Connection *connection)
{
    struct tw_text text = { .chars = NULL };
    enum MHD_Result result;

    tw_text_add(&text, "{\"captures\":[");
    for (size_t i = 0; i < http->views->count; i++) {
        const struct serve_capture *capture = &http->views->captures[i];

        tw_text_add(&text, i ? ",{" : "{");
        tw_json_text(&text, "words", capture->words.chars ? capture->words.chars : "");
        tw_json_u64(&text, "bytes", capture->bytes);
        tw_json_u64(&text, "sampled",
                    serve_is_large(capture) ? serve_samples(capture) * serve_sample(capture)
                                            : 0);
        tw_text_char(&text, '}');
    }
    tw_text_add(&text, "]");
    tw_json_u64(&text, "windowMost", SERVE_WINDOW_MOST);
    tw_text_add(&text, "}\n");
    result = answer(connection, 200, &text, "application/json");
    tw_text_free(&text);
    return result;
}

static enum MHD_Result send_window(const struct serve_http *http,
                                   struct MHD_Connection *connection,
                                   const struct serve_request *request)
{
    static const unsigned statuses[] = { 200, 413, 409, 500 };
    const struct serve_window window = { .capture = request->capture,
                                         .from = request->from,
                                         .to = request->to,
                                         .view = request->view,
                                         .is_time = request->is_time,
                                         .is_perfetto = request->what == SERVE_PERFETTO };
    struct tw_text text = { .chars = NULL };
    struct serve_spent spent = { 0, 0 };
    const enum serve_done done = serve_window(http->views, &window, &text, &spent);
    const enum MHD_Result result =
        done == SERVE_OK
            ? answer_timed(connection, 200, &text, "application/octet-stream", &spent)
            : refuse(connection, statuses[done]);

    tw_text_free(&text);
    return result;
}

static enum MHD_Result send_tiles(const struct serve_http *http,
                                  struct MHD_Connection *connection,
                                  const struct serve_request *request)
{
    struct tw_text text = { .chars = NULL };
    const bool is_good = serve_tiles_text(&http->views->captures[request->capture].tiles, &text,
                                          request->from, request->to);
    const enum MHD_Result result =
        is_good ? answer(connection, 200, &text, "application/json") : refuse(connection, 404);

    tw_text_free(&text);
    return result;
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload, size_t *upload_size, void **state)
{
    static int is_seen;
    const struct serve_http *http = context;
    const struct serve_asked asked = {
        .method = method,
        .path = url,
        .host = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
        .origin = mhd.lookup_connection_value(connection, MHD_HEADER_KIND, "Origin"),
        .member = member,
        .context = connection
    };
    struct serve_request request;
    const unsigned status = serve_check(&request, &http->door, &asked);

    (void)version;
    (void)upload;
    if (!*state && status == 200) { /* the headers alone were read */
        *state = &is_seen;
        return MHD_YES;
    }
    *upload_size = 0;
    if (status != 200)
        return refuse(connection, status);
    switch (request.what) {
    case SERVE_PAGE:
        return send_page(connection);
    case SERVE_INFO:
        return send_info(http, connection);
    case SERVE_DATA: {
        const struct tw_text *data = serve_data(http->views, request.capture);

        return data ? answer(connection, 200, data, "application/octet-stream")
                    : refuse(connection, 500);
    }
    case SERVE_TILES:
        return send_tiles(http, connection, &request);
    case SERVE_WINDOW:
    case SERVE_PERFETTO:
        return send_window(http, connection, &request);
    }
    return refuse(connection, 404);
}

static bool make_token(char *token)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[SERVE_TOKEN / 2];
    FILE *file = fopen("/dev/urandom", "rb");
    const bool is_read = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes;

    if (file)
        (void)fclose(file);
    for (size_t i = 0; is_read && i < SERVE_TOKEN; i++)
        token[i] = digits[bytes[i / 2] >> (i % 2 ? 4 : 0) & 15];
    token[SERVE_TOKEN] = 0;
    return is_read;
}

bool serve_http_start(struct serve_http *http, struct serve_views *views, uint16_t port)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
    const union MHD_DaemonInfo *about;

    *http = (struct serve_http){ .views = views, .door.captures = views->count };
    if (!mhd.start_daemon && !load_library()) {
        say("the server needs %s (Debian: libmicrohttpd12); \"trackway report\" writes a page "
            "that needs none",
            TW_HTTP_SONAME);
        return false;
    }
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!make_token(http->door.token)) {
        say("there is no /dev/urandom");
        return false;
    }
    http->daemon =
        mhd.start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, port,
                         NULL, NULL, take_request, http, MHD_OPTION_SOCK_ADDR, &address,
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS, MHD_OPTION_END);
    about = http->daemon ? mhd.get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!about) {
        say("no server on port %u of 127.0.0.1: %s", port, strerror(errno));
        serve_http_stop(http);
        return false;
    }
    http->door.port = about->port;
    return true;
}

void serve_http_stop(struct serve_http *http)
{
    if (http->daemon)
        mhd.stop_daemon(http->daemon);
    http->daemon = NULL;
}

#else

bool serve_http_start(struct serve_http *http, struct serve_views *views, uint16_t port)
{
    (void)views;
    (void)port;
    *http = (struct serve_http){ .daemon = NULL };
    say("this build has no server (Debian: libmicrohttpd-dev); \"trackway report\" writes a "
        "page that needs none");
    return false;
}

void serve_http_stop(struct serve_http *http)
{
    (void)http;
}

#endif
