/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows of the file, in the byte order that is tried, and the streams of the sources in them. */
#include <string.h>

#include "base/memory.h"
#include "identify/identify.h"

enum {
    WHOLE = 1 << 20, /* a file up to this is looked at whole */
    HEAD = 256 << 10,
    WINDOW = 32 << 10,
    WINDOWS = 16,
    BLOCK = 512, /* windows begin at multiples: frames and DSTREAM blocks are whole in them */
    FRAMES_TRIED = 4096
};

static bool append(struct tw_sampled *stream, const uint8_t *bytes, size_t size,
                   const struct tw_allocator *allocator)
{
    if (!TW_GROW(allocator, &stream->bytes, &stream->room, stream->size + size)) {
        stream->no_memory = true;
        return false;
    }
    if (size)
        memcpy(stream->bytes + stream->size, bytes, size);
    stream->size += size;
    return true;
}

static void cut(struct tw_sampled *stream, const struct tw_allocator *allocator)
{
    if (!stream->size ||
        (stream->cut_count && stream->cuts[stream->cut_count - 1] == stream->size))
        return;
    if (!TW_GROW(allocator, &stream->cuts, &stream->cut_room, stream->cut_count + 1)) {
        stream->no_memory = true;
        return;
    }
    stream->cuts[stream->cut_count++] = stream->size;
}

/* The byte at `at` of the file as it is looked at. */
static void swapped(uint8_t *out, const uint8_t *file, size_t size, unsigned swap)
{
    for (size_t i = 0; i + swap <= size; i += swap)
        for (unsigned k = 0; k < swap; k++)
            out[i + k] = file[i + swap - 1 - k];
}

/* The part of the file that window `number` shows; false: there is no such window. */
static bool window(const struct tw_excerpts *samples, size_t limit, size_t number, size_t *from,
                   size_t *size)
{
    if (samples->size <= WHOLE || limit) {
        *from = 0;
        *size = limit && limit < samples->size ? limit : samples->size;
        *size = *size < WHOLE ? *size : WHOLE;
        return number == 0;
    }
    if (number == 0) {
        *from = 0;
        *size = HEAD;
        return true;
    }
    *from = HEAD + (samples->size - HEAD - WINDOW) / (WINDOWS - 1) * (number - 1);
    *from -= *from % BLOCK;
    *size = WINDOW;
    return number < WINDOWS;
}

struct unframing {
    struct tw_excerpts *samples;
};

static void take_run(void *context, uint8_t id, uint64_t capture_offset, uint64_t stream_offset,
                     const uint8_t *bytes, size_t size)
{
    struct unframing *unframing = context;

    (void)capture_offset;
    (void)stream_offset;
    if (id < TW_ID_COUNT)
        (void)append(&unframing->samples->streams[id], bytes, size,
                     unframing->samples->allocator);
}

/* One window's frames; sources go on in the next one after a gap. */
static enum tw_status take_frames(struct tw_excerpts *samples, const struct tw_aspect *way,
                                  const uint8_t *bytes, size_t size)
{
    struct unframing unframing = { samples };
    const struct tw_unframer_config config = { .size = sizeof config,
                                               .framing = way->framing,
                                               .on_run = take_run,
                                               .on_run_context = &unframing,
                                               .allocator = samples->allocator };
    struct tw_unframer *unframer;
    const struct tw_frame_event *events;
    enum tw_status status = tw_unframer_new(&unframer, &config, NULL);
    size_t count;

    if (status != TW_OK)
        return status;
    status = tw_unframer_feed(unframer, bytes, size);
    if (status == TW_OK)
        status = tw_unframer_finish(unframer);
    events = tw_unframer_events(unframer, &count);
    for (size_t i = 0; i < count; i++) {
        const unsigned kind = events[i].kind;

        if (kind == TW_FRAME_LOST || kind == TW_FRAME_BAD_BLOCK)
            samples->lost++;
        samples->strange += kind == TW_FRAME_RESERVED;
    }
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        samples->frames.bytes_by_id[id] += tw_unframer_stats(unframer)->bytes_by_id[id];
    samples->frames.frames += tw_unframer_stats(unframer)->frames;
    samples->frames.sync_bytes += tw_unframer_stats(unframer)->sync_bytes;
    samples->frames.skipped_bytes += tw_unframer_stats(unframer)->skipped_bytes;
    samples->frames.bytes += size;
    tw_unframer_free(unframer);
    return status;
}

