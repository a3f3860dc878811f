/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be asked of an open capture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "capture/capture.h"
#include "capture/perfdata.h"

enum tw_capture_kind tw_capture_kind(const struct tw_capture *capture)
{
    return capture->kind;
}

const char *tw_capture_path(const struct tw_capture *capture)
{
    return capture->path;
}

const char *tw_capture_description(const struct tw_capture *capture)
{
    return capture->description;
}

bool tw_capture_no_barrier(const struct tw_capture *capture)
{
    return capture->options.no_barrier;
}

size_t tw_capture_device_count(const struct tw_capture *capture)
{
    return capture->device_count;
}

const struct tw_device *tw_capture_device(const struct tw_capture *capture, size_t number)
{
    return number < capture->device_count ? &capture->devices[number] : NULL;
}

size_t tw_capture_cluster_count(const struct tw_capture *capture)
{
    return capture->cluster_count;
}

const struct tw_cluster *tw_capture_cluster(const struct tw_capture *capture, size_t number)
{
    return number < capture->cluster_count ? &capture->clusters[number] : NULL;
}

size_t tw_capture_buffer_count(const struct tw_capture *capture)
{
    return capture->buffer_count;
}

const struct tw_buffer *tw_capture_buffer(const struct tw_capture *capture, size_t number)
{
    return number < capture->buffer_count ? &capture->buffers[number].about : NULL;
}

uint32_t tw_capture_buffer_by_name(const struct tw_capture *capture, const char *name)
{
    for (size_t i = 0; i < capture->buffer_count; i++)
        if (strcmp(capture->buffers[i].about.name, name) == 0)
            return (uint32_t)i;
    return TW_NONE;
}

size_t tw_capture_source_count(const struct tw_capture *capture)
{
    return capture->source_count;
}

const struct tw_source *tw_capture_source(const struct tw_capture *capture, size_t number)
{
    return number < capture->source_count ? &capture->sources[number] : NULL;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

    return left < right ? -1 : left > right;
}

void tw_buffers_sort(uint32_t *buffers, size_t count)
{
    if (!count)
        return;
    memcpy(buffers + count, buffers, count * sizeof *buffers);
    qsort(buffers + count, count, sizeof *buffers, compare_numbers);
}

bool tw_stream_is_in(const struct tw_stream_buffers *list, uint32_t buffer)
{
    return bsearch(&buffer, list->buffers + list->buffer_count, list->buffer_count,
                   sizeof buffer, compare_numbers) != NULL;
}

/* The list for the stream itself, else that of the plain name, else NULL. */
static const struct tw_stream_buffers *find_stream(const struct tw_capture *capture,
                                                   size_t source, uint32_t stream)
{
    const struct tw_source *of = tw_capture_source(capture, source);
    const struct tw_stream_buffers *plain = NULL;

    for (size_t i = 0; of && i < of->stream_count; i++) {
        if (of->streams[i].stream == stream)
            return &of->streams[i];
        if (of->streams[i].stream == TW_NONE)
            plain = &of->streams[i];
    }
    return plain;
}

uint32_t tw_capture_source_buffer(const struct tw_capture *capture, size_t source,
                                  uint32_t stream)
{
    const struct tw_stream_buffers *list = find_stream(capture, source, stream);

    for (size_t i = 0; capture->perf && i < capture->buffer_count; i++)
        if (tw_perf_source_is_in(capture->perf, source, i))
            return (uint32_t)i;
    return list ? list->buffers[0] : TW_NONE;
}

bool tw_capture_source_is_in(const struct tw_capture *capture, size_t source, uint32_t stream,
                             uint32_t buffer)
{
    const struct tw_stream_buffers *list = find_stream(capture, source, stream);

    if (capture->perf)
        return tw_perf_source_is_in(capture->perf, source, buffer);
    return list && tw_stream_is_in(list, buffer);
}

size_t tw_capture_image_count(const struct tw_capture *capture)
{
    return capture->image_count;
}

struct tw_image *tw_capture_image(const struct tw_capture *capture, size_t number)
{
    return number < capture->image_count ? capture->images[number].image : NULL;
}

