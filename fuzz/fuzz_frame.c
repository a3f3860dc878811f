/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames: any bytes unpacked in random pieces must equal what the oracle says; any streams packed
   must come back.
   Input: 4 bytes of choices (framing and direction, flags, seed, assumed ID), then the capture or
   the writes. */
#include <stdlib.h>
#include <string.h>

#include <trackway/frame.h>

#include "frame_oracle.h"

enum { HEAD = 4, SIZE_MAX_ = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void unframe(struct oracle_result *result, struct tw_unframer_config config,
                    const uint8_t *data, size_t size, uint32_t seed)
{
    const uint32_t most = next_random(&seed) % 4 ? 1 + next_random(&seed) % 600 : 1;
    struct tw_unframer *unframer;

    memset(result, 0, sizeof *result);
    config.on_run_context = result;
    require(tw_unframer_new(&unframer, &config, NULL) == TW_OK);
    for (size_t at = 0; at < size;) {
        size_t part = 1 + next_random(&seed) % most;
        uint8_t id = (uint8_t)(next_random(&seed) % 128);

        if (part > size - at)
            part = size - at;
        require(tw_unframer_feed(unframer, data + at, part) == TW_OK);
        at += part;
        oracle_gather(&result->decoders[id], unframer, id,
                      next_random(&seed) % (tw_unframer_stream(unframer, id).size + 1));
    }
    require(tw_unframer_finish(unframer) == TW_OK);
    oracle_gather_end(result, unframer);
    require(config.framing == TW_FRAMING_NONE ||
            16 * result->frames + result->syncs + result->skipped + result->footers == size);
    tw_unframer_free(unframer);
}

static void unpack(const uint8_t head[HEAD], const uint8_t *data, size_t size)
{
    struct tw_unframer_config config = { .size = sizeof config,
                                         .framing = (enum tw_framing)(head[0] % 5),
                                         .no_barrier = head[1] & 1,
                                         .sync_events = head[1] >> 1 & 1,
                                         .on_run = head[1] & 4 ? oracle_on_run : NULL,
                                         .assume_id = head[3] & 0x7f,
                                         .wanted = { UINT64_MAX, UINT64_MAX } };
    struct oracle_result want, got;

    if (head[1] & 8) {
        config.wanted[0] = UINT64_C(0x9e3779b97f4a7c15) * head[2];
        config.wanted[1] = ~config.wanted[0];
    }
    if (head[1] & 16)
        config.base = (uint64_t)head[2] << 32;
    oracle_run(&want, &config, data, size);
    unframe(&got, config, data, size, head[2]);
    require(!oracle_difference(&got, &want, config.on_run != NULL));
    oracle_free(&want);
    oracle_free(&got);
}

/* Writes: a byte of ID (0: barrier or idle, 7B and 7D: markers), one of size, the bytes. */
static void pack(const uint8_t head[HEAD], const uint8_t *data, size_t size)
{
    const struct tw_framer_config config = { .size = sizeof config,
                                             .framing = (enum tw_framing)(TW_FRAMING_MEMORY +
                                                                          head[0] % 3),
                                             .repeat_frames = head[1] % 16,
                                             .fsync_frames = head[2] % 16,
                                             .align = head[3] % 4u * 16 };
    const struct tw_unframer_config back = { .size = sizeof back,
                                             .framing = config.framing,
                                             .wanted = { UINT64_MAX, UINT64_MAX } };
    struct oracle_result got, sent = { 0 };
    struct tw_framer *framer;
    const uint8_t *out;
    size_t out_size;

    require(tw_framer_new(&framer, &config, NULL) == TW_OK);
    for (size_t at = 0; at + 2 <= size;) {
        const uint8_t id = data[at] & 0x7f;
        size_t part = data[at + 1];

        at += 2;
        if (part > size - at)
            part = size - at;
        if (id == 0) {
            (void)!tw_framer_barrier(framer);
            (void)!tw_framer_idle(framer);
        } else if (id == TW_ID_TRIGGER || id == TW_ID_FLUSH) {
            require(tw_framer_mark(framer, id, (uint8_t)part) == TW_OK);
            oracle_add(&sent.decoders[id], id, 0, (uint8_t)part);
        } else if (tw_framer_write(framer, id, data + at, part) == TW_OK) {
            for (size_t i = 0; i < part; i++)
                oracle_add(&sent.decoders[id], id, 0, data[at + i]);
            at += part;
        }
    }
    require(tw_framer_finish(framer) == TW_OK);
    out = tw_framer_output(framer, &out_size);
    unframe(&got, back, out, out_size, head[2]);
    for (unsigned id = 1; id < 128; id++) {
        require(got.decoders[id].size == sent.decoders[id].size);
        require(!got.decoders[id].size ||
                memcmp(got.decoders[id].bytes, sent.decoders[id].bytes,
                       got.decoders[id].size) == 0);
    }
    require(got.skipped == 0);
    tw_framer_free(framer);
    oracle_free(&got);
    oracle_free(&sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD || size > SIZE_MAX_)
        return 0;
    if (data[0] & 0x80)
        pack(data, data + HEAD, size - HEAD);
    else
        unpack(data, data + HEAD, size - HEAD);
    return 0;
}
