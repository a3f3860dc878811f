/* SPDX-License-Identifier: BSD-2-Clause */
/* A timeline as one picture: a lane for each track, and for each depth of a thread's stack.  It has so many columns and
   lanes and no more, however long the trace is: where time goes on beyond the last column, each two
   become one. */
#include <inttypes.h>

#include "base/memory.h"
#include "export/export.h"
#include "export/svg.h"

enum {
    WIDTH = 1200,
    LEFT = 160,
    PLOT = 1024,
    TOP = 48,
    ROW = 15,
    COLUMNS = 512,
    DEPTH_MOST = 8,
    LANES_MOST = 48,
    MARKED = TW_SPAN_SHORT + 1, /* no span: marks and values */
    KINDS
};

/* What a column of a lane shows: one of those that were there, as a rule the one that took most of it. */
struct column {
    uint64_t most;    /* time of the one that is shown */
    uint64_t covered; /* time of all of them */
    uint64_t begun;   /* how many began here */
    uint32_t what;    /* as in the event; gaps: the reason */
    uint8_t kind;     /* enum tw_span_kind, or MARKED */
    bool is_used;
};

struct lanes {
    struct column *depths[DEPTH_MOST]; /* NULL: nothing was there */
    bool is_left_out;
};

struct picture {
    struct lanes *tracks;
    size_t track_count, track_room;
    size_t lane_count;
    uint64_t first_column; /* times are divided by 2^bits */
    unsigned bits;
    bool has_time;
    uint64_t first, last; /* of all that is shown */
    uint64_t too_deep, untimed;
};

/* ---- taking ---- */

static void add_to(struct column *column, const struct column *more)
{
    if (!more->is_used)
        return;
    if (column->is_used && column->kind == more->kind && column->what == more->what) {
        column->most += more->most;
    } else if (!column->is_used || more->most > column->most) {
        column->kind = more->kind;
        column->what = more->what;
        column->most = more->most;
    }
    column->covered += more->covered;
    column->begun += more->begun;
    column->is_used = true;
}

/* Each two columns of a lane become one, and go `up` columns up. */
static void fold_lane(struct column *columns, uint64_t first, uint64_t up)
{
    struct column folded[COLUMNS] = { { .is_used = false } };

    for (uint64_t i = 0; i < COLUMNS; i++)
        add_to(&folded[((first + i) >> 1) - (first >> 1) + up], &columns[i]);
    for (size_t i = 0; i < COLUMNS; i++)
        columns[i] = folded[i];
}

/* Twice the time, with room before what there is, or behind it. */
static void fold(struct picture *picture, bool is_before)
{
    const uint64_t first = picture->first_column >> 1, room = COLUMNS / 2 - 1,
                   up = !is_before     ? 0
                        : first < room ? first
                                       : room;

    for (size_t i = 0; i < picture->track_count; i++)
        for (unsigned depth = 0; depth < DEPTH_MOST; depth++)
            if (picture->tracks[i].depths[depth])
                fold_lane(picture->tracks[i].depths[depth], picture->first_column, up);
    picture->first_column = first - up;
    picture->bits++;
}

static void make_room(struct picture *picture, uint64_t time)
{
    if (!picture->has_time) {
        picture->first_column = picture->first = picture->last = time;
        picture->has_time = true;
    }
    while (time >> picture->bits < picture->first_column)
        fold(picture, true);
    while ((time >> picture->bits) - picture->first_column >= COLUMNS)
        fold(picture, false);
    picture->first = time < picture->first ? time : picture->first;
    picture->last = time > picture->last ? time : picture->last;
}

/* NULL: left out, or no memory. */
static struct column *lane_of(struct tw_timeline_writer *writer, uint32_t track, uint32_t depth)
{
    struct picture *picture = writer->state;
    const struct tw_allocator *allocator = writer->sink.allocator;
    struct column **lane;

