/* SPDX-License-Identifier: BSD-2-Clause */
/* PC samples of the DWT, counted.  Experimental. */
#ifndef TRACKWAY_PC_SAMPLES_H
#define TRACKWAY_PC_SAMPLES_H

#include <trackway/symbols.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tw_pc_count {
    uint32_t pc; /* or the address of a function */
    uint64_t count;
};

struct tw_pc_totals {
    size_t size; /* sizeof(struct tw_pc_totals), set by the caller */
    uint64_t samples;
    uint64_t asleep, prohibited; /* of these: without a PC */
};

struct tw_pc_samples;

TW_API TW_MUST_USE enum tw_status tw_pc_samples_new(struct tw_pc_samples **samples,
                                                    const struct tw_allocator *allocator,
                                                    struct tw_fault *fault);
TW_API void tw_pc_samples_free(struct tw_pc_samples *samples);
/* Elements of one source; those that are no samples change nothing. */
TW_API TW_MUST_USE enum tw_status tw_pc_samples_take(struct tw_pc_samples *samples,
                                                     const struct tw_batch *batch);
TW_API TW_MUST_USE enum tw_status tw_pc_samples_add(struct tw_pc_samples *samples,
                                                    const struct tw_pc_samples *other);
TW_API TW_MUST_USE enum tw_status tw_pc_samples_save(const struct tw_pc_samples *samples,
                                                     const char *path, struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_pc_samples_load(struct tw_pc_samples **samples,
                                                     const char *path,
                                                     const struct tw_allocator *allocator,
                                                     struct tw_fault *fault);

/* False: the size cannot be. */
TW_API bool tw_pc_samples_totals(const struct tw_pc_samples *samples,
                                 struct tw_pc_totals *totals);
/* The counts, most first: of each PC, or with symbols of each function (PCs of none stay as they are).
   The array lasts until the next call. */
TW_API TW_MUST_USE enum tw_status tw_pc_samples_counts(struct tw_pc_samples *samples,
                                                       const struct tw_pc_count **counts,
                                                       size_t *count,
                                                       const struct tw_symbols *symbols);

#ifdef __cplusplus
}
#endif

#endif
