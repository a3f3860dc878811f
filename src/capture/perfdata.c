/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a perf.data file, and answers what can be asked of one. */
#include "capture/perfdata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

enum { PARTS_MAX = 4096 };

void tw_perf_free(struct tw_perf *perf)
{
    const struct tw_allocator *allocator;

    if (!perf)
        return;
    allocator = perf->capture->allocator;
    tw_perf_inflate_free(perf);
    for (size_t i = 0; i < perf->space_count; i++) {
        tw_give(allocator, perf->spaces[i].maps);
        tw_give(allocator, perf->spaces[i].cuts);
    }
    tw_give(allocator, perf->spaces);
    tw_perf_history_free(perf);
    tw_give(allocator, perf->past);
    tw_give(allocator, perf->threads);
    tw_give(allocator, perf->parts);
    tw_give(allocator, perf->attrs);
    tw_give(allocator, perf->events);
    tw_give(allocator, perf->mappings);
    tw_give(allocator, perf->auxes);
    tw_give(allocator, perf->auxtraces);
    tw_give(allocator, perf->losses);
    tw_give(allocator, perf->hw_ids);
    tw_give(allocator, perf->files);
    tw_give(allocator, perf->blocks);
    tw_map_free(&perf->attr_by_id);
    tw_map_free(&perf->file_by_name);
    tw_map_free(&perf->thread_by_tid);
    tw_map_free(&perf->space_by_pid);
    tw_give(allocator, perf);
}

static enum tw_status add_part(struct tw_perf *perf, const struct capture_file *file)
{
    const struct perf_part *last;

    if (!TW_GROW(perf->capture->allocator, &perf->parts, &perf->part_room,
                 perf->part_count + 1))
        return tw_capture_no_memory(perf->capture);
    last = perf->part_count ? &perf->parts[perf->part_count - 1] : NULL;
    perf->parts[perf->part_count++] =
        (struct perf_part){ .view = { file->bytes, file->size, perf->file.is_big },
                            .base = last ? last->base + last->view.size : 0,
                            .path = file->path };
    return TW_OK;
}

/* With --threads each thread of the recorder wrote records into a file of its own: data.0, data.1
   and so on. */
static enum tw_status find_parts(struct tw_perf *perf)
{
    for (unsigned i = 0; perf->directory && i < PARTS_MAX; i++) {
        const char *path = tw_capture_format(perf->capture, "%sdata.%u", perf->directory, i);
        const struct capture_file *file;

        if (!path)
            return TW_E_MEMORY;
        TW_TRY(tw_capture_load(perf->capture, &file, path));
        if (!file->bytes)
            break;
        TW_TRY(add_part(perf, file));
    }
    return TW_OK;
}

static enum tw_status read_parts(struct tw_perf *perf)
{
    for (size_t i = 1; i < perf->part_count; i++) {
        perf->part = &perf->parts[i];
        TW_TRY(tw_perf_read_records(perf, 0, perf->part->view.size));
        tw_perf_inflate_free(perf); /* each file is compressed by itself */
    }
    perf->part = &perf->parts[0];
    return TW_OK;
}

static enum tw_status read_all(struct tw_perf *perf)
{
    uint64_t data, end;

    TW_TRY(tw_perf_read_header(perf, &data, &end));
    perf->parts[0].view.is_big = perf->file.is_big;
    TW_TRY(find_parts(perf));
    perf->part = &perf->parts[0];
    TW_TRY(tw_perf_read_records(perf, data, end));
    tw_perf_inflate_free(perf);
    TW_TRY(read_parts(perf));
    if (perf->lost_records)
        TW_TRY(tw_capture_warn(perf->capture,
                               "%s: the kernel dropped %" PRIu64
                               " records; threads or mappings may be missing",
                               perf->capture->path, perf->lost_records));
    TW_TRY(tw_perf_make_sources(perf));
    TW_TRY(tw_perf_make_blocks(perf));
    TW_TRY(tw_perf_find_files(perf));
    TW_TRY(tw_perf_read_jitdumps(perf));
    TW_TRY(tw_perf_apply_events(perf));
    return tw_perf_make_image(perf);
}

enum tw_status tw_perf_read(struct tw_capture *capture, const struct capture_file *file,
                            const char *directory)
{
    struct tw_perf *perf = tw_take(capture->allocator, sizeof *perf);

    capture->kind = TW_CAPTURE_PERF;
    capture->options.has_wrapped = false;
    if (!perf)
        return tw_capture_no_memory(capture);
    capture->perf = perf;
    perf->capture = capture;
    perf->file = (struct perf_view){ file->bytes, file->size, false };
    perf->directory = directory;
    perf->attr_by_id.allocator = perf->file_by_name.allocator = capture->allocator;
    perf->thread_by_tid.allocator = perf->space_by_pid.allocator = capture->allocator;
    TW_TRY(add_part(perf, file));
    perf->part = &perf->parts[0];
    return read_all(perf);
}

const struct tw_perf *tw_capture_perf(const struct tw_capture *capture)
{
    return capture->perf;
}

const struct tw_perf_block *tw_perf_block(const struct tw_perf *perf, size_t buffer)
{
    return buffer < perf->block_count ? &perf->blocks[buffer] : NULL;
}

size_t tw_perf_stream_count(const struct tw_perf *perf)
{
    return perf->stream_count;
}

size_t tw_perf_loss_count(const struct tw_perf *perf)
{
    return perf->loss_count;
}

const struct tw_perf_loss *tw_perf_loss(const struct tw_perf *perf, size_t number)
{
    return number < perf->loss_count ? &perf->losses[number] : NULL;
}

uint32_t tw_perf_source_cpu(const struct tw_perf *perf, size_t source)
{
    return source < perf->source_count ? perf->sources[source].cpu : TW_NONE;
}

size_t tw_perf_file_count(const struct tw_perf *perf)
{
    return perf->file_count;
}

const struct tw_perf_file *tw_perf_file(const struct tw_perf *perf, size_t number)
{
    return number < perf->file_count ? &perf->files[number] : NULL;
}

size_t tw_perf_mapping_count(const struct tw_perf *perf)
{
    return perf->mapping_count;
}

const struct tw_perf_mapping *tw_perf_mapping(const struct tw_perf *perf, size_t number)
{
    return number < perf->mapping_count ? &perf->mappings[number] : NULL;
}

uint64_t tw_perf_convert(const struct tw_perf *perf, uint64_t count)
{
    const uint64_t shift = perf->shift;

    if (perf->has_short)
        count = perf->cycles + ((count - perf->cycles) & perf->mask);
    return perf->zero + (count >> shift) * perf->mult +
           (((count & (((uint64_t)1 << shift) - 1)) * perf->mult) >> shift);
}

bool tw_perf_time(const struct tw_perf *perf, uint64_t *ns, uint64_t timestamp)
{
    if (!perf->has_conversion || !perf->clock_is_kernels || !timestamp)
        return false;
    *ns = tw_perf_convert(perf, timestamp);
    return true;
}

uint64_t tw_perf_record_count(const struct tw_perf *perf, unsigned type)
{
    return type < TW_LENGTH(perf->counts) ? perf->counts[type] : 0;
}

bool tw_perf_time_span(const struct tw_perf *perf, uint64_t *first, uint64_t *last)
{
    *first = perf->first_time;
    *last = perf->last_time;
    return perf->has_times;
}
