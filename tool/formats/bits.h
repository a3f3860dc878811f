/* SPDX-License-Identifier: BSD-2-Clause */
/* packets --bits: what each bit of a packet stands for. */
#ifndef BITS_H
#define BITS_H

#include <trackway/tree.h>

#include "shared/output.h"

/* Field names over their bits, byte by byte, the highest bit of a byte first. */
void bits_text(struct output *out, const struct tw_packet_view *packet);
/* ,"fields":[{"f":"addr","at":8,"n":7,"v":"0110100"}, ...], where there are any. */
void bits_json(struct output *out, const struct tw_packet_view *packet);

#endif
