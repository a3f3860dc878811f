/* SPDX-License-Identifier: BSD-2-Clause */
/* A stage of our own work on a subject, pass by pass. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "subject.h"

struct ours;

/* A decode tree with the subject's sources. */
struct tw_tree *ours_tree(const struct subject *subject, unsigned threads);

/* `threads`: 0 or 1 is the caller's alone. */
struct ours *ours_new(const struct subject *subject, enum bench_stage stage, unsigned threads);
void ours_free(struct ours *ours);
/* The subject from its first byte to its last; everything is delivered to a consumer that counts. */
void ours_pass(struct ours *ours, struct bench_counts *counts);
/* The same, and a hash over all elements. */
void ours_hashed_pass(struct ours *ours, struct bench_counts *counts);

#endif
