/* SPDX-License-Identifier: BSD-2-Clause */
/* What a file is that says nothing of itself: its framing, its protocols and how they are set, found by
   trying on samples of it.  Experimental. */
#ifndef TRACKWAY_IDENTIFY_H
#define TRACKWAY_IDENTIFY_H

#include <trackway/capture.h>
#include <trackway/frame.h>
#include <trackway/image.h>
#include <trackway/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* At and above this a file may be opened by the answer without asking. */
#define TW_IDENTITY_CERTAIN 0.95

struct tw_identify_options {
    size_t size; /* sizeof(struct tw_identify_options) */
    /* borrowed: the program that was traced, as far as it is known; or NULL */
    struct tw_image *image;
    bool has_framing; /* only this one comes into question */
    enum tw_framing framing;
    const struct tw_allocator *allocator;
    /* how much is tried at most, about in bytes that are read, and once more for the fields of each source that is found;
       0: enough for a file of its size */
    uint64_t work;
    /* what says itself what it is (a snapshot, perf.data) is not opened: nothing is said of what is in it */
    bool stays_outside;
};

/* A source in the file. */
struct tw_identified_source {
    uint8_t id;           /* trace ID; 0: the file has no frames */
    const char *protocol; /* as in tw_capture_source_option; NULL: none that is known fits */
    const char *config;   /* likewise */
    double confidence;    /* 0 to 1 */
    uint64_t bytes;       /* of it in the samples */
};

struct tw_identity {
    const char *what; /* in words: "ETMv4 trace in memory-aligned frames" */
    /* "gzip", "xz", "zstd", "hex": the rest is about what is in it; or NULL */
    const char *container;
    /* "trace", "snapshot", "perf.data", or what else it is: "ELF", "log" ...; NULL: not known */
    const char *format;
    bool has_framing; /* of trace */
    enum tw_framing framing;
    uint32_t swap; /* as in tw_capture_options; 0: not swapped */
    uint64_t skip; /* likewise: the offset of the first frame */
    const struct tw_identified_source *sources;
    size_t source_count;
    double confidence;           /* that all of this is so: 0 to 1 */
    const char *const *evidence; /* why, one line each */
    size_t evidence_count;
    const char *command; /* that opens it; NULL: none does */
    /* a ring buffer that was read from the beginning of its memory: its oldest byte lies at wrapped_at */
    bool has_wrapped;
    uint64_t wrapped_at;
};

struct tw_identified;

/* Looks at a file or folder, not at all of it if it is large.  TW_E_FILE: it cannot be read. */
TW_API TW_MUST_USE enum tw_status tw_identify(struct tw_identified **identified,
                                              const char *path,
                                              const struct tw_identify_options *options,
                                              struct tw_fault *fault);
/* The same of bytes; `name` stands for the file in the command. */
TW_API TW_MUST_USE enum tw_status tw_identify_bytes(struct tw_identified **identified,
                                                    const uint8_t *bytes, size_t size,
                                                    const char *name,
                                                    const struct tw_identify_options *options,
                                                    struct tw_fault *fault);
TW_API void tw_identified_free(struct tw_identified *identified);
/* What was found; it belongs to `identified`. */
TW_API const struct tw_identity *tw_identified_about(const struct tw_identified *identified);

#ifdef __cplusplus
}
#endif

#endif
