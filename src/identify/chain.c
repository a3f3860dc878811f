/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace has no synchronization bytes, but each packet tells where the next one begins: bytes through
   which this leads to the end, whatever is in the packets, are hardly anything else. */
#include <string.h>

#include "etrace/transport.h"
#include "identify/identify.h"

enum {
    TEXT_MOST = 1024,
    PACKET_MOST = 32 /* bytes of a packet with its header */
};

static bool read_config(struct tw_etrace_config *config, const struct tw_settings *settings)
{
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);

    lines[0] = 0;
    tw_settings_print(&text, settings, "\n");
    return tw_etrace_config_read(config, lines, NULL) == TW_OK;
}

/* How headers lead through bytes. */
struct chain {
    struct tw_etrace_transport transport;
    const uint8_t *bytes;
    size_t size;
    bool is_data;
    uint64_t links, wanted; /* headers; those of the kind that is looked for */
};

/* From `at` as far as headers lead. */
static size_t follow(struct chain *chain, size_t at)
{
    struct tw_etrace_frame frame;

    while (at < chain->size &&
           tw_etrace_frame_read(&chain->transport, &frame, chain->bytes + at,
                                chain->size - at) == TW_OK) {
        if (frame.kind == TW_ETRACE_FRAME_BAD || frame.kind == TW_ETRACE_FRAME_OTHER ||
            !frame.size)
            break;
        chain->links += frame.kind != TW_ETRACE_FRAME_NULL;
        chain->wanted +=
            frame.kind == (chain->is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST);
        at += frame.size;
    }
    return at; /* where it is cut, or no header */
}

/* The way that leads furthest, of those that begin at `from` or up to a packet later: bytes that it leads
   through.  A buffer may begin, and a ring have its seam, in the middle of a packet. */
static size_t furthest(struct chain *chain, size_t from, size_t *end)
{
    struct chain best = *chain;
    size_t through = 0;

    *end = from;
    for (size_t first = from; first < from + PACKET_MOST && first < chain->size; first++) {
        struct chain own = *chain;
        const size_t to = follow(&own, first);

        if (to - first <= through)
            continue;
        through = to - first;
        *end = to;
        best = own;
        if (to + PACKET_MOST >= chain->size)
            break;
    }
    *chain = best;
    return through;
}

double tw_chain_share(const struct tw_sampled *sampled, const struct tw_settings *settings,
                      bool is_data, uint64_t *links)
{
    struct tw_etrace_config config;
    struct chain chain = { .bytes = sampled->bytes,
                           .size = sampled->cut_count ? sampled->cuts[0] : sampled->size,
                           .is_data = is_data };
    size_t through, end;

    *links = 0;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    if (!read_config(&config, settings))
        return 0;
    tw_etrace_transport_init(&chain.transport, &config);
    through = furthest(&chain, 0, &end);
    if (end + PACKET_MOST < chain.size) /* the seam of a ring */
        through += furthest(&chain, end > PACKET_MOST ? end - PACKET_MOST : 0, &end);
    *links = chain.links;
    if (!*links || chain.wanted * 2 < *links)
        return 0;
    return through + 3 * PACKET_MOST >= chain.size ? 1 : (double)through / (double)chain.size;
}
