/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding from a place in the middle of a capture. */
#include "shared/at.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool wrong(const struct options *options)
{
    return options_wrong(options,
                         "--at: \"%s\" is no place; give a timestamp, SECONDSs with --clock, "
                         "+OFFSET, or trigger:N, event:N, sync:N, trace-on:N",
                         options->at);
}

/* "1.25s": seconds by --clock. */
static bool parse_seconds(struct point *point, const struct options *options, const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);
    const double ticks = seconds * (double)options->clock.value;

    if (end == text || strcmp(end, "s") != 0 || !(ticks >= 0) ||
        ticks >= 18446744073709549568.0)
        return false;
    if (!options->clock.is_given)
        return options_wrong(options, "--at: seconds want --clock HZ with them");
    *point = (struct point){ .kind = POINT_TIME, .value = (uint64_t)ticks };
    return true;
}

bool point_parse(struct point *point, const struct options *options)
{
    static const struct {
        const char *name;
        enum point_kind kind;
        enum tw_index_kind of;
    } words[] = {
        { "time:", POINT_TIME, TW_INDEX_TIME },
        { "offset:", POINT_OFFSET, TW_INDEX_SYNC },
        { "+", POINT_OFFSET, TW_INDEX_SYNC },
        { "trigger:", POINT_NTH, TW_INDEX_TRIGGER },
        { "event:", POINT_NTH, TW_INDEX_EVENT },
        { "sync:", POINT_NTH, TW_INDEX_SYNC },
        { "trace-on:", POINT_NTH, TW_INDEX_TRACE_ON },
    };
    const char *text = options->at;

    *point = (struct point){ .kind = POINT_TIME };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t size = strlen(words[i].name);

        if (strncmp(text, words[i].name, size) != 0)
            continue;
        point->kind = words[i].kind;
        point->of = words[i].of;
        text += size;
        break;
    }
    if (parse_number(&point->value, text))
        return point->kind != POINT_NTH || point->value ? true : wrong(options);
    if (point->kind == POINT_TIME && text[0] && text[strlen(text) - 1] == 's')
        return parse_seconds(point, options, text) ||
               (options->clock.is_given && wrong(options));
    return wrong(options);
}

/* ---- the n-th of a kind ---- */

static bool is_wanted(const struct session *session, uint8_t id)
{
    return session_wants_id(session, id);
}

uint64_t point_count(const struct tw_index *index, const struct session *session,
                     enum tw_index_kind kind)
{
    struct tw_index_stream stream = { .size = sizeof stream };
    uint64_t count = 0;

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        count += is_wanted(session, stream.id) ? stream.counts[kind] : 0;
    if (kind == TW_INDEX_TRIGGER) {
        struct tw_frame_event event;

        for (uint64_t i = 0; tw_index_event(index, &event, i) == TW_OK; i++)
            count += event.kind == TW_FRAME_TRIGGER;
    }
    return count;
}

/* One stream alone is found at once. */
static bool only_stream(const struct tw_index *index, const struct session *session,
                        size_t *number)
{
    struct tw_index_stream stream = { .size = sizeof stream };
    unsigned count = 0;

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        if (is_wanted(session, stream.id)) {
            *number = i;
            count++;
        }
    return count == 1;
}

enum tw_status point_nth(const struct tw_index *index, struct tw_index_entry *entry,
                         const struct session *session, enum tw_index_kind kind, uint64_t nth)
{
    uint64_t taken[128] = { 0 };
    size_t only;

    if (kind == TW_INDEX_TRIGGER && !session->options->has_ids)
        return tw_index_find_trigger(index, entry, nth);
    if (only_stream(index, session, &only))
        return tw_index_find_nth(index, entry, only, kind, nth);
    for (;; nth--) {
        struct tw_index_stream stream = { .size = sizeof stream };
        struct tw_index_entry other;
        size_t first = SIZE_MAX;

        for (size_t i = 0; i < 128 && tw_index_stream(index, &stream, i) == TW_OK; i++) {
            enum tw_status status = TW_END;

            if (is_wanted(session, stream.id))
                status = tw_index_find_nth(index, &other, i, kind, taken[i]);
            if (status < 0)
                return status;
            if (status == TW_OK && (first == SIZE_MAX || other.offset < entry->offset)) {
                *entry = other;
                first = i;
            }
        }
        if (first == SIZE_MAX)
            return TW_END;
        if (nth == 0)
            return TW_OK;
        taken[first]++;
    }
}

