/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs as the options say, and what to say of what they lack. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/elements.h"
#include "shared/at.h"
#include "shared/interrupt.h"
#include "shared/parts.h"
#include "shared/session.h"

enum { LOSSES_SHOWN = 20 };

/* ---- what the options ask for ---- */

static void tell_source(void *context, const struct tw_run_source *source)
{
    struct session *session = context;
    const struct options *options = session->options;
    const struct tw_source *about = tw_capture_source(session->capture, source->source);

    session->is_tried = true;
    if (source->left_out && !options->quiet)
        say("warning: %s: source %s is left out: %s", tw_capture_path(session->capture),
            about->name, source->left_out);
    if (!source->left_out && options->verbose)
        say("%s: source %s, id 0x%02x, %s, core %s (%s)",
            tw_capture_buffer(session->capture, source->buffer)->name, about->name, source->id,
            about->protocol, about->core ? about->core : "none",
            source->core_type ? source->core_type : "type not known");
}

static void count_bytes(void *context, uint64_t bytes)
{
    const struct session *session = context;

    if (session->progress)
        progress_add(session->progress, bytes);
}

static void warn(void *context, const char *text)
{
    const struct session *session = context;

    if (!session->options->quiet)
        say("warning: %s", text);
}

static void note(void *context, const char *text)
{
    const struct session *session = context;

    if (session->options->verbose)
        say("%s: %s", tw_capture_path(session->capture), text);
}

/* "FILE[@BIAS]"; only a number after the last @ is a bias. */
static bool take_symbols(struct session_wish *wish, const struct list *files)
{
    wish->symbols = calloc(files->count + 1, sizeof *wish->symbols);
    wish->paths = calloc(files->count + 1, sizeof *wish->paths);
    for (size_t i = 0; wish->symbols && wish->paths && i < files->count; i++) {
        const char *at = strrchr(files->items[i], '@');

        wish->paths[i] = strdup(files->items[i]);
        if (!wish->paths[i])
            break;
        wish->symbols[i].path = wish->paths[i];
        if (at && parse_number(&wish->symbols[i].bias, at + 1))
            wish->paths[i][at - files->items[i]] = 0;
        wish->config.symbol_count++;
    }
    wish->config.symbols = wish->symbols;
    wish->config.loads_names = files->count != 0; /* what cannot be read is said at once */
    if (wish->config.symbol_count != files->count)
        out_of_memory();
    return true;
}

/* A timestamp or "1.5s" in the clock of the capture's parts: perf.data counts ns where it can. */
static bool time_of(const struct session *session, const struct bound *bound, uint64_t *time)
{
    const struct options *options = session->options;
    uint64_t ns;
    const bool is_ns = session->perf && tw_perf_time(session->perf, &ns, 1);
    const double ticks =
        bound->seconds * (options->clock.is_given ? (double)options->clock.value : 1e9);

    *time = bound->value;
    if (bound->kind == BOUND_TIME && is_ns)
        (void)tw_perf_time(session->perf, time, bound->value);
    if (bound->kind != BOUND_SECONDS)
        return true;
    if (!options->clock.is_given && !is_ns)
        return options_wrong(options, "--from, --to: seconds want --clock HZ with them");
    if (ticks >= 18446744073709549568.0)
        return options_wrong(options, "--from, --to: there is no such time");
    *time = (uint64_t)ticks;
    return true;
}

/* Which of the filter's bounds this is. */
static bool take_bound(const struct session *session, const struct bound *bound, bool *has[3],
                       uint64_t *value[3])
{
    const unsigned which = bound->kind == BOUND_OFFSET         ? 0
                           : bound->kind == BOUND_INSTRUCTIONS ? 2
                                                               : 1;

    if (!bound->is_given)
        return true;
    *has[which] = true;
    return time_of(session, bound, value[which]);
}

static bool take_bounds(const struct session *session, struct tw_filter *filter)
{
    const struct options *options = session->options;

    return take_bound(session, &options->from,
                      (bool *[]){ &filter->has_from, &filter->has_from_time,
                                  &filter->has_from_instruction },
                      (uint64_t *[]){ &filter->from, &filter->from_time,
                                      &filter->from_instruction }) &&
           take_bound(
               session, &options->to,
               (bool *[]){ &filter->has_to, &filter->has_to_time, &filter->has_to_instruction },
               (uint64_t *[]){ &filter->to, &filter->to_time, &filter->to_instruction });
}

