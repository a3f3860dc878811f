/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet by packet. */
#ifndef OPENCSD_STEP_H
#define OPENCSD_STEP_H

#include "opencsd/channel.h"

/* One packet.  *is_cut: there is none, but the beginning of one. */
ocsd_datapath_resp_t oc_step(struct oc_channel *channel, bool *is_cut);
/* Where packets are all that is made: many in a row, up to one that is bad or the like. */
bool oc_step_may_run(const struct oc_channel *channel);
ocsd_datapath_resp_t oc_step_run(struct oc_channel *channel, bool *is_cut);
/* What is cut by the end of the trace, to those who look at packets. */
ocsd_datapath_resp_t oc_step_last(struct oc_channel *channel);

#endif