    if (track >= picture->track_room &&
        !TW_GROW(allocator, &picture->tracks, &picture->track_room, (size_t)track + 1)) {
        writer->sink.lacks_memory = true;
        return NULL;
    }
    while (picture->track_count <= track)
        picture->tracks[picture->track_count++] = (struct lanes){ .is_left_out = false };
    lane = &picture->tracks[track].depths[depth];
    if (*lane)
        return *lane;
    if (picture->lane_count >= LANES_MOST) {
        picture->tracks[track].is_left_out = true;
        return NULL;
    }
    *lane = tw_take(allocator, COLUMNS * sizeof **lane);
    if (*lane)
        picture->lane_count++;
    else
        writer->sink.lacks_memory = true;
    return *lane;
}

/* From one time to another, of what kind and what.  `begun`: how many it stands for. */
static void put_span(struct picture *picture, struct column *lane, struct column about,
                     uint64_t from, uint64_t to)
{
    const uint64_t first = from >> picture->bits,
                   last = (to > from ? to - 1 : from) >> picture->bits;

    about.is_used = true;
    for (uint64_t at = first; at <= last; at++) {
        const uint64_t start = at << picture->bits,
                       end = start + (((uint64_t)1 << picture->bits) - 1);

        about.most = (to <= end ? to : end + 1) - (from > start ? from : start);
        about.covered = about.most;
        add_to(&lane[at - picture->first_column], &about);
        about.begun = 0;
    }
}

static void take(struct tw_timeline_writer *writer, const struct tw_timeline_event *event)
{
    const struct tw_timeline_event *begin = event->begin ? event->begin : event;
    const struct tw_track *track = tw_timeline_track(writer->timeline, event->track);
    const bool is_span = event->kind == TW_TIMELINE_END;
    const uint64_t from = begin->times.estimate, to = event->times.estimate;
    const uint32_t depth = is_span && track->kind == TW_TRACK_THREAD ? begin->depth : 0;
    struct column about = { .kind = is_span ? begin->span : MARKED, .begun = 1 };
    struct picture *picture = writer->state;
    struct column *lane;

    if (event->kind == TW_TIMELINE_BEGIN)
        return;
    if (from == TW_TIME_UNKNOWN || to == TW_TIME_UNKNOWN) {
        picture->untimed++;
        return;
    }
    if (depth >= DEPTH_MOST) {
        picture->too_deep++;
        return;
    }
    about.what = about.kind == TW_SPAN_GAP                                        ? begin->how
                 : about.kind == TW_SPAN_FUNCTION || about.kind == TW_SPAN_THREAD ? begin->what
                                                                                  : 0;
    if (about.kind == TW_SPAN_SHORT)
        about.begun = begin->value;
    lane = lane_of(writer, event->track, depth);
    if (!lane)
        return;
    make_room(picture, from);
    if (to > from)
        make_room(picture, to);
    put_span(picture, lane, about, from, to);
}

/* ---- drawing ---- */

/* How much of a column is covered, in four steps. */
static unsigned shade(const struct column *column, unsigned bits)
{
    const uint64_t quarter = bits < 2 ? 1 : (uint64_t)1 << (bits - 2);

    return column->kind == MARKED                ? 3
           : column->covered >= 3 * quarter      ? 3
           : column->covered >= 2 * quarter      ? 2
           : column->covered >= quarter || !bits ? 1
                                                 : 0;
}

static const char *name_of(struct tw_timeline_writer *writer, const struct column *column,
                           uint32_t track)
{
    const struct tw_timeline_event event = { .kind = TW_TIMELINE_BEGIN,
                                             .span = column->kind,
                                             .what = column->what,
                                             .how = (uint8_t)column->what,
                                             .track = track };

    if (column->kind == TW_SPAN_SHORT)
        return "[short]";
    if (column->kind == MARKED)
        return tw_timeline_track(writer->timeline, track)->name;
    return tw_timeline_name(writer, &event);
}

static void put_fill(struct tw_sink *sink, const struct column *column, const char *name)
{
    static const char *const fills[KINDS] = {
        [TW_SPAN_EXCEPTION] = "#8e6bbf",
        [TW_SPAN_GAP] = "#c0392b",
        [TW_SPAN_SHORT] = "#c9b79c",
        [MARKED] = "#3b6ea5",
    };

    if (column->kind == TW_SPAN_GAP && column->what == TW_GAP_NOT_TRACED)
        tw_sink_text(sink, "#9aa0a6");
    else if (fills[column->kind])
        tw_sink_text(sink, fills[column->kind]);
    else
        tw_svg_color(sink, name);
}