/* ---- where to begin ---- */

static const uint64_t *wanted_ids(const struct session *session)
{
    return session->options->has_ids ? session->options->ids : NULL;
}

/* With several buffers: whether the time is reached in this one. */
static bool reaches(const struct tw_index *index, const struct session *session, uint64_t time)
{
    struct tw_index_stream stream = { .size = sizeof stream };

    for (size_t i = 0; tw_index_stream(index, &stream, i) == TW_OK; i++)
        if (is_wanted(session, stream.id) && stream.counts[TW_INDEX_TIME] &&
            stream.last_time >= time)
            return true;
    return false;
}

/* The place in this buffer.  TW_END: it is not there; *nth counts what was passed over. */
static enum tw_status find_place(struct session *session, const struct point *point,
                                 uint64_t *nth, bool is_last)
{
    struct at *at = session->at;
    const struct tw_index_capture *about = &at->subject.about;
    struct tw_index_entry entry;
    enum tw_status status = TW_END;

    if (point->kind == POINT_OFFSET) {
        at->offset = point->value;
        return point->value >= about->base && point->value - about->base < about->bytes
                   ? TW_OK
                   : TW_END;
    }
    if (point->kind == POINT_NTH || session_has_several(session)) {
        at->index = indexes_need(&at->indexes, &at->subject, false);
        if (!at->index)
            return TW_E_FILE;
    }
    if (point->kind == POINT_NTH) {
        const uint64_t count = point_count(at->index, session, point->of);

        if (*nth < count)
            status = point_nth(at->index, &entry, session, point->of, *nth);
        else
            *nth -= count;
        at->offset = status == TW_OK ? entry.offset : 0;
        return status;
    }
    if (session_has_several(session) && !is_last && !reaches(at->index, session, point->value))
        return TW_END;
    status = tw_index_locate(about, at->index, &at->offset, wanted_ids(session), point->value);
    if (status == TW_E_FILE && at->index) { /* a page of the file is damaged */
        say("warning: %s is damaged; it is not used", at->indexes.path);
        at->index = NULL;
        status = tw_index_locate(about, NULL, &at->offset, wanted_ids(session), point->value);
    }
    return status;
}

/* A new tree that begins far enough before the place. */
static bool begin(struct session *session)
{
    struct at *at = session->at;
    enum tw_status status;

    memset(at->is_seen, 0, sizeof at->is_seen);
    if (session->perf) { /* blocks are small, and what runs in them is told in order */
        at->from = at->subject.about.base;
        return true;
    }
    status = tw_index_seek(&at->subject.about, at->index, session->tree, &at->from, at->offset,
                           at->back);
    if (status == TW_E_FILE && at->index) {
        say("warning: %s is damaged; it is not used", at->indexes.path);
        at->index = NULL;
        status = tw_index_seek(&at->subject.about, NULL, session->tree, &at->from, at->offset,
                               at->back);
    }
    if (status != TW_OK) {
        say("%s: cannot begin at 0x%" PRIx64, tw_capture_path(session->capture), at->offset);
        return false;
    }
    if (session->options->verbose)
        say("%s: begins at 0x%" PRIx64 " for 0x%" PRIx64, tw_capture_path(session->capture),
            at->from, at->offset);
    session->fed = at->from - at->subject.about.base;
    return true;
}

/* What came shows that decoding began too late: begins earlier, and passes over what was given. */
static enum tw_status begin_again(struct session *session)
{
    struct at *at = session->at;

    at->back *= 4;
    at->skip = at->given;
    at->given = 0;
    tw_tree_free(session->tree);
    session->tree = NULL;
    if (session_start(session, at->subject.buffer, false) != STARTED || !begin(session))
        return TW_E_FILE;
    return TW_MORE;
}

static bool tells_nothing(const struct tw_element *element)
{
    return element->type == TW_ELEMENT_NO_SYNC || element->type == TW_ELEMENT_ERROR ||
           element->type == TW_ELEMENT_EO_TRACE;
}

