/* SPDX-License-Identifier: BSD-2-Clause */
/* See view.h. */
#include "serve/view.h"

#include <stdlib.h>
#include <string.h>

#include <trackway/timeline.h>

#include "base/beside.h"
#include "report/words.h"
#include "serve/ahead.h"

enum {
    ROOM = 12 << 20,       /* bytes of tables in an answer ... */
    WINDOW_ROOM = 4 << 20, /* ... about a window: more spans than pixels */
    /* Elements of a packet may come after those of packets further on, of other sources: so far behind the
       end of a window it is looked for them; where there is one source, as far as a packet may reach. */
    BEHIND = 64 << 10,
    BEHIND_ONE = 256,
    AHEAD_LEAST = 256 << 10 /* bytes of a window from which on another thread pays */
};

bool serve_is_large(const struct serve_capture *capture)
{
    return capture->bytes > SERVE_WHOLE_MOST &&
           tw_capture_buffer_count(capture->session.capture) == 1;
}

size_t serve_samples(const struct serve_capture *capture)
{
    return capture->tiles.is_whole ? SERVE_SAMPLES_LESS : SERVE_SAMPLES;
}

uint64_t serve_sample(const struct serve_capture *capture)
{
    return capture->tiles.is_whole ? SERVE_SAMPLE_LESS : SERVE_SAMPLE;
}

static void lock(struct serve_views *views)
{
    (void)atomic_fetch_add(&views->asking, 1);
    (void)pthread_mutex_lock(&views->lock);
}

static void unlock(struct serve_views *views)
{
    (void)pthread_mutex_unlock(&views->lock);
    (void)atomic_fetch_sub(&views->asking, 1);
}

int serve_views_open(struct serve_views *views, const struct options *options)
{
    *views = (struct serve_views){ .options = options };
    views->captures = calloc(options->arguments.count, sizeof *views->captures);
    if (!views->captures || pthread_mutex_init(&views->lock, NULL) != 0) {
        say("out of memory");
        free(views->captures);
        views->captures = NULL;
        return NOT_DONE;
    }
    for (size_t i = 0; i < options->arguments.count; i++) {
        struct serve_capture *capture = &views->captures[views->count++];
        int status;

        capture->options = *options;
        capture->options.arguments = (struct list){ &options->arguments.items[i], 1 };
        capture->options.quiet = true;
        report_words(&capture->words, options, i);
        if (capture->words.failed) {
            say("out of memory");
            return NOT_DONE;
        }
        status = session_open(&capture->session, &capture->options);
        if (status != DONE)
            return status;
        for (size_t k = 0; k < tw_capture_buffer_count(capture->session.capture); k++)
            capture->bytes += tw_capture_buffer(capture->session.capture, k)->size;
    }
    for (size_t i = 0; i < views->count; i++)
        serve_tiles_start(&views->captures[i].tiles, views, i);
    return DONE;
}

void serve_views_close(struct serve_views *views)
{
    if (!views->captures)
        return;
    atomic_store(&views->is_over, true);
    for (size_t i = 0; i < views->count; i++)
        if (views->captures[i].tiles.views)
            serve_tiles_stop(&views->captures[i].tiles);
    for (size_t i = 0; i < views->count; i++) {
        tw_run_free(views->captures[i].names);
        tw_run_free(views->captures[i].other_names);
        session_close(&views->captures[i].session);
        if (views->captures[i].has_other)
            session_close(&views->captures[i].other);
        tw_text_free(&views->captures[i].words);
        tw_text_free(&views->captures[i].data);
    }
    free(views->captures);
    (void)pthread_mutex_destroy(&views->lock);
}

static bool write_text(void *context, const void *bytes, size_t size)
{
    struct tw_text *out = context;

    tw_text_add_size(out, bytes, size);
    return !out->failed;
}

/* ---- windows ---- */

struct window_run {
    struct serve_views *views;
    struct serve_capture *capture;
    uint64_t from, to;
    bool is_time;          /* from and to are */
    uint64_t view, number; /* number of the request */
    bool is_cancelled;
    serve_fn *take;
    void *context;
    struct serve_ahead *ahead; /* decodes; NULL: nobody but us */
    struct tw_run
        *code_run;   /* to ask about code; of the other handle where one decodes ahead */
    double decoding; /* milliseconds that it took */
    const struct tw_run_sums *sums; /* what comes so; NULL: nothing does */
};

static bool is_newest(const struct window_run *window)
{
    return !atomic_load(&window->views->is_over) &&
           atomic_load(&window->views->newest[window->view % SERVE_VIEWS]) == window->number;
}

