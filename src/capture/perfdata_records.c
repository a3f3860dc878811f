/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: one record after the other, with the trailing id of each; compressed ones too. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

#ifdef TW_WITH_ZSTD
#include "capture/libzstd.h"
#endif

enum {
    RECORD_HEAD = 8,
    OUT_SIZE = 1 << 18,
    /* How much compressed records may grow; more is no trace of anything real. */
    GROWTH_MAX = 1024,
    GROWTH_FREE = 1 << 20
};

const char *tw_perf_text(const struct perf_view *view, size_t at)
{
    if (at >= view->size || !memchr(view->bytes + at, 0, view->size - at))
        return NULL;
    return (const char *)view->bytes + at;
}

static unsigned count_bits(uint64_t value)
{
    unsigned count = 0;

    for (; value; value &= value - 1)
        count++;
    return count;
}

/* The event that a record belongs to.  Their layouts nearly always agree; where they do not, the
   identifier at the end tells. */
static const struct perf_attr *attr_of(const struct tw_perf *perf, const struct perf_view *view)
{
    const uint64_t *found = NULL;

    if (!perf->attr_count)
        return NULL;
    if (perf->layouts_differ && view->size >= 16)
        found = tw_map_find(&perf->attr_by_id, perf_u64(view, view->size - 8));
    return &perf->attrs[found ? *found - 1 : 0];
}

/* Takes the trailing id off the end. */
static void read_trailing_id(struct perf_record *record, const struct perf_attr *attr)
{
    const uint64_t all = PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ID | PERF_HAS_CPU |
                         PERF_HAS_STREAM_ID | PERF_HAS_IDENTIFIER;
    const uint64_t type = attr->sample_type & all;
    const size_t size = 8 * (size_t)count_bits(type);
    size_t at;

    if (!attr->has_trailing_id || record->view.size < RECORD_HEAD + size)
        return;
    at = record->view.size - size;
    record->has_tid = type & PERF_HAS_TID;
    if (record->has_tid) {
        record->pid = perf_u32(&record->view, at);
        record->tid = perf_u32(&record->view, at + 4);
        at += 8;
    }
    record->has_time = type & PERF_HAS_TIME;
    if (record->has_time) {
        record->time = perf_u64(&record->view, at);
        at += 8;
    }
    at += 8 * (size_t)count_bits(type & (PERF_HAS_ID | PERF_HAS_STREAM_ID));
    record->has_cpu = type & PERF_HAS_CPU;
    if (record->has_cpu)
        record->cpu = perf_u32(&record->view, at);
    record->view.size -= size;
}

static void note_time(struct tw_perf *perf, const struct perf_record *record)
{
    /* 0 and all ones: made by the tool, not at a time. */
    if (!record->has_time || !record->time || record->time == UINT64_MAX)
        return;
    if (!perf->has_times || record->time < perf->first_time)
        perf->first_time = record->time;
    if (!perf->has_times || record->time > perf->last_time)
        perf->last_time = record->time;
    perf->has_times = true;
}

static enum tw_status take_record(struct tw_perf *perf, const struct perf_view *view,
                                  uint64_t offset)
{
    struct perf_record record = { .view = *view,
                                  .offset = offset,
                                  .type = perf_u32(view, 0),
                                  .misc = perf_u16(view, 4),
                                  .cpu = TW_NONE,
                                  .pid = TW_NONE,
                                  .tid = TW_NONE };

    perf->counts[record.type < 256 ? record.type : 0]++;
    if (record.type < PERF_USER_FIRST && record.type != PERF_SAMPLE) {
        const struct perf_attr *attr = attr_of(perf, view);

        if (attr)
            read_trailing_id(&record, attr);
        note_time(perf, &record);
        if (record.time == UINT64_MAX)
            record.time = 0;
    }
    return tw_perf_take(perf, &record);
}

#ifdef TW_WITH_ZSTD

/* One stream runs through all compressed records of the file. */
struct perf_inflate {
    ZSTD_DCtx *zstd;
    uint8_t *bytes; /* decompressed: whole records are taken from the front */
    size_t size, room;
};

