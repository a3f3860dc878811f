/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway info, for people. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <trackway/image.h>

#include "commands/info.h"
#include "shared/srcs.h"

static void heading(struct output *out, const char *text)
{
    output_color(out, BOLD);
    output_format(out, "%s", text);
    output_color(out, PLAIN);
    output_text(out, "\n");
}

static const char * or (const char *text, const char *other)
{
    return text ? text : other;
}

static void print_id(struct output *out, const struct session *session, size_t buffer,
                     unsigned id, uint64_t bytes)
{
    const struct tw_source *source = info_source(session, buffer, id);
    const char *name = source                ? source->name
                       : id == TW_ID_UNKNOWN ? "before the first ID"
                       : id == 0             ? "padding"
                       : id == TW_ID_TRIGGER ? "trigger"
                       : id == TW_ID_FLUSH   ? "flush"
                       : id >= 0x70          ? "reserved ID"
                                             : "no source has this ID";

    if (id == TW_ID_UNKNOWN)
        output_format(out, "    id none %12" PRIu64 " bytes  %s\n", bytes, name);
    else
        output_format(out, "    id 0x%02x %12" PRIu64 " bytes  %s\n", id, bytes, name);
}

static void print_unframed(struct output *out, const struct session *session, size_t buffer)
{
    const struct tw_capture *capture = session->capture;

    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);

        if (tw_capture_source_is_in(capture, i, 0, (uint32_t)buffer))
            output_format(out, "    id 0x%02x %12" PRIu64 " bytes  %s\n", source->id,
                          tw_capture_buffer(capture, buffer)->size, source->name);
    }
}

static void print_frames(struct output *out, const struct session *session, size_t buffer,
                         const struct scan *scan)
{
    const struct tw_frame_stats *stats = &scan->stats;

    output_format(out, "    %" PRIu64 " frames", stats->frames);
    if (stats->sync_bytes)
        output_format(out, ", %" PRIu64 " bytes of sync", stats->sync_bytes);
    if (stats->skipped_bytes)
        output_format(out, ", %" PRIu64 " bytes skipped", stats->skipped_bytes);
    if (stats->footer_bytes)
        output_format(out, ", %" PRIu64 " bytes of block footers", stats->footer_bytes);
    if (scan->barriers)
        output_format(out, ", %" PRIu64 " barriers", scan->barriers);
    if (scan->triggers)
        output_format(out, ", %" PRIu64 " triggers", scan->triggers);
    if (scan->losses)
        output_format(out, ", frame sync lost %" PRIu64 " times", scan->losses);
    if (scan->incomplete)
        output_format(out, ", last frame cut after %" PRIu64 " bytes", scan->incomplete);
    output_text(out, "\n");
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        if (stats->bytes_by_id[id])
            print_id(out, session, buffer, id, stats->bytes_by_id[id]);
}

/* Harts whose packets share a stream. */
static void print_srcs(struct output *out, const struct session *session, size_t buffer)
{
    struct src *found = calloc(SRCS_MOST, sizeof *found);
    const size_t count = found ? srcs_find(found, SRCS_MOST, session->capture, buffer) : 0;

    for (size_t i = 0; i < count; i++)
        output_format(out, "    id 0x%02x src %" PRIu32 ": %" PRIu64 " packets\n", found[i].id,
                      found[i].src, found[i].packets);
    free(found);
}

/* The sum of all of them. */
static void print_total(struct output *out, const struct session *session,
                        const struct scan *scans)
{
    const struct tw_capture *capture = session->capture;
    const size_t count = tw_capture_buffer_count(capture);
    uint64_t bytes = 0, frames = 0, by_id[TW_ID_COUNT] = { 0 };

    for (size_t i = 0; i < count; i++) {
        bytes += tw_capture_buffer(capture, i)->size;
        if (tw_capture_buffer(capture, i)->framing == TW_FRAMING_NONE)
            continue;
        frames += scans[i].stats.frames;
        for (unsigned id = 0; id < TW_ID_COUNT; id++)
            by_id[id] += scans[i].stats.bytes_by_id[id];
    }
    output_format(out, "  %zu buffers: %" PRIu64 " bytes, %" PRIu64 " frames; -v lists each\n",
                  count, bytes, frames);
    for (unsigned id = 0; id < TW_ID_COUNT; id++)
        if (by_id[id])
            print_id(out, session, 0, id, by_id[id]);
}

