/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracks of a timeline: one for each thread, core, exception, port ... and what they are called. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/timeline.h"
#include "base/memory.h"
#include "base/sized.h"

enum { TRACKS_MOST = 1 << 20, NAME_MAX_SIZE = 96 };

static struct tw_track_state *add_track(struct tw_timeline *timeline)
{
    struct tw_track_state *track;

    if (timeline->track_count >= TRACKS_MOST ||
        !TW_GROW(timeline->allocator, &timeline->tracks, &timeline->track_room,
                 timeline->track_count + 1))
        return NULL;
    track = &timeline->tracks[timeline->track_count++];
    *track = (struct tw_track_state){ .about = { .size = sizeof track->about,
                                                 .cpu = TW_NONE,
                                                 .pid = TW_NONE,
                                                 .tid = TW_NONE,
                                                 .context = UINT64_MAX,
                                                 .comm = "" },
                                      .stream = TW_NONE };
    return track;
}

static void name_core(char *name, size_t room, const struct tw_track *about)
{
    if (about->core)
        (void)snprintf(name, room, "%s", about->core);
    else if (about->cpu != TW_NONE)
        (void)snprintf(name, room, "cpu %" PRIu32, about->cpu);
    else if (about->source)
        (void)snprintf(name, room, "%s", about->source);
    else
        (void)snprintf(name, room, "id 0x%02x", about->id);
}

static void name_thread(char *name, size_t room, const struct tw_track *about)
{
    if (about->tid != TW_NONE && about->comm[0])
        (void)snprintf(name, room, "%s (%" PRIu32 ")", about->comm, about->tid);
    else if (about->tid != TW_NONE)
        (void)snprintf(name, room, "tid %" PRIu32, about->tid);
    else if (about->context != UINT64_MAX && about->context >> 32)
        (void)snprintf(name, room, "context 0x%" PRIx32 " VMID 0x%" PRIx32,
                       (uint32_t)about->context, (uint32_t)(about->context >> 32));
    else if (about->context != UINT64_MAX)
        (void)snprintf(name, room, "context 0x%" PRIx64, about->context);
    else
        name_core(name, room, about);
}

static void name_track(char *name, size_t room, const struct tw_track *about,
                       enum tw_exception_form form)
{
    char core[NAME_MAX_SIZE];

    name_core(core, sizeof core, about);
    switch (about->kind) {
    case TW_TRACK_THREAD:
        name_thread(name, room, about);
        break;
    case TW_TRACK_EXCEPTION:
        tw_exception_name(name, room, form, about->number);
        break;
    case TW_TRACK_GAPS:
        (void)snprintf(name, room, "gaps of %.60s", core);
        break;
    case TW_TRACK_EVENTS:
        (void)snprintf(name, room, "events of %.60s", core);
        break;
    case TW_TRACK_PORT:
        if (about->master != UINT16_MAX)
            (void)snprintf(name, room, "master %u channel %" PRIu32, about->master,
                           about->number);
        else
            (void)snprintf(name, room, "port %" PRIu32, about->number);
        break;
    case TW_TRACK_DATA:
        (void)snprintf(name, room, "data watch %" PRIu32, about->number);
        break;
    case TW_TRACK_SAMPLES:
        (void)snprintf(name, room, "PC samples");
        break;
    case TW_TRACK_COUNTERS:
        (void)snprintf(name, room, "counters of %.60s", core);
        break;
    default:
        (void)snprintf(name, room, "%s", core);
        break;
    }
}

/* The number of a new track, once it has its name. */
static uint32_t finish_track(struct tw_timeline *timeline, struct tw_track_state *track,
                             enum tw_exception_form form)
{
    char name[NAME_MAX_SIZE];

    name_track(name, sizeof name, &track->about, form);
    track->name = tw_copy_text(timeline->allocator, name);
    track->about.name = track->name ? track->name : "";
    timeline->is_out |= !track->name;
    return (uint32_t)(timeline->track_count - 1);
}