/* What of a part lies before the end of the window, stretch by stretch. */
static bool take_inside(struct window_run *window, struct tw_run *run,
                        const struct tw_part *part)
{
    struct tw_element *elements = part->batch.elements;
    const size_t count = part->batch.count;

    for (size_t i = 0; i < count;) {
        struct tw_part inside = *part;
        size_t first;

        while (i < count && elements[i].index >= window->to)
            i++;
        first = i;
        i += serve_count_before(elements + i, count - i, window->to);
        inside.batch.elements = elements + first;
        inside.batch.count = i - first;
        if (inside.batch.count && !window->take(window->context, run, &inside))
            return false;
    }
    return true;
}

static bool is_behind(const struct window_run *window, const struct tw_part *part)
{
    const bool is_one = tw_capture_source_count(window->capture->session.capture) == 1 &&
                        part->batch.src == TW_NO_SRC;

    return part->kind == TW_PART_ELEMENTS &&
           part->batch.elements[0].index >= window->to + (is_one ? BEHIND_ONE : BEHIND);
}

/* The same program memory, of the other handle. */
static struct tw_image *other_image(const struct serve_capture *capture,
                                    const struct tw_image *image)
{
    const size_t count = tw_capture_image_count(capture->session.capture);

    for (size_t i = 0; i < count; i++)
        if (tw_capture_image(capture->session.capture, i) == image)
            return tw_capture_image(capture->other.capture, i);
    return NULL;
}

/* is_inside: all of it is known to lie before the window's end. */
static enum tw_status next_part(struct window_run *window, struct tw_run *run,
                                struct tw_part *part, bool *is_inside)
{
    enum tw_status status;

    *is_inside = false;
    if (!window->ahead)
        return tw_run_next(run, part);
    status = serve_ahead_next(window->ahead, part, is_inside);
    if (status == TW_OK && part->kind == TW_PART_ELEMENTS)
        part->image = other_image(window->capture, part->image);
    return status;
}

static bool run_parts(struct window_run *window, struct tw_run *run)
{
    struct tw_part part = { .size = sizeof part };
    struct tw_run *code_run = window->code_run ? window->code_run : run;
    bool is_over = false, is_good = true, is_inside;
    enum tw_status status = TW_OK;

    while (!is_over && is_good &&
           (status = next_part(window, run, &part, &is_inside)) == TW_OK) {
        if (!is_newest(window)) {
            window->is_cancelled = true;
            is_good = false;
        } else if (!window->is_time && is_behind(window, &part)) {
            is_over = true;
        } else if (part.kind == TW_PART_ELEMENTS && !window->is_time) {
            is_good = is_inside ? window->take(window->context, code_run, &part)
                                : take_inside(window, code_run, &part);
        } else if (!window->ahead) {
            is_good = window->take(window->context, run, &part);
        }
    }
    window->decoding = serve_ahead_end(window->ahead);
    if (is_good && (is_over || window->ahead)) { /* as if the buffer ended there */
        part.kind = TW_PART_END;
        part.batch.count = 0;
        part.source = NULL;
        is_good = window->take(window->context, run, &part);
    }
    window->ahead = NULL;
    return is_good && (is_over || status == TW_END);
}

/* What is of the window, as the commands have it: the run does not begin or end there by itself. */
static void wish_window(struct session_wish *wish, const struct window_run *window)
{
    struct tw_filter *filter = &wish->filter;

    if (window->is_time) {
        wish->config.order = TW_ORDER_TIME;
        filter->has_from_time = filter->has_to_time = true;
        filter->from_time = window->from;
        filter->to_time = window->to;
    } else {
        filter->has_from = filter->has_to = true;
        filter->from = window->from;
        filter->to = window->to;
    }
}

/* A run from the window's first byte on, found by the index where there is one buffer; NULL: failed. */
static struct tw_run *open_window(const struct window_run *window, struct session *session)
{
    const bool is_one = tw_capture_buffer_count(session->capture) == 1 && !window->is_time;
    const struct tw_run_place place = { .kind = TW_PLACE_OFFSET, .value = window->from };
    struct session_wish wish;
    struct tw_run *run = NULL;

    if (session_wish(session, &wish) == DONE) {
        wish.config.order = TW_ORDER_CAPTURE;
        wish.config.threads = 1;
        wish.config.sums = window->sums;
        wish.config.leaves_stats = window->sums != NULL;
        if (!is_one) /* else it is sought, and ended */
            wish_window(&wish, window);
        run = session_run_new(session, &wish);
    }
    session_wish_free(&wish);
    if (run && is_one && window->from && tw_run_seek(run, &place) != TW_OK) {
        tw_run_free(run);
        run = NULL;
    }
    return run;
}

