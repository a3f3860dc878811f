/* SPDX-License-Identifier: BSD-2-Clause */
/* How often each range and branch of a program was executed: AutoFDO's profile of
   perf.data.  Experimental. */
#ifndef TRACKWAY_AUTOFDO_H
#define TRACKWAY_AUTOFDO_H

#include <trackway/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A range, from its first to its last instruction, or a branch that was taken.  Addresses are those of
   the file's ELF headers, less that of its first loaded segment: as create_llvm_prof wants them. */
struct tw_autofdo_pair {
    uint64_t from, to; /* to 0: a branch that led out of the file, or nobody knows where */
    uint64_t count;
    bool is_branch;
};

/* A file that was executed. */
struct tw_autofdo_file {
    size_t size;      /* sizeof(struct tw_autofdo_file), set by the caller */
    const char *name; /* as in the mapping; lasts as long as the profile */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: not known */
    uint64_t ranges;       /* how often any of its ranges was executed */
};

struct tw_autofdo;

/* For runs of perf.data in time order; `capture` NULL: only to load and add. */
TW_API TW_MUST_USE enum tw_status tw_autofdo_new(struct tw_autofdo **autofdo,
                                                 const struct tw_capture *capture,
                                                 const struct tw_allocator *allocator,
                                                 struct tw_fault *fault);
TW_API void tw_autofdo_free(struct tw_autofdo *autofdo);
/* Every part of the run, in order. */
TW_API TW_MUST_USE enum tw_status tw_autofdo_take(struct tw_autofdo *autofdo,
                                                  const struct tw_part *part);
/* Adds what another one counted.  Files are the same when their names and build IDs are. */
TW_API TW_MUST_USE enum tw_status tw_autofdo_add(struct tw_autofdo *autofdo,
                                                 struct tw_autofdo *other);

/* A file with all that was counted; and the same again. */
TW_API TW_MUST_USE enum tw_status tw_autofdo_save(struct tw_autofdo *autofdo, const char *path,
                                                  struct tw_fault *fault);
TW_API TW_MUST_USE enum tw_status tw_autofdo_load(struct tw_autofdo **autofdo, const char *path,
                                                  const struct tw_allocator *allocator,
                                                  struct tw_fault *fault);

/* Results; what is taken later changes them. */
/* False: there is no such file. */
TW_API bool tw_autofdo_file(struct tw_autofdo *autofdo, struct tw_autofdo_file *file,
                            size_t number);
/* The number of the first file with this name, or that ends with it behind a slash, or whose build ID it is (its
   first eight digits or more); NULL: of the file that executed most.  SIZE_MAX: there is none. */
TW_API size_t tw_autofdo_choose(struct tw_autofdo *autofdo, const char *name);
/* What was counted of a file: ranges, then branches, by address.  TW_E_ARGUMENT: no such file.  The
   array lasts until the next call. */
TW_API TW_MUST_USE enum tw_status tw_autofdo_pairs(struct tw_autofdo *autofdo,
                                                   const struct tw_autofdo_pair **pairs,
                                                   size_t *count, size_t file);

/* The text that create_llvm_prof reads, in pieces; `write` returns false to stop. */
TW_API TW_MUST_USE enum tw_status
tw_autofdo_write(struct tw_autofdo *autofdo, size_t file,
                 bool (*write)(void *context, const char *text, size_t size), void *context);

#ifdef __cplusplus
}
#endif

#endif
