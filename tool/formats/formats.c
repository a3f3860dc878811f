/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of listing formats, and how a capture is run through one of them. */
#include "formats/formats.h"

#include <inttypes.h>
#include <string.h>

#include "formats/columns.h"

/* The table, in the order of the help; the first is the default.  docs/listing-formats.md adds a row. */
/* clang-format off */
#define FORMATS(row) \
    row(text)        \
    row(jsonl)       \
    row(csv)         \
    row(path)        \
    row(pcs)         \
    row(runs)        \
    row(perf)
/* clang-format on */

#define DECLARE(name) extern const struct format format_##name;
#define ROW(name)     &format_##name,

FORMATS(DECLARE)

static const struct format *const formats[] = { FORMATS(ROW) };

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0], NAMES_ROOM = 200 };

const char *format_names(unsigned what)
{
    static char names[2][NAMES_ROOM];
    char *to = names[what == FORMAT_PACKETS];

    if (to[0])
        return to;
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i]->flags & what &&
            strlen(to) + strlen(formats[i]->name) + 2 < NAMES_ROOM) {
            (void)strcat(to, to[0] ? "|" : "");
            (void)strcat(to, formats[i]->name);
        }
    return to;
}

/* The options were checked against the names. */
static const struct format *format_of(const struct options *options, unsigned what)
{
    size_t i = 0;

    while (i < FORMAT_COUNT - 1 &&
           !((formats[i]->flags & what) && options_format_is(options, formats[i]->name)))
        i++;
    return formats[i];
}

static bool check_options(const struct format *format, const struct listing *listing)
{
    const struct options *options = listing->options;

    if (options->instructions && !(format->flags & FORMAT_INSTRUCTIONS))
        return options_wrong(options, "--instructions does not go with --format %s",
                             format->name);
    return !options->columns || columns_check(options, listing->is_packets);
}

/* What can only be told when the capture is open. */
static bool check_capture(const struct format *format, const struct session *session)
{
    const struct options *options = session->options;

    if (!(format->flags & FORMAT_OF_PERF))
        return true;
    if (!session->perf) {
        say("%s: --format %s is for perf.data, which tells CPUs and threads",
            tw_capture_path(session->capture), format->name);
        return false;
    }
    if (options->at || options->count.is_given)
        return options_wrong(options, "--at and --count do not go with --format %s",
                             format->name);
    return true;
}

/* --stats: what there was in the buffer that ended. */
static void say_stats(const struct session *session)
{
    const char *name = tw_capture_buffer(session->capture, session->buffer)->name;

    for (unsigned id = 0; id < 128; id++) {
        const struct tw_source_stats *stats = tw_run_source_stats(session->run, (uint8_t)id);

        if (stats)
            say_plain("%s id 0x%02x: %" PRIu64 " bytes, %" PRIu64 " instructions, %" PRIu64
                      " ranges, %" PRIu64 " exceptions, %" PRIu64 " missing addresses, %" PRIu64
                      " bytes without sync",
                      name, id, stats->bytes, stats->instructions,
                      stats->elements[TW_ELEMENT_INSTR_RANGE],
                      stats->elements[TW_ELEMENT_EXCEPTION], stats->missing_code,
                      stats->unsynced_bytes);
    }
}

/* A listing on its way. */
struct work {
    const struct format *format;
    void *state;
    const struct listing *listing;
    bool says_errors;
};

static void change(void *context, struct tw_run_config *config)
{
    const struct work *work = context;
    const unsigned flags = work->format->flags;
    const bool instructions = work->listing->options->instructions;

    config->keeps_failed = (flags & FORMAT_FAILED) && !instructions;
    config->loads_names |= instructions;
    if (flags & FORMAT_OF_PERF) {
        config->order = TW_ORDER_TIME;
        config->is_joined = false;
    }
    config->batch_room = session_batch_room(work->listing->session);
}

static bool take(void *context, const struct tw_part *part, const struct tw_packet_view *packet)
{
    const struct work *work = context;
    const struct session *session = work->listing->session;

    if (work->says_errors && part->kind == TW_PART_ELEMENTS)
        session_say_errors(session, &part->batch);
    if (!work->format->take(work->state, part, packet))
        return false;
    if (part->kind == TW_PART_END && work->listing->options->stats)
        say_stats(session);
    return true;
}

static int list(const struct format *format, const struct listing *listing)
{
    struct work work = { .format = format,
                         .state = format->start(listing),
                         .listing = listing,
                         .says_errors =
                             !listing->options->errors || !(format->flags & FORMAT_ERRORS) };
    const struct session_way way = {
        .context = &work, .is_packets = listing->is_packets, .change = change, .take = take
    };
    int status;

    if (!work.state)
        return NOT_DONE;
    status = session_go(listing->session, &way);
    format->end(work.state);
    return status;
}

int formats_list(const struct options *options, unsigned what)
{
    const struct format *format = format_of(options, what);
    struct output out = { 0 };
    struct session session = { .options = options, .out = &out };
    const struct listing listing = { .options = options,
                                     .session = &session,
                                     .out = &out,
                                     .is_packets = what == FORMAT_PACKETS };
    int status = check_options(format, &listing) ? session_open(&session, options) : BAD_USAGE;

    session.out = &out;
    if (status == DONE && !check_capture(format, &session))
        status = BAD_USAGE;
    if (status == DONE && !output_open(&out, options->output, options->color))
        status = NOT_DONE;
    else if (status == DONE)
        status = list(format, &listing);
    if (options->build_index && (status == DONE || status == DONE_WITH_LOSS) &&
        !session_write_index(&session))
        status = NOT_DONE;
    if (!output_close(&out, status == DONE || status == DONE_WITH_LOSS))
        status = NOT_DONE;
    session_leave(&session);
    return status;
}