void tw_perf_inflate_free(struct tw_perf *perf)
{
    if (!perf->inflate)
        return;
    (void)tw_libzstd.ZSTD_freeDCtx(perf->inflate->zstd);
    tw_give(perf->capture->allocator, perf->inflate->bytes);
    tw_give(perf->capture->allocator, perf->inflate);
    perf->inflate = NULL;
}

static enum tw_status take_inflated(struct tw_perf *perf, uint64_t offset)
{
    struct perf_inflate *inflate = perf->inflate;
    size_t at = 0;

    while (inflate->size - at >= RECORD_HEAD) {
        const struct perf_view all = { inflate->bytes + at, inflate->size - at,
                                       perf->file.is_big };
        const uint16_t size = perf_u16(&all, 6);
        const uint32_t type = perf_u32(&all, 0);
        const struct perf_view one = { all.bytes, size, perf->file.is_big };

        if (size < RECORD_HEAD)
            return tw_fail(perf->capture->fault, TW_E_CONFIG,
                           "%s: compressed record at offset 0x%" PRIx64
                           ": a record inside it has %u bytes",
                           perf->part->path, offset, (unsigned)size);
        if (size > all.size)
            break;
        /* Nothing that has bytes behind it, and no compression inside, is ever compressed. */
        if (type != PERF_AUXTRACE && type != PERF_COMPRESSED && type != PERF_COMPRESSED2)
            TW_TRY(take_record(perf, &one, offset));
        at += size;
    }
    memmove(inflate->bytes, inflate->bytes + at, inflate->size - at);
    inflate->size -= at;
    return TW_OK;
}

static enum tw_status start_inflate(struct tw_perf *perf)
{
    struct perf_inflate *inflate;

    if (perf->inflate)
        return TW_OK;
    if (!tw_libzstd_load())
        return tw_fail(perf->capture->fault, TW_E_UNSUPPORTED,
                       "%s: has compressed records, and libzstd (Debian: libzstd1) is not on "
                       "this machine",
                       perf->part->path);
    inflate = perf->inflate = tw_take(perf->capture->allocator, sizeof *perf->inflate);
    if (!inflate)
        return tw_capture_no_memory(perf->capture);
    inflate->zstd = tw_libzstd.ZSTD_createDCtx();
    if (!inflate->zstd ||
        !TW_GROW(perf->capture->allocator, &inflate->bytes, &inflate->room, OUT_SIZE))
        return tw_capture_no_memory(perf->capture);
    /* A window as perf makes it; a larger one is a lie that costs memory. */
    (void)tw_libzstd.ZSTD_DCtx_setParameter(inflate->zstd, ZSTD_d_windowLogMax, 27);
    return TW_OK;
}

static enum tw_status take_compressed(struct tw_perf *perf, const uint8_t *bytes, size_t size,
                                      uint64_t offset)
{
    struct perf_inflate *inflate;
    ZSTD_inBuffer in = { bytes, size, 0 };
    bool is_full = true;

    TW_TRY(start_inflate(perf));
    inflate = perf->inflate;
    perf->compressed += size;
    while (in.pos < in.size || is_full) {
        ZSTD_outBuffer out = { inflate->bytes + inflate->size, inflate->room - inflate->size,
                               0 };
        const size_t result = tw_libzstd.ZSTD_decompressStream(inflate->zstd, &out, &in);

        if (tw_libzstd.ZSTD_isError(result))
            return tw_fail(perf->capture->fault, TW_E_CONFIG,
                           "%s: compressed record at offset 0x%" PRIx64 ": %s",
                           perf->part->path, offset, tw_libzstd.ZSTD_getErrorName(result));
        is_full = out.pos == out.size;
        perf->decompressed += out.pos;
        if (perf->decompressed > GROWTH_FREE + perf->compressed * GROWTH_MAX)
            return tw_fail(perf->capture->fault, TW_E_CONFIG,
                           "%s: compressed record at offset 0x%" PRIx64
                           " grows beyond all measure",
                           perf->part->path, offset);
        inflate->size += out.pos;
        if (!out.pos && in.pos == in.size)
            break;
        TW_TRY(take_inflated(perf, offset));
    }
    return TW_OK;
}