uint32_t tw_capture_image_of(const struct tw_capture *capture, size_t source, uint32_t src)
{
    const struct tw_source *about = tw_capture_source(capture, source);
    uint32_t device;

    if (!about || about->image == TW_NONE || src == TW_NO_SRC)
        return about ? about->image : TW_NONE;
    device = capture->images[about->image].device;
    for (size_t i = 0; i < capture->image_count; i++)
        if (capture->images[i].device == device && capture->images[i].src == src)
            return (uint32_t)i;
    return about->image;
}

size_t tw_capture_warning_count(const struct tw_capture *capture)
{
    return capture->warning_count;
}

const char *tw_capture_warning(const struct tw_capture *capture, size_t number)
{
    return number < capture->warning_count ? capture->warnings[number] : NULL;
}

/* The part that holds this place of the joined files, which must be before their end. */
static const struct capture_part *find_part(const struct capture_buffer *buffer, uint64_t place)
{
    size_t low = 0, high = buffer->part_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (buffer->parts[middle].start <= place)
            low = middle;
        else
            high = middle;
    }
    return &buffer->parts[low];
}

/* Where the byte at `offset`, oldest first, lies in the joined files. */
static uint64_t place_of(const struct capture_buffer *buffer, uint64_t wrapped_at,
                         uint64_t offset)
{
    const uint64_t older = buffer->total - wrapped_at;

    return offset < older ? offset + wrapped_at : offset - older;
}

static uint64_t wrapped_at(const struct tw_capture *capture)
{
    return capture->options.has_wrapped ? capture->options.wrapped_at : 0;
}

enum tw_status tw_capture_read(const struct tw_capture *capture, const uint8_t **bytes,
                               size_t *size, size_t buffer, uint64_t offset)
{
    const struct capture_buffer *from;
    const struct capture_part *part;
    uint64_t place, left;

    *bytes = NULL;
    *size = 0;
    if (buffer >= capture->buffer_count)
        return TW_E_ARGUMENT;
    from = &capture->buffers[buffer];
    if (offset >= from->about.size)
        return TW_END;
    place = place_of(from, wrapped_at(capture), offset);
    part = find_part(from, place);
    left = part->start + part->size - place;
    if (place < wrapped_at(capture) && left > wrapped_at(capture) - place)
        left = wrapped_at(capture) - place;
    if (left > from->about.size - offset)
        left = from->about.size - offset;
    *bytes = part->bytes + (place - part->start);
    *size = (size_t)left;
    return TW_OK;
}

/* Drops a byte 01 and the zeros after it from the end; without the 01 nothing. */
static uint64_t without_stop(const struct tw_capture *capture,
                             const struct capture_buffer *buffer)
{
    uint64_t size = buffer->total;

    while (size) {
        const uint64_t place = place_of(buffer, wrapped_at(capture), size - 1);
        const struct capture_part *part = find_part(buffer, place);
        uint64_t left = place - part->start + 1;
        const uint8_t *first;

        /* Where the oldest bytes begin, the newest end. */
        if (place >= wrapped_at(capture) && left > place - wrapped_at(capture) + 1)
            left = place - wrapped_at(capture) + 1;
        first = part->bytes + (place - part->start + 1 - left);
        for (; left && first[left - 1] == 0; left--)
            size--;
        if (left)
            return first[left - 1] == 1 ? size - 1 : buffer->total;
    }
    return buffer->total;
}

enum tw_status tw_buffer_finish(struct tw_capture *capture, struct capture_buffer *buffer)
{
    buffer->total = 0;
    for (size_t i = 0; i < buffer->part_count; i++) {
        buffer->parts[i].start = buffer->total;
        buffer->total += buffer->parts[i].size;
    }
    if (wrapped_at(capture) > buffer->total)
        return tw_fail(capture->fault, TW_E_ARGUMENT,
                       "buffer %s: cannot be wrapped at %" PRIu64 ", it has %" PRIu64 " bytes",
                       buffer->about.name, wrapped_at(capture), buffer->total);
    buffer->about.size = buffer->total;
    if (capture->options.strip_stop && buffer->about.framing == TW_FRAMING_NONE)
        buffer->about.size = without_stop(capture, buffer);
    return TW_OK;
}