static bool take_threads(const struct session *session, struct tw_filter *filter)
{
    const struct options *options = session->options;

    filter->srcs = options->srcs.items;
    filter->src_count = options->srcs.count;
    filter->cpus = options->cpus.items;
    filter->cpu_count = options->cpus.count;
    filter->pids = options->pids.items;
    filter->pid_count = options->pids.count;
    filter->tids = options->tids.items;
    filter->tid_count = options->tids.count;
    filter->comms = options->comms.items;
    filter->comm_count = options->comms.count;
    if (session->perf ||
        !(filter->cpu_count || filter->pid_count || filter->tid_count || filter->comm_count))
        return true;
    say("%s: --cpu, --pid, --tid and --comm are for perf.data, which tells CPUs and threads",
        tw_capture_path(session->capture));
    return false;
}

static void take_filter(struct session_wish *wish, const struct options *options)
{
    struct tw_filter *filter = &wish->filter;

    filter->size = sizeof *filter;
    if (options->buffer) {
        filter->buffers = &options->buffer;
        filter->buffer_count = 1;
    }
    filter->sources = options->source_names.items;
    filter->source_count = options->source_names.count;
    filter->has_ids = options->has_ids;
    memcpy(filter->ids, options->ids, sizeof filter->ids);
    filter->functions = options->functions.items;
    filter->function_count = options->functions.count;
    if (options->range.is_given) {
        wish->range = (struct tw_address_range){ options->range.first, options->range.end };
        filter->ranges = &wish->range;
        filter->range_count = 1;
    }
}

int session_wish(struct session *session, struct session_wish *wish)
{
    const struct options *options = session->options;

    *wish = (struct session_wish){ .filter = { 0 } };
    take_filter(wish, options);
    wish->config = (struct tw_run_config){
        .size = sizeof wish->config,
        .filter = &wish->filter,
        .is_joined = options->multi_session,
        .threads = options->threads.is_given ? (uint32_t)options->threads.value : 0,
        .core_type = options->arch,
        .waits_on_error = options->on_error && strcmp(options->on_error, "wait") == 0,
        .resumes_on_error = options->on_error && strcmp(options->on_error, "wait") != 0,
        .assumes_sync = options->assume_sync,
        .range_limit = (uint32_t)options->range_limit.value,
        .source_address_n = options->source_address_n,
        .check_opcodes = (options->checks & CHECK_OPCODES) != 0,
        .check_atoms = (options->checks & CHECK_ATOMS) != 0,
        .check_continuity = (options->checks & CHECK_CONTINUITY) != 0,
        .index = options->index,
        .builds_index = options->build_index,
        .on_source = tell_source,
        .on_bytes = count_bytes,
        .on_warning = warn,
        .on_note = note,
        .context = session,
    };
    if (!take_bounds(session, &wish->filter) || !take_threads(session, &wish->filter))
        return BAD_USAGE;
    if (!take_symbols(wish, &options->symbols))
        return NOT_DONE;
    return options->part ? parts_take(session, wish) : DONE;
}

void session_wish_free(struct session_wish *wish)
{
    for (size_t i = 0; wish->paths && i < wish->config.symbol_count; i++)
        free(wish->paths[i]);
    free(wish->paths);
    free(wish->symbols);
    *wish = (struct session_wish){ .paths = NULL };
}

struct tw_run *session_run_new(struct session *session, const struct session_wish *wish)
{
    const struct options *options = session->options;
    struct tw_fault fault = { TW_OK, "" };
    struct tw_run *run;
    enum tw_status status;

    status = tw_run_new(&run, session->capture, &wish->config, &fault);
    if (status == TW_OK)
        return run;
    if (status == TW_E_FILE && options->symbols.count)
        say("--symbols: %s", fault.text);
    else if (status == TW_E_CONFIG && options->functions.count)
        say("%s; give --symbols FILE or --image FILE with an ELF file", fault.text);
    else if (status == TW_E_ARGUMENT && options->functions.count)
        say("%s", fault.text);
    else
        say("%s: %s", tw_capture_path(session->capture), fault.text);
    return NULL;
}

