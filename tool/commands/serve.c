/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway serve, trackway view: captures of any size, looked at with a browser. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"
#include "serve/http.h"
#include "shared/interrupt.h"

/* The browser is started by a child of a child, which nobody waits for. */
static void open_browser(const char *url)
{
    const pid_t child = fork();

    if (child < 0) {
        say("no browser could be started: open the address above");
        return;
    }
    if (!child) {
        if (fork() == 0) {
            (void)execlp("xdg-open", "xdg-open", url, (char *)NULL);
            (void)execlp("sensible-browser", "sensible-browser", url, (char *)NULL);
        }
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

static void wait_for_end(void)
{
    int ends[2]; /* nothing is ever written there */

    if (pipe(ends) != 0)
        return;
    while (!interrupt_is_wished_before(ends[0]))
        ;
    (void)close(ends[0]);
    (void)close(ends[1]);
}

static int serve(const struct options *options, bool is_view)
{
    struct serve_views views;
    struct serve_http http;
    char url[128];
    int status;

    if (options->listen.is_given && options->listen.value > UINT16_MAX) {
        (void)options_wrong(options, "--port is a number up to 65535");
        return BAD_USAGE;
    }
    status = serve_views_open(&views, options);
    if (status == DONE) {
        interrupt_is_a_wish();
        interrupt_hold(); /* threads of the server take no signals */
        status =
            serve_http_start(&http, &views,
                             (uint16_t)(options->listen.is_given ? options->listen.value : 0))
                ? DONE
                : NOT_DONE;
        interrupt_release();
    }
    if (status == DONE) {
        (void)snprintf(url, sizeof url, "http://127.0.0.1:%u/?k=%s", http.door.port,
                       http.door.token);
        (void)printf("%s\n", url);
        (void)fflush(stdout);
        if (is_view)
            open_browser(url);
        if (!options->quiet)
            say("open this address with a browser; Ctrl-C ends the server");
        wait_for_end();
        serve_http_stop(&http);
    }
    serve_views_close(&views);
    return status;
}

static int run_serve(const struct options *options)
{
    return serve(options, false);
}

static int run_view(const struct options *options)
{
    return serve(options, true);
}

static const uint8_t takes[] = {
    G_CAPTURE,    G_DECODER,        G_EXECUTED, O_INDEX,       O_BUILD_INDEX,   O_KEY,
    O_TAIL_CALLS, O_TIME_UNIT,      O_DEMANGLE, O_NO_DEMANGLE, O_EMBED_SOURCES, O_SOURCE_ROOT,
    O_SERVE_PORT, O_SERVE_PERFETTO, O_QUIET,    O_VERBOSE,     O_HELP,          O_END,
};

const struct command command_serve = {
    .name = "serve",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "look at captures of any size with a browser: a server on this machine",
    .details =
        "Shows the pages of \"trackway report\", and decodes windows of the trace when they\n"
        "are looked at. The server listens on this machine alone (127.0.0.1); its address\n"
        "holds a secret, and without it nothing is answered. Of captures above 64 MiB the\n"
        "first picture is of stretches from all over it: \"trackway index build\" first, so\n"
        "that they are found at once.\n"
        "\n"
        "examples:\n"
        "  trackway serve snapshot/\n"
        "  trackway serve before.data after.data --port 8000\n"
        "  trackway serve snapshot/ --perfetto window.perfetto-trace",
    .options = takes,
    .least = 1,
    .most = 64,
    .run = run_serve,
};

const struct command command_view = {
    .name = "view",
    .arguments = "CAPTURE... [OPTION...]",
    .summary = "the same as serve, and opens the browser",
    .details = "As \"trackway serve\", and opens its address with the browser of the desktop\n"
               "(xdg-open).\n"
               "\n"
               "examples:\n"
               "  trackway view snapshot/",
    .options = takes,
    .least = 1,
    .most = 64,
    .run = run_view,
};