/* Where the columns lie. */
struct scale {
    uint64_t first, count; /* of those that are shown, from the picture's first */
    double width;          /* of one */
};

/* A box for columns that show the same: from one to before another. */
static void put_box(struct tw_timeline_writer *writer, const struct scale *scale,
                    const struct column *lane, uint32_t track, unsigned y, uint64_t from,
                    uint64_t to)
{
    static const char *const shades[] = { "0.4", "0.6", "0.8", "1" };
    const struct picture *picture = writer->state;
    const struct column *column = &lane[from];
    const char *name = name_of(writer, column, track);
    const double x = LEFT + (double)(from - scale->first) * scale->width,
                 width = (double)(to - from) * scale->width;
    struct tw_sink *sink = &writer->sink;
    uint64_t begun = 0;

    for (uint64_t i = from; i < to; i++)
        begun += lane[i].begun;
    tw_sink_text(sink, "<g><title>");
    tw_sink_xml(sink, name);
    tw_sink_format(sink,
                   "\n%" PRIu64 " to %" PRIu64 " %s, %" PRIu64
                   " %s</title><rect x=\"%.1f\" y=\"%u\" "
                   "width=\"%.1f\" height=\"%d\" fill-opacity=\"%s\" fill=\"",
                   (picture->first_column + from) << picture->bits,
                   ((picture->first_column + to) << picture->bits) - 1,
                   tw_time_unit_name(tw_timeline_unit(writer->timeline)), begun,
                   column->kind == MARKED ? "happen" : "begin", x, y, width, ROW - 1,
                   shades[shade(column, picture->bits)]);
    put_fill(sink, column, name);
    tw_sink_format(sink, "\"/><text x=\"%.1f\" y=\"%u\">", x + 3, y + ROW - 4);
    if (column->kind != MARKED)
        tw_svg_label(sink, name, width);
    tw_sink_text(sink, "</text></g>\n");
}

static void put_lane(struct tw_timeline_writer *writer, const struct scale *scale,
                     const struct column *lane, uint32_t track, unsigned y)
{
    const struct picture *picture = writer->state;
    const uint64_t end = scale->first + scale->count;

    for (uint64_t from = scale->first; from < end;) {
        uint64_t to = from + 1;

        while (to < end && lane[from].is_used && lane[to].is_used &&
               lane[to].kind == lane[from].kind && lane[to].what == lane[from].what &&
               shade(&lane[to], picture->bits) == shade(&lane[from], picture->bits))
            to++;
        if (lane[from].is_used)
            put_box(writer, scale, lane, track, y, from, to);
        from = to;
    }
}

/* Lanes of a track; returns how many. */
static unsigned put_track(struct tw_timeline_writer *writer, const struct scale *scale,
                          uint32_t number, unsigned y)
{
    const struct picture *picture = writer->state;
    unsigned count = 0;

    for (unsigned depth = 0; depth < DEPTH_MOST; depth++) {
        const struct column *lane = picture->tracks[number].depths[depth];

        if (!lane)
            continue;
        if (count == 0) {
            tw_sink_format(&writer->sink, "<text x=\"4\" y=\"%u\">", y + ROW - 4);
            tw_svg_label(&writer->sink, tw_timeline_track(writer->timeline, number)->name,
                         LEFT);
            tw_sink_text(&writer->sink, "</text>\n");
        }
        put_lane(writer, scale, lane, number, y + ROW * count++);
    }
    return count;
}

/* What the picture lacks, so that nobody takes it for all there is. */
static void put_notes(struct tw_timeline_writer *writer, unsigned y)
{
    const struct picture *picture = writer->state;
    struct tw_sink *sink = &writer->sink;
    uint64_t tracks = 0;

    for (size_t i = 0; i < picture->track_count; i++)
        tracks += picture->tracks[i].is_left_out;
    tw_sink_format(sink, "<text class=\"note\" x=\"%d\" y=\"%u\">", LEFT, y);
    if (tracks)
        tw_sink_format(sink, "%" PRIu64 " track(s) not shown, or not wholly.  ", tracks);
    if (picture->too_deep)
        tw_sink_format(sink, "%" PRIu64 " span(s) deeper than %d not shown.  ",
                       picture->too_deep, DEPTH_MOST);
    if (picture->untimed)
        tw_sink_format(sink, "%" PRIu64 " without a time.", picture->untimed);
    tw_sink_text(sink, "</text>\n");
}

