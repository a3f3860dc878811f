/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tree tells its error log, and the statistics of its sources. */
#ifndef TREE_REPORT_H
#define TREE_REPORT_H

#include "tree/branch.h"

/* Each does nothing when the tree has no log. */
void tw_report_elements(const struct tw_branch *branch, const struct tw_batch *batch);
void tw_report_bad(const struct tw_branch *branch, const struct tw_packet_view *view);
/* What the frames said while the last bytes were fed. */
void tw_report_frames(const struct tw_tree *tree);
/* At the end: IDs that no source was added for. */
void tw_report_others(const struct tw_tree *tree);
/* The tree's fault; returns its status. */
enum tw_status tw_report_fault(const struct tw_tree *tree, enum tw_status status);

/* Adds up packets. */
void tw_count_packet(struct tw_branch *branch, const struct tw_packet_view *view);

#endif
