/* SPDX-License-Identifier: BSD-2-Clause */
/* `trackway doctor`: what is wrong with a capture, and what to do about it. */
#include <stdlib.h>
#include <string.h>

#include <trackway/doctor.h>

#include "base/text.h"
#include "commands/commands.h"
#include "shared/session.h"

/* One letter for each state, and its colour on a terminal. */
static const struct {
    const char *mark;
    enum color color;
} looks[] = {
    [TW_STRIP_NOTHING] = { " ", PLAIN },  [TW_STRIP_SYNCED] = { "=", GREEN },
    [TW_STRIP_MISSING] = { "?", YELLOW }, [TW_STRIP_GAP] = { ".", DIM },
    [TW_STRIP_OVERFLOW] = { "!", RED },
};

static void print_strips(struct output *out, const struct tw_doctor *doctor)
{
    const struct tw_strip *strip;

    if (!tw_doctor_strip(doctor, 0))
        return;
    output_text(out, "\n");
    for (size_t i = 0; (strip = tw_doctor_strip(doctor, i)) != NULL; i++) {
        output_format(out, "%-16.16s |", strip->name);
        for (unsigned k = 0, last = TW_STRIP_NOTHING; k < TW_STRIP_COLUMNS; k += 2) {
            /* The worse of two: a line has to fit a terminal. */
            const uint8_t state = strip->states[k] > strip->states[k + 1]
                                      ? strip->states[k]
                                      : strip->states[k + 1];

            if (state != last) {
                output_color(out, PLAIN);
                output_color(out, looks[state].color);
            }
            output_text(out, looks[state].mark);
            last = state;
        }
        output_color(out, PLAIN);
        output_text(out, "|\n");
    }
    output_text(
        out,
        "                  = decoded  ? code is missing  . not synchronized  ! overflow\n");
}

static void print_text(struct output *out, const struct tw_doctor *doctor)
{
    const struct tw_finding *finding;

    output_format(out, "%s\n", tw_doctor_summary(doctor));
    for (size_t i = 0; (finding = tw_doctor_finding(doctor, i)) != NULL; i++)
        output_format(out, "\n%s: %s: %s\n  do: %s\n",
                      tw_finding_severity_name(finding->severity), finding->code, finding->text,
                      finding->remedy);
    print_strips(out, doctor);
}

static void print_jsonl(struct output *to, const struct tw_doctor *doctor)
{
    const struct tw_finding *finding;
    struct tw_text out = { .chars = NULL };

    for (size_t i = 0; (finding = tw_doctor_finding(doctor, i)) != NULL; i++) {
        tw_text_char(&out, '{');
        tw_json_text(&out, "t", "FINDING");
        tw_json_text(&out, "severity", tw_finding_severity_name(finding->severity));
        tw_json_text(&out, "code", finding->code);
        tw_json_u64(&out, "count", finding->count);
        if (finding->has_offset)
            tw_json_u64(&out, "i", finding->offset);
        tw_json_text(&out, "text", finding->text);
        tw_json_text(&out, "remedy", finding->remedy);
        tw_text_add(&out, "}\n");
    }
    tw_text_char(&out, '{');
    tw_json_text(&out, "t", "SUMMARY");
    tw_json_key(&out, "whole");
    tw_text_add(&out, tw_doctor_is_whole(doctor) ? "true" : "false");
    tw_json_text(&out, "text", tw_doctor_summary(doctor));
    tw_text_add(&out, "}\n");
    output_text(to, out.chars);
    tw_text_free(&out);
}

static void print_svg(struct output *out, const struct tw_doctor *doctor)
{
    const size_t size = tw_doctor_svg(NULL, 0, doctor);
    char *text = malloc(size + 1);

    if (!text) {
        say("out of memory");
        return;
    }
    (void)tw_doctor_svg(text, size + 1, doctor);
    output_text(out, text);
    free(text);
}

static void count_bytes(void *context, uint64_t bytes)
{
    progress_add(context, bytes);
}

/* The findings; NULL: failed, said why. */
static struct tw_doctor *ask(struct session *session, const struct session_wish *wish)
{
    struct progress progress;
    const struct tw_doctor_options how = {
        .size = sizeof how, .on_bytes = count_bytes, .context = &progress, .run = &wish->config
    };
    struct tw_doctor *doctor = NULL;
    struct tw_fault fault = { TW_OK, "" };
    uint64_t total = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        total += tw_capture_buffer(session->capture, i)->size;
    progress_start(&progress, session->options, total);
    if (tw_doctor_new(&doctor, session->capture, &how, &fault) != TW_OK)
        doctor = NULL;
    progress_end(&progress);
    if (!doctor)
        say("%s: %s", tw_capture_path(session->capture), fault.text);
    return doctor;
}

static int examine(struct session *session, const struct options *options)
{
    struct session_wish wish;
    struct tw_doctor *doctor = NULL;
    struct output out;
    bool is_whole;
    const int status = session_wish(session, &wish);

    if (status == DONE)
        doctor = ask(session, &wish);
    session_wish_free(&wish);
    if (!doctor)
        return status == DONE ? NOT_DONE : status;
    if (!output_open(&out, options->output, options->color)) {
        tw_doctor_free(doctor);
        return NOT_DONE;
    }
    if (options_format_is(options, "jsonl"))
        print_jsonl(&out, doctor);
    else if (options_format_is(options, "svg"))
        print_svg(&out, doctor);
    else
        print_text(&out, doctor);
    is_whole = tw_doctor_is_whole(doctor);
    tw_doctor_free(doctor);
    if (!output_close(&out, true))
        return NOT_DONE;
    return is_whole ? DONE : DONE_WITH_LOSS;
}

static int run(const struct options *options)
{
    struct session session;
    int status = session_open(&session, options);

    if (status == DONE)
        status = examine(&session, options);
    session_close(&session);
    return status;
}

static const uint8_t taken[] = { G_CAPTURE, G_DECODER, O_SYMBOLS, G_OUTPUT,
                                 O_FORMAT,  O_HELP,    O_END };

const struct command command_doctor = {
    .name = "doctor",
    .arguments = "CAPTURE",
    .summary = "what is wrong with a capture, and what to do about it",
    .details =
        "Decodes all of a capture once and explains what is wrong with it, the worst\n"
        "first, each with its evidence and what to do: wrong or missing program, its\n"
        "address, wrong registers, framing or protocol, trace that was lost and why; and\n"
        "where in the capture, as a strip. Exit status 1: a finding is an error or worse.\n"
        "\n"
        "examples:\n"
        "  trackway doctor snapshot/\n"
        "  trackway doctor perf.data --sysroot /mnt/target\n"
        "  trackway doctor snapshot/ --symbols program.elf\n"
        "  trackway doctor trace.bin --format svg -o strip.svg\n",
    .formats = "text|jsonl|svg",
    .options = taken,
    .least = 1,
    .most = 1,
    .run = run,
};
