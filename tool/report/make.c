/* SPDX-License-Identifier: BSD-2-Clause */
/* See make.h. */
#include "report/make.h"

#include <stdio.h>
#include <string.h>

#include <trackway/doctor.h>
#include <trackway/version.h>

#include "report/words.h"
#include "shared/choices.h"
#include "shared/feed.h"

static enum tw_status take(void *context, struct tw_run *run, const struct tw_part *part)
{
    struct report_maker *maker = context;

    return tw_report_take(maker->report, run, part);
}

static void begin_counting(void *context, struct tw_run *run)
{
    struct report_maker *maker = context;

    tw_report_run(maker->report, run);
}

static const char *line_text(void *context, const char *file, uint32_t line, size_t *size)
{
    return source_text(context, file, line, size);
}

bool report_new(struct report_maker *maker, const char *path, const char *words)
{
    const struct options *options = maker->options;
    const char *slash = strrchr(path, '/');
    const struct tw_report_config config = {
        .size = sizeof config,
        .title = slash && slash[1] ? slash + 1 : path,
        .words = words,
        .creator = maker->creator,
        .key = call_key_of(options),
        .unit = time_unit_of(options),
        .core_type = options->arch,
        .is_logical = options->tail_calls && strcmp(options->tail_calls, "logical") == 0,
        .room = maker->room,
        .without_time = maker->is_window,
        .show_name = names_show,
        .show_context = &maker->names,
        .source_text = options->embed_sources ? line_text : NULL,
        .source_context = &maker->texts,
    };
    struct tw_fault fault;

    if (tw_report_new(&maker->report, &config, &fault) == TW_OK)
        return true;
    say("%s", fault.text);
    return false;
}

/* What the capture as a whole lacks; a report without it is none the worse. */
static void ask_doctor(struct report_maker *maker, const struct session *session)
{
    struct tw_doctor *doctor = NULL;
    struct tw_fault fault;
    enum tw_status status = tw_doctor_new(&doctor, session->capture, NULL, &fault);

    if (status == TW_OK)
        status = tw_report_doctor(maker->report, doctor);
    if (status == TW_E_MEMORY)
        out_of_memory();
    tw_doctor_free(doctor);
}

void report_open(struct report_maker *maker, const struct options *options)
{
    *maker = (struct report_maker){ .options = options, .texts.root = options->source_root };
    (void)snprintf(maker->creator, sizeof maker->creator, "trackway %s", tw_version());
    names_open(&maker->names, options, true);
}

void report_close(struct report_maker *maker)
{
    tw_report_free(maker->report);
    maker->report = NULL;
    names_close(&maker->names);
    source_texts_free(&maker->texts);
}

int report_write(struct report_maker *maker, tw_write_fn *write, void *context)
{
    const enum tw_status status = tw_report_write(maker->report, write, context);

    tw_report_free(maker->report);
    maker->report = NULL;
    if (status == TW_E_MEMORY)
        say("out of memory");
    return status == TW_OK || status == TW_E_CANCELLED ? DONE : NOT_DONE;
}

static bool is_done(int status)
{
    return status == DONE || status == DONE_WITH_LOSS;
}

/* The options of one capture of the command line. */
static struct options one_of(const struct options *options, size_t number)
{
    struct options one = *options;

    one.arguments = (struct list){ &options->arguments.items[number], 1 };
    return one;
}

int report_make(struct report_maker *maker, size_t number, tw_write_fn *write, void *context)
{
    struct options first = one_of(maker->options, number), second = first;
    struct feed timed = { .order = TW_ORDER_TIME };
    struct tw_run_counter counter;
    struct feed counted = { .counter = &counter, .begin = begin_counting };
    struct tw_text words = { .chars = NULL };
    int status = NOT_DONE;

    if (maker->words)
        tw_text_add(&words, maker->words);
    else
        report_words(&words, maker->options, number);
    if (words.failed)
        out_of_memory();
    second.quiet = true; /* what is to be said of it was said */
    if (report_new(maker, first.arguments.items[0], words.chars)) {
        counter = tw_report_counter(maker->report);
        status = feed_run(&timed, &first, take, maker);
        if (is_done(status) && !is_done(feed_run(&counted, &second, NULL, maker)))
            status = NOT_DONE;
        if (is_done(status)) {
            ask_doctor(maker, &counted.sessions[0]);
            if (report_write(maker, write, context) != DONE)
                status = NOT_DONE;
        }
    }
    tw_report_free(maker->report);
    maker->report = NULL;
    tw_text_free(&words);
    feed_close(&counted);
    feed_close(&timed);
    return status;
}
