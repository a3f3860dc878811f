/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.data: the file header, attributes and feature sections. */
#include <inttypes.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "capture/perfdata.h"

enum {
    HEADER_SIZE = 104,
    OLD_HEADER_SIZE = 72, /* without the map of features */
    PIPE_HEADER_SIZE = 16,
    ATTR_MIN = 64,
    FEATURE_BITS = 256,
    FEATURE_BUILD_ID = 2,
    FEATURE_DIRECTORY = 24,
    FEATURE_COMPRESSED = 27,
    COMPRESSED_ZSTD = 1,
    BUILD_ID_SIZE = 20
};

static const uint64_t magic_value = 0x32454c4946524550; /* PERFILE2 */

bool tw_perf_is(const uint8_t *bytes, size_t size)
{
    return size >= 8 &&
           (memcmp(bytes, "PERFILE2", 8) == 0 || memcmp(bytes, "2ELIFREP", 8) == 0 ||
            memcmp(bytes, "PERFFILE", 8) == 0);
}

/* The part of a view from `at` on, at most `size` bytes. */
static struct perf_view part(const struct perf_view *view, uint64_t at, uint64_t size)
{
    struct perf_view out = *view;

    if (at > view->size)
        at = view->size;
    out.bytes += at;
    out.size = (size_t)(size < view->size - at ? size : view->size - at);
    return out;
}

static bool is_inside(const struct tw_perf *perf, uint64_t offset, uint64_t size)
{
    return offset <= perf->file.size && size <= perf->file.size - offset;
}

enum tw_status tw_perf_read_attr(struct tw_perf *perf, const struct perf_view *attr,
                                 const struct perf_view *ids)
{
    struct perf_attr *made;
    uint64_t flags = perf_u64(attr, 40);

    /* A foreign compiler fills bit-fields from the other end of the word. */
    if (perf->file.is_big) {
        uint64_t turned = 0;

        for (unsigned i = 0; i < 64; i++)
            turned |= (flags >> i & 1) << (63 - i);
        flags = turned;
    }
    if (!TW_GROW(perf->capture->allocator, &perf->attrs, &perf->attr_room,
                 perf->attr_count + 1))
        return tw_capture_no_memory(perf->capture);
    made = &perf->attrs[perf->attr_count++];
    *made = (struct perf_attr){ .sample_type = perf_u64(attr, 24),
                                .type = perf_u32(attr, 0),
                                .has_trailing_id = flags >> 18 & 1 };
    perf->layouts_differ |= made->sample_type != perf->attrs[0].sample_type ||
                            made->has_trailing_id != perf->attrs[0].has_trailing_id;
    for (size_t at = 0; at + 8 <= ids->size; at += 8) {
        uint64_t *value = tw_map_put(&perf->attr_by_id, perf_u64(ids, at));

        if (!value)
            return tw_capture_no_memory(perf->capture);
        *value = perf->attr_count;
    }
    return TW_OK;
}

static enum tw_status read_attrs(struct tw_perf *perf)
{
    const uint64_t size = perf_u64(&perf->file, 16);
    const uint64_t offset = perf_u64(&perf->file, 24), total = perf_u64(&perf->file, 32);

    if (size < ATTR_MIN + 16 || !is_inside(perf, offset, total))
        return tw_fail(perf->capture->fault, TW_E_CONFIG,
                       "%s: the attributes at offset 0x%" PRIx64
                       " do not fit (entries of %" PRIu64 " bytes, %" PRIu64 " bytes in all)",
                       perf->capture->path, offset, size, total);
    for (uint64_t at = offset; at - offset + size <= total; at += size) {
        const struct perf_view attr = part(&perf->file, at, size - 16);
        const uint64_t ids = perf_u64(&perf->file, (size_t)(at + size - 16));
        const uint64_t ids_size = perf_u64(&perf->file, (size_t)(at + size - 8));
        const bool is_good = is_inside(perf, ids, ids_size);
        const struct perf_view list = part(&perf->file, ids, is_good ? ids_size : 0);

        if (!is_good)
            TW_TRY(tw_capture_warn(perf->capture,
                                   "%s: attribute at offset 0x%" PRIx64
                                   ": its event ids lie outside the file",
                                   perf->capture->path, at));
        TW_TRY(tw_perf_read_attr(perf, &attr, &list));
    }
    return TW_OK;
}

enum tw_status tw_perf_read_build_id(struct tw_perf *perf, const struct perf_view *record)
{
    const uint16_t misc = perf_u16(record, 4);
    const size_t head = 8 + 4 + 24;
    const char *name = tw_perf_text(record, head);
    uint8_t size =
        misc & 1 << 15 ? (uint8_t)perf_load(record, 8 + 4 + BUILD_ID_SIZE, 1) : BUILD_ID_SIZE;
    uint32_t file;

