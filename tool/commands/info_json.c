/* SPDX-License-Identifier: BSD-2-Clause */
/* trackway info, one JSON object for each thing. */
#include <inttypes.h>
#include <stdlib.h>

#include <trackway/image.h>

#include "commands/info.h"
#include "shared/srcs.h"

static void text_member(struct output *out, const char *key, const char *value)
{
    if (!value)
        return;
    output_format(out, ",\"%s\":", key);
    output_json_text(out, value);
}

static void registers_member(struct output *out, const struct tw_register *registers,
                             size_t count)
{
    output_text(out, ",\"regs\":{");
    for (size_t i = 0; i < count; i++) {
        output_text(out, i ? "," : "");
        output_json_text(out, registers[i].name);
        output_format(out, ":\"0x%" PRIx64 "\"", registers[i].value);
    }
    output_text(out, "}");
}

static void print_stream(struct output *out, const struct session *session, size_t buffer,
                         unsigned id, uint64_t bytes)
{
    const struct tw_source *source = info_source(session, buffer, id);

    output_text(out, "{\"t\":\"STREAM\"");
    text_member(out, "buf", tw_capture_buffer(session->capture, buffer)->name);
    if (id == TW_ID_UNKNOWN)
        output_text(out, ",\"id\":null");
    else
        output_format(out, ",\"id\":%u", id);
    output_format(out, ",\"bytes\":%" PRIu64, bytes);
    text_member(out, "source", source ? source->name : NULL);
    output_text(out, "}\n");
}

static void print_srcs(struct output *out, const struct session *session, size_t buffer)
{
    struct src *found = calloc(SRCS_MOST, sizeof *found);
    const size_t count = found ? srcs_find(found, SRCS_MOST, session->capture, buffer) : 0;

    for (size_t i = 0; i < count; i++) {
        output_text(out, "{\"t\":\"SRC\"");
        text_member(out, "buf", tw_capture_buffer(session->capture, buffer)->name);
        output_format(out, ",\"id\":%u,\"src\":%" PRIu32 ",\"packets\":%" PRIu64 "}\n",
                      found[i].id, found[i].src, found[i].packets);
    }
    free(found);
}

static void print_buffer(struct output *out, const struct session *session, size_t number,
                         const struct scan *scan)
{
    const struct tw_buffer *buffer = tw_capture_buffer(session->capture, number);

    output_text(out, "{\"t\":\"BUFFER\"");
    text_member(out, "buf", buffer->name);
    text_member(out, "format", buffer->format);
    text_member(out, "framing", tw_framing_name(buffer->framing));
    output_format(out, ",\"bytes\":%" PRIu64 ",\"files\":[", buffer->size);
    for (size_t i = 0; i < buffer->file_count; i++) {
        output_text(out, i ? "," : "");
        output_json_text(out, buffer->files[i]);
    }
    output_text(out, "]");
    if (buffer->framing != TW_FRAMING_NONE)
        output_format(out,
                      ",\"frames\":%" PRIu64 ",\"sync_bytes\":%" PRIu64
                      ",\"skipped_bytes\":%" PRIu64 ",\"barriers\":%" PRIu64
                      ",\"triggers\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"incomplete\":%" PRIu64,
                      scan->stats.frames, scan->stats.sync_bytes, scan->stats.skipped_bytes,
                      scan->barriers, scan->triggers, scan->losses, scan->incomplete);
    output_text(out, "}\n");
    if (buffer->framing != TW_FRAMING_NONE) {
        for (unsigned id = 0; id < TW_ID_COUNT; id++)
            if (scan->stats.bytes_by_id[id])
                print_stream(out, session, number, id, scan->stats.bytes_by_id[id]);
        print_srcs(out, session, number);
        return;
    }
    for (size_t i = 0; i < tw_capture_source_count(session->capture); i++)
        if (tw_capture_source_is_in(session->capture, i, 0, (uint32_t)number))
            print_stream(out, session, number, tw_capture_source(session->capture, i)->id,
                         buffer->size);
    print_srcs(out, session, number);
}

static void print_source(struct output *out, const struct session *session, size_t number)
{
    const struct tw_capture *capture = session->capture;
    const struct tw_source *source = tw_capture_source(capture, number);
    bool is_first = true;

    output_text(out, "{\"t\":\"SOURCE\"");
    text_member(out, "name", source->name);
    if (source->has_id)
        output_format(out, ",\"id\":%u", source->id);
    text_member(out, "protocol", source->protocol);
    text_member(out, "type", source->type);
    text_member(out, "core", source->core);
    text_member(out, "core_type", source->core_type);
    if (source->image != TW_NONE)
        output_format(out, ",\"image\":%" PRIu32, source->image);
    output_text(out, ",\"buffers\":[");
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++) {
        if (!tw_capture_source_is_in(capture, number, 0, (uint32_t)i))
            continue;
        output_text(out, is_first ? "" : ",");
        output_json_text(out, tw_capture_buffer(capture, i)->name);
        is_first = false;
    }
    output_text(out, "]");
    registers_member(out, source->registers, source->register_count);
    output_text(out, "}\n");
}

static void print_device(struct output *out, const struct tw_device *device)
{
    output_text(out, "{\"t\":\"DEVICE\"");
    text_member(out, "name", device->name);
    text_member(out, "class", device->class_name);
    text_member(out, "type", device->type);
    text_member(out, "location", device->location);
    text_member(out, "cluster", device->cluster);
    output_format(out, ",\"dumps\":%zu", device->dump_count);
    registers_member(out, device->registers, device->register_count);
    output_text(out, "}\n");
}

static void print_region(struct output *out, size_t image, const struct tw_region *region)
{
    output_format(out,
                  "{\"t\":\"REGION\",\"image\":%zu,\"st\":\"0x%" PRIx64 "\",\"bytes\":%" PRIu64
                  ",\"space\":%" PRIu32,
                  image, region->address, region->length, region->spaces);
    text_member(out, "name", region->name);
    output_text(out, "}\n");
}

void info_json(struct output *out, const struct session *session, const struct scan *scans)
{
    const struct tw_capture *capture = session->capture;

    output_text(out, "{\"t\":\"CAPTURE\"");
    text_member(out, "path", tw_capture_path(capture));
    text_member(out, "kind",
                session->perf                                     ? "perf"
                : tw_capture_kind(capture) == TW_CAPTURE_SNAPSHOT ? "snapshot"
                                                                  : "raw");
    text_member(out, "description", tw_capture_description(capture));
    output_text(out, "}\n");
    for (size_t i = 0; i < tw_capture_buffer_count(capture); i++)
        if (session_wants(session, i))
            print_buffer(out, session, i, &scans[i]);
    for (size_t i = 0; i < tw_capture_source_count(capture); i++)
        if (session_wants_source(session, i))
            print_source(out, session, i);
    for (size_t i = 0; i < tw_capture_device_count(capture); i++)
        print_device(out, tw_capture_device(capture, i));
    for (size_t i = 0; i < tw_capture_image_count(capture); i++) {
        const struct tw_image *image = tw_capture_image(capture, i);

        for (size_t k = 0; k < tw_image_region_count(image); k++)
            print_region(out, i, tw_image_region(image, k));
    }
    if (session->perf)
        info_perf_json(out, session->perf);
    for (size_t i = 0; i < tw_capture_warning_count(capture); i++) {
        output_text(out, "{\"t\":\"WARNING\"");
        text_member(out, "msg", tw_capture_warning(capture, i));
        output_text(out, "}\n");
    }
}
