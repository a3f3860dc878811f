/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures that come packed.  gzip is read by ourselves, zstd where it was built in, xz by liblzma where
   that is on the machine: it is loaded when such a file is opened. */
#include "capture/unpack.h"

#include <string.h>

#include "base/fault.h"
#include "base/gunzip.h"
#include "base/memory.h"
#include "capture/hex.h"

#ifdef TW_WITH_ZSTD
#include "capture/libzstd.h"
#endif
#if defined(__linux__) || defined(__APPLE__)
#include "base/library.h"
#include "base/platform.h"
#define HAS_LOADER 1
#endif

static const char *const names[TW_PACKING_COUNT] = { NULL, "gzip", "xz", "zstd", "hex" };

const char *tw_packing_name(enum tw_packing packing)
{
    return packing < TW_PACKING_COUNT ? names[packing] : NULL;
}

enum tw_packing tw_packing_of(const uint8_t *bytes, size_t size)
{
    static const uint8_t xz[6] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
    static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };

    if (size >= 18 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8)
        return TW_PACKING_GZIP;
    if (size >= sizeof xz && memcmp(bytes, xz, sizeof xz) == 0)
        return TW_PACKING_XZ;
    if (size >= sizeof zstd && memcmp(bytes, zstd, sizeof zstd) == 0)
        return TW_PACKING_ZSTD;
    return tw_hex_form(bytes, size) != TW_HEX_NONE ? TW_PACKING_HEX : TW_PACKING_NONE;
}

/* What was unpacked so far. */
struct unpacked {
    uint8_t *bytes;
    size_t size, room;
    const struct tw_unpacking *how;
};

static enum tw_status too_much(const struct unpacked *to, struct tw_fault *fault)
{
    if (to->how->may_cut)
        return TW_OK;
    return tw_fail(
        fault, TW_E_CONFIG,
        "it holds more than %zu MiB: unpack it first and give the file that comes out",
        to->how->most >> 20);
}

/* Room for more, up to what is allowed; *is_full: there is none to be had. */
static bool make_room(struct unpacked *to, bool *is_full)
{
    size_t wanted = to->room ? to->room * 2 : 1 << 16;

    *is_full = to->room >= to->how->most;
    if (wanted > to->how->most)
        wanted = to->how->most;
    return *is_full || TW_GROW(to->how->allocator, &to->bytes, &to->room, wanted);
}

#ifdef TW_WITH_ZSTD
TW_LIBRARY_HERE(tw_libzstd, TW_LIBZSTD_CALLS, "libzstd.so.1")

static enum tw_status unzstd(struct unpacked *to, const uint8_t *bytes, size_t size,
                             struct tw_fault *fault)
{
    ZSTD_inBuffer in = { bytes, size, 0 };
    enum tw_status status;
    bool is_full = false;
    ZSTD_DCtx *zstd;
    size_t left = 1;

    if (!tw_libzstd_load())
        return tw_fail(fault, TW_E_UNSUPPORTED,
                       "it is packed with zstd, and libzstd (Debian: libzstd1) is not on this "
                       "machine: unpack it with \"unzstd\" first");
    zstd = tw_libzstd.ZSTD_createDCtx();
    status = zstd ? TW_OK : TW_E_MEMORY;
    while (status == TW_OK && !is_full && (in.pos < in.size || left)) {
        ZSTD_outBuffer out;

        if (to->size == to->room && !make_room(to, &is_full)) {
            status = TW_E_MEMORY;
            break;
        }
        if (is_full) {
            status = too_much(to, fault);
            break;
        }
        out = (ZSTD_outBuffer){ to->bytes + to->size, to->room - to->size, 0 };
        left = tw_libzstd.ZSTD_decompressStream(zstd, &out, &in);
        to->size += out.pos;
        if (tw_libzstd.ZSTD_isError(left))
            status = tw_fail(fault, TW_E_CONFIG, "the zstd data is damaged: %s",
                             tw_libzstd.ZSTD_getErrorName(left));
        else if (in.pos == in.size && out.pos < out.size)
            break; /* the end, or all there is of a file that was cut */
    }
    (void)tw_libzstd.ZSTD_freeDCtx(zstd);
    return status;
}
#endif

#ifdef HAS_LOADER
/* Of liblzma, by its manual; its interface does not change.  The function that decodes a stream at once does not tell
   one that was cut from one that wants more room. */
struct lzma_stream {
    const uint8_t *next_in;
    size_t avail_in;
    uint64_t total_in;
    uint8_t *next_out;
    size_t avail_out;
    uint64_t total_out;
    const void *allocator;
    void *internal, *reserved_pointers[4];
    uint64_t reserved_numbers[2];
    size_t reserved_sizes[2];
    int reserved_enums[2];
};

struct lzma {
    void *library;
    int (*decoder)(struct lzma_stream *stream, uint64_t memory_limit, uint32_t flags);
    int (*code)(struct lzma_stream *stream, int action);
    void (*end)(struct lzma_stream *stream);
};

