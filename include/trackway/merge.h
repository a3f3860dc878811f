/* SPDX-License-Identifier: BSD-2-Clause */
/* Saved results of analyses, added up.  Experimental. */
#ifndef TRACKWAY_MERGE_H
#define TRACKWAY_MERGE_H

#include <trackway/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds results of one kind, saved by tw_coverage_save, tw_statistics_save, tw_pc_samples_save,
   tw_autofdo_save, tw_calls_save or tw_profile_save, and saves the sum.  They are loaded one after the other: memory is that of the sum
   and of one part, however many there are.  The sum does not depend on their order, nor on which of
   them were added before.  Nothing is written when one is damaged, of another kind, or of other code. */
TW_API TW_MUST_USE enum tw_status tw_merge(const char *out, const char *const *parts,
                                           size_t part_count,
                                           const struct tw_allocator *allocator,
                                           struct tw_fault *fault);

#ifdef __cplusplus
}
#endif

#endif
