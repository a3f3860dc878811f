/* SPDX-License-Identifier: BSD-2-Clause */
/* Many packets at once: where nobody looks at packets and the client takes elements as they come. */
#ifndef OPENCSD_STRETCH_H
#define OPENCSD_STRETCH_H

#include "opencsd/channel.h"

enum {
    OC_CHUNK_LEAST = 16,  /* bytes decoded at once after a stop: twice as many each time ... */
    OC_CHUNK_MOST = 8192, /* ... up to this */
    OC_CALM_PACKETS = 32  /* after so many single ones */
};

bool oc_stretch_is_possible(const struct oc_channel *channel);
/* A stretch of what is held.  Where the client stops, or the trace has a place that is to be looked
   at closely, nothing was done but what was delivered; it goes on packet by packet.
   *is_cut: there is no packet any more, but the beginning of one. */
ocsd_datapath_resp_t oc_stretch(struct oc_channel *channel, bool *is_cut);

#endif