enum tw_status tw_excerpts_take(struct tw_excerpts *samples, const struct tw_aspect *way)
{
    uint8_t *turned = NULL;
    enum tw_status status = TW_OK;
    size_t from, size;

    if (way->swap > 1 &&
        !(turned = tw_take_raw(samples->allocator,
                               (samples->size < WHOLE ? samples->size : WHOLE) + 1)))
        return TW_E_MEMORY;
    for (size_t i = 0; status == TW_OK && window(samples, way->limit, i, &from, &size); i++) {
        const uint8_t *bytes = samples->file + from;

        if (turned) {
            size -= size % way->swap;
            swapped(turned, bytes, size, way->swap);
            bytes = turned;
        }
        if (i)
            for (unsigned id = 0; id < TW_ID_COUNT; id++)
                cut(&samples->streams[id], samples->allocator);
        if (way->offset > size)
            continue;
        if (way->framing == TW_FRAMING_NONE)
            status = append(&samples->streams[0], bytes, size, samples->allocator)
                         ? TW_OK
                         : TW_E_MEMORY;
        else
            status = take_frames(samples, way, bytes + way->offset, size - way->offset);
    }
    tw_give(samples->allocator, turned);
    for (unsigned id = 0; id < TW_ID_COUNT; id++) {
        samples->streams[id].id = (uint8_t)id;
        if (samples->streams[id].no_memory)
            status = TW_E_MEMORY;
    }
    return status;
}

void tw_excerpts_free(struct tw_excerpts *samples)
{
    for (unsigned id = 0; id < TW_ID_COUNT; id++) {
        tw_give(samples->allocator, samples->streams[id].bytes);
        tw_give(samples->allocator, samples->streams[id].cuts);
    }
    *samples = (struct tw_excerpts){ .file = samples->file,
                                     .size = samples->size,
                                     .allocator = samples->allocator };
}

/* In frames the even bytes are data with bit 0 cleared, or name an ID: most often one of few.  In other
   bytes bit 0 is set as often as not, and what would be IDs are many. */
double tw_excerpts_aligned(const struct tw_excerpts *samples, const struct tw_aspect *way)
{
    uint64_t ids[128] = { 0 }, named = 0, strange = 0, top = 0, frames = 0;
    unsigned used_count = 0;
    uint8_t used[128];
    const size_t seen = way->limit && way->limit < samples->size ? way->limit : samples->size;
    const size_t size = seen - seen % way->swap;
    size_t at = way->offset;

    for (; at + TW_FRAME_SIZE <= size && frames < FRAMES_TRIED; at += TW_FRAME_SIZE) {
        uint8_t frame[TW_FRAME_SIZE];

        for (unsigned k = 0; k < TW_FRAME_SIZE; k++) {
            const size_t place = at + k;

            frame[k] =
                samples
                    ->file[place / way->swap * way->swap + way->swap - 1 - place % way->swap];
        }
        frames++;
        for (unsigned k = 0; k < TW_FRAME_SIZE - 1; k += 2)
            if (frame[k] & 1) {
                ids[frame[k] >> 1]++;
                named++;
            }
    }
    if (frames < 4 || !named)
        return 0;
    for (unsigned id = 0; id < 128; id++)
        if (ids[id])
            used[used_count++] = (uint8_t)id;
    for (unsigned pick = 0; pick < 8; pick++) {
        unsigned most = used[0];

        for (unsigned i = 1; i < used_count; i++)
            if (ids[used[i]] > ids[most])
                most = used[i];
        strange += most >= 0x70 && most != TW_ID_TRIGGER && most != TW_ID_FLUSH ? ids[most] : 0;
        top += ids[most];
        ids[most] = 0;
    }
    if (strange * 4 > named)
        return 0;
    return (double)top / (double)named * (1 - (double)strange / (double)named);
}

bool tw_excerpts_has_fsync(const struct tw_excerpts *samples, unsigned swap)
{
    static const uint8_t forms[3][4] = { { 0xff, 0xff, 0xff, 0x7f },
                                         { 0xff, 0xff, 0x7f, 0xff },
                                         { 0x7f, 0xff, 0xff, 0xff } };
    const uint8_t *form = forms[swap == 1 ? 0 : swap == 2 ? 1 : 2];
    size_t from, size;

    for (size_t i = 0; window(samples, 0, i, &from, &size); i++)
        for (size_t at = 0; at + 4 <= size; at++)
            if (memcmp(samples->file + from + at, form, 4) == 0)
                return true;
    return false;
}