static void print_buffers(struct output *out, const struct session *session,
                          const struct scan *scans)
{
    const struct tw_capture *capture = session->capture;

    heading(out, "buffers");
    if (session_sums_up(session)) {
        print_total(out, session, scans);
        return;
    }
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        const struct tw_buffer *buffer = tw_capture_buffer(capture, i);

        if (!session_wants(session, i))
            continue;
        output_format(out, "  %s: %" PRIu64 " bytes", buffer->name, buffer->size);
        if (buffer->format)
            output_format(out, ", %s", buffer->format);
        output_format(out, ", framing %s, from", tw_framing_name(buffer->framing));
        for (size_t k = 0; k < buffer->file_count; k++)
            output_format(out, "%s %s", k ? "," : "", buffer->files[k]);
        output_text(out, "\n");
        if (buffer->framing == TW_FRAMING_NONE)
            print_unframed(out, session, i);
        else
            print_frames(out, session, i, &scans[i]);
        print_srcs(out, session, i);
    }
}

static void print_registers(struct output *out, const struct tw_register *registers,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        output_format(out,
                      i % 5 == 4 || i + 1 == count ? "%s%s=0x%" PRIx64 "\n" : "%s%s=0x%" PRIx64,
                      i % 5 ? " " : "    ", registers[i].name, registers[i].value);
}

static void print_sources(struct output *out, const struct session *session)
{
    const struct tw_capture *capture = session->capture;

    heading(out, "sources");
    for (size_t i = 0; i < tw_capture_source_count(capture); i++) {
        const struct tw_source *source = tw_capture_source(capture, i);
        const char *between = ", buffers ";

        if (!session_wants_source(session, i))
            continue;
        output_format(out, "  %s: ", source->name);
        if (source->has_id)
            output_format(out, "id 0x%02x, ", source->id);
        output_text(out, or (source->protocol, "protocol not known"));
        if (source->type)
            output_format(out, " (%s)", source->type);
        if (source->core)
            output_format(out, ", core %s", source->core);
        if (source->core_type)
            output_format(out, " (%s)", source->core_type);
        for (size_t k = 0; k < tw_capture_buffer_count(capture) && !session_sums_up(session);
             k++) {
            if (!tw_capture_source_is_in(capture, i, 0, (uint32_t)k))
                continue;
            output_format(out, "%s%s", between, tw_capture_buffer(capture, k)->name);
            between = ", ";
        }
        output_text(out, "\n");
        print_registers(out, source->registers, source->register_count);
    }
}

static void print_devices(struct output *out, const struct session *session)
{
    const struct tw_capture *capture = session->capture;

    if (tw_capture_device_count(capture) == 0)
        return;
    heading(out, "devices");
    for (size_t i = 0; i < tw_capture_device_count(capture); i++) {
        const struct tw_device *device = tw_capture_device(capture, i);

        output_format(out, "  %s: %s, %s", device->name, or (device->class_name, "no class"),
                      or (device->type, "no type"));
        if (device->cluster)
            output_format(out, ", cluster %s", device->cluster);
        if (device->location)
            output_format(out, ", at %s", device->location);
        output_format(out, ", %zu registers, %zu dumps\n", device->register_count,
                      device->dump_count);
        /* Those of sources are listed with the sources. */
        if (session->options->verbose &&
            (!device->class_name || strcmp(device->class_name, "trace_source") != 0))
            print_registers(out, device->registers, device->register_count);
    }
}

static void print_images(struct output *out, const struct session *session)
{
    const struct tw_capture *capture = session->capture;

    for (size_t i = 0; i < tw_capture_image_count(capture); i++) {
        const struct tw_image *image = tw_capture_image(capture, i);
        const char *between = "";

        heading(out, "program memory");
        output_text(out, "  of ");
        for (size_t k = 0; k < tw_capture_source_count(capture); k++) {
            const struct tw_source *source = tw_capture_source(capture, k);

            if (source->image != i)
                continue;
            output_format(out, "%s%s", between, or (source->core, source->name));
            between = ", ";
        }
        output_text(out, *between ? "\n" : "no traced core\n");
        for (size_t k = 0; k < tw_image_region_count(image); k++) {
            const struct tw_region *region = tw_image_region(image, k);

            output_format(out, "    0x%016" PRIx64 " %10" PRIu64 " bytes  %-6s %s\n",
                          region->address, region->length,
                          region->spaces ? tw_space_name(region->spaces) : "",
                          or (region->name, ""));
        }
    }
}

void info_text(struct output *out, const struct session *session, const struct scan *scans)
{
    const struct tw_capture *capture = session->capture;
    const char *description = tw_capture_description(capture);

    output_format(out, "%s: %s\n", tw_capture_path(capture),
                  session->perf                                     ? "perf.data file"
                  : tw_capture_kind(capture) == TW_CAPTURE_SNAPSHOT ? "snapshot"
                                                                    : "raw file");
    if (description)
        output_format(out, "%s\n", description);
    print_buffers(out, session, scans);
    print_sources(out, session);
    print_devices(out, session);
    print_images(out, session);
    if (session->perf)
        info_perf_text(out, session->perf);
}