/* ---- running ---- */

/* Of all buffers that the options want. */
static uint64_t bytes_wanted(const struct session *session)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < tw_capture_buffer_count(session->capture); i++)
        if (session_wants(session, i))
            bytes += tw_capture_buffer(session->capture, i)->size;
    return bytes;
}

/* --at: where the run begins. */
static int seek(struct session *session)
{
    const struct options *options = session->options;
    struct tw_run_place place;
    enum tw_status status;

    if (!place_parse(&place, options))
        return BAD_USAGE;
    if (options->multi_session) {
        (void)options_wrong(options, "--at does not go with --opt multi-session");
        return BAD_USAGE;
    }
    status = tw_run_seek(session->run, &place);
    if (status == TW_OK)
        return DONE;
    if (status == TW_END)
        say("%s: there is no %s in it%s", tw_capture_path(session->capture), options->at,
            place_hint(options));
    else
        say("%s: %s", tw_capture_path(session->capture), tw_run_fault(session->run));
    return NOT_DONE;
}

int session_start(struct session *session, const struct session_wish *wish)
{
    const struct options *options = session->options;
    int status = DONE;

    /* In time order buffers are opened together, and one without sources is no fault; nor is a part that
       holds none. */
    session->is_any = wish->config.order == TW_ORDER_TIME || wish->config.extent;
    session->is_open = session->is_tried = false;
    session->left = options->count.is_given ? options->count.value : UINT64_MAX;
    repeats_start(&session->repeats, options, bytes_wanted(session));
    session->run = session_run_new(session, wish);
    if (!session->run)
        return NOT_DONE;
    if (options->at)
        status = seek(session);
    if (status == DONE && !session->progress) {
        progress_start(&session->own_progress, options, bytes_wanted(session));
        session->progress = &session->own_progress;
    }
    return status;
}

static void say_no_source(const struct session *session, uint32_t buffer)
{
    const char *path = tw_capture_path(session->capture);
    char guess[2048];

    if (session->is_tried || session->options->quiet)
        return;
    identified_guess(guess, sizeof guess, &session->identified);
    if (tw_capture_source_count(session->capture) == 0)
        say("%s: nothing says what trace this is; give --protocol, or --source ID:PROTOCOL for "
            "each source%s",
            path, guess);
    else
        say("%s: buffer %s holds no source that was asked for", path,
            tw_capture_buffer(session->capture, buffer)->name);
}

/* What there is to know of a part before others see it; false: it is not for them. */
static bool see_part(struct session *session, const struct tw_part *part)
{
    if (part->kind == TW_PART_LOSS) /* said in the summary; listings have no line for it */
        return session->gives_losses;
    session->buffer = part->buffer;
    if (part->kind == TW_PART_NOTHING)
        say_no_source(session, part->buffer);
    if (part->kind == TW_PART_NOTHING || part->kind == TW_PART_BEGIN)
        session->is_tried = false;
    if (part->kind == TW_PART_BEGIN)
        session->is_open = session->is_any = true;
    if (part->kind == TW_PART_END)
        session->is_open = false;
    return part->kind != TW_PART_NOTHING;
}

static enum tw_status say_fault(const struct session *session, enum tw_status status)
{
    if (session->progress)
        progress_hide(session->progress);
    if (status < 0)
        say("%s: %s", tw_capture_path(session->capture), tw_run_fault(session->run));
    return status;
}

/* --count is reached: the buffer ends here. */
static enum tw_status end_early(struct session *session, struct tw_part *part)
{
    if (!session->is_open)
        return TW_END;
    session->is_open = false;
    *part = (struct tw_part){ .size = sizeof *part,
                              .kind = TW_PART_END,
                              .buffer = session->buffer };
    return TW_OK;
}

enum tw_status session_next(struct session *session, struct tw_part *part)
{
    enum tw_status status;

    if (!session->left)
        return end_early(session, part);
    do
        status = tw_run_next(session->run, part);
    while (status == TW_OK && !see_part(session, part));
    if (status == TW_OK && part->kind == TW_PART_ELEMENTS) {
        if (part->batch.count > session->left)
            part->batch.count = (size_t)session->left;
        session->left -= part->batch.count;
    }
    return status < 0 ? say_fault(session, status) : status;
}

