/* SPDX-License-Identifier: BSD-2-Clause */
/* The same stages through OpenCSD's C interface, in its best configuration: images by the buffer
   accessor, one call for the whole capture, a callback that only counts. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include "subject.h"

struct peer;

/* Its version; NULL: these benchmarks were built without it. */
const char *peer_version(void);
/* NULL: there is no peer, or it does not know the subject's protocol. */
struct peer *peer_new(const struct subject *subject, enum bench_stage stage);
void peer_free(struct peer *peer);
void peer_pass(struct peer *peer, struct bench_counts *counts);

#endif
