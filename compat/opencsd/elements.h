/* SPDX-License-Identifier: BSD-2-Clause */
/* Elements of one decoder: its tree, the memory it reads, and the client's callback. */
#ifndef OPENCSD_ELEMENTS_H
#define OPENCSD_ELEMENTS_H

#include "opencsd/channel.h"

enum tw_status oc_elements_start(struct oc_channel *channel);
/* What the memory's accessors say is asked anew. */
void oc_elements_forget_memory(struct oc_channel *channel);
/* Whether elements can come out at all; says so in the log, unless quiet. */
bool oc_elements_are_ready(const struct oc_channel *channel, bool is_quiet);

/* Bytes of `held` from `from` up to `until` to the tree. */
enum tw_status oc_elements_feed(struct oc_channel *channel, size_t from, size_t until);
/* The tree forgets the beginning of a packet that it got in a stretch. */
enum tw_status oc_elements_take_back(struct oc_channel *channel);
/* Before the tree forgets it: where the last packet was. */
void oc_elements_find_last(struct oc_channel *channel);
/* One to the client; what was delivered before is not delivered again. */
ocsd_datapath_resp_t oc_elements_give(struct oc_channel *channel,
                                      const struct tw_element *element);
/* What the tree has, until the client stops it. */
ocsd_datapath_resp_t oc_elements_deliver(struct oc_channel *channel);

#endif