static bool load_lzma(struct lzma *lzma)
{
    static const char *const files[] = { "liblzma.so.5", "liblzma.5.dylib" };

    *lzma = (struct lzma){ .library = tw_library_open(files, TW_LENGTH(files)) };
    return tw_library_take(lzma->library, &lzma->decoder, "lzma_stream_decoder") &&
           tw_library_take(lzma->library, &lzma->code, "lzma_code") &&
           tw_library_take(lzma->library, &lzma->end, "lzma_end");
}

enum { LZMA_FINE, LZMA_STREAM_END, LZMA_MEMORY = 5, LZMA_LIMIT = 6, LZMA_NO_MORE = 10 };

static enum tw_status inflate_xz(struct unpacked *to, const struct lzma *lzma,
                                 struct lzma_stream *stream, struct tw_fault *fault)
{
    enum { FINISH = 3 };
    int result = LZMA_FINE;
    bool is_full = false;

    while (result == LZMA_FINE) {
        if (to->size == to->room && !make_room(to, &is_full))
            return TW_E_MEMORY;
        if (is_full)
            return too_much(to, fault);
        stream->next_out = to->bytes + to->size;
        stream->avail_out = to->room - to->size;
        result = lzma->code(stream, FINISH);
        to->size = to->room - stream->avail_out;
    }
    if (result == LZMA_STREAM_END || (result == LZMA_NO_MORE && to->how->may_cut))
        return TW_OK;
    return result == LZMA_MEMORY || result == LZMA_LIMIT
               ? TW_E_MEMORY
               : tw_fail(fault, TW_E_CONFIG, "the xz data is damaged");
}

static enum tw_status unxz(struct unpacked *to, const uint8_t *bytes, size_t size,
                           struct tw_fault *fault)
{
    enum { CONCATENATED = 8 };
    const uint64_t most = UINT64_C(512) << 20; /* of memory */
    struct lzma_stream stream = { .next_in = bytes, .avail_in = size };
    struct lzma lzma;
    enum tw_status status;

    if (!load_lzma(&lzma))
        status = tw_fail(fault, TW_E_UNSUPPORTED,
                         "it is packed with xz, and liblzma (Debian: liblzma5) is not on this "
                         "machine: unpack it with \"unxz\" first");
    else if (lzma.decoder(&stream, most, CONCATENATED) != LZMA_FINE)
        status = TW_E_MEMORY;
    else
        status = inflate_xz(to, &lzma, &stream, fault);
    if (lzma.end)
        lzma.end(&stream);
    if (lzma.library)
        (void)dlclose(lzma.library);
    return status;
}
#endif

static enum tw_status unpack_hex(struct unpacked *to, const uint8_t *bytes, size_t size,
                                 struct tw_fault *fault)
{
    const enum tw_status status = tw_hex_read(&to->bytes, &to->size, tw_hex_form(bytes, size),
                                              bytes, size, to->how->most, to->how->allocator);

    return status == TW_E_CONFIG ? too_much(to, fault) : status;
}

static enum tw_status ungzip(struct unpacked *to, const uint8_t *bytes, size_t size,
                             struct tw_fault *fault)
{
    const enum tw_status status =
        tw_gunzip(&to->bytes, &to->size, bytes, size, to->how->most, to->how->allocator);

    if (status != TW_E_CONFIG)
        return status;
    if (to->size == to->how->most)
        return too_much(to, fault);
    return tw_fail(fault, TW_E_CONFIG, "the gzip data is damaged");
}

enum tw_status tw_packing_open(uint8_t **out, size_t *out_size, enum tw_packing packing,
                               const uint8_t *bytes, size_t size,
                               const struct tw_unpacking *how, struct tw_fault *fault)
{
    struct unpacked to = { .how = how };
    bool is_full;
    enum tw_status status;

    if (packing == TW_PACKING_GZIP)
        status = ungzip(&to, bytes, size, fault);
    else if (packing == TW_PACKING_HEX)
        status = unpack_hex(&to, bytes, size, fault);
    else if (!make_room(&to, &is_full))
        status = TW_E_MEMORY;
#ifdef TW_WITH_ZSTD
    else if (packing == TW_PACKING_ZSTD)
        status = unzstd(&to, bytes, size, fault);
#endif
#ifdef HAS_LOADER
    else if (packing == TW_PACKING_XZ)
        status = unxz(&to, bytes, size, fault);
#endif
    else
        status = tw_fail(fault, TW_E_UNSUPPORTED,
                         "it is packed with %s, which this build cannot read: unpack it first",
                         packing == TW_PACKING_XZ ? "xz" : "zstd");
    if (status == TW_E_MEMORY)
        status = tw_fail(fault, TW_E_MEMORY, "no memory to unpack it");
    if (status != TW_OK) {
        tw_give(how->allocator, to.bytes);
        to.bytes = NULL;
        to.size = 0;
    }
    *out = to.bytes;
    *out_size = to.size;
    return status;
}
