/* SPDX-License-Identifier: BSD-2-Clause */
/* How far the work is, on standard error. */
#include "shared/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shared/pager.h"

enum { BAR_WIDTH = 24 };

static const uint64_t second = 1000000000u;

static uint64_t now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * second + (uint64_t)time.tv_nsec;
}

/* Lines of output on the same terminal would be torn. */
static bool is_for_terminal(const struct options *options)
{
    const bool to_file = options->output && strcmp(options->output, "-") != 0;

    return isatty(STDERR_FILENO) && !pager_is_on() &&
           (to_file || options->command->prints_last || !isatty(STDOUT_FILENO));
}

/* 1.5 GB and the like. */
static void print_bytes(char text[16], double bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
    unsigned unit = 0;

    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    (void)snprintf(text, 16, "%.*f %s", unit && bytes < 10 ? 1 : 0, bytes, units[unit]);
}

static void print_bar(struct progress *progress, double seconds, double rate)
{
    const double part =
        progress->total ? (double)progress->done / (double)progress->total : 1.0;
    const unsigned left =
        rate > 0 ? (unsigned)((double)(progress->total - progress->done) / rate + 0.5) : 0;
    char bar[BAR_WIDTH + 1], done[16], total[16], speed[16];

    memset(bar, '.', BAR_WIDTH);
    memset(bar, '#', (size_t)(part * BAR_WIDTH));
    bar[BAR_WIDTH] = 0;
    print_bytes(done, (double)progress->done);
    print_bytes(total, (double)progress->total);
    print_bytes(speed, rate);
    fprintf(stderr, "\r[%s] %3.0f %%  %s of %s  %s/s  %u:%02u left\033[K", bar, 100 * part,
            done, total, speed, left / 60, left % 60);
    (void)fflush(stderr);
    (void)seconds;
    progress->is_shown = true;
}

/* Each line has all members: null is what cannot be told yet. */
static void print_json(const struct progress *progress, double seconds, double rate,
                       bool is_last)
{
    char left[32] = "null";

    if (rate > 0)
        (void)snprintf(left, sizeof left, "%.1f",
                       (double)(progress->total - progress->done) / rate);
    fprintf(stderr,
            "{\"t\":\"PROGRESS\",\"done\":%" PRIu64 ",\"total\":%" PRIu64
            ",\"seconds\":%.3f,\"rate\":%.0f,\"left\":%s,\"end\":%s}\n",
            progress->done, progress->total, seconds, rate, left, is_last ? "true" : "false");
    (void)fflush(stderr);
}

static void print(struct progress *progress, uint64_t time, bool is_last)
{
    const double seconds = (double)(time - progress->began) / (double)second;
    const double rate = seconds > 0 ? (double)progress->done / seconds : 0;

    progress->said = time;
    if (progress->how == PROGRESS_BAR)
        print_bar(progress, seconds, rate);
    else
        print_json(progress, seconds, rate, is_last);
}

void progress_start(struct progress *progress, const struct options *options, uint64_t total)
{
    const char *wish = options->progress ? options->progress : "auto";

    *progress = (struct progress){ .total = total };
    if (strcmp(wish, "json") == 0)
        progress->how = PROGRESS_JSON;
    else if (strcmp(wish, "auto") == 0 && !options->quiet && is_for_terminal(options))
        progress->how = PROGRESS_BAR;
    if (progress->how == PROGRESS_NONE)
        return; /* the clock's first reading of a process costs two page faults */
    progress->began = now();
    if (progress->how == PROGRESS_JSON)
        print(progress, progress->began, false);
}

void progress_add(struct progress *progress, uint64_t bytes)
{
    uint64_t time;

    progress->done += bytes;
    if (progress->done > progress->total)
        progress->total = progress->done;
    if (progress->how == PROGRESS_NONE)
        return;
    time = now();
    /* No bar for what is over in a second. */
    if (progress->how == PROGRESS_BAR && time - progress->began < second)
        return;
    if (time - progress->said >= second / 5)
        print(progress, time, false);
}

void progress_hide(struct progress *progress)
{
    if (!progress->is_shown)
        return;
    fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    progress->is_shown = false;
}

void progress_end(struct progress *progress)
{
    if (progress->how == PROGRESS_JSON)
        print(progress, now(), true);
    progress_hide(progress);
    progress->how = PROGRESS_NONE;
}
