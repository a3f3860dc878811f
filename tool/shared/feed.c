/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures, one after the other, through runs into an analysis. */
#include "shared/feed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <trackway/calls.h>

#include "base/platform.h"
#include "shared/parts.h"

/* A capture on its way. */
struct one {
    struct feed *feed;
    const struct session *session;
    feed_fn *take; /* or NULL */
    void *context;
};

/* Threads of perf.data move from one ring buffer to another. */
static bool is_done_whole(const struct feed *feed, const struct session *session)
{
    return feed->is_whole && (!feed->is_cut || session->perf);
}

/* Calls are followed on all threads where they can be. */
static bool counts_calls(const struct one *one, const struct tw_run_config *config)
{
    return one->feed->calls_counter && config->threads != 1 &&
           tw_calls_has_counter(one->session->capture, config);
}

static void change(void *context, struct tw_run_config *config)
{
    const struct one *one = context;

    const bool is_whole = is_done_whole(one->feed, one->session);

    config->order = config->extent && !is_whole ? TW_ORDER_CAPTURE : one->feed->order;
    config->with_not_after = one->feed->with_not_after;
    config->counter = one->feed->counter;
    if (is_whole)
        config->extent = NULL;
    if (counts_calls(one, config)) {
        config->order = TW_ORDER_CAPTURE;
        config->counter = one->feed->calls_counter;
    }
}

static void begin(void *context, struct tw_run *run)
{
    const struct one *one = context;

    if (one->feed->begin)
        one->feed->begin(one->context, run);
}

static bool take_part(void *context, const struct tw_part *part,
                      const struct tw_packet_view *packet)
{
    const struct one *one = context;
    struct tw_run *run = one->session->run;
    const enum tw_status taken = one->take ? one->take(one->context, run, part) : TW_OK;

    (void)packet;
    if (taken == TW_OK)
        return true;
    say("%s: %s", tw_capture_path(one->session->capture),
        taken == TW_E_MEMORY ? "out of memory" : tw_run_fault(run));
    return false;
}

static int run_one(struct feed *feed, size_t number, feed_fn *take, void *context)
{
    struct session *session = &feed->sessions[number];
    struct one one = { feed, session, take, context };
    const struct session_way way = { .context = &one,
                                     .is_done = &feed->is_done,
                                     .change = change,
                                     .begin = begin,
                                     .take = take_part };
    int status;

    session->progress = &feed->progress;
    session->gives_losses = true;
    status = session_go(session, &way);
    session->progress = NULL;
    return status;
}

static uint64_t bytes_of(const struct session *session)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        if (session_wants(session, i))
            bytes += tw_capture_buffer(session->capture, i)->size;
    return bytes;
}

/* Of what cannot be cut the parts behind the first hold nothing. */
static bool is_to_run(const struct feed *feed, const struct session *session,
                      const struct options *options)
{
    uint64_t number = 1, count;

    return !is_done_whole(feed, session) || !options->part ||
           (parts_number(options, &number, &count) && number == 1);
}

/* What looks like the name of a function, behind a capture, is no file. */
static void hint_at_function(const struct options *options, const char *word)
{
    const bool has_function = options_takes(options->command, O_OF_FUNCTION) ||
                              options_takes(options->command, O_SHOW_FUNCTION);

    if (has_function && !strpbrk(word, "/.") && access(word, F_OK) != 0)
        say("is %s a function? Then give it as --function %s", word, word);
}

int feed_run(struct feed *feed, const struct options *options, feed_fn *take, void *context)
{
    const size_t count = options->arguments.count;
    uint64_t bytes = 0;
    int worst = DONE;

    feed->options = options;
    feed->each = calloc(count + 1, sizeof *feed->each);
    feed->sessions = calloc(count + 1, sizeof *feed->sessions);
    if (!feed->each || !feed->sessions) {
        say("out of memory");
        return NOT_DONE;
    }
    for (size_t i = 0; i < count; i++) {
        int status;

        feed->each[i] = *options;
        feed->each[i].arguments = (struct list){ &options->arguments.items[i], 1 };
        feed->count++;
        status = session_open(&feed->sessions[i], &feed->each[i]);
        if (status != DONE && i)
            hint_at_function(options, options->arguments.items[i]);
        if (status != DONE)
            return status;
        bytes += bytes_of(&feed->sessions[i]);
    }
    progress_start(&feed->progress, options, bytes);
    for (size_t i = 0; i < count && !feed->is_done; i++) {
        const int status = is_to_run(feed, &feed->sessions[i], options)
                               ? run_one(feed, i, take, context)
                               : DONE;

        if (status == DONE_WITH_LOSS)
            worst = DONE_WITH_LOSS;
        else if (status != DONE) {
            progress_end(&feed->progress);
            return status;
        }
    }
    progress_end(&feed->progress);
    return worst;
}

bool feed_is_sound(const struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++) {
        const struct session *session = &feed->sessions[i];

        if (session->run && tw_run_fault(session->run)[0]) {
            say("%s: %s", tw_capture_path(session->capture), tw_run_fault(session->run));
            return false;
        }
    }
    return true;
}

void feed_close(struct feed *feed)
{
    for (size_t i = 0; i < feed->count; i++)
        session_close(&feed->sessions[i]);
    free(feed->sessions);
    free(feed->each);
    *feed = (struct feed){ .options = feed->options };
}

const char *feed_title(const struct feed *feed)
{
    const struct list *files =
        feed->options->arguments.count ? &feed->options->arguments : &feed->options->add;
    const char *path = files->count ? files->items[0] : "";
    const char *slash = tw_last_slash(path);

    return slash && slash[1] ? slash + 1 : path;
}