/* A second handle of the capture, where one is of use and can be. */
static bool open_other(const struct window_run *window)
{
    struct serve_capture *capture = window->capture;

    if (window->is_time || window->to - window->from < AHEAD_LEAST || capture->is_alone)
        return false;
    if (!capture->has_other) {
        capture->is_alone = capture->session.perf || capture->session.spooled ||
                            tw_capture_buffer_count(capture->session.capture) != 1 ||
                            session_open(&capture->other, &capture->options) != DONE;
        capture->has_other = !capture->is_alone;
    }
    return capture->has_other;
}

/* A run that stays, to ask about code; NULL: failed. */
static struct tw_run *names_run(const struct window_run *window, struct session *session,
                                struct tw_run **kept)
{
    const struct window_run any = { .capture = window->capture };

    if (!*kept)
        *kept = open_window(&any, session);
    return *kept;
}

/* The run of a window, which a thread decodes where that pays; NULL: failed. */
static struct tw_run *begin_window(struct window_run *window)
{
    struct serve_capture *capture = window->capture;
    struct tw_run *run = open_window(window, &capture->session);

    if (run && open_other(window) &&
        names_run(window, &capture->other, &capture->other_names)) {
        window->ahead = serve_ahead_new(run, window->to);
        window->code_run = capture->other_names;
    }
    if (run && !window->ahead)
        window->code_run = names_run(window, &capture->session, &capture->names);
    return run;
}

static void end_window(const struct window_run *window, struct tw_run *run)
{
    (void)serve_ahead_end(window->ahead);
    tw_run_free(run);
}

static bool take_report(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct report_maker *maker = context;

    return tw_report_take(maker->report, run, part) == TW_OK;
}

/* ---- tables of a window ---- */

static enum serve_done window_tables(struct window_run *window, struct tw_text *out)
{
    struct report_maker maker;
    struct tw_run *run = begin_window(window);
    enum serve_done done = SERVE_FAILED;

    report_open(&maker, &window->capture->options);
    maker.room = WINDOW_ROOM;
    maker.is_window = true;
    window->take = take_report;
    window->context = &maker;
    if (run && report_new(&maker, window->capture->options.arguments.items[0],
                          window->capture->words.chars)) {
        if (run_parts(window, run) && report_write(&maker, write_text, out) == DONE)
            done = SERVE_OK;
        else if (window->is_cancelled)
            done = SERVE_CANCELLED;
    }
    report_close(&maker);
    if (window->code_run &&
        tw_run_fault(window->code_run)[0]) /* no memory: names would be missing */
        done = SERVE_FAILED;
    end_window(window, run);
    return out->failed ? SERVE_FAILED : done;
}

/* ---- for Perfetto ---- */

struct perfetto {
    struct tw_timeline *timeline;
    struct tw_timeline_writer *writer;
};

static void put_event(void *context, const struct tw_timeline_event *event)
{
    const struct perfetto *perfetto = context;

    tw_timeline_writer_take(perfetto->writer, event);
}

static bool take_timeline(void *context, struct tw_run *run, const struct tw_part *part)
{
    const struct perfetto *perfetto = context;

    return tw_timeline_take(perfetto->timeline, run, part) == TW_OK;
}

static enum serve_done window_perfetto(struct window_run *window, struct tw_text *out)
{
    struct perfetto perfetto = { .timeline = NULL };
    const struct tw_timeline_config config = { .size = sizeof config,
                                               .event = put_event,
                                               .context = &perfetto };
    struct tw_subject subject = { .size = sizeof subject,
                                  .title = window->capture->options.arguments.items[0] };
    const struct tw_format *format = tw_format_by_name("perfetto", TW_SUBJECT_TIMELINE);
    struct tw_run *run = begin_window(window);
    struct tw_fault fault;
    bool is_good = run && tw_timeline_new(&perfetto.timeline, &config, &fault) == TW_OK;

    subject.timeline = perfetto.timeline;
    window->take = take_timeline;
    window->context = &perfetto;
    is_good = is_good &&
              tw_timeline_writer_new(&perfetto.writer, format, &subject, write_text, out,
                                     &fault) == TW_OK &&
              run_parts(window, run) && tw_timeline_finish(perfetto.timeline) == TW_OK &&
              tw_timeline_writer_end(perfetto.writer) == TW_OK;
    tw_timeline_writer_free(perfetto.writer);
    tw_timeline_free(perfetto.timeline);
    end_window(window, run);
    return is_good ? SERVE_OK : window->is_cancelled ? SERVE_CANCELLED : SERVE_FAILED;
}

