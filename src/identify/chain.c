/* SPDX-License-Identifier: BSD-2-Clause */
/* E-Trace has no synchronization bytes, but each packet tells where the next one begins: bytes through
   which this leads to the end, whatever is in the packets, are hardly anything else. */
#include <string.h>

#include "etrace/transport.h"
#include "identify/identify.h"

enum { TEXT_MOST = 1024 };

static bool read_config(struct tw_etrace_config *config, const struct tw_settings *settings)
{
    char lines[TEXT_MOST];
    struct tw_text text = tw_text_in(lines, sizeof lines);

    lines[0] = 0;
    tw_settings_print(&text, settings);
    for (char *at = lines; *at; at++)
        if (*at == ',')
            *at = '\n';
    return tw_etrace_config_read(config, lines, NULL) == TW_OK;
}

double tw_chain_share(const struct tw_sampled *sampled, const struct tw_settings *settings,
                      bool is_data, uint64_t *links)
{
    struct tw_etrace_transport transport;
    struct tw_etrace_config config;
    struct tw_etrace_frame frame;
    const size_t size = sampled->cut_count ? sampled->cuts[0] : sampled->size;
    uint64_t wanted = 0;
    size_t at = 0;

    *links = 0;
    tw_etrace_config_init(&config, TW_ETRACE_LAYOUT_V2);
    if (!read_config(&config, settings))
        return 0;
    tw_etrace_transport_init(&transport, &config);
    while (at < size) {
        if (tw_etrace_frame_read(&transport, &frame, sampled->bytes + at, size - at) != TW_OK)
            break; /* cut */
        if (frame.kind == TW_ETRACE_FRAME_BAD || frame.kind == TW_ETRACE_FRAME_OTHER ||
            !frame.size)
            break;
        *links += frame.kind != TW_ETRACE_FRAME_NULL;
        wanted += frame.kind == (is_data ? TW_ETRACE_FRAME_DATA : TW_ETRACE_FRAME_INST);
        at += frame.size;
    }
    if (!*links || wanted * 2 < *links)
        return 0;
    return at + 32 >= size ? 1 : (double)at / (double)size;
}