static void put_head(struct tw_timeline_writer *writer, const struct scale *scale)
{
    enum { MARKS = 4 };
    const struct picture *picture = writer->state;
    struct tw_sink *sink = &writer->sink;
    const unsigned height = TOP + ROW * (unsigned)picture->lane_count + 26;

    tw_svg_begin(sink, WIDTH, height);
    tw_sink_text(sink, ">\n<style>.trackway text{font:11px ui-monospace,monospace;fill:#1a1a1a}"
                       ".trackway g text{pointer-events:none}"
                       ".trackway .title{font:bold 15px sans-serif}</style>\n"
                       "<rect width=\"100%\" height=\"100%\" fill=\"#fdfcf8\"/>\n"
                       "<text class=\"title\" x=\"10\" y=\"20\">");
    tw_sink_xml(sink, writer->subject.title ? writer->subject.title : "timeline");
    if (!picture->has_time) {
        tw_sink_text(sink, ": nothing has a time</text>\n");
        return;
    }
    tw_sink_format(sink, ": %" PRIu64 " %s</text>\n", picture->last - picture->first,
                   tw_time_unit_name(tw_timeline_unit(writer->timeline)));
    for (unsigned i = 0; i < MARKS; i++) {
        const uint64_t column = scale->first + scale->count * i / MARKS;

        tw_sink_format(sink,
                       "<text x=\"%.1f\" y=\"40\">%" PRIu64
                       "</text><rect x=\"%.1f\" y=\"30\" width=\"1\" height=\"%u\" "
                       "fill=\"#d8d4c8\"/>\n",
                       LEFT + 4 + (double)(column - scale->first) * scale->width,
                       (picture->first_column + column) << picture->bits,
                       LEFT + (double)(column - scale->first) * scale->width, height - 46);
    }
}

/* Cores and threads first, as people look for them. */
static void end(struct tw_timeline_writer *writer)
{
    static const uint8_t order[TW_TRACK_KINDS] = {
        TW_TRACK_CORE, TW_TRACK_THREAD, TW_TRACK_EXCEPTION, TW_TRACK_GAPS,     TW_TRACK_EVENTS,
        TW_TRACK_PORT, TW_TRACK_DATA,   TW_TRACK_SAMPLES,   TW_TRACK_COUNTERS,
    };
    const struct picture *picture = writer->state;
    struct scale scale = { .first = 0 };
    unsigned rows = 0;

    if (picture->has_time) {
        scale.first = (picture->first >> picture->bits) - picture->first_column;
        scale.count =
            (picture->last >> picture->bits) - picture->first_column - scale.first + 1;
        scale.width = (double)PLOT / (double)scale.count;
    }
    put_head(writer, &scale);
    for (size_t kind = 0; kind < TW_TRACK_KINDS; kind++)
        for (uint32_t i = 0; i < picture->track_count; i++)
            if (tw_timeline_track(writer->timeline, i)->kind == order[kind])
                rows += put_track(writer, &scale, i, TOP + ROW * rows);
    put_notes(writer, TOP + ROW * rows + 16);
    tw_sink_text(&writer->sink, "</svg>\n");
}

static void release(struct tw_timeline_writer *writer)
{
    struct picture *picture = writer->state;

    for (size_t i = 0; i < picture->track_count; i++)
        for (unsigned depth = 0; depth < DEPTH_MOST; depth++)
            tw_give(writer->sink.allocator, picture->tracks[i].depths[depth]);
    tw_give(writer->sink.allocator, picture->tracks);
}

const struct tw_timeline_form tw_timeline_svg = {
    .state_size = sizeof(struct picture), .take = take, .end = end, .release = release
};