enum tw_status session_next_packet(struct session *session, struct tw_part *part,
                                   struct tw_packet_view *view)
{
    enum tw_status status;

    do
        status = tw_run_next_packet(session->run, part, view);
    while (status == TW_OK && !see_part(session, part));
    return status < 0 ? say_fault(session, status) : status;
}

int session_end(struct session *session, enum tw_status status)
{
    int summary;

    if (session->progress == &session->own_progress) {
        progress_end(&session->own_progress);
        session->progress = NULL;
    }
    if (status < 0 || (session->out && session->out->has_failed))
        return NOT_DONE;
    if (tw_run_fault(session->run)[0]) { /* names could not be had, after the last part */
        say("%s: %s", tw_capture_path(session->capture), tw_run_fault(session->run));
        return NOT_DONE;
    }
    if (!session->options->quiet)
        repeats_say(&session->repeats);
    summary = session_summary(session);
    /* A recording may hold no trace at all: that is what there is to say of it. */
    if (tw_capture_buffer_count(session->capture) == 0 && !session->perf)
        say("%s: there is no trace in it: snapshot.ini has no [trace] section, or it names no "
            "buffer",
            tw_capture_path(session->capture));
    if (session->is_any || session->options->at ||
        (session->perf && tw_capture_buffer_count(session->capture) == 0))
        return summary;
    return NOT_DONE;
}

/* ---- from the beginning to the end ---- */

static int start_way(struct session *session, const struct session_way *way)
{
    struct session_wish wish;
    int status = session_wish(session, &wish);

    if (status == DONE) {
        wish.config.packets_only = way->is_packets;
        wish.config.keeps_bits = way->is_packets && session->options->bits;
        if (way->change)
            way->change(way->context, &wish.config);
        status = session_start(session, &wish);
    }
    session_wish_free(&wish);
    return status;
}

int session_go(struct session *session, const struct session_way *way)
{
    struct tw_packet_view packet = { .size = sizeof packet };
    struct tw_part part = { .size = sizeof part };
    enum tw_status status = TW_END;
    const int started = start_way(session, way);

    if (started != DONE)
        return started;
    if (way->begin)
        way->begin(way->context, session->run);
    while (!(session->out && output_is_over(session->out)) &&
           !(way->is_done && *way->is_done)) {
        status = way->is_packets ? session_next_packet(session, &part, &packet)
                                 : session_next(session, &part);
        if (status != TW_OK)
            break;
        if (!way->take(way->context, &part, way->is_packets ? &packet : NULL))
            return NOT_DONE;
    }
    return session_end(session, status);
}

/* ---- the index ---- */

static bool write_index(const struct session *session, const char *path)
{
    const size_t count = tw_capture_buffer_count(session->capture);
    const struct tw_index **list = calloc(count + 1, sizeof(const struct tw_index *));
    struct tw_fault fault = { TW_OK, "" };
    size_t written = 0;
    bool is_done;

    if (!list) {
        say("out of memory");
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        list[written] = tw_run_index(session->run, i, false);
        written += list[written] != NULL;
    }
    interrupt_hold();
    is_done = written && tw_index_write(path, list, written, &fault) == TW_OK;
    interrupt_release();
    if (!is_done)
        say("%s", written ? fault.text
                          : "no buffer was decoded as a whole: there is no index to write");
    free(list);
    return is_done;
}

bool session_write_index(const struct session *session)
{
    bool is_there = false;
    const char *path = session->run ? tw_run_index_path(session->run, &is_there) : NULL;

    if (is_there && !session->options->quiet)
        say("%s is there already", path);
    return is_there || (path && write_index(session, path));
}

/* ---- what was lost ---- */

void session_say_error(const struct session *session, const struct tw_element *error,
                       uint8_t id)
{
    struct tw_error entry;

    if (session->progress)
        progress_hide(session->progress);
    if (!session->options->quiet && tw_error_from_element(&entry, error, id) &&
        tw_errors_set_name(session->errors, session_file(session, session->buffer)))
        tw_errors_add(session->errors, &entry);
}

void session_say_errors(const struct session *session, const struct tw_batch *batch)
{
    for (size_t i = 0; (i = tw_past_ranges(batch->elements, i, batch->count)) < batch->count;
         i++)
        if (batch->elements[i].type == TW_ELEMENT_ERROR)
            session_say_error(session, &batch->elements[i], batch->id);
}