/* --perfetto: the file has the window that was looked at last, whole. */
static void keep_window(const struct window_run *window, const char *path)
{
    struct window_run again = { .views = window->views,
                                .capture = window->capture,
                                .from = window->from,
                                .to = window->to,
                                .is_time = window->is_time,
                                .view = window->view,
                                .number = window->number };
    struct tw_text text = { .chars = NULL };
    char *name = malloc(strlen(path) + TW_BESIDE_SIZE);
    FILE *file;

    if (name && window_perfetto(&again, &text) == SERVE_OK && !text.failed) {
        file = tw_beside_open(name, path);
        if (file && fwrite(text.chars ? text.chars : "", 1, text.size, file) != text.size) {
            tw_beside_drop(file, name);
            file = NULL;
        }
        if (!file || !tw_beside_keep(file, name, path))
            say("%s could not be written", path);
    }
    tw_text_free(&text);
    free(name);
}

enum serve_done serve_window(struct serve_views *views, const struct serve_window *window,
                             struct tw_text *out, struct serve_spent *spent)
{
    const double before = serve_thread_time();
    struct window_run run = { .views = views,
                              .capture = &views->captures[window->capture],
                              .from = window->from,
                              .to = window->to,
                              .is_time = window->is_time,
                              .view = window->view };
    enum serve_done done = SERVE_CANCELLED;

    if (!window->is_time && window->to - window->from > SERVE_WINDOW_MOST)
        return SERVE_TOO_LARGE;
    run.number = atomic_fetch_add(&views->newest[run.view % SERVE_VIEWS], 1) + 1;
    lock(views);
    if (is_newest(&run))
        done = window->is_perfetto ? window_perfetto(&run, out) : window_tables(&run, out);
    if (done == SERVE_OK && !window->is_perfetto && views->options->perfetto)
        keep_window(&run, views->options->perfetto);
    unlock(views);
    *spent = (struct serve_spent){ serve_thread_time() - before, run.decoding };
    return done;
}

static bool take_tiles(void *context, struct tw_run *run, const struct tw_part *part)
{
    return tw_pyramid_take(context, run, part) == TW_OK;
}

bool serve_stretch(struct serve_views *views, size_t capture, struct session *session,
                   const struct serve_range *range, struct tw_pyramid *pyramid)
{
    const size_t view = SERVE_VIEWS - 1;
    struct tw_run_sums sums;
    struct window_run window = { .views = views,
                                 .capture = &views->captures[capture],
                                 .from = range->from,
                                 .to = range->to,
                                 .view = view,
                                 .number = atomic_load(&views->newest[view]),
                                 .take = take_tiles,
                                 .context = pyramid };
    struct tw_run *run;
    bool is_good;

    if (tw_pyramid_sums(pyramid, &sums, range->from, range->to) == TW_OK)
        window.sums = &sums;
    run = open_window(&window, session);
    is_good = run && run_parts(&window, run);
    tw_run_free(run);
    return is_good;
}

/* ---- the whole ---- */

/* Stretches of a capture that is too large to be decoded for a first picture. */
static bool sample(struct serve_views *views, struct serve_capture *capture)
{
    const size_t view = SERVE_VIEWS - 1;
    struct tw_run *runs[SERVE_SAMPLES] = { NULL };
    const size_t count = serve_samples(capture);
    struct report_maker maker;
    bool is_good;

    report_open(&maker, &capture->options);
    maker.room = WINDOW_ROOM;
    maker.is_window = true;
    is_good = report_new(&maker, capture->options.arguments.items[0], capture->words.chars);
    for (size_t i = 0; is_good && i < count; i++) {
        struct window_run window = { .views = views,
                                     .capture = capture,
                                     .from = capture->bytes / count * i,
                                     .view = view,
                                     .number = atomic_load(&views->newest[view]),
                                     .take = take_report,
                                     .context = &maker };

        window.to = window.from + serve_sample(capture);
        window.code_run = names_run(&window, &capture->session, &capture->names);
        runs[i] = open_window(&window, &window.capture->session);
        if (runs[i])
            is_good = run_parts(&window, runs[i]);
    }
    if (is_good)
        is_good = report_write(&maker, write_text, &capture->data) == DONE;
    report_close(&maker);
    for (size_t i = 0; i < SERVE_SAMPLES; i++)
        tw_run_free(runs[i]);
    return is_good && !capture->data.failed;
}

static bool read_whole(struct serve_capture *capture)
{
    struct report_maker maker;
    int status;

    report_open(&maker, &capture->options);
    maker.room = ROOM;
    maker.words = capture->words.chars;
    status = report_make(&maker, 0, write_text, &capture->data);
    report_close(&maker);
    return (status == DONE || status == DONE_WITH_LOSS) && !capture->data.failed;
}

const struct tw_text *serve_data(struct serve_views *views, size_t number)
{
    struct serve_capture *capture = &views->captures[number];

    lock(views);
    if (!capture->data.size) {
        if (serve_is_large(capture) ? !sample(views, capture) : !read_whole(capture))
            tw_text_free(&capture->data);
    }
    unlock(views);
    return capture->data.size ? &capture->data : NULL;
}