static void set_stream(struct tw_track *about, const struct tw_timeline_stream *stream)
{
    about->id = stream->id;
    about->stream = stream->number;
    about->core = stream->core;
    about->source = stream->source;
    about->cpu = stream->cpu;
}

uint32_t tw_timeline_thread_track(struct tw_timeline *timeline, uint32_t thread,
                                  const struct tw_part *part)
{
    uint64_t *number = tw_map_put(&timeline->by_thread, thread);
    const struct tw_call_thread *key = tw_calls_thread(timeline->calls, thread);
    struct tw_track_state *track;

    if (number && *number)
        return (uint32_t)(*number - 1);
    track = number && key ? add_track(timeline) : NULL;
    if (!track) {
        timeline->is_out = true;
        return TW_NONE;
    }
    track->about.kind = TW_TRACK_THREAD;
    track->about.number = thread;
    set_stream(&track->about, timeline->at_work);
    track->about.context = key->context;
    if (key->tid != UINT64_MAX) {
        track->about.tid = (uint32_t)key->tid;
        track->about.pid = part->who.pid;
        track->about.comm = part->who.comm;
    }
    *number = timeline->track_count;
    return finish_track(timeline, track, timeline->at_work->form);
}

uint32_t tw_timeline_what_track(struct tw_timeline *timeline, struct tw_timeline_stream *stream,
                                enum tw_track_kind kind, uint16_t master, uint32_t number)
{
    uint64_t key = tw_hash64((uint64_t)stream->number << 32 | number) +
                   tw_hash64((uint64_t)master << 8 | kind);
    struct tw_track_state *track;
    uint64_t *found;

    for (;; key++) { /* another track of the same hash: the next place */
        found = tw_map_put(&timeline->by_what, key);
        if (!found || !*found)
            break;
        track = &timeline->tracks[*found - 1];
        if (track->about.kind == kind && track->about.number == number &&
            track->about.master == master && track->about.stream == stream->number)
            return (uint32_t)(*found - 1);
    }
    track = found ? add_track(timeline) : NULL;
    if (!track) {
        timeline->is_out = true;
        return TW_NONE;
    }
    track->about.kind = (uint8_t)kind;
    track->about.number = number;
    track->about.master = master;
    set_stream(&track->about, stream);
    track->about.is_m_profile = tw_exception_form_is_m(stream->form);
    track->about.is_dwt = kind == TW_TRACK_EXCEPTION && master == TW_ITM_MASTER;
    *found = timeline->track_count;
    return finish_track(timeline, track, stream->form);
}

size_t tw_timeline_track_count(const struct tw_timeline *timeline)
{
    return timeline->track_count;
}

const struct tw_track *tw_timeline_track(const struct tw_timeline *timeline, size_t number)
{
    return number < timeline->track_count ? &timeline->tracks[number].about : NULL;
}

/* ---- streams ---- */

static bool is_of(const struct tw_timeline_stream *stream, const struct tw_part *part)
{
    return stream && stream->run_stream == part->stream &&
           strcmp(stream->protocol, part->source ? part->source->protocol : "") == 0;
}

size_t tw_timeline_find_stream(const struct tw_timeline *timeline, const struct tw_part *part)
{
    const size_t count = timeline->stream_count;

    if (part->stream >= count || !timeline->streams[part->stream] ||
        is_of(timeline->streams[part->stream], part))
        return part->stream;
    for (size_t i = 0; i < count; i++)
        if (is_of(timeline->streams[i], part))
            return i;
    return count;
}

/* ---- what there was ---- */

bool tw_timeline_stats(const struct tw_timeline *timeline, struct tw_timeline_stats *stats)
{
    struct tw_timeline_stats own = timeline->stats;

    own.instructions = timeline->instructions;
    own.missing = tw_calls_stats(timeline->calls).missing;
    return TW_SIZED_GIVE(stats, &own);
}