    if (!name || !*name || size > BUILD_ID_SIZE)
        return TW_OK;
    file = tw_perf_file_named(perf, name);
    if (file == TW_NONE)
        return TW_E_MEMORY;
    perf->files[file].build_id_size = size;
    memcpy(perf->files[file].build_id, record->bytes + 12, size);
    return TW_OK;
}

static enum tw_status read_build_ids(struct tw_perf *perf, const struct perf_view *section)
{
    for (size_t at = 0; at + 8 <= section->size;) {
        const uint16_t size = perf_u16(section, at + 6);
        const struct perf_view record = part(section, at, size);

        if (size < 8 || record.size < size)
            break;
        TW_TRY(tw_perf_read_build_id(perf, &record));
        at += size;
    }
    return TW_OK;
}

enum tw_status tw_perf_read_feature(struct tw_perf *perf, unsigned number,
                                    const struct perf_view *section)
{
    if (number == FEATURE_BUILD_ID)
        return read_build_ids(perf, section);
    if (number == FEATURE_DIRECTORY && perf_u64(section, 0) > 1)
        return tw_capture_warn(perf->capture,
                               "%s: a folder of form %" PRIu64 "; 0 and 1 are known",
                               perf->capture->path, perf_u64(section, 0));
    if (number == FEATURE_COMPRESSED && perf_u32(section, 4) != COMPRESSED_ZSTD)
        return tw_capture_warn(perf->capture,
                               "%s: records are compressed by method %" PRIu32
                               ", which is not known",
                               perf->capture->path, perf_u32(section, 4));
    return tw_perf_keep_feature(perf, number, section);
}

static enum tw_status read_features(struct tw_perf *perf, uint64_t table)
{
    for (unsigned number = 0; number < FEATURE_BITS; number++) {
        uint64_t offset, size;
        struct perf_view section;

        if (!(perf_u64(&perf->file, 72 + number / 64 * 8) >> number % 64 & 1))
            continue;
        if (!is_inside(perf, table, 16))
            return tw_capture_warn(perf->capture,
                                   "%s: the table of features at offset 0x%" PRIx64
                                   " lies outside the file",
                                   perf->capture->path, table);
        offset = perf_u64(&perf->file, (size_t)table);
        size = perf_u64(&perf->file, (size_t)table + 8);
        table += 16;
        if (!is_inside(perf, offset, size)) {
            TW_TRY(tw_capture_warn(
                perf->capture, "%s: feature %u at offset 0x%" PRIx64 " lies outside the file",
                perf->capture->path, number, offset));
            continue;
        }
        section = part(&perf->file, offset, size);
        TW_TRY(tw_perf_read_feature(perf, number, &section));
    }
    return TW_OK;
}

enum tw_status tw_perf_read_header(struct tw_perf *perf, uint64_t *data, uint64_t *end)
{
    struct tw_fault *fault = perf->capture->fault;
    const char *path = perf->capture->path;
    uint64_t size;

    if (memcmp(perf->file.bytes, "PERFFILE", 8) == 0)
        return tw_fail(fault, TW_E_UNSUPPORTED,
                       "%s: a perf.data file of version 1, from before Linux 2.6.34", path);
    perf->file.is_big = perf_u64(&perf->file, 0) != magic_value;
    size = perf_u64(&perf->file, 8);
    *end = perf->file.size;
    if (size == PIPE_HEADER_SIZE) {
        perf->is_pipe = true;
        *data = PIPE_HEADER_SIZE;
        return TW_OK;
    }
    if ((size != HEADER_SIZE && size != OLD_HEADER_SIZE) || perf->file.size < size)
        return tw_fail(fault, TW_E_CONFIG,
                       "%s: header of %" PRIu64 " bytes; 16, 72 and 104 are known", path, size);
    TW_TRY(read_attrs(perf));
    *data = perf_u64(&perf->file, 40);
    if (*data > perf->file.size)
        return tw_fail(fault, TW_E_CONFIG,
                       "%s: the records at offset 0x%" PRIx64 " lie outside the file", path,
                       *data);
    if (perf_u64(&perf->file, 48) == 0)
        return tw_capture_warn(
            perf->capture, "%s: the recording was not finished; reading what is there", path);
    if (!is_inside(perf, *data, perf_u64(&perf->file, 48)))
        return tw_capture_warn(perf->capture,
                               "%s: is shorter than its header says; the end is missing", path);
    *end = *data + perf_u64(&perf->file, 48);
    return size == HEADER_SIZE ? read_features(perf, *end) : TW_OK;
}