#else

void tw_perf_inflate_free(struct tw_perf *perf)
{
    (void)perf;
}

static enum tw_status take_compressed(struct tw_perf *perf, const uint8_t *bytes, size_t size,
                                      uint64_t offset)
{
    (void)bytes;
    (void)size;
    return tw_fail(perf->capture->fault, TW_E_UNSUPPORTED,
                   "%s: record at offset 0x%" PRIx64
                   " is compressed, and this build has no zstd (Debian: libzstd-dev)",
                   perf->part->path, offset);
}

#endif

/* The bytes that belong to a record but are not counted in its size; a record that says more than
   the file holds is cut. */
static uint64_t bytes_behind(const struct tw_perf *perf, const struct perf_view *view)
{
    const uint32_t type = perf_u32(view, 0);

    (void)perf;
    if (type == PERF_AUXTRACE && view->size >= 48)
        return perf_u64(view, 8);
    if (type == PERF_TRACING_DATA && view->size >= 16)
        return ((uint64_t)perf_u32(view, 8) + 7) & ~(uint64_t)7;
    return 0;
}

/* Whole size of the record at `at`: its own says more or less than its 16 bits in some types. */
static uint64_t size_of(const struct perf_view *head)
{
    const uint32_t type = perf_u32(head, 0);
    const uint16_t size = perf_u16(head, 6);

    if (type >= PERF_SIMPLEPERF_FIRST)
        return (uint64_t)perf_u16(head, 4) << 16 | size;
    if (type == PERF_COMPRESSED2 && head->size >= 16 && size < 16 + perf_u64(head, 8))
        return perf_u64(head, 8) > head->size ? UINT64_MAX
                                              : (16 + perf_u64(head, 8) + 7) & ~(uint64_t)7;
    return size;
}

static enum tw_status take_at(struct tw_perf *perf, const struct perf_view *view,
                              uint64_t offset)
{
    const uint32_t type = perf_u32(view, 0);

    if (type == PERF_COMPRESSED)
        TW_TRY(take_compressed(perf, view->bytes + 8, view->size - 8, offset));
    if (type == PERF_COMPRESSED2 && view->size >= 16) {
        const uint64_t said = perf_u64(view, 8);

        TW_TRY(take_compressed(perf, view->bytes + 16,
                               (size_t)(said < view->size - 16 ? said : view->size - 16),
                               offset));
    }
    return take_record(perf, view, offset);
}

enum tw_status tw_perf_read_records(struct tw_perf *perf, uint64_t from, uint64_t end)
{
    uint64_t at = from;

    while (end - at >= RECORD_HEAD) {
        struct perf_view view = { perf->part->view.bytes + at, (size_t)(end - at),
                                  perf->file.is_big };
        const uint64_t size = size_of(&view);
        uint64_t behind;

        if (size < RECORD_HEAD)
            return tw_fail(perf->capture->fault, TW_E_CONFIG,
                           "%s: record at offset 0x%" PRIx64 " has %" PRIu64 " bytes",
                           perf->part->path, at, size);
        if (size > end - at)
            return tw_capture_warn(perf->capture,
                                   "%s: record at offset 0x%" PRIx64
                                   " runs past the end; it is left out",
                                   perf->part->path, at);
        view.size = (size_t)size;
        behind = bytes_behind(perf, &view);
        TW_TRY(take_at(perf, &view, at));
        at += size;
        if (behind > end - at)
            return tw_capture_warn(perf->capture,
                                   "%s: record at offset 0x%" PRIx64 " has %" PRIu64
                                   " bytes behind it, but the file ends after %" PRIu64,
                                   perf->part->path, at - size, behind, end - at);
        at += behind;
    }
    return TW_OK;
}
