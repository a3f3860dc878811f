/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a perf.data file, and answers what can be asked of one. */
#include "capture/perfdata.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

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
    tw_give(allocator, perf->past);
    tw_give(allocator, perf->threads);
    tw_give(allocator, perf->attrs);
    tw_give(allocator, perf->events);
    tw_give(allocator, perf->mappings);
    tw_give(allocator, perf->auxes);
    tw_give(allocator, perf->pieces);
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

/* With --threads each thread of the recorder wrote a file of its own: data.0, data.1 ...  Their
   trace bytes cannot be told apart from those of the first by offset, so they are refused. */
static enum tw_status check_directory(struct tw_perf *perf)
{
    const struct capture_file *file;
    const char *path;

    if (!perf->directory)
        return TW_OK;
    path = tw_capture_format(perf->capture, "%sdata.0", perf->directory);
    if (!path)
        return TW_E_MEMORY;
    TW_TRY(tw_capture_load(perf->capture, &file, path));
    if (file->bytes)
        return tw_fail(perf->capture->fault, TW_E_UNSUPPORTED,
                       "%s: recorded with --threads; trace in several files is not supported",
                       perf->capture->path);
    return TW_OK;
}

static enum tw_status read_all(struct tw_perf *perf)
{
    uint64_t data, end;

    TW_TRY(tw_perf_read_header(perf, &data, &end));
    TW_TRY(tw_perf_read_records(perf, data, end));
    tw_perf_inflate_free(perf);
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
    TW_TRY(check_directory(perf));
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

bool tw_perf_time(const struct tw_perf *perf, uint64_t *ns, uint64_t timestamp)
{
    const uint64_t shift = perf->shift;
    uint64_t count = timestamp;

    if (!perf->has_conversion || !perf->clock_is_kernels || !timestamp)
        return false;
    if (perf->has_short)
        count = perf->cycles + ((count - perf->cycles) & perf->mask);
    *ns = perf->zero + (count >> shift) * perf->mult +
          (((count & (((uint64_t)1 << shift) - 1)) * perf->mult) >> shift);
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