static void say_loss(const struct session *session, const struct tw_perf_loss *loss)
{
    const bool is_cpu = loss->cpu != TW_NONE;

    say("%s: trace of %s %" PRIu32 ": %s%s%s%sat stream offset 0x%" PRIx64 ", %" PRIu64
        " bytes (record at offset 0x%" PRIx64 ")",
        tw_capture_path(session->capture), is_cpu ? "CPU" : "thread",
        is_cpu ? loss->cpu : loss->tid, loss->has_data ? "" : "the data is not in the file; ",
        loss->flags & TW_PERF_TRUNCATED ? "lost, the buffer was full; " : "",
        loss->flags & TW_PERF_PARTIAL ? "has gaps; " : "",
        loss->flags & TW_PERF_COLLISION ? "may end early; " : "", loss->aux_offset, loss->size,
        loss->record);
}

static void say_missing(const struct session *session)
{
    static const char *const why[] = { [TW_PERF_FILE_UNUSED] = "holds no code",
                                       [TW_PERF_FILE_FOUND] = "does not hold all of it",
                                       [TW_PERF_FILE_MISSING] = "not found",
                                       [TW_PERF_FILE_WRONG] = "another build was found" };
    struct tw_missing missing;

    for (size_t i = 0; tw_run_missing(session->run, &missing, i); i++) {
        const struct tw_perf_file *file =
            missing.file == TW_NONE ? NULL : tw_perf_file(session->perf, missing.file);

        /* Where the path was lost an instruction was executed, and so was each branch. */
        if (missing.times)
            say("missing code: %s (%s): the path was lost there %" PRIu64
                " time%s, at least %" PRIu64 " instruction%s",
                file ? file->name : "nothing is mapped",
                file ? why[file->state & 3] : "no record of it", missing.times,
                missing.times == 1 ? "" : "s", missing.times + missing.branches,
                missing.times + missing.branches == 1 ? "" : "s");
    }
}

/* What perf.data lacks, each file once, and what trace the recorder lost. */
static void say_recorded(const struct session *session)
{
    const size_t losses = tw_perf_loss_count(session->perf);

    say_missing(session);
    for (size_t i = 0; i < losses && i < LOSSES_SHOWN; i++)
        say_loss(session, tw_perf_loss(session->perf, i));
    if (losses > LOSSES_SHOWN)
        say("%s: %zu more losses of this kind", tw_capture_path(session->capture),
            losses - LOSSES_SHOWN);
}

static void add_count(char *text, size_t room, uint64_t count, const char *one,
                      const char *many)
{
    const size_t used = strlen(text);

    if (count)
        (void)snprintf(text + used, room - used, "%s%" PRIu64 " %s", used ? ", " : "", count,
                       count == 1 ? one : many);
}

int session_summary(const struct session *session)
{
    struct tw_run_losses losses = { .size = sizeof losses };
    char damage[400] = "", notes[200] = "";

    (void)tw_run_losses(session->run, &losses);
    if (session->perf && !session->options->quiet)
        say_recorded(session);
    add_count(damage, sizeof damage, losses.recorder, "loss while recording",
              "losses while recording");
    add_count(damage, sizeof damage, losses.errors, "error in the trace",
              "errors in the trace");
    add_count(damage, sizeof damage, losses.truncated, "cut packet at the end",
              "cut packets at the end");
    add_count(damage, sizeof damage, losses.overflows, "overflow", "overflows");
    add_count(damage, sizeof damage, losses.discards, "discard", "discards");
    add_count(damage, sizeof damage, losses.gaps, "gap", "gaps");
    add_count(notes, sizeof notes, losses.unsynced_bytes, "byte without sync",
              "bytes without sync");
    add_count(notes, sizeof notes, losses.missing_code, "address not in the image",
              "addresses not in the image");
    if (!session->options->quiet && (damage[0] || notes[0]))
        say("%s: %s%s%s%s", tw_capture_path(session->capture), damage,
            damage[0] && notes[0] ? "; " : "", notes,
            losses.missing_code ? session_missing_hint(session) : "");
    return damage[0] ? DONE_WITH_LOSS : DONE;
}