/* A decoder that has said nothing before the place, or lacks a return address, may not know all
   that one from the beginning knows. */
static bool is_doubtful(const struct at *at, const struct tw_element *element, uint8_t id)
{
    if (at->from <= at->subject.about.base)
        return false;
    if (element->type == TW_ELEMENT_ERROR &&
        (element->error == TW_ERROR_RETURN_STACK || element->error == TW_ERROR_COMMIT))
        return true;
    return element->index >= at->offset && !tells_nothing(element) && !at->is_seen[id & 0x7f];
}

/* Elements of a batch that come before the place are left out. */
enum tw_status at_trim(struct session *session, struct tw_batch *batch)
{
    struct at *at = session->at;
    size_t kept = 0;

    if (at->left == 0)
        return TW_END;
    for (size_t i = 0; i < batch->count && at->left; i++) {
        const struct tw_element *element = &batch->elements[i];

        if (!at->is_begun && is_doubtful(at, element, batch->id))
            return begin_again(session);
        if (!at->is_begun && element->index < at->offset) {
            at->is_seen[batch->id & 0x7f] |= !tells_nothing(element);
            continue;
        }
        if (!session_wants_id(session, batch->id))
            continue;
        at->given++;
        if (at->skip) {
            at->skip--;
            continue;
        }
        batch->elements[kept++] = *element;
        at->left--;
    }
    batch->count = kept;
    return kept ? TW_OK : TW_MORE;
}

/* One buffer: TW_OK, it is done; TW_END: the place is not in it; else it failed. */
static enum tw_status run_buffer(struct session *session, size_t buffer, session_fn *each,
                                 void *context)
{
    struct at *at = session->at;
    enum start start = session_start(session, buffer, false);

    if (start == NOTHING_THERE)
        return TW_END;
    if (start == START_FAILED || (!at->is_begun && !begin(session)) ||
        !each(context, session, buffer))
        return TW_E_FILE;
    session_stop(session);
    return TW_OK;
}

static enum tw_status run_all(struct session *session, const struct point *point,
                              session_fn *each, void *context)
{
    struct at *at = session->at;
    const size_t count = tw_capture_buffer_count(session->capture);
    uint64_t nth = point->value - 1;
    enum tw_status status = TW_END;

    for (size_t i = 0; i < count && at->left; i++) {
        enum tw_status found = TW_OK;

        if (!session_wants(session, i) || output_is_over(session->out))
            continue;
        if (!subject_open(&at->subject, session, i))
            return TW_E_MEMORY;
        at->index = NULL;
        at->back = 2;
        if (!at->is_begun && !session->perf)
            at->index = indexes_find(&at->indexes, &at->subject, false);
        if (!at->is_begun)
            found = find_place(session, point, &nth, i + 1 == count);
        if (found == TW_OK)
            found = run_buffer(session, i, each, context);
        subject_close(&at->subject);
        if (found < 0)
            return found;
        if (found == TW_OK) {
            at->is_begun = true;
            status = TW_OK;
        }
    }
    return status;
}

int at_run(struct session *session, session_fn *each, void *context)
{
    const struct options *options = session->options;
    struct at at = { .left = options->count.is_given ? options->count.value : UINT64_MAX };
    struct point point = { .kind = POINT_TIME };
    enum tw_status status;

    at.is_begun = !options->at; /* --count alone */
    if (options->at && !point_parse(&point, options))
        return BAD_USAGE;
    if (options->at && options->multi_session) {
        (void)options_wrong(options, "--at does not go with --opt multi-session");
        return BAD_USAGE;
    }
    if (!indexes_open(&at.indexes, session))
        return NOT_DONE;
    if (point.kind == POINT_NTH)
        indexes_check(&at.indexes);
    session->at = &at;
    status = run_all(session, &point, each, context);
    session_stop(session);
    session->at = NULL;
    indexes_close(&at.indexes);
    if (status == TW_END && (at.is_begun || !options->at))
        status = TW_OK;
    if (status == TW_END)
        say("%s: there is no %s in it", tw_capture_path(session->capture), options->at);
    if (status != TW_OK || session->out->has_failed)
        return NOT_DONE;
    return session_summary(session);
}
